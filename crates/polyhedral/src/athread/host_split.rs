//! The heterogeneous split (section 4.1): what becomes a kernel, and what stays on the host.
//!
//! A kernel is the outermost band with parallel loops. As few spawns as possible: neighbours whose
//! dependences stay inside one iteration of their parallel loops become one kernel, so that what
//! one computes is still in local memory for the next.

mod counts;

use isl::{UnionMap, UnionPwAff, UnionSet};

pub(super) use self::counts::{
    everything_parallel, has_kernel, least_parallel, most_parallel, on_host, sequential, weight,
};
use super::data_mapping::Group;
use super::fusion;
use super::panel::Panel;
use crate::dependence::Dependence;
use crate::fault::{self, Result};
use crate::locality;
use crate::model::{Model, Statement};
use crate::tree::{Branch, FunctionText, LoopCode, Member, Node, SetText, Tree};

/// A program as items that run one after another.
#[derive(Clone, Debug)]
pub(super) enum Item {
    /// Runs on the cores.
    Kernel(Kernel),
    /// Stays on the host.
    Host(Branch),
    /// A sequential loop (or nest) around items.
    Loop {
        /// The instances.
        filter: SetText,
        /// The loops.
        members: Vec<Member>,
        /// What is inside.
        items: Vec<Item>,
    },
}

/// What rounds of the mapped loop the tiles of a kernel are for.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) enum Rounds {
    /// Those that come out.
    #[default]
    Any,
    /// Full ones, if a tile has one iteration of that loop.
    Full,
    /// Those after full ones: the next loop begins at a multiple of so many iterations, which tiles
    /// must not lie across.
    Left(i64),
}

/// A parallel band and what is below it.
#[derive(Clone, Debug)]
pub(super) struct Kernel {
    /// The instances.
    pub filter: SetText,
    /// Sequential loops around it.
    pub outer: Vec<Member>,
    /// The parallel loops: one or two.
    pub parallel: Vec<Member>,
    /// Sizes of their tiles; empty before they are chosen.
    pub sizes: Vec<i64>,
    /// What runs inside, one after the other.
    pub parts: Vec<Part>,
    /// What goes to local memory; empty before that is decided.
    pub groups: Vec<Group>,
    /// What it does with a panel of a matrix, if it is one of those.
    pub panel: Option<Panel>,
    /// Whether it is right only for sizes up to a bound, so that what a tile needs of an array by
    /// rows is there as a whole.
    pub whole: bool,
    /// Whether accesses of one array that never meet have boxes of their own, so that two planes of
    /// it are as two arrays.
    pub apart: bool,
    /// Whether boxes end with what is reached in an iteration of the loops around the kernel.
    pub ended: bool,
    /// Whether a sequential loop was taken out of it, since it would be refused with that inside.
    pub stepped: bool,
    /// What rounds its tiles are for.
    pub rounds: Rounds,
    /// Modelled seconds; 0 before its tiles are chosen.
    pub cost: f64,
}

impl Kernel {
    /// A kernel of which nothing is chosen yet.
    pub fn new(filter: SetText, outer: Vec<Member>, parallel: Vec<Member>, parts: Vec<Part>) -> Kernel {
        Kernel {
            filter,
            outer,
            parallel,
            sizes: Vec::new(),
            parts,
            groups: Vec::new(),
            panel: None,
            whole: false,
            apart: false,
            ended: false,
            stepped: false,
            rounds: Rounds::default(),
            cost: 0.0,
        }
    }
}

/// A part of a kernel: tile loops of its own, and what runs in a tile.
#[derive(Clone, Debug)]
pub(super) struct Part {
    /// The instances.
    pub filter: SetText,
    /// Loops that are tiled beside the parallel ones, in the order of their tile loops.
    pub inner: Vec<Member>,
    /// How many of them, from the outermost, have tiles of one iteration, because they are not
    /// permutable with the rest.
    pub single: usize,
    /// Sizes that the first of these loops have as a whole, so that one tile is all of them.
    pub whole: Vec<i64>,
    /// Sizes of their tiles; empty before they are chosen.
    pub sizes: Vec<i64>,
    /// What is below these loops.
    pub leaf: Node,
    /// Its statements, as positions in the model.
    pub statements: Vec<usize>,
    /// The rounds that all cores come by for what they share, if these are more than a core's own
    /// tiles.
    pub pad: Option<Pad>,
}

