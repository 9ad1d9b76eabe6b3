//! Contractions whose bounds depend on each other, as in triangles: rows that may be one call, columns beyond the end of a row, and what goes element by element.

use loops::Expr;

use super::contraction::{BEYOND, Contraction, Factors, added, at, depends};
use super::cost;
use super::expr::{Scope, print};
use super::vector;

/// Groups of rows, from the current row on, that may be one call: all, if they have the same bounds within the window; else one.
pub(super) fn groups(scope: &Scope, c: &Contraction, rows: usize) -> Option<String> {
    let (k, i) = (&c.sum.var, &c.rows.var);
    let last = format!("({i} + ({i}_end - {i}) / {rows} * {rows} - 1)");
    let mut same = Vec::new();
    for (l, from, to) in [(c.sum, "begin", "end"), (c.columns, "from", "to")] {
        for e in [&l.lower, &l.upper].into_iter().filter(|e| depends(e, i)) {
            let within =
                |text: String| format!("LOZENGE_MAX({0}_{from}, LOZENGE_MIN({0}_{to}, {text}))", l.var);
            same.push(format!("{} == {}", within(scope.text(e).ok()?), within(at(scope, e, i, &last)?)));
        }
    }
    if [&c.rows.lower, &c.rows.upper].into_iter().any(|e| depends(e, k)) {
        for value in [format!("{k}_begin"), format!("({k}_end - 1)")] {
            same.push(format!("{} <= {i}", at(scope, &c.rows.lower, k, &value)?));
            same.push(format!("{last} < {}", at(scope, &c.rows.upper, k, &value)?));
        }
    }
    Some(format!("{} ? ({i}_end - {i}) / {rows} : 1", same.join(" && ")))
}

/// Puts aside what a block's rows have beyond their ends, or puts it back.
pub(super) fn aside(scope: &Scope, c: &Contraction, rows: usize, away: bool) -> Option<Vec<String>> {
    let (i, j) = (&c.rows.var, &c.columns.var);
    let target = print(&scope.access(&c.assign.target).ok()?);
    let place = format!("beyond[({i} - {i}_first) * {BEYOND} + ({j} - {j}_shortest)]");
    let (to, from) = if away { (&place, &target) } else { (&target, &place) };
    let upper = scope.text(&c.columns.upper).ok()?;
    Some(vec![
        format!("const long {i}_first = {i};"),
        format!("for (long {i} = {i}_first; {i} < {i}_first + {rows}; {i}++)"),
        format!("  for (long {j} = LOZENGE_MAX({j}_shortest, {upper}); {j} < {j}_whole; {j}++)"),
        format!("    {to} = {from};"),
        format!(
            "emulated_compute({} * ({j}_whole - {j}_shortest) + {}, 0);",
            (2.0 + cost::LOOP) * rows as f64,
            2.0 * cost::LOOP * rows as f64
        ),
    ])
}

/// Element by element: some rows from the current one on, for a range of steps, in all columns of the window or in those beside the block.
pub(super) fn rest(
    scope: &Scope,
    c: &Contraction,
    all: &[Factors],
    steps: [&str; 2],
    rows: &str,
    beside: bool,
) -> Option<Vec<String>> {
    let (k, i, j) = (&c.sum.var, &c.rows.var, &c.columns.var);
    let text = |e: &Expr| scope.text(e).ok();
    let (target, value) = (print(&scope.access(&c.assign.target).ok()?), added(scope, all)?);
    let mut conditions = Vec::new();
    for l in [c.sum, c.rows] {
        let other = if l.var == *k { i } else { k };
        if depends(&l.lower, other) || depends(&l.upper, other) {
            conditions.push(format!("{} <= {} && {} < {}", text(&l.lower)?, l.var, l.var, text(&l.upper)?));
        }
    }
    let condition = if conditions.is_empty() { "1".to_owned() } else { conditions.join(" && ") };
    let scalar = vector::scalar(c.columns);
    let mut lines = vec![
        format!("const long {i}_first = {i};"),
        format!("for (long {i} = {i}_first; {i} < {i}_first + {rows}; {i}++) {{"),
        format!(
            "  const long {j}_own = LOZENGE_MAX({j}_from, {}), {j}_last = LOZENGE_MIN({j}_to, {});",
            text(&c.columns.lower)?,
            text(&c.columns.upper)?
        ),
        "  long done = 0;".to_owned(),
        format!("  for (long {k} = {}; {k} < {}; {k}++)", steps[0], steps[1]),
        format!("    if ({condition}) {{"),
    ];
    let ranges = if beside {
        vec![
            (format!("{j}_own"), format!("LOZENGE_MIN({j}_last, {j}_low)")),
            (format!("LOZENGE_MAX({j}_own, {j}_high)"), format!("{j}_last")),
        ]
    } else {
        vec![(format!("{j}_own"), format!("{j}_last"))]
    };
    for (from, to) in ranges {
        lines.push(format!("      for (long {j} = {from}; {j} < {to}; {j}++) {{"));
        lines.push(format!("        {target} += {value};"));
        lines.push("        done++;".to_owned());
        lines.push("      }".to_owned());
    }
    lines.push("    }".to_owned());
    lines.push(format!(
        "  emulated_compute({} * done + {} * LOZENGE_MAX(0, {} - {}), {} * done);",
        scalar.cycles().max(4.0) + cost::LOOP,
        2.0 * cost::LOOP,
        steps[1],
        steps[0],
        2 * all.len()
    ));
    lines.push("}".to_owned());
    Some(lines)
}
