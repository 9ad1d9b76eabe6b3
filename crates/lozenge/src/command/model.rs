//! `lozenge compile` and `lozenge run` of models: a whole graph as one C file, on real arrays.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::time::Duration;

use graph::evaluate::Datum;
use graph::plan::{Place, Step};
use graph::{Budget, Dim, Model, Tensor, TensorType, operators, plan};
use loops::{Elem, Name};
use serde_json::json;
use targets::Stage;

use super::ran_model::Ran;
use super::{ort, passed_over};
use crate::bind;
use crate::cli::{Against, Compile, Run, Show};
use crate::digest;
use crate::execute::{Build, Executable, Schedule};
use crate::failure::Failure;
use crate::files::{keep, write_whole};
use crate::library;
use crate::models;
use crate::npz;
use crate::pipeline::graph::{self as pipeline, CompiledModel, Extents, ModelRequest};
use crate::process::{Compiler, Optimise};
use crate::report;
use crate::target::{ModelFiles, ModelProgram};

/// Relative difference that rounding in another order explains, of results of whole models in
/// single precision.
const CLOSE: f64 = 1e-4;

/// `lozenge compile model.onnx`: the C file, and beside it the block of parameters.
///
/// # Errors
/// What the stages refuse, and files that can't be read or written.
pub fn compile(arguments: &Compile, as_json: bool) -> Result<(), Failure> {
    passed_over::by_models(&arguments.choice, arguments.target, &arguments.settings.0, arguments.threads)?;
    passed_over::by_ranks(arguments.target, arguments.ranks.given())?;
    passed_over::by_models_on_ranks(&arguments.ranks)?;
    let request = ModelRequest {
        sizes: bind::by_name(&arguments.sizes)?,
        extents: match arguments.target.abilities().mapping {
            true => Extents::Numbers,
            false => Extents::Arguments(BTreeMap::new()),
        },
        memory: arguments.memory.bytes(),
        strict: arguments.choice.strict,
        prefix: arguments.library.prefix()?,
        about: about(arguments)?,
        settings: arguments.settings.0.clone(),
        threads: arguments.threads,
        ranks: arguments.ranks.ranks,
        ..models::request(&arguments.file)
    };
    // What comes out is no model: it does not take the place of one.
    keep(&arguments.file);
    let model = models::prepare(models::open(&arguments.file)?, &arguments.file, &request)?;
    super::passes::look(&arguments.look, || {
        let plan = plan::plan(&model, request.registers()?)?;
        plan.kernels.iter().map(|kernel| Ok(pipeline::history(&kernel.definition)?)).collect()
    })?;
    let stage = arguments.emit.unwrap_or(Stage::C);
    let ModelFiles { output, parameters } =
        arguments.target.backend().compile_model(&model, stage, &request)?;
    for note in &output.notes {
        report::print_error(&format!("{note}\n"));
    }
    let mut written = Vec::new();
    if let Some(path) = &arguments.output {
        written = super::compile::write(path, &output)?;
        if !parameters.is_empty() {
            let beside = match output.files.as_slice() {
                [_] => parameter_path(path),
                _ => path.join(format!("{}.parameters", targets::stem(&request.function()))),
            };
            write_whole(&beside, &parameters)?;
            written.push(beside.display().to_string());
        }
    }
    if as_json {
        let text = arguments.output.is_none().then_some(output.text());
        report::print_json(json!({ "ok": true, "written": written, "text": text, "diagnostics": [] }));
    } else if arguments.output.is_none() {
        report::print(output.text());
    }
    Ok(())
}

/// Whether the memory of this machine holds a model that runs: the command, the driver and the
/// files between them hold parameters, inputs and outputs.
///
/// # Errors
/// `X0103` if it does not.
pub fn fits(compiled: &CompiledModel, sizes: &BTreeMap<Name, i64>) -> Result<(), Failure> {
    let plan = &compiled.plan;
    let bytes = |port: &plan::Port| {
        let bytes = port.bytes().eval(&|name| sizes.get(name).copied());
        bytes.ok().and_then(|bytes| u128::try_from(bytes).ok()).unwrap_or(u128::MAX)
    };
    let ports = plan.inputs.iter().chain(&plan.outputs);
    let held = ports.map(bytes).fold(plan.parameter_bytes as u128, u128::saturating_add);
    let needed = held.saturating_mul(3).saturating_add(plan.arena(sizes).unwrap_or(u128::MAX));
    if needed > bind::available_memory() {
        return Err(Failure::environment("X0103", format!("the model needs {}", bind::amount(needed)))
            .note(format!("{} are free", bind::amount(bind::available_memory()))));
    }
    Ok(())
}

