//! Left sides of rules as patterns of core terms.
//!
//! A pattern has the form that unfolding gives a term: functions are written out, pairs are taken
//! apart by `fst` and `snd`. A variable below a lambda is applied to those of its parameters that
//! what it stands for may depend on. So a match is unique (patterns of Miller). A component of a
//! parameter may stand for a parameter.

use std::collections::BTreeMap;

use loops::{Diagnostic, Size, Span};

use crate::infer::inferred_types::Ty;
use crate::infer::node::{Bind, Local, Node, NodeKind};
use crate::infer::{TypedDef, UNMATCHABLE};
use crate::prim::Prim;
use crate::syntax::ast::NumberValue;

/// A parameter of a lambda of a pattern, or a component of one.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Place {
    /// The number of the parameter.
    pub bound: usize,
    /// The way to the component: which halves of pairs.
    pub path: Vec<Half>,
}

/// A half of a pair.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Half {
    First,
    Second,
}

impl Half {
    pub fn prim(self) -> Prim {
        match self {
            Half::First => Prim::Fst,
            Half::Second => Prim::Snd,
        }
    }
}

/// What a term is compared with.
#[derive(Clone, Debug)]
pub(super) struct Pattern {
    pub kind: PatternKind,
    pub ty: Ty,
}

#[derive(Clone, Debug)]
pub(super) enum PatternKind {
    /// A variable of the rule, by its number, of these parameters.
    Var(usize, Vec<Place>),
    Bound(Place),
    Size(Size),
    Number(NumberValue),
    Truth(bool),
    Let(Parameter, Box<[Pattern; 2]>),
    Prim(Prim, Vec<PatternArg>),
}

/// An argument of a primitive.
#[derive(Clone, Debug)]
pub(super) enum PatternArg {
    Size(Size),
    Fun(Vec<Parameter>, Pattern),
    Term(Pattern),
}

/// A variable that the pattern binds, by its number.
#[derive(Clone, Debug)]
pub(super) struct Parameter {
    pub bound: usize,
    pub ty: Ty,
}

/// The pattern of the left side of a rule.
///
/// # Errors
/// `S0201` at what can't be matched.
pub(super) fn pattern(left: &TypedDef) -> Result<Pattern, Diagnostic> {
    let mut lowering = Lowering { left, bounds: 0 };
    let env = left.params.iter().zip(0..).map(|(local, k)| (*local, Bound::Variable(k))).collect();
    lowering.data(&left.body, &env)
}

#[derive(Clone)]
enum Bound {
    Variable(usize),
    Place(Place),
}

type Env = BTreeMap<Local, Bound>;

/// What a tree is.
enum Lowered<'n> {
    Data(Pattern),
    Fun(Fun<'n>),
}

/// A function with the arguments that it has already.
struct Fun<'n> {
    head: Head<'n>,
    ty: &'n Ty,
    args: Vec<Lowered<'n>>,
}

enum Head<'n> {
    Prim(Prim, &'n [Size]),
    Variable(usize),
    Lambda(&'n [Bind], &'n Node, Env),
}

struct Lowering<'n> {
    left: &'n TypedDef,
    bounds: usize,
}

type Outcome<T> = Result<T, Diagnostic>;

fn refuse<T>(message: impl Into<String>, span: Span, help: &str) -> Outcome<T> {
    Err(Diagnostic::error(UNMATCHABLE, message, span, "not on the left side of a rule").help(help))
}

impl<'n> Lowering<'n> {
    fn fresh(&mut self, ty: &Ty) -> Parameter {
        self.bounds += 1;
        Parameter { bound: self.bounds - 1, ty: ty.clone() }
    }

    fn data(&mut self, node: &'n Node, env: &Env) -> Outcome<Pattern> {
        match self.lower(node, env)? {
            Lowered::Data(pattern) => Ok(pattern),
            Lowered::Fun(_) => refuse("a function stands where data is matched", node.span, GIVE_ARGUMENTS),
        }
    }

