//! The choice between what routes make of one definition.

use std::collections::BTreeSet;

use ::optimize::{Candidate, choose, cost};
use loops::visit::nodes;
use loops::{Elem, Function, LoopKind, Stmt};

use super::{Front, Lowered, c};
use crate::failure::Failure;
use crate::request::Request;

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

/// The candidates for each definition that has a choice, in lines for people.
///
/// # Errors
/// Those of the stages.
pub fn candidates(front: &Front, request: &Request) -> Result<String, Failure> {
    let mut text = String::new();
    for lowered in front.all(request)?.into_iter().filter(|lowered| !lowered.candidates.is_empty()) {
        text.push_str(&format!("\n-- loops of {}\n", lowered.function.name));
        lowered.candidates.iter().for_each(|line| text.push_str(&format!("candidate: {line}\n")));
    }
    Ok(text)
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
