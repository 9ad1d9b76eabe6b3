//! Acceptor- and continuation-passing translation of functional programs to loop programs.
//!
//! [`translate()`] turns a definition of the functional language into a function of the loop IR. It
//! uses the rules of the paper (sections 2.1 to 2.3) and their extensions, which `docs/rules.md`
//! lists. Every rule has a name, and every application of one is a step of the [`Derivation`].
//!
//! ```text
//! A(e)(out)  --translate-->  commands  --codegen-->  loops::Function
//! ```
//!
//! - [`phrase`] is the imperative language. `translate` has the rules `a.…` and `c.…` and the
//!   macros, `codegen` has `cgc`, `cga` and `cge`.
//! - Paper mode follows the published rules (corrected). Default mode fuses maps into their readers
//!   and writes results where they belong.
//!
//! What is deliberately not here: no inference, no evaluation, no choice of strategies, no target.

pub mod certificate;
pub(crate) mod codegen;
pub mod derivation;
pub mod env;
pub mod index;
mod info;
pub mod phrase;
pub mod print;
pub mod race;
pub mod rules;
pub(crate) mod translate;
pub mod typecheck;
mod view;

use functional::Definition;
use loops::{Code, Diagnostic, Function, Name, Span};

pub use derivation::{Derivation, Phrase, RuleStep};
pub use phrase::Comm;

use codegen::{Frame, Generator};
use phrase::{Acc, CommKind, Exp, Role};
use translate::Translator;

/// How a definition is translated.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Mode {
    /// Maps that are read at once are fused into their readers. Names come from the user's
    /// variables.
    #[default]
    Default,
    /// The rules exactly as the paper gives them: a temporary for every `map` in continuation
    /// position, names `v<k>` and `i<k>`.
    Paper,
}

/// A translated definition.
#[derive(Clone, PartialEq, Debug)]
pub struct Translation {
    /// The loop program.
    pub function: Function,
    /// Every step from the definition to it.
    pub derivation: Derivation,
    /// The commands between the two: the first two translations done, code generation not yet.
    pub dpia: Comm,
    /// How parameters of the function relate to those of the definition.
    pub abi: Abi,
}

impl Translation {
    /// The commands in the paper's notation.
    pub fn commands(&self) -> String {
        print::commands(&self.dpia, &self.derivation.bindings)
    }
}

/// Which parameters of the loop function hold which data of the definition.
///
/// The function has the definition's sizes, then its parameters in order, then the result.
///
/// - A number is a parameter without dimensions.
/// - Nested arrays are one array.
/// - Arrays of pairs of numbers have pairs as elements.
/// - An array of pairs that hold arrays, and a pair that holds an array, are two parameters (`x_1`,
///   `x_2`).
/// - Indices are `i64`.
/// - A vector is the innermost dimension.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Abi {
    /// For each parameter of the definition, in order: its name, and the parameters of the function
    /// that hold it.
    pub params: Vec<(Name, Vec<Name>)>,
    /// The parameters that hold the result.
    pub result: Vec<Name>,
}

fn not_associative(span: Span, [x, y, z]: [i32; 3]) -> Diagnostic {
    let message = "the function of a parallel pattern does not associate";
    let label = format!("`f (f x y) z` is not `f x (f y z)` for x = {x}, y = {y}, z = {z}");
    Diagnostic::error(Code("D0103"), message, span, label)
        .note("results of blocks are combined, which gives what the sequential pattern gives if it does")
        .help("use `reduceSeq` or `scanSeq`, or another function: of pairs, such as linear functions")
}

/// Translates a definition.
///
/// Recursion is as deep as the definition is nested. For deep input run it on a thread with a large
/// stack.
///
/// # Errors
/// `D0101` if a `map` or `reduce` has no strategy, `D0103` if `reducePar` cannot be privatised,
/// `D0105` and `D0106` if views lead to expressions that are too large.
pub fn translate(definition: &Definition, mode: Mode) -> Result<Translation, Diagnostic> {
    if let Some((f, numbers)) = functional::blocks::refuted(definition) {
        return Err(not_associative(f.body.span(), numbers));
    }
    let written_out = functional::blocks::written_out(definition);
    let original = definition;
    let definition = written_out.as_ref().unwrap_or(original);
    let mut translator = Translator::new(definition, mode);
    let (params, env) = translator.parameters();
    let ty = definition.body.ty().clone();
    let out = translator.fresh("out", None, Role::Parameter);
    let into = |body| Comm::from(CommKind::A(Exp::closure(body, &env), Acc::var(&out, ty.clone())));
    let whole = into(&definition.body);
    if written_out.is_some() {
        translator.record("a.blocks", &into(&original.body), &whole);
    }
    let dpia = translator.normalise(whole)?;
    let mut derivation = translator.finish();
    race::check(&dpia, &out, &derivation.bindings).map_err(|what| {
        Diagnostic::error(Code("D0104"), "a parallel loop has a data race", definition.span, what)
            .note("iteration `i` of a parallel loop writes element `i` of its result only")
    })?;
    let frame = Frame { params, out: (out, ty), body: dpia.clone() };
    let generator = Generator::new(definition, mode, &derivation.bindings);
    let (function, abi, steps) = generator.function(&frame)?;
    derivation.steps.extend(steps);
    Ok(Translation { function, derivation, dpia, abi })
}
