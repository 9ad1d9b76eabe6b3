//! The shortcut of constant folding gives what the operators' programs evaluate to, bit for bit,
//! and knows when it does not know.

use graph::{Attribute, AttributeValue, ElementType, Operator, Tensor, folding_kernels, operators};
use proptest::prelude::*;
use proptest::sample::select;

const OPSET: i64 = 21;

/// A call: operator, attributes, inputs, results asked for.
#[derive(Clone, Debug)]
struct Call {
    op: &'static str,
    attributes: Vec<Attribute>,
    inputs: Vec<Option<Tensor>>,
    outputs: usize,
}

fn call(
    op: &'static str,
    inputs: impl IntoIterator<Item = Tensor>,
    attributes: &[(&str, AttributeValue)],
) -> Call {
    Call {
        op,
        attributes: attributes.iter().map(|(n, v)| Attribute::new(*n, v.clone())).collect(),
        inputs: inputs.into_iter().map(Some).collect(),
        outputs: 1,
    }
}

fn ints(list: &[i64]) -> Tensor {
    Tensor::from_i64s(vec![list.len()], list)
}

/// The bits of a result; a NaN is a NaN, whatever its bits.
fn bits(tensor: &Tensor) -> (ElementType, Vec<usize>, Vec<u8>) {
    let bytes = match tensor.elem {
        ElementType::F32 => {
            let plain = tensor.to_f32s().unwrap().into_iter().map(|x| if x.is_nan() { f32::NAN } else { x });
            plain.flat_map(f32::to_le_bytes).collect()
        }
        ElementType::F64 => {
            let plain = tensor.to_f64s().unwrap().into_iter().map(|x| if x.is_nan() { f64::NAN } else { x });
            plain.flat_map(f64::to_le_bytes).collect()
        }
        _ => tensor.bytes().unwrap().to_vec(),
    };
    (tensor.elem, tensor.dims.clone(), bytes)
}

/// Calls that are left to the programs though these have a result: numbers that an integer type
/// can't hold, divisors of 0 that divide nothing, places beyond an axis, parts that do not fit;
/// where extents are 0 or 1 the programs need not look.
fn is_left(call: &Call, result: &Tensor) -> bool {
    match call.op {
        "Cast" => !result.elem.is_float(),
        "Div" => result.count() == 0,
        "Concat" => {
            let axis = call.attributes[0].value.int().unwrap();
            let rest = |x: &Tensor| {
                let mut dims = x.dims.clone();
                dims.remove(if axis < 0 { axis + dims.len() as i64 } else { axis } as usize);
                dims
            };
            let parts: Vec<_> = call.inputs.iter().flatten().map(rest).collect();
            parts.iter().any(|dims| *dims != parts[0])
        }
        "Gather" => {
            let (Some(Some(x)), Some(Some(places))) = (call.inputs.first(), call.inputs.get(1)) else {
                return false;
            };
            let axis = call.attributes[0].value.int().unwrap();
            let n = x.dims[if axis < 0 { axis + x.dims.len() as i64 } else { axis } as usize] as i64;
            places.to_i64s().unwrap().iter().any(|k| !(-n..n).contains(k))
        }
        _ => false,
    }
}

/// Both ways: the same results, and a result there is one way if there is one the other.
fn same(call: &Call) -> Result<(), TestCaseError> {
    let inputs: Vec<Option<&Tensor>> = call.inputs.iter().map(Option::as_ref).collect();
    let op = Operator::from(call.op);
    let quick = folding_kernels::evaluate(&op, &call.attributes, &inputs, call.outputs, usize::MAX);
    let program = operators::evaluate(&op, OPSET, &call.attributes, &inputs, call.outputs);
    match (quick, program) {
        (Some(a), Ok(b)) => {
            let (a, b): (Vec<_>, Vec<_>) = (a.iter().map(bits).collect(), b.iter().map(bits).collect());
            prop_assert_eq!(a, b, "{:?}", call);
        }
        (None, Err(_)) => {}
        (Some(a), Err(e)) => prop_assert!(false, "{call:?} gives {a:?}, the program {e:?}"),
        (None, Ok(b)) if is_left(call, &b[0]) => {}
        (None, Ok(b)) => prop_assert!(false, "{call:?} is not done, the program gives {b:?}"),
    }
    Ok(())
}

