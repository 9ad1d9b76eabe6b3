//! Attributes and inputs that operators need: what a call lacks is drawn so that its types usually
//! fit.
//!
//! The tables of this module are the only place where the test of rules names operators. They do
//! not belong to the records of crate `graph`: they say which extents and numbers are worth a try,
//! and nothing that the standard says. Signatures are read from `schema`. Nothing relies on what is
//! drawn: a model whose types contradict each other is discarded.

mod attributes;
mod inputs;

use graph::{AttributeValue, ElementType, Tensor, schema};

use super::values::{self, Dice};

/// An input of a call whose type is known, or one that has yet to be drawn.
#[derive(Clone, Debug)]
pub(super) enum Slot {
    /// An earlier result, or an input that another call has drawn.
    Known(Vec<usize>),
    /// To be drawn.
    Hole,
    /// An optional input that is absent.
    Absent,
}

/// What is drawn for an input.
#[derive(Clone, Debug)]
pub(super) struct Fill {
    pub elem: ElementType,
    pub dims: Vec<usize>,
    /// Its value, if the operator needs a constant.
    pub value: Option<Tensor>,
    /// Elements must be positive.
    pub positive: bool,
}

impl Fill {
    fn of(elem: ElementType, dims: Vec<usize>) -> Fill {
        Fill { elem, dims, value: None, positive: false }
    }

    /// A constant of these integers.
    fn ints(dims: Vec<usize>, numbers: &[i64]) -> Fill {
        let value = Some(Tensor::from_i64s(dims.clone(), numbers));
        Fill { value, ..Fill::of(ElementType::I64, dims) }
    }

    /// A constant list of integers.
    fn list(numbers: &[i64]) -> Fill {
        Fill::ints(vec![numbers.len()], numbers)
    }

    /// A constant number.
    fn scalar(elem: ElementType, number: f64) -> Option<Fill> {
        let value = Some(values::of_numbers(elem, Vec::new(), &[number])?);
        Some(Fill { value, ..Fill::of(elem, Vec::new()) })
    }
}

/// Attributes of a call, in the order in which they were drawn.
pub(super) type Attributes = Vec<(String, AttributeValue)>;

/// Elementwise operators of one input. `f: elementwise` is drawn from them.
pub(super) const ELEMENTWISE: &[&str] =
    &["Relu", "Neg", "Abs", "Exp", "Tanh", "Sigmoid", "Floor", "LeakyRelu"];
/// Operators of two inputs that are broadcast.
pub(super) const BROADCASTING: &[&str] = &["Add", "Sub", "Mul", "Max", "Min"];

/// A call that is being drawn.
pub(super) struct Call<'a> {
    pub op: &'a str,
    pub slots: &'a [Slot],
    pub elem: ElementType,
    pub opset: i64,
    /// Number of results, where the operator leaves it open.
    pub results: usize,
}

impl Call<'_> {
    fn known(&self, k: usize) -> Option<&[usize]> {
        match self.slots.get(k)? {
            Slot::Known(dims) => Some(dims),
            _ => None,
        }
    }

    fn present(&self, k: usize) -> bool {
        self.slots.get(k).is_some_and(|s| !matches!(s, Slot::Absent))
    }

    /// Attributes with values that fit each other.
    pub fn attributes(&self, dice: &mut Dice) -> Option<Attributes> {
        attributes::draw(self, dice)
    }

    /// What each hole is filled with, in the order of the slots.
    pub fn fills(&self, attributes: &Attributes, dice: &mut Dice) -> Option<Vec<Fill>> {
        inputs::draw(self, attributes, dice)
    }

    /// Whether its inputs are broadcast together.
    fn is_broadcasting(&self) -> bool {
        schema::lookup("", self.op, self.opset).is_some_and(|s| s.broadcasting)
    }
}

/// An axis of a tensor of this rank, counted from either end.
fn axis(rank: usize, dice: &mut Dice) -> i64 {
    dice.below(2 * rank) as i64 - rank as i64
}