/// What the header says of where it comes from: the compiler, the model with its digest, the
/// options.
///
/// # Errors
/// `X0001` if the file can't be read.
pub fn about(arguments: &Compile) -> Result<Vec<String>, Failure> {
    let digest = digest::of_file(&arguments.file).map_err(|error| {
        Failure::refused("X0001", format!("can't read {}: {error}", arguments.file.display()))
    })?;
    let name = arguments.file.file_name().unwrap_or_default().to_string_lossy();
    let mut sizes: Vec<String> =
        arguments.sizes.iter().map(|(name, extent)| format!("--size {name}={extent}")).collect();
    sizes.extend(arguments.choice.strict.then(|| "--strict".to_owned()));
    if arguments.target.abilities().mapping {
        sizes.push(format!("--target {}", arguments.target.name()));
    } else {
        let registers = models::request(&arguments.file).registers()?;
        sizes.push(format!("vector registers: {} of {} bytes", registers.count, registers.bytes));
    }
    Ok(vec![
        format!("Made by {} from {name}", library::generator()),
        format!("(SHA-256 {digest})"),
        format!("with {}.", sizes.join(", ")),
    ])
}

/// Where the parameters of a compiled model are: beside its C file.
fn parameter_path(output: &Path) -> PathBuf {
    output.with_extension("parameters")
}

/// Compiles the C of a model.
///
/// # Errors
/// What the C compiler refuses.
pub fn build(compiled: &CompiledModel, optimise: Optimise) -> Result<Executable, Failure> {
    let compiler = Compiler::find()?;
    Executable::build(
        &compiler,
        &Build {
            files: &[("program.c", &compiled.source)],
            routines: std::slice::from_ref(&compiled.signature),
            header: &compiled.header,
            flags: &optimise.configured(),
            libraries: &[],
        },
    )
}

/// The arrays that a compiled model runs on: the block of parameters, the inputs, room for the
/// outputs.
///
/// # Errors
/// `X0203` if an extent has no number.
pub fn arrays(
    compiled: &CompiledModel,
    inputs: &BTreeMap<Name, loops::Tensor>,
    sizes: &BTreeMap<Name, i64>,
) -> Result<Vec<loops::Tensor>, Failure> {
    let block = pipeline::parameter_block(&compiled.plan);
    let words: Vec<i64> =
        block.chunks_exact(8).map(|c| i64::from_ne_bytes(c.try_into().unwrap_or([0; 8]))).collect();
    let mut arrays = vec![loops::Tensor { shape: vec![words.len()], data: loops::Data::I64(words) }];
    let zeros = |port: &plan::Port| {
        let scalar = operators::carrier(port.elem).unwrap_or(loops::Scalar::F32);
        Ok::<_, Failure>(loops::Tensor::zeros(&Elem::Scalar(scalar), shape(port, sizes)?))
    };
    for port in &compiled.plan.inputs {
        arrays.push(inputs.get(&port.name).cloned().map_or_else(|| zeros(port), Ok)?);
    }
    for port in &compiled.plan.outputs {
        arrays.push(zeros(port)?);
    }
    Ok(arrays)
}

/// The extents of an input or output at these sizes.
///
/// # Errors
/// `X0203` if one has no number, or would be negative.
pub fn shape(port: &plan::Port, sizes: &BTreeMap<Name, i64>) -> Result<Vec<usize>, Failure> {
    port.shape(sizes).ok_or_else(|| {
        let dims: Vec<String> = port.dims.iter().map(ToString::to_string).collect();
        let message =
            format!("`{}` has the shape [{}], which is none at these sizes", port.name, dims.join(", "));
        Failure::refused("X0203", message)
    })
}

