//! What a command ends in when it does not end well, and the exit code of each.
//!
//! Not here: how it is shown (`report`).

use loops::{Code, Diagnostic};

/// A source text with the name that messages use for it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Source {
    /// What messages call it: the path as the user gave it, or any other name.
    pub path: String,
    /// The text.
    pub text: String,
}

impl Source {
    /// A text with its name.
    pub fn new(name: impl Into<String>, text: impl Into<String>) -> Source {
        Source { path: name.into(), text: text.into() }
    }

    /// The line of a byte of the text, counted from 1; the last one beyond its end.
    pub fn line(&self, at: usize) -> usize {
        1 + self.text.bytes().take(at).filter(|byte| *byte == b'\n').count()
    }
}

/// Why a command failed.
#[derive(Clone, Debug)]
pub struct Failure {
    /// What kind of failure it is; decides the exit code.
    pub kind: FailureKind,
    /// The text that the labels point into, if there is one.
    pub source: Option<Source>,
    /// What is wrong; empty only if the user has been told.
    pub diagnostics: Vec<Diagnostic>,
}

/// Codes of defects of the compiler itself: no input should lead to them.
pub const DEFECTS: [&str; 6] = ["G0405", "G0505", "P0403", "P0405", "T0006", "X0601"];

/// Kinds of failure.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FailureKind {
    /// The input was refused.
    Refused,
    /// The command line makes no sense.
    Usage,
    /// A comparison or a test failed.
    Check,
    /// Something that is needed is missing or does not work: a C compiler, memory, a writable
    /// folder.
    Environment,
}

impl FailureKind {
    /// The exit code: 1 refused, 2 usage, 3 check failed, 4 environment.
    pub(crate) fn exit_code(self) -> u8 {
        match self {
            FailureKind::Refused => 1,
            FailureKind::Usage => 2,
            FailureKind::Check => 3,
            FailureKind::Environment => 4,
        }
    }
}

impl Failure {
    /// The input was refused for one reason that has no place in a text.
    pub fn refused(code: &'static str, message: impl Into<String>) -> Failure {
        Failure::from(Diagnostic::general(Code(code), message))
    }

    /// The command line makes no sense.
    pub fn usage(code: &'static str, message: impl Into<String>) -> Failure {
        Failure { kind: FailureKind::Usage, ..Failure::refused(code, message) }
    }

    /// A comparison or a test failed.
    pub fn check(code: &'static str, message: impl Into<String>) -> Failure {
        Failure { kind: FailureKind::Check, ..Failure::refused(code, message) }
    }

    /// Something that is needed is missing or does not work.
    pub fn environment(code: &'static str, message: impl Into<String>) -> Failure {
        Failure { kind: FailureKind::Environment, ..Failure::refused(code, message) }
    }

    /// A failure that the user has been told of: only the exit code is left.
    pub fn told(kind: FailureKind) -> Failure {
        Failure { kind, source: None, diagnostics: Vec::new() }
    }

    /// The text `source` was refused.
    pub(crate) fn in_source(source: &Source, diagnostics: Vec<Diagnostic>) -> Failure {
        Failure { kind: FailureKind::Refused, source: Some(source.clone()), diagnostics }
    }

    /// Adds a fact to the first diagnostic.
    pub fn note(mut self, text: impl Into<String>) -> Failure {
        if let Some(first) = self.diagnostics.first_mut() {
            first.notes.push(text.into());
        }
        self
    }

    /// Adds a way out to the first diagnostic.
    pub fn help(mut self, text: impl Into<String>) -> Failure {
        if let Some(first) = self.diagnostics.first_mut() {
            first.help.push(text.into());
        }
        self
    }

    /// Adds to what is a defect of the compiler that it is one, and where to report it.
    #[must_use]
    pub(crate) fn with_defects_told(mut self) -> Failure {
        for diagnostic in self.diagnostics.iter_mut().filter(|d| DEFECTS.contains(&d.code.0)) {
            diagnostic.notes.push("this is a defect of lozenge, not of your input".into());
            diagnostic.help.push(
                "please report it to the project's issue tracker (see CONTRIBUTING.md; SECURITY.md if the input may be hostile), with the input, the command line and what `lozenge --version` prints"
                    .into(),
            );
        }
        self
    }

    /// The messages in one line, for a report of several failures.
    pub fn summary(&self) -> String {
        let all: Vec<String> = self.diagnostics.iter().map(ToString::to_string).collect();
        all.join("; ")
    }
}

impl From<Diagnostic> for Failure {
    fn from(diagnostic: Diagnostic) -> Failure {
        Failure { kind: FailureKind::Refused, source: None, diagnostics: vec![diagnostic] }
    }
}
