//! A parser of C that is strict inside regions and lenient outside.
//!
//! It follows typedefs and scopes, because C cannot be parsed without. What it does not understand
//! outside of regions is skipped by matching braces. Recursion and the height of trees are bounded.

mod breaks;
mod cpp;
mod decl;
mod expr;
mod guards;
mod header;
mod helper;
mod hoisted;
mod inline;
mod jumps;
mod member;
mod size;
mod specifiers;
mod stmt;
mod structures;

use crate::ast::{At, Expr};
use crate::lexer::Tok;
use crate::scope::Scopes;
use crate::source::Source;

pub use cpp::CPP_TYPE;
pub(crate) use cpp::of_standard;
pub(crate) use expr::ASSERTION;
pub use helper::Helper;
pub use inline::{Inline, acts};
pub use member::PLACE;
pub(crate) use member::tag_name;
pub use size::Measured;
pub use specifiers::Specifiers;

/// Why the parser stopped: a message and where.
#[derive(Clone, Debug)]
pub(crate) struct ParseError {
    pub message: String,
    pub at: At,
    /// Too deep, rather than wrong.
    pub deep: bool,
}

pub type Parsed<T> = Result<T, ParseError>;

/// Nesting of parentheses, declarators and statements.
const MAX_DEPTH: u32 = 400;
/// Height of an expression.
pub(crate) const MAX_HEIGHT: u32 = 300;

/// The parser: a place in the tokens, the scopes there.
pub struct Parser<'s> {
    pub source: &'s Source<'s>,
    pub pos: usize,
    /// Tokens from here on are not seen.
    pub end: usize,
    pub scopes: Scopes,
    /// Objects whose sizes were taken as numbers since this was last emptied.
    pub measured: Vec<Measured>,
    /// What an attribute makes of the type being read, if it makes another one of it.
    pub retyped: Option<&'static str>,
    /// Labels that a region has or jumps to.
    labels: Vec<String>,
    /// Parameters of the function whose body is read in the place of a call that stand for arrays
    /// of the caller, and these.
    arrays: Vec<(String, Expr)>,
    depth: u32,
}

