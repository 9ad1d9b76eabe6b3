//! `lozenge show`: pictures of schedules.

use loops::Name;
use polyhedral::{Model, Tree, picture};

use crate::cli::Show;
use crate::failure::Failure;
use crate::files::{self, read_source, write_whole};
use crate::progress;
use crate::report;

/// Draws the chosen definition.
///
/// # Errors
/// What the stages refuse; `P0701` if there is too much to draw at these sizes; files that can't be
/// written.
pub fn run(arguments: &Show, as_json: bool) -> Result<(), Failure> {
    let source = read_source(&arguments.file)?;
    let request = arguments.choice.request()?;
    let front = files::open(&source, &request)?;
    let refuse = |d| Failure::in_source(&source, vec![d]);
    let name = front.chosen(&request)?;
    let function = front.original(&name, &request)?;
    let model = Model::extract(&function).and_then(Model::exact).map_err(refuse)?;
    let before = Tree::original(&model).map_err(refuse)?;
    // Small tiles, so that there are several of them.
    let tile = if request.tile.is_empty() { &[3][..] } else { &request.tile };
    let after = front.optimized_small(&function, &request, tile, arguments.packed)?;
    let mut options = picture::Options::default();
    for (size, value) in crate::bind::by_name(&arguments.sizes)? {
        if !function.sizes.contains(&size) {
            let sizes: Vec<&str> = function.sizes.iter().map(Name::as_str).collect();
            return Err(Failure::refused("X0204", format!("`{name}` has no size `{size}`"))
                .help(format!("its sizes: {}", sizes.join(", "))));
        }
        options.sizes.insert(size, value);
    }
    progress::say(format!("drawing `{name}`"));
    let text = picture::svg(&model.function, &before, &after, &options).map_err(refuse)?;
    if let Some(output) = &arguments.output {
        write_whole(output, text.as_bytes())?;
    }
    report::give(&text, arguments.output.as_deref(), as_json);
    Ok(())
}
