//! The extension module of the Python package `lozenge`.
//!
//! It reads sources and compiles them by the crate `lozenge`, loads what the C compiler made of
//! them, and calls it on arrays. What is called often is here; the rest of the package is Python
//! (`python/lozenge`).

mod arguments;
mod buffer;
mod cache;
mod call;
mod errors;
mod function;
mod inside;
mod model;
mod object;
mod program;
mod streams;
mod text;
mod variant;
mod whole;

use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use lozenge::files::{self, Scratch};
use lozenge::process::Optimise;
use lozenge::{Failure, Request, deep, models};
use pyo3::prelude::*;

use crate::errors::raised;
use crate::function::Function;
use crate::model::{Model, ModelSource};
use crate::program::Program;

/// What is asked for of a source.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
struct Wishes {
    threads: u32,
    exact: bool,
    checked: bool,
    strategy: Option<String>,
    schedule: Option<String>,
    reassociate: bool,
    types: Vec<(String, String)>,
    defines: Vec<String>,
    includes: Vec<String>,
}

impl Wishes {
    /// What is asked for.
    ///
    /// # Errors
    /// A schedule whose file can't be read.
    fn request(self) -> Result<Request, Failure> {
        let includes = self.includes.iter().map(|folder| format!("-I{folder}"));
        let defines = self.defines.iter().map(|text| format!("-D{text}"));
        Ok(Request {
            preprocessor: includes.chain(defines).collect(),
            strategy: self.strategy,
            schedule: files::schedule(self.schedule.as_deref())?,
            reassociate: self.reassociate,
            types: self.types,
            // Each call looks whether its arrays overlap.
            assume_no_alias: true,
            ..files::request()
        })
    }
}

/// The functions of a file, or of a text of this kind, with the names of their definitions.
#[pyfunction]
#[pyo3(signature = (source, kind, wishes))]
fn load(
    py: Python<'_>,
    source: &str,
    kind: Option<&str>,
    wishes: Wishes,
) -> PyResult<Vec<(String, String, Function)>> {
    let threads = wishes.threads;
    let how = (if wishes.exact { Optimise::FastExact } else { Optimise::Fast }, wishes.checked);
    let request = raised(py, wishes.request())?;
    let opened = py.detach(|| match kind {
        None => Program::open(&PathBuf::from(source), request, how, threads),
        Some(kind) => Program::read(source, kind, request, how, threads),
    });
    let mut found = Vec::new();
    for program in raised(py, opened)? {
        let program = Arc::new(program);
        for program::Known { name, definition } in program.known() {
            let function = Function::new(&program, name.clone(), definition.clone());
            found.push((name, definition, function));
        }
    }
    Ok(found)
}

/// Rewrites a model by the rules that ship. The result is written to a file, or given as bytes.
#[pyfunction]
fn optimize(
    py: Python<'_>,
    model: ModelSource,
    output: Option<PathBuf>,
) -> PyResult<Option<Cow<'static, [u8]>>> {
    let rewrite = |path: &Path, output: &Path| deep(|| models::optimize(path, output));
    let done = py.detach(|| {
        model.on_disk(|path| {
            if let Some(output) = &output {
                return rewrite(path, output).map(|()| None);
            }
            let scratch = Scratch::new()?;
            let output = scratch.path().join("model.onnx");
            rewrite(path, &output)?;
            let others = std::fs::read_dir(scratch.path()).map_or(0, Iterator::count);
            if others > 1 {
                let message = format!("{} has parameters in files beside it", path.display());
                return Err(Failure::refused("X0009", message).help("say where to write it: output=..."));
            }
            lozenge::files::read_bytes(&output, u64::MAX - 1).map(|bytes| Some(Cow::Owned(bytes)))
        })
    });
    raised(py, done)
}

/// An exception of this package: `raise _lozenge.error("X0202", "…", "help")`.
#[pyfunction]
#[pyo3(signature = (code, message, help=None))]
fn error(py: Python<'_>, code: &str, message: String, help: Option<String>) -> PyErr {
    // Codes of diagnostics are text of the program.
    let codes = ["X0001", "X0009", "X0202", "X0203", "X0204", "X0205", "X0207"];
    let code = codes.into_iter().find(|known| *known == code).unwrap_or("X0601");
    let mut failure = lozenge::Failure::refused(code, message);
    if let Some(help) = help {
        failure = failure.help(help);
    }
    errors::raise(py, &failure)
}

/// The folder of compiled objects.
#[pyfunction]
fn cache_folder() -> Option<PathBuf> {
    cache::folder()
}

/// This process was forked.
#[pyfunction]
fn forked() {
    call::FORKED.store(true, Ordering::Relaxed);
}

#[pymodule]
fn _lozenge(module: &Bound<'_, PyModule>) -> PyResult<()> {
    streams::fill();
    module.add_class::<Function>()?;
    module.add_class::<Model>()?;
    module.add_function(wrap_pyfunction!(optimize, module)?)?;
    module.add_function(wrap_pyfunction!(load, module)?)?;
    module.add_function(wrap_pyfunction!(error, module)?)?;
    module.add_function(wrap_pyfunction!(cache_folder, module)?)?;
    module.add_function(wrap_pyfunction!(forked, module)?)?;
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    Ok(())
}
