//! Tests and proves whether a rule is sound.
//!
//! Models are drawn on which the rule's source matches and its conditions hold, including edge
//! cases of the conditions. They have floating-point numbers and integers. They are rewritten by
//! the rule, and evaluated before and after by the operator library. If both sides have one normal
//! form for all sizes and values, that is a [`Proof`].
//!
//! The same number of further models have NaN, infinities, zeros of both signs and numbers near the
//! ends of their type, unless the rule says that it is for finite values. A quarter of these have
//! extents of 0.
//!
//! A verdict is one of these:
//!
//! - *checked*: there is a [`Proof`], and the instances agreed as well;
//! - *bounded*: that many different instances agreed, bit for bit or within rounding;
//! - a *counterexample*: the smallest model found on which the rule changes what is computed. It
//!   can be run.
//!
//! None of these is a theorem. A proof is the result of a normaliser, up to a rank.

mod draw;
mod elements;
mod integers;
mod literals;
mod proof;
mod shapes;
mod values;

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use graph::evaluate::{Datum, evaluate};
use graph::{ElementType, Model, Tensor};
use loops::{Diagnostic, Name};

use crate::optimize::{Options, RuleSet, optimize};
use crate::resolve::compile_rule;
use crate::rule::Rule;
pub use proof::{Proof, prove};
use values::Dice;

/// How much is tried.
#[derive(Clone, Copy, Debug)]
pub struct Effort {
    /// Different instances that have to agree, of floating-point numbers and of integers.
    pub instances: usize,
    /// Models drawn at most; most of them do not match.
    pub draws: usize,
    /// Seed of everything that is drawn.
    pub seed: u64,
    /// Whether to look for a proof.
    pub prove: bool,
}

impl Default for Effort {
    fn default() -> Effort {
        Effort { instances: 256, draws: 40_000, seed: 1, prove: true }
    }
}

/// What was found about a rule.
#[derive(Clone, Debug)]
pub enum Verdict {
    /// Both sides have one normal form, up to a rank.
    Checked {
        /// Over what, and up to which ranks.
        proof: Proof,
        /// How many different instances of floating-point numbers agreed besides.
        instances: usize,
        /// How many different instances of integers did.
        integers: usize,
        /// Every bit was the same in all of them.
        exact: bool,
    },
    /// All instances agreed.
    Bounded {
        /// How many different ones of floating-point numbers.
        instances: usize,
        /// How many different ones of integers.
        integers: usize,
        /// Every bit was the same in all of them; else the results are equal within rounding.
        exact: bool,
        /// Why there is no proof.
        why: String,
    },
    /// A model whose results the rule changes.
    Counterexample(Box<Counterexample>),
    /// No model was drawn that the rule matches and that can be evaluated.
    Untested {
        /// How many were drawn.
        draws: usize,
    },
}

/// A model whose results a rule changes.
#[derive(Clone, Debug)]
pub struct Counterexample {
    /// The model.
    pub before: Model,
    /// What the rule makes of it.
    pub after: Model,
    /// Its inputs.
    pub inputs: Vec<(Name, Arc<Tensor>)>,
    /// What differs, in words.
    pub difference: String,
}

/// Checks a rule on instances of floating-point numbers, and on as many of integers where its
/// operators take them. Deterministic in the seed.
///
/// # Errors
/// What is wrong with the rule itself.
pub fn check(rule: &Rule, effort: Effort) -> Result<Verdict, Vec<Diagnostic>> {
    let set = RuleSet::new(vec![compile_rule(rule)?]);
    let floats = elements::floats(rule);
    let tried = |types: &[ElementType], patience: usize, what: &str, ends: bool| {
        tried(rule, &set, types, patience, effort, &mut dice(rule, effort.seed, what), ends)
    };
    let mut found = tried(&floats, effort.draws, "", false);
    if let Some(found) = found.worst {
        return Ok(Verdict::Counterexample(found));
    }
    // Most models that can be drawn with usual numbers can be with others.
    let patience = if found.seen.is_empty() { effort.draws / 8 } else { effort.draws };
    let ends = tried(&floats, patience, " at the ends", true);
    if let Some(found) = ends.worst {
        return Ok(Verdict::Counterexample(found));
    }
    found.exact &= ends.exact;
    found.seen.extend(ends.seen.into_iter().map(|key| key + " at the ends"));
    let types = integers::of_rule(rule);
    let whole = match types.is_empty() {
        true => Tried::default(),
        // Most rules whose conditions leave integers out are known by a few draws.
        false => tried(&types, effort.draws / 8, " of integers", false),
    };
    if let Some(found) = whole.worst {
        return Ok(Verdict::Counterexample(found));
    }
    let proof = || if effort.prove { prove(rule) } else { Err("no proof was looked for".to_owned()) };
    let (instances, integers, exact) = (found.seen.len(), whole.seen.len(), found.exact && whole.exact);
    Ok(match proof() {
        Ok(proof) => Verdict::Checked { proof, instances, integers, exact },
        Err(_) if instances + integers == 0 => Verdict::Untested { draws: effort.draws },
        Err(why) => Verdict::Bounded { instances, integers, exact, why },
    })
}