/// Rounds of tile loops.
#[derive(Clone, Debug)]
pub(super) struct Pad {
    /// How many tile loops there are, the parallel ones included.
    pub level: usize,
    /// The numbers of these loops, as a set over all cores.
    pub rounds: SetText,
}

/// Finds the kernels of a schedule.
pub(super) fn split(model: &Model, dependences: &[Dependence], tree: &Tree) -> Result<Vec<Item>> {
    let Node::Domain { domain, child } = &tree.root else {
        return Err(fault::edit("a schedule without a domain cannot be mapped"));
    };
    let all =
        UnionSet::read(&model.ctx, domain.as_str()).and_then(|d| d.universe()).map_err(fault::library)?;
    items(model, dependences, &all, child, &[])
}

fn items(
    model: &Model,
    dependences: &[Dependence],
    filter: &UnionSet,
    node: &Node,
    outer: &[Member],
) -> Result<Vec<Item>> {
    match node {
        Node::Sequence(branches) | Node::Set(branches) => {
            let mut result: Vec<Item> = Vec::new();
            for branch in branches {
                let own = read(model, &branch.filter)?.universe().map_err(fault::library)?;
                let own = own.intersect(filter).map_err(fault::library)?;
                for item in items(model, dependences, &own, &branch.child, outer)? {
                    join(model, dependences, &mut result, item)?;
                }
            }
            Ok(result)
        }
        Node::Filter(branch) => items(model, dependences, filter, &branch.child, outer),
        Node::Mark { child, .. } | Node::Context { child, .. } => {
            items(model, dependences, filter, child, outer)
        }
        Node::Band(band) => {
            let coincident: Vec<bool> = band.members.iter().map(|m| m.coincident).collect();
            let free: Vec<usize> = match band.permutable {
                true => (0..coincident.len()).filter(|k| coincident[*k]).collect(),
                false => (0..coincident.len()).take_while(|k| coincident[*k]).collect(),
            };
            let text = SetText::new(filter.to_string());
            if free.is_empty() {
                let mut around = outer.to_vec();
                around.extend(restricted(model, &band.members, filter)?);
                let inside = items(model, dependences, filter, &band.child, &around)?;
                if inside.iter().any(|item| !matches!(item, Item::Host(_))) {
                    let members = restricted(model, &band.members, filter)?;
                    return Ok(vec![Item::Loop { filter: text, members, items: inside }]);
                }
                return Ok(vec![Item::Host(Branch { filter: text, child: Box::new(node.clone()) })]);
            }
            let members = restricted(model, &band.members, filter)?;
            let mut parallel: Vec<Member> = free.iter().map(|k| members[*k].clone()).collect();
            // The loop along memory comes last: its tiles are the blocks of the transfers.
            let mut scores =
                parallel.iter().map(|m| locality::vector_score(model, m)).collect::<Result<Vec<_>>>()?;
            if parallel.len() > 1 {
                let best = (0..parallel.len()).rev().max_by_key(|k| scores[*k]).unwrap_or(0);
                let member = parallel.remove(best);
                scores.remove(best);
                parallel.push(member);
            }
            let rest: Vec<Member> = match band.permutable {
                true => (0..members.len()).filter(|k| !coincident[*k]).map(|k| members[k].clone()).collect(),
                false => Vec::new(),
            };
            // The outer two are mapped to the cores; a third has tile loops among theirs, and what
            // is more is tiled inside.
            let mut inner: Vec<Member> = match parallel.len() {
                n @ 4.. => parallel.drain(2..n - 1).collect(),
                _ => vec![],
            };
            inner.extend(rest);
            let mut leaf = (*band.child).clone();
            if !band.permutable && free.len() < members.len() {
                let rest = members[free.len()..].to_vec();
                let child = Box::new(leaf);
                leaf =
                    Node::Band(crate::tree::Band { members: rest, permutable: false, isolate: None, child });
            }
            let mut parts = Vec::new();
            descend(model, filter, inner, leaf, &mut parts)?;
            Ok(vec![Item::Kernel(Kernel::new(text, outer.to_vec(), parallel, parts))])
        }
        _ => Ok(vec![Item::Host(Branch {
            filter: SetText::new(filter.to_string()),
            child: Box::new(node.clone()),
        })]),
    }
}

