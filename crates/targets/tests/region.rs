//! Statements that are spliced into C: golden files, and runs against the interpreter inside a C
//! function.

mod common;

use std::process::Command;

use common::differential::{agree, sizes_of};
use common::runner::runner;
use common::{COMPILERS, installed, program, promoted, scratch, succeed};
use loops::{Function, ParamMode};
use targets::{Options, RegionArray, RegionNames, emit, emit_region};

/// Arrays whose name begins with `flat` are plain pointers.
fn names(function: &Function) -> RegionNames {
    let arrays = function.params.iter().map(|p| {
        (
            p.name.clone(),
            RegionArray {
                c_name: format!("{}_c", p.name),
                linear: p.name.starts_with("flat"),
                pointer: false,
                members: Vec::new(),
            },
        )
    });
    RegionNames {
        arrays: arrays.collect(),
        int_sizes: function.sizes.iter().cloned().collect(),
        indent: "  ".to_owned(),
        ..RegionNames::default()
    }
}

#[test]
fn regions_use_the_names_around_them() {
    golden::check("targets/region", "loops", "c", |case| {
        let function = &promoted(&program(case)).functions[0];
        emit_region(function, &names(function), &Options::default()).unwrap()
    });
}

/// The function around a region: it gives the region the objects that it expects, from the
/// arguments of a generated function.
fn around(function: &Function, region: &str) -> String {
    let empty = Function { body: Vec::new(), ..function.clone() };
    let program = loops::Program { functions: vec![empty] };
    let signature = &emit(&program, &Options::default()).unwrap().signatures[0];
    let mut params: Vec<String> = function.sizes.iter().map(|s| format!("int64_t {s}_arg")).collect();
    let (mut before, mut after) = (String::new(), String::new());
    for size in &function.sizes {
        before.push_str(&format!("  const int {size} = (int){size}_arg;\n"));
    }
    for p in &signature.params {
        let (name, ty) = (&p.name, &p.c_type);
        if !p.pointer {
            params.push(format!("{ty} {name}_c"));
            continue;
        }
        params.push(format!("const {ty} *{name}_arg"));
        if p.dims.is_empty() {
            before.push_str(&format!("  {ty} {name}_c = *{name}_arg;\n"));
            after.push_str(&format!("  *({ty} *){name}_arg = {name}_c;\n"));
        } else if name.starts_with("flat") || p.dims.len() == 1 {
            before.push_str(&format!("  {ty} *restrict {name}_c = ({ty} *){name}_arg;\n"));
        } else {
            let inner: String = p.dims[1..].iter().map(|d| format!("[{d}]")).collect();
            before.push_str(&format!("  {ty} (*restrict {name}_c){inner} = ({ty} (*){inner}){name}_arg;\n"));
        }
        assert_ne!(p.mode, ParamMode::Out, "regions read and write");
    }
    let name = &signature.c_name;
    let params = params.join(", ");
    format!(
        "#include <math.h>\n#include <stdint.h>\nint {name}({params});\nint {name}({params}) {{\n{before}{region}{after}  return 0;\n}}\n"
    )
}

#[test]
fn regions_agree_with_the_interpreter() {
    for compiler in COMPILERS.iter().filter(|c| installed(c)) {
        for case in golden::cases("targets/region", "loops") {
            let program = promoted(&program(&case));
            let function = &program.functions[0];
            let region = emit_region(function, &names(function), &Options::default()).unwrap();
            for (k, flags) in
                [&["-O1", "-fopenmp", "-fsanitize=address,undefined"][..], &["-O3", "-Wno-unknown-pragmas"]]
                    .into_iter()
                    .enumerate()
            {
                // clang's OpenMP is not sanitized
                if k == 0 && *compiler != "gcc" {
                    continue;
                }
                let folder = scratch(&format!("region-{compiler}-{}-{k}", case.name));
                std::fs::write(folder.join("code.c"), around(function, &region)).unwrap();
                let done = emit(&program, &Options::default()).unwrap();
                std::fs::write(folder.join("declared.h"), &done.header).unwrap();
                std::fs::write(folder.join("main.c"), runner(&done.signatures)).unwrap();
                let output = Command::new(compiler)
                    .current_dir(&folder)
                    .args(["-std=c99", "-Wall", "-Wextra", "-Werror", "-ffp-contract=off"])
                    .args(flags)
                    .args(["code.c", "main.c", "-o", "run", "-lm"])
                    .output()
                    .unwrap();
                succeed(&format!("{compiler} in {}", folder.display()), &output);
                for (seed, sizes) in sizes_of(function).iter().enumerate() {
                    // C has no arrays of no elements
                    if sizes.values().all(|v| *v > 0) {
                        agree(&folder, 0, function, sizes, seed as u64);
                    }
                }
            }
        }
    }
}

/// Random programs as regions, with sanitizers.
#[test]
fn random_regions_agree_with_the_interpreter() {
    let functions: String = (1000..1030).map(|seed| common::generate::function(seed, false)).collect();
    let program = loops::parse(&functions).unwrap_or_else(|e| panic!("{}\n{functions}", e[0]));
    let folder = scratch("region-random");
    let text: String = program
        .functions
        .iter()
        .map(|f| around(f, &emit_region(f, &names(f), &Options::default()).unwrap()))
        .collect();
    let done = emit(&program, &Options::default()).unwrap();
    std::fs::write(folder.join("code.c"), text).unwrap();
    std::fs::write(folder.join("declared.h"), &done.header).unwrap();
    std::fs::write(folder.join("main.c"), runner(&done.signatures)).unwrap();
    let output = Command::new("gcc")
        .current_dir(&folder)
        .args(["-std=c99", "-O1", "-g", "-fopenmp", "-ffp-contract=off"])
        .args(["-fsanitize=address,undefined", "-fno-sanitize-recover=all"])
        .args(["code.c", "main.c", "-o", "run", "-lm"])
        .output()
        .unwrap();
    succeed(&format!("gcc in {}", folder.display()), &output);
    for (number, function) in program.functions.iter().enumerate() {
        for (seed, sizes) in sizes_of(function).iter().skip(3).step_by(2).enumerate() {
            agree(&folder, number, function, sizes, seed as u64);
        }
    }
}
