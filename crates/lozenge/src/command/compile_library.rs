//! `lozenge compile --shared` and `--static`: a library, its header, its manifest, and what else
//! goes with it.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};

use cfront::Export;
use loops::{Code, Diagnostic, Program, Severity, Span};
use serde_json::json;
use targets::Stage;

use super::passed_over;
use crate::bind;
use crate::cli::{Compile, Mode};
use crate::encoding;
use crate::failure::{Failure, Source};
use crate::files::{self, keep, read_source, spares_sources, write_whole};
use crate::library::{self, Block, Entry, Kind, Manifest, Recipe};
use crate::models;
use crate::pipeline::graph::{Extents, ModelRequest};
use crate::pipeline::{self, Lowered};
use crate::process::{self, Compiler};
use crate::report;

/// What a source becomes before the C compiler sees it.
struct Made {
    /// Files by name and text; the first is compiled.
    files: Vec<(&'static str, String)>,
    standard: &'static str,
    includes: Vec<OsString>,
    entries: Vec<Entry>,
    /// Definitions of types that the header needs.
    structs: Vec<String>,
    /// The parameters of a model.
    block: Vec<u8>,
    warnings: Vec<Diagnostic>,
    source: Option<Source>,
    /// Lines of the header: what it was made of.
    about: Vec<String>,
}

/// The names of what is written.
struct Names {
    library: PathBuf,
    header: PathBuf,
    manifest: PathBuf,
    pkg_config: Option<PathBuf>,
    block: PathBuf,
}

/// Runs the command.
///
/// # Errors
/// What the stages refuse, what has no library, what the C compiler does not compile, and files
/// that can't be written.
pub fn run(arguments: &Compile, as_json: bool) -> Result<(), Failure> {
    let (Some(kind), Some(output)) = (arguments.library.kind(), &arguments.output) else {
        let message = "`--pkg-config` and `--cflag` say nothing where no library is built";
        return Err(Failure::usage("X0009", message).help("add `--shared` or `--static`"));
    };
    if !arguments.target.abilities().libraries {
        let name = arguments.target.name();
        let message =
            format!("the target {name} does not have a library: its compiler is not of this machine");
        return Err(Failure::refused("X0007", message)
            .help("its files and a script that builds them come out without `--shared` and `--static`"));
    }
    let names = Names::of(output, kind, arguments.library.pkg_config)?;
    let made = match models::is_model(&arguments.file) {
        true => of_model(arguments, &names)?,
        false => of_program(arguments)?,
    };
    let files = names.all(!made.block.is_empty());
    files.iter().try_for_each(|path| free(path))?;
    names.spares_others()?;
    let compiler = Compiler::find()?;
    let own: Vec<(&str, &str)> = made.files.iter().map(|(name, text)| (*name, text.as_str())).collect();
    let library_name = file_name(&names.library);
    let recipe = Recipe {
        files: &own,
        includes: &made.includes,
        standard: made.standard,
        flags: &arguments.library.flags,
        kind,
        name: &library_name,
    };
    let bytes = library::build(&compiler, &recipe)?;
    write(arguments, kind, &names, &made, &compiler, &bytes)?;
    let written: Vec<String> = files.iter().map(|path| path.display().to_string()).collect();
    if as_json {
        let warnings = made.warnings.iter().map(|d| report::diagnostic_json(made.source.as_ref(), d));
        let warnings: Vec<_> = warnings.collect();
        let value = json!({ "ok": true, "written": written, "text": null, "diagnostics": warnings });
        report::print_json(value);
    } else {
        let colour = report::colours(std::io::stderr().is_terminal());
        report::print_error(&report::render_all(made.source.as_ref(), &made.warnings, colour));
    }
    Ok(())
}

impl Names {
    fn of(output: &Path, kind: Kind, pkg_config: bool) -> Result<Names, Failure> {
        let extension = match kind {
            Kind::Shared => "so",
            Kind::Static => "a",
        };
        if output.extension().is_none_or(|e| e != extension) {
            let message = format!("{} is no name of a {} library", encoding::name(output), kind.word());
            return Err(Failure::usage("X0012", message).help(format!(
                "end it in `.{extension}`: header and manifest have the same name with another ending"
            )));
        }
        Ok(Names {
            library: output.to_path_buf(),
            header: output.with_extension("h"),
            manifest: output.with_extension("json"),
            pkg_config: pkg_config.then(|| output.with_extension("pc")),
            block: output.with_extension("parameters"),
        })
    }

