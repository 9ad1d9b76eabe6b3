//! From statements to steps: the largest pieces that can be distributed, loops around them that all
//! ranks run, chains of ranks, and what is left on one rank. Of several ways the cheapest is taken.

use std::collections::{BTreeMap, BTreeSet};

use loops::program::Stmt;
use loops::ranks::{At, Elements, Fetch, Grid, Numbers, RankProgram, Repeat, Return, Run, Step};
use loops::{Access, AccessKind, Elem, Expr, Function, Loop, Name, ReduceOp, Scalar};

use super::bounds::{all_touched, facts, footprint};
use super::cost::{Cost, Network};
use super::phase::{Clip, Piece, Why, finish};
use super::strip_mining;
use crate::dependence::{self, Dependence};

/// A loop that all ranks run.
#[derive(Clone, Debug)]
pub(super) struct Outer {
    pub var: Name,
    pub lower: Expr,
    pub upper: Expr,
}

/// Room for elements of other ranks around the blocks of an array, in one dimension.
#[derive(Clone, Debug)]
pub(super) struct HaloRoom {
    pub array: Name,
    pub dim: usize,
    /// Elements before a block, and after it.
    pub before: i64,
    pub after: i64,
}

/// Steps, and what they need.
#[derive(Clone, Debug, Default)]
pub(super) struct Planned {
    pub steps: Vec<Step>,
    /// Room for halos.
    pub halos: Vec<HaloRoom>,
    /// Whether a loop is dealt out to ranks.
    pub clipped: bool,
    /// If it is only statements on one rank: these.
    pub root: Option<Vec<Stmt>>,
}

impl Planned {
    fn then(&mut self, other: Planned) {
        self.steps.extend(other.steps);
        self.halos.extend(other.halos);
        self.clipped |= other.clipped;
    }
}

/// Plans one function in one layout.
pub(super) struct Mapper<'a> {
    pub program: &'a RankProgram,
    pub function: &'a Function,
    pub grid: Grid,
    pub sizes: Numbers,
    pub network: Network,
    /// Whether sums may be taken apart.
    pub reassociate: bool,
    /// Iterations in a strip.
    pub width: i64,
    /// Who sees whose values, over the whole function; none if that is not known.
    flows: Option<&'a [Dependence]>,
    taken: BTreeSet<Name>,
    /// Why statements are on one rank, by the statement.
    pub alone: BTreeMap<String, Why>,
}

