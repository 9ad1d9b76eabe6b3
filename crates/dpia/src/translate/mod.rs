//! The translation proper: pending nodes are rewritten, one named rule a step, until only commands
//! are left.
//!
//! - `acceptor`: `A(e)(a)`, the rules `a.…`
//! - `continuation`: `C(e)(λx. c)`, the rules `c.…`
//! - `view`: reading one element of a delayed array (default mode)
//! - `expand`: the intermediate macros
//!
//! A step takes constant time: continuations are commands with a variable, and a variable is bound
//! in a table once. Not here: names and arrays of the output ([`crate::codegen`]).

mod acceptor;
mod continuation;
mod expand;
mod view_access;

use std::collections::{HashMap, HashSet};

use functional::{Binder, DataType, Definition, Prim, Term};
use loops::diagnostic::Span;
use loops::{BinaryOp, Code, Diagnostic, LoopKind, Name};

use crate::Mode;
use crate::derivation::{Bindings, Derivation, Phrase, RuleStep};
use crate::env::Env;
use crate::index;
use crate::info::Info;
use crate::phrase::{Acc, Comm, CommKind, Demand, Exp, ExpArg, ExpKind, Fun, PVar, Role};

pub(crate) type Result<T> = std::result::Result<T, Diagnostic>;

/// Accumulators of at most this many bytes are local even if the result could be the accumulator:
/// registers and the stack are faster.
const LOCAL_ACCUMULATOR: i64 = 16 * 1024;

/// Rule applications of one definition; programs of ten thousand combinators take about a tenth.
const STEP_LIMIT: usize = 2_000_000;

/// A rule that was applied: its name and what stands in place of the redex.
type Applied = Result<(&'static str, Comm)>;

/// The state of one translation.
pub(crate) struct Translator<'d> {
    pub mode: Mode,
    pub definition: &'d Definition,
    info: Info,
    bindings: Bindings,
    steps: Vec<RuleStep>,
    next: u32,
    taken: HashSet<Name>,
    names: HashMap<Name, u32>,
    /// The variable of the source, and the component of it, that a variable of phrases stands for.
    sources: HashMap<u32, (u32, Vec<Prim>)>,
    /// Parallel loops around the place that is being rewritten.
    parallel: u32,
    /// Sequential loops around it, without those of `iterate`: what a turn makes may be parallel.
    sequential: u32,
    /// What stands for the elements of `iterate`, and its loop variables.
    turns: HashSet<u32>,
}

