//! From the translated statements to the function: flat arrays get their dimensions, dead scalars
//! become locals, and the rest becomes sizes and parameters. Then the information for the C around
//! the region.

use std::collections::{BTreeMap, BTreeSet};

use loops::{
    Access, Assign, Diagnostic, Expr as Hub, Function, Name, Param, ParamMode, Scalar, Stmt as HubStmt,
};

use super::{Class, Lowering, Refused, private_rows, privatise};
use crate::ast::{At, Stmt, StmtKind};
use crate::codes;
use crate::ctype::CType;
use crate::region::{AccessForm, AliasPair, Assumption, SizeVariable, Variable, VariableKind};
use crate::scope::Place;

/// A translated region, without its place in the file.
pub struct Lowered {
    pub function: Function,
    pub variables: Vec<Variable>,
    pub sizes: Vec<SizeVariable>,
    pub may_alias: Vec<AliasPair>,
    pub assumptions: Vec<Assumption>,
    pub epilogue: Vec<String>,
    pub index_notes: Vec<String>,
    pub statement_spans: BTreeMap<Name, loops::Span>,
    pub warnings: Vec<Diagnostic>,
}

impl Lowering<'_> {
    pub(super) fn finish(
        mut self,
        body: &[Stmt],
        mut statements: Vec<HubStmt>,
        dropped: &BTreeSet<usize>,
    ) -> Result<Lowered, Refused> {
        let settled = self.settle_flat();
        self.settle_open();
        self.check_scope(body);
        let epilogue = self.epilogue(dropped);
        if !self.diagnostics.is_empty() {
            self.diagnostics.extend(self.warnings);
            return Err(Refused { diagnostics: self.diagnostics, strides: self.strides });
        }
        let flat: BTreeMap<Name, Vec<Hub>> = self
            .arrays
            .iter()
            .filter(|(_, a)| a.flat)
            .filter_map(|(k, a)| Some((self.names.get(k)?.clone(), a.dims.clone())))
            .collect();
        let patch = Patch { flat: &flat, settled: &settled };
        patch.statements(&mut statements);

        let localised = self.localise_dead(&mut statements);
        let (params, variables) = self.objects(localised);

        // Sizes that the program mentions, in the order of the text.
        let mut mentioned = BTreeSet::new();
        for stmt in &statements {
            stmt_vars(stmt, &mut mentioned);
        }
        params.iter().flat_map(|p| &p.dims).for_each(|d| expr_vars(d, &mut mentioned));
        let of_rows = self
            .of_rows
            .iter()
            .map(|need| Hub::compare(loops::CompareOp::Ge, self.form_expr(need), Hub::Int(0)));
        let mut assumptions: Vec<Hub> = of_rows.collect();
        assumptions.iter().for_each(|condition| expr_vars(condition, &mut mentioned));
        let (sizes, size_objects) = self.mentioned_sizes(&mentioned, &mut assumptions);
        let mut size_names: Vec<Name> = sizes.iter().map(|s| s.name.clone()).collect();
        size_names
            .extend(self.arrays.values().filter_map(|a| a.length.clone()).filter(|n| mentioned.contains(n)));
        let function = Function {
            name: Name::new(format!("{}_{}", self.cx.function, self.cx.number)),
            sizes: size_names,
            assumptions,
            params,
            body: statements,
        };
        let may_alias = self.aliases(&variables, &size_objects);
        let assumptions_of_sizes = match self.assumptions() {
            Ok(assumptions) => assumptions,
            Err(super::Failed) => {
                return Err(Refused { diagnostics: self.diagnostics, strides: self.strides });
            }
        };
        let index_notes = self.index_notes(&variables, &sizes);
        let warnings = self.warnings;
        Ok(Lowered {
            function,
            variables,
            sizes,
            may_alias,
            assumptions: assumptions_of_sizes,
            epilogue,
            index_notes,
            statement_spans: self.statement_spans,
            warnings,
        })
    }

    /// Makes locals of scalars of the function that are dead afterwards; their names.
    fn localise_dead(&mut self, statements: &mut Vec<HubStmt>) -> BTreeMap<usize, Vec<Name>> {
        let mut localised: BTreeMap<usize, Vec<Name>> = BTreeMap::new();
        let scalars: Vec<(usize, Scalar)> = self.arrays.iter().map(|(k, a)| (*k, a.elem)).collect();
        for (k, elem) in scalars {
            let array = &self.arrays[&k];
            let object = &self.res.objects[k];
            let private = matches!(object.place, Some(Place::Local | Place::Parameter))
                && array.dims.is_empty()
                && array.written
                && !self.live_after(k);
            if private {
                let (name, c_name) = (self.names[&k].clone(), object.name.clone());
                let mut fresh = || {
                    let name = self.fresh(&c_name);
                    self.taken.insert(name.clone(), None);
                    name
                };
                let names = privatise::localise(statements, &name, elem, &mut fresh);
                if !names.is_empty() {
                    localised.insert(k, names);
                }
            }
            if self.is_scratch(k) {
                let (name, dims) = (self.names[&k].clone(), self.arrays[&k].dims.clone());
                if private_rows::declared_inside(statements, &name, elem, &dims) {
                    localised.insert(k, vec![name]);
                }
            }
        }
        localised
    }

    /// Whether an object is a small array of the function that is used in the region alone.
    fn is_scratch(&self, k: usize) -> bool {
        let (array, object, cx) = (&self.arrays[&k], &self.res.objects[k], self.cx);
        let extent = |bytes: i64, dim: &Hub| match dim {
            Hub::Int(n) if *n > 0 => bytes.checked_mul(*n),
            _ => None,
        };
        let bytes = array.dims.iter().try_fold(array.elem.bytes() as i64, extent);
        let others = [cx.body.start..cx.region.start, cx.region.end..cx.body.end];
        object.place == Some(Place::Local)
            && matches!(object.ty.ty, CType::Array { .. })
            && object.through.is_none()
            && !array.rows
            && !array.dims.is_empty()
            && array.written
            && bytes.is_some_and(|bytes| bytes <= private_rows::MOST_BYTES)
            && !self.live_after(k)
            && !cx.uses.pointed_into(&object.name, array.dims.len(), others.into_iter())
    }

    /// The parameters for the objects that the region uses, and all its variables: first those that
    /// are parameters, then those of the region alone.
    fn objects(&self, mut localised: BTreeMap<usize, Vec<Name>>) -> (Vec<Param>, Vec<Variable>) {
        let mut params = Vec::new();
        let mut variables = Vec::new();
        let mut locals = Vec::new();
        for k in 0..self.res.objects.len() {
            let Some(array) = self.arrays.get(&k) else { continue };
            if !array.read && !array.written {
                continue;
            }
            let variable = self.variable(k, array);
            let local = Variable { kind: VariableKind::RegionLocal, live_after: false, ..variable.clone() };
            if let Some(names) = localised.remove(&k) {
                locals.extend(names.into_iter().map(|name| Variable { name, ..local.clone() }));
                continue;
            }
            if self.res.objects[k].place.is_none() {
                locals.push(local);
                continue;
            }
            let mode = if array.written { ParamMode::InOut } else { ParamMode::In };
            let (name, elem) = (variable.name.clone(), array.elem.into());
            params.push(Param { name, elem, dims: array.dims.clone(), mode });
            variables.push(variable);
        }
        variables.append(&mut locals);
        (params, variables)
    }

    /// The sizes that the program mentions, and their objects. Of unsigned ones it is assumed that
    /// they are not negative.
    fn mentioned_sizes(
        &self,
        mentioned: &BTreeSet<Name>,
        assumptions: &mut Vec<Hub>,
    ) -> (Vec<SizeVariable>, Vec<usize>) {
        let mut sizes = Vec::new();
        let mut size_objects = Vec::new();
        for k in 0..self.res.objects.len() {
            let sized = match (self.class(k), &self.res.objects[k].ty.ty, self.entries.get(&k)) {
                (Class::Size(ty), _, _) => self.names.get(&k).map(|name| (ty, name)),
                // What it was before the region; nothing in the region assigns it.
                (_, CType::Int(ty), Some(name)) => Some((*ty, name)),
                _ => None,
            };
            let Some((ty, name)) = sized else { continue };
            if !mentioned.contains(name) {
                continue;
            }
            if ty.is_unsigned() {
                assumptions.push(Hub::compare(loops::CompareOp::Ge, Hub::Var(name.clone()), Hub::Int(0)));
            }
            let c_name = self.res.objects[k].name.clone();
            let (c_name, text) = match &self.res.objects[k].product {
                Some(product) => (product.clone(), product.clone()),
                None if ty.promoted().is_unsigned() => (c_name.clone(), format!("(long){c_name}")),
                None => (c_name.clone(), c_name),
            };
            let (values, tested) = self.size_values(k, ty);
            let c_type = ty.c_name();
            sizes.push(SizeVariable { name: name.clone(), c_name, c_type, text, values, tested });
            size_objects.push(k);
        }
        (sizes, size_objects)
    }

    fn variable(&self, k: usize, array: &super::ArrayUse) -> Variable {
        let object = &self.res.objects[k];
        Variable {
            name: self.names.get(&k).cloned().unwrap_or_else(|| Name::new(&object.name)),
            c_name: object.name.clone(),
            c_type: object.ty.element().c_name(),
            elem: array.elem,
            dims: array.dims.clone(),
            access: array.form,
            rows: array.rows,
            kind: self.kind(k),
            written: array.written,
            live_after: array.written && self.live_after(k),
        }
    }

    /// Whether an object's value may be read after the region.
    pub(super) fn live_after(&self, k: usize) -> bool {
        let object = &self.res.objects[k];
        let is_array = matches!(object.ty.ty, CType::Pointer { .. }) || object.through.is_some();
        // What its pointers point to.
        if self.arrays.get(&k).is_some_and(|array| array.rows) {
            return true;
        }
        match object.place {
            None => return false,
            Some(Place::Global) => return true,
            _ if is_array => return true,
            _ => {}
        }
        self.is_named_after(k)
    }

    /// Whether the value of a variable of the function may be read after the region.
    pub(super) fn is_named_after(&self, k: usize) -> bool {
        let object = &self.res.objects[k];
        let cx = self.cx;
        let counted = matches!(self.class(k), Class::LoopVariable(_));
        let after = cx.region.end..cx.body.end;
        // In a loop, what stands before the region comes again after it.
        let before = if cx.in_loop { cx.body.start..cx.region.start } else { 0..0 };
        let declared = object.declared.first as usize;
        // What is set right after the region is never read before.
        let reset = counted && cx.uses.is_set_first(&object.name, after.clone());
        !reset
            && [after, before]
                .into_iter()
                .any(|range| cx.uses.used_in(&object.name, range, declared, counted).is_some())
            || cx.uses.address_taken(&object.name)
    }

    /// Loop variables declared outside get the values that they would have had, where somebody
    /// reads them.
    fn epilogue(&mut self, dropped: &BTreeSet<usize>) -> Vec<String> {
        let mut all = self.final_values(dropped);
        for k in 0..self.res.objects.len() {
            let object = &self.res.objects[k];
            let followed = self.tracked.contains(&k) && !object.assigned.is_empty();
            if object.place.is_none()
                || followed
                || !matches!(self.class(k), Class::LoopVariable(_))
                || !self.live_after(k)
            {
                continue;
            }
            let name = object.name.clone();
            match self.finals.get(&k) {
                Some(Some(value)) => {
                    // What is counted down to -1 has all its bits set, also where sizes have fewer.
                    all.push((name, self.computed_text(value)));
                }
                Some(None) => {
                    let at = self.res.objects[k].loops.last().copied();
                    let message = format!(
                        "the value of `{name}` after the region may be read, and its last loop is inside another"
                    );
                    let span = at.map(|at| self.span(at)).unwrap_or_default();
                    let diagnostic = Diagnostic::error(
                        codes::LOOP_VARIABLE,
                        message,
                        span,
                        "the loop that sets it last",
                    )
                    .help(format!(
                        "declare it in the header, `for (int {name} = …`, or set `{name}` after the region"
                    ));
                    let _: super::Try<()> = self.report(diagnostic);
                }
                None => {}
            }
        }
        let mut text = self.in_order(all);
        let passed_on = self
            .turned
            .iter()
            .filter(|turned| turned.all().any(|k| self.is_named_after(k) && self.turned_by(k).is_some()));
        text.extend(passed_on.map(|turned| self.turned_text(turned)));
        text
    }

    /// Values after the region of followed variables that have no statements in the loop
    /// program.
    fn final_values(&mut self, dropped: &BTreeSet<usize>) -> Vec<(String, String)> {
        let mut all: Vec<(String, String)> = Vec::new();
        for k in dropped.iter().copied() {
            let object = &self.res.objects[k];
            let pointer = matches!(object.ty.ty, CType::Pointer { .. });
            // The header of a loop may move a pointer as well.
            let header = object.loops.last().filter(|_| pointer);
            let (name, moved) = (object.name.clone(), object.moved.last().or(header).copied());
            let Some(at) = moved.filter(|_| object.place.is_some()) else { continue };
            if !(if pointer { self.is_named_after(k) } else { self.live_after(k) }) {
                continue;
            }
            match self.final_text(k) {
                Some(text) => {
                    self.rely_on(k);
                    all.push((name, text));
                }
                None if self.turned_by(k).is_some() => {}
                None => {
                    let message =
                        format!("the value of `{name}` after the region may be read, and is not known");
                    let help = format!(
                        "set `{name}` after the region, or declare a variable of its own in the region"
                    );
                    let label = (at, "assigned here");
                    let _: super::Try<()> = self.fail_with(codes::LOOP_VARIABLE, message, label, &help);
                }
            }
        }
        all
    }

    /// Assignments after the region, so that a value is computed from others before these are set.
    fn in_order(&mut self, mut all: Vec<(String, String)>) -> Vec<String> {
        let mut out = Vec::new();
        while !all.is_empty() {
            let free = |(name, _): &(String, String)| {
                !all.iter().any(|(other, text)| other != name && has_word(text, name))
            };
            let Some(next) = all.iter().position(free) else {
                let message = "values after the region depend on each other";
                let at = At { first: self.cx.region.start as u32, last: self.cx.region.start as u32 };
                let _: super::Try<()> = self.fail(codes::LOOP_VARIABLE, message, at, "in this region");
                return out;
            };
            let (name, text) = all.remove(next);
            out.push(format!("{name} = {text};"));
        }
        out
    }

    /// Names declared at the top of the region are gone after it.
    fn check_scope(&mut self, body: &[Stmt]) {
        for mut stmt in body {
            while let StmtKind::Pragma(_, Some(next)) = &stmt.kind {
                stmt = next;
            }
            let StmtKind::Declare(declarations) = &stmt.kind else { continue };
            for d in declarations {
                let range = self.cx.region.end..self.cx.body.end;
                if let Some(token) = self.cx.uses.used_in(&d.name, range, 0, true) {
                    let used = At { first: token as u32, last: token as u32 };
                    let message = format!("`{}` is declared in the region and used after it", d.name);
                    let diagnostic =
                        Diagnostic::error(codes::DECLARATION, message, self.span(d.at), "declared here")
                            .context(self.span(used), "used here")
                            .help("declare it before `#pragma scop`");
                    let _: super::Try<()> = self.report(diagnostic);
                }
            }
        }
    }

    /// What is tested before the region, as C.
    fn assumptions(&mut self) -> super::Try<Vec<Assumption>> {
        let mut all = Vec::new();
        for assumed in std::mem::take(&mut self.assumed) {
            match self.condition_text(&assumed.condition) {
                Some(condition) => {
                    let span = self.span(assumed.at);
                    all.push(Assumption { condition, says: assumed.says, span });
                }
                None => {
                    let message =
                        format!("that {} cannot be tested: it has a constant beyond 40 bits", assumed.says);
                    return self.fail(codes::BOUND, message, assumed.at, "may wrap around");
                }
            }
        }
        Ok(all)
    }

    fn index_notes(&self, variables: &[Variable], sizes: &[SizeVariable]) -> Vec<String> {
        let mut notes = Vec::new();
        let mut types: BTreeSet<&str> = sizes.iter().map(|s| s.c_type).collect();
        types.extend(self.loop_types.values().map(|t| t.c_name()));
        if types.len() > 1 || types.iter().any(|t| t.starts_with("unsigned")) {
            let list: Vec<&str> = types.iter().copied().collect();
            notes.push(format!(
                "subscripts and bounds of types {} are taken as integers without limit",
                list.join(", ")
            ));
        }
        let narrow = |ty: &str| matches!(ty, "int" | "unsigned int" | "short" | "char");
        if types.iter().all(|t| narrow(t)) {
            for v in variables.iter().filter(|v| v.access == AccessForm::Linear) {
                notes.push(format!(
                    "subscripts of `{}` are products of 32-bit integers: they overflow where it has 2^31 elements or more",
                    v.c_name
                ));
            }
        }
        notes
    }
}

