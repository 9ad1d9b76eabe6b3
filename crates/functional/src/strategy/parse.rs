//! The textual form of strategies.
//!
//! ```text
//! text      := ["for" name [":"]] ["reassociate"] ["\" name+ "->"] sequence
//! sequence  := choice { ";" choice }
//! choice    := prefix { "<+" prefix }
//! prefix    := ("try" | "repeat" | "not" | "topDown" | "bottomUp" | "everywhere" | "normalise" | "all" | "one") prefix
//!            | "child" number prefix
//!            | "at" "position" position prefix
//!            | ("at" | "inside") (variable | primitive ["named" variable]) [number] prefix
//!            | name [ "(" size { "," size } ")" ]
//!            | "(" sequence ")"
//! ```
//! Comments start with `--`. A `;` may follow the last part.

use loops::{Diagnostic, Name, Size, Span};

use super::{Call, Named, Pattern, SYNTAX, Strategy};
use crate::prim::Prim;
use crate::walk::Position;

/// Parentheses and combinators may be nested this deep.
const MAX_NESTING: u32 = 100;

/// The strategy with this name and text; spans are `offset` plus the place in the text.
///
/// # Errors
/// The first thing that is no strategy.
pub fn parse(name: &Name, text: &str, offset: usize) -> Result<Named, Diagnostic> {
    let mut parser = Parser { tokens: Vec::new(), at: 0, offset, end: text.len(), nesting: 0 };
    parser.tokens(text)?;
    let target = if parser.eat("for") {
        let target = parser.name("the definition that the strategy is for")?;
        parser.eat(":");
        Some(target)
    } else {
        None
    };
    let reassociate = parser.eat("reassociate");
    let mut params = Vec::new();
    if parser.eat("\\") {
        while !parser.eat("->") {
            params.push(parser.name("a size parameter or `->`")?);
        }
    }
    let body = parser.sequence()?;
    if let Some((token, _, _)) = parser.peek() {
        return Err(parser.error(&format!("unexpected `{token}`"), "expected `;`, `<+` or the end"));
    }
    let span = Span::new(offset, offset + text.len());
    Ok(Named { name: name.clone(), params, target, reassociate, body, span })
}

struct Parser<'t> {
    /// Text and range of each token.
    tokens: Vec<(&'t str, usize, usize)>,
    at: usize,
    offset: usize,
    end: usize,
    nesting: u32,
}

impl<'t> Parser<'t> {
    fn tokens(&mut self, text: &'t str) -> Result<(), Diagnostic> {
        let bytes = text.as_bytes();
        let mut at = 0;
        while at < bytes.len() {
            let start = at;
            let class = |b: u8| b.is_ascii_alphanumeric() || b == b'_';
            match bytes[at] {
                b if b.is_ascii_whitespace() => {
                    at += 1;
                    continue;
                }
                b'-' if bytes.get(at + 1) == Some(&b'-') => {
                    while at < bytes.len() && bytes[at] != b'\n' {
                        at += 1;
                    }
                    continue;
                }
                b if class(b) => {
                    while at < bytes.len() && class(bytes[at]) {
                        at += 1;
                    }
                }
                b'<' if bytes.get(at + 1) == Some(&b'+') => at += 2,
                b'-' if bytes.get(at + 1) == Some(&b'>') => at += 2,
                b'(' | b')' | b';' | b',' | b'.' | b':' | b'+' | b'-' | b'*' | b'/' | b'%' | b'\\' => at += 1,
                _ => {
                    let character = text[start..].chars().next().unwrap_or_default();
                    let span = Span::new(self.offset + start, self.offset + start + character.len_utf8());
                    let message = format!("the character {character:?} has no meaning in a strategy");
                    return Err(Diagnostic::error(SYNTAX, message, span, "this character"));
                }
            }
            self.tokens.push((&text[start..at], start, at));
        }
        Ok(())
    }

    fn peek(&self) -> Option<(&'t str, usize, usize)> {
        self.tokens.get(self.at).copied()
    }

    fn span(&self) -> Span {
        let (start, end) = self.peek().map_or((self.end, self.end), |(_, start, end)| (start, end));
        Span::new(self.offset + start, self.offset + end)
    }

    fn error(&self, message: &str, label: &str) -> Diagnostic {
        Diagnostic::error(SYNTAX, message, self.span(), label)
    }

    fn eat(&mut self, token: &str) -> bool {
        let found = self.peek().is_some_and(|(t, _, _)| t == token);
        self.at += usize::from(found);
        found
    }

    fn expect(&mut self, token: &str) -> Result<(), Diagnostic> {
        if self.eat(token) {
            return Ok(());
        }
        let found = self.peek().map_or("the end of the strategy".to_string(), |(t, _, _)| format!("`{t}`"));
        Err(self.error(&format!("expected `{token}`, found {found}"), "here"))
    }