const TYPES: [ElementType; 4] = [ElementType::F32, ElementType::F64, ElementType::I32, ElementType::I64];

/// A tensor of these extents, with the numbers that matter among its elements.
fn filled(elem: ElementType, dims: Vec<usize>, seed: u64) -> Tensor {
    let mut state = seed | 1;
    let mut next = || {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 33) as usize
    };
    let count: usize = dims.iter().product();
    let floats =
        [0.0, -0.0, 1.0, -1.5, 3.25, 1e30, -1e-30, f64::INFINITY, f64::NEG_INFINITY, f64::NAN, 0.1, 7.0];
    let whole = [0i64, 1, -1, 2, -7, 3, i64::MAX, i64::MIN, i64::from(i32::MIN), 5, 100, -3];
    let mut float = || floats[next() % floats.len()];
    match elem {
        ElementType::F32 => Tensor::from_f32s(dims, &(0..count).map(|_| float() as f32).collect::<Vec<_>>()),
        ElementType::F64 => Tensor::from_f64s(dims, &(0..count).map(|_| float()).collect::<Vec<_>>()),
        ElementType::I32 => Tensor::from_i32s(
            dims,
            &(0..count).map(|_| whole[next() % whole.len()] as i32).collect::<Vec<_>>(),
        ),
        ElementType::I64 => {
            Tensor::from_i64s(dims, &(0..count).map(|_| whole[next() % whole.len()]).collect::<Vec<_>>())
        }
        ElementType::Bool => {
            Tensor::from_bools(dims, &(0..count).map(|_| next() % 2 == 0).collect::<Vec<_>>())
        }
        _ => {
            let bytes: Vec<u8> = (0..elem.raw_len(count).unwrap()).map(|_| (next() % 7) as u8).collect();
            Tensor::raw(elem, dims, bytes.into()).unwrap()
        }
    }
}

fn dims(most: usize) -> impl Strategy<Value = Vec<usize>> {
    proptest::collection::vec(select(vec![0usize, 1, 1, 2, 3, 4, 5]), 0..=most)
}

fn element() -> impl Strategy<Value = ElementType> {
    select(TYPES.to_vec())
}

/// Extents that broadcast to these, most of the time.
fn weaker(dims: &[usize], mask: u32, cut: usize, spoil: bool) -> Vec<usize> {
    let mut out: Vec<usize> =
        dims.iter().enumerate().map(|(k, n)| if mask >> k & 1 == 1 { 1 } else { *n }).collect();
    out.drain(..cut.min(dims.len()));
    if let (true, Some(last)) = (spoil, out.last_mut()) {
        *last += 1;
    }
    out
}

fn arithmetic() -> impl Strategy<Value = Call> {
    let op = select(vec!["Add", "Sub", "Mul", "Div", "Max", "Min"]);
    (op, element(), dims(4), any::<[u32; 2]>(), 0..3usize, 0..12u32, any::<u64>(), any::<bool>()).prop_map(
        |(op, elem, dims, masks, cut, spoil, seed, turned)| {
            let a = filled(elem, weaker(&dims, masks[0], 0, false), seed);
            let b = filled(elem, weaker(&dims, masks[1], cut, spoil == 0), seed ^ 99);
            call(op, if turned { [b, a] } else { [a, b] }, &[])
        },
    )
}

fn unary() -> impl Strategy<Value = Call> {
    let op = select(vec!["Neg", "Abs", "Sqrt", "Reciprocal", "Identity"]);
    (op, element(), dims(3), any::<u64>())
        .prop_map(|(op, elem, dims, seed)| call(op, [filled(elem, dims, seed)], &[]))
}

