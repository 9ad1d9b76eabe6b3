//! `lozenge generate`: models in well-known shapes with random weights, as ONNX files.

use graph::generate::{MODELS, Scale, generate, is_synthetic};
use serde_json::json;

use crate::cli::Generate;
use crate::failure::Failure;
use crate::files::write_whole;
use crate::models::is_text;
use crate::report;

/// Nodes of a synthetic model, where their number is not given.
const NODES: usize = 1000;

/// Runs the command.
///
/// # Errors
/// `X0006` for an unknown name; `X0009` for a number of nodes that the model does not take; files
/// that can't be written.
pub fn run(arguments: &Generate, as_json: bool) -> Result<(), Failure> {
    let Some(name) = &arguments.model else {
        if as_json {
            let models: Vec<_> =
                MODELS.iter().map(|(name, about)| json!({ "name": name, "about": about })).collect();
            report::print_json(json!({ "ok": true, "models": models }));
            return Ok(());
        }
        let width = MODELS.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
        let lines: String = MODELS.iter().map(|(name, about)| format!("{name:width$}  {about}\n")).collect();
        report::print(&lines);
        return Ok(());
    };
    let scale = if arguments.small { Scale::Small } else { Scale::Full };
    let Some(model) = generate(name, scale, arguments.nodes.unwrap_or(NODES), arguments.seed) else {
        let names: Vec<&str> = MODELS.iter().map(|(name, _)| *name).collect();
        return Err(Failure::refused("X0006", format!("there is no model `{name}`"))
            .help(format!("models are {}", names.join(", "))));
    };
    if arguments.nodes.is_some() && !is_synthetic(name) {
        return Err(Failure::usage(
            "X0009",
            format!("`--nodes` has no effect on {name}, whose nodes are fixed"),
        )
        .help("`--small` makes it narrow and shallow"));
    }
    match &arguments.output {
        Some(path) => {
            let bytes = match is_text(path) {
                true => model.to_string().into_bytes(),
                false => graph::onnx::write(&model),
            };
            write_whole(path, &bytes)?;
            if as_json {
                report::give("", Some(path), true);
                return Ok(());
            }
            report::print(&format!(
                "{}: {} nodes, {} bytes\n",
                path.display(),
                model.graph.node_count(),
                bytes.len()
            ));
        }
        None => report::give(&model.to_string(), None, as_json),
    }
    Ok(())
}
