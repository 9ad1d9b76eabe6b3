//! Counts of parametric sets against enumeration by the set library.

use polyhedral::calc::{Limits, Value, evaluate};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;

/// A set as text, with the names of its parameters.
#[derive(Clone, Debug)]
struct Random {
    text: String,
    parameters: &'static [&'static str],
}

/// Values of each parameter: negative, 0, 1, composite and prime.
const VALUES: [i64; 9] = [-7, -1, 0, 1, 2, 4, 5, 7, 13];

/// The count of a set is what the set library counts, at these places.
fn agrees(set: &Random, places: &[Vec<i64>]) {
    let text = &set.text;
    let counts = match evaluate(&format!("card({text})"), Limits::default()) {
        Ok(Value::Count(counts)) => counts,
        Ok(other) => panic!("{text}: {other}"),
        Err(refused) => panic!("{text}: {refused}"),
    };
    for place in places {
        let at =
            |name: &str| set.parameters.iter().position(|own| *own == name).map(|k| i128::from(place[k]));
        let ours: Option<i128> = counts.iter().map(|(_, count)| count.value(&at)).sum();
        let fixed: Vec<String> =
            set.parameters.iter().zip(place).map(|(p, v)| format!("{p} = {v}")).collect();
        let truth = evaluate(
            &format!("count(at({text}, {}))", fixed.join(", ")),
            Limits { operations: 1_000_000_000 },
        );
        let truth = truth.expect("the set is small").to_string();
        assert_eq!(ours.map(|n| n.to_string()), Some(truth), "{text} at {place:?}");
    }
}

/// Inequalities `a i + b j + c k + d n + e >= 0` with small coefficients, inside a box.
fn in_a_box() -> impl Strategy<Value = Random> {
    let row = (-2i64..=2, -2i64..=2, -2i64..=2, -1i64..=1, -6i64..=6);
    prop::collection::vec(row, 0..4).prop_map(|rows| {
        let mut text = "[n] -> { S[i, j, k] : 0 <= i < 6 and 0 <= j < 6 and 0 <= k <= n".to_string();
        for (a, b, c, d, e) in rows {
            text.push_str(&format!(" and {a}*i + {b}*j + {c}*k + {d}*n + {e} >= 0"));
        }
        Random { text: text + " }", parameters: &["n"] }
    })
}

/// Numbers from which a conjunction is made: small coefficients, and choices.
fn numbers() -> impl Strategy<Value = Vec<i64>> {
    prop::collection::vec(0i64..1_000_000, 64)
}

/// Reads numbers one after another.
struct Numbers(std::vec::IntoIter<i64>);

impl Numbers {
    fn within(&mut self, low: i64, high: i64) -> i64 {
        low + self.0.next().expect("enough numbers") % (high - low + 1)
    }

    fn of<'a>(&mut self, names: &[&'a str]) -> &'a str {
        names[self.within(0, names.len() as i64 - 1) as usize]
    }

    fn form(&mut self, names: &[&str], most: i64) -> String {
        let terms: Vec<String> =
            names.iter().map(|name| format!("{}*{name}", self.within(-most, most))).collect();
        format!("{} + {}", terms.join(" + "), self.within(-5, 5))
    }
}

