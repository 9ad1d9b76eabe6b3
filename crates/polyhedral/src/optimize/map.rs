//! From a schedule to loops: which loop is parallel, which are tiled, which runs along memory. Decides; the code is made and checked elsewhere.

use std::collections::{BTreeMap, BTreeSet};

use loops::Name;

use super::{Options, Report, Tiling};
use crate::fault::Result;
use crate::locality;
use crate::model::Model;
use crate::transform;
use crate::transform::contraction::{self, Split};
use crate::tree::{Band, Branch, Node};

/// Maps a tree for one model.
pub(super) struct Mapper<'a> {
    pub model: &'a Model,
    pub options: &'a Options,
    pub report: &'a mut Report,
}

impl Mapper<'_> {
    /// Maps the outermost bands; `parallel` says whether a loop may still become parallel.
    pub fn node(&mut self, node: Node, parallel: bool) -> Result<Node> {
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

    /// Whether a band is one statement's that updates an element in more loops than the element has, and which blocks of it can be parallel:
    /// those of rows only if no loop over elements carries a dependence.
    fn contracts(&self, band: &Band) -> Result<Option<Split>> {
        if !band.permutable || band.members.len() < 3 {
            return Ok(None);
        }
        let mut iterators = BTreeMap::new();
        for member in &band.members {
            for (tuple, position) in locality::driven(self.model, member)? {
                iterators.entry(tuple).or_insert_with(Vec::new).push((position, member.coincident));
            }
        }
        let [(tuple, loops)] = iterators.iter().collect::<Vec<_>>()[..] else { return Ok(None) };
        let Some(statement) = self.model.by_tuple(tuple) else { return Ok(None) };
        let target: BTreeSet<Name> = statement.assign.target.indices.iter().flat_map(|e| e.vars()).collect();
        let of_element = |k: &usize| target.contains(&statement.loops[*k].var);
        if statement.assign.update.is_none() || loops.iter().all(|(k, _)| of_element(k)) {
            return Ok(None);
        }
        let rows = loops.iter().all(|(k, coincident)| *coincident || !of_element(k));
        Ok(Some(if rows { Split::Rows } else { Split::Columns }))
    }

    fn band(&mut self, mut band: Band, parallel: bool) -> Result<Node> {
        let innermost = !has_band(&band.child);
        let n = band.members.len();
        if self.options.contraction.is_some()
            && innermost
            && parallel
            && let Some(split) = self.contracts(&band)?
        {
            self.report.bands.push(format!("{n} loops, permutable, contraction"));
            let name = match split {
                Split::Rows => contraction::MARK,
                Split::Columns => contraction::MARK_COLUMNS,
            };
            return Ok(Node::Mark { name: name.to_owned(), child: Box::new(Node::Band(band)) });
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
            Tiling::Caches(_) if !locality::reuses(self.model, &band)? => None,
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
