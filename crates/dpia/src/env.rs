//! Environments of functional terms: a persistent map from variables to expressions. A closure
//! keeps its own for the price of a pointer.

use std::sync::Arc;

use functional::Var;

use crate::phrase::Exp;

const BITS: u32 = 3;
const WIDTH: usize = 1 << BITS;
/// Levels of three bits that hold any 32-bit number.
const LEVELS: u32 = u32::BITS.div_ceil(BITS);

/// An environment: maps functional variables, by number, to expressions. Lookup and extension take
/// constant time.
#[derive(Clone, Default)]
pub struct Env {
    root: Option<Arc<Node>>,
    /// Levels below the root; numbers at or above `8^levels` are unbound.
    levels: u32,
}

enum Node {
    Inner([Option<Arc<Node>>; WIDTH]),
    Leaf(Exp),
}

impl Env {
    /// The environment without bindings.
    pub fn new() -> Env {
        Env::default()
    }

    /// What `var` stands for.
    pub fn get(&self, var: &Var) -> Option<&Exp> {
        if self.levels < LEVELS && var.id >> (BITS * self.levels) != 0 {
            return None;
        }
        let mut node = self.root.as_deref()?;
        let mut level = self.levels;
        loop {
            match node {
                Node::Leaf(exp) => return Some(exp),
                Node::Inner(children) => {
                    level -= 1;
                    node = children[digit(var.id, level)].as_deref()?;
                }
            }
        }
    }

    /// This environment with `var` standing for `exp`.
    #[must_use]
    pub fn with(&self, var: &Var, exp: Exp) -> Env {
        let (mut root, mut levels) = (self.root.clone(), self.levels);
        while levels < LEVELS && var.id >> (BITS * levels) != 0 {
            if let Some(old) = root {
                let mut children = <[Option<Arc<Node>>; WIDTH]>::default();
                children[0] = Some(old);
                root = Some(Arc::new(Node::Inner(children)));
            }
            levels += 1;
        }
        Env { root: Some(insert(root.as_deref(), levels, var.id, exp)), levels }
    }

    /// Whether both are the same value in memory.
    pub fn same(&self, other: &Env) -> bool {
        match (&self.root, &other.root) {
            (None, None) => true,
            (Some(a), Some(b)) => Arc::ptr_eq(a, b),
            _ => false,
        }
    }
}

fn digit(id: u32, level: u32) -> usize {
    (id >> (BITS * level)) as usize % WIDTH
}

fn insert(node: Option<&Node>, level: u32, id: u32, exp: Exp) -> Arc<Node> {
    if level == 0 {
        return Arc::new(Node::Leaf(exp));
    }
    let mut children = match node {
        Some(Node::Inner(children)) => children.clone(),
        _ => Default::default(),
    };
    let slot = &mut children[digit(id, level - 1)];
    *slot = Some(insert(slot.as_deref(), level - 1, id, exp));
    Arc::new(Node::Inner(children))
}

impl std::fmt::Debug for Env {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("{..}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use functional::DataType;
    use loops::{Scalar, Size};

    #[test]
    fn finds_what_was_bound_last() {
        let number = |k: i64| Exp::size(Size::constant(k), DataType::Scalar(Scalar::I64));
        let var = |id| Var { name: "v".into(), id };
        let ids = [0, 1, 7, 8, 9, 63, 64, 511, 512, 4095, 70_000, u32::MAX];
        let mut env = Env::new();
        assert!(env.get(&var(0)).is_none());
        for (k, id) in ids.iter().enumerate() {
            env = env.with(&var(*id), number(k as i64));
        }
        let newer = env.with(&var(8), number(99));
        for (k, id) in ids.iter().enumerate() {
            assert_eq!(env.get(&var(*id)), Some(&number(k as i64)), "{id}");
        }
        assert_eq!(newer.get(&var(8)), Some(&number(99)));
        assert!(env.get(&var(2)).is_none());
        assert!(env.get(&var(100)).is_none());
    }
}
