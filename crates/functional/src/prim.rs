//! The one table of primitives: name, type, translation rules, documentation.
//!
//! Parser, type inference, printer, rule tables and reference pages are derived from it. Evaluation
//! and translation are exhaustive matches over [`Prim`], so a new row does not compile until each
//! has its case.

use loops::{BinaryOp, CompareOp, Scalar, UnaryOp};

/// What a primitive is about.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Group {
    /// Numbers and truth values.
    Scalar,
    /// Pairs.
    Pair,
    /// Maps, reductions, scans: with or without an execution strategy.
    Pattern,
    /// Layout of arrays: views and copies.
    Layout,
    /// Indices.
    Index,
    /// Where values live.
    Memory,
    /// Vectors.
    Vector,
}

/// What the table says of a primitive.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PrimInfo {
    /// The primitive.
    pub prim: Prim,
    /// Its name in source text.
    pub name: &'static str,
    /// Its group.
    pub group: Group,
    /// Its type. `s t` are data types and `n m k l r w` are sizes. All of them are inferred, except
    /// for a size in braces, which is an explicit argument. A constraint may stand in front: `num`
    /// (a number, or a vector of numbers), `int`, `float`, `cast` (a number, truth value or index).
    pub scheme: &'static str,
    /// Acceptor-passing rule, continuation-passing rule and expression rule. Empty if there is
    /// none.
    pub rules: [&'static str; 3],
    /// What it computes.
    pub doc: &'static str,
}

macro_rules! primitives {
    ($($variant:ident = $name:literal, $group:ident, $scheme:literal, $rules:expr, $doc:literal;)*) => {
        /// A primitive of the language.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        pub enum Prim {
            $(#[doc = $doc] $variant,)*
        }

        /// The table.
        pub const TABLE: &[PrimInfo] = &[
            $(PrimInfo { prim: Prim::$variant, name: $name, group: Group::$group, scheme: $scheme, rules: $rules, doc: $doc },)*
        ];
    };
}

