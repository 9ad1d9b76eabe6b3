//! A definition as something that Python calls on arrays.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use loops::{Elem, ParamMode, Scalar};
use lozenge::Failure;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString, PyTuple};

use crate::arguments::{self, Arguments};
use crate::call::Held;
use crate::errors::{raise, raised};
use crate::program::Shared;
use crate::variant::{Variant, dtype_name};

/// Types of the type parameters of a definition.
type Types = Vec<(String, Scalar)>;

// Without a comment for Python, since each instance has its own `__doc__`.
#[allow(missing_docs)]
#[pyclass(frozen, module = "lozenge")]
pub struct Function {
    program: Shared,
    name: String,
    definition: String,
    threads: AtomicU32,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// By which types they are made.
    variants: Vec<(Types, Arc<Variant>)>,
    /// What the last call used.
    last: Option<Arc<Variant>>,
}

impl Function {
    /// Of a definition of a program.
    pub fn new(program: &Shared, name: String, definition: String) -> Function {
        let threads = AtomicU32::new(program.threads);
        Function { program: Arc::clone(program), name, definition, threads, state: Mutex::default() }
    }

    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The variant for these types, lowered now if it is not there.
    fn variant(&self, py: Python<'_>, types: &Types) -> PyResult<Arc<Variant>> {
        let known = |state: &State| {
            state.variants.iter().find(|(t, _)| t == types).map(|(_, variant)| Arc::clone(variant))
        };
        if let Some(variant) = known(&self.state()) {
            return Ok(variant);
        }
        let lowered = raised(py, py.detach(|| self.program.lower(&self.definition, types)))?;
        let order = self.program.order(&self.definition);
        let variant = Arc::new(Variant::new(py, lowered, self.program.how, &order, self.program.declared())?);
        let mut state = self.state();
        if let Some(variant) = known(&state) {
            return Ok(variant);
        }
        state.variants.push((types.clone(), Arc::clone(&variant)));
        Ok(variant)
    }

    /// The variant of the last call, or that of the default types.
    fn usual(&self, py: Python<'_>) -> PyResult<Arc<Variant>> {
        let last = self.state().last.clone();
        last.map_or_else(|| self.variant(py, &Types::new()), Ok)
    }

    /// The variant whose types are those of these arrays; none if the definition has no type
    /// parameter that they tell.
    fn by_arrays(
        &self,
        py: Python<'_>,
        usual: &Variant,
        given: &Arguments<'_>,
    ) -> PyResult<Option<Arc<Variant>>> {
        let Some(summary) = self.program.summary(&self.definition) else { return Ok(None) };
        let mut types = Types::new();
        for (name, ty) in &summary.params {
            let parameter = ty.rsplit(']').next().unwrap_or_default();
            let chosen = self.program.chosen_types().iter().any(|(name, _)| name == parameter);
            let own = summary.types.iter().any(|t| t.as_str() == parameter) && !chosen;
            let Some(slot) = usual.inputs.iter().position(|k| usual.function.params[*k].name == *name) else {
                continue;
            };
            let Some(array) = given.values[slot].as_ref().filter(|_| own) else { continue };
            let Some(scalar) = arguments::scalar_of(array) else { continue };
            match types.iter().find(|(known, _)| known == parameter) {
                None => types.push((parameter.to_owned(), scalar)),
                Some((_, known)) if *known == scalar => {}
                Some((_, known)) => return Err(raise(py, &mixed(name.as_str(), scalar, parameter, *known))),
            }
        }
        types.sort();
        if types.is_empty() { Ok(None) } else { self.variant(py, &types).map(Some) }
    }

    fn called<'py>(
        &self,
        py: Python<'py>,
        args: &Bound<'py, PyTuple>,
        keywords: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let mut variant = self.usual(py)?;
        let mut given = Arguments::bind(&variant, &self.name, args, keywords)?;
        let threads = self.threads.load(Ordering::Relaxed);
        // The first call looks at the types; later ones only if those of the last do not fit.
        let known = self.state().last.is_some();
        if known && let Ok(held) = Held::hold(py, &variant, &given) {
            return held.run(py, &variant, &given, threads);
        }
        given.as_arrays(&variant)?;
        if let Some(found) = self.by_arrays(py, &variant, &given)? {
            variant = found;
        }
        given.in_layout(&variant)?;
        let held = Held::hold(py, &variant, &given).map_err(|misfit| {
            raise(py, &Failure::refused("X0207", format!("an array does not fit: {misfit:?}")))
        })?;
        let result = held.run(py, &variant, &given, threads)?;
        self.state().last = Some(variant);
        Ok(result)
    }
}

