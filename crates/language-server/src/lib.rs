//! The language server of Lozenge: it speaks the Language Server Protocol, so that editors show
//! diagnostics, types, documentation and derivations while a program is written.
//!
//! Documents are functional programs (`.loz`), substitution rules (`.gsl`) and loop programs
//! (`.loops`). C files have language servers of their own, and their regions need the preprocessor,
//! so they are left to the command. Nothing is compiled or run, and no file is read but those that
//! a program imports.

mod analysis;
mod answers;
mod documents;
mod place;
mod session;

pub use session::{Stopped, serve};

/// Serves an editor over standard input and output until it says `exit`.
///
/// # Errors
/// If the editor breaks the protocol or closes the stream.
pub fn serve_standard_streams() -> Result<(), Stopped> {
    let (connection, threads) = lsp_server::Connection::stdio();
    serve(&connection)?;
    drop(connection);
    threads.join().map_err(|error| Stopped(error.to_string()))
}