fn clip() -> impl Strategy<Value = Call> {
    (element(), dims(3), any::<u64>(), 0..4usize, dims(2)).prop_map(|(elem, dims, seed, bounds, rank)| {
        let bound = |k: u64| Some(filled(elem, vec![1; rank.len()], seed ^ k));
        let mut made = call("Clip", [filled(elem, dims, seed)], &[]);
        made.inputs.push(bound(1).filter(|_| bounds & 1 == 1));
        made.inputs.push(bound(2).filter(|_| bounds & 2 == 2));
        made
    })
}

fn cast() -> impl Strategy<Value = Call> {
    let all = [&TYPES[..], &[ElementType::Bool]].concat();
    (select(all.clone()), select(all), dims(3), any::<u64>()).prop_map(|(from, to, dims, seed)| {
        call("Cast", [filled(from, dims, seed)], &[("to", i64::from(to.code()).into())])
    })
}

/// Elements of all widths move.
fn moved() -> impl Strategy<Value = Tensor> {
    let all =
        [&TYPES[..], &[ElementType::Bool, ElementType::U8, ElementType::I16, ElementType::F16]].concat();
    (select(all), dims(4), any::<u64>()).prop_map(|(elem, dims, seed)| filled(elem, dims, seed))
}

fn shapes() -> impl Strategy<Value = Call> {
    let axes = proptest::collection::vec(-5..5i64, 0..3);
    let wanted = proptest::collection::vec(select(vec![-1, 0, 1, 2, 3, 4, 6]), 0..4);
    (moved(), axes, wanted, 0..6u32, -5..5i64, any::<bool>()).prop_map(
        |(x, axes, wanted, which, axis, flag)| match which {
            0 => call("Reshape", [x, ints(&wanted)], &[("allowzero", i64::from(flag).into())]),
            1 => call("Flatten", [x], &[("axis", axis.into())]),
            2 if flag => call("Squeeze", [x], &[]),
            2 => call("Squeeze", [x, ints(&axes)], &[]),
            3 => call("Unsqueeze", [x, ints(&axes)], &[]),
            4 => {
                let target: Vec<i64> = x.dims.iter().map(|n| *n as i64).collect();
                call("Reshape", [x, ints(&[&target[..], &[1]].concat())], &[("allowzero", 1i64.into())])
            }
            _ => {
                let wanted: Vec<i64> = wanted.iter().map(|n| n.max(&0)).copied().collect();
                call("Expand", [x, ints(&wanted)], &[])
            }
        },
    )
}

fn transpose() -> impl Strategy<Value = Call> {
    (moved(), any::<u64>(), any::<bool>(), 0..20u32).prop_map(|(x, order, given, spoil)| {
        let mut perm: Vec<i64> = (0..x.dims.len() as i64).collect();
        for k in (1..perm.len()).rev() {
            perm.swap(k, (order >> (8 * k)) as usize % (k + 1));
        }
        if let (0, Some(first)) = (spoil, perm.first_mut()) {
            *first += 1;
        }
        if given { call("Transpose", [x], &[("perm", perm.into())]) } else { call("Transpose", [x], &[]) }
    })
}

fn concat() -> impl Strategy<Value = Call> {
    (moved(), proptest::collection::vec(0..4usize, 0..4), -5..5i64, 0..12u32, any::<u64>()).prop_map(
        |(x, extents, axis, spoil, seed)| {
            let rank = x.dims.len() as i64;
            let k = if axis < 0 { axis + rank } else { axis };
            let mut all = vec![x.clone()];
            for n in extents {
                let mut dims = x.dims.clone();
                if let Some(extent) = usize::try_from(k).ok().and_then(|k| dims.get_mut(k)) {
                    *extent = n;
                }
                if let (0, Some(first)) = (spoil, dims.first_mut()) {
                    *first += 1;
                }
                all.push(filled(x.elem, dims, seed ^ n as u64));
            }
            call("Concat", all, &[("axis", axis.into())])
        },
    )
}

