//! Finding a schedule: the set library's scheduler with our constraints, fusion choices, a bound on
//! work, and the original order where it stops.
//!
//! Regions of many statements are cut: see [`Options::cluster`]. Nothing here is trusted: the
//! generated code is checked.

mod chains;
mod extents;

use chains::Chains;
use extents::Extents;
use isl::{Flag, ScheduleConstraints, Set, UnionMap, UnionSet};
use loops::{Elem, Name};

use crate::dependence::{self, Dependence};
use crate::fault::{self, Result};
use crate::limits::Limits;
use crate::model::{Model, Statement};
use crate::tree::{Node, Tree};

/// Which statements share loops.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Fusion {
    /// None: one nest for each group of statements that depend on each other.
    None,
    /// Where it costs neither parallelism nor depth.
    #[default]
    Smart,
    /// As much as is legal.
    Max,
}

/// What the scheduler may do.
#[derive(Clone, Debug)]
pub struct Options {
    /// Which statements share loops.
    pub fusion: Fusion,
    /// Bound on the set library's work.
    pub limits: Limits,
    /// Operations at most where each is heavy: nests of three loops and more with large numbers in
    /// their extents. At 0.4 ms each, the default is 44 s; Gauss-Seidel sweeps by rows and columns
    /// (`adi`) take 75,000 of them, other kernels with such extents up to 101,000.
    pub heavy: u64,
    /// Regions with more statements keep their order at the outermost level; each part is scheduled
    /// by itself.
    pub cluster: usize,
    /// Whether statements of one loop that read the same array are to stay in one loop, though
    /// neither needs the other.
    pub beside: bool,
    /// Whether statements that hand values on in local arrays, within one iteration, are scheduled
    /// as one as those are that do so in scalars.
    pub arrays_chain: bool,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            fusion: Fusion::Smart,
            limits: Limits::from(1_000_000),
            heavy: 110_000,
            cluster: 24,
            beside: false,
            arrays_chain: false,
        }
    }
}

/// A schedule, and how it came about.
#[derive(Clone, Debug)]
pub struct Scheduled {
    /// The tree.
    pub tree: Tree,
    /// Whether the scheduler stopped at its limit or found no way, so that (part of) the tree has
    /// the original order.
    pub limited: bool,
}

/// A schedule for the model.
///
/// # Errors
/// Those of the set library outside the scheduler.
pub fn schedule(model: &Model, dependences: &[Dependence], options: &Options) -> Result<Scheduled> {
    let original = Tree::original(model)?;
    let clusters = clusters(model, options.cluster);
    if clusters.len() == 1 {
        return Ok(match part(model, dependences, None, options)? {
            Some(tree) => Scheduled { tree, limited: false },
            None => Scheduled { tree: original, limited: true },
        });
    }
    // The original tree begins with a sequence: each of its branches belongs to one cluster.
    let mut limited = false;
    let Node::Domain { domain, child } = &original.root else {
        return Ok(Scheduled { tree: original, limited: true });
    };
    let Node::Sequence(branches) = &**child else {
        return Ok(Scheduled { tree: original.clone(), limited: true });
    };
    let mut result = Vec::new();
    let mut next = 0;
    for cluster in &clusters {
        let own = &branches[next..next + cluster.branches];
        next += cluster.branches;
        let filter = read_union(model, own.iter().map(|b| b.filter.as_str()))?;
        let child = match part(model, dependences, Some(&filter), options)? {
            Some(Tree { root: Node::Domain { child, .. } }) => child,
            _ => {
                limited = true;
                Box::new(if own.len() == 1 { (*own[0].child).clone() } else { Node::Sequence(own.to_vec()) })
            }
        };
        let filter = crate::tree::SetText::new(filter.to_string());
        result.push(crate::tree::Branch { filter, child });
    }
    let root = Node::Domain { domain: domain.clone(), child: Box::new(Node::Sequence(result)) };
    Ok(Scheduled { tree: Tree { root }, limited })
}

fn read_union<'a>(model: &Model, texts: impl Iterator<Item = &'a str>) -> Result<UnionSet> {
    let mut union = UnionSet::empty(&model.ctx).map_err(fault::library)?;
    for text in texts {
        let set = UnionSet::read(&model.ctx, text).and_then(|set| union.union(&set));
        union = set.map_err(fault::library)?;
    }
    Ok(union)
}