    /// All files, in the order in which they are told.
    fn all(&self, with_block: bool) -> Vec<PathBuf> {
        let mut all = vec![self.library.clone(), self.header.clone(), self.manifest.clone()];
        all.extend(self.pkg_config.clone());
        all.extend(with_block.then(|| self.block.clone()));
        all
    }
}

impl Names {
    /// A header, or another text, that somebody wrote is not replaced: it may have the name of the
    /// C file that it belongs to.
    ///
    /// # Errors
    /// `X0010` for a file that was not made by this command.
    fn spares_others(&self) -> Result<(), Failure> {
        let marks =
            [(Some(&self.header), "#ifndef LOZENGE_"), (Some(&self.manifest), "\"generator\": \"lozenge ")];
        for (path, mark) in marks.into_iter().chain([(self.pkg_config.as_ref(), ", made by lozenge ")]) {
            let Some(path) = path else { continue };
            let others =
                std::fs::read(path).is_ok_and(|bytes| !String::from_utf8_lossy(&bytes).contains(mark));
            if others {
                let message = format!(
                    "{} is there and was not made by this command: it would be lost",
                    encoding::name(path)
                );
                return Err(Failure::refused("X0010", message)
                    .help("give the library another name, such as one that begins with `lib`"));
            }
        }
        Ok(())
    }
}

fn file_name(path: &Path) -> String {
    path.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned())
}

/// Whether a file can be written, before the work begins.
fn free(path: &Path) -> Result<(), Failure> {
    if path.is_dir() {
        let message = format!("can't write {}: it is a directory", path.display());
        return Err(Failure::environment("X0004", message));
    }
    spares_sources(path)
}

fn write(
    arguments: &Compile,
    kind: Kind,
    names: &Names,
    made: &Made,
    compiler: &Compiler,
    library: &[u8],
) -> Result<(), Failure> {
    let source = encoding::name(&arguments.file);
    let (library_name, header_name) = (file_name(&names.library), file_name(&names.header));
    let mut about = vec![format!("Functions of {source}, in {library_name}.")];
    about.extend(made.about.iter().cloned());
    let header = library::header(&header_name, &about, &made.structs, &made.entries);
    let mut flags = library::flags(made.standard);
    flags.extend(made.includes.iter().map(|flag| flag.to_string_lossy().into_owned()));
    flags.extend(arguments.library.flags.iter().cloned());
    let pkg_config = names.pkg_config.as_deref().map(file_name);
    let block = Block { file: file_name(&names.block), bytes: made.block.len() };
    let manifest = Manifest {
        source: &source,
        library: &library_name,
        kind,
        header: &header_name,
        pkg_config: pkg_config.as_deref(),
        parameters: (block.bytes > 0).then_some(&block),
        compiler: &compiler.command.to_string_lossy(),
        compiler_version: &compiler.version(),
        flags: &flags,
        functions: &made.entries,
    };
    write_whole(&names.library, library)?;
    write_whole(&names.header, &encoding::written(&header))?;
    write_whole(&names.manifest, format!("{:#}\n", manifest.to_json()).as_bytes())?;
    if let Some(path) = &names.pkg_config {
        let stem = names.library.file_stem().unwrap_or_default().to_string_lossy();
        write_whole(path, library::pkg_config(&stem, &library_name, &source, kind).as_bytes())?;
    }
    if block.bytes > 0 {
        write_whole(&names.block, &made.block)?;
    }
    Ok(())
}

/// A model: one function, the others are its own.
fn of_model(arguments: &Compile, names: &Names) -> Result<Made, Failure> {
    passed_over::by_models(&arguments.choice, arguments.target, &arguments.settings.0, arguments.threads)?;
    let request = ModelRequest {
        sizes: bind::by_name(&arguments.sizes)?,
        extents: Extents::Arguments(BTreeMap::new()),
        memory: arguments.memory.bytes(),
        strict: arguments.choice.strict,
        prefix: arguments.library.prefix()?,
        ..models::request(&arguments.file)
    };
    keep(&arguments.file);
    let model = models::prepare(models::open(&arguments.file)?, &arguments.file, &request)?;
    let compiled = pipeline::graph::compile(&model, &request)?;
    let block = pipeline::graph::parameter_block(&compiled.plan);
    let mut entries = vec![library::of_model(&compiled, &file_name(&names.block))];
    entries.extend(library::of_memory(&compiled));
    Ok(Made {
        files: vec![("library.c", compiled.source)],
        standard: "-std=c99",
        includes: Vec::new(),
        entries,
        structs: Vec::new(),
        block,
        warnings: Vec::new(),
        source: None,
        about: super::model::about(arguments)?,
    })
}