/// `lozenge show model.onnx --svg`: the graph, or the neighbourhood of a node.
///
/// # Errors
/// `G0407` if there is too much to draw; files that can't be read or written.
pub(crate) fn show_graph(arguments: &Show, as_json: bool) -> Result<(), Failure> {
    let mut model = models::open_as_it_is(&arguments.file)?;
    // A contradiction of types is no reason not to draw; what was inferred before it is shown.
    let _ = graph::infer(&mut model);
    let around = arguments.around.clone();
    let marked = around.iter().filter_map(|name| graph::picture::find(&model.graph, name)).collect();
    let options = graph::picture::Options { around, distance: arguments.distance, marked };
    let text = graph::picture::svg(&model.graph, &options)
        .map_err(|d| pipeline::at(&models::name(&arguments.file), d))?;
    if let Some(output) = &arguments.output {
        write_whole(output, text.as_bytes())?;
    }
    report::give(&text, arguments.output.as_deref(), as_json);
    Ok(())
}

/// The times of so many runs of a model on random inputs.
///
/// # Errors
/// What the stages refuse, a missing C compiler, a program that fails.
pub fn times(
    path: &Path,
    sizes: &[(String, i64)],
    threads: Option<u32>,
    repetitions: u32,
) -> Result<Vec<Duration>, Failure> {
    let request = ModelRequest { sizes: bind::by_name(sizes)?, ..models::request(path) };
    let model = models::prepare(models::open(path)?, path, &request)?;
    let compiled = pipeline::compile(&model, &request)?;
    let sizes = &request.sizes;
    let inputs = inputs(&compiled, BTreeMap::new(), sizes, 1)?;
    let executable = build(&compiled, Optimise::Fast)?;
    let schedule = Schedule {
        threads: Some(threads.unwrap_or(1)),
        repetitions,
        warm_up: 1,
        limit: Duration::from_secs(600),
    };
    Ok(executable.run(0, sizes, &arrays(&compiled, &inputs, sizes)?, schedule)?.times)
}

/// `lozenge run model.onnx`.
///
/// # Errors
/// What the stages refuse, arrays that do not fit, a missing C compiler, results that differ under
/// `--check`.
pub fn run(arguments: &Run, as_json: bool) -> Result<(), Failure> {
    passed_over::by_models(&arguments.choice, arguments.target, &arguments.settings.0, None)?;
    passed_over::by_ranks(arguments.target, arguments.ranks.given())?;
    passed_over::by_models_on_ranks(&arguments.ranks)?;
    if arguments.profile && arguments.target.abilities().mapping {
        let message = "`--profile` has no effect here: times of calls are those of the emulation";
        return Err(
            Failure::usage("X0009", message).help("leave it out; the modelled time of all calls is printed")
        );
    }
    let mut original = models::open(&arguments.file)?;
    let given = read_arrays(&original, &arguments.arguments)?;
    let fixed = bind::by_name(&arguments.sizes)?;
    let mut sizes = fixed.clone();
    models::sound(&mut original, &arguments.file, arguments.choice.strict)?;
    bind_arrays(&mut original, &given, &mut sizes)?;
    let memory = arguments.memory.bytes();
    let request = ModelRequest {
        sizes: sizes.clone(),
        memory,
        strict: arguments.choice.strict,
        profile: arguments.profile,
        settings: arguments.settings.0.clone(),
        threads: arguments.threads,
        ranks: arguments.ranks.ranks,
        ..models::request(&arguments.file)
    };
    let built = |request: &ModelRequest| {
        let model = models::prepare_sound(original.clone(), request)?;
        arguments.target.backend().build_model(&model, request, arguments)
    };
    // What follows from arrays is an argument, where the model can be compiled so.
    let follows = |(name, _): &(&Name, &i64)| !fixed.contains_key(*name);
    let more: BTreeMap<Name, i64> =
        sizes.iter().filter(follows).map(|(name, n)| (name.clone(), *n)).collect();
    let open = !more.is_empty() && !arguments.target.abilities().mapping;
    let extents = Extents::Arguments(more);
    let with_arguments =
        open.then(|| built(&ModelRequest { sizes: fixed, extents, ..request.clone() }).ok()).flatten();
    let ModelProgram { compiled, executable, notes, emulated } =
        with_arguments.map_or_else(|| built(&request), Ok)?;
    let inputs = inputs(&compiled, given, &sizes, arguments.seed)?;
    let schedule = Schedule {
        threads: arguments.threads,
        repetitions: arguments.reps,
        warm_up: u32::from(arguments.reps > 1),
        limit: Duration::from_secs(arguments.timeout),
    };
    let outcome = executable
        .run(0, &sizes, &arrays(&compiled, &inputs, &sizes)?, schedule)
        .map_err(|failure| with_node(failure, &original, &sizes, &inputs, memory))?;
    let (agreement, compared) = match arguments.check {
        None => (None, None),
        Some(Against::Evaluator) => {
            (Some(check(&original, &sizes, &inputs, &outcome.outputs, memory)?), None)
        }
        Some(Against::Ort) => {
            let compared = ort::compare(&original, &arguments.file, &inputs, &outcome.outputs)?;
            (Some(compared.text()), Some(compared))
        }
    };
    let modelled = match emulated {
        Some((path, chip)) => Some((crate::athread::read_report(&path)?, chip)),
        None => None,
    };
    let mut ran = Ran {
        arguments,
        compiled: &compiled,
        outcome: &outcome,
        sizes: &sizes,
        notes: &notes,
        modelled: modelled.as_ref(),
        written: Vec::new(),
    };
    ran.write()?;
    if as_json {
        close(compared.as_ref())?;
        report::print_json(ran.json(agreement.as_deref(), compared.as_ref()));
        return Ok(());
    }
    report::print(&ran.text(agreement.as_deref()));
    close(compared.as_ref())
}

