//! The pipeline: model, dependences, schedule, tiles, parallel and vector loops, code, check.

use std::collections::{BTreeMap, BTreeSet};

use loops::{Function, Name};

use crate::check::{self, Checked};
use crate::codegen::{self, Generated, Instance};
use crate::dependence::{self, Dependence};
use crate::fault::{self, Result};
use crate::locality::{self, Caches};
use crate::model::Model;
use crate::scheduling::{self, Fusion};
use crate::transform::contraction::{self, Shape, Split};
use crate::transform::{Request, Shaped, diamond, rows};
use crate::tree::{Band, Branch, Node, Tree};
use crate::{transform, unstage};

/// How tile sizes are chosen.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Tiling {
    /// No tiles.
    None,
    /// These sizes, outermost member first; the last one holds for further members.
    Fixed(Vec<i64>),
    /// By the caches.
    Caches(Caches),
}

/// What the pipeline does.
#[derive(Clone, Debug)]
pub struct Options {
    /// The scheduler's choices; `None` chooses fusion by the program.
    pub fusion: Option<Fusion>,
    /// Statements in one run of the scheduler.
    pub cluster: usize,
    /// A schedule of the user's instead of the scheduler's: taken as it is, without tiles or marks of ours.
    pub schedule: Option<Tree>,
    /// Tile sizes.
    pub tiling: Tiling,
    /// Whether outer loops are run in parallel.
    pub parallel: bool,
    /// Whether innermost loops are marked for vectors.
    pub vector: bool,
    /// Bound on the set library's operations, for each stage.
    pub operations: u64,
    /// Whether the result is checked.
    pub check: bool,
    /// Register tiles and packed operands for contractions; `None` tiles them as other nests.
    pub contraction: Option<Shape>,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            fusion: None,
            cluster: scheduling::Options::default().cluster,
            schedule: None,
            tiling: Tiling::Caches(Caches::default()),
            parallel: true,
            vector: true,
            operations: scheduling::Options::default().operations,
            check: true,
            contraction: Some(Shape::default()),
        }
    }
}

/// The result of the pipeline.
#[derive(Clone, Debug)]
pub struct Optimized {
    /// The function.
    pub function: Function,
    /// Where its statements come from.
    pub instances: BTreeMap<Name, Instance>,
    /// The schedule that it follows.
    pub tree: Tree,
    /// What was done.
    pub report: Report,
}

/// What was done, for people.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Report {
    /// Statements of the model.
    pub statements: usize,
    /// Dependences given to the scheduler.
    pub dependences: usize,
    /// Bands, with their members, tile sizes and parallel loops, one line each.
    pub bands: Vec<String>,
    /// Where something was given up, and why.
    pub notes: Vec<String>,
    /// What the checker looked at; none if it was not run.
    pub checked: Option<Checked>,
}

/// Reschedules, tiles and parallelises a function.
///
/// # Errors
/// Those of all stages. A result that fails its check is not returned.
pub fn optimize(function: &Function, options: &Options) -> Result<Optimized> {
    // A scalar of each iteration keeps nests together that contract: with elements of its own they come apart, if that pays.
    if options.schedule.is_none()
        && options.contraction.is_some()
        && let Some(expanded) = transform::expand::expand(function)
        && let Ok(mut result) = optimize_as_it_is(&expanded, options)
        && result.report.bands.iter().any(|line| line.ends_with("contraction"))
    {
        result.report.notes.push("local scalars have an element for each iteration".to_owned());
        return Ok(result);
    }
    optimize_as_it_is(function, options)
}

