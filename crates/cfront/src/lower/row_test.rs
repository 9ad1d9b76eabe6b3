//! The test that tells rows behind pointers (`double **a`, `double ***u`) apart: they have to lie
//! one behind the other, in the order of their subscripts, as one allocation for all of them gives,
//! or allocations in a row. Then each array of rows is an interval of memory, and intervals are
//! compared.
//!
//! The test reads the pointers to rows that the region reads, and no others. So only accesses that
//! are made whenever their loops run count, and what they reach must have all that the others do.
//! Of one array of pointers all may be read between two that are: it is enough that the first and
//! the last row are reached, perhaps by different accesses (`m[k][k]` and `m[i][j]` of an
//! elimination).

use super::Lowering;
use super::assume::{Bounds, Need, operand};
use super::overlap::Thing;
use crate::linear::Linear;
use loops::Expr as Hub;

/// Which elements an access of rows may have.
#[derive(Clone, Debug)]
pub(crate) struct Cells {
    /// First and exclusive last of each subscript. `None` if one does not follow from sizes.
    ranges: Option<Vec<(Linear, Linear)>>,
    /// It is made if its loops run.
    exact: bool,
    /// Its other loops run if these forms are at least 0.
    needs: Vec<Linear>,
    /// It is made for the least, and for the greatest, first subscript if these are at least 0.
    ends: [Option<Vec<Linear>>; 2],
}

/// The elements that a region has of rows.
#[derive(Clone, Debug)]
pub struct Reached {
    /// First and exclusive last of each subscript.
    ranges: Vec<(Linear, Linear)>,
    /// All of it is accessed if these forms are at least 0.
    needs: Vec<Linear>,
}

