//! A `main` that runs generated functions on random data and prints times and checksums.

use loops::{Diagnostic, ParamMode, Program, Scalar};

use super::{Callee, declarations, text};
use crate::openmp::build::function_names;

/// Random numbers that are the same on every machine.
const NEXT: &str = "\
static uint64_t state = 88172645463325252u;

static uint64_t next(void) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state;
}

";

const UNIFORM: &str = "\
/* Uniform in [-1, 1). */
static double uniform(void) {
    return (double)(next() >> 11) / 4503599627370496.0 - 1.0;
}

";

/// A program `PROGRAM [FUNCTION] SIZE…` that runs a function of the loop program on random data, five times, and prints the least
/// time and the sum of all numbers that come out.
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
        out.push_str(NEXT);
    }
    if uniform {
        out.push_str(UNIFORM);
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
        line(format!("/* {} */", p.name));
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
