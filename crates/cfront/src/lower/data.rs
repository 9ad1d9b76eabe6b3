//! Data expressions, with the conversions of C: literals have their types, operands are promoted
//! and brought to a common type. Implicit conversions of C become casts in the loop IR.

use loops::{BinaryOp, Expr as Hub, Scalar, UnaryOp, Value};

use super::condition::{as_extremum, compare_op};
use super::{Class, Lowering, Try};
use crate::ast::{At, Binary, COMMA, Expr, ExprKind, Unary};
use crate::codes;
use crate::ctype::{CType, IntType, Known, QType};
use crate::linear::Linear;
use crate::lower::resolve::Meaning;

/// The type of a data expression.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Type {
    /// A comparison: of type `int` in C, a truth value in the loop IR.
    Truth,
    /// An integer; of types that C promotes as it is stored.
    Int(IntType),
    F32,
    F64,
}

impl Type {
    pub fn of(scalar: Scalar) -> Type {
        match scalar {
            Scalar::F32 => Type::F32,
            Scalar::F64 => Type::F64,
            Scalar::I32 => Type::Int(IntType::Int),
            Scalar::I64 => Type::Int(IntType::Long),
            Scalar::Bool => Type::Int(IntType::Bool),
            Scalar::I8 => Type::Int(IntType::SignedChar),
            Scalar::U8 => Type::Int(IntType::UnsignedChar),
            Scalar::I16 => Type::Int(IntType::Short),
            // No declaration of C that is taken has the latter; it would be bits.
            Scalar::U16 | Scalar::F16 => Type::Int(IntType::UnsignedShort),
            Scalar::U32 => Type::Int(IntType::Unsigned),
            Scalar::U64 => Type::Int(IntType::UnsignedLong),
        }
    }

    fn int(self) -> Option<IntType> {
        match self {
            Type::Truth => Some(IntType::Int),
            Type::Int(int) => Some(int),
            _ => None,
        }
    }

    /// The usual arithmetic conversions.
    pub fn common(self, other: Type) -> Type {
        match (self, other) {
            (Type::F64, _) | (_, Type::F64) => Type::F64,
            (Type::F32, _) | (_, Type::F32) => Type::F32,
            _ => {
                let (a, b) = (self.int().unwrap_or(IntType::Int), other.int().unwrap_or(IntType::Int));
                match a.common(b) {
                    IntType::LongLong => Type::Int(IntType::Long),
                    IntType::UnsignedLongLong => Type::Int(IntType::UnsignedLong),
                    int => Type::Int(int),
                }
            }
        }
    }

    pub fn is_float(self) -> bool {
        matches!(self, Type::F32 | Type::F64)
    }

    /// Its type in the loop IR.
    pub fn scalar(self) -> Scalar {
        match self {
            Type::Truth | Type::Int(IntType::Bool) => Scalar::Bool,
            Type::Int(int) => int.scalar().unwrap_or(Scalar::I64),
            Type::F32 => Scalar::F32,
            Type::F64 => Scalar::F64,
        }
    }

    /// The type in which two values are compared or chosen from: their own type, or the common one.
    /// Values of one narrow type compare as the promoted ones do.
    fn matched(self, other: Type) -> Type {
        match self {
            Type::Int(_) if self == other && self.scalar().is_narrow() => self,
            _ => self.common(other),
        }
    }
}

/// A value with its type.
pub(super) type Typed = (Hub, Type);

