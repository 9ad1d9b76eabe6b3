//! A function that is too large to be looked at as a whole, nest by nest.
//!
//! Loops that hold several nests, as the time loop of a chain of sweeps, stay as they are, and so
//! do loops that only repeat a computation; what is in them is optimised as a function of its own,
//! with the variables of these loops as further sizes. Each part is checked by itself, and parts
//! follow each other as they did, so no dependence between them can be lost. Left out: nests that
//! use what is declared outside of them, whose storage may have to be their own.

use std::collections::{BTreeMap, BTreeSet};

use loops::visit::{locals, nodes};
use loops::{Access, CompareOp, Expr, Function, Loop, Name, Stmt};
use passes::mentions;

use super::{Bounds, Optimized, Options, Report, any_parallel, candidates, optimize_as_it_is};
use crate::codegen::Instance;

/// The set library's operations after which the nests that are left stay as they are.
const OPERATIONS: u64 = 20_000_000;

/// The parts of a function and what was done to them.
pub(super) struct Parts {
    pub body: Vec<Stmt>,
    pub instances: BTreeMap<Name, Instance>,
    pub report: Report,
}

/// Optimises the nests of a function one by one; none where that wins nothing.
pub(super) fn one_by_one(function: &Function, options: &Options) -> Option<Parts> {
    let report = Report::default();
    let repeats = repeats(function);
    let mut walk = Walk {
        function,
        options,
        begun: isl::spent(),
        around: Vec::new(),
        declared: BTreeSet::new(),
        instances: BTreeMap::new(),
        report,
        nests: 0,
        repeats,
        repeated: repeats,
    };
    let body = walk.block(&function.body);
    let Walk { instances, report, nests, .. } = walk;
    let enough = nests > 1 || (nests > 0 && repeats);
    (enough && any_parallel(&body)).then_some(Parts { body, instances, report })
}

/// Whether loops of a function hold several nests each, which could be looked at one by one.
pub(super) fn has_several(body: &[Stmt]) -> bool {
    body.iter().any(|stmt| match stmt {
        Stmt::Loop(l) => several(&l.body),
        Stmt::Block { mark: None, body } => has_several(body),
        _ => false,
    })
}

/// Whether a function is one loop that only repeats what is in it: nothing in it mentions its
/// variable, and no value passes from one iteration to the next.
pub(super) fn repeats(function: &Function) -> bool {
    matches!(function.body.as_slice(), [Stmt::Loop(l)] if only_repeats(l, function))
}

fn only_repeats(l: &Loop, function: &Function) -> bool {
    let inside = || nodes(&l.body);
    let written: BTreeSet<&Name> = inside().filter_map(Stmt::written).collect();
    let local = |name: &Name| locals(&l.body).any(|local| local.name == *name);
    inside().any(|stmt| matches!(stmt, Stmt::Loop(_)))
        && !l.ends_early()
        && l.reductions.is_empty()
        && !inside().flat_map(Stmt::exprs).any(|e| e.mentions(&l.var))
        && written.into_iter().all(|name| local(name) || anew(&l.body, name, function))
}

/// Whether each element of an array that the statements read is written in them before.
fn anew(body: &[Stmt], array: &Name, function: &Function) -> bool {
    let updates =
        |stmt: &Stmt| matches!(stmt, Stmt::Assign(a) if a.target.array == *array && a.update.is_some());
    if !nodes(body).any(|stmt| stmt.reads(array) || updates(stmt)) {
        return true;
    }
    let mut those = body.iter().filter(|stmt| stmt.accesses(array));
    let (first, alone) = (those.next(), those.next().is_none());
    match first {
        // Nothing but this element is in use.
        Some(Stmt::Assign(first)) => {
            let same = |access: &Access| access.array != *array || access.indices == first.target.indices;
            first.update.is_none()
                && !first.value.reads(array)
                && nodes(body).all(|stmt| match stmt {
                    Stmt::Assign(a) => same(&a.target) && a.value.loads().all(same),
                    Stmt::Loop(l) => !first.target.indices.iter().any(|e| e.mentions(&l.var)),
                    other => !other.reads(array),
                })
        }
        Some(Stmt::Loop(l)) if alone => anew(&l.body, array, function),
        Some(Stmt::Block { body, .. }) if alone => anew(body, array, function),
        Some(first) => {
            let param = function.params.iter().find(|param| param.name == *array);
            param.is_some_and(|param| passes::fills_all(first, param))
        }
        None => true,
    }
}

