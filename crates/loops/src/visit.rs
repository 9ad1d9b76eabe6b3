//! Traversal and rewriting of expressions and statements: children, free variables, substitution,
//! renaming.
//!
//! Recursion is as deep as the program. Stages that take programs from outside call [`check_depth`]
//! first.

use std::collections::{BTreeMap, BTreeSet};

use crate::diagnostic::{Code, Diagnostic};
use crate::expr::{BinaryOp, Expr};
use crate::name::Name;
use crate::parse::MAX_DEPTH;
use crate::program::{Access, Function, Stmt};

impl Expr {
    /// The expressions of which this one is made, in order; the subscripts of a load are among
    /// them.
    pub fn children(&self) -> Vec<&Expr> {
        match self {
            Expr::Int(_) | Expr::I32(_) | Expr::F32(_) | Expr::F64(_) | Expr::Bool(_) | Expr::Var(_) => {
                vec![]
            }
            Expr::Load(access) => access.indices.iter().collect(),
            Expr::Unary(_, a) | Expr::Cast(_, a) => vec![a],
            Expr::Binary(_, a, b) | Expr::Compare(_, a, b) => vec![a, b],
            Expr::Select(a, b, c) => vec![a, b, c],
            Expr::Call { args, .. } => args.iter().collect(),
        }
    }

    /// The same operation on other children.
    pub fn map_children(&self, f: &mut dyn FnMut(&Expr) -> Expr) -> Expr {
        match self {
            Expr::Int(_) | Expr::I32(_) | Expr::F32(_) | Expr::F64(_) | Expr::Bool(_) | Expr::Var(_) => {
                self.clone()
            }
            Expr::Load(access) => Expr::Load(access.map_indices(f)),
            Expr::Unary(op, a) => Expr::unary(*op, f(a)),
            Expr::Cast(ty, a) => Expr::Cast(*ty, Box::new(f(a))),
            Expr::Binary(op, a, b) => {
                let (a, b) = (f(a), f(b));
                Expr::binary(*op, a, b)
            }
            Expr::Compare(op, a, b) => {
                let (a, b) = (f(a), f(b));
                Expr::compare(*op, a, b)
            }
            Expr::Select(a, b, c) => {
                let (a, b, c) = (f(a), f(b), f(c));
                Expr::Select(Box::new(a), Box::new(b), Box::new(c))
            }
            Expr::Call { function, ty, args } => {
                Expr::Call { function: function.clone(), ty: *ty, args: args.iter().map(f).collect() }
            }
        }
    }

    /// Calls `f` on this expression and on every one inside, outer ones first.
    pub fn walk<'a>(&'a self, f: &mut dyn FnMut(&'a Expr)) {
        f(self);
        for child in self.children() {
            child.walk(f);
        }
    }

    /// The loop variables and sizes that occur.
    pub fn vars(&self) -> BTreeSet<Name> {
        let mut names = BTreeSet::new();
        self.walk(&mut |e| {
            if let Expr::Var(name) = e {
                names.insert(name.clone());
            }
        });
        names
    }

    /// Whether an index moves by one with a variable: it is the variable, plus or minus what does not
    /// depend on it.
    pub fn advances_with(&self, var: &Name) -> bool {
        let still = |e: &Expr| !e.vars().contains(var);
        match self {
            Expr::Var(name) => name == var,
            Expr::Binary(BinaryOp::Add, a, b) => {
                (a.advances_with(var) && still(b)) || (still(a) && b.advances_with(var))
            }
            Expr::Binary(BinaryOp::Sub, a, b) => a.advances_with(var) && still(b),
            _ => false,
        }
    }

    /// The arrays and scalar variables that are read.
    pub fn arrays(&self) -> BTreeSet<Name> {
        let mut names = BTreeSet::new();
        self.walk(&mut |e| {
            if let Expr::Load(access) = e {
                names.insert(access.array.clone());
            }
        });
        names
    }

    /// Replaces loop variables and sizes; those without a replacement stay.
    pub fn substitute(&self, replacement: &dyn Fn(&Name) -> Option<Expr>) -> Expr {
        match self {
            Expr::Var(name) => replacement(name).unwrap_or_else(|| self.clone()),
            _ => self.map_children(&mut |child| child.substitute(replacement)),
        }
    }

