//! Whole models: compiled once for all values of named extents where that can be done, else for the
//! shapes that they are called with.

use std::collections::BTreeMap;
use std::ffi::{c_int, c_void};
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, PoisonError};

use graph::plan::{self, Port};
use graph::{Dim, Model as Graph, TensorType, ValueId, operators};
use loops::{Elem, Name, Scalar};
use lozenge::files::Scratch;
use lozenge::pipeline::graph::{self as pipeline, Extents};
use lozenge::process::Optimise;
use lozenge::{Failure, ModelRequest, bind, models};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyTuple};

use crate::buffer::Buffers;
use crate::call::FORKED;
use crate::errors::{raise, raised};
use crate::object::{self, Object};
use crate::variant::dtype_name;
use lozenge::deep;

/// So many words of 64 bits are as far apart as parameters are aligned.
const ALIGNMENT: usize = 8;

/// Numbers for extents.
type Sizes = BTreeMap<Name, i64>;

/// Models for all values of their extents, by the names of the inputs that are given.
type Open = Vec<(Vec<String>, Option<Arc<Compiled>>)>;

/// A compiled model, and the extents that it is called with.
type At = (Arc<Compiled>, Sizes);

/// An input as it is given: its name and its shape.
type Shapes = Vec<(String, Vec<usize>)>;

/// A model.
#[allow(missing_docs)]
#[pyclass(frozen, module = "lozenge")]
pub struct Model {
    graph: Graph,
    /// The file, for messages.
    path: PathBuf,
    optimise: Optimise,
    threads: u32,
    compiled: Mutex<Vec<(Shapes, At)>>,
    /// The models for all extents, by the names of the inputs that are given; none where there is
    /// no such model.
    open: Mutex<Open>,
    one: Mutex<()>,
}

/// A model for inputs of certain shapes, or for all values of its extents.
struct Compiled {
    extents: Vec<Name>,
    inputs: Vec<Port>,
    outputs: Vec<Port>,
    /// Parameters from the first word on that is aligned.
    parameters: Vec<u64>,
    object: Object,
}

impl Compiled {
    fn parameters(&self) -> *const u64 {
        let skipped = self.parameters.as_ptr().align_offset(ALIGNMENT * 8).min(ALIGNMENT);
        self.parameters[skipped..].as_ptr()
    }
}

impl Model {
    /// Reads a model.
    ///
    /// # Errors
    /// As [`pipeline::open`]; what validation finds.
    fn open(path: &Path, exact: bool, threads: u32) -> Result<Model, Failure> {
        let graph = deep(|| {
            let mut graph = models::open(path)?;
            models::sound(&mut graph, path, false)?;
            Ok(graph)
        })?;
        let optimise = if exact { Optimise::FastExact } else { Optimise::Fast };
        let (compiled, open, one) = (Mutex::default(), Mutex::default(), Mutex::default());
        Ok(Model { graph, path: path.to_path_buf(), optimise, threads, compiled, open, one })
    }

    /// The inputs that have to be given, and those with a value of their own.
    fn inputs(&self) -> impl Iterator<Item = (ValueId, bool)> {
        let graph = &self.graph.graph;
        graph.inputs().iter().map(|id| (*id, graph.value(*id).initializer().is_some()))
    }

    fn known(&self, shapes: &Shapes) -> Option<At> {
        let compiled = self.compiled.lock().unwrap_or_else(PoisonError::into_inner);
        compiled.iter().find(|(s, _)| s == shapes).map(|(_, found)| found.clone())
    }

    /// The model for inputs of these shapes, compiled now if it is not yet.
    fn compiled(&self, shapes: &Shapes) -> Result<At, Failure> {
        if let Some(found) = self.known(shapes) {
            return Ok(found);
        }
        let _one = self.one.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(found) = self.known(shapes) {
            return Ok(found);
        }
        let made = match self.open_at(shapes)? {
            Some(open) => open,
            None => (Arc::new(self.fixed(shapes)?), Sizes::new()),
        };
        self.keep(shapes, &made);
        Ok(made)
    }

    /// The model for inputs of these shapes alone.
    fn fixed(&self, shapes: &Shapes) -> Result<Compiled, Failure> {
        deep(|| {
            let mut graph = self.graph.clone();
            let sizes = bound(&mut graph, shapes)?;
            self.compile(graph, sizes, Extents::Numbers)
        })
    }

