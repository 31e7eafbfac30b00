/* SPDX-License-Identifier: BSD-3-Clause */
/* The few functions of GCC's OpenMP library that our modules call, on plain pthreads.
 *
 * ThreadSanitizer knows what pthread_create and pthread_join order, but not libgomp's own
 * synchronisation, all of which it would report. tools/sanitize.py --sanitizer thread loads this
 * in libgomp's place.
 */
#include <pthread.h>
#include <stdlib.h>

typedef struct {
    void (*function)(void *);
    void *data;
    int number;
    int size;
    pthread_barrier_t *barrier;
} member;

static __thread member own = {0, 0, 0, 1, 0};

static void *run(void *given)
{
    own = *(member *)given;
    own.function(own.data);
    return NULL;
}

void GOMP_parallel(void (*function)(void *), void *data, unsigned n_threads, unsigned flags)
{
    const member outer = own;
    int size = n_threads ? (int)n_threads : 1; /* who does not say how many is not ours */
    member *team = calloc(size, sizeof(member));
    pthread_t *threads = calloc(size, sizeof(pthread_t));
    pthread_barrier_t barrier;
    (void)flags;
    pthread_barrier_init(&barrier, NULL, size);
    for (int i = 0; i < size; i++)
        team[i] = (member){function, data, i, size, &barrier};
    for (int i = 1; i < size; i++)
        if (pthread_create(&threads[i], NULL, run, &team[i]))
            abort();
    run(&team[0]);
    for (int i = 1; i < size; i++)
        pthread_join(threads[i], NULL);
    pthread_barrier_destroy(&barrier);
    free(threads);
    free(team);
    own = outer;
}

void GOMP_barrier(void)
{
    if (own.barrier)
        pthread_barrier_wait(own.barrier);
}

/* An error for tools/sanitize.py to see: all threads of a team write to one place. Python's
 * threads are no good for that, as the GIL mostly orders what they do. */
static int planted;

static void plant(void *data)
{
    (void)data;
    planted++;
}

int plant_race(void)
{
    GOMP_parallel(plant, NULL, 4, 0);
    return planted;
}

int omp_get_thread_num(void) { return own.number; }
int omp_get_num_threads(void) { return own.size; }
int omp_get_max_threads(void) { return 4; }
void omp_set_num_threads(int n_threads) { (void)n_threads; }
