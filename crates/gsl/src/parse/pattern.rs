//! Patterns: calls with their attributes, names, alternatives, constants.

use crate::lex::Token;
use crate::parse::{KEYWORDS, Parser, Read};
use crate::rule::{AttributeItem, Call, Expr, ExprKind, Name, OperatorName, Pattern, Place, Var};

impl Parser<'_> {
    /// A pattern, alternatives included.
    pub(crate) fn pattern(&mut self) -> Read<Pattern> {
        self.deeper(|p| {
            let start = p.span();
            let first = p.single()?;
            if !(p.goes_on() && p.is_sign("|")) {
                return Ok(first);
            }
            let mut all = vec![first];
            while p.goes_on() && p.eat_sign("|") {
                all.push(p.single()?);
            }
            Ok(Pattern::Either(all, p.since(start)))
        })
    }

    /// A pattern without alternatives. If it turns out to be the beginning of an attribute
    /// expression, it is read again as one. It then denotes a constant.
    fn single(&mut self) -> Read<Pattern> {
        let before = self.state();
        if self.is_function() {
            return self.constant_expression();
        }
        let left = self.selected();
        if left.is_ok() && self.goes_on() && self.continues_expression() {
            self.restore(before);
            return self.constant_expression();
        }
        left
    }

    fn constant_expression(&mut self) -> Read<Pattern> {
        let start = self.span();
        let value = self.expr()?;
        Ok(Pattern::Constant { value, ty: None, long: false, place: self.since(start) })
    }

    /// `range(…)`: a function of attribute expressions, where a call could stand.
    fn is_function(&self) -> bool {
        let Token::Word(w) = self.token() else { return false };
        let function = crate::rule::Function::parse(w).is_some() || crate::rule::Fold::parse(w).is_some();
        function && matches!(self.ahead(1), Token::Sign("("))
    }

    fn continues_expression(&self) -> bool {
        match self.token() {
            Token::Sign(s) => *s == "." || crate::rule::BinaryOp::parse(s).is_some(),
            _ => false,
        }
    }

    fn selected(&mut self) -> Read<Pattern> {
        let start = self.span();
        let mut left = self.primary_pattern()?;
        let mut chain = 0;
        while self.goes_on() && self.is_sign("[") {
            chain += 1;
            if chain > super::MAX_DEPTH {
                return self.error("R0103", format!("more than {} selections", super::MAX_DEPTH), "too long");
            }
            self.advance();
            left = self.bracketed(|p| {
                if p.eat_sign("*") {
                    p.expect("]", "behind `*`")?;
                    return Ok(Pattern::Spread(Box::new(left), p.since(start)));
                }
                let index = p.expr()?;
                p.expect("]", "behind the index")?;
                // The first index of a plain name may mean an instance or an item. The checker
                // decides which.
                if let Pattern::Ref(Var { name, index: None }) = left {
                    return Ok(Pattern::Ref(Var { name, index: Some(Box::new(index)) }));
                }
                Ok(Pattern::Item(Box::new(left), Box::new(index)))
            })?;
        }
        Ok(left)
    }

    fn primary_pattern(&mut self) -> Read<Pattern> {
        let start = self.span();
        match self.token().clone() {
            Token::Word(w) if w == "_" => {
                self.advance();
                Ok(Pattern::Wildcard(self.since(start)))
            }
            Token::Word(w) if w == "const" => {
                self.advance();
                self.expect("(", "and the value of the constant")?;
                let (value, ty) = self.bracketed(|p| {
                    let value = p.expr()?;
                    let ty = if p.eat_sign(",") { Some(p.expr()?) } else { None };
                    p.expect(")", "behind the constant")?;
                    Ok((value, ty))
                })?;
                Ok(Pattern::Constant { value, ty, long: true, place: self.since(start) })
            }
            Token::Word(w) if w == "either" => {
                self.advance();
                let Pattern::Call(mut call) = self.primary_pattern()? else {
                    return self.error("R0102", "`either` must stand before a call".into(), "here");
                };
                call.either = true;
                call.place = self.since(start);
                Ok(Pattern::Call(call))
            }
            Token::Word(w) if w == "if" => {
                self.advance();
                self.bracketed(|p| {
                    let condition = p.expr()?;
                    if !p.eat_word("then") {
                        return p.unexpected("`then`");
                    }
                    let yes = p.pattern()?;
                    if !p.eat_word("else") {
                        return p.unexpected("`else`");
                    }
                    p.inside -= 1;
                    let no = p.pattern();
                    p.inside += 1;
                    let place = p.since(start);
                    Ok(Pattern::If(Box::new(condition), Box::new(yes), Box::new(no?), place))
                })
            }
            Token::Word(w) if w == "case" => {
                self.advance();
                let subject = self.var()?;
                self.expect("{", "and a pattern for each alternative")?;
                let clauses = self.bracketed(|p| {
                    let mut clauses = vec![p.deeper(Parser::single)?];
                    while p.eat_sign("|") {
                        clauses.push(p.deeper(Parser::single)?);
                    }
                    p.expect("}", "after the last alternative")?;
                    Ok(clauses)
                })?;
                Ok(Pattern::Case(subject, clauses, self.since(start)))
            }
            Token::Word(w) if ["true", "false", "inf", "nan"].contains(&w.as_str()) => self.literal(),
            Token::Word(_) if self.is_call() => Ok(Pattern::Call(self.call_pattern()?)),
            Token::Word(_) => {
                let name = self.name("a pattern")?;
                if self.goes_on() && self.eat_sign("?") {
                    return Ok(Pattern::Optional(name));
                }
                Ok(Pattern::Ref(Var { name, index: None }))
            }
            Token::Int(_) | Token::Float(_) | Token::Sign("-" | "[") => self.literal(),
            Token::Sign("(") => {
                self.advance();
                let parts = self.list(")", Parser::pattern)?;
                // Brackets around one pattern only group it.
                match <[Pattern; 1]>::try_from(parts) {
                    Ok([one]) => Ok(one),
                    Err(parts) => Ok(Pattern::Tuple(parts, self.since(start))),
                }
            }
            _ => self.unexpected("a pattern"),
        }
    }

    /// A number or a tuple as a constant.
    fn literal(&mut self) -> Read<Pattern> {
        let start = self.span();
        let value = match self.token() {
            Token::Sign("[") => {
                self.advance();
                let kind = self.bracketed(Parser::tuple_literal)?;
                Expr { kind, place: self.since(start) }
            }
            _ => self.number()?,
        };
        Ok(Pattern::Constant { value, ty: None, long: false, place: self.since(start) })
    }

    fn number(&mut self) -> Read<Expr> {
        let start = self.span();
        let negative = self.eat_sign("-");
        let kind = match self.token() {
            Token::Int(n) => ExprKind::Int(if negative { -*n } else { *n }),
            Token::Float(x) => ExprKind::Float(if negative { -*x } else { *x }),
            Token::Word(w) if w == "inf" => {
                ExprKind::Float(if negative { f64::NEG_INFINITY } else { f64::INFINITY })
            }
            Token::Word(w) if w == "nan" && !negative => ExprKind::Float(f64::NAN),
            Token::Word(w) if w == "true" && !negative => ExprKind::Bool(true),
            Token::Word(w) if w == "false" && !negative => ExprKind::Bool(false),
            _ => return self.unexpected("a number"),
        };
        self.advance();
        Ok(Expr { kind, place: self.since(start) })
    }

    fn is_call(&self) -> bool {
        let mut k = 0;
        while let (Token::Word(w), Token::Sign(".")) = (self.ahead(k), self.ahead(k + 1)) {
            if KEYWORDS.contains(&w.as_str()) {
                return false;
            }
            k += 2;
        }
        matches!(self.ahead(k), Token::Word(_)) && matches!(self.ahead(k + 1), Token::Sign("("))
    }

    /// `Conv`, `com.microsoft.Gelu`.
    pub(crate) fn operator_name(&mut self) -> Read<OperatorName> {
        let start = self.span();
        let mut parts = vec![self.name("an operator")?.text];
        while self.eat_sign(".") {
            parts.push(self.name("an operator")?.text);
        }
        let name = parts.pop().unwrap_or_default();
        Ok(OperatorName { domain: parts.join("."), name, place: self.since(start) })
    }

    fn call_pattern(&mut self) -> Read<Call> {
        let start = self.span();
        let operator = self.operator_name()?;
        self.expect("(", "and the inputs")?;
        let arguments = self.list(")", Parser::pattern)?;
        let mut attributes = Vec::new();
        if self.goes_on() && self.eat_sign("{") {
            attributes = self.list("}", Parser::attribute)?;
        }
        Ok(Call { operator, either: false, arguments, attributes, place: self.since(start) })
    }

    fn attribute(&mut self) -> Read<AttributeItem> {
        if self.eat_sign("..") {
            return Ok(AttributeItem::Like(self.var()?));
        }
        let place = Place(self.span());
        let name = match self.token() {
            Token::Word(w) if w != "_" => Name { text: w.clone(), place },
            _ => return self.unexpected("an attribute, or `..` and a call"),
        };
        self.advance();
        self.expect(":", "and the attribute's value")?;
        Ok(AttributeItem::Is(name, self.expr()?))
    }

    /// `name` or `name[index]`.
    pub(crate) fn var(&mut self) -> Read<Var> {
        let name = self.name("a name")?;
        let mut index = None;
        if self.goes_on() && self.eat_sign("[") {
            index = Some(Box::new(self.bracketed(|p| {
                let index = p.expr()?;
                p.expect("]", "behind the index")?;
                Ok(index)
            })?));
        }
        Ok(Var { name, index })
    }
}