/// Whether results are as close to those of onnxruntime as rounding explains.
///
/// # Errors
/// `X0401` if they are not.
fn close(compared: Option<&ort::Compared>) -> Result<(), Failure> {
    match compared.and_then(ort::Compared::worst) {
        Some((name, worst)) if worst > CLOSE => Err(Failure::check(
            "X0401",
            format!("`{name}` differs from onnxruntime's by {worst:.1e} of its largest element"),
        )),
        _ => Ok(()),
    }
}

fn read_arrays(model: &Model, files: &[(String, PathBuf)]) -> Result<BTreeMap<Name, loops::Tensor>, Failure> {
    let mut arrays = BTreeMap::new();
    for (name, path) in files {
        let tensor = match (super::run::written(path), elem_of(model, name)) {
            (Some(value), Some(elem)) => {
                let refused = |why: String| {
                    Failure::refused("X0203", format!("the value of the input `{name}`: {why}"))
                };
                let shape = value.shape().ok_or_else(|| refused("its rows have different lengths".into()))?;
                value.tensor(&elem, &shape).map_err(refused)?
            }
            (_, elem) => widened(npz::load(name, path)?, elem.as_ref()),
        };
        if arrays.insert(Name::new(name), tensor).is_some() {
            return Err(Failure::usage("X0204", format!("the input `{name}` is given twice")));
        }
    }
    Ok(arrays)
}

/// An array of short integers in the type in which a program has them.
fn widened(tensor: loops::Tensor, elem: Option<&Elem>) -> loops::Tensor {
    use loops::{Data, Scalar};
    let data = match (tensor.data, elem) {
        (Data::U8(v), Some(Elem::Scalar(Scalar::I32))) => Data::I32(v.into_iter().map(i32::from).collect()),
        (Data::I8(v), Some(Elem::Scalar(Scalar::I32))) => Data::I32(v.into_iter().map(i32::from).collect()),
        (Data::U16(v), Some(Elem::Scalar(Scalar::I32))) => Data::I32(v.into_iter().map(i32::from).collect()),
        (Data::I16(v), Some(Elem::Scalar(Scalar::I32))) => Data::I32(v.into_iter().map(i32::from).collect()),
        (Data::U32(v), Some(Elem::Scalar(Scalar::I64))) => Data::I64(v.into_iter().map(i64::from).collect()),
        (data, _) => data,
    };
    loops::Tensor { data, ..tensor }
}

/// The type in which a program has the elements of an input.
fn elem_of(model: &Model, name: &str) -> Option<Elem> {
    let graph = &model.graph;
    let id = graph.inputs().iter().copied().find(|id| graph.value(*id).name().as_str() == name)?;
    Some(Elem::Scalar(operators::carrier(graph.value(id).tensor_type()?.elem)?))
}

