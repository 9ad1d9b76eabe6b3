//! Objects that C allows to overlap, and the test that tells whether they do.

use loops::Scalar;

use super::Lowering;
use super::assume::operand;
use super::inspection::{ByData, Reached};
use crate::ctype::CType;
use crate::linear::Linear;
use crate::parser::PLACE;
use crate::region::{AccessForm, AliasPair, Variable, VariableKind};
use crate::scope::Place;

/// What a region accesses, and where it may be.
pub(super) struct Thing<'a> {
    pub object: usize,
    pub name: &'a str,
    storage: &'a str,
    elem: Option<Scalar>,
    kind: VariableKind,
    local: bool,
    /// A pointer that is set in the function may come from this one.
    source: bool,
    written: bool,
    /// Its rows may be anywhere.
    pub rows: bool,
}

/// Where in memory accesses are: statements that find it, the first byte, and the one after the
/// last.
pub(super) struct Memory {
    pub statements: Vec<String>,
    pub begin: String,
    pub end: String,
}

impl Lowering<'_> {
    pub(super) fn kind(&self, k: usize) -> VariableKind {
        let object = &self.res.objects[k];
        let through = match object.ty.ty {
            CType::Pointer { restrict, .. } => Some(restrict || self.is_fresh(k)),
            _ => object.through,
        };
        match (object.place, through) {
            (None, _) => VariableKind::RegionLocal,
            (_, Some(true)) => VariableKind::RestrictPointer,
            (_, Some(false)) => VariableKind::Pointer,
            (Some(Place::Global), None) => VariableKind::Global,
            _ => VariableKind::FunctionLocal,
        }
    }

    /// The variable whose memory an object is in, or that points to it. Different members of the
    /// same variable do not overlap.
    fn storage(&self, k: usize) -> &str {
        let object = &self.res.objects[k];
        let name = object.name.split(PLACE).next().unwrap_or(&object.name);
        match (&object.ty.ty, name.rfind("->")) {
            (CType::Pointer { .. }, _) => name,
            (_, Some(link)) => &name[..link],
            (_, None) => name.split('.').next().unwrap_or(name),
        }
    }

    /// A pointer that still has the memory that it was initialised with.
    fn is_fresh(&self, k: usize) -> bool {
        let object = &self.res.objects[k];
        object.fresh
            && object.place == Some(Place::Local)
            && self
                .cx
                .uses
                .assigned_in(self.storage(k), self.cx.body.clone(), object.declared.first as usize)
                .is_none()
    }

    /// Whether a pointer may point to objects of the function: all pointers but parameters that
    /// were not changed.
    fn may_point_inside(&self, k: usize) -> bool {
        let object = &self.res.objects[k];
        object.place != Some(Place::Parameter)
            || self
                .cx
                .uses
                .assigned_in(self.storage(k), self.cx.body.clone(), object.declared.first as usize)
                .is_some()
    }

    /// Whether a pointer, or one into what it points to, is used as a value before the region. In a
    /// loop: anywhere outside of the region.
    fn is_handed_on(&self, k: usize) -> bool {
        let (object, cx) = (&self.res.objects[k], self.cx);
        let (mut dims, mut ty) = (0, &object.ty.ty);
        while let CType::Array { of: inner, .. } | CType::Pointer { to: inner, .. } = ty {
            (dims, ty) = (dims + 1, &inner.ty);
        }
        let after = if cx.in_loop { cx.region.end..cx.body.end } else { 0..0 };
        cx.uses.pointed_into(&object.name, dims, [cx.body.start..cx.region.start, after].into_iter())
    }

    /// Whether an object is one that nothing may write.
    fn is_constant(&self, k: usize) -> bool {
        let object = &self.res.objects[k];
        object.through.is_none() && object.ty.is_constant() && !matches!(object.ty.ty, CType::Pointer { .. })
    }

    /// What may overlap: variables, and sizes that are read from memory.
    fn things<'t>(&'t self, variables: &'t [Variable], sizes: &[usize]) -> Vec<Thing<'t>> {
        let mut things = Vec::new();
        for v in variables {
            let object = self.names.iter().find(|(_, n)| **n == v.name).map(|(k, _)| *k);
            let Some(k) = object else { continue };
            if self.is_constant(k) {
                continue;
            }
            things.push(Thing {
                object: k,
                name: &v.c_name,
                storage: self.storage(k),
                elem: Some(v.elem),
                kind: v.kind,
                local: self.may_point_inside(k),
                source: self.is_fresh(k) || self.is_handed_on(k),
                written: v.written,
                rows: v.rows,
            });
        }
        for k in sizes {
            let object = &self.res.objects[*k];
            let elem = self.scalar(&object.ty.ty);
            let kind = match object.place {
                _ if object.through.is_some() => self.kind(*k),
                Some(Place::Global) => VariableKind::Global,
                _ if self.cx.uses.address_taken(&object.name) => VariableKind::FunctionLocal,
                _ => continue,
            };
            let name = object.name.as_str();
            let storage = self.storage(*k);
            let (object, written) = (*k, false);
            things.push(Thing {
                object,
                name,
                storage,
                elem,
                kind,
                local: false,
                source: true,
                written,
                rows: false,
            });
        }
        things
    }

    /// Pairs that C allows to overlap, one of them written.
    pub(super) fn aliases(&self, variables: &[Variable], sizes: &[usize]) -> Vec<AliasPair> {
        let things = self.things(variables, sizes);
        let mut pairs = self.alias_rows(&things);
        for (n, a) in things.iter().enumerate() {
            for b in &things[n + 1..] {
                let one_place = a.storage == b.storage && !(a.rows || b.rows);
                if !(a.written || b.written) || one_place || !same_memory(a.elem, b.elem) {
                    continue;
                }
                let (first, second) = (a.name.to_string(), b.name.to_string());
                if a.rows || b.rows {
                    continue;
                }
                if let Some(apart) = self.one_restrict_member(a.object, b.object) {
                    pairs.push(AliasPair { first, second, apart: Some(apart), inspects: false });
                    continue;
                }
                let (pointer, other) = if a.kind == VariableKind::Pointer { (a, b) } else { (b, a) };
                if pointer.kind != VariableKind::Pointer {
                    continue;
                }
                let overlaps = match other.kind {
                    VariableKind::Pointer | VariableKind::Global => true,
                    // A pointer that was set may have been set to any object that was handed on;
                    // `restrict` says nothing of pointers that were made from this one.
                    VariableKind::FunctionLocal | VariableKind::RestrictPointer => {
                        other.source && pointer.local
                    }
                    VariableKind::RegionLocal => false,
                };
                if overlaps {
                    let apart = self.apart(a.object, b.object);
                    let by_data = |k: &usize| {
                        self.arrays.get(k).is_some_and(|array| array.by_data.iter().any(ByData::reads))
                    };
                    let inspects = [a.object, b.object].iter().any(by_data);
                    pairs.push(AliasPair { first, second, apart, inspects });
                }
            }
        }
        pairs
    }

    /// Pairs of which one has rows behind pointers; one test is for all of them.
    fn alias_rows(&self, things: &[Thing<'_>]) -> Vec<AliasPair> {
        let mut found: Vec<(usize, usize)> = Vec::new();
        for (n, a) in things.iter().enumerate() {
            for (m, b) in things.iter().enumerate().skip(n) {
                // Rows may be in any object that a pointer may point to.
                let anywhere = |thing: &Thing<'_>| match thing.kind {
                    VariableKind::RegionLocal => false,
                    VariableKind::FunctionLocal => thing.rows || thing.source,
                    _ => true,
                };
                let meet = (a.rows || b.rows) && (a.written || b.written) && same_memory(a.elem, b.elem);
                if meet && (n != m || a.rows) && anywhere(a) && anywhere(b) {
                    found.push((n, m));
                }
            }
        }
        let mut used: Vec<usize> = found.iter().flat_map(|(a, b)| [*a, *b]).collect();
        used.sort_unstable();
        used.dedup();
        let at = |n: &usize| used.iter().position(|used| used == n).unwrap_or(0);
        let pairs: Vec<(usize, usize)> = found.iter().map(|(a, b)| (at(a), at(b))).collect();
        let all: Vec<&Thing<'_>> = used.iter().map(|n| &things[*n]).collect();
        let apart = if found.is_empty() { None } else { self.rows_apart(&all, &pairs) };
        let row = |thing: &Thing<'_>, by: &str| match thing.rows {
            true => format!("{}[{by}]", thing.name),
            false => thing.name.to_owned(),
        };
        let pair = |(a, b): (usize, usize)| {
            let (first, second) = (row(&things[a], "i"), row(&things[b], if a == b { "j" } else { "i" }));
            AliasPair { first, second, apart: apart.clone(), inspects: false }
        };
        found.into_iter().map(pair).collect()
    }

    /// The condition that two pointers declared `restrict` in structures are not one pointer:
    /// `s->data` and `t->data` are one if `s` is `t`.
    fn one_restrict_member(&self, a: usize, b: usize) -> Option<String> {
        let restrict = |k: usize| matches!(self.res.objects[k].ty.ty, CType::Pointer { restrict: true, .. });
        let through = [a, b].iter().any(|k| self.res.objects[*k].through.is_some());
        let name = |k: usize| place(&self.res.objects[k].name);
        let member = |k: usize| name(k).contains(['.', '>']);
        let both = |is: &dyn Fn(usize) -> bool| is(a) && is(b);
        (both(&restrict) && both(&member) && through)
            .then(|| format!("(const void *)&{} != (const void *)&{}", name(a), name(b)))
    }

    /// A condition that holds where what a region accesses of two objects does not overlap.
    fn apart(&self, a: usize, b: usize) -> Option<String> {
        let (a, b) = (self.memory(a)?, self.memory(b)?);
        let test = format!("{} <= {} || {} <= {}", a.end, b.begin, b.end, a.begin);
        let mut finds: Vec<String> = Vec::new();
        for statement in a.statements.into_iter().chain(b.statements) {
            if !finds.contains(&statement) {
                finds.push(statement);
            }
        }
        Some(match finds.is_empty() {
            true => format!("__extension__ ({test})"),
            false => format!("__extension__ ({{ int apart_ = 1; {} apart_ && ({test}); }})", finds.join(" ")),
        })
    }

    /// Where in memory the accesses of an object are.
    pub(super) fn memory(&self, k: usize) -> Option<Memory> {
        let by_data = self.arrays.get(&k).is_some_and(|array| !array.by_data.is_empty());
        if !by_data {
            let (begin, end) = self.known_memory(k)?;
            return Some(Memory { statements: Vec::new(), begin, end });
        }
        if self.arrays[&k].form != AccessForm::Subscripts || self.arrays[&k].dims.len() != 1 {
            return None;
        }
        let Reached { statements, from, end } = self.found_by_data(k)?;
        let name = place(&self.res.objects[k].name);
        let at = |element: &str| format!("(__UINTPTR_TYPE__){name} + sizeof *{name} * (__int128){element}");
        Some(Memory { statements, begin: at(&from), end: at(&end) })
    }

    /// The first byte that a region may access of an object, and the one after the last, as C.
    fn known_memory(&self, k: usize) -> Option<(String, String)> {
        let object = &self.res.objects[k];
        let name = place(&object.name);
        match &object.ty.ty {
            CType::Pointer { .. } | CType::Array { extent: None, .. } => {
                let array = self.arrays.get(&k)?;
                let (first, end) = array.span.as_ref()?;
                let mut unit = format!("sizeof *{name}");
                if array.form == AccessForm::Linear {
                    for extent in &array.dims[1..] {
                        unit.push_str(&format!(" * {}", operand(self.wide_text(extent)?)));
                    }
                }
                let at = |form: &Linear| {
                    let base = format!("(__UINTPTR_TYPE__){name}");
                    match form.as_constant() {
                        Some(0) => Some(base),
                        Some(count) => Some(format!("{base} + {unit} * (__int128){count}")),
                        None => {
                            let count = operand(self.wide_text(&self.form_expr(form))?);
                            Some(format!("{base} + {unit} * {count}"))
                        }
                    }
                };
                Some((at(first)?, at(end)?))
            }
            _ => {
                let base = format!("(__UINTPTR_TYPE__)&{name}");
                Some((base.clone(), format!("{base} + sizeof {name}")))
            }
        }
    }
}

/// The name of the pointer or object whose elements an array of members has.
fn place(name: &str) -> &str {
    name.split(PLACE).next().unwrap_or(name)
}

/// Whether C lets a pointer to one type point to an object of the other: if they differ only in
/// sign, and from characters to any type.
fn same_memory(a: Option<Scalar>, b: Option<Scalar>) -> bool {
    let characters = |elem: Option<Scalar>| matches!(elem, Some(Scalar::I8 | Scalar::U8));
    let alike = |a: Scalar, b: Scalar| a == b || (a.is_int() && b.is_int() && a.bytes() == b.bytes());
    characters(a) || characters(b) || a.zip(b).is_some_and(|(a, b)| alike(a, b))
}
