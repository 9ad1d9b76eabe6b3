//! Calls in data expressions: functions of `math.h`, and functions that are known by their
//! declaration. A function that the file defines is never taken for one of the C library.

use loops::{BinaryOp, Expr as Hub, Name, UnaryOp};

use super::data::{Type, Typed};
use super::{Lowering, Try};
use crate::ast::{At, Expr};
use crate::codes;
use crate::ctype::{CType, IntType};
use crate::parser::of_standard;
use crate::scope::{Kept, Symbol};

/// The way out where a function takes arrays: no word of the user says what it does with them.
pub(super) const WITH_ARRAYS: &str = "a function of this file takes the place of its call if it computes one value by expressions, or has one `return`, at its end, and a statement assigns what is computed with its value (`s += f(A, i);`) or an `if` asks for it; else write out what it does as loops, or end the region before the call and begin another one after it";

impl Lowering<'_> {
    /// A call in a data expression.
    pub(super) fn call(&mut self, function: &str, args: &[Expr], at: At) -> Try<Typed> {
        let plain = function.strip_prefix("__builtin_").unwrap_or(function);
        let declared = self.cx.scopes.lookup(function);
        if let Some(Symbol::Hidden(why)) = declared.filter(|_| of_standard(function).is_none()) {
            let message = format!("a call of `{function}`, which is {}", why.what());
            return self.fail_with(codes::CALL, message, (at, "its effects are not known"), why.help());
        }
        let (plain, standard) = match of_standard(plain) {
            Some(name) => (name, true),
            None => (plain, false),
        };
        if self.cx.source.is_cpp() && !self.cx.scopes.only_in_file(function) {
            return self.call_declared(function, args, at);
        }
        if let Some(Symbol::Object(_)) = declared {
            let message = format!("a call through the pointer `{function}` in a region");
            return self.fail(codes::CALL, message, at, "its effects are not known");
        }
        // What the file defines is not the function of that name in `math.h`.
        if self.cx.defined.contains(plain) && !function.starts_with("std::") {
            if math_function(plain).is_none() {
                return self.call_declared(function, args, at);
            }
            // Behind the front end the name alone says which function it is.
            let message =
                format!("a call of `{plain}`: the file defines its own function with this name of `math.h`");
            let help = "give it another name, or define it in this file with a body of expressions";
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
            ("isinf" | "isinf_sign", [arg]) if !standard => {
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
        // On the bits of a number; its type decides the name.
        if let (Some(long), [value]) = (on_bits(function), args) {
            let (value, from) = self.data(value)?;
            let (of, signed) = match long {
                true => (IntType::UnsignedLong, Type::Int(IntType::Long)),
                false => (IntType::Unsigned, Type::Int(IntType::Int)),
            };
            let value = self.convert(value, from, Type::Int(of));
            let args = vec![self.convert(value, Type::Int(of), signed)];
            let bits = Hub::Call { function: Name::new(function), ty: signed.scalar(), args };
            let int = Type::Int(IntType::Int);
            return Ok((self.convert(bits, signed, int), int));
        }
        // Rounded to a whole number, and that as an integer.
        if let (false, Some(round), [value]) = (standard, to_integer(plain), args) {
            let ty = if plain.ends_with('f') { Type::F32 } else { Type::F64 };
            let (value, from) = self.data(value)?;
            let function = if ty == Type::F32 { format!("{round}f") } else { round.to_owned() };
            let args = vec![self.convert(value, from, ty)];
            let whole = Hub::Call { function: Name::new(function), ty: ty.scalar(), args };
            let long = Type::Int(IntType::Long);
            return Ok((self.convert(whole, ty, long), long));
        }
        // A number times a power of two: the power is an integer.
        if let (false, "ldexp" | "scalbn" | "ldexpf" | "scalbnf", [value, power]) = (standard, plain, args) {
            let ty = if plain.ends_with('f') { Type::F32 } else { Type::F64 };
            let (value, from) = self.data(value)?;
            let (power, of) = self.data(power)?;
            let args = vec![self.convert(value, from, ty), self.convert(power, of, Type::Int(IntType::Int))];
            return Ok((Hub::Call { function: Name::new(plain), ty: ty.scalar(), args }, ty));
        }
        if let Some((ty, math)) = math_function(plain) {
            if math.arity() != args.len() {
                let message = format!("`{function}` takes {} arguments, not {}", math.arity(), args.len());
                return self.fail(codes::CALL, message, at, "this call");
            }
            let values = args.iter().map(|arg| self.data(arg)).collect::<Try<Vec<Typed>>>()?;
            let (plain, ty) = match standard {
                true => overload(plain, ty, &values),
                false => (plain.to_owned(), ty),
            };
            let values = values.into_iter().map(|(value, from)| self.convert(value, from, ty)).collect();
            return Ok((math.build(&plain, ty, values), ty));
        }
        self.call_declared(function, args, at)
    }

    /// A call of a function that is known by its declaration.
    fn call_declared(&mut self, function: &str, args: &[Expr], at: At) -> Try<Typed> {
        let pure = self.cx.pure_functions.iter().any(|f| f == function);
        let Some(Symbol::Function(declared)) = self.cx.scopes.lookup(function) else {
            let message = format!("a call of `{function}`, which is not declared");
            return self.fail(codes::CALL, message, at, "its effects are not known");
        };
        if function.contains("::") && (declared.pure || pure) {
            let message = format!("a call of `{function}`, whose name has a namespace in it");
            let help = "declare it with a `using` before the region, and call it by its own name";
            return self.fail_with(codes::CALL, message, (at, "not possible in a region"), help);
        }
        if !(declared.pure || pure) {
            if declared.inline.is_some()
                && let Some(arg) = args.iter().find(|arg| crate::parser::acts(arg))
            {
                let message =
                    format!("the argument `{}` of `{function}` has a side effect", self.snippet(arg.at));
                let help = "make it a statement of its own, before or after the call";
                let at = (arg.at, "so the body of the function cannot replace the call");
                return self.fail_with(codes::EXPRESSION, message, at, help);
            }
            let message = format!("a call of `{function}`, which is not known to be pure");
            if declared.params.iter().any(|param| matches!(param.ty, CType::Pointer { .. })) {
                let at = (at, "it takes an array, and which elements it accesses is not known");
                return self.fail_with(codes::CALL, message, at, WITH_ARRAYS);
            }
            let (label, help) = match &declared.kept {
                Some(Kept::Reads(name)) => (
                    format!("it uses `{name}`, a global variable"),
                    format!(
                        "pass `{name}` as an argument; or give `--pure {function}`, if nothing changes it while the region runs"
                    ),
                ),
                kept => (
                    match kept {
                        Some(Kept::Itself) => "it calls itself, so its body cannot replace the call",
                        Some(Kept::Loop) => {
                            "it has a loop, so its body replaces only calls that a statement assigns, and no condition decides about"
                        }
                        _ => "its effects are not known",
                    }
                    .to_string(),
                    format!(
                        "declare it with `__attribute__((const))`, give `--pure {function}` if it is pure, or define it in this file with a body of expressions"
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
                let at = (arg.at, "only numbers can be passed in a region");
                return match param.ty {
                    CType::Pointer { .. } => self.fail_with(codes::CALL, message, at, WITH_ARRAYS),
                    _ => self.fail(codes::CALL, message, at.0, at.1),
                };
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

/// The function of this name that C++ chooses for its arguments, and their type: of `float` if all
/// of them are, else of `double`; absolute values of the type of the argument.
fn overload(name: &str, ty: Type, values: &[Typed]) -> (String, Type) {
    let single = values.iter().all(|(_, ty)| *ty == Type::F32);
    let floats = values.iter().any(|(_, ty)| ty.is_float());
    let long = values.iter().any(|(_, ty)| matches!(ty, Type::Int(int) if int.bits() == 64));
    match (name, ty) {
        ("abs" | "labs" | "llabs", _) if !floats && long => (name.to_owned(), Type::Int(IntType::Long)),
        ("abs", _) if floats => ("fabs".to_owned(), if single { Type::F32 } else { Type::F64 }),
        (_, Type::F64) if single => (format!("{name}f"), Type::F32),
        _ => (name.to_owned(), ty),
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

/// Whether a function on the bits of a number that gcc and clang have is one of 64 bits; none if it
/// is no such function.
fn on_bits(function: &str) -> Option<bool> {
    let name = function.strip_prefix("__builtin_")?;
    let (name, long) = match name.trim_end_matches('l') {
        short if name.len() > short.len() => (short, true),
        name => (name, false),
    };
    matches!(name, "popcount" | "parity" | "ctz" | "clz" | "ffs").then_some(long)
}

/// The function that rounds as one with an integer result does.
fn to_integer(name: &str) -> Option<&'static str> {
    match name.strip_suffix('f').unwrap_or(name) {
        "lround" | "llround" => Some("round"),
        "lrint" | "llrint" => Some("rint"),
        _ => None,
    }
}

/// Whether a name is that of a function of `math.h` that regions know.
pub(crate) fn is_math(name: &str) -> bool {
    math_function(name).is_some() || to_integer(name).is_some()
}

/// The functions of `math.h` (and `abs`, `labs`) that set nothing and depend only on their
/// arguments. `errno` and the floating-point environment do not count in a region.
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
