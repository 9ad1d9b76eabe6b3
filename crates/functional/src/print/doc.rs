//! Layout of text. A group stands on one line if it fits; otherwise its soft breaks become line
//! ends.

/// A text with possible line breaks.
#[derive(Clone, Debug)]
pub(super) enum Doc {
    Text(String),
    /// A space, or a new line where the group does not fit.
    Line,
    /// A new line in any case.
    Hard,
    /// Lines inside are indented further.
    Nest(Box<Doc>),
    Group(Box<Doc>, usize),
    Concat(Vec<Doc>, usize),
}

/// Wider than any line.
const WIDE: usize = 1 << 20;
/// Lines are broken where they would be longer.
const WIDTH: usize = 96;
/// Indentation does not grow beyond this, so that deep nesting does not fill the text with spaces.
const MAX_INDENT: usize = 60;

impl Doc {
    pub(super) fn text(text: impl Into<String>) -> Doc {
        Doc::Text(text.into())
    }

    pub(super) fn concat(parts: Vec<Doc>) -> Doc {
        let width = parts.iter().fold(0, |sum: usize, part| (sum + part.width()).min(WIDE));
        Doc::Concat(parts, width)
    }

    pub(super) fn group(self) -> Doc {
        let width = self.width();
        Doc::Group(Box::new(self), width)
    }

    pub(super) fn nest(self) -> Doc {
        Doc::Nest(Box::new(self))
    }

    /// Width on one line.
    fn width(&self) -> usize {
        match self {
            Doc::Text(text) => text.chars().count(),
            Doc::Line => 1,
            Doc::Hard => WIDE,
            Doc::Nest(doc) => doc.width(),
            Doc::Group(_, width) | Doc::Concat(_, width) => *width,
        }
    }

    /// The text, in time proportional to it.
    pub(super) fn render(&self) -> String {
        let mut out = String::new();
        let mut column = 0;
        let mut stack = vec![(0usize, false, self)];
        while let Some((indent, flat, doc)) = stack.pop() {
            match doc {
                Doc::Text(text) => {
                    out.push_str(text);
                    column += text.chars().count();
                }
                Doc::Line if flat => {
                    out.push(' ');
                    column += 1;
                }
                Doc::Line | Doc::Hard => {
                    while out.ends_with(' ') {
                        out.pop();
                    }
                    let spaces = indent.min(MAX_INDENT);
                    out.push('\n');
                    out.extend(std::iter::repeat_n(' ', spaces));
                    column = spaces;
                }
                Doc::Nest(doc) => stack.push((indent + 2, flat, doc)),
                Doc::Group(doc, width) => stack.push((indent, flat || column + width <= WIDTH, doc)),
                Doc::Concat(parts, _) => stack.extend(parts.iter().rev().map(|part| (indent, flat, part))),
            }
        }
        out
    }
}
