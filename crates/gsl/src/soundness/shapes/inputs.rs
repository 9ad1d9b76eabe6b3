//! Inputs of calls: for each input that has to fit others, what is drawn.

use std::ops::RangeInclusive;

use graph::{ElementType, Tensor};

use super::{Attributes, Call, Fill, Slot, axis};
use crate::soundness::values::{self, Dice};

/// A call whose inputs are drawn, one after the other.
struct Drawing<'a> {
    call: &'a Call<'a>,
    attributes: &'a Attributes,
    dice: &'a mut Dice,
    /// Extents of the inputs that are known so far.
    dims: Vec<Option<Vec<usize>>>,
    group: usize,
    /// The input that is drawn.
    slot: usize,
}

type Rule = fn(&mut Drawing) -> Option<Fill>;

/// What is drawn for these inputs of operators. The first entry that fits is taken.
const TABLE: &[(&[&str], RangeInclusive<usize>, Rule)] = &[
    (&["Conv", "ConvTranspose"], 0..=0, |d| d.image()),
    (&["Conv", "ConvTranspose"], 1..=1, |d| d.filters()),
    (&["Conv"], 2..=2, |d| d.float(vec![d.extent(1, 0)?])),
    (&["ConvTranspose"], 2..=2, |d| d.float(vec![d.extent(1, 1)? * d.group])),
    (&["AveragePool", "MaxPool", "LpPool"], 0..=0, |d| d.pooled()),
    (&["BatchNormalization"], 0..=0, |d| d.some_of_rank(2..=4)),
    (&["BatchNormalization"], 1..=4, |d| {
        Some(Fill { positive: d.slot == 4, ..d.float(vec![d.extent(0, 1)?])? })
    }),
    (&["InstanceNormalization", "LRN"], 0..=0, |d| d.some_of_rank(3..=4)),
    (&["InstanceNormalization"], 1..=2, |d| d.float(vec![d.extent(0, 1)?])),
    (&["GroupNormalization"], 0..=0, |d| d.groups()),
    (&["GroupNormalization"], 1..=2, |d| {
        let old = d.call.opset < 21;
        d.float(vec![if old { d.int("num_groups", 1) as usize } else { d.extent(0, 1)? }])
    }),
    (&["LayerNormalization"], 1..=2, |d| {
        let axis = d.axis(-1)?;
        d.float(d.first()?.get(axis..)?.to_vec())
    }),
    (&["MatMul"], 0..=0, |d| d.left_factor()),
    (&["MatMul"], 1..=1, |d| d.right_factor()),
    (&["Gemm"], 0..=0, |d| d.some_of_rank(2..=2)),
    (&["Gemm"], 1..=1, |d| d.second_of_gemm()),
    (&["Gemm"], 2..=2, |d| d.third_of_gemm()),
    // Bytes, with a scale and a zero point for all of them.
    (&["DequantizeLinear"], 0..=0, |d| d.typed(ElementType::U8, 1..=3)),
    (&["QuantizeLinear"], 0..=0, |d| d.typed(ElementType::F32, 1..=3)),
    (&["DequantizeLinear", "QuantizeLinear"], 1..=1, |_| {
        Some(Fill { positive: true, ..Fill::of(ElementType::F32, Vec::new()) })
    }),
    (&["DequantizeLinear", "QuantizeLinear"], 2..=2, |_| Some(Fill::of(ElementType::U8, Vec::new()))),
    (&["Reshape"], 1..=1, |d| Some(Fill::list(&factors(&d.first()?, d.dice)))),
    (&["Squeeze"], 0..=0, |d| d.with_one()),
    (&["Squeeze"], 1..=1, |d| d.place_of_one()),
    (&["Unsqueeze"], 1..=1, |d| Some(Fill::list(&[axis(d.first()?.len() + 1, d.dice)]))),
    (&["Slice"], 1..=4, |d| d.slice()),
    (&["Split"], 1..=1, |d| d.parts()),
    (&["Concat"], 0..=usize::MAX, |d| d.concatenated()),
    (&["Pad"], 1..=1, |d| d.pads()),
    (&["Pad"], 2..=2, |d| Fill::scalar(d.call.elem, d.dice.pick(&[0.0, 0.0, 1.0]))),
    (&["Dropout"], 1..=1, |_| Fill::scalar(ElementType::F32, 0.5)),
    (&["Dropout"], 2..=2, |d| {
        let value = Some(Tensor::from_bools(Vec::new(), &[d.dice.once_in(3)]));
        Some(Fill { value, ..Fill::of(ElementType::Bool, Vec::new()) })
    }),
    (&["Clip"], 1..=2, |d| d.float(Vec::new())),
    (&["Gather"], 1..=1, |d| d.places()),
    (&["OneHot"], 0..=0, |d| d.indices(0..=2, |dice| dice.below(5) as i64 - 2)),
    (&["OneHot"], 1..=1, |d| Fill::scalar(ElementType::I64, d.dice.between(1, 4) as f64)),
    (&["OneHot"], 2..=2, |d| d.float(vec![2])),
    (&["Expand"], 1..=1, |d| d.wider()),
    (&["Tile"], 1..=1, |d| {
        let counts = d.first()?.iter().map(|_| d.dice.between(1, 3) as i64).collect::<Vec<_>>();
        Some(Fill::list(&counts))
    }),
    (&["ConstantOfShape"], 0..=0, |d| {
        let dims: Vec<i64> = d.extents(0..=3).iter().map(|n| *n as i64).collect();
        Some(Fill::list(&dims))
    }),
    (&["CumSum", "CumProd"], 1..=1, |d| {
        let rank = d.first()?.len().max(1);
        Fill::scalar(ElementType::I64, axis(rank, d.dice) as f64)
    }),
    (&["TopK"], 1..=1, |d| Some(Fill::list(&[d.dice.between(1, *d.first()?.last()?) as i64]))),
    (&["DepthToSpace", "SpaceToDepth"], 0..=0, |d| d.blocks()),
    (&["And", "Or", "Xor"], 0..=1, |d| d.truth()),
    (&["Where"], 0..=0, |d| d.truth()),
    (&["Not"], 0..=0, |d| d.typed(ElementType::Bool, 0..=3)),
    (&["BitwiseAnd", "BitwiseOr", "BitwiseXor"], 0..=1, |d| {
        let dims = d.first().unwrap_or_else(|| d.extents(2..=2));
        Some(Fill::of(ElementType::I64, dims))
    }),
    (&["Transpose"], 0..=0, |d| {
        let rank = d.ints("perm").map(<[i64]>::len);
        let rank = rank.unwrap_or_else(|| d.dice.between(1, d.dice.rank));
        d.some_of_rank(rank..=rank)
    }),
];

