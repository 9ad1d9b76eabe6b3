//! The textual form of models and graphs: printed by `Display`, read by [`parse_model`] and
//! [`parse_graph`], and `parse(print(x)) == x`.
//!
//! ```text
//! model ir 10
//! opset "" 21
//! graph mlp {
//!   input x: f32[batch, 4]
//!   init w: f32[4, 2] = [0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 3.5, 4.0]
//!   h = Gemm(x, w, _) { alpha: 1.0, transB: 0 } @"first layer"
//!   y = Relu(h)
//!   output y: f32[batch, 2]
//! }
//! ```
//!
//! `_` is an absent input or result, `?` an unknown extent, `[..]` a shape of unknown rank. Names
//! that are not identifiers are quoted. Floating-point numbers have a point or an exponent; a
//! tensor's elements are a list, or their bytes in hexadecimal. `raw hex"…"` are fields of the file
//! that mean nothing here.

mod lexer;
mod parse;
mod print;

pub use parse::{parse_graph, parse_model};
pub(crate) use print::dim;
