//! How rules are applied: by cost, one set after the other, with constants computed on the way.

mod common;

use std::collections::HashMap;

use graph::Model;
use graph::evaluate::{Datum, evaluate};
use graph::generate::{Scale, generate};
use graph::simplify::{FoldOptions, simplify};
use gsl::{Compiled, Options, Report, RuleSet, optimize};

/// The rules of a file that ships.
fn shipped(name: &str) -> Vec<Compiled> {
    let path = golden::root().join("library/gsl").join(name);
    let (file, errors) = gsl::parse(&std::fs::read_to_string(path).unwrap());
    assert!(errors.is_empty());
    gsl::compile(&file).unwrap()
}

fn all() -> Vec<Compiled> {
    ["layout", "arithmetic", "convolution", "products", "recognise", "parallel"]
        .iter()
        .flat_map(|name| shipped(&format!("{name}.gsl")))
        .collect()
}

fn apply(model: &mut Model, rules: &RuleSet, options: &Options) -> Report {
    let report = optimize(model, rules, options, |_, _| {}).unwrap();
    common::check_valid(model);
    report
}

fn operators(model: &Model) -> Vec<String> {
    let mut names: Vec<String> = model.graph.nodes().map(|(_, n)| n.op().to_string()).collect();
    names.sort();
    names
}

/// Three small convolutions of one input, each with its batch normalisation.
fn branches() -> Model {
    let mut text = "graph g { input x: f32[1, 2, 4, 4]".to_owned();
    for k in 0..3 {
        text += &format!(
            " init w{k}: f32[1, 2, 1, 1] = [1.5, {k}.0] init s{k}: f32[1] = [2.0] init h{k}: f32[1] = [0.5] init m{k}: f32[1] = [0.25] \
             init v{k}: f32[1] = [1.0] c{k} = Conv(x, w{k}) y{k} = BatchNormalization(c{k}, s{k}, h{k}, m{k}, v{k}) output y{k}: f32[1, 1, 4, 4]"
        );
    }
    common::model(&(text + " }"))
}

#[test]
fn a_set_waits_until_those_before_it_are_done() {
    let options = Options { ignore_cost: true, fold: true, ..Options::default() };
    // Side by side first: the normalisations do not see their convolutions any more.
    let mut model = branches();
    apply(
        &mut model,
        &RuleSet::in_order(vec![shipped("parallel.gsl"), shipped("convolution.gsl")]),
        &options,
    );
    assert!(operators(&model).contains(&"BatchNormalization".to_owned()), "{}", model.graph);
    // In the order of the rules that ship they are gone before.
    let mut model = branches();
    apply(
        &mut model,
        &RuleSet::in_order(vec![shipped("convolution.gsl"), shipped("parallel.gsl")]),
        &options,
    );
    assert_eq!(operators(&model), ["Conv", "Split"], "{}", model.graph);
    // What a later set makes is seen by earlier ones, and the sets survive a choice of rules.
    let rules = RuleSet::in_order(vec![shipped("convolution.gsl"), shipped("parallel.gsl")]);
    let chosen = rules.only(|name| name == "conv_bn" || name == "parallel_conv_bias_variadic");
    assert_eq!(chosen.names().collect::<Vec<_>>(), ["conv_bn", "parallel_conv_bias_variadic"]);
    let mut model = branches();
    apply(&mut model, &chosen, &options);
    assert_eq!(operators(&model), ["Conv", "Split"], "{}", model.graph);
}

#[test]
fn what_loses_is_refused_unless_costs_are_ignored() {
    let wide = |ignore_cost| {
        let mut model = common::model(
            "graph g { input x: f32[1, 2, 512, 512] init w: f32[1, 2, 1, 1] = [1.0, 2.0] init v: f32[1, 2, 1, 1] = [3.0, 4.0] \
             a = Conv(x, w) b = Conv(x, v) output a: f32[1, 1, 512, 512] output b: f32[1, 1, 512, 512] }",
        );
        let options = Options { ignore_cost, ..Options::default() };
        let before = gsl::estimate(&model);
        let report = apply(&mut model, &RuleSet::new(shipped("parallel.gsl")), &options);
        let refused: usize = report.rules.iter().map(|r| r.refused_by_cost).sum();
        (report.applied, refused > 0, gsl::estimate(&model) > before)
    };
    assert_eq!(wide(false), (0, true, false));
    assert_eq!(wide(true), (1, false, true));
}

#[test]
fn products_of_bytes_cost_what_products_cost() {
    let cost = |body: &str| {
        let text = format!(
            "graph g {{ input x: u8[1, 64, 56, 56] input w: u8[64, 64, 3, 3] input s: f32[] input z: u8[] {body} }}"
        );
        gsl::estimate(&common::model(&text))
    };
    let plain = cost("y = BitwiseNot(x) output y: u8[1, 64, 56, 56]");
    let sums = cost("y = ConvInteger(x, w, z, z) output y: i32[1, 64, 54, 54]");
    let rounded = cost("y = QLinearConv(x, s, z, w, s, z, s, z) output y: u8[1, 64, 54, 54]");
    assert!(sums > 10.0 * plain, "{sums} {plain}");
    assert!(rounded > 10.0 * plain, "{rounded} {plain}");
    let product = |call: &str| {
        let text = format!(
            "graph g {{ input x: u8[256, 512] input w: u8[512, 256] input s: f32[] input z: u8[] {call} }}"
        );
        gsl::estimate(&common::model(&text))
    };
    let sums = product("y = MatMulInteger(x, w, z, z) output y: i32[256, 256]");
    let rounded = product("y = QLinearMatMul(x, s, z, w, s, z, s, z) output y: u8[256, 256]");
    assert!(sums > 5.0 * product("y = BitwiseNot(x) output y: u8[256, 512]"), "{sums}");
    assert!((sums - rounded).abs() < 0.2 * sums, "{sums} {rounded}");
}

/// Inputs of small random numbers for a generated model.
fn inputs(model: &Model) -> HashMap<loops::Name, Datum> {
    let free = model.graph.inputs().iter().map(|id| model.graph.value(*id));
    free.map(|value| {
        let dims = value.tensor_type().unwrap().known_shape().unwrap();
        let count = dims.iter().product::<usize>();
        let numbers: Vec<f32> = (0..count).map(|k| (k % 7) as f32 / 4.0 - 0.75).collect();
        (value.name().clone(), graph::Tensor::from_f32s(dims, &numbers).into())
    })
    .collect()
}

#[test]
fn constants_computed_on_the_way_are_those_computed_afterwards() {
    for (name, nodes) in [("conv_bn", 9), ("parallel", 12), ("chain", 30), ("resnet50", 0)] {
        let mut results = Vec::new();
        for fold in [false, true] {
            let mut model = generate(name, Scale::Small, nodes, 3).unwrap();
            graph::infer(&mut model).unwrap();
            let rules = RuleSet::new(all());
            apply(&mut model, &rules, &Options { fold, ..Options::default() });
            simplify(&mut model, &FoldOptions::default());
            common::check_valid(&model);
            // Large networks are compared by what is in them, small ones by what they compute too.
            let outputs = (nodes > 0).then(|| evaluate(&model, inputs(&model)).unwrap());
            let parameters: usize = model.graph.initializers().map(|(_, t)| t.count()).sum();
            results.push((operators(&model), parameters, outputs));
        }
        assert_eq!(results[0], results[1], "{name}");
    }
}
