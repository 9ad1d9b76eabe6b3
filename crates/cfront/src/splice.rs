//! Replaces regions by C text: whole lines, every other byte as it was.

use loops::Diagnostic;

use crate::codes;
use crate::region::CFile;

/// What replaces a region.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Replacement {
    /// Index of the region in the file.
    pub region: usize,
    /// Statements in C, one or more lines, indented by [`crate::RegionInfo::indent`].
    pub text: String,
    /// Conditions in C that are tested before the text runs, besides
    /// [`crate::RegionInfo::assumptions`].
    pub conditions: Vec<String>,
    /// Headers that the text needs, as in `<omp.h>`; included at the top of the file.
    pub includes: Vec<String>,
}

/// The original file with regions replaced. Regions without a replacement stay as they are.
///
/// If the replacement assumes something, the text of the region stands first, under the condition
/// that the assumption does not hold. The replacement follows `else`. The two pragmas stay as
/// comments, so that the result is not taken for input and a reader sees what was replaced. Line
/// ends are those of the file. Loop variables declared outside get their values. Macros and sizes
/// of objects that the region was translated for are checked.
pub fn splice(original: &str, file: &CFile, replacements: &[Replacement]) -> Result<String, Diagnostic> {
    let newline = if original.contains("\r\n") { "\r\n" } else { "\n" };
    let mut chosen: Vec<(&crate::RegionInfo, &Replacement)> = Vec::new();
    for replacement in replacements {
        let Some(region) = file.regions.get(replacement.region) else {
            let message = format!("there is no region {} in `{}`", replacement.region, file.name);
            return Err(Diagnostic::general(codes::PRAGMAS, message));
        };
        chosen.push((&region.info, replacement));
    }
    chosen.sort_by_key(|(info, _)| info.bytes.start);
    let mut out = String::with_capacity(original.len() * 2);
    let mut headers: Vec<&str> = Vec::new();
    for include in replacements.iter().flat_map(|r| &r.includes) {
        let present = original.lines().any(|l| includes(l, include));
        if !present && !headers.contains(&include.as_str()) {
            headers.push(include);
        }
    }
    for header in headers {
        out.push_str(&format!("#include {header}{newline}"));
    }
    let mut done = 0;
    for (info, replacement) in chosen {
        let range = info.bytes.clone();
        if range.start < done || original.get(range.clone()).is_none() {
            return Err(Diagnostic::general(codes::PRAGMAS, "regions that overlap, or of another text"));
        }
        out.push_str(&original[done..range.start]);
        let (indent, lines) = (&info.indent, info.lines);
        let mut line = |indent: &str, text: &str| out.push_str(&format!("{indent}{text}{newline}"));
        line(indent, &format!("/* scop: lines {} to {} of the original */", lines.0, lines.1));
        for (name, value) in &info.macro_values {
            check(name, value).iter().for_each(|text| line("", text));
        }
        for (object, bytes) in &info.object_sizes {
            let message = format!("\"this region was made for sizeof {object} = {bytes}\"");
            line(indent, &format!("_Static_assert(sizeof {object} == {bytes}, {message});"));
        }
        let assumed = info.assumptions.iter().map(|a| &a.condition);
        let conditions: Vec<&str> =
            replacement.conditions.iter().chain(assumed).map(String::as_str).collect();
        if conditions.is_empty() {
            replacement.text.lines().for_each(|text| line("", text));
            info.epilogue.iter().for_each(|text| line(indent, text));
        } else {
            let all = conditions.join(&format!("{newline}{indent}        && "));
            line(indent, &format!("if (!({all})) {{"));
            out.push_str(&original[info.inside.clone()]);
            let mut line = |indent: &str, text: &str| out.push_str(&format!("{indent}{text}{newline}"));
            line(indent, "} else {");
            replacement.text.lines().for_each(|text| line("", text));
            info.epilogue.iter().for_each(|text| line(&format!("{indent}  "), text));
            line(indent, "}");
        }
        out.push_str(&format!("{indent}/* endscop */{newline}"));
        done = range.end;
        // A region on the last line of a file without a line end.
        if !original[range].ends_with('\n') {
            out.truncate(out.len() - newline.len());
        }
    }
    out.push_str(&original[done..]);
    Ok(out)
}

/// Lines that end the compilation where a macro has another value than the region was made for.
fn check(name: &str, value: &str) -> Vec<String> {
    let message = format!("\"this region was made for {name} = {value}\"");
    if value.bytes().any(|b| b.is_ascii_digit()) {
        return vec![format!("#if {name} != {value}"), format!("#error {message}"), "#endif".to_string()];
    }
    vec![format!("_Static_assert(_Generic(({name})0, {value}: 1, default: 0), {message});")]
}

fn includes(line: &str, header: &str) -> bool {
    line.trim_start()
        .strip_prefix('#')
        .and_then(|l| l.trim_start().strip_prefix("include"))
        .is_some_and(|l| l.trim().starts_with(header))
}
