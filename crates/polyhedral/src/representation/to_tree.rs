//! The tree of times: a sequence where places differ, a band where there are loops.

use std::collections::{BTreeMap, BTreeSet};

use isl::{UnionPwAff, UnionSet};

use super::{Component, Piece, Times};
use crate::fault::{self, Result};
use crate::model::Model;
use crate::tree::{Band, Branch, FunctionText, LoopCode, Member, Node, SetText, Tree};

pub(super) fn tree(times: &Times, model: &Model) -> Result<Tree> {
    let mut seen = BTreeSet::new();
    for piece in &times.pieces {
        let Some(statement) = model.by_tuple(&piece.statement) else {
            return Err(fault::representation(0, format!("`{}` is not a statement", piece.statement)));
        };
        if statement.loops.len() != piece.iterators.len() {
            return Err(fault::representation(
                0,
                format!("`{}` has {} iterators", piece.statement, statement.loops.len()),
            ));
        }
        seen.insert(statement.tuple.as_str());
    }
    if let Some(missing) = model.statements.iter().find(|s| !seen.contains(s.tuple.as_str())) {
        return Err(fault::representation(0, format!("`{}` has no time", missing.label)));
    }
    let domain = model.domain()?.intersect_params(&model.context).map_err(fault::library)?;
    let group: Vec<&Piece> = times.pieces.iter().collect();
    let build = Build { model, parameters: prefix(&times.parameters) };
    let child = Box::new(build.node(&group, 0)?);
    Ok(Tree { root: Node::Domain { domain: SetText::new(domain.to_string()), child } })
}

fn prefix(parameters: &[String]) -> String {
    if parameters.is_empty() { String::new() } else { format!("[{}] -> ", parameters.join(", ")) }
}

struct Build<'a> {
    model: &'a Model,
    parameters: String,
}

fn tuple(piece: &Piece) -> String {
    format!("{}[{}]", piece.statement, piece.iterators.join(", "))
}

fn condition(piece: &Piece) -> String {
    piece.condition.as_ref().map_or(String::new(), |text| format!(" : {text}"))
}

impl Build<'_> {
    fn node(&self, group: &[&Piece], column: usize) -> Result<Node> {
        let column = match (column..).find(|c| {
            let places: BTreeSet<Option<i64>> = group.iter().map(|piece| place(piece, *c)).collect();
            // A column with one place orders nothing; columns behind the longest time are not
            // looked at.
            places.len() > 1 || places.contains(&None) || group.iter().all(|piece| piece.time.len() <= *c)
        }) {
            Some(column) if group.iter().any(|piece| piece.time.len() > column) => column,
            _ => return Ok(Node::Leaf),
        };
        if group.iter().all(|piece| place(piece, column).is_some()) {
            let mut values: BTreeMap<i64, Vec<&Piece>> = BTreeMap::new();
            for piece in group {
                values.entry(place(piece, column).unwrap_or(0)).or_default().push(piece);
            }
            let branches = values
                .values()
                .map(|group| {
                    let sets: Vec<String> =
                        group.iter().map(|p| format!("{}{}", tuple(p), condition(p))).collect();
                    let text = format!("{}{{ {} }}", self.parameters, sets.join("; "));
                    let filter = UnionSet::read(&self.model.ctx, &text).map_err(fault::library)?;
                    let child = Box::new(self.node(group, column + 1)?);
                    Ok(Branch { filter: SetText::new(filter.to_string()), child })
                })
                .collect::<Result<Vec<_>>>()?;
            return Ok(Node::Sequence(branches));
        }
        let functions: Vec<String> = group
            .iter()
            .map(|piece| {
                let value = match piece.time.get(column) {
                    Some(Component::Loop(text)) => text.clone(),
                    Some(Component::Place(value)) => value.to_string(),
                    None => "0".to_owned(),
                };
                format!("{} -> [({value})]{}", tuple(piece), condition(piece))
            })
            .collect();
        let text = format!("{}{{ {} }}", self.parameters, functions.join("; "));
        let function = UnionPwAff::read(&self.model.ctx, &text).map_err(fault::library)?;
        let function = FunctionText::new(function.to_string());
        let member = Member { function, coincident: false, code: LoopCode::Default };
        let child = Box::new(self.node(group, column + 1)?);
        Ok(Node::Band(Band { members: vec![member], permutable: false, isolate: None, child }))
    }
}

/// The place in a column; a time that has ended has zeros.
fn place(piece: &Piece, column: usize) -> Option<i64> {
    match piece.time.get(column) {
        Some(Component::Loop(_)) => None,
        Some(Component::Place(value)) => Some(*value),
        None => Some(0),
    }
}
