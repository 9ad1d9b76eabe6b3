//! A definition at one choice of types: what it takes and gives, and its compiled code once that is
//! wanted.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use functional::{DataType, Definition};
use loops::{Data, Elem, Function, Name, ParamMode, Program, Scalar, Tensor};
use lozenge::bind::{self, Given, Sizes};
use lozenge::pipeline::{self, Lowered};
use lozenge::places::Range;
use lozenge::process::Optimise;
use lozenge::{Failure, Request, check};
use pyo3::prelude::*;
use pyo3::types::{PyString, PyTuple};

use crate::errors::{raise, raised};
use crate::inside::Inside;
use crate::object::{self, Object};

/// More memory than this is only taken if the system says that it is there.
const MUCH: u128 = 256 << 20;

/// A parameter as Python sees it.
pub struct Port {
    /// Its name.
    pub name: Py<PyString>,
    /// Type of its elements.
    pub elem: Elem,
    /// The same for NumPy.
    pub dtype: Py<PyAny>,
    /// Its number of dimensions; 0 for a number.
    pub rank: usize,
    /// Direction.
    pub mode: ParamMode,
}

/// A definition at one choice of types.
pub struct Variant {
    /// The loops; their parameters are those of `ports`.
    pub function: Function,
    /// The parameters.
    pub ports: Vec<Port>,
    /// Those that are given, in the order of positional arguments.
    pub inputs: Vec<usize>,
    /// Those that are results: arrays of their own, or numbers that come in and go out.
    pub results: Vec<usize>,
    /// Parameters of a function of C as it declares them, sizes included.
    pub declared: Vec<String>,
    definition: Option<Definition>,
    original: Option<Function>,
    checked: bool,
    inside: Inside,
    optimise: Optimise,
    object: OnceLock<Object>,
    compiling: Mutex<()>,
    plan: Mutex<Option<Arc<Plan>>>,
}

/// Sizes and extents for arrays of certain shapes.
pub struct Plan {
    /// The shapes of the arrays one behind another, then the sizes that were given.
    pub key: Vec<isize>,
    /// The sizes in the order of the function.
    pub sizes: Vec<i64>,
    /// The shape of each result.
    pub results: Vec<Py<PyTuple>>,
    /// Parameters whose elements are places in others, each with the least number that is too
    /// large.
    pub bounds: Vec<(usize, i64)>,
}

/// The type of elements for NumPy: a name, or the members of a structure.
///
/// # Errors
/// What NumPy says.
pub fn dtype<'py>(py: Python<'py>, elem: &Elem) -> PyResult<Bound<'py, PyAny>> {
    let numpy = py.import("numpy")?;
    match elem {
        Elem::Scalar(scalar) => numpy.call_method1("dtype", (dtype_name(*scalar),)),
        Elem::Pair(a, b) => {
            let members = vec![("x1", dtype(py, a)?), ("x2", dtype(py, b)?)];
            let aligned = pyo3::types::PyDict::new(py);
            aligned.set_item("align", true)?;
            numpy.call_method("dtype", (members,), Some(&aligned))
        }
    }
}

/// NumPy's name of a type.
pub fn dtype_name(scalar: Scalar) -> &'static str {
    match scalar {
        Scalar::F16 => "float16",
        Scalar::F32 => "float32",
        Scalar::F64 => "float64",
        Scalar::I32 => "int32",
        Scalar::I64 => "int64",
        Scalar::Bool => "bool",
        Scalar::I8 => "int8",
        Scalar::U8 => "uint8",
        Scalar::I16 => "int16",
        Scalar::U16 => "uint16",
        Scalar::U32 => "uint32",
        Scalar::U64 => "uint64",
    }
}

/// Whether elements of a parameter are pairs with an index in them.
fn hides_index(ty: &DataType) -> bool {
    fn array(ty: &DataType) -> bool {
        match ty {
            DataType::Array(..) => true,
            DataType::Pair(a, b) => array(a) || array(b),
            _ => false,
        }
    }
    fn index(ty: &DataType) -> bool {
        match ty {
            DataType::Idx(_) => true,
            DataType::Pair(a, b) => index(a) || index(b),
            _ => false,
        }
    }
    match ty {
        DataType::Array(_, inner) => hides_index(inner),
        DataType::Pair(a, b) if array(ty) => hides_index(a) || hides_index(b),
        DataType::Pair(..) => index(ty),
        _ => false,
    }
}

