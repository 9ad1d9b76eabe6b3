//! Compiled C as functions of this process.
//!
//! The generated function is called through a small one behind it in the same file, which has one
//! type for all of them: sizes and places of arguments.

use std::collections::HashMap;
use std::ffi::{c_int, c_void};
use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use libloading::os::unix::{Library, RTLD_LOCAL, RTLD_NOW};
use lozenge::Failure;
use lozenge::files::{Scratch, reason};
use lozenge::process::{Compiler, Optimise};
use targets::Signature;

use crate::cache;

/// The function that calls the generated one.
type Entry = unsafe extern "C" fn(*const i64, *const *mut c_void, c_int) -> c_int;

/// A compiled function. It stays loaded as long as the process, since threads of OpenMP may.
#[derive(Clone, Copy, Debug)]
pub struct Object(Entry);

impl Object {
    /// Calls it on as many threads as OpenMP chooses, or on this many.
    ///
    /// # Safety
    /// There is a size for each of the signature, and for each of its parameters the address of
    /// elements of its type, as many as its extents at these sizes say; those that it writes
    /// overlap no other.
    pub unsafe fn call(self, sizes: &[i64], places: &[*mut c_void], threads: c_int) -> c_int {
        // SAFETY: as the caller promises.
        unsafe { (self.0)(sizes.as_ptr(), places.as_ptr(), threads) }
    }
}

/// Those that are loaded, by their keys.
static LOADED: Mutex<Option<HashMap<String, Object>>> = Mutex::new(None);

/// Compiles C and loads its function, unless the cache or this process has it.
///
/// # Errors
/// What the C compiler refuses; `X0304` if the object can't be loaded.
pub fn load(source: &str, signature: &Signature, optimise: Optimise) -> Result<Object, Failure> {
    let compiler = Compiler::find()?;
    let text = format!("{source}\n{}", entry(signature));
    let flags: Vec<&str> =
        ["-std=c99", "-fopenmp", "-shared", "-fPIC"].iter().chain(optimise.flags()).copied().collect();
    let command = compiler.command.display().to_string();
    let key = cache::key(&[
        &text,
        &command,
        &compiler.version(),
        &flags.join(" "),
        &machine(),
        env!("CARGO_PKG_VERSION"),
    ]);
    if let Some(object) = known(&key) {
        return Ok(object);
    }
    if let Some(object) = cache::find(&key).and_then(|path| open(&path).ok()) {
        return Ok(remember(key, object));
    }
    let scratch = Scratch::new()?;
    let (file, made) = (scratch.path().join("program.c"), scratch.path().join("program.so"));
    fs::write(&file, lozenge::encoding::written(&text)).map_err(|e| {
        Failure::environment("X0004", format!("can't write {}: {}", file.display(), reason(&e)))
    })?;
    compiler.compile_plain(&[&file], &made, &flags, &[])?;
    cache::put(&key, &made);
    Ok(remember(key, open(&made)?))
}

fn known(key: &str) -> Option<Object> {
    LOADED.lock().unwrap_or_else(PoisonError::into_inner).as_ref()?.get(key).copied()
}

fn remember(key: String, object: Object) -> Object {
    let mut loaded = LOADED.lock().unwrap_or_else(PoisonError::into_inner);
    loaded.get_or_insert_with(HashMap::new).insert(key, object);
    object
}

fn open(path: &Path) -> Result<Object, Failure> {
    let cannot =
        |e: libloading::Error| Failure::environment("X0304", format!("can't load a compiled object: {e}"));
    // SAFETY: the file was just made by the C compiler from code of ours, or its digest says that
    // it was; its constructors are those of the C compiler.
    let library = unsafe { Library::open(Some(path), RTLD_NOW | RTLD_LOCAL) }.map_err(cannot)?;
    // SAFETY: `entry` wrote a function of this type under this name.
    let found = unsafe { library.get::<Entry>(b"lozenge_call\0") }.map_err(cannot)?;
    let entry = *found;
    std::mem::forget(library);
    Ok(Object(entry))
}

/// The text of the function that calls the generated one.
fn entry(signature: &Signature) -> String {
    let sizes = (0..signature.sizes.len()).map(|k| format!("size[{k}]"));
    let arrays = signature.params.iter().enumerate().map(|(k, param)| match param.pointer {
        true => format!("array[{k}]"),
        false => format!("*(const {} *)array[{k}]", param.c_type),
    });
    let arguments: Vec<String> = sizes.chain(arrays).collect();
    let mut text = String::from(
        "#ifdef _OPENMP\n#include <omp.h>\n#endif\n\n\
         int lozenge_call(const int64_t *size, void *const *array, int threads);\n\n\
         int lozenge_call(const int64_t *size, void *const *array, int threads) {\n    \
         (void)size;\n    (void)array;\n#ifdef _OPENMP\n    int before = 0;\n    if (threads > 0) {\n        \
         before = omp_get_max_threads();\n        omp_set_num_threads(threads);\n    }\n#endif\n",
    );
    let _ = writeln!(text, "    int status = {}({});", signature.c_name, arguments.join(", "));
    text.push_str(
        "#ifdef _OPENMP\n    if (threads > 0) {\n        omp_set_num_threads(before);\n    }\n#endif\n    \
         (void)threads;\n    return status;\n}\n",
    );
    text
}

/// What of the machine decides which instructions `-march=native` chooses.
fn machine() -> String {
    const TELLING: [&str; 11] = [
        "vendor_id",
        "cpu family",
        "model",
        "model name",
        "stepping",
        "flags",
        "Features",
        "CPU implementer",
        "CPU architecture",
        "CPU variant",
        "CPU part",
    ];
    let text = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let first = text.split("\n\n").next().unwrap_or_default();
    let telling = |line: &&str| line.split_once(':').is_some_and(|(name, _)| TELLING.contains(&name.trim()));
    let lines: Vec<&str> = first.lines().filter(telling).collect();
    format!("{}\n{}", std::env::consts::ARCH, lines.join("\n"))
}
