//! The program around a function, and what its header says of the arrays.

use std::fmt::Write as _;

use loops::ranks::RankProgram;
use loops::{Elem, ParamMode, Scalar};

use super::write::Writer;

/// The element type in the head of a npy file, and its kind.
fn descr(elem: &Elem) -> (&'static str, char) {
    match elem {
        Elem::Scalar(Scalar::F32) => ("f4", 'f'),
        Elem::Scalar(Scalar::F64) | Elem::Pair(..) => ("f8", 'f'),
        Elem::Scalar(Scalar::I8) => ("i1", 'i'),
        Elem::Scalar(Scalar::I16) => ("i2", 'i'),
        Elem::Scalar(Scalar::I32) => ("i4", 'i'),
        Elem::Scalar(Scalar::I64) => ("i8", 'i'),
        Elem::Scalar(Scalar::U8) => ("u1", 'u'),
        Elem::Scalar(Scalar::U16) => ("u2", 'u'),
        Elem::Scalar(Scalar::F16) => ("f2", 'f'),
        Elem::Scalar(Scalar::U32) => ("u4", 'u'),
        Elem::Scalar(Scalar::U64) => ("u8", 'u'),
        Elem::Scalar(Scalar::Bool) => ("b1", 'b'),
    }
}

/// What a caller needs to know: where each array is, and the function.
pub(super) fn describe(program: &RankProgram, writer: &Writer) -> String {
    let mut text = String::from("\n/* ");
    let _ = writeln!(
        text,
        "`{}` on the ranks of a communicator, which form a grid of rows x columns{}.",
        program.interface.name,
        if program.axes == 1 { " with one column" } else { "" }
    );
    text.push_str(" * A number of rows or columns that is 0 is chosen. All ranks call it. Each argument is the part of\n");
    text.push_str(" * an array that the rank owns, row by row, without elements of other ranks:\n");
    for param in &program.interface.params {
        let Some(placed) = program.place(&param.name) else { continue };
        let _ = write!(text, " *\n * {}{}:", param.name, dims(&param.dims));
        if placed.is_everywhere() {
            text.push_str(" whole, and the same on every rank");
        }
        for (d, cut) in placed.cut.iter().enumerate() {
            let Some(cut) = cut.map(|cut| &program.cuts[cut]) else { continue };
            let along = if cut.axis == 0 { "rows" } else { "columns" };
            match cut.width {
                None => {
                    let _ = write!(
                        text,
                        "\n *   dimension {d}: one block of W = max(1, ceil(({}) / {along})) for each rank; rank r of the\n *   {along} has W * r .. min(W * (r + 1), {})",
                        cut.extent, cut.extent
                    );
                }
                Some(width) => {
                    let _ = write!(
                        text,
                        "\n *   dimension {d}: blocks of {width} in turn; block k, from {width} * k on, is on rank k mod {along} of\n *   the {along}"
                    );
                }
            }
        }
        text.push('\n');
    }
    text.push_str(" *\n * An error ends all ranks with a message (MPI_Abort). */\n");
    let _ = writeln!(text, "{};", writer.head());
    text
}

fn dims(dims: &[loops::Expr]) -> String {
    dims.iter().map(|e| format!("[{e}]")).collect()
}

/// The program.
pub(super) fn text(program: &RankProgram, writer: &Writer, stem: &str) -> String {
    let (prefix, axes) = (writer.prefix, program.axes);
    let sizes = &program.interface.sizes;
    let params: Vec<_> = program.places.iter().filter(|p| p.mode.is_some()).collect();
    let mut text = format!(
        "#include \"{stem}.c\"\n#include \"lozenge_main.h\"\n\n/* Reads npy files, each rank its part, runs `{prefix}`, and writes what comes out. */\nint main(int argc, char **argv)\n{{\n    int provided;\n    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);\n"
    );
    let _ = writeln!(
        text,
        "    struct lz_grid own = lz_grid_of(MPI_COMM_WORLD, {axes}, 0, 0), *grid = &own;\n    struct {prefix}_numbers numbers = {{ .unused = 0 }}, *at = &numbers;\n    struct {prefix}_data data, *all = &data;\n    struct lz_options options = {{ 0, 0, 1, 0, 0, 0 }};"
    );
    let _ = writeln!(text, "    struct lz_size size[] = {{");
    for name in sizes {
        let _ =
            writeln!(text, "        {{ \"{}\", &at->{}, 0 }},", name.escape_default(), writer.names.of(name));
    }
    let _ = writeln!(text, "        {{ \"\", &at->unused, 1 }},\n    }};\n    struct lz_param param[] = {{");
    for placed in &params {
        let (descr, kind) = descr(&placed.array.elem);
        let mode = placed.mode.unwrap_or(ParamMode::In);
        let (reads, writes) = (i32::from(mode != ParamMode::Out), i32::from(mode != ParamMode::In));
        let _ = writeln!(
            text,
            "        {{ &all->{}, \"{descr}\", '{kind}', {reads}, {writes}, NULL, NULL }},",
            writer.names.of(&placed.array.name)
        );
    }
    let (sizes, count) = (sizes.len(), params.len());
    let _ = writeln!(
        text,
        "        {{ NULL, \"\", 'f', 0, 0, NULL, NULL }},\n    }};\n    {prefix}_place(grid, at, all); /* the names of parameters */\n    if (lz_arguments(grid, argc, argv, size, {sizes}, param, {count}, &options))\n        return 0;\n    own = lz_grid_of(MPI_COMM_WORLD, {axes}, options.rows, options.columns);"
    );
    text.push_str(&writer.asked());
    let _ = writeln!(text, "    {prefix}_place(grid, at, all);");
    for placed in &program.places {
        let _ = writeln!(text, "    lz_make(grid, &all->{});", writer.names.of(&placed.array.name));
    }
    let _ = write!(
        text,
        "    for (int repetition = 0; repetition < options.repetitions; repetition++) {{\n        for (int k = 0; k < {count}; k++) {{\n            if (param[k].read)\n                lz_read(grid, &param[k]);\n            else if (param[k].in || options.fill)\n                lz_fill(grid, &param[k], options.seed + k);\n        }}\n        own.messages = own.bytes = own.received = 0;\n        MPI_Barrier(grid->comm);\n        double begin = MPI_Wtime();\n        {prefix}_steps(grid, at, all);\n        lz_time(grid, MPI_Wtime() - begin);\n    }}\n    if (options.count)\n        lz_traffic(grid);\n    for (int k = 0; k < {count}; k++)\n        if (param[k].write)\n            lz_write(grid, &param[k]);\n"
    );
    for placed in &program.places {
        let _ = writeln!(text, "    lz_drop(&all->{});", writer.names.of(&placed.array.name));
    }
    writer.dropped(&mut text);
    text.push_str("    MPI_Finalize();\n    return 0;\n}\n");
    text
}
