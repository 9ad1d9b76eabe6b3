//! Loops that have reached a fixed point end.
//!
//! An iteration that keeps its state once a condition on the state holds (`if r < eps then x else
//! step x`) copies it in all later turns. The loop ends where the condition holds at the beginning
//! of a turn, if nobody else reads the copy. Else it ends after that turn, which has only copied:
//! one more would change nothing. Left out: bodies that do anything but copy where the condition
//! holds, and conditions on the loop variable.

use loops::visit::{check_depth, fresh, taken};
use loops::{
    Access, ArrayDecl, Assign, Component, Expr, Function, Loop, LoopKind, Name, Scalar, Stmt, Storage,
    UnaryOp,
};
use std::collections::{BTreeMap, BTreeSet};

use crate::pass::{Pass, Step, changed};

/// The pass.
pub const PASS: Pass = Pass {
    step: Step {
        name: "early-exit",
        literature: "early exit at a fixed point (the `while` loop of an iteration that converges)",
        about: "a loop whose state stays as it is once a condition holds ends there",
    },
    run: |function| changed(function, ended(function)),
};

/// The function with such loops. Takes time in proportion to its size, times the depth of its
/// loops.
///
/// A function that is nested too deeply to look at comes back as it is.
fn ended(function: &Function) -> Function {
    if check_depth(function).is_err() {
        return function.clone();
    }
    let mut ends = Ends { function, taken: taken(function) };
    Function { body: ends.block(&function.body), ..function.clone() }
}

struct Ends<'f> {
    function: &'f Function,
    taken: BTreeSet<Name>,
}

impl Ends<'_> {
    fn block(&mut self, stmts: &[Stmt]) -> Vec<Stmt> {
        let mut out = Vec::new();
        for stmt in stmts {
            let inner = stmt.map(&mut Expr::clone, &mut |inner| self.block(inner));
            match fixed_point(stmt) {
                Some(found) if self.is_alone(stmt, &found) => out.push(found.at_once()),
                Some(found) => out.extend(until(&found, &mut self.taken)),
                None => out.push(inner),
            }
        }
        out
    }

    /// Whether what the loop copies its state to is read and written in it alone.
    fn is_alone(&self, stmt: &Stmt, found: &FixedPoint) -> bool {
        let uses = |stmts: &mut dyn Iterator<Item = &Stmt>, name: &Name| {
            stmts
                .filter(|stmt| stmt.written() == Some(name) || stmt.exprs().iter().any(|e| e.reads(name)))
                .count()
        };
        found.copies.iter().all(|copy| {
            let name = &copy.array;
            let all = uses(&mut loops::visit::nodes(&self.function.body), name);
            let local = self.function.params.iter().all(|param| param.name != *name);
            local && uses(&mut stmt.nodes(), name) == all
        })
    }
}

/// A loop that has reached a fixed point once a condition holds.
struct FixedPoint<'l> {
    l: &'l Loop,
    /// The condition that stands in the body.
    cond: &'l Expr,
    /// What its value is then.
    value: bool,
    /// What the state is copied to.
    copies: Vec<Access>,
}

impl FixedPoint<'_> {
    /// The condition under which another turn changes something.
    fn goes_on(&self) -> Expr {
        match self.value {
            true => Expr::Unary(UnaryOp::Not, Box::new(self.cond.clone())),
            false => self.cond.clone(),
        }
    }

    /// The loop that ends where the condition holds.
    fn at_once(&self) -> Stmt {
        let then = self.decided(&self.l.body);
        let body = vec![Stmt::If { cond: self.goes_on(), then, otherwise: Vec::new() }];
        Stmt::Loop(Loop { body, ..self.l.clone() })
    }

    /// The statements up to the first that changes what the condition reads, where it does not
    /// hold; the others as they are.
    fn decided(&self, stmts: &[Stmt]) -> Vec<Stmt> {
        let mut out = Vec::new();
        for (k, stmt) in stmts.iter().enumerate() {
            match stmt {
                Stmt::If { cond, then, otherwise } if cond == self.cond => {
                    out.extend_from_slice(if self.value { otherwise } else { then });
                }
                Stmt::Assign(a) => {
                    out.push(Stmt::Assign(Assign { value: self.chosen(&a.value), ..a.clone() }));
                }
                other => out.push(other.clone()),
            }
            if self.cond.arrays().iter().any(|array| stmt.writes(array)) {
                out.extend_from_slice(&stmts[k + 1..]);
                break;
            }
        }
        out
    }

    fn chosen(&self, value: &Expr) -> Expr {
        match value {
            Expr::Select(cond, a, b) if **cond == *self.cond => self.chosen(if self.value { b } else { a }),
            other => other.map_children(&mut |child| self.chosen(child)),
        }
    }
}

