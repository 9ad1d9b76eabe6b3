//! Whether ranks read only what they hold, and write only what they own: for all sizes and all
//! blocks, on the program as it is, by code that has no part in the mapping.
//!
//! - What a run touches on a rank, as sets over sizes, variables around and bounds of blocks, lies
//!   in the rank's block, in a box that was fetched since its array was last written, or in a
//!   buffer.
//! - No rank reads, within a run, what another rank writes in it: the run is looked at with all
//!   blocks at once, as the sequential program runs it, and each value that flows to a rank comes
//!   from its own block.
//!
//! Left out: runs whose subscripts or bounds are data in a way that the model does not hold, on one
//! rank.

use std::collections::{BTreeMap, BTreeSet};

use isl::{Dim, Map, Set};
use loops::ranks::{At, Fetch, Placed, RankProgram, Run, Step};
use loops::visit::locals;
use loops::{AccessKind, Code, Diagnostic, Expr, Function, Name, Param, ParamMode, Stmt};

use crate::affine::Frame;
use crate::dependence;
use crate::fault::{self, Result};
use crate::model::{Model, Touch};

/// Checks a program.
///
/// # Errors
/// `P0904` for what a rank reads without holding it, or writes without owning it; those of the set
/// library.
pub fn check(program: &RankProgram) -> Result<()> {
    let mut walk = Walk { program, outer: Vec::new(), fetched: Vec::new() };
    walk.steps(&program.body)
}

struct Walk<'a> {
    program: &'a RankProgram,
    /// Variables around, with their ranges.
    outer: Vec<(Name, Expr, Expr)>,
    /// Fetches whose elements are still those of the owners.
    fetched: Vec<Fetch>,
}

/// Characters of a set that a message shows.
const SHOWN: usize = 200;

/// `P0904`
fn wrong(what: &str, array: &Name, set: &Set) -> Diagnostic {
    let text: String = set.to_string().chars().take(SHOWN).collect();
    Diagnostic::general(Code("P0904"), format!("a rank {what} `{array}`")).note(format!("these: {text}"))
}

/// The arrays whose values change at their owners, and the buffers that get other contents.
fn changed(steps: &[Step]) -> BTreeSet<Name> {
    let mut found = BTreeSet::new();
    loops::ranks::walk(steps, &mut |step| match step {
        Step::Run(run) => {
            found.extend(written(&run.body));
            found.extend(run.during.iter().filter_map(|fetch| fetch.into.clone()));
        }
        Step::Return(back) => {
            found.insert(back.what.array.clone());
        }
        Step::Fetch(fetch) => found.extend(fetch.into.clone()),
        Step::Loop(_) => {}
    });
    found
}

fn written(body: &[Stmt]) -> BTreeSet<Name> {
    let sites = loops::accesses(body);
    sites.iter().filter(|s| s.kind != AccessKind::Read).map(|s| s.access.array.clone()).collect()
}

