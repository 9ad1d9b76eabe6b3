//! Pairs: transfers move scalars, so an array of pairs becomes an array for each component while
//! the program is on the cores.
//!
//! The mapping works on the function with one array a component. In the end the host takes the
//! parameters apart before, and puts results together after.

use std::collections::{BTreeMap, BTreeSet};

use loops::visit::fresh;
use loops::{
    Access, ArrayDecl, Assign, Component, Elem, Expr, Function, Loop, LoopKind, Name, Param, ParamMode, Stmt,
    Storage,
};

/// A function without pairs, and the way back.
pub struct Apart {
    /// The function whose arrays have scalar elements.
    pub function: Function,
    original: Function,
    /// The parameters with pairs, and those that take their place.
    components: Vec<(Param, Vec<Part>)>,
}

/// A component, and the parameter that it becomes.
type Part = (Vec<Component>, Param);

/// Takes the pairs of a function apart; none if it has none.
pub fn apart(function: &Function) -> Option<Apart> {
    let taken = loops::visit::taken(function);
    let mut names = Names { taken, of: BTreeMap::new() };
    let mut components = Vec::new();
    let mut params = Vec::new();
    for param in &function.params {
        if let Elem::Scalar(_) = param.elem {
            params.push(param.clone());
            continue;
        }
        let own: Vec<Part> = names
            .declare(&param.name, &param.elem)
            .into_iter()
            .map(|(path, name, elem)| (path, Param { name, elem, ..param.clone() }))
            .collect();
        params.extend(own.iter().map(|(_, param)| param.clone()));
        components.push((param.clone(), own));
    }
    let body = names.block(&function.body);
    if names.of.is_empty() {
        return None;
    }
    let original = function.clone();
    Some(Apart { function: Function { params, body, ..function.clone() }, original, components })
}

impl Apart {
    /// A function made from the one without pairs, with the parameters of the original.
    pub fn together(&self, mapped: &Function) -> Function {
        let mut taken = loops::visit::taken(mapped);
        taken.extend(self.original.params.iter().map(|p| p.name.clone()));
        let (mut before, mut after) = (Vec::new(), Vec::new());
        for (pair, components) in &self.components {
            for (path, component) in components {
                before.push(Stmt::Local(ArrayDecl {
                    name: component.name.clone(),
                    elem: component.elem.clone(),
                    dims: component.dims.clone(),
                    storage: Storage::Heap,
                }));
                let vars: Vec<Name> =
                    (0..pair.dims.len()).map(|k| fresh(&Name::new(format!("element{k}")), &taken)).collect();
                let indices: Vec<Expr> = vars.iter().cloned().map(Expr::Var).collect();
                let outside =
                    Access { array: pair.name.clone(), indices: indices.clone(), path: path.clone() };
                let inside = Access::element(component.name.clone(), indices);
                let copy = |target: &Access, value: &Access| {
                    let copy = Assign {
                        label: None,
                        target: target.clone(),
                        update: None,
                        value: Expr::Load(value.clone()),
                    };
                    vars.iter().zip(&pair.dims).rev().fold(Stmt::Assign(copy), |inner, (var, dim)| {
                        Stmt::Loop(Loop::upto(var.clone(), dim.clone(), LoopKind::Sequential, vec![inner]))
                    })
                };
                if pair.mode != ParamMode::Out {
                    before.push(copy(&inside, &outside));
                }
                if pair.mode != ParamMode::In {
                    after.push(copy(&outside, &inside));
                }
            }
        }
        let body = before.into_iter().chain(mapped.body.iter().cloned()).chain(after).collect();
        Function { params: self.original.params.clone(), body, ..mapped.clone() }
    }
}

struct Names {
    taken: BTreeSet<Name>,
    of: BTreeMap<(Name, Vec<Component>), Name>,
}

impl Names {
    /// Names for the components of an array.
    fn declare(&mut self, array: &Name, elem: &Elem) -> Vec<(Vec<Component>, Name, Elem)> {
        let mut found = Vec::new();
        scalars(elem, &mut Vec::new(), &mut found);
        found
            .into_iter()
            .map(|(path, elem)| {
                let suffix: String =
                    path.iter().map(|c| if *c == Component::First { "_x1" } else { "_x2" }).collect();
                let name = fresh(&Name::new(format!("{array}{suffix}")), &self.taken);
                self.taken.insert(name.clone());
                self.of.insert((array.clone(), path.clone()), name.clone());
                (path, name, elem)
            })
            .collect()
    }

    fn access(&self, access: Access) -> Access {
        match self.of.get(&(access.array.clone(), access.path.clone())) {
            Some(name) => Access::element(name.clone(), access.indices),
            None => access,
        }
    }

    fn block(&mut self, body: &[Stmt]) -> Vec<Stmt> {
        let mut result = Vec::new();
        for stmt in body {
            if let Stmt::Local(local) = stmt
                && let Elem::Pair(..) = local.elem
            {
                let own = self.declare(&local.name, &local.elem);
                result.extend(
                    own.into_iter()
                        .map(|(_, name, elem)| Stmt::Local(ArrayDecl { name, elem, ..local.clone() })),
                );
                continue;
            }
            // Twice, since a map of expressions and one of bodies cannot both borrow.
            let own = &*self;
            let mapped = stmt
                .map(&mut |e| e.map_loads(&mut |a| Expr::Load(own.access(a))), &mut |inner| inner.to_vec());
            result.push(match mapped {
                Stmt::Assign(assign) => {
                    let target = self.access(assign.target.clone());
                    Stmt::Assign(Assign { target, ..assign })
                }
                other => other.map(&mut Expr::clone, &mut |inner| self.block(inner)),
            });
        }
        result
    }
}

/// The scalars of a type with their paths.
fn scalars(elem: &Elem, path: &mut Vec<Component>, found: &mut Vec<(Vec<Component>, Elem)>) {
    match elem {
        Elem::Scalar(_) => found.push((path.clone(), elem.clone())),
        Elem::Pair(first, second) => {
            for (part, component) in [(first, Component::First), (second, Component::Second)] {
                path.push(component);
                scalars(part, path, found);
                path.pop();
            }
        }
    }
}