/// A statement as a kernel whose one parallel loop has one iteration.
pub(super) fn once(model: &Model, branch: &Branch, outer: &[Member]) -> Result<Kernel> {
    let filter = read(model, &branch.filter)?;
    let all = model.domain()?.intersect(&filter).map_err(fault::library)?;
    let zero = isl::Val::int(&model.ctx, 0).and_then(|zero| all.constant_function(&zero));
    let function = FunctionText::new(zero.map_err(fault::library)?.to_string());
    let member = Member { function, coincident: true, code: LoopCode::Default };
    let mut parts = Vec::new();
    descend(model, &filter, Vec::new(), (*branch.child).clone(), &mut parts)?;
    let outer = restricted(model, outer, &filter)?;
    Ok(Kernel::new(branch.filter.clone(), outer, vec![member], parts))
}

/// The parts of a kernel below its parallel loops: since nothing is carried by those, their points
/// can be distributed over what is below.
pub(super) fn descend(
    model: &Model,
    filter: &UnionSet,
    inner: Vec<Member>,
    node: Node,
    parts: &mut Vec<Part>,
) -> Result<()> {
    match node {
        Node::Sequence(branches) | Node::Set(branches) if inner.is_empty() => {
            for branch in branches {
                let own = read(model, &branch.filter)?.universe().map_err(fault::library)?;
                let own = own.intersect(filter).map_err(fault::library)?;
                descend(model, &own, Vec::new(), *branch.child, parts)?;
            }
            Ok(())
        }
        Node::Band(band) if inner.is_empty() && (band.permutable || band.members.len() == 1) => {
            let members = restricted(model, &band.members, filter)?;
            descend_last(model, filter, members, *band.child, parts)
        }
        Node::Band(mut band) if inner.is_empty() => {
            // Strip-mining the outermost loop is always legal.
            let members = restricted(model, &band.members, filter)?;
            band.members = members[1..].to_vec();
            descend_last(model, filter, members[..1].to_vec(), Node::Band(band), parts)
        }
        other => descend_last(model, filter, inner, other, parts),
    }
}

fn descend_last(
    model: &Model,
    filter: &UnionSet,
    inner: Vec<Member>,
    leaf: Node,
    parts: &mut Vec<Part>,
) -> Result<()> {
    let statements = (0..model.statements.len())
        .filter_map(|k| match has(filter, &model.statements[k]) {
            Ok(true) => Some(Ok(k)),
            Ok(false) => None,
            Err(error) => Some(Err(error)),
        })
        .collect::<Result<Vec<_>>>()?;
    let filter = SetText::new(filter.to_string());
    parts.push(Part { filter, inner, single: 0, whole: vec![], sizes: vec![], leaf, statements, pad: None });
    Ok(())
}

/// Whether a set of instances has ones of a statement.
pub(super) fn has(filter: &UnionSet, statement: &Statement) -> Result<bool> {
    let own = || -> isl::Result<bool> {
        Ok(!filter.intersect(&statement.domain.to_union()?.universe()?)?.is_empty()?)
    };
    own().map_err(fault::library)
}

/// Reads a set of instances.
pub(super) fn read(model: &Model, text: &SetText) -> Result<UnionSet> {
    let read = || UnionSet::read(&model.ctx, text.as_str()).map_err(fault::library);
    model.memos.sets.get(text.as_str(), read)
}

/// Reads the function of a loop.
pub(super) fn function(model: &Model, member: &Member) -> Result<UnionPwAff> {
    let text = member.function.as_str();
    model.memos.functions.get(text, || UnionPwAff::read(&model.ctx, text).map_err(fault::library))
}

