//! Full tiles apart from partial ones: the set of tiles all of whose points are run gets code of
//! its own, whose loops have constant bounds.

use isl::{Map, Set, UnionPwAff};

use crate::fault::{self, Result};
use crate::model::Model;
use crate::tree::{Band, Node, SetText};

/// `tiles` with the option that its full tiles get code of their own. `points` is the band that was
/// tiled, with no loops outside of it, `sizes` the extents of its tiles; marks may stand between
/// the loops over tiles. As it is where no tile is full, or the full ones are not one simple set.
///
/// # Errors
/// Those of the set library.
pub(crate) fn isolate(model: &Model, tiles: Node, points: &Band, sizes: &[i64]) -> Result<Node> {
    let Some(full) = full(model, points, sizes).map_err(fault::library)? else { return Ok(tiles) };
    let text = full.to_string();
    let Some((names, conditions)) = parts(&text) else { return Ok(tiles) };
    Ok(put(tiles, &names, 0, &conditions))
}

/// The tiles of which every statement runs all points.
fn full(model: &Model, points: &Band, sizes: &[i64]) -> isl::Result<Option<Set>> {
    let mut functions = points.members.iter().map(|m| UnionPwAff::read(&model.ctx, m.function.as_str()));
    let Some(first) = functions.next() else { return Ok(None) };
    let mut time = first?.to_multi()?;
    for function in functions {
        time = time.flat_range_product(&function?.to_multi()?)?;
    }
    let mut run: Option<Set> = None;
    for map in time.graph()?.maps()? {
        let Some(statement) = map.tuple_name(isl::Dim::In)?.and_then(|tuple| model.by_tuple(&tuple)) else {
            continue;
        };
        let own = map.intersect_domain(&statement.domain)?.intersect_params(&model.context)?.range()?;
        run = Some(match run {
            None => own,
            Some(run) => run.intersect(&own)?,
        });
    }
    let Some(run) = run else { return Ok(None) };
    let names = |prefix: &str| -> String {
        (0..sizes.len()).map(|k| format!("{prefix}{k}")).collect::<Vec<_>>().join(", ")
    };
    let bounds: Vec<String> =
        sizes.iter().enumerate().map(|(k, s)| format!("{s}t{k} <= p{k} < {s}t{k} + {s}")).collect();
    let text = format!("{{ [{}] -> [{}] : {} }}", names("t"), names("p"), bounds.join(" and "));
    let tile = Map::read(&model.ctx, &text)?;
    let some = tile.intersect_range(&run)?.domain()?;
    let partial = tile.intersect_range(&run.complement()?)?.domain()?;
    let full = some.subtract(&partial)?.coalesce()?;
    let simple = full.basic_sets()?.len() == 1;
    Ok((simple && !full.is_empty()?).then_some(full))
}

/// Names of the dimensions of a printed set, and the text before and behind its tuple.
fn parts(text: &str) -> Option<(Vec<String>, (String, String))> {
    let open = text.find('{')?;
    let begin = open + text[open..].find('[')?;
    let end = begin + text[begin..].find(']')?;
    let names = text[begin + 1..end].split(',').map(|name| name.trim().to_owned()).collect();
    Some((names, (text[..=open].to_owned(), text[end + 1..].to_owned())))
}

/// Puts the option on the innermost band over tiles.
fn put(node: Node, names: &[String], outside: usize, conditions: &(String, String)) -> Node {
    match node {
        Node::Band(band) if outside + band.members.len() < names.len() => {
            let below = outside + band.members.len();
            Node::Band(band).map_children(&mut |child| put(child, names, below, conditions))
        }
        Node::Band(band) => {
            let (outer, own) = (names[..outside].join(", "), names[outside..].join(", "));
            let text = format!("{} isolate[[{outer}] -> [{own}]]{}", conditions.0, conditions.1);
            Node::Band(Band { isolate: Some(SetText::new(text)), ..band })
        }
        mark @ Node::Mark { .. } => mark.map_children(&mut |child| put(child, names, outside, conditions)),
        other => other,
    }
}
