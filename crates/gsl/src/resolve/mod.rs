//! Turns rules as they are written into rules that run: names are resolved, everything is checked,
//! matching is planned.
//!
//! The checks of a rule happen here, before anything runs. They go through the parts in the order
//! of the text, with the scope that matching will have at that point. So an error here is an error
//! that matching would meet.

mod agree;
mod attribute_expr;
mod expand;
mod plan;
mod source;
mod target;

pub(crate) use target::PER_INSTANCE;

use std::collections::{BTreeMap, BTreeSet};

use loops::suggest::nearest;
use loops::{Code, Diagnostic, Span};

use crate::program::{Compiled, Deps, Let, RExpr, Symbol, Variant};
use crate::rule::{Action, Clause, Count, Expr, Name, OperatorClass, OperatorName, Rule, RuleFile};

/// No more errors than this are told of one file.
const MAX_ERRORS: usize = 50;

/// The rules of a file, checked.
///
/// # Errors
/// All errors, in the order of the text (`R0104`, `R0201` to `R0216`).
pub fn compile(file: &RuleFile) -> Result<Vec<Compiled>, Vec<Diagnostic>> {
    let mut errors: Vec<Diagnostic> = Vec::new();
    let mut compiled = Vec::new();
    let mut seen: BTreeMap<&str, Span> = BTreeMap::new();
    for rule in &file.rules {
        if let Some(first) = seen.insert(&rule.name, rule.place.0) {
            let text = format!("there are two rules `{}`", rule.name);
            errors.push(
                Diagnostic::error(Code("R0211"), text, rule.place.0, "the second")
                    .context(first, "the first"),
            );
        }
        match compile_rule(rule) {
            Ok(rule) => compiled.push(rule),
            Err(found) => errors.extend(found),
        }
    }
    if errors.is_empty() {
        return Ok(compiled);
    }
    errors.truncate(MAX_ERRORS);
    Err(errors)
}

/// One rule, checked.
///
/// # Errors
/// All that is wrong with it.
pub fn compile_rule(rule: &Rule) -> Result<Compiled, Vec<Diagnostic>> {
    let mut errors = duplicates(rule);
    if rule.source.is_empty() {
        let text = format!("rule `{}` has no pattern", rule.name);
        errors.push(Diagnostic::error(Code("R0208"), text, rule.place.0, "behind `match` a call is needed"));
    }
    let expanded = match expand::expand(rule) {
        Ok(expanded) => expanded,
        Err(error) => {
            errors.push(error);
            return Err(errors);
        }
    };
    let mut variants = Vec::new();
    for one in expanded {
        let mut resolver = Resolver::new(&one.rule, one.missing);
        let variant = resolver.run();
        // Each combination finds what is common to all again.
        for error in resolver.errors {
            if !errors
                .iter()
                .any(|e| e.code == error.code && e.message == error.message && e.labels == error.labels)
            {
                errors.push(error);
            }
        }
        variants.extend(variant);
    }
    errors.sort_by_key(|e| e.labels.first().map(|l| l.span.start));
    if errors.is_empty() { Ok(Compiled { name: rule.name.clone(), variants }) } else { Err(errors) }
}

/// Names that are defined twice.
fn duplicates(rule: &Rule) -> Vec<Diagnostic> {
    let mut errors = Vec::new();
    let mut seen: BTreeMap<String, Span> = BTreeMap::new();
    let mut define = |name: &Name, seen: &mut BTreeMap<String, Span>| {
        if let Some(first) = seen.get(&name.text) {
            let text = format!("`{}` is defined twice", name.text);
            errors.push(
                Diagnostic::error(Code("R0211"), text, name.place.0, "the second")
                    .context(*first, "the first"),
            );
        } else {
            seen.insert(name.text.clone(), name.place.0);
        }
    };
    rule.indices.iter().for_each(|i| define(&i.name, &mut seen));
    rule.operators.iter().for_each(|o| define(&o.name, &mut seen));
    for line in &rule.source {
        line.value.names.iter().flatten().for_each(|n| define(&n.name, &mut seen));
    }
    for line in &rule.conditions {
        if let Clause::Let(name, _) = &line.value {
            define(name, &mut seen);
        }
    }
    // The target may define the source's names again, each once.
    let mut target = seen.clone();
    for line in &rule.source {
        for name in line.value.names.iter().flatten() {
            target.remove(&name.name.text);
        }
    }
    for line in &rule.target {
        match &line.value {
            Action::Let(name, _) => define(name, &mut target),
            Action::Bind(b) => b.names.iter().flatten().for_each(|n| define(&n.name, &mut target)),
        }
    }
    errors
}

/// What a name of the source means.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Meaning {
    /// A result of a vertex: item 0, and whether the name stands for the whole call.
    Result(usize, usize, bool),
    Input(usize),
}

pub(crate) struct Resolver<'a> {
    pub rule: &'a Rule,
    /// Names of alternatives that this combination does not have.
    pub missing: BTreeSet<String>,
    pub errors: Vec<Diagnostic>,
    pub out: Variant,
    pub names: BTreeMap<String, Meaning>,
    /// Names of lets.
    pub lets: BTreeMap<String, usize>,
    /// Names of the target: number and index symbol.
    pub locals: BTreeMap<String, (usize, Option<usize>)>,
    /// Symbols that comprehensions bind, innermost last, with their slots.
    pub bound: Vec<(String, usize)>,
    /// What the expression that is being resolved needs.
    pub deps: Deps,
    /// While attribute conditions are resolved: vertices that matching has reached by then, and
    /// where it is.
    pub reached: Option<BTreeSet<usize>>,
    /// The index symbol whose instances are being described.
    pub here: Option<usize>,
    /// Calls of the target that use nothing of a branch.
    pub closed: Vec<crate::program::TargetCall>,
    /// Places of the vertices' names, for messages.
    pub places: Vec<Span>,
}

