//! Schedules from directives: the order of the text, with each loop of which something is asked
//! changed as that says. Whether the result is legal is checked as that of any schedule.

use std::collections::BTreeSet;

use isl::UnionSet;
use loops::directive::{self, Wish};
use loops::visit::assigns;
use loops::{Expr, Function, Name, Stmt};

use crate::codegen::reducing;
use crate::dependence::Dependence;
use crate::fault::{self, Result};
use crate::model::Model;
use crate::optimize::Options;
use crate::scheduling::Fusion;
use crate::transform::mark::mark_band;
use crate::transform::{diamond, privatised, tile};
use crate::tree::{Band, Member, Node, Path, Tree};

/// What is asked of a loop.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Directive {
    /// How many loops are around it.
    depth: usize,
    /// The statements in it, by their labels.
    inside: BTreeSet<Name>,
    wishes: Vec<Wish>,
}

/// The function without marks of directives, and these; outer ones first.
pub fn taken(function: &Function) -> (Function, Vec<Directive>) {
    let mut found = Vec::new();
    let body = block(&function.body, 0, &mut found);
    (Function { body, ..function.clone() }, found)
}

fn block(body: &[Stmt], depth: usize, found: &mut Vec<Directive>) -> Vec<Stmt> {
    let mut out = Vec::new();
    for stmt in body {
        match directive::of(stmt) {
            Some((wishes, inner)) => {
                let mut inside = BTreeSet::new();
                inside.extend(assigns(inner).filter_map(|assign| assign.label.clone()));
                found.push(Directive { depth, inside, wishes });
                out.extend(block(inner, depth, found));
            }
            None => {
                let below = depth + usize::from(matches!(stmt, Stmt::Loop(_)));
                out.push(stmt.map(&mut Expr::clone, &mut |body| block(body, below, found)));
            }
        }
    }
    out
}

/// Whether nothing is asked but that loops are not fused.
pub(crate) fn only_unfused(directives: &[Directive]) -> bool {
    directives.iter().flat_map(|d| &d.wishes).all(|wish| *wish == Wish::NoFuse)
}

/// The options under which what is asked is done.
pub fn options(options: &Options, directives: &[Directive]) -> Options {
    let fusion = match only_unfused(directives) && !directives.is_empty() {
        true => Some(Fusion::None),
        false => options.fusion,
    };
    Options { fusion, ..options.clone() }
}

/// The schedule that directives ask for.
///
/// # Errors
/// `P0202` if what is asked does not fit the loop; those of the set library.
pub fn schedule(model: &Model, dependences: &[Dependence], directives: &[Directive]) -> Result<Tree> {
    let mut tree = Tree::original(model)?;
    // Inner loops first: the places of outer ones stay.
    for directive in directives.iter().rev() {
        let Some(path) = place(model, &tree, directive)? else {
            return Err(fault::edit(format!(
                "{} cannot be done: the loop is kept with all that is in it",
                words(&directive.wishes)
            ))
            .note("so is a loop with bounds that are data, or one that is left out"));
        };
        tree = tree.edit(&path, &mut |node| changed((model, dependences), node, &directive.wishes))?;
    }
    Ok(tree)
}

fn words(wishes: &[Wish]) -> String {
    let words: Vec<String> = wishes.iter().map(|wish| format!("`{wish}`")).collect();
    words.join(" ")
}

/// The band of the loop in the tree.
fn place(model: &Model, tree: &Tree, directive: &Directive) -> Result<Option<Path>> {
    for path in tree.find(&|node| matches!(node, Node::Band(_))) {
        let around = (0..path.len()).filter(|n| matches!(tree.at(&path[..*n]), Ok(Node::Band(_)))).count();
        let Node::Band(band) = tree.at(&path)? else { continue };
        if around == directive.depth && !labels(model, &band.members[0])?.is_disjoint(&directive.inside) {
            return Ok(Some(path));
        }
    }
    Ok(None)
}

