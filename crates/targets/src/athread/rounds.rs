//! Rounds of the loops over a core's tiles: whether all cores execute a statement equally often,
//! and where a loop must end to have the same length for all cores.
//!
//! In a mapped loop, a core's tiles are its own position plus a multiple of the number of cores,
//! the round. What matters is how an expression changes from one core to the next in the same
//! round: the core's position and the variables of its tile loops grow by the same amount. Bounds
//! that do not change are the same for all cores.

use loops::{BinaryOp, Expr, Loop, LoopKind, Name, Stmt};

use super::multicast::{ALL, ALONE, COLUMN, ROW, has_shared, shared};

/// A loop over tiles that all cores go through alike.
#[derive(Clone, Debug)]
pub(super) struct Round {
    pub var: Name,
    upper: Expr,
    /// The end, as a tile of the first core. For other cores the position of the core is added.
    pub end: Expr,
}

/// Variables of the loops over cores with their ends, and for each of these all variables that grow
/// with it.
struct Tied<'a> {
    cores: &'a [(Name, i64)],
    by: Vec<Vec<Name>>,
    /// Whether a column has more than one core.
    columns: bool,
}

/// The growth of an expression from one core to the next, if `tied` grow by one; none if it is not
/// the same everywhere. Each of `tied` is the position of a core among `cores`, plus a multiple of
/// `cores`.
fn rate(e: &Expr, tied: &[Name], cores: i64) -> Option<i64> {
    let rate = |e: &Expr, tied: &[Name]| rate(e, tied, cores);
    match e {
        Expr::Int(_) => Some(0),
        Expr::Var(name) => Some(i64::from(tied.contains(name))),
        Expr::Binary(BinaryOp::Add, a, b) => rate(a, tied)?.checked_add(rate(b, tied)?),
        Expr::Binary(BinaryOp::Sub, a, b) => rate(a, tied)?.checked_sub(rate(b, tied)?),
        Expr::Binary(BinaryOp::Mul, a, b) => match (&**a, &**b) {
            (Expr::Int(n), e) | (e, Expr::Int(n)) => rate(e, tied)?.checked_mul(*n),
            (a, b) => (rate(a, tied)? == 0 && rate(b, tied)? == 0).then_some(0),
        },
        Expr::Binary(BinaryOp::Min | BinaryOp::Max, a, b) => {
            let (a, b) = (rate(a, tied)?, rate(b, tied)?);
            (a == b).then_some(a)
        }
        // The number of the round.
        Expr::Binary(BinaryOp::FloorDiv, a, b)
            if **b == Expr::Int(cores)
                && shifted(a).is_some_and(|(name, more)| tied.contains(name) && more % cores == 0) =>
        {
            Some(0)
        }
        Expr::Binary(BinaryOp::FloorDiv, a, b) => match (rate(a, tied)?, &**b) {
            (0, b) => (rate(b, tied)? == 0).then_some(0),
            (n, Expr::Int(by)) if *by > 0 && n % by == 0 => Some(n / by),
            _ => None,
        },
        other => other.vars().iter().all(|v| !tied.contains(v)).then_some(0),
    }
}

/// A variable and a number that is added to it.
fn shifted(e: &Expr) -> Option<(&Name, i64)> {
    match e {
        Expr::Var(name) => Some((name, 0)),
        Expr::Binary(BinaryOp::Add, a, b) => match (&**a, &**b) {
            (Expr::Int(n), e) | (e, Expr::Int(n)) => {
                let (name, more) = shifted(e)?;
                Some((name, more.checked_add(*n)?))
            }
            _ => None,
        },
        _ => None,
    }
}

/// Tiles that are counted out, at most.
const PERIOD: i64 = 1 << 16;

/// `floor((factor * var + more) / by)`.
struct Quotient {
    var: Name,
    factor: i64,
    more: i64,
    by: i64,
}

