//! Defects in texts with a box that is broadcast to all cores, and rows that take turns.

use super::Defect;

/// A product whose cores are broadcast five rows a step, and have twenty steps of a row of their
/// own at once.
const GEMM: &str = "gemm-cast";

/// What is changed in a slave file, and what the check says of it.
pub const DEFECTS: &[Defect] = &[
    // All meet before something is broadcast, and before it is used.
    (GEMM, "MEET();", 0, "", "where other cores may still use"),
    (GEMM, "MEET();", 1, "", "`slave_B`"),
    (GEMM, "MEET();", 1, "if (kt > 0) MEET();", "`slave_B`"),
    (GEMM, "WAIT(reply_B, reply_B_sent);", 0, "", "while `reply_B` is on its way in"),
    (
        GEMM,
        "WAIT(reply_B, reply_B_sent);",
        0,
        "WAIT(reply_C, reply_C_sent);",
        "while `reply_B` is on its way in",
    ),
    // What is broadcast, where to, and when.
    (GEMM, "+ 8832 * (1 - kt_half)", 0, "+ 8832 * kt_half", "`slave_B`"),
    (GEMM, "+ 8832 * (1 - kt_half)", 1, "+ 8832 * kt_half", "`slave_B`"),
    (GEMM, "+ 8832 * (1 - kt_half)", 0, "+ 4416 * (1 - kt_half)", "`slave_B`"),
    (GEMM, "kt_half = 1 - kt_half;", 0, "", "half of `slave_A`"),
    (GEMM, "&B[5 * (kt + 1) * nj", 0, "&B[5 * kt * nj", "holds another box"),
    (GEMM, "220 * (jt + 1)]", 0, "220 * jt]", "holds another box"),
    (GEMM, "&B[5 * 0 * nj + 220 * jt_first]", 0, "&B[5 * 0 * nj + 220 * jt_first + 1]", "holds another box"),
    (GEMM, "LOZENGE_MIN(5, nk - 5 * (kt + 1))", 0, "LOZENGE_MIN(4, nk - 5 * (kt + 1))", "holds another box"),
    (GEMM, "if (kt + 1 < kt_last)", 0, "if (kt + 2 < kt_last)", "`slave_B`"),
    (GEMM, "else if (jt + 1 < jt_last)", 0, "else if (jt + 2 < jt_last)", "`slave_B`"),
    (GEMM, "8, lozenge_core, kt + 1, &reply_B", 0, "8, 0, kt + 1, &reply_B", "as another core"),
    (GEMM, "8, lozenge_core, kt + 1, &reply_B", 0, "4, lozenge_core, kt + 1, &reply_B", "with another size"),
    (GEMM, "reply_B_sent += cast_box", 1, "reply_C_sent += cast_box", "counts a transfer of `reply_B`"),
    // Rows that take turns: the first steps.
    (GEMM, "first_rows(", 0, "if (0) first_rows(", "`turns_of_slave_A`"),
    (GEMM, "&A[16 * it * nk + 5 * 0]", 0, "&A[16 * it * nk + 5]", "than the first steps need"),
    (
        GEMM,
        "LOZENGE_MIN(16, ni - 16 * it), nk, nk",
        0,
        "LOZENGE_MIN(16, ni - 16 * it), nk - 1, nk",
        "than the first steps need",
    ),
    (
        GEMM,
        "LOZENGE_MIN(16, ni - 16 * it), nk, nk",
        0,
        "LOZENGE_MIN(15, ni - 16 * it), nk, nk",
        "than the first steps need",
    ),
    (GEMM, "5, 20, lozenge_core);", 0, "5, 20, 0);", "than the first steps need"),
    (GEMM, "5, 20, lozenge_core);", 0, "5, 18, lozenge_core);", "for others"),
    // Rows of a step.
    (GEMM, "&A[16 * it * nk + 5 * 0]", 1, "&A[16 * it * nk + 5 * kt]", "than the steps need"),
    (
        GEMM,
        "LOZENGE_MIN(16, ni - 16 * it), nk, nk",
        1,
        "LOZENGE_MIN(16, ni - 16 * it), nk + 1, nk",
        "than the steps need",
    ),
    (GEMM, "lozenge_core, kt, kt_last", 0, "lozenge_core, kt + 1, kt_last", "too often or not always"),
    (GEMM, "lozenge_core, kt, kt_last", 0, "lozenge_core, kt, kt_last - 1", "too often or not always"),
    (GEMM, "kt_half, jt + 1 < jt_last", 0, "kt_half, jt < jt_last", "too often or not always"),
    (GEMM, "kt_half, jt + 1 < jt_last", 0, "1 - kt_half, jt + 1 < jt_last", "fills `slave_A`"),
    (GEMM, "30528 + 64 * kt_half", 0, "30528 + 128 * kt_half", "half of `slave_A`"),
    (GEMM, "30528 + 64 * kt_half", 0, "30528", "half of `slave_A`"),
    (GEMM, "turn_rows(slave_A", 0, "if (0) turn_rows(slave_A", "`slave_A`"),
    (GEMM, "(lozenge_ldm + 17664)", 0, "(lozenge_ldm + 17600)", "`slave_B`"),
    (GEMM, "(lozenge_ldm + 30528", 0, "(lozenge_ldm + 30400", "slave_A`"),
];
