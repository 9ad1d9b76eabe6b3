//! The codes of this crate's diagnostics. Each has a page `docs/errors/CODE.md`.

use loops::Code;

/// `#pragma scop` and `#pragma endscop` do not pair up, or do not enclose whole statements of one
/// function.
pub(crate) const PRAGMAS: Code = Code("C0101");
/// A pragma is not on a line of its own in the file that was given.
pub(crate) const PRAGMA_LINE: Code = Code("C0102");
/// A preprocessor directive inside a region that its replacement would lose.
pub(crate) const DIRECTIVE: Code = Code("C0103");
/// The text is too large or too deep.
pub(crate) const TOO_LARGE: Code = Code("C0104");
/// What is between the pragmas does not parse as C.
pub const SYNTAX: Code = Code("C0201");
/// The function around a region could not be read.
pub(crate) const CONTEXT: Code = Code("C0202");
/// A statement that a region cannot have.
pub const STATEMENT: Code = Code("C0301");
/// An expression that a region cannot have.
pub(crate) const EXPRESSION: Code = Code("C0302");
/// A type that data cannot have.
pub const TYPE: Code = Code("C0303");
/// A call of a function that is not known to be pure.
pub const CALL: Code = Code("C0304");
/// A name without a declaration that could be understood.
pub const NAME: Code = Code("C0305");
/// A declaration in a region that is not understood.
pub const DECLARATION: Code = Code("C0306");
/// A reduction that is declared and is none.
pub const REDUCTION: Code = Code("C0307");
/// A directive before a loop that is not understood, or stands before no loop.
pub(crate) const DIRECTIVE_OF_LOOP: Code = Code("C0308");
/// A subscript that is not affine.
pub(crate) const SUBSCRIPT: Code = Code("C0401");
/// A loop bound that is not affine.
pub const BOUND: Code = Code("C0402");
/// A loop whose header is not of a known form.
pub const LOOP: Code = Code("C0404");
/// A loop variable that is changed in its loop or read outside.
pub(crate) const LOOP_VARIABLE: Code = Code("C0405");
/// An array whose shape is unknown, or that is not subscripted fully.
pub(crate) const SHAPE: Code = Code("C0406");
/// Warning: the region depends on the preprocessor.
pub(crate) const CONFIGURATION: Code = Code("C0502");
/// Warning: a pragma in the region is dropped.
pub(crate) const DROPPED_PRAGMA: Code = Code("C0503");
