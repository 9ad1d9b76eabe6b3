//! C functions that generated code calls: printed only when something uses them.

use std::collections::BTreeSet;

use crate::openmp::{extremes, halves, pairs, transpositions};

/// The prologue's parts, in the order in which they are printed.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[allow(missing_docs)] // the names are those of the C functions
pub enum Helper {
    Math,
    Choices,
    Bool,
    Stdlib,
    Status,
    Alloc,
    WorkspaceAlloc,
    Extent,
    ExtentSum,
    AddBeyond,
    SubBeyond,
    MulBeyond,
    FloorDiv32,
    FloorDiv64,
    Mod32,
    Mod64,
    Min32,
    Min64,
    MinF,
    Min,
    Max32,
    Max64,
    MaxF,
    Max,
    AtMostF,
    AtMost,
    AtLeastF,
    AtLeast,
    ReduceMinF,
    ReduceMin,
    ReduceMaxF,
    ReduceMax,
    Abs64,
    Add32,
    Sub32,
    Mul32,
    Div32,
    Rem32,
    Neg32,
    Abs32,
    Add64,
    Sub64,
    Mul64,
    Div64,
    Rem64,
    Neg64,
    Shl32,
    Shl64,
    Shr32,
    Shr64,
    BitsOfF32,
    BitsOfF64,
    BitsOfI32,
    BitsOfI64,
    I32OfF32,
    I32OfF64,
    I64OfF32,
    I64OfF64,
    U64OfF64,
    SingleOfHalf,
    HalfOfSingle,
    HalfOfDouble,
    NativeMin,
    NativeMax,
    NativeFMin,
    NativeFMax,
    NativeFMinSingle,
    NativeFMaxSingle,
    NativeFloorDiv,
    NativeMod,
    NativeExtent,
    NativeAlign,
    Apart,
    OneThread,
    Choice,
    Lanes,
    PairProducts,
    AddPairs,
    FourProducts,
    AddFours,
    AddSignedFours,
    Transpose,
    NativeTranspose,
}

impl Helper {
    /// Functions of numbers that call no other.
    pub(crate) const OF_DATA: [Helper; 45] = [
        Helper::AddBeyond,
        Helper::SubBeyond,
        Helper::MulBeyond,
        Helper::FloorDiv32,
        Helper::FloorDiv64,
        Helper::Mod32,
        Helper::Mod64,
        Helper::Min32,
        Helper::Min64,
        Helper::MinF,
        Helper::Min,
        Helper::Max32,
        Helper::Max64,
        Helper::MaxF,
        Helper::Max,
        Helper::AtMostF,
        Helper::AtMost,
        Helper::AtLeastF,
        Helper::AtLeast,
        Helper::Abs64,
        Helper::Add32,
        Helper::Sub32,
        Helper::Mul32,
        Helper::Div32,
        Helper::Rem32,
        Helper::Neg32,
        Helper::Abs32,
        Helper::Add64,
        Helper::Sub64,
        Helper::Mul64,
        Helper::Div64,
        Helper::Rem64,
        Helper::Neg64,
        Helper::Shl32,
        Helper::Shl64,
        Helper::Shr32,
        Helper::Shr64,
        Helper::BitsOfF32,
        Helper::BitsOfF64,
        Helper::BitsOfI32,
        Helper::BitsOfI64,
        Helper::I32OfF32,
        Helper::I32OfF64,
        Helper::I64OfF32,
        Helper::I64OfF64,
    ];

