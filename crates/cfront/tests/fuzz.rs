//! No input panics, hangs or takes much memory: damaged kernels, truncated files, huge and deep
//! texts. Bounded in time.

use std::time::{Duration, Instant};

use cfront::{Language, Options};

/// A small generator of numbers: the same ones in every run.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % limit.max(1) as u64) as usize
    }
}

/// Parses text that was not preprocessed; what comes out is a program that prints and reads back.
fn parse(text: &str) -> bool {
    parse_in(text, Language::C)
}

fn parse_in(text: &str, language: Language) -> bool {
    let options = Options { language, ..Options::default() };
    let Ok(file) = cfront::parse_with(text, text, "fuzz.c", &options) else { return false };
    for region in &file.regions {
        let program = loops::Program { functions: vec![region.function.clone()] };
        let printed = program.to_string();
        assert_eq!(loops::parse(&printed).as_ref(), Ok(&program), "of\n{text}\nprinted\n{printed}");
        loops::validate::validate(&region.function);
    }
    let replacements: Vec<cfront::Replacement> = (0..file.regions.len())
        .map(|region| cfront::Replacement { region, text: ";".to_string(), ..Default::default() })
        .collect();
    cfront::splice(text, &file, &replacements).expect("what was parsed can be replaced");
    !file.regions.is_empty()
}

/// Kernels and test files with the includes and macros taken out, as far as lines tell.
fn seeds() -> Vec<String> {
    let mut all = golden::cases("c/kernels", "c");
    all.extend(golden::cases("cfront", "c"));
    for area in ["cfront", "cpp"] {
        let cpp = golden::cases(area, "cpp");
        (0..20).for_each(|_| all.extend(cpp.iter().cloned()));
    }
    let keep = |line: &&str| !line.starts_with('#') || line.contains("pragma");
    let strip =
        |text: &str| text.lines().filter(keep).collect::<Vec<_>>().join("\n").replace("DATA_TYPE", "double");
    all.iter().map(|case| strip(&case.input)).collect()
}

/// Pieces to put in, chosen for what they could break.
const PIECES: [&str; 70] = [
    "::",
    "std::min(",
    "std::size_t ",
    "template <class T>",
    "class X : public Y {",
    "namespace a::b {",
    "inline namespace {",
    "extern \"C\" {",
    "using x = ",
    "using namespace std;",
    "[&](int i) {",
    "auto [i, n] = ",
    "operator",
    "static_cast<double>(",
    "new double[n]",
    "double &",
    "R\"(",
    ">",
    "continue;",
    "break;",
    "do {",
    "} while (0);",
    "if (A[i] > 0) continue;",
    ", j = 0",
    ", j--",
    "i-- > 0;",
    "--i >= 0;",
    "(i)",
    "#pragma Scop\n",
    "#pragma \\\n scop // x\n",
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    ";",
    ",",
    "*",
    "&",
    "-",
    "+",
    "/ 0",
    "% 0",
    "/ 2",
    "? 1 :",
    "for (;;)",
    "if (0) else",
    "9223372036854775807",
    "18446744073709551615u",
    "0x",
    "1e400",
    "-1",
    "i",
    "n",
    "double",
    "unsigned",
    "A[i]",
    "A",
    "#pragma scop\n",
    "\n#pragma endscop\n",
    "struct",
    "int i;",
    "i++",
    "= 0",
    "<",
    "\"",
    "'",
    "é",
    "while",
];

fn mutate(text: &str, numbers: &mut Numbers) -> String {
    let mut out = text.to_string();
    for _ in 0..1 + numbers.below(4) {
        let mut words: Vec<&str> = out.split_inclusive([' ', '(', ')', '[', ']', ';', '\n']).collect();
        let at = numbers.below(words.len());
        match numbers.below(5) {
            0 => {
                words.remove(at);
            }
            1 => words.insert(at, PIECES[numbers.below(PIECES.len())]),
            2 => {
                let other = numbers.below(words.len());
                words.swap(at, other);
            }
            3 => {
                let word = words[numbers.below(words.len())];
                words[at] = word;
            }
            _ => words.truncate(at + 1),
        }
        out = words.concat();
        if out.is_empty() {
            out.push(' ');
        }
    }
    out
}

