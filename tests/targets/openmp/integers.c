#define _POSIX_C_SOURCE 200112L /* posix_memalign */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#if defined(__AVX512F__) && defined(__GNUC__) && __GNUC__ >= 8 && !defined(__clang__)
#pragma GCC target ("prefer-vector-width=512")
#endif

#ifndef _OPENMP
#pragma GCC diagnostic ignored "-Wunknown-pragmas"
#endif

enum { OK = 0, OUT_OF_MEMORY = 1, BAD_SIZES = 2 };

/* Memory for `count` elements, aligned for vectors; NULL if there is none. */
static void *lozenge_alloc(int64_t count, size_t size) {
    void *block = NULL;
    if (count < 1) {
        count = 1;
    }
    if ((uint64_t)count > (uint64_t)PTRDIFF_MAX / size || posix_memalign(&block, 64, (size_t)count * size) != 0) {
        return NULL;
    }
    return block;
}

/* Quotient rounded toward negative infinity; 0 for a divisor of 0. */
static inline int32_t lozenge_floor_div_i32(int32_t a, int32_t b) {
    int64_t q = b == 0 ? 0 : (int64_t)a / b;
    return (int32_t)(b != 0 && (int64_t)a % b != 0 && (a < 0) != (b < 0) ? q - 1 : q);
}

/* Remainder with the sign of the divisor; the dividend for a divisor of 0. */
static inline int32_t lozenge_mod_i32(int32_t a, int32_t b) {
    int64_t r = b == 0 ? a : (int64_t)a % b;
    return (int32_t)(b != 0 && r != 0 && (r < 0) != (b < 0) ? r + b : r);
}

static inline int64_t lozenge_min(int64_t a, int64_t b) {
    return a < b ? a : b;
}

static inline int64_t lozenge_max(int64_t a, int64_t b) {
    return a > b ? a : b;
}

/* A number without its fraction; the nearest integer there is for what is beyond, 0 for NaN. */
static inline int64_t lozenge_i64_of_f32(float a) {
    float inside = a > -9223372036854775808.0f ? a : -9223372036854775808.0f;
    int64_t r = (int64_t)(inside < 9223371487098961920.0f ? inside : 9223371487098961920.0f);
    return a != a ? 0 : a >= 9223372036854775808.0f ? INT64_MAX : r;
}

/* A number without its fraction; the nearest integer there is for what is beyond, 0 for NaN. */
static inline int64_t lozenge_i64_of_f64(double a) {
    double inside = a > -9223372036854775808.0 ? a : -9223372036854775808.0;
    int64_t r = (int64_t)(inside < 9223372036854774784.0 ? inside : 9223372036854774784.0);
    return a != a ? 0 : a >= 9223372036854775808.0 ? INT64_MAX : r;
}

/* A number without its fraction; the nearest natural one there is for what is beyond, 0 for NaN. */
static inline uint64_t lozenge_u64_of_f64(double a) {
    return a >= 18446744073709551616.0 ? UINT64_MAX : a > 0.0 ? (uint64_t)a : 0;
}

#define LOZENGE_MIN(a, b) ((a) < (b) ? (a) : (b))
#define LOZENGE_MAX(a, b) ((a) > (b) ? (a) : (b))
/* integers:
     x float[n], in
     y double[n], in
     z int32_t[n], in
     w int64_t[n], in
     a_i8 int8_t[n], in
     b_i8 int8_t[n], in
     r_i8 int8_t[n][16], out
     a_u8 uint8_t[n], in
     b_u8 uint8_t[n], in
     r_u8 uint8_t[n][16], out
     a_i16 int16_t[n], in
     b_i16 int16_t[n], in
     r_i16 int16_t[n][16], out
     a_u16 uint16_t[n], in
     b_u16 uint16_t[n], in
     r_u16 uint16_t[n][16], out
     a_u32 uint32_t[n], in
     b_u32 uint32_t[n], in
     r_u32 uint32_t[n][16], out
     a_u64 uint64_t[n], in
     b_u64 uint64_t[n], in
     r_u64 uint64_t[n][16], out
     from_i8 int8_t[n][11], out
     from_u8 uint8_t[n][11], out
     from_i16 int16_t[n][11], out
     from_u16 uint16_t[n][11], out
     from_u32 uint32_t[n][11], out
     from_u64 uint64_t[n][11], out
     to_f32 float[n][6], out
     to_f64 double[n][6], out
     to_i32 int32_t[n][6], out
     to_i64 int64_t[n][6], out
     to_bool bool[n][6], out
   Returns 0; 1 if memory runs out; 2 if the sizes are not admissible. Arrays must not overlap. */
