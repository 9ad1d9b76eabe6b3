//! The place of a region: its lines in the original file with their directives, and the macros in
//! its text.

use std::collections::BTreeSet;

use loops::{Diagnostic, Span};

use crate::codes;
use crate::lexer::{Tok, continues_ident, starts_ident};
use crate::source::Source;

/// Whether the region stands where C expects a single statement.
pub(crate) fn cut(source: &Source<'_>, first: usize, last: usize) -> Option<&'static str> {
    let is_pragma = |k: &usize| matches!(source.tokens[*k].tok, Tok::Pragma | Tok::Scop | Tok::EndScop);
    let before = (0..first).rev().find(|k| !is_pragma(k))?;
    let after = (last..source.tokens.len()).find(|k| !is_pragma(k))?;
    if source.token_text(after) == "else" {
        return Some("followed by an `else`");
    }
    match source.tokens[before].tok {
        Tok::Punct(";" | "{" | "}" | ":") => None,
        _ => Some("the body of a statement without braces"),
    }
}

/// Where a region is in the original file.
pub(crate) fn of(source: &Source<'_>, first: usize, last: usize) -> Result<RegionPlace, Diagnostic> {
    let line = |token: usize| {
        source.line(token).map_err(|file| {
            let message = format!("a region in the included file `{file}`");
            Diagnostic::general(codes::PRAGMA_LINE, message).help("give that file to the compiler")
        })
    };
    let (from, to) = (line(first)?, line(last)?);
    let original = source.original;
    let mut ends = Vec::new();
    for (line, word) in [(from, "scop"), (to, "endscop")] {
        let (text, last) = logical_line(source, line);
        let words: Vec<&str> = text.trim().trim_start_matches('#').split_whitespace().collect();
        if !text.trim_start().starts_with('#') || words != ["pragma", word] {
            let range = source.line_bytes(line);
            let written = original[range.clone()].trim_end();
            let span = Span::new(range.start, range.start + written.len());
            let message = format!("`#pragma {word}` does not stand on a line of its own here");
            return Err(Diagnostic::error(codes::PRAGMA_LINE, message, span, "comes from this line"));
        }
        ends.push(source.line_bytes(last).end);
    }
    let bytes = source.line_bytes(from).start..ends[1];
    let inside = ends[0]..source.line_bytes(to).start;
    if inside.start > inside.end {
        let span = Span::new(bytes.start, bytes.start);
        return Err(Diagnostic::error(
            codes::PRAGMA_LINE,
            "the lines of the region are out of order",
            span,
            "here",
        ));
    }
    within(source, bytes, inside, (from, to), first..last).map(|place| RegionPlace { marked: true, ..place })
}

/// Where a loop nest without pragmas is in the original file, or why it cannot be replaced there.
pub(crate) fn of_nest(source: &Source<'_>, first: usize, end: usize) -> Result<RegionPlace, String> {
    let line =
        |token: usize| source.line(token).map_err(|file| format!("it is in the included file `{file}`"));
    let lines = (line(first)?, line(end - 1)?);
    // The body of a statement, or what follows a label, becomes a block.
    let alone = match source.tokens[first - 1].tok {
        Tok::Punct(";" | "{" | "}") => true,
        Tok::Pragma => return Err("a pragma stands before it, and stays as it is".to_owned()),
        _ => false,
    };
    let beside = || "it begins or ends in the text of a macro".to_owned();
    let bytes = match lines_of(source, first, end, lines) {
        Some(bytes) if alone => bytes,
        _ => {
            let (first, last) = source.found(first).zip(source.found(end - 1)).ok_or_else(beside)?;
            first.start as usize..last.end as usize
        }
    };
    let Some(text) = source.original.get(bytes.clone()) else {
        return Err("its lines are out of order".to_owned());
    };
    if !is_whole(source, text, end) {
        return Err(beside());
    }
    let place = within(source, bytes.clone(), bytes, lines, first..end).map_err(|d| d.message)?;
    Ok(RegionPlace { braces: !alone, ..place })
}

/// The lines of a nest, if nothing else stands on them.
fn lines_of(
    source: &Source<'_>,
    first: usize,
    end: usize,
    (from, to): (usize, usize),
) -> Option<std::ops::Range<usize>> {
    let bytes = source.line_bytes(from).start..source.line_bytes(to).end;
    let text = source.original.get(bytes.clone())?;
    let before = first > 0 && source.line(first - 1) == Ok(from);
    let behind = source.tokens.get(end).is_some_and(|_| source.line(end) == Ok(to));
    (!before && !behind && text.ends_with('\n') && is_whole(source, text, end)).then_some(bytes)
}

/// Whether a text has all of a nest: what came from macros would be replaced with it.
fn is_whole(source: &Source<'_>, text: &str, end: usize) -> bool {
    let tokens: Vec<&str> = crate::lexer::tokens(text)
        .into_iter()
        .filter(|token| token.tok != Tok::End)
        .map(|token| &text[token.start as usize..token.end as usize])
        .collect();
    let count = |p: &str| tokens.iter().filter(|t| **t == p).count();
    tokens.first().is_some_and(|first| ["for", "while", "do"].contains(first))
        && tokens.last() == Some(&source.token_text(end - 1))
        && [("(", ")"), ("{", "}"), ("[", "]")].iter().all(|(a, b)| count(a) == count(b))
}

/// The rest of what is known of a region's place: its lines, and the tokens in them.
fn within(
    source: &Source<'_>,
    bytes: std::ops::Range<usize>,
    inside: std::ops::Range<usize>,
    lines: (usize, usize),
    tokens: std::ops::Range<usize>,
) -> Result<RegionPlace, Diagnostic> {
    let text = &source.original[inside.clone()];
    let mut warnings = Vec::new();
    let mut offset = inside.start;
    for line in text.split_inclusive('\n') {
        if let Some(word) = directive(line) {
            let span = Span::new(offset, offset + line.trim_end().len());
            match word {
                "define" | "undef" | "include" | "line" => {
                    let message =
                        format!("`#{word}` inside a region: it would be lost with the region's text");
                    return Err(Diagnostic::error(
                        codes::DIRECTIVE,
                        message,
                        span,
                        "move it out of the region",
                    ));
                }
                "if" | "ifdef" | "ifndef" => {
                    let message =
                        format!("`#{word}` inside a region: the result is only for this configuration");
                    let mut diagnostic =
                        Diagnostic::error(codes::CONFIGURATION, message, span, "decided already");
                    diagnostic.severity = loops::Severity::Warning;
                    warnings.push(diagnostic);
                }
                _ => {}
            }
        }
        offset += line.len();
    }
    // From the beginning of its line, where the region stands behind something.
    let line = source.original[..inside.start].rfind('\n').map_or(0, |end| end + 1);
    let first_line = source.original[line..inside.end]
        .lines()
        .find(|l| !l.trim().is_empty() && !l.trim_start().starts_with('#'))
        .unwrap_or("");
    let indent = first_line[..first_line.len() - first_line.trim_start().len()].to_string();
    let macros = macros(source, text, tokens.start, tokens.end);
    let macro_values = macro_values(source, &macros, tokens.start);
    Ok(RegionPlace {
        bytes,
        marked: false,
        braces: false,
        inside,
        lines,
        indent,
        macros,
        macro_values,
        warnings,
    })
}

/// A line with those that continue it and without comments, and the number of the last one.
fn logical_line(source: &Source<'_>, first: usize) -> (String, usize) {
    let (mut joined, mut last) = (String::new(), first);
    loop {
        let line = source.original[source.line_bytes(last)].trim_end_matches(['\n', '\r']);
        match line.strip_suffix('\\') {
            Some(start) if last - first < 100 => joined.push_str(start),
            _ => {
                joined.push_str(line);
                break;
            }
        }
        last += 1;
    }
    let mut text = String::new();
    let mut rest = joined.as_str();
    while let Some(at) = rest.find('/') {
        let (before, comment) = rest.split_at(at);
        text.push_str(before);
        rest = match comment.strip_prefix("/*").map(|inside| inside.split_once("*/")) {
            Some(closed) => {
                // A comment that goes on would be cut in two.
                text.push_str(if closed.is_some() { " " } else { " /*" });
                closed.map_or("", |(_, behind)| behind)
            }
            None if comment.starts_with("//") => "",
            None => {
                text.push('/');
                &comment[1..]
            }
        };
    }
    text.push_str(rest);
    (text, last)
}

/// Names before a parenthesis.
pub(crate) fn called<'a>(
    source: &'a Source<'_>,
    region: std::ops::Range<usize>,
) -> impl Iterator<Item = String> + 'a {
    let is_call =
        |k: &usize| source.tokens[*k].tok == Tok::Ident && source.tokens[k + 1].tok == Tok::Punct("(");
    region.filter(is_call).map(|k| source.token_text(k).to_string())
}

