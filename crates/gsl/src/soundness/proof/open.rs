//! What a pattern leaves open: inputs of every rank with symbols for extents, attributes of every
//! kind.
//!
//! Everything that an operator may have must be examined, so the names of attributes are read from
//! `schema`. Which ranks, extents and values are possible is written here from the standard, as the
//! meaning of operators is in `operators`: it stays apart from the records of crate `graph`,
//! because a proof must not rely on the programs that it is about.

use std::collections::{BTreeSet, HashMap};
use std::rc::Rc;

use graph::schema;

use crate::matching::PROVED_FROM;
use crate::rule::{BinaryOp, Clause, Expr, ExprKind, Rule};

use super::case::{Case, Step, unproved};
use super::element::Real;
use super::int::Int;
use super::operators::Attributes;
use super::symbolic_value::Value;
use super::tensor::Tensor;

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

/// An input of a call about which only the conditions are known.
pub(super) struct Open<'a> {
    pub op: &'a str,
    pub slot: usize,
    /// The inputs before it.
    pub others: &'a [Option<Tensor>],
    /// How many results are asked for.
    pub results: usize,
    /// The identity of the tensor.
    pub id: usize,
    /// What its symbols are called.
    pub name: &'a str,
    pub known: Known,
}

impl Open<'_> {
    /// A tensor for the input.
    pub fn tensor(&self, case: &mut Case) -> Step<Tensor> {
        match (self.op, self.slot) {
            ("Pad", 2) | ("Dropout", 1 | 2) => Ok(self.number(case)),
            ("Expand", 1) => unproved("a shape that is an input"),
            (op, 1) if op.starts_with("Reduce") => unproved("axes that are an input"),
            _ => match self.list(case)? {
                Some(items) => {
                    let ty = case.types.known(crate::rule::ElementType::Int64);
                    Ok(Tensor::list(self.id, items, ty))
                }
                None => self.data(case),
            },
        }
    }

    fn first(&self) -> Option<&Tensor> {
        self.others.first()?.as_ref()
    }

    fn first_rank(&self, what: &str) -> Step<usize> {
        match self.first() {
            Some(x) => Ok(x.rank()),
            None => unproved(format!("{what} of nothing")),
        }
    }

    /// The items of an input that is a list of integers.
    fn list(&self, case: &mut Case) -> Step<Option<Vec<Int>>> {
        let symbols = |case: &mut Case, n: usize| -> Vec<Int> {
            (0..n).map(|_| Int::symbol(&case.fresh(self.name))).collect()
        };
        // As many as there are begins.
        let begins = || match self.others.get(1) {
            Some(Some(Tensor { value: Some(items), .. })) => items.len(),
            _ => 1,
        };
        Ok(Some(match (self.op, self.slot) {
            ("Reshape", 1) => {
                let n = case.choose(case.bounds.rank + 1);
                symbols(case, n)
            }
            ("Unsqueeze", 1) => {
                let rank = self.first_rank("axes")?;
                let n = 1 + case.choose(case.bounds.rank.saturating_sub(rank).max(1));
                axes(case, n, rank + n)
            }
            ("Squeeze", 1) => {
                let rank = self.first_rank("axes")?;
                let n = 1 + case.choose(rank);
                axes(case, n, rank)
            }
            ("Split", 1) => (0..self.results).map(|_| case.extent("part")).collect(),
            ("Pad", 1) => {
                let rank = self.first_rank("paddings")?;
                symbols(case, 2 * rank)
            }
            ("Slice", 1) => {
                let n = 1 + case.choose(self.first_rank("a slice")?);
                symbols(case, n)
            }
            ("Slice", 2 | 4) => symbols(case, begins()),
            ("Slice", 3) => axes(case, begins(), self.first().map_or(1, Tensor::rank)),
            _ => return Ok(None),
        }))
    }

    /// One number that the conditions may speak of.
    fn number(&self, case: &mut Case) -> Tensor {
        let name: Rc<str> = case.fresh(self.name).into();
        let ty = match (self.op, self.first()) {
            ("Pad", Some(x)) => x.ty,
            _ => case.types.open(),
        };
        Tensor::new(Vec::new(), ty, Rc::new(move |_, _| Ok(Rc::new(Real::Constant(name.clone())))))
    }

    /// A tensor of any shape that the operator may have there.
    fn data(&self, case: &mut Case) -> Step<Tensor> {
        let (mut low, mut high) = ranks(self.op, self.slot, self.first(), case.bounds.rank);
        if let Some(rank) = self.known.rank {
            (low, high) = (low.max(rank), high.min(rank));
        }
        if low > high {
            return Err(super::case::Stop::Impossible);
        }
        let rank = low + case.choose(high - low + 1);
        let single = self.known.single;
        let shape = (0..rank).map(|_| if single { Int::from(1) } else { case.extent(self.name) });
        let shape = shape.collect();
        let ty = match self.first() {
            // Operands of most operators have one type.
            Some(x) if self.op != "Pow" => x.ty,
            _ => case.types.open(),
        };
        Ok(Tensor::input(self.id, shape, ty))
    }
}

