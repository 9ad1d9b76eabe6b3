//! Convolution and pooling.

use super::call::{Call, Found, add, div, mul, one, sub, sum, typed};
use crate::types::{Dim, ElementType, Shape, TensorType};

/// What all windows have in common, with defaults filled in.
struct Windows {
    kernel: Vec<Dim>,
    strides: Vec<i64>,
    dilations: Vec<i64>,
    /// Before and after, if explicit.
    pads: Vec<i64>,
    auto: Auto,
}

#[derive(Clone, Copy, PartialEq)]
enum Auto {
    Explicit,
    Same { upper: bool },
    Valid,
}

impl Windows {
    fn new(call: &Call, kernel: Vec<Dim>) -> Result<Windows, String> {
        let n = kernel.len();
        let list = |name: &str, default: i64, length: usize| -> Result<Vec<i64>, String> {
            let found = call.node.ints(name).map_or(vec![default; length], <[i64]>::to_vec);
            if found.len() == length {
                return Ok(found);
            }
            Err(format!("has `{name}` of length {} where {length} are needed", found.len()))
        };
        let auto = match call.node.string("auto_pad", "NOTSET") {
            "SAME_UPPER" => Auto::Same { upper: true },
            "SAME_LOWER" => Auto::Same { upper: false },
            "VALID" => Auto::Valid,
            "NOTSET" | "" => Auto::Explicit,
            other => return Err(format!("has the unknown `auto_pad` \"{other}\"")),
        };
        let windows = Windows {
            strides: list("strides", 1, n)?,
            dilations: list("dilations", 1, n)?,
            pads: if auto == Auto::Explicit { list("pads", 0, 2 * n)? } else { vec![0; 2 * n] },
            kernel,
            auto,
        };
        match windows.strides.iter().chain(&windows.dilations).find(|x| **x <= 0) {
            Some(x) => Err(format!("has a stride or dilation of {x}")),
            None => Ok(windows),
        }
    }

    /// The extent of the window with its gaps.
    fn reach(&self, k: usize) -> Dim {
        add(&mul(&sub(&self.kernel[k], &Dim::Known(1)), &Dim::Known(self.dilations[k])), &Dim::Known(1))
    }

    /// The number of positions of the window.
    fn positions(&self, k: usize, extent: &Dim, ceil: bool) -> Result<Dim, String> {
        let (stride, n) = (self.strides[k], self.kernel.len());
        match self.auto {
            Auto::Same { .. } => return Ok(div(&add(extent, &Dim::Known(stride - 1)), stride)),
            Auto::Valid | Auto::Explicit => {}
        }
        let padded = sum([extent, &Dim::Known(self.pads[k]), &Dim::Known(self.pads[k + n])]);
        let slack = sub(&padded, &self.reach(k));
        if let Dim::Known(slack) = slack
            && slack < -(stride - 1)
        {
            return Err(format!("has windows of {} in a padded extent of {padded}", self.reach(k)));
        }
        let mut found = if ceil {
            add(&div(&add(&slack, &Dim::Known(stride - 1)), stride), &Dim::Known(1))
        } else {
            add(&div(&slack, stride), &Dim::Known(1))
        };
        // A last window that begins in the padding after the input is left out.
        if ceil
            && let (Dim::Known(count), Dim::Known(extent)) = (&found, extent)
            && (count - 1) * stride >= extent + self.pads[k]
        {
            found = Dim::Known(count - 1);
        }
        Ok(found)
    }
}

fn kernel_of_attribute(call: &Call) -> Option<Vec<Dim>> {
    call.node.ints("kernel_shape").map(|k| k.iter().map(|d| (*d).into()).collect())
}

/// The extents of the kernel, from the attribute or the weights.
fn kernel(call: &Call, weights: Option<&Shape>, rank: usize) -> Result<Option<Vec<Dim>>, String> {
    let kernel = match (kernel_of_attribute(call), weights) {
        (Some(kernel), _) => kernel,
        (None, Some(weights)) => weights.get(2..).unwrap_or(&[]).to_vec(),
        (None, None) => return Ok(None),
    };
    if kernel.len() + 2 != rank {
        return Err(format!("has a kernel of {} dimensions on an input of {rank}", kernel.len()));
    }
    let of_weights = weights.and_then(|w| w.get(2..)).unwrap_or_default();
    let differ = |(said, is): (&Dim, &Dim)| matches!((said, is), (Dim::Known(a), Dim::Known(b)) if a != b);
    if kernel.iter().zip(of_weights).any(differ) {
        let list = |dims: &[Dim]| dims.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
        return Err(format!(
            "has the `kernel_shape` [{}] and weights of [{}]",
            list(&kernel),
            list(of_weights)
        ));
    }
    Ok(Some(kernel))
}

/// `Conv` and its quantized kin, which have their operands at other places.
pub(super) fn convolution(call: &Call, weights_at: usize, elem: Option<ElementType>) -> Found {
    let Some(x) = call.shape(0) else { return one(typed(elem, None)) };
    let w = call.shape(weights_at);
    if x.len() < 2 {
        return Err(format!("has an input of {} dimensions", x.len()));
    }
    if w.is_some_and(|w| w.len() != x.len()) {
        return Err(format!(
            "has weights of {} dimensions on an input of {}",
            w.map_or(0, Vec::len),
            x.len()
        ));
    }
    let group = call.node.int("group", 1);
    if let Some(w) = w
        && let (Dim::Known(channels), Dim::Known(per_group)) = (&x[1], &w[1])
        && per_group.checked_mul(group) != Some(*channels)
    {
        return Err(format!("has {channels} channels where the weights take {group} times {per_group}"));
    }
    let channels = w.map_or(Dim::Unknown, |w| w[0].clone());
    let Some(kernel) = kernel(call, w, x.len())? else {
        let rest = std::iter::repeat_n(Dim::Unknown, x.len() - 2);
        return one(typed(elem, Some([x[0].clone(), channels].into_iter().chain(rest).collect())));
    };
    let windows = Windows::new(call, kernel)?;
    let mut shape = vec![x[0].clone(), channels];
    for (k, extent) in x[2..].iter().enumerate() {
        shape.push(windows.positions(k, extent, false)?);
    }
    one(typed(elem, Some(shape)))
}

