//! Derivations: their text, the types of every step, and that every rule that occurs is in the
//! table of rules.
mod support;

use dpia::{Mode, translate, typecheck};
use functional::facts::SizeFacts;

#[test]
fn every_step_is_well_typed() {
    let mut failures = String::new();
    let mut steps = 0;
    for case in golden::cases("dpia", "loz") {
        for d in support::definitions(&case.input) {
            for mode in [Mode::Default, Mode::Paper] {
                let Ok(t) = translate(&d, mode) else { continue };
                let facts = SizeFacts::of(&d);
                for step in &t.derivation.steps {
                    steps += 1;
                    for side in [&step.before, &step.after] {
                        if let Err(why) = typecheck::check(side, &t.derivation.bindings, &facts) {
                            failures.push_str(&format!("{} ({mode:?}) {}: {why}\n", d.name, step.rule));
                        }
                    }
                }
            }
        }
    }
    assert!(failures.is_empty(), "{failures}");
    assert!(steps > 1000, "{steps}");
}

#[test]
fn the_checker_of_types_refuses_what_does_not_fit() {
    use dpia::phrase::{Acc, CommKind, Exp, PVar, Role};
    use functional::{DataType, Literal};
    let var = PVar { id: 0, name: "x".into(), hint: None, role: Role::Parameter };
    let single = Acc::var(&var, DataType::Scalar(loops::Scalar::F32));
    let check = |e: Exp| {
        let phrase = dpia::Phrase::Comm(CommKind::A(e, single.clone()).into());
        typecheck::check(&phrase, &dpia::derivation::Bindings::default(), &SizeFacts::none())
    };
    assert_eq!(check(Exp::literal(Literal::F32(0))), Ok(()));
    assert!(check(Exp::literal(Literal::F64(0))).is_err());
    let array = Exp::var(&var, support::array("n", support::num()));
    let index = |n: &str| Exp::size(0.into(), DataType::Idx(loops::Size::param(n)));
    assert_eq!(check(array.at(index("n")).unwrap()), Ok(()));
    assert!(check(array).is_err());
}

/// Every rule of the table occurs in a derivation of the test programs, and every rule that occurs
/// is in the table.
#[test]
fn rules_and_the_table_of_rules_agree() {
    let mut seen = std::collections::BTreeSet::new();
    for case in golden::cases("dpia", "loz") {
        for d in support::definitions(&case.input) {
            for mode in [Mode::Default, Mode::Paper] {
                if let Ok(t) = translate(&d, mode) {
                    seen.extend(t.derivation.counts().into_keys());
                }
            }
        }
    }
    let table: std::collections::BTreeSet<&str> = dpia::rules::rules().iter().map(|r| r.name).collect();
    let unknown: Vec<_> = seen.difference(&table).collect();
    assert!(unknown.is_empty(), "rules that are not in the table: {unknown:?}");
    // `skip` only stands where a command is empty, and those are dropped at once.
    let unused: Vec<_> = table.difference(&seen).filter(|name| **name != "cgc.1").collect();
    assert!(unused.is_empty(), "rules that no test program needs: {unused:?}");
}

#[test]
fn the_page_of_rules_is_made_from_the_code() {
    golden::compare(&golden::root().join("docs/rules.md"), &dpia::rules::page())
        .unwrap_or_else(|e| panic!("{e}"));
}

#[test]
fn lemmas_of_rules_are_stated_in_the_theory() {
    let table: std::collections::BTreeSet<&str> = dpia::rules::rules().iter().map(|r| r.name).collect();
    for (rules, file, lemma, _) in dpia::rules::LEMMAS {
        for rule in *rules {
            assert!(table.contains(rule), "`{lemma}` is of `{rule}`, which is no rule");
        }
        let path = golden::root().join("proofs").join(file);
        let theory = std::fs::read_to_string(&path).unwrap();
        let stated = ["Lemma", "Theorem", "Fact"].map(|word| format!("{word} {lemma} "));
        let found = theory.lines().any(|line| stated.iter().any(|start| line.starts_with(start.as_str())));
        assert!(found, "`{lemma}` is not stated in {}", path.display());
    }
}

/// `tests/dpia/derivations/*.loz`: every step in both modes.
#[test]
fn derivations_read_as_in_the_paper() {
    for (mode, extension) in [(Mode::Paper, "paper"), (Mode::Default, "default")] {
        golden::check("dpia/derivations", "loz", extension, |case| {
            let mut text = String::new();
            for d in support::definitions(&case.input) {
                let t = translate(&d, mode).unwrap_or_else(|e| panic!("{e}"));
                text.push_str(&format!("== {}\n{}\n\n{}\n", d.name, t.commands(), t.derivation));
            }
            text
        });
    }
}
