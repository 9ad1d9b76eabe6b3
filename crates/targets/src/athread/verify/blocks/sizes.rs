//! Which sizes and cores are followed: enough for every remainder that the text counts with, at the start, between and at the end.

use std::collections::{BTreeMap, BTreeSet};

use super::super::walk::{Followed, lost, wrong};
use super::number::{Number, Operation};
use super::plan::Plan;
use super::text::{Step, Text};

/// Some sizes, and places in the line of cores besides the last.
pub(super) struct Case {
    pub sizes: BTreeMap<String, i64>,
    pub places: Vec<i64>,
}

/// Panels that the text looks ahead or back at most, and remainders.
const REACH: i64 = 64;
/// Sizes at most.
const LARGEST: i64 = 1 << 17;
/// Rows or columns that a size is where nothing depends on it.
const OTHER: i64 = 3;

/// Whether all cores meet in some steps.
fn meets(steps: &[Step]) -> bool {
    steps.iter().any(|step| match step {
        Step::Barrier => true,
        Step::If(_, yes, no) => meets(yes) || meets(no),
        Step::Loop { body, .. } => meets(body),
        _ => false,
    })
}

/// Numbers of panels, and of rows on their way, by their places: what the loop over panels counts with, what it goes on with from panel to panel, and what is
/// made of these without a factor.
#[derive(Default)]
struct Panels {
    places: BTreeSet<usize>,
    /// Places that are set in an iteration before they are used.
    fresh: BTreeSet<usize>,
}

impl Panels {
    fn look(&mut self, steps: &[Step], inside: bool) {
        for step in steps {
            match step {
                Step::Open(place) => {
                    self.fresh.insert(*place);
                }
                Step::Set(place, value) => {
                    if inside {
                        self.fresh.insert(*place);
                    }
                    if self.made(value) {
                        self.places.insert(*place);
                    }
                }
                Step::If(_, yes, no) => {
                    self.look(yes, inside);
                    self.look(no, inside);
                }
                Step::Loop { body, step, .. } => {
                    let own = !inside && meets(body);
                    for s in step {
                        let Step::Set(place, _) = s else { continue };
                        if own || (inside && !self.fresh.contains(place)) {
                            self.places.insert(*place);
                        }
                    }
                    self.look(body, inside || own);
                }
                _ => {}
            }
        }
    }

    fn has(&self, number: &Number) -> bool {
        let mut found = false;
        number.walk(&mut |n| found |= matches!(n, Number::At(place) if self.places.contains(place)));
        found
    }

    /// Whether a value is a number of a panel or a row.
    fn made(&self, value: &Number) -> bool {
        let (mut sum, mut rest) = (BTreeMap::new(), 0);
        let whole = linear(value, 1, &mut sum, &mut rest);
        let own = |(place, by): (&usize, &i64)| !self.places.contains(place) || by.abs() == 1;
        self.has(value) && (!whole || sum.iter().all(own))
    }
}

/// A sum of numbers in places, each so often, and the rest.
fn linear(number: &Number, by: i64, sum: &mut BTreeMap<usize, i64>, rest: &mut i64) -> bool {
    match number {
        Number::Int(n) => *rest += by * n,
        Number::At(place) => *sum.entry(*place).or_default() += by,
        Number::Two(op, both) => match (op, &both[0], &both[1]) {
            (Operation::Add, a, b) => return linear(a, by, sum, rest) && linear(b, by, sum, rest),
            (Operation::Sub, a, b) => return linear(a, by, sum, rest) && linear(b, -by, sum, rest),
            (Operation::Mul, Number::Int(n), a) | (Operation::Mul, a, Number::Int(n)) => {
                return linear(a, by * n, sum, rest);
            }
            _ => return false,
        },
        _ => return false,
    }
    true
}

/// What a comparison may be of: the operands of minima and maxima are compared, too.
fn sides<'n>(number: &'n Number, all: &mut Vec<&'n Number>) {
    match number {
        Number::Two(Operation::Min | Operation::Max, both) => both.iter().for_each(|n| sides(n, all)),
        other => all.push(other),
    }
}

/// How far expressions look.
struct Look<'a> {
    panels: &'a Panels,
    /// Places of sizes.
    sizes: BTreeSet<usize>,
    most: i64,
}

