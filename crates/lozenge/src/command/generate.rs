//! `lozenge generate`: models in well-known shapes with random weights, as ONNX files.

use graph::generate::{MODELS, Scale, generate};

use crate::cli::Generate;
use crate::failure::Failure;
use crate::files::write_whole;
use crate::report;

/// Runs the command.
///
/// # Errors
/// `X0006` for an unknown name; files that can't be written.
pub fn run(arguments: &Generate) -> Result<(), Failure> {
    let Some(name) = &arguments.model else {
        let width = MODELS.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
        let lines: String = MODELS.iter().map(|(name, about)| format!("{name:width$}  {about}\n")).collect();
        report::print(&lines);
        return Ok(());
    };
    let scale = if arguments.small { Scale::Small } else { Scale::Full };
    let Some(model) = generate(name, scale, arguments.nodes, arguments.seed) else {
        let names: Vec<&str> = MODELS.iter().map(|(name, _)| *name).collect();
        return Err(Failure::refused("X0006", format!("there is no model `{name}`"))
            .help(format!("models are {}", names.join(", "))));
    };
    let bytes = graph::onnx::write(&model);
    match &arguments.output {
        Some(path) => {
            write_whole(path, &bytes)?;
            report::print(&format!(
                "{}: {} nodes, {} bytes\n",
                path.display(),
                model.graph.node_count(),
                bytes.len()
            ));
        }
        None => report::print(&model.to_string()),
    }
    Ok(())
}
