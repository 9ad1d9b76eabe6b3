//! Both sides of a rule on random programs.
//!
//! Sizes, 0 and 1 among them, types, functions and values are drawn. The left side is then a small
//! program. The rule is applied to it, and both programs are evaluated on the same values, with
//! infinities, NaN and zeros of both signs among them. Small programs come first, so a
//! counterexample is small. Limits count draws and steps of evaluation.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use loops::size::Factor;
use loops::{Data, Name, Scalar, Size, Span, Tensor};

use super::pattern::Seen;
use super::{DefinedRule, Prepared};
use crate::build;
use crate::elaborate::{Assignment, Given, instantiate};
use crate::eval::{self, Limits, Value, evaluate_within};
use crate::facts::SizeFacts;
use crate::infer::inferred_types::{Class, Ty};
use crate::print;
use crate::random::{Dice, Maker, Numbers};
use crate::rewrite::Context;
use crate::term::{Binder, Definition, Fact, FactKind, Term};
use crate::types::DataType;
use crate::walk;

/// How much is drawn.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Effort {
    /// So many programs have to agree.
    pub instances: usize,
    /// Most programs that are drawn.
    pub draws: usize,
    /// What is drawn.
    pub seed: u64,
}

impl Default for Effort {
    fn default() -> Effort {
        Effort { instances: 128, draws: 1024, seed: 1 }
    }
}

/// What is known of a rule.
#[derive(Clone, PartialEq, Debug)]
pub enum Verdict {
    /// Both sides have the same value.
    Agrees {
        /// On so many programs.
        instances: usize,
    },
    /// They differ.
    Differs(Box<Counterexample>),
    /// No program was found that the rule fits.
    Untested {
        /// Among so many.
        draws: usize,
    },
}

/// A program that a rule changes.
#[derive(Clone, PartialEq, Debug)]
pub struct Counterexample {
    /// How the results differ.
    pub difference: String,
    /// The program that the rule fits.
    pub before: Definition,
    /// What the rule makes of it.
    pub after: Definition,
    /// The arguments of both.
    pub inputs: Vec<(Name, Value)>,
    /// What the first computes.
    pub expected: Value,
    /// What the second computes, if it has a value.
    pub found: Option<Value>,
}

impl fmt::Display for Counterexample {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}becomes\n{}", print::definition(&self.before), print::definition(&self.after))?;
        for (k, (name, value)) in self.inputs.iter().enumerate() {
            write!(f, "{}{name} = {}", if k == 0 { "where " } else { ", " }, shown(value))?;
        }
        if !self.inputs.is_empty() {
            writeln!(f)?;
        }
        writeln!(f, "before: {}", shown(&self.expected))?;
        match &self.found {
            Some(value) => write!(f, "after: {}", shown(value)),
            None => f.write_str("after: no value"),
        }
    }
}

/// Evaluations end within this.
const LIMITS: Limits = Limits { elements: 1 << 16, steps: 1 << 16 };
/// A rule may make more work.
const MORE: Limits = Limits { elements: 1 << 18, steps: 1 << 19 };
/// Sizes up to this are tried.
const LARGEST: i64 = 6;
/// Constants up to this are sizes that are tried, too.
const LARGEST_CONSTANT: i64 = 256;
/// Most combinations of sizes; fewer where there are many sizes.
const MAX_COMBINATIONS: usize = 4096;
const FEW_SIZES: usize = 6;
/// Nodes of programs and steps of evaluation, all programs of a rule together.
const BUDGET: u64 = 1 << 21;

/// Tests a rule.
pub fn check(rule: &DefinedRule, effort: Effort) -> Verdict {
    let prepared = &*rule.prepared;
    let all = combinations(prepared);
    let (mut instances, mut draws, mut left) = (0, 0, BUDGET);
    while !all.is_empty() && instances < effort.instances && draws < effort.draws && left > 0 {
        let mut dice = Dice::new(effort.seed.wrapping_mul(0x2545_f491_4f6c_dd1d).wrapping_add(draws as u64));
        // Small sizes first, then all.
        let at = dice.below(all.len().min(4 + 2 * draws) as u64) as usize;
        let numbers = match (prepared.typed.reassociate, draws % 2) {
            (true, _) => Numbers::Exact,
            (false, 0) => Numbers::Usual,
            (false, _) => Numbers::Special,
        };
        let fuel = 2 + (draws / 24).min(10) as u32;
        let drawn = draw(rule, &all[at], numbers, fuel, dice, &mut left);
        draws += 1;
        match drawn {
            Drawn::Nothing => {}
            Drawn::Same => instances += 1,
            Drawn::Different(found) => {
                return Verdict::Differs(smaller(rule, &all[..=at], effort.seed).unwrap_or(found));
            }
        }
    }
    if instances == 0 { Verdict::Untested { draws } } else { Verdict::Agrees { instances } }
}

