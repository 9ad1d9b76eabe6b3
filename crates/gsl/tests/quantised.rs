//! Weights that constant folding leaves alone are no constants for rules either: what a rule would
//! make of them is computed at each run of the model.

use graph::simplify::{FoldOptions, simplify};
use graph::{ElementType, Graph, Model, NewNode, Place, Tensor, TensorType, ValueId};
use gsl::{Options, RuleSet};

/// The rules that ship, in their order.
fn rules() -> RuleSet {
    let all = ["layout", "arithmetic", "convolution", "products", "recognise", "parallel"].map(|name| {
        let path = golden::root().join(format!("library/gsl/{name}.gsl"));
        let (file, errors) = gsl::parse(&std::fs::read_to_string(path).unwrap());
        assert!(errors.is_empty(), "{name}");
        gsl::compile(&file).unwrap()
    });
    RuleSet::new(all.into_iter().flatten().collect())
}

/// A model that is being put together; weights are 8 or 32 bits, and large enough to be left alone
/// by folding.
struct Net {
    graph: Graph,
    quantised: bool,
}

impl Net {
    fn new(quantised: bool) -> Net {
        Net { graph: Graph::new("net"), quantised }
    }

    fn call(&mut self, op: &str, inputs: &[ValueId], attributes: &[(&str, Vec<i64>)]) -> ValueId {
        let result = self.graph.add_value("y");
        let mut node = NewNode::new(op, inputs.iter().map(|v| Some(*v)), [Some(result)]);
        for (name, list) in attributes {
            node = match (*name, list.as_slice()) {
                ("axis", [one]) => node.with(*name, *one),
                _ => node.with(*name, list.clone()),
            };
        }
        self.graph.insert(node, Place::Last);
        result
    }

    fn floats(&mut self, dims: &[usize]) -> ValueId {
        let count = dims.iter().product::<usize>();
        let seed = self.graph.value_bound();
        let numbers: Vec<f32> = (0..count).map(|k: usize| 0.5 + ((k + seed) % 7) as f32 / 8.0).collect();
        self.graph.add_initializer("w", Tensor::from_f32s(dims, &numbers))
    }

    fn weights(&mut self, dims: &[usize], axis: usize) -> ValueId {
        if !self.quantised {
            return self.floats(dims);
        }
        // Equal weights would be merged.
        let seed = self.graph.value_bound();
        let bytes: Vec<u8> = (0..dims.iter().product()).map(|k: usize| (k * seed % 251) as u8).collect();
        let packed = Tensor::raw(ElementType::I8, dims.to_vec(), bytes.into()).unwrap();
        let packed = self.graph.add_initializer("packed", packed);
        let scales = self.floats(&[dims[axis]]);
        self.call("DequantizeLinear", &[packed, scales], &[("axis", vec![axis as i64])])
    }

    fn input(&mut self, dims: &[i64]) -> ValueId {
        self.graph.add_input("x", TensorType::new(ElementType::F32, dims.iter().copied()))
    }

    fn done(mut self, outputs: &[ValueId]) -> Model {
        outputs.iter().for_each(|v| self.graph.add_output(*v));
        let mut model = Model::new(self.graph, 17);
        graph::infer(&mut model).unwrap();
        model
    }
}

fn normalised(quantised: bool) -> Model {
    let mut net = Net::new(quantised);
    let (x, w) = (net.input(&[1, 64, 7, 7]), net.weights(&[64, 64, 3, 3], 0));
    let c = net.call("Conv", &[x, w], &[("pads", vec![1; 4])]);
    let [g, b, m, v] = [(); 4].map(|()| net.floats(&[64]));
    let y = net.call("BatchNormalization", &[c, g, b, m, v], &[]);
    net.done(&[y])
}

fn three_products(quantised: bool) -> Model {
    let mut net = Net::new(quantised);
    let x = net.input(&[1, 1, 256]);
    let outputs = [(); 3].map(|()| {
        let w = net.weights(&[256, 256], 1);
        let m = net.call("MatMul", &[x, w], &[]);
        let b = net.floats(&[256]);
        net.call("Add", &[m, b], &[])
    });
    net.done(&outputs)
}

