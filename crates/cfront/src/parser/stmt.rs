//! Statements of a region. Those that a region cannot have are parsed and kept by name.

use super::{MAX_HEIGHT, Parsed, Parser, acts};
use crate::ast::{Binary, Declaration, Expr, ExprKind, For, Init, Stmt, StmtKind};
use crate::ctype::IntType;
use crate::lexer::Tok;
use crate::scope::Place;

impl Parser<'_> {
    /// Statements to the end of the tokens.
    pub fn statements_to_end(&mut self) -> Parsed<Vec<Stmt>> {
        let mut out = Vec::new();
        while self.tok() != Tok::End {
            out.push(self.statement()?);
        }
        Ok(out)
    }

    fn statement(&mut self) -> Parsed<Stmt> {
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
            Tok::Pragma => {
                let mut texts = Vec::new();
                while self.tok() == Tok::Pragma {
                    let (here, text) = (self.pos, self.text().to_string());
                    self.pos += 1;
                    texts.push((text, self.since(here)));
                }
                let at = self.since(first);
                // What a pragma stands before is one statement with it, as in `if (c) #pragma ... for`.
                let next = match self.tok() {
                    Tok::Punct("}") | Tok::End => None,
                    _ => Some(Box::new(self.statement()?)),
                };
                return Ok(Stmt { kind: StmtKind::Pragma(texts, next), at });
            }
            _ => match self.word() {
                "for" => return self.for_statement(),
                "if" => {
                    self.pos += 1;
                    self.expect("(")?;
                    let cond = self.expression()?;
                    self.expect(")")?;
                    let at = self.since(first);
                    let then = Box::new(self.statement()?);
                    let otherwise =
                        if self.accept_word("else") { Some(Box::new(self.statement()?)) } else { None };
                    return Ok(Stmt { kind: StmtKind::If { cond, then, otherwise }, at });
                }
                word @ ("while" | "switch") => {
                    self.pos += 1;
                    self.expect("(")?;
                    self.expression()?;
                    self.expect(")")?;
                    let at = self.since(first);
                    self.statement()?;
                    let name = if word == "while" { "`while`" } else { "`switch`" };
                    return Ok(Stmt { kind: StmtKind::Unsupported(name), at });
                }
                "do" => {
                    self.pos += 1;
                    self.statement()?;
                    if !self.accept_word("while") {
                        return Err(self.expected("`while`"));
                    }
                    self.expect("(")?;
                    self.expression()?;
                    self.expect(")")?;
                    self.expect(";")?;
                    let at = crate::ast::At { first: first as u32, last: first as u32 };
                    return Ok(Stmt { kind: StmtKind::Unsupported("`do … while`"), at });
                }
                word @ ("break" | "continue" | "goto" | "return") => {
                    let name = match word {
                        "break" => "`break`",
                        "continue" => "`continue`",
                        "goto" => "`goto`",
                        _ => "`return`",
                    };
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
                    StmtKind::Unsupported("a label")
                }
                _ if self.starts_type(self.pos) => StmtKind::Declare(self.declaration(Place::Local)?),
                _ => {
                    let value = self.expression()?;
                    self.expect(";")?;
                    match &value.kind {
                        ExprKind::Assign(_, _, inner) if matches!(inner.kind, ExprKind::Assign(..)) => {
                            let mut out = Vec::new();
                            match one_by_one(&value, &mut out) {
                                Some(()) => StmtKind::Block(out),
                                None => StmtKind::Expr(value),
                            }
                        }
                        _ => StmtKind::Expr(value),
                    }
                }
            },
        };
        Ok(Stmt { kind, at: self.since(first) })
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
            out.push(self.statement()?);
        }
        self.pos += 1;
        self.scopes.truncate(depth);
        Ok(out)
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
        let mut cond = if self.is(";") { None } else { Some(self.expression()?) };
        self.expect(";")?;
        let mut step = if self.is(")") { None } else { Some(self.expression()?) };
        self.expect(")")?;
        let mut init = init;
        if step.is_none() {
            self.counted_first(&mut init, &mut cond, &mut step);
        }
        let at = self.since(first);
        let body = self.statement()?;
        self.scopes.truncate(depth);
        Ok(Stmt { kind: StmtKind::For(Box::new(For { init, cond, step, body })), at })
    }

    /// `for (i = n; i-- > 0;)` as `for (i = n - 1; i >= 0; i--)`, which leaves the same `i` behind; of types with a sign.
    fn counted_first(&self, init: &mut Option<Stmt>, cond: &mut Option<Expr>, step: &mut Option<Expr>) {
        let Some(Expr { kind: ExprKind::Binary(Binary::Gt, counts, zero), at, height }) = cond else {
            return;
        };
        let (ExprKind::Step(-1, variable), ExprKind::Int(0, _)) = (&counts.kind, &zero.kind) else { return };
        let ExprKind::Ident(name) = &variable.kind else { return };
        let counts_after = self.source.token_text(counts.at.last as usize) == "--";
        let first = match init.as_mut().map(|stmt| &mut stmt.kind) {
            Some(StmtKind::Declare(declared)) => match declared.as_mut_slice() {
                [Declaration { name: declared, init: Some(Init::Expr(first)), .. }] if declared == name => {
                    first
                }
                _ => return,
            },
            Some(StmtKind::Expr(Expr { kind: ExprKind::Assign(None, target, first), .. })) => {
                match &target.kind {
                    ExprKind::Ident(target) if target == name => &mut **first,
                    _ => return,
                }
            }
            _ => return,
        };
        if !counts_after || !self.counts_below_zero(variable) || first.height >= MAX_HEIGHT {
            return;
        }
        let (at_first, height_first) = (first.at, first.height);
        let one = Expr { kind: ExprKind::Int(1, IntType::Int), at: at_first, height: 1 };
        let less = ExprKind::Binary(Binary::Sub, Box::new(first.clone()), Box::new(one));
        *first = Expr { kind: less, at: at_first, height: height_first + 1 };
        let stays = ExprKind::Binary(Binary::Ge, variable.clone(), zero.clone());
        let (at, height, counts) = (*at, *height, (**counts).clone());
        *cond = Some(Expr { kind: stays, at, height });
        *step = Some(counts);
    }
}

/// The assignments of `x = y = e`, the inner one first: its value is that of `y` afterwards. None if what is assigned to does more than be named.
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