    fn name(&mut self, what: &str) -> Result<Name, Diagnostic> {
        match self.peek() {
            Some((t, _, _)) if t.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') => {
                self.at += 1;
                Ok(t.into())
            }
            Some((t, _, _)) => Err(self.error(&format!("expected {what}, found `{t}`"), "here")),
            None => Err(self.error(&format!("expected {what}"), "the strategy ends here")),
        }
    }

    fn number(&mut self) -> Option<u32> {
        let number = self.peek()?.0.parse().ok()?;
        self.at += 1;
        Some(number)
    }

    fn sequence(&mut self) -> Result<Strategy, Diagnostic> {
        let mut parts = vec![self.choice()?];
        while self.eat(";") {
            if matches!(self.peek(), None | Some((")", _, _))) {
                break;
            }
            parts.push(self.choice()?);
        }
        Ok(if parts.len() == 1 { parts.remove(0) } else { Strategy::Seq(parts) })
    }

    fn choice(&mut self) -> Result<Strategy, Diagnostic> {
        let mut parts = vec![self.prefix()?];
        while self.eat("<+") {
            parts.push(self.prefix()?);
        }
        Ok(if parts.len() == 1 { parts.remove(0) } else { Strategy::Choice(parts) })
    }

    fn prefix(&mut self) -> Result<Strategy, Diagnostic> {
        self.nesting += 1;
        if self.nesting > MAX_NESTING {
            return Err(self.error(&format!("nested more than {MAX_NESTING} deep"), "here"));
        }
        let strategy = self.prefix_inner();
        self.nesting -= 1;
        strategy
    }

    fn prefix_inner(&mut self) -> Result<Strategy, Diagnostic> {
        if self.eat("(") {
            let inner = self.sequence()?;
            self.expect(")")?;
            return Ok(inner);
        }
        let span = self.span();
        let word = self.name("a strategy")?;
        let boxed = |s: Result<Strategy, Diagnostic>| s.map(Box::new);
        Ok(match word.as_str() {
            "id" => Strategy::Id,
            "fail" => Strategy::Fail,
            "choose" => Strategy::Auto,
            "try" => Strategy::Try(boxed(self.prefix())?),
            "repeat" => Strategy::Repeat(boxed(self.prefix())?),
            "not" => Strategy::Not(boxed(self.prefix())?),
            "topDown" => Strategy::TopDown(boxed(self.prefix())?),
            "bottomUp" => Strategy::BottomUp(boxed(self.prefix())?),
            "everywhere" => Strategy::Everywhere(boxed(self.prefix())?),
            "normalise" => Strategy::Normalise(boxed(self.prefix())?),
            "all" => Strategy::All(boxed(self.prefix())?),
            "one" => Strategy::One(boxed(self.prefix())?),
            "child" => match self.number() {
                Some(k) => Strategy::Child(k, boxed(self.prefix())?),
                None => return Err(self.error("expected the number of a child", "here")),
            },
            "at" if self.eat("position") => {
                let position = self.position()?;
                Strategy::AtPosition(position, boxed(self.prefix())?)
            }
            "at" | "inside" => {
                let what = self.name("a primitive or a variable")?;
                let pattern = match (what.as_str(), Prim::from_name(&what)) {
                    ("let", _) => Pattern::Let,
                    (_, Some(prim)) if self.eat("named") => Pattern::Named(prim, self.name("a variable")?),
                    (_, Some(prim)) => Pattern::Prim(prim),
                    _ => Pattern::Binder(what),
                };
                let n = match self.number() {
                    Some(0) => return Err(self.error("places are counted from 1", "before this")),
                    Some(n) => n,
                    None => 1,
                };
                let body = boxed(self.prefix())?;
                if word.as_str() == "at" {
                    Strategy::At(pattern, n, body)
                } else {
                    Strategy::Inside(pattern, n, body)
                }
            }
            _ => {
                let mut args = Vec::new();
                if self.eat("(") {
                    args.push(self.size()?);
                    while self.eat(",") {
                        args.push(self.size()?);
                    }
                    self.expect(")")?;
                }
                Strategy::Call(Call { name: word, args, span })
            }
        })
    }

    fn position(&mut self) -> Result<Position, Diagnostic> {
        if self.eat("root") {
            return Ok(Position::root());
        }
        let mut steps = Vec::new();
        loop {
            match self.number() {
                Some(step) => steps.push(step),
                None => return Err(self.error("expected a position such as `0.1` or `root`", "here")),
            }
            if !self.eat(".") {
                return Ok(Position(steps));
            }
        }
    }

    fn size(&mut self) -> Result<Size, Diagnostic> {
        let mut left = self.product()?;
        loop {
            if self.eat("+") {
                left = left + self.product()?;
            } else if self.eat("-") {
                left = left - self.product()?;
            } else {
                return Ok(left);
            }
        }
    }

    fn product(&mut self) -> Result<Size, Diagnostic> {
        let mut left = self.factor()?;
        loop {
            if self.eat("*") {
                left = left * self.factor()?;
            } else if self.eat("/") {
                left = left.div(&self.factor()?);
            } else if self.eat("%") {
                left = left.rem(&self.factor()?);
            } else {
                return Ok(left);
            }
        }
    }

    fn factor(&mut self) -> Result<Size, Diagnostic> {
        self.nesting += 1;
        if self.nesting > MAX_NESTING {
            return Err(self.error(&format!("nested more than {MAX_NESTING} deep"), "here"));
        }
        let factor = match self.peek() {
            Some(("(", _, _)) => {
                self.at += 1;
                let inner = self.size()?;
                self.expect(")")?;
                inner
            }
            Some((t, _, _)) if t.starts_with(|c: char| c.is_ascii_digit()) => match t.parse::<i64>() {
                Ok(value) => {
                    self.at += 1;
                    Size::constant(value)
                }
                Err(_) => return Err(self.error(&format!("`{t}` is not a size"), "here")),
            },
            _ => Size::param(self.name("a size")?),
        };
        self.nesting -= 1;
        Ok(factor)
    }
}
