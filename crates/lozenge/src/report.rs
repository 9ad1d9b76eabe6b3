//! Diagnostics and tables for people and for tools: rendered beside the source text, or as JSON.
//!
//! Not here: what is wrong (the crates below say that), and exit codes (`failure`).

use std::io::Write;
use std::ops::Range;
use std::sync::OnceLock;

use annotate_snippets::{AnnotationKind, Group, Level, Origin, Renderer, Snippet};
use loops::{Diagnostic, Label, Severity};
use serde_json::{Value, json};

use crate::failure::{Failure, Source};
use crate::pipeline::{Front, Lowered};
use crate::request::Request;
use crate::statistics::{Summary, seconds};

/// No more diagnostics than this are shown: the rest mostly follow from the first.
const MAX_SHOWN: usize = 20;

/// Notes alone that are shown.
const MAX_NOTES: usize = 500;
/// Source lines longer than this are cut around the place that matters.
const MAX_LINE: usize = 400;
/// Labels further apart than this many bytes are shown in excerpts of their own.
const MAX_EXCERPT: usize = 1 << 16;

/// Whether text for this stream may carry colours: on a terminal, unless `NO_COLOR` is set.
pub fn colours(terminal: bool) -> bool {
    terminal && std::env::var_os("NO_COLOR").is_none_or(|v| v.is_empty())
}

/// The diagnostics of a failure as text.
pub fn render(failure: &Failure, colour: bool) -> String {
    render_all(failure.source.as_ref(), &failure.diagnostics, colour)
}

/// Diagnostics about one source as text.
pub(crate) fn render_all(source: Option<&Source>, diagnostics: &[Diagnostic], colour: bool) -> String {
    let renderer = if colour { Renderer::styled() } else { Renderer::plain() };
    let mut text = String::new();
    // Notes were asked for.
    let notes = diagnostics.iter().all(|d| d.severity == Severity::Note);
    let most = if notes { MAX_NOTES } else { MAX_SHOWN };
    for diagnostic in diagnostics.iter().take(most) {
        let group = group(source, diagnostic);
        text.push_str(&renderer.render(&[group]));
        text.push_str("\n\n");
    }
    if let Some(more) = diagnostics.len().checked_sub(most).filter(|n| *n > 0) {
        text.push_str(&format!("... and {more} more\n\n"));
    }
    text
}

fn group<'a>(source: Option<&'a Source>, diagnostic: &'a Diagnostic) -> Group<'a> {
    let level = match diagnostic.severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
        Severity::Note => Level::NOTE,
    };
    let mut group = Group::with_title(level.primary_title(&diagnostic.message).id(diagnostic.code.0));
    if let Some(source) = source {
        group = with_places(group, source, &diagnostic.labels);
    }
    for note in &diagnostic.notes {
        group = group.element(Level::NOTE.message(note));
    }
    for help in &diagnostic.help {
        group = group.element(Level::HELP.message(help));
    }
    group
}

fn with_places<'a>(group: Group<'a>, source: &'a Source, labels: &'a [Label]) -> Group<'a> {
    let spans: Vec<Range<usize>> = labels.iter().map(|l| clamp(&source.text, l)).collect();
    let (Some(first), Some(last)) = (spans.iter().map(|s| s.start).min(), spans.iter().map(|s| s.end).max())
    else {
        return group.element(Origin::path(source.path.as_str()));
    };
    let whole = line_start(&source.text, first)..line_end(&source.text, last);
    let excerpt = &source.text[whole.clone()];
    if excerpt.len() <= MAX_EXCERPT && excerpt.lines().all(|l| l.len() <= MAX_LINE) {
        let mut snippet = Snippet::source(excerpt)
            .path(source.path.as_str())
            .line_start(line_number(&source.text, whole.start))
            .fold(true);
        for (label, span) in labels.iter().zip(&spans) {
            let inside = span.start - whole.start..span.end - whole.start;
            snippet = snippet.annotation(kind(label).span(inside).label(&label.text));
        }
        return group.element(snippet);
    }
    labels.iter().zip(&spans).fold(group, |group, (label, span)| {
        let line = line_start(&source.text, span.start);
        let column = source.text[line..span.start].chars().count() + 1;
        let number = line_number(&source.text, line);
        let end = line_end(&source.text, span.start);
        let from = floor_boundary(&source.text, span.start.saturating_sub(60).max(line));
        let to = floor_boundary(&source.text, (span.start + 60).min(end));
        let inside = span.start - from..span.end.min(to).max(span.start) - from;
        // The excerpt's own columns would mislead, so the label tells the true one.
        let text =
            if from == line { label.text.clone() } else { format!("{} (column {column})", label.text) };
        let cut = Snippet::source(&source.text[from..to])
            .path(source.path.as_str())
            .line_start(number)
            .annotation(kind(label).span(inside).label(text));
        group.element(cut)
    })
}

