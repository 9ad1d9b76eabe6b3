//! Prefetch in outer loops: what a tile needs as a whole is transferred during the tile before,
//! whose inner loops have their own transfers. What it writes as a whole is transferred during the
//! next tile.
//!
//! The mapping marks such transfers ([`EARLY`]). It reserves local memory for two buffers of the
//! input, and for one more buffer of the output.

use loops::visit::nodes;
use loops::{Copy, CopyKind, Diagnostic, Expr, Loop, LoopKind, Name, Stmt};

use super::expr::invalid;
use super::prefetch::{Double, bound, factor};
use super::slave::Writer;

/// The mark around a transfer that may be made during the tile before.
const EARLY: &str = "early";

/// A loop over tiles whose boxes come and go during its other iterations.
#[derive(Clone)]
pub(super) struct Outer {
    /// Its variable.
    var: Name,
    doubles: Vec<Double>,
    late: Vec<Late>,
    /// When there is a next tile, and the values of variables there.
    next: Vec<(String, Vec<(Name, Expr)>)>,
}

/// A box that goes out during the next tile.
#[derive(Clone)]
struct Late {
    buffer: Name,
    tag: Name,
    at: i64,
}

/// A transfer that may come early.
fn early(stmt: &Stmt) -> Option<&Copy> {
    let Stmt::Block { mark: Some(mark), body } = stmt else { return None };
    match body.as_slice() {
        [Stmt::Copy(copy)] if mark.as_str() == EARLY && copy.kind == CopyKind::Get => Some(copy),
        _ => None,
    }
}

/// The statements of a block without a mark.
fn plain(stmt: &Stmt) -> Option<&[Stmt]> {
    match stmt {
        Stmt::Block { mark: None, body } => Some(body),
        _ => None,
    }
}

/// The loop that a loop is around, if that is all that it has.
fn only_loop(l: &Loop) -> Option<&Loop> {
    match l.body.as_slice() {
        [Stmt::Loop(inner)] => Some(inner),
        [Stmt::Block { mark: None, body }] => match body.as_slice() {
            [Stmt::Loop(inner)] => Some(inner),
            _ => None,
        },
        _ => None,
    }
}

/// Buffers of a block, with their extents.
fn declared<'a>(body: &'a [Stmt], name: &Name) -> Option<&'a loops::Local> {
    body.iter().find_map(|s| match s {
        Stmt::Local(local) if local.name == *name => Some(local),
        _ => None,
    })
}

