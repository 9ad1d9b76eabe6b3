//! Statements of a region. Those that a region cannot have are parsed and kept by name.

use super::{Parsed, Parser};
use crate::ast::{For, Stmt, StmtKind};
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
                    StmtKind::Expr(value)
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
        let cond = if self.is(";") { None } else { Some(self.expression()?) };
        self.expect(";")?;
        let step = if self.is(")") { None } else { Some(self.expression()?) };
        self.expect(")")?;
        let at = self.since(first);
        let body = self.statement()?;
        self.scopes.truncate(depth);
        Ok(Stmt { kind: StmtKind::For(Box::new(For { init, cond, step, body })), at })
    }
}
