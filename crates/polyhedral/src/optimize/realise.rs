//! From a mapped schedule to checked code: generated, staged where nests contract, and given back if the checker agrees.

use std::collections::BTreeSet;

use loops::{Function, Name};

use super::map::Mapper;
use super::{Made, Options, Report};
use crate::check;
use crate::codegen::{self, Generated, sink};
use crate::dependence::Dependence;
use crate::fault::{self, Result};
use crate::limits::Limits;
use crate::model::Model;
use crate::transform::contraction::{self, Shape, Split, Staged};
use crate::transform::jam;
use crate::tree::{Band, Node, Tree};
use crate::unstage;

/// Copies of a statement that are made to have full tiles apart.
const MOST_PIECES: usize = 4;

fn isolates(node: &Node) -> bool {
    matches!(node, Node::Band(Band { isolate: Some(_), .. })) || node.children().into_iter().any(isolates)
}

/// Maps a schedule to loops, generates code, and checks it.
pub(super) fn realise(
    (model, dependences): (&Model, &[Dependence]),
    function: &Function,
    tree: Tree,
    options: &Options,
    (split, limits): (Split, Limits),
    report: &mut Report,
) -> Result<(Made, Tree)> {
    // What turns out to be no contraction is mapped as other nests are.
    let mut refused = BTreeSet::new();
    loop {
        report.start_again();
        let mapped = map((model, dependences), &tree, options, limits, &refused, report)?;
        let Some(shape) = options.contraction else {
            let generated = generate_checked(model, function, &mapped, options, limits, report)?;
            return Ok((generated.into(), mapped));
        };
        match generate_staged(model, function, &mapped, options, (shape, split, limits), report)? {
            Stage::Made(made) => return Ok((*made, mapped)),
            Stage::Refused(more) => {
                let before = refused.len();
                refused.extend(more);
                if refused.len() == before {
                    return Err(fault::limit("attempts"));
                }
            }
        }
    }
}

/// The tree with its bands tiled and marked.
fn map(
    (model, dependences): (&Model, &[Dependence]),
    tree: &Tree,
    options: &Options,
    limits: Limits,
    refused: &BTreeSet<Name>,
    report: &mut Report,
) -> Result<Tree> {
    let mut mapper = Mapper { model, dependences, options, report, refused, sequential: false };
    let mut tree = Tree { root: mapper.node(tree.root.clone(), options.parallel)? };
    if isolates(&tree.root) {
        // Apart is for readers as well: where it takes many pieces, tiles stay together.
        let instances = codegen::generate(model, &tree, limits)?.instances;
        let pieces = |label: &Name| instances.values().filter(|instance| instance.original == *label).count();
        if model.statements.iter().any(|statement| pieces(&statement.label) > MOST_PIECES) {
            tree.root = tree.root.rewrite(&mut |node| {
                Ok(match node {
                    Node::Band(band) => Node::Band(Band { isolate: None, ..band }),
                    other => other,
                })
            })?;
        }
    }
    Ok(tree)
}

pub(super) fn generate_checked(
    model: &Model,
    function: &Function,
    tree: &Tree,
    options: &Options,
    limits: Limits,
    report: &mut Report,
) -> Result<Generated> {
    let generated = generate(model, tree, options, limits, report.tiled)?;
    match checked(function, &generated, options, limits, report) {
        Err(error) if fault::is_limit(&error) && options.jam > 1 => {
            // With a row at a time there is less to look at.
            report.notes.push(format!("several rows at once were given up: {}", error.message));
            let options = &Options { jam: 1, ..options.clone() };
            let generated = generate(model, tree, options, limits, report.tiled)?;
            checked(function, &generated, options, limits, report)?;
            Ok(generated)
        }
        result => result.map(|()| generated),
    }
}

/// The code of a tree, with declarations in their places and rows run at once.
pub(super) fn generate(
    model: &Model,
    tree: &Tree,
    options: &Options,
    limits: Limits,
    tiled: bool,
) -> Result<Generated> {
    // Code of tiles is made soon or not at all.
    let coding = if tiled { limits.part(2) } else { limits };
    let mut generated = codegen::generate(model, tree, coding)?;
    if options.private {
        generated = sink::sink(generated, model);
    }
    if options.schedule.is_none() && options.jam > 1 {
        generated = jam::jam(generated, options.jam);
    }
    Ok(generated)
}

pub(super) fn checked(
    function: &Function,
    generated: &Generated,
    options: &Options,
    limits: Limits,
    report: &mut Report,
) -> Result<()> {
    if options.check {
        report.checked = Some(check::function(function, generated, limits)?);
    }
    Ok(())
}

/// What became of the nests that are marked for register tiles.
enum Stage {
    Made(Box<Made>),
    /// These statements are no contractions.
    Refused(BTreeSet<Name>),
}

/// As [`generate_checked`], with register tiles for the nests that are marked: the staging is undone for the check.
fn generate_staged(
    model: &Model,
    function: &Function,
    tree: &Tree,
    options: &Options,
    (shape, split, limits): (Shape, Split, Limits),
    report: &mut Report,
) -> Result<Stage> {
    let generated = generate(model, tree, options, limits, report.tiled)?;
    let contraction::Stages { staged, refused } = contraction::stage(&generated, shape, split);
    if !refused.is_empty() {
        return Ok(Stage::Refused(refused));
    }
    let Some(staged) = staged else {
        checked(function, &generated, options, limits, report)?;
        return Ok(Stage::Made(Box::new(generated.into())));
    };
    let mut made = |staged: Staged| -> Result<Stage> {
        let unstaged = unstage::unstage(&staged)?;
        checked(function, &unstaged, options, limits, report)?;
        let generated = Generated { function: staged.function, instances: staged.instances };
        Ok(Stage::Made(Box::new(Made { generated, unpacked: Some(unstaged) })))
    };
    // What the loops hand to each other may not be of one iteration: then they stay apart.
    if let Some(Ok(made)) = staged.joined().map(&mut made) {
        return Ok(made);
    }
    match made(staged.simplified()) {
        Err(error) if !fault::is_limit(&error) => made(staged),
        result => result,
    }
}
