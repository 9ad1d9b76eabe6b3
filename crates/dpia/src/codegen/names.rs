//! Names in the output: from the user's variables if there are any, otherwise short ones.

use std::collections::{HashMap, HashSet};

use loops::Name;

/// Gives out free names. Memory gets a name of its own in the whole function. Sibling loops share
/// theirs.
#[derive(Clone, Debug, Default)]
pub(crate) struct Names {
    taken: HashSet<Name>,
    loops: Vec<Name>,
    /// For each wished name the number that was given last.
    numbers: HashMap<String, u32>,
}

impl Names {
    /// Whether no declaration in scope has the name.
    pub(crate) fn is_free(&self, name: &Name) -> bool {
        !self.taken.contains(name) && !self.loops.contains(name)
    }

    /// Reserves a name as it is; false if it was taken.
    pub fn reserve(&mut self, name: &Name) -> bool {
        self.taken.insert(name.clone())
    }

    /// Gives a name back.
    pub fn release(&mut self, name: &Name) {
        self.taken.remove(name);
    }

    /// The first of `base`, `base_2`, `base_3`, … that is free.
    pub fn memory(&mut self, base: &str) -> Name {
        let mut name = Name::new(base);
        while !self.is_free(&name) {
            let k = self.numbers.entry(base.to_owned()).or_insert(1);
            *k += 1;
            name = Name::new(format!("{base}_{k}"));
        }
        self.reserve(&name);
        name
    }

    /// A name for a loop inside those entered: `i`, `j`, `k`, `l`, `i1`, `j1`, …
    pub fn enter_loop(&mut self) -> Name {
        let mut round = 0;
        loop {
            for letter in ["i", "j", "k", "l"] {
                let name = if round == 0 { Name::new(letter) } else { Name::new(format!("{letter}{round}")) };
                if self.is_free(&name) {
                    self.loops.push(name.clone());
                    return name;
                }
            }
            round += 1;
        }
    }

    /// Enters a loop whose variable has this name.
    pub(crate) fn enter_named(&mut self, name: &Name) {
        self.loops.push(name.clone());
    }

    /// Leaves the innermost loop.
    pub fn leave_loop(&mut self) {
        self.loops.pop();
    }
}
