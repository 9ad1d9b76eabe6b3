//! Diagnostics as plain text: places as line and column, with the line and a mark under it.
use std::fmt::Write as _;

use loops::{Diagnostic, Span};

/// All diagnostics, one after another.
pub fn all(source: &str, diagnostics: &[Diagnostic]) -> String {
    diagnostics.iter().map(|d| one(source, d)).collect::<Vec<_>>().join("\n")
}

fn one(source: &str, diagnostic: &Diagnostic) -> String {
    let mut text = format!("{diagnostic}\n");
    for label in &diagnostic.labels {
        let (line, column, shown, width) = place(source, label.span);
        let mark = if label.primary { "^" } else { "-" }.repeat(width);
        let _ = writeln!(text, " {line}:{column}");
        let _ = writeln!(text, "  | {shown}");
        let _ = writeln!(text, "  | {}{mark} {}", " ".repeat(column - 1), label.text);
    }
    for note in &diagnostic.notes {
        let _ = writeln!(text, "  = note: {note}");
    }
    for help in &diagnostic.help {
        let _ = writeln!(text, "  = help: {help}");
    }
    text
}

/// Line, column, the line's text, and the width of the mark in it.
fn place(source: &str, span: Span) -> (usize, usize, String, usize) {
    let start = (span.start as usize).min(source.len());
    let begin = source[..start].rfind('\n').map_or(0, |n| n + 1);
    let end = source[start..].find('\n').map_or(source.len(), |n| start + n);
    let line = source[..start].matches('\n').count() + 1;
    let column = source[begin..start].chars().count() + 1;
    let stop = (span.end as usize).clamp(start, end);
    let width = source[start..stop].chars().count().max(1);
    let shown: String = source[begin..end].chars().take(200).collect();
    (line, column, shown, width.min(200))
}
