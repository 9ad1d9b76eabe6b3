//! Sums of products of pairs of 16-bit integers and of fours of bytes, as processors have them.
//!
//! A word holds two integers of 16 bits, or four bytes. Processors multiply the parts of one word
//! with those of another, and add the products, in one instruction: `vpmaddwd`, or `vpdpwssd` with
//! the sum, of pairs; `vpdpbusd` of fours, whose left bytes have no sign and whose right bytes have
//! one. Compilers do not find it where sums are lanes. So a loop over lanes that adds such products
//! is printed as calls of functions that have the instruction. No instruction that saturates is
//! used: the sums have the bits that the loop program says.

use loops::{Access, Assign, BinaryOp, Diagnostic, Expr, Loop, LoopKind, ReduceOp, Scalar, Stmt};

use crate::c::{CExpr, CStmt};
use crate::openmp::helpers::Helper;
use crate::openmp::loop_form::trips;
use crate::openmp::lower::Lower;

/// The most lanes of a loop that is printed as calls.
const MOST_LANES: i64 = 128;

/// For how many lanes there are functions. They have no loops: `clang` would keep the sums of a
/// loop that it unrolls late in memory.
const CHUNKS: [i64; 3] = [16, 8, 4];

/// Lanes are a multiple of this.
const LEAST_LANES: i64 = 4;

/// The parts of a word.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Parts {
    /// Two numbers of 16 bits.
    Pair,
    /// Four bytes, those of one word without a sign, those of the other with one.
    Four {
        /// Whether those of the word that is the same in all lanes have a sign.
        signed: bool,
    },
}

/// A loop over lanes that adds products of the parts of words.
pub(crate) struct PairSums<'a> {
    sums: &'a Access,
    /// The word that is the same in all lanes.
    word: &'a Expr,
    parts: Parts,
    /// The word of a lane.
    of_lane: &'a Access,
    lanes: i64,
}

/// A value that is shifted to the right by so many bits.
fn shifted(e: &Expr, by: i32) -> Option<&Expr> {
    match e {
        _ if by == 0 => Some(e),
        Expr::Binary(BinaryOp::Shr, a, n) if **n == Expr::I32(by) => Some(a),
        _ => None,
    }
}

/// The word of which this is the part from bit `from` on, `bits` long, with its sign.
fn part(e: &Expr, from: i32, bits: i32) -> Option<&Expr> {
    let above = 32 - bits - from;
    match shifted(e, 32 - bits)? {
        whole if above == 0 => Some(whole),
        Expr::Binary(BinaryOp::Shl, whole, n) if **n == Expr::I32(above) => Some(whole),
        _ => None,
    }
}

/// The word of which this is the byte from bit `from` on, without a sign.
fn natural_byte(e: &Expr, from: i32) -> Option<&Expr> {
    match e {
        Expr::Binary(BinaryOp::BitAnd, byte, mask) if **mask == Expr::I32(255) => shifted(byte, from),
        _ => None,
    }
}

/// The two words whose parts are multiplied and added, if these are all products. Of fours, the
/// bytes of the first one have no sign.
fn words<'a>(products: &[(&'a Expr, &'a Expr)]) -> Option<(&'a Expr, &'a Expr, Parts)> {
    let (parts, bits) = match products.len() {
        2 => (Parts::Pair, 16),
        4 => (Parts::Four { signed: false }, 8),
        _ => return None,
    };
    let mut found = None;
    for ((left, right), from) in products.iter().zip((0..32).step_by(bits as usize)) {
        let left = match parts {
            Parts::Pair => part(left, from, bits)?,
            Parts::Four { .. } => natural_byte(left, from)?,
        };
        let both = (left, part(right, from, bits)?);
        if *found.get_or_insert(both) != both {
            return None;
        }
    }
    found.map(|(left, right)| (left, right, parts))
}

