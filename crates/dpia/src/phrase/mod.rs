//! The phrases of the imperative language (the paper, section 2.1): expressions, acceptors,
//! commands, paths.
//!
//! Phrases are plain values with shared nodes. Besides the final commands there are *pending* ones,
//! which rules rewrite: `A(e)(a)`, `C(e)(λx. c)` and the intermediate macros. Functional terms
//! occur inside expressions as closures. The translation has a table of bindings: it says for which
//! expression a bound variable stands. So nothing is ever substituted.
//!
//! Not here: the rules (`translate`), names in the output (`codegen`).

mod comm;

use std::sync::Arc;

use functional::{Arg, Binder, DataType, Group, Literal, Prim, Term, TermKind};
use loops::{BinaryOp, Name, Scalar, Size};

use crate::derivation::Bindings;
use crate::env::Env;
use crate::info::stores;

pub use comm::{Comm, CommKind, Demand, Folding, Macro, Then};

/// A variable of phrases: of a continuation, of a loop, or of memory.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct PVar {
    /// Unique in one translation.
    pub id: u32,
    /// Unique in one translation too: for readers.
    pub name: Name,
    /// What the user called it, if anything: names in the output come from it.
    pub hint: Option<Name>,
    /// What it stands for.
    pub role: Role,
}

/// What a variable of phrases stands for.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Role {
    /// For an expression, by the table of bindings; whether it is read more than once.
    Expression {
        /// More than one read, or a read inside a function.
        many: bool,
    },
    /// For memory that the caller owns: a parameter or the result.
    Parameter,
    /// For memory that `new` declares.
    Memory,
    /// For the index of a loop.
    Index,
    /// For an acceptor that is given when a loop or an update is reached.
    Acceptor,
}

/// An expression: the *read* half of data (`exp t`).
#[derive(Clone, PartialEq, Debug)]
pub struct Exp(Arc<ExpNode>);

#[derive(PartialEq, Debug)]
struct ExpNode {
    kind: ExpKind,
    ty: DataType,
    delayed: bool,
    open: bool,
    /// The cost of a read beyond that of a load: branches of views, sums of indices, functions
    /// between. `None` if there is arithmetic.
    weight: Option<u32>,
}

/// The forms of expressions.
#[derive(Clone, PartialEq, Debug)]
pub enum ExpKind {
    /// A variable: of memory (its read half), of a loop, or one that stands for an expression.
    Var(PVar),
    /// A constant.
    Literal(Literal),
    /// The value of a size.
    Size(Size),
    /// A functional term that no rule has reached yet, with what its variables stand for.
    Closure(Term, Env),
    /// A primitive applied to expressions. A `map` or `generate` here is a view that is computed
    /// when it is read.
    Prim(Prim, Vec<ExpArg>),
    /// Index arithmetic that views make.
    Arith(BinaryOp, Exp, Exp),
}

/// An argument of a primitive in an expression.
#[derive(Clone, PartialEq, Debug)]
pub enum ExpArg {
    /// A size.
    Size(Size),
    /// A function with what its free variables stand for.
    Fun(Fun),
    /// An expression.
    Exp(Exp),
}

/// A function closure.
#[derive(Clone, Debug)]
pub struct Fun {
    /// Parameters.
    pub params: Vec<Binder>,
    /// Body.
    pub body: Term,
    /// What the other variables of the body stand for.
    pub env: Env,
}

impl PartialEq for Fun {
    fn eq(&self, other: &Fun) -> bool {
        self.params == other.params && self.body == other.body && self.env.same(&other.env)
    }
}

impl PartialEq for Env {
    fn eq(&self, other: &Env) -> bool {
        self.same(other)
    }
}

/// One step into data: the paper's `Aidx` and `Sacc`.
#[derive(Clone, PartialEq, Debug)]
pub enum Step {
    /// `[i]`
    At(Exp),
    /// `.x1`
    First,
    /// `.x2`
    Second,
}

/// An acceptor: the *write* half of data (`acc t`).
#[derive(Clone, PartialEq, Debug)]
pub struct Acc(Arc<AccNode>);

#[derive(PartialEq, Debug)]
struct AccNode {
    kind: AccKind,
    ty: DataType,
}

