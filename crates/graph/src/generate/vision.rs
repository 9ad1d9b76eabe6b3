//! Convolutional networks, and a multilayer perceptron.

use super::net::Net;
use crate::graph::ValueId;
use crate::model::Model;
use crate::types::{Dim, ElementType};

fn images(small: bool) -> (i64, usize) {
    if small { (32, 8) } else { (224, 1) }
}

fn conv_norm(
    net: &mut Net,
    x: ValueId,
    from: usize,
    to: usize,
    kernel: [usize; 2],
    stride: usize,
) -> ValueId {
    let y = net.conv(x, from, to, kernel, stride, 1);
    net.norm(y, to)
}

fn conv_relu(
    net: &mut Net,
    x: ValueId,
    from: usize,
    to: usize,
    kernel: [usize; 2],
    stride: usize,
) -> ValueId {
    let y = conv_norm(net, x, from, to, kernel, stride);
    net.relu(y)
}

fn max_pool(net: &mut Net, x: ValueId, stride: i64) -> ValueId {
    let attributes = [
        ("kernel_shape", [3, 3].into()),
        ("pads", [1, 1, 1, 1].into()),
        ("strides", [stride, stride].into()),
    ];
    net.op("MaxPool", &[x], &attributes)
}

/// The end of a classifier: average over the image, then a layer.
fn classify(net: &mut Net, x: ValueId, channels: usize, classes: usize) -> ValueId {
    let pooled = net.op("GlobalAveragePool", &[x], &[]);
    let flat = net.op("Flatten", &[pooled], &[("axis", 1i64.into())]);
    let w = net.layer("fc.weight", &[classes, channels], channels);
    let b = net.weights("fc.bias", &[classes], 0.1, 0.0);
    net.op(
        "Gemm",
        &[flat, w, b],
        &[("alpha", 1.0f32.into()), ("beta", 1.0f32.into()), ("transB", 1i64.into())],
    )
}

fn classes(small: bool) -> usize {
    if small { 10 } else { 1000 }
}

pub(super) fn resnet50(small: bool, seed: u64) -> Model {
    let (side, narrow) = images(small);
    let mut net = Net::new("resnet50", seed);
    let x = net.input("input", ElementType::F32, &[1.into(), 3.into(), side.into(), side.into()]);
    let mut from = 64 / narrow;
    let mut y = conv_relu(&mut net, x, 3, from, [7, 7], 2);
    y = max_pool(&mut net, y, 2);
    for (stage, blocks) in [3, 4, 6, 3].into_iter().enumerate() {
        let width = (64 << stage) / narrow;
        for block in 0..if small { blocks.min(2) } else { blocks } {
            let stride = if stage > 0 && block == 0 { 2 } else { 1 };
            let mut z = conv_relu(&mut net, y, from, width, [1, 1], 1);
            z = conv_relu(&mut net, z, width, width, [3, 3], stride);
            z = conv_norm(&mut net, z, width, 4 * width, [1, 1], 1);
            if block == 0 {
                y = conv_norm(&mut net, y, from, 4 * width, [1, 1], stride);
            }
            from = 4 * width;
            let sum = net.op("Add", &[z, y], &[]);
            y = net.relu(sum);
        }
    }
    let n = classes(small);
    let y = classify(&mut net, y, from, n);
    net.finish(y, &[1.into(), (n as i64).into()])
}

