//! Chooses the sizes and cores that are followed: enough for every remainder in the text, at the
//! start, in the middle and at the end.

use std::collections::{BTreeMap, BTreeSet};

use super::super::walk::{CORE, Followed, lost, wrong};
use super::block_text::{Step, Text};
use super::number::{Number, Operation};
use super::plan::Plan;

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

/// Numbers of panels, and of rows on their way, by their places: what the loop over panels counts
/// with, what it goes on with from panel to panel, and what is made of these without a factor.
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
        self.has(value) && self.single(value, 1)
    }

    /// Whether numbers of panels are in it without a factor, when it is so often in a sum.
    fn single(&self, value: &Number, by: i64) -> bool {
        match value {
            Number::Two(op, both) => match (op, &both[0], &both[1]) {
                (Operation::Add | Operation::Sub, a, b) => self.single(a, by) && self.single(b, by),
                (Operation::Mul, Number::Int(n), a) | (Operation::Mul, a, Number::Int(n)) => {
                    self.single(a, by.saturating_mul(n.abs()))
                }
                (Operation::Mul, ..) => !self.has(value),
                _ => by == 1 || !self.has(value),
            },
            _ => by == 1 || !self.has(value),
        }
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
    /// Places of sizes, and of this core's number and its place in the line.
    sizes: BTreeSet<usize>,
    line: BTreeSet<usize>,
    most: i64,
    cores: i64,
    /// What is not shown for all sizes and cores by those that are followed.
    doubt: Option<&'static str>,
}

