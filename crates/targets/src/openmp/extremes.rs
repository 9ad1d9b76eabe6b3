//! Macros for the least and the greatest of floating-point numbers, in C that is there already.
//!
//! Equal numbers differ in the sign of zero at most: the smaller has it if one of them has. gcc
//! makes vectors of the unions, and not of `__builtin_signbit` or of copies; it calls a function
//! for `fmax`. clang has an instruction for that, and makes a long chain of the unions: a maximum
//! of one element after the other took 64 ms, and 26 in the other form.

/// The lesser of two numbers of 64 bits.
pub(crate) const MIN: &str = "#define LOZENGE_FMIN(a, b) __extension__({ union { double f; unsigned long long u; } lozenge_a, lozenge_b, lozenge_c; \\
    lozenge_a.f = (a); lozenge_b.f = (b); \\
    lozenge_c.f = lozenge_a.f < lozenge_b.f || lozenge_b.f != lozenge_b.f ? lozenge_a.f : lozenge_b.f; \\
    lozenge_c.u = lozenge_a.f == lozenge_b.f ? lozenge_a.u | lozenge_c.u : lozenge_c.u; \\
    lozenge_c.f; })
#if defined(__clang__)
#undef LOZENGE_FMIN
#define LOZENGE_FMIN(a, b) __extension__({ const double lozenge_a = (a), lozenge_b = (b); \\
    double lozenge_c = __builtin_fmin(lozenge_a, lozenge_b); \\
    if (__builtin_expect(lozenge_a == lozenge_b, 0)) lozenge_c = lozenge_a == 0 ? -(-lozenge_a - lozenge_b) : lozenge_c; \\
    lozenge_c; })
#endif";

/// The greater of two numbers of 64 bits.
pub(crate) const MAX: &str = "#define LOZENGE_FMAX(a, b) __extension__({ union { double f; unsigned long long u; } lozenge_a, lozenge_b, lozenge_c; \\
    lozenge_a.f = (a); lozenge_b.f = (b); \\
    lozenge_c.f = lozenge_a.f > lozenge_b.f || lozenge_b.f != lozenge_b.f ? lozenge_a.f : lozenge_b.f; \\
    lozenge_c.u = lozenge_a.f == lozenge_b.f ? lozenge_a.u & lozenge_c.u : lozenge_c.u; \\
    lozenge_c.f; })
#if defined(__clang__)
#undef LOZENGE_FMAX
#define LOZENGE_FMAX(a, b) __extension__({ const double lozenge_a = (a), lozenge_b = (b); \\
    double lozenge_c = __builtin_fmax(lozenge_a, lozenge_b); \\
    if (__builtin_expect(lozenge_a == lozenge_b, 0)) lozenge_c = lozenge_a == 0 ? lozenge_a + lozenge_b : lozenge_c; \\
    lozenge_c; })
#endif";

/// The lesser of two numbers of 32 bits.
pub(crate) const MIN_SINGLE: &str = "#define LOZENGE_FMINF(a, b) __extension__({ union { float f; unsigned u; } lozenge_a, lozenge_b, lozenge_c; \\
    lozenge_a.f = (a); lozenge_b.f = (b); \\
    lozenge_c.f = lozenge_a.f < lozenge_b.f || lozenge_b.f != lozenge_b.f ? lozenge_a.f : lozenge_b.f; \\
    lozenge_c.u = lozenge_a.f == lozenge_b.f ? lozenge_a.u | lozenge_c.u : lozenge_c.u; \\
    lozenge_c.f; })
#if defined(__clang__)
#undef LOZENGE_FMINF
#define LOZENGE_FMINF(a, b) __extension__({ const float lozenge_a = (a), lozenge_b = (b); \\
    float lozenge_c = __builtin_fminf(lozenge_a, lozenge_b); \\
    if (__builtin_expect(lozenge_a == lozenge_b, 0)) lozenge_c = lozenge_a == 0 ? -(-lozenge_a - lozenge_b) : lozenge_c; \\
    lozenge_c; })
#endif";

/// The greater of two numbers of 32 bits.
pub(crate) const MAX_SINGLE: &str = "#define LOZENGE_FMAXF(a, b) __extension__({ union { float f; unsigned u; } lozenge_a, lozenge_b, lozenge_c; \\
    lozenge_a.f = (a); lozenge_b.f = (b); \\
    lozenge_c.f = lozenge_a.f > lozenge_b.f || lozenge_b.f != lozenge_b.f ? lozenge_a.f : lozenge_b.f; \\
    lozenge_c.u = lozenge_a.f == lozenge_b.f ? lozenge_a.u & lozenge_c.u : lozenge_c.u; \\
    lozenge_c.f; })
#if defined(__clang__)
#undef LOZENGE_FMAXF
#define LOZENGE_FMAXF(a, b) __extension__({ const float lozenge_a = (a), lozenge_b = (b); \\
    float lozenge_c = __builtin_fmaxf(lozenge_a, lozenge_b); \\
    if (__builtin_expect(lozenge_a == lozenge_b, 0)) lozenge_c = lozenge_a == 0 ? lozenge_a + lozenge_b : lozenge_c; \\
    lozenge_c; })
#endif";
