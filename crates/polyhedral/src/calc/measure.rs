//! What the calculator works out by itself: counts, loop bounds, elimination, projection by names
//! of coordinates.

use arith::fourier_motzkin::{Nest, TooLarge};
use arith::{Linear, System};
use isl::{Dim, UnionMap, UnionSet};
use loops::diagnostic::{Diagnostic, Span};

use super::eval::stopped;
use super::{MISFIT, NOT_COUNTED, STOPPED, UNKNOWN};
use crate::cardinality::{self, Count};

/// The disjoint basic sets of a set, with local variables as quotients.
fn pieces(set: &isl::Set) -> isl::Result<Vec<isl::BasicSet>> {
    set.coalesce()?.compute_divs()?.make_disjoint()?.basic_sets()
}

/// The inequalities of a basic set over its coordinates, parameters and local variables, the latter
/// named `e0'`, `e1'`, ...; those of the last that occur.
fn system(
    piece: &isl::BasicSet,
    names: &[String],
    params: &[String],
) -> isl::Result<(System<String>, Vec<String>)> {
    let locals: Vec<String> = (0..piece.dim(Dim::Div)?).map(|k| format!("e{k}'")).collect();
    // Sums of numbers of 64 bits fit into 128.
    let row = |kind: Dim, coefficient: &dyn Fn(Dim, usize) -> isl::Result<isl::Val>, constant: isl::Val| {
        let mut terms = Vec::new();
        for (kind, names) in [(kind, names), (Dim::Param, params), (Dim::Div, locals.as_slice())] {
            for (k, name) in names.iter().enumerate() {
                terms.push((name.clone(), i128::from(coefficient(kind, k)?.to_i64()?)));
            }
        }
        Ok(Linear::sum(terms, i128::from(constant.to_i64()?)).unwrap_or_default())
    };
    let mut rows = Vec::new();
    for constraint in &piece.constraints()? {
        let row = row(Dim::Out, &|kind, k| constraint.coefficient(kind, k), constraint.constant()?)?;
        if constraint.is_equality()? {
            rows.extend(row.negated());
        }
        rows.push(row);
    }
    // The library can leave out that a local variable `e` is a quotient `x / d` rounded down:
    // `0 <= x - d e <= d - 1`. The variables in `x` come before `e`.
    let mut used = Vec::new();
    for (k, name) in locals.iter().enumerate().rev() {
        if rows.iter().any(|row: &Linear<String>| row.mentions(name)) {
            let quotient = piece.div(k)?;
            let divisor = quotient.denominator()?;
            let scaled = quotient.scale(&divisor)?;
            let divisor = i128::from(divisor.to_i64()?);
            let row = row(Dim::In, &|kind, k| scaled.coefficient(kind, k), scaled.constant()?)?;
            let low = row.plus(&Linear::term(name.clone(), -divisor));
            rows.extend(
                low.as_ref().and_then(Linear::negated).and_then(|row| row.plus_constant(divisor - 1)),
            );
            rows.extend(low);
            used.insert(0, name.clone());
        }
    }
    Ok((System::new(rows), used))
}

/// Names of the coordinates of a set (`c0`, `c1`, ... where it has none) and of its parameters.
fn names(set: &isl::Set) -> isl::Result<(Vec<String>, Vec<String>)> {
    let mut params = Vec::new();
    for k in 0..set.dim(Dim::Param)? {
        params.push(set.dim_name(Dim::Param, k)?.unwrap_or_else(|| format!("p{k}")));
    }
    let mut coordinates = Vec::new();
    for k in 0..set.dim(Dim::Out)? {
        let name = set.dim_name(Dim::Out, k)?.filter(|n| !params.contains(n) && !coordinates.contains(n));
        coordinates.push(name.unwrap_or_else(|| format!("c{k}")));
    }
    Ok((coordinates, params))
}

fn tuple(set: &isl::Set, coordinates: &[String]) -> isl::Result<String> {
    Ok(format!("{}[{}]", set.tuple_name()?.unwrap_or_default(), coordinates.join(", ")))
}