impl Look<'_> {
    /// How far an expression looks: its remainders, and by how many panels it compares.
    fn expression(&mut self, number: &Number) {
        number.walk(&mut |n| {
            let Number::Two(op, both) = n else { return };
            let least = matches!(op, Operation::Less | Operation::LessEqual);
            if least && self.of_sizes(n) {
                self.doubt = Some("a condition on sizes alone");
            }
            if !self.panels.has(n) {
                return;
            }
            match op {
                Operation::Div | Operation::Rem | Operation::FloorDiv | Operation::Mod => match &both[1] {
                    Number::Int(by) => self.most = self.most.max(*by),
                    _ => self.doubt = Some("a remainder of a number that is not known"),
                },
                Operation::Equal | Operation::Different => self.doubt = Some("a condition on single panels"),
                Operation::Less | Operation::LessEqual | Operation::Min | Operation::Max => {
                    self.compared(&both[0], &both[1]);
                }
                _ => {}
            }
        });
    }

    /// A condition tells the first and the last core from others, and no others.
    fn of_cores(&mut self, cond: &Number) {
        cond.walk(&mut |n| {
            let Number::Two(op, both) = n else { return };
            let (mut sum, mut rest) = (BTreeMap::new(), 0);
            let compares = matches!(
                op,
                Operation::Equal | Operation::Different | Operation::Less | Operation::LessEqual
            );
            if !compares
                || !linear(&both[0], 1, &mut sum, &mut rest)
                || !linear(&both[1], -1, &mut sum, &mut rest)
                || !sum.iter().any(|(place, by)| *by != 0 && self.line.contains(place))
            {
                return;
            }
            let ends = matches!(sum.values().copied().collect::<Vec<_>>()[..], [1 | -1])
                && [0, self.cores - 1].contains(&rest.abs());
            if *op != Operation::Equal || !ends {
                self.doubt = Some("a condition on some cores");
            }
        });
    }

    /// Names of this core's number and its place.
    fn in_line(&mut self, steps: &[Step]) {
        for step in steps {
            match step {
                Step::Set(place, value) => {
                    let own = match value {
                        Number::At(other) => self.line.contains(other),
                        Number::Call(call) => call.1.iter().any(|n| self.line.iter().any(|own| n.has(*own))),
                        _ => false,
                    };
                    if own {
                        self.line.insert(*place);
                    }
                }
                Step::If(_, yes, no) => {
                    self.in_line(yes);
                    self.in_line(no);
                }
                Step::Loop { body, .. } => self.in_line(body),
                _ => {}
            }
        }
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

    fn steps(&mut self, steps: &[Step]) {
        for step in steps {
            match step {
                Step::Set(_, n) | Step::SetOf(_, n) => self.expression(n),
                Step::Move(t) => {
                    let all = t.shape.iter().chain([&t.local, &t.memory, &t.reply.index]);
                    all.into_iter().for_each(|n| self.expression(n));
                }
                Step::Wait(reply, n) => {
                    self.expression(&reply.index);
                    self.expression(n);
                }
                Step::Keep(a, b, c) => [a, b, c].into_iter().for_each(|n| self.expression(n)),
                Step::If(cond, yes, no) => {
                    self.expression(cond);
                    self.of_cores(cond);
                    self.steps(yes);
                    self.steps(no);
                }
                Step::Loop { cond, body, step } => {
                    self.expression(cond);
                    self.steps(step);
                    self.steps(body);
                }
                _ => {}
            }
        }
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

/// Which cores are followed besides the last.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Which {
    Last,
    Ends,
    /// Those beside the ends, too.
    Beside,
    /// One in a row that goes back, the last that has rows, and one that has none.
    Several,
}

/// The cases that are followed, and why they may not be enough.
pub(super) fn cases(
    plan: &Plan,
    text: &Text,
    names: &[String],
) -> Followed<(Vec<Case>, Option<&'static str>)> {
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
    let line = text.given.get(CORE).copied().into_iter().collect();
    let mut look = Look { panels: &places, sizes, line, most: 2, cores: plan.cores, doubt: None };
    look.in_line(&text.steps);
    look.steps(&text.steps);
    let (most, doubt) = (look.most, look.doubt);
    if most > REACH {
        return lost("panels that look too far ahead");
    }
    let known =
        |all: &[String]| -> Vec<String> { all.iter().filter(|n| names.contains(n)).cloned().collect() };
    let [panels, rows] = plan.names()?;
    let search = Search { plan, text, names, panels: known(&panels), rows: known(&rows) };
    let shared = search.panels == search.rows;
    let first = |panels: i64| least(&|n| search.count(n) >= panels);
    // A size with so many panels, of which the last has so many columns, or all but some.
    let columns = |panels: i64, width: i64| {
        let (from, next) = (first(panels), first(panels + 1));
        let all = next - from;
        let more = if width > 0 { width - 1 } else { all - 1 + width };
        if panels > 0 && all > 0 { from + more.clamp(0, all - 1) } else { 0 }
    };
    let most_rows = least(&|n| search.tiles(n) > plan.cores) - 1;
    let all_cores = least(&|n| search.tiles(n) >= plan.cores);
    let some_cores = least(&|n| search.tiles(n) > plan.cores / 2);
    let long = 3 * most;
    // No core is without a place.
    for rows in [most_rows + 1, 2 * most_rows, LARGEST] {
        let panels = [1, 2, long].map(first);
        let columns = if shared { vec![rows] } else { panels.to_vec() };
        let taken = columns.iter().any(|columns| search.taken(&search.sizes(*columns, rows)));
        if search.tiles(rows) > plan.cores && taken {
            return wrong("may have more rows than there are cores for them".to_owned());
        }
    }
    let mut wanted: Vec<(i64, i64, Which)> = Vec::new();
    for (panels, width) in [(0, 0), (1, 1), (1, 6), (2, 0), (most - 2, -1), (most - 1, 4), (most, 13)] {
        wanted.push((columns(panels.max(0), width), most_rows, Which::Ends));
    }
    wanted.push((columns(most + 1, 0), most_rows, Which::Beside));
    wanted.push((columns(long, 5), some_cores + 2, Which::Several));
    match shared {
        true => {
            wanted.push((columns(long + 1, 0), 0, Which::Ends));
            wanted.push((all_cores + 2, 0, Which::Last));
        }
        false => wanted.push((columns(long + 1, 0), all_cores + 2, Which::Ends)),
    }
    let (mut all, mut seen) = (Vec::new(), BTreeSet::new());
    let last = plan.cores - 1;
    for (columns, rows, which) in wanted {
        let rows = if shared { columns } else { rows };
        let sizes = search.sizes(columns, rows);
        if !seen.insert(sizes.clone()) || !search.taken(&sizes) {
            continue;
        }
        let tiles = search.tiles(rows);
        let mut places = match which {
            Which::Last => vec![],
            Which::Ends => vec![0],
            Which::Beside => vec![0, 1, last - 1],
            Which::Several => vec![11, tiles - 1, tiles],
        };
        places.retain(|place| (0..last).contains(place));
        places.sort_unstable();
        places.dedup();
        all.push(Case { sizes, places });
    }
    if all.is_empty() {
        return lost("no sizes with panels");
    }
    Ok((all, doubt))
}