fn optimize_as_it_is(function: &Function, options: &Options) -> Result<Optimized> {
    let ctx = isl::Ctx::new();
    let model = ctx.limited(options.operations, || Model::extract_in(&ctx, function))?;
    let mut report = Report { statements: model.statements.len(), ..Report::default() };
    let dependences = ctx.limited(options.operations, || dependence::memory(&model))?;
    report.dependences = dependences.len();
    if let Some(tree) = &options.schedule {
        // Checked first as a tree: what is wrong is then said in terms of what the user wrote. Nothing is added to it.
        ctx.limited(options.operations, || check::tree(&model, &dependences, tree))?;
        let generated = generate_checked(&model, function, tree, options, &mut report)?;
        return Ok(finish(generated, tree.clone(), report));
    }
    if let Some(result) = special(&model, function, &dependences, options, &mut report) {
        return Ok(result);
    }
    let fusion = options.fusion.unwrap_or_else(|| choose_fusion(&model));
    let scheduling = scheduling::Options { fusion, operations: options.operations, cluster: options.cluster };
    let scheduled = scheduling::schedule(&model, &dependences, &scheduling)?;
    if scheduled.limited {
        let note = "the scheduler stopped without a schedule: the original order is kept there";
        report.notes.push(note.to_owned());
    }
    let tree = scheduled.tree;
    // Where a stage reaches its limit, less is tried: first without tiles, then the order of the text.
    if options.contraction.is_some() {
        for split in [Split::Rows, Split::Columns] {
            match realise(&model, function, tree.clone(), options, split, &mut report) {
                Ok((generated, tree)) => return Ok(finish(generated, tree, report)),
                Err(error) => {
                    let what = if split == Split::Rows {
                        "parallel rows of register tiles"
                    } else {
                        "register tiles"
                    };
                    report.notes.push(format!("{what} were given up: {}", error.message));
                }
            }
        }
    }
    let options = &Options { contraction: None, ..options.clone() };
    let plain = Options { tiling: Tiling::None, ..options.clone() };
    let mut attempts = vec![(tree.clone(), options)];
    if options.tiling != Tiling::None {
        attempts.push((tree, &plain));
    }
    attempts.push((Tree::original(&model)?, &plain));
    let last = attempts.len() - 1;
    for (k, (tree, options)) in attempts.into_iter().enumerate() {
        match realise(&model, function, tree, options, Split::Rows, &mut report) {
            Err(error) if k < last && fault::is_limit(&error) => {
                let given_up = if k + 1 == last { "the new order was" } else { "tiles were" };
                report.notes.push(format!("{given_up} given up: {}", error.message));
            }
            result => return result.map(|(generated, tree)| finish(generated, tree, report)),
        }
    }
    Err(fault::limit("attempts"))
}

/// Shapes of programs for which there is a better way than the scheduler's. What does not work out is noted, and the general way is taken.
fn special(
    model: &Model,
    function: &Function,
    dependences: &[Dependence],
    options: &Options,
    report: &mut Report,
) -> Option<Optimized> {
    let (width, caches) = match &options.tiling {
        Tiling::None => return None,
        Tiling::Fixed(sizes) => (Some(*sizes.first()?), Caches::default()),
        Tiling::Caches(caches) => (None, *caches),
    };
    let request = Request { width, caches, parallel: options.parallel, vector: options.vector };
    let ways: [(&str, Way); 2] = [("diamond tiles", diamond::diamonds), ("strips of rows", rows::strips)];
    for (what, way) in ways {
        let tried =
            model.ctx.limited(options.operations, || way(model, dependences, request)).and_then(|found| {
                let Some(shaped) = found else { return Ok(None) };
                let generated = generate_checked(model, function, &shaped.tree, options, report)?;
                Ok(Some((generated, shaped)))
            });
        match tried {
            Ok(Some((generated, shaped))) => {
                report.bands.push(shaped.line);
                return Some(finish(generated, shaped.tree, std::mem::take(report)));
            }
            Ok(None) => {}
            Err(error) => report.notes.push(format!("{what} were given up: {}", error.message)),
        }
    }
    None
}

/// A way to look for a shape and to schedule it.
type Way = fn(&Model, &[Dependence], Request) -> Result<Option<Shaped>>;

fn finish(generated: Generated, tree: Tree, report: Report) -> Optimized {
    Optimized { function: generated.function, instances: generated.instances, tree, report }
}

