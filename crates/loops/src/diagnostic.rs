//! Diagnostics as values: what is wrong, where, why, and what to do. The command renders them.

use std::fmt;

/// A half-open range of byte offsets in a source text.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Span {
    /// First byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
}

impl Span {
    /// The span from `start` to `end`.
    pub fn new(start: usize, end: usize) -> Span {
        let clamp = |offset: usize| u32::try_from(offset).unwrap_or(u32::MAX);
        Span { start: clamp(start), end: clamp(end) }
    }

    /// The smallest span that holds both.
    pub fn to(self, other: Span) -> Span {
        Span { start: self.start.min(other.start), end: self.end.max(other.end) }
    }
}

/// How bad it is.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Severity {
    /// No result.
    Error,
    /// A result, and something to look at.
    Warning,
    /// A result, and something to know.
    Note,
}

/// The code of a diagnostic, such as `F0102`. `lozenge explain F0102` shows its page.
///
/// The letter says where it comes from: `F` functional programs, `S` strategies, `D` translation,
/// `L` loop programs, `C` C programs, `P` the polyhedral optimizer, `G` graphs, `R` rules on
/// graphs, `T` targets, `X` the command.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Code(pub &'static str);

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

/// A place in the source with what is to be said of it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Label {
    /// The place.
    pub span: Span,
    /// What is there.
    pub text: String,
    /// Whether this is the place of the error rather than context.
    pub primary: bool,
}

/// A diagnostic about one source text.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Diagnostic {
    /// Its code.
    pub code: Code,
    /// How bad it is.
    pub severity: Severity,
    /// One sentence: the construct and the reason.
    pub message: String,
    /// Places, the primary one first.
    pub labels: Vec<Label>,
    /// Further facts.
    pub notes: Vec<String>,
    /// What the user can do.
    pub help: Vec<String>,
}

impl Diagnostic {
    /// An error with one primary place.
    pub fn error(code: Code, message: impl Into<String>, span: Span, label: impl Into<String>) -> Diagnostic {
        Diagnostic {
            code,
            severity: Severity::Error,
            message: message.into(),
            labels: vec![Label { span, text: label.into(), primary: true }],
            notes: Vec::new(),
            help: Vec::new(),
        }
    }

    /// An error that has no place in a source text.
    pub fn general(code: Code, message: impl Into<String>) -> Diagnostic {
        Diagnostic {
            code,
            severity: Severity::Error,
            message: message.into(),
            labels: Vec::new(),
            notes: Vec::new(),
            help: Vec::new(),
        }
    }

    /// Gives it its primary place.
    pub fn at(mut self, span: Span, text: impl Into<String>) -> Diagnostic {
        self.labels.insert(0, Label { span, text: text.into(), primary: true });
        self
    }

    /// Adds a place of context.
    pub fn context(mut self, span: Span, text: impl Into<String>) -> Diagnostic {
        self.labels.push(Label { span, text: text.into(), primary: false });
        self
    }

    /// Adds a fact.
    pub fn note(mut self, text: impl Into<String>) -> Diagnostic {
        self.notes.push(text.into());
        self
    }

    /// Adds a way out.
    pub fn help(mut self, text: impl Into<String>) -> Diagnostic {
        self.help.push(text.into());
        self
    }
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let severity = match self.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
            Severity::Note => "note",
        };
        write!(f, "{severity}[{}]: {}", self.code, self.message)
    }
}
