//! Tiles of contractions in registers: `C[i][j] += p(i, k) * q(k, j)` with a block of rows and vectors of `C` in registers while `k` runs.
//!
//! Sums keep their order: each element of `C` is added to for `k` ascending, as in the text. What does not move with `j` is computed once for each `i`
//! and `k` of the tile and left in the place of its operand in local memory, so that the innermost loop has nothing but loads and multiply-adds.

use loops::{Access, Assign, BinaryOp, Expr, Loop, LoopKind, Name, ReduceOp, Scalar, Stmt};

use super::cost;
use super::expr::{Binding, Scope, print};
use super::vector::{Stride, stride};

/// Rows and vectors of the block in registers.
const ROWS: usize = 4;
const VECTORS: usize = 4;
/// Slots of the memory pipeline for a vector at any address.
const UNALIGNED: f64 = 2.0;

/// A nest of three loops that is a contraction.
pub(super) struct Contraction<'a> {
    /// The loop that adds up.
    sum: &'a Loop,
    /// The loop over rows.
    rows: &'a Loop,
    /// The loop along memory.
    columns: &'a Loop,
    /// The statement.
    assign: &'a Assign,
    /// The factor that does not move with the columns.
    left: &'a Expr,
    /// The factor that moves with them, and not with the rows.
    right: &'a Access,
    /// Type of all elements.
    elem: Scalar,
}

/// Recognises a contraction: sum outermost, then rows, then columns, all bounds free of each other.
pub(super) fn find<'a>(scope: &Scope, l: &'a Loop) -> Option<Contraction<'a>> {
    let ([Stmt::Loop(rows)], LoopKind::Sequential) = (l.body.as_slice(), l.kind) else { return None };
    let ([Stmt::Loop(columns)], LoopKind::Sequential) = (rows.body.as_slice(), rows.kind) else {
        return None;
    };
    let ([Stmt::Assign(assign)], LoopKind::Vector) = (columns.body.as_slice(), columns.kind) else {
        return None;
    };
    if l.step != 1 || rows.step != 1 || columns.step != 1 {
        return None;
    }
    let bounds = [&rows.lower, &rows.upper, &columns.lower, &columns.upper];
    let depends = |e: &Expr, var: &Name| e.vars().contains(var);
    if bounds.iter().any(|b| depends(b, &l.var) || depends(b, &rows.var)) {
        return None;
    }
    let update = assign.update?;
    let fixed = assign.target.indices.iter().all(|e| !depends(e, &l.var));
    let moves = assign.target.indices.iter().any(|e| depends(e, &rows.var));
    if update.op != ReduceOp::Add
        || !fixed
        || !moves
        || stride(&assign.target, &columns.var) != Stride::Follows
    {
        return None;
    }
    let Expr::Binary(BinaryOp::Mul, left, right) = &assign.value else { return None };
    let still = |e: &Expr| !depends(e, &columns.var);
    let follows = |e: &'a Expr| match e {
        Expr::Load(a)
            if stride(a, &columns.var) == Stride::Follows
                && a.indices.iter().all(|e| !depends(e, &rows.var)) =>
        {
            Some(a)
        }
        _ => None,
    };
    let (left, right) = match (follows(right), follows(left)) {
        (Some(access), _) if still(left) => (&**left, access),
        (_, Some(access)) if still(right) => (&**right, access),
        _ => return None,
    };
    let elem = |array: &Name| match scope.names.get(array) {
        Some(Binding::Linear { elem, .. }) => Some(*elem),
        _ => None,
    };
    let own = elem(&assign.target.array)?;
    let mut arrays = left.arrays();
    arrays.insert(right.array.clone());
    let scalars_too = arrays.iter().all(|a| elem(a).is_none_or(|e| e == own));
    let apart = !arrays.contains(&assign.target.array);
    (own.is_float() && scalars_too && apart).then_some(Contraction {
        sum: l,
        rows,
        columns,
        assign,
        left,
        right,
        elem: own,
    })
}

