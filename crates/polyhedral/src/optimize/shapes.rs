//! Shapes of programs for which there is a better way than the scheduler's: stencils in time,
//! triangular solves, windows, and nests that keep their order.

use loops::Function;

use super::{Optimized, Options, Report, Tiling, finish};
use super::{lowering, thread_versions};
use crate::dependence::Dependence;
use crate::fault::Result;
use crate::limits::Limits;
use crate::locality::Caches;
use crate::model::Model;
use crate::transform::{Request, Shaped, diamond, identity_schedule, row_fusion, window};

/// The result for such a shape. What does not work out is noted, and the general way is taken.
pub(super) fn special(
    model: &Model,
    function: &Function,
    dependences: &[Dependence],
    options: &Options,
    limits: Limits,
    report: &mut Report,
) -> Option<Optimized> {
    let (width, caches) = match &options.tiling {
        Tiling::None => return None,
        Tiling::Fixed(sizes) => (Some(*sizes.first()?), Caches::default()),
        Tiling::Caches(caches) => (None, *caches),
    };
    let request = Request { width, caches, parallel: options.parallel, vector: options.vector };
    let ways: [(&str, Way, bool); 4] = [
        ("diamond tiles", diamond::diamonds, true),
        ("strips of rows", row_fusion::strips, true),
        ("the order of the text", identity_schedule::keep, false),
        ("windows", window::whole, false),
    ];
    for (what, way, tiles) in ways {
        let tried = limits.run(&model.ctx, || way(model, dependences, request)).and_then(|found| {
            let Some(shaped) = found else { return Ok(None) };
            let make = if shaped.as_written { lowering::text } else { lowering::generate_checked };
            let made = make(model, function, &shaped.tree, options, limits, report)?;
            let made = match &shaped.on_threads {
                Some(other) => thread_versions::added(made, other, model, function, options, limits, report)?,
                None => made,
            };
            Ok(Some((made, shaped)))
        });
        match tried {
            Ok(Some((made, shaped))) => {
                let line = match tiles {
                    true => shaped.line,
                    false => super::in_words(&shaped.line, &made.generated.function.body),
                };
                report.bands.push(line);
                report.tiled |= tiles;
                report.bands.extend(shaped.on_threads.map(|other| other.line));
                return Some(finish(made, shaped.tree, std::mem::take(report)));
            }
            Ok(None) => {}
            Err(error) => report.notes.push(format!("{what} were given up: {}", error.message)),
        }
    }
    None
}

/// A way to look for a shape and to schedule it.
type Way = fn(&Model, &[Dependence], Request) -> Result<Option<Shaped>>;