/// `n` axes of `rank`, each way to write them a case.
fn axes(case: &mut Case, n: usize, rank: usize) -> Vec<Int> {
    (0..n).map(|_| Int::from(case.choose(2 * rank) as i64 - rank as i64)).collect()
}

/// The least and the greatest rank of an input.
fn ranks(op: &str, slot: usize, first: Option<&Tensor>, most: usize) -> (usize, usize) {
    let same = first.map_or((0, most), |t| (t.rank(), t.rank()));
    match (op, slot) {
        ("Conv" | "ConvTranspose", 0) | ("AveragePool", 0) => (3, most),
        ("Conv" | "ConvTranspose", 1) => same,
        ("Conv" | "ConvTranspose", 2) | ("BatchNormalization", 1..) => (1, 1),
        ("Gemm", 0 | 1) => (2, 2),
        ("Gemm", _) => (0, 2),
        ("MatMul", _) => (1, most),
        ("Concat", 1..) => same,
        ("Clip", 1..) => (0, 0),
        ("Split" | "Softmax" | "Concat", 0) => (1, most),
        ("LayerNormalization", 1..) => (0, same.1),
        _ => (0, most),
    }
}

/// Operators of which everything is examined that a pattern may leave open.
const EXAMINED: &str = "\
    Abs Add AveragePool BatchNormalization Cast Clip Concat Conv ConvTranspose Div Dropout Erf
    Exp Expand Gemm Identity LayerNormalization Log MatMul Max Min Mul Neg Not Pad Pow ReduceMax
    ReduceMean ReduceSum Relu Reshape Sigmoid Slice Softmax Split Sqrt Squeeze Sub Tanh
    Transpose Unsqueeze";

/// Attributes that say nothing of what a proof speaks of.
const WITHOUT_EFFECT: &[&str] = &[
    // Of the statistics of training, which no proof knows.
    "momentum",
    // Of random numbers.
    "seed",
    // Digits of numbers in between: proofs are about real numbers.
    "stash_type",
    // Proofs know no reduction without axes.
    "noop_with_empty_axes",
    // The parts of a split without sizes are open in any case.
    "num_outputs",
];

/// Attributes that an operator has in some version for which rules are proved, by name.
fn names(op: &str) -> BTreeSet<&'static str> {
    let versions = schema::versions("", op);
    let first = versions.iter().rposition(|s| s.since <= PROVED_FROM).unwrap_or(0);
    let all = versions[first..].iter().flat_map(|s| &s.attributes).map(|a| a.name);
    all.filter(|name| !WITHOUT_EFFECT.contains(name)).collect()
}

/// Whether an operator has an attribute.
pub(super) fn has(op: &str, name: &str) -> bool {
    names(op).contains(name)
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
    if !EXAMINED.split_whitespace().any(|one| one == op) {
        return unproved(format!("`{op}` is not among the operators that proofs know"));
    }
    for name in names(op).into_iter().filter(|n| !said.contains_key(*n)) {
        if let Some(value) = attribute(case, op, name, inputs)? {
            all.insert(name.to_owned(), value);
        }
    }
    Ok(all)
}

/// Every value that an attribute may have; `None` if it is not given.
fn attribute(case: &mut Case, op: &str, name: &str, inputs: &[Option<Tensor>]) -> Step<Option<Value>> {
    let rank = inputs.first().cloned().flatten().map_or(0, |t| t.rank());
    let spatial = rank.saturating_sub(2);
    let positive = |case: &mut Case| {
        let e = Int::symbol(&case.fresh(name));
        case.fact(e.offset(-1));
        case.fact(e.clone());
        e
    };
    Ok(Some(match name {
        "axis" => Value::int(case.choose(2 * rank.max(1)) as i64 - rank as i64),
        "perm" => Value::ints(permutation(case, rank)),
        "auto_pad" => Value::Text(["NOTSET", "SAME_UPPER", "SAME_LOWER", "VALID"][case.choose(4)].to_owned()),
        "kernel_shape" if op != "AveragePool" => {
            Value::ints(inputs.get(1).cloned().flatten().iter().flat_map(|w| w.shape.iter().skip(2).cloned()))
        }
        "strides" | "dilations" | "kernel_shape" => Value::ints((0..spatial).map(|_| positive(case))),
        "pads" => Value::ints((0..2 * spatial).map(|_| case.extent(name))),
        "output_padding" | "output_shape" => Value::ints((0..spatial).map(|_| case.extent(name))),
        "group" => Value::Int(positive(case)),
        "epsilon" | "alpha" | "beta" => Value::Real(Rc::new(Real::Constant(case.fresh(name).into()))),
        "training_mode" | "transA" | "transB" | "keepdims" | "allowzero" | "ceil_mode"
        | "count_include_pad" | "saturate" => Value::int(case.choose(2) as i64),
        "to" => Value::Type(case.types.open()),
        "round_mode" => Value::Text(case.fresh("round")),
        "mode" => Value::Text(["constant", "other"][case.choose(2)].to_owned()),
        // Axes that are not inputs: the pattern says which.
        "axes" => return Ok(None),
        _ => return unproved(format!("the attribute `{name}` of `{op}`")),
    }))
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