/// The factors of the products whose sum a value is, the first ones first.
fn products<'a>(value: &'a Expr, out: &mut Vec<(&'a Expr, &'a Expr)>) -> Option<()> {
    match value {
        Expr::Binary(BinaryOp::Add, first, second) => {
            products(first, out)?;
            products(second, out)
        }
        Expr::Binary(BinaryOp::Mul, a, b) if out.len() < 4 => {
            out.push((a, b));
            Some(())
        }
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
    /// The sums of products of parts of words that a loop over lanes adds up, if it does nothing
    /// else.
    pub(crate) fn pair_sums<'a>(&self, l: &'a Loop) -> Option<PairSums<'a>> {
        let lanes = trips(l).filter(|n| n % LEAST_LANES == 0 && (LEAST_LANES..=MOST_LANES).contains(n))?;
        let plain = l.lower == Expr::Int(0) && l.step.max(1) == 1 && l.reductions.is_empty();
        if self.native || self.paper() || l.kind != LoopKind::Vector || !plain {
            return None;
        }
        let [Stmt::Assign(assign)] = l.body.as_slice() else { return None };
        let target = &assign.target;
        let mut factors = Vec::new();
        products(added(assign)?, &mut factors)?;
        let (left, right, parts) = words(&factors)?;
        let (word, of_lane, parts) = match parts {
            Parts::Four { .. } if left.mentions(&l.var) => (right, left, Parts::Four { signed: true }),
            _ => (left, right, parts),
        };
        let Expr::Load(of_lane) = of_lane else { return None };
        let apart = target.array != of_lane.array && !word.reads(&target.array) && !word.mentions(&l.var);
        let beside =
            self.adjacent(target, &l.var, Scalar::I32) && self.adjacent(of_lane, &l.var, Scalar::I32);
        (apart && beside).then_some(PairSums { sums: target, word, parts, of_lane, lanes })
    }

    /// The calls that add the products, of as many lanes each as there are functions for.
    pub(crate) fn pair_sums_calls(
        &mut self,
        l: &Loop,
        pairs: &PairSums<'_>,
    ) -> Result<Vec<CStmt>, Diagnostic> {
        let word = self.expr(pairs.word)?.0;
        let (instructions, helper, name) = match pairs.parts {
            Parts::Pair => (Helper::PairProducts, Helper::AddPairs, "pairs"),
            Parts::Four { signed: false } => (Helper::FourProducts, Helper::AddFours, "fours"),
            Parts::Four { signed: true } => (Helper::FourProducts, Helper::AddSignedFours, "signed_fours"),
        };
        self.helpers.insert(instructions);
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
                let args = vec![sums, word.clone(), of_lane];
                calls.push(CStmt::Expr(self.helper(helper, &format!("lozenge_add_{lanes}_{name}"), args)));
                from += lanes;
            }
        }
        Ok(calls)
    }
}

/// The instructions that the functions for pairs use.
pub(crate) const PAIR_INSTRUCTIONS: &str = "\
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
";

/// The sum of four products of bytes by two instructions for pairs: of the even bytes, then of the
/// odd ones.
macro_rules! of_pairs {
    ($mm:literal, $bits:literal) => {
        concat!(
            "#define LOZENGE_FOURS_",
            $bits,
            "(sums, a, b) ",
            $mm,
            "_add_epi32(",
            $mm,
            "_add_epi32(sums, \\\n    ",
            $mm,
            "_madd_epi16(",
            $mm,
            "_and_si",
            $bits,
            "(a, ",
            $mm,
            "_set1_epi16(255)), ",
            $mm,
            "_srai_epi16(",
            $mm,
            "_slli_epi16(b, 8), 8))), \\\n    ",
            $mm,
            "_madd_epi16(",
            $mm,
            "_srli_epi16(a, 8), ",
            $mm,
            "_srai_epi16(b, 8)))\n"
        )
    };
}

/// The instructions that the functions for fours use.
pub(crate) const FOUR_INSTRUCTIONS: &str = concat!(
    "#if defined(__SSE4_1__)\n#include <immintrin.h>\n#endif\n",
    of_pairs!("_mm", "128"),
    "#if defined(__AVX512VNNI__)\n",
    "#define LOZENGE_FOURS_512(sums, a, b) _mm512_dpbusd_epi32(sums, a, b)\n#else\n",
    of_pairs!("_mm512", "512"),
    "#endif\n#if defined(__AVX512VNNI__) && defined(__AVX512VL__)\n",
    "#define LOZENGE_FOURS_256(sums, a, b) _mm256_dpbusd_epi32(sums, a, b)\n",
    "#elif defined(__AVXVNNI__)\n",
    "#define LOZENGE_FOURS_256(sums, a, b) _mm256_dpbusd_avx_epi32(sums, a, b)\n#else\n",
    of_pairs!("_mm256", "256"),
    "#endif\n",
    "#define LOZENGE_SIGNED_FOURS_128(sums, a, b) LOZENGE_FOURS_128(sums, b, a)\n",
    "#define LOZENGE_SIGNED_FOURS_256(sums, a, b) LOZENGE_FOURS_256(sums, b, a)\n",
    "#define LOZENGE_SIGNED_FOURS_512(sums, a, b) LOZENGE_FOURS_512(sums, b, a)\n"
);

