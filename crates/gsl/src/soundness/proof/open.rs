//! What a pattern leaves open: inputs of every rank with symbols for extents, attributes of every
//! kind.
//!
//! Everything that an operator may have must be here. What is left out would be a case that is not
//! examined.

use std::collections::HashMap;
use std::rc::Rc;

use crate::rule::{BinaryOp, Clause, Expr, ExprKind, Rule};

use super::case::{Case, Step, unproved};
use super::element::Real;
use super::int::Int;
use super::operators::Attributes;
use super::tensor::Tensor;
use super::value::Value;

/// What conditions say about an input in any case. This avoids cases that would turn out to be
/// impossible.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Known {
    rank: Option<usize>,
    /// It has one element.
    single: bool,
}

/// What the conditions of a rule say of its inputs.
pub(super) fn known(rule: &Rule) -> HashMap<String, Known> {
    fn go(e: &Expr, all: &mut HashMap<String, Known>) {
        match &e.kind {
            ExprKind::Binary(BinaryOp::And, a, b) => {
                go(a, all);
                go(b, all);
            }
            ExprKind::Binary(BinaryOp::Eq, a, b) => {
                let ExprKind::Field(of, field) = &a.kind else { return };
                let name = match &of.kind {
                    ExprKind::Name(name) => name,
                    // Of all instances, if of any: `w[i]`.
                    ExprKind::Item(of, index) if matches!(index.kind, ExprKind::Name(_)) => match &of.kind {
                        ExprKind::Name(name) => name,
                        _ => return,
                    },
                    _ => return,
                };
                let entry = all.entry(name.clone()).or_default();
                match (field.text.as_str(), &b.kind) {
                    ("rank", ExprKind::Int(n)) => entry.rank = usize::try_from(*n).ok(),
                    ("shape", ExprKind::Tuple(items)) => entry.rank = Some(items.len()),
                    ("size", ExprKind::Int(1)) => entry.single = true,
                    _ => {}
                }
            }
            _ => {}
        }
    }
    let mut all = HashMap::new();
    for line in &rule.conditions {
        if let Clause::Require(e) = &line.value {
            go(e, &mut all);
        }
    }
    all
}

/// A tensor for an input of a call about which only the conditions are known.
#[allow(clippy::too_many_arguments)]
pub(super) fn input(
    case: &mut Case,
    op: &str,
    slot: usize,
    others: &[Option<Tensor>],
    results: usize,
    id: usize,
    name: &str,
    known: Known,
) -> Step<Tensor> {
    let first = others.first().cloned().flatten();
    let most = case.bounds.rank;
    let list = |case: &mut Case, items: Vec<Int>| {
        let ty = case.types.known(crate::rule::ElementType::Int64);
        Tensor::list(id, items, ty)
    };
    let symbols =
        |case: &mut Case, n: usize| -> Vec<Int> { (0..n).map(|_| Int::symbol(&case.fresh(name))).collect() };
    Ok(match (op, slot) {
        ("Reshape", 1) => {
            let n = case.choose(most + 1);
            let items = symbols(case, n);
            list(case, items)
        }
        ("Unsqueeze", 1) => {
            let Some(x) = first else { return unproved("axes of nothing") };
            let n = 1 + case.choose(most.saturating_sub(x.rank()).max(1));
            let items = axes(case, n, x.rank() + n);
            list(case, items)
        }
        ("Squeeze", 1) => {
            let Some(x) = first else { return unproved("axes of nothing") };
            let n = 1 + case.choose(x.rank());
            let items = axes(case, n, x.rank());
            list(case, items)
        }
        ("Split", 1) => {
            let items = (0..results).map(|_| case.extent("part")).collect();
            list(case, items)
        }
        ("Pad", 1) => {
            let Some(x) = first else { return unproved("paddings of nothing") };
            let items = symbols(case, 2 * x.rank());
            list(case, items)
        }
        ("Slice", 1) => {
            let Some(x) = first else { return unproved("a slice of nothing") };
            let n = 1 + case.choose(x.rank());
            let items = symbols(case, n);
            list(case, items)
        }
        ("Slice", 2 | 4) => {
            let n = others.get(1).cloned().flatten().map_or(1, |t| t.value.map_or(1, |v| v.len()));
            let items = symbols(case, n);
            list(case, items)
        }
        ("Slice", 3) => {
            let n = others.get(1).cloned().flatten().map_or(1, |t| t.value.map_or(1, |v| v.len()));
            let rank = first.map_or(1, |t| t.rank());
            let items = axes(case, n, rank);
            list(case, items)
        }
        ("Pad", 2) | ("Dropout", 1 | 2) => {
            // One number that the conditions may speak of.
            let name: Rc<str> = case.fresh(name).into();
            let ty = match (op, first) {
                ("Pad", Some(x)) => x.ty,
                _ => case.types.open(),
            };
            Tensor::new(Vec::new(), ty, Rc::new(move |_, _| Ok(Rc::new(Real::Constant(name.clone())))))
        }
        ("Expand", 1) => return unproved("a shape that is an input"),
        (o, 1) if o.starts_with("Reduce") => return unproved("axes that are an input"),
        _ => {
            let (mut low, mut high) = ranks(op, slot, &first, most);
            if let Some(rank) = known.rank {
                (low, high) = (low.max(rank), high.min(rank));
            }
            if low > high {
                return Err(super::case::Stop::Impossible);
            }
            let rank = low + case.choose(high - low + 1);
            let shape =
                (0..rank).map(|_| if known.single { Int::from(1) } else { case.extent(name) }).collect();
            let ty = match first {
                // Operands of most operators have one type.
                Some(x) if !matches!(op, "Pow") => x.ty,
                _ => case.types.open(),
            };
            Tensor::input(id, shape, ty)
        }
    })
}

