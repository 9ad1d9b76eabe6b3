//! Unfolding: replaces all calls by bodies. Functions remain only as arguments of primitives, and
//! types and sizes are substituted.
//!
//! An argument becomes a `let` if it is used more than once or within a function, so that no work
//! is done twice. Names, numbers, components and views are substituted instead. Not here:
//! optimisation. Apart from this, what the user wrote is kept.

pub(crate) mod cheap;
mod env;
mod unfold;

use std::collections::BTreeMap;
use std::rc::Rc;

use loops::{Code, Diagnostic, Name, Scalar, Size, Span};

use crate::build::Supply;
use crate::checked::{Checked, Entry};
use crate::infer::TypedDef;
use crate::infer::inferred_types::{Class, HALF, Ty};
use crate::infer::node::{Bind, Node};
use crate::prim::Prim;
use crate::term::{Binder, Definition, Lambda, Term, TermKind};
use crate::types::DataType;
use env::Env;
pub(crate) use unfold::number;

/// Most steps of unfolding: a bound on the size of core forms, and on the time to make them.
const MAX_STEPS: usize = 1 << 20;
/// Deepest recursion of unfolding.
const MAX_DEPTH: usize = 50_000;

/// What an expression is while it is unfolded.
#[derive(Clone)]
enum Value<'c> {
    /// Data.
    Term(Term),
    /// A function that waits for arguments.
    Fun(Rc<Fun<'c>>),
}

/// A function with the arguments that it has already.
struct Fun<'c> {
    what: Callee<'c>,
    args: Vec<Value<'c>>,
}

#[derive(Clone)]
enum Callee<'c> {
    /// A lambda with what its free variables are.
    Lambda(&'c [Bind], &'c Node, Env<'c>, Frame<'c>),
    /// A primitive with its explicit sizes and the type after them.
    Prim(Prim, Rc<Vec<Size>>, &'c Ty, Frame<'c>),
    /// A definition.
    Def(Frame<'c>),
    /// A function of a term that a rule matched.
    Given(Rc<Lambda>),
}

/// One call of a definition.
#[derive(Clone)]
struct Frame<'c> {
    def: &'c TypedDef,
    instance: Rc<Instance>,
}

/// What the sizes and types of a definition are in one call.
#[derive(Default)]
struct Instance {
    sizes: BTreeMap<Name, Size>,
    types: BTreeMap<Name, DataType>,
    /// The call, if the definition stands in another file than the one that is asked for.
    foreign: Option<Span>,
}

impl Frame<'_> {
    fn size(&self, size: &Size) -> Size {
        if self.instance.sizes.is_empty() {
            return size.clone();
        }
        size.substitute(&|name| self.instance.sizes.get(name).cloned())
    }

    fn span(&self, span: Span) -> Span {
        self.instance.foreign.unwrap_or(span)
    }
}

/// The core form of a definition.
///
/// # Errors
/// If it has function parameters, a type does not satisfy its constraint, or the core form is too
/// large.
pub(crate) fn definition(
    checked: &Checked,
    entry: &Entry,
    types: &BTreeMap<Name, DataType>,
) -> Result<Definition, Diagnostic> {
    let def = &*entry.def;
    let signature = &def.signature;
    let instance = Instance { types: type_arguments(def, types)?, ..Instance::default() };
    let frame = Frame { def, instance: Rc::new(instance) };
    let mut unfolder = Unfolder {
        defs: &checked.defs,
        file: Some(entry.file),
        supply: Supply::new(),
        steps: 0,
        depth: 0,
        lets: Vec::new(),
    };
    let mut env = Env::default();
    let mut params = Vec::new();
    let mut ty = &signature.ty;
    for &local in &def.params {
        let Ty::Fun(param, rest) = ty else { break };
        let info = &def.locals[local as usize];
        let Some(data) = unfolder.data(param, &frame) else {
            return Err(not_alone(def, info.span, &format!("its parameter `{}` is a function", info.name)));
        };
        let binder = unfolder.binder(&info.name, data);
        env = env.with(local, Value::Term(var(&binder, info.span)));
        params.push(binder);
        ty = rest;
    }
    if unfolder.data(ty, &frame).is_none() {
        return Err(not_alone(def, def.span, "its result is a function"));
    }
    let body = unfolder.scope(|u| u.eval(&def.body, &frame, &env))?;
    Ok(Definition {
        name: signature.name.clone(),
        sizes: signature.sizes.clone(),
        facts: signature.facts.clone(),
        params,
        body,
        span: def.span,
    })
}

/// What a variable of a rule stands for.
#[derive(Clone, Debug)]
pub(crate) enum Given {
    /// Data.
    Term(Term),
    /// A function.
    Fun(Lambda),
}

/// What the sizes and types of a rule are at one place.
#[derive(Clone, Debug, Default)]
pub(crate) struct Assignment {
    pub(crate) sizes: BTreeMap<Name, Size>,
    pub(crate) types: BTreeMap<Name, DataType>,
}

