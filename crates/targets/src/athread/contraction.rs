//! Tiles of contractions in registers: `C[i][j] += p(i, k) * q(k, j)` with a block of rows and vectors of `C` in registers while `k` runs.
//!
//! Sums keep their order: each element of `C` is added to for `k` ascending, as in the text. What does not move with `j` is computed once for each `i`
//! and `k` of the tile and left in the place of its operand in local memory, so that the innermost loop has nothing but loads and multiply-adds; likewise
//! what does not move with `i`. An operand that lies across `j` is laid along it, a strip of eight columns at a time. Where bounds depend on other loops, as in
//! triangles, a block takes what all its rows have in common, and the rest goes element by element, before and after it as the order of the sum wants.

use loops::{Access, Assign, BinaryOp, Expr, Loop, LoopKind, Name, ReduceOp, Scalar, Stmt};

use super::block::{self, ROWS, VECTORS};
use super::cost;
use super::expr::{Binding, Scope, print};
use super::vector::{self, Stride, stride};
use crate::c::CExpr;

/// Columns of a strip of an operand that is laid along them.
const STRIP: i64 = 8;

/// A nest of three loops that is a contraction.
pub(super) struct Contraction<'a> {
    /// The loop that adds up.
    sum: &'a Loop,
    /// The loop over rows.
    rows: &'a Loop,
    /// Whether the loop over rows is around the sum.
    rows_first: bool,
    /// The loop along memory.
    columns: &'a Loop,
    /// The statement.
    assign: &'a Assign,
    /// The factor that does not move with the columns.
    left: &'a Expr,
    /// The factor that moves with them, and not with the rows: one element, or made of one.
    right: (&'a Access, &'a Expr),
    /// Whether it lies along memory as the columns do; else its rows are the columns.
    pub along: bool,
    /// Type of all elements.
    pub elem: Scalar,
}

fn depends(e: &Expr, var: &Name) -> bool {
    e.vars().contains(var)
}

/// The only array element in an expression.
fn only_load(e: &Expr) -> Option<&Access> {
    let mut loads: Vec<&Access> = Vec::new();
    e.walk(&mut |e| {
        if let Expr::Load(access) = e
            && !access.indices.is_empty()
        {
            loads.push(access);
        }
    });
    match loads.as_slice() {
        [only] => Some(only),
        _ => None,
    }
}

/// Recognises a contraction: the sum and the rows in either order, then the columns.
pub(super) fn find<'a>(scope: &Scope, l: &'a Loop) -> Option<Contraction<'a>> {
    let ([Stmt::Loop(second)], LoopKind::Sequential) = (l.body.as_slice(), l.kind) else { return None };
    let ([Stmt::Loop(columns)], LoopKind::Sequential) = (second.body.as_slice(), second.kind) else {
        return None;
    };
    let ([Stmt::Assign(assign)], LoopKind::Vector) = (columns.body.as_slice(), columns.kind) else {
        return None;
    };
    let moves = |l: &Loop| assign.target.indices.iter().any(|e| depends(e, &l.var));
    let (sum, rows, rows_first) = match (moves(l), moves(second)) {
        (false, true) => (l, second, false),
        (true, false) => (second, l, true),
        _ => return None,
    };
    if l.step != 1 || second.step != 1 || columns.step != 1 {
        return None;
    }
    if [&columns.lower, &columns.upper].into_iter().any(|b| depends(b, &sum.var)) {
        return None;
    }
    // Bounds that depend on another loop are looked at in its first and last iteration.
    let bounds = [&l.lower, &l.upper, &second.lower, &second.upper, &columns.lower, &columns.upper];
    if !bounds.into_iter().all(monotone) {
        return None;
    }
    let update = assign.update?;
    if update.op != ReduceOp::Add || stride(&assign.target, &columns.var) != Stride::Follows {
        return None;
    }
    let Expr::Binary(BinaryOp::Mul, first, other) = &assign.value else { return None };
    let still = |e: &Expr| !depends_on_elements(e, &columns.var);
    let (left, right) = match (still(first), still(other)) {
        (true, false) => (&**first, &**other),
        (false, true) => (&**other, &**first),
        _ => return None,
    };
    let element = only_load(right)?;
    if element.indices.iter().any(|e| depends(e, &rows.var)) {
        return None;
    }
    let along = stride(element, &columns.var) == Stride::Follows;
    if !along && !across(element, &columns.var, &sum.var) {
        return None;
    }
    let elem = |array: &Name| match scope.names.get(array) {
        Some(Binding::Linear { elem, .. }) => Some(*elem),
        _ => None,
    };
    let own = elem(&assign.target.array)?;
    let mut arrays = left.arrays();
    arrays.extend(right.arrays());
    let scalars_too = arrays.iter().all(|a| elem(a).is_none_or(|e| e == own));
    let apart = !arrays.contains(&assign.target.array);
    (own.is_float() && scalars_too && apart).then_some(Contraction {
        sum,
        rows,
        rows_first,
        columns,
        assign,
        left,
        right: (element, right),
        along,
        elem: own,
    })
}

