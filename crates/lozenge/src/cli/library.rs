//! What `lozenge compile` is asked for where a library is to come out.

use clap::Args;

use crate::failure::Failure;
use crate::library::Kind;

/// Options of libraries.
#[derive(Args, Debug, Clone, Default, PartialEq, Eq)]
pub struct Library {
    /// Build a shared library with the C compiler, and beside it a header and a manifest in JSON.
    #[arg(long, requires = "output", conflicts_with_all = ["emit", "static_library"])]
    pub shared: bool,
    /// The same for a static library.
    #[arg(long = "static", requires = "output", conflicts_with = "emit")]
    pub static_library: bool,
    /// With --shared or --static: also a file for pkg-config.
    #[arg(long)]
    pub pkg_config: bool,
    /// With --shared or --static: a further flag of the C compiler; may be given several times.
    #[arg(long = "cflag", value_name = "FLAG", allow_hyphen_values = true)]
    pub flags: Vec<String>,
    /// Models: the name of the generated function; nothing else is seen from outside of the file
    /// [default: the name of the model's file].
    #[arg(long, value_name = "NAME")]
    pub prefix: Option<String>,
}

impl Library {
    /// The name of a model's function.
    ///
    /// # Errors
    /// `X0009` for what is no name of C.
    pub fn prefix(&self) -> Result<Option<String>, Failure> {
        let Some(name) = &self.prefix else { return Ok(None) };
        let letters = name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        if !letters || !name.starts_with(|c: char| c.is_ascii_alphabetic()) {
            return Err(Failure::usage("X0009", format!("`{name}` is no name of a function in C")));
        }
        Ok(Some(name.clone()))
    }

    /// The kind that is asked for.
    pub fn kind(&self) -> Option<Kind> {
        match (self.shared, self.static_library) {
            (true, _) => Some(Kind::Shared),
            (_, true) => Some(Kind::Static),
            _ => None,
        }
    }

    /// Whether any of these options is given.
    pub(crate) fn is_given(&self) -> bool {
        let Library { shared, static_library, pkg_config, flags, prefix: _ } = self;
        *shared || *static_library || *pkg_config || !flags.is_empty()
    }
}
