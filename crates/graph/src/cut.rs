//! Smaller models: inputs that become constants, and outputs that are kept.

use loops::{Code, Data, Diagnostic, Name};

use crate::graph::{Producer, ValueId};
use crate::model::Model;
use crate::operators::{carrier, decode, encode};
use crate::types::{ElementType, TensorType};

/// Tensors with more elements than this are not made of one number.
const MOST_ELEMENTS: i64 = 1 << 24;

fn refused(message: String) -> Diagnostic {
    Diagnostic::general(Code("G0408"), message)
}

fn names<'m>(model: &'m Model, ids: impl Iterator<Item = &'m ValueId>) -> String {
    ids.map(|id| model.graph.value(*id).name().as_str()).collect::<Vec<_>>().join(", ")
}

/// Makes an input a constant: each element is the one number, or they are those of the list.
///
/// # Errors
/// `G0408` if there is no such input, or if the numbers do not fit its type.
pub fn fix_input(model: &mut Model, name: &str, numbers: &[f64]) -> Result<(), Diagnostic> {
    let graph = &mut model.graph;
    let Some(id) = graph.inputs().iter().copied().find(|id| graph.value(*id).name().as_str() == name) else {
        let help = format!("its inputs are {}", names(model, model.graph.inputs().iter()));
        return Err(refused(format!("the model has no input `{name}`")).help(help));
    };
    let Some(ty) = graph.value(id).tensor_type().cloned() else {
        return Err(refused(format!("the input `{name}` is not a tensor")));
    };
    let dims = shape(name, &ty, numbers.len())?;
    let count = dims.iter().product::<usize>();
    let all = if numbers.len() == 1 { vec![numbers[0]; count] } else { numbers.to_vec() };
    let wrong = || refused(format!("the input `{name}` is {ty}, which does not have these numbers"));
    let tensor = loops::Tensor { shape: dims, data: data(ty.elem, &all).ok_or_else(wrong)? };
    let encoded = encode(ty.elem, &tensor).ok_or_else(wrong)?;
    // Integers have to be the same again; floating-point numbers are rounded to their type.
    let exact = !matches!(tensor.data, Data::F32(_) | Data::F64(_));
    if exact && decode(&encoded).is_none_or(|again| again.data != tensor.data) {
        return Err(wrong());
    }
    graph.fix_input(id, encoded);
    Ok(())
}

/// The extents of an input that gets so many numbers.
fn shape(name: &str, ty: &TensorType, count: usize) -> Result<Vec<usize>, Diagnostic> {
    let one_dimension = vec![count];
    let Some(shape) = &ty.shape else {
        return Ok(if count == 1 { Vec::new() } else { one_dimension });
    };
    if shape.len() == 1 && count > 1 && shape[0].known().is_none_or(|n| n == count as i64) {
        return Ok(one_dimension);
    }
    let known: Option<Vec<i64>> = shape.iter().map(|dim| dim.known().filter(|n| *n >= 0)).collect();
    let elements = |dims: &Vec<i64>| dims.iter().try_fold(1i64, |n, d| n.checked_mul(*d));
    match known {
        Some(dims)
            if elements(&dims).is_some_and(|n| n <= MOST_ELEMENTS && (count == 1 || n == count as i64)) =>
        {
            Ok(dims.into_iter().map(|n| n as usize).collect())
        }
        Some(_) => Err(refused(format!("the input `{name}` is {ty}, which is not {count} numbers"))),
        None => Err(refused(format!("the input `{name}` is {ty}, so its extents are not known"))
            .help("give them numbers: --size NAME=NUMBER")),
    }
}

/// Numbers as the storage of a type; none if it has other numbers.
fn data(elem: ElementType, numbers: &[f64]) -> Option<Data> {
    let integers = || -> Option<Vec<i64>> {
        let fits = |x: &f64| x.fract() == 0.0 && x.abs() <= 9_007_199_254_740_992.0;
        numbers.iter().all(fits).then(|| numbers.iter().map(|x| *x as i64).collect())
    };
    Some(match carrier(elem)? {
        loops::Scalar::F32 => Data::F32(numbers.iter().map(|x| *x as f32).collect()),
        loops::Scalar::F64 => Data::F64(numbers.to_vec()),
        loops::Scalar::I32 => {
            Data::I32(integers()?.into_iter().map(i32::try_from).collect::<Result<_, _>>().ok()?)
        }
        loops::Scalar::I64 => Data::I64(integers()?),
        loops::Scalar::Bool => {
            let bit = |n: i64| [false, true].get(usize::try_from(n).ok()?).copied();
            Data::Bool(integers()?.into_iter().map(bit).collect::<Option<_>>()?)
        }
        _ => return None,
    })
}

