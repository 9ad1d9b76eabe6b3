//! Results put back: every byte outside of the regions stays, line ends too.

use cfront::{Options, Replacement, parse, parse_with, splice};

fn put(original: &str, texts: &[&str]) -> String {
    let file = parse(original, original, "put.c").expect("a file that is taken");
    let replacements: Vec<Replacement> = texts
        .iter()
        .enumerate()
        .map(|(region, text)| Replacement {
            region,
            text: text.to_string(),
            includes: vec!["<omp.h>".into()],
            ..Replacement::default()
        })
        .collect();
    splice(original, &file, &replacements).expect("replacements of this file")
}

const TWO: &str = "/* \u{e9} */ int i;\nvoid f(int n, double x[n])\n{\n    #pragma scop\n    x[0] = 1; // lost\n    #pragma endscop\n\tg( ) ;\n#pragma scop\n\n\tx[1] = 2;\n#pragma endscop // kept\n}  \n";

#[test]
fn regions_are_replaced_by_whole_lines() {
    let out = put(TWO, &["    a;\n    b;", "\tc;"]);
    let expected = "#include <omp.h>\n/* \u{e9} */ int i;\nvoid f(int n, double x[n])\n{\n    /* scop: lines 4 to 6 of the original */\n    a;\n    b;\n    /* endscop */\n\tg( ) ;\n\t/* scop: lines 8 to 11 of the original */\n\tc;\n\t/* endscop */\n}  \n";
    assert_eq!(out, expected);
}

#[test]
fn what_has_no_replacement_stays() {
    assert_eq!(put(TWO, &[]), TWO);
    let out = put(TWO, &["    a;"]);
    assert!(out.ends_with(&TWO[TWO.find("\tg").expect("it is there")..]), "{out}");
}

#[test]
fn line_ends_are_those_of_the_file() {
    let text = "void f(int n, double x[n]) {\r\n#pragma scop\r\n  x[0] = 1;\r\n#pragma endscop\r\n}\r\n";
    let out = put(text, &["  a;\n  b;\n"]);
    assert_eq!(
        out,
        "#include <omp.h>\r\nvoid f(int n, double x[n]) {\r\n  /* scop: lines 2 to 4 of the original */\r\n  a;\r\n  b;\r\n  /* endscop */\r\n}\r\n"
    );
}

#[test]
fn headers_are_included_once() {
    let text = format!("#include <omp.h>\n{TWO}");
    assert!(put(&text, &["a;", "b;"]).matches("omp.h").count() == 1);
}

#[test]
fn loop_variables_of_the_outside_are_restored() {
    let text = "int f(int n, double x[n])\n{\n  int i;\n#pragma scop\n  for (i = 3; i < n; i++) x[i] = 1;\n#pragma endscop\n  return i;\n}\n";
    let out = put(text, &["  a;"]);
    assert!(out.contains("  a;\n  i = n > 3 ? n : 3;\n  /* endscop */\n  return i;\n"), "{out}");
}

#[test]
fn regions_of_another_text_are_refused() {
    let file = parse(TWO, TWO, "put.c").expect("a file that is taken");
    let replacement = |region| Replacement { region, text: "a;".to_string(), ..Replacement::default() };
    assert!(splice("int x;\n", &file, &[replacement(0)]).is_err());
    assert!(splice(TWO, &file, &[replacement(2)]).is_err());
    assert!(splice(TWO, &file, &[replacement(0), replacement(0)]).is_err());
}

#[test]
fn what_is_assumed_is_tested_and_the_original_text_is_the_other_version() {
    let text = "int f(unsigned p, unsigned q, int x[64])\r\n{\r\n  unsigned i;\r\n#pragma scop\r\n  for (i = p - q; i < p; i++) x[i] = 1; // as it was\r\n#pragma endscop\r\n  return i;\r\n}\r\n";
    let file = parse(text, text, "put.c").expect("a file that is taken");
    let info = &file.regions[0].info;
    assert_eq!(
        info.assumptions.iter().map(|a| a.condition.as_str()).collect::<Vec<_>>(),
        ["(long)p >= (long)q"]
    );
    let replacement = Replacement {
        text: "    a;\n    b;\n".to_string(),
        conditions: vec!["p <= 1UL << 48".into()],
        ..Replacement::default()
    };
    let out = splice(text, &file, &[replacement]).expect("a replacement of this file");
    let epilogue = info.epilogue.join("\r\n    ");
    assert!(epilogue.starts_with("i = "), "{epilogue}");
    let expected = format!(
        "  /* scop: lines 4 to 6 of the original */\r\n  if (!(p <= 1UL << 48\r\n          && (long)p >= (long)q)) {{\r\n  for (i = p - q; i < p; i++) x[i] = 1; // as it was\r\n  }} else {{\r\n    a;\r\n    b;\r\n    {epilogue}\r\n  }}\r\n  /* endscop */\r\n  return i;\r\n"
    );
    assert!(out.contains(&expected), "{out}");
}

