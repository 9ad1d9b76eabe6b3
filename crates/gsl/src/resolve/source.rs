//! Resolves the source pattern: calls become vertices, and names that no call defines become
//! inputs.

use std::collections::{BTreeMap, BTreeSet};

use graph::Operator;
use loops::Span;

use crate::program::{
    Arg, Constraint, Deps, Input, Inst, Item, OpPattern, Requirement, ValueRef, Vertex, What,
};
use crate::resolve::expand::item_mentions;
use crate::resolve::{Meaning, Resolver};
use crate::rule::{AttributeItem, Binding, Call, Expr, ExprKind, Name, OperatorClass, Pattern, Var};

impl<'a> Resolver<'a> {
    pub(crate) fn source(&mut self) {
        self.find_inputs();
        // Names first, so that calls may be used before the line that defines them.
        let mut vertices = Vec::new();
        for line in &self.rule.source {
            vertices.push(self.announce(&line.value));
        }
        for (line, vertex) in self.rule.source.iter().zip(&vertices) {
            if let (Some(v), Pattern::Call(call)) = (vertex, &line.value.pattern) {
                self.here = self.out.vertices[*v].symbol;
                self.fill(*v, call);
                self.here = None;
            }
        }
        self.keeps();
        self.attribute_conditions(&vertices);
    }

    /// The vertex of a binding, still without its inputs.
    fn announce(&mut self, b: &'a Binding) -> Option<usize> {
        let at = b.names.iter().flatten().map(|n| n.name.place.0).next().unwrap_or_default();
        let Pattern::Call(call) = &b.pattern else {
            // A name for another value: `y = p`, where `p` came from an alternative.
            if let (Pattern::Ref(v), [Some(name)]) = (&b.pattern, b.names.as_slice())
                && let Some(meaning) = self.names.get(&v.name.text).copied()
            {
                self.names.insert(name.name.text.clone(), meaning);
                return None;
            }
            self.error(
                "R0208",
                "a name of the pattern must stand for a call".into(),
                at,
                "this names no call",
            )
            .help
            .push("inputs need no definition: use their names".into());
            return None;
        };
        let mut symbol = None;
        for (k, name) in b.names.iter().flatten().enumerate() {
            let this = self.binding_symbol(name);
            if k > 0 && this != symbol {
                self.error("R0212", "results of one call have one index".into(), name.name.place.0, "here");
            }
            symbol = this;
        }
        let name = b.names.iter().flatten().map(|n| n.name.text.clone()).next().unwrap_or_default();
        let v = self.vertex(name, call, symbol, at);
        if b.tuple {
            self.out.vertices[v].results = Some(b.names.len());
        }
        for (item, name) in b.names.iter().enumerate() {
            if let Some(name) = name {
                self.names.insert(name.name.text.clone(), Meaning::Result(v, item, !b.tuple));
            }
        }
        Some(v)
    }

    fn vertex(&mut self, name: String, call: &Call, symbol: Option<usize>, at: Span) -> usize {
        let op = self.op_pattern(call).unwrap_or_else(|| OpPattern::Named(Operator::standard("?")));
        let name = if name.is_empty() { call.operator.name.clone() } else { name };
        self.out.vertices.push(Vertex { name, op, args: Vec::new(), results: None, symbol, keep: false });
        self.places.push(at);
        self.out.vertices.len() - 1
    }

    pub(crate) fn op_pattern(&mut self, call: &Call) -> Option<OpPattern> {
        let name = &call.operator;
        if name.domain.is_empty()
            && let Some(k) = self.rule.operators.iter().position(|o| o.name.text == name.name)
        {
            return Some(OpPattern::Variable(k));
        }
        self.check_operator(name).then(|| {
            let domain = if name.domain == "ai.onnx" { "" } else { &name.domain };
            OpPattern::Named(Operator { domain: domain.into(), name: name.name.as_str().into() })
        })
    }

