//! Every kernel of `tests/c/kernels` is taken, and its regions, printed from their loop programs
//! and put back, compute the same bits as the original.

use std::path::{Path, PathBuf};
use std::process::Command;

use cfront::{AccessForm, CFile, Region, Replacement};
use targets::openmp::{Member, RegionArray, RegionNames, emit_region};

/// A file of the folder after the system's preprocessor.
fn preprocess(path: &Path) -> String {
    let output = Command::new("gcc")
        .args(["-E", "-dD", "-std=gnu11"])
        .arg(path)
        .output()
        .expect("gcc is needed for these tests");
    assert!(output.status.success(), "the preprocessor failed on {}", path.display());
    String::from_utf8(output.stdout).expect("UTF-8 in, UTF-8 out")
}

/// A region's statements in the C around it, in the order of the original.
fn print(region: &Region) -> Result<String, String> {
    let info = &region.info;
    let array = |v: &cfront::Variable| {
        let members = v.members().into_iter();
        let members = members.map(|(after, arrow, name)| (after, Member { name, arrow })).collect();
        let (c_name, linear) = (v.owner().to_owned(), v.access == AccessForm::Linear);
        (v.name.clone(), RegionArray { c_name, linear, pointer: false, members })
    };
    let names = RegionNames {
        sizes: info.sizes.iter().map(|s| (s.name.clone(), s.text.clone())).collect(),
        int_sizes: info.sizes.iter().filter(|s| s.is_int()).map(|s| s.name.clone()).collect(),
        arrays: info.variables.iter().map(array).collect(),
        taken: info.identifiers.clone(),
        indent: info.indent.clone(),
    };
    emit_region(&region.function, &names, &targets::Options::default()).map_err(|d| d.to_string())
}

/// The file with all regions replaced by their own programs.
fn rebuilt(original: &str, file: &CFile) -> Result<String, String> {
    let replacements: Result<Vec<Replacement>, String> = file
        .regions
        .iter()
        .enumerate()
        .map(|(region, r)| Ok(Replacement { region, text: print(r)?, ..Replacement::default() }))
        .collect();
    cfront::splice(original, file, &replacements?).map_err(|d| d.to_string())
}

/// Sizes that every kernel is run at beside its own: of its first, second, … size.
const SIZES: [&[usize]; 5] = [&[0], &[1], &[2], &[7], &[5, 3, 11, 2, 7, 4]];

/// The names of the sizes of a kernel that are variables.
fn size_names(text: &str) -> Vec<&str> {
    text.split("= SIZE(").skip(1).filter_map(|rest| rest.split(')').next()).collect()
}

/// Compiles a program; the arrays that come out at its own sizes, and at others.
fn outputs(source: &Path, binary: &Path, names: &[&str]) -> Result<Vec<Vec<u8>>, String> {
    let data = binary.with_extension("data");
    let mut gcc = Command::new("gcc");
    gcc.args(["-std=gnu11", "-O0", "-ffp-contract=off", "-Wno-unknown-pragmas", "-I"]);
    gcc.arg(golden::folder("c/kernels")).arg(source).arg("-o").arg(binary).arg("-lm");
    let compiled = gcc.output().expect("gcc is needed for these tests");
    if !compiled.status.success() {
        return Err(String::from_utf8_lossy(&compiled.stderr).into_owned());
    }
    let mut all = Vec::new();
    let others = if names.is_empty() { &[][..] } else { &SIZES[..] };
    for sizes in std::iter::once(None).chain(others.iter().map(Some)) {
        let mut run = Command::new(binary);
        run.arg(&data);
        for (k, name) in names.iter().enumerate() {
            if let Some(sizes) = sizes {
                run.env(name, sizes[k % sizes.len()].to_string());
            }
        }
        let run = run.output().expect("it can be started");
        if !run.status.success() {
            return Err(format!("ended with {} at sizes {sizes:?}", run.status));
        }
        all.push(std::fs::read(&data).map_err(|e| e.to_string())?);
    }
    Ok(all)
}

fn check(path: &Path, name: &str, text: &str, work: &Path) -> Result<(), String> {
    let file = cfront::parse(text, &preprocess(path), name)
        .map_err(|all| all.iter().map(|d| format!("{d}\n")).collect::<String>())?;
    if file.regions.is_empty() {
        return Err("no region".to_string());
    }
    for region in &file.regions {
        if std::env::var("SHOW").is_ok_and(|only| name.contains(&only)) {
            println!("{}\n{:#?}", region.function, region.info);
        }
        let info = &region.info;
        if let Some(pair) = info.may_alias.first() {
            return Err(format!("{pair:?}"));
        }
        if let Some(warning) = region.warnings.first() {
            return Err(warning.to_string());
        }
    }
    let source = work.join(format!("{name}.again.c"));
    std::fs::write(&source, rebuilt(text, &file)?).map_err(|e| e.to_string())?;
    let expected = outputs(path, &work.join(format!("{name}.original")), &size_names(text))?;
    let actual = outputs(&source, &work.join(format!("{name}.again")), &size_names(text))?;
    if expected != actual {
        return Err(format!("other bits; see {}", source.display()));
    }
    Ok(())
}

#[test]
fn every_kernel_computes_the_same_from_its_loop_program() {
    let work = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("kernels");
    std::fs::create_dir_all(&work).expect("a folder for the work");
    let mut failures = String::new();
    let cases = golden::cases("c/kernels", "c");
    for case in &cases {
        if let Err(failure) = check(&case.path, &case.name, &case.input, &work) {
            failures.push_str(&format!("{}: {failure}\n", case.name));
        }
    }
    assert!(failures.is_empty(), "\n{failures}");
}
