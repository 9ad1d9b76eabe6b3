//! Lexer: from text to tokens and comments. It never fails: what it cannot read becomes a
//! diagnostic and is skipped.

use loops::{Code, Diagnostic, Span};

/// What a token is; its text is that of its span.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum TokenKind {
    /// A name.
    Name,
    /// A number, with its suffix if it has one.
    Number,
    /// A text in double quotes.
    Text,
    /// A reserved word.
    Keyword(Keyword),
    /// An operator or a bracket, as it is written.
    Symbol(&'static str),
    /// The end of the file.
    End,
}

macro_rules! keywords {
    ($($variant:ident = $text:literal, $doc:literal;)*) => {
        /// A reserved word.
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
        pub enum Keyword {
            $(#[doc = $doc] $variant,)*
        }

        impl Keyword {
            /// As it is written.
            pub fn text(self) -> &'static str {
                match self { $(Keyword::$variant => $text,)* }
            }

            /// The reserved word that is written like this.
            pub fn from_text(text: &str) -> Option<Keyword> {
                match text { $($text => Some(Keyword::$variant),)* _ => None }
            }
        }
    };
}

keywords! {
    Def = "def", "Starts a definition.";
    Type = "type", "Starts a type abbreviation.";
    Import = "import", "Names another file.";
    Strategy = "strategy", "Starts a strategy.";
    Rule = "rule", "Starts a rewrite rule.";
    Let = "let", "Binds a value.";
    In = "in", "Ends the value of a `let`.";
    If = "if", "Starts a choice.";
    Then = "then", "Before the first branch.";
    Else = "else", "Before the second branch.";
    Where = "where", "Before what callers guarantee of the sizes.";
    True = "true", "The truth value.";
    False = "false", "The other truth value.";
    Inf = "inf", "Floating-point infinity.";
    Nan = "nan", "Floating-point not-a-number.";
}

impl Keyword {
    /// Whether the word starts a top-level item.
    pub(crate) fn starts_item(self) -> bool {
        matches!(self, Keyword::Def | Keyword::Type | Keyword::Import | Keyword::Strategy | Keyword::Rule)
    }
}

/// A token.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Token {
    /// What it is.
    pub kind: TokenKind,
    /// Where it stands.
    pub span: Span,
}

/// What the lexer found.
#[derive(Clone, Debug, Default)]
pub struct Lexed {
    /// Tokens in order; the last one is [`TokenKind::End`].
    pub tokens: Vec<Token>,
    /// Comments in order, from `--` to the end of the line (which is not part of it).
    pub comments: Vec<Span>,
    /// What could not be read.
    pub diagnostics: Vec<Diagnostic>,
}

/// Longest first: the first that fits is taken.
const SYMBOLS: &[&str] = &[
    "|>", "->", "=>", "==", "!=", "<=", ">=", "&&", "||", "(", ")", "[", "]", "{", "}", ",", ":", ";", "=",
    "+", "-", "*", "/", "%", "^", "<", ">", "!", "\\", "_", "..", ".", "@",
];

/// At most this many errors are reported one by one.
const MAX_ERRORS: usize = 50;

/// Splits `source` into tokens.
pub fn lex(source: &str) -> Lexed {
    let bytes = source.as_bytes();
    let mut out = Lexed::default();
    let mut at = 0;
    while at < bytes.len() {
        let start = at;
        let byte = bytes[at];
        if byte.is_ascii_whitespace() {
            at += 1;
        } else if source[at..].starts_with("--") {
            at = source[at..].find('\n').map_or(bytes.len(), |n| at + n);
            let end = if bytes[at - 1] == b'\r' { at - 1 } else { at };
            out.comments.push(Span::new(start, end));
        } else if is_name_byte(byte) && !byte.is_ascii_digit() {
            while at < bytes.len() && is_name_byte(bytes[at]) {
                at += 1;
            }
            let text = &source[start..at];
            let kind = match Keyword::from_text(text) {
                Some(keyword) => TokenKind::Keyword(keyword),
                None if text == "_" => TokenKind::Symbol("_"),
                None => TokenKind::Name,
            };
            out.tokens.push(Token { kind, span: Span::new(start, at) });
        } else if byte.is_ascii_digit() {
            at = number_end(bytes, at);
            out.tokens.push(Token { kind: TokenKind::Number, span: Span::new(start, at) });
        } else if byte == b'"' {
            at += 1;
            while at < bytes.len() && bytes[at] != b'"' && bytes[at] != b'\n' {
                at += 1;
            }
            if at < bytes.len() && bytes[at] == b'"' {
                at += 1;
            } else {
                let span = Span::new(start, at);
                out.diagnostics.push(Diagnostic::error(
                    Code("F0102"),
                    "this string has no closing quote",
                    span,
                    "it ends with the line",
                ));
            }
            out.tokens.push(Token { kind: TokenKind::Text, span: Span::new(start, at) });
        } else if let Some(symbol) = SYMBOLS.iter().find(|s| source[at..].starts_with(**s)) {
            at += symbol.len();
            out.tokens.push(Token { kind: TokenKind::Symbol(symbol), span: Span::new(start, at) });
        } else {
            let character = source[at..].chars().next().expect("not at the end");
            at += character.len_utf8();
            if out.diagnostics.len() < MAX_ERRORS {
                let shown = if character.is_control() {
                    character.escape_default().to_string()
                } else {
                    character.to_string()
                };
                let message = format!("`{shown}` is not part of the language");
                let diagnostic =
                    Diagnostic::error(Code("F0102"), message, Span::new(start, at), "unknown character");
                out.diagnostics.push(match character {
                    'λ' => diagnostic.help("a lambda is written `\\x -> e`"),
                    _ => diagnostic,
                });
            }
        }
    }
    out.tokens.push(Token { kind: TokenKind::End, span: Span::new(bytes.len(), bytes.len()) });
    out
}

fn is_name_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

/// Digits, a fraction, an exponent and a suffix; `_` between digits.
fn number_end(bytes: &[u8], mut at: usize) -> usize {
    let digit = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_digit);
    let digits = |mut at: usize| {
        while bytes.get(at).is_some_and(|b| b.is_ascii_digit() || *b == b'_') {
            at += 1;
        }
        at
    };
    at = digits(at);
    if bytes.get(at) == Some(&b'.') && digit(at + 1) {
        at = digits(at + 1);
    }
    if matches!(bytes.get(at), Some(b'e' | b'E')) {
        let sign = usize::from(matches!(bytes.get(at + 1), Some(b'+' | b'-')));
        if digit(at + 1 + sign) {
            at = digits(at + 1 + sign);
        }
    }
    while bytes.get(at).is_some_and(|b| is_name_byte(*b)) {
        at += 1;
    }
    at
}
