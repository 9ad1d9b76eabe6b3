//! The state of a translation, and scalar expressions.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use loops::{
    Access, ArrayDecl, BinaryOp, Code, CompareOp, Diagnostic, Elem, Expr, Name, Scalar, UnaryOp, Value,
};

use crate::c::CExpr;
use crate::math;
use crate::openmp::helpers::Helper;
use crate::openmp::index_arithmetic;
use crate::openmp::names::Names;
use crate::openmp::ranges::Ranges;
use crate::openmp::scope::{Array, Binding, Scope};
use crate::openmp::types::{Structs, at_path, elem_type, member, scalar_type};
use crate::openmp::usage::Usage;
use crate::openmp::vectors::Vectors;
use crate::openmp::{Options, Style};

/// What a function's translation carries along.
pub struct Lower<'a> {
    /// The caller's choices.
    pub options: &'a Options,
    /// Hub names in scope.
    pub scope: Scope,
    /// C names in scope.
    pub names: Names,
    /// What is known of index values.
    pub ranges: Ranges,
    /// How each local array is used.
    pub usage: Usage,
    /// Arrays with a subscript that a loop counts which is not unrolled.
    pub counted: BTreeSet<Name>,
    /// Helpers in use.
    pub helpers: BTreeSet<Helper>,
    /// Structs in use.
    pub structs: Structs,
    /// Heap arrays that were allocated before the place of their declaration. Keyed by the
    /// declaration's address, since two declarations may be equal as values; the program is
    /// borrowed for the whole translation, so addresses stay.
    pub claimed: HashMap<*const ArrayDecl, Array>,
    /// The C type of loop variables.
    pub index_type: String,
    /// Whether the code goes into C that is there already: its types and arithmetic, no functions
    /// or headers of our own.
    pub native: bool,
    /// Whether the 32-bit integers wrap around, as the hub's do (C's own do not).
    pub wrapping: bool,
    /// Sizes in C that are an `int` where the program has 64 bits.
    pub ints: BTreeSet<String>,
    /// Parallel regions around the current statement.
    pub regions: usize,
    /// Arrays of a region whose names in C are those of pointers.
    pub pointers: BTreeMap<Name, String>,
    /// For each parallel loop of a region, the condition under which it has enough work and the
    /// variables in that; none if it is not known.
    pub amounts: Vec<Option<(String, BTreeSet<Name>)>>,
    /// Whether the current statement is in a vector loop.
    pub in_simd: bool,
    /// The loop around the current statement, if it is written as vectors.
    pub in_vectors: Option<Vectors>,
    /// Types of vectors in use: the type of the numbers and how many of them.
    pub vector_types: BTreeMap<(&'static str, i64), String>,
    /// The variable that tells of a failed allocation.
    pub status: String,
    /// Bytes of arrays on the stack so far.
    pub stack_bytes: usize,
}

