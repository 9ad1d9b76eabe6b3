//! What a library says of itself: the manifest in JSON, and the file for `pkg-config`.

use loops::ParamMode;
use serde_json::{Value, json};

use super::build::Kind;
use super::interface::{Entry, Parameter};

/// The version of the format. It grows if something that is there changes its meaning or goes away.
const VERSION: u32 = 1;

/// The block of parameters of a model: a file beside the library.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Block {
    /// Its name.
    pub file: String,
    /// Its length.
    pub bytes: usize,
}

/// What a manifest tells.
#[derive(Debug)]
pub struct Manifest<'a> {
    /// The source as the user named it.
    pub source: &'a str,
    /// Name of the library.
    pub library: &'a str,
    /// Its kind.
    pub kind: Kind,
    /// Name of the header.
    pub header: &'a str,
    /// Name of the file for `pkg-config`.
    pub pkg_config: Option<&'a str>,
    /// The block of parameters of a model.
    pub parameters: Option<&'a Block>,
    /// Command of the C compiler.
    pub compiler: &'a str,
    /// Name and version of the compiler, as it tells them.
    pub compiler_version: &'a str,
    /// Its flags.
    pub flags: &'a [String],
    /// The functions.
    pub functions: &'a [Entry],
}

/// What a program that uses the library is linked with.
const LINKED: [&str; 2] = ["-fopenmp", "-lm"];

impl Manifest<'_> {
    /// The manifest.
    pub fn to_json(&self) -> Value {
        let block = |block: &Block| json!({ "file": block.file, "bytes": block.bytes, "alignment": 64 });
        json!({
            "version": VERSION,
            "generator": generator(),
            "source": self.source,
            "library": self.library,
            "kind": self.kind.word(),
            "header": self.header,
            "pkg_config": self.pkg_config,
            "parameter_block": self.parameters.map(block),
            "target": "openmp",
            "compiler": {
                "command": self.compiler,
                "version": self.compiler_version,
                "flags": self.flags,
            },
            "link": LINKED,
            "functions": self.functions.iter().map(function).collect::<Vec<_>>(),
        })
    }
}

/// This compiler and its version.
pub fn generator() -> String {
    match env!("LOZENGE_COMMIT") {
        "" => format!("lozenge {}", env!("CARGO_PKG_VERSION")),
        commit => format!("lozenge {} ({commit})", env!("CARGO_PKG_VERSION")),
    }
}

fn function(entry: &Entry) -> Value {
    let status: serde_json::Map<String, Value> =
        entry.status.iter().map(|(code, what)| (code.to_string(), json!(what))).collect();
    json!({
        "name": entry.name,
        "symbol": entry.symbol,
        "returns": entry.result,
        "status": status,
        "sizes": entry.sizes,
        "parameters": entry.parameters.iter().map(parameter).collect::<Vec<_>>(),
        "conditions": entry.conditions,
        "tested": entry.tested,
    })
}

fn parameter(parameter: &Parameter) -> Value {
    json!({
        "name": parameter.name,
        "element": parameter.element,
        "c_type": parameter.c_type,
        "shape": parameter.shape,
        "mode": match parameter.mode {
            ParamMode::In => "in",
            ParamMode::Out => "out",
            ParamMode::InOut => "inout",
        },
        "pointer": parameter.pointer,
    })
}

/// The file for `pkg-config`: everything lies in the folder of this file.
pub fn pkg_config(stem: &str, library: &str, source: &str, kind: Kind) -> String {
    let (flags, private) = match kind {
        // A shared library names what it needs.
        Kind::Shared => (String::new(), format!("Libs.private: {}\n", LINKED.join(" "))),
        Kind::Static => (format!(" {}", LINKED.join(" ")), String::new()),
    };
    let extension = match kind {
        Kind::Shared => ".so",
        Kind::Static => ".a",
    };
    let short = library.strip_prefix("lib").and_then(|name| name.strip_suffix(extension));
    let linked = match short {
        Some(name) if !name.is_empty() => format!("-L${{libdir}} -l{name}"),
        _ => format!("${{libdir}}/{library}"),
    };
    format!(
        "prefix=${{pcfiledir}}\nlibdir=${{prefix}}\nincludedir=${{prefix}}\n\nName: {stem}\nDescription: functions of {source}, made by {}\nVersion: {}\nCflags: -I${{includedir}}\nLibs: {linked}{flags}\n{private}",
        generator(),
        env!("CARGO_PKG_VERSION"),
    )
}
