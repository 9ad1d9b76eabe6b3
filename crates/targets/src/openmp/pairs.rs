//! Sums of products of pairs of 16-bit integers, as processors have them.
//!
//! A word holds two integers of 16 bits. Processors multiply both halves of one word with those of
//! another, and add the products, in one instruction (`vpmaddwd`, or `vpdpwssd` with the sum).
//! Compilers do not find it where sums are lanes. So a loop over lanes that adds such products is
//! printed as calls of functions that have the instruction. No instruction of bytes is used that
//! saturates: the sums have the bits that the loop program says.

use loops::{Access, Assign, BinaryOp, Diagnostic, Expr, Loop, LoopKind, ReduceOp, Scalar, Stmt};

use crate::c::{CExpr, CStmt};
use crate::openmp::helpers::Helper;
use crate::openmp::loop_form::trips;
use crate::openmp::lower::Lower;

/// The most lanes of a loop that is printed as calls.
const MOST_LANES: i64 = 64;

/// For how many lanes there are functions. They have no loops: `clang` would keep the sums of a
/// loop that it unrolls late in memory.
const CHUNKS: [i64; 3] = [16, 8, 4];

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
pub(crate) struct PairSums<'a> {
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

/// What an assignment adds to its target.
fn added(Assign { target, update, value, .. }: &Assign) -> Option<&Expr> {
    match (update, value) {
        (Some(update), added) if update.op == ReduceOp::Add => Some(added),
        (None, Expr::Binary(BinaryOp::Add, sum, added)) => match &**sum {
            Expr::Load(sum) if sum == target => Some(added),
            _ => None,
        },
        _ => None,
    }
}

impl Lower<'_> {
    /// The sums of products of pairs that a loop over lanes adds up, if it does nothing else.
    pub(crate) fn pair_sums<'a>(&self, l: &'a Loop) -> Option<PairSums<'a>> {
        let lanes = trips(l).filter(|n| n % LEAST_LANES == 0 && (LEAST_LANES..=MOST_LANES).contains(n))?;
        let plain = l.lower == Expr::Int(0) && l.step.max(1) == 1 && l.reductions.is_empty();
        if self.native || self.paper() || l.kind != LoopKind::Vector || !plain {
            return None;
        }
        let [Stmt::Assign(assign)] = l.body.as_slice() else { return None };
        let target = &assign.target;
        let [a, b, c, d] = factors(added(assign)?)?;
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

    /// The calls that add the products, of as many lanes each as there are functions for.
    pub(crate) fn pair_sums_calls(
        &mut self,
        l: &Loop,
        pairs: &PairSums<'_>,
    ) -> Result<Vec<CStmt>, Diagnostic> {
        let word = self.expr(pairs.word)?.0;
        let zero = match pairs.zero {
            Some(zero) => self.expr(zero)?.0,
            None => CExpr::int(0),
        };
        let (helper, ty) = match pairs.right {
            Right::Words => (Helper::AddWordPairs, "i16"),
            Right::Bytes { unsigned: false } => (Helper::AddBytePairs, "i8"),
            Right::Bytes { unsigned: true } => (Helper::AddNaturalPairs, "u8"),
        };
        self.helpers.insert(Helper::PairProducts);
        let (mut from, mut calls) = (0, Vec::new());
        for lanes in CHUNKS {
            while from + lanes <= pairs.lanes {
                let first = |access: &Access| {
                    access.map_indices(&mut |e| {
                        e.substitute(&|name| (*name == l.var).then_some(Expr::Int(from)))
                    })
                };
                let sums = CExpr::unary("&", self.access(&first(pairs.sums))?.0);
                let of_lane = CExpr::unary("&", self.access(&first(pairs.of_lane))?.0);
                let args = vec![sums, word.clone(), of_lane, zero.clone()];
                calls.push(CStmt::Expr(self.helper(
                    helper,
                    &format!("lozenge_add_{lanes}_pairs_{ty}"),
                    args,
                )));
                from += lanes;
            }
        }
        Ok(calls)
    }
}

/// The instructions that the functions use.
pub(crate) const INSTRUCTIONS: &str = "\
#if defined(__SSE4_1__)
#include <immintrin.h>
#endif
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

/// The beginning of a function for so many lanes.
macro_rules! head {
    ($lanes:literal, $name:literal, $ty:literal) => {
        concat!(
            "static inline __attribute__((always_inline)) void lozenge_add_",
            $lanes,
            "_pairs_",
            $name,
            "(int32_t *restrict sums, int32_t word, const ",
            $ty,
            " *restrict right, int32_t zero) {\n"
        )
    };
}

