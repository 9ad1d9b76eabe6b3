//! Replaces regions by C text on lines of its own; every other byte stays as it was.

use std::collections::BTreeSet;

use loops::Diagnostic;

use crate::codes;
use crate::own_function::OwnFunction;
use crate::region::{CFile, RegionInfo};
use crate::source::Language;

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
    /// Lines that define macros of the conditions; at the top of the file, the same ones once.
    pub definitions: Vec<String>,
    /// Lines that define macros of the conditions; before these.
    pub macros: Vec<String>,
    /// Whether the text of the region is to be as fast as it was: it runs where there is little
    /// work.
    pub keeps_pace: bool,
    /// Lines before and behind all functions of the file; the same ones once.
    pub around: Option<[&'static str; 2]>,
}

/// The original file with regions replaced. Regions without a replacement stay as they are.
///
/// If the replacement assumes something, the text of the region stands first, under the condition
/// that the assumption does not hold. The replacement follows `else`. The two pragmas stay as
/// comments, so that the result is not taken for input and a reader sees what was replaced. Line
/// ends are those of the file. Loop variables declared outside get their values. Macros and sizes
/// of objects that the region was translated for are checked.
///
/// # Errors
/// If the regions are not those of this text.
pub fn splice(original: &str, file: &CFile, replacements: &[Replacement]) -> Result<String, Diagnostic> {
    spliced(original, file, replacements, false)
}

/// As [`splice`], with `#line` directives: what debuggers and C compilers tell of the result leads
/// to the lines of the original. Every line of a replacement is on the line where its region
/// begins.
///
/// # Errors
/// As [`splice`].
pub fn splice_with_lines(
    original: &str,
    file: &CFile,
    replacements: &[Replacement],
) -> Result<String, Diagnostic> {
    spliced(original, file, replacements, true)
}

fn spliced(
    original: &str,
    file: &CFile,
    replacements: &[Replacement],
    marked: bool,
) -> Result<String, Diagnostic> {
    let mut chosen: Vec<(&RegionInfo, &Replacement)> = Vec::new();
    for replacement in replacements {
        let Some(region) = file.regions.get(replacement.region) else {
            let message = format!("there is no region {} in `{}`", replacement.region, file.name);
            return Err(Diagnostic::general(codes::PRAGMAS, message));
        };
        chosen.push((&region.info, replacement));
    }
    chosen.sort_by_key(|(info, _)| info.bytes.start);
    let newline = if original.contains("\r\n") { "\r\n" } else { "\n" };
    let mut out =
        Writer { text: String::with_capacity(original.len() * 2), newline, marked, language: file.language };
    let mut headers: Vec<&str> = Vec::new();
    for include in replacements.iter().flat_map(|r| &r.includes) {
        let present = original.lines().any(|l| includes(l, include));
        if !present && !headers.contains(&include.as_str()) {
            headers.push(include);
        }
    }
    headers.iter().for_each(|header| out.line("", &format!("#include {header}")));
    let definitions: BTreeSet<&String> = replacements.iter().flat_map(|r| &r.definitions).collect();
    definitions.iter().flat_map(|text| text.lines()).for_each(|text| out.line("", text));
    let around: BTreeSet<[&str; 2]> = replacements.iter().filter_map(|r| r.around).collect();
    around.iter().flat_map(|[before, _]| before.lines()).for_each(|text| out.line("", text));
    if marked {
        let name: String = file.name.chars().flat_map(in_string).collect();
        out.line("", &format!("#line 1 \"{name}\""));
    }
    let mut done = 0;
    for (info, replacement) in chosen {
        let range = info.bytes.clone();
        if range.start < done || original.get(range.clone()).is_none() {
            return Err(Diagnostic::general(codes::PRAGMAS, "regions that overlap, or of another text"));
        }
        let own = out.own_function(original, info, replacement).filter(|own| own.before >= done);
        if let Some(own) = &own {
            out.text.push_str(&original[done..own.before]);
            out.text_alone(original, info, own);
            done = own.before;
        }
        out.text.push_str(&original[done..range.start]);
        // A region behind something on its line.
        if !out.text.is_empty() && !out.text.ends_with('\n') {
            out.text.push_str(newline);
        }
        out.region(original, info, replacement, own.as_ref());
        done = range.end;
        // A region on the last line of a file without a line end.
        if done == original.len() && !original[range].ends_with('\n') {
            out.text.truncate(out.text.len() - newline.len());
        }
    }
    out.text.push_str(&original[done..]);
    if !around.is_empty() && !out.text.ends_with('\n') {
        out.text.push_str(newline);
    }
    around.iter().rev().flat_map(|[_, behind]| behind.lines()).for_each(|text| out.line("", text));
    Ok(out.text)
}

/// A character in a string literal of C.
fn in_string(c: char) -> impl Iterator<Item = char> {
    let escape = matches!(c, '"' | '\\').then_some('\\');
    escape.into_iter().chain(std::iter::once(c))
}

/// What a C compiler may warn of in text that nobody wrote.
const UNWRITTEN: [&str; 8] = [
    "-Wunused",
    "-Wconversion",
    "-Wsign-conversion",
    "-Wsign-compare",
    "-Wshadow",
    OF_C,
    "-Wfloat-equal",
    "-Wpedantic",
];

/// The one of these that only C has.
const OF_C: &str = "-Wdeclaration-after-statement";

/// The text of the result.
struct Writer<'a> {
    text: String,
    newline: &'a str,
    /// With `#line` directives.
    marked: bool,
    language: Language,
}

