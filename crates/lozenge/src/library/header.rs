//! The header of a library, for C and C++.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use loops::ParamMode;

use super::interface::{Entry, Parameter};

/// The guard of a header with this file name.
fn guard(file: &str) -> String {
    let word = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_uppercase() } else { '_' };
    format!("LOZENGE_{}", file.chars().map(word).collect::<String>())
}

/// A header that declares these functions; `file` is its name, `about` lines that it begins with,
/// `structs` definitions of the types of pairs.
pub fn header(file: &str, about: &[String], structs: &[String], entries: &[Entry]) -> String {
    let guard = guard(file);
    let mut text = String::new();
    comment(&mut text, about);
    let _ = write!(text, "#ifndef {guard}\n#define {guard}\n\n");
    text.push_str(
        "#include <stdbool.h>\n#include <stdint.h>\n\n#ifdef __cplusplus\nextern \"C\" {\n#endif\n\n",
    );
    for definition in structs {
        let _ = writeln!(text, "{definition}");
    }
    for entry in entries {
        comment(&mut text, &told(entry));
        let (c, cpp) = (declaration(entry, true), declaration(entry, false));
        if c == cpp {
            let _ = write!(text, "{c}\n\n");
        } else {
            // Arrays whose extents are parameters are unknown to C++.
            let _ = write!(text, "#ifdef __cplusplus\n{cpp}\n#else\n{c}\n#endif\n\n");
        }
    }
    text.push_str("#ifdef __cplusplus\n}\n#endif\n\n#endif\n");
    text
}

/// Lines as a comment; what would end it does not.
fn comment(text: &mut String, lines: &[String]) {
    let safe: Vec<String> = lines.iter().map(|line| line.replace("*/", "* /").replace('\n', " ")).collect();
    if !safe.is_empty() {
        let _ = writeln!(text, "/* {} */", safe.join("\n   "));
    }
}

/// What a comment says of a function.
fn told(entry: &Entry) -> Vec<String> {
    let mut lines = vec![format!("{}:", entry.name)];
    for parameter in &entry.parameters {
        let shape = match &parameter.shape {
            None => "pointer".to_owned(),
            Some(shape) => {
                let dims: Vec<&str> = shape.iter().map(|dim| dim.as_deref().unwrap_or("?")).collect();
                if dims.is_empty() { "number".to_owned() } else { format!("[{}]", dims.join("][")) }
            }
        };
        let element = parameter.element.as_deref().unwrap_or(&parameter.c_type);
        let mode = match parameter.mode {
            ParamMode::In => "in",
            ParamMode::Out => "out",
            ParamMode::InOut => "in and out",
        };
        let what = if entry.sizes.contains(&parameter.name) { "size" } else { shape.as_str() };
        lines.push(format!("  {}: {element} {what}, {mode}", parameter.name));
    }
    lines.extend(entry.conditions.iter().map(|condition| format!("Required: {condition}.")));
    lines.extend(entry.gives.iter().map(|gives| format!("Returns {gives}.")));
    if !entry.status.is_empty() {
        lines.push("Returns 0, or the results have no meaning:".to_owned());
    }
    let failures = entry.status.iter().filter(|(code, _)| *code != 0);
    lines.extend(failures.map(|(code, what)| format!("  {code}: {what}")));
    lines
}

/// The declaration; with `extents`, arrays of arrays are what they are in C, else pointers to their
/// elements.
fn declaration(entry: &Entry, extents: bool) -> String {
    let mut taken = BTreeSet::new();
    let mut parameters = Vec::new();
    for parameter in &entry.parameters {
        let mut name = named(&parameter.name, !extents);
        while !taken.insert(name.clone()) {
            name.push('_');
        }
        parameters.push(declarator(parameter, &name, extents));
    }
    let parameters = if parameters.is_empty() { "void".to_owned() } else { parameters.join(", ") };
    let space = if entry.result.ends_with('*') { "" } else { " " };
    format!("{}{space}{}({parameters});", c_type(&entry.result), entry.symbol)
}

