//! Loops that end early, as counted loops with a condition around their body:
//! `for (j = 0; j < n; j++) { if (c) break; rest }` is
//! `running = 1; for (j = 0; j < n; j++) if (running) { if (c) running = 0; else rest }`.
//!
//! So is data beside the bound: `while (x < 4 && k < n)` ends where `x < 4` does not hold. Once
//! `running` is 0 it stays so, and targets end the loop there. A variable that is counted and not
//! declared in the header keeps the value that it has where the loop ends. So another one counts.

use std::collections::BTreeSet;

use super::jumps::{jumps, without_jumps};
use super::{MAX_HEIGHT, Parser, acts};
use crate::ast::{
    At, Binary, CONTINUE, Declaration, Expr, ExprKind, For, Init, Stmt, StmtKind, Unary, mentions, parts,
};
use crate::ctype::{CType, IntType, QType};

/// So many iterations take longer than anybody waits.
const NEVER: u64 = 1 << 62;

impl Parser<'_> {
    /// A loop without what ends it early. The body of `f` is `raw`, and what the header does at its
    /// end. `token` is the word of the loop.
    pub(super) fn with_body(&self, f: For, raw: Stmt, token: usize) -> StmtKind {
        if let Some(kind) = self.ended_early(&f, &raw, token) {
            return kind;
        }
        let body = joined_body(without_jumps(raw, &["continue"]), behind(&f.body));
        StmtKind::For(Box::new(For { body, ..f }))
    }

    /// `while (c) { … }` that counts nothing, as a loop that counts to what no loop reaches. The
    /// two tokens of its words stand for the names that are made.
    pub(super) fn endless(
        &self,
        cond: Option<Expr>,
        raw: Stmt,
        (token, other): (usize, usize),
    ) -> Option<StmtKind> {
        let raw = match cond {
            Some(cond) if acts(&cond) || cond.height >= MAX_HEIGHT => return None,
            Some(cond) if self.constant(&cond).is_some_and(|value| value != 0) => raw,
            Some(cond) => tested_first(cond, raw),
            None => raw,
        };
        let at = At { first: other as u32, last: other as u32 };
        let counter = self.free_name("counter", token)?;
        let variable = || Box::new(ident(&counter, at));
        let f = For {
            before: Vec::new(),
            init: Some(declared(&counter, QType::plain(CType::Int(IntType::Long)), at, number(0, at))),
            cond: Some(Expr {
                kind: ExprKind::Binary(Binary::Lt, variable(), Box::new(number(NEVER, at))),
                at,
                height: 2,
            }),
            step: Some(Expr { kind: ExprKind::Step(1, variable()), at, height: 2 }),
            counts_first: false,
            at_least_once: false,
            others: Vec::new(),
            mixed: None,
            body: Stmt { kind: StmtKind::Empty, at: raw.at },
        };
        self.ended_early(&f, &raw, token)
    }

    /// `do { … } while (c);` that counts nothing.
    pub(super) fn tested_last(&self, cond: Expr, body: Stmt, tokens: (usize, usize)) -> Option<StmtKind> {
        // A `continue` goes on at the condition.
        if acts(&cond) || cond.height >= MAX_HEIGHT || jumps(&body, &["continue"]) {
            return None;
        }
        let at = body.at;
        let body = Stmt { kind: StmtKind::Block(vec![body, leaves_unless(cond)]), at };
        self.endless(None, body, tokens)
    }

    /// The statements that a loop is which may end early; `None` if it does not, or if that cannot
    /// be said so.
    fn ended_early(&self, f: &For, raw: &Stmt, token: usize) -> Option<StmtKind> {
        let name = counted(f.step.as_ref()?)?;
        let data = f.cond.as_ref().and_then(|cond| self.data_apart(cond, name, raw));
        let bounds = data.as_ref().map(|(bounds, _)| bounds.clone()).or_else(|| f.cond.clone())?;
        let outside = f.others.iter().any(|other| other.declaration.is_none());
        if !(data.is_some() || jumps(raw, &["break"])) || f.mixed.is_some() || f.at_least_once || outside {
            return None;
        }
        if self.changes(raw, name, token) {
            return self.counted_in_body(f, raw, token);
        }
        let raw = match data {
            Some((_, data)) => tested_first(data, raw.clone()),
            None => raw.clone(),
        };
        let at = At { first: token as u32, last: token as u32 };
        let running = self.free_name("running", token)?;
        let body = without_jumps(ended(raw, &running, at), &["continue"]);
        if stays(&body) {
            return None;
        }
        let behind = behind(&f.body);
        let behind = (!behind.is_empty())
            .then(|| if_runs(&running, at, Stmt { kind: StmtKind::Block(behind), at: f.body.at }));
        let body = joined_body(body, behind.into_iter().collect());
        let own = matches!(&f.init, Some(Stmt { kind: StmtKind::Declare(_), .. }));
        let f = For { cond: Some(bounds), body: Stmt { kind: StmtKind::Empty, at: body.at }, ..f.clone() };
        let mut before = vec![declared(&running, int(), at, number(1, at))];
        let (f, body) = match own {
            true => (f, body),
            false => {
                before.extend(f.init.clone());
                let (first, f, body) = self.counted_beside(f, body, &running, token)?;
                before.push(first);
                (f, body)
            }
        };
        let f = For { body: if_runs(&running, at, body), ..f };
        before.push(Stmt { kind: StmtKind::For(Box::new(f)), at });
        Some(StmtKind::Block(before))
    }

    /// Whether a body changes the variable that its loop counts, or may by its address.
    fn changes(&self, body: &Stmt, name: &str, token: usize) -> bool {
        let mut assigned = BTreeSet::new();
        assigns(body, &mut assigned);
        let address = |k: usize| self.is_at(k, "&") && self.word_at(k + 1) == name;
        assigned.contains(name) || (token..self.pos).any(address)
    }

    /// A loop whose body changes the counted variable: the variable is data like any other.
    fn counted_in_body(&self, f: &For, raw: &Stmt, token: usize) -> Option<StmtKind> {
        // A `continue` goes on at the step.
        if f.counts_first || !f.others.is_empty() || jumps(raw, &["continue"]) {
            return None;
        }
        let step = f.step.clone()?;
        let step = Stmt { at: step.at, kind: StmtKind::Expr(step) };
        let body = std::iter::once(raw.clone()).chain(behind(&f.body)).chain([step]).collect();
        let body = Stmt { at: raw.at, kind: StmtKind::Block(body) };
        let kind = self.endless(f.cond.clone(), body, (token, token + 1))?;
        let whole = f.before.iter().chain(&f.init).cloned().chain([Stmt { kind, at: raw.at }]);
        Some(StmtKind::Block(whole.collect()))
    }

    /// A condition in two parts: bounds of the counted variable, and what depends on data.
    fn data_apart(&self, cond: &Expr, counter: &str, body: &Stmt) -> Option<(Expr, Expr)> {
        let mut all = Vec::new();
        conjuncts(cond, &mut all);
        if all.len() < 2 || cond.height >= MAX_HEIGHT - 1 {
            return None;
        }
        let mut assigned = BTreeSet::new();
        assigns(body, &mut assigned);
        let compares = |e: &Expr| {
            matches!(
                e.kind,
                ExprKind::Binary(Binary::Lt | Binary::Le | Binary::Gt | Binary::Ge | Binary::Ne, ..)
            )
        };
        let bounds = |e: &&Expr| {
            let fixed = !assigned.iter().any(|name| name != counter && mentions(e, name));
            let integers = match compares(e) {
                true => parts(&e.kind).into_iter().all(|part| self.is_integer(part)),
                false => self.is_integer(e),
            };
            fixed && integers && !loads(e)
        };
        let (bounds, data): (Vec<&Expr>, Vec<&Expr>) = all.into_iter().partition(bounds);
        let counts = bounds.iter().any(|e| mentions(e, counter));
        counts.then(|| joined(bounds).zip(joined(data)))?
    }

    /// The loop with a variable of its own that counts, and its body, which sets the one that was
    /// counted. That one has been set before, and its value is kept by the first statement.
    fn counted_beside(&self, f: For, body: Stmt, running: &str, token: usize) -> Option<(Stmt, For, Stmt)> {
        let (step, cond) = (f.step.clone()?, f.cond.clone()?);
        let name = counted(&step)?.to_owned();
        let ty = match self.type_of_name(&name)? {
            ty @ CType::Int(_) if !f.counts_first => QType::plain(ty),
            _ => return None,
        };
        let (counter, first) = (self.free_name("counter", token)?, self.free_name("start", token)?);
        // Each name that is made has a token of its own: those around the header.
        let close = self.group_end(token + 1)? as u32 - 1;
        let close = At { first: close, last: close };
        let (at, runs) = (
            At { first: token as u32 + 1, last: token as u32 + 1 },
            At { first: token as u32, last: token as u32 },
        );
        // The counted variable, as the condition names it.
        let old = find(&cond, &name)?.clone();
        let set = Expr {
            kind: ExprKind::Assign(None, Box::new(old.clone()), Box::new(ident(&counter, at))),
            at: old.at,
            height: 2,
        };
        let set = Stmt { at: set.at, kind: StmtKind::Expr(set) };
        let counts = Stmt { at: step.at, kind: StmtKind::Expr(step.clone()) };
        let body =
            Stmt { at: body.at, kind: StmtKind::Block(vec![set, body, if_runs(running, runs, counts)]) };
        let by_counter = |e: &Expr| renamed(e, &name, &ident(&counter, at));
        let f = For {
            cond: Some(by_counter(&cond)?),
            step: Some(by_counter(&step)?),
            init: Some(declared(&counter, ty.clone(), at, ident(&first, close))),
            ..f
        };
        Some((declared(&first, ty, close, old), f, body))
    }

    /// A name that the loop does not have in it.
    fn free_name(&self, base: &str, token: usize) -> Option<String> {
        let known = |name: &str| (token..self.pos).any(|k| self.word_at(k) == name);
        (0..100)
            .map(|k| if k == 0 { base.to_owned() } else { format!("{base}_{k}") })
            .find(|name| !known(name) && self.scopes.lookup(name).is_none())
    }
}

