//! Which inputs hold places in other arrays, or where rows begin and end: random numbers for them
//! have to be in range, or the program itself is at fault.

use std::collections::BTreeMap;

use loops::access::accesses;
use loops::{Access, BinaryOp, Expr, Function, Loop, Name, ParamMode};

use crate::bind::{self, Sizes};

/// What the elements of an integer array must be.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Range {
    /// Indices below this number, by the type of the parameter: what is given has to keep it, too.
    Index(i64),
    /// As far as the text of the program tells, at least 0 and below this number.
    Below(i64),
    /// As far as the text of the program tells, in ascending order from 0 to this number.
    Ascending(i64),
}

/// The parameters of a loop program whose elements are subscripts (`x[col[j]]`), or bounds of loops
/// whose variable is one (`for j in row[i]..row[i + 1]`).
pub fn of(function: &Function, sizes: &Sizes) -> BTreeMap<Name, Range> {
    let param = |name: &Name| function.params.iter().find(|p| p.name == *name);
    // The largest element that each may have, and whether they ascend.
    let mut found: BTreeMap<Name, (i64, bool)> = BTreeMap::new();
    let mut narrow = |name: &Name, most: i64, ascending: bool| {
        if param(name).is_some_and(|p| p.mode != ParamMode::Out) {
            let range = found.entry(name.clone()).or_insert((most, ascending));
            *range = (range.0.min(most), range.1 || ascending);
        }
    };
    let values = loops::visit::set_once(function);
    for site in accesses(&function.body) {
        let Some(array) = param(&site.access.array) else { continue };
        for (subscript, extent) in site.access.indices.iter().zip(&array.dims) {
            let Some(extent) = bind::integer(extent, sizes) else { continue };
            let computed = known(subscript, &values, DEEPEST);
            match plain(&computed) {
                Expr::Load(place) => narrow(&place.array, extent - 1, false),
                Expr::Var(name) => {
                    let around = site.loops().find(|l| l.var == *name);
                    for bound in around.into_iter().flat_map(bounds) {
                        narrow(&bound.array, extent, true);
                    }
                }
                _ => {
                    let loads: Vec<&Access> = computed.loads().collect();
                    let last = |name: &Name| {
                        let around = site.loops().find(|l| l.var == *name);
                        around.map_or_else(
                            || sizes.get(name).copied(),
                            |l| bind::integer(&l.upper, sizes).map(|end| (end - 1).max(0)),
                        )
                    };
                    // The largest numbers at which the subscript stays below the extent.
                    let fits = |most: &i64| {
                        greatest(&computed, *most, &last).is_some_and(|at| (0..extent).contains(&at))
                    };
                    let most = [extent - 1, 1000, 100, 30, 10, 3, 1, 0].into_iter().find(fits);
                    for (load, most) in loads.into_iter().filter_map(|load| Some((load, most?))) {
                        narrow(&load.array, most, false);
                    }
                }
            }
        }
    }
    let range = |(most, ascending)| if ascending { Range::Ascending(most) } else { Range::Below(most + 1) };
    found.into_iter().map(|(name, of)| (name, range(of))).collect()
}

/// How far values are looked into.
const DEEPEST: usize = 6;

/// An expression with the values of local integers in their place.
fn known(e: &Expr, values: &BTreeMap<Name, Expr>, depth: usize) -> Expr {
    match e {
        Expr::Load(access) if access.indices.is_empty() && depth > 0 => match values.get(&access.array) {
            Some(value) => known(value, values, depth - 1),
            _ => e.clone(),
        },
        Expr::Load(_) => e.clone(),
        _ => e.map_children(&mut |child| known(child, values, depth)),
    }
}

/// The greatest value of a sum of products, where all that is loaded is at most `most` and nothing
/// is negative.
fn greatest(e: &Expr, most: i64, last: &dyn Fn(&Name) -> Option<i64>) -> Option<i64> {
    let go = |e: &Expr| greatest(e, most, last);
    match e {
        Expr::Int(value) => Some(*value),
        Expr::I32(value) => Some(i64::from(*value)),
        Expr::Var(name) => last(name),
        Expr::Load(_) => Some(most),
        Expr::Cast(to, inner) if to.is_int() => go(inner),
        Expr::Binary(BinaryOp::Add, a, b) => go(a)?.checked_add(go(b)?),
        Expr::Binary(BinaryOp::Mul, a, b) => go(a)?.checked_mul(go(b)?),
        Expr::Binary(BinaryOp::Min, a, b) => Some(go(a)?.min(go(b)?)),
        Expr::Binary(BinaryOp::Max, a, b) => Some(go(a)?.max(go(b)?)),
        _ => None,
    }
}

/// What is loaded for the bounds of a loop.
fn bounds(around: &Loop) -> Vec<&Access> {
    let mut found = Vec::new();
    for bound in [&around.lower, &around.upper] {
        found.extend(bound.loads());
    }
    found
}

fn plain(e: &Expr) -> &Expr {
    match e {
        Expr::Cast(_, inner) => plain(inner),
        _ => e,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_and_rows_are_in_range() {
        let text = "
fn f[n, m, k](row: in i32[n + 1], col: in i32[m], val: in f64[m], x: in f64[k], y: out f64[n]) {
  for i in 0..n {
    S0: y[i] = 0.0
    for j in i64(row[i])..i64(row[i + 1]) {
      S1: y[i] += val[j] * x[i64(col[j])]
    }
  }
}
";
        let program = loops::parse(text).unwrap_or_else(|e| panic!("{e:?}"));
        let sizes = BTreeMap::from([("n".into(), 3), ("m".into(), 7), ("k".into(), 5)]);
        let ranges = of(&program.functions[0], &sizes);
        assert_eq!(ranges.get(&Name::new("row")), Some(&Range::Ascending(7)));
        assert_eq!(ranges.get(&Name::new("col")), Some(&Range::Below(5)));
        assert_eq!(ranges.len(), 2);
    }
}
