//! Names for generated loops: a loop that runs over an original iterator has its name, a tile loop
//! the name of what it tiles.

use std::collections::{BTreeMap, BTreeSet};

use loops::visit::nodes;
use loops::{Expr, Function, LoopKind, Name, Stmt};

use super::Instance;
use crate::model::{Model, nest};
use crate::names::fresh;

/// Loops that a mapping to cores has added.
const CORES: [&str; 3] = ["tid", "rid", "cid"];

/// Renames the loops of a generated function, and with them the instance map.
pub(super) fn rename(
    function: Function,
    instances: BTreeMap<Name, Instance>,
    model: &Model,
) -> (Function, BTreeMap<Name, Instance>) {
    let mut taken: BTreeSet<Name> = function.sizes.iter().cloned().collect();
    taken.extend(function.params.iter().map(|p| p.name.clone()));
    taken.extend(model.locals.iter().map(|l| l.name.clone()));
    let mut renamer = Renamer { model, instances, result: BTreeMap::new() };
    let body = renamer.block(&function.body, &BTreeMap::new(), &taken);
    (Function { body, ..function }, renamer.result)
}

struct Renamer<'a> {
    model: &'a Model,
    instances: BTreeMap<Name, Instance>,
    result: BTreeMap<Name, Instance>,
}

impl Renamer<'_> {
    fn block(&mut self, body: &[Stmt], names: &BTreeMap<Name, Expr>, taken: &BTreeSet<Name>) -> Vec<Stmt> {
        body.iter().map(|stmt| self.stmt(stmt, names, taken)).collect()
    }

    fn stmt(&mut self, stmt: &Stmt, names: &BTreeMap<Name, Expr>, taken: &BTreeSet<Name>) -> Stmt {
        let put = |e: &Expr| e.substitute(&|name| names.get(name).cloned());
        match stmt {
            // A nest: its loops have their names.
            Stmt::Loop(l) if nest::by_data(l) => {
                let mut inner = names.clone();
                nest::bound(l).iter().for_each(|name| {
                    inner.remove(name);
                });
                let mut new = l.clone();
                new.lower = put(&l.lower);
                new.upper = put(&l.upper);
                new.body = self.as_it_is(&l.body, &inner);
                Stmt::Loop(new)
            }
            Stmt::Loop(l) => {
                let mut taken = taken.clone();
                // What a nest binds keeps its name, so nothing around it may have that.
                for stmt in nodes(&l.body) {
                    match stmt {
                        Stmt::Loop(l) if nest::by_data(l) => taken.extend(nest::bound(l)),
                        _ => {}
                    }
                }
                // The coordinates of cores have their names already.
                let generated = l.kind != LoopKind::Parallel || !CORES.contains(&l.var.as_str());
                let base = if generated { self.base(&l.var, &l.body) } else { l.var.to_string() };
                let var = fresh(&base, &mut taken);
                let mut inner = names.clone();
                inner.insert(l.var.clone(), Expr::Var(var.clone()));
                let mut new = l.clone();
                new.lower = put(&l.lower);
                new.upper = put(&l.upper);
                new.var = var;
                new.body = self.block(&l.body, &inner, &taken);
                Stmt::Loop(new)
            }
            Stmt::Assign(assign) => {
                if let Some(label) = &assign.label
                    && let Some(instance) = self.instances.get(label)
                {
                    let iterators = instance.iterators.iter().map(put).collect();
                    let original = instance.original.clone();
                    self.result.insert(label.clone(), Instance { original, iterators });
                }
                stmt.map(&mut |e| put(e), &mut |_| Vec::new())
            }
            Stmt::If { cond, then, otherwise } => Stmt::If {
                cond: put(cond),
                then: self.block(then, names, taken),
                otherwise: self.block(otherwise, names, taken),
            },
            Stmt::Block { mark, body } => {
                Stmt::Block { mark: mark.clone(), body: self.block(body, names, taken) }
            }
            other => other.map(&mut |e| put(e), &mut |_| Vec::new()),
        }
    }

    /// Statements of a nest, whose loops keep their names.
    fn as_it_is(&mut self, body: &[Stmt], names: &BTreeMap<Name, Expr>) -> Vec<Stmt> {
        let none = BTreeSet::new();
        let stmt = |stmt: &Stmt| match stmt {
            Stmt::Assign(_) => self.stmt(stmt, names, &none),
            other => {
                let put = |e: &Expr| e.substitute(&|name| names.get(name).cloned());
                other.map(&mut |e| put(e), &mut |inner| self.as_it_is(inner, names))
            }
        };
        body.iter().map(stmt).collect()
    }

    /// The name that the loop should have, if it is free.
    fn base(&self, var: &Name, body: &[Stmt]) -> String {
        let (mut exact, mut within, mut bounds) = (None, None, None);
        for stmt in nodes(body) {
            match stmt {
                Stmt::Assign(assign) => {
                    let Some(instance) = assign.label.as_ref().and_then(|label| self.instances.get(label))
                    else {
                        continue;
                    };
                    let statement = self.model.statements.iter().find(|s| s.label == instance.original);
                    let names = statement.map(|s| s.iterators()).unwrap_or_default();
                    for (name, value) in names.iter().zip(&instance.iterators) {
                        if *value == Expr::Var(var.clone()) {
                            exact.get_or_insert(name.clone());
                        } else if value.mentions(var) {
                            within.get_or_insert(name.clone());
                        }
                    }
                }
                // A tile loop is seen in the bounds of the loop over its points.
                Stmt::Loop(l) if l.lower.mentions(var) => {
                    bounds.get_or_insert_with(|| self.base(&l.var, &l.body));
                }
                _ => {}
            }
        }
        match (exact, bounds, within) {
            (Some(name), ..) => name.to_string(),
            (None, Some(name), _) => format!("{name}t"),
            (None, None, Some(name)) => name.to_string(),
            (None, None, None) => "t".to_owned(),
        }
    }
}
