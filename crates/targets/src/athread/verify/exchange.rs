//! Exchanges of shares: what a line of cores obtains from what each of them has brought in.

use super::form::Form;
use super::mapped::Area;
use super::property::Property;
use super::read::{Node, Term};
use super::state::{Held, Region, State};
use super::transfer::{core, name};
use super::walk::{CORE, Followed, Walker, lost, wrong};

/// Parts of a share that are followed, at most.
const PARTS: i64 = 8;

/// The name of a share, and how many bytes of it are passed over.
fn from(stage: &Term) -> Option<(&str, Option<&Term>)> {
    match stage {
        Term::Binary(op, stage, by) if op == "+" => Some((name(stage)?, Some(by))),
        stage => Some((name(stage)?, None)),
    }
}

impl Walker<'_> {
    /// An exchange of shares; of a share that has more columns than the box: how many, and bytes of
    /// an element.
    pub(super) fn share(
        &mut self,
        state: &mut State,
        line: &str,
        parts: [&Term; 5],
        part: Option<(&Term, &Term)>,
    ) -> Followed<()> {
        self.followed.insert(Property::Shares);
        let [to, place_in_share, rows, columns, place] = parts;
        let (Some(to), Some((stage, by))) = (name(to), from(place_in_share)) else {
            return lost("an exchange of no box");
        };
        let (Some(at), Some(from)) = (state.buffer(to), state.buffer(stage)) else {
            return lost(format!("`{to}` or `{stage}` is not a buffer"));
        };
        // What tells apart those who share, and what they have in common.
        let (own, common): (&[&str], &[&str]) = match line {
            "along_row" => (&["%"], &["/"]),
            "along_column" => (&["/"], &["%"]),
            "by_itself" => (&[], &[]),
            _ => (&["/", "%"], &[]),
        };
        let held = state.shares.contains_key(&from);
        let stays = match by {
            Some(by) if held && part.is_none() => Some(self.held(state, [to, stage], by, (line, place))?),
            _ => None,
        };
        let place = state.form(place);
        let right = match common {
            [] => place == Form::symbol(CORE),
            other => core(&place, own) && !core(&place, other),
        };
        if !right && stays.is_none() {
            return wrong(format!("exchanges `{to}` with the wrong place in the line"));
        }
        if self.mapped.sharers.is_none_or(|sharers| self.here().cores != sharers) {
            return wrong(format!("exchanges `{to}` among other cores than those that run"));
        }
        if !own.is_empty() {
            self.alike(state, common, "an exchange")?;
        }
        let bytes = state.contents.get(&from).map_or(1, |(region, _)| region.bytes);
        self.free(state, Region { at: from, bytes }, stage, "sends")?;
        let Some((_, Held { area: Some(mut area), .. })) = state.contents.get(&from).cloned() else {
            return wrong(format!("sends `{stage}`, which has not come in"));
        };
        match &stays {
            Some(own) => area = own.clone(),
            None if area.share.take() != Some((line.to_owned(), place)) => {
                return wrong(format!("sends `{stage}`, which is the share of another place"));
            }
            None => {}
        }
        let (rows, columns) = (state.form(rows), state.form(columns));
        let whole = part.is_some() || state.equal(&area.columns, &columns);
        if !state.equal(&area.rows, &rows) || !whole {
            return wrong(format!("exchanges another box than `{stage}` has a share of"));
        }
        let area = match part {
            Some(part) => self.part(state, [to, stage], area, by, columns, part)?,
            None if by.is_some() && stays.is_none() => return lost("an exchange of a part of a share"),
            None => area,
        };
        let names = [place_in_share].into_iter().chain(part.map(|(pitch, _)| pitch));
        if !own.is_empty() && state.choices(names).iter().any(|form| core(form, own)) {
            return wrong(format!("exchanges `{to}` in another step than others of the line"));
        }
        let parts = [&area.offset, &area.rows, &area.columns];
        if !own.is_empty() && parts.iter().any(|form| core(&state.normal(form), own)) {
            return wrong(format!("exchanges `{to}` among cores that need different boxes"));
        }
        // Whole words may go beyond the end.
        let bytes = match (area.rows.bound(), area.columns.bound()) {
            (Some(rows), Some(columns)) => rows.saturating_mul(columns),
            _ => 0,
        };
        let bytes = self.here().size(to).max(bytes);
        let region = Region { at, bytes };
        self.free(state, region, to, "fills")?;
        self.clear(state, region)?;
        let area = lengthwise(area);
        state.contents.insert(at, (region, Held { area: Some(area), age: 0 }));
        state.sent.insert(from);
        Ok(())
    }

    /// The columns of a share that go to others.
    fn part(
        &self,
        state: &State,
        [to, stage]: [&str; 2],
        area: Area,
        by: Option<&Term>,
        columns: Form,
        (pitch, bytes): (&Term, &Term),
    ) -> Followed<Area> {
        if !state.equal(&area.columns, &state.form(pitch)) {
            return wrong(format!(
                "takes the rows of `{stage}` to be as far apart as those of another share"
            ));
        }
        let bytes = state.form(bytes).constant().unwrap_or(0);
        let by = by.map_or_else(Form::default, |by| state.form(by));
        let Some(at) = by.over(bytes).map(|at| state.resolve(&at)) else {
            return lost(format!("a part of `{stage}` that is not of whole elements"));
        };
        let beyond = at.plus(&columns).minus(&area.columns);
        let area = Area { offset: area.offset.plus(&at), columns, ..area };
        match [beyond, Form::default().minus(&at)].map(|form| state.follows(&form)) {
            [Some(false), Some(false)] => Ok(area),
            [Some(true), _] | [_, Some(true)] => {
                wrong(format!("exchanges columns that `{stage}` does not have"))
            }
            _ if !self.wanted(state, to, &area) => {
                wrong(format!("exchanges other columns of `{stage}` than the mapping says"))
            }
            _ => lost(format!("which columns of `{stage}` go to others is not known")),
        }
    }
}

