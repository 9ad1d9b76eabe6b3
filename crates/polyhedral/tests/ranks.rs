//! Functions distributed over ranks: the steps that come out, that their text is read back, and
//! that ranks with memories of their own compute, bit for bit, what the sequential program does.

mod common;

use std::collections::BTreeMap;

use loops::ranks::{Grid, RankProgram};
use loops::{Function, Name};
use polyhedral::ranks::{Dealt, Options, map};

/// Numbers of ranks: none beside, several of each kind, more than rows.
const RANKS: [i64; 5] = [1, 2, 3, 4, 7];

/// Grids with so many ranks and so many axes.
fn grids(axes: usize, ranks: i64) -> Vec<Grid> {
    if axes == 1 {
        return vec![Grid(vec![ranks])];
    }
    (1..=ranks).filter(|rows| ranks % rows == 0).map(|rows| Grid(vec![rows, ranks / rows])).collect()
}

/// Runs both at small sizes and compares bits.
fn same_results(function: &Function, program: &RankProgram, extents: &[i64]) {
    for extent in extents {
        let sizes: BTreeMap<Name, i64> = function
            .sizes
            .iter()
            .enumerate()
            .map(|(at, name)| (name.clone(), if *extent > 2 { extent + at as i64 } else { *extent }))
            .collect();
        let args = common::arguments(function, &sizes);
        let Ok(expected) = loops::run(function, &sizes, args.clone(), &loops::Options::default()) else {
            continue;
        };
        for ranks in RANKS {
            for grid in grids(program.axes, ranks) {
                let ran =
                    loops::ranks::run(program, &grid, &sizes, &args, ranks as u64).unwrap_or_else(|d| {
                        panic!("{} at {sizes:?} on {grid:?}: {d} {:?}\n{program}", function.name, d.notes)
                    });
                for (name, tensor) in &expected {
                    let ours = &ran.outputs[name];
                    assert_eq!(
                        format!("{:?}", ours.data),
                        format!("{:?}", tensor.data),
                        "`{name}` of {} at {sizes:?} on {grid:?}\n{program}",
                        function.name
                    );
                }
            }
        }
    }
}

#[test]
fn ranks_compute_what_the_sequential_program_does() {
    golden::check("polyhedral/ranks", "loops", "out", |case| {
        let function = common::function(&case.input);
        let mut text = String::new();
        for grid in [vec![4], vec![2, 2]] {
            text.push_str(&format!("// on a grid of {grid:?}\n"));
            let options = Options { grid: Some(grid), ..Options::default() };
            // Narrow strips, so that small sizes meet several.
            if let Ok(narrow) = map(&function, &Options { strip: 3, ..options.clone() }) {
                same_results(&function, &narrow.program, &[1, 7, 11]);
            }
            match map(&function, &options) {
                Err(d) => text.push_str(&format!("{d}\n")),
                Ok(found) => {
                    let printed = found.program.to_string();
                    let read = loops::ranks::parse(&printed).unwrap_or_else(|d| panic!("{d}\n{printed}"));
                    assert_eq!(read, found.program, "{printed}");
                    polyhedral::ranks::check(&found.program)
                        .unwrap_or_else(|d| panic!("{d} {:?}\n{printed}", d.notes));
                    same_results(&function, &found.program, &[0, 1, 2, 3, 7, 11]);
                    for note in &found.notes {
                        text.push_str(&format!("// {note}\n"));
                    }
                    text.push_str(&printed);
                }
            }
        }
        text
    });
}

/// Blocks of two, so that ranks have several of them at small sizes.
#[test]
fn blocks_in_turn_compute_the_same() {
    let folder = golden::root().join("tests/polyhedral/ranks");
    let mut files: Vec<_> =
        std::fs::read_dir(folder).expect("the folder").flatten().map(|f| f.path()).collect();
    files.retain(|path| path.extension().is_some_and(|e| e == "loops"));
    files.sort();
    for path in files {
        let function = common::function(&std::fs::read_to_string(&path).expect("a file"));
        for axes in [1, 2] {
            let dealt = |p: &loops::Param| {
                let dims = (0..p.dims.len()).map(|d| (d < axes).then_some(Dealt { axis: d, width: Some(2) }));
                (p.name.clone(), dims.collect())
            };
            let distribution = function.params.iter().map(dealt).collect();
            let grid = Some(if axes == 1 { vec![4] } else { vec![2, 2] });
            let options = Options { grid, distribution, ..Options::default() };
            let program = map(&function, &options).unwrap_or_else(|d| panic!("{path:?}: {d}")).program;
            polyhedral::ranks::check(&program).unwrap_or_else(|d| panic!("{d} {:?}\n{program}", d.notes));
            same_results(&function, &program, &[5]);
        }
    }
}

/// Programs with one fault each: what a rank then reads or writes, the check names without running
/// them.
#[test]
fn planted_faults_are_found_for_all_sizes() {
    let mut faults = 0;
    for kernel in ["stencil", "product", "lu", "nine_points", "dot", "spmv"] {
        let path = golden::root().join(format!("tests/polyhedral/ranks/{kernel}.loops"));
        let function = common::function(&std::fs::read_to_string(path).expect(kernel));
        let options = Options { grid: Some(vec![4]), ..Options::default() };
        let program = map(&function, &options).expect(kernel).program;
        let text = program.to_string();
        polyhedral::ranks::check(&program).expect(kernel);
        for (from, to) in [
            ("  fetch ", "  fetch_none "),
            ("max(0, b0_lo)", "max(0, b0_lo - 1)"),
            ("b0_hi)..", "b0_hi + 1).."),
            ("min(n - 1, b0_hi) + 1, ", "min(n - 1, b0_hi), "),
            ("max(1, b0_lo) - 1 .. ", "max(1, b0_lo) .. "),
            ("halo (1 1", "halo (1 0"),
        ] {
            let Some(at) = text.find(from) else { continue };
            let mut faulty = text.clone();
            match to {
                // A fetch that is not made.
                "  fetch_none " => {
                    let end = faulty[at + 1..].find('\n').map_or(faulty.len(), |n| at + 1 + n);
                    faulty.replace_range(at..end, "");
                }
                _ => faulty.replace_range(at..at + from.len(), to),
            }
            let Ok(read) = loops::ranks::parse(&faulty) else { continue };
            let found = polyhedral::ranks::check(&read);
            let code = found.as_ref().err().map(|d| d.code.0);
            assert_eq!(code, Some("P0904"), "{kernel}: {from} -> {to}\n{faulty}");
            faults += 1;
        }
    }
    assert!(faults >= 9, "{faults}");
}
