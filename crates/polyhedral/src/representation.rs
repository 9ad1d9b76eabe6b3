//! The five representations of a schedule from the notes, as plain values with text that parses
//! back: affine functions, Kelly's, 2d+1, union map, schedule tree.
//!
//! The first four give each statement a time, a tuple of numbers (places in the text) and loop
//! values; what differs is where numbers may stand. [`Representation::of_tree`] and
//! [`Representation::to_tree`] convert by way of the schedule tree, and refuse with `P0602` what
//! the target cannot say. Left out: which loops may run in parallel or be interchanged; only trees
//! say that.

mod columns;
mod of_tree;
mod text;
mod to_tree;

use std::fmt;

use crate::fault::Result;
use crate::tree::Tree;

/// A kind of representation.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Form {
    /// One function for each statement, without places in the text: it can order one statement
    /// only.
    Affine,
    /// Places in the text only where they order something.
    Kelly,
    /// Places and loops alternate: one more place than the statement has loops.
    TwoDPlusOne,
    /// As Kelly's, with zeros up to one length.
    UnionMap,
    /// A schedule tree.
    Tree,
}

impl Form {
    /// All forms, in the order of the notes.
    pub const ALL: [Form; 5] = [Form::Affine, Form::Kelly, Form::TwoDPlusOne, Form::UnionMap, Form::Tree];

    /// The name, as in text and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Form::Affine => "affine",
            Form::Kelly => "kelly",
            Form::TwoDPlusOne => "2d+1",
            Form::UnionMap => "union-map",
            Form::Tree => "tree",
        }
    }
}

impl fmt::Display for Form {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A schedule in one of the representations.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Representation {
    /// Times of statements; the form is not [`Form::Tree`].
    Times(Times),
    /// A tree.
    Tree(Tree),
}

/// The time of each statement.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Times {
    /// Where numbers may stand.
    pub form: Form,
    /// Names of the sizes.
    pub parameters: Vec<String>,
    /// Statements; one that is cut into parts has several entries, each with a condition.
    pub pieces: Vec<Piece>,
}

/// The time of a statement's instances.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Piece {
    /// The statement.
    pub statement: String,
    /// Names for its iterators.
    pub iterators: Vec<String>,
    /// The time, outermost first.
    pub time: Vec<Component>,
    /// The instances that it is about, as a formula; all if there is none.
    pub condition: Option<String>,
}

/// One number of a time.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Component {
    /// A place in the text: a constant.
    Place(i64),
    /// The value of a loop: a quasi-affine expression of iterators and sizes.
    Loop(String),
}

impl Representation {
    /// A tree in another form.
    ///
    /// # Errors
    /// `P0602` if the form cannot say what the tree says; those of the set library.
    pub fn of_tree(tree: &Tree, form: Form) -> Result<Representation> {
        if form == Form::Tree {
            return Ok(Representation::Tree(tree.clone()));
        }
        let kelly = columns::arrange(&of_tree::times(tree)?, Form::Kelly)?;
        Ok(Representation::Times(columns::arrange(&kelly, form)?))
    }

    /// The tree, for the statements of a model.
    ///
    /// # Errors
    /// `P0601` if the statements are not those of the model.
    pub fn to_tree(&self, model: &crate::Model) -> Result<Tree> {
        match self {
            Representation::Tree(tree) => Ok(tree.clone()),
            Representation::Times(times) => to_tree::tree(times, model),
        }
    }
}

impl fmt::Display for Representation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Representation::Times(times) => text::print(times, f),
            Representation::Tree(tree) => tree.fmt(f),
        }
    }
}

impl std::str::FromStr for Representation {
    type Err = loops::Diagnostic;

    /// Reads the printed form back: the first line says which form it is.
    fn from_str(text: &str) -> Result<Representation> {
        let first = text.lines().map(str::trim).find(|l| !l.is_empty() && !l.starts_with("//"));
        let word = first.unwrap_or_default().split([' ', '[']).next().unwrap_or_default();
        match Form::ALL.into_iter().find(|form| form.name() == word) {
            Some(form) if form != Form::Tree => text::parse(text, form).map(Representation::Times),
            _ => text.parse().map(Representation::Tree),
        }
    }
}
