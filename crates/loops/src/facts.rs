//! What is known of variables at a point of a program, and what follows from it.
//!
//! Inside a loop `for i in a..b`, `a <= i < b` holds, and so does `a < b`. Conditions and
//! assumptions give inequalities. [`Facts::proves`] decides conditions by replacing variables by
//! their bounds. It is incomplete and does a bounded amount of work. What it proves holds for all
//! values of the variables for which the arithmetic of the program stays within 64 bits.

use std::collections::BTreeSet;

use arith::Monomial;
use arith::number::{floor_div, gcd};

use crate::expr::{BinaryOp, CompareOp, Expr, UnaryOp};
use crate::name::Name;
use crate::poly::{MOST_TERMS, Poly};
use crate::program::{Function, Loop};

/// Knowledge about the variables in scope.
#[derive(Clone, Debug, Default)]
pub struct Facts {
    /// Loop variables, outermost first.
    ranges: Vec<Range>,
    /// Polynomials that are not negative, and variables that are multiples of a number above 1.
    given: arith::Facts<Expr>,
    /// A condition that never holds was assumed.
    impossible: bool,
    /// The names that occur in all this.
    known: BTreeSet<Name>,
    /// Values that 64 bits are known to hold: sizes, extents and bytes of parameters.
    held: Vec<Poly>,
}

/// Inclusive bounds of a loop variable: it is at least every lower one and at most every upper one.
#[derive(Clone, Debug)]
struct Range {
    var: Name,
    lower: Vec<Poly>,
    upper: Vec<Poly>,
}

/// Steps of one proof.
const FUEL: u32 = 100;
/// Facts that are remembered at one place.
const MOST_FACTS: usize = 64;
/// Values that are known to fit into 64 bits.
const MOST_HELD: usize = 16;
/// A number of half the width: sums with it are far from the ends of 64 bits.
const FAR: i64 = 1 << 62;
/// Bounds of one kind that are remembered of a variable.
const MOST_BOUNDS: usize = 6;

/// Whether the expression is index arithmetic and has the same value everywhere in the scope of its
/// variables.
pub fn is_stable(expr: &Expr) -> bool {
    let here = match expr {
        Expr::Int(_) | Expr::Var(_) | Expr::Bool(_) | Expr::Compare(..) | Expr::Select(..) => true,
        Expr::Unary(op, _) => matches!(op, UnaryOp::Neg | UnaryOp::Abs | UnaryOp::Not),
        Expr::Binary(op, ..) => !matches!(op, BinaryOp::Pow | BinaryOp::Atan2 | BinaryOp::Hypot),
        _ => false,
    };
    here && expr.children().all(is_stable)
}

fn stable_poly(expr: &Expr) -> Option<Poly> {
    // The sums of these wrap where programs mean it; a polynomial does not.
    let wraps = crate::simplify::kind(expr).is_some_and(|ty| ty.is_unsigned() || ty.is_narrow());
    if is_stable(expr) && !wraps { Poly::of(expr) } else { None }
}

/// The operands of nested minima (maxima), or the expression alone.
pub(crate) fn operands(expr: &Expr, of: BinaryOp) -> Vec<&Expr> {
    match expr {
        Expr::Binary(op, a, b) if *op == of => {
            let mut list = operands(a, of);
            list.extend(operands(b, of));
            list
        }
        other => vec![other],
    }
}

impl Facts {
    /// What holds in the body of a running function: its assumptions, and that no parameter has a
    /// negative extent.
    pub fn of(function: &Function) -> Facts {
        let mut facts = Facts::default();
        for assumption in &function.assumptions {
            facts.assume(assumption, true);
        }
        for dim in function.params.iter().flat_map(|p| &p.dims) {
            facts.assume_natural(dim);
        }
        facts.hold_parameters(function);
        facts
    }

    /// What 64 bits hold: the sizes, the extents, and how many bytes each parameter has, since
    /// these are in memory.
    fn hold_parameters(&mut self, function: &Function) {
        let mut hold = |poly: Option<Poly>| {
            if let Some(poly) = poly.filter(|p| p.as_constant().is_none())
                && self.held.len() < MOST_HELD
                && !self.held.contains(&poly)
            {
                self.held.push(poly);
            }
        };
        for param in &function.params {
            let count = |sum: Option<Poly>, dim: &Expr| sum?.mul(&stable_poly(dim)?);
            let elements = param.dims.iter().fold(Some(Poly::constant(1)), count);
            hold(elements.and_then(|poly| poly.scale(param.elem.bytes() as i64)));
        }
        for dim in function.params.iter().flat_map(|p| &p.dims) {
            hold(stable_poly(dim));
        }
        for size in &function.sizes {
            hold(Some(Poly::var(size)));
        }
    }