    /// Says what inputs of these shapes are run by.
    fn keep(&self, shapes: &Shapes, made: &At) {
        let mut compiled = self.compiled.lock().unwrap_or_else(PoisonError::into_inner);
        compiled.retain(|(known, _)| known != shapes);
        compiled.push((shapes.clone(), made.clone()));
    }

    /// The model for all values of its extents, and those that follow from these shapes; none if it
    /// has no such extents, or can't be compiled so.
    fn open_at(&self, shapes: &Shapes) -> Result<Option<At>, Failure> {
        let mut graph = self.graph.clone();
        let sizes = bound(&mut graph, shapes)?;
        let ranked =
            |id: &ValueId| self.graph.graph.value(*id).tensor_type().is_some_and(|t| t.shape.is_some());
        if sizes.is_empty() || !self.graph.graph.inputs().iter().all(ranked) {
            return Ok(None);
        }
        let given: Vec<String> = shapes.iter().map(|(name, _)| name.clone()).collect();
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        let known = open.iter().find(|(names, _)| *names == given).map(|(_, found)| found.clone());
        let found = known.unwrap_or_else(|| {
            let extents = Extents::Arguments(sizes.clone());
            let made = deep(|| self.compile(graph, Sizes::new(), extents)).ok().map(Arc::new);
            open.push((given, made.clone()));
            made
        });
        Ok(found.map(|compiled| (compiled, sizes)))
    }

    fn compile(&self, graph: Graph, sizes: Sizes, extents: Extents) -> Result<Compiled, Failure> {
        let request = ModelRequest { sizes, extents, ..models::request(&self.path) };
        let graph = models::prepare_sound(graph, &request)?;
        let compiled = pipeline::compile(&graph, &request)?;
        let arena = compiled.plan.arena(&request.numbers()).unwrap_or(u128::MAX);
        let held = arena.saturating_add(compiled.plan.parameter_bytes as u128);
        if held > bind::available_memory() {
            return Err(Failure::environment("X0103", format!("the model needs {}", bind::amount(held)))
                .note(format!("{} are free", bind::amount(bind::available_memory()))));
        }
        let object = object::load(&compiled.source, &compiled.signature, self.optimise)?;
        let block = pipeline::parameter_block(&compiled.plan);
        let mut parameters = vec![0; block.len().div_ceil(8) + ALIGNMENT];
        let skipped = parameters.as_ptr().align_offset(ALIGNMENT * 8).min(ALIGNMENT);
        for (word, bytes) in parameters[skipped..].iter_mut().zip(block.chunks(8)) {
            let mut whole = [0; 8];
            whole[..bytes.len()].copy_from_slice(bytes);
            *word = u64::from_ne_bytes(whole);
        }
        let plan::Plan { inputs, outputs, extents, .. } = compiled.plan;
        Ok(Compiled { extents, inputs, outputs, parameters, object })
    }

