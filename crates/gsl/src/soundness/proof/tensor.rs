//! Tensors of a proof: extents, and the element at each position.

use std::rc::Rc;

use super::case::{Case, Mode, Step, unproved};
use super::element::Real;
use super::int::Int;
use super::types::Ty;

/// The element at a place, one integer an axis.
pub(super) type At = Rc<dyn Fn(&mut Case, &[Int]) -> Step<Rc<Real>>>;
/// The element at a place of the row-major order.
pub(super) type Flat = Rc<dyn Fn(&mut Case, &Int) -> Step<Rc<Real>>>;

/// A tensor.
#[derive(Clone)]
pub(super) struct Tensor {
    pub shape: Vec<Int>,
    /// The number of its elements; after a reshape that of the operand.
    pub count: Int,
    pub ty: Ty,
    pub at: At,
    /// Where the row-major order is kept.
    pub flat: Option<Flat>,
    /// The elements of a list of integers.
    pub value: Option<Rc<Vec<Int>>>,
}

impl Tensor {
    /// A tensor whose element is a function of the place.
    pub fn new(shape: Vec<Int>, ty: Ty, at: At) -> Tensor {
        let count = product(&shape);
        Tensor { shape, count, ty, at, flat: None, value: None }
    }

    /// An input of the pattern.
    pub fn input(id: usize, shape: Vec<Int>, ty: Ty) -> Tensor {
        let extents = shape.clone();
        let at: At =
            Rc::new(move |case, place| Ok(Rc::new(Real::Read(id, case.norm(&offset(&extents, place))))));
        let flat: Flat = Rc::new(move |case, at| Ok(Rc::new(Real::Read(id, case.norm(at)))));
        Tensor { count: product(&shape), shape, ty, at, flat: Some(flat), value: None }
    }

    /// A list of integers that are known.
    pub fn list(id: usize, items: Vec<Int>, ty: Ty) -> Tensor {
        let mut t = Tensor::input(id, vec![Int::from(items.len() as i64)], ty);
        t.value = Some(Rc::new(items));
        t
    }

    pub fn rank(&self) -> usize {
        self.shape.len()
    }

    pub fn at(&self, case: &mut Case, place: &[Int]) -> Step<Rc<Real>> {
        case.pay(1)?;
        (self.at)(case, place)
    }

    /// The element at a place of the row-major order.
    pub fn flat(&self, case: &mut Case, at: &Int) -> Step<Rc<Real>> {
        case.pay(1)?;
        if let Some(flat) = &self.flat {
            return flat(case, at);
        }
        // If only one axis is not 1, it determines the order. Otherwise the position is split.
        let mut place = Vec::new();
        let mut rest = at.clone();
        for (d, n) in self.shape.iter().enumerate() {
            let inner = product(&self.shape[d + 1..]);
            if case.norm(n).is(1) {
                place.push(Int::default());
            } else if case.norm(&inner).is(1) {
                place.push(rest.clone());
                rest = Int::default();
            } else {
                let q = Int::fun("div", vec![rest.clone(), inner.clone()]);
                rest = rest.minus(&q.times(&inner));
                place.push(q);
            }
        }
        self.at(case, &place)
    }

    /// The integers of a list that decides a shape.
    pub fn ints(&self) -> Step<Rc<Vec<Int>>> {
        match &self.value {
            Some(value) => Ok(value.clone()),
            None => unproved("a shape depends on values that are not known"),
        }
    }
}

pub(super) fn product(shape: &[Int]) -> Int {
    shape.iter().fold(Int::from(1), |p, n| p.times(n))
}

/// The place in the row-major order.
pub(super) fn offset(shape: &[Int], place: &[Int]) -> Int {
    shape.iter().zip(place).fold(Int::default(), |at, (n, i)| at.times(n).plus(i))
}

/// The extents that shapes are broadcast to, and for each shape which of its axes are repeated.
pub(super) fn broadcast(case: &mut Case, shapes: &[&[Int]]) -> Step<(Vec<Int>, Vec<Vec<bool>>)> {
    let rank = shapes.iter().map(|s| s.len()).max().unwrap_or(0);
    let mut out = vec![Int::from(1); rank];
    let mut repeats: Vec<Vec<bool>> = shapes.iter().map(|s| vec![false; s.len()]).collect();
    for (d, extent) in out.iter_mut().enumerate() {
        // Which shapes have the axis, and where.
        let have: Vec<(usize, usize)> =
            (0..shapes.len()).filter_map(|k| Some((k, (d + shapes[k].len()).checked_sub(rank)?))).collect();
        let mut wide: Vec<(usize, usize)> = Vec::new();
        for (k, a) in have {
            let n = case.norm(&shapes[k][a]);
            let so_far = case.norm(extent);
            if n.is(1) {
                repeats[k][a] = true;
            } else if so_far.is(1) {
                wide.iter().for_each(|(j, b)| repeats[*j][*b] = true);
                wide = vec![(k, a)];
                *extent = n;
            } else if n == so_far {
                wide.push((k, a));
            } else if case.mode == Mode::Show {
                return unproved(format!("the extents `{so_far}` and `{n}` may not go together"));
            } else {
                match case.choose(3) {
                    0 => {
                        case.equation(&n.minus(&so_far))?;
                        wide.push((k, a));
                    }
                    1 => {
                        case.equation(&so_far.offset(-1))?;
                        wide.iter().for_each(|(j, b)| repeats[*j][*b] = true);
                        wide = vec![(k, a)];
                        *extent = n;
                    }
                    _ => {
                        case.equation(&n.offset(-1))?;
                        repeats[k][a] = true;
                    }
                }
            }
        }
    }
    Ok((out, repeats))
}

/// The place in an operand that is broadcast to a place of the result.
pub(super) fn aligned(case: &Case, shape: &[Int], repeats: &[bool], place: &[Int]) -> Vec<Int> {
    let skip = place.len().saturating_sub(shape.len());
    (0..shape.len())
        .map(
            |d| {
                if repeats[d] || case.norm(&shape[d]).is(1) {
                    Int::default()
                } else {
                    place[skip + d].clone()
                }
            },
        )
        .collect()
}

/// Element by element over tensors that are broadcast.
pub(super) fn pointwise(
    case: &mut Case,
    inputs: &[Tensor],
    ty: Ty,
    f: Rc<dyn Fn(Vec<Rc<Real>>) -> Rc<Real>>,
) -> Step<Tensor> {
    let shapes: Vec<&[Int]> = inputs.iter().map(|t| &t.shape[..]).collect();
    let (shape, repeats) = broadcast(case, &shapes)?;
    let plain = inputs
        .iter()
        .zip(&repeats)
        .all(|(t, r)| t.rank() == shape.len() && (0..t.rank()).all(|d| !r[d] || case.norm(&shape[d]).is(1)));
    let (parts, g) = (inputs.to_vec(), f.clone());
    let at: At = Rc::new(move |case, place| {
        let mut elements = Vec::new();
        for (t, r) in parts.iter().zip(&repeats) {
            let place = aligned(case, &t.shape, r, place);
            elements.push(t.at(case, &place)?);
        }
        Ok(g(elements))
    });
    let mut out = Tensor::new(shape, ty, at);
    if plain {
        let parts = inputs.to_vec();
        if let [one] = inputs {
            out.count = one.count.clone();
        }
        out.flat = Some(Rc::new(move |case, at| {
            let elements = parts.iter().map(|t| t.flat(case, at)).collect::<Step<Vec<_>>>()?;
            Ok(f(elements))
        }));
    }
    Ok(out)
}
