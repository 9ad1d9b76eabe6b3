//! A call as inference sees it, and arithmetic on extents that are only partly known.

use arith::number::floor_div;
use loops::Size;

use crate::graph::{Graph, Node, ValueId};
use crate::tensor::Tensor;
use crate::types::{Dim, ElementType, Shape, TensorType, ValueType};

/// The types of a call's results, as far as they are known; or an error, as the end of a sentence.
pub(super) type Found = Result<Vec<Option<ValueType>>, String>;

/// A call of an operator in a graph.
#[derive(Clone, Copy)]
pub(super) struct Call<'g> {
    pub graph: &'g Graph,
    pub node: &'g Node,
    pub opset: i64,
}

impl<'g> Call<'g> {
    pub fn input(&self, k: usize) -> Option<ValueId> {
        self.node.input(k)
    }

    pub fn has(&self, k: usize) -> bool {
        self.input(k).is_some()
    }

    pub(crate) fn value_type(&self, k: usize) -> Option<&'g ValueType> {
        self.graph.value(self.input(k)?).ty()
    }

    pub fn ty(&self, k: usize) -> Option<&'g TensorType> {
        self.value_type(k)?.tensor()
    }

    pub fn elem(&self, k: usize) -> Option<ElementType> {
        self.ty(k).map(|t| t.elem).filter(|e| *e != ElementType::Other(0))
    }

    pub fn shape(&self, k: usize) -> Option<&'g Shape> {
        self.ty(k)?.shape.as_ref()
    }

    pub fn rank(&self, k: usize) -> Option<usize> {
        self.shape(k).map(Vec::len)
    }

    pub fn constant(&self, k: usize) -> Option<&'g Tensor> {
        self.graph.constant(self.input(k)?)
    }

    /// The elements of a small integer tensor, as far as they are known.
    pub fn elements(&self, k: usize) -> Option<Vec<Dim>> {
        known_elements(self.graph, self.input(k)?)
    }

    /// The integers of a tensor, if all are known.
    pub fn ints(&self, k: usize) -> Option<Vec<i64>> {
        if let Some(tensor) = self.constant(k) {
            return tensor.to_ints();
        }
        self.elements(k)?.iter().map(Dim::known).collect()
    }

    /// The one integer of a tensor.
    pub fn int(&self, k: usize) -> Option<i64> {
        match self.ints(k)?.as_slice() {
            [one] => Some(*one),
            _ => None,
        }
    }

    /// The length of a tensor of one dimension.
    pub fn length(&self, k: usize) -> Option<usize> {
        match self.shape(k)?.as_slice() {
            [length] => usize::try_from(length.known()?).ok(),
            _ => None,
        }
    }

    /// Integers that older versions have as an attribute and newer ones as an input. `None` if the
    /// input is there and not known, `Some(None)` if they are absent.
    pub(crate) fn moved_ints(&self, attribute: &str, input: usize) -> Option<Option<Vec<i64>>> {
        match (self.node.ints(attribute), self.has(input)) {
            (Some(list), _) => Some(Some(list.to_vec())),
            (None, true) => Some(Some(self.ints(input)?)),
            (None, false) => Some(None),
        }
    }
}

/// The elements of a small integer tensor, as far as they are known.
pub(super) fn known_elements(graph: &Graph, id: ValueId) -> Option<Vec<Dim>> {
    // A value that has become a constant may have had less known of it before.
    let Some(tensor) = graph.constant(id) else {
        return graph.value(id).known_elements().map(<[Dim]>::to_vec);
    };
    let small = tensor.dims.len() <= 1 && tensor.count() <= MAX_KNOWN;
    small.then(|| tensor.to_ints()).flatten().map(|list| list.into_iter().map(Dim::Known).collect())
}

/// Tensors with more elements than this are not followed.
pub(super) const MAX_KNOWN: usize = 256;
/// Shapes of a higher rank are not inferred.
pub(super) const MAX_RANK: usize = 64;

/// One result.
pub(super) fn one(ty: Option<TensorType>) -> Found {
    Ok(vec![ty.map(Into::into)])
}

/// A type with these extents, where the element type is known.
pub(super) fn typed(elem: Option<ElementType>, shape: Option<Shape>) -> Option<TensorType> {
    Some(TensorType { elem: elem?, shape: shape.filter(|s| s.len() <= MAX_RANK) })
}