impl Look<'_> {
    /// How far an expression looks: its remainders, and by how many panels it compares.
    fn expression(&mut self, number: &Number) -> Followed<()> {
        let mut result = Ok(());
        number.walk(&mut |n| {
            let Number::Two(op, both) = n else { return };
            let least = matches!(op, Operation::Less | Operation::LessEqual);
            if least && self.of_sizes(n) {
                result = lost("a condition on sizes alone");
            }
            if !self.panels.has(n) {
                return;
            }
            match op {
                Operation::Div | Operation::Rem | Operation::FloorDiv | Operation::Mod => match &both[1] {
                    Number::Int(by) => self.most = self.most.max(*by),
                    _ => result = lost("a remainder of a number that is not known"),
                },
                Operation::Equal | Operation::Different => result = lost("a condition on single panels"),
                Operation::Less | Operation::LessEqual | Operation::Min | Operation::Max => {
                    self.compared(&both[0], &both[1]);
                }
                _ => {}
            }
        });
        result
    }

    /// Whether a comparison is of nothing but sizes.
    fn of_sizes(&self, number: &Number) -> bool {
        let (mut some, mut others) = (false, false);
        number.walk(&mut |n| match n {
            Number::At(place) if self.sizes.contains(place) => some = true,
            Number::At(_) | Number::Of(..) => others = true,
            _ => {}
        });
        some && !others
    }

    fn compared(&mut self, a: &Number, b: &Number) {
        let (mut left, mut right) = (Vec::new(), Vec::new());
        sides(a, &mut left);
        sides(b, &mut right);
        for (a, b) in left.iter().flat_map(|a| right.iter().map(move |b| (a, b))) {
            let (mut sum, mut rest) = (BTreeMap::new(), 0);
            if !linear(a, 1, &mut sum, &mut rest) || !linear(b, -1, &mut sum, &mut rest) {
                continue;
            }
            let own = sum.iter().filter(|(place, _)| self.panels.places.contains(place));
            if let Some(by) = own.map(|(_, by)| by.abs()).max().filter(|by| *by > 0) {
                self.most = self.most.max((rest.abs() + by - 1) / by);
            }
        }
    }

    fn steps(&mut self, steps: &[Step]) -> Followed<()> {
        for step in steps {
            match step {
                Step::Set(_, n) | Step::SetOf(_, n) => self.expression(n)?,
                Step::Move(t) => {
                    let all = t.shape.iter().chain([&t.local, &t.memory, &t.reply.index]);
                    all.into_iter().try_for_each(|n| self.expression(n))?;
                }
                Step::Wait(reply, n) => {
                    self.expression(&reply.index)?;
                    self.expression(n)?;
                }
                Step::Keep(a, b, c) => [a, b, c].into_iter().try_for_each(|n| self.expression(n))?,
                Step::If(cond, yes, no) => {
                    self.expression(cond)?;
                    self.steps(yes)?;
                    self.steps(no)?;
                }
                Step::Loop { cond, body, step } => {
                    self.expression(cond)?;
                    self.steps(step)?;
                    self.steps(body)?;
                }
                _ => {}
            }
        }
        Ok(())
    }
}

struct Search<'a> {
    plan: &'a Plan<'a>,
    text: &'a Text,
    names: &'a [String],
    /// Names of sizes that panels have, and rows.
    panels: Vec<String>,
    rows: Vec<String>,
}

impl Search<'_> {
    fn sizes(&self, columns: i64, rows: i64) -> BTreeMap<String, i64> {
        let value = |name: &String| match name {
            name if self.panels.contains(name) => columns,
            name if self.rows.contains(name) => rows,
            _ => OTHER,
        };
        self.names.iter().map(|name| (name.clone(), value(name))).collect()
    }

    /// Whether the branch is taken with some sizes.
    fn taken(&self, sizes: &BTreeMap<String, i64>) -> bool {
        let mut places = vec![Some(0); self.text.places];
        for (name, place) in &self.text.given {
            places[*place] = sizes.get(name).copied().or(Some(0));
        }
        self.text.cond.value(&mut places).is_some_and(|n| n != 0)
    }

    fn count(&self, columns: i64) -> i64 {
        let sizes = self.sizes(columns, columns);
        self.plan.count(&|name| sizes.get(name).copied()).unwrap_or(0)
    }

    fn tiles(&self, rows: i64) -> i64 {
        let sizes = self.sizes(rows, rows);
        self.plan.tiles(&|name| sizes.get(name).copied()).unwrap_or(0)
    }
}

