//! The matchers.
//!
//! - Single output: a vertex is matched backward along edges (the algorithm for one output in the
//!   source document).
//! - Bidirectional: further outputs are found forward from what is matched, then matched backward
//!   (theorems 1 and 2).
//! - Variadic: branches of variadic outputs are collected one after the other. A branch that fails
//!   is undone.
//!
//! Calls are matched one to one. Inputs of the pattern may be the same value, because a rule holds
//! for all values of its inputs.

mod final_checks;
mod forward;
#[cfg(test)]
mod oracle;
#[cfg(test)]
mod tests;

pub(crate) use forward::Budget;

use graph::hash_tables::Set;
use graph::{Model, Node, NodeId, Operator, ValueId};

use crate::eval::{Context, Env, Facts, Found};
use crate::program::{Arg, Inst, Item, OpPattern, Plan, RExpr, Stage, ValueRef, Variant, What};
use crate::rule::{OperatorClass, Trait};
use crate::value::Value;

/// A complete match.
#[derive(Clone, Debug)]
pub(crate) struct Match {
    pub found: Found,
}

/// Matching in progress.
pub(crate) struct Matcher<'a> {
    pub model: &'a Model,
    pub facts: &'a Facts,
    pub variant: &'a Variant,
    pub plan: &'a Plan,
    pub found: Found,
    /// Nodes that are matched.
    taken: Taken,
    trail: Vec<Step>,
    /// Constraints that have been checked.
    checked: Vec<bool>,
    pub budget: &'a mut Budget,
    /// How far matching came, if somebody wants to know.
    pub diary: Option<&'a mut Diary>,
}

/// How far matching came: what stood in the way where most vertices were matched.
#[derive(Clone, Default, Debug)]
pub(crate) struct Diary {
    /// Vertices of the pattern that were matched then: their names and nodes.
    pub matched: Vec<(String, NodeId)>,
    /// What stood in the way; empty if nothing did yet.
    pub obstacle: String,
}

/// The set of matched nodes: a list while it is short.
#[derive(Default)]
struct Taken {
    list: Vec<NodeId>,
    set: Set<NodeId>,
}

impl Taken {
    const SHORT: usize = 16;

    fn contains(&self, id: NodeId) -> bool {
        if self.list.len() <= Taken::SHORT { self.list.contains(&id) } else { self.set.contains(&id) }
    }

    fn push(&mut self, id: NodeId) {
        self.list.push(id);
        if self.list.len() > Taken::SHORT {
            if self.set.is_empty() {
                self.set.extend(self.list.iter().copied());
            }
            self.set.insert(id);
        }
    }

    fn pop(&mut self) {
        if let Some(id) = self.list.pop() {
            self.set.remove(&id);
            if self.list.len() <= Taken::SHORT {
                self.set.clear();
            }
        }
    }
}

/// The version of the standard operators that proofs of rules begin with.
pub(crate) const PROVED_FROM: i64 = 13;

/// What can be taken back.
enum Step {
    Vertex(usize, usize),
    Input(usize, usize),
    Operator(usize),
    Count(usize, usize),
    Checked(usize),
}

