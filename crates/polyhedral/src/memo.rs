//! What was computed before: answers of the set library by the text of the question, so that the
//! same is not asked twice.
//!
//! A stage asks for boxes and prefixes of loops at many sizes, and reads the functions of the same
//! loops each time; reading one takes the set library half a million instructions. An answer
//! depends on the text alone, so remembering it changes nothing but time.

use std::cell::RefCell;
use std::collections::BTreeMap;

use isl::{Aff, UnionMap, UnionPwAff, UnionSet};

use crate::fault::Result;

/// Answers by question.
pub(crate) struct Memo<T>(RefCell<BTreeMap<String, T>>);

impl<T> Default for Memo<T> {
    fn default() -> Memo<T> {
        Memo(RefCell::new(BTreeMap::new()))
    }
}

impl<T: Clone> Memo<T> {
    /// The answer to a question, found by `find` if it was not asked before.
    ///
    /// # Errors
    /// Those of `find`; an error is not remembered.
    pub fn get(&self, question: &str, find: impl FnOnce() -> Result<T>) -> Result<T> {
        if let Some(known) = self.0.borrow().get(question) {
            return Ok(known.clone());
        }
        let found = find()?;
        self.0.borrow_mut().insert(question.to_owned(), found.clone());
        Ok(found)
    }
}

/// A box of constant extents around what a map gives: the extents, and the corner with whether it
/// is negative somewhere.
#[derive(Clone)]
pub(crate) struct Hull {
    pub extents: Vec<i64>,
    pub corner: Vec<(Aff, bool)>,
}

/// What was asked about a model.
#[derive(Default)]
pub(crate) struct Memos {
    /// Functions of loops, by their text.
    pub functions: Memo<UnionPwAff>,
    /// Sets of instances, by their text or by what they are.
    pub sets: Memo<UnionSet>,
    /// Maps from instances to numbers of loops.
    pub prefixes: Memo<UnionMap>,
    /// Boxes; none where there is none.
    pub hulls: Memo<Option<Hull>>,
}
