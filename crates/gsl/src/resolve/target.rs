//! Resolves the target: what replaces the match.

use std::collections::BTreeSet;

use loops::Span;

use crate::program::{
    Arg, Deps, Inst, Item, OpPattern, Output, RExpr, Target, TargetAttribute, TargetBinding, TargetCall,
    TargetName, ValueRef, What,
};
use crate::resolve::{Meaning, Resolver, expand};
use crate::rule::{Action, AttributeItem, Binding, Call, Expr, OperatorClass, Pattern, Trait, Var};

impl Resolver<'_> {
    pub(crate) fn target(&mut self) {
        let rule = self.rule;
        let mut locals = 0;
        for line in &rule.target {
            match &line.value {
                Action::Let(name, e) => self.define(name, e),
                Action::Bind(b) => self.bind(b, &mut locals),
            }
        }
        self.replaced();
        self.results();
    }

    fn bind(&mut self, b: &Binding, locals: &mut usize) {
        let mut symbol = None;
        for name in b.names.iter().flatten() {
            symbol = self.binding_symbol(name);
        }
        self.here = symbol;
        let value = self.make(&b.pattern);
        self.here = None;
        let mut names = Vec::new();
        for name in &b.names {
            let Some(name) = name else {
                names.push(None);
                continue;
            };
            let text = &name.name.text;
            let at = name.name.place.0;
            let replaces = match self.names.get(text).copied() {
                Some(Meaning::Result(v, item, _)) => {
                    if self.out.vertices[v].symbol != symbol {
                        let (here, there) =
                            if symbol.is_some() { ("with", "without") } else { ("without", "with") };
                        let what = format!(
                            "`{text}` is {there} an index in the pattern, and {here} one in the replacement"
                        );
                        self.error("R0208", what, at, "here");
                    } else if self.out.vertices[v].keep {
                        let what = format!("`{text}` is kept and can't be replaced");
                        self.error("R0208", what, at, "here");
                    } else {
                        self.out.outputs.push(Output { vertex: v, item });
                    }
                    Some((v, item))
                }
                Some(Meaning::Input(_)) => {
                    let what = format!("`{text}` is an input of the rule and can't be replaced");
                    self.error("R0208", what, at, "here")
                        .help
                        .push("choose another name for the new value".into());
                    None
                }
                None => None,
            };
            let local = *locals;
            *locals += 1;
            self.locals.insert(text.clone(), (local, symbol));
            names.push(Some(TargetName { local, replaces }));
        }
        if b.tuple {
            let wanted = match &value {
                Some(Target::Tuple(parts)) if parts.len() != names.len() => Some(parts.len()),
                _ => None,
            };
            if let Some(parts) = wanted {
                let at = b.names.iter().flatten().map(|n| n.name.place.0).next().unwrap_or_default();
                let text = format!("{} names for {parts} values", names.len());
                self.error("R0208", text, at, "here");
            }
        }
        if let Some(value) = value {
            self.out.target.push(TargetBinding { names, symbol, value });
        }
    }

    /// Every call of the source that no other call uses must be replaced. Otherwise its users would
    /// have nothing to read.
    fn replaced(&mut self) {
        let mut used = BTreeSet::new();
        for vertex in &self.out.vertices {
            for arg in &vertex.args {
                if let Arg::Value(ValueRef { what: What::Result(v, _), .. })
                | Arg::Instances(ValueRef { what: What::Result(v, _), .. }, _)
                | Arg::Results(v, _) = arg
                {
                    used.insert(*v);
                }
            }
        }
        for v in 0..self.out.vertices.len() {
            let replaced = self.out.outputs.iter().any(|o| o.vertex == v);
            if used.contains(&v) || replaced || self.out.vertices[v].keep {
                continue;
            }
            let name = self.out.vertices[v].name.clone();
            let at = self.places[v];
            self.error(
                "R0208",
                format!("the replacement does not say what replaces `{name}`"),
                at,
                "nothing else uses it",
            )
            .help
            .push(format!("define it after `replace`: `{name} = …`, or keep it: `keep {name}`"));
        }
        if self.out.outputs.is_empty() && self.errors.is_empty() {
            let text = format!("rule `{}` replaces nothing", self.rule.name);
            self.error("R0208", text, self.rule.place.0, "in this rule");
        }
    }

    fn make(&mut self, p: &Pattern) -> Option<Target> {
        match p {
            Pattern::Ref(v) => self.target_ref(v),
            Pattern::Optional(name) => match self.names.get(&name.text) {
                Some(Meaning::Input(k)) if self.out.inputs[*k].optional => Some(Target::Optional(*k)),
                Some(Meaning::Input(_)) => self.target_ref(&Var { name: name.clone(), index: None }),
                _ if self.missing.contains(&name.text) => Some(Target::Tuple(Vec::new())),
                _ => {
                    self.not_defined(&name.text, name.place.0);
                    None
                }
            },
            Pattern::Constant { value, ty, .. } => {
                let value = self.expr(value)?;
                let ty = match ty {
                    Some(e) => Some(self.expr(e)?),
                    None => None,
                };
                Some(Target::Constant(value, ty))
            }
            Pattern::Call(call) => self.target_call(call),
            Pattern::Tuple(parts, _) => {
                let parts: Vec<Option<Target>> = parts.iter().map(|p| self.make(p)).collect();
                Some(Target::Tuple(parts.into_iter().collect::<Option<_>>()?))
            }
            Pattern::Item(inner, index) => {
                let inner = self.make(inner)?;
                Some(Target::Item(Box::new(inner), self.expr(index)?))
            }
            Pattern::Spread(inner, place) => self.target_spread(inner, place.0),
            Pattern::If(condition, yes, no, _) => {
                let condition = self.expr(condition)?;
                Some(Target::If(condition, Box::new(self.make(yes)?), Box::new(self.make(no)?)))
            }
            Pattern::Wildcard(place) => {
                self.error("R0207", "`_` has no meaning in the replacement".into(), place.0, "here")
                    .help
                    .push("give the input a name in the pattern".into());
                None
            }
            Pattern::Either(_, place) => {
                self.error(
                    "R0213",
                    "alternatives are only possible in the pattern".into(),
                    place.0,
                    "which one is meant?",
                )
                .help
                .push("write `if c then p else q`, or `case y { p | q }`".into());
                None
            }
            Pattern::Case(..) => None,
        }
    }

    /// A name that the target uses and that nothing defines for it.
    fn not_defined(&mut self, name: &str, at: Span) {
        let missing = self.missing.contains(name);
        let text = format!("the replacement uses `{name}`, which the pattern does not define");
        let error = self.error("R0207", text, at, "not an input of the rule");
        if missing {
            error.notes.push("it exists only in one alternative".into());
            error.help.push("ask which alternative was taken: `case y { p | q }`".into());
        }
    }

    fn target_ref(&mut self, v: &Var) -> Option<Target> {
        let name = &v.name.text;
        let at = v.name.place.0;
        if let Some((local, symbol)) = self.locals.get(name).copied() {
            let Some(s) = symbol else {
                let base = Target::Local(local, Inst::Shared);
                return match &v.index {
                    None => Some(base),
                    Some(index) => Some(Target::Item(Box::new(base), self.expr(index)?)),
                };
            };
            let Some(index) = &v.index else {
                let index = self.rule.indices[s].name.text.clone();
                let text = format!("`{name}` has an instance for each `{index}`");
                self.error("R0212", text, at, "which one is meant?");
                return None;
            };
            let inst = match self.expr(index)? {
                RExpr::Slot(x) => Inst::Slot(x),
                e => Inst::At(Box::new(e)),
            };
            return Some(Target::Local(local, inst));
        }
        match self.names.get(name).copied() {
            Some(Meaning::Input(k)) if self.out.inputs[k].optional => Some(Target::Optional(k)),
            Some(Meaning::Input(_)) => self.matched(v).map(Target::Matched),
            Some(Meaning::Result(w, ..)) if self.out.vertices[w].keep => self.matched(v).map(Target::Matched),
            Some(Meaning::Result(..)) => {
                let text = format!("the replacement uses `{name}`, which the rewrite removes");
                self.error("R0207", text, at, "not an input of the rule")
                    .help
                    .push(format!("keep it with `keep {name}`, or compute it again in the replacement"));
                None
            }
            // A value stands for the constant.
            None if v.index.is_none() && (self.lets.contains_key(name) || self.symbol(name).is_some()) => {
                let kind = crate::rule::ExprKind::Name(name.clone());
                let value = self.expr(&Expr { kind, place: v.name.place })?;
                Some(Target::Constant(value, None))
            }
            None => {
                self.not_defined(name, at);
                None
            }
        }
    }

    fn matched(&mut self, v: &Var) -> Option<ValueRef> {
        let indices: Vec<&Expr> = v.index.iter().map(|e| &**e).collect();
        self.deps = Deps::default();
        let path = self.path_of(&v.name.text, v.name.place.0, &indices)?;
        Some(path.value)
    }

    fn target_spread(&mut self, inner: &Pattern, at: Span) -> Option<Target> {
        let Pattern::Ref(Var { name, index: None }) = inner else {
            let inner = self.make(inner)?;
            return Some(Target::Spread(Box::new(inner)));
        };
        if let Some((local, symbol)) = self.locals.get(&name.text).copied() {
            return Some(match symbol {
                Some(_) => Target::Locals(local),
                None => Target::Spread(Box::new(Target::Local(local, Inst::Shared))),
            });
        }
        match self.names.get(&name.text).copied() {
            Some(Meaning::Input(k)) => match self.out.inputs[k].symbol {
                Some(s) => {
                    let value = ValueRef { what: What::Input(k), inst: Inst::Slot(s) };
                    Some(Target::Instances(value, s))
                }
                None => {
                    self.error(
                        "R0212",
                        format!("`{}` is one tensor", name.text),
                        at,
                        "there is nothing to spread",
                    );
                    None
                }
            },
            Some(Meaning::Result(v, item, call)) if self.out.vertices[v].keep => match self.out.vertices[v]
                .symbol
            {
                Some(s) => {
                    let value = ValueRef { what: What::Result(v, Item::Fixed(item)), inst: Inst::Slot(s) };
                    Some(Target::Instances(value, s))
                }
                None if call => {
                    let value = ValueRef { what: What::Result(v, Item::Fixed(0)), inst: Inst::Shared };
                    Some(Target::Spread(Box::new(Target::Matched(value))))
                }
                None => {
                    self.error(
                        "R0212",
                        format!("`{}` is one tensor", name.text),
                        at,
                        "there is nothing to spread",
                    );
                    None
                }
            },
            Some(Meaning::Result(..)) => {
                self.target_ref(&Var { name: name.clone(), index: None });
                None
            }
            None => {
                self.not_defined(&name.text, name.place.0);
                None
            }
        }
    }

    fn target_call(&mut self, call: &Call) -> Option<Target> {
        let op = self.op_pattern(call)?;
        if let OpPattern::Variable(k) = op {
            let used = self.out.vertices.iter().any(|v| v.op == OpPattern::Variable(k));
            if !used {
                let text = format!("no call of the pattern says what `{}` stands for", call.operator.name);
                self.error("R0207", text, call.operator.place.0, "an operator variable");
                return None;
            }
        }
        self.check_inputs(call, &op);
        if call.either {
            self.error("R0213", "`either` is only possible in the pattern".into(), call.place.0, "here");
        }
        let mut args = Vec::new();
        let mut whole = true;
        for p in &call.arguments {
            match self.make(p) {
                Some(Target::Tuple(parts)) => args.extend(parts),
                Some(arg) => args.push(arg),
                None => whole = false,
            }
        }
        let mut attributes = Vec::new();
        for item in &call.attributes {
            if expand::item_mentions(item, &self.missing) {
                let at = match item {
                    AttributeItem::Is(name, _) => name.place.0,
                    AttributeItem::Like(v) => v.name.place.0,
                };
                let text = "this attribute exists only in one alternative".to_owned();
                self.error("R0207", text, at, "here").help.push("write `case y { p | q }`".into());
                continue;
            }
            match item {
                AttributeItem::Is(name, e) => {
                    self.check_attribute_of(&op, name);
                    if let Some(value) = self.expr(e) {
                        attributes.push(TargetAttribute::Is(name.text.clone(), value));
                    }
                }
                AttributeItem::Like(v) => {
                    let indices: Vec<&Expr> = v.index.iter().map(|e| &**e).collect();
                    let Some(path) = self.path_of(&v.name.text, v.name.place.0, &indices) else { continue };
                    match path.vertex() {
                        Some((w, inst)) => attributes.push(TargetAttribute::Like(w, inst)),
                        None => {
                            let text = format!("`{}` is an input and has no attributes", v.name.text);
                            self.error("R0203", text, v.name.place.0, "name a call");
                        }
                    }
                }
            }
        }
        self.required_attributes(call, &op, &attributes);
        if !whole {
            return None;
        }
        // A call that uses nothing of a branch is made once for all of them.
        let mut call = TargetCall { op, args, attributes, results: 1, cell: None };
        if !self.uses_branch(&call.args, &call.attributes) {
            // Written twice, made once.
            let known = self.closed.iter().position(|c| *c == call);
            call.cell = Some(known.unwrap_or_else(|| {
                self.closed.push(call.clone());
                self.closed.len() - 1
            }));
            self.out.cells = self.closed.len();
        }
        Some(Target::Call(Box::new(call)))
    }

    /// Attributes that the operator can't be without.
    fn required_attributes(&mut self, call: &Call, op: &OpPattern, given: &[TargetAttribute]) {
        let OpPattern::Named(op) = op else { return };
        if given.iter().any(|a| matches!(a, TargetAttribute::Like(..))) {
            return;
        }
        let Some(schema) = graph::schema::versions(&op.domain, &op.name).iter().rev().find(|s| !s.deprecated)
        else {
            return;
        };
        for attribute in schema.attributes.iter().filter(|a| a.required) {
            if !given.iter().any(|a| matches!(a, TargetAttribute::Is(n, _) if n == attribute.name)) {
                let text = format!("`{}` needs the attribute `{}`", op.name, attribute.name);
                self.error("R0203", text, call.place.0, "this call")
                    .help
                    .push(format!("write `{}(…) {{ {}: … }}`", op.name, attribute.name));
            }
        }
    }

    fn uses_branch(&self, args: &[Target], attributes: &[TargetAttribute]) -> bool {
        args.iter().any(|a| self.target_uses(a))
            || attributes.iter().any(|a| match a {
                TargetAttribute::Is(_, e) => self.expr_uses(e),
                TargetAttribute::Like(_, inst) => self.inst_uses(inst),
            })
    }

    fn target_uses(&self, t: &Target) -> bool {
        match t {
            Target::Matched(v) => self.value_uses(v),
            Target::Local(_, inst) => self.inst_uses(inst),
            Target::Constant(value, ty) => {
                self.expr_uses(value) || ty.as_ref().is_some_and(|e| self.expr_uses(e))
            }
            Target::Call(call) => call.cell.is_none(),
            Target::Tuple(parts) => parts.iter().any(|p| self.target_uses(p)),
            Target::Item(inner, index) => self.target_uses(inner) || self.expr_uses(index),
            Target::Spread(inner) => self.target_uses(inner),
            Target::If(c, a, b) => self.expr_uses(c) || self.target_uses(a) || self.target_uses(b),
            Target::Optional(_) | Target::Locals(_) | Target::Instances(..) => false,
        }
    }

    fn value_uses(&self, v: &ValueRef) -> bool {
        self.inst_uses(&v.inst) || matches!(&v.what, What::Result(_, Item::Computed(e)) if self.expr_uses(e))
    }

    fn inst_uses(&self, inst: &Inst) -> bool {
        match inst {
            Inst::Shared => false,
            Inst::Slot(s) => *s < self.rule.indices.len(),
            Inst::At(e) => self.expr_uses(e),
        }
    }

    /// Whether an index symbol is free in the expression.
    pub(crate) fn expr_uses(&self, e: &RExpr) -> bool {
        let any = |all: &[RExpr]| all.iter().any(|e| self.expr_uses(e));
        match e {
            RExpr::Slot(s) => *s < self.rule.indices.len(),
            RExpr::Let(k) => !self.out.lets[*k].closed,
            RExpr::Attribute(_, inst, _) | RExpr::Operator(_, inst) | RExpr::Results(_, inst) => {
                self.inst_uses(inst)
            }
            RExpr::Property(v, _) | RExpr::Is(v, _) => self.value_uses(v),
            RExpr::Item(a, b) | RExpr::Binary(_, a, b) => self.expr_uses(a) || self.expr_uses(b),
            RExpr::Slice(a, b, c) => self.expr_uses(a) || b.iter().chain(c).any(|e| self.expr_uses(e)),
            RExpr::Tuple(all) | RExpr::Call(_, all) => any(all),
            RExpr::Unary(_, a) => self.expr_uses(a),
            RExpr::If(a, b, c) => self.expr_uses(a) || self.expr_uses(b) || self.expr_uses(c),
            RExpr::Map(each) | RExpr::Fold(_, each) => {
                self.expr_uses(&each.body)
                    || each.filter.as_ref().is_some_and(|e| self.expr_uses(e))
                    || matches!(&each.over, crate::program::Over::Tuple(e) if self.expr_uses(e))
            }
            _ => false,
        }
    }

    /// The number of results that the calls of the target must have: as many as are used.
    fn results(&mut self) {
        let mut asked: Vec<(usize, Option<usize>)> = Vec::new();
        let mut target = std::mem::take(&mut self.out.target);
        for binding in &mut target {
            items(&mut binding.value, &mut asked);
            if let (Target::Call(call), true) = (&mut binding.value, binding.names.len() > 1) {
                call.results = call.results.max(binding.names.len());
            }
        }
        let mut most = vec![1; self.out.cells];
        for binding in &mut target {
            calls(&mut binding.value, &mut |call| {
                if let Some(c) = call.cell {
                    most[c] = most[c].max(call.results);
                }
            });
        }
        for (local, wanted) in asked {
            let found = target.iter_mut().find(|b| b.names.iter().flatten().any(|n| n.local == local));
            if let Some(TargetBinding { value: Target::Call(call), .. }) = found {
                ask(call, wanted);
                if let Some(c) = call.cell {
                    most[c] = most[c].max(call.results);
                }
            }
        }
        for binding in &mut target {
            calls(&mut binding.value, &mut |call| {
                if let Some(c) = call.cell {
                    call.results = most[c];
                }
            });
        }
        self.out.target = target;
    }

    /// Whether an operator variable can stand for operators that change shapes.
    pub(crate) fn keeps_shape(&self, k: usize) -> bool {
        self.out.operators[k].iter().all(|c| match c {
            OperatorClass::Trait(t, _) => *t == Trait::Elementwise,
            OperatorClass::Named(n) => {
                graph::schema::versions(&n.domain, &n.name).last().is_some_and(|s| s.elementwise)
            }
        })
    }
}

