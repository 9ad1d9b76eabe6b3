//! What a pass is, what a pipeline is, and the record of what ran.

use loops::{Function, indices, simplify};

/// A step of a compilation as people know it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Step {
    /// Its name, as `--print-after` takes it.
    pub name: &'static str,
    /// What the literature calls it, or where it is described.
    pub literature: &'static str,
    /// What it does, in a sentence.
    pub about: &'static str,
}

/// A transformation of a function that keeps every bit of its results.
#[derive(Clone, Copy, Debug)]
pub struct Pass {
    /// What it is.
    pub step: Step,
    /// The function after it; none if it changes nothing.
    pub(crate) run: fn(&Function) -> Option<Function>,
}

impl PartialEq for Pass {
    fn eq(&self, other: &Pass) -> bool {
        self.step == other.step
    }
}

impl Eq for Pass {}

impl Pass {
    /// The function after the pass; none if it changes nothing, or if the function is nested too
    /// deeply to look at.
    pub fn run(&self, function: &Function) -> Option<Function> {
        (self.run)(function)
    }

    /// Its name.
    pub fn name(&self) -> &'static str {
        self.step.name
    }
}

/// A pass that changed a function, and the function after it.
#[derive(Clone, PartialEq, Debug)]
pub struct Applied {
    /// The name of the pass.
    pub pass: &'static str,
    /// The function after it.
    pub function: Function,
}

/// Passes one after the other.
#[derive(Clone, Copy, Debug)]
pub struct Pipeline {
    /// Its name.
    pub name: &'static str,
    /// What goes through it.
    pub about: &'static str,
    /// The passes, in order.
    pub passes: &'static [&'static Pass],
}

impl Pipeline {
    /// The function after all passes; those that changed it are added to `applied`.
    pub fn run(&self, function: Function, applied: &mut Vec<Applied>) -> Function {
        self.passes.iter().fold(function, |function, pass| match pass.run(&function) {
            Some(function) => {
                applied.push(Applied { pass: pass.name(), function: function.clone() });
                function
            }
            None => function,
        })
    }
}

/// The pass of that name.
pub fn named(name: &str) -> Option<&'static Pass> {
    crate::ALL.into_iter().find(|pass| pass.name() == name)
}

/// The function that a rewriting gives, if it is another one.
pub(crate) fn changed(function: &Function, new: Function) -> Option<Function> {
    (new != *function).then_some(new)
}

/// Arithmetic on the values of loop variables as data becomes arithmetic on indices.
pub const INDEX_ARITHMETIC: Pass = Pass {
    step: Step {
        name: "index-arithmetic",
        literature: "induction-variable analysis without overflow, as in LLVM's scalar evolution",
        about: "data arithmetic on loop variables becomes index arithmetic where 64 bits are enough; clamps of subscripts that are in range are removed",
    },
    run: |function| changed(function, indices::function(function)),
};

/// Expressions, loops that never run and dead branches.
pub const SIMPLIFICATION: Pass = Pass {
    step: Step {
        name: "simplification",
        literature: "algebraic simplification, dead code elimination",
        about: "subscripts and conditions become shorter; loops that never run are removed, and a loop that runs once becomes its body",
    },
    run: |function| changed(function, simplify::function(function)),
};

/// As [`SIMPLIFICATION`], with the quotients that C has.
pub const SIMPLIFICATION_FOR_C: Pass = Pass {
    step: Step {
        name: "simplification-for-c",
        literature: "algebraic simplification, strength reduction of division",
        about: "as simplification; and floor division becomes C's where operands are not negative",
    },
    run: |function| changed(function, simplify::function_for_c(function)),
};