/// What the header of a loop does at the end of its body.
fn behind(body: &Stmt) -> Vec<Stmt> {
    match &body.kind {
        StmtKind::Block(list) => list.iter().skip(1).cloned().collect(),
        _ => Vec::new(),
    }
}

fn joined_body(body: Stmt, behind: Vec<Stmt>) -> Stmt {
    if behind.is_empty() {
        return body;
    }
    Stmt { at: body.at, kind: StmtKind::Block(std::iter::once(body).chain(behind).collect()) }
}

/// A body that the loop is left before where a condition does not hold.
fn tested_first(cond: Expr, body: Stmt) -> Stmt {
    Stmt { at: body.at, kind: StmtKind::Block(vec![leaves_unless(cond), body]) }
}

/// `if (!c) break;`
fn leaves_unless(cond: Expr) -> Stmt {
    let (at, height) = (cond.at, cond.height + 1);
    let cond = Expr { kind: ExprKind::Unary(Unary::Not, Box::new(cond)), at, height };
    let then = Box::new(Stmt { kind: StmtKind::Jump("break"), at });
    Stmt { kind: StmtKind::If { cond, then, otherwise: None }, at }
}

/// A body in which `break` notes that the loop ends, and goes on to the end of the body.
fn ended(stmt: Stmt, running: &str, word: At) -> Stmt {
    let at = stmt.at;
    let again = |stmt: Stmt| ended(stmt, running, word);
    let kind = match stmt.kind {
        StmtKind::Jump("break") => {
            let (target, zero) = (Box::new(ident(running, word)), Box::new(number(0, word)));
            let stop = Expr { kind: ExprKind::Assign(None, target, zero), at: word, height: 2 };
            let leave = Stmt { kind: StmtKind::Jump("continue"), at };
            StmtKind::Block(vec![Stmt { kind: StmtKind::Expr(stop), at }, leave])
        }
        StmtKind::Block(body) => StmtKind::Block(body.into_iter().map(again).collect()),
        StmtKind::If { cond, then, otherwise } => StmtKind::If {
            cond,
            then: Box::new(again(*then)),
            otherwise: otherwise.map(|stmt| Box::new(again(*stmt))),
        },
        StmtKind::Pragma(texts, next) => StmtKind::Pragma(texts, next.map(|n| Box::new(again(*n)))),
        kind => kind,
    };
    Stmt { kind, at }
}

