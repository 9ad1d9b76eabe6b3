//! Loop headers: any affine form, up or down, becomes a loop of the loop IR that counts up by a
//! positive constant.

mod bound;

use std::collections::BTreeSet;

use loops::{BinaryOp, Expr as Hub, Loop, LoopKind, Name, Stmt as HubStmt};

use super::carry::Counted;
use super::further_counters::Along;
use super::index::{Index, NotIndex};
use super::resolve::{Meaning, ident_token};
use super::track::{State, Value};
use super::{ActiveLoop, Class, Failed, Lowering, Try};
use crate::ast::{At, Binary, Expr, ExprKind, For, Init, Stmt, StmtKind};
use crate::codes;
use crate::ctype::IntType;
use crate::linear::Linear;

/// What a header says: the variable's object, first value, and amount that it is counted by.
pub(super) struct Header<'e> {
    pub object: usize,
    pub ty: IntType,
    pub name: String,
    pub first: &'e Expr,
    pub step: i64,
}

/// A loop whose header is known.
pub(super) struct Ready {
    pub object: usize,
    pub ty: IntType,
    pub hub: Name,
    pub lower: Index,
    pub upper: Index,
    pub step: i64,
    /// The value of the variable in the body, and where the condition sees it.
    pub value: Value,
    pub counted: Linear,
    /// Its first value.
    pub start: Linear,
}