fn mixed(name: &str, scalar: Scalar, parameter: &str, known: Scalar) -> Failure {
    Failure::refused(
        "X0202",
        format!(
            "the array for `{name}` holds {} elements, but `{parameter}` is {} by another array",
            dtype_name(scalar),
            dtype_name(known)
        ),
    )
    .help("give arrays of one type")
}

#[pymethods]
impl Function {
    #[pyo3(signature = (*args, **keywords))]
    fn __call__<'py>(
        &self,
        py: Python<'py>,
        args: &Bound<'py, PyTuple>,
        keywords: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        self.called(py, args, keywords)
    }

    /// The name of the definition.
    #[getter]
    fn __name__(&self) -> &str {
        &self.name
    }

    /// The same.
    #[getter]
    fn __qualname__(&self) -> &str {
        &self.name
    }

    fn __repr__(&self) -> String {
        format!("<lozenge function {}>", self.name)
    }

    /// Threads of a call; 0 is OpenMP's own choice.
    #[getter]
    fn get_threads(&self) -> u32 {
        self.threads.load(Ordering::Relaxed)
    }

    #[setter]
    fn set_threads(&self, threads: u32) {
        self.threads.store(threads, Ordering::Relaxed);
    }

    /// What it takes and gives, as a value: parameters, results, sizes.
    fn _describe<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let variant = self.variant(py, &Types::new())?;
        let summary = self.program.summary(&self.definition);
        let describe = |k: &usize| {
            let param = &variant.function.params[*k];
            let dims: Vec<String> = param.dims.iter().map(ToString::to_string).collect();
            let ty = match &param.elem {
                Elem::Scalar(scalar) => dtype_name(*scalar).to_owned(),
                pair => pair.to_string(),
            };
            let own = summary.as_ref().and_then(|s| {
                let (_, ty) = s.params.iter().find(|(name, _)| *name == param.name)?;
                let ty = ty.rsplit(']').next().unwrap_or_default();
                s.types.iter().find(|t| t.as_str() == ty)
            });
            let written = param.mode == ParamMode::InOut;
            (param.name.to_string(), ty, own.map(ToString::to_string), dims, written)
        };
        let out = PyDict::new(py);
        let sizes: Vec<&str> = variant.function.sizes.iter().map(loops::Name::as_str).collect();
        let assumptions: Vec<String> = variant.function.assumptions.iter().map(ToString::to_string).collect();
        out.set_item("name", &self.name)?;
        out.set_item("comment", self.program.comment(&self.definition))?;
        out.set_item("parameters", variant.inputs.iter().map(describe).collect::<Vec<_>>())?;
        out.set_item("results", variant.results.iter().map(describe).collect::<Vec<_>>())?;
        out.set_item("sizes", sizes)?;
        out.set_item("assumptions", assumptions)?;
        Ok(out)
    }

    #[getter]
    fn __doc__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        slf.py().import("lozenge._docs")?.call_method1("doc", (slf,))
    }

    #[getter]
    fn __signature__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        slf.py().import("lozenge._docs")?.call_method1("signature", (slf,))
    }

    /// Compiles it now for its default types, or those of the last call; else the first call does.
    fn compile(&self, py: Python<'_>) -> PyResult<()> {
        let variant = self.usual(py)?;
        raised(py, variant.object(py)).map(drop)
    }
}

/// An exception for arguments that do not belong to a function.
pub fn type_error(text: String) -> PyErr {
    PyTypeError::new_err(text)
}

/// The name of a parameter as text.
pub fn text<'py>(py: Python<'py>, name: &Py<PyString>) -> String {
    name.bind(py).to_string()
}
