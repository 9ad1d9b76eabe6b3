//! Parallel reductions, scans and reductions by index, written out over blocks of their arrays.
//!
//! The blocks do not depend on the number of threads, so neither do results, not in a bit. What
//! comes out is what the program means: evaluation, translation and certificates all take these
//! terms. That it is the value of the sequential pattern where the function associates is a lemma
//! (`proofs/Blocks.v`).
//!
//! `reducePar` of a single operation on numbers is none of these: see `is_single`.

use loops::{Data, Scalar, Size};

use crate::build::{self, Built, Supply};
use crate::eval::{Limits, evaluate};
use crate::prim::Prim;
use crate::term::{Arg, Definition, Lambda, Term, TermKind};
use crate::types::DataType;
use crate::walk;

/// Elements of a block where they are numbers or pairs of such.
const FLAT_BLOCK: i64 = 1024;

/// Elements of a block where they are arrays.
const ARRAY_BLOCK: i64 = 64;

/// Blocks of a reduction by index, each with a copy of the result.
const COPIES: i64 = 32;

/// The definition without patterns over blocks; `None` if it has none.
pub fn written_out(definition: &Definition) -> Option<Definition> {
    if !has_blocks(&definition.body) {
        return None;
    }
    let mut supply = Supply::above(definition);
    let body = write_out(&definition.body, &mut supply);
    Some(Definition { body, ..definition.clone() })
}

/// Whether `reducePar` with this function is a loop over private accumulators: a single number, and
/// `\x a -> g x (+) a` with an operation whose order does not matter.
pub fn is_single(f: &Lambda) -> bool {
    let [_, a] = &f.params[..] else { return false };
    let TermKind::Prim(prim, args) = f.body.kind() else { return false };
    let [Arg::Term(left), Arg::Term(right)] = &args[..] else { return false };
    let number = !matches!(a.ty, DataType::Pair(..) | DataType::Array(..));
    let op = matches!(prim, Prim::Add | Prim::Mul | Prim::Min | Prim::Max | Prim::And | Prim::Or);
    let alone = |t: &Term| matches!(t.kind(), TermKind::Var(v) if *v == a.var);
    let rest = match (alone(left), alone(right)) {
        (false, true) => left,
        (true, false) => right,
        _ => return false,
    };
    number && op && !walk::mentions(rest, &a.var)
}

fn in_blocks(prim: Prim, args: &[Arg]) -> bool {
    match (prim, args) {
        (Prim::ScanPar | Prim::ReduceByIndexPar, _) => true,
        (Prim::ReducePar, [Arg::Fun(f), ..]) => {
            matches!(&f.params[..], [x, a] if x.ty == a.ty) && !is_single(f)
        }
        _ => false,
    }
}

fn has_blocks(term: &Term) -> bool {
    let here = matches!(term.kind(), TermKind::Prim(prim, args) if in_blocks(*prim, args));
    here || walk::children(term).into_iter().any(|(_, child)| has_blocks(child))
}

/// The innermost first. What cannot be built stays as it is: a later stage says what is wrong.
fn write_out(term: &Term, supply: &mut Supply) -> Term {
    let term = walk::map_children(term, |_, child| write_out(child, supply));
    let TermKind::Prim(prim, args) = term.kind() else { return term };
    if !in_blocks(*prim, args) {
        return term;
    }
    let built = match (prim, &args[..]) {
        (Prim::ReducePar, [Arg::Fun(f), Arg::Term(init), Arg::Term(xs)]) => reduce(f, init, xs, supply),
        (Prim::ScanPar, [Arg::Fun(f), Arg::Term(init), Arg::Term(xs)]) => scan(f, init, xs, supply),
        (
            Prim::ReduceByIndexPar,
            [Arg::Size(m), Arg::Fun(f), Arg::Term(zero), Arg::Term(is), Arg::Term(xs)],
        ) => by_index(m, f, zero, is, xs, supply),
        _ => return term,
    };
    built.unwrap_or(term)
}

/// The number of full blocks of an array, and their length.
fn blocks_of(xs: &Term) -> (Size, Size) {
    let DataType::Array(n, t) = xs.ty() else { return Default::default() };
    let k = Size::constant(if is_flat(t) { FLAT_BLOCK } else { ARRAY_BLOCK });
    (n.div(&k), k)
}

fn is_flat(ty: &DataType) -> bool {
    match ty {
        DataType::Pair(a, b) => is_flat(a) && is_flat(b),
        DataType::Array(..) => false,
        DataType::Scalar(_) | DataType::Idx(_) | DataType::Vector(..) => true,
    }
}

