//! One local array: its reads are brought in, its writes go back, its copies are waited for.
//!
//! The questions are about pairs of instances. Nearly always the text answers them for all
//! instances at once: a copy, its wait and a use stand one after the other in the block of the
//! array, and the copy has the whole box. So this is looked at first; where it is not so, the set
//! library is asked about the pairs.

use isl::Map;
use loops::{Code, CopyKind, Diagnostic, Name};

use super::Kernels;
use super::elementwise::{Local, Role};
use super::view::{Order, View};
use crate::fault::{self, Result};

/// A statement that touches the array, from inside the loops around its declaration.
struct Use<'a> {
    view: View<'a>,
    role: &'a Role,
    /// To the elements that it reads, and writes.
    reads: Vec<Map>,
    writes: Vec<Map>,
    /// Of a copy with a tag: the waits for it.
    waits: Vec<View<'a>>,
    /// Those of them that are behind all of its instances, in the array's own block, wherever it
    /// has one.
    sure: Vec<usize>,
}

pub(super) fn check(kernels: &Kernels<'_>, local: &Local) -> Result<()> {
    let uses = uses(kernels, local).map_err(fault::library)?;
    let mut array = Array { kernels, local, uses };
    array.find_waits().map_err(fault::library)?;
    if local.scratchpad {
        array.waited_for()?;
        array.undisturbed()?;
    }
    array.brought_in()?;
    if local.scratchpad {
        array.goes_back()?;
    }
    Ok(())
}

fn uses<'a>(kernels: &Kernels<'a>, local: &Local) -> isl::Result<Vec<Use<'a>>> {
    let mut uses = Vec::new();
    for (statement, role) in kernels.statements() {
        let touches: Vec<_> = statement.accesses.iter().filter(|t| t.array == local.name).collect();
        if touches.is_empty() {
            continue;
        }
        let view = View::new(statement, local.depth)?;
        let (mut reads, mut writes) = (Vec::new(), Vec::new());
        for touch in touches {
            let relation = view.relation(&touch.relation)?;
            if touch.write { &mut writes } else { &mut reads }.push(relation);
        }
        uses.push(Use { view, role, reads, writes, waits: vec![], sure: vec![] });
    }
    Ok(uses)
}

struct Array<'k, 'a> {
    kernels: &'k Kernels<'a>,
    local: &'k Local,
    uses: Vec<Use<'a>>,
}

