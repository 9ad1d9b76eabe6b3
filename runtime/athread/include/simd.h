/* Vectors of the computing cores: 256-bit registers of four doubles or four floats (which take 128 bits of memory).
 *
 * Multiply-add rounds twice here, so that results agree with sequential C to the last bit; ATHREAD_FUSED makes it round once, as the
 * machine does. ATHREAD_COUNT_SIMD counts the operations of each core.
 */
#ifndef SIMD_H
#define SIMD_H

#include <math.h>

#include "slave.h"

typedef double doublev4 __attribute__((vector_size(32)));
typedef float floatv4 __attribute__((vector_size(16)));
typedef int intv8 __attribute__((vector_size(32)));
typedef unsigned uintv8 __attribute__((vector_size(32)));
typedef long int256 __attribute__((vector_size(32)));

#ifdef ATHREAD_COUNT_SIMD
#define EMULATED_VECTOR(value) (emulated_vector_operations++, (value))
#else
#define EMULATED_VECTOR(value) (value)
#endif

/* Memory is a multiple of the vector's size; the `u` forms take any multiple of the element's. */
#define simd_load(v, p) ((v) = EMULATED_VECTOR(*(__typeof__(v) *)emulated_aligned((p), sizeof(v))))
#define simd_store(v, p) (*(__typeof__(v) *)emulated_aligned((p), sizeof(v)) = EMULATED_VECTOR(v))
#define simd_loadu(v, p) (__builtin_memcpy(&(v), EMULATED_VECTOR(p), sizeof(v)))
#define simd_storeu(v, p) (__builtin_memcpy((p), EMULATED_VECTOR(&(v)), sizeof(v)))
/* All four lanes from one element. */
#define simd_loade(v, p) ((v) = EMULATED_VECTOR(*(p) - (__typeof__(v)){0}))

static inline __attribute__((always_inline)) doublev4 simd_set_doublev4(double a, double b, double c, double d)
{
  return EMULATED_VECTOR(((doublev4){a, b, c, d}));
}
static inline __attribute__((always_inline)) floatv4 simd_set_floatv4(float a, float b, float c, float d)
{
  return EMULATED_VECTOR(((floatv4){a, b, c, d}));
}

#define EMULATED_ARITHMETIC(type, suffix, fused)                                                                     \
  static inline __attribute__((always_inline)) type simd_vadd##suffix(type a, type b) { return EMULATED_VECTOR(a + b); } \
  static inline __attribute__((always_inline)) type simd_vsub##suffix(type a, type b) { return EMULATED_VECTOR(a - b); } \
  static inline __attribute__((always_inline)) type simd_vmul##suffix(type a, type b) { return EMULATED_VECTOR(a * b); } \
  static inline __attribute__((always_inline)) type simd_vdiv##suffix(type a, type b) { return EMULATED_VECTOR(a / b); } \
  static inline __attribute__((always_inline)) type emulated_mad##suffix(type a, type b, type c)                     \
  {                                                                                                                  \
    type sum = a * b + c;                                                                                            \
    if (EMULATED_FUSED)                                                                                              \
      for (int lane = 0; lane < 4; lane++)                                                                           \
        sum[lane] = fused(a[lane], b[lane], c[lane]);                                                                \
    return EMULATED_VECTOR(sum);                                                                                     \
  }                                                                                                                  \
  static inline __attribute__((always_inline)) type simd_vmad##suffix(type a, type b, type c)                        \
  {                                                                                                                  \
    return emulated_mad##suffix(a, b, c);                                                                            \
  }                                                                                                                  \
  static inline __attribute__((always_inline)) type simd_vmsd_##suffix(type a, type b, type c)                       \
  {                                                                                                                  \
    return emulated_mad##suffix(a, b, -c);                                                                           \
  }                                                                                                                  \
  static inline __attribute__((always_inline)) type simd_vnmad_##suffix(type a, type b, type c)                      \
  {                                                                                                                  \
    return emulated_mad##suffix(-a, b, c);                                                                           \
  }

#ifdef ATHREAD_FUSED
#define EMULATED_FUSED 1
#else
#define EMULATED_FUSED 0
#endif

EMULATED_ARITHMETIC(doublev4, d, fma)
EMULATED_ARITHMETIC(floatv4, s, fmaf)

/* a * b + c, a * b - c, -a * b + c for either type. */
#define simd_vmad(a, b, c) _Generic((a), doublev4: simd_vmadd, floatv4: simd_vmads)((a), (b), (c))
#define simd_vmsd(a, b, c) _Generic((a), doublev4: simd_vmsd_d, floatv4: simd_vmsd_s)((a), (b), (c))
#define simd_vmas(a, b, c) simd_vmsd(a, b, c)
#define simd_vnmad(a, b, c) _Generic((a), doublev4: simd_vnmad_d, floatv4: simd_vnmad_s)((a), (b), (c))

static inline doublev4 simd_vsqrtd(doublev4 a)
{
  return EMULATED_VECTOR(((doublev4){sqrt(a[0]), sqrt(a[1]), sqrt(a[2]), sqrt(a[3])}));
}
static inline floatv4 simd_vsqrts(floatv4 a)
{
  return EMULATED_VECTOR(((floatv4){sqrtf(a[0]), sqrtf(a[1]), sqrtf(a[2]), sqrtf(a[3])}));
}

/* Register communication: a register to another core of this row (`putr`) or column (`putc`), who takes what came first. The target is
 * its column or row, or 8 for all others. */
void emulated_send(int along_row, int target, const void *register_256);
void emulated_receive(int along_row, void *register_256);

/* Through memory of 256 bits, so that shorter vectors travel too. */
#define EMULATED_SEND(row, v, target)                                     \
  ({                                                                      \
    union { __typeof__(v) value; char bytes[32]; } emulated_register = {0}; \
    emulated_register.value = (v);                                        \
    emulated_send((row), (target), emulated_register.bytes);              \
  })
#define EMULATED_RECEIVE(row, v)                                          \
  ({                                                                      \
    union { __typeof__(v) value; char bytes[32]; } emulated_register;     \
    emulated_receive((row), emulated_register.bytes);                     \
    emulated_register.value;                                              \
  })

#define simd_putr(v, target) EMULATED_SEND(1, v, target)
#define simd_putc(v, target) EMULATED_SEND(0, v, target)
/* The argument only tells the type: v = simd_getr(v). */
#define simd_getr(v) EMULATED_RECEIVE(1, v)
#define simd_getc(v) EMULATED_RECEIVE(0, v)
#define REG_PUTR(v, target) simd_putr(v, target)
#define REG_PUTC(v, target) simd_putc(v, target)
#define REG_GETR(v) ((v) = simd_getr(v))
#define REG_GETC(v) ((v) = simd_getc(v))

#endif
