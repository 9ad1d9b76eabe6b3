//! Names of variables in printed text: the user's names, changed only where they would mean
//! something else.

use std::collections::{BTreeMap, BTreeSet};

use loops::Name;

use crate::prim::Prim;
use crate::syntax::token::Keyword;
use crate::term::{Binder, Var};

/// The variables in scope with their printed names.
pub(super) struct Scope {
    names: BTreeMap<u32, String>,
    used: BTreeSet<String>,
    /// Numbers below these are taken behind a name, so that many of one name are not all tried each
    /// time.
    free: BTreeMap<String, u64>,
}

impl Scope {
    pub(super) fn new(sizes: &[Name]) -> Scope {
        let used = sizes.iter().map(|s| s.to_string()).collect();
        Scope { names: BTreeMap::new(), used, free: BTreeMap::new() }
    }

    pub(super) fn bind(&mut self, binder: &Binder) -> String {
        self.bind_var(&binder.var)
    }

    pub(super) fn bind_var(&mut self, var: &Var) -> String {
        let plain = identifier(&var.name);
        let mut k = self.free.get(&plain).copied().unwrap_or(1);
        let mut name = numbered(&plain, k);
        while self.used.contains(&name)
            || Keyword::from_text(&name).is_some()
            || Prim::from_name(&name).is_some()
        {
            k += 1;
            name = numbered(&plain, k);
        }
        self.free.insert(plain, k + 1);
        self.used.insert(name.clone());
        self.names.insert(var.id, name.clone());
        name
    }

    pub(super) fn unbind(&mut self, binder: &Binder) {
        if let Some(name) = self.names.remove(&binder.var.id) {
            self.used.remove(&name);
            // It may be free as a name alone, or as one with a number.
            let mut release = |plain: &str, k: u64| {
                if let Some(free) = self.free.get_mut(plain) {
                    *free = k.min(*free);
                }
            };
            release(&name, 1);
            if let Some((plain, k)) = name.rsplit_once('_').and_then(|(p, k)| Some((p, k.parse().ok()?))) {
                release(plain, k);
            }
        }
    }

    pub(super) fn name(&self, var: &Var) -> String {
        self.names.get(&var.id).cloned().unwrap_or_else(|| identifier(&var.name))
    }
}

/// The name with its number; the first has none.
fn numbered(plain: &str, k: u64) -> String {
    if k == 1 { plain.to_owned() } else { format!("{plain}_{k}") }
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
