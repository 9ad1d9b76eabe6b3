//! Parser of the textual form ([`crate::print`] has the grammar by example):
//! `parse(&program.to_string()) == Ok(program)`.
//!
//! Every function with a syntax error gives one diagnostic. Parsing continues at the next `fn`.
//! Scopes and types are left to the validator. Nesting is bounded by [`MAX_DEPTH`].

mod expr_syntax;

use std::borrow::Cow;

use crate::diagnostic::{Code, Diagnostic, Span};
use crate::expr::Expr;
use crate::lex::{Lexer, Token};
use crate::name::Name;
use crate::print::Scope;
use crate::program::{
    Access, ArrayDecl, Assign, Component, Copy, CopyKind, Function, Loop, LoopKind, Param, ParamMode,
    Program, ReduceOp, Stmt, Storage, Update,
};
use crate::types::{Elem, Scalar};

/// How deep expressions and statements may be nested in programs that are parsed, validated,
/// simplified or run.
pub const MAX_DEPTH: usize = 500;

/// The parser's own bound. Parentheses and braces make the text of a program of [`MAX_DEPTH`]
/// levels at most twice as deep.
const MAX_NESTING: usize = 2 * MAX_DEPTH + 20;

/// The program that the text stands for.
///
/// # Errors
/// One diagnostic for each function that can't be read, in the order of the text.
pub fn parse(text: &str) -> Result<Program, Vec<Diagnostic>> {
    let mut parser = Parser::new(text);
    let mut functions = Vec::new();
    let mut errors = Vec::new();
    loop {
        parser.scope = Scope::default();
        parser.depth = 0;
        match parser.next_function() {
            Ok(None) => break,
            Ok(Some(function)) => functions.push(function),
            Err(error) => {
                errors.push(*error);
                if errors.len() >= 20 {
                    break;
                }
                parser.recover();
            }
        }
    }
    if errors.is_empty() { Ok(Program { functions }) } else { Err(errors) }
}

/// Errors are rare and diagnostics are large.
pub(crate) type Parsed<T> = Result<T, Box<Diagnostic>>;

pub(crate) struct Parser<'a> {
    lexer: Lexer<'a>,
    pub(crate) token: Token<'a>,
    span: Span,
    /// Where the last token ended.
    end: u32,
    /// An error of the lexer about the current token.
    pending: Option<Box<Diagnostic>>,
    pub(crate) scope: Scope,
    depth: usize,
}

impl<'a> Parser<'a> {
    pub(crate) fn new(text: &'a str) -> Parser<'a> {
        let mut parser = Parser {
            lexer: Lexer::new(text),
            token: Token::End,
            span: Span::default(),
            end: 0,
            pending: None,
            scope: Scope::default(),
            depth: 0,
        };
        parser.advance();
        parser
    }

    fn advance(&mut self) -> Token<'a> {
        self.end = self.span.end;
        let (token, span) = match self.lexer.next() {
            Ok(next) => next,
            Err(error) => {
                let span = error.labels.first().map_or(self.span, |label| label.span);
                self.pending = Some(Box::new(error));
                // No rule accepts an empty symbol, so that whoever looks at it reports the pending
                // error.
                (Token::Symbol(""), span)
            }
        };
        self.span = span;
        std::mem::replace(&mut self.token, token)
    }

    /// Goes on at the next `fn`.
    fn recover(&mut self) {
        loop {
            self.pending = None;
            if matches!(self.token, Token::End | Token::Keyword("fn")) {
                return;
            }
            self.advance();
        }
    }

    pub(crate) fn unexpected<T>(&mut self, expected: &str) -> Parsed<T> {
        if let Some(error) = self.pending.take() {
            return Err(error);
        }
        let message = format!("expected {expected}, found {}", self.token.describe());
        let mut error = Diagnostic::error(Code("L0101"), message, self.span, format!("expected {expected}"));
        if let Token::Keyword(word) = self.token {
            error = error.help(format!("`{word}` is a keyword; as a name it is written `` `{word}` ``"));
        }
        Err(Box::new(error))
    }

