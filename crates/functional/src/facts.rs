//! Equality and order of size expressions, under the facts that a definition states.
//!
//! Every answer `true` holds for all values of the parameters that satisfy the facts. `false` means
//! "not shown".

use loops::{Name, Size};

use crate::prove;
use crate::term::{Definition, Fact, FactKind};
use crate::types::DataType;

/// The facts of a definition, made ready for questions.
#[derive(Clone, Debug, Default)]
pub struct SizeFacts {
    /// Parameters that an equation determines, with what they are; applied in this order.
    solved: Vec<(Name, Size)>,
    /// Differences that are at least 0.
    natural: Vec<Size>,
}

impl SizeFacts {
    /// No facts.
    pub fn none() -> SizeFacts {
        SizeFacts::default()
    }

    /// The facts of this definition.
    pub fn of(definition: &Definition) -> SizeFacts {
        SizeFacts::new(&definition.facts)
    }

    /// These facts.
    pub fn new(facts: &[Fact]) -> SizeFacts {
        let mut known = SizeFacts::default();
        for fact in facts.iter().filter(|fact| fact.kind == FactKind::Equal) {
            let difference = known.normal(&(fact.left.clone() - fact.right.clone()));
            let solution =
                difference.params().into_iter().find_map(|name| match difference.linear_in(&name)? {
                    (1, rest) => Some((name, -rest)),
                    (-1, rest) => Some((name, rest)),
                    _ => None,
                });
            known.solved.extend(solution);
        }
        for fact in facts {
            let difference = known.normal(&(fact.right.clone() - fact.left.clone()));
            if fact.kind == FactKind::Equal {
                known.natural.push(-difference.clone());
            }
            known.natural.push(difference);
        }
        // A solved parameter is itself a natural number, which its solution need not show.
        let solutions: Vec<Size> = known.solved.iter().map(|(_, size)| known.normal(size)).collect();
        known.natural.extend(solutions);
        known
    }

    /// The size with the parameters that an equation determines replaced.
    pub fn normal(&self, size: &Size) -> Size {
        let mut size = size.clone();
        for (name, solution) in &self.solved {
            if size.params().contains(name) {
                size = size.substitute(&|n| (n == name).then(|| solution.clone()));
            }
        }
        size
    }

    /// Whether both sizes are equal.
    pub fn equal(&self, left: &Size, right: &Size) -> bool {
        if left == right {
            return true;
        }
        let (left, right) = (self.normal(left), self.normal(right));
        left == right || prove::equal(&self.natural, &left, &right)
    }

    /// Whether the size is at least 0.
    pub fn natural(&self, size: &Size) -> bool {
        prove::nonnegative(&self.natural, &self.normal(size))
    }

    /// Whether `left <= right`.
    pub fn at_most(&self, left: &Size, right: &Size) -> bool {
        self.natural(&(right.clone() - left.clone()))
    }

    /// Whether `left < right`.
    pub fn less(&self, left: &Size, right: &Size) -> bool {
        self.natural(&(right.clone() - left.clone() - Size::constant(1)))
    }

    /// Whether `left <= right` is false for some values, as far as constants show it.
    pub(crate) fn refutes_at_most(&self, left: &Size, right: &Size) -> bool {
        self.normal(&(right.clone() - left.clone())).as_constant().is_some_and(|d| d < 0)
    }

    /// Whether both types are equal.
    pub fn same_type(&self, left: &DataType, right: &DataType) -> bool {
        match (left, right) {
            (DataType::Scalar(a), DataType::Scalar(b)) => a == b,
            (DataType::Idx(a), DataType::Idx(b)) => self.equal(a, b),
            (DataType::Array(n, s), DataType::Array(m, t)) => self.equal(n, m) && self.same_type(s, t),
            (DataType::Pair(a, b), DataType::Pair(c, d)) => self.same_type(a, c) && self.same_type(b, d),
            (DataType::Vector(n, s), DataType::Vector(m, t)) => s == t && self.equal(n, m),
            _ => false,
        }
    }
}
