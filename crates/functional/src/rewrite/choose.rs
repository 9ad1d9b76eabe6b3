//! Rules that choose an execution strategy: sequential, parallel, vector lanes, unrolled.

use super::context::{Context, Rewritten, array, as_map, as_reduce, is_map, is_reduce, no, over_parts};
use super::{Family, Refusal, Rule};
use crate::prim::Prim;
use crate::term::{Lambda, Term, TermKind};
use crate::types::DataType;
use crate::walk;

const fn choice(
    name: &'static str,
    statement: &'static str,
    doc: &'static str,
    reassociates: bool,
    apply: fn(&mut Context<'_>, &[loops::Size], &Term) -> Rewritten,
) -> Rule {
    Rule { name, params: &[], family: Family::Choice, statement, doc, reassociates, apply }
}

/// Loops of more iterations than this are not written out.
const UNROLL_LIMIT: i64 = 64;

pub(super) const RULES: &[Rule] = &[
    choice("useMapSeq", "map f xs -> mapSeq f xs", "A sequential loop.", false, |cx, _, term| {
        choose_map(cx, term, Prim::MapSeq)
    }),
    choice("useMapPar", "map f xs -> mapPar f xs", "A parallel loop.", false, |cx, _, term| {
        choose_map(cx, term, Prim::MapPar)
    }),
    choice(
        "useMapVec",
        "map f xs -> mapVec f xs",
        "Iterations become lanes of a vector. The function must compute on numbers, without loops.",
        false,
        |cx, _, term| {
            let map = as_map(term)?;
            lanes(map.f)?;
            choose_map(cx, term, Prim::MapVec)
        },
    ),
    choice(
        "useMapUnroll",
        "map f xs -> mapUnroll f xs",
        "The loop is unrolled. The length must be a constant of at most 64.",
        false,
        |cx, _, term| {
            let map = as_map(term)?;
            short(map.xs)?;
            choose_map(cx, term, Prim::MapUnroll)
        },
    ),
    choice(
        "useReduceSeq",
        "reduce f init xs -> reduceSeq f init xs",
        "A sequential loop.",
        false,
        |cx, _, term| choose_reduce(cx, term, Prim::ReduceSeq),
    ),
    choice(
        "useReduceUnroll",
        "reduce f init xs -> reduceUnroll f init xs",
        "The loop is unrolled. The length must be a constant of at most 64.",
        false,
        |cx, _, term| {
            let reduce = as_reduce(term)?;
            short(reduce.xs)?;
            choose_reduce(cx, term, Prim::ReduceUnroll)
        },
    ),
    choice(
        "useReducePar",
        "reduce (\\x a -> g x + a) init xs -> reducePar (\\x a -> g x + a) init xs",
        "A parallel loop with private accumulators. The operation must be one of `+ * min max && ||`, between a function of the element and the accumulator.",
        true,
        |cx, _, term| {
            let reduce = as_reduce(term)?;
            if !is_associative(reduce.f) {
                return no("its function is not `\\x a -> g x (+) a` with (+) one of `+ * min max && ||`");
            }
            choose_reduce(cx, term, Prim::ReducePar)
        },
    ),
    Rule {
        name: "reduceTree",
        params: &["k"],
        family: Family::Choice,
        statement: "reduce (\\x a -> x + a) init xs -> reduce (\\x a -> x + a) init (map (\\ys -> reduce (\\x a -> x + a) 0 ys) (split k xs))",
        doc: "Partial sums of blocks, which can be computed at the same time. For `+` only.",
        reassociates: true,
        apply: |cx, args, term| {
            let reduce = as_reduce(term)?;
            plain_sum(reduce.f)?;
            let blocks = cx.sz(Prim::Split, &args[0], reduce.xs.clone())?;
            let block = array(&blocks)?.1.clone();
            let inner = walk::refresh_lambda(reduce.f, cx.supply);
            let zero = crate::build::zero(reduce.init.ty())?;
            let partial = cx.fun1("ys", &block, |cx, ys| cx.reduce(reduce.prim, inner, zero, ys))?;
            let partials = cx.map(Prim::Map, partial, blocks)?;
            cx.reduce(reduce.prim, reduce.f.clone(), reduce.init.clone(), partials)
        },
    },
    Rule {
        name: "reduceJoin",
        params: &[],
        family: Family::Choice,
        statement: "reduce (\\x a -> x + a) init (map (\\ys -> reduce (\\x a -> x + a) 0 ys) xss) -> reduce (\\x a -> x + a) init (join xss)",
        doc: "The sum of the rows' sums becomes one sum. It can be split without regard to rows. For `+` only.",
        reassociates: true,
        apply: |cx, _, term| {
            let reduce = as_reduce(term)?;
            plain_sum(reduce.f)?;
            let rows = as_map(reduce.xs)?;
            let row = as_reduce(&rows.f.body)?;
            plain_sum(row.f)?;
            if !super::lets::is_number(row.init, 0) {
                return no("the sums of the rows do not start at 0");
            }
            match row.xs.kind() {
                TermKind::Var(v) if *v == rows.f.params[0].var => {}
                _ => return no("what is summed inside is not a row"),
            }
            let joined = cx.un(Prim::Join, rows.xs.clone())?;
            cx.reduce(reduce.prim, reduce.f.clone(), reduce.init.clone(), joined)
        },
    },
    Rule {
        name: "reduceLanes",
        params: &["k"],
        family: Family::Choice,
        statement: "reduce (\\x a -> x + a) init xs -> reduce (\\x a -> x + a) init (reduce (\\ys as -> map (\\p -> fst p + snd p) (zip ys as)) (generate k (\\i -> 0)) (split k xs))",
        doc: "`k` sums side by side, in the lanes of a vector. They are added up at the end. For `+` only.",
        reassociates: true,
        apply: |cx, args, term| {
            let reduce = as_reduce(term)?;
            plain_sum(reduce.f)?;
            let blocks = cx.sz(Prim::Split, &args[0], reduce.xs.clone())?;
            let block = array(&blocks)?.1.clone();
            let index = DataType::Idx(args[0].clone());
            let zero = crate::build::zero(reduce.init.ty())?;
            let zeros = cx.fun1("i", &index, |_, _| Ok(zero))?;
            let start = cx.ap(
                Prim::Generate,
                vec![crate::term::Arg::Size(args[0].clone()), crate::term::Arg::Fun(zeros)],
            )?;
            let add = cx.fun2(("ys", &block), ("as", start.ty()), |cx, ys, sums| {
                let zipped = cx.zip(ys, sums)?;
                let pair = array(&zipped)?.1.clone();
                let f = cx.fun1("p", &pair, |cx, p| {
                    let (x, a) = (cx.fst(&p)?, cx.snd(&p)?);
                    cx.bin(Prim::Add, x, a)
                })?;
                cx.map(Prim::Map, f, zipped)
            })?;
            let lanes = cx.reduce(over_parts(reduce.prim), add, start, blocks)?;
            cx.reduce(reduce.prim, reduce.f.clone(), reduce.init.clone(), lanes)
        },
    },
];

fn choose_map(cx: &mut Context<'_>, term: &Term, prim: Prim) -> Rewritten {
    match term.kind() {
        TermKind::Prim(Prim::Map, args) => cx.ap(prim, args.clone()),
        TermKind::Prim(other, _) if is_map(*other) => no(format!("it is `{}` already", other.name())),
        _ => no("it is not a map"),
    }
}

fn choose_reduce(cx: &mut Context<'_>, term: &Term, prim: Prim) -> Rewritten {
    match term.kind() {
        TermKind::Prim(Prim::Reduce, args) => cx.ap(prim, args.clone()),
        TermKind::Prim(other, _) if is_reduce(*other) => no(format!("it is `{}` already", other.name())),
        _ => no("it is not a reduction"),
    }
}

/// Whether the function is elementwise: scalars only, no patterns.
pub(super) fn lanes(f: &Lambda) -> Result<(), Refusal> {
    fn scalars(ty: &DataType) -> bool {
        match ty {
            DataType::Scalar(_) | DataType::Idx(_) => true,
            DataType::Pair(a, b) => scalars(a) && scalars(b),
            _ => false,
        }
    }
    if !scalars(f.body.ty()) {
        return no("its function does not give numbers");
    }
    let mut todo = vec![&f.body];
    while let Some(term) = todo.pop() {
        if let TermKind::Prim(prim, args) = term.kind()
            && args.iter().any(|arg| matches!(arg, crate::term::Arg::Fun(_)))
        {
            return no(format!("there is `{}` in its function", prim.name()));
        }
        todo.extend(walk::children(term).into_iter().map(|(_, child)| child));
    }
    Ok(())
}

fn short(xs: &Term) -> Result<(), Refusal> {
    match array(xs)?.0.as_constant() {
        Some(n) if n <= UNROLL_LIMIT => Ok(()),
        Some(n) => no(format!("the length {n} is more than {UNROLL_LIMIT}")),
        None => no(format!("the length {} is not a constant", array(xs)?.0)),
    }
}

/// `\x a -> g x (+) a`, or the operands the other way round.
pub(crate) fn is_associative(f: &Lambda) -> bool {
    let [_, a] = f.params.as_slice() else { return false };
    let TermKind::Prim(Prim::Add | Prim::Mul | Prim::Min | Prim::Max | Prim::And | Prim::Or, args) =
        f.body.kind()
    else {
        return false;
    };
    let [crate::term::Arg::Term(x), crate::term::Arg::Term(y)] = args.as_slice() else { return false };
    let is_acc = |t: &Term| matches!(t.kind(), TermKind::Var(v) if *v == a.var);
    f.body.ty().is_scalar()
        && (is_acc(y) && !walk::mentions(x, &a.var) || is_acc(x) && !walk::mentions(y, &a.var))
}

/// `\x a -> x + a`, or the operands the other way round, on numbers.
fn plain_sum(f: &Lambda) -> Result<(), Refusal> {
    let [x, a] = f.params.as_slice() else { return no("its function has other parameters") };
    let (left, right) =
        super::context::binary(&f.body, Prim::Add).or_else(|_| no("its function is not `x + a`"))?;
    let is = |t: &Term, var: &crate::term::Var| matches!(t.kind(), TermKind::Var(v) if v == var);
    let sum = is(left, &x.var) && is(right, &a.var) || is(left, &a.var) && is(right, &x.var);
    if sum && f.body.ty().is_scalar() { Ok(()) } else { no("its function is not `x + a`") }
}
