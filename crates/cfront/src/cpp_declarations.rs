//! The declarations of C++ around regions: namespaces, `extern "C"`, using directives, templates
//! and classes.
//!
//! What of a class or template is not understood is passed over. A function of a class is taken
//! where what it uses is not a member; names that may be one are hidden in it.

use std::collections::BTreeSet;

use crate::ctype::{CType, QType, Structure};
use crate::file::Reader;
use crate::lexer::Tok;
use crate::namespaces::Hidden;
use crate::parser::{ParseError, Parser, tag_name};
use crate::scope::Symbol;
use crate::source::Source;

/// What an open brace around declarations is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Frame {
    /// So many namespaces, one in the other.
    Namespaces(usize),
    /// `extern "C"`, and namespaces whose names are those of what is around.
    Plain,
    Class,
}

/// So many namespaces and classes may be in each other.
const MAX_FRAMES: usize = 64;

impl<'s> Reader<'s> {
    /// Reads what only C++ has, if that begins here: whether it did.
    pub(crate) fn of_cpp(&mut self, parser: &mut Parser<'s>) -> Result<bool, ParseError> {
        if !self.source.is_cpp() {
            return Ok(false);
        }
        let start = parser.pos;
        if parser.is("}") && !self.frames.is_empty() {
            match self.frames.pop() {
                Some(Frame::Namespaces(count)) => {
                    (0..count).for_each(|_| parser.scopes.leave_namespace());
                }
                Some(Frame::Class) => parser.scopes.pop(),
                _ => {}
            }
            parser.pos += 1;
            return Ok(true);
        }
        match parser.word() {
            "inline" if parser.text_at(start + 1) == "namespace" => {
                parser.pos += 1;
                self.namespace(parser, true)?;
            }
            "namespace" => self.namespace(parser, false)?,
            "extern" if parser.tok_at(start + 1) == Tok::Str => {
                parser.pos += 2;
                if !parser.accept("{") {
                    return Ok(false);
                }
                self.frames.push(Frame::Plain);
            }
            "using" => parser.using(),
            "static_assert" => {
                parser.skip_to(";");
            }
            "template" => return Err(self.template(parser)),
            "public" | "private" | "protected" if parser.text_at(start + 1) == ":" => parser.pos += 2,
            "class" | "struct" | "union" => return Ok(self.class(parser)),
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// Whether the function here belongs to a class.
    pub(crate) fn in_class(&self) -> bool {
        self.frames.contains(&Frame::Class)
    }

    fn namespace(&mut self, parser: &mut Parser<'s>, inline: bool) -> Result<(), ParseError> {
        parser.pos += 1;
        let mut names = Vec::new();
        loop {
            if parser.is("[") || parser.is("(") {
                parser.skip_group();
            } else if parser.is("::") || matches!(parser.word(), "inline" | "__attribute__") {
                parser.pos += 1;
            } else if parser.tok() == Tok::Ident {
                names.push(parser.text().to_owned());
                parser.pos += 1;
            } else {
                break;
            }
        }
        if !parser.is("{") {
            // An alias.
            parser.skip_to(";");
            return Ok(());
        }
        // What regions use of the library is known without its text.
        if self.frames.iter().all(|frame| *frame == Frame::Plain)
            && names.first().is_some_and(|name| is_library(name))
        {
            parser.skip_group();
            return Ok(());
        }
        if self.frames.len() + names.len() > MAX_FRAMES {
            return Err(parser.error("more namespaces in each other than are read"));
        }
        parser.pos += 1;
        if names.is_empty() || inline {
            self.frames.push(Frame::Plain);
            return Ok(());
        }
        names.iter().for_each(|name| parser.scopes.enter_namespace(name));
        self.frames.push(Frame::Namespaces(names.len()));
        Ok(())
    }

    /// A template: the types in it are known where it is used. Its name is that of nothing else.
    fn template(&mut self, parser: &mut Parser<'s>) -> ParseError {
        let error = parser.error("a template: the types of its parameters are known only where it is used");
        let mut k = parser.pos + 1;
        if let Some(end) = parser.angle_end(k) {
            k = end;
        }
        let mut name = None;
        while !matches!(parser.tok_at(k), Tok::Punct("(" | "{" | ";" | "=" | "<") | Tok::End) {
            if parser.tok_at(k) == Tok::Ident {
                name = Some(parser.text_at(k).to_owned());
            }
            k += 1;
        }
        if let Some(name) = name {
            parser.scopes.declare(name, Symbol::Hidden(Hidden::Template));
        }
        error
    }

    /// A class, if regions may be in it: whether the parser is in its braces now.
    fn class(&mut self, parser: &mut Parser<'s>) -> bool {
        let start = parser.pos;
        let mut k = start + 1;
        while !matches!(parser.tok_at(k), Tok::Punct("{" | ";" | "(" | "=" | ")" | "*" | "&") | Tok::End) {
            k = if parser.tok_at(k) == Tok::Punct("[") {
                parser.group_end(k).unwrap_or(k + 1)
            } else {
                k + 1
            };
        }
        if parser.tok_at(k) != Tok::Punct("{") || self.frames.len() >= MAX_FRAMES {
            return false;
        }
        let Some(end) = parser.group_end(k) else { return false };
        let regions = self.auto || self.pairs[self.next..].iter().any(|(first, _)| (k..end).contains(first));
        if !regions {
            return false;
        }
        let name = parser.text_at(start + 1).to_owned();
        let tag = Some(tag_name(&name));
        let ty = QType::plain(CType::Struct(Structure { tag, members: None }));
        parser.scopes.declare(name, Symbol::Typedef(ty));
        parser.scopes.push();
        parser.pos = k + 1;
        self.frames.push(Frame::Class);
        true
    }

    /// Hides the names of a function's text that are members of some class.
    pub(crate) fn hide_members(&mut self, parser: &mut Parser<'s>, text: std::ops::Range<usize>) {
        let source = self.source;
        let members = self.members.get_or_insert_with(|| members(source));
        for k in text {
            let word = parser.text_at(k);
            if parser.tok_at(k) == Tok::Ident && members.contains(word) {
                parser.scopes.declare(word.to_owned(), Symbol::Hidden(Hidden::Member));
            }
        }
    }
}

/// Whether a namespace is that of the library or of the compiler.
fn is_library(name: &str) -> bool {
    name == "std" || name.starts_with("__")
}

/// The tokens of a text that are not in namespaces of the library.
pub(crate) fn own_tokens(source: &Source<'_>) -> Vec<usize> {
    let mut own = Vec::with_capacity(source.end);
    let (mut k, mut depth) = (0, 0usize);
    while k < source.end {
        let tok = source.tokens[k].tok;
        if source.is_cpp()
            && tok == Tok::Ident
            && source.token_text(k) == "namespace"
            && is_library(source.token_text(k + 1))
        {
            while k < source.end && !matches!(source.tokens[k].tok, Tok::Punct("{" | ";")) {
                k += 1;
            }
            while k < source.end {
                match source.tokens[k].tok {
                    Tok::Punct("{") => depth += 1,
                    Tok::Punct("}") => depth = depth.saturating_sub(1),
                    _ => {}
                }
                k += 1;
                if depth == 0 {
                    break;
                }
            }
            continue;
        }
        own.push(k);
        k += 1;
    }
    own
}

/// The names that classes of the text declare, and perhaps some more.
fn members<'s>(source: &'s Source<'s>) -> BTreeSet<&'s str> {
    let mut found = BTreeSet::new();
    // For each open brace, whether a class is in it; how many parentheses are open in it.
    let mut braces: Vec<(bool, usize)> = vec![(false, 0)];
    let mut head = false;
    let is = |k: usize, any: &[&str]| matches!(source.tokens[k].tok, Tok::Punct(p) if any.contains(&p));
    for k in 1..source.end {
        let (in_class, parentheses) = braces.last().copied().unwrap_or_default();
        match source.tokens[k].tok {
            Tok::Punct("{") => {
                braces.push((head && !is(k - 1, &[")"]), 0));
                head = false;
            }
            Tok::Punct("}") => {
                braces.pop();
                head = false;
            }
            Tok::Punct(";") => head = false,
            Tok::Punct("(" | "[") => {
                if let Some(last) = braces.last_mut() {
                    last.1 += 1;
                }
            }
            Tok::Punct(")" | "]") => {
                if let Some(last) = braces.last_mut() {
                    last.1 = last.1.saturating_sub(1);
                }
            }
            Tok::Ident => {
                let word = source.token_text(k);
                head |= parentheses == 0 && matches!(word, "class" | "struct" | "union" | "enum");
                let declared = is(k + 1, &[";", "=", "{", "(", ",", ":", "[", ")", "}"]);
                let by_pointer = parentheses == 1 && is(k - 1, &["*"]);
                if in_class && declared && (parentheses == 0 || by_pointer) {
                    found.insert(word);
                }
            }
            _ => {}
        }
    }
    found
}
