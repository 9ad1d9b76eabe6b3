//! Headers of loops beyond `for (i = a; i < b; i += c)`: those that count in their condition, and
//! those of several parts.
//!
//! `for (i = 0, s = 0; i < n; i++, j--, s += x)`: variables that count by a constant and are set by
//! the header are counted along. Whatever else is set comes before the loop. Whatever else is done
//! comes at the end of its body.

use super::stmt::one_statement;
use super::{MAX_HEIGHT, Parser};
use crate::ast::{At, Binary, Declaration, Expr, ExprKind, For, Init, Other, Stmt, StmtKind, mentions};
use crate::ctype::{CType, IntType};

/// The way out of headers that do too much.
const APART: &str = "set other variables before the loop, and change them at the end of its body";

/// One thing that the first part of a header sets.
struct Set {
    name: String,
    value: Expr,
    declaration: Option<Declaration>,
    at: At,
}

impl Parser<'_> {
    /// `for (i = n; i-- > 0;)`: the condition sees `i`, the body `i - 1`. `for (i = n; --i >= 0;)`
    /// is `for (i = n - 1; i >= 0; --i)`, for signed types.
    pub(super) fn counted_in_condition(&self, f: &mut For) {
        let Some(cond) = &mut f.cond else { return };
        let at = cond.at;
        let zero = || Expr { kind: ExprKind::Int(0, IntType::Int), at, height: 1 };
        let (op, counts, bound) = match &cond.kind {
            ExprKind::Step(..) => (Binary::Ne, cond.clone(), zero()),
            ExprKind::Binary(
                op @ (Binary::Lt | Binary::Le | Binary::Gt | Binary::Ge | Binary::Ne),
                counts,
                bound,
            ) => (*op, (**counts).clone(), (**bound).clone()),
            _ => return,
        };
        let ExprKind::Step(_, variable) = &counts.kind else { return };
        let ExprKind::Ident(name) = &variable.kind else { return };
        if f.step.is_some() {
            (f.init, f.cond) = (None, None);
            f.mixed = Some((
                "its condition counts, and its last part is not empty",
                "count in the last part alone",
            ));
            return;
        }
        if mentions(&bound, name) || cond.height >= MAX_HEIGHT {
            f.mixed = Some((
                "its condition compares a variable with itself while counting it",
                "count in the last part of the header",
            ));
            return;
        }
        // Parentheses stand on both sides of it.
        let (in_front, behind) = (variable.at.first - counts.at.first, counts.at.last - variable.at.last);
        if behind > in_front {
            f.counts_first = true;
        } else {
            let by = match &counts.kind {
                ExprKind::Step(1, _) => Binary::Add,
                _ => Binary::Sub,
            };
            let Some(first) = first_of(&mut f.init, name).filter(|first| first.height < MAX_HEIGHT) else {
                return;
            };
            if !self.counts_below_zero(variable) {
                f.mixed = Some((
                    "its condition counts an unsigned variable before comparing it, so it may wrap around",
                    "compare the value before counting: `i-- > 1` instead of `--i > 0`",
                ));
                return;
            }
            let (at, height) = (first.at, first.height);
            let one = Expr { kind: ExprKind::Int(1, IntType::Int), at, height: 1 };
            let kind = ExprKind::Binary(by, Box::new(first.clone()), Box::new(one));
            *first = Expr { kind, at, height: height + 1 };
        }
        let (height, variable) = (cond.height.max(2), variable.clone());
        *cond = Expr { kind: ExprKind::Binary(op, variable, Box::new(bound)), at, height };
        f.step = Some(counts);
    }

    /// A header with commas as one without, and the statements before the loop and at the end of
    /// its body.
    pub(super) fn taken_apart(&self, f: &mut For) {
        let steps: Vec<Expr> = match f.step.as_ref().map(|step| &step.kind) {
            Some(ExprKind::Comma(list)) => list.clone(),
            _ => f.step.iter().cloned().collect(),
        };
        let several = match f.init.as_ref().map(|init| &init.kind) {
            Some(StmtKind::Declare(declared)) => declared.len() > 1,
            Some(StmtKind::Expr(e)) => matches!(e.kind, ExprKind::Comma(_)),
            _ => false,
        };
        if !several && steps.len() < 2 {
            return;
        }
        let Some(sets) = sets(f.init.as_ref()) else {
            f.mixed = Some(("its first part does more than initialise variables", APART));
            return;
        };
        let names: Vec<&str> = sets.iter().map(|set| set.name.as_str()).collect();
        let alone = |set: &Set| !names.iter().any(|name| mentions(&set.value, name));
        if several && !sets.iter().all(alone) {
            f.mixed = Some(("its first part sets a variable by another one that it sets", APART));
            return;
        }
        let counted: Vec<Option<&str>> = steps.iter().map(counted).collect();
        let candidates: Vec<&str> = counted.iter().flatten().copied().collect();
        let amounts: Vec<Option<i64>> = steps.iter().map(|step| self.amount(step)).collect();
        let Some(main) = main_of(f.cond.as_ref(), &candidates, &counted, &amounts, &names) else { return };
        let main = main.to_owned();
        // What each step is: of the loop's variable, of one that is counted along, or a statement.
        let once = |name: &str| counted.iter().filter(|c| **c == Some(name)).count() == 1;
        let along = |k: usize| {
            counted[k].filter(|name| {
                *name != main
                    && once(name)
                    && names.iter().filter(|n| *n == name).count() == 1
                    && amounts[k].is_some()
            })
        };
        let (mut step, mut others, mut behind) = (None, Vec::new(), Vec::new());
        let mut changed: Vec<&str> = Vec::new();
        for (k, e) in steps.iter().enumerate() {
            if counted[k] == Some(main.as_str()) && step.is_none() {
                step = Some(e.clone());
                changed.push(&main);
            } else if let Some(name) = along(k) {
                others.push((name, e));
                changed.push(name);
            } else if changed.iter().any(|name| mentions(e, name)) {
                f.mixed = Some(("its last part uses a variable after counting it", APART));
                return;
            } else {
                behind.push(Stmt { kind: one_statement(e.clone()), at: e.at });
            }
        }
        let (mut before, mut init, mut further) = (Vec::new(), None, Vec::new());
        let others: Vec<(String, Expr)> =
            others.into_iter().map(|(n, e)| (n.to_owned(), e.clone())).collect();
        for set in sets {
            if set.name == main && init.is_none() {
                init = Some(set.statement());
            } else if let Some((_, step)) = others.iter().find(|(name, _)| *name == set.name) {
                let Some(variable) = target(step).cloned() else { continue };
                let (first, declaration, step) = (set.value, set.declaration, step.clone());
                further.push(Other { variable, first, declaration, step });
            } else {
                before.push(set.statement());
            }
        }
        if !behind.is_empty() {
            let at = f.body.at;
            let body = std::mem::replace(&mut f.body, Stmt { kind: StmtKind::Empty, at });
            let body = std::iter::once(body).chain(behind).collect();
            f.body = Stmt { kind: StmtKind::Block(body), at };
        }
        (f.before, f.init, f.step, f.others) = (before, init, step, further);
    }

    /// The constant that a step adds to an integer.
    fn amount(&self, step: &Expr) -> Option<i64> {
        let variable = target(step).filter(|e| self.is_integer(e))?;
        match &step.kind {
            ExprKind::Step(amount, _) => Some(*amount),
            ExprKind::Assign(Some(Binary::Add), _, by) => self.constant(by),
            ExprKind::Assign(Some(Binary::Sub), _, by) => self.constant(by)?.checked_neg(),
            ExprKind::Assign(None, _, value) => {
                let (ExprKind::Binary(op, a, b), ExprKind::Ident(name)) = (&value.kind, &variable.kind)
                else {
                    return None;
                };
                let is = |e: &Expr| matches!(&e.kind, ExprKind::Ident(n) if n == name);
                match op {
                    Binary::Add if is(a) => self.constant(b),
                    Binary::Add if is(b) => self.constant(a),
                    Binary::Sub if is(a) => self.constant(b)?.checked_neg(),
                    _ => None,
                }
            }
            _ => None,
        }
    }
}