/// Maps a schedule to loops, generates code, and checks it.
fn realise(
    model: &Model,
    function: &Function,
    tree: Tree,
    options: &Options,
    split: Split,
    report: &mut Report,
) -> Result<(Generated, Tree)> {
    report.bands.clear();
    let mut mapper = Mapper { model, options, report };
    let tree = Tree { root: mapper.node(tree.root, options.parallel)? };
    let generated = match options.contraction {
        Some(shape) => generate_staged(model, function, &tree, options, (shape, split), report)?,
        None => generate_checked(model, function, &tree, options, report)?,
    };
    Ok((generated, tree))
}

fn generate_checked(
    model: &Model,
    function: &Function,
    tree: &Tree,
    options: &Options,
    report: &mut Report,
) -> Result<Generated> {
    let generated = codegen::generate(model, tree, options.operations)?;
    if options.check {
        report.checked = Some(check::function(function, &generated, options.operations)?);
    }
    Ok(generated)
}

/// As [`generate_checked`], with register tiles for the nests that are marked: the staging is undone for the check.
fn generate_staged(
    model: &Model,
    function: &Function,
    tree: &Tree,
    options: &Options,
    (shape, split): (Shape, Split),
    report: &mut Report,
) -> Result<Generated> {
    let generated = codegen::generate(model, tree, options.operations)?;
    let Some(mut staged) = contraction::stage(&generated, shape, split) else {
        return generate_checked(model, function, tree, options, report);
    };
    let simple = staged.simplified();
    let unstaged = match unstage::unstage(&simple) {
        Ok(unstaged) => {
            staged = simple;
            unstaged
        }
        Err(_) => unstage::unstage(&staged)?,
    };
    if options.check {
        report.checked = Some(check::function(function, &unstaged, options.operations)?);
    }
    Ok(Generated { function: staged.function, instances: staged.instances })
}

/// Statements that reuse data (more loops than subscripts) want nests of their own; the others want to share one pass.
fn choose_fusion(model: &Model) -> Fusion {
    let reuses = model.statements.iter().any(|statement| {
        let rank =
            locality::subscripts(statement).iter().map(|(_, indices)| indices.len()).max().unwrap_or(0);
        statement.loops.len() > rank && statement.loops.len() >= 3
    });
    if reuses { Fusion::None } else { Fusion::Smart }
}

struct Mapper<'a> {
    model: &'a Model,
    options: &'a Options,
    report: &'a mut Report,
}