impl Lowering<'_> {
    pub(super) fn for_loop(&mut self, f: &For, at: At) -> Try<Vec<HubStmt>> {
        if let Some((why, help)) = f.mixed {
            let message = format!("the header of the loop is too complex: {why}");
            return self.fail_with(
                codes::LOOP,
                message,
                (at, "the form of this header is not supported"),
                help,
            );
        }
        let told = self.diagnostics.len();
        let mut out = self.statements(&f.before);
        if self.diagnostics.len() > told {
            return Err(Failed);
        }
        // The condition and the step are evaluated again in each iteration: what the body changes
        // is not known in them.
        let changed = self.changed_in(f);
        let around = self.state();
        self.forget_all(&changed, at);
        let found = self.one_loop(f, at, &changed, around);
        if found.is_err() {
            self.forget_all(&changed, at);
        }
        out.append(&mut found?);
        Ok(out)
    }

    /// A loop after what its header does before it. `around` is what is known there.
    fn one_loop(&mut self, f: &For, at: At, changed: &BTreeSet<usize>, around: State) -> Try<Vec<HubStmt>> {
        if let Some(done) = self.stretched_loop(f, at, changed, &around) {
            return done;
        }
        if let Some(done) = self.pointer_loop(f, at, changed, &around) {
            return done;
        }
        let header = self.header(f, at)?;
        let k = header.object;
        if self.active.contains(&k) {
            let message = format!("`{}` is also the variable of an outer loop", header.name);
            return self.fail(codes::LOOP_VARIABLE, message, at, "this loop changes it");
        }
        if let Some(bounds) = self.data_bounds(f, &header) {
            if let Some(other) = f.others.first() {
                let message = format!(
                    "the bounds of the loop over `{}` depend on data, so its header can count no second variable",
                    header.name
                );
                let help = format!("count it at the end of the body, or compute it from `{}`", header.name);
                return self.fail_with(codes::LOOP, message, (other.step.at, "counted here"), &help);
            }
            return self.data_loop(f, &header, bounds, at);
        }
        let first =
            self.index(header.first).map_err(|why| self.bad_bound(&header.name, header.first, why))?;
        self.converted(&first, header.ty, header.first.at)
            .map_err(|why| self.bad_bound(&header.name, header.first, why))?;
        let hub = self.loop_name(k, &header.name, header.ty);
        let Some(cond) = &f.cond else {
            return self.fail(codes::LOOP, "a loop without a condition", at, "it never ends");
        };
        let along = self.counted_along(f, &header, &first)?;
        let start = first.form.clone();
        let variable = Index::variable(hub.clone(), header.ty);
        self.set_along(&along, &variable.form, &start, Some(cond))?;
        let bounds = if header.step > 0 {
            let upper = self.last_bound(k, &header, cond, &variable, true);
            upper.and_then(|upper| {
                self.reaches(&header, cond, &first.form, &upper.form, &hub)?;
                Ok((first, upper, header.step, variable))
            })
        } else {
            self.downward(k, &header, cond, first, &hub)
        };
        along.iter().for_each(|other| {
            self.values.remove(&other.object);
        });
        let (lower, upper, step, mut value) = bounds?;
        if f.at_least_once {
            self.runs_once(&header, &lower, &upper, at)?;
        }
        let counted = value.form.clone();
        if f.counts_first {
            // The condition has seen it before the step.
            let Some(form) = value.form.plus_constant(header.step) else {
                return self.bad_condition(&header, cond, "it has a constant beyond 64 bits");
            };
            value = Index { expr: self.form_expr(&form), form, ty: header.ty, substituted: true };
        }
        let value = Value::Number(value);
        let ready = Ready { object: k, ty: header.ty, hub, lower, upper, step, value, counted, start };
        self.loop_body(f, at, ready, &along, (changed, around))
    }

    /// The first iteration of a loop runs in any case, which is tested where sizes say that.
    fn runs_once(&mut self, header: &Header<'_>, lower: &Index, upper: &Index, at: At) -> Try<()> {
        let length = upper.form.minus(&lower.form).and_then(|length| length.plus_constant(-1));
        let name = &header.name;
        let says = |what: &str| format!("{what} is in the loop over `{name}` once in any case");
        let held = match length {
            Some(length) => self.need(&length, at, &says),
            None => Err(super::index::too_large(at)),
        };
        held.or_else(|_| {
            let message = format!("the loop over `{name}` runs once whatever its condition says");
            let help = "write it as a `for` loop, which asks first";
            self.fail_with(codes::LOOP, message, (at, "not known to hold at the beginning"), help)
        })
    }

    /// The body of a loop whose header is known.
    pub(super) fn loop_body(
        &mut self,
        f: &For,
        at: At,
        ready: Ready,
        along: &[Along<'_>],
        (changed, around): (&BTreeSet<usize>, State),
    ) -> Try<Vec<HubStmt>> {
        let Ready { object: k, ty, hub, lower, upper, step, value, counted, start } = ready;
        self.loop_types.insert(hub.clone(), ty);
        let top = self.loops.is_empty() && self.branches == 0;
        let end = if top { self.final_value(&lower, &upper, step, at).ok() } else { None };
        let last = |value: &Hub| end.as_ref().map(|end| replace_variable(value.clone(), &hub, &end.expr));
        // What holds in the body.
        let mark = self.known.len();
        let variable = Linear::name(hub.clone());
        self.known.extend(variable.minus(&lower.form));
        self.known.extend(upper.form.minus(&variable).and_then(|l| l.plus_constant(-1)));
        let (from, to) = (lower.form.clone(), upper.form.clone());
        self.loops.push(ActiveLoop { var: hub.clone(), lower: from, upper: to });
        let shared = self.taken.insert(hub.clone(), Some(ty));
        let after = match &value {
            Value::Number(index) => last(&index.expr),
            _ => None,
        };
        self.finals.insert(k, after);
        self.set_value(k, value, Vec::new());
        let set = self.set_along(along, &counted, &start, None);
        for other in along {
            let value = self.values.get(&other.object).and_then(|value| last(&value.expr));
            self.finals.insert(other.object, value);
        }
        let counted_here = || along.iter().map(|other| other.object).chain([k]);
        self.active.extend(counted_here());
        let counted = Counted { hub: &hub, lower: &lower, upper: &upper, step, at };
        for object in changed {
            self.take_value(*object, &around);
        }
        let carried = if set.is_ok() { self.carried(f, changed, &counted) } else { Vec::new() };
        let plain = set.is_ok() && carried.is_empty() && along.is_empty() && step == 1;
        let rotation = plain.then(|| self.rotation(f, changed)).flatten();
        self.begin_iteration(changed, &carried, &counted);
        let in_loop: Vec<(usize, Index)> =
            counted_here().filter_map(|k| Some((k, self.values.get(&k)?.clone()))).collect();
        let done = match (set, rotation, self.values.get(&k).cloned()) {
            (Err(_), ..) => Err(Failed),
            (_, Some(rotation), Some(value)) => {
                self.rotated_loops(f, (k, &value), (changed, &rotation), (&counted, mark))
            }
            _ => self.body(&f.body).map(|body| vec![self.counted_loop(&counted, body)]),
        };
        for object in counted_here() {
            self.active.remove(&object);
            self.values.remove(&object);
            self.followed.products.remove(&object);
        }
        if let Some(shared) = shared {
            self.taken.insert(hub.clone(), shared);
        }
        self.loops.pop();
        self.known.truncate(mark);
        self.end_loop(changed, &carried, &counted);
        for (object, value) in in_loop {
            if self.is_read_later(object)
                && let Some(value) = self.value_after(&value, &counted)
            {
                self.set_value(object, Value::Number(value), Vec::new());
            }
        }
        done
    }

    fn counted_loop(&self, loop_: &Counted<'_>, body: Vec<HubStmt>) -> HubStmt {
        HubStmt::Loop(Loop {
            var: loop_.hub.clone(),
            lower: loop_.lower.expr.clone(),
            upper: loop_.upper.expr.clone(),
            step: loop_.step,
            kind: LoopKind::Sequential,
            reductions: Vec::new(),
            body,
        })
    }

    fn header<'e>(&mut self, f: &'e For, at: At) -> Try<Header<'e>> {
        let counted = f.step.as_ref().and_then(counted);
        let Some((variable, step)) = counted else {
            let message = match &f.step {
                Some(step) => {
                    format!("`{}` does not count by a constant", self.snippet(step.at))
                }
                None => "the header of the loop does not count: its third part is empty".to_owned(),
            };
            return self.fail(
                codes::LOOP,
                message,
                at,
                "expected `i++`, `i--`, `i += c`, `i -= c` or `i = i + c`",
            );
        };
        let ExprKind::Ident(name) = &variable.kind else {
            let message = format!("the loop counts `{}`, which is not a variable", self.snippet(variable.at));
            return self.fail(codes::LOOP, message, variable.at, "expected the name of an integer");
        };
        let object = match self.meaning(variable) {
            Meaning::Object(object) => object,
            _ => return self.unknown_name(name, variable.at),
        };
        let Class::LoopVariable(ty) = self.class(object) else {
            let ty = self.res.objects[object].ty.ty.c_name();
            let message = format!("the loop variable `{name}` is {}, not an integer", super::index::an(ty));
            return self.fail(codes::LOOP, message, at, "this loop");
        };
        // Where its value is followed, only assignments in its loop are refused.
        let untracked = !self.tracked.contains(&object);
        if let Some(assigned) = self.res.objects[object].assigned.first().copied().filter(|_| untracked) {
            let message = format!("the loop variable `{name}` is assigned outside of the header of its loop");
            if self.blamed.insert(object) {
                return self.fail(codes::LOOP_VARIABLE, message, assigned, "assigned here");
            }
            return Err(Failed);
        }
        if self.res.objects[object].ty.volatile {
            return self.fail(
                codes::TYPE,
                format!("the loop variable `{name}` is volatile"),
                at,
                "this loop",
            );
        }
        let step = match step {
            Step::By(amount) => amount,
            Step::Expr(sign, e) => match self.index(e).map(|i| i.form.as_constant()) {
                Ok(Some(amount)) => amount.checked_mul(sign).unwrap_or(0),
                _ => {
                    let message = format!(
                        "the loop over `{name}` counts by `{}`, which is not constant",
                        self.snippet(e.at)
                    );
                    return self.fail(codes::LOOP, message, e.at, "the step must be a constant");
                }
            },
        };
        if step == 0 || step.checked_abs().is_none() {
            return self.fail(
                codes::LOOP,
                format!("the loop over `{name}` does not count"),
                at,
                "its step is 0",
            );
        }
        let first = match f.init.as_ref().map(|s| &s.kind) {
            Some(StmtKind::Expr(Expr { kind: ExprKind::Assign(None, target, value), .. })) if matches!(&target.kind, ExprKind::Ident(n) if n == name) => {
                &**value
            }
            Some(StmtKind::Declare(declarations)) => match declarations.as_slice() {
                [d] if d.name == *name => match &d.init {
                    Some(Init::Expr(value)) => value,
                    _ => return self.no_first(name, at),
                },
                [_] => return self.no_first(name, at),
                _ => {
                    let message = "a loop that declares several variables";
                    return self.fail(codes::LOOP, message, at, "its header must declare its variable only");
                }
            },
            // It goes on from where it is.
            None if self.is_known(object) => variable,
            _ => return self.no_first(name, at),
        };
        Ok(Header { object, ty, name: name.clone(), first, step })
    }

    fn no_first<T>(&mut self, name: &str, at: At) -> Try<T> {
        let message = format!("the header of the loop over `{name}` does not set its first value");
        self.fail(codes::LOOP, message, at, "expected `name = value;` first")
    }

    /// The loop-program variable of a loop: the name in C, unless it is that of something else
    /// here.
    pub(super) fn loop_name(&mut self, k: usize, c_name: &str, ty: IntType) -> Name {
        let own = self.names.get(&k).cloned();
        let candidate = own.unwrap_or_else(|| Name::new(c_name));
        let active = self.loops.iter().any(|l| l.var == candidate);
        match self.taken.get(&candidate) {
            Some(Some(shared)) if *shared == ty && !active => candidate,
            None if super::is_plain_name(&candidate) && !active => {
                self.taken.insert(candidate.clone(), Some(ty));
                candidate
            }
            _ => {
                // A name that an earlier loop of the kind got, or a new one.
                let shared = self.taken.iter().find(|(name, shared)| {
                    **shared == Some(ty)
                        && name.strip_prefix(c_name).is_some_and(|r| r.starts_with('_'))
                        && !self.loops.iter().any(|l| l.var == **name)
                });
                if let Some((name, _)) = shared {
                    return name.clone();
                }
                let name = self.fresh(c_name);
                self.taken.insert(name.clone(), Some(ty));
                name
            }
        }
    }

    pub(super) fn bad_bound(&mut self, name: &str, e: &Expr, why: NotIndex) -> Failed {
        let message = format!(
            "the bound `{}` of the loop over `{name}` is not affine in {}: {}",
            self.snippet(e.at),
            self.loop_list(),
            why.reason
        );
        let diagnostic = loops::Diagnostic::error(codes::BOUND, message, self.span(why.at), "not affine");
        // Other ways out are those of subscripts.
        let _: Try<()> = self.report(match why.help.filter(|help| super::array::WAYS_OUT.contains(help)) {
            Some(help) => diagnostic.help(help),
            None => diagnostic,
        });
        Failed
    }

    /// A loop downward, `first`, `first - c`, … while at least `low`. It is counted up from 0 in a
    /// new variable.
    fn downward(
        &mut self,
        k: usize,
        header: &Header<'_>,
        cond: &Expr,
        first: Index,
        hub: &Name,
    ) -> Try<(Index, Index, i64, Index)> {
        let variable = Index::variable(hub.clone(), header.ty);
        let low = self.last_bound(k, header, cond, &variable, false)?;
        self.reaches(header, cond, &first.form, &low.form, hub)?;
        let stride = header.step.unsigned_abs() as i64;
        // The distance is not computed in C.
        let from = Index { ty: IntType::Long, ..first.clone() };
        let to = Index { ty: IntType::Long, ..low };
        let distance = self
            .linear_sum(&from, -1, &to, cond.at)
            .map_err(|why| self.bad_bound(&header.name, cond, why))?;
        let distance = Index { expr: self.form_expr(&distance.form), substituted: true, ..distance };
        let whole = if stride == 1 { distance } else { self.floor_by(distance, stride) };
        let count = self
            .linear_sum(&Index { substituted: stride == 1, ..whole }, 1, &Index::constant(1), cond.at)
            .map_err(|why| self.bad_bound(&header.name, cond, why))?;
        let form = first.form.plus_times(-stride, &Linear::name(hub.clone()));
        let Some(form) = form else {
            return self.bad_condition(header, cond, "it has a constant beyond 64 bits");
        };
        let value = Index { expr: self.form_expr(&form), form, ty: header.ty, substituted: true };
        Ok((Index::constant(0), count, 1, value))
    }

    fn floor_by(&mut self, a: Index, divisor: i64) -> Index {
        self.floor(a, divisor, false)
    }

    /// Whether something may read a loop's variable after it.
    fn is_read_later(&self, k: usize) -> bool {
        let object = &self.res.objects[k];
        self.tracked.contains(&k)
            && (object.place.is_some() || object.loops.len() > 1 || !object.assigned.is_empty())
    }

    /// The value of the loop program's variable after a loop: the first one that is not below the
    /// end.
    pub(super) fn final_value(
        &mut self,
        lower: &Index,
        upper: &Index,
        step: i64,
        at: At,
    ) -> Result<Index, NotIndex> {
        let long = |index: &Index| Index { ty: IntType::Long, ..index.clone() };
        let (lower, upper) = (long(lower), long(upper));
        if step == 1 {
            return self.extremum(true, upper, lower, at);
        }
        let distance = self.linear_sum(&upper, -1, &lower, at)?;
        let rounded = self.linear_sum(&distance, 1, &Index::constant(step - 1), at)?;
        let count = self.floor(rounded, step, false);
        let count = self.extremum(true, count, Index::constant(0), at)?;
        let expr = Hub::binary(BinaryOp::Mul, Hub::Int(step), count.expr);
        let form = count.form.times(step);
        let travelled = Index { expr, form: form.unwrap_or_default(), ty: IntType::Long, substituted: false };
        self.linear_sum(&lower, 1, &travelled, at)
    }

    /// The body of a loop or of a branch.
    pub(super) fn body(&mut self, body: &Stmt) -> Try<Vec<HubStmt>> {
        let before = self.diagnostics.len();
        let statements = self.statements(std::slice::from_ref(body));
        if self.diagnostics.len() > before { Err(Failed) } else { Ok(statements) }
    }
}