fn kind(label: &Label) -> AnnotationKind {
    if label.primary { AnnotationKind::Primary } else { AnnotationKind::Context }
}

/// The label's span, made to fit the text and its characters.
fn clamp(text: &str, label: &Label) -> Range<usize> {
    let start = floor_boundary(text, label.span.start as usize);
    let end = floor_boundary(text, label.span.end as usize);
    start..end.max(start)
}

fn floor_boundary(text: &str, at: usize) -> usize {
    let mut at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

fn line_start(text: &str, at: usize) -> usize {
    text[..at].rfind('\n').map_or(0, |k| k + 1)
}

fn line_end(text: &str, at: usize) -> usize {
    text[at..].find('\n').map_or(text.len(), |k| at + k)
}

fn line_number(text: &str, at: usize) -> usize {
    text.as_bytes()[..at].iter().filter(|b| **b == b'\n').count() + 1
}

/// The diagnostics of a failure for tools.
pub fn to_json(failure: &Failure) -> Value {
    let source = failure.source.as_ref();
    json!({
        "ok": false,
        "exit": failure.kind.exit_code(),
        "diagnostics": failure.diagnostics.iter().map(|d| diagnostic_json(source, d)).collect::<Vec<_>>(),
    })
}

/// A diagnostic for tools: lines and columns count from 1, columns in characters.
pub(crate) fn diagnostic_json(source: Option<&Source>, diagnostic: &Diagnostic) -> Value {
    let place = |label: &Label| {
        let mut value = json!({ "text": label.text, "primary": label.primary, "start": label.span.start, "end": label.span.end });
        if let Some(source) = source {
            let at = clamp(&source.text, label).start;
            let line = line_start(&source.text, at);
            value["line"] = json!(line_number(&source.text, line));
            value["column"] = json!(source.text[line..at].chars().count() + 1);
        }
        value
    };
    json!({
        "code": diagnostic.code.0,
        "severity": match diagnostic.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
            Severity::Note => "note",
        },
        "message": diagnostic.message,
        "file": source.map(|s| String::from_utf8_lossy(&crate::encoding::written(&s.path)).into_owned()),
        "labels": diagnostic.labels.iter().map(place).collect::<Vec<_>>(),
        "notes": diagnostic.notes,
        "help": diagnostic.help,
    })
}

/// Writes to the standard output. A reader that has gone away ends the program quietly, as the
/// tools around it do; a full disk does not.
pub fn print(text: &str) {
    print_bytes(text.as_bytes());
}

/// The same for C, in the encoding of the file that it came from.
pub(crate) fn print_c(text: &str) {
    print_bytes(&crate::encoding::written(text));
}

fn print_bytes(bytes: &[u8]) {
    crate::progress::clear();
    let mut out = std::io::stdout().lock();
    if let Err(error) = out.write_all(bytes).and_then(|()| out.flush()) {
        if error.kind() == std::io::ErrorKind::BrokenPipe {
            crate::cleanup::exit(0);
        }
        print_error(&format!(
            "error[X0004]: can't write to the standard output: {}\n",
            crate::files::reason(&error)
        ));
        crate::cleanup::exit(4);
    }
}

/// Writes to the standard error; a reader that has gone away does not matter.
pub(crate) fn print_error(text: &str) {
    crate::progress::clear();
    let _ = std::io::stderr().write_all(&crate::encoding::written(text));
}

