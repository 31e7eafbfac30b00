/* SPDX-License-Identifier: BSD-3-Clause */
/* The two sums of Fletcher's checksum, in lanes that any compiler makes vectors of. */
#ifndef D2KE_FLETCHER_H
#define D2KE_FLETCHER_H

#include <stdint.h>

enum {
    FLETCHER_LANES = 32,
    FLETCHER_STEPS = 256, /* 65535 * 256 * 257 / 2 is below 2^32 */
};

/* first = sum w_i, second = sum (n - i) w_i over words of two bytes, the lower one first. */
static void d2ke_fletcher(const unsigned char *content, int64_t n, uint64_t *first,
                          uint64_t *second)
{
    uint64_t plain = 0, weighted = 0;
    int64_t i = 0;
    while (n - i >= FLETCHER_LANES) {
        /* Lane l of K steps has a = sum w_k and b = sum (K - k) w_k; its words are FLETCHER_LANES
           apart, and FLETCHER_LANES * (K - k) - l words from the end of the steps. */
        uint32_t a[FLETCHER_LANES] = {0}, b[FLETCHER_LANES] = {0};
        int64_t steps = (n - i) / FLETCHER_LANES;
        if (steps > FLETCHER_STEPS)
            steps = FLETCHER_STEPS;
        for (int64_t k = 0; k < steps; k++, i += FLETCHER_LANES) {
            const unsigned char *words = content + 2 * i;
            for (int l = 0; l < FLETCHER_LANES; l++) {
                a[l] += (uint32_t)words[2 * l] | (uint32_t)words[2 * l + 1] << 8;
                b[l] += a[l];
            }
        }
        weighted += plain * (uint64_t)(steps * FLETCHER_LANES);
        for (int l = 0; l < FLETCHER_LANES; l++) {
            weighted += FLETCHER_LANES * (uint64_t)b[l] - (uint64_t)l * a[l];
            plain += a[l];
        }
    }
    for (; i < n; i++) {
        plain += (uint32_t)content[2 * i] | (uint32_t)content[2 * i + 1] << 8;
        weighted += plain;
    }
    *first = plain;
    *second = weighted;
}

#endif
