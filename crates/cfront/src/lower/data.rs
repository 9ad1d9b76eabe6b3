//! Data expressions, with the conversions that C makes: literals have their types, operands are promoted and brought to a
//! common type, and what C does silently stands in the hub as a cast.

use loops::{BinaryOp, Expr as Hub, Name, Scalar, UnaryOp, Value};

use super::condition::{as_extremum, compare_op};
use super::{Class, Lowering, Try};
use crate::ast::{At, Binary, Expr, ExprKind, Unary};
use crate::codes;
use crate::ctype::{CType, IntType, Known, QType};
use crate::lower::resolve::Meaning;
use crate::scope::{Kept, Symbol};

/// The type of a data expression.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Type {
    /// A comparison: of type `int` in C, a truth value in the hub.
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
            Scalar::U16 => Type::Int(IntType::UnsignedShort),
            Scalar::U32 => Type::Int(IntType::Unsigned),
            Scalar::U64 => Type::Int(IntType::UnsignedLong),
        }
    }

    /// Whether it is an integer of 64 bits.
    pub fn is_long(self) -> bool {
        self.int().is_some_and(|int| int.bits() >= 64)
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

    /// What the hub holds for it.
    fn scalar(self) -> Scalar {
        match self {
            Type::Truth | Type::Int(IntType::Bool) => Scalar::Bool,
            Type::Int(int) => int.scalar().unwrap_or(Scalar::I64),
            Type::F32 => Scalar::F32,
            Type::F64 => Scalar::F64,
        }
    }

    /// The type in which two values are compared or chosen from: that of both, or the common one. Values of one narrow type compare as the promoted ones do.
    fn matched(self, other: Type) -> Type {
        match self {
            Type::Int(_) if self == other && self.scalar().is_narrow() => self,
            _ => self.common(other),
        }
    }
}

