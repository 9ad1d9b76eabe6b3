//! Conversion between half precision, which is stored as its bits, and the types that C computes
//! in.
//!
//! Where a compiler makes vectors of conversions by instructions, they are left to it. Others
//! (gcc 12 has no vectors of `_Float16` on x86) get arithmetic without branches, which they do
//! vectorise: 16 lanes take some 10 instructions.

use loops::Scalar;

use crate::c::CExpr;
use crate::openmp::helpers::Helper;
use crate::openmp::lower::Lower;

/// Half precision to single precision, exact.
///
/// The exponent and the significand are moved to their places; the exponent's bias is made up by a
/// multiplication, which makes the small numbers normal, too. An exponent of ones stays one.
pub(super) const SINGLE_OF_HALF: &str = r"/* The number of half precision with these bits. */
static inline float lozenge_f32_of_f16(uint16_t a) {
#if defined(__FLT16_MAX__) && (defined(__aarch64__) || defined(__clang__) && defined(__F16C__))
    union { uint16_t bits; _Float16 number; } half = { .bits = a };
    return (float)half.number;
#else
    const int32_t scaled = lozenge_bits_f32(lozenge_bits_i32((int32_t)(a & 0x7fff) << 13) * 0x1p112f);
    const int32_t ones = (a & 0x7c00) == 0x7c00 ? 0x7f800000 : 0;
    return lozenge_bits_i32((int32_t)((uint32_t)(scaled | ones) | (uint32_t)(a & 0x8000) << 16));
#endif
}
";

/// Single precision to half precision, to the nearest, ties to even.
///
/// A power of two is added whose last place is that of the number in half precision: the addition
/// rounds. Of its bits and the exponent the number is put together. There is no branch around
/// an operation of floating-point numbers, which gcc would not make vectors of.
pub(super) const HALF_OF_SINGLE: &str = r"/* The bits of the nearest number of half precision. */
static inline uint16_t lozenge_f16_of_f32(float a) {
#if defined(__FLT16_MAX__) && (defined(__aarch64__) || defined(__clang__) && defined(__F16C__))
    union { _Float16 number; uint16_t bits; } half = { .number = (_Float16)a };
    return half.bits;
#else
    const int32_t size = lozenge_bits_f32(a) & 0x7fffffff;
    const int32_t kept = size < 0x47800000 ? size : 0x47800000;
    const int32_t exponent = (kept & 0x7f800000) > 0x38800000 ? kept & 0x7f800000 : 0x38800000;
    const int32_t unit = exponent + 0x06800000;
    const int32_t sum = lozenge_bits_f32(lozenge_bits_i32(kept) + lozenge_bits_i32(unit));
    const int32_t half = sum - unit + ((exponent - 0x38800000) >> 13);
    const int32_t sign = lozenge_bits_f32(a) >> 16 & 0x8000;
    return (uint16_t)(sign | half | (size > 0x7f800000 ? 0x200 : 0));
#endif
}
";

/// Double precision to half precision, rounded once: to single precision it goes towards zero, with
/// a last bit that says whether something was lost.
pub(super) const HALF_OF_DOUBLE: &str = r"/* The bits of the nearest number of half precision. */
static inline uint16_t lozenge_f16_of_f64(double a) {
    const double back = (float)a;
    const double beyond = a < 0 ? a - back : back - a;
    const int32_t cut = lozenge_bits_f32((float)a) - (beyond > 0);
    return lozenge_f16_of_f32(lozenge_bits_i32(cut | (back < a || back > a)));
}
";

impl Lower<'_> {
    /// A conversion to or from half precision.
    pub(super) fn half(&mut self, to: Scalar, from: Scalar, value: CExpr) -> CExpr {
        self.helpers.extend([Helper::BitsOfF32, Helper::BitsOfI32]);
        match (to, from) {
            (Scalar::F16, Scalar::F64) => {
                self.helpers.insert(Helper::HalfOfSingle);
                self.helper(Helper::HalfOfDouble, "lozenge_f16_of_f64", vec![value])
            }
            (Scalar::F16, _) => {
                let value = self.cast(Scalar::F32, from, value, false);
                self.helper(Helper::HalfOfSingle, "lozenge_f16_of_f32", vec![value])
            }
            (Scalar::F32, _) => self.helper(Helper::SingleOfHalf, "lozenge_f32_of_f16", vec![value]),
            _ => {
                let value = self.half(Scalar::F32, from, value);
                self.cast(to, Scalar::F32, value, false)
            }
        }
    }
}
