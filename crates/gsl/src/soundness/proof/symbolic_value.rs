//! Values of attribute expressions in a proof.

use std::rc::Rc;

use super::case::Case;
use super::element::Real;
use super::int::Int;
use super::types::Ty;

/// A value.
#[derive(Clone)]
pub(super) enum Value {
    Int(Int),
    Real(Rc<Real>),
    Text(String),
    Bool(bool),
    Type(Ty),
    None,
    Tuple(Vec<Value>),
    /// Nothing is known of it.
    Unknown,
}

impl Value {
    pub fn int(n: i64) -> Value {
        Value::Int(Int::from(n))
    }

    pub fn ints(items: impl IntoIterator<Item = Int>) -> Value {
        Value::Tuple(items.into_iter().map(Value::Int).collect())
    }

    /// Whether two values are equal; `None` if that depends.
    pub fn equal(case: &Case, a: &Value, b: &Value) -> Option<bool> {
        Some(match (a, b) {
            (Value::Unknown, _) | (_, Value::Unknown) => return None,
            (Value::Int(x), Value::Int(y)) => {
                if case.same(x, y) {
                    true
                } else if case.differ(x, y) {
                    false
                } else {
                    return None;
                }
            }
            (Value::Real(_), _) | (_, Value::Real(_)) => return None,
            (Value::Text(x), Value::Text(y)) => x == y,
            (Value::Bool(x), Value::Bool(y)) => x == y,
            (Value::None, Value::None) => true,
            (Value::Type(x), Value::Type(y)) => {
                if case.types.same(*x, *y) {
                    true
                } else if case.types.of(*x).is_some() && case.types.of(*y).is_some() {
                    false
                } else {
                    return None;
                }
            }
            (Value::Tuple(x), Value::Tuple(y)) => {
                if x.len() != y.len() {
                    return Some(false);
                }
                let mut open = false;
                for (a, b) in x.iter().zip(y) {
                    match Value::equal(case, a, b) {
                        Some(true) => {}
                        Some(false) => return Some(false),
                        None => open = true,
                    }
                }
                if open {
                    return None;
                }
                true
            }
            _ => return None,
        })
    }
}
