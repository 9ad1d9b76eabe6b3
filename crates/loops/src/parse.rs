//! Reads the textual form of programs ([`crate::print`] has the grammar by example): `parse(&program.to_string()) == Ok(program)`.
//!
//! Every function with a syntax error gives one diagnostic; parsing goes on at the next `fn`. Scopes and types are not looked at:
//! that is the validator's business. Nesting is bounded by [`MAX_DEPTH`].

use std::borrow::Cow;

use crate::diagnostic::{Code, Diagnostic, Span};
use crate::expr::{BinaryOp, CompareOp, Expr, UnaryOp};
use crate::lex::{Lexer, Token};
use crate::name::Name;
use crate::print::{COMPARE, Ident, PREFIX, Scope};
use crate::program::{
    Access, ArrayDecl, Assign, Component, Copy, CopyKind, Function, Loop, LoopKind, Param, ParamMode,
    Program, ReduceOp, Stmt, Storage, Update,
};
use crate::types::{Elem, Scalar};

/// How deep expressions and statements may be nested in programs that are parsed, validated, simplified or run.
pub const MAX_DEPTH: usize = 500;

/// The parser's own bound: parentheses and braces make the text of a program of [`MAX_DEPTH`] levels at most twice as deep.
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
type Parsed<T> = Result<T, Box<Diagnostic>>;

struct Parser<'a> {
    lexer: Lexer<'a>,
    token: Token<'a>,
    span: Span,
    /// Where the last token ended.
    end: u32,
    /// An error of the lexer about the current token.
    pending: Option<Box<Diagnostic>>,
    scope: Scope,
    depth: usize,
}

