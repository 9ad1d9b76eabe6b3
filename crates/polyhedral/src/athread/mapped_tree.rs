//! The schedule tree after each module: kernels, tiles, threads, transfers, waits (figures 7 to 13
//! of the document).

mod tile_rounds;

use std::collections::BTreeSet;

use isl::{Dim, UnionMap, UnionSet};
use loops::{CopyKind, Name};

use super::Grid;
use super::boxes;
use super::fusion;
use super::host_split::{self, Item, Kernel, Part, filter_of};
use super::multicast;
use super::steps::{self, Step};
use super::tile_sizes::{Sized, mapped as cores_of};
use crate::fault::{self, Result};
use crate::locality;
use crate::model::Model;
use crate::names::{fresh, readable};
use crate::transform::mark::mark_band;
use crate::tree::{Band, Branch, FunctionText, LoopCode, MapText, Member, Node, SetText, Tree};

/// How far the mapping has come.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Stage {
    Scheduled,
    Kernels,
    Tiled,
    Mapped,
    Copies,
    Waits,
    Code,
}

/// The mark of what becomes one spawn.
pub(super) const KERNEL: &str = "kernel";
/// The mark of what every core runs; two of them in sequence have a barrier between them.
pub(super) const THREADS: &str = "threads";
/// The beginning of the mark above the place where buffers are declared.
pub(super) const LOCAL: &str = "local ";
/// The beginning of the tuples that tell the numbers of a tile.
const HERE: &str = steps::HERE;
/// The mark of the points of a tile.
pub(super) const TILE: &str = "tile";
/// The beginning of the tuples of rounds in which a core may have no tile, and comes by for what
/// others share.
pub(super) const PAD: &str = "here_pad_";

/// The tree with fused parallel loops.
pub(super) fn scheduled(model: &Model, items: &[Item]) -> Result<Tree> {
    Builder::of(model, Stage::Scheduled, Grid::Line(1), Names::default(), items).tree(items)
}

/// The tree with marks for kernels.
pub(super) fn kernels(model: &Model, items: &[Item]) -> Result<Tree> {
    Builder::of(model, Stage::Kernels, Grid::Line(1), Names::default(), items).tree(items)
}

/// The tree with tiles.
pub(super) fn tiled(model: &Model, sized: &Sized) -> Result<Tree> {
    at(model, sized, Stage::Tiled)
}

/// The tree with threads.
pub(super) fn mapped(model: &Model, sized: &Sized) -> Result<Tree> {
    at(model, sized, Stage::Mapped)
}

/// The tree with transfers.
pub(super) fn copies(model: &Model, sized: &Sized) -> Result<Tree> {
    at(model, sized, Stage::Copies)
}

/// The tree with transfers and waits.
pub(super) fn whole(model: &Model, sized: &Sized) -> Result<Tree> {
    at(model, sized, Stage::Waits)
}

/// The tree from which code is generated: each place of buffers has an instance [`HERE`], which
/// tells the numbers of the tile and what is done there.
pub(super) fn for_code(model: &Model, sized: &Sized) -> Result<Tree> {
    at(model, sized, Stage::Code)
}

fn at(model: &Model, sized: &Sized, stage: Stage) -> Result<Tree> {
    Builder::of(model, stage, sized.grid, names(model, &sized.items), &sized.items).tree(&sized.items)
}

/// Names of the buffers of each kernel, by kernel and group.
#[derive(Clone, Debug, Default)]
pub(super) struct Names {
    buffers: Vec<Vec<Name>>,
}

impl Names {
    /// The name of a buffer.
    pub fn buffer(&self, kernel: usize, group: usize) -> &Name {
        &self.buffers[kernel][group]
    }
}

/// The kernels of a program in order.
pub(super) fn all_kernels(items: &[Item]) -> Vec<&Kernel> {
    items
        .iter()
        .flat_map(|item| match item {
            Item::Kernel(kernel) => vec![kernel],
            Item::Host(_) => vec![],
            Item::Loop { items, .. } => all_kernels(items),
        })
        .collect()
}

