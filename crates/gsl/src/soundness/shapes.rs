//! Attributes and inputs that operators need: what a call lacks is drawn so that its types usually
//! fit.
//!
//! Nothing relies on this: a model whose types contradict each other is discarded.

use graph::{AttributeValue, ElementType, Tensor};

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

    fn ints(numbers: &[i64]) -> Fill {
        let value = Some(Tensor::from_i64s(vec![numbers.len()], numbers));
        Fill { elem: ElementType::I64, dims: vec![numbers.len()], value, positive: false }
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

    /// The rank of the windows of convolutions and pools.
    fn spatial(&self, dice: &mut Dice) -> Option<usize> {
        match self.known(0).or(if self.op.contains("Conv") { self.known(1) } else { None }) {
            Some(dims) => dims.len().checked_sub(2).filter(|n| *n > 0),
            None => Some(dice.pick(&[1, 1, 1, 2, 2])),
        }
    }

    /// Attributes with values that fit each other.
    pub fn attributes(&self, dice: &mut Dice) -> Option<Attributes> {
        let mut out: Attributes = Vec::new();
        let mut ints = |name: &str, n: usize, low: usize, high: usize, dice: &mut Dice| {
            // Half of the time the default, or the same everywhere.
            if dice.once_in(2) {
                return;
            }
            let list: Vec<i64> = (0..n).map(|_| dice.between(low, high) as i64).collect();
            out.push((name.to_owned(), list.into()));
        };
        match self.op {
            "Conv" | "ConvTranspose" => {
                let n = self.spatial(dice)?;
                ints("strides", n, 1, 3, dice);
                ints("dilations", n, 1, 2, dice);
                if dice.once_in(2) {
                    ints("pads", 2 * n, 0, 2, dice);
                } else if let Some(w) = self.known(1) {
                    let same: Vec<i64> = w[2..].iter().map(|k| (*k as i64 - 1) / 2).collect();
                    out.push(("pads".into(), [same.clone(), same].concat().into()));
                }
                if dice.once_in(4) {
                    out.push(("group".into(), 2i64.into()));
                }
            }
            "AveragePool" | "MaxPool" | "LpPool" => {
                let n = self.spatial(dice)?;
                let kernel: Vec<i64> = (0..n).map(|_| dice.between(1, 3) as i64).collect();
                ints("strides", n, 1, 2, dice);
                ints("pads", 2 * n, 0, 1, dice);
                out.push(("kernel_shape".into(), kernel.into()));
                if self.op == "AveragePool" && dice.once_in(2) {
                    out.push(("count_include_pad".into(), 1i64.into()));
                }
                if self.op != "LpPool" && dice.once_in(4) {
                    out.push(("ceil_mode".into(), 1i64.into()));
                }
            }
            "Transpose" => {
                let rank = self.known(0).map_or_else(|| dice.between(1, dice.rank), <[usize]>::len);
                if !dice.once_in(4) {
                    out.push(("perm".into(), permutation(rank, dice).into()));
                }
            }
            "Split" => {
                let rank = self.known(0).map_or(3, <[usize]>::len).max(1) as i64;
                out.push(("axis".into(), (dice.below(2 * rank as usize) as i64 - rank).into()));
                if !self.present(1) && self.opset >= 18 {
                    out.push(("num_outputs".into(), (self.results as i64).into()));
                }
            }
            "Concat" => {
                let rank = self.known(0).or_else(|| self.known(1)).map_or(2, <[usize]>::len).max(1) as i64;
                out.push(("axis".into(), (dice.below(2 * rank as usize) as i64 - rank).into()));
            }
            "Softmax" | "LayerNormalization" => {
                let rank = self.known(0).map_or(2, <[usize]>::len).max(1) as i64;
                out.push(("axis".into(), (dice.below(2 * rank as usize) as i64 - rank).into()));
            }
            "Gemm" => {
                for name in ["transA", "transB"] {
                    if dice.once_in(3) {
                        out.push((name.into(), 1i64.into()));
                    }
                }
                for name in ["alpha", "beta"] {
                    if dice.once_in(4) {
                        out.push((name.into(), 0.5f32.into()));
                    }
                }
            }
            "Cast" => {
                let to = dice.pick(&[ElementType::F32, ElementType::F64, ElementType::I32, ElementType::I64]);
                out.push(("to".into(), i64::from(to.code()).into()));
            }
            "Pad" if dice.once_in(4) => out.push(("mode".into(), dice.pick(&["edge", "reflect"]).into())),
            "DepthToSpace" | "SpaceToDepth" => {
                out.push(("blocksize".into(), dice.pick(&[1i64, 2, 2, 3]).into()));
                if self.op == "DepthToSpace" && dice.once_in(2) {
                    out.push(("mode".into(), "CRD".into()));
                }
            }
            "GroupNormalization" => out.push(("num_groups".into(), dice.pick(&[1i64, 2]).into())),
            "LRN" => out.push(("size".into(), dice.pick(&[1i64, 2, 3]).into())),
            "Gather" | "OneHot" if !dice.once_in(3) => {
                let rank = self.known(0).map_or(2, <[usize]>::len).max(1) as i64;
                out.push(("axis".into(), (dice.below(2 * rank as usize) as i64 - rank).into()));
            }
            "BatchNormalization" if dice.once_in(2) => out.push(("epsilon".into(), 0.25f32.into())),
            name if name.starts_with("Reduce") => {
                out.push(("keepdims".into(), i64::from(!dice.once_in(4)).into()));
                let by_attribute = self.opset < 18 && name != "ReduceSum";
                if by_attribute && !self.present(1) {
                    let rank = self.known(0).map_or(2, <[usize]>::len).max(1) as i64;
                    out.push(("axes".into(), vec![dice.below(2 * rank as usize) as i64 - rank].into()));
                }
            }
            _ => {}
        }
        Some(out)
    }

    /// What each hole is filled with, in the order of the slots.
    pub fn fills(&self, attributes: &Attributes, dice: &mut Dice) -> Option<Vec<Fill>> {
        let int = |name: &str, default: i64| {
            attributes.iter().find(|a| a.0 == name).and_then(|a| a.1.int()).unwrap_or(default)
        };
        let ints = |name: &str| {
            attributes.iter().find(|a| a.0 == name).and_then(|a| a.1.ints().map(<[i64]>::to_vec))
        };
        let mut dims: Vec<Option<Vec<usize>>> =
            self.slots.iter().enumerate().map(|(k, _)| self.known(k).map(<[usize]>::to_vec)).collect();
        // A rule may require something beyond all bounds. Then nothing is drawn.
        let group = usize::try_from(int("group", 1)).ok().filter(|n| (1..=1 << 10).contains(n))?;
        dims.iter().flatten().try_for_each(|known| values::count(known).map(drop))?;
        let mut fills: Vec<Option<Fill>> = vec![None; self.slots.len()];
        for k in 0..self.slots.len() {
            if !matches!(self.slots[k], Slot::Hole) {
                continue;
            }
            let first = dims[0].clone();
            let float = |dims: Vec<usize>| Some(Fill::of(self.elem, dims));
            let filled = match (self.op, k) {
                ("Conv" | "ConvTranspose", 0) => {
                    let n = dims.get(1).and_then(Option::as_ref).map(|w| w.len().saturating_sub(2));
                    let n = n.or_else(|| ints("strides").map(|s| s.len()));
                    let n = n.or_else(|| ints("dilations").map(|s| s.len()));
                    let n = n.or_else(|| ints("pads").map(|s| s.len() / 2)).unwrap_or(2);
                    let channels = match &dims[1] {
                        Some(w) if self.op == "Conv" => w.get(1)? * group,
                        Some(w) => *w.first()?,
                        None => group * dice.between(1, 3),
                    };
                    let batch = dice.between(1, 2);
                    float([batch, channels].into_iter().chain((0..n).map(|_| dice.between(1, 6))).collect())
                }
                ("Conv" | "ConvTranspose", 1) => {
                    let x = first?;
                    (x.len() > 2 && x[1] % group == 0).then_some(())?;
                    let outputs = if dice.once_in(3) { x[1] / group } else { dice.between(1, 3) };
                    let kernel = (2..x.len()).map(|_| dice.pick(&[1usize, 1, 2, 3, 3]));
                    let two =
                        if self.op == "Conv" { [outputs * group, x[1] / group] } else { [x[1], outputs] };
                    float(two.into_iter().chain(kernel).collect())
                }
                ("Conv", 2) => float(vec![*dims[1].as_ref()?.first()?]),
                ("ConvTranspose", 2) => float(vec![dims[1].as_ref()?.get(1)? * group]),
                ("BatchNormalization", 0) => float(extents(dice.between(2, 4), dice)),
                ("BatchNormalization", _) => {
                    float(vec![*first?.get(1)?]).map(|f| Fill { positive: k == 4, ..f })
                }
                ("MatMul", 0) => {
                    let inner = match &dims[1] {
                        None => dice.between(1, 4),
                        Some(b) => *b.get(b.len().saturating_sub(2))?,
                    };
                    let batch = match &dims[1] {
                        Some(b) if b.len() > 2 && !dice.once_in(3) => b[..b.len() - 2].to_vec(),
                        _ => extents(dice.pick(&[0, 0, 1]), dice),
                    };
                    float([batch, vec![dice.between(1, 4), inner]].concat())
                }
                ("MatMul", 1) => {
                    let a = first?;
                    let inner = *a.last()?;
                    if a.len() > 2 && dice.once_in(2) {
                        float([&a[..a.len() - 2], &[inner, dice.between(1, 4)]].concat())
                    } else {
                        float(vec![inner, dice.between(1, 4)])
                    }
                }
                ("Gemm", 0) => float(extents(2, dice)),
                ("Gemm", 1) => {
                    let inner = first?.get(usize::from(int("transA", 0) == 0)).copied()?;
                    let free = dice.between(1, 4);
                    float(if int("transB", 0) != 0 { vec![free, inner] } else { vec![inner, free] })
                }
                ("Gemm", 2) => {
                    let rows = first?.get(usize::from(int("transA", 0) != 0)).copied()?;
                    let columns = dims[1].as_ref()?.get(1 - usize::from(int("transB", 0) != 0)).copied()?;
                    let one = vec![columns];
                    float(dice.pick(&[one.clone(), one, vec![1, columns], vec![rows, columns], vec![1]]))
                }
                // Bytes, with a scale and a zero point for all of them.
                ("DequantizeLinear", 0) => Some(Fill::of(ElementType::U8, extents(dice.between(1, 3), dice))),
                ("QuantizeLinear", 0) => Some(Fill::of(ElementType::F32, extents(dice.between(1, 3), dice))),
                ("DequantizeLinear" | "QuantizeLinear", 1) => {
                    Some(Fill { positive: true, ..Fill::of(ElementType::F32, Vec::new()) })
                }
                ("DequantizeLinear" | "QuantizeLinear", _) => Some(Fill::of(ElementType::U8, Vec::new())),
                ("Reshape", 1) => Some(Fill::ints(&factors(&first?, dice))),
                ("Squeeze", 0) => {
                    let mut shape = extents(dice.between(1, 3), dice);
                    let at = dice.below(shape.len() + 1);
                    shape.insert(at, 1);
                    float(shape)
                }
                ("Squeeze", 1) => {
                    let ones: Vec<i64> =
                        (0i64..).zip(first?).filter(|(_, d)| *d == 1).map(|(k, _)| k).collect();
                    Some(Fill::ints(&[if ones.is_empty() { return None } else { dice.pick(&ones) }]))
                }
                ("Unsqueeze", 1) => {
                    let rank = first?.len() as i64 + 1;
                    Some(Fill::ints(&[dice.below(2 * rank as usize) as i64 - rank]))
                }
                ("Slice", 1..=4) => {
                    let rank = first.as_ref()?.len();
                    (rank > 0).then_some(())?;
                    let axis = dice.below(rank);
                    let extent = first.as_ref()?[axis] as i64;
                    Some(Fill::ints(&[match k {
                        1 => dice.pick(&[0, 0, 1, -2, -1, extent - 1]),
                        // Beyond the beginning, for slices that run backward.
                        2 => dice.pick(&[extent, i64::MAX, -1, 2, 1, -extent - 1, i64::MIN]),
                        3 => axis as i64 - if dice.once_in(3) { rank as i64 } else { 0 },
                        _ => dice.pick(&[1, 1, 2, -1]),
                    }]))
                }
                ("Split", 1) => {
                    let x = first?;
                    let axis = int("axis", 0).rem_euclid(x.len().max(1) as i64) as usize;
                    let mut left = *x.get(axis)?;
                    let mut sizes: Vec<i64> = (1..self.results)
                        .map(|_| {
                            let part = dice.below(left + 1);
                            left -= part;
                            part as i64
                        })
                        .collect();
                    sizes.push(left as i64);
                    Some(Fill::ints(&sizes))
                }
                ("Concat", _) => {
                    let mut shape = dims.iter().flatten().next().cloned().unwrap_or_else(|| extents(3, dice));
                    let axis = int("axis", 0).rem_euclid(shape.len().max(1) as i64) as usize;
                    *shape.get_mut(axis)? = dice.between(1, 3);
                    float(shape)
                }
                ("Pad", 1) => {
                    let rank = first?.len();
                    let plain = dice.once_in(2);
                    let pads = (0..2 * rank).map(|d| {
                        let free = !plain || d % rank.max(1) >= 2;
                        if free { dice.pick(&[0i64, 0, 1, 2, -1]) } else { 0 }
                    });
                    let pads: Vec<i64> = pads.collect();
                    let spatial = dice.once_in(2);
                    Some(Fill::ints(
                        &pads
                            .iter()
                            .enumerate()
                            .map(|(d, p)| {
                                if spatial && d % rank.max(1) < 2 {
                                    0
                                } else if spatial {
                                    p.abs()
                                } else {
                                    *p
                                }
                            })
                            .collect::<Vec<_>>(),
                    ))
                }
                ("Pad", 2) => scalar(self.elem, dice.pick(&[0.0, 0.0, 1.0])),
                ("Dropout", 1) => scalar(ElementType::F32, 0.5),
                ("Dropout", 2) => {
                    let value = Tensor::from_bools(Vec::new(), &[dice.once_in(3)]);
                    Some(Fill {
                        elem: ElementType::Bool,
                        dims: Vec::new(),
                        value: Some(value),
                        positive: false,
                    })
                }
                ("Clip", 1 | 2) => float(Vec::new()),
                (name, 1) if name.starts_with("Reduce") => {
                    let rank = first?.len().max(1) as i64;
                    Some(Fill::ints(&[dice.below(2 * rank as usize) as i64 - rank]))
                }
                ("LayerNormalization", 1 | 2) => {
                    let x = first?;
                    let axis = int("axis", -1).rem_euclid(x.len().max(1) as i64) as usize;
                    float(x.get(axis..)?.to_vec())
                }
                ("AveragePool" | "MaxPool" | "LpPool", 0) => {
                    let n = ints("kernel_shape").map_or(2, |k| k.len());
                    float(extents(2, dice).into_iter().chain((0..n).map(|_| dice.between(2, 6))).collect())
                }
                ("Gather", 1) => {
                    let x = first?;
                    let axis = int("axis", 0).rem_euclid(x.len().max(1) as i64) as usize;
                    let n = *x.get(axis)?;
                    let dims = extents(dice.between(0, 2), dice);
                    let count = dims.iter().product();
                    let list: Vec<i64> = (0..count).map(|_| dice.below(2 * n) as i64 - n as i64).collect();
                    Some(Fill {
                        value: Some(Tensor::from_i64s(dims.clone(), &list)),
                        ..Fill::of(ElementType::I64, dims)
                    })
                }
                ("OneHot", 0) => {
                    let dims = extents(dice.between(0, 2), dice);
                    let count = dims.iter().product();
                    let list: Vec<i64> = (0..count).map(|_| dice.below(5) as i64 - 2).collect();
                    Some(Fill {
                        value: Some(Tensor::from_i64s(dims.clone(), &list)),
                        ..Fill::of(ElementType::I64, dims)
                    })
                }
                ("OneHot", 1) => scalar(ElementType::I64, dice.between(1, 4) as f64),
                ("OneHot", 2) => float(vec![2]),
                ("Expand", 1) => {
                    let wider =
                        first?.into_iter().map(|n| if n == 1 { dice.between(1, 3) } else { n } as i64);
                    let wider: Vec<i64> = wider.collect();
                    let more = (0..dice.below(2)).map(|_| dice.between(1, 3) as i64);
                    Some(Fill::ints(&more.chain(wider).collect::<Vec<_>>()))
                }
                ("Tile", 1) => {
                    Some(Fill::ints(&first?.iter().map(|_| dice.between(1, 3) as i64).collect::<Vec<_>>()))
                }
                ("ConstantOfShape", 0) => {
                    let dims: Vec<i64> =
                        extents(dice.between(0, 3), dice).iter().map(|n| *n as i64).collect();
                    Some(Fill::ints(&dims))
                }
                ("CumSum" | "CumProd", 1) => {
                    let rank = first?.len().max(1);
                    scalar(ElementType::I64, dice.below(2 * rank) as f64 - rank as f64)
                }
                ("TopK", 1) => Some(Fill::ints(&[dice.between(1, *first?.last()?) as i64])),
                ("DepthToSpace", 0) => {
                    let b = int("blocksize", 1) as usize;
                    float(vec![
                        dice.between(1, 2),
                        b * b * dice.between(1, 2),
                        dice.between(1, 3),
                        dice.between(1, 3),
                    ])
                }
                ("SpaceToDepth", 0) => {
                    let b = int("blocksize", 1) as usize;
                    float(vec![
                        dice.between(1, 2),
                        dice.between(1, 3),
                        b * dice.between(1, 2),
                        b * dice.between(1, 2),
                    ])
                }
                ("InstanceNormalization" | "LRN", 0) => float(extents(dice.between(3, 4), dice)),
                ("GroupNormalization", 0) => {
                    let groups = int("num_groups", 1) as usize;
                    let (batch, of_one) = (dice.between(1, 2), dice.between(1, 2));
                    float([vec![batch, groups * of_one], extents(dice.between(1, 2), dice)].concat())
                }
                ("InstanceNormalization", _) => float(vec![*first?.get(1)?]),
                ("GroupNormalization", _) => {
                    let groups = int("num_groups", 1) as usize;
                    float(vec![if self.opset < 21 { groups } else { *first?.get(1)? }])
                }
                ("And" | "Or" | "Xor", _) | ("Where", 0) => {
                    let other = dims.iter().flatten().next().cloned();
                    let dims = match other {
                        Some(shape) => broadcast(&shape, dice),
                        None => extents(dice.between(0, 3), dice),
                    };
                    Some(Fill::of(ElementType::Bool, dims))
                }
                ("BitwiseAnd" | "BitwiseOr" | "BitwiseXor", _) => {
                    Some(Fill::of(ElementType::I64, first.unwrap_or_else(|| extents(2, dice))))
                }
                ("Not", _) => Some(Fill::of(ElementType::Bool, extents(dice.between(0, 3), dice))),
                ("Transpose", 0) => {
                    let rank = ints("perm").map_or_else(|| dice.between(1, dice.rank), |p| p.len());
                    float(extents(rank, dice))
                }
                (_, 0) if self.slots.len() == 1 || !self.binary() => {
                    float(extents(dice.between(1, dice.rank), dice))
                }
                _ if self.binary() => {
                    let other = dims.iter().enumerate().find(|(j, d)| *j != k && d.is_some());
                    match other.and_then(|(_, d)| d.clone()) {
                        Some(shape) => float(broadcast(&shape, dice)),
                        None => float(extents(dice.between(0, dice.rank), dice)),
                    }
                }
                _ => float(first.unwrap_or_else(|| extents(2, dice))),
            }?;
            dims[k] = Some(filled.dims.clone());
            fills[k] = Some(filled);
        }
        Some(fills.into_iter().flatten().collect())
    }

    fn binary(&self) -> bool {
        BROADCASTING.contains(&self.op)
            || matches!(
                self.op,
                "Div" | "Pow" | "Mod" | "Equal" | "Less" | "Greater" | "And" | "Or" | "Where" | "Sum"
            )
    }
}

fn scalar(elem: ElementType, value: f64) -> Option<Fill> {
    let value = values::of_numbers(elem, Vec::new(), &[value])?;
    Some(Fill { elem, dims: Vec::new(), value: Some(value), positive: false })
}

fn extents(rank: usize, dice: &mut Dice) -> Vec<usize> {
    (0..rank).map(|_| dice.extent()).collect()
}

fn permutation(rank: usize, dice: &mut Dice) -> Vec<i64> {
    let mut perm: Vec<i64> = (0..rank as i64).collect();
    for k in (1..rank).rev() {
        perm.swap(k, dice.below(k + 1));
    }
    perm
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
