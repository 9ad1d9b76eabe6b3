//! Functions on arrays that every rank holds: each rank takes its blocks of them, computes its
//! part, and gets the rest of the results from the others. So an operator of a model is called as
//! the function of one process is.

use std::fmt::Write as _;

use loops::{Diagnostic, Function, ParamMode, Program};

use super::{Ready, check};
use crate::openmp::{self, Signature};

use super::write::Writer;

/// A program for ranks, and the signature of the function that it takes the place of.
#[derive(Clone, Debug)]
pub struct Shared {
    /// The program.
    pub ready: Ready,
    /// Its arguments are whole arrays, the same on every rank.
    pub signature: Signature,
}

/// The C of functions that all ranks call alike, behind that of functions which each rank runs for
/// itself.
///
/// # Errors
/// As [`super::files`].
pub fn shared(own: &[Function], all: &[Shared]) -> Result<String, Diagnostic> {
    let kernels = all.iter().flat_map(|one| one.ready.kernels.iter().map(|kernel| kernel.function.clone()));
    let functions: Vec<Function> = own.iter().cloned().chain(kernels).collect();
    let options = openmp::Options { local: true, ..openmp::Options::default() };
    let emitted = openmp::emit(&Program { functions }, &options)?;
    let mut signatures = &emitted.signatures[own.len()..];
    let mut text = format!("{}\n#include \"lozenge_messages.h\"\n\n", emitted.source.trim_end());
    for one in all {
        check(&one.ready.program)?;
        let (runs, rest) = signatures.split_at(one.ready.kernels.len());
        signatures = rest;
        let prefix = &one.signature.c_name;
        let writer = Writer::new(&one.ready.program, &one.ready.kernels, runs, prefix, false);
        let whole = writer.whole(&one.signature);
        text.push_str(&writer.text());
        text.push_str(&whole);
        text.push('\n');
    }
    Ok(text)
}

impl Writer<'_> {
    /// The function on whole arrays.
    fn whole(&self, signature: &Signature) -> String {
        let (prefix, axes) = (self.prefix, self.program.axes);
        let mut arguments: Vec<String> =
            (0..signature.sizes.len()).map(|k| format!("int64_t size{k}")).collect();
        arguments.extend(signature.params.iter().enumerate().map(|(k, param)| {
            match (param.pointer, param.mode) {
                (false, _) => format!("{} array{k}", param.c_type),
                (true, ParamMode::In) => format!("const {} *array{k}", param.c_type),
                (true, _) => format!("{} *array{k}", param.c_type),
            }
        }));
        let arguments = if arguments.is_empty() { "void".to_owned() } else { arguments.join(", ") };
        let mut text = format!(
            "/* All ranks call this with the same arrays. */\nstatic int {prefix}({arguments})\n{{\n    struct lz_grid own = lz_grid_of(MPI_COMM_WORLD, {axes}, 0, 0), *grid = &own;\n    struct {prefix}_numbers numbers = {{ .unused = 0 }}, *at = &numbers;\n    struct {prefix}_data data, *all = &data;\n"
        );
        for (k, size) in signature.sizes.iter().enumerate() {
            let _ = writeln!(text, "    at->{} = size{k};", self.names.of(size));
        }
        text.push_str(&self.asked());
        let _ = writeln!(text, "    {prefix}_place(grid, at, all);");
        let position = |name: &loops::Name| signature.params.iter().position(|param| param.name == *name);
        let mut back = String::new();
        for placed in &self.program.places {
            let name = self.names.of(&placed.array.name);
            let Some(k) = position(&placed.array.name) else {
                let _ = writeln!(text, "    lz_make(grid, &all->{name});");
                continue;
            };
            let address = if signature.params[k].pointer { "" } else { "&" };
            if placed.is_everywhere() {
                let _ = writeln!(text, "    all->{name}.data = (char *){address}array{k};");
                continue;
            }
            let _ = writeln!(text, "    lz_make(grid, &all->{name});");
            if placed.mode != Some(ParamMode::Out) {
                let _ = writeln!(text, "    lz_take(grid, &all->{name}, (char *)array{k});");
            }
            if placed.mode != Some(ParamMode::In) {
                let _ = writeln!(back, "    lz_gather(grid, &all->{name}, (char *)array{k});");
            }
        }
        let _ = write!(text, "    {prefix}_steps(grid, at, all);\n{back}");
        for placed in &self.program.places {
            let _ = writeln!(text, "    lz_drop(&all->{});", self.names.of(&placed.array.name));
        }
        self.dropped(&mut text);
        text.push_str("    return 0;\n}\n");
        text
    }
}
