//! Register tiles of contractions: `C[i][j] += p(i, k) * q(k, j)`, with a block of rows and vectors
//! of `C` in registers while `k` runs. What is added may be a sum of several such products.
//!
//! Sums keep their order: each element of `C` is updated for `k` ascending, as in the text.
//!
//! What does not depend on `j` is computed once for each `i` and `k` of the tile, and stored in
//! place of its operand in local memory. So the innermost loop has only loads and multiply-adds.
//! The same is done for what does not depend on `i`. An operand that is strided along `j` is
//! transposed: a strip of eight columns and as many steps as fit, at a time.
//!
//! Bounds may depend on other loops, as in triangles. Then a block computes the range that all its
//! rows have in common. The rest is computed element by element, before and after the block, in the
//! order of the sum. Columns that some rows of a block do not have are saved before and restored
//! after, if vectors are placed so that these columns are within the tile.

use loops::{Access, Assign, BinaryOp, Expr, Loop, LoopKind, Name, ReduceOp, Scalar, Stmt};

use super::block::{Kind, PRODUCTS, ROWS};
use super::cost;
use super::expr::{Binding, Scope, print};
use super::operand::{scaled, turn};
use super::ragged::{self, alone, aside, groups, rest};
use super::vector::{self, Stride, stride};
use crate::c::CExpr;

/// Columns of a strip of an operand that is laid along them.
pub(super) const STRIP: i64 = 8;
/// Columns that a block may have beyond the ends of its rows.
pub(super) const BEYOND: i64 = 8;
/// Bytes of local memory that are reserved for strips if something else might take all.
pub(super) const LEAST: i64 = 5 << 10;
/// Fewest steps of a strip that are worth it.
const FEWEST: i64 = 4;

/// A nest of three loops that is a contraction.
pub(super) struct Contraction<'a> {
    /// The loop that adds up.
    pub(super) sum: &'a Loop,
    /// The loop over rows.
    pub(super) rows: &'a Loop,
    /// Whether the loop over rows is around the sum.
    rows_first: bool,
    /// The loop along memory.
    pub(super) columns: &'a Loop,
    /// The statement.
    pub(super) assign: &'a Assign,
    /// What is added, in this order.
    pub(super) products: Vec<Product<'a>>,
    /// The functions for it.
    pub kind: Kind,
}

/// A product.
pub(super) struct Product<'a> {
    /// The factor that does not move with the columns.
    pub(super) left: &'a Expr,
    /// The factor that moves with them, and not with the rows: one element, or made of one.
    pub(super) right: (&'a Access, &'a Expr),
    /// Whether it is contiguous along the columns; otherwise its rows are the columns.
    pub(super) along: bool,
}

/// What a product is made of in the code of a tile.
pub(super) struct Factors {
    /// The left factor: an element that has been replaced by it, if it is made of one.
    pub(super) left: Access,
    /// The right factor: likewise.
    pub(super) right: Access,
    /// Its value.
    pub(super) value: Expr,
    /// The strip into which it is transposed, if it is strided.
    pub(super) strip: Option<String>,
    /// Names of the distances between rows of the left factor, its steps, and rows of the right
    /// one.
    pub(super) away: [String; 3],
}

impl Contraction<'_> {
    /// Right factors that are strided.
    pub fn turned(&self) -> usize {
        self.products.iter().filter(|p| !p.along).count()
    }
}

pub(super) fn depends(e: &Expr, var: &Name) -> bool {
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
    let elem = |array: &Name| match scope.names.get(array) {
        Some(Binding::Linear { elem, .. }) => Some(*elem),
        _ => None,
    };
    find_with(&elem, l)
}