    /// That 64 bits hold the exact value of an index expression.
    pub fn hold(&mut self, expr: &Expr) {
        self.held.extend(stable_poly(expr));
    }

    fn learn(&mut self, poly: Option<Poly>) {
        self.impossible |= poly.as_ref().and_then(Poly::as_constant).is_some_and(|value| value < 0);
        if let Some(poly) = poly
            && poly.as_constant().is_none()
            && self.given.natural().len() < MOST_FACTS
            && !self.given.natural().contains(poly.exact())
        {
            self.know(&poly);
            self.bound(&poly);
            self.given.learn(poly.exact().clone());
        }
    }

    /// From `x mod 8 == 0`.
    fn learn_multiple(&mut self, remainder: &Expr, zero: &Expr) {
        if let Expr::Binary(BinaryOp::Mod | BinaryOp::Rem, x, number) = remainder
            && let (Expr::Var(name), Expr::Int(number), Expr::Int(0)) = (&**x, &**number, zero)
            && *number > 1
        {
            self.learn_multiple_of(name, *number);
        }
    }

    fn learn_multiple_of(&mut self, name: &Name, number: i64) {
        self.known.insert(name.clone());
        self.given.learn_multiple(Expr::Var(name.clone()), i128::from(number));
    }

    /// A number of which the polynomial is a multiple, at least 1.
    fn divisor_of(&self, poly: &Poly) -> i64 {
        i64::try_from(self.given.divisor_of(poly.exact())).unwrap_or(1)
    }

    fn know(&mut self, poly: &Poly) {
        for atom in poly.atoms() {
            for e in atom.nodes() {
                if let Expr::Var(name) = e
                    && !self.known.contains(name)
                {
                    self.known.insert(name.clone());
                }
            }
        }
    }

    /// If `poly >= 0` bounds the innermost of its loop variables by the outer ones, stores the
    /// bound.
    fn bound(&mut self, poly: &Poly) {
        let vars: BTreeSet<Name> = poly.atoms().iter().flat_map(|atom| atom.vars()).collect();
        let Some(range) = self.ranges.iter_mut().rev().find(|range| vars.contains(&range.var)) else {
            return;
        };
        let Some((factor, rest)) = poly.split(&Expr::Var(range.var.clone())) else { return };
        if rest.atoms().iter().any(|atom| atom.mentions(&range.var)) {
            return;
        }
        let (list, bound) = match factor.as_constant() {
            Some(1) => (&mut range.lower, rest.scale(-1)),
            Some(-1) => (&mut range.upper, Some(rest)),
            _ => return,
        };
        if let Some(bound) = bound
            && list.len() < MOST_BOUNDS
            && !list.contains(&bound)
        {
            list.push(bound);
        }
    }

    /// Whether the innermost loop variable has no value, as far as its bounds show it.
    pub(crate) fn innermost_is_empty(&self) -> bool {
        let mut fuel = FUEL;
        self.ranges.last().is_some_and(|range| self.is_empty(range, &mut fuel))
    }

    fn is_empty(&self, range: &Range, fuel: &mut u32) -> bool {
        let mut empty = |low: &Poly, high: &Poly| {
            low.sub(high).and_then(|p| p.plus(-1)).is_some_and(|p| self.eliminate(&p, fuel))
        };
        range.lower.iter().any(|low| range.upper.iter().any(|high| empty(low, high)))
    }

    /// Whether no values at all fulfil the facts, as far as bounds of loop variables show it.
    pub(crate) fn are_contradictory(&self) -> bool {
        let mut fuel = 10 * FUEL;
        self.impossible || self.ranges.iter().any(|range| self.is_empty(range, &mut fuel))
    }

    /// From here on the expression is at least 0.
    pub(crate) fn assume_natural(&mut self, expr: &Expr) {
        self.learn(stable_poly(expr));
    }

