//! The calculator on files of expressions, and its two ways of its own (elimination, counting)
//! against the set library.

use arith::Linear;
use arith::fourier_motzkin::LoopBounds;
use polyhedral::calc::{Limits, evaluate};
use proptest::prelude::*;

/// A diagnostic with its place marked under the text.
fn rendered(text: &str, diagnostic: &loops::Diagnostic) -> String {
    let mut lines = vec![diagnostic.to_string()];
    for label in &diagnostic.labels {
        let (start, end) = (label.span.start as usize, label.span.end as usize);
        let column = text[..start].chars().count();
        let width = text[start..end].chars().count().max(1);
        lines.push(format!("  {text}\n  {}{} {}", " ".repeat(column), "^".repeat(width), label.text));
    }
    lines.extend(diagnostic.notes.iter().map(|note| format!("  note: {note}")));
    lines.extend(diagnostic.help.iter().map(|help| format!("  help: {help}")));
    lines.join("\n")
}

#[test]
fn expressions_give_what_is_written_beside_them() {
    golden::check("poly", "poly", "out", |case| {
        let mut out = String::new();
        for line in case.input.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
            let value = match evaluate(line, Limits::default()) {
                Ok(value) => value.to_string(),
                Err(diagnostic) => rendered(line, &diagnostic),
            };
            out.push_str(&format!("> {line}\n{value}\n"));
        }
        out
    });
}

#[test]
fn deep_and_long_input_ends_in_a_diagnostic() {
    for text in [
        "(".repeat(100_000),
        "{ S[i] : ".to_string() + &"(".repeat(100_000),
        "not ".repeat(100_000),
        "-".repeat(100_000),
    ] {
        assert!(evaluate(&text, Limits::default()).is_err());
        assert!(evaluate(&format!("{{ S[i] : {text}"), Limits::default()).is_err());
    }
}

#[test]
fn an_exploding_computation_stops() {
    let pieces: Vec<String> = (0..40).map(|k| format!("(i + {k} * j) mod {} = {k}", 40 + k)).collect();
    let text = format!("count({{ S[i, j] : 0 <= i, j < 100000 and ({}) }})", pieces.join(" or "));
    let error = evaluate(&text, Limits { operations: 10_000 }).expect_err("the limit is small");
    assert_eq!(error.code.0, "P0505");
}

/// Sums inside each other, each with a parameter of its own: the polynomial of twelve has millions
/// of terms.
fn sums_inside_each_other(many: usize) -> String {
    let names: Vec<String> = (0..many).map(|k| format!("p{k}")).collect();
    let variables: Vec<String> = (0..many).map(|k| format!("x{k}")).collect();
    let below = |k: usize| if k == 0 { String::new() } else { format!("x{} + ", k - 1) };
    let bounds: Vec<String> = (0..many).map(|k| format!("0 <= x{k} < {}p{k}", below(k))).collect();
    format!("card([{}] -> {{ S[{}] : {} }})", names.join(", "), variables.join(", "), bounds.join(" and "))
}

#[test]
fn a_count_with_many_parameters_stops() {
    assert!(evaluate(&sums_inside_each_other(6), Limits::default()).is_ok());
    let error = evaluate(&sums_inside_each_other(12), Limits::default()).expect_err("it is too large");
    assert_eq!(error.code.0, "P0506");
    assert!(error.message.contains("too many steps"), "{}", error.message);
}

#[test]
fn stages_share_what_they_may_spend() {
    let ctx = isl::Ctx::new();
    let limits = polyhedral::Limits::within(1_000_000, 2_000);
    let read = || isl::Set::read(&ctx, "{ [i] : 0 <= i < 10 and exists a : i = 2a }").is_ok();
    // Each stage is far below its own limit; together they reach the end at the same place each
    // time.
    let stages = || (0..1000).take_while(|_| limits.run(&ctx, read)).count();
    let first = stages();
    assert!(first > 1 && first < 1000, "{first}");
    assert_eq!(stages(), 0);
}

/// Inequalities `a i + b j + c k + d n + e >= 0` with small coefficients, inside a box.
fn formula() -> impl Strategy<Value = String> {
    let row = (-2i64..=2, -2i64..=2, -2i64..=2, -1i64..=1, -6i64..=6);
    prop::collection::vec(row, 0..4).prop_map(|rows| {
        let mut text = "0 <= i < 6 and 0 <= j < 6 and 0 <= k <= n".to_string();
        for (a, b, c, d, e) in rows {
            text.push_str(&format!(" and {a}*i + {b}*j + {c}*k + {d}*n + {e} >= 0"));
        }
        text
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, ..ProptestConfig::default() })]

    /// Projection by the set library is inside ours, and equal where ours says that it is exact.
    #[test]
    fn elimination_agrees_with_projection(formula in formula()) {
        let set = format!("[n] -> {{ S[i, j, k] : {formula} }}");
        let ours = evaluate(&format!("eliminate({set}, j)"), Limits::default()).unwrap().to_string();
        let truth = format!("project({set}, j)");
        for line in ours.lines() {
            let (system, exact) = match line.strip_suffix(" (exact over the rationals only)") {
                Some(system) => (system, false),
                None => (line, true),
            };
            let (_, condition) = system.split_once(" : ").unwrap();
            let mine = format!("[n] -> {{ S[i, k] : {condition} }}");
            let relation = if exact { "=" } else { "<=" };
            let holds = evaluate(&format!("{truth} {relation} {mine}"), Limits::default()).unwrap().to_string();
            prop_assert_eq!(holds, "true", "{} {} {}", truth, relation, mine);
        }
    }

    /// Loops over the bounds, outermost first, visit the points of the set and no others.
    #[test]
    fn bounds_enumerate_the_set(formula in formula(), n in 0i64..6) {
        use polyhedral::calc::Value;
        let set = format!("[n] -> {{ S[i, j, k] : {formula} }}");
        let Value::Bounds(sets) = evaluate(&format!("bounds({set})"), Limits::default()).unwrap() else { unreachable!() };
        let mut visited = 0i64;
        for (_, bounds) in &sets {
            let holds = |row: &Linear<String>| row.value(|_| Some(i128::from(n))).unwrap() >= 0;
            if bounds.context.rows.iter().all(holds) {
                visited += visit(&bounds.loops, &mut vec![("n".to_string(), i128::from(n))]);
            }
        }
        let truth = evaluate(&format!("count(at({set}, n = {n}))"), Limits::default()).unwrap().to_string();
        prop_assert_eq!(visited.to_string(), truth);
    }

    /// No text makes it panic.
    #[test]
    fn any_text_is_answered(text in "[-{}\\[\\]()a-c0-9:;,+*<>=. ]{0,40}") {
        let _ = evaluate(&text, Limits { operations: 100_000 });
    }
}

/// Number of points that the loops visit.
fn visit(bounds: &[LoopBounds<String>], at: &mut Vec<(String, i128)>) -> i64 {
    let Some((first, rest)) = bounds.split_first() else { return 1 };
    let value = |row: &Linear<String>, at: &[(String, i128)]| {
        row.value(|name| at.iter().find(|(n, _)| n == name).map(|(_, x)| *x)).expect("outer variables")
    };
    let low =
        first.lower.iter().map(|(row, d)| -((-value(row, at)).div_euclid(*d))).max().expect("bounded below");
    let high = first.upper.iter().map(|(row, d)| value(row, at).div_euclid(*d)).min().expect("bounded above");
    let mut count = 0;
    for x in low..=high {
        at.push((first.variable.clone(), x));
        count += visit(rest, at);
        at.pop();
    }
    count
}
