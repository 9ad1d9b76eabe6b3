//! `lozenge compile --target athread`: host and slave files and a build script in a folder, or a stage on the way.

use std::path::Path;

use crate::cli::{Compile, Stage};
use crate::failure::Failure;
use crate::files::{read_source, spares_sources, write_whole};
use crate::pipeline::{Front, athread};
use crate::report;

/// Runs the command.
///
/// # Errors
/// What the stages refuse, and files that can't be read or written.
pub fn run(arguments: &Compile, as_json: bool) -> Result<(), Failure> {
    athread::check_choice(&arguments.choice)?;
    let source = read_source(&arguments.file)?;
    let front = Front::open(&source, &arguments.choice)?;
    let request = athread::Request {
        cores: arguments.cores.clone(),
        threads: arguments.threads,
        sizes: arguments.sizes.clone(),
        stages: arguments.emit == Some(Stage::Schedule),
    };
    athread::check_sizes(&front, &arguments.choice, &arguments.sizes)?;
    let mut all = athread::map(&front, &arguments.choice, &request)?;
    let stem = targets::stem(&arguments.file.file_stem().unwrap_or_default().to_string_lossy());
    let stem = stem.as_str();
    let text = match arguments.emit {
        Some(Stage::Schedule) => athread::stages(&all),
        Some(Stage::Loops) => {
            // What becomes files: where cores must not share, another mapping. One that becomes none is shown as it is.
            if let Err(failure) = athread::files(&front, &arguments.choice, &request, &mut all, stem) {
                report::print_error(&format!("no files: {}\n", failure.summary()));
            }
            loops::Program { functions: all.iter().map(|o| o.mapped.function.clone()).collect() }.to_string()
        }
        Some(Stage::C) | None => {
            let files = athread::files(&front, &arguments.choice, &request, &mut all, stem)?;
            tell(&all);
            for remark in files.remarks().into_iter().chain(files.verdict()) {
                report::print_error(&format!("{remark}\n"));
            }
            return write(arguments, stem, &files, as_json);
        }
        Some(_) => {
            return Err(Failure::refused("X0007", "the target athread does not have this stage")
                .help("the stages are schedule, loops and c"));
        }
    };
    tell(&all);
    if let Some(output) = &arguments.output {
        write_whole(output, &crate::foreign::written(&text))?;
    }
    report::give(&text, arguments.output.as_deref(), as_json);
    Ok(())
}

/// What the mapping says of each definition.
fn tell(all: &[athread::OnCores]) {
    for one in all {
        for note in &one.mapped.notes {
            report::print_error(&format!("{}: {note}\n", one.original.name));
        }
    }
}

/// Writes the files to the folder, or prints the slave file.
fn write(
    arguments: &Compile,
    stem: &str,
    files: &targets::athread::Files,
    as_json: bool,
) -> Result<(), Failure> {
    let Some(folder) = &arguments.output else {
        report::give(&files.slave, None, as_json);
        return Ok(());
    };
    std::fs::create_dir_all(folder).map_err(|error| {
        Failure::environment("X0004", format!("can't make the folder {}: {error}", folder.display()))
            .help("`-o` names the folder that the files go to")
    })?;
    // The host file includes what the program includes, from wherever it is.
    let own = arguments.file.parent().filter(|_| crate::kernel::has_own_headers(&files.host));
    let own = own.and_then(|parent| parent.join(".").canonicalize().ok());
    let build = own.map_or_else(
        || files.build.clone(),
        |own| targets::athread::with_sources(&files.build, &crate::foreign::name(&own)),
    );
    let mut all = vec![
        (format!("{stem}_host.c"), &files.host),
        (format!("{stem}_slave.c"), &files.slave),
        ("build.sh".to_owned(), &build),
    ];
    if let Some((name, text)) = &files.header {
        all.push((name.clone(), text));
    }
    let all: Vec<_> = all.into_iter().map(|(name, text)| (folder.join(name), text)).collect();
    // All or none.
    if let Some((path, _)) = all.iter().find(|(path, _)| path.is_dir()) {
        return Err(Failure::environment(
            "X0004",
            format!("can't write {}: it is a directory", path.display()),
        ));
    }
    all.iter().try_for_each(|(path, _)| spares_sources(path))?;
    let mut written = Vec::new();
    for (path, text) in all {
        write_whole(&path, &crate::foreign::written(text))?;
        if path.extension().is_some_and(|e| e == "sh") {
            executable(&path)?;
        }
        written.push(path.display().to_string());
    }
    if as_json {
        let value = serde_json::json!({ "ok": true, "written": written, "text": null, "diagnostics": [] });
        report::print_json(value);
    }
    Ok(())
}

/// Lets a script be run by its name.
fn executable(path: &Path) -> Result<(), Failure> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let all = std::fs::metadata(path).and_then(|meta| {
            let mut permissions = meta.permissions();
            permissions.set_mode(permissions.mode() | (permissions.mode() & 0o444) >> 2);
            std::fs::set_permissions(path, permissions)
        });
        all.map_err(|error| {
            Failure::environment("X0004", format!("can't make {} executable: {error}", path.display()))
        })?;
    }
    Ok(())
}
