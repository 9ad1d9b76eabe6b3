//! The choice of a candidate.

use loops::Function;

use crate::cost::{Cost, cost};
use crate::machine::Machine;

/// One way to compute what a program says.
#[derive(Clone, Debug)]
pub struct Candidate<T> {
    /// What it is, for people: the passes or the schedule that make it.
    pub name: String,
    /// How it got made; what is made of the choice.
    pub value: T,
    /// What is predicted for it.
    pub cost: Cost,
}

impl<T> Candidate<T> {
    /// A candidate with its predicted cost.
    pub fn new(name: impl Into<String>, value: T, function: &Function, machine: &Machine) -> Candidate<T> {
        Candidate { name: name.into(), value, cost: cost(function, machine) }
    }
}

/// What was chosen among what.
#[derive(Clone, Debug)]
pub struct Choice<T> {
    /// The chosen candidate.
    pub chosen: Candidate<T>,
    /// A line for each candidate, the chosen one first, with what is predicted for it.
    pub lines: Vec<String>,
    /// The candidates that were not chosen, in their order.
    pub others: Vec<Candidate<T>>,
}

/// By how much a prediction must be better than that for an earlier candidate to count.
///
/// Over the kernels of `tests/c/kernels`, predictions for the text and for its schedule on one
/// thread are right about which is faster wherever they differ by more than this, and wrong for
/// some by less.
pub const MARGIN: f64 = 1.25;

/// Chooses a candidate by predicted cost. A later one must be better than the earlier ones by
/// [`MARGIN`]. Nothing if there is none.
pub fn choose<T>(mut candidates: Vec<Candidate<T>>) -> Option<Choice<T>> {
    let cycles: Vec<f64> = candidates.iter().map(|c| c.cost.cycles()).collect();
    let mut at = 0;
    for k in 1..cycles.len() {
        if cycles[k] * MARGIN < cycles[at] {
            at = k;
        }
    }
    let chosen = candidates.get(at)?;
    let mut lines = vec![format!("{}: chosen, {}", chosen.name, chosen.cost.text())];
    for other in candidates.iter().enumerate().filter(|(k, _)| *k != at).map(|(_, c)| c) {
        lines.push(other.cost.beside(&other.name, &chosen.cost));
    }
    let chosen = candidates.remove(at);
    Some(Choice { chosen, lines, others: candidates })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn candidate(name: &str, body: &str) -> Candidate<()> {
        let text = format!("fn f[n](a: inout f64[n][n]) {{ {body} }}");
        let function = loops::parse(&text).unwrap().functions.remove(0);
        Candidate::new(name, (), &function, &Machine::default())
    }

    #[test]
    fn a_later_candidate_must_be_better() {
        let rows = "for i in 0..n { for j in 0..n { a[i][j] *= 2.0 } }";
        let columns = "for j in 0..n { for i in 0..n { a[i][j] *= 2.0 } }";
        let chosen = choose(vec![candidate("columns", columns), candidate("rows", rows)]).unwrap();
        assert_eq!(chosen.chosen.name, "rows");
        assert!(chosen.lines[1].starts_with("columns: "), "{:?}", chosen.lines);
        assert_eq!(
            choose(vec![candidate("first", rows), candidate("second", rows)]).unwrap().chosen.name,
            "first"
        );
        assert!(choose(Vec::<Candidate<()>>::new()).is_none());
    }
}