/// An axis between `-rank` and `rank - 1` as one from the front.
pub(super) fn axis(axis: i64, rank: usize) -> Result<usize, String> {
    let rank = rank as i64;
    let from_front = if axis < 0 { axis + rank } else { axis };
    match usize::try_from(from_front) {
        Ok(found) if from_front < rank => Ok(found),
        _ => Err(format!("has the axis {axis} where there are {rank} dimensions")),
    }
}

fn with(a: &Dim, b: &Dim, known: impl Fn(i64, i64) -> Option<i64>, size: impl Fn(Size, Size) -> Size) -> Dim {
    if let (Dim::Known(a), Dim::Known(b)) = (a, b) {
        return known(*a, *b).map_or(Dim::Unknown, Dim::Known);
    }
    match (a.size(), b.size()) {
        (Some(a), Some(b)) if weight(&a) + weight(&b) <= 16 => size(a, b).into(),
        _ => Dim::Unknown,
    }
}

/// The length of an expression. Expressions of many terms are dropped, because they are not useful.
fn weight(size: &Size) -> usize {
    size.terms().map(|(_, factors)| 1 + factors.len()).sum()
}

pub(super) fn add(a: &Dim, b: &Dim) -> Dim {
    with(a, b, i64::checked_add, |a, b| a + b)
}

pub(super) fn sub(a: &Dim, b: &Dim) -> Dim {
    with(a, b, i64::checked_sub, |a, b| a + Size::constant(-1) * b)
}

pub(super) fn mul(a: &Dim, b: &Dim) -> Dim {
    if *a == Dim::Known(0) || *b == Dim::Known(0) {
        return Dim::Known(0);
    }
    if *a == Dim::Known(1) {
        return b.clone();
    }
    if *b == Dim::Known(1) {
        return a.clone();
    }
    with(a, b, i64::checked_mul, |a, b| a * b)
}

/// The quotient, rounded down; the divisor is a positive number.
pub(super) fn div(a: &Dim, b: i64) -> Dim {
    if b == 1 {
        return a.clone();
    }
    if b <= 0 {
        return Dim::Unknown;
    }
    match a {
        Dim::Known(a) => floor_div(*a, b).map_or(Dim::Unknown, Dim::Known),
        _ => a.size().map_or(Dim::Unknown, |a| a.div(&Size::constant(b)).into()),
    }
}

/// The exact quotient of two products, if it is surely one.
pub(super) fn exact(a: &Dim, b: &Dim) -> Dim {
    match (a, b) {
        (_, Dim::Known(1)) => a.clone(),
        (Dim::Known(a), Dim::Known(b)) if *b > 0 && a % b == 0 => Dim::Known(a / b),
        (_, Dim::Known(b)) => a.size().map_or(Dim::Unknown, |a| a.div(&Size::constant(*b)).into()),
        _ if a == b && *a != Dim::Unknown => Dim::Known(1),
        _ => match (a.size(), b.size()) {
            (Some(a), Some(b)) => a.div(&b).into(),
            _ => Dim::Unknown,
        },
    }
}

pub(super) fn product<'a>(dims: impl IntoIterator<Item = &'a Dim>) -> Dim {
    dims.into_iter().fold(Dim::Known(1), |a, b| mul(&a, b))
}

pub(super) fn sum<'a>(dims: impl IntoIterator<Item = &'a Dim>) -> Dim {
    dims.into_iter().fold(Dim::Known(0), |a, b| add(&a, b))
}

/// The better known one of two extents that are equal.
pub(super) fn meet(a: &Dim, b: &Dim) -> Result<Dim, String> {
    match (a, b) {
        (Dim::Known(x), Dim::Known(y)) if x != y => Err(format!("needs {x} and {y} to be the same extent")),
        (Dim::Known(_), _) | (Dim::Symbolic(_), Dim::Unknown) => Ok(a.clone()),
        (_, Dim::Known(_)) | (Dim::Unknown, _) => Ok(b.clone()),
        _ => Ok(a.clone()),
    }
}

