//! The times that a tree gives its statements.

use isl::{Ctx, Dim, Set, UnionPwAff, UnionSet};

use super::{Component, Form, Piece, Times};
use crate::fault::{self, Result};
use crate::tree::{Branch, Node, Tree};

/// Parts of statements that are followed; a tree that cuts statements into more is refused.
const MAX_PARTS: usize = 10_000;

/// Some instances of a statement, with their time so far.
#[derive(Clone)]
struct Part {
    statement: usize,
    instances: Set,
    time: Vec<Component>,
}

/// A place for each branch of a sequence, a loop for each member of a band.
pub(super) fn times(tree: &Tree) -> Result<Times> {
    let ctx = Ctx::new();
    let Node::Domain { domain, child } = &tree.root else {
        return Err(fault::cannot_say(Form::Kelly, "the tree has no domain"));
    };
    let read = || -> isl::Result<(Vec<Set>, Vec<String>)> {
        let domain = UnionSet::read(&ctx, domain.as_str())?;
        let space = domain.space()?;
        let n = space.dim(Dim::Param)?;
        let names = (0..n).map(|k| Ok(space.dim_name(Dim::Param, k)?.unwrap_or_default()));
        Ok((domain.sets()?, names.collect::<isl::Result<_>>()?))
    };
    let (mut whole, parameters) = read().map_err(fault::library)?;
    let mut statements = Vec::new();
    for set in &mut whole {
        statements.push(named(set).map_err(fault::library)?);
    }
    let order: Vec<usize> = {
        let mut order: Vec<usize> = (0..whole.len()).collect();
        order.sort_by(|a, b| statements[*a].0.cmp(&statements[*b].0));
        order
    };
    let parts = order
        .into_iter()
        .map(|k| Part { statement: k, instances: whole[k].clone(), time: Vec::new() })
        .collect();
    let mut walk = Walk { ctx, done: Vec::new() };
    walk.node(child, parts)?;
    let mut pieces = Vec::new();
    for part in walk.done {
        let (statement, iterators) = statements[part.statement].clone();
        let condition = condition(&part.instances, &whole[part.statement]).map_err(fault::library)?;
        pieces.push(Piece { statement, iterators, time: part.time, condition });
    }
    Ok(Times { form: Form::Kelly, parameters, pieces })
}

/// Name and iterators of a statement; dimensions without a name get one.
fn named(set: &mut Set) -> isl::Result<(String, Vec<String>)> {
    let mut names = Vec::new();
    for k in 0..set.dim(Dim::SET)? {
        let name = match set.dim_name(Dim::SET, k)? {
            Some(name) => name,
            None => {
                let name = format!("i{k}");
                *set = set.set_dim_name(Dim::SET, k, &name)?;
                name
            }
        };
        names.push(name);
    }
    Ok((set.tuple_name()?.unwrap_or_default(), names))
}

/// What sets some instances apart from all of them.
fn condition(instances: &Set, whole: &Set) -> isl::Result<Option<String>> {
    if whole.is_subset(instances)? {
        return Ok(None);
    }
    let text = instances.coalesce()?.gist(whole)?.to_string();
    let formula = text.split_once(" : ").map(|(_, formula)| formula.trim_end_matches('}').trim());
    Ok(formula.map(str::to_owned))
}

struct Walk {
    ctx: Ctx,
    done: Vec<Part>,
}

impl Walk {
    fn node(&mut self, node: &Node, parts: Vec<Part>) -> Result<()> {
        match node {
            Node::Leaf => {
                self.done.extend(parts);
                Ok(())
            }
            Node::Context { child, .. } | Node::Guard { child, .. } | Node::Mark { child, .. } => {
                self.node(child, parts)
            }
            Node::Filter(branch) => {
                let parts = self.filtered(branch, &parts)?;
                self.node(&branch.child, parts)
            }
            // Any order will do for a set: that of the text is one.
            Node::Sequence(branches) | Node::Set(branches) => {
                for (k, branch) in branches.iter().enumerate() {
                    let mut inside = self.filtered(branch, &parts)?;
                    inside.iter_mut().for_each(|part| part.time.push(Component::Place(k as i64)));
                    self.node(&branch.child, inside)?;
                }
                Ok(())
            }
            Node::Band(band) => {
                let mut parts = parts;
                for member in &band.members {
                    let function =
                        UnionPwAff::read(&self.ctx, member.function.as_str()).map_err(fault::library)?;
                    let mut next = Vec::new();
                    for part in &parts {
                        valued(part, &function, &mut next).map_err(fault::library)?;
                    }
                    if next.len() + self.done.len() > MAX_PARTS {
                        return Err(fault::limit("parts of statements"));
                    }
                    parts = next;
                }
                self.node(&band.child, parts)
            }
            Node::Domain { .. } | Node::Extension { .. } | Node::Expansion { .. } => Err(fault::cannot_say(
                Form::Kelly,
                format!("a node of kind {} changes the set of instances", node.kind()),
            )),
        }
    }

    fn filtered(&self, branch: &Branch, parts: &[Part]) -> Result<Vec<Part>> {
        let inside = || -> isl::Result<Vec<Part>> {
            let filter = UnionSet::read(&self.ctx, branch.filter.as_str())?;
            let mut inside = Vec::new();
            for part in parts {
                for set in part.instances.to_union()?.intersect(&filter)?.sets()? {
                    // The part's own set comes first, so that its names stay.
                    let instances = part.instances.intersect(&set)?;
                    if !instances.is_empty()? {
                        inside.push(Part { instances, ..part.clone() });
                    }
                }
            }
            Ok(inside)
        };
        inside().map_err(fault::library)
    }
}

/// Adds the value of a loop to a part: one part for each piece of the function.
fn valued(part: &Part, function: &UnionPwAff, next: &mut Vec<Part>) -> isl::Result<()> {
    for function in function.intersect_domain(&part.instances.to_union()?)?.pw_affs()? {
        for (set, value) in function.pieces()? {
            let instances = part.instances.intersect(&set)?;
            if instances.is_empty()? {
                continue;
            }
            let text = value.to_string();
            let body = text.rsplit_once("-> [").map_or(text.as_str(), |(_, body)| body);
            let body = body.trim_end().trim_end_matches('}').trim_end().trim_end_matches(']').trim();
            let mut time = part.time.clone();
            time.push(super::text::component(body));
            next.push(Part { statement: part.statement, instances, time });
        }
    }
    Ok(())
}
