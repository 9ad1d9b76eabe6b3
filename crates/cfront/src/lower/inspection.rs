//! How far subscripts go that are data, found before the region by reading them (an inspector, as
//! the literature calls it): the least and the greatest element of `col` say where `x[col[k]]` is,
//! and rows of `row[i]` to `row[i + 1]` that are in order say where `val[k]` is.
//!
//! Only what the region reads in any case is read. Elements between two that are read are of the
//! same array, so they may be read as well.

use loops::{Name, Scalar};

use super::access::Pending;
use super::array::ArrayUse;
use super::assume::{Bounds, Need, operand};
use super::by_data::is_unknown;
use super::intervals::Interval;
use super::{Class, Lowering};
use crate::ast::{Binary, Expr, ExprKind, Unary};
use crate::ctype::{CType, IntType};
use crate::linear::Linear;
use crate::lower::resolve::Meaning;

/// What a region reads of an array of subscripts.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Read {
    /// From one element to another, each subscript by itself. Both are read if these forms are at
    /// least 0.
    Elements { first: Vec<Linear>, last: Vec<Linear>, needs: Vec<Linear> },
    /// Those at the values of a loop variable, moved by a constant. They are read if these forms
    /// are at least 0.
    Along(Name, i64, Vec<Linear>),
}

/// The bounds of a loop variable that data gives: neighbours in an array, from the first row to the
/// last. They are read if the forms are at least 0.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Rows {
    array: usize,
    first: Linear,
    last: Linear,
    needs: Vec<Linear>,
}

/// What gives a subscript that is data.
#[derive(Clone, PartialEq, Eq, Debug)]
enum Source {
    /// The elements of an array.
    Array(usize),
    /// A loop variable with [`Rows`].
    Variable(Name),
    /// More than that.
    Computed(Interval),
}

/// A subscript that is data: a multiple of it, and what is added to that.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct ByData {
    source: Source,
    times: Linear,
    least: Linear,
    most: Linear,
}

impl ByData {
    fn of(source: Source) -> ByData {
        ByData { source, times: Linear::constant(1), least: Linear::default(), most: Linear::default() }
    }

    /// Whether elements of arrays are read to find it.
    pub(super) fn reads(&self) -> bool {
        match &self.source {
            Source::Computed(interval) => interval.reads(),
            Source::Array(_) | Source::Variable(_) => true,
        }
    }
}

/// How far what a subscript is made of is looked into.
const DEEPEST: usize = 24;

/// C that finds an interval: statements, and its ends, the second one inclusive.
struct Found {
    statements: Vec<String>,
    least: String,
    most: String,
}

/// Elements of an array that accesses by data reach: C that finds its ends.
pub(super) struct Reached {
    pub statements: Vec<String>,
    /// The first element.
    pub from: String,
    /// What is behind the last.
    pub end: String,
}

