/* SPDX-License-Identifier: BSD-3-Clause */
/* Functions that numpy, scipy and h5py call when they are imported, and that wine 8 lacks. */
#include <xmmintrin.h>

struct complex_float { float real, imaginary; };
struct complex_double { double real, imaginary; };

struct complex_float _FCbuild(float real, float imaginary)
{
    return (struct complex_float){real, imaginary};
}

struct complex_double _Cbuild(double real, double imaginary)
{
    return (struct complex_double){real, imaginary};
}

/* Microsoft's fenv_t; that of mingw-w64 is longer. */
struct environment { unsigned control, status; };

int fegetenv(struct environment *environment)
{
    unsigned all = _mm_getcsr();
    environment->control = all & ~0x3fu;
    environment->status = all & 0x3f;
    return 0;
}

int fesetenv(const struct environment *environment)
{
    unsigned control = environment->control ? environment->control & ~0x3fu : 0x1f80;
    _mm_setcsr(control | (environment->status & 0x3f));
    return 0;
}

int feholdexcept(struct environment *environment)
{
    fegetenv(environment);
    _mm_setcsr(environment->control | 0x1f80);
    return 0;
}
