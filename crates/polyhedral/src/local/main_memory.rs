//! Main memory: what cores do to it between two barriers, and what one core does while its own
//! copies are on their way.

use isl::{Dim, Map};
use loops::{Code, CopyKind, Diagnostic, LoopKind, Name};

use super::Kernels;
use super::elementwise::Role;
use super::view::{View, shared};
use crate::fault::{self, Result};
use crate::model::Statement;

/// A copy and the elements of main memory that it reads or writes.
struct Transfer<'a> {
    statement: &'a Statement,
    kind: CopyKind,
    tag: Option<&'a Name>,
    array: &'a Name,
    relation: &'a Map,
}

pub(super) fn check(kernels: &Kernels<'_>) -> Result<()> {
    let mut transfers = Vec::new();
    for (statement, role) in kernels.statements() {
        let Role::Copy(kind, tag) = role else { continue };
        let touch = statement.accesses.iter().find(|t| t.write == (*kind == CopyKind::Put));
        let Some(touch) = touch else { continue };
        transfers.push(Transfer {
            statement,
            kind: *kind,
            tag: tag.as_ref(),
            array: &touch.array,
            relation: &touch.relation,
        });
    }
    for first in &transfers {
        for second in &transfers {
            if first.array != second.array || (first.kind, second.kind) == (CopyKind::Get, CopyKind::Get) {
                continue;
            }
            // Different parallel loops are kept apart by the barrier between them.
            let Some(outer) = phase(first.statement, second.statement) else { continue };
            if first.kind == CopyKind::Put {
                apart(kernels, first, second, outer)?;
            }
            in_order(kernels, first, second)?;
        }
    }
    Ok(())
}

/// Number of loops outside of the outermost parallel loop, if that is one loop for both.
fn phase(a: &Statement, b: &Statement) -> Option<usize> {
    let outer = a.loops.iter().position(|l| l.kind == LoopKind::Parallel)?;
    (shared(a, b) > outer).then_some(outer)
}

/// Number of parallel loops that follow the `outer` first loops.
fn core_dims(statement: &Statement, outer: usize) -> usize {
    statement.loops[outer..].iter().take_while(|l| l.kind == LoopKind::Parallel).count()
}

/// No two cores touch one word, one of them writing.
fn apart(kernels: &Kernels<'_>, put: &Transfer<'_>, other: &Transfer<'_>, outer: usize) -> Result<()> {
    let cores = core_dims(put.statement, outer);
    if cores != core_dims(other.statement, outer) {
        let message = format!(
            "`{}` and `{}` are in one parallel loop, but not on the same grid of cores",
            kernels.program.told(&put.statement.label),
            kernels.program.told(&other.statement.label)
        );
        return Err(Diagnostic::general(Code("P0716"), message));
    }
    let conflict = || -> isl::Result<Map> {
        let of_core = |t: &Transfer<'_>| -> isl::Result<Map> {
            let view = View::new(t.statement, outer)?;
            let relation = view.relation(t.relation)?;
            let inner = relation.dim(Dim::In)?.saturating_sub(cores);
            relation.project_out(Dim::In, cores, inner)?.set_tuple_name(Dim::In, "core")
        };
        let pairs = of_core(put)?.apply_range(&of_core(other)?.reverse()?)?;
        let pairs = pairs.intersect_params(&kernels.context)?;
        let mut same = Map::universe(&pairs.space()?)?;
        for k in 0..cores {
            same = same.equate((Dim::In, k), (Dim::Out, k))?;
        }
        pairs.subtract(&same)
    };
    let conflict = conflict().map_err(fault::library)?;
    if conflict.is_empty().map_err(fault::library)? {
        return Ok(());
    }
    let verb = if other.kind == CopyKind::Put { "writes" } else { "reads" };
    let message = format!(
        "a core writes an element of `{}` by `{}` that another {verb} by `{}` before the next barrier",
        put.array,
        kernels.program.told(&put.statement.label),
        kernels.program.told(&other.statement.label)
    );
    let pair = || -> isl::Result<String> {
        let point = conflict.wrap()?.sample_point()?;
        let half = |from: usize| -> isl::Result<String> {
            let at = (from..from + cores).map(|k| Ok(point.coordinate(Dim::SET, k)?.to_string()));
            Ok(at.collect::<isl::Result<Vec<_>>>()?.join(", "))
        };
        Ok(format!("for example the cores ({}) and ({})", half(0)?, half(cores)?))
    };
    let diagnostic = Diagnostic::general(Code("P0715"), message);
    Err(match pair() {
        Ok(text) => diagnostic.note(text),
        Err(_) => diagnostic,
    })
}