    fn called<'py>(
        &self,
        py: Python<'py>,
        (compiled, sizes): (&Compiled, &Sizes),
        feeds: &Bound<'py, PyDict>,
    ) -> PyResult<Result<Vec<Bound<'py, PyAny>>, c_int>> {
        static EMPTY: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
        let empty = EMPTY.import(py, "numpy", "empty")?;
        let mut buffers = Buffers::with_room(py, compiled.inputs.len() + compiled.outputs.len());
        let mut places = vec![compiled.parameters() as usize];
        for port in &compiled.inputs {
            let name = port.name.as_str();
            let array = feeds.get_item(name)?;
            let array = array.ok_or_else(|| raise(py, &missing(name)))?;
            let held = buffers.hold(&array, &carried(port), port.dims.len(), false);
            let shape = port.shape(sizes).unwrap_or_default();
            let held = held.ok().filter(|held| {
                buffers.shape(*held).iter().map(|n| n.unsigned_abs()).eq(shape.iter().copied())
            });
            let held = held.ok_or_else(|| raise(py, &misfit(port)))?;
            places.push(buffers.place(held) as usize);
        }
        let mut outputs = Vec::with_capacity(compiled.outputs.len());
        for port in &compiled.outputs {
            let elem = carried(port);
            let Elem::Scalar(scalar) = elem else { return Err(raise(py, &misfit(port))) };
            let shape = port.shape(sizes).ok_or_else(|| raise(py, &misfit(port)))?;
            let array = empty.call1((PyTuple::new(py, &shape)?, dtype_name(scalar)))?;
            let held = buffers.hold(&array, &elem, port.dims.len(), true);
            places.push(buffers.place(held.map_err(|_| raise(py, &misfit(port)))?) as usize);
            outputs.push(array);
        }
        let numbers: Vec<i64> =
            compiled.extents.iter().map(|name| sizes.get(name).copied().unwrap_or(0)).collect();
        let forked = FORKED.load(Ordering::Relaxed);
        let threads = if forked { 1 } else { c_int::try_from(self.threads).unwrap_or(0) };
        let status = py.detach(|| {
            let at = places.as_ptr().cast::<*mut c_void>();
            // SAFETY: the block of parameters is that of the plan; inputs and outputs have the
            // types and extents of its ports, and outputs are new, so nothing overlaps. All are
            // held until behind the call.
            unsafe { compiled.object.call(&numbers, std::slice::from_raw_parts(at, places.len()), threads) }
        });
        Ok(if status == 0 { Ok(outputs) } else { Err(status) })
    }
}

/// What follows from the shapes: sizes of named extents, the shapes of inputs that have none; and
/// what is given is no default any more.
fn bound(model: &mut Graph, shapes: &Shapes) -> Result<Sizes, Failure> {
    let mut sizes = BTreeMap::new();
    let graph = &mut model.graph;
    for (name, extents) in shapes {
        let id = graph.inputs().iter().copied().find(|id| graph.value(*id).name().as_str() == name);
        let Some((id, ty)) = id.and_then(|id| Some((id, graph.value(id).tensor_type()?.clone()))) else {
            let names: Vec<Name> = graph.inputs().iter().map(|id| graph.value(*id).name().clone()).collect();
            return Err(Failure::refused("X0204", format!("the model has no input `{name}`"))
                .help(bind::list("its inputs are", &names)));
        };
        graph.forget_default(id);
        let own = graph.value(id).name().clone();
        let Some(shape) = &ty.shape else {
            graph.declare(id, TensorType::new(ty.elem, extents.iter().map(|n| *n as i64)));
            continue;
        };
        let wrong = || {
            let message = format!("the input `{name}` is {ty}, and the array has the shape {extents:?}");
            Failure::refused("X0203", message)
        };
        if shape.len() != extents.len() {
            return Err(wrong());
        }
        for (axis, (dim, extent)) in shape.iter().zip(extents).enumerate() {
            let extent = *extent as i64;
            let size = match dim {
                Dim::Known(n) if *n != extent => return Err(wrong()),
                Dim::Known(_) => continue,
                Dim::Symbolic(size) => size.as_param().cloned(),
                Dim::Unknown => Some(plan::extent_name(&own, axis)),
            };
            if let Some(size) = size
                && *sizes.entry(size.clone()).or_insert(extent) != extent
            {
                return Err(wrong().note(format!("`{size}` is {} by another extent", sizes[&size])));
            }
        }
    }
    Ok(sizes)
}

fn carried(port: &Port) -> Elem {
    Elem::Scalar(operators::carrier(port.elem).unwrap_or(Scalar::F32))
}

fn missing(name: &str) -> Failure {
    Failure::refused("X0204", format!("the input `{name}` is not given"))
}

fn misfit(port: &Port) -> Failure {
    let message = format!("the array for `{}` is not {} of the shape {:?}", port.name, port.elem, port.dims);
    Failure::refused("X0203", message)
}

fn failed(status: c_int) -> Failure {
    match status {
        1 => Failure::environment("X0304", "the model ran out of memory").help("give smaller inputs"),
        4 => Failure::refused(
            "G0506",
            "an index that the model is given, or computes, is outside of the tensor it is an index of",
        ),
        5 => Failure::refused("G0507", "the model takes a branch that does not fit the sizes"),
        other => Failure::environment("X0304", format!("the model ended with status {other}")),
    }
}

