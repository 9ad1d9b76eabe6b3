//! Transformations of loop programs, each a named [`Pass`], and the pipelines that are lists of
//! them.
//!
//! A pass takes a function and gives another one that computes the same bits, or nothing if it has
//! nothing to change. It knows no target, no schedule and no set library. What ran is kept as a
//! list of [`Applied`] passes with the function after each, so that it can be printed and verified.
//!
//! ```
//! let program = loops::parse("fn f(x: inout f64[64]) { for i in 0..64 { x[i] *= 2.0 } }").unwrap();
//! let mut applied = Vec::new();
//! let function = passes::DEFAULT.run(program.functions[0].clone(), &mut applied);
//! assert!(loops::validate(&function).is_proved());
//! assert!(applied.iter().all(|one| passes::named(one.pass).is_some()));
//! ```
//!
//! To add a pass: write its module, give it a `PASS`, and put that into [`ALL`] and into the
//! pipelines that shall run it.

mod accumulator_coalescing;
mod array_expansion;
mod bit_field_strips;
mod buffer_sharing;
mod cache_tiling;
mod choice_flattening;
mod complete_unrolling;
mod conditional_moves;
mod constant_folding;
mod copy_propagation;
mod dead_code;
mod early_exit;
mod full_strips;
mod guard_bounds;
mod guard_striding;
mod if_conversion;
mod index_set_splitting;
mod invariant_code_motion;
mod invariant_fills;
mod labels;
mod lane_unrolling;
mod loop_coalescing;
mod loop_collapsing;
mod loop_distribution;
mod loop_unswitching;
mod one_thread_fusion;
mod outer_loop_vectorization;
mod pass;
mod pivot_splitting;
mod predictive_commoning;
mod quotient_unrolling;
mod range_propagation;
mod range_versioning;
mod reduction_lanes;
mod reduction_recognition;
mod register_promotion;
mod register_transposition;
mod reverse_if_conversion;
mod rotating_registers;
mod row_lanes;
mod scalar_expansion;
mod scalar_replacement;
mod skewed_rows;
mod small_teams;
mod speculative_vectorization;
mod store_forwarding;
mod strip_mining;
mod structure_splitting;
mod unroll_and_jam;
mod verify;

pub use array_expansion::fills_all;
pub use copy_propagation::{Uses, substitute as propagate_copies};
pub use pass::{Applied, Pass, Pipeline, Step, named};
pub use scalar_expansion::{Of, expand_levels};
pub use store_forwarding::mentions;
pub use verify::{Fault, Verified, verify};

/// Every pass on loop programs.
pub const ALL: [&Pass; 50] = [
    &CONSTANT_FOLDING,
    &IF_CONVERSION,
    &INDEX_ARITHMETIC,
    &SIMPLIFICATION,
    &SIMPLIFICATION_FOR_C,
    &STRIP_MINING,
    &BIT_FIELD_STRIPS,
    &INDEX_SET_SPLITTING,
    &GUARD_STRIDING,
    &QUOTIENT_UNROLLING,
    &GUARD_BOUNDS,
    &EARLY_EXIT,
    &REVERSE_IF_CONVERSION,
    &CONDITIONAL_MOVES,
    &CHOICE_FLATTENING,
    &ONE_THREAD_FUSION,
    &PIVOT_SPLITTING,
    &REDUCTION_RECOGNITION,
    &COMPLETE_UNROLLING,
    &UNROLLING_IN_LANES,
    &OUTER_LOOP_VECTORIZATION,
    &FULL_STRIPS,
    &REGISTER_TRANSPOSITION,
    &CACHE_TILING,
    &ACCUMULATOR_COALESCING,
    &LOOP_COALESCING,
    &LOOP_COLLAPSING,
    &UNROLL_AND_JAM,
    &ROW_LANES,
    &INVARIANT_CODE_MOTION,
    &INVARIANT_FILLS,
    &LOOP_DISTRIBUTION,
    &LOOP_UNSWITCHING,
    &RANGE_VERSIONING,
    &STORE_FORWARDING,
    &SCALAR_REPLACEMENT,
    &REGISTER_PROMOTION,
    &SPECULATIVE_VECTORIZATION,
    &SKEWED_ROWS,
    &ROTATING_REGISTERS,
    &PREDICTIVE_COMMONING,
    &SCALAR_EXPANSION,
    &ARRAY_EXPANSION,
    &COPY_PROPAGATION,
    &DEAD_CODE,
    &REDUCTION_LANES,
    &SMALL_TEAMS,
    &STRUCTURE_SPLITTING,
    &RANGE_PROPAGATION,
    &BUFFER_SHARING,
];