    fn lower(&mut self, node: &'n Node, env: &Env) -> Outcome<Lowered<'n>> {
        let data = |kind| Ok(Lowered::Data(Pattern { kind, ty: node.ty.clone() }));
        match &node.kind {
            NodeKind::Local(local) => match env.get(local) {
                Some(Bound::Variable(k)) if matches!(node.ty, Ty::Fun(..)) => {
                    Ok(Lowered::Fun(Fun { head: Head::Variable(*k), ty: &node.ty, args: Vec::new() }))
                }
                Some(Bound::Variable(k)) => data(PatternKind::Var(*k, Vec::new())),
                Some(Bound::Place(place)) => Ok(Lowered::Data(self.place(place, &node.ty))),
                None => refuse("a function that `let` binds can't be matched", node.span, WRITE_OUT),
            },
            NodeKind::Number(value) => data(PatternKind::Number(value.clone())),
            NodeKind::Bool(value) => data(PatternKind::Truth(*value)),
            NodeKind::Size(size) => data(PatternKind::Size(size.clone())),
            NodeKind::Prim(prim, sizes) if matches!(node.ty, Ty::Fun(..)) => {
                Ok(Lowered::Fun(Fun { head: Head::Prim(*prim, sizes), ty: &node.ty, args: Vec::new() }))
            }
            NodeKind::Prim(prim, sizes) => {
                data(PatternKind::Prim(*prim, sizes.iter().cloned().map(PatternArg::Size).collect()))
            }
            NodeKind::Apply(function, args) => {
                let Lowered::Fun(function) = self.lower(function, env)? else {
                    return refuse("this is applied, and is data", node.span, WRITE_OUT);
                };
                let args = args.iter().map(|arg| self.lower(arg, env)).collect::<Outcome<Vec<_>>>()?;
                self.apply(function, args, node.span)
            }
            NodeKind::Lambda(binds, body) => {
                let head = Head::Lambda(binds, body, env.clone());
                Ok(Lowered::Fun(Fun { head, ty: &node.ty, args: Vec::new() }))
            }
            NodeKind::Let(bind, value, body) => {
                let value = self.data(value, env)?;
                let parameter = self.fresh(&value.ty);
                let mut inner = env.clone();
                self.bind(bind, Place { bound: parameter.bound, path: Vec::new() }, &mut inner);
                let body = self.data(body, &inner)?;
                data(PatternKind::Let(parameter, Box::new([value, body])))
            }
            NodeKind::Chain(first, rest) => {
                let mut sum = self.data(first, env)?;
                for (prim, operand) in rest {
                    let args = vec![PatternArg::Term(sum), PatternArg::Term(self.data(operand, env)?)];
                    sum = Pattern { kind: PatternKind::Prim(*prim, args), ty: node.ty.clone() };
                }
                Ok(Lowered::Data(sum))
            }
            NodeKind::Array(_) => refuse("an array of its elements can't be matched", node.span, WRITE_OUT),
            NodeKind::Power(..) => refuse("a power can't be matched", node.span, "write the products"),
            NodeKind::Def(..) | NodeKind::Error => {
                refuse("a call of a definition can't be matched", node.span, WRITE_OUT)
            }
        }
    }

    fn place(&self, place: &Place, ty: &Ty) -> Pattern {
        Pattern { kind: PatternKind::Bound(place.clone()), ty: ty.clone() }
    }

    fn bind(&self, bind: &Bind, place: Place, env: &mut Env) {
        match bind {
            Bind::Ignore => {}
            Bind::Local(local) => {
                env.insert(*local, Bound::Place(place));
            }
            Bind::Pair(a, b) => {
                for (half, bind) in [(Half::First, a), (Half::Second, b)] {
                    let mut part = place.clone();
                    part.path.push(half);
                    self.bind(bind, part, env);
                }
            }
        }
    }

    fn apply(&mut self, function: Fun<'n>, more: Vec<Lowered<'n>>, span: Span) -> Outcome<Lowered<'n>> {
        let Fun { head, ty, mut args } = function;
        args.extend(more);
        let (params, result) = match &head {
            // Parameters of a lambda that are left out are those of its body.
            Head::Lambda(binds, ..) => parts(ty, binds.len()),
            _ => parts(ty, usize::MAX),
        };
        if args.len() < params.len() {
            return Ok(Lowered::Fun(Fun { head, ty, args }));
        }
        match head {
            Head::Prim(prim, sizes) => {
                let mut all: Vec<PatternArg> = sizes.iter().cloned().map(PatternArg::Size).collect();
                for (arg, param) in args.into_iter().zip(params) {
                    all.push(match arg {
                        Lowered::Data(pattern) => PatternArg::Term(pattern),
                        Lowered::Fun(f) => self.written_out(f, param, span)?,
                    });
                }
                // `fst` and `snd` of a parameter are components of it.
                if let (Some(half), [PatternArg::Term(Pattern { kind: PatternKind::Bound(place), .. })]) =
                    (half_of(prim), &all[..])
                {
                    let mut part = place.clone();
                    part.path.push(half);
                    return Ok(Lowered::Data(self.place(&part, result)));
                }
                Ok(Lowered::Data(Pattern { kind: PatternKind::Prim(prim, all), ty: result.clone() }))
            }
            Head::Variable(k) => {
                let name = &self.left.locals[self.left.params[k] as usize].name;
                let mut places: Vec<Place> = Vec::new();
                for arg in args {
                    let Lowered::Data(Pattern { kind: PatternKind::Bound(place), .. }) = arg else {
                        let message = format!("`{name}` is applied to what no lambda of the pattern binds");
                        return refuse(message, span, ONLY_PARAMETERS);
                    };
                    let overlaps = |other: &Place| {
                        other.bound == place.bound
                            && (other.path.starts_with(&place.path) || place.path.starts_with(&other.path))
                    };
                    if places.iter().any(overlaps) {
                        let message = format!("`{name}` is applied twice to the same");
                        return refuse(message, span, ONLY_PARAMETERS);
                    }
                    places.push(place);
                }
                Ok(Lowered::Data(Pattern { kind: PatternKind::Var(k, places), ty: result.clone() }))
            }
            Head::Lambda(binds, body, env) => {
                let mut inner = env;
                for (bind, arg) in binds.iter().zip(args) {
                    match arg {
                        Lowered::Data(Pattern { kind: PatternKind::Bound(place), .. }) => {
                            self.bind(bind, place, &mut inner);
                        }
                        _ => return refuse("a lambda is applied here", span, WRITE_OUT),
                    }
                }
                self.lower(body, &inner)
            }
        }
    }

