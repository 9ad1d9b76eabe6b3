//! A `main` that runs generated functions on random data and prints times and checksums.
//!
//! It stands alone: sizes come from the command line, nothing is read, and only text is written.
//! The command runs functions on a user's arrays.

mod text;

use std::collections::BTreeSet;

use loops::{Diagnostic, Function, Name, ParamMode, Program, Scalar};

use crate::c::CFunction;
use crate::openmp::Options;
use crate::openmp::harness::{
    Done, Helper, Structs, counts, function_names, helper_text, leaf_paths, translate,
};

/// A program `PROGRAM [FUNCTION] SIZE…` that runs a function of the loop program on random data,
/// five times, and prints the least time and the sum of all numbers that come out.
///
/// # Errors
/// If a function's extents cannot be translated.
pub fn quick_main(program: &Program) -> Result<String, Diagnostic> {
    let names = function_names(program.functions.iter().map(|f| f.name.as_str()));
    let callees: Vec<Callee> = program
        .functions
        .iter()
        .zip(&names)
        .map(|(f, name)| Callee::of(f, name))
        .collect::<Result<_, _>>()?;
    let mut out = String::from("/* A quick run on random data: PROGRAM [FUNCTION] SIZE... */\n");
    out.push_str(text::INCLUDES);
    out.push_str(&declarations(&callees));
    if callees.is_empty() {
        out.push_str("int main(void) {\n    return 0;\n}\n");
        return Ok(out);
    }
    out.push_str(text::COMMON);
    let runs: String = callees.iter().map(|c| c.count_functions() + &run(c)).collect();
    let (uniform, next) = (runs.contains("uniform()"), runs.contains("next()"));
    if uniform || next {
        out.push_str(text::NEXT);
    }
    if uniform {
        out.push_str(text::UNIFORM);
    }
    out.push_str(&runs);
    out.push_str("int main(int argc, char **argv) {\n");
    if let [only] = callees.as_slice() {
        out.push_str(&format!("    run_{}(argc - 1, argv + 1);\n    return 0;\n", only.name));
    } else {
        for callee in &callees {
            out.push_str(&format!(
                "    if (argc > 1 && strcmp(argv[1], \"{0}\") == 0) {{\n        run_{0}(argc - 2, argv + 2);\n        return 0;\n    }}\n",
                callee.name
            ));
        }
        let all: Vec<&str> = callees.iter().map(|c| c.name.as_str()).collect();
        out.push_str(&format!(
            "    quit(2, \"the first argument names a function: {}\");\n    return 2;\n",
            all.join(", ")
        ));
    }
    out.push_str("}\n");
    Ok(out)
}

fn run(callee: &Callee) -> String {
    let Callee { name, sizes, params, .. } = callee;
    let mut out = format!("static void run_{name}(int count, char **sizes) {{\n");
    let mut line = |text: String| {
        out.push_str("    ");
        out.push_str(&text);
        out.push('\n');
    };
    line(format!("if (count != {sizes}) {{"));
    line(format!("    quit(2, \"{name} takes {sizes} sizes\");"));
    line("}".to_owned());
    line(format!("int64_t size[{}] = {{0}};", (*sizes).max(1)));
    line("for (int k = 0; k < count; k++) {".to_owned());
    line("    size[k] = number(sizes[k]);".to_owned());
    line("}".to_owned());
    for (k, p) in params.iter().enumerate() {
        let ty = &p.c_type;
        line(format!("/* {} */", crate::foreign_names::comment_text(p.name.as_str())));
        line(format!("const int64_t count{k} = {name}_count{k}(size);"));
        line(format!("{ty} *data{k} = memory(count{k}, sizeof({ty}));"));
        if p.mode == ParamMode::InOut {
            line(format!("{ty} *first{k} = memory(count{k}, sizeof({ty}));"));
        }
        let target = if p.mode == ParamMode::InOut { "first" } else { "data" };
        line(format!("for (int64_t i = 0; i < count{k}; i++) {{"));
        for (path, scalar) in &p.columns {
            let value = match (p.mode, scalar) {
                (ParamMode::Out, _) => "0",
                (_, Scalar::F32) => "(float)uniform()",
                (_, Scalar::F64) => "uniform()",
                (_, Scalar::I32) => "(int32_t)(next() % 10)",
                (_, Scalar::I64) => "(int64_t)(next() % 10)",
                (_, Scalar::Bool) => "next() % 2 == 0",
                (_, Scalar::I8) => "(int8_t)next()",
                (_, Scalar::U8) => "(uint8_t)next()",
                (_, Scalar::I16) => "(int16_t)next()",
                // A number from 1 to just below 2, by its bits.
                (_, Scalar::F16) => "(uint16_t)(0x3c00 | next() % 1024)",
                (_, Scalar::U16) => "(uint16_t)next()",
                (_, Scalar::U32) => "(uint32_t)(next() % 10)",
                (_, Scalar::U64) => "(uint64_t)(next() % 10)",
            };
            line(format!("    {target}{k}[i]{path} = {value};"));
        }
        line("}".to_owned());
    }
    line("double least = 0.0;".to_owned());
    line("for (int k = 0; k < 5; k++) {".to_owned());
    for (k, p) in params.iter().enumerate().filter(|(_, p)| p.mode == ParamMode::InOut) {
        line(format!("    memcpy(data{k}, first{k}, bytes(count{k}, sizeof({})));", p.c_type));
    }
    line("    const double start = now();".to_owned());
    line(format!("    const int status = {};", callee.call()));
    line("    const double seconds = now() - start;".to_owned());
    line("    check(status);".to_owned());
    line("    least = k == 0 || seconds < least ? seconds : least;".to_owned());
    line("}".to_owned());
    line("double sum = 0.0;".to_owned());
    for (k, p) in params.iter().enumerate().filter(|(_, p)| p.mode != ParamMode::In) {
        line(format!("for (int64_t i = 0; i < count{k}; i++) {{"));
        for (path, _) in &p.columns {
            line(format!("    sum += (double)data{k}[i]{path};"));
        }
        line("}".to_owned());
    }
    line(format!("printf(\"{name}: %.6f ms, checksum %.9g\\n\", least * 1e3, sum);"));
    for (k, p) in params.iter().enumerate() {
        if p.mode == ParamMode::InOut {
            line(format!("free(first{k});"));
        }
        line(format!("free(data{k});"));
    }
    out.push_str("}\n\n");
    out
}

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

    /// Functions `NAME_count0`, … from the sizes to the number of elements of each parameter.
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