/// Whether a jump is left in a body.
fn stays(stmt: &Stmt) -> bool {
    match &stmt.kind {
        StmtKind::Unsupported(what) => *what == CONTINUE,
        StmtKind::Block(body) => body.iter().any(stays),
        StmtKind::If { then, otherwise, .. } => stays(then) || otherwise.as_deref().is_some_and(stays),
        StmtKind::Pragma(_, next) => next.as_deref().is_some_and(stays),
        _ => false,
    }
}

fn if_runs(running: &str, at: At, then: Stmt) -> Stmt {
    let (cond, place) = (ident(running, at), then.at);
    Stmt { kind: StmtKind::If { cond, then: Box::new(then), otherwise: None }, at: place }
}

fn declared(name: &str, ty: QType, at: At, value: Expr) -> Stmt {
    let (name, init) = (name.to_owned(), Some(Init::Expr(value)));
    let declaration = Declaration { name, ty, init, is_static: false, is_extern: false, at };
    Stmt { kind: StmtKind::Declare(vec![declaration]), at }
}

fn ident(name: &str, at: At) -> Expr {
    Expr { kind: ExprKind::Ident(name.to_owned()), at, height: 1 }
}

fn number(value: u64, at: At) -> Expr {
    let ty = if value > i32::MAX as u64 { IntType::Long } else { IntType::Int };
    Expr { kind: ExprKind::Int(value, ty), at, height: 1 }
}

