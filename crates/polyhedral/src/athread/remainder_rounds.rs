//! Rounds that few cores fill: with one mapped loop, the last of its rounds may leave most cores
//! without an iteration (of 150 planes on 64 cores, 22 are left for the third round).
//!
//! Then that loop keeps its full rounds, and what is left over becomes a nest of its own behind it,
//! in which the next loop inside is the mapped one: it has iterations for more cores. Both nests
//! are one spawn. Whether that takes less time is for the cost model to say, at the sizes that
//! tiles are chosen for; the program is right for all.

use std::collections::{BTreeMap, BTreeSet};

use loops::visit::{assigns, fresh, rename_arrays, taken};
use loops::{ArrayDecl, Expr, Function, Loop, Name, Stmt};

use super::host_split::{Item, Rounds};
use super::search::value;
use super::tile_sizes::ceil;
use super::{Grid, Mapped, Options, multiversioning};
use crate::check;
use crate::codegen::{Generated, Instance};
use crate::dependence::Dependence;
use crate::fault::Result;
use crate::model::Model;
use crate::names::readable;

/// How full the rounds of a loop are on average where nothing is to be won by a nest for the last
/// one.
const FULL: f64 = 0.9;
/// How much of the time of one nest two may take.
const BETTER: f64 = 0.95;

/// A program with nests for full rounds and for what is left over.
pub(super) struct Apart {
    pub function: Function,
    /// Labels of what is left over, with those of the same statements in full rounds.
    copies: BTreeMap<Name, Name>,
    /// The cores.
    cores: i64,
}

/// The function with two nests for each one whose last round few cores fill; none if there is no
/// such nest.
pub(super) fn apart(model: &Model, dependences: &[Dependence], options: &Options) -> Result<Option<Apart>> {
    let Grid::Line(cores) = options.grid else { return Ok(None) };
    let original = &model.function;
    let mut taken = taken(original);
    let mut body = Vec::new();
    let mut copies = BTreeMap::new();
    let mut nests = Vec::new();
    for stmt in &original.body {
        let nest = Nest::of(original, stmt).filter(|nest| nest.is_thin(cores, options));
        match nest {
            Some(nest) if nest.is_parallel(model, dependences)? => {
                let rest = labelled(&nest.inner.body, &mut taken, &mut copies);
                body.extend(nest.rounds(cores, rest));
                nests.push(body.len() - 1);
            }
            _ => body.push(stmt.clone()),
        }
    }
    if nests.is_empty() {
        return Ok(None);
    }
    let function = Function { body, ..original.clone() };
    checked(model, &function, &copies, options)?;
    Ok(Some(Apart { function: with_own_arrays(function, &nests, taken), copies, cores }))
}

impl Apart {
    /// Says of kernels what rounds their tiles are for.
    pub fn mark(&self, model: &Model, items: &mut [Item]) {
        for item in items {
            let Item::Kernel(kernel) = item else { continue };
            let statements = kernel.parts.iter().flat_map(|part| &part.statements);
            let labels: Vec<&Name> = statements.map(|s| &model.statements[*s].label).collect();
            if labels.iter().all(|label| self.copies.contains_key(*label)) {
                kernel.rounds = Rounds::Left(self.cores);
            } else if labels.iter().all(|label| self.copies.values().any(|before| before == *label)) {
                kernel.rounds = Rounds::Full;
            }
        }
    }
}

/// Whether two nests are rated faster than one; what the host runs has no time.
pub(super) fn is_better(two: &Mapped, one: &Mapped) -> bool {
    two.on_host <= one.on_host && two.seconds <= BETTER * one.seconds
}

/// Two loops, the first of which has nothing but the second.
struct Nest<'a> {
    outer: &'a Loop,
    inner: &'a Loop,
}