fn depends_on_elements(e: &Expr, var: &Name) -> bool {
    let mut found = false;
    e.walk(&mut |e| {
        if let Expr::Load(access) = e {
            found |= access.indices.iter().any(|i| depends(i, var));
        }
    });
    found || depends(e, var)
}

/// Whether an access has the columns as its rows, and the sum along memory.
fn across(access: &Access, columns: &Name, sum: &Name) -> bool {
    let [row, column] = access.indices.as_slice() else { return false };
    depends(row, columns)
        && !depends(row, sum)
        && !depends(column, columns)
        && stride(access, sum) == Stride::Follows
}

/// Whether an expression never falls as its variables rise: then its ends over a range are its extremes.
fn monotone(e: &Expr) -> bool {
    match e {
        Expr::Int(_) | Expr::Var(_) => true,
        Expr::Binary(BinaryOp::Add | BinaryOp::Min | BinaryOp::Max, a, b) => monotone(a) && monotone(b),
        Expr::Binary(BinaryOp::Sub, a, b) => monotone(a) && matches!(**b, Expr::Int(_)),
        Expr::Binary(BinaryOp::Mul, a, b) => match (&**a, &**b) {
            (Expr::Int(n), e) | (e, Expr::Int(n)) => *n >= 0 && monotone(e),
            _ => false,
        },
        _ => false,
    }
}

/// The left factor, if it is computed from one element that may be replaced by it: that element, and the factor.
pub(super) fn factor<'a>(c: &Contraction<'a>, fresh: &[Name]) -> Option<(&'a Access, &'a Expr)> {
    let (k, i) = (&c.sum.var, &c.rows.var);
    let only = only_load(c.left)?;
    let covers = [k, i].iter().all(|var| only.indices.iter().any(|e| e.vars().contains(*var)));
    let plain = matches!(c.left, Expr::Load(_));
    (!plain && fresh.contains(&only.array) && only.indices.len() == 2 && covers).then_some((only, c.left))
}

/// Text of bounds with a variable at some value.
fn at(scope: &Scope, e: &Expr, var: &Name, value: &str) -> Option<String> {
    let mut scope = scope.clone();
    scope.names.insert(var.clone(), Binding::Value(value.to_owned()));
    scope.text(e).ok()
}