    /// Rewrites every load, inner ones first: `f` gets the access with its subscripts rewritten.
    pub fn map_loads(&self, f: &mut dyn FnMut(Access) -> Expr) -> Expr {
        match self.map_children(&mut |child| child.map_loads(f)) {
            Expr::Load(access) => f(access),
            other => other,
        }
    }
}

impl Access {
    /// The same element at other subscripts.
    pub fn map_indices(&self, f: &mut dyn FnMut(&Expr) -> Expr) -> Access {
        Access {
            array: self.array.clone(),
            indices: self.indices.iter().map(f).collect(),
            path: self.path.clone(),
        }
    }
}

impl Stmt {
    /// The lists of statements inside.
    pub fn bodies(&self) -> Vec<&[Stmt]> {
        match self {
            Stmt::Loop(l) => vec![&l.body],
            Stmt::If { then, otherwise, .. } => vec![then, otherwise],
            Stmt::Block { body, .. } => vec![body],
            Stmt::Assign(_) | Stmt::Local(_) | Stmt::Copy(_) | Stmt::Wait(_) => vec![],
        }
    }

    /// The expressions of this statement itself, without those of statements inside: bounds,
    /// conditions, extents, subscripts, the value.
    pub fn exprs(&self) -> Vec<&Expr> {
        match self {
            Stmt::Assign(a) => a.target.indices.iter().chain([&a.value]).collect(),
            Stmt::Loop(l) => vec![&l.lower, &l.upper],
            Stmt::If { cond, .. } => vec![cond],
            Stmt::Local(l) => l.dims.iter().collect(),
            Stmt::Copy(c) => c.from.indices.iter().chain(&c.to.indices).chain(&c.extents).collect(),
            Stmt::Block { .. } | Stmt::Wait(_) => vec![],
        }
    }

    /// Calls `f` on this statement and on every one inside, outer ones first.
    pub fn walk<'a>(&'a self, f: &mut dyn FnMut(&'a Stmt)) {
        f(self);
        for body in self.bodies() {
            for stmt in body {
                stmt.walk(f);
            }
        }
    }

    /// The statement with its own expressions rewritten by `f`, and the lists of statements inside
    /// it by `g`.
    pub fn map(&self, f: &mut dyn FnMut(&Expr) -> Expr, g: &mut dyn FnMut(&[Stmt]) -> Vec<Stmt>) -> Stmt {
        let mut stmt = self.clone_without_bodies();
        match &mut stmt {
            Stmt::Assign(a) => {
                a.target = a.target.map_indices(f);
                a.value = f(&a.value);
            }
            Stmt::Loop(l) => {
                l.lower = f(&l.lower);
                l.upper = f(&l.upper);
            }
            Stmt::If { cond, .. } => *cond = f(cond),
            Stmt::Local(l) => l.dims = l.dims.iter().map(f).collect(),
            Stmt::Copy(c) => {
                c.from = c.from.map_indices(f);
                c.to = c.to.map_indices(f);
                c.extents = c.extents.iter().map(f).collect();
            }
            Stmt::Block { .. } | Stmt::Wait(_) => {}
        }
        match (&mut stmt, self) {
            (Stmt::Loop(new), Stmt::Loop(old)) => new.body = g(&old.body),
            (Stmt::Block { body: new, .. }, Stmt::Block { body: old, .. }) => *new = g(old),
            (Stmt::If { then, otherwise, .. }, Stmt::If { then: old_then, otherwise: old_otherwise, .. }) => {
                *then = g(old_then);
                *otherwise = g(old_otherwise);
            }
            _ => {}
        }
        stmt
    }

    fn clone_without_bodies(&self) -> Stmt {
        match self {
            Stmt::Loop(l) => Stmt::Loop(crate::Loop {
                var: l.var.clone(),
                lower: l.lower.clone(),
                upper: l.upper.clone(),
                step: l.step,
                kind: l.kind,
                reductions: l.reductions.clone(),
                body: Vec::new(),
            }),
            Stmt::If { cond, .. } => Stmt::If { cond: cond.clone(), then: Vec::new(), otherwise: Vec::new() },
            Stmt::Block { mark, .. } => Stmt::Block { mark: mark.clone(), body: Vec::new() },
            other => other.clone(),
        }
    }
}

