//! The fixed parts of such a `main`.

use crate::c::CFunction;
use crate::c_print::{Layout, Printer};

/// The declaration of a function.
pub fn prototype(function: &CFunction) -> String {
    let mut printer = Printer::new(Layout::Readable);
    printer.prototype(&CFunction { comment: Vec::new(), ..function.clone() });
    printer.finish()
}

/// Includes.
pub(crate) const INCLUDES: &str = "\
#define _POSIX_C_SOURCE 200112L
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

";

/// Errors, arguments, memory and time.
pub const COMMON: &str = "\
static void quit(int code, const char *message) {
    fprintf(stderr, \"%s\\n\", message);
    exit(code);
}

static int64_t number(const char *text) {
    char *end = NULL;
    errno = 0;
    const long long value = strtoll(text, &end, 10);
    if (errno != 0 || end == text || *end != '\\0') {
        quit(2, \"an argument is not a number\");
    }
    return value;
}

static size_t bytes(int64_t count, size_t size) {
    return count > 0 ? (size_t)count * size : 0;
}

/* Memory for `count` elements; the program ends if there is none. */
static void *memory(int64_t count, size_t size) {
    void *block = NULL;
    if (count > 0 && (uint64_t)count > (uint64_t)PTRDIFF_MAX / size) {
        quit(3, \"out of memory: the sizes are too large\");
    }
    const size_t wanted = bytes(count, size);
    if (posix_memalign(&block, 64, wanted > 0 ? wanted : 1) != 0) {
        fprintf(stderr, \"out of memory: an array needs %.1f MB\\n\", (double)wanted / 1e6);
        exit(3);
    }
    return block;
}

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static void check(int status) {
    if (status == 1) {
        quit(3, \"out of memory: a temporary array could not be allocated\");
    }
    if (status != 0) {
        quit(4, \"the sizes are not admissible\");
    }
}

";

/// Random numbers that are the same on every machine.
pub const NEXT: &str = "\
static uint64_t state = 88172645463325252u;

static uint64_t next(void) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state;
}

";

/// Uniform random numbers.
pub(crate) const UNIFORM: &str = "\
/* Uniform in [-1, 1). */
static double uniform(void) {
    return (double)(next() >> 11) / 4503599627370496.0 - 1.0;
}

";