struct Cluster {
    /// Branches of the original outermost sequence.
    branches: usize,
}

/// Cuts the outermost sequence of the text into runs of at most `size` statements.
fn clusters(model: &Model, size: usize) -> Vec<Cluster> {
    let mut counts: Vec<usize> = Vec::new();
    let mut last = None;
    for statement in &model.statements {
        if last != Some(statement.position[0]) {
            counts.push(0);
            last = Some(statement.position[0]);
        }
        *counts.last_mut().expect("just pushed") += 1;
    }
    let mut clusters: Vec<(usize, usize)> = Vec::new();
    for count in counts {
        match clusters.last_mut() {
            Some((branches, statements)) if *statements + count <= size => {
                *branches += 1;
                *statements += count;
            }
            _ => clusters.push((1, count)),
        }
    }
    clusters.into_iter().map(|(branches, _)| Cluster { branches }).collect()
}

/// From more dependences than this, of nests of three loops or more, those that follow from others
/// are left out: there the scheduler's work grows faster than that of finding them.
const MANY: usize = 80;

/// Operations of the set library for one run of the scheduler. The kernels of `tests/c/kernels`
/// take at most 450,000, which is a fifth of a second; the most that pays among those that are
/// fuzzed is 325,000, in 2.4 s. At 550,000 the chain of 40 statements on its way to the cores
/// begins to take 6 ms an operation.
const OPERATIONS: u64 = 500_000;

/// Whether there is a large number in the text of a relation.
fn has_large(text: &str) -> bool {
    let words = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_' && c != '\'');
    // A factor stands before its variable: `32i`.
    let numbers = words.map(|word| word.split(|c: char| !c.is_ascii_digit()).next().unwrap_or_default());
    numbers
        .filter(|digits| !digits.is_empty())
        .any(|digits| digits.parse().map_or(true, |n: i64| n >= extents::LARGE))
}

/// Whether a statement is a sum (or minimum, ...) of integers, which compilers make on vectors
/// where it is alone in its loop.
fn counts(model: &Model, statement: &Statement) -> bool {
    let target = &statement.assign.target;
    let params = model.function.params.iter().map(|p| (&p.name, &p.elem));
    let mut arrays = params.chain(model.locals.iter().map(|l| (&l.name, &l.elem)));
    let whole = |elem: &Elem| matches!(elem, Elem::Scalar(scalar) if !scalar.is_float());
    let still = statement.loops.last().is_some_and(|l| target.indices.iter().all(|e| !e.mentions(&l.var)));
    still
        && statement.assign.update.is_some_and(|update| !update.reorder)
        && arrays.any(|(name, elem)| *name == target.array && whole(elem))
}

/// Pairs of instances of neighbouring statements in the same iterations of the same loops that read
/// a common array.
fn beside(model: &Model) -> Result<UnionMap> {
    let reads = |s: &Statement, array: &Name| s.accesses.iter().any(|t| !t.write && t.array == *array);
    let mut pairs = UnionMap::empty(&model.ctx).map_err(fault::library)?;
    for pair in model.statements.windows(2) {
        let [a, b] = pair else { continue };
        let shared = dependence::shared_loops(a, b);
        let common = a.accesses.iter().any(|touch| {
            !touch.write && !model.locals.iter().any(|l| l.name == touch.array) && reads(b, &touch.array)
        });
        let alone = [a, b].into_iter().any(|s| counts(model, s));
        if shared == 0 || shared != a.loops.len() || shared != b.loops.len() || !common || alone {
            continue;
        }
        let same = || -> isl::Result<UnionMap> {
            let mut same = isl::Map::universe(&a.domain.space()?.map_to(&b.domain.space()?)?)?;
            for level in 0..shared {
                same = same.equate((isl::Dim::In, level), (isl::Dim::Out, level))?;
            }
            pairs.union(&same.to_union()?)
        };
        pairs = same().map_err(fault::library)?;
    }
    Ok(pairs)
}

