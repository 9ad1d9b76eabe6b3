//! Parts from which the programs of operators are built: binders, loops without a strategy, and
//! calls of the library.

use std::collections::BTreeMap;

use functional::build::{self, Supply};
use functional::{Arg, Binder, DataType, Lambda, Prim, Term, Var, walk};
use loops::{Scalar, Size};

use super::value::{Val, index};
use super::{Refusal, library};

/// The extents of a tensor, outermost first.
pub type Extents = Vec<Size>;

/// The state of one program: fresh variables.
#[derive(Debug, Default)]
pub(crate) struct Cx {
    supply: Supply,
    /// Bindings that [`Cx::release`] puts around a term.
    held: Vec<(functional::Binder, Term)>,
}

/// What has one index a dimension.
pub type Body<'f> = &'f mut dyn FnMut(&mut Cx, &[Val]) -> Val;

/// What has one index a dimension and an accumulator.
pub type Step<'f> = &'f mut dyn FnMut(&mut Cx, &[Val], Val) -> Val;

impl Cx {
    /// No variables yet.
    pub fn new() -> Cx {
        Cx { supply: Supply::new(), held: Vec::new() }
    }

    /// The term with fresh numbers for all its binders.
    pub(crate) fn refreshed(&mut self, term: &Term) -> Term {
        walk::refresh(term, &mut self.supply)
    }

    /// A fresh parameter of the definition.
    pub fn parameter(&mut self, name: &str, ty: DataType) -> functional::Binder {
        self.supply.binder(name, ty)
    }

    /// The function of one parameter of this name and type.
    pub(super) fn function(
        &mut self,
        name: &str,
        ty: DataType,
        body: impl FnOnce(&mut Cx, Val) -> Val,
    ) -> Result<Lambda, Refusal> {
        let x = self.supply.binder(name, ty);
        let body = body(self, build::var(&x).into()).term()?;
        Ok(Lambda { params: vec![x], body })
    }

    /// The array whose element `i` is `f i`.
    pub fn generate(&mut self, n: &Size, f: impl FnOnce(&mut Cx, Val) -> Val) -> Val {
        match self.function("i", DataType::Idx(n.clone()), f) {
            Ok(f) => build::apply(Prim::Generate, vec![Arg::Size(n.clone()), Arg::Fun(f)]).into(),
            Err(refusal) => refusal.into(),
        }
    }

    /// The tensor of these extents whose element at each position is `f` of the position.
    pub fn tensor(&mut self, shape: &[Size], f: Body) -> Val {
        self.tensor_from(shape, &mut Vec::new(), f)
    }

    fn tensor_from(&mut self, shape: &[Size], place: &mut Vec<Val>, f: Body) -> Val {
        match shape.split_first() {
            None => f(self, place),
            Some((n, rest)) => self.generate(n, |cx, i| {
                place.push(i);
                let row = cx.tensor_from(rest, place, f);
                place.pop();
                row
            }),
        }
    }

    /// `f i acc` for all `i` below `n` in order.
    pub fn fold(&mut self, n: &Size, init: Val, f: impl FnOnce(&mut Cx, Val, Val) -> Val) -> Val {
        self.accumulate(Prim::Reduce, n, init, f)
    }

    /// A reduction or a scan over the indices below `n`.
    fn accumulate(
        &mut self,
        prim: Prim,
        n: &Size,
        init: Val,
        f: impl FnOnce(&mut Cx, Val, Val) -> Val,
    ) -> Val {
        let built = (|| -> Result<Val, Refusal> {
            let init = init.term()?;
            let i = self.supply.binder("k", DataType::Idx(n.clone()));
            let acc = self.supply.binder("acc", init.ty().clone());
            let body = f(self, build::var(&i).into(), build::var(&acc).into()).term()?;
            let f = Lambda { params: vec![i, acc], body };
            let indices = self.generate(n, |_, i| i).term()?;
            Ok(build::reduce(prim, f, init, indices).into())
        })();
        built.unwrap_or_else(Val::from)
    }

    /// `f place acc` for all places of a box, the last index fastest.
    pub(crate) fn fold_all(&mut self, shape: &[Size], init: Val, f: Step) -> Val {
        self.fold_from(shape, &mut Vec::new(), init, f)
    }

    fn fold_from(&mut self, shape: &[Size], place: &mut Vec<Val>, init: Val, f: Step) -> Val {
        match shape.split_first() {
            None => f(self, place, init),
            Some((n, rest)) => self.fold(n, init, |cx, i, acc| {
                place.push(i);
                let acc = cx.fold_from(rest, place, acc, f);
                place.pop();
                acc
            }),
        }
    }

    /// All accumulators of a fold: element `i` is the accumulator after element `i`.
    pub fn scan(&mut self, n: &Size, init: Val, f: impl FnOnce(&mut Cx, Val, Val) -> Val) -> Val {
        self.accumulate(Prim::ScanSeq, n, init, f)
    }

