//! The function for callers whose arrays are distributed already.

use std::fmt::Write as _;

use loops::ParamMode;

use super::write::Writer;
use crate::openmp::types::elem_type;

impl Writer<'_> {
    /// The declaration of the function for callers whose arrays are distributed already.
    pub fn head(&self) -> String {
        let mut text = format!("void {}_on_ranks(MPI_Comm comm, int rows, int columns", self.prefix);
        for size in &self.program.interface.sizes {
            let _ = write!(text, ", int64_t {}", self.names.of(size));
        }
        for param in &self.program.interface.params {
            let (c_type, name) = (elem_type(&param.elem), self.names.of(&param.name));
            let _ = match (param.dims.is_empty(), param.mode) {
                (true, ParamMode::In) => write!(text, ", {c_type} {name}"),
                (_, ParamMode::In) => write!(text, ", const {c_type} *{name}"),
                _ => write!(text, ", {c_type} *{name}"),
            };
        }
        text + ")"
    }

    /// The function for callers whose arrays are distributed already.
    pub fn function(&self) -> String {
        let prefix = self.prefix;
        let axes = self.program.axes;
        let mut text = format!(
            "{}\n{{\n    struct lz_grid own = lz_grid_of(comm, {axes}, rows, columns), *grid = &own;\n    struct {prefix}_numbers numbers = {{ .unused = 0 }}, *at = &numbers;\n    struct {prefix}_data data, *all = &data;\n",
            self.head()
        );
        for size in &self.program.interface.sizes {
            let name = self.names.of(size);
            let _ = writeln!(text, "    at->{name} = {name};");
        }
        text.push_str(&self.asked());
        let _ = writeln!(text, "    {prefix}_place(grid, at, all);");
        for placed in &self.program.places {
            let name = self.names.of(&placed.array.name);
            match placed.mode {
                None => {
                    let _ = writeln!(text, "    lz_make(grid, &all->{name});");
                }
                Some(ParamMode::In) if placed.array.dims.is_empty() => {
                    let _ = writeln!(text, "    all->{name}.data = (char *)&{name};");
                }
                Some(_) if placed.has_halo() => {
                    let _ = writeln!(
                        text,
                        "    lz_make(grid, &all->{name});\n    lz_blocks_copy(grid, &all->{name}, (char *){name}, 1);"
                    );
                }
                Some(_) => {
                    let _ = writeln!(text, "    all->{name}.data = (char *){name};");
                }
            }
        }
        let _ = writeln!(text, "    {prefix}_steps(grid, at, all);");
        for placed in &self.program.places {
            let name = self.names.of(&placed.array.name);
            if placed.has_halo() && placed.mode.is_some_and(|mode| mode != ParamMode::In) {
                let _ = writeln!(text, "    lz_blocks_copy(grid, &all->{name}, (char *){name}, 0);");
            }
            let _ = writeln!(text, "    lz_drop(&all->{name});");
        }
        self.dropped(&mut text);
        text.push_str("}\n");
        text
    }

    /// Frees buffers.
    pub fn dropped(&self, text: &mut String) {
        for (buffer, _) in self.program.buffers() {
            let _ = writeln!(text, "    lz_free(all->{}.data);", self.names.of(&buffer));
        }
    }

    /// The test of what is assumed of the sizes.
    pub fn asked(&self) -> String {
        let mut text = String::new();
        for assumption in &self.program.interface.assumptions {
            let _ = writeln!(
                text,
                "    if (!{})\n        lz_fail(grid, \"the sizes are not those that `{}` requires\");",
                self.inner(assumption),
                self.prefix
            );
        }
        text
    }
}