impl<'a> Mapper<'a> {
    pub fn new(
        program: &'a RankProgram,
        function: &'a Function,
        flows: Option<&'a [Dependence]>,
        (grid, sizes, network): (&Grid, &Numbers, Network),
        (reassociate, width): (bool, i64),
    ) -> Mapper<'a> {
        let mut taken = loops::visit::taken(function);
        for cut in &program.cuts {
            taken.extend([cut.name.clone(), cut.low(), cut.high()]);
        }
        let (grid, sizes) = (grid.clone(), sizes.clone());
        Mapper {
            program,
            function,
            grid,
            sizes,
            network,
            reassociate,
            width,
            flows,
            taken,
            alone: BTreeMap::new(),
        }
    }

    /// The steps of statements.
    pub fn block(&mut self, body: &[Stmt], outer: &[Outer]) -> Result<Planned, Why> {
        let mut all: Vec<Planned> = Vec::new();
        for stmt in body {
            let next = self.stmt(stmt, outer)?;
            // Statements on one rank go there together.
            let merged = match (all.last().and_then(|p| p.root.clone()), &next.root) {
                (Some(mut before), Some(more)) => {
                    before.extend(more.iter().cloned());
                    Some(self.root(&before, outer)?)
                }
                _ => None,
            };
            match merged {
                Some(merged) => {
                    all.pop();
                    all.push(merged);
                }
                None if next.steps.is_empty() => {}
                None => all.push(next),
            }
        }
        if let [_] = all.as_slice() {
            return Ok(all.remove(0));
        }
        let mut planned = Planned::default();
        all.into_iter().for_each(|one| planned.then(one));
        Ok(planned)
    }

    fn stmt(&mut self, stmt: &Stmt, outer: &[Outer]) -> Result<Planned, Why> {
        match stmt {
            Stmt::Block { body, .. } => return self.block(body, outer),
            Stmt::Local(local) => {
                return match self.program.place(&local.name) {
                    Some(_) => Ok(Planned::default()),
                    None => Err(format!("the extents of `{}` change", local.name)),
                };
            }
            _ => {}
        }
        let whole = self.phase(stmt, outer);
        let mut why = whole.as_ref().err().cloned();
        let Stmt::Loop(l) = stmt else {
            return match whole {
                Ok(planned) => Ok(planned),
                Err(why) => self.alone_on_root(stmt, outer, why),
            };
        };
        let mut ways = Vec::new();
        let chain = self.chain(stmt, l, outer).ok();
        match whole {
            Ok(planned) if planned.clipped => return Ok(self.in_strips(l, outer).unwrap_or(planned)),
            // All ranks with all data is no way to more data.
            Ok(planned) if chain.is_none() || !fetches(&planned) => ways.push(planned),
            _ => {}
        }
        if let Some(parts) = self.apart(l, outer) {
            ways.extend(self.block(&parts, outer));
        }
        match self.repeat(l, outer) {
            Ok(planned) => ways.push(planned),
            Err(other) => why = Some(why.unwrap_or(other)),
        }
        // Nor is one rank with all data.
        if chain.is_none() || !outer.is_empty() {
            ways.push(self.root(std::slice::from_ref(stmt), outer)?);
        }
        ways.extend(chain);
        let costs: Vec<f64> = ways.iter().map(|way| self.cost(way, outer)).collect();
        let best = (0..ways.len()).min_by(|a, b| costs[*a].total_cmp(&costs[*b]));
        let Some(best) = best.map(|best| ways.swap_remove(best)) else {
            return Err("there is no way to run it".to_owned());
        };
        if best.root.is_some() {
            let why = why.unwrap_or_else(|| "that takes less time than its messages".to_owned());
            self.alone.insert(stmt.headline(), why);
        }
        Ok(best)
    }

    fn alone_on_root(&mut self, stmt: &Stmt, outer: &[Outer], why: Why) -> Result<Planned, Why> {
        let planned = self.root(std::slice::from_ref(stmt), outer)?;
        self.alone.insert(stmt.headline(), why);
        Ok(planned)
    }

    /// Seconds of a way at the supposed sizes.
    fn cost(&self, planned: &Planned, outer: &[Outer]) -> f64 {
        let Some(cost) = Cost::new(self.program, &self.grid, &self.sizes, self.network) else {
            return f64::INFINITY;
        };
        let mut numbers = self.sizes.clone();
        for o in outer {
            let value = |e: &Expr| match loops::evaluate::expr(e, &|name| numbers.get(name).copied()) {
                Ok(loops::Value::I64(value)) => value,
                _ => 0,
            };
            let middle = (value(&o.lower) + value(&o.upper)) / 2;
            numbers.insert(o.var.clone(), middle);
        }
        cost.steps(&planned.steps, &numbers)
    }

    /// A piece on all ranks at once.
    fn phase(&mut self, stmt: &Stmt, outer: &[Outer]) -> Result<Planned, Why> {
        let mut piece = Piece::new(self.program, self.function, stmt, outer)?;
        self.check_names(&piece)?;
        piece.place_statements()?;
        self.check_temporary(&piece)?;
        self.finish(&piece, outer)
    }

    /// Loop variables that hide others would be taken for them.
    fn check_names(&self, piece: &Piece) -> Result<(), Why> {
        for l in &piece.loops {
            if self.function.sizes.contains(&l.var) || piece.outer.iter().any(|o| o.var == l.var) {
                return Err(format!("the loop variable `{}` hides another", l.var));
            }
        }
        let (mut vars, mut hidden) = (Vec::new(), false);
        piece.sites.iter().for_each(|site| {
            vars.clear();
            vars.extend(site.loops().map(|l| l.var.clone()));
            let all: BTreeSet<&Name> = vars.iter().collect();
            hidden |= all.len() != vars.len();
        });
        if hidden { Err("a loop variable hides another".to_owned()) } else { Ok(()) }
    }

    fn finish(&mut self, piece: &Piece, outer: &[Outer]) -> Result<Planned, Why> {
        let facts = facts(self.program, self.function, outer);
        let taken = &mut self.taken;
        let mut made = Vec::new();
        let footprint = footprint(piece, &facts, &mut |array| {
            let name = buffer_name(array, taken);
            taken.insert(name.clone());
            made.push(name.clone());
            name
        });
        let buffered: Vec<(usize, &Access)> =
            footprint.names.keys().map(|(at, access)| (*at, access)).collect();
        let model = piece.model()?;
        let free = match piece.check_order(&model, &buffered) {
            Ok(free) => free,
            Err(why) => {
                made.iter().for_each(|name| {
                    self.taken.remove(name);
                });
                return Err(why);
            }
        };
        Ok(finish(piece, footprint, free))
    }

    /// That what a clipped loop leaves in an array of every rank is not read behind it.
    fn check_temporary(&self, piece: &Piece) -> Result<(), Why> {
        if piece.temporary.is_empty() {
            return Ok(());
        }
        let labels: BTreeSet<&Name> = piece.sites.iter().filter_map(|site| site.label).collect();
        for name in &piece.temporary {
            let outside = || format!("`{name}` is the same on all ranks, and is computed in parts");
            let lives = self.program.place(name).is_none_or(|p| p.mode.is_some());
            let Some(flows) = self.flows.filter(|_| !lives) else { return Err(outside()) };
            for d in flows.iter().filter(|d| d.array == *name && labels.contains(&d.source)) {
                if !labels.contains(&d.target) || self.is_carried(d, piece.outer.len())? {
                    return Err(outside());
                }
            }
        }
        Ok(())
    }

    /// Whether a dependence goes from one iteration of the outermost loops to another.
    fn is_carried(&self, d: &Dependence, depth: usize) -> Result<bool, Why> {
        let carried = || -> isl::Result<bool> {
            let mut same = d.relation.clone();
            for k in 0..depth {
                same = same.equate((isl::Dim::In, k), (isl::Dim::Out, k))?;
            }
            Ok(!d.relation.subtract(&same)?.is_empty()?)
        };
        carried().map_err(|e| e.to_string())
    }

    /// A loop that all ranks run, with what is in it distributed.
    fn repeat(&mut self, l: &Loop, outer: &[Outer]) -> Result<Planned, Why> {
        let hidden = self.function.sizes.contains(&l.var) || outer.iter().any(|o| o.var == l.var);
        let known = |e: &Expr| !e.has_loads();
        if hidden || !known(&l.lower) || !known(&l.upper) {
            return Err(format!("the bounds of the loop over `{}` depend on data", l.var));
        }
        let mut inner = outer.to_vec();
        inner.push(Outer { var: l.var.clone(), lower: l.lower.clone(), upper: l.upper.clone() });
        let planned = self.block(&l.body, &inner)?;
        if !planned.clipped {
            return Err("nothing in it can be dealt out to ranks".to_owned());
        }
        let (var, lower, upper, step) = (l.var.clone(), l.lower.clone(), l.upper.clone(), l.step);
        let steps = vec![Step::Loop(Repeat { var, lower, upper, step, ahead: false, body: planned.steps })];
        Ok(Planned { steps, root: None, ..planned })
    }

    /// The loop as several, each around a part of its body, if nothing goes back from a later part.
    fn apart(&self, l: &Loop, outer: &[Outer]) -> Option<Vec<Stmt>> {
        let mut body = Vec::new();
        flat(&l.body, &mut body);
        if body.len() < 2 || body.iter().any(|stmt| matches!(stmt, Stmt::Local(_))) {
            return None;
        }
        let stmt = Stmt::Loop(l.clone());
        let piece = Piece::new(self.program, self.function, &stmt, outer).ok()?;
        let model = piece.model().ok()?;
        let mut group: BTreeMap<Name, usize> = BTreeMap::new();
        for (k, stmt) in body.iter().enumerate() {
            for stmt in stmt.nodes() {
                if let Stmt::Assign(assign) = stmt {
                    group.extend(assign.label.clone().map(|label| (label, k)));
                }
            }
        }
        // Statements between the ends of what goes back stay together.
        let mut joined = vec![false; body.len()];
        for d in dependence::memory(&model).ok()? {
            let (from, to) = (*group.get(&d.source)?, *group.get(&d.target)?);
            if from > to {
                joined[to..from].fill(true);
            }
        }
        let mut parts: Vec<Vec<Stmt>> = Vec::new();
        for (k, stmt) in body.into_iter().enumerate() {
            match parts.last_mut().filter(|_| k > 0 && joined[k - 1]) {
                Some(part) => part.push(stmt),
                None => parts.push(vec![stmt]),
            }
        }
        if parts.len() < 2 {
            return None;
        }
        Some(parts.into_iter().map(|body| Stmt::Loop(Loop { body, ..l.clone() })).collect())
    }

    /// A distributed loop with less in buffers: the loop that goes through them is cut into strips,
    /// which all ranks run one after the other. Of a product that is SUMMA.
    fn in_strips(&mut self, l: &Loop, outer: &[Outer]) -> Option<Planned> {
        let parts = self.apart(l, outer).unwrap_or_else(|| vec![Stmt::Loop(l.clone())]);
        let (mut all, mut some) = (Planned::default(), false);
        for part in &parts {
            let strip = self.strip(part, outer);
            some |= strip.is_some();
            let planned = match strip {
                Some(planned) => planned,
                None => self.phase(part, outer).ok()?,
            };
            if !planned.clipped {
                return None;
            }
            all.then(planned);
        }
        some.then_some(all)
    }

    fn strip(&mut self, part: &Stmt, outer: &[Outer]) -> Option<Planned> {
        let piece = Piece::new(self.program, self.function, part, outer).ok()?;
        let at = strip_mining::candidate(&piece, self.width)?;
        let own = piece.loops[at].clone();
        let trips = self.trips(&own, outer)?;
        if trips <= 2 * self.width || !strip_mining::may_be_outermost(&piece, &own.var)? {
            return None;
        }
        let var = loops::visit::fresh(&Name::new(format!("{}_strip", own.var)), &self.taken);
        self.taken.insert(var.clone());
        let body = strip_mining::within(part, &own, &var, self.width);
        let mut inner = outer.to_vec();
        inner.push(Outer { var: var.clone(), lower: own.lower.clone(), upper: own.upper.clone() });
        let planned =
            self.phase(&body, &inner).ok().filter(|planned| planned.clipped && fetches_matrices(planned))?;
        let (lower, upper) = (own.lower, own.upper);
        let mut repeat = Repeat { var, lower, upper, step: self.width, ahead: false, body: planned.steps };
        repeat.ahead = loops::ranks::may_fetch_ahead(&repeat);
        let steps = vec![Step::Loop(repeat)];
        Some(Planned { steps, ..planned })
    }

    /// Iterations of a loop at the supposed sizes.
    fn trips(&self, l: &Loop, outer: &[Outer]) -> Option<i64> {
        let mut numbers = self.sizes.clone();
        let value = |e: &Expr, numbers: &Numbers| match loops::evaluate::expr(e, &|name| {
            numbers.get(name).copied()
        }) {
            Ok(loops::Value::I64(value)) => Some(value),
            _ => None,
        };
        for o in outer {
            let middle = (value(&o.lower, &numbers)? + value(&o.upper, &numbers)?) / 2;
            numbers.insert(o.var.clone(), middle);
        }
        Some(value(&l.upper, &numbers)? - value(&l.lower, &numbers)?)
    }

    /// Statements on rank 0, which gets what they touch and gives back what they write.
    fn root(&mut self, body: &[Stmt], outer: &[Outer]) -> Result<Planned, Why> {
        let whole = Stmt::Block { mark: None, body: body.to_vec() };
        let piece = Piece::new(self.program, self.function, &whole, outer)?;
        let facts = facts(self.program, self.function, outer);
        let mut planned = Planned { root: Some(body.to_vec()), ..Planned::default() };
        let (mut names, mut returns) = (BTreeMap::new(), Vec::new());
        let touched: BTreeSet<Name> =
            piece.sites.iter().map(|s| s.access.array.clone()).filter(|n| !piece.own.contains(n)).collect();
        for array in touched {
            let Some(placed) = self.program.place(&array) else { continue };
            let written = piece.sites.iter().any(|s| s.access.array == array && s.kind != AccessKind::Read);
            let everywhere = placed.is_everywhere();
            let ranges = match everywhere {
                true => placed.array.dims.iter().map(|n| (Expr::Int(0), n.clone())).collect(),
                false => all_touched(&piece, &array, &facts),
            };
            let what = Elements { array: array.clone(), ranges, when: None };
            let from = (!everywhere).then(|| buffer_name(&array, &self.taken));
            if let Some(into) = &from {
                self.taken.insert(into.clone());
                names.insert(array.clone(), into.clone());
                let (what, working) = (what.clone(), BTreeSet::new());
                planned.steps.push(Step::Fetch(Fetch { what, into: from.clone(), at: At::First, working }));
            }
            if written {
                returns.push(Step::Return(Return { what, from, at: At::First }));
            }
        }
        let body = loops::visit::rename_arrays(body, &names);
        planned.steps.push(Step::Run(Run::new(At::First, body)));
        planned.steps.extend(returns);
        Ok(planned)
    }

    /// A loop whose iterations all ranks run in the order of the program, each its own, with what
    /// is accumulated passed on.
    fn chain(&mut self, stmt: &Stmt, l: &Loop, outer: &[Outer]) -> Result<Planned, Why> {
        if self.program.axes != 1 {
            return Err("it is no chain".to_owned());
        }
        let whole = Piece::new(self.program, self.function, stmt, outer)?;
        self.check_names(&whole)?;
        let varies = |access: &Access| access.indices.iter().any(|e| e.mentions(&l.var));
        let carried: BTreeSet<Name> = whole
            .sites
            .iter()
            .filter(|s| {
                s.kind != AccessKind::Read && !varies(s.access) && !whole.own.contains(&s.access.array)
            })
            .map(|s| s.access.array.clone())
            .collect();
        let Some(clip) = self.best_clip(&whole, l) else { return Err("it reads no blocks".to_owned()) };
        let mut piece = Piece::new(self.program, self.function, stmt, outer)?;
        piece.carried = carried;
        piece.clips.insert((0, 0), clip);
        piece.place_statements()?;
        self.check_temporary(&piece)?;
        let mut planned = self.finish(&piece, outer)?;
        if let Some(reduced) = self.reductions(&piece) {
            for step in &mut planned.steps {
                if let Step::Run(run) = step {
                    run.reduced = reduced.clone();
                }
            }
            return Ok(planned);
        }
        let facts = facts(self.program, self.function, outer);
        let (mut names, mut before, mut behind) = (BTreeMap::new(), Vec::new(), Vec::new());
        let mut elements = Vec::new();
        for array in &piece.carried {
            let Some(placed) = self.program.place(array) else { continue };
            let written = piece.sites.iter().any(|s| s.access.array == *array && s.kind != AccessKind::Read);
            if !written {
                continue;
            }
            let everywhere = placed.is_everywhere();
            let ranges: Vec<(Expr, Expr)> = match everywhere {
                true => placed.array.dims.iter().map(|n| (Expr::Int(0), n.clone())).collect(),
                false => all_touched(&whole, array, &facts),
            };
            let what = Elements { array: array.clone(), ranges: ranges.clone(), when: None };
            let from = (!everywhere).then(|| buffer_name(array, &self.taken));
            if let Some(into) = &from {
                self.taken.insert(into.clone());
                names.insert(array.clone(), into.clone());
                let (what, working) = (what.clone(), BTreeSet::new());
                before.push(Step::Fetch(Fetch { what, into: from.clone(), at: At::First, working }));
            }
            let held = from.clone().unwrap_or_else(|| array.clone());
            elements.push(Elements { array: held, ranges, when: None });
            behind.push(Step::Return(Return { what, from, at: At::Last }));
        }
        for step in &mut planned.steps {
            if let Step::Run(run) = step {
                run.at = At::Chain;
                run.carried = elements.clone();
                run.body = loops::visit::rename_arrays(&run.body, &names);
            }
        }
        planned.steps.splice(0..0, before);
        planned.steps.extend(behind);
        Ok(planned)
    }

    /// What is accumulated, if it may be computed in parts and put together in any order.
    fn reductions(&self, piece: &Piece) -> Option<Vec<(ReduceOp, Name)>> {
        let mut found = Vec::new();
        for name in &piece.carried {
            let placed = self.program.place(name).filter(|placed| placed.is_everywhere())?;
            let mut ops =
                piece.sites.iter().filter(|s| s.access.array == *name).map(|site| match site.kind {
                    AccessKind::Update(update) if update.reorder || self.reassociate => Some(update.op),
                    _ => None,
                });
            let op = ops.next()??;
            let float = matches!(placed.array.elem, Elem::Scalar(Scalar::F32 | Scalar::F64));
            let sums = matches!(op, ReduceOp::Add | ReduceOp::Mul);
            if ops.any(|other| other != Some(op)) || (float && !sums) {
                return None;
            }
            found.push((op, name.clone()));
        }
        (!found.is_empty()).then_some(found)
    }

    /// The cut along which most of what the loop reads needs no message.
    fn best_clip(&self, piece: &Piece, l: &Loop) -> Option<Clip> {
        let mut votes: Vec<(usize, Clip)> = Vec::new();
        for site in &piece.sites {
            let Some(placed) = self.program.place(&site.access.array) else { continue };
            for (cut, index) in placed.cut.iter().zip(&site.access.indices) {
                let Some(cut) = cut.filter(|cut| self.program.cuts[*cut].width.is_none()) else { continue };
                if !index.mentions(&l.var) || index.has_loads() {
                    continue;
                }
                let Ok(Some((at, clip))) = piece.clip_of(cut, index, &piece.around(site)) else { continue };
                if at != 0 || clip.sign != 1 {
                    continue;
                }
                match votes.iter_mut().find(|(_, other)| *other == clip) {
                    Some((count, _)) => *count += 1,
                    None => votes.push((1, clip)),
                }
            }
        }
        votes.into_iter().rev().max_by_key(|(count, _)| *count).map(|(_, clip)| clip)
    }
}

/// Whether data of other ranks is needed.
fn fetches(planned: &Planned) -> bool {
    planned.steps.iter().any(|step| match step {
        Step::Fetch(_) => true,
        Step::Run(run) => !run.during.is_empty(),
        Step::Loop(_) | Step::Return(_) => false,
    })
}

/// Whether parts of matrices of other ranks are needed: of vectors there is room for the whole.
fn fetches_matrices(planned: &Planned) -> bool {
    let large = |fetch: &Fetch| fetch.into.is_some() && fetch.what.ranges.len() > 1;
    planned.steps.iter().any(|step| matches!(step, Step::Fetch(fetch) if large(fetch)))
}

/// The statements of blocks, in order.
fn flat(body: &[Stmt], found: &mut Vec<Stmt>) {
    for stmt in body {
        match stmt {
            Stmt::Block { body, .. } => flat(body, found),
            other => found.push(other.clone()),
        }
    }
}

/// A name for a buffer of an array.
fn buffer_name(array: &Name, taken: &BTreeSet<Name>) -> Name {
    let base = Name::new(format!("{array}_far"));
    if taken.contains(&base) { loops::visit::fresh(&base, taken) } else { base }
}
