//! How views change paths: one step of the code generation rules for expressions (`cge.5` to
//! `cge.13`, and those of the further views).
//!
//! Code generation follows them until it reaches a variable. In the default mode the translation
//! follows them too, to bring an index to a delayed `map`. Functions inside views are not applied
//! here.

use functional::{DataType, Prim};
use loops::{BinaryOp, Scalar, Size};

use crate::index;
use crate::phrase::{Exp, ExpArg, ExpKind, Step, element, length};

/// The result of one step.
pub(crate) enum Viewed {
    /// The same data, at another path (already stored) of another expression.
    Go(&'static str, Exp),
    /// The first expression where the condition holds, else the second, each at a path of its own.
    Branch(&'static str, Exp, (Exp, Vec<Step>), (Exp, Vec<Step>)),
}

/// One step from `head` at `path`, whose last element is the step next to the head. `None` if the
/// head is no view or the path is too short.
pub fn step(head: &Exp, path: &mut Vec<Step>) -> Option<Viewed> {
    let ExpKind::Prim(prim, args) = head.kind() else { return None };
    let view = View { head, prim: *prim, args, rule: prim.info().rules[2] };
    match prim {
        Prim::Index | Prim::Fst | Prim::Snd | Prim::Pair | Prim::Zip | Prim::Unzip => part(&view, path),
        Prim::Split | Prim::AsVector | Prim::Slide | Prim::Join | Prim::AsScalar | Prim::Transpose => {
            regrouped(&view, path)
        }
        Prim::Copy | Prim::Take | Prim::Reverse | Prim::Drop | Prim::PadClamp => moved(&view, path),
        Prim::Concat => concat(&view, path),
        Prim::Pad => pad(&view, path),
        Prim::Gather | Prim::Iota | Prim::Splat | Prim::Select => element_at(&view, path),
        // A scalar operation on vectors, lane by lane.
        _ if matches!(head.ty(), DataType::Vector(..)) && lanewise(*prim) => {
            let lane = pop_at(path)?;
            let args = args.iter().map(|arg| at_lane(arg, &lane)).collect::<Option<Vec<_>>>()?;
            view.go(Exp::prim(*prim, args, element(head.ty())?))
        }
        _ => None,
    }
}

/// A primitive as the head of an expression, with its arguments and the rule for it.
struct View<'a> {
    head: &'a Exp,
    prim: Prim,
    args: &'a [ExpArg],
    rule: &'static str,
}

impl View<'_> {
    /// The expression that is the argument `k`.
    fn exp(&self, k: usize) -> Option<Exp> {
        match self.args.get(k) {
            Some(ExpArg::Exp(e)) => Some(e.clone()),
            _ => None,
        }
    }

    /// The size that is the argument `k`.
    fn size(&self, k: usize) -> Option<Size> {
        match self.args.get(k) {
            Some(ExpArg::Size(s)) => Some(s.clone()),
            _ => None,
        }
    }

    fn go(&self, e: Exp) -> Option<Viewed> {
        Some(Viewed::Go(self.rule, e))
    }
}

/// A step into a part of what an expression is made of.
fn part(view: &View<'_>, path: &mut Vec<Step>) -> Option<Viewed> {
    match view.prim {
        Prim::Index => {
            path.push(Step::At(view.exp(1)?));
            view.go(view.exp(0)?)
        }
        Prim::Fst => {
            path.push(Step::First);
            view.go(view.exp(0)?)
        }
        Prim::Snd => {
            path.push(Step::Second);
            view.go(view.exp(0)?)
        }
        Prim::Pair => match path.pop()? {
            Step::First => view.go(view.exp(0)?),
            Step::Second => Some(Viewed::Go("cge.11", view.exp(1)?)),
            other => {
                path.push(other);
                None
            }
        },
        Prim::Zip => match &path[..] {
            [.., Step::First, Step::At(i)] => {
                let i = i.clone();
                path.truncate(path.len() - 2);
                path.push(Step::At(i));
                view.go(view.exp(0)?)
            }
            [.., Step::Second, Step::At(i)] => {
                let i = i.clone();
                path.truncate(path.len() - 2);
                path.push(Step::At(i));
                Some(Viewed::Go("cge.6", view.exp(1)?))
            }
            [Step::At(i)] => {
                let (a, b) = (view.exp(0)?.at(i.clone())?, view.exp(1)?.at(i.clone())?);
                path.clear();
                let ty = DataType::pair(a.ty().clone(), b.ty().clone());
                view.go(Exp::prim(Prim::Pair, vec![ExpArg::Exp(a), ExpArg::Exp(b)], ty))
            }
            _ => None,
        },
        Prim::Unzip => match &path[..] {
            [.., Step::At(i), component] if !matches!(component, Step::At(_)) => {
                let (i, component) = (i.clone(), component.clone());
                path.truncate(path.len() - 2);
                path.push(component);
                path.push(Step::At(i));
                view.go(view.exp(0)?)
            }
            _ => None,
        },
        _ => None,
    }
}