primitives! {
    // Scalar
    Neg = "neg", Scalar, "num t => t -> t", ["a.4", "c.2", "cge.2"], "Negation.";
    Add = "add", Scalar, "num t => t -> t -> t", ["a.5", "c.3", "cge.3"], "Sum; written `a + b`. Integers wrap.";
    Sub = "sub", Scalar, "num t => t -> t -> t", ["a.sub", "c.sub", "cge.sub"], "Difference; written `a - b`.";
    Mul = "mul", Scalar, "num t => t -> t -> t", ["a.6", "c.4", "cge.4"], "Product; written `a * b`.";
    Div = "div", Scalar, "num t => t -> t -> t", ["a.div", "c.div", "cge.div"], "Quotient; written `a / b`. Of integers it is rounded down. A divisor of 0 gives 0.";
    Mod = "mod", Scalar, "int t => t -> t -> t", ["a.mod", "c.mod", "cge.mod"], "Remainder of `div` on integers; written `a % b`. It has the divisor's sign. A divisor of 0 gives the dividend.";
    Min = "min", Scalar, "num t => t -> t -> t", ["a.min", "c.min", "cge.min"], "Smaller operand. A number is chosen over a NaN, and -0 is below +0.";
    Max = "max", Scalar, "num t => t -> t -> t", ["a.max", "c.max", "cge.max"], "Larger operand. A number is chosen over a NaN, and +0 is above -0.";
    Abs = "abs", Scalar, "num t => t -> t", ["a.abs", "c.abs", "cge.abs"], "Absolute value.";
    Sqrt = "sqrt", Scalar, "float t => t -> t", ["a.sqrt", "c.sqrt", "cge.sqrt"], "Square root.";
    Exp = "exp", Scalar, "float t => t -> t", ["a.exp", "c.exp", "cge.exp"], "Exponential.";
    Log = "log", Scalar, "float t => t -> t", ["a.log", "c.log", "cge.log"], "Natural logarithm.";
    Tanh = "tanh", Scalar, "float t => t -> t", ["a.tanh", "c.tanh", "cge.tanh"], "Hyperbolic tangent.";
    Sin = "sin", Scalar, "float t => t -> t", ["a.math", "c.math", "cge.math"], "Sine of an angle in radians.";
    Cos = "cos", Scalar, "float t => t -> t", ["a.math", "c.math", "cge.math"], "Cosine of an angle in radians.";
    Atan = "atan", Scalar, "float t => t -> t", ["a.math", "c.math", "cge.math"], "Arc tangent in radians, between -pi/2 and pi/2.";
    Tan = "tan", Scalar, "float t => t -> t", ["a.math", "c.math", "cge.math"], "Tangent of an angle in radians.";
    Asin = "asin", Scalar, "float t => t -> t", ["a.math", "c.math", "cge.math"], "Arc sine in radians, between -pi/2 and pi/2.";
    Acos = "acos", Scalar, "float t => t -> t", ["a.math", "c.math", "cge.math"], "Arc cosine in radians, between 0 and pi.";
    Sinh = "sinh", Scalar, "float t => t -> t", ["a.math", "c.math", "cge.math"], "Hyperbolic sine.";
    Cosh = "cosh", Scalar, "float t => t -> t", ["a.math", "c.math", "cge.math"], "Hyperbolic cosine.";
    Exp2 = "exp2", Scalar, "float t => t -> t", ["a.math", "c.math", "cge.math"], "2 to the power of the operand.";
    Expm1 = "expm1", Scalar, "float t => t -> t", ["a.math", "c.math", "cge.math"], "`exp x - 1`, exact also near 0.";
    Log2 = "log2", Scalar, "float t => t -> t", ["a.math", "c.math", "cge.math"], "Logarithm to base 2.";
    Log10 = "log10", Scalar, "float t => t -> t", ["a.math", "c.math", "cge.math"], "Logarithm to base 10.";
    Log1p = "log1p", Scalar, "float t => t -> t", ["a.math", "c.math", "cge.math"], "`log (1 + x)`, exact also near 0.";
    Trunc = "trunc", Scalar, "float t => t -> t", ["a.math", "c.math", "cge.math"], "The integer next to the operand toward zero.";
    Floor = "floor", Scalar, "float t => t -> t", ["a.math", "c.math", "cge.math"], "Largest integer that is at most the operand.";
    Ceil = "ceil", Scalar, "float t => t -> t", ["a.math", "c.math", "cge.math"], "Least integer that is at least the operand.";
    Round = "round", Scalar, "float t => t -> t", ["a.math", "c.math", "cge.math"], "Nearest integer. Of two equally near ones it is the even one.";
    Pow = "pow", Scalar, "float t => t -> t -> t", ["a.math", "c.math", "cge.math"], "`pow x y` is `x` to the power `y`.";
    Atan2 = "atan2", Scalar, "float t => t -> t -> t", ["a.math", "c.math", "cge.math"], "`atan2 y x` is the angle of the point `(x, y)`, between -pi and pi.";
    Hypot = "hypot", Scalar, "float t => t -> t -> t", ["a.math", "c.math", "cge.math"], "`hypot x y` is `sqrt (x * x + y * y)` without overflow in between.";
    Fmod = "fmod", Scalar, "float t => t -> t -> t", ["a.math", "c.math", "cge.math"], "Remainder of the quotient truncated toward zero; has the dividend's sign.";
    BitAnd = "bitAnd", Scalar, "int t => t -> t -> t", ["a.bit", "c.bit", "cge.bit"], "Bits that are set in both operands.";
    BitOr = "bitOr", Scalar, "int t => t -> t -> t", ["a.bit", "c.bit", "cge.bit"], "Bits that are set in at least one operand.";
    BitXor = "bitXor", Scalar, "int t => t -> t -> t", ["a.bit", "c.bit", "cge.bit"], "Bits in which the operands differ.";
    ShiftLeft = "shiftLeft", Scalar, "int t => t -> t -> t", ["a.bit", "c.bit", "cge.bit"], "The first operand shifted left, filled with zeros. The second operand, modulo the width, is the count.";
    ShiftRight = "shiftRight", Scalar, "int t => t -> t -> t", ["a.bit", "c.bit", "cge.bit"], "The first operand shifted right, filled with the sign. The second operand, modulo the width, is the count.";
    Bits32 = "bits32", Scalar, "f32 -> i32", ["a.bits", "c.bits", "cge.bits"], "The bits of a number of single precision.";
    Bits64 = "bits64", Scalar, "f64 -> i64", ["a.bits", "c.bits", "cge.bits"], "The bits of a number of double precision.";
    Float32 = "float32", Scalar, "i32 -> f32", ["a.bits", "c.bits", "cge.bits"], "The number of single precision that has these bits.";
    Float64 = "float64", Scalar, "i64 -> f64", ["a.bits", "c.bits", "cge.bits"], "The number of double precision that has these bits.";
    Eq = "eq", Scalar, "num t => t -> t -> bool", ["a.cmp", "c.cmp", "cge.cmp"], "Equality; written `a == b`.";
    Ne = "ne", Scalar, "num t => t -> t -> bool", ["a.cmp", "c.cmp", "cge.cmp"], "Inequality; written `a != b`.";
    Lt = "lt", Scalar, "num t => t -> t -> bool", ["a.cmp", "c.cmp", "cge.cmp"], "Less; written `a < b`.";
    Le = "le", Scalar, "num t => t -> t -> bool", ["a.cmp", "c.cmp", "cge.cmp"], "At most; written `a <= b`.";
    Gt = "gt", Scalar, "num t => t -> t -> bool", ["a.cmp", "c.cmp", "cge.cmp"], "Greater; written `a > b`.";
    Ge = "ge", Scalar, "num t => t -> t -> bool", ["a.cmp", "c.cmp", "cge.cmp"], "At least; written `a >= b`.";
    And = "and", Scalar, "bool -> bool -> bool", ["a.logic", "c.logic", "cge.logic"], "Conjunction; written `a && b`.";
    Or = "or", Scalar, "bool -> bool -> bool", ["a.logic", "c.logic", "cge.logic"], "Disjunction; written `a || b`.";
    Not = "not", Scalar, "bool -> bool", ["a.logic", "c.logic", "cge.logic"], "Negation of a truth value; written `!a`.";
    Select = "select", Scalar, "bool -> t -> t -> t", ["a.select", "c.select", "cge.select"], "`select c a b` is `a` where `c` holds, else `b`; written `if c then a else b`.";
    Zero = "zero", Scalar, "num t => t", ["a.const", "c.const", "cge.const"], "The number 0 of the type that the context asks for.";
    One = "one", Scalar, "num t => t", ["a.const", "c.const", "cge.const"], "The number 1 of the type that the context asks for.";
    ToF32 = "f32", Scalar, "cast s => s -> f32", ["a.cast", "c.cast", "cge.cast"], "Conversion to single precision, of a number or an index.";
    ToF64 = "f64", Scalar, "cast s => s -> f64", ["a.cast", "c.cast", "cge.cast"], "Conversion to double precision, of a number or an index.";
    ToI32 = "i32", Scalar, "cast s => s -> i32", ["a.cast", "c.cast", "cge.cast"], "Conversion to a 32-bit integer. Floating-point numbers are truncated.";
    ToI64 = "i64", Scalar, "cast s => s -> i64", ["a.cast", "c.cast", "cge.cast"], "Conversion to a 64-bit integer. Floating-point numbers are truncated. Indices keep their value.";
    ToI8 = "i8", Scalar, "cast s => s -> i8", ["a.cast", "c.cast", "cge.cast"], "Conversion to an 8-bit integer. Floating-point numbers are truncated.";
    ToU8 = "u8", Scalar, "cast s => s -> u8", ["a.cast", "c.cast", "cge.cast"], "Conversion to an 8-bit integer without sign. Floating-point numbers are truncated.";
    ToI16 = "i16", Scalar, "cast s => s -> i16", ["a.cast", "c.cast", "cge.cast"], "Conversion to a 16-bit integer. Floating-point numbers are truncated.";
    ToU16 = "u16", Scalar, "cast s => s -> u16", ["a.cast", "c.cast", "cge.cast"], "Conversion to a 16-bit integer without sign. Floating-point numbers are truncated.";
    ToU32 = "u32", Scalar, "cast s => s -> u32", ["a.cast", "c.cast", "cge.cast"], "Conversion to a 32-bit integer without sign. Floating-point numbers are truncated.";
    ToU64 = "u64", Scalar, "cast s => s -> u64", ["a.cast", "c.cast", "cge.cast"], "Conversion to a 64-bit integer without sign. Floating-point numbers are truncated.";
    ToF16 = "f16", Scalar, "cast s => s -> f16", ["a.cast", "c.cast", "cge.cast"], "Conversion to half precision, as numbers are stored: `f32 x` converts back. Rounded to the nearest, ties to even.";
    // Pair
    Pair = "pair", Pair, "s -> t -> (s, t)", ["a.13", "c.11", "cge.10"], "The pair of two values; written `(a, b)`.";
    Fst = "fst", Pair, "(s, t) -> s", ["a.14", "c.12", "cge.12"], "First component.";
    Snd = "snd", Pair, "(s, t) -> t", ["a.15", "c.13", "cge.13"], "Second component.";
    // Pattern
    Map = "map", Pattern, "(s -> t) -> [n]s -> [n]t", ["", "", ""], "`f` of every element. It says nothing of the execution, so a strategy must choose before code is generated.";
    MapSeq = "mapSeq", Pattern, "(s -> t) -> [n]s -> [n]t", ["a.7", "c.6", ""], "`map` by a sequential loop.";
    MapPar = "mapPar", Pattern, "(s -> t) -> [n]s -> [n]t", ["a.8", "c.5", ""], "`map` by a parallel loop.";
    MapVec = "mapVec", Pattern, "(s -> t) -> [n]s -> [n]t", ["a.mapVec", "c.mapVec", ""], "`map` by a loop whose iterations are lanes of a vector.";
    MapUnroll = "mapUnroll", Pattern, "(s -> t) -> [n]s -> [n]t", ["a.mapUnroll", "c.mapUnroll", ""], "`map` by a sequential loop that the target unrolls.";
    Reduce = "reduce", Pattern, "(s -> t -> t) -> t -> [n]s -> t", ["", "", ""], "`f x_{n-1} (... (f x_0 init))`: the element comes first, the accumulator second. It says nothing of the execution.";
    ReduceSeq = "reduceSeq", Pattern, "(s -> t -> t) -> t -> [n]s -> t", ["a.9", "c.7", ""], "`reduce` by a sequential loop over an accumulator.";
    ReduceUnroll = "reduceUnroll", Pattern, "(s -> t -> t) -> t -> [n]s -> t", ["a.reduceUnroll", "c.reduceUnroll", ""], "`reduceSeq` by a loop that the target unrolls.";
    ReducePar = "reducePar", Pattern, "(s -> t -> t) -> t -> [n]s -> t", ["a.reducePar", "c.reducePar", ""], "`reduce` by a parallel loop. With a function `\\x a -> g x (+) a` to a number, where `(+)` is one of `+ * min max && ||`, threads have private accumulators; the user declares that the operation is associative and commutative. Any other function has elements of the accumulator's type; it reduces blocks of 1024 elements (of arrays, 64), and then their results in order; the user declares that it associates. Floating-point results may differ from `reduceSeq` by the order of operations.";
    ScanSeq = "scanSeq", Pattern, "(s -> t -> t) -> t -> [n]s -> [n]t", ["a.scanSeq", "c.scanSeq", ""], "All intermediate accumulators of `reduceSeq`: element `i` holds the result after elements `0..=i`.";
    ScanPar = "scanPar", Pattern, "(t -> t -> t) -> t -> [n]t -> [n]t", ["a.blocks", "a.blocks", ""], "`scanSeq` in two parallel passes over blocks of 1024 elements (of arrays, 64): their totals, then their elements. The user declares that the function associates. The blocks do not depend on the number of threads.";
    ReduceByIndexPar = "reduceByIndexPar", Pattern, "{m} -> (t -> t -> t) -> t -> [n]i64 -> [n]t -> [m]t", ["a.blocks", "a.blocks", ""], "`reduceByIndex` of an array of one value, in parallel over 32 blocks with a copy of the result each. The user declares that the function associates and that the value is neutral.";
    ReduceByIndex = "reduceByIndex", Pattern, "(s -> t -> t) -> [m]t -> [n]i64 -> [n]s -> [m]t", ["a.reduceByIndex", "c.reduceByIndex", ""], "A reduction for each index: element `is[i]` of the first array becomes `f xs[i]` of it, for `i` from 0 up. Where `is[i]` is no index below `m`, `xs[i]` is left out. A histogram is one of ones.";
    Generate = "generate", Pattern, "{n} -> (idx n -> t) -> [n]t", ["a.generate", "c.generate", "cge.generate"], "The array whose element `i` is `f i`; a view.";
    Iota = "iota", Pattern, "{n} -> [n]i64", ["a.iota", "c.iota", "cge.iota"], "The array `0, 1, ..., n - 1`; a view.";
    Iterate = "iterate", Pattern, "{k} -> (t -> t) -> t -> t", ["a.iterate", "c.iterate", ""], "`f` applied `k` times, by a sequential loop over two buffers.";
    // Layout
    Zip = "zip", Layout, "[n]s -> [n]t -> [n](s, t)", ["a.10", "c.8", "cge.5"], "Two arrays of one length as one array of pairs.";
    Unzip = "unzip", Layout, "[n](s, t) -> ([n]s, [n]t)", ["a.unzip", "c.unzip", "cge.unzip"], "An array of pairs as a pair of arrays.";
    Split = "split", Layout, "{k} -> [k * m]t -> [m][k]t", ["a.11", "c.9", "cge.8"], "Blocks of `k` elements: element `(i, j)` is element `i * k + j`.";
    Join = "join", Layout, "[m][n]t -> [n * m]t", ["a.12", "c.10", "cge.9"], "Blocks one after another: element `i` is element `(i / n, i % n)`.";
    Transpose = "transpose", Layout, "[m][n]t -> [n][m]t", ["a.transpose", "c.transpose", "cge.transpose"], "Rows become columns; a view.";
    TransPar = "transPar", Layout, "[m][n]t -> [n][m]t", ["a.transPar", "c.transPar", ""], "Transposition by a parallel loop into memory.";
    Reverse = "reverse", Layout, "[n]t -> [n]t", ["a.reverse", "c.reverse", "cge.reverse"], "Last element first; a view.";
    ReverseSeq = "reverseSeq", Layout, "[n]t -> [n]t", ["a.reverseSeq", "c.reverseSeq", ""], "Reversal by a sequential loop into memory.";
    Copy = "copy", Layout, "[n]t -> [n]t", ["a.copy", "c.copy", "cge.copy"], "The same array; a view.";
    CopySeq = "copySeq", Layout, "[n]t -> [n]t", ["a.copySeq", "c.copySeq", ""], "A copy by a sequential loop into memory.";
    Slide = "slide", Layout, "{w} -> {s} -> [n]t -> [(n - w) / s + 1][w]t", ["a.slide", "c.slide", "cge.slide"], "Windows of `w` elements, `s` apart: element `(i, j)` is element `i * s + j`; `s >= 1`, `w <= n + s`.";
    Pad = "pad", Layout, "{l} -> {r} -> t -> [n]t -> [l + n + r]t", ["a.pad", "c.pad", "cge.pad"], "`l` copies of a value before the array, and `r` after it.";
    PadClamp = "padClamp", Layout, "{l} -> {r} -> [n]t -> [l + n + r]t", ["a.padClamp", "c.padClamp", "cge.padClamp"], "The first element repeated `l` times before the array, and the last one `r` times after it.";
    Concat = "concat", Layout, "[n]t -> [m]t -> [n + m]t", ["a.concat", "c.concat", "cge.concat"], "One array after another.";
    Take = "take", Layout, "{k} -> [n]t -> [k]t", ["a.take", "c.take", "cge.take"], "The first `k` elements; `k <= n`.";
    Drop = "drop", Layout, "{k} -> [n]t -> [n - k]t", ["a.drop", "c.drop", "cge.drop"], "All but the first `k` elements; `k <= n`.";
    Gather = "gather", Layout, "[m](idx n) -> [n]t -> [m]t", ["a.gather", "c.gather", "cge.gather"], "Element `i` is `xs[is[i]]`.";
    Scatter = "scatter", Layout, "[n](idx m) -> [m]t -> [n]t -> [m]t", ["a.scatter", "c.scatter", ""], "The second array with element `is[i]` replaced by `xs[i]`, for `i` from 0 up. If subscripts are equal, the last element is kept.";
    Reorder = "reorder", Layout, "(idx n -> idx n) -> [n]t -> [n]t", ["a.reorder", "c.reorder", "cge.reorder"], "Element `i` is `xs[f i]`.";
    // Index
    Index = "idx", Index, "[n]t -> idx n -> t", ["a.idx", "c.idx", "cge.7"], "The element at an index; written `xs[i]`.";
    IdxPred = "idxpred", Index, "{n} -> idx n", ["a.const", "c.const", "cge.idxpred"], "The last index below `n`, which is `n - 1`.";
    AddIdx = "addidx", Index, "idx n -> idx n -> idx n", ["a.addidx", "c.addidx", "cge.addidx"], "Sum of indices; must stay below `n`.";
    SubIdx = "subidx", Index, "idx n -> idx n -> idx n", ["a.subidx", "c.subidx", "cge.subidx"], "Difference of indices; must not be negative.";
    MulIdx = "mulidx", Index, "idx n -> idx n -> idx n", ["a.mulidx", "c.mulidx", "cge.mulidx"], "Product of indices; must stay below `n`.";
    DivIdx = "dividx", Index, "idx n -> idx n -> idx n", ["a.dividx", "c.dividx", "cge.dividx"], "Quotient of indices. A divisor of 0 gives 0.";
    ToIdx = "toIdx", Index, "{n} -> i64 -> idx n", ["a.toIdx", "c.toIdx", "cge.toIdx"], "An integer as an index below `n`, clamped to the range `0 ..= n - 1`.";
    // Memory
    ToMem = "toMem", Memory, "t -> t", ["a.toMem", "c.toMem", ""], "The same value, stored in a temporary. Without it, a value that is read several times is computed as often: a stencil of width 3 over another one computes nine values for an element.";
    // Vector
    AsVector = "asVector", Vector, "{k} -> [k * m]t -> [m](vec k t)", ["a.asVector", "c.asVector", "cge.asVector"], "Blocks of `k` numbers as vectors.";
    AsScalar = "asScalar", Vector, "[m](vec k t) -> [k * m]t", ["a.asScalar", "c.asScalar", "cge.asScalar"], "Vectors as an array of numbers.";
    Splat = "splat", Vector, "{k} -> t -> vec k t", ["a.splat", "c.splat", "cge.splat"], "A vector whose lanes are all one number.";
}

