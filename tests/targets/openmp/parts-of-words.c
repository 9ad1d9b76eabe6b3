#include <stdint.h>

#if defined(__AVX512F__) && defined(__GNUC__) && __GNUC__ >= 8 && !defined(__clang__)
#pragma GCC target ("prefer-vector-width=512")
#endif

#ifndef _OPENMP
#pragma GCC diagnostic ignored "-Wunknown-pragmas"
#endif
#ifdef __clang__
#pragma clang diagnostic ignored "-Wpass-failed"
#endif

/* Sum of 32-bit integers that wraps around. */
static inline int32_t lozenge_add_i32(int32_t a, int32_t b) {
    return (int32_t)((uint32_t)a + (uint32_t)b);
}

/* Product of 32-bit integers that wraps around. */
static inline int32_t lozenge_mul_i32(int32_t a, int32_t b) {
    return (int32_t)((uint32_t)a * (uint32_t)b);
}

/* Bits moved up; the count is taken modulo the width. */
static inline int32_t lozenge_shl_i32(int32_t a, int32_t b) {
    return (int32_t)((uint32_t)a << (b & 31));
}

/* Bits moved down behind copies of the sign; the count is taken modulo the width. */
static inline int32_t lozenge_shr_i32(int32_t a, int32_t b) {
    return a >> (b & 31);
}

#if defined(__SSE4_1__)
#include <immintrin.h>
#endif
#define LOZENGE_PAIRS_128(sums, a, b) _mm_add_epi32(sums, _mm_madd_epi16(a, b))
#if defined(__AVX512VNNI__)
#define LOZENGE_PAIRS_512(sums, a, b) _mm512_dpwssd_epi32(sums, a, b)
#else
#define LOZENGE_PAIRS_512(sums, a, b) _mm512_add_epi32(sums, _mm512_madd_epi16(a, b))
#endif
#if defined(__AVX512VNNI__) && defined(__AVX512VL__)
#define LOZENGE_PAIRS_256(sums, a, b) _mm256_dpwssd_epi32(sums, a, b)
#elif defined(__AVXVNNI__)
#define LOZENGE_PAIRS_256(sums, a, b) _mm256_dpwssd_avx_epi32(sums, a, b)
#else
#define LOZENGE_PAIRS_256(sums, a, b) _mm256_add_epi32(sums, _mm256_madd_epi16(a, b))
#endif

/* Adds to each sum the products of the halves of two words. */
static inline __attribute__((always_inline)) void lozenge_add_4_pairs(int32_t *restrict sums, int32_t word, const int32_t *restrict right) {
#if defined(__SSE4_1__)
    __m128i *const place = (__m128i *)sums;
    const __m128i all = LOZENGE_PAIRS_128(_mm_loadu_si128(place), _mm_set1_epi32(word), _mm_loadu_si128((const __m128i *)right));
    _mm_storeu_si128(place, all);
#else
    for (int k = 0; k < 4; k++) {
        sums[k] = (int32_t)((uint32_t)sums[k] + (uint32_t)((int16_t)word * (int16_t)right[k]) + (uint32_t)((word >> 16) * (right[k] >> 16)));
    }
#endif
}

static inline __attribute__((always_inline)) void lozenge_add_8_pairs(int32_t *restrict sums, int32_t word, const int32_t *restrict right) {
#if defined(__AVX2__)
    __m256i *const place = (__m256i *)sums;
    const __m256i all = LOZENGE_PAIRS_256(_mm256_loadu_si256(place), _mm256_set1_epi32(word), _mm256_loadu_si256((const __m256i *)right));
    _mm256_storeu_si256(place, all);
#else
    lozenge_add_4_pairs(sums, word, right);
    lozenge_add_4_pairs(sums + 4, word, right + 4);
#endif
}