/// Runs the scheduler on the instances in `filter`, or on all. `None` if it stopped at its limit,
/// or found no schedule.
fn part(
    model: &Model,
    dependences: &[Dependence],
    filter: Option<&UnionSet>,
    options: &Options,
) -> Result<Option<Tree>> {
    let mut domain = model.domain()?;
    if let Some(filter) = filter {
        domain = domain.intersect(filter).map_err(fault::library)?;
    }
    let restrict = |map: UnionMap| -> Result<UnionMap> {
        map.intersect_domain(&domain).and_then(|map| map.intersect_range(&domain)).map_err(fault::library)
    };
    let deep = model.statements.iter().any(|statement| statement.loops.len() >= 3);
    let immediate = match deep && dependences.len() > MANY {
        true => dependence::immediate(model, dependences, options.limits),
        false => None,
    };
    let chains = Chains::of(model, dependences, options.arrays_chain)?;
    let storage = |d: &Dependence| chains.as_ref().is_some_and(|chains| chains.is_storage(d));
    let orders = |d: &&Dependence| d.reduction.is_none() && !storage(d);
    let (validity, all) = match immediate {
        Some(immediate) => (restrict(immediate.clone())?, restrict(immediate)?),
        None => (
            restrict(dependence::union(model, dependences.iter().filter(orders))?)?,
            restrict(dependence::union(model, dependences.iter().filter(|d| !d.private))?)?,
        ),
    };
    let mut proximity = restrict(dependence::union(model, &dependence::nearest(dependences)?)?)?;
    if options.beside {
        proximity = proximity.union(&restrict(beside(model)?)?).map_err(fault::library)?;
    }
    let ctx = &model.ctx;
    let folded = |map: UnionMap| -> Result<UnionMap> {
        chains.as_ref().map_or(Ok(map.clone()), |chains| chains.folded(&map)).map_err(fault::library)
    };
    let (validity, all, proximity) = (folded(validity)?, folded(all)?, folded(proximity)?);
    if let Some(chains) = &chains {
        domain = chains.folded_domain(&domain).map_err(fault::library)?;
    }
    let extents = Extents::of(&domain, &[&validity, &all, &proximity]);
    let lifted = || -> isl::Result<Seen> {
        let plain = Seen { domain: domain.clone(), context: model.context.clone(), validity, all, proximity };
        extents.as_ref().map_or(Ok(plain.clone()), |extents| plain.lifted(extents))
    };
    let seen = lifted().map_err(fault::library)?;
    let heavy = deep && has_large(&format!("{} {}", seen.validity, seen.proximity));
    let limits = if heavy { options.limits.at_most(options.heavy) } else { options.limits };
    // Whatever stops the scheduler, the original order is there.
    let run = || seen.schedule(options.fusion);
    let Ok(schedule) = limits.at_most(OPERATIONS).run(ctx, run) else { return Ok(None) };
    let mut tree = Tree::from_isl(&schedule)?;
    if let Some(extents) = &extents {
        tree = extents.lowered(tree, &domain)?;
    }
    chains.as_ref().map_or(Ok(tree.clone()), |chains| chains.unfolded(tree)).map(Some)
}

/// What the set library's scheduler sees.
#[derive(Clone)]
struct Seen {
    domain: UnionSet,
    context: Set,
    validity: UnionMap,
    all: UnionMap,
    proximity: UnionMap,
}

impl Seen {
    fn lifted(&self, extents: &Extents) -> isl::Result<Seen> {
        Ok(Seen {
            domain: extents.domain(&self.domain)?,
            context: extents.context(&self.context)?,
            validity: extents.relation(&self.validity)?,
            all: extents.relation(&self.all)?,
            proximity: extents.relation(&self.proximity)?,
        })
    }

    fn schedule(&self, fusion: Fusion) -> isl::Result<isl::Schedule> {
        let ctx = self.domain.ctx();
        ctx.set(Flag::ScheduleSerializeSccs, i32::from(fusion == Fusion::None))?;
        ctx.set(Flag::ScheduleMaximizeCoincidence, i32::from(fusion != Fusion::Max))?;
        ctx.set(Flag::ScheduleMaximizeBandDepth, i32::from(fusion == Fusion::Smart))?;
        ctx.set(Flag::ScheduleWholeComponent, i32::from(fusion == Fusion::Max))?;
        ctx.set(Flag::ScheduleTreatCoalescing, 1)?;
        ScheduleConstraints::on_domain(&self.domain.intersect_params(&self.context)?)?
            .context(&self.context)?
            .validity(&self.validity)?
            .coincidence(&self.all)?
            .proximity(&self.proximity)?
            .compute()
    }
}
