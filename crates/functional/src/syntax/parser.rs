//! The state of the parser: tokens, errors, recovery and the limits on size and depth.

use loops::{Code, Diagnostic, Name, Span};

use super::ast::{Expr, ExprKind, Ident, Module, Type, TypeKind};
use super::token::{Keyword, Token, TokenKind, lex};

/// Longest source text in bytes.
pub const MAX_BYTES: usize = 2 << 20;

/// Deepest nesting of a tree. The recursive stages after the parser need stack for it: 1 GiB is
/// enough.
pub const MAX_DEPTH: u32 = 20_000;

/// At most this many errors are reported for one file.
const MAX_ERRORS: usize = 50;

/// Parses one file. The tree holds what could be read. Definitions with an error are not part of
/// it.
pub fn parse_module(source: &str) -> (Module, Vec<Diagnostic>) {
    if source.len() > MAX_BYTES {
        let message = format!("the file has {} bytes; at most {MAX_BYTES} are read", source.len());
        return (Module::default(), vec![Diagnostic::general(Code("F0104"), message)]);
    }
    let mut parser = Parser::new(source);
    let module = parser.module();
    (module, parser.diagnostics)
}

pub(super) struct Parser<'a> {
    pub(super) source: &'a str,
    pub(super) tokens: Vec<Token>,
    pub(super) comments: Vec<Span>,
    pub(super) at: usize,
    pub(super) diagnostics: Vec<Diagnostic>,
    /// Errors so far, also those that are not reported.
    pub(super) errors: usize,
    /// Errors before the item that is being read.
    pub(super) errors_before_item: usize,
    depth: u32,
    /// The token of the last error: a second one there is an echo.
    last_error: Option<usize>,
    /// Whether the nesting limit was hit: nothing more is read.
    gave_up: bool,
}

impl<'a> Parser<'a> {
    pub(super) fn new(source: &'a str) -> Self {
        let lexed = lex(source);
        Parser {
            source,
            tokens: lexed.tokens,
            comments: lexed.comments,
            at: 0,
            errors: 0,
            errors_before_item: 0,
            diagnostics: lexed.diagnostics,
            depth: 0,
            last_error: None,
            gave_up: false,
        }
    }

    pub(super) fn token(&self) -> Token {
        self.tokens[self.at]
    }

    pub(super) fn kind(&self) -> TokenKind {
        self.token().kind
    }

    pub(super) fn peek(&self, ahead: usize) -> TokenKind {
        self.tokens[(self.at + ahead).min(self.tokens.len() - 1)].kind
    }

    pub(super) fn span(&self) -> Span {
        self.token().span
    }

    /// The place of the token before this one.
    pub(super) fn last_span(&self) -> Span {
        self.tokens[self.at.saturating_sub(1)].span
    }