impl Walk<'_> {
    fn forget(&mut self, names: &BTreeSet<Name>) {
        self.fetched.retain(|fetch| {
            let buffer = fetch.into.as_ref().is_some_and(|into| names.contains(into));
            !buffer && !names.contains(&fetch.what.array)
        });
    }

    fn fetch(&mut self, fetch: &Fetch) {
        self.fetched.retain(|other| fetch.into.is_none() || other.into != fetch.into);
        self.fetched.push(fetch.clone());
    }

    fn steps(&mut self, steps: &[Step]) -> Result<()> {
        for step in steps {
            match step {
                Step::Loop(repeat) => {
                    self.forget(&changed(&repeat.body));
                    let before = self.fetched.clone();
                    self.outer.push((repeat.var.clone(), repeat.lower.clone(), repeat.upper.clone()));
                    self.steps(&repeat.body)?;
                    self.outer.pop();
                    self.fetched = before;
                }
                Step::Fetch(fetch) => self.fetch(fetch),
                Step::Return(back) => self.forget(&[back.what.array.clone()].into()),
                Step::Run(run) => {
                    run.during.iter().for_each(|fetch| self.fetch(fetch));
                    self.run(run)?;
                    self.forget(&written(&run.body));
                }
            }
        }
        Ok(())
    }

    /// Statements as a function over all that a rank knows.
    fn function(&self, body: Vec<Stmt>) -> Function {
        let interface = &self.program.interface;
        let mut sizes = interface.sizes.clone();
        let mut assumptions = interface.assumptions.clone();
        for (var, lower, upper) in &self.outer {
            sizes.push(var.clone());
            assumptions.push(lower.clone().at_most(Expr::Var(var.clone())));
            assumptions.push(Expr::Var(var.clone()).less(upper.clone()));
        }
        for cut in &self.program.cuts {
            let (low, high) = (Expr::Var(cut.low()), Expr::Var(cut.high()));
            sizes.extend([cut.low(), cut.high()]);
            assumptions.push(low.clone().at_least(0));
            assumptions.push(low.at_most(high.clone()));
            assumptions.push(high.at_most(cut.extent.clone()));
        }
        let own = declared(&body);
        let buffers = self.program.buffers();
        let places = self.program.places.iter().map(|placed| (placed.array.name.clone(), placed));
        let params = places.chain(buffers).filter(|(name, _)| !own.contains(name)).map(|(name, placed)| {
            Param::new(name, ParamMode::InOut, placed.array.elem.clone(), placed.array.dims.clone())
        });
        Function { name: interface.name.clone(), sizes, assumptions, params: params.collect(), body }
    }

    fn run(&self, run: &Run) -> Result<()> {
        let model = match Model::extract(&self.function(run.body.clone())) {
            Ok(model) => model,
            // On one rank, with all that it touches.
            Err(_) if run.at == At::First => return Ok(()),
            Err(refused) => return Err(refused),
        };
        let own = declared(&run.body);
        for statement in &model.statements {
            for touch in statement.accesses.iter().filter(|touch| !own.contains(&touch.array)) {
                self.touch(run, &model, touch)?;
            }
        }
        if run.at == At::All { self.flows(run, &model) } else { Ok(()) }
    }

    /// The elements of a box, in the space of an array's elements.
    fn elements(&self, model: &Model, like: &Set, conditions: &[Expr]) -> Result<Set> {
        let frame = frame(model, like)?;
        let mut found = Set::universe(frame.space()).map_err(fault::library)?;
        for condition in conditions {
            let part = frame.condition("a box", condition)?;
            found = found.intersect(&part).map_err(fault::library)?;
        }
        Ok(found)
    }

    /// What a rank owns of an array, with so much of its halo.
    fn block(&self, placed: &Placed, with_halo: bool) -> Vec<Expr> {
        let mut conditions = Vec::new();
        for (d, cut) in placed.cut.iter().enumerate() {
            let Some(cut) = cut.map(|cut| &self.program.cuts[cut]) else { continue };
            let (before, after) = if with_halo { placed.halo[d] } else { (0, 0) };
            conditions.push((Expr::Var(cut.low()) - before).at_most(at(d)));
            conditions.push(at(d).less(Expr::Var(cut.high()) + after));
        }
        conditions
    }

    /// The box of a fetch, where it is made.
    fn fetched_box(&self, fetch: &Fetch) -> Vec<Expr> {
        let mut conditions: Vec<Expr> = fetch.what.when.iter().cloned().collect();
        for (d, (low, high)) in fetch.what.ranges.iter().enumerate() {
            conditions.push(low.clone().at_most(at(d)));
            conditions.push(at(d).less(high.clone()));
        }
        for cut in fetch.working.iter().map(|cut| &self.program.cuts[*cut]) {
            conditions.push(Expr::Var(cut.low()).less(Expr::Var(cut.high())));
        }
        conditions
    }

    /// What one access touches is held.
    fn touch(&self, run: &Run, model: &Model, touch: &Touch) -> Result<()> {
        let elements = touch.relation.reset_tuple_name(Dim::Out).and_then(|map| map.range());
        let footprint = elements.map_err(fault::library)?;
        let Some(declared) = self.program.declaration(&touch.array) else {
            return Err(wrong("reads what was never fetched of", &touch.array, &footprint));
        };
        let inside: Vec<Expr> = declared
            .dims
            .iter()
            .enumerate()
            .flat_map(|(d, n)| [at(d).at_least(0), at(d).less(n.clone())])
            .collect();
        let footprint = self.within(model, &footprint, &inside)?;
        let mut held;
        if let Some(placed) = self.program.place(&touch.array) {
            if placed.is_everywhere() {
                return Ok(());
            }
            if run.at == At::First {
                return Err(wrong("alone works on a block of", &touch.array, &footprint));
            }
            held = self.elements(model, &footprint, &self.block(placed, false))?;
            let halos = self.fetched.iter().filter(|f| f.into.is_none() && f.what.array == touch.array);
            for fetch in halos.filter(|_| !touch.write) {
                let mut conditions = self.fetched_box(fetch);
                conditions.extend(self.block(placed, true));
                let part = self.elements(model, &footprint, &conditions)?;
                held = held.union(&part).map_err(fault::library)?;
            }
        } else {
            let mine = run.at == At::First || run.carried.iter().any(|what| what.array == touch.array);
            if touch.write && !mine {
                return Err(wrong("writes into a buffer of", &touch.array, &footprint));
            }
            let fetch = self.fetched.iter().rev().find(|f| f.into.as_ref() == Some(&touch.array));
            held = match fetch {
                Some(fetch) => self.elements(model, &footprint, &self.fetched_box(fetch))?,
                None => self.elements(model, &footprint, &[Expr::Bool(false)])?,
            };
        }
        let missing = footprint.subtract(&held).map_err(fault::library)?;
        if missing.is_empty().map_err(fault::library)? {
            return Ok(());
        }
        let what = if touch.write {
            "writes elements that it does not own of"
        } else {
            "reads elements that it does not hold of"
        };
        Err(wrong(what, &touch.array, &missing))
    }

    fn within(&self, model: &Model, set: &Set, conditions: &[Expr]) -> Result<Set> {
        let inside = self.elements(model, set, conditions)?;
        let known = set.intersect(&inside).and_then(|set| set.intersect_params(&model.context));
        known.map_err(fault::library)
    }

    /// Values that flow within the run stay on their rank.
    fn flows(&self, run: &Run, model: &Model) -> Result<()> {
        let whole: BTreeMap<Name, Expr> = self
            .program
            .cuts
            .iter()
            .flat_map(|cut| [(cut.low(), Expr::Int(0)), (cut.high(), cut.extent.clone())])
            .collect();
        let buffers: BTreeMap<Name, Name> = self
            .program
            .buffers()
            .into_iter()
            .map(|(name, placed)| (name, placed.array.name.clone()))
            .collect();
        let body = loops::visit::rename_arrays(&loops::visit::substitute(&run.body, &whole), &buffers);
        let all = Model::extract_in(model.ctx(), &self.function(body))?;
        for d in dependence::dataflow(&all)? {
            let Some(placed) = self.program.place(&d.array).filter(|p| !p.is_everywhere()) else { continue };
            let find =
                |model: &Model, label: &Name| model.statements.iter().find(|s| s.label == *label).cloned();
            let (Some(source), Some(target)) = (find(&all, &d.source), find(model, &d.target)) else {
                continue;
            };
            let relation = d.relation.intersect_range(&target.domain).map_err(fault::library)?;
            for touch in source.accesses.iter().filter(|t| t.write && t.array == d.array) {
                let writes = touch.relation.reset_tuple_name(Dim::Out).map_err(fault::library)?;
                let range = writes.range().map_err(fault::library)?;
                let own = self.elements(model, &range, &self.block(placed, false))?;
                let crossing = || -> isl::Result<Map> {
                    let outside = range.subtract(&own)?;
                    let far = writes.intersect_range(&outside)?.domain()?;
                    relation.intersect_domain(&far)
                };
                self.none(crossing().map_err(fault::library)?, model, &d.array)?;
                let reads = target.accesses.iter().filter(|t| buffers.get(&t.array) == Some(&d.array));
                for read in reads {
                    let stale = || -> isl::Result<Map> {
                        let read = read.relation.reset_tuple_name(Dim::Out)?;
                        relation.intersect(&writes.apply_range(&read.reverse()?)?)
                    };
                    self.none(stale().map_err(fault::library)?, model, &d.array)?;
                }
            }
        }
        Ok(())
    }

    fn none(&self, pairs: Map, model: &Model, array: &Name) -> Result<()> {
        let pairs = pairs.intersect_params(&model.context).map_err(fault::library)?;
        if pairs.is_empty().map_err(fault::library)? {
            return Ok(());
        }
        let text: String = pairs.to_string().chars().take(SHOWN).collect();
        let message = format!("a rank reads elements of `{array}` that another writes in the same run");
        Err(Diagnostic::general(Code("P0904"), message).note(format!("these instances: {text}")))
    }
}

/// A subscript in the space of elements.
fn at(dim: usize) -> Expr {
    Expr::Var(subscript(dim))
}

/// A name that no program has.
fn subscript(dim: usize) -> Name {
    Name::new(format!("\u{0}{dim}"))
}

fn frame(model: &Model, like: &Set) -> Result<Frame> {
    let space = like.space().map_err(fault::library)?;
    let dims = like.dim(Dim::SET).map_err(fault::library)?;
    Ok(Frame::of_space(&space, &model.function.sizes, (0..dims).map(subscript).collect()))
}

/// Arrays that statements declare.
fn declared(body: &[Stmt]) -> BTreeSet<Name> {
    locals(body).map(|local| local.name.clone()).collect()
}