/// What follows from the arrays: sizes, the shapes of inputs that have none; and what is given is
/// no default any more.
fn bind_arrays(
    model: &mut Model,
    arrays: &BTreeMap<Name, loops::Tensor>,
    sizes: &mut BTreeMap<Name, i64>,
) -> Result<(), Failure> {
    let graph = &mut model.graph;
    for (name, array) in arrays {
        let input = graph.inputs().iter().copied().find(|id| graph.value(*id).name() == name);
        let typed = input.and_then(|id| Some((id, graph.value(id).tensor_type()?.clone())));
        let Some((id, ty)) = typed else {
            let names: Vec<Name> = graph.inputs().iter().map(|id| graph.value(*id).name().clone()).collect();
            return Err(Failure::refused("X0204", format!("the model has no input `{name}`"))
                .help(bind::list("its inputs are", &names)));
        };
        graph.forget_default(id);
        let Some(shape) = &ty.shape else {
            graph.declare(id, TensorType::new(ty.elem, array.shape.iter().map(|n| *n as i64)));
            continue;
        };
        let wrong = || {
            Failure::refused(
                "X0203",
                format!("the input `{name}` is {ty}, and the array has the shape {:?}", array.shape),
            )
        };
        if shape.len() != array.shape.len() {
            return Err(wrong());
        }
        for (axis, (dim, extent)) in shape.iter().zip(&array.shape).enumerate() {
            let extent = *extent as i64;
            match dim {
                Dim::Known(n) if *n != extent => return Err(wrong()),
                Dim::Symbolic(size) => {
                    if let Some(param) = size.as_param()
                        && *sizes.entry(param.clone()).or_insert(extent) != extent
                    {
                        return Err(wrong());
                    }
                }
                Dim::Known(_) => {}
                Dim::Unknown => {
                    if *sizes.entry(plan::extent_name(name, axis)).or_insert(extent) != extent {
                        return Err(wrong());
                    }
                }
            }
        }
    }
    Ok(())
}

/// The arrays that were given, and random ones for the other inputs.
fn inputs(
    compiled: &CompiledModel,
    mut given: BTreeMap<Name, loops::Tensor>,
    sizes: &BTreeMap<Name, i64>,
    seed: u64,
) -> Result<BTreeMap<Name, loops::Tensor>, Failure> {
    let mut inputs = BTreeMap::new();
    for (k, port) in compiled.plan.inputs.iter().enumerate() {
        let scalar = Elem::Scalar(operators::carrier(port.elem).unwrap_or(loops::Scalar::F32));
        let shape = shape(port, sizes)?;
        let own = given.remove(&port.name).map(|tensor| operators::stored(port.elem, tensor));
        let tensor = match own {
            Some(tensor) if tensor.data.elem() == scalar && tensor.shape == shape => {
                let kept = || operators::decode(&operators::encode(port.elem, &tensor)?);
                let narrow = port.elem.scalar().is_none();
                if narrow && !kept().is_some_and(|kept| difference(&kept, &tensor) == Some(0.0)) {
                    let message =
                        format!("the array for `{}` has elements that do not fit {}", port.name, port.elem);
                    return Err(Failure::refused("X0203", message));
                }
                tensor
            }
            Some(tensor) => {
                return Err(Failure::refused(
                    "X0203",
                    format!("the input `{}` is {} of {shape:?}", port.name, port.elem),
                )
                .note(format!(
                    "the array has elements of type {} and the shape {:?}",
                    tensor.data.elem(),
                    tensor.shape
                )));
            }
            None => {
                let mut tensor = random(&scalar, shape, seed.wrapping_add(k as u64));
                places_below(&mut tensor.data, least_extent(compiled, k, sizes));
                // Elements that the type has.
                operators::encode(port.elem, &tensor).and_then(|t| operators::decode(&t)).unwrap_or(tensor)
            }
        };
        inputs.insert(port.name.clone(), tensor);
    }
    Ok(inputs)
}

/// The least extent of what an input holds places in; none if it is not seen to hold places.
fn least_extent(compiled: &CompiledModel, input: usize, sizes: &BTreeMap<Name, i64>) -> Option<i64> {
    let checks = Step::calls(&compiled.plan.steps).into_iter().flat_map(|call| &call.checks);
    let extents = checks.filter(|check| check.place == Place::Input(input)).flat_map(|check| &check.extents);
    extents.filter_map(|n| n.eval(&|name| sizes.get(name).copied()).ok()).min()
}

fn places_below(data: &mut loops::Data, extent: Option<i64>) {
    let Some(extent) = extent.filter(|extent| *extent > 0) else { return };
    match data {
        loops::Data::I64(v) => v.iter_mut().for_each(|x| *x %= extent),
        loops::Data::I32(v) => v.iter_mut().for_each(|x| *x = (i64::from(*x) % extent) as i32),
        _ => {}
    }
}

