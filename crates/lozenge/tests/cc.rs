//! `lozenge cc` in the place of a compiler: projects of `tests/cc` are built with it and with the
//! system's compiler, and their programs print the same.
#![allow(missing_docs)]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// A fresh folder, and an empty one for temporary files, which has to stay empty.
struct Work {
    folder: PathBuf,
    temporary: PathBuf,
}

impl Work {
    fn new(name: &str) -> Work {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("cc").join(name);
        let _ = fs::remove_dir_all(&folder);
        let temporary = folder.join("temporary");
        fs::create_dir_all(&temporary).expect("the target folder can be written");
        Work { folder, temporary }
    }

    /// With a copy of a project.
    fn of(project: &str, name: &str) -> Work {
        let work = Work::new(&format!("{project}-{name}"));
        let from = golden::root().join("tests/cc").join(project).join(".");
        let copied = Command::new("cp").arg("-r").arg(from).arg(&work.folder).status();
        assert!(copied.is_ok_and(|status| status.success()));
        work
    }

    /// Runs a line of the shell, in which `lozenge` is this program.
    fn shell(&self, line: &str) -> Output {
        let bin = Path::new(env!("CARGO_BIN_EXE_lozenge")).parent().expect("a program is in a folder");
        let path = std::env::var("PATH").unwrap_or_default();
        let mut command = Command::new("sh");
        command.args(["-c", line]).current_dir(&self.folder).env("TMPDIR", &self.temporary);
        command.env("PATH", format!("{}:{path}", bin.display())).env("LC_ALL", "C");
        for name in [
            "CC",
            "CXX",
            "CFLAGS",
            "LOZENGE_CC",
            "LOZENGE_CXX",
            "LOZENGE_AUTO",
            "LOZENGE_REMARKS",
            "MAKEFLAGS",
        ] {
            command.env_remove(name);
        }
        let output = command.env("OMP_NUM_THREADS", "2").output().expect("sh runs");
        let left: Vec<_> = fs::read_dir(&self.temporary).expect("it is there").flatten().collect();
        assert!(left.is_empty(), "`{line}` leaves {left:?}");
        output
    }

    /// The same for a line that has to succeed: what it prints.
    fn run(&self, line: &str) -> String {
        let output = self.shell(line);
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "`{line}`: {}{said}", String::from_utf8_lossy(&output.stdout));
        String::from_utf8(output.stdout).expect("it prints text")
    }

    fn write(&self, name: &str, text: &str) {
        fs::write(self.folder.join(name), text).expect("the folder can be written");
    }
}

/// Whether an object has parallel loops of OpenMP.
const PARALLEL: &str = "grep -q GOMP_parallel";

const REGION: &str = "#include \"count.h\"
void f(double a[restrict N][N], double b[restrict N][N]) {
#pragma scop
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++)
      for (int k = 0; k < N; k++)
        a[i][j] += b[i][k] * b[k][j];
#pragma endscop
}
";

#[test]
fn a_makefile_builds_with_it() {
    let (plain, ours) = (Work::of("make", "plain"), Work::of("make", "ours"));
    plain.run("make CC=gcc");
    ours.run("make CC='lozenge cc'");
    assert_eq!(ours.run("./program"), plain.run("./program"));
    ours.run(&format!("{PARALLEL} build/product.o && ! {PARALLEL} build/smooth.o"));
    // Dependences name the user's files, and only these.
    for file in ["product", "smooth", "main"] {
        let sorted = format!("tr -d '\\\\\\n' < build/{file}.d | tr -s ' ' '\\n' | sed 's|^[.]/||' | sort");
        assert_eq!(ours.run(&sorted), plain.run(&sorted));
    }
    ours.run("make -q CC='lozenge cc'");
    ours.run("sleep 0.01; touch src/zero.h");
    assert!(!ours.shell("make -q CC='lozenge cc'").status.success());
    let names = ours.run("strings -a build/product.o build/main.o");
    assert!(!names.contains("lozenge-"), "{names}");
    ours.run("make clean && LOZENGE_AUTO=1 make CC='lozenge cc'");
    assert_eq!(ours.run("./program"), plain.run("./program"));
}