/// As [`find`], with the types of the elements of buffers.
pub(super) fn find_with<'a>(elem: &dyn Fn(&Name) -> Option<Scalar>, l: &'a Loop) -> Option<Contraction<'a>> {
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
    // Bounds that depend on another loop are evaluated in its first and last iteration.
    let bounds = [&l.lower, &l.upper, &second.lower, &second.upper, &columns.lower, &columns.upper];
    if !bounds.into_iter().all(monotone) {
        return None;
    }
    let update = assign.update?;
    if update.op != ReduceOp::Add || stride(&assign.target, &columns.var) != Stride::Follows {
        return None;
    }
    let mut values = Vec::new();
    if !summands(&assign.value, &mut values) || values.len() > PRODUCTS {
        return None;
    }
    let products = values
        .into_iter()
        .map(|value| product(value, &sum.var, &rows.var, &columns.var))
        .collect::<Option<Vec<_>>>()?;
    let own = elem(&assign.target.array)?;
    let arrays = assign.value.arrays();
    let scalars_too = arrays.iter().all(|a| elem(a).is_none_or(|e| e == own));
    let apart = !arrays.contains(&assign.target.array);
    let kind = Kind { elem: own, products: products.len() };
    (own.is_float() && scalars_too && apart).then_some(Contraction {
        sum,
        rows,
        rows_first,
        columns,
        assign,
        products,
        kind,
    })
}

/// The products of a sum, in the order in which they are added; whether it is such a sum.
fn summands<'a>(e: &'a Expr, found: &mut Vec<&'a Expr>) -> bool {
    let product = |e: &Expr| matches!(e, Expr::Binary(BinaryOp::Mul, ..));
    match e {
        Expr::Binary(BinaryOp::Mul, ..) => {
            found.push(e);
            true
        }
        // An addition is the same in either order.
        Expr::Binary(BinaryOp::Add, a, b) => {
            let (first, last) = if product(b) { (a, b) } else { (b, a) };
            product(last) && summands(first, found) && summands(last, found)
        }
        _ => false,
    }
}

fn product<'a>(e: &'a Expr, sum: &Name, rows: &Name, columns: &Name) -> Option<Product<'a>> {
    let Expr::Binary(BinaryOp::Mul, first, other) = e else { return None };
    let still = |e: &Expr| !depends_on_elements(e, columns);
    let (left, right) = match (still(first), still(other)) {
        (true, false) => (&**first, &**other),
        (false, true) => (&**other, &**first),
        _ => return None,
    };
    let element = only_load(right)?;
    if right.vars().contains(rows) {
        return None;
    }
    let along = stride(element, columns) == Stride::Follows;
    (along || across(element, columns, sum)).then_some(Product { left, right: (element, right), along })
}

pub(super) fn has_elements(e: &Expr) -> bool {
    let mut found = false;
    e.walk(&mut |e| found |= matches!(e, Expr::Load(access) if !access.indices.is_empty()));
    found
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

/// Whether an expression never falls as its variables rise: then its ends over a range are its
/// extremes.
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

/// Left factors that are computed from one element that may be replaced by them: that element, and
/// the factor.
pub(super) fn factors<'a>(c: &Contraction<'a>, fresh: &[Name]) -> Vec<(&'a Access, &'a Expr)> {
    c.products.iter().filter_map(|p| factor(c, p, fresh)).collect()
}

fn factor<'a>(c: &Contraction<'a>, p: &Product<'a>, fresh: &[Name]) -> Option<(&'a Access, &'a Expr)> {
    let (k, i) = (&c.sum.var, &c.rows.var);
    let only = only_load(p.left)?;
    let covers = [k, i].iter().all(|var| only.indices.iter().any(|e| e.vars().contains(*var)));
    let plain = matches!(p.left, Expr::Load(_));
    let replaced = fresh.contains(&only.array) && uses(c, &only.array) == 1;
    (!plain && replaced && only.indices.len() == 2 && covers).then_some((only, p.left))
}

/// How often an array is an operand.
fn uses(c: &Contraction, array: &Name) -> usize {
    let mut uses = 0;
    c.assign.value.walk(&mut |e| uses += usize::from(matches!(e, Expr::Load(a) if a.array == *array)));
    uses
}

/// Text of bounds with a variable at some value.
pub(super) fn at(scope: &Scope, e: &Expr, var: &Name, value: &str) -> Option<String> {
    let mut scope = scope.clone();
    scope.names.insert(var.clone(), Binding::Value(value.to_owned()));
    scope.text(e).ok()
}

