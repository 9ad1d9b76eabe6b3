//! The second look at slave files: what is written for mapped programs passes it, and a text in
//! which a transfer, a wait or a place is changed does not. Changes that a faulty mapping has as
//! well are in `faulty_mappings.rs`.

#[path = "defects/blocks.rs"]
mod blocks;
#[path = "defects/cast.rs"]
mod cast;
#[path = "defects/held.rs"]
mod held;
#[path = "defects/panels.rs"]
mod panels;
#[path = "defects/turns.rs"]
mod turns;

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use loops::Program;
use targets::athread::verify::{Property, Unfollowed, Verdict, check};
use targets::athread::{Chip, SW26010, SW26010_PRO, around};

/// Mapped programs: of the folder, or of the one that ATHREAD_LOOPS names.
fn programs() -> Vec<(String, Program)> {
    let folder = std::env::var("ATHREAD_LOOPS")
        .map_or_else(|_| golden::root().join("tests/targets/athread"), PathBuf::from);
    let mut paths: Vec<PathBuf> = std::fs::read_dir(folder)
        .expect("the folder is there")
        .map(|entry| entry.expect("it can be read").path())
        .filter(|path| path.extension().is_some_and(|e| e == "loops"))
        .collect();
    paths.sort();
    let read = |path: &PathBuf| {
        let text = std::fs::read_to_string(path).expect("it can be read");
        let program = loops::parse(&text).unwrap_or_else(|e| panic!("{}: {e:?}", path.display()));
        (path.file_stem().unwrap_or_default().to_string_lossy().into_owned(), program)
    };
    paths.iter().map(read).collect()
}

