//! Models in files: ONNX or the textual form, with the files of their external data.
//!
//! Not here: what is done with a model (`pipeline::graph`).

use std::path::Path;

use bytes::Bytes;
use graph::Model;

use crate::external::Beside;
use crate::failure::Failure;
use crate::files::{read_bytes, read_text, write_pieces, write_whole};
use crate::pipeline::graph::{self as pipeline, ModelRequest};
use crate::pipeline::rewriting;
use crate::{machine, progress, report};

/// Reads a model, and the files of its external data. Functions that it brings along are put in
/// place of their calls.
///
/// # Errors
/// `X0001` if a file can't be read, `G0101` and others if it is no model, `G0208` and others for
/// its functions.
pub fn open(path: &Path) -> Result<Model, Failure> {
    progress::say(format!("reading {}", path.display()));
    let mut model = read(path)?;
    graph::functions::inline(&mut model).map_err(|d| pipeline::at(&name(path), d))?;
    load(model, path)
}

/// The same with calls of functions as they are.
///
/// # Errors
/// `X0001` if a file can't be read, `G0101` and others if it is no model.
pub(crate) fn open_as_it_is(path: &Path) -> Result<Model, Failure> {
    load(read(path)?, path)
}

/// Whether a file is a model, by its name.
pub(crate) fn is_model(path: &Path) -> bool {
    path.extension().is_some_and(|e| e == "onnx") || is_text(path)
}

/// Whether a file is a model in textual form, by its name.
pub fn is_text(path: &Path) -> bool {
    path.extension().is_some_and(|e| e == "graph")
}

/// The model of a file, by its extension: ONNX, or the textual form. External data are where they
/// were, and functions are not resolved.
///
/// # Errors
/// `X0001` if the file can't be read, `G0101` and others if it is no model.
pub fn read(path: &Path) -> Result<Model, Failure> {
    if is_text(path) {
        let source = read_text(path)?;
        return graph::text::parse_model(&source.text).map_err(|d| Failure::in_source(&source, vec![d]));
    }
    let bytes = Bytes::from(read_bytes(path, graph::onnx::MAX_BYTES as u64)?);
    graph::onnx::read(&bytes).map_err(|d| pipeline::at(&name(path), d))
}

fn load(mut model: Model, path: &Path) -> Result<Model, Failure> {
    if graph::onnx::external::locations(&model.graph).is_empty() {
        return Ok(model);
    }
    let mut files = Beside::of(path)?;
    let refuse = |d| pipeline::at(&name(path), d);
    graph::onnx::external::load(&mut model.graph, &mut files).map_err(refuse)?;
    Ok(model)
}

/// What messages call the model of a file.
pub fn name(path: &Path) -> String {
    path.display().to_string()
}

/// What is asked for of the model of a file, with the progress of the command.
pub fn request(path: &Path) -> ModelRequest {
    let registers = machine::chosen().and_then(|machine| machine.registers);
    ModelRequest { name: name(path), registers, progress: progress::of_request(), ..ModelRequest::default() }
}

/// Checks a model and puts right what has one meaning only, unless that is to be refused
/// (`strict`). Prints what is to be said of that and of versions.
///
/// # Errors
/// As [`pipeline::sound`].
pub fn sound(model: &mut Model, path: &Path, strict: bool) -> Result<(), Failure> {
    warn(&pipeline::sound(model, &name(path), strict)?);
    Ok(())
}

/// Prints what is declared of results and contradicts their operators, after inference.
///
/// # Errors
/// As [`pipeline::declared`].
pub fn declared(model: &Model, path: &Path, strict: bool) -> Result<(), Failure> {
    warn(&pipeline::declared(model, &name(path), strict)?);
    Ok(())
}

fn warn(warnings: &[String]) {
    for warning in warnings {
        report::print_error(&format!("warning: {warning}\n"));
    }
}

/// Checks a model, gives the named extents of its inputs numbers, and leaves out what need not be
/// computed.
///
/// # Errors
/// What validation and inference find.
pub fn prepare(mut model: Model, path: &Path, request: &ModelRequest) -> Result<Model, Failure> {
    sound(&mut model, path, request.strict)?;
    prepare_sound(model, request)
}