    pub(crate) fn is_symbol(&self, symbol: &str) -> bool {
        matches!(&self.token, Token::Symbol(s) if *s == symbol)
    }

    fn is_keyword(&self, word: &str) -> bool {
        matches!(&self.token, Token::Keyword(w) if *w == word)
    }

    /// Whether the token is this word, which is only a keyword where it stands.
    fn is_word(&self, word: &str) -> bool {
        matches!(&self.token, Token::Name(Cow::Borrowed(w)) if *w == word)
    }

    pub(crate) fn accept_symbol(&mut self, symbol: &str) -> bool {
        let found = self.is_symbol(symbol);
        if found {
            self.advance();
        }
        found
    }

    pub(crate) fn accept_keyword(&mut self, word: &str) -> bool {
        let found = self.is_keyword(word);
        if found {
            self.advance();
        }
        found
    }

    pub(crate) fn accept_word(&mut self, word: &str) -> bool {
        let found = self.is_word(word);
        if found {
            self.advance();
        }
        found
    }

    pub(crate) fn expect(&mut self, symbol: &str) -> Parsed<()> {
        if self.accept_symbol(symbol) { Ok(()) } else { self.unexpected(&format!("`{symbol}`")) }
    }

    pub(crate) fn name(&mut self, what: &str) -> Parsed<Name> {
        match &self.token {
            Token::Name(name) => {
                let name = Name::new(name);
                self.advance();
                Ok(name)
            }
            _ => self.unexpected(what),
        }
    }

    /// Runs `inner` one level deeper.
    fn nested<T>(&mut self, inner: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        self.check_depth(self.depth + 1)?;
        self.depth += 1;
        let result = inner(self);
        self.depth -= 1;
        result
    }

    /// One level deeper, until [`Parser::shallower`].
    pub(crate) fn deeper(&mut self) -> Parsed<()> {
        self.check_depth(self.depth + 1)?;
        self.depth += 1;
        Ok(())
    }

    /// One level up.
    pub(crate) fn shallower(&mut self) {
        self.depth -= 1;
    }

    fn check_depth(&self, depth: usize) -> Parsed<()> {
        if depth <= MAX_NESTING {
            return Ok(());
        }
        let message = format!("the program is nested deeper than {MAX_NESTING} levels");
        Err(Box::new(
            Diagnostic::error(Code("L0104"), message, self.span, "too deep here")
                .help("name parts of it by local variables"),
        ))
    }

    fn next_function(&mut self) -> Parsed<Option<Function>> {
        match self.token {
            Token::End => Ok(None),
            Token::Keyword("fn") => {
                self.advance();
                self.function().map(Some)
            }
            _ => self.unexpected("`fn`"),
        }
    }

    fn function(&mut self) -> Parsed<Function> {
        let head = self.head()?;
        let body = self.block()?;
        Ok(Function { body, ..head })
    }

    /// Name, sizes, parameters and assumptions, which are declared from then on.
    pub(crate) fn head(&mut self) -> Parsed<Function> {
        let name = self.name("the name of the function")?;
        let mut sizes = Vec::new();
        if self.accept_symbol("[") {
            while !self.accept_symbol("]") {
                let size = self.name("a size parameter or `]`")?;
                self.scope.declare(&size, false);
                sizes.push(size);
                if !self.is_symbol("]") {
                    self.expect(",")?;
                }
            }
        }
        self.expect("(")?;
        let mut params = Vec::new();
        while !self.accept_symbol(")") {
            let param = self.param()?;
            self.scope.declare(&param.name, true);
            params.push(param);
            if !self.is_symbol(")") {
                self.expect(",")?;
            }
        }
        let mut assumptions = Vec::new();
        if self.accept_keyword("where") {
            loop {
                assumptions.push(self.expr(0)?);
                if !self.accept_symbol(",") {
                    break;
                }
            }
        }
        Ok(Function { name, sizes, assumptions, params, body: Vec::new() })
    }

