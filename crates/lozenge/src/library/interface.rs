//! What a library offers: its functions, their parameters, and what a caller has to keep to.

use std::collections::BTreeSet;

use cfront::{Export, ExportParam};
use functional::Definition;
use loops::{Elem, Function, ParamMode, Size};
use targets::Signature;

use crate::check;
use graph::plan::Step;

use crate::pipeline::graph::CompiledModel;

/// A function of a library.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Entry {
    /// Its name in the source.
    pub name: String,
    /// Its name in C.
    pub symbol: String,
    /// Type of its result in C.
    pub result: String,
    /// What its result is, where that is said and no status.
    pub gives: Option<String>,
    /// What its result says; empty where that is not a status.
    pub status: Vec<Status>,
    /// Names of the parameters that are sizes.
    pub sizes: Vec<String>,
    /// What it takes, in the order of C.
    pub parameters: Vec<Parameter>,
    /// What the caller has to keep to.
    pub conditions: Vec<String>,
    /// What is tested on entry: where it does not hold, loops run as they were written.
    pub tested: Vec<String>,
}

/// A result that is a status, and what it means.
pub type Status = (i32, &'static str);

/// A parameter of a function in C.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Parameter {
    /// Its name.
    pub name: String,
    /// Type in C of the number, or of the elements.
    pub c_type: String,
    /// The element type, where it is one that arrays have.
    pub element: Option<String>,
    /// Extents over the sizes; none for what is not known. None at all for a pointer of which
    /// nothing is known.
    pub shape: Option<Vec<Option<String>>>,
    /// Direction.
    pub mode: ParamMode,
    /// Whether the argument is a pointer.
    pub pointer: bool,
    /// Whether it is one to arrays: `a[n][m]` of C.
    pub nested: bool,
}

const DONE: Status = (0, "done");
const MEMORY: Status = (1, "memory ran out");
const SIZES: Status = (2, "the sizes are not those that are required");
const OUTSIDE: Status = (targets::model::OUTSIDE, "an index is outside of what it is an index of");
const UNFIT: Status = (targets::model::UNFIT, "a branch is taken that does not fit the sizes");

/// Functions that were made of definitions: as they were lowered, with their definitions where they
/// have one.
pub fn of_programs<'f>(
    functions: impl IntoIterator<Item = (&'f Function, Option<&'f Definition>)>,
    signatures: &[Signature],
) -> Vec<Entry> {
    let pairs = functions.into_iter().zip(signatures);
    pairs.map(|((function, definition), signature)| of_program(function, definition, signature)).collect()
}

fn of_program(function: &Function, definition: Option<&Definition>, signature: &Signature) -> Entry {
    let mut parameters: Vec<Parameter> = signature.sizes.iter().map(of_size).collect();
    parameters.extend(function.params.iter().zip(&signature.params).map(|(param, c)| Parameter {
        name: param.name.to_string(),
        c_type: c.c_type.clone(),
        element: Some(param.elem.to_string()),
        shape: Some(param.dims.iter().map(|dim| Some(dim.to_string())).collect()),
        mode: param.mode,
        pointer: c.pointer,
        nested: false,
    }));
    let mut conditions: Vec<String> = function.assumptions.iter().map(ToString::to_string).collect();
    for (name, below) in definition.map(|d| check::index_bounds(d, function)).unwrap_or_default() {
        conditions.push(format!("elements of `{name}` are at least 0 and below {below}"));
    }
    conditions.extend(apart(&parameters));
    Entry {
        name: function.name.to_string(),
        symbol: signature.c_name.clone(),
        result: "int".to_owned(),
        status: vec![DONE, MEMORY, SIZES],
        sizes: signature.sizes.iter().map(ToString::to_string).collect(),
        parameters,
        gives: None,
        conditions,
        tested: Vec::new(),
    }
}

fn of_size(name: &loops::Name) -> Parameter {
    Parameter {
        name: name.to_string(),
        c_type: "int64_t".to_owned(),
        element: Some("i64".to_owned()),
        shape: Some(Vec::new()),
        mode: ParamMode::In,
        pointer: false,
        nested: false,
    }
}

/// Arrays that are written overlap no others.
fn apart(parameters: &[Parameter]) -> Option<String> {
    let pointers = || parameters.iter().filter(|p| p.pointer);
    let written = pointers().any(|p| p.mode != ParamMode::In);
    (written && pointers().count() > 1).then(|| "an array that is written overlaps no other array".to_owned())
}

