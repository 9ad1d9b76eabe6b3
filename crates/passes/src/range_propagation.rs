//! What values of data can be: conditions and clamps on them that are decided go.
//!
//! `d = i64(bitand(x, 255))` is from 0 to 255, so `d >= 0 && d < 256` holds and `min(max(d, 0),
//! 255)` is `d`. Ranges are those of local integers that one assignment sets, behind which they are
//! read; of operations that cannot wrap around, and of the types of data. Left out: variables that
//! loops change, floating-point numbers, and what sizes bound ([`loops::indices`] has indices).

use loops::visit::{assigns, check_depth, locals, with_distinct_locals};
use loops::{Access, BinaryOp, CompareOp, Elem, Expr, Function, Name, Scalar, Stmt, UnaryOp};
use std::collections::{BTreeMap, BTreeSet};

use crate::pass::{Pass, Step, changed};

/// The pass.
pub const PASS: Pass = Pass {
    step: Step {
        name: "range-propagation",
        literature: "value range propagation (Patterson 1995)",
        about: "conditions and clamps that the ranges of local integers decide are left out",
    },
    run: |function| changed(function, decided(function)),
};

/// The function without what ranges decide. A function that is nested too deeply comes back as it
/// is.
fn decided(function: &Function) -> Function {
    if check_depth(function).is_err() {
        return function.clone();
    }
    let distinct = with_distinct_locals(function);
    let mut ranges =
        Ranges { types: types(&distinct), set_once: set_once(&distinct), known: BTreeMap::new() };
    match ranges.block(&distinct.body) {
        body if body == distinct.body => function.clone(),
        body => Function { body, ..distinct },
    }
}

/// The types of numbers, and of elements.
fn types(function: &Function) -> BTreeMap<Name, Scalar> {
    let scalar = |name: &Name, elem: &Elem| match elem {
        Elem::Scalar(ty) => Some((name.clone(), *ty)),
        _ => None,
    };
    let params = function.params.iter().filter_map(|p| scalar(&p.name, &p.elem));
    params.chain(locals(&function.body).filter_map(|l| scalar(&l.name, &l.elem))).collect()
}

/// The local numbers with one plain assignment in all.
fn set_once(function: &Function) -> BTreeSet<Name> {
    let mut sets: BTreeMap<&Name, usize> = BTreeMap::new();
    for a in assigns(&function.body) {
        *sets.entry(&a.target.array).or_default() += if a.update.is_some() { 2 } else { 1 };
    }
    let reduced: BTreeSet<&Name> = loops::visit::nodes(&function.body)
        .flat_map(|stmt| match stmt {
            Stmt::Loop(l) => l.reductions.iter().map(|(_, name)| name).collect(),
            _ => Vec::new(),
        })
        .collect();
    let once = |name: &Name| sets.get(name) == Some(&1) && !reduced.contains(name);
    let number = locals(&function.body).filter(|l| l.dims.is_empty());
    number.filter(|l| once(&l.name)).map(|l| l.name.clone()).collect()
}

/// Least and greatest value.
type Range = (i64, i64);

struct Ranges {
    types: BTreeMap<Name, Scalar>,
    set_once: BTreeSet<Name>,
    /// Ranges of numbers that are set once: they hold wherever the numbers have values.
    known: BTreeMap<Name, Range>,
}

impl Ranges {
    fn block(&mut self, stmts: &[Stmt]) -> Vec<Stmt> {
        let mut out = Vec::with_capacity(stmts.len());
        for stmt in stmts {
            match stmt {
                Stmt::If { cond, then, otherwise } => match self.expr(cond) {
                    Expr::Bool(holds) => out.extend(self.branch(if holds { then } else { otherwise })),
                    cond => {
                        let (then, otherwise) = (self.block(then), self.block(otherwise));
                        out.push(Stmt::If { cond, then, otherwise });
                    }
                },
                Stmt::Assign(a) => {
                    let this = &*self;
                    out.push(stmt.map(&mut |e| this.expr(e), &mut <[Stmt]>::to_vec));
                    if self.set_once.contains(&a.target.array)
                        && let Some(range) = self.range(&a.value)
                    {
                        self.known.insert(a.target.array.clone(), range);
                    }
                }
                Stmt::Loop(_) | Stmt::Block { .. } => {
                    let mut with = stmt.map(&mut Expr::clone, &mut |inner| self.block(inner));
                    if let Stmt::Loop(l) = &mut with {
                        (l.lower, l.upper) = (self.expr(&l.lower), self.expr(&l.upper));
                    }
                    out.push(with);
                }
                other => out.push(other.clone()),
            }
        }
        out
    }

    /// The statements of a branch that is always taken: in a block of their own if they declare
    /// something.
    fn branch(&mut self, stmts: &[Stmt]) -> Vec<Stmt> {
        let body = self.block(stmts);
        match body.iter().any(|stmt| matches!(stmt, Stmt::Local(_))) {
            true => vec![Stmt::Block { mark: None, body }],
            false => body,
        }
    }

