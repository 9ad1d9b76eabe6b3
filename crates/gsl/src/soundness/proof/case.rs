//! One case of a proof: which choices were made, what follows from the conditions, and what is
//! asked about integers.
//!
//! A rule stands for many graphs: of each rank, with each axis, with or without an optional input.
//! [`Choices`] enumerates them: a run that calls [`Case::choose`] is repeated for every answer.
//! Within a case, extents and attributes stay symbols.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::rc::Rc;

use arith::number::floor_div;

use super::element::Real;
use super::int::{Atom, Int, Monomial};
use super::types::Types;

/// Why a run ends early.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Stop {
    /// The case contradicts itself: no graph is of it.
    Impossible,
    /// What can't be shown, and why.
    Unproved(String),
    /// It is too much work.
    Work,
}

/// The outcome of a step of a proof.
pub(super) type Step<T> = Result<T, Stop>;

pub(super) fn unproved<T>(why: impl Into<String>) -> Step<T> {
    Err(Stop::Unproved(why.into()))
}

/// The answers of this run, and the number of possible answers of each.
#[derive(Clone, Debug, Default)]
pub(super) struct Choices {
    taken: Vec<(usize, usize)>,
    at: usize,
}

impl Choices {
    fn choose(&mut self, of: usize) -> usize {
        if self.at == self.taken.len() {
            self.taken.push((0, of));
        }
        self.at += 1;
        self.taken[self.at - 1].0
    }

    /// Prepares the next run; false if there is none.
    pub fn advance(&mut self) -> bool {
        self.taken.truncate(self.at);
        self.at = 0;
        while let Some((k, of)) = self.taken.pop() {
            if k + 1 < of {
                self.taken.push((k + 1, of));
                return true;
            }
        }
        false
    }
}

/// Whether requirements may be assumed. A source pattern matches a valid graph. For the target they
/// must be shown.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Mode {
    Assume,
    Show,
}

/// Limits of what is looked at.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Bounds {
    /// The greatest rank of a tensor that the pattern leaves open.
    pub rank: usize,
    /// The greatest number of instances of a variadic part.
    pub branches: usize,
}

/// How many facts a question may combine.
const DEPTH: usize = 2;

/// How often equations are solved again because a solution changed what others say.
const ROUNDS: usize = 8;

pub(super) struct Case {
    choices: Choices,
    pub bounds: Bounds,
    pub mode: Mode,
    pub types: Types,
    /// What is 0.
    equations: Vec<Int>,
    bindings: BTreeMap<Atom, Int>,
    /// What is not negative.
    facts: Vec<Int>,
    /// Facts in normal form.
    normal_facts: Vec<Int>,
    /// What is not 0.
    nonzero: Vec<Int>,
    pub reals: HashMap<Rc<str>, Rc<Real>>,
    /// Texts of numbers that conditions say to be greater than 0.
    pub positive: HashSet<String>,
    /// The extents of parts that an operator chose itself, by the extent that it divided.
    pub parts: HashMap<String, Vec<Int>>,
    vars: u32,
    names: usize,
    /// Work left.
    fuel: usize,
}

impl Case {
    pub fn new(choices: Choices, bounds: Bounds) -> Case {
        Case {
            choices,
            bounds,
            mode: Mode::Assume,
            types: Types::default(),
            equations: Vec::new(),
            bindings: BTreeMap::new(),
            facts: Vec::new(),
            normal_facts: Vec::new(),
            nonzero: Vec::new(),
            reals: HashMap::new(),
            positive: HashSet::new(),
            parts: HashMap::new(),
            vars: 0,
            names: 0,
            fuel: 400_000,
        }
    }

    pub(crate) fn into_choices(self) -> Choices {
        self.choices
    }

    /// One of `of` possibilities; all are tried. Several must not be open while the target is
    /// built: then it is decided by what holds.
    pub fn choose(&mut self, of: usize) -> usize {
        self.choices.choose(of.max(1))
    }

    /// Takes from the work that is left.
    pub fn pay(&mut self, work: usize) -> Step<()> {
        match self.fuel.checked_sub(work) {
            Some(left) => {
                self.fuel = left;
                Ok(())
            }
            None => Err(Stop::Work),
        }
    }

    /// A name that no other symbol has.
    pub fn fresh(&mut self, hint: &str) -> String {
        self.names += 1;
        format!("{hint}'{}", self.names)
    }

    /// A new extent.
    pub fn extent(&mut self, hint: &str) -> Int {
        let name = self.fresh(hint);
        let n = Int::symbol(&name);
        self.fact(n.clone());
        n
    }

    pub fn variable(&mut self) -> u32 {
        self.vars += 1;
        self.vars
    }

    /// A new variable below `n`.
    pub fn index(&mut self, n: &Int) -> Int {
        let v = Int::var(self.variable());
        self.fact(v.clone());
        self.fact(n.minus(&v).offset(-1));
        v
    }

    /// Notes that `e >= 0`.
    pub fn fact(&mut self, e: Int) {
        let n = self.norm(&e);
        if n.constant().is_none() && !self.normal_facts.contains(&n) {
            self.normal_facts.push(n);
            self.facts.push(e);
        }
    }