/// A conjunction that bounds each variable by numbers, outer variables and parameters, with
/// divisors from 1 to 3; then a further inequality, a stride, or an existentially quantified
/// variable.
fn conjunction(numbers: Vec<i64>, variables: &[&str], parameters: &[&str]) -> String {
    let mut numbers = Numbers(numbers.into_iter());
    let mut rows = Vec::new();
    for (k, variable) in variables.iter().enumerate() {
        let outer = &variables[..k];
        let low = match numbers.within(0, 2) {
            0 if k > 0 => numbers.of(outer).to_string(),
            _ => numbers.within(-1, 2).to_string(),
        };
        let (a, b) = (numbers.within(1, 3), numbers.within(1, 3));
        let mut high = format!("{} + {}", numbers.of(parameters), numbers.within(-2, 3));
        if k > 0 && numbers.within(0, 1) == 0 {
            high.push_str(&format!(" + {}*{}", numbers.within(-2, 2), numbers.of(outer)));
        }
        rows.push(format!("{low} <= {a}*{variable} and {b}*{variable} <= {high}"));
    }
    let all: Vec<&str> = variables.iter().chain(parameters).copied().collect();
    let modulus = numbers.within(2, 4);
    match numbers.within(0, 3) {
        0 => rows.push(format!(
            "({}) mod {modulus} = {}",
            numbers.form(variables, 2),
            numbers.within(0, modulus - 1)
        )),
        1 => {
            let form = numbers.form(variables, 1);
            let other = numbers.form(&["e", variables[0]], 1);
            rows.push(format!("exists e : {form} = {modulus}*e and {other} >= 0"));
        }
        _ => rows.push(format!("{} >= 0", numbers.form(&all, 2))),
    }
    format!("({})", rows.join(" and "))
}

/// Sets of 1 to 4 dimensions with 1 to 3 parameters; those of up to 3 dimensions can be unions.
fn any_set() -> impl Strategy<Value = Random> {
    (1usize..=4, 1usize..=3, numbers(), prop::option::of(numbers())).prop_map(
        |(dims, many, first, second)| {
            let variables = &["i", "j", "k", "l"][..dims];
            let parameters: &'static [&'static str] = &["n", "m", "p"][..many];
            let second = second.filter(|_| dims < 4);
            let parts = [Some(first), second].into_iter().flatten();
            let parts: Vec<String> =
                parts.map(|numbers| conjunction(numbers, variables, parameters)).collect();
            let text = format!(
                "[{}] -> {{ S[{}] : {} }}",
                parameters.join(", "),
                variables.join(", "),
                parts.join(" or ")
            );
            Random { text, parameters }
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 120, ..ProptestConfig::default() })]

    #[test]
    fn sets_in_a_box_are_counted(set in in_a_box()) {
        agrees(&set, &VALUES.map(|n| vec![n]));
    }
}

/// Always the same 200 sets: one in a thousand of this kind takes more steps than are allowed.
#[test]
fn sets_with_strides_divisors_and_unions_are_counted() {
    let mut runner = TestRunner::deterministic();
    let places = (
        prop::sample::select(&VALUES[..]),
        prop::sample::select(&VALUES[..]),
        prop::sample::select(&VALUES[..]),
    );
    for _ in 0..200 {
        let set = any_set().new_tree(&mut runner).expect("a set").current();
        let mut at = vec![vec![0; 3], vec![1; 3]];
        for _ in 0..6 {
            let (n, m, p) = places.new_tree(&mut runner).expect("a place").current();
            at.push(vec![n, m, p]);
        }
        agrees(&set, &at);
    }
}

/// Coefficients that are not 1 in several dimensions, at every size up to two periods.
#[test]
fn denumerants_are_counted() {
    for text in [
        "[n] -> { S[i, j] : 0 <= i, j and 2i + 3j <= n }",
        "[n] -> { S[i, j, k] : 0 <= i, j, k and 2i + 3j + 5k = n }",
        "[n] -> { S[i, j, k, l] : 0 <= i, j, k, l and i + 2j + 3k + 4l <= n }",
        "[n] -> { S[i, j] : 0 <= i < n and 0 <= j <= i and exists e : i + 2j = 4e + 1 }",
        "[n] -> { S[i] : 0 <= i < n and (i mod 4 = 1 or i mod 6 = 3) }",
    ] {
        let places: Vec<Vec<i64>> = (-3..60).map(|n| vec![n]).collect();
        agrees(&Random { text: text.to_string(), parameters: &["n"] }, &places);
    }
}

/// Where numbers are so large that there are too many residue classes, counting stops and says so.
#[test]
fn too_many_residue_classes_are_refused() {
    let text = "card([n] -> { S[i, j] : 0 <= i, j and 99991i + 99989j <= n })";
    let refused = evaluate(text, Limits::default()).expect_err("it is too large");
    assert_eq!(refused.code.0, "P0506");
    assert!(refused.message.contains("too many steps"), "{}", refused.message);
}
