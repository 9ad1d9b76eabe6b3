//! Test cases and benchmarks that stand in the comments of a program.
//!
//! ```text
//! -- test dot xs=[1, 2, 3] ys=[4, 5, 6] => 32     these arguments, this result
//! -- test dot n=0,1,17                            random arguments at these sizes: all stages must agree
//! -- test dot n=17 strategy=fast mode=paper       the same after a strategy, or in a mode of the translation
//! -- bench dot n=1000000 against=dotPlain         a size for measuring, and the definition to be compared with
//! -- error F0201                                  the file must be refused with this code
//! ```
//! A comment line that begins with two or more spaces after `--` continues the line before it. In
//! loop programs comments begin with `//`.

use loops::{Code, Diagnostic, Span};

use crate::value::Value;

/// A test case or benchmark.
#[derive(Clone, PartialEq, Debug)]
pub struct Case {
    /// Where its line is in the source.
    pub span: Span,
    /// Line number, from 1.
    pub line: usize,
    /// What is asked.
    pub kind: CaseKind,
}

/// What a case asks.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum CaseKind {
    /// Run a definition and compare.
    Test(Run),
    /// Measure a definition.
    Bench(Run),
    /// The file must be refused with this code.
    Error(String),
}

/// A definition with what it is run on.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Run {
    /// The definition.
    pub definition: String,
    /// Settings `name=value`, in their order: sizes, arguments, `strategy`, `mode`, `against`,
    /// `seed`.
    pub settings: Vec<(String, Setting)>,
    /// The expected result.
    pub expected: Option<Value>,
}

/// What stands behind the `=` of a setting.
#[derive(Clone, PartialEq, Debug)]
pub enum Setting {
    /// A value, or several integers `0,1,17` as a list of alternatives.
    Values(Vec<Value>),
    /// A word.
    Word(String),
}

/// The cases of a source text.
///
/// # Errors
/// `X0403` for each line that is malformed.
pub fn read(text: &str) -> Result<Vec<Case>, Vec<Diagnostic>> {
    let (mut cases, mut errors) = (Vec::new(), Vec::new());
    let mut pending: Option<(Span, usize, String)> = None;
    let mut offset = 0;
    for (number, line) in text.split_inclusive('\n').enumerate() {
        let span = Span::new(offset, offset + line.trim_end().len());
        offset += line.len();
        let line = line.trim_end();
        let comment = line.strip_prefix("--").or_else(|| line.strip_prefix("//"));
        if let (Some(rest), Some((whole, _, text))) = (comment.filter(|c| c.starts_with("  ")), &mut pending)
        {
            text.push_str(rest);
            *whole = whole.to(span);
            continue;
        }
        finish(pending.take(), &mut cases, &mut errors);
        let Some(comment) = comment.and_then(|c| c.strip_prefix(' ')) else { continue };
        if ["test", "bench", "error"]
            .iter()
            .any(|w| comment.strip_prefix(w).is_some_and(|r| r.starts_with(' ')))
            && is_case(comment)
        {
            pending = Some((span, number + 1, comment.to_owned()));
        }
    }
    finish(pending, &mut cases, &mut errors);
    if errors.is_empty() { Ok(cases) } else { Err(errors) }
}

/// Whether a comment that begins with a case's word is one, and not a sentence: its second word is
/// a code, or stands alone or before settings.
fn is_case(comment: &str) -> bool {
    let mut words = comment.split_whitespace();
    let (first, second, third) = (words.next(), words.next(), words.next());
    match first {
        Some("error") => {
            third.is_none()
                && second.is_some_and(|c| c.len() == 5 && c.ends_with(|d: char| d.is_ascii_digit()))
        }
        _ => third.is_none_or(|t| t.contains('=')),
    }
}

fn finish(pending: Option<(Span, usize, String)>, cases: &mut Vec<Case>, errors: &mut Vec<Diagnostic>) {
    let Some((span, line, text)) = pending else { return };
    match kind(&text) {
        Ok(kind) => cases.push(Case { span, line, kind }),
        Err(message) => errors.push(
            Diagnostic::error(Code("X0403"), format!("malformed test case: {message}"), span, "in this case")
                .help("the form is `-- test NAME size=3 param=[1, 2, 3] => RESULT`"),
        ),
    }
}

