//! Defects in texts with shares that come steps ahead: cores take turns in bringing in what all
//! need, and have several boxes of their own at once.

use super::{Defect, EVERY};

/// A program in which eight cores have a step, and one in which four have.
const EIGHT: &str = "gemm-turns in pairs";
const FOUR: &str = "gemm-turns-halves in pairs";

const RULE: &str = "#define HELD_CORE_8(core, step) (((core) / 8 + 8 - (step) % 8) % 8 * 8 + (core) % 8)";

/// What is changed in a slave file, and what the check says of it.
pub const DEFECTS: &[Defect] = &[
    // Who brings in what.
    (
        EIGHT,
        RULE,
        0,
        "#define HELD_CORE_8(core, step) (((core) / 8 + 8 - (step) % 4) % 8 * 8 + (core) % 8)",
        "where the core has another",
    ),
    (
        EIGHT,
        RULE,
        0,
        "#define HELD_CORE_8(core, step) (((core) / 8 + 8 - (step) % 8) * 8 + (core) % 8)",
        "to no core, or to several",
    ),
    (
        EIGHT,
        "LOZENGE_MIN(8, LOZENGE_FLOOR_DIV",
        0,
        "LOZENGE_MIN(7, LOZENGE_FLOOR_DIV",
        "where the core has another",
    ),
    (
        EIGHT,
        "LOZENGE_MIN(8, LOZENGE_FLOOR_DIV",
        0,
        "LOZENGE_MIN(16, LOZENGE_FLOOR_DIV",
        "where the core has another",
    ),
    (
        FOUR,
        "LOZENGE_MIN(8, LOZENGE_FLOOR_DIV",
        0,
        "LOZENGE_MIN(4, LOZENGE_FLOOR_DIV",
        "where the core has another",
    ),
    (
        EIGHT,
        "HELD_CORE_8(lozenge_core, kt + 8)",
        0,
        "HELD_CORE_8(lozenge_core, kt + 7)",
        "the share of another place",
    ),
    (
        EIGHT,
        "HELD_CORE_8(lozenge_core, kt % 8)",
        0,
        "HELD_CORE_8(lozenge_core, kt)",
        "the share of another place",
    ),
    (
        EIGHT,
        "8, HELD_CORE_8(lozenge_core, kt));",
        0,
        "8, HELD_CORE_8(lozenge_core, kt + 1));",
        "with the wrong place",
    ),
    (EIGHT, "8, HELD_CORE_8(lozenge_core, kt));", 0, "8, lozenge_core);", "with the wrong place"),
    // The first steps.
    (EIGHT, "&B[8 * kt * nj", 0, "&B[8 * (kt + 1) * nj", "than the first steps need"),
    (EIGHT, "220 * jt_first]", 0, "220 * jt_first + 1]", "than the first steps need"),
    (EIGHT, "LOZENGE_MIN(56, nk - 8 * 0)", 0, "LOZENGE_MIN(55, nk - 8 * 0)", "than the first steps need"),
    (EIGHT, "share_of_slave_A_half = 1;", 0, "share_of_slave_A_half = 0;", "as those of others"),
    (
        EIGHT,
        "for (long kt = kt_first; kt < kt_last; kt += 1)",
        0,
        "for (long kt = kt_first; kt < kt_last; kt += 2)",
        "in other loops",
    ),
    (EIGHT, "for (long kt = kt_first;", 0, "if (jt > 0) for (long kt = kt_first;", "in other loops"),
    // Waits.
    (EIGHT, "< 8) {", 0, "< 7) {", "does not wait for each share"),
    (FOUR, "< 4) {", 0, "< 3) {", "does not wait for each share"),
    (
        EIGHT,
        "if (HELD_CORE_8(lozenge_core, kt) < 8)",
        0,
        "if (HELD_CORE_8(lozenge_core, kt + 1) < 8)",
        "does not wait for each share",
    ),
    (EIGHT, "WAIT(reply_B, reply_B_sent);", 0, "", "has not come in"),
    (EIGHT, "WAIT(reply_A, reply_A_sent);", 0, "WAIT(reply_B, reply_B_sent);", "does not wait for the boxes"),
    (EIGHT, "kt % 7 == 0", 0, "kt % 6 == 0", "in other steps than those that need them"),
    // What follows.
    (EIGHT, "kt + 8 < kt_last", 0, "kt + 9 < kt_last", "too often or not always"),
    (EIGHT, "kt + 7 < kt_last", 0, "kt + 6 < kt_last", "too often or not always"),
    (EIGHT, "jt + 1 < jt_last", 0, "jt + 2 < jt_last", "too often or not always"),
    (EIGHT, "jt + 1 < jt_last", 1, "jt < jt_last", "too often or not always"),
    (EIGHT, "&B[8 * (kt + 8) * nj", 0, "&B[8 * (kt + 7) * nj", "than follows there"),
    (EIGHT, "&B[8 * (kt % 8) * nj", 0, "&B[8 * kt * nj", "than follows there"),
    (EIGHT, "220 * (jt + 1)]", 0, "220 * jt]", "than follows there"),
    (EIGHT, "&A[16 * it * nk + 8 * (kt + 7)]", 0, "&A[16 * it * nk + 8 * (kt + 8)]", "than follows there"),
    (
        EIGHT,
        "LOZENGE_MIN(56, nk - 8 * (kt + 7))",
        0,
        "LOZENGE_MIN(48, nk - 8 * (kt + 7))",
        "than follows there",
    ),
    (EIGHT, "(1 - share_of_slave_A_half), &A", 0, "share_of_slave_A_half, &A", "where it is used"),
    (
        EIGHT,
        "7232 * (1 - share_of_slave_A_half)",
        1,
        "7000 * (1 - share_of_slave_A_half)",
        "where it is used",
    ),
    // What is used.
    (EIGHT, "kt % 7 * 8 * 8", 0, "kt % 7 * 8", "copies columns"),
    (EIGHT, "+ kt % 7 * 8 * 8", 0, "+ kt % 6 * 8 * 8", "copies columns"),
    (
        EIGHT,
        "LOZENGE_MIN(56, nk - 8 * (kt - kt % 7))",
        0,
        "LOZENGE_MIN(56, nk - 8 * kt)",
        "as far apart as those of another share",
    ),
    (
        EIGHT,
        "7232 * share_of_slave_A_half))[shared]",
        0,
        "7232 * (1 - share_of_slave_A_half)))[shared]",
        "changes other boxes",
    ),
    (EIGHT, "7232 * share_of_slave_A_half", EVERY, "7168 * share_of_slave_A_half", "changes other boxes"),
    (
        EIGHT,
        "(double *)(lozenge_ldm + 44416)",
        0,
        "(double *)(lozenge_ldm + 7232)",
        "where shares of later steps come",
    ),
];