#[test]
fn damaged_programs_end_in_a_result() {
    let seeds = seeds();
    let mut numbers = Numbers(0x5eed_cafe);
    let start = Instant::now();
    let (mut runs, mut taken) = (0, 0);
    while runs < 3000 && start.elapsed() < Duration::from_secs(20) {
        let mutated = mutate(&seeds[numbers.below(seeds.len())], &mut numbers);
        let language = if runs % 3 == 0 { Language::Cpp } else { Language::C };
        taken += usize::from(parse_in(&mutated, language));
        runs += 1;
    }
    assert!(
        runs > 100 && taken > runs / 20,
        "{taken} of {runs} were taken: the damage is too large to test anything"
    );
}

#[test]
fn truncated_files_end_in_a_result() {
    for seed in seeds().iter().filter(|s| s.len() < 2500).take(12) {
        for end in (0..seed.len()).step_by(7).filter(|end| seed.is_char_boundary(*end)) {
            parse(&seed[..end]);
            parse_in(&seed[..end], Language::Cpp);
        }
    }
}

/// A function with this text in its region.
fn region(text: &str) -> String {
    format!("void f(int n, double A[restrict n]) {{\n#pragma scop\n{text}\n#pragma endscop\n}}\n")
}

#[test]
fn deep_and_huge_texts_end_in_a_result() {
    let many = |text: &str, count: usize| text.repeat(count);
    let start = Instant::now();
    for opening in
        ["(", "[", "{", "((", "A[", "f(", "-", "*", "!", "1+(", "x?", "int (", "{(", "(double)", "++"]
    {
        let long = many(opening, 100_000);
        for text in [long.clone(), format!("double {long}"), region(&format!("A[0] = {long}")), region(&long)]
        {
            assert!(!parse(&text));
            assert!(!parse_in(&text, Language::Cpp));
        }
    }
    for opening in
        ["namespace a {", "class A {", "a<", "a::", "struct a : b {", "template <", "extern \"C\" {", "[&] {"]
    {
        let text = format!("{}{}", many(opening, 100_000), region("A[0] = 1;"));
        parse_in(&text, Language::Cpp);
        assert!(!parse_in(&region(&many(opening, 100_000)), Language::Cpp), "{opening}");
    }
    assert!(!parse(&many("(", 10_000_000)));
    let loops = many("for (int i = 0; i < n; i++) ", 100_000);
    assert!(!parse(&region(&format!("{loops} A[0] = 1;"))));
    assert!(!parse(&region(&many("if (n > 1) {", 100_000))));
    assert!(!parse(&region(&format!("A[0] = 1{};", many(" + 1", 100_000)))));
    assert!(!parse(&region(&format!("A[0] = {}n;", many("n > 1 ? 2 : ", 10_000)))));
    // What is too deep outside of the region is passed.
    assert!(parse(&format!("int x{};\n{}", many("[2]", 100_000), region("A[0] = 1;"))));
    // Deep, but not too deep.
    assert!(parse(&region(&format!("A[0] = {}1{};", many("(", 60), many(")", 60)))));
    assert!(parse(&region(&format!("A[0] = 1{};", many(" + 1", 200)))));
    let nest: String = (0..40).map(|k| format!("for (int i{k} = 0; i{k} < n; i{k}++) ")).collect();
    assert!(parse(&region(&format!("{nest} A[0] = 1;"))));
    assert!(start.elapsed() < Duration::from_secs(120), "{:?}", start.elapsed());
}

#[test]
fn thousands_of_statements_are_taken_in_time() {
    let start = Instant::now();
    let mut text = String::from("void f(int n, double A[restrict n][n], double x[restrict n]) {\n");
    (0..500).for_each(|k| text.push_str(&format!("  double s{k}; int i{k};\n")));
    text.push_str("#pragma scop\n");
    for k in 0..5000 {
        let v = k % 500;
        text.push_str(&format!(
            "for (i{v} = {k}; i{v} < n; i{v}++) {{ s{v} = x[i{v}] > 0 ? 1 : 2; A[i{v}][{k}] += s{v} * x[i{v} / 2]; }}\n"
        ));
    }
    text.push_str("#pragma endscop\n}\n");
    assert!(parse(&text));
    assert!(start.elapsed() < Duration::from_secs(240), "{:?}", start.elapsed());
}
