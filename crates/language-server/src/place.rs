//! Places in a text: byte offsets here, lines and UTF-16 columns in the protocol.

use loops::Span;
use lsp_types::{Position, Range};

/// The starts of the lines of a text.
#[derive(Clone, Debug, Default)]
pub struct Lines {
    starts: Vec<usize>,
}

impl Lines {
    /// Of a text. Linear in its length.
    pub fn of(text: &str) -> Lines {
        let after = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n').map(|(at, _)| at + 1);
        Lines { starts: std::iter::once(0).chain(after).collect() }
    }

    /// The protocol's position of a byte offset; offsets inside of a character count as its start.
    pub fn position(&self, text: &str, offset: usize) -> Position {
        let mut offset = offset.min(text.len());
        while !text.is_char_boundary(offset) {
            offset -= 1;
        }
        let line = self.starts.partition_point(|start| *start <= offset).saturating_sub(1);
        let start = self.starts.get(line).copied().unwrap_or(0);
        let column = text[start..offset].encode_utf16().count();
        Position { line: clamp(line), character: clamp(column) }
    }

    /// The protocol's range of a span.
    pub fn range(&self, text: &str, span: Span) -> Range {
        let end = span.end.max(span.start) as usize;
        Range { start: self.position(text, span.start as usize), end: self.position(text, end) }
    }

    /// The range of the whole text.
    pub fn whole(&self, text: &str) -> Range {
        Range { start: Position::default(), end: self.position(text, text.len()) }
    }

    /// The byte offset of a position; columns behind the end of a line are its end.
    pub fn offset(&self, text: &str, position: Position) -> usize {
        let line = position.line as usize;
        let Some(&start) = self.starts.get(line) else { return text.len() };
        let end = self.starts.get(line + 1).map_or(text.len(), |next| next - 1);
        let mut units = position.character as usize;
        for (at, character) in text[start..end].char_indices() {
            if units < character.len_utf16() {
                return start + at;
            }
            units -= character.len_utf16();
        }
        end
    }
}

fn clamp(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

/// The name that stands at an offset or ends there, with its span.
pub fn word(text: &str, offset: usize) -> Option<(&str, Span)> {
    let part = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_' || *byte == b'\'';
    let bytes = text.as_bytes();
    let offset = offset.min(bytes.len());
    let start = offset - bytes[..offset].iter().rev().take_while(|byte| part(byte)).count();
    let end = offset + bytes[offset..].iter().take_while(|byte| part(byte)).count();
    (start < end).then(|| (&text[start..end], Span::new(start, end)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn offsets_and_positions_are_inverse() {
        let text = "def f =\n  \"ä€𝄞\" x\r\n\nend";
        let lines = Lines::of(text);
        for (offset, _) in text.char_indices().chain([(text.len(), ' ')]) {
            // the position of a line end's second byte is that of the end of its line
            assert_eq!(lines.offset(text, lines.position(text, offset)), offset, "{offset}");
        }
    }

    #[test]
    fn columns_count_utf16_units() {
        let text = "𝄞x";
        let lines = Lines::of(text);
        assert_eq!(lines.position(text, 4), Position { line: 0, character: 2 });
        // inside of a character, beyond the line, beyond the text
        assert_eq!(lines.offset(text, Position { line: 0, character: 1 }), 0);
        assert_eq!(lines.offset(text, Position { line: 0, character: 9 }), 5);
        assert_eq!(lines.offset(text, Position { line: 7, character: 0 }), 5);
    }

    #[test]
    fn words_are_names() {
        assert_eq!(word("map' (f)", 2).map(|(word, _)| word), Some("map'"));
        assert_eq!(word("a b", 1).map(|(word, _)| word), Some("a"));
        assert_eq!(word("( )", 1), None);
        assert_eq!(word("", 5), None);
    }
}
