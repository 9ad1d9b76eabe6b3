//! Node tests of the `onnx` package through C: the program of the operator with its execution strategy, translated, compiled and run, against
//! the evaluation of the operator's meaning, to the last bit.
//!
//! `./x onnx` writes the cases and runs this; without the folder in `LOZENGE_ONNX_CASES` it says so and does nothing. Every
//! `LOZENGE_ONNX_EVERY`-th case with one node is taken (all if 1).

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};

use functional::Definition;
use functional::eval::Limits;
use graph::evaluate::Datum;
use graph::operators::{self, Call, Meaning, Operand, compiled, meaning};
use graph::{Model, Tensor};
use loops::{Diagnostic, Program, Size};
use lozenge::check::by_evaluator;
use lozenge::cli::Mode;
use lozenge::execute::{Build, Executable, Schedule};
use lozenge::pipeline::graph::at_known_extents;
use lozenge::pipeline::to_c;
use lozenge::process::{Compiler, Optimise};
use lozenge::value::{Closeness, difference};

/// Cases of one C file.
const BATCH: usize = 40;

struct Case {
    name: String,
    /// What the operator means, and what C is made of.
    reference: Definition,
    function: loops::Function,
    arguments: Vec<loops::Tensor>,
}

fn read(path: &Path) -> Option<Model> {
    graph::onnx::read(&std::fs::read(path).ok()?.into()).ok()
}

/// The call of a model with one node, and the values of its inputs in order; `None` where it is not about tensors.
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
    let fast = compiled(call)?;
    functional::check(&reference.definition)?;
    functional::check(&fast.definition)?;
    assert_eq!(reference.arguments, fast.arguments, "{name}: both programs have the same parameters");
    let definition = Definition { name: format!("case_{number}").into(), ..fast.definition };
    let function = at_known_extents(&definition)?;
    if let Some(error) = loops::validate::validate(&function).errors().next().cloned() {
        return Err(error);
    }
    let arguments = fast
        .arguments
        .iter()
        .filter_map(|k| operators::decode(call.inputs[*k].as_ref()?.constant?))
        .collect();
    Ok(Case { name: name.to_owned(), reference: reference.definition, function, arguments })
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

#[test]
fn node_tests_agree_through_c() {
    let Some(folder) = std::env::var_os("LOZENGE_ONNX_CASES").map(PathBuf::from) else {
        eprintln!(
            "skipped: LOZENGE_ONNX_CASES names no folder of cases; `./x onnx` writes one and runs this test"
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
        let compiler = Compiler::find().expect("a C compiler");
        let mut agreed = 0;
        for batch in cases.chunks(BATCH) {
            let program = Program { functions: batch.iter().map(|c| c.function.clone()).collect() };
            let emitted = to_c(&program, Mode::Default, Some("program.h".to_owned())).expect("C");
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
        println!("{agreed} cases of one node agree through C, {} do not", failures.len());
        assert!(failures.is_empty(), "{}", failures.join("\n"));
        assert!(agreed > 0 || !filter.is_empty(), "no case was taken");
    };
    std::thread::Builder::new()
        .stack_size(1 << 30)
        .spawn(work)
        .expect("a thread")
        .join()
        .expect("no failure");
}
