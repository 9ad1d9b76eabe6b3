//! Models whose named extents are arguments of the C function: compiled once, run at many sizes,
//! and compared bit for bit with the C for each size and with the evaluator.
#![allow(missing_docs)]

#[allow(dead_code)]
mod support;

use std::collections::{BTreeMap, HashMap};

use graph::evaluate::{Datum, evaluate};
use graph::generate::{Scale, generate};
use graph::{Model, operators, plan, text};
use loops::{Name, Registers, Tensor};
use lozenge::execute::{Executable, Schedule};
use lozenge::pipeline::graph::{CompiledModel, Extents, ModelRequest, compile, prepare};
use lozenge::process::Compiler;
use lozenge::value::{Closeness, difference};
use support::{built, model, parameters};

type Sizes = BTreeMap<Name, i64>;

const NARROW: Registers = Registers { count: 16, bytes: 32 };
const WIDE: Registers = Registers { count: 32, bytes: 64 };

fn compiled(model: &Model, request: &ModelRequest) -> CompiledModel {
    let (prepared, _) = prepare(model.clone(), request).unwrap_or_else(|why| panic!("{why:?}"));
    compile(&prepared, request).unwrap_or_else(|why| panic!("{why:?}"))
}

fn zeros(port: &plan::Port, sizes: &Sizes) -> Tensor {
    let scalar = operators::carrier(port.elem).expect("a type");
    Tensor::zeros(&loops::Elem::Scalar(scalar), port.shape(sizes).expect("extents"))
}

/// Inputs of a model at these sizes. Integers are small.
fn inputs(compiled: &CompiledModel, sizes: &Sizes) -> Vec<Tensor> {
    let one = |(k, port): (usize, &plan::Port)| {
        let scalar = operators::carrier(port.elem).expect("a type");
        let shape = port.shape(sizes).expect("extents");
        let mut tensor = Tensor::random(&loops::Elem::Scalar(scalar), shape, 7 + k as u64);
        match &mut tensor.data {
            loops::Data::I64(v) => v.iter_mut().for_each(|x| *x = x.rem_euclid(4)),
            loops::Data::I32(v) => v.iter_mut().for_each(|x| *x = x.rem_euclid(4)),
            _ => {}
        }
        tensor
    };
    compiled.plan.inputs.iter().enumerate().map(one).collect()
}

fn run(executable: &Executable, compiled: &CompiledModel, sizes: &Sizes, given: &[Tensor]) -> Vec<Tensor> {
    let mut arrays = vec![parameters(compiled)];
    arrays.extend(given.iter().cloned());
    arrays.extend(compiled.plan.outputs.iter().map(|port| zeros(port, sizes)));
    let schedule = Schedule { threads: Some(2), ..Schedule::ONCE };
    executable.run(0, sizes, &arrays, schedule).unwrap_or_else(|why| panic!("{sizes:?}: {why:?}")).outputs
}

/// The values of the evaluator.
fn evaluated(model: &Model, compiled: &CompiledModel, sizes: &Sizes, given: &[Tensor]) -> Vec<Tensor> {
    let mut model = model.clone();
    plan::bind(&mut model, sizes).expect("sizes");
    let mut values = HashMap::new();
    for (port, tensor) in compiled.plan.inputs.iter().zip(given) {
        values
            .insert(port.name.clone(), Datum::from(operators::encode(port.elem, tensor).expect("a tensor")));
    }
    let found = evaluate(&model, values).expect("values");
    found
        .iter()
        .map(|datum| operators::decode(datum.tensor().expect("a tensor")).expect("elements"))
        .collect()
}

/// gcc and clang.
fn compilers() -> Vec<Compiler> {
    let limit = Compiler::find().expect("a C compiler").limit;
    let there = |command: &&str| {
        let version = std::process::Command::new(command).arg("--version").output();
        assert!(version.is_ok_and(|out| out.status.success()), "{command} is missing: ./x setup installs it");
    };
    let all = ["gcc", "clang-16"].into_iter().inspect(there);
    all.map(|command| Compiler { command: command.into(), limit, language: Default::default() }).collect()
}

/// Compiles a model once with its names as arguments, and compares it at all sizes.
fn check(model: &Model, names: &[&str], all: &[&[i64]]) {
    check_with(&[NARROW, WIDE], model, names, all);
}

/// The same for some processors.
fn check_with(processors: &[Registers], model: &Model, names: &[&str], all: &[&[i64]]) {
    for registers in processors.iter().copied() {
        let request = ModelRequest { registers: Some(registers), ..ModelRequest::default() };
        let open = ModelRequest { extents: Extents::Arguments(BTreeMap::new()), ..request.clone() };
        let free = compiled(model, &open);
        let found: Vec<&str> = free.plan.extents.iter().map(Name::as_str).collect();
        assert_eq!(found, names);
        let compilers = compilers();
        let programs: Vec<Executable> = compilers.iter().map(|compiler| built(&free, compiler)).collect();
        for numbers in all {
            let sizes: Sizes = names.iter().map(|n| Name::new(*n)).zip(numbers.iter().copied()).collect();
            let given = inputs(&free, &sizes);
            let fixed = compiled(model, &ModelRequest { sizes: sizes.clone(), ..request.clone() });
            let right = run(&built(&fixed, &compilers[0]), &fixed, &Sizes::new(), &given);
            for (got, want) in right.iter().zip(&evaluated(model, &fixed, &sizes, &given)) {
                assert_eq!(difference(got, want, Closeness::Exact), None, "evaluator, {sizes:?}");
            }
            for program in &programs {
                for (got, want) in run(program, &free, &sizes, &given).iter().zip(&right) {
                    assert_eq!(difference(got, want, Closeness::Exact), None, "{sizes:?}: {}", free.source);
                }
            }
        }
    }
}