/// Prints what was asked for of a definition and not done.
pub fn told(lowered: &Lowered) {
    lowered.told().for_each(|line| print_error(&format!("{line}\n")));
}

/// Prints which schedules are from a file that `lozenge tune` wrote, and which of it are not used.
///
/// # Errors
/// What the stages refuse.
pub fn tuned(front: &Front, request: &Request) -> Result<(), Failure> {
    front.told_of_tuned(request)?.iter().for_each(|line| print_error(&format!("{line}\n")));
    Ok(())
}

/// The version of the format of what `--json` prints (`docs/schema/output.json`). It grows if
/// something that is there changes its meaning or goes away.
const JSON_VERSION: u32 = 1;

/// The command that results are of.
static COMMAND: OnceLock<String> = OnceLock::new();

/// From now on results as JSON say that they are of this command.
pub(crate) fn name_command(name: &str) {
    let _ = COMMAND.set(name.to_owned());
}

/// Prints a result as JSON, an object to which the version of the format and the name of the
/// command are added.
pub(crate) fn print_json(mut value: Value) {
    value["version"] = json!(JSON_VERSION);
    value["command"] = json!(COMMAND.get());
    print(&format!("{value:#}\n"));
}

/// Gives a text that a command made: to the standard output, unless it was written to a file; as
/// JSON with the names of the files.
pub fn give(text: &str, output: Option<&std::path::Path>, as_json: bool) {
    if as_json {
        let written: Vec<String> = output.iter().map(|path| path.display().to_string()).collect();
        let text = output.is_none().then_some(text);
        print_json(json!({ "ok": true, "written": written, "text": text, "diagnostics": [] }));
    } else if output.is_none() {
        print(text);
    }
}

/// The lines behind the results of a run: how long it took, and what a check found.
pub fn times(summary: &Summary, agreement: Option<&str>) -> String {
    let mut text = format!("time: {}", seconds(summary.median));
    if summary.count > 1 {
        text.push_str(&format!(
            " (median of {}, least {}, spread {:.0} %)",
            summary.count,
            seconds(summary.least),
            summary.spread * 100.0
        ));
    }
    text.push('\n');
    if let Some(agreement) = agreement {
        text.push_str(&format!("check: {agreement}\n"));
    }
    text
}

/// Columns of text, the first to the left and the others to the right.
pub fn table(rows: &[Vec<String>]) -> String {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width = |c: usize| rows.iter().filter_map(|r| r.get(c)).map(|s| s.chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..columns).map(width).collect();
    let mut text = String::new();
    for row in rows {
        let mut line = String::new();
        for (c, cell) in row.iter().enumerate() {
            let gap = widths[c].saturating_sub(cell.chars().count());
            if c == 0 {
                line.push_str(cell);
                line.extend(std::iter::repeat_n(' ', gap));
            } else {
                line.push_str("  ");
                line.extend(std::iter::repeat_n(' ', gap));
                line.push_str(cell);
            }
        }
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use loops::{Code, Span};

    fn shown(text: &str, span: Span) -> String {
        let source = Source { path: "a.loz".into(), text: text.into() };
        let diagnostic = Diagnostic::error(Code("F0000"), "wrong", span, "here").help("mend it");
        render_all(Some(&source), &[diagnostic], false)
    }

    #[test]
    fn a_place_is_shown_in_its_line() {
        let text = shown("one\ntwo three\n", Span::new(8, 13));
        assert!(
            text.contains("a.loz:2:5") && text.contains("two three") && text.contains("^^^^^ here"),
            "{text}"
        );
    }

    #[test]
    fn long_lines_are_cut() {
        let text = shown(
            &format!("x\n{}é{}", "(".repeat(10_000_000), ")".repeat(100)),
            Span::new(10_000_001, 10_000_002),
        );
        assert!(text.len() < 1000 && text.contains("a.loz:2:") && text.contains("column 10000000"), "{text}");
    }

    #[test]
    fn spans_outside_the_text_do_no_harm() {
        for (start, end) in [(0, 0), (3, 900), (900, 1000), (2, 1)] {
            assert!(shown("aéb", Span { start, end }).contains("mend it"));
        }
        assert!(shown("", Span::new(0, 1)).contains("wrong"));
    }
}