static inline __attribute__((always_inline)) void lozenge_add_16_pairs(int32_t *restrict sums, int32_t word, const int32_t *restrict right) {
#if defined(__AVX512BW__)
    __m512i *const place = (__m512i *)sums;
    const __m512i all = LOZENGE_PAIRS_512(_mm512_loadu_si512(place), _mm512_set1_epi32(word), _mm512_loadu_si512((const __m512i *)right));
    _mm512_storeu_si512(place, all);
#else
    lozenge_add_8_pairs(sums, word, right);
    lozenge_add_8_pairs(sums + 8, word, right + 8);
#endif
}

#if defined(__SSE4_1__)
#include <immintrin.h>
#endif
#define LOZENGE_FOURS_128(sums, a, b) _mm_add_epi32(_mm_add_epi32(sums, \
    _mm_madd_epi16(_mm_and_si128(a, _mm_set1_epi16(255)), _mm_srai_epi16(_mm_slli_epi16(b, 8), 8))), \
    _mm_madd_epi16(_mm_srli_epi16(a, 8), _mm_srai_epi16(b, 8)))
#if defined(__AVX512VNNI__)
#define LOZENGE_FOURS_512(sums, a, b) _mm512_dpbusd_epi32(sums, a, b)
#else
#define LOZENGE_FOURS_512(sums, a, b) _mm512_add_epi32(_mm512_add_epi32(sums, \
    _mm512_madd_epi16(_mm512_and_si512(a, _mm512_set1_epi16(255)), _mm512_srai_epi16(_mm512_slli_epi16(b, 8), 8))), \
    _mm512_madd_epi16(_mm512_srli_epi16(a, 8), _mm512_srai_epi16(b, 8)))
#endif
#if defined(__AVX512VNNI__) && defined(__AVX512VL__)
#define LOZENGE_FOURS_256(sums, a, b) _mm256_dpbusd_epi32(sums, a, b)
#elif defined(__AVXVNNI__)
#define LOZENGE_FOURS_256(sums, a, b) _mm256_dpbusd_avx_epi32(sums, a, b)
#else
#define LOZENGE_FOURS_256(sums, a, b) _mm256_add_epi32(_mm256_add_epi32(sums, \
    _mm256_madd_epi16(_mm256_and_si256(a, _mm256_set1_epi16(255)), _mm256_srai_epi16(_mm256_slli_epi16(b, 8), 8))), \
    _mm256_madd_epi16(_mm256_srli_epi16(a, 8), _mm256_srai_epi16(b, 8)))
#endif
#define LOZENGE_SIGNED_FOURS_128(sums, a, b) LOZENGE_FOURS_128(sums, b, a)
#define LOZENGE_SIGNED_FOURS_256(sums, a, b) LOZENGE_FOURS_256(sums, b, a)
#define LOZENGE_SIGNED_FOURS_512(sums, a, b) LOZENGE_FOURS_512(sums, b, a)

/* Adds to each sum the products of the bytes, without and with signs, of two words. */
static inline __attribute__((always_inline)) void lozenge_add_4_fours(int32_t *restrict sums, int32_t word, const int32_t *restrict right) {
#if defined(__SSE4_1__)
    __m128i *const place = (__m128i *)sums;
    const __m128i all = LOZENGE_FOURS_128(_mm_loadu_si128(place), _mm_set1_epi32(word), _mm_loadu_si128((const __m128i *)right));
    _mm_storeu_si128(place, all);
#else
    for (int k = 0; k < 4; k++) {
        sums[k] = (int32_t)((uint32_t)sums[k] + (uint32_t)((uint8_t)word * (int8_t)right[k] + (uint8_t)(word >> 8) * (int8_t)(right[k] >> 8)
            + (uint8_t)(word >> 16) * (int8_t)(right[k] >> 16) + (uint8_t)(word >> 24) * (right[k] >> 24)));
    }
#endif
}

static inline __attribute__((always_inline)) void lozenge_add_8_fours(int32_t *restrict sums, int32_t word, const int32_t *restrict right) {
#if defined(__AVX2__)
    __m256i *const place = (__m256i *)sums;
    const __m256i all = LOZENGE_FOURS_256(_mm256_loadu_si256(place), _mm256_set1_epi32(word), _mm256_loadu_si256((const __m256i *)right));
    _mm256_storeu_si256(place, all);
#else
    lozenge_add_4_fours(sums, word, right);
    lozenge_add_4_fours(sums + 4, word, right + 4);
#endif
}