fn kind(text: &str) -> Result<CaseKind, String> {
    let (word, rest) = text.split_once(' ').unwrap_or((text, ""));
    match word {
        "error" => Ok(CaseKind::Error(rest.trim().to_owned())),
        "test" => run(rest).map(CaseKind::Test),
        _ => run(rest).map(CaseKind::Bench),
    }
}

fn run(text: &str) -> Result<Run, String> {
    let text = text.trim();
    let end = text.find(char::is_whitespace).unwrap_or(text.len());
    let (definition, mut rest) = text.split_at(end);
    let mut run = Run { definition: definition.to_owned(), ..Run::default() };
    loop {
        rest = rest.trim_start_matches([' ', '\t', ',']);
        if rest.is_empty() {
            return Ok(run);
        }
        if let Some(after) = rest.strip_prefix("=>") {
            let (value, after) = Value::read(after)?;
            if !after.trim().is_empty() {
                return Err(format!("unexpected `{}` after the result", after.trim()));
            }
            run.expected = Some(value);
            return Ok(run);
        }
        let end = rest.find(|c: char| !(c.is_alphanumeric() || "_'".contains(c))).unwrap_or(rest.len());
        let (name, after) = rest.split_at(end);
        let after = after.trim_start().strip_prefix('=').filter(|_| !name.is_empty());
        let after = after.ok_or_else(|| format!("expected `name=value`, found `{}`", excerpt(rest)))?;
        if run.settings.iter().any(|(n, _)| n == name) {
            return Err(format!("`{name}` is given twice"));
        }
        let (setting, after) = setting(after.trim_start())?;
        run.settings.push((name.to_owned(), setting));
        rest = after;
    }
}

fn setting(text: &str) -> Result<(Setting, &str), String> {
    let (first, mut rest) = match Value::read(text) {
        Ok(found) => found,
        Err(error) => {
            let end = text.find(|c: char| c.is_whitespace() || "[](),".contains(c)).unwrap_or(text.len());
            let (word, rest) = text.split_at(end);
            if !word.starts_with(char::is_alphabetic) {
                return Err(error);
            }
            return Ok((Setting::Word(word.to_owned()), rest));
        }
    };
    let mut values = vec![first];
    // `n=0,1,17`: alternatives follow without a space, so that `xs=[1], ys=[2]` is two settings.
    while let Some(after) = rest.strip_prefix(',').filter(|r| r.starts_with(|c: char| c.is_ascii_digit())) {
        let (value, after) = Value::read(after)?;
        values.push(value);
        rest = after;
    }
    Ok((Setting::Values(values), rest))
}

fn excerpt(text: &str) -> String {
    text.chars().take(20).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cases_are_read() {
        let text = "-- test dot xs=[1, 2], ys=[3, 4] => 11\n-- test cases follow a line\n-- test dot n=0,1,17 strategy=fast\n\
                    -- bench dot\n--    n=1000\ndef dot = 1 -- test no\n-- error F0102\n";
        let cases = read(text).unwrap();
        assert_eq!(cases.iter().map(|c| c.line).collect::<Vec<_>>(), [1, 3, 4, 7]);
        let CaseKind::Test(run) = &cases[0].kind else { panic!("{cases:?}") };
        assert_eq!((run.definition.as_str(), run.settings.len()), ("dot", 2));
        assert_eq!(run.expected, Some(Value::Number("11".into())));
        let CaseKind::Test(run) = &cases[1].kind else { panic!("{cases:?}") };
        assert_eq!(run.settings[1], ("strategy".into(), Setting::Word("fast".into())));
        assert!(matches!(&run.settings[0].1, Setting::Values(v) if v.len() == 3));
        let CaseKind::Bench(run) = &cases[2].kind else { panic!("{cases:?}") };
        assert_eq!(run.settings.len(), 1);
        assert_eq!(cases[3].kind, CaseKind::Error("F0102".into()));
    }

    #[test]
    fn malformed_cases_are_told() {
        for (text, expected) in [
            ("-- test dot n=3 n=4", "given twice"),
            ("-- test dot xs=[1", "not closed"),
            ("-- test dot n=1 => 2 3", "after the result"),
            ("-- test dot n=1 3", "expected `name=value`, found `3`"),
            ("-- test dot =>", "a value is missing"),
        ] {
            let errors = read(text).unwrap_err();
            assert!(errors[0].message.contains(expected), "{text}: {}", errors[0].message);
        }
    }
}
