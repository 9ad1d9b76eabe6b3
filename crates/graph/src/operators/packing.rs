//! Packing: constant operands of products, in the order in which tiles read them.
//!
//! A matrix that is known at compile time is stored as panels, one after the other. A panel has as
//! many lines as a tile takes at a time (columns of the right matrix, rows of the left one). For
//! each step of the sum, the elements of these lines are adjacent. So the innermost loop of a
//! product reads one stream.

use functional::{Arg, Prim, build};
use loops::{Data, Scalar, Size, Tensor};

use super::fours::Fours;
use super::pairs::Pairs;
use super::value::{Val, index, int};

/// How matrices are stored in a tensor, and the panels for their lines.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Packing {
    /// How many matrices there are: one a group of a convolution.
    pub(super) matrices: i64,
    /// Rows of a left matrix, columns of a right one.
    pub(super) lines: i64,
    /// Elements of a line.
    pub(super) sum: i64,
    /// Elements of the tensor from one matrix, line and place of the sum to the next.
    pub(super) pitches: [i64; 3],
    /// Lines of the first panels.
    pub(super) wide: i64,
    /// How many of these there are.
    pub(super) full: i64,
    /// Lines of each panel after them, if some remain. Missing lines of the last panel are zeros.
    pub(super) narrow: i64,
    /// What is stored for each place of the sum.
    pub(super) stored: Stored,
}

/// What panels have for a line and a place of the sum.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum Stored {
    /// The element.
    Elements,
    /// A pair of bytes, so that bytes stay bytes: `sum` counts pairs.
    Pairs(Pairs),
    /// A word of four bytes, and behind the last one the sum of the line: `sum` counts both.
    Fours(Fours),
}

impl Stored {
    /// The type of what is stored, if it is not that of the elements.
    pub(super) fn scalar(self) -> Option<Scalar> {
        match self {
            Stored::Elements => None,
            Stored::Pairs(pairs) => Some(pairs.scalar()),
            Stored::Fours(_) => Some(Scalar::I32),
        }
    }
}

impl Packing {
    /// Elements of one matrix.
    fn one(&self) -> i64 {
        let first = self.full * self.wide;
        let rest = match self.lines - first {
            left if left > 0 => (left + self.narrow - 1) / self.narrow * self.narrow,
            _ => 0,
        };
        (first + rest) * self.sum
    }

    /// Elements of all panels.
    pub fn count(&self) -> i64 {
        self.matrices * self.one()
    }

    /// The panels of a tensor's elements; `None` if their number differs, or if they are neither
    /// floating-point numbers nor integers of 32 bits.
    pub fn pack(&self, tensor: &Tensor) -> Option<Tensor> {
        let data = match &tensor.data {
            Data::F32(values) => Data::F32(self.panels(|line, k| self.element(values, line, k))?),
            Data::F64(values) => Data::F64(self.panels(|line, k| self.element(values, line, k))?),
            Data::I32(values) => match self.stored {
                Stored::Fours(fours) => {
                    let word = |line: i64, k: i64| fours.stored(k, |place| self.element(values, line, place));
                    Data::I32(self.panels(word)?)
                }
                Stored::Pairs(pairs) => {
                    let bytes = |line: i64, k: i64| {
                        let byte = |place: Option<i64>| match place {
                            Some(place) => Some(self.element(values, line, place)? as u8),
                            None => Some(0),
                        };
                        let [low, high] = pairs.places(k).map(byte);
                        Some(u16::from_le_bytes([low?, high?]))
                    };
                    let panels = self.panels(bytes)?;
                    match pairs.unsigned {
                        true => Data::U16(panels),
                        false => Data::I16(panels.into_iter().map(|pair| pair as i16).collect()),
                    }
                }
                Stored::Elements => Data::I32(self.panels(|line, k| self.element(values, line, k))?),
            },
            _ => return None,
        };
        Some(Tensor { shape: vec![data.len()], data })
    }

    /// The element at a place of the sum, of the line that begins there.
    fn element<T: Copy>(&self, values: &[T], line: i64, k: i64) -> Option<T> {
        values.get(usize::try_from(line + k * self.pitches[2]).ok()?).copied()
    }

    /// The panels, given the element of a line, which begins there, at a step of the sum.
    fn panels<T: Copy + Default>(&self, element: impl Fn(i64, i64) -> Option<T>) -> Option<Vec<T>> {
        let mut packed = Vec::with_capacity(usize::try_from(self.count()).ok()?);
        for matrix in 0..self.matrices {
            let mut first = 0;
            while first < self.lines {
                let wide = if first < self.full * self.wide { self.wide } else { self.narrow };
                let used = wide.min(self.lines - first);
                for k in 0..self.sum {
                    for line in first..first + used {
                        packed.push(element(matrix * self.pitches[0] + line * self.pitches[1], k)?);
                    }
                    packed.extend((used..wide).map(|_| T::default()));
                }
                first += wide;
            }
        }
        Some(packed)
    }
}

/// A parameter that is stored in panels.
#[derive(Clone)]
pub(super) struct Packed {
    pub(super) val: Val,
    pub(super) packing: Packing,
}

impl Packed {
    /// The matrix with this number.
    pub(super) fn matrix(&self, number: &Val) -> Panels {
        let (val, one) = (self.val.clone(), self.packing.one());
        let (from, sum) = (number.int() * int(one), self.packing.sum);
        Panels { val, from, sum, alone: false }
    }
}

impl Packed {
    /// The matrix with this number, which is known. Its panels are an array of their own, so that
    /// no offset is added to their subscripts.
    pub(super) fn known_matrix(&self, number: i64) -> Panels {
        let (count, one) = (Size::constant(self.packing.matrices), Size::constant(self.packing.one()));
        let rows = match self.val.clone().term() {
            Ok(term) => build::split(one, term).into(),
            Err(refusal) => Val::from(refusal),
        };
        let val = rows.at(&[index(number, &count)]);
        let sum = self.packing.sum;
        Panels { val, from: int(0), sum, alone: true }
    }
}

/// One matrix in panels.
#[derive(Clone)]
pub(super) struct Panels {
    val: Val,
    from: Val,
    sum: i64,
    /// Whether the array has no other panels.
    alone: bool,
}

impl Panels {
    /// The element of line `l` of the panel whose first line is `first` and that has `wide` lines,
    /// at the place `k` of the sum. All panels before it are full, so it begins at the place that
    /// its first line would have.
    pub(super) fn at(&self, first: &Val, wide: i64, k: &Val, l: &Val) -> Val {
        let from = &self.from + first * int(self.sum);
        let (known, in_panel) = (from.constant(), k.int() * int(wide) + l.int());
        match (known, self.val.clone().term()) {
            (Some(skipped), Ok(term)) if self.alone && skipped > 0 => {
                let skipped = Arg::Size(Size::constant(skipped));
                let rest = Val::from(build::apply(Prim::Drop, vec![skipped, Arg::Term(term)]));
                rest.at(&[in_panel])
            }
            _ => self.val.at(&[from + in_panel]),
        }
    }
}