/// A side of a rule, where its variables stand for these terms, in order. New terms come from
/// `span`.
///
/// # Errors
/// If the core form is too large, or a number does not fit its type.
pub(crate) fn instantiate(
    defs: &BTreeMap<Name, Entry>,
    side: &TypedDef,
    assignment: Assignment,
    given: &[Given],
    supply: &mut Supply,
    span: Span,
) -> Result<Term, Diagnostic> {
    let Assignment { sizes, types } = assignment;
    let frame = Frame { def: side, instance: Rc::new(Instance { sizes, types, foreign: Some(span) }) };
    let mut unfolder =
        Unfolder { defs, file: None, supply: supply.clone(), steps: 0, depth: 0, lets: Vec::new() };
    let term = unfolder.scope(|u| {
        let mut env = Env::default();
        for (local, value) in side.params.iter().zip(given) {
            let value = match value {
                Given::Term(term) => u.argument(*local, term.clone(), &frame),
                Given::Fun(f) => {
                    Value::Fun(Rc::new(Fun { what: Callee::Given(Rc::new(f.clone())), args: Vec::new() }))
                }
            };
            env = env.with(*local, value);
        }
        u.eval(&side.body, &frame, &env)
    })?;
    *supply = unfolder.supply;
    // A variable that was written several times has binders of its own in each place.
    Ok(crate::walk::refresh(&term, supply))
}

fn not_alone(def: &TypedDef, span: Span, reason: &str) -> Diagnostic {
    let message = format!("`{}` can't be compiled by itself: {reason}", def.signature.name);
    Diagnostic::error(Code("F0503"), message, span, "here")
        .help("compile a definition that calls this one and passes the functions")
}

fn type_arguments(
    def: &TypedDef,
    given: &BTreeMap<Name, DataType>,
) -> Result<BTreeMap<Name, DataType>, Diagnostic> {
    let mut types = BTreeMap::new();
    for (name, class) in &def.signature.types {
        let ty = match given.get(name) {
            None => class.unwrap_or(Class::Num).default().into(),
            Some(ty) => ty.clone(),
        };
        let fits = match (class, &ty) {
            (None, _) => true,
            (Some(class), DataType::Scalar(s)) => class.admits(*s),
            (Some(class), DataType::Vector(..)) => *class == Class::Num,
            (Some(class), DataType::Idx(_)) => *class == Class::Cast,
            (Some(_), _) => false,
        };
        if !fits {
            let class = class.map_or("data", Class::describe);
            let message =
                format!("the type `{name}` of `{}` must be {class}, not `{ty}`", def.signature.name);
            let diagnostic = Diagnostic::general(Code("F0507"), message);
            return Err(match ty {
                DataType::Scalar(Scalar::F16) => diagnostic.help(HALF),
                _ => diagnostic,
            });
        }
        types.insert(name.clone(), ty);
    }
    match given.keys().find(|name| !types.contains_key(*name)) {
        None => Ok(types),
        Some(name) => Err(Diagnostic::general(
            Code("F0507"),
            format!("`{}` has no type parameter `{name}`", def.signature.name),
        )),
    }
}

fn var(binder: &Binder, span: Span) -> Term {
    Term::new(TermKind::Var(binder.var.clone()), binder.ty.clone(), span)
}

struct Unfolder<'c> {
    defs: &'c BTreeMap<Name, Entry>,
    /// The file whose places in the source are kept, if it is one.
    file: Option<usize>,
    supply: Supply,
    steps: usize,
    depth: usize,
    /// Bindings that wait to be put around the term of the scope.
    lets: Vec<Vec<(Binder, Term)>>,
}

impl<'c> Unfolder<'c> {
    fn data(&self, ty: &Ty, frame: &Frame<'_>) -> Option<DataType> {
        ty.to_data(&|size| frame.size(size), &|name| frame.instance.types.get(name).cloned())
    }

    fn binder(&mut self, name: &Name, ty: DataType) -> Binder {
        self.supply.binder(name, ty)
    }

    /// Evaluates to a term, with the bindings that this needs around it.
    fn scope(
        &mut self,
        eval: impl FnOnce(&mut Self) -> Result<Value<'c>, Diagnostic>,
    ) -> Result<Term, Diagnostic> {
        self.lets.push(Vec::new());
        let value = eval(self);
        let lets = self.lets.pop().unwrap_or_default();
        match value? {
            Value::Term(term) => Ok(wrap(lets, term)),
            Value::Fun(_) => Err(self.broken(Span::default())),
        }
    }

    /// An invariant of inference does not hold.
    fn broken(&self, span: Span) -> Diagnostic {
        let message = "a function is where type inference found data; please report this program";
        Diagnostic::error(crate::check::MALFORMED, message, span, "here")
    }

    /// Counts a step of work at a place.
    fn step(&mut self, span: Span) -> Result<(), Diagnostic> {
        self.steps += 1;
        if self.steps > MAX_STEPS || self.depth > MAX_DEPTH {
            let (what, limit) = if self.steps > MAX_STEPS {
                ("takes more steps", MAX_STEPS)
            } else {
                ("is nested more deeply", MAX_DEPTH)
            };
            let message = format!("unfolding the calls {what} than {limit}");
            return Err(Diagnostic::error(Code("F0505"), message, span, "while unfolding this")
                .help("use `mapSeq`, `reduceSeq` or `iterate` for repetition instead of nested calls"));
        }
        Ok(())
    }
}

/// `let` around a term, the last binding innermost.
fn wrap(lets: Vec<(Binder, Term)>, term: Term) -> Term {
    lets.into_iter().rev().fold(term, |body, (binder, value)| {
        let (ty, span) = (body.ty().clone(), body.span());
        Term::new(TermKind::Let(binder, value, body), ty, span)
    })
}