impl Lowering<'_> {
    /// What an access reads of an array of integers that may be subscripts.
    pub(super) fn note_read(&mut self, k: usize, form: Option<&Linear>) {
        if !self.arrays.get(&k).is_some_and(may_index) {
            return;
        }
        let read = form.filter(|_| self.branches == 0).and_then(|form| self.read_at(form));
        self.add_read(k, read);
    }

    /// Whether sizes alone say that this place is reached: no condition is around it, and no loop
    /// whose bounds are data.
    pub(super) fn runs_by_sizes(&self) -> bool {
        self.branches == 0 && !self.loops.iter().any(|l| is_unknown(&l.upper))
    }

    fn add_read(&mut self, k: usize, read: Option<Read>) {
        let Some(array) = self.arrays.get_mut(&k) else { return };
        match (read, &mut array.read_where) {
            (Some(read), Some(all)) => {
                if !all.contains(&read) {
                    all.push(read);
                }
            }
            (_, all) => *all = None,
        }
    }

    fn read_at(&mut self, form: &Linear) -> Option<Read> {
        if let Some((var, rest)) = self.along(form) {
            let more = rest.as_constant()?;
            // The loops inside must run as well.
            let inside = self.loops.iter().skip_while(|l| l.var != var).skip(1);
            let needs: Option<Vec<Linear>> = inside
                .map(|l| {
                    let length = l.upper.minus(&l.lower)?.plus_constant(-1)?;
                    let known = !is_unknown(&l.upper) && !is_unknown(&l.lower) && self.is_of_sizes(&length);
                    known.then_some(length)
                })
                .collect();
            return Some(Read::Along(var, more, needs?));
        }
        if !self.runs_by_sizes() {
            return None;
        }
        let loops = self.bounds_here();
        let (first, last) = (self.bound(form, &loops, false, 0)?, self.bound(form, &loops, true, 0)?);
        let mut needs = self.reaches_end(form, &loops, false)?;
        needs.extend(self.reaches_end(form, &loops, true)?);
        let known = self.is_of_sizes(&first) && self.is_of_sizes(&last);
        known.then(|| Read::Elements { first: vec![first], last: vec![last], needs })
    }

    /// As [`Lowering::note_read`], of an array that is seen with rows, where no loop depends on
    /// another.
    pub(super) fn note_read_of_rows(&mut self, k: usize, p: &Pending, subscripts: &[Linear]) {
        if !self.arrays.get(&k).is_some_and(may_index) {
            return;
        }
        let read = self.read_of_rows(p, subscripts);
        self.add_read(k, read);
    }

    fn read_of_rows(&mut self, p: &Pending, subscripts: &[Linear]) -> Option<Read> {
        let rectangle = |(_, lower, upper): &Bounds| {
            !is_unknown(lower) && !is_unknown(upper) && self.is_of_sizes(lower) && self.is_of_sizes(upper)
        };
        if !p.sure || !p.loops.iter().all(rectangle) {
            return None;
        }
        let (mut needs, mut first, mut last) = (Vec::new(), Vec::new(), Vec::new());
        for (_, lower, upper) in &p.loops {
            needs.push(upper.minus(lower)?.plus_constant(-1)?);
        }
        for form in subscripts {
            first.push(self.bound(form, &p.loops, false, 0).filter(|end| self.is_of_sizes(end))?);
            last.push(self.bound(form, &p.loops, true, 0).filter(|end| self.is_of_sizes(end))?);
        }
        Some(Read::Elements { first, last, needs })
    }

    /// A form as a loop variable whose bounds are data and what is added to it.
    fn along(&self, form: &Linear) -> Option<(Name, Linear)> {
        let by_rows = |name: &Name| {
            let around = self.loops.iter().any(|l| l.var == *name && is_unknown(&l.upper));
            around && self.row_loops.contains_key(name)
        };
        let var = form.variables().find(|name| by_rows(name))?.clone();
        let rest = form.minus(&Linear::name(var.clone()))?;
        let once = !rest.variables().any(by_rows);
        once.then_some((var, rest))
    }

    /// A subscript that a loop variable with data as bounds is in.
    pub(super) fn along_data(&mut self, form: &Linear) -> Option<ByData> {
        let (var, rest) = self.along(form)?;
        let loops = self.bounds_here();
        let (least, most) = (self.bound(&rest, &loops, false, 0)?, self.bound(&rest, &loops, true, 0)?);
        let known = self.is_of_sizes(&least) && self.is_of_sizes(&most);
        known.then(|| ByData { source: Source::Variable(var), times: Linear::constant(1), least, most })
    }

    /// A subscript that an element of an array is in.
    pub(super) fn inspected(&mut self, e: &Expr) -> Option<ByData> {
        match &e.kind {
            ExprKind::Index(..) | ExprKind::Unary(Unary::Deref, _) => {
                let k = self.subscripts_array(e)?;
                Some(ByData::of(Source::Array(k)))
            }
            ExprKind::Cast(ty, a) => match ty.ty {
                CType::Int(int) if int.bits() >= 32 && !int.is_unsigned() => self.inspected(a),
                _ => None,
            },
            ExprKind::Ident(_) => {
                let Meaning::Object(k) = self.meaning(e) else { return None };
                let value =
                    self.initial.get(&k).filter(|_| matches!(self.class(k), Class::Fixed(_)))?.clone();
                if self.stays(&value, DEEPEST) { self.inspected(&value) } else { None }
            }
            ExprKind::Binary(Binary::Add | Binary::Sub, a, b) => {
                let minus = matches!(e.kind, ExprKind::Binary(Binary::Sub, ..));
                let (by_data, other, sign) = match self.index(b) {
                    Ok(other) => (self.inspected(a)?, other, if minus { -1 } else { 1 }),
                    Err(_) if minus => return None,
                    Err(_) => (self.inspected(b)?, self.index(a).ok()?, 1),
                };
                let rest = other.form.times(sign)?;
                let loops = self.bounds_here();
                let (least, most) =
                    (self.bound(&rest, &loops, false, 0)?, self.bound(&rest, &loops, true, 0)?);
                let known = self.is_of_sizes(&least) && self.is_of_sizes(&most);
                let (least, most) = (by_data.least.plus(&least)?, by_data.most.plus(&most)?);
                known.then_some(ByData { least, most, ..by_data })
            }
            ExprKind::Binary(Binary::Mul, a, b) => {
                let (by_data, times) = match self.index(b) {
                    Ok(times) => (self.inspected(a)?, times),
                    Err(_) => (self.inspected(b)?, self.index(a).ok()?),
                };
                let plain = by_data.times.as_constant() == Some(1)
                    && [&by_data.least, &by_data.most].iter().all(|form| form.as_constant() == Some(0));
                let narrow = times.ty.bits() <= 32 && self.is_of_sizes(&times.form);
                (plain && narrow).then_some(ByData { times: times.form, ..by_data })
            }
            _ => None,
        }
    }

    /// The array of subscripts that an element is of.
    pub(super) fn subscripts_array(&self, e: &Expr) -> Option<usize> {
        let (k, subscripts) = self.element_of(e)?;
        let array = self.arrays.get(&k)?;
        (subscripts == 1 && array.flat && may_index(array)).then_some(k)
    }

    /// Notes the interval that an access by data is in.
    pub(super) fn goes_to(&mut self, k: usize, interval: Option<Interval>) {
        self.goes_by_data(k, interval.map(|interval| ByData::of(Source::Computed(interval))));
    }

    /// Notes where an access by data goes.
    pub(super) fn goes_by_data(&mut self, k: usize, by_data: Option<ByData>) {
        match by_data {
            None => self.reaches_anywhere(k),
            Some(by_data) => {
                if let Some(array) = self.arrays.get_mut(&k)
                    && !array.by_data.contains(&by_data)
                {
                    array.by_data.push(by_data);
                }
            }
        }
    }

    /// The rows that a loop goes along from `a[i]` to `a[i + 1]`.
    pub(super) fn rows_of(&mut self, first: &Expr, end: &Expr) -> Option<Rows> {
        let (k, subscripts) = self.element_of(first)?;
        let same = self.element_of(end)? == (k, subscripts) && subscripts == 1;
        let array = self.arrays.get(&k).filter(|array| same && array.flat)?;
        if !may_index(array) || !self.runs_by_sizes() {
            return None;
        }
        let (from, to) = (self.subscript_of(first)?, self.subscript_of(end)?);
        let next = to.minus(&from)?.as_constant() == Some(1) && self.along(&from).is_none();
        let loops = self.bounds_here();
        let first = self.bound(&from, &loops, false, 0).filter(|_| next)?;
        let last = self.bound(&to, &loops, true, 0)?;
        let mut needs = self.reaches_end(&from, &loops, false)?;
        needs.extend(self.reaches_end(&to, &loops, true)?);
        let known = self.is_of_sizes(&first) && self.is_of_sizes(&last);
        known.then_some(Rows { array: k, first, last, needs })
    }

    /// The form of the only subscript of an access.
    fn subscript_of(&mut self, e: &Expr) -> Option<Linear> {
        let ExprKind::Index(_, subscript) = &e.kind else { return None };
        Some(self.index(subscript).ok()?.form)
    }

    fn element_of(&self, e: &Expr) -> Option<(usize, usize)> {
        let (mut base, mut subscripts) = (e, 0);
        while let ExprKind::Index(inner, _) = &base.kind {
            (base, subscripts) = (inner, subscripts + 1);
        }
        let (ExprKind::Ident(_), Meaning::Object(k)) = (&base.kind, self.meaning(base)) else { return None };
        (self.res.objects[k].place.is_some() && !self.tracked.contains(&k)).then_some((k, subscripts))
    }

    /// How far the accesses of an array go that are by data. `None` if that cannot be found.
    pub(super) fn found_by_data(&self, k: usize) -> Option<Reached> {
        let array = self.arrays.get(&k)?;
        let (from, to) = (format!("from{k}_"), format!("to{k}_"));
        let mut statements = Vec::new();
        let mut ends = Vec::new();
        if let Some((first, end)) = &array.span {
            ends.push((self.long_text(first)?, format!("{} - 1", self.long_text(end)?)));
        } else if array.reach.as_ref().is_none_or(|reach| !reach.is_empty()) {
            return None;
        }
        for (place, by_data) in array.by_data.iter().enumerate() {
            let found = self.found(by_data, &format!("of{k}_{place}_"))?;
            statements.extend(found.statements);
            ends.push((found.least, found.most));
        }
        let ((first, last), more) = ends.split_first()?;
        statements.push(format!("long {from} = {first}, {to} = {last};"));
        for (first, last) in more {
            statements.push(format!("if ({first} < {from}) {from} = {first};"));
            statements.push(format!("if ({last} > {to}) {to} = {last};"));
        }
        Some(Reached { statements, from, end: format!("({to} + 1)") })
    }

    fn found(&self, by_data: &ByData, prefix: &str) -> Option<Found> {
        let (mut statements, least, most) = match &by_data.source {
            Source::Computed(interval) => {
                let mut statements = Vec::new();
                let (least, most) = self.interval_text(interval, prefix, &mut 0, &mut statements)?;
                (statements, format!("(long){least}"), format!("(long){most}"))
            }
            Source::Variable(var) => {
                let rows = self.row_statements(var)?;
                (rows, format!("first_{var}_"), format!("(end_{var}_ - 1)"))
            }
            Source::Array(k) => (self.scanned(*k)?, format!("least{k}_"), format!("most{k}_")),
        };
        let times = match by_data.times.as_constant() {
            Some(1) => String::new(),
            _ => {
                let times = self.long_text(&by_data.times)?;
                statements.push(format!("apart_ &= {times} >= 0;"));
                format!(" * {times}")
            }
        };
        let end = |value: String, more: &Linear| match more.as_constant() {
            Some(0) => Some(format!("{value}{times}")),
            _ => Some(format!("{value}{times} + {}", self.long_text(more)?)),
        };
        Some(Found { statements, least: end(least, &by_data.least)?, most: end(most, &by_data.most)? })
    }

    /// Statements that find the rows of a loop, which have to be in order.
    fn row_statements(&self, var: &Name) -> Option<Vec<String>> {
        let rows = self.row_loops.get(var)?;
        let array = self.arrays.get(&rows.array).filter(|array| !array.written)?;
        // What is read is not moved by the region.
        let name = array.read.then(|| self.res.objects[rows.array].name.clone())?;
        let (first, last) = (self.long_text(&rows.first)?, self.long_text(&rows.last)?);
        Some(vec![
            format!("long first_{var}_ = 0, end_{var}_ = 0;"),
            format!(
                "if ({}) {{ for (long k_ = {first}; k_ < {last}; k_++) apart_ &= {name}[k_] <= {name}[k_ + 1]; \
                 first_{var}_ = {name}[{first}]; end_{var}_ = {name}[{last}]; }} else apart_ = 0;",
                self.needs_text(&rows.needs)?
            ),
        ])
    }

    /// Statements that find the least and the greatest of the elements that a region reads.
    pub(super) fn scanned(&self, k: usize) -> Option<Vec<String>> {
        let array = self.arrays.get(&k).filter(|array| !array.written)?;
        let name = &self.res.objects[k].name;
        let (least, most) = (format!("least{k}_"), format!("most{k}_"));
        let mut statements = vec![format!("long {least} = 1L << 40, {most} = -(1L << 40);")];
        let scan = |first: &str, last: &str| {
            format!(
                "for (long k_ = {first}; k_ <= {last}; k_++) {{ \
                 {least} = {name}[k_] < {least} ? {name}[k_] : {least}; \
                 {most} = {name}[k_] > {most} ? {name}[k_] : {most}; }}"
            )
        };
        for read in array.read_where.as_ref()? {
            match read {
                Read::Along(var, more, needs) => {
                    statements.extend(self.row_statements(var)?);
                    let needs = self.needs_text(needs)?;
                    statements.extend((needs != "1").then(|| format!("apart_ &= {needs};")));
                    statements.push(format!(
                        "if (apart_) {}",
                        scan(&format!("first_{var}_ + {more}"), &format!("end_{var}_ - 1 + {more}"))
                    ));
                }
                Read::Elements { first, last, needs } => {
                    let (first, last) = (self.element_text(array, first)?, self.element_text(array, last)?);
                    let needs = self.needs_text(needs)?;
                    statements.push(format!("if ({needs}) {} else apart_ = 0;", scan(&first, &last)));
                }
            }
        }
        statements.push(format!("if ({least} > {most}) {least} = {most} = 0;"));
        Some(statements)
    }

    /// The place of an element in its array.
    fn element_text(&self, array: &ArrayUse, subscripts: &[Linear]) -> Option<String> {
        let (first, others) = subscripts.split_first()?;
        let mut text = self.long_text(first)?;
        for (form, extent) in others.iter().zip(array.dims.get(1..)?) {
            let extent = operand(self.computed_text(extent));
            text = format!("({} * (long){extent} + {})", operand(text), self.long_text(form)?);
        }
        Some(text)
    }

    fn needs_text(&self, needs: &[Linear]) -> Option<String> {
        let mut all = Vec::new();
        for need in needs.iter().filter(|need| need.as_constant().is_none_or(|c| c < 0)) {
            let text = operand(self.condition_text(&Need::Natural(need.clone()))?);
            if !all.contains(&text) {
                all.push(text);
            }
        }
        Some(if all.is_empty() { "1".to_owned() } else { all.join(" && ") })
    }

    fn long_text(&self, form: &Linear) -> Option<String> {
        match form.as_constant() {
            Some(number) if number >= 0 => Some(number.to_string()),
            _ => {
                let e = self.form_expr(form);
                let text = match self.alone(&e) {
                    Some(name) => name,
                    None => operand(self.wide_text(&e)?),
                };
                Some(format!("(long){text}"))
            }
        }
    }
}

/// Whether the elements of an array may be read as subscripts: integers of at most 32 bits.
fn may_index(array: &ArrayUse) -> bool {
    array.elem.is_int() && array.elem.bytes() <= 4 && array.elem != Scalar::U32
}

/// Whether a type has all values of such elements.
pub(super) fn holds_subscripts(ty: IntType) -> bool {
    ty.bits() >= 32 && !ty.is_unsigned()
}
