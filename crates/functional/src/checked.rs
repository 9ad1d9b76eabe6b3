//! From files to checked definitions: imports, the order of definitions, inference of each.
//!
//! No file is read here: the caller's loader does that.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, OnceLock};

use loops::suggest::nearest;
use loops::{Code, Diagnostic, Name, Span};

use crate::elaborate;
use crate::infer::{Env, Signature, TypedDef, infer_definition, infer_rule, infer_type};
use crate::prim::Prim;
use crate::rewrite::DefinedRule;
use crate::rewrite::defined::Prepared;
use crate::strategy::{self, Options, Strategies};
use crate::syntax::ast::{Def, Expr, ExprKind, Ident, Module, Pattern, StrategyText, TypeKind};
use crate::syntax::parse_module;
use crate::term::Definition;
use crate::types::DataType;

/// A source text with its tree.
#[derive(Clone, PartialEq, Debug)]
pub struct SourceFile {
    /// As the loader named it.
    pub name: String,
    /// Its text.
    pub text: String,
    /// What could be read of it.
    pub module: Module,
}

/// A file with all that it imports. Imported files come before their importer, so the last file is
/// the one asked for.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Sources {
    /// The files.
    pub files: Vec<SourceFile>,
    /// For each file, the indices of those it imports.
    imports: Vec<Vec<usize>>,
}

/// A diagnostic about one file of [`Sources`].
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FileDiagnostic {
    /// Index of the file.
    pub file: usize,
    /// What is wrong.
    pub diagnostic: Diagnostic,
}

/// Gives the name and text of the file that the file `from` (empty for the first one) names as
/// `path`.
pub(crate) type Loader<'l> = dyn FnMut(&str, &str) -> Result<(String, String), String> + 'l;

/// Files nested more deeply than this are not imported.
const MAX_IMPORTS: usize = 100;

/// Parses a text and, through the loader, all that it imports.
pub fn load(name: &str, text: &str, loader: &mut Loader<'_>) -> (Sources, Vec<FileDiagnostic>) {
    let mut state =
        Load { sources: Sources::default(), done: BTreeMap::new(), diagnostics: Vec::new(), loader };
    state.file(name.to_owned(), text.to_owned(), &mut Vec::new());
    (state.sources, state.diagnostics)
}

struct Load<'a, 'l> {
    sources: Sources,
    done: BTreeMap<String, usize>,
    diagnostics: Vec<FileDiagnostic>,
    loader: &'a mut Loader<'l>,
}

impl Load<'_, '_> {
    fn file(&mut self, name: String, text: String, open: &mut Vec<String>) -> usize {
        let (module, mut diagnostics) = parse_module(&text);
        open.push(name.clone());
        let mut imports = Vec::new();
        for import in &module.imports {
            match (self.loader)(&name, &import.path) {
                Err(reason) => diagnostics.push(Diagnostic::error(
                    Code("F0206"),
                    format!("`{}` can't be imported: {reason}", import.path),
                    import.span,
                    "imported here",
                )),
                Ok((found, _)) if open.contains(&found) || open.len() > MAX_IMPORTS => {
                    diagnostics.push(Diagnostic::error(
                        Code("F0206"),
                        format!("`{}` imports itself", import.path),
                        import.span,
                        "this import closes the circle",
                    ))
                }
                Ok((found, text)) => imports.push(match self.done.get(&found) {
                    Some(&index) => index,
                    None => self.file(found, text, open),
                }),
            }
        }
        open.pop();
        let file = self.sources.files.len();
        self.diagnostics
            .extend(diagnostics.into_iter().map(|diagnostic| FileDiagnostic { file, diagnostic }));
        self.done.insert(name.clone(), file);
        self.sources.files.push(SourceFile { name, text, module });
        self.sources.imports.push(imports);
        file
    }
}

/// A definition with its types, and the file that it stands in.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    pub(crate) def: Arc<TypedDef>,
    pub(crate) file: usize,
}

