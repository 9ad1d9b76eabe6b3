//! Quotients of sizes in the bounds of loops around nests, such as half the number of time steps,
//! get names while a function is optimised.
//!
//! A bound `t floordiv 2` makes a domain whose corners are no integers. The set library then takes
//! minutes for the code of tiles in time, where it takes a part of a second for a bound that is a
//! size. So the quotient is a size of its own, with what is known of it as assumptions. In the
//! result it is the quotient again.

use std::collections::BTreeMap;

use loops::visit::{fresh, nodes, substitute, taken};
use loops::{BinaryOp, CompareOp, Expr, Function, Name, Stmt};

use super::Optimized;
use crate::codegen::Instance;

/// A function with names for quotients, and what the names stand for.
pub(super) struct Named {
    pub function: Function,
    original: Function,
    meanings: BTreeMap<Name, Expr>,
}

/// Names the quotients in the bounds of loops that hold loops; none if there are none.
pub(super) fn named(function: &Function) -> Option<Named> {
    let mut quotients: Vec<(Expr, i64)> = Vec::new();
    for stmt in nodes(&function.body) {
        let Stmt::Loop(l) = stmt else { continue };
        if !nodes(&l.body).any(|inner| matches!(inner, Stmt::Loop(_))) {
            continue;
        }
        for e in [&l.lower, &l.upper].into_iter().flat_map(Expr::nodes) {
            let quotient = quotient(e).filter(|(over, _)| over.is_over(&function.sizes));
            quotients.extend(quotient.filter(|found| !quotients.contains(found)));
        }
    }
    if quotients.is_empty() {
        return None;
    }
    let mut taken = taken(function);
    let mut named = function.clone();
    let mut meanings = BTreeMap::new();
    let mut names = Vec::new();
    for (over, by) in quotients {
        let base = match &over {
            Expr::Var(name) => Name::new(format!("{name}_over_{by}")),
            _ => Name::new("quotient"),
        };
        let name = fresh(&base, &taken);
        taken.insert(name.clone());
        let product = Expr::binary(BinaryOp::Mul, Expr::Int(by), Expr::Var(name.clone()));
        let last = Expr::binary(BinaryOp::Add, product.clone(), Expr::Int(by - 1));
        named.sizes.push(name.clone());
        named.assumptions.push(Expr::compare(CompareOp::Le, product, over.clone()));
        named.assumptions.push(Expr::compare(CompareOp::Le, over.clone(), last));
        meanings.insert(name.clone(), Expr::binary(BinaryOp::FloorDiv, over.clone(), Expr::Int(by)));
        names.push((over, by, name));
    }
    named.body = by_name(&function.body, &names);
    Some(Named { function: named, original: function.clone(), meanings })
}

/// A division by a constant above 1: what is divided, and by what.
fn quotient(e: &Expr) -> Option<(Expr, i64)> {
    match e {
        Expr::Binary(BinaryOp::FloorDiv, over, by) => match **by {
            Expr::Int(by) if by > 1 => Some(((**over).clone(), by)),
            _ => None,
        },
        _ => None,
    }
}

fn by_name(body: &[Stmt], names: &[(Expr, i64, Name)]) -> Vec<Stmt> {
    fn go(e: &Expr, names: &[(Expr, i64, Name)]) -> Expr {
        if let Expr::Binary(op @ (BinaryOp::FloorDiv | BinaryOp::Mod), over, by) = e
            && let Some((_, by, name)) = names.iter().find(|(o, b, _)| **over == *o && **by == Expr::Int(*b))
        {
            let name = Expr::Var(name.clone());
            return match op {
                BinaryOp::FloorDiv => name,
                _ => {
                    let whole = Expr::binary(BinaryOp::Mul, Expr::Int(*by), name);
                    Expr::binary(BinaryOp::Sub, (**over).clone(), whole)
                }
            };
        }
        e.map_children(&mut |child| go(child, names))
    }
    body.iter().map(|stmt| stmt.map(&mut |e| go(e, names), &mut |inner| by_name(inner, names))).collect()
}

impl Named {
    /// The result with the quotients in the place of their names.
    pub fn put_back(&self, result: Optimized) -> Optimized {
        let function = |made: Function| Function {
            sizes: self.original.sizes.clone(),
            assumptions: self.original.assumptions.clone(),
            body: substitute(&made.body, &self.meanings),
            ..made
        };
        let mut result = result;
        result.function = function(result.function);
        result.unpacked = result.unpacked.map(|unpacked| {
            let mut unpacked = unpacked;
            unpacked.function = function(unpacked.function);
            unpacked.instances = self.instances(unpacked.instances);
            unpacked
        });
        result.instances = self.instances(result.instances);
        for one in &mut result.applied {
            one.function = function(one.function.clone());
        }
        result
    }

    fn instances(&self, instances: BTreeMap<Name, Instance>) -> BTreeMap<Name, Instance> {
        let meaning = |name: &Name| self.meanings.get(name).cloned();
        let back = |(label, mut instance): (Name, Instance)| {
            instance.iterators = instance.iterators.iter().map(|e| e.substitute(&meaning)).collect();
            (label, instance)
        };
        instances.into_iter().map(back).collect()
    }
}
