//! From index expressions of loop programs to quasi-affine functions and sets.
//!
//! Everything that is affine in the sense of the notes on the model is taken: sums, constant
//! factors, `floor`, `mod`, C's `/` and `%` by constants, minima and maxima, selections by affine
//! conditions. What is not gets the reason.

use isl::{Ctx, Dim, PwAff, Set, Space, Val};
use loops::{BinaryOp, CompareOp, Expr, Name, Scalar, UnaryOp};

use crate::fault::{self, Result};

/// Loop variables and sizes as dimensions of a set space.
#[derive(Clone)]
pub(crate) struct Frame {
    space: Space,
    sizes: Vec<Name>,
    iterators: Vec<Name>,
}

/// Why an expression has no affine form.
enum Refusal {
    Reason(String),
    Library(isl::Error),
}

impl From<isl::Error> for Refusal {
    fn from(error: isl::Error) -> Refusal {
        Refusal::Library(error)
    }
}

type Found<T> = std::result::Result<T, Refusal>;

fn refuse<T>(reason: impl Into<String>) -> Found<T> {
    Err(Refusal::Reason(reason.into()))
}

impl Frame {
    /// The frame outside of all loops; `params` is the space of the sizes.
    pub fn new(params: &Space, sizes: &[Name]) -> isl::Result<Frame> {
        Ok(Frame { space: params.set_from_params()?, sizes: sizes.to_vec(), iterators: Vec::new() })
    }

    /// The frame of a set space with a dimension for each iterator.
    pub(crate) fn of_space(space: &Space, sizes: &[Name], iterators: Vec<Name>) -> Frame {
        Frame { space: space.clone(), sizes: sizes.to_vec(), iterators }
    }

    /// The frame inside of one more loop.
    pub fn inside(&self, iterator: &Name) -> isl::Result<Frame> {
        let mut frame = self.clone();
        frame.space = frame.space.add_dims(Dim::SET, 1)?;
        frame.iterators.push(iterator.clone());
        Ok(frame)
    }

    /// The space: one dimension a loop, outermost first.
    pub fn space(&self) -> &Space {
        &self.space
    }

    /// The sizes.
    pub fn sizes(&self) -> &[Name] {
        &self.sizes
    }

    fn ctx(&self) -> &Ctx {
        self.space.ctx()
    }

    /// The function that an index expression is; `role` is for the diagnostic.
    pub fn function(&self, role: &str, expr: &Expr) -> Result<PwAff> {
        self.pw_aff(expr).map_err(|refusal| report(role, expr, refusal))
    }

    /// The set where a condition holds.
    pub fn condition(&self, role: &str, expr: &Expr) -> Result<Set> {
        self.set(expr).map_err(|refusal| report(role, expr, refusal))
    }

    fn constant(&self, value: i64) -> Found<PwAff> {
        Ok(PwAff::constant(&self.space, value)?)
    }

    fn pw_aff(&self, expr: &Expr) -> Found<PwAff> {
        match expr {
            Expr::Int(value) => self.constant(*value),
            Expr::I32(value) => self.constant(i64::from(*value)),
            Expr::Var(name) => self.variable(name),
            Expr::Unary(UnaryOp::Neg, a) => Ok(self.pw_aff(a)?.neg()?),
            Expr::Unary(UnaryOp::Abs, a) => {
                let a = self.pw_aff(a)?;
                Ok(a.max(&a.neg()?)?)
            }
            Expr::Binary(BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul, ..)
                if expr.is_data() && !expr.vars().is_empty() =>
            {
                refuse("it is arithmetic on data, which may wrap around")
            }
            Expr::Binary(op, a, b) => self.binary(*op, a, b),
            Expr::Select(condition, yes, no) => {
                let condition = self.set(condition)?;
                let yes = self.pw_aff(yes)?.intersect_domain(&condition)?;
                let no = self.pw_aff(no)?.intersect_domain(&condition.complement()?)?;
                Ok(yes.union_add(&no)?)
            }
            Expr::Cast(Scalar::I64, a) => self.pw_aff(a),
            Expr::Cast(to, _) => refuse(format!("the conversion to {to} can change the value")),
            Expr::Load(access) => refuse(format!("it depends on the data in `{}`", access.array)),
            Expr::Call { function, .. } => refuse(format!("it calls `{function}`")),
            Expr::F32(_) | Expr::F64(_) | Expr::Unary(..) => refuse("it is a floating-point number"),
            Expr::Bool(_) | Expr::Compare(..) => refuse("it is a truth value"),
        }
    }