/// Makes these values the outputs of the model, in this order: outputs that it had, and results of
/// nodes. Their types must have been inferred, if they are not declared.
///
/// # Errors
/// `G0408` if there is no such value, or if its type is not known.
pub fn keep_outputs(model: &mut Model, kept: &[Name]) -> Result<(), Diagnostic> {
    let graph = &mut model.graph;
    let mut outputs: Vec<ValueId> = Vec::new();
    for name in kept {
        let made = |id: &ValueId| matches!(graph.value(*id).producer(), Producer::Node(..) | Producer::Input);
        let Some(id) = graph.find(name).filter(made) else {
            let help = format!("its outputs are {}", names(model, model.graph.outputs().iter()));
            return Err(refused(format!("no node of the model makes `{name}`")).help(help));
        };
        if outputs.contains(&id) {
            return Err(refused(format!("the output `{name}` is named twice")));
        }
        let Some(ty) = graph.value(id).ty().cloned() else {
            return Err(refused(format!("the type of `{name}` is not known, and an output needs one")));
        };
        if !graph.value(id).is_declared() {
            graph.declare(id, ty);
        }
        outputs.push(id);
    }
    graph.set_outputs(outputs);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text;

    fn model() -> Model {
        text::parse_model(
            "model ir 9\nopset \"\" 17\ngraph g {\n  input x: f32[n, 2]\n  input sr: i64[]\n  input k: u8[2]
  t = Relu(x)\n  c = Cast(sr) { to: 1 }\n  y = Mul(t, c)\n  z = Neg(y)\n  output z: f32[n, 2]\n}",
        )
        .expect("a model")
    }

    #[test]
    fn inputs_become_constants_of_their_type() {
        let mut fixed = model();
        fix_input(&mut fixed, "sr", &[16000.0]).expect("a number");
        fix_input(&mut fixed, "k", &[1.0, 255.0]).expect("numbers");
        let constant = |name: &str| fixed.graph.find(name).and_then(|id| fixed.graph.constant(id));
        assert_eq!(constant("sr").and_then(|t| t.to_ints()), Some(vec![16000]));
        assert_eq!(constant("k").and_then(|t| t.to_numbers()), Some(vec![1.0, 255.0]));
        assert_eq!(fixed.graph.inputs().len(), 1);
        let read = crate::onnx::read(&crate::onnx::write(&fixed).into()).expect("a model");
        assert_eq!(read.graph.inputs().len(), 1);
        assert!(crate::validate(&read).is_empty());
    }

    #[test]
    fn numbers_that_do_not_fit_are_refused() {
        for (name, numbers) in [
            ("sr", &[0.5][..]),
            ("k", &[1.0, 256.0]),
            ("k", &[-1.0]),
            ("k", &[1.0, 2.0, 3.0]),
            ("x", &[1.0]),
            ("w", &[1.0]),
        ] {
            let refused = fix_input(&mut model(), name, numbers).expect_err(name);
            assert_eq!(refused.code.0, "G0408", "{name} {numbers:?}");
        }
    }

    #[test]
    fn outputs_are_values_that_nodes_make() {
        let mut cut = model();
        crate::infer(&mut cut).expect("types");
        keep_outputs(&mut cut, &["t".into(), "z".into()]).expect("values");
        let names: Vec<&str> =
            cut.graph.outputs().iter().map(|id| cut.graph.value(*id).name().as_str()).collect();
        assert_eq!(names, ["t", "z"]);
        assert!(cut.to_string().contains("output t: f32[n, 2]"), "{cut}");
        keep_outputs(&mut cut, &["t".into()]).expect("a value");
        crate::simplify::remove_dead(&mut cut.graph);
        assert_eq!(cut.graph.node_count(), 1);
        for wrong in [&["w"][..], &["t", "t"]] {
            let wrong: Vec<Name> = wrong.iter().map(|name| Name::new(*name)).collect();
            assert!(keep_outputs(&mut cut, &wrong).is_err(), "{wrong:?}");
        }
    }
}