/// Loops on the instances of a set only.
pub(super) fn restricted(model: &Model, members: &[Member], filter: &UnionSet) -> Result<Vec<Member>> {
    members
        .iter()
        .map(|member| {
            let own = function(model, member)?.intersect_domain(&filter.universe().map_err(fault::library)?);
            Ok(Member {
                function: FunctionText::new(own.map_err(fault::library)?.to_string()),
                ..member.clone()
            })
        })
        .collect()
}

/// Appends an item; a kernel joins the one before it where their dependences stay inside one
/// iteration of the parallel loops.
fn join(model: &Model, dependences: &[Dependence], result: &mut Vec<Item>, item: Item) -> Result<()> {
    if let Item::Kernel(kernel) = &item {
        for place in (0..result.len()).rev() {
            if let Item::Kernel(before) = &result[place]
                && let Some(joined) = joined(model, dependences, before, kernel)?
            {
                result[place] = Item::Kernel(joined);
                return Ok(());
            }
            if let Item::Kernel(before) = &result[place]
                && let Some(fused) = fusion::fused(model, dependences, before, kernel)?
            {
                result[place] = Item::Kernel(fused);
                return Ok(());
            }
            // Further up only over what it does not depend on.
            if depends(model, dependences, filter_of(&result[place]), &kernel.filter)? {
                if let Some((above, joined)) = pulled(model, dependences, &result[..=place], kernel)?
                    && !any_depends(model, dependences, result, above)?
                {
                    result.remove(above);
                    result.push(Item::Kernel(joined));
                    return Ok(());
                }
                break;
            }
        }
    }
    result.push(item);
    Ok(())
}

/// The kernel above some item that a kernel has to stay behind, with which it could be one: it may
/// come down, past what does not depend on it.
fn pulled(
    model: &Model,
    dependences: &[Dependence],
    above: &[Item],
    kernel: &Kernel,
) -> Result<Option<(usize, Kernel)>> {
    let Some((_, further)) = above.split_last() else { return Ok(None) };
    for (place, item) in further.iter().enumerate().rev() {
        if let Item::Kernel(before) = item
            && depends(model, dependences, &before.filter, &kernel.filter)?
            && let Some(joined) = joined(model, dependences, before, kernel)?
        {
            return Ok(Some((place, joined)));
        }
    }
    Ok(None)
}

