//! The micro-kernels of contractions against loops: every function of every kind, for each number
//! of steps up to more than what is written out without loops, with few and no blocks, bit by bit.

mod common;

use std::process::Command;

use targets::athread::MicroKernels;

/// What all functions are tested with. Places are as far apart as no tile has them, so that a
/// distance that is mistaken for another one shows.
const COMMON: &str = r#"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <simd.h>

__thread unsigned long emulated_vector_operations;
static double counted, stated;

void emulated_compute(double cycles, double operations)
{
  stated += cycles;
  counted += operations;
}

void emulated_misaligned(const void *address, unsigned multiple)
{
  printf("%p is no multiple of %u\n", (void *)address, multiple);
  exit(1);
}

static unsigned state = 1;

static double number(void)
{
  state = state * 1103515245 + 12345;
  return ((state >> 8) % 2001 - 1000.0) / 7;
}
"#;

/// The test of a function, where a word in capitals stands for what it is.
const TEST: &str = r#"
static void test_NAME(void)
{
  static TYPE c[1024] __attribute__((aligned(64))), expected[1024];
  static TYPE a[PRODUCTS][1024], b[PRODUCTS][4096] __attribute__((aligned(64)));
  for (long n = 0; n <= 41; n++)
    for (long blocks = 0; blocks <= 3; blocks++)
      for (long groups = 0; groups <= 2; groups++) {
        const long columns = 4 * VECTORS * blocks, rows = ROWS * groups, c_row = columns + (APART ? 3 : 4);
        long a_row[PRODUCTS], a_step[PRODUCTS], b_row[PRODUCTS];
        for (long i = 0; i < 1024; i++)
          c[i] = expected[i] = (TYPE)number();
        for (long p = 0; p < PRODUCTS; p++) {
          a_row[p] = n % 2 ? n + p : 1;
          a_step[p] = n % 2 ? 1 : rows + 1 + p;
          b_row[p] = columns + (APART ? 1 + p : 4 + 4 * p);
          for (long i = 0; i < 1024; i++)
            a[p][i] = (TYPE)number();
          for (long i = 0; i < 4096; i++)
            b[p][i] = (TYPE)number();
        }
        for (long i = 0; i < rows; i++)
          for (long j = 0; j < columns; j++)
            for (long k = 0; k < n; k++) {
              TYPE added = a[0][i * a_row[0] + k * a_step[0]] * b[0][APART + k * b_row[0] + j];
              for (long p = 1; p < PRODUCTS; p++)
                added = a[p][i * a_row[p] + k * a_step[p]] * b[p][APART + k * b_row[p] + j] + added;
              expected[APART + i * c_row + j] += added;
            }
        counted = stated = 0;
        NAME(c + APART, c_row, OPERANDS n, blocks, groups);
        if (memcmp(c, expected, sizeof c) != 0 || counted != 2.0 * PRODUCTS * n * rows * columns || stated <= 0) {
          printf("NAME: %ld steps, %ld blocks, %ld groups\n", n, blocks, groups);
          exit(1);
        }
      }
}
"#;

/// What is in a name: `contract_[PRODUCTS_]TYPEs_ROWSxVECTORS[_anywhere]`.
fn test(name: &str, products: usize) -> String {
    let ty = if name.contains("floats") { "float" } else { "double" };
    let (block, apart) = name.strip_suffix("_anywhere").map_or((name, "0"), |block| (block, "1"));
    let (rows, vectors) = block.rsplit('_').next().and_then(|b| b.split_once('x')).expect("rows and vectors");
    let operands =
        (0..products).map(|p| format!("a[{p}], a_row[{p}], a_step[{p}], b[{p}] + {apart}, b_row[{p}],"));
    TEST.replace("NAME", name)
        .replace("TYPE", ty)
        .replace("PRODUCTS", &products.to_string())
        .replace("VECTORS", vectors)
        .replace("ROWS", rows)
        .replace("APART", apart)
        .replace("OPERANDS", &operands.collect::<Vec<_>>().join(" "))
}

#[test]
fn every_function_adds_up_in_order() {
    let folder = common::scratch("micro-kernels");
    let (mut program, mut calls, mut sources) = (COMMON.to_owned(), String::new(), Vec::new());
    for files in MicroKernels::all() {
        std::fs::write(folder.join(files.header_name()), &files.header).expect("the folder can be written");
        std::fs::write(folder.join(files.source_name()), &files.source).expect("the folder can be written");
        program.push_str(&format!("\n#include \"{}\"\n", files.header_name()));
        let products = files.source.lines().next().map_or(0, |line| line.matches(" * ").count());
        let names = files.header.lines().filter_map(|line| line.strip_prefix("void ")?.split_once('('));
        let names: Vec<&str> = names.map(|(name, _)| name).collect();
        assert_eq!(names.len(), if products == 1 { 16 } else { 8 }, "{}", files.header);
        for name in names {
            program.push_str(&test(name, products));
            calls.push_str(&format!("  test_{name}();\n"));
        }
        sources.push(files.source_name());
    }
    program.push_str(&format!("\nint main(void)\n{{\n{calls}  return 0;\n}}\n"));
    std::fs::write(folder.join("program.c"), program).expect("the folder can be written");
    let include = format!("-I{}", golden::root().join("runtime/athread/include").display());
    let flags = ["-std=gnu11", "-ffp-contract=off", "-Wno-psabi", "-Wall", "-Werror", "-march=native"];
    for (text, level) in sources.iter().map(|text| (text.as_str(), "-O2")).chain([("program.c", "-O1")]) {
        let object = text.replace(".c", ".o");
        let mut gcc = Command::new("gcc");
        gcc.args(flags).args([level, &include, "-c", text, "-o", &object]).current_dir(&folder);
        let output = gcc.output().expect("gcc runs");
        assert!(output.status.success(), "{text}: {}", String::from_utf8_lossy(&output.stderr));
    }
    let objects = sources.iter().map(|text| text.replace(".c", ".o"));
    let mut link = Command::new("gcc");
    link.args(objects).args(["program.o", "-o", "program", "-lm"]).current_dir(&folder);
    assert!(link.status().expect("gcc runs").success());
    let output = Command::new(folder.join("program")).output().expect("the program runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
}