/// Whether a name is in a text of C.
fn has_word(text: &str, name: &str) -> bool {
    text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).any(|word| word == name)
}

/// Puts the settled subscripts in the place of the numbers of pending accesses.
struct Patch<'a> {
    flat: &'a BTreeMap<Name, Vec<Hub>>,
    settled: &'a BTreeMap<i64, Vec<Hub>>,
}

impl Patch<'_> {
    fn statements(&self, body: &mut [HubStmt]) {
        for stmt in body {
            match stmt {
                HubStmt::Assign(Assign { target, value, .. }) => {
                    self.access(target);
                    self.expr(value);
                }
                HubStmt::Loop(l) => {
                    self.expr(&mut l.lower);
                    self.expr(&mut l.upper);
                    self.statements(&mut l.body);
                }
                HubStmt::If { cond, then, otherwise } => {
                    self.expr(cond);
                    self.statements(then);
                    self.statements(otherwise);
                }
                HubStmt::Local(local) => {
                    if let Some(dims) = self.flat.get(&local.name) {
                        local.dims = dims.clone();
                    }
                }
                HubStmt::Block { body, .. } => self.statements(body),
                HubStmt::Copy(_) | HubStmt::Wait(_) => {}
            }
        }
    }

    fn access(&self, access: &mut Access) {
        if self.flat.contains_key(&access.array)
            && let [Hub::Int(number), Hub::Bool(false)] = access.indices.as_slice()
            && let Some(indices) = self.settled.get(number)
        {
            access.indices = indices.clone();
        }
        access.indices.iter_mut().for_each(|e| self.expr(e));
    }

    fn expr(&self, e: &mut Hub) {
        match e {
            Hub::Load(access) => self.access(access),
            Hub::Unary(_, a) | Hub::Cast(_, a) => self.expr(a),
            Hub::Binary(_, a, b) | Hub::Compare(_, a, b) => {
                self.expr(a);
                self.expr(b);
            }
            Hub::Select(a, b, c) => {
                self.expr(a);
                self.expr(b);
                self.expr(c);
            }
            Hub::Call { args, .. } => args.iter_mut().for_each(|a| self.expr(a)),
            Hub::Int(_) | Hub::I32(_) | Hub::F32(_) | Hub::F64(_) | Hub::Bool(_) | Hub::Var(_) => {}
        }
    }
}