/// C's own name of the type of truth values is none of C++.
fn c_type(name: &str) -> &str {
    if name == "_Bool" { "bool" } else { name }
}

fn declarator(parameter: &Parameter, name: &str, extents: bool) -> String {
    let Parameter { shape, mode, pointer, nested, .. } = parameter;
    let c_type = c_type(&parameter.c_type);
    if !pointer {
        return format!("{c_type} {name}");
    }
    let element = match (mode, c_type.ends_with('*')) {
        (ParamMode::In, false) => format!("const {c_type} "),
        (ParamMode::In, true) => format!("{c_type}const "),
        (_, false) => format!("{c_type} "),
        (_, true) => c_type.to_owned(),
    };
    match shape.as_deref() {
        Some([first, inner @ ..]) if extents && *nested => {
            let inner = inner.iter().map(|dim| format!("[{}]", dim.as_deref().unwrap_or("*")));
            format!("{element}{name}[{}]{}", first.as_deref().unwrap_or_default(), inner.collect::<String>())
        }
        _ => format!("{element}*{name}"),
    }
}

/// The words of C++ that a parameter in C may be called.
const KEYWORDS: &str = "and and_eq asm bitand bitor catch char8_t char16_t char32_t class co_await co_return co_yield compl concept \
consteval constinit const_cast decltype delete dynamic_cast explicit export friend mutable namespace new noexcept not not_eq operator or \
or_eq private protected public reinterpret_cast requires static_cast template this throw try typeid typename using virtual wchar_t xor \
xor_eq false true bool nullptr constexpr static_assert thread_local alignas alignof";

/// A name that C has; for C++ it is no keyword of that.
fn named(name: &str, for_cpp: bool) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || c == '_' { c } else { '_' };
    let name: String = name.chars().map(plain).collect();
    let keyword = for_cpp && KEYWORDS.split_whitespace().any(|word| word == name);
    if keyword || name.starts_with(|c: char| c.is_ascii_digit()) { format!("_{name}") } else { name }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parameter(name: &str, shape: Option<&[&str]>, mode: ParamMode) -> Parameter {
        let dims =
            |dims: &[&str]| dims.iter().map(|dim| Some((*dim).to_owned()).filter(|d| d != "?")).collect();
        Parameter {
            name: name.to_owned(),
            c_type: "double".to_owned(),
            element: Some("f64".to_owned()),
            shape: shape.map(dims),
            mode,
            pointer: shape.is_none_or(|dims| !dims.is_empty()),
            nested: shape.is_some_and(|dims| dims.len() > 1),
        }
    }

    #[test]
    fn declarations_are_for_c_and_for_cpp() {
        let parameters = vec![
            parameter("new", Some(&[]), ParamMode::In),
            parameter("a", Some(&["n", "m + 1"]), ParamMode::In),
            parameter("b", Some(&["?", "?"]), ParamMode::InOut),
            parameter("p", None, ParamMode::InOut),
        ];
        let entry = Entry {
            name: "f".to_owned(),
            symbol: "f".to_owned(),
            result: "_Bool".to_owned(),
            status: Vec::new(),
            sizes: Vec::new(),
            parameters,
            conditions: Vec::new(),
            gives: None,
            tested: Vec::new(),
        };
        let c = "bool f(double new, const double a[n][m + 1], double b[][*], double *p);";
        assert_eq!(declaration(&entry, true), c);
        let cpp = "bool f(double _new, const double *a, double *b, double *p);";
        assert_eq!(declaration(&entry, false), cpp);
    }

    #[test]
    fn guards_are_names() {
        assert_eq!(guard("lib-k.2.h"), "LOZENGE_LIB_K_2_H");
    }

    #[test]
    fn comments_end_where_they_should() {
        let mut text = String::new();
        comment(&mut text, &["a */ b".to_owned(), "c".to_owned()]);
        assert_eq!(text, "/* a * / b\n   c */\n");
    }
}
