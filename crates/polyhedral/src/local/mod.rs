//! The check of programs that are mapped to cores with local memory, by code that did not make
//! them.
//!
//! A mapped function has blocks marked `kernel`; in them parallel loops over the cores, in these
//! local arrays, copies with tags and waits. The check reads the text alone, in a context of its
//! own, and decides with the set library, for all sizes:
//!
//! - local memory fits, at every place of the text (`P0711`);
//! - what is read of local memory was brought in or written before (`P0712`);
//! - what is written goes back: the last write of an element is put, once (`P0713`);
//! - each copy is waited for before its data is used or changed and before its local array ends
//!   (`P0714`);
//! - no core writes a word that another writes or reads before the next barrier, which is where a
//!   parallel loop ends (`P0715`);
//! - nothing else reaches main memory, except scalars that are only read (`P0716`);
//! - copies that cores make together are the same for all of them (`P0717`);
//! - a core that comes by without a tile, for what others share, moves nothing of its own
//!   (`P0718`).
//!
//! Not here: whether a kernel computes what the original does. That is the legality checker's
//! question, and the interpreter's.

pub(crate) mod collective_copies;
mod elementwise;
mod main_memory;
mod meaningful_sizes;
mod memory_use;
mod rounds;
mod scratchpad;
mod view;

use std::collections::BTreeSet;

use isl::Ctx;
use loops::visit::nodes;
use loops::{Code, Diagnostic, Function, Name, ParamMode, Stmt};

use crate::fault::{self, Result};
use crate::limits::Limits;
use crate::model::{Model, Statement};
use elementwise::{Elementwise, Role};

/// What was checked.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Report {
    /// Kernels.
    pub kernels: usize,
    /// Local arrays.
    pub locals: usize,
    /// Copies in the text.
    pub copies: usize,
    /// Bytes of local memory where the most is in use, of one core.
    pub bytes: i64,
}

/// Checks what a function was mapped to, for cores with `capacity` bytes of local memory for
/// arrays. Sizes for which the original leaves its own arrays do not count. `limits` bound the work
/// in the set library.
///
/// # Errors
/// `P0711` to `P0718` as above; `P0101`, `P0102` for what sets cannot hold; `P0002` if the limit is
/// reached.
pub fn check(original: &Function, mapped: &Function, capacity: i64, limits: Limits) -> Result<Report> {
    results_come_out(original, mapped)?;
    let program = elementwise::expand(mapped)?;
    let ctx = Ctx::new();
    limits.run(&ctx, || {
        let model = Model::with_whole_updates(&ctx, &program.function)?.exact()?;
        let context =
            meaningful_sizes::inside(&ctx, original)?.intersect(&model.context).map_err(fault::library)?;
        let kernels = Kernels { model: &model, program: &program, context };
        kernels.no_direct_access()?;
        let bytes = memory_use::check(&kernels, capacity)?;
        for local in &program.locals {
            scratchpad::check(&kernels, local)?;
        }
        main_memory::check(&kernels)?;
        collective_copies::check(mapped)?;
        rounds::check(&ctx, &kernels)?;
        Ok(Report { kernels: program.kernels, locals: program.locals.len(), copies: program.copies, bytes })
    })
}

/// Arrays that the original writes, and those that are only for results, are written in main memory
/// at all.
fn results_come_out(original: &Function, mapped: &Function) -> Result<()> {
    let (before, after) = (written(original), written(mapped));
    for param in mapped.params.iter().filter(|p| p.mode != ParamMode::In) {
        let due = before.contains(&param.name) || param.mode == ParamMode::Out;
        if due && !after.contains(&param.name) {
            let message = format!("nothing is copied back to `{}`, which is a result", param.name);
            return Err(Diagnostic::general(Code("P0713"), message));
        }
    }
    Ok(())
}

/// The arrays that a function assigns or copies something back to.
fn written(function: &Function) -> BTreeSet<Name> {
    nodes(&function.body).filter_map(Stmt::written).cloned().collect()
}

/// The model of a function whose copies are loops over elements, and what each statement stands
/// for.
struct Kernels<'a> {
    model: &'a Model,
    program: &'a Elementwise,
    /// The sizes that count.
    context: isl::Set,
}

impl<'a> Kernels<'a> {
    /// The statements in kernels, with their roles.
    fn statements(&self) -> impl Iterator<Item = (&'a Statement, &'a Role)> + '_ {
        let roles = &self.program.roles;
        self.model.statements.iter().filter_map(|s| Some((s, roles.get(&s.label)?)))
    }

    /// Waits for a tag.
    fn waits(&self, tag: &Name) -> impl Iterator<Item = &'a Statement> + '_ {
        let tag = tag.clone();
        self.statements().filter(move |(_, role)| matches!(role, Role::Wait(t) if *t == tag)).map(|(s, _)| s)
    }

    fn no_direct_access(&self) -> Result<()> {
        let function = &self.model.function;
        let param = |name: &Name| function.params.iter().find(|p| p.name == *name);
        let written = |name: &Name| {
            self.statements().any(|(s, _)| s.accesses.iter().any(|t| t.write && t.array == *name))
        };
        for (statement, role) in self.statements() {
            if !matches!(role, Role::Compute) {
                continue;
            }
            for touch in &statement.accesses {
                let Some(param) = param(&touch.array) else { continue };
                if touch.write || !param.dims.is_empty() || written(&touch.array) {
                    let verb = if touch.write { "writes" } else { "reads" };
                    let message = format!(
                        "`{}` in a kernel {verb} `{}` in main memory without a copy",
                        self.program.told(&statement.label),
                        touch.array
                    );
                    return Err(Diagnostic::general(Code("P0716"), message));
                }
            }
        }
        Ok(())
    }

    /// One concrete instance of a statement, in words.
    fn example(&self, statement: &Statement, set: &isl::Set) -> Result<String> {
        let sample = || -> isl::Result<String> {
            let mut small = set.clone();
            for k in 0..small.dim(isl::Dim::Param)? {
                let bounded =
                    small.upper_bound(isl::Dim::Param, k, 100)?.lower_bound(isl::Dim::Param, k, 0)?;
                if !bounded.is_empty()? {
                    small = bounded;
                }
            }
            let point = small.sample_point()?;
            let mut parts = Vec::new();
            for (k, around) in statement.loops.iter().enumerate() {
                parts.push(format!(
                    "{} = {}",
                    self.program.told(&around.var),
                    point.coordinate(isl::Dim::SET, k)?
                ));
            }
            for (k, size) in self.model.function.sizes.iter().enumerate() {
                parts.push(format!("{size} = {}", point.coordinate(isl::Dim::Param, k)?));
            }
            Ok(parts.join(", "))
        };
        sample().map_err(fault::library)
    }
}
