//! The text of a region as a function of its own, where the region is all that its function does.
//!
//! Beside its result, C compilers make other code of a text than they make of it alone: loops are
//! elsewhere in memory, registers are taken, fewer copies of loops are made. Red-black sweeps took
//! 1.85 times as long in gcc, a small filter of images 1.2 times. In a function that has nothing
//! else the text is as fast as it was.
//!
//! Looked for in the characters of the file: what is not plain stays where it is. Left out: C++,
//! functions that return something or do anything else, attributes that say more than that calls
//! stay calls.

use std::ops::Range;

use crate::region::RegionInfo;

/// A function that has a region as its body.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct OwnFunction {
    /// Where a function before it may stand: its comment begins there.
    pub before: usize,
    /// Where it begins.
    pub start: usize,
    /// The name of the new function.
    pub name: String,
    /// Its parameters, in the text.
    pub params: Range<usize>,
    /// The names of these.
    pub args: Vec<String>,
    /// What is declared before the region, in the text.
    pub declarations: Range<usize>,
    /// The names of that.
    pub locals: Vec<String>,
}

impl OwnFunction {
    /// The function that has nothing but the region as its body, if it is a plain one.
    pub fn of(original: &str, info: &RegionInfo) -> Option<OwnFunction> {
        // Of members that are `restrict` gcc says wrongly that they are apart, if it does not see
        // who calls.
        let members = info.variables.iter().any(|variable| variable.c_name.contains(['.', '>']));
        if info.braces || members {
            return None;
        }
        let body = original[..info.bytes.start].rfind('{')? + 1;
        let declarations = body..info.bytes.start;
        let locals = declared(&original[declarations.clone()])?;
        let head = original[..body - 1].trim_end();
        original[info.bytes.end..].trim_start().starts_with('}').then_some(())?;
        let open = head.strip_suffix(')').and_then(|_| opening(head))?;
        let params = open + 1..head.len() - 1;
        let args = names(&original[params.clone()])?;
        let declared = original[..open].trim_end().strip_suffix(info.c_function.as_str())?;
        let start = specifiers(declared)?;
        let name = format!("lozenge_text_of_{}", info.c_function);
        let before = comment_before(original, start)?;
        let own = OwnFunction { before, start, name, params, args, declarations, locals };
        (!original.contains(&own.name)).then_some(own)
    }

    /// The call of the new function. The variables of the text may have no other use.
    pub fn call(&self) -> String {
        let uses = self.locals.iter().map(|name| format!(" (void){name};"));
        format!("{}({});{}", self.name, self.args.join(", "), uses.collect::<String>())
    }
}

/// The variables of declarations that do nothing else; none if there are other statements.
fn declared(text: &str) -> Option<Vec<String>> {
    let mut names = Vec::new();
    let mut rest = text;
    loop {
        rest = rest.trim_start();
        if let Some(comment) = rest.strip_prefix("/*") {
            rest = &comment[comment.find("*/")? + 2..];
        } else if let Some(comment) = rest.strip_prefix("//") {
            rest = &comment[comment.find('\n')?..];
        } else if rest.is_empty() {
            return Some(names);
        } else {
            let (statement, behind) = rest.split_once(';')?;
            names.extend(declaration(statement)?);
            rest = behind;
        }
    }
}

/// The variables of a declaration: a type that is a word, names, perhaps values.
fn declaration(statement: &str) -> Option<Vec<String>> {
    const OTHERS: [&str; 9] =
        ["return", "goto", "static", "extern", "typedef", "register", "volatile", "else", "_Thread_local"];
    let words: Vec<&str> = statement.split(|c: char| !is_word(c)).filter(|word| !word.is_empty()).collect();
    let plain = |c: char| is_word(c) || c.is_ascii_whitespace() || ",=*[]+.-".contains(c);
    let changes = ["++", "--", "=="].iter().any(|sign| statement.contains(sign));
    let type_word = statement.split(|c: char| !is_word(c)).next()?;
    let follows = statement[type_word.len()..].trim_start();
    let two_words =
        !type_word.is_empty() && follows.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    if !two_words || changes || !statement.chars().all(plain) || words.iter().any(|w| OTHERS.contains(w)) {
        return None;
    }
    let name = |part: &str| {
        let mut sides = part.split('=');
        let left = sides.next()?.split('[').next()?.trim_end();
        let name = left.rsplit(|c: char| !is_word(c)).next()?;
        (sides.count() <= 1 && !name.is_empty()).then(|| name.to_owned())
    };
    statement.split(',').map(name).collect()
}

fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

/// The parenthesis that the last one closes, if nothing between them is in the way of counting.
fn opening(head: &str) -> Option<usize> {
    let mut depth = 0;
    for (at, c) in head.char_indices().rev() {
        match c {
            ')' => depth += 1,
            '(' => depth -= 1,
            '"' | '\'' | '#' | '/' | '\\' | '{' | '}' | ';' => return None,
            _ => {}
        }
        if depth == 0 {
            return Some(at);
        }
    }
    None
}