/// The beginning of a function for so many lanes.
macro_rules! head {
    ($lanes:literal, $name:literal) => {
        concat!(
            "static inline __attribute__((always_inline)) void lozenge_add_",
            $lanes,
            "_",
            $name,
            "(int32_t *restrict sums, int32_t word, const int32_t *restrict right) {\n"
        )
    };
}

/// Two calls of a function for half as many lanes.
macro_rules! halves {
    ($half:literal, $name:literal) => {
        concat!(
            "    lozenge_add_",
            $half,
            "_",
            $name,
            "(sums, word, right);\n",
            "    lozenge_add_",
            $half,
            "_",
            $name,
            "(sums + ",
            $half,
            ", word, right + ",
            $half,
            ");\n"
        )
    };
}

/// The body of a function with vectors of so many bits: the prefix of its functions, its type, and
/// the macro of the products.
macro_rules! vectors {
    ($prefix:literal, $type:literal, $bits:literal, $products:literal) => {
        concat!(
            "    ",
            $type,
            " *const place = (",
            $type,
            " *)sums;\n    const ",
            $type,
            " all = LOZENGE_",
            $products,
            "_",
            $bits,
            "(",
            $prefix,
            "_loadu_si",
            $bits,
            "(place), ",
            $prefix,
            "_set1_epi32(word), ",
            $prefix,
            "_loadu_si",
            $bits,
            "((const ",
            $type,
            " *)right));\n    ",
            $prefix,
            "_storeu_si",
            $bits,
            "(place, all);\n"
        )
    };
}

/// The functions for one kind of parts: what they are, their name in C, the macro of their products,
/// and the sum of the products in C.
macro_rules! functions {
    ($what:literal, $name:literal, $products:literal, $sum:literal) => {
        concat!(
            "/* Adds to each sum the products of the ",
            $what,
            " of two words. */\n",
            head!("4", $name),
            "#if defined(__SSE4_1__)\n",
            vectors!("_mm", "__m128i", "128", $products),
            "#else\n",
            "    for (int k = 0; k < 4; k++) {\n        sums[k] = (int32_t)((uint32_t)sums[k] + ",
            $sum,
            ");\n    }\n#endif\n}\n\n",
            head!("8", $name),
            "#if defined(__AVX2__)\n",
            vectors!("_mm256", "__m256i", "256", $products),
            "#else\n",
            halves!("4", $name),
            "#endif\n}\n\n",
            head!("16", $name),
            "#if defined(__AVX512BW__)\n",
            vectors!("_mm512", "__m512i", "512", $products),
            "#else\n",
            halves!("8", $name),
            "#endif\n}\n",
        )
    };
}

/// For pairs.
pub(crate) const OF_PAIRS: &str = functions!(
    "halves",
    "pairs",
    "PAIRS",
    "(uint32_t)((int16_t)word * (int16_t)right[k]) + (uint32_t)((word >> 16) * (right[k] >> 16))"
);

/// For fours.
pub(crate) const OF_FOURS: &str = functions!(
    "bytes, without and with signs,",
    "fours",
    "FOURS",
    "(uint32_t)((uint8_t)word * (int8_t)right[k] + (uint8_t)(word >> 8) * (int8_t)(right[k] >> 8)\n            + (uint8_t)(word >> 16) * (int8_t)(right[k] >> 16) + (uint8_t)(word >> 24) * (right[k] >> 24))"
);

/// For fours of which the bytes of the word that is the same in all lanes have a sign.
pub(crate) const OF_SIGNED_FOURS: &str = functions!(
    "bytes, with and without signs,",
    "signed_fours",
    "SIGNED_FOURS",
    "(uint32_t)((uint8_t)right[k] * (int8_t)word + (uint8_t)(right[k] >> 8) * (int8_t)(word >> 8)\n            + (uint8_t)(right[k] >> 16) * (int8_t)(word >> 16) + (uint8_t)(right[k] >> 24) * (word >> 24))"
);