    fn param(&mut self) -> Parsed<Param> {
        let name = self.name("a parameter or `)`")?;
        self.expect(":")?;
        let mode = [ParamMode::In, ParamMode::Out, ParamMode::InOut]
            .into_iter()
            .find(|mode| self.accept_word(mode.keyword()));
        let Some(mode) = mode else { return self.unexpected("`in`, `out` or `inout`") };
        let elem = self.elem()?;
        let dims = self.brackets()?;
        Ok(Param { name, elem, dims, mode })
    }

    fn scalar(&mut self) -> Option<Scalar> {
        Scalar::ALL
            .into_iter()
            .find(|scalar| self.accept_keyword(scalar.keyword()) || self.accept_word(scalar.keyword()))
    }

    pub(crate) fn elem(&mut self) -> Parsed<Elem> {
        if self.accept_symbol("(") {
            return self.nested(|p| {
                let first = p.elem()?;
                p.expect(",")?;
                let second = p.elem()?;
                p.expect(")")?;
                Ok(Elem::pair(first, second))
            });
        }
        match self.scalar() {
            Some(scalar) => Ok(scalar.into()),
            None => self.unexpected("an element type"),
        }
    }

    pub(crate) fn brackets(&mut self) -> Parsed<Vec<Expr>> {
        let mut indices = Vec::new();
        while self.accept_symbol("[") {
            indices.push(self.expr(0)?);
            self.expect("]")?;
        }
        Ok(indices)
    }

    pub(crate) fn block(&mut self) -> Parsed<Vec<Stmt>> {
        self.expect("{")?;
        self.nested(|p| {
            let mark = p.scope.enter();
            let mut body = Vec::new();
            while !p.accept_symbol("}") {
                body.push(p.stmt()?);
            }
            p.scope.leave(mark);
            Ok(body)
        })
    }

    fn stmt(&mut self) -> Parsed<Stmt> {
        let loop_kind = match self.token {
            Token::Keyword("for") => Some(LoopKind::Sequential),
            Token::Keyword("par") => Some(LoopKind::Parallel),
            Token::Keyword("vec") => Some(LoopKind::Vector),
            Token::Keyword("unroll") => Some(LoopKind::Unroll(None)),
            _ => None,
        };
        if let Some(kind) = loop_kind {
            self.advance();
            return self.loop_stmt(kind).map(Stmt::Loop);
        }
        match &self.token {
            Token::Symbol("{") => Ok(Stmt::Block { mark: None, body: self.block()? }),
            Token::Keyword("mark") => {
                self.advance();
                let mark = Some(self.name("the name of the block")?);
                Ok(Stmt::Block { mark, body: self.block()? })
            }
            Token::Keyword("if") => {
                self.advance();
                self.conditional()
            }
            Token::Keyword("local") => {
                self.advance();
                self.local().map(Stmt::Local)
            }
            Token::Keyword("get") => {
                self.advance();
                self.copy(CopyKind::Get).map(Stmt::Copy)
            }
            Token::Keyword("put") => {
                self.advance();
                self.copy(CopyKind::Put).map(Stmt::Copy)
            }
            Token::Keyword("wait") => {
                self.advance();
                Ok(Stmt::Wait(self.name("the tag to wait for")?))
            }
            Token::Name(_) => self.assign().map(Stmt::Assign),
            _ => self.unexpected("a statement or `}`"),
        }
    }

