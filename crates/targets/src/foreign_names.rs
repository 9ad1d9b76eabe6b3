//! Names and text from outside (file names, identifiers, labels of models), in the form in which
//! they may appear in generated files: in comments of C, in file names, and in words of shell
//! scripts.

/// Longer stems are cut, so that the names that are made of them are not too long for the system.
const MAX_STEM: usize = 120;

/// The prefix of names of generated files: letters, digits, `_`, `-` and `.` of the source's name;
/// `_` for all other characters, and for what would make the name an option or a hidden file.
pub fn stem(name: &str) -> String {
    let plain = |c: char| if c.is_alphanumeric() || matches!(c, '_' | '-' | '.') { c } else { '_' };
    let mut stem: String = name.chars().map(plain).collect();
    let cut = (0..=MAX_STEM.min(stem.len())).rev().find(|at| stem.is_char_boundary(*at)).unwrap_or(0);
    stem.truncate(cut);
    if stem.starts_with(['-', '.']) {
        stem.replace_range(..1, "_");
    }
    if stem.is_empty() { "program".to_owned() } else { stem }
}

/// A word of a shell script that stands for exactly this text.
pub(crate) fn shell_word(text: &str) -> String {
    format!("'{}'", text.replace('\'', "'\\''"))
}

/// Text that neither ends a comment of C early nor misleads a reader. Control characters, invisible
/// characters, and those that change the direction of text are printed as numbers.
pub(crate) fn comment_text(text: &str) -> String {
    let text = text.replace("*/", "* /").replace("/*", "/ *").replace("??/", "? ?/");
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\n' | '\r' | '\t' => shown.push(' '),
            c if c.is_control() || is_format(c) => shown.push_str(&format!("<U+{:04X}>", u32::from(c))),
            c => shown.push(c),
        }
    }
    shown
}

/// Invisible characters that change the direction of text, join or split it, or end lines.
fn is_format(c: char) -> bool {
    matches!(c, '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{e0000}'..='\u{e007f}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stems_are_plain() {
        assert_eq!(stem("gemm-2.b"), "gemm-2.b");
        assert_eq!(stem("k$(touch RAN)\n\"`"), "k__touch_RAN____");
        assert_eq!(stem("-host"), "_host");
        assert_eq!(stem("ядро\u{202e}"), "ядро_");
        assert_eq!(stem(""), "program");
        assert!(stem(&"я".repeat(200)).len() <= MAX_STEM);
    }

    #[test]
    fn words_are_quoted() {
        assert_eq!(shell_word("it's $(x)"), "'it'\\''s $(x)'");
    }

    #[test]
    fn comments_end_where_they_should() {
        assert_eq!(comment_text("a */ b /* c ??/ d"), "a * / b / * c ? ?/ d");
        assert_eq!(comment_text("a\nb\u{202e}c\u{1b}[1m"), "a b<U+202E>c<U+001B>[1m");
    }
}