/// The forms of acceptors.
#[derive(Clone, PartialEq, Debug)]
pub enum AccKind {
    /// The write half of a variable.
    Var(PVar),
    /// `a{i}` (`idxAcc a i`)
    At(Acc, Exp),
    /// `view a`: what is written through it lands in `a`.
    View(AccView, Acc),
}

/// Views of acceptors, named after the expression that they receive: data of `split` is written
/// through `splitAcc`.
#[derive(Clone, PartialEq, Debug)]
pub enum AccView {
    /// First components of an array of pairs.
    Zip1,
    /// Second components of an array of pairs.
    Zip2,
    /// `acc [m][n]t -> acc [n*m]t`
    Split(Size),
    /// `acc [n*m]t -> acc [m][n]t`
    Join(Size),
    /// First component.
    Pair1,
    /// Second component.
    Pair2,
    /// `acc [n][m]t -> acc [m][n]t`
    Transpose,
    /// Last element first.
    Reverse(Size),
    /// The first elements of a longer array.
    Take,
    /// All but this many elements in front.
    Drop(Size),
    /// `acc ([n]s, [n]t) -> acc [n](s, t)`
    Unzip,
    /// `acc [m](vec k t) -> acc [k*m]t`
    AsVector(Size),
    /// `acc [k*m]t -> acc [m](vec k t)`
    AsScalar(Size),
    /// A view of every element.
    Map(Box<AccView>),
}

/// The largest weight of an expression that may be read more than once instead of being stored.
/// Otherwise chains of views in which each level reads the one before twice would double at each
/// level.
const LIGHT: u32 = 8;

/// Terms of a function that are looked at; larger ones count as arithmetic.
const LOOK: u32 = 64;

fn add(a: u32, b: Option<u32>) -> Option<u32> {
    b.map(|b| a.saturating_add(b))
}

/// The weight of a primitive applied to arguments.
fn weigh(bindings: &Bindings, prim: Prim, args: &[ExpArg]) -> Option<u32> {
    let own = match prim.info().group {
        // The value of an index takes no more than the index.
        Group::Scalar
            if prim == Prim::ToI64
                && matches!(args, [ExpArg::Exp(i)] if matches!(i.ty(), DataType::Idx(_))) =>
        {
            0
        }
        Group::Scalar if !matches!(prim, Prim::Zero | Prim::One) => return None,
        Group::Index if prim != Prim::Index => 1,
        _ if matches!(prim, Prim::Concat | Prim::Pad | Prim::PadClamp) => 1,
        _ => 0,
    };
    args.iter().try_fold(own, |weight, arg| match arg {
        ExpArg::Exp(e) => add(weight, e.0.weight),
        ExpArg::Fun(f) => add(weight, rearranges(bindings, &f.body, &f.env, &mut LOOK.clone())),
        ExpArg::Size(_) => Some(weight),
    })
}

/// The weight of a function that only rearranges its argument, with what it reads around it. Each
/// read counts one.
fn rearranges(bindings: &Bindings, body: &Term, env: &Env, fuel: &mut u32) -> Option<u32> {
    *fuel = fuel.checked_sub(1)?;
    match body.kind() {
        TermKind::Var(v) => match env.get(v) {
            Some(e) => match e.kind() {
                ExpKind::Var(var) => add(1, bindings.get(var).map_or(Some(0), |value| value.0.weight)),
                _ => add(1, e.0.weight),
            },
            None => Some(1),
        },
        TermKind::Literal(_) | TermKind::Size(_) => Some(0),
        TermKind::Let(..) => None,
        TermKind::Prim(prim, args) => {
            let cheap = match prim.info().group {
                Group::Pair | Group::Index | Group::Layout => !stores(*prim),
                Group::Scalar => matches!(prim, Prim::Zero | Prim::One),
                Group::Pattern => matches!(
                    prim,
                    Prim::MapSeq
                        | Prim::MapPar
                        | Prim::MapVec
                        | Prim::MapUnroll
                        | Prim::Generate
                        | Prim::Iota
                ),
                Group::Vector => true,
                Group::Memory => false,
            };
            if !cheap {
                return None;
            }
            args.iter().try_fold(0, |weight, arg| match arg {
                Arg::Size(_) => Some(weight),
                Arg::Fun(f) => add(weight, rearranges(bindings, &f.body, env, fuel)),
                Arg::Term(t) => add(weight, rearranges(bindings, t, env, fuel)),
            })
        }
    }
}