/// Views that keep all elements, in other rows.
fn regrouped(view: &View<'_>, path: &mut Vec<Step>) -> Option<Viewed> {
    match view.prim {
        Prim::Split | Prim::AsVector => {
            let k = view.size(0)?;
            two(path, &view.exp(1)?, |i, j, ty| index::add(index::mul_size(i, &k, ty), j, ty))?;
            view.go(view.exp(1)?)
        }
        Prim::Slide => {
            let s = view.size(1)?;
            two(path, &view.exp(2)?, |i, j, ty| index::add(index::mul_size(i, &s, ty), j, ty))?;
            view.go(view.exp(2)?)
        }
        Prim::Join | Prim::AsScalar => {
            let xs = view.exp(0)?;
            let rows = DataType::Idx(length(xs.ty())?.clone());
            let n = length(&element(xs.ty())?)?.clone();
            let i = pop_at(path)?;
            let inner = DataType::Idx(n.clone());
            path.push(Step::At(index::mod_size(i.clone(), &n, &inner)));
            path.push(Step::At(index::div_size(i, &n, &rows)));
            view.go(xs)
        }
        Prim::Transpose => match &path[..] {
            [.., Step::At(_), Step::At(_)] => {
                let top = path.len() - 1;
                path.swap(top, top - 1);
                view.go(view.exp(0)?)
            }
            _ => None,
        },
        _ => None,
    }
}

/// Views of an array whose elements are at other places.
fn moved(view: &View<'_>, path: &mut Vec<Step>) -> Option<Viewed> {
    match view.prim {
        Prim::Copy => {
            path.last()?;
            view.go(view.exp(0)?)
        }
        Prim::Take => {
            path.last()?;
            view.go(view.exp(1)?)
        }
        Prim::Reverse => {
            let xs = view.exp(0)?;
            let last = length(xs.ty())?.clone() - Size::constant(1);
            one(path, &xs, |i, ty| index::size_minus(&last, i, ty))?;
            view.go(xs)
        }
        Prim::Drop => {
            let (k, xs) = (view.size(0)?, view.exp(1)?);
            one(path, &xs, |i, ty| index::add_size(i, &k, ty))?;
            view.go(xs)
        }
        Prim::PadClamp => {
            let (l, xs) = (view.size(0)?, view.exp(2)?);
            let last = length(xs.ty())?.clone() - Size::constant(1);
            one(path, &xs, |i, ty| {
                let low = Exp::size(Size::constant(0), ty.clone());
                let high = Exp::size(last.clone(), ty.clone());
                let at_least =
                    Exp::arith(BinaryOp::Max, index::add_size(i, &-l.clone(), ty), low, ty.clone());
                Exp::arith(BinaryOp::Min, at_least, high, ty.clone())
            })?;
            view.go(xs)
        }
        _ => None,
    }
}

/// Two arrays one after the other: the index decides which.
fn concat(view: &View<'_>, path: &mut Vec<Step>) -> Option<Viewed> {
    let (xs, ys) = (view.exp(0)?, view.exp(1)?);
    let n = length(xs.ty())?.clone();
    let i = pop_at(path)?;
    // An index into the first array alone, such as one that `take` lets through.
    let first = match i.kind() {
        ExpKind::Size(k) => (n.clone() - k.clone() - Size::constant(1)).is_natural(),
        _ => matches!(i.ty(), DataType::Idx(bound) if *bound == n),
    };
    if first {
        path.push(Step::At(i));
        return view.go(xs);
    }
    if let ExpKind::Size(k) = i.kind()
        && (k.clone() - n.clone()).is_natural()
    {
        let ty = DataType::Idx(length(ys.ty())?.clone());
        path.push(Step::At(index::add_size(i.clone(), &-n.clone(), &ty)));
        return view.go(ys);
    }
    let (mut left, mut right) = (path.clone(), path.clone());
    let ty = DataType::Idx(length(ys.ty())?.clone());
    right.push(Step::At(index::add_size(i.clone(), &-n.clone(), &ty)));
    left.push(Step::At(i.clone()));
    Some(Viewed::Branch(view.rule, less(i, &n), (xs, left), (ys, right)))
}