/// Two extents of one dimension of operands that are broadcast.
fn broadcast_dim(a: &Dim, b: &Dim) -> Result<Dim, String> {
    Ok(match (a, b) {
        (Dim::Known(1), _) => b.clone(),
        (_, Dim::Known(1)) => a.clone(),
        (Dim::Known(x), Dim::Known(y)) if x != y => {
            return Err(format!("has operands that can't be broadcast: an extent of {x} meets one of {y}"));
        }
        (Dim::Known(_), _) => a.clone(),
        (_, Dim::Known(_)) => b.clone(),
        _ if a == b => a.clone(),
        _ => Dim::Unknown,
    })
}

/// The shape of operands that are broadcast together.
pub(super) fn broadcast(a: &[Dim], b: &[Dim]) -> Result<Shape, String> {
    let rank = a.len().max(b.len());
    let one = Dim::Known(1);
    let at =
        |shape: &[Dim], k: usize| k.checked_sub(rank - shape.len()).map_or(one.clone(), |k| shape[k].clone());
    (0..rank).map(|k| broadcast_dim(&at(a, k), &at(b, k))).collect()
}

/// What is known of a value that is one or the other.
pub(super) fn join(a: Option<ValueType>, b: Option<ValueType>) -> Option<ValueType> {
    match (a?, b?) {
        (ValueType::Tensor(a), ValueType::Tensor(b)) if a.elem == b.elem => {
            let shape = match (a.shape, b.shape) {
                (Some(a), Some(b)) if a.len() == b.len() => {
                    Some(a.into_iter().zip(b).map(|(a, b)| if a == b { a } else { Dim::Unknown }).collect())
                }
                _ => None,
            };
            Some(TensorType { elem: a.elem, shape }.into())
        }
        (ValueType::Sequence(a), ValueType::Sequence(b)) => {
            join(Some(*a), Some(*b)).map(|t| ValueType::Sequence(Box::new(t)))
        }
        (ValueType::Optional(a), ValueType::Optional(b)) => {
            join(Some(*a), Some(*b)).map(|t| ValueType::Optional(Box::new(t)))
        }
        (a, b) if a == b => Some(a),
        _ => None,
    }
}

/// What is known of a value of which two things are said.
pub(super) fn refine(
    declared: Option<&ValueType>,
    found: Option<ValueType>,
) -> Result<Option<ValueType>, String> {
    let (Some(declared), Some(found)) = (declared, found.as_ref()) else {
        return Ok(declared.cloned().or(found));
    };
    Ok(Some(match (declared, found) {
        (ValueType::Tensor(a), ValueType::Tensor(b)) => {
            let unsaid = ElementType::Other(0);
            if a.elem != b.elem && a.elem != unsaid && b.elem != unsaid {
                return Err(format!("is declared as {declared} and has elements of type {}", b.elem));
            }
            let elem = if a.elem == unsaid { b.elem } else { a.elem };
            let shape = match (&a.shape, &b.shape) {
                (Some(x), Some(y)) if x.len() != y.len() => {
                    return Err(format!("is declared as {declared} and has {} dimensions", y.len()));
                }
                (Some(x), Some(y)) => {
                    let dims: Result<Shape, String> =
                        x.iter().zip(y).map(|(x, y)| meet_declared(x, y)).collect();
                    Some(dims.map_err(|_| format!("is declared as {declared} and is {found}"))?)
                }
                (x, y) => x.clone().or(y.clone()),
            };
            TensorType { elem, shape }.into()
        }
        (ValueType::Unknown, _) => found.clone(),
        (ValueType::Sequence(a), ValueType::Sequence(b)) => {
            ValueType::Sequence(Box::new(refine(Some(a), Some((**b).clone()))?.unwrap_or(ValueType::Unknown)))
        }
        (ValueType::Optional(a), ValueType::Optional(b)) => {
            ValueType::Optional(Box::new(refine(Some(a), Some((**b).clone()))?.unwrap_or(ValueType::Unknown)))
        }
        _ => declared.clone(),
    }))
}

/// A declared name is only a name for what is found, if that is a number or an expression of
/// inputs' names.
fn meet_declared(declared: &Dim, found: &Dim) -> Result<Dim, String> {
    match (declared, found) {
        (Dim::Symbolic(_), Dim::Known(_) | Dim::Symbolic(_)) => Ok(found.clone()),
        _ => meet(declared, found),
    }
}
