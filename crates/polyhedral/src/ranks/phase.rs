//! One piece of a program as loops that every rank runs on its own blocks: who owns what is
//! written, which iterations that are, and what has to be fetched first.
//!
//! The owner of an element computes it. A loop over elements that are dealt out is clipped to the
//! rank's block; a statement that writes one element stands under a condition. A piece is refused
//! if a rank would read, within it, what another rank writes in it.

use std::collections::{BTreeMap, BTreeSet};

use isl::{Map, MultiPwAff};
use loops::access::AccessSite;
use loops::poly::Poly;
use loops::ranks::{RankProgram, Run};
use loops::simplify::tidy;
use loops::visit::assigns;
use loops::{Access, AccessKind, Expr, Function, Loop, Name, Param, ParamMode, Stmt};

use super::bounds::Footprint;
use super::plan::{Outer, Planned};
use crate::affine::Frame;
use crate::dependence::{self, Kind};
use crate::model::{Model, Statement};

/// Why a piece cannot be distributed as it stands, in words.
pub(super) type Why = String;

/// A loop that is clipped to blocks of a cut: those of its iterations for which
/// `sign * variable + rest` is in the block.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Clip {
    pub cut: usize,
    pub sign: i64,
    pub rest: Expr,
}

/// Where a statement runs along one axis: at the owner of a subscript of a cut, or on all ranks.
pub(super) type Coordinate = Option<(usize, Expr)>;

/// A piece that is looked at.
pub(super) struct Piece<'a> {
    pub program: &'a RankProgram,
    pub function: &'a Function,
    pub stmt: &'a Stmt,
    pub outer: &'a [Outer],
    pub sites: Vec<AccessSite<'a>>,
    /// The loops in it, in the order of the text.
    pub loops: Vec<&'a Loop>,
    /// Arrays that are declared in it.
    pub own: BTreeSet<Name>,
    /// Arrays of which each rank gets the last state from the rank before.
    pub carried: BTreeSet<Name>,
    /// Clips of loops, by loop and axis.
    pub clips: BTreeMap<(usize, usize), Clip>,
    /// Where statements run, by position in the text; one for each axis.
    pub coordinates: BTreeMap<usize, Vec<Coordinate>>,
    /// Arrays on every rank that are only used within the piece.
    pub temporary: BTreeSet<Name>,
}