/// A counterexample with the first of these sizes that have one, with small whole numbers if these
/// show it.
fn smaller(rule: &DefinedRule, sizes: &[Sizes], seed: u64) -> Option<Box<Counterexample>> {
    let numbers = [Numbers::Exact, Numbers::Usual, Numbers::Special];
    let mut left = BUDGET;
    for (sizes, numbers) in sizes.iter().flat_map(|sizes| numbers.map(|numbers| (sizes, numbers))) {
        for k in 0..24 {
            let dice = Dice::new(seed.wrapping_add(k));
            if left == 0 {
                return None;
            }
            if let Drawn::Different(found) = draw(rule, sizes, numbers, 1 + k as u32 / 4, dice, &mut left) {
                return Some(found);
            }
        }
    }
    None
}

type Sizes = BTreeMap<Name, i64>;

/// Values of the sizes for which the left side has a type and the facts hold, small ones first.
fn combinations(prepared: &Prepared) -> Vec<Sizes> {
    let typed = &prepared.typed;
    let names = &typed.left.signature.sizes;
    let facts = &typed.left.signature.facts;
    let mut values: BTreeSet<i64> = (0..=LARGEST).collect();
    let mut constants = |size: &Size| constants_of(size, &mut values);
    for fact in facts {
        constants(&fact.left);
        constants(&fact.right);
    }
    prepared.pattern.visit(&mut |seen| match seen {
        Seen::Size(size) => constants(size),
        Seen::Type(ty) => ty.sizes(&mut constants),
    });
    let mut all: Vec<Sizes> = vec![Sizes::new()];
    for name in names {
        // Fewer values where there are many sizes.
        let limit = if names.len() <= FEW_SIZES { MAX_COMBINATIONS } else { MAX_COMBINATIONS / 16 };
        let most = (8 * limit / all.len().max(1)).max(2);
        let with = |sizes: &Sizes| -> Vec<Sizes> {
            let extended = |value: &i64| {
                let mut sizes = sizes.clone();
                sizes.insert(name.clone(), *value);
                sizes
            };
            values.iter().take(most).map(extended).filter(|sizes| allowed(facts, sizes)).collect()
        };
        all = all.iter().flat_map(with).collect();
        all.sort_by_key(|sizes| sizes.values().sum::<i64>());
        all.truncate(limit);
    }
    all
}

/// Whether the facts about these sizes alone hold.
fn allowed(facts: &[Fact], sizes: &Sizes) -> bool {
    let value_of = |name: &Name| sizes.get(name).copied();
    facts.iter().all(|fact| match (fact.left.eval(&value_of), fact.right.eval(&value_of)) {
        (Ok(left), Ok(right)) => match fact.kind {
            FactKind::AtMost => left <= right,
            FactKind::Equal => left == right,
        },
        _ => fact.left.params().iter().chain(&fact.right.params()).any(|name| !sizes.contains_key(name)),
    })
}

/// Numbers in a size, and those beside them.
fn constants_of(size: &Size, values: &mut BTreeSet<i64>) {
    for (coefficient, factors) in size.terms() {
        let c = coefficient.abs();
        if (LARGEST..=LARGEST_CONSTANT).contains(&c) {
            values.extend([c - 1, c, c + 1, 2 * c]);
        }
        for (factor, _) in factors {
            if let Factor::Quotient(a, b) | Factor::Remainder(a, b) = factor {
                constants_of(a, values);
                constants_of(b, values);
            }
        }
    }
}

enum Drawn {
    /// The program has no value, or the rule does not fit it.
    Nothing,
    Same,
    Different(Box<Counterexample>),
}

/// The program of some choices.
fn draw(rule: &DefinedRule, sizes: &Sizes, numbers: Numbers, fuel: u32, dice: Dice, left: &mut u64) -> Drawn {
    let prepared = &*rule.prepared;
    let typed = &prepared.typed;
    let mut lengths: Vec<Size> = (1..4).map(Size::constant).collect();
    lengths.extend(sizes.values().filter(|n| **n <= LARGEST).map(|n| Size::constant(*n)));
    let mut maker = Maker {
        dice,
        supply: build::Supply::new(),
        scope: Vec::new(),
        sizes: Vec::new(),
        lengths,
        numbers,
        fuel,
    };
    let assignment = Assignment {
        sizes: sizes.iter().map(|(name, value)| (name.clone(), Size::constant(*value))).collect(),
        types: (typed.left.signature.types.iter())
            .map(|(name, class)| (name.clone(), type_of(&mut maker, *class)))
            .collect(),
    };
    let Some(Variables { given, params, args }) = variables(prepared, &assignment, &mut maker, fuel) else {
        return Drawn::Nothing;
    };
    let constants: Vec<Size> = typed.params.iter().map(|name| assignment.sizes[name].clone()).collect();
    let side = Span::default();
    let mut supply = maker.supply;
    let Ok(before) = instantiate(&rule.defs, &typed.left, assignment, &given, &mut supply, side) else {
        return Drawn::Nothing;
    };
    let facts = SizeFacts::none();
    let mut cx = Context { supply: &mut supply, facts: &facts, reassociate: true };
    *left = left.saturating_sub(1 + walk::count(&before) as u64);
    let Ok(after) = rule.apply(&mut cx, &constants, &before) else { return Drawn::Nothing };
    *left = left.saturating_sub(walk::count(&after) as u64);
    compared(rule, before, after, params, args, left)
}

