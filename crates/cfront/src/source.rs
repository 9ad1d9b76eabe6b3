//! Maps tokens of the preprocessed text to places in the original file.
//!
//! Line markers (`# 12 "file.c"`) give the line. Macros move columns, so a token is searched in its
//! line. If it is not found there, the place is the whole line.

use std::cell::RefCell;
use std::collections::BTreeMap;

use loops::Span;

use crate::ast::At;
use crate::copies::Copies;
use crate::lexer::{Tok, Token, continues_ident, tokens};

/// The language of a text.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Language {
    /// C.
    #[default]
    C,
    /// C++. Regions in it are C.
    Cpp,
}

/// The original text, the preprocessed text and its tokens.
pub struct Source<'s> {
    pub language: Language,
    pub original: &'s str,
    pub text: &'s str,
    pub tokens: Vec<Token>,
    /// The last token of the text. Behind it are copies of functions.
    pub end: usize,
    /// Where these are.
    pub copies: Copies,
    /// Tokens of names that the text does not have, behind all others: where they are in it.
    spare: RefCell<Vec<usize>>,
    /// Byte offset of the start of each original line, and one past the end.
    original_lines: Vec<usize>,
    /// Byte offset of the start of each preprocessed line.
    text_lines: Vec<usize>,
    /// `(offset in the preprocessed text, line there is this original line, in the main file)`, by
    /// offset.
    markers: Vec<Marker>,
    /// Definitions of each macro, if the preprocessor kept them: the position, and the text. `None`
    /// for `#undef`.
    macros: BTreeMap<&'s str, Vec<(usize, Option<&'s str>)>>,
}

struct Marker {
    offset: usize,
    line: usize,
    main: bool,
    file: String,
}

impl<'s> Source<'s> {
    /// Lexes the preprocessed text and reads its line markers. The file of the first marker is the
    /// main file.
    pub fn new(original: &'s str, text: &'s str, language: Language) -> Source<'s> {
        let mut markers = vec![Marker { offset: 0, line: 1, main: true, file: String::new() }];
        let mut main: Option<String> = None;
        let mut macros: BTreeMap<&str, Vec<(usize, Option<&str>)>> = BTreeMap::new();
        let mut offset = 0;
        for line in text.split_inclusive('\n') {
            offset += line.len();
            if let Some((name, body)) = line.strip_prefix('#').and_then(definition) {
                macros.entry(name).or_default().push((offset, body));
                continue;
            }
            if let Some((number, file)) = line.starts_with('#').then(|| marker(line)).flatten() {
                let file = match file {
                    Some(file) => file,
                    None => markers.last().map(|m| m.file.clone()).unwrap_or_default(),
                };
                let main = main.get_or_insert_with(|| file.clone());
                markers.push(Marker { offset, line: number, main: *main == file, file });
            }
        }
        let (original_lines, text_lines) = (line_starts(original), line_starts(text));
        let mut tokens = tokens(text);
        let end = tokens.len() - 1;
        let copies = Copies::of(text, &mut tokens);
        let spare = RefCell::default();
        Source {
            language,
            original,
            text,
            tokens,
            end,
            copies,
            spare,
            original_lines,
            text_lines,
            markers,
            macros,
        }
    }

    /// A new token for a name that the text does not have, at the place of a token.
    pub(crate) fn spare(&self, at: usize) -> usize {
        let at = self.of_text(at);
        let mut spare = self.spare.borrow_mut();
        spare.push(at);
        self.tokens.len() + spare.len() - 1
    }

    /// The token of the text at whose place a token is.
    fn of_text(&self, index: usize) -> usize {
        match index.checked_sub(self.tokens.len()) {
            Some(k) => self.spare.borrow().get(k).copied().unwrap_or(self.tokens.len() - 1),
            None => index,
        }
    }

    /// Whether it is C++.
    pub(crate) fn is_cpp(&self) -> bool {
        self.language == Language::Cpp
    }

    /// The text of a token.
    pub(crate) fn token_text(&self, index: usize) -> &'s str {
        let token = self.tokens[self.of_text(index)];
        &self.text[token.start as usize..token.end as usize]
    }

    fn marker_of(&self, offset: usize) -> &Marker {
        let after = self.markers.partition_point(|m| m.offset <= offset);
        &self.markers[after.saturating_sub(1)]
    }

    /// The line of the original file, counted from 1, that the token comes from; `Err` has the name
    /// of an included file.
    pub fn line(&self, index: usize) -> Result<usize, &str> {
        let offset = self.tokens[self.of_text(index)].start as usize;
        let marker = self.marker_of(offset);
        if !marker.main {
            return Err(&marker.file);
        }
        let lines = |offset: usize| self.text_lines.partition_point(|start| *start <= offset);
        Ok(marker.line + lines(offset) - lines(marker.offset))
    }

    /// The text that a macro stands for at a token, its parameters included.
    pub(crate) fn macro_text(&self, name: &str, token: usize) -> Option<&'s str> {
        let offset = self.tokens[self.of_text(token)].start as usize;
        self.macros.get(name)?.iter().rev().find(|(at, _)| *at <= offset)?.1
    }

    /// Bytes of an original line, with its line end; empty beyond the last one.
    pub(crate) fn line_bytes(&self, line: usize) -> std::ops::Range<usize> {
        let last = self.original.len();
        let start = line.checked_sub(1).and_then(|k| self.original_lines.get(k)).copied().unwrap_or(last);
        let end = self.original_lines.get(line).copied().unwrap_or(last);
        start..end
    }

    /// The place in the original file of a range of tokens: exact where their text is found in
    /// their lines.
    pub fn span(&self, at: At) -> Span {
        let (first, last) = (self.token_span(at.first as usize), self.token_span(at.last as usize));
        if first.end <= last.end { first.to(last) } else { first }
    }

    fn token_span(&self, index: usize) -> Span {
        let index = self.of_text(index);
        let Ok(line) = self.line(index) else { return Span::default() };
        self.found(index).unwrap_or_else(|| {
            let range = self.line_bytes(line);
            let whole = &self.original[range.clone()];
            let first = range.start + whole.len() - whole.trim_start().len();
            Span::new(first, first + whole.trim().len())
        })
    }

    /// Where a token is in the original file, if it is found in its line.
    pub(crate) fn found(&self, index: usize) -> Option<Span> {
        let index = self.of_text(index);
        let range = self.line_bytes(self.line(index).ok()?);
        let whole = &self.original[range.clone()];
        let text = self.token_text(index);
        if text.is_empty() || self.tokens[index].tok == Tok::End {
            return None;
        }
        let start = self.tokens[index].start as usize;
        let line_start = self.text[..start].rfind('\n').map_or(0, |n| n + 1);
        let line_end = self.text[start..].find('\n').map_or(self.text.len(), |n| start + n);
        let mine = occurrences(&self.text[line_start..line_end], text);
        let theirs = occurrences(whole, text);
        // The same token as often in both lines: no macro moved it.
        let nth = mine.iter().position(|column| line_start + column == start)?;
        let first = range.start + theirs.get(nth).filter(|_| mine.len() == theirs.len())?;
        Some(Span::new(first, first + text.len()))
    }
}