#[test]
fn a_cmake_project_builds_with_it() {
    let (plain, ours) = (Work::of("cmake", "plain"), Work::of("cmake", "ours"));
    plain.run("CC=gcc cmake -S . -B build && cmake --build build");
    ours.run("CC='lozenge cc' cmake -S . -B build && cmake --build build");
    assert_eq!(ours.run("build/program"), plain.run("build/program"));
    ours.run(&format!("{PARALLEL} build/CMakeFiles/heat.dir/heat.c.o"));
}

#[test]
fn a_configure_script_is_content_with_it() {
    let (plain, ours) = (Work::of("configure", "plain"), Work::of("configure", "ours"));
    plain.run("mkdir out && cd out && CC=gcc ../configure && make");
    ours.run("mkdir out && cd out && CC='lozenge cc' ../configure && make");
    // The program prints lines of its source, too.
    assert_eq!(ours.run("out/program"), plain.run("out/program"));
    ours.run(&format!("{PARALLEL} out/sums.lo && test -s out/libsums.so && cd out && make -q"));
}

#[test]
fn projects_of_cpp_build_with_it() {
    let (plain, ours) = (Work::of("cpp", "plain"), Work::of("cpp", "ours"));
    plain.run("make CXX=g++");
    ours.run("make CXX='lozenge c++'");
    assert_eq!(ours.run("./program"), plain.run("./program"));
    ours.run(&format!("{PARALLEL} blur.o && ! {PARALLEL} main.o"));
    ours.run("CXX='lozenge c++' cmake -S . -B build && cmake --build build");
    assert_eq!(ours.run("build/program"), plain.run("./program"));
    ours.run(&format!("{PARALLEL} build/CMakeFiles/program.dir/blur.cc.o"));
    // By clang, and by the compiler of C, which does not link the library of C++.
    ours.run("rm -f *.o program; LOZENGE_CXX=clang++-16 make CXX='lozenge c++'");
    assert_eq!(ours.run("./program"), plain.run("./program"));
    ours.run("lozenge cc -O2 -c blur.cc -o blur.o && g++ -fopenmp -o other main.o blur.o");
    assert_eq!(ours.run("./other"), plain.run("./program"));
}

#[test]
fn options_mean_what_they_mean_to_the_compiler() {
    let work = Work::new("options");
    work.write("count.h", "#define N 200\n");
    work.write("f.c", REGION);
    work.write("main.c", "void f(double (*)[200], double (*)[200]);\nstatic double a[200][200], b[200][200];\nint main(void) { b[3][5] = 1.5; b[5][7] = 2.0; f(a, b); return (int)a[3][7]; }\n");
    for line in [
        "lozenge cc -O2 -o p main.c f.c",
        "lozenge cc -O2 -c f.c && lozenge cc -op main.c f.o",
        "echo '-O2 -c \"f.c\"' > words && lozenge cc @words && lozenge cc -o p main.c f.o",
        "cp f.c g.text && lozenge cc -x c -c g.text -o g.o && lozenge cc -o p main.c g.o",
        "lozenge cc -O2 -S f.c && grep -q GOMP_parallel f.s && lozenge cc -o p main.c f.s",
        "lozenge cc -xc -c - -o f.o < f.c && grep -q GOMP_parallel f.o && lozenge cc -o p main.c f.o",
        "lozenge cc -E f.c > f.i && grep -q 'pragma scop' f.i && lozenge cc -o p main.c f.i",
        "mkdir -p deep && cp f.c count.h deep && lozenge cc -c deep/f.c main.c && lozenge cc -o p main.o f.o",
        "LOZENGE_CC='gcc -m64' lozenge cc -o p main.c f.c",
        "LOZENGE_CC=clang-16 lozenge cc -o p main.c f.c",
        "CC='lozenge cc' lozenge cc -o p main.c f.c",
        "LOZENGE_OPENMP=0 lozenge cc -c f.c main.c && ! grep -q GOMP f.o && gcc -o p main.o f.o",
        "lozenge cc -Wall -Wextra -Werror -pedantic -Wconversion -o p main.c f.c -Wno-unknown-pragmas",
        "lozenge cc -std=gnu99 -o p main.c f.c",
    ] {
        let line = format!("rm -f p *.o *.s; {line}; ./p");
        assert_eq!(work.shell(&line).status.code(), Some(3), "{line}");
    }
    assert_eq!(work.run("lozenge cc -MM f.c"), "f.o: f.c count.h\n");
    // Compilers break the lines of such a file where the names are long.
    let joined = work.run("lozenge cc -MD -c f.c && tr -d '\\\\\\n' < f.d | tr -s ' '");
    assert!(joined.starts_with("f.o: f.c ") && !joined.contains("lozenge-"), "{joined}");
    assert!(work.run("lozenge cc --version").contains("Free Software"));
    assert_eq!(work.run("lozenge cc -dumpmachine"), work.run("cc -dumpmachine"));
}

