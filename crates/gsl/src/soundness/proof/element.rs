//! Elements of tensors as expressions of positions in the inputs. They are compared without any law
//! that rounding breaks.

use std::collections::BTreeMap;
use std::rc::Rc;

use super::case::{Case, Step};
use super::int::Int;

/// An element.
#[derive(Clone, Debug)]
pub(super) enum Real {
    Number(f64),
    /// An attribute or a constant of one element that the pattern leaves open.
    Constant(Rc<str>),
    /// An integer as a number.
    Int(Int),
    /// The element of an input at this place of the row-major order.
    Read(usize, Int),
    Op(Op, Rc<Real>, Rc<Real>),
    /// A function of which only the laws in this module and in `ring` are known.
    Fun(Rc<str>, Vec<Rc<Real>>),
    /// Over all values of variables that are not negative and less than an extent.
    Fold(Fold, Vec<(u32, Int)>, Rc<Real>),
    /// The first if none of the integers is negative, else the second.
    If(Vec<Int>, Rc<Real>, Rc<Real>),
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Op {
    Add,
    Sub,
    Mul,
    Div,
}

/// The exponential that Softmax has: over the reals that of others.
pub(super) const EXP_DECAY: &str = "ExpDecay";

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Fold {
    /// In the order of the places.
    Sum,
    /// Of rows, in sixteen parts: over the reals a sum as others, with other bits.
    Rows,
    Max,
}

pub(super) fn op(op: Op, a: Rc<Real>, b: Rc<Real>) -> Rc<Real> {
    Rc::new(Real::Op(op, a, b))
}

pub(super) fn fun(name: &str, arguments: Vec<Rc<Real>>) -> Rc<Real> {
    Rc::new(Real::Fun(name.into(), arguments))
}

pub(super) fn number(x: f64) -> Rc<Real> {
    Rc::new(Real::Number(x))
}

/// The facts that hold under a fold.
pub(super) fn ranges(vars: &[(u32, Int)]) -> impl Iterator<Item = Int> {
    vars.iter().flat_map(|(v, n)| [Int::var(*v), n.minus(&Int::var(*v)).offset(-1)])
}

/// Conditions that do not hold always and do not follow from the others; `None` if one cannot hold.
pub(super) fn pruned(case: &Case, conditions: &[Int], more: &[Int]) -> Option<Vec<Int>> {
    let mut left: Vec<Int> = conditions.iter().map(|c| case.norm(c)).collect();
    let mut k = 0;
    while k < left.len() {
        let c = left.remove(k);
        let others: Vec<Int> = left.iter().chain(more).cloned().collect();
        if case.nonneg_with(&c.negated().offset(-1), &others) {
            return None;
        }
        if !case.nonneg_with(&c, &others) {
            left.insert(k, c);
            k += 1;
        }
    }
    left.sort();
    left.dedup();
    Some(left)
}

/// An element after applying laws that keep every bit, and its text. Elements with equal texts are
/// equal.
pub(super) fn strict(case: &mut Case, e: &Rc<Real>) -> Step<(Rc<Real>, String)> {
    let simple = simplified(case, e, &mut Vec::new())?;
    let text = text(case, &simple, &mut BTreeMap::new())?;
    Ok((simple, text))
}

/// Whether a number is known to be greater than 0.
pub(super) fn positive(case: &mut Case, e: &Rc<Real>) -> Step<bool> {
    Ok(match &**e {
        Real::Number(x) => *x > 0.0,
        Real::Op(Op::Mul | Op::Div | Op::Add, a, b) => positive(case, a)? && positive(case, b)?,
        _ => {
            let (_, text) = strict(case, e)?;
            case.positive.contains(&text)
        }
    })
}

fn is_number(e: &Real, x: f64) -> bool {
    matches!(e, Real::Number(y) if *y == x)
}

/// A function of a choice is a choice of functions.
fn of_choice(name: &Rc<str>, e: &Rc<Real>) -> Rc<Real> {
    match &**e {
        Real::If(conditions, yes, no) => {
            Rc::new(Real::If(conditions.clone(), of_choice(name, yes), of_choice(name, no)))
        }
        _ => Rc::new(Real::Fun(name.clone(), vec![e.clone()])),
    }
}

fn simplified(case: &mut Case, e: &Rc<Real>, more: &mut Vec<Int>) -> Step<Rc<Real>> {
    case.pay(1)?;
    Ok(match &**e {
        Real::Number(_) | Real::Int(_) | Real::Read(..) => e.clone(),
        Real::Constant(name) => match case.reals.get(name).cloned() {
            Some(value) => value,
            None => e.clone(),
        },
        Real::Op(o, a, b) => {
            let (a, b) = (simplified(case, a, more)?, simplified(case, b, more)?);
            match o {
                Op::Sub if is_number(&b, 0.0) => a,
                Op::Mul | Op::Div if is_number(&b, 1.0) => a,
                Op::Mul if is_number(&a, 1.0) => b,
                _ => op(*o, a, b),
            }
        }
        Real::Fun(name, arguments) => {
            let mut parts = Vec::new();
            for a in arguments {
                parts.push(simplified(case, a, more)?);
            }
            if let ("Neg" | "Not" | "Relu" | "Abs", [one]) = (&**name, &parts[..])
                && let Real::Fun(inner, of) = &**one
                && inner == name
            {
                // Twice is nothing, or once.
                return Ok(if matches!(&**name, "Neg" | "Not") { of[0].clone() } else { one.clone() });
            }
            if let ("Pow", [base, exponent]) = (&**name, &parts[..])
                && is_number(exponent, 1.0)
            {
                return Ok(base.clone());
            }
            if let Some(direct) = super::operators::cast_of_cast(name, &parts) {
                return Ok(direct);
            }
            match &parts[..] {
                [one] => of_choice(name, one),
                _ => Rc::new(Real::Fun(name.clone(), parts)),
            }
        }
        Real::Fold(f, vars, body) => {
            let from = more.len();
            more.extend(ranges(vars).map(|r| case.norm(&r)));
            let body = simplified(case, body, more);
            more.truncate(from);
            Rc::new(Real::Fold(*f, vars.clone(), body?))
        }
        Real::If(conditions, yes, no) => {
            let Some(left) = pruned(case, conditions, more) else { return simplified(case, no, more) };
            let from = more.len();
            more.extend(left.iter().cloned());
            let yes = simplified(case, yes, more);
            more.truncate(from);
            let yes = yes?;
            if left.is_empty() {
                return Ok(yes);
            }
            let no = simplified(case, no, more)?;
            if text(case, &yes, &mut BTreeMap::new())? == text(case, &no, &mut BTreeMap::new())? {
                return Ok(yes);
            }
            if let Real::If(inner, a, b) = &*yes
                && text(case, b, &mut BTreeMap::new())? == text(case, &no, &mut BTreeMap::new())?
            {
                let all: Vec<Int> = left.iter().chain(inner).cloned().collect();
                return Ok(match pruned(case, &all, more) {
                    Some(all) => Rc::new(Real::If(all, a.clone(), no)),
                    None => no,
                });
            }
            Rc::new(Real::If(left, yes, no))
        }
    })
}

/// The text; variables of folds are numbered from outside.
fn text(case: &mut Case, e: &Real, names: &mut BTreeMap<u32, u32>) -> Step<String> {
    case.pay(1)?;
    let int = |case: &Case, n: &Int, names: &BTreeMap<u32, u32>| {
        // Bound variables get numbers that free ones can't have.
        case.replaced(n, &mut |v| names.get(&v).map(|k| Int::symbol(&format!("@{k}")))).to_string()
    };
    Ok(match e {
        Real::Number(x) => format!("{x:?}"),
        Real::Constant(name) => format!("'{name}'"),
        Real::Int(n) => format!("({})", int(case, n, names)),
        Real::Read(input, at) => {
            let at = int(case, at, names);
            if at.contains('?') {
                format!("x{input}[unknown {}]", case.fresh("at"))
            } else {
                format!("x{input}[{at}]")
            }
        }
        Real::Op(o, a, b) => {
            let (mut a, mut b) = (text(case, a, names)?, text(case, b, names)?);
            let sign = match o {
                Op::Add => "+",
                Op::Sub => "-",
                Op::Mul => "*",
                Op::Div => "/",
            };
            // A sum or product of two does not depend on their order.
            if matches!(o, Op::Add | Op::Mul) && b < a {
                std::mem::swap(&mut a, &mut b);
            }
            format!("({a} {sign} {b})")
        }
        Real::Fun(name, arguments) => {
            let mut parts = Vec::new();
            for a in arguments {
                parts.push(text(case, a, names)?);
            }
            format!("{name}({})", parts.join(", "))
        }
        Real::Fold(f, vars, body) => {
            let before = names.clone();
            let mut out = format!("{f:?}<");
            for (v, n) in vars {
                out += &format!("{};", int(case, n, names));
                names.insert(*v, names.values().max().map_or(0, |n| n + 1));
            }
            out += &format!(">{{{}}}", text(case, body, names)?);
            *names = before;
            out
        }
        Real::If(conditions, yes, no) => {
            let mut all: Vec<String> = conditions.iter().map(|c| int(case, c, names)).collect();
            all.sort();
            format!("[{} ? {} : {}]", all.join(" & "), text(case, yes, names)?, text(case, no, names)?)
        }
    })
}