/// Definitions whose types and sizes are inferred.
#[derive(Clone, Debug, Default)]
pub struct Checked {
    /// By the keys of their signatures.
    pub(crate) defs: BTreeMap<Name, Entry>,
    /// The keys, in the order of the files.
    order: Vec<Name>,
    /// The key of what a name means in the file that was asked for.
    visible: BTreeMap<Name, Name>,
    strategies: Vec<(usize, StrategyText)>,
    rules: Vec<(usize, Arc<Prepared>)>,
    root: usize,
    /// All strategies, read once.
    set: OnceLock<Result<Strategies, Vec<Diagnostic>>>,
}

/// What can be said of a definition without unfolding it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Summary {
    /// Its name.
    pub name: Name,
    /// Size parameters.
    pub sizes: Vec<Name>,
    /// Type parameters.
    pub types: Vec<Name>,
    /// Names and types of its parameters, as text.
    pub params: Vec<(Name, String)>,
    /// The result's type, as text.
    pub result: String,
    /// Whether it can be compiled and run by itself: no parameter or result is a function.
    pub stands_alone: bool,
    /// The comment above it.
    pub doc: String,
    /// Where it stands in its file.
    pub span: Span,
    /// Index of its file in [`Sources`].
    pub file: usize,
}

/// Infers the types of one file that imports nothing.
///
/// # Errors
/// All that is wrong with it.
pub fn check_module(module: &Module) -> Result<Checked, Vec<Diagnostic>> {
    let mut diagnostics = Vec::new();
    for import in &module.imports {
        let message = format!("`{}` can't be imported: there is no loader", import.path);
        diagnostics.push(Diagnostic::error(Code("F0206"), message, import.span, "imported here"));
    }
    let mut checked = Checked::default();
    check_file(module, 0, Env::default(), &mut checked, &mut diagnostics);
    if diagnostics.is_empty() { Ok(checked) } else { Err(diagnostics) }
}

/// Infers the types of a file and of all that it imports.
///
/// # Errors
/// All that is wrong, by file.
pub fn check_sources(sources: &Sources) -> Result<Checked, Vec<FileDiagnostic>> {
    let mut checked = Checked { root: sources.files.len().saturating_sub(1), ..Checked::default() };
    let mut all = Vec::new();
    let mut envs: Vec<Env> = Vec::new();
    for (file, source) in sources.files.iter().enumerate() {
        let mut env = Env::default();
        for &import in &sources.imports[file] {
            import_definitions(&mut env, &envs[import], &checked, sources);
            env.types.extend(envs[import].types.clone());
            env.records.extend(envs[import].records.clone());
            env.failed.extend(envs[import].failed.iter().cloned());
        }
        let mut diagnostics = Vec::new();
        envs.push(check_file(&source.module, file, env, &mut checked, &mut diagnostics));
        all.extend(diagnostics.into_iter().map(|diagnostic| FileDiagnostic { file, diagnostic }));
    }
    if all.is_empty() { Ok(checked) } else { Err(all) }
}

/// Adds the definitions that a file exports. Two of one name must be told apart by those that use
/// them.
fn import_definitions(env: &mut Env, from: &Env, checked: &Checked, sources: &Sources) {
    let file = |signature: &Signature| {
        let entry = checked.defs.get(&signature.key);
        entry.and_then(|e| sources.files.get(e.file)).map_or_else(String::new, |f| f.name.clone())
    };
    for (name, signature) in &from.defs {
        match env.defs.get(name).filter(|other| other.key != signature.key) {
            Some(other) => {
                env.ambiguous.insert(name.clone(), [file(other), file(signature)]);
            }
            None => {
                env.defs.insert(name.clone(), signature.clone());
            }
        }
    }
    env.ambiguous.extend(from.ambiguous.clone());
}

