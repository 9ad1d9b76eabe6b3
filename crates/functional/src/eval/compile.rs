//! Compiles terms to closures over numbered slots, with all sizes known.

use std::collections::BTreeMap;
use std::rc::Rc;

use loops::{Name, Scalar, Size, Span};

use super::array::{self, Array, Ty, Val, in_range};
use super::value::{collect, force, length};
use super::{Fault, Frame, Outcome, scalar};
use crate::prim::Prim;
use crate::term::{Arg, Binder, Lambda, Literal, Term, TermKind, Var};
use crate::types::DataType;

pub(super) type Code = Box<dyn Fn(&mut Frame) -> Outcome<Val>>;

/// A function: the slots of its parameters and its body.
struct Function {
    slots: Vec<usize>,
    body: Code,
}

impl Function {
    fn call1(&self, frame: &mut Frame, x: Val) -> Outcome<Val> {
        frame.set(self.slots[0], x);
        (self.body)(frame)
    }

    fn call2(&self, frame: &mut Frame, x: Val, y: Val) -> Outcome<Val> {
        frame.set(self.slots[0], x);
        frame.set(self.slots[1], y);
        (self.body)(frame)
    }
}

pub(super) struct Compiler<'a> {
    sizes: &'a BTreeMap<Name, i64>,
    slots: BTreeMap<u32, usize>,
}