fn stmt_vars(stmt: &HubStmt, out: &mut BTreeSet<Name>) {
    match stmt {
        HubStmt::Assign(a) => {
            a.target.indices.iter().for_each(|i| expr_vars(i, out));
            expr_vars(&a.value, out);
        }
        HubStmt::Loop(l) => {
            expr_vars(&l.lower, out);
            expr_vars(&l.upper, out);
            l.body.iter().for_each(|s| stmt_vars(s, out));
        }
        HubStmt::If { cond, then, otherwise } => {
            expr_vars(cond, out);
            then.iter().chain(otherwise).for_each(|s| stmt_vars(s, out));
        }
        HubStmt::Local(local) => local.dims.iter().for_each(|d| expr_vars(d, out)),
        HubStmt::Block { body, .. } => body.iter().for_each(|s| stmt_vars(s, out)),
        HubStmt::Copy(_) | HubStmt::Wait(_) => {}
    }
}

fn expr_vars(e: &Hub, out: &mut BTreeSet<Name>) {
    match e {
        Hub::Var(name) => {
            out.insert(name.clone());
        }
        Hub::Load(access) => access.indices.iter().for_each(|i| expr_vars(i, out)),
        Hub::Unary(_, a) | Hub::Cast(_, a) => expr_vars(a, out),
        Hub::Binary(_, a, b) | Hub::Compare(_, a, b) => {
            expr_vars(a, out);
            expr_vars(b, out);
        }
        Hub::Select(a, b, c) => {
            expr_vars(a, out);
            expr_vars(b, out);
            expr_vars(c, out);
        }
        Hub::Call { args, .. } => args.iter().for_each(|a| expr_vars(a, out)),
        _ => {}
    }
}