/// The code as lines (without indentation), if both factors can be elements; `fresh` are the
/// buffers that are filled anew for each tile, `room` is the offset in local memory of bytes that
/// are free, and their number.
pub(super) fn code(
    scope: &mut Scope,
    c: &Contraction,
    fresh: &[Name],
    scaled_before: &[Name],
    room: (i64, i64),
) -> Option<Vec<String>> {
    let (k, i, j) = (&c.sum.var, &c.rows.var, &c.columns.var);
    let mut lines = Vec::new();
    // The whole range of each loop in the tile. Bounds that depend on another loop are taken at
    // both of its ends.
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
    // The left factors as elements of buffers, and the right ones.
    let mut all: Vec<Factors> = Vec::new();
    for (n, p) in c.products.iter().enumerate() {
        let left = match p.left {
            Expr::Load(access) if !access.indices.is_empty() => access.clone(),
            other => {
                let (only, _) = factor(c, p, fresh)?;
                // Once for each element, in its place.
                if !scaled_before.contains(&only.array) {
                    lines.extend(scaled(scope, only, other, [i, k])?);
                }
                only.clone()
            }
        };
        let (right, value) = p.right;
        let plain = matches!(value, Expr::Load(_));
        if p.along && !plain {
            let covers = [k, j].iter().all(|var| right.indices.iter().any(|e| depends(e, var)));
            let replaced = fresh.contains(&right.array) && uses(c, &right.array) == 1;
            if !replaced || right.indices.len() != 2 || !covers {
                return None;
            }
            lines.extend(scaled(scope, right, value, [k, j])?);
        }
        let number = if c.products.len() == 1 { String::new() } else { n.to_string() };
        all.push(Factors {
            left,
            right: right.clone(),
            value: if p.along { Expr::Load(right.clone()) } else { value.clone() },
            strip: (!p.along).then(|| format!("strip{number}")),
            away: [format!("a{number}_row"), format!("a{number}_step"), format!("b{number}_row")],
        });
    }
    let turned = c.turned() as i64;
    if turned == 0 {
        lines.push("{".to_owned());
        lines.push(format!("const long {j}_from = {j}_begin, {j}_to = {j}_end;"));
        lines.extend(window(scope, c, &all)?);
        lines.push("}".to_owned());
        return Some(lines);
    }
    // A strip at a time.
    let size = c.kind.elem.bytes() as i64;
    let steps = (room.1 - 4 * BEYOND * size) / (STRIP * size * turned);
    if steps < FEWEST {
        return None;
    }
    let ty = super::expr::c_type(c.kind.elem);
    let beyond = 4 * BEYOND * size;
    lines.push(format!("{ty} *const beyond = ({ty} *)(lozenge_ldm + {});", room.0));
    for (n, strip) in all.iter().filter_map(|f| f.strip.as_ref()).enumerate() {
        let at = room.0 + beyond + n as i64 * steps * STRIP * size;
        lines.push(format!("{ty} *const {strip} = ({ty} *)(lozenge_ldm + {at});"));
    }
    lines.push(format!("for (long {k}_from = {k}_begin; {k}_from < {k}_end; {k}_from += {steps}) {{"));
    lines.push(format!("const long {k}_to = LOZENGE_MIN({k}_end, {k}_from + {steps});"));
    lines.push(format!("for (long {j}_from = {j}_begin; {j}_from < {j}_end; {j}_from += {STRIP}) {{"));
    lines.push(format!("  const long {j}_to = LOZENGE_MIN({j}_end, {j}_from + {STRIP});"));
    lines.push(format!("  const long {k}_begin = {k}_from, {k}_end = {k}_to;"));
    for (p, factors) in c.products.iter().zip(&all) {
        if let Some(strip) = &factors.strip {
            lines.extend(turn(scope, c, strip, p.right)?.into_iter().map(|line| format!("  {line}")));
        }
    }
    lines.extend(window(scope, c, &all)?.into_iter().map(|line| format!("  {line}")));
    lines.push("}".to_owned());
    lines.push("}".to_owned());
    Some(lines)
}

