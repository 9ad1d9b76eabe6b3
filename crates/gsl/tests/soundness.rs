//! Whether rules are sound: those that ship, whose verdicts are a file, and rules that are wrong on
//! purpose.

use gsl::soundness::{Counterexample, Effort, Verdict, check, prove};
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

This page lists the substitution rules of `library/gsl/`, for those who use `lozenge optimize`. It
says what each rule does, and how far it is known to be right.

`lozenge optimize` applies the rules in this order. It applies those of `lower.gsl` only if asked.
`lozenge check-rules` prints for each rule what is known of it. The lines mean:

**Normal form**: A normaliser brings both sides of the rule to one form, for all extents, attributes
and values. This is the result of a program, not a theorem. [gsl.md](gsl.md#what-is-known-of-a-rule)
says how it works and what it takes for granted.

- *Ranks up to N*: for tensors whose rank the rule leaves open. Higher ranks are not looked at. If a
  rule has any number of branches, two and three of them are looked at.
- *Bits*: by laws that keep every bit.
- *Reals*: over the real numbers, since the rule changes the order of operations.

**Instances**: Models are drawn on which the source of the rule matches and its conditions hold.
They are rewritten, and evaluated before and after by the operator library. Half of them have NaN,
infinities, zeros of both signs and numbers that overflow or underflow. Some of these have extents
of 0.

- *Bit for bit*: no bit differs in any instance. Any NaN equals any other.
- *Within rounding*: equal, except for rounding.
- *Finite values*: the rule is only for finite values (`for finite`), and only these are drawn. Both
  sides may differ where something is NaN, infinite, or overflows on the way.
- *Integers too*: the same holds for instances of integers, small ones and those that wrap around.
";

/// A part of an item of a list, in lines of at most 100 columns.
fn wrapped(first: &str, text: &str) -> String {
    let (mut out, mut column) = (first.to_owned(), first.len());
    for (k, word) in text.split_whitespace().enumerate() {
        match (k, column + 1 + word.len() > 100) {
            (0, _) => {}
            (_, true) => {
                out += "\n  ";
                column = 2;
            }
            (_, false) => {
                out.push(' ');
                column += 1;
            }
        }
        out += word;
        column += word.len();
    }
    out + "\n"
}

#[test]
fn rules_that_ship_are_sound() {
    let effort = Effort { instances: 24, draws: 6000, seed: 1, prove: true };
    let (mut out, mut wrong) = (HEAD.to_owned(), String::new());
    for name in ["layout", "arithmetic", "convolution", "products", "recognise", "parallel", "lower"] {
        out += &format!("\n## `library/gsl/{name}.gsl`\n\n");
        for (k, rule) in rules(&format!("library/gsl/{name}.gsl")).iter().enumerate() {
            let agree = |exact: bool, integers: usize| {
                let how = if exact { "bit for bit" } else { "within rounding" };
                let how = if rule.finite { format!("{how}, finite values") } else { how.to_owned() };
                if integers > 0 { format!("{how}, integers too") } else { how }
            };
            let (proof, instances) = match verdict(rule, effort) {
                Verdict::Checked { proof, instances, integers, exact } => {
                    assert!(instances > 0, "{}: no instance was drawn", rule.name);
                    let over = if proof.exact { "bits" } else { "reals" };
                    (format!("{over}, ranks up to {}", proof.rank), agree(exact, integers))
                }
                Verdict::Bounded { integers, exact, why, .. } => {
                    (format!("no: {why}"), agree(exact, integers))
                }
                Verdict::Untested { .. } => ("no".to_owned(), "untested".to_owned()),
                Verdict::Counterexample(c) => {
                    wrong += &format!(
                        "{}: {}\n{:?}\n{}{}\n",
                        rule.name, c.difference, c.inputs, c.before.graph, c.after.graph
                    );
                    continue;
                }
            };
            // The first line of a file is about the file.
            let about: Vec<&str> =
                rule.comments.iter().skip(usize::from(k == 0)).map(|line| line.trim()).collect();
            out += &wrapped("- ", &format!("`{}`: {}", rule.name, about.join(" ")));
            out += &wrapped("  ", &format!("Normal form: {proof}. Instances: {instances}."));
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
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
        assert!(prove(&rule).is_err(), "{} is wrong, and has a normal form", rule.name);
        out += &format!("{}: {}\n{}\n", rule.name, found.difference, found.before.graph);
    }
    golden::compare(&golden::root().join("tests/gsl/soundness/wrong.out"), &out)
        .unwrap_or_else(|e| panic!("{e}"));
}

/// Rules that are right for numbers of a few digits only. What they get wrong is told.
#[test]
fn the_ends_of_floating_point_are_drawn() {
    let mut out = String::new();
    for rule in rules("tests/gsl/soundness/ends.gsl") {
        let found = verdict(&rule, Effort { seed: 1, prove: false, ..Effort::default() });
        let Verdict::Counterexample(found) = found else { panic!("{} passes: {found:?}", rule.name) };
        assert!(is_one(&rule, &found), "{}", rule.name);
        out += &format!("{}: {}\n", rule.name, found.difference);
    }
    golden::compare(&golden::root().join("tests/gsl/soundness/ends.out"), &out)
        .unwrap_or_else(|e| panic!("{e}"));
    for rule in rules("tests/gsl/soundness/finite.gsl") {
        let found = verdict(&rule, Effort { instances: 64, draws: 6000, seed: 1, prove: false });
        assert!(matches!(found, Verdict::Bounded { instances: 32.., .. }), "{}: {found:?}", rule.name);
    }
}

#[test]
fn what_cannot_be_proved_is_said() {
    let mut out = String::new();
    for rule in rules("tests/gsl/soundness/unproved.gsl") {
        gsl::compile_rule(&rule).unwrap_or_else(|e| panic!("{}: {e:?}", rule.name));
        match prove(&rule) {
            Ok(_) => panic!("{} is proved", rule.name),
            Err(why) => out += &format!("{}: {why}\n", rule.name),
        }
    }
    golden::compare(&golden::root().join("tests/gsl/soundness/unproved.out"), &out)
        .unwrap_or_else(|e| panic!("{e}"));
}

/// A counterexample can be run: the rule applies to the model, and what comes out is the model
/// after it.
fn is_one(rule: &Rule, found: &Counterexample) -> bool {
    let rules = RuleSet::new(vec![gsl::compile_rule(rule).unwrap()]);
    let mut model = found.before.clone();
    let options = gsl::Options { ignore_cost: true, limit: Some(1), ..gsl::Options::default() };
    let report = gsl::optimize(&mut model, &rules, &options, |_, _| ()).unwrap();
    report.applied == 1 && model.graph.to_string() == found.after.graph.to_string()
}

/// A rule that lacks one of its conditions is wrong, or the condition was not needed. What has a
/// counterexample is not proved.
#[test]
fn what_has_a_counterexample_is_not_proved() {
    let effort = Effort { instances: 24, draws: 3000, seed: 1, prove: false };
    let mut refuted = 0;
    for name in ["layout", "arithmetic", "convolution", "products", "recognise", "parallel", "lower"] {
        for rule in rules(&format!("library/gsl/{name}.gsl")) {
            for k in 0..rule.conditions.len() {
                let mut weaker = rule.clone();
                let gone = weaker.conditions.remove(k);
                // A normal form over the reals says nothing of the ends of floating point.
                weaker.finite = true;
                // Without a definition the rest means nothing.
                if matches!(gone.value, gsl::rule::Clause::Let(..)) || gsl::compile_rule(&weaker).is_err() {
                    continue;
                }
                if let Verdict::Counterexample(found) = verdict(&weaker, effort)
                    && !["NaN", "inf"].iter().any(|word| found.difference.contains(word))
                {
                    refuted += 1;
                    let proof = prove(&weaker);
                    assert!(proof.is_err(), "{} without condition {k}: {}", rule.name, found.difference);
                }
            }
        }
    }
    assert!(refuted >= 20, "{refuted} refuted: the test says little");
}

/// Rules that change nothing, of operators whose inputs must go together: without instances a wrong
/// rule would not be seen.
#[test]
fn models_are_drawn_of_most_operators() {
    let calls = "And(a, b) Or(a, b) Xor(a, b) Not(a) Where(a, b, c) Where(a, b, b) Mul(a, a) BitwiseAnd(a, b) Gather(a, b) OneHot(a, b, c) Expand(a, b) Tile(a, b) \
        ConstantOfShape(a) CumSum(a, b) DepthToSpace(a) SpaceToDepth(a) InstanceNormalization(a, b, c) GroupNormalization(a, b, c) LRN(a) LpPool(a) GlobalLpPool(a) Conv(a, b, c) \
        ConvTranspose(a, b) MaxPool(a) BatchNormalization(a, b, c, d, e) LayerNormalization(a, b) MatMul(a, b) Gemm(a, b, c) Reshape(a, b) Slice(a, b, c, d, e) Split(a) Concat(a, b) \
        Pad(a, b) ReduceSum(a, b) ReduceMean(a) Softmax(a) Transpose(a) Unsqueeze(a, b) Squeeze(a, b) Clip(a, b, c) Cast(a) Equal(a, b) GreaterOrEqual(a, b) IsNaN(a) Sum(a, b) \
        QuantizeLinear(a, b, c) DequantizeLinear(a, b, c) Swish(a)";
    let mut calls: &str = calls;
    let mut untested = Vec::new();
    while let Some((call, rest)) = calls.split_once(')') {
        let name = call.trim().split('(').next().unwrap_or_default();
        let text = format!(
            "rule r {{\n match\n y = {call})\n z = Identity(y)\n replace\n q = {call}) {{ ..y }}\n z = Identity(q)\n}}\n"
        );
        let (file, errors) = gsl::parse(&text);
        assert!(errors.is_empty(), "{text}{errors:?}");
        match verdict(&file.rules[0], Effort { instances: 4, draws: 600, seed: 1, prove: false }) {
            Verdict::Untested { .. } => untested.push(name.to_owned()),
            Verdict::Counterexample(c) => {
                panic!("{name}: {}\n{}{}", c.difference, c.before.graph, c.after.graph)
            }
            _ => {}
        }
        calls = rest;
    }
    assert!(untested.is_empty(), "no instances of {untested:?}");
}

/// The order in which a rule describes branches and what has them all as inputs does not matter.
#[test]
fn branches_may_be_described_last() {
    let text = "rule r[i: 2..] for finite {\n match\n y = Sum(m[*])\n m[i] = Mul(x, s[i])\n where s[i] is parameter\n replace\n y = Mul(x, Sum(s[*]))\n}\n";
    let (file, errors) = gsl::parse(text);
    assert!(errors.is_empty(), "{errors:?}");
    let found = verdict(&file.rules[0], Effort { instances: 8, draws: 2000, seed: 1, prove: false });
    assert!(matches!(found, Verdict::Bounded { .. }), "{found:?}");
}

#[test]
fn a_function_goes_through_the_choice_of_a_branch() {
    let text = "rule r[i: 2..] {\n match\n y = Concat(r[*])\n r[i] = Relu(x[i])\n replace\n y = Relu(Concat(x[*]) { axis: y.axis })\n}\n";
    let (file, errors) = gsl::parse(text);
    assert!(errors.is_empty(), "{errors:?}");
    let found = verdict(&file.rules[0], Effort { instances: 8, draws: 2000, seed: 1, prove: true });
    let Verdict::Checked { proof, .. } = found else { panic!("{found:?}") };
    assert!(proof.exact);
}

/// Rows are summed in parts, other axes in order: to move a sum from one to the other keeps its
/// value over the reals, and to leave it where it is keeps the bits.
#[test]
fn a_sum_that_is_moved_to_another_axis_may_have_other_bits() {
    let moved = "rule r {\n match\n y = ReduceSum(Transpose(x) { perm: [1, 0] }, [1]) { keepdims: 0 }\n replace\n y = ReduceSum(x, [0]) { keepdims: 0 }\n}\n";
    let stays = "rule r {\n match\n y = ReduceSum(Neg(Neg(x)), [1]) { keepdims: 0 }\n where x.rank == 2\n replace\n y = ReduceSum(x, [1]) { keepdims: 0 }\n}\n";
    for (text, exact) in [(moved, false), (stays, true)] {
        let (file, errors) = gsl::parse(text);
        assert!(errors.is_empty(), "{errors:?}");
        let proof = prove(&file.rules[0]).unwrap_or_else(|why| panic!("{text}: {why:?}"));
        assert_eq!(proof.exact, exact, "{text}");
    }
}
