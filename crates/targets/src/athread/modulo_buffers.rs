//! Shares that are prefetched several steps ahead. This is for products whose innermost loop needs
//! few rows of an operand that all cores need in each step, and boxes of a core's own beside it.
//!
//! The cores take turns in bringing in the common rows of a step, by the rule of stationary shares
//! ([`rule`](super::stationary_shares::rule)). A core that has sent its share brings in that of its
//! next turn. It has until then to do so. Of its own boxes, a core has several at once, in two
//! buffers: the next ones are transferred while those are used. So no step waits for a transfer
//! that began in the step before, and all cores bring in the same amount.

use loops::{BinaryOp, Copy, Diagnostic, Expr, Loop, Name, Stmt};

use super::expr::{Binding, invalid};
use super::multicast::{ALL, ALONE, Shared, box_of, pair, shared};
use super::prefetch::{Led, SHORT, at, covers, factor};
use super::slave::Writer;
use super::stationary_shares;

/// Bytes of rows that come at once, if boxes have shorter ones.
const LONG: i64 = 512;
/// Boxes that come at once, at most.
const BOXES: i64 = 8;

/// How a share comes ahead.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Steps {
    /// So many cores have a step, and each has one again after some steps.
    Turns { set: i64, turns: i64 },
    /// The number of boxes of some columns that are brought in at once, and the bytes of one of two
    /// buffers.
    Boxes { boxes: i64, columns: i64, bytes: i64 },
}

/// An expression in the next iteration but some.
fn later(var: &Name, by: i64) -> Expr {
    Expr::Var(var.clone()) + by
}

/// A remainder of what is not below 0.
fn rest(var: &Name, by: i64) -> Expr {
    Expr::Binary(BinaryOp::Rem, Box::new(Expr::Var(var.clone())), Box::new(Expr::Int(by)))
}

impl Shared {
    /// Where what is used now is, of this core's share.
    pub(super) fn here(&self) -> String {
        let stage = format!("share_of_{}", self.copy.to.array);
        match self.steps {
            Some(Steps::Boxes { bytes, .. }) => format!("({stage} + {bytes} * {stage}_half)"),
            _ => stage,
        }
    }
}