fn slice() -> impl Strategy<Value = Call> {
    let place = || select(vec![i64::MIN, -6, -2, -1, 0, 1, 2, 3, 7, i64::MAX]);
    let one = (place(), place(), -4..4i64, select(vec![-3i64, -1, 0, 1, 1, 2, i64::MIN, i64::MAX]));
    (moved(), proptest::collection::vec(one, 0..3), 0..3usize).prop_map(|(x, list, given)| {
        let column = |f: fn(&(i64, i64, i64, i64)) -> i64| ints(&list.iter().map(f).collect::<Vec<_>>());
        let mut made = call("Slice", [x, column(|p| p.0), column(|p| p.1)], &[]);
        made.inputs.extend([Some(column(|p| p.2)), Some(column(|p| p.3))].into_iter().take(given));
        made
    })
}

fn split() -> impl Strategy<Value = Call> {
    (moved(), -4..4i64, proptest::collection::vec(0..4i64, 1..4), any::<bool>(), 1..4usize).prop_map(
        |(x, axis, mut parts, given, outputs)| {
            let rank = x.dims.len() as i64;
            let k = usize::try_from(if axis < 0 { axis + rank } else { axis }).unwrap_or(usize::MAX);
            // The last part takes the rest, if there is one.
            let rest = x.dims.get(k).map_or(0, |n| *n as i64) - parts.iter().sum::<i64>();
            parts.push(rest);
            let axis = ("axis", axis.into());
            let mut made = if given {
                Call { outputs: parts.len(), ..call("Split", [x, ints(&parts)], &[axis]) }
            } else {
                Call { outputs, ..call("Split", [x], &[axis]) }
            };
            if !given {
                made.attributes.push(Attribute::new("num_outputs", outputs as i64));
            }
            made
        },
    )
}

fn gather() -> impl Strategy<Value = Call> {
    (moved(), -4..4i64, dims(2), any::<u64>(), 0..12i64).prop_map(|(x, axis, shape, seed, spoil)| {
        let rank = x.dims.len() as i64;
        let k = usize::try_from(if axis < 0 { axis + rank } else { axis }).unwrap_or(usize::MAX);
        let n = x.dims.get(k).map_or(1, |n| *n as i64);
        let count: usize = shape.iter().product();
        let mut places: Vec<i64> =
            (0..count as u32).map(|j| (seed.rotate_left(j) % (2 * n.max(1) as u64)) as i64 - n).collect();
        if let (0, Some(first)) = (spoil, places.first_mut()) {
            *first = n;
        }
        call("Gather", [x, Tensor::from_i64s(shape, &places)], &[("axis", axis.into())])
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn arithmetic_is_that_of_the_programs(call in arithmetic()) {
        same(&call)?;
    }

    #[test]
    fn functions_of_one_number_are(call in prop_oneof![unary(), clip(), cast()]) {
        same(&call)?;
    }

    #[test]
    fn other_extents_are(call in shapes()) {
        same(&call)?;
    }

    #[test]
    fn moves_are(call in prop_oneof![transpose(), concat(), slice(), split(), gather()]) {
        same(&call)?;
    }
}

#[test]
fn nothing_larger_than_allowed_is_made() {
    let one = Tensor::scalar_f32(1.0);
    let much = ints(&[1 << 40, 1 << 10]);
    assert_eq!(
        folding_kernels::evaluate(&Operator::from("Expand"), &[], &[Some(&one), Some(&much)], 1, 1 << 20),
        None
    );
    let (row, column) = (Tensor::from_f32s([1, 64], &[1.0; 64]), Tensor::from_f32s([64, 1], &[2.0; 64]));
    let sum =
        |most| folding_kernels::evaluate(&Operator::from("Add"), &[], &[Some(&row), Some(&column)], 1, most);
    assert_eq!(sum(64 * 64 * 4 - 1), None);
    assert!(sum(64 * 64 * 4).is_some());
}