    fn loop_stmt(&mut self, mut kind: LoopKind) -> Parsed<Loop> {
        if kind == LoopKind::Unroll(None) && self.accept_symbol("(") {
            let span = self.span;
            let factor = self.integer()?;
            let Ok(factor) = u32::try_from(factor) else {
                return Err(self.out_of_range(span, "an unroll factor fits in 32 bits"));
            };
            kind = LoopKind::Unroll(Some(factor));
            self.expect(")")?;
        }
        let var = self.name("the loop variable")?;
        if !self.accept_word("in") {
            return self.unexpected("`in`");
        }
        let lower = self.expr(0)?;
        self.expect("..")?;
        let upper = self.expr(0)?;
        let step = if self.accept_word("step") { self.integer()? } else { 1 };
        let mut reductions = Vec::new();
        if self.accept_word("reduce") {
            self.expect("(")?;
            while !self.accept_symbol(")") {
                let Some(op) = self.reduce_op() else {
                    return self.unexpected("the operation of a reduction or `)`");
                };
                self.expect(":")?;
                reductions.push((op, self.name("the accumulator")?));
                if !self.is_symbol(")") {
                    self.expect(",")?;
                }
            }
        }
        let mark = self.scope.enter();
        self.scope.declare(&var, false);
        let body = self.block()?;
        self.scope.leave(mark);
        Ok(Loop { var, lower, upper, step, kind, reductions, body })
    }

    pub(crate) fn reduce_op(&mut self) -> Option<ReduceOp> {
        ReduceOp::ALL.into_iter().find(|op| self.accept_symbol(op.symbol()) || self.accept_word(op.symbol()))
    }

    fn conditional(&mut self) -> Parsed<Stmt> {
        self.nested(|p| {
            let cond = p.expr(0)?;
            let then = p.block()?;
            let otherwise = if !p.accept_keyword("else") {
                Vec::new()
            } else if p.accept_keyword("if") {
                vec![p.conditional()?]
            } else {
                p.block()?
            };
            Ok(Stmt::If { cond, then, otherwise })
        })
    }

    fn local(&mut self) -> Parsed<ArrayDecl> {
        let name = self.name("the name of the local array")?;
        self.expect(":")?;
        let elem = self.elem()?;
        let dims = self.brackets()?;
        let storage = if self.accept_keyword("stack") {
            Storage::Stack
        } else if self.accept_keyword("heap") {
            Storage::Heap
        } else if self.accept_keyword("scratchpad") {
            Storage::Scratchpad
        } else {
            Storage::Auto
        };
        self.scope.declare(&name, true);
        Ok(ArrayDecl { name, elem, dims, storage })
    }

    fn copy(&mut self, kind: CopyKind) -> Parsed<Copy> {
        let from = self.name("the array to copy from")?;
        let from = self.access_of(from)?;
        self.expect("->")?;
        let to = self.name("the array to copy to")?;
        let to = self.access_of(to)?;
        let extents = if self.accept_keyword("extents") { self.brackets()? } else { Vec::new() };
        let tag = if self.accept_keyword("tag") { Some(self.name("a tag")?) } else { None };
        Ok(Copy { kind, from, to, extents, tag })
    }

    fn assign(&mut self) -> Parsed<Assign> {
        let mut array = self.name("a statement")?;
        let mut label = None;
        if self.accept_symbol(":") {
            label = Some(array);
            array = self.name("the array or variable that is assigned")?;
        }
        let target = self.access_of(array)?;
        let reorder = self.accept_word("reduce");
        let update = self.reduce_op().map(|op| Update { op, reorder });
        if update.is_none() && (reorder || !self.is_symbol("=")) {
            return self.unexpected(if reorder {
                "the operation of the reduction"
            } else {
                "`=`, or an operation and `=`"
            });
        }
        self.expect("=")?;
        let value = self.expr(0)?;
        Ok(Assign { label, target, update, value })
    }

    /// Subscripts and components after the name of an array.
    fn access_of(&mut self, array: Name) -> Parsed<Access> {
        let indices = self.brackets()?;
        let mut path = Vec::new();
        while self.accept_symbol(".") {
            if self.accept_word("x1") {
                path.push(Component::First);
            } else if self.accept_word("x2") {
                path.push(Component::Second);
            } else {
                return self.unexpected("`x1` or `x2`");
            }
        }
        Ok(Access { array, indices, path })
    }
}
