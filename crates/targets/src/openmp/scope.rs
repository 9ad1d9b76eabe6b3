//! What the names of the loop IR are in C at a point of the program, and how arrays are addressed
//! there.

use std::collections::HashMap;

use loops::{Elem, Name};

use crate::c::CExpr;
use crate::openmp::index_arithmetic;

/// A name of the loop IR in C.
#[derive(Clone, Debug)]
pub enum Binding {
    /// A loop variable or a size parameter.
    Index(CExpr),
    /// An array or a scalar variable.
    Array(Array),
}

/// An array in C.
#[derive(Clone, Debug)]
pub struct Array {
    /// What subscripts are put on; for a scalar the variable itself, dereferenced where it is a
    /// pointer.
    pub base: CExpr,
    /// Type of the elements.
    pub elem: Elem,
    /// Extents.
    pub dims: Vec<CExpr>,
    /// How elements are addressed.
    pub form: Form,
    /// Whether it is a variable on the stack, which nothing can overlap.
    pub stack: bool,
    /// Members that stand behind so many subscripts, where its elements are in structures.
    pub members: Vec<(usize, Member)>,
}

/// A member of a structure.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Member {
    /// Its name.
    pub name: String,
    /// Whether it is of what a pointer points to.
    pub arrow: bool,
}

impl Member {
    /// The member of a structure, or of that which a pointer points to.
    pub fn of(&self, value: CExpr) -> CExpr {
        let value = if self.arrow { CExpr::unary("*", value) } else { value };
        CExpr::Member(Box::new(value), self.name.clone())
    }
}

/// How elements are addressed.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Form {
    /// `a[i][j]`: an array of arrays.
    Nested,
    /// `a[i * m + j]`: a pointer to the first element, row-major.
    Linear,
}

impl Array {
    /// The element at these subscripts, one for each dimension.
    pub fn element(&self, indices: Vec<CExpr>) -> CExpr {
        if indices.is_empty() {
            return self.base.clone();
        }
        let behind = |value: CExpr, subscripts: usize| {
            let members = self.members.iter().filter(|(after, _)| *after == subscripts);
            members.fold(value, |value, (_, member)| member.of(value))
        };
        match self.form {
            Form::Nested => indices
                .into_iter()
                .enumerate()
                .fold(self.base.clone(), |value, (k, index)| behind(CExpr::index(value, index), k + 1)),
            Form::Linear => {
                let offset = indices
                    .into_iter()
                    .zip(&self.dims)
                    .reduce(|(offset, _), (index, dim)| (next_offset(offset, dim, index), dim))
                    .map_or_else(|| CExpr::int(0), |(offset, _)| offset);
                behind(CExpr::index(self.base.clone(), offset), 1)
            }
        }
    }
}

/// `offset * dim + index`, which is `x` where `offset` is `x / dim` and `index` is `x % dim`.
fn next_offset(offset: CExpr, dim: &CExpr, index: CExpr) -> CExpr {
    // true of C's quotient and of the one that is rounded down, also where the divisor is 0
    let whole = |quotient: &CExpr| match (quotient, &index) {
        (CExpr::Binary("/", x, d), CExpr::Binary("%", y, e)) if x == y && d == e && **d == *dim => {
            Some((**x).clone())
        }
        // a digit in the middle: `x` is a quotient too
        (CExpr::Binary("/", x, d), CExpr::Binary("%", y, e)) if **e == *dim => match &**y {
            CExpr::Binary("/", v, c) if v == x && is_product(d, c, e) => Some((**y).clone()),
            _ => None,
        },
        (CExpr::Call(div, a), CExpr::Call(rem, b))
            if a == b
                && a.get(1) == Some(dim)
                && matches!(
                    (div.as_str(), rem.as_str()),
                    ("lozenge_floor_div", "lozenge_mod") | ("LOZENGE_FLOOR_DIV", "LOZENGE_MOD")
                ) =>
        {
            a.first().cloned()
        }
        _ => None,
    };
    if let Some(x) = whole(&offset) {
        return x;
    }
    if let CExpr::Binary("+", before, quotient) = &offset
        && let Some(x) = whole(quotient)
    {
        return index_arithmetic::add_terms(index_arithmetic::mul((**before).clone(), dim.clone()), x);
    }
    index_arithmetic::add_terms(index_arithmetic::mul(offset, dim.clone()), index)
}

/// Whether a literal is the product of two others.
fn is_product(product: &CExpr, a: &CExpr, b: &CExpr) -> bool {
    match (index_arithmetic::value(product), index_arithmetic::value(a), index_arithmetic::value(b)) {
        (Some(product), Some(a), Some(b)) => a.checked_mul(b) == Some(product),
        _ => false,
    }
}

/// The names in scope, innermost last.
#[derive(Clone, Debug, Default)]
pub struct Scope {
    bindings: HashMap<Name, Vec<Binding>>,
}

impl Scope {
    /// Brings a name into scope.
    pub fn push(&mut self, name: &Name, binding: Binding) {
        self.bindings.entry(name.clone()).or_default().push(binding);
    }

    /// Takes the innermost binding of a name out of scope.
    pub fn pop(&mut self, name: &Name) {
        if let Some(stack) = self.bindings.get_mut(name) {
            stack.pop();
        }
    }

    /// The innermost binding.
    pub fn get(&self, name: &Name) -> Option<&Binding> {
        self.bindings.get(name).and_then(|stack| stack.last())
    }
}
