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

mod window;

use loops::{Access, Assign, BinaryOp, Expr, Loop, LoopKind, Name, ReduceOp, Scalar, Stmt};

use self::window::window;
use super::block::{Kind, PRODUCTS};
use super::expr::{Binding, Scope};
use super::operand::{scaled, turn};
use super::vector::{Stride, stride};

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

/// The only array element in an expression.
fn only_load(e: &Expr) -> Option<&Access> {
    let mut loads = e.loads().filter(|access| !access.indices.is_empty());
    loads.next().filter(|_| loads.next().is_none())
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
    let moves = |l: &Loop| assign.target.indices.iter().any(|e| e.mentions(&l.var));
    let (sum, rows, rows_first) = match (moves(l), moves(second)) {
        (false, true) => (l, second, false),
        (true, false) => (second, l, true),
        _ => return None,
    };
    if l.step != 1 || second.step != 1 || columns.step != 1 {
        return None;
    }
    if [&columns.lower, &columns.upper].into_iter().any(|b| b.mentions(&sum.var)) {
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
    if right.mentions(rows) {
        return None;
    }
    let along = stride(element, columns) == Stride::Follows;
    (along || across(element, columns, sum)).then_some(Product { left, right: (element, right), along })
}

pub(super) fn has_elements(e: &Expr) -> bool {
    e.loads().any(|access| !access.indices.is_empty())
}

fn depends_on_elements(e: &Expr, var: &Name) -> bool {
    let found = e.loads().any(|access| access.indices.iter().any(|i| i.mentions(var)));
    found || e.mentions(var)
}

/// Whether an access has the columns as its rows, and the sum along memory.
fn across(access: &Access, columns: &Name, sum: &Name) -> bool {
    let [row, column] = access.indices.as_slice() else { return false };
    row.mentions(columns)
        && !row.mentions(sum)
        && !column.mentions(columns)
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
    let covers = [k, i].iter().all(|var| only.indices.iter().any(|e| e.mentions(var)));
    let plain = matches!(p.left, Expr::Load(_));
    let replaced = fresh.contains(&only.array) && uses(c, &only.array) == 1;
    (!plain && replaced && only.indices.len() == 2 && covers).then_some((only, p.left))
}

/// How often an array is an operand.
fn uses(c: &Contraction, array: &Name) -> usize {
    c.assign.value.loads().filter(|a| a.array == *array).count()
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
            if !e.mentions(by) {
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
            let covers = [k, j].iter().all(|var| right.indices.iter().any(|e| e.mentions(var)));
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

/// What is added, as an expression.
pub(super) fn added(scope: &Scope, all: &[Factors]) -> Option<String> {
    let one = |f: &Factors| -> Option<String> {
        scope.text(&Expr::binary(BinaryOp::Mul, Expr::Load(f.left.clone()), f.value.clone())).ok()
    };
    Some(all.iter().map(one).collect::<Option<Vec<_>>>()?.join(" + "))
}
