//! The memory of a run of a model.

use std::fmt::Write;

use super::{Model, WORKSPACE};

/// From so many bytes on, the memory of a run is asked for in large pages: the C library gives this
/// much back to the system after each run, and every page of it is fresh in the next one.
pub(super) const LARGE: usize = 32 << 20;

/// The function that takes the memory of a run that may be large.
pub(super) fn arena() -> String {
    format!(
        "#ifdef __linux__
#include <sys/mman.h>
#endif

/* Memory of a run; NULL if there is none. If it is large, it is fresh in each run, and large pages are made faster. */
static void *lozenge_arena(size_t bytes)
{{
    void *block = NULL;
    if (posix_memalign(&block, bytes < {LARGE} ? 64 : 2097152, bytes)) return NULL;
#ifdef MADV_HUGEPAGE
    if (bytes >= {LARGE}) (void)madvise(block, bytes, MADV_HUGEPAGE);
#endif
    return block;
}}

"
    )
}

/// What the function begins with if its memory is a number of bytes.
pub(super) fn entry(model: &Model) -> String {
    let bytes = model.arena_bytes + model.workspace_bytes;
    if bytes == 0 {
        return "    int status = 0;\n".to_owned();
    }
    let take = match bytes >= LARGE {
        true => format!("!(arena = lozenge_arena({bytes}))"),
        false => format!("posix_memalign(&arena, 64, {bytes})"),
    };
    let mut text = format!(
        "    char *a;\n    void *arena;\n    int status = 0;\n    if ({take}) return 1;\n    a = arena;\n"
    );
    if model.workspace_bytes > 0 {
        let _ = writeln!(
            text,
            "    {WORKSPACE}.from = {WORKSPACE}.at = a + {};\n    {WORKSPACE}.to = a + {bytes};",
            model.arena_bytes
        );
    }
    text
}