/// The code as lines (without indentation), if both factors can be elements; `fresh` are the buffers that are filled anew for each tile, `room` is the offset in
/// local memory of bytes that are free, and their number.
pub(super) fn code(
    scope: &mut Scope,
    c: &Contraction,
    fresh: &[Name],
    scaled_before: &[Name],
    room: (i64, i64),
) -> Option<Vec<String>> {
    let (k, i, j) = (&c.sum.var, &c.rows.var, &c.columns.var);
    let mut lines = Vec::new();
    // All that the tile has of each loop: with bounds that depend on another at both of its ends.
    let (outer, inner) = if c.rows_first { (c.rows, c.sum) } else { (c.sum, c.rows) };
    let (lower, upper) = (scope.text(&outer.lower).ok()?, scope.text(&outer.upper).ok()?);
    lines.push(format!("const long {0}_begin = {lower}, {0}_end = {upper};", outer.var));
    let ends = |scope: &Scope, l: &Loop, by: &Name| -> Option<String> {
        let (first, last) = (format!("{by}_begin"), format!("({by}_end - 1)"));
        let both = |e: &Expr, pick: &str| -> Option<String> {
            if !depends(e, by) {
                return at(scope, e, by, &first);
            }
            Some(format!("{pick}({}, {})", at(scope, e, by, &first)?, at(scope, e, by, &last)?))
        };
        let (lower, upper) = (both(&l.lower, "LOZENGE_MIN")?, both(&l.upper, "LOZENGE_MAX")?);
        Some(format!("const long {0}_begin = {lower}, {0}_end = {upper};", l.var))
    };
    lines.push(ends(scope, inner, &outer.var)?);
    lines.push(ends(scope, c.columns, i)?);
    for l in [c.sum, c.rows, c.columns] {
        scope.names.insert(l.var.clone(), Binding::Value(l.var.to_string()));
    }
    // The left factor as one element of a buffer, and the right one.
    let left = match c.left {
        Expr::Load(access) if !access.indices.is_empty() => access.clone(),
        other => {
            let (only, _) = factor(c, fresh)?;
            // Once for each element, in its place.
            if !scaled_before.contains(&only.array) {
                lines.extend(scaled(scope, only, other, [i, k])?);
            }
            only.clone()
        }
    };
    let right = match c.right.1 {
        Expr::Load(_) => c.right.0.clone(),
        other => {
            let covers = [k, j].iter().all(|var| c.right.0.indices.iter().any(|e| depends(e, var)));
            if !fresh.contains(&c.right.0.array)
                || c.right.0.indices.len() != 2
                || !covers
                || left.array == c.right.0.array
            {
                return None;
            }
            lines.extend(scaled(scope, c.right.0, other, [k, j])?);
            c.right.0.clone()
        }
    };
    if c.along {
        lines.push("{".to_owned());
        lines.push(format!("const long {j}_from = {j}_begin, {j}_to = {j}_end;"));
        lines.extend(window(scope, c, &left, &right, false)?);
        lines.push("}".to_owned());
        return Some(lines);
    }
    // A strip at a time.
    let size = c.elem.bytes() as i64;
    let steps = room.1 / (STRIP * size);
    let ty = super::expr::c_type(c.elem);
    lines.push(format!("{ty} *const strip = ({ty} *)(lozenge_ldm + {});", room.0));
    let element = print(&scope.access(&right).ok()?);
    lines.push(format!("if ({k}_end - {k}_begin <= {steps})"));
    lines.push(format!("for (long {j}_from = {j}_begin; {j}_from < {j}_end; {j}_from += {STRIP}) {{"));
    lines.push(format!("  const long {j}_to = LOZENGE_MIN({j}_end, {j}_from + {STRIP});"));
    lines.push(format!("  for (long {j} = {j}_from; {j} < {j}_to; {j}++)"));
    lines.push(format!("    for (long {k} = {k}_begin; {k} < {k}_end; {k}++)"));
    lines.push(format!("      strip[({k} - {k}_begin) * {STRIP} + ({j} - {j}_from)] = {element};"));
    lines.push(format!(
        "  emulated_compute(({} * LOZENGE_MAX(0, {k}_end - {k}_begin) + {}) * ({j}_to - {j}_from), 0);",
        2.0 + cost::LOOP,
        cost::LOOP
    ));
    lines.extend(window(scope, c, &left, &right, true)?.into_iter().map(|line| format!("  {line}")));
    lines.push("}".to_owned());
    lines.push("else".to_owned());
    lines.push(format!("  for (long {i} = {i}_begin; {i} < {i}_end; {i}++) {{"));
    lines.push(format!("    const long {j}_from = {j}_begin, {j}_to = {j}_end;"));
    lines.extend(
        rest(scope, c, &left, &right, [&format!("{k}_begin"), &format!("{k}_end")], "1", false)?
            .into_iter()
            .map(|line| format!("    {line}")),
    );
    lines.push("  }".to_owned());
    Some(lines)
}