/// Functional programs whose schedule nobody has chosen.
pub const DEFAULT: Pipeline = Pipeline {
    name: "default",
    about: "functional programs without `--schedule`",
    passes: &[
        &EARLY_EXIT,
        &ROW_LANES,
        &REVERSE_IF_CONVERSION,
        &ONE_THREAD_FUSION,
        &GUARD_BOUNDS,
        &STRUCTURE_SPLITTING,
        &BIT_FIELD_STRIPS,
        &INDEX_SET_SPLITTING,
        &CACHE_TILING,
        &ACCUMULATOR_COALESCING,
        &REDUCTION_LANES,
        &LOOP_COALESCING,
        &UNROLL_AND_JAM,
        &INVARIANT_CODE_MOTION,
        &LOOP_DISTRIBUTION,
        &REGISTER_PROMOTION,
        &PREDICTIVE_COMMONING,
        &LOOP_UNSWITCHING,
        &RANGE_VERSIONING,
        &CONDITIONAL_MOVES,
        &CHOICE_FLATTENING,
    ],
};

/// Functional programs whose loops and schedule are decided.
pub const FINISHED: Pipeline = Pipeline {
    name: "finished",
    about: "functional programs at the end, unless `--schedule` gives an order of their loops",
    passes: &[&BUFFER_SHARING],
};

/// What the translation of functional programs ends with.
pub const TRANSLATED: Pipeline = Pipeline {
    name: "translated",
    about: "functional programs, after their translation to loops",
    passes: &[&INDEX_ARITHMETIC, &RANGE_PROPAGATION, &DEAD_CODE],
};

/// Operators of models, whose extents are numbers.
pub const MODEL: Pipeline = Pipeline {
    name: "model",
    about: "operators of models, whose extents are known",
    passes: &[
        &STRIP_MINING,
        &INDEX_SET_SPLITTING,
        &CACHE_TILING,
        &ACCUMULATOR_COALESCING,
        &LOOP_COALESCING,
        &UNROLL_AND_JAM,
        &INVARIANT_CODE_MOTION,
        &SIMPLIFICATION_FOR_C,
        &REGISTER_PROMOTION,
        &PREDICTIVE_COMMONING,
        &CHOICE_FLATTENING,
    ],
};

/// Operators of models, for targets with a mapping of their own.
pub const MODEL_MAPPED: Pipeline = Pipeline {
    name: "model-mapped",
    about: "operators of models, before a target maps them",
    passes: &[
        &STRIP_MINING,
        &INDEX_ARITHMETIC,
        &SIMPLIFICATION,
        &DEAD_CODE,
        &ACCUMULATOR_COALESCING,
        &LOOP_COLLAPSING,
    ],
};

/// C regions, and loops that are to be scheduled, before their model is made.
pub const REGION: Pipeline = Pipeline {
    name: "region",
    about: "C regions and other loops, before the affine scheduler",
    passes: &[&CONSTANT_FOLDING, &STRUCTURE_SPLITTING, &IF_CONVERSION],
};

/// C regions and other scheduled loops, before they are printed.
pub const SCHEDULED: Pipeline = Pipeline {
    name: "scheduled",
    about: "C regions and other loops, after the affine scheduler",
    passes: &[
        &UNROLLING_IN_LANES,
        &IF_CONVERSION,
        &INDEX_SET_SPLITTING,
        &GUARD_STRIDING,
        &QUOTIENT_UNROLLING,
        &FULL_STRIPS,
        &REGISTER_TRANSPOSITION,
        &SPECULATIVE_VECTORIZATION,
        &SMALL_TEAMS,
        &OUTER_LOOP_VECTORIZATION,
        &SKEWED_ROWS,
        &ROTATING_REGISTERS,
        &REGISTER_PROMOTION,
        &PREDICTIVE_COMMONING,
        &CHOICE_FLATTENING,
    ],
};