/// Where a token's text stands as a whole token in a line.
fn occurrences(line: &str, text: &str) -> Vec<usize> {
    let word = text.bytes().all(continues_ident);
    line.match_indices(text)
        .map(|(column, _)| column)
        .filter(|column| {
            let before = line.as_bytes()[..*column].last();
            let after = line.as_bytes().get(column + text.len());
            !word
                || !(before.is_some_and(|b| continues_ident(*b))
                    || after.is_some_and(|b| continues_ident(*b)))
        })
        .collect()
}

/// Name and text of `define N 3`; of `undef N` the name.
fn definition(line: &str) -> Option<(&str, Option<&str>)> {
    let line = line.trim();
    let (rest, defined) = match line.strip_prefix("define ") {
        Some(rest) => (rest.trim_start(), true),
        None => (line.strip_prefix("undef ")?.trim_start(), false),
    };
    let end = rest.bytes().take_while(|b| continues_ident(*b)).count();
    Some((&rest[..end], defined.then_some(rest[end..].trim())))
}

/// Line number and file of a line marker `# 12 "file.c" 1` or `#line 12`.
fn marker(line: &str) -> Option<(usize, Option<String>)> {
    let rest = line.strip_prefix('#')?.trim_start();
    let rest = rest.strip_prefix("line").unwrap_or(rest).trim();
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    let number = rest[..digits].parse().ok()?;
    let file =
        rest[digits..].trim_start().strip_prefix('"').and_then(|r| r.rfind('"').map(|n| r[..n].to_string()));
    Some((number, file))
}

/// Byte offsets of the starts of lines.
pub(crate) fn line_starts(text: &str) -> Vec<usize> {
    std::iter::once(0).chain(text.match_indices('\n').map(|(k, _)| k + 1)).collect()
}
