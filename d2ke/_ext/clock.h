/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef D2KE_CLOCK_H
#define D2KE_CLOCK_H

#include <time.h>

static inline double d2ke_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static inline void d2ke_nap(void)
{
    struct timespec pause = {0, 200000};
    nanosleep(&pause, NULL);
}

#endif