/// What each hole is filled with, in the order of the slots.
pub(super) fn draw(call: &Call, attributes: &Attributes, dice: &mut Dice) -> Option<Vec<Fill>> {
    let dims: Vec<Option<Vec<usize>>> =
        (0..call.slots.len()).map(|k| call.known(k).map(<[usize]>::to_vec)).collect();
    let mut drawing = Drawing { call, attributes, dice, dims, group: 1, slot: 0 };
    // A rule may require something beyond all bounds. Then nothing is drawn.
    drawing.group = usize::try_from(drawing.int("group", 1)).ok().filter(|n| (1..=1 << 10).contains(n))?;
    drawing.dims.iter().flatten().try_for_each(|known| values::count(known).map(drop))?;
    let mut fills = Vec::new();
    for (k, slot) in call.slots.iter().enumerate() {
        if matches!(slot, Slot::Hole) {
            drawing.slot = k;
            let fill = drawing.fill()?;
            drawing.dims[k] = Some(fill.dims.clone());
            fills.push(fill);
        }
    }
    Some(fills)
}

impl Drawing<'_> {
    fn fill(&mut self) -> Option<Fill> {
        let (op, slot) = (self.call.op, self.slot);
        match TABLE.iter().find(|(names, slots, _)| names.contains(&op) && slots.contains(&slot)) {
            Some((_, _, rule)) => rule(self),
            None if slot == 1 && op.starts_with("Reduce") => {
                Some(Fill::list(&[axis(self.first()?.len().max(1), self.dice)]))
            }
            None => self.operand(),
        }
    }

    /// An input of an operator that asks for nothing: of any rank, or one that is broadcast with
    /// the others.
    fn operand(&mut self) -> Option<Fill> {
        let most = self.dice.rank;
        if self.slot == 0 && (self.call.slots.len() == 1 || !self.call.is_broadcasting()) {
            return self.some_of_rank(1..=most);
        }
        if !self.call.is_broadcasting() {
            return match self.first() {
                Some(dims) => self.float(dims),
                None => self.some_of_rank(2..=2),
            };
        }
        match self.any_other() {
            Some(shape) => {
                let dims = broadcast(&shape, self.dice);
                self.float(dims)
            }
            None => self.some_of_rank(0..=most),
        }
    }

    fn first(&self) -> Option<Vec<usize>> {
        self.dims[0].clone()
    }

    /// The extents of an input that are known.
    fn any_other(&self) -> Option<Vec<usize>> {
        self.dims.iter().flatten().next().cloned()
    }

    fn extent(&self, slot: usize, axis: usize) -> Option<usize> {
        self.dims.get(slot)?.as_ref()?.get(axis).copied()
    }

    fn int(&self, name: &str, default: i64) -> i64 {
        self.attributes.iter().find(|a| a.0 == name).and_then(|a| a.1.int()).unwrap_or(default)
    }

    fn ints(&self, name: &str) -> Option<&[i64]> {
        self.attributes.iter().find(|a| a.0 == name).and_then(|a| a.1.ints())
    }

    /// The axis that the attribute says, of the first input.
    fn axis(&self, default: i64) -> Option<usize> {
        let rank = self.dims[0].as_ref()?.len().max(1);
        Some(self.int("axis", default).rem_euclid(rank as i64) as usize)
    }

    fn extents(&mut self, ranks: RangeInclusive<usize>) -> Vec<usize> {
        let rank = if ranks.start() == ranks.end() {
            *ranks.start()
        } else {
            self.dice.between(*ranks.start(), *ranks.end())
        };
        (0..rank).map(|_| self.dice.extent()).collect()
    }

    fn float(&self, dims: Vec<usize>) -> Option<Fill> {
        Some(Fill::of(self.call.elem, dims))
    }

    fn some_of_rank(&mut self, ranks: RangeInclusive<usize>) -> Option<Fill> {
        self.typed(self.call.elem, ranks)
    }

    fn typed(&mut self, elem: ElementType, ranks: RangeInclusive<usize>) -> Option<Fill> {
        Some(Fill::of(elem, self.extents(ranks)))
    }

    fn indices(&mut self, ranks: RangeInclusive<usize>, one: impl Fn(&mut Dice) -> i64) -> Option<Fill> {
        let dims = self.extents(ranks);
        let count: usize = dims.iter().product();
        let list: Vec<i64> = (0..count).map(|_| one(self.dice)).collect();
        Some(Fill::ints(dims, &list))
    }

    fn image(&mut self) -> Option<Fill> {
        let filters = self.dims.get(1).cloned().flatten();
        let n = filters.as_ref().map(|w| w.len().saturating_sub(2));
        let n = n.or_else(|| self.ints("strides").map(<[i64]>::len));
        let n = n.or_else(|| self.ints("dilations").map(<[i64]>::len));
        let n = n.or_else(|| self.ints("pads").map(|s| s.len() / 2)).unwrap_or(2);
        let channels = match &filters {
            Some(w) if self.call.op == "Conv" => w.get(1)? * self.group,
            Some(w) => *w.first()?,
            None => self.group * self.dice.between(1, 3),
        };
        let mut dims = vec![self.dice.between(1, 2), channels];
        dims.extend((0..n).map(|_| self.dice.between(1, 6)));
        self.float(dims)
    }

    fn filters(&mut self) -> Option<Fill> {
        let (x, group) = (self.first()?, self.group);
        (x.len() > 2 && x[1].is_multiple_of(group)).then_some(())?;
        let outputs = if self.dice.once_in(3) { x[1] / group } else { self.dice.between(1, 3) };
        let conv = self.call.op == "Conv";
        let mut dims = if conv { vec![outputs * group, x[1] / group] } else { vec![x[1], outputs] };
        dims.extend((2..x.len()).map(|_| self.dice.pick(&[1usize, 1, 2, 3, 3])));
        self.float(dims)
    }

    fn pooled(&mut self) -> Option<Fill> {
        let n = self.ints("kernel_shape").map_or(2, <[i64]>::len);
        let mut dims = self.extents(2..=2);
        dims.extend((0..n).map(|_| self.dice.between(2, 6)));
        self.float(dims)
    }

    fn groups(&mut self) -> Option<Fill> {
        let groups = self.int("num_groups", 1) as usize;
        let (batch, of_one) = (self.dice.between(1, 2), self.dice.between(1, 2));
        let spatial = self.extents(1..=2);
        self.float([vec![batch, groups * of_one], spatial].concat())
    }

    fn left_factor(&mut self) -> Option<Fill> {
        let right = self.dims[1].clone();
        let inner = match &right {
            None => self.dice.between(1, 4),
            Some(b) => *b.get(b.len().saturating_sub(2))?,
        };
        let batch = match right {
            Some(b) if b.len() > 2 && !self.dice.once_in(3) => b[..b.len() - 2].to_vec(),
            _ => {
                let rank = self.dice.pick(&[0, 0, 1]);
                self.extents(rank..=rank)
            }
        };
        let rows = self.dice.between(1, 4);
        self.float([batch, vec![rows, inner]].concat())
    }

    fn right_factor(&mut self) -> Option<Fill> {
        let a = self.first()?;
        let inner = *a.last()?;
        let with_batch = a.len() > 2 && self.dice.once_in(2);
        let batch = if with_batch { &a[..a.len() - 2] } else { &[] };
        let columns = self.dice.between(1, 4);
        self.float([batch, &[inner, columns]].concat())
    }

    fn second_of_gemm(&mut self) -> Option<Fill> {
        let inner = self.extent(0, usize::from(self.int("transA", 0) == 0))?;
        let free = self.dice.between(1, 4);
        self.float(if self.int("transB", 0) != 0 { vec![free, inner] } else { vec![inner, free] })
    }

    fn third_of_gemm(&mut self) -> Option<Fill> {
        let rows = self.extent(0, usize::from(self.int("transA", 0) != 0))?;
        let columns = self.extent(1, usize::from(self.int("transB", 0) == 0))?;
        let one = vec![columns];
        let shapes = [one.clone(), one, vec![1, columns], vec![rows, columns], vec![1]];
        let shape = self.dice.pick(&shapes);
        self.float(shape)
    }

    fn with_one(&mut self) -> Option<Fill> {
        let mut shape = self.extents(1..=3);
        let at = self.dice.below(shape.len() + 1);
        shape.insert(at, 1);
        self.float(shape)
    }

    fn place_of_one(&mut self) -> Option<Fill> {
        let ones = (0i64..).zip(self.first()?).filter(|(_, d)| *d == 1).map(|(k, _)| k);
        let ones: Vec<i64> = ones.collect();
        (!ones.is_empty()).then(|| Fill::list(&[self.dice.pick(&ones)]))
    }

    fn slice(&mut self) -> Option<Fill> {
        let x = self.first()?;
        let rank = x.len();
        (rank > 0).then_some(())?;
        let axis = self.dice.below(rank);
        let extent = x[axis] as i64;
        Some(Fill::list(&[match self.slot {
            1 => self.dice.pick(&[0, 0, 1, -2, -1, extent - 1]),
            // Beyond the beginning, for slices that run backward.
            2 => self.dice.pick(&[extent, i64::MAX, -1, 2, 1, -extent - 1, i64::MIN]),
            3 => axis as i64 - if self.dice.once_in(3) { rank as i64 } else { 0 },
            _ => self.dice.pick(&[1, 1, 2, -1]),
        }]))
    }

    fn parts(&mut self) -> Option<Fill> {
        let axis = self.axis(0)?;
        let mut left = self.extent(0, axis)?;
        let mut sizes = Vec::new();
        for _ in 1..self.call.results {
            let part = self.dice.below(left + 1);
            left -= part;
            sizes.push(part as i64);
        }
        sizes.push(left as i64);
        Some(Fill::list(&sizes))
    }

    fn concatenated(&mut self) -> Option<Fill> {
        let mut shape = self.any_other().unwrap_or_else(|| self.extents(3..=3));
        let axis = self.int("axis", 0).rem_euclid(shape.len().max(1) as i64) as usize;
        *shape.get_mut(axis)? = self.dice.between(1, 3);
        self.float(shape)
    }

    fn pads(&mut self) -> Option<Fill> {
        let rank = self.first()?.len();
        let is_plain = self.dice.once_in(2);
        let is_image = |d: usize| d % rank.max(1) >= 2;
        let pads = (0..2 * rank).map(|d| {
            let free = !is_plain || is_image(d);
            if free { self.dice.pick(&[0i64, 0, 1, 2, -1]) } else { 0 }
        });
        let mut pads: Vec<i64> = pads.collect();
        if self.dice.once_in(2) {
            for (d, pad) in pads.iter_mut().enumerate() {
                *pad = if is_image(d) { pad.abs() } else { 0 };
            }
        }
        Some(Fill::list(&pads))
    }

    fn places(&mut self) -> Option<Fill> {
        let axis = self.axis(0)?;
        let n = self.extent(0, axis)?;
        self.indices(0..=2, |dice| dice.below(2 * n) as i64 - n as i64)
    }

    fn wider(&mut self) -> Option<Fill> {
        let x = self.first()?;
        let wider = x.into_iter().map(|n| if n == 1 { self.dice.between(1, 3) } else { n } as i64);
        let wider: Vec<i64> = wider.collect();
        let more: Vec<i64> = (0..self.dice.below(2)).map(|_| self.dice.between(1, 3) as i64).collect();
        Some(Fill::list(&[more, wider].concat()))
    }

    fn blocks(&mut self) -> Option<Fill> {
        let b = self.int("blocksize", 1) as usize;
        // Of batch, channels, rows and columns.
        let (steps, most) = match self.call.op {
            "DepthToSpace" => ([1, b * b, 1, 1], [2, 2, 3, 3]),
            _ => ([1, 1, b, b], [2, 3, 2, 2]),
        };
        let dims = steps.into_iter().zip(most).map(|(step, most)| step * self.dice.between(1, most));
        let dims = dims.collect();
        self.float(dims)
    }

    fn truth(&mut self) -> Option<Fill> {
        match self.any_other() {
            Some(shape) => Some(Fill::of(ElementType::Bool, broadcast(&shape, self.dice))),
            None => self.typed(ElementType::Bool, 0..=3),
        }
    }
}