/// A box of rows of one element that follow each other is a vector, as the mapping has it.
fn lengthwise(area: Area) -> Area {
    let one = Form::int(1);
    if area.columns != one || area.pitch != one || !area.planes.is_empty() {
        return area;
    }
    Area { columns: area.rows, rows: one, pitch: Form::default(), ..area }
}

/// For how many iterations a share is brought in at once, in a loop outside of further loops; 1
/// where none goes to others in parts.
pub(super) fn parts(node: &Node) -> i64 {
    let (mut shared, mut step, mut most) = (false, i64::MAX, 0);
    look(node, &mut |term| match term {
        Term::Call(function, _) => shared |= function.starts_with("share_pieces"),
        Term::Binary(op, target, value) if op == "=" || op == "+=" => {
            let wanted = |end: &str| name(target).is_some_and(|name| name.ends_with(end));
            match &**value {
                Term::Int(n) if op == "=" && wanted("_wanted") => most = most.max(*n),
                Term::Call(_, parts) if op == "+=" && wanted("_at") => {
                    let least =
                        parts.iter().filter_map(|p| if let Term::Int(n) = p { Some(*n) } else { None });
                    step = least.fold(step, i64::min);
                }
                _ => {}
            }
        }
        _ => {}
    });
    if shared { (most / step.max(1)).clamp(2, PARTS) } else { 1 }
}

/// Statements outside of further loops.
fn look(node: &Node, see: &mut dyn FnMut(&Term)) {
    match node {
        Node::Block(body) => body.iter().for_each(|n| look(n, see)),
        Node::If(_, then, otherwise) => {
            look(then, see);
            otherwise.iter().for_each(|n| look(n, see));
        }
        Node::Do(term) => see(term),
        Node::For { .. } | Node::While(..) | Node::Declare { .. } => {}
    }
}
