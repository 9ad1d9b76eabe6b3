//! The extension module of the Python package `lozenge`.
//!
//! It reads sources and compiles them by the crate `lozenge`, loads what the C compiler made of them, and calls it on arrays. What is called often is here; the
//! rest of the package is Python (`python/lozenge`).

mod arguments;
mod buffer;
mod cache;
mod call;
mod deep;
mod errors;
mod function;
mod object;
mod program;
mod streams;
mod text;
mod variant;

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use lozenge::cli::Choice;
use lozenge::process::Optimise;
use pyo3::prelude::*;

use crate::errors::raised;
use crate::function::Function;
use crate::program::Program;

/// What is asked for of a source.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
struct Wishes {
    threads: u32,
    exact: bool,
    strategy: Option<String>,
    schedule: Option<String>,
    reassociate: bool,
    types: Vec<(String, String)>,
    defines: Vec<String>,
    includes: Vec<String>,
}

impl Wishes {
    fn choice(self) -> Choice {
        let flags = |letter: &str, texts: Vec<String>| texts.iter().map(|t| format!("-{letter}{t}")).collect();
        Choice {
            strategy: self.strategy,
            schedule: self.schedule,
            reassociate: self.reassociate,
            types: self.types,
            defines: flags("D", self.defines),
            includes: flags("I", self.includes),
            // Each call looks whether its arrays overlap.
            assume_no_alias: true,
            ..Choice::default()
        }
    }
}

/// The functions of a file, or of a text of this kind, with the names of their definitions.
#[pyfunction]
#[pyo3(signature = (source, kind, wishes))]
fn load(py: Python<'_>, source: &str, kind: Option<&str>, wishes: Wishes) -> PyResult<Vec<(String, String, Function)>> {
    let threads = wishes.threads;
    let optimise = if wishes.exact { Optimise::FastExact } else { Optimise::Fast };
    let choice = wishes.choice();
    let opened = py.detach(|| match kind {
        None => Program::open(&PathBuf::from(source), choice, optimise, threads),
        Some(kind) => Program::read(source, kind, choice, optimise, threads),
    });
    let program = Arc::new(raised(py, opened)?);
    let function = |known: program::Known| {
        let function = Function::new(&program, known.name.clone(), known.definition.clone());
        (known.name, known.definition, function)
    };
    Ok(program.known().into_iter().map(function).collect())
}

/// An exception of this package: `raise _lozenge.error("X0202", "…", "help")`.
#[pyfunction]
#[pyo3(signature = (code, message, help=None))]
fn error(py: Python<'_>, code: &str, message: String, help: Option<String>) -> PyErr {
    // Codes of diagnostics are text of the program.
    let codes = ["X0001", "X0009", "X0202", "X0203", "X0204", "X0207"];
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
    module.add_function(wrap_pyfunction!(load, module)?)?;
    module.add_function(wrap_pyfunction!(error, module)?)?;
    module.add_function(wrap_pyfunction!(cache_folder, module)?)?;
    module.add_function(wrap_pyfunction!(forked, module)?)?;
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    Ok(())
}
