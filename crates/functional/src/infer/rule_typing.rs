//! Types of rewrite rules.
//!
//! The left side is inferred first. Types and sizes that it leaves open become parameters, and what
//! it demands of sizes holds of every term that it fits. The right side must then have the same
//! type for all types and sizes.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use loops::{Code, Diagnostic, Name, Size, Span};

use super::expressions::Why;
use super::inferred_types::{Class, Ty};
use super::node::{Local, LocalInfo, Node};
use super::{Env, Infer, Signature, TypedDef};
use crate::checked::names;
use crate::facts::SizeFacts;
use crate::prim::Prim;
use crate::syntax::ast::{Expr, ExprKind, RuleDef, Type, TypeKind};
use crate::term::{Fact, FactKind};

/// A left side that can't be matched.
pub(crate) const UNMATCHABLE: Code = Code("S0201");

/// A rule with its inferred sides.
#[derive(Clone, Debug)]
pub(crate) struct TypedRule {
    /// Sizes that strategies give.
    pub(crate) params: Vec<Name>,
    pub(crate) reassociate: bool,
    /// What must be known of the sizes.
    pub(crate) required: Vec<Fact>,
    /// Both sides: definitions with one signature, whose parameters are the variables of the rule.
    /// Its facts are those required, and those that hold of every term that the left side fits.
    pub(crate) left: TypedDef,
    pub(crate) right: TypedDef,
    /// Where its name stands.
    pub(crate) name_span: Span,
}

/// Infers a rule.
///
/// # Errors
/// What is wrong with it.
pub(crate) fn infer_rule(env: &Env, rule: &RuleDef) -> Result<TypedRule, Vec<Diagnostic>> {
    let mut infer = Infer::new(env);
    infer.in_rule = true;
    match infer.rule_of(rule) {
        Some(typed) if infer.diagnostics.is_empty() => Ok(typed),
        _ => Err(infer.in_order()),
    }
}

