//! Stationary shares: if all cores need an operand again for each tile, each core keeps some of its
//! rows while the loops over cores run. The operand is read once, and no tile waits for memory.
//!
//! A step of the innermost loop needs a few rows, fewer than there are cores. To give all cores
//! equally many rows, sets of cores take turns: the part that core `c` has in the first step is
//! with the next row of cores in the second step. If a step needs at most half of a row's cores,
//! the other half has its turns after all rows ([`rule`]).

use loops::visit::nodes;
use loops::{Copy, CopyKind, Diagnostic, Expr, Loop, LoopKind, Name, Stmt};

use super::expr::invalid;
use super::multicast::{ALL, CORES, Shared, may_stay, shared};
use super::slave::Writer;

/// Cores that keep a row of a box in one step: a part of a row of the chip.
pub(super) fn set(rows: i64) -> Option<i64> {
    (1..=CORES).contains(&rows).then(|| (rows as u64).next_power_of_two() as i64)
}

/// The name of the rule by which sets of so many cores take turns.
pub(super) fn name(set: i64) -> String {
    format!("HELD_CORE_{set}")
}

/// Steps after which a core has its turn again.
pub(super) fn turns(rows: i64, set: i64) -> i64 {
    rows * (CORES / set)
}

/// The rule as it stands in the text: rows of cores take turns, then the sets of a row.
pub(super) fn rule(rows: i64, set: i64) -> String {
    let column = match CORES / set {
        1 => "(core) % 8".to_owned(),
        sets => format!("((core) + 8 - (step) % {} / {rows} * {set}) % 8", rows * sets),
    };
    format!(
        "\n/* Cores take turns in keeping what all need, {set} in a step: the place of a core there. */\n#define {}(core, step) (((core) / 8 + {rows} - (step) % {rows}) % {rows} * 8 + {column})\n",
        name(set)
    )
}

/// What is above a bound of an expression where some sizes are at most what is said.
fn most(e: &Expr, bounds: &[(Name, i64)]) -> Option<i64> {
    use loops::BinaryOp;
    match e {
        Expr::Int(n) => Some(*n),
        Expr::Var(name) => bounds.iter().find(|(size, _)| size == name).map(|(_, n)| *n),
        Expr::Binary(BinaryOp::Add, a, b) => most(a, bounds)?.checked_add(most(b, bounds)?),
        Expr::Binary(BinaryOp::Sub, a, b) => match **b {
            Expr::Int(n) => most(a, bounds)?.checked_sub(n),
            _ => None,
        },
        Expr::Binary(BinaryOp::FloorDiv, a, b) => match **b {
            Expr::Int(n) if n > 0 => Some(most(a, bounds)?.div_euclid(n)),
            _ => None,
        },
        _ => None,
    }
}

