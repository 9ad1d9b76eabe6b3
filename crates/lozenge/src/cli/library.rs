//! What `lozenge compile` is asked for where a library is to come out.

use clap::Args;

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
}

impl Library {
    /// The kind that is asked for.
    pub fn kind(&self) -> Option<Kind> {
        match (self.shared, self.static_library) {
            (true, _) => Some(Kind::Shared),
            (_, true) => Some(Kind::Static),
            _ => None,
        }
    }

    /// Whether any of these options is given.
    pub fn is_given(&self) -> bool {
        *self != Library::default()
    }
}