static inline __attribute__((always_inline)) void lozenge_add_16_fours(int32_t *restrict sums, int32_t word, const int32_t *restrict right) {
#if defined(__AVX512BW__)
    __m512i *const place = (__m512i *)sums;
    const __m512i all = LOZENGE_FOURS_512(_mm512_loadu_si512(place), _mm512_set1_epi32(word), _mm512_loadu_si512((const __m512i *)right));
    _mm512_storeu_si512(place, all);
#else
    lozenge_add_8_fours(sums, word, right);
    lozenge_add_8_fours(sums + 8, word, right + 8);
#endif
}

/* Adds to each sum the products of the bytes, with and without signs, of two words. */
static inline __attribute__((always_inline)) void lozenge_add_4_signed_fours(int32_t *restrict sums, int32_t word, const int32_t *restrict right) {
#if defined(__SSE4_1__)
    __m128i *const place = (__m128i *)sums;
    const __m128i all = LOZENGE_SIGNED_FOURS_128(_mm_loadu_si128(place), _mm_set1_epi32(word), _mm_loadu_si128((const __m128i *)right));
    _mm_storeu_si128(place, all);
#else
    for (int k = 0; k < 4; k++) {
        sums[k] = (int32_t)((uint32_t)sums[k] + (uint32_t)((uint8_t)right[k] * (int8_t)word + (uint8_t)(right[k] >> 8) * (int8_t)(word >> 8)
            + (uint8_t)(right[k] >> 16) * (int8_t)(word >> 16) + (uint8_t)(right[k] >> 24) * (word >> 24)));
    }
#endif
}

static inline __attribute__((always_inline)) void lozenge_add_8_signed_fours(int32_t *restrict sums, int32_t word, const int32_t *restrict right) {
#if defined(__AVX2__)
    __m256i *const place = (__m256i *)sums;
    const __m256i all = LOZENGE_SIGNED_FOURS_256(_mm256_loadu_si256(place), _mm256_set1_epi32(word), _mm256_loadu_si256((const __m256i *)right));
    _mm256_storeu_si256(place, all);
#else
    lozenge_add_4_signed_fours(sums, word, right);
    lozenge_add_4_signed_fours(sums + 4, word, right + 4);
#endif
}

static inline __attribute__((always_inline)) void lozenge_add_16_signed_fours(int32_t *restrict sums, int32_t word, const int32_t *restrict right) {
#if defined(__AVX512BW__)
    __m512i *const place = (__m512i *)sums;
    const __m512i all = LOZENGE_SIGNED_FOURS_512(_mm512_loadu_si512(place), _mm512_set1_epi32(word), _mm512_loadu_si512((const __m512i *)right));
    _mm512_storeu_si512(place, all);
#else
    lozenge_add_8_signed_fours(sums, word, right);
    lozenge_add_8_signed_fours(sums + 8, word, right + 8);
#endif
}

/* pairs:
     a int32_t[3], in
     b int32_t[3][44], in
     y int32_t[44], in and out
   Returns 0; 1 if memory runs out; 2 if the sizes are not admissible. Arrays must not overlap. */
int pairs(const int32_t *restrict a, const int32_t *restrict b, int32_t *restrict y) {
    for (int64_t k = 0; k < 3; k++) {
        lozenge_add_16_pairs(&y[0], a[k], &b[k * 44]);
        lozenge_add_16_pairs(&y[16], a[k], &b[k * 44 + 16]);
        lozenge_add_8_pairs(&y[32], a[k], &b[k * 44 + 32]);
        lozenge_add_4_pairs(&y[40], a[k], &b[k * 44 + 40]);
    }
    return 0;
}

/* fours:
     a int32_t[3], in
     b int32_t[3][44], in
     y int32_t[44], in and out
   Returns 0; 1 if memory runs out; 2 if the sizes are not admissible. Arrays must not overlap. */
