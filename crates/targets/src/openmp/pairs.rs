//! Sums of products of pairs of 16-bit integers, as processors have them.
//!
//! A word holds two integers of 16 bits. Processors multiply both halves of one word with those of
//! another, and add the products, in one instruction (`vpmaddwd`, or `vpdpwssd` with the sum).
//! Compilers do not find it where sums are lanes. So a loop over lanes that adds such products is
//! printed as the call of a function that has the instruction. No instruction of bytes is used that
//! saturates: the sums have the bits that the loop program says.

use loops::{Access, Assign, BinaryOp, Diagnostic, Expr, Loop, LoopKind, ReduceOp, Scalar, Stmt};

use crate::c::{CExpr, CStmt};
use crate::openmp::helpers::Helper;
use crate::openmp::loop_form::trips;
use crate::openmp::lower::Lower;

/// The most lanes of a loop that is printed as a call.
const MOST_LANES: i64 = 64;

/// Lanes are a multiple of this.
const LEAST_LANES: i64 = 4;

/// What the lanes have.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Right {
    /// Words of two numbers.
    Words,
    /// Pairs of bytes.
    Bytes { unsigned: bool },
}

/// A loop over lanes that adds products of pairs.
pub struct PairSums<'a> {
    sums: &'a Access,
    /// The word that is the same in all lanes.
    word: &'a Expr,
    right: Right,
    /// The word or the pair of bytes of a lane.
    of_lane: &'a Access,
    /// What is subtracted from both bytes.
    zero: Option<&'a Expr>,
    lanes: i64,
}

fn shifted(e: &Expr, by: i32) -> Option<&Expr> {
    match e {
        Expr::Binary(BinaryOp::Shr, a, n) if **n == Expr::I32(by) => Some(a),
        _ => None,
    }
}

/// The value whose lowest bits, those behind so many, are taken with their sign.
fn lowest(e: &Expr, above: i32) -> Option<&Expr> {
    match shifted(e, above)? {
        Expr::Binary(BinaryOp::Shl, a, n) if **n == Expr::I32(above) => Some(a),
        _ => None,
    }
}

/// The word with these halves.
fn word<'a>(low: &'a Expr, high: &'a Expr) -> Option<&'a Expr> {
    lowest(low, 16).filter(|word| shifted(high, 16) == Some(*word))
}

/// The pair of bytes, and whether they have no sign.
fn bytes<'a>(low: &'a Expr, high: &'a Expr) -> Option<(&'a Access, bool)> {
    let pair = shifted(high, 8)?;
    let unsigned = match low {
        Expr::Binary(BinaryOp::BitAnd, a, mask) if **mask == Expr::I32(255) && **a == *pair => true,
        _ if lowest(low, 24) == Some(pair) => false,
        _ => return None,
    };
    match pair {
        Expr::Cast(Scalar::I32, load) => match &**load {
            Expr::Load(access) => Some((access, unsigned)),
            _ => None,
        },
        _ => None,
    }
}

/// Whether a value is a byte of the same kind as those that it is subtracted from.
fn is_byte(e: &Expr, unsigned: bool) -> bool {
    match e {
        Expr::Binary(BinaryOp::BitAnd, _, mask) if unsigned => **mask == Expr::I32(255),
        Expr::I32(value) if unsigned => (0..256).contains(value),
        Expr::I32(value) => (-128..128).contains(value),
        _ => !unsigned && lowest(e, 24).is_some(),
    }
}

/// Both factors of two products, whose left factors are the halves of a word.
fn factors(value: &Expr) -> Option<[&Expr; 4]> {
    let Expr::Binary(BinaryOp::Add, first, second) = value else { return None };
    match (&**first, &**second) {
        (Expr::Binary(BinaryOp::Mul, a, c), Expr::Binary(BinaryOp::Mul, b, d)) => Some([a, b, c, d]),
        _ => None,
    }
}

