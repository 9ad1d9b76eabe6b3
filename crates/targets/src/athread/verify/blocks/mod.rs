//! Panels of columns whose rows are transferred in blocks of panels: the text is followed with
//! numbers, element by element.
//!
//! A row of a block is transferred into one of a few slots and computed there. Each panel's piece
//! of it is kept in a cell, which another block uses again. Vectors that all cores need are in a
//! ring of pieces. Where all this is stored depends on the numbers of the panel and of the row by
//! remainders and differences. So one iteration does not stand for all. Instead, a core follows the
//! branch from its beginning to its end, for chosen sizes and cores (`sizes`). The content of each
//! element of local memory is known (`replay`): an element of an array, and how many statements of
//! the mapped program have changed it. It is compared with the mapped program (`plan`), by the
//! subscripts of its statements:
//!
//! - Each instance of a statement reads the elements that the mapping says, of arrays that are
//!   complete by then. It runs after all instances that change the same element before it in the
//!   mapping, and before those after it. So rows are computed once. Sums are added up in the order
//!   of the rows, and sums of rows in the order of the columns, in memory and in registers.
//! - Nothing is read, written or moved while a transfer of it is running. Replies are 0 before a
//!   transfer, waits count what was sent, and no transfer is running at the end.
//! - What is transferred out is complete, belongs to this core, and goes to its place. In the end
//!   all of this core's results have been transferred.
//! - Sums that a core receives are those that the core before has sent. What goes to all cores is
//!   what the last core has. All cores execute the same exchanges and barriers. There is a barrier
//!   between what goes to all cores and the next sums.
//!
//! This is shown for the sizes that are followed. For other sizes it follows as far as the text is
//! the same for all: conditions and places may depend on a panel only by remainders, and by
//! differences to other panels and to the number of panels, up to a limit that `sizes` finds. They
//! may never depend on sizes alone. A text in which they do is not understood. The chosen sizes
//! contain each remainder at the start, in the middle and at the end, few panels and many, and a
//! last panel that is full and one that is not. The chosen cores are those with all, some and no
//! rows, the first and the last in the line, and one in a row of cores that goes backward.
//!
//! Not here: what is computed of the elements, and what the functions before the kernels do, except
//! those that compute a number.

mod block_text;
mod instances;
mod number;
mod plan;
mod reader;
mod replay;
mod sizes;
mod statements;

use std::collections::BTreeMap;

use self::block_text::Text;
use self::plan::Plan;
use self::reader::Around;
use self::replay::{Core, Outside, Way};
use super::property::Property;
use super::read::{Node, Term};
use super::walk::{Followed, States, Walker, lost, wrong};

/// Functions of panels of columns.
const COLUMNS: [&str; 4] = ["keep_columns", "take_columns", "send_columns", "spread_columns"];

/// Whether a statement works on panels of columns.
pub(super) fn comes(node: &Node) -> bool {
    match node {
        Node::Block(body) => body.iter().any(comes),
        Node::If(_, then, otherwise) => comes(then) || otherwise.as_ref().is_some_and(|n| comes(n)),
        Node::For { body, .. } | Node::While(_, body) => comes(body),
        Node::Do(Term::Call(function, _)) => COLUMNS.contains(&function.as_str()),
        Node::Declare { .. } | Node::Do(_) => false,
    }
}

impl<'a> Walker<'a> {
    /// A branch whose rows come in blocks, or the loops that do the same without it.
    pub(super) fn blocks(
        &mut self,
        cond: &'a Term,
        then: &'a Node,
        otherwise: Option<&'a Node>,
        states: States,
    ) -> Followed<States> {
        self.followed.insert(Property::Columns);
        let (yes, no) = self.branch(cond, states, true)?;
        let phase = self.phase;
        if let Some(first) = yes.first() {
            if let Some(flight) = yes.iter().flat_map(|s| &s.flights).next() {
                return lost(format!("panels begin while `{}` is on its way", flight.tag));
            }
            let ready: Vec<String> = first.ready.iter().cloned().collect();
            self.follow_blocks(cond, then, ready)?;
        }
        let yes = self.each(yes, &mut |_, state| {
            state.end_phase();
            Ok(())
        })?;
        self.control.push(cond);
        let no = match otherwise {
            Some(node) => self.walk(node, no)?,
            None => no,
        };
        self.control.pop();
        self.phase = phase + self.together;
        Ok(yes.into_iter().chain(no).collect())
    }

    fn follow_blocks(&mut self, cond: &Term, then: &Node, ready: Vec<String>) -> Followed<()> {
        let plan = Plan::of(self.mapped, self.phase)?;
        let counts = ready.iter().map(|name| format!("{name}_sent")).collect();
        let around = Around { text: self.mapped.text, names: &self.mapped.names, counts };
        let text = reader::read(&plan, &around, cond, then)?;
        let outside = outside(self.mapped.text, &text, ready)?;
        let (cases, doubt) = sizes::cases(&plan, &text, &self.mapped.names)?;
        let text = text.flat();
        for case in cases {
            let last = plan.cores - 1;
            let numbers = plan.numbers(&case.sizes, last)?;
            let way = core(&text, &plan, &outside, &numbers, &case.sizes, last, None)?;
            for place in case.places {
                let numbers = plan.numbers(&case.sizes, place)?;
                let own = core(&text, &plan, &outside, &numbers, &case.sizes, place, Some(&way.spread))?;
                if own.events != way.events {
                    return wrong("has an exchange or a barrier that some cores may not reach".to_owned());
                }
            }
        }
        doubt.map_or(Ok(()), lost)
    }
}

/// What the text says of replies and local memory before its kernels.
fn outside(text: &str, branch: &Text, ready: Vec<String>) -> Followed<Outside> {
    let length = |before: &str| {
        let (_, rest) = text.split_once(before)?;
        rest.split_once(']')?.0.parse::<i64>().ok()
    };
    let Some(local) = length("char lozenge_ldm[") else { return lost("local memory of unknown size") };
    let mut several = BTreeMap::new();
    for name in &branch.names {
        if let Some(many) = length(&format!("volatile int {name}[")) {
            several.insert(name.clone(), many);
        }
    }
    Ok(Outside { local, several, ready })
}

fn core(
    text: &Text,
    plan: &Plan,
    outside: &Outside,
    numbers: &plan::Numbers,
    sizes: &BTreeMap<String, i64>,
    place: i64,
    heard: Option<&[Vec<u64>]>,
) -> Followed<Way> {
    // Rows of eight, there and back.
    let (row, column) = (place / 8, place % 8);
    let number = 8 * row + if row % 2 == 0 { column } else { 7 - column };
    let mut core = Core::new((text, plan, outside), numbers, sizes, (number, place), heard);
    if core.taken() != Some(true) {
        return lost("sizes for which panels are not taken");
    }
    core.follow()
}
