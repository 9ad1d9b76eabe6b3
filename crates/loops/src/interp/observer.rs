//! What follows a run from outside.

use crate::name::Name;
use crate::types::Scalar;

/// An array that begins to live.
#[derive(Clone, Debug)]
pub struct Live<'a> {
    /// Its number in the function: parameters first, then local arrays in the order of the text.
    pub array: usize,
    /// Its name.
    pub name: &'a Name,
    /// The scalars of an element, in order; each is a column.
    pub columns: Vec<Scalar>,
    /// Its elements.
    pub elements: usize,
}

/// Is told of a run while it goes on. The accesses of a copy are told where it is issued.
pub trait Observer {
    /// An array begins to live: a parameter before the run, a local array where it is declared.
    fn array(&mut self, array: Live<'_>);

    /// An assignment begins; they are counted in the order of the text, as
    /// [`assigns`](crate::visit::assigns) lists them.
    fn assignment(&mut self, number: usize);

    /// A scalar is read or written: column and element of an array.
    fn access(&mut self, array: usize, column: usize, element: usize, write: bool);
}
