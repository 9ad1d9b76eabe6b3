//! `continue`, and `break` out of `do … while (0)`, as conditions: `if (c) continue; rest` is
//! `if (!c) rest`.
//!
//! No statement is duplicated. If the code after an `if` can be reached on both of its branches
//! although one of them may jump, the jump stays and is refused.

use super::MAX_HEIGHT;
use crate::ast::{BREAK, CONTINUE, Expr, ExprKind, Stmt, StmtKind, Unary};

/// Most conditions that are put into one another.
const MAX_DEPTH: u32 = 60;

/// A body without the jumps that end it; those that stay, and those of others, are not supported.
pub(super) fn without_jumps(body: Stmt, ends: &[&str]) -> Stmt {
    let body = if jumps(&body, ends) {
        let at = body.at;
        let statements = match body.kind {
            StmtKind::Block(statements) => statements,
            kind => vec![Stmt { kind, at }],
        };
        Stmt { kind: StmtKind::Block(run(statements, ends, 0)), at }
    } else {
        body
    };
    refused(body)
}

/// The statements, without the jumps that can become conditions of what follows them.
pub(super) fn run(statements: Vec<Stmt>, ends: &[&str], depth: u32) -> Vec<Stmt> {
    let mut out = Vec::new();
    let mut statements = statements.into_iter();
    while let Some(stmt) = statements.next() {
        if depth >= MAX_DEPTH || !jumps(&stmt, ends) {
            out.push(stmt);
            continue;
        }
        let at = stmt.at;
        match stmt.kind {
            // Nothing after it runs.
            StmtKind::Jump(_) => return out,
            StmtKind::Block(inner) => {
                let declares = inner.iter().any(|s| matches!(s.kind, StmtKind::Declare(_)));
                let (rest, ended) = (statements.collect::<Vec<_>>(), !inner.iter().all(|s| falls(s, ends)));
                if !declares {
                    out.append(&mut run(inner.into_iter().chain(rest).collect(), ends, depth + 1));
                } else if rest.is_empty() || ended {
                    out.push(Stmt { kind: StmtKind::Block(run(inner, ends, depth + 1)), at });
                } else {
                    // Names that it declares would be visible after it.
                    out.push(Stmt { kind: StmtKind::Block(inner), at });
                    out.extend(rest);
                }
                return out;
            }
            StmtKind::If { cond, then, otherwise } => {
                let rest: Vec<Stmt> = statements.collect();
                let (yes, no) = (falls(&then, ends), otherwise.as_ref().is_none_or(|o| falls(o, ends)));
                if yes && no && !rest.is_empty() {
                    out.push(Stmt { kind: StmtKind::If { cond, then, otherwise }, at });
                    out.extend(rest);
                    return out;
                }
                let branch = |first: Option<Box<Stmt>>, behind: Vec<Stmt>| {
                    run(first.map(|stmt| *stmt).into_iter().chain(behind).collect(), ends, depth + 1)
                };
                let (behind_yes, behind_no) = if yes { (rest, Vec::new()) } else { (Vec::new(), rest) };
                let then = branch(Some(then), behind_yes);
                let otherwise = branch(otherwise, if no { behind_no } else { Vec::new() });
                out.push(Stmt { kind: decided(cond, then, otherwise, at), at });
                return out;
            }
            kind => out.push(Stmt { kind, at }),
        }
    }
    out
}

/// An `if` of two lists of statements.
fn decided(cond: Expr, then: Vec<Stmt>, otherwise: Vec<Stmt>, at: crate::ast::At) -> StmtKind {
    let block = |body| Box::new(Stmt { kind: StmtKind::Block(body), at });
    if then.is_empty() && !otherwise.is_empty() && cond.height < MAX_HEIGHT {
        let (at, height) = (cond.at, cond.height + 1);
        let cond = Expr { kind: ExprKind::Unary(Unary::Not, Box::new(cond)), at, height };
        return StmtKind::If { cond, then: block(otherwise), otherwise: None };
    }
    let otherwise = (!otherwise.is_empty()).then(|| block(otherwise));
    StmtKind::If { cond, then: block(then), otherwise }
}

/// Whether a statement has a jump to the end of the body that it is in.
pub(super) fn jumps(stmt: &Stmt, ends: &[&str]) -> bool {
    match &stmt.kind {
        StmtKind::Jump(word) => ends.contains(word),
        StmtKind::Block(body) => body.iter().any(|s| jumps(s, ends)),
        StmtKind::If { then, otherwise, .. } => {
            jumps(then, ends) || otherwise.as_ref().is_some_and(|o| jumps(o, ends))
        }
        StmtKind::Pragma(_, Some(next)) => jumps(next, ends),
        _ => false,
    }
}

/// Whether what follows a statement may be reached.
fn falls(stmt: &Stmt, ends: &[&str]) -> bool {
    match &stmt.kind {
        StmtKind::Jump(word) => !ends.contains(word),
        StmtKind::Block(body) => body.iter().all(|s| falls(s, ends)),
        StmtKind::If { then, otherwise: Some(otherwise), .. } => falls(then, ends) || falls(otherwise, ends),
        _ => true,
    }
}

/// The jumps that are left, as what a region cannot have.
fn refused(stmt: Stmt) -> Stmt {
    let at = stmt.at;
    let kind = match stmt.kind {
        StmtKind::Jump("continue") => StmtKind::Unsupported(CONTINUE),
        StmtKind::Jump("break") => StmtKind::Unsupported(BREAK),
        StmtKind::Jump(_) => StmtKind::Unsupported("`goto`"),
        StmtKind::Label(_) => StmtKind::Unsupported("a label"),
        StmtKind::Block(body) => StmtKind::Block(body.into_iter().map(refused).collect()),
        StmtKind::If { cond, then, otherwise } => {
            let otherwise = otherwise.map(|o| Box::new(refused(*o)));
            StmtKind::If { cond, then: Box::new(refused(*then)), otherwise }
        }
        StmtKind::Pragma(texts, next) => StmtKind::Pragma(texts, next.map(|n| Box::new(refused(*n)))),
        kind => kind,
    };
    Stmt { kind, at }
}

/// A statement at the top of a region: `goto` and labels are refused there, other jumps are told
/// for what they are.
pub(super) fn outside(stmt: Stmt) -> Stmt {
    let at = stmt.at;
    let kind = match stmt.kind {
        StmtKind::Jump(word) if !matches!(word, "break" | "continue") => StmtKind::Unsupported("`goto`"),
        StmtKind::Label(_) => StmtKind::Unsupported("a label"),
        StmtKind::Block(body) => StmtKind::Block(body.into_iter().map(outside).collect()),
        StmtKind::If { cond, then, otherwise } => {
            let otherwise = otherwise.map(|o| Box::new(outside(*o)));
            StmtKind::If { cond, then: Box::new(outside(*then)), otherwise }
        }
        kind => kind,
    };
    Stmt { kind, at }
}