    /// From here on the condition holds, or does not.
    pub fn assume(&mut self, cond: &Expr, holds: bool) {
        match cond {
            Expr::Bool(value) => self.impossible |= *value != holds,
            Expr::Unary(UnaryOp::Not, inner) => self.assume(inner, !holds),
            Expr::Binary(BinaryOp::And, a, b) if holds => {
                self.assume(a, true);
                self.assume(b, true);
            }
            Expr::Binary(BinaryOp::Or, a, b) if !holds => {
                self.assume(a, false);
                self.assume(b, false);
            }
            Expr::Compare(op, a, b) => {
                if matches!((op, holds), (CompareOp::Eq, true) | (CompareOp::Ne, false)) {
                    self.learn_multiple(a, b);
                }
                let (Some(a), Some(b)) = (stable_poly(a), stable_poly(b)) else { return };
                let at_least = |x: &Poly, y: &Poly, gap: i64| x.sub(y).and_then(|d| d.plus(-gap));
                match (op, holds) {
                    (CompareOp::Lt, true) | (CompareOp::Ge, false) => self.learn(at_least(&b, &a, 1)),
                    (CompareOp::Le, true) | (CompareOp::Gt, false) => self.learn(at_least(&b, &a, 0)),
                    (CompareOp::Gt, true) | (CompareOp::Le, false) => self.learn(at_least(&a, &b, 1)),
                    (CompareOp::Ge, true) | (CompareOp::Lt, false) => self.learn(at_least(&a, &b, 0)),
                    (CompareOp::Eq, true) | (CompareOp::Ne, false) => {
                        self.learn(at_least(&a, &b, 0));
                        self.learn(at_least(&b, &a, 0));
                    }
                    (CompareOp::Ne, true) | (CompareOp::Eq, false) => {}
                }
            }
            _ => {}
        }
    }

    /// Forgets what is known of a name that means something else from here on.
    pub fn forget(&mut self, name: &Name) {
        if !self.known.remove(name) {
            return;
        }
        let mentions = |poly: &Poly| poly.atoms().iter().any(|atom| atom.mentions(name));
        self.given.forget(|atom| atom.mentions(name));
        for range in &mut self.ranges {
            range.lower.retain(|poly| !mentions(poly));
            range.upper.retain(|poly| !mentions(poly));
        }
        self.ranges.retain(|range| range.var != *name);
    }

    /// Into the body of a loop, where the loop has at least this one iteration.
    pub fn enter(&mut self, l: &Loop) {
        self.enter_range(&l.var, &l.lower, &l.upper);
        if let Some(lower) = stable_poly(&l.lower).filter(|_| l.step > 1) {
            let number = gcd(l.step, self.divisor_of(&lower));
            // Of 0 every number is a divisor.
            let number = if lower.as_constant() == Some(0) { l.step } else { number };
            if number > 1 {
                self.learn_multiple_of(&l.var, number);
            }
        }
    }

    /// From here on `lower <= var < upper`.
    pub fn enter_range(&mut self, var: &Name, lower: &Expr, upper: &Expr) {
        self.forget(var);
        let polys = |expr: &Expr, of: BinaryOp| -> Vec<Poly> {
            let list = operands(expr, of).into_iter().filter_map(stable_poly);
            list.filter(|poly| !poly.atoms().iter().any(|atom| atom.mentions(var))).collect()
        };
        let lower = polys(lower, BinaryOp::Max);
        let upper: Vec<Poly> = polys(upper, BinaryOp::Min).iter().filter_map(|p| p.plus(-1)).collect();
        for low in &lower {
            for high in &upper {
                self.learn(high.sub(low));
            }
        }
        lower.iter().chain(&upper).for_each(|poly| self.know(poly));
        self.known.insert(var.clone());
        self.ranges.push(Range { var: var.clone(), lower, upper });
    }

    /// Whether the condition holds for all values that the facts allow.
    pub fn proves(&self, cond: &Expr) -> bool {
        match cond {
            Expr::Bool(value) => *value,
            Expr::Binary(BinaryOp::And, a, b) => self.proves(a) && self.proves(b),
            Expr::Binary(BinaryOp::Or, a, b) => self.proves(a) || self.proves(b),
            Expr::Unary(UnaryOp::Not, inner) => self.refutes(inner),
            Expr::Compare(op, a, b) => self.decide(*op, a, b) == Some(true),
            _ => false,
        }
    }

    /// Whether the condition fails for all values that the facts allow.
    pub fn refutes(&self, cond: &Expr) -> bool {
        match cond {
            Expr::Bool(value) => !*value,
            Expr::Binary(BinaryOp::And, a, b) => self.refutes(a) || self.refutes(b),
            Expr::Binary(BinaryOp::Or, a, b) => self.refutes(a) && self.refutes(b),
            Expr::Unary(UnaryOp::Not, inner) => self.proves(inner),
            Expr::Compare(op, a, b) => self.decide(*op, a, b) == Some(false),
            _ => false,
        }
    }

