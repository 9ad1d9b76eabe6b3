//! Where places and loops stand in times: from one of the four forms of times to another.
//!
//! Times are compared number by number, so whether a place orders anything depends on which other
//! statements share all numbers before it. Such groups are walked column by column.

use std::collections::BTreeMap;

use super::{Component, Form, Times};
use crate::fault::{self, Result};

/// The times in another form.
pub(super) fn arrange(times: &Times, form: Form) -> Result<Times> {
    let n = times.pieces.len();
    let mut walk = Walk { times, form, out: vec![Vec::new(); n], next: vec![0; n], loops: vec![0; n] };
    let all: Vec<usize> = (0..n).collect();
    walk.group(&all, true)?;
    let mut out = walk.out;
    match form {
        Form::UnionMap => {
            let longest = out.iter().map(Vec::len).max().unwrap_or(0);
            out.iter_mut().for_each(|time| time.resize(longest, Component::Place(0)));
        }
        Form::TwoDPlusOne => whole_loops(times, &out)?,
        _ => {}
    }
    let pieces = times.pieces.iter().zip(out);
    let pieces = pieces.map(|(piece, time)| super::Piece { time, ..piece.clone() }).collect();
    Ok(Times { form, parameters: times.parameters.clone(), pieces })
}

/// In 2d+1 a statement has as many loops in its time as around it in the text, and one time for all
/// of its instances.
fn whole_loops(times: &Times, out: &[Vec<Component>]) -> Result<()> {
    for (piece, time) in times.pieces.iter().zip(out) {
        let (have, loops) = (piece.iterators.len(), time.len() / 2);
        let statement = &piece.statement;
        if loops != have {
            let why = if loops > have { "tiling" } else { "a loop that became a constant" };
            return Err(fault::cannot_say(
                Form::TwoDPlusOne,
                format!(
                    "`{statement}` has {have} iterators and {loops} loops: {why} changes the number of dimensions"
                ),
            ));
        }
        if piece.condition.is_some() {
            let message = format!("`{statement}` is cut into parts with times of their own");
            return Err(fault::cannot_say(Form::TwoDPlusOne, message));
        }
    }
    Ok(())
}

struct Walk<'a> {
    times: &'a Times,
    form: Form,
    out: Vec<Vec<Component>>,
    next: Vec<usize>,
    loops: Vec<usize>,
}

impl Walk<'_> {
    fn peek(&self, k: usize) -> Option<&Component> {
        self.times.pieces[k].time.get(self.next[k])
    }

    /// Arranges what is left of the times of statements that are equal up to here.
    fn group(&mut self, group: &[usize], mut place: bool) -> Result<()> {
        loop {
            let ended = group.iter().all(|k| self.peek(*k).is_none());
            let two_d = self.form == Form::TwoDPlusOne;
            if ended {
                if two_d && place {
                    group.iter().for_each(|k| self.out[*k].push(Component::Place(0)));
                }
                return Ok(());
            }
            let looping = group.iter().any(|k| matches!(self.peek(*k), Some(Component::Loop(_))));
            if looping {
                if two_d && place {
                    group.iter().for_each(|k| self.out[*k].push(Component::Place(0)));
                }
                for k in group {
                    let component = self.peek(*k).cloned().unwrap_or(Component::Place(0));
                    if two_d && matches!(component, Component::Place(_)) {
                        let name = &self.times.pieces[*k].statement;
                        let message = format!(
                            "`{name}` has a constant where a statement with the same time so far has a loop"
                        );
                        return Err(fault::cannot_say(self.form, message));
                    }
                    self.out[*k].push(component);
                    self.next[*k] += 1;
                    self.loops[*k] += 1;
                }
                place = true;
                continue;
            }
            let mut values: BTreeMap<i64, Vec<usize>> = BTreeMap::new();
            for k in group {
                let value = match self.peek(*k) {
                    Some(Component::Place(value)) => *value,
                    _ => 0,
                };
                values.entry(value).or_default().push(*k);
                self.next[*k] += 1;
            }
            if values.len() == 1 {
                // It orders nothing; only 2d+1 has a column for it.
                if two_d && place {
                    group.iter().for_each(|k| self.out[*k].push(Component::Place(0)));
                    place = false;
                }
                continue;
            }
            let names: Vec<&str> =
                values.values().take(2).map(|group| self.times.pieces[group[0]].statement.as_str()).collect();
            if self.form == Form::Affine {
                let shared = if self.loops[group[0]] > 0 { "in one nest" } else { "which share no loop" };
                let message =
                    format!("`{}` and `{}`, {shared}, need an order of their own", names[0], names[1]);
                return Err(fault::cannot_say(self.form, message));
            }
            if two_d && !place {
                let message = format!(
                    "`{}` and `{}` are ordered by two constants without a loop between",
                    names[0], names[1]
                );
                return Err(fault::cannot_say(self.form, message));
            }
            // In 2d+1 places count from 0; elsewhere they are what they were.
            for (number, (value, group)) in values.into_iter().enumerate() {
                let value = if two_d { number as i64 } else { value };
                for k in &group {
                    self.out[*k].push(Component::Place(value));
                }
                self.group(&group, false)?;
            }
            return Ok(());
        }
    }
}
