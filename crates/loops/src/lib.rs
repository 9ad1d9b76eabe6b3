//! The loop IR of Lozenge: typed loop programs.
//!
//! Every front end ends in a [`Program`] and every target starts from one. A program is a plain
//! value. It is built, compared, printed and parsed without a context, an interner or a global, and
//! `parse(print(p)) == p`.
//!
//! ```
//! let program = loops::parse("fn double[n](x: inout f64[n]) { par i in 0..n { x[i] *= 2.0 } }").unwrap();
//! assert!(loops::validate(&program.functions[0]).is_proved());
//! assert_eq!(loops::parse(&program.to_string()), Ok(program));
//! ```
//!
//! - Values: [`program`], [`expr`], [`types`], [`size`], [`data`], [`registers`], [`diagnostic`].
//! - Their text: [`print`](mod@print), [`mod@parse`].
//! - What is read off them: [`access`], [`visit`], [`typing`].
//! - What follows from loops and conditions: [`poly`], [`facts`], [`extremes`], [`simplify`],
//!   [`indices`].
//! - Checks: [`mod@validate`], and the reference interpreter [`interp`].
//! - Programs for several ranks with memories of their own, made of loop statements: [`ranks`].
//! - The one definition of the arithmetic: [`value`]; of what reads no memory, [`evaluate`].
//!
//! Not here: transformations (crate `passes`), front ends, targets, files, processes, the set
//! library.

pub mod access;
pub mod build;
pub mod data;
pub mod diagnostic;
pub mod directive;

pub mod evaluate;
pub mod expr;
pub mod extremes;
pub mod facts;
pub mod fits;

pub mod indices;
pub mod interp;

mod lex;
pub mod liveness;
pub mod name;
pub mod parse;
pub mod poly;
pub mod print;
pub mod program;
pub mod ranks;
pub mod registers;
pub mod simplify;
pub mod size;
pub mod suggest;
mod symbols;
pub mod types;
pub mod typing;
pub mod validate;
pub mod value;
pub mod visit;

pub use access::{AccessKind, AccessSite, Context, accesses};
pub use data::{Data, Tensor};
pub use diagnostic::{Code, Diagnostic, Label, Severity, Span};
pub use expr::{BinaryOp, CompareOp, Expr, UnaryOp};
pub use facts::Facts;
pub use half::f16;
pub use interp::{Options, run};
pub use name::Name;
pub use parse::{MAX_DEPTH, parse};
pub use program::{
    Access, ArrayDecl, Assign, Component, Copy, CopyKind, Function, Local, Loop, LoopKind, Param, ParamMode,
    Program, ReduceOp, Stmt, Storage, Update,
};
pub use registers::Registers;
pub use size::Size;
pub use types::{Elem, Scalar};
pub use typing::Types;
pub use validate::{Report, Safety, validate};
pub use value::{Value, nearest_half};
