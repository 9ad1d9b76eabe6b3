//! Generates models in well-known shapes, with random weights. Tests and benchmarks run on them.
//!
//! Their nodes are those that exporters write: batch normalisation is separate from convolution,
//! layer normalisation and GELU are spelled out, and shapes are computed. So there is something to
//! optimise. The same seed gives the same weights on any machine.

mod net;
mod synthetic;
mod transformer;
mod vision;

use crate::model::Model;

/// How large a model is.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Scale {
    /// As published.
    #[default]
    Full,
    /// The same structure, narrow and shallow, on small inputs: for tests.
    Small,
}

/// Name and description of each model.
pub const MODELS: &[(&str, &str)] = &[
    ("resnet50", "residual network of 50 layers, images of 224 x 224"),
    ("inception", "blocks of parallel convolutions of several sizes, images of 224 x 224"),
    ("mobilenet", "depthwise and pointwise convolutions with inverted residuals, images of 224 x 224"),
    ("vit", "vision transformer, base size, patches of 16 x 16"),
    ("bert", "BERT base: 12 layers, 12 heads, hidden size 768; extents of batch and sequence by name"),
    ("gpt", "blocks of a decoder with a causal mask, hidden size 768"),
    ("mlp", "perceptron of 784, 512, 256, 10"),
    ("chain", "a chain of element-wise operators (nodes given by --nodes)"),
    ("parallel", "branches on one input, each three nodes"),
    ("threes", "the same branches, three on each of many inputs"),
    ("conv_bn", "convolutions, batch normalisations, activations in a row"),
];

/// Whether the number of nodes of this model can be chosen.
pub fn is_synthetic(name: &str) -> bool {
    matches!(name, "chain" | "parallel" | "threes" | "conv_bn")
}

/// The model of this name; `nodes` counts for the synthetic ones. `None` if there is no such model.
pub fn generate(name: &str, scale: Scale, nodes: usize, seed: u64) -> Option<Model> {
    let small = scale == Scale::Small;
    Some(match name {
        "resnet50" => vision::resnet50(small, seed),
        "inception" => vision::inception(small, seed),
        "mobilenet" => vision::mobilenet(small, seed),
        "vit" => transformer::vit(small, seed),
        "bert" => transformer::bert(small, seed),
        "gpt" => transformer::gpt(small, seed),
        "mlp" => vision::mlp(small, seed),
        "chain" => synthetic::chain(nodes, seed),
        "parallel" => synthetic::parallel(nodes, seed),
        "threes" => synthetic::threes(nodes, seed),
        "conv_bn" => synthetic::conv_bn(nodes, seed),
        _ => return None,
    })
}