/// Some columns of a tile, from `{j}_from` to `{j}_to`.
fn window(scope: &Scope, c: &Contraction, all: &[Factors]) -> Option<Vec<String>> {
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
    lines.push(format!("const long c_row = {};", away(target, i)?));
    for f in all {
        let b_row = if f.strip.is_some() { STRIP.to_string() } else { away(&f.right, k)? };
        let [row, step, b] = &f.away;
        lines.push(format!("const long {row} = {}, {step} = {};", away(&f.left, i)?, away(&f.left, k)?));
        lines.push(format!("const long {b} = {b_row};"));
    }
    let value = added(scope, all)?;
    let target = print(&scope.access(target).ok()?);
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
    let rights: Vec<&str> = given.iter().map(|(_, b)| b.as_str()).collect();
    let on = |l: &Loop, by: &Loop| depends(&l.lower, &by.var) || depends(&l.upper, &by.var);
    let (sum_on_rows, rows_on_sum, columns_on_rows) =
        (on(c.sum, c.rows), on(c.rows, c.sum), on(c.columns, c.rows));
    let ragged = sum_on_rows || rows_on_sum || columns_on_rows;
    if !ragged {
        lines.push(aligned(&target, &rights, all));
    }
    // Ends of columns that rise with the rows.
    let over = columns_on_rows && strips && !depends(&c.columns.lower, i);
    let scalar = vector::scalar(c.columns).cycles().max(cost::CHAIN) + cost::LOOP;
    let operations = 2 * all.len();
    // Calls of the functions for a block: by rows and vectors, for vectors that are aligned or not.
    let call = |rows: usize, vectors: usize, aligned: bool, groups: &str| {
        let operands = all.iter().zip(&given).map(|(f, (a, b))| {
            let [row, step, below] = &f.away;
            format!("&{a}, {row}, {step}, &{b}, {below}")
        });
        let operands = operands.collect::<Vec<_>>().join(", ");
        let name = c.kind.name(rows, vectors, aligned);
        format!("{name}(&{target}, c_row, {operands}, {k}_all, blocks, {groups});")
    };
    let widths: Vec<usize> = c.kind.vectors().filter(|v| !strips || *v <= 2).collect();
    let row = ragged::Block {
        aligned: aligned(&target, &rights, all),
        calls: widths.iter().map(|v| (*v, call(1, *v, true, "1"), call(1, *v, false, "1"))).collect(),
        scalar,
    };
    for rows in ROWS {
        let last = format!("({i} + {rows} * groups - 1)");
        // Where all rows have the same bounds, all their groups are one call.
        if ragged {
            lines.push(format!("while ({i} + {} < {i}_end) {{", rows - 1));
            lines.push(format!("  const long groups = {};", groups(scope, c, rows)?));
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
        let (low, high) = if columns_on_rows {
            let (lower, upper) = common(c.columns)?;
            (format!("LOZENGE_MAX({j}_from, {lower})"), format!("LOZENGE_MIN({j}_to, {upper})"))
        } else {
            (format!("{j}_from"), format!("{j}_to"))
        };
        lines.push(format!("  const long {j}_low = {low};"));
        let often = if over { "" } else { "const " };
        lines.push(format!("  {often}long {j}_high = LOZENGE_MAX({j}_low, {high});"));
        if ragged {
            lines.push(format!("  {k}_low = LOZENGE_MAX({k}_begin, LOZENGE_MIN({k}_low, {k}_end));"));
            lines.push(format!("  {k}_high = LOZENGE_MAX({k}_low, LOZENGE_MIN({k}_high, {k}_end));"));
            let steps = [&*format!("{k}_begin"), &format!("{k}_low")];
            let before = alone(scope, c, all, steps, &format!("{rows} * groups"), &row)?;
            lines.push(format!("  if ({k}_begin < {k}_low) {{"));
            lines.extend(before.into_iter().map(|line| format!("    {line}")));
            lines.push("  }".to_owned());
        }
        lines.push(format!("  const long {k}_all = LOZENGE_MAX(0, {k}_high - {k}_low);"));
        lines.push(format!("  {k} = {k}_low;"));
        lines.push(format!("  {j} = {j}_low;"));
        if ragged {
            lines.push(format!("  {}", aligned(&target, &rights, all)));
        }
        if over {
            // Up to the end of the longest row, if that is not far beyond the shortest.
            let most = at(scope, &c.columns.upper, i, &last)?;
            lines.push(format!(
                "  const long {j}_most = LOZENGE_MAX({j}_high, LOZENGE_MIN({j}_to, {most})), {j}_shortest = {j}_high;"
            ));
            lines.push(format!("  const long {j}_whole = {j}_low + ({j}_most - {j}_low + 3) / 4 * 4;"));
            lines.push(format!(
                "  const int over = aligned && groups == 1 && {k}_all > 0 && {j}_whole > {j}_high && {j}_whole - {j}_high <= {BEYOND};"
            ));
            lines.push("  if (over) {".to_owned());
            lines.extend(aside(scope, c, rows, true)?.into_iter().map(|line| format!("    {line}")));
            lines.push(format!("    {j}_high = {j}_whole;"));
            lines.push("  }".to_owned());
        }
        for vectors in &widths {
            lines.push(format!("  if ({j} + {} < {j}_high) {{", 4 * vectors - 1));
            lines.push(format!("    const long blocks = ({j}_high - {j}) / {};", 4 * vectors));
            lines.push("    if (aligned)".to_owned());
            lines.push(format!("      {}", call(rows, *vectors, true, "groups")));
            lines.push("    else".to_owned());
            lines.push(format!("      {}", call(rows, *vectors, false, "groups")));
            lines.push(format!("    {j} += {} * blocks;", 4 * vectors));
            lines.push("  }".to_owned());
        }
        // What is left of the columns, element by element.
        lines.push(format!("  if ({j} < {j}_high)"));
        lines.push(format!(
            "    emulated_compute({scalar} * {rows} * groups * ({j}_high - {j}) * {k}_all, {operations} * {rows} * groups * ({j}_high - {j}) * {k}_all);"
        ));
        lines.push(format!("  for (; {j} < {j}_high; {j}++) {{"));
        lines.push(format!("    const long {i}_first = {i};"));
        lines.push(format!("    for (long {i} = {i}_first; {i} < {i}_first + {rows} * groups; {i}++)"));
        lines.push(format!("      for (long {k} = {k}_low; {k} < {k}_high; {k}++)"));
        lines.push(format!("        {target} += {value};"));
        lines.push("  }".to_owned());
        if over {
            lines.push("  if (over) {".to_owned());
            lines.extend(aside(scope, c, rows, false)?.into_iter().map(|line| format!("    {line}")));
            lines.push("  }".to_owned());
        }
        if ragged {
            let steps = [&*format!("{k}_low"), &format!("{k}_high")];
            let beside = rest(scope, c, all, steps, &format!("{rows} * groups"))?;
            if columns_on_rows {
                lines.push(if over {
                    format!("  if (!over && {j}_most > {j}_high) {{")
                } else {
                    "  {".to_owned()
                });
                lines.extend(beside.into_iter().map(|line| format!("    {line}")));
                lines.push("  }".to_owned());
            }
            let steps = [&*format!("{k}_high"), &format!("{k}_end")];
            let after = alone(scope, c, all, steps, &format!("{rows} * groups"), &row)?;
            lines.push(format!("  if ({k}_high < {k}_end) {{"));
            lines.extend(after.into_iter().map(|line| format!("    {line}")));
            lines.push("  }".to_owned());
        }
        lines.push(format!("  {i} += {rows} * groups;"));
        lines.push("}".to_owned());
    }
    Some(lines)
}

/// What is added, as an expression.
pub(super) fn added(scope: &Scope, all: &[Factors]) -> Option<String> {
    let one = |f: &Factors| -> Option<String> {
        scope.text(&Expr::binary(BinaryOp::Mul, Expr::Load(f.left.clone()), f.value.clone())).ok()
    };
    Some(all.iter().map(one).collect::<Option<Vec<_>>>()?.join(" + "))
}

/// Whether a block's vectors are where aligned loads may be.
fn aligned(target: &str, rights: &[&str], all: &[Factors]) -> String {
    let addresses: String = rights.iter().map(|b| format!(" | (unsigned long)&{b}")).collect();
    let rows: String =
        all.iter().map(|f| format!(" | (unsigned long)({} * sizeof {target})", f.away[2])).collect();
    format!(
        "const int aligned = ((unsigned long)&{target}{addresses} | (unsigned long)(c_row * sizeof {target}){rows}) % (4 * sizeof {target}) == 0;"
    )
}
