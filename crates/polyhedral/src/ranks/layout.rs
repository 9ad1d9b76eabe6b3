//! Which dimension of each array is cut along which axis of the grid.

use std::collections::{BTreeMap, BTreeSet};

use loops::program::{ArrayDecl, Storage};
use loops::ranks::{Cut, Placed, RankProgram};
use loops::simplify::tidy;
use loops::visit::locals;
use loops::{Function, Name};

/// How one dimension of an array is dealt out.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Dealt {
    /// The axis of the grid.
    pub axis: usize,
    /// Elements in a block; none: one block for each rank.
    pub width: Option<i64>,
}

/// For each array what becomes of its dimensions. Arrays that are not named are held by every rank.
pub type Distribution = BTreeMap<Name, Vec<Option<Dealt>>>;

/// The arrays of a function that can live between the steps of ranks: parameters, and local arrays
/// with extents over sizes.
pub(super) fn arrays(function: &Function) -> Vec<Placed> {
    let mut found = Vec::new();
    for param in &function.params {
        let (name, elem, dims) = (param.name.clone(), param.elem.clone(), param.dims.clone());
        let array = ArrayDecl { name, elem, dims, storage: Storage::Auto };
        found.push(everywhere(array, Some(param.mode)));
    }
    let over_sizes = |local: &ArrayDecl| {
        let vars: BTreeSet<Name> = local.dims.iter().flat_map(loops::Expr::vars).collect();
        vars.iter().all(|name| function.sizes.contains(name)) && local.dims.iter().all(|e| !e.has_loads())
    };
    for local in locals(&function.body) {
        if over_sizes(local) {
            found.push(everywhere(ArrayDecl { storage: Storage::Auto, ..local.clone() }, None));
        }
    }
    found
}

fn everywhere(array: ArrayDecl, mode: Option<loops::ParamMode>) -> Placed {
    let rank = array.dims.len();
    Placed { array, mode, cut: vec![None; rank], halo: vec![(0, 0); rank] }
}

/// A program without steps, with its arrays where the distribution says.
pub(super) fn frame(function: &Function, axes: usize, distribution: &Distribution) -> RankProgram {
    let mut taken = loops::visit::taken(function);
    let mut cuts: Vec<Cut> = Vec::new();
    let mut places = arrays(function);
    for placed in &mut places {
        let Some(dealt) = distribution.get(&placed.array.name) else { continue };
        for (d, dealt) in dealt.iter().enumerate().take(placed.cut.len()) {
            let Some(Dealt { axis, width }) = *dealt else { continue };
            if axis >= axes {
                continue;
            }
            let extent = tidy(&placed.array.dims[d]);
            let known = cuts.iter().position(|c| c.extent == extent && c.axis == axis && c.width == width);
            placed.cut[d] = Some(known.unwrap_or_else(|| {
                let name = (0..)
                    .map(|k| Name::new(format!("b{k}")))
                    .find(|n| {
                        let bounds = [n.clone(), format!("{n}_lo").into(), format!("{n}_hi").into()];
                        cuts.iter().all(|c| c.name != *n) && bounds.iter().all(|n| !taken.contains(n))
                    })
                    .unwrap_or_else(|| Name::new("b"));
                taken.insert(name.clone());
                cuts.push(Cut { name, extent, axis, width });
                cuts.len() - 1
            }));
        }
    }
    let interface = Function { body: Vec::new(), ..function.clone() };
    RankProgram { interface, axes, cuts, places, body: Vec::new() }
}

/// The distributions that are tried where none is given: all arrays cut along their first
/// dimension, along their last, and on a grid of two axes along two.
pub(super) fn candidates(function: &Function, axes: usize) -> Vec<Distribution> {
    let along = |pick: &dyn Fn(usize) -> Vec<Option<Dealt>>| -> Distribution {
        let arrays = arrays(function);
        let with = arrays.into_iter().filter(|p| !p.array.dims.is_empty());
        with.map(|p| (p.array.name.clone(), pick(p.array.dims.len()))).collect()
    };
    let on = |axis: usize, width| Some(Dealt { axis, width });
    let one = |rank: usize, dim: usize, width| {
        (0..rank).map(|d| if d == dim { on(0, width) } else { None }).collect::<Vec<_>>()
    };
    if axes == 1 {
        let mut found = Vec::new();
        for width in [None, Some(BLOCK)] {
            for distribution in
                [along(&|rank| one(rank, 0, width)), along(&|rank| one(rank, rank - 1, width))]
            {
                if !found.contains(&distribution) {
                    found.push(distribution);
                }
            }
        }
        return found;
    }
    let plane = |vectors: usize, width| {
        along(&|rank| {
            (0..rank)
                .map(|d| match (rank, d) {
                    (1, _) => on(vectors, width),
                    (_, 0) => on(0, width),
                    (_, 1) => on(1, width),
                    _ => None,
                })
                .collect()
        })
    };
    vec![plane(0, None), plane(1, None), plane(0, Some(BLOCK))]
}

/// Rows in a block where blocks are dealt out in turn: enough for the loops inside to have work,
/// few enough that what is left of a triangle is on all ranks until its end.
const BLOCK: i64 = 32;
