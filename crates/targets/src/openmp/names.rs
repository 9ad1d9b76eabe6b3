//! Which identifiers of the hub can stand in C, and what the others become.
//!
//! A name that is a word of C, a macro or a function that generated code uses gets a trailing
//! underscore; characters that C does not allow become underscores; a name that is taken in its
//! scope gets a number. All of it depends on the program only.

use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

/// Words that no identifier may be: keywords of C (and of C++, for the header), macros and types of
/// the headers that generated code includes, and what generated code itself defines.
const RESERVED: &str = "auto break case char const continue default do double else enum extern float for goto if inline int \
long register restrict return short signed sizeof static struct switch typedef union unsigned void volatile while \
bool true false asm typeof alignas alignof atomic complex imaginary generic noreturn \
and and_eq bitand bitor catch class compl concept constexpr decltype delete explicit export friend mutable namespace \
new noexcept not not_eq nullptr operator or or_eq private protected public reinterpret_cast requires static_assert \
static_cast template this thread_local throw try typeid typename using virtual wchar_t xor xor_eq \
int8_t int16_t int32_t int64_t uint8_t uint16_t uint32_t uint64_t size_t ptrdiff_t intptr_t uintptr_t intmax_t uintmax_t \
NULL INFINITY NAN HUGE_VAL HUGE_VALF EOF FILE errno assert stdin stdout stderr linux unix i386 \
INT32_MIN INT32_MAX INT64_MIN INT64_MAX UINT32_MAX UINT64_MAX SIZE_MAX PTRDIFF_MAX INT64_C OK OUT_OF_MEMORY BAD_SIZES status \
main malloc calloc realloc free memcpy memset memmove posix_memalign abort exit \
fabsf fabs sqrtf sqrt expf exp logf log tanhf tanh sinf sin cosf cos floorf floor ceilf ceil powf pow fminf fmin fmaxf fmax";

/// What a program links against: harmless as variables, not as functions, which would stand in for
/// it.
static LIBRARY: LazyLock<HashSet<&str>> = LazyLock::new(|| listed(include_str!("library.names")));

/// [`RESERVED`], and the macros of headers.
static TAKEN: LazyLock<HashSet<&str>> = LazyLock::new(|| {
    let mut words = listed(include_str!("macros.names"));
    words.extend(RESERVED.split_whitespace());
    words
});

/// The words of a list, without its first line.
fn listed(text: &'static str) -> HashSet<&'static str> {
    text.lines().filter(|line| !line.starts_with('#')).flat_map(str::split_whitespace).collect()
}

/// Whether no identifier may be this word.
pub(crate) fn is_reserved(word: &str) -> bool {
    TAKEN.contains(word)
}

/// Whether a program links against something of this name.
pub(crate) fn is_of_library(word: &str) -> bool {
    LIBRARY.contains(word)
}

/// Identifiers in scope.
#[derive(Clone, Debug)]
pub struct Names {
    taken: HashSet<String>,
    /// Numbers below these are taken behind a name, so that many of one name are not all tried each
    /// time.
    free: HashMap<String, u64>,
}

impl Names {
    /// No name is in scope but those that C and generated code use.
    pub fn new() -> Names {
        Names { taken: HashSet::new(), free: HashMap::new() }
    }

    /// A C identifier for `name` that is free now; it is taken until [`Names::release`].
    pub fn take(&mut self, name: &str) -> String {
        let base = self.legal(name);
        let mut k = self.free.get(&base).copied().unwrap_or(1);
        let mut candidate = numbered(&base, k);
        while self.taken.contains(&candidate) {
            k += 1;
            candidate = numbered(&base, k);
        }
        self.free.insert(base, k + 1);
        self.taken.insert(candidate.clone());
        candidate
    }

    /// Takes one of the reserved words, which no hub name becomes.
    pub(crate) fn take_reserved(&mut self, word: &str) -> String {
        self.taken.insert(word.to_owned());
        word.to_owned()
    }

    /// The name is out of scope.
    pub fn release(&mut self, name: &str) {
        self.taken.remove(name);
        // It may be free as a name alone, or as one with a number.
        let mut release = |base: &str, k: u64| {
            if let Some(free) = self.free.get_mut(base) {
                *free = k.min(*free);
            }
        };
        release(name, 1);
        if let Some((base, k)) = name.rsplit_once('_').and_then(|(b, k)| Some((b, k.parse().ok()?))) {
            release(base, k);
        }
    }

    fn legal(&self, name: &str) -> String {
        let mut text: String =
            name.chars().map(|c| if c.is_ascii_alphanumeric() || c == '_' { c } else { '_' }).collect();
        if text.starts_with(|c: char| c.is_ascii_digit() || c == '_') || text.is_empty() {
            text.insert(0, 'x');
        }
        if is_reserved(&text)
            || text.starts_with("lozenge_")
            || text.starts_with("LOZENGE_")
            || text.starts_with("pair_")
        {
            text.push('_');
        }
        text
    }
}

/// The name with its number; the first has none.
fn numbered(base: &str, k: u64) -> String {
    if k == 1 { base.to_owned() } else { format!("{base}_{k}") }
}

/// C names for functions: as for variables, and no function of the standard library either.
pub fn function_names<'a>(names: impl Iterator<Item = &'a str>) -> Vec<String> {
    let mut scope = Names::new();
    names
        .map(|name| {
            let made = scope.legal(name);
            if is_of_library(&made) { scope.take(&format!("{made}_")) } else { scope.take(name) }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_smallest_free_number_is_taken() {
        let mut names = Names::new();
        assert_eq!(["x", "x", "x_2", "x"].map(|name| names.take(name)), ["x", "x_2", "x_2_2", "x_3"]);
        names.release("x_2");
        assert_eq!(["x", "x"].map(|name| names.take(name)), ["x_2", "x_4"]);
        names.release("x_2");
        assert_eq!(["x_2", "x"].map(|name| names.take(name)), ["x_2", "x_5"]);
        names.release("x");
        assert_eq!(names.take("x"), "x");
    }
}