/// The least number from which on something holds.
fn least(holds: &dyn Fn(i64) -> bool) -> i64 {
    let (mut low, mut high) = (0, LARGEST);
    while low < high {
        let middle = (low + high) / 2;
        if holds(middle) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    low
}

/// The cases that are followed.
pub(super) fn cases(plan: &Plan, text: &Text, names: &[String]) -> Followed<Vec<Case>> {
    let mut places = Panels::default();
    let mut before = usize::MAX;
    while before != places.places.len() {
        before = places.places.len();
        places.look(&text.steps, false);
    }
    // A number of panels is compared with others, too.
    for step in &text.steps {
        if let Step::Set(place, Number::Two(Operation::Add, both)) = step
            && let Number::Two(Operation::FloorDiv, _) = &both[0]
        {
            places.places.insert(*place);
        }
    }
    let sizes = names.iter().filter_map(|name| text.given.get(name).copied()).collect();
    let mut look = Look { panels: &places, sizes, most: 2 };
    look.steps(&text.steps)?;
    let most = look.most;
    if most > REACH {
        return lost("panels that look too far ahead");
    }
    let known =
        |all: &[String]| -> Vec<String> { all.iter().filter(|n| names.contains(n)).cloned().collect() };
    let [panels, rows] = plan.names()?;
    let search = Search { plan, text, names, panels: known(&panels), rows: known(&rows) };
    let shared = search.panels == search.rows;
    let first = |panels: i64| least(&|n| search.count(n) >= panels);
    // A size with so many panels, of which the last has all columns but some, or one and some more.
    let columns = |panels: i64, width: i64| {
        let (from, next) = (first(panels), first(panels + 1));
        let all = next - from;
        let more = if width > 0 { width - 1 } else { all - 1 + width };
        if panels > 0 && all > 0 { from + more.clamp(0, all - 1) } else { 0 }
    };
    let most_rows = least(&|n| search.tiles(n) > plan.cores) - 1;
    let all_cores = least(&|n| search.tiles(n) >= plan.cores);
    let some_cores = least(&|n| search.tiles(n) > plan.cores / 2);
    let long = 3 * most + 2;
    // No core is without a place.
    for rows in [most_rows + 1, 2 * most_rows, LARGEST] {
        if rows > most_rows
            && [1, 2, long, rows]
                .iter()
                .any(|n| search.taken(&search.sizes(if shared { rows } else { first(*n) }, rows)))
        {
            return wrong("may have more rows than there are cores for them".to_owned());
        }
    }
    let mut wanted: Vec<(i64, i64, bool)> = Vec::new();
    let widths = [(0, 0), (1, 1), (1, 6), (2, 0), (most - 2, -1), (most - 1, 4), (most, 13), (most + 1, 0)];
    for (panels, width) in widths {
        wanted.push((columns(panels.max(0), width), most_rows, false));
    }
    wanted.push((columns(long, 5), some_cores + 2, true));
    wanted.push((columns(long + 1, 0), all_cores + 2, !shared));
    if shared {
        wanted.push((all_cores + 2, all_cores + 2, false));
    }
    let (mut all, mut seen) = (Vec::new(), BTreeSet::new());
    let last = plan.cores - 1;
    for (columns, rows, long) in wanted {
        let rows = if shared { columns } else { rows };
        let sizes = search.sizes(columns, rows);
        if !seen.insert(sizes.clone()) || !search.taken(&sizes) {
            continue;
        }
        let tiles = search.tiles(rows);
        let mut places = BTreeSet::from([0]);
        if long {
            // One in a row that goes back, the last that has rows, and one that has none.
            places.extend([11, tiles - 1, tiles].into_iter().filter(|p| (1..last).contains(p)));
        } else if tiles == plan.cores {
            places.clear();
        }
        all.push(Case { sizes, places: places.into_iter().filter(|p| *p < last).collect() });
    }
    if !all.iter().any(|case| search.plan.count(&|name| case.sizes.get(name).copied()) >= Some(long.min(1))) {
        return lost("no sizes with panels");
    }
    Ok(all)
}
