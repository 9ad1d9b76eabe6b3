//! Lexer of the textual form. Line ends have no meaning. `//` starts a comment up to the end of its
//! line.

use crate::diagnostic::{Code, Diagnostic, Span};
use crate::print::KEYWORDS;

/// A token, borrowing from the text.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Token<'a> {
    /// A name that is not a keyword, or one in backquotes.
    Name(std::borrow::Cow<'a, str>),
    /// A keyword.
    Keyword(&'static str),
    /// A number with its suffix, without a sign.
    Number(&'a str),
    /// An operator or a bracket.
    Symbol(&'static str),
    /// The end of the text.
    End,
}

impl Token<'_> {
    /// How a diagnostic names it.
    pub(crate) fn describe(&self) -> String {
        match self {
            Token::Name(name) => format!("the name `{}`", name.escape_debug()),
            Token::Keyword(word) => format!("the keyword `{word}`"),
            Token::Number(text) => format!("the number `{text}`"),
            Token::Symbol(text) => format!("`{text}`"),
            Token::End => "the end of the text".to_owned(),
        }
    }
}

/// Longer symbols first.
const SYMBOLS: &[&str] = &[
    "->", "..", "==", "!=", "<=", ">=", "&&", "||", "{", "}", "(", ")", "[", "]", ",", ":", ".", "=", "<",
    ">", "+", "-", "*", "/", "%", "!",
];

pub(crate) struct Lexer<'a> {
    text: &'a str,
    position: usize,
}

impl<'a> Lexer<'a> {
    pub(crate) fn new(text: &'a str) -> Lexer<'a> {
        Lexer { text, position: 0 }
    }

    fn skip_blanks(&mut self) {
        loop {
            let rest = &self.text[self.position..];
            let blank = rest.len() - rest.trim_start().len();
            self.position += blank;
            let rest = &self.text[self.position..];
            if !rest.starts_with("//") {
                return;
            }
            self.position += rest.find('\n').unwrap_or(rest.len());
        }
    }

    /// The next token and its place. After an error the offending character is skipped.
    pub(crate) fn next(&mut self) -> Result<(Token<'a>, Span), Diagnostic> {
        self.skip_blanks();
        let start = self.position;
        let rest = &self.text[start..];
        let Some(first) = rest.chars().next() else {
            return Ok((Token::End, Span::new(start, start)));
        };
        if first == '`' {
            return self.quoted(start);
        }
        let token = if first.is_ascii_alphabetic() || first == '_' {
            let length = rest.bytes().take_while(|b| b.is_ascii_alphanumeric() || *b == b'_').count();
            self.position += length;
            let word = &rest[..length];
            match KEYWORDS.binary_search(&word) {
                Ok(k) => Token::Keyword(KEYWORDS[k]),
                Err(_) => Token::Name(word.into()),
            }
        } else if first.is_ascii_digit() {
            let length = number_length(rest.as_bytes());
            self.position += length;
            Token::Number(&rest[..length])
        } else if let Some(symbol) = SYMBOLS.iter().find(|s| rest.starts_with(**s)) {
            self.position += symbol.len();
            Token::Symbol(symbol)
        } else {
            self.position += first.len_utf8();
            let span = Span::new(start, self.position);
            let message = format!("the character `{}` has no meaning here", first.escape_debug());
            return Err(Diagnostic::error(Code("L0103"), message, span, "not part of the language")
                .help("names with characters other than letters, digits and `_` are written in backquotes"));
        };
        Ok((token, Span::new(start, self.position)))
    }

    fn quoted(&mut self, start: usize) -> Result<(Token<'a>, Span), Diagnostic> {
        let mut name = String::new();
        let mut chars = self.text[start + 1..].char_indices();
        while let Some((offset, c)) = chars.next() {
            match c {
                '`' => {
                    self.position = start + 1 + offset + 1;
                    return Ok((Token::Name(name.into()), Span::new(start, self.position)));
                }
                '\n' => break,
                '\\' => match chars.next() {
                    Some((_, c @ ('`' | '\\'))) => name.push(c),
                    Some((_, 'u')) => {
                        let rest = chars.as_str();
                        let hex = rest.strip_prefix('{').and_then(|r| r.split_once('}')).map(|(hex, _)| hex);
                        let code = hex.filter(|h| h.len() <= 6).and_then(|h| u32::from_str_radix(h, 16).ok());
                        match (hex, code.and_then(char::from_u32)) {
                            (Some(hex), Some(c)) => {
                                name.push(c);
                                for _ in 0..hex.len() + 2 {
                                    chars.next();
                                }
                            }
                            _ => {
                                return Err(
                                    self.bad_quote(start, "an escape is `\\u{hex}`, `\\\\` or `` \\` ``")
                                );
                            }
                        }
                    }
                    _ => return Err(self.bad_quote(start, "an escape is `\\u{hex}`, `\\\\` or `` \\` ``")),
                },
                c => name.push(c),
            }
        }
        Err(self.bad_quote(start, "a quoted name ends with a backquote on the same line"))
    }

    fn bad_quote(&mut self, start: usize, what: &str) -> Diagnostic {
        let rest = &self.text[start..];
        self.position = start + rest.find('\n').unwrap_or(rest.len());
        Diagnostic::error(
            Code("L0103"),
            "this quoted name is malformed",
            Span::new(start, self.position.min(start + 40)),
            what,
        )
    }
}

/// The length of `digits[.digits][e[+-]digits][suffix]` or `0x` and hexadecimal digits.
fn number_length(bytes: &[u8]) -> usize {
    let at = |k: usize| bytes.get(k).copied().unwrap_or(0);
    let digits = |mut k: usize| {
        while at(k).is_ascii_digit() {
            k += 1;
        }
        k
    };
    let mut end = digits(0);
    if at(0) != b'0' || at(1) != b'x' {
        if at(end) == b'.' && at(end + 1).is_ascii_digit() {
            end = digits(end + 1);
        }
        let sign = usize::from(matches!(at(end + 1), b'+' | b'-'));
        if matches!(at(end), b'e' | b'E') && at(end + 1 + sign).is_ascii_digit() {
            end = digits(end + 1 + sign);
        }
    }
    // The suffix, or whatever wrong letters follow: the number is read as one token and then
    // judged.
    while at(end).is_ascii_alphanumeric() || at(end) == b'_' {
        end += 1;
    }
    end
}