impl Writer<'_> {
    fn line(&mut self, indent: &str, text: &str) {
        self.text.push_str(&format!("{indent}{text}{}", self.newline));
    }

    /// The next line is this one of the original.
    fn mark(&mut self, line: usize) {
        if self.marked {
            self.line("", &format!("#line {line}"));
        }
    }

    /// Lines of a replacement, which are all on one line of the original.
    fn generated(&mut self, indent: &str, text: &str, line: usize) {
        // Between a line and what continues it there is no place for a directive.
        if !self.text.trim_end_matches(['\n', '\r']).ends_with('\\') {
            self.mark(line);
        }
        self.line(indent, text);
    }

    /// What C compilers may say of the text that follows, or again what they may say of the rest.
    fn quiet(&mut self, begins: bool) {
        if !self.marked {
            return;
        }
        if !begins {
            return self.line("", "#pragma GCC diagnostic pop");
        }
        self.line("", "#pragma GCC diagnostic push");
        let language = self.language;
        let of_c = |warning: &&&str| **warning != OF_C || language == Language::C;
        for warning in UNWRITTEN.iter().filter(|warning| of_c(warning)) {
            self.line("", &format!("#pragma GCC diagnostic ignored \"{warning}\""));
        }
    }

    /// The function that has the text of a region alone, where it pays to make one.
    fn own_function(
        &self,
        original: &str,
        info: &RegionInfo,
        replacement: &Replacement,
    ) -> Option<OwnFunction> {
        let wanted = replacement.keeps_pace && self.language == Language::C;
        wanted.then(|| OwnFunction::of(original, info)).flatten()
    }

    /// What runs where the result does not.
    fn original(&mut self, original: &str, info: &RegionInfo, own: Option<&OwnFunction>) {
        if let Some(own) = own {
            return self.line(&format!("{}  ", info.indent), &own.call());
        }
        let first = original[..info.inside.start].matches('\n').count() + 1;
        self.mark(first);
        self.text.push_str(&original[info.inside.clone()]);
        if !self.text.ends_with('\n') {
            self.text.push_str(self.newline);
        }
    }

    /// The text of a region as a function before the one that it is in.
    fn text_alone(&mut self, original: &str, info: &RegionInfo, own: &OwnFunction) {
        let line = |at: usize| original[..at].matches('\n').count() + 1;
        let params = &original[own.params.clone()];
        self.mark(line(own.start));
        self.line("", &format!("__attribute__((noinline)) static void {}({params})", own.name));
        self.line("", "{");
        let declared = original[own.declarations.clone()].trim();
        if !declared.is_empty() {
            self.mark(line(own.declarations.start));
            let text = original[own.declarations.clone()].trim_start_matches(['\r', '\n']);
            self.text.push_str(text);
            if !self.text.ends_with('\n') {
                self.text.push_str(self.newline);
            }
        }
        self.mark(line(info.inside.start));
        self.text.push_str(&original[info.inside.clone()]);
        if !self.text.ends_with('\n') {
            self.text.push_str(self.newline);
        }
        self.line("", "}");
        self.text.push_str(self.newline);
        self.mark(line(own.before));
    }

    fn region(
        &mut self,
        original: &str,
        info: &RegionInfo,
        replacement: &Replacement,
        own: Option<&OwnFunction>,
    ) {
        let (indent, lines) = (&info.indent, info.lines);
        let at = lines.0;
        if info.braces {
            self.line(indent, "{");
        }
        self.line(indent, &format!("/* scop: lines {} to {} of the original */", lines.0, lines.1));
        for (name, value) in &info.macro_values {
            check(name, value, self.language).iter().for_each(|text| self.line("", text));
        }
        for (object, bytes) in &info.object_sizes {
            let message = format!("\"this region was made for sizeof {object} = {bytes}\"");
            let assert = if self.language == Language::Cpp { "static_assert" } else { "_Static_assert" };
            let text = format!("{assert}(sizeof {object} == {bytes}, {message});");
            self.generated(indent, &text, at);
        }
        let assumed = info.assumptions.iter().map(|a| &a.condition);
        let conditions: Vec<&str> =
            replacement.conditions.iter().chain(assumed).map(String::as_str).collect();
        let mut deeper = String::new();
        if !conditions.is_empty() {
            let all = conditions.join(&format!("{}{indent}        && ", self.newline));
            self.mark(at);
            replacement.macros.iter().flat_map(|text| text.lines()).for_each(|text| self.line("", text));
            self.line(indent, &format!("if (!({all})) {{"));
            self.original(original, info, own);
            self.mark(at);
            self.line(indent, "} else {");
            deeper.push_str("  ");
        }
        self.quiet(true);
        replacement.text.lines().for_each(|text| self.generated("", text, at));
        info.epilogue.iter().for_each(|text| self.generated(&format!("{indent}{deeper}"), text, at));
        self.quiet(false);
        if !conditions.is_empty() {
            self.line(indent, "}");
        }
        self.line(indent, "/* endscop */");
        if info.braces {
            self.line(indent, "}");
        }
        self.mark(original[..info.bytes.end].matches('\n').count() + 1);
    }
}

/// Lines that end the compilation where a macro has another value than the region was made for.
fn check(name: &str, value: &str, language: Language) -> Vec<String> {
    let message = format!("\"this region was made for {name} = {value}\"");
    if value.bytes().any(|b| b.is_ascii_digit()) {
        return vec![format!("#if {name} != {value}"), format!("#error {message}"), "#endif".to_string()];
    }
    if language == Language::Cpp {
        return vec![format!("static_assert(__is_same({name}, {value}), {message});")];
    }
    vec![format!("_Static_assert(_Generic(({name})0, {value}: 1, default: 0), {message});")]
}

fn includes(line: &str, header: &str) -> bool {
    line.trim_start()
        .strip_prefix('#')
        .and_then(|l| l.trim_start().strip_prefix("include"))
        .is_some_and(|l| l.trim().starts_with(header))
}