impl Variant {
    /// Of a lowered definition; `order` names parameters in the order in which they are to be
    /// given, as far as that is another than that of the loops. `declared` are those of a function
    /// of C.
    ///
    /// # Errors
    /// What NumPy says of a type.
    pub fn new(
        py: Python<'_>,
        lowered: Lowered,
        (optimise, checked): (Optimise, bool),
        order: &[Name],
        declared: &[String],
    ) -> PyResult<Variant> {
        let Lowered { function, definition, original, .. } = lowered;
        if let Some(name) = definition.as_ref().and_then(|d| d.params.iter().find(|p| hides_index(&p.ty))) {
            let message = format!("`{}` has indices inside of pairs, which can't be checked", name.var.name);
            return Err(raise(
                py,
                &Failure::refused("X0207", message).help("give them as an array of their own"),
            ));
        }
        let port = |param: &loops::Param| {
            Ok(Port {
                name: PyString::intern(py, param.name.as_str()).unbind(),
                elem: param.elem.clone(),
                dtype: dtype(py, &param.elem)?.unbind(),
                rank: param.dims.len(),
                mode: param.mode,
            })
        };
        let ports: Vec<Port> = function.params.iter().map(port).collect::<PyResult<_>>()?;
        let rank = |k: &usize| {
            let name = &function.params[*k].name;
            order.iter().position(|n| n == name).unwrap_or(order.len())
        };
        let mut inputs: Vec<usize> = (0..ports.len()).filter(|k| ports[*k].mode != ParamMode::Out).collect();
        inputs.sort_by_key(rank);
        let comes_out =
            |port: &Port| port.mode == ParamMode::Out || (port.mode == ParamMode::InOut && port.rank == 0);
        let results = (0..ports.len()).filter(|k| comes_out(&ports[*k])).collect();
        Ok(Variant {
            function,
            ports,
            inputs,
            results,
            declared: declared.to_vec(),
            definition,
            original,
            checked,
            inside: Inside::default(),
            optimise,
            object: OnceLock::new(),
            compiling: Mutex::new(()),
            plan: Mutex::new(None),
        })
    }

    /// The compiled code, made now if it is not there.
    ///
    /// # Errors
    /// What the target and the C compiler refuse.
    pub fn object(&self, py: Python<'_>) -> Result<Object, Failure> {
        if let Some(object) = self.object.get() {
            return Ok(*object);
        }
        py.detach(|| {
            let _one = self.compiling.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some(object) = self.object.get() {
                return Ok(*object);
            }
            let object = lozenge::deep(|| {
                let program = Program { functions: vec![self.function.clone()] };
                let emitted = pipeline::to_c(&program, &Request::default(), None)?;
                let signature = emitted.signatures.first();
                let signature =
                    signature.ok_or_else(|| Failure::refused("X0601", "the compiler failed: no function"))?;
                object::load(&emitted.source, signature, self.optimise)
            })?;
            Ok(*self.object.get_or_init(|| object))
        })
    }

    /// Sizes and extents for arrays of these shapes; `explicit` are sizes that are given by their
    /// names.
    ///
    /// # Errors
    /// Shapes and sizes that do not agree, or that the definition does not allow; more memory than
    /// there is.
    pub fn plan(
        &self,
        py: Python<'_>,
        shapes: &[(usize, &[isize])],
        explicit: &[(usize, i64)],
    ) -> PyResult<Arc<Plan>> {
        let lock = || self.plan.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(plan) = lock().as_ref().filter(|plan| plan.is_for(shapes, explicit)) {
            return Ok(Arc::clone(plan));
        }
        let plan = Arc::new(self.planned(py, shapes, explicit)?);
        *lock() = Some(Arc::clone(&plan));
        Ok(plan)
    }

    fn planned(
        &self,
        py: Python<'_>,
        shapes: &[(usize, &[isize])],
        explicit: &[(usize, i64)],
    ) -> PyResult<Plan> {
        let function = &self.function;
        let found = self.sizes(shapes, explicit).and_then(|sizes| {
            let all: Vec<Vec<usize>> =
                function.params.iter().map(|p| bind::shape(p, &sizes)).collect::<Result<_, _>>()?;
            self.check_shapes(shapes, &all)?;
            self.check_memory(&sizes, &all)?;
            if self.definition.is_none() && self.checked {
                self.inside.check(self.original.as_ref().unwrap_or(function), &sizes)?;
            }
            Ok((sizes, all))
        });
        let (sizes, all) = raised(py, found)?;
        let results = self.results.iter().map(|k| Ok(PyTuple::new(py, &all[*k])?.unbind()));
        let results = results.collect::<PyResult<Vec<_>>>()?;
        let bounds = self.bounds(&sizes);
        let sizes = function.sizes.iter().map(|name| sizes.get(name).copied().unwrap_or(0)).collect();
        Ok(Plan { key: key(shapes, explicit).collect(), sizes, results, bounds })
    }