/// Names for the buffers: `slave_A`, unique in the function.
pub(super) fn names(model: &Model, items: &[Item]) -> Names {
    let mut taken: BTreeSet<Name> = model.function.sizes.iter().cloned().collect();
    taken.extend(model.function.params.iter().map(|p| p.name.clone()));
    taken.extend(model.locals.iter().map(|l| l.name.clone()));
    let kernels = all_kernels(items);
    let buffers = kernels
        .iter()
        .map(|kernel| {
            // Kernels are apart: each may use the names again.
            let mut taken = taken.clone();
            kernel
                .groups
                .iter()
                .map(|g| fresh(&format!("slave_{}", readable(&g.array)), &mut taken))
                .collect()
        })
        .collect();
    Names { buffers }
}

struct Builder<'a> {
    model: &'a Model,
    stage: Stage,
    grid: Grid,
    names: Names,
    kernels: Vec<&'a Kernel>,
}

impl<'a> Builder<'a> {
    fn of(model: &'a Model, stage: Stage, grid: Grid, names: Names, items: &'a [Item]) -> Builder<'a> {
        Builder { model, stage, grid, names, kernels: all_kernels(items) }
    }

    fn tree(&self, items: &[Item]) -> Result<Tree> {
        let domain = self.model.domain()?.intersect_params(&self.model.context).map_err(fault::library)?;
        let pads = self.pads(0..self.kernels.len())?.intersect_params(&self.model.context);
        let mut domain = pads.and_then(|pads| domain.union(&pads)).map_err(fault::library)?;
        for kernel in self.kernels.iter().filter(|kernel| self.padded(kernel)) {
            // Its loops are made of rounds; in each of these its statements are added.
            let own = host_split::read(self.model, &kernel.filter)?;
            domain = own.universe().and_then(|own| domain.subtract(&own)).map_err(fault::library)?;
        }
        let mut next = 0;
        let child = self.sequence(items, &mut next, true)?;
        Ok(Tree { root: Node::Domain { domain: SetText::new(domain.to_string()), child: Box::new(child) } })
    }

    /// Items in sequence; what is all kernels below gets one mark, so that it is one spawn.
    fn sequence(&self, items: &[Item], next: &mut usize, host: bool) -> Result<Node> {
        let on_cores = |item: &Item| only_kernels(item);
        if host && self.stage >= Stage::Kernels && items.iter().all(on_cores) {
            let child = self.sequence(items, next, false)?;
            return Ok(Node::Mark { name: KERNEL.to_owned(), child: Box::new(child) });
        }
        let mut branches: Vec<Branch> = Vec::new();
        let mut k = 0;
        while k < items.len() {
            // Neighbours that run on the cores are one spawn.
            let run = if host && self.stage >= Stage::Kernels {
                items[k..].iter().take_while(|item| on_cores(item)).count()
            } else {
                0
            };
            let first = *next;
            if run > 1 {
                let child = self.sequence(&items[k..k + run], next, true)?;
                let mut all = self.pads(first..*next)?;
                for item in &items[k..k + run] {
                    let own = host_split::read(self.model, filter_of(item))?;
                    all = all.union(&own).map_err(fault::library)?;
                }
                branches.push(Branch { filter: SetText::new(all.to_string()), child: Box::new(child) });
                k += run;
                continue;
            }
            let node = self.item(&items[k], next, host)?;
            let filter = self.with(filter_of(&items[k]), &self.pads(first..*next)?)?;
            branches.push(Branch { filter, child: Box::new(node) });
            k += 1;
        }
        Ok(if branches.len() == 1 { *branches.remove(0).child } else { Node::Sequence(branches) })
    }

    fn item(&self, item: &Item, next: &mut usize, host: bool) -> Result<Node> {
        match item {
            Item::Host(branch) => Ok((*branch.child).clone()),
            Item::Loop { members, items, .. } => {
                let marked = host && self.stage >= Stage::Kernels && only_kernels(item);
                let child = Box::new(self.sequence(items, next, host && !marked)?);
                let band =
                    Node::Band(Band { members: members.clone(), permutable: false, isolate: None, child });
                Ok(if marked { Node::Mark { name: KERNEL.to_owned(), child: Box::new(band) } } else { band })
            }
            Item::Kernel(kernel) => {
                let number = *next;
                *next += 1;
                let node = self.kernel(kernel, number)?;
                let node = match self.stage >= Stage::Mapped {
                    true => Node::Mark { name: format!("{THREADS} {number}"), child: Box::new(node) },
                    false => node,
                };
                Ok(match host && self.stage >= Stage::Kernels {
                    true => Node::Mark { name: KERNEL.to_owned(), child: Box::new(node) },
                    false => node,
                })
            }
        }
    }

    fn kernel(&self, kernel: &Kernel, number: usize) -> Result<Node> {
        if self.stage < Stage::Tiled {
            let child = self.plain_parts(kernel)?;
            let members = kernel.parallel.clone();
            return Ok(Node::Band(Band { members, permutable: true, isolate: None, child: Box::new(child) }));
        }
        let sized: Vec<(Member, i64)> =
            kernel.parallel.iter().cloned().zip(kernel.sizes.iter().copied()).collect();
        let tiles = sized.iter().enumerate();
        let tiles = tiles
            .map(|(k, (m, size))| self.tile_loop(m, *size, &self.padded_parts(kernel, number, k + 1), k))
            .collect::<Result<Vec<_>>>()?;
        let parts = kernel
            .parts
            .iter()
            .enumerate()
            .map(|(k, part)| {
                let child = self.part(kernel, number, k, part)?;
                let filter = self.with(&part.filter, &self.pad(number, k, 1)?)?;
                Ok(Branch { filter, child: Box::new(child) })
            })
            .collect::<Result<Vec<_>>>()?;
        let child = self.moved(kernel, number, None, kernel.parallel.len(), parts)?;
        let band =
            Node::Band(Band { members: tiles, permutable: true, isolate: None, child: Box::new(child) });
        if self.stage < Stage::Mapped {
            return Ok(band);
        }
        let mut filter = self.own_tiles(kernel)?;
        for p in 0..kernel.parts.len() {
            if let Some(own) = self.own_rounds(number, p, kernel.parallel.len())? {
                let own = own.set_tuple_name(&tile_rounds::tuple(number, p)).and_then(|own| own.to_union());
                filter = own.and_then(|own| filter.union(&own)).map_err(fault::library)?;
            }
        }
        Ok(Node::Filter(Branch { filter: SetText::new(filter.to_string()), child: Box::new(band) }))
    }

    fn plain_parts(&self, kernel: &Kernel) -> Result<Node> {
        let mut branches: Vec<Branch> = kernel
            .parts
            .iter()
            .map(|part| {
                let child = if part.inner.is_empty() {
                    part.leaf.clone()
                } else {
                    let child = Box::new(part.leaf.clone());
                    Node::Band(Band { members: part.inner.clone(), permutable: true, isolate: None, child })
                };
                Branch { filter: part.filter.clone(), child: Box::new(child) }
            })
            .collect();
        Ok(if branches.len() == 1 { *branches.remove(0).child } else { Node::Sequence(branches) })
    }

    /// The tile loops of a part, with the transfers inside each, around the points of a tile.
    fn part(&self, kernel: &Kernel, number: usize, k: usize, part: &Part) -> Result<Node> {
        let filter = host_split::read(self.model, &part.filter)?;
        let parallel = host_split::restricted(self.model, &kernel.parallel, &filter)?;
        let inner = host_split::restricted(self.model, &part.inner, &filter)?;
        // Nothing is carried by the parallel loops: they go innermost, where they leave no chain of
        // additions.
        let mut points: Vec<Member> = if fusion::flat(&part.leaf) && kernel.whole {
            // A contraction has three loops: the last of the parallel ones is that over its rows.
            let mut around = parallel;
            let rows = around.pop();
            around.into_iter().chain(inner).chain(rows).collect()
        } else if fusion::flat(&part.leaf) {
            inner.into_iter().chain(parallel).collect()
        } else {
            parallel.into_iter().chain(inner).collect()
        };
        if (kernel.panel.is_some() || kernel.whole) && fusion::flat(&part.leaf) {
            // Of a matrix that is made by panels, or in rows as a whole, the loop along memory is
            // not among those over the cores.
            let scores =
                points.iter().map(|m| locality::vector_score(self.model, m)).collect::<Result<Vec<_>>>()?;
            let along = (0..points.len()).find(|k| points[*k].coincident && scores[*k] > 0);
            if let Some(along) = along.filter(|_| scores.last().is_some_and(|s| *s <= 0)) {
                let member = points.remove(along);
                points.push(member);
            }
        }
        for point in &mut points {
            point.code = LoopCode::Default;
        }
        let mut marks = vec![None; points.len()];
        if fusion::flat(&part.leaf)
            && let Some(last) = points.last()
            && last.coincident
            && locality::vector_score(self.model, last)? > 0
        {
            marks[points.len() - 1] = Some("vector");
        }
        let child = Box::new(part.leaf.clone());
        let band = Band { members: points, permutable: true, isolate: None, child };
        let mut node = if self.stage >= Stage::Mapped { mark_band(band, &marks)? } else { Node::Band(band) };
        if self.stage >= Stage::Mapped {
            node = Node::Mark { name: TILE.to_owned(), child: Box::new(node) };
        }
        for (depth, (member, size)) in part.inner.iter().zip(&part.sizes).enumerate().rev() {
            let level = kernel.parallel.len() + depth + 1;
            let branches = self.padded_branch(kernel, number, k, level, node)?;
            let child = self.moved(kernel, number, Some(k), level, branches)?;
            let rounds: Vec<_> = self.padded_parts(kernel, number, level);
            let rounds: Vec<_> =
                rounds.into_iter().filter(|(t, _)| *t == tile_rounds::tuple(number, k)).collect();
            let tile = self.tile_loop(member, *size, &rounds, level - 1)?;
            node = Node::Band(Band {
                members: vec![tile],
                permutable: false,
                isolate: None,
                child: Box::new(child),
            });
        }
        // Buffers of this part that no loop of its own moves.
        let level = kernel.parallel.len();
        let branches = self.padded_branch(kernel, number, k, level, node)?;
        self.moved(kernel, number, Some(k), level, branches)
    }

    /// What runs at a level of a part. Where loops are made of rounds, the tiles are added in the
    /// last of these loops.
    fn padded_branch(
        &self,
        kernel: &Kernel,
        number: usize,
        k: usize,
        level: usize,
        node: Node,
    ) -> Result<Vec<Branch>> {
        let filter = &kernel.parts[k].filter;
        let pad = kernel.parts[k].pad.as_ref().filter(|_| self.stage >= Stage::Copies);
        let Some(pad) = pad.filter(|pad| level <= pad.level) else {
            return Ok(vec![Branch { filter: filter.clone(), child: Box::new(node) }]);
        };
        let rounds = self.pad(number, k, level)?.universe().map_err(fault::library)?;
        let rounds = SetText::new(rounds.to_string());
        if level < pad.level {
            return Ok(vec![Branch { filter: rounds, child: Box::new(node) }]);
        }
        let mine = self.own_tiles(kernel)?;
        let tiles = boxes::prefix(self.model, kernel, k, level)?;
        let tiles = tiles.intersect_domain(&mine).and_then(|map| map.reverse()).map_err(fault::library)?;
        let both = vec![
            Branch { filter: filter.clone(), child: Box::new(node) },
            Branch { filter: rounds.clone(), child: Box::new(Node::Leaf) },
        ];
        let extension = MapText::new(tiles.to_string());
        let child = Box::new(Node::Extension { extension, child: Box::new(Node::Sequence(both)) });
        Ok(vec![Branch { filter: rounds, child }])
    }

    /// Branches between what brings in and out the groups of a level.
    fn moved(
        &self,
        kernel: &Kernel,
        number: usize,
        part: Option<usize>,
        level: usize,
        mut branches: Vec<Branch>,
    ) -> Result<Node> {
        let own: Vec<usize> = (0..kernel.groups.len())
            .filter(|k| kernel.groups[*k].part == part && kernel.groups[*k].level == level)
            .collect();
        if self.stage < Stage::Copies || own.is_empty() {
            return Ok(if branches.len() == 1 {
                *branches.remove(0).child
            } else {
                Node::Sequence(branches)
            });
        }
        // What is shared is brought in by cores without a tile, too; so is what is only read beside
        // it, which leaves no conditions between a tile's transfers.
        let rounds = match part {
            Some(p) => self.own_rounds(number, p, level)?,
            None => None,
        };
        let beside = own.iter().any(|k| kernel.groups[*k].shared.is_some());
        let by_all = |k: usize| {
            let group = &kernel.groups[k];
            group.shared.is_some() || (beside && !multicast::written(self.model, kernel, group))
        };
        let (mut before, mut after) = (Vec::new(), Vec::new());
        for wait in [false, true].into_iter().filter(|wait| !wait || self.stage >= Stage::Waits) {
            let of = |kind: CopyKind| move |k: &usize| Step { kind, wait, buffer: *k };
            before.extend(own.iter().filter(|k| kernel.groups[**k].get).map(of(CopyKind::Get)));
            after.extend(own.iter().filter(|k| kernel.groups[**k].put).map(of(CopyKind::Put)));
        }
        let by_all = |step: &Step| rounds.is_some() && step.kind == CopyKind::Get && by_all(step.buffer);
        let (before, after) = if self.stage >= Stage::Code {
            let place =
                format!("{HERE}{number}_{level}_{}", part.map_or("all".to_owned(), |p| p.to_string()));
            let begin = vec![(place.clone(), rounds.is_some())];
            (steps::joined(&place, begin, &before, &by_all), steps::joined(&place, vec![], &after, &by_all))
        } else {
            // Kernels may have buffers of one name: the later ones' tuples carry their number.
            let name = |step: &Step| {
                let own = step.tuple(self.names.buffer(number, step.buffer));
                (if number == 0 { own } else { format!("{own}__k{number}") }, by_all(step))
            };
            (before.iter().map(name).collect(), after.iter().map(name).collect::<Vec<_>>())
        };
        let mut tiles = UnionSet::empty(&self.model.ctx).map_err(fault::library)?;
        let parts: Vec<usize> = part.map_or((0..kernel.parts.len()).collect(), |p| vec![p]);
        let mine = self.own_tiles(kernel)?;
        // Whether a tile has an instance at all may be a question of remainders. What comes in
        // before it goes out can do both without that.
        let by_bounds = own.iter().all(|k| !kernel.groups[*k].put || kernel.groups[*k].get);
        for p in parts {
            let prefix = if by_bounds { boxes::prefix_by_bounds } else { boxes::prefix };
            let reached = prefix(self.model, kernel, p, level)?
                .intersect_domain(&mine)
                .and_then(|map| tiles.union(&map.range()?))
                .map_err(fault::library)?;
            tiles = reached;
        }
        let extension = || -> isl::Result<UnionMap> {
            let mut all = UnionMap::empty(&self.model.ctx)?;
            let rounds = match &rounds {
                Some(set) => {
                    let n = set.dim(Dim::SET)?;
                    Some(set.project_out(Dim::SET, level, n - level)?)
                }
                None => None,
            };
            for set in tiles.coalesce()?.sets()? {
                for (name, by_all) in before.iter().chain(&after) {
                    let set = match &rounds {
                        Some(rounds) if *by_all => rounds,
                        _ => &set,
                    };
                    all = all.union(&set.identity()?.set_tuple_name(Dim::Out, name)?.to_union()?)?;
                }
            }
            Ok(all)
        };
        let extension = extension().map_err(fault::library)?;
        let dims: Vec<String> = (0..kernel.outer.len() + level).map(|k| format!("t{k}")).collect();
        let branch = |(name, _): &(String, bool)| Branch {
            filter: SetText::new(format!("{{ {name}[{}] }}", dims.join(", "))),
            child: Box::new(Node::Leaf),
        };
        let mut all: Vec<Branch> = before.iter().map(branch).collect();
        all.extend(branches);
        all.extend(after.iter().map(branch));
        let mut node = Node::Sequence(all);
        if !before.is_empty() || !after.is_empty() {
            node = Node::Extension { extension: MapText::new(extension.to_string()), child: Box::new(node) };
        }
        let names: Vec<String> = own.iter().map(|k| self.names.buffer(number, *k).to_string()).collect();
        Ok(Node::Mark { name: format!("{LOCAL}{number}: {}", names.join(", ")), child: Box::new(node) })
    }
}

/// Names of the thread's coordinates in sets.
pub(super) fn threads(model: &Model, grid: Grid, mapped: usize) -> Vec<String> {
    let mut taken: BTreeSet<Name> = model.function.sizes.iter().map(|s| Name::new(readable(s))).collect();
    taken.extend(model.function.params.iter().map(|p| p.name.clone()));
    let names: &[&str] =
        if mapped == 2 && matches!(grid, Grid::Plane(..)) { &["rid", "cid"] } else { &["tid"] };
    names.iter().map(|name| fresh(name, &mut taken).to_string()).collect()
}

fn tile_member(model: &Model, member: &Member, size: i64) -> Result<Member> {
    let own = host_split::function(model, member)?
        .scale_down(size)
        .and_then(|f| f.floor())
        .map_err(fault::library)?;
    Ok(Member {
        function: FunctionText::new(own.to_string()),
        coincident: member.coincident,
        code: LoopCode::Default,
    })
}

fn only_kernels(item: &Item) -> bool {
    match item {
        Item::Kernel(_) => true,
        Item::Host(_) => false,
        Item::Loop { items, .. } => items.iter().all(only_kernels),
    }
}
