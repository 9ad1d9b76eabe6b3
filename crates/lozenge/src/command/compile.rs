//! `lozenge compile`: a program to the files of a target, or to one of the stages on the way.

use std::io::IsTerminal;
use std::path::Path;

use serde_json::json;
use targets::{Output, Stage};

use super::passed_over;
use crate::cli::Compile;
use crate::encoding;
use crate::failure::Failure;
use crate::files::{self, read_source, spares_sources, write_whole};
use crate::report;
use crate::target::Compiled;

/// Runs the command.
///
/// # Errors
/// What the stages refuse, and files that can't be read or written.
pub fn run(arguments: &Compile, as_json: bool) -> Result<(), Failure> {
    passed_over::by_target(arguments.target, &arguments.choice, &arguments.settings.0)?;
    passed_over::by_target_of_code(arguments)?;
    passed_over::by_ranks(arguments.target, arguments.ranks.given())?;
    let source = read_source(&arguments.file)?;
    let stage = arguments.emit.unwrap_or(Stage::C);
    let abilities = arguments.target.abilities();
    if !abilities.folder {
        arguments.output.as_deref().map_or(Ok(()), spares_sources)?;
    }
    if stage != Stage::Schedule && !abilities.mapping {
        passed_over::without_schedule(&arguments.file, &arguments.choice)?;
    }
    let request = arguments.request()?;
    let front = files::open(&source, &request)?;
    report::tuned(&front, &request)?;
    super::passes::look(&arguments.look, || front.histories(&request))?;
    let Compiled { output, warnings } = front.compile(stage, &request)?;
    for note in &output.notes {
        report::print_error(&format!("{note}\n"));
    }
    let written = arguments.output.as_deref().map_or(Ok(Vec::new()), |path| write(path, &output))?;
    if as_json {
        let text = arguments.output.is_none().then_some(output.text());
        let warnings: Vec<_> = warnings.iter().map(|d| report::diagnostic_json(Some(&source), d)).collect();
        let value = json!({ "ok": true, "written": written, "text": text, "diagnostics": warnings });
        report::print_json(value);
        return Ok(());
    }
    let colour = report::colours(std::io::stderr().is_terminal());
    report::print_error(&report::render_all(Some(&source), &warnings, colour));
    if arguments.output.is_none() {
        report::print_c(output.text());
    }
    Ok(())
}

/// Writes one file under this name, or several into a folder of this name. Their names are the
/// result.
pub(super) fn write(path: &Path, output: &Output) -> Result<Vec<String>, Failure> {
    if let [only] = output.files.as_slice() {
        write_whole(path, &encoding::written(&only.text))?;
        return Ok(vec![path.display().to_string()]);
    }
    std::fs::create_dir_all(path).map_err(|error| {
        Failure::environment("X0004", format!("can't make the folder {}: {error}", path.display()))
            .help("`-o` names the folder that the files go to")
    })?;
    let all: Vec<_> = output.files.iter().map(|file| (path.join(&file.name), file)).collect();
    // All or none.
    if let Some((path, _)) = all.iter().find(|(path, _)| path.is_dir()) {
        return Err(Failure::environment(
            "X0004",
            format!("can't write {}: it is a directory", path.display()),
        ));
    }
    all.iter().try_for_each(|(path, _)| spares_sources(path))?;
    let mut written = Vec::new();
    for (path, file) in all {
        write_whole(&path, &encoding::written(&file.text))?;
        if file.executable {
            executable(&path)?;
        }
        written.push(path.display().to_string());
    }
    Ok(written)
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
