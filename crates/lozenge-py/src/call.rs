//! One call: buffers, sizes, results, the generated code.

use std::ffi::{c_int, c_void};
use std::sync::atomic::{AtomicBool, Ordering};

use loops::{Elem, ParamMode, Scalar};
use lozenge::Failure;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyTuple;

use crate::arguments::Arguments;
use crate::buffer::{Buffers, Misfit};
use crate::errors::{raise, raised};
use crate::variant::{Plan, Variant};

/// Whether this process was forked from one that had the module: threads of OpenMP are not there
/// then, and must not be waited for.
pub static FORKED: AtomicBool = AtomicBool::new(false);

/// The arrays of a call.
pub struct Held<'py> {
    buffers: Buffers<'py>,
    /// The buffer of each parameter that has one.
    of: Vec<Option<usize>>,
    /// The arrays that are returned.
    results: Vec<Bound<'py, PyAny>>,
}

/// Whether a parameter is given as an array: numbers that come in are not.
fn is_array(variant: &Variant, k: usize) -> bool {
    let port = &variant.ports[k];
    port.rank > 0 || matches!(port.elem, Elem::Pair(..))
}

impl<'py> Held<'py> {
    /// Holds the arrays that were given.
    ///
    /// # Errors
    /// How one does not fit.
    pub fn hold(py: Python<'py>, variant: &Variant, given: &Arguments<'py>) -> Result<Held<'py>, Misfit> {
        let mut buffers = Buffers::with_room(py, variant.ports.len());
        let mut of = vec![None; variant.ports.len()];
        let inputs = variant.inputs.iter().zip(&given.values).filter(|(k, _)| is_array(variant, **k));
        for (k, value) in inputs.chain(variant.results.iter().zip(&given.out)) {
            let port = &variant.ports[*k];
            if let Some(value) = value {
                let write = port.mode != ParamMode::In;
                of[*k] = Some(buffers.hold(value, &port.elem, port.rank, write)?);
            }
        }
        Ok(Held { buffers, of, results: Vec::with_capacity(variant.results.len()) })
    }

    /// Runs the code on them, and on numbers and results that are made here.
    ///
    /// # Errors
    /// What does not agree, what the compiler refuses, what the code reports.
    pub fn run(
        mut self,
        py: Python<'py>,
        variant: &Variant,
        given: &Arguments<'py>,
        threads: u32,
    ) -> PyResult<Bound<'py, PyAny>> {
        let plan = self.plan(py, variant, given)?;
        raised(py, self.check_elements(variant, &plan))?;
        let object = raised(py, variant.object(py))?;
        self.allocate(py, variant, given, &plan)?;
        let mut numbers = vec![0u64; variant.ports.len()];
        for (slot, k) in variant.inputs.iter().enumerate() {
            let (port, value) = (&variant.ports[*k], &given.values[slot]);
            let (Elem::Scalar(scalar), 0, Some(value)) = (&port.elem, port.rank, value) else { continue };
            let bound = plan.bounds.iter().find(|(of, _)| of == k).map(|(_, bound)| *bound);
            numbers[*k] =
                number(value, *scalar).ok_or_else(|| raise(py, &no_number(variant, *k, *scalar)))?;
            let bytes = numbers[*k].to_ne_bytes();
            let found =
                bound.and_then(|bound| Some((beyond(&bytes[..scalar.bytes()], *scalar, bound)?, bound)));
            if let Some((found, bound)) = found {
                return Err(raise(py, &outside(variant, *k, found, bound)));
            }
        }
        let copies = raised(py, self.apart(variant))?;
        let place = |k: usize| match (&copies[k], self.of[k]) {
            (Some(copy), _) => copy.as_ptr() as usize,
            (None, Some(buffer)) => self.buffers.place(buffer) as usize,
            (None, None) => &raw const numbers[k] as usize,
        };
        // Addresses as numbers, since threads do not hand on pointers.
        let places: Vec<usize> = (0..variant.ports.len()).map(place).collect();
        self.come_in(variant, &numbers);
        let threads = if FORKED.load(Ordering::Relaxed) { 1 } else { c_int::try_from(threads).unwrap_or(0) };
        let status = py.detach(|| {
            let places = places.as_ptr().cast::<*mut c_void>();
            // SAFETY: `plan` has compared the extents of all arrays with those of the parameters at
            // these sizes, `hold` types and layout; results have these extents; `apart` has seen to
            // it that nothing that is written overlaps another array. The buffers are held until
            // behind the call.
            unsafe {
                object.call(&plan.sizes, std::slice::from_raw_parts(places, variant.ports.len()), threads)
            }
        });
        drop(copies);
        raised(py, done(status, variant))?;
        self.returned(py, variant)
    }

    fn plan(
        &self,
        py: Python<'py>,
        variant: &Variant,
        given: &Arguments<'py>,
    ) -> PyResult<std::sync::Arc<Plan>> {
        let arrays = self.of.iter().enumerate().filter(|(k, _)| variant.ports[*k].rank > 0);
        let shapes: Vec<(usize, &[isize])> =
            arrays.filter_map(|(k, buffer)| Some((k, self.buffers.shape((*buffer)?)))).collect();
        variant.plan(py, &shapes, &given.sizes)
    }

    /// Elements that the type of a parameter does not have: indices beyond their bound, truth
    /// values that are neither.
    fn check_elements(&self, variant: &Variant, plan: &Plan) -> Result<(), Failure> {
        for (k, bound) in &plan.bounds {
            let (Some(buffer), Elem::Scalar(scalar)) = (self.of[*k], &variant.ports[*k].elem) else {
                continue;
            };
            if let Some(found) = beyond(self.buffers.bytes(buffer), *scalar, *bound) {
                return Err(outside(variant, *k, found, *bound));
            }
        }
        for (k, port) in variant.ports.iter().enumerate() {
            let truths = port.elem == Elem::Scalar(Scalar::Bool) && port.mode != ParamMode::Out;
            let Some(buffer) = self.of[k].filter(|_| truths) else { continue };
            if self.buffers.bytes(buffer).iter().fold(0, |all, byte| all | byte) > 1 {
                let name = &variant.function.params[k].name;
                let message = format!("the array for `{name}` holds bytes that are no truth values");
                return Err(Failure::refused("X0205", message).help("give `array != 0`"));
            }
        }
        Ok(())
    }

    /// Makes the results that were not given.
    fn allocate(
        &mut self,
        py: Python<'py>,
        variant: &Variant,
        given: &Arguments<'py>,
        plan: &Plan,
    ) -> PyResult<()> {
        static EMPTY: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
        let empty = EMPTY.import(py, "numpy", "empty")?;
        for (slot, k) in variant.results.iter().enumerate() {
            if let Some(Some(array)) = given.out.get(slot) {
                self.results.push(array.clone());
                continue;
            }
            let port = &variant.ports[*k];
            let array = empty.call1((&plan.results[slot], &port.dtype))?;
            let held = self.buffers.hold(&array, &port.elem, port.rank, true);
            let defect =
                |_| raise(py, &Failure::refused("X0601", "the compiler failed: a result has no buffer"));
            self.of[*k] = Some(held.map_err(defect)?);
            self.results.push(array);
        }
        Ok(())
    }

    /// Numbers that come in and go out are in an array for the call.
    fn come_in(&mut self, variant: &Variant, numbers: &[u64]) {
        for k in variant.results.iter().filter(|k| variant.ports[**k].mode == ParamMode::InOut) {
            if let (Some(buffer), Elem::Scalar(scalar)) = (self.of[*k], &variant.ports[*k].elem) {
                self.buffers.put(buffer, &numbers[*k].to_ne_bytes()[..scalar.bytes()]);
            }
        }
    }

    /// Copies of what only comes in and lies where results go to.
    ///
    /// # Errors
    /// `X0206` if two arrays that are written overlap, or one that comes in and goes out and
    /// another.
    fn apart(&self, variant: &Variant) -> Result<Vec<Option<Vec<u64>>>, Failure> {
        let mut copies = vec![None; variant.ports.len()];
        for (k, buffer) in self.of.iter().enumerate() {
            let (Some(buffer), mode) = (*buffer, variant.ports[k].mode) else { continue };
            if mode == ParamMode::In {
                continue;
            }
            let written = self.buffers.span(buffer);
            for (other, buffer) in self.of.iter().enumerate().filter(|(other, _)| *other != k) {
                let Some(buffer) = *buffer else { continue };
                let span = self.buffers.span(buffer);
                if span.start >= written.end || written.start >= span.end {
                    continue;
                }
                if variant.ports[other].mode != ParamMode::In || mode == ParamMode::InOut {
                    return Err(overlap(variant, k, other));
                }
                copies[other] = Some(copy(self.buffers.bytes(buffer)));
            }
        }
        Ok(copies)
    }

    fn returned(self, py: Python<'py>, variant: &Variant) -> PyResult<Bound<'py, PyAny>> {
        let Held { buffers, results, .. } = self;
        drop(buffers);
        let mut values = Vec::with_capacity(results.len());
        for (k, array) in variant.results.iter().zip(results) {
            // Numbers, not arrays without dimensions.
            values.push(if variant.ports[*k].rank == 0 {
                array.get_item(PyTuple::empty(py))?
            } else {
                array
            });
        }
        match values.len() {
            0 => Ok(py.None().into_bound(py)),
            1 => Ok(values.remove(0)),
            _ => Ok(PyTuple::new(py, values)?.into_any()),
        }
    }
}