impl<'d> Translator<'d> {
    pub fn new(definition: &'d Definition, mode: Mode) -> Translator<'d> {
        Translator {
            mode,
            definition,
            info: Info::of(definition),
            bindings: Bindings::default(),
            steps: Vec::new(),
            next: 0,
            taken: HashSet::new(),
            names: HashMap::new(),
            sources: HashMap::new(),
            parallel: 0,
            sequential: 0,
            turns: HashSet::new(),
        }
    }

    /// Variables for the parameters, and the environment of the body.
    pub fn parameters(&mut self) -> (Vec<(PVar, DataType)>, Env) {
        let mut env = Env::new();
        let mut vars = Vec::new();
        for param in &self.definition.params {
            let var = self.fresh("x", Some(&param.var.name), Role::Parameter);
            env = env.with(&param.var, Exp::var(&var, param.ty.clone()));
            vars.push((var, param.ty.clone()));
        }
        (vars, env)
    }

    pub fn finish(self) -> Derivation {
        Derivation { steps: self.steps, bindings: self.bindings }
    }

    /// A fresh variable. Readers see `user`, or otherwise `base`, with a number if that name is
    /// taken.
    pub fn fresh(&mut self, base: &str, user: Option<&Name>, role: Role) -> PVar {
        let id = self.next;
        self.next += 1;
        let stem = user.cloned().unwrap_or_else(|| Name::new(base));
        let mut name = stem.clone();
        while !self.taken.insert(name.clone()) {
            let count = self.names.entry(stem.clone()).or_insert(0);
            *count += 1;
            name = Name::new(format!("{stem}{count}"));
        }
        PVar { id, name, hint: user.cloned(), role }
    }

    /// A variable for the value that a continuation gets.
    fn value(&mut self) -> PVar {
        self.fresh("x", None, Role::Expression { many: false })
    }

    /// A variable for the argument of a function of the source.
    fn parameter(&mut self, binder: &Binder) -> PVar {
        let many = self.info.many(binder.var.id);
        let var = self.fresh("x", Some(&binder.var.name), Role::Expression { many });
        self.sources.insert(var.id, (binder.var.id, Vec::new()));
        var
    }

    fn loop_index(&mut self) -> PVar {
        self.fresh("i", None, Role::Index)
    }

    fn acceptor_variable(&mut self) -> PVar {
        self.fresh("o", None, Role::Acceptor)
    }

    fn memory(&mut self, base: &str, user: Option<&Name>) -> PVar {
        let mut var = self.fresh(base, user, Role::Memory);
        var.hint = Some(user.cloned().unwrap_or_else(|| Name::new(base)));
        var
    }

    fn paper(&self) -> bool {
        self.mode == Mode::Paper
    }

    /// Rewrites until nothing is pending.
    pub fn normalise(&mut self, comm: Comm) -> Result<Comm> {
        let mut comm = comm;
        loop {
            if self.steps.len() > STEP_LIMIT {
                return Err(Diagnostic::general(
                    Code("D0106"),
                    format!(
                        "the translation of `{}` takes more than {STEP_LIMIT} steps",
                        self.definition.name
                    ),
                )
                .note("arrays that are not stored are computed again at each read")
                .help("store an intermediate array with `toMem`"));
            }
            let (rule, after) = match comm.kind() {
                CommKind::A(e, a) => {
                    let e = self.resolve(e);
                    self.acceptor(&e, a)?
                }
                CommKind::C(e, demand, x, c) => {
                    let e = self.resolve(e);
                    self.continuation(&e, *demand, x, c)?
                }
                CommKind::Macro(m) => self.expand(m)?,
                CommKind::Bind(x, e, c) => {
                    let e = self.weighed(self.resolve(e));
                    self.bindings.set(x, e);
                    comm = c.clone();
                    continue;
                }
                CommKind::Share(x, e, c) => {
                    let e = self.resolve(e);
                    comm = self.share(x, &e, c)?;
                    continue;
                }
                CommKind::Branch(cond, a, b, then) => {
                    return self.branch(cond, a, b, then);
                }
                CommKind::Seq(a, b) => {
                    let a = self.normalise(a.clone())?;
                    return Ok(a.then(self.normalise(b.clone())?));
                }
                CommKind::New(v, ty, c) => {
                    let c = self.normalise(c.clone())?;
                    return Ok(CommKind::New(v.clone(), ty.clone(), c).into());
                }
                CommKind::Alias(v, a, c) => {
                    let c = self.normalise(c.clone())?;
                    return Ok(CommKind::Alias(v.clone(), a.clone(), c).into());
                }
                CommKind::Update(v, ty, o, c) => {
                    let c = self.normalise(c.clone())?;
                    return Ok(CommKind::Update(v.clone(), ty.clone(), o.clone(), c).into());
                }
                CommKind::SeqFor(kind, n, i, c) => {
                    let repeats = u32::from(!self.turns.contains(&i.id));
                    self.sequential += repeats;
                    let c = self.normalise(c.clone());
                    self.sequential -= repeats;
                    return Ok(CommKind::SeqFor(*kind, n.clone(), i.clone(), c?).into());
                }
                CommKind::ParFor { kind, n, out, index, o, body } => {
                    let threads = u32::from(*kind == LoopKind::Parallel);
                    self.parallel += threads;
                    let body = self.normalise(body.clone());
                    self.parallel -= threads;
                    let (kind, n, out) = (*kind, n.clone(), out.clone());
                    return Ok(CommKind::ParFor {
                        kind,
                        n,
                        out,
                        index: index.clone(),
                        o: o.clone(),
                        body: body?,
                    }
                    .into());
                }
                CommKind::ReduceFor(op, v, n, i, c) => {
                    self.parallel += 1;
                    let c = self.normalise(c.clone());
                    self.parallel -= 1;
                    return Ok(CommKind::ReduceFor(*op, v.clone(), n.clone(), i.clone(), c?).into());
                }
                CommKind::Yield(e) => return Ok(CommKind::Yield(self.resolve(e)).into()),
                CommKind::If(cond, a, b) => {
                    let cond = self.resolve(cond);
                    let (a, b) = (self.normalise(a.clone())?, self.normalise(b.clone())?);
                    return Ok(CommKind::If(cond, a, b).into());
                }
                CommKind::Skip | CommKind::Assign(..) | CommKind::Accumulate(..) => {
                    return Ok(comm);
                }
            };
            self.record(rule, &comm, &after);
            comm = after;
        }
    }

    pub fn record(&mut self, rule: &'static str, before: &Comm, after: &Comm) {
        let (before, after) = (Phrase::Comm(before.clone()), Phrase::Comm(after.clone()));
        self.steps.push(RuleStep { rule, before, after });
    }

    /// The expression with variables replaced by what they stand for.
    pub fn resolve(&self, exp: &Exp) -> Exp {
        resolve(&self.bindings, exp, !self.paper())
    }

    /// A function without other arguments, weighed with what the variables in it stand for.
    fn weighed(&self, e: Exp) -> Exp {
        match e.kind() {
            ExpKind::Prim(Prim::Generate, args) => {
                Exp::prim_in(&self.bindings, Prim::Generate, args.clone(), e.ty().clone())
            }
            _ => e,
        }
    }

    /// `C(e1)(λx1. … C(en)(λxn. body(x1 … xn)))`
    fn chain(&mut self, exps: Vec<(Exp, Demand)>, body: impl FnOnce(&mut Self, Vec<Exp>) -> Comm) -> Comm {
        let vars: Vec<PVar> = exps.iter().map(|_| self.value()).collect();
        let values = vars.iter().zip(&exps).map(|(x, (e, _))| Exp::var(x, e.ty().clone())).collect();
        let mut comm = body(self, values);
        for (x, (e, demand)) in vars.into_iter().zip(exps).rev() {
            comm = CommKind::C(e, demand, x, comm).into();
        }
        comm
    }

    /// `new (λtmp. A(e)(tmp.1); c)` with `x` standing for `tmp.2` in `c`.
    fn through_memory(&mut self, e: &Exp, x: &PVar, c: &Comm, hint: Option<&Name>) -> Comm {
        let ty = e.ty().clone();
        let tmp = self.memory("tmp", hint);
        let fill: Comm = CommKind::A(e.clone(), Acc::var(&tmp, ty.clone())).into();
        let rest: Comm = CommKind::Bind(x.clone(), Exp::var(&tmp, ty.clone()), c.clone()).into();
        CommKind::New(tmp, ty, CommKind::Seq(fill, rest).into()).into()
    }

    /// Lets `x` stand for the value. It goes through memory if it is read more than once and costs
    /// something.
    fn share(&mut self, x: &PVar, e: &Exp, c: &Comm) -> Result<Comm> {
        let many = matches!(x.role, Role::Expression { many: true });
        if !many || !e.costly() {
            return Ok(CommKind::Bind(x.clone(), e.clone(), c.clone()).into());
        }
        if let ExpKind::Prim(prim @ (Prim::Pair | Prim::Zip), args) = e.kind()
            && let [ExpArg::Exp(a), ExpArg::Exp(b)] = &args[..]
        {
            let (xa, xb) = (self.half(x, *prim, Prim::Fst), self.half(x, *prim, Prim::Snd));
            let parts = [&xa, &xb].into_iter().zip([a, b]);
            let parts = parts.map(|(x, e)| ExpArg::Exp(Exp::var(x, e.ty().clone()))).collect();
            let both = Exp::prim(*prim, parts, e.ty().clone());
            let rest: Comm = CommKind::Bind(x.clone(), both, c.clone()).into();
            let rest = CommKind::Share(xb, b.clone(), rest).into();
            return Ok(CommKind::Share(xa, a.clone(), rest).into());
        }
        let before = Comm::new(CommKind::Share(x.clone(), e.clone(), c.clone()));
        let after = self.through_memory(e, x, c, x.hint.as_ref());
        self.record("share", &before, &after);
        Ok(after)
    }

    /// A variable for one half of what `x` stands for.
    fn half(&mut self, x: &PVar, of: Prim, half: Prim) -> PVar {
        let source = self.sources.get(&x.id).cloned();
        let source = source.map(|(id, mut components)| {
            if of == Prim::Pair {
                components.push(half);
            }
            (id, components)
        });
        let many = source.as_ref().is_none_or(|(id, components)| self.info.many_at(*id, components));
        let var = self.fresh("x", None, Role::Expression { many });
        if let Some(source) = source {
            self.sources.insert(var.id, source);
        }
        var
    }

    /// The function applied to expressions: its body under the extended environment.
    fn apply(&self, f: &Fun, args: &[Exp]) -> Exp {
        let mut env = f.env.clone();
        for (param, arg) in f.params.iter().zip(args) {
            env = env.with(&param.var, arg.clone());
        }
        Exp::closure(&f.body, &env)
    }

    fn error(&self, code: &'static str, message: impl Into<String>, span: Span, label: &str) -> Diagnostic {
        Diagnostic::error(Code(code), message, span, label)
    }

    /// What should not happen on a term that the checker of the language accepts.
    fn ill_typed(&self, term: &Term) -> Diagnostic {
        self.error(
            "D0199",
            "this term is not well-typed",
            term.span(),
            "the translation has no rule for this",
        )
    }
}

/// The expression with variables replaced by what they stand for. `known` lets components of known
/// pairs be taken at once.
pub(crate) fn resolve(bindings: &Bindings, exp: &Exp, known: bool) -> Exp {
    if !exp.open() {
        return exp.clone();
    }
    match exp.kind() {
        ExpKind::Var(var) => match bindings.get(var) {
            Some(value) => resolve(bindings, value, known),
            None => exp.clone(),
        },
        ExpKind::Prim(prim, args) => {
            let args: Vec<ExpArg> = args
                .iter()
                .map(|arg| match arg {
                    ExpArg::Exp(e) => ExpArg::Exp(resolve(bindings, e, known)),
                    other => other.clone(),
                })
                .collect();
            let part = match (prim, &args[..]) {
                (Prim::Fst, [ExpArg::Exp(e)]) if known => e.first(),
                (Prim::Snd, [ExpArg::Exp(e)]) if known => e.second(),
                _ => None,
            };
            part.unwrap_or_else(|| Exp::prim_in(bindings, *prim, args, exp.ty().clone()))
        }
        ExpKind::Arith(op, a, b) => {
            let (a, b, ty) = (resolve(bindings, a, known), resolve(bindings, b, known), exp.ty());
            match (op, a.kind(), b.kind()) {
                (BinaryOp::Add, ..) => index::add(a, b, ty),
                (BinaryOp::Sub, ExpKind::Size(s), _) => index::size_minus(s, b, ty),
                (BinaryOp::Mul, _, ExpKind::Size(s)) => index::mul_size(a.clone(), s, ty),
                (BinaryOp::FloorDiv, _, ExpKind::Size(s)) => index::div_size(a.clone(), s, ty),
                (BinaryOp::Mod, _, ExpKind::Size(s)) => index::mod_size(a.clone(), s, ty),
                _ => Exp::arith(*op, a, b, ty.clone()),
            }
        }
        ExpKind::Literal(_) | ExpKind::Size(_) | ExpKind::Closure(..) => exp.clone(),
    }
}

/// Whether data of the type holds no array: a scalar, or pairs of such.
pub(crate) fn is_flat(ty: &DataType) -> bool {
    match ty {
        DataType::Scalar(_) | DataType::Idx(_) => true,
        DataType::Pair(a, b) => is_flat(a) && is_flat(b),
        DataType::Array(..) | DataType::Vector(..) => false,
    }
}

/// Bytes that data of the type takes, if that is a constant.
pub(crate) fn constant_bytes(ty: &DataType) -> Option<i64> {
    match ty {
        DataType::Scalar(s) => i64::try_from(s.bytes()).ok(),
        DataType::Idx(_) => Some(8),
        DataType::Pair(a, b) => constant_bytes(a)?.checked_add(constant_bytes(b)?),
        DataType::Array(n, t) => n.as_constant()?.checked_mul(constant_bytes(t)?),
        DataType::Vector(n, s) => n.as_constant()?.checked_mul(i64::try_from(s.bytes()).ok()?),
    }
}

/// Closures of the arguments of a primitive.
pub(crate) fn closures(args: &[functional::Arg], env: &Env) -> Vec<ExpArg> {
    args.iter()
        .map(|arg| match arg {
            functional::Arg::Size(s) => ExpArg::Size(s.clone()),
            functional::Arg::Fun(f) => {
                ExpArg::Fun(Fun { params: f.params.clone(), body: f.body.clone(), env: env.clone() })
            }
            functional::Arg::Term(t) => ExpArg::Exp(Exp::closure(t, env)),
        })
        .collect()
}
