//! Fetches that are needed once: what is still there is not fetched again, and what does not change
//! in a loop is fetched before it.

use std::collections::BTreeSet;

use loops::ranks::{At, Elements, Fetch, RankProgram, Repeat, Run, Step, walk};
use loops::{AccessKind, Name};

/// The steps with fewer fetches.
pub(super) fn steps(steps: Vec<Step>) -> Vec<Step> {
    let hoisted = hoist(steps);
    let mut valid = Vec::new();
    again(hoisted, &mut valid)
}

/// The arrays whose elements change at their owners.
fn written(steps: &[Step]) -> BTreeSet<Name> {
    let mut found = BTreeSet::new();
    walk(steps, &mut |step| match step {
        Step::Run(run) => found.extend(writes(run)),
        Step::Return(back) => {
            found.insert(back.what.array.clone());
        }
        Step::Loop(_) | Step::Fetch(_) => {}
    });
    found
}

fn writes(run: &Run) -> BTreeSet<Name> {
    let sites = loops::accesses(&run.body);
    sites.iter().filter(|s| s.kind != AccessKind::Read).map(|s| s.access.array.clone()).collect()
}

fn depends_on(what: &Elements, var: &Name) -> bool {
    let bounds = what.ranges.iter().flat_map(|(low, high)| [low, high]);
    bounds.chain(&what.when).any(|e| e.mentions(var))
}

/// Fetches out of loops.
fn hoist(steps: Vec<Step>) -> Vec<Step> {
    let mut found = Vec::new();
    for step in steps {
        let Step::Loop(mut repeat) = step else {
            found.push(step);
            continue;
        };
        repeat.body = hoist(repeat.body);
        let changed = written(&repeat.body);
        let buffers = buffer_uses(&repeat.body);
        let (out, stay): (Vec<Step>, Vec<Step>) = repeat.body.into_iter().partition(|step| match step {
            Step::Fetch(fetch) => {
                let once = fetch.into.as_ref().is_none_or(|into| {
                    buffers.iter().filter(|name| *name == into).count() == 1 && !changed.contains(into)
                });
                once && !changed.contains(&fetch.what.array) && !depends_on(&fetch.what, &repeat.var)
            }
            _ => false,
        });
        found.extend(out);
        found.push(Step::Loop(Repeat { body: stay, ..repeat }));
    }
    found
}

/// The buffers that are fetched into, once for each fetch.
fn buffer_uses(steps: &[Step]) -> Vec<Name> {
    let mut found = Vec::new();
    walk(steps, &mut |step| match step {
        Step::Fetch(fetch) => found.extend(fetch.into.clone()),
        Step::Run(run) => found.extend(run.during.iter().filter_map(|fetch| fetch.into.clone())),
        _ => {}
    });
    found
}

/// A fetch whose elements are there: it, and the buffer they are in.
type Valid = Vec<Fetch>;

fn forget(valid: &mut Valid, changed: &BTreeSet<Name>) {
    valid.retain(|fetch| {
        let buffer = fetch.into.as_ref().is_some_and(|into| changed.contains(into));
        !buffer && !changed.contains(&fetch.what.array)
    });
}

/// Leaves out what is there already. Only halos: the next fetch into a buffer has another name.
fn again(steps: Vec<Step>, valid: &mut Valid) -> Vec<Step> {
    let mut found = Vec::new();
    for step in steps {
        match step {
            Step::Fetch(fetch) => {
                if valid.contains(&fetch) {
                    continue;
                }
                valid.push(fetch.clone());
                found.push(Step::Fetch(fetch));
            }
            Step::Loop(repeat) => {
                forget(valid, &written(&repeat.body));
                let var = repeat.var.clone();
                let mut inner = valid.clone();
                let body = again(repeat.body, &mut inner);
                valid.extend(inner.into_iter().filter(|fetch| !depends_on(&fetch.what, &var)));
                // What the loop fetched is there only if it ran.
                let fetched = buffer_uses(&body);
                valid.retain(|fetch| fetch.into.as_ref().is_none_or(|into| !fetched.contains(into)));
                valid.retain(|fetch| fetch.into.is_some() || !in_loop(&body, fetch));
                found.push(Step::Loop(Repeat { body, ..repeat }));
            }
            Step::Return(back) => {
                forget(valid, &[back.what.array.clone()].into());
                found.push(Step::Return(back));
            }
            Step::Run(mut run) => {
                run.during.retain(|fetch| !valid.contains(fetch));
                if run.during.is_empty() {
                    run.margins.clear();
                }
                valid.extend(run.during.iter().cloned());
                forget(valid, &writes(&run));
                if run.at == At::First {
                    forget(valid, &run.carried.iter().map(|what| what.array.clone()).collect());
                }
                found.push(Step::Run(run));
            }
        }
    }
    found
}

/// Whether a loop fetches this.
fn in_loop(body: &[Step], fetch: &Fetch) -> bool {
    let mut found = false;
    walk(body, &mut |step| match step {
        Step::Fetch(other) => found |= other == fetch,
        Step::Run(run) => found |= run.during.contains(fetch),
        _ => {}
    });
    found
}

/// Without arrays that no step touches, and without cuts of none.
pub(super) fn unused(program: &mut RankProgram) {
    let mut used = BTreeSet::new();
    walk(&program.body, &mut |step| match step {
        Step::Run(run) => {
            used.extend(loops::ranks::arrays_of(&run.body));
            used.extend(run.during.iter().map(|fetch| fetch.what.array.clone()));
        }
        Step::Fetch(fetch) => {
            used.insert(fetch.what.array.clone());
        }
        Step::Return(back) => {
            used.insert(back.what.array.clone());
        }
        Step::Loop(_) => {}
    });
    program.places.retain(|p| p.mode.is_some() || used.contains(&p.array.name));
}
