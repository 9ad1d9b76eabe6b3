//! Reads C with marked regions, gives loop programs, and puts the result back into the file.
//!
//! A region stands between `#pragma scop` and `#pragma endscop`. [`parse`] takes the original file
//! and its preprocessed text and gives a [`CFile`]: for each region a [`loops::Function`], and a
//! [`RegionInfo`] that connects its names to the C around it. [`splice`] replaces the regions by C
//! text and leaves every other byte as it was. [`exports`] tells which
//! functions other files can call.
//!
//! What is deliberately not here: no process (the command runs the preprocessor), no target (the
//! text that replaces a region is made elsewhere), no analysis beyond what says that a region is
//! affine.

mod ast;
pub mod codes;
mod copies;
mod cpp_declarations;
mod ctype;
mod exports;
mod file;
mod lexer;
mod linear;
mod lower;
mod namespaces;
mod own_function;
mod parser;
mod place;
mod pragmas;
mod region;
mod scope;
mod source;
mod splice;
mod uses;

pub use exports::{Export, ExportParam, Interface, exports};
pub use file::{Options, parse, parse_with};
pub use region::{
    AccessForm, AliasPair, Assumption, CFile, Region, RegionInfo, SizeVariable, Variable, VariableKind,
};
pub use source::Language;
pub use splice::{Replacement, splice, splice_with_lines};
