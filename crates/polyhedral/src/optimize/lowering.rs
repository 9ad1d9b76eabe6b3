//! From a mapped schedule to checked code: generated, staged where nests contract, and given back
//! if the checker agrees.

use std::collections::BTreeSet;

use loops::{Function, Name};

use passes::{Applied, Step};

use super::loop_mapping::Mapper;
use super::schedule::{self, Code, Form, Loops};
use super::{Options, Report, Tiling};
use crate::check;
use crate::codegen::{self, Generated, declaration_sinking, text_order};
use crate::dependence::Dependence;
use crate::fault::{self, Result};
use crate::limits::Limits;
use crate::model::Model;
use crate::packing_validation;
use crate::transform::contraction::{self, Shape, Split, Staged};
use crate::transform::unroll_and_jam;
use crate::tree::{Band, Node, Tree};

/// Copies of a statement that are made to have full tiles apart.
const MOST_PIECES: usize = 4;

/// What code generation has made.
pub(super) struct Made {
    /// The function.
    pub generated: Generated,
    /// The same without packing, if it packs.
    pub unpacked: Option<Generated>,
    /// How it was made.
    pub code: Code,
    /// The passes that made it, with the function after each.
    pub applied: Vec<Applied>,
}

impl Made {
    fn new(generated: Generated, step: Step, code: Code) -> Made {
        let applied = vec![Applied { pass: step.name, function: generated.function.clone() }];
        Made { generated, unpacked: None, code, applied }
    }

    /// The loops of the text, as they are marked.
    pub fn written(generated: Generated, before: &Function) -> Made {
        let code = Code { loops: Loops::Written, private: false, ..Code::USUAL };
        let made = Made::new(generated, schedule::PARALLELIZATION, code);
        let unchanged = made.generated.function.body == before.body;
        Made { applied: if unchanged { Vec::new() } else { made.applied }, ..made }
    }

    /// After another pass, if that changes the function.
    pub fn then(mut self, step: Step, generated: Generated) -> Made {
        if generated.function != self.generated.function {
            self.applied.push(Applied { pass: step.name, function: generated.function.clone() });
        }
        Made { generated, ..self }
    }

