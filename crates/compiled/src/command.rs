//! What a command of a C compiler asks for, if it is one whose output can be kept.

use std::ffi::OsString;
use std::path::Path;

/// Flags with which a command reads or writes more than is looked at here. Packaged caches of
/// compilers keep objects alone, and only of files that have the same path in each run.
const BEYOND: [&str; 25] = [
    "@",
    "-B",
    "-E",
    "-L",
    "-M",
    "-S",
    "-T",
    "-f",
    "-x",
    "-v",
    "-###",
    "--coverage",
    "--help",
    "--version",
    "-dump",
    "-print",
    "-save-temps",
    "-specs",
    "-Wl,-Map",
    "-Wl,-T",
    "-Wl,-rpath",
    "-Wp,",
    "-gsplit",
    "--sysroot",
    "-working-directory",
];

/// Of the flags with `-f`, those that only choose how code is made.
const PLAIN: [&str; 19] = [
    "-fPIC",
    "-fPIE",
    "-fassociative",
    "-fast",
    "-fcommon",
    "-ffast-math",
    "-ffp-",
    "-fgnu",
    "-fmax",
    "-fno-",
    "-fopenmp",
    "-fpic",
    "-fpie",
    "-fsanitize",
    "-fstack",
    "-ftrapv",
    "-funroll",
    "-fvisibility",
    "-fwrapv",
];

/// Flags of the preprocessor whose value is the next argument.
const PREPROCESSOR: [&str; 5] = ["-I", "-D", "-U", "-include", "-isystem"];

/// A command that makes one file out of named ones.
#[derive(Debug, Default, PartialEq)]
pub struct Plan {
    /// The file that is written.
    pub output: String,
    /// C files.
    pub texts: Vec<String>,
    /// Object files and archives.
    pub objects: Vec<String>,
    /// Flags of the compiler and the linker.
    pub flags: Vec<String>,
    /// Flags of the preprocessor.
    pub preprocessor: Vec<String>,
}

impl Plan {
    /// Whether a message names the folder of one of the texts, or of headers.
    pub fn is_named_in(&self, message: &[u8]) -> bool {
        let message = String::from_utf8_lossy(message);
        let texts = self.texts.iter().filter(|text| text.contains('/')).map(|text| folder(text));
        texts.chain(self.searched().filter(|folder| folder.contains('/'))).any(|f| message.contains(&f))
    }

    /// The folders in which headers are looked for, as they are written.
    pub fn searched(&self) -> impl Iterator<Item = String> {
        let flags = ["-I", "-isystem"];
        self.preprocessor.iter().enumerate().filter_map(move |(k, argument)| {
            let before = k.checked_sub(1).and_then(|before| self.preprocessor.get(before));
            let named = before.filter(|before| flags.contains(&before.as_str())).map(|_| argument.as_str());
            let joined = argument.strip_prefix("-I").filter(|folder| !folder.is_empty());
            named.or(joined).map(|folder| folder.trim_end_matches('/').to_owned())
        })
    }
}

/// The folder of a file, as it is written.
pub fn folder(file: &str) -> String {
    Path::new(file).parent().map_or(String::new(), |folder| folder.display().to_string())
}

/// What the command does; nothing if that is not to make one file out of named ones.
pub fn plan(arguments: &[OsString]) -> Option<Plan> {
    let mut plan = Plan::default();
    let mut rest = arguments.iter();
    while let Some(argument) = rest.next() {
        let argument = argument.to_str()?;
        let starts = |flags: &[&str]| flags.iter().any(|flag| argument.starts_with(flag));
        if argument == "-o" {
            plan.output = rest.next()?.to_str()?.to_owned();
        } else if PREPROCESSOR.contains(&argument) {
            plan.preprocessor.extend([argument.to_owned(), rest.next()?.to_str()?.to_owned()]);
        } else if starts(&["-I", "-D", "-U"]) {
            plan.preprocessor.push(argument.to_owned());
        } else if argument.starts_with(['-', '@']) {
            if argument == "-" || (starts(&BEYOND) && !starts(&PLAIN)) {
                return None;
            }
            plan.flags.push(argument.to_owned());
        } else if argument.ends_with(".c") || argument.ends_with(".i") {
            plan.texts.push(argument.to_owned());
        } else if argument.ends_with(".o") || argument.ends_with(".a") {
            plan.objects.push(argument.to_owned());
        } else {
            return None;
        }
    }
    let folder = folder(&plan.output);
    let there = folder.is_empty() || Path::new(&folder).is_dir();
    (!plan.output.is_empty() && !plan.texts.is_empty() && there).then_some(plan)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Option<Plan> {
        plan(&text.split(' ').map(OsString::from).collect::<Vec<_>>())
    }

    #[test]
    fn a_program_of_named_files_is_kept() {
        let plan = of("-O2 -fopenmp -D N=3 -DM=2 a.c b.o -o a -lm").expect("a plan");
        assert_eq!(plan.output, "a");
        assert_eq!(plan.texts, ["a.c"]);
        assert_eq!(plan.objects, ["b.o"]);
        assert_eq!(plan.flags, ["-O2", "-fopenmp", "-lm"]);
        assert_eq!(plan.preprocessor, ["-D", "N=3", "-DM=2"]);
    }

    #[test]
    fn folders_of_headers_are_found() {
        let plan = of("-I a/b -Ic/ -D I=d -isystem e f.c -o f").expect("a plan");
        assert_eq!(plan.searched().collect::<Vec<_>>(), ["a/b", "c", "e"]);
    }

    #[test]
    fn what_reads_or_writes_more_goes_to_the_compiler() {
        for text in [
            "a.c",
            "-o a a.o",
            "-E a.c -o a",
            "-L. a.c -o a -lb",
            "-fprofile-use a.c -o a",
            "-fplugin=p.so a.c -o a",
            "@flags a.c -o a",
            "- -o a",
            "-x c - -o a",
            "a.c b.s -o a",
            "-MD a.c -o a",
            "-Wp,-MD,a.d a.c -o a",
            "-save-temps a.c -o a",
            "a.c -o /no/such/folder/a",
        ] {
            assert_eq!(of(text), None, "{text}");
        }
        assert!(of("-fwrapv -fno-plt a.c -o a").is_some());
    }
}