    /// A function as an argument: with parameters for all that it waits for.
    fn written_out(&mut self, f: Fun<'n>, ty: &Ty, span: Span) -> Outcome<PatternArg> {
        let (types, _) = parts(ty, usize::MAX);
        let params: Vec<Parameter> = types.into_iter().map(|ty| self.fresh(ty)).collect();
        let args = params
            .iter()
            .map(|p| Lowered::Data(self.place(&Place { bound: p.bound, path: Vec::new() }, &p.ty)));
        let mut body = Lowered::Fun(f);
        for arg in args.collect::<Vec<_>>() {
            let Lowered::Fun(f) = body else {
                return refuse("a function of too few parameters", span, WRITE_OUT);
            };
            body = self.apply(f, vec![arg], span)?;
        }
        match body {
            Lowered::Data(pattern) => Ok(PatternArg::Fun(params, pattern)),
            Lowered::Fun(_) => refuse("a function stands where data is matched", span, GIVE_ARGUMENTS),
        }
    }
}

const WRITE_OUT: &str = "write the term out, as `--emit functional` prints it";
const GIVE_ARGUMENTS: &str = "give the function all its arguments";
const ONLY_PARAMETERS: &str = "a variable of the left side is applied to different parameters of the \
                               lambdas around it, as in `\\x -> f x`: what depends on `x`";

fn half_of(prim: Prim) -> Option<Half> {
    match prim {
        Prim::Fst => Some(Half::First),
        Prim::Snd => Some(Half::Second),
        _ => None,
    }
}

/// The types of at most so many parameters, and what is left.
fn parts(ty: &Ty, most: usize) -> (Vec<&Ty>, &Ty) {
    let (mut params, mut rest) = (Vec::new(), ty);
    while let Ty::Fun(param, result) = rest
        && params.len() < most
    {
        params.push(&**param);
        rest = result;
    }
    (params, rest)
}

impl Pattern {
    /// Every type and every size argument, outer ones first.
    pub fn visit(&self, visit: &mut dyn FnMut(Seen<'_>)) {
        visit(Seen::Type(&self.ty));
        match &self.kind {
            PatternKind::Var(..) | PatternKind::Bound(_) | PatternKind::Number(_) | PatternKind::Truth(_) => {
            }
            PatternKind::Size(size) => visit(Seen::Size(size)),
            PatternKind::Let(_, parts) => parts.iter().for_each(|part| part.visit(visit)),
            PatternKind::Prim(_, args) => {
                for arg in args {
                    match arg {
                        PatternArg::Size(size) => visit(Seen::Size(size)),
                        PatternArg::Fun(params, body) => {
                            params.iter().for_each(|p| visit(Seen::Type(&p.ty)));
                            body.visit(visit);
                        }
                        PatternArg::Term(pattern) => pattern.visit(visit),
                    }
                }
            }
        }
    }
}

/// What a pattern compares.
pub(super) enum Seen<'p> {
    Type(&'p Ty),
    Size(&'p Size),
}