int fours(const int32_t *restrict a, const int32_t *restrict b, int32_t *restrict y) {
    for (int64_t k = 0; k < 3; k++) {
        lozenge_add_16_fours(&y[0], a[k], &b[k * 44]);
        lozenge_add_16_fours(&y[16], a[k], &b[k * 44 + 16]);
        lozenge_add_8_fours(&y[32], a[k], &b[k * 44 + 32]);
        lozenge_add_4_fours(&y[40], a[k], &b[k * 44 + 40]);
    }
    return 0;
}

/* signed_fours:
     a int32_t[3], in
     b int32_t[3][28], in
     y int32_t[28], in and out
   Returns 0; 1 if memory runs out; 2 if the sizes are not admissible. Arrays must not overlap. */
int signed_fours(const int32_t *restrict a, const int32_t *restrict b, int32_t *restrict y) {
    for (int64_t k = 0; k < 3; k++) {
        lozenge_add_16_signed_fours(&y[0], a[k], &b[k * 28]);
        lozenge_add_8_signed_fours(&y[16], a[k], &b[k * 28 + 16]);
        lozenge_add_4_signed_fours(&y[24], a[k], &b[k * 28 + 24]);
    }
    return 0;
}

/* other_order:
     a int32_t[3], in
     b int32_t[3][16], in
     y int32_t[16], in and out
   Returns 0; 1 if memory runs out; 2 if the sizes are not admissible. Arrays must not overlap. */
int other_order(const int32_t *restrict a, const int32_t *restrict b, int32_t *restrict y) {
    for (int64_t k = 0; k < 3; k++) {
        #pragma omp simd simdlen(16)
        for (int64_t l = 0; l < 16; l++) {
            y[l] = lozenge_add_i32(y[l],
                    lozenge_add_i32(lozenge_add_i32(lozenge_add_i32(lozenge_mul_i32(a[k] & 255,
                    lozenge_shr_i32(b[k * 16 + l], 24)),
                    lozenge_mul_i32(lozenge_shr_i32(a[k], 8) & 255,
                    lozenge_shr_i32(lozenge_shl_i32(b[k * 16 + l], 8), 24))),
                    lozenge_mul_i32(lozenge_shr_i32(a[k], 16) & 255,
                    lozenge_shr_i32(lozenge_shl_i32(b[k * 16 + l], 16), 24))),
                    lozenge_mul_i32(lozenge_shr_i32(a[k], 24) & 255,
                    lozenge_shr_i32(lozenge_shl_i32(b[k * 16 + l], 24), 24))));
        }
    }
    return 0;
}

/* odd_lanes:
     a int32_t[3], in
     b int32_t[3][7], in
     y int32_t[7], in and out
   Returns 0; 1 if memory runs out; 2 if the sizes are not admissible. Arrays must not overlap. */
int odd_lanes(const int32_t *restrict a, const int32_t *restrict b, int32_t *restrict y) {
    for (int64_t k = 0; k < 3; k++) {
        for (int64_t l = 0; l < 7; l++) {
            y[l] = lozenge_add_i32(y[l],
                    lozenge_add_i32(lozenge_add_i32(lozenge_add_i32(lozenge_mul_i32(a[k] & 255,
                    lozenge_shr_i32(lozenge_shl_i32(b[k * 7 + l], 24), 24)),
                    lozenge_mul_i32(lozenge_shr_i32(a[k], 8) & 255,
                    lozenge_shr_i32(lozenge_shl_i32(b[k * 7 + l], 16), 24))),
                    lozenge_mul_i32(lozenge_shr_i32(a[k], 16) & 255,
                    lozenge_shr_i32(lozenge_shl_i32(b[k * 7 + l], 8), 24))),
                    lozenge_mul_i32(lozenge_shr_i32(a[k], 24) & 255,
                    lozenge_shr_i32(b[k * 7 + l], 24))));
        }
    }
    return 0;
}
