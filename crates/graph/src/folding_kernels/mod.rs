//! Fast constant folding for the most frequent operators, on bytes and typed slices.
//!
//! This is a shortcut beside the operators' programs ([`crate::operators`]), not a second
//! definition. Its results equal those of the programs bit for bit; a property test compares the
//! two. If it does not know a call, it says so, and the programs are used. The largest results are
//! as large as a model's weights, so each element is touched only once.
//!
//! Not here: operators whose sums have an order, functions of the mathematical library, and (except
//! for views) element types of fewer than eight bits.

mod arithmetic;
mod moving_elements;

pub(crate) use moving_elements::MOST_PARTS;

use crate::attribute::Attribute;
use crate::graph::Operator;
use crate::tensor::Tensor;

/// The results of a call for these inputs, in order; `None` if the call is not supported here, or
/// has no result.
///
/// `outputs` is the number of requested results. A result of more than `most` bytes is not made.
/// Time is linear in the size of inputs and results.
pub fn evaluate(
    op: &Operator,
    attributes: &[Attribute],
    inputs: &[Option<&Tensor>],
    outputs: usize,
    most: usize,
) -> Option<Vec<Tensor>> {
    if !op.is_standard() {
        return None;
    }
    let call = Call { attributes, inputs, outputs, most };
    let one = |tensor: Tensor| vec![tensor];
    match &*op.name {
        "Identity" => call.input(0).map(|x| one(view(x, x.dims.clone()))),
        "Reshape" => moving_elements::reshape(&call).map(one),
        "Flatten" => moving_elements::flatten(&call).map(one),
        "Squeeze" => moving_elements::squeeze(&call).map(one),
        "Unsqueeze" => moving_elements::unsqueeze(&call).map(one),
        "Transpose" => moving_elements::transpose(&call).map(one),
        "Expand" => moving_elements::expand(&call).map(one),
        "Concat" => moving_elements::concat(&call).map(one),
        "Slice" => moving_elements::slice(&call).map(one),
        "Split" => moving_elements::split(&call),
        "Gather" => moving_elements::gather(&call).map(one),
        "Cast" => arithmetic::cast(&call).map(one),
        "Add" | "Sub" | "Mul" | "Div" => arithmetic::binary(&op.name, &call).map(one),
        "Max" | "Min" => arithmetic::extremes(&op.name, &call).map(one),
        "Clip" => arithmetic::clip(&call).map(one),
        "Neg" | "Abs" | "Sqrt" | "Reciprocal" => arithmetic::unary(&op.name, &call).map(one),
        _ => None,
    }
}

/// A call with all its inputs known.
struct Call<'a> {
    attributes: &'a [Attribute],
    inputs: &'a [Option<&'a Tensor>],
    outputs: usize,
    most: usize,
}

impl<'a> Call<'a> {
    /// The bytes of a result of these extents, if it is not too large.
    fn room(&self, dims: &[usize], width: usize) -> Option<usize> {
        count(dims)?.checked_mul(width).filter(|bytes| *bytes <= self.most)
    }

    fn input(&self, k: usize) -> Option<&'a Tensor> {
        self.inputs.get(k).copied().flatten()
    }

    fn attribute(&self, name: &str) -> Option<&'a Attribute> {
        self.attributes.iter().find(|a| &*a.name == name)
    }

    /// An integer; `None` if the attribute is there and none.
    fn int(&self, name: &str, default: i64) -> Option<i64> {
        self.attribute(name).map_or(Some(default), |a| a.value.int())
    }

    /// Integers from input `k`, or else from an attribute. The outer `None`: there is something
    /// else.
    fn list(&self, k: usize, name: &str) -> Option<Option<Vec<i64>>> {
        match (self.input(k), self.attribute(name)) {
            (Some(tensor), _) => tensor.to_ints().map(Some),
            (None, Some(attribute)) => attribute.value.ints().map(|list| Some(list.to_vec())),
            (None, None) => Some(None),
        }
    }
}

/// The axis with this number, counted from the end if negative.
fn axis(axis: i64, rank: usize) -> Option<usize> {
    let positive = if axis < 0 { axis + rank as i64 } else { axis };
    usize::try_from(positive).ok().filter(|axis| *axis < rank)
}

/// The extents that these broadcast to.
fn broadcast(shapes: &[&[usize]]) -> Option<Vec<usize>> {
    let rank = shapes.iter().map(|s| s.len()).max().unwrap_or(0);
    let mut out = vec![1; rank];
    for shape in shapes {
        for (to, from) in out[rank - shape.len()..].iter_mut().zip(shape.iter()) {
            if *to == 1 {
                *to = *from;
            } else if *from != 1 && from != to {
                return None;
            }
        }
    }
    Some(out)
}

/// The distance of neighbours along each axis, in elements.
fn strides(dims: &[usize]) -> Vec<isize> {
    let mut strides = vec![1isize; dims.len()];
    for k in (1..dims.len()).rev() {
        strides[k - 1] = strides[k] * dims[k] as isize;
    }
    strides
}

/// The distances of an operand that is broadcast to more or larger extents: 0 along those that it
/// lacks.
fn spread(dims: &[usize], to: usize) -> Vec<isize> {
    let mut all = vec![0; to - dims.len()];
    all.extend(strides(dims).iter().zip(dims).map(|(s, n)| if *n == 1 { 0 } else { *s }));
    all
}

/// The same elements with other extents.
fn view(tensor: &Tensor, dims: Vec<usize>) -> Tensor {
    Tensor { dims, name: None, extra: Default::default(), ..tensor.clone() }
}

fn count(dims: &[usize]) -> Option<usize> {
    crate::tensor::elements(dims)
}
