//! Broadcast: products with one mapped loop in which all cores need the same operand. It is
//! broadcast, a few rows in each step. Rows of the other operand are prefetched in turn.
//!
//! The box that all cores need has two buffers. In each step all cores meet at a barrier. Then the
//! rows for this step have arrived, and no core uses the other buffer any more. Some of the cores
//! broadcast the rows of the next step into it. Nothing is passed on through registers.
//!
//! Of a core's own box, each row has a buffer for several steps, because short transfers waste
//! bandwidth. Rows, and cores, request their next steps at different times. So the memory has the
//! same load in each step; otherwise the cores that broadcast would have to wait. What a step needs
//! is copied from the buffer to the box, two steps of a row at a time. So a row has two steps of
//! time for its transfer (`cast.c`).

use loops::{BinaryOp, Copy, Diagnostic, Expr, Loop, Name, Scalar, Stmt};

use super::contraction;
use super::expr::{Binding, invalid, print};
use super::multicast::{ALL, ALONE, box_of, may_be_cast, pair, shared};
use super::prefetch::{Double, at, covers, factor, tile, used_once};
use super::slave::Writer;

/// Bytes of a row that takes turns, at most.
const LONG: i64 = 1024;
/// Steps of a row that takes turns, at least.
const FEW: i64 = 4;
/// Rows of a box that is broadcast, at most.
const ROWS: i64 = 8;
/// Bytes behind what is copied in whole vectors.
const SLACK: i64 = 32;
/// Elements of a vector.
const WORD: i64 = 4;

/// A box that is broadcast, and one whose rows take turns.
#[derive(Clone)]
pub(super) struct Cast {
    all: Double,
    own: Turns,
}

/// A core's own box, whose rows follow each other in the inner loop.
#[derive(Clone)]
struct Turns {
    copy: Copy,
    local: loops::Local,
    /// Offset of the box in local memory.
    at: i64,
    /// Rows of the box at most, and columns of a step.
    rows: i64,
    columns: i64,
    /// Columns of all steps.
    whole: Expr,
    /// Steps that a row has in its place.
    steps: i64,
}

impl Turns {
    /// Elements from a row of one step to that of the next, which is beside it.
    fn apart(&self) -> i64 {
        (self.columns + WORD - 1) / WORD * WORD
    }

    /// Bytes of the box, with both of its halves.
    fn both(&self) -> i64 {
        (2 * self.rows * self.apart() * 8 + 2 * SLACK + 63) / 64 * 64
    }

    /// Bytes of the place.
    fn place(&self) -> i64 {
        (self.rows * self.columns * self.steps * 8 + SLACK + 63) / 64 * 64
    }

    /// The name of the place.
    fn name(&self) -> String {
        format!("turns_of_{}", self.local.name)
    }
}

