//! Whether the parts of a program for several ranks fit each other.
//!
//! Not here: whether ranks read only what they hold (`polyhedral::ranks::check` for all sizes, the
//! interpreter for given ones).

use std::collections::BTreeSet;

use super::{At, Elements, Fetch, RankProgram, Repeat, Run, Step, walk};
use crate::access::AccessKind;
use crate::diagnostic::{Code, Diagnostic};
use crate::name::Name;
use crate::program::{ReduceOp, Stmt};
use crate::visit::nodes;

/// The first part that does not fit.
///
/// # Errors
/// `L0404`
pub fn check(program: &RankProgram) -> Result<(), Diagnostic> {
    let mut problem = None;
    let mut found = |message: String| {
        problem.get_or_insert(Diagnostic::general(Code("L0404"), message));
    };
    if !(1..=2).contains(&program.axes) {
        found(format!("a grid has 1 or 2 axes, not {}", program.axes));
    }
    for cut in &program.cuts {
        if cut.axis >= program.axes || cut.width.is_some_and(|width| width < 1) {
            found(format!(
                "the cut `{}` is along axis {}, which is not there, or its blocks are empty",
                cut.name, cut.axis
            ));
        }
    }
    places(program, &mut found);
    walk(&program.body, &mut |step| match step {
        Step::Loop(repeat) if repeat.step < 1 => found(format!("the loop `{}` has no step", repeat.var)),
        Step::Loop(repeat) if repeat.ahead && !may_fetch_ahead(repeat) => {
            found(format!("the loop `{}` fetches what it changes, ahead of that", repeat.var));
        }
        Step::Loop(_) => {}
        Step::Fetch(fetch) => fetch_fits(program, fetch, &mut found),
        Step::Return(back) => {
            elements(program, &back.what, &mut found);
            if !matches!(back.at, At::First | At::Last) {
                found(format!("`{}` returns from one rank, first or last", back.what.array));
            }
        }
        Step::Run(run) => run_fits(program, run, &mut found),
    });
    problem.map_or(Ok(()), Err)
}

/// Whether the fetches that the body of a loop begins with get the same elements one iteration
/// earlier: they go into buffers of their own, and nothing else in the loop changes their arrays.
pub fn may_fetch_ahead(repeat: &Repeat) -> bool {
    let (first, rest) = repeat.first_fetches();
    let mut changed = BTreeSet::new();
    walk(rest, &mut |step| match step {
        Step::Run(run) => {
            let sites = crate::access::accesses(&run.body);
            changed.extend(sites.iter().filter(|s| s.writes()).map(|s| s.access.array.clone()));
            changed.extend(run.during.iter().filter_map(|fetch| fetch.into.clone()));
        }
        Step::Return(back) => {
            changed.insert(back.what.array.clone());
        }
        Step::Fetch(fetch) => changed.extend(fetch.into.clone()),
        Step::Loop(_) => {}
    });
    let buffers: BTreeSet<_> = first.iter().filter_map(|fetch| fetch.into.as_ref()).collect();
    buffers.len() == first.len()
        && first.iter().all(|fetch| !changed.contains(&fetch.what.array))
        && buffers.iter().all(|buffer| !changed.contains(*buffer))
}

fn places(program: &RankProgram, found: &mut dyn FnMut(String)) {
    for placed in &program.places {
        let name = &placed.array.name;
        let rank = placed.array.dims.len();
        if placed.cut.len() != rank || placed.halo.len() != rank {
            return found(format!("`{name}` has {rank} dimensions, and another number is placed"));
        }
        let mut axes = BTreeSet::new();
        for (cut, halo) in placed.cut.iter().zip(&placed.halo) {
            let known = cut.and_then(|cut| program.cuts.get(cut));
            if cut.is_some() && known.is_none() {
                return found(format!("a cut of `{name}` is not there"));
            }
            if known.is_some_and(|cut| !axes.insert(cut.axis)) {
                found(format!("two dimensions of `{name}` are cut along one axis"));
            }
            let room = known.is_some_and(|cut| cut.width.is_none()) && halo.0 >= 0 && halo.1 >= 0;
            if *halo != (0, 0) && !room {
                found(format!("`{name}` has a halo where no rank has just one block"));
            }
        }
    }
    for param in &program.interface.params {
        if program.place(&param.name).is_none() {
            found(format!("the parameter `{}` is on no rank", param.name));
        }
    }
}

