//! Evaluation of a call through its program.

use functional::eval::{LIMIT, Limits, Value};
use loops::{Diagnostic, Size};

use super::{Call, INPUTS, Meaning, Operand, TYPES, carrier, decode, encode, meaning};
use crate::attribute::Attribute;
use crate::budget::{Budget, NODE};
use crate::graph::Operator;
use crate::tensor::Tensor;

/// The results of an operator at these inputs, in order; there may be more than `outputs`.
///
/// # Errors
/// Those of [`meaning`], and of the evaluation: inputs that do not fit, limits, indices out of
/// range.
pub fn evaluate(
    op: &Operator,
    opset: i64,
    attributes: &[Attribute],
    inputs: &[Option<&Tensor>],
    outputs: usize,
) -> Result<Vec<Tensor>, Diagnostic> {
    evaluate_within(op, opset, attributes, inputs, outputs, &mut Budget::default())
}

/// The same. The operations that it takes are subtracted from `budget`.
///
/// # Errors
/// As [`evaluate`]; `F0602` if the budget is too small.
pub fn evaluate_within(
    op: &Operator,
    opset: i64,
    attributes: &[Attribute],
    inputs: &[Option<&Tensor>],
    outputs: usize,
    budget: &mut Budget,
) -> Result<Vec<Tensor>, Diagnostic> {
    super::few_inputs(op, inputs.len())?;
    let operands = inputs.iter().map(|input| input.map(operand)).collect();
    let call = Call { op, opset, attributes, inputs: operands, outputs };
    let limit = |what: &str| Diagnostic::general(LIMIT, format!("`{op}` {what}"));
    budget.operations =
        budget.operations.checked_sub(NODE).ok_or_else(|| limit("takes more operations than are left"))?;
    let meaning = meaning(&call)?;
    let bytes = meaning.results.iter().map(|result| {
        let mut count = result.shape.iter().map(Size::as_constant);
        let count = count.try_fold(1u64, |n, d| n.checked_mul(u64::try_from(d?).ok()?))?;
        count.checked_mul(carrier(result.elem)?.bytes() as u64)
    });
    if bytes.sum::<Option<u64>>().is_none_or(|bytes| bytes > budget.memory) {
        let message = format!("has results that do not fit into the {} bytes that are left", budget.memory);
        return Err(limit(&message));
    }
    run(&meaning, &call, budget)
}

/// The operand that a known tensor is.
fn operand(tensor: &Tensor) -> Operand<'_> {
    Operand {
        elem: tensor.elem,
        shape: tensor.dims.iter().map(|n| Size::constant(*n as i64)).collect(),
        constant: Some(tensor),
        sizes: None,
    }
}

/// The results of a program whose inputs are all known.
fn run(meaning: &Meaning, call: &Call<'_>, budget: &mut Budget) -> Result<Vec<Tensor>, Diagnostic> {
    let mut args = Vec::with_capacity(meaning.arguments.len());
    for k in &meaning.arguments {
        let tensor = call.inputs.get(*k).and_then(|o| o.as_ref()?.constant);
        let Some(value) = tensor.and_then(decode) else {
            let message = format!("`{}`: the elements of input {k} are not available", call.op);
            return Err(Diagnostic::general(INPUTS, message));
        };
        args.push(Value::Tensor(value));
    }
    // A number in memory takes 8 bytes at most.
    let mut limits = Limits { elements: budget.memory / 8, steps: budget.operations };
    let value =
        functional::eval::evaluate_within(&meaning.definition, &Default::default(), &args, &mut limits);
    budget.operations = limits.steps;
    let value = value?;
    let mut rest = value;
    let mut tensors = Vec::new();
    for (k, output) in meaning.results.iter().enumerate() {
        let last = k + 1 == meaning.results.len();
        let first = match (last, rest) {
            (true, value) => {
                rest = Value::i64(0);
                value
            }
            (false, value) => {
                let (first, others) = parts(value);
                rest = others;
                first
            }
        };
        let tensor = match &first {
            Value::Tensor(tensor) => encode(output.elem, tensor),
            Value::Pair(..) => None,
        };
        tensors.push(tensor.ok_or_else(|| {
            let message = format!("`{}`: result {k} does not fit {}", call.op, output.elem);
            Diagnostic::general(TYPES, message)
        })?);
    }
    debug_assert!(meaning.results.iter().all(|r| carrier(r.elem).is_some()));
    Ok(tensors)
}

/// The components of a pair; of a tensor of pairs (numbers), two tensors.
fn parts(value: Value) -> (Value, Value) {
    match value {
        Value::Pair(a, b) => (*a, *b),
        Value::Tensor(loops::Tensor { shape, data: loops::Data::Pair(a, b) }) => (
            Value::Tensor(loops::Tensor { shape: shape.clone(), data: *a }),
            Value::Tensor(loops::Tensor { shape, data: *b }),
        ),
        other => (other.clone(), other),
    }
}
