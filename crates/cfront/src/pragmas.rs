//! The pragmas that begin and end regions, and those that look as if they were meant to.

use loops::Diagnostic;

use crate::codes;
use crate::file::one;
use crate::lexer::Tok;
use crate::source::Source;

/// The tokens of the pragmas of each region.
pub(crate) fn pragma_pairs(source: &Source<'_>) -> Result<Vec<(usize, usize)>, Vec<Diagnostic>> {
    let mut pairs = Vec::new();
    let mut open: Option<usize> = None;
    let mut diagnostics = Vec::new();
    for (k, token) in source.tokens.iter().enumerate() {
        match (token.tok, open) {
            (Tok::Scop, None) => open = Some(k),
            (Tok::Scop, Some(first)) => diagnostics.push(
                Diagnostic::error(
                    codes::PRAGMAS,
                    "`#pragma scop` inside a region",
                    source.span(one(k)),
                    "a second one",
                )
                .context(source.span(one(first)), "the region starts here"),
            ),
            (Tok::EndScop, Some(first)) => {
                pairs.push((first, k));
                open = None;
            }
            (Tok::EndScop, None) => {
                let span = source.span(one(k));
                let message = "`#pragma endscop` without a `#pragma scop` before it";
                diagnostics.push(Diagnostic::error(codes::PRAGMAS, message, span, "ends no region"));
            }
            _ => {}
        }
        if diagnostics.len() >= 20 {
            break;
        }
    }
    if let Some(first) = open {
        let span = source.span(one(first));
        let message = "`#pragma scop` without a `#pragma endscop` after it";
        diagnostics.push(Diagnostic::error(codes::PRAGMAS, message, span, "the region does not end"));
    }
    // Where one does not read as it was meant, the others do not pair up for that reason.
    let meant = misspelt(source, pairs.is_empty() || !diagnostics.is_empty());
    if !meant.is_empty() {
        return Err(meant);
    }
    if diagnostics.is_empty() { Ok(pairs) } else { Err(diagnostics) }
}

/// Pragmas that look as if they begin or end a region. With `unsure`, also those with one wrong
/// letter.
fn misspelt(source: &Source<'_>, unsure: bool) -> Vec<Diagnostic> {
    let mut diagnostics = Vec::new();
    let pragmas = source.tokens.iter().enumerate().filter(|(_, token)| token.tok == Tok::Pragma);
    for (k, _) in pragmas {
        let text = source.token_text(k).trim_start_matches('#').trim_start();
        let Some(rest) = text.strip_prefix("pragma") else { continue };
        let mut words = rest.split(|c: char| c.is_whitespace() || c == '\\').filter(|w| !w.is_empty());
        let (Some(word), more) = (words.next(), words.next()) else { continue };
        let plain: String =
            word.chars().filter(char::is_ascii_alphanumeric).collect::<String>().to_lowercase();
        let meant = ["scop", "endscop"].into_iter().find(|meant| {
            let same = plain == *meant;
            // It is not known what other words after it are.
            (same && (more.is_none() || word == *meant))
                || (unsure && more.is_none() && one_letter_off(&plain, meant))
        });
        let Some(meant) = meant else { continue };
        if diagnostics.len() >= 20 {
            break;
        }
        let message = match word == meant {
            true => format!("unexpected text after `#pragma {meant}`"),
            false => format!("`#pragma {word}` neither begins nor ends a region"),
        };
        let span = source.span(one(k));
        let diagnostic = Diagnostic::error(codes::PRAGMAS, message, span, "not understood");
        diagnostics.push(diagnostic.help(format!("did you mean `#pragma {meant}`?")));
    }
    diagnostics
}

/// Whether one edit turns a word into another: a letter inserted, removed or replaced, or two
/// letters swapped.
fn one_letter_off(word: &str, meant: &str) -> bool {
    let (a, b) = (word.as_bytes(), meant.as_bytes());
    let front = a.iter().zip(b).take_while(|(x, y)| x == y).count();
    let back = a[front..].iter().rev().zip(b[front..].iter().rev()).take_while(|(x, y)| x == y).count();
    match (&a[front..a.len() - back], &b[front..b.len() - back]) {
        ([x, y], [z, w]) => x == w && y == z,
        (x, y) => x.len() <= 1 && y.len() <= 1,
    }
}