impl Lower<'_> {
    /// Whether the paper's form is wanted.
    pub fn paper(&self) -> bool {
        self.options.style == Style::Paper
    }

    /// The C type of a scalar.
    pub(crate) fn scalar_type(&self, scalar: Scalar) -> &'static str {
        match scalar {
            Scalar::I32 if self.native || self.paper() => "int",
            Scalar::I64 if self.native => "long",
            Scalar::Bool if self.native => {
                if self.options.cpp {
                    "bool"
                } else {
                    "_Bool"
                }
            }
            Scalar::I8 if self.native => "signed char",
            Scalar::U8 if self.native => "unsigned char",
            Scalar::I16 if self.native => "short",
            Scalar::U16 | Scalar::F16 if self.native => "unsigned short",
            Scalar::U32 if self.native => "unsigned int",
            Scalar::U64 if self.native => "unsigned long",
            _ => scalar_type(scalar),
        }
    }

    /// The C type of an element.
    pub(crate) fn elem_type(&self, elem: &Elem) -> String {
        match elem {
            Elem::Scalar(scalar) => self.scalar_type(*scalar).to_owned(),
            Elem::Pair(..) => elem_type(elem),
        }
    }

    /// The array or scalar variable of a name.
    pub fn array(&self, name: &Name) -> Result<&Array, Diagnostic> {
        match self.scope.get(name) {
            Some(Binding::Array(array)) => Ok(array),
            Some(Binding::Index(_)) => Err(invalid(format!("`{name}` is an index, not an array"))),
            None => Err(invalid(format!("`{name}` is not declared here"))),
        }
    }

    /// An access and the type of what it denotes.
    pub fn access(&mut self, access: &Access) -> Result<(CExpr, Elem), Diagnostic> {
        let indices = access.indices.iter().map(|i| self.place(i)).collect::<Result<Vec<_>, Diagnostic>>()?;
        let array = self.array(&access.array)?;
        if indices.len() != array.dims.len() {
            return Err(invalid(format!(
                "`{}` has {} dimensions and {} subscripts",
                access.array,
                array.dims.len(),
                indices.len()
            )));
        }
        let elem = at_path(&array.elem, &access.path)
            .ok_or_else(|| invalid(format!("`{}` has no such component", access.array)))?;
        let mut value = self.vector_at(access, array.element(indices));
        for component in &access.path {
            value = CExpr::Member(Box::new(value), member(*component).to_owned());
        }
        Ok((value, elem))
    }

    /// A part of an assumption: nothing of it is known yet where it is tested.
    pub fn assumed(&mut self, e: &Expr) -> Result<CExpr, Diagnostic> {
        let ranges = std::mem::take(&mut self.ranges);
        let result = self.index(e);
        self.ranges = ranges;
        result
    }

    /// A subscript or a bound. In C that is there already, one that is a smaller integer of the
    /// data is converted by its use.
    pub fn place(&mut self, e: &Expr) -> Result<CExpr, Diagnostic> {
        if let (true, Expr::Cast(Scalar::I64, small)) = (self.native, e)
            && let (value, Scalar::I32) = self.expr(small)?
        {
            return Ok(value);
        }
        self.index(e)
    }

    /// An expression of type `i64` in C.
    pub fn index(&mut self, e: &Expr) -> Result<CExpr, Diagnostic> {
        Ok(self.expr(e)?.0)
    }

    /// An expression in C, and its type.
    pub fn expr(&mut self, e: &Expr) -> Result<(CExpr, Scalar), Diagnostic> {
        Ok(match e {
            Expr::Int(value) => (CExpr::int(*value), Scalar::I64),
            Expr::I32(i32::MIN) if self.native => {
                (CExpr::binary("-", CExpr::int(-i64::from(i32::MAX)), CExpr::int(1)), Scalar::I32)
            }
            Expr::I32(i32::MIN) => (CExpr::literal("INT32_MIN"), Scalar::I32),
            Expr::I32(value) => (CExpr::int(i64::from(*value)), Scalar::I32),
            Expr::F32(bits) if bits.value().is_nan() && bits.value().to_bits() << 1 != 0x7fc0_0000 << 1 => {
                let bits = CExpr::int(i64::from(bits.value().to_bits() as i32));
                (self.helper(Helper::BitsOfI32, "lozenge_bits_i32", vec![bits]), Scalar::F32)
            }
            Expr::F64(bits)
                if bits.value().is_nan() && bits.value().to_bits() << 1 != 0x7ff8_0000_0000_0000 << 1 =>
            {
                let bits = CExpr::int(bits.value().to_bits() as i64);
                (self.helper(Helper::BitsOfI64, "lozenge_bits_i64", vec![bits]), Scalar::F64)
            }
            Expr::F32(bits) => {
                let value = bits.value();
                (self.float(f64::from(value), &format!("{:?}", value.abs()), "f"), Scalar::F32)
            }
            Expr::F64(bits) => {
                let value = bits.value();
                (self.float(value, &format!("{:?}", value.abs()), ""), Scalar::F64)
            }
            Expr::Bool(value) if self.native => (CExpr::int(i64::from(*value)), Scalar::Bool),
            Expr::Bool(value) => {
                self.helpers.insert(Helper::Bool);
                (CExpr::literal(if *value { "true" } else { "false" }), Scalar::Bool)
            }
            Expr::Var(name) => match self.scope.get(name) {
                Some(Binding::Index(e)) => (e.clone(), Scalar::I64),
                Some(Binding::Array(_)) => {
                    return Err(invalid(format!("`{name}` is an array, not an index")));
                }
                None => return Err(invalid(format!("`{name}` is not declared here"))),
            },
            Expr::Load(access) => {
                let (value, elem) = self.access(access)?;
                match elem {
                    Elem::Scalar(scalar) => (value, scalar),
                    Elem::Pair(..) => {
                        return Err(invalid(format!(
                            "`{}` is a pair where a scalar is expected",
                            access.array
                        )));
                    }
                }
            }
            Expr::Unary(op, operand) => {
                let (value, ty) = self.expr(operand)?;
                let wraps = self.wraps(ty, e);
                let value = if *op == UnaryOp::Neg { self.widened_alone(value, ty) } else { value };
                (self.unary(*op, value, ty, wraps), loops::typing::unary(*op, ty).unwrap_or(ty))
            }
            Expr::Binary(op, left, right) => {
                let ((a, ty), (b, _)) = (self.expr(left)?, self.expr(right)?);
                // The paper divides places by sizes as they stand: where one is 0, there is no
                // place.
                let least = i64::from(!self.paper());
                let natural = ty == Scalar::I64
                    && op.divides()
                    && self.ranges.of(left).low.is_some_and(|v| v >= 0)
                    && self.ranges.of(right).low.is_some_and(|v| v >= least);
                let wraps = self.wraps(ty, e);
                // A branch between comparisons of floating-point numbers is none of vectors, nor is
                // one around a load.
                if matches!(op, BinaryOp::And | BinaryOp::Or)
                    && self.native
                    && (reads_element(right) || self.compares_floats(left)? && self.compares_floats(right)?)
                {
                    let symbol = if *op == BinaryOp::And { "&" } else { "|" };
                    return Ok((CExpr::binary(symbol, a, b), ty));
                }
                let (a, b) = self.widened(*op, a, b, ty);
                (self.binary(*op, a, b, ty, Kind { natural, wraps }), ty)
            }
            Expr::Compare(op, left, right) => {
                // A remainder is zero whichever way it is rounded.
                let truncated = match (op, &**left, &**right) {
                    (CompareOp::Eq | CompareOp::Ne, Expr::Binary(BinaryOp::Mod, a, n), Expr::Int(0))
                        if matches!(**n, Expr::Int(n) if n > 0) && self.native =>
                    {
                        Some(Expr::Binary(BinaryOp::Rem, a.clone(), n.clone()))
                    }
                    _ => None,
                };
                let left = truncated.as_ref().unwrap_or(left);
                let (a, ty) = match self.remainder_of_int(left)? {
                    Some(remainder) => (remainder, Scalar::I64),
                    None => self.expr(left)?,
                };
                let (b, _) = self.expr(right)?;
                if a == b && !ty.is_float() {
                    // compilers warn of a comparison of a value with itself
                    let holds = matches!(op, CompareOp::Eq | CompareOp::Le | CompareOp::Ge);
                    return Ok((CExpr::int(i64::from(holds)), Scalar::Bool));
                }
                (CExpr::binary(op.symbol(), a, b), Scalar::Bool)
            }
            Expr::Select(cond, then, otherwise) => {
                let (cond, _) = self.expr(cond)?;
                let ((then, ty), (otherwise, _)) = (self.expr(then)?, self.expr(otherwise)?);
                if matches!(ty, Scalar::F32 | Scalar::F64) {
                    self.helpers.insert(Helper::Choices);
                }
                (CExpr::Ternary(Box::new(cond), Box::new(then), Box::new(otherwise)), ty)
            }
            Expr::Cast(to, operand) => {
                if let Some(value) = self.constant(*to, operand) {
                    return Ok((value, *to));
                }
                let (value, from) = self.expr(operand)?;
                if *to == Scalar::I32 && matches!(&value, CExpr::Name(name) if self.ints.contains(name)) {
                    return Ok((value, *to));
                }
                (self.cast(*to, from, value, bounded(operand, *to)), *to)
            }
            Expr::Call { function, ty, .. } if e.is_one_thread() => {
                (self.helper(Helper::OneThread, function.as_str(), Vec::new()), *ty)
            }
            Expr::Call { function, ty, args } => {
                let integer = matches!(function.as_str(), "abs" | "labs" | "llabs");
                self.helpers.insert(if integer { Helper::Stdlib } else { Helper::Math });
                let args =
                    args.iter().map(|a| Ok(self.expr(a)?.0)).collect::<Result<Vec<_>, Diagnostic>>()?;
                (CExpr::call(function.as_str(), args), *ty)
            }
        })
    }

    /// Whether an operation wraps around: that of data does, sums of sizes and loop variables have
    /// room.
    fn wraps(&self, ty: Scalar, operation: &Expr) -> bool {
        self.wrapping && (ty == Scalar::I32 || (ty == Scalar::I64 && operation.is_data()))
    }

    /// An operation on one value.
    pub fn unary(&mut self, op: UnaryOp, value: CExpr, ty: Scalar, wraps: bool) -> CExpr {
        match op {
            UnaryOp::Neg if ty.is_narrow() => {
                CExpr::Cast(self.scalar_type(ty).to_owned(), Box::new(CExpr::unary("-", value)))
            }
            UnaryOp::Neg if wraps && ty == Scalar::I32 => {
                self.helper(Helper::Neg32, "lozenge_neg_i32", vec![value])
            }
            UnaryOp::Neg if wraps => self.helper(Helper::Neg64, "lozenge_neg", vec![value]),
            UnaryOp::Neg => CExpr::unary("-", value),
            UnaryOp::Not => CExpr::unary("!", value),
            // A branch is mispredicted where data has both signs.
            UnaryOp::Abs if self.native && ty == Scalar::I32 => CExpr::call("__builtin_abs", vec![value]),
            UnaryOp::Abs if self.native && ty == Scalar::I64 => CExpr::call("__builtin_labs", vec![value]),
            UnaryOp::Abs if ty.is_unsigned() => value,
            UnaryOp::Abs if ty.is_int() && (self.native || ty.is_narrow()) => {
                let negative = CExpr::binary("<", value.clone(), CExpr::int(0));
                let negated = CExpr::unary("-", value.clone());
                let choice = CExpr::Ternary(Box::new(negative), Box::new(negated), Box::new(value));
                match self.native {
                    true => choice,
                    false => CExpr::Cast(self.scalar_type(ty).to_owned(), Box::new(choice)),
                }
            }
            UnaryOp::Abs if ty == Scalar::I32 => self.helper(Helper::Abs32, "lozenge_abs_i32", vec![value]),
            UnaryOp::Abs if ty == Scalar::I64 => self.helper(Helper::Abs64, "lozenge_abs", vec![value]),
            UnaryOp::Bits => {
                let (helper, name) = match ty {
                    Scalar::F32 => (Helper::BitsOfF32, "lozenge_bits_f32"),
                    Scalar::F64 => (Helper::BitsOfF64, "lozenge_bits_f64"),
                    Scalar::I64 => (Helper::BitsOfI64, "lozenge_bits_i64"),
                    _ => (Helper::BitsOfI32, "lozenge_bits_i32"),
                };
                self.helper(helper, name, vec![value])
            }
            _ => self.math(math::function(op).unwrap_or("fabs"), ty, vec![value]),
        }
    }

    /// A function of `math.h` at a type.
    fn math(&mut self, function: &str, ty: Scalar, args: Vec<CExpr>) -> CExpr {
        self.helpers.insert(Helper::Math);
        CExpr::call(math::at(function, ty), args)
    }

    /// A floating-point constant from its value and the shortest digits of its magnitude that read
    /// back as it.
    fn float(&mut self, value: f64, magnitude: &str, suffix: &str) -> CExpr {
        if !value.is_finite() && !self.native {
            self.helpers.insert(Helper::Math);
        }
        let positive = if value.is_nan() {
            CExpr::literal(if self.native { "__builtin_nan(\"\")" } else { "NAN" })
        } else if value.is_infinite() {
            CExpr::literal(match (self.native, suffix) {
                (true, "f") => "__builtin_inff()",
                (true, _) => "__builtin_inf()",
                (false, _) => "INFINITY",
            })
        } else {
            CExpr::literal(format!("{magnitude}{suffix}"))
        };
        if value.is_sign_negative() { CExpr::unary("-", positive) } else { positive }
    }

    /// A number that is none.
    pub fn nan(&mut self) -> CExpr {
        self.float(f64::NAN, "", "")
    }

    /// Whether it is a comparison of floating-point numbers, or several.
    fn compares_floats(&mut self, e: &Expr) -> Result<bool, Diagnostic> {
        match e {
            Expr::Compare(_, a, _) => Ok(self.expr(a)?.1.is_float()),
            Expr::Binary(BinaryOp::And | BinaryOp::Or, a, b) => {
                Ok(self.compares_floats(a)? && self.compares_floats(b)?)
            }
            _ => Ok(false),
        }
    }

    /// Conversion. C leaves open what a floating-point number becomes that the integer type can't
    /// hold; programs say that it is the nearest one, and 0 for NaN. C that is there already means
    /// what C means.
    pub fn cast(&mut self, to: Scalar, from: Scalar, value: CExpr, bounded: bool) -> CExpr {
        if to == from || (to == Scalar::I32 && (from.is_narrow() || from == Scalar::Bool)) {
            // C promotes it wherever it stands; what a comparison gives is an `int` already.
            value
        } else if to == Scalar::F16 || from == Scalar::F16 {
            self.half(to, from, value)
        } else if to == Scalar::Bool {
            CExpr::binary("!=", value, CExpr::int(0))
        } else if from.is_float() && to.is_int() && !to.is_common() && !self.native {
            self.saturated(to, from, value)
        } else if from.is_float() && to.is_int() && !self.native && !bounded {
            let (helper, name) = match (to, from) {
                (Scalar::I32, Scalar::F32) => (Helper::I32OfF32, "lozenge_i32_of_f32"),
                (Scalar::I32, _) => (Helper::I32OfF64, "lozenge_i32_of_f64"),
                (_, Scalar::F32) => (Helper::I64OfF32, "lozenge_i64_of_f32"),
                _ => (Helper::I64OfF64, "lozenge_i64_of_f64"),
            };
            self.helper(helper, name, vec![value])
        } else {
            CExpr::Cast(self.scalar_type(to).to_owned(), Box::new(value))
        }
    }

    /// The macro or functions that stand for an operation in C that is there already.
    pub fn native(&mut self, op: BinaryOp, a: CExpr, b: CExpr, ty: Scalar) -> CExpr {
        let (helper, name) = match (op, ty.is_float()) {
            (BinaryOp::FloorDiv, _) => (Helper::NativeFloorDiv, "LOZENGE_FLOOR_DIV"),
            (BinaryOp::Mod, _) => (Helper::NativeMod, "LOZENGE_MOD"),
            (BinaryOp::Min, true) if ty == Scalar::F32 => (Helper::NativeFMinSingle, "LOZENGE_FMINF"),
            (BinaryOp::Max, true) if ty == Scalar::F32 => (Helper::NativeFMaxSingle, "LOZENGE_FMAXF"),
            (BinaryOp::Min, true) => (Helper::NativeFMin, "LOZENGE_FMIN"),
            (BinaryOp::Max, true) => (Helper::NativeFMax, "LOZENGE_FMAX"),
            (BinaryOp::Min, false) => (Helper::NativeMin, "LOZENGE_MIN"),
            _ => (Helper::NativeMax, "LOZENGE_MAX"),
        };
        self.helper(helper, name, vec![a, b])
    }

    pub fn helper(&mut self, helper: Helper, function: &str, args: Vec<CExpr>) -> CExpr {
        self.helpers.insert(helper);
        CExpr::call(function, args)
    }

    /// What an operation on elements of arrays is.
    pub(crate) fn of_data(&self, ty: Scalar) -> Kind {
        Kind { natural: false, wraps: self.wrapping && matches!(ty, Scalar::I32 | Scalar::I64) }
    }

    /// The smaller or larger of two numbers; of truth values, whether both or one of them holds.
    fn extremum(&mut self, op: BinaryOp, a: CExpr, b: CExpr, ty: Scalar) -> CExpr {
        let least = op == BinaryOp::Min;
        // What is compared with a constant is one instruction, unless a zero of the other sign is
        // the better one.
        let bound = |e: &CExpr| is_bound(e, least);
        let (a, b) = if ty.is_float() && bound(&a) && !bound(&b) { (b, a) } else { (a, b) };
        let (helper, name) = match (ty, least, ty.is_float() && bound(&b)) {
            (Scalar::F32, true, true) => (Helper::AtMostF, "lozenge_at_most_f32"),
            (Scalar::F64, true, true) => (Helper::AtMost, "lozenge_at_most_f64"),
            (Scalar::F32, false, true) => (Helper::AtLeastF, "lozenge_at_least_f32"),
            (Scalar::F64, false, true) => (Helper::AtLeast, "lozenge_at_least_f64"),
            (Scalar::F32, true, _) => (Helper::MinF, "lozenge_min_f32"),
            (Scalar::F32, false, _) => (Helper::MaxF, "lozenge_max_f32"),
            (Scalar::F64, true, _) => (Helper::Min, "lozenge_min_f64"),
            (Scalar::F64, false, _) => (Helper::Max, "lozenge_max_f64"),
            (Scalar::I64, true, _) => (Helper::Min64, "lozenge_min"),
            (Scalar::I64, false, _) => (Helper::Max64, "lozenge_max"),
            (Scalar::I32, true, _) => (Helper::Min32, "lozenge_min_i32"),
            (Scalar::I32, false, _) => (Helper::Max32, "lozenge_max_i32"),
            _ => return CExpr::binary(if least { "&&" } else { "||" }, a, b),
        };
        self.helper(helper, name, vec![a, b])
    }

    /// An operation.
    pub fn binary(&mut self, op: BinaryOp, a: CExpr, b: CExpr, ty: Scalar, kind: Kind) -> CExpr {
        let Kind { natural, wraps } = kind;
        let index = ty == Scalar::I64;
        let wrap = wraps && ty == Scalar::I32;
        // The quotient of the least integer by -1 is out of range, and C has none by 0.
        let guarded = self.wrapping && !natural && index_arithmetic::value(&b).is_none_or(|v| v <= 0);
        if let Some(value) = wrapped(op, &a, &b, ty).filter(|_| wraps) {
            return value;
        }
        match op {
            _ if !ty.is_common() => self.integer(op, a, b, ty),
            BinaryOp::Add if index && wraps => self.helper(Helper::Add64, "lozenge_add", vec![a, b]),
            BinaryOp::Sub if index && wraps => self.helper(Helper::Sub64, "lozenge_sub", vec![a, b]),
            BinaryOp::Mul if index && wraps => self.helper(Helper::Mul64, "lozenge_mul", vec![a, b]),
            BinaryOp::Div if index && guarded => self.helper(Helper::Div64, "lozenge_div", vec![a, b]),
            BinaryOp::Rem if index && guarded => self.helper(Helper::Rem64, "lozenge_rem", vec![a, b]),
            BinaryOp::Add if index => index_arithmetic::add(a, b),
            BinaryOp::Sub if index => index_arithmetic::sub(a, b),
            BinaryOp::Mul if index => index_arithmetic::mul(a, b),
            BinaryOp::Add if wrap => self.helper(Helper::Add32, "lozenge_add_i32", vec![a, b]),
            BinaryOp::Sub if wrap => self.helper(Helper::Sub32, "lozenge_sub_i32", vec![a, b]),
            BinaryOp::Mul if wrap => self.helper(Helper::Mul32, "lozenge_mul_i32", vec![a, b]),
            BinaryOp::Div if wrap && guarded => self.helper(Helper::Div32, "lozenge_div_i32", vec![a, b]),
            BinaryOp::Rem if wrap && guarded => self.helper(Helper::Rem32, "lozenge_rem_i32", vec![a, b]),
            BinaryOp::Add => CExpr::binary("+", a, b),
            BinaryOp::Sub => CExpr::binary("-", a, b),
            BinaryOp::Mul => CExpr::binary("*", a, b),
            BinaryOp::Div => CExpr::binary("/", a, b),
            BinaryOp::Rem if ty.is_float() => self.math("fmod", ty, vec![a, b]),
            BinaryOp::Rem => CExpr::binary("%", a, b),
            BinaryOp::FloorDiv if natural || index_arithmetic::value(&b) == Some(1) => {
                index_arithmetic::div(a, b)
            }
            BinaryOp::Mod if natural || index_arithmetic::value(&b) == Some(1) => index_arithmetic::rem(a, b),
            BinaryOp::FloorDiv | BinaryOp::Mod if self.native => self.native(op, a, b, ty),
            BinaryOp::Min | BinaryOp::Max if self.native && ty != Scalar::Bool => self.native(op, a, b, ty),
            BinaryOp::FloorDiv if index => self.helper(Helper::FloorDiv64, "lozenge_floor_div", vec![a, b]),
            BinaryOp::FloorDiv => self.helper(Helper::FloorDiv32, "lozenge_floor_div_i32", vec![a, b]),
            BinaryOp::Mod if index => self.helper(Helper::Mod64, "lozenge_mod", vec![a, b]),
            BinaryOp::Mod => self.helper(Helper::Mod32, "lozenge_mod_i32", vec![a, b]),
            BinaryOp::Min | BinaryOp::Max => self.extremum(op, a, b, ty),
            BinaryOp::Pow | BinaryOp::Atan2 | BinaryOp::Hypot => self.math(op.symbol(), ty, vec![a, b]),
            BinaryOp::BitAnd => CExpr::binary("&", a, b),
            BinaryOp::BitOr => CExpr::binary("|", a, b),
            BinaryOp::BitXor => CExpr::binary("^", a, b),
            BinaryOp::Shl if self.native => CExpr::binary("<<", a, b),
            BinaryOp::Shr if self.native => CExpr::binary(">>", a, b),
            BinaryOp::Shl if index => self.helper(Helper::Shl64, "lozenge_shl", vec![a, b]),
            BinaryOp::Shl => self.helper(Helper::Shl32, "lozenge_shl_i32", vec![a, b]),
            BinaryOp::Shr if index => self.helper(Helper::Shr64, "lozenge_shr", vec![a, b]),
            BinaryOp::Shr => self.helper(Helper::Shr32, "lozenge_shr_i32", vec![a, b]),
            BinaryOp::And => CExpr::binary("&&", a, b),
            BinaryOp::Or => CExpr::binary("||", a, b),
        }
    }
}