fn definition(name: &str, params: &[Binder], body: Term) -> Definition {
    let (sizes, facts) = (Vec::new(), Vec::new());
    Definition { name: name.into(), sizes, facts, params: params.to_vec(), body, span: Span::default() }
}

fn compared(
    rule: &DefinedRule,
    before: Term,
    after: Term,
    params: Vec<Binder>,
    args: Vec<Value>,
    left: &mut u64,
) -> Drawn {
    let (before, after) = (definition("before", &params, before), definition("after", &params, after));
    if crate::check(&before).is_err() {
        return Drawn::Nothing;
    }
    let none = BTreeMap::new();
    let mut evaluated = |definition: &Definition, limits: Limits| {
        let mut rest = limits;
        let value = evaluate_within(definition, &none, &args, &mut rest);
        *left = left.saturating_sub(limits.steps - rest.steps);
        value
    };
    let Ok(expected) = evaluated(&before, LIMITS) else { return Drawn::Nothing };
    let found = crate::check(&after).and_then(|()| evaluated(&after, MORE));
    let (difference, found) = match found {
        Err(error) if error.code == eval::LIMIT => return Drawn::Nothing,
        Err(error) => (format!("what it makes has no value: {}", error.message), None),
        Ok(found) => match difference(&expected, &found, rule.reassociates()) {
            None => return Drawn::Same,
            Some(difference) => (difference, Some(found)),
        },
    };
    let inputs = params.iter().map(|p| p.var.name.clone()).zip(args).collect();
    Drawn::Different(Box::new(Counterexample { difference, before, after, inputs, expected, found }))
}

/// A type of a class; where there is none, any data.
fn type_of(maker: &mut Maker, class: Option<Class>) -> DataType {
    let scalars = [Scalar::F64, Scalar::F64, Scalar::F32, Scalar::I64, Scalar::I32];
    match class {
        Some(class) => {
            let fitting: Vec<Scalar> = scalars.into_iter().filter(|s| class.admits(*s)).collect();
            DataType::Scalar(*maker.dice.pick(&fitting))
        }
        None if maker.dice.below(4) == 0 => maker.data_type(1, true),
        None => DataType::Scalar(*maker.dice.pick(&scalars)),
    }
}

struct Variables {
    given: Vec<Given>,
    params: Vec<Binder>,
    args: Vec<Value>,
}

/// What the variables stand for: parameters with random values, and random functions.
fn variables(
    prepared: &Prepared,
    assignment: &Assignment,
    maker: &mut Maker,
    fuel: u32,
) -> Option<Variables> {
    let put = |size: &Size| size.substitute(&|name| assignment.sizes.get(name).cloned());
    let data = |ty: &Ty| ty.to_data(&put, &|name| assignment.types.get(name).cloned());
    let mut drawn = Variables { given: Vec::new(), params: Vec::new(), args: Vec::new() };
    let left = &prepared.typed.left;
    for local in &left.params {
        let info = &left.locals[*local as usize];
        let (mut params, mut result) = (Vec::new(), &info.ty);
        while let Ty::Fun(param, rest) = result {
            params.push(data(param)?);
            result = rest;
        }
        let result = data(result)?;
        if params.is_empty() {
            let binder = maker.supply.binder(&info.name, result.clone());
            drawn.args.push(maker.value(&result)?);
            drawn.given.push(Given::Term(build::var(&binder)));
            drawn.params.push(binder);
        } else {
            maker.fuel = fuel;
            let names = ["x", "y", "z"];
            let params: Vec<(&str, &DataType)> = (names.iter().cycle().copied()).zip(&params).collect();
            drawn.given.push(Given::Fun(maker.function(&params, &result)));
        }
    }
    Some(drawn)
}