fn delayed_arg(arg: &ExpArg) -> bool {
    match arg {
        ExpArg::Exp(e) => e.delayed(),
        ExpArg::Size(_) | ExpArg::Fun(_) => false,
    }
}

impl Exp {
    fn make(kind: ExpKind, ty: DataType) -> Exp {
        Exp::make_in(&Bindings::default(), kind, ty)
    }

    /// What variables stand for counts in the weight of functions that read them.
    fn make_in(bindings: &Bindings, kind: ExpKind, ty: DataType) -> Exp {
        let delayed = match &kind {
            ExpKind::Prim(prim, args) => {
                args.iter().any(|arg| matches!(arg, ExpArg::Fun(_)))
                    || *prim == Prim::Generate
                    || args.iter().any(delayed_arg)
            }
            _ => false,
        };
        let open = match &kind {
            ExpKind::Var(var) => matches!(var.role, Role::Expression { .. }),
            ExpKind::Prim(_, args) => args.iter().any(|arg| matches!(arg, ExpArg::Exp(e) if e.open())),
            ExpKind::Arith(_, a, b) => a.open() || b.open(),
            ExpKind::Literal(_) | ExpKind::Size(_) | ExpKind::Closure(..) => false,
        };
        let weight = match &kind {
            ExpKind::Prim(prim, args) => weigh(bindings, *prim, args),
            ExpKind::Arith(_, a, b) => {
                Some(1).and_then(|w| add(w, a.0.weight)).and_then(|w| add(w, b.0.weight))
            }
            ExpKind::Closure(..) => None,
            ExpKind::Var(_) | ExpKind::Literal(_) | ExpKind::Size(_) => Some(0),
        };
        Exp(Arc::new(ExpNode { kind, ty, delayed, open, weight }))
    }

    /// A variable.
    pub fn var(var: &PVar, ty: DataType) -> Exp {
        Exp::make(ExpKind::Var(var.clone()), ty)
    }

    /// A constant.
    pub fn literal(value: Literal) -> Exp {
        Exp::make(ExpKind::Literal(value), DataType::Scalar(value.scalar()))
    }

    /// The value of a size, as an index or an `i64`.
    pub fn size(size: Size, ty: DataType) -> Exp {
        Exp::make(ExpKind::Size(size), ty)
    }

    /// A term under an environment; what is a variable or a constant already is resolved at once.
    pub fn closure(term: &Term, env: &Env) -> Exp {
        match term.kind() {
            TermKind::Var(var) => match env.get(var) {
                Some(exp) => exp.clone(),
                None => Exp::make(ExpKind::Closure(term.clone(), env.clone()), term.ty().clone()),
            },
            TermKind::Literal(value) => Exp::literal(*value),
            TermKind::Size(size) => Exp::size(size.clone(), term.ty().clone()),
            _ => Exp::make(ExpKind::Closure(term.clone(), env.clone()), term.ty().clone()),
        }
    }

    /// A primitive applied to expressions.
    pub fn prim(prim: Prim, args: Vec<ExpArg>, ty: DataType) -> Exp {
        Exp::make(ExpKind::Prim(prim, args), ty)
    }

    /// A primitive applied to expressions, weighed with what variables stand for.
    pub(crate) fn prim_in(bindings: &Bindings, prim: Prim, args: Vec<ExpArg>, ty: DataType) -> Exp {
        Exp::make_in(bindings, ExpKind::Prim(prim, args), ty)
    }

    /// Index arithmetic; see [`crate::index`] for the simplifying constructors.
    pub fn arith(op: BinaryOp, left: Exp, right: Exp, ty: DataType) -> Exp {
        Exp::make(ExpKind::Arith(op, left, right), ty)
    }

    /// Its form.
    pub fn kind(&self) -> &ExpKind {
        &self.0.kind
    }

    /// Its data type.
    pub fn ty(&self) -> &DataType {
        &self.0.ty
    }

    /// Whether it holds a function that is applied when it is read.
    pub fn delayed(&self) -> bool {
        self.0.delayed
    }