impl Infer<'_> {
    /// None if an error was reported that makes all that follows an echo.
    fn rule_of(&mut self, rule: &RuleDef) -> Option<TypedRule> {
        let mut sizes = self.sizes_of_rule(rule);
        let mut types = self.type_params(&rule.types);
        let required = self.facts_of(&rule.facts);
        self.solver.facts = SizeFacts::new(&required);
        let params = self.variables(rule);
        let mut left = self.infer(&rule.left);
        self.settle();
        self.left_is_data(&left);
        if !self.diagnostics.is_empty() {
            return None;
        }
        self.generalise_types(&mut types);
        self.generalise_sizes(&mut sizes);
        let assumed = self.assumed();
        self.solver.facts = SizeFacts::new(&[required.clone(), assumed.clone()].concat());
        // From here on uses are those of the right side.
        let left_uses: Vec<LocalInfo> = self.locals.clone();
        for local in &mut self.locals {
            (local.uses, local.under_lambda) = (0, false);
        }
        let left_ty = left.ty.clone();
        let note = self.left_note(&params, &left_ty);
        let mut right = self.check(&rule.right, &left_ty, &Why::new("the right side", Some(rule.left.span)));
        self.finish();
        if !self.diagnostics.is_empty() {
            self.diagnostics = self.in_order();
            self.diagnostics[0].notes.push(note);
            return None;
        }
        self.complete(&mut left);
        self.complete(&mut right);
        let mut locals = std::mem::take(&mut self.locals);
        for local in &mut locals {
            local.ty = self.known_type(&local.ty, local.span);
        }
        let mut left_locals = locals.clone();
        for (local, info) in left_locals.iter_mut().zip(&left_uses) {
            (local.uses, local.under_lambda) = (info.uses, info.under_lambda);
        }
        let ty = params
            .iter()
            .rev()
            .fold(left.ty.clone(), |result, local| Ty::fun(locals[*local as usize].ty.clone(), result));
        let signature = Arc::new(Signature {
            name: rule.name.name.clone(),
            key: rule.name.name.clone(),
            sizes,
            explicit: Vec::new(),
            types,
            facts: [required.clone(), assumed].concat(),
            ty,
        });
        let side = |locals: Vec<LocalInfo>, body: Node, params: Vec<Local>| TypedDef {
            signature: signature.clone(),
            params,
            locals,
            body,
            span: rule.span,
            doc: rule.doc.clone(),
        };
        Some(TypedRule {
            params: rule.params.iter().map(|p| p.name.clone()).collect(),
            reassociate: rule.reassociate,
            required,
            left: side(left_locals, left, params.clone()),
            right: side(locals, right, params),
            name_span: rule.name.span,
        })
    }

    /// Declares the sizes: those of the head, and those that the left side names.
    fn sizes_of_rule(&mut self, rule: &RuleDef) -> Vec<Name> {
        let mut sizes: Vec<Name> = Vec::new();
        for size in rule.params.iter().chain(&rule.sizes) {
            if self.sizes.insert(size.name.clone(), size.span).is_some() {
                self.twice("size", &size.name, size.span);
            }
            sizes.push(size.name.clone());
        }
        let mut implied = BTreeMap::new();
        sizes_of_left(&rule.left, &mut implied);
        rule.vars.iter().for_each(|var| sizes_of_type(&var.ty, &mut implied));
        implied.retain(|name, _| rule.vars.iter().all(|var| var.name.name != *name));
        for (name, span) in implied {
            if !self.sizes.contains_key(&name) {
                self.sizes.insert(name.clone(), span);
                sizes.push(name);
            }
        }
        sizes
    }

    fn left_is_data(&mut self, left: &Node) {
        if matches!(self.solver.shallow(&left.ty), Ty::Fun(..)) {
            let found = self.shown(&left.ty);
            let message = format!("the left side of a rule must be data, not the function `{found}`");
            self.error(
                Diagnostic::error(UNMATCHABLE, message, left.span, "a function")
                    .help("give the function its arguments: strategies go to terms, not to functions"),
            );
        }
    }

    /// What the left side says of types.
    fn left_note(&self, params: &[Local], ty: &Ty) -> String {
        let variable = |local: &Local| {
            let info = &self.locals[*local as usize];
            format!("`{}: {}`", info.name, self.shown(&info.ty))
        };
        let variables: Vec<String> = params.iter().map(variable).collect();
        let found = format!("the left side has the type `{}`", self.shown(ty));
        if variables.is_empty() { found } else { format!("{found}, with {}", variables.join(", ")) }
    }

    /// Declares the variables: those with a written type, and every other free name of the left
    /// side. Calls of definitions can't be matched, so names of definitions are variables there.
    fn variables(&mut self, rule: &RuleDef) -> Vec<Local> {
        let mut params = Vec::new();
        for var in &rule.vars {
            let ty = self.resolve(&var.ty, false);
            if self.is_bound(&var.name.name) {
                self.twice("variable", &var.name.name, var.name.span);
            }
            params.push(self.declare(&var.name.name, ty, var.name.span));
        }
        let mut found: Vec<(Name, Span)> = Vec::new();
        let mut seen = BTreeSet::new();
        names(&rule.left, &mut BTreeMap::new(), &mut |name, span| {
            if seen.insert(name.clone()) {
                found.push((name.clone(), span));
            }
        });
        for (name, span) in found {
            if self.is_bound(&name) || Prim::from_name(&name).is_some() {
                continue;
            }
            let ty = self.solver.fresh(false, span, format!("`{name}`"));
            params.push(self.declare(&name, ty, span));
        }
        params
    }

    /// Makes parameters of the types that the left side leaves open.
    fn generalise_types(&mut self, types: &mut Vec<(Name, Option<Class>)>) {
        for k in 0..self.solver.types.len() {
            if self.solver.types[k].bound.is_some() {
                continue;
            }
            let meta = Ty::Meta(k as u32);
            let classes: Vec<Class> = (self.constraints.iter())
                .filter(|(_, ty, ..)| match self.solver.shallow(ty) {
                    Ty::Vector(_, lane) => self.solver.shallow(&lane) == meta,
                    ty => ty == meta,
                })
                .map(|(class, ..)| *class)
                .collect();
            let class = strongest(&classes);
            let taken = |name: &str| self.types.contains_key(name) || self.env.types.contains_key(name);
            let name = fresh_name(&["t", "u", "v", "w", "s", "r"], &taken);
            self.types.insert(name.clone(), class);
            self.solver.types[k].bound = Some(Ty::Param(name.clone()));
            types.push((name, class));
        }
    }

    /// Makes parameters of the sizes that the left side leaves open. They have names, which the
    /// rule can't use.
    fn generalise_sizes(&mut self, sizes: &mut Vec<Name>) {
        for k in 0..self.solver.sizes.len() {
            if self.solver.sizes[k].bound.is_some() {
                continue;
            }
            let taken = |name: &str| sizes.iter().any(|s| s.as_str() == name) || self.is_bound(&name.into());
            let name = fresh_name(&["n", "m", "l", "k", "p", "q"], &taken);
            self.solver.sizes[k].bound = Some(Size::param(name.clone()));
            sizes.push(name);
        }
    }

    /// What the left side demands, as facts: a term that it fits has a type.
    fn assumed(&mut self) -> Vec<Fact> {
        let mut assumed = Vec::new();
        for equation in std::mem::take(&mut self.solver.equations) {
            let (left, right) = (self.solver.size(&equation.actual), self.solver.size(&equation.expected));
            if !self.solver.facts.equal(&left, &right) {
                assumed.push(Fact { kind: FactKind::Equal, left, right });
            }
        }
        for obligation in std::mem::take(&mut self.solver.obligations) {
            if self.solver.holds(&obligation) {
                continue;
            }
            let (left, right) = (self.solver.size(&obligation.left), self.solver.size(&obligation.right));
            let fact = Fact { kind: FactKind::AtMost, left, right };
            if !assumed.contains(&fact) {
                assumed.push(fact);
            }
        }
        assumed
    }
}