/// Which of several variables is the loop's: one that the condition compares. If the step of
/// another variable is no multiple of its step, a variable with step 1 is chosen.
fn main_of<'n>(
    cond: Option<&Expr>,
    candidates: &[&'n str],
    counted: &[Option<&'n str>],
    amounts: &[Option<i64>],
    set: &[&str],
) -> Option<&'n str> {
    let main = cond.and_then(|cond| compared(cond, candidates)).or_else(|| candidates.first().copied())?;
    let along = || counted.iter().zip(amounts).filter_map(|(c, amount)| Some(((*c)?, (*amount)?)));
    let own = along().find(|(name, _)| *name == main).map_or(0, |(_, amount)| amount);
    let multiples = along().all(|(_, amount)| amount.checked_rem(own).is_none_or(|rest| rest == 0));
    let single = along().find(|(name, amount)| amount.unsigned_abs() == 1 && set.contains(name));
    match single {
        Some((name, _)) if !multiples => Some(name),
        _ => Some(main),
    }
}

impl Set {
    fn statement(self) -> Stmt {
        let at = self.at;
        match self.declaration {
            Some(declaration) => Stmt { kind: StmtKind::Declare(vec![declaration]), at },
            None => {
                let height = self.value.height + 1;
                let target = Expr {
                    kind: ExprKind::Ident(self.name),
                    at: At { first: at.first, last: at.first },
                    height: 1,
                };
                let kind = ExprKind::Assign(None, Box::new(target), Box::new(self.value));
                Stmt { kind: StmtKind::Expr(Expr { kind, at, height }), at }
            }
        }
    }
}

