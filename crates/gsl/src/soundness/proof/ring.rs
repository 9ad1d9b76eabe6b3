//! Elements over the reals in normal form: sums of guarded products, each summed over variables.
//!
//! A term is `c * Σ_v [guards] factors`. The range of a variable is two guards, so that sums may be
//! shifted and split. Two elements are equal if the terms of their difference cancel. Max and min
//! are compared as terms of a distributive lattice.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use super::case::{Case, Step, Stop, unproved};
use super::element::{EXP_DECAY, Fold, Op, Real, pruned, ranges};
use super::int::{Atom, Int};

/// How many terms an element may have.
const MAX_TERMS: usize = 64;
/// Bound variables of a term whose order is searched for the least text.
const MAX_SORTED: usize = 5;
/// Leaves of a lattice term.
const MAX_LEAVES: usize = 8;

#[derive(Clone, Debug)]
struct Term {
    c: f64,
    vars: Vec<u32>,
    guards: Vec<Int>,
    factors: Vec<Factor>,
}

type Poly = Vec<Term>;

#[derive(Clone, Debug)]
enum Factor {
    Read(usize, Int),
    Constant(Rc<str>),
    Int(Int),
    Fun(Rc<str>, Vec<Poly>),
    Reciprocal(Poly),
    Greatest(Vec<(u32, Int)>, Poly),
    Lattice(Lattice),
}

#[derive(Clone, Debug)]
enum Lattice {
    Leaf(Poly),
    Max(Vec<Lattice>),
    Min(Vec<Lattice>),
}

/// Whether two elements are equal over the reals.
pub(super) fn equal(case: &mut Case, a: &Rc<Real>, b: &Rc<Real>) -> Step<bool> {
    let a = settled(case, a, &[])?;
    let b = settled(case, b, &[])?;
    let difference = add(a, negated(b));
    Ok(collected(case, difference)?.is_empty())
}

fn negated(mut p: Poly) -> Poly {
    p.iter_mut().for_each(|t| t.c = -t.c);
    p
}

fn add(mut a: Poly, b: Poly) -> Poly {
    a.extend(b);
    a
}

fn constant(c: f64) -> Poly {
    vec![Term { c, vars: Vec::new(), guards: Vec::new(), factors: Vec::new() }]
}

fn factor(f: Factor) -> Poly {
    vec![Term { c: 1.0, vars: Vec::new(), guards: Vec::new(), factors: vec![f] }]
}

fn product(case: &mut Case, a: &Poly, b: &Poly) -> Step<Poly> {
    if a.len() * b.len() > MAX_TERMS * 4 {
        return Err(Stop::Work);
    }
    let mut out = Vec::new();
    for x in a {
        for y in b {
            case.pay(5)?;
            let mut y = y.clone();
            // Sums of two factors run over variables of their own.
            let fresh: BTreeMap<u32, Int> = y.vars.iter().map(|v| (*v, Int::var(case.variable()))).collect();
            if !fresh.is_empty() {
                y = replace_term(case, &y, &fresh);
                y.vars = fresh.values().filter_map(var_of).collect();
            }
            out.push(Term {
                c: x.c * y.c,
                vars: x.vars.iter().chain(&y.vars).copied().collect(),
                guards: x.guards.iter().chain(&y.guards).cloned().collect(),
                factors: x.factors.iter().chain(&y.factors).cloned().collect(),
            });
        }
    }
    Ok(out)
}

fn var_of(e: &Int) -> Option<u32> {
    let mut all = e.monomials();
    match all.next() {
        Some((m, 1)) => match m.as_atom() {
            Some(Atom::Var(v)) => Some(*v),
            _ => None,
        },
        _ => None,
    }
}

type Map = BTreeMap<u32, Int>;

fn replace_int(case: &Case, e: &Int, map: &Map) -> Int {
    case.replaced(e, &mut |v| map.get(&v).cloned())
}

fn replace_poly(case: &Case, p: &Poly, map: &Map) -> Poly {
    p.iter().map(|t| replace_term(case, t, map)).collect()
}