    /// The comparison's value, if the facts decide it.
    pub fn decide(&self, op: CompareOp, a: &Expr, b: &Expr) -> Option<bool> {
        let difference = stable_poly(b)?.sub(&stable_poly(a)?)?; // b - a
        let at_least = |gap: i64| difference.plus(-gap).is_some_and(|p| self.natural(&p));
        let at_most =
            |gap: i64| difference.scale(-1).and_then(|p| p.plus(gap)).is_some_and(|p| self.natural(&p));
        let decided = |yes: bool, no: &dyn Fn() -> bool| if yes { Some(true) } else { no().then_some(false) };
        match op {
            CompareOp::Lt => decided(at_least(1), &|| at_most(0)),
            CompareOp::Le => decided(at_least(0), &|| at_most(-1)),
            CompareOp::Gt => decided(at_most(-1), &|| at_least(0)),
            CompareOp::Ge => decided(at_most(0), &|| at_least(1)),
            CompareOp::Eq => decided(at_least(0) && at_most(0), &|| at_least(1) || at_most(-1)),
            CompareOp::Ne => decided(at_least(1) || at_most(-1), &|| at_least(0) && at_most(0)),
        }
    }

    /// Whether the exact value of an index expression fits in 64 bits for all values that the facts
    /// allow, if the values of its operands do.
    pub fn proves_fit(&self, expr: &Expr) -> bool {
        let Some(poly) = stable_poly(expr) else { return false };
        let natural = |p: Option<Poly>| p.is_some_and(|p| self.natural(&p));
        // Half of what is held, and a number of half the bits, are together far from the end.
        let twice = poly.scale(-2).and_then(|p| p.plus(1 << 32));
        let below = natural(poly.scale(-1).and_then(|p| p.plus(FAR)))
            || self.held.iter().any(|held| natural(held.sub(&poly)))
            || twice.is_some_and(|twice| self.held.iter().any(|held| natural(held.add(&twice))));
        below && (natural(poly.plus(FAR)) || self.held.iter().any(|held| natural(held.add(&poly))))
    }

    /// Whether the expression is at least 0 for all values that the facts allow.
    pub fn proves_natural(&self, expr: &Expr) -> bool {
        stable_poly(expr).is_some_and(|poly| self.natural(&poly))
    }

    /// Whether the polynomial is at least 0 for all values that the facts allow.
    pub(crate) fn natural(&self, poly: &Poly) -> bool {
        let mut fuel = FUEL;
        if self.eliminate(poly, &mut fuel) {
            return true;
        }
        let mut fuel = FUEL;
        self.with_fact(poly, &mut fuel)
    }

    /// Whether the polynomial is the sum of a fact, taken some times, and of something natural.
    fn with_fact(&self, poly: &Poly, fuel: &mut u32) -> bool {
        let mut rests = self.given.without_facts(poly.exact(), |_, _| true);
        rests.any(|rest| Poly::small(Some(rest)).is_some_and(|rest| self.eliminate(&rest, fuel)))
    }

    /// Replaces atoms by their bounds, innermost loops first, until only sizes are left.
    fn eliminate(&self, poly: &Poly, fuel: &mut u32) -> bool {
        if let Some(value) = poly.as_constant() {
            return value >= 0;
        }
        if *fuel == 0 {
            return false;
        }
        *fuel -= 1;
        let raised = match self.divisor_of(poly) {
            1 => None,
            // A multiple of g that is above -g is natural.
            divisor => poly.plus(divisor - 1),
        };
        let poly = raised.as_ref().unwrap_or(poly);
        let atoms = poly.atoms();
        let composite = atoms.iter().filter(|a| !matches!(a, Expr::Var(_))).max_by_key(|a| node_count(a));
        if let Some(atom) = composite {
            let atom = (*atom).clone();
            return poly
                .split(&atom)
                .is_some_and(|(factor, rest)| self.bound_composite(poly, &atom, &factor, &rest, fuel));
        }
        for range in self.ranges.iter().rev() {
            let atom = Expr::Var(range.var.clone());
            if !atoms.contains(&&atom) {
                continue;
            }
            let Some((factor, rest)) = poly.split(&atom) else { return false };
            let candidates = if self.eliminate(&factor, fuel) {
                &range.lower
            } else if factor.scale(-1).is_some_and(|negated| self.eliminate(&negated, fuel)) {
                &range.upper
            } else {
                return false;
            };
            return candidates.iter().any(|bound| {
                let bounded = factor.mul(bound).and_then(|product| product.add(&rest));
                bounded.is_some_and(|p| self.eliminate(&p, fuel))
            });
        }
        self.given.nonnegative_term_by_term(poly.exact(), 2, MOST_TERMS)
    }