fn replace_variable(e: Hub, var: &Name, by: &Hub) -> Hub {
    let again = |e: Box<Hub>| Box::new(replace_variable(*e, var, by));
    match e {
        Hub::Var(name) if name == *var => by.clone(),
        Hub::Unary(op, a) => Hub::Unary(op, again(a)),
        Hub::Binary(op, a, b) => Hub::Binary(op, again(a), again(b)),
        Hub::Compare(op, a, b) => Hub::Compare(op, again(a), again(b)),
        Hub::Select(a, b, c) => Hub::Select(again(a), again(b), again(c)),
        other => other,
    }
}

pub(super) enum Step<'e> {
    By(i64),
    Expr(i64, &'e Expr),
}

/// What a step counts, and by how much.
pub(super) fn counted(step: &Expr) -> Option<(&Expr, Step<'_>)> {
    let is = |e: &Expr, name: &Expr| matches!((&e.kind, &name.kind), (ExprKind::Ident(a), ExprKind::Ident(b)) if a == b);
    let (target, by) = match &step.kind {
        ExprKind::Step(amount, target) => (&**target, Step::By(*amount)),
        ExprKind::Assign(Some(Binary::Add), target, by) => (&**target, Step::Expr(1, by)),
        ExprKind::Assign(Some(Binary::Sub), target, by) => (&**target, Step::Expr(-1, by)),
        ExprKind::Assign(None, target, value) => match &value.kind {
            ExprKind::Binary(Binary::Add, a, b) if is(a, target) => (&**target, Step::Expr(1, b)),
            ExprKind::Binary(Binary::Add, a, b) if is(b, target) => (&**target, Step::Expr(1, a)),
            ExprKind::Binary(Binary::Sub, a, b) if is(a, target) => (&**target, Step::Expr(-1, b)),
            _ => return None,
        },
        _ => return None,
    };
    debug_assert!(ident_token(target) >= target.at.first);
    matches!(target.kind, ExprKind::Ident(_)).then_some((target, by))
}

/// Whether an index expression reads a variable.
pub(crate) fn expr_mentions(e: &Hub, var: &Name) -> bool {
    match e {
        Hub::Var(name) => name == var,
        Hub::Unary(_, a) | Hub::Cast(_, a) => expr_mentions(a, var),
        Hub::Binary(BinaryOp::Add, a, b) | Hub::Binary(_, a, b) | Hub::Compare(_, a, b) => {
            expr_mentions(a, var) || expr_mentions(b, var)
        }
        Hub::Select(a, b, c) => expr_mentions(a, var) || expr_mentions(b, var) || expr_mentions(c, var),
        _ => false,
    }
}
