//! The parts of a plan: calls, copies, branches and loops, with places in memory.

use loops::Size;

use crate::types::ElementType;

/// Where data are.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Place {
    /// The input of the model with this number (of those that are not parameters).
    Input(usize),
    /// The output with this number.
    Output(usize),
    /// The parameters, from this byte.
    Parameters(usize),
    /// The arena, from this byte.
    Arena(usize),
    /// The room of the arena with this number.
    Room(usize),
}

/// What a model does next.
#[derive(Clone, Debug)]
pub enum Step {
    /// A kernel runs.
    Call(KernelCall),
    /// Bytes are copied.
    Copy(Copy),
    /// One list of steps or the other.
    Branch(Branch),
    /// Steps over and over.
    Repeat(Repeat),
    /// Nothing goes on: a branch is taken that does not fit the sizes. The text says why.
    Fail(String),
}

/// Bytes that are copied. Inside a [`Repeat`] the source or the destination may move on with each
/// iteration.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Copy {
    /// From where.
    pub from: Slice,
    /// To where.
    pub to: Slice,
    /// How many.
    pub bytes: Size,
}

/// A place, or a part of a place that moves on with each iteration of the innermost [`Repeat`].
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Slice {
    /// The place of the whole.
    pub place: Place,
    /// The byte of it in the first round.
    pub first: Size,
    /// So many bytes further with each round.
    pub step: Size,
}

impl From<Place> for Slice {
    fn from(place: Place) -> Slice {
        Slice { place, first: Size::default(), step: Size::default() }
    }
}

/// Steps that depend on a condition.
#[derive(Clone, Debug)]
pub struct Branch {
    /// A truth value.
    pub condition: Place,
    /// Where it holds.
    pub then: Vec<Step>,
    /// Where it does not.
    pub otherwise: Vec<Step>,
    /// The node, for comments.
    pub node: String,
}

/// Steps that are repeated.
#[derive(Clone, Debug)]
pub struct Repeat {
    /// How often at most.
    pub rounds: Rounds,
    /// A truth value that is tested before each iteration.
    pub condition: Option<Place>,
    /// Where the number of the round is noted (an `i64`).
    pub number: Option<Place>,
    /// What is done each time.
    pub body: Vec<Step>,
    /// The node, for comments.
    pub node: String,
}

/// How often steps are repeated at most.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Rounds {
    /// So often.
    Known(Size),
    /// As often as the `i64` at this place says.
    Data(Place),
    /// As often as the condition holds.
    Unlimited,
}

impl Step {
    /// Whether a list of steps has a branch that does not fit the sizes.
    pub fn fails(steps: &[Step]) -> bool {
        steps.iter().any(|step| match step {
            Step::Fail(_) => true,
            Step::Call(_) | Step::Copy(_) => false,
            Step::Branch(branch) => Step::fails(&branch.then) || Step::fails(&branch.otherwise),
            Step::Repeat(repeat) => Step::fails(&repeat.body),
        })
    }

    /// The calls of kernels in a list of steps, those in branches and loops too, in their order in
    /// the text.
    pub fn calls(steps: &[Step]) -> Vec<&KernelCall> {
        let mut calls = Vec::new();
        for step in steps {
            match step {
                Step::Call(call) => calls.push(call),
                Step::Copy(_) | Step::Fail(_) => {}
                Step::Branch(branch) => {
                    calls.extend(Step::calls(&branch.then));
                    calls.extend(Step::calls(&branch.otherwise));
                }
                Step::Repeat(repeat) => calls.extend(Step::calls(&repeat.body)),
            }
        }
        calls
    }
}

/// A call of a kernel.
#[derive(Clone, Debug)]
pub struct KernelCall {
    /// Which kernel.
    pub kernel: usize,
    /// The sizes that it is called with.
    pub sizes: Vec<Size>,
    /// Its arguments.
    pub arguments: Vec<Place>,
    /// Its results.
    pub results: Vec<Place>,
    /// Indices that have to be inside before it may run.
    pub checks: Vec<Check>,
    /// The node, for comments.
    pub node: String,
}

/// Indices that are not known before the model runs. The kernel would clamp those that are out of
/// bounds.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Check {
    /// Where they are.
    pub place: Place,
    /// Type of their elements.
    pub elem: ElementType,
    /// How many there are.
    pub count: Size,
    /// The extents of the axes that they count along, in turns.
    pub extents: Vec<Size>,
}
