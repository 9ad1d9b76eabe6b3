//! What a piece reads on a rank: from its own blocks, from their halos, or from boxes that are
//! fetched into buffers.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};

use loops::access::{AccessSite, Context};
use loops::extremes::Extremes;
use loops::poly::Poly;
use loops::ranks::{At, Elements, Fetch, Margin, Placed, RankProgram, Step};
use loops::simplify::tidy;
use loops::{Access, AccessKind, Expr, Facts, Function, Name};

use super::phase::{Coordinate, Piece};
use super::plan::HaloRoom;

/// The widest halo: what is further away is fetched into a buffer.
const WIDEST: i64 = 16;

/// What has to be fetched for a piece.
#[derive(Default)]
pub(super) struct Footprint {
    /// Fetches into buffers.
    pub fetches: Vec<Step>,
    /// Fetches into halos.
    pub halo_fetches: Vec<Fetch>,
    /// Room that halos need.
    pub halos: Vec<HaloRoom>,
    /// How far an inner part stays away from the ends of blocks.
    pub margins: Vec<Margin>,
    /// The buffers that reads are from, by the position of the statement.
    pub names: BTreeMap<(usize, Access), Name>,
}

/// How a read meets the blocks of its array.
enum Meets {
    /// It is in the rank's own block, or in a halo of these widths.
    Own(Vec<i64>),
    /// Anywhere.
    Elsewhere,
}

/// For each dimension of an array the distance of a read from the owner of its statement.
fn meets(piece: &Piece, placed: &Placed, access: &Access, at: &[Coordinate]) -> Meets {
    let mut distances = Vec::new();
    for (cut, index) in placed.cut.iter().zip(&access.indices) {
        let Some(cut) = cut else {
            distances.push(0);
            continue;
        };
        let of = &piece.program.cuts[*cut];
        let distance = at[of.axis]
            .as_ref()
            .filter(|(other, _)| other == cut)
            .and_then(|(_, own)| Poly::of(index)?.sub(&Poly::of(own)?)?.as_constant());
        match distance {
            Some(0) => distances.push(0),
            Some(d) if d.abs() <= WIDEST && of.width.is_none() => distances.push(d),
            _ => return Meets::Elsewhere,
        }
    }
    Meets::Own(distances)
}

/// What is known of sizes, of variables around, and of the bounds of blocks.
pub(super) fn facts(program: &RankProgram, function: &Function, outer: &[super::plan::Outer]) -> Facts {
    let mut facts = Facts::of(function);
    for o in outer {
        facts.enter_range(&o.var, &o.lower, &o.upper);
    }
    for cut in &program.cuts {
        let (low, high) = (Expr::Var(cut.low()), Expr::Var(cut.high()));
        facts.assume(&low.clone().at_least(0), true);
        facts.assume(&low.at_most(high.clone()), true);
        facts.assume(&high.at_most(cut.extent.clone()), true);
    }
    facts
}

/// The box of what an access touches in the loops around it, over sizes, outer variables and bounds
/// of blocks. What is not known is the whole extent.
fn touched(piece: &Piece, site: &AccessSite, extents: &[Expr], facts: &Facts) -> Vec<(Expr, Expr)> {
    let mut extremes = Extremes::new(piece.function, facts.clone());
    for context in &site.context {
        if let Context::Loop(l) = context {
            let at = piece.loops.iter().position(|own| std::ptr::eq(*own, *l));
            extremes.enter(&at.map_or_else(|| (*l).clone(), |at| piece.clipped(at)));
        }
    }
    let visible = |e: &Expr| {
        let vars = e.vars();
        !e.has_loads() && piece.loops.iter().all(|l| !vars.contains(&l.var))
    };
    site.access
        .indices
        .iter()
        .zip(extents)
        .map(|(index, extent)| {
            let bounds = extremes.of(index);
            let natural = |e: &Expr| visible(e) && !matches!(e, Expr::Int(n) if *n < 0);
            let low = bounds.least.filter(natural).map_or(Expr::Int(0), |e| tidy(&e));
            // The bound of a type says nothing.
            let known = |e: &Expr| visible(e) && !matches!(e, Expr::Int(n) if *n >= i64::from(i8::MAX));
            let high = bounds.greatest.filter(known).map_or(extent.clone(), |e| tidy(&(e + 1)));
            (loops::simplify::expr(&low, facts), loops::simplify::expr(&high, facts))
        })
        .collect()
}

/// A box around two.
fn hull(a: &[(Expr, Expr)], b: &[(Expr, Expr)], facts: &Facts) -> Vec<(Expr, Expr)> {
    let both = |a: &Expr, b: &Expr, of: fn(Expr, Expr) -> Expr| match a == b {
        true => a.clone(),
        false => loops::simplify::expr(&of(a.clone(), b.clone()), facts),
    };
    let pairs = a.iter().zip(b);
    pairs.map(|((al, ah), (bl, bh))| (both(al, bl, |a, b| a.min(b)), both(ah, bh, |a, b| a.max(b)))).collect()
}

/// The part of a subscript that varies, as text: accesses that differ in constants are near each
/// other.
fn direction(index: &Expr) -> String {
    match Poly::of(index).and_then(|poly| {
        let constant = poly.coefficient(&Default::default());
        poly.plus(-i64::try_from(constant).ok()?)?.to_expr(&[])
    }) {
        Some(e) => e.to_string(),
        None => index.to_string(),
    }
}

/// A box that several reads share.
struct Group {
    array: Name,
    ranges: Vec<(Expr, Expr)>,
    when: Option<Expr>,
    reads: Vec<(usize, Access)>,
    working: BTreeSet<usize>,
}

/// Which reads share a box: those of one array in one direction, under one condition.
type Key<T> = (Name, Vec<T>, Option<Expr>);

