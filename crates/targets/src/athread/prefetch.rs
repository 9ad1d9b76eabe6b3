//! Prefetch: the transfers of the next tile run while a tile is computed. Its results are written
//! back during the next tile.
//!
//! A loop qualifies if each iteration brings in boxes, computes, and brings out boxes. A box that
//! is brought in as a whole has two buffers: one for this tile and one for the next. A shared box
//! has a second buffer only for this core's share of it. If memory is too small, or if a tile may
//! read what the tile before writes, transfers stay where they are.

use loops::visit::nodes;
use loops::{Access, Assign, BinaryOp, Copy, CopyKind, Diagnostic, Elem, Expr, Loop, LoopKind, Name, Stmt};

use super::broadcast::Cast;
use super::contraction;
use super::expr::{Binding, print};
use super::multicast::{ALL, Shared, has_shared, kept, pair, shared};
use super::slave::{TILE, Writer};
use super::{cost, vector};

/// Bytes of a block up to which its length counts most.
pub(super) const SHORT: i64 = 256;

/// A box that takes two places.
#[derive(Clone)]
pub(super) struct Double {
    pub copy: Copy,
    pub local: loops::Local,
    /// Offset of the first place, and bytes of one.
    pub at: i64,
    pub bytes: i64,
}

/// A loop whose inner loop prefetches. The last iteration of the inner loop brings in what its
/// first iteration needs next time.
#[derive(Clone)]
pub(super) struct Led {
    pub inner: Name,
    /// The inner loop itself: others in the same tile may have its variable.
    whole: Loop,
    pub outer: Name,
    step: i64,
    shares: Vec<Shared>,
    doubles: Vec<Double>,
    /// What is broadcast, and whose rows take turns, instead of these.
    cast: Option<Cast>,
}

/// A loop with transfers ahead: its body, and how much of it brings in.
struct Plan<'a> {
    body: &'a [Stmt],
    head: usize,
    sharing: bool,
    doubles: Vec<Double>,
    /// Shares that hold two boxes.
    pairs: Vec<Name>,
    /// Bytes that are left but for these.
    room: i64,
}

