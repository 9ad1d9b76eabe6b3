//! Expressions and patterns, by precedence climbing.

use loops::{Code, Diagnostic, Name, Scalar, Span};

use super::ast::{BinOp, Expr, ExprKind, Number, NumberValue, Pattern, UnOp, holds};
use super::parser::Parser;
use super::token::{Keyword, TokenKind};

impl Parser<'_> {
    /// An expression: a lambda, a `let`, an `if`, or operators.
    pub(super) fn expr(&mut self) -> Expr {
        self.operators(0)
    }

    fn error_expr(&mut self) -> Expr {
        Expr::new(ExprKind::Error, self.span())
    }

    /// Operators that bind at least as tightly as `least`.
    fn operators(&mut self, least: u8) -> Expr {
        self.deeper(|p| p.operators_here(least)).unwrap_or_else(|| self.error_expr())
    }

    fn operators_here(&mut self, least: u8) -> Expr {
        let start = self.span();
        match self.kind() {
            TokenKind::Symbol("\\") => return self.lambda(),
            TokenKind::Keyword(Keyword::Let) => return self.let_in(),
            TokenKind::Keyword(Keyword::If) => return self.if_else(),
            _ => {}
        }
        let mut left = self.prefix();
        let mut compared: Option<Span> = None;
        while let TokenKind::Symbol(symbol) = self.kind() {
            let op_span = self.span();
            if symbol == "|>" {
                if least > 1 {
                    break;
                }
                self.advance();
                let right = self.operators(2);
                let span = start.to(right.span);
                left = self.node(ExprKind::Pipe(Box::new(left), Box::new(right)), span);
                compared = None;
                continue;
            }
            let Some(op) = BinOp::from_symbol(symbol) else { break };
            let precedence = op.precedence();
            if precedence < least {
                break;
            }
            if precedence == BinOp::Eq.precedence() {
                if let Some(first) = compared {
                    let diagnostic = Diagnostic::error(
                        Code("F0106"),
                        "comparisons can't be chained",
                        op_span,
                        "a second comparison",
                    );
                    self.report(
                        diagnostic
                            .context(first, "of the result of this one")
                            .help("write `a < b && b < c`, or parentheses"),
                    );
                }
                compared = Some(op_span);
            } else if precedence < BinOp::Eq.precedence() {
                compared = None;
            }
            self.advance();
            let right = self.operators(precedence + 1);
            let span = start.to(right.span);
            left = self.joined(op, left, right, span);
        }
        left
    }

    /// `left op right`; a long sum or product as a list.
    fn joined(&mut self, op: BinOp, left: Expr, right: Expr, span: Span) -> Expr {
        let precedence = op.precedence();
        let kind = match left.kind {
            ExprKind::Chain(first, mut rest)
                if rest.last().is_some_and(|(last, _)| last.precedence() == precedence) =>
            {
                // One node grows, so that a sum of many terms takes time in proportion to them.
                let depth = left.depth.max(right.depth.saturating_add(1));
                rest.push((op, right));
                return Expr { kind: ExprKind::Chain(first, rest), span, depth };
            }
            ExprKind::Binary(before, ..)
                if left.depth >= LONG && before.precedence() == precedence && op.is_arithmetic() =>
            {
                ExprKind::Chain(Box::new(left), vec![(op, right)])
            }
            _ => ExprKind::Binary(op, Box::new(left), Box::new(right)),
        };
        self.node(kind, span)
    }

    fn lambda(&mut self) -> Expr {
        let start = self.advance().span;
        let mut patterns = Vec::new();
        while !self.is("->") {
            match self.pattern() {
                Some(pattern) => patterns.push(pattern),
                None => return self.error_expr(),
            }
        }
        if patterns.is_empty() {
            self.expected("a parameter", Some(start));
        }
        self.expect("->", Some(start));
        let body = self.expr();
        let span = start.to(body.span);
        self.node(ExprKind::Lambda(patterns, Box::new(body)), span)
    }

    fn let_in(&mut self) -> Expr {
        let start = self.advance().span;
        let Some(pattern) = self.pattern() else { return self.error_expr() };
        let ty = if self.eat(":") { Some(self.ty()) } else { None };
        self.expect("=", Some(start));
        let value = self.expr();
        if !self.eat_word(Keyword::In) {
            self.expected("`in`", Some(start));
            return self.error_expr();
        }
        let body = self.expr();
        let span = start.to(body.span);
        self.node(ExprKind::Let(Box::new(pattern), ty, Box::new(value), Box::new(body)), span)
    }

    fn if_else(&mut self) -> Expr {
        let start = self.advance().span;
        let condition = self.expr();
        if !self.eat_word(Keyword::Then) {
            self.expected("`then`", Some(start));
            return self.error_expr();
        }
        let yes = self.expr();
        if !self.eat_word(Keyword::Else) {
            self.expected("`else`", Some(start));
            return self.error_expr();
        }
        let no = self.expr();
        let span = start.to(no.span);
        self.node(ExprKind::If(Box::new(condition), Box::new(yes), Box::new(no)), span)
    }

    /// `-e`, `!e`, or an application. A minus sign in front of a number is part of the number.
    fn prefix(&mut self) -> Expr {
        let start = self.span();
        let op = match self.kind() {
            TokenKind::Symbol("-") => UnOp::Neg,
            TokenKind::Symbol("!") => UnOp::Not,
            _ => {
                let base = self.application();
                return self.power(base, start);
            }
        };
        self.advance();
        let number =
            matches!(self.kind(), TokenKind::Number | TokenKind::Keyword(Keyword::Inf | Keyword::Nan));
        // `-2 ^ 2` is `-(2 ^ 2)`, as for names.
        if op == UnOp::Neg && number && self.peek(1) != TokenKind::Symbol("^") {
            return self.number(true, start);
        }
        let operand = self.deeper(Self::prefix).unwrap_or_else(|| self.error_expr());
        let span = start.to(operand.span);
        self.node(ExprKind::Unary(op, Box::new(operand)), span)
    }

    /// `base`, or `base ^ 3`.
    fn power(&mut self, base: Expr, start: Span) -> Expr {
        if !self.eat("^") {
            return base;
        }
        let span = self.span();
        let digits = self.text(span).replace('_', "");
        let exponent = digits.parse().ok().filter(|exponent| *exponent <= MAX_EXPONENT);
        let Some(exponent) = exponent.filter(|_| self.kind() == TokenKind::Number) else {
            let message = format!("an exponent is a whole number up to {MAX_EXPONENT}");
            let diagnostic = Diagnostic::error(Code("F0105"), message, span, "not such a number");
            self.report(diagnostic.help("`pow x y` takes any floating-point number `y`"));
            return self.error_expr();
        };
        self.advance();
        if self.is("^") {
            let diagnostic =
                Diagnostic::error(Code("F0106"), "powers can't be chained", self.span(), "a second power");
            self.report(diagnostic.help("write parentheses"));
        }
        self.node(ExprKind::Power(Box::new(base), exponent), start.to(span))
    }

    /// Whether the token stands directly behind the one before, as a subscript does.
    fn is_adjacent(&self) -> bool {
        self.span().start == self.last_span().end
    }

    fn starts_atom(&self) -> bool {
        match self.kind() {
            TokenKind::Name | TokenKind::Number => true,
            TokenKind::Symbol(s) => matches!(s, "(" | "_" | "[" | "{"),
            TokenKind::Keyword(k) => {
                matches!(k, Keyword::True | Keyword::False | Keyword::Inf | Keyword::Nan)
            }
            _ => false,
        }
    }

    fn application(&mut self) -> Expr {
        let start = self.span();
        let head = self.postfix();
        let mut arguments = Vec::new();
        while self.starts_atom() {
            arguments.push(self.postfix());
        }
        if arguments.is_empty() {
            return head;
        }
        let span = start.to(self.last_span());
        self.node(ExprKind::Apply(Box::new(head), arguments), span)
    }

    /// An atom with its subscripts and fields. These stand directly behind it: `f [i]` applies `f`
    /// to an array.
    fn postfix(&mut self) -> Expr {
        let start = self.span();
        let mut expr = self.atom();
        loop {
            if self.is(".") && self.is_adjacent() && self.peek(1) == TokenKind::Name {
                self.advance();
                let Some(field) = self.ident("a field") else { break };
                let span = start.to(field.span);
                expr = self.node(ExprKind::Field(Box::new(expr), field), span);
                continue;
            }
            if !(self.is("[") && self.is_adjacent()) {
                break;
            }
            let opened = self.advance().span;
            let mut subscripts = vec![self.expr()];
            while self.eat(",") {
                subscripts.push(self.expr());
            }
            let end = self.close("]", opened);
            expr = self.node(ExprKind::Index(Box::new(expr), subscripts), start.to(end));
        }
        expr
    }

    /// An atom as a size argument in a type: a name, a number, `_`, or an expression in
    /// parentheses.
    pub(super) fn size_atom(&mut self) -> Expr {
        self.deeper(Self::atom).unwrap_or_else(|| self.error_expr())
    }

    pub(super) fn at_size_atom(&self) -> bool {
        matches!(self.kind(), TokenKind::Name | TokenKind::Number) || self.is("(") || self.is("_")
    }

    fn atom(&mut self) -> Expr {
        let span = self.span();
        match self.kind() {
            TokenKind::Name => {
                self.advance();
                let name = Name::new(self.text(span));
                self.node(ExprKind::Name(name), span)
            }
            TokenKind::Number | TokenKind::Keyword(Keyword::Inf | Keyword::Nan) => self.number(false, span),
            TokenKind::Keyword(k @ (Keyword::True | Keyword::False)) => {
                self.advance();
                self.node(ExprKind::Bool(k == Keyword::True), span)
            }
            TokenKind::Symbol("_") => {
                self.advance();
                self.node(ExprKind::Hole, span)
            }
            TokenKind::Symbol("(") => self.parenthesis(),
            TokenKind::Symbol("{") => self.record(),
            TokenKind::Symbol("[") => {
                let opened = self.advance().span;
                let mut elements = vec![self.expr()];
                while self.eat(",") {
                    elements.push(self.expr());
                }
                let end = self.close("]", opened);
                self.node(ExprKind::Array(elements), opened.to(end))
            }
            _ => {
                self.expected("an expression", None);
                let stays = self.at_item()
                    || matches!(self.kind(), TokenKind::Symbol(")" | "]" | "}" | "," | "=" | ";"))
                    || matches!(
                        self.kind(),
                        TokenKind::Keyword(Keyword::In | Keyword::Then | Keyword::Else | Keyword::Where)
                    );
                if !stays {
                    self.advance();
                }
                Expr::new(ExprKind::Error, span)
            }
        }
    }

    /// `{x = a, y = b}`, `{x = a, ..r}`; `{x}` is `{x = x}`.
    fn record(&mut self) -> Expr {
        let opened = self.advance().span;
        let (mut fields, mut base) = (Vec::new(), None);
        loop {
            if self.eat("..") {
                base = Some(Box::new(self.expr()));
                break;
            }
            let Some(name) = self.ident("a field") else { return self.error_expr() };
            let value = match self.eat("=") {
                true => self.expr(),
                false => self.node(ExprKind::Name(name.name.clone()), name.span),
            };
            fields.push((name, value));
            if !self.eat(",") {
                break;
            }
        }
        let span = opened.to(self.close("}", opened));
        self.node(ExprKind::Record(fields, base), span)
    }

    /// `(e)`, `(a, b)`, `(e : t)` or `(+)`.
    fn parenthesis(&mut self) -> Expr {
        let opened = self.advance().span;
        if let (TokenKind::Symbol(symbol), TokenKind::Symbol(")")) = (self.kind(), self.peek(1))
            && let Some(op) = BinOp::from_symbol(symbol)
        {
            self.advance();
            let end = self.advance().span;
            return self.node(ExprKind::Section(op), opened.to(end));
        }
        let mut first = self.expr();
        if self.eat(":") {
            let ty = self.ty();
            let end = self.close(")", opened);
            return self.node(ExprKind::Ascribe(Box::new(first), ty), opened.to(end));
        }
        if !self.is(",") {
            let end = self.close(")", opened);
            first.span = opened.to(end);
            return first;
        }
        let mut parts = vec![first];
        while self.eat(",") {
            parts.push(self.expr());
        }
        let end = self.close(")", opened);
        self.node(ExprKind::Tuple(parts), opened.to(end))
    }

    /// A number; `start` is where its sign or first digit stands.
    fn number(&mut self, negative: bool, start: Span) -> Expr {
        let token = self.advance();
        let span = start.to(token.span);
        let sign = if negative { "-" } else { "" };
        if let TokenKind::Keyword(keyword) = token.kind {
            let value = NumberValue::Float(format!("{sign}{}", keyword.text()));
            return self.node(ExprKind::Number(Number { value, suffix: None }), span);
        }
        match read_number(self.text(token.span), sign) {
            Ok(number) => self.node(ExprKind::Number(number), span),
            Err(message) => {
                self.at -= 1;
                self.report(Diagnostic::error(Code("F0105"), message, token.span, "in this number"));
                self.at += 1;
                Expr::new(ExprKind::Error, span)
            }
        }
    }

    /// A pattern: a name, `_`, a tuple of patterns, or fields of a record.
    pub(super) fn pattern(&mut self) -> Option<Pattern> {
        self.deeper(Self::pattern_here).flatten()
    }

    fn pattern_here(&mut self) -> Option<Pattern> {
        let start = self.span();
        if self.eat("_") {
            return Some(Pattern::Ignore(start));
        }
        if self.eat("(") {
            let mut parts = vec![self.pattern()?];
            while self.eat(",") {
                parts.push(self.pattern()?);
            }
            let span = start.to(self.close(")", start));
            return Some(if parts.len() == 1 { parts.remove(0) } else { Pattern::Tuple(parts, span) });
        }
        if self.eat("{") {
            let mut fields = Vec::new();
            loop {
                let name = self.ident("a field")?;
                let part = if self.eat("=") { self.pattern()? } else { Pattern::Name(name.clone()) };
                fields.push((name, part));
                if !self.eat(",") {
                    break;
                }
            }
            let span = start.to(self.close("}", start));
            return Some(Pattern::Record(fields, span));
        }
        self.ident("a name or a pattern").map(Pattern::Name)
    }
}

