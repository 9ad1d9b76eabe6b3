//! The text of C programs around generated functions: a runner that the command feeds with arrays, and a `main` for a quick run.
//!
//! Running them, and writing and reading their files, is the command's business.
//!
//! # The runner
//! `PROGRAM INPUT OUTPUT WARMUP REPETITIONS SIZE…` reads the parameters that come in from the file INPUT, calls the function WARMUP
//! times and then REPETITIONS times (arrays that are read and written get their first contents back before each call), prints
//! the seconds of each of the latter calls, one number a line, and writes the parameters that come out to the file OUTPUT.
//!
//! Both files hold the parameters one after another, in the order of the function's; an element type that is a pair is one column
//! for each of its scalars (first component first), as in [`loops::Data`]. Numbers are as in memory (little-endian on the
//! machines that this is for), truth values are a byte.
//!
//! Exit codes: 0; 2 bad arguments or INPUT; 3 out of memory; 4 the sizes are not admissible; 5 OUTPUT cannot be written. A message
//! goes to the standard error.

mod quick;
mod text;

use std::collections::BTreeSet;

use loops::{Code, Diagnostic, Function, Name, ParamMode, Program, Scalar};

use crate::c::CFunction;
use crate::openmp::Options;
use crate::openmp::build::{
    Done, Helper, Structs, counts, function_names, helper_text, leaf_paths, translate,
};

pub use quick::quick_main;

/// What a caller of a generated function has to know, as text.
struct Callee {
    /// Name in C.
    name: String,
    /// Size parameters.
    sizes: usize,
    /// Parameters in order.
    params: Vec<Argument>,
    /// The function without its body.
    declaration: CFunction,
    /// Structs of the parameters.
    structs: Structs,
    /// Bodies of the functions that compute the number of elements.
    counts: Vec<String>,
    /// Helpers in them.
    helpers: BTreeSet<Helper>,
}

/// A parameter.
struct Argument {
    name: Name,
    c_type: String,
    mode: ParamMode,
    pointer: bool,
    /// Members that lead to each scalar of an element (`.x1.x2`), with the scalar.
    columns: Vec<(String, Scalar)>,
}

impl Callee {
    fn of(function: &Function, c_name: &str) -> Result<Callee, Diagnostic> {
        let empty = Function { body: Vec::new(), ..function.clone() };
        let Done { code, signature, structs, .. } = translate(&empty, c_name, &Options::default())?;
        let (counts, helpers) = counts(function)?;
        let params = signature
            .params
            .into_iter()
            .map(|p| Argument {
                columns: leaf_paths(&p.elem),
                name: p.name,
                c_type: p.c_type,
                mode: p.mode,
                pointer: p.pointer,
            })
            .collect();
        let sizes = function.sizes.len();
        Ok(Callee { name: c_name.to_owned(), sizes, params, declaration: code, structs, counts, helpers })
    }

    /// The arguments of a call, given the pieces of `main` that hold them.
    fn call(&self) -> String {
        let sizes = (0..self.sizes).map(|k| format!("size[{k}]"));
        let params = self
            .params
            .iter()
            .enumerate()
            .map(|(k, p)| if p.pointer { format!("data{k}") } else { format!("*data{k}") });
        format!("{}({})", self.name, sizes.chain(params).collect::<Vec<_>>().join(", "))
    }

    /// Functions `PREFIX_count_0`, … from the sizes to the number of elements of each parameter.
    fn count_functions(&self) -> String {
        self.counts
            .iter()
            .enumerate()
            .map(|(k, body)| {
                format!(
                    "static int64_t {}_count{k}(const int64_t *lozenge_size) {{\n    (void)lozenge_size;\n{body}}}\n\n",
                    self.name
                )
            })
            .collect()
    }
}

/// The runner of one function of a program.
///
/// # Errors
/// If the program has no function of this name (`T0004`), or the function's extents cannot be translated.
pub fn runner(program: &Program, function: &Name) -> Result<String, Diagnostic> {
    let names = function_names(program.functions.iter().map(|f| f.name.as_str()));
    let found = program.functions.iter().zip(&names).find(|(f, _)| f.name == *function);
    let Some((function, c_name)) = found else {
        return Err(Diagnostic::general(Code("T0004"), format!("the program has no function `{function}`")));
    };
    let callee = Callee::of(function, c_name)?;
    let mut out = format!(
        "/* Runs {c_name} on arrays from a file: PROGRAM INPUT OUTPUT WARMUP REPETITIONS SIZE... */\n"
    );
    out.push_str(text::INCLUDES);
    out.push_str(&declarations(std::slice::from_ref(&callee)));
    out.push_str(text::COMMON);
    if callee.params.iter().any(|p| p.mode != ParamMode::Out) {
        out.push_str(text::READ);
    }
    if callee.params.iter().any(|p| p.mode != ParamMode::In) {
        out.push_str(text::WRITE);
    }
    out.push_str(&callee.count_functions());
    out.push_str(&runner_main(&callee));
    Ok(out)
}