    /// The index symbol of a name that is being defined.
    pub(crate) fn binding_symbol(&mut self, name: &Var) -> Option<usize> {
        let index = name.index.as_ref()?;
        if let ExprKind::Name(n) = &index.kind
            && let Some(s) = self.symbol(n)
        {
            return Some(s);
        }
        let text = format!("`{}` is defined for an index that the rule does not declare", name.name.text);
        let help = format!("declare it: `rule {}[i: 2..]`", self.rule.name);
        self.error("R0212", text, index.place.0, "not an index symbol").help.push(help);
        None
    }

    /// Inputs: names in the source that no call defines; with an index if they are used with one.
    fn find_inputs(&mut self) {
        let defined: BTreeSet<&str> = self
            .rule
            .source
            .iter()
            .flat_map(|l| l.value.names.iter().flatten())
            .map(|n| n.name.text.as_str())
            .collect();
        let mut found: BTreeMap<String, usize> = BTreeMap::new();
        let mut uses: Vec<(&'a Name, Option<&'a Expr>, bool)> = Vec::new();
        for line in &self.rule.source {
            collect(&line.value.pattern, &mut uses);
        }
        for (name, index, optional) in uses {
            if defined.contains(name.text.as_str()) {
                continue;
            }
            let k = *found.entry(name.text.clone()).or_insert_with(|| {
                self.out.inputs.push(Input { symbol: None, optional: false });
                self.out.inputs.len() - 1
            });
            self.names.insert(name.text.clone(), Meaning::Input(k));
            self.out.inputs[k].optional |= optional;
            if let Some(ExprKind::Name(n)) = index.map(|e| &e.kind)
                && let Some(s) = self.symbol(n)
            {
                self.out.inputs[k].symbol = Some(s);
            }
        }
    }

    fn fill(&mut self, v: usize, call: &'a Call) {
        self.check_inputs(call, &self.out.vertices[v].op.clone());
        for argument in &call.arguments {
            if let Some(arg) = self.argument(argument) {
                self.out.vertices[v].args.push(arg);
            }
        }
        // A nested call inside a template is shared unless it uses something of the branch.
        if let Some(symbol) = self.out.vertices[v].args.iter().find_map(|a| self.arg_symbol(a)) {
            let own = &mut self.out.vertices[v].symbol;
            if own.is_none() {
                *own = Some(symbol);
            }
        }
    }

    fn arg_symbol(&self, arg: &Arg) -> Option<usize> {
        match arg {
            Arg::Value(ValueRef { inst: Inst::Slot(s), .. }) => Some(*s),
            Arg::Value(ValueRef { what: What::Result(_, Item::Computed(e)), .. }) => match **e {
                crate::program::RExpr::Slot(s) => Some(s),
                _ => None,
            },
            _ => None,
        }
    }