fn replace_term(case: &Case, t: &Term, map: &Map) -> Term {
    Term {
        c: t.c,
        vars: t.vars.clone(),
        guards: t.guards.iter().map(|g| replace_int(case, g, map)).collect(),
        factors: t.factors.iter().map(|f| replace_factor(case, f, map)).collect(),
    }
}

fn replace_factor(case: &Case, f: &Factor, map: &Map) -> Factor {
    match f {
        Factor::Read(input, at) => Factor::Read(*input, replace_int(case, at, map)),
        Factor::Constant(_) => f.clone(),
        Factor::Int(e) => Factor::Int(replace_int(case, e, map)),
        Factor::Fun(name, of) => {
            Factor::Fun(name.clone(), of.iter().map(|p| replace_poly(case, p, map)).collect())
        }
        Factor::Reciprocal(p) => Factor::Reciprocal(replace_poly(case, p, map)),
        Factor::Greatest(vars, p) => Factor::Greatest(
            vars.iter().map(|(v, n)| (*v, replace_int(case, n, map))).collect(),
            replace_poly(case, p, map),
        ),
        Factor::Lattice(l) => Factor::Lattice(replace_lattice(case, l, map)),
    }
}

fn replace_lattice(case: &Case, l: &Lattice, map: &Map) -> Lattice {
    let all = |of: &[Lattice]| of.iter().map(|l| replace_lattice(case, l, map)).collect();
    match l {
        Lattice::Leaf(p) => Lattice::Leaf(replace_poly(case, p, map)),
        Lattice::Max(of) => Lattice::Max(all(of)),
        Lattice::Min(of) => Lattice::Min(all(of)),
    }
}

/// The normal form of an element where the integers `more` are not negative.
fn settled(case: &mut Case, e: &Rc<Real>, more: &[Int]) -> Step<Poly> {
    let raw = poly(case, e, more)?;
    let mut out = Vec::new();
    for t in raw {
        out.extend(normal(case, t, more)?);
    }
    collected(case, out)
}

/// An element as a sum of products. Guards and equal terms are not simplified.
fn poly(case: &mut Case, e: &Rc<Real>, more: &[Int]) -> Step<Poly> {
    case.pay(2)?;
    Ok(match &**e {
        Real::Number(x) => {
            if *x == 0.0 {
                Vec::new()
            } else {
                constant(*x)
            }
        }
        Real::Constant(name) => match case.reals.get(name).cloned() {
            Some(value) => poly(case, &value, more)?,
            None => factor(Factor::Constant(name.clone())),
        },
        Real::Int(n) => match case.norm(n).constant() {
            Some(0) => Vec::new(),
            Some(n) => constant(n as f64),
            None => factor(Factor::Int(case.norm(n))),
        },
        Real::Read(input, at) => factor(Factor::Read(*input, case.norm(at))),
        Real::Op(op, a, b) => {
            let a = poly(case, a, more)?;
            let b = poly(case, b, more)?;
            match op {
                Op::Add => add(a, b),
                Op::Sub => add(a, negated(b)),
                Op::Mul => product(case, &a, &b)?,
                Op::Div => {
                    let b = reciprocal(case, b, more)?;
                    product(case, &a, &b)?
                }
            }
        }
        Real::Fun(name, arguments) => {
            if let Some(l) = lattice(case, e, more)? {
                factor(Factor::Lattice(l))
            } else if let ("Pow", [base, exponent]) = (&**name, &arguments[..])
                && let Real::Number(n) = &**exponent
                && (*n == 1.0 || *n == 2.0)
            {
                let base = poly(case, base, more)?;
                if *n == 1.0 { base } else { product(case, &base, &base)? }
            } else if let ("Neg", [x]) = (&**name, &arguments[..]) {
                negated(poly(case, x, more)?)
            } else {
                let of = arguments.iter().map(|a| settled(case, a, more)).collect::<Step<Vec<Poly>>>()?;
                // Only in its last bits another function.
                let name = if &**name == EXP_DECAY { "Exp".into() } else { name.clone() };
                factor(Factor::Fun(name, of))
            }
        }
        Real::Fold(f, vars, body) => {
            let mut inside = more.to_vec();
            let ranges: Vec<Int> = ranges(vars).map(|r| case.norm(&r)).collect();
            inside.extend(ranges.iter().cloned());
            let body = match f {
                Fold::Sum | Fold::Rows => poly(case, body, &inside)?,
                Fold::Max => settled(case, body, &inside)?,
            };
            // Each sum has its own variables, so that no variable is bound twice.
            let fresh: Vec<(u32, Int)> = vars.iter().map(|(_, n)| (case.variable(), n.clone())).collect();
            let map: Map = vars.iter().zip(&fresh).map(|((v, _), (w, _))| (*v, Int::var(*w))).collect();
            let body = replace_poly(case, &body, &map);
            let ranges: Vec<Int> = ranges.iter().map(|r| replace_int(case, r, &map)).collect();
            match f {
                Fold::Sum | Fold::Rows => body
                    .into_iter()
                    .map(|mut t| {
                        t.vars.extend(fresh.iter().map(|(v, _)| *v));
                        t.guards.extend(ranges.iter().cloned());
                        t
                    })
                    .collect(),
                Fold::Max => factor(Factor::Greatest(fresh, body)),
            }
        }
        Real::If(conditions, yes, no) => {
            let Some(left) = pruned(case, conditions, more) else { return poly(case, no, more) };
            let mut inside = more.to_vec();
            inside.extend(left.iter().cloned());
            let mut yes = poly(case, yes, &inside)?;
            yes.iter_mut().for_each(|t| t.guards.extend(left.iter().cloned()));
            let other = match &left[..] {
                [] => Vec::new(),
                [one] => {
                    let not = one.negated().offset(-1);
                    let mut inside = more.to_vec();
                    inside.push(not.clone());
                    let mut no = poly(case, no, &inside)?;
                    no.iter_mut().for_each(|t| t.guards.push(not.clone()));
                    no
                }
                // All but where all conditions hold.
                all => {
                    let no = poly(case, no, more)?;
                    let mut minus = negated(no.clone());
                    minus.iter_mut().for_each(|t| t.guards.extend(all.iter().cloned()));
                    add(no, minus)
                }
            };
            add(yes, other)
        }
    })
}