/// Dice for a rule: what it compares extents with comes, too.
fn dice(rule: &Rule, seed: u64, what: &str) -> Dice {
    let mut dice = Dice::new(seed, &format!("{}{what}", rule.name));
    dice.extents = literals::extents(rule);
    dice.specials = elements::asks_for_specials(rule);
    dice.long = elements::rounds(rule);
    dice
}

/// What instances showed.
struct Tried {
    /// Those that agreed.
    seen: HashSet<String>,
    /// Bit for bit.
    exact: bool,
    /// The smallest that did not.
    worst: Option<Box<Counterexample>>,
}

impl Default for Tried {
    fn default() -> Tried {
        Tried { seen: HashSet::new(), exact: true, worst: None }
    }
}

/// Instances with elements of these types. `patience` is the number of models that may be drawn in
/// vain before the first instance. `ends` asks for edge cases: of numbers, if the rule is for all
/// values, and of extents.
fn tried(
    rule: &Rule,
    set: &RuleSet,
    types: &[ElementType],
    patience: usize,
    effort: Effort,
    dice: &mut Dice,
    ends: bool,
) -> Tried {
    let mut tried = Tried::default();
    let mut left_to_shrink = 400usize;
    for draw in 0..effort.draws {
        let none = tried.seen.is_empty() && tried.worst.is_none();
        if tried.seen.len() >= effort.instances || left_to_shrink == 0 || none && draw >= patience {
            break;
        }
        if tried.worst.is_some() {
            left_to_shrink -= 1;
        }
        if ends {
            dice.extreme = !rule.finite;
            dice.empty = dice.once_in(4);
        }
        let Some((before, after)) = instance(rule, set, types, dice) else { continue };
        let Some(outcome) = compare(before, after, dice) else { continue };
        match outcome {
            Outcome::Agrees { bits, key } => {
                tried.exact &= bits;
                tried.seen.insert(key);
            }
            Outcome::Differs(found) => {
                if tried.worst.as_ref().is_none_or(|w| weight(&found.before) < weight(&w.before)) {
                    tried.worst = Some(found);
                }
            }
        }
    }
    tried
}

/// Drawn models to which a rule applies, before and after; at most `draws` are drawn, most of which
/// do not match. Deterministic in the seed.
///
/// # Errors
/// What is wrong with the rule itself.
pub fn examples(
    rule: &Rule,
    draws: usize,
    seed: u64,
) -> Result<impl Iterator<Item = (Model, Model)>, Vec<Diagnostic>> {
    let set = RuleSet::new(vec![compile_rule(rule)?]);
    let mut dice = dice(rule, seed, "");
    let types = elements::floats(rule);
    Ok((0..draws).filter_map(move |_| instance(rule, &set, &types, &mut dice)))
}

/// A model to which the rule applies, before and after.
fn instance(rule: &Rule, set: &RuleSet, types: &[ElementType], dice: &mut Dice) -> Option<(Model, Model)> {
    let mut before = draw::model(rule, types, dice)?;
    graph::infer(&mut before).ok()?;
    let mut after = before.clone();
    let options = Options { ignore_cost: true, limit: Some(1), ..Options::default() };
    let report = optimize(&mut after, set, &options, |_, _| ()).ok()?;
    (report.applied > 0).then_some((before, after))
}

enum Outcome {
    Agrees { bits: bool, key: String },
    Differs(Box<Counterexample>),
}

/// The number of integer inputs that are drawn for one model. The model has no value if it divides
/// by 0.
const ATTEMPTS: usize = 4;

type Inputs = Vec<(Name, Arc<Tensor>)>;

fn given(inputs: &Inputs) -> HashMap<Name, Datum> {
    inputs.iter().map(|(name, tensor)| (name.clone(), Datum::Tensor(tensor.clone()))).collect()
}