    fn argument(&mut self, p: &'a Pattern) -> Option<Arg> {
        match p {
            Pattern::Wildcard(_) => Some(Arg::Any),
            Pattern::Optional(name) => match self.names.get(&name.text) {
                Some(Meaning::Input(k)) => Some(Arg::Optional(*k)),
                _ => {
                    let text = format!("`{}` is a call and always there", name.text);
                    self.error("R0102", text, name.place.0, "only inputs can be optional");
                    None
                }
            },
            Pattern::Ref(v) => self.reference(v).map(Arg::Value),
            Pattern::Constant { value, ty: None, .. } => {
                self.deps = Deps::default();
                self.expr(value).map(Arg::Constant)
            }
            Pattern::Constant { ty: Some(ty), .. } => {
                self.error(
                    "R0102",
                    "a constant of the pattern has no type".into(),
                    ty.place.0,
                    "leave it out",
                )
                .help
                .push("ask for the type after `where`".into());
                None
            }
            Pattern::Call(call) => {
                let v = self.nested(call);
                let inst = self.out.vertices[v].symbol.map_or(Inst::Shared, Inst::Slot);
                Some(Arg::Value(ValueRef { what: What::Result(v, Item::Fixed(0)), inst }))
            }
            Pattern::Item(inner, index) => {
                if let (Pattern::Call(call), Some(item)) = (&**inner, self.expr(index)) {
                    let v = self.nested(call);
                    let inst = self.out.vertices[v].symbol.map_or(Inst::Shared, Inst::Slot);
                    let item = match item {
                        crate::program::RExpr::Int(k) if k >= 0 => Item::Fixed(k as usize),
                        e => Item::Computed(Box::new(e)),
                    };
                    return Some(Arg::Value(ValueRef { what: What::Result(v, item), inst }));
                }
                if let (Pattern::Ref(v), ExprKind::Int(_) | ExprKind::Name(_)) = (&**inner, &index.kind) {
                    let indices: Vec<&Expr> = v.index.iter().map(|e| &**e).chain([&**index]).collect();
                    return self.path_of(&v.name.text, v.name.place.0, &indices).map(|p| Arg::Value(p.value));
                }
                self.error("R0212", "only calls have items".into(), index.place.0, "here");
                None
            }
            Pattern::Spread(inner, place) => self.spread(inner, place.0),
            Pattern::Tuple(_, place) => {
                self.error(
                    "R0102",
                    "a tuple of the pattern is possible only before `=`".into(),
                    place.0,
                    "here",
                )
                .help
                .push("write its parts as inputs: `Concat(a, b)`".into());
                None
            }
            Pattern::If(.., place) | Pattern::Case(_, _, place) => {
                self.error(
                    "R0102",
                    "`if` and `case` are only possible in the replacement".into(),
                    place.0,
                    "not in the pattern",
                )
                .help
                .push("in the pattern, write alternatives: `p | q`".into());
                None
            }
            Pattern::Either(..) => None,
        }
    }

    fn nested(&mut self, call: &'a Call) -> usize {
        let v = self.vertex(String::new(), call, None, call.place.0);
        self.fill(v, call);
        v
    }

    fn reference(&mut self, v: &Var) -> Option<ValueRef> {
        let indices: Vec<&Expr> = v.index.iter().map(|e| &**e).collect();
        let before = self.deps.clone();
        let path = self.path_of(&v.name.text, v.name.place.0, &indices);
        self.deps = before;
        path.map(|p| p.value)
    }

    fn spread(&mut self, inner: &'a Pattern, at: Span) -> Option<Arg> {
        match inner {
            Pattern::Call(call) => {
                let v = self.nested(call);
                let inst = self.out.vertices[v].symbol.map_or(Inst::Shared, Inst::Slot);
                Some(Arg::Results(v, inst))
            }
            Pattern::Ref(Var { name, index: None }) => {
                let Some(meaning) = self.names.get(&name.text).copied() else {
                    self.unbound(&name.text, name.place.0);
                    return None;
                };
                let (symbol, what) = match meaning {
                    Meaning::Input(k) => (self.out.inputs[k].symbol, What::Input(k)),
                    Meaning::Result(v, item, _) => {
                        (self.out.vertices[v].symbol, What::Result(v, Item::Fixed(item)))
                    }
                };
                match (symbol, meaning) {
                    (Some(s), _) => Some(Arg::Instances(ValueRef { what, inst: Inst::Slot(s) }, s)),
                    (None, Meaning::Result(v, _, true)) => Some(Arg::Results(v, Inst::Shared)),
                    _ => {
                        let text = format!("`{}` is one tensor", name.text);
                        self.error("R0212", text, at, "there is nothing to spread")
                            .help
                            .push(format!("give it an index where it is defined: `{}[i]`", name.text));
                        None
                    }
                }
            }
            _ => {
                self.error("R0212", "only names and calls can be spread".into(), at, "here");
                None
            }
        }
    }