fn shortcut(quantised: bool) -> Model {
    let mut net = Net::new(quantised);
    let (x, w) = (net.input(&[1, 64, 7, 7]), net.weights(&[64, 64, 3, 3], 0));
    let c = net.call("Conv", &[x, w], &[("pads", vec![1; 4])]);
    let y = net.call("Add", &[c, x], &[]);
    net.done(&[y])
}

/// As `lozenge optimize` does: rules and folding in turns.
fn optimized(mut model: Model) -> (Model, usize) {
    let (set, mut applied) = (rules(), 0);
    for _ in 0..8 {
        let options = Options { fold: true, ..Options::default() };
        let report = gsl::optimize(&mut model, &set, &options, |_, _| ()).unwrap();
        applied += report.applied;
        if simplify(&mut model, &FoldOptions::for_models()).folded == 0 && report.applied == 0 {
            break;
        }
        graph::infer(&mut model).unwrap();
    }
    (model, applied)
}

fn operators(model: &Model) -> Vec<String> {
    let mut all: Vec<String> = model.graph.nodes().map(|(_, node)| node.op().to_string()).collect();
    all.sort();
    all
}

#[test]
fn nothing_is_computed_of_quantised_weights() {
    for make in [normalised, three_products, shortcut] {
        let before = make(true);
        let (after, _) = optimized(before.clone());
        assert_eq!(operators(&after), operators(&before));
        assert!(gsl::estimate(&after) <= gsl::estimate(&before));
    }
}

#[test]
fn the_same_rules_apply_to_plain_weights() {
    for make in [normalised, three_products] {
        let before = make(false);
        let (after, applied) = optimized(before.clone());
        assert!(applied > 0);
        assert!(
            after.graph.node_count() < before.graph.node_count()
                || gsl::estimate(&after) < gsl::estimate(&before)
        );
        for (_, node) in after.graph.nodes() {
            let constant = |v: &ValueId| after.graph.constant(*v).is_some();
            assert!(!node.inputs().iter().flatten().all(constant), "{} of constants is left", node.op());
        }
    }
}

/// Whatever stands between a parameter and its reader: where folding leaves it alone it costs,
/// where folding computes it it does not.
#[test]
fn cost_and_folding_agree() {
    for (op, attributes, dims, elem) in [
        ("Cast", vec![("to", vec![1])], vec![200, 200], ElementType::F16),
        ("Transpose", vec![], vec![200, 200], ElementType::F32),
        ("DequantizeLinear", vec![], vec![200, 200], ElementType::I8),
        ("DequantizeLinear", vec![], vec![1, 1], ElementType::I8),
        ("Neg", vec![], vec![200, 200], ElementType::F32),
        ("Exp", vec![], vec![1, 1], ElementType::F32),
    ] {
        let mut net = Net::new(false);
        let x = net.input(&[1, 200]);
        let bytes = vec![0u8; elem.raw_len(dims.iter().product()).unwrap()];
        let w = net.graph.add_initializer("w", Tensor::raw(elem, dims, bytes.into()).unwrap());
        let mut inputs = vec![w];
        if op == "DequantizeLinear" {
            inputs.push(net.floats(&[]));
        }
        let result = net.graph.add_value("made");
        let mut node = NewNode::new(op, inputs.iter().map(|v| Some(*v)), [Some(result)]);
        for (name, list) in &attributes {
            node = node.with(*name, list[0]);
        }
        net.graph.insert(node, Place::Last);
        let y = net.call("Mul", &[x, result], &[]);
        let model = net.done(&[y]);
        let (mut plain, mut folded) = (model.clone(), model.clone());
        let kept = simplify(&mut folded, &FoldOptions::for_models()).folded == 0;
        // as if it were computed whatever that takes
        simplify(&mut plain, &FoldOptions { growth: usize::MAX, ..FoldOptions::default() });
        assert_eq!(plain.graph.node_count(), 1);
        let cost = gsl::estimate(&model) - gsl::estimate(&plain);
        assert_eq!(kept, cost > 0.0, "{op} of {elem}: {cost}");
    }
}
