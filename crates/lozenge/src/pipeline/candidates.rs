//! The choice between what routes make of one definition.

use ::optimize::{Candidate, choose, cost};

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
        Candidate { name: name.to_owned(), value, cost, written: false }
    };
    let candidates = candidates.into_iter().flatten().map(candidate).collect();
    let choice = choose(candidates).ok_or_else(|| Failure::refused("X0601", "there is no candidate"))?;
    Ok(Lowered { candidates: choice.lines, ..choice.chosen.value })
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

/// Predicted cycles of the definitions of a source on some threads: as they are in the text, and as the request has them.
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