/// An expression of one variable as a quotient.
fn quotient(e: &Expr) -> Option<Quotient> {
    match e {
        Expr::Var(name) => Some(Quotient { var: name.clone(), factor: 1, more: 0, by: 1 }),
        Expr::Binary(BinaryOp::Add, a, b) => match (&**a, &**b) {
            (Expr::Int(n), e) | (e, Expr::Int(n)) => {
                let q = quotient(e)?;
                Some(Quotient { more: n.checked_mul(q.by)?.checked_add(q.more)?, ..q })
            }
            _ => None,
        },
        Expr::Binary(BinaryOp::Mul, a, b) => match (&**a, &**b) {
            (Expr::Int(n), e) | (e, Expr::Int(n)) => {
                let q = quotient(e).filter(|q| q.by == 1)?;
                Some(Quotient { factor: q.factor.checked_mul(*n)?, more: q.more.checked_mul(*n)?, ..q })
            }
            _ => None,
        },
        Expr::Binary(BinaryOp::FloorDiv, a, b) => match &**b {
            Expr::Int(n) if *n > 0 => {
                let q = quotient(a)?;
                Some(Quotient { by: q.by.checked_mul(*n)?, ..q })
            }
            _ => None,
        },
        _ => None,
    }
}

/// An expression without one of its terms.
fn without(e: &Expr, term: &Name) -> Option<Expr> {
    match e {
        Expr::Var(name) if name == term => Some(Expr::Int(0)),
        Expr::Binary(op @ (BinaryOp::Add | BinaryOp::Sub), a, b) => match (without(a, term), op) {
            (Some(Expr::Int(0)), BinaryOp::Add) => Some((**b).clone()),
            (Some(a), op) => Some(Expr::Binary(*op, Box::new(a), b.clone())),
            (None, BinaryOp::Add) => match without(b, term)? {
                Expr::Int(0) => Some((**a).clone()),
                b => Some((**a).clone() + b),
            },
            (None, _) => None,
        },
        _ => None,
    }
}