/// The function again, with variables of its own.
fn again(f: &Lambda, supply: &mut Supply) -> Lambda {
    walk::refresh_lambda(f, supply)
}

/// `let ys = xs in body ys`
fn with(xs: &Term, supply: &mut Supply, body: impl FnOnce(&mut Supply, Term) -> Built) -> Built {
    let ys = supply.binder("ys", xs.ty().clone());
    let body = body(supply, build::var(&ys))?;
    build::let_in(ys, xs.clone(), body)
}

/// `toMem (mapPar (\ys -> reduceSeq f ys[0] (drop 1 ys)) (split k (take (k * q) xs)))`
fn totals(f: &Lambda, xs: Term, q: &Size, k: &Size, supply: &mut Supply) -> Built {
    let blocks = build::split(k.clone(), build::take(k.clone() * q.clone(), xs)?)?;
    let DataType::Array(_, block) = blocks.ty().clone() else { return Ok(blocks) };
    let f = again(f, supply);
    let total = supply.lambda1("ys", (*block).clone(), |_, ys| {
        let first = build::at(ys.clone(), build::index(Size::constant(0), k.clone()))?;
        build::reduce(Prim::ReduceSeq, f, first, build::drop_first(1, ys)?)
    })?;
    build::to_mem(build::map(Prim::MapPar, total, blocks)?)
}

/// `reduceSeq f (reduceSeq f init totals) (drop (k * q) xs)`
fn reduce(f: &Lambda, init: &Term, xs: &Term, supply: &mut Supply) -> Built {
    let (q, k) = blocks_of(xs);
    let (f1, f2) = (again(f, supply), again(f, supply));
    let head = totals(f, xs.clone(), &q, &k, supply)?;
    let head = build::reduce(Prim::ReduceSeq, f1, init.clone(), head)?;
    let rest = build::drop_first(k * q, walk::refresh(xs, supply))?;
    build::reduce(Prim::ReduceSeq, f2, head, rest)
}

/// `let starts = toMem (pad 1 0 init (scanSeq f init totals))` and then `toMem (concat all last)`,
/// where `all` is `join (mapPar (\(s, ys) -> scanSeq f s ys) (zip starts blocks))` and `last` is
/// `scanSeq f starts[q] rest`.
fn scan(f: &Lambda, init: &Term, xs: &Term, supply: &mut Supply) -> Built {
    let (q, k) = blocks_of(xs);
    with(init, supply, |supply, init| {
        with(xs, supply, |supply, xs| {
            let [f1, f2, f3] = [(); 3].map(|()| again(f, supply));
            let totals = totals(f, xs.clone(), &q, &k, supply)?;
            let after = build::reduce(Prim::ScanSeq, f1, init.clone(), totals)?;
            let starts = build::to_mem(build::pad(Size::constant(1), Size::constant(0), init, after)?)?;
            with(&starts, supply, |supply, starts| {
                let covered = k.clone() * q.clone();
                let blocks = build::split(k.clone(), build::take(covered.clone(), xs.clone())?)?;
                let pairs = build::zip(build::take(q.clone(), starts.clone())?, blocks)?;
                let DataType::Array(_, pair) = pairs.ty().clone() else { return Ok(pairs) };
                let one = supply.lambda1("p", (*pair).clone(), |_, p| {
                    build::reduce(Prim::ScanSeq, f2, build::fst(p.clone())?, build::snd(p)?)
                })?;
                let front = build::join(build::map(Prim::MapPar, one, pairs)?)?;
                let bound = q.clone() + Size::constant(1);
                let start = build::at(starts, build::index(q, bound))?;
                let rest = build::reduce(Prim::ScanSeq, f3, start, build::drop_first(covered, xs)?)?;
                // Together in memory: a reader need not ask where an element is.
                build::to_mem(build::concat(front, rest)?)
            })
        })
    })
}

