//! From a schedule to loops: which loop is parallel, which are tiled, which runs along memory.
//! Decides; the code is made and checked elsewhere.

use std::collections::{BTreeMap, BTreeSet};

use isl::{UnionMap, UnionPwAff};
use loops::{Expr, Name, ReduceOp};

use super::{Options, Report, Tiling};
use crate::codegen::reducing;
use crate::dependence::Dependence;
use crate::fault::{self, Result};
use crate::locality;
use crate::model::{Model, Statement};
use crate::transform::contraction::{self, Split};
use crate::transform::{self, blocked_factorisation, blocked_recurrence, diamond, identity_schedule, window};
use crate::tree::{self, Band, Branch, FunctionText, LoopCode, Member, Node};

/// Maps a tree for one model.
pub(super) struct Mapper<'a> {
    pub model: &'a Model,
    pub dependences: &'a [Dependence],
    pub options: &'a Options,
    pub report: &'a mut Report,
    /// Statements for which register tiles have been refused.
    pub refused: &'a BTreeSet<Name>,
    /// Whether the node is inside a sequential loop.
    pub sequential: bool,
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

    /// Whether a band, with those below it, is one statement's that updates an element in more
    /// loops than the element has; then which blocks of it can be parallel (those of rows only if
    /// no loop over elements carries a dependence), and the band with a loop of its own for each of
    /// the statement's below it: the scheduler likes to make one of several short ones.
    fn contracts(&self, band: &Band) -> Result<Option<(Split, Band)>> {
        let Some(members) = nest(band) else { return Ok(None) };
        if !band.permutable || band.members.len() < 2 || members.len() < 3 {
            return Ok(None);
        }
        let mut iterators = BTreeMap::new();
        let mut single = Vec::new();
        for member in &members {
            let driven = locality::driven(self.model, member)?;
            single.push(!driven.is_empty());
            for (tuple, position) in driven {
                iterators.entry(tuple).or_insert_with(Vec::new).push((position, member.coincident));
            }
        }
        let [(tuple, loops)] = iterators.iter().collect::<Vec<_>>()[..] else { return Ok(None) };
        let Some(statement) = self.model.by_tuple(tuple) else { return Ok(None) };
        let target: BTreeSet<Name> = statement.assign.target.indices.iter().flat_map(|e| e.vars()).collect();
        let of_element = |k: &usize| target.contains(&statement.loops[*k].var);
        let (outer, inner) = single.split_at(band.members.len());
        if self.refused.contains(&statement.label)
            || statement.assign.update.is_none()
            || blocked_recurrence::feeds_itself(statement, self.dependences)
            || !statement.certain()
            || !statement.exact()
            || outer.contains(&false)
            || (inner.iter().all(|one| *one) && loops.iter().all(|(k, _)| of_element(k)))
        {
            return Ok(None);
        }
        let rows = loops.iter().all(|(k, coincident)| *coincident || !of_element(k));
        let mut band = band.clone();
        if inner.contains(&false) {
            let above: Vec<usize> = loops.iter().take(outer.len()).map(|(k, _)| *k).collect();
            let first = above.iter().min().copied().unwrap_or(0);
            let below = (first..statement.loops.len()).filter(|k| !above.contains(k));
            let (instance, names) = tree::tuple(statement)?;
            let members = below.map(|k| Member {
                function: FunctionText::new(format!("{{ {instance} -> [({})] }}", names[k])),
                coincident: false,
                code: LoopCode::Default,
            });
            let child = Box::new(Node::Leaf);
            let inner = Band { members: members.collect(), permutable: false, isolate: None, child };
            band.child = Box::new(Node::Band(inner));
        }
        Ok(Some((if rows { Split::Rows } else { Split::Columns }, band)))
    }

    /// Steps of an elimination in a block; none where nothing is to be tiled.
    fn steps(&self) -> Option<i64> {
        match &self.options.tiling {
            Tiling::None => None,
            Tiling::Fixed(sizes) => sizes.first().copied(),
            Tiling::Caches(_) => Some(STEPS),
        }
    }

    /// What threads and lanes need parts of their own of, so that the only loop of a band carries
    /// no dependence; none if that is not enough.
    fn reduces(&self, band: &Band) -> Result<Option<Vec<(ReduceOp, Name)>>> {
        let member = &band.members[0];
        let driven = locality::driven(self.model, member)?;
        let Some(carried) = diamond::carried(self.model, self.dependences, member)? else { return Ok(None) };
        let inside = |label: &Name| {
            self.model.statements.iter().any(|s| s.label == *label && driven.contains_key(&s.tuple))
        };
        Ok(transform::privatised(self.model, &inside, &carried).filter(|arrays| !arrays.is_empty()))
    }

    /// The number of a tile's diagonal in the first two directions.
    fn front(&self, tiles: &Band) -> Result<Member> {
        let second =
            UnionPwAff::read(&self.model.ctx, tiles.members[1].function.as_str()).map_err(fault::library)?;
        let function = transform::map_function(&self.model.ctx, &tiles.members[0].function, &|first| {
            first.add(&second)
        })?;
        Ok(Member { function, coincident: false, code: LoopCode::Default })
    }

    /// Whether a statement of a band touches what is declared inside loops: its order in them
    /// cannot change.
    fn touches_locals(&self, band: &Band) -> Result<bool> {
        let tuples = locality::tuples(self.model, &band.members[0])?;
        let inside = |name: &Name| self.model.scopes.get(name).is_some_and(|loops| !loops.is_empty());
        let touches = |s: &Statement| s.accesses.iter().any(|touch| inside(&touch.array));
        Ok(tuples.iter().filter_map(|tuple| self.model.by_tuple(tuple)).any(touches))
    }

    /// Whether the loops below a band are a window: constant, few steps in all, and every access
    /// goes along memory with the band's last loop or stands still. Then lanes of that loop can
    /// have the window each: it is written out.
    fn window(&self, band: &Band) -> Result<bool> {
        let Some(last) = band.members.last() else { return Ok(false) };
        if !last.coincident
            || locality::vector_score(self.model, last)? <= 0
            || !locality::streams(self.model, last)?
        {
            return Ok(false);
        }
        for tuple in locality::tuples(self.model, last)? {
            let Some(statement) = self.model.by_tuple(&tuple) else { return Ok(false) };
            let Some(own) = locality::driven(self.model, last)?.get(&tuple).copied() else {
                return Ok(false);
            };
            let all = window::steps(statement.loops.iter().skip(own + 1));
            // Loops above that are not of the band would be inside the lanes.
            if all.is_none_or(|all| all > window::MOST_LANE_STEPS) || !statement.certain() {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// The loop of a band that goes along memory and carries nothing, if the nests below are of
    /// single loops of which none does. The outermost one may be `kept` where it is.
    fn deepest(&self, band: &Band, kept: bool) -> Result<Option<usize>> {
        if !nests(&band.child) || (!single_nest(&band.child) && self.touches_locals(band)?) {
            return Ok(None);
        }
        let mut best = None;
        for (k, member) in band.members.iter().enumerate() {
            let score = locality::vector_score(self.model, member)?;
            if member.coincident && score > 0 && !(kept && k == 0) && best.is_none_or(|(old, _)| score >= old)
            {
                best = Some((score, k));
            }
        }
        Ok(best.filter(|_| band.members.len() > 1).map(|(_, k)| k))
    }

    fn band(&mut self, mut band: Band, parallel: bool) -> Result<Node> {
        let innermost = !has_band(&band.child);
        if parallel && let Some(node) = self.by_contraction(&band)? {
            return Ok(node);
        }
        // The outermost loop should be parallel: any order of a permutable band is legal.
        if parallel
            && band.permutable
            && let Some(first) = band.members.iter().position(|m| m.coincident)
        {
            let member = band.members.remove(first);
            band.members.insert(0, member);
        }
        if parallel && let Some(arrays) = self.partial_results(&band)? {
            self.report.bands.push("1 loop, parallel with partial results for each thread".to_owned());
            let strips = identity_schedule::strips_of(&self.model.ctx, band, &arrays, self.options.vector)?;
            return Ok(Node::Mark {
                name: reducing("parallel", &arrays),
                child: Box::new(Node::Band(strips)),
            });
        }
        // The iterations of a single loop inside a sequential one are not worth the threads'
        // meeting.
        let small = band.members.len() == 1 && innermost && self.sequential;
        let outer_parallel = parallel && band.members[0].coincident && !small;
        if !innermost {
            let child = std::mem::replace(&mut band.child, Box::new(Node::Leaf));
            let outside = std::mem::replace(&mut self.sequential, true);
            band.child = Box::new(self.node(*child, parallel && !outer_parallel)?);
            self.sequential = outside;
        }
        let shape = BandShape {
            innermost,
            outer_parallel,
            // Tiles of a permutable band depend on earlier ones in each direction: those on a
            // diagonal are free of each other.
            diagonals: parallel && !outer_parallel && !small && self.has_diagonals(&band)?,
            alone: locality::tuples(self.model, &band.members[0])?.len() == 1,
        };
        let sizes = self.tile_sizes(&band, &shape)?;
        self.report_band(&band, &shape, sizes.as_deref());
        match sizes {
            Some(sizes) => self.tiled(band, &shape, &sizes),
            None => {
                let (points, mut marks) = self.points(band, &shape, false)?;
                if outer_parallel {
                    marks[0] = Some("parallel");
                }
                transform::mark::mark_band(points, &marks)
            }
        }
    }

    /// A band as a contraction, or as an elimination in blocks, if it is one.
    fn by_contraction(&mut self, band: &Band) -> Result<Option<Node>> {
        if self.options.contraction.is_none() {
            return Ok(None);
        }
        let n = band.members.len();
        if let Some((split, band)) = self.contracts(band)? {
            let inside = nest(&band).map_or(0, |members| members.len() - n);
            let more = if inside > 0 { format!(", {inside} inside") } else { String::new() };
            self.report.bands.push(format!("{n} loops, permutable{more}, contraction"));
            self.report.contracted = true;
            let name = match split {
                Split::Rows => contraction::MARK,
                Split::Columns => contraction::MARK_COLUMNS,
            };
            return Ok(Some(Node::Mark { name: name.to_owned(), child: Box::new(Node::Band(band)) }));
        }
        if !has_band(&band.child)
            && let Some(size) = self.steps()
            && let Some(node) =
                blocked_factorisation::blocks(self.model, self.dependences, band, self.refused, size)?
        {
            self.report.bands.push(format!(
                "{n} loops, permutable, blocks of {size} steps: panels, then a contraction on what is beyond"
            ));
            self.report.contracted = true;
            return Ok(Some(node));
        }
        Ok(None)
    }

    /// What each thread needs partial results of, if that makes the only loop of a band parallel.
    fn partial_results(&self, band: &Band) -> Result<Option<Vec<(ReduceOp, Name)>>> {
        let single = band.members.len() == 1 && !has_band(&band.child);
        if !single || self.sequential || band.members[0].coincident {
            return Ok(None);
        }
        self.reduces(band)
    }

    /// Whether the tiles of a band on a diagonal can be parallel. Statements of one loop would be
    /// on diagonals of their own, which makes intricate code.
    fn has_diagonals(&self, band: &Band) -> Result<bool> {
        let deep = |tuple: &String| self.model.by_tuple(tuple).is_some_and(|s| s.loops.len() >= 2);
        Ok(band.members.len() >= 2
            && band.permutable
            // A band is permutable as far as dependences hold that reductions do not free: those
            // would meet on a diagonal, unless they are between updates of one tile.
            && self.keeps_reductions(band)?
            && locality::tuples(self.model, &band.members[0])?.iter().all(deep))
    }

    /// Whether no loop of a band carries a dependence that reductions free.
    fn keeps_reductions(&self, band: &Band) -> Result<bool> {
        let mut freed = self.dependences.iter().filter(|d| d.reduction.is_some()).peekable();
        if freed.peek().is_none() {
            return Ok(true);
        }
        let kept = || -> isl::Result<bool> {
            let mut relation = UnionMap::empty(&self.model.ctx)?;
            for dependence in freed {
                relation = relation.union(&dependence.relation.to_union()?)?;
            }
            for member in &band.members {
                let function = UnionPwAff::read(&self.model.ctx, member.function.as_str())?;
                let domain = function.domain()?;
                let own = relation.intersect_domain(&domain)?.intersect_range(&domain)?;
                if !own.subtract(&own.eq_at(&function.to_multi()?)?)?.is_empty()? {
                    return Ok(false);
                }
            }
            Ok(true)
        };
        kept().map_err(fault::library)
    }

    /// Sizes of the tiles of a band; none where it stays as it is.
    fn tile_sizes(&self, band: &Band, shape: &BandShape) -> Result<Option<Vec<i64>>> {
        let n = band.members.len();
        // Tiles on diagonals, too, where several statements (rows at the border) have a place of
        // their own in the skewed loops.
        let flat = |tuple: &String| self.model.by_tuple(tuple).is_some_and(|s| s.loops.len() < n);
        let rows = locality::tuples(self.model, &band.members[0])?.iter().filter(|tuple| flat(tuple)).count();
        let intricate = shape.diagonals && n >= 3 && rows > 1;
        Ok(match &self.options.tiling {
            Tiling::None => None,
            _ if n < 2 || !band.permutable || intricate => None,
            Tiling::Fixed(sizes) => {
                let last = sizes.last().copied();
                last.map(|last| (0..n).map(|k| sizes.get(k).copied().unwrap_or(last)).collect::<Vec<_>>())
            }
            Tiling::Caches(_) if !locality::reuses(self.model, band)? => None,
            Tiling::Caches(caches) => {
                let along = shape.innermost || self.deepest(band, false)?.is_some();
                let mut sizes = locality::tile_sizes(self.model, band, caches.l2, along)?;
                if shape.diagonals {
                    // There should be several tiles on a diagonal.
                    sizes[0] = sizes[0].min(64);
                    let waits = shape.innermost && band.members.iter().all(|member| !member.coincident);
                    // Elements of a row wait for each other in the text, too.
                    let free = || diamond::carries_nothing(self.model, self.dependences, &band.members[1]);
                    let chain = waits && n == 2 && shape.alone && !free()?;
                    sizes[1] = if chain { self.rows_at_once(band)? } else { sizes[1].min(64) };
                    if waits && n >= 3 {
                        sizes[n - 1] = WAITING;
                    }
                    if let Some(shape) = self.options.contraction
                        && let Some(tile) = blocked_recurrence::tile_sizes(self.model, band, &shape)?
                    {
                        sizes = tile;
                    }
                }
                Some(sizes)
            }
        })
    }

    /// Iterations of an innermost loop in a tile of rows that wait for each other: a quarter of
    /// what a short row has, so that there are tiles for the threads.
    fn rows_at_once(&self, band: &Band) -> Result<i64> {
        let driven = locality::driven(self.model, &band.members[1])?;
        let own = self.model.statements.iter().filter_map(|s| s.loops.get(*driven.get(&s.tuple)?));
        let extent = own.filter_map(|around| match (&around.lower, &around.upper) {
            (Expr::Int(low), Expr::Int(high)) => high.checked_sub(*low),
            _ => None,
        });
        Ok(extent.min().map_or(ROWS_AT_ONCE, |extent| (extent / 4).clamp(64, ROWS_AT_ONCE)))
    }

    /// A line of the report about a band.
    fn report_band(&mut self, band: &Band, shape: &BandShape, sizes: Option<&[i64]>) {
        let line = format!(
            "{} loops{}{}{}{}",
            band.members.len(),
            if band.permutable { ", permutable" } else { "" },
            if shape.outer_parallel { ", outermost parallel" } else { "" },
            sizes.map_or(String::new(), |s| format!(", tiles {s:?}")),
            if shape.diagonals && sizes.is_some() { ", diagonals of tiles parallel" } else { "" }
        );
        self.report.bands.push(line);
        self.report.tiled |= sizes.is_some();
    }

    /// Sizes of tiles for the first cache inside those for the second, where three loops come back
    /// to the same data.
    fn inner_sizes(&self, band: &Band, large: &[i64]) -> Result<Option<Vec<i64>>> {
        let Tiling::Caches(caches) = &self.options.tiling else { return Ok(None) };
        let inner = locality::tile_sizes(self.model, band, caches.l1, true)?;
        let fitting: Vec<i64> = inner.iter().zip(large).map(|(s, l)| part_of(*s, *l)).collect();
        Ok((fitting != *large && fitting.iter().all(|size| *size >= SMALLEST)).then_some(fitting))
    }

    /// A band in tiles of these sizes, with smaller ones inside where that is worth it.
    fn tiled(&mut self, band: Band, shape: &BandShape, sizes: &[i64]) -> Result<Node> {
        let n = band.members.len();
        let small = match n >= 3 && shape.innermost && shape.alone && !shape.diagonals {
            true => self.inner_sizes(&band, sizes)?,
            false => None,
        };
        if let (Some(small), Some(line)) = (&small, self.report.bands.last_mut()) {
            line.push_str(&format!(", in them {small:?}"));
        }
        let mut tiles = transform::tile::tile_band(&self.model.ctx, band.clone(), sizes)?;
        let middle = match &small {
            Some(small) => Some(transform::tile::tile_band(&self.model.ctx, band.clone(), small)?),
            None => None,
        };
        let untiled = Band { child: Box::new(Node::Leaf), ..band.clone() };
        let (points, marks) = self.points(band, shape, true)?;
        let mut points = transform::mark::mark_band(points, &marks)?;
        if let Some(mut middle) = middle {
            middle.child = Box::new(points);
            points = Node::Band(middle);
        }
        if self.options.contraction.is_some() && n == 2 {
            points = self.recurrences(&untiled, points, sizes)?;
        }
        tiles.child = Box::new(points);
        let mut marks = vec![None; n];
        if shape.outer_parallel {
            marks[0] = Some("parallel");
        } else if shape.diagonals {
            tiles.members[0] = self.front(&tiles)?;
            marks[1] = Some("parallel");
        }
        let node = transform::mark::mark_band(tiles, &marks)?;
        let plain = shape.alone && shape.innermost && !shape.diagonals && !self.sequential;
        if self.options.isolate && plain {
            return transform::isolate::isolate(self.model, node, &untiled, sizes);
        }
        Ok(node)
    }

    /// What is done in a tile, with contractions first where that is a recurrence over intervals.
    fn recurrences(&mut self, band: &Band, points: Node, sizes: &[i64]) -> Result<Node> {
        match blocked_recurrence::tile((self.model, self.dependences), band, points, sizes, self.refused)? {
            Ok(node) => {
                if let Some(line) = self.report.bands.last_mut() {
                    line.push_str(", what reads finished tiles as a contraction");
                }
                self.report.contracted = true;
                Ok(node)
            }
            Err(points) => Ok(points),
        }
    }

    /// The point loops of a band, the one along memory innermost, and the marks of its loops.
    fn points(
        &self,
        mut points: Band,
        shape: &BandShape,
        tiled: bool,
    ) -> Result<(Band, Vec<Option<&'static str>>)> {
        let n = points.members.len();
        let mut marks = vec![None; n];
        // An untiled parallel loop stays outermost.
        let kept = shape.outer_parallel && !tiled;
        if !self.options.vector {
            return Ok((points, marks));
        }
        if !shape.innermost {
            if let Some(k) = self.deepest(&points, kept)? {
                let member = points.members.remove(k);
                marks.pop();
                points.child = Box::new(at_the_end(*points.child, &member));
            }
            if n == 1 && !shape.outer_parallel && nests(&points.child) && self.window(&points)? {
                marks[0] = Some("vector");
            }
            return Ok((points, marks));
        }
        let mut best: Option<((i64, bool), usize)> = None;
        for (k, member) in points.members.iter().enumerate() {
            let score = locality::vector_score(self.model, member)?;
            let free = !(k == 0 && kept);
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
            if coincident && score > 0 && !locality::gathers_small(self.model, &points.members[n - 1])? {
                marks[n - 1] = Some("vector");
                // Statements that are shifted against each other begin and end apart: conditions
                // for that stay out of the loop.
                if locality::shifted(self.model, &points.members[n - 1])? {
                    points.members.iter_mut().for_each(|member| member.code = LoopCode::Separate);
                }
            }
        }
        Ok((points, marks))
    }
}

/// What is known of a band before its loops are made.
struct BandShape {
    /// Whether no band is below it.
    innermost: bool,
    /// Whether its first loop is parallel.
    outer_parallel: bool,
    /// Whether its tiles, if it gets some, are parallel on a diagonal.
    diagonals: bool,
    /// Whether it is one statement's.
    alone: bool,
}

/// The loops of a band and of the bands below it, if there is nothing else.
fn nest(band: &Band) -> Option<Vec<&Member>> {
    let mut members: Vec<&Member> = band.members.iter().collect();
    match &*band.child {
        Node::Leaf => {}
        Node::Band(inner) => members.extend(nest(inner)?),
        _ => return None,
    }
    Some(members)
}

/// Whether a node is a nest of loops around a leaf, none of them a vector's.
fn single_nest(node: &Node) -> bool {
    match node {
        Node::Leaf => true,
        Node::Band(band) => single_nest(&band.child),
        Node::Mark { name, child } => name != "vector" && name != contraction::MARK && single_nest(child),
        _ => false,
    }
}

/// As [`single_nest`], with statements one after the other.
fn nests(node: &Node) -> bool {
    match node {
        Node::Sequence(branches) => branches.iter().all(|branch| nests(&branch.child)),
        Node::Leaf => true,
        Node::Band(band) => nests(&band.child),
        Node::Mark { name, child } => name != "vector" && name != contraction::MARK && nests(child),
        _ => false,
    }
}

/// The nest with one more loop inside, for vectors.
fn at_the_end(node: Node, member: &Member) -> Node {
    match node {
        Node::Leaf => {
            let band = Band {
                members: vec![member.clone()],
                permutable: true,
                isolate: None,
                child: Box::new(Node::Leaf),
            };
            Node::Mark { name: "vector".to_owned(), child: Box::new(Node::Band(band)) }
        }
        other => other.map_children(&mut |child| at_the_end(child, member)),
    }
}

/// Steps of an elimination in a block: enough for the contraction beyond to work on each element
/// for a while, few enough that the panels stay small.
const STEPS: i64 = 64;

/// Iterations of an innermost loop in a tile where each waits for the one before it: few enough
/// that the processor is at the next row while they do.
const WAITING: i64 = 16;

/// Iterations of an innermost loop in a tile of rows that wait for each other: rows at once begin
/// and end one after the other, which takes as long as some dozens of iterations. Measured on the
/// longest common subsequence of 4000 elements: 256 takes 24 ms on one thread and 14 on two, 512
/// takes 20 and 9.5, 1024 takes 16 and 10.5.
const ROWS_AT_ONCE: i64 = 1024;

/// The smallest extent of a tile for the first cache: less is not worth its loops.
const SMALLEST: i64 = 16;

/// The largest part of a tile, at most `size`, of which the tile is a multiple.
fn part_of(size: i64, tile: i64) -> i64 {
    (1..=size.min(tile)).rev().find(|part| tile % part == 0).unwrap_or(1)
}

fn has_band(node: &Node) -> bool {
    matches!(node, Node::Band(_)) || node.children().into_iter().any(has_band)
}
