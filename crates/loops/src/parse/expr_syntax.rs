//! Expressions and numbers: operators by precedence, functions, accesses.

use super::{Parsed, Parser};
use crate::diagnostic::{Code, Diagnostic, Span};
use crate::expr::{BinaryOp, CompareOp, Expr, UnaryOp};
use crate::lex::Token;
use crate::print::{COMPARE, Ident, PREFIX};
use crate::program::Access;
use crate::types::Scalar;
use std::borrow::Cow;

impl Parser<'_> {
    /// An expression whose operators bind at least as tightly as `level`.
    pub(crate) fn expr(&mut self, level: u8) -> Parsed<Expr> {
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
                // What ends an update such as `x &&= y` is not an operand: no rule above asks for
                // it.
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
            // The other types are keywords; these came later, and are names of loops elsewhere.
            if let Some(scalar) = Scalar::ALL.into_iter().find(|scalar| scalar.keyword() == name.as_str()) {
                let [operand] = self.args_of("a conversion")?;
                return Ok(Expr::Cast(scalar, Box::new(operand)));
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

    pub(super) fn out_of_range(&self, span: Span, what: &str) -> Box<Diagnostic> {
        Box::new(Diagnostic::error(Code("L0102"), "this number can't be represented", span, what))
    }

    /// An integer with an optional sign and no suffix.
    pub(crate) fn integer(&mut self) -> Parsed<i64> {
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