/// The loop that ends after a turn at whose beginning the condition held.
fn until(found: &FixedPoint, taken: &mut BTreeSet<Name>) -> Vec<Stmt> {
    let l = found.l;
    let name = fresh(&Name::new("going_on"), taken);
    taken.insert(name.clone());
    let flag = Access::scalar(name.clone());
    let set = |value| Stmt::Assign(Assign { label: None, target: flag.clone(), update: None, value });
    let mut body = vec![set(found.goes_on())];
    body.extend(l.body.iter().cloned());
    let body = vec![Stmt::If { cond: Expr::Load(flag.clone()), then: body, otherwise: Vec::new() }];
    let decl = ArrayDecl { name, elem: Scalar::Bool.into(), dims: Vec::new(), storage: Storage::Stack };
    vec![Stmt::Local(decl), set(Expr::Bool(true)), Stmt::Loop(Loop { body, ..l.clone() })]
}

/// The condition under which the body only copies, if there is one: the first one in it, or its
/// opposite.
fn fixed_point(stmt: &Stmt) -> Option<FixedPoint<'_>> {
    let Stmt::Loop(l) = stmt else { return None };
    if l.kind != LoopKind::Sequential || !l.reductions.is_empty() {
        return None;
    }
    let first = first_condition(&l.body)?;
    let plain = |e: &Expr| e.loads().all(|access| access.indices.is_empty());
    if !first.has_loads() || first.mentions(&l.var) || !plain(first) {
        return None;
    }
    [true, false].into_iter().find_map(|value| {
        let mut copies = Copies { var: &l.var, holds: first, value, made: Vec::new() };
        let kept = copies.block(&l.body, &mut Vec::new()) && copies.keep(first);
        let to = |copies: Copies| copies.made.into_iter().map(|copy| copy.to).collect();
        kept.then(|| FixedPoint { l, cond: first, value, copies: to(copies) })
    })
}

/// The condition of the first choice, in front of which nothing but loops and declarations begins.
fn first_condition(stmts: &[Stmt]) -> Option<&Expr> {
    stmts.iter().find_map(|stmt| match stmt {
        Stmt::If { cond, .. } => Some(cond),
        Stmt::Assign(a) => a.value.nodes().find_map(|e| match e {
            Expr::Select(cond, ..) => Some(&**cond),
            _ => None,
        }),
        Stmt::Loop(l) => first_condition(&l.body),
        _ => None,
    })
}

/// What a body does where a condition has a value.
struct Copies<'l> {
    /// The variable of the loop whose body it is.
    var: &'l Name,
    holds: &'l Expr,
    value: bool,
    made: Vec<Copied>,
}

/// `to[..] = from[..]` in loops, whose variables have the names of their depths.
#[derive(PartialEq)]
struct Copied {
    /// Bounds and step of the loops around it.
    loops: Vec<(Expr, Expr, i64)>,
    to: Access,
    from: Access,
}

impl<'l> Copies<'l> {
    /// Whether the statements only copy, and doing so twice is doing it once.
    fn block(&mut self, stmts: &'l [Stmt], around: &mut Vec<&'l Loop>) -> bool {
        stmts.iter().all(|stmt| match stmt {
            Stmt::Assign(a) => self.assign(a, around),
            Stmt::If { cond, then, otherwise } => match self.decides(cond) {
                Some(true) => self.block(then, around),
                Some(false) => self.block(otherwise, around),
                None => false,
            },
            Stmt::Loop(l) => {
                if !l.reductions.is_empty() || [&l.lower, &l.upper].iter().any(|e| !self.is_still(e)) {
                    return false;
                }
                around.push(l);
                let copies = self.block(&l.body, around);
                around.pop();
                copies
            }
            _ => false,
        })
    }

    /// Whether an expression is the same in each turn, whatever the arrays hold.
    fn is_still(&self, e: &Expr) -> bool {
        !e.has_loads() && !e.mentions(self.var)
    }

    fn assign(&mut self, a: &Assign, around: &[&Loop]) -> bool {
        let Some(Expr::Load(from)) = self.reduced(&a.value) else { return false };
        let still = a.target.indices.iter().chain(&from.indices).all(|e| self.is_still(e));
        if a.update.is_some() || !still {
            return false;
        }
        let (to, from) = (a.target.clone(), from.clone());
        to == from || self.copied(to, from, around)
    }