/// Some columns of a tile, from `{j}_from` to `{j}_to`.
fn window(scope: &Scope, c: &Contraction, left: &Access, right: &Access, strip: bool) -> Option<Vec<String>> {
    let (k, i, j) = (&c.sum.var, &c.rows.var, &c.columns.var);
    // How far apart rows and steps are.
    let away = |access: &Access, var: &Name| -> Option<String> {
        let first = scope.offset(&access.array, &access.indices).ok()?;
        let moved = access
            .map_indices(&mut |e| e.substitute(&|name| (name == var).then(|| Expr::Var(var.clone()) + 1)));
        let second = scope.offset(&moved.array, &moved.indices).ok()?;
        Some(print(&CExpr::binary("-", second, first)))
    };
    let target = &c.assign.target;
    let mut lines = Vec::new();
    lines.push(format!("long {i} = {i}_begin, {k} = {k}_begin, {j} = {j}_from;"));
    let b_row = if strip { STRIP.to_string() } else { away(right, k)? };
    lines.push(format!("const long c_row = {}, b_row = {b_row};", away(target, i)?));
    lines.push(format!("const long a_row = {}, a_step = {};", away(left, i)?, away(left, k)?));
    let element = print(&scope.access(right).ok()?);
    let (target, a) = (print(&scope.access(target).ok()?), print(&scope.access(left).ok()?));
    let b = if strip {
        format!("strip[({k} - {k}_begin) * {STRIP} + ({j} - {j}_from)]")
    } else {
        element.clone()
    };
    let on = |l: &Loop, by: &Loop| depends(&l.lower, &by.var) || depends(&l.upper, &by.var);
    let (sum_on_rows, rows_on_sum, columns_on_rows) =
        (on(c.sum, c.rows), on(c.rows, c.sum), on(c.columns, c.rows));
    let ragged = sum_on_rows || rows_on_sum || columns_on_rows;
    if !ragged {
        lines.push(aligned(&target, &b));
    }
    for rows in ROWS {
        let last = format!("({i} + {})", rows - 1);
        // Where all rows have the same bounds, all their groups are one call.
        if ragged {
            lines.push(format!("for (; {i} + {} < {i}_end; {i} += {rows}) {{", rows - 1));
            lines.push("  const long groups = 1;".to_owned());
        } else {
            lines.push(format!("if ({i} + {} < {i}_end) {{", rows - 1));
            lines.push(format!("  const long groups = ({i}_end - {i}) / {rows};"));
        }
        // What all rows of the block have in common.
        let common = |l: &Loop| -> Option<(String, String)> {
            let ends = |e: &Expr, pick: &str| -> Option<String> {
                let first = scope.text(e).ok()?;
                if !depends(e, i) {
                    Some(first)
                } else {
                    Some(format!("{pick}({first}, {})", at(scope, e, i, &last)?))
                }
            };
            Some((ends(&l.lower, "LOZENGE_MAX")?, ends(&l.upper, "LOZENGE_MIN")?))
        };
        let (lower, upper) =
            if sum_on_rows { common(c.sum)? } else { (format!("{k}_begin"), format!("{k}_end")) };
        lines.push(format!("  long {k}_low = {lower}, {k}_high = {upper};"));
        if rows_on_sum {
            let inside = |value: &str| -> Option<String> {
                let (first, end) = (at(scope, &c.rows.lower, k, value)?, at(scope, &c.rows.upper, k, value)?);
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
        let (lower, upper) =
            if columns_on_rows { common(c.columns)? } else { (format!("{j}_from"), format!("{j}_to")) };
        lines.push(format!("  const long {j}_low = LOZENGE_MAX({j}_from, {lower});"));
        lines.push(format!("  const long {j}_high = LOZENGE_MAX({j}_low, LOZENGE_MIN({j}_to, {upper}));"));
        if ragged {
            lines.push(format!("  {k}_low = LOZENGE_MIN({k}_low, {k}_end);"));
            lines.push(format!("  {k}_high = LOZENGE_MAX({k}_low, {k}_high);"));
            let before = rest(
                scope,
                c,
                left,
                right,
                [&format!("{k}_begin"), &format!("{k}_low")],
                &rows.to_string(),
                false,
            )?;
            lines.push(format!("  if ({k}_begin < {k}_low) {{"));
            lines.extend(before.into_iter().map(|line| format!("    {line}")));
            lines.push("  }".to_owned());
        }
        lines.push(format!("  const long {k}_all = LOZENGE_MAX(0, {k}_high - {k}_low);"));
        lines.push(format!("  {k} = {k}_low;"));
        lines.push(format!("  {j} = {j}_low;"));
        if ragged {
            lines.push(format!("  {}", aligned(&target, &b)));
        }
        for vectors in VECTORS.into_iter().filter(|v| !strip || *v <= 2) {
            lines.push(format!("  if ({j} + {} < {j}_high) {{", 4 * vectors - 1));
            lines.push(format!("    const long blocks = ({j}_high - {j}) / {};", 4 * vectors));
            let arguments =
                format!("(&{target}, c_row, &{a}, a_row, a_step, &{b}, b_row, {k}_all, blocks, groups);");
            lines.push("    if (aligned)".to_owned());
            lines.push(format!("      {}{arguments}", block::name(c.elem, rows, vectors, true)));
            lines.push("    else".to_owned());
            lines.push(format!("      {}{arguments}", block::name(c.elem, rows, vectors, false)));
            lines.push(format!("    {j} += {} * blocks;", 4 * vectors));
            lines.push("  }".to_owned());
        }
        // What is left of the columns, element by element.
        lines.push(format!("  if ({j} < {j}_high)"));
        lines.push(format!(
            "    emulated_compute({} * {rows} * groups * ({j}_high - {j}) * {k}_all, 2 * {rows} * groups * ({j}_high - {j}) * {k}_all);",
            cost::CHAIN + cost::LOOP
        ));
        lines.push(format!("  for (; {j} < {j}_high; {j}++) {{"));
        lines.push(format!("    const long {i}_first = {i};"));
        lines.push(format!("    for (long {i} = {i}_first; {i} < {i}_first + {rows} * groups; {i}++)"));
        lines.push(format!("      for (long {k} = {k}_low; {k} < {k}_high; {k}++)"));
        lines.push(format!("        {target} += {a} * {element};"));
        lines.push("  }".to_owned());
        if ragged {
            let beside = rest(
                scope,
                c,
                left,
                right,
                [&format!("{k}_low"), &format!("{k}_high")],
                &rows.to_string(),
                true,
            )?;
            if columns_on_rows {
                lines.push("  {".to_owned());
                lines.extend(beside.into_iter().map(|line| format!("    {line}")));
                lines.push("  }".to_owned());
            }
            let after = rest(
                scope,
                c,
                left,
                right,
                [&format!("{k}_high"), &format!("{k}_end")],
                &rows.to_string(),
                false,
            )?;
            lines.push(format!("  if ({k}_high < {k}_end) {{"));
            lines.extend(after.into_iter().map(|line| format!("    {line}")));
            lines.push("  }".to_owned());
        }
        if !ragged {
            lines.push(format!("  {i} += {rows} * groups;"));
        }
        lines.push("}".to_owned());
    }
    Some(lines)
}

/// Whether a block's vectors are where aligned loads may be.
fn aligned(target: &str, b: &str) -> String {
    format!(
        "const int aligned = ((unsigned long)&{target} | (unsigned long)&{b} | (unsigned long)(c_row * sizeof {target}) | (unsigned long)(b_row * sizeof {target})) % (4 * sizeof {target}) == 0;"
    )
}

/// Element by element: some rows from the current one on, for a range of steps, in all columns of the window or in those beside the block.
fn rest(
    scope: &Scope,
    c: &Contraction,
    left: &Access,
    right: &Access,
    steps: [&str; 2],
    rows: &str,
    beside: bool,
) -> Option<Vec<String>> {
    let (k, i, j) = (&c.sum.var, &c.rows.var, &c.columns.var);
    let text = |e: &Expr| scope.text(e).ok();
    let (target, a, b) = (
        print(&scope.access(&c.assign.target).ok()?),
        print(&scope.access(left).ok()?),
        print(&scope.access(right).ok()?),
    );
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
        lines.push(format!("        {target} += {a} * {b};"));
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
        2
    ));
    lines.push("}".to_owned());
    Some(lines)
}