pub(super) fn pool(call: &Call) -> Found {
    let Some(x) = call.shape(0) else { return one(typed(call.elem(0), None)) };
    let Some(kernel) = kernel(call, None, x.len())? else { return Err("has no `kernel_shape`".into()) };
    let windows = Windows::new(call, kernel)?;
    let ceil = call.node.int("ceil_mode", 0) != 0;
    let mut shape = x[..2].to_vec();
    for (k, extent) in x[2..].iter().enumerate() {
        shape.push(windows.positions(k, extent, ceil)?);
    }
    let first = typed(call.elem(0), Some(shape.clone()));
    let indices = TensorType { elem: ElementType::I64, shape: Some(shape) };
    Ok(vec![first.map(Into::into), Some(indices.into())])
}

pub(super) fn global_pool(call: &Call) -> Found {
    let shape = call
        .shape(0)
        .map(|x| x.iter().enumerate().map(|(k, d)| if k < 2 { d.clone() } else { Dim::Known(1) }).collect());
    one(typed(call.elem(0), shape))
}

pub(super) fn convolution_transposed(call: &Call) -> Found {
    let elem = call.elem(0);
    let (Some(x), Some(w)) = (call.shape(0), call.shape(1)) else { return one(typed(elem, None)) };
    if x.len() < 2 || w.len() != x.len() {
        return Err(format!("has weights of {} dimensions on an input of {}", w.len(), x.len()));
    }
    let Some(kernel) = kernel(call, Some(w), x.len())? else { return one(typed(elem, None)) };
    let windows = Windows::new(call, kernel)?;
    let n = x.len() - 2;
    let mut shape = vec![x[0].clone(), mul(&w[1], &Dim::Known(call.node.int("group", 1)))];
    let given = call.node.ints("output_shape").filter(|s| s.len() >= n).map(|s| &s[s.len() - n..]);
    let extra = call.node.ints("output_padding").filter(|p| p.len() == n);
    for k in 0..n {
        if let Some(given) = given {
            shape.push(Dim::Known(given[k]));
            continue;
        }
        let stride = Dim::Known(windows.strides[k]);
        if let Auto::Same { .. } = windows.auto {
            shape.push(mul(&x[k + 2], &stride));
            continue;
        }
        let full = add(&mul(&sub(&x[k + 2], &Dim::Known(1)), &stride), &windows.reach(k));
        let full = add(&full, &Dim::Known(extra.map_or(0, |e| e[k])));
        let pads = add(&Dim::Known(windows.pads[k]), &Dim::Known(windows.pads[k + n]));
        shape.push(sub(&full, &pads));
    }
    one(typed(elem, Some(shape)))
}

pub(super) fn max_unpool(call: &Call) -> Found {
    if call.has(2) {
        let known = call.elements(2).or_else(|| Some(vec![Dim::Unknown; call.rank(0)?]));
        return one(typed(call.elem(0), known));
    }
    let Some(x) = call.shape(0) else { return one(typed(call.elem(0), None)) };
    let Some(kernel) = kernel(call, None, x.len())? else { return Err("has no `kernel_shape`".into()) };
    let windows = Windows::new(call, kernel)?;
    let n = x.len() - 2;
    let mut shape = x[..2].to_vec();
    for k in 0..n {
        let full =
            add(&mul(&sub(&x[k + 2], &Dim::Known(1)), &Dim::Known(windows.strides[k])), &windows.kernel[k]);
        let pads = add(&Dim::Known(windows.pads[k]), &Dim::Known(windows.pads[k + n]));
        shape.push(sub(&full, &pads));
    }
    one(typed(call.elem(0), Some(shape)))
}

/// `RoiAlign` and `MaxRoiPool`: one small image a region.
pub(super) fn regions(call: &Call) -> Found {
    let [height, width] = match call.node.ints("pooled_shape") {
        Some([h, w]) => [Dim::Known(*h), Dim::Known(*w)],
        _ => [Dim::Known(call.node.int("output_height", 1)), Dim::Known(call.node.int("output_width", 1))],
    };
    let channels = call.shape(0).and_then(|x| x.get(1).cloned()).unwrap_or_default();
    let count = call.shape(1).and_then(|r| r.first().cloned()).unwrap_or_default();
    one(typed(call.elem(0), Some(vec![count, channels, height, width])))
}

pub(super) fn deformed(call: &Call) -> Found {
    convolution(call, 1, call.elem(0))
}

/// `Col2Im`.
pub(super) fn columns_to_image(call: &Call) -> Found {
    let Some(x) = call.shape(0).filter(|x| x.len() == 3) else { return one(typed(call.elem(0), None)) };
    let image = call.elements(1).or_else(|| Some(vec![Dim::Unknown; call.length(1)?]));
    let channels = match (x.get(1), call.ints(2)) {
        (Some(c), Some(block)) => {
            let area = block.iter().try_fold(1i64, |area, n| area.checked_mul(*n));
            area.map_or(Dim::Unknown, |area| div(c, area))
        }
        _ => Dim::Unknown,
    };
    let shape = image.map(|image| [x[0].clone(), channels].into_iter().chain(image).collect());
    one(typed(call.elem(0), shape))
}