impl<'a> Matcher<'a> {
    pub fn new(
        model: &'a Model,
        facts: &'a Facts,
        variant: &'a Variant,
        plan: &'a Plan,
        budget: &'a mut Budget,
    ) -> Matcher<'a> {
        Matcher {
            model,
            facts,
            variant,
            plan,
            found: Found::new(variant),
            taken: Taken::default(),
            trail: Vec::new(),
            checked: vec![false; variant.constraints.len()],
            budget,
            diary: None,
        }
    }

    /// Notes what stands in the way, if no more vertices were matched at an earlier obstacle. The
    /// result is false.
    fn failed(&mut self, obstacle: impl FnOnce(&Matcher<'_>) -> String) -> bool {
        let here = self.taken.list.len();
        if self.diary.as_ref().is_some_and(|diary| diary.obstacle.is_empty() || here > diary.matched.len()) {
            let named = |v: usize, row: &Vec<Option<NodeId>>| -> Vec<(String, NodeId)> {
                let name = &self.variant.vertices[v].name;
                row.iter().flatten().map(|id| (name.clone(), *id)).collect()
            };
            let matched = self.found.vertices.iter().enumerate().flat_map(|(v, row)| named(v, row)).collect();
            let obstacle = obstacle(self);
            if let Some(diary) = &mut self.diary {
                **diary = Diary { matched, obstacle };
            }
        }
        false
    }

    /// The match whose anchor is this node, if there is one.
    pub fn run(mut self, anchor: NodeId) -> Option<Match> {
        if let Some(s) = self.variant.vertices[self.plan.anchor].symbol {
            self.found.counts[s] = 1;
        }
        let mut env = self.context().env_at(self.variant.vertices[self.plan.anchor].symbol, 0);
        if !self.vertex(self.plan.anchor, 0, anchor, &mut env) || !self.check(0, None) {
            return None;
        }
        let plan = self.plan;
        self.stages(&plan.stages, 0).then_some(Match { found: self.found })
    }

    /// The steps after all outputs are found: branches, the conditions on all of them, and whether
    /// the match can be replaced.
    fn complete(&mut self) -> bool {
        self.branches();
        if !self.counts_fit() {
            return self.failed(|m| {
                let all: Vec<String> = m.found.counts.iter().map(ToString::to_string).collect();
                format!("there are {} branches, and the rule wants another number", all.join(" and "))
            });
        }
        if !self.check_late() {
            return false;
        }
        match self.used_elsewhere() {
            None => true,
            Some(what) => self.failed(|_| what),
        }
    }

    pub fn context(&self) -> Context<'_> {
        Context {
            model: self.model,
            facts: self.facts,
            variant: self.variant,
            found: &self.found,
            memo: None,
        }
    }

    // ---- undoing
    // --------------------------------------------------------------------------------------

    fn mark(&self) -> usize {
        self.trail.len()
    }

    fn undo(&mut self, mark: usize) {
        while self.trail.len() > mark {
            match self.trail.pop() {
                Some(Step::Vertex(v, inst)) => {
                    self.found.vertices[v][inst] = None;
                    self.taken.pop();
                }
                Some(Step::Input(k, inst)) => self.found.inputs[k][inst] = None,
                Some(Step::Operator(k)) => self.found.operators[k] = None,
                Some(Step::Count(s, n)) => self.found.counts[s] = n,
                Some(Step::Checked(c)) => self.checked[c] = false,
                None => return,
            }
        }
    }

    // ---- one vertex, backward
    // --------------------------------------------------------------------------------------

    /// Matches a vertex of the pattern with a node, and the vertices that it reads.
    fn vertex(&mut self, v: usize, inst: usize, id: NodeId, env: &mut Env) -> bool {
        if let Some(bound) = self.found.vertex(v, inst) {
            return bound == id
                || self.failed(|m| format!("`{}` is another node there", m.variant.vertices[v].name));
        }
        if self.taken.contains(id) {
            return self.failed(|m| {
                format!("{} is matched by another call of the rule", graph::infer::label(&m.model.graph, id))
            });
        }
        let vertex = &self.variant.vertices[v];
        let model = self.model;
        let node = model.graph.node(id);
        if !self.operator(&vertex.op, node.op()) {
            return self.failed(|m| {
                let found = graph::infer::label(&m.model.graph, id);
                match &vertex.op {
                    OpPattern::Named(op) => format!("`{}` is to be {op}, and there is {found}", vertex.name),
                    OpPattern::Variable(_) => {
                        format!("`{}` is to be of another class than {found}", vertex.name)
                    }
                }
            });
        }
        if vertex.results.is_some_and(|n| n != node.outputs().len()) || self.has_old_attribute(node) {
            return self.failed(|m| {
                let found = graph::infer::label(&m.model.graph, id);
                format!("{found} has another number of results, or attributes of an older version")
            });
        }
        let row = &mut self.found.vertices[v];
        if row.len() <= inst {
            row.resize(inst + 1, None);
        }
        row[inst] = Some(id);
        self.taken.push(id);
        self.trail.push(Step::Vertex(v, inst));
        self.arguments(v, node, env)
    }

    /// Whether a call of an older model has an attribute that its operator has not had since the
    /// version from which proofs of rules hold: rules would take it for not there. What `Dropout`
    /// had is for training alone.
    fn has_old_attribute(&self, node: &Node) -> bool {
        let op = node.op();
        let older = self.model.version("").is_some_and(|version| version < PROVED_FROM);
        if !older || node.attributes().is_empty() || !op.is_standard() || *op.name == *"Dropout" {
            return false;
        }
        graph::schema::lookup("", &op.name, PROVED_FROM)
            .is_some_and(|then| node.attributes().iter().any(|a| then.attribute(&a.name).is_none()))
    }

    fn operator(&mut self, pattern: &OpPattern, op: &Operator) -> bool {
        match pattern {
            OpPattern::Named(wanted) => wanted == op,
            OpPattern::Variable(k) => match &self.found.operators[*k] {
                Some(bound) => bound == op,
                None => {
                    if !in_class(&self.variant.operators[*k], op) {
                        return false;
                    }
                    self.found.operators[*k] = Some(op.clone());
                    self.trail.push(Step::Operator(*k));
                    true
                }
            },
        }
    }

    fn arguments(&mut self, v: usize, node: &Node, env: &mut Env) -> bool {
        let args = &self.variant.vertices[v].args;
        // Absent inputs at the end are as good as none.
        let given = node.inputs().iter().rposition(Option::is_some).map_or(0, |k| k + 1);
        let spreads = args.iter().filter(|a| matches!(a, Arg::Instances(..) | Arg::Results(..))).count();
        let fixed = args.len() - spreads;
        if spreads == 0 {
            let needed = args.iter().rposition(|a| !matches!(a, Arg::Optional(_))).map_or(0, |k| k + 1);
            if given > args.len() || given < needed {
                return self.failed(|m| {
                    let name = &m.variant.vertices[v].name;
                    format!("`{name}` has {given} inputs, and the rule has {}", args.len())
                });
            }
            return args.iter().enumerate().all(|(k, arg)| self.argument(arg, node.input(k), env));
        }
        if spreads > 1 || given < fixed {
            return false;
        }
        let wide = given - fixed;
        let mut at = 0;
        for arg in args {
            let ok = match arg {
                Arg::Instances(value, s) => {
                    let values = &node.inputs()[at..at + wide];
                    at += wide;
                    self.instances(value, *s, values)
                }
                Arg::Results(w, inst) => {
                    let values = &node.inputs()[at..at + wide];
                    at += wide;
                    self.results(*w, inst, values, env)
                }
                arg => {
                    at += 1;
                    self.argument(arg, node.input(at - 1), env)
                }
            };
            if !ok {
                return false;
            }
        }
        true
    }

    fn argument(&mut self, arg: &Arg, value: Option<ValueId>, env: &mut Env) -> bool {
        match (arg, value) {
            (Arg::Optional(k), value) => self.input(*k, 0, value),
            (_, None) => false,
            (Arg::Any, Some(_)) => true,
            (Arg::Value(wanted), Some(value)) => self.value(wanted, value, env),
            (Arg::Constant(e), Some(value)) => {
                let context = self.context();
                context.eval(e, env).is_ok_and(|wanted| context.is_constant(value, &wanted))
                    || self.failed(|m| {
                        let name = m.model.graph.value(value).name();
                        format!("`{name}` is not the constant that the rule has there")
                    })
            }
            (Arg::Instances(..) | Arg::Results(..), Some(_)) => false,
        }
    }

    fn input(&mut self, k: usize, inst: usize, value: Option<ValueId>) -> bool {
        if let Some(bound) = self.found.input(k, inst) {
            return bound == value;
        }
        let row = &mut self.found.inputs[k];
        if row.len() <= inst {
            row.resize(inst + 1, None);
        }
        row[inst] = Some(value);
        self.trail.push(Step::Input(k, inst));
        true
    }

    fn value(&mut self, wanted: &ValueRef, value: ValueId, env: &mut Env) -> bool {
        let Ok(inst) = self.context().inst(&wanted.inst, env) else { return false };
        match &wanted.what {
            What::Input(k) => self.input(*k, inst, Some(value)),
            What::Result(v, item) => {
                let Some((node, k)) = self.model.graph.producer(value) else {
                    return self.failed(|m| {
                        let name = m.model.graph.value(value).name();
                        format!("no node makes `{name}`, where `{}` is to be", m.variant.vertices[*v].name)
                    });
                };
                let fits = match item {
                    Item::Fixed(item) => *item == k,
                    Item::Computed(e) => {
                        self.context().eval(e, env).ok().and_then(|v| v.int()) == Some(k as i64)
                    }
                };
                fits && self.nested(*v, &wanted.inst, inst, node, env)
            }
        }
    }

    /// A vertex of an instance that another instance or a shared vertex refers to.
    fn nested(&mut self, v: usize, how: &Inst, inst: usize, node: NodeId, env: &mut Env) -> bool {
        match (how, self.variant.vertices[v].symbol) {
            (Inst::At(_), Some(s)) => {
                let saved = env[s].replace(Value::Int(inst as i64));
                let ok = self.vertex(v, inst, node, env);
                env[s] = saved;
                ok
            }
            _ => self.vertex(v, inst, node, env),
        }
    }

    /// `w[*]`: each value is that of an instance.
    fn instances(&mut self, wanted: &ValueRef, symbol: usize, values: &[Option<ValueId>]) -> bool {
        let before = self.found.counts[symbol];
        if before > 1 && before != values.len() {
            return false;
        }
        self.trail.push(Step::Count(symbol, before));
        self.found.counts[symbol] = values.len();
        let mut env = self.context().env();
        values.iter().enumerate().all(|(k, value)| {
            env[symbol] = Some(Value::Int(k as i64));
            value.is_some_and(|value| self.value(wanted, value, &mut env)) && self.check(k, Some(symbol))
        })
    }

    /// `s[*]`: the values are all results of one call, in order.
    fn results(&mut self, v: usize, inst: &Inst, values: &[Option<ValueId>], env: &mut Env) -> bool {
        let Some(node) = values.first().copied().flatten().and_then(|value| self.model.graph.producer(value))
        else {
            return false;
        };
        let Ok(inst) = self.context().inst(inst, env) else { return false };
        let model = self.model;
        model.graph.node(node.0).outputs() == values && self.vertex(v, inst, node.0, env)
    }

    // ---- constraints
    // --------------------------------------------------------------------------------------

    /// Checks the constraints of this instance (or the shared ones) that have become decidable.
    fn check(&mut self, inst: usize, only: Option<usize>) -> bool {
        let variant = self.variant;
        for (c, constraint) in variant.constraints.iter().enumerate() {
            if constraint.deps.late || (only.is_some() && constraint.deps.symbol != only) {
                continue;
            }
            if inst == 0 && self.checked[c] {
                continue;
            }
            let context = self.context();
            let mut env = context.env_at(constraint.deps.symbol, inst);
            if !context.ready(&constraint.deps, &mut env) {
                continue;
            }
            if !context.holds(&constraint.what, &mut env) {
                return self.failed(|_| format!("the condition `{}` does not hold", constraint.text));
            }
            if inst == 0 {
                self.checked[c] = true;
                self.trail.push(Step::Checked(c));
            }
        }
        true
    }

    /// Constraints that look at all instances, and those that never became decidable before.
    fn check_late(&mut self) -> bool {
        let variant = self.variant;
        for (c, constraint) in variant.constraints.iter().enumerate() {
            // Instances that are inputs of one call are matched before what they read, so they are
            // checked again.
            let spread = constraint.deps.symbol.is_some_and(|s| variant.symbols[s].spread);
            if self.checked[c] && !constraint.deps.late && !spread {
                continue;
            }
            let context = self.context();
            let count = constraint.deps.symbol.map_or(1, |s| self.found.counts[s]);
            for inst in 0..count {
                let mut env = context.env_at(constraint.deps.symbol, inst);
                if !context.holds(&constraint.what, &mut env) {
                    return self.failed(|_| format!("the condition `{}` does not hold", constraint.text));
                }
            }
        }
        true
    }

    /// Whether there are as many branches as the rule wants.
    fn counts_fit(&self) -> bool {
        let context = self.context();
        self.variant.symbols.iter().enumerate().all(|(s, symbol)| {
            let count = self.found.counts[s] as i64;
            let bound = |e: &RExpr| context.eval(e, &mut context.env()).ok().and_then(|v| v.int());
            bound(&symbol.least).is_some_and(|least| count >= least)
                && symbol.below.as_ref().is_none_or(|e| bound(e).is_some_and(|below| count < below))
        })
    }

    // ---- further outputs and branches
    // ---------------------------------------------------------------------------

    /// Finds the vertices of the remaining stages. If the rest fails, it goes back to other
    /// candidates.
    fn stages(&mut self, stages: &[Stage], inst: usize) -> bool {
        let Some((stage, rest)) = stages.split_first() else { return inst > 0 || self.complete() };
        let symbol = self.variant.vertices[stage.vertex].symbol;
        if let Some(s) = symbol {
            let before = self.found.counts[s];
            if before < inst + 1 {
                self.trail.push(Step::Count(s, before));
                self.found.counts[s] = inst + 1;
            }
        }
        if self.found.vertex(stage.vertex, inst).is_some() {
            return self.stages(rest, inst);
        }
        let mut cursor = self.candidates(stage, inst);
        while let Some(candidate) = self.next_candidate(&mut cursor) {
            let mark = self.mark();
            let mut env = self.context().env_at(symbol, inst);
            if self.vertex(stage.vertex, inst, candidate, &mut env)
                && self.check(inst, if inst == 0 { None } else { symbol })
                && self.stages(rest, inst)
            {
                return true;
            }
            self.undo(mark);
        }
        false
    }

    /// Finds all further branches. Each candidate for the first vertex of a branch is examined
    /// once.
    fn branches(&mut self) {
        let plan = self.plan;
        let Some(branch) = &plan.branch else { return };
        let Some((first, rest)) = branch.stages.split_first() else { return };
        let s = branch.symbol;
        let most = self.variant.symbols[s].below.as_ref().map(|e| {
            let context = self.context();
            context.eval(e, &mut context.env()).ok().and_then(|v| v.int()).unwrap_or(i64::MAX)
        });
        let computed = matches!(
            &first.start,
            ValueRef { what: What::Result(_, Item::Computed(_)), .. }
                | ValueRef { inst: Inst::At(_) | Inst::Slot(_), .. }
        );
        let mut cursor = self.candidates(first, self.found.counts[s].max(1));
        loop {
            let inst = self.found.counts[s];
            if most.is_some_and(|most| inst as i64 + 1 >= most) {
                return;
            }
            if computed {
                // Each branch begins at a value of its own, such as item `i` of a call.
                cursor = self.candidates(first, inst);
            }
            let mut grown = false;
            cursor.inst = inst;
            while let Some(candidate) = self.next_candidate(&mut cursor) {
                let mark = self.mark();
                self.trail.push(Step::Count(s, inst));
                self.found.counts[s] = inst + 1;
                let mut env = self.context().env_at(Some(s), inst);
                if self.vertex(first.vertex, inst, candidate, &mut env)
                    && self.stages(rest, inst)
                    && self.check(inst, Some(s))
                {
                    grown = true;
                    break;
                }
                self.undo(mark);
            }
            if !grown {
                return;
            }
        }
    }
}

/// Whether an operator belongs to a class.
pub(crate) fn in_class(class: &[OperatorClass], op: &Operator) -> bool {
    class.iter().any(|c| match c {
        OperatorClass::Named(n) => {
            *op.name == *n.name.as_str()
                && *op.domain == *(if n.domain == "ai.onnx" { "" } else { n.domain.as_str() })
        }
        OperatorClass::Trait(Trait::Any, _) => true,
        OperatorClass::Trait(t, _) => {
            graph::schema::versions(&op.domain, &op.name).last().is_some_and(|s| match t {
                Trait::Elementwise => s.elementwise,
                _ => s.broadcasting,
            })
        }
    })
}
