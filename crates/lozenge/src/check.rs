//! The same result by several ways: evaluator of the language, interpreter of the loop program,
//! compiled C.
//!
//! Not here: where inputs come from (`bind`) and how C is run (`execute`).

use std::collections::BTreeMap;
use std::time::Duration;

use functional::eval::{Limits, Value, evaluate};
use functional::{DataType, Definition};
use loops::interp;
use loops::{Elem, Function, Loop, Name, ParamMode, Scalar, Size, Stmt, Tensor};

use targets::Emitted;

use crate::bind::Sizes;
use crate::execute::{Build, Executable, Schedule};
use crate::failure::Failure;
use crate::places::{self, Range};
use crate::process::{Compiler, Optimise};
use crate::progress;
use crate::value::{Closeness, difference};

/// The results of the evaluator: one tensor for each result parameter of the function.
///
/// # Errors
/// What the evaluator refuses, its limits included.
pub fn by_evaluator(
    definition: &Definition,
    function: &Function,
    sizes: &Sizes,
    inputs: &[Tensor],
) -> Result<Vec<Tensor>, Failure> {
    let mut tensors =
        function.params.iter().zip(inputs).filter(|(p, _)| p.mode != ParamMode::Out).map(|(_, t)| t.clone());
    let arguments: Option<Vec<Value>> =
        definition.params.iter().map(|p| gather(&p.ty, &mut tensors)).collect();
    let arguments =
        arguments.ok_or_else(|| defect("the loop program has fewer parameters than the definition"))?;
    progress::say(format!("evaluating `{}`", function.name));
    let result = evaluate(definition, sizes, &arguments, Limits::default())?;
    let mut results = Vec::new();
    scatter(result, &mut results);
    Ok(results)
}

fn defect(what: &str) -> Failure {
    Failure::refused("X0601", format!("the compiler failed: {what}"))
}

/// The value of this type from the next tensors: one, or one for each component where a pair has an
/// array in it.
fn gather(ty: &DataType, tensors: &mut impl Iterator<Item = Tensor>) -> Option<Value> {
    match split(ty) {
        None => tensors.next().map(Value::Tensor),
        Some((first, second)) => {
            let first = gather(&first, tensors)?;
            Some(Value::Pair(Box::new(first), Box::new(gather(&second, tensors)?)))
        }
    }
}

fn scatter(value: Value, results: &mut Vec<Tensor>) {
    match value {
        Value::Tensor(tensor) => results.push(tensor),
        Value::Pair(a, b) => {
            scatter(*a, results);
            scatter(*b, results);
        }
    }
}

/// The two halves of a type that is not one tensor: a pair with an array in it, under any number of
/// dimensions.
fn split(ty: &DataType) -> Option<(DataType, DataType)> {
    match ty {
        DataType::Pair(a, b) if has_array(a) || has_array(b) => Some(((**a).clone(), (**b).clone())),
        DataType::Array(n, inner) => {
            let (a, b) = split(inner)?;
            Some((DataType::array(n.clone(), a), DataType::array(n.clone(), b)))
        }
        _ => None,
    }
}

fn has_array(ty: &DataType) -> bool {
    match ty {
        DataType::Array(..) => true,
        DataType::Pair(a, b) => has_array(a) || has_array(b),
        DataType::Scalar(_) | DataType::Idx(_) | DataType::Vector(..) => false,
    }
}

/// The results of a program that was emitted in the order of its text, as the C compiler makes it
/// for one thread.
///
/// # Errors
/// As [`Executable::build`] and [`Executable::run`].
pub(crate) fn by_sequential(
    compiler: &Compiler,
    emitted: &Emitted,
    sizes: &Sizes,
    inputs: &[Tensor],
    limit: Duration,
) -> Result<Vec<Tensor>, Failure> {
    let executable = Executable::build(
        compiler,
        &Build {
            files: &[("program.c", &emitted.source)],
            routines: &emitted.signatures,
            header: &emitted.header,
            flags: Optimise::Exact.flags(),
            libraries: &[],
        },
    )?;
    let schedule = Schedule { threads: Some(1), limit, ..Schedule::ONCE };
    Ok(executable.run(0, sizes, inputs, schedule)?.outputs)
}

/// What the elements of parameters must be: by the types of the definition, or as far as the loop
/// program tells.
pub fn ranges(
    definition: Option<&Definition>,
    function: &Function,
    original: Option<&Function>,
    sizes: &Sizes,
) -> BTreeMap<Name, Range> {
    match definition {
        Some(definition) => bounds(definition, function, sizes)
            .into_iter()
            .map(|(name, bound)| (name, Range::Index(bound)))
            .collect(),
        None => places::of(original.unwrap_or(function), sizes),
    }
}