/// Sums that are nested this deep go on as lists.
const LONG: u32 = 64;

/// Largest exponent of `x ^ k`, which becomes products.
const MAX_EXPONENT: u32 = 1024;

/// The number with this text; `sign` is `-` or nothing.
fn read_number(text: &str, sign: &str) -> Result<Number, String> {
    let numbers = || Scalar::ALL.into_iter().filter(|scalar| scalar.is_number());
    let suffix = numbers().find(|scalar| text.ends_with(scalar.keyword()));
    let digits = suffix.map_or(text, |s| &text[..text.len() - s.keyword().len()]);
    let plain = digits.replace('_', "");
    let is_float = plain.contains(['.', 'e', 'E']);
    let letters = plain.chars().any(|c| c.is_ascii_alphabetic() && !matches!(c, 'e' | 'E'));
    if letters || plain.parse::<f64>().is_err() {
        let suffixes = numbers().map(Scalar::keyword).collect::<Vec<_>>().join(" ");
        return Err(format!("`{text}` is not a number; suffixes are `{suffixes}`"));
    }
    if is_float || suffix.is_some_and(Scalar::is_float) {
        if let Some(scalar) = suffix.filter(|s| s.is_int()) {
            return Err(format!("a number with a fraction or exponent can't be an `{scalar}`"));
        }
        return Ok(Number { value: NumberValue::Float(format!("{sign}{plain}")), suffix });
    }
    let value: i128 = format!("{sign}{plain}").parse().map_err(|_| format!("`{text}` is too large"))?;
    // Without a suffix it may still be one of `u64`.
    let fits = match suffix {
        Some(scalar) => holds(scalar, value),
        None => holds(Scalar::I64, value) || holds(Scalar::U64, value),
    };
    if !fits {
        return Err(format!("`{sign}{text}` does not fit in `{}`", suffix.unwrap_or(Scalar::I64)));
    }
    Ok(Number { value: NumberValue::Int(value), suffix })
}
