//! Names for variables: as the user wrote them, changed only where they would mean something else.

use std::collections::{BTreeMap, BTreeSet};

use loops::Name;

use crate::prim::Prim;
use crate::syntax::token::Keyword;
use crate::term::{Binder, Var};

/// The variables in scope with their printed names.
pub(super) struct Scope {
    names: BTreeMap<u32, String>,
    used: BTreeSet<String>,
    /// For a name without its number: all numbers below this one are taken.
    taken: BTreeMap<String, usize>,
}

impl Scope {
    pub(super) fn new(sizes: &[Name]) -> Scope {
        let used = sizes.iter().map(|s| s.to_string()).collect();
        Scope { names: BTreeMap::new(), used, taken: BTreeMap::new() }
    }

    pub(super) fn bind(&mut self, binder: &Binder) -> String {
        self.bind_var(&binder.var)
    }

    pub(super) fn bind_var(&mut self, var: &Var) -> String {
        let plain = identifier(&var.name);
        let mut k = self.taken.get(&plain).copied().unwrap_or(1);
        let numbered = |k| if k == 1 { plain.clone() } else { format!("{plain}_{k}") };
        let mut name = numbered(k);
        while self.used.contains(&name)
            || Keyword::from_text(&name).is_some()
            || Prim::from_name(&name).is_some()
        {
            k += 1;
            name = numbered(k);
        }
        self.taken.insert(plain, k + 1);
        self.used.insert(name.clone());
        self.names.insert(var.id, name.clone());
        name
    }

    pub(super) fn unbind(&mut self, binder: &Binder) {
        if let Some(name) = self.names.remove(&binder.var.id) {
            self.used.remove(&name);
            if let Some((plain, number)) = name.rsplit_once('_')
                && let (Ok(k), Some(taken)) = (number.parse(), self.taken.get_mut(plain))
            {
                *taken = k.min(*taken);
            }
            if let Some(taken) = self.taken.get_mut(&name) {
                *taken = 1;
            }
        }
    }

    pub(super) fn name(&self, var: &Var) -> String {
        self.names.get(&var.id).cloned().unwrap_or_else(|| identifier(&var.name))
    }
}

/// The name with what no name can hold replaced.
fn identifier(name: &str) -> String {
    let mut text: String =
        name.chars().map(|c| if c.is_ascii_alphanumeric() || c == '_' { c } else { '_' }).collect();
    if text.is_empty() || text == "_" || text.starts_with(|c: char| c.is_ascii_digit()) {
        text.insert(0, 'x');
    }
    text
}