type Typed = (Hub, Type);

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
                let (then, otherwise) = (self.data(a), self.data(b));
                let (cond, then, otherwise) = (cond?, then?, otherwise?);
                let ty = if then.1 == otherwise.1 { then.1 } else { then.1.common(otherwise.1) };
                let then = self.convert(then.0, then.1, ty);
                let otherwise = self.convert(otherwise.0, otherwise.1, ty);
                // For integers the choice of the larger is the maximum; for floating point it differs on NaN and -0.
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
            ExprKind::Unsupported(what) => {
                let (message, label) = (format!("{what} in a region"), (e.at, "not possible in a region"));
                match *what == crate::ast::MEMBER {
                    true => self.fail_with(codes::EXPRESSION, message, label, super::array::MEMBERS),
                    false => self.fail(codes::EXPRESSION, message, label.0, label.1),
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
                if self.blamed.insert(k) {
                    let code = codes::LOOP_VARIABLE;
                    return self.fail(code, why.reason, why.at, "not known here");
                }
                Err(super::Failed)
            }
        }
    }

    fn load(&mut self, e: &Expr) -> Try<Typed> {
        let (access, elem, k) = self.access(e, true)?;
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
                let (a, b) = (self.truth(a), self.truth(b));
                let (a, b) = (a?, b?);
                let and = *op == Binary::And;
                // C evaluates the right side only if the left one does not decide; that matters where it reads memory.
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

    fn cast(&mut self, ty: &QType, a: &Expr, at: At) -> Try<Typed> {
        if matches!(ty.ty, CType::Int(_)) {
            // `(int)(i / 2)` on loop variables keeps its value.
            if let (Ok(_), CType::Int(int)) = (self.index(a), &ty.ty)
                && int.is_unsigned()
                && int.bits() >= 32
                && let Ok(index) = self.index_cast(ty, a, at)
            {
                let ty = Type::Int(*int);
                return Ok((Hub::Cast(ty.scalar(), Box::new(index)), ty));
            }
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
            (Hub::Cast(Scalar::I32, inner), Scalar::F64) if is_variable(&inner) => {
                Hub::Cast(Scalar::F64, inner)
            }
            (Hub::Cast(Scalar::I32, inner), Scalar::F32) if is_variable(&inner) => {
                Hub::Cast(Scalar::F32, inner)
            }
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

    /// Whether an index is a number that both the unsigned type and 63 bits hold: one of 32 bits, or a loop variable.
    fn counts(&self, ty: Scalar, index: &Hub) -> bool {
        match index {
            Hub::Var(name) => ty == Scalar::U32 || self.loops.iter().any(|l| l.var == *name),
            _ => false,
        }
    }

    fn call(&mut self, function: &str, args: &[Expr], at: At) -> Try<Typed> {
        let plain = function.strip_prefix("__builtin_").unwrap_or(function);
        let declared = self.cx.scopes.lookup(function);
        if let Some(Symbol::Object(_)) = declared {
            let message = format!("a call through the pointer `{function}` in a region");
            return self.fail(codes::CALL, message, at, "what it does is not known");
        }
        // What the file defines is not the function of that name in `math.h`.
        if self.cx.defined.contains(plain) {
            if math_function(plain).is_none() {
                return self.call_declared(function, args, at);
            }
            // Behind the front end the name alone says which function it is.
            let message = format!("a call of `{plain}`, which is this file's own and has a name of `math.h`");
            let help = "give it another name, or define it as `inline` with a body of expressions";
            return self.fail_with(codes::CALL, message, (at, "not the function of the C library"), help);
        }
        match (plain, args) {
            // What `INFINITY`, `HUGE_VAL`, `isnan` and `isfinite` of `math.h` stand for.
            ("inf" | "huge_val", []) if plain != function => return Ok((Hub::f64(f64::INFINITY), Type::F64)),
            ("inff" | "huge_valf", []) if plain != function => {
                return Ok((Hub::f32(f32::INFINITY), Type::F32));
            }
            // `NAN`, of which the string says the bits beyond the usual ones.
            ("nan" | "nanf", [arg]) if self.cx.source.token_text(arg.at.first as usize) == "\"\"" => {
                return Ok(match plain {
                    "nan" => (Hub::f64(f64::NAN), Type::F64),
                    _ => (Hub::f32(f32::NAN), Type::F32),
                });
            }
            // With the sign of the infinity, as in the C libraries.
            ("isinf" | "isinf_sign", [arg]) => {
                let (value, ty) = self.data(arg)?;
                let infinity = |sign: f32| match ty {
                    Type::F32 => Hub::f32(sign * f32::INFINITY),
                    _ => Hub::f64(f64::from(sign) * f64::INFINITY),
                };
                if !ty.is_float() {
                    return Ok((Hub::I32(0), Type::Int(IntType::Int)));
                }
                let mut test = Hub::I32(0);
                for sign in [-1, 1] {
                    let is = Hub::compare(loops::CompareOp::Eq, value.clone(), infinity(sign as f32));
                    test = Hub::Select(Box::new(is), Box::new(Hub::I32(sign)), Box::new(test));
                }
                return Ok((test, Type::Int(IntType::Int)));
            }
            ("isnan" | "isfinite", [arg]) => {
                let (value, ty) = self.data(arg)?;
                let test = match ty {
                    Type::F64 | Type::F32 if plain == "isnan" => {
                        Hub::compare(loops::CompareOp::Ne, value.clone(), value)
                    }
                    Type::F64 | Type::F32 => {
                        let limit =
                            if ty == Type::F64 { Hub::f64(f64::INFINITY) } else { Hub::f32(f32::INFINITY) };
                        Hub::compare(loops::CompareOp::Lt, Hub::unary(UnaryOp::Abs, value), limit)
                    }
                    _ => Hub::Bool(plain == "isfinite"),
                };
                return Ok((test, Type::Truth));
            }
            _ => {}
        }
        if let Some((ty, math)) = math_function(plain) {
            if math.arity() != args.len() {
                let message = format!("`{function}` takes {} arguments, not {}", math.arity(), args.len());
                return self.fail(codes::CALL, message, at, "this call");
            }
            let mut values = Vec::new();
            for arg in args {
                let (value, from) = self.data(arg)?;
                values.push(self.convert(value, from, ty));
            }
            return Ok((math.build(plain, ty, values), ty));
        }
        self.call_declared(function, args, at)
    }

    /// A call of a function that is known by its declaration.
    fn call_declared(&mut self, function: &str, args: &[Expr], at: At) -> Try<Typed> {
        let pure = self.cx.pure_functions.iter().any(|f| f == function);
        let Some(Symbol::Function(declared)) = self.cx.scopes.lookup(function) else {
            let message = format!("a call of `{function}`, which is not declared");
            return self.fail(codes::CALL, message, at, "what it does is not known");
        };
        if !(declared.pure || pure) {
            if declared.inline.is_some()
                && let Some(arg) = args.iter().find(|arg| crate::parser::acts(arg))
            {
                let message = format!(
                    "the argument `{}` of `{function}` does more than have a value",
                    self.snippet(arg.at)
                );
                let help = "make it a statement of its own, before or after the call";
                let at = (arg.at, "so the call cannot be put in the place of an expression");
                return self.fail_with(codes::EXPRESSION, message, at, help);
            }
            let message = format!("a call of `{function}`, which is not known to be pure");
            let (label, help) = match &declared.kept {
                Some(Kept::Reads(name)) => (
                    format!("it uses `{name}`, a variable of the file"),
                    format!(
                        "hand `{name}` to it as an argument, or, where nothing changes that while the region runs, say that it is pure with `--pure {function}`"
                    ),
                ),
                kept => (
                    match kept {
                        Some(Kept::Itself) => {
                            "it calls itself, so no expression can take the place of the call"
                        }
                        Some(Kept::Loop) => "it has a loop, so no expression can take the place of the call",
                        _ => "what it does is not known",
                    }
                    .to_string(),
                    format!(
                        "declare it with `__attribute__((const))`, say that it is pure with `--pure {function}`, or define it as `inline` with a body of expressions"
                    ),
                ),
            };
            return self.fail_with(codes::CALL, message, (at, &label), &help);
        }
        let (result, params) = (declared.result.clone(), declared.params.clone());
        if params.len() != args.len() {
            let message =
                format!("`{function}` is declared with {} parameters, not {}", params.len(), args.len());
            return self.fail(codes::CALL, message, at, "this call");
        }
        let mut values = Vec::new();
        for (arg, param) in args.iter().zip(&params) {
            let Some(scalar) = self.scalar(&param.ty) else {
                let message = format!("`{function}` takes {}", super::index::an(param.ty.c_name()));
                return self.fail(codes::CALL, message, arg.at, "only numbers can be passed in a region");
            };
            let (value, from) = self.data(arg)?;
            values.push(self.convert(value, from, Type::of(scalar)));
        }
        let Some(scalar) = self.scalar(&result.ty) else {
            let message = format!("`{function}` returns {}", super::index::an(result.ty.c_name()));
            return self.fail(codes::CALL, message, at, "not a type of data");
        };
        Ok((Hub::Call { function: Name::new(function), ty: scalar, args: values }, Type::of(scalar)))
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

/// A function of the C library that is pure.
enum Math {
    Unary(UnaryOp),
    Binary(BinaryOp),
    Call(usize),
}

impl Math {
    fn arity(&self) -> usize {
        match self {
            Math::Unary(_) => 1,
            Math::Binary(_) => 2,
            Math::Call(arity) => *arity,
        }
    }

    fn build(self, function: &str, ty: Type, args: Vec<Hub>) -> Hub {
        let mut args = args;
        match (self, args.len()) {
            (Math::Unary(op), 1) => Hub::unary(op, args.remove(0)),
            (Math::Binary(op), 2) => {
                let right = args.remove(1);
                Hub::binary(op, args.remove(0), right)
            }
            _ => Hub::Call { function: Name::new(function), ty: ty.scalar(), args },
        }
    }
}

/// The functions of `math.h` (and `abs`, `labs`) that neither set anything nor depend on anything but their arguments;
/// `errno` and the floating-point environment are not looked at in a region.
fn math_function(name: &str) -> Option<(Type, Math)> {
    match name {
        "abs" => return Some((Type::Int(IntType::Int), Math::Unary(UnaryOp::Abs))),
        "labs" | "llabs" => return Some((Type::Int(IntType::Long), Math::Unary(UnaryOp::Abs))),
        _ => {}
    }
    let lookup = |base: &str| {
        Some(match base {
            "sqrt" => Math::Unary(UnaryOp::Sqrt),
            "exp" => Math::Unary(UnaryOp::Exp),
            "log" => Math::Unary(UnaryOp::Log),
            "tanh" => Math::Unary(UnaryOp::Tanh),
            "sin" => Math::Unary(UnaryOp::Sin),
            "cos" => Math::Unary(UnaryOp::Cos),
            "floor" => Math::Unary(UnaryOp::Floor),
            "ceil" => Math::Unary(UnaryOp::Ceil),
            "fabs" => Math::Unary(UnaryOp::Abs),
            "pow" => Math::Binary(BinaryOp::Pow),
            "fmin" => Math::Binary(BinaryOp::Min),
            "fmax" => Math::Binary(BinaryOp::Max),
            "tan" | "asin" | "acos" | "atan" | "sinh" | "cosh" | "asinh" | "acosh" | "atanh" | "exp2"
            | "expm1" | "log2" | "log10" | "log1p" | "cbrt" | "trunc" | "round" | "rint" | "nearbyint"
            | "erf" | "erfc" | "tgamma" => Math::Call(1),
            "atan2" | "hypot" | "fmod" | "remainder" | "copysign" | "fdim" | "nextafter" => Math::Call(2),
            "fma" => Math::Call(3),
            _ => return None,
        })
    };
    if let Some(math) = lookup(name) {
        return Some((Type::F64, math));
    }
    lookup(name.strip_suffix('f')?).map(|math| (Type::F32, math))
}