impl Lowering<'_> {
    /// Translates a data expression.
    pub(super) fn data(&mut self, e: &Expr) -> Try<Typed> {
        match &e.kind {
            ExprKind::Int(value, ty) => self.integer(*value, *ty, e.at),
            ExprKind::Float { single, ty: CType::Float, .. } => Ok((Hub::f32(*single), Type::F32)),
            ExprKind::Float { value, .. } => Ok((Hub::f64(*value), Type::F64)),
            ExprKind::Ident(name) => self.data_identifier(name, e),
            ExprKind::Index(..) | ExprKind::Unary(Unary::Deref, _) => self.load(e),
            ExprKind::Unary(op, a) => self.data_unary(*op, a, e.at),
            ExprKind::Binary(Binary::And | Binary::Or, ..) => Ok((self.truth(e)?, Type::Truth)),
            ExprKind::Binary(op, a, b) if compare_op(*op).is_some() => self.compare(*op, a, b, e),
            ExprKind::Binary(op, a, b) => {
                let (left, right) = (self.data(a), self.data(b));
                self.arithmetic(*op, left?, right?, e.at)
            }
            ExprKind::Conditional(c, a, b) => {
                let cond = self.truth(c);
                let (holds, fails) =
                    self.condition(c).map_or_else(|_| Default::default(), |c| (c.holds, c.fails));
                self.branches += 1;
                let (then, otherwise) = (self.where_known(holds, a), self.where_known(fails, b));
                self.branches -= 1;
                let (cond, then, otherwise) = (cond?, then?, otherwise?);
                let ty = if then.1 == otherwise.1 { then.1 } else { then.1.common(otherwise.1) };
                let then = self.convert(then.0, then.1, ty);
                let otherwise = self.convert(otherwise.0, otherwise.1, ty);
                // For integers the choice of the larger is the maximum; for floating point it
                // differs on NaN and -0.
                if ty.scalar().is_int()
                    && let Some(largest) = as_extremum(&cond, &then, &otherwise)
                {
                    let op = if largest { BinaryOp::Max } else { BinaryOp::Min };
                    return Ok((Hub::binary(op, then, otherwise), ty));
                }
                Ok((Hub::Select(Box::new(cond), Box::new(then), Box::new(otherwise)), ty))
            }
            ExprKind::Cast(ty, a) => self.cast(ty, a, e.at),
            ExprKind::Call { function, args } => self.call(function, args, e.at),
            ExprKind::Assign(..) | ExprKind::Step(..) => {
                let message = format!("`{}` assigns inside an expression", self.snippet(e.at));
                self.fail(codes::EXPRESSION, message, e.at, "write it as a statement of its own")
            }
            ExprKind::Comma(_) => {
                let message = format!("{COMMA} in a region");
                let help = "make each part before the last comma a statement of its own";
                self.fail_with(codes::EXPRESSION, message, (e.at, "not possible in a region"), help)
            }
            ExprKind::Unsupported(what) => {
                let (message, label) = (format!("{what} in a region"), (e.at, "not possible in a region"));
                match super::array::way_out(what) {
                    Some(help) => self.fail_with(codes::EXPRESSION, message, label, help),
                    None => self.fail(codes::EXPRESSION, message, label.0, label.1),
                }
            }
        }
    }

    fn integer(&mut self, value: u64, ty: IntType, at: At) -> Try<Typed> {
        match (ty, i32::try_from(value), i64::try_from(value)) {
            (IntType::Int, Ok(value), _) => Ok((Hub::I32(value), Type::Int(IntType::Int))),
            (IntType::Long | IntType::LongLong, _, Ok(value)) => {
                Ok((Hub::Int(value), Type::Int(IntType::Long)))
            }
            (ty, _, _) if ty.is_unsigned() => {
                let ty = Type::Int(ty);
                Ok((Hub::Cast(ty.scalar(), Box::new(Hub::Int(value as i64))), ty))
            }
            _ => self.fail(codes::TYPE, "an integer constant beyond 63 bits", at, "too large"),
        }
    }

    fn data_identifier(&mut self, name: &str, e: &Expr) -> Try<Typed> {
        let k = match self.meaning(e) {
            Meaning::Constant(Known { value, ty }) => {
                return Ok(match (i32::try_from(value), Type::Int(ty)) {
                    (Ok(value), ty @ Type::Int(IntType::Int)) => (Hub::I32(value), ty),
                    (_, ty) if ty.scalar() == Scalar::I64 => (Hub::Int(value), Type::Int(IntType::Long)),
                    (_, ty) => (Hub::Cast(ty.scalar(), Box::new(Hub::Int(value))), ty),
                });
            }
            Meaning::Unknown => return self.unknown_name(name, e.at),
            Meaning::Object(k) => k,
        };
        let (ty, value) = match self.class(k) {
            Class::Size(ty) => (ty, self.index(e)),
            Class::LoopVariable(ty) => (ty, self.index(e)),
            Class::Fixed(ty) if self.values.contains_key(&k) => (ty, self.index(e)),
            Class::Data if self.is_known(k) && self.own != Some(k) => match self.res.objects[k].ty.ty {
                CType::Int(ty) => (ty, self.index(e)),
                _ => return self.load(e),
            },
            Class::Fixed(_) | Class::Data => return self.load(e),
        };
        match value {
            Ok(index) if ty.is_unsigned() && ty.bits() >= 32 => {
                let ty = Type::Int(ty);
                Ok((Hub::Cast(ty.scalar(), Box::new(index.expr)), ty))
            }
            Ok(index) if ty.bits() >= 64 => Ok((index.expr, Type::Int(IntType::Long))),
            Ok(index) => {
                let value = match index.expr {
                    Hub::Int(value) if i32::try_from(value).is_ok() => Hub::I32(value as i32),
                    expr => Hub::Cast(Scalar::I32, Box::new(expr)),
                };
                Ok((value, Type::Int(IntType::Int)))
            }
            Err(why) => {
                if let Some(value) = self.product_as_data(e, ty) {
                    return Ok(value);
                }
                if self.blamed.insert(k) {
                    let code = codes::LOOP_VARIABLE;
                    return self.fail(code, why.reason, why.at, "not known here");
                }
                Err(super::Failed)
            }
        }
    }

    /// A variable that stands for a product of loop variables and sizes.
    fn product_as_data(&mut self, e: &Expr, ty: IntType) -> Option<Typed> {
        let product = self.product_named(e)?;
        if ty.is_unsigned() || product.gathered.most.is_some() {
            return None;
        }
        let value = self.polynomial_expr(&product.polynomial);
        match ty.bits() {
            32 => Some((Hub::Cast(Scalar::I32, Box::new(value)), Type::Int(IntType::Int))),
            64 => Some((value, Type::Int(IntType::Long))),
            _ => None,
        }
    }

    fn load(&mut self, e: &Expr) -> Try<Typed> {
        let (access, elem, k) = self.access(e)?;
        if let Some(array) = self.arrays.get_mut(&k) {
            array.read = true;
        }
        Ok((Hub::Load(access), Type::of(elem)))
    }

    fn data_unary(&mut self, op: Unary, a: &Expr, at: At) -> Try<Typed> {
        if op == Unary::Not {
            let truth = self.truth(a)?;
            return Ok((Hub::unary(UnaryOp::Not, truth), Type::Truth));
        }
        let (value, ty) = self.data(a)?;
        let promoted = ty.common(if ty.int().is_some() { Type::Int(IntType::Int) } else { ty });
        let value = self.convert(value, ty, promoted);
        match op {
            Unary::Plus => Ok((value, promoted)),
            Unary::Minus => {
                let value = match value {
                    Hub::F32(bits) => Hub::f32(-bits.value()),
                    Hub::F64(bits) => Hub::f64(-bits.value()),
                    Hub::I32(v) => Hub::I32(v.wrapping_neg()),
                    other => Hub::unary(UnaryOp::Neg, other),
                };
                Ok((value, promoted))
            }
            _ if promoted.int().is_none() => {
                self.fail(codes::TYPE, "`~` on floating point", at, "needs an integer")
            }
            _ => {
                let ones = Hub::constant(promoted.scalar(), -1);
                Ok((Hub::binary(BinaryOp::BitXor, value, ones), promoted))
            }
        }
    }

    /// A binary operation on two values, after the usual conversions.
    pub(super) fn arithmetic(&mut self, op: Binary, left: Typed, right: Typed, at: At) -> Try<Typed> {
        let ty = left.1.common(right.1);
        let hub = match op {
            Binary::Add => BinaryOp::Add,
            Binary::Sub => BinaryOp::Sub,
            Binary::Mul => BinaryOp::Mul,
            Binary::Div => BinaryOp::Div,
            Binary::Rem if ty.int().is_some() => BinaryOp::Rem,
            Binary::Rem => return self.fail(codes::TYPE, "`%` on floating point", at, "needs integers"),
            Binary::Bits(op) if ty.int().is_none() => {
                return self.fail(codes::TYPE, format!("`{op}` on floating point"), at, "needs integers");
            }
            Binary::Bits("&") => BinaryOp::BitAnd,
            Binary::Bits("|") => BinaryOp::BitOr,
            Binary::Bits("^") => BinaryOp::BitXor,
            Binary::Bits(op) => {
                // The type is that of the left side alone.
                let ty = left.1.common(Type::Int(IntType::Int));
                let count = self.convert(right.0, right.1, ty);
                let value = self.convert(left.0, left.1, ty);
                let hub = if op == "<<" { BinaryOp::Shl } else { BinaryOp::Shr };
                return Ok((Hub::binary(hub, value, count), ty));
            }
            _ => return self.fail(codes::EXPRESSION, "a comparison is assigned", at, "not possible here"),
        };
        let left = self.convert(left.0, left.1, ty);
        let right = self.convert(right.0, right.1, ty);
        Ok((Hub::binary(hub, left, right), ty))
    }

    fn compare(&mut self, op: Binary, a: &Expr, b: &Expr, e: &Expr) -> Try<Typed> {
        // On loop variables and sizes alone it is a condition of the index arithmetic.
        if let Ok(condition) = self.condition(e) {
            return Ok((condition.expr, Type::Truth));
        }
        let (left, right) = (self.data(a), self.data(b));
        let ((left, lt), (right, rt)) = (left?, right?);
        let ty = lt.matched(rt);
        let left = self.convert(left, lt, ty);
        let right = self.convert(right, rt, ty);
        let op = compare_op(op).unwrap_or(loops::CompareOp::Eq);
        Ok((Hub::compare(op, left, right), Type::Truth))
    }

    /// An expression as a truth value.
    pub(super) fn truth(&mut self, e: &Expr) -> Try<Hub> {
        if let Ok(condition) = self.condition(e) {
            return Ok(condition.expr);
        }
        match &e.kind {
            ExprKind::Binary(op @ (Binary::And | Binary::Or), a, b) => {
                let and = *op == Binary::And;
                // The right side is asked where the left one does not decide.
                let facts =
                    self.condition(a).map_or_else(|_| Vec::new(), |c| if and { c.holds } else { c.fails });
                let left = self.truth(a);
                let mark = self.known.len();
                self.known.extend(facts);
                self.branches += 1;
                let right = self.truth(b);
                self.branches -= 1;
                self.known.truncate(mark);
                let (a, b) = (left?, right?);
                // C evaluates the right side only if the left one does not decide; that matters
                // where it reads memory.
                if may_fault(&b) {
                    let (yes, no) = if and { (b, Hub::Bool(false)) } else { (Hub::Bool(true), b) };
                    return Ok(Hub::Select(Box::new(a), Box::new(yes), Box::new(no)));
                }
                Ok(Hub::binary(if and { BinaryOp::And } else { BinaryOp::Or }, a, b))
            }
            _ => {
                let (value, ty) = self.data(e)?;
                Ok(truth_of(value, ty))
            }
        }
    }

    /// A value that is computed where these forms are at least 0.
    fn where_known(&mut self, facts: Vec<Linear>, e: &Expr) -> Try<Typed> {
        let mark = self.known.len();
        self.known.extend(facts);
        let value = self.data(e);
        self.known.truncate(mark);
        value
    }

    fn cast(&mut self, ty: &QType, a: &Expr, at: At) -> Try<Typed> {
        if matches!(ty.ty, CType::Int(_)) {
            // A conversion of what is no data, where nothing has to be tested for it.
            let mark = self.assumed.len();
            if let CType::Int(int) = &ty.ty
                && int.is_unsigned()
                && int.bits() >= 32
                && let Ok(index) = self.index_cast(ty, a, at)
                && self.assumed.len() == mark
            {
                let ty = Type::Int(*int);
                return Ok((Hub::Cast(ty.scalar(), Box::new(index)), ty));
            }
            self.assumed.truncate(mark);
        }
        let (value, from) = self.data(a)?;
        let Some(scalar) = self.scalar(&ty.ty) else {
            let message = format!("a conversion to {}", super::array::described(&ty.ty));
            return self.fail(codes::TYPE, message, at, "not a type of data");
        };
        let to = Type::of(scalar);
        Ok((self.convert(value, from, to), to))
    }

    fn index_cast(&mut self, ty: &QType, a: &Expr, at: At) -> Result<Hub, super::index::NotIndex> {
        let cast = Expr { kind: ExprKind::Cast(ty.clone(), Box::new(a.clone())), at, height: a.height };
        self.index(&cast).map(|index| index.expr)
    }

    /// Converts a value as C does; constants are converted here.
    pub(super) fn convert(&self, value: Hub, from: Type, to: Type) -> Hub {
        let (have, want) = (from.scalar(), to.scalar());
        if have == want {
            return value;
        }
        if want == Scalar::Bool {
            return truth_of(value, from);
        }
        if let Hub::Cast(_, constant) = &value
            && let Some(known) = Value::of(constant)
        {
            return known.cast(have).cast(want).into();
        }
        match (value, want) {
            (Hub::I32(v), Scalar::F64) => Hub::f64(f64::from(v)),
            (Hub::I32(v), Scalar::F32) => Hub::f32(v as f32),
            (Hub::I32(v), Scalar::I64) => Hub::Int(i64::from(v)),
            (Hub::Int(v), Scalar::F64) => Hub::f64(v as f64),
            (Hub::Int(v), Scalar::F32) => Hub::f32(v as f32),
            (Hub::F32(v), Scalar::F64) => Hub::f64(f64::from(v.value())),
            (Hub::F64(v), Scalar::F32) => Hub::f32(v.value() as f32),
            // A loop variable of type `int` loses nothing on the way.
            (Hub::Cast(Scalar::I32, inner), Scalar::I64) if is_variable(&inner) => *inner,
            // Nor does one without a sign.
            (Hub::Cast(Scalar::U32 | Scalar::U64, inner), want) if self.counts(have, &inner) => match want {
                Scalar::I64 => *inner,
                want => Hub::Cast(want, inner),
            },
            (value, want) if have == Scalar::Bool && want != Scalar::I32 => {
                Hub::Cast(want, Box::new(Hub::Cast(Scalar::I32, Box::new(value))))
            }
            (value, want) => Hub::Cast(want, Box::new(value)),
        }
    }

    /// Whether an index is a number that both the unsigned type and 63 bits can hold: one of 32
    /// bits, or a loop variable.
    fn counts(&self, ty: Scalar, index: &Hub) -> bool {
        match index {
            Hub::Var(name) => ty == Scalar::U32 || self.loops.iter().any(|l| l.var == *name),
            _ => false,
        }
    }
}

/// Whether a value is not 0.
fn truth_of(value: Hub, ty: Type) -> Hub {
    match ty.scalar() {
        Scalar::Bool => value,
        scalar => Hub::compare(loops::CompareOp::Ne, value, Hub::constant(scalar, 0)),
    }
}

fn is_variable(e: &Hub) -> bool {
    matches!(e, Hub::Var(_))
}

/// Whether evaluating an expression can go wrong: it reads an array, divides integers or calls.
fn may_fault(e: &Hub) -> bool {
    match e {
        Hub::Load(access) => !access.indices.is_empty(),
        Hub::Call { .. } => true,
        Hub::Binary(BinaryOp::Div | BinaryOp::Rem, _, b) if !matches!(**b, Hub::F32(_) | Hub::F64(_)) => true,
        Hub::Unary(_, a) | Hub::Cast(_, a) => may_fault(a),
        Hub::Binary(_, a, b) | Hub::Compare(_, a, b) => may_fault(a) || may_fault(b),
        Hub::Select(a, b, c) => may_fault(a) || may_fault(b) || may_fault(c),
        _ => false,
    }
}
