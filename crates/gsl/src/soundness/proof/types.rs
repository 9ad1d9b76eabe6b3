//! Element types that a pattern leaves open: variables that are unified, or that get a class or a
//! type.

use std::collections::HashMap;

use crate::rule::ElementType;

use super::case::{Case, Mode, Step, Stop, unproved};

/// An element type, perhaps open.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Ty(usize);

/// What matters of an open type for arithmetic.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Class {
    Float,
    Integer,
    Bool,
}

#[derive(Clone, Copy, Debug)]
enum State {
    Open(Option<Class>),
    Known(ElementType),
    Same(usize),
}

#[derive(Clone, Debug, Default)]
pub(super) struct Types {
    states: Vec<State>,
    /// Results of operators whose type is not known: by operator and operand.
    images: HashMap<(String, usize), Ty>,
    /// Open types that conditions say to be no wider than 32 bits.
    narrow: Vec<Ty>,
    /// Types that conditions say an open type not to be.
    excluded: Vec<(Ty, ElementType)>,
}

pub(super) fn class_of(ty: ElementType) -> Class {
    match ty {
        ElementType::Float16 | ElementType::Float32 | ElementType::Float64 | ElementType::Bfloat16 => {
            Class::Float
        }
        ElementType::Bool => Class::Bool,
        _ => Class::Integer,
    }
}

impl Types {
    pub fn open(&mut self) -> Ty {
        self.states.push(State::Open(None));
        Ty(self.states.len() - 1)
    }

    pub fn known(&mut self, ty: ElementType) -> Ty {
        self.states.push(State::Known(ty));
        Ty(self.states.len() - 1)
    }

    fn find(&self, mut ty: usize) -> usize {
        while let State::Same(other) = self.states[ty] {
            ty = other;
        }
        ty
    }

    pub fn same(&self, a: Ty, b: Ty) -> bool {
        let (a, b) = (self.find(a.0), self.find(b.0));
        a == b || matches!((self.states[a], self.states[b]), (State::Known(x), State::Known(y)) if x == y)
    }

    pub fn of(&self, ty: Ty) -> Option<ElementType> {
        match self.states[self.find(ty.0)] {
            State::Known(ty) => Some(ty),
            _ => None,
        }
    }

    /// Notes that the numbers of a type have no more than 32 bits.
    pub fn is_narrow(&mut self, ty: Ty) {
        self.narrow.push(ty);
    }

    /// Whether the numbers of a type are known to have no more than 32 bits.
    pub fn narrow(&self, ty: Ty) -> bool {
        match self.of(ty) {
            Some(ty) => matches!(ty, ElementType::Float16 | ElementType::Bfloat16 | ElementType::Float32),
            None => self.narrow.iter().any(|t| self.same(*t, ty)),
        }
    }

    /// Notes that a type is another one.
    pub fn exclude(&mut self, ty: Ty, other: ElementType) {
        self.excluded.push((ty, other));
    }

    /// Whether a type may be this one.
    pub(crate) fn may_be(&self, ty: Ty, other: ElementType) -> bool {
        match self.of(ty) {
            Some(known) => known == other,
            None => !self.excluded.iter().any(|(t, e)| *e == other && self.same(*t, ty)),
        }
    }

    /// A name that equal types share.
    pub fn text(&self, ty: Ty) -> String {
        match self.of(ty) {
            Some(ty) => ty.text().to_owned(),
            None => format!("t{}", self.find(ty.0)),
        }
    }

    fn unify(&mut self, a: Ty, b: Ty) -> Step<()> {
        let (a, b) = (self.find(a.0), self.find(b.0));
        if a == b {
            return Ok(());
        }
        match (self.states[a], self.states[b]) {
            (State::Known(x), State::Known(y)) if x == y => {}
            (State::Known(_), State::Known(_)) => return Err(Stop::Impossible),
            (State::Open(Some(c)), State::Known(t)) | (State::Known(t), State::Open(Some(c)))
                if class_of(t) != c =>
            {
                return Err(Stop::Impossible);
            }
            (State::Open(Some(c)), State::Open(Some(d))) if c != d => return Err(Stop::Impossible),
            (State::Open(_), State::Known(_)) | (State::Open(None), State::Open(_)) => {
                self.states[a] = State::Same(b);
            }
            _ => self.states[b] = State::Same(a),
        }
        Ok(())
    }

    /// The type of an operator's result for an operand type. Equal questions get the same type.
    pub fn image(&mut self, operator: &str, of: Ty) -> Ty {
        let key = (operator.to_owned(), self.find(of.0));
        if let Some(ty) = self.images.get(&key) {
            return *ty;
        }
        let ty = self.open();
        self.images.insert(key, ty);
        ty
    }
}

impl Case {
    /// Equal types: taken for granted, or shown.
    pub fn same_type(&mut self, a: Ty, b: Ty, what: &str) -> Step<()> {
        if self.types.same(a, b) {
            return Ok(());
        }
        match self.mode {
            Mode::Assume => self.types.unify(a, b),
            Mode::Show => unproved(format!("{what}: element types may differ")),
        }
    }

    /// The class of a type. For an open type, all classes are tried.
    pub fn class(&mut self, ty: Ty) -> Class {
        let at = self.types.find(ty.0);
        match self.types.states[at] {
            State::Known(ty) => class_of(ty),
            State::Open(Some(class)) => class,
            _ => {
                let class = [Class::Float, Class::Integer, Class::Bool][self.choose(3)];
                self.types.states[at] = State::Open(Some(class));
                class
            }
        }
    }

    /// Requires a class, which the operator asks for.
    pub fn need(&mut self, ty: Ty, classes: &[Class], what: &str) -> Step<()> {
        if classes.contains(&self.class(ty)) {
            Ok(())
        } else if self.mode == Mode::Assume {
            Err(Stop::Impossible)
        } else {
            unproved(format!("{what}: not of such elements"))
        }
    }
}

/// Whether every value of `from` is one of `to`, so that the result depends on the value alone.
pub(super) fn embeds(from: ElementType, to: ElementType) -> bool {
    use ElementType as T;
    // Bits of an integer's range (negative: signed), of a float's significand and exponent.
    let range = |t: T| match t {
        T::Int8 => Some((true, 7u32)),
        T::Int16 => Some((true, 15)),
        T::Int32 => Some((true, 31)),
        T::Int64 => Some((true, 63)),
        T::Uint8 => Some((false, 8)),
        T::Uint16 => Some((false, 16)),
        T::Uint32 => Some((false, 32)),
        T::Uint64 => Some((false, 64)),
        T::Bool => Some((false, 1)),
        _ => None,
    };
    let float = |t: T| match t {
        T::Float16 => Some((11u32, 5u32)),
        T::Bfloat16 => Some((8, 8)),
        T::Float32 => Some((24, 8)),
        T::Float64 => Some((53, 11)),
        _ => None,
    };
    if to == T::Bool {
        return from == T::Bool;
    }
    match (range(from), range(to), float(from), float(to)) {
        (Some((signed, bits)), Some((signed_to, bits_to)), ..) => bits <= bits_to && (!signed || signed_to),
        (.., Some((m, e)), Some((n, f))) => m <= n && e <= f,
        _ => false,
    }
}
