//! Words, numbers, texts and signs of the textual form.

use loops::{Code, Diagnostic, Span};

/// Words that begin a line or an attribute's value. A name that equals one of them is quoted.
const KEYWORDS: &[&str] = &[
    "input", "output", "init", "outer", "value", "raw", "graph", "hex", "inf", "NaN", "true", "false",
    "tensor", "tensors", "graphs", "type", "types", "ref", "opaque", "ints", "floats", "strings", "external",
    "fields", "named",
];

pub(super) fn is_keyword(word: &str) -> bool {
    KEYWORDS.contains(&word) || word.starts_with("nan")
}

#[derive(Clone, PartialEq, Debug)]
pub(super) enum Token {
    Word(String),
    Text(Vec<u8>),
    Hex(Vec<u8>),
    /// An integer as it is written.
    Int(String),
    /// A number with a point or an exponent, as it is written.
    Float(String),
    Sign(char),
    Dots,
    End,
}

impl Token {
    pub(super) fn describe(&self) -> String {
        match self {
            Token::Word(w) => format!("`{w}`"),
            Token::Text(_) => "a text".into(),
            Token::Hex(_) => "bytes".into(),
            Token::Int(n) | Token::Float(n) => format!("`{n}`"),
            Token::Sign(c) => format!("`{c}`"),
            Token::Dots => "`..`".into(),
            Token::End => "the end".into(),
        }
    }
}

pub(super) fn error(span: Span, message: impl Into<String>, label: impl Into<String>) -> Diagnostic {
    Diagnostic::error(Code("G0001"), message, span, label)
}

/// The maximal number of tokens. A list that grows by doubling would take twice the memory for a
/// long text.
fn most_tokens(bytes: &[u8]) -> usize {
    let word = |b: &u8| b.is_ascii_alphanumeric() || *b == b'_';
    let begins = |k: usize| k == 0 || !word(&bytes[k - 1]);
    (0..bytes.len()).filter(|k| !bytes[*k].is_ascii_whitespace() && (!word(&bytes[*k]) || begins(*k))).count()
        + 1
}

pub(super) fn tokens(text: &str) -> Result<Vec<(Token, Span)>, Diagnostic> {
    let bytes = text.as_bytes();
    let mut found = Vec::with_capacity(most_tokens(bytes));
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        let start = at;
        let token = match byte {
            b' ' | b'\t' | b'\r' | b'\n' => {
                at += 1;
                continue;
            }
            b'#' => {
                at += bytes[at..].iter().position(|b| *b == b'\n').unwrap_or(bytes.len() - at);
                continue;
            }
            b'"' => {
                let (content, end) = string(bytes, at)?;
                at = end;
                Token::Text(content)
            }
            b'.' if bytes.get(at + 1) == Some(&b'.') => {
                at += 2;
                Token::Dots
            }
            b if b.is_ascii_alphabetic() || b == b'_' => {
                at += bytes[at..].iter().take_while(|b| b.is_ascii_alphanumeric() || **b == b'_').count();
                let word = &text[start..at];
                if word == "hex" && bytes.get(at) == Some(&b'"') {
                    let (content, end) = string(bytes, at)?;
                    at = end;
                    Token::Hex(unhex(&content).ok_or_else(|| {
                        error(Span::new(start, end), "bytes are not in hexadecimal", "two digits a byte")
                    })?)
                } else if word == "inf" {
                    Token::Float("inf".into())
                } else {
                    Token::Word(word.to_owned())
                }
            }
            b if b.is_ascii_digit() || b == b'-' => {
                at += 1;
                if b == b'-' && text[at..].starts_with("inf") {
                    at += 3;
                    found.push((Token::Float("-inf".into()), Span::new(start, at)));
                    continue;
                }
                let mut float = false;
                while let Some(&b) = bytes.get(at) {
                    let dots = b == b'.' && bytes.get(at + 1) == Some(&b'.');
                    let exponent_sign = (b == b'-' || b == b'+') && matches!(bytes[at - 1], b'e' | b'E');
                    if dots || !(b.is_ascii_digit() || matches!(b, b'.' | b'e' | b'E') || exponent_sign) {
                        break;
                    }
                    float |= !b.is_ascii_digit();
                    at += 1;
                }
                let number = text[start..at].to_owned();
                if number == "-" {
                    Token::Sign('-')
                } else if float {
                    Token::Float(number)
                } else {
                    Token::Int(number)
                }
            }
            b if b.is_ascii() => {
                at += 1;
                Token::Sign(b as char)
            }
            _ => {
                let end = start + text[start..].chars().next().map_or(1, char::len_utf8);
                return Err(error(
                    Span::new(start, end),
                    "unexpected character",
                    "names that are not identifiers are quoted",
                ));
            }
        };
        found.push((token, Span::new(start, at)));
    }
    found.push((Token::End, Span::new(at, at)));
    Ok(found)
}

/// The text that begins with the quote at `start`, and where it ends.
fn string(bytes: &[u8], start: usize) -> Result<(Vec<u8>, usize), Diagnostic> {
    let mut content = Vec::new();
    let mut at = start + 1;
    let open = || error(Span::new(start, bytes.len()), "a text has no end", "it begins here");
    loop {
        match bytes.get(at) {
            None => return Err(open()),
            Some(b'"') => return Ok((content, at + 1)),
            Some(b'\\') => {
                let escape = *bytes.get(at + 1).ok_or_else(open)?;
                at += 2;
                match escape {
                    b'n' => content.push(b'\n'),
                    b'x' => {
                        let byte = bytes.get(at..at + 2).and_then(unhex).filter(|b| b.len() == 1);
                        let byte = byte.ok_or_else(|| {
                            error(
                                Span::new(at - 2, at),
                                "an escape `\\x` without two digits",
                                "as in `\\x0a`",
                            )
                        })?;
                        content.extend(byte);
                        at += 2;
                    }
                    other => content.push(other),
                }
            }
            Some(byte) => {
                content.push(*byte);
                at += 1;
            }
        }
    }
}

fn unhex(digits: &[u8]) -> Option<Vec<u8>> {
    let digit = |b: u8| (b as char).to_digit(16).map(|d| d as u8);
    if digits.len() % 2 == 1 {
        return None;
    }
    digits.chunks_exact(2).map(|pair| Some(digit(pair[0])? << 4 | digit(pair[1])?)).collect()
}