/// Inputs on which a model has a value, and that value.
fn valued(model: &Model, dice: &mut Dice) -> Option<(Inputs, Vec<Datum>)> {
    for _ in 0..ATTEMPTS {
        let mut whole = false;
        let drawn = model.graph.inputs().iter().map(|id| {
            let value = model.graph.value(*id);
            let ty = value.tensor_type()?;
            whole |= ty.elem.is_int();
            let tensor = values::random(ty.elem, ty.known_shape()?, false, dice)?;
            Some((value.name().clone(), Arc::new(tensor)))
        });
        let inputs: Inputs = drawn.collect::<Option<_>>()?;
        match evaluate(model, given(&inputs)) {
            Ok(outputs) => return Some((inputs, outputs)),
            Err(_) if whole => {}
            Err(_) => return None,
        }
    }
    None
}

/// Evaluates both. `None` if the model itself cannot be evaluated.
fn compare(before: Model, after: Model, dice: &mut Dice) -> Option<Outcome> {
    let (inputs, old) = valued(&before, dice)?;
    let differs = |difference: String| {
        let (before, after, inputs) = (before.clone(), after.clone(), inputs.clone());
        Outcome::Differs(Box::new(Counterexample { before, after, inputs, difference }))
    };
    let new = match evaluate(&after, given(&inputs)) {
        Ok(new) => new,
        // What the library does not know says nothing about the rule.
        Err(e) if e.code == graph::operators::UNKNOWN_OPERATOR => return None,
        Err(e) => return Some(differs(format!("what comes out cannot be evaluated: {}", e.message))),
    };
    if let Some(op) = undefined_order(&before, &after, &inputs) {
        return Some(differs(format!(
            "the standard does not say where `{op}` puts NaN, which the inputs have, and programs differ: another operator is in its place"
        )));
    }
    let mut bits = true;
    for (k, (a, b)) in old.iter().zip(&new).enumerate() {
        let (Some(a), Some(b)) = (a.tensor(), b.tensor()) else { return None };
        let name = before.graph.value(before.graph.outputs()[k]).name();
        if a.elem != b.elem || a.dims != b.dims {
            return Some(differs(format!("`{name}` was {} and is {}", a.ty(), b.ty())));
        }
        bits &= values::same_bits(a, b);
        if let Some((at, x, y)) = values::difference(a, b, dice.extreme) {
            return Some(differs(format!("`{name}{at:?}` was {x} and is {y}")));
        }
    }
    Some(Outcome::Agrees { bits, key: shape_of(&before) })
}

/// Operators that choose by the order of numbers. The standard does not order NaN. Runtimes take
/// the first, skip it, or depend on its position.
const ORDERED: [&str; 8] =
    ["ArgMax", "ArgMin", "GlobalMaxPool", "Hardmax", "MaxPool", "ReduceMax", "ReduceMin", "TopK"];

/// An operator of this kind that one of the models has and the other has not, where numbers are
/// NaN.
fn undefined_order(before: &Model, after: &Model, inputs: &Inputs) -> Option<&'static str> {
    let has_nan = |tensor: &Tensor| {
        tensor.elem.is_float() && tensor.to_numbers().is_some_and(|all| all.iter().any(|x| x.is_nan()))
    };
    let nan = inputs.iter().any(|(_, tensor)| has_nan(tensor))
        || before.graph.initializers().any(|(_, tensor)| has_nan(tensor));
    let has = |model: &Model, name: &str| model.graph.nodes().any(|(_, node)| node.op().is(name));
    ORDERED.into_iter().find(|name| nan && has(before, name) != has(after, name))
}

/// What makes an instance different from others: operators, attributes, types.
fn shape_of(model: &Model) -> String {
    let mut key = String::new();
    let graph = &model.graph;
    for (_, node) in graph.nodes() {
        key += &format!("{}{:?}", node.op(), node.attributes());
        for value in node.inputs().iter().flatten() {
            let value = graph.value(*value);
            let small = value.initializer().filter(|t| t.elem.is_int() || t.count() == 1);
            key += &format!("({:?}{:?})", value.tensor_type(), small.map(Tensor::to_numbers));
        }
    }
    key
}

/// How much a person has to read.
fn weight(model: &Model) -> usize {
    let graph = &model.graph;
    let elements =
        |t: &graph::TensorType| t.known_shape().map_or(1000, |s| s.iter().product::<usize>() + s.len());
    graph.values().filter_map(|(_, v)| v.tensor_type()).map(elements).sum::<usize>() + 8 * graph.node_count()
}