    /// Whether reading it takes arithmetic, or so many branches and sums of indices that one would
    /// not read it twice.
    pub(crate) fn costly(&self) -> bool {
        self.0.weight.is_none_or(|weight| weight > LIGHT)
    }

    /// Whether a variable in it stands for an expression.
    pub fn open(&self) -> bool {
        self.0.open
    }

    /// Whether both are one node in memory.
    pub fn same_node(&self, other: &Exp) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    /// `self[i]`; `None` if it is neither an array nor a vector.
    pub fn at(&self, index: Exp) -> Option<Exp> {
        let elem = element(self.ty())?;
        Some(Exp::prim(Prim::Index, vec![ExpArg::Exp(self.clone()), ExpArg::Exp(index)], elem))
    }

    /// `Fst self`, or the component itself where it is known; `None` if it is no pair.
    pub fn first(&self) -> Option<Exp> {
        let DataType::Pair(first, _) = self.ty() else { return None };
        if let ExpKind::Prim(Prim::Pair, args) = self.kind()
            && let [ExpArg::Exp(a), _] = &args[..]
        {
            return Some(a.clone());
        }
        Some(Exp::prim(Prim::Fst, vec![ExpArg::Exp(self.clone())], (**first).clone()))
    }

    /// `Snd self`, or the component itself where it is known; `None` if it is no pair.
    pub fn second(&self) -> Option<Exp> {
        let DataType::Pair(_, second) = self.ty() else { return None };
        if let ExpKind::Prim(Prim::Pair, args) = self.kind()
            && let [_, ExpArg::Exp(b)] = &args[..]
        {
            return Some(b.clone());
        }
        Some(Exp::prim(Prim::Snd, vec![ExpArg::Exp(self.clone())], (**second).clone()))
    }

    /// The expression after one step of a path.
    pub fn step(&self, step: &Step) -> Option<Exp> {
        match step {
            Step::At(i) => self.at(i.clone()),
            Step::First => self.first(),
            Step::Second => self.second(),
        }
    }
}

/// The type of elements of an array, or of lanes of a vector.
pub fn element(ty: &DataType) -> Option<DataType> {
    match ty {
        DataType::Array(_, elem) => Some((**elem).clone()),
        DataType::Vector(_, scalar) => Some(DataType::Scalar(*scalar)),
        _ => None,
    }
}

/// The length of an array or vector.
pub fn length(ty: &DataType) -> Option<&Size> {
    match ty {
        DataType::Array(n, _) | DataType::Vector(n, _) => Some(n),
        _ => None,
    }
}

/// The scalar type that holds values of a scalar data type; indices are `i64`.
pub fn scalar_of(ty: &DataType) -> Option<Scalar> {
    match ty {
        DataType::Scalar(s) => Some(*s),
        DataType::Idx(_) => Some(Scalar::I64),
        _ => None,
    }
}

impl Acc {
    /// The write half of a variable.
    pub fn var(var: &PVar, ty: DataType) -> Acc {
        Acc(Arc::new(AccNode { kind: AccKind::Var(var.clone()), ty }))
    }

    /// `self{i}`; `None` if it is neither an array nor a vector.
    pub fn at(&self, index: Exp) -> Option<Acc> {
        let ty = element(self.ty())?;
        Some(Acc(Arc::new(AccNode { kind: AccKind::At(self.clone(), index), ty })))
    }

    /// The acceptor of the given type that writes through a view.
    pub fn view(&self, view: AccView, ty: DataType) -> Acc {
        Acc(Arc::new(AccNode { kind: AccKind::View(view, self.clone()), ty }))
    }

    /// `pairAcc1 self`
    pub fn first(&self) -> Option<Acc> {
        let DataType::Pair(first, _) = self.ty() else { return None };
        Some(self.view(AccView::Pair1, (**first).clone()))
    }

    /// `pairAcc2 self`
    pub fn second(&self) -> Option<Acc> {
        let DataType::Pair(_, second) = self.ty() else { return None };
        Some(self.view(AccView::Pair2, (**second).clone()))
    }

    /// Its form.
    pub fn kind(&self) -> &AccKind {
        &self.0.kind
    }

    /// The type of what it accepts.
    pub fn ty(&self) -> &DataType {
        &self.0.ty
    }
}
