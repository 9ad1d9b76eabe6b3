#define _POSIX_C_SOURCE 200112L /* posix_memalign */
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

/* both:
     x float[4][60], in
     y float[4][60], out
   Returns 0; 1 if memory runs out; 2 if the sizes are not admissible. Arrays must not overlap. */
int both(const float *restrict x, float *restrict y) {
    #pragma omp parallel for collapse(2)
    for (int64_t i = 0; i < 4; i++) {
        for (int64_t j = 0; j < 60; j++) {
            y[i * 60 + j] = x[i * 60 + j] * 2.0f;
        }
    }
    return 0;
}

/* apart:
     x float[3][5], in
     y float[3][5][5000], out
   Returns 0; 1 if memory runs out; 2 if the sizes are not admissible. Arrays must not overlap. */
int apart(const float *restrict x, float *restrict y) {
    int status = OK;
    #pragma omp parallel
    {
        int thread_status = OK;
        float *restrict t = lozenge_alloc(5000, sizeof(float));
        if (t == NULL) {
            thread_status = OUT_OF_MEMORY;
        }
        #pragma omp for collapse(2)
        for (int64_t i = 0; i < 3; i++) {
            for (int64_t j = 0; j < 5; j++) {
                if (thread_status != OK) {
                    continue;
                }
                for (int64_t k = 0; k < 5000; k++) {
                    t[k] = x[i * 5 + j] + 1.0f;
                }
                for (int64_t k = 0; k < 5000; k++) {
                    y[(i * 5 + j) * 5000 + k] = t[4999 - k];
                }
            }
        }
        if (thread_status != OK) {
            #pragma omp atomic write
            status = thread_status;
        }
        free(t);
    }
    return status;
}

/* beside:
     x float[4][60], in
     y float[4][60], out
     s float[4], out
     z float[n][60], out
   Returns 0; 1 if memory runs out; 2 if the sizes are not admissible. Arrays must not overlap. */
int beside(
        int64_t n,
        const float *restrict x,
        float *restrict y,
        float *restrict s,
        float *restrict z) {
    if (n < 0) {
        return BAD_SIZES;
    }
    #pragma omp parallel for
    for (int64_t i = 0; i < 4; i++) {
        s[i] = x[i * 60];
        for (int64_t j = 0; j < 60; j++) {
            y[i * 60 + j] = x[i * 60 + j] + 1.0f;
        }
    }
    #pragma omp parallel for
    for (int64_t i = 0; i < n; i++) {
        for (int64_t j = 0; j < 60; j++) {
            z[i * 60 + j] = 1.0f;
        }
    }
    return 0;
}