    /// `let name = value in f name`; atoms are used as they are.
    pub fn bind(&mut self, name: &str, value: Val, f: impl FnOnce(&mut Cx, Val) -> Val) -> Val {
        if value.is_atom() {
            return f(self, value);
        }
        let built = (|| -> Result<Val, Refusal> {
            let value = value.term()?;
            let x = self.supply.binder(name, value.ty().clone());
            let body = f(self, build::var(&x).into()).term()?;
            Ok(build::let_in(x, value, body).into())
        })();
        built.unwrap_or_else(Val::from)
    }

    /// The name of a value that [`Cx::release`] will bind: for values at the top, where
    /// [`Cx::bind`] would turn the builder inside out.
    pub fn hold(&mut self, name: &str, value: Val) -> Val {
        match value.term() {
            Ok(value) => {
                let x = self.supply.binder(name, value.ty().clone());
                let var = build::var(&x);
                self.held.push((x, value));
                var.into()
            }
            Err(refusal) => refusal.into(),
        }
    }

    /// How many values are held.
    pub(super) fn holds(&self) -> usize {
        self.held.len()
    }

    /// Forgets all held values but the first ones, which nothing uses.
    pub(super) fn hold_only(&mut self, count: usize) {
        self.held.truncate(count);
    }

    /// All held values bound around `body`, the first one outermost.
    pub fn release(&mut self, body: Val) -> Val {
        let mut body = body;
        for (x, value) in std::mem::take(&mut self.held).into_iter().rev() {
            body = match body.term() {
                Ok(body) => build::let_in(x, value, body).into(),
                Err(refusal) => return refusal.into(),
            };
        }
        body
    }

    /// The program `name` of the library at these arguments. Its type parameters are those that the
    /// arguments' types give, in order.
    pub fn call(&mut self, name: &str, args: &[Val]) -> Val {
        let built = (|| -> Result<Val, Refusal> {
            let terms: Vec<Term> = args.iter().map(|a| a.clone().term()).collect::<Result<_, _>>()?;
            let types: Vec<DataType> = terms.iter().map(|t| t.ty().clone()).collect();
            let definition = library::definition(name, &types)?;
            let mut sizes = BTreeMap::new();
            for (param, ty) in definition.params.iter().zip(&types) {
                match_sizes(&param.ty, ty, &mut sizes);
            }
            let body = walk::map_sizes(&definition.body, &mut |size| {
                size.substitute(&|name| sizes.get(name).cloned())
            });
            let mut bound = Vec::new();
            let mut replacements = BTreeMap::new();
            for (param, term) in definition.params.iter().zip(terms) {
                let value = Val::from(term.clone());
                let atom = if value.is_atom()
                    || walk::occurrences(&body, &param.var) <= 1 && !walk::used_in_function(&body, &param.var)
                {
                    term
                } else {
                    let x = self.supply.binder(param.var.name.as_str(), term.ty().clone());
                    let var = build::var(&x);
                    bound.push((x, term));
                    var
                };
                replacements.insert(param.var.clone(), atom);
            }
            let mut body = walk::substitute(&body, &replacements, &mut self.supply);
            for (x, value) in bound.into_iter().rev() {
                body = build::let_in(x, value, body).map_err(|e| Refusal::internal(e.to_string()))?;
            }
            Ok(body.into())
        })();
        built.unwrap_or_else(Val::from)
    }

    /// A term with values for its free variables.
    pub fn instance<'v>(&mut self, term: &Term, values: impl Iterator<Item = (&'v Binder, &'v Val)>) -> Val {
        let terms: Result<BTreeMap<Var, Term>, Refusal> =
            values.map(|(binder, value)| Ok((binder.var.clone(), value.clone().term()?))).collect();
        match terms {
            Ok(terms) => walk::substitute(term, &terms, &mut self.supply).into(),
            Err(refusal) => refusal.into(),
        }
    }

    /// An operation of the library on numbers, with constants among its arguments.
    pub(crate) fn call_with(&mut self, name: &str, x: &Val, constants: &[f64]) -> Val {
        let scalar = x.scalar();
        let mut args: Vec<Val> = constants.iter().map(|c| super::value::number(scalar, *c)).collect();
        args.push(x.clone());
        self.call(name, &args)
    }

    /// The array with one more dimension of extent 1 in front.
    pub fn single(&mut self, value: Val) -> Val {
        self.generate(&Size::constant(1), |_, _| value)
    }
}

/// The elements of a tensor in the same order with other extents of the same product; a view.
pub fn reshape(cx: &mut Cx, val: &Val, from: &[Size], to: &[Size]) -> Val {
    if from == to {
        return val.clone();
    }
    let mut flat = match from.is_empty() {
        true => cx.single(val.clone()),
        false => val.clone(),
    };
    for _ in 1..from.len() {
        flat = match flat.term() {
            Ok(term) => build::join(term).into(),
            Err(refusal) => return refusal.into(),
        };
    }
    if to.is_empty() {
        return flat.at(&[super::value::int(0)]);
    }
    for k in (1..to.len()).rev() {
        let term = match flat.term() {
            Ok(term) => term,
            Err(refusal) => return refusal.into(),
        };
        let DataType::Array(_, row) = term.ty().clone() else {
            return Refusal::internal("a split of what is no array").into();
        };
        let ty = DataType::array(product(&to[..k]), DataType::Array(to[k].clone(), row));
        flat = build::apply_as(Prim::Split, vec![Arg::Size(to[k].clone()), Arg::Term(term)], &ty).into();
    }
    flat
}