/// Replaces loop variables and sizes in statements without capture: an inner loop is renamed if its
/// variable occurs in a replacement.
pub fn substitute(body: &[Stmt], replacements: &BTreeMap<Name, Expr>) -> Vec<Stmt> {
    if replacements.is_empty() {
        return body.to_vec();
    }
    let on_expr = |e: &Expr| e.substitute(&|name| replacements.get(name).cloned());
    body.iter()
        .map(|stmt| match stmt {
            Stmt::Loop(l) => {
                let mut inner = replacements.clone();
                inner.remove(&l.var);
                let mut new = l.clone();
                new.lower = on_expr(&l.lower);
                new.upper = on_expr(&l.upper);
                let coming: BTreeSet<Name> = inner.values().flat_map(Expr::vars).collect();
                if coming.contains(&l.var) {
                    let mut taken = names(&l.body);
                    taken.extend(coming);
                    new.var = fresh(&l.var, &taken);
                    inner.insert(l.var.clone(), Expr::Var(new.var.clone()));
                }
                new.body = substitute(&l.body, &inner);
                Stmt::Loop(new)
            }
            other => other.map(&mut |e| on_expr(e), &mut |inner| substitute(inner, replacements)),
        })
        .collect()
}

/// Replaces names of arrays in statements. An inner local array of an old name hides it from there
/// on.
pub fn rename_arrays(body: &[Stmt], renaming: &BTreeMap<Name, Name>) -> Vec<Stmt> {
    let mut renaming = renaming.clone();
    let mut result = Vec::with_capacity(body.len());
    for stmt in body {
        let new = |name: &Name| renaming.get(name).unwrap_or(name).clone();
        let mut rename_load = |mut access: Access| {
            access.array = new(&access.array);
            Expr::Load(access)
        };
        let mut renamed =
            stmt.map(&mut |e| e.map_loads(&mut rename_load), &mut |inner| rename_arrays(inner, &renaming));
        match &mut renamed {
            Stmt::Assign(a) => a.target.array = new(&a.target.array),
            Stmt::Copy(c) => {
                c.from.array = new(&c.from.array);
                c.to.array = new(&c.to.array);
            }
            Stmt::Loop(l) => l.reductions.iter_mut().for_each(|(_, name)| *name = new(name)),
            Stmt::Local(local) => {
                renaming.remove(&local.name);
            }
            _ => {}
        }
        result.push(renamed);
    }
    result
}

/// Renames local arrays so that no two of the function have the same name, in whichever block.
pub fn with_distinct_locals(function: &Function) -> Function {
    fn block(body: &[Stmt], seen: &mut BTreeSet<Name>, taken: &mut BTreeSet<Name>) -> Vec<Stmt> {
        let mut rest = body.to_vec();
        for k in 0..rest.len() {
            if let Stmt::Local(local) = &mut rest[k] {
                if !seen.insert(local.name.clone()) {
                    let old = local.name.clone();
                    let new = fresh(&old, taken);
                    taken.insert(new.clone());
                    seen.insert(new.clone());
                    local.name = new.clone();
                    let renamed = rename_arrays(&rest[k + 1..], &[(old, new)].into());
                    rest.splice(k + 1.., renamed);
                }
            } else {
                rest[k] = rest[k].map(&mut Expr::clone, &mut |inner| block(inner, seen, taken));
            }
        }
        rest
    }
    let mut seen = function.params.iter().map(|param| param.name.clone()).collect();
    let body = block(&function.body, &mut seen, &mut taken(function));
    Function { body, ..function.clone() }
}

/// Every name that a function has: what is new needs another one.
pub fn taken(function: &Function) -> BTreeSet<Name> {
    let mut taken = names(&function.body);
    taken.extend(function.sizes.iter().cloned());
    taken.extend(function.params.iter().map(|param| param.name.clone()));
    taken
}

