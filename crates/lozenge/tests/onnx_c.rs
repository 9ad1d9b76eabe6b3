//! Operators through C: the program of the operator with its execution strategy, translated,
//! compiled and run, against the evaluation of the operator's meaning, to the last bit. First the
//! node tests of the `onnx` package, then products and windows of many shapes.
//!
//! `./x onnx` writes the cases and runs this; without the folder in `LOZENGE_ONNX_CASES` the first
//! test says so and does nothing. Every `LOZENGE_ONNX_EVERY`-th case with one node is taken (all if
//! 1).

#[path = "../../../tests/onnx/special.rs"]
mod special;

#[path = "support/onnx_calls.rs"]
mod onnx_calls;

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};

use functional::Definition;
use functional::eval::Limits;
use graph::evaluate::Datum;
use graph::operators::{self, Call, Meaning, Operand, Packing, compiled, meaning};
use graph::{Model, Operator, Tensor};
use loops::{Diagnostic, Program, Registers, Size};
use lozenge::Request;
use lozenge::check::by_evaluator;
use lozenge::execute::{Build, Executable, Schedule};
use lozenge::pipeline::graph::{at_known_extents, history};
use lozenge::pipeline::{History, to_c};
use lozenge::process::{Compiler, Optimise};
use lozenge::value::{Closeness, difference};
use onnx_calls::{
    by_place, convolutions, element_by_element, line_by_line, narrow_products, numbers, other_windows,
    products, transposed_convolutions,
};

/// Cases of one C file.
const BATCH: usize = 40;

/// Processors that code is made for, in turns: sixteen registers of 32 bytes, and thirty-two of 64.
const PROCESSORS: [Registers; 2] = [Registers { count: 16, bytes: 32 }, Registers { count: 32, bytes: 64 }];

struct Case {
    name: String,
    /// What the operator means, and what C is made of.
    reference: Definition,
    function: loops::Function,
    arguments: Vec<loops::Tensor>,
    /// What the function wants its arguments laid out as.
    packings: Vec<Option<Packing>>,
}

fn read(path: &Path) -> Option<Model> {
    graph::onnx::read(&std::fs::read(path).ok()?.into()).ok()
}

/// The call of a model with one node, and the values of its inputs in order; `None` where it is not
/// about tensors.
fn call_of<'m>(model: &'m Model, values: &'m HashMap<String, Tensor>, constants: bool) -> Option<Call<'m>> {
    let (_, node) = model.graph.nodes().next()?;
    let mut inputs = Vec::new();
    for id in node.inputs() {
        inputs.push(match id {
            None => None,
            Some(id) => {
                let tensor = values.get(model.graph.value(*id).name().as_str())?;
                Some(Operand {
                    elem: tensor.elem,
                    shape: tensor.dims.iter().map(|n| Size::constant(*n as i64)).collect(),
                    constant: constants.then_some(tensor),
                    sizes: None,
                })
            }
        });
    }
    let outputs = node.outputs().iter().rposition(Option::is_some).map_or(1, |k| k + 1);
    let opset = model.version(&node.op().domain).unwrap_or_else(|| model.opset());
    Some(Call { op: node.op(), opset, attributes: node.attributes(), inputs, outputs })
}

/// The case as a function of the hub; `None` if it is not one node on tensors that the library has.
fn case(folder: &Path, name: &str, inputs: usize, number: usize) -> Option<Result<Case, String>> {
    let model = read(&folder.join(name).join("model.onnx"))?;
    if model.graph.node_count() != 1 {
        return None;
    }
    let data =
        graph::evaluate::evaluate(&read(&folder.join(name).join("data.onnx"))?, HashMap::new()).ok()?;
    let mut values = HashMap::new();
    for (id, datum) in model.graph.inputs().iter().zip(data.iter().take(inputs)) {
        let Datum::Tensor(tensor) = datum else { return None };
        values.insert(model.graph.value(*id).name().to_string(), (**tensor).clone());
    }
    let call = call_of(&model, &values, true)?;
    let reference = meaning(&call).ok()?;
    Some(build(&call, reference, name, number).map_err(|d| d.to_string()))
}

fn build(call: &Call<'_>, reference: Meaning, name: &str, number: usize) -> Result<Case, Diagnostic> {
    let fast = compiled(call, PROCESSORS[number % 2])?;
    functional::check(&reference.definition)?;
    functional::check(&fast.definition)?;
    assert_eq!(reference.arguments, fast.arguments, "{name}: both programs have the same parameters");
    let definition = Definition { name: format!("case_{number}").into(), ..fast.definition };
    let function = at_known_extents(&definition)?;
    let History { before, applied } = history(&definition)?;
    passes::verify(&before, &applied)
        .map_err(|fault| Diagnostic::general(loops::Code("X0601"), format!("{fault:?}")))?;
    if let Some(error) = loops::validate::validate(&function).errors().next().cloned() {
        return Err(error);
    }
    let arguments = fast
        .arguments
        .iter()
        .filter_map(|k| operators::decode(call.inputs[*k].as_ref()?.constant?))
        .collect();
    let packings = fast.packings;
    Ok(Case { name: name.to_owned(), reference: reference.definition, function, arguments, packings })
}