    fn variable(&self, name: &Name) -> Found<PwAff> {
        // Inner loops hide outer ones and sizes.
        if let Some(position) = self.iterators.iter().rposition(|i| i == name) {
            return Ok(PwAff::variable(&self.space, Dim::SET, position)?);
        }
        match self.sizes.iter().position(|s| s == name) {
            Some(position) => Ok(PwAff::variable(&self.space, Dim::Param, position)?),
            None => refuse(format!("`{name}` is neither a loop variable nor a size")),
        }
    }

    fn binary(&self, op: BinaryOp, a: &Expr, b: &Expr) -> Found<PwAff> {
        let (left, right) = (self.pw_aff(a)?, self.pw_aff(b)?);
        Ok(match op {
            BinaryOp::Add => left.add(&right)?,
            BinaryOp::Sub => left.sub(&right)?,
            BinaryOp::Min => left.min(&right)?,
            BinaryOp::Max => left.max(&right)?,
            BinaryOp::Mul => {
                if !left.is_constant()? && !right.is_constant()? {
                    return refuse(format!(
                        "`{a}` and `{b}` both vary, and a product of two that vary is not linear"
                    ));
                }
                left.mul(&right)?
            }
            BinaryOp::FloorDiv => left.div(&self.divisor(b, &right)?.1)?.floor()?,
            BinaryOp::Mod => {
                let divisor = self.divisor(b, &right)?.1;
                left.sub(&left.div(&divisor)?.floor()?.mul(&divisor)?)?
            }
            // Truncation: isl wants a positive divisor.
            BinaryOp::Div => match self.divisor(b, &right)? {
                (value, divisor) if value < 0 => left.div_trunc(&divisor.neg()?)?.neg()?,
                (_, divisor) => left.div_trunc(&divisor)?,
            },
            BinaryOp::Rem => match self.divisor(b, &right)? {
                (value, divisor) if value < 0 => left.rem_trunc(&divisor.neg()?)?,
                (_, divisor) => left.rem_trunc(&divisor)?,
            },
            BinaryOp::Pow | BinaryOp::Atan2 | BinaryOp::Hypot => {
                return refuse("it is a function of two numbers");
            }
            BinaryOp::BitAnd | BinaryOp::BitOr | BinaryOp::BitXor | BinaryOp::Shl | BinaryOp::Shr => {
                return refuse("it is an operation on bits");
            }
            BinaryOp::And | BinaryOp::Or => return refuse("it is a truth value"),
        })
    }

    fn divisor(&self, expr: &Expr, function: &PwAff) -> Found<(i64, PwAff)> {
        let value = match function.pieces()?.as_slice() {
            [(_, piece)] if piece.is_constant()? => piece.constant()?.to_i64()?,
            _ => return refuse(format!("it divides by `{expr}`, which is not a constant")),
        };
        if value == 0 {
            return refuse("it divides by zero");
        }
        Ok((value, self.constant(value)?))
    }

    fn set(&self, expr: &Expr) -> Found<Set> {
        match expr {
            Expr::Bool(true) => Ok(Set::universe(&self.space)?),
            Expr::Bool(false) => Ok(Set::empty(&self.space)?),
            Expr::Compare(op, a, b) => {
                if is_truth_value(a) && is_truth_value(b) && matches!(op, CompareOp::Eq | CompareOp::Ne) {
                    let (a, b) = (self.set(a)?, self.set(b)?);
                    let differ = a.subtract(&b)?.union(&b.subtract(&a)?)?;
                    return Ok(if *op == CompareOp::Ne { differ } else { differ.complement()? });
                }
                self.comparison(*op, a, b)
            }
            Expr::Binary(BinaryOp::And, a, b) => Ok(self.set(a)?.intersect(&self.set(b)?)?),
            Expr::Binary(BinaryOp::Or, a, b) => Ok(self.set(a)?.union(&self.set(b)?)?),
            Expr::Unary(UnaryOp::Not, a) => Ok(self.set(a)?.complement()?),
            Expr::Select(condition, yes, no) => {
                let condition = self.set(condition)?;
                let yes = self.set(yes)?.intersect(&condition)?;
                Ok(yes.union(&self.set(no)?.subtract(&condition)?)?)
            }
            // `if (x)` of C: not zero.
            Expr::Cast(Scalar::Bool, a) => Ok(self.pw_aff(a)?.non_zero_set()?),
            Expr::Load(access) => refuse(format!("it depends on the data in `{}`", access.array)),
            _ => refuse("it is not a comparison of affine expressions"),
        }
    }