pub(super) fn inception(small: bool, seed: u64) -> Model {
    let (side, narrow) = images(small);
    let mut net = Net::new("inception", seed);
    let x = net.input("input", ElementType::F32, &[1.into(), 3.into(), side.into(), side.into()]);
    let mut from = 64 / narrow;
    let mut y = conv_relu(&mut net, x, 3, from, [7, 7], 2);
    y = max_pool(&mut net, y, 2);
    y = conv_relu(&mut net, y, from, 192 / narrow, [3, 3], 1);
    y = max_pool(&mut net, y, 2);
    from = 192 / narrow;
    // Widths of the branches: 1x1; 1x1 then 3x3; 1x1 then 5x5 as 1x5 and 5x1; pool then 1x1.
    let blocks: [[usize; 6]; 9] = [
        [64, 96, 128, 16, 32, 32],
        [128, 128, 192, 32, 96, 64],
        [192, 96, 208, 16, 48, 64],
        [160, 112, 224, 24, 64, 64],
        [128, 128, 256, 24, 64, 64],
        [112, 144, 288, 32, 64, 64],
        [256, 160, 320, 32, 128, 128],
        [256, 160, 320, 32, 128, 128],
        [384, 192, 384, 48, 128, 128],
    ];
    for (k, widths) in blocks.into_iter().enumerate() {
        if small && k % 3 != 0 {
            continue;
        }
        if k == 2 || k == 7 || (small && k == 3) {
            y = max_pool(&mut net, y, 2);
        }
        let [a, b1, b, c1, c, d] = widths.map(|w| w / narrow);
        let first = conv_relu(&mut net, y, from, a, [1, 1], 1);
        let second = conv_relu(&mut net, y, from, b1, [1, 1], 1);
        let second = conv_relu(&mut net, second, b1, b, [3, 3], 1);
        let third = conv_relu(&mut net, y, from, c1, [1, 1], 1);
        let third = conv_relu(&mut net, third, c1, c, [1, 5], 1);
        let third = conv_relu(&mut net, third, c, c, [5, 1], 1);
        let pooled = max_pool(&mut net, y, 1);
        let fourth = conv_relu(&mut net, pooled, from, d, [1, 1], 1);
        y = net.op("Concat", &[first, second, third, fourth], &[("axis", 1i64.into())]);
        from = a + b + c + d;
    }
    let n = classes(small);
    let y = classify(&mut net, y, from, n);
    net.finish(y, &[1.into(), (n as i64).into()])
}

pub(super) fn mobilenet(small: bool, seed: u64) -> Model {
    let (side, narrow) = images(small);
    let mut net = Net::new("mobilenet", seed);
    let x = net.input("input", ElementType::F32, &[1.into(), 3.into(), side.into(), side.into()]);
    let low = net.scalar("relu6.min", 0.0);
    let high = net.scalar("relu6.max", 6.0);
    let mut from = 32 / narrow;
    let y = conv_norm(&mut net, x, 3, from, [3, 3], 2);
    let mut y = net.op("Clip", &[y, low, high], &[]);
    // Expansion, channels, repetitions, stride.
    let stages = [
        (1, 16, 1, 1),
        (6, 24, 2, 2),
        (6, 32, 3, 2),
        (6, 64, 4, 2),
        (6, 96, 3, 1),
        (6, 160, 3, 2),
        (6, 320, 1, 1),
    ];
    for (expansion, channels, repetitions, stride) in stages {
        let to = channels / narrow;
        for k in 0..if small { repetitions.min(2) } else { repetitions } {
            let stride = if k == 0 { stride } else { 1 };
            let inner = from * expansion;
            let mut z = y;
            if expansion > 1 {
                z = conv_norm(&mut net, z, from, inner, [1, 1], 1);
                z = net.op("Clip", &[z, low, high], &[]);
            }
            z = net.conv(z, inner, inner, [3, 3], stride, inner);
            z = net.norm(z, inner);
            z = net.op("Clip", &[z, low, high], &[]);
            z = conv_norm(&mut net, z, inner, to, [1, 1], 1);
            y = if stride == 1 && from == to { net.op("Add", &[y, z], &[]) } else { z };
            from = to;
        }
    }
    let last = 1280 / narrow;
    let y = conv_norm(&mut net, y, from, last, [1, 1], 1);
    let y = net.op("Clip", &[y, low, high], &[]);
    let n = classes(small);
    let y = classify(&mut net, y, last, n);
    net.finish(y, &[1.into(), (n as i64).into()])
}

pub(super) fn mlp(small: bool, seed: u64) -> Model {
    let mut net = Net::new("mlp", seed);
    let widths: &[usize] = if small { &[20, 13, 7, 3] } else { &[784, 512, 256, 10] };
    let batch = Dim::symbol("batch");
    let mut y = net.input("input", ElementType::F32, &[batch.clone(), (widths[0] as i64).into()]);
    for (k, pair) in widths.windows(2).enumerate() {
        let w = net.layer(&format!("fc{k}.weight"), &[pair[1], pair[0]], pair[0]);
        let b = net.weights(&format!("fc{k}.bias"), &[pair[1]], 0.1, 0.0);
        y = net.op("Gemm", &[y, w, b], &[("transB", 1i64.into())]);
        if k + 2 < widths.len() {
            y = net.relu(y);
        }
    }
    let y = net.op("Softmax", &[y], &[("axis", (-1i64).into())]);
    net.finish(y, &[batch, (widths[widths.len() - 1] as i64).into()])
}
