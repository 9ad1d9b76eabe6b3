//! Tokens of rule files. A token records whether a line ends before it, because a statement ends at
//! the end of a line.

use loops::{Code, Diagnostic, Span};

/// A token.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Token {
    /// A name or a keyword.
    Word(String),
    /// An integer.
    Int(i64),
    /// A number with a point or an exponent.
    Float(f64),
    /// A string, unescaped.
    Str(String),
    /// Punctuation.
    Sign(&'static str),
    /// The end.
    End,
}

/// A token where it stands.
#[derive(Clone, Debug)]
pub(crate) struct Spanned {
    pub token: Token,
    pub span: Span,
    /// Whether a line ended between the token before and this one.
    pub fresh: bool,
}

/// A comment, without its `#`.
#[derive(Clone, Debug)]
pub(crate) struct Comment {
    pub text: String,
    pub at: u32,
    /// Whether code stands before it on its line.
    pub trailing: bool,
}

/// What a text is made of.
pub(crate) struct Lexed {
    pub tokens: Vec<Spanned>,
    pub comments: Vec<Comment>,
    pub errors: Vec<Diagnostic>,
}

/// Longer signs first, so that the first that fits is the right one.
const SIGNS: [&str; 27] = [
    "..", "==", "!=", "<=", ">=", "++", "//", "(", ")", "[", "]", "{", "}", ",", ";", ":", ".", "=", "<",
    ">", "+", "-", "*", "/", "%", "|", "?",
];

/// No more errors than this are told of one text.
const MAX_ERRORS: usize = 50;

pub(crate) fn lex(source: &str) -> Lexed {
    let bytes = source.as_bytes();
    let mut out = Lexed { tokens: Vec::new(), comments: Vec::new(), errors: Vec::new() };
    let (mut at, mut fresh) = (0, true);
    while at < bytes.len() && out.errors.len() < MAX_ERRORS {
        let start = at;
        match bytes[at] {
            b'\n' => {
                fresh = true;
                at += 1;
            }
            b' ' | b'\t' | b'\r' => at += 1,
            b'#' => {
                while at < bytes.len() && bytes[at] != b'\n' {
                    at += 1;
                }
                let text = source[start + 1..at].trim().to_owned();
                out.comments.push(Comment { text, at: start as u32, trailing: !fresh });
            }
            b'0'..=b'9' => {
                let token = number(source, &mut at).unwrap_or_else(|reason| {
                    out.errors.push(Diagnostic::error(
                        Code("R0101"),
                        format!("`{}` is not a number: {reason}", clip(&source[start..at])),
                        Span::new(start, at),
                        "here",
                    ));
                    Token::Int(0)
                });
                push(&mut out.tokens, token, start, at, &mut fresh);
            }
            b'"' => {
                let token = string(source, &mut at).unwrap_or_else(|(reason, span)| {
                    out.errors.push(Diagnostic::error(Code("R0101"), reason, span, "here"));
                    Token::Str(String::new())
                });
                push(&mut out.tokens, token, start, at, &mut fresh);
            }
            c if c == b'_' || c.is_ascii_alphabetic() => {
                while at < bytes.len() && (bytes[at] == b'_' || bytes[at].is_ascii_alphanumeric()) {
                    at += 1;
                }
                push(&mut out.tokens, Token::Word(source[start..at].to_owned()), start, at, &mut fresh);
            }
            _ => match SIGNS.iter().find(|s| source[at..].starts_with(**s)) {
                Some(sign) => {
                    at += sign.len();
                    push(&mut out.tokens, Token::Sign(sign), start, at, &mut fresh);
                }
                None => {
                    let c = source[at..].chars().next().unwrap_or(' ');
                    at += c.len_utf8();
                    out.errors.push(Diagnostic::error(
                        Code("R0101"),
                        format!("{c:?} has no meaning in a rule"),
                        Span::new(start, at),
                        "here",
                    ));
                }
            },
        }
    }
    let end = source.len();
    out.tokens.push(Spanned { token: Token::End, span: Span::new(end, end), fresh: true });
    out
}

fn push(tokens: &mut Vec<Spanned>, token: Token, start: usize, end: usize, fresh: &mut bool) {
    tokens.push(Spanned { token, span: Span::new(start, end), fresh: *fresh });
    *fresh = false;
}

fn number(source: &str, at: &mut usize) -> Result<Token, &'static str> {
    let bytes = source.as_bytes();
    let start = *at;
    let digits = |at: &mut usize| {
        while *at < bytes.len() && (bytes[*at].is_ascii_digit() || bytes[*at] == b'_') {
            *at += 1;
        }
    };
    digits(at);
    let mut float = false;
    // `1..` is a range: the point belongs to the number only if a digit follows.
    if bytes.get(*at) == Some(&b'.') && bytes.get(*at + 1).is_some_and(u8::is_ascii_digit) {
        float = true;
        *at += 1;
        digits(at);
    }
    if matches!(bytes.get(*at), Some(b'e' | b'E')) {
        let sign = usize::from(matches!(bytes.get(*at + 1), Some(b'+' | b'-')));
        if bytes.get(*at + 1 + sign).is_some_and(u8::is_ascii_digit) {
            float = true;
            *at += 1 + sign;
            digits(at);
        }
    }
    if bytes.get(*at).is_some_and(|c| c.is_ascii_alphabetic()) {
        while *at < bytes.len() && bytes[*at].is_ascii_alphanumeric() {
            *at += 1;
        }
        return Err("letters follow the digits");
    }
    let text = source[start..*at].replace('_', "");
    if float {
        let value: f64 = text.parse().map_err(|_| "it can't be read")?;
        return if value.is_finite() { Ok(Token::Float(value)) } else { Err("it is too large") };
    }
    text.parse().map(Token::Int).map_err(|_| "it does not fit 64 bits")
}

fn string(source: &str, at: &mut usize) -> Result<Token, (String, Span)> {
    let start = *at;
    let mut text = String::new();
    let mut chars = source[start + 1..].char_indices();
    let mut problem = None;
    while let Some((k, c)) = chars.next() {
        let here = start + 1 + k;
        *at = here + c.len_utf8();
        match c {
            '"' => return problem.map_or(Ok(Token::Str(text)), Err),
            '\n' => {
                *at = here;
                return Err(("the string has no end on its line".into(), Span::new(start, here)));
            }
            '\\' => match chars.next() {
                Some((_, 'n')) => text.push('\n'),
                Some((_, 't')) => text.push('\t'),
                Some((_, 'r')) => text.push('\r'),
                Some((_, '0')) => text.push('\0'),
                Some((_, c @ ('"' | '\\'))) => text.push(c),
                _ => {
                    problem = Some((
                        "the escapes of strings are \\n \\t \\r \\0 \\\" \\\\".into(),
                        Span::new(here, here + 2),
                    ));
                }
            },
            c => text.push(c),
        }
    }
    *at = source.len();
    Err(("the string has no end".into(), Span::new(start, source.len())))
}

/// A text cut to a length that fits a message.
pub(crate) fn clip(text: &str) -> String {
    if text.chars().count() <= 40 {
        text.to_owned()
    } else {
        text.chars().take(37).chain("...".chars()).collect()
    }
}
