//! `lozenge explain --movement`: a table for each definition.

use optimize::Border;

use crate::bind::{self, Sizes, amount};
use crate::cli::Explain;
use crate::failure::Failure;
use crate::movement::{Moved, Steps, moved};
use crate::pipeline::{self, Front};
use crate::report;
use crate::request::Request;

/// Some seconds where sizes are chosen.
const STEPS: Steps = Steps { chosen: 1 << 26, most: 1 << 34 };

/// The tables.
///
/// # Errors
/// As [`moved`].
pub fn told(front: &Front, request: &Request, arguments: &Explain) -> Result<String, Failure> {
    let given = bind::by_name(&arguments.sizes)?;
    let caches = pipeline::machine(request)?.caches;
    let tables: Vec<String> = moved(front, request, &given, &caches, STEPS)?.iter().map(shown).collect();
    Ok(tables.join("\n"))
}

/// The sizes, behind a name.
pub(super) fn values(sizes: &Sizes) -> String {
    let values: Vec<String> = sizes.iter().map(|(name, value)| format!("{name} = {value}")).collect();
    if values.is_empty() { String::new() } else { format!(" at {}", values.join(", ")) }
}

fn shown(moved: &Moved) -> String {
    let at = values(&moved.sizes);
    let head = ["behind", "holds", "text", "generated", "any order", "generated : any order", "by"];
    let mut rows = vec![head.map(str::to_owned).to_vec()];
    rows.extend(moved.movement.borders.iter().map(row));
    format!("{}{at}: {} assignments\n{}", moved.name, moved.movement.instances, report::table(&rows))
}

fn row(border: &Border) -> Vec<String> {
    let bytes = |bytes: f64| amount(bytes as u128);
    let ratio =
        |least: f64| if least > 0.0 { format!("{:.2}", border.generated / least) } else { "-".into() };
    vec![
        border.cache.to_owned(),
        bytes(border.capacity),
        bytes(border.text),
        bytes(border.generated),
        bytes(border.least),
        ratio(border.least),
        if border.by_accesses { "accesses" } else { "data" }.to_owned(),
    ]
}