/// Whether anything behind an item depends on it.
fn any_depends(model: &Model, dependences: &[Dependence], items: &[Item], place: usize) -> Result<bool> {
    for item in &items[place + 1..] {
        if depends(model, dependences, filter_of(&items[place]), filter_of(item))? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Whether instances depend on others.
fn depends(model: &Model, dependences: &[Dependence], from: &SetText, to: &SetText) -> Result<bool> {
    let (from, to) = (read(model, from)?, read(model, to)?);
    for dependence in dependences {
        let between = dependence
            .relation
            .to_union()
            .and_then(|d| d.intersect_domain(&from)?.intersect_range(&to)?.is_empty());
        if !between.map_err(fault::library)? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// The instances of an item.
pub(super) fn filter_of(item: &Item) -> &SetText {
    match item {
        Item::Kernel(kernel) => &kernel.filter,
        Item::Host(branch) => &branch.filter,
        Item::Loop { filter, .. } => filter,
    }
}

pub(super) fn joined(
    model: &Model,
    dependences: &[Dependence],
    a: &Kernel,
    b: &Kernel,
) -> Result<Option<Kernel>> {
    let n = a.parallel.len();
    if n != b.parallel.len() {
        return Ok(None);
    }
    let orders: &[&[usize]] = if n == 2 { &[&[0, 1], &[1, 0]] } else { &[&[0, 1, 2]] };
    'orders: for order in orders {
        let mut parallel = Vec::new();
        let mut same = true;
        for (member, k) in a.parallel.iter().zip(*order) {
            let (left, right) = (function(model, member)?, function(model, &b.parallel[*k])?);
            let sum = left.union_add(&right).map_err(fault::library)?;
            // The same number of iterations, or all but the same.
            let range = |f: &UnionPwAff| -> isl::Result<UnionSet> {
                f.graph()?.intersect_domain(&model_domain(model)?)?.range()?.coalesce()
            };
            let equal = || -> isl::Result<bool> {
                // Where one of the two is empty for all iterations, it does not matter.
                let (l, r) = (range(&left)?, range(&right)?);
                l.intersect_params(&r.params()?)?.is_equal(&r.intersect_params(&l.params()?)?)
            };
            same &= equal().map_err(fault::library)?;
            parallel.push(Member {
                function: FunctionText::new(sum.to_string()),
                coincident: true,
                code: LoopCode::Default,
            });
        }
        if !same {
            continue;
        }
        let (left, right) = (read(model, &a.filter)?, read(model, &b.filter)?);
        let mut related = false;
        for dependence in dependences {
            let between = dependence
                .relation
                .to_union()
                .and_then(|d| d.intersect_domain(&left)?.intersect_range(&right))
                .map_err(fault::library)?;
            if between.is_empty().map_err(fault::library)? {
                continue;
            }
            related = true;
            for member in &parallel {
                let equal = function(model, member)?
                    .to_multi()
                    .and_then(|f| between.eq_at(&f))
                    .map_err(fault::library)?;
                if !between.is_subset(&equal).map_err(fault::library)? {
                    continue 'orders;
                }
            }
        }
        if !related {
            continue;
        }
        let filter = SetText::new(left.union(&right).map_err(fault::library)?.to_string());
        let parts = a.parts.iter().chain(&b.parts).cloned().collect();
        return Ok(Some(Kernel::new(filter, a.outer.clone(), parallel, parts)));
    }
    Ok(None)
}

fn model_domain(model: &Model) -> isl::Result<UnionSet> {
    UnionSet::of(&model.ctx, model.statements.iter().map(|s| &s.domain))?.intersect_params(&model.context)
}

/// The tree of the text with a flag on each loop that carries no dependence.
pub(super) fn coincident(model: &Model, dependences: &[Dependence], tree: &Tree) -> Result<Tree> {
    fn go(model: &Model, dependences: &[UnionMap], node: Node) -> Result<Node> {
        Ok(match node {
            Node::Band(mut band) => {
                // One member each: that is what the tree of a text has.
                let member = &mut band.members[0];
                let time = function(model, member)?.to_multi().map_err(fault::library)?;
                let mut inside = Vec::new();
                member.coincident = true;
                for dependence in dependences {
                    let equal = dependence.eq_at(&time).map_err(fault::library)?;
                    let both = dependence
                        .intersect_domain(&time.domain().map_err(fault::library)?)
                        .and_then(|d| d.intersect_range(&time.domain()?));
                    if !both.and_then(|both| both.is_subset(&equal)).map_err(fault::library)? {
                        member.coincident = false;
                    }
                    inside.push(equal);
                }
                band.child = Box::new(go(model, &inside, *band.child)?);
                // A nest of parallel loops is one band.
                if let Node::Band(child) = &*band.child
                    && band.members[0].coincident
                    && child.members.iter().all(|m| m.coincident)
                {
                    band.members.extend(child.members.iter().cloned());
                    band.permutable = true;
                    band.child = child.child.clone();
                }
                Node::Band(band)
            }
            Node::Sequence(branches) => Node::Sequence(
                branches
                    .into_iter()
                    .map(|b| {
                        Ok(Branch { filter: b.filter, child: Box::new(go(model, dependences, *b.child)?) })
                    })
                    .collect::<Result<Vec<_>>>()?,
            ),
            Node::Domain { domain, child } => {
                Node::Domain { domain, child: Box::new(go(model, dependences, *child)?) }
            }
            other => other,
        })
    }
    let relations = dependences
        .iter()
        .map(|d| d.relation.intersect_params(&model.context).and_then(|r| r.to_union()))
        .collect::<isl::Result<Vec<_>>>()
        .map_err(fault::library)?;
    Ok(Tree { root: go(model, &relations, tree.root.clone())? })
}
