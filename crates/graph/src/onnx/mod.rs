//! ONNX models: bytes in, bytes out.
//!
//! The reader keeps what it does not understand (unknown fields, functions, training information)
//! and the bytes of each part. So [`write`] gives the same file back if nothing was changed, and
//! the same bytes for each node, initializer and type that was not changed. No length, name or
//! nesting in a file is trusted. Time and memory are linear in the size of the file.
//!
//! Not here: files (the command loads external data with [`external`]), checks of the whole model
//! (`validate`).
//!
//! Source: the field numbers of the published format, IR version 14 and before.

pub mod external;
mod read;
mod wire;
mod write;

pub use read::functions::functions;
pub(crate) use read::functions::{forget_functions, has_functions, overload};
pub use read::read;
pub(crate) use write::attribute_bytes;
pub use write::{write, write_pieces};

use bytes::Bytes;
use loops::{Code, Diagnostic, Name};

/// The largest file that the format allows (2 GiB: lengths of its messages are 31-bit numbers in
/// most programs).
pub const MAX_BYTES: usize = i32::MAX as usize;

/// Graphs and types nested deeper than this are refused.
const MAX_DEPTH: u32 = 64;

/// The parts of a file beside the graph, as they were read: where they are unchanged, the file's
/// bytes are.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Header {
    pub(crate) ir_version: i64,
    pub(crate) opsets: Vec<(Name, i64)>,
    pub(crate) metadata: Vec<(String, String)>,
    pub(crate) extra: Bytes,
}

/// A file that a model came from.
#[derive(Clone, Debug)]
pub(crate) struct Origin {
    pub(crate) header: Header,
    /// All of it.
    pub(crate) file: Bytes,
    /// Where the graph's field begins (with its tag) and ends.
    pub(crate) graph: (usize, usize),
}

/// Which list of the graph a record of a value stands in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Role {
    Input,
    Output,
    Info,
}

fn bad(code: &'static str, message: impl Into<String>) -> Diagnostic {
    Diagnostic::general(Code(code), message)
}