/// The statements that a loop of a tree has, by their labels.
fn labels(model: &Model, member: &Member) -> Result<BTreeSet<Name>> {
    let domain = isl::UnionPwAff::read(&model.ctx, member.function.as_str())
        .and_then(|function| function.domain())
        .map_err(fault::library)?;
    let mut found = BTreeSet::new();
    for statement in &model.statements {
        let own = || -> isl::Result<bool> {
            let set = UnionSet::read(&model.ctx, &statement.domain.to_string())?;
            Ok(!set.intersect(&domain)?.is_empty()?)
        };
        if own().map_err(fault::library)? {
            found.insert(statement.label.clone());
        }
    }
    Ok(found)
}

/// The loop with what is asked of it.
fn changed((model, dependences): (&Model, &[Dependence]), node: Node, wishes: &[Wish]) -> Result<Node> {
    let sizes = wishes.iter().find_map(|wish| match wish {
        Wish::Tile(sizes) => Some(sizes.as_slice()),
        _ => None,
    });
    let swaps = wishes.contains(&Wish::Interchange);
    let wanted = sizes.map_or(1, <[i64]>::len).max(if swaps { 2 } else { 1 });
    let (mut members, child) = chain(node, wanted, wishes)?;
    let (mut over_tiles, mut own) = (None, None);
    for wish in wishes {
        let kind = match wish {
            Wish::Parallel => reducing("parallel", &reductions(model, dependences, &members[0].0)?),
            Wish::Vectorize => reducing("vector", &reductions(model, dependences, &members[0].0)?),
            Wish::Unroll(Some(count)) => format!("unroll {count}"),
            Wish::Unroll(None) => "unroll".to_owned(),
            Wish::Tile(_) | Wish::Interchange | Wish::NoFuse => continue,
        };
        let place = if sizes.is_some() && *wish == Wish::Parallel { &mut over_tiles } else { &mut own };
        if place.replace(kind).is_some() {
            return Err(fault::edit(format!("{} cannot be done of one loop", words(wishes))));
        }
    }
    if own.is_some() {
        members[0].1 = own;
    }
    if swaps {
        members.swap(0, 1);
    }
    let (members, marks): (Vec<Member>, Vec<Option<String>>) = members.into_iter().unzip();
    let permutable = members.len() > 1;
    let points = Band { members, permutable, isolate: None, child: Box::new(child) };
    let marked = |band: Band, marks: &[Option<String>]| {
        let marks: Vec<Option<&str>> = marks.iter().map(Option::as_deref).collect();
        mark_band(band, &marks)
    };
    let Some(sizes) = sizes else { return marked(points, &marks) };
    let mut tiles = tile::tile_band(&model.ctx, points.clone(), sizes)?;
    tiles.child = Box::new(marked(points, &marks)?);
    let mut outer = vec![None; tiles.members.len()];
    outer[0] = over_tiles;
    marked(tiles, &outer)
}

/// A loop with its mark.
type Marked = (Member, Option<String>);

/// A loop and those directly inside it, with their marks, and what is in the innermost one.
fn chain(node: Node, count: usize, wishes: &[Wish]) -> Result<(Vec<Marked>, Node)> {
    let mut members = Vec::new();
    let (mut node, mut mark) = (node, None);
    while members.len() < count {
        node = match node {
            Node::Mark { name, child } => {
                mark = Some(name);
                *child
            }
            Node::Band(mut band) if band.members.len() == 1 => {
                members.extend(band.members.pop().map(|member| (member, mark.take())));
                *band.child
            }
            _ => {
                let message = format!("{} needs {count} loops directly inside each other", words(wishes));
                return Err(
                    fault::edit(message).help("leave a size out, or put statements into the innermost loop")
                );
            }
        };
    }
    Ok((members, node))
}

/// What a loop has to privatise to run in parallel. If that is not enough, the check says so.
fn reductions(
    model: &Model,
    dependences: &[Dependence],
    member: &Member,
) -> Result<Vec<(loops::ReduceOp, Name)>> {
    let inside = labels(model, member)?;
    let carried = diamond::carried(model, dependences, member)?.unwrap_or_default();
    Ok(privatised(model, &|label| inside.contains(label), &carried).unwrap_or_default())
}
