//! What several tests use.

pub mod wire;
