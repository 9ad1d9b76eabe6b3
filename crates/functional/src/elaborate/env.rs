//! A persistent map from local variables to values. Extending it takes logarithmic time and keeps
//! the old map.

use std::rc::Rc;

use super::Value;
use crate::infer::node::Local;

const BITS: u32 = 4;
const WIDTH: usize = 1 << BITS;

/// Values of local variables.
#[derive(Clone, Default)]
pub(super) struct Env<'c> {
    root: Slot<'c>,
    /// Digits of the largest key.
    levels: u32,
}

#[derive(Clone, Default)]
enum Slot<'c> {
    #[default]
    Empty,
    Branch(Rc<[Slot<'c>; WIDTH]>),
    Leaf(Value<'c>),
}

impl<'c> Env<'c> {
    pub(super) fn get(&self, local: Local) -> Option<&Value<'c>> {
        if local >> (BITS * self.levels) != 0 {
            return None;
        }
        let mut slot = &self.root;
        for level in (0..self.levels).rev() {
            let Slot::Branch(children) = slot else { return None };
            slot = &children[(local >> (BITS * level)) as usize % WIDTH];
        }
        match slot {
            Slot::Leaf(value) => Some(value),
            _ => None,
        }
    }

    pub(super) fn with(&self, local: Local, value: Value<'c>) -> Env<'c> {
        let mut env = self.clone();
        while local >> (BITS * env.levels) != 0 {
            let old = std::mem::take(&mut env.root);
            let mut children: [Slot<'c>; WIDTH] = Default::default();
            children[0] = old;
            env.root = Slot::Branch(Rc::new(children));
            env.levels += 1;
        }
        env.root = insert(&env.root, env.levels, local, value);
        env
    }
}

fn insert<'c>(slot: &Slot<'c>, levels: u32, local: Local, value: Value<'c>) -> Slot<'c> {
    if levels == 0 {
        return Slot::Leaf(value);
    }
    let mut children: [Slot<'c>; WIDTH] = match slot {
        Slot::Branch(children) => (**children).clone(),
        _ => Default::default(),
    };
    let child = &mut children[(local >> (BITS * (levels - 1))) as usize % WIDTH];
    *child = insert(child, levels - 1, local, value);
    Slot::Branch(Rc::new(children))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::term::{Literal, Term, TermKind};
    use loops::{Scalar, Span};

    #[test]
    fn keeps_what_was_put_in() {
        let value = |k: i64| {
            Value::Term(Term::new(TermKind::Literal(Literal::I64(k)), Scalar::I64.into(), Span::default()))
        };
        let number = |v: Option<&Value<'_>>| match v {
            Some(Value::Term(t)) => match t.kind() {
                TermKind::Literal(Literal::I64(k)) => Some(*k),
                _ => None,
            },
            _ => None,
        };
        let mut env = Env::default();
        for k in [0u32, 5, 1, 300, 17, 70_000, 16] {
            env = env.with(k, value(i64::from(k)));
        }
        let changed = env.with(17, value(-1));
        for k in [0u32, 5, 1, 300, 17, 70_000, 16] {
            assert_eq!(number(env.get(k)), Some(i64::from(k)));
        }
        assert_eq!(number(changed.get(17)), Some(-1));
        assert_eq!(number(env.get(2)), None);
        assert_eq!(number(env.get(1_000_000)), None);
    }
}