fn check_file(
    module: &Module,
    file: usize,
    mut env: Env,
    checked: &mut Checked,
    diagnostics: &mut Vec<Diagnostic>,
) -> Env {
    checked.strategies.extend(module.strategies.iter().map(|s| (file, s.clone())));
    for def in &module.types {
        if env.types.contains_key(&def.name.name) {
            let message = format!("the type `{}` is defined twice", def.name.name);
            diagnostics.push(Diagnostic::error(Code("F0202"), message, def.name.span, "defined again"));
        }
        match infer_type(&env, def) {
            Ok(ty) => {
                env.types.insert(def.name.name.clone(), ty);
                if let TypeKind::Record(fields) = &def.body.kind {
                    let fields = fields.iter().map(|(field, _)| field.name.clone()).collect();
                    env.records.insert(def.name.name.clone(), fields);
                }
            }
            Err(errors) => diagnostics.extend(errors),
        }
    }
    let mut by_name: BTreeMap<&Name, &Def> = BTreeMap::new();
    for def in &module.defs {
        let name = &def.name;
        if let Some(first) = by_name.get(&name.name) {
            let message = format!("`{}` is defined twice", name.name);
            let error = Diagnostic::error(Code("F0202"), message, name.span, "defined again");
            diagnostics.push(error.context(first.name.span, "first defined here"));
        } else {
            by_name.insert(&name.name, def);
        }
    }
    let mut strategies: BTreeMap<&Name, Span> = BTreeMap::new();
    for text in &module.strategies {
        let name = &text.name;
        let again = |message| Diagnostic::error(Code("F0202"), message, name.span, "defined again");
        if let Some(first) = strategies.insert(&name.name, name.span) {
            let message = format!("the strategy `{}` is defined twice", name.name);
            diagnostics.push(again(message).context(first, "first defined here"));
        }
        let schedule =
            || strategy::parse(&name.name, &text.text, 0).is_ok_and(|named| named.target.is_some());
        if let Some(def) = by_name.get(&name.name).filter(|_| schedule()) {
            let message = format!("the schedule `{}` has the name of a definition", name.name);
            diagnostics.push(again(message).context(def.name.span, "the definition"));
        }
    }
    rule_names(module, &strategies, diagnostics);
    definitions(&by_name, file, &mut env, checked, diagnostics);
    for rule in &module.rules {
        match infer_rule(&env, rule) {
            Ok(typed) => match Prepared::new(typed) {
                Ok(prepared) => checked.rules.push((file, Arc::new(prepared))),
                Err(error) => diagnostics.push(error),
            },
            Err(errors) => diagnostics.extend(errors),
        }
    }
    let place = |key: &Name| checked.defs.get(key).map_or((0, 0), |e| (e.file, e.def.span.start));
    checked.order.sort_by_key(place);
    checked.visible = env.defs.iter().map(|(name, found)| (name.clone(), found.key.clone())).collect();
    diagnostics.sort_by_key(|d| d.labels.first().map_or(0, |l| l.span.start));
    env
}

/// Infers the definitions of a file, each after those that it uses.
fn definitions(
    by_name: &BTreeMap<&Name, &Def>,
    file: usize,
    env: &mut Env,
    checked: &mut Checked,
    diagnostics: &mut Vec<Diagnostic>,
) {
    // What a definition hides is what its name means in its own body.
    let hidden: BTreeSet<Name> = by_name
        .keys()
        .filter(|name| Prim::from_name(name).is_some() || env.defs.contains_key(**name))
        .map(|name| (*name).clone())
        .collect();
    for def in in_order(by_name, &hidden, diagnostics, &mut env.failed) {
        let name = &def.name.name;
        match infer_definition(env, def) {
            Ok(mut typed) => {
                if checked.defs.contains_key(name) {
                    let key = Name::new(format!("{name}@{file}"));
                    typed.signature = Arc::new(Signature { key, ..(*typed.signature).clone() });
                }
                let key = typed.signature.key.clone();
                env.defs.insert(name.clone(), typed.signature.clone());
                env.ambiguous.remove(name);
                checked.order.push(key.clone());
                checked.defs.insert(key, Entry { def: Arc::new(typed), file });
            }
            Err(errors) => {
                diagnostics.extend(errors);
                env.defs.remove(name);
                env.failed.insert(name.clone());
            }
        }
    }
}