/// A nest that stands beside something on its lines, and where C expects one statement.
#[test]
fn nests_beside_other_text_come_on_lines_of_their_own() {
    let text = "void f(int n, double x[n]) { for (int i = 0; i < n; i++) x[i] = 1; x[0] = 2;\n  if (n > 3) for (int i = 0; i < n; i++) { x[i] = 3; } // kept\n  else x[1] = 4; }\n";
    let options = Options { auto: true, ..Options::default() };
    let file = parse_with(text, text, "put.c", &options).expect("a file that is taken");
    let replacement = |region, conditions: &[&str]| Replacement {
        region,
        text: "a;".into(),
        conditions: conditions.iter().map(|c| (*c).to_owned()).collect(),
        ..Replacement::default()
    };
    let out = splice(text, &file, &[replacement(0, &["n > 9"]), replacement(1, &[])]).expect("two regions");
    assert_eq!(
        out,
        "void f(int n, double x[n]) { \n/* scop: lines 1 to 1 of the original */\nif (!(n > 9)) {\nfor (int i = 0; i < n; i++) x[i] = 1;\n} else {\na;\n}\n/* endscop */\n x[0] = 2;\n  if (n > 3) \n  {\n  /* scop: lines 2 to 2 of the original */\na;\n  /* endscop */\n  }\n // kept\n  else x[1] = 4; }\n"
    );
}

/// Compilers warn of a `static` function when no call of it is left.
#[test]
fn functions_whose_calls_are_replaced_stay_in_use() {
    let text = "static double twice(double x) { return x + x; }\nvoid f(int n, double x[n]) {\n#pragma scop\n  for (int i = 0; i < n; i++) x[i] = twice(x[i]);\n#pragma endscop\n}\n";
    let out = put(text, &["  a;"]);
    assert!(out.contains("  a;\n  (void)twice;\n  /* endscop */\n"), "{out}");
}

/// The first region of a text whose own lines run for speed.
fn put_beside(original: &str) -> String {
    let file = parse(original, original, "put.c").expect("a file that is taken");
    let conditions = vec!["n > 9".to_owned()];
    let text = "  a;".to_owned();
    let replacement = Replacement { text, conditions, keeps_pace: true, ..Replacement::default() };
    splice(original, &file, &[replacement]).expect("a replacement of this file")
}

#[test]
fn a_text_that_is_all_of_a_function_gets_one_of_its_own() {
    let text = "int k;\n\n/* It. */\nstatic void f(int n, double x[n])\n{\n  int i, j = 1;\n#pragma scop\n  for (i = j; i < n; i++)\n    x[i] = 1;\n#pragma endscop\n}\n";
    let expected = "int k;\n\n__attribute__((noinline)) static void lozenge_text_of_f(int n, double x[n])\n{\n  int i, j = 1;\n  for (i = j; i < n; i++)\n    x[i] = 1;\n}\n\n/* It. */\nstatic void f(int n, double x[n])\n{\n  int i, j = 1;\n  /* scop: lines 7 to 10 of the original */\n  if (!(n > 9)) {\n    lozenge_text_of_f(n, x); (void)i; (void)j;\n  } else {\n  a;\n";
    let out = put_beside(text);
    assert!(out.starts_with(expected), "{out}");
}

#[test]
fn a_text_that_is_a_part_of_a_function_stays_where_it_is() {
    let body = "#pragma scop\n  for (int i = 0; i < n; i++)\n    x[i] = 1;\n#pragma endscop\n";
    for (head, behind) in [
        ("int f(int n, double x[n])\n{\n", "  return 0;\n}\n"),
        ("void g(void);\nvoid f(int n, double x[n])\n{\n  g();\n", "}\n"),
        ("inline void f(int n, double x[n])\n{\n", "}\n"),
        ("int lozenge_text_of_f;\nvoid f(int n, double x[n])\n{\n", "}\n"),
    ] {
        let out = put_beside(&format!("{head}{body}{behind}"));
        assert!(out.contains("  if (!(n > 9)) {\n  for (int i = 0; i < n; i++)\n"), "{out}");
    }
}
