//! What the generators share: weights and common layers.

use loops::{Data, Elem, Scalar};

use crate::attribute::AttributeValue;
use crate::graph::{Graph, NewNode, Place, ValueId};
use crate::model::Model;
use crate::tensor::Tensor;
use crate::types::{Dim, ElementType, TensorType};

/// The operator set that the models are written for.
pub(super) const OPSET: i64 = 17;

/// A graph that grows.
pub(super) struct Net {
    pub g: Graph,
    seed: u64,
    count: usize,
}

impl Net {
    pub fn new(name: &str, seed: u64) -> Net {
        Net { g: Graph::new(name), seed: seed.wrapping_mul(0x9e37_79b9_7f4a_7c15), count: 0 }
    }

    pub fn input(&mut self, name: &str, elem: ElementType, dims: &[Dim]) -> ValueId {
        self.g.add_input(name, TensorType { elem, shape: Some(dims.to_vec()) })
    }

    /// Random numbers between `-scale + offset` and `scale + offset`.
    pub fn weights(&mut self, name: &str, dims: &[usize], scale: f32, offset: f32) -> ValueId {
        self.seed = self.seed.wrapping_add(1);
        let random = loops::Tensor::random(&Elem::Scalar(Scalar::F32), dims.to_vec(), self.seed);
        let Data::F32(mut numbers) = random.data else {
            unreachable!("numbers of the type that was asked for")
        };
        numbers.iter_mut().for_each(|x| *x = *x * scale + offset);
        self.g.add_initializer(name, Tensor::from_f32s(dims.to_vec(), &numbers))
    }

    /// Weights of a layer that `fan_in` numbers come into: variances stay.
    pub fn layer(&mut self, name: &str, dims: &[usize], fan_in: usize) -> ValueId {
        self.weights(name, dims, (3.0 / fan_in.max(1) as f32).sqrt(), 0.0)
    }

    pub fn ints(&mut self, name: &str, list: &[i64]) -> ValueId {
        self.g.add_initializer(name, Tensor::from_i64s(vec![list.len()], list))
    }

    pub fn scalar(&mut self, name: &str, x: f32) -> ValueId {
        self.g.add_initializer(name, Tensor::scalar_f32(x))
    }

    /// A node with one result; nodes are numbered by name.
    pub fn op(&mut self, op: &str, inputs: &[ValueId], attributes: &[(&str, AttributeValue)]) -> ValueId {
        self.several(op, inputs, 1, attributes)[0]
    }

    pub fn several(
        &mut self,
        op: &str,
        inputs: &[ValueId],
        outputs: usize,
        attributes: &[(&str, AttributeValue)],
    ) -> Vec<ValueId> {
        self.count += 1;
        let name = format!("{op}_{}", self.count);
        let results: Vec<ValueId> = (0..outputs)
            .map(|k| {
                self.g.add_value(&if outputs == 1 { format!("{name}_out") } else { format!("{name}_out{k}") })
            })
            .collect();
        let mut new = NewNode::new(op, inputs.iter().copied(), results.iter().copied()).named(name);
        for (name, value) in attributes {
            new = new.with(*name, value.clone());
        }
        self.g.insert(new, Place::Last);
        results
    }

    /// A convolution of square windows, as wide as high, with padding that keeps the extent at
    /// stride 1.
    pub fn conv(
        &mut self,
        x: ValueId,
        from: usize,
        to: usize,
        kernel: [usize; 2],
        stride: usize,
        groups: usize,
    ) -> ValueId {
        let fan_in = from / groups * kernel[0] * kernel[1];
        let name = format!("conv_{}.weight", self.count);
        let w = self.layer(&name, &[to, from / groups, kernel[0], kernel[1]], fan_in);
        let [h, v] = kernel.map(|k| (k as i64 - 1) / 2);
        self.op(
            "Conv",
            &[x, w],
            &[
                ("dilations", [1, 1].into()),
                ("group", (groups as i64).into()),
                ("kernel_shape", kernel.map(|k| k as i64).into()),
                ("pads", [h, v, h, v].into()),
                ("strides", [stride as i64; 2].into()),
            ],
        )
    }

