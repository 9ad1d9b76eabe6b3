//! Integers that depend on extents, attributes and index variables: polynomials over atoms, in
//! normal form.
//!
//! Two of them that print alike are equal for all values of their atoms. Nothing else is claimed.
//! If one overflows, it becomes [`Int::unknown`], which equals nothing, not even itself.

use std::collections::BTreeMap;
use std::fmt;
use std::rc::Rc;

/// How many monomials a polynomial may have.
const MAX_MONOMIALS: usize = 256;

/// What polynomials are made of.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Atom {
    /// An extent or a number of an attribute.
    Symbol(Rc<str>),
    /// An index variable: of the place in a result, or of a sum.
    Var(u32),
    /// A function that the proof knows little or nothing of: `div`, `mod`, `max`, or the extents
    /// that an operator computes.
    Fun(Rc<str>, Vec<Int>),
}

/// A polynomial: coefficients of products of atoms, which are sorted. No coefficient is 0.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub(super) struct Int {
    terms: BTreeMap<Vec<Atom>, i128>,
    unknown: bool,
}

impl From<i64> for Int {
    fn from(n: i64) -> Int {
        Int::monomial(Vec::new(), n.into())
    }
}

impl From<Atom> for Int {
    fn from(atom: Atom) -> Int {
        Int::monomial(vec![atom], 1)
    }
}

impl Int {
    /// What is known of it is nothing.
    pub fn unknown() -> Int {
        Int { terms: BTreeMap::new(), unknown: true }
    }

    pub fn symbol(name: &str) -> Int {
        Int::from(Atom::Symbol(name.into()))
    }

    pub fn var(v: u32) -> Int {
        Int::from(Atom::Var(v))
    }

    pub fn fun(name: &str, arguments: Vec<Int>) -> Int {
        if arguments.iter().any(|a| a.unknown) {
            return Int::unknown();
        }
        Int::from(Atom::Fun(name.into(), arguments))
    }

    fn monomial(atoms: Vec<Atom>, c: i128) -> Int {
        let mut terms = BTreeMap::new();
        if c != 0 {
            terms.insert(atoms, c);
        }
        Int { terms, unknown: false }
    }

    pub fn is_unknown(&self) -> bool {
        self.unknown
    }

    /// Its monomials with their coefficients.
    pub fn monomials(&self) -> impl Iterator<Item = (&Vec<Atom>, i128)> {
        self.terms.iter().map(|(m, c)| (m, *c))
    }

    pub fn is_zero(&self) -> bool {
        !self.unknown && self.terms.is_empty()
    }

    /// The number that it is, if it is one.
    pub fn constant(&self) -> Option<i64> {
        if self.unknown {
            return None;
        }
        match self.terms.len() {
            0 => Some(0),
            1 => self.terms.get(&Vec::new()).and_then(|c| i64::try_from(*c).ok()),
            _ => None,
        }
    }

    pub fn is(&self, n: i64) -> bool {
        self.constant() == Some(n)
    }

    pub fn plus(&self, other: &Int) -> Int {
        self.combine(other, 1)
    }

    pub fn minus(&self, other: &Int) -> Int {
        self.combine(other, -1)
    }

    pub fn negated(&self) -> Int {
        Int::default().minus(self)
    }

    /// `self + n`.
    pub fn offset(&self, n: i64) -> Int {
        self.plus(&Int::from(n))
    }

    fn combine(&self, other: &Int, factor: i128) -> Int {
        if self.unknown || other.unknown {
            return Int::unknown();
        }
        let mut terms = self.terms.clone();
        for (m, c) in &other.terms {
            let old = terms.remove(m).unwrap_or(0);
            match c.checked_mul(factor).and_then(|c| old.checked_add(c)) {
                Some(0) => {}
                Some(new) => {
                    terms.insert(m.clone(), new);
                }
                None => return Int::unknown(),
            }
        }
        Int { unknown: terms.len() > MAX_MONOMIALS, terms }
    }