int integers(
        int64_t n,
        const float *restrict x,
        const double *restrict y,
        const int32_t *restrict z,
        const int64_t *restrict w,
        const int8_t *restrict a_i8,
        const int8_t *restrict b_i8,
        int8_t *restrict r_i8,
        const uint8_t *restrict a_u8,
        const uint8_t *restrict b_u8,
        uint8_t *restrict r_u8,
        const int16_t *restrict a_i16,
        const int16_t *restrict b_i16,
        int16_t *restrict r_i16,
        const uint16_t *restrict a_u16,
        const uint16_t *restrict b_u16,
        uint16_t *restrict r_u16,
        const uint32_t *restrict a_u32,
        const uint32_t *restrict b_u32,
        uint32_t *restrict r_u32,
        const uint64_t *restrict a_u64,
        const uint64_t *restrict b_u64,
        uint64_t *restrict r_u64,
        int8_t *restrict from_i8,
        uint8_t *restrict from_u8,
        int16_t *restrict from_i16,
        uint16_t *restrict from_u16,
        uint32_t *restrict from_u32,
        uint64_t *restrict from_u64,
        float *restrict to_f32,
        double *restrict to_f64,
        int32_t *restrict to_i32,
        int64_t *restrict to_i64,
        bool *restrict to_bool) {
    if (n < 0) {
        return BAD_SIZES;
    }
    #pragma omp parallel for
    for (int64_t i = 0; i < n; i++) {
        r_i8[i * 16] = (int8_t)(a_i8[i] + b_i8[i]);
        r_i8[i * 16 + 1] = (int8_t)(a_i8[i] - b_i8[i]);
        r_i8[i * 16 + 2] = (int8_t)(a_i8[i] * b_i8[i]);
        r_i8[i * 16 + 3] =
                (int8_t)((b_i8[i] == 0 ? 3 : b_i8[i]) == 0 ? 0 : a_i8[i]
                / (b_i8[i] == 0 ? 3 : b_i8[i]));
        r_i8[i * 16 + 4] =
                (int8_t)((b_i8[i] == 0 ? 3 : b_i8[i]) == 0 ? a_i8[i] : a_i8[i]
                % (b_i8[i] == 0 ? 3 : b_i8[i]));
        r_i8[i * 16 + 5] =
                (int8_t)lozenge_floor_div_i32((int32_t)a_i8[i],
                (int32_t)(b_i8[i] == 0 ? 3 : b_i8[i]));
        r_i8[i * 16 + 6] =
                (int8_t)lozenge_mod_i32((int32_t)a_i8[i], (int32_t)(b_i8[i] == 0 ? 3 : b_i8[i]));
        r_i8[i * 16 + 7] = LOZENGE_MIN(a_i8[i], b_i8[i]);
        r_i8[i * 16 + 8] = LOZENGE_MAX(a_i8[i], b_i8[i]);
        r_i8[i * 16 + 9] = (int8_t)(a_i8[i] & b_i8[i]);
        r_i8[i * 16 + 10] = (int8_t)(a_i8[i] | b_i8[i]);
        r_i8[i * 16 + 11] = (int8_t)(a_i8[i] ^ b_i8[i]);
        r_i8[i * 16 + 12] = (int8_t)((uint32_t)a_i8[i] << (b_i8[i] & 7));
        r_i8[i * 16 + 13] = (int8_t)(a_i8[i] >> (b_i8[i] & 7));
        r_i8[i * 16 + 14] = (int8_t)-a_i8[i];
        r_i8[i * 16 + 15] = a_i8[i] < b_i8[i] ? a_i8[i] : 7;
        from_i8[i * 11] = (int8_t)lozenge_min(lozenge_max(lozenge_i64_of_f32(x[i]), -128), 127);
        from_i8[i * 11 + 1] = (int8_t)lozenge_min(lozenge_max(lozenge_i64_of_f64(y[i]), -128), 127);
        from_i8[i * 11 + 2] = (int8_t)z[i];
        from_i8[i * 11 + 3] = (int8_t)w[i];
        from_i8[i * 11 + 4] = (int8_t)(z[i] > 0);
        from_i8[i * 11 + 5] = a_i8[i];
        from_i8[i * 11 + 6] = (int8_t)a_u8[i];
        from_i8[i * 11 + 7] = (int8_t)a_i16[i];
        from_i8[i * 11 + 8] = (int8_t)a_u16[i];
        from_i8[i * 11 + 9] = (int8_t)a_u32[i];
        from_i8[i * 11 + 10] = (int8_t)a_u64[i];
        to_f32[i * 6] = (float)a_i8[i];
        to_f64[i * 6] = (double)a_i8[i];
        to_i32[i * 6] = a_i8[i];
        to_i64[i * 6] = (int64_t)a_i8[i];
        to_bool[i * 6] = a_i8[i] != 0;
        r_u8[i * 16] = (uint8_t)(a_u8[i] + b_u8[i]);
        r_u8[i * 16 + 1] = (uint8_t)(a_u8[i] - b_u8[i]);
        r_u8[i * 16 + 2] = (uint8_t)(a_u8[i] * b_u8[i]);
        r_u8[i * 16 + 3] =
                (uint8_t)((b_u8[i] == 0 ? 3 : b_u8[i]) == 0 ? 0 : a_u8[i]
                / (b_u8[i] == 0 ? 3 : b_u8[i]));
        r_u8[i * 16 + 4] =
                (uint8_t)((b_u8[i] == 0 ? 3 : b_u8[i]) == 0 ? a_u8[i] : a_u8[i]
                % (b_u8[i] == 0 ? 3 : b_u8[i]));
        r_u8[i * 16 + 5] =
                (uint8_t)((b_u8[i] == 0 ? 3 : b_u8[i]) == 0 ? 0 : a_u8[i]
                / (b_u8[i] == 0 ? 3 : b_u8[i]));
        r_u8[i * 16 + 6] =
                (uint8_t)((b_u8[i] == 0 ? 3 : b_u8[i]) == 0 ? a_u8[i] : a_u8[i]
                % (b_u8[i] == 0 ? 3 : b_u8[i]));
        r_u8[i * 16 + 7] = LOZENGE_MIN(a_u8[i], b_u8[i]);
        r_u8[i * 16 + 8] = LOZENGE_MAX(a_u8[i], b_u8[i]);
        r_u8[i * 16 + 9] = (uint8_t)(a_u8[i] & b_u8[i]);
        r_u8[i * 16 + 10] = (uint8_t)(a_u8[i] | b_u8[i]);
        r_u8[i * 16 + 11] = (uint8_t)(a_u8[i] ^ b_u8[i]);
        r_u8[i * 16 + 12] = (uint8_t)((uint32_t)a_u8[i] << (b_u8[i] & 7));
        r_u8[i * 16 + 13] = (uint8_t)(a_u8[i] >> (b_u8[i] & 7));
        r_u8[i * 16 + 14] = (uint8_t)-a_u8[i];
        r_u8[i * 16 + 15] = a_u8[i] < b_u8[i] ? a_u8[i] : 7;
        from_u8[i * 11] = (uint8_t)lozenge_min(lozenge_max(lozenge_i64_of_f32(x[i]), 0), 255);
        from_u8[i * 11 + 1] = (uint8_t)lozenge_min(lozenge_max(lozenge_i64_of_f64(y[i]), 0), 255);
        from_u8[i * 11 + 2] = (uint8_t)z[i];
        from_u8[i * 11 + 3] = (uint8_t)w[i];
        from_u8[i * 11 + 4] = (uint8_t)(z[i] > 0);
        from_u8[i * 11 + 5] = (uint8_t)a_i8[i];
        from_u8[i * 11 + 6] = a_u8[i];
        from_u8[i * 11 + 7] = (uint8_t)a_i16[i];
        from_u8[i * 11 + 8] = (uint8_t)a_u16[i];
        from_u8[i * 11 + 9] = (uint8_t)a_u32[i];
        from_u8[i * 11 + 10] = (uint8_t)a_u64[i];
        to_f32[i * 6 + 1] = (float)a_u8[i];
        to_f64[i * 6 + 1] = (double)a_u8[i];
        to_i32[i * 6 + 1] = a_u8[i];
        to_i64[i * 6 + 1] = (int64_t)a_u8[i];
        to_bool[i * 6 + 1] = a_u8[i] != 0;
        r_i16[i * 16] = (int16_t)(a_i16[i] + b_i16[i]);
        r_i16[i * 16 + 1] = (int16_t)(a_i16[i] - b_i16[i]);
        r_i16[i * 16 + 2] = (int16_t)(a_i16[i] * b_i16[i]);
        r_i16[i * 16 + 3] =
                (int16_t)((b_i16[i] == 0 ? 3 : b_i16[i]) == 0 ? 0 : a_i16[i]
                / (b_i16[i] == 0 ? 3 : b_i16[i]));
        r_i16[i * 16 + 4] =
                (int16_t)((b_i16[i] == 0 ? 3 : b_i16[i]) == 0 ? a_i16[i] : a_i16[i]
                % (b_i16[i] == 0 ? 3 : b_i16[i]));
        r_i16[i * 16 + 5] =
                (int16_t)lozenge_floor_div_i32((int32_t)a_i16[i],
                (int32_t)(b_i16[i] == 0 ? 3 : b_i16[i]));
        r_i16[i * 16 + 6] =
                (int16_t)lozenge_mod_i32((int32_t)a_i16[i],
                (int32_t)(b_i16[i] == 0 ? 3 : b_i16[i]));
        r_i16[i * 16 + 7] = LOZENGE_MIN(a_i16[i], b_i16[i]);
        r_i16[i * 16 + 8] = LOZENGE_MAX(a_i16[i], b_i16[i]);
        r_i16[i * 16 + 9] = (int16_t)(a_i16[i] & b_i16[i]);
        r_i16[i * 16 + 10] = (int16_t)(a_i16[i] | b_i16[i]);
        r_i16[i * 16 + 11] = (int16_t)(a_i16[i] ^ b_i16[i]);
        r_i16[i * 16 + 12] = (int16_t)((uint32_t)a_i16[i] << (b_i16[i] & 15));
        r_i16[i * 16 + 13] = (int16_t)(a_i16[i] >> (b_i16[i] & 15));
        r_i16[i * 16 + 14] = (int16_t)-a_i16[i];
        r_i16[i * 16 + 15] = a_i16[i] < b_i16[i] ? a_i16[i] : 7;
        from_i16[i * 11] =
                (int16_t)lozenge_min(lozenge_max(lozenge_i64_of_f32(x[i]), -32768), 32767);
        from_i16[i * 11 + 1] =
                (int16_t)lozenge_min(lozenge_max(lozenge_i64_of_f64(y[i]), -32768), 32767);
        from_i16[i * 11 + 2] = (int16_t)z[i];
        from_i16[i * 11 + 3] = (int16_t)w[i];
        from_i16[i * 11 + 4] = (int16_t)(z[i] > 0);
        from_i16[i * 11 + 5] = (int16_t)a_i8[i];
        from_i16[i * 11 + 6] = (int16_t)a_u8[i];
        from_i16[i * 11 + 7] = a_i16[i];
        from_i16[i * 11 + 8] = (int16_t)a_u16[i];
        from_i16[i * 11 + 9] = (int16_t)a_u32[i];
        from_i16[i * 11 + 10] = (int16_t)a_u64[i];
        to_f32[i * 6 + 2] = (float)a_i16[i];
        to_f64[i * 6 + 2] = (double)a_i16[i];
        to_i32[i * 6 + 2] = a_i16[i];
        to_i64[i * 6 + 2] = (int64_t)a_i16[i];
        to_bool[i * 6 + 2] = a_i16[i] != 0;
        r_u16[i * 16] = (uint16_t)(a_u16[i] + b_u16[i]);
        r_u16[i * 16 + 1] = (uint16_t)(a_u16[i] - b_u16[i]);
        r_u16[i * 16 + 2] = (uint16_t)((uint32_t)a_u16[i] * b_u16[i]);
        r_u16[i * 16 + 3] =
                (uint16_t)((b_u16[i] == 0 ? 3 : b_u16[i]) == 0 ? 0 : a_u16[i]
                / (b_u16[i] == 0 ? 3 : b_u16[i]));
        r_u16[i * 16 + 4] =
                (uint16_t)((b_u16[i] == 0 ? 3 : b_u16[i]) == 0 ? a_u16[i] : a_u16[i]
                % (b_u16[i] == 0 ? 3 : b_u16[i]));
        r_u16[i * 16 + 5] =
                (uint16_t)((b_u16[i] == 0 ? 3 : b_u16[i]) == 0 ? 0 : a_u16[i]
                / (b_u16[i] == 0 ? 3 : b_u16[i]));
        r_u16[i * 16 + 6] =
                (uint16_t)((b_u16[i] == 0 ? 3 : b_u16[i]) == 0 ? a_u16[i] : a_u16[i]
                % (b_u16[i] == 0 ? 3 : b_u16[i]));
        r_u16[i * 16 + 7] = LOZENGE_MIN(a_u16[i], b_u16[i]);
        r_u16[i * 16 + 8] = LOZENGE_MAX(a_u16[i], b_u16[i]);
        r_u16[i * 16 + 9] = (uint16_t)(a_u16[i] & b_u16[i]);
        r_u16[i * 16 + 10] = (uint16_t)(a_u16[i] | b_u16[i]);
        r_u16[i * 16 + 11] = (uint16_t)(a_u16[i] ^ b_u16[i]);
        r_u16[i * 16 + 12] = (uint16_t)((uint32_t)a_u16[i] << (b_u16[i] & 15));
        r_u16[i * 16 + 13] = (uint16_t)(a_u16[i] >> (b_u16[i] & 15));
        r_u16[i * 16 + 14] = (uint16_t)-a_u16[i];
        r_u16[i * 16 + 15] = a_u16[i] < b_u16[i] ? a_u16[i] : 7;
        from_u16[i * 11] = (uint16_t)lozenge_min(lozenge_max(lozenge_i64_of_f32(x[i]), 0), 65535);
        from_u16[i * 11 + 1] =
                (uint16_t)lozenge_min(lozenge_max(lozenge_i64_of_f64(y[i]), 0), 65535);
        from_u16[i * 11 + 2] = (uint16_t)z[i];
        from_u16[i * 11 + 3] = (uint16_t)w[i];
        from_u16[i * 11 + 4] = (uint16_t)(z[i] > 0);
        from_u16[i * 11 + 5] = (uint16_t)a_i8[i];
        from_u16[i * 11 + 6] = (uint16_t)a_u8[i];
        from_u16[i * 11 + 7] = (uint16_t)a_i16[i];
        from_u16[i * 11 + 8] = a_u16[i];
        from_u16[i * 11 + 9] = (uint16_t)a_u32[i];
        from_u16[i * 11 + 10] = (uint16_t)a_u64[i];
        to_f32[i * 6 + 3] = (float)a_u16[i];
        to_f64[i * 6 + 3] = (double)a_u16[i];
        to_i32[i * 6 + 3] = a_u16[i];
        to_i64[i * 6 + 3] = (int64_t)a_u16[i];
        to_bool[i * 6 + 3] = a_u16[i] != 0;
        r_u32[i * 16] = a_u32[i] + b_u32[i];
        r_u32[i * 16 + 1] = a_u32[i] - b_u32[i];
        r_u32[i * 16 + 2] = a_u32[i] * b_u32[i];
        r_u32[i * 16 + 3] = (b_u32[i] == 0u ? 3u : b_u32[i]) == 0 ? 0 : a_u32[i]
                / (b_u32[i] == 0u ? 3u : b_u32[i]);
        r_u32[i * 16 + 4] = (b_u32[i] == 0u ? 3u : b_u32[i]) == 0 ? a_u32[i] : a_u32[i]
                % (b_u32[i] == 0u ? 3u : b_u32[i]);
        r_u32[i * 16 + 5] = (b_u32[i] == 0u ? 3u : b_u32[i]) == 0 ? 0 : a_u32[i]
                / (b_u32[i] == 0u ? 3u : b_u32[i]);
        r_u32[i * 16 + 6] = (b_u32[i] == 0u ? 3u : b_u32[i]) == 0 ? a_u32[i] : a_u32[i]
                % (b_u32[i] == 0u ? 3u : b_u32[i]);
        r_u32[i * 16 + 7] = LOZENGE_MIN(a_u32[i], b_u32[i]);
        r_u32[i * 16 + 8] = LOZENGE_MAX(a_u32[i], b_u32[i]);
        r_u32[i * 16 + 9] = a_u32[i] & b_u32[i];
        r_u32[i * 16 + 10] = a_u32[i] | b_u32[i];
        r_u32[i * 16 + 11] = a_u32[i] ^ b_u32[i];
        r_u32[i * 16 + 12] = a_u32[i] << (b_u32[i] & 31);
        r_u32[i * 16 + 13] = a_u32[i] >> (b_u32[i] & 31);
        r_u32[i * 16 + 14] = -a_u32[i];
        r_u32[i * 16 + 15] = a_u32[i] < b_u32[i] ? a_u32[i] : 7u;
        from_u32[i * 11] =
                (uint32_t)lozenge_min(lozenge_max(lozenge_i64_of_f32(x[i]), 0), 4294967295);
        from_u32[i * 11 + 1] =
                (uint32_t)lozenge_min(lozenge_max(lozenge_i64_of_f64(y[i]), 0), 4294967295);
        from_u32[i * 11 + 2] = (uint32_t)z[i];
        from_u32[i * 11 + 3] = (uint32_t)w[i];
        from_u32[i * 11 + 4] = (uint32_t)(z[i] > 0);
        from_u32[i * 11 + 5] = (uint32_t)a_i8[i];
        from_u32[i * 11 + 6] = (uint32_t)a_u8[i];
        from_u32[i * 11 + 7] = (uint32_t)a_i16[i];
        from_u32[i * 11 + 8] = (uint32_t)a_u16[i];
        from_u32[i * 11 + 9] = a_u32[i];
        from_u32[i * 11 + 10] = (uint32_t)a_u64[i];
        to_f32[i * 6 + 4] = (float)a_u32[i];
        to_f64[i * 6 + 4] = (double)a_u32[i];
        to_i32[i * 6 + 4] = (int32_t)a_u32[i];
        to_i64[i * 6 + 4] = (int64_t)a_u32[i];
        to_bool[i * 6 + 4] = a_u32[i] != 0;
        r_u64[i * 16] = a_u64[i] + b_u64[i];
        r_u64[i * 16 + 1] = a_u64[i] - b_u64[i];
        r_u64[i * 16 + 2] = a_u64[i] * b_u64[i];
        r_u64[i * 16 + 3] = (b_u64[i] == UINT64_C(0) ? UINT64_C(3) : b_u64[i]) == 0 ? 0 : a_u64[i]
                / (b_u64[i] == UINT64_C(0) ? UINT64_C(3) : b_u64[i]);
        r_u64[i * 16 + 4] = (b_u64[i] == UINT64_C(0) ? UINT64_C(3) : b_u64[i]) == 0 ? a_u64[i]
                : a_u64[i] % (b_u64[i] == UINT64_C(0) ? UINT64_C(3) : b_u64[i]);
        r_u64[i * 16 + 5] = (b_u64[i] == UINT64_C(0) ? UINT64_C(3) : b_u64[i]) == 0 ? 0 : a_u64[i]
                / (b_u64[i] == UINT64_C(0) ? UINT64_C(3) : b_u64[i]);
        r_u64[i * 16 + 6] = (b_u64[i] == UINT64_C(0) ? UINT64_C(3) : b_u64[i]) == 0 ? a_u64[i]
                : a_u64[i] % (b_u64[i] == UINT64_C(0) ? UINT64_C(3) : b_u64[i]);
        r_u64[i * 16 + 7] = LOZENGE_MIN(a_u64[i], b_u64[i]);
        r_u64[i * 16 + 8] = LOZENGE_MAX(a_u64[i], b_u64[i]);
        r_u64[i * 16 + 9] = a_u64[i] & b_u64[i];
        r_u64[i * 16 + 10] = a_u64[i] | b_u64[i];
        r_u64[i * 16 + 11] = a_u64[i] ^ b_u64[i];
        r_u64[i * 16 + 12] = a_u64[i] << (b_u64[i] & 63);
        r_u64[i * 16 + 13] = a_u64[i] >> (b_u64[i] & 63);
        r_u64[i * 16 + 14] = -a_u64[i];
        r_u64[i * 16 + 15] = a_u64[i] < b_u64[i] ? a_u64[i] : UINT64_C(7);
        from_u64[i * 11] = lozenge_u64_of_f64(x[i]);
        from_u64[i * 11 + 1] = lozenge_u64_of_f64(y[i]);
        from_u64[i * 11 + 2] = (uint64_t)z[i];
        from_u64[i * 11 + 3] = (uint64_t)w[i];
        from_u64[i * 11 + 4] = (uint64_t)(z[i] > 0);
        from_u64[i * 11 + 5] = (uint64_t)a_i8[i];
        from_u64[i * 11 + 6] = (uint64_t)a_u8[i];
        from_u64[i * 11 + 7] = (uint64_t)a_i16[i];
        from_u64[i * 11 + 8] = (uint64_t)a_u16[i];
        from_u64[i * 11 + 9] = (uint64_t)a_u32[i];
        from_u64[i * 11 + 10] = a_u64[i];
        to_f32[i * 6 + 5] = (float)a_u64[i];
        to_f64[i * 6 + 5] = (double)a_u64[i];
        to_i32[i * 6 + 5] = (int32_t)a_u64[i];
        to_i64[i * 6 + 5] = (int64_t)a_u64[i];
        to_bool[i * 6 + 5] = a_u64[i] != 0;
    }
    return 0;
}

