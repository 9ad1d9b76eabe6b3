//! Why a function has no kernel, and what its user can do about it.

use loops::value::Builtin;
use loops::visit::assigns;
use loops::{BinaryOp, Code, Diagnostic, Expr, Function, Name, Scalar};

use super::{Options, choice, histograms, reductions};
use crate::dependence::Dependence;
use crate::fault;
use crate::model::Model;
use crate::tree::{Band, Node, Tree};

/// `P0801`. The scheduler's tree says whether diagonals could run in parallel.
pub(super) fn nothing_parallel(model: &Model, scheduled: Option<&Tree>) -> Diagnostic {
    let name = &model.function.name;
    let deep = model.statements.iter().any(|s| s.loops.len() >= 2);
    if deep && scheduled.is_some_and(|tree| has_band(tree, &wavefront)) {
        return Diagnostic::general(
            Code("P0801"),
            format!("in `{name}` only wavefronts can run in parallel, and those are not mapped to the cores"),
        )
        .note("every loop carries a dependence (`lozenge deps` prints them), but no dependence points backwards: iterations on a diagonal could run at the same time")
        .help("use `--target openmp`, which runs the tiles on a diagonal in parallel; or interchange or split the loops by hand so that one of them carries no dependence");
    }
    Diagnostic::general(
        Code("P0801"),
        format!("nothing in `{name}` can run in parallel, so there is no kernel for the cores"),
    )
    .note("every loop carries a dependence: `lozenge deps` prints them")
    .help("use `--target openmp`, or leave the program on the host")
}

/// `P0801` where iterations share nothing but the storage of local variables, for which the mapping
/// has found no other.
pub(super) fn one_place(model: &Model, storage: &[Dependence]) -> Diagnostic {
    let mut shared: Vec<&Name> = storage.iter().map(|dependence| &dependence.array).collect();
    shared.sort();
    shared.dedup();
    let names: Vec<String> = shared.iter().map(|name| format!("`{name}`")).collect();
    let names = names.join(", ");
    Diagnostic::general(
        Code("P0801"),
        format!("in `{}` iterations could run in parallel only if each had its own copy of {names}", model.function.name),
    )
    .note("a local variable gets a copy for each iteration if the loops around it have independent bounds; it is replaced by its value if that is still the same at each use")
    .help(format!("write the values of {names} where they are used, use loops with independent bounds, or use `--target openmp`"))
}

/// `P0802` for a histogram of which a core cannot have a copy.
pub(super) fn too_many_elements(array: &Name, elements: i64, bytes: i64, ldm: i64) -> Diagnostic {
    Diagnostic::general(
        Code("P0802"),
        format!("a copy of `{array}`, whose elements data tells, does not fit in local memory: {elements} elements are {bytes} bytes, but there are {ldm}"),
    )
    .note("each core counts in a copy of its own, which it needs as a whole")
    .help("say how many elements there are at most (`--size`, or an extent that is a number), choose a chip with more local memory (`--chip sw26010pro`), or use `--target openmp`")
}

/// `P0806`
pub(super) fn uncommon(what: &str, scalar: Scalar) -> Diagnostic {
    let message =
        format!("{what} is of type {scalar}, but the cores support only f32, f64, i32, i64 and bool");
    Diagnostic::general(Code("P0806"), message)
        .note("transfers to local memory count in words of 4 bytes, and vectors of the cores hold signed integers")
        .help("use `--target openmp`, or keep the data in arrays of `int` or `long` around the region")
}

/// What is outside of the polyhedral model has no kernel; the way out is the other target, whose
/// loops need no model.
pub(super) fn on_cores(diagnostic: Diagnostic) -> Diagnostic {
    match diagnostic.code.0 {
        "P0101" | "P0102" if diagnostic.help.is_empty() => diagnostic
            .help("use `--target openmp`: transfers to local memory must be known before the data is"),
        _ => diagnostic,
    }
}

/// `P0102` for what cores cannot compute: a function of the program, which is compiled for the host
/// while the cores' files have those of `math.h` alone; a shift by what may be beyond the width,
/// which C leaves open.
pub(super) fn not_for_cores(model: &Model) -> Option<Diagnostic> {
    model.statements.iter().find_map(|statement| {
        let refused = |e: &Expr| match e {
            Expr::Call { function, .. } if !mathematical(function) => Some((
                format!("the call of `{function}` in `{}`", statement.label),
                "functions of the program are compiled for the host; cores can call only those of `math.h`",
                "write out what it computes, or use `--target openmp`",
            )),
            Expr::Binary(BinaryOp::Shl | BinaryOp::Shr, _, count) if !within_width(count) => Some((
                format!("the shift by `{count}` in `{}`", statement.label),
                "cores shift only by constants from 0 to 31",
                "multiply or divide by a power of two from a table, or use `--target openmp`",
            )),
            _ => None,
        };
        let found = statement.assign.value.nodes().filter_map(refused).last();
        let (what, reason, help) = found?;
        Some(fault::outside(&what, reason).help(help))
    })
}

/// Whether a count is a constant below the width of each type that cores have.
fn within_width(count: &Expr) -> bool {
    match count {
        Expr::Int(value) => (0..32).contains(value),
        Expr::I32(value) => (0..32).contains(value),
        Expr::Cast(to, value) => to.is_int() && within_width(value),
        _ => false,
    }
}

/// Whether a function is one of `math.h`, those included that the interpreter does not know.
fn mathematical(function: &str) -> bool {
    const OTHERS: [&str; 9] =
        ["asinh", "acosh", "atanh", "erf", "erfc", "tgamma", "remainder", "fdim", "nextafter"];
    let known = |name: &str| OTHERS.contains(&name);
    Builtin::named(function).is_some() || known(function) || function.strip_suffix('f').is_some_and(known)
}

/// Whether a tree has a band of a kind.
pub(super) fn has_band(tree: &Tree, wanted: &dyn Fn(&Band) -> bool) -> bool {
    !tree.find(&|node| matches!(node, Node::Band(band) if wanted(band))).is_empty()
}

/// Whether loops of a nest can be interchanged and none is parallel.
fn wavefront(band: &Band) -> bool {
    band.permutable && band.members.len() >= 2 && band.members.iter().all(|m| !m.coincident)
}

/// What would get partial results if updates could be reordered, and has none because they may not.
pub(super) fn kept_in_order(function: &Function, options: &Options) -> Vec<Name> {
    if options.reassociate {
        return Vec::new();
    }
    let targets = |function: &Function| {
        let mut all = choice::in_blocks(function, options).map_or(Vec::new(), |b| b.targets);
        all.extend(histograms::private(function, options).map_or(Vec::new(), |p| p.targets));
        all
    };
    let now = targets(&reductions::with_updates(function, false));
    let mut all = targets(&crate::optimize::reorderable(&reductions::with_updates(function, true)));
    all.retain(|name| !now.contains(name));
    all
}

/// How the updates of `name` get a permission to be reordered.
pub(super) fn permission(function: &Function, name: &Name) -> String {
    let chosen = assigns(&function.body)
        .any(|assign| assign.target.array == *name && matches!(assign.value, Expr::Select(..)));
    if chosen {
        return format!(
            "with `--reassociate` the updates of `{name}` can run in parallel: the result of a choice (`a > {name} ? a : {name}`) depends on their order if there are NaN or zeros of both signs; that of `fmax` and `fmin` does not"
        );
    }
    format!(
        "with `--reassociate` the updates of `{name}` can run in parallel, since their order may then change"
    )
}
