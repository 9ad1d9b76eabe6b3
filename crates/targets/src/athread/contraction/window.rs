//! The code for some columns of a tile: blocks of rows and vectors, and what is left beside them.

use loops::{Access, Expr, Loop, Name};

use super::super::block::ROWS;
use super::super::cost;
use super::super::expr::{Scope, print};
use super::super::triangular::{self, alone, aside, groups, rest};
use super::super::vector;
use super::{BEYOND, Contraction, Factors, STRIP, added, at};
use crate::c::CExpr;

/// Some columns of a tile, from `{j}_from` to `{j}_to`.
pub(super) fn window(scope: &Scope, c: &Contraction, all: &[Factors]) -> Option<Vec<String>> {
    Window::of(scope, c, all)?.lines()
}

/// What the code of a window consists of.
struct Window<'a> {
    scope: &'a Scope,
    c: &'a Contraction<'a>,
    all: &'a [Factors],
    /// The element that is added to.
    target: String,
    /// Both factors of each product.
    given: Vec<(String, String)>,
    /// What is added.
    value: String,
    /// Which bounds depend on which other loop.
    sum_on_rows: bool,
    rows_on_sum: bool,
    columns_on_rows: bool,
    /// Whether columns that some rows of a block do not have may be computed: ends of columns that
    /// rise with the rows.
    over: bool,
    /// Cycles of a step of one element.
    scalar: f64,
    /// Vectors of a block, the most first.
    widths: Vec<usize>,
}