impl<'a> Compiler<'a> {
    pub(super) fn new(sizes: &'a BTreeMap<Name, i64>) -> Compiler<'a> {
        Compiler { sizes, slots: BTreeMap::new() }
    }

    /// The slot of a new variable.
    pub(super) fn bind(&mut self, var: &Var) -> usize {
        let next = self.slots.len();
        *self.slots.entry(var.id).or_insert(next)
    }

    /// The type with its sizes known. A length that has no value counts as 0, since no such array
    /// is ever made.
    pub(super) fn resolve(&self, ty: &DataType) -> Ty {
        match ty {
            DataType::Scalar(s) => Ty::Scalar(*s),
            DataType::Idx(_) => Ty::Scalar(Scalar::I64),
            DataType::Array(n, t) => Ty::Array(self.length(n).unwrap_or(0), Rc::new(self.resolve(t))),
            DataType::Pair(a, b) => Ty::Pair(Rc::new(self.resolve(a)), Rc::new(self.resolve(b))),
            DataType::Vector(k, s) => Ty::Array(self.length(k).unwrap_or(0), Rc::new(Ty::Scalar(*s))),
        }
    }

    fn length(&self, size: &Size) -> Result<usize, String> {
        length(size, &|name| self.sizes.get(name).copied())
    }

    /// The outer length of an array type.
    fn len_of(&self, ty: &DataType) -> Result<usize, String> {
        match ty {
            DataType::Array(n, _) | DataType::Idx(n) => self.length(n),
            other => unreachable!("an array, not {other}"),
        }
    }

    /// The inner length of a type of arrays of arrays.
    fn inner_len_of(&self, ty: &DataType) -> Result<usize, String> {
        match ty {
            DataType::Array(_, row) => self.len_of(row),
            other => unreachable!("an array, not {other}"),
        }
    }

    pub(super) fn term(&mut self, term: &Term) -> Code {
        match term.kind() {
            TermKind::Var(var) => {
                let slot = self.bind(var);
                Box::new(move |frame| Ok(frame.slots[slot].clone()))
            }
            TermKind::Literal(literal) => {
                let value = match *literal {
                    Literal::F32(bits) => Val::F32(f32::from_bits(bits)),
                    Literal::F64(bits) => Val::F64(f64::from_bits(bits)),
                    Literal::I32(v) => Val::I32(v),
                    Literal::I64(v) => Val::I64(v),
                    Literal::Integer(to, v) => scalar::from_hub(loops::Value::I64(v).cast(to)),
                    Literal::Bool(v) => Val::Bool(v),
                };
                Box::new(move |_| Ok(value.clone()))
            }
            TermKind::Size(size) => match size.eval(&|name| self.sizes.get(name).copied()) {
                Ok(value) => Box::new(move |_| Ok(Val::I64(value))),
                Err(error) => fail(format!("the size {size} has no value: {error}"), term.span()),
            },
            TermKind::Let(binder, value, body) => self.bindings(binder, value, body),
            TermKind::Prim(prim, args) => match self.prim(*prim, args, term) {
                Ok(code) => code,
                Err(message) => fail(format!("`{}`: {message}", prim.name()), term.span()),
            },
        }
    }

    /// A chain of `let`, without recursion along the chain.
    fn bindings(&mut self, binder: &Binder, value: &Term, body: &Term) -> Code {
        let mut bound = Vec::new();
        let (mut binder, mut value, mut body) = (binder, value, body);
        loop {
            let code = self.term(value);
            bound.push((self.bind(&binder.var), code));
            match body.kind() {
                TermKind::Let(b, v, rest) => (binder, value, body) = (b, v, rest),
                _ => break,
            }
        }
        let body = self.term(body);
        Box::new(move |frame| {
            for (slot, code) in &bound {
                let value = code(frame)?;
                frame.set(*slot, value);
            }
            body(frame)
        })
    }

    fn function(&mut self, lambda: &Lambda) -> Function {
        let slots = lambda.params.iter().map(|p| self.bind(&p.var)).collect();
        Function { slots, body: self.term(&lambda.body) }
    }

    fn view(
        &mut self,
        xs: &Term,
        span: Span,
        f: impl Fn(&Rc<Array>, &mut Frame) -> Outcome<Val> + 'static,
    ) -> Code {
        let xs = self.term(xs);
        Box::new(move |frame| {
            let xs = xs(frame)?;
            f(xs.elements(), frame).map_err(|fault| fault.at(span))
        })
    }

    /// The code of a primitive, or why every evaluation of it fails.
    fn prim(&mut self, prim: Prim, args: &[Arg], term: &Term) -> Result<Code, String> {
        let (ty, span) = (term.ty(), term.span());
        if let (Some(op), [Arg::Term(x)]) = (scalar::unary(prim), args) {
            let lanes = self.lanes(ty)?;
            let x = self.term(x);
            return Ok(match lanes {
                None => Box::new(move |frame| op(&x(frame)?)),
                Some((k, lane)) => Box::new(move |frame| {
                    let x = x(frame)?;
                    collect(k, &lane, frame, |_, i| op(&x.elements().get(i)?))
                }),
            });
        }
        if let (Some(op), [Arg::Term(x), Arg::Term(y)]) = (scalar::binary(prim), args) {
            let lanes = self.lanes(ty)?;
            let (x, y) = (self.term(x), self.term(y));
            return Ok(match lanes {
                None => Box::new(move |frame| {
                    let x = x(frame)?;
                    op(&x, &y(frame)?).map_err(|fault| fault.at(span))
                }),
                Some((k, lane)) => Box::new(move |frame| {
                    let (x, y) = (x(frame)?, y(frame)?);
                    collect(k, &lane, frame, |_, i| op(&x.elements().get(i)?, &y.elements().get(i)?))
                        .map_err(|fault| fault.at(span))
                }),
            });
        }
        Ok(match (prim, args) {
            (Prim::And, [Arg::Term(x), Arg::Term(y)]) => {
                let (x, y) = (self.term(x), self.term(y));
                Box::new(move |frame| if x(frame)?.truth() { y(frame) } else { Ok(Val::Bool(false)) })
            }
            (Prim::Or, [Arg::Term(x), Arg::Term(y)]) => {
                let (x, y) = (self.term(x), self.term(y));
                Box::new(move |frame| if x(frame)?.truth() { Ok(Val::Bool(true)) } else { y(frame) })
            }
            (Prim::Select, [Arg::Term(c), Arg::Term(x), Arg::Term(y)]) => {
                let (c, x, y) = (self.term(c), self.term(x), self.term(y));
                Box::new(move |frame| if c(frame)?.truth() { x(frame) } else { y(frame) })
            }
            (Prim::Zero | Prim::One, []) => {
                let value = i32::from(prim == Prim::One);
                let value = match ty {
                    DataType::Vector(k, s) => {
                        Val::array(Array::Repeat(scalar::constant(*s, value), self.length(k)?))
                    }
                    DataType::Scalar(s) => scalar::constant(*s, value),
                    other => return Err(format!("no number of type {other}")),
                };
                Box::new(move |_| Ok(value.clone()))
            }
            (Prim::Pair, [Arg::Term(x), Arg::Term(y)]) => {
                let (x, y) = (self.term(x), self.term(y));
                Box::new(move |frame| Ok(Val::pair(x(frame)?, y(frame)?)))
            }
            (Prim::Fst, [Arg::Term(x)]) => {
                let x = self.term(x);
                Box::new(move |frame| Ok(x(frame)?.first()))
            }
            (Prim::Snd, [Arg::Term(x)]) => {
                let x = self.term(x);
                Box::new(move |frame| Ok(x(frame)?.second()))
            }
            (Prim::Copy | Prim::CopySeq | Prim::ToMem, [Arg::Term(x)]) => self.term(x),
            (_, args) if args.iter().any(|arg| matches!(arg, Arg::Fun(_))) => {
                self.pattern(prim, args, ty, span)?
            }
            (_, args) => self.layout(prim, args, ty, span)?,
        })
    }

    fn pattern(&mut self, prim: Prim, args: &[Arg], ty: &DataType, span: Span) -> Result<Code, String> {
        Ok(match (prim, args) {
            (
                Prim::Map | Prim::MapSeq | Prim::MapPar | Prim::MapVec | Prim::MapUnroll,
                [Arg::Fun(f), Arg::Term(xs)],
            ) => {
                let elem = self.resolve(f.body.ty());
                let f = self.function(f);
                self.view(xs, span, move |xs, frame| {
                    collect(xs.len(), &elem, frame, |frame, i| f.call1(frame, xs.get(i)?))
                })
            }
            (
                Prim::Reduce | Prim::ReduceSeq | Prim::ReduceUnroll | Prim::ReducePar,
                [Arg::Fun(f), Arg::Term(init), Arg::Term(xs)],
            ) => {
                let acc = self.resolve(ty);
                let (f, init) = (self.function(f), self.term(init));
                self.view(xs, span, move |xs, frame| {
                    let start = init(frame)?;
                    let mut sum = force(start, &acc, frame)?;
                    frame.step(xs.len() as u64)?;
                    for i in 0..xs.len() {
                        let next = f.call2(frame, xs.get(i)?, sum)?;
                        sum = force(next, &acc, frame)?;
                    }
                    Ok(sum)
                })
            }
            (Prim::ScanSeq, [Arg::Fun(f), Arg::Term(init), Arg::Term(xs)]) => {
                let acc = self.resolve(init.ty());
                let (f, init) = (self.function(f), self.term(init));
                self.view(xs, span, move |xs, frame| {
                    let start = init(frame)?;
                    let mut sum = force(start, &acc, frame)?;
                    collect(xs.len(), &acc, frame, |frame, i| {
                        let next = f.call2(frame, xs.get(i)?, sum.clone())?;
                        sum = force(next, &acc, frame)?;
                        Ok(sum.clone())
                    })
                })
            }
            (Prim::ReduceByIndex, [Arg::Fun(f), Arg::Term(base), Arg::Term(is), Arg::Term(xs)]) => {
                let elem = self.resolve(f.body.ty());
                let (f, is, xs) = (self.function(f), self.term(is), self.term(xs));
                self.view(base, span, move |base, frame| {
                    let (is, xs) = (is(frame)?, xs(frame)?);
                    let (is, xs) = (is.elements(), xs.elements());
                    same_len(is.len(), xs.len())?;
                    frame.step(is.len() as u64)?;
                    frame.tally.take(base.len() as u64)?;
                    let mut sums: Vec<Option<Val>> = vec![None; base.len()];
                    for i in 0..is.len() {
                        let Ok(at) = in_range(is.get(i)?.int(), base.len()) else { continue };
                        let sum = match sums[at].take() {
                            Some(sum) => sum,
                            None => base.get(at)?,
                        };
                        let next = f.call2(frame, xs.get(i)?, sum)?;
                        sums[at] = Some(force(next, &elem, frame)?);
                    }
                    let result = collect(base.len(), &elem, frame, |_, k| match &sums[k] {
                        Some(sum) => Ok(sum.clone()),
                        None => base.get(k),
                    });
                    frame.tally.give(base.len() as u64);
                    result
                })
            }
            (Prim::Generate, [Arg::Size(n), Arg::Fun(f)]) => {
                let (n, elem) = (self.length(n)?, self.resolve(f.body.ty()));
                let f = self.function(f);
                Box::new(move |frame| {
                    collect(n, &elem, frame, |frame, i| f.call1(frame, Val::I64(i as i64)))
                        .map_err(|fault| fault.at(span))
                })
            }
            (Prim::Iterate, [Arg::Size(k), Arg::Fun(f), Arg::Term(x)]) => {
                let (k, ty) = (self.length(k)?, self.resolve(ty));
                let (f, x) = (self.function(f), self.term(x));
                Box::new(move |frame| {
                    let start = x(frame)?;
                    let mut value = force(start, &ty, frame)?;
                    for _ in 0..k {
                        frame.step(1).map_err(|fault| fault.at(span))?;
                        let next = f.call1(frame, value)?;
                        value = force(next, &ty, frame)?;
                    }
                    Ok(value)
                })
            }
            (Prim::Reorder, [Arg::Fun(f), Arg::Term(xs)]) => {
                let f = self.function(f);
                self.view(xs, span, move |xs, frame| {
                    let is = collect(xs.len(), &Ty::Scalar(Scalar::I64), frame, |frame, i| {
                        let at = f.call1(frame, Val::I64(i as i64))?;
                        in_range(at.int(), xs.len())?;
                        Ok(at)
                    })?;
                    Ok(Val::array(Array::Gather(Rc::clone(is.elements()), Rc::clone(xs))))
                })
            }
            _ => return Err("takes other arguments".to_string()),
        })
    }

    /// Primitives that rearrange all elements of an array, and those of [`Self::resized`].
    fn layout(&mut self, prim: Prim, args: &[Arg], ty: &DataType, span: Span) -> Result<Code, String> {
        Ok(match (prim, args) {
            (Prim::Zip, [Arg::Term(xs), Arg::Term(ys)]) => {
                let ys = self.term(ys);
                self.view(xs, span, move |xs, frame| {
                    let ys = ys(frame)?;
                    same_len(xs.len(), ys.elements().len())?;
                    Ok(Val::array(Array::Zip(1, Rc::clone(xs), Rc::clone(ys.elements()))))
                })
            }
            (Prim::Unzip, [Arg::Term(xs)]) => self.view(xs, span, |xs, _| {
                Ok(match &**xs {
                    Array::Zip(1, a, b) => Val::pair(Val::Array(Rc::clone(a)), Val::Array(Rc::clone(b))),
                    _ => Val::pair(
                        Val::array(Array::Component(false, Rc::clone(xs))),
                        Val::array(Array::Component(true, Rc::clone(xs))),
                    ),
                })
            }),
            (Prim::Split | Prim::AsVector, [Arg::Size(k), Arg::Term(xs)]) => {
                let (k, m) = (self.length(k)?, self.len_of(ty)?);
                self.view(xs, span, move |xs, _| {
                    same_len(xs.len(), k.saturating_mul(m))?;
                    Ok(array::slices(xs, m, k, k))
                })
            }
            (Prim::Join, [Arg::Term(xs)]) => {
                let width = self.inner_len_of(xs.ty())?;
                self.view(xs, span, move |xs, _| Ok(array::join(xs, width)))
            }
            (Prim::AsScalar, [Arg::Term(xs)]) => {
                let DataType::Array(_, vector) = xs.ty() else { return Err("needs an array".to_string()) };
                let DataType::Vector(k, _) = &**vector else { return Err("needs vectors".to_string()) };
                let width = self.length(k)?;
                self.view(xs, span, move |xs, _| Ok(array::join(xs, width)))
            }
            (Prim::Transpose | Prim::TransPar, [Arg::Term(xs)]) => {
                let len = self.len_of(ty)?;
                self.view(xs, span, move |xs, _| Ok(array::transpose(xs, len)))
            }
            (Prim::Reverse | Prim::ReverseSeq, [Arg::Term(xs)]) => {
                self.view(xs, span, |xs, _| Ok(array::slice(xs, xs.len() as isize - 1, -1, xs.len())))
            }
            (Prim::Slide, [Arg::Size(w), Arg::Size(s), Arg::Term(xs)]) => {
                let (w, s, len) = (self.length(w)?, self.length(s)?, self.len_of(ty)?);
                if s == 0 {
                    return Err("the step must be at least 1".to_string());
                }
                self.view(xs, span, move |xs, _| {
                    if len > 0 && (len - 1) * s + w > xs.len() {
                        return Err(Fault::new(format!("no windows of {w} in {} elements", xs.len())));
                    }
                    Ok(array::slices(xs, len, w, s))
                })
            }
            (Prim::Splat, [Arg::Size(k), Arg::Term(x)]) => {
                let (k, x) = (self.length(k)?, self.term(x));
                Box::new(move |frame| Ok(Val::array(Array::Repeat(x(frame)?, k))))
            }
            _ => return self.resized(prim, args, ty, span),
        })
    }

    /// Primitives that lengthen or shorten an array, and those of [`Self::at_places`].
    fn resized(&mut self, prim: Prim, args: &[Arg], ty: &DataType, span: Span) -> Result<Code, String> {
        Ok(match (prim, args) {
            (Prim::Pad, [Arg::Size(left), Arg::Size(right), Arg::Term(value), Arg::Term(xs)]) => {
                let (left, right, value) = (self.length(left)?, self.length(right)?, self.term(value));
                self.view(xs, span, move |xs, frame| {
                    let len = total(&[left, xs.len(), right])?;
                    if len == xs.len() {
                        return Ok(Val::Array(Rc::clone(xs)));
                    }
                    let value = value(frame)?;
                    Ok(Val::array(Array::Pad { base: Rc::clone(xs), left, len, value }))
                })
            }
            (Prim::PadClamp, [Arg::Size(left), Arg::Size(right), Arg::Term(xs)]) => {
                let (left, right) = (self.length(left)?, self.length(right)?);
                self.view(xs, span, move |xs, _| {
                    let len = total(&[left, xs.len(), right])?;
                    match (xs.len(), len) {
                        (0, 1..) => Err(Fault::new("`padClamp` of an empty array has no element to repeat")),
                        _ => Ok(Val::array(Array::Clamp { base: Rc::clone(xs), left, len })),
                    }
                })
            }
            (Prim::Concat, [Arg::Term(xs), Arg::Term(ys)]) => {
                let ys = self.term(ys);
                self.view(xs, span, move |xs, frame| {
                    let ys = ys(frame)?;
                    total(&[xs.len(), ys.elements().len()])?;
                    Ok(Val::array(Array::Concat(Rc::clone(xs), Rc::clone(ys.elements()))))
                })
            }
            (Prim::Take | Prim::Drop, [Arg::Size(k), Arg::Term(xs)]) => {
                let k = self.length(k)?;
                self.view(xs, span, move |xs, _| {
                    let Some(rest) = xs.len().checked_sub(k) else {
                        return Err(Fault::new(format!("there are {} elements, not {k}", xs.len())));
                    };
                    Ok(match prim {
                        Prim::Take => array::slice(xs, 0, 1, k),
                        _ => array::slice(xs, k as isize, 1, rest),
                    })
                })
            }
            _ => return self.at_places(prim, args, ty, span),
        })
    }

    /// Primitives that read or write where indices say, and those of [`Self::indices`].
    fn at_places(&mut self, prim: Prim, args: &[Arg], ty: &DataType, span: Span) -> Result<Code, String> {
        Ok(match (prim, args) {
            (Prim::Gather, [Arg::Term(is), Arg::Term(xs)]) => {
                let is = self.term(is);
                self.view(xs, span, move |xs, frame| {
                    let is = is(frame)?;
                    Ok(Val::array(Array::Gather(Rc::clone(is.elements()), Rc::clone(xs))))
                })
            }
            (Prim::Scatter, [Arg::Term(is), Arg::Term(base), Arg::Term(xs)]) => {
                let (is, xs) = (self.term(is), self.term(xs));
                let DataType::Array(_, elem) = ty else { return Err("makes an array".to_string()) };
                let elem = self.resolve(elem);
                self.view(base, span, move |base, frame| {
                    let (is, xs) = (is(frame)?, xs(frame)?);
                    let (is, xs) = (is.elements(), xs.elements());
                    same_len(is.len(), xs.len())?;
                    frame.step(is.len() as u64)?;
                    frame.tally.take(base.len() as u64)?;
                    let mut source = vec![None; base.len()];
                    for i in 0..is.len() {
                        source[in_range(is.get(i)?.int(), base.len())?] = Some(i);
                    }
                    let result = collect(base.len(), &elem, frame, |_, k| match source[k] {
                        Some(i) => xs.get(i),
                        None => base.get(k),
                    });
                    frame.tally.give(base.len() as u64);
                    result
                })
            }
            (Prim::Index, [Arg::Term(xs), Arg::Term(i)]) => {
                let i = self.term(i);
                self.view(xs, span, move |xs, frame| {
                    let i = i(frame)?.int();
                    xs.get(in_range(i, xs.len())?)
                })
            }
            _ => return self.indices(prim, args, ty, span),
        })
    }

    /// Primitives that make indices.
    fn indices(&mut self, prim: Prim, args: &[Arg], ty: &DataType, span: Span) -> Result<Code, String> {
        Ok(match (prim, args) {
            (Prim::Iota, [Arg::Size(n)]) => {
                let n = self.length(n)?;
                Box::new(move |frame| {
                    collect(n, &Ty::Scalar(Scalar::I64), frame, |_, i| Ok(Val::I64(i as i64)))
                        .map_err(|fault| fault.at(span))
                })
            }
            (Prim::IdxPred, [Arg::Size(n)]) => {
                let last = self.length(n)? as i64 - 1;
                Box::new(move |_| Ok(Val::I64(last)))
            }
            (Prim::AddIdx | Prim::SubIdx | Prim::MulIdx | Prim::DivIdx, [Arg::Term(x), Arg::Term(y)]) => {
                let (bound, x, y) = (self.len_of(ty)?, self.term(x), self.term(y));
                Box::new(move |frame| {
                    let (x, y) = (x(frame)?.int(), y(frame)?.int());
                    let result = match prim {
                        Prim::AddIdx => x.checked_add(y),
                        Prim::SubIdx => x.checked_sub(y),
                        Prim::MulIdx => x.checked_mul(y),
                        _ => Some(if y == 0 { 0 } else { x / y }),
                    };
                    match result {
                        Some(v) if (0..bound as i64).contains(&v) => Ok(Val::I64(v)),
                        _ => {
                            let message =
                                format!("`{}` of {x} and {y} is no index below {bound}", prim.name());
                            Err(Fault::new(message).at(span))
                        }
                    }
                })
            }
            (Prim::ToIdx, [Arg::Size(n), Arg::Term(x)]) => {
                let (n, x) = (self.length(n)? as i64, self.term(x));
                if n == 0 {
                    return Err("there is no index below 0".to_string());
                }
                Box::new(move |frame| Ok(Val::I64(x(frame)?.int().clamp(0, n - 1))))
            }
            _ => return Err("takes other arguments".to_string()),
        })
    }

    /// For a vector type: its lanes and their type.
    fn lanes(&self, ty: &DataType) -> Result<Option<(usize, Ty)>, String> {
        match ty {
            DataType::Vector(k, s) => Ok(Some((self.length(k)?, Ty::Scalar(*s)))),
            _ => Ok(None),
        }
    }
}

fn fail(message: String, span: Span) -> Code {
    Box::new(move |_| Err(Fault::new(message.clone()).at(span)))
}

fn same_len(a: usize, b: usize) -> Outcome<()> {
    if a == b { Ok(()) } else { Err(Fault::new(format!("the lengths {a} and {b} differ"))) }
}

fn total(parts: &[usize]) -> Outcome<usize> {
    let sum = parts.iter().try_fold(0usize, |sum, part| sum.checked_add(*part));
    sum.filter(|n| isize::try_from(*n).is_ok())
        .ok_or_else(|| Fault::limit("an array is too long".to_string()))
}