impl Writer<'_> {
    /// How the shares of the innermost loop are prefetched, in their order, if all of them may be.
    /// `room` is the local memory that is available.
    pub(super) fn steps(
        &self,
        outer: &Loop,
        inner: &Loop,
        before: &[Stmt],
        room: i64,
    ) -> Result<Option<Vec<Steps>>, Diagnostic> {
        let counted = |l: &Loop| l.lower == Expr::Int(0) && l.step == 1;
        let Some(lines) = self.takes_turns().filter(|lines| *lines > 1 && self.in_pairs()) else {
            return Ok(None);
        };
        if !counted(outer) || !counted(inner) || self.round(outer).is_some() {
            return Ok(None);
        }
        // As many boxes at once as there is room for.
        for most in (2..=BOXES).rev() {
            let (mut left, mut all) = (room, Vec::new());
            for (copy, line) in before.iter().filter_map(shared) {
                let Some(local) = box_of(before, copy) else { return Ok(None) };
                let (bytes, rows) = self.most(local)?;
                let steps = match line {
                    ALL => stationary_shares::set(rows)
                        .map(|set| Steps::Turns { set, turns: stationary_shares::turns(lines, set) }),
                    ALONE => self.boxes(inner, copy, most, (bytes, rows)),
                    _ => None,
                };
                let Some(steps) = steps else { return Ok(None) };
                left -= self.steps_bytes(line, steps, bytes, rows) - self.stage_bytes(line, bytes, rows);
                all.push(steps);
            }
            let turns = |steps: &Steps| matches!(steps, Steps::Turns { .. });
            if all.iter().all(turns) || !all.iter().any(turns) {
                return Ok(None);
            }
            if left >= 0 {
                return Ok(Some(all));
            }
        }
        Ok(None)
    }

    /// Several boxes at once of one core, whose rows follow each other in a loop.
    fn boxes(&self, l: &Loop, copy: &Copy, most: i64, (box_bytes, rows): (i64, i64)) -> Option<Steps> {
        let columns = pair(copy)?;
        let Some(Binding::Linear { elem, .. }) = self.scope.names.get(&copy.from.array) else { return None };
        let bytes = columns * elem.bytes() as i64;
        let Expr::Binary(BinaryOp::Min, a, b) = &copy.extents[1] else { return None };
        let whole = [a, b].into_iter().any(|rest| covers(l, rest, columns));
        let follows = factor(&copy.from.indices[0], &l.var) == Some(0)
            && factor(&copy.from.indices[1], &l.var) == Some(columns);
        let boxes = (LONG / bytes.max(1)).clamp(2, most);
        (whole && follows && bytes <= SHORT).then(|| {
            let bytes = self.stage_bytes(ALONE, boxes * box_bytes, rows);
            Steps::Boxes { boxes, columns, bytes }
        })
    }

    /// Bytes of a share that comes ahead.
    fn steps_bytes(&self, line: &str, steps: Steps, most: i64, rows: i64) -> i64 {
        match steps {
            Steps::Turns { .. } => self.stage_bytes(line, most, rows),
            Steps::Boxes { bytes, .. } => 2 * bytes,
        }
    }

    /// Places for shares that come ahead.
    pub(super) fn stages_ahead(
        &mut self,
        block: &[Stmt],
        inner: &Name,
        steps: &[Steps],
    ) -> Result<Vec<Shared>, Diagnostic> {
        let mut all = Vec::new();
        for ((copy, line), steps) in block.iter().filter_map(shared).zip(steps) {
            let (tag, local, stage) = self.stage(block, copy)?;
            let (most, rows) = self.most(local)?;
            self.take(self.steps_bytes(line, *steps, most, rows));
            let mut place = None;
            match steps {
                Steps::Turns { set, .. } => {
                    self.holds.insert(*set);
                    place =
                        Some(Name::new(format!("{}(lozenge_core, {inner})", stationary_shares::name(*set))));
                }
                // The first comes to the first place.
                Steps::Boxes { .. } => self.line(&format!("long {stage}_half = 1;")),
            }
            let (copy, steps) = (copy.clone(), Some(*steps));
            all.push(Shared { tag, copy, line, stage, pair: None, scaled: Vec::new(), place, steps });
        }
        Ok(all)
    }

    /// Starts to bring in what the first steps need.
    pub(super) fn bring_first(
        &mut self,
        share: &Shared,
        (outer, first): (&Name, &Expr),
        inner: &Loop,
    ) -> Result<(), Diagnostic> {
        match share.steps {
            Some(Steps::Turns { set, turns }) => {
                let (var, upper) = (&inner.var, self.scope.text(&inner.upper)?);
                let scope = self.scope.clone();
                self.bind(var);
                self.open(&format!(
                    "for (long {var} = 0; {var} < LOZENGE_MIN({turns}, {upper}); {var}++) {{"
                ));
                self.bring_step(share, &[(outer, first)], (set, &Expr::Var(var.clone())))?;
                self.close();
                self.scope = scope;
            }
            Some(Steps::Boxes { .. }) => {
                self.bring_boxes(
                    share,
                    &[(outer, first), (&inner.var, &Expr::Int(0))],
                    &share.stage.clone(),
                )?;
            }
            None => return Err(invalid("a share that does not come ahead")),
        }
        Ok(())
    }

    /// The share of a step.
    fn bring_step(
        &mut self,
        share: &Shared,
        values: &[(&Name, &Expr)],
        (set, step): (i64, &Expr),
    ) -> Result<(), Diagnostic> {
        let place = format!("{}(lozenge_core, {})", stationary_shares::name(set), self.scope.text(step)?);
        let copy = at(&share.copy, values);
        self.bring(&Shared { place: Some(Name::new(place)), ..share.clone() }, &copy)
    }

    /// Several boxes of this core.
    fn bring_boxes(
        &mut self,
        share: &Shared,
        values: &[(&Name, &Expr)],
        stage: &str,
    ) -> Result<(), Diagnostic> {
        let mut copy = at(&share.copy, values);
        copy.extents[1] = together(share, &copy)?;
        self.bring(&Shared { stage: stage.to_owned(), ..share.clone() }, &copy)
    }

    /// What is done where a share that comes ahead is waited for.
    pub(super) fn exchange_ahead(&mut self, share: &Shared) -> Result<(), Diagnostic> {
        let Some(Led { inner, outer, .. }) = self.led.clone() else {
            return Err(invalid("a share ahead of no loop"));
        };
        let Some(Binding::Linear { elem, .. }) = self.scope.names.get(&share.copy.to.array) else {
            return Err(invalid(format!("`{}` is not in local memory", share.copy.to.array)));
        };
        let (array, size) = (&share.copy.to.array, elem.bytes());
        let (rows, columns) = self.rows_and_columns(&share.copy)?;
        let (line, stage, tag) = (share.line, &share.stage, &share.tag);
        let wait = self.wait_text(tag);
        let after = later(&outer, 1);
        match share.steps {
            Some(Steps::Turns { set, turns }) => {
                let place = format!("{}(lozenge_core, {inner})", stationary_shares::name(set));
                self.open(&format!("if ({place} < {set}) {{"));
                self.line(&wait);
                self.close();
                self.scaled_share(share, "{", [&rows, &columns, &place]);
                self.line(&format!(
                    "share_{line}((char *){array}, {stage}, {rows}, {columns}, {size}, {place});"
                ));
                self.open(&format!("if ({inner} + {turns} < {inner}_last) {{"));
                let next = later(&inner, turns);
                self.bring_step(share, &[(&inner, &next)], (set, &next))?;
                self.close();
                self.open(&format!("else if ({outer} + 1 < {outer}_last) {{"));
                let next = rest(&inner, turns);
                self.bring_step(share, &[(&outer, &after), (&inner, &next)], (set, &next))?;
                self.close();
            }
            Some(Steps::Boxes { boxes, bytes, .. }) => {
                let here = share.here();
                let other = format!("{stage} + {bytes} * (1 - {stage}_half)");
                // From the first of the boxes that came at once.
                let first = Expr::Var(inner.clone()) - rest(&inner, boxes);
                let own = at(&share.copy, &[(&inner, &first)]);
                let all = self.scope.text(&together(share, &own)?)?;
                self.open(&format!("if ({inner} % {boxes} == 0) {{"));
                self.line(&format!("{stage}_half = 1 - {stage}_half;"));
                self.line(&wait);
                let now = self.scope.text(&together(share, &share.copy)?)?;
                let core = "lozenge_core";
                self.scaled_share(share, "{", [&rows, &now, core]);
                self.open(&format!("if ({inner} + {boxes} < {inner}_last) {{"));
                self.bring_boxes(share, &[(&inner, &later(&inner, boxes))], &other)?;
                self.close();
                self.open(&format!("else if ({outer} + 1 < {outer}_last) {{"));
                self.bring_boxes(share, &[(&outer, &after), (&inner, &Expr::Int(0))], &other)?;
                self.close();
                self.close();
                let columns_before = format!("{inner} % {boxes} * {}", pair(&share.copy).unwrap_or(0));
                self.line(&format!(
                    "share_pieces_{line}((char *){array}, {here} + {columns_before} * {size}, {all}, {rows}, {columns}, {size}, {core});"
                ));
            }
            None => return Err(invalid("a share that does not come ahead")),
        }
        Ok(())
    }
}

/// Columns of the boxes that come at once, from a transfer of the first.
fn together(share: &Shared, first: &Copy) -> Result<Expr, Diagnostic> {
    let (Some(Steps::Boxes { boxes, columns, .. }), Expr::Binary(BinaryOp::Min, a, b)) =
        (share.steps, &first.extents[1])
    else {
        return Err(invalid("boxes at once without an end"));
    };
    let rest = if matches!(**a, Expr::Int(_)) { b } else { a };
    Ok(Expr::Int(boxes * columns).min(Expr::clone(rest)))
}
