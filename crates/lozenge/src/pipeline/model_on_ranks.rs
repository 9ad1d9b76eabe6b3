//! Models for several ranks: every rank holds the model and its arrays, and operators are dealt
//! out. Each rank computes its part of an operator, and gets the rest of its results from the
//! others.
//!
//! An operator of which only one rank could do a part, or whose ranks would wait for each other,
//! is run by every rank for itself. Models whose parts are on different ranks are not made.

use graph::Model;
use graph::plan::{self, Kernel};
use loops::ranks::{At, Step, walk};
use loops::{Function, Name, Program};
use polyhedral::ranks::Options;
use targets::mpi::{self, Ready, Shared};
use targets::{Emitted, Signature};

use super::graph::{self as models, CompiledModel, ModelRequest};
use crate::failure::Failure;
use crate::request::{Event, Request};

/// Ranks that layouts are chosen for, where no number is given.
pub const RANKS: u32 = 4;

/// A model for ranks.
#[derive(Debug)]
pub struct ModelOnRanks {
    /// The plan, and the C of the model and its operators.
    pub compiled: CompiledModel,
    /// How many operators are dealt out, and which are not, with a reason.
    pub notes: Vec<String>,
}

/// What became of an operator: dealt out, or why not.
type Dealt = Result<polyhedral::ranks::Distributed, String>;

/// Compiles a prepared model for ranks.
///
/// # Errors
/// Operators without a program, types that programs lack, and what the stages refuse. An operator
/// that is not dealt out is no error.
pub fn compile(model: &Model, request: &ModelRequest) -> Result<ModelOnRanks, Failure> {
    let progress = &request.progress;
    progress.step("planning memory and calls");
    let plan = plan::plan(model, None)?;
    progress.tell(Event::Count("dealing out operators", plan.kernels.len() as u64));
    let mut operators = Vec::new();
    for kernel in &plan.kernels {
        progress.tell(Event::Item(&kernel.operator.to_string()));
        operators.push(operator(kernel, i64::from(request.ranks.unwrap_or(RANKS)))?);
        progress.tell(Event::Counted);
    }
    progress.tell(Event::End);
    progress.step("writing the C");
    let notes = notes(&plan.kernels, &operators);
    let functions: Vec<Function> = operators.iter().map(|(function, _)| function.clone()).collect();
    let program = Program { functions };
    // The signatures are those of the functions as they stand.
    let options = targets::Options { local: true, ..targets::Options::default() };
    let emitted = targets::emit(&program, &options)?;
    let source = source(operators, &emitted.signatures)?;
    let emitted = Emitted { source, ..emitted };
    Ok(ModelOnRanks { compiled: models::assembled(plan, program, emitted, request)?, notes })
}

/// The C of operators.
fn source(operators: Vec<(Function, Dealt)>, signatures: &[Signature]) -> Result<String, Failure> {
    let (mut own, mut all) = (Vec::new(), Vec::new());
    for ((function, dealt), signature) in operators.into_iter().zip(signatures) {
        match dealt {
            Err(_) => own.push(function),
            Ok(dealt) => {
                let kernels = mpi::kernels(&dealt.program).into_iter().map(|kernel| {
                    let function = passes::MODEL.run(kernel.function.clone(), &mut Vec::new());
                    mpi::kernels::Kernel { function, ..kernel }
                });
                let kernels = kernels.collect();
                let ready = Ready { program: dealt.program, kernels };
                all.push(Shared { ready, signature: signature.clone() });
            }
        }
    }
    mpi::shared(&own, &all).map_err(Failure::from)
}

/// Deals out an operator, where that can be done.
fn operator(kernel: &Kernel, ranks: i64) -> Result<(Function, Dealt), Failure> {
    let of = |d: loops::Diagnostic| d.note(format!("in the program of {}", kernel.operator));
    let open = models::lower(kernel, &passes::MODEL_MAPPED).map_err(of)?;
    let dealt = dealt(&open, ranks);
    let function = match &dealt {
        Ok(_) => open,
        Err(_) => models::lower(kernel, &passes::MODEL).map_err(of)?,
    };
    Ok((function, dealt))
}

fn dealt(function: &Function, ranks: i64) -> Dealt {
    let request = Request::default();
    let options = Options { ranks, reassociate: request.reassociate, ..Options::default() };
    let found = polyhedral::ranks::map(function, &options).map_err(|d| d.message)?;
    polyhedral::ranks::check(&found.program).map_err(|d| d.message)?;
    let mut alone = None;
    walk(&found.program.body, &mut |step| match step {
        Step::Run(run) if run.at != At::All => {
            alone = Some("a part of it would be on one rank, or ranks would wait for each other");
        }
        Step::Return(_) => alone = Some("a part of it would be on one rank"),
        _ => {}
    });
    if found.program.places.iter().all(loops::ranks::Placed::is_everywhere) {
        alone = Some("there is nothing to deal out");
    }
    let plain = |elem: &loops::Elem| matches!(elem, loops::Elem::Scalar(_));
    if found.program.places.iter().any(|placed| !plain(&placed.array.elem) || placed.array.dims.len() > 8) {
        alone = Some("it has arrays of pairs, or of more than 8 dimensions");
    }
    match alone {
        Some(why) => Err(why.to_owned()),
        None => Ok(found),
    }
}

fn notes(kernels: &[Kernel], operators: &[(Function, Dealt)]) -> Vec<String> {
    let count = operators.iter().filter(|(_, dealt)| dealt.is_ok()).count();
    let mut notes = vec![format!("{count} of {} operators are dealt out to ranks", operators.len())];
    let mut reasons: Vec<(Name, &str)> = Vec::new();
    for (kernel, (_, dealt)) in kernels.iter().zip(operators) {
        if let Err(why) = dealt {
            let reason = (Name::new(&kernel.operator), why.as_str());
            if !reasons.contains(&reason) {
                reasons.push(reason);
            }
        }
    }
    notes.extend(reasons.iter().map(|(name, why)| format!("{name} on every rank: {why}")));
    notes
}