/// The first of these integers that is negative, or not below the bound.
fn beyond(bytes: &[u8], scalar: Scalar, bound: i64) -> Option<i128> {
    macro_rules! first {
        ($ty:ty, $width:literal) => {{
            let (numbers, _) = bytes.as_chunks::<$width>();
            let number = |bytes: &[u8; $width]| i128::from(<$ty>::from_ne_bytes(*bytes));
            numbers.iter().map(number).find(|n| !(0..i128::from(bound)).contains(n))
        }};
    }
    match scalar {
        Scalar::I8 => first!(i8, 1),
        Scalar::U8 => first!(u8, 1),
        Scalar::I16 => first!(i16, 2),
        Scalar::U16 => first!(u16, 2),
        Scalar::I32 => first!(i32, 4),
        Scalar::U32 => first!(u32, 4),
        Scalar::I64 => first!(i64, 8),
        Scalar::U64 => first!(u64, 8),
        Scalar::F16 | Scalar::F32 | Scalar::F64 | Scalar::Bool => None,
    }
}

fn outside(variant: &Variant, k: usize, found: i128, bound: i64) -> Failure {
    let name = &variant.function.params[k].name;
    let message = format!("`{name}` holds the index {found}, but its indices lie below {bound}");
    let failure = Failure::refused("X0205", message);
    match variant.by_types() {
        true => failure,
        false => failure.help("`load(..., checked=False)` leaves places to the program"),
    }
}

