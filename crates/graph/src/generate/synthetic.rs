//! Graphs of any size, for measuring how time grows.

use super::net::Net;
use crate::model::Model;
use crate::types::ElementType;

/// Element-wise operators one after the other, some of which say nothing: identities, casts to the
/// same type, transpositions in pairs.
pub(super) fn chain(nodes: usize, seed: u64) -> Model {
    let mut net = Net::new("chain", seed);
    let dims = [2.into(), 3.into(), 4.into()];
    let mut x = net.input("input", ElementType::F32, &dims);
    let one = net.scalar("one", 0.5);
    let mut k = 0;
    while k < nodes {
        x = match k % 10 {
            0 => net.op("Add", &[x, one], &[]),
            1 => net.op("Identity", &[x], &[]),
            2 => net.op("Relu", &[x], &[]),
            3 | 4 => net.op("Transpose", &[x], &[("perm", [0, 2, 1].into())]),
            5 => net.op("Mul", &[x, one], &[]),
            6 => net.op("Cast", &[x], &[("to", 1i64.into())]),
            7 => net.op("Dropout", &[x], &[]),
            8 => net.op("Sigmoid", &[x], &[]),
            _ => net.op("Neg", &[x], &[]),
        };
        k += 1;
        // Transpositions come in pairs.
        if k == nodes && k % 10 == 4 {
            x = net.op("Transpose", &[x], &[("perm", [0, 2, 1].into())]);
        }
    }
    net.finish(x, &dims)
}

/// Branches on one input: a product with weights, a bias, an activation; joined by sums.
pub(super) fn parallel(nodes: usize, seed: u64) -> Model {
    branches("parallel", nodes, usize::MAX, seed)
}

/// The same with an input for every three branches.
pub(super) fn threes(nodes: usize, seed: u64) -> Model {
    branches("threes", nodes, 3, seed)
}

/// Branches, so many on each input.
fn branches(name: &str, nodes: usize, each: usize, seed: u64) -> Model {
    let mut net = Net::new(name, seed);
    let dims = [2.into(), 8.into()];
    let mut x = net.input("input", ElementType::F32, &dims);
    let mut branches = Vec::new();
    for k in 0..(nodes / 3).max(1) {
        if k > 0 && k % each == 0 {
            x = net.input(&format!("input_{}", k / each), ElementType::F32, &dims);
        }
        let w = net.layer(&format!("branch_{k}.weight"), &[8, 8], 8);
        let b = net.weights(&format!("branch_{k}.bias"), &[8], 0.1, 0.0);
        let y = net.op("MatMul", &[x, w], &[]);
        let y = net.op("Add", &[y, b], &[]);
        branches.push(net.relu(y));
    }
    let y = if branches.len() == 1 { branches[0] } else { net.op("Sum", &branches, &[]) };
    net.finish(y, &dims)
}

/// Convolution, batch normalisation, activation, again and again.
pub(super) fn conv_bn(nodes: usize, seed: u64) -> Model {
    let mut net = Net::new("conv_bn", seed);
    let dims = [1.into(), 4.into(), 8.into(), 8.into()];
    let mut x = net.input("input", ElementType::F32, &dims);
    for _ in 0..(nodes / 3).max(1) {
        x = net.conv(x, 4, 4, [3, 3], 1, 1);
        x = net.norm(x, 4);
        x = net.relu(x);
    }
    net.finish(x, &dims)
}