    /// A comparison. One with all of several (`i < min(a, b)`) is a conjunction: as a piecewise
    /// function the minimum would cut the set in pieces, and everything that is done with it later
    /// costs that many times more.
    fn comparison(&self, op: CompareOp, a: &Expr, b: &Expr) -> Found<Set> {
        let (least, greatest) = match op {
            CompareOp::Lt | CompareOp::Le => (b, a),
            CompareOp::Gt | CompareOp::Ge => (a, b),
            CompareOp::Eq | CompareOp::Ne => {
                let (a, b) = (self.pw_aff(a)?, self.pw_aff(b)?);
                return Ok(if op == CompareOp::Eq { a.eq_set(&b)? } else { a.ne_set(&b)? });
            }
        };
        let strict = matches!(op, CompareOp::Lt | CompareOp::Gt);
        self.below(greatest, least, strict)
    }

    /// Where `low <= high`, or `low < high`.
    fn below(&self, low: &Expr, high: &Expr, strict: bool) -> Found<Set> {
        if let Expr::Binary(BinaryOp::Max, a, b) = low {
            return Ok(self.below(a, high, strict)?.intersect(&self.below(b, high, strict)?)?);
        }
        if let Expr::Binary(BinaryOp::Min, a, b) = high {
            return Ok(self.below(low, a, strict)?.intersect(&self.below(low, b, strict)?)?);
        }
        let (low, high) = (self.pw_aff(low)?, self.pw_aff(high)?);
        Ok(if strict { low.lt_set(&high)? } else { low.le_set(&high)? })
    }

    /// The set of the values `lower, lower + step, ..` below `upper` of the innermost iterator.
    pub fn range(&self, lower: &Expr, upper: &Expr, step: i64) -> Result<Set> {
        // Bounds do not see the loop's own variable, also if it hides another: it gets a name that
        // no program has.
        let mut frame = self.clone();
        let own = Name::new("");
        frame.iterators.pop();
        frame.iterators.push(own.clone());
        let variable = Expr::Var(own);
        let from = frame
            .below(lower, &variable, false)
            .map_err(|refusal| report("the lower bound", lower, refusal))?;
        let to = frame
            .below(&variable, upper, true)
            .map_err(|refusal| report("the upper bound", upper, refusal))?;
        let build = || -> Found<Set> {
            let mut set = from.intersect(&to)?;
            if step > 1 {
                let offset = frame.pw_aff(&variable)?.sub(&frame.pw_aff(lower)?)?;
                let offset = offset.modulo(&Val::int(self.ctx(), step)?)?;
                set = set.intersect(&offset.eq_set(&PwAff::constant(&self.space, 0)?)?)?;
            }
            Ok(set)
        };
        build().map_err(|refusal| report("the lower bound", lower, refusal))
    }
}

fn is_truth_value(expr: &Expr) -> bool {
    match expr {
        Expr::Bool(_) | Expr::Compare(..) | Expr::Unary(UnaryOp::Not, _) | Expr::Cast(Scalar::Bool, _) => {
            true
        }
        Expr::Binary(op, ..) => matches!(op, BinaryOp::And | BinaryOp::Or),
        Expr::Select(_, yes, _) => is_truth_value(yes),
        _ => false,
    }
}

fn report(role: &str, expr: &Expr, refusal: Refusal) -> loops::Diagnostic {
    match refusal {
        Refusal::Reason(reason) => fault::not_affine(role, expr, &reason),
        Refusal::Library(error) => fault::library(error),
    }
}
