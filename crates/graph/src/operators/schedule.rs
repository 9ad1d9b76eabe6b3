//! Execution strategies for the programs of operators: which loops are parallel, and which matrix
//! products are in register tiles.
//!
//! The definition of an operator has no strategy. For C, [`compiled`] builds the same operator with
//! its contractions in register tiles (`tiles.rs`; additions keep their order). Where an extent is
//! a name, it calls the library's fast products. Then it gives a kind to every loop that has none.
//! One level is parallel: the outermost that has enough work. The rest is sequential.

use functional::build::{self, Supply};
use functional::{Arg, DataType, Definition, Lambda, Prim, Term, TermKind, walk};
use loops::{Diagnostic, Registers, Size};

use super::{After, Call, Cut, Meaning};

/// Loops that compute fewer numbers than this are not worth starting threads.
const WORTH_THREADS: f64 = 32_768.0;

/// What a symbolic extent is taken for where work is estimated: a name may stand for a product of
/// extents, and the parallel loop tests when it runs whether it has enough work.
const TYPICAL: f64 = 65_536.0;

/// The program of a call with an execution strategy. C is made from it. It computes the same as
/// [`super::meaning`], to the last bit.
///
/// # Errors
/// As [`super::meaning`].
pub fn compiled(call: &Call<'_>, registers: Registers) -> Result<Meaning, Diagnostic> {
    compiled_with(call, &After::default(), Some(registers), &Cut::default())
}

/// The same, with the elementwise operators that are fused with it. The tensors that these read are
/// inputs after those of the call. Without registers contractions keep their plain loops.
///
/// # Errors
/// As [`super::meaning`].
pub fn compiled_with(
    call: &Call<'_>,
    after: &After,
    registers: Option<Registers>,
    cut: &Cut,
) -> Result<Meaning, Diagnostic> {
    let mut meaning = super::build_program(call, registers, after, cut)?;
    meaning.definition = schedule(&meaning.definition);
    Ok(meaning)
}

/// The definition with a kind for every loop.
pub fn schedule(definition: &Definition) -> Definition {
    let mut pass = Pass { supply: Supply::above(definition) };
    let body = pass.spine(&definition.body, true);
    Definition { body: sequential(&body), ..definition.clone() }
}

/// `map` and `reduce` without a kind become sequential.
fn sequential(term: &Term) -> Term {
    let term = walk::map_children(term, |_, child| sequential(child));
    match term.kind() {
        TermKind::Prim(Prim::Map, args) => same(&term, Prim::MapSeq, args.clone()),
        TermKind::Prim(Prim::Reduce, args) => same(&term, Prim::ReduceSeq, args.clone()),
        _ => term,
    }
}

fn same(term: &Term, prim: Prim, args: Vec<Arg>) -> Term {
    Term::new(TermKind::Prim(prim, args), term.ty().clone(), term.span())
}

/// How many scalar operations a term may take, roughly.
fn work(term: &Term) -> f64 {
    let extent = |n: &Size| n.as_constant().map_or(TYPICAL, |n| n.max(0) as f64);
    let length = |ty: &DataType| match ty {
        DataType::Array(n, _) => extent(n),
        _ => 1.0,
    };
    match term.kind() {
        TermKind::Var(_) | TermKind::Literal(_) | TermKind::Size(_) => 0.0,
        TermKind::Let(_, value, body) => work(value) + work(body),
        TermKind::Prim(_, args) => {
            let times = match (args.first(), args.last()) {
                (Some(Arg::Fun(_)), Some(Arg::Term(xs))) => length(xs.ty()),
                (Some(Arg::Size(n)), Some(Arg::Fun(_))) => extent(n),
                _ => 1.0,
            };
            let inner: f64 = args
                .iter()
                .map(|arg| match arg {
                    Arg::Size(_) => 0.0,
                    Arg::Fun(f) => times * work(&f.body),
                    Arg::Term(t) => work(t),
                })
                .sum();
            1.0 + inner
        }
    }
}

/// Whether a term has parallel loops of its own.
fn has_parallel(term: &Term) -> bool {
    match term.kind() {
        TermKind::Prim(Prim::MapPar | Prim::ReducePar | Prim::TransPar, _) => true,
        _ => walk::children(term).into_iter().any(|(_, child)| has_parallel(child)),
    }
}

/// Whether a term is a loop of a known number of iterations that threads may share.
fn is_wide(term: &Term) -> bool {
    match term.kind() {
        TermKind::Prim(Prim::Generate, args) => {
            let known = |arg: &Arg| matches!(arg, Arg::Size(n) if n.as_constant().is_some_and(|n| n >= 4));
            args.first().is_some_and(known) && work(term) >= WORTH_THREADS
        }
        _ => false,
    }
}

struct Pass {
    supply: Supply,
}

impl Pass {
    /// The terms whose loops are loops of the result, from the outside in.
    fn spine(&mut self, term: &Term, threads: bool) -> Term {
        match term.kind() {
            TermKind::Let(binder, value, body) => {
                let value = match value.kind() {
                    TermKind::Prim(Prim::ToMem, _) => self.spine(value, threads),
                    _ => value.clone(),
                };
                let body = self.spine(body, threads);
                Term::new(TermKind::Let(binder.clone(), value, body), term.ty().clone(), term.span())
            }
            TermKind::Prim(Prim::Generate, args) => {
                let [Arg::Size(n), Arg::Fun(f)] = &args[..] else { return term.clone() };
                let single = n.as_constant() == Some(1);
                let parallel = threads && !single && work(term) >= WORTH_THREADS;
                // If there are few rows to distribute, inner products start their own threads.
                // A name may be as few.
                let few = match n.as_constant() {
                    Some(n) => n < 4 && has_parallel(&f.body),
                    None => has_parallel(&f.body) || is_wide(&f.body),
                };
                let (prim, inner) = match parallel && !few {
                    true => (Prim::MapPar, false),
                    false => (Prim::MapSeq, threads && (single || few)),
                };
                let body = self.spine(&f.body, inner);
                let indices = self.indices(n);
                let f = Lambda { params: f.params.clone(), body };
                same(term, prim, vec![Arg::Fun(f), Arg::Term(indices)])
            }
            TermKind::Prim(
                prim @ (Prim::ToMem
                | Prim::Pair
                | Prim::Join
                | Prim::Split
                | Prim::Concat
                | Prim::Take
                | Prim::Drop),
                args,
            ) => {
                let args = args
                    .iter()
                    .map(|arg| match arg {
                        Arg::Term(t) => Arg::Term(self.spine(t, threads)),
                        other => other.clone(),
                    })
                    .collect();
                same(term, *prim, args)
            }
            _ => term.clone(),
        }
    }

    /// All indices below `n`.
    fn indices(&mut self, n: &Size) -> Term {
        let i = self.supply.binder("i", DataType::Idx(n.clone()));
        let ty = DataType::array(n.clone(), i.ty.clone());
        let f = Lambda { body: build::var(&i), params: vec![i] };
        let args = vec![Arg::Size(n.clone()), Arg::Fun(f)];
        Term::new(TermKind::Prim(Prim::Generate, args), ty, Default::default())
    }
}