    /// `poly = factor * atom + rest` for a quotient, remainder, minimum or the like.
    fn bound_composite(&self, poly: &Poly, atom: &Expr, factor: &Poly, rest: &Poly, fuel: &mut u32) -> bool {
        let natural = |p: Option<Poly>, fuel: &mut u32| p.is_some_and(|p| self.eliminate(&p, fuel));
        let rising = self.eliminate(factor, fuel);
        let falling = !rising && natural(factor.scale(-1), fuel);
        let with = |bound: &Poly| factor.mul(bound).and_then(|product| product.add(rest));
        match atom {
            Expr::Binary(op @ (BinaryOp::Min | BinaryOp::Max), a, b) => {
                let replaced = |by: &Expr| Poly::of(by).and_then(|by| poly.replace(atom, &by));
                // A minimum is at most each operand, so for a falling factor either will do; else
                // both must.
                let either = if *op == BinaryOp::Min { falling } else { rising };
                let first = natural(replaced(a), fuel);
                if first == either { first } else { natural(replaced(b), fuel) }
            }
            Expr::Select(_, a, b) => {
                let replaced = |by: &Expr| Poly::of(by).and_then(|by| poly.replace(atom, &by));
                natural(replaced(a), fuel) && natural(replaced(b), fuel)
            }
            Expr::Unary(UnaryOp::Abs, _) => rising && natural(Some(rest.clone()), fuel),
            Expr::Binary(op, x, d) if rising || falling => {
                let (Some(x), Some(d)) = (Poly::of(x), Poly::of(d)) else { return false };
                let Some(largest) = d.plus(-1) else { return false };
                if !self.eliminate(&largest, fuel) {
                    return false;
                }
                let floors = matches!(op, BinaryOp::FloorDiv | BinaryOp::Mod) || self.eliminate(&x, fuel);
                match op {
                    BinaryOp::Mod | BinaryOp::Rem if floors => {
                        if rising {
                            natural(Some(rest.clone()), fuel)
                        } else {
                            // At most d - 1, and at most x if x is natural.
                            natural(with(&largest), fuel)
                                || (self.eliminate(&x, fuel) && natural(with(&x), fuel))
                        }
                    }
                    BinaryOp::Rem => {
                        let bound = if rising { largest.scale(-1) } else { Some(largest) };
                        natural(bound.and_then(|bound| with(&bound)), fuel)
                    }
                    BinaryOp::FloorDiv | BinaryOp::Div if floors => {
                        if let Some((inner, cases)) = extremum_inside(&x, &d) {
                            // Quotients rise with the dividend: that of a minimum is the minimum of
                            // the quotients.
                            let mut natural = |by: &Poly| {
                                let replaced = poly.replace(atom, by);
                                replaced.is_some_and(|p| self.eliminate(&p, fuel))
                            };
                            let either = falling == (inner == BinaryOp::Min);
                            let first = natural(&cases[0]);
                            if if first == either { first } else { natural(&cases[1]) } {
                                return true;
                            }
                        }
                        // d q is in x - (d - 1) ..= x; and an integer p is natural if d p > -d.
                        let dq = if rising { x.sub(&largest) } else { Some(x.clone()) };
                        let scaled = dq
                            .and_then(|dq| factor.mul(&dq))
                            .and_then(|p| p.add(&rest.mul(&d)?))
                            .and_then(|p| p.add(&largest));
                        natural(scaled, fuel)
                            || (rising && self.eliminate(&x, fuel) && natural(Some(rest.clone()), fuel))
                    }
                    _ => false,
                }
            }
            _ => false,
        }
    }
}

/// If the dividend is a minimum or maximum plus something: the quotients by a positive constant
/// with each operand in its place.
fn extremum_inside(x: &Poly, d: &Poly) -> Option<(BinaryOp, [Poly; 2])> {
    let divisor = d.as_constant().filter(|d| *d > 0)?;
    let (atom, op, a, b) = x.atoms().into_iter().find_map(|atom| match atom {
        Expr::Binary(op @ (BinaryOp::Min | BinaryOp::Max), a, b) => Some((atom, *op, a, b)),
        _ => None,
    })?;
    if x.coefficient(&Monomial::of(atom.clone())) <= 0 {
        return None;
    }
    let (factor, _) = x.split(atom)?;
    factor.as_constant()?;
    let quotient = |operand: &Expr| {
        let dividend = x.replace(atom, &Poly::of(operand)?)?;
        match dividend.as_constant() {
            Some(value) => Some(Poly::constant(floor_div(value, divisor)?)),
            None => Some(Poly::atom(dividend.to_expr(&[])?.floor_div(divisor))),
        }
    };
    Some((op, [quotient(a)?, quotient(b)?]))
}

fn node_count(expr: &Expr) -> usize {
    1 + expr.children().map(node_count).sum::<usize>()
}
