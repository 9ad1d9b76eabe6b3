//! How rows of panels of columns are transferred: in blocks of several panels, so that transfers
//! are long, while the cores compute one panel.
//!
//! The columns of a panel are needed for all rows at once. A block of full width for all rows would
//! not fit into local memory. So the rows of a core are divided into parts that are transferred in
//! turn: with each panel comes a block of the next part. A block is as many panels wide as there
//! are parts. When a panel is computed, the part that came last has all of its panels ahead, the
//! one before has one less, and so on. On average half of each block is in memory. So rows are
//! transferred in pieces that are nearly twice as long as local memory could hold for all rows.
//!
//! Blocks have numbers `u = 1, 2, ..`. Block `u` is of part `u % parts`, and has the panels from
//! `u - parts` to before `u`. A row of a block is transferred into a slot, computed there, and
//! transferred out from there. Its piece for each panel is kept in a cell. The cells are a
//! triangle: block `u` and panel `p` have the cell of the pair `u % parts` and `(p + 1) % parts`,
//! in either order. Block `p + 1 + parts` is made after panel `p` has been used. It takes, for the
//! panel whose number is that of block `u` up to multiples of the parts, the same pair. So each
//! cell is free before it is used again, and none stays empty.

mod write_blocks;

use loops::{Diagnostic, Stmt};

use super::columns::{Columns, Step, from_row, loops_over, reads, within, writes_only};
use super::write_panels::whole;
use super::{Held, bytes_of};
use crate::athread::chip::Chip;
use crate::athread::slave::Writer;

/// The minimal and maximal number of slots for rows that are being transferred or computed.
const SLOTS: [i64; 2] = [3, 32];
/// Parts of a core's rows, at most.
const PARTS: i64 = 16;
/// Bytes that the memory could move in the time that a block takes in addition to its own transfer.
const AROUND: i64 = 450;
/// Bytes that it moves in a thousand cycles.
const RATE: i64 = 14_000;

/// Offsets in local memory, and sizes.
struct Places {
    parts: i64,
    /// Rows of a part.
    rows: i64,
    /// Bytes of what a row has of a panel.
    piece: i64,
    cells: i64,
    /// Where slots are, and how many.
    slots: i64,
    count: i64,
}

/// The computations: in a row, before the sums, the sums, after them, and with them.
struct Text {
    made: Vec<Stmt>,
    before: Vec<Stmt>,
    sums: Vec<Stmt>,
    after: Vec<Stmt>,
    used: Vec<Stmt>,
}

/// Vectors along the rows.
#[derive(Default)]
struct Vectors {
    /// Of all cores, for several panels: a ring of pieces.
    ring: Vec<Held>,
    /// Of the first core only, the sums among them; the place that each has before its panel.
    first: Vec<(Held, i64)>,
    /// Of the last core only.
    last: Vec<Held>,
}

/// Slots for rows, so that the memory is busy while sums go through the cores, one row after the
/// other. The mapping has the same rule.
fn slots(p: &Columns, parts: i64, piece: i64) -> i64 {
    let sums = 9 * p.each * p.cores + 40 * p.cores + 3 * p.each * p.width + 1500;
    let row = p.cores * (parts * piece + AROUND) * 1000 / RATE;
    ((sums + row - 1) / row).clamp(SLOTS[0], SLOTS[1])
}