    /// With `rows` rows at once.
    fn jammed(self, rows: i64) -> Made {
        if rows <= 1 {
            return self;
        }
        let generated = unroll_and_jam::jam(self.generated.clone(), rows);
        let made = self.then(schedule::UNROLL_AND_JAM, generated);
        Made { code: Code { jam: rows, ..made.code }, ..made }
    }
}

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
        let (mapped, code) = map((model, dependences), &tree, options, limits, &refused, report)?;
        let Some(shape) = options.contraction else {
            let made = made_checked((model, code), function, &mapped, options, limits, report)?;
            return Ok((made, mapped));
        };
        let made = generate((model, code), &mapped, options, limits, report.tiled)?;
        match stage(made, function, options, (shape, split, None, limits), report)? {
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

/// The code of a tree as it is said.
pub(super) fn by_code(
    model: &Model,
    function: &Function,
    tree: &Tree,
    (code, options): (Code, &Options),
    limits: Limits,
    report: &mut Report,
) -> Result<Made> {
    if code.loops == Loops::Written {
        schedule::has_order(tree, &Tree::original(model)?)?;
        return text(model, function, tree, options, limits, report);
    }
    let Some((split, form)) = code.tiles else {
        return generate_checked(model, function, tree, options, limits, report);
    };
    let shape = options.contraction.unwrap_or_default();
    let made = generate((model, None), tree, options, limits, report.tiled)?;
    match stage(made, function, options, (shape, split, Some(form), limits), report)? {
        Stage::Made(made) => Ok(*made),
        Stage::Refused(labels) => {
            let labels: Vec<&str> = labels.iter().map(Name::as_str).collect();
            let message =
                format!("`register-tiling` cannot tile {}: it is no contraction", labels.join(", "));
            Err(fault::edit(message).help("take the mark `contraction` away from its band"))
        }
    }
}

/// The loops of the text with the kinds that the tree says, and rows at once.
pub(super) fn text(
    model: &Model,
    function: &Function,
    tree: &Tree,
    options: &Options,
    limits: Limits,
    report: &mut Report,
) -> Result<Made> {
    let made = Made::written(text_order::as_written(model, tree)?, &model.function).jammed(options.jam);
    checked(function, &made.generated, options, limits, report)?;
    Ok(made)
}

/// The tree with its bands tiled and marked, with its code if that was made to find it.
fn map(
    (model, dependences): (&Model, &[Dependence]),
    tree: &Tree,
    options: &Options,
    limits: Limits,
    refused: &BTreeSet<Name>,
    report: &mut Report,
) -> Result<(Tree, Option<Generated>)> {
    let mut mapper = Mapper { model, dependences, options, report, refused, sequential: false };
    let mut tree = Tree { root: mapper.node(tree.root.clone(), options.parallel)? };
    if !isolates(&tree.root) {
        return Ok((tree, None));
    }
    // Apart is for readers as well: where it takes many pieces, tiles stay together. So they do
    // where that is not found out soon: of the kernels and nests under `tests/c`, those whose full
    // tiles stay apart take at most a fifth of the operations of a stage.
    let soon = limits.part(4);
    let apart = codegen::generate(model, &tree, soon);
    let late = matches!(&apart, Err(error) if fault::is_limit(error));
    match apart {
        Ok(code) => {
            let pieces = |label: &Name| code.instances.values().filter(|one| one.original == *label).count();
            if !model.statements.iter().any(|statement| pieces(&statement.label) > MOST_PIECES) {
                return Ok((tree, Some(code)));
            }
        }
        Err(_) if late => {}
        Err(error) => return Err(error),
    }
    tree.root = tree.root.rewrite(&mut |node| {
        Ok(match node {
            Node::Band(band) => Node::Band(Band { isolate: None, ..band }),
            other => other,
        })
    })?;
    // What took long apart is not waited for as long again.
    let code = if late { Some(codegen::generate(model, &tree, soon)?) } else { None };
    Ok((tree, code))
}

pub(super) fn generate_checked(
    model: &Model,
    function: &Function,
    tree: &Tree,
    options: &Options,
    limits: Limits,
    report: &mut Report,
) -> Result<Made> {
    made_checked((model, None), function, tree, options, limits, report)
}

/// As [`generate_checked`], with the code of the tree if that was made already.
fn made_checked(
    (model, code): (&Model, Option<Generated>),
    function: &Function,
    tree: &Tree,
    options: &Options,
    limits: Limits,
    report: &mut Report,
) -> Result<Made> {
    let made = generate((model, code), tree, options, limits, report.tiled)?;
    match checked(function, &made.generated, options, limits, report) {
        Err(error) if fault::is_limit(&error) && options.jam > 1 => {
            // With a row at a time there is less to look at.
            report.notes.push(format!("several rows at once were given up: {}", error.message));
            let options = &Options { jam: 1, ..options.clone() };
            let made = generate((model, None), tree, options, limits, report.tiled)?;
            checked(function, &made.generated, options, limits, report)?;
            Ok(made)
        }
        result => result.map(|()| made),
    }
}

/// The code of a tree, perhaps made already, with declarations in their places and rows run at
/// once.
fn generate(
    (model, code): (&Model, Option<Generated>),
    tree: &Tree,
    options: &Options,
    limits: Limits,
    tiled: bool,
) -> Result<Made> {
    // Code of tiles is made soon or not at all: that of the kernels under `tests/c` takes at most
    // 230,000 operations, or more than half of those of a stage. Who names sizes waits longer.
    let coding = match options.tiling {
        _ if !tiled => limits,
        Tiling::Fixed(_) => limits.part(2),
        Tiling::None | Tiling::Caches(_) => limits.part(4),
    };
    let mut generated = match code {
        Some(code) => code,
        None => codegen::generate(model, tree, coding)?,
    };
    if options.private {
        generated = declaration_sinking::sink(generated, model);
    }
    let code = Code { private: options.private, ..Code::USUAL };
    Ok(Made::new(generated, schedule::AFFINE_SCHEDULING, code).jammed(options.jam))
}

fn checked(
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

/// Register tiles for the nests that are marked; the staging is undone for the check. The first
/// form that passes the check is taken, or the one that is asked for.
fn stage(
    made: Made,
    function: &Function,
    options: &Options,
    (shape, split, form, limits): (Shape, Split, Option<Form>, Limits),
    report: &mut Report,
) -> Result<Stage> {
    let contraction::Stages { staged, refused } = contraction::stage(&made.generated, shape, split);
    if !refused.is_empty() {
        return Ok(Stage::Refused(refused));
    }
    let Some(staged) = staged else {
        checked(function, &made.generated, options, limits, report)?;
        return Ok(Stage::Made(Box::new(made)));
    };
    let Made { code, applied, .. } = made;
    let mut tiled = |staged: Staged, form: Form| -> Result<Made> {
        let unstaged = packing_validation::unstage(&staged)?;
        checked(function, &unstaged, options, limits, report)?;
        let mut generated = Generated { function: staged.function, instances: staged.instances };
        let mut applied = applied.clone();
        applied.push(Applied { pass: schedule::REGISTER_TILING.name, function: generated.function.clone() });
        let fills = &passes::INVARIANT_FILLS;
        if let Some(function) = fills.run(&generated.function) {
            applied.push(Applied { pass: fills.name(), function: function.clone() });
            generated.function = function;
        }
        let code = Code { tiles: Some((split, form)), ..code };
        Ok(Made { generated, unpacked: Some(unstaged), code, applied })
    };
    let done = |made: Made| Stage::Made(Box::new(made));
    if let Some(form) = form {
        let staged = match form {
            Form::Joined => staged.joined().ok_or_else(|| fault::edit("no loops can be joined"))?,
            Form::Simplified => staged.simplified(),
            Form::Plain => staged,
        };
        return tiled(staged, form).map(done);
    }
    // What the loops hand to each other may not be of one iteration: then they stay apart.
    if let Some(Ok(made)) = staged.joined().map(|joined| tiled(joined, Form::Joined)) {
        return Ok(done(made));
    }
    match tiled(staged.simplified(), Form::Simplified) {
        Err(error) if !fault::is_limit(&error) => tiled(staged, Form::Plain).map(done),
        result => result.map(done),
    }
}