/// The reciprocal of an element. If it is not defined, the element that contains it is not defined
/// either.
fn reciprocal(case: &mut Case, p: Poly, more: &[Int]) -> Step<Poly> {
    let mut all = Vec::new();
    for t in p {
        all.extend(normal(case, t, more)?);
    }
    let p = collected(case, all)?;
    if let [one] = &p[..]
        && one.vars.is_empty()
        && one.guards.is_empty()
        && one.c != 0.0
    {
        let factors = one
            .factors
            .iter()
            .map(|f| match f {
                Factor::Reciprocal(inner) => match &inner[..] {
                    [t] if t.c == 1.0 && t.vars.is_empty() && t.guards.is_empty() && t.factors.len() == 1 => {
                        t.factors[0].clone()
                    }
                    _ => Factor::Reciprocal(factor(f.clone())),
                },
                _ => Factor::Reciprocal(factor(f.clone())),
            })
            .collect();
        return Ok(vec![Term { c: 1.0 / one.c, vars: Vec::new(), guards: Vec::new(), factors }]);
    }
    Ok(factor(Factor::Reciprocal(p)))
}

/// Max, min, and what is made of them.
fn lattice(case: &mut Case, e: &Rc<Real>, more: &[Int]) -> Step<Option<Lattice>> {
    let Real::Fun(name, arguments) = &**e else { return Ok(None) };
    let mut parts = Vec::new();
    if !matches!(&**name, "Max" | "Min" | "Relu") {
        return Ok(None);
    }
    for a in arguments {
        parts.push(match lattice(case, a, more)? {
            Some(l) => l,
            None => Lattice::Leaf(settled(case, a, more)?),
        });
    }
    Ok(Some(match &**name {
        "Min" => Lattice::Min(parts),
        "Max" => Lattice::Max(parts),
        _ => {
            parts.push(Lattice::Leaf(Vec::new()));
            Lattice::Max(parts)
        }
    }))
}