    pub fn times(&self, other: &Int) -> Int {
        if self.unknown || other.unknown || self.terms.len() * other.terms.len() > 16 * MAX_MONOMIALS {
            return Int::unknown();
        }
        let mut out = Int::default();
        for (m, c) in &self.terms {
            for (n, d) in &other.terms {
                let Some(product) = c.checked_mul(*d) else { return Int::unknown() };
                let mut atoms: Vec<Atom> = m.iter().chain(n).cloned().collect();
                atoms.sort();
                out = out.plus(&Int::monomial(atoms, product));
            }
        }
        out
    }

    /// The factor of the monomial `by` in `self`, and the rest: `self == q * by + rest`. `by` must
    /// be one monomial.
    pub fn divide(&self, by: &Int) -> Option<(Int, Int)> {
        if self.unknown || by.unknown || by.terms.len() != 1 {
            return None;
        }
        let (divisor, d) = by.terms.iter().next()?;
        let (mut quotient, mut rest) = (Int::default(), Int::default());
        for (m, c) in &self.terms {
            let mut left = m.clone();
            let divides = c % d == 0
                && divisor.iter().all(|a| {
                    let at = left.iter().position(|b| b == a);
                    at.map(|k| left.remove(k)).is_some()
                });
            if divides {
                quotient = quotient.plus(&Int::monomial(left, c / d));
            } else {
                rest = rest.plus(&Int::monomial(m.clone(), *c));
            }
        }
        Some((quotient, rest))
    }

    /// `(c, rest)` with `self == c * atom + rest` where neither contains the atom; `None` if it
    /// stands elsewhere too, or nowhere.
    pub fn linear_in(&self, atom: &Atom) -> Option<(i128, Int)> {
        let mut rest = self.clone();
        let c = rest.terms.remove(std::slice::from_ref(atom))?;
        (!self.unknown && !rest.mentions(atom)).then_some((c, rest))
    }

    /// Whether the atom stands anywhere in it, arguments of functions included.
    pub fn mentions(&self, atom: &Atom) -> bool {
        self.any_atom(&mut |a| a == atom)
    }

    /// Whether some atom is as asked, arguments of functions included.
    pub fn any_atom(&self, found: &mut dyn FnMut(&Atom) -> bool) -> bool {
        self.terms.keys().flatten().any(|a| {
            found(a)
                || match a {
                    Atom::Fun(_, arguments) => arguments.iter().any(|e| e.any_atom(found)),
                    _ => false,
                }
        })
    }

    /// With `f` in place of each atom; functions get their arguments replaced first.
    pub fn map(&self, f: &mut dyn FnMut(&Atom) -> Int) -> Int {
        if self.unknown {
            return Int::unknown();
        }
        let mut out = Int::default();
        for (m, c) in &self.terms {
            let mut product = Int::monomial(Vec::new(), *c);
            for atom in m {
                product = product.times(&f(atom));
            }
            out = out.plus(&product);
        }
        out
    }
}

impl fmt::Display for Atom {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Atom::Symbol(name) => write!(f, "{name}"),
            Atom::Var(v) => write!(f, "#{v}"),
            Atom::Fun(name, arguments) => {
                write!(f, "{name}(")?;
                for (k, a) in arguments.iter().enumerate() {
                    write!(f, "{}{a}", if k == 0 { "" } else { ", " })?;
                }
                write!(f, ")")
            }
        }
    }
}

impl fmt::Display for Int {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.unknown {
            return write!(f, "?");
        }
        if self.terms.is_empty() {
            return write!(f, "0");
        }
        for (k, (m, c)) in self.terms.iter().enumerate() {
            let sign = match (k, *c < 0) {
                (0, false) => "",
                (0, true) => "-",
                (_, false) => " + ",
                (_, true) => " - ",
            };
            write!(f, "{sign}")?;
            let size = c.unsigned_abs();
            let atoms: Vec<String> = m.iter().map(Atom::to_string).collect();
            match (size, atoms.is_empty()) {
                (_, true) => write!(f, "{size}")?,
                (1, false) => write!(f, "{}", atoms.join("*"))?,
                (_, false) => write!(f, "{size}*{}", atoms.join("*"))?,
            }
        }
        Ok(())
    }
}
