//! Statements of a region. Those that a region cannot have are parsed and kept by name.

use super::jumps::without_jumps;
use super::{Parsed, Parser, acts};
use crate::ast::{Binary, Declaration, Expr, ExprKind, For, Init, Stmt, StmtKind, mentions};
use crate::ctype::QType;
use crate::lexer::Tok;
use crate::scope::Place;

impl Parser<'_> {
    /// Statements to the end of the tokens.
    pub(crate) fn statements_to_end(&mut self) -> Parsed<Vec<Stmt>> {
        let mut out = Vec::new();
        while self.tok() != Tok::End {
            self.statement_into(&mut out)?;
        }
        Ok(super::guards::without_labels(out).into_iter().map(super::jumps::outside).collect())
    }

    /// A statement of a block. `double s = f(x);` is two, if statements take the place of the call.
    pub(super) fn statement_into(&mut self, out: &mut Vec<Stmt>) -> Parsed<()> {
        let stmt = self.statement()?;
        self.declared_into(stmt, out);
        Ok(())
    }

    /// A statement, or those that a declaration stands for.
    pub(super) fn declared_into(&mut self, stmt: Stmt, out: &mut Vec<Stmt>) {
        let StmtKind::Declare(declared) = &stmt.kind else {
            out.push(stmt);
            return;
        };
        if let Some(members) = self.structures_declared(declared, stmt.at) {
            out.extend(members);
            return;
        }
        if let [d @ Declaration { init: Some(Init::Expr(call)), is_static: false, .. }] = &declared[..] {
            let target = Expr { kind: ExprKind::Ident(d.name.clone()), at: d.at, height: 1 };
            let kind = ExprKind::Assign(None, Box::new(target), Box::new(call.clone()));
            let set = Expr { kind, at: stmt.at, height: call.height + 1 };
            if let Some(kind) = self.statements_of(&set).or_else(|| self.hoisted(&set)) {
                let ty = QType { constant: false, ..d.ty.clone() };
                let plain = Declaration { init: None, ty, ..d.clone() };
                out.push(Stmt { kind: StmtKind::Declare(vec![plain]), at: stmt.at });
                out.push(Stmt { kind, at: stmt.at });
                return;
            }
        }
        out.push(stmt);
    }

    pub(super) fn statement(&mut self) -> Parsed<Stmt> {
        self.deeper(|p| p.statement_inner())
    }

    fn statement_inner(&mut self) -> Parsed<Stmt> {
        let first = self.pos;
        let kind = match self.tok() {
            Tok::Punct(";") => {
                self.pos += 1;
                StmtKind::Empty
            }
            Tok::Punct("{") => StmtKind::Block(self.block()?),
            Tok::Pragma => return self.pragmas(),
            _ => match self.word() {
                "for" => return self.for_statement(),
                "if" => return self.if_statement(),
                word @ ("while" | "switch") => {
                    self.pos += 1;
                    self.expect("(")?;
                    let cond = self.expression()?;
                    self.expect(")")?;
                    let at = self.since(first);
                    if word == "switch"
                        && let Some(ifs) = self.switch_as_ifs(&cond, at)
                    {
                        return Ok(ifs);
                    }
                    let body = self.statement()?;
                    if word == "while" {
                        let kind = match self.counted_while(cond.clone(), body.clone()) {
                            Some((f, raw)) => Some(self.with_body(f, raw, first)),
                            None => self.endless(Some(cond), body, (first, first + 1)),
                        };
                        if let Some(kind) = kind {
                            return Ok(Stmt { kind, at });
                        }
                    }
                    let name = if word == "while" { "`while`" } else { "`switch`" };
                    return Ok(Stmt { kind: StmtKind::Unsupported(name), at });
                }
                "do" => return self.do_statement(),
                word @ ("break" | "continue") if self.is_at(self.pos + 1, ";") => {
                    self.pos += 2;
                    StmtKind::Jump(if word == "break" { "break" } else { "continue" })
                }
                "goto" if self.tok_at(self.pos + 1) == Tok::Ident && self.is_at(self.pos + 2, ";") => {
                    let name = self.text_at(self.pos + 1);
                    self.pos += 3;
                    match self.label(name) {
                        Some(label) => StmtKind::Jump(label),
                        None => StmtKind::Unsupported("`goto`"),
                    }
                }
                word @ ("goto" | "return") => {
                    let name = if word == "goto" { "`goto`" } else { "`return`" };
                    self.pos += 1;
                    while !self.is(";") {
                        if matches!(self.tok(), Tok::End | Tok::Punct("}")) {
                            return Err(self.expected("`;`"));
                        }
                        self.pos += 1;
                    }
                    self.pos += 1;
                    StmtKind::Unsupported(name)
                }
                "asm" | "__asm__" | "__asm" => {
                    while !self.accept(";") {
                        if self.tok() == Tok::End {
                            return Err(self.expected("`;`"));
                        }
                        self.pos += 1;
                    }
                    StmtKind::Unsupported("`asm`")
                }
                "case" | "default" => {
                    while !self.accept(":") {
                        if matches!(self.tok(), Tok::End | Tok::Punct(";" | "}")) {
                            return Err(self.expected("`:`"));
                        }
                        self.pos += 1;
                    }
                    StmtKind::Unsupported("a `case` label")
                }
                word if !word.is_empty()
                    && self.is_at(self.pos + 1, ":")
                    && !self.scopes.is_typedef(word) =>
                {
                    self.pos += 2;
                    match self.label(word) {
                        Some(label) => StmtKind::Label(label),
                        None => StmtKind::Unsupported("a label"),
                    }
                }
                _ if self.starts_type(self.pos) => StmtKind::Declare(self.declaration(Place::Local)?),
                _ => {
                    let value = self.expression()?;
                    self.expect(";")?;
                    let several = self.statements_of(&value).or_else(|| self.hoisted(&value));
                    let several = several.or_else(|| self.members_of(&value));
                    several.unwrap_or_else(|| one_statement(value))
                }
            },
        };
        Ok(Stmt { kind, at: self.since(first) })
    }

    /// Pragmas, and the statement that they stand before.
    fn pragmas(&mut self) -> Parsed<Stmt> {
        let first = self.pos;
        let mut texts = Vec::new();
        while self.tok() == Tok::Pragma {
            let (here, text) = (self.pos, self.text().to_string());
            self.pos += 1;
            texts.push((text, self.since(here)));
        }
        let at = self.since(first);
        // What a pragma stands before is one statement with it, as in
        // `if (c) #pragma ... for`.
        let next = match self.tok() {
            Tok::Punct("}") | Tok::End => None,
            _ => Some(Box::new(self.statement()?)),
        };
        Ok(Stmt { kind: StmtKind::Pragma(texts, next), at })
    }

    fn if_statement(&mut self) -> Parsed<Stmt> {
        let first = self.pos;
        self.pos += 1;
        self.expect("(")?;
        let cond = self.expression()?;
        self.expect(")")?;
        let at = self.since(first);
        let (mut before, cond) = self.hoisted_condition(&cond).unwrap_or((Vec::new(), cond));
        let then = Box::new(self.statement()?);
        let otherwise = if self.accept_word("else") { Some(Box::new(self.statement()?)) } else { None };
        let kind = StmtKind::If { cond, then, otherwise };
        if before.is_empty() {
            return Ok(Stmt { kind, at });
        }
        before.push(Stmt { kind, at });
        Ok(Stmt { kind: StmtKind::Block(before), at })
    }

    fn do_statement(&mut self) -> Parsed<Stmt> {
        let first = self.pos;
        self.pos += 1;
        let body = self.statement()?;
        let last = self.pos;
        if !self.accept_word("while") {
            return Err(self.expected("`while`"));
        }
        self.expect("(")?;
        let cond = self.expression()?;
        self.expect(")")?;
        self.expect(";")?;
        // As macros of several statements are written.
        if self.constant(&cond) == Some(0) {
            let body = vec![without_jumps(body, &["break", "continue"])];
            return Ok(Stmt { kind: StmtKind::Block(body), at: self.since(first) });
        }
        let whole = self.since(first);
        let counts = |(f, raw): &(For, Stmt)| !f.counts_first && !super::jumps::jumps(raw, &["break"]);
        let counted = self.counted_while(cond.clone(), body.clone()).filter(counts);
        let kind = match counted {
            Some((f, raw)) => Some(self.with_body(For { at_least_once: true, ..f }, raw, first)),
            None => self.tested_last(cond, body, (first, last)),
        };
        let (kind, at) = match kind {
            Some(kind) => (kind, whole),
            None => {
                let at = crate::ast::At { first: first as u32, last: first as u32 };
                (StmtKind::Unsupported("`do … while`"), at)
            }
        };
        Ok(Stmt { kind, at })
    }

    /// Whether a `while` or `do` loop begins here and ends before a token, and counts. The position
    /// does not change. What a `do` ends with is no loop.
    pub(crate) fn counts_in_while(&mut self, behind: usize) -> bool {
        let (pos, end, depth) = (self.pos, self.end, self.scopes.depth());
        let (measured, labels) = (self.measured.len(), self.labels.len());
        self.end = behind;
        self.scopes.push();
        let first = self.word() == "do";
        self.pos += 1;
        let mut read = || {
            let tested = if first { Some(self.statement()?) } else { None };
            if first && !self.accept_word("while") {
                return Err(self.expected("`while`"));
            }
            self.expect("(")?;
            let cond = self.expression()?;
            self.expect(")")?;
            Ok((cond, if let Some(body) = tested { body } else { self.statement()? }))
        };
        let parts: Parsed<(Expr, Stmt)> = read();
        let empty = |body: &Stmt| matches!(body.kind, StmtKind::Empty);
        let counted = parts.ok().filter(|(_, body)| !empty(body));
        let counts = counted.and_then(|(cond, body)| self.counted_while(cond, body)).is_some();
        self.scopes.truncate(depth);
        self.measured.truncate(measured);
        self.labels.truncate(labels);
        (self.pos, self.end) = (pos, end);
        counts
    }

    /// `while (i < n) { …; i++; }` as a loop that goes on from where its variable is, and its body.
    fn counted_while(&self, cond: Expr, body: Stmt) -> Option<(For, Stmt)> {
        let body = match body.kind {
            StmtKind::Block(_) => body,
            _ => Stmt { at: body.at, kind: StmtKind::Block(vec![body]) },
        };
        // A `continue` would pass over the step.
        if super::jumps::jumps(&body, &["continue"]) {
            return None;
        }
        let StmtKind::Block(mut statements) = body.kind else { return None };
        // What the body declares is not known in a header.
        let declared: Vec<String> = statements
            .iter()
            .filter_map(|stmt| match &stmt.kind {
                StmtKind::Declare(declared) => Some(declared),
                _ => None,
            })
            .flat_map(|declared| declared.iter().map(|d| d.name.clone()))
            .collect();
        let own = |e: &Expr| declared.iter().any(|name| mentions(e, name));
        let counts = |stmt: &Stmt| match &stmt.kind {
            StmtKind::Expr(e) if own(e) => false,
            StmtKind::Expr(Expr {
                kind:
                    ExprKind::Step(_, target)
                    | ExprKind::Assign(None | Some(Binary::Add | Binary::Sub), target, _),
                ..
            }) => matches!(&target.kind, ExprKind::Ident(name) if mentions(&cond, name)),
            _ => false,
        };
        let step = match statements.last().is_some_and(counts).then(|| statements.pop()).flatten() {
            Some(Stmt { kind: StmtKind::Expr(step), .. }) => Some(step),
            _ => None,
        };
        let raw = Stmt { kind: StmtKind::Block(statements), at: body.at };
        let body = Stmt { kind: StmtKind::Empty, at: body.at };
        let (before, others) = (Vec::new(), Vec::new());
        let cond = Some(cond);
        let (counts_first, at_least_once) = (false, false);
        let init = None;
        let mut f = For { before, init, cond, step, counts_first, at_least_once, others, mixed: None, body };
        if f.step.is_none() {
            self.counted_in_condition(&mut f);
        }
        f.step.is_some().then_some((f, raw))
    }

    fn block(&mut self) -> Parsed<Vec<Stmt>> {
        self.expect("{")?;
        let depth = self.scopes.depth();
        self.scopes.push();
        let mut out = Vec::new();
        while !self.is("}") {
            if self.tok() == Tok::End {
                return Err(self.expected("`}`"));
            }
            self.statement_into(&mut out)?;
        }
        self.pos += 1;
        self.scopes.truncate(depth);
        Ok(super::guards::without_labels(out))
    }

    fn for_statement(&mut self) -> Parsed<Stmt> {
        let first = self.pos;
        let depth = self.scopes.depth();
        self.scopes.push();
        self.pos += 1;
        self.expect("(")?;
        let start = self.pos;
        let init = if self.accept(";") {
            None
        } else if self.starts_type(self.pos) {
            let kind = StmtKind::Declare(self.declaration(Place::Local)?);
            Some(Stmt { kind, at: self.since(start) })
        } else {
            let value = self.expression()?;
            self.expect(";")?;
            Some(Stmt { kind: StmtKind::Expr(value), at: self.since(start) })
        };
        let cond = if self.is(";") { None } else { Some(self.expression()?) };
        self.expect(";")?;
        let step = if self.is(")") { None } else { Some(self.expression()?) };
        self.expect(")")?;
        let at = self.since(first);
        let raw = self.statement()?;
        let (before, others) = (Vec::new(), Vec::new());
        let (counts_first, at_least_once) = (false, false);
        let body = Stmt { kind: StmtKind::Empty, at: raw.at };
        let mut f = For { before, init, cond, step, counts_first, at_least_once, others, mixed: None, body };
        self.counted_in_condition(&mut f);
        self.taken_apart(&mut f);
        let endless = f.init.is_none() && f.cond.is_none() && f.step.is_none() && f.mixed.is_none();
        let kind = match endless.then(|| self.endless(None, raw.clone(), (first, first + 1))).flatten() {
            Some(kind) => kind,
            None => self.with_body(f, raw, first),
        };
        self.scopes.truncate(depth);
        Ok(Stmt { kind, at })
    }
}

