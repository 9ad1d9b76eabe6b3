//! Scalar expressions for data and index arithmetic, typed by [`crate::Scalar`].

use crate::name::Name;
use crate::program::Access;
use crate::types::Scalar;

/// A scalar expression.
///
/// Subscripts, bounds and sizes are expressions of type `i64`. Integer arithmetic on *data* wraps.
/// Arithmetic on *indices* is exact, and has no value beyond 64 bits ([`Expr::is_data`]).
/// Floating-point literals are compared and hashed by their bits. The order of expressions is only
/// for keeping them in sets.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Expr {
    /// An `i64` constant.
    Int(i64),
    /// An `i32` constant.
    I32(i32),
    /// An `f32` constant.
    F32(Bits32),
    /// An `f64` constant.
    F64(Bits64),
    /// A truth value.
    Bool(bool),
    /// A loop variable or a size parameter; of type `i64`.
    Var(Name),
    /// The value of an array element, or of a scalar variable (an array of no dimensions).
    Load(Access),
    /// A unary operation.
    Unary(UnaryOp, Box<Expr>),
    /// A binary operation on two operands of one type, which is the result's.
    Binary(BinaryOp, Box<Expr>, Box<Expr>),
    /// A comparison of two operands of one type; a truth value.
    Compare(CompareOp, Box<Expr>, Box<Expr>),
    /// `condition ? then : else`; only the chosen side is evaluated.
    Select(Box<Expr>, Box<Expr>, Box<Expr>),
    /// Conversion to a scalar type, as in C: float to integer truncates, to `bool` is `!= 0`.
    /// Converting an index to `i64` makes data of it.
    Cast(Scalar, Box<Expr>),
    /// A call of a pure function that the target's C can see. The interpreter knows those of
    /// `math.h`.
    Call {
        /// The function.
        function: Name,
        /// Type of the result.
        ty: Scalar,
        /// Arguments.
        args: Vec<Expr>,
    },
}

/// What [`Expr::one_thread`] calls.
const ONE_THREAD: &str = "LOZENGE_ONE_THREAD";

/// A single-precision constant that is equal to another when their bits are.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Bits32(u32);

/// A double-precision constant that is equal to another when their bits are.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Bits64(u64);

impl Bits32 {
    /// The value.
    pub fn value(self) -> f32 {
        f32::from_bits(self.0)
    }
}

impl Bits64 {
    /// The value.
    pub fn value(self) -> f64 {
        f64::from_bits(self.0)
    }
}

impl From<f32> for Bits32 {
    fn from(value: f32) -> Self {
        Bits32(value.to_bits())
    }
}

impl From<f64> for Bits64 {
    fn from(value: f64) -> Self {
        Bits64(value.to_bits())
    }
}

impl std::fmt::Debug for Bits32 {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.value().fmt(f)
    }
}

impl std::fmt::Debug for Bits64 {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.value().fmt(f)
    }
}

/// Unary operations. `Not` is for truth values, `Neg` and `Abs` are for numbers, the others for
/// floating point. `Round` rounds to the nearest integer, to the even one of two. `Bits` reads the
/// bits of a number as a number of the other kind and the same width: `f32` and `i32`, `f64` and
/// `i64`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[allow(missing_docs)] // the names are the documentation
pub enum UnaryOp {
    Neg,
    Abs,
    Sqrt,
    Exp,
    Log,
    Tanh,
    Sin,
    Cos,
    Floor,
    Ceil,
    Round,
    Atan,
    Tan,
    Asin,
    Acos,
    Sinh,
    Cosh,
    Exp2,
    Expm1,
    Log2,
    Log10,
    Log1p,
    Trunc,
    Bits,
    Not,
}

/// Binary operations.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum BinaryOp {
    /// Sum.
    Add,
    /// Difference.
    Sub,
    /// Product.
    Mul,
    /// Quotient of floating-point numbers, or of integers truncated toward zero as in C. An integer
    /// divided by 0 is 0.
    Div,
    /// Remainder of the quotient truncated toward zero: C's `%` on integers, `fmod` on floating
    /// point. An integer modulo 0 is the integer.
    Rem,
    /// Quotient of integers rounded toward negative infinity; 0 where the divisor is 0.
    FloorDiv,
    /// Remainder of `FloorDiv`; has the divisor's sign. The dividend where the divisor is 0.
    Mod,
    /// Smaller operand. A number is chosen over a NaN, and -0 is below +0.
    Min,
    /// Larger operand. A number is chosen over a NaN, and +0 is above -0.
    Max,
    /// Power, floating point.
    Pow,
    /// Angle of the point whose second coordinate is the left operand, in radians.
    Atan2,
    /// Distance of a point from the origin.
    Hypot,
    /// Bits that are set in both integers.
    BitAnd,
    /// Bits that are set in at least one of two integers.
    BitOr,
    /// Bits in which two integers differ.
    BitXor,
    /// Shifts an integer left, filling with zeros. The count is taken modulo the width.
    Shl,
    /// Shifts an integer right, filling with the sign. The count is taken modulo the width.
    Shr,
    /// Conjunction of truth values (both sides may be evaluated).
    And,
    /// Disjunction of truth values (both sides may be evaluated).
    Or,
}

