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

/* dot:
     xs float[n], in
     ys float[n], in
     out float, out
   Returns 0; 1 if memory runs out; 2 if the sizes are not admissible. Arrays must not overlap. */
int dot(int64_t n, const float *restrict xs, const float *restrict ys, float *restrict out) {
    if (n < 0) {
        return BAD_SIZES;
    }
    float *restrict products = lozenge_alloc(n, sizeof(float));
    if (products == NULL) {
        return OUT_OF_MEMORY;
    }
    #pragma omp parallel for
    for (int64_t i = 0; i < n; i++) {
        products[i] = xs[i] * ys[i];
    }
    float sum = 0.0f;
    for (int64_t i = 0; i < n; i++) {
        sum = products[i] + sum;
    }
    *out = sum;
    free(products);
    return 0;
}
