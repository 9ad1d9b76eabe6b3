//! The choice between what routes make of one definition.

use std::collections::BTreeSet;

use ::optimize::{Candidate, choose, cost};
use loops::visit::nodes;
use loops::{Elem, Function, LoopKind, Stmt};

use super::{Front, Lowered, Parsed, c};
use crate::failure::Failure;
use crate::request::{Mode, Request, Schedule};

/// The candidate that is predicted to take least; a later one only if it is better by a margin.
pub(super) fn chosen(
    candidates: [Option<(&str, Lowered)>; 2],
    request: &Request,
) -> Result<Lowered, Failure> {
    let machine = c::machine(request)?;
    let candidate = |(name, value): (&str, Lowered)| {
        let cost = cost(&value.function, &machine);
        Candidate { name: name.to_owned(), value, cost }
    };
    let candidates = candidates.into_iter().flatten().map(candidate).collect();
    let choice = choose(candidates).ok_or_else(|| Failure::refused("X0601", "there is no candidate"))?;
    Ok(Lowered { candidates: choice.lines, ..choice.chosen.value })
}

/// By how much the affine scheduler's loops must be predicted to be faster, on one thread, than
/// those that a program writes. Over the library, what it makes of these is predicted either to
/// take less than a quarter of the time (products, stencils) or about half of it and more.
const WRITTEN: f64 = 2.5;

/// The name of the loops of a program among the candidates.
const AS_WRITTEN: &str = "the loops that the program writes";

/// The loops that a functional program writes, or those of the affine scheduler where these are
/// predicted to be faster by [`WRITTEN`]. On one thread: what a program runs one after another, it
/// need not run by several threads.
pub(super) fn written(
    usual: Lowered,
    affine: Option<Lowered>,
    request: &Request,
) -> Result<Lowered, Failure> {
    let machine = c::machine(request)?;
    let Some(affine) = affine else { return Ok(usual) };
    let [own, other] = [&usual, &affine].map(|one| cost(&one.function, &machine.one_thread()).cycles());
    if other * WRITTEN >= own {
        return Ok(usual);
    }
    let [own, other] = [&usual, &affine].map(|one| cost(&one.function, &machine));
    let candidates =
        vec![format!("{}: chosen, {}", super::AFFINE, other.text()), own.beside(AS_WRITTEN, &other)];
    Ok(Lowered { candidates, ..affine })
}

/// How many loops of a function are chains: innermost ones, not in lanes, with one accumulator of
/// floating-point numbers that each iteration updates.
pub(super) fn chains(function: &Function) -> usize {
    let mut numbers = BTreeSet::new();
    let float = |elem: &Elem| matches!(elem, Elem::Scalar(scalar) if scalar.is_float());
    let outputs = function.params.iter().filter(|param| param.dims.is_empty() && float(&param.elem));
    numbers.extend(outputs.map(|param| &param.name));
    for stmt in nodes(&function.body) {
        match stmt {
            Stmt::Local(local) if local.dims.is_empty() && float(&local.elem) => {
                numbers.insert(&local.name);
            }
            _ => {}
        }
    }
    let updates = |stmt: &Stmt| match stmt {
        Stmt::Assign(a) => {
            a.target.indices.is_empty() && numbers.contains(&a.target.array) && a.update.is_some()
        }
        _ => false,
    };
    let mut found = 0;
    for stmt in nodes(&function.body) {
        if let Stmt::Loop(l) = stmt
            && l.kind == LoopKind::Sequential
            && l.body.len() == 1
            && l.body.iter().all(updates)
        {
            found += 1;
        }
    }
    found
}

/// The candidates for each definition, in lines for people.
///
/// # Errors
/// Those of the stages.
pub fn candidates(front: &Front, request: &Request) -> Result<String, Failure> {
    let mut text = String::new();
    for lowered in front.all(request)? {
        let lines = beside(front, &lowered, request)?;
        if !lines.is_empty() {
            text.push_str(&format!("\n-- loops of {}\n", lowered.function.name));
            lines.iter().for_each(|line| text.push_str(&format!("candidate: {line}\n")));
        }
    }
    Ok(text)
}

/// The candidates for one definition in lines: what the compiler chose among, or the loops that a
/// functional program writes and what the affine scheduler would make of these.
///
/// # Errors
/// What is wrong with the description of the machine.
pub fn beside(front: &Front, lowered: &Lowered, request: &Request) -> Result<Vec<String>, Failure> {
    let written = request.schedule == Schedule::Usual
        && request.mode == Mode::Default
        && matches!(front.parsed, Parsed::Functional(_));
    if !lowered.candidates.is_empty() || !written {
        return Ok(lowered.candidates.clone());
    }
    let auto = Request { schedule: Schedule::Auto, ..request.of(lowered.function.name.as_str()) };
    // What the affine scheduler refuses is no candidate.
    let Ok(automatic) = front.lower(&auto) else { return Ok(Vec::new()) };
    if automatic.function.body == lowered.function.body {
        return Ok(Vec::new());
    }
    let machine = c::machine(request)?;
    let [own, other] = [lowered, &automatic].map(|lowered| cost(&lowered.function, &machine));
    Ok(vec![
        format!("{AS_WRITTEN}: taken because it writes them, {}", own.text()),
        other.beside(&format!("{} (`--schedule auto`)", super::AFFINE), &own),
    ])
}

/// Predicted cycles of the definitions of a source on some threads: as they are in the text, and as
/// the request has them.
///
/// # Errors
/// Those of the stages.
pub fn cycles(front: &Front, request: &Request, threads: u32) -> Result<(f64, f64), Failure> {
    let machine = ::optimize::Machine { threads: f64::from(threads), ..c::machine(request)? };
    let (mut text, mut ours) = (0.0, 0.0);
    for lowered in front.all(request)? {
        let own = cost(&lowered.function, &machine).cycles();
        ours += own;
        text += lowered.original.as_ref().map_or(own, |original| cost(original, &machine).cycles());
    }
    Ok((text, ours))
}