impl Window<'_> {
    fn of<'a>(scope: &'a Scope, c: &'a Contraction, all: &'a [Factors]) -> Option<Window<'a>> {
        let (k, j) = (&c.sum.var, &c.columns.var);
        let mut given = Vec::new();
        for f in all {
            let a = print(&scope.access(&f.left).ok()?);
            let b = match &f.strip {
                Some(strip) => format!("{strip}[({k} - {k}_begin) * {STRIP} + ({j} - {j}_from)]"),
                None => print(&scope.access(&f.right).ok()?),
            };
            given.push((a, b));
        }
        let strips = all.iter().any(|f| f.strip.is_some());
        let on = |l: &Loop, by: &Loop| l.lower.mentions(&by.var) || l.upper.mentions(&by.var);
        let columns_on_rows = on(c.columns, c.rows);
        Some(Window {
            scope,
            c,
            all,
            target: print(&scope.access(&c.assign.target).ok()?),
            given,
            value: added(scope, all)?,
            sum_on_rows: on(c.sum, c.rows),
            rows_on_sum: on(c.rows, c.sum),
            columns_on_rows,
            over: columns_on_rows && strips && !c.columns.lower.mentions(&c.rows.var),
            scalar: vector::scalar(c.columns).cycles().max(cost::CHAIN) + cost::LOOP,
            widths: c.kind.vectors().filter(|v| !strips || *v <= 2).collect(),
        })
    }

    /// Whether rows or steps of a block have bounds of their own.
    fn ragged(&self) -> bool {
        self.sum_on_rows || self.rows_on_sum || self.columns_on_rows
    }

    fn lines(&self) -> Option<Vec<String>> {
        let mut lines = self.distances()?;
        if !self.ragged() {
            lines.push(self.aligned());
        }
        let calls =
            self.widths.iter().map(|v| (*v, self.call(1, *v, true, "1"), self.call(1, *v, false, "1")));
        let row = triangular::Block { aligned: self.aligned(), calls: calls.collect(), scalar: self.scalar };
        for rows in ROWS {
            lines.extend(self.rows(rows, &row)?);
        }
        Some(lines)
    }

    /// The loops' variables, and how far apart rows and steps are.
    fn distances(&self) -> Option<Vec<String>> {
        let (k, i, j) = (&self.c.sum.var, &self.c.rows.var, &self.c.columns.var);
        let away = |access: &Access, var: &Name| -> Option<String> {
            let first = self.scope.offset(&access.array, &access.indices).ok()?;
            let moved = access.map_indices(&mut |e| {
                e.substitute(&|name| (name == var).then(|| Expr::Var(var.clone()) + 1))
            });
            let second = self.scope.offset(&moved.array, &moved.indices).ok()?;
            Some(print(&CExpr::binary("-", second, first)))
        };
        let mut lines = vec![
            format!("long {i} = {i}_begin, {k} = {k}_begin, {j} = {j}_from;"),
            format!("const long c_row = {};", away(&self.c.assign.target, i)?),
        ];
        for f in self.all {
            let b_row = if f.strip.is_some() { STRIP.to_string() } else { away(&f.right, k)? };
            let [row, step, b] = &f.away;
            lines.push(format!("const long {row} = {}, {step} = {};", away(&f.left, i)?, away(&f.left, k)?));
            lines.push(format!("const long {b} = {b_row};"));
        }
        Some(lines)
    }

    /// Whether a block's vectors are where aligned loads may be.
    fn aligned(&self) -> String {
        let target = &self.target;
        let addresses: String = self.given.iter().map(|(_, b)| format!(" | (unsigned long)&{b}")).collect();
        let rows: String =
            self.all.iter().map(|f| format!(" | (unsigned long)({} * sizeof {target})", f.away[2])).collect();
        format!(
            "const int aligned = ((unsigned long)&{target}{addresses} | (unsigned long)(c_row * sizeof {target}){rows}) % (4 * sizeof {target}) == 0;"
        )
    }

    /// A call of the function for a block of rows and vectors, which are aligned or not.
    fn call(&self, rows: usize, vectors: usize, aligned: bool, groups: &str) -> String {
        let operands = self.all.iter().zip(&self.given).map(|(f, (a, b))| {
            let [row, step, below] = &f.away;
            format!("&{a}, {row}, {step}, &{b}, {below}")
        });
        let operands = operands.collect::<Vec<_>>().join(", ");
        let (name, target, k) = (self.c.kind.name(rows, vectors, aligned), &self.target, &self.c.sum.var);
        format!("{name}(&{target}, c_row, {operands}, {k}_all, blocks, {groups});")
    }

    /// Groups of so many rows each.
    fn rows(&self, rows: usize, row: &triangular::Block) -> Option<Vec<String>> {
        let (k, i, j) = (&self.c.sum.var, &self.c.rows.var, &self.c.columns.var);
        let mut lines = Vec::new();
        // Where all rows have the same bounds, all their groups are one call.
        if self.ragged() {
            lines.push(format!("while ({i} + {} < {i}_end) {{", rows - 1));
            lines.push(format!("  const long groups = {};", groups(self.scope, self.c, rows)?));
        } else {
            lines.push(format!("if ({i} + {} < {i}_end) {{", rows - 1));
            lines.push(format!("  const long groups = ({i}_end - {i}) / {rows};"));
        }
        let last = format!("({i} + {rows} * groups - 1)");
        lines.extend(self.common_steps(&last)?);
        lines.extend(self.common_columns(&last)?);
        if self.ragged() {
            lines.extend(self.before(rows, row)?);
        }
        lines.push(format!("  const long {k}_all = LOZENGE_MAX(0, {k}_high - {k}_low);"));
        lines.push(format!("  {k} = {k}_low;"));
        lines.push(format!("  {j} = {j}_low;"));
        if self.ragged() {
            lines.push(format!("  {}", self.aligned()));
        }
        if self.over {
            lines.extend(self.saved(rows, &last)?);
        }
        lines.extend(self.blocks(rows));
        lines.extend(self.columns_left(rows));
        if self.over {
            lines.push("  if (over) {".to_owned());
            let restored = aside(self.scope, self.c, rows, false)?;
            lines.extend(restored.into_iter().map(|line| format!("    {line}")));
            lines.push("  }".to_owned());
        }
        if self.ragged() {
            lines.extend(self.after(rows, row)?);
        }
        lines.push(format!("  {i} += {rows} * groups;"));
        lines.push("}".to_owned());
        Some(lines)
    }

    /// Bounds of a loop that all rows of a block have in common, the last of which is `last`.
    fn common(&self, l: &Loop, last: &str) -> Option<(String, String)> {
        let i = &self.c.rows.var;
        let ends = |e: &Expr, pick: &str| -> Option<String> {
            let first = self.scope.text(e).ok()?;
            if !e.mentions(i) {
                Some(first)
            } else {
                Some(format!("{pick}({first}, {})", at(self.scope, e, i, last)?))
            }
        };
        Some((ends(&l.lower, "LOZENGE_MAX")?, ends(&l.upper, "LOZENGE_MIN")?))
    }

    /// The steps that all rows of a block have in common.
    fn common_steps(&self, last: &str) -> Option<Vec<String>> {
        let (c, k, i) = (self.c, &self.c.sum.var, &self.c.rows.var);
        let mut lines = Vec::new();
        let (lower, upper) = if self.sum_on_rows {
            self.common(c.sum, last)?
        } else {
            (format!("{k}_begin"), format!("{k}_end"))
        };
        lines.push(format!("  long {k}_low = {lower}, {k}_high = {upper};"));
        if self.rows_on_sum {
            let inside = |value: &str| -> Option<String> {
                let first = at(self.scope, &c.rows.lower, k, value)?;
                let end = at(self.scope, &c.rows.upper, k, value)?;
                Some(format!("({first} <= {i} && {last} < {end})"))
            };
            // Mostly all steps; else the first run of steps that have all these rows.
            let (begin, end) = (inside(&format!("{k}_low"))?, inside(&format!("({k}_high - 1)"))?);
            lines.push(format!("  if (!({begin} && {end})) {{"));
            lines.push(format!("    while ({k}_low < {k}_high && !{begin})"));
            lines.push(format!("      {k}_low++;"));
            lines.push(format!("    long {k}_next = {k}_low;"));
            lines.push(format!("    while ({k}_next < {k}_high && {})", inside(&format!("{k}_next"))?));
            lines.push(format!("      {k}_next++;"));
            lines.push(format!("    {k}_high = {k}_next;"));
            lines.push(format!("    emulated_compute(4 * LOZENGE_MAX(0, {k}_end - {k}_begin), 0);"));
            lines.push("  }".to_owned());
        }
        Some(lines)
    }

    /// The columns that all rows of a block have in common.
    fn common_columns(&self, last: &str) -> Option<Vec<String>> {
        let j = &self.c.columns.var;
        let (low, high) = if self.columns_on_rows {
            let (lower, upper) = self.common(self.c.columns, last)?;
            (format!("LOZENGE_MAX({j}_from, {lower})"), format!("LOZENGE_MIN({j}_to, {upper})"))
        } else {
            (format!("{j}_from"), format!("{j}_to"))
        };
        let often = if self.over { "" } else { "const " };
        Some(vec![
            format!("  const long {j}_low = {low};"),
            format!("  {often}long {j}_high = LOZENGE_MAX({j}_low, {high});"),
        ])
    }

    /// The steps before those that all rows have in common.
    fn before(&self, rows: usize, row: &triangular::Block) -> Option<Vec<String>> {
        let k = &self.c.sum.var;
        let mut lines = vec![
            format!("  {k}_low = LOZENGE_MAX({k}_begin, LOZENGE_MIN({k}_low, {k}_end));"),
            format!("  {k}_high = LOZENGE_MAX({k}_low, LOZENGE_MIN({k}_high, {k}_end));"),
        ];
        let steps = [&*format!("{k}_begin"), &format!("{k}_low")];
        let before = alone(self.scope, self.c, self.all, steps, &format!("{rows} * groups"), row)?;
        lines.push(format!("  if ({k}_begin < {k}_low) {{"));
        lines.extend(before.into_iter().map(|line| format!("    {line}")));
        lines.push("  }".to_owned());
        Some(lines)
    }

    /// Saves the columns that some rows do not have: the block goes up to the end of the longest
    /// row, if that is not far beyond the shortest.
    fn saved(&self, rows: usize, last: &str) -> Option<Vec<String>> {
        let (k, i, j) = (&self.c.sum.var, &self.c.rows.var, &self.c.columns.var);
        let most = at(self.scope, &self.c.columns.upper, i, last)?;
        let mut lines = vec![
            format!(
                "  const long {j}_most = LOZENGE_MAX({j}_high, LOZENGE_MIN({j}_to, {most})), {j}_shortest = {j}_high;"
            ),
            format!("  const long {j}_whole = {j}_low + ({j}_most - {j}_low + 3) / 4 * 4;"),
            format!(
                "  const int over = aligned && groups == 1 && {k}_all > 0 && {j}_whole > {j}_high && {j}_whole - {j}_high <= {BEYOND};"
            ),
            "  if (over) {".to_owned(),
        ];
        lines.extend(aside(self.scope, self.c, rows, true)?.into_iter().map(|line| format!("    {line}")));
        lines.push(format!("    {j}_high = {j}_whole;"));
        lines.push("  }".to_owned());
        Some(lines)
    }

    /// The calls for blocks, the widest first.
    fn blocks(&self, rows: usize) -> Vec<String> {
        let j = &self.c.columns.var;
        let mut lines = Vec::new();
        for vectors in &self.widths {
            lines.push(format!("  if ({j} + {} < {j}_high) {{", 4 * vectors - 1));
            lines.push(format!("    const long blocks = ({j}_high - {j}) / {};", 4 * vectors));
            lines.push("    if (aligned)".to_owned());
            lines.push(format!("      {}", self.call(rows, *vectors, true, "groups")));
            lines.push("    else".to_owned());
            lines.push(format!("      {}", self.call(rows, *vectors, false, "groups")));
            lines.push(format!("    {j} += {} * blocks;", 4 * vectors));
            lines.push("  }".to_owned());
        }
        lines
    }

    /// What is left of the columns, element by element.
    fn columns_left(&self, rows: usize) -> Vec<String> {
        let (k, i, j) = (&self.c.sum.var, &self.c.rows.var, &self.c.columns.var);
        let (scalar, operations) = (self.scalar, 2 * self.all.len());
        vec![
            format!("  if ({j} < {j}_high)"),
            format!(
                "    emulated_compute({scalar} * {rows} * groups * ({j}_high - {j}) * {k}_all, {operations} * {rows} * groups * ({j}_high - {j}) * {k}_all);"
            ),
            format!("  for (; {j} < {j}_high; {j}++) {{"),
            format!("    const long {i}_first = {i};"),
            format!("    for (long {i} = {i}_first; {i} < {i}_first + {rows} * groups; {i}++)"),
            format!("      for (long {k} = {k}_low; {k} < {k}_high; {k}++)"),
            format!("        {} += {};", self.target, self.value),
            "  }".to_owned(),
        ]
    }

    /// The columns beside those that all rows have in common, and the steps after.
    fn after(&self, rows: usize, row: &triangular::Block) -> Option<Vec<String>> {
        let (c, k, j) = (self.c, &self.c.sum.var, &self.c.columns.var);
        let count = format!("{rows} * groups");
        let mut lines = Vec::new();
        let steps = [&*format!("{k}_low"), &format!("{k}_high")];
        let beside = rest(self.scope, c, self.all, steps, &count)?;
        if self.columns_on_rows {
            lines.push(if self.over {
                format!("  if (!over && {j}_most > {j}_high) {{")
            } else {
                "  {".to_owned()
            });
            lines.extend(beside.into_iter().map(|line| format!("    {line}")));
            lines.push("  }".to_owned());
        }
        let steps = [&*format!("{k}_high"), &format!("{k}_end")];
        let after = alone(self.scope, c, self.all, steps, &count, row)?;
        lines.push(format!("  if ({k}_high < {k}_end) {{"));
        lines.extend(after.into_iter().map(|line| format!("    {line}")));
        lines.push("  }".to_owned());
        Some(lines)
    }
}