/// Every name that occurs in the statements: variables, arrays, labels, tags, marks.
pub fn names(body: &[Stmt]) -> BTreeSet<Name> {
    let mut set = BTreeSet::new();
    for stmt in body {
        stmt.walk(&mut |stmt| {
            for expr in stmt.exprs() {
                set.extend(expr.vars());
                set.extend(expr.arrays());
            }
            match stmt {
                Stmt::Assign(a) => {
                    set.insert(a.target.array.clone());
                    set.extend(a.label.clone());
                }
                Stmt::Loop(l) => {
                    set.insert(l.var.clone());
                    set.extend(l.reductions.iter().map(|(_, name)| name.clone()));
                }
                Stmt::Local(l) => {
                    set.insert(l.name.clone());
                }
                Stmt::Block { mark, .. } => set.extend(mark.clone()),
                Stmt::Copy(c) => {
                    set.extend([c.from.array.clone(), c.to.array.clone()]);
                    set.extend(c.tag.clone());
                }
                Stmt::Wait(tag) => {
                    set.insert(tag.clone());
                }
                Stmt::If { .. } => {}
            }
        });
    }
    set
}

/// `base`, or `base` with the smallest number after it that makes a name not in `taken`.
pub fn fresh(base: &Name, taken: &BTreeSet<Name>) -> Name {
    if !taken.contains(base) {
        return base.clone();
    }
    let mut number = 1u64;
    loop {
        let name = Name::new(format!("{base}_{number}"));
        if !taken.contains(&name) {
            return name;
        }
        number += 1;
    }
}

/// Refuses a function that is nested deeper than [`MAX_DEPTH`]. Looks at it without recursion.
///
/// # Errors
/// `L0104`, with the function's name.
pub fn check_depth(function: &Function) -> Result<(), Diagnostic> {
    enum Node<'a> {
        Stmt(&'a Stmt),
        Expr(&'a Expr),
    }
    let mut stack: Vec<(Node<'_>, usize)> = Vec::new();
    stack.extend(function.assumptions.iter().map(|e| (Node::Expr(e), 1)));
    stack.extend(function.params.iter().flat_map(|p| &p.dims).map(|e| (Node::Expr(e), 1)));
    stack.extend(function.body.iter().map(|s| (Node::Stmt(s), 1)));
    while let Some((node, depth)) = stack.pop() {
        if depth > MAX_DEPTH {
            let message = format!("function `{}` is nested deeper than {MAX_DEPTH} levels", function.name);
            return Err(Diagnostic::general(Code("L0104"), message)
                .help("assign parts of the expression to local variables, or write long sums as loops"));
        }
        match node {
            Node::Expr(e) => stack.extend(e.children().into_iter().map(|e| (Node::Expr(e), depth + 1))),
            Node::Stmt(s) => {
                stack.extend(s.exprs().into_iter().map(|e| (Node::Expr(e), depth + 1)));
                stack.extend(s.bodies().into_iter().flatten().map(|s| (Node::Stmt(s), depth + 1)));
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse::parse;

    fn body(text: &str) -> Vec<Stmt> {
        let text = format!("fn f[n](a: inout f64[n], b: inout f64[n]) {{ {text} }}");
        parse(&text).unwrap().functions.remove(0).body
    }

    #[test]
    fn substitution_does_not_capture() {
        let before = body("for i in n..n + 1 { a[n + i] = b[n] for n in 0..n { a[n] = 0.0 } }");
        let after = body("for i_1 in i..i + 1 { a[i + i_1] = b[i] for n in 0..i { a[n] = 0.0 } }");
        assert_eq!(substitute(&before, &BTreeMap::from([("n".into(), Expr::var("i"))])), after);
    }

    #[test]
    fn renaming_stops_at_a_local_of_the_name() {
        let before = body("a[0] = a[1] { a[0] = 1.0 local a: f64[2] a[1] = b[0] } get a[0] -> b[0]");
        let after = body("c[0] = c[1] { c[0] = 1.0 local a: f64[2] a[1] = b[0] } get c[0] -> b[0]");
        assert_eq!(rename_arrays(&before, &BTreeMap::from([("a".into(), "c".into())])), after);
    }
}