/// Refuses two rules of one name, and a rule with the name of a strategy.
fn rule_names(module: &Module, strategies: &BTreeMap<&Name, Span>, diagnostics: &mut Vec<Diagnostic>) {
    let mut rules: BTreeMap<&Name, Span> = BTreeMap::new();
    for Ident { name, span } in module.rules.iter().map(|rule| &rule.name) {
        let again = |message| Diagnostic::error(Code("F0202"), message, *span, "defined again");
        if let Some(first) = rules.insert(name, *span) {
            let message = format!("the rule `{name}` is defined twice");
            diagnostics.push(again(message).context(first, "first defined here"));
        }
        if let Some(strategy) = strategies.get(name) {
            let message = format!("the rule `{name}` has the name of a strategy");
            diagnostics.push(again(message).context(*strategy, "the strategy"));
        }
    }
}

/// Sorts the definitions so that each comes after those that it uses. Definitions that use
/// themselves are reported and left out.
fn in_order<'d>(
    defs: &BTreeMap<&'d Name, &'d Def>,
    hidden: &BTreeSet<Name>,
    diagnostics: &mut Vec<Diagnostic>,
    failed: &mut BTreeSet<Name>,
) -> Vec<&'d Def> {
    #[derive(Clone, Copy, PartialEq)]
    enum State {
        Open,
        Done,
    }
    let mut state: BTreeMap<&Name, State> = BTreeMap::new();
    let mut order = Vec::new();
    for &start in defs.values() {
        if state.contains_key(&start.name.name) {
            continue;
        }
        let mut stack = vec![(start, uses(start, defs, hidden))];
        state.insert(&start.name.name, State::Open);
        while let Some((def, pending)) = stack.last_mut() {
            let def = *def;
            let Some((used, span)) = pending.pop() else {
                state.insert(&def.name.name, State::Done);
                if !failed.contains(&def.name.name) {
                    order.push(def);
                }
                stack.pop();
                continue;
            };
            match state.get(&used.name.name) {
                Some(State::Done) => {}
                Some(State::Open) => {
                    let message = format!("`{}` is defined by itself", used.name.name);
                    diagnostics.push(
                        Diagnostic::error(Code("F0506"), message, span, "this use closes the circle")
                            .context(used.name.span, "defined here")
                            .help("repetition is written with `reduceSeq`, `mapSeq` or `iterate`"),
                    );
                    failed.insert(def.name.name.clone());
                    failed.insert(used.name.name.clone());
                }
                None => {
                    state.insert(&used.name.name, State::Open);
                    stack.push((used, uses(used, defs, hidden)));
                }
            }
        }
    }
    order
}

