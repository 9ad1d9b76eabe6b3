//! Commands: final ones, pending ones, and the intermediate macros.

use std::sync::Arc;

use functional::DataType;
use loops::{LoopKind, ReduceOp, Size};

use super::{Acc, Exp, PVar};

/// A command. Cloning is a reference count.
#[derive(Clone, PartialEq, Debug)]
pub struct Comm(Arc<CommKind>);

/// The forms of commands.
#[derive(Clone, PartialEq, Debug)]
pub enum CommKind {
    /// Nothing.
    Skip,
    /// One after the other.
    Seq(Comm, Comm),
    /// `a := e`
    Assign(Acc, Exp),
    /// `a op= e`, where the order of several does not matter.
    Accumulate(ReduceOp, Acc, Exp),
    /// `new t (λv. c)`
    New(PVar, DataType, Comm),
    /// `alias a (λv. c)`: `v` is memory that the acceptor `a` already names.
    Alias(PVar, Acc, Comm),
    /// `update v (λo. c)`: `c` computes the next value of `v` into `o`. Code generation lets `o` be
    /// `v` itself if that is sound.
    Update(PVar, DataType, PVar, Comm),
    /// `seqfor n (λi. c)`
    SeqFor(LoopKind, Size, PVar, Comm),
    /// `parfor n a (λi o. c)`; the kind says whether iterations are threads or lanes.
    ParFor {
        /// `Parallel` or `Vector`.
        kind: LoopKind,
        /// Number of iterations.
        n: Size,
        /// What all iterations together write.
        out: Acc,
        /// The index.
        index: PVar,
        /// What one iteration writes: `out{index}`.
        o: PVar,
        /// The body.
        body: Comm,
    },
    /// A parallel loop that only accumulates, with `op`, into the variable.
    ReduceFor(ReduceOp, PVar, Size, PVar, Comm),
    /// `if e c c`
    If(Exp, Comm, Comm),
    /// Pending: the value of the first expression if the condition holds, otherwise of the second.
    /// Only that one is computed.
    Branch(Exp, Exp, Exp, Then),
    /// Pending: `A(e)(a)`.
    A(Exp, Acc),
    /// Pending: `C(e)(λx. c)`.
    C(Exp, Demand, PVar, Comm),
    /// The body with the variable standing for the expression (a β-step of the continuation).
    Bind(PVar, Exp, Comm),
    /// Pending: the variable stands for the expression. It goes through memory if it is read more
    /// than once and costs something.
    Share(PVar, Exp, Comm),
    /// Pending: an intermediate macro.
    Macro(Macro),
    /// The end of a branch that yields a value; replaced before translation ends.
    Yield(Exp),
}

/// How a continuation reads an array.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Demand {
    /// Each element at most once, by a loop of this kind.
    Once(LoopKind),
    /// In any order, any number of times.
    Any,
}

/// The intermediate macros (the paper, section 2.1).
#[derive(Clone, PartialEq, Debug)]
pub enum Macro {
    /// `mapI f xs out` for `mapParI`, `mapSeqI`, …; `f` is `λ y o. body`.
    Map {
        /// How iterations run.
        kind: LoopKind,
        /// Element.
        y: PVar,
        /// Where its image goes.
        o: PVar,
        /// The function's body.
        body: Comm,
        /// What is mapped.
        xs: Exp,
        /// What is written.
        out: Acc,
    },
    /// `reduceI f init xs c`; `f` is `λ x y o. body`.
    Reduce {
        /// How iterations run: `Sequential` or `Unroll`.
        kind: LoopKind,
        /// The function.
        f: Folding,
        /// First accumulator.
        init: Exp,
        /// What is reduced.
        xs: Exp,
        /// What happens to the result.
        then: Then,
    },
    /// `reduceParI op g init xs c`: `acc := init; acc op= g x` for every `x`, in any order.
    ReducePar {
        /// The operation.
        op: ReduceOp,
        /// Element.
        x: PVar,
        /// `g x`, over `x`.
        value: Exp,
        /// First accumulator.
        init: Exp,
        /// What is reduced.
        xs: Exp,
        /// What happens to the result.
        then: (PVar, Comm),
    },
    /// `scanSeqI f init xs out`
    Scan {
        /// The function.
        f: Folding,
        /// First accumulator.
        init: Exp,
        /// What is scanned.
        xs: Exp,
        /// What is written.
        out: Acc,
    },
    /// `reduceByIndexI f is xs out`: `out{is[i]} := f xs[i] out{is[i]}` for every `i`, in order,
    /// where `is[i]` is an index.
    ReduceByIndex {
        /// The function.
        f: Folding,
        /// Indices, as numbers.
        is: Exp,
        /// What is reduced.
        xs: Exp,
        /// What is updated.
        out: Acc,
    },
    /// `reverseSeqI xs out`
    ReverseSeq(Exp, Acc),
    /// `copySeqI xs out`
    CopySeq(Exp, Acc),
    /// `transParI xs out`
    TransPar(Exp, Acc),
    /// `scatterI is xs out`: `out{is[i]} := xs[i]` for every `i`, in order.
    Scatter(Exp, Exp, Acc),
}

/// The function of a reduction: `λ x y o. body`.
#[derive(Clone, PartialEq, Debug)]
pub struct Folding {
    /// Element.
    pub x: PVar,
    /// Accumulator.
    pub y: PVar,
    /// Where the next accumulator goes.
    pub o: PVar,
    /// The body.
    pub body: Comm,
}

/// What happens to the result of a reduction.
#[derive(Clone, PartialEq, Debug)]
pub enum Then {
    /// `λr. c`
    Continue(PVar, Comm),
    /// It goes here, and this may serve as the accumulator.
    Into(Acc),
}

impl Comm {
    /// A command of this form.
    pub fn new(kind: CommKind) -> Comm {
        Comm(Arc::new(kind))
    }

    /// `self; next`
    #[must_use]
    pub fn then(self, next: Comm) -> Comm {
        match (self.kind(), next.kind()) {
            (CommKind::Skip, _) => next,
            (_, CommKind::Skip) => self,
            _ => Comm::new(CommKind::Seq(self, next)),
        }
    }

    /// Its form.
    pub fn kind(&self) -> &CommKind {
        &self.0
    }
}

impl From<CommKind> for Comm {
    fn from(kind: CommKind) -> Comm {
        Comm::new(kind)
    }
}
