//! Tokens of the calculator, with their places.

use loops::diagnostic::{Diagnostic, Span};

use super::SYNTAX;

/// What a token is.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Kind {
    /// A name, also `and`, `or`, `not`, `exists`, `mod`.
    Name(String),
    /// An integer that fits in 64 bits.
    Number(i64),
    /// A sign, one of [`SIGNS`].
    Sign(&'static str),
    /// The end.
    End,
}

/// A token.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Token {
    /// What it is.
    pub kind: Kind,
    /// Where it stands.
    pub span: Span,
}

/// Longest first.
const SIGNS: &[&str] = &[
    "<<=", ">>=", "^-1", ":=", "->", "<<", ">>", "<=", ">=", "!=", "==", "=>", "=", "<", ">", "{", "}", "[",
    "]", "(", ")", ":", ";", ",", "+", "-", "*", "/", "%", ".", "!",
];

/// The tokens of `text`; the last one is [`Kind::End`].
pub fn tokens(text: &str) -> Result<Vec<Token>, Diagnostic> {
    let mut tokens = Vec::new();
    let mut at = 0;
    'next: while let Some(c) = text[at..].chars().next() {
        if c.is_whitespace() {
            at += c.len_utf8();
            continue;
        }
        let start = at;
        if c.is_ascii_digit() {
            at += text[at..].find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len() - at);
            let span = Span::new(start, at);
            let value = text[start..at].parse().map_err(|_| {
                Diagnostic::error(SYNTAX, "a number is beyond 64 bits", span, "too large")
                    .help("numbers go up to 9223372036854775807")
            })?;
            tokens.push(Token { kind: Kind::Number(value), span });
            continue;
        }
        if c.is_alphabetic() || c == '_' {
            at += text[at..]
                .find(|c: char| !(c.is_alphanumeric() || c == '_' || c == '\''))
                .unwrap_or(text.len() - at);
            tokens.push(Token { kind: Kind::Name(text[start..at].to_string()), span: Span::new(start, at) });
            continue;
        }
        for sign in SIGNS {
            if text[at..].starts_with(sign) {
                at += sign.len();
                tokens.push(Token { kind: Kind::Sign(sign), span: Span::new(start, at) });
                continue 'next;
            }
        }
        let span = Span::new(at, at + c.len_utf8());
        return Err(Diagnostic::error(
            SYNTAX,
            format!("unexpected character `{}`", c.escape_default()),
            span,
            "not a character of the language",
        ));
    }
    tokens.push(Token { kind: Kind::End, span: Span::new(text.len(), text.len()) });
    Ok(tokens)
}

/// A cursor over tokens.
pub struct Cursor {
    tokens: Vec<Token>,
    at: usize,
    depth: u32,
}

/// How deep parentheses may nest.
const MAX_DEPTH: u32 = 200;

impl Cursor {
    /// A cursor before the first token.
    pub fn new(tokens: Vec<Token>) -> Cursor {
        Cursor { tokens, at: 0, depth: 0 }
    }

    /// The next token.
    pub fn peek(&self) -> &Token {
        &self.tokens[self.at]
    }

    /// Where the next token stands.
    pub fn span(&self) -> Span {
        self.peek().span
    }

    /// Where the last token ended.
    pub fn before(&self) -> Span {
        self.tokens[self.at.saturating_sub(1)].span
    }

    /// Takes the next token.
    pub fn take(&mut self) -> Token {
        let token = self.tokens[self.at].clone();
        if token.kind != Kind::End {
            self.at += 1;
        }
        token
    }

    /// A place to return to.
    pub fn mark(&self) -> usize {
        self.at
    }

    /// Returns to a place.
    pub fn reset(&mut self, mark: usize) {
        self.at = mark;
    }

    /// Whether the next token is this sign.
    pub(crate) fn at_sign(&self, sign: &str) -> bool {
        matches!(&self.peek().kind, Kind::Sign(s) if *s == sign)
    }

    /// Whether the next token is this word.
    pub(crate) fn at_word(&self, word: &str) -> bool {
        matches!(&self.peek().kind, Kind::Name(n) if n == word)
    }

    /// Takes the sign if it is next.
    pub fn eat(&mut self, sign: &str) -> bool {
        let there = self.at_sign(sign);
        if there {
            self.at += 1;
        }
        there
    }

    /// Takes the word if it is next.
    pub fn eat_word(&mut self, word: &str) -> bool {
        let there = self.at_word(word);
        if there {
            self.at += 1;
        }
        there
    }

    /// Takes the sign, or says that it is missing.
    pub fn expect(&mut self, sign: &str, after: &str) -> Result<Span, Diagnostic> {
        let span = self.span();
        if self.eat(sign) { Ok(span) } else { Err(self.unexpected(&format!("`{sign}` {after}"))) }
    }

    /// A name.
    pub fn name(&mut self, what: &str) -> Result<(String, Span), Diagnostic> {
        let token = self.take();
        match token.kind {
            Kind::Name(name) => Ok((name, token.span)),
            _ => {
                self.at = self.at.saturating_sub(usize::from(token.kind != Kind::End));
                Err(self.unexpected(what))
            }
        }
    }

    /// The error that something else was expected here.
    pub fn unexpected(&self, wanted: &str) -> Diagnostic {
        let found = match &self.peek().kind {
            Kind::Name(name) => format!("`{name}`"),
            Kind::Number(n) => format!("`{n}`"),
            Kind::Sign(s) => format!("`{s}`"),
            Kind::End => "the end".to_string(),
        };
        Diagnostic::error(
            SYNTAX,
            format!("expected {wanted}, found {found}"),
            self.span(),
            format!("expected {wanted}"),
        )
    }

    /// Enters a nested construct.
    pub fn enter(&mut self) -> Result<(), Diagnostic> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(Diagnostic::error(
                SYNTAX,
                format!("nesting is deeper than {MAX_DEPTH}"),
                self.span(),
                "too deep",
            ));
        }
        Ok(())
    }

    /// Leaves a nested construct.
    pub fn leave(&mut self) {
        self.depth -= 1;
    }
}