impl<'a> Array<'_, 'a> {
    fn wrong(&self, code: &'static str, view: &View<'_>, map: &Map, what: &str) -> Diagnostic {
        let instance = || -> Result<String> {
            let set = map.domain().and_then(|d| view.whole(&d)).map_err(fault::library)?;
            self.kernels.example(view.statement, &set)
        };
        let example = instance().unwrap_or_else(|_| "some instance".to_owned());
        let label = self.kernels.program.told(&view.statement.label);
        let message = format!("local memory `{}`, in `{label}`: {what}", self.local.told);
        Diagnostic::general(Code(code), message).note(format!("for {example}"))
    }

    /// The waits for a tag inside the array's scope.
    fn waits(&self, tag: &Name) -> isl::Result<Vec<View<'a>>> {
        let begin = self.kernels.statements().find(|(s, _)| s.label == self.local.begin);
        let inside =
            |s: &crate::model::Statement| begin.is_none_or(|(b, _)| View::together(b, s, self.local.depth));
        self.kernels.waits(tag).filter(|s| inside(s)).map(|s| View::new(s, self.local.depth)).collect()
    }

    /// Looks for the waits of all copies.
    fn find_waits(&mut self) -> isl::Result<()> {
        for k in 0..self.uses.len() {
            let copy = &self.uses[k];
            let Role::Copy(_, Some(tag)) = copy.role else { continue };
            let waits = self.waits(tag)?;
            let mut sure = Vec::new();
            for (w, wait) in waits.iter().enumerate() {
                if copy.view.order(wait) != Order::Before || wait.statement.loops.len() != wait.fixed {
                    continue;
                }
                let here = copy.view.domain.intersect_params(&self.kernels.context)?.params()?;
                if here.is_subset(&wait.domain.params()?)? {
                    sure.push(w);
                }
            }
            let copy = &mut self.uses[k];
            (copy.waits, copy.sure) = (waits, sure);
        }
        Ok(())
    }

    /// Whether all instances of a use are done before all of another statement: the text tells it.
    fn surely_done(&self, first: &Use<'_>, second: &View<'_>) -> bool {
        match first.role {
            Role::Copy(_, Some(_)) => {
                first.sure.iter().any(|w| first.waits[*w].order(second) == Order::Before)
            }
            _ => first.view.order(second) == Order::Before,
        }
    }

    /// Whether a map has no element beside those of another, for the sizes that count.
    fn within(&self, some: &Map, all: &Map) -> isl::Result<bool> {
        some.intersect_params(&self.kernels.context)?.range()?.is_subset(&all.range()?)
    }

    /// Pairs of `first` and a later instance of `second`, with a wait for the first between.
    fn with_wait(&self, first: &Use<'_>, second: &View<'_>) -> isl::Result<Map> {
        let mut result: Option<Map> = None;
        for wait in &first.waits {
            let through = first.view.before(wait)?.apply_range(&wait.before(second)?)?;
            result = Some(match result {
                Some(map) => map.union(&through)?,
                None => through,
            });
        }
        match result {
            Some(map) => Ok(map),
            None => Map::empty(&first.view.before(second)?.space()?),
        }
    }

    /// Pairs of `first`, done, and `second` behind it.
    fn done_before(&self, first: &Use<'_>, second: &View<'_>) -> isl::Result<Map> {
        match first.role {
            Role::Copy(_, Some(_)) => self.with_wait(first, second),
            _ => first.view.before(second),
        }
    }

    /// Every copy has a wait behind it.
    fn waited_for(&self) -> Result<()> {
        for copy in &self.uses {
            let Role::Copy(_, Some(tag)) = copy.role else { continue };
            if !copy.sure.is_empty() {
                continue;
            }
            let rest = || -> isl::Result<isl::Set> {
                let mut rest = copy.view.domain.intersect_params(&self.kernels.context)?;
                for wait in &copy.waits {
                    if rest.is_empty()? {
                        break;
                    }
                    rest = rest.subtract(&copy.view.before(wait)?.domain()?)?;
                }
                Ok(rest)
            };
            let rest = rest().map_err(fault::library)?;
            if !rest.is_empty().map_err(fault::library)? {
                let map = rest.identity().map_err(fault::library)?;
                let what = format!("no wait for `{tag}` follows this copy while the array lives");
                return Err(self.wrong("P0714", &copy.view, &map, &what));
            }
        }
        Ok(())
    }

    /// Between a copy and its wait, nobody writes what it moves, nor reads what it brings.
    fn undisturbed(&self) -> Result<()> {
        for copy in &self.uses {
            let Role::Copy(kind, Some(tag)) = copy.role else { continue };
            for other in &self.uses {
                if copy.view.order(&other.view) == Order::Behind || self.surely_done(copy, &other.view) {
                    continue;
                }
                let own = if *kind == CopyKind::Get { &copy.writes } else { &copy.reads };
                let theirs = other.writes.iter().chain(other.reads.iter().filter(|_| *kind == CopyKind::Get));
                for touch in theirs {
                    let bad = || -> isl::Result<Map> {
                        let mut pairs = own[0].apply_range(&touch.reverse()?)?;
                        pairs = pairs.intersect(&copy.view.before(&other.view)?)?;
                        pairs = pairs.intersect_params(&self.kernels.context)?;
                        if pairs.is_empty()? {
                            return Ok(pairs);
                        }
                        pairs.subtract(&self.with_wait(copy, &other.view)?)
                    };
                    let bad = bad().map_err(fault::library)?;
                    if !bad.is_empty().map_err(fault::library)? {
                        let label = self.kernels.program.told(&other.view.statement.label);
                        let what =
                            format!("`{label}` accesses data of this copy before the wait for `{tag}`");
                        return Err(self.wrong("P0714", &copy.view, &bad, &what));
                    }
                }
            }
        }
        Ok(())
    }

    /// Every element that is read was written or brought in before.
    fn brought_in(&self) -> Result<()> {
        for reader in &self.uses {
            for read in &reader.reads {
                let whole = || -> isl::Result<bool> {
                    for writer in self.uses.iter().filter(|u| self.surely_done(u, &reader.view)) {
                        for write in &writer.writes {
                            if self.within(read, write)? {
                                return Ok(true);
                            }
                        }
                    }
                    Ok(false)
                };
                if whole().map_err(fault::library)? {
                    continue;
                }
                let rest = || -> isl::Result<Map> {
                    let mut rest = read.intersect_params(&self.kernels.context)?;
                    // Copies first: they cover most, and are cheap.
                    let copies = self.uses.iter().filter(|u| matches!(u.role, Role::Copy(..)));
                    let others = self.uses.iter().filter(|u| !matches!(u.role, Role::Copy(..)));
                    for writer in copies.chain(others) {
                        for write in &writer.writes {
                            if rest.is_empty()? {
                                return Ok(rest);
                            }
                            let earlier = self.done_before(writer, &reader.view)?.reverse()?;
                            rest = rest.subtract(&earlier.apply_range(write)?)?;
                        }
                    }
                    Ok(rest)
                };
                let rest = rest().map_err(fault::library)?;
                if !rest.is_empty().map_err(fault::library)? {
                    let what = "an element is read that was neither copied in nor written";
                    return Err(self.wrong("P0712", &reader.view, &rest, what));
                }
            }
        }
        Ok(())
    }

    /// The last write of an element is put, and put once. An array without any copy is a variable
    /// of the kernel, which ends with it.
    fn goes_back(&self) -> Result<()> {
        let puts: Vec<&Use<'_>> =
            self.uses.iter().filter(|u| matches!(u.role, Role::Copy(CopyKind::Put, _))).collect();
        if !self.uses.iter().any(|u| matches!(u.role, Role::Copy(..))) {
            return Ok(());
        }
        let writers: Vec<&Use<'_>> =
            self.uses.iter().filter(|u| matches!(u.role, Role::Compute) && !u.writes.is_empty()).collect();
        for writer in &writers {
            let whole = || -> isl::Result<bool> {
                for put in puts.iter().filter(|put| writer.view.order(&put.view) == Order::Before) {
                    if self.within(&writer.writes[0], &put.reads[0])? {
                        return Ok(true);
                    }
                }
                Ok(false)
            };
            if whole().map_err(fault::library)? {
                continue;
            }
            let lost = || -> isl::Result<Map> {
                let mut rest = writer.writes[0].intersect_params(&self.kernels.context)?;
                for later in puts.iter().copied().chain(writers.iter().copied()) {
                    if rest.is_empty()? {
                        return Ok(rest);
                    }
                    let elements =
                        if matches!(later.role, Role::Compute) { &later.writes[0] } else { &later.reads[0] };
                    rest = rest.subtract(&writer.view.before(&later.view)?.apply_range(elements)?)?;
                }
                Ok(rest)
            };
            let lost = lost().map_err(fault::library)?;
            if !lost.is_empty().map_err(fault::library)? {
                let what = "the last write of an element is not copied back to main memory";
                return Err(self.wrong("P0713", &writer.view, &lost, what));
            }
        }
        for first in &puts {
            for second in &puts {
                if first.view.order(&second.view) == Order::Behind {
                    continue;
                }
                // Of one copy each instance has an element of its own.
                if std::ptr::eq(*first, *second) && first.reads[0].is_injective().map_err(fault::library)? {
                    continue;
                }
                let twice = || -> isl::Result<Map> {
                    let mut pairs = first.reads[0].apply_range(&second.reads[0].reverse()?)?;
                    pairs = pairs.intersect(&first.view.before(&second.view)?)?;
                    pairs = pairs.intersect_params(&self.kernels.context)?;
                    for writer in self.uses.iter().filter(|u| !u.writes.is_empty()) {
                        if pairs.is_empty()? {
                            return Ok(pairs);
                        }
                        let between = first
                            .view
                            .before(&writer.view)?
                            .apply_range(&writer.view.before(&second.view)?)?;
                        pairs = pairs.subtract(&between)?;
                    }
                    Ok(pairs)
                };
                let twice = twice().map_err(fault::library)?;
                if !twice.is_empty().map_err(fault::library)? {
                    return Err(self.wrong(
                        "P0713",
                        &first.view,
                        &twice,
                        "an element is copied back to main memory twice",
                    ));
                }
            }
        }
        Ok(())
    }
}
