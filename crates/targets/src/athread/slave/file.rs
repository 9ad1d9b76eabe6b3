//! The slave file: what kernels need (headers, local memory, transfers, exchanges), and their
//! functions.

use loops::{Diagnostic, Function, Name};

use super::Writer;
use crate::athread::chip::Chip;
use crate::athread::expr::HOOKS;
use crate::athread::micro_kernels::MicroKernels;
use crate::athread::{kernel, stationary_shares};
use crate::openmp::scalars;

/// A slave file.
pub(in crate::athread) struct SlaveFile {
    /// Its text.
    pub text: String,
    /// What of the mapping it makes no use of.
    pub notes: Vec<String>,
    /// The functions that it calls from files of their own.
    pub micro_kernels: Vec<MicroKernels>,
}

/// The slave file of some functions.
///
/// # Errors
/// `T0001` for what slave code cannot say; `T0005` if buffers do not fit in local memory.
pub(in crate::athread) fn file(
    functions: &[&Function],
    header: &str,
    chip: &Chip,
) -> Result<SlaveFile, Diagnostic> {
    let (mut bodies, mut notes) = (String::new(), Vec::new());
    let mut bytes = 0;
    let mut replies = std::collections::BTreeSet::new();
    let (mut helpers, mut exchanges, mut slots) = (None, false, 0);
    let mut holds = std::collections::BTreeSet::new();
    let mut turns = 0;
    let mut contracts = Vec::new();
    for function in functions {
        for kernel in kernel::kernels(function)? {
            let mut writer = Writer::new(chip, true, helpers);
            writer.kernel(&kernel)?;
            if writer.used > chip.buffers() {
                // Without what may go on over several loops, which takes places early.
                writer = Writer::new(chip, false, helpers);
                writer.kernel(&kernel)?;
            }
            bytes = bytes.max(writer.used);
            helpers = helpers.or(writer.helpers);
            exchanges |= writer.exchanges;
            slots = writer.slots.max(slots);
            holds.extend(writer.holds);
            turns = writer.turns.max(turns);
            for kind in writer.contracts {
                if !contracts.contains(&kind) {
                    contracts.push(kind);
                }
            }
            notes.extend(writer.notes.iter().map(|note| format!("in `{}`: {note}", kernel.name)));
            replies.extend(writer.replies.iter().map(Name::to_string));
            bodies.push_str(&format!(
                "\nvoid {0}(struct {0}_arguments *lozenge_given)\n{{\n{1}}}\n",
                kernel.name, writer.out
            ));
        }
    }
    if bytes > chip.buffers() {
        return Err(Diagnostic::general(
            loops::Code("T0005"),
            format!(
                "the local arrays of a kernel take {} bytes of local memory, but there are {}",
                bytes,
                chip.buffers()
            ),
        )
        .help("choose smaller tiles"));
    }
    let mut text = String::from("/* What the computing cores run. */\n");
    text.push_str("#include <math.h>\n#include <stdint.h>\n#include <stdlib.h>\n");
    for include in chip.slave_headers() {
        text.push_str(&format!("#include <{include}>\n"));
    }
    let micro_kernels: Vec<MicroKernels> = contracts.into_iter().map(MicroKernels::of).collect();
    text.push_str(&format!("\n#include \"{header}\"\n"));
    for one in &micro_kernels {
        text.push_str(&format!("#include \"{}\"\n", one.header_name()));
    }
    text.push_str(&format!("\n{HOOKS}\n{}\n", scalars::macros()));
    text.push_str(&scalars::definitions(&bodies));
    text.push_str(&format!("/* Local memory for the buffers of all kernels. */\n__thread_local char lozenge_ldm[{}] __attribute__((aligned(64)));\n", bytes.max(64)));
    text.push_str(&chip.replies(&replies.into_iter().collect::<Vec<_>>()));
    text.push_str(&chip.transfers());
    if let Some((rows, columns)) = helpers {
        text.push_str(&chip.sharing(rows, columns));
        for set in holds {
            text.push_str(&stationary_shares::rule(rows, set));
        }
    }
    if turns > 0 {
        text.push_str(&chip.broadcasts(turns));
    }
    if exchanges {
        text.push_str(chip.panels());
    }
    if slots > 0 {
        text.push_str(&chip.panels_of_columns(slots));
    }
    text.push_str(&bodies);
    Ok(SlaveFile { text, notes, micro_kernels })
}