impl Lower<'_> {
    /// The sums of products of pairs that a loop over lanes adds up, if it does nothing else.
    pub fn pair_sums<'a>(&self, l: &'a Loop) -> Option<PairSums<'a>> {
        let lanes = trips(l).filter(|n| n % LEAST_LANES == 0 && (LEAST_LANES..=MOST_LANES).contains(n))?;
        let plain = l.lower == Expr::Int(0) && l.step.max(1) == 1 && l.reductions.is_empty();
        if self.native || self.paper() || l.kind != LoopKind::Vector || !plain {
            return None;
        }
        let [Stmt::Assign(Assign { target, update, value, .. })] = l.body.as_slice() else { return None };
        let added = match (update, value) {
            (Some(update), added) if update.op == ReduceOp::Add => added,
            (None, Expr::Binary(BinaryOp::Add, sum, added)) => match &**sum {
                Expr::Load(sum) if sum == target => &**added,
                _ => return None,
            },
            _ => return None,
        };
        let [a, b, c, d] = factors(added)?;
        let word_of_all = word(a, b).filter(|word| !word.mentions(&l.var))?;
        let (c, d, zero) = match (c, d) {
            (Expr::Binary(BinaryOp::Sub, c, z), Expr::Binary(BinaryOp::Sub, d, other)) if z == other => {
                (&**c, &**d, Some(&**z))
            }
            _ => (c, d, None),
        };
        let (of_lane, right) = match (word(c, d), bytes(c, d)) {
            (Some(Expr::Load(access)), _) if zero.is_none() => (access, Right::Words),
            (_, Some((access, unsigned))) => (access, Right::Bytes { unsigned }),
            _ => return None,
        };
        let elem = match right {
            Right::Words => Scalar::I32,
            Right::Bytes { unsigned: false } => Scalar::I16,
            Right::Bytes { unsigned: true } => Scalar::U16,
        };
        let zero_fits = zero.is_none_or(|z| match right {
            Right::Bytes { unsigned } => is_byte(z, unsigned) && !z.mentions(&l.var),
            Right::Words => false,
        });
        let apart = target.array != of_lane.array && !word_of_all.reads(&target.array);
        let beside = self.adjacent(target, &l.var, Scalar::I32) && self.adjacent(of_lane, &l.var, elem);
        let fits = zero_fits && apart && beside;
        fits.then_some(PairSums { sums: target, word: word_of_all, right, of_lane, zero, lanes })
    }

    /// The call that adds the products.
    pub fn pair_sums_call(&mut self, l: &Loop, pairs: &PairSums<'_>) -> Result<CStmt, Diagnostic> {
        let first = |access: &Access| {
            let start = |e: &Expr| e.substitute(&|name| (*name == l.var).then_some(Expr::Int(0)));
            Access { indices: access.indices.iter().map(start).collect(), ..access.clone() }
        };
        let sums = CExpr::unary("&", self.access(&first(pairs.sums))?.0);
        let word = self.expr(pairs.word)?.0;
        let of_lane = CExpr::unary("&", self.access(&first(pairs.of_lane))?.0);
        let count = CExpr::int(pairs.lanes);
        let zero = match pairs.zero {
            Some(zero) => self.expr(zero)?.0,
            None => CExpr::int(0),
        };
        self.helpers.insert(Helper::PairProducts);
        let (helper, name) = match pairs.right {
            Right::Words => (Helper::AddWordPairs, "lozenge_add_pairs_i16"),
            Right::Bytes { unsigned: false } => (Helper::AddBytePairs, "lozenge_add_pairs_i8"),
            Right::Bytes { unsigned: true } => (Helper::AddNaturalPairs, "lozenge_add_pairs_u8"),
        };
        Ok(CStmt::Expr(self.helper(helper, name, vec![sums, word, of_lane, zero, count])))
    }
}

/// The instructions that the functions use.
pub const INSTRUCTIONS: &str = "\
#if defined(__SSE4_1__)
#include <immintrin.h>
#endif

/* Sums, and for each the products of both halves of two words. */
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
";