    /// Notes that `e != 0`.
    pub(crate) fn not_zero(&mut self, e: Int) {
        self.nonzero.push(e);
    }

    /// Whether something that is not 0 has become 0.
    fn contradicts(&self) -> bool {
        self.nonzero.iter().any(|n| self.norm(n).is_zero())
    }

    pub(crate) fn is_not_zero(&self, e: &Int) -> bool {
        let e = self.norm(e);
        e.constant().is_some_and(|n| n != 0)
            || self.nonzero.iter().any(|n| self.norm(n) == e)
            || self.nonneg(&e.offset(-1))
            || self.nonneg(&e.negated().offset(-1))
    }

    /// Takes for granted that `e == 0`.
    pub fn equation(&mut self, e: &Int) -> Step<()> {
        let e = self.norm(e);
        if e.is_zero() || e.is_unknown() {
            return Ok(());
        }
        self.equations.push(e);
        self.solve()
    }

    fn solve(&mut self) -> Step<()> {
        for _ in 0..ROUNDS {
            let mut changed = false;
            for k in 0..self.equations.len() {
                let e = self.norm(&self.equations[k].clone());
                if e.is_zero() || e.is_unknown() {
                    continue;
                }
                if e.constant().is_some() {
                    return Err(Stop::Impossible);
                }
                changed |= self.solve_one(&e)?;
            }
            if !changed {
                break;
            }
            // Solutions in terms of what is left open. One look-up is enough.
            let keys: Vec<Atom> = self.bindings.keys().cloned().collect();
            for key in keys {
                if let Some(value) = self.bindings.get(&key).cloned() {
                    let value = self.norm(&value);
                    self.bindings.insert(key, value);
                }
            }
            self.normal_facts = self.facts.iter().map(|f| self.norm(f)).collect();
        }
        // A fact that became a negative number: there is no such graph.
        if self.normal_facts.iter().any(|f| f.constant().is_some_and(|n| n < 0)) || self.contradicts() {
            return Err(Stop::Impossible);
        }
        Ok(())
    }