    /// The number of inputs against the operator's signature.
    pub(crate) fn check_inputs(&mut self, call: &Call, op: &OpPattern) {
        let spread = call.arguments.iter().any(|p| matches!(p, Pattern::Spread(..) | Pattern::Tuple(..)));
        let given = call.arguments.len();
        let names: Vec<Operator> = match op {
            OpPattern::Named(op) => vec![op.clone()],
            OpPattern::Variable(k) => self.out.operators[*k]
                .iter()
                .filter_map(|c| match c {
                    OperatorClass::Named(n) if n.domain.is_empty() => {
                        Some(Operator::standard(n.name.as_str()))
                    }
                    _ => None,
                })
                .collect(),
        };
        for op in names {
            let versions = graph::schema::versions(&op.domain, &op.name);
            let alive: Vec<(usize, Option<usize>)> =
                versions.iter().filter(|s| !s.deprecated).map(|s| s.input_range()).collect();
            let fits = |(least, most): &(usize, Option<usize>)| {
                (spread || given >= *least) && most.is_none_or(|m| given <= m)
            };
            if alive.is_empty() || alive.iter().any(fits) {
                continue;
            }
            let (least, most) = alive[alive.len() - 1];
            let wanted = match most {
                Some(most) if most == least => format!("{least}"),
                Some(most) => format!("{least} to {most}"),
                None => format!("at least {least}"),
            };
            let inputs = if wanted == "1" { "input" } else { "inputs" };
            let text = format!("`{}` takes {wanted} {inputs}, not {given}", op.name);
            let signature = versions.last().map(|s| {
                let names: Vec<&str> = s.inputs.iter().map(|p| p.name).collect();
                format!("its inputs are {}", names.join(", "))
            });
            self.error("R0202", text, call.place.0, "this call").notes.extend(signature);
        }
    }

    /// Whether the operator of a vertex has this attribute, in any version.
    pub(crate) fn check_attribute(&mut self, v: usize, name: &Name) -> Option<()> {
        let op = self.out.vertices[v].op.clone();
        self.check_attribute_of(&op, name)
    }

    pub(crate) fn check_attribute_of(&mut self, op: &OpPattern, name: &Name) -> Option<()> {
        let OpPattern::Named(op) = op else { return Some(()) };
        let versions = graph::schema::versions(&op.domain, &op.name);
        if versions.is_empty() || versions.iter().any(|s| s.attribute(&name.text).is_some()) {
            return Some(());
        }
        let known: BTreeSet<&str> =
            versions.iter().flat_map(|s| s.attributes.iter().map(|a| a.name)).collect();
        let near = loops::suggest::nearest(&name.text, known.iter().copied());
        let text = format!("`{}` has no attribute `{}`", op.name, name.text);
        let error = self.error("R0203", text, name.place.0, "unknown attribute");
        match near {
            Some(near) => error.help.push(format!("did you mean `{near}`?")),
            None if known.is_empty() => error.notes.push("it has none".into()),
            None => {
                error.notes.push(format!("it has {}", known.iter().copied().collect::<Vec<_>>().join(", ")))
            }
        }
        None
    }

    fn keeps(&mut self) {
        for name in &self.rule.keep {
            match self.names.get(&name.text).copied() {
                Some(Meaning::Result(v, ..)) => self.out.vertices[v].keep = true,
                _ if self.missing.contains(&name.text) => {}
                Some(Meaning::Input(_)) => {
                    let text = format!("`{}` is an input and is kept anyway", name.text);
                    self.error("R0204", text, name.place.0, "only calls are removed");
                }
                None => self.unbound(&name.text, name.place.0),
            }
        }
    }

    /// The conditions between the braces of calls, in the order of matching.
    fn attribute_conditions(&mut self, vertices: &[Option<usize>]) {
        let mut reached = BTreeSet::new();
        let rule = self.rule;
        for (line, vertex) in rule.source.iter().zip(vertices) {
            if let (Some(v), Pattern::Call(call)) = (vertex, &line.value.pattern) {
                let mut next = self.first_nested(*v, call);
                self.conditions_of(*v, call, &mut reached, &mut next);
            }
        }
        self.reached = None;
    }

    /// Nested calls were numbered in the order in which they were met.
    fn first_nested(&self, v: usize, _: &Call) -> Vec<usize> {
        let mut found = Vec::new();
        self.nested_of(v, &mut found);
        found.reverse();
        found
    }

