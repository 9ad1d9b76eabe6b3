//! The types of primitives: checks an application to given arguments and computes its type.
//!
//! Inference of source text with unknown types is done in [`crate::infer`]. Here everything is
//! known.

use std::fmt;

use loops::{Scalar, Size};

use crate::facts::SizeFacts;
use crate::prim::Prim;
use crate::term::{Arg, Lambda};
use crate::types::DataType;

/// Why an application of a primitive has no type.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TypeError {
    /// The primitive.
    pub prim: Prim,
    /// What is wrong with which argument.
    pub message: String,
}

impl fmt::Display for TypeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}`: {}", self.prim.name(), self.message)
    }
}

impl std::error::Error for TypeError {}

/// The type of `prim` applied to `args`.
///
/// `hint` is the type that the context asks for. It decides where the arguments do not: the type of
/// `zero` and `one`, and the number of blocks of `split` and `asVector` if the length shows no
/// factor.
///
/// # Errors
/// If the number, the kinds or the types of the arguments do not fit the primitive.
pub fn type_of(
    prim: Prim,
    args: &[Arg],
    hint: Option<&DataType>,
    facts: &SizeFacts,
) -> Result<DataType, TypeError> {
    scalar(&Reader { prim, args, facts }, hint)
}

/// The types of numbers and truth values, and those of [`chosen`].
fn scalar(r: &Reader<'_>, hint: Option<&DataType>) -> Result<DataType, TypeError> {
    Ok(match r.prim {
        Prim::Neg | Prim::Abs => {
            let [t] = r.terms()?;
            r.number(t)?
        }
        Prim::Add | Prim::Sub | Prim::Mul | Prim::Div | Prim::Min | Prim::Max => {
            let [a, b] = r.terms()?;
            r.same(a, b)?;
            r.number(a)?
        }
        Prim::Pow | Prim::Atan2 | Prim::Hypot | Prim::Fmod => {
            let [a, b] = r.terms()?;
            r.same(a, b)?;
            match a {
                DataType::Scalar(s) | DataType::Vector(_, s) if s.is_float() => a.clone(),
                _ => return r.fail(format!("needs floating-point numbers, not {a}")),
            }
        }
        Prim::Bits32 | Prim::Bits64 | Prim::Float32 | Prim::Float64 => {
            let [a] = r.terms()?;
            let (from, to) = match r.prim {
                Prim::Bits32 => (Scalar::F32, Scalar::I32),
                Prim::Bits64 => (Scalar::F64, Scalar::I64),
                Prim::Float32 => (Scalar::I32, Scalar::F32),
                _ => (Scalar::I64, Scalar::F64),
            };
            r.same(a, &DataType::Scalar(from))?;
            DataType::Scalar(to)
        }
        Prim::Mod | Prim::BitAnd | Prim::BitOr | Prim::BitXor | Prim::ShiftLeft | Prim::ShiftRight => {
            let [a, b] = r.terms()?;
            r.same(a, b)?;
            match a {
                DataType::Scalar(s) | DataType::Vector(_, s) if s.is_int() => a.clone(),
                _ => return r.fail(format!("needs integers, not {a}")),
            }
        }
        Prim::Eq | Prim::Ne | Prim::Lt | Prim::Le | Prim::Gt | Prim::Ge => {
            let [a, b] = r.terms()?;
            r.same(a, b)?;
            match a {
                DataType::Scalar(s) if s.is_number() => DataType::Scalar(Scalar::Bool),
                _ => return r.fail(format!("compares numbers, not {a}")),
            }
        }
        Prim::And | Prim::Or => {
            let [a, b] = r.terms()?;
            r.truth(a)?;
            r.truth(b)?
        }
        Prim::Not => {
            let [a] = r.terms()?;
            r.truth(a)?
        }
        // The functions of one floating-point number.
        prim if prim.unary_operator().is_some() => {
            let [t] = r.terms()?;
            match r.number(t)? {
                DataType::Scalar(s) | DataType::Vector(_, s) if s.is_float() => t.clone(),
                other => return r.fail(format!("needs a floating-point number, not {other}")),
            }
        }
        _ => return chosen(r, hint),
    })
}

/// The types of choices, constants, conversions and pairs, and those of [`pattern`].
fn chosen(r: &Reader<'_>, hint: Option<&DataType>) -> Result<DataType, TypeError> {
    Ok(match r.prim {
        Prim::Select => {
            let [c, a, b] = r.terms()?;
            r.truth(c)?;
            r.same(a, b)?;
            a.clone()
        }
        Prim::Zero | Prim::One => {
            let [] = r.terms()?;
            match hint {
                Some(t) => r.number(t)?,
                None => return r.fail("its type is decided by the context".to_string()),
            }
        }
        prim if prim.conversion().is_some() => {
            let [a] = r.terms()?;
            if !a.is_scalar() {
                return r.fail(format!("converts a number, truth value or index, not {a}"));
            }
            DataType::Scalar(prim.conversion().unwrap_or(Scalar::I64))
        }
        Prim::Pair => {
            let [a, b] = r.terms()?;
            DataType::pair(a.clone(), b.clone())
        }
        Prim::Fst | Prim::Snd => {
            let [p] = r.terms()?;
            match p {
                DataType::Pair(a, b) => (**if r.prim == Prim::Fst { a } else { b }).clone(),
                _ => return r.fail(format!("needs a pair, not {p}")),
            }
        }
        _ => return pattern(r, hint),
    })
}

/// The types of patterns, and those of [`layout`].
fn pattern(r: &Reader<'_>, hint: Option<&DataType>) -> Result<DataType, TypeError> {
    Ok(match r.prim {
        Prim::Map | Prim::MapSeq | Prim::MapPar | Prim::MapVec | Prim::MapUnroll => {
            r.count(2)?;
            let (n, elem) = r.array(r.term(1)?)?;
            let f = r.fun(0, &[elem])?;
            DataType::array(n.clone(), f.body.ty().clone())
        }
        Prim::Reduce | Prim::ReduceSeq | Prim::ReduceUnroll | Prim::ReducePar | Prim::ScanSeq => {
            r.count(3)?;
            let (n, elem) = r.array(r.term(2)?)?;
            let acc = r.term(1)?;
            let f = r.fun(0, &[elem, acc])?;
            r.same(f.body.ty(), acc)?;
            if r.prim == Prim::ScanSeq { DataType::array(n.clone(), acc.clone()) } else { acc.clone() }
        }
        Prim::ScanPar => {
            r.count(3)?;
            let (n, elem) = r.array(r.term(2)?)?;
            let acc = r.term(1)?;
            r.same(elem, acc)?;
            let f = r.fun(0, &[elem, acc])?;
            r.same(f.body.ty(), acc)?;
            DataType::array(n.clone(), acc.clone())
        }
        Prim::ReduceByIndexPar => {
            r.count(5)?;
            let (m, zero, (n, index), (k, elem)) =
                (r.size(0)?, r.term(2)?, r.array(r.term(3)?)?, r.array(r.term(4)?)?);
            r.same(index, &DataType::Scalar(Scalar::I64))?;
            r.same_size(n, k)?;
            r.same(elem, zero)?;
            let f = r.fun(1, &[elem, zero])?;
            r.same(f.body.ty(), zero)?;
            DataType::array(m.clone(), zero.clone())
        }
        Prim::ReduceByIndex => {
            r.count(4)?;
            let (base, (n, index), (k, elem)) = (r.term(1)?, r.array(r.term(2)?)?, r.array(r.term(3)?)?);
            let (_, acc) = r.array(base)?;
            r.same(index, &DataType::Scalar(Scalar::I64))?;
            r.same_size(n, k)?;
            let f = r.fun(0, &[elem, acc])?;
            r.same(f.body.ty(), acc)?;
            base.clone()
        }
        Prim::Generate => {
            r.count(2)?;
            let n = r.size(0)?;
            let f = r.fun(1, &[&DataType::Idx(n.clone())])?;
            DataType::array(n.clone(), f.body.ty().clone())
        }
        Prim::Iota => {
            r.count(1)?;
            DataType::array(r.size(0)?.clone(), DataType::Scalar(Scalar::I64))
        }
        Prim::Iterate => {
            r.count(3)?;
            r.size(0)?;
            let start = r.term(2)?;
            let f = r.fun(1, &[start])?;
            r.same(f.body.ty(), start)?;
            start.clone()
        }
        _ => return layout(r, hint),
    })
}

/// The number of elements of the array that the context asks for.
fn hinted(hint: Option<&DataType>) -> Option<&Size> {
    match hint {
        Some(DataType::Array(m, _)) => Some(m),
        _ => None,
    }
}

/// The types of primitives that rearrange all elements of an array, and those of [`resized`].
fn layout(r: &Reader<'_>, hint: Option<&DataType>) -> Result<DataType, TypeError> {
    Ok(match r.prim {
        Prim::Zip => {
            let [a, b] = r.terms()?;
            let ((n, s), (m, t)) = (r.array(a)?, r.array(b)?);
            r.same_size(n, m)?;
            DataType::array(n.clone(), DataType::pair(s.clone(), t.clone()))
        }
        Prim::Unzip => {
            let [a] = r.terms()?;
            match r.array(a)? {
                (n, DataType::Pair(s, t)) => DataType::pair(
                    DataType::array(n.clone(), (**s).clone()),
                    DataType::array(n.clone(), (**t).clone()),
                ),
                (_, other) => return r.fail(format!("needs an array of pairs, not of {other}")),
            }
        }
        Prim::Split => {
            r.count(2)?;
            let (k, (n, t)) = (r.size(0)?, r.array(r.term(1)?)?);
            DataType::array(r.blocks(n, k, hinted(hint))?, DataType::array(k.clone(), t.clone()))
        }
        Prim::Join => {
            let [a] = r.terms()?;
            let (m, row) = r.array(a)?;
            let (n, t) = r.array(row)?;
            DataType::array(n.clone() * m.clone(), t.clone())
        }
        Prim::Transpose | Prim::TransPar => {
            let [a] = r.terms()?;
            let (m, row) = r.array(a)?;
            let (n, t) = r.array(row)?;
            DataType::array(n.clone(), DataType::array(m.clone(), t.clone()))
        }
        Prim::Reverse | Prim::ReverseSeq | Prim::Copy | Prim::CopySeq => {
            let [a] = r.terms()?;
            r.array(a)?;
            a.clone()
        }
        _ => return resized(r, hint),
    })
}

/// The types of windows and of primitives that lengthen or shorten an array, and those of
/// [`indexed`].
fn resized(r: &Reader<'_>, hint: Option<&DataType>) -> Result<DataType, TypeError> {
    Ok(match r.prim {
        Prim::Slide => {
            r.count(3)?;
            let (w, s, (n, t)) = (r.size(0)?, r.size(1)?, r.array(r.term(2)?)?);
            let count = (n.clone() - w.clone()).div(s) + Size::constant(1);
            DataType::array(count, DataType::array(w.clone(), t.clone()))
        }
        Prim::Pad => {
            r.count(4)?;
            let (left, right, (n, t)) = (r.size(0)?, r.size(1)?, r.array(r.term(3)?)?);
            r.same(r.term(2)?, t)?;
            DataType::array(left.clone() + n.clone() + right.clone(), t.clone())
        }
        Prim::PadClamp => {
            r.count(3)?;
            let (left, right, (n, t)) = (r.size(0)?, r.size(1)?, r.array(r.term(2)?)?);
            DataType::array(left.clone() + n.clone() + right.clone(), t.clone())
        }
        Prim::Concat => {
            let [a, b] = r.terms()?;
            let ((n, s), (m, t)) = (r.array(a)?, r.array(b)?);
            r.same(s, t)?;
            DataType::array(n.clone() + m.clone(), s.clone())
        }
        Prim::Take | Prim::Drop => {
            r.count(2)?;
            let (k, (n, t)) = (r.size(0)?, r.array(r.term(1)?)?);
            if r.facts.refutes_at_most(k, n) {
                return r.fail(format!("{k} is more than the length {n}"));
            }
            let rest = if r.prim == Prim::Take { k.clone() } else { n.clone() - k.clone() };
            DataType::array(rest, t.clone())
        }
        _ => return indexed(r, hint),
    })
}

/// The types of indices and of primitives that read or write where they say, and those of
/// [`vectors`].
fn indexed(r: &Reader<'_>, hint: Option<&DataType>) -> Result<DataType, TypeError> {
    Ok(match r.prim {
        Prim::Gather => {
            let [is, xs] = r.terms()?;
            let ((m, index), (n, t)) = (r.array(is)?, r.array(xs)?);
            r.same(index, &DataType::Idx(n.clone()))?;
            DataType::array(m.clone(), t.clone())
        }
        Prim::Scatter => {
            let [is, base, xs] = r.terms()?;
            let ((n, index), (m, t), (k, s)) = (r.array(is)?, r.array(base)?, r.array(xs)?);
            r.same(index, &DataType::Idx(m.clone()))?;
            r.same_size(n, k)?;
            r.same(s, t)?;
            base.clone()
        }
        Prim::Reorder => {
            r.count(2)?;
            let xs = r.term(1)?;
            let index = DataType::Idx(r.array(xs)?.0.clone());
            let f = r.fun(0, &[&index])?;
            r.same(f.body.ty(), &index)?;
            xs.clone()
        }
        Prim::Index => {
            let [xs, i] = r.terms()?;
            let (n, t) = r.array(xs)?;
            r.same(i, &DataType::Idx(n.clone()))?;
            t.clone()
        }
        Prim::IdxPred => {
            r.count(1)?;
            DataType::Idx(r.size(0)?.clone())
        }
        Prim::AddIdx | Prim::SubIdx | Prim::MulIdx | Prim::DivIdx => {
            let [a, b] = r.terms()?;
            r.same(a, b)?;
            match a {
                DataType::Idx(_) => a.clone(),
                _ => return r.fail(format!("needs indices, not {a}")),
            }
        }
        Prim::ToIdx => {
            r.count(2)?;
            r.same(r.term(1)?, &DataType::Scalar(Scalar::I64))?;
            DataType::Idx(r.size(0)?.clone())
        }
        _ => return vectors(r, hint),
    })
}

/// The types of memory and vector primitives.
fn vectors(r: &Reader<'_>, hint: Option<&DataType>) -> Result<DataType, TypeError> {
    Ok(match r.prim {
        Prim::ToMem => {
            let [a] = r.terms()?;
            a.clone()
        }
        Prim::AsVector => {
            r.count(2)?;
            let (k, (n, t)) = (r.size(0)?, r.array(r.term(1)?)?);
            match t {
                DataType::Scalar(s) => {
                    DataType::array(r.blocks(n, k, hinted(hint))?, DataType::Vector(k.clone(), *s))
                }
                _ => return r.fail(format!("needs numbers, not {t}")),
            }
        }
        Prim::AsScalar => {
            let [a] = r.terms()?;
            match r.array(a)? {
                (m, DataType::Vector(k, s)) => DataType::array(k.clone() * m.clone(), DataType::Scalar(*s)),
                (_, other) => return r.fail(format!("needs vectors, not {other}")),
            }
        }
        Prim::Splat => {
            r.count(2)?;
            match r.term(1)? {
                DataType::Scalar(s) => DataType::Vector(r.size(0)?.clone(), *s),
                other => return r.fail(format!("needs a number, not {other}")),
            }
        }
        other => unreachable!("`{}` is typed with the scalars and patterns", other.name()),
    })
}

struct Reader<'a> {
    prim: Prim,
    args: &'a [Arg],
    facts: &'a SizeFacts,
}

impl<'a> Reader<'a> {
    fn fail<T>(&self, message: String) -> Result<T, TypeError> {
        Err(TypeError { prim: self.prim, message })
    }

    fn count(&self, n: usize) -> Result<(), TypeError> {
        if self.args.len() == n {
            return Ok(());
        }
        self.fail(format!("takes {n} arguments, not {}", self.args.len()))
    }

    /// All arguments, which must be this many terms; their types.
    fn terms<const N: usize>(&self) -> Result<[&'a DataType; N], TypeError> {
        self.count(N)?;
        let mut types = Vec::with_capacity(N);
        for k in 0..N {
            types.push(self.term(k)?);
        }
        match types.try_into() {
            Ok(array) => Ok(array),
            Err(_) => self.fail(format!("takes {N} arguments")),
        }
    }

    fn term(&self, k: usize) -> Result<&'a DataType, TypeError> {
        match self.args.get(k) {
            Some(Arg::Term(t)) => Ok(t.ty()),
            _ => self.fail(format!("argument {} must be a value", k + 1)),
        }
    }

    fn size(&self, k: usize) -> Result<&'a Size, TypeError> {
        match self.args.get(k) {
            Some(Arg::Size(size)) if size.as_constant().is_some_and(|c| c < 0) => {
                self.fail(format!("the size {size} is negative"))
            }
            Some(Arg::Size(size)) => Ok(size),
            _ => self.fail(format!("argument {} must be a size", k + 1)),
        }
    }

    fn fun(&self, k: usize, params: &[&DataType]) -> Result<&'a Lambda, TypeError> {
        let Some(Arg::Fun(f)) = self.args.get(k) else {
            return self.fail(format!("argument {} must be a function", k + 1));
        };
        if f.params.len() != params.len() {
            return self.fail(format!(
                "the function must have {} parameters, not {}",
                params.len(),
                f.params.len()
            ));
        }
        for (binder, ty) in f.params.iter().zip(params) {
            if !self.facts.same_type(&binder.ty, ty) {
                return self.fail(format!(
                    "parameter `{}` has type {}, but is given {ty}",
                    binder.var.name, binder.ty
                ));
            }
        }
        Ok(f)
    }

    fn same(&self, a: &DataType, b: &DataType) -> Result<(), TypeError> {
        if self.facts.same_type(a, b) {
            return Ok(());
        }
        self.fail(format!("{a} and {b} are not the same type"))
    }

    fn same_size(&self, a: &Size, b: &Size) -> Result<(), TypeError> {
        if self.facts.equal(a, b) {
            return Ok(());
        }
        self.fail(format!("the lengths {a} and {b} differ"))
    }

    fn number(&self, ty: &DataType) -> Result<DataType, TypeError> {
        match ty {
            DataType::Scalar(s) | DataType::Vector(_, s) if s.is_number() => Ok(ty.clone()),
            _ => self.fail(format!("needs a number, not {ty}")),
        }
    }

    fn truth(&self, ty: &DataType) -> Result<DataType, TypeError> {
        self.same(ty, &DataType::Scalar(Scalar::Bool))?;
        Ok(ty.clone())
    }

    fn array<'t>(&self, ty: &'t DataType) -> Result<(&'t Size, &'t DataType), TypeError> {
        match ty {
            DataType::Array(n, t) => Ok((n, t)),
            _ => self.fail(format!("needs an array, not {ty}")),
        }
    }

    /// The number of blocks of `k` in `n`.
    fn blocks(&self, n: &Size, k: &Size, hint: Option<&Size>) -> Result<Size, TypeError> {
        let fits = |m: &Size| self.facts.equal(n, &(k.clone() * m.clone()));
        if let Some(m) = hint.filter(|m| fits(m)) {
            return Ok(m.clone());
        }
        let quotient = n.exact_div(k).or_else(|| self.facts.normal(n).exact_div(&self.facts.normal(k)));
        match quotient.filter(fits) {
            Some(m) => Ok(m),
            None => self.fail(format!("the length {n} is not shown to be a multiple of {k}")),
        }
    }
}