    /// Its name, if it is a macro.
    pub(crate) fn macro_name(self) -> Option<&'static str> {
        self.text().strip_prefix("#define ").and_then(|text| text.split('(').next())
    }

    /// Its text in C.
    pub fn text(self) -> &'static str {
        match self {
            // A body with this is not made of vectors.
            Helper::Apart => {
                "#define LOZENGE_APART() ((void)0)
#if defined(__GNUC__) && !defined(__clang__)
#undef LOZENGE_APART
#define LOZENGE_APART() __asm__ volatile(\"\")
#endif"
            }
            Helper::OneThread => {
                "#define LOZENGE_ONE_THREAD() 1
#ifdef _OPENMP
int omp_get_max_threads(void);
#undef LOZENGE_ONE_THREAD
#define LOZENGE_ONE_THREAD() (omp_get_max_threads() == 1)
#endif"
            }
            // Both are to be at hand, or gcc makes a jump of it.
            Helper::Choice => {
                "#define LOZENGE_CHOICE(c, a, b) ((c) ? (a) : (b))
#if defined(__GNUC__) && !defined(__clang__)
#undef LOZENGE_CHOICE
#define LOZENGE_CHOICE(c, a, b) __extension__({ __asm__(\"\" : \"+r\"(a), \"+r\"(b)); (c) ? (a) : (b); })
#endif"
            }
            // A power of two, so that a shorter vector has all of them.
            Helper::Lanes => {
                "#define LOZENGE_LANES(most, bytes) ((most) * (bytes) < 16 ? (most) : 16 / (bytes))
#if defined(__AVX512F__)
#undef LOZENGE_LANES
#define LOZENGE_LANES(most, bytes) ((most) * (bytes) < 64 ? (most) : 64 / (bytes))
#elif defined(__AVX__)
#undef LOZENGE_LANES
#define LOZENGE_LANES(most, bytes) ((most) * (bytes) < 32 ? (most) : 32 / (bytes))
#endif"
            }
            Helper::SingleOfHalf => halves::SINGLE_OF_HALF,
            Helper::HalfOfSingle => halves::HALF_OF_SINGLE,
            Helper::HalfOfDouble => halves::HALF_OF_DOUBLE,
            Helper::PairProducts => pairs::PAIR_INSTRUCTIONS,
            Helper::AddPairs => pairs::OF_PAIRS,
            Helper::FourProducts => pairs::FOUR_INSTRUCTIONS,
            Helper::AddFours => pairs::OF_FOURS,
            Helper::AddSignedFours => pairs::OF_SIGNED_FOURS,
            Helper::Transpose => transpositions::FUNCTION,
            Helper::NativeTranspose => transpositions::MACRO,
            Helper::NativeMin => "#define LOZENGE_MIN(a, b) ((a) < (b) ? (a) : (b))",
            Helper::NativeMax => "#define LOZENGE_MAX(a, b) ((a) > (b) ? (a) : (b))",
            Helper::NativeFMin => extremes::MIN,
            Helper::NativeFMax => extremes::MAX,
            Helper::NativeFMinSingle => extremes::MIN_SINGLE,
            Helper::NativeFMaxSingle => extremes::MAX_SINGLE,
            Helper::NativeFloorDiv => {
                "#define LOZENGE_FLOOR_DIV(a, b) ((a) / (b) - ((a) % (b) != 0 && ((a) % (b) < 0) != ((b) < 0)))"
            }
            Helper::NativeMod => {
                "#define LOZENGE_MOD(a, b) ((a) % (b) + ((a) % (b) != 0 && ((a) % (b) < 0) != ((b) < 0) ? (b) : 0))"
            }
            Helper::NativeExtent => "#define LOZENGE_EXTENT(n) ((n) > 0 ? (__SIZE_TYPE__)(n) : 0)",
            Helper::NativeAlign => {
                "#define LOZENGE_ALIGN(p) ((void *)(((__UINTPTR_TYPE__)(p) + 63) / 64 * 64))"
            }
            Helper::Math | Helper::Choices | Helper::Bool | Helper::Stdlib => "",
            Helper::Status => "enum { OK = 0, OUT_OF_MEMORY = 1, BAD_SIZES = 2 };\n",
            Helper::Alloc => ALLOC,
            Helper::WorkspaceAlloc => WORKSPACE_ALLOC,
            Helper::Extent => EXTENT,
            Helper::ExtentSum => EXTENT_SUM,
            Helper::AddBeyond => {
                "/* Whether a sum goes beyond 64 bits. */\n\
                 static inline int lozenge_add_beyond(int64_t a, int64_t b) {\n    int64_t r;\n    return __builtin_add_overflow(a, b, &r);\n}\n"
            }
            Helper::SubBeyond => {
                "/* Whether a difference goes beyond 64 bits. */\n\
                 static inline int lozenge_sub_beyond(int64_t a, int64_t b) {\n    int64_t r;\n    return __builtin_sub_overflow(a, b, &r);\n}\n"
            }
            Helper::MulBeyond => {
                "/* Whether a product goes beyond 64 bits. */\n\
                 static inline int lozenge_mul_beyond(int64_t a, int64_t b) {\n    int64_t r;\n    return __builtin_mul_overflow(a, b, &r);\n}\n"
            }
            Helper::FloorDiv32 => {
                "/* Quotient rounded toward negative infinity; 0 for a divisor of 0. */\n\
                 static inline int32_t lozenge_floor_div_i32(int32_t a, int32_t b) {\n    \
                     int64_t q = b == 0 ? 0 : (int64_t)a / b;\n    \
                     return (int32_t)(b != 0 && (int64_t)a % b != 0 && (a < 0) != (b < 0) ? q - 1 : q);\n\
                 }\n"
            }
            Helper::FloorDiv64 => {
                "/* Quotient rounded toward negative infinity; 0 for a divisor of 0. */\n\
                 static inline int64_t lozenge_floor_div(int64_t a, int64_t b) {\n    \
                     if (b == 0) {\n        return 0;\n    }\n    \
                     if (b == -1) {\n        return (int64_t)(0u - (uint64_t)a);\n    }\n    \
                     return a / b - (a % b != 0 && (a < 0) != (b < 0));\n\
                 }\n"
            }
            Helper::Mod32 => {
                "/* Remainder with the sign of the divisor; the dividend for a divisor of 0. */\n\
                 static inline int32_t lozenge_mod_i32(int32_t a, int32_t b) {\n    \
                     int64_t r = b == 0 ? a : (int64_t)a % b;\n    \
                     return (int32_t)(b != 0 && r != 0 && (r < 0) != (b < 0) ? r + b : r);\n\
                 }\n"
            }
            Helper::Mod64 => {
                "/* Remainder with the sign of the divisor; the dividend for a divisor of 0. */\n\
                 static inline int64_t lozenge_mod(int64_t a, int64_t b) {\n    \
                     if (b == 0) {\n        return a;\n    }\n    \
                     if (b == -1) {\n        return 0;\n    }\n    \
                     int64_t r = a % b;\n    \
                     return r != 0 && (r < 0) != (b < 0) ? r + b : r;\n\
                 }\n"
            }
            Helper::Min32 => {
                "static inline int32_t lozenge_min_i32(int32_t a, int32_t b) {\n    return a < b ? a : b;\n}\n"
            }
            Helper::Min64 => {
                "static inline int64_t lozenge_min(int64_t a, int64_t b) {\n    return a < b ? a : b;\n}\n"
            }
            Helper::MinF => {
                "/* The smaller of two numbers, one that is no NaN; -0 is below +0. */\n\
                 static inline float lozenge_min_f32(float a, float b) {\n    \
                     union { float number; uint32_t bits; } x = { .number = a }, y = { .number = b };\n    \
                     x.bits |= y.bits;\n    \
                     float other = a < b || b != b ? a : b;\n    \
                     return a == b ? x.number : other;\n\
                 }\n"
            }
            Helper::Min => {
                "/* The smaller of two numbers, one that is no NaN; -0 is below +0. */\n\
                 static inline double lozenge_min_f64(double a, double b) {\n    \
                     union { double number; uint64_t bits; } x = { .number = a }, y = { .number = b };\n    \
                     x.bits |= y.bits;\n    \
                     double other = a < b || b != b ? a : b;\n    \
                     return a == b ? x.number : other;\n\
                 }\n"
            }
            Helper::Max32 => {
                "static inline int32_t lozenge_max_i32(int32_t a, int32_t b) {\n    return a > b ? a : b;\n}\n"
            }
            Helper::Max64 => {
                "static inline int64_t lozenge_max(int64_t a, int64_t b) {\n    return a > b ? a : b;\n}\n"
            }
            Helper::MaxF => {
                "/* The larger of two numbers, one that is no NaN; -0 is below +0. */\n\
                 static inline float lozenge_max_f32(float a, float b) {\n    \
                     union { float number; uint32_t bits; } x = { .number = a }, y = { .number = b };\n    \
                     x.bits &= y.bits;\n    \
                     float other = a > b || b != b ? a : b;\n    \
                     return a == b ? x.number : other;\n\
                 }\n"
            }
            Helper::Max => {
                "/* The larger of two numbers, one that is no NaN; -0 is below +0. */\n\
                 static inline double lozenge_max_f64(double a, double b) {\n    \
                     union { double number; uint64_t bits; } x = { .number = a }, y = { .number = b };\n    \
                     x.bits &= y.bits;\n    \
                     double other = a > b || b != b ? a : b;\n    \
                     return a == b ? x.number : other;\n\
                 }\n"
            }
            Helper::AtMostF => {
                "/* The smaller of a number and a bound, which is neither NaN nor +0; the bound for NaN. */\n\
                 static inline float lozenge_at_most_f32(float a, float bound) {\n    return a < bound ? a : bound;\n}\n"
            }
            Helper::AtMost => {
                "/* The smaller of a number and a bound, which is neither NaN nor +0; the bound for NaN. */\n\
                 static inline double lozenge_at_most_f64(double a, double bound) {\n    return a < bound ? a : bound;\n}\n"
            }
            Helper::AtLeastF => {
                "/* The larger of a number and a bound, which is neither NaN nor -0; the bound for NaN. */\n\
                 static inline float lozenge_at_least_f32(float a, float bound) {\n    return a > bound ? a : bound;\n}\n"
            }
            Helper::AtLeast => {
                "/* The larger of a number and a bound, which is neither NaN nor -0; the bound for NaN. */\n\
                 static inline double lozenge_at_least_f64(double a, double bound) {\n    return a > bound ? a : bound;\n}\n"
            }
            Helper::ReduceMinF => {
                "#pragma omp declare reduction(lozenge_min_f32 : float : omp_out = lozenge_min_f32(omp_out, omp_in)) \
                 initializer(omp_priv = __builtin_nanf(\"\"))\n"
            }
            Helper::ReduceMin => {
                "#pragma omp declare reduction(lozenge_min_f64 : double : omp_out = lozenge_min_f64(omp_out, omp_in)) \
                 initializer(omp_priv = __builtin_nan(\"\"))\n"
            }
            Helper::ReduceMaxF => {
                "#pragma omp declare reduction(lozenge_max_f32 : float : omp_out = lozenge_max_f32(omp_out, omp_in)) \
                 initializer(omp_priv = __builtin_nanf(\"\"))\n"
            }
            Helper::ReduceMax => {
                "#pragma omp declare reduction(lozenge_max_f64 : double : omp_out = lozenge_max_f64(omp_out, omp_in)) \
                 initializer(omp_priv = __builtin_nan(\"\"))\n"
            }
            Helper::Abs64 => {
                "/* Magnitude of a 64-bit integer that wraps around. */\n\
                 static inline int64_t lozenge_abs(int64_t a) {\n    return a < 0 ? (int64_t)(0u - (uint64_t)a) : a;\n}\n"
            }
            Helper::Add32 => {
                "/* Sum of 32-bit integers that wraps around. */\n\
                 static inline int32_t lozenge_add_i32(int32_t a, int32_t b) {\n    return (int32_t)((uint32_t)a + (uint32_t)b);\n}\n"
            }
            Helper::Sub32 => {
                "/* Difference of 32-bit integers that wraps around. */\n\
                 static inline int32_t lozenge_sub_i32(int32_t a, int32_t b) {\n    return (int32_t)((uint32_t)a - (uint32_t)b);\n}\n"
            }
            Helper::Mul32 => {
                "/* Product of 32-bit integers that wraps around. */\n\
                 static inline int32_t lozenge_mul_i32(int32_t a, int32_t b) {\n    return (int32_t)((uint32_t)a * (uint32_t)b);\n}\n"
            }
            Helper::Div32 => {
                "/* Quotient of 32-bit integers that wraps around; 0 for a divisor of 0. */\n\
                 static inline int32_t lozenge_div_i32(int32_t a, int32_t b) {\n    return b == 0 ? 0 : (int32_t)((int64_t)a / b);\n}\n"
            }
            Helper::Rem32 => {
                "/* Remainder of 32-bit integers, of the least one by -1 too; the dividend for a divisor of 0. */\n\
                 static inline int32_t lozenge_rem_i32(int32_t a, int32_t b) {\n    return b == 0 ? a : (int32_t)((int64_t)a % b);\n}\n"
            }
            Helper::Neg32 => {
                "/* Negation of a 32-bit integer that wraps around. */\n\
                 static inline int32_t lozenge_neg_i32(int32_t a) {\n    return (int32_t)(0u - (uint32_t)a);\n}\n"
            }
            Helper::Add64 => {
                "/* Sum of 64-bit integers that wraps around. */\n\
                 static inline int64_t lozenge_add(int64_t a, int64_t b) {\n    return (int64_t)((uint64_t)a + (uint64_t)b);\n}\n"
            }
            Helper::Sub64 => {
                "/* Difference of 64-bit integers that wraps around. */\n\
                 static inline int64_t lozenge_sub(int64_t a, int64_t b) {\n    return (int64_t)((uint64_t)a - (uint64_t)b);\n}\n"
            }
            Helper::Mul64 => {
                "/* Product of 64-bit integers that wraps around. */\n\
                 static inline int64_t lozenge_mul(int64_t a, int64_t b) {\n    return (int64_t)((uint64_t)a * (uint64_t)b);\n}\n"
            }
            Helper::Div64 => {
                "/* Quotient of 64-bit integers that wraps around; 0 for a divisor of 0. */\n\
                 static inline int64_t lozenge_div(int64_t a, int64_t b) {\n    return b == 0 ? 0 : b == -1 ? (int64_t)(0u - (uint64_t)a) : a / b;\n}\n"
            }
            Helper::Rem64 => {
                "/* Remainder of 64-bit integers, of the least one by -1 too; the dividend for a divisor of 0. */\n\
                 static inline int64_t lozenge_rem(int64_t a, int64_t b) {\n    return b == 0 ? a : b == -1 ? 0 : a % b;\n}\n"
            }
            Helper::Neg64 => {
                "/* Negation of a 64-bit integer that wraps around. */\n\
                 static inline int64_t lozenge_neg(int64_t a) {\n    return (int64_t)(0u - (uint64_t)a);\n}\n"
            }
            Helper::Shl32 => {
                "/* Bits moved up; the count is taken modulo the width. */\n\
                 static inline int32_t lozenge_shl_i32(int32_t a, int32_t b) {\n    return (int32_t)((uint32_t)a << (b & 31));\n}\n"
            }
            Helper::Shl64 => {
                "/* Bits moved up; the count is taken modulo the width. */\n\
                 static inline int64_t lozenge_shl(int64_t a, int64_t b) {\n    return (int64_t)((uint64_t)a << (b & 63));\n}\n"
            }
            Helper::Shr32 => {
                "/* Bits moved down behind copies of the sign; the count is taken modulo the width. */\n\
                 static inline int32_t lozenge_shr_i32(int32_t a, int32_t b) {\n    return a >> (b & 31);\n}\n"
            }
            Helper::Shr64 => {
                "/* Bits moved down behind copies of the sign; the count is taken modulo the width. */\n\
                 static inline int64_t lozenge_shr(int64_t a, int64_t b) {\n    return a >> (b & 63);\n}\n"
            }
            Helper::BitsOfF32 => {
                "/* The bits of a number. */\n\
                 static inline int32_t lozenge_bits_f32(float a) {\n    union { float number; int32_t bits; } u = { .number = a };\n    return u.bits;\n}\n"
            }
            Helper::BitsOfF64 => {
                "/* The bits of a number. */\n\
                 static inline int64_t lozenge_bits_f64(double a) {\n    union { double number; int64_t bits; } u = { .number = a };\n    return u.bits;\n}\n"
            }
            Helper::BitsOfI32 => {
                "/* The number of these bits. */\n\
                 static inline float lozenge_bits_i32(int32_t a) {\n    union { int32_t bits; float number; } u = { .bits = a };\n    return u.number;\n}\n"
            }
            Helper::BitsOfI64 => {
                "/* The number of these bits. */\n\
                 static inline double lozenge_bits_i64(int64_t a) {\n    union { int64_t bits; double number; } u = { .bits = a };\n    return u.number;\n}\n"
            }
            Helper::I32OfF32 => {
                "/* A number without its fraction; the nearest integer there is for what is beyond, 0 for NaN. */\n\
                 static inline int32_t lozenge_i32_of_f32(float a) {\n    float inside = a > -2147483648.0f ? a : -2147483648.0f;\n    int32_t r = (int32_t)(inside < 2147483520.0f ? inside : 2147483520.0f);\n    return a != a ? 0 : a >= 2147483648.0f ? INT32_MAX : r;\n}\n"
            }
            Helper::I32OfF64 => {
                "/* A number without its fraction; the nearest integer there is for what is beyond, 0 for NaN. */\n\
                 static inline int32_t lozenge_i32_of_f64(double a) {\n    double inside = a > -2147483648.0 ? a : -2147483648.0;\n    int32_t r = (int32_t)(inside < 2147483647.0 ? inside : 2147483647.0);\n    return a != a ? 0 : r;\n}\n"
            }
            Helper::I64OfF32 => {
                "/* A number without its fraction; the nearest integer there is for what is beyond, 0 for NaN. */\n\
                 static inline int64_t lozenge_i64_of_f32(float a) {\n    float inside = a > -9223372036854775808.0f ? a : -9223372036854775808.0f;\n    int64_t r = (int64_t)(inside < 9223371487098961920.0f ? inside : 9223371487098961920.0f);\n    return a != a ? 0 : a >= 9223372036854775808.0f ? INT64_MAX : r;\n}\n"
            }
            Helper::I64OfF64 => {
                "/* A number without its fraction; the nearest integer there is for what is beyond, 0 for NaN. */\n\
                 static inline int64_t lozenge_i64_of_f64(double a) {\n    double inside = a > -9223372036854775808.0 ? a : -9223372036854775808.0;\n    int64_t r = (int64_t)(inside < 9223372036854774784.0 ? inside : 9223372036854774784.0);\n    return a != a ? 0 : a >= 9223372036854775808.0 ? INT64_MAX : r;\n}\n"
            }
            Helper::U64OfF64 => {
                "/* A number without its fraction; the nearest natural one there is for what is beyond, 0 for NaN. */\n\
                 static inline uint64_t lozenge_u64_of_f64(double a) {\n    return a >= 18446744073709551616.0 ? UINT64_MAX : a > 0.0 ? (uint64_t)a : 0;\n}\n"
            }
            Helper::Abs32 => {
                "/* Magnitude of a 32-bit integer that wraps around. */\n\
                 static inline int32_t lozenge_abs_i32(int32_t a) {\n    return a < 0 ? (int32_t)(0u - (uint32_t)a) : a;\n}\n"
            }
        }
    }
}