/// The names of parameters that are declared as `T name` or `T name[e]`.
fn names(params: &str) -> Option<Vec<String>> {
    if params.contains(['(', '.']) || matches!(params.trim(), "" | "void") {
        return None;
    }
    let mut depth = 0;
    let outside = params.split(|c: char| {
        depth += match c {
            '[' => 1,
            ']' => -1,
            _ => 0,
        };
        c == ',' && depth == 0
    });
    let name = |param: &str| {
        let declared = param.split('[').next().unwrap_or_default().trim_end();
        let begins = declared.rfind(|c: char| !is_word(c))? + 1;
        let name = &declared[begins..];
        let is_name = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
        (is_name && !declared[..begins].trim().is_empty()).then(|| name.to_owned())
    };
    outside.map(name).collect()
}

/// Where the declaration of a function begins whose name follows: `static`, `void`, and that calls
/// of it stay calls.
fn specifiers(declared: &str) -> Option<usize> {
    const PLAIN: [&str; 3] = ["noinline", "noipa", "noclone"];
    let mut rest = declared.trim_end().strip_suffix("void")?;
    loop {
        let text = rest.trim_end();
        if let Some(before) = text.strip_suffix("static") {
            rest = before;
        } else if let Some(inner) = text.strip_suffix("))") {
            let at = inner.rfind("__attribute__((")?;
            let mut all = inner[at + "__attribute__((".len()..].split(',');
            all.all(|one| PLAIN.contains(&one.trim())).then_some(())?;
            rest = &inner[..at];
        } else {
            break;
        }
    }
    let before = rest.trim_end();
    // The end of what stands before: another word would be a part of the declaration.
    let line = before.lines().next_back().unwrap_or_default().trim_start();
    let ended = before.is_empty()
        || before.ends_with([';', '}'])
        || before.ends_with("*/")
        || line.starts_with("//")
        || (line.starts_with('#') && !line.contains("pragma") && !line.ends_with('\\'));
    ended.then(|| declared.len() - declared[before.len()..].trim_start().len())
}

/// Where the comment before a function begins, or the function; none if it is not on a line of its
/// own.
fn comment_before(original: &str, start: usize) -> Option<usize> {
    let line = |at: usize| original[..at].rfind('\n').map_or(0, |end| end + 1);
    let mut at = line(start);
    if !original[at..start].trim().is_empty() {
        return None;
    }
    loop {
        let above = original[..at].strip_suffix('\n').unwrap_or("").trim_end_matches('\r');
        let own = line(above.len());
        let text = above[own..].trim_start();
        if text.starts_with("//") {
            at = own;
        } else if text.ends_with("*/") {
            let begins = above.rfind("/*")?;
            let own = line(begins);
            above[own..begins].trim().is_empty().then_some(())?;
            at = own;
        } else {
            // What is said of the next declaration.
            return (!text.starts_with('#') || !text.contains("pragma")).then_some(at);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_have_names() {
        let of = |params: &str| names(params).map(|names| names.join(" "));
        assert_eq!(of("int n, double a[restrict n][n + 1], const T *p").as_deref(), Some("n a p"));
        assert_eq!(of("int n, double (*a)[n]"), None);
        assert_eq!(of("void"), None);
        assert_eq!(of("int"), None);
        assert_eq!(of("int n, ..."), None);
    }

    #[test]
    fn declarations_do_nothing_else() {
        let of = |text: &str| declared(text).map(|names| names.join(" "));
        assert_eq!(of(" int i, j = 2; // loops\n double s = 0.5, *p; /* it */").as_deref(), Some("i j s p"));
        assert_eq!(of("  ").as_deref(), Some(""));
        for other in
            ["x = 3;", "f();", "int i = f();", "return x;", "int i = j++;", "static int i;", "int i = k = 2;"]
        {
            assert_eq!(of(other), None, "{other}");
        }
    }

    #[test]
    fn a_declaration_begins_behind_what_stands_before() {
        let of = |text: &'static str| specifiers(text).map(|at| text[at..].trim());
        assert_eq!(of("int a;\n\nstatic void "), Some("static void"));
        assert_eq!(of("#include <x.h>\nvoid "), Some("void"));
        assert_eq!(
            of("}\n__attribute__((noinline, noipa)) void "),
            Some("__attribute__((noinline, noipa)) void")
        );
        for other in [
            "EXPORT void ",
            "inline void ",
            "__attribute__((constructor)) void ",
            "static int ",
            "#pragma omp declare simd\nvoid ",
        ] {
            assert_eq!(of(other), None, "{other}");
        }
    }

    #[test]
    fn a_comment_stays_with_its_function() {
        let of = |text: &str| comment_before(text, text.find("void").unwrap());
        assert_eq!(of("int a;\n/* Doc.\n   More. */\nvoid "), Some(7));
        assert_eq!(of("int a;\n// Doc.\nvoid "), Some(7));
        assert_eq!(of("int a; void "), None);
        assert_eq!(of("#pragma x\nvoid "), None);
    }
}