    /// The expression without what ranges decide.
    fn expr(&self, e: &Expr) -> Expr {
        let e = match e {
            Expr::Load(access) => return Expr::Load(access.map_indices(&mut |e| self.expr(e))),
            _ => e.map_children(&mut |child| self.expr(child)),
        };
        match &e {
            Expr::Compare(op, a, b) => self.compared(*op, a, b).map_or(e, Expr::Bool),
            Expr::Binary(op @ (BinaryOp::And | BinaryOp::Or), a, b) => {
                // What decides the whole, and what leaves it to the other operand.
                let decides = Expr::Bool(*op == BinaryOp::Or);
                match (&**a, &**b) {
                    (Expr::Bool(_), other) if **a != decides => other.clone(),
                    (other, Expr::Bool(_)) if **b != decides => other.clone(),
                    (Expr::Bool(_), _) => decides,
                    _ => e,
                }
            }
            Expr::Unary(UnaryOp::Not, a) => match &**a {
                Expr::Bool(holds) => Expr::Bool(!holds),
                _ => e,
            },
            Expr::Select(cond, a, b) => match &**cond {
                Expr::Bool(true) => (**a).clone(),
                Expr::Bool(false) => (**b).clone(),
                _ => e,
            },
            Expr::Binary(op @ (BinaryOp::Min | BinaryOp::Max), a, b) => {
                let below = |x: &Expr, y: &Expr| self.compared(CompareOp::Le, x, y) == Some(true);
                let least = *op == BinaryOp::Min;
                match (below(a, b), below(b, a)) {
                    (true, _) => if least { a } else { b }.as_ref().clone(),
                    (_, true) => if least { b } else { a }.as_ref().clone(),
                    _ => e,
                }
            }
            _ => e,
        }
    }

    /// A comparison of which ranges say how it ends; one of constants alone is left to others.
    fn compared(&self, op: CompareOp, a: &Expr, b: &Expr) -> Option<bool> {
        if !a.has_loads() && !b.has_loads() {
            return None;
        }
        let ((a, b), (c, d)) = (self.range(a)?, self.range(b)?);
        let decided = |yes: bool, no: bool| if yes { Some(true) } else { no.then_some(false) };
        match op {
            CompareOp::Lt => decided(b < c, a >= d),
            CompareOp::Le => decided(b <= c, a > d),
            CompareOp::Gt => decided(a > d, b <= c),
            CompareOp::Ge => decided(a >= d, b < c),
            CompareOp::Eq => decided(false, b < c || d < a),
            CompareOp::Ne => decided(b < c || d < a, false),
        }
    }

    /// The range of the value of an integer expression, if something is known of it.
    fn range(&self, e: &Expr) -> Option<Range> {
        match e {
            Expr::Int(value) => Some((*value, *value)),
            Expr::I32(value) => Some(((*value).into(), (*value).into())),
            Expr::Load(access) => self.loaded(access),
            Expr::Cast(to, a) => {
                let range = self.range(a)?;
                let (least, greatest) = of_type(*to)?;
                (least <= range.0 && range.1 <= greatest).then_some(range)
            }
            Expr::Select(_, a, b) => {
                let ((a, b), (c, d)) = (self.range(a)?, self.range(b)?);
                Some((a.min(c), b.max(d)))
            }
            Expr::Binary(op, a, b) => self.binary(*op, self.range(a), self.range(b)),
            _ => None,
        }
    }

    fn loaded(&self, access: &Access) -> Option<Range> {
        let known = self.known.get(&access.array).filter(|_| access.path.is_empty());
        known.copied().or_else(|| of_type(*self.types.get(&access.array)?))
    }

    /// Of operations whose results cannot wrap around.
    fn binary(&self, op: BinaryOp, a: Option<Range>, b: Option<Range>) -> Option<Range> {
        let natural = |range: Option<Range>| range.filter(|(least, _)| *least >= 0);
        match (op, a, b) {
            (BinaryOp::BitAnd, a, b) => {
                let greatest =
                    natural(a).into_iter().chain(natural(b)).map(|(_, greatest)| greatest).min()?;
                Some((0, greatest))
            }
            (BinaryOp::Mod, _, Some((least, greatest))) if least >= 1 => Some((0, greatest - 1)),
            (BinaryOp::Shr, Some((a, b)), Some((by, most))) if by == most && (0..32).contains(&by) => {
                Some((a >> by, b >> by))
            }
            (BinaryOp::Min, Some((a, b)), Some((c, d))) => Some((a.min(c), b.min(d))),
            (BinaryOp::Max, Some((a, b)), Some((c, d))) => Some((a.max(c), b.max(d))),
            _ => None,
        }
    }
}

/// The range of the numbers of a type, where it says more than that they are integers of 64 bits.
fn of_type(ty: Scalar) -> Option<Range> {
    match ty {
        Scalar::I8 => Some((i8::MIN.into(), i8::MAX.into())),
        Scalar::U8 => Some((0, u8::MAX.into())),
        Scalar::I16 => Some((i16::MIN.into(), i16::MAX.into())),
        Scalar::U16 => Some((0, u16::MAX.into())),
        Scalar::I32 => Some((i32::MIN.into(), i32::MAX.into())),
        Scalar::U32 => Some((0, u32::MAX.into())),
        Scalar::I64 => Some((i64::MIN, i64::MAX)),
        _ => None,
    }
}
