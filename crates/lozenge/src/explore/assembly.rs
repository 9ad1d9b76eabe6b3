//! What the C compiler makes of the C of a page: assembly, each line with the origins of the line
//! of C that it was made of, as the compiler's line table says.

use std::ffi::OsStr;
use std::fs;
use std::path::Path;

use super::{Language, Page, Part, Section, Stage};
use crate::failure::Failure;
use crate::files::{Scratch, reason};
use crate::process::{self, Compiler, Optimise};
use crate::{encoding, report};

/// C that becomes assembly.
pub(super) struct C<'a> {
    /// The whole text, whose lines are those of the page's stage of C.
    pub text: &'a str,
    /// The folder of the headers that a C file brings along.
    pub folder: &'a Path,
    /// Flags for the preprocessor.
    pub preprocessor: &'a [String],
    /// The file that it was made of: its name tells C from C++.
    pub file: &'a Path,
}

/// Adds the stage, or says why there is none.
pub(super) fn add(page: &mut Page, c: &C<'_>) {
    let made = Compiler::find().and_then(|compiler| {
        let compiler = compiler.of(c.file);
        Ok((compile(&compiler, c)?, compiler))
    });
    match made {
        Ok((text, compiler)) => {
            let about = format!("What `{} -O3 -march=native` makes of the C.", compiler.command.display());
            let stage = stage(page, &text, &about);
            page.stage(stage);
        }
        Err(failure) => {
            let mut section = Section::new("assembly", "Assembly");
            section.parts.push(Part::Verbatim(report::render(&failure, false)));
            page.section(section);
        }
    }
}

/// The assembly, with the line table in it.
fn compile(compiler: &Compiler, c: &C<'_>) -> Result<String, Failure> {
    let scratch = Scratch::new()?;
    let (name, standard) = match compiler.language {
        cfront::Language::C => ("explored.c", "-std=gnu11"),
        cfront::Language::Cpp => ("explored.cpp", process::CPP_STANDARD),
    };
    let source = scratch.path().join(name);
    let cannot = |what: &str, path: &Path, e: &std::io::Error| {
        Failure::environment("X0004", format!("can't {what} {}: {}", path.display(), reason(e)))
    };
    fs::write(&source, encoding::written(c.text)).map_err(|e| cannot("write", &source, &e))?;
    let output = scratch.path().join("explored.s");
    let include = process::include(c.folder);
    let configured = Optimise::Fast.configured();
    let words = [standard, "-fopenmp", "-S", "-g1"].into_iter().chain(configured);
    let words = words.chain(c.preprocessor.iter().map(String::as_str));
    let flags: Vec<&OsStr> = words.map(OsStr::new).chain([include.as_os_str()]).collect();
    compiler.compile_plain(&[&source], &output, &flags, &[])?;
    let bytes = fs::read(&output).map_err(|e| cannot("read", &output, &e))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// The instructions and the labels that jumps go to, each with the origins of its line of C.
fn stage(page: &Page, text: &str, about: &str) -> Stage {
    let c = page.stages.iter().find(|stage| stage.id == "c").map(|stage| stage.lines.as_slice());
    let mut stage = Stage::new("assembly", "Assembly", Language::Assembly, about);
    for (line, from) in instructions(text) {
        let origin = from.and_then(|number| c?.get(number.checked_sub(1)?));
        let origins = origin.map(|line| line.origins.clone()).unwrap_or_default();
        stage.add(&line, |_, _| origins.clone());
    }
    stage
}

/// Lines of assembly that people read, each with the number of its line of C.
fn instructions(text: &str) -> Vec<(String, Option<usize>)> {
    let mut table = LineTable { files: Vec::new(), line: None };
    let mut code = true;
    let mut found = Vec::new();
    for line in text.lines() {
        let word = line.trim();
        if let Some(label) = word.strip_suffix(':') {
            if code && !for_debuggers(label) {
                found.push((word.to_owned(), None));
            }
        } else if word.starts_with('.') {
            code = in_code(word).unwrap_or(code);
            table.read(word);
        } else if code && !word.is_empty() && !word.starts_with('#') {
            found.push((format!("    {}", word.replace('\t', " ")), table.line));
        }
    }
    found
}

/// Whether code follows a directive, if it is one that begins a section.
fn in_code(directive: &str) -> Option<bool> {
    let mut words = directive.split(|c: char| c.is_whitespace() || c == ',');
    match words.next()? {
        ".text" => Some(true),
        ".data" | ".bss" => Some(false),
        ".section" => Some(words.next()?.starts_with(".text")),
        _ => None,
    }
}

/// Labels that no jump goes to: compilers make them for debuggers and unwinders.
fn for_debuggers(label: &str) -> bool {
    let Some(rest) = label.strip_prefix(".L") else { return false };
    let kinds = ["FB", "FE", "FSB", "BB", "BE", "VL", "VU", "BI", "LST", "HOT", "COLD", "ASF", "C"];
    let named = rest.trim_end_matches(|c: char| c.is_ascii_digit());
    let clang = ["tmp", "func", "debug", "text", "cu_", "info", "line", "str", "CPI", "EHB", "etext"];
    // clang's labels of blocks are `.LBB0_1`; what gcc calls so has one number.
    (kinds.contains(&named) && named != rest) || clang.iter().any(|start| rest.starts_with(start))
}

/// The part of a line table that was read.
struct LineTable {
    /// The numbers of the file that is shown.
    files: Vec<String>,
    /// The line of C that the next instruction belongs to.
    line: Option<usize>,
}

impl LineTable {
    fn read(&mut self, directive: &str) {
        let mut words = directive.split_whitespace();
        match words.next() {
            Some(".file") => {
                let name = |ending: &str| directive.contains(&format!("explored{ending}\""));
                if name(".c") || name(".cpp") {
                    self.files.extend(words.next().map(str::to_owned));
                }
            }
            Some(".loc") => {
                let ours = words.next().is_some_and(|file| self.files.iter().any(|known| known == file));
                let line = words.next().and_then(|line| line.parse().ok());
                self.line = line.filter(|line| ours && *line > 0);
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instructions_have_the_lines_of_the_table() {
        let text = "\t.file \"explored.c\"\n\t.text\n.Ltext0:\n\t.file 1 \"/tmp/a/explored.c\"\n\t.globl f\nf:\n.LFB0:\n\
                    \t.loc 1 3 5 view .LVU1\n\tvmovupd\t(%rdi), %zmm0\n\t.loc 2 9 1\n\tnop\n.L3:\n\t# comment\n\tret\n\
                    \t.section\t.rodata\n.LC0:\n\t.long 1\nx:\n\t.text\n.LBB0_1:\n\tjmp .LBB0_1\n";
        let found = instructions(text);
        let lines: Vec<(&str, Option<usize>)> =
            found.iter().map(|(line, from)| (line.as_str(), *from)).collect();
        assert_eq!(
            lines,
            [
                ("f:", None),
                ("    vmovupd (%rdi), %zmm0", Some(3)),
                ("    nop", None),
                (".L3:", None),
                ("    ret", None),
                (".LBB0_1:", None),
                ("    jmp .LBB0_1", None),
            ]
        );
    }
}