impl Writer<'_> {
    /// Brings in the shares of what the innermost loops of a tile need each time, as far as local
    /// memory has space for them. `taken` is what else the tile needs.
    pub(super) fn hold(&mut self, body: &[Stmt], taken: i64) -> Result<(), Diagnostic> {
        for (l, tile) in self.steps_in(body) {
            for (copy, line) in tile.iter().filter_map(shared) {
                if line == ALL {
                    self.hold_one(l, copy, tile, taken)?;
                }
            }
        }
        Ok(())
    }

    fn hold_one(&mut self, l: &Loop, copy: &Copy, body: &[Stmt], taken: i64) -> Result<(), Diagnostic> {
        let Some((local, steps)) = self.steps_of(l, copy, body) else { return Ok(()) };
        let (bytes, rows) = self.most(local)?;
        // A set of cores has all of a step, a row of the box each.
        let (Some(set), Some(lines)) = (set(rows), self.takes_turns()) else { return Ok(()) };
        let turns = turns(lines, set);
        let each = self.stage_bytes(ALL, bytes, rows);
        let all = each.saturating_mul((steps + turns - 1) / turns);
        let Some(name) = self.keep(copy, all, taken) else { return Ok(()) };
        self.holds.insert(set);
        let var = &l.var;
        let place = Name::new(format!("{}(lozenge_core, {var})", self::name(set)));
        self.bring_held(l, copy, format!("({name} + {var} / {turns} * {each})"), place)
    }

    /// Brings in the shares of vectors that the mapping marks as stationary. This is done if sizes
    /// are within the known bounds and memory is sufficient. Each core has its share of every step.
    pub(super) fn hold_vectors(&mut self, body: &[Stmt]) -> Result<(), Diagnostic> {
        for (l, tile) in self.steps_in(body) {
            // What else there is, and second places of what comes ahead.
            let mut taken = self.need(body, &|_| false)?;
            for stmt in tile {
                let again = |s: &Stmt, name: &Name| matches!(s, Stmt::Copy(copy) if copy.kind == CopyKind::Get && copy.to.array == *name);
                if let Stmt::Local(local) = stmt
                    && tile.iter().any(|s| again(s, &local.name))
                {
                    taken += (self.most(local)?.0 + 63) / 64 * 64;
                }
            }
            for copy in tile.iter().filter(|s| may_stay(s)).filter_map(shared).map(|(copy, _)| copy) {
                if copy.extents.len() == 1 && !self.written.contains(&copy.from.array) {
                    self.hold_vector(l, copy, tile, taken)?;
                }
            }
        }
        Ok(())
    }

    fn hold_vector(&mut self, l: &Loop, copy: &Copy, body: &[Stmt], taken: i64) -> Result<(), Diagnostic> {
        let array = &copy.from.array;
        let Some((local, steps)) = self.steps_of(l, copy, body) else {
            self.notes.push(format!(
                "shares of `{array}` come again for each tile: how many there are is not known"
            ));
            return Ok(());
        };
        let (bytes, rows) = self.most(local)?;
        let each = self.stage_bytes(ALL, bytes, rows);
        match self.keep(copy, each.saturating_mul(steps), taken) {
            Some(name) => {
                self.bring_held(l, copy, format!("({name} + {} * {each})", l.var), Name::new("lozenge_core"))
            }
            None => {
                self.notes.push(format!(
                    "shares of `{array}` come again for each tile: there is no room for all of them"
                ));
                Ok(())
            }
        }
    }

    /// Reserves this many bytes for the shares of a box, if local memory has enough space. Returns
    /// the name of the buffer.
    fn keep(&mut self, copy: &Copy, bytes: i64, taken: i64) -> Option<String> {
        if self.next.saturating_add(taken).saturating_add(bytes) > self.capacity() {
            return None;
        }
        let name = format!("held_{}", copy.to.array);
        self.line(&format!("char *const {name} = lozenge_ldm + {};", self.next));
        self.take(bytes);
        Some(name)
    }

    /// The loops over steps in some statements in which cores share, with the content of a step.
    /// They go from 0 on, one after the other.
    fn steps_in<'b>(&self, body: &'b [Stmt]) -> Vec<(&'b Loop, &'b [Stmt])> {
        let mut steps = Vec::new();
        for s in nodes(if self.may_share() { body } else { &[] }) {
            if let Stmt::Loop(l) = s
                && let [Stmt::Block { mark: None, body }] = l.body.as_slice()
                && l.kind == LoopKind::Sequential
                && (&l.lower, l.step) == (&Expr::Int(0), 1)
            {
                steps.push((l, body.as_slice()));
            }
        }
        steps
    }

    /// The box of a transfer and how many steps it has at most, if that is known and it is the same
    /// wherever else the cores are.
    fn steps_of<'b>(&self, l: &Loop, copy: &Copy, body: &'b [Stmt]) -> Option<(&'b loops::Local, i64)> {
        let same = copy.from.indices.iter().chain(&copy.extents).flat_map(Expr::vars);
        let same = same.chain(l.upper.vars()).all(|v| v == l.var || self.sizes.contains(&v));
        let declared = body.iter().find_map(|s| match s {
            Stmt::Local(local) if local.name == copy.to.array => Some(local),
            _ => None,
        })?;
        Some((declared, most(&l.upper, &self.bounds)?)).filter(|_| same)
    }

    /// A loop that brings in the shares of all steps, each to its place.
    fn bring_held(&mut self, l: &Loop, copy: &Copy, stage: String, place: Name) -> Result<(), Diagnostic> {
        let Some(tag) = copy.tag.clone() else { return Err(invalid("a copy without a reply")) };
        let share = Shared {
            tag: tag.clone(),
            copy: copy.clone(),
            line: ALL,
            stage,
            pair: None,
            scaled: Vec::new(),
            place: Some(place),
            steps: None,
        };
        let (var, upper) = (&l.var, self.scope.text(&l.upper)?);
        let scope = self.scope.clone();
        self.bind(var);
        self.open(&format!("for (long {var} = 0; {var} < {upper}; {var}++) {{"));
        self.bring(&share, copy)?;
        self.close();
        self.scope = scope;
        let wait = self.wait_text(&tag);
        self.line(&wait);
        self.held.push(share);
        Ok(())
    }

    /// Statements but for transfers whose shares stay.
    pub(super) fn not_held(&self, block: &[Stmt]) -> Vec<Stmt> {
        block.iter().filter(|s| self.held_among(std::slice::from_ref(*s)).is_empty()).cloned().collect()
    }

    /// The shares among some transfers that stay.
    pub(super) fn held_among(&self, body: &[Stmt]) -> Vec<Shared> {
        let own: Vec<&Copy> = body.iter().filter_map(shared).map(|(copy, _)| copy).collect();
        self.held.iter().filter(|share| own.contains(&&share.copy)).cloned().collect()
    }
}