impl Mapper<'_> {
    /// Maps the outermost bands; `parallel` says whether a loop may still become parallel.
    fn node(&mut self, node: Node, parallel: bool) -> Result<Node> {
        let child = |mapper: &mut Self, child: Box<Node>| -> Result<Box<Node>> {
            Ok(Box::new(mapper.node(*child, parallel)?))
        };
        Ok(match node {
            Node::Band(band) => self.band(band, parallel)?,
            Node::Sequence(branches) => Node::Sequence(self.branches(branches, parallel)?),
            Node::Set(branches) => Node::Set(self.branches(branches, parallel)?),
            Node::Filter(Branch { filter, child: c }) => {
                Node::Filter(Branch { filter, child: child(self, c)? })
            }
            Node::Domain { domain, child: c } => Node::Domain { domain, child: child(self, c)? },
            Node::Context { context, child: c } => Node::Context { context, child: child(self, c)? },
            Node::Guard { guard, child: c } => Node::Guard { guard, child: child(self, c)? },
            Node::Mark { name, child: c } => Node::Mark { name, child: child(self, c)? },
            Node::Extension { extension, child: c } => Node::Extension { extension, child: child(self, c)? },
            Node::Expansion { contraction, expansion, child: c } => {
                Node::Expansion { contraction, expansion, child: child(self, c)? }
            }
            Node::Leaf => Node::Leaf,
        })
    }

    fn branches(&mut self, branches: Vec<Branch>, parallel: bool) -> Result<Vec<Branch>> {
        branches
            .into_iter()
            .map(|Branch { filter, child }| {
                Ok(Branch { filter, child: Box::new(self.node(*child, parallel)?) })
            })
            .collect()
    }

    /// Whether a band is one statement's that updates an element in more loops than the element has.
    fn contracts(&self, band: &Band) -> Result<bool> {
        if !band.permutable || band.members.len() < 3 {
            return Ok(false);
        }
        let mut iterators = BTreeMap::new();
        for member in &band.members {
            for (tuple, position) in locality::driven(self.model, member)? {
                iterators.entry(tuple).or_insert_with(BTreeSet::new).insert(position);
            }
        }
        let [(tuple, positions)] = iterators.iter().collect::<Vec<_>>()[..] else { return Ok(false) };
        let Some(statement) = self.model.by_tuple(tuple) else { return Ok(false) };
        let target: BTreeSet<Name> = statement.assign.target.indices.iter().flat_map(|e| e.vars()).collect();
        let contracted = |k: &usize| !target.contains(&statement.loops[*k].var);
        Ok(statement.assign.update.is_some() && positions.iter().any(contracted))
    }

    fn band(&mut self, mut band: Band, parallel: bool) -> Result<Node> {
        let innermost = !has_band(&band.child);
        let n = band.members.len();
        if self.options.contraction.is_some() && innermost && parallel && self.contracts(&band)? {
            self.report.bands.push(format!("{n} loops, permutable, contraction"));
            return Ok(Node::Mark { name: contraction::MARK.to_owned(), child: Box::new(Node::Band(band)) });
        }
        // The outermost loop should be parallel: any order of a permutable band is legal.
        if parallel
            && band.permutable
            && let Some(first) = band.members.iter().position(|m| m.coincident)
        {
            let member = band.members.remove(first);
            band.members.insert(0, member);
        }
        let outer_parallel = parallel && band.members[0].coincident;
        if !innermost {
            let child = std::mem::replace(&mut band.child, Box::new(Node::Leaf));
            band.child = Box::new(self.node(*child, parallel && !outer_parallel)?);
        }
        let sizes = match &self.options.tiling {
            Tiling::None => None,
            _ if n < 2 || !band.permutable => None,
            Tiling::Fixed(sizes) => {
                let last = sizes.last().copied();
                last.map(|last| (0..n).map(|k| sizes.get(k).copied().unwrap_or(last)).collect::<Vec<_>>())
            }
            Tiling::Caches(caches) => Some(locality::tile_sizes(self.model, &band, caches.l2)?),
        };
        let line = format!(
            "{n} loops{}{}{}",
            if band.permutable { ", permutable" } else { "" },
            if outer_parallel { ", outermost parallel" } else { "" },
            sizes.as_ref().map_or(String::new(), |s| format!(", tiles {s:?}"))
        );
        self.report.bands.push(line);
        let tiled = match sizes {
            Some(sizes) => Some(transform::tile::tile_band(&self.model.ctx, band.clone(), &sizes)?),
            None => None,
        };
        // The point loops: the one along memory goes innermost.
        let mut points = band;
        let mut marks = vec![None; n];
        if innermost && self.options.vector {
            let mut best: Option<((i64, bool), usize)> = None;
            for (k, member) in points.members.iter().enumerate() {
                let score = locality::vector_score(self.model, member)?;
                // An untiled parallel loop stays outermost.
                let free = !(k == 0 && outer_parallel && tiled.is_none());
                let rank = (score, member.coincident);
                if free && best.is_none_or(|(old, _)| rank >= old) {
                    best = Some((rank, k));
                }
            }
            if let Some(((score, coincident), k)) = best
                && (points.permutable || k + 1 == n)
            {
                let member = points.members.remove(k);
                points.members.push(member);
                marks[n - 1] = (coincident && score > 0).then_some("vector");
            }
        }
        match tiled {
            None => {
                if outer_parallel {
                    marks[0] = Some("parallel");
                }
                transform::mark::mark_band(points, &marks)
            }
            Some(mut tiles) => {
                tiles.child = Box::new(transform::mark::mark_band(points, &marks)?);
                let mut marks = vec![None; n];
                if outer_parallel {
                    marks[0] = Some("parallel");
                }
                transform::mark::mark_band(tiles, &marks)
            }
        }
    }
}

fn has_band(node: &Node) -> bool {
    matches!(node, Node::Band(_)) || node.children().into_iter().any(has_band)
}
