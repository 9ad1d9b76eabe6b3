//! Attributes of calls: for each operator that needs some, what is drawn.

use graph::{AttributeValue, ElementType};

use super::{Attributes, Call, axis};
use crate::soundness::values::Dice;

/// A call whose attributes are drawn.
struct Drawing<'a> {
    call: &'a Call<'a>,
    dice: &'a mut Dice,
    out: Attributes,
}

type Rule = fn(&mut Drawing) -> Option<()>;

/// What is drawn for operators.
const TABLE: &[(&[&str], Rule)] = &[
    (&["Conv", "ConvTranspose"], |d| d.convolution()),
    (&["AveragePool", "MaxPool", "LpPool"], |d| d.pool()),
    (&["Transpose"], |d| d.permutation()),
    (&["Split"], |d| d.split()),
    (&["Concat"], |d| d.axis(d.call.known(0).or_else(|| d.call.known(1)).map_or(2, <[usize]>::len))),
    (&["Softmax", "LayerNormalization"], |d| d.axis(d.rank(2))),
    (&["Gather", "OneHot"], |d| if d.dice.once_in(3) { Some(()) } else { d.axis(d.rank(2)) }),
    (&["Gemm"], |d| d.gemm()),
    (&["Cast"], |d| {
        let to = d.dice.pick(&[ElementType::F32, ElementType::F64, ElementType::I32, ElementType::I64]);
        d.set("to", i64::from(to.code()))
    }),
    (&["Pad"], |d| if d.dice.once_in(4) { d.one_of("mode", &["edge", "reflect"]) } else { Some(()) }),
    (&["DepthToSpace"], |d| {
        d.one_of("blocksize", &[1i64, 2, 2, 3])?;
        d.sometimes(2, "mode", "CRD")
    }),
    (&["SpaceToDepth"], |d| d.one_of("blocksize", &[1i64, 2, 2, 3])),
    (&["GroupNormalization"], |d| d.one_of("num_groups", &[1i64, 2])),
    (&["LRN"], |d| d.one_of("size", &[1i64, 2, 3])),
    (&["BatchNormalization"], |d| d.sometimes(2, "epsilon", 0.25f32)),
];

/// Attributes with values that fit each other.
pub(super) fn draw(call: &Call, dice: &mut Dice) -> Option<Attributes> {
    let mut drawing = Drawing { call, dice, out: Vec::new() };
    match TABLE.iter().find(|(names, _)| names.contains(&call.op)) {
        Some((_, rule)) => rule(&mut drawing)?,
        None if call.op.starts_with("Reduce") => drawing.reduction()?,
        None => {}
    }
    Some(drawing.out)
}

impl Drawing<'_> {
    fn set(&mut self, name: &str, value: impl Into<AttributeValue>) -> Option<()> {
        self.out.push((name.to_owned(), value.into()));
        Some(())
    }

    /// Once in `n` times this value, else the default.
    fn sometimes(&mut self, n: usize, name: &str, value: impl Into<AttributeValue>) -> Option<()> {
        if self.dice.once_in(n) { self.set(name, value) } else { Some(()) }
    }

    fn one_of<T: Clone + Into<AttributeValue>>(&mut self, name: &str, values: &[T]) -> Option<()> {
        let value = self.dice.pick(values);
        self.set(name, value)
    }

    /// Half of the time `n` numbers, else the default.
    fn ints(&mut self, name: &str, n: usize, low: usize, high: usize) {
        if !self.dice.once_in(2) {
            let list: Vec<i64> = (0..n).map(|_| self.dice.between(low, high) as i64).collect();
            self.out.push((name.to_owned(), list.into()));
        }
    }

    /// The rank of the first input, or this one if it has yet to be drawn.
    fn rank(&self, open: usize) -> usize {
        self.call.known(0).map_or(open, <[usize]>::len)
    }

    fn axis(&mut self, rank: usize) -> Option<()> {
        let axis = axis(rank.max(1), self.dice);
        self.set("axis", axis)
    }

    /// The rank of the windows of convolutions and pools.
    fn spatial(&mut self) -> Option<usize> {
        let filters = if self.call.op.contains("Conv") { self.call.known(1) } else { None };
        match self.call.known(0).or(filters) {
            Some(dims) => dims.len().checked_sub(2).filter(|n| *n > 0),
            None => Some(self.dice.pick(&[1, 1, 1, 2, 2])),
        }
    }

    fn convolution(&mut self) -> Option<()> {
        let n = self.spatial()?;
        self.ints("strides", n, 1, 3);
        self.ints("dilations", n, 1, 2);
        if self.dice.once_in(2) {
            self.ints("pads", 2 * n, 0, 2);
        } else if let Some(w) = self.call.known(1) {
            let same: Vec<i64> = w[2..].iter().map(|k| (*k as i64 - 1) / 2).collect();
            self.set("pads", [same.clone(), same].concat())?;
        }
        self.sometimes(4, "group", 2i64)
    }

    fn pool(&mut self) -> Option<()> {
        let n = self.spatial()?;
        let kernel: Vec<i64> = (0..n).map(|_| self.dice.between(1, 3) as i64).collect();
        self.ints("strides", n, 1, 2);
        self.ints("pads", 2 * n, 0, 1);
        self.set("kernel_shape", kernel)?;
        if self.call.op == "AveragePool" {
            self.sometimes(2, "count_include_pad", 1i64)?;
        }
        if self.call.op == "LpPool" { Some(()) } else { self.sometimes(4, "ceil_mode", 1i64) }
    }

    fn permutation(&mut self) -> Option<()> {
        let rank = match self.call.known(0) {
            Some(dims) => dims.len(),
            None => self.dice.between(1, self.dice.rank),
        };
        if self.dice.once_in(4) {
            return Some(());
        }
        let mut perm: Vec<i64> = (0..rank as i64).collect();
        for k in (1..rank).rev() {
            perm.swap(k, self.dice.below(k + 1));
        }
        self.set("perm", perm)
    }

    fn split(&mut self) -> Option<()> {
        self.axis(self.rank(3))?;
        if self.call.present(1) || self.call.opset < 18 {
            return Some(());
        }
        self.set("num_outputs", self.call.results as i64)
    }

    fn gemm(&mut self) -> Option<()> {
        self.sometimes(3, "transA", 1i64)?;
        self.sometimes(3, "transB", 1i64)?;
        self.sometimes(4, "alpha", 0.5f32)?;
        self.sometimes(4, "beta", 0.5f32)
    }

    fn reduction(&mut self) -> Option<()> {
        let keep = !self.dice.once_in(4);
        self.set("keepdims", i64::from(keep))?;
        // Newer versions have an input for the axes.
        if self.call.opset >= 18 || self.call.op == "ReduceSum" || self.call.present(1) {
            return Some(());
        }
        let axis = axis(self.rank(2).max(1), self.dice);
        self.set("axes", vec![axis])
    }
}
