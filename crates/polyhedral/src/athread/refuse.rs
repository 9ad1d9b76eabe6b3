//! Why a function has no kernel, and what its user can do about it.

use loops::value::Builtin;
use loops::{Code, Diagnostic, Expr, Function, Name, Scalar, Stmt};

use super::{Options, reduce};
use crate::fault;
use crate::model::Model;
use crate::tree::{Node, Tree};

/// `P0801`. The scheduler's tree says whether diagonals could run in parallel.
pub(super) fn nothing_parallel(model: &Model, scheduled: Option<&Tree>) -> Diagnostic {
    let name = &model.function.name;
    let deep = model.statements.iter().any(|s| s.loops.len() >= 2);
    if deep && scheduled.is_some_and(|tree| wavefront(&tree.root)) {
        return Diagnostic::general(
            Code("P0801"),
            format!("in `{name}` only wavefronts can run in parallel, and those are not mapped to the cores"),
        )
        .note("every loop carries a dependence (`lozenge deps` prints them), but none goes back in any of them: iterations on a diagonal could run at the same time")
        .help("use `--target openmp`, which runs the tiles on a diagonal in parallel; or interchange or split the loops by hand so that one of them carries nothing");
    }
    Diagnostic::general(
        Code("P0801"),
        format!("nothing in `{name}` can run in parallel, so there is no kernel for the cores"),
    )
    .note("every loop carries a dependence: `lozenge deps` prints them")
    .help("use `--target openmp`, or leave the program on the host")
}

/// `P0806`
pub(super) fn uncommon(what: &str, scalar: Scalar) -> Diagnostic {
    let message = format!("{what} is of type {scalar}, and the cores are given f32, f64, i32, i64 and bool");
    Diagnostic::general(Code("P0806"), message)
        .note("transfers to local memory count in words of 4 bytes, and the vectors of the cores have a sign")
        .help("use `--target openmp`, or keep the data in arrays of `int` or `long` around the region")
}

/// What is outside of the polyhedral model has no kernel; the way out is the other target, whose loops need no model.
pub(super) fn on_cores(diagnostic: Diagnostic) -> Diagnostic {
    match diagnostic.code.0 {
        "P0101" | "P0102" if diagnostic.help.is_empty() => diagnostic.help(
            "use `--target openmp`, which needs no model of the loops: transfers to local memory must be known before the data is",
        ),
        _ => diagnostic,
    }
}

/// `P0102` for a function of the program: it is compiled for the host, and the cores' files have those of `math.h` alone.
pub(super) fn foreign_call(model: &Model) -> Option<Diagnostic> {
    model.statements.iter().find_map(|statement| {
        let mut foreign = None;
        statement.assign.value.walk(&mut |e| {
            if let Expr::Call { function, .. } = e
                && !mathematical(function)
            {
                foreign = Some(function.clone());
            }
        });
        let function = foreign?;
        let what = format!("the call of `{function}` in `{}`", statement.label);
        let reason =
            "functions of the program are compiled for the host, and the cores have those of `math.h` alone";
        let help = "write out what it computes, or use `--target openmp`";
        Some(fault::outside(&what, reason).help(help))
    })
}

/// Whether a function is one of `math.h`, those included that the interpreter does not know.
fn mathematical(function: &str) -> bool {
    const OTHERS: [&str; 9] =
        ["asinh", "acosh", "atanh", "erf", "erfc", "tgamma", "remainder", "fdim", "nextafter"];
    let known = |name: &str| OTHERS.contains(&name);
    Builtin::named(function).is_some() || known(function) || function.strip_suffix('f').is_some_and(known)
}

/// Whether there is a nest whose loops can be interchanged and none of which is parallel.
fn wavefront(node: &Node) -> bool {
    match node {
        Node::Band(band) => {
            let none = band.members.iter().all(|m| !m.coincident);
            (band.permutable && band.members.len() >= 2 && none) || wavefront(&band.child)
        }
        Node::Sequence(branches) | Node::Set(branches) => branches.iter().any(|b| wavefront(&b.child)),
        Node::Filter(branch) => wavefront(&branch.child),
        Node::Domain { child, .. }
        | Node::Context { child, .. }
        | Node::Mark { child, .. }
        | Node::Extension { child, .. }
        | Node::Expansion { child, .. }
        | Node::Guard { child, .. } => wavefront(child),
        Node::Leaf => false,
    }
}

/// What would get partial results if updates could be reordered, and has none because they may not.
pub(super) fn kept_in_order(function: &Function, options: &Options) -> Vec<Name> {
    if options.reassociate {
        return Vec::new();
    }
    let targets = |function: &Function| reduce::blocks(function, options).map_or(Vec::new(), |b| b.targets);
    let now = targets(&reduce::with_updates(function, false));
    let mut all = targets(&crate::optimize::reorderable(&reduce::with_updates(function, true)));
    all.retain(|name| !now.contains(name));
    all
}

/// How the updates of `name` get a permission to be reordered.
pub(super) fn permission(function: &Function, name: &Name) -> String {
    let mut chosen = false;
    for stmt in &function.body {
        stmt.walk(&mut |s| {
            if let Stmt::Assign(assign) = s {
                chosen |= assign.target.array == *name && matches!(assign.value, Expr::Select(..));
            }
        });
    }
    if chosen {
        return format!(
            "`{name}` is parallel with `--reassociate`: a choice (`a > {name} ? a : {name}`) depends on the order where there are NaN and zeros of both signs; `fmax` and `fmin` do not, and need no permission"
        );
    }
    format!("`{name}` is parallel with `--reassociate`, which lets its terms come in another order")
}