const ALLOC: &str = "\
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
";

const WORKSPACE_ALLOC: &str = "\
/* Memory that the calls of one model take in turns: fresh pages for each of them would cost more than the work. What is taken last is given back first. */
static __thread struct { char *from, *at, *to; } lozenge_workspace;

/* Memory for `count` elements, aligned for vectors; NULL if there is none. */
static void *lozenge_alloc(int64_t count, size_t size) {
    void *block = NULL;
    if (count < 1) {
        count = 1;
    }
    if ((uint64_t)count > ((uint64_t)PTRDIFF_MAX - 63) / size) {
        return NULL;
    }
    size_t bytes = ((size_t)count * size + 63) / 64 * 64;
    if (lozenge_workspace.from != NULL && bytes <= (size_t)(lozenge_workspace.to - lozenge_workspace.at)) {
        block = lozenge_workspace.at;
        lozenge_workspace.at += bytes;
        return block;
    }
    return posix_memalign(&block, 64, bytes) == 0 ? block : NULL;
}

static void lozenge_free(void *block) {
    if (lozenge_workspace.from != NULL && (char *)block >= lozenge_workspace.from && (char *)block < lozenge_workspace.to) {
        lozenge_workspace.at = block;
    } else {
        free(block);
    }
}
";

const EXTENT: &str = "\
/* Product of extents; INT64_MAX, which no allocation satisfies, if it does not fit. */
static inline int64_t lozenge_extent(int64_t a, int64_t b) {
    int64_t product;
    return __builtin_mul_overflow(a, b, &product) ? INT64_MAX : product;
}
";