impl Prim {
    /// The type to which it converts, if it is a conversion.
    pub fn conversion(self) -> Option<Scalar> {
        Scalar::ALL.into_iter().find(|scalar| Prim::to(*scalar) == Some(self))
    }

    /// The conversion to a type; truth values have none.
    pub fn to(scalar: Scalar) -> Option<Prim> {
        Some(match scalar {
            Scalar::F32 => Prim::ToF32,
            Scalar::F64 => Prim::ToF64,
            Scalar::I32 => Prim::ToI32,
            Scalar::I64 => Prim::ToI64,
            Scalar::I8 => Prim::ToI8,
            Scalar::U8 => Prim::ToU8,
            Scalar::I16 => Prim::ToI16,
            Scalar::U16 => Prim::ToU16,
            Scalar::U32 => Prim::ToU32,
            Scalar::U64 => Prim::ToU64,
            Scalar::F16 => Prim::ToF16,
            Scalar::Bool => return None,
        })
    }

    /// The operation of the loop IR that a unary scalar primitive is, unless it is a conversion.
    pub fn unary_operator(self) -> Option<UnaryOp> {
        Some(match self {
            Prim::Neg => UnaryOp::Neg,
            Prim::Abs => UnaryOp::Abs,
            Prim::Sqrt => UnaryOp::Sqrt,
            Prim::Exp => UnaryOp::Exp,
            Prim::Log => UnaryOp::Log,
            Prim::Tanh => UnaryOp::Tanh,
            Prim::Sin => UnaryOp::Sin,
            Prim::Cos => UnaryOp::Cos,
            Prim::Atan => UnaryOp::Atan,
            Prim::Tan => UnaryOp::Tan,
            Prim::Asin => UnaryOp::Asin,
            Prim::Acos => UnaryOp::Acos,
            Prim::Sinh => UnaryOp::Sinh,
            Prim::Cosh => UnaryOp::Cosh,
            Prim::Exp2 => UnaryOp::Exp2,
            Prim::Expm1 => UnaryOp::Expm1,
            Prim::Log2 => UnaryOp::Log2,
            Prim::Log10 => UnaryOp::Log10,
            Prim::Log1p => UnaryOp::Log1p,
            Prim::Trunc => UnaryOp::Trunc,
            Prim::Floor => UnaryOp::Floor,
            Prim::Ceil => UnaryOp::Ceil,
            Prim::Round => UnaryOp::Round,
            Prim::Bits32 | Prim::Bits64 | Prim::Float32 | Prim::Float64 => UnaryOp::Bits,
            Prim::Not => UnaryOp::Not,
            _ => return None,
        })
    }