impl Writer<'_> {
    /// Analyses two loops. The inner one brings in a box that may be broadcast and one of a core's
    /// own, and nothing else. `around` bytes are taken before it.
    pub(super) fn cast(
        &self,
        outer: &Loop,
        inner: &Loop,
        before: &[Stmt],
        around: i64,
    ) -> Result<Option<Cast>, Diagnostic> {
        let counted = |l: &Loop| l.lower == Expr::Int(0) && l.step == 1;
        let copies: Vec<(&Stmt, &Copy, &str)> =
            before.iter().filter_map(|s| shared(s).map(|(copy, line)| (s, copy, line))).collect();
        let (all, own) = match copies.as_slice() {
            [a, b] if a.2 == ALL && b.2 == ALONE => (a, b),
            [a, b] if b.2 == ALL && a.2 == ALONE => (b, a),
            _ => return Ok(None),
        };
        if self.takes_turns().is_none_or(|lines| lines < 2)
            || !may_be_cast(all.0)
            || !counted(outer)
            || !counted(inner)
            || self.round(outer).is_some()
            || before.iter().any(|s| matches!(s, Stmt::Copy(_)))
        {
            return Ok(None);
        }
        let (Some(cast), Some(local)) = (box_of(before, all.1), box_of(before, own.1)) else {
            return Ok(None);
        };
        let doubles = |copy: &Copy| {
            matches!(self.scope.names.get(&copy.from.array), Some(Binding::Linear { elem: Scalar::F64, .. }))
        };
        let ((bytes, rows), (_, most)) = (self.most(cast)?, self.most(local)?);
        let Some(mut own) = turns(own.1, local, [outer, inner], most).filter(|_| rows <= ROWS) else {
            return Ok(None);
        };
        let all = Double { copy: all.1.clone(), local: cast.clone(), at: 0, bytes: (bytes + 63) / 64 * 64 };
        let taken = self.next + around + 2 * all.bytes + own.both();
        let fits =
            |own: &Turns| taken + own.place() <= self.capacity() && own.steps * own.columns * 8 <= LONG;
        while fits(&Turns { steps: own.steps + 2, ..own.clone() }) {
            own.steps += 2;
        }
        Ok((doubles(&all.copy) && doubles(&own.copy) && fits(&own)).then_some(Cast { all, own }))
    }

    /// Gives places to both boxes.
    pub(super) fn place_cast(&mut self, cast: &mut Cast) {
        self.place_both(std::slice::from_mut(&mut cast.all));
        self.line(&format!("double *const {} = (double *)(lozenge_ldm + {});", cast.own.name(), self.next));
        self.take(cast.own.place());
        cast.own.at = self.next;
        self.take(cast.own.both());
        self.turns = self.turns.max(cast.own.rows);
    }

    /// Cores request what the first step needs, and the first steps of their rows.
    pub(super) fn first_of_cast(
        &mut self,
        cast: &Cast,
        (outer, first): (&Name, &Expr),
        inner: &Loop,
    ) -> Result<(), Diagnostic> {
        self.line("MEET();");
        self.broadcast(&cast.all, &[(outer, first), (&inner.var, &inner.lower)], "0")?;
        let rows = self.turns_text(&cast.own, &inner.var)?;
        self.line(&format!("first_rows({rows}, lozenge_core);"));
        Ok(())
    }

    /// What functions are given of rows that take turns.
    fn turns_text(&self, own: &Turns, var: &Name) -> Result<String, Diagnostic> {
        let copy = at(&own.copy, &[(var, &Expr::Int(0))]);
        let Some(Binding::Linear { pitches, .. }) = self.scope.names.get(&copy.from.array) else {
            return Err(invalid(format!("`{}` is not in main memory", copy.from.array)));
        };
        let (memory, rows) = (print(&self.scope.access(&copy.from)?), self.scope.text(&copy.extents[0])?);
        let whole = self.scope.text(&own.whole)?;
        Ok(format!(
            "{}, &{memory}, {rows}, {whole}, {}, {}, {}",
            own.name(),
            pitches[0],
            own.columns,
            own.steps
        ))
    }

    /// Cores bring a box to one of its places in all of them.
    fn broadcast(&mut self, all: &Double, values: &[(&Name, &Expr)], half: &str) -> Result<(), Diagnostic> {
        let (copy, scope) = (at(&all.copy, values), self.scope.clone());
        let (Some(tag), Some(Binding::Linear { pitches, .. })) =
            (copy.tag.clone(), self.scope.names.get(&copy.from.array).cloned())
        else {
            return Err(invalid("a broadcast of no box"));
        };
        let (rows, columns) = self.rows_and_columns(&copy)?;
        let (memory, step) = (print(&self.scope.access(&copy.from)?), values.last());
        let step = self.scope.text(step.map_or(&Expr::Int(0), |(_, step)| step))?;
        let array = &all.local.name;
        self.open("{");
        self.line(&format!(
            "double *const {array} = (double *)(lozenge_ldm + {} + {} * {half});",
            all.at, all.bytes
        ));
        self.line(&format!(
            "{tag}_sent += cast_box({array}, &{memory}, {rows}, {columns}, {}, 8, lozenge_core, {step}, &{tag});",
            pitches[0]
        ));
        self.close();
        self.scope = scope;
        Ok(())
    }

    /// The inner loop.
    pub(super) fn write_cast(&mut self, l: &Loop, cast: &Cast, outer: &Name) -> Result<(), Diagnostic> {
        let [Stmt::Block { body, .. }] = l.body.as_slice() else {
            return Err(invalid("steps without a block"));
        };
        let rest = body.iter().filter(|s| tile(s).is_some());
        let kept = (self.scope.clone(), self.fresh.clone(), self.scaled.clone());
        let (var, upper) = (&l.var, self.scope.text(&l.upper)?);
        let (all, own) = (&cast.all, &cast.own);
        self.open("{");
        self.line(&format!("const long {var}_first = 0, {var}_last = {upper};"));
        self.open(&format!("for (long {var} = {var}_first; {var} < {var}_last; {var} += 1) {{"));
        self.bind(var);
        self.fresh = used_once(body).into_iter().filter(|name| !self.stays(name)).collect();
        let tag = all.copy.tag.clone().ok_or_else(|| invalid("a copy without a reply"))?;
        let wait = self.wait_text(&tag);
        self.line(&wait);
        self.line("MEET();");
        let (next, other) = (Expr::Var(var.clone()) + 1, format!("(1 - {var}_half)"));
        self.open(&format!("if ({var} + 1 < {var}_last) {{"));
        self.broadcast(all, &[(var, &next)], &other)?;
        self.close();
        self.open(&format!("else if ({outer} + 1 < {outer}_last) {{"));
        let after = Expr::Var(outer.clone()) + 1;
        self.broadcast(all, &[(outer, &after), (var, &Expr::Int(0))], &other)?;
        self.close();
        // Both halves of the box have rows of whole vectors.
        let mut local = own.local.clone();
        local.dims[1] = Expr::Int(2 * own.apart());
        self.declare(&local, &format!("{} + {} * {var}_half", own.at, 8 * own.apart()))?;
        self.declare(&all.local, &format!("{} + {} * {var}_half", all.at, all.bytes))?;
        let times = self.times(own, body)?;
        let rows = self.turns_text(own, var)?;
        self.line(&format!(
            "turn_rows({}, {rows}, lozenge_core, {var}, {var}_last, {var}_half, {outer} + 1 < {outer}_last, {times});",
            own.local.name
        ));
        for stmt in rest {
            self.stmt_in(stmt, body)?;
        }
        self.line(&format!("{var}_half = 1 - {var}_half;"));
        self.close();
        self.close();
        (self.scope, self.fresh, self.scaled) = kept;
        Ok(())
    }

    /// What the rows are multiplied with before a contraction takes them, if it is a number that is
    /// the same for all.
    fn times(&mut self, own: &Turns, body: &[Stmt]) -> Result<String, Diagnostic> {
        let tiles: Vec<&[Stmt]> = body.iter().filter_map(tile).collect();
        if let [[Stmt::Loop(sum)]] = tiles.as_slice()
            && let Some(contraction) = contraction::find(&self.scope, sum)
        {
            for (place, value) in contraction::factors(&contraction, &self.fresh) {
                if let Expr::Binary(BinaryOp::Mul, a, b) = value
                    && place.array == own.local.name
                    && let (times, Expr::Load(load)) | (Expr::Load(load), times) = (&**a, &**b)
                    && load == place
                    && let Expr::Load(number) = times
                    && number.indices.is_empty()
                {
                    self.scaled.push(place.array.clone());
                    return self.scope.text(times);
                }
            }
        }
        Ok("1.0".to_owned())
    }
}

/// A box whose rows may take turns. It has the same rows for all steps, and each step continues
/// where the one before ended, up to the end of the array.
fn turns(copy: &Copy, local: &loops::Local, [outer, inner]: [&Loop; 2], rows: i64) -> Option<Turns> {
    let columns = pair(copy)?;
    let Expr::Binary(BinaryOp::Min, a, b) = &copy.extents[1] else { return None };
    let rest = [a, b].into_iter().find(|rest| covers(inner, rest, columns))?;
    let Expr::Binary(BinaryOp::Sub, whole, _) = &**rest else { return None };
    let follows = factor(&copy.from.indices[0], &inner.var) == Some(0)
        && factor(&copy.from.indices[1], &inner.var) == Some(columns);
    let same = copy.from.indices.iter().chain(&copy.extents).all(|e| !e.mentions(&outer.var))
        && !copy.extents[0].mentions(&inner.var)
        && !whole.mentions(&inner.var);
    (follows && same).then(|| Turns {
        copy: copy.clone(),
        local: local.clone(),
        at: 0,
        rows,
        columns,
        whole: Expr::clone(whole),
        steps: FEW,
    })
}
