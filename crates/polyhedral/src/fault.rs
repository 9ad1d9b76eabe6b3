//! Diagnostics of this room: one constructor for each code, so that a code has one meaning.

use loops::{Code, Diagnostic, Expr, Name};

/// Result of a stage.
pub type Result<T> = std::result::Result<T, Diagnostic>;

/// `P0001`: the set library failed; a defect, or out of memory.
pub(crate) fn library(error: isl::Error) -> Diagnostic {
    if error.kind == isl::ErrorKind::Quota {
        return limit("set operations");
    }
    Diagnostic::general(Code("P0001"), format!("the set library gave an error: {error}"))
}

/// `P0002`: a bound on work was reached.
pub(crate) fn limit(what: &str) -> Diagnostic {
    Diagnostic::general(Code("P0002"), format!("the limit on {what} was reached"))
        .help("split the loops, or the region, into smaller ones")
}

/// Whether this is the diagnostic of a bound on work.
pub(crate) fn is_limit(diagnostic: &Diagnostic) -> bool {
    diagnostic.code == Code("P0002")
}

/// `P0101`: an expression that must be affine is not.
pub(crate) fn not_affine(role: &str, expr: &Expr, reason: &str) -> Diagnostic {
    Diagnostic::general(Code("P0101"), format!("{role} `{expr}` is not affine: {reason}"))
        .note("affine: sums of loop variables and sizes with constant factors; quotients and remainders by constants; min and max")
}

/// Whether this is the diagnostic of an expression that is not affine.
pub(crate) fn is_not_affine(diagnostic: &Diagnostic) -> bool {
    diagnostic.code == Code("P0101")
}

/// `P0102`: a statement that the model cannot hold.
pub(crate) fn outside(what: &str, reason: &str) -> Diagnostic {
    Diagnostic::general(Code("P0102"), format!("the loop optimizer does not support {what}: {reason}"))
}

/// `P0103`: one label for two statements.
pub(crate) fn duplicate_label(label: &Name) -> Diagnostic {
    Diagnostic::general(Code("P0103"), format!("two statements have the label `{label}`"))
}

/// `P0201`: the text of a schedule tree is wrong.
pub(crate) fn tree_text(line: usize, message: impl std::fmt::Display) -> Diagnostic {
    let message = shortened(&message.to_string());
    Diagnostic::general(Code("P0201"), format!("line {line} of the schedule tree: {message}"))
}

/// Characters of a text that a message quotes.
const MOST_QUOTED: usize = 80;

/// The message, with what it quotes of long lines cut.
fn shortened(message: &str) -> String {
    let parts = message.split('`').enumerate().map(|(k, part)| {
        if k % 2 == 1 && part.chars().count() > MOST_QUOTED {
            part.chars().take(MOST_QUOTED).chain(['…']).collect()
        } else {
            part.to_owned()
        }
    });
    parts.collect::<Vec<String>>().join("`")
}

/// `P0202`: an edit of a schedule tree that does not fit the place.
pub(crate) fn edit(message: impl Into<String>) -> Diagnostic {
    Diagnostic::general(Code("P0202"), message)
}

/// `P0301`: code generation met something it has no form for.
pub(crate) fn generation(message: impl Into<String>) -> Diagnostic {
    Diagnostic::general(Code("P0301"), message)
}

/// `P0601`: the text of a schedule in one of the four forms of times is wrong, or about other
/// statements. Line 0 stands for the whole.
pub(crate) fn representation(line: usize, message: impl std::fmt::Display) -> Diagnostic {
    let place = if line == 0 { String::new() } else { format!("line {line} of ") };
    let message = shortened(&message.to_string());
    Diagnostic::general(Code("P0601"), format!("{place}the schedule: {message}"))
}

/// `P0602`: a representation of schedules that cannot say what another says.
pub(crate) fn cannot_say(form: crate::representation::Form, message: impl std::fmt::Display) -> Diagnostic {
    Diagnostic::general(Code("P0602"), format!("{form} cannot express this schedule: {message}"))
        .help("`--as tree` and `--as union-map` can express it")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_lines_are_cut() {
        let line = "x".repeat(5000);
        let message = tree_text(1, format!("`{line}` is not a kind of node")).message;
        assert_eq!(
            message,
            format!("line 1 of the schedule tree: `{}…` is not a kind of node", &line[..MOST_QUOTED])
        );
        let short = representation(0, "`S0` has no time").message;
        assert_eq!(short, "the schedule: `S0` has no time");
    }
}
