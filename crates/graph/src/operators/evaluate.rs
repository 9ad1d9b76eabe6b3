//! Evaluation of a call through its program.

use functional::eval::{Limits, Value};
use loops::{Diagnostic, Size};

use super::{Call, INPUTS, Meaning, Operand, TYPES, carrier, decode, encode, meaning};
use crate::attribute::Attribute;
use crate::graph::Operator;
use crate::tensor::Tensor;

/// The results of an operator at these inputs, in order; there may be more than `outputs`.
///
/// # Errors
/// Those of [`meaning`], and of the evaluation: inputs that do not fit, limits, indices out of range.
pub fn evaluate(
    op: &Operator,
    opset: i64,
    attributes: &[Attribute],
    inputs: &[Option<&Tensor>],
    outputs: usize,
) -> Result<Vec<Tensor>, Diagnostic> {
    let operands = inputs.iter().map(|input| input.map(operand)).collect();
    let call = Call { op, opset, attributes, inputs: operands, outputs };
    run(&meaning(&call)?, &call)
}

/// The operand that a known tensor is.
fn operand(tensor: &Tensor) -> Operand<'_> {
    Operand {
        elem: tensor.elem,
        shape: tensor.dims.iter().map(|n| Size::constant(*n as i64)).collect(),
        constant: Some(tensor),
    }
}

/// The results of a program whose inputs are all known.
fn run(meaning: &Meaning, call: &Call<'_>) -> Result<Vec<Tensor>, Diagnostic> {
    let mut args = Vec::with_capacity(meaning.arguments.len());
    for k in &meaning.arguments {
        let tensor = call.inputs.get(*k).and_then(|o| o.as_ref()?.constant);
        let Some(value) = tensor.and_then(decode) else {
            let message = format!("`{}`: input {k} has no elements at hand", call.op);
            return Err(Diagnostic::general(INPUTS, message));
        };
        args.push(Value::Tensor(value));
    }
    let value =
        functional::eval::evaluate(&meaning.definition, &Default::default(), &args, Limits::default())?;
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