struct Walk<'a> {
    function: &'a Function,
    options: &'a Options,
    /// Operations that were spent before.
    begun: u64,
    /// The loops that stay.
    around: Vec<&'a Loop>,
    /// Arrays that are declared in these.
    declared: BTreeSet<&'a Name>,
    instances: BTreeMap<Name, Instance>,
    report: Report,
    nests: usize,
    /// Whether the next loop only repeats what is in it, and whether one around does.
    repeats: bool,
    repeated: bool,
}

impl<'a> Walk<'a> {
    fn block(&mut self, body: &'a [Stmt]) -> Vec<Stmt> {
        let mut result = Vec::new();
        for stmt in body {
            match stmt {
                Stmt::Loop(l) if several(&l.body) || self.repeats => {
                    self.repeats = false;
                    self.around.push(l);
                    let body = self.block(&l.body);
                    self.around.pop();
                    result.push(Stmt::Loop(Loop { body, ..l.clone() }));
                }
                Stmt::Loop(_) => match self.nest(stmt) {
                    Some(body) => result.extend(body),
                    None => result.push(stmt.clone()),
                },
                Stmt::Local(local) => {
                    self.declared.insert(&local.name);
                    result.push(stmt.clone());
                }
                Stmt::Block { mark: None, body } => {
                    let body = self.block(body);
                    result.push(Stmt::Block { mark: None, body });
                }
                other => result.push(other.clone()),
            }
        }
        result
    }

    /// A nest as a function of its own.
    fn nest(&mut self, stmt: &Stmt) -> Option<Vec<Stmt>> {
        let spent = isl::spent() - self.begun;
        if spent >= OPERATIONS || self.declared.iter().any(|name| mentions(stmt, name)) {
            return None;
        }
        let mut function = Function { body: vec![stmt.clone()], ..self.function.clone() };
        for l in &self.around {
            function.sizes.push(l.var.clone());
            let own = Box::new(Expr::Var(l.var.clone()));
            function.assumptions.push(Expr::Compare(CompareOp::Ge, own, Box::new(l.lower.clone())));
        }
        let bounds = Bounds::from_now(self.options);
        let result = match self.repeated {
            true => candidates::best(&function, self.options, bounds),
            false => optimize_as_it_is(&function, self.options, bounds),
        };
        let Optimized { function, instances, report, .. } = result.ok()?;
        self.nests += 1;
        let outer = || self.around.iter().map(|l| Expr::Var(l.var.clone()));
        self.instances.extend(instances.into_iter().map(|(label, instance)| {
            let iterators = outer().chain(instance.iterators).collect();
            (label, Instance { iterators, ..instance })
        }));
        self.report.tiled |= report.tiled;
        self.report.contracted |= report.contracted;
        self.report.dependences += report.dependences;
        if let Some(own) = report.checked {
            let all = self.report.checked.get_or_insert_default();
            all.statements += own.statements;
            all.dependences += own.dependences;
            all.parallel_loops += own.parallel_loops;
        }
        self.report.bands.extend(report.bands);
        self.report.notes.extend(report.notes);
        Some(function.body)
    }
}

/// Whether a body has several nests, or one that is not all there is.
fn several(body: &[Stmt]) -> bool {
    fn loops(body: &[Stmt]) -> usize {
        body.iter()
            .map(|stmt| match stmt {
                Stmt::Loop(_) => 1,
                Stmt::Block { mark: None, body } => loops(body),
                _ => 0,
            })
            .sum()
    }
    let inner = |stmt: &Stmt| matches!(stmt, Stmt::Loop(l) if loops(&l.body) > 0);
    loops(body) > 1 && body.iter().any(inner)
}
