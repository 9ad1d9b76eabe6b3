//! `lozenge check`: what the other commands would refuse of files, without output of their own.

use std::collections::BTreeMap;
use std::io::IsTerminal as _;
use std::path::Path;

use serde_json::{Value as Json, json};

use crate::cli::Check;
use crate::failure::Failure;
use crate::files::{self, find, read_source};
use crate::pipeline;
use crate::request::Request;
use crate::{kernel, models, report, rules};

/// What a file has that is fine.
struct Fine {
    count: usize,
    /// What is counted.
    what: &'static str,
}

/// Runs the command.
///
/// # Errors
/// Told for each file; `X0001` and `X0005` for paths that are no such files.
pub fn run(arguments: &Check, as_json: bool) -> Result<(), Failure> {
    let mut found = Vec::new();
    for path in &arguments.paths {
        let named = path.is_file();
        let known = ["loz", "loops", "c", "gsl", "onnx", "graph"];
        let extensions: Vec<&str> = known.into_iter().chain(files::CPP).collect();
        // In a folder, C without a region is no program of ours.
        let wanted = |f: &Path| {
            named || files::language(f).is_none() || read_source(f).is_ok_and(|s| kernel::has_region(&s.text))
        };
        found.extend(find(path, &extensions)?.into_iter().filter(|f| wanted(f)));
    }
    let (mut told, mut refused) = (Vec::new(), None);
    for file in &found {
        let (fine, failures) = checked(file, arguments);
        refused = refused.or(failures.first().map(|failure| failure.kind));
        if as_json {
            told.push(file_json(file, &fine, &failures));
            continue;
        }
        for failure in &failures {
            let colour = report::colours(std::io::stderr().is_terminal());
            report::print_error(&report::render(failure, colour));
        }
        let plural = if fine.count == 1 { "" } else { "s" };
        let others = match failures.len() {
            0 => String::new(),
            count => format!(", {count} refused"),
        };
        report::print(&format!("{}: {} {}{plural}{others}\n", file.display(), fine.count, fine.what));
    }
    if as_json {
        report::print_json(json!({ "ok": refused.is_none(), "files": told }));
    }
    match refused {
        Some(kind) => Err(Failure::told(kind)),
        None if found.is_empty() => {
            let paths: Vec<String> = arguments.paths.iter().map(|p| p.display().to_string()).collect();
            Err(Failure::refused("X0005", format!("nothing to check in {}", paths.join(", ")))
                .help("C is checked where it has a region (`#pragma scop`)"))
        }
        None => Ok(()),
    }
}

fn file_json(file: &Path, fine: &Fine, failures: &[Failure]) -> Json {
    let of = |failure: &Failure| {
        let source = failure.source.as_ref();
        let one = |d| report::diagnostic_json(source, d);
        failure.diagnostics.iter().map(one).collect::<Vec<_>>()
    };
    let diagnostics: Vec<Json> = failures.iter().flat_map(of).collect();
    let (file, ok) = (file.display().to_string(), failures.is_empty());
    json!({ "file": file, "ok": ok, "count": fine.count, "what": fine.what, "diagnostics": diagnostics })
}

/// What a file has, and what is wrong with it.
fn checked(file: &Path, arguments: &Check) -> (Fine, Vec<Failure>) {
    let (what, outcome) = match file.extension().and_then(|e| e.to_str()) {
        _ if models::is_model(file) => ("node", model(file, arguments)),
        Some("gsl") => ("rule", read_source(file).and_then(|s| Ok((rules::compile(&s)?.len(), Vec::new())))),
        Some("loz" | "loops") => ("definition", program(file)),
        _ => ("region", program(file)),
    };
    match outcome {
        Ok((count, failures)) => (Fine { count, what }, failures),
        Err(failure) => (Fine { count: 0, what }, vec![failure]),
    }
}

/// The definitions or regions of a program that become loops, and why others do not.
fn program(file: &Path) -> Result<(usize, Vec<Failure>), Failure> {
    let source = read_source(file)?;
    let request = Request { partial: true, ..super::request() };
    let front = files::open(&source, &request)?;
    let refused = front.c_file().map_or(&[][..], |parsed| &parsed.refused);
    let mut failures: Vec<Failure> =
        refused.iter().map(|d| Failure::in_source(&source, vec![d.clone()])).collect();
    let mut count = 0;
    for name in front.definitions() {
        // Loops are read, and not scheduled: that refuses nothing.
        let read = match front.c_file() {
            Some(_) => front.original(&name, &request).map(|_| ()),
            None => front.lower(&request.of(&name)).map(|_| ()),
        };
        match read {
            Ok(()) => count += 1,
            Err(failure) => failures.push(failure),
        }
    }
    Ok((count, failures))
}

/// The nodes of a model whose types are found.
fn model(file: &Path, arguments: &Check) -> Result<(usize, Vec<Failure>), Failure> {
    let mut model = models::open(file)?;
    models::sound(&mut model, file, arguments.strict)?;
    // Extents that have names keep them.
    graph::plan::bind_some(&mut model, &BTreeMap::new())
        .map_err(|d| pipeline::graph::at(&file.display().to_string(), d))?;
    models::declared(&model, file, arguments.strict)?;
    Ok((model.graph.node_count(), Vec::new()))
}
