//! The arguments of a call: which is for which parameter, and how objects become arrays.

use loops::{Elem, ParamMode, Scalar};
use lozenge::{Failure, bind};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyTuple};

use crate::errors::raise;
use crate::function::{text, type_error};
use crate::variant::Variant;

/// What was given for a call.
pub struct Arguments<'py> {
    /// For each of the variant's inputs.
    pub values: Vec<Option<Bound<'py, PyAny>>>,
    /// For each of the variant's results, the array that it goes to.
    pub out: Vec<Option<Bound<'py, PyAny>>>,
    /// Sizes by their numbers.
    pub sizes: Vec<(usize, i64)>,
}

impl<'py> Arguments<'py> {
    /// Finds the parameter of each argument.
    ///
    /// # Errors
    /// `TypeError` as for functions of Python: too many arguments, unknown names, missing ones.
    pub fn bind(
        variant: &Variant,
        function: &str,
        args: &Bound<'py, PyTuple>,
        keywords: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Arguments<'py>> {
        let py = args.py();
        let (count, wanted) = (args.len(), variant.inputs.len());
        if count > wanted && count == variant.declared.len() {
            return Arguments::as_declared(variant, function, args, keywords);
        }
        if count > wanted {
            return Err(type_error(format!("{function}() takes {wanted} arguments, and {count} were given")));
        }
        let mut given = Arguments { values: vec![None; wanted], out: Vec::new(), sizes: Vec::new() };
        for (slot, value) in args.iter().enumerate() {
            given.values[slot] = Some(value);
        }
        if let Some(keywords) = keywords {
            for (name, value) in keywords.iter() {
                given.keyword(variant, function, &name, value)?;
            }
        }
        if let Some(slot) = given.values.iter().position(Option::is_none) {
            let name = text(py, &variant.ports[variant.inputs[slot]].name);
            return Err(type_error(format!("{function}() lacks the argument `{name}`")));
        }
        given.sizes.sort_unstable();
        Ok(given)
    }

    /// As the function of C is called: with all of its sizes in their places.
    fn as_declared(
        variant: &Variant,
        function: &str,
        args: &Bound<'py, PyTuple>,
        keywords: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Arguments<'py>> {
        let py = args.py();
        let all = PyDict::new(py);
        for (name, value) in variant.declared.iter().zip(args.iter()) {
            let is_port = variant.function.params.iter().any(|param| param.name.as_str() == name);
            // What has no part in the loops may be any number.
            if is_port || variant.function.sizes.iter().any(|size| size.as_str() == name) {
                all.set_item(name, value)?;
            }
        }
        for (name, value) in keywords.into_iter().flatten() {
            if all.contains(&name)? {
                return Err(type_error(format!("{function}() got several values for `{name}`")));
            }
            all.set_item(name, value)?;
        }
        Arguments::bind(variant, function, &PyTuple::empty(py), Some(&all))
    }

    fn keyword(
        &mut self,
        variant: &Variant,
        function: &str,
        name: &Bound<'py, PyAny>,
        value: Bound<'py, PyAny>,
    ) -> PyResult<()> {
        let py = name.py();
        let is = |other: &Py<pyo3::types::PyString>| {
            other.is(name) || other.bind(py).as_any().eq(name).unwrap_or(false)
        };
        let slot = variant.inputs.iter().position(|k| is(&variant.ports[*k].name));
        if let Some(slot) = slot.filter(|slot| self.values[*slot].is_none()) {
            self.values[slot] = Some(value);
            return Ok(());
        }
        let name = name.to_string();
        if name == "out" {
            return self.results(variant, function, value);
        }
        if slot.is_some() {
            return Err(type_error(format!("{function}() got several values for `{name}`")));
        }
        if let Some(size) = variant.function.sizes.iter().position(|s| s.as_str() == name) {
            let number = value.extract::<i64>().map_err(|_| {
                raise(
                    py,
                    &Failure::refused("X0102", format!("the size `{name}` is not an integer of 64 bits")),
                )
            })?;
            self.sizes.push((size, number));
            return Ok(());
        }
        let known: Vec<&str> =
            variant.inputs.iter().map(|k| variant.function.params[*k].name.as_str()).collect();
        Err(type_error(format!(
            "{function}() has no parameter `{name}`; its parameters are {}, {}",
            known.join(", "),
            bind::list("its sizes", &variant.function.sizes)
        )))
    }