/// The code as lines (without indentation), if the left factor can be one element; `fresh` are the buffers that are filled anew for each tile.
pub(super) fn code(scope: &mut Scope, c: &Contraction, fresh: &[Name]) -> Option<Vec<String>> {
    let (k, i, j) = (&c.sum.var, &c.rows.var, &c.columns.var);
    let text = |scope: &Scope, e: &Expr| scope.text(e).ok();
    let mut lines = Vec::new();
    for l in [c.sum, c.rows, c.columns] {
        let (lower, upper) = (text(scope, &l.lower)?, text(scope, &l.upper)?);
        lines.push(format!("const long {0}_begin = {lower}, {0}_end = {upper};", l.var));
    }
    for l in [c.sum, c.rows, c.columns] {
        scope.names.insert(l.var.clone(), Binding::Value(l.var.to_string()));
    }
    // The left factor as one element of a buffer.
    let left = match c.left {
        Expr::Load(access) if !access.indices.is_empty() => access.clone(),
        other => {
            let mut loads: Vec<&Access> = Vec::new();
            other.walk(&mut |e| {
                if let Expr::Load(access) = e
                    && !access.indices.is_empty()
                {
                    loads.push(access);
                }
            });
            let [only] = loads.as_slice() else { return None };
            let covers = [k, i].iter().all(|var| only.indices.iter().any(|e| e.vars().contains(*var)));
            if !fresh.contains(&only.array) || only.indices.len() != 2 || !covers {
                return None;
            }
            // Once for each element, in its place.
            let cost = cost::expression(other);
            let (value, place) = (text(scope, other)?, print(&scope.access(only).ok()?));
            lines.push(format!("for (long {i} = {i}_begin; {i} < {i}_end; {i}++)"));
            lines.push(format!("  for (long {k} = {k}_begin; {k} < {k}_end; {k}++)"));
            lines.push(format!("    {place} = {value};"));
            let cycles = cost.arithmetic.max(cost.memory + 1.0) + cost::LOOP;
            let count = format!("LOZENGE_MAX(0, {i}_end - {i}_begin) * LOZENGE_MAX(0, {k}_end - {k}_begin)");
            lines.push(format!("emulated_compute({cycles} * {count}, {} * {count});", cost.operations));
            (*only).clone()
        }
    };
    let (row, rest) = (ROWS, 1);
    for rows in [row, rest] {
        let begin = if rows == row { format!("long {i} = {i}_begin; ") } else { String::new() };
        if rows == row {
            lines.push(format!("{{ {begin}"));
        }
        lines.push(format!("for (; {i} + {} < {i}_end; {i} += {rows}) {{", rows - 1));
        lines.push(format!("  long {j} = {j}_begin;"));
        for vectors in [VECTORS, 1] {
            lines.push(format!("  for (; {j} + {} < {j}_end; {j} += {}) {{", 4 * vectors - 1, 4 * vectors));
            lines
                .extend(block(scope, c, &left, rows, vectors)?.into_iter().map(|line| format!("    {line}")));
            lines.push("  }".to_owned());
        }
        // What is left of the columns, element by element.
        let target = print(&scope.access(&c.assign.target).ok()?);
        let (a, b) = (print(&scope.access(&left).ok()?), print(&scope.access(c.right).ok()?));
        lines.push(format!("  if ({j} < {j}_end)"));
        lines.push(format!("    emulated_compute({} * {rows} * ({j}_end - {j}) * LOZENGE_MAX(0, {k}_end - {k}_begin), 2 * {rows} * ({j}_end - {j}) * LOZENGE_MAX(0, {k}_end - {k}_begin));", cost::CHAIN + cost::LOOP));
        lines.push(format!("  for (; {j} < {j}_end; {j}++) {{"));
        lines.push(format!("    const long {i}_first = {i};"));
        lines.push(format!("    for (long {i} = {i}_first; {i} < {i}_first + {rows}; {i}++)"));
        lines.push(format!("      for (long {k} = {k}_begin; {k} < {k}_end; {k}++)"));
        lines.push(format!("        {target} += {a} * {b};"));
        lines.push("  }".to_owned());
        lines.push("}".to_owned());
    }
    lines.push("}".to_owned());
    Some(lines)
}

/// A block of `rows` rows and `vectors` vectors.
fn block(scope: &Scope, c: &Contraction, left: &Access, rows: usize, vectors: usize) -> Option<Vec<String>> {
    let (k, i, j) = (&c.sum.var, &c.rows.var, &c.columns.var);
    let vector = if c.elem == Scalar::F32 { "floatv4" } else { "doublev4" };
    let at = |access: &Access, row: usize, lane: usize| -> Option<String> {
        let moved = access.map_indices(&mut |e| {
            e.substitute(&|name| {
                if name == i && row > 0 {
                    Some(Expr::Var(i.clone()) + row as i64)
                } else if name == j && lane > 0 {
                    Some(Expr::Var(j.clone()) + lane as i64)
                } else {
                    None
                }
            })
        });
        Some(format!("&{}", print(&scope.access(&moved).ok()?)))
    };
    let mut lines = Vec::new();
    for r in 0..rows {
        for q in 0..vectors {
            lines.push(format!("{vector} c{r}{q};"));
            lines.push(format!("simd_loadu(c{r}{q}, {});", at(&c.assign.target, r, 4 * q)?));
        }
    }
    lines.push(format!("for (long {k} = {k}_begin; {k} < {k}_end; {k}++) {{"));
    for q in 0..vectors {
        lines.push(format!("  {vector} b{q};"));
        lines.push(format!("  simd_loadu(b{q}, {});", at(c.right, 0, 4 * q)?));
    }
    for r in 0..rows {
        lines.push(format!("  {vector} a{r};"));
        lines.push(format!("  simd_loade(a{r}, {});", at(left, r, 0)?));
        for q in 0..vectors {
            lines.push(format!("  c{r}{q} = simd_vmad(a{r}, b{q}, c{r}{q});"));
        }
    }
    lines.push("}".to_owned());
    for r in 0..rows {
        for q in 0..vectors {
            lines.push(format!("simd_storeu(c{r}{q}, {});", at(&c.assign.target, r, 4 * q)?));
        }
    }
    let adds = (rows * vectors) as f64;
    let memory = UNALIGNED * vectors as f64 + rows as f64;
    // A chain of additions for each vector of the block.
    let step = adds.max(memory).max(cost::CHAIN) + cost::LOOP;
    let around = 2.0 * UNALIGNED * adds;
    lines.push(format!(
        "emulated_compute({step} * LOZENGE_MAX(0, {k}_end - {k}_begin) + {around}, {} * LOZENGE_MAX(0, {k}_end - {k}_begin));",
        8.0 * adds
    ));
    Some(lines)
}