impl<'a> Parser<'a> {
    fn new(text: &'a str) -> Parser<'a> {
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
                // No rule accepts an empty symbol, so that whoever looks at it reports the pending error.
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

    fn unexpected<T>(&mut self, expected: &str) -> Parsed<T> {
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

    fn is_symbol(&self, symbol: &str) -> bool {
        matches!(&self.token, Token::Symbol(s) if *s == symbol)
    }

    fn is_keyword(&self, word: &str) -> bool {
        matches!(&self.token, Token::Keyword(w) if *w == word)
    }

    /// Whether the token is this word, which is only a keyword where it stands.
    fn is_word(&self, word: &str) -> bool {
        matches!(&self.token, Token::Name(Cow::Borrowed(w)) if *w == word)
    }

    fn accept_symbol(&mut self, symbol: &str) -> bool {
        let found = self.is_symbol(symbol);
        if found {
            self.advance();
        }
        found
    }

    fn accept_keyword(&mut self, word: &str) -> bool {
        let found = self.is_keyword(word);
        if found {
            self.advance();
        }
        found
    }

    fn accept_word(&mut self, word: &str) -> bool {
        let found = self.is_word(word);
        if found {
            self.advance();
        }
        found
    }

    fn expect(&mut self, symbol: &str) -> Parsed<()> {
        if self.accept_symbol(symbol) { Ok(()) } else { self.unexpected(&format!("`{symbol}`")) }
    }

    fn name(&mut self, what: &str) -> Parsed<Name> {
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
        let body = self.block()?;
        Ok(Function { name, sizes, assumptions, params, body })
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
        Scalar::ALL.into_iter().find(|scalar| self.accept_keyword(scalar.keyword()))
    }

    fn elem(&mut self) -> Parsed<Elem> {
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

    fn brackets(&mut self) -> Parsed<Vec<Expr>> {
        let mut indices = Vec::new();
        while self.accept_symbol("[") {
            indices.push(self.expr(0)?);
            self.expect("]")?;
        }
        Ok(indices)
    }

    fn block(&mut self) -> Parsed<Vec<Stmt>> {
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

    fn reduce_op(&mut self) -> Option<ReduceOp> {
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

    /// An expression whose operators bind at least as tightly as `level`.
    fn expr(&mut self, level: u8) -> Parsed<Expr> {
        self.nested(|p| p.infix(level))
    }

    fn infix(&mut self, level: u8) -> Parsed<Expr> {
        let mut left = self.prefix()?;
        let mut height = self.depth;
        let mut compared = false;
        loop {
            let found = match &self.token {
                Token::Symbol(symbol) => *symbol,
                Token::Keyword(word @ ("floordiv" | "mod")) => word,
                _ => return Ok(left),
            };
            if let Some(op) = CompareOp::ALL.into_iter().find(|op| op.symbol() == found) {
                if level > COMPARE {
                    return Ok(left);
                }
                if compared {
                    return self.unexpected("no second comparison without parentheses");
                }
                compared = true;
                self.advance();
                let right = self.expr(COMPARE + 1)?;
                left = Expr::compare(op, left, right);
            } else {
                let op = BinaryOp::ALL.into_iter().find(|op| op.symbol() == found);
                let Some((op, own)) = op.and_then(|op| Some((op, op.precedence()?))) else {
                    return Ok(left);
                };
                // What ends an update such as `x &&= y` is not an operand: no rule above asks for it.
                if own < level {
                    return Ok(left);
                }
                compared = compared && own > COMPARE;
                self.advance();
                let right = self.expr(own + 1)?;
                left = Expr::binary(op, left, right);
            }
            // Every operator to the right puts what is left of it one level deeper.
            height += 1;
            self.check_depth(height)?;
        }
    }

    fn prefix(&mut self) -> Parsed<Expr> {
        match &self.token {
            Token::Symbol("-") => {
                self.advance();
                match self.token {
                    Token::Number(_) | Token::Keyword("inf_f32" | "inf_f64") => self.number(true),
                    _ => Ok(Expr::unary(UnaryOp::Neg, self.expr(PREFIX)?)),
                }
            }
            Token::Symbol("!") => {
                self.advance();
                Ok(Expr::unary(UnaryOp::Not, self.expr(PREFIX)?))
            }
            Token::Symbol("(") => {
                self.advance();
                let inner = self.expr(0)?;
                self.expect(")")?;
                Ok(inner)
            }
            Token::Number(_) | Token::Keyword("inf_f32" | "inf_f64") => self.number(false),
            Token::Keyword("bits_f32") => {
                self.advance();
                let (bits, span) = self.bits()?;
                match u32::try_from(bits) {
                    Ok(bits) => Ok(Expr::f32(f32::from_bits(bits))),
                    Err(_) => Err(self.out_of_range(span, "these are more than 32 bits")),
                }
            }
            Token::Keyword("bits_f64") => {
                self.advance();
                Ok(Expr::f64(f64::from_bits(self.bits()?.0)))
            }
            Token::Keyword(word @ ("true" | "false")) => {
                let value = *word == "true";
                self.advance();
                Ok(Expr::Bool(value))
            }
            Token::Keyword("var") => {
                self.advance();
                self.expect("(")?;
                let name = self.name("a loop variable or size")?;
                self.expect(")")?;
                Ok(Expr::Var(name))
            }
            Token::Keyword("call") => {
                self.advance();
                let Some(ty) = self.scalar() else { return self.unexpected("the type of the call's result") };
                let function = self.name("the function")?;
                Ok(Expr::Call { function, ty, args: self.args()? })
            }
            Token::Keyword(_) => {
                let Some(scalar) = self.scalar() else { return self.unexpected("an expression") };
                let [operand] = self.args_of("a conversion")?;
                Ok(Expr::Cast(scalar, Box::new(operand)))
            }
            Token::Name(_) => self.name_expr(),
            _ => self.unexpected("an expression"),
        }
    }

    fn name_expr(&mut self) -> Parsed<Expr> {
        let quoted = matches!(&self.token, Token::Name(Cow::Owned(_)));
        let name = self.name("an expression")?;
        if self.is_symbol("(") && !quoted {
            if let Some(op) = UnaryOp::ALL.into_iter().find(|op| op.symbol() == name.as_str()) {
                let [operand] = self.args_of(op.symbol())?;
                return Ok(Expr::unary(op, operand));
            }
            if let Some(op) = BinaryOp::ALL.into_iter().find(|op| op.symbol() == name.as_str()) {
                let [left, right] = self.args_of(op.symbol())?;
                return Ok(Expr::binary(op, left, right));
            }
            if name.as_str() == "select" {
                let [cond, then, otherwise] = self.args_of("select")?;
                return Ok(Expr::Select(Box::new(cond), Box::new(then), Box::new(otherwise)));
            }
            let message = format!("`{}` is not a function of the language", Ident(&name));
            let span = Span { start: self.span.start, end: self.end.max(self.span.end) };
            return Err(Box::new(
                Diagnostic::error(Code("L0101"), message, span, "not callable by its bare name")
                    .help(format!("a function of the target is written `call f64 {}(…)`", Ident(&name))),
            ));
        }
        if self.is_symbol("[") || self.is_symbol(".") {
            if self.accept_symbol("[") {
                if self.accept_symbol("]") {
                    return Ok(Expr::Load(Access::scalar(name)));
                }
                let first = self.expr(0)?;
                self.expect("]")?;
                let mut access = self.access_of(name)?;
                access.indices.insert(0, first);
                return Ok(Expr::Load(access));
            }
            return self.access_of(name).map(Expr::Load);
        }
        Ok(if self.scope.is_array(&name) { Expr::Load(Access::scalar(name)) } else { Expr::Var(name) })
    }

    fn args(&mut self) -> Parsed<Vec<Expr>> {
        self.expect("(")?;
        let mut args = Vec::new();
        while !self.accept_symbol(")") {
            args.push(self.expr(0)?);
            if !self.is_symbol(")") {
                self.expect(",")?;
            }
        }
        Ok(args)
    }

    fn args_of<const N: usize>(&mut self, what: &str) -> Parsed<[Expr; N]> {
        let start = self.span;
        let args = self.args()?;
        <[Expr; N]>::try_from(args).map_err(|args| {
            let message = format!("`{what}` takes {N} operands, not {}", args.len());
            Box::new(Diagnostic::error(Code("L0101"), message, start, format!("expected {N}")))
        })
    }

    fn out_of_range(&self, span: Span, what: &str) -> Box<Diagnostic> {
        Box::new(Diagnostic::error(Code("L0102"), "this number can't be represented", span, what))
    }

    /// An integer with an optional sign and no suffix.
    fn integer(&mut self) -> Parsed<i64> {
        let negative = self.accept_symbol("-");
        let span = self.span;
        match self.number(negative)? {
            Expr::Int(value) => Ok(value),
            _ => Err(self.out_of_range(span, "a whole number is needed here")),
        }
    }

    /// `(0x…)`
    fn bits(&mut self) -> Parsed<(u64, Span)> {
        self.expect("(")?;
        let span = self.span;
        let Token::Number(text) = self.token else { return self.unexpected("a hexadecimal number") };
        let bits = text.strip_prefix("0x").and_then(|hex| u64::from_str_radix(hex, 16).ok());
        let Some(bits) = bits else {
            return Err(self.out_of_range(span, "`0x` and at most 16 hexadecimal digits"));
        };
        self.advance();
        self.expect(")")?;
        Ok((bits, span))
    }

    /// A literal whose sign has been read.
    fn number(&mut self, negative: bool) -> Parsed<Expr> {
        let span = self.span;
        let text = match self.token {
            Token::Keyword("inf_f32") => {
                self.advance();
                return Ok(Expr::f32(if negative { f32::NEG_INFINITY } else { f32::INFINITY }));
            }
            Token::Keyword("inf_f64") => {
                self.advance();
                return Ok(Expr::f64(if negative { f64::NEG_INFINITY } else { f64::INFINITY }));
            }
            Token::Number(text) => text,
            _ => return self.unexpected("a number"),
        };
        let suffix = ["f32", "f64", "i32", "i64"].into_iter().find(|s| text.ends_with(s)).unwrap_or("");
        let digits = &text[..text.len() - suffix.len()];
        let signed = if negative { format!("-{digits}") } else { digits.to_owned() };
        let is_integer = digits.bytes().all(|b| b.is_ascii_digit());
        let literal = match suffix {
            "f32" => signed.parse().ok().filter(|v: &f32| v.is_finite()).map(Expr::f32),
            "f64" => signed.parse().ok().filter(|v: &f64| v.is_finite()).map(Expr::f64),
            "" if !is_integer => signed.parse().ok().filter(|v: &f64| v.is_finite()).map(Expr::f64),
            "i32" => signed.parse().ok().map(Expr::I32),
            _ => signed.parse().ok().map(Expr::Int),
        };
        let Some(literal) = literal else {
            let what = match suffix {
                "f32" => "not a finite number of type `f32`",
                "i32" => "not a number of type `i32`",
                _ if is_integer => "not a number of type `i64`",
                _ => "not a finite number of type `f64`",
            };
            return Err(self.out_of_range(span, what));
        };
        self.advance();
        Ok(literal)
    }
}
