//! Transformers.

use super::net::Net;
use crate::graph::ValueId;
use crate::model::Model;
use crate::tensor::Tensor;
use crate::types::{Dim, ElementType};

struct Sizes {
    layers: usize,
    heads: usize,
    hidden: usize,
    inner: usize,
}

fn sizes(small: bool, layers: usize) -> Sizes {
    if small {
        Sizes { layers: 2, heads: 2, hidden: 16, inner: 24 }
    } else {
        Sizes { layers, heads: 12, hidden: 768, inner: 3072 }
    }
}

/// The extents of a shape that are computed where the model runs: batch and length of `x`, as
/// vectors of one element.
struct Extents {
    batch: ValueId,
    length: ValueId,
}

fn extents(net: &mut Net, x: ValueId) -> Extents {
    let one = |net: &mut Net, k: i64| {
        let place = net.g.add_initializer(&format!("place_{k}"), Tensor::scalar_i64(k));
        let axes = net.ints("axes", &[0]);
        let shape = net.op("Shape", &[x], &[]);
        let extent = net.op("Gather", &[shape, place], &[("axis", 0i64.into())]);
        net.op("Unsqueeze", &[extent, axes], &[])
    };
    Extents { batch: one(net, 0), length: one(net, 1) }
}

/// Attention with several heads; `mask` is added to the scores.
fn attention(
    net: &mut Net,
    x: ValueId,
    s: &Sizes,
    mask: Option<ValueId>,
    fixed: Option<[i64; 2]>,
) -> ValueId {
    let width = s.hidden / s.heads;
    let shapes = |net: &mut Net, tail: &[i64]| -> ValueId {
        match fixed {
            Some([batch, length]) => {
                let list: Vec<i64> = [batch, length].into_iter().chain(tail.iter().copied()).collect();
                net.ints("shape", &list)
            }
            None => {
                let e = extents(net, x);
                let tail = net.ints("tail", tail);
                net.op("Concat", &[e.batch, e.length, tail], &[("axis", 0i64.into())])
            }
        }
    };
    let heads = |net: &mut Net, perm: [i64; 4]| {
        let y = net.dense(x, s.hidden, s.hidden);
        let shape = shapes(net, &[s.heads as i64, width as i64]);
        let y = net.op("Reshape", &[y, shape], &[]);
        net.op("Transpose", &[y], &[("perm", perm.into())])
    };
    let q = heads(net, [0, 2, 1, 3]);
    let k = heads(net, [0, 2, 3, 1]);
    let v = heads(net, [0, 2, 1, 3]);
    let scores = net.op("MatMul", &[q, k], &[]);
    let root = net.scalar("root", (width as f32).sqrt());
    let mut scores = net.op("Div", &[scores, root], &[]);
    if let Some(mask) = mask {
        scores = net.op("Add", &[scores, mask], &[]);
    }
    let weights = net.op("Softmax", &[scores], &[("axis", (-1i64).into())]);
    let y = net.op("MatMul", &[weights, v], &[]);
    let y = net.op("Transpose", &[y], &[("perm", [0, 2, 1, 3].into())]);
    let shape = shapes(net, &[s.hidden as i64]);
    let y = net.op("Reshape", &[y, shape], &[]);
    net.dense(y, s.hidden, s.hidden)
}

fn feed_forward(net: &mut Net, x: ValueId, s: &Sizes) -> ValueId {
    let y = net.dense(x, s.hidden, s.inner);
    let y = net.gelu(y);
    net.dense(y, s.inner, s.hidden)
}