impl Writer<'_> {
    /// Writes a loop, or two, with prefetch of whole tiles; `false` if it is not such a loop.
    pub(super) fn outer(&mut self, l: &Loop) -> Result<bool, Diagnostic> {
        if !self.leads || self.outer.is_some() || l.kind == LoopKind::Parallel {
            return Ok(false);
        }
        let fixed =
            |inner: &&Loop| ![&inner.lower, &inner.upper].into_iter().any(|bound| bound.mentions(&l.var));
        let around = only_loop(l).filter(fixed);
        let inner = around.unwrap_or(l);
        let loops = if around.is_some() { vec![l, inner] } else { vec![l] };
        let [Stmt::Block { mark: None, body }] = inner.body.as_slice() else { return Ok(false) };
        let (mut doubles, mut late) = (Vec::new(), Vec::new());
        let mut brought = 0;
        for part in body.iter().filter_map(plain) {
            for copy in part.iter().filter_map(early) {
                brought += 1;
                if let Some(local) = declared(part, &copy.to.array)
                    && self.comes_early(copy, &loops, body)
                {
                    let bytes = (self.most(local)?.0 + 63) / 64 * 64;
                    doubles.push(Double { copy: copy.clone(), local: local.clone(), at: 0, bytes });
                }
            }
            for stmt in part {
                let Stmt::Copy(Copy { kind: CopyKind::Put, from, tag: Some(tag), .. }) = stmt else {
                    continue;
                };
                let again = part.iter().any(|s| matches!(s, Stmt::Copy(c) if c.kind == CopyKind::Get));
                if let Some(local) = declared(part, &from.array)
                    && !again
                {
                    late.push((from.array.clone(), tag.clone(), self.most(local)?.0));
                }
            }
        }
        if doubles.is_empty() || brought != doubles.len() {
            return Ok(false);
        }
        let kept = (self.next, self.scope.clone());
        self.open("{");
        self.place_both(&mut doubles);
        let mut goes = Vec::new();
        let apart = |name: &Name| {
            doubles.iter().any(|d| d.local.name == *name) || late.iter().any(|(buffer, ..)| buffer == name)
        };
        let own = late.iter().map(|(_, _, bytes)| (bytes + 63) / 64 * 64).sum::<i64>();
        let taken = own + self.need(body, &apart)?;
        self.hold(body, taken)?;
        for (buffer, tag, bytes) in late {
            goes.push(Late { buffer, tag, at: self.next });
            self.take(bytes);
        }
        let first: Vec<(Name, Expr)> = loops.iter().map(|l| (l.var.clone(), l.lower.clone())).collect();
        let mut conditions = Vec::new();
        let mut next = Vec::new();
        for (k, l) in loops.iter().enumerate().rev() {
            let (lower, upper) = (self.scope.text(&l.lower)?, self.scope.text(&l.upper)?);
            let (var, step) = (&l.var, l.step);
            // All cores have the same number of rounds if they share. For a missing tile nothing is
            // moved.
            let more = match self.round(l) {
                Some((core, end)) => {
                    let (core, end) = (core.clone(), self.scope.text(end)?);
                    conditions.push(format!("0 < {end}"));
                    format!("{var} + {step} - {core} < {end}")
                }
                None => {
                    conditions.push(format!("{lower} < {upper}"));
                    format!("{var} + {step} < {upper}")
                }
            };
            let mut values = vec![(var.clone(), Expr::Var(var.clone()) + step)];
            values.extend(loops[k + 1..].iter().map(|l| (l.var.clone(), l.lower.clone())));
            next.push((more, values));
        }
        self.line(&format!("long {}_half = 0;", inner.var));
        self.open(&format!("if ({}) {{", conditions.join(" && ")));
        for double in &doubles {
            self.bring_double(double, &first, "0")?;
        }
        self.close();
        let tags: Vec<Name> = goes.iter().map(|late| late.tag.clone()).collect();
        self.outer = Some(Outer { var: inner.var.clone(), doubles, late: goes, next });
        self.loop_plain(l)?;
        self.outer = None;
        self.held.clear();
        for tag in tags {
            let wait = self.wait_text(&tag);
            self.line(&wait);
        }
        self.close();
        (self.next, self.scope) = kept;
        Ok(true)
    }

    /// Whether a box may be brought in before the tile before has written back its own. The boxes
    /// of different tiles must be disjoint, and a tile writes back after it has brought in.
    fn comes_early(&self, get: &Copy, loops: &[&Loop], body: &[Stmt]) -> bool {
        if !self.written.contains(&get.from.array) {
            return true;
        }
        let mut puts = Vec::new();
        let mut after = false;
        for s in nodes(body) {
            match s {
                Stmt::Copy(copy) if copy == get => after = true,
                Stmt::Copy(copy) if copy.kind == CopyKind::Put && copy.to.array == get.from.array => {
                    puts.push((copy.clone(), after));
                }
                _ => {}
            }
        }
        let same = puts.iter().all(|(put, after)| *after && put.to == get.from && put.extents == get.extents);
        let apart = |l: &&Loop| {
            get.from.indices.iter().zip(&get.extents).any(|(index, extent)| {
                match (factor(index, &l.var), bound(extent)) {
                    (Some(factor), Some(bound)) => factor.saturating_mul(l.step) >= bound,
                    _ => false,
                }
            })
        };
        same && loops.iter().all(apart) && self.touched_once(&get.from.array)
    }

    /// Bytes that statements take at a time, but for buffers that have places elsewhere.
    pub(super) fn need(&self, body: &[Stmt], apart: &dyn Fn(&Name) -> bool) -> Result<i64, Diagnostic> {
        let (mut own, mut below) = (0, 0);
        for stmt in body {
            match stmt {
                Stmt::Local(local) if !apart(&local.name) => {
                    own += (self.most(local)?.0 + self.slack(&local.name, body) + 63) / 64 * 64;
                }
                other => {
                    for inner in other.bodies() {
                        below = below.max(self.need(inner, apart)?);
                    }
                }
            }
        }
        Ok(own + below)
    }

    fn bring_double(
        &mut self,
        double: &Double,
        values: &[(Name, Expr)],
        half: &str,
    ) -> Result<(), Diagnostic> {
        let values: Vec<(&Name, &Expr)> = values.iter().map(|(name, value)| (name, value)).collect();
        self.bring_all(&[], std::slice::from_ref(double), &values, half)
    }

    /// Writes a statement that is moved out of its tile; `false` if it is not.
    pub(super) fn outer_stmt(&mut self, stmt: &Stmt) -> Result<bool, Diagnostic> {
        let Some(outer) = self.outer.clone() else { return Ok(false) };
        let double = |name: &Name| outer.doubles.iter().find(|d| d.local.name == *name);
        match stmt {
            Stmt::Local(local) => {
                if let Some(double) = double(&local.name) {
                    self.declare(local, &format!("{} + {} * {}_half", double.at, double.bytes, outer.var))?;
                    return Ok(true);
                }
                let Some(late) = outer.late.iter().find(|late| late.buffer == local.name) else {
                    return Ok(false);
                };
                self.declare(local, &late.at.to_string())?;
                let wait = self.wait_text(&late.tag);
                self.line(&wait);
                Ok(true)
            }
            Stmt::Block { .. } => Ok(early(stmt).is_some_and(|copy| double(&copy.to.array).is_some())),
            Stmt::Wait(tag) if outer.late.iter().any(|late| late.tag == *tag) => Ok(true),
            Stmt::Wait(tag) => {
                let Some(double) = outer.doubles.iter().find(|d| d.copy.tag.as_ref() == Some(tag)) else {
                    return Ok(false);
                };
                let wait = self.wait_text(tag);
                self.line(&wait);
                let half = format!("(1 - {}_half)", outer.var);
                for (k, (condition, values)) in outer.next.iter().enumerate() {
                    let otherwise = if k == 0 { "" } else { "else " };
                    self.open(&format!("{otherwise}if ({condition}) {{"));
                    self.bring_double(double, values, &half)?;
                    self.close();
                }
                Ok(true)
            }
            _ => Ok(false),
        }
    }

    /// At the end of a tile its buffers become those of the tile after the next.
    pub(super) fn outer_ends(&mut self, l: &Loop) -> Result<(), Diagnostic> {
        let Some(outer) = &self.outer else { return Ok(()) };
        if outer.var == l.var {
            if outer.next.is_empty() {
                return Err(invalid("a loop over tiles without a next one"));
            }
            let var = outer.var.clone();
            self.line(&format!("{var}_half = 1 - {var}_half;"));
        }
        Ok(())
    }
}
