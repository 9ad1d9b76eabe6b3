//! Libraries for other programs: what a source offers its callers, the header and the manifest that
//! say so, and the file that the C compiler makes.
//!
//! Not here: the C itself (`pipeline`), and which options ask for a library
//! (`command::compile_library`).

mod build;
mod header;
mod interface;
mod manifest;

pub use build::{Kind, Recipe, build, flags};
pub use header::header;
pub use interface::{Entry, Regions, of_c, of_memory, of_model, of_programs};
pub use manifest::{Block, Manifest, generator, pkg_config};