/// The left factor once for each of its elements, in their place.
fn scaled(scope: &Scope, place: &Access, value: &Expr, vars: [&Name; 2]) -> Option<Vec<String>> {
    let inner = vars.into_iter().find(|var| stride(place, var) == Stride::Follows)?;
    let outer = if inner == vars[0] { vars[1] } else { vars[0] };
    let assign = Assign { label: None, target: place.clone(), update: None, value: value.clone() };
    let single = Loop {
        var: inner.clone(),
        lower: Expr::Int(0),
        upper: Expr::Int(0),
        step: 1,
        kind: LoopKind::Vector,
        reductions: Vec::new(),
        body: vec![Stmt::Assign(assign)],
    };
    let scalar = vector::scalar(&single);
    let (element, result) = (print(&scope.access(place).ok()?), scope.text(value).ok()?);
    let mut lines = vec![format!("for (long {outer} = {outer}_begin; {outer} < {outer}_end; {outer}++) {{")];
    lines.push(format!("  long {inner} = {inner}_begin;"));
    let count = format!("LOZENGE_MAX(0, {inner}_end - {inner}_begin)");
    let mut cycles = format!("{} * {count}", scalar.cycles() + cost::LOOP);
    if let Ok(Some((body, vector))) = vector::body(scope, &single) {
        lines.push(format!("  for (; {inner} + 3 < {inner}_end; {inner} += 4) {{"));
        lines.extend(body.into_iter().map(|line| format!("    {line}")));
        lines.push("  }".to_owned());
        cycles = format!(
            "{} * ({count} / 4) + {} * ({count} % 4)",
            vector.cycles() + cost::LOOP,
            scalar.cycles() + cost::LOOP
        );
    }
    lines.push(format!("  for (; {inner} < {inner}_end; {inner}++)"));
    lines.push(format!("    {element} = {result};"));
    lines.push(format!("  emulated_compute({cycles} + {}, {} * {count});", cost::LOOP, scalar.operations));
    lines.push("}".to_owned());
    Some(lines)
}