fn elements(program: &RankProgram, what: &Elements, found: &mut dyn FnMut(String)) {
    match program.declaration(&what.array) {
        None => found(format!("there is no array `{}`", what.array)),
        Some(declared) if declared.dims.len() != what.ranges.len() => {
            found(format!("a box of `{}` has {} dimensions", what.array, what.ranges.len()));
        }
        Some(_) => {}
    }
}

fn fetch_fits(program: &RankProgram, fetch: &Fetch, found: &mut dyn FnMut(String)) {
    elements(program, &fetch.what, found);
    let array = &fetch.what.array;
    let Some(placed) = program.place(array) else { return found(format!("`{array}` is a buffer")) };
    if fetch.into.is_none() && !placed.has_halo() {
        found(format!("`{array}` has no halo"));
    }
    let into =
        fetch.into.as_ref().and_then(|into| program.buffers().into_iter().find(|(name, _)| name == into));
    if into.is_some_and(|(name, of)| of.array.name != *array || program.place(&name).is_some()) {
        found(format!("the buffer of `{array}` is another array's"));
    }
    if fetch.working.iter().any(|cut| *cut >= program.cuts.len()) {
        found(format!("a fetch of `{array}` names a cut that is not there"));
    }
}

/// Whether an array is only updated by an operation.
fn only_updated(run: &Run, op: ReduceOp, name: &Name) -> bool {
    let sites = crate::access::accesses(&run.body);
    let mut own = sites.iter().filter(|site| site.access.array == *name);
    own.all(|site| matches!(site.kind, AccessKind::Update(update) if update.op == op))
}

fn run_fits(program: &RankProgram, run: &Run, found: &mut dyn FnMut(String)) {
    run.during.iter().for_each(|fetch| fetch_fits(program, fetch, found));
    run.carried.iter().for_each(|what| elements(program, what, found));
    if run.at == At::Last || (run.at == At::Chain && program.axes != 1) {
        found(format!("nothing runs at {} on a grid of {} axes", run.at, program.axes));
    }
    if !run.carried.is_empty() && run.at != At::Chain {
        found("only a chain carries".to_owned());
    }
    for (op, name) in &run.reduced {
        let everywhere = program.place(name).is_some_and(super::Placed::is_everywhere);
        if run.at != At::All || program.axes != 1 || !everywhere || !only_updated(run, *op, name) {
            found(format!("`{name}` cannot be combined over ranks"));
        }
    }
    let single = |cut: usize| program.cuts.get(cut).is_some_and(|cut| cut.width.is_none());
    if run.margins.iter().any(|m| !single(m.cut) || m.low < 0 || m.high < 0) {
        found("a block without borders has an inner part".to_owned());
    }
    let known: BTreeSet<Name> = program.places.iter().map(|p| p.array.name.clone()).collect();
    let buffers: BTreeSet<Name> = program.buffers().into_iter().map(|(name, _)| name).collect();
    let mut own = BTreeSet::new();
    for stmt in nodes(&run.body) {
        match stmt {
            Stmt::Local(local) => {
                own.insert(local.name.clone());
            }
            Stmt::Copy(_) | Stmt::Wait(_) => found("a copy between memories of one rank".to_owned()),
            _ => {}
        }
    }
    for site in crate::access::accesses(&run.body) {
        let name = &site.access.array;
        if !known.contains(name) && !buffers.contains(name) && !own.contains(name) {
            found(format!("there is no array `{name}`"));
        }
    }
}