pub(super) fn card(sets: &UnionSet, span: Span) -> Result<Vec<(String, Count)>, Diagnostic> {
    let stop = stopped(span);
    let mut counts = Vec::new();
    for set in sets.sets().map_err(&stop)? {
        let (coordinates, params) = names(&set).map_err(&stop)?;
        let label = tuple(&set, &coordinates).map_err(&stop)?;
        counts.push((label, card_of_set(&set, &coordinates, &params, &coordinates, span)?));
    }
    counts.sort_by(|a, b| a.0.cmp(&b.0));
    Ok(counts)
}

/// The count of `set` over `summed`; the other coordinates are treated as parameters.
fn card_of_set(
    set: &isl::Set,
    coordinates: &[String],
    params: &[String],
    summed: &[String],
    span: Span,
) -> Result<Count, Diagnostic> {
    let stop = stopped(span);
    let mut parts = Vec::new();
    for piece in pieces(set).map_err(&stop)? {
        let (system, locals) = system(&piece, coordinates, params).map_err(&stop)?;
        // A local variable is a quotient, so it is determined by the coordinates: points with and
        // without it are the same in number.
        parts.push((system, summed.iter().cloned().chain(locals).collect()));
    }
    cardinality::count(parts).map_err(|reason| {
        Diagnostic::error(
            NOT_COUNTED,
            format!("cannot count: {reason}"),
            span,
            "the number of elements of this",
        )
        .help("fix the parameters and use `count`: `count(at(S, n = 10))`")
    })
}

pub(super) fn card_of_map(maps: &UnionMap, span: Span) -> Result<Vec<(String, Count)>, Diagnostic> {
    let stop = stopped(span);
    let mut counts = Vec::new();
    for map in maps.maps().map_err(&stop)? {
        let inputs = map.dim(Dim::In).map_err(&stop)?;
        let domain = map.domain().map_err(&stop)?;
        let (domain_names, params) = names(&domain).map_err(&stop)?;
        let set = map.flatten().and_then(|m| m.wrap()).map_err(&stop)?;
        let outputs = set.dim(Dim::Out).map_err(&stop)? - inputs;
        let summed: Vec<String> = (0..outputs).map(|k| format!("o{k}'")).collect();
        let coordinates: Vec<String> = domain_names.iter().cloned().chain(summed.iter().cloned()).collect();
        let range = map.range().and_then(|r| r.tuple_name()).map_err(&stop)?.unwrap_or_default();
        let label = format!("{} -> #{range}", tuple(&domain, &domain_names).map_err(&stop)?);
        counts.push((label, card_of_set(&set, &coordinates, &params, &summed, span)?));
    }
    counts.sort_by(|a, b| a.0.cmp(&b.0));
    Ok(counts)
}

pub(super) fn count(sets: &UnionSet, span: Span) -> Result<i64, Diagnostic> {
    let stop = stopped(span);
    let mut total = 0i64;
    for set in sets.sets().map_err(&stop)? {
        if !parameters_are_fixed(&set).map_err(&stop)? {
            return Err(Diagnostic::error(
                MISFIT,
                "`count` needs a set without parameters",
                span,
                "this depends on parameters",
            )
            .help("fix them: `count(at(S, n = 10))`, or use `card` for a formula"));
        }
        if !set.is_bounded().map_err(&stop)? {
            return Err(Diagnostic::error(
                MISFIT,
                "the set has infinitely many elements",
                span,
                "not bounded",
            ));
        }
        let parameters = set.dim(Dim::Param).map_err(&stop)?;
        let set = set.project_out(Dim::Param, 0, parameters).map_err(&stop)?;
        let one = set.count().and_then(|v| v.to_i64()).map_err(&stop)?;
        total = total.checked_add(one).ok_or_else(|| {
            Diagnostic::error(STOPPED, "the count is beyond 64 bits", span, "too many elements")
        })?;
    }
    Ok(total)
}

