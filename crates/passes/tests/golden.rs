//! Each pass on loop programs: golden files in `tests/passes`, and the law that no run can tell the
//! difference.

#[path = "../../loops/tests/common/random.rs"]
mod random;

#[path = "../../loops/tests/common/index_programs.rs"]
mod index_programs;

use std::collections::BTreeMap;

use index_programs::{function, outcome};
use loops::{Expr, Function, Name, Options, ParamMode, Scalar};
use passes::Pass;
use proptest::prelude::*;
use random::Random;

proptest! {
    #![proptest_config(ProptestConfig { cases: 1500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_run_can_tell_the_difference(seed: u64) {
        let f = function(&mut Random(seed));
        let after = |pass: &Pass| pass.run(&f).unwrap_or_else(|| f.clone());
        let [split, borders, live] =
            [&passes::STRIP_MINING, &passes::INDEX_SET_SPLITTING, &passes::DEAD_CODE].map(after);
        let arranged = passes::DEFAULT.run(f.clone(), &mut Vec::new());
        for n in -2..=5 {
            for m in [-2, 0, 1, 2, 3, 8] {
                // A run that ends in an error may end otherwise after simplification.
                let Ok(expected) = outcome(&f, n, m, 20_000) else { continue };
                for s in [&split, &borders, &live, &arranged] {
                    // A loop that was split takes more steps.
                    match outcome(s, n, m, 200_000) {
                        Ok(got) => prop_assert_eq!(&got, &expected, "n = {}, m = {}\n{}\n{}", n, m, f, s),
                        Err(e) => prop_assert!(false, "n = {}, m = {}: {}\n{}\n{}", n, m, e, f, s),
                    }
                }
            }
        }
    }
}

/// What a function computes of numbers that all differ, with this number for each size.
fn computed(f: &Function, n: i64) -> BTreeMap<Name, loops::Tensor> {
    let sizes: BTreeMap<Name, i64> = f.sizes.iter().map(|name| (name.clone(), n)).collect();
    let given = f.params.iter().filter(|p| p.mode != ParamMode::Out).map(|p| {
        let extent = |dim: &Expr| match loops::evaluate::expr(dim, &|_| Some(n)) {
            Ok(loops::Value::I64(extent)) => extent as usize,
            other => panic!("an extent is a number, not {other:?}"),
        };
        let shape: Vec<usize> = p.dims.iter().map(extent).collect();
        let count: usize = shape.iter().product();
        let data = match p.elem {
            loops::Elem::Scalar(Scalar::F64) => loops::Data::F64((0..count).map(|k| k as f64).collect()),
            loops::Elem::Scalar(Scalar::I32) => {
                loops::Data::I32((0..count).map(|k| k as i32 * 7 % 5).collect())
            }
            loops::Elem::Scalar(Scalar::I64) => loops::Data::I64((0..count).map(|k| k as i64).collect()),
            _ => loops::Data::F32((0..count).map(|k| k as f32).collect()),
        };
        (p.name.clone(), loops::Tensor { shape, data })
    });
    loops::run(f, &sizes, given.collect(), &Options::default()).expect("a run").into_iter().collect()
}

/// Holds what a pass makes of the functions in a folder against what is expected; it must be as
/// parallel as it says.
fn check_split(pass: &Pass) {
    golden::check(&format!("passes/{}", pass.name()), "loops", "out", |case| {
        let program = loops::parse(&case.input).unwrap_or_else(|errors| panic!("{errors:#?}"));
        let mut out = String::new();
        for function in &program.functions {
            let split = pass.run(function).unwrap_or_else(|| function.clone());
            assert!(loops::validate(&split).is_proved(), "{split}");
            out.push_str(&format!("{split}\n\n"));
        }
        out
    });
}

#[test]
fn strip_mining_by_divisors() {
    check_split(&passes::STRIP_MINING);
}

#[test]
fn index_set_splitting_at_borders() {
    check_split(&passes::INDEX_SET_SPLITTING);
}

/// As [`check_split`], of passes that change no bit of what is computed, at these sizes.
fn check_same(pass: &Pass, sizes: &[i64]) {
    golden::check(&format!("passes/{}", pass.name()), "loops", "out", |case| {
        let program = loops::parse(&case.input).unwrap_or_else(|errors| panic!("{errors:#?}"));
        let mut out = String::new();
        for function in &program.functions {
            let new = pass.run(function).unwrap_or_else(|| function.clone());
            assert!(loops::validate(&new).is_proved(), "{new}");
            for n in sizes {
                // A pass may give arrays other dimensions, and leaves their elements where they
                // were.
                let data = |f: &Function| -> Vec<_> {
                    computed(f, *n).into_iter().map(|(name, tensor)| (name, tensor.data)).collect()
                };
                assert_eq!(data(function), data(&new), "{n}: {new}");
            }
            out.push_str(&format!("{new}\n\n"));
        }
        out
    });
}

#[test]
fn quotient_unrolling_of_larger_images() {
    check_same(&passes::QUOTIENT_UNROLLING, &[0, 1, 2, 3, 8, 17]);
}

#[test]
fn structures_of_arrays_for_lanes() {
    check_same(&passes::STRUCTURE_SPLITTING, &[0, 1, 7, 17]);
}

#[test]
fn cache_tiling_of_transpositions() {
    check_same(&passes::CACHE_TILING, &[0, 1, 15, 16, 17, 33, 48]);
}

