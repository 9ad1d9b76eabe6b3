//! Attribute expressions.

use crate::lex::Token;
use crate::parse::{KEYWORDS, Parser, Read};
use crate::rule::{BinaryOp, Each, ElementType, Expr, ExprKind, Fold, Function, Kind, Name, Place, UnaryOp};

/// The precedence of `not`: below comparisons, above `and`.
const NOT: u8 = 3;

impl Parser<'_> {
    /// An expression.
    pub(crate) fn expr(&mut self) -> Read<Expr> {
        self.deeper(|p| p.binary(0))
    }

    fn binary_operator(&self) -> Option<BinaryOp> {
        match self.token() {
            Token::Sign(s) => BinaryOp::parse(s),
            Token::Word(w) if KEYWORDS.contains(&w.as_str()) => BinaryOp::parse(w),
            _ => None,
        }
    }

    fn binary(&mut self, least: u8) -> Read<Expr> {
        let start = self.span();
        let mut left = self.unary(least)?;
        let mut chain = 0;
        let mut compared = false;
        while self.goes_on() {
            if self.is_word("is") && BinaryOp::Eq.precedence() >= least {
                self.advance();
                let kind = self.kind()?;
                left = Expr { kind: ExprKind::Is(Box::new(left), kind), place: self.since(start) };
                continue;
            }
            let Some(op) = self.binary_operator() else { break };
            let level = op.precedence();
            if level < least {
                break;
            }
            let comparison = level == BinaryOp::Eq.precedence();
            if comparison && compared {
                return self.error("R0102", "comparisons can't be chained".into(), "write `a < b and b < c`");
            }
            compared |= comparison;
            // A chain nests to the left, so its length counts as depth.
            chain += 1;
            if chain > super::MAX_DEPTH {
                return self.error(
                    "R0103",
                    format!("more than {} operators in a row", super::MAX_DEPTH),
                    "too long",
                );
            }
            self.advance();
            let right = self.deeper(|p| p.binary(level + 1))?;
            left = Expr {
                kind: ExprKind::Binary(op, Box::new(left), Box::new(right)),
                place: self.since(start),
            };
        }
        Ok(left)
    }

    fn kind(&mut self) -> Read<Kind> {
        if let Token::Word(w) = self.token()
            && let Some(kind) = Kind::parse(w)
        {
            self.advance();
            return Ok(kind);
        }
        let all: Vec<String> = Kind::ALL.iter().map(|k| format!("`{}`", k.text())).collect();
        self.unexpected(&format!("one of {}", all.join(", ")))
    }

    fn unary(&mut self, least: u8) -> Read<Expr> {
        let start = self.span();
        if self.is_word("not") {
            if least > NOT {
                return self.unexpected("an operand (put `not …` in brackets)");
            }
            self.advance();
            let inner = self.deeper(|p| p.binary(NOT))?;
            return Ok(Expr {
                kind: ExprKind::Unary(UnaryOp::Not, Box::new(inner)),
                place: self.since(start),
            });
        }
        if self.eat_sign("-") {
            // A sign in front of a number belongs to it.
            let number = match self.token() {
                Token::Int(n) => Some(ExprKind::Int(-*n)),
                Token::Float(x) => Some(ExprKind::Float(-*x)),
                Token::Word(w) if w == "inf" => Some(ExprKind::Float(f64::NEG_INFINITY)),
                _ => None,
            };
            if let Some(kind) = number {
                self.advance();
                let literal = Expr { kind, place: self.since(start) };
                return self.postfix(literal, start);
            }
            let inner = self.deeper(|p| p.unary(BinaryOp::Mul.precedence() + 1))?;
            return Ok(Expr {
                kind: ExprKind::Unary(UnaryOp::Neg, Box::new(inner)),
                place: self.since(start),
            });
        }
        let primary = self.primary()?;
        self.postfix(primary, start)
    }

    fn postfix(&mut self, mut left: Expr, start: loops::Span) -> Read<Expr> {
        let mut chain = 0;
        while self.goes_on() {
            chain += 1;
            if chain > super::MAX_DEPTH {
                return self.error("R0103", format!("more than {} selections", super::MAX_DEPTH), "too long");
            }
            let kind = if self.is_sign(".") {
                self.advance();
                ExprKind::Field(Box::new(left), self.field()?)
            } else if self.is_sign("[") {
                self.advance();
                self.bracketed(|p| p.selection(left))?
            } else {
                return Ok(left);
            };
            left = Expr { kind, place: self.since(start) };
        }
        Ok(left)
    }

    /// An attribute's name: any word, or a string where the word has another meaning.
    fn field(&mut self) -> Read<Name> {
        let place = Place(self.span());
        match self.token() {
            Token::Word(w) => {
                let text = w.clone();
                self.advance();
                Ok(Name { text, place })
            }
            _ => self.unexpected("the name of an attribute"),
        }
    }

    fn selection(&mut self, left: Expr) -> Read<ExprKind> {
        let left = Box::new(left);
        if self.eat_sign("..") {
            let high = if self.is_sign("]") { None } else { Some(Box::new(self.expr()?)) };
            self.expect("]", "behind the slice")?;
            return Ok(ExprKind::Slice(left, None, high));
        }
        let low = Box::new(self.expr()?);
        if self.eat_sign("..") {
            let high = if self.is_sign("]") { None } else { Some(Box::new(self.expr()?)) };
            self.expect("]", "behind the slice")?;
            return Ok(ExprKind::Slice(left, Some(low), high));
        }
        self.expect("]", "behind the index")?;
        Ok(ExprKind::Item(left, low))
    }

    fn primary(&mut self) -> Read<Expr> {
        let start = self.span();
        let kind = match self.token().clone() {
            Token::Int(n) => {
                self.advance();
                ExprKind::Int(n)
            }
            Token::Float(x) => {
                self.advance();
                ExprKind::Float(x)
            }
            Token::Str(s) => {
                self.advance();
                ExprKind::Str(s)
            }
            Token::Sign("(") => {
                self.advance();
                let inner = self.bracketed(|p| {
                    let inner = p.expr()?;
                    p.expect(")", "behind the expression")?;
                    Ok(inner)
                })?;
                return Ok(inner);
            }
            Token::Sign("[") => {
                self.advance();
                self.bracketed(Parser::tuple_literal)?
            }
            Token::Word(w) => self.word(&w)?,
            _ => return self.unexpected("an expression"),
        };
        Ok(Expr { kind, place: self.since(start) })
    }

    pub(crate) fn tuple_literal(&mut self) -> Read<ExprKind> {
        if self.eat_sign("]") {
            return Ok(ExprKind::Tuple(Vec::new()));
        }
        let first = self.expr()?;
        if self.eat_word("for") {
            let each = self.each(first)?;
            self.expect("]", "behind the tuple")?;
            return Ok(ExprKind::Map(Box::new(each)));
        }
        let mut items = vec![first];
        while !self.is_sign("]") {
            self.expect(",", "or `]`")?;
            if !self.is_sign("]") {
                items.push(self.expr()?);
            }
        }
        self.advance();
        Ok(ExprKind::Tuple(items))
    }

    /// What follows `e for`.
    fn each(&mut self, body: Expr) -> Read<Each> {
        let symbol = self.name("a symbol")?;
        let over = if self.eat_word("in") { Some(self.expr()?) } else { None };
        let filter = if self.eat_word("if") { Some(self.expr()?) } else { None };
        Ok(Each { body, symbol, over, filter })
    }

    fn word(&mut self, word: &str) -> Read<ExprKind> {
        let simple = match word {
            "true" => Some(ExprKind::Bool(true)),
            "false" => Some(ExprKind::Bool(false)),
            "none" => Some(ExprKind::None),
            "inf" => Some(ExprKind::Float(f64::INFINITY)),
            "nan" => Some(ExprKind::Float(f64::NAN)),
            _ => None,
        };
        if let Some(kind) = simple {
            self.advance();
            return Ok(kind);
        }
        if word == "if" {
            self.advance();
            // `then` and `else` may stand on lines of their own.
            return self.bracketed(|p| {
                let condition = p.expr()?;
                if !p.eat_word("then") {
                    return p.unexpected("`then`");
                }
                let yes = p.expr()?;
                if !p.eat_word("else") {
                    return p.unexpected("`else`");
                }
                p.inside -= 1;
                let no = p.expr();
                p.inside += 1;
                Ok(ExprKind::If(Box::new(condition), Box::new(yes), Box::new(no?)))
            });
        }
        if matches!(self.ahead(1), Token::Sign("(")) && !self.fresh_ahead() {
            return self.application(word);
        }
        if let Some(ty) = ElementType::parse(word) {
            self.advance();
            return Ok(ExprKind::Type(ty));
        }
        Ok(ExprKind::Name(self.name("an expression")?.text))
    }

    /// Whether a line ends behind this token and that matters.
    pub(crate) fn fresh_ahead(&self) -> bool {
        self.inside == 0 && self.tokens.get(self.at + 1).is_some_and(|t| t.fresh)
    }

    fn application(&mut self, word: &str) -> Read<ExprKind> {
        let (function, fold) = (Function::parse(word), Fold::parse(word));
        if function.is_none() && fold.is_none() {
            let all: Vec<&str> = Function::ALL.iter().map(|f| f.text()).chain(["join"]).collect();
            return self.error(
                "R0214",
                format!("there is no function `{}`", crate::lex::clip(word)),
                &format!("the functions are {}", all.join(", ")),
            );
        }
        let start = self.span();
        self.advance();
        self.advance();
        if let Some(fold) = fold {
            let first = self.bracketed(|p| {
                let first = p.expr()?;
                if p.eat_word("for") {
                    let each = p.each(first)?;
                    p.expect(")", "behind the reduction")?;
                    return Ok(Err(each));
                }
                Ok(Ok(first))
            })?;
            let first = match first {
                Err(each) => return Ok(ExprKind::Fold(fold, Box::new(each))),
                Ok(first) => first,
            };
            let mut arguments = vec![first];
            self.bracketed(|p| {
                while !p.is_sign(")") {
                    p.expect(",", "or `)`")?;
                    if !p.is_sign(")") {
                        arguments.push(p.expr()?);
                    }
                }
                p.advance();
                Ok(())
            })?;
            return self.call(function, word, arguments, start);
        }
        let arguments = self.list(")", Parser::expr)?;
        self.call(function, word, arguments, start)
    }

    fn call(
        &mut self,
        function: Option<Function>,
        word: &str,
        arguments: Vec<Expr>,
        start: loops::Span,
    ) -> Read<ExprKind> {
        let Some(function) = function else {
            let text = format!("`{word}` needs `… for v in t`");
            return self.error("R0214", text, "for example `join([k, k] for k in t)`");
        };
        let (least, most) = function.arity();
        if arguments.len() < least || arguments.len() > most {
            let wanted = if least == most { format!("{least}") } else { format!("{least} to {most}") };
            let text = format!("`{word}` takes {wanted} arguments, not {}", arguments.len());
            let place = self.since(start).0;
            self.tell(loops::Diagnostic::error(loops::Code("R0214"), text, place, "here"));
            return Err(super::Stop);
        }
        Ok(ExprKind::Call(function, arguments))
    }
}