impl<'s> Parser<'s> {
    pub fn new(source: &'s Source<'s>) -> Parser<'s> {
        Parser {
            source,
            pos: 0,
            end: source.end,
            scopes: Scopes::new(source.is_cpp()),
            measured: Vec::new(),
            retyped: None,
            labels: Vec::new(),
            arrays: Vec::new(),
            depth: 0,
        }
    }

    pub(crate) fn tok(&self) -> Tok {
        self.tok_at(self.pos)
    }

    pub(crate) fn tok_at(&self, pos: usize) -> Tok {
        if pos >= self.end { Tok::End } else { self.source.tokens[pos].tok }
    }

    pub fn text(&self) -> &'s str {
        self.text_at(self.pos)
    }

    pub(crate) fn text_at(&self, pos: usize) -> &'s str {
        if pos >= self.end { "" } else { self.source.token_text(pos) }
    }

    /// The identifier or keyword here.
    pub fn word(&self) -> &'s str {
        self.word_at(self.pos)
    }

    fn word_at(&self, pos: usize) -> &'s str {
        if self.tok_at(pos) == Tok::Ident { self.text_at(pos) } else { "" }
    }

    pub fn is(&self, punctuation: &str) -> bool {
        matches!(self.tok(), Tok::Punct(p) if p == punctuation)
    }

    fn is_at(&self, pos: usize, punctuation: &str) -> bool {
        matches!(self.tok_at(pos), Tok::Punct(p) if p == punctuation)
    }

    pub fn accept(&mut self, punctuation: &str) -> bool {
        let here = self.is(punctuation);
        if here {
            self.pos += 1;
        }
        here
    }

    pub fn expect(&mut self, punctuation: &str) -> Parsed<()> {
        if self.accept(punctuation) { Ok(()) } else { Err(self.expected(&format!("`{punctuation}`"))) }
    }

    fn accept_word(&mut self, word: &str) -> bool {
        let here = self.word() == word;
        if here {
            self.pos += 1;
        }
        here
    }

    /// The place of the token here, or of the last one.
    pub fn here(&self) -> At {
        let pos = self.pos.min(self.end.saturating_sub(1)) as u32;
        At { first: pos, last: pos }
    }

    /// From a token to the one before this.
    pub fn since(&self, first: usize) -> At {
        At { first: first as u32, last: self.pos.saturating_sub(1).max(first) as u32 }
    }

    pub fn error(&self, message: impl Into<String>) -> ParseError {
        ParseError { message: message.into(), at: self.here(), deep: false }
    }

    pub fn expected(&self, what: &str) -> ParseError {
        let found = match self.tok() {
            Tok::End => "the end".to_string(),
            Tok::Pragma | Tok::Scop | Tok::EndScop => "a pragma".to_string(),
            _ => {
                let text: String = self.text().chars().take(40).collect();
                format!("`{text}`")
            }
        };
        self.error(format!("expected {what}, found {found}"))
    }

    /// Runs a part of the parser one level deeper.
    fn deeper<T>(&mut self, f: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        if self.depth >= MAX_DEPTH {
            return Err(ParseError { message: "nested too deep".to_string(), at: self.here(), deep: true });
        }
        self.depth += 1;
        let result = f(self);
        self.depth -= 1;
        result
    }

    /// Whether a function definition without the type of its result begins here.
    pub(crate) fn is_implicit_int(&self) -> bool {
        !self.is_cpp()
            && self.tok() == Tok::Ident
            && self.is_at(self.pos + 1, "(")
            && !self.starts_type(self.pos)
    }

    /// Goes past a pragma outside of regions; what OpenMP gives to each thread is noted.
    pub(crate) fn outer_pragma(&mut self) {
        let text = self.text().replace('\\', " ");
        self.pos += 1;
        let text =
            text.trim_start_matches('#').trim_start().strip_prefix("pragma").unwrap_or("").trim_start();
        let Some(named) = text.strip_prefix("omp").and_then(|t| t.trim_start().strip_prefix("threadprivate"))
        else {
            return;
        };
        let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '$' || !c.is_ascii();
        named.split(|c| !is_part(c)).for_each(|name| self.scopes.declare_per_thread(name));
    }

    /// Goes past a bracketed group that starts here; false if it has no end.
    pub(crate) fn skip_group(&mut self) -> bool {
        let end = self.group_end(self.pos);
        self.pos = end.unwrap_or(self.end.max(self.pos));
        end.is_some()
    }

    /// The token behind the bracketed group that starts at a token.
    pub(crate) fn group_end(&self, pos: usize) -> Option<usize> {
        let mut depth = 0usize;
        for k in pos..self.end {
            match self.tok_at(k) {
                Tok::Punct("(" | "[" | "{") => depth += 1,
                Tok::Punct(")" | "]" | "}") => depth = depth.saturating_sub(1),
                _ => {}
            }
            if depth == 0 {
                return Some(k + 1);
            }
        }
        None
    }

    /// Moves to the end of an external declaration: past a `;`, or past the braces of a function's
    /// body.
    pub(crate) fn skip_external(&mut self) {
        let starts_type = matches!(
            self.word(),
            "struct" | "union" | "enum" | "typedef" | "extern" | "static" | "const" | "class"
        );
        let mut had_parens = false;
        let mut had_equals = false;
        while self.pos < self.end {
            match self.tok() {
                Tok::Punct(";") => {
                    self.pos += 1;
                    return;
                }
                // The end of a namespace or class.
                Tok::Punct("}") if self.is_cpp() => return,
                Tok::Punct("{") => {
                    self.skip_group();
                    if !had_equals && (had_parens || !starts_type) {
                        return;
                    }
                }
                Tok::Punct("(" | "[") => {
                    had_parens = true;
                    self.skip_group();
                }
                Tok::Punct("=") => {
                    had_equals = true;
                    self.pos += 1;
                }
                _ => self.pos += 1,
            }
        }
    }
}