    /// The operation of the loop IR that a binary scalar primitive is on operands of this type,
    /// unless it is a comparison.
    pub fn binary_operator(self, operand: Scalar) -> Option<BinaryOp> {
        Some(match self {
            Prim::Add | Prim::AddIdx => BinaryOp::Add,
            Prim::Sub | Prim::SubIdx => BinaryOp::Sub,
            Prim::Mul | Prim::MulIdx => BinaryOp::Mul,
            Prim::Div if operand.is_float() => BinaryOp::Div,
            Prim::Div => BinaryOp::FloorDiv,
            Prim::Mod => BinaryOp::Mod,
            Prim::Min => BinaryOp::Min,
            Prim::Max => BinaryOp::Max,
            Prim::Pow => BinaryOp::Pow,
            Prim::Atan2 => BinaryOp::Atan2,
            Prim::Hypot => BinaryOp::Hypot,
            Prim::Fmod => BinaryOp::Rem,
            Prim::BitAnd => BinaryOp::BitAnd,
            Prim::BitOr => BinaryOp::BitOr,
            Prim::BitXor => BinaryOp::BitXor,
            Prim::ShiftLeft => BinaryOp::Shl,
            Prim::ShiftRight => BinaryOp::Shr,
            Prim::And => BinaryOp::And,
            Prim::Or => BinaryOp::Or,
            _ => return None,
        })
    }

    /// The comparison that it is.
    pub fn comparison(self) -> Option<CompareOp> {
        Some(match self {
            Prim::Eq => CompareOp::Eq,
            Prim::Ne => CompareOp::Ne,
            Prim::Lt => CompareOp::Lt,
            Prim::Le => CompareOp::Le,
            Prim::Gt => CompareOp::Gt,
            Prim::Ge => CompareOp::Ge,
            _ => return None,
        })
    }

    /// Its row of the table.
    pub fn info(self) -> &'static PrimInfo {
        &TABLE[self as usize]
    }

    /// Its name in source text.
    pub fn name(self) -> &'static str {
        self.info().name
    }

    /// The primitive of this name.
    pub(crate) fn from_name(name: &str) -> Option<Prim> {
        TABLE.iter().find(|info| info.name == name).map(|info| info.prim)
    }
}