#[test]
fn perceptrons_take_any_batch() {
    let layers = model(
        &[("w", &[96, 100]), ("b", &[96]), ("v", &[96, 11])],
        "  input x: f32[batch, 100]\n  h = Gemm(x, w, b) { transB: 1 }\n  r = Relu(h)\n  y = MatMul(r, v)\n  z = Softmax(y)\n  output z: f32[batch, 11]",
    );
    check(&layers, &["batch"], &[&[0], &[1], &[2], &[7], &[13], &[64], &[129]]);
}

/// A generated model with other text in some places: names for extents, shapes that follow.
fn generated(name: &str, replaced: &[(&str, &str)]) -> Model {
    let model = generate(name, Scale::Small, 0, 1).expect("a model");
    let text = replaced.iter().fold(model.to_string(), |text, (from, to)| {
        assert!(text.contains(from), "{name} has no {from}");
        text.replace(from, to)
    });
    text::parse_model(&text).expect("a model")
}

#[test]
fn bert_takes_any_batch_and_sequence() {
    check_with(
        &[WIDE],
        &generated("bert", &[]),
        &["batch", "sequence"],
        &[&[1, 1], &[2, 7], &[1, 16], &[5, 11]],
    );
}

#[test]
fn networks_of_images_take_any_batch() {
    for name in ["resnet50", "mobilenet"] {
        let names = [("f32[1, 3,", "f32[batch, 3,"), ("\": f32[1, 10]", "\": f32[batch, 10]")];
        check_with(&[NARROW], &generated(name, &names), &["batch"], &[&[1], &[3]]);
    }
}

#[test]
fn decoders_take_any_batch() {
    let names = [("f32[1, 7, ", "f32[batch, 7, "), ("= [1, 7, ", "= [-1, 7, ")];
    check(&generated("gpt", &names), &["batch"], &[&[1], &[3]]);
}

/// A sum along a name, and rows and columns that are a sum of names.
#[test]
fn attention_to_a_cache_takes_any_lengths() {
    let attention = model(
        &[],
        "  input q: f32[batch, 2, sequence, 8]\n  input k: f32[batch, 2, past, 8]\n  input n: f32[batch, 2, sequence, 8]\n  all = Concat(k, n) { axis: 2 }\n  t = Transpose(all) { perm: [0, 1, 3, 2] }\n  s = MatMul(q, t)\n  p = Softmax(s)\n  y = MatMul(p, all)\n  output y",
    );
    let sizes: &[&[i64]] = &[&[1, 1, 0], &[2, 3, 5], &[1, 33, 40], &[1, 1, 95], &[3, 17, 31]];
    check(&attention, &["batch", "sequence", "past"], sizes);
}

#[test]
fn recurrent_networks_take_any_length() {
    let lstm = model(
        &[("w", &[1, 20, 3]), ("r", &[1, 20, 5]), ("b", &[1, 40])],
        "  input x: f32[length, batch, 3]\n  y, h, c = LSTM(x, w, r, b) { hidden_size: 5 }\n  output y\n  output h",
    );
    check(&lstm, &["length", "batch"], &[&[1, 1], &[5, 2], &[13, 7]]);
}

/// The diagnostic of a model that can't be compiled for all extents.
fn refused(model: &Model) -> loops::Diagnostic {
    let request = ModelRequest { extents: Extents::Arguments(BTreeMap::new()), ..ModelRequest::default() };
    let (prepared, _) = prepare(model.clone(), &request).expect("types");
    let failure = compile(&prepared, &request).expect_err("a refusal");
    failure.diagnostics.into_iter().next().expect("a diagnostic")
}

#[test]
fn what_needs_numbers_is_refused_with_its_names() {
    let strides = model(
        &[("w", &[1, 1, 2, 2])],
        "  input x: f32[1, 1, height, 8]\n  y = Conv(x, w) { strides: [2, 2] }\n  output y",
    );
    let different =
        model(&[], "  input a: f32[rows, 4]\n  input b: f32[others, 4]\n  y = Add(a, b)\n  output y");
    for (model, name) in [(&strides, "height"), (&different, "rows")] {
        let why = refused(model);
        assert_eq!(why.code.0, "G0409");
        assert!(why.message.contains(name), "{why:?}");
    }
}

/// Negative extents, arrays that no memory holds, and slices that reach too far.
#[test]
fn extents_are_tested_on_entry() {
    let sliced = model(
        &[("w", &[6, 4])],
        "  init zero: i64[1] = [0]\n  input x: f32[rows, 4]\n  s = Shape(x) { end: 1 }\n  t = Slice(w, zero, s)\n  y = Add(x, t)\n  output y",
    );
    let request = ModelRequest { extents: Extents::Arguments(BTreeMap::new()), ..ModelRequest::default() };
    let free = compiled(&sliced, &request);
    let program = built(&free, &Compiler::find().expect("a C compiler"));
    let at = |rows: i64| -> Sizes { [(Name::new("rows"), rows)].into() };
    let given = inputs(&free, &at(6));
    run(&program, &free, &at(6), &given);
    let words = free.plan.parameter_bytes / 8;
    for rows in [7, -1, 1 << 41, i64::MAX] {
        let arrays = [
            Tensor { shape: vec![words], data: loops::Data::I64(vec![0; words]) },
            given[0].clone(),
            zeros(&free.plan.outputs[0], &at(6)),
        ];
        let failure = program.run(0, &at(rows), &arrays, Schedule::ONCE).expect_err("a refusal");
        assert_eq!(failure.diagnostics[0].code.0, "X0102", "{failure:?}");
    }
}