/// Structs, helpers and prototypes.
fn declarations(callees: &[Callee]) -> String {
    let (mut structs, mut helpers) = (Structs::default(), BTreeSet::new());
    for callee in callees {
        structs.extend(callee.structs.clone());
        helpers.extend(callee.helpers.iter().copied());
    }
    let mut out = String::new();
    for definition in structs.definitions() {
        out.push_str(definition);
        out.push('\n');
    }
    out.push_str(&helper_text(&helpers));
    for callee in callees {
        out.push_str(&text::prototype(&callee.declaration));
    }
    out.push('\n');
    out
}

fn runner_main(callee: &Callee) -> String {
    let Callee { name, sizes, params, .. } = callee;
    let mut out = String::from("int main(int argc, char **argv) {\n");
    let mut line = |text: String| {
        out.push_str("    ");
        out.push_str(&text);
        out.push('\n');
    };
    line(format!("if (argc != {}) {{", 5 + sizes));
    line(format!("    quit(2, \"usage: {name} INPUT OUTPUT WARMUP REPETITIONS and {sizes} sizes\");"));
    line("}".to_owned());
    line("const int64_t warmup = number(argv[3]), repetitions = number(argv[4]);".to_owned());
    line(format!("int64_t size[{}] = {{0}};", (*sizes).max(1)));
    line(format!("for (int k = 0; k < {sizes}; k++) {{"));
    line("    size[k] = number(argv[5 + k]);".to_owned());
    line("}".to_owned());
    line("FILE *input = fopen(argv[1], \"rb\");".to_owned());
    line("if (input == NULL) {".to_owned());
    line("    quit(2, \"cannot open the input file\");".to_owned());
    line("}".to_owned());
    for (k, p) in params.iter().enumerate() {
        let ty = &p.c_type;
        line(format!("/* {} */", p.name));
        line(format!("const int64_t count{k} = {name}_count{k}(size);"));
        line(format!("{ty} *data{k} = memory(count{k}, sizeof({ty}));"));
        if p.mode == ParamMode::Out {
            // whatever is not written shows
            line(format!("memset(data{k}, 0xA5, bytes(count{k}, sizeof({ty})));"));
            continue;
        }
        for (path, scalar) in &p.columns {
            line(column("read", k, path, *scalar));
        }
        if p.mode == ParamMode::InOut {
            line(format!("{ty} *first{k} = memory(count{k}, sizeof({ty}));"));
            line(format!("memcpy(first{k}, data{k}, bytes(count{k}, sizeof({ty})));"));
        }
    }
    line("fclose(input);".to_owned());
    line("for (int64_t k = 0; k < warmup + repetitions; k++) {".to_owned());
    for (k, p) in params.iter().enumerate().filter(|(_, p)| p.mode == ParamMode::InOut) {
        line(format!("    memcpy(data{k}, first{k}, bytes(count{k}, sizeof({})));", p.c_type));
    }
    line("    const double start = now();".to_owned());
    line(format!("    const int status = {};", callee.call()));
    line("    const double seconds = now() - start;".to_owned());
    line("    check(status);".to_owned());
    line("    if (k >= warmup) {".to_owned());
    line("        printf(\"%.9e\\n\", seconds);".to_owned());
    line("    }".to_owned());
    line("}".to_owned());
    line("FILE *output = fopen(argv[2], \"wb\");".to_owned());
    line("if (output == NULL) {".to_owned());
    line("    quit(5, \"cannot open the output file\");".to_owned());
    line("}".to_owned());
    for (k, p) in params.iter().enumerate().filter(|(_, p)| p.mode != ParamMode::In) {
        for (path, scalar) in &p.columns {
            line(column("write", k, path, *scalar));
        }
    }
    line("if (fclose(output) != 0) {".to_owned());
    line("    quit(5, \"cannot write the output file\");".to_owned());
    line("}".to_owned());
    for (k, p) in params.iter().enumerate() {
        if p.mode == ParamMode::InOut {
            line(format!("free(first{k});"));
        }
        line(format!("free(data{k});"));
    }
    line("return 0;".to_owned());
    out.push_str("}\n");
    out
}

/// Reads or writes one scalar of all elements of a parameter.
fn column(direction: &str, k: usize, path: &str, scalar: Scalar) -> String {
    let file = if direction == "read" { "input" } else { "output" };
    let width = scalar.bytes();
    if path.is_empty() {
        format!("{direction}_column({file}, data{k}, sizeof *data{k}, {width}, count{k});")
    } else {
        format!("{direction}_column({file}, &data{k}->{}, sizeof *data{k}, {width}, count{k});", &path[1..])
    }
}