    pub(super) fn text(&self, span: Span) -> &'a str {
        &self.source[span.start as usize..span.end as usize]
    }

    pub(super) fn advance(&mut self) -> Token {
        let token = self.token();
        if self.at + 1 < self.tokens.len() {
            self.at += 1;
        }
        token
    }

    pub(super) fn is(&self, symbol: &str) -> bool {
        matches!(self.kind(), TokenKind::Symbol(s) if s == symbol)
    }

    pub(super) fn is_word(&self, keyword: Keyword) -> bool {
        self.kind() == TokenKind::Keyword(keyword)
    }

    pub(super) fn eat(&mut self, symbol: &str) -> bool {
        let found = self.is(symbol);
        if found {
            self.advance();
        }
        found
    }

    pub(super) fn eat_word(&mut self, keyword: Keyword) -> bool {
        let found = self.is_word(keyword);
        if found {
            self.advance();
        }
        found
    }

    /// Whether a new item starts here, or the file ends.
    pub(super) fn at_item(&self) -> bool {
        matches!(self.kind(), TokenKind::End)
            || matches!(self.kind(), TokenKind::Keyword(k) if k.starts_item())
    }

    pub(super) fn found(&self) -> String {
        match self.kind() {
            TokenKind::End => "the end of the file".to_owned(),
            TokenKind::Keyword(k) => format!("the reserved word `{}`", k.text()),
            TokenKind::Name => format!("the name `{}`", self.text(self.span())),
            TokenKind::Number => format!("the number `{}`", self.text(self.span())),
            TokenKind::Text => "a text".to_owned(),
            TokenKind::Symbol(s) => format!("`{s}`"),
        }
    }

    pub(super) fn report(&mut self, diagnostic: Diagnostic) {
        self.errors += 1;
        // Behind an error in the same item, that the item ends is no news.
        if self.errors > self.errors_before_item + 1 && self.at_item() {
            return;
        }
        if self.last_error == Some(self.at) || self.gave_up || self.diagnostics.len() >= MAX_ERRORS {
            return;
        }
        self.last_error = Some(self.at);
        self.diagnostics.push(diagnostic);
    }

    /// "expected X, found Y" at this token; `opened` is the bracket or word that waits for X.
    pub(super) fn expected(&mut self, what: &str, opened: Option<Span>) {
        let message = format!("expected {what}, found {}", self.found());
        let mut diagnostic =
            Diagnostic::error(Code("F0101"), message, self.span(), format!("expected {what}"));
        if let Some(span) = opened {
            diagnostic = diagnostic.context(span, "this is not finished");
        }
        if self.is(".") && self.peek(1) == TokenKind::Number {
            diagnostic = diagnostic.help(
                "the parts of a pair are `fst p` and `snd p`, or names in a pattern: `\\(x, y) -> ...`",
            );
        }
        self.report(diagnostic);
    }

    /// Takes `symbol`, or reports that it is missing.
    pub(super) fn expect(&mut self, symbol: &str, opened: Option<Span>) -> bool {
        let found = self.eat(symbol);
        if !found {
            self.expected(&format!("`{symbol}`"), opened);
        }
        found
    }

    /// Takes the closing bracket; where it is missing, skips to it, or to the end of the item.
    pub(super) fn close(&mut self, symbol: &str, opened: Span) -> Span {
        if !self.expect(symbol, Some(opened)) {
            let mut open = 0usize;
            while !self.at_item() {
                match self.kind() {
                    TokenKind::Symbol("(" | "[" | "{") => open += 1,
                    TokenKind::Symbol(s @ (")" | "]" | "}")) => {
                        if open == 0 {
                            if s == symbol {
                                self.advance();
                            }
                            break;
                        }
                        open -= 1;
                    }
                    _ => {}
                }
                self.advance();
            }
        }
        self.last_span()
    }

    pub(super) fn ident(&mut self, what: &str) -> Option<Ident> {
        if self.kind() == TokenKind::Name {
            let span = self.advance().span;
            return Some(Ident { name: Name::new(self.text(span)), span });
        }
        if let TokenKind::Keyword(keyword) = self.kind() {
            let message = format!("`{}` is a reserved word, so it can't be {what}", keyword.text());
            let span = self.span();
            self.report(Diagnostic::error(Code("F0101"), message, span, "choose another name"));
        } else {
            self.expected(what, None);
        }
        None
    }

    /// Runs `parse` one level deeper, or reports that the nesting is too deep and gives up on the
    /// file.
    pub(super) fn deeper<T>(&mut self, parse: impl FnOnce(&mut Self) -> T) -> Option<T> {
        if self.depth >= MAX_DEPTH {
            self.give_up();
            return None;
        }
        self.depth += 1;
        let result = parse(self);
        self.depth -= 1;
        Some(result)
    }

    fn give_up(&mut self) {
        let message = format!("more than {MAX_DEPTH} levels of nesting");
        let span = self.span();
        self.report(
            Diagnostic::error(Code("F0103"), message, span, "the nesting is too deep here")
                .help("split the expression into several definitions"),
        );
        self.gave_up = true;
        self.at = self.tokens.len() - 1;
    }

    pub(super) fn node(&mut self, kind: ExprKind, span: Span) -> Expr {
        let expr = Expr::new(kind, span);
        if expr.depth > MAX_DEPTH {
            self.give_up();
            return Expr::new(ExprKind::Error, span);
        }
        expr
    }

    pub(super) fn type_node(&mut self, kind: TypeKind, span: Span) -> Type {
        let ty = Type::new(kind, span);
        if ty.depth > MAX_DEPTH {
            self.give_up();
            return Type::new(TypeKind::Error, span);
        }
        ty
    }
}

impl Expr {
    /// An expression; its depth is that of its parts and one.
    pub fn new(kind: ExprKind, span: Span) -> Expr {
        let depth = 1 + match &kind {
            ExprKind::Name(_)
            | ExprKind::Number(_)
            | ExprKind::Bool(_)
            | ExprKind::Hole
            | ExprKind::Section(_)
            | ExprKind::Error => 0,
            ExprKind::Apply(f, xs) | ExprKind::Index(f, xs) => {
                xs.iter().map(|x| x.depth).fold(f.depth, u32::max)
            }
            ExprKind::Pipe(a, b) | ExprKind::Binary(_, a, b) => a.depth.max(b.depth),
            ExprKind::Lambda(_, e) | ExprKind::Unary(_, e) | ExprKind::Power(e, _) => e.depth,
            ExprKind::Ascribe(e, t) => e.depth.max(t.depth),
            ExprKind::Let(_, t, a, b) => a.depth.max(b.depth).max(t.as_ref().map_or(0, |t| t.depth)),
            ExprKind::If(a, b, c) => a.depth.max(b.depth).max(c.depth),
            ExprKind::Chain(first, rest) => rest.iter().map(|(_, e)| e.depth).fold(first.depth, u32::max),
            ExprKind::Field(e, _) => e.depth,
            ExprKind::Record(fields, base) => {
                let parts = fields.iter().map(|(_, x)| x).chain(base.as_deref());
                parts.map(|x| x.depth).max().unwrap_or(0).saturating_add(fields.len() as u32)
            }
            ExprKind::Array(xs) => xs.iter().map(|x| x.depth).max().unwrap_or(0),
            ExprKind::Tuple(xs) => {
                xs.iter().map(|x| x.depth).max().unwrap_or(0).saturating_add(xs.len() as u32)
            }
        };
        Expr { kind, span, depth }
    }
}

impl Type {
    /// A type; its depth is that of its parts and one.
    pub fn new(kind: TypeKind, span: Span) -> Type {
        let depth = 1 + match &kind {
            TypeKind::Scalar(_) | TypeKind::Error => 0,
            TypeKind::Name(_, sizes) => sizes.iter().map(|s| s.depth).max().unwrap_or(0),
            TypeKind::Record(fields) => {
                fields.iter().map(|(_, t)| t.depth).max().unwrap_or(0).saturating_add(fields.len() as u32)
            }
            TypeKind::Idx(n) => n.depth,
            TypeKind::Array(n, t) | TypeKind::Vector(n, t) => n.depth.max(t.depth),
            TypeKind::Pair(a, b) | TypeKind::Fun(a, b) => a.depth.max(b.depth),
            TypeKind::SizeFun(_, t) => t.depth,
        };
        Type { kind, span, depth }
    }
}