#[test]
fn what_is_written_passes() {
    let (mut wrong, mut met) = (Vec::new(), BTreeSet::new());
    for (name, program) in programs() {
        let functions: Vec<&loops::Function> = program.functions.iter().collect();
        for chip in &CHIPS {
            let began = std::time::Instant::now();
            match around(&functions, "program", chip) {
                Err(e) => wrong.push(format!("{name} on {}: {e:?}", chip.name)),
                Ok(files) => {
                    let verdict = check(&functions, &files.slave);
                    if !matches!(&verdict, Ok(Verdict::Followed(known)) if known == &files.followed && known.len() >= 5)
                    {
                        wrong.push(format!("{name} on {}: {verdict:?}", chip.name));
                    }
                    println!("{name} {verdict:?} {:?}", began.elapsed());
                    met.extend(files.followed);
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    // No property is only claimed: some program of the folder has each.
    let never: Vec<&Property> = Property::ALL.iter().filter(|property| !met.contains(property)).collect();
    assert!(never.is_empty(), "no program has {never:?}");
}

/// The lists of the documentation are those of the code.
#[test]
fn the_page_lists_what_is_followed() {
    let page = std::fs::read_to_string(golden::root().join("docs/athread.md")).expect("the page is there");
    let in_one_line = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let item = |name: &str, sentence: &str| format!("- **{name}**: {sentence}\n");
    let followed: String = Property::ALL.iter().map(|one| item(one.name(), one.sentence())).collect();
    let others: String = Unfollowed::ALL.iter().map(|one| item(one.name(), one.sentence())).collect();
    // Blank lines around a list show that it is the whole list.
    let paragraphs: Vec<String> = page.split("\n\n").map(in_one_line).collect();
    for list in [followed, others] {
        assert!(paragraphs.contains(&in_one_line(&list)), "docs/athread.md lacks:\n{list}");
    }
}

/// The first chip with shares of two boxes at once.
const IN_PAIRS: Chip = Chip { pairs: true, ..SW26010 };

/// The chips that programs are written for here.
const CHIPS: [Chip; 3] = [SW26010, SW26010_PRO, IN_PAIRS];

/// The slave file of a program of the folder, for a chip: `NAME`, `NAME in pairs`, `NAME on pro`.
fn slave(wanted: &str) -> (Program, String) {
    let (wanted, chip) = match wanted.split_once(' ') {
        Some((name, "in pairs")) => (name, &IN_PAIRS),
        Some((name, "on pro")) => (name, &SW26010_PRO),
        _ => (wanted, &SW26010),
    };
    let path = golden::root().join("tests/targets/athread").join(format!("{wanted}.loops"));
    let text = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    let program = loops::parse(&text).expect("the program is sound");
    let functions: Vec<&loops::Function> = program.functions.iter().collect();
    let slave = around(&functions, "program", chip).expect("there is a slave file").slave;
    (program, slave)
}

/// All occurrences of a text.
const EVERY: usize = usize::MAX;

/// A defect: program, the text that is replaced, which of its occurrences, what by, and what the
/// check says of it.
type Defect = (&'static str, &'static str, usize, &'static str, &'static str);

const DEFECTS: &[Defect] = &[
    // Waits that are missing, for another transfer, or for another count.
    ("gemm on pro", "WAIT(lozenge_reply, 1);", 0, "", "reads its arguments before they are there"),
    ("gemm on pro", "WAIT(reply_A, reply_A_sent);", 0, "", "while `reply_A` is on its way in"),
    (
        "gemm on pro",
        "WAIT(reply_A, reply_A_sent);",
        0,
        "WAIT(reply_B, reply_B_sent);",
        "while `reply_A` is on its way in",
    ),
    (
        "gemm on pro",
        "WAIT(reply_B, reply_B_sent);",
        0,
        "",
        "`share_of_slave_B` while `reply_B` is on its way in",
    ),
    ("gemm on pro", "WAIT(reply_C, reply_C_sent)", 0, "WAIT(reply_C, reply_A_sent)", "with another count"),
    (
        "gemm on pro",
        "reply_C_sent += get_box",
        0,
        "reply_A_sent += get_box",
        "counts a transfer of `reply_C`",
    ),
    ("gemm on pro", "  reply_C = 0;\n", 0, "", "uses the reply `reply_C` before it is 0"),
    // Boxes of another iteration, or none.
    ("atax", "jt_half = 1 - jt_half;", 0, "", "`slave_A`"),
    ("atax", "16000 * (1 - jt_half)", 0, "16000 * jt_half", "`slave_A`"),
    ("atax", "16000 * (1 - jt_half)", 1, "16000 * jt_half", "`slave_A`"),
    ("atax", "1000 * (jt + 1)], LOZENGE_MIN(2", 0, "1000 * (jt + 2)], LOZENGE_MIN(2", "holds another box"),
    ("atax", "&A[2 * (it + 64) * n", 0, "&A[2 * it * n", "holds another box"),
    ("atax", "if (jt + 1 < jt_last)", 0, "if (jt + 2 < jt_last)", "`slave_A`"),
    ("atax", "else if (it + 64 < it_last)", 0, "else if (it + 128 < it_last)", "`slave_A`"),
    ("atax", "slave_x_columns = LOZENGE_MIN(1000, n - 1000 * jt);", 0, "slave_x_columns = n;", "`slave_x`"),
    (
        "atax",
        "slave_x_from = (const void *)&x[1000 * jt];",
        0,
        "slave_x_from = (const void *)&x[1000 * jt + 1000];",
        "`slave_x`",
    ),
    (
        "atax",
        "get_box(&slave_A[0], &A[2 * it * n",
        0,
        "get_box(&slave_A[0], &A[2 * it * m",
        "holds another box",
    ),
    ("gemm on pro", "if (kt + 1 < kt_last)", 0, "if (kt < kt_last)", "`share_of_slave_A`"),
    ("gemm on pro", "&B[16 * 0 * nj + 140 * (jt + 8)]", 0, "&B[16 * 0 * nj + 140 * jt]", "holds another box"),
    ("gemm on pro", "&A[32 * it * nk + 16 * (kt + 1)]", 0, "&A[32 * it * nk + 16 * kt]", "holds another box"),
    ("doitgen", "st_half = 1 - st_half;", 0, "", "`slave_A`"),
    ("minmax-bounds", "slave_x_from != (const void *)&x[1000 * jt] || ", 0, "", "`slave_x`"),
    // Vectors that all cores need.
    ("gesummv-shared", "&x[1400 * (jt + 1)]", 0, "&x[1400 * jt]", "holds another box"),
    (
        "gesummv-shared",
        "n - 1400 * jt), 1, 8, lozenge_core);",
        0,
        "n - 1400 * jt), 2, 8, lozenge_core);",
        "another box",
    ),
    ("gesummv-shared", "n - 1400 * 0), 1, 1, 8", 0, "n - 1400 * 0), 1, 2, 8", "holds another box"),
    ("gesummv-shared", "WAIT(reply_x, reply_x_sent);", 0, "", "while `reply_x` is on its way in"),
    ("gesummv-shared", "share_among_all((", 0, "if (it < n) share_among_all((", "some cores may not reach"),
    (
        "gesummv-shared",
        "it - tid < LOZENGE_FLOOR_DIV",
        0,
        "it < LOZENGE_FLOOR_DIV",
        "some cores may not reach",
    ),
    // Shares of two boxes at once.
    ("gemm in pairs", "share_of_slave_A_at += LOZENGE_MIN(16, nk - 16 * kt);", 0, "", "`share_of_slave_A`"),
    ("gemm in pairs", "share_of_slave_A_at * 8", 0, "0 * 8", "holds another box"),
    (
        "gemm in pairs",
        "share_of_slave_A_at = 0, share_of_slave_A_wanted",
        1,
        "share_of_slave_A_wanted",
        "`share_of_slave_A`",
    ),
    (
        "gemm in pairs",
        "share_of_slave_A_at = 0, share_of_slave_A_wanted",
        2,
        "share_of_slave_A_wanted",
        "`share_of_slave_A`",
    ),
    (
        "gemm in pairs",
        "share_of_slave_A_wanted = rid % 2",
        0,
        "share_of_slave_A_wanted = cid % 2",
        "in another step than others of the line",
    ),
    (
        "gemm in pairs",
        "&A[32 * it * nk + 16 * (kt + 1)]",
        0,
        "&A[32 * it * nk + 16 * kt]",
        "holds another box",
    ),
    (
        "gemm in pairs",
        "&A[32 * it * nk + 16 * (kt + 1)]",
        0,
        "&A[32 * it * nk + 16 * (kt + 2)]",
        "holds another box",
    ),
    ("gemm in pairs", "WAIT(reply_A, reply_A_sent);", 0, "", "while `reply_A` is on its way in"),
    (
        "gemm in pairs",
        "if (share_of_slave_A_at >= share_of_slave_A_columns) {",
        1,
        "if (share_of_slave_A_at > share_of_slave_A_columns) {",
        "`share_of_slave_A`",
    ),
    (
        "gemm in pairs",
        "if (share_of_slave_A_at >= share_of_slave_A_columns) {",
        2,
        "if (share_of_slave_A_at > share_of_slave_A_columns) {",
        "`share_of_slave_A`",
    ),
    ("gemm in pairs", "8, share_of_slave_A_columns,", 0, "8, 16,", "as far apart as those of another share"),
    ("gemm in pairs", "if (share_of_slave_A_at == 0) {", 0, "{", "after a part of it went to other cores"),
    (
        "gemm in pairs",
        "share_of_slave_A_wanted = 32;",
        1,
        "share_of_slave_A_wanted = 64;",
        "`share_of_slave_",
    ),
    // Results.
    (
        "gemm on pro",
        "&C[32 * it * nj + 140 * jt], LOZENGE_MIN(32",
        1,
        "&C[32 * jt * nj + 140 * jt], LOZENGE_MIN(32",
        "to another place",
    ),
    // Places that overlap.
    (
        "gemm on pro",
        "double *const slave_A = (double *)(lozenge_ldm + ",
        0,
        "double *const slave_A = (double *)(lozenge_ldm + 256 + ",
        "`slave_",
    ),
    ("atax", "lozenge_ldm + 40000", 0, "lozenge_ldm + 24000", "`"),
    ("jacobi-2d", "lozenge_ldm + 28928", 0, "lozenge_ldm + 28800", "while `reply_A` is on its way in"),
    // Main memory by hand.
    ("jacobi-2d", "= fifth * (slave_A[", 0, "= fifth * (A[", "in main memory without a transfer"),
    // Not all cores.
    ("gemm on pro", "it - rid < ", 0, "it < ", "some cores may not reach"),
    (
        "gemm on pro",
        "share_along_row((char *)slave_A, share_of_slave_A, LOZENGE_MIN(32, ni - 32 * it), LOZENGE_MIN(16, nk - 16 * kt), 8, cid)",
        0,
        "share_along_row((char *)slave_A, share_of_slave_A, LOZENGE_MIN(32, ni - 32 * it), LOZENGE_MIN(16, nk - 16 * kt), 8, rid)",
        "wrong place in the line",
    ),
    (
        "gemm on pro",
        "share_along_row((char *)slave_A",
        0,
        "share_along_column((char *)slave_A",
        "wrong place in the line",
    ),
    (
        "gemm on pro",
        "share_along_row((char *)slave_A, share_of_slave_A",
        0,
        "share_along_row((char *)slave_A, share_of_slave_B",
        "sends `share_of_slave_B`",
    ),
    ("trmm", "  BARRIER();\n", 0, "  if (lozenge_core < 8) BARRIER();\n", "some cores may not reach"),
    ("trmm", "  BARRIER();\n", 0, "", "some cores may still be in those before"),
    ("doitgen-rest", "  BARRIER();\n", 0, "", "some cores may still be in those before"),
    ("atax", "  BARRIER();\n", 0, "", "some cores may still be in those before"),
    ("jacobi-2d", "  BARRIER();\n", 0, "", "some cores may still be in those before"),
    ("jacobi-2d", "  BARRIER();\n", 1, "", "some cores may still be in those before"),
    ("gemm-line", "it - tid < ", 0, "it < ", "some cores may not reach"),
    ("gemm-half", "jt - cid < ", 0, "jt < ", "`share_of_slave_A`"),
    ("doitgen-all", "r - rid < ", 0, "r < ", "some cores may not reach"),
    ("doitgen-all", "share_among_all((", 0, "if (rid == 0) share_among_all((", "some cores may not reach"),
    ("gemm-line", "share_among_all((char", 0, "share_along_row((char", "wrong place in the line"),
    ("gemm-line", "8, lozenge_core);", 0, "8, lozenge_core / 8);", "wrong place in the line"),
    ("gemm-half", "share_along_column((char", 0, "share_along_row((char", "wrong place in the line"),
    ("gemm-half", "#define CORE_ROWS 4", 0, "#define CORE_ROWS 8", "other cores than those that run"),
    ("gemm-line", "#define CORE_COLUMNS 8", 0, "#define CORE_COLUMNS 4", "other cores than those that run"),
    // Shares of other boxes, of another place, or for others.
    (
        "gemm-line",
        "8, lozenge_core, &reply_B)",
        0,
        "8, lozenge_core + 1, &reply_B)",
        "the share of another place",
    ),
    ("gemm-line", "get_share_among_all(", 1, "get_share_along_row(", "overwrites `slave_C`"),
    ("gemm-half", "8, rid, &reply_B)", 0, "8, rid + 1, &reply_B)", "the share of another place"),
    ("gemm-line", "&B[16 * 0 * nj", 0, "&B[16 * tid * nj", "cores that need different boxes"),
    // Boxes that come during the tile before, and results that go out during the next.
    ("doitgen-whole", "qt_half = 1 - qt_half;", 0, "", "`slave_A`"),
    ("doitgen-whole", "11520 * (1 - qt_half)", 0, "11520 * qt_half", "`slave_A`"),
    (
        "doitgen-whole",
        "&A[((r + slave_A_p0) * nq + 9 * (qt + 8))",
        0,
        "&A[((r + slave_A_p0) * nq + 9 * qt)",
        "another box",
    ),
    ("doitgen-whole", "&A[((r + 8 + slave_A_p0)", 0, "&A[((r + slave_A_p0)", "`A`"),
    ("doitgen-whole", "WAIT(reply_A_1, reply_A_1_sent);", 0, "", "`slave_A_1`"),
    ("doitgen-whole", "WAIT(reply_A_1, reply_A_1_sent);", 1, "", "`reply_A_1`"),
    ("doitgen-all", "&C4[20 * (st + 1)", 0, "&C4[20 * st", "another box"),
    ("gemm-line", "WAIT(reply_B, reply_B_sent);", 0, "", "while `reply_B` is on its way in"),
    // A core's own boxes beside shared ones, several at once.
    ("gemm-alone in pairs", "WAIT(reply_A, reply_A_sent);", 0, "", "while `reply_A` is on its way in"),
    ("gemm-alone in pairs", "share_of_slave_A_at * 8", 0, "0 * 8", "holds another box"),
    (
        "gemm-alone in pairs",
        "share_of_slave_A_wanted = 64;",
        0,
        "share_of_slave_A_wanted = 128;",
        "overwrites `slave_C`",
    ),
    (
        "gemm-alone in pairs",
        "share_of_slave_A_at += LOZENGE_MIN(16, nk - 16 * kt);",
        0,
        "share_of_slave_A_at += LOZENGE_MIN(32, nk - 16 * kt);",
        "`share_of_slave_A`",
    ),
    (
        "gemm-alone in pairs",
        "&A[8 * it * nk + 16 * (kt + 1)]",
        0,
        "&A[8 * it * nk + 16 * (kt + 4)]",
        "holds another box",
    ),
    (
        "gemm-alone in pairs",
        "8, share_of_slave_A_columns,",
        0,
        "8, 64,",
        "as far apart as those of another share",
    ),
    (
        "gemm-alone in pairs",
        "if (share_of_slave_A_at >= share_of_slave_A_columns) {",
        1,
        "if (share_of_slave_A_at > share_of_slave_A_columns) {",
        "`share_of_slave_A`",
    ),
    (
        "gemm-alone in pairs",
        "  share_pieces_by_itself((char *)slave_A",
        0,
        "  if (0) share_pieces_by_itself((char *)slave_A",
        "`slave_A`",
    ),
    (
        "gemm-alone in pairs",
        "if (share_of_slave_A_at == 0) {",
        0,
        "{",
        "after a part of it went to other cores",
    ),
    // Sizes that are one name, and triangles with first tiles of other cores.
    (
        "gemm-square in pairs",
        "if (share_of_slave_A_at == 0) {",
        0,
        "{",
        "after a part of it went to other cores",
    ),
    ("gemm-square in pairs", "share_of_slave_A_at * 8", 0, "0 * 8", "holds another box"),
    (
        "symm-line",
        "0 < LOZENGE_FLOOR_DIV(i - 1, 12) + 1",
        0,
        "0 < LOZENGE_FLOOR_DIV(i - 1, 12)",
        "`slave_B`, which nothing",
    ),
    ("symm-line", "if (kt + 1 < kt_last)", 0, "if (kt + 2 < kt_last)", "`slave_B`"),
    (
        "symm-line",
        "LOZENGE_FLOOR_DIV(itt, 3) < LOZENGE_FLOOR_DIV(m - 1, 12) + 1",
        0,
        "LOZENGE_FLOOR_DIV(itt, 3) < LOZENGE_FLOOR_DIV(m - 1, 12)",
        "`slave_B`",
    ),
    // A core's own box beside shared ones.
    ("gemm-alone", "WAIT(reply_A, reply_A_sent);", 0, "", "while `reply_A` is on its way in"),
    ("gemm-alone", "nk + 16 * (kt + 1)], ", 0, "nk + 16 * kt], ", "another box"),
    (
        "gemm-alone",
        "  share_by_itself((char *)slave_A",
        0,
        "  if (0) share_by_itself((char *)slave_A",
        "`slave_A`",
    ),
];

#[test]
fn defects_are_seen() {
    let mut missed = Vec::new();
    let all = [DEFECTS, panels::DEFECTS, blocks::DEFECTS, held::DEFECTS, turns::DEFECTS, cast::DEFECTS];
    println!("{} defects, {} in panels", all.concat().len(), panels::DEFECTS.len() + blocks::DEFECTS.len());
    let mut slaves = BTreeMap::new();
    for (name, old, which, new, said) in all.into_iter().flatten() {
        let (program, text) = slaves.entry(*name).or_insert_with(|| slave(name));
        let functions: Vec<&loops::Function> = program.functions.iter().collect();
        // Definitions stand before the kernels.
        let body = if old.starts_with('#') { 0 } else { text.find("\nvoid ").expect("there is a kernel") };
        let found = text[body..].match_indices(old).nth(if *which == EVERY { 0 } else { *which });
        let Some((at, _)) = found else {
            missed.push(format!("{name}: `{old}` number {which} is not there"));
            continue;
        };
        let (before, after) = (&text[..body + at], &text[body + at + old.len()..]);
        let after = if *which == EVERY { after.replace(old, new) } else { after.to_owned() };
        let changed = format!("{before}{new}{after}");
        match check(&functions, &changed) {
            Err(e) if e.code.0 == "T0006" && e.message.contains(said) => {}
            other => missed.push(format!("{name}: `{old}` number {which} by `{new}`: {other:?}")),
        }
    }
    assert!(missed.is_empty(), "{}", missed.join("\n"));
}