/// An expression as a statement: what it assigns, one after the other.
pub(super) fn one_statement(value: Expr) -> StmtKind {
    let mut out = Vec::new();
    match &value.kind {
        ExprKind::Comma(list) => {
            let statement = |e: &Expr| Stmt { kind: one_statement(e.clone()), at: e.at };
            StmtKind::Block(list.iter().map(statement).collect())
        }
        ExprKind::Assign(_, _, inner) if matches!(inner.kind, ExprKind::Assign(..)) => {
            match one_by_one(&value, &mut out) {
                Some(()) => StmtKind::Block(out),
                None => StmtKind::Expr(value),
            }
        }
        // What a comma computes first is computed before, if it is nothing that the target needs.
        ExprKind::Assign(op, target, inner) if matches!(inner.kind, ExprKind::Comma(_)) => {
            let ExprKind::Comma(list) = &inner.kind else { return StmtKind::Expr(value) };
            let Some((last, before)) = list.split_last() else { return StmtKind::Expr(value) };
            let set = before.iter().map(|e| match &e.kind {
                ExprKind::Assign(_, set, _) | ExprKind::Step(_, set) => match &set.kind {
                    ExprKind::Ident(name) => Some(name),
                    _ => None,
                },
                _ => None,
            });
            let apart = set.into_iter().all(|name| name.is_some_and(|name| !mentions(target, name)));
            if acts(target) || !apart {
                return StmtKind::Expr(value);
            }
            let kind = ExprKind::Assign(*op, target.clone(), Box::new(last.clone()));
            let assigned = Expr { kind, ..value.clone() };
            let all = before.iter().chain([&assigned]);
            StmtKind::Block(all.map(|e| Stmt { kind: one_statement(e.clone()), at: e.at }).collect())
        }
        _ => StmtKind::Expr(value),
    }
}

/// The assignments of `x = y = e`, the inner one first: its value is that of `y` afterwards. `None`
/// if an inner target has side effects.
fn one_by_one(e: &Expr, out: &mut Vec<Stmt>) -> Option<()> {
    let ExprKind::Assign(op, target, value) = &e.kind else { return None };
    let value = match &value.kind {
        ExprKind::Assign(_, inner, _) => {
            (!acts(inner)).then_some(())?;
            one_by_one(value, out)?;
            inner.clone()
        }
        _ => value.clone(),
    };
    let kind = ExprKind::Assign(*op, target.clone(), value);
    out.push(Stmt { kind: StmtKind::Expr(Expr { kind, ..e.clone() }), at: e.at });
    Some(())
}
