//! Tests of the places where the numbers of a rule meet ranks and branches.

use super::*;

/// The ranks and branches that a rule with these conditions and this target needs.
fn reached(head: &str, conditions: &str, target: &str) -> (usize, usize) {
    let text =
        format!("rule r{head} {{\n match\n y = Softmax(x)\n {conditions}\n replace\n y = {target}\n}}\n");
    let (file, errors) = crate::parse(&text);
    assert!(errors.is_empty(), "{text}{errors:?}");
    let reach = reach(&file.rules[0]);
    (reach.rank, reach.branches)
}

#[test]
fn numbers_that_meet_ranks_are_seen() {
    for (conditions, target, rank) in [
        ("", "Softmax(x) { axis: if x.rank >= 6 then 2 else 1 }", 7),
        ("", "Softmax(x) { axis: if 6 <= x.rank then 2 else 1 }", 7),
        ("", "Softmax(x) { axis: if x.rank - 2 > 4 then 2 else 1 }", 7),
        ("where let n = x.rank - 2", "Softmax(x) { axis: if n > 4 then 2 else 1 }", 7),
        ("", "Softmax(x) { axis: if len(x.shape) == 6 then 2 else 1 }", 6),
        ("", "Softmax(x) { axis: if 2 * x.rank > 11 then 2 else 1 }", 7),
        ("", "Softmax(x) { axis: max(1, x.rank - 5) }", 7),
        ("", "Softmax(x) { axis: 1 + x.rank // 6 }", 7),
        ("", "Softmax(x) { axis: 1 + len(range(5, x.rank)) }", 6),
        ("", "Softmax(x) { axis: if x.rank in [2, 6] then 2 else 1 }", 6),
        ("", "Softmax(x) { axis: if y.axis == 5 then 2 else 1 }", 6),
        ("", "Softmax(x) { axis: 1 + len(x.shape[5..]) }", 6),
        ("", "Softmax(x) { axis: max([1, x.rank - 5]) }", 7),
        ("where x.shape != [1, 1, 1, 1, 1, 1]", "x", 6),
        ("where all(d < 5 for d in range(x.rank))", "x", 6),
        ("where all(d != 5 for d in range(x.rank))", "x", 6),
        // Extents are symbols.
        ("", "Softmax(x) { axis: if x.shape[0] >= 100 then 2 else 1 }", 1),
        ("where len(x.shape) == 2 * x.rank - 4 + 4", "x", 0),
    ] {
        let (found, _) = reached("", conditions, target);
        assert!(found >= rank && found <= 1 + 2 * rank, "{conditions} {target}: {found}");
    }
    assert!(reached("", "where x.rank // 2 >= 3", "x").0 >= 6);
    assert!(reached("[i: 2..]", "where len(x) < 5", "x").1 >= 6);
    assert!(reached("[i: 6..]", "", "x").1 >= 7);
}