/// Where two values differ, if they do: bit for bit, with every NaN as one, or by more than
/// rounding.
fn difference(before: &Value, after: &Value, rounded: bool) -> Option<String> {
    match (before, after) {
        (Value::Tensor(a), Value::Tensor(b)) if a.shape == b.shape => {
            let (a, b) = (columns(&a.data), columns(&b.data));
            let mut largest = 0.0f64;
            let mut pairs = Vec::new();
            for (x, y) in a.iter().flatten().zip(b.iter().flatten()) {
                largest =
                    [x, y].iter().map(|n| n.magnitude()).filter(|n| n.is_finite()).fold(largest, f64::max);
                pairs.push((*x, *y));
            }
            let different = |(x, y): &&(Number, Number)| {
                let near = rounded && x.is_near(*y, largest);
                !x.same(*y) && !near
            };
            let (x, y) = pairs.iter().find(different)?;
            Some(format!("{x} becomes {y}"))
        }
        (Value::Tensor(a), Value::Tensor(b)) => {
            Some(format!("an array of the shape {:?} becomes one of {:?}", a.shape, b.shape))
        }
        (Value::Pair(a, b), Value::Pair(c, d)) => {
            difference(a, c, rounded).or_else(|| difference(b, d, rounded))
        }
        _ => Some("a value becomes one of another type".to_owned()),
    }
}

/// A number of a value.
#[derive(Clone, Copy)]
enum Number {
    Double(f64),
    Single(f32),
    Whole(i64),
    Truth(bool),
}

impl Number {
    fn same(self, other: Number) -> bool {
        match (self, other) {
            (Number::Double(a), Number::Double(b)) => a.to_bits() == b.to_bits() || a.is_nan() && b.is_nan(),
            (Number::Single(a), Number::Single(b)) => a.to_bits() == b.to_bits() || a.is_nan() && b.is_nan(),
            (Number::Whole(a), Number::Whole(b)) => a == b,
            (Number::Truth(a), Number::Truth(b)) => a == b,
            _ => false,
        }
    }

    fn magnitude(self) -> f64 {
        match self {
            Number::Double(a) => a.abs(),
            Number::Single(a) => f64::from(a.abs()),
            Number::Whole(_) | Number::Truth(_) => 0.0,
        }
    }

    /// Whether the order of additions explains the difference. Where one side is not finite,
    /// anything may come of it.
    fn is_near(self, other: Number, largest: f64) -> bool {
        let (a, b, relative) = match (self, other) {
            (Number::Double(a), Number::Double(b)) => (a, b, 1e-9),
            (Number::Single(a), Number::Single(b)) => (f64::from(a), f64::from(b), 1e-3),
            _ => return false,
        };
        !a.is_finite() || !b.is_finite() || (a - b).abs() <= relative * (1.0 + largest)
    }
}

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let float = |text: String| text.replace("NaN", "nan");
        match self {
            Number::Double(a) => f.write_str(&float(format!("{a:?}"))),
            Number::Single(a) => f.write_str(&float(format!("{a:?}"))),
            Number::Whole(a) => write!(f, "{a}"),
            Number::Truth(a) => write!(f, "{a}"),
        }
    }
}

/// The numbers of each component.
fn columns(data: &Data) -> Vec<Vec<Number>> {
    match data {
        Data::F64(v) => vec![v.iter().map(|x| Number::Double(*x)).collect()],
        Data::F32(v) => vec![v.iter().map(|x| Number::Single(*x)).collect()],
        Data::I64(v) => vec![v.iter().map(|x| Number::Whole(*x)).collect()],
        Data::I32(v) => vec![v.iter().map(|x| Number::Whole(i64::from(*x))).collect()],
        Data::Bool(v) => vec![v.iter().map(|x| Number::Truth(*x)).collect()],
        Data::Pair(a, b) => [columns(a), columns(b)].concat(),
        // Functional programs have no other numbers.
        _ => Vec::new(),
    }
}

/// A value as it is written in a program.
fn shown(value: &Value) -> String {
    match value {
        Value::Tensor(tensor) => shown_tensor(tensor),
        Value::Pair(a, b) => format!("({}, {})", shown(a), shown(b)),
    }
}

fn shown_tensor(tensor: &Tensor) -> String {
    fn go(shape: &[usize], first: usize, columns: &[Vec<Number>]) -> String {
        match shape.split_first() {
            None => {
                let parts: Vec<String> =
                    columns.iter().filter_map(|c| c.get(first)).map(Number::to_string).collect();
                if parts.len() == 1 { parts.concat() } else { format!("({})", parts.join(", ")) }
            }
            Some((n, rest)) => {
                let step: usize = rest.iter().product();
                let parts: Vec<String> = (0..*n).map(|k| go(rest, first + k * step, columns)).collect();
                format!("[{}]", parts.join(", "))
            }
        }
    }
    go(&tensor.shape, 0, &columns(&tensor.data))
}
