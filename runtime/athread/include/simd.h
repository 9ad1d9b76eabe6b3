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

static inline __attribute__((always_inline)) intv8 simd_set_intv8(int a, int b, int c, int d, int e, int f, int g, int h)
{
  return EMULATED_VECTOR(((intv8){a, b, c, d, e, f, g, h}));
}
static inline __attribute__((always_inline)) int256 simd_set_int256(long a, long b, long c, long d)
{
  return EMULATED_VECTOR(((int256){a, b, c, d}));
}
#define simd_vaddw(a, b) EMULATED_VECTOR((intv8)((a) + (b)))
#define simd_vsubw(a, b) EMULATED_VECTOR((intv8)((a) - (b)))
#define simd_vaddl(a, b) EMULATED_VECTOR((int256)((a) + (b)))
#define simd_vsubl(a, b) EMULATED_VECTOR((int256)((a) - (b)))

/* A lane, and the vector with another value in a lane: by a number in the name, or (SW26010Pro) as an argument. */
#define simd_vextf0(v) ((v)[0])
#define simd_vextf1(v) ((v)[1])
#define simd_vextf2(v) ((v)[2])
#define simd_vextf3(v) ((v)[3])
#define simd_vextfd(v, lane) ((v)[(lane) & 3])
#define simd_vextfs(v, lane) ((v)[(lane) & 3])
#define EMULATED_INSERT(value, v, lane) \
  ({ __typeof__(v) emulated_lanes = (v); emulated_lanes[(lane) & 3] = (value); EMULATED_VECTOR(emulated_lanes); })
#define simd_vinsf0(value, v) EMULATED_INSERT(value, v, 0)
#define simd_vinsf1(value, v) EMULATED_INSERT(value, v, 1)
#define simd_vinsf2(value, v) EMULATED_INSERT(value, v, 2)
#define simd_vinsf3(value, v) EMULATED_INSERT(value, v, 3)
#define simd_vinsfd(value, v, lane) EMULATED_INSERT(value, v, lane)
#define simd_vinsfs(value, v, lane) EMULATED_INSERT(value, v, lane)

/* Lanes 0 and 1 from `b`, lanes 2 and 3 from `a`: the one whose number stands in two bits of the mask, the lowest for lane 0. */
#define simd_vshff(a, b, mask)                                                                          \
  ({                                                                                                    \
    const __typeof__(a) emulated_high = (a), emulated_low = (b);                                        \
    const int emulated_mask = (int)(mask);                                                              \
    EMULATED_VECTOR(((__typeof__(a)){emulated_low[emulated_mask & 3], emulated_low[emulated_mask >> 2 & 3], \
                                     emulated_high[emulated_mask >> 4 & 3], emulated_high[emulated_mask >> 6 & 3]})); \
  })

/* In each lane `a` where the condition's number is 0 (below 0; 0 or below), else `b`. */
#define EMULATED_CHOOSE(condition, compared, a, b)                                        \
  ({                                                                                      \
    const __typeof__(condition) emulated_condition = (condition);                         \
    __typeof__(a) emulated_then = (a);                                                    \
    const __typeof__(a) emulated_else = (b);                                              \
    for (int emulated_lane = 0; emulated_lane < 4; emulated_lane++)                       \
      if (!(emulated_condition[emulated_lane] compared 0))                                \
        emulated_then[emulated_lane] = emulated_else[emulated_lane];                      \
    EMULATED_VECTOR(emulated_then);                                                       \
  })
#define simd_vseleq(condition, a, b) EMULATED_CHOOSE(condition, ==, a, b)
#define simd_vsellt(condition, a, b) EMULATED_CHOOSE(condition, <, a, b)
#define simd_vselle(condition, a, b) EMULATED_CHOOSE(condition, <=, a, b)

/* The larger and the smaller in each lane. */
#define EMULATED_EXTREME(compared, a, b)                                                  \
  ({                                                                                      \
    __typeof__(a) emulated_best = (a);                                                    \
    const __typeof__(a) emulated_other = (b);                                             \
    for (int emulated_lane = 0; emulated_lane < 4; emulated_lane++)                       \
      if (emulated_other[emulated_lane] compared emulated_best[emulated_lane])            \
        emulated_best[emulated_lane] = emulated_other[emulated_lane];                     \
    EMULATED_VECTOR(emulated_best);                                                       \
  })
#define simd_vmax(a, b) EMULATED_EXTREME(>, a, b)
#define simd_vmin(a, b) EMULATED_EXTREME(<, a, b)
#define simd_smaxd(a, b) EMULATED_EXTREME(>, a, b)
#define simd_smind(a, b) EMULATED_EXTREME(<, a, b)
#define simd_smaxs(a, b) EMULATED_EXTREME(>, a, b)
#define simd_smins(a, b) EMULATED_EXTREME(<, a, b)

/* All lanes from one value. */
#define simd_vcpyfd(value) simd_set_doublev4((value), (value), (value), (value))
#define simd_vcpyfs(value) simd_set_floatv4((value), (value), (value), (value))

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