impl Group {
    /// Takes one more read into a group of groups.
    fn add<T: Ord>(groups: &mut BTreeMap<Key<T>, Group>, key: Key<T>, read: Read, facts: &Facts) {
        let Read { ranges, place, working } = read;
        match groups.entry(key) {
            Entry::Occupied(mut group) => {
                let group = group.get_mut();
                group.ranges = hull(&group.ranges, &ranges, facts);
                group.working = group.working.intersection(&working).copied().collect();
                group.reads.push(place);
            }
            Entry::Vacant(free) => {
                let (array, when) = (free.key().0.clone(), free.key().2.clone());
                free.insert(Group { array, ranges, when, reads: vec![place], working });
            }
        }
    }
}

/// A read that needs a fetch.
struct Read {
    ranges: Vec<(Expr, Expr)>,
    place: (usize, Access),
    working: BTreeSet<usize>,
}

/// What a piece reads, with buffers named by `fresh`.
pub(super) fn footprint(piece: &Piece, facts: &Facts, fresh: &mut dyn FnMut(&Name) -> Name) -> Footprint {
    let mut found = Footprint::default();
    let mut groups: BTreeMap<Key<String>, Group> = BTreeMap::new();
    // Halos by the dimensions that they are in: a corner is another message than an edge.
    let mut halos: BTreeMap<Key<bool>, Group> = BTreeMap::new();
    for site in piece.sites.iter().filter(|site| site.kind == AccessKind::Read) {
        let access = site.access;
        if piece.own.contains(&access.array) || piece.carried.contains(&access.array) {
            continue;
        }
        let Some(placed) = piece.program.place(&access.array).filter(|p| !p.is_everywhere()) else {
            continue;
        };
        let at = piece.coordinates_of(site);
        let meets = meets(piece, placed, access, &at);
        if matches!(&meets, Meets::Own(d) if d.iter().all(|d| *d == 0)) {
            continue;
        }
        let ranges = touched(piece, site, &placed.array.dims, facts);
        let when = piece.guard_at(site.position);
        let working: BTreeSet<usize> = at.iter().flatten().map(|(cut, _)| *cut).collect();
        let read = Read { ranges, place: (site.position, access.clone()), working };
        match meets {
            Meets::Own(distances) => {
                for (dim, d) in distances.iter().enumerate().filter(|(_, d)| **d != 0) {
                    found.halos.push(HaloRoom {
                        array: access.array.clone(),
                        dim,
                        before: (-d).max(0),
                        after: (*d).max(0),
                    });
                    if let Some(cut) = placed.cut[dim] {
                        widen(&mut found.margins, cut, *d);
                    }
                }
                let key = distances.iter().map(|d| *d != 0).collect();
                Group::add(&mut halos, (access.array.clone(), key, when), read, facts);
            }
            Meets::Elsewhere => {
                let key = access.indices.iter().map(direction).collect();
                Group::add(&mut groups, (access.array.clone(), key, when), read, facts);
            }
        }
    }
    for group in groups.into_values() {
        let into = fresh(&group.array);
        for read in &group.reads {
            found.names.insert(read.clone(), into.clone());
        }
        let what = Elements { array: group.array, ranges: group.ranges, when: group.when };
        found.fetches.push(Step::Fetch(Fetch {
            what,
            into: Some(into),
            at: At::All,
            working: group.working,
        }));
    }
    found.halo_fetches = of_halos(halos, facts);
    found
}

/// The fetches into halos: one for all of an array if it has corners, else one for each direction.
fn of_halos(halos: BTreeMap<Key<bool>, Group>, facts: &Facts) -> Vec<Fetch> {
    let corners: BTreeSet<Name> = halos
        .keys()
        .filter(|(_, dims, _)| dims.iter().filter(|d| **d).count() > 1)
        .map(|(array, ..)| array.clone())
        .collect();
    let mut whole: BTreeMap<Name, Group> = BTreeMap::new();
    let mut found = Vec::new();
    for group in halos.into_values() {
        if !corners.contains(&group.array) {
            let what = Elements { array: group.array, ranges: group.ranges, when: group.when };
            found.push(Fetch { what, into: None, at: At::All, working: group.working });
            continue;
        }
        match whole.get_mut(&group.array) {
            Some(known) => {
                known.ranges = hull(&known.ranges, &group.ranges, facts);
                known.working = known.working.intersection(&group.working).copied().collect();
            }
            None => {
                whole.insert(group.array.clone(), group);
            }
        }
    }
    found.extend(whole.into_values().map(|group| {
        let what = Elements { array: group.array, ranges: group.ranges, when: None };
        Fetch { what, into: None, at: At::All, working: group.working }
    }));
    found
}

/// Widens the margin of a cut by what a read at this distance needs.
fn widen(margins: &mut Vec<Margin>, cut: usize, distance: i64) {
    let (low, high) = ((-distance).max(0), distance.max(0));
    match margins.iter_mut().find(|m| m.cut == cut) {
        Some(margin) => {
            margin.low = margin.low.max(low);
            margin.high = margin.high.max(high);
        }
        None => margins.push(Margin { cut, low, high }),
    }
}

/// The hull of all that statements touch of an array, over sizes and outer variables.
pub(super) fn all_touched(piece: &Piece, array: &Name, facts: &Facts) -> Vec<(Expr, Expr)> {
    let Some(placed) = piece.program.place(array) else { return Vec::new() };
    let mut found: Option<Vec<(Expr, Expr)>> = None;
    for site in piece.sites.iter().filter(|site| site.access.array == *array) {
        let ranges = touched(piece, site, &placed.array.dims, facts);
        found = Some(match found {
            Some(known) => hull(&known, &ranges, facts),
            None => ranges,
        });
    }
    found.unwrap_or_default()
}
