//! Rounds without a tile. Cores that share boxes come by equally often: a loop over a core's tiles
//! around such a box, `for it in core..end step cores`, goes on while the first of these cores has
//! a tile. In the rounds that a core has beyond its own tiles it may take part in what the others
//! need, and nothing else:
//!
//! - nothing goes out of its local memory;
//! - what comes in lies inside its array, and no core writes that array meanwhile.
//!
//! That is decided for all sizes, by the model of the function with loops that are so much longer.
//! What a core works on there stays in local memory, and is the target's matter, which leaves it
//! out.

use std::collections::BTreeSet;

use loops::{Code, CopyKind, Diagnostic, Expr, Function, Loop, LoopKind, Name, Stmt};

use super::elementwise::Role;
use super::{Kernels, meaningful_sizes};
use crate::fault::{self, Result};
use crate::model::{Model, Statement};

/// Marks of boxes that cores move together.
const TOGETHER: [&str; 6] =
    ["along_row", "along_column", "among_all", "kept_among_all", "cast_to_all", "by_itself"];

/// Arrays that something goes out to, each with the loop over cores where that is.
type Written<'a> = BTreeSet<(Option<usize>, &'a Name)>;

/// The loop over cores around a statement.
fn phase(statement: &Statement) -> Option<usize> {
    statement.loops.iter().find(|l| l.kind == LoopKind::Parallel).map(|l| l.number)
}

/// # Errors
/// `P0718`
pub(super) fn check(ctx: &isl::Ctx, kernels: &Kernels<'_>) -> Result<()> {
    let Some(function) = longer(&kernels.program.function) else { return Ok(()) };
    let model = Model::with_whole_updates(ctx, &function)?.exact()?;
    let mut written = Written::new();
    for (s, _) in kernels.statements().filter(|(_, role)| matches!(role, Role::Copy(CopyKind::Put, _))) {
        written.extend(s.accesses.iter().filter(|t| t.write).map(|t| (phase(s), &t.array)));
    }
    for (statement, role) in kernels.statements() {
        let Some(more) = model.statements.iter().find(|s| s.label == statement.label) else { continue };
        let beyond = || more.domain.subtract(&statement.domain)?.intersect_params(&kernels.context);
        let beyond = beyond().map_err(fault::library)?;
        if beyond.is_empty().map_err(fault::library)? {
            continue;
        }
        let wrong = match role {
            Role::Copy(CopyKind::Put, _) => Some(("copies something back".to_owned(), beyond)),
            Role::Copy(CopyKind::Get, _) => fetched(kernels, &model, more, &beyond, &written)?,
            Role::Compute | Role::Wait(_) | Role::Begin => None,
        };
        let Some((what, beyond)) = wrong else { continue };
        let told = kernels.program.told(&statement.label);
        let message = format!("`{told}` {what} in a round in which a core has no tile");
        let diagnostic = Diagnostic::general(Code("P0718"), message);
        return Err(match kernels.example(more, &beyond) {
            Ok(example) => diagnostic.note(format!("for example {example}")),
            Err(_) => diagnostic,
        });
    }
    Ok(())
}

/// What is wrong with elements that come in in such rounds.
fn fetched(
    kernels: &Kernels<'_>,
    model: &Model,
    statement: &Statement,
    beyond: &isl::Set,
    written: &Written<'_>,
) -> Result<Option<(String, isl::Set)>> {
    for touch in statement.accesses.iter().filter(|t| !t.write) {
        if written.contains(&(phase(statement), &touch.array)) {
            let what = format!("reads `{}`, which cores write meanwhile,", touch.array);
            return Ok(Some((what, beyond.clone())));
        }
        let function = &kernels.model.function;
        let Some(param) = function.params.iter().find(|p| p.name == touch.array) else { continue };
        let touched = || touch.relation.intersect_domain(beyond)?.range();
        let touched = touched().map_err(fault::library)?;
        let Some(outside) = meaningful_sizes::outside(model, &param.dims, &touched)? else { continue };
        let beyond = beyond.intersect_params(&outside).map_err(fault::library)?;
        if !beyond.is_empty().map_err(fault::library)? {
            return Ok(Some((format!("leaves `{}`", touch.array), beyond)));
        }
    }
    Ok(None)
}

/// The function whose loops over tiles go on while the first core has one, where cores share in
/// them; none if none do.
fn longer(function: &Function) -> Option<Function> {
    let mut pass = Pass { cores: Vec::new(), tiles: Vec::new(), any: false };
    let body = pass.statements(&function.body);
    pass.any.then(|| Function { body, ..function.clone() })
}

struct Pass {
    /// Loops over cores around, with their ends.
    cores: Vec<(Name, i64)>,
    /// Loops over tiles around, with their cores.
    tiles: Vec<(Name, Name)>,
    any: bool,
}

impl Pass {
    fn statements(&mut self, body: &[Stmt]) -> Vec<Stmt> {
        body.iter().map(|stmt| self.statement(stmt)).collect()
    }

    fn statement(&mut self, stmt: &Stmt) -> Stmt {
        match stmt {
            Stmt::Loop(l) => Stmt::Loop(self.loop_(l)),
            Stmt::Block { mark, body } => Stmt::Block { mark: mark.clone(), body: self.statements(body) },
            Stmt::If { cond, then, otherwise } => {
                let (then, otherwise) = (self.statements(then), self.statements(otherwise));
                Stmt::If { cond: cond.clone(), then, otherwise }
            }
            other => other.clone(),
        }
    }

    fn loop_(&mut self, l: &Loop) -> Loop {
        let (cores, tiles) = (self.cores.len(), self.tiles.len());
        let mut upper = l.upper.clone();
        if let (LoopKind::Parallel, Expr::Int(count)) = (l.kind, &l.upper) {
            self.cores.push((l.var.clone(), *count));
        } else if let Some((core, _)) =
            self.cores.iter().find(|(core, n)| l.lower == Expr::Var(core.clone()) && l.step == *n)
            && l.body.iter().any(together)
        {
            upper = l.upper.substitute(&|name| self.first(name)) + Expr::Var(core.clone());
            self.tiles.push((l.var.clone(), core.clone()));
            self.any = true;
        }
        let body = self.statements(&l.body);
        self.cores.truncate(cores);
        self.tiles.truncate(tiles);
        Loop { upper, body, ..l.clone() }
    }

    /// What a name is for the first core, in the round in which a core is.
    fn first(&self, name: &Name) -> Option<Expr> {
        if self.cores.iter().any(|(core, _)| core == name) {
            return Some(Expr::Int(0));
        }
        let (tile, core) = self.tiles.iter().rev().find(|(tile, _)| tile == name)?;
        Some(Expr::Var(tile.clone()) - Expr::Var(core.clone()))
    }
}

fn together(stmt: &Stmt) -> bool {
    stmt.nodes()
        .any(|s| matches!(s, Stmt::Block { mark: Some(mark), .. } if TOGETHER.contains(&mark.as_str())))
}