/// A functional program, a loop program, or a C file.
fn of_program(arguments: &Compile) -> Result<Made, Failure> {
    let choice = &arguments.choice;
    passed_over::by_target(arguments.target, choice, &arguments.settings.0)?;
    passed_over::by_target_of_code(arguments)?;
    if choice.mode == Mode::Paper {
        return Err(Failure::refused(
            "X0007",
            "paper mode does not have a library: its functions have an interface of their own",
        )
        .help("leave `--mode paper` out"));
    }
    passed_over::without_schedule(&arguments.file, choice)?;
    let source = read_source(&arguments.file)?;
    if files::language(&arguments.file).is_some() {
        return of_c(arguments, source);
    }
    let request = arguments.request()?;
    let lowered = files::open(&source, &request)?.all(&request)?;
    lowered.iter().for_each(report::told);
    let program = Program { functions: lowered.iter().map(|l| l.function.clone()).collect() };
    let emitted = pipeline::to_c(&program, &request, None)?;
    let pairs = lowered.iter().map(|Lowered { function, definition, .. }| (function, definition.as_ref()));
    let entries = library::of_programs(pairs, &emitted.signatures);
    Ok(Made {
        files: vec![("library.c", emitted.source)],
        standard: "-std=c99",
        includes: Vec::new(),
        entries,
        structs: emitted.structs,
        block: Vec::new(),
        warnings: Vec::new(),
        source: Some(source),
        about: Vec::new(),
    })
}

/// A C file, whole: its regions are rewritten, and all of its functions are in the library.
fn of_c(arguments: &Compile, source: Source) -> Result<Made, Failure> {
    let request = arguments.request()?;
    let front = files::open(&source, &request)?;
    let pipeline::Emission { text, mut warnings, promises, .. } = front.emit(Stage::C, &request)?;
    let exports = front.exports(&request)?;
    if let Some(main) = exports.iter().find(|export| export.name == "main") {
        let message = format!("{} has a main function, so it is a program", source.path);
        let place = line_span(&source, main.line);
        let diagnostic = Diagnostic::error(Code("X0013"), message, place, "begins here");
        let diagnostic = diagnostic.help("move the functions of the library to a file of their own");
        return Err(Failure::in_source(&source, vec![diagnostic]));
    }
    if exports.is_empty() {
        let message = format!("{} has no function that other files can call", source.path);
        return Err(Failure::refused("X0013", message)
            .help("its functions are static, or inline: make one of them neither"));
    }
    let mut entries = Vec::new();
    for export in &exports {
        let own = promises.iter().filter(|promise| promise.function == export.name);
        let mut regions = library::Regions::default();
        own.for_each(|promise| {
            regions.conditions.extend(promise.assumed.iter().cloned());
            regions.tested.extend(promise.tested.iter().cloned());
        });
        match (library::of_c(export, regions), &export.declared) {
            (Some(entry), _) => entries.push(entry),
            (None, Err(why)) => warnings.push(undeclared(&source, export, why)),
            (None, Ok(_)) => {}
        }
    }
    let folder = arguments.file.parent().unwrap_or(Path::new(""));
    let mut includes = vec![
        OsString::from("-iquote"),
        process::argument(&std::path::absolute(folder.join(".")).unwrap_or_default()),
    ];
    includes.extend(request.preprocessor.iter().map(OsString::from));
    Ok(Made {
        files: vec![("library.c", text)],
        standard: "-std=gnu11",
        includes,
        entries,
        structs: Vec::new(),
        block: Vec::new(),
        warnings,
        source: Some(source),
        about: Vec::new(),
    })
}

/// A line of a text, counted from 1.
fn line_span(source: &Source, line: usize) -> Span {
    let mut lines = source.text.split_inclusive('\n');
    let start: usize = lines.by_ref().take(line.saturating_sub(1)).map(str::len).sum();
    Span::new(start, start + lines.next().unwrap_or_default().trim_end().len())
}

/// The warning of a function that is in the library and not in its header.
fn undeclared(source: &Source, export: &Export, why: &str) -> Diagnostic {
    let message = format!("`{}` is in the library and not in its header: {why}", export.name);
    let place = line_span(source, export.line);
    let mut warning = Diagnostic::error(Code("X0014"), message, place, "begins here");
    warning.severity = Severity::Warning;
    warning.help("include a header of your own that declares it, or make it static")
}