/// The exclusive bounds of parameters that hold indices.
pub fn bounds(definition: &Definition, function: &Function, sizes: &Sizes) -> BTreeMap<Name, i64> {
    let bounds = index_bounds(definition, function).into_iter();
    let value = |n: &Size| n.eval(&|name| sizes.get(name).copied()).ok();
    bounds.filter_map(|(name, bound)| Some((name, value(&bound)?))).collect()
}

/// The same over the sizes.
pub(crate) fn index_bounds(definition: &Definition, function: &Function) -> Vec<(Name, Size)> {
    let mut types = Vec::new();
    definition.params.iter().for_each(|p| leaf_types(&p.ty, &mut types));
    let params = function.params.iter().filter(|p| p.mode != ParamMode::Out);
    let bound = |ty: &DataType| match innermost(ty) {
        DataType::Idx(n) => Some(n.clone()),
        _ => None,
    };
    params.zip(&types).filter_map(|(p, ty)| Some((p.name.clone(), bound(ty)?))).collect()
}

fn leaf_types(ty: &DataType, types: &mut Vec<DataType>) {
    match split(ty) {
        None => types.push(ty.clone()),
        Some((a, b)) => {
            leaf_types(&a, types);
            leaf_types(&b, types);
        }
    }
}

fn innermost(ty: &DataType) -> &DataType {
    match ty {
        DataType::Array(_, inner) => innermost(inner),
        other => other,
    }
}

/// The results of the loop interpreter: in order, or with parallel loops in an order made from a
/// seed and a check for races. What is `of_c` may not convert numbers to integers that can't hold
/// them.
///
/// # Errors
/// What the interpreter finds: an index out of bounds, a read of nothing, a race, its limits.
pub fn by_interpreter(
    function: &Function,
    sizes: &Sizes,
    inputs: &[Tensor],
    shuffle: Option<u64>,
    of_c: bool,
) -> Result<Vec<Tensor>, Failure> {
    let arguments: BTreeMap<Name, Tensor> = function
        .params
        .iter()
        .zip(inputs)
        .filter(|(p, _)| p.mode != ParamMode::Out)
        .map(|(p, t)| (p.name.clone(), t.clone()))
        .collect();
    progress::say(format!("interpreting `{}`", function.name));
    let options = interp::Options {
        shuffle,
        races: shuffle.is_some(),
        c_rules: of_c,
        max_steps: 1 << 34,
        ..interp::Options::default()
    };
    let mut results = interp::run(function, sizes, arguments, &options)?;
    function
        .params
        .iter()
        .filter(|p| p.mode != ParamMode::In)
        .map(|p| results.remove(&p.name).ok_or_else(|| defect(&format!("the interpreter lost `{}`", p.name))))
        .collect()
}

/// Whether the function lets floating-point reductions be reordered.
pub fn reassociates(function: &Function) -> bool {
    fn floats(elem: &Elem) -> bool {
        match elem {
            Elem::Scalar(s) => matches!(s, Scalar::F32 | Scalar::F64),
            Elem::Pair(a, b) => floats(a) || floats(b),
        }
    }
    fn any(body: &[Stmt], found: &mut bool, has_floats: &mut bool) {
        for stmt in body {
            match stmt {
                Stmt::Assign(a) => *found |= a.update.is_some_and(|u| u.reorder),
                Stmt::Loop(Loop { reductions, body, .. }) => {
                    *found |= !reductions.is_empty();
                    any(body, found, has_floats);
                }
                Stmt::If { then, otherwise, .. } => {
                    any(then, found, has_floats);
                    any(otherwise, found, has_floats);
                }
                Stmt::Block { body, .. } => any(body, found, has_floats),
                Stmt::Local(local) => *has_floats |= floats(&local.elem),
                Stmt::Copy(_) | Stmt::Wait(_) => {}
            }
        }
    }
    let (mut found, mut has_floats) = (false, function.params.iter().any(|p| floats(&p.elem)));
    any(&function.body, &mut found, &mut has_floats);
    found && has_floats
}

/// Compares the results of two ways.
///
/// # Errors
/// `X0401` with the first difference.
pub fn compare(
    function: &Function,
    (left_name, left): (&str, &[Tensor]),
    (right_name, right): (&str, &[Tensor]),
    closeness: Closeness,
) -> Result<(), Failure> {
    let results = function.params.iter().filter(|p| p.mode != ParamMode::In);
    if left.len() != right.len() {
        return Err(defect(&format!(
            "{left_name} gives {} results and {right_name} {}",
            left.len(),
            right.len()
        )));
    }
    for ((param, a), b) in results.zip(left).zip(right) {
        if let Some(text) = difference(a, b, closeness) {
            let message = format!(
                "`{}`: {left_name} and {right_name} differ in `{}`: {text}",
                function.name, param.name
            );
            return Err(Failure::check("X0401", message).note(format!("results must agree {closeness}")));
        }
    }
    Ok(())
}
