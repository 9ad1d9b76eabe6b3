//! Lines of caches that accesses touch.

use std::collections::HashMap;

use loops::{Access, Assign, Expr, Name};

use super::numbers::Values;
use crate::machine::LINE;

/// What is known of an array.
#[derive(Clone, Debug)]
pub(super) struct Array {
    /// Bytes of an element.
    pub bytes: f64,
    /// Whether elements are integers.
    pub integer: bool,
    /// Elements from one subscript of each dimension to the next.
    pub strides: Vec<f64>,
    /// All elements.
    pub elements: f64,
    /// Whether it is small enough to be kept in registers.
    pub in_registers: bool,
}

/// Arrays by name; what is not here is a scalar variable.
pub(super) type Arrays = HashMap<Name, Array>;

/// Lines that are not followed by the next one take so many times as long: nothing fetches them
/// ahead.
const SCATTERED: f64 = 3.0;

/// The same for lines that are in pages of their own, which are looked up as well.
const PAGES: f64 = 8.0;

/// Bytes of a page.
const PAGE: f64 = 4096.0;

/// Pages that are looked up without delay.
const MOST_PAGES: f64 = 64.0;

/// Elements from one subscript to the next where data gives them.
const BY_DATA: f64 = 1009.0;

/// An access, and the loops around it that are looked at so far.
#[derive(Clone, Debug)]
pub(super) struct Site {
    array: Name,
    bytes: f64,
    /// Bytes of the whole array.
    all: f64,
    /// By how many bytes it moves with each loop variable around it.
    growths: Vec<(Name, f64)>,
    /// Bytes and iterations of the loops that it moves with.
    ranges: Vec<(f64, f64)>,
}

impl Site {
    /// Out of a loop: it takes part in what is touched.
    pub fn enter(&mut self, var: &Name, trips: f64, step: f64) {
        let growth = self.growths.iter().find(|(name, _)| name == var).map_or(0.0, |(_, by)| *by);
        if growth != 0.0 && trips > 1.0 {
            self.ranges.push((growth.abs() * step, trips));
        }
    }

    /// Lines, and how many times as long as lines that follow each other each takes.
    fn lines(&self) -> (f64, f64) {
        let mut ranges = self.ranges.clone();
        ranges.sort_by(|a, b| a.0.total_cmp(&b.0));
        let (mut span, mut pieces, mut apart) = (self.bytes, 1.0, f64::INFINITY);
        for (stride, trips) in ranges {
            match stride <= span.max(LINE) && pieces == 1.0 {
                true => span += stride * (trips - 1.0),
                false => {
                    pieces *= trips;
                    apart = apart.min(stride);
                }
            }
        }
        let whole = (self.all / LINE).ceil().max(1.0);
        let lines = (pieces * (span / LINE).ceil()).min(whole);
        match pieces == 1.0 || span >= 2.0 * LINE {
            true => (lines, 1.0),
            false if apart >= PAGE && pieces > MOST_PAGES => (lines, PAGES),
            false => (lines, SCATTERED),
        }
    }
}

/// The accesses of an assignment that are not to registers.
pub(super) fn sites(assign: &Assign, arrays: &Arrays, values: &Values) -> Vec<Site> {
    let mut found = Vec::new();
    let mut add = |access: &Access| {
        let Some(array) = arrays.get(&access.array).filter(|a| !a.in_registers && !a.strides.is_empty())
        else {
            return;
        };
        let growths =
            values.names().map(|var| (var.clone(), growth(access, array, values, var) * array.bytes));
        let mut growths: Vec<(Name, f64)> = growths.filter(|(_, by)| *by != 0.0).collect();
        growths.sort_by(|a, b| a.0.cmp(&b.0));
        found.push(Site {
            array: access.array.clone(),
            bytes: array.bytes,
            all: array.elements * array.bytes,
            growths,
            ranges: Vec::new(),
        });
    };
    add(&assign.target);
    for access in assign.value.loads() {
        add(access);
    }
    found
}

/// By how many elements an access moves when a variable grows by one.
pub(super) fn growth(access: &Access, array: &Array, values: &Values, var: &Name) -> f64 {
    let along = |(index, stride): (&Expr, &f64)| match index {
        Expr::Int(_) => 0.0,
        _ if index.has_loads() && !values.follows(index, var) => 0.0,
        _ => stride * values.growth(index, var).unwrap_or(BY_DATA),
    };
    access.indices.iter().zip(&array.strides).map(along).sum()
}

/// Lines that the accesses touch, each once.
pub(super) fn touched(sites: &[Site]) -> f64 {
    groups(sites).map(|site| site.lines().0).sum()
}

/// What moving these lines takes, in lines that follow each other.
pub(super) fn moved(sites: &[Site]) -> f64 {
    let one = |site: &Site| {
        let (lines, times) = site.lines();
        lines * times
    };
    groups(sites).map(one).sum()
}

/// One access of those of an array that move alike.
fn groups(sites: &[Site]) -> impl Iterator<Item = &Site> {
    let alike = |a: &Site, b: &Site| a.array == b.array && a.growths == b.growths && a.ranges == b.ranges;
    sites
        .iter()
        .enumerate()
        .filter(move |(k, site)| !sites[..*k].iter().any(|s| alike(s, site)))
        .map(|(_, s)| s)
}
