//! Whether rules are sound: those that ship, whose verdicts are a file, and rules that are wrong on purpose.

use gsl::soundness::{Counterexample, Effort, Verdict, check};
use gsl::{Rule, RuleSet};

fn rules(path: &str) -> Vec<Rule> {
    let text = std::fs::read_to_string(golden::root().join(path)).unwrap();
    let (file, errors) = gsl::parse(&text);
    assert!(errors.is_empty(), "{errors:?}");
    file.rules
}

fn verdict(rule: &Rule, effort: Effort) -> Verdict {
    check(rule, effort).unwrap_or_else(|e| panic!("{}: {e:?}", rule.name))
}

const HEAD: &str = "# The rules that ship

<!-- Generated: `BLESS=1 cargo test -p gsl --test soundness`. -->

`lozenge optimize` applies them in this order, those of `lower.gsl` only if asked for. `lozenge check-rules` draws models on which the source of a rule matches and
its conditions hold, rewrites them, and evaluates both by the operator library. *Bit for bit*: no bit was different in any instance. *Over the reals*: equal within rounding,
for the rule changes the order of operations. *Untested*: the library does not evaluate the operator.
";

#[test]
fn rules_that_ship_are_sound() {
    let effort = Effort { instances: 24, draws: 6000, seed: 1 };
    let mut out = HEAD.to_owned();
    for name in ["layout", "arithmetic", "convolution", "products", "recognise", "parallel", "lower"] {
        out += &format!(
            "\n## `library/gsl/{name}.gsl`\n\n| rule | what it does | instances agree |\n| --- | --- | --- |\n"
        );
        for (k, rule) in rules(&format!("library/gsl/{name}.gsl")).iter().enumerate() {
            let words = match verdict(rule, effort) {
                Verdict::Bounded { exact: true, .. } => "bit for bit",
                Verdict::Bounded { exact: false, .. } => "over the reals",
                Verdict::Untested { .. } => "untested",
                Verdict::Counterexample(c) => {
                    panic!("{}: {}\n{}{}", rule.name, c.difference, c.before.graph, c.after.graph)
                }
            };
            // The first line of a file is about the file.
            let about: Vec<&str> =
                rule.comments.iter().skip(usize::from(k == 0)).map(|line| line.trim()).collect();
            out += &format!("| `{}` | {} | {words} |\n", rule.name, about.join(" "));
        }
    }
    golden::compare(&golden::root().join("docs/gsl-rules.md"), &out).unwrap_or_else(|e| panic!("{e}"));
}

#[test]
fn wrong_rules_have_counterexamples() {
    let mut out = String::new();
    for rule in rules("tests/gsl/soundness/wrong.gsl") {
        let Verdict::Counterexample(found) = verdict(&rule, Effort { seed: 1, ..Effort::default() }) else {
            panic!("{} passes", rule.name)
        };
        assert!(is_one(&rule, &found), "{}", rule.name);
        out += &format!("{}: {}\n{}\n", rule.name, found.difference, found.before.graph);
    }
    golden::compare(&golden::root().join("tests/gsl/soundness/wrong.out"), &out)
        .unwrap_or_else(|e| panic!("{e}"));
}

/// A counterexample can be run: the rule applies to the model, and what comes out is the model after it.
fn is_one(rule: &Rule, found: &Counterexample) -> bool {
    let rules = RuleSet::new(vec![gsl::compile_rule(rule).unwrap()]);
    let mut model = found.before.clone();
    let options = gsl::Options { ignore_cost: true, limit: Some(1), ..gsl::Options::default() };
    let report = gsl::optimize(&mut model, &rules, &options, |_, _| ()).unwrap();
    report.applied == 1 && model.graph.to_string() == found.after.graph.to_string()
}