/// `n` axes of `rank`, each way to write them a case.
fn axes(case: &mut Case, n: usize, rank: usize) -> Vec<Int> {
    (0..n).map(|_| Int::from(case.choose(2 * rank) as i64 - rank as i64)).collect()
}

/// The least and the greatest rank of an input.
fn ranks(op: &str, slot: usize, first: &Option<Tensor>, most: usize) -> (usize, usize) {
    let same = |t: &Option<Tensor>| t.as_ref().map_or((0, most), |t| (t.rank(), t.rank()));
    match (op, slot) {
        ("Conv" | "ConvTranspose", 0) | ("AveragePool", 0) => (3, most),
        ("Conv" | "ConvTranspose", 1) => same(first),
        ("Conv" | "ConvTranspose", 2) | ("BatchNormalization", 1..) => (1, 1),
        ("Gemm", 0 | 1) => (2, 2),
        ("Gemm", _) => (0, 2),
        ("MatMul", _) => (1, most),
        ("Concat", 1..) => same(first),
        ("Clip", 1..) => (0, 0),
        ("Split" | "Softmax" | "Concat", 0) => (1, most),
        ("LayerNormalization", 1..) => (0, first.as_ref().map_or(most, |t| t.rank())),
        _ => (0, most),
    }
}

/// Attributes that an operator may have here, all of them.
fn names(op: &str) -> Option<&'static [&'static str]> {
    Some(match op {
        "Identity" | "Not" | "Relu" | "Abs" | "Neg" | "Sqrt" | "Exp" | "Erf" | "Tanh" | "Log" | "Sigmoid"
        | "Add" | "Sub" | "Mul" | "Div" | "Pow" | "Max" | "Min" | "Clip" | "MatMul" | "Expand" | "Slice"
        | "Squeeze" | "Unsqueeze" => &[],
        "Dropout" => &[],
        "Cast" => &["to", "saturate", "round_mode"],
        "Transpose" => &["perm"],
        "Reshape" => &["allowzero"],
        "Concat" | "Split" | "Softmax" => &["axis"],
        "Pad" => &["mode"],
        "Conv" => &["auto_pad", "dilations", "group", "kernel_shape", "pads", "strides"],
        "ConvTranspose" => &[
            "auto_pad",
            "dilations",
            "group",
            "kernel_shape",
            "output_padding",
            "output_shape",
            "pads",
            "strides",
        ],
        "AveragePool" => {
            &["auto_pad", "ceil_mode", "count_include_pad", "dilations", "kernel_shape", "pads", "strides"]
        }
        "BatchNormalization" => &["epsilon", "training_mode"],
        "LayerNormalization" => &["axis", "epsilon"],
        "Gemm" => &["alpha", "beta", "transA", "transB"],
        "ReduceSum" | "ReduceMean" | "ReduceMax" => &["axes", "keepdims"],
        _ => return None,
    })
}