    /// `out=`: one array, or one for each result.
    fn results(&mut self, variant: &Variant, function: &str, value: Bound<'py, PyAny>) -> PyResult<()> {
        let wanted = variant.results.len();
        if wanted == 0 {
            return Err(type_error(format!("{function}() has no result, so `out` has no meaning")));
        }
        self.out = match value.cast::<PyTuple>() {
            Ok(several) => several.iter().map(|one| (!one.is_none()).then_some(one)).collect(),
            Err(_) if value.is_none() => Vec::new(),
            Err(_) => vec![Some(value)],
        };
        if !self.out.is_empty() && self.out.len() != wanted {
            let count = self.out.len();
            return Err(type_error(format!(
                "{function}() has {wanted} results, and `out` has {count} arrays"
            )));
        }
        Ok(())
    }

    /// Makes arrays of NumPy of what has no buffer: objects with `__dlpack__`.
    ///
    /// # Errors
    /// What is no array.
    pub fn as_arrays(&mut self, variant: &Variant) -> PyResult<()> {
        for (slot, k) in variant.inputs.iter().enumerate() {
            let port = &variant.ports[*k];
            if let (Some(value), true) = (&mut self.values[slot], port.rank > 0) {
                *value = arrays(value.py())?.call_method1("array", (&*value, &port.name))?;
            }
        }
        for (slot, value) in self.out.iter_mut().enumerate() {
            if let Some(value) = value {
                let name = &variant.ports[variant.results[slot]].name;
                *value = arrays(value.py())?.call_method1("array", (&*value, name))?;
            }
        }
        Ok(())
    }

    /// Copies arrays that only come in and are not laid out in rows without gaps.
    ///
    /// # Errors
    /// Elements of another type, another number of dimensions; arrays to be written that would have
    /// to be copied.
    pub fn in_layout(&mut self, variant: &Variant) -> PyResult<()> {
        for (slot, k) in variant.inputs.iter().enumerate() {
            let port = &variant.ports[*k];
            let Some(value) = self.values[slot].as_mut() else { continue };
            if port.rank == 0 {
                // A pair is a structure of NumPy.
                if matches!(port.elem, Elem::Pair(..)) {
                    *value = arrays(value.py())?.call_method1("pair", (&*value, &port.name, &port.dtype))?;
                }
                continue;
            }
            let written = port.mode == ParamMode::InOut;
            let ty = bind::type_of(&variant.function.params[*k]);
            let fit = (&*value, &port.name, &port.dtype, port.rank, ty, written);
            *value = arrays(value.py())?.call_method1("fit", fit)?;
        }
        for (slot, value) in self.out.iter_mut().enumerate() {
            let k = variant.results[slot];
            let port = &variant.ports[k];
            if let Some(value) = value {
                let ty = bind::type_of(&variant.function.params[k]);
                let fit = (&*value, &port.name, &port.dtype, port.rank, ty, true);
                *value = arrays(value.py())?.call_method1("fit", fit)?;
            }
        }
        Ok(())
    }
}

/// What of the work on arrays is not worth being done here.
fn arrays(py: Python<'_>) -> PyResult<&Bound<'_, PyAny>> {
    static MODULE: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let module =
        MODULE.get_or_try_init(py, || py.import("lozenge._arrays").map(|m| m.into_any().unbind()))?;
    Ok(module.bind(py))
}

/// The type of an array's elements, or of a number of NumPy, if it is one that type parameters may
/// have.
pub fn scalar_of(array: &Bound<'_, PyAny>) -> Option<Scalar> {
    let name: String = array.getattr("dtype").ok()?.getattr("name").ok()?.extract().ok()?;
    Scalar::ALL.into_iter().find(|scalar| crate::variant::dtype_name(*scalar) == name)
}