/// The same bytes elsewhere, aligned for any element.
fn copy(bytes: &[u8]) -> Vec<u64> {
    let (words, rest) = bytes.as_chunks::<8>();
    let mut last = [0; 8];
    last[..rest.len()].copy_from_slice(rest);
    words.iter().chain(std::iter::once(&last)).map(|word| u64::from_ne_bytes(*word)).collect()
}

fn overlap(variant: &Variant, k: usize, other: usize) -> Failure {
    let name = |k: usize| variant.function.params[k].name.clone();
    let message = format!("the arrays for `{}` and `{}` overlap, and one is written", name(k), name(other));
    Failure::refused("X0206", message).help("give arrays apart, or a copy of one")
}

/// The bytes of a number of this type; none if the object is none, or not one that the type has.
fn number(value: &Bound<'_, PyAny>, scalar: Scalar) -> Option<u64> {
    let mut bytes = [0; 8];
    macro_rules! put {
        ($number:expr) => {{
            let number = ($number).to_ne_bytes();
            bytes[..number.len()].copy_from_slice(&number);
        }};
    }
    match scalar {
        Scalar::F16 => put!(loops::nearest_half(value.extract::<f64>().ok()?)),
        Scalar::F32 => put!(value.extract::<f64>().ok()? as f32),
        Scalar::F64 => put!(value.extract::<f64>().ok()?),
        Scalar::Bool => put!(u8::from(value.extract::<bool>().ok()?)),
        Scalar::I8 => put!(value.extract::<i8>().ok()?),
        Scalar::U8 => put!(value.extract::<u8>().ok()?),
        Scalar::I16 => put!(value.extract::<i16>().ok()?),
        Scalar::U16 => put!(value.extract::<u16>().ok()?),
        Scalar::I32 => put!(value.extract::<i32>().ok()?),
        Scalar::U32 => put!(value.extract::<u32>().ok()?),
        Scalar::I64 => put!(value.extract::<i64>().ok()?),
        Scalar::U64 => put!(value.extract::<u64>().ok()?),
    }
    Some(u64::from_ne_bytes(bytes))
}

fn no_number(variant: &Variant, k: usize, scalar: Scalar) -> Failure {
    let name = &variant.function.params[k].name;
    Failure::refused("X0207", format!("`{name}` is {scalar}, and what was given is no number of that type"))
        .help("give a number of Python or NumPy")
}

/// What the code says when it ends.
fn done(status: c_int, variant: &Variant) -> Result<(), Failure> {
    let name = &variant.function.name;
    match status {
        0 => Ok(()),
        1 => {
            let failure = Failure::environment("X0304", format!("`{name}` ran out of memory"));
            Err(failure.help("choose smaller sizes"))
        }
        2 => Err(Failure::refused("X0102", format!("the sizes are not those that `{name}` requires"))),
        other => Err(Failure::environment("X0304", format!("`{name}` ended with status {other}"))),
    }
}