/// A shape with as many elements, perhaps with a 0 or a -1 in it.
fn factors(dims: &[usize], dice: &mut Dice) -> Vec<i64> {
    let mut left: usize = dims.iter().product();
    let mut shape = Vec::new();
    for _ in 0..dice.between(0, 2) {
        let divisors: Vec<usize> = (1..=left.max(1)).filter(|d| left.is_multiple_of(*d)).collect();
        let d = dice.pick(&divisors);
        shape.push(d as i64);
        left /= d.max(1);
    }
    shape.push(left as i64);
    match dice.below(4) {
        0 => {
            let at = dice.below(shape.len());
            shape[at] = -1;
        }
        1 if dims.first() == shape.first().map(|d| *d as usize).as_ref() => shape[0] = 0,
        2 => return dims.iter().map(|d| *d as i64).collect(),
        _ => {}
    }
    shape
}

/// A shape that is broadcast with this one: the same, a number, one extent, a channel, ones
/// anywhere.
fn broadcast(dims: &[usize], dice: &mut Dice) -> Vec<usize> {
    let ones = |from: usize, keep: &dyn Fn(usize) -> bool| -> Vec<usize> {
        (from..dims.len()).map(|d| if keep(d) { dims[d] } else { 1 }).collect()
    };
    match dice.below(8) {
        0 => dims.to_vec(),
        1 => Vec::new(),
        2 => vec![1],
        3 => dims.last().map_or_else(Vec::new, |d| vec![*d]),
        4 => ones(1.min(dims.len()), &|d| d == 1),
        5 => ones(0, &|d| d == 1),
        6 => ones(0, &|d| d + 1 == dims.len()),
        _ => {
            let mask = dice.below(16);
            ones(dice.below(dims.len() + 1), &|d| mask >> d & 1 == 1)
        }
    }
}