/// C regions with directives, whose loops keep the threads and the order that are asked for.
pub const DIRECTED: Pipeline = Pipeline {
    name: "directed",
    about: "C regions with directives, after their loops are as asked for",
    passes: &[&REGISTER_PROMOTION, &PREDICTIVE_COMMONING],
};

/// All pipelines.
pub const PIPELINES: [&Pipeline; 8] =
    [&TRANSLATED, &DEFAULT, &FINISHED, &MODEL, &MODEL_MAPPED, &REGION, &SCHEDULED, &DIRECTED];

pub use accumulator_coalescing::PASS as ACCUMULATOR_COALESCING;
pub use array_expansion::PASS as ARRAY_EXPANSION;
pub use bit_field_strips::PASS as BIT_FIELD_STRIPS;
pub use buffer_sharing::PASS as BUFFER_SHARING;
pub use cache_tiling::PASS as CACHE_TILING;
pub use choice_flattening::PASS as CHOICE_FLATTENING;
pub use complete_unrolling::PASS as COMPLETE_UNROLLING;
pub use conditional_moves::PASS as CONDITIONAL_MOVES;
pub use constant_folding::PASS as CONSTANT_FOLDING;
pub use copy_propagation::PASS as COPY_PROPAGATION;
pub use dead_code::PASS as DEAD_CODE;
pub use early_exit::PASS as EARLY_EXIT;
pub use full_strips::PASS as FULL_STRIPS;
pub use guard_bounds::PASS as GUARD_BOUNDS;
pub use guard_striding::PASS as GUARD_STRIDING;
pub use if_conversion::PASS as IF_CONVERSION;
pub use index_set_splitting::PASS as INDEX_SET_SPLITTING;
pub use invariant_code_motion::PASS as INVARIANT_CODE_MOTION;
pub use invariant_fills::PASS as INVARIANT_FILLS;
pub use lane_unrolling::PASS as UNROLLING_IN_LANES;
pub use loop_coalescing::PASS as LOOP_COALESCING;
pub use loop_collapsing::PASS as LOOP_COLLAPSING;
pub use loop_distribution::PASS as LOOP_DISTRIBUTION;
pub use loop_unswitching::PASS as LOOP_UNSWITCHING;
pub use one_thread_fusion::PASS as ONE_THREAD_FUSION;
pub use outer_loop_vectorization::PASS as OUTER_LOOP_VECTORIZATION;
pub use pass::{INDEX_ARITHMETIC, SIMPLIFICATION, SIMPLIFICATION_FOR_C};
pub use pivot_splitting::PASS as PIVOT_SPLITTING;
pub use predictive_commoning::PASS as PREDICTIVE_COMMONING;
pub use quotient_unrolling::PASS as QUOTIENT_UNROLLING;
pub use range_propagation::PASS as RANGE_PROPAGATION;
pub use range_versioning::PASS as RANGE_VERSIONING;
pub use reduction_lanes::PASS as REDUCTION_LANES;
pub use reduction_recognition::PASS as REDUCTION_RECOGNITION;
pub use register_promotion::PASS as REGISTER_PROMOTION;
pub use register_transposition::PASS as REGISTER_TRANSPOSITION;
pub use reverse_if_conversion::PASS as REVERSE_IF_CONVERSION;
pub use rotating_registers::PASS as ROTATING_REGISTERS;
pub use row_lanes::PASS as ROW_LANES;
pub use scalar_expansion::PASS as SCALAR_EXPANSION;
pub use scalar_replacement::PASS as SCALAR_REPLACEMENT;
pub use skewed_rows::PASS as SKEWED_ROWS;
pub use small_teams::PASS as SMALL_TEAMS;
pub use speculative_vectorization::PASS as SPECULATIVE_VECTORIZATION;
pub use store_forwarding::PASS as STORE_FORWARDING;
pub use strip_mining::PASS as STRIP_MINING;
pub use structure_splitting::PASS as STRUCTURE_SPLITTING;
pub use unroll_and_jam::{Block as JammedBlock, PASS as UNROLL_AND_JAM};