    /// Batch normalisation.
    pub fn norm(&mut self, x: ValueId, channels: usize) -> ValueId {
        let k = self.count;
        let scale = self.weights(&format!("bn_{k}.weight"), &[channels], 0.2, 1.0);
        let bias = self.weights(&format!("bn_{k}.bias"), &[channels], 0.1, 0.0);
        let mean = self.weights(&format!("bn_{k}.running_mean"), &[channels], 0.1, 0.0);
        let var = self.weights(&format!("bn_{k}.running_var"), &[channels], 0.2, 1.0);
        self.op(
            "BatchNormalization",
            &[x, scale, bias, mean, var],
            &[("epsilon", 1e-5f32.into()), ("momentum", 0.9f32.into())],
        )
    }

    pub fn relu(&mut self, x: ValueId) -> ValueId {
        self.op("Relu", &[x], &[])
    }

    /// A layer of `x * w + b` on the last dimension, as `MatMul` and `Add`.
    pub fn dense(&mut self, x: ValueId, from: usize, to: usize) -> ValueId {
        let k = self.count;
        let w = self.layer(&format!("dense_{k}.weight"), &[from, to], from);
        let b = self.weights(&format!("dense_{k}.bias"), &[to], 0.1, 0.0);
        let y = self.op("MatMul", &[x, w], &[]);
        self.op("Add", &[b, y], &[])
    }

    /// Layer normalisation over the last dimension, spelled out as exporters did before it was an
    /// operator.
    pub fn layer_norm(&mut self, x: ValueId, width: usize) -> ValueId {
        let k = self.count;
        let gamma = self.weights(&format!("ln_{k}.weight"), &[width], 0.2, 1.0);
        let beta = self.weights(&format!("ln_{k}.bias"), &[width], 0.1, 0.0);
        let two = self.scalar(&format!("ln_{k}.two"), 2.0);
        let epsilon = self.scalar(&format!("ln_{k}.epsilon"), 1e-5);
        let mean = self.op("ReduceMean", &[x], &[("axes", [-1].into())]);
        let centred = self.op("Sub", &[x, mean], &[]);
        let square = self.op("Pow", &[centred, two], &[]);
        let variance = self.op("ReduceMean", &[square], &[("axes", [-1].into())]);
        let shifted = self.op("Add", &[variance, epsilon], &[]);
        let deviation = self.op("Sqrt", &[shifted], &[]);
        let normal = self.op("Div", &[centred, deviation], &[]);
        let scaled = self.op("Mul", &[normal, gamma], &[]);
        self.op("Add", &[scaled, beta], &[])
    }

    /// GELU, spelled out.
    pub fn gelu(&mut self, x: ValueId) -> ValueId {
        let k = self.count;
        let root = self.scalar(&format!("gelu_{k}.root"), std::f32::consts::SQRT_2);
        let one = self.scalar(&format!("gelu_{k}.one"), 1.0);
        let half = self.scalar(&format!("gelu_{k}.half"), 0.5);
        let scaled = self.op("Div", &[x, root], &[]);
        let erf = self.op("Erf", &[scaled], &[]);
        let sum = self.op("Add", &[erf, one], &[]);
        let product = self.op("Mul", &[x, sum], &[]);
        self.op("Mul", &[product, half], &[])
    }

    /// The finished model with this output.
    pub fn finish(mut self, output: ValueId, dims: &[Dim]) -> Model {
        self.g.rename(output, "output");
        self.g.declare(output, TensorType { elem: ElementType::F32, shape: Some(dims.to_vec()) });
        self.g.add_output(output);
        Model::new(self.g, OPSET)
    }
}