#[test]
fn what_cannot_be_translated_is_compiled_as_it_is() {
    let work = Work::new("refused");
    work.write("count.h", "#define N 40\n");
    let refused =
        "int g(int *);\nvoid f(int n, int *a) {\n#pragma scop\n  while (g(a)) a[n]++;\n#pragma endscop\n}\n";
    work.write("refused.c", refused);
    let silent = work.shell("lozenge cc -c refused.c && test -s refused.o");
    assert!(silent.status.success() && silent.stderr.is_empty(), "{silent:?}");
    let told = work.shell("LOZENGE_REMARKS=1 lozenge cc -c refused.c");
    let said = String::from_utf8_lossy(&told.stderr);
    assert!(told.status.success() && said.contains("warning[C0304]"), "{said}");
    // Errors are the compiler's own, with the lines of the file, and leave nothing.
    work.write("wrong.c", &format!("{REGION}\nint h(void) {{ return nothing; }}\n"));
    let own = work.shell("lozenge cc -c wrong.c");
    let its = work.shell("cc -c wrong.c");
    assert_eq!((own.status.code(), own.stderr), (its.status.code(), its.stderr));
    assert!(!work.folder.join("wrong.o").exists());
    for line in ["-c missing.c", "-o p refused.c", "-no-such-option -c refused.c", "", "-c"] {
        let (own, its) = (work.shell(&format!("lozenge cc {line}")), work.shell(&format!("cc {line}")));
        assert_eq!(own.status.code(), its.status.code(), "{line}");
    }
    assert_eq!(work.shell("lozenge cc --lozenge-unknown -c refused.c").status.code(), Some(2));
    assert_eq!(work.shell("LOZENGE_CC=lozenge lozenge cc -c refused.c").status.code(), Some(4));
    assert_eq!(work.shell("LOZENGE_CC=no-such-cc lozenge cc -c refused.c").status.code(), Some(4));
}

#[test]
fn directives_of_the_user_keep_their_meaning() {
    let work = Work::new("openmp");
    work.write("count.h", "#define N 40\n");
    // Without -fopenmp, `_OPENMP` is not defined and `omp` is a comment.
    work.write(
        "own.c",
        &format!("{REGION}\n#ifdef _OPENMP\nint parallel = 1;\n#else\nint parallel = 0;\n#endif\n"),
    );
    work.write("main.c", "extern int parallel;\nint main(void) {\n  int n = 0;\n#pragma omp parallel reduction(+: n)\n  n++;\n  return 10 * n + parallel;\n}\n");
    let code = |line: &str| work.shell(&format!("{line} && ./p")).status.code();
    assert_eq!(code("lozenge cc -o p main.c own.c"), Some(10));
    assert_eq!(code("lozenge cc -c main.c own.c && lozenge cc -o p main.o own.o"), Some(10));
    assert_eq!(code("lozenge cc -fopenmp -o p main.c own.c"), Some(21));
}