/// An array between copies of a value: the index decides which.
fn pad(view: &View<'_>, path: &mut Vec<Step>) -> Option<Viewed> {
    let (l, value, xs) = (view.size(0)?, view.exp(2)?, view.exp(3)?);
    let n = length(xs.ty())?.clone();
    let i = pop_at(path)?;
    let ty = DataType::Idx(n.clone());
    if let ExpKind::Size(k) = i.kind() {
        let (from, end) = (k.clone() - l.clone(), l.clone() + n.clone());
        let one = Size::constant(1);
        if from.is_natural() && (end.clone() - k.clone() - one.clone()).is_natural() {
            path.push(Step::At(Exp::size(from, ty)));
            return view.go(xs);
        }
        if (l.clone() - k.clone() - one).is_natural() || (k.clone() - end).is_natural() {
            return view.go(value);
        }
    }
    let mut inner = path.clone();
    inner.push(Step::At(index::add_size(i.clone(), &-l.clone(), &ty)));
    let below = less(i.clone(), &(l.clone() + n));
    let inside = if l.as_constant() == Some(0) {
        below
    } else {
        let low = Exp::size(l, i.ty().clone());
        let above = logic(Prim::Le, low, i);
        logic(Prim::And, above, below)
    };
    Some(Viewed::Branch(view.rule, inside, (xs, inner), (value, path.clone())))
}

/// Arrays whose elements come from elsewhere.
fn element_at(view: &View<'_>, path: &mut Vec<Step>) -> Option<Viewed> {
    match view.prim {
        Prim::Gather => {
            let (is, xs) = (view.exp(0)?, view.exp(1)?);
            let i = pop_at(path)?;
            path.push(Step::At(is.at(i)?));
            view.go(xs)
        }
        Prim::Iota => {
            let i = pop_at(path)?;
            // Numbers are values of indices; where indices themselves are gone through, these stay
            // indices.
            match element(view.head.ty())? {
                DataType::Idx(_) => view.go(i),
                number => view.go(Exp::prim(Prim::ToI64, vec![ExpArg::Exp(i)], number)),
            }
        }
        Prim::Splat => {
            pop_at(path)?;
            view.go(view.exp(1)?)
        }
        Prim::Select => {
            path.last()?;
            Some(Viewed::Branch(
                view.rule,
                view.exp(0)?,
                (view.exp(1)?, path.clone()),
                (view.exp(2)?, path.clone()),
            ))
        }
        _ => None,
    }
}

/// Whether the primitive computes a scalar from scalars (and a vector lane by lane).
pub(crate) fn lanewise(prim: Prim) -> bool {
    prim.info().group == functional::Group::Scalar && prim != Prim::Select
}

fn at_lane(arg: &ExpArg, lane: &Exp) -> Option<ExpArg> {
    match arg {
        ExpArg::Exp(e) if matches!(e.ty(), DataType::Vector(..)) => Some(ExpArg::Exp(e.at(lane.clone())?)),
        other => Some(other.clone()),
    }
}

fn less(i: Exp, n: &Size) -> Exp {
    let n = Exp::size(n.clone(), i.ty().clone());
    logic(Prim::Lt, i, n)
}

fn logic(prim: Prim, a: Exp, b: Exp) -> Exp {
    Exp::prim(prim, vec![ExpArg::Exp(a), ExpArg::Exp(b)], DataType::Scalar(Scalar::Bool))
}

fn pop_at(path: &mut Vec<Step>) -> Option<Exp> {
    match path.last()? {
        Step::At(i) => {
            let i = i.clone();
            path.pop();
            Some(i)
        }
        _ => None,
    }
}

fn one(path: &mut Vec<Step>, xs: &Exp, f: impl FnOnce(Exp, &DataType) -> Exp) -> Option<()> {
    let i = pop_at(path)?;
    path.push(Step::At(f(i, &DataType::Idx(length(xs.ty())?.clone()))));
    Some(())
}

fn two(path: &mut Vec<Step>, xs: &Exp, f: impl FnOnce(Exp, Exp, &DataType) -> Exp) -> Option<()> {
    let [.., Step::At(j), Step::At(i)] = &path[..] else { return None };
    let (i, j) = (i.clone(), j.clone());
    path.truncate(path.len() - 2);
    path.push(Step::At(f(i, j, &DataType::Idx(length(xs.ty())?.clone()))));
    Some(())
}
