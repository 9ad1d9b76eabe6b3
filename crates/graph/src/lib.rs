//! Computation graphs: ONNX in and out, shapes and types, the operator library, and the way from
//! whole graphs to loop programs.
//!
//! A [`Model`] holds a [`Graph`] of [`Node`]s (calls of operators) over values. It is a plain value
//! with one textual form ([`mod@text`]). It can be edited in place. The cost of an edit is
//! proportional to what it changes.
//!
//! Deliberately not here: files and processes (bytes in, bytes out), rewrite rules, targets.

pub mod attribute;
pub mod bodies;
pub mod budget;
pub mod control;
pub mod cut;
pub mod evaluate;
pub mod folding_kernels;
pub mod functions;
pub mod generate;
pub mod graph;
pub mod half;
pub mod hash_tables;
pub mod infer;
pub mod leniency;
pub mod model;
pub mod onnx;
pub mod operators;
pub mod opsets;
pub mod picture;
pub mod plan;
pub mod schema;
pub mod simplify;
mod slicing;
pub mod tensor;
pub mod text;
pub mod types;
pub mod upgrade;
pub mod validate;

pub use attribute::{Attribute, AttributeValue};
pub use budget::Budget;
pub use graph::{Graph, NewNode, Node, NodeId, Operator, Place, Producer, Slot, Use, Value, ValueId};
pub use infer::{infer, infer_node};
pub use leniency::tolerate;
pub use model::Model;
pub use tensor::{External, Storage, Tensor};
pub use types::{Dim, ElementType, Shape, TensorType, ValueType};
pub use validate::validate;
