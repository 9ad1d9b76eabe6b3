//! The least that must move, by theory, beside which counts are shown.
//!
//! - Products: a rank that does its share of `m n k` multiplications touches at least
//!   `3 (m n k / P)^(2/3)` elements of the three matrices, and holds at most its share of them
//!   before (Irony, Toledo, Tiskin 2004; Demmel et al. 2013).
//! - Stencils: what lies around a block and is read for it, in each step.

use loops::ranks::{At, Fetch, Grid, Numbers, RankProgram, Step, walk};
use loops::visit::assigns;
use loops::{Access, Assign, BinaryOp, Expr, Name, ReduceOp};

use super::cost::bytes;

/// A bound on what one rank receives.
#[derive(Clone, PartialEq, Debug)]
pub struct Least {
    /// What it is the bound of.
    pub of: &'static str,
    /// Bytes.
    pub bytes: f64,
}

/// The bound for a program, if it is a product or a stencil.
pub fn least(program: &RankProgram, grid: &Grid, sizes: &Numbers) -> Option<Least> {
    product(program, grid, sizes).or_else(|| stencil(program, grid, sizes))
}

fn value(e: &Expr, numbers: &Numbers) -> Option<i64> {
    match loops::evaluate::expr(e, &|name| numbers.get(name).copied()) {
        Ok(loops::Value::I64(value)) => Some(value),
        _ => None,
    }
}

/// The one product of the program.
fn product(program: &RankProgram, grid: &Grid, sizes: &Numbers) -> Option<Least> {
    let mut found: Vec<(Vec<Name>, Access)> = Vec::new();
    let mut others = 0;
    walk(&program.body, &mut |step| match step {
        Step::Run(run) => {
            for assign in assigns(&run.body) {
                found.extend(contraction(assign).map(|vars| (vars, assign.target.clone())));
            }
        }
        // A loop over strips is a part of the product.
        Step::Loop(repeat) if repeat.step == 1 => others += 1,
        _ => {}
    });
    let [(vars, target)] = found.as_slice() else { return None };
    if others > 0 {
        return None;
    }
    let extents: Vec<f64> = vars.iter().map(|var| extent(program, var, sizes)).collect::<Option<_>>()?;
    let [m, n, k] = extents.as_slice() else { return None };
    let ranks = grid.ranks() as f64;
    let size = bytes(&program.declaration(&target.array)?.elem) as f64;
    let touched = 3.0 * (m * n * k / ranks).powf(2.0 / 3.0);
    let held = (m * n + m * k + k * n) / ranks;
    Some(Least { of: "a product", bytes: (touched - held).max(0.0) * size })
}

/// The three variables of `c[i][j] += .. a[i][k] .. b[k][j]`.
fn contraction(assign: &Assign) -> Option<Vec<Name>> {
    assign.update.filter(|update| update.op == ReduceOp::Add)?;
    let pair = |access: &Access| match access.indices.as_slice() {
        [Expr::Var(a), Expr::Var(b)] => Some([a.clone(), b.clone()]),
        _ => None,
    };
    let [i, j] = pair(&assign.target)?;
    let mut factors = Vec::new();
    let mut only_products = true;
    for e in assign.value.nodes() {
        match e {
            Expr::Load(access) => factors.extend(pair(access)),
            Expr::Binary(op, ..) => only_products &= *op == BinaryOp::Mul,
            _ => {}
        }
    }
    let [a, b] = factors.as_slice() else { return None };
    let third = |pair: &[Name; 2], own: &Name| pair.iter().find(|name| *name != own).cloned();
    let (a, b) = if a.contains(&i) { (a, b) } else { (b, a) };
    let k = third(a, &i)?;
    let fits = only_products && b.contains(&j) && b.contains(&k) && k != i && k != j && i != j;
    fits.then(|| vec![i, j, k])
}

/// The extent of what a variable goes through: the subscripts that it is alone in.
fn extent(program: &RankProgram, var: &Name, sizes: &Numbers) -> Option<f64> {
    let mut found = None;
    walk(&program.body, &mut |step| {
        let Step::Run(run) = step else { return };
        for site in loops::accesses(&run.body) {
            let Some(declared) = program.declaration(&site.access.array) else { continue };
            for (index, dim) in site.access.indices.iter().zip(&declared.dims) {
                if *index == Expr::Var(var.clone()) {
                    found = found.or_else(|| value(dim, sizes));
                }
            }
        }
    });
    found.map(|n| n as f64)
}

/// A program whose messages are all into halos.
fn stencil(program: &RankProgram, grid: &Grid, sizes: &Numbers) -> Option<Least> {
    let mut steps = Vec::new();
    executed(&program.body, sizes, &mut steps)?;
    if steps.is_empty() || steps.iter().any(|fetch| fetch.into.is_some() || fetch.at != At::All) {
        return None;
    }
    let mut sum = 0.0;
    let mut seen: Option<&Name> = None;
    for fetch in steps {
        // The boxes of one array at one place are parts of one halo.
        if seen == Some(&fetch.what.array) {
            continue;
        }
        seen = Some(&fetch.what.array);
        let placed = program.place(&fetch.what.array)?;
        let mut held = Vec::new();
        for (cut, dim) in placed.cut.iter().zip(&placed.array.dims) {
            let n = value(dim, sizes)? as f64;
            held.push(cut.map_or(n, |cut| n / grid.0[program.cuts[cut].axis] as f64));
        }
        for (d, (low, high)) in placed.halo.iter().enumerate() {
            let cut = placed.cut[d].map(|cut| grid.0[program.cuts[cut].axis]);
            // With two blocks each has a neighbour on one side only.
            let sides = match cut {
                None | Some(1) => 0,
                Some(2) => *low.max(high),
                Some(_) => low + high,
            };
            let others: f64 =
                held.iter().enumerate().filter(|(other, _)| *other != d).map(|(_, n)| n).product();
            sum += sides as f64 * others * bytes(&placed.array.elem) as f64;
        }
    }
    Some(Least { of: "a stencil", bytes: sum })
}

/// Fetches in the order in which they run.
fn executed<'a>(steps: &'a [Step], numbers: &Numbers, found: &mut Vec<&'a Fetch>) -> Option<()> {
    for step in steps {
        match step {
            Step::Fetch(fetch) => found.push(fetch),
            Step::Run(run) if run.at != At::All => return None,
            Step::Run(run) => found.extend(&run.during),
            Step::Return(_) => return None,
            Step::Loop(repeat) => {
                let (mut at, upper) = (value(&repeat.lower, numbers)?, value(&repeat.upper, numbers)?);
                let mut inner = numbers.clone();
                while at < upper {
                    inner.insert(repeat.var.clone(), at);
                    executed(&repeat.body, &inner, found)?;
                    at += repeat.step.max(1);
                }
            }
        }
    }
    Some(())
}