/// A term with as few guards and variables as can be; nothing if its guards contradict each other.
fn normal(case: &mut Case, mut t: Term, more: &[Int]) -> Step<Option<Term>> {
    for _ in 0..16 {
        case.pay(5)?;
        let Some(guards) = pruned(case, &t.guards, more) else { return Ok(None) };
        t.guards = guards;
        let Some((v, value)) = fixed(case, &t) else { break };
        t.vars.retain(|w| *w != v);
        t = replace_term(case, &t, &BTreeMap::from([(v, value)]));
    }
    // Each sum begins at 0, if its beginning does not depend on another variable.
    for v in t.vars.clone() {
        let begin = t.guards.iter().find_map(|g| {
            let (c, rest) = g.linear_in(&Atom::Var(v))?;
            (c == 1 && !rest.any_atom(&mut |a| matches!(a, Atom::Var(_)))).then_some(rest)
        });
        if let Some(rest) = begin.filter(|r| !r.is_zero()) {
            let shifted = Int::var(v).minus(&rest);
            t = replace_term(case, &t, &BTreeMap::from([(v, shifted)]));
        }
    }
    let Some(guards) = pruned(case, &t.guards, more) else { return Ok(None) };
    t.guards = guards;
    Ok(Some(t))
}

/// A variable of the sum that has only one value, because two guards bound it from both sides.
fn fixed(case: &Case, t: &Term) -> Option<(u32, Int)> {
    for g in &t.guards {
        if !t.guards.iter().any(|h| case.same(&g.plus(h), &Int::default())) {
            continue;
        }
        for v in &t.vars {
            if let Some((c, rest)) = g.linear_in(&Atom::Var(*v))
                && c.abs() == 1
            {
                return Some((*v, if c == 1 { rest.negated() } else { rest }));
            }
        }
    }
    None
}

/// Equal terms added up.
fn collected(case: &mut Case, p: Poly) -> Step<Poly> {
    if p.len() > MAX_TERMS * 4 {
        return Err(Stop::Work);
    }
    let mut by_text: BTreeMap<String, Term> = BTreeMap::new();
    for t in p {
        let key = term_text(case, &t, &BTreeMap::new())?;
        match by_text.get_mut(&key) {
            Some(old) => old.c += t.c,
            None => {
                by_text.insert(key, t);
            }
        }
    }
    Ok(by_text.into_values().filter(|t| t.c != 0.0).collect())
}

/// Numbers of bound variables, counted from outside.
type Names = BTreeMap<u32, usize>;

/// The first number that no name has.
fn next(names: &Names) -> usize {
    names.values().max().map_or(0, |n| n + 1)
}

fn poly_text(case: &mut Case, p: &Poly, names: &Names) -> Step<String> {
    let mut parts = Vec::new();
    for t in p {
        parts.push(format!("{:?}*{}", t.c, term_text(case, t, names)?));
    }
    parts.sort();
    Ok(format!("({})", parts.join(" + ")))
}

/// The text of a term without its coefficient: the least one over the orders of its variables.
fn term_text(case: &mut Case, t: &Term, names: &Names) -> Step<String> {
    if t.vars.len() > MAX_SORTED {
        return unproved("too many sums in one another");
    }
    // Variables that look different need not be tried in every order.
    let mut looks: Vec<(String, u32)> = Vec::new();
    if t.vars.len() > 1 {
        for v in &t.vars {
            let mut inner = names.clone();
            for w in &t.vars {
                inner.insert(*w, next(names) + usize::from(w != v));
            }
            looks.push((plain_text(case, t, &inner)?, *v));
        }
    } else {
        looks.extend(t.vars.iter().map(|v| (String::new(), *v)));
    }
    looks.sort();
    let mut orders: Vec<Vec<u32>> = vec![Vec::new()];
    for alike in looks.chunk_by(|a, b| a.0 == b.0) {
        let mut these: Vec<u32> = alike.iter().map(|(_, v)| *v).collect();
        let mut ways = Vec::new();
        permutations(&mut these, 0, &mut ways);
        orders = orders.iter().flat_map(|o| ways.iter().map(|w| [&o[..], w].concat())).collect();
    }
    let mut best: Option<String> = None;
    for order in orders {
        let mut inner = names.clone();
        for (k, v) in order.into_iter().enumerate() {
            inner.insert(v, next(names) + k);
        }
        let one = plain_text(case, t, &inner)?;
        if best.as_ref().is_none_or(|b| one < *b) {
            best = Some(one);
        }
    }
    Ok(best.unwrap_or_default())
}