impl Lowering<'_> {
    /// Notes the subscripts of an access of rows behind pointers.
    pub(super) fn note_cells(&mut self, k: usize, forms: &[Option<Linear>]) {
        if !self.arrays.get(&k).is_some_and(|array| array.rows) {
            return;
        }
        let loops: Vec<Bounds> = self.bounds_here();
        let mut range = |form: &Option<Linear>| {
            let first = self.bound(form.as_ref()?, &loops, false, 0)?;
            let end = self.bound(form.as_ref()?, &loops, true, 0)?.plus_constant(1)?;
            (self.is_of_sizes(&first) && self.is_of_sizes(&end)).then_some((first, end))
        };
        let ranges: Option<Vec<_>> = forms.iter().map(&mut range).collect();
        let (mut exact, mut needs) = (self.runs_by_sizes(), Vec::new());
        for (var, lower, upper) in &loops {
            if forms.iter().flatten().any(|form| self.mentions(form, var)) {
                continue;
            }
            let runs = upper.minus(lower).and_then(|length| length.plus_constant(-1));
            match runs.filter(|form| self.is_of_sizes(form)) {
                Some(form) => needs.push(form),
                None => exact = false,
            }
        }
        let first = forms.first().cloned().flatten().filter(|_| self.runs_by_sizes());
        let ends = [false, true].map(|up| first.as_ref().and_then(|form| self.reaches_end(form, &loops, up)));
        if let Some(array) = self.arrays.get_mut(&k) {
            array.cells.push(Cells { ranges, exact, needs, ends });
        }
    }

    /// What has to be at least 0 so that the loops around run where a subscript is greatest (`up`),
    /// or least. `None` if that does not follow from sizes, or never holds.
    pub(super) fn reaches_end(&mut self, form: &Linear, loops: &[Bounds], up: bool) -> Option<Vec<Linear>> {
        // The value of each variable there, over those of the loops around its loop.
        let (mut form, mut values) = (form.clone(), Vec::new());
        for (var, lower, upper) in loops.iter().rev() {
            let last = form.mentions(var) && up == (form.coefficient(var) > 0);
            let value = if last { upper.plus_constant(-1)? } else { lower.clone() };
            form = form.replace(var, &value)?;
            values.push((var, value));
        }
        let mut needs = Vec::new();
        for (at, (_, lower, upper)) in loops.iter().enumerate() {
            let mut length = upper.minus(lower)?.plus_constant(-1)?;
            for (var, value) in &values[loops.len() - at..] {
                length = length.replace(*var, value)?;
            }
            if !self.is_of_sizes(&length) {
                // Enough that it runs everywhere.
                length = self.bound(&length, loops, false, 0)?;
            }
            if !self.is_of_sizes(&length) || length.as_constant().is_some_and(|c| c < 0) {
                return None;
            }
            needs.push(length);
        }
        Some(needs)
    }

    /// The elements of an array of rows of which the first and the last are accessed.
    fn settle_rows(&mut self, cells: Vec<Cells>) -> Option<Reached> {
        let (mut needs, mut edges) = (Vec::new(), [Vec::new(), Vec::new()]);
        let mut columns = (Vec::new(), Vec::new());
        for cell in &cells {
            let [row, column] = cell.ranges.as_deref()? else { return None };
            columns.0.push(column.0.clone());
            columns.1.push(column.1.clone());
            for (edge, (form, needed)) in edges.iter_mut().zip([&row.0, &row.1].into_iter().zip(&cell.ends)) {
                if let Some(needed) = needed {
                    needs.extend(needed.iter().cloned());
                    edge.push(form.clone());
                }
            }
        }
        for cell in &cells {
            let [row, _] = cell.ranges.as_deref()? else { return None };
            let covered = |form: Option<Linear>| form.is_some_and(|form| self.covers(&form));
            let below = edges[0].iter().any(|first| covered(row.0.minus(first)));
            let above = edges[1].iter().any(|end| covered(end.minus(&row.1)));
            if !below || !above {
                return None;
            }
        }
        let [first, end] = edges;
        let rows = (self.farthest(first, false), self.farthest(end, true));
        let columns = (self.farthest(columns.0, false), self.farthest(columns.1, true));
        needs.sort();
        needs.dedup();
        Some(Reached { ranges: vec![rows, columns], needs })
    }

    /// The elements that are accessed of rows, if that follows from sizes.
    pub(super) fn settle_cells(&mut self, k: usize) -> Option<Reached> {
        let cells = self.arrays.get(&k)?.cells.clone();
        if self.arrays.get(&k)?.dims.len() == 2 {
            return self.settle_rows(cells);
        }
        let (exact, others): (Vec<Cells>, Vec<Cells>) = cells.into_iter().partition(|one| one.exact);
        let mut needs = Vec::new();
        let mut ranges: Vec<Vec<(Linear, Linear)>> = Vec::new();
        for one in exact {
            needs.extend(one.needs);
            ranges.push(one.ranges?);
        }
        // What may be accessed must be among what is.
        for one in others {
            for (dimension, (first, end)) in one.ranges?.into_iter().enumerate() {
                let covers = |wide: Option<Linear>| wide.is_some_and(|form| self.covers(&form));
                let below = ranges.iter().any(|all| covers(first.minus(&all[dimension].0)));
                let above = ranges.iter().any(|all| covers(all[dimension].1.minus(&end)));
                if !below || !above {
                    return None;
                }
            }
        }
        let rank = ranges.first()?.len();
        let mut boxed = Vec::new();
        for dimension in 0..rank {
            let (first, end): (Vec<_>, Vec<_>) = ranges.iter().map(|all| all[dimension].clone()).unzip();
            let (first, end) = (self.farthest(first, false), self.farthest(end, true));
            for all in &ranges {
                needs.extend(all[dimension].1.minus(&all[dimension].0).and_then(|n| n.plus_constant(-1)));
            }
            boxed.push((first, end));
        }
        needs.sort();
        needs.dedup();
        Some(Reached { ranges: boxed, needs })
    }

    /// Whether a form is at least 0 by what types say.
    fn covers(&self, form: &Linear) -> bool {
        form.as_constant().is_some_and(|c| c >= 0) || self.follows(&self.of_types, form)
    }

    /// A condition that holds only if all rows of these arrays are apart, and apart from the other
    /// things. `None` if that cannot be tested.
    pub(super) fn rows_apart(&self, things: &[&Thing<'_>], pairs: &[(usize, usize)]) -> Option<String> {
        let mut text = String::from("__extension__ ({ int apart_ = 1; ");
        let mut tests: Vec<String> = Vec::new();
        let mut needs: Vec<String> = Vec::new();
        let mut ends: Vec<(String, String)> = Vec::new();
        let mut scans = String::new();
        let mut finds: Vec<String> = Vec::new();
        for (n, thing) in things.iter().enumerate() {
            if !thing.rows {
                let memory = self.memory(thing.object)?;
                ends.push((memory.begin, memory.end));
                finds.extend(memory.statements);
                continue;
            }
            let reached = self.arrays.get(&thing.object)?.reached.as_ref()?;
            for need in reached.needs.iter().filter(|need| need.as_constant().is_none_or(|c| c < 0)) {
                needs.push(operand(self.condition_text(&Need::Natural(need.clone()))?));
            }
            scans.push_str(&self.scan(thing.name, n, reached)?);
            text.push_str(&format!("long from{n}_ = 0, to{n}_ = 0; "));
            ends.push((format!("from{n}_"), format!("to{n}_")));
        }
        for (a, b) in pairs.iter().filter(|(a, b)| a != b) {
            let ((begin, end), (from, to)) = (&ends[*a], &ends[*b]);
            tests.push(format!("((long)({end}) <= (long)({from}) || (long)({to}) <= (long)({begin}))"));
        }
        // What data says of the others is not sought as well.
        if !finds.is_empty() {
            return None;
        }
        needs.sort();
        needs.dedup();
        let guard = if needs.is_empty() { "1".to_owned() } else { needs.join(" && ") };
        text.push_str(&format!("if ({guard}) {{ {scans}}} else apart_ = 0; "));
        tests.insert(0, "apart_".to_owned());
        text.push_str(&format!("{}; }})", tests.join(" && ")));
        Some(text)
    }

    /// Statements that find the interval of an array of rows, and whether its rows are in order.
    fn scan(&self, name: &str, n: usize, reached: &Reached) -> Option<String> {
        let text = |form: &Linear| -> Option<String> {
            let e = self.form_expr(form);
            Some(match (&e, self.alone(&e)) {
                (Hub::Int(_), Some(number)) => number,
                (_, Some(name)) => format!("(long){name}"),
                _ => format!("(long){}", operand(self.wide_text(&e)?)),
            })
        };
        let ranges: Option<Vec<(String, String)>> =
            reached.ranges.iter().map(|(first, end)| Some((text(first)?, text(end)?))).collect();
        let ranges = ranges?;
        let ((first, end), (from, to)) = (&ranges[ranges.len() - 2], ranges.last()?);
        let row = |at: &str| format!("(long){at}");
        match ranges.len() {
            2 => {
                let size = format!("(long)sizeof **{name}");
                let long = format!("({to} - {from}) * {size}");
                Some(format!(
                    "for (long k_ = {first}; k_ + 1 < {end}; k_++) apart_ &= {} - {} >= {long}; \
                     from{n}_ = {} + {from} * {size}; to{n}_ = {} + {to} * {size}; ",
                    row(&format!("{name}[k_ + 1]")),
                    row(&format!("{name}[k_]")),
                    row(&format!("{name}[{first}]")),
                    row(&format!("{name}[{end} - 1]")),
                ))
            }
            3 => {
                let size = format!("(long)sizeof ***{name}");
                let long = format!("({to} - {from}) * {size}");
                let (top, bottom) = &ranges[0];
                Some(format!(
                    "for (long l_ = {top}; l_ < {bottom}; l_++) {{ \
                     for (long k_ = {first}; k_ + 1 < {end}; k_++) apart_ &= {} - {} >= {long}; \
                     if (l_ + 1 < {bottom}) apart_ &= {} - {} >= {long}; }} \
                     from{n}_ = {} + {from} * {size}; to{n}_ = {} + {to} * {size}; ",
                    row(&format!("{name}[l_][k_ + 1]")),
                    row(&format!("{name}[l_][k_]")),
                    row(&format!("{name}[l_ + 1][{first}]")),
                    row(&format!("{name}[l_][{end} - 1]")),
                    row(&format!("{name}[{top}][{first}]")),
                    row(&format!("{name}[{bottom} - 1][{end} - 1]")),
                ))
            }
            _ => None,
        }
    }
}