fn int() -> QType {
    QType::plain(CType::Int(IntType::Int))
}

/// The variable that a step counts.
fn counted(step: &Expr) -> Option<&str> {
    match &step.kind {
        ExprKind::Step(_, target) | ExprKind::Assign(_, target, _) => match &target.kind {
            ExprKind::Ident(name) => Some(name),
            _ => None,
        },
        _ => None,
    }
}

/// Where an expression has a name.
fn find<'e>(e: &'e Expr, name: &str) -> Option<&'e Expr> {
    match &e.kind {
        ExprKind::Ident(n) if n == name => Some(e),
        kind => parts(kind).into_iter().find_map(|part| find(part, name)),
    }
}

/// A bound or step with another variable.
fn renamed(e: &Expr, name: &str, by: &Expr) -> Option<Expr> {
    let again = |e: &Expr| renamed(e, name, by).map(Box::new);
    let kind = match &e.kind {
        ExprKind::Ident(n) if n == name => return Some(by.clone()),
        _ if !mentions(e, name) => return Some(e.clone()),
        ExprKind::Binary(op, a, b) => ExprKind::Binary(*op, again(a)?, again(b)?),
        ExprKind::Assign(op, a, b) => ExprKind::Assign(*op, again(a)?, again(b)?),
        ExprKind::Step(amount, a) => ExprKind::Step(*amount, again(a)?),
        ExprKind::Cast(ty, a) => ExprKind::Cast(ty.clone(), again(a)?),
        _ => return None,
    };
    Some(Expr { kind, ..e.clone() })
}

/// The parts of `a && b && c`.
fn conjuncts<'e>(e: &'e Expr, all: &mut Vec<&'e Expr>) {
    match &e.kind {
        ExprKind::Binary(Binary::And, a, b) => {
            conjuncts(a, all);
            conjuncts(b, all);
        }
        _ => all.push(e),
    }
}

fn joined(parts: Vec<&Expr>) -> Option<Expr> {
    parts.into_iter().cloned().reduce(|a, b| {
        let (at, height) =
            (At { first: a.at.first, last: b.at.last.max(a.at.last) }, a.height.max(b.height) + 1);
        Expr { kind: ExprKind::Binary(Binary::And, Box::new(a), Box::new(b)), at, height }
    })
}

/// Whether an expression reads memory, or may.
fn loads(e: &Expr) -> bool {
    matches!(e.kind, ExprKind::Index(..) | ExprKind::Call { .. } | ExprKind::Unary(Unary::Deref, _))
        || parts(&e.kind).into_iter().any(loads)
}

/// The names that a statement assigns to.
fn assigns(stmt: &Stmt, names: &mut BTreeSet<String>) {
    match &stmt.kind {
        StmtKind::Expr(e) => assigned(e, names),
        StmtKind::Block(body) => body.iter().for_each(|stmt| assigns(stmt, names)),
        StmtKind::If { cond, then, otherwise } => {
            assigned(cond, names);
            assigns(then, names);
            otherwise.iter().for_each(|stmt| assigns(stmt, names));
        }
        StmtKind::For(f) => {
            f.before.iter().chain(&f.init).for_each(|stmt| assigns(stmt, names));
            f.cond.iter().chain(&f.step).for_each(|e| assigned(e, names));
            assigns(&f.body, names);
        }
        StmtKind::Pragma(_, next) => next.iter().for_each(|stmt| assigns(stmt, names)),
        _ => {}
    }
}

fn assigned(e: &Expr, names: &mut BTreeSet<String>) {
    if let ExprKind::Assign(_, target, _) | ExprKind::Step(_, target) = &e.kind
        && let ExprKind::Ident(name) = &target.kind
    {
        names.insert(name.clone());
    }
    parts(&e.kind).into_iter().for_each(|part| assigned(part, names));
}