/// Two calls of a function for half as many lanes.
macro_rules! halves {
    ($half:literal, $name:literal) => {
        concat!(
            "    lozenge_add_",
            $half,
            "_pairs_",
            $name,
            "(sums, word, right, zero);\n",
            "    lozenge_add_",
            $half,
            "_pairs_",
            $name,
            "(sums + ",
            $half,
            ", word, right + ",
            $half,
            ", zero);\n"
        )
    };
}

/// The functions for one kind of pairs: what they are, their name and type in C, how 4, 8 and 16
/// of them become a vector of words, and both numbers of one.
macro_rules! functions {
    ($what:literal, $name:literal, $ty:literal, [$of4:literal, $of8:literal, $of16:literal], $low:literal, $high:literal) => {
        concat!(
            "/* Adds to each sum the products of both numbers of `word` and of ",
            $what,
            " less `zero`. */\n",
            head!("4", $name, $ty),
            "#if defined(__SSE4_1__)\n    __m128i *const place = (__m128i *)sums;\n",
            "    const __m128i pairs = _mm_sub_epi16(", $of4, ", _mm_set1_epi16((int16_t)zero));\n",
            "    const __m128i added = _mm_madd_epi16(_mm_set1_epi32(word), pairs);\n",
            "    _mm_storeu_si128(place, _mm_add_epi32(_mm_loadu_si128(place), added));\n#else\n",
            "    for (int k = 0; k < 4; k++) {\n        sums[k] = (int32_t)((uint32_t)sums[k] + (uint32_t)((int16_t)word * (",
            $low, " - zero)) + (uint32_t)((word >> 16) * (", $high, " - zero)));\n    }\n#endif\n}\n\n",
            head!("8", $name, $ty),
            "#if defined(__AVX2__)\n    __m256i *const place = (__m256i *)sums;\n",
            "    const __m256i pairs = _mm256_sub_epi16(", $of8, ", _mm256_set1_epi16((int16_t)zero));\n",
            "    const __m256i all = LOZENGE_PAIRS_256(_mm256_loadu_si256(place), _mm256_set1_epi32(word), pairs);\n",
            "    _mm256_storeu_si256(place, all);\n#else\n", halves!("4", $name), "#endif\n}\n\n",
            head!("16", $name, $ty),
            "#if defined(__AVX512BW__)\n",
            "    const __m512i pairs = _mm512_sub_epi16(", $of16, ", _mm512_set1_epi16((int16_t)zero));\n",
            "    const __m512i all = LOZENGE_PAIRS_512(_mm512_loadu_si512(sums), _mm512_set1_epi32(word), pairs);\n",
            "    _mm512_storeu_si512(sums, all);\n#else\n", halves!("8", $name), "#endif\n}\n",
        )
    };
}

/// For words.
pub(crate) const OF_WORDS: &str = functions!(
    "a word",
    "i16",
    "int32_t",
    [
        "_mm_loadu_si128((const __m128i *)right)",
        "_mm256_loadu_si256((const __m256i *)right)",
        "_mm512_loadu_si512(right)"
    ],
    "(int16_t)right[k]",
    "(right[k] >> 16)"
);

/// For pairs of bytes.
pub(crate) const OF_BYTES: &str = functions!(
    "two bytes",
    "i8",
    "int16_t",
    [
        "_mm_cvtepi8_epi16(_mm_loadl_epi64((const __m128i *)right))",
        "_mm256_cvtepi8_epi16(_mm_loadu_si128((const __m128i *)right))",
        "_mm512_cvtepi8_epi16(_mm256_loadu_si256((const __m256i *)right))"
    ],
    "(int8_t)right[k]",
    "(right[k] >> 8)"
);

/// For pairs of bytes that have no sign.
pub(crate) const OF_NATURALS: &str = functions!(
    "two bytes that have no sign,",
    "u8",
    "uint16_t",
    [
        "_mm_cvtepu8_epi16(_mm_loadl_epi64((const __m128i *)right))",
        "_mm256_cvtepu8_epi16(_mm_loadu_si128((const __m128i *)right))",
        "_mm512_cvtepu8_epi16(_mm256_loadu_si256((const __m256i *)right))"
    ],
    "(right[k] & 255)",
    "(right[k] >> 8)"
);