/* combined:
     a uint8_t[n][m], in
     h uint16_t[n][m], in
     x uint32_t[n][m], in
     sum uint8_t, in and out
     product uint16_t, in and out
     least uint8_t, in and out
     most int8_t, in and out
     total uint64_t, in and out
     each uint32_t[m], in and out
   Returns 0; 1 if memory runs out; 2 if the sizes are not admissible. Arrays must not overlap. */
int combined(
        int64_t n,
        int64_t m,
        const uint8_t *restrict a,
        const uint16_t *restrict h,
        const uint32_t *restrict x,
        uint8_t *restrict sum,
        uint16_t *restrict product,
        uint8_t *restrict least,
        int8_t *restrict most,
        uint64_t *restrict total,
        uint32_t *restrict each) {
    if (n < 0 || m < 0) {
        return BAD_SIZES;
    }
    int status = OK;
    {
        uint8_t sum_value = *sum;
        uint16_t product_value = *product;
        uint8_t least_value = *least;
        int8_t most_value = *most;
        uint64_t total_value = *total;
        #pragma omp parallel
        {
            int thread_status = OK;
            uint32_t *restrict each_part = lozenge_alloc(m, sizeof(uint32_t));
            if (each_part == NULL) {
                thread_status = OUT_OF_MEMORY;
            } else {
                for (int64_t r0 = 0; r0 < m; r0++) {
                    each_part[r0] = 0;
                }
            }
            #pragma omp for reduction(+:sum_value, total_value) reduction(*:product_value) reduction(min:least_value) reduction(max:most_value)
            for (int64_t i = 0; i < n; i++) {
                if (thread_status != OK) {
                    continue;
                }
                for (int64_t j = 0; j < m; j++) {
                    sum_value += a[i * m + j];
                    product_value = (uint16_t)((uint32_t)product_value * h[i * m + j]);
                    least_value = LOZENGE_MIN(least_value, a[i * m + j]);
                    most_value = LOZENGE_MAX(most_value, (int8_t)a[i * m + j]);
                    total_value += (uint64_t)x[i * m + j];
                    each_part[j] += x[i * m + j];
                }
            }
            if (thread_status != OK) {
                #pragma omp atomic write
                status = thread_status;
            } else {
                #pragma omp critical
                {
                    for (int64_t r0 = 0; r0 < m; r0++) {
                        each[r0] += each_part[r0];
                    }
                }
            }
            free(each_part);
        }
        *sum = sum_value;
        *product = product_value;
        *least = least_value;
        *most = most_value;
        *total = total_value;
    }
    return status;
}