/// The results of all parameters of a function: arguments, then room for the results.
fn check(executable: &Executable, k: usize, case: &Case) -> Result<(), String> {
    let mut arrays = case.arguments.clone();
    for param in case.function.params.iter().skip(arrays.len()) {
        let shape = lozenge::bind::shape(param, &BTreeMap::new()).map_err(|f| f.summary())?;
        arrays.push(loops::Tensor::zeros(&param.elem, shape));
    }
    let wanted =
        by_evaluator(&case.reference, &case.function, &BTreeMap::new(), &arrays).map_err(|f| f.summary())?;
    let schedule = Schedule { threads: Some(2), ..Schedule::ONCE };
    for (array, packing) in arrays.iter_mut().zip(&case.packings) {
        if let Some(packing) = packing {
            *array = packing.pack(array).ok_or("elements that can't be packed")?;
        }
    }
    let got = executable.run(k, &BTreeMap::new(), &arrays, schedule).map_err(|f| f.summary())?;
    for (got, want) in got.outputs.iter().zip(&wanted) {
        if let Some(what) = difference(got, want, Closeness::Exact) {
            return Err(what);
        }
    }
    assert_eq!(got.outputs.len(), wanted.len());
    let _ = Limits::default();
    Ok(())
}

/// Compiles and runs the cases; how many agree. What does not is told in `failures`.
fn run(cases: &[Case], failures: &mut Vec<String>) -> usize {
    let compiler = Compiler::find().expect("a C compiler");
    let mut agreed = 0;
    for batch in cases.chunks(BATCH) {
        let program = Program { functions: batch.iter().map(|c| c.function.clone()).collect() };
        let emitted = to_c(&program, &Request::default(), Some("program.h".to_owned())).expect("C");
        let build = Build {
            files: &[("program.c", &emitted.source)],
            routines: &emitted.signatures,
            header: &emitted.header,
            flags: Optimise::Exact.flags(),
            libraries: &[],
        };
        let executable = match Executable::build(&compiler, &build) {
            Ok(executable) => executable,
            Err(failure) => {
                failures.push(format!("{}…: {failure:?}", batch[0].name));
                continue;
            }
        };
        for (k, case) in batch.iter().enumerate() {
            match check(&executable, k, case) {
                Ok(()) => agreed += 1,
                Err(why) => failures.push(format!("{}: {why}", case.name)),
            }
        }
    }
    agreed
}

#[test]
fn node_tests_agree_through_c() {
    let Some(folder) = std::env::var_os("LOZENGE_ONNX_CASES").map(PathBuf::from) else {
        golden::skipped(
            "LOZENGE_ONNX_CASES names no folder of cases; `./x onnx` writes one and runs this test",
        );
        return;
    };
    let every: usize = std::env::var("LOZENGE_ONNX_EVERY").ok().and_then(|n| n.parse().ok()).unwrap_or(12);
    let filter = std::env::var("CASES").unwrap_or_default();
    let work = move || {
        let index = std::fs::read_to_string(folder.join("index.txt")).expect("the list of cases");
        let names: Vec<(String, usize)> = index
            .lines()
            .filter_map(|line| {
                let words: Vec<&str> = line.split(' ').collect();
                Some((words.first()?.to_string(), words.last()?.parse().ok()?))
            })
            .filter(|(name, _): &(String, usize)| name.contains(&filter))
            .step_by(every)
            .collect();
        let mut failures = Vec::new();
        let mut cases = Vec::new();
        for (number, (name, inputs)) in names.iter().enumerate() {
            match case(&folder, name, *inputs, number) {
                None => {}
                Some(Ok(case)) => cases.push(case),
                Some(Err(why)) => failures.push(format!("{name}: {why}")),
            }
        }
        let agreed = run(&cases, &mut failures);
        println!("{agreed} cases of one node agree through C, {} do not", failures.len());
        assert!(failures.is_empty(), "{}", failures.join("\n"));
        assert!(agreed > 0 || !filter.is_empty(), "no case was taken");
    };
    with_much_stack(work);
}

/// Runs it on a thread that deep terms do not overflow.
fn with_much_stack(work: impl FnOnce() + Send + 'static) {
    std::thread::Builder::new()
        .stack_size(1 << 30)
        .spawn(work)
        .expect("a thread")
        .join()
        .expect("no failure");
}

