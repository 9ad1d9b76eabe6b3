//! Tokens of preprocessed C and C++. Never fails: what is no token becomes `Tok::Bad`.
//!
//! Line markers, and pragmas outside regions other than `scop` and `endscop`, are kept small: their
//! text stays in the source.

/// The kind of a token.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Tok {
    Ident,
    Number,
    Char,
    Str,
    Punct(&'static str),
    /// `#pragma scop`
    Scop,
    /// `#pragma endscop`
    EndScop,
    /// Another `#pragma`, to the end of its line.
    Pragma,
    Bad,
    End,
}

/// A token: bytes `start..end` of the preprocessed text.
#[derive(Clone, Copy, Debug)]
pub struct Token {
    pub tok: Tok,
    pub start: u32,
    pub end: u32,
}

const PUNCTUATION: [&str; 49] = [
    "...", "<<=", ">>=", "::", "->", "++", "--", "<<", ">>", "<=", ">=", "==", "!=", "&&", "||", "*=", "/=",
    "%=", "+=", "-=", "&=", "^=", "|=", "##", "[", "]", "(", ")", "{", "}", ".", "&", "*", "+", "-", "~",
    "!", "/", "%", "<", ">", "^", "|", "?", ":", ";", "=", ",", "#",
];

/// Whether a byte can start an identifier; bytes beyond ASCII can.
pub(crate) fn starts_ident(byte: u8) -> bool {
    byte == b'_' || byte == b'$' || byte.is_ascii_alphabetic() || byte >= 0x80
}

/// Whether a byte can go on in an identifier.
pub(crate) fn continues_ident(byte: u8) -> bool {
    starts_ident(byte) || byte.is_ascii_digit()
}

/// The tokens of a text of less than 4 GiB, with one `Tok::End` at the end.
pub fn tokens(text: &str) -> Vec<Token> {
    let bytes = text.as_bytes();
    let mut out = Vec::new();
    let mut at = 0;
    let mut line_start = true;
    while at < bytes.len() {
        let byte = bytes[at];
        if byte == b'\n' {
            line_start = true;
            at += 1;
            continue;
        }
        if byte.is_ascii_whitespace() || byte == 0x0b {
            at += 1;
            continue;
        }
        if byte == b'\\' && bytes.get(at + 1).is_some_and(|b| *b == b'\n' || *b == b'\r') {
            at += 2;
            continue;
        }
        let start = at;
        let tok = if byte == b'#' && line_start {
            at = line_end(bytes, at);
            match directive(&text[start..at]) {
                Some(tok) => tok,
                None => continue,
            }
        } else if text[at..].starts_with("//") {
            at = line_end(bytes, at);
            continue;
        } else if text[at..].starts_with("/*") {
            at = text[at + 2..].find("*/").map_or(bytes.len(), |n| at + n + 4);
            continue;
        } else {
            let (tok, end) = token(text, at);
            at = end;
            tok
        };
        line_start = false;
        out.push(Token { tok, start: start as u32, end: at as u32 });
    }
    out.push(Token { tok: Tok::End, start: bytes.len() as u32, end: bytes.len() as u32 });
    out
}

fn line_end(bytes: &[u8], mut at: usize) -> usize {
    while at < bytes.len() && bytes[at] != b'\n' {
        at += 1;
        if at < bytes.len() && bytes[at] == b'\n' {
            let backslash = bytes[at - 1] == b'\\'
                || (bytes[at - 1] == b'\r' && bytes.get(at.wrapping_sub(2)) == Some(&b'\\'));
            if backslash {
                at += 1;
            }
        }
    }
    at
}

/// A pragma's token; line markers and other directives are none.
fn directive(line: &str) -> Option<Tok> {
    let comment = [line.find("//"), line.find("/*")].into_iter().flatten().min();
    let line = &line[..comment.unwrap_or(line.len())];
    let mut words = line
        .trim_start_matches('#')
        .split(|c: char| c.is_whitespace() || c == '\\')
        .filter(|w| !w.is_empty());
    if words.next() != Some("pragma") {
        return None;
    }
    Some(match (words.next(), words.next()) {
        (Some("scop"), None) => Tok::Scop,
        (Some("endscop"), None) => Tok::EndScop,
        _ => Tok::Pragma,
    })
}

fn token(text: &str, at: usize) -> (Tok, usize) {
    let bytes = text.as_bytes();
    let byte = bytes[at];
    if starts_ident(byte) {
        let mut end = at + 1;
        while end < bytes.len() && continues_ident(bytes[end]) {
            end += 1;
        }
        // A prefix of a string or character constant.
        if matches!(&text[at..end], "L" | "u" | "U" | "u8") && matches!(bytes.get(end), Some(b'"' | b'\'')) {
            return quoted(bytes, end);
        }
        if matches!(&text[at..end], "R" | "LR" | "uR" | "UR" | "u8R") && bytes.get(end) == Some(&b'"') {
            return (Tok::Str, raw_string(text, end));
        }
        return (Tok::Ident, end);
    }
    if byte.is_ascii_digit() || (byte == b'.' && bytes.get(at + 1).is_some_and(u8::is_ascii_digit)) {
        let mut end = at + 1;
        while end < bytes.len() {
            let b = bytes[end];
            let exponent_sign =
                matches!(b, b'+' | b'-') && matches!(bytes[end - 1], b'e' | b'E' | b'p' | b'P') && {
                    let hex = text[at..].starts_with("0x") || text[at..].starts_with("0X");
                    !hex || matches!(bytes[end - 1], b'p' | b'P')
                };
            // `1'000'000`
            let separator = b == b'\'' && bytes.get(end + 1).is_some_and(u8::is_ascii_alphanumeric);
            if !(continues_ident(b) || b == b'.' || exponent_sign || separator) {
                break;
            }
            end += 1;
        }
        return (Tok::Number, end);
    }
    if byte == b'"' || byte == b'\'' {
        return quoted(bytes, at);
    }
    // The common ones that start no longer one.
    if let Some(k) = b"()[]{};,?~".iter().position(|b| *b == byte) {
        return (Tok::Punct(["(", ")", "[", "]", "{", "}", ";", ",", "?", "~"][k]), at + 1);
    }
    for punctuation in PUNCTUATION {
        if bytes[at..].starts_with(punctuation.as_bytes()) {
            return (Tok::Punct(punctuation), at + punctuation.len());
        }
    }
    (Tok::Bad, at + 1)
}

/// The end of `R"mark(…)mark"`, of which the quote is at `at`; of its line if it has none.
fn raw_string(text: &str, at: usize) -> usize {
    let rest = &text[at + 1..];
    let closed = rest.find('(').filter(|n| *n <= 16).and_then(|open| {
        let end = format!("){}\"", &rest[..open]);
        Some(at + 1 + rest.find(&end)? + end.len())
    });
    closed.unwrap_or_else(|| at + rest.find('\n').map_or(rest.len(), |n| n) + 1)
}

fn quoted(bytes: &[u8], at: usize) -> (Tok, usize) {
    let quote = bytes[at];
    let mut end = at + 1;
    while end < bytes.len() && bytes[end] != quote && bytes[end] != b'\n' {
        end += if bytes[end] == b'\\' { 2 } else { 1 };
    }
    let closed = bytes.get(end) == Some(&quote);
    let end = (end + usize::from(closed)).min(bytes.len());
    (if quote == b'"' { Tok::Str } else { Tok::Char }, end)
}