impl Tied<'_> {
    /// Whether an expression is the same for all cores in a round.
    fn same(&self, e: &Expr) -> bool {
        (0..self.by.len()).all(|k| self.same_along(e, k))
    }

    /// Whether it is the same for cores that differ in one of their places.
    fn same_along(&self, e: &Expr, k: usize) -> bool {
        rate(e, &self.by[k], self.cores[k].1) == Some(0)
    }

    /// The end of a loop over tiles of a core, as one for the first core.
    ///
    /// If the end is the same tile number for all cores, not all cores reach it in the same round.
    /// The others continue there. If the end grows with the core, it is reached in the same round
    /// by all.
    fn end(&self, upper: &Expr, core: &Name) -> Option<Expr> {
        if self.same(upper) {
            return Some(upper.clone());
        }
        if let Expr::Binary(BinaryOp::Min, a, b) = upper {
            return Some(self.end(a, core)?.min(self.end(b, core)?));
        }
        let rest = without(upper, core).unwrap_or_else(|| upper.clone() - Expr::Var(core.clone()));
        if self.same(&rest) {
            return Some(rest);
        }
        // The number of rounds is the same for `n * round + place + 1` as for `n * round + 1`, for
        // every position among `n` cores.
        let n = self.cores.iter().find(|(name, _)| name == core)?.1;
        if let Some((var, more)) = shifted(&rest) {
            let k = self.by.iter().position(|by| by.contains(var))?;
            let alike = Expr::Var(var.clone()) - Expr::Var(self.cores[k].0.clone()) + more;
            if self.cores[k].1 == n && (more - 1).rem_euclid(n) == 0 && self.same(&alike) {
                return Some(alike);
            }
        }
        // This may also hold for another number of cores, and for a quotient of a tile's number if
        // tiles are not square. It is found by enumeration.
        let Quotient { var, factor, more, by } = quotient(&rest)?;
        let k = self.by.iter().position(|tied| tied.contains(&var))?;
        let others = self.cores[k].1;
        // After this many tiles a quotient has grown by a multiple of `n`, and places repeat.
        let period = by.checked_mul(n)?.checked_mul(others)?;
        let rounds = |tile: i64| {
            let end = factor.checked_mul(tile)?.checked_add(more)?.div_euclid(by);
            Some(end.checked_add(n - 1)?.div_euclid(n))
        };
        let alike = period <= PERIOD
            && (0..period).all(|tile| {
                let first = rounds(tile - tile % others);
                first.is_some() && rounds(tile) == first
            });
        let core = Expr::Var(self.cores[k].0.clone());
        alike.then(|| rest.substitute(&|name| (*name == var).then(|| Expr::Var(var.clone()) - core.clone())))
    }

    fn look(&self, body: &[Stmt], found: &mut Vec<Round>) -> Result<(), String> {
        for stmt in body.iter().filter(|s| has_shared(s)) {
            if let Some((copy, line)) = shared(stmt) {
                let same =
                    |k: usize| copy.from.indices.iter().chain(&copy.extents).all(|e| self.same_along(e, k));
                let alike = match (line, self.by.len()) {
                    (ALL, n) => (0..n).all(same),
                    (ALONE, _) => true,
                    (ROW, 2) => same(1),
                    (COLUMN, 2) => self.columns && same(0),
                    _ => false,
                };
                if !alike {
                    return Err(format!(
                        "it is not seen that a box of `{}` is the same for all",
                        copy.from.array
                    ));
                }
                continue;
            }
            match stmt {
                Stmt::Loop(l) if l.kind != LoopKind::Parallel => self.look_in(l, found)?,
                Stmt::Block { body, .. } => self.look(body, found)?,
                Stmt::If { cond, then, otherwise }
                    if self.decides_alike(cond) && !otherwise.iter().any(has_shared) =>
                {
                    self.look(then, found)?;
                }
                _ => return Err("it is not seen that a condition holds for all or none".to_owned()),
            }
        }
        Ok(())
    }

    /// Whether a condition is true for all cores in a round or for none.
    fn decides_alike(&self, cond: &Expr) -> bool {
        match cond {
            Expr::Binary(BinaryOp::And | BinaryOp::Or, a, b) => {
                self.decides_alike(a) && self.decides_alike(b)
            }
            Expr::Compare(_, a, b) => {
                let grows = |e: &Expr, k: usize| rate(e, &self.by[k], self.cores[k].1);
                (0..self.by.len()).all(|k| grows(a, k).is_some() && grows(a, k) == grows(b, k))
            }
            _ => false,
        }
    }

    fn look_in(&self, l: &Loop, found: &mut Vec<Round>) -> Result<(), String> {
        let own = |(core, n): &(Name, i64)| l.lower == Expr::Var(core.clone()) && l.step == *n;
        let not_alike = || {
            format!(
                "it is not seen that the loop over `{}`, up to `{}`, has as many rounds for all",
                l.var, l.upper
            )
        };
        let Some(k) = self.cores.iter().position(own) else {
            if !self.same(&l.lower) || !self.same(&l.upper) {
                return Err(not_alike());
            }
            return self.look(&l.body, found);
        };
        let end = self.end(&l.upper, &self.cores[k].0).ok_or_else(not_alike)?;
        found.push(Round { var: l.var.clone(), upper: l.upper.clone(), end });
        let mut by = self.by.clone();
        by[k].push(l.var.clone());
        Tied { cores: self.cores, by, columns: self.columns }.look(&l.body, found)
    }
}

/// The loops over tiles around the shared transfers of some statements, if all cores execute these
/// equally often, with boxes that are the same along their lines. `cores` are the variables of the
/// loops over cores, with their ends. `columns` says whether a column has more than one core.
///
/// # Errors
/// A description of what could not be shown to be the same for all cores.
pub(super) fn alike(body: &[Stmt], cores: &[(Name, i64)], columns: bool) -> Result<Vec<Round>, String> {
    let by = cores.iter().map(|(core, _)| vec![core.clone()]).collect();
    let mut found = Vec::new();
    Tied { cores, by, columns }.look(body, &mut found)?;
    Ok(found)
}

/// A loop's round among some.
pub(super) fn of<'r>(rounds: &'r [Round], l: &Loop) -> Option<&'r Round> {
    rounds.iter().find(|round| round.var == l.var && round.upper == l.upper)
}