const EXTENT_SUM: &str = "\
/* Sum of extents; INT64_MAX, which no allocation satisfies, if it does not fit. */
static inline int64_t lozenge_extent_sum(int64_t a, int64_t b) {
    int64_t sum;
    return __builtin_add_overflow(a, b, &sum) ? INT64_MAX : sum;
}
";

impl Helper {
    /// The name of the C function or reduction, if it is one.
    pub fn function(self) -> Option<&'static str> {
        if matches!(
            self,
            Helper::AddPairs | Helper::AddFours | Helper::AddSignedFours | Helper::NativeTranspose
        ) {
            return None;
        }
        match self {
            Helper::WorkspaceAlloc => return Some("lozenge_alloc"),
            Helper::Transpose => return Some("lozenge_transpose_f32"),
            _ => {}
        }
        let text = self.text();
        let start = text.find("lozenge_")?;
        let rest = &text[start..];
        rest.find(['(', ' ']).map(|end| &rest[..end])
    }
}

/// The helpers whose functions are called, by the code or by one of them. Each stands behind those
/// that it calls.
pub(super) fn kept(helpers: &BTreeSet<Helper>, called: &dyn Fn(&str) -> bool) -> BTreeSet<Helper> {
    let mut kept = BTreeSet::<Helper>::new();
    for helper in helpers.iter().rev() {
        let by_another = |name: &str| kept.iter().any(|other| other.text().contains(name));
        if helper.function().is_none_or(|name| called(name) || by_another(name)) {
            kept.insert(*helper);
        }
    }
    kept
}

/// The text of the helpers in use.
pub fn text(used: &BTreeSet<Helper>) -> String {
    let mut out = String::new();
    for helper in used {
        let text = helper.text();
        if !text.is_empty() {
            out.push_str(text);
            out.push('\n');
        }
    }
    out
}

/// Definitions of macros for C that is there already; each may be there from another region.
pub fn macros(used: &BTreeSet<Helper>) -> String {
    let mut out = String::new();
    for helper in used {
        if let Some(name) = helper.macro_name() {
            out.push_str(&format!("#ifndef {name}\n{}\n#endif\n", helper.text()));
        }
    }
    out
}
