//! Contractions whose bounds depend on each other, as in triangles: rows that can share one call,
//! columns beyond the end of a row, and what is computed element by element.

use loops::Expr;

use super::contraction::{BEYOND, Contraction, Factors, added, at};
use super::cost;
use super::expr::{Scope, print};
use super::vector;

/// Groups of rows, from the current row on, that may be one call: all, if they have the same bounds
/// within the window; else one.
pub(super) fn groups(scope: &Scope, c: &Contraction, rows: usize) -> Option<String> {
    let (k, i) = (&c.sum.var, &c.rows.var);
    let last = format!("({i} + ({i}_end - {i}) / {rows} * {rows} - 1)");
    let mut same = Vec::new();
    for (l, from, to) in [(c.sum, "begin", "end"), (c.columns, "from", "to")] {
        for e in [&l.lower, &l.upper].into_iter().filter(|e| e.mentions(i)) {
            let within =
                |text: String| format!("LOZENGE_MAX({0}_{from}, LOZENGE_MIN({0}_{to}, {text}))", l.var);
            same.push(format!("{} == {}", within(scope.text(e).ok()?), within(at(scope, e, i, &last)?)));
        }
    }
    if [&c.rows.lower, &c.rows.upper].into_iter().any(|e| e.mentions(k)) {
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

/// The steps of a row, if the bounds of the sum and of the rows depend on each other. Bounds rise
/// with what they depend on, so these steps are consecutive.
fn condition(scope: &Scope, c: &Contraction) -> Option<String> {
    let (k, i) = (&c.sum.var, &c.rows.var);
    let text = |e: &Expr| scope.text(e).ok();
    let mut conditions = Vec::new();
    for l in [c.sum, c.rows] {
        let other = if l.var == *k { i } else { k };
        if l.lower.mentions(other) || l.upper.mentions(other) {
            conditions.push(format!("{} <= {} && {} < {}", text(&l.lower)?, l.var, l.var, text(&l.upper)?));
        }
    }
    Some(if conditions.is_empty() { "1".to_owned() } else { conditions.join(" && ") })
}

/// The columns of the current row within the window.
fn own_columns(scope: &Scope, c: &Contraction) -> Option<String> {
    let (j, text) = (&c.columns.var, |e: &Expr| scope.text(e).ok());
    let (lower, upper) = (text(&c.columns.lower)?, text(&c.columns.upper)?);
    Some(format!(
        "const long {j}_own = LOZENGE_MAX({j}_from, {lower}), {j}_last = LOZENGE_MIN({j}_to, {upper});"
    ))
}

/// Row by row: the steps of a range that each of some rows from the current one on has, in all
/// columns of the window: by the functions for blocks of one row.
pub(super) fn alone(
    scope: &Scope,
    c: &Contraction,
    all: &[Factors],
    [from, to]: [&str; 2],
    rows: &str,
    block: &Block,
) -> Option<Vec<String>> {
    let (k, i, j) = (&c.sum.var, &c.rows.var, &c.columns.var);
    let (target, value) = (print(&scope.access(&c.assign.target).ok()?), added(scope, all)?);
    let condition = condition(scope, c)?;
    let mut lines = vec![
        format!("const long {i}_first = {i};"),
        format!("for (long {i} = {i}_first; {i} < {i}_first + {rows}; {i}++) {{"),
        format!("  {}", own_columns(scope, c)?),
        format!("  long {k}_own = {from};"),
        format!("  for (long {k} = {from}; {k} < {to} && !({condition}); {k}++)"),
        format!("    {k}_own = {k} + 1;"),
        format!("  long {k}_last = {k}_own;"),
        format!("  for (long {k} = {k}_own; {k} < {to} && {condition}; {k}++)"),
        format!("    {k}_last = {k} + 1;"),
        format!("  const long {k}_all = {k}_last - {k}_own;"),
        format!(
            "  emulated_compute({} * LOZENGE_MAX(0, {to} - {from}) + {}, 0);",
            2.0 * cost::LOOP,
            2.0 * cost::LOOP
        ),
        format!("  if ({k}_all > 0) {{"),
        format!("    long {k} = {k}_own, {j} = {j}_own;"),
        format!("    {}", block.aligned),
    ];
    for (vectors, aligned, anywhere) in &block.calls {
        lines.push(format!("    if ({j} + {} < {j}_last) {{", 4 * vectors - 1));
        lines.push(format!("      const long blocks = ({j}_last - {j}) / {};", 4 * vectors));
        lines.push("      if (aligned)".to_owned());
        lines.push(format!("        {aligned}"));
        lines.push("      else".to_owned());
        lines.push(format!("        {anywhere}"));
        lines.push(format!("      {j} += {} * blocks;", 4 * vectors));
        lines.push("    }".to_owned());
    }
    lines.push(format!("    if ({j} < {j}_last)"));
    lines.push(format!(
        "      emulated_compute({0} * ({j}_last - {j}) * {k}_all, {1} * ({j}_last - {j}) * {k}_all);",
        block.scalar,
        2 * all.len()
    ));
    lines.push(format!("    for (; {j} < {j}_last; {j}++)"));
    lines.push(format!("      for ({k} = {k}_own; {k} < {k}_last; {k}++)"));
    lines.push(format!("        {target} += {value};"));
    lines.push("  }".to_owned());
    lines.push("}".to_owned());
    Some(lines)
}

/// What [`alone`] makes of a row.
pub(super) struct Block {
    /// Whether vectors are where aligned loads may be.
    pub aligned: String,
    /// For numbers of vectors, the widest first: a call with vectors that are aligned, and with
    /// others.
    pub calls: Vec<(usize, String, String)>,
    /// Cycles of an element.
    pub scalar: f64,
}

/// Element by element: some rows from the current one on, for a range of steps, in the columns
/// beside the block.
pub(super) fn rest(
    scope: &Scope,
    c: &Contraction,
    all: &[Factors],
    steps: [&str; 2],
    rows: &str,
) -> Option<Vec<String>> {
    let (k, i, j) = (&c.sum.var, &c.rows.var, &c.columns.var);
    let (target, value) = (print(&scope.access(&c.assign.target).ok()?), added(scope, all)?);
    let condition = condition(scope, c)?;
    let scalar = vector::scalar(c.columns);
    let mut lines = vec![
        format!("const long {i}_first = {i};"),
        format!("for (long {i} = {i}_first; {i} < {i}_first + {rows}; {i}++) {{"),
        format!("  {}", own_columns(scope, c)?),
        "  long done = 0;".to_owned(),
        format!("  for (long {k} = {}; {k} < {}; {k}++)", steps[0], steps[1]),
        format!("    if ({condition}) {{"),
    ];
    let ranges = [
        (format!("{j}_own"), format!("LOZENGE_MIN({j}_last, {j}_low)")),
        (format!("LOZENGE_MAX({j}_own, {j}_high)"), format!("{j}_last")),
    ];
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