impl<'a> Piece<'a> {
    pub fn new(
        program: &'a RankProgram,
        function: &'a Function,
        stmt: &'a Stmt,
        outer: &'a [Outer],
    ) -> Result<Piece<'a>, Why> {
        let (mut loops, mut own, mut copies) = (Vec::new(), BTreeSet::new(), false);
        for stmt in stmt.nodes() {
            match stmt {
                Stmt::Loop(l) => loops.push(l),
                Stmt::Local(local) => {
                    own.insert(local.name.clone());
                }
                Stmt::Copy(_) | Stmt::Wait(_) => copies = true,
                _ => {}
            }
        }
        if copies {
            return Err("it copies between memories".to_owned());
        }
        let sites = loops::accesses(std::slice::from_ref(stmt));
        for site in &sites {
            let name = &site.access.array;
            if program.place(name).is_none() && !own.contains(name) {
                return Err(format!("the extents of `{name}` change"));
            }
        }
        Ok(Piece {
            program,
            function,
            stmt,
            outer,
            sites,
            loops,
            own,
            carried: BTreeSet::new(),
            clips: BTreeMap::new(),
            coordinates: BTreeMap::new(),
            temporary: BTreeSet::new(),
        })
    }

    /// The loops of the piece around a place, outermost first.
    pub fn around(&self, site: &AccessSite) -> Vec<usize> {
        site.loops().filter_map(|l| self.loops.iter().position(|own| std::ptr::eq(*own, l))).collect()
    }

    /// Whether an array has one copy on each rank that is no other rank's business.
    pub(crate) fn is_private(&self, name: &Name) -> bool {
        self.own.contains(name) || self.temporary.contains(name)
    }

    /// The subscript that says who owns an element along an axis.
    fn owner(&self, access: &Access, axis: usize) -> Coordinate {
        if self.own.contains(&access.array) || self.carried.contains(&access.array) {
            return None;
        }
        let placed = self.program.place(&access.array)?;
        let along = |cut: &Option<usize>| cut.filter(|cut| self.program.cuts[*cut].axis == axis);
        let (dim, cut) = placed.cut.iter().enumerate().find_map(|(d, cut)| Some((d, along(cut)?)))?;
        Some((cut, access.indices.get(dim)?.clone()))
    }

    /// Decides which loops are clipped and where each statement runs.
    pub(crate) fn place_statements(&mut self) -> Result<(), Why> {
        let writes: Vec<(usize, &Access, Vec<usize>)> = self
            .sites
            .iter()
            .filter(|site| site.kind != AccessKind::Read)
            .map(|site| (site.position, site.access, self.around(site)))
            .collect();
        let mut pinned: BTreeMap<(usize, usize), (usize, Expr)> = BTreeMap::new();
        let mut clipped_by: BTreeMap<(usize, usize), usize> = BTreeMap::new();
        for axis in 0..self.program.axes {
            for (position, access, around) in &writes {
                let Some((cut, index)) = self.owner(access, axis) else { continue };
                if index.has_loads() {
                    return Err(format!("which element of `{}` it writes depends on data", access.array));
                }
                if let Some((at, clip)) = self.clip_of(cut, &index, around)? {
                    match self.clips.get(&(at, axis)) {
                        Some(other) if *other != clip => return Err(self.differ(at)),
                        _ => self.clips.insert((at, axis), clip),
                    };
                    clipped_by.insert((*position, axis), at);
                }
                pinned.insert((*position, axis), (cut, index));
            }
        }
        for (position, access, around) in &writes {
            let mut coordinates = Vec::new();
            for axis in 0..self.program.axes {
                let clipped: Vec<usize> =
                    around.iter().copied().filter(|l| self.clips.contains_key(&(*l, axis))).collect();
                match pinned.get(&(*position, axis)) {
                    Some(at) => {
                        let own = clipped_by.get(&(*position, axis));
                        if clipped.iter().any(|l| Some(l) != own) {
                            return Err(self.differ(clipped[0]));
                        }
                        coordinates.push(Some(at.clone()));
                    }
                    None => {
                        if !clipped.is_empty()
                            && !self.own.contains(&access.array)
                            && !self.carried.contains(&access.array)
                        {
                            if self.program.place(&access.array).is_some_and(|p| !p.is_everywhere()) {
                                return Err(self.differ(clipped[0]));
                            }
                            self.temporary.insert(access.array.clone());
                        }
                        coordinates.push(self.within(&clipped, axis)?);
                    }
                }
            }
            self.coordinates.insert(*position, coordinates);
        }
        self.check_blocks()
    }

    /// Where ranks have several blocks, the piece runs once for each: every statement must belong
    /// to one block, of the same cut.
    fn check_blocks(&self) -> Result<(), Why> {
        for axis in 0..self.program.axes {
            let all = self.coordinates.values().map(|at| at[axis].as_ref().map(|(cut, _)| *cut));
            let all: BTreeSet<Option<usize>> = all.collect();
            let several = |cut: &Option<usize>| cut.is_some_and(|cut| self.program.cuts[cut].width.is_some());
            if all.len() > 1 && all.iter().any(several) {
                return Err("its statements belong to blocks of different arrays".to_owned());
            }
        }
        Ok(())
    }

    fn differ(&self, at: usize) -> Why {
        format!("the statements in the loop over `{}` write elements of different owners", self.loops[at].var)
    }

    /// Where what stands in clipped loops runs.
    fn within(&self, clipped: &[usize], axis: usize) -> Result<Coordinate, Why> {
        match clipped {
            [] => Ok(None),
            [at] => {
                let clip = &self.clips[&(*at, axis)];
                let var = Expr::Var(self.loops[*at].var.clone());
                Ok(Some((clip.cut, tidy(&(var * clip.sign + clip.rest.clone())))))
            }
            [at, ..] => Err(self.differ(*at)),
        }
    }

    /// Where a place runs, by its axis: its statement's place, or that of the loops around a bound
    /// or a condition.
    pub(crate) fn coordinates_of(&self, site: &AccessSite) -> Vec<Coordinate> {
        if let Some(known) = self.coordinates.get(&site.position) {
            return known.clone();
        }
        let around = self.around(site);
        (0..self.program.axes)
            .map(|axis| {
                let clipped: Vec<usize> =
                    around.iter().copied().filter(|l| self.clips.contains_key(&(*l, axis))).collect();
                self.within(&clipped, axis).unwrap_or(None)
            })
            .collect()
    }

    /// The loop that runs through a subscript, and how it is clipped; none if no loop of the piece
    /// does.
    pub(crate) fn clip_of(
        &self,
        cut: usize,
        index: &Expr,
        around: &[usize],
    ) -> Result<Option<(usize, Clip)>, Why> {
        let many = || format!("the owner of `{index}` is not known by one loop");
        let inner: Vec<usize> =
            around.iter().copied().filter(|l| index.mentions(&self.loops[*l].var)).collect();
        let at = match inner.as_slice() {
            [] => return Ok(None),
            [at] => *at,
            _ => return Err(many()),
        };
        let var = Expr::Var(self.loops[at].var.clone());
        let (factor, rest) = Poly::of(index).and_then(|poly| poly.split(&var)).ok_or_else(many)?;
        let sign = factor.as_constant().filter(|f| f.abs() == 1).ok_or_else(many)?;
        let rest = rest.to_expr(&[]).filter(|rest| !rest.mentions(&self.loops[at].var)).ok_or_else(many)?;
        Ok(Some((at, Clip { cut, sign, rest })))
    }

    /// A loop of the piece with its clips.
    pub fn clipped(&self, at: usize) -> Loop {
        let mut l = self.loops[at].clone();
        for axis in 0..self.program.axes {
            let Some(clip) = self.clips.get(&(at, axis)) else { continue };
            let cut = &self.program.cuts[clip.cut];
            let (low, high) = (Expr::Var(cut.low()), Expr::Var(cut.high()));
            let (from, to) = match clip.sign {
                1 => (low - clip.rest.clone(), high - clip.rest.clone()),
                _ => (clip.rest.clone() - high + 1, clip.rest.clone() - low + 1),
            };
            let from = match l.step {
                1 => l.lower.clone().max(from),
                // The first iteration of the loop at or behind the border.
                step => {
                    let before = Expr::Int(0).max(from - l.lower.clone());
                    l.lower.clone() + (before + (step - 1)).floor_div(step) * step
                }
            };
            l.lower = tidy(&from);
            l.upper = tidy(&l.upper.clone().min(to));
        }
        l
    }

    /// The condition under which a statement runs that writes one element.
    pub fn guard(&self, position: usize, around: &[usize]) -> Option<Expr> {
        let mut guard: Option<Expr> = None;
        let coordinates = self.coordinates.get(&position)?;
        for (axis, coordinate) in coordinates.iter().enumerate() {
            let Some((cut, index)) = coordinate else { continue };
            if around.iter().any(|l| self.clips.contains_key(&(*l, axis))) {
                continue;
            }
            let cut = &self.program.cuts[*cut];
            let here =
                Expr::Var(cut.low()).at_most(index.clone()).and(index.clone().less(Expr::Var(cut.high())));
            guard = Some(match guard {
                Some(guard) => guard.and(here),
                None => here,
            });
        }
        guard
    }

    /// The piece as a function of its own, for its dependences.
    pub fn model(&self) -> Result<Model, Why> {
        let function = &self.function;
        let mut sizes = function.sizes.clone();
        let mut assumptions = function.assumptions.clone();
        for outer in self.outer {
            sizes.push(outer.var.clone());
            assumptions.push(outer.lower.clone().at_most(Expr::Var(outer.var.clone())));
            assumptions.push(Expr::Var(outer.var.clone()).less(outer.upper.clone()));
        }
        let params = self.program.places.iter().filter(|p| !self.own.contains(&p.array.name));
        let params = params.map(|p| {
            let array = &p.array;
            Param::new(array.name.clone(), ParamMode::InOut, array.elem.clone(), array.dims.clone())
        });
        let piece = Function {
            name: function.name.clone(),
            sizes,
            assumptions,
            params: params.collect(),
            body: vec![self.stmt.clone()],
        };
        Model::extract(&piece).map_err(|d| d.message)
    }

    /// The statements of a model with where they run.
    fn by_label(&self, model: &Model) -> Result<BTreeMap<Name, Vec<Option<Map>>>, Why> {
        let mut found = BTreeMap::new();
        for statement in &model.statements {
            let positions: Vec<usize> = match &statement.nest {
                None => self.positions(&statement.label),
                Some(l) => {
                    let mut labels = Vec::new();
                    labels.extend(assigns(&l.body).filter_map(|assign| assign.label.clone()));
                    labels.iter().flat_map(|label| self.positions(label)).collect()
                }
            };
            let all: Vec<&Vec<Coordinate>> =
                positions.iter().filter_map(|p| self.coordinates.get(p)).collect();
            let Some(first) = all.first() else { return Err("a statement has no label".to_owned()) };
            if all.iter().any(|other| other != first) {
                return Err("a loop whose bounds are data writes elements of several owners".to_owned());
            }
            let maps = first
                .iter()
                .map(|at| at.as_ref().map(|(_, e)| coordinate_map(model, statement, e)).transpose());
            found.insert(statement.label.clone(), maps.collect::<Result<Vec<_>, Why>>()?);
        }
        Ok(found)
    }

    fn positions(&self, label: &Name) -> Vec<usize> {
        let of = |site: &&AccessSite| site.label == Some(label) && site.kind != AccessKind::Read;
        self.sites.iter().filter(of).map(|site| site.position).collect()
    }

    /// That no rank reads, within the piece, what another rank writes in it. The result says
    /// whether no two ranks touch one element at all, so that its iterations may run in any order.
    pub(crate) fn check_order(&self, model: &Model, buffered: &[(usize, &Access)]) -> Result<bool, Why> {
        let at = self.by_label(model)?;
        let flows = dependence::dataflow(model).map_err(|d| d.message)?;
        for d in flows.iter().filter(|d| !self.carried.contains(&d.array)) {
            // Each iteration around a declaration has an array of its own.
            let scope = model.scopes.get(&d.array).map_or(0, Vec::len);
            let within = (0..scope)
                .try_fold(d.relation.clone(), |map, k| map.equate((isl::Dim::In, k), (isl::Dim::Out, k)));
            let within = within.map_err(|e| e.to_string())?;
            if !self.stays(&at, &d.source, &d.target, &within)? {
                return Err(format!(
                    "`{}` needs values of `{}` that `{}` computes on another rank",
                    d.target, d.array, d.source
                ));
            }
        }
        self.check_buffers(model, buffered)?;
        let mut free = self.carried.is_empty();
        for d in dependence::memory(model).map_err(|d| d.message)? {
            let storage = d.kind != Kind::Flow && self.is_private(&d.array);
            free = free && (storage || d.private || self.stays(&at, &d.source, &d.target, &d.relation)?);
        }
        Ok(free)
    }

    /// Whether two ends of a dependence are always on one rank.
    fn stays(
        &self,
        at: &BTreeMap<Name, Vec<Option<Map>>>,
        source: &Name,
        target: &Name,
        relation: &Map,
    ) -> Result<bool, Why> {
        let (Some(from), Some(to)) = (at.get(source), at.get(target)) else { return Ok(false) };
        for (from, to) in from.iter().zip(to) {
            let stays = match (from, to) {
                // All ranks compute it.
                (None, _) => true,
                (Some(_), None) => false,
                (Some(from), Some(to)) => {
                    let cross = || -> isl::Result<bool> {
                        let same = from.apply_range(&to.reverse()?)?;
                        relation.subtract(&same)?.is_empty()
                    };
                    cross().map_err(|e| e.to_string())?
                }
            };
            if !stays {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// That what is read from a buffer is not written in the piece before it is read.
    fn check_buffers(&self, model: &Model, buffered: &[(usize, &Access)]) -> Result<(), Why> {
        for (position, access) in buffered {
            let reader = self.sites.iter().find(|s| s.position == *position).and_then(|s| s.label);
            let stale = || format!("`{access}` is written before it is read");
            let writers: Vec<&Statement> = model
                .statements
                .iter()
                .filter(|s| s.accesses.iter().any(|t| t.write && t.array == access.array))
                .collect();
            if writers.is_empty() {
                continue;
            }
            // A bound or a condition: it belongs to all statements under it.
            let Some(reader) = reader.and_then(|label| model.statements.iter().find(|s| s.label == *label))
            else {
                return Err(stale());
            };
            let Ok(reads) = access_map(model, reader, access) else { return Err(stale()) };
            for writer in writers {
                for touch in writer.accesses.iter().filter(|t| t.write && t.array == access.array) {
                    let meets = || -> isl::Result<bool> {
                        let written = touch.relation.reset_tuple_name(isl::Dim::Out)?;
                        let pairs = written.apply_range(&reads.reverse()?)?;
                        Ok(!pairs.intersect(&dependence::before(writer, reader)?)?.is_empty()?)
                    };
                    if meets().map_err(|e| e.to_string())? {
                        return Err(stale());
                    }
                }
            }
        }
        Ok(())
    }

    /// The statements of the piece with clipped loops, conditions, and buffers in the place of
    /// arrays.
    pub fn rewritten(&self, names: &BTreeMap<(usize, Access), Name>) -> Vec<Stmt> {
        let guards: BTreeSet<Option<Expr>> =
            self.coordinates.keys().map(|position| self.guard_at(*position)).collect();
        // A condition of all statements stands around all of them.
        let common = match guards.iter().collect::<Vec<_>>().as_slice() {
            [Some(guard)] if guard.vars().iter().all(|v| self.loops.iter().all(|l| l.var != *v)) => {
                Some(guard.clone())
            }
            _ => None,
        };
        let body = vec![self.rewrite(self.stmt, &mut 0, &mut 0, names, common.is_some())];
        match common {
            Some(cond) => vec![Stmt::when(cond, body)],
            None => body,
        }
    }

    pub(crate) fn guard_at(&self, position: usize) -> Option<Expr> {
        let site = self.sites.iter().find(|s| s.position == position)?;
        self.guard(position, &self.around(site))
    }

    fn rewrite(
        &self,
        stmt: &Stmt,
        position: &mut usize,
        loops: &mut usize,
        names: &BTreeMap<(usize, Access), Name>,
        guarded: bool,
    ) -> Stmt {
        let own = *position;
        *position += 1;
        let renamed = |e: &Expr| in_buffers(e, own, names);
        let mut new = match stmt {
            Stmt::Loop(_) => {
                *loops += 1;
                Stmt::Loop(Loop { body: Vec::new(), ..self.clipped(*loops - 1) })
            }
            other => other.clone(),
        };
        new = new.map(&mut |e| renamed(e), &mut |_| Vec::new());
        match (&mut new, stmt) {
            (Stmt::Loop(new), Stmt::Loop(old)) => {
                new.body = self.rewrite_all(&old.body, position, loops, names, guarded);
            }
            (Stmt::Block { body: new, .. }, Stmt::Block { body: old, .. }) => {
                *new = self.rewrite_all(old, position, loops, names, guarded);
            }
            (Stmt::If { then, otherwise, .. }, Stmt::If { then: old_then, otherwise: old_otherwise, .. }) => {
                *then = self.rewrite_all(old_then, position, loops, names, guarded);
                *otherwise = self.rewrite_all(old_otherwise, position, loops, names, guarded);
            }
            (Stmt::Assign(assign), Stmt::Assign(old)) => {
                let indices = old.target.indices.iter().map(renamed).collect();
                assign.target = Access { indices, ..buffer_of(&old.target, own, names) };
                if let Some(guard) = self.guard_at(own).filter(|_| !guarded) {
                    new = Stmt::when(guard, vec![new]);
                }
            }
            _ => {}
        }
        new
    }

    fn rewrite_all(
        &self,
        body: &[Stmt],
        position: &mut usize,
        loops: &mut usize,
        names: &BTreeMap<(usize, Access), Name>,
        guarded: bool,
    ) -> Vec<Stmt> {
        body.iter().map(|stmt| self.rewrite(stmt, position, loops, names, guarded)).collect()
    }
}

/// An expression with buffers in the place of arrays.
fn in_buffers(e: &Expr, position: usize, names: &BTreeMap<(usize, Access), Name>) -> Expr {
    match e {
        Expr::Load(access) => {
            let indices = access.indices.iter().map(|e| in_buffers(e, position, names)).collect();
            Expr::Load(Access { indices, ..buffer_of(access, position, names) })
        }
        _ => e.map_children(&mut |child| in_buffers(child, position, names)),
    }
}

/// The access to what holds the element: an array or a buffer.
fn buffer_of(access: &Access, position: usize, names: &BTreeMap<(usize, Access), Name>) -> Access {
    match names.get(&(position, access.clone())) {
        Some(name) => Access { array: name.clone(), ..access.clone() },
        None => access.clone(),
    }
}

/// The subscript of its owner for each instance of a statement.
fn coordinate_map(model: &Model, statement: &Statement, index: &Expr) -> Result<Map, Why> {
    subscripts_map(model, statement, std::slice::from_ref(index))
}

/// The element that a read touches for each instance of its statement.
fn access_map(model: &Model, statement: &Statement, access: &Access) -> Result<Map, Why> {
    subscripts_map(model, statement, &access.indices)
}

fn subscripts_map(model: &Model, statement: &Statement, indices: &[Expr]) -> Result<Map, Why> {
    let space = statement.domain.space().map_err(|e| e.to_string())?;
    let frame = Frame::of_space(&space, &model.function.sizes, statement.iterators());
    let functions = indices
        .iter()
        .map(|e| frame.function("the subscript", e).map_err(|d| d.message))
        .collect::<Result<Vec<_>, Why>>()?;
    let build = || -> isl::Result<Map> {
        let to = space.params()?.set_from_params()?.add_dims(isl::Dim::SET, functions.len())?;
        let function = MultiPwAff::from_list(&space.map_to(&to)?, &functions)?;
        Map::from_multi_pw_aff(&function)?.intersect_domain(&statement.domain)
    };
    build().map_err(|e| e.to_string())
}

/// A piece with all that was decided, as steps.
pub(super) fn finish(piece: &Piece, footprint: Footprint, free: bool) -> Planned {
    let body = piece.rewritten(&footprint.names);
    let mut run = Run::new(loops::ranks::At::All, body);
    let mut steps = footprint.fetches;
    let everywhere = |axis: usize| {
        let mut coordinates = piece.coordinates.keys();
        coordinates.all(|position| {
            let site = piece.sites.iter().find(|s| s.position == *position);
            site.is_some_and(|s| piece.around(s).iter().any(|l| piece.clips.contains_key(&(*l, axis))))
        })
    };
    let axes: Vec<usize> = footprint.margins.iter().map(|m| piece.program.cuts[m.cut].axis).collect();
    let overlaps = free && !axes.is_empty() && axes.iter().all(|axis| everywhere(*axis));
    if overlaps {
        run.during = footprint.halo_fetches;
        run.margins = footprint.margins;
    } else {
        steps.extend(footprint.halo_fetches.into_iter().map(loops::ranks::Step::Fetch));
    }
    steps.push(loops::ranks::Step::Run(run));
    Planned { steps, halos: footprint.halos, clipped: !piece.clips.is_empty(), root: None }
}