impl Writer<'_> {
    /// Writes a loop with prefetch; `false` if it is not such a loop.
    pub(super) fn ahead(&mut self, l: &Loop) -> Result<bool, Diagnostic> {
        let led = self.led.clone().filter(|led| led.whole == *l);
        if let Some((cast, outer)) = led.as_ref().and_then(|led| Some((led.cast.as_ref()?, &led.outer))) {
            self.write_cast(l, cast, outer)?;
            return Ok(true);
        }
        // Around a loop that leads, memory has been reserved already.
        let limit = if led.is_some() { i64::MAX } else { self.capacity() };
        let Some(mut plan) = self.plan(l, 0, limit)? else { return Ok(false) };
        if let Some(led) = &led {
            plan.doubles = led.doubles.clone();
        }
        self.write_ahead(l, plan, led)?;
        Ok(true)
    }

    /// Writes a loop around one with prefetch, so that prefetching continues over its iterations;
    /// `false` if it is not such a loop.
    pub(super) fn lead(&mut self, l: &Loop) -> Result<bool, Diagnostic> {
        let body = match l.body.as_slice() {
            [Stmt::Block { mark: None, body }] => body.as_slice(),
            body => body,
        };
        let mut loops =
            body.iter().filter_map(|s| if let Stmt::Loop(inner) = s { Some(inner) } else { None });
        let (Some(inner), None) = (loops.next(), loops.next()) else { return Ok(false) };
        let moved = |e: &Expr| e.mentions(&l.var);
        let same = nodes(body).filter(|s| matches!(s, Stmt::Loop(other) if other == inner)).count();
        if !self.leads
            || same > 1
            || self.led.is_some()
            || l.kind == LoopKind::Parallel
            || moved(&inner.lower)
            || moved(&inner.upper)
        {
            return Ok(false);
        }
        let mut around = 0;
        for stmt in body {
            if let Stmt::Local(local) = stmt
                && !self.stays(&local.name)
            {
                around += (self.most(local)?.0 + self.slack(&local.name, body) + 63) / 64 * 64;
            }
        }
        let Some(mut plan) = self.plan(inner, around, self.capacity())? else { return Ok(false) };
        if plan.doubles.iter().any(|d| self.written.contains(&d.copy.from.array)) {
            return Ok(false);
        }
        let kept = (self.next, self.scope.clone());
        let (var, step) = (&l.var, l.step);
        let (lower, upper) = (self.scope.text(&l.lower)?, self.scope.text(&l.upper)?);
        // As many rounds for all, where they share.
        let last = match self.round(l) {
            Some((_, end)) => format!("{lower} + {}", self.scope.text(end)?),
            None => upper,
        };
        let (inner_lower, inner_upper) = (self.scope.text(&inner.lower)?, self.scope.text(&inner.upper)?);
        self.open("{");
        let before = &plan.body[..plan.head];
        let (mut steps, mut cast) = (None, None);
        if plan.sharing && plan.doubles.is_empty() {
            cast = self.cast(l, inner, before, around)?;
            if cast.is_none() {
                steps = self.steps(l, inner, before, plan.room)?;
            }
        }
        let shares = match &steps {
            Some(steps) => self.stages_ahead(before, &inner.var, steps)?,
            None if let Some(cast) = &mut cast => {
                self.place_cast(cast);
                Vec::new()
            }
            None if plan.sharing => self.stages(&self.not_held(before), &plan.pairs)?,
            None => Vec::new(),
        };
        self.place_both(&mut plan.doubles);
        self.line(&format!("const long {var}_first = {lower}, {var}_last = {last};"));
        if !plan.doubles.is_empty() || cast.is_some() {
            self.line(&format!("long {}_half = 0;", inner.var));
        }
        self.open(&format!("if ({var}_first < {var}_last && {inner_lower} < {inner_upper}) {{"));
        let first = Name::new(format!("{var}_first"));
        self.bind(&first);
        let first = Expr::Var(first);
        if let Some(cast) = &cast {
            self.first_of_cast(cast, (var, &first), inner)?;
        } else if steps.is_some() {
            for share in &shares {
                self.bring_first(share, (var, &first), inner)?;
            }
        } else {
            let values = [(var, &first), (&inner.var, &inner.lower)];
            self.bring_all(&shares, &plan.doubles, &values, "0")?;
        }
        self.close();
        self.led = Some(Led {
            inner: inner.var.clone(),
            whole: inner.clone(),
            outer: var.clone(),
            step,
            shares,
            doubles: plan.doubles,
            cast,
        });
        self.loop_plain(l)?;
        self.led = None;
        self.close();
        (self.next, self.scope) = kept;
        Ok(true)
    }

    /// Gives both places to boxes.
    pub(super) fn place_both(&mut self, doubles: &mut [Double]) {
        for double in doubles {
            double.at = self.next;
            self.take(2 * double.bytes);
        }
    }

    /// Analyses a loop. `around` bytes of local memory are taken before it, and at most `limit` are
    /// available.
    fn plan<'a>(&self, l: &'a Loop, around: i64, limit: i64) -> Result<Option<Plan<'a>>, Diagnostic> {
        let [Stmt::Block { mark: None, body }] = l.body.as_slice() else { return Ok(None) };
        let get = |s: &Stmt| matches!(s, Stmt::Copy(c) if c.kind == CopyKind::Get);
        let opening = |s: &&Stmt| {
            matches!(s, Stmt::Local(_) | Stmt::Wait(_)) || get(s) || shared(s).is_some() || kept(s).is_some()
        };
        let head = body.iter().take_while(opening).count();
        let (before, rest) = body.split_at(head);
        let plain = |s: &Stmt| match s {
            Stmt::Copy(c) => c.kind == CopyKind::Put,
            Stmt::Wait(_) => true,
            other => tile(other).is_some(),
        };
        let computes = rest.iter().any(|s| tile(s).is_some());
        let sharing = self.may_share() && before.iter().any(|s| shared(s).is_some());
        if l.kind == LoopKind::Parallel
            || !rest.iter().all(plain)
            || !computes
            || self.round(l).is_some()
            || (!sharing && before.iter().any(has_shared))
        {
            return Ok(None);
        }
        // A contraction turns strips of operands.
        let limit = if limit == i64::MAX { limit } else { limit - self.strips(body) };
        let mut fits = self.next + around + self.shares_of(before)?;
        for stmt in before {
            if let Stmt::Local(local) = stmt
                && !self.stays(&local.name)
            {
                fits += (self.most(local)?.0 + self.slack(&local.name, body) + 63) / 64 * 64;
            }
        }
        let mut doubles: Vec<Double> = Vec::new();
        for copy in before.iter().filter_map(|s| if let Stmt::Copy(c) = s { Some(c) } else { None }) {
            let local = before.iter().find_map(|s| match s {
                Stmt::Local(local) if local.name == copy.to.array => Some(local),
                _ => None,
            });
            let Some(local) = local else { continue };
            let alone =
                before.iter().filter(|s| matches!(s, Stmt::Copy(c) if c.tag == copy.tag)).count() == 1;
            let bytes = (self.most(local)?.0 + 63) / 64 * 64;
            if alone && self.early(l, copy, rest) && fits.saturating_add(bytes) <= limit {
                fits += bytes;
                doubles.push(Double { copy: copy.clone(), local: local.clone(), at: 0, bytes });
            }
        }
        if doubles.is_empty() && !sharing {
            return Ok(None);
        }
        let held = self.held_among(before);
        let pairs =
            if sharing && held.is_empty() { self.pairs(l, before, limit - fits)? } else { Vec::new() };
        Ok(Some(Plan { body, head, sharing, doubles, pairs, room: limit.saturating_sub(fits) }))
    }

    /// Bytes that the tile in some statements needs to transpose strided operands.
    fn strips(&self, body: &[Stmt]) -> i64 {
        let declared = |array: Option<&Name>| {
            body.iter().find_map(|s| match s {
                Stmt::Local(local) if array.is_none_or(|a| local.name == *a) => match &local.elem {
                    Elem::Scalar(elem) => Some(*elem),
                    _ => None,
                },
                _ => None,
            })
        };
        let elem = |array: &Name| match self.scope.names.get(array) {
            Some(Binding::Linear { elem, .. }) => Some(*elem),
            Some(_) => None,
            // A buffer that is not declared yet has the type of the others, or this is not a
            // contraction.
            None => declared(Some(array)).or(declared(None)),
        };
        let tiles = body.iter().filter_map(|s| match s {
            Stmt::Block { body, .. } => Some(body),
            _ => None,
        });
        let turned = tiles.flatten().any(|s| match s {
            Stmt::Loop(l) => contraction::find_with(&elem, l).is_some_and(|c| c.turned() > 0),
            _ => false,
        });
        if turned { contraction::LEAST } else { 0 }
    }

    /// Shared boxes with short rows. Two consecutive boxes are brought in at once, so transfers are
    /// twice as long.
    fn pairs(&self, l: &Loop, before: &[Stmt], room: i64) -> Result<Vec<Name>, Diagnostic> {
        let mut pairs = Vec::new();
        let mut room = room;
        for (copy, line) in before.iter().filter_map(shared).filter(|(_, line)| *line != ALL) {
            let (Some(columns), Some(tag)) = (pair(copy), &copy.tag) else { continue };
            let Some(Binding::Linear { elem, .. }) = self.scope.names.get(&copy.from.array) else { continue };
            // The last round must not leave half of a share.
            let whole = match &copy.extents[1] {
                Expr::Binary(BinaryOp::Min, a, b) => [a, b].into_iter().any(|rest| covers(l, rest, columns)),
                _ => false,
            };
            let follows = whole
                && factor(&copy.from.indices[0], &l.var) == Some(0)
                && factor(&copy.from.indices[1], &l.var).is_some_and(|by| by * l.step == columns);
            let local = before.iter().find_map(|s| match s {
                Stmt::Local(local) if local.name == copy.to.array => Some(local),
                _ => None,
            });
            let (Some(local), true) = (local, follows && columns * elem.bytes() as i64 <= SHORT) else {
                continue;
            };
            let (most, rows) = self.most(local)?;
            let boxes = self.at_once(line, columns * elem.bytes() as i64);
            let more = self.stage_bytes(line, boxes * most, rows) - self.stage_bytes(line, most, rows);
            if self.in_pairs() && more <= room {
                room -= more;
                pairs.push(tag.clone());
            }
        }
        Ok(pairs)
    }

    /// Whether the box of the next iteration may be brought in before this one has brought out its
    /// own.
    fn early(&self, l: &Loop, get: &Copy, rest: &[Stmt]) -> bool {
        if !self.written.contains(&get.from.array) {
            return true;
        }
        // The only transfers of this array write back the same boxes, which are disjoint for
        // different iterations.
        let same = rest.iter().all(|s| match s {
            Stmt::Copy(put) => {
                put.to.array != get.from.array
                    || (put.to == get.from && put.extents == get.extents && put.from == get.to)
            }
            _ => true,
        });
        let apart = get.from.indices.iter().zip(&get.extents).any(|(index, extent)| {
            match (factor(index, &l.var), bound(extent)) {
                (Some(factor), Some(bound)) => factor.saturating_mul(l.step) >= bound,
                _ => false,
            }
        });
        same && apart && self.touched_once(&get.from.array)
    }

    /// Whether an array of main memory is brought in at one place of the loops over cores, and out
    /// at one.
    pub(super) fn touched_once(&self, array: &Name) -> bool {
        self.moved.iter().filter(|(name, _)| name == array).count() <= 2
            && self.moved.iter().filter(|(name, kind)| name == array && *kind == CopyKind::Get).count() <= 1
    }

    fn write_ahead(&mut self, l: &Loop, plan: Plan, led: Option<Led>) -> Result<(), Diagnostic> {
        let Plan { body, head, mut doubles, .. } = plan;
        let (before, rest) = body.split_at(head);
        let (lower, upper) = (self.scope.text(&l.lower)?, self.scope.text(&l.upper)?);
        let kept =
            (self.next, self.scope.clone(), self.sharing.clone(), self.fresh.clone(), self.scaled.clone());
        let (var, step) = (&l.var, l.step);
        self.open("{");
        let held = self.held_among(before);
        let mut shares = match &led {
            Some(led) => led.shares.clone(),
            None if plan.sharing => self.stages(&self.not_held(before), &plan.pairs)?,
            None => Vec::new(),
        };
        self.line(&format!("const long {var}_first = {lower}, {var}_last = {upper};"));
        if led.is_none() {
            self.place_both(&mut doubles);
            if !doubles.is_empty() {
                self.line(&format!("long {var}_half = 0;"));
            }
            self.open(&format!("if ({var}_first < {var}_last) {{"));
            let first = Name::new(format!("{var}_first"));
            self.bind(&first);
            self.bring_all(&shares, &doubles, &[(var, &Expr::Var(first))], "0")?;
            self.close();
        }
        self.open(&format!("for (long {var} = {var}_first; {var} < {var}_last; {var} += {step}) {{"));
        self.bind(var);
        self.fresh = used_once(body).into_iter().filter(|name| !self.stays(name)).collect();
        let double = |name: &Name| doubles.iter().find(|d| d.local.name == *name);
        for stmt in before {
            if let Stmt::Local(local) = stmt {
                match double(&local.name) {
                    Some(d) => {
                        self.declare(local, &format!("{} + {} * {var}_half", d.at, d.bytes))?;
                    }
                    None => self.stmt_in(stmt, body)?,
                }
            }
        }
        self.scale_shares(&mut shares, rest)?;
        self.sharing.under_way.extend(shares.iter().chain(&held).cloned());
        for stmt in before {
            match stmt {
                Stmt::Local(_) => {}
                Stmt::Copy(copy) if double(&copy.to.array).is_some() => {}
                Stmt::Block { .. } if shared(stmt).is_some() => {}
                other => self.stmt_in(other, body)?,
            }
        }
        // What went out at the end of the iteration before.
        let late: Vec<&Name> = rest.iter().filter_map(|s| self.late(s, before, &doubles)).collect();
        for tag in &late {
            if !before.iter().any(|s| matches!(s, Stmt::Wait(t) if t == *tag)) {
                let wait = self.wait_text(tag);
                self.line(&wait);
            }
        }
        let next = Expr::Var(var.clone()) + step;
        let half = format!("(1 - {var}_half)");
        // What comes further ahead has been asked for.
        let ahead = shares.iter().any(|share| share.steps.is_some());
        if !ahead {
            self.open(&format!("if ({var} + {step} < {var}_last) {{"));
            self.bring_all(&shares, &doubles, &[(var, &next)], &half)?;
            self.close();
        }
        if let Some(led) = led.as_ref().filter(|_| !ahead) {
            let (outer, step) = (&led.outer, led.step);
            self.open(&format!("else if ({outer} + {step} < {outer}_last) {{"));
            let next = Expr::Var(outer.clone()) + step;
            self.bring_all(&shares, &doubles, &[(outer, &next), (var, &l.lower)], &half)?;
            self.close();
        }
        for stmt in rest {
            match stmt {
                Stmt::Wait(tag) if late.contains(&tag) => {}
                other => self.stmt_in(other, body)?,
            }
        }
        if !doubles.is_empty() {
            self.line(&format!("{var}_half = 1 - {var}_half;"));
        }
        self.close();
        for tag in late {
            let wait = self.wait_text(tag);
            self.line(&wait);
        }
        self.close();
        (self.next, self.scope, self.sharing, self.fresh, self.scaled) = kept;
        Ok(())
    }

    /// The tag of a box that may be written back while the next tile is computed.
    fn late<'s>(&self, stmt: &'s Stmt, before: &[Stmt], doubles: &[Double]) -> Option<&'s Name> {
        let Stmt::Copy(put) = stmt else { return None };
        let here = before.iter().any(|s| matches!(s, Stmt::Local(local) if local.name == put.from.array));
        let again = before.iter().any(|s| {
            let get = match s {
                Stmt::Copy(copy) => Some(copy),
                other => shared(other).map(|(copy, _)| copy),
            };
            get.is_some_and(|get| {
                get.from.array == put.to.array && !doubles.iter().any(|d| d.copy.to.array == get.to.array)
            })
        });
        if here && !again { put.tag.as_ref() } else { None }
    }

    pub(super) fn bring_all(
        &mut self,
        shares: &[Shared],
        doubles: &[Double],
        values: &[(&Name, &Expr)],
        half: &str,
    ) -> Result<(), Diagnostic> {
        for share in shares {
            let copy = at(&share.copy, values);
            self.bring(share, &copy)?;
        }
        for double in doubles {
            let (copy, mut local) = (at(&double.copy, values), double.local.clone());
            for dim in &mut local.dims {
                *dim = put(dim, values);
            }
            let scope = self.scope.clone();
            self.open("{");
            self.declare(&local, &format!("{} + {} * {half}", double.at, double.bytes))?;
            self.copy(&copy)?;
            self.close();
            self.scope = scope;
        }
        Ok(())
    }

    /// If a contraction multiplies a shared box by something else, each core computes this factor
    /// for its share before the exchange.
    fn scale_shares(&mut self, shares: &mut [Shared], rest: &[Stmt]) -> Result<(), Diagnostic> {
        let tiles: Vec<&[Stmt]> = rest.iter().filter_map(tile).collect();
        let [[Stmt::Loop(sum)]] = tiles.as_slice() else { return Ok(()) };
        let Some(contraction) = contraction::find(&self.scope, sum) else { return Ok(()) };
        for (place, value) in contraction::factors(&contraction, &self.fresh) {
            let Some(share) = shares.iter_mut().find(|s| s.copy.to.array == place.array) else { continue };
            let Some(Binding::Linear { elem, .. }) = self.scope.names.get(&place.array).cloned() else {
                continue;
            };
            let (name, var) = (Name::new(format!("share_of_{}", place.array)), Name::new("shared"));
            let mut scope = self.scope.clone();
            let base = format!("(({} *){})", super::expr::c_type(elem), share.here());
            scope.names.insert(name.clone(), Binding::Linear { base, pitches: vec![], elem });
            scope.names.insert(var.clone(), Binding::Value(var.to_string()));
            let own = Access::element(name, vec![Expr::Var(var.clone())]);
            let value = value.map_loads(&mut |a| Expr::Load(if a == *place { own.clone() } else { a }));
            let assign = Assign { label: None, target: own.clone(), update: None, value: value.clone() };
            let l = Loop::upto(var, Expr::Int(0), LoopKind::Vector, vec![Stmt::Assign(assign)]);
            let scalar = vector::scalar(&l);
            let mut lines = vec!["long shared = 0;".to_owned()];
            let mut cycles = format!("{} * shared_end", scalar.cycles() + cost::LOOP);
            let each = scalar.cycles() + cost::LOOP;
            let left = vector::Left { end: "shared_end", all: "shared_end", each, asks: true };
            if let Some((vectors, taken)) = vector::code(&scope, &l, &left)? {
                lines.extend(vectors);
                cycles = taken;
            }
            lines.push("for (; shared < shared_end; shared++)".to_owned());
            lines.push(format!("  {} = {};", print(&scope.access(&own)?), scope.text(&value)?));
            lines.push(format!(
                "emulated_compute({cycles} + {}, {} * shared_end);",
                cost::LOOP,
                scalar.operations
            ));
            share.scaled = lines;
            self.scaled.push(place.array.clone());
        }
        Ok(())
    }
}

