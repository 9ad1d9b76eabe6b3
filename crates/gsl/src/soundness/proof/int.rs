//! Integers that depend on extents, attributes and index variables: polynomials over atoms, in
//! normal form.
//!
//! Two of them that print alike are equal for all values of their atoms. Nothing else is claimed.
//! If one overflows, it becomes [`Int::unknown`], which equals nothing, not even itself.

use std::fmt;
use std::rc::Rc;

use arith::Polynomial;

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

/// A product of atoms.
pub(super) type Monomial = arith::Monomial<Atom>;

/// A polynomial over atoms.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub(super) struct Int {
    known: Polynomial<Atom>,
    unknown: bool,
}

impl From<i64> for Int {
    fn from(n: i64) -> Int {
        Int { known: Polynomial::constant(n.into()), unknown: false }
    }
}

impl From<Atom> for Int {
    fn from(atom: Atom) -> Int {
        Int { known: Polynomial::atom(atom), unknown: false }
    }
}

impl From<Option<Polynomial<Atom>>> for Int {
    fn from(known: Option<Polynomial<Atom>>) -> Int {
        match known {
            Some(known) if known.len() <= MAX_MONOMIALS => Int { known, unknown: false },
            _ => Int::unknown(),
        }
    }
}

impl Int {
    /// What is known of it is nothing.
    pub fn unknown() -> Int {
        Int { known: Polynomial::default(), unknown: true }
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

    pub fn is_unknown(&self) -> bool {
        self.unknown
    }

    /// Its monomials with their coefficients.
    pub fn monomials(&self) -> impl Iterator<Item = (&Monomial, i128)> {
        self.known.terms()
    }

    pub fn is_zero(&self) -> bool {
        !self.unknown && self.known.is_empty()
    }

    /// The number that it is, if it is one.
    pub fn constant(&self) -> Option<i64> {
        if self.unknown {
            return None;
        }
        self.known.as_constant().and_then(|n| i64::try_from(n).ok())
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
        Int::from(self.known.plus_times(factor, &other.known))
    }

    pub fn times(&self, other: &Int) -> Int {
        let pairs = self.known.len() * other.known.len();
        if self.unknown || other.unknown || pairs > 16 * MAX_MONOMIALS {
            return Int::unknown();
        }
        Int::from(self.known.times(&other.known))
    }

    /// The factor of the monomial `by` in `self`, and the rest: `self == q * by + rest`. `by` must
    /// be one monomial.
    pub fn divide(&self, by: &Int) -> Option<(Int, Int)> {
        if self.unknown || by.unknown {
            return None;
        }
        let (monomial, c) = by.known.single_term()?;
        let (quotient, rest) = self.known.divide_by_term(monomial, c)?;
        Some((Int { known: quotient, unknown: false }, Int { known: rest, unknown: false }))
    }

    /// `(c, rest)` with `self == c * atom + rest` where neither contains the atom; `None` if it
    /// stands elsewhere too, or nowhere.
    pub fn linear_in(&self, atom: &Atom) -> Option<(i128, Int)> {
        let alone = Monomial::of(atom.clone());
        let (term, known) = self.known.partition(|monomial, _| *monomial == alone);
        let (_, c) = term.single_term()?;
        let rest = Int { known, unknown: self.unknown };
        (!self.unknown && !rest.mentions(atom)).then_some((c, rest))
    }

    /// Whether the atom stands anywhere in it, arguments of functions included.
    pub fn mentions(&self, atom: &Atom) -> bool {
        self.any_atom(&mut |a| a == atom)
    }

    /// Whether some atom is as asked, arguments of functions included.
    pub(crate) fn any_atom(&self, found: &mut dyn FnMut(&Atom) -> bool) -> bool {
        self.known.atoms().into_iter().any(|a| {
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
        for (m, c) in self.known.terms() {
            let mut product = Int { known: Polynomial::constant(c), unknown: false };
            for atom in m.expanded() {
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
        if self.known.is_empty() {
            return write!(f, "0");
        }
        for (k, (m, c)) in self.known.terms().enumerate() {
            let sign = match (k, c < 0) {
                (0, false) => "",
                (0, true) => "-",
                (_, false) => " + ",
                (_, true) => " - ",
            };
            write!(f, "{sign}")?;
            let size = c.unsigned_abs();
            let atoms: Vec<String> = m.expanded().map(Atom::to_string).collect();
            match (size, atoms.is_empty()) {
                (_, true) => write!(f, "{size}")?,
                (1, false) => write!(f, "{}", atoms.join("*"))?,
                (_, false) => write!(f, "{size}*{}", atoms.join("*"))?,
            }
        }
        Ok(())
    }
}
