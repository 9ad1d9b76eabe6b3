//! A version for several threads beside that for one, where one order is not the best for both.
//!
//! Each has a schedule of its own, and is checked by itself. The number of threads is tested when
//! the program runs, and whether there is something for each of them.

use std::collections::BTreeMap;

use loops::visit::with_distinct_locals;
use loops::{Assign, BinaryOp, CompareOp, Expr, Function, Name, Stmt};

use super::lowering::{self, Made};
use super::schedule::{Code, THREAD_VERSIONING};
use super::{Options, Report, Tiling};
use crate::codegen::{Generated, Instance};
use crate::dependence::Dependence;
use crate::fault::{self, Result};
use crate::limits::Limits;
use crate::locality::Caches;
use crate::model::Model;
use crate::transform::{OnThreads, Request, row_fusion};

/// The code of a schedule, and behind a test that of another one for several threads.
///
/// # Errors
/// Those of the set library, and what is wrong with the other schedule.
pub(super) fn added(
    made: Made,
    other: &OnThreads,
    model: &Model,
    function: &Function,
    options: &Options,
    limits: Limits,
    report: &mut Report,
) -> Result<Made> {
    let on_threads = lowering::generate_checked(model, function, &other.tree, options, limits, report)?;
    let sizes = other.sizes.iter().filter(|(size, _)| !matches!(size, Expr::Int(_)));
    let few = sizes.map(|(size, most)| Expr::compare(CompareOp::Le, size.clone(), Expr::Int(*most)));
    let cond = few.fold(Expr::one_thread(), |a, b| Expr::binary(BinaryOp::Or, a, b));
    let (otherwise, labels) = renamed(&on_threads.generated, &made.generated);
    let Generated { function: alone, mut instances } = made.generated.clone();
    instances.extend(labels);
    let body = vec![Stmt::If { cond, then: alone.body, otherwise }];
    let function = with_distinct_locals(&Function { body, ..alone });
    let made = made.then(THREAD_VERSIONING, Generated { function, instances });
    Ok(Made { code: Code { threads: true, ..made.code }, ..made })
}

/// The version for several threads that the shape of a program has, for the code of a given
/// schedule.
///
/// # Errors
/// `P0202` if the shape has none, and those of [`added`].
pub(super) fn again(
    made: Made,
    (model, dependences): (&Model, &[Dependence]),
    function: &Function,
    options: &Options,
    limits: Limits,
    report: &mut Report,
) -> Result<Made> {
    let caches = match &options.tiling {
        Tiling::Caches(caches) => *caches,
        _ => Caches::default(),
    };
    let request = Request { width: None, caches, parallel: options.parallel, vector: options.vector };
    let shaped = row_fusion::strips(model, dependences, request)?;
    let Some(other) = shaped.and_then(|shaped| shaped.on_threads) else {
        let message = format!("`{}` knows no other order for several threads", THREAD_VERSIONING.name);
        return Err(fault::edit(message));
    };
    added(made, &other, model, function, options, limits, report)
}

/// The loops of a function and where its statements come from, with other labels than those of
/// another function.
fn renamed(generated: &Generated, other: &Generated) -> (Vec<Stmt>, BTreeMap<Name, Instance>) {
    let mut labels: BTreeMap<Name, Name> = BTreeMap::new();
    for label in generated.instances.keys() {
        let taken = |name: &Name| {
            other.instances.contains_key(name)
                || generated.instances.contains_key(name)
                || labels.values().any(|own| own == name)
        };
        let mut names = (1..).map(|k| Name::new(format!("{label}_t{k}")));
        labels.extend(names.find(|name| !taken(name)).map(|name| (label.clone(), name)));
    }
    let of = |label: &Name| labels.get(label).unwrap_or(label).clone();
    let instances = generated.instances.iter().map(|(label, at)| (of(label), at.clone())).collect();
    (relabelled(&generated.function.body, &of), instances)
}

fn relabelled(stmts: &[Stmt], of: &dyn Fn(&Name) -> Name) -> Vec<Stmt> {
    let one = |stmt: &Stmt| match stmt {
        Stmt::Assign(assign) => {
            Stmt::Assign(Assign { label: assign.label.as_ref().map(of), ..assign.clone() })
        }
        other => other.map(&mut Expr::clone, &mut |inner| relabelled(inner, of)),
    };
    stmts.iter().map(one).collect()
}