/// While a copy of a core is on its way, the same core starts none that is in conflict with it.
fn in_order(kernels: &Kernels<'_>, first: &Transfer<'_>, second: &Transfer<'_>) -> Result<()> {
    let Some(tag) = first.tag else { return Ok(()) };
    let last =
        |s: &Statement| s.loops.iter().rposition(|l| l.kind == LoopKind::Parallel).map_or(0, |k| k + 1);
    let fixed = last(first.statement).min(shared(first.statement, second.statement));
    if waited_at_once(kernels, first, second, fixed).map_err(fault::library)? {
        return Ok(());
    }
    let bad = || -> isl::Result<Map> {
        let (a, b) = (View::new(first.statement, fixed)?, View::new(second.statement, fixed)?);
        let pairs = a.relation(first.relation)?.apply_range(&b.relation(second.relation)?.reverse()?)?;
        let mut pairs = pairs.intersect(&a.before(&b)?)?.intersect_params(&kernels.context)?;
        for wait in kernels.waits(tag) {
            if pairs.is_empty()? {
                break;
            }
            if View::together(first.statement, wait, fixed) {
                let wait = View::new(wait, fixed)?;
                pairs = pairs.subtract(&a.before(&wait)?.apply_range(&wait.before(&b)?)?)?;
            }
        }
        Ok(pairs)
    };
    let bad = bad().map_err(fault::library)?;
    if bad.is_empty().map_err(fault::library)? {
        return Ok(());
    }
    let message = format!(
        "`{}` and `{}` access one element of `{}` with no wait for `{tag}` between them",
        kernels.program.told(&first.statement.label),
        kernels.program.told(&second.statement.label),
        first.array
    );
    Err(Diagnostic::general(Code("P0714"), message))
}

/// Whether a copy is waited for in the block where it stands, in each iteration of the loops
/// around, and before the second copy begins: then no pairs have to be looked at.
fn waited_at_once(
    kernels: &Kernels<'_>,
    first: &Transfer<'_>,
    second: &Transfer<'_>,
    fixed: usize,
) -> isl::Result<bool> {
    let Some(tag) = first.tag else { return Ok(false) };
    let (a, b) = (first.statement, second.statement);
    for wait in kernels.waits(tag) {
        // All loops around the wait are around the copy as well, which has loops over its elements
        // beside them.
        let around = wait.loops.len();
        if around < fixed || shared(a, wait) != around || a.position[around] >= wait.position[around] {
            continue;
        }
        let together = shared(a, b);
        let between = match together.cmp(&around) {
            // In one iteration of the loops that both are in, the wait stands to the second copy as
            // the first does.
            std::cmp::Ordering::Less => false,
            std::cmp::Ordering::Equal => {
                a.position[around] <= b.position[around] && b.position[around] <= wait.position[around]
            }
            // The same copy: in one iteration of the loops around it, it must not come to an
            // element twice.
            std::cmp::Ordering::Greater => {
                let own = View::new(a, around)?;
                !std::ptr::eq(a, b) || !own.relation(first.relation)?.is_injective()?
            }
        };
        if between {
            continue;
        }
        let copies = a.domain.intersect_params(&kernels.context)?;
        let copies = copies.project_out(Dim::SET, around, a.loops.len() - around)?;
        if copies.set_tuple_name(&wait.tuple)?.is_subset(&wait.domain)? {
            return Ok(true);
        }
    }
    Ok(false)
}
