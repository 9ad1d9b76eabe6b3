//! Models that are compiled, run, and compared with the evaluation of their nodes.

use std::collections::{BTreeMap, HashMap};

use graph::evaluate::{Datum, evaluate};
use graph::plan::{Port, Step};
use graph::{Model, operators, text};
use loops::Registers;
use lozenge::execute::{Build, Executable, Schedule};
use lozenge::pipeline::graph::{CompiledModel, ModelRequest, compile, parameter_block, prepare};
use lozenge::process::{Compiler, Optimise};
use lozenge::value::{Closeness, difference};

/// Numbers of which some are negative, and none exact.
fn weights(name: &str, dims: &[usize]) -> String {
    let count: usize = dims.iter().product();
    let numbers: Vec<String> =
        (0..count).map(|i| format!("{:?}", ((i + name.len()) * 7919 % 1013) as f32 / 400.0 - 1.2)).collect();
    format!("  init {name}: f32{dims:?} = [{}]\n", numbers.join(", "))
}

pub fn model(inits: &[(&str, &[usize])], body: &str) -> Model {
    let inits: String = inits.iter().map(|(name, dims)| weights(name, dims)).collect();
    let text = format!("model ir 10\nopset \"\" 17\ngraph g {{\n{inits}{body}\n}}\n");
    text::parse_model(&text).unwrap_or_else(|why| panic!("{why}: {body}"))
}

fn shape(port: &Port) -> Vec<usize> {
    port.shape(&BTreeMap::new()).expect("numbers")
}

/// Compiles and runs a model for both kinds of processors; how many calls it has.
pub fn calls(model: &Model) -> usize {
    let mut count = 0;
    for registers in [Registers { count: 16, bytes: 32 }, Registers { count: 32, bytes: 64 }] {
        let request = ModelRequest { registers: Some(registers), ..ModelRequest::default() };
        let (prepared, _) = prepare(model.clone(), &request).expect("a model");
        let compiled = compile(&prepared, &request).expect("code");
        count = Step::calls(&compiled.plan.steps).len();
        let mut arrays = vec![parameters(&compiled)];
        let mut values = HashMap::new();
        for (k, port) in compiled.plan.inputs.iter().enumerate() {
            let scalar = operators::carrier(port.elem).expect("a type");
            let tensor = loops::Tensor::random(&loops::Elem::Scalar(scalar), shape(port), 7 + k as u64);
            let value = operators::encode(port.elem, &tensor).expect("a tensor");
            let tensor = operators::decode(&value).expect("its elements");
            values.insert(port.name.clone(), Datum::from(value));
            arrays.push(tensor);
        }
        for port in &compiled.plan.outputs {
            let scalar = operators::carrier(port.elem).expect("a type");
            arrays.push(loops::Tensor::zeros(&loops::Elem::Scalar(scalar), shape(port)));
        }
        let executable = built(&compiled, &Compiler::find().expect("a C compiler"));
        let schedule = Schedule { threads: Some(2), ..Schedule::ONCE };
        let outcome = executable.run(0, &BTreeMap::new(), &arrays, schedule).expect("results");
        let wanted = evaluate(model, values).expect("values");
        assert_eq!(outcome.outputs.len(), wanted.len());
        for (got, want) in outcome.outputs.iter().zip(&wanted) {
            let want = operators::decode(want.tensor().expect("a tensor")).expect("its elements");
            assert_eq!(difference(got, &want, Closeness::Exact), None, "{model:?}");
        }
    }
    count
}

/// The block of parameters of a compiled model, as an array of words.
pub fn parameters(compiled: &CompiledModel) -> loops::Tensor {
    let block = parameter_block(&compiled.plan);
    let words: Vec<i64> =
        block.chunks_exact(8).map(|c| i64::from_ne_bytes(c.try_into().expect("8 bytes"))).collect();
    loops::Tensor { shape: vec![words.len()], data: loops::Data::I64(words) }
}

/// The program of a compiled model.
pub fn built(compiled: &CompiledModel, compiler: &Compiler) -> Executable {
    let build = Build {
        files: &[("program.c", &compiled.source)],
        routines: std::slice::from_ref(&compiled.signature),
        header: &compiled.header,
        flags: Optimise::FastExact.flags(),
        libraries: &[],
    };
    Executable::build(compiler, &build).unwrap_or_else(|why| panic!("{why:?}\n{}", compiled.source))
}