impl Nest<'_> {
    /// A statement as such loops: over sizes alone, in steps of one, the first from 0 on.
    fn of<'a>(function: &Function, stmt: &'a Stmt) -> Option<Nest<'a>> {
        let Stmt::Loop(outer) = stmt else { return None };
        let [Stmt::Loop(inner)] = outer.body.as_slice() else { return None };
        let sizes = |e: &Expr| e.is_over(&function.sizes);
        let plain = |l: &Loop| l.step == 1 && sizes(&l.lower) && sizes(&l.upper);
        let own = stmt.nodes().any(|s| matches!(s, Stmt::Local(_)));
        (plain(outer) && plain(inner) && outer.lower == Expr::Int(0) && !own).then_some(Nest { outer, inner })
    }

    /// Whether the rounds of the outer loop are filled so little, at sizes that are said.
    fn is_thin(&self, cores: i64, options: &Options) -> bool {
        let ends = [&self.outer.upper, &self.inner.lower, &self.inner.upper];
        if !ends.into_iter().flat_map(Expr::vars).all(|size| options.hints.contains_key(&size)) {
            return false;
        }
        let hints = options.hints.iter().map(|(name, n)| (readable(name), *n)).collect();
        let trips = value(&self.outer.upper, &hints);
        let left = value(&self.inner.upper, &hints) - value(&self.inner.lower, &hints);
        trips > 0 && left > 1 && (trips as f64) < FULL * (ceil(trips, cores) * cores) as f64
    }

    /// Whether both loops carry nothing.
    fn is_parallel(&self, model: &Model, dependences: &[Dependence]) -> Result<bool> {
        let labels = labels(&self.inner.body);
        for dependence in
            dependences.iter().filter(|d| labels.contains(&d.source) && labels.contains(&d.target))
        {
            for k in 0..2 {
                if !multiversioning::carries_not(model, dependence, k)? {
                    return Ok(false);
                }
            }
        }
        Ok(true)
    }

    /// The nest for full rounds, and that for the rest, where the inner loop is around the outer
    /// one.
    fn rounds(&self, cores: i64, rest: Vec<Stmt>) -> [Stmt; 2] {
        let full = self.outer.upper.clone().floor_div(cores) * cores;
        let first = Loop { upper: full.clone(), ..self.outer.clone() };
        let left = Loop { lower: full, body: rest, ..self.outer.clone() };
        let second = Loop { body: vec![Stmt::Loop(left)], ..self.inner.clone() };
        // Of a size below zero the rounds would end before the first iteration.
        [Stmt::Loop(first), Stmt::when(self.outer.upper.clone().at_least(1), vec![Stmt::Loop(second)])]
    }
}

/// Labels of the statements of a body.
fn labels(body: &[Stmt]) -> Vec<Name> {
    let mut all = Vec::new();
    all.extend(assigns(body).filter_map(|assign| assign.label.clone()));
    all
}

/// Statements with labels of their own, which are kept with those that they had.
fn labelled(body: &[Stmt], taken: &mut BTreeSet<Name>, copies: &mut BTreeMap<Name, Name>) -> Vec<Stmt> {
    body.iter()
        .map(|stmt| match stmt.map(&mut Expr::clone, &mut |body| labelled(body, taken, copies)) {
            Stmt::Assign(mut assign) => {
                if let Some(before) = assign.label.take() {
                    let label = fresh(&Name::new(format!("{before}_rest")), taken);
                    taken.insert(label.clone());
                    copies.insert(label.clone(), before);
                    assign.label = Some(label);
                }
                Stmt::Assign(assign)
            }
            other => other,
        })
        .collect()
}

/// Holds the function against the program: it has the same instances, in an order that respects the
/// dependences.
fn checked(
    model: &Model,
    function: &Function,
    copies: &BTreeMap<Name, Name>,
    options: &Options,
) -> Result<()> {
    let mut instances = BTreeMap::new();
    for statement in &model.statements {
        let iterators = statement.iterators().into_iter().map(Expr::Var).collect();
        let own = Instance { original: statement.label.clone(), iterators };
        for (label, _) in copies.iter().filter(|(_, before)| **before == statement.label) {
            instances.insert(label.clone(), own.clone());
        }
        instances.insert(statement.label.clone(), own);
    }
    let generated = Generated { function: function.clone(), instances };
    check::function(&model.function, &generated, options.operations).map(|_| ())
}

/// The function with arrays of their own for some nests, of those that the program has for these
/// and the nests before them alone: what iterations that share nothing have in them is for each
/// nest as if it were the only one.
fn with_own_arrays(mut function: Function, nests: &[usize], mut taken: BTreeSet<Name>) -> Function {
    let uses = |stmt: &Stmt, name: &Name| loops::visit::names(std::slice::from_ref(stmt)).contains(name);
    let mut own = Vec::new();
    for place in nests {
        let mut renaming = BTreeMap::new();
        for stmt in &function.body {
            let Stmt::Local(local) = stmt else { continue };
            let users = (0..function.body.len()).filter(|k| {
                !matches!(function.body[*k], Stmt::Local(_)) && uses(&function.body[*k], &local.name)
            });
            if !local.dims.is_empty() && users.eq([place - 1, *place]) {
                let name = fresh(&local.name, &taken);
                taken.insert(name.clone());
                own.push(Stmt::Local(ArrayDecl { name: name.clone(), ..local.clone() }));
                renaming.insert(local.name.clone(), name);
            }
        }
        let body = rename_arrays(std::slice::from_ref(&function.body[*place]), &renaming);
        function.body.splice(*place..=*place, body);
    }
    function.body.splice(0..0, own);
    function
}