/// Comparisons.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[allow(missing_docs)] // the names are the documentation
pub enum CompareOp {
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
}

impl BinaryOp {
    /// Whether it is a quotient or remainder.
    pub fn divides(self) -> bool {
        matches!(self, BinaryOp::Div | BinaryOp::Rem | BinaryOp::FloorDiv | BinaryOp::Mod)
    }
}

impl Expr {
    /// A loop variable or size parameter.
    pub fn var(name: impl Into<Name>) -> Expr {
        Expr::Var(name.into())
    }

    /// An `f32` constant.
    pub fn f32(value: f32) -> Expr {
        Expr::F32(value.into())
    }

    /// An `f64` constant.
    pub fn f64(value: f64) -> Expr {
        Expr::F64(value.into())
    }

    /// A binary operation.
    pub fn binary(op: BinaryOp, left: Expr, right: Expr) -> Expr {
        Expr::Binary(op, Box::new(left), Box::new(right))
    }

    /// Whether the integer arithmetic of this expression is that of data, which wraps. It is data
    /// if an operand is a load, a conversion, a call or the bits of a number, or if all operands
    /// are constants. Otherwise it is index arithmetic: made of loop variables, sizes and
    /// constants, and exact.
    pub fn is_data(&self) -> bool {
        let (mut data, mut variable) = (false, false);
        for e in self.nodes() {
            match e {
                Expr::Load(_) | Expr::Cast(..) | Expr::Call { .. } | Expr::Unary(UnaryOp::Bits, _) => {
                    data = true
                }
                Expr::Var(_) => variable = true,
                _ => {}
            }
        }
        data || !variable
    }

    /// The value of an index, size or other `i64` expression as data: a conversion, unless it is
    /// data already.
    pub fn into_data(self) -> Expr {
        if self.is_data() { self } else { Expr::Cast(Scalar::I64, Box::new(self)) }
    }

    /// The index or constant of which this is the value as data, if it is.
    pub(crate) fn as_index(&self) -> Option<&Expr> {
        match self {
            Expr::Cast(Scalar::I64, index) if !index.is_data() => Some(index),
            Expr::Int(_) => Some(self),
            _ => None,
        }
    }

    /// Whether one thread runs parallel loops: a truth value that no result may depend on. The
    /// interpreter has one thread.
    pub fn one_thread() -> Expr {
        Expr::Call { function: Name::new(ONE_THREAD), ty: Scalar::Bool, args: Vec::new() }
    }

    /// Whether this is [`Expr::one_thread`].
    pub fn is_one_thread(&self) -> bool {
        matches!(self, Expr::Call { function, .. } if function.as_str() == ONE_THREAD)
    }

    /// A unary operation.
    pub fn unary(op: UnaryOp, operand: Expr) -> Expr {
        Expr::Unary(op, Box::new(operand))
    }

    /// A comparison.
    pub fn compare(op: CompareOp, left: Expr, right: Expr) -> Expr {
        Expr::Compare(op, Box::new(left), Box::new(right))
    }

    /// The constant of type `scalar` with this small integer value.
    pub fn constant(scalar: Scalar, value: i32) -> Expr {
        match scalar {
            Scalar::F32 => Expr::f32(value as f32),
            Scalar::F64 => Expr::f64(f64::from(value)),
            Scalar::I32 => Expr::I32(value),
            Scalar::I64 => Expr::Int(i64::from(value)),
            Scalar::Bool => Expr::Bool(value != 0),
            // These have no constants of their own.
            Scalar::I8 | Scalar::U8 | Scalar::I16 | Scalar::U16 | Scalar::U32 | Scalar::U64 => {
                Expr::Cast(scalar, Box::new(Expr::Int(value.into())))
            }
            Scalar::F16 => Expr::Cast(scalar, Box::new(Expr::f32(value as f32))),
        }
    }
}