fn permutations(order: &mut Vec<u32>, from: usize, out: &mut Vec<Vec<u32>>) {
    if from + 1 >= order.len() {
        out.push(order.clone());
        return;
    }
    for k in from..order.len() {
        order.swap(from, k);
        permutations(order, from + 1, out);
        order.swap(from, k);
    }
}

fn int_text(case: &mut Case, e: &Int, names: &Names) -> String {
    let named = case.replaced(e, &mut |v| names.get(&v).map(|k| Int::symbol(&format!("@{k}"))));
    if named.is_unknown() { case.fresh("unknown") } else { named.to_string() }
}

fn plain_text(case: &mut Case, t: &Term, names: &Names) -> Step<String> {
    case.pay(1 + t.factors.len())?;
    let mut guards: Vec<String> = t.guards.iter().map(|g| int_text(case, g, names)).collect();
    guards.sort();
    let mut factors = Vec::new();
    for f in &t.factors {
        factors.push(factor_text(case, f, names)?);
    }
    factors.sort();
    Ok(format!("Σ{}[{}]{}", t.vars.len(), guards.join("&"), factors.join("*")))
}

fn factor_text(case: &mut Case, f: &Factor, names: &Names) -> Step<String> {
    Ok(match f {
        Factor::Read(input, at) => format!("x{input}[{}]", int_text(case, at, names)),
        Factor::Constant(name) => format!("'{name}'"),
        Factor::Int(e) => format!("<{}>", int_text(case, e, names)),
        Factor::Fun(name, of) => {
            let parts = of.iter().map(|p| poly_text(case, p, names)).collect::<Step<Vec<_>>>()?;
            format!("{name}{}", parts.join(","))
        }
        Factor::Reciprocal(p) => format!("1/{}", poly_text(case, p, names)?),
        Factor::Greatest(vars, p) => {
            let mut inner = names.clone();
            let mut extents = Vec::new();
            for (v, n) in vars {
                extents.push(int_text(case, n, &inner));
                inner.insert(*v, next(&inner));
            }
            format!("max<{}>{}", extents.join(";"), poly_text(case, p, &inner)?)
        }
        Factor::Lattice(l) => {
            let mut leaves = BTreeSet::new();
            let named = named_lattice(case, l, names, &mut leaves)?;
            let leaves: Vec<String> = leaves.into_iter().collect();
            if leaves.len() > MAX_LEAVES {
                return unproved("too many operands of max and min");
            }
            // A lattice term is determined by its values for leaves that are the least or the
            // greatest element.
            let table: String = (0..1usize << leaves.len())
                .map(|row| if holds(&named, &leaves, row) { '1' } else { '0' })
                .collect();
            format!("lattice<{}>{table}", leaves.join(";"))
        }
    })
}

enum Named {
    Leaf(String),
    Max(Vec<Named>),
    Min(Vec<Named>),
}

fn named_lattice(case: &mut Case, l: &Lattice, names: &Names, leaves: &mut BTreeSet<String>) -> Step<Named> {
    let mut all = |case: &mut Case, of: &[Lattice]| {
        of.iter().map(|l| named_lattice(case, l, names, leaves)).collect::<Step<Vec<_>>>()
    };
    Ok(match l {
        Lattice::Max(of) => Named::Max(all(case, of)?),
        Lattice::Min(of) => Named::Min(all(case, of)?),
        Lattice::Leaf(p) => {
            let text = poly_text(case, p, names)?;
            leaves.insert(text.clone());
            Named::Leaf(text)
        }
    })
}

fn holds(l: &Named, leaves: &[String], row: usize) -> bool {
    match l {
        Named::Leaf(text) => leaves.iter().position(|t| t == text).is_some_and(|k| row >> k & 1 == 1),
        Named::Max(of) => of.iter().any(|l| holds(l, leaves, row)),
        Named::Min(of) => of.iter().all(|l| holds(l, leaves, row)),
    }
}