/// The definitions that a definition's body names, in reverse order. Its own name is that of what
/// it hides there, if it hides something.
fn uses<'d>(def: &Def, defs: &BTreeMap<&'d Name, &'d Def>, hidden: &BTreeSet<Name>) -> Vec<(&'d Def, Span)> {
    let mut found: BTreeMap<&Name, (&'d Def, Span)> = BTreeMap::new();
    let own = def.params.iter().map(|p| &p.name).chain(&def.sizes);
    let mut bound: BTreeMap<&Name, usize> = own.map(|ident| (&ident.name, 1)).collect();
    names(&def.body, &mut bound, &mut |name, span| {
        let outer = *name == def.name.name && hidden.contains(name);
        if let Some((name, def)) = defs.get_key_value(name).filter(|_| !outer) {
            found.entry(name).or_insert((def, span));
        }
    });
    found.into_values().rev().collect()
}

/// Visits every name of an expression that no pattern of the expression binds.
pub(crate) fn names<'e>(
    expr: &'e Expr,
    bound: &mut BTreeMap<&'e Name, usize>,
    visit: &mut dyn FnMut(&'e Name, Span),
) {
    match &expr.kind {
        ExprKind::Name(name) => {
            if bound.get(name).is_none_or(|n| *n == 0) {
                visit(name, expr.span);
            }
        }
        ExprKind::Number(_) | ExprKind::Bool(_) | ExprKind::Hole | ExprKind::Section(_) | ExprKind::Error => {
        }
        ExprKind::Apply(f, xs) | ExprKind::Index(f, xs) => {
            names(f, bound, visit);
            for x in xs {
                names(x, bound, visit);
            }
        }
        ExprKind::Pipe(a, b) | ExprKind::Binary(_, a, b) => {
            names(a, bound, visit);
            names(b, bound, visit);
        }
        ExprKind::Chain(first, rest) => {
            names(first, bound, visit);
            for (_, operand) in rest {
                names(operand, bound, visit);
            }
        }
        ExprKind::Unary(_, a) | ExprKind::Ascribe(a, _) | ExprKind::Power(a, _) => names(a, bound, visit),
        ExprKind::If(a, b, c) => {
            for e in [a, b, c] {
                names(e, bound, visit);
            }
        }
        ExprKind::Field(a, _) => names(a, bound, visit),
        ExprKind::Record(fields, base) => {
            for part in fields.iter().map(|(_, part)| part).chain(base.as_deref()) {
                names(part, bound, visit);
            }
        }
        ExprKind::Tuple(parts) | ExprKind::Array(parts) => {
            for part in parts {
                names(part, bound, visit);
            }
        }
        ExprKind::Lambda(patterns, body) => {
            patterns.iter().for_each(|p| pattern_names(p, &mut |n| *bound.entry(n).or_insert(0) += 1));
            names(body, bound, visit);
            patterns.iter().for_each(|p| pattern_names(p, &mut |n| *bound.entry(n).or_insert(1) -= 1));
        }
        ExprKind::Let(pattern, _, value, body) => {
            names(value, bound, visit);
            pattern_names(pattern, &mut |n| *bound.entry(n).or_insert(0) += 1);
            names(body, bound, visit);
            pattern_names(pattern, &mut |n| *bound.entry(n).or_insert(1) -= 1);
        }
    }
}

fn pattern_names<'e>(pattern: &'e Pattern, visit: &mut dyn FnMut(&'e Name)) {
    match pattern {
        Pattern::Name(ident) => visit(&ident.name),
        Pattern::Ignore(_) => {}
        Pattern::Tuple(parts, _) => parts.iter().for_each(|p| pattern_names(p, visit)),
        Pattern::Record(parts, _) => parts.iter().for_each(|(_, p)| pattern_names(p, visit)),
    }
}

impl Checked {
    /// What a name means in the file that was asked for.
    fn entry(&self, name: &str) -> Option<&Entry> {
        self.defs.get(self.visible.get(name)?)
    }

    /// Summaries of the definitions: those of the imported files first, each file in its order.
    pub fn definitions(&self) -> Vec<Summary> {
        self.order.iter().filter_map(|name| self.defs.get(name)).map(summary).collect()
    }

    /// The strategies of the library and of the program, by name.
    ///
    /// # Errors
    /// What is wrong with their texts.
    pub fn strategy_set(&self) -> Result<&Strategies, Vec<Diagnostic>> {
        let read = || {
            let strategies = Strategies::with(self.strategies.iter().map(|(file, text)| {
                let span = (*file == self.root).then_some(text.span);
                (&text.name.name, text.text.as_str(), span)
            }))?;
            Ok(strategies.with_rules(self.defined_rules()))
        };
        self.set.get_or_init(read).as_ref().map_err(Clone::clone)
    }

    /// The rules of all files, in their order.
    fn defined_rules(&self) -> Vec<DefinedRule> {
        let defs = Arc::new(if self.rules.is_empty() { BTreeMap::new() } else { self.defs.clone() });
        let rule = |(file, rule): &(usize, Arc<Prepared>)| {
            DefinedRule::new(rule.clone(), defs.clone(), *file == self.root)
        };
        self.rules.iter().map(rule).collect()
    }

    /// The rules of the file that was asked for, in its order.
    pub fn own_rules(&self) -> Vec<DefinedRule> {
        self.defined_rules().into_iter().filter(DefinedRule::is_own).collect()
    }

    /// The definition that a strategy of this name is for (`strategy NAME = for DEFINITION: ...`),
    /// if it is a schedule and no definition has its name.
    pub fn schedule_target(&self, name: &str) -> Option<Name> {
        if self.entry(name).is_some() {
            return None;
        }
        let (_, text) = self.strategies.iter().rev().find(|(_, text)| text.name.name.as_str() == name)?;
        strategy::parse(&text.name.name, &text.text, 0).ok()?.target
    }

    /// The definitions of the file that was asked for.
    pub fn own_definitions(&self) -> Vec<Summary> {
        self.definitions().into_iter().filter(|d| d.file == self.root).collect()
    }

    /// The core form of a definition. Type parameters become their defaults: `f32`, or `i64` where
    /// they must be integers.
    ///
    /// # Errors
    /// If there is no such definition, it can't stand alone, or its core form is too large.
    pub fn elaborate(&self, name: &str) -> Result<Definition, Vec<Diagnostic>> {
        self.elaborate_at(name, &BTreeMap::new())
    }

    /// The core form of a definition with these types for its type parameters; the others become
    /// their defaults.
    ///
    /// # Errors
    /// As [`Checked::elaborate`], and if a type does not satisfy its constraint or no parameter has
    /// that name.
    pub fn elaborate_at(
        &self,
        name: &str,
        types: &BTreeMap<Name, DataType>,
    ) -> Result<Definition, Vec<Diagnostic>> {
        if let Some(target) = self.schedule_target(name) {
            let definition = self.elaborate_at(&target, types)?;
            let outcome = self.strategy_set()?.schedule(name, &definition, Options::default());
            return outcome.map(|outcome| outcome.definition).map_err(|d| vec![d]);
        }
        let Some(entry) = self.entry(name) else {
            let mut diagnostic =
                Diagnostic::general(Code("F0504"), format!("there is no definition `{name}`"));
            diagnostic = match nearest(name, self.visible.keys().map(Name::as_str)) {
                Some(near) => diagnostic.help(format!("did you mean `{near}`?")),
                None => {
                    let names: Vec<String> = self
                        .own_definitions()
                        .iter()
                        .filter(|d| d.stands_alone)
                        .map(|d| format!("`{}`", d.name))
                        .take(20)
                        .collect();
                    diagnostic.help(format!("definitions of this file: {}", names.join(", ")))
                }
            };
            return Err(vec![diagnostic]);
        };
        elaborate::definition(self, entry, types).map_err(|d| vec![d])
    }
}

fn summary(entry: &Entry) -> Summary {
    use crate::infer::inferred_types::{Ty, show};
    let def = &entry.def;
    let mut params = Vec::new();
    let mut ty = &def.signature.ty;
    let mut stands_alone = true;
    for local in &def.params {
        let Ty::Fun(param, rest) = ty else { break };
        stands_alone &= !matches!(**param, Ty::Fun(..));
        params.push((def.locals[*local as usize].name.clone(), show(param)));
        ty = rest;
    }
    Summary {
        name: def.signature.name.clone(),
        sizes: def.signature.sizes.clone(),
        types: def.signature.types.iter().map(|(t, _)| t.clone()).collect(),
        params,
        result: show(ty),
        stands_alone: stands_alone && !matches!(ty, Ty::Fun(..)),
        doc: def.doc.clone(),
        span: def.span,
        file: entry.file,
    }
}