    fn sizes(&self, shapes: &[(usize, &[isize])], explicit: &[(usize, i64)]) -> Result<Sizes, Failure> {
        let function = &self.function;
        let arrays: BTreeMap<Name, Given> = shapes
            .iter()
            .map(|(k, shape)| {
                let param = &function.params[*k];
                let shape = shape.iter().map(|n| n.unsigned_abs()).collect();
                // Only its shape is asked for.
                let tensor = Tensor { shape, data: Data::zeros(&param.elem, 0) };
                (param.name.clone(), Given { origin: format!("the array for `{}`", param.name), tensor })
            })
            .collect();
        let given = explicit.iter().map(|(k, value)| (function.sizes[*k].clone(), *value)).collect();
        bind::sizes(function, &given, &arrays)
    }

    /// Whether it is the types that say which elements are places.
    pub fn by_types(&self) -> bool {
        self.definition.is_some()
    }

    /// What elements that are places lie below: by the types of a functional program; by the text
    /// of another, as far as that tells, unless nobody wants that.
    fn bounds(&self, sizes: &Sizes) -> Vec<(usize, i64)> {
        let function = &self.function;
        if self.definition.is_none() && !self.checked {
            return Vec::new();
        }
        let ranges = check::ranges(self.definition.as_ref(), function, self.original.as_ref(), sizes);
        let bound = |(name, range): (Name, Range)| {
            let number = function.params.iter().position(|p| p.name == name)?;
            Some(match range {
                Range::Index(bound) | Range::Below(bound) => (number, bound),
                // Where rows begin and end, the end itself is one.
                Range::Ascending(last) => (number, last.saturating_add(1)),
            })
        };
        ranges.into_iter().filter_map(bound).collect()
    }

    /// Extents that no size tells (of programs whose extents divide, or choose) are compared here.
    fn check_shapes(&self, shapes: &[(usize, &[isize])], all: &[Vec<usize>]) -> Result<(), Failure> {
        for (k, shape) in shapes {
            let param = &self.function.params[*k];
            let same = shape.iter().map(|n| n.unsigned_abs()).eq(all[*k].iter().copied());
            if !same {
                return Err(Failure::refused(
                    "X0203",
                    format!(
                        "the array for `{}` has the shape {shape:?}, but at these sizes {} is {:?}",
                        param.name,
                        bind::type_of(param),
                        all[*k]
                    ),
                ));
            }
        }
        Ok(())
    }

    /// Memory for the results and for what is inside; what comes in is there already.
    fn check_memory(&self, sizes: &Sizes, all: &[Vec<usize>]) -> Result<(), Failure> {
        let function = &self.function;
        let count = |dims: &[usize]| dims.iter().fold(1u128, |n, dim| n.saturating_mul(*dim as u128));
        let given = function.params.iter().zip(all).filter(|(p, _)| p.mode != ParamMode::Out);
        let given = given.map(|(p, dims)| count(dims).saturating_mul(bind::elem_bytes(&p.elem)));
        let wanted = bind::bytes(function, sizes).saturating_sub(given.fold(0, u128::saturating_add));
        if wanted <= MUCH || wanted <= bind::available_memory() {
            return Ok(());
        }
        Err(Failure::environment(
            "X0103",
            format!("results and temporaries of `{}` take {}", function.name, bind::amount(wanted)),
        )
        .note(format!("{} of memory are available", bind::amount(bind::available_memory())))
        .help("choose smaller sizes"))
    }
}

fn key<'k>(
    shapes: &'k [(usize, &'k [isize])],
    explicit: &'k [(usize, i64)],
) -> impl Iterator<Item = isize> + 'k {
    let arrays = shapes.iter().flat_map(|(_, shape)| shape.iter().copied());
    arrays.chain(explicit.iter().flat_map(|(k, value)| [*k as isize, *value as isize]))
}

impl Plan {
    fn is_for(&self, shapes: &[(usize, &[isize])], explicit: &[(usize, i64)]) -> bool {
        key(shapes, explicit).eq(self.key.iter().copied())
    }
}
