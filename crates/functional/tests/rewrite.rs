//! Every rewrite rule keeps types and values: on random well-typed programs, and on terms made to fit each rule.

mod common;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;

use common::programs::Maker;
use common::*;
use functional::build::Supply;
use functional::eval::{Limits, Value, evaluate};
use functional::rewrite::{Context, rules};
use functional::walk::{self, Position};
use functional::{Definition, SizeFacts, Term, check};
use loops::{Name, Size};
use proptest::prelude::*;

const LIMITS: Limits = Limits { elements: 1 << 20, steps: 1 << 22 };

fn positions(term: &Term) -> Vec<Position> {
    let (mut all, mut todo) = (Vec::new(), vec![(term, Position::root())]);
    while let Some((term, position)) = todo.pop() {
        todo.extend(walk::children(term).into_iter().map(|(k, child)| (child, position.child(k))));
        all.push(position);
    }
    all
}

/// Applies every rule at every place of a definition and compares the values. Tells which rules applied.
fn every_rule(
    definition: &Definition,
    sizes: &BTreeMap<Name, i64>,
    args: &[Value],
    used: &mut BTreeSet<&'static str>,
) {
    let Ok(expected) = evaluate(definition, sizes, args, LIMITS) else { return };
    let facts = SizeFacts::of(definition);
    for position in positions(&definition.body) {
        let term = walk::subterm(&definition.body, &position).unwrap();
        for rule in rules() {
            let sizes_of_rule = vec![Size::constant(2); rule.params.len()];
            let mut supply = Supply::above(definition);
            let mut cx = Context { supply: &mut supply, facts: &facts, reassociate: false };
            let Ok(new) = rule.apply(&mut cx, &sizes_of_rule, term) else { continue };
            used.insert(rule.name);
            let body = walk::replace(&definition.body, &position, &new).unwrap();
            let rewritten = Definition { body, ..definition.clone() };
            if let Err(error) = check(&rewritten) {
                panic!("{} at {position}: {}\nbefore {term:?}\nafter {new:?}", rule.name, error.message);
            }
            match evaluate(&rewritten, sizes, args, LIMITS) {
                Ok(found) => assert!(
                    same_bits(&expected, &found),
                    "{} at {position}\nbefore {term:?}\nafter {new:?}\n{expected:?}\n{found:?}",
                    rule.name
                ),
                Err(error) => {
                    panic!("{} at {position}: {}\nbefore {term:?}\nafter {new:?}", rule.name, error.message)
                }
            }
        }
    }
}

static USED: Mutex<BTreeSet<&'static str>> = Mutex::new(BTreeSet::new());

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn rules_keep_the_value_of_random_programs(seed: u64, fuel in 5u32..60) {
        let mut maker = Maker::new(seed, fuel);
        let (definition, args) = maker.definition();
        prop_assert!(check(&definition).is_ok(), "{:?}", check(&definition));
        let sizes = maker.sizes.iter().cloned().collect();
        let mut used = BTreeSet::new();
        every_rule(&definition, &sizes, &args, &mut used);
        USED.lock().unwrap().extend(used);
    }
}

#[test]
fn random_programs_are_evaluated() {
    let mut evaluated = 0;
    for seed in 0..300 {
        let mut maker = Maker::new(seed, 40);
        let (definition, args) = maker.definition();
        check(&definition).unwrap();
        let sizes = maker.sizes.iter().cloned().collect();
        match evaluate(&definition, &sizes, &args, LIMITS) {
            Ok(_) => evaluated += 1,
            Err(error) => assert_eq!(error.code.0, "F0602", "{}", error.message),
        }
    }
    assert!(evaluated > 250, "{evaluated}");
}