/// Random data; integers are small and not negative, since most of them are places in tables.
pub fn random(elem: &Elem, dims: Vec<usize>, seed: u64) -> loops::Tensor {
    let mut tensor = loops::Tensor::random(elem, dims, seed);
    match &mut tensor.data {
        loops::Data::I64(v) => v.iter_mut().for_each(|x| *x = x.rem_euclid(4)),
        loops::Data::I32(v) => v.iter_mut().for_each(|x| *x = x.rem_euclid(4)),
        _ => {}
    }
    tensor
}

/// What the compiled model found outside of a tensor, with the node: the evaluator goes there, too.
fn with_node(
    mut failure: Failure,
    original: &Model,
    sizes: &BTreeMap<Name, i64>,
    inputs: &BTreeMap<Name, loops::Tensor>,
    memory: u64,
) -> Failure {
    let outside = |d: &loops::Diagnostic| d.code == operators::OUTSIDE;
    if failure.diagnostics.iter().any(outside)
        && let Err(told) = evaluated(original, sizes, inputs, memory)
        && let Some(told) = told.diagnostics.into_iter().find(outside)
    {
        let notes = std::iter::once(told.message).chain(told.notes);
        for d in failure.diagnostics.iter_mut().filter(|d| outside(d)) {
            d.notes.extend(notes.clone());
        }
    }
    failure
}

/// Compares with the evaluation of the original model, node by node.
fn check(
    original: &Model,
    sizes: &BTreeMap<Name, i64>,
    inputs: &BTreeMap<Name, loops::Tensor>,
    outputs: &[loops::Tensor],
    memory: u64,
) -> Result<String, Failure> {
    let expected = evaluated(original, sizes, inputs, memory)?;
    let mut worst = 0.0f64;
    for ((found, expected), id) in outputs.iter().zip(&expected).zip(original.graph.outputs()) {
        let name = original.graph.value(*id).name();
        let difference =
            expected.tensor().and_then(|t| operators::decode(t)).and_then(|e| difference(found, &e));
        match difference {
            Some(d) if d <= CLOSE => worst = worst.max(d),
            Some(d) => {
                return Err(Failure::check(
                    "X0401",
                    format!("`{name}` differs from the evaluator's by {d:.1e} of its largest element"),
                ));
            }
            None => {
                return Err(Failure::check(
                    "X0401",
                    format!("`{name}` has another shape than the evaluator's"),
                ));
            }
        }
    }
    Ok(format!("the compiled model and the evaluator agree within {worst:.1e} of the largest element"))
}

/// The outputs of the original model by evaluation.
fn evaluated(
    original: &Model,
    sizes: &BTreeMap<Name, i64>,
    inputs: &BTreeMap<Name, loops::Tensor>,
    memory: u64,
) -> Result<Vec<Datum>, Failure> {
    let mut model = original.clone();
    plan::bind(&mut model, sizes)?;
    let mut values = HashMap::new();
    for id in model.graph.inputs() {
        let value = model.graph.value(*id);
        let elem = value.tensor_type().map(|t| t.elem);
        if let (Some(tensor), Some(elem)) = (inputs.get(value.name()), elem)
            && let Some(tensor) = operators::encode(elem, tensor)
        {
            values.insert(value.name().clone(), Datum::from(tensor));
        }
    }
    Ok(graph::evaluate::evaluate_within(&model, values, Budget::of_memory(memory))?)
}

/// The largest difference of two tensors, relative to the largest element of the second; `None` if
/// their shapes or types differ.
pub fn difference(a: &loops::Tensor, b: &loops::Tensor) -> Option<f64> {
    if a.shape != b.shape || a.data.elem() != b.data.elem() {
        return None;
    }
    let (a, b) = (Tensor::from_value(a)?.to_numbers()?, Tensor::from_value(b)?.to_numbers()?);
    let largest = b.iter().filter(|x| x.is_finite()).fold(0.0f64, |m, x| m.max(x.abs()));
    let mut worst = 0.0f64;
    for (a, b) in a.iter().zip(&b) {
        if a == b || (a.is_nan() && b.is_nan()) {
            continue;
        }
        let d = (a - b).abs() / largest.max(1e-30);
        worst = if d.is_nan() { f64::INFINITY } else { worst.max(d) };
    }
    Some(worst)
}
