//! Failures as exceptions of Python.

use lozenge::{Failure, report};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyType;

/// The exception `lozenge.Error` for a failure.
pub fn raise(py: Python<'_>, failure: &Failure) -> PyErr {
    let failure = &in_words_of_python(failure.clone());
    static CLASS: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    let (code, message) =
        failure.diagnostics.first().map_or(("X0601", "unknown"), |d| (d.code.0, d.message.as_str()));
    let rendered = report::render(failure, false);
    let diagnostics = report::to_json(failure)["diagnostics"].to_string();
    let made = CLASS
        .import(py, "lozenge._errors", "Error")
        .and_then(|class| class.call1((code, message, rendered.trim_end(), diagnostics)));
    match made {
        Ok(value) => PyErr::from_value(value),
        Err(error) => error,
    }
}

/// What a stage gave, or the exception for its failure.
///
/// # Errors
/// The exception.
pub fn raised<T>(py: Python<'_>, result: Result<T, Failure>) -> PyResult<T> {
    result.map_err(|failure| raise(py, &failure))
}

/// The command's options are keyword arguments here.
fn in_words_of_python(mut failure: Failure) -> Failure {
    const WORDS: [(&str, &str); 6] = [
        ("give it with --size ", "give it by its name: "),
        ("give them with --size ", "give them by their names: "),
        (" --size ", " "),
        ("=NUMBER", "=..."),
        ("--schedule auto", "schedule=\"auto\""),
        ("--reassociate", "reassociate=True"),
    ];
    for diagnostic in &mut failure.diagnostics {
        for text in diagnostic.help.iter_mut().chain(&mut diagnostic.notes) {
            for (option, argument) in WORDS {
                *text = text.replace(option, argument);
            }
        }
    }
    failure
}
