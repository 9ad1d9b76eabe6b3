#define _POSIX_C_SOURCE 200112L /* posix_memalign */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>

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

static inline int64_t lozenge_min(int64_t a, int64_t b) {
    return a < b ? a : b;
}

/* Sum of 64-bit integers that wraps around. */
static inline int64_t lozenge_add(int64_t a, int64_t b) {
    return (int64_t)((uint64_t)a + (uint64_t)b);
}

/* exp:
     free double[int_], in
     status double[n], out
     lozenge_alloc double, in
   Returns 0; 1 if memory runs out; 2 if the sizes are not admissible. Arrays must not overlap. */
int exp_(
        int64_t int_,
        int64_t n,
        const double *restrict free_,
        double *restrict status_,
        double lozenge_alloc_) {
    double *restrict float_ = lozenge_alloc(int_, sizeof(double));
    if (float_ == NULL) {
        return OUT_OF_MEMORY;
    }
    for (int64_t while_ = 0; while_ < int_; while_++) {
        float_[while_] = free_[while_] * lozenge_alloc_;
    }
    for (int64_t while_ = 0; while_ < n; while_++) {
        double float__2 = 0.0;
        for (int64_t n_2 = 0; n_2 < int_; n_2++) {
            float__2 += free_[n_2];
        }
        status_[while_] = float__2 + exp(1.0);
    }
    for (int64_t k = 0; k < lozenge_min(n, int_); k++) {
        status_[k] += float_[k];
    }
    free(float_);
    return 0;
}

/* div:
     a'b int64_t, in
     y1 int64_t, out
   Returns 0; 1 if memory runs out; 2 if the sizes are not admissible. Arrays must not overlap. */
int div_(int64_t a_b, int64_t *restrict y1) {
    *y1 = lozenge_add(a_b, 1);
    return 0;
}

/* main:
     unused double, in
   Returns 0; 1 if memory runs out; 2 if the sizes are not admissible. Arrays must not overlap. */
int main_(double unused) {
    (void)unused;
    return 0;
}