pub(super) fn bert(small: bool, seed: u64) -> Model {
    let s = sizes(small, 12);
    let mut net = Net::new("bert", seed);
    let (words, positions) = if small { (50, 32) } else { (30522, 512) };
    let dims = [Dim::symbol("batch"), Dim::symbol("sequence")];
    let ids = net.input("input_ids", ElementType::I64, &dims);
    let types = net.input("token_type_ids", ElementType::I64, &dims);
    let attended = net.input("attention_mask", ElementType::I64, &dims);
    // 0 where a place is attended to, a large negative number where it is not.
    let axes = net.ints("mask.axes", &[1, 2]);
    let mask = net.op("Unsqueeze", &[attended, axes], &[]);
    let mask = net.op("Cast", &[mask], &[("to", 1i64.into())]);
    let one = net.scalar("mask.one", 1.0);
    let far = net.scalar("mask.far", -10000.0);
    let mask = net.op("Sub", &[one, mask], &[]);
    let mask = net.op("Mul", &[mask, far], &[]);

    let embed = |net: &mut Net, name: &str, count: usize| net.weights(name, &[count, s.hidden], 1.0, 0.0);
    let word_table = embed(&mut net, "embeddings.word", words);
    let type_table = embed(&mut net, "embeddings.type", 4);
    let place_table = embed(&mut net, "embeddings.position", positions);
    let word = net.op("Gather", &[word_table, ids], &[]);
    let kind = net.op("Gather", &[type_table, types], &[]);
    let places: Vec<i64> = (0..positions as i64).collect();
    let places = net.g.add_initializer("positions", Tensor::from_i64s(vec![1, positions], &places));
    let e = extents(&mut net, ids);
    let zero = net.ints("zero", &[0]);
    let axis = net.ints("one", &[1]);
    let places = net.op("Slice", &[places, zero, e.length, axis], &[]);
    let place = net.op("Gather", &[place_table, places], &[]);
    let x = net.op("Add", &[word, kind], &[]);
    let x = net.op("Add", &[x, place], &[]);
    let mut x = net.layer_norm(x, s.hidden);
    for _ in 0..s.layers {
        let y = attention(&mut net, x, &s, Some(mask), None);
        let y = net.op("Add", &[y, x], &[]);
        x = net.layer_norm(y, s.hidden);
        let y = feed_forward(&mut net, x, &s);
        let y = net.op("Add", &[y, x], &[]);
        x = net.layer_norm(y, s.hidden);
    }
    let [batch, length] = dims;
    net.finish(x, &[batch, length, (s.hidden as i64).into()])
}

pub(super) fn gpt(small: bool, seed: u64) -> Model {
    let s = sizes(small, 4);
    let mut net = Net::new("gpt", seed);
    let length = if small { 7 } else { 128 };
    let dims = [1.into(), (length as i64).into(), (s.hidden as i64).into()];
    let mut x = net.input("input", ElementType::F32, &dims);
    let mask: Vec<f32> =
        (0..length * length).map(|k| if k % length > k / length { -10000.0 } else { 0.0 }).collect();
    let mask = net.g.add_initializer("causal_mask", Tensor::from_f32s(vec![length, length], &mask));
    for _ in 0..s.layers {
        let y = net.layer_norm(x, s.hidden);
        let y = attention(&mut net, y, &s, Some(mask), Some([1, length as i64]));
        x = net.op("Add", &[x, y], &[]);
        let y = net.layer_norm(x, s.hidden);
        let y = feed_forward(&mut net, y, &s);
        x = net.op("Add", &[x, y], &[]);
    }
    let x = net.layer_norm(x, s.hidden);
    net.finish(x, &dims)
}

pub(super) fn vit(small: bool, seed: u64) -> Model {
    let s = sizes(small, 12);
    let mut net = Net::new("vit", seed);
    let (side, patch) = if small { (8usize, 4usize) } else { (224, 16) };
    let patches = (side / patch) * (side / patch);
    let x = net.input(
        "input",
        ElementType::F32,
        &[1.into(), 3.into(), (side as i64).into(), (side as i64).into()],
    );
    let w = net.layer("patch.weight", &[s.hidden, 3, patch, patch], 3 * patch * patch);
    let b = net.weights("patch.bias", &[s.hidden], 0.1, 0.0);
    let x = net.op(
        "Conv",
        &[x, w, b],
        &[("kernel_shape", [patch as i64; 2].into()), ("strides", [patch as i64; 2].into())],
    );
    let shape = net.ints("patch.shape", &[1, s.hidden as i64, patches as i64]);
    let x = net.op("Reshape", &[x, shape], &[]);
    let x = net.op("Transpose", &[x], &[("perm", [0, 2, 1].into())]);
    let class = net.weights("class_token", &[1, 1, s.hidden], 0.5, 0.0);
    let x = net.op("Concat", &[class, x], &[("axis", 1i64.into())]);
    let places = net.weights("positions", &[1, patches + 1, s.hidden], 0.5, 0.0);
    let mut x = net.op("Add", &[x, places], &[]);
    for _ in 0..s.layers {
        let y = net.layer_norm(x, s.hidden);
        let y = attention(&mut net, y, &s, None, Some([1, patches as i64 + 1]));
        x = net.op("Add", &[x, y], &[]);
        let y = net.layer_norm(x, s.hidden);
        let y = feed_forward(&mut net, y, &s);
        x = net.op("Add", &[x, y], &[]);
    }
    let x = net.layer_norm(x, s.hidden);
    let first = net.g.add_initializer("first", Tensor::scalar_i64(0));
    let x = net.op("Gather", &[x, first], &[("axis", 1i64.into())]);
    let n = if small { 10 } else { 1000 };
    let x = net.dense(x, s.hidden, n);
    net.finish(x, &[1.into(), (n as i64).into()])
}