/// A function that adds products of pairs: its name, the type of the pairs of the lanes, how 16, 8
/// and 4 pairs become vectors of words, and both numbers of one pair.
macro_rules! function {
    ($what:literal, $name:literal, $ty:literal, $of512:literal, $of256:literal, $of128:literal, $low:literal, $high:literal) => {
        concat!(
            "/* Adds to `count` sums the products of both numbers of a word and of ",
            $what,
            " for each sum,\n   less `zero`. */\n",
            "static inline __attribute__((always_inline)) void ",
            $name,
            "(int32_t *restrict sums, int32_t word, const ",
            $ty,
            " *restrict right, int32_t zero, int64_t count) {\n    int64_t k = 0;\n",
            "#if defined(__AVX512BW__)\n    #pragma GCC unroll 4\n    for (; k + 16 <= count; k += 16) {\n",
            "        const __m512i pairs = ",
            $of512,
            ";\n        _mm512_storeu_si512(sums + k, LOZENGE_PAIRS_512(_mm512_loadu_si512(sums + k), ",
            "_mm512_set1_epi32(word), pairs));\n    }\n#endif\n",
            "#if defined(__AVX2__)\n    #pragma GCC unroll 8\n    for (; k + 8 <= count; k += 8) {\n",
            "        const __m256i pairs = ",
            $of256,
            ";\n        __m256i *const place = (__m256i *)(sums + k);\n",
            "        _mm256_storeu_si256(place, LOZENGE_PAIRS_256(_mm256_loadu_si256(place), ",
            "_mm256_set1_epi32(word), pairs));\n    }\n",
            "#elif defined(__SSE4_1__)\n    #pragma GCC unroll 16\n    for (; k + 4 <= count; k += 4) {\n",
            "        const __m128i pairs = ",
            $of128,
            ";\n        __m128i *const place = (__m128i *)(sums + k);\n",
            "        _mm_storeu_si128(place, _mm_add_epi32(_mm_loadu_si128(place), ",
            "_mm_madd_epi16(_mm_set1_epi32(word), pairs)));\n    }\n#endif\n",
            "    for (; k < count; k++) {\n        sums[k] = (int32_t)((uint32_t)sums[k] + (uint32_t)((int16_t)word * (",
            $low,
            " - zero))\n                + (uint32_t)((word >> 16) * (",
            $high,
            " - zero)));\n    }\n}\n"
        )
    };
}

/// For words.
pub const OF_WORDS: &str = function!(
    "a word",
    "lozenge_add_pairs_i16",
    "int32_t",
    "_mm512_sub_epi16(_mm512_loadu_si512(right + k), _mm512_set1_epi16((int16_t)zero))",
    "_mm256_sub_epi16(_mm256_loadu_si256((const __m256i *)(right + k)), _mm256_set1_epi16((int16_t)zero))",
    "_mm_sub_epi16(_mm_loadu_si128((const __m128i *)(right + k)), _mm_set1_epi16((int16_t)zero))",
    "(int16_t)right[k]",
    "(right[k] >> 16)"
);

/// For pairs of bytes.
pub const OF_BYTES: &str = function!(
    "two bytes",
    "lozenge_add_pairs_i8",
    "int16_t",
    "_mm512_sub_epi16(_mm512_cvtepi8_epi16(_mm256_loadu_si256((const __m256i *)(right + k))), _mm512_set1_epi16((int16_t)zero))",
    "_mm256_sub_epi16(_mm256_cvtepi8_epi16(_mm_loadu_si128((const __m128i *)(right + k))), _mm256_set1_epi16((int16_t)zero))",
    "_mm_sub_epi16(_mm_cvtepi8_epi16(_mm_loadl_epi64((const __m128i *)(right + k))), _mm_set1_epi16((int16_t)zero))",
    "(int8_t)right[k]",
    "(right[k] >> 8)"
);

/// For pairs of bytes that have no sign.
pub const OF_NATURALS: &str = function!(
    "two bytes without a sign",
    "lozenge_add_pairs_u8",
    "uint16_t",
    "_mm512_sub_epi16(_mm512_cvtepu8_epi16(_mm256_loadu_si256((const __m256i *)(right + k))), _mm512_set1_epi16((int16_t)zero))",
    "_mm256_sub_epi16(_mm256_cvtepu8_epi16(_mm_loadu_si128((const __m128i *)(right + k))), _mm256_set1_epi16((int16_t)zero))",
    "_mm_sub_epi16(_mm_cvtepu8_epi16(_mm_loadl_epi64((const __m128i *)(right + k))), _mm_set1_epi16((int16_t)zero))",
    "(right[k] & 255)",
    "(right[k] >> 8)"
);
