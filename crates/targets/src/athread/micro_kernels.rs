//! The files of the micro-kernels: the innermost functions of contractions, for one kind of
//! elements and one number of products each.
//!
//! Their text depends on the kind alone. So all programs of a folder share them, and they are
//! compiled once. A slave file includes the headers of those that it calls.

use loops::Scalar;

use super::block::{self, Kind, PRODUCTS};
use super::expr::HOOKS;

/// A header and a slave file with the functions of one kind.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MicroKernels {
    /// What the names of both files begin with.
    pub stem: String,
    /// The declarations.
    pub header: String,
    /// The functions, for the computing cores.
    pub source: String,
}

impl MicroKernels {
    /// The files of a kind.
    pub(super) fn of(kind: Kind) -> MicroKernels {
        let stem = format!("lozenge_{}", kind.prefix());
        let (guard, added) = (format!("{}_H", stem.to_uppercase()), added(kind));
        let ty = super::expr::c_type(kind.elem);
        let header = format!(
            "\
/* Micro-kernels for the computing cores: c += {added}, for blocks of elements of type {ty}.
 *
 * A block has 4 rows or 1, and some vectors in each row: {prefix}_ROWSxVECTORS. It is in
 * registers while a sum runs over n steps in ascending order. `blocks` of them lie beside each
 * other, and `groups` below each other. Rows of c, rows and steps of a, and rows of b are c_row,
 * a_row, a_step and b_row elements apart. Vectors of c and b are at multiples of their size, but
 * for the functions _anywhere.
 *
 * The text is the same for all programs.
 */
#ifndef {guard}
#define {guard}

{declarations}
#endif
",
            prefix = kind.prefix(),
            declarations = block::declarations(kind),
        );
        let source = format!(
            "\
/* Micro-kernels for the computing cores: c += {added}. The header tells what they are given.
 *
 * The memory pipeline has free slots beside the arithmetic in each step, but not enough for a whole
 * block at once. So the outer steps of a block load the rest of it (c), store what the block before
 * left in registers (o), load a part of the next block (n), and store as much as fits.
 */
#include <slave.h>
#include <simd.h>

#include \"{stem}.h\"

{HOOKS}
{functions}",
            functions = block::functions(kind),
        );
        MicroKernels { stem, header, source }
    }

    /// The files of all kinds.
    pub fn all() -> Vec<MicroKernels> {
        let elems = [Scalar::F32, Scalar::F64];
        let kinds =
            elems.into_iter().flat_map(|elem| (1..=PRODUCTS).map(move |products| Kind { elem, products }));
        kinds.map(MicroKernels::of).collect()
    }

    /// The name of the header.
    pub fn header_name(&self) -> String {
        format!("{}.h", self.stem)
    }

    /// The name of the slave file.
    pub fn source_name(&self) -> String {
        format!("{}.c", self.stem)
    }
}

/// What is added, in C.
fn added(kind: Kind) -> String {
    match kind.products {
        1 => "a * b".to_owned(),
        several => (0..several).map(|p| format!("a{p} * b{p}")).collect::<Vec<_>>().join(" + "),
    }
}