/// Macros with simple values that others are made of.
fn macro_values(source: &Source<'_>, macros: &[String], token: usize) -> Vec<(String, String)> {
    let mut queue: Vec<&str> = macros.iter().map(String::as_str).collect();
    let mut seen: BTreeSet<&str> = BTreeSet::new();
    let mut values = Vec::new();
    while let Some(name) = queue.pop() {
        let Some(text) = source.macro_text(name, token) else { continue };
        if !seen.insert(name) || seen.len() > 1000 {
            continue;
        }
        if is_integer(text) || matches!(text, "float" | "double" | "int" | "long") {
            values.push((name.to_string(), text.to_string()));
            continue;
        }
        for token in crate::lexer::tokens(text) {
            if token.tok == Tok::Ident {
                queue.push(&text[token.start as usize..token.end as usize]);
            }
        }
    }
    values.sort();
    values
}

/// Words of the original text that the preprocessor left nothing of.
fn macros(source: &Source<'_>, text: &str, first: usize, last: usize) -> Vec<String> {
    let kept: BTreeSet<&str> = (first..last).map(|k| source.token_text(k)).collect();
    let mut found = BTreeSet::new();
    for token in crate::lexer::tokens(text) {
        let word = &text[token.start as usize..token.end as usize];
        if token.tok == Tok::Ident && !kept.contains(word) {
            found.insert(word.to_string());
        }
    }
    debug_assert!(found.iter().all(|w| w.bytes().next().is_some_and(starts_ident)));
    debug_assert!(found.iter().all(|w| w.bytes().all(continues_ident)));
    found.into_iter().collect()
}

/// Whether `#if` can compare a macro's text: an integer constant.
fn is_integer(text: &str) -> bool {
    let digits = text.trim_start_matches('-').trim_end_matches(['u', 'U', 'l', 'L']);
    !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit())
}

/// Where a region is in the original file, and what of the preprocessor's work it needs.
pub(crate) struct RegionPlace {
    pub bytes: std::ops::Range<usize>,
    /// Whether pragmas are around it.
    pub marked: bool,
    /// Whether C expects a single statement there.
    pub braces: bool,
    /// The lines between the pragmas.
    pub inside: std::ops::Range<usize>,
    pub lines: (usize, usize),
    pub indent: String,
    pub macros: Vec<String>,
    pub macro_values: Vec<(String, String)>,
    pub warnings: Vec<Diagnostic>,
}

/// The word of a preprocessor directive.
fn directive(line: &str) -> Option<&str> {
    let rest = line.trim_start().strip_prefix('#')?.trim_start();
    Some(rest.split(|c: char| !c.is_ascii_alphanumeric()).next().unwrap_or(""))
}
