//! Random nests through the whole pipeline: whatever comes out is checked, and computes the same in
//! the interpreter.

mod common;

use polyhedral::optimize::Tiling;
use polyhedral::scheduling::Fusion;
use polyhedral::{Options, optimize};
use proptest::prelude::*;

/// An index expression over the loops in scope: small factors, so that everything stays within
/// padded arrays.
fn index(depth: usize) -> BoxedStrategy<String> {
    let names = ["i", "j", "k"];
    let mut choices: Vec<BoxedStrategy<String>> = vec![(0i64..3).prop_map(|c| c.to_string()).boxed()];
    for name in &names[..depth] {
        let name = *name;
        choices.push((-1i64..3).prop_map(move |c| format!("{name} + {c}")).boxed());
        choices.push(Just(format!("n - {name}")).boxed());
    }
    if depth > 1 {
        choices.push(
            (0..depth, 0..depth).prop_map(move |(a, b)| format!("{} + {}", names[a], names[b])).boxed(),
        );
        choices.push((0..depth).prop_map(move |a| format!("{} floordiv 2", names[a])).boxed());
    }
    proptest::strategy::Union::new(choices).boxed()
}

/// An element of one of two arrays; the padding keeps every subscript inside.
fn element(depth: usize) -> BoxedStrategy<String> {
    prop_oneof![
        (index(depth), index(depth)).prop_map(|(x, y)| format!("A[{x} + 3][{y} + 3]")),
        index(depth).prop_map(|x| format!("B[{x} + 3]")),
    ]
    .boxed()
}

/// An element that is read; with `data` its place may depend on what another one holds.
fn read(depth: usize, data: bool) -> BoxedStrategy<String> {
    if !data {
        return element(depth);
    }
    let source = (proptest::sample::select(vec!["B", "D"]), index(depth))
        .prop_map(|(array, x)| format!("{array}[{x} + 3] mod 7"));
    let looked_up = (source, index(depth), any::<bool>()).prop_map(|(place, y, flat)| match flat {
        true => format!("B[{place} + 2]"),
        false => format!("A[{place}][{y} + 3]"),
    });
    prop_oneof![2 => element(depth), 1 => looked_up].boxed()
}

fn statement(depth: usize, data: bool) -> BoxedStrategy<String> {
    let plain = (element(depth), read(depth, data), read(depth, data), any::<bool>()).prop_map(
        |(t, a, b, product)| {
            if product { format!("{t} = {a} * 2 - {b}") } else { format!("{t} = {a} + {b} * 3") }
        },
    );
    let update = (element(depth), read(depth, data)).prop_map(|(t, a)| format!("{t} += {a} mod 5"));
    let reduction = (element(depth), index(depth)).prop_map(|(t, a)| format!("{t} reduce += {a}"));
    prop_oneof![4 => plain, 2 => update, 1 => reduction].boxed()
}

fn block(depth: usize, data: bool) -> BoxedStrategy<String> {
    let leaf = statement(depth, data);
    if depth == 3 {
        return leaf;
    }
    let name = ["i", "j", "k"][depth];
    let mut lowers = vec!["0".to_owned(), "1".to_owned()];
    let mut uppers = vec!["n".to_owned(), "n - 1".to_owned(), "min(n, 4)".to_owned()];
    if depth > 0 {
        let outer = ["i", "j", "k"][depth - 1];
        lowers.push(outer.to_owned());
        lowers.push(format!("max({outer} - 1, 0)"));
        uppers.push(format!("{outer} + 1"));
        uppers.push(format!("min(n, {outer} + 3)"));
    }
    if data {
        let at = if depth > 0 { format!("{} + 3", ["i", "j", "k"][depth - 1]) } else { "3".to_owned() };
        lowers.push(format!("D[{at}] mod 3"));
        uppers.push(format!("D[{at} + 1] mod 6"));
    }
    let head = (
        proptest::sample::select(lowers),
        proptest::sample::select(uppers),
        prop_oneof![4 => Just(1), 1 => Just(2)],
    );
    let body = proptest::collection::vec(block(depth + 1, data), 1..3);
    let guard = prop_oneof![3 => Just(None), 1 => index(depth + 1).prop_map(Some)];
    let nest = (head, body, guard).prop_map(move |((lower, upper, step), body, guard)| {
        let body = body.join("\n");
        let body = match guard {
            Some(guard) => format!("if ({guard}) mod 2 == 0 {{ {body} }}"),
            None => body,
        };
        format!("for {name} in {lower}..{upper} step {step} {{ {body} }}")
    });
    if depth == 0 { nest.boxed() } else { prop_oneof![1 => leaf, 2 => nest].boxed() }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, max_shrink_iters: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn random_nests_compute_the_same(
        parts in proptest::collection::vec(block(0, false), 1..3),
        tile in proptest::collection::vec(1i64..5, 1..4),
        fusion in proptest::option::of(proptest::sample::select(vec![Fusion::None, Fusion::Smart, Fusion::Max])),
    ) {
        computes_the_same(&parts, tile, fusion)?;
    }

    // The same with subscripts of reads, and bounds of loops, that are data.
    #[test]
    fn random_nests_with_data_compute_the_same(
        parts in proptest::collection::vec(block(0, true), 1..3),
        tile in proptest::collection::vec(1i64..5, 1..4),
        fusion in proptest::option::of(proptest::sample::select(vec![Fusion::None, Fusion::Smart, Fusion::Max])),
    ) {
        computes_the_same(&parts, tile, fusion)?;
    }
}

fn computes_the_same(
    parts: &[String],
    tile: Vec<i64>,
    fusion: Option<Fusion>,
) -> Result<(), proptest::test_runner::TestCaseError> {
    let text = format!(
        "fn f[n](A: inout i64[2 * n + 10][2 * n + 10], B: inout i64[2 * n + 10], D: in i64[2 * n + 10]) {{ {} }}",
        parts.join("\n")
    );
    let original = common::function(&text);
    let options = Options { tiling: Tiling::Fixed(tile), fusion, operations: 100_000, ..Options::default() };
    match optimize(&original, &options) {
        Ok(result) => {
            prop_assert!(result.report.checked.is_some() || result.report.left.is_some());
            common::same_results(&original, &result.function, &[0, 1, 2, 5, 6]);
        }
        // A limit may be reached; nothing else may happen.
        Err(diagnostic) => prop_assert_eq!(diagnostic.code.0, "P0002", "{}", text),
    }
    Ok(())
}