/// Whether evaluating an expression reads an element of an array, and can do nothing wrong.
fn reads_element(e: &Expr) -> bool {
    let wrong = |e: &Expr| match e {
        Expr::Binary(op, _, by) => op.divides() && loops::Value::of(by).is_none(),
        Expr::Call { .. } => true,
        _ => false,
    };
    e.loads().any(|access| !access.indices.is_empty()) && !e.nodes().any(wrong)
}

/// Whether a floating-point constant is no NaN, and no zero of which one of the other sign is below
/// (above) it.
fn is_bound(e: &CExpr, least: bool) -> bool {
    let (text, negative) = match e {
        CExpr::Literal(text) => (text, false),
        CExpr::Unary("-", operand) => match &**operand {
            CExpr::Literal(text) => (text, true),
            _ => return false,
        },
        _ => return false,
    };
    match text.trim_end_matches('f').parse::<f64>() {
        Ok(value) => !value.is_nan() && (value != 0.0 || negative == least),
        Err(_) => false,
    }
}

/// The value of an operation on literals that wraps.
fn wrapped(op: BinaryOp, a: &CExpr, b: &CExpr, ty: Scalar) -> Option<CExpr> {
    let number = |e: &CExpr| index_arithmetic::value(e).map(|v| Value::I64(v).cast(ty));
    match Value::binary(op, number(a)?, number(b)?).ok()?.cast(Scalar::I64) {
        Value::I64(value) if ty == Scalar::I64 || value != i64::from(i32::MIN) => Some(CExpr::int(value)),
        _ => None,
    }
}