    fn solve_one(&mut self, e: &Int) -> Step<bool> {
        self.pay(10)?;
        // A common factor of all monomials may be left out if it is not 0.
        let shared = e.monomials().next().and_then(|(m, _)| {
            m.expanded().find(|a| {
                let a = Int::from((*a).clone());
                e.divide(&a).is_some_and(|(_, rest)| rest.is_zero()) && self.nonneg(&a.offset(-1))
            })
        });
        if let Some((q, _)) = shared.and_then(|a| e.divide(&Int::from(a.clone()))) {
            return if q.constant().is_some() { Err(Stop::Impossible) } else { self.solve_one(&q) };
        }
        // A product of extents that is 1: each of them is.
        let monomials: Vec<(&Monomial, i128)> = e.monomials().collect();
        if let [(one, c), (product, d)] = monomials[..]
            && one.is_one()
            && c.abs() == 1
            && c == -d
            && product.degree() > 1
            && product.expanded().all(|a| self.nonneg(&Int::from(a.clone())))
        {
            for atom in product.expanded() {
                self.bindings.insert(atom.clone(), Int::from(1));
            }
            return Ok(true);
        }
        // Symbols first: what functions give is better expressed by them than the other way round.
        let mut candidates: Vec<Atom> = e
            .monomials()
            .filter(|(_, c)| c.abs() == 1)
            .filter_map(|(m, _)| m.as_atom().cloned())
            .filter(|a| !matches!(a, Atom::Var(_)) && !self.bindings.contains_key(a))
            .collect();
        candidates.sort_by_key(|a| !matches!(a, Atom::Symbol(_)));
        for atom in candidates {
            if let Some((c, rest)) = e.linear_in(&atom) {
                let value = if c == 1 { rest.negated() } else { rest };
                if value.constant().is_some_and(|n| n < 0) && self.nonneg(&Int::from(atom.clone())) {
                    return Err(Stop::Impossible);
                }
                self.bindings.insert(atom, value);
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The normal form under what is known.
    pub fn norm(&self, e: &Int) -> Int {
        self.norm_with(e, &mut |_| None, 0)
    }

    /// The normal form, with other integers in place of some variables.
    pub fn replaced(&self, e: &Int, f: &mut dyn FnMut(u32) -> Option<Int>) -> Int {
        self.norm_with(e, f, 0)
    }

    fn norm_with(&self, e: &Int, f: &mut dyn FnMut(u32) -> Option<Int>, depth: usize) -> Int {
        if depth > 24 {
            return Int::unknown();
        }
        e.map(&mut |atom| {
            let atom = match atom {
                Atom::Var(v) => match f(*v) {
                    Some(value) => return value,
                    None => return Int::from(atom.clone()),
                },
                Atom::Symbol(_) => atom.clone(),
                Atom::Fun(name, arguments) => {
                    let arguments = arguments.iter().map(|a| self.norm_with(a, f, depth + 1)).collect();
                    let simple = self.function(name, arguments);
                    match single(&simple) {
                        Some(atom) => atom,
                        None => return simple,
                    }
                }
            };
            match self.bindings.get(&atom) {
                Some(value) => self.norm_with(value, f, depth + 1),
                None => Int::from(atom),
            }
        })
    }

    /// A function of arguments in normal form.
    fn function(&self, name: &str, arguments: Vec<Int>) -> Int {
        match (name, &arguments[..]) {
            ("div", [a, b]) => self.quotient(a, b),
            ("mod", [a, b]) => a.minus(&b.times(&self.quotient(a, b))),
            ("max", all) if all.iter().all(|a| a.constant().is_some()) => {
                Int::from(all.iter().filter_map(Int::constant).max().unwrap_or(0))
            }
            ("max", all) => {
                let mut sorted: Vec<Int> = all.to_vec();
                sorted.sort();
                sorted.dedup();
                if sorted.len() == 1 { sorted.remove(0) } else { Int::fun("max", sorted) }
            }
            _ => Int::fun(name, arguments),
        }
    }

    /// The quotient rounded down. Divisors are positive wherever this occurs in a position of a
    /// tensor that exists.
    fn quotient(&self, a: &Int, b: &Int) -> Int {
        if b.is(1) {
            return a.clone();
        }
        if let (Some(x), Some(y)) = (a.constant(), b.constant())
            && let Some(quotient) = floor_div(x, y).filter(|_| y > 0)
        {
            return Int::from(quotient);
        }
        let Some((q, rest)) = a.divide(b) else {
            return if a == b { Int::from(1) } else { Int::fun("div", vec![a.clone(), b.clone()]) };
        };
        if rest.is_zero() {
            return q;
        }
        let small = self.below_facts(&rest) && self.below_facts(&b.minus(&rest).offset(-1));
        if small { q } else { q.plus(&Int::fun("div", vec![rest, b.clone()])) }
    }

    /// Whether `e >= 0` follows from one fact at once: without normal forms, which would come here
    /// again.
    fn below_facts(&self, e: &Int) -> bool {
        self.follows(e, &[], 1)
    }

    /// Whether `e >= 0` follows from the facts.
    pub(crate) fn nonneg(&self, e: &Int) -> bool {
        self.follows(&self.norm(e), &[], DEPTH)
    }

    /// Whether `e >= 0` follows from the facts and `more`, all in normal form. `arith::Facts` asks
    /// differently: it knows no bindings of atoms, and takes a fact away as often as cancels a
    /// term.
    pub(crate) fn nonneg_with(&self, e: &Int, more: &[Int]) -> bool {
        self.follows(e, more, DEPTH)
    }

    fn follows(&self, e: &Int, more: &[Int], depth: usize) -> bool {
        if e.is_unknown() {
            return false;
        }
        if let Some(n) = e.constant() {
            return n >= 0;
        }
        let plain = |m: &Monomial, c: i128| c >= 0 && m.expanded().all(|a| self.atom_nonneg(a, more));
        if e.monomials().all(|(m, c)| plain(m, c)) {
            return true;
        }
        if depth == 0 {
            return false;
        }
        // Take away a fact that removes a negative monomial.
        self.normal_facts.iter().chain(more).any(|fact| {
            let helps = fact.monomials().any(|(m, c)| c < 0 && e.monomials().any(|(n, d)| n == m && d < 0));
            helps && self.follows(&e.minus(fact), more, depth - 1)
        })
    }

    fn atom_nonneg(&self, atom: &Atom, more: &[Int]) -> bool {
        let this = Int::from(atom.clone());
        // `atom - n >= 0` with `n >= 0` says it too.
        self.normal_facts
            .iter()
            .chain(more)
            .any(|f| f == &this || f.plus(&Int::from(0)).minus(&this).constant().is_some_and(|n| n <= 0))
    }

    /// Whether two integers are equal in all graphs of the case.
    pub fn same(&self, a: &Int, b: &Int) -> bool {
        self.norm(&a.minus(b)).is_zero()
    }

    /// Whether they differ in all of them.
    pub fn differ(&self, a: &Int, b: &Int) -> bool {
        let d = self.norm(&a.minus(b));
        d.constant().is_some_and(|n| n != 0)
            || self.nonneg(&d.offset(-1))
            || self.nonneg(&d.negated().offset(-1))
    }

    /// Equality: assumed in a source pattern, to be shown for a target.
    pub fn equal(&mut self, a: &Int, b: &Int, what: &str) -> Step<()> {
        if self.same(a, b) {
            return Ok(());
        }
        match self.mode {
            Mode::Assume => self.equation(&a.minus(b)),
            Mode::Show => unproved(format!("{what}: `{}` and `{}` may differ", self.norm(a), self.norm(b))),
        }
    }
}

/// The atom that it is, if it is one.
fn single(e: &Int) -> Option<Atom> {
    let mut all = e.monomials();
    match (all.next(), all.next()) {
        (Some((m, 1)), None) if !e.is_unknown() => m.as_atom().cloned(),
        _ => None,
    }
}
