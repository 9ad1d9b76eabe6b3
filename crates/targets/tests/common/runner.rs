//! A C program around generated functions: `run FUNCTION SIZE… COUNT…` reads the file `in`, calls
//! the function (by its number) twice and writes `out`. It ends with 0, or with 40 and what the
//! function returned.
//!
//! Files hold the columns of the parameters one after another, as [`loops::Data`] has them.

use std::fmt::Write as _;

use loops::{Elem, ParamMode, Scalar};
use targets::Signature;

const COMMON: &str = r#"
static void columns(FILE *file, int reading, void *first, size_t stride, size_t width, long count) {
    for (long i = 0; i < count; i++) {
        void *place = (char *)first + (size_t)i * stride;
        if ((reading ? fread(place, width, 1, file) : fwrite(place, width, 1, file)) != 1) {
            exit(9);
        }
    }
}
"#;

fn leaves(elem: &Elem) -> Vec<(String, Scalar)> {
    match elem {
        Elem::Scalar(scalar) => vec![(String::new(), *scalar)],
        Elem::Pair(a, b) => {
            let under = |member: &'static str, elem: &Elem| {
                leaves(elem).into_iter().map(move |(path, scalar)| (format!(".{member}{path}"), scalar))
            };
            under("x1", a).chain(under("x2", b)).collect()
        }
    }
}

/// The text of the program; it includes `declared.h`.
pub fn runner(signatures: &[Signature]) -> String {
    let mut out = String::from(
        "#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n#include \"declared.h\"\n",
    );
    out.push_str(COMMON);
    let mut cases = String::new();
    for (k, signature) in signatures.iter().enumerate() {
        out.push_str(&run(k, signature));
        let _ = writeln!(cases, "    case {k}:\n        return run{k}(argc - 1, argv + 1);");
    }
    let _ = writeln!(
        out,
        "int main(int argc, char **argv) {{\n    switch (argc > 1 ? atoi(argv[1]) : -1) {{\n{cases}    default:\n        return 9;\n    }}\n}}"
    );
    out
}

fn run(number: usize, signature: &Signature) -> String {
    let mut out = String::new();
    let sizes = signature.sizes.len();
    let mut body =
        format!("    if (argc != {}) {{\n        return 9;\n    }}\n", 1 + sizes + signature.params.len());
    body.push_str("    (void)argv;\n    FILE *in = fopen(\"in\", \"rb\"), *out = fopen(\"out\", \"wb\");\n");
    let (mut reset, mut written, mut freed) = (String::new(), String::new(), String::new());
    let mut arguments: Vec<String> =
        (0..sizes).map(|k| format!("strtol(argv[{}], NULL, 10)", k + 1)).collect();
    for (k, p) in signature.params.iter().enumerate() {
        let ty = &p.c_type;
        let _ = writeln!(body, "    const long count{k} = strtol(argv[{}], NULL, 10);", 1 + sizes + k);
        let _ = writeln!(body, "    {ty} *data{k} = malloc((size_t)count{k} * sizeof({ty}));");
        let _ = writeln!(body, "    {ty} *first{k} = malloc((size_t)count{k} * sizeof({ty}));");
        // what is not written shows
        let _ = writeln!(body, "    memset(first{k}, 0xA5, (size_t)count{k} * sizeof({ty}));");
        for (path, scalar) in leaves(&p.elem) {
            let place =
                |array: &str| format!("(char *){array}{k} + ((char *)&first{k}[0]{path} - (char *)first{k})");
            let (stride, width) = (format!("sizeof({ty})"), scalar.bytes());
            if p.mode != ParamMode::Out {
                let _ =
                    writeln!(body, "    columns(in, 1, {}, {stride}, {width}, count{k});", place("first"));
            }
            if p.mode != ParamMode::In {
                let _ =
                    writeln!(written, "    columns(out, 0, {}, {stride}, {width}, count{k});", place("data"));
            }
        }
        let _ = writeln!(reset, "        memcpy(data{k}, first{k}, (size_t)count{k} * sizeof({ty}));");
        let _ = writeln!(freed, "    free(first{k});\n    free(data{k});");
        arguments.push(if p.pointer { format!("data{k}") } else { format!("*data{k}") });
    }
    let call = format!("{}({})", signature.c_name, arguments.join(", "));
    let _ = writeln!(
        out,
        "static int run{number}(int argc, char **argv) {{\n{body}    int status = 0;\n    for (int k = 0; k < 2 && status == 0; k++) {{\n\
         {reset}        status = {call};\n    }}\n{written}{freed}    fclose(in);\n    fclose(out);\n    return status == 0 ? 0 : 40 + status;\n}}"
    );
    out
}