/// Tiles that fit and that do not, blocks of rows, single rows and columns, windows with every kind
/// of gap: each for both processors.
#[test]
fn products_and_windows_agree_through_c() {
    let calls = [products(), convolutions(), other_windows()].concat();
    let work = move || {
        let (mut cases, mut failures) = (Vec::new(), Vec::new());
        for (name, attributes, shapes) in &calls {
            // With weights that are known when code is made, and as any other operand; of single
            // and of double precision.
            for (double, constant) in [(false, false), (false, true), (true, true)] {
                let op = Operator::from(*name);
                let tensors: Vec<Tensor> =
                    shapes.iter().enumerate().map(|(k, dims)| numbers(dims, double, 31 * k)).collect();
                let operand = |k: usize| Operand {
                    elem: tensors[k].elem,
                    shape: tensors[k].dims.iter().map(|n| Size::constant(*n as i64)).collect(),
                    constant: (constant && k > 0).then_some(&tensors[k]),
                    sizes: None,
                };
                let inputs = (0..tensors.len()).map(|k| Some(operand(k))).collect();
                let call = Call { op: &op, opset: 17, attributes, inputs, outputs: 1 };
                let processor = PROCESSORS[cases.len() % 2];
                let title = format!("{name} {shapes:?} {attributes:?} {processor:?} {constant}");
                let built = meaning(&call).and_then(|reference| build(&call, reference, &title, cases.len()));
                let values = tensors.iter().filter_map(operators::decode).collect();
                match built {
                    Ok(case) => cases.push(Case { arguments: values, ..case }),
                    Err(why) => failures.push(format!("{title}: {why}")),
                }
            }
        }
        let panels = cases.iter().filter(|case| case.packings.iter().any(Option::is_some)).count();
        assert!(panels > calls.len(), "{panels} of {} have weights in panels", cases.len());
        let agreed = run(&cases, &mut failures);
        assert!(failures.is_empty(), "{}", failures.join("\n"));
        assert_eq!(agreed, 3 * calls.len());
    };
    with_much_stack(work);
}

/// Products of narrow types and of integers, transposed convolutions, reductions and running sums
/// that go line by line, scatters that meet a place often, orders with many equal elements.
#[test]
fn what_has_a_form_of_its_own_in_c_agrees() {
    let calls =
        [narrow_products(), transposed_convolutions(), line_by_line(), by_place(), element_by_element()]
            .concat();
    let work = move || {
        let (mut cases, mut failures) = (Vec::new(), Vec::new());
        for (name, attributes, tensors, constant) in &calls {
            let op = Operator::from(*name);
            let operand = |(k, tensor): (usize, &'_ Tensor)| Operand {
                elem: tensor.elem,
                shape: tensor.dims.iter().map(|n| Size::constant(*n as i64)).collect(),
                constant: (k >= *constant).then(|| &tensors[k]),
                sizes: None,
            };
            let inputs = tensors.iter().enumerate().map(|each| Some(operand(each))).collect();
            let outputs = if *name == "TopK" { 2 } else { 1 };
            let call = Call { op: &op, opset: 17, attributes, inputs, outputs };
            let shapes: Vec<&[usize]> = tensors.iter().map(|t| &t.dims[..]).collect();
            let title = format!("{name} {shapes:?} {attributes:?}");
            let built = meaning(&call).and_then(|reference| {
                let given = reference.arguments.clone();
                Ok((build(&call, reference, &title, cases.len())?, given))
            });
            match built {
                Ok((case, given)) => {
                    let arguments = given.iter().filter_map(|k| operators::decode(&tensors[*k])).collect();
                    cases.push(Case { arguments, ..case });
                }
                Err(why) => failures.push(format!("{title}: {why}")),
            }
        }
        let agreed = run(&cases, &mut failures);
        assert!(failures.is_empty(), "{}", failures.join("\n"));
        assert_eq!(agreed, calls.len());
    };
    with_much_stack(work);
}

/// NaN, infinities, zeros of both signs and the ends of the range; the evaluation itself is held to
/// the table by a test of the crate `graph`.
#[test]
fn special_numbers_agree_through_c() {
    let text = std::fs::read_to_string(golden::root().join("tests/onnx/special.txt")).expect("the table");
    let work = move || {
        let (mut cases, mut failures) = (Vec::new(), Vec::new());
        for (number, special) in special::calls(&text).iter().enumerate() {
            let op = Operator::from(special.op.as_str());
            fn operand(tensor: &Option<Tensor>) -> Option<Operand<'_>> {
                let tensor = tensor.as_ref()?;
                let shape = tensor.dims.iter().map(|n| Size::constant(*n as i64)).collect();
                Some(Operand { elem: tensor.elem, shape, constant: Some(tensor), sizes: None })
            }
            let inputs = special.inputs.iter().map(operand).collect();
            let (attributes, outputs) = (&special.attributes[..], special.results.len());
            let call = Call { op: &op, opset: 21, attributes, inputs, outputs };
            match meaning(&call).and_then(|reference| build(&call, reference, &special.op, number)) {
                Ok(case) => cases.push(case),
                Err(why) => failures.push(format!("{}: {why}", special.op)),
            }
        }
        let agreed = run(&cases, &mut failures);
        assert!(failures.is_empty(), "{}", failures.join("\n"));
        assert!(agreed > 80, "{agreed}");
    };
    with_much_stack(work);
}