/// The same with a model that was checked.
///
/// # Errors
/// What inference finds.
pub fn prepare_sound(model: Model, request: &ModelRequest) -> Result<Model, Failure> {
    progress::say("inferring types, and folding constants");
    let (model, warnings) = pipeline::prepare(model, request)?;
    warn(&warnings);
    Ok(model)
}

/// Reads a model that rules are applied to: ONNX with the files of its external data, or the
/// textual form, whose data are in it.
///
/// # Errors
/// As [`open`].
pub(crate) fn open_for_rules(path: &Path) -> Result<Model, Failure> {
    if is_text(path) {
        let mut model = read(path)?;
        graph::functions::inline(&mut model).map_err(|d| pipeline::at(&name(path), d))?;
        return Ok(model);
    }
    let mut model = open(path)?;
    // Before the fourth version of the format, parameters had to be inputs as well.
    if model.ir_version < PARAMETERS_APART {
        model.graph.fix_defaults();
        model.ir_version = PARAMETERS_APART;
    }
    Ok(model)
}

/// The version of ONNX's format from which an input with an initializer is one that can be given.
const PARAMETERS_APART: i64 = 4;

/// Writes a model that was read from another file: whole or not at all, in textual form if the name
/// says so, with copies of the files of its parameters where it goes to another folder.
///
/// # Errors
/// `X0004` if it can't be written, or if another file has the name of one with parameters.
pub fn write(model: &Model, from: &Path, path: &Path) -> Result<(), Failure> {
    bring_data(from, path)?;
    match is_text(path) {
        true => write_whole(path, model.to_string().as_bytes()),
        false => write_pieces(path, &graph::onnx::write_pieces(model)),
    }
}

/// Parameters that lie in files beside the model are looked for beside what is written of it: in
/// another folder they get copies.
///
/// # Errors
/// `X0004` if another file has the name there.
fn bring_data(model: &Path, output: &Path) -> Result<(), Failure> {
    let folder = |path: &Path| path.parent().map(Path::to_path_buf).unwrap_or_default();
    let (from, to) = (folder(model), folder(output));
    let full = |path: &Path| {
        std::fs::canonicalize(if path.as_os_str().is_empty() { Path::new(".") } else { path }).ok()
    };
    // A folder that is not there is said by the model that can't be written.
    if is_text(model) || full(&from) == full(&to) || full(&to).is_none() {
        return Ok(());
    }
    let refuse = |d| pipeline::at(&name(model), d);
    let read = |path: &Path| read_bytes(path, u64::MAX - 1);
    let bytes = read_bytes(model, graph::onnx::MAX_BYTES as u64)?;
    let mut flat = graph::onnx::read(&bytes.into()).map_err(refuse)?;
    graph::functions::inline(&mut flat).map_err(refuse)?;
    let mut files = Beside::of(model)?;
    for location in graph::onnx::external::locations(&flat.graph) {
        let target = to.join(&location);
        let data = files.whole(&location).map_err(refuse)?;
        if target.exists() {
            if read(&target)? != data {
                let message = format!(
                    "{} is there already and is not the data of {}",
                    target.display(),
                    model.display()
                );
                return Err(Failure::environment("X0004", message)
                    .help("write the model into an empty folder, or into its own"));
            }
            continue;
        }
        if let Some(folder) = target.parent() {
            // What can't be made is said by the file that can't be written.
            let _ = std::fs::create_dir_all(folder);
        }
        write_whole(&target, &data)?;
    }
    Ok(())
}

/// Rewrites the model of a file by the rules that ship.
///
/// # Errors
/// As `open_for_rules`, `rewriting::by_shipped_rules` and [`write`].
pub fn optimize(path: &Path, output: &Path) -> Result<(), Failure> {
    let mut model = open_for_rules(path)?;
    sound(&mut model, path, false)?;
    warn(&rewriting::by_shipped_rules(&mut model, &request(path))?.warnings);
    write(&model, path, output)
}
