//! Rules that programs define: what is known of them, what they make of programs, replay, and
//! values that stay.

mod common;
mod support;

use std::collections::BTreeMap;
use std::fmt::Write as _;

use common::same_bits;
use functional::build::Supply;
use functional::eval::{Limits, evaluate};
use functional::random::Maker;
use functional::rewrite::defined::trial::{Effort, Verdict, check};
use functional::rewrite::{AnyRule, Context};
use functional::strategy::{Options, replay};
use functional::walk::{self, Position};
use functional::{Checked, Definition, SizeFacts, Term, check_module, parse_module, print};
use loops::{Name, Size};
use proptest::prelude::*;

fn checked(text: &str) -> Checked {
    let (module, errors) = parse_module(text);
    assert!(errors.is_empty(), "{errors:?}");
    check_module(&module).unwrap_or_else(|errors| panic!("{}", support::render::all(text, &errors)))
}

#[test]
fn rules_have_these_verdicts() {
    for area in ["rules/verdicts", "rules/kinds"] {
        golden::check(area, "loz", "out", |case| verdicts(&case.input));
    }
}

fn verdicts(text: &str) -> String {
    let checked = checked(text);
    let mut out = String::new();
    for rule in checked.own_rules() {
        let _ = match check(&rule, Effort::default()) {
            Verdict::Agrees { instances } => writeln!(out, "{}: agrees on {instances}", rule.name()),
            Verdict::Differs(found) => {
                writeln!(out, "\n{}: {}\n{found}\n", rule.name(), found.difference)
            }
            Verdict::Untested { draws } => writeln!(out, "{}: untested, {draws} draws", rule.name()),
        };
    }
    out
}

/// At sizes 0, 1, primes and others: the same value bit for bit, or nearly where additions were
/// regrouped.
fn same_values(original: &Definition, rewritten: &Definition, exact: bool) {
    for case in 0..40u64 {
        let mut maker = Maker::new(case, 0);
        let sizes: BTreeMap<Name, i64> = original
            .sizes
            .iter()
            .map(|name| (name.clone(), [0, 1, 2, 3, 5, 8, 13][maker.dice.below(7) as usize]))
            .collect();
        maker.sizes = sizes.clone().into_iter().collect();
        let args: Option<Vec<_>> = original.params.iter().map(|p| maker.value(&p.ty)).collect();
        let Some(args) = args else { continue };
        let Ok(expected) = evaluate(original, &sizes, &args, Limits::default()) else { continue };
        let found = evaluate(rewritten, &sizes, &args, Limits::default()).unwrap();
        if exact {
            assert!(same_bits(&expected, &found), "at {sizes:?}\n{expected:?}\n{found:?}");
        } else if let (loops::Data::F64(x), loops::Data::F64(y)) =
            (&expected.tensor().unwrap().data, &found.tensor().unwrap().data)
        {
            assert!(x.iter().zip(y).all(|(x, y)| (x - y).abs() <= 1e-9 * (1.0 + x.abs())), "{x:?} {y:?}");
        }
    }
}

#[test]
fn strategies_use_the_rules_of_a_program() {
    golden::check("rules/schedules", "loz", "out", |case| {
        let checked = checked(&case.input);
        let mut out = String::new();
        let strategies = match checked.strategy_set() {
            Ok(strategies) => strategies,
            Err(errors) => return support::render::all(&case.input, &errors),
        };
        for (name, target) in strategies.schedules() {
            let _ = writeln!(out, "== {name}");
            let original = checked.elaborate(target).unwrap();
            match strategies.schedule(name, &original, Options::default()) {
                Err(error) => out += &support::render::all(&case.input, &[error]),
                Ok(outcome) => {
                    let (rewritten, trace) = (&outcome.definition, &outcome.trace);
                    assert_eq!(trace.replay(&original).unwrap().body, rewritten.body, "the replay of {name}");
                    let read = replay(&trace.to_text(), &original, strategies).unwrap();
                    assert_eq!(read.definition.body, rewritten.body, "the replay of the text of {name}");
                    assert_eq!(read.trace, *trace, "the trace of the replay of {name}");
                    same_values(&original, rewritten, !trace.reassociates());
                    let _ = write!(out, "{}{}", trace.to_text(), print::definition(rewritten));
                }
            }
        }
        out
    });
}

fn positions(term: &Term) -> Vec<Position> {
    let (mut all, mut todo) = (Vec::new(), vec![(term, Position::root())]);
    while let Some((term, position)) = todo.pop() {
        todo.extend(walk::children(term).into_iter().map(|(k, child)| (child, position.child(k))));
        all.push(position);
    }
    all
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, failure_persistence: None, ..ProptestConfig::default() })]

    /// At every place of a random program where a rule applies, the result has a type and the same
    /// value.
    #[test]
    fn rules_keep_the_value_of_random_programs(seed: u64, fuel in 5u32..60) {
        let text = std::fs::read_to_string(golden::folder("rules/verdicts").join("built-in.loz")).unwrap();
        let rules: Vec<AnyRule> = checked(&text).own_rules().into_iter().map(AnyRule::Defined).collect();
        let mut maker = Maker::new(seed, fuel);
        let (definition, args) = maker.definition();
        let sizes: BTreeMap<Name, i64> = maker.sizes.iter().cloned().collect();
        let limits = Limits { elements: 1 << 16, steps: 1 << 13 };
        let more = Limits { elements: 1 << 18, steps: 1 << 18 };
        let Ok(expected) = evaluate(&definition, &sizes, &args, limits) else { return Ok(()) };
        let facts = SizeFacts::of(&definition);
        for position in positions(&definition.body) {
            let term = walk::subterm(&definition.body, &position).unwrap();
            for rule in &rules {
                let mut supply = Supply::above(&definition);
                let mut cx = Context { supply: &mut supply, facts: &facts, reassociate: false };
                let sizes_of_rule = vec![Size::constant(2); rule.arity()];
                let Ok(new) = rule.apply(&mut cx, &sizes_of_rule, term) else { continue };
                let body = walk::replace(&definition.body, &position, &new).unwrap();
                let rewritten = Definition { body, ..definition.clone() };
                let told = || format!("{} at {position}\n{}", rule.name(), print::term(term));
                if let Err(error) = functional::check(&rewritten) {
                    panic!("{error}\n{}", told());
                }
                match evaluate(&rewritten, &sizes, &args, more) {
                    Ok(found) => prop_assert!(same_bits(&expected, &found), "{}", told()),
                    Err(error) => prop_assert_eq!(error.code.0, "F0602", "{}\n{}", error.message, told()),
                }
            }
        }
    }
}