/// A copy of the result for each of the blocks; then the sums of copies; then the rest.
fn by_index(m: &Size, f: &Lambda, zero: &Term, is: &Term, xs: &Term, supply: &mut Supply) -> Built {
    let DataType::Array(n, _) = xs.ty().clone() else { return Ok(xs.clone()) };
    let (p, q) = (Size::constant(COPIES), n.div(&Size::constant(COPIES)));
    let covered = p * q.clone();
    let [f1, f2, f3] = [(); 3].map(|()| again(f, supply));
    with(zero, supply, |supply, zero| {
        let part = |ys: &Term| build::split(q.clone(), build::take(covered.clone(), ys.clone())?);
        let blocks = build::zip(part(is)?, part(xs)?)?;
        let DataType::Array(_, block) = blocks.ty().clone() else { return Ok(blocks) };
        let start = zero.clone();
        let copy = supply.lambda1("b", (*block).clone(), |supply, b| {
            let zeros = supply.lambda1("_", DataType::Idx(m.clone()), |_, _| Ok(start))?;
            let zeros = build::apply(Prim::Generate, vec![Arg::Size(m.clone()), Arg::Fun(zeros)])?;
            reduce_by_index(f1, zeros, build::fst(b.clone())?, build::snd(b)?)
        })?;
        let copies = build::transpose(build::to_mem(build::map(Prim::MapPar, copy, blocks)?)?)?;
        let DataType::Array(_, column) = copies.ty().clone() else { return Ok(copies) };
        let sum =
            supply.lambda1("c", (*column).clone(), |_, c| build::reduce(Prim::ReduceSeq, f2, zero, c))?;
        let sums = build::map(Prim::MapPar, sum, copies)?;
        let is = build::drop_first(covered.clone(), walk::refresh(is, supply))?;
        let xs = build::drop_first(covered, walk::refresh(xs, supply))?;
        reduce_by_index(f3, sums, is, xs)
    })
}

fn reduce_by_index(f: Lambda, base: Term, is: Term, xs: Term) -> Built {
    build::apply(Prim::ReduceByIndex, vec![Arg::Fun(f), Arg::Term(base), Arg::Term(is), Arg::Term(xs)])
}

/// Three numbers for which a function that is used over blocks does not associate, if they are
/// found among small ones. Only functions of numbers that read nothing else are tried: of pairs,
/// many that occur are no values.
pub fn refuted(definition: &Definition) -> Option<(Lambda, [i32; 3])> {
    let mut found = None;
    visit(&definition.body, &mut |f| {
        if found.is_none() {
            found = counterexample(f).map(|numbers| (f.clone(), numbers));
        }
    });
    found
}

fn visit(term: &Term, look: &mut dyn FnMut(&Lambda)) {
    if let TermKind::Prim(prim, args) = term.kind()
        && in_blocks(*prim, args)
        && let Some(f) = args.iter().find_map(|arg| if let Arg::Fun(f) = arg { Some(f) } else { None })
    {
        look(f);
    }
    walk::children(term).into_iter().for_each(|(_, child)| visit(child, look));
}

fn counterexample(f: &Lambda) -> Option<[i32; 3]> {
    let DataType::Scalar(scalar) = f.params.first()?.ty else { return None };
    let bound: Vec<_> = f.params.iter().map(|p| &p.var).collect();
    if scalar == Scalar::Bool || walk::free_vars(&f.body).iter().any(|v| !bound.contains(&v)) {
        return None;
    }
    (0..TRIPLES).map(|k| [k % 5 - 2, k / 5 % 5 - 1, k / 25 % 5 - 2]).find(|numbers| {
        let sides = || {
            let mut supply = Supply::above_term(&f.body);
            let [x, y, z] = numbers.map(|number| build::number(scalar, number));
            let mut both = |a: Term, b: Term| walk::instantiate(f, &[a, b], &mut supply);
            let left = both(x.clone(), y.clone());
            let left = number(both(left, z.clone()))?;
            let right = both(y, z);
            Some((left, number(both(x, right))?))
        };
        sides().is_some_and(|(a, b)| (a - b).abs() > 1e-3 * a.abs().max(b.abs()).max(1.0))
    })
}

/// Triples of small numbers that are tried.
const TRIPLES: i32 = 125;

/// The value of a term without variables, if it is a finite number.
fn number(body: Term) -> Option<f64> {
    let definition = Definition {
        name: "number".into(),
        sizes: Vec::new(),
        facts: Vec::new(),
        params: Vec::new(),
        body,
        span: Default::default(),
    };
    let value =
        evaluate(&definition, &Default::default(), &[], Limits { elements: 1000, steps: 1000 }).ok()?;
    let number = match &value.tensor()?.data {
        Data::F32(v) => f64::from(*v.first()?),
        Data::F64(v) => *v.first()?,
        Data::I32(v) => f64::from(*v.first()?),
        Data::I64(v) => *v.first()? as f64,
        _ => return None,
    };
    number.is_finite().then_some(number)
}