/// Whether a loop goes on until nothing is left of an extent `e - columns * var`.
pub(super) fn covers(l: &Loop, rest: &Expr, columns: i64) -> bool {
    let Expr::Binary(BinaryOp::Sub, all, done) = rest else { return false };
    let by = Expr::Var(l.var.clone());
    let done = **done == Expr::Int(columns) * by.clone() || (columns == 1 && **done == by);
    let last = (Expr::clone(all) - 1).floor_div(columns) + 1;
    done && l.upper == last
}

/// The points of a tile of a core that has a tile in this round, if the rounds are the same for all
/// cores.
pub(super) fn tile(stmt: &Stmt) -> Option<&[Stmt]> {
    match stmt {
        Stmt::Block { mark: Some(mark), body } if mark.as_str() == TILE => Some(body),
        Stmt::If { then, otherwise, .. } if otherwise.is_empty() => match then.as_slice() {
            [only @ Stmt::Block { .. }] => tile(only),
            _ => None,
        },
        _ => None,
    }
}

/// The buffers that a block declares for its only tile: brought in before the tile, not written
/// back, and used by nothing else.
pub(super) fn used_once(body: &[Stmt]) -> Vec<Name> {
    let tiles = body.iter().filter(|s| tile(s).is_some()).count();
    let others = body.iter().any(|s| match s {
        Stmt::Loop(_) | Stmt::Assign(_) => true,
        Stmt::If { .. } => tile(s).is_none(),
        _ => false,
    });
    let nested = body.iter().any(|s| matches!(s, Stmt::Block { mark: None, .. }));
    if tiles != 1 || others || nested {
        return Vec::new();
    }
    let out = |name: &Name| {
        body.iter().any(|s| matches!(s, Stmt::Copy(c) if c.kind == CopyKind::Put && c.from.array == *name))
    };
    let declared = body.iter().filter_map(|s| match s {
        Stmt::Local(local) => Some(&local.name),
        _ => None,
    });
    declared.filter(|name| !out(name)).cloned().collect()
}