/// What the first part of a header sets, if that is all it does.
fn sets(init: Option<&Stmt>) -> Option<Vec<Set>> {
    let assigned = |e: &Expr| match &e.kind {
        ExprKind::Assign(None, target, value) => match &target.kind {
            // A name in parentheses has another place.
            ExprKind::Ident(name) if target.at.first == target.at.last => {
                Some(Set { name: name.clone(), value: (**value).clone(), declaration: None, at: e.at })
            }
            _ => None,
        },
        _ => None,
    };
    match init.map(|init| &init.kind) {
        None => Some(Vec::new()),
        Some(StmtKind::Declare(declared)) => {
            let set = |d: &Declaration| match &d.init {
                Some(Init::Expr(value))
                    if matches!(d.ty.ty, CType::Int(_) | CType::Float | CType::Double) =>
                {
                    let (name, value) = (d.name.clone(), value.clone());
                    Some(Set { name, value, declaration: Some(d.clone()), at: d.at })
                }
                _ => None,
            };
            declared.iter().map(set).collect()
        }
        Some(StmtKind::Expr(Expr { kind: ExprKind::Comma(list), .. })) => list.iter().map(assigned).collect(),
        Some(StmtKind::Expr(e)) => assigned(e).map(|set| vec![set]),
        _ => None,
    }
}

/// The first value of a variable that a header sets alone.
fn first_of<'e>(init: &'e mut Option<Stmt>, name: &str) -> Option<&'e mut Expr> {
    match &mut init.as_mut()?.kind {
        StmtKind::Declare(declared) => match declared.as_mut_slice() {
            [Declaration { name: declared, init: Some(Init::Expr(first)), .. }] if declared == name => {
                Some(first)
            }
            _ => None,
        },
        StmtKind::Expr(Expr { kind: ExprKind::Assign(None, target, first), .. }) => match &target.kind {
            ExprKind::Ident(target) if target == name => Some(first),
            _ => None,
        },
        _ => None,
    }
}

/// What a step assigns to, if that is a name.
fn target(step: &Expr) -> Option<&Expr> {
    match &step.kind {
        ExprKind::Step(_, target) | ExprKind::Assign(_, target, _) => {
            matches!(target.kind, ExprKind::Ident(_)).then_some(target)
        }
        _ => None,
    }
}

/// The name that a step assigns to.
fn counted(step: &Expr) -> Option<&str> {
    match &target(step)?.kind {
        ExprKind::Ident(name) => Some(name),
        _ => None,
    }
}

/// Which of some names a condition bounds.
fn compared<'n>(cond: &Expr, names: &[&'n str]) -> Option<&'n str> {
    let ExprKind::Binary(op, a, b) = &cond.kind else { return None };
    if *op == Binary::And {
        return compared(a, names).or_else(|| compared(b, names));
    }
    let is =
        |e: &Expr| names.iter().find(|name| matches!(&e.kind, ExprKind::Ident(n) if n == *name)).copied();
    is(a).or_else(|| is(b)).or_else(|| names.iter().find(|name| mentions(cond, name)).copied())
}
