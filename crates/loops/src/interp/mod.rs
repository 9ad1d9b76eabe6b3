//! The reference interpreter: it defines what a loop program means.
//!
//! It checks every subscript. It reports every read of an element that holds no value, a broken
//! assumption, and a copy whose data is used before it is waited for. Parallel loops may run in a
//! seeded random order and under a check for races. Bounds of a loop are evaluated once, before it.
//!
//! Not here: speed beyond what tests need, and any trust in the validator. The interpreter checks
//! names and types itself.

mod code;
mod machine;
mod memory;
mod observer;
mod race_detection;

use std::collections::BTreeMap;

use crate::data::Tensor;
use crate::diagnostic::{Code, Diagnostic};
use crate::name::Name;
use crate::program::{Function, ParamMode};
use crate::visit::check_depth;

use machine::Machine;
use memory::{Array, columns, data, is_whole};

pub use observer::{Live, Observer};

/// How to run.
#[derive(Clone, Debug)]
pub struct Options {
    /// Run the iterations of parallel and vector loops in an order made from this seed. `None`: in
    /// order.
    pub shuffle: Option<u64>,
    /// Report an element that two iterations of a parallel or vector loop access, if one of them
    /// writes it and no reduction covers it.
    pub races: bool,
    /// Most statements, iterations and copied elements; then the run ends with `L0308`.
    pub max_steps: u64,
    /// Follow the rules of C: a floating-point number that the integer type cannot hold, and an
    /// integer divided by 0, end the run with `L0305`.
    pub c_rules: bool,
    /// Most bytes of local arrays, parameters without an argument, and copies on their way.
    pub max_bytes: u64,
}

impl Default for Options {
    fn default() -> Options {
        Options { shuffle: None, races: false, max_steps: 1_000_000_000, c_rules: false, max_bytes: 1 << 32 }
    }
}

/// Runs a function and returns its `out` and `inout` parameters.
///
/// `args` holds a tensor for each `in` and `inout` parameter. An `out` parameter may have one: its
/// elements keep these values if the function never writes them (otherwise zeros). Reading them
/// before they are written is still an error.
///
/// # Errors
/// What is wrong with the function (codes `L02xx`), the arguments, or the run (`L03xx`).
pub fn run(
    function: &Function,
    sizes: &BTreeMap<Name, i64>,
    args: BTreeMap<Name, Tensor>,
    options: &Options,
) -> Result<BTreeMap<Name, Tensor>, Diagnostic> {
    run_under(function, sizes, args, options, None)
}

/// As [`run`], and tells the observer of every array, assignment and access.
///
/// # Errors
/// As [`run`].
pub fn observe(
    function: &Function,
    sizes: &BTreeMap<Name, i64>,
    args: BTreeMap<Name, Tensor>,
    options: &Options,
    observer: &mut dyn Observer,
) -> Result<BTreeMap<Name, Tensor>, Diagnostic> {
    run_under(function, sizes, args, options, Some(observer))
}

fn run_under(
    function: &Function,
    sizes: &BTreeMap<Name, i64>,
    mut args: BTreeMap<Name, Tensor>,
    options: &Options,
    observer: Option<&mut dyn Observer>,
) -> Result<BTreeMap<Name, Tensor>, Diagnostic> {
    let in_function = |d: Diagnostic| d.note(format!("in function `{}`", function.name));
    check_depth(function)?;
    let compiled = code::compile(function).map_err(in_function)?;
    // Borrowed for as long as the machine lives.
    let observer = observer.map(|observer| observer as &mut dyn Observer);
    let mut machine = Machine::new(&compiled, options, observer);
    for (slot, size) in function.sizes.iter().enumerate() {
        let value = sizes.get(size).ok_or_else(|| {
            in_function(Diagnostic::general(ARGUMENT, format!("the size `{size}` has no value")))
        })?;
        machine.set_var(slot, *value);
    }
    if let Some(extra) = sizes.keys().find(|name| !function.sizes.contains(name)) {
        return Err(in_function(Diagnostic::general(
            ARGUMENT,
            format!("there is no size parameter `{extra}`"),
        )));
    }
    for (node, source) in compiled.assumptions.iter().zip(&function.assumptions) {
        if !machine.truth(node).map_err(in_function)? {
            let values: Vec<String> =
                function.sizes.iter().filter_map(|n| Some(format!("{n} = {}", sizes.get(n)?))).collect();
            let message = format!("the assumption `{source}` does not hold for {}", values.join(", "));
            return Err(in_function(Diagnostic::general(Code("L0302"), message)));
        }
    }
    for (slot, param) in function.params.iter().enumerate() {
        let dims = machine.extents(&compiled.param_dims[slot], &param.name).map_err(in_function)?;
        let array = match args.remove(&param.name) {
            Some(tensor) => {
                check_tensor(&param.name, &tensor, &param.elem, &dims).map_err(in_function)?;
                let mut split = Vec::new();
                columns(tensor.data, &mut split);
                Array { dims, columns: split, written: None, depth: 0, reserved: 0 }
            }
            None if param.mode == ParamMode::Out => {
                machine.allocate(&param.name, &param.elem, dims).map_err(in_function)?
            }
            None => {
                let message = format!("the parameter `{}` has no argument", param.name);
                return Err(in_function(Diagnostic::general(ARGUMENT, message)));
            }
        };
        let written = match param.mode {
            ParamMode::Out => Some(vec![vec![false; array.len()]; array.columns.len()]),
            ParamMode::In | ParamMode::InOut => None,
        };
        machine.set_array(slot, Array { written, ..array });
    }
    if let Some(extra) = args.keys().next() {
        return Err(in_function(Diagnostic::general(ARGUMENT, format!("there is no parameter `{extra}`"))));
    }
    machine.run().map_err(in_function)?;
    let mut outputs = BTreeMap::new();
    for (slot, param) in function.params.iter().enumerate() {
        let Some(array) = machine.take_array(slot) else { continue };
        if param.mode != ParamMode::In {
            let shape = array.dims.iter().map(|extent| *extent as usize).collect();
            let data = data(&param.elem, &mut array.columns.into_iter());
            outputs.insert(param.name.clone(), Tensor { shape, data });
        }
    }
    Ok(outputs)
}

/// Something is wrong with the arguments of a run.
const ARGUMENT: Code = Code("L0301");

fn check_tensor(
    name: &Name,
    tensor: &Tensor,
    elem: &crate::types::Elem,
    dims: &[i64],
) -> Result<(), Diagnostic> {
    let is = tensor.data.elem();
    if is != *elem {
        let message = format!("the argument `{name}` holds `{is}`, the parameter `{elem}`");
        return Err(Diagnostic::general(ARGUMENT, message));
    }
    let shape: Vec<i64> = tensor.shape.iter().map(|e| i64::try_from(*e).unwrap_or(i64::MAX)).collect();
    if shape != dims {
        let message = format!("the argument `{name}` has shape {shape:?}, the parameter {dims:?}");
        return Err(Diagnostic::general(ARGUMENT, message));
    }
    if !is_whole(tensor) {
        let message =
            format!("the argument `{name}` does not hold as many elements as its shape {shape:?} says");
        return Err(Diagnostic::general(ARGUMENT, message));
    }
    Ok(())
}