/// The one function of a model.
pub fn of_model(compiled: &CompiledModel, block: &str) -> Entry {
    let plan = &compiled.plan;
    let dims = std::iter::once(vec![Size::constant(plan.parameter_bytes as i64 / 8)])
        .chain(plan.inputs.iter().chain(&plan.outputs).map(|port| port.dims.clone()));
    let mut parameters: Vec<Parameter> = compiled.signature.sizes.iter().map(of_size).collect();
    parameters.extend(compiled.signature.params.iter().zip(dims).map(|(param, dims)| Parameter {
        name: param.name.to_string(),
        c_type: param.c_type.clone(),
        element: Some(param.elem.to_string()),
        shape: Some(dims.iter().map(|n| Some(n.to_string())).collect()),
        mode: param.mode,
        pointer: true,
        nested: false,
    }));
    let mut conditions = Vec::new();
    if plan.parameter_bytes > 0 {
        let bytes = plan.parameter_bytes;
        conditions
            .push(format!("`parameters` are the {bytes} bytes of {block}, at an address that 64 divides"));
    }
    conditions.extend(apart(&parameters));
    let mut status = vec![DONE, MEMORY];
    if !plan.extents.is_empty() {
        status.push(SIZES);
    }
    status.push(OUTSIDE);
    if Step::fails(&plan.steps) {
        status.push(UNFIT);
    }
    Entry {
        name: compiled.signature.name.to_string(),
        symbol: compiled.signature.c_name.clone(),
        result: "int".to_owned(),
        status,
        sizes: plan.extents.iter().map(ToString::to_string).collect(),
        parameters,
        gives: None,
        conditions,
        tested: Vec::new(),
    }
}

/// The function that tells the bytes that a run of a model takes, if extents are arguments.
pub fn of_memory(compiled: &CompiledModel) -> Option<Entry> {
    let symbol = compiled.memory.clone()?;
    let sizes = &compiled.signature.sizes;
    Some(Entry {
        name: symbol.clone(),
        symbol,
        result: "int64_t".to_owned(),
        status: Vec::new(),
        sizes: sizes.iter().map(ToString::to_string).collect(),
        parameters: sizes.iter().map(of_size).collect(),
        gives: Some(
            "the bytes that a run takes, or -1 if the sizes are not those that are required".to_owned(),
        ),
        conditions: Vec::new(),
        tested: Vec::new(),
    })
}

/// What is known of the regions of a function.
#[derive(Clone, Debug, Default)]
pub struct Regions {
    /// What the caller has to keep to, since it is taken without a test.
    pub conditions: Vec<String>,
    /// What is tested on entry.
    pub tested: Vec<String>,
}

/// A function of a C file; none if a header can't declare it.
pub fn of_c(export: &Export, regions: Regions) -> Option<Entry> {
    let interface = export.declared.as_ref().ok()?;
    let integers: BTreeSet<&str> = interface
        .params
        .iter()
        .filter(|p| {
            !p.pointer && p.elem.is_some_and(|e| !matches!(e, loops::Scalar::F32 | loops::Scalar::F64))
        })
        .map(|p| p.name.as_str())
        .collect();
    let words = |text: &str| -> Vec<String> {
        text.split(|c: char| !(c.is_alphanumeric() || c == '_')).map(str::to_owned).collect()
    };
    let used: BTreeSet<String> =
        interface.params.iter().flat_map(|p| &p.extents).flatten().flat_map(|e| words(e)).collect();
    let sizes = interface.params.iter().map(|p| p.name.as_str());
    let sizes = sizes.filter(|name| integers.contains(name) && used.contains(*name));
    let mut conditions = regions.conditions;
    let restricted: Vec<&str> =
        interface.params.iter().filter(|p| p.restrict).map(|p| p.name.as_str()).collect();
    conditions
        .extend(restricted.iter().map(|name| format!("`{name}` is `restrict`: it overlaps no other array")));
    Some(Entry {
        name: export.name.clone(),
        symbol: export.name.clone(),
        result: interface.result.clone(),
        status: Vec::new(),
        sizes: sizes.map(str::to_owned).collect(),
        parameters: interface.params.iter().enumerate().map(|(k, p)| c_parameter(k, p)).collect(),
        gives: None,
        conditions,
        tested: regions.tested,
    })
}

fn c_parameter(number: usize, param: &ExportParam) -> Parameter {
    let unknown = param.extents.iter().all(Option::is_none);
    Parameter {
        name: if param.name.is_empty() { format!("parameter_{}", number + 1) } else { param.name.clone() },
        c_type: param.c_type.clone(),
        element: param.elem.map(|elem| Elem::Scalar(elem).to_string()),
        shape: (!param.pointer || !unknown).then(|| param.extents.clone()),
        mode: if param.constant { ParamMode::In } else { ParamMode::InOut },
        pointer: param.pointer,
        nested: param.extents.len() > 1,
    }
}