    fn nested_of(&self, v: usize, found: &mut Vec<usize>) {
        for arg in &self.out.vertices[v].args {
            let child = match arg {
                Arg::Value(ValueRef { what: What::Result(c, _), .. }) | Arg::Results(c, _) => *c,
                _ => continue,
            };
            if !self.names.values().any(|m| matches!(m, Meaning::Result(n, ..) if *n == child))
                && !found.contains(&child)
            {
                found.push(child);
                self.nested_of(child, found);
            }
        }
    }

    fn conditions_of(
        &mut self,
        v: usize,
        call: &'a Call,
        reached: &mut BTreeSet<usize>,
        nested: &mut Vec<usize>,
    ) {
        for argument in &call.arguments {
            let inner = match argument {
                Pattern::Call(c) => Some(c),
                Pattern::Item(inner, _) | Pattern::Spread(inner, _) => match &**inner {
                    Pattern::Call(c) => Some(c),
                    _ => None,
                },
                _ => None,
            };
            if let Some(c) = inner
                && let Some(child) = nested.pop()
            {
                self.conditions_of(child, c, reached, nested);
            }
        }
        reached.insert(v);
        self.reached = Some(reached.clone());
        let inst = self.out.vertices[v].symbol.map_or(Inst::Shared, Inst::Slot);
        for (k, item) in call.attributes.iter().enumerate() {
            if item_mentions(item, &self.missing) {
                continue;
            }
            self.deps = Deps::default();
            let own = |deps: &mut Deps, out: &crate::program::Variant| {
                deps.vertices.push((v, inst.clone()));
                deps.symbol = deps.symbol.or(out.vertices[v].symbol);
            };
            match item {
                AttributeItem::Is(name, e) => {
                    self.check_attribute(v, name);
                    if let Some(value) = self.expr(e) {
                        let mut deps = std::mem::take(&mut self.deps);
                        own(&mut deps, &self.out);
                        let what = Requirement::Attribute(v, inst.clone(), name.text.clone(), value);
                        let text = format!("{}: {}", name.text, crate::print::expression(e));
                        self.out.constraints.push(Constraint { what, deps, text });
                    }
                }
                AttributeItem::Like(other) => {
                    let indices: Vec<&Expr> = other.index.iter().map(|e| &**e).collect();
                    let Some(path) = self.path_of(&other.name.text, other.name.place.0, &indices) else {
                        continue;
                    };
                    let Some((w, w_inst)) = path.vertex() else {
                        let text = format!("`{}` is an input and has no attributes", other.name.text);
                        self.error("R0203", text, other.name.place.0, "name a call");
                        continue;
                    };
                    self.need(&path);
                    let mut deps = std::mem::take(&mut self.deps);
                    own(&mut deps, &self.out);
                    let except = call.attributes[k + 1..]
                        .iter()
                        .filter_map(|i| match i {
                            AttributeItem::Is(n, _) => Some(n.text.clone()),
                            AttributeItem::Like(_) => None,
                        })
                        .collect();
                    let what = Requirement::Like(v, inst.clone(), w, w_inst, except);
                    let text = format!("..{}", other.name.text);
                    self.out.constraints.push(Constraint { what, deps, text });
                }
            }
        }
    }
}

/// The names that stand as values, with their indices and whether they may be absent.
fn collect<'p>(p: &'p Pattern, uses: &mut Vec<(&'p Name, Option<&'p Expr>, bool)>) {
    match p {
        Pattern::Ref(v) => uses.push((&v.name, v.index.as_deref(), false)),
        Pattern::Optional(name) => uses.push((name, None, true)),
        Pattern::Call(c) => c.arguments.iter().for_each(|p| collect(p, uses)),
        Pattern::Tuple(parts, _) | Pattern::Either(parts, _) | Pattern::Case(_, parts, _) => {
            parts.iter().for_each(|p| collect(p, uses));
        }
        Pattern::Item(inner, _) | Pattern::Spread(inner, _) => collect(inner, uses),
        Pattern::If(_, yes, no, _) => {
            collect(yes, uses);
            collect(no, uses);
        }
        Pattern::Wildcard(_) | Pattern::Constant { .. } => {}
    }
}