/// Whether an operator has an attribute.
pub(super) fn has(op: &str, name: &str) -> bool {
    names(op).is_some_and(|all| all.contains(&name))
}

/// The attributes of a call of the source, as open as can be.
pub(super) fn attributes(
    case: &mut Case,
    op: &str,
    inputs: &[Option<Tensor>],
    said: &HashMap<String, Value>,
) -> Step<Attributes> {
    let mut all = Attributes::new();
    if op.starts_with('?') {
        let key = case.fresh("a");
        all.insert("*".to_owned(), Value::Text(key));
        return Ok(all);
    }
    let Some(names) = names(op) else {
        return unproved(format!("`{op}` is not among the operators that proofs know"));
    };
    let rank = inputs.first().cloned().flatten().map_or(0, |t| t.rank());
    let spatial = rank.saturating_sub(2);
    let positive = |case: &mut Case, name: &str, n: usize| {
        Value::ints((0..n).map(|_| {
            let e = Int::symbol(&case.fresh(name));
            case.fact(e.offset(-1));
            case.fact(e.clone());
            e
        }))
    };
    for name in names.iter().filter(|n| !said.contains_key(**n)) {
        let value = match (op, *name) {
            (_, "axis") => Value::int(case.choose(2 * rank.max(1)) as i64 - rank as i64),
            (_, "perm") => Value::ints(permutation(case, rank)),
            (_, "auto_pad") => {
                Value::Text(["NOTSET", "SAME_UPPER", "SAME_LOWER", "VALID"][case.choose(4)].to_owned())
            }
            (_, "strides" | "dilations") => positive(case, name, spatial),
            (_, "kernel_shape") => match op {
                "AveragePool" => positive(case, name, spatial),
                _ => Value::ints(
                    inputs.get(1).cloned().flatten().iter().flat_map(|w| w.shape.iter().skip(2).cloned()),
                ),
            },
            (_, "pads" | "output_padding" | "output_shape") => {
                let n = if *name == "pads" { 2 * spatial } else { spatial };
                Value::ints((0..n).map(|_| case.extent(name)))
            }
            (_, "group") => {
                let g = Int::symbol(&case.fresh("group"));
                case.fact(g.offset(-1));
                case.fact(g.clone());
                Value::Int(g)
            }
            (_, "epsilon" | "alpha" | "beta") => {
                let name = case.fresh(name);
                Value::Real(Rc::new(Real::Constant(name.into())))
            }
            (
                _,
                "training_mode" | "transA" | "transB" | "keepdims" | "allowzero" | "ceil_mode"
                | "count_include_pad",
            ) => Value::int(case.choose(2) as i64),
            (_, "to") => Value::Type(case.types.open()),
            (_, "saturate") => Value::int(case.choose(2) as i64),
            (_, "round_mode") => {
                let name = case.fresh("round");
                Value::Text(name)
            }
            (_, "mode") => Value::Text(["constant", "other"][case.choose(2)].to_owned()),
            // Axes that are not inputs: the pattern says which.
            (_, "axes") => continue,
            _ => return unproved(format!("the attribute `{name}` of `{op}`")),
        };
        all.insert((*name).to_owned(), value);
    }
    Ok(all)
}

/// A permutation, each a case.
fn permutation(case: &mut Case, rank: usize) -> Vec<Int> {
    let mut left: Vec<usize> = (0..rank).collect();
    let mut out = Vec::new();
    while !left.is_empty() {
        let k = case.choose(left.len());
        out.push(Int::from(left.remove(k) as i64));
    }
    out
}