impl<'a> Resolver<'a> {
    fn new(rule: &'a Rule, missing: BTreeSet<String>) -> Resolver<'a> {
        Resolver {
            rule,
            missing,
            errors: Vec::new(),
            out: Variant::default(),
            names: BTreeMap::new(),
            lets: BTreeMap::new(),
            locals: BTreeMap::new(),
            bound: Vec::new(),
            deps: Deps::default(),
            reached: None,
            here: None,
            closed: Vec::new(),
            places: Vec::new(),
        }
    }

    pub(crate) fn error(
        &mut self,
        code: &'static str,
        text: String,
        at: Span,
        label: &str,
    ) -> &mut Diagnostic {
        self.errors.push(Diagnostic::error(Code(code), text, at, label));
        self.errors.last_mut().expect("just pushed")
    }

    fn run(&mut self) -> Option<Variant> {
        self.out.slots = self.rule.indices.len();
        self.operators();
        self.source();
        self.symbols();
        self.clauses();
        self.target();
        if self.errors.is_empty() {
            self.agree();
        }
        if self.errors.is_empty() {
            self.plan();
        }
        self.errors.is_empty().then(|| std::mem::take(&mut self.out))
    }

    fn operators(&mut self) {
        for variable in &self.rule.operators {
            for class in &variable.class {
                if let OperatorClass::Named(name) = class {
                    self.check_operator(name);
                }
            }
            self.out.operators.push(variable.class.clone());
        }
    }

    fn symbols(&mut self) {
        for index in &self.rule.indices {
            let used = self
                .out
                .vertices
                .iter()
                .any(|v| v.symbol.is_some_and(|s| self.symbol(&index.name.text) == Some(s)));
            if !used {
                let text = format!("no call of the pattern has the index `{}`", index.name.text);
                self.error("R0212", text, index.name.place.0, "declared here")
                    .help
                    .push(format!("name the call of a branch `y[{}]`", index.name.text));
            }
            let symbol = match &index.count {
                Count::AtLeast(low) => Symbol { least: self.count(low), below: None, spread: false },
                Count::Between(low, high) => {
                    Symbol { least: self.count(low), below: Some(self.count(high)), spread: false }
                }
                Count::Exactly(n) => {
                    let n = self.count(n);
                    let below = RExpr::Binary(
                        crate::rule::BinaryOp::Add,
                        Box::new(n.clone()),
                        Box::new(RExpr::Int(1)),
                    );
                    Symbol { least: n, below: Some(below), spread: false }
                }
            };
            for bound in std::iter::once(&symbol.least).chain(&symbol.below) {
                if matches!(bound, RExpr::Int(n) if *n < 1) {
                    let text = format!("`{}` must have at least one branch", index.name.text);
                    self.error("R0215", text, index.name.place.0, "here");
                }
            }
            if let (RExpr::Int(least), Some(RExpr::Int(below))) = (&symbol.least, &symbol.below)
                && below <= least
            {
                let text = format!("there is no number from {least} to below {below}");
                self.error("R0215", text, index.name.place.0, "here");
            }
            self.out.symbols.push(symbol);
        }
    }

    fn count(&mut self, e: &Expr) -> RExpr {
        self.expr(e).unwrap_or(RExpr::Int(1))
    }

    pub(crate) fn symbol(&self, name: &str) -> Option<usize> {
        self.rule.indices.iter().position(|i| i.name.text == name)
    }

    fn clauses(&mut self) {
        for line in &self.rule.conditions {
            match &line.value {
                Clause::Require(e) => {
                    // A condition on an alternative that was not taken says nothing.
                    if expand::mentions(e, &self.missing) {
                        continue;
                    }
                    self.condition(e);
                }
                Clause::Let(name, e) => self.define(name, e),
            }
        }
    }

    pub(crate) fn define(&mut self, name: &Name, e: &Expr) {
        if expand::mentions(e, &self.missing) {
            self.missing.insert(name.text.clone());
            return;
        }
        self.deps = Deps::default();
        let Some(value) = self.expr(e) else { return };
        let deps = std::mem::take(&mut self.deps);
        self.lets.insert(name.text.clone(), self.out.lets.len());
        self.out.lets.push(Let { value, closed: deps.symbol.is_none(), deps });
    }

    /// An unknown operator, with the nearest name there is.
    pub(crate) fn check_operator(&mut self, name: &OperatorName) -> bool {
        if !(name.domain.is_empty() || name.domain == "ai.onnx") {
            return true;
        }
        if !graph::schema::versions("", &name.name).is_empty() {
            return true;
        }
        let all = graph::schema::names();
        let near = nearest(&name.name, all.iter().copied());
        let text = format!("there is no operator `{}`", name.name);
        let error = self.error("R0201", text, name.place.0, "unknown operator");
        match near {
            Some(near) => error.help.push(format!("did you mean `{near}`?")),
            None => error.help.push(
                "operators of other domains are written with their domain: `com.microsoft.Gelu`".into(),
            ),
        }
        false
    }
}