/// What a type is that is all of these.
fn strongest(classes: &[Class]) -> Option<Class> {
    let any = |wanted: &[Class]| classes.iter().any(|class| wanted.contains(class));
    Some(match () {
        () if any(&[Class::Int]) => Class::Int,
        () if any(&[Class::Float, Class::Fraction]) => Class::Float,
        () if any(&[Class::Plain]) => Class::Plain,
        () if any(&[Class::Num, Class::Literal]) => Class::Num,
        () if any(&[Class::Cast]) => Class::Cast,
        () => return None,
    })
}

/// The first of these names that is not taken, or the first with a number.
fn fresh_name(names: &[&str], taken: &dyn Fn(&str) -> bool) -> Name {
    match names.iter().find(|name| !taken(name)) {
        Some(name) => Name::new(*name),
        None => {
            let mut numbered = (1..).map(|k| Name::new(format!("{}{k}", names[0])));
            numbered.find(|name| !taken(name)).expect("there is a number that no name has")
        }
    }
}

/// The names that stand for sizes on the left side: in size arguments of primitives, and in types.
fn sizes_of_left(expr: &Expr, found: &mut BTreeMap<Name, Span>) {
    match &expr.kind {
        ExprKind::Apply(f, xs) => {
            let prim = match &f.kind {
                ExprKind::Name(name) => Prim::from_name(name),
                _ => None,
            };
            let sizes = prim.map_or(0, |prim| super::scheme::scheme(prim).explicit.len());
            sizes_of_left(f, found);
            for (k, x) in xs.iter().enumerate() {
                if k < sizes { names_of_size(x, found) } else { sizes_of_left(x, found) }
            }
        }
        ExprKind::Ascribe(e, ty) => {
            sizes_of_left(e, found);
            sizes_of_type(ty, found);
        }
        ExprKind::Index(f, xs) => {
            sizes_of_left(f, found);
            xs.iter().for_each(|x| sizes_of_left(x, found));
        }
        ExprKind::Pipe(a, b) | ExprKind::Binary(_, a, b) => {
            sizes_of_left(a, found);
            sizes_of_left(b, found);
        }
        ExprKind::Let(_, ty, a, b) => {
            ty.iter().for_each(|ty| sizes_of_type(ty, found));
            sizes_of_left(a, found);
            sizes_of_left(b, found);
        }
        ExprKind::Chain(first, rest) => {
            sizes_of_left(first, found);
            rest.iter().for_each(|(_, x)| sizes_of_left(x, found));
        }
        ExprKind::Lambda(_, e) | ExprKind::Unary(_, e) | ExprKind::Power(e, _) => sizes_of_left(e, found),
        ExprKind::If(a, b, c) => [a, b, c].into_iter().for_each(|x| sizes_of_left(x, found)),
        ExprKind::Tuple(xs) | ExprKind::Array(xs) => xs.iter().for_each(|x| sizes_of_left(x, found)),
        ExprKind::Field(e, _) => sizes_of_left(e, found),
        ExprKind::Record(fields, base) => {
            let parts = fields.iter().map(|(_, x)| x).chain(base.as_deref());
            parts.for_each(|x| sizes_of_left(x, found));
        }
        ExprKind::Name(_)
        | ExprKind::Number(_)
        | ExprKind::Bool(_)
        | ExprKind::Hole
        | ExprKind::Section(_)
        | ExprKind::Error => {}
    }
}

fn names_of_size(expr: &Expr, found: &mut BTreeMap<Name, Span>) {
    names(expr, &mut BTreeMap::new(), &mut |name, span| {
        found.entry(name.clone()).or_insert(span);
    });
}

fn sizes_of_type(ty: &Type, found: &mut BTreeMap<Name, Span>) {
    match &ty.kind {
        TypeKind::Idx(n) => names_of_size(n, found),
        TypeKind::Array(n, t) | TypeKind::Vector(n, t) => {
            names_of_size(n, found);
            sizes_of_type(t, found);
        }
        TypeKind::Pair(a, b) | TypeKind::Fun(a, b) => {
            sizes_of_type(a, found);
            sizes_of_type(b, found);
        }
        TypeKind::Name(_, sizes) => sizes.iter().for_each(|n| names_of_size(n, found)),
        TypeKind::Record(fields) => fields.iter().for_each(|(_, t)| sizes_of_type(t, found)),
        TypeKind::SizeFun(..) | TypeKind::Scalar(_) | TypeKind::Error => {}
    }
}