fn put(e: &Expr, values: &[(&Name, &Expr)]) -> Expr {
    e.substitute(&|name| values.iter().find(|(var, _)| *var == name).map(|(_, value)| (*value).clone()))
}

/// A transfer in another iteration.
pub(super) fn at(copy: &Copy, values: &[(&Name, &Expr)]) -> Copy {
    Copy {
        from: copy.from.map_indices(&mut |e| put(e, values)),
        extents: copy.extents.iter().map(|e| put(e, values)).collect(),
        ..copy.clone()
    }
}

/// What an index moves by with a variable, if that is plain.
pub(super) fn factor(e: &Expr, var: &Name) -> Option<i64> {
    match e {
        Expr::Int(_) => Some(0),
        Expr::Var(name) => Some(i64::from(name == var)),
        Expr::Binary(BinaryOp::Add, a, b) => factor(a, var)?.checked_add(factor(b, var)?),
        Expr::Binary(BinaryOp::Sub, a, b) => factor(a, var)?.checked_sub(factor(b, var)?),
        Expr::Binary(BinaryOp::Mul, a, b) => match (&**a, &**b) {
            (Expr::Int(n), e) | (e, Expr::Int(n)) => factor(e, var)?.checked_mul(*n),
            _ => None,
        },
        _ => None,
    }
}

/// A constant that an extent never exceeds.
pub(super) fn bound(e: &Expr) -> Option<i64> {
    use loops::BinaryOp;
    match e {
        Expr::Int(n) => Some(*n),
        Expr::Binary(BinaryOp::Min, a, b) => match (bound(a), bound(b)) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (one, other) => one.or(other),
        },
        Expr::Binary(BinaryOp::Max, a, b) => Some(bound(a)?.max(bound(b)?)),
        Expr::Binary(BinaryOp::Add, a, b) => bound(a)?.checked_add(bound(b)?),
        _ => None,
    }
}