/// As many results as there are instances.
pub(crate) const PER_INSTANCE: usize = usize::MAX;

fn ask(call: &mut TargetCall, wanted: Option<usize>) {
    call.results = match wanted {
        Some(n) => call.results.max(n),
        None => PER_INSTANCE,
    };
}

/// All calls of a pattern of the target.
fn calls(t: &mut Target, f: &mut impl FnMut(&mut TargetCall)) {
    match t {
        Target::Call(call) => {
            f(call);
            call.args.iter_mut().for_each(|a| calls(a, f));
        }
        Target::Tuple(parts) => parts.iter_mut().for_each(|p| calls(p, f)),
        Target::Item(inner, _) | Target::Spread(inner) => calls(inner, f),
        Target::If(_, a, b) => {
            calls(a, f);
            calls(b, f);
        }
        _ => {}
    }
}

/// Which items of which locals are used, and those of calls at hand noted.
fn items(t: &mut Target, asked: &mut Vec<(usize, Option<usize>)>) {
    match t {
        Target::Item(inner, index) => {
            let wanted = match index {
                RExpr::Int(k) => usize::try_from(*k).ok().map(|k| k + 1),
                _ => None,
            };
            match &mut **inner {
                Target::Call(call) => ask(call, wanted),
                Target::Local(local, _) => asked.push((*local, wanted)),
                _ => {}
            }
            items(inner, asked);
        }
        Target::Call(call) => call.args.iter_mut().for_each(|a| items(a, asked)),
        Target::Tuple(parts) => parts.iter_mut().for_each(|p| items(p, asked)),
        Target::Spread(inner) => items(inner, asked),
        Target::If(_, a, b) => {
            items(a, asked);
            items(b, asked);
        }
        _ => {}
    }
}