impl Writer<'_> {
    /// Writes a loop over panels of columns; `false` if it is not one, or does not fit.
    pub(in crate::athread) fn panels_of_columns(
        &mut self,
        l: &loops::Loop,
        chip: &Chip,
    ) -> Result<bool, Diagnostic> {
        let Some(mut p) = Columns::of(l) else { return Ok(false) };
        if chip.crts || p.cores > chip.grid.0 * chip.grid.1 {
            return Ok(false);
        }
        let Some(text) = text(&p) else { return Ok(false) };
        let mut vectors = vectors(&p, &text);
        let start = self.next;
        let Some((places, end)) = self.places(&mut p, &mut vectors)? else { return Ok(false) };
        self.take(end - start);
        self.slots = self.slots.max(places.count);
        let tiles = self.scope.text(&p.made.tiles.upper)?;
        self.where_it_holds(&format!("{tiles} <= {}", p.cores), |slave| {
            slave.by_columns(&p, &text, &vectors, &places, chip)
        })?;
        self.next = start;
        Ok(true)
    }

    /// As many parts as there is room for.
    fn places(&self, p: &mut Columns, vectors: &mut Vectors) -> Result<Option<(Places, i64)>, Diagnostic> {
        let piece = p.width * bytes_of(&p.made.matrix)?;
        for parts in (1..=PARTS.min(p.each)).rev() {
            let mut next = self.next;
            let mut place = |bytes: i64| {
                let at = next;
                next += whole(bytes);
                at
            };
            let rows = (p.each + parts - 1) / parts;
            let cells = place(parts * (parts + 1) / 2 * rows * piece);
            let count = slots(p, parts, piece);
            let slots = place(count * parts * piece);
            for h in &mut vectors.ring {
                h.at = place((parts + 1) * self.most(&h.local)?.0);
            }
            let mut sizes = [0, 0];
            for (h, _) in &mut vectors.first {
                h.at = place(self.most(&h.local)?.0);
                sizes[0] += whole(self.most(&h.local)?.0);
            }
            for h in &vectors.last {
                sizes[1] += whole(self.most(&h.local)?.0);
            }
            let early = place(sizes[0].max(sizes[1]));
            for step in [&mut p.made, &mut p.sums, &mut p.used] {
                for h in &mut step.down {
                    h.at = place(self.most(&h.local)?.0);
                }
            }
            if next <= self.capacity() {
                let mut at = early;
                for (h, before) in &mut vectors.first {
                    *before = at;
                    at += whole(self.most(&h.local)?.0);
                }
                at = early;
                for h in &mut vectors.last {
                    h.at = at;
                    at += whole(self.most(&h.local)?.0);
                }
                return Ok(Some((Places { parts, rows, piece, cells, slots, count }, next)));
            }
        }
        Ok(None)
    }
}

/// The computations for parts and units; none if they are in other loops than over rows and
/// columns.
fn text(p: &Columns) -> Option<Text> {
    let [nothing, made, rest] = p.made.computing();
    let [before, sums, after] = p.sums.computing();
    let [first, used, last] = p.used.computing();
    let sum = &p.sums.along[p.sum].local.name;
    let rows = |body: &[Stmt], step: &Step| {
        let matrix = &step.matrix.local.name;
        let over = loops_over(body, matrix, 0).filter(|over| !over.is_empty())?;
        Some(from_row(&within(body, &over, "part_first", "part_last"), matrix, "panel_skip"))
    };
    let columns =
        |body: &[Stmt], first: &str, last: &str| Some(within(body, &loops_over(body, sum, 0)?, first, last));
    let matrix = &p.made.matrix.local.name;
    let whole = nothing.is_empty() && rest.is_empty() && first.is_empty() && last.is_empty();
    let only = writes_only(&made, matrix) && [&before, &sums, &after].iter().all(|b| writes_only(b, sum));
    let no_rows = !reads(&before, &p.sums.matrix.local.name) && !reads(&after, &p.sums.matrix.local.name);
    if !whole || !only || !no_rows {
        return None;
    }
    Some(Text {
        made: rows(&made, &p.made)?,
        before: columns(&before, "panel_first", "panel_last")?,
        sums: columns(&rows(&sums, &p.sums)?, "unit_first", "unit_last").filter(|_| reads(&sums, sum))?,
        after: columns(&after, "panel_first", "panel_last")?,
        used: rows(&used, &p.used)?,
    })
}

/// Who needs which vectors along the rows.
fn vectors(p: &Columns, text: &Text) -> Vectors {
    let mut all = Vectors::default();
    let sum = &p.sums.along[p.sum];
    let mut ring: Vec<&Held> = p.made.along.iter().collect();
    for h in &p.sums.along {
        let name = &h.local.name;
        let users = [reads(&text.before, name), reads(&text.sums, name), reads(&text.after, name)];
        // What all need is there for the first and the last, too.
        let of_all = ring.iter().any(|own| own.array() == h.array());
        match users {
            _ if h.array() == sum.array() => all.first.push((h.clone(), 0)),
            [true, false, false] if !of_all => all.first.push((h.clone(), 0)),
            [false, false, true] if !of_all => all.last.push(h.clone()),
            _ => ring.push(h),
        }
    }
    ring.extend(p.used.along.iter().filter(|h| h.array() != sum.array()));
    for h in ring {
        if !all.ring.iter().any(|own| own.array() == h.array()) {
            all.ring.push(h.clone());
        }
    }
    // What is in the ring has no place of its own.
    all.first.retain(|(h, _)| !all.ring.iter().any(|own| own.array() == h.array()));
    all.last.retain(|h| !all.ring.iter().any(|own| own.array() == h.array()));
    all
}