/// What the function of a model returns where its extents are not admissible.
const SIZES: c_int = 2;

/// An input or output for Python: name, number of the element type, extents, NumPy's name of the
/// type in which it is handed over.
type Described<'py> = (String, i32, Option<Vec<Bound<'py, PyAny>>>, Option<&'static str>);

fn described<'py>(py: Python<'py>, graph: &Graph, id: ValueId) -> PyResult<Described<'py>> {
    let value = graph.graph.value(id);
    let ty = value.tensor_type();
    let extent = |dim: &Dim| match dim {
        Dim::Known(n) => Ok(n.into_pyobject(py)?.into_any()),
        Dim::Symbolic(size) => Ok(size.to_string().into_pyobject(py)?.into_any()),
        Dim::Unknown => Ok(py.None().into_bound(py)),
    };
    let shape = ty.and_then(|t| t.shape.as_ref());
    let shape = shape.map(|shape| shape.iter().map(extent).collect::<PyResult<Vec<_>>>()).transpose()?;
    let carrier = ty.and_then(|t| operators::carrier(t.elem)).map(dtype_name);
    Ok((value.name().to_string(), ty.map_or(0, |t| t.elem.code()), shape, carrier))
}

#[pymethods]
impl Model {
    #[new]
    #[pyo3(signature = (model, exact, threads))]
    fn new(py: Python<'_>, model: ModelSource, exact: bool, threads: u32) -> PyResult<Model> {
        raised(py, py.detach(|| model.on_disk(|path| Model::open(path, exact, threads))))
    }

    /// The model's name.
    #[getter]
    fn name(&self) -> String {
        self.graph.graph.name.to_string()
    }

    /// The inputs, each with whether it has a value of its own.
    fn describe_inputs<'py>(&self, py: Python<'py>) -> PyResult<Vec<(Described<'py>, bool)>> {
        self.inputs().map(|(id, default)| Ok((described(py, &self.graph, id)?, default))).collect()
    }

    fn describe_outputs<'py>(&self, py: Python<'py>) -> PyResult<Vec<Described<'py>>> {
        self.graph.graph.outputs().iter().map(|id| described(py, &self.graph, *id)).collect()
    }

    /// The outputs for arrays of the types in which inputs are handed over.
    fn run<'py>(&self, py: Python<'py>, feeds: &Bound<'py, PyDict>) -> PyResult<Vec<Bound<'py, PyAny>>> {
        let mut shapes = Shapes::new();
        for (name, array) in feeds.iter() {
            shapes.push((name.extract()?, array.getattr("shape")?.extract()?));
        }
        shapes.sort();
        let (compiled, sizes) = raised(py, py.detach(|| self.compiled(&shapes)))?;
        let mut done = self.called(py, (&compiled, &sizes), feeds)?;
        if let (Err(SIZES), false) = (&done, sizes.is_empty()) {
            // Extents that only the model for all of them does not take.
            let fixed = raised(py, py.detach(|| self.fixed(&shapes)))?;
            let fixed = (Arc::new(fixed), Sizes::new());
            self.keep(&shapes, &fixed);
            done = self.called(py, (&fixed.0, &fixed.1), feeds)?;
        }
        done.map_err(|status| raise(py, &failed(status)))
    }
}

/// A model as it is given.
#[derive(FromPyObject)]
pub enum ModelSource {
    /// Its bytes.
    #[pyo3(transparent)]
    Bytes(Vec<u8>),
    /// Its file.
    #[pyo3(transparent)]
    Path(PathBuf),
}

impl ModelSource {
    /// Does something with its file, which is made for the time being if there is none.
    ///
    /// # Errors
    /// `X0004` if it can't be written; those of the work.
    pub fn on_disk<T>(&self, work: impl FnOnce(&Path) -> Result<T, Failure>) -> Result<T, Failure> {
        let bytes = match self {
            ModelSource::Path(path) => return work(path),
            ModelSource::Bytes(bytes) => bytes,
        };
        let scratch = Scratch::new()?;
        let path = scratch.path().join("model.onnx");
        lozenge::files::write_whole(&path, bytes)?;
        let file = path.display().to_string();
        work(&path).map_err(|failure| crate::program::named(failure, &(file, "<bytes>".to_owned())))
    }
}