    /// What is left of a value whose choices are decided.
    fn reduced<'e>(&self, value: &'e Expr) -> Option<&'e Expr> {
        match value {
            Expr::Select(cond, a, b) => match self.decides(cond)? {
                true => self.reduced(a),
                false => self.reduced(b),
            },
            other => Some(other),
        }
    }

    /// Whether a condition holds, if it is the one that is known, on the state or on its copy.
    fn decides(&self, cond: &Expr) -> Option<bool> {
        if let Expr::Unary(UnaryOp::Not, inner) = cond {
            return self.decides(inner).map(|holds| !holds);
        }
        let original = cond.map_loads(&mut |access| {
            let copy = self.made.iter().find(|copy| copy.loops.is_empty() && copy.to == access);
            Expr::Load(copy.map_or(access, |copy| copy.from.clone()))
        });
        (original == *self.holds).then_some(self.value)
    }

    /// Adds a copy: of the state to what nobody has read, or back.
    fn copied(&mut self, to: Access, from: Access, around: &[&Loop]) -> bool {
        let depth = |name: &Name| around.iter().rposition(|l| l.var == *name);
        let by_depth: BTreeMap<Name, Expr> = (around.iter().map(|l| &l.var))
            .filter_map(|name| Some((name.clone(), Expr::Var(Name::new(format!("#{}", depth(name)?))))))
            .collect();
        let put = |e: &Expr| e.substitute(&|name| by_depth.get(name).cloned());
        let here = Copied {
            loops: around.iter().map(|l| (put(&l.lower), put(&l.upper), l.step)).collect(),
            to: to.map_indices(&mut |e| put(e)),
            from: from.map_indices(&mut |e| put(e)),
        };
        let back = |copy: &Copied| copy.to == here.from && copy.from == here.to && copy.loops == here.loops;
        if self.made.iter().any(back) {
            return true;
        }
        let clash = |copy: &Copied| {
            overlap(&copy.to, &here.to) || overlap(&copy.from, &here.to) || overlap(&copy.to, &here.from)
        };
        if overlap(&here.to, &here.from) || self.made.iter().any(clash) {
            return false;
        }
        self.made.push(here);
        true
    }

    /// Whether nothing that a condition reads has changed.
    fn keep(&self, cond: &Expr) -> bool {
        cond.loads().all(|read| self.made.iter().all(|copy| !overlap(&copy.to, read)))
    }
}

/// Whether two accesses may be of one place; elements of an array are not told apart.
fn overlap(a: &Access, b: &Access) -> bool {
    let within = |a: &[Component], b: &[Component]| a.iter().zip(b).all(|(x, y)| x == y);
    a.array == b.array && within(&a.path, &b.path)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(body: &str) -> Option<String> {
        let text = format!(
            "fn f[n, m](a: inout f64[n], r: inout f64) {{ local b: f64[n] heap local s: f64 stack {body} }}"
        );
        let function = loops::parse(&text).unwrap().functions.remove(0);
        let new = (PASS.run)(&function)?;
        assert!(loops::validate(&new).is_proved());
        Some(new.to_string())
    }

    #[test]
    fn a_number_that_stays_ends_the_loop() {
        let new = after("for t in 0..m { r = select(r < 1.0, r, r / 2.0) }").unwrap();
        assert!(new.contains("if !(r < 1.0)") && new.contains("r = r / 2.0"), "{new}");
        assert!(after("for t in 0..m { r = select(r < 1.0, r / 2.0, r) }").is_some());
        // The other branch is no copy, depends on the turn, or changes what is asked.
        for body in [
            "r = select(r < 1.0, r + 1.0, r / 2.0)",
            "r = select(f64(t) < 1.0, r, r / 2.0)",
            "s = select(r < 1.0, r, 2.0) r = select(r < 1.0, s, r / 2.0) s = 3.0",
            "r = select(r < 1.0, s, r / 2.0)",
        ] {
            assert_eq!(after(&format!("s = 5.0 for t in 0..m {{ {body} }}")), None, "{body}");
        }
    }

    #[test]
    fn two_buffers_that_stay_end_the_loop() {
        let step = |to: &str, from: &str, next: &str, last: &str| {
            format!(
                "if {last} < 1.0 {{ for j in 0..n {{ {to}[j] = {from}[j] }} {next} = {last} }} \
                 else {{ for j in 0..n {{ {to}[j] = {from}[j] / 2.0 }} {next} = {last} / 2.0 }}"
            )
        };
        let turn = step("b", "a", "s", "r") + &step("a", "b", "r", "s");
        let alone = after(&format!("for t in 0..m {{ {turn} }}")).unwrap();
        assert!(alone.contains("if !(r < 1.0)"), "{alone}");
        let read = after(&format!("for t in 0..m {{ {turn} }} r = s")).unwrap();
        assert!(read.contains("going_on = !(r < 1.0)") && read.contains("if going_on"), "{read}");
        // Back from other elements than there.
        let skewed = turn.replacen("a[j] = b[j] }", "a[j] = b[n - 1 - j] }", 1);
        assert_eq!(after(&format!("for t in 0..m {{ {skewed} }}")), None);
    }
}