/// `base` with the elements at `places` replaced by `values`, a later one winning.
pub fn scatter(places: Val, base: Val, values: Val) -> Val {
    match (places.term(), base.term(), values.term()) {
        (Ok(places), Ok(base), Ok(values)) => {
            build::apply(Prim::Scatter, [places, base, values].map(Arg::Term).to_vec()).into()
        }
        (Err(refusal), ..) | (_, Err(refusal), _) | (.., Err(refusal)) => refusal.into(),
    }
}

/// A matrix that is made row by row, its rows as a tensor of these extents.
pub(crate) fn split_rows(matrix: Val, extents: &[Size]) -> Val {
    // A temporary that is written directly to its destination takes no memory. It keeps the split
    // from becoming one of the operand.
    extents[1..].iter().rev().fold(matrix, |rows, n| match rows.stored().term() {
        Ok(term) => build::split(n.clone(), term).into(),
        Err(refusal) => refusal.into(),
    })
}

/// The product of two matrices by the library's packed tiles, if there is one for their elements.
pub(crate) fn fast_product(cx: &mut Cx, a: Val, b: Val) -> Option<Val> {
    match scalar_in(&a.ty()) {
        Scalar::F32 => Some(cx.call("sproduct_fast", &[a, b])),
        Scalar::F64 => Some(cx.call("dproduct_fast", &[a, b])),
        _ => None,
    }
}

fn scalar_in(ty: &DataType) -> Scalar {
    match ty {
        DataType::Array(_, t) => scalar_in(t),
        DataType::Scalar(s) => *s,
        _ => Scalar::Bool,
    }
}

/// The size parameters for which `pattern` equals `ty`. A dimension of the pattern is a parameter.
fn match_sizes(pattern: &DataType, ty: &DataType, sizes: &mut BTreeMap<loops::Name, Size>) {
    match (pattern, ty) {
        (DataType::Array(n, s), DataType::Array(m, t)) => {
            if let Some(name) = n.as_param() {
                sizes.entry(name.clone()).or_insert_with(|| m.clone());
            }
            match_sizes(s, t, sizes);
        }
        (DataType::Idx(n), DataType::Idx(m)) => {
            if let Some(name) = n.as_param() {
                sizes.entry(name.clone()).or_insert_with(|| m.clone());
            }
        }
        (DataType::Pair(a, b), DataType::Pair(c, d)) => {
            match_sizes(a, c, sizes);
            match_sizes(b, d, sizes);
        }
        _ => {}
    }
}

/// The type of tensors of these extents and elements.
pub fn tensor_type(shape: &[Size], scalar: Scalar) -> DataType {
    shape.iter().rev().fold(DataType::Scalar(scalar), |ty, n| DataType::array(n.clone(), ty))
}

/// The extents that operands are broadcast to: aligned at the last dimension, an extent of 1
/// repeats.
///
/// # Errors
/// If two extents differ and none is 1.
pub fn broadcast(shapes: &[&[Size]]) -> Result<Extents, Refusal> {
    let rank = shapes.iter().map(|s| s.len()).max().unwrap_or(0);
    let one = Size::constant(1);
    let mut out = vec![one.clone(); rank];
    for shape in shapes {
        for (to, from) in out[rank - shape.len()..].iter_mut().zip(shape.iter()) {
            if *to == one {
                *to = from.clone();
            } else if *from != one && from != to {
                return Err(Refusal::inputs(format!("the extents {to} and {from} do not go together")));
            }
        }
    }
    Ok(out)
}

/// The place in an operand of these extents that is broadcast to the place `indices` of the result.
pub fn aligned(shape: &[Size], indices: &[Val]) -> Vec<Val> {
    let skip = indices.len().saturating_sub(shape.len());
    shape
        .iter()
        .zip(&indices[skip..])
        .map(|(n, i)| if n.as_constant() == Some(1) { index(0, n) } else { i.clone() })
        .collect()
}

/// The product of extents.
pub fn product(shape: &[Size]) -> Size {
    shape.iter().fold(Size::constant(1), |p, n| p * n.clone())
}

/// A matrix that is made row by row, with its columns as a tensor of these extents.
pub(super) fn folded(matrix: Val, extents: &[Size]) -> Val {
    let flat = match matrix.term() {
        Ok(term) => Val::from(build::join(term)),
        Err(refusal) => return refusal.into(),
    };
    split_rows(flat, &[&[Size::constant(1)], extents].concat())
}