/// The diagnostic for a program that the validator would have refused.
pub fn invalid(message: String) -> Diagnostic {
    Diagnostic::general(Code("T0001"), message).help("validate the loop program before it is translated")
}

/// What is known of an operation.
#[derive(Clone, Copy, Debug)]
pub struct Kind {
    /// C's integer quotient is the floor quotient here.
    pub natural: bool,
    /// Integers wrap around.
    pub wraps: bool,
}

/// Whether a floating-point number is between two constants that the integer type can hold, as
/// quantisation makes it: a smaller and a larger number were taken of it, which leaves no NaN.
fn bounded(e: &Expr, to: Scalar) -> bool {
    let held = |e: &Expr| {
        let value = match e {
            Expr::F32(value) => f64::from(value.value()),
            Expr::F64(value) => value.value(),
            _ => return false,
        };
        match to {
            Scalar::I32 => (-2_147_483_648.0..2_147_483_648.0).contains(&value),
            _ => (-9_223_372_036_854_775_808.0..9_223_372_036_854_775_808.0).contains(&value),
        }
    };
    let (outer, inner) = match e {
        Expr::Binary(op @ (BinaryOp::Min | BinaryOp::Max), a, b) if held(b) => (op, &**a),
        Expr::Binary(op @ (BinaryOp::Min | BinaryOp::Max), a, b) if held(a) => (op, &**b),
        _ => return false,
    };
    match inner {
        Expr::Binary(op @ (BinaryOp::Min | BinaryOp::Max), a, b) => op != outer && (held(a) || held(b)),
        _ => false,
    }
}
