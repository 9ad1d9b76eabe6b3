//! `switch` as a chain of `if`, and `goto` forward in a block as conditions of what it passes over.
//!
//! Not here: jumps back, out of loops or into blocks, and cases that run on into the next one.
//! These stay, and are refused.

use super::jumps::{jumps, run};
use super::{Parsed, Parser, acts};
use crate::ast::{At, Binary, Expr, ExprKind, GOTOS, Stmt, StmtKind};
use crate::lexer::Tok;

/// A case of a `switch`: its values, none for `default`, and its statements.
struct Case {
    values: Vec<Expr>,
    default: bool,
    body: Vec<Stmt>,
}

impl Parser<'_> {
    /// `switch (e) { … }` whose head has been read, as a chain of `if`. `None`, with the position
    /// as it was, if it is none.
    pub(super) fn switch_as_ifs(&mut self, value: &Expr, at: At) -> Option<Stmt> {
        let (pos, depth) = (self.pos, self.scopes.depth());
        if acts(value) || !self.accept("{") {
            self.pos = pos;
            return None;
        }
        self.scopes.push();
        let cases = self.cases();
        self.scopes.truncate(depth);
        let Some(cases) = cases.ok().flatten() else {
            self.pos = pos;
            return None;
        };
        let chain = chain(value, cases, at);
        if chain.is_none() {
            self.pos = pos;
        }
        chain
    }

    /// The cases up to the brace at the end.
    fn cases(&mut self) -> Parsed<Option<Vec<Case>>> {
        let mut cases: Vec<Case> = Vec::new();
        while !self.accept("}") {
            if self.tok() == Tok::End {
                return Err(self.expected("`}`"));
            }
            match self.word() {
                "case" => {
                    self.pos += 1;
                    let value = self.conditional()?;
                    if !self.accept(":") || self.constant(&value).is_none() {
                        return Ok(None);
                    }
                    match cases.last_mut().filter(|case| case.body.is_empty()) {
                        Some(case) => case.values.push(value),
                        None => cases.push(Case { values: vec![value], default: false, body: Vec::new() }),
                    }
                }
                "default" => {
                    self.pos += 1;
                    if !self.accept(":") {
                        return Ok(None);
                    }
                    match cases.last_mut().filter(|case| case.body.is_empty()) {
                        Some(case) => case.default = true,
                        None => cases.push(Case { values: Vec::new(), default: true, body: Vec::new() }),
                    }
                }
                _ => {
                    let stmt = self.statement()?;
                    let Some(case) = cases.last_mut() else { return Ok(None) };
                    // Its name would be known in the other cases.
                    if matches!(stmt.kind, StmtKind::Declare(_)) {
                        return Ok(None);
                    }
                    case.body.push(stmt);
                }
            }
        }
        Ok(Some(cases))
    }

    /// The number of a label, by which jumps to it are known.
    pub(super) fn label(&mut self, name: &str) -> Option<&'static str> {
        let known = self.labels.iter().position(|label| label == name);
        let number = known.unwrap_or_else(|| {
            self.labels.push(name.to_owned());
            self.labels.len() - 1
        });
        GOTOS.get(number).copied()
    }
}

/// The chain of conditions; none if a case runs on into the next one.
fn chain(value: &Expr, cases: Vec<Case>, at: At) -> Option<Stmt> {
    let count = cases.len();
    let mut otherwise: Option<Box<Stmt>> = None;
    let mut conditions: Vec<(Expr, Stmt)> = Vec::new();
    for (k, case) in cases.into_iter().enumerate() {
        let ends = matches!(case.body.last().map(|stmt| &stmt.kind), Some(StmtKind::Jump(_)))
            || matches!(case.body.last().map(|stmt| &stmt.kind), Some(StmtKind::Block(inner))
                if matches!(inner.last().map(|stmt| &stmt.kind), Some(StmtKind::Jump(_))));
        if !ends && k + 1 < count {
            return None;
        }
        let body = Stmt { kind: StmtKind::Block(run(case.body, &["break"], 0)), at };
        if jumps(&body, &["break"]) {
            return None;
        }
        if case.default {
            otherwise = Some(Box::new(body));
            continue;
        }
        let is = |of: &Expr| Expr {
            kind: ExprKind::Binary(Binary::Eq, Box::new(value.clone()), Box::new(of.clone())),
            at: of.at,
            height: value.height.max(of.height) + 1,
        };
        let any = case.values.iter().map(is).reduce(|a, b| {
            let (at, height) = (a.at, a.height.max(b.height) + 1);
            Expr { kind: ExprKind::Binary(Binary::Or, Box::new(a), Box::new(b)), at, height }
        })?;
        if any.height > super::MAX_HEIGHT {
            return None;
        }
        conditions.push((any, body));
    }
    let ifs = conditions.into_iter().rev().fold(otherwise, |otherwise, (cond, then)| {
        let kind = StmtKind::If { cond, then: Box::new(then), otherwise };
        Some(Box::new(Stmt { kind, at }))
    });
    Some(ifs.map_or(Stmt { kind: StmtKind::Empty, at }, |stmt| *stmt))
}

/// The statements of a block, with jumps to labels further on as conditions.
pub(super) fn without_labels(mut statements: Vec<Stmt>) -> Vec<Stmt> {
    let mut from = 0;
    while let Some(place) = statements[from..].iter().position(|stmt| matches!(stmt.kind, StmtKind::Label(_)))
    {
        let place = from + place;
        let at = statements[place].at;
        let StmtKind::Label(label) = statements[place].kind else { break };
        let behind = statements.split_off(place + 1);
        statements.pop();
        // A jump back to it would be somewhere behind; and what is declared under a condition is
        // not known there.
        let declares = statements.iter().any(|stmt| matches!(stmt.kind, StmtKind::Declare(_)));
        let ends = behind.iter().all(|stmt| matches!(stmt.kind, StmtKind::Empty | StmtKind::Label(_)));
        if behind.iter().any(|stmt| jumps(stmt, &[label])) || (declares && !ends) {
            statements.push(Stmt { kind: StmtKind::Unsupported("a label"), at });
        } else {
            statements = run(statements, &[label], 0);
        }
        from = statements.len();
        statements.extend(behind);
    }
    statements
}