/// Whether there are elements for at most one value of the parameters.
fn parameters_are_fixed(set: &isl::Set) -> isl::Result<bool> {
    let params = set.params()?;
    if params.is_empty()? {
        return Ok(true);
    }
    let point = params.sample_point()?;
    let mut only = params.clone();
    for k in 0..set.dim(Dim::Param)? {
        only = only.fix(Dim::Param, k, point.coordinate(Dim::Param, k)?.to_i64()?)?;
    }
    params.is_subset(&only)
}

pub(super) fn bounds(sets: &UnionSet, span: Span) -> Result<Vec<(String, Nest<String>)>, Diagnostic> {
    let stop = stopped(span);
    let mut all = Vec::new();
    for set in sets.sets().map_err(&stop)? {
        let (coordinates, params) = names(&set).map_err(&stop)?;
        let label = tuple(&set, &coordinates).map_err(&stop)?;
        for piece in pieces(&set).map_err(&stop)? {
            let (system, locals) = system(&piece, &coordinates, &params).map_err(&stop)?;
            let order: Vec<String> = coordinates.iter().chain(&locals).cloned().collect();
            let mut found = system.loop_bounds(&order).map_err(|e| too_large(e, span))?;
            found.loops.truncate(coordinates.len());
            all.push((label.clone(), found));
        }
    }
    all.sort_by(|a, b| a.0.cmp(&b.0));
    Ok(all)
}

fn too_large(error: TooLarge, span: Span) -> Diagnostic {
    Diagnostic::error(STOPPED, error.to_string(), span, "while eliminating from this")
}

/// Positions of the named coordinates in each set that has them all.
fn positions(coordinates: &[String], wanted: &[&str], span: Span) -> Result<Vec<usize>, Diagnostic> {
    wanted
        .iter()
        .map(|name| {
            coordinates.iter().position(|c| c == name).ok_or_else(|| {
                Diagnostic::error(
                    UNKNOWN,
                    format!("no coordinate `{name}`"),
                    span,
                    format!("the coordinates are {}", coordinates.join(", ")),
                )
            })
        })
        .collect()
}

pub(super) fn project(sets: &UnionSet, wanted: &[&str], span: Span) -> Result<UnionSet, Diagnostic> {
    let stop = stopped(span);
    let mut all = UnionSet::empty(sets.ctx()).map_err(&stop)?;
    for set in sets.sets().map_err(&stop)? {
        let (coordinates, _) = names(&set).map_err(&stop)?;
        let name = set.tuple_name().map_err(&stop)?;
        let mut places = positions(&coordinates, wanted, span)?;
        places.sort_unstable();
        let mut projected = set;
        for place in places.into_iter().rev() {
            projected = projected.project_out(Dim::Out, place, 1).map_err(&stop)?;
        }
        if let Some(name) = name {
            projected = projected.set_tuple_name(&name).map_err(&stop)?;
        }
        all = all.union(&projected.to_union().map_err(&stop)?).map_err(&stop)?;
    }
    Ok(all)
}

pub(super) fn eliminate(
    sets: &UnionSet,
    wanted: &[&str],
    span: Span,
) -> Result<Vec<(String, System<String>, bool)>, Diagnostic> {
    let stop = stopped(span);
    let mut all = Vec::new();
    for set in sets.sets().map_err(&stop)? {
        let (coordinates, params) = names(&set).map_err(&stop)?;
        positions(&coordinates, wanted, span)?;
        let left: Vec<String> =
            coordinates.iter().filter(|c| !wanted.contains(&c.as_str())).cloned().collect();
        let label = tuple(&set, &left).map_err(&stop)?;
        for piece in pieces(&set).map_err(&stop)? {
            let (system, locals) = system(&piece, &coordinates, &params).map_err(&stop)?;
            let order = locals.iter().map(String::as_str).chain(wanted.iter().copied());
            let done = system.eliminate_all(order).map_err(|e| too_large(e, span))?;
            all.push((label.clone(), done.system, done.exact));
        }
    }
    all.sort_by(|a, b| a.0.cmp(&b.0));
    Ok(all)
}
