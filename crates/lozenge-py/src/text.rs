//! What the text of a source tells beside what the front ends do: comments, and the C around a
//! region.

/// Types that declare variables of loops.
const COUNTERS: [&str; 8] = ["int", "long", "short", "unsigned", "signed", "size_t", "ptrdiff_t", "int64_t"];

/// The C text without comments; line ends stay.
fn plain(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(next) = rest.chars().next() {
        let skipped = if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if let Some(comment) = rest.strip_prefix("/*") {
            comment.find("*/").map_or(rest.len(), |end| end + 4)
        } else if next == '"' {
            let length = string_length(rest);
            out.push_str("\"\"");
            length
        } else {
            out.push(next);
            next.len_utf8()
        };
        rest = &rest[skipped..];
    }
    out
}

/// The C text with spaces for comments, strings and the lines of the preprocessor: places stay.
pub fn masked(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let (mut rest, mut begins) = (text, true);
    while let Some(next) = rest.chars().next() {
        let length = if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if let Some(comment) = rest.strip_prefix("/*") {
            comment.find("*/").map_or(rest.len(), |end| end + 4)
        } else if next == '"' || next == '\'' {
            string_length(rest)
        } else if next == '#' && begins {
            directive_length(rest)
        } else {
            begins = next == '\n' || (begins && next.is_whitespace());
            out.push(next);
            rest = &rest[next.len_utf8()..];
            continue;
        };
        let blank = |c: char| if c == '\n' { "\n".to_owned() } else { " ".repeat(c.len_utf8()) };
        out.extend(rest[..length].chars().map(blank));
        rest = &rest[length..];
    }
    out
}

/// The length of a directive with the lines that continue it.
fn directive_length(text: &str) -> usize {
    let ends = text.match_indices('\n').find(|(at, _)| !text[..*at].trim_end_matches('\r').ends_with('\\'));
    ends.map_or(text.len(), |(at, _)| at)
}

fn string_length(text: &str) -> usize {
    let quote = text.chars().next();
    let mut escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        match c {
            '\\' if !escaped => escaped = true,
            c if !escaped && Some(c) == quote => return at + 1,
            _ => escaped = false,
        }
    }
    text.len()
}

/// Whether a region is all that a function does, by the text before and behind it: but for
/// declarations of integers without values.
pub fn is_whole_body(before: &str, after: &str) -> bool {
    let before = plain(before);
    let Some(open) = before.rfind('{') else { return false };
    let outside = before[..open].trim_end();
    let counters = |statement: &str| {
        let mut words = statement.split_whitespace();
        let mut first = true;
        words.all(|word| {
            let fits = !first || COUNTERS.contains(&word);
            first = false;
            fits && word.chars().all(|c| c.is_alphanumeric() || c == '_' || c == ',')
        })
    };
    let depth = |open: char, close: char| outside.matches(open).count() == outside.matches(close).count();
    outside.ends_with(')')
        && depth('{', '}')
        && before[open + 1..].split(';').all(counters)
        && plain(after).trim_start().starts_with('}')
}

/// The identifiers between the parentheses behind the last mention of a function.
pub fn identifiers_of_parameters(before: &str, function: &str) -> Vec<String> {
    let before = plain(before);
    let Some(open) = before.rfind('{') else { return Vec::new() };
    let header = &before[..open];
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let mentions = header.match_indices(function).filter(|(at, _)| {
        let around = (header[..*at].chars().next_back(), header[at + function.len()..].trim_start());
        !around.0.is_some_and(is_word) && around.1.starts_with('(')
    });
    let Some((at, _)) = mentions.last() else { return Vec::new() };
    header[at + function.len()..]
        .split(|c: char| !is_word(c))
        .filter(|word| !word.is_empty())
        .map(str::to_owned)
        .collect()
}

/// The comment that a text of the language ends with, without the lines of test cases.
pub fn comment_above(text: &str) -> String {
    let mut lines: Vec<&str> = Vec::new();
    for line in text.lines().rev() {
        let Some(comment) = line.trim_start().strip_prefix("--") else { break };
        if !comment.trim_start().starts_with("test ") {
            lines.push(comment.trim());
        }
    }
    lines.reverse();
    lines.join("\n")
}
