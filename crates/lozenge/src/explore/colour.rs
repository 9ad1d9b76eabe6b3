//! Comments and reserved words of a line, for colours. Only that: what is not recognised stays as
//! it is.

use super::Language;

/// Goes through the lines of a stage; a comment of C may go on in the next line.
pub(super) struct Colours {
    language: Language,
    in_comment: bool,
}

/// Elements: `i` for comments, `b` for reserved words.
type Piece<'a> = (Option<&'static str>, &'a str);

const C_WORDS: &str = " auto break case char const continue default do double else enum extern float for goto if inline int long \
register restrict return short signed sizeof static struct switch typedef union unsigned void volatile while bool size_t int32_t \
int64_t uint32_t uint64_t ";
const FUNCTIONAL_WORDS: &str = " def type import strategy let in if then else where true false inf nan ";
const LOOPS_WORDS: &str = " fn for par vec unroll in step if else local mark reduce out inout heap stack ";

impl Colours {
    pub(super) fn of(language: Language) -> Colours {
        Colours { language, in_comment: false }
    }

    fn words(&self) -> &'static str {
        match self.language {
            Language::C => C_WORDS,
            Language::Functional => FUNCTIONAL_WORDS,
            Language::Loops => LOOPS_WORDS,
            Language::Assembly | Language::Plain => "",
        }
    }

    fn line_comment(&self) -> &'static str {
        match self.language {
            Language::C | Language::Loops => "//",
            Language::Functional => "--",
            Language::Assembly => "#",
            Language::Plain => "\0",
        }
    }

    /// The pieces of a line, in order; together they are the line.
    pub(super) fn split<'a>(&mut self, line: &'a str) -> Vec<Piece<'a>> {
        let mut pieces = Vec::new();
        let mut plain = 0;
        let mut at = 0;
        while at < line.len() {
            let rest = &line[at..];
            let (element, length) = self.next(rest);
            if let Some(element) = element {
                push(&mut pieces, None, &line[plain..at]);
                push(&mut pieces, Some(element), &rest[..length]);
                plain = at + length;
            }
            at += length;
        }
        push(&mut pieces, None, &line[plain..]);
        pieces
    }

    /// What the rest of a line begins with, and how long that is: at least a character.
    fn next(&mut self, rest: &str) -> (Option<&'static str>, usize) {
        if self.in_comment || self.language == Language::C && rest.starts_with("/*") {
            let from = if self.in_comment { 0 } else { 2 };
            let end = rest[from..].find("*/").map(|k| from + k + 2);
            self.in_comment = end.is_none();
            return (Some("i"), end.unwrap_or(rest.len()));
        }
        if rest.starts_with(self.line_comment()) {
            return (Some("i"), rest.len());
        }
        let first = rest.chars().next().unwrap_or(' ');
        if first == '"' && self.language != Language::Plain {
            return (None, string(rest));
        }
        let in_word = |c: char| c.is_alphanumeric() || c == '_';
        if !in_word(first) {
            return (None, first.len_utf8());
        }
        let word = &rest[..rest.find(|c| !in_word(c)).unwrap_or(rest.len())];
        let reserved = self.words().split(' ').any(|w| w == word);
        (reserved.then_some("b"), word.len())
    }
}

/// The length of the string that a text begins with.
fn string(text: &str) -> usize {
    let mut escaped = false;
    for (k, c) in text.char_indices().skip(1) {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '"' => return k + 1,
            _ => {}
        }
    }
    text.len()
}

fn push<'a>(pieces: &mut Vec<Piece<'a>>, element: Option<&'static str>, text: &'a str) {
    if !text.is_empty() {
        pieces.push((element, text));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_and_words_are_found() {
        let mut c = Colours::of(Language::C);
        let line = "for (int i; /* a */ \"/* for\\\" */\"; forty) // é for";
        let pieces = c.split(line);
        assert_eq!(pieces.iter().map(|(_, text)| *text).collect::<String>(), line);
        let marked: Vec<Piece<'_>> = pieces.into_iter().filter(|(element, _)| element.is_some()).collect();
        let expected =
            [(Some("b"), "for"), (Some("b"), "int"), (Some("i"), "/* a */"), (Some("i"), "// é for")];
        assert_eq!(marked, expected);
    }

    #[test]
    fn a_comment_goes_on() {
        let mut c = Colours::of(Language::C);
        assert_eq!(c.split("x /* for"), [(None, "x "), (Some("i"), "/* for")]);
        assert_eq!(c.split("for"), [(Some("i"), "for")]);
        assert_eq!(c.split("*/ for"), [(Some("i"), "*/"), (None, " "), (Some("b"), "for")]);
        assert_eq!(Colours::of(Language::Plain).split("for // x"), [(None, "for // x")]);
    }
}