#[test]
fn collapsing_of_loops_over_whole_rows() {
    check_same(&passes::LOOP_COLLAPSING, &[0, 1, 5]);
}

#[test]
fn small_teams() {
    check_same(&passes::SMALL_TEAMS, &[0, 1]);
}

#[test]
fn reduction_lanes_inside_parallel_loops() {
    check_same(&passes::REDUCTION_LANES, &[0, 1, 3, 20]);
}

#[test]
fn dead_code_elimination_of_locals() {
    check_same(&passes::DEAD_CODE, &[0, 1, 3, 8]);
}

#[test]
fn unroll_and_jam_of_reductions() {
    check_same(&passes::UNROLL_AND_JAM, &[0, 1, 3, 4, 5, 8, 17, 50]);
}

#[test]
fn invariant_code_motion_of_expensive_operations() {
    check_same(&passes::INVARIANT_CODE_MOTION, &[1, 5]);
}

#[test]
fn invariant_fills_of_packed_copies() {
    check_same(&passes::INVARIANT_FILLS, &[0, 1, 2, 5, 7]);
}

#[test]
fn loop_coalescing_of_short_rows() {
    check_same(&passes::LOOP_COALESCING, &[0, 1, 5]);
}

#[test]
fn accumulator_coalescing_of_handed_over_sums() {
    check_same(&passes::ACCUMULATOR_COALESCING, &[0, 1, 5]);
}

#[test]
fn pivot_splitting_of_rows_and_columns() {
    check_same(&passes::PIVOT_SPLITTING, &[0, 1, 2, 3, 7]);
}

#[test]
fn reduction_recognition_of_choices() {
    check_same(&passes::REDUCTION_RECOGNITION, &[0, 1, 2, 3, 7]);
}

#[test]
fn array_expansion_of_rows_of_work() {
    check_same(&passes::ARRAY_EXPANSION, &[0, 1, 2, 7]);
}

#[test]
fn outer_loop_vectorization_of_columns() {
    check_same(&passes::OUTER_LOOP_VECTORIZATION, &[1, 15, 16, 17, 33, 64]);
}

#[test]
fn register_promotion_of_elements_that_stay() {
    check_same(&passes::REGISTER_PROMOTION, &[1, 2, 3, 7]);
}

#[test]
fn predictive_commoning_of_rows() {
    check_same(&passes::PREDICTIVE_COMMONING, &[2, 3, 7]);
}

#[test]
fn records_in_strips_of_lanes() {
    check_same(&passes::SPECULATIVE_VECTORIZATION, &[0, 1, 64, 192, 193, 256, 257, 300]);
}

#[test]
fn skewed_rows_of_tables() {
    check_same(&passes::SKEWED_ROWS, &[0, 1, 2, 3, 4, 5, 7, 11, 13]);
}

#[test]
fn rotating_registers_of_rows() {
    check_same(&passes::ROTATING_REGISTERS, &[9, 10, 13]);
}

#[test]
fn guard_striding_of_colours() {
    check_same(&passes::GUARD_STRIDING, &[2, 3, 7, 10]);
}

#[test]
fn reverse_if_conversion_of_extrema_with_places() {
    check_same(&passes::REVERSE_IF_CONVERSION, &[0, 1, 5, 17]);
}

#[test]
fn one_thread_fusion_of_scans() {
    check_same(&passes::ONE_THREAD_FUSION, &[0, 1, 3, 4, 5, 17, 64]);
}

#[test]
fn range_propagation_of_digits() {
    check_same(&passes::RANGE_PROPAGATION, &[0, 1, 7, 20]);
}

#[test]
fn buffer_sharing_of_steps() {
    check_same(&passes::BUFFER_SHARING, &[0, 1, 7]);
}

#[test]
fn loop_distribution_around_calls() {
    check_same(&passes::LOOP_DISTRIBUTION, &[0, 1, 63, 64, 65, 200]);
}

#[test]
fn strips_at_a_bit() {
    check_same(&passes::BIT_FIELD_STRIPS, &[1, 2, 3, 9, 70]);
}

#[test]
fn choices_before_loops() {
    check_same(&passes::LOOP_UNSWITCHING, &[1, 2, 9]);
}

#[test]
fn clamps_that_are_tested_once() {
    check_same(&passes::RANGE_VERSIONING, &[1, 2, 5, 9, 20]);
}

#[test]
fn rows_in_lanes() {
    check_same(&passes::ROW_LANES, &[0, 1, 7, 8, 9, 33]);
}

#[test]
fn conditional_moves_in_chains() {
    check_same(&passes::CONDITIONAL_MOVES, &[0, 1, 2, 9]);
}

#[test]
fn choices_within_choices() {
    check_same(&passes::CHOICE_FLATTENING, &[0, 1, 2, 9]);
}

#[test]
fn unrolling_in_lanes_of_neighbours() {
    check_same(&passes::UNROLLING_IN_LANES, &[0, 1, 2, 3, 9]);
}

#[test]
fn full_strips_of_rows() {
    check_same(&passes::FULL_STRIPS, &[0, 1, 3, 4, 5, 8, 11]);
}

#[test]
fn register_transposition_of_rows() {
    check_same(&passes::REGISTER_TRANSPOSITION, &[0, 1, 2, 3, 5]);
}
