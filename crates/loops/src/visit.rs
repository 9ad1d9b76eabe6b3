//! Traversal and rewriting of expressions and statements: children, free variables, substitution,
//! renaming.
//!
//! Recursion is as deep as the program. Stages that take programs from outside call [`check_depth`]
//! first.

use std::collections::{BTreeMap, BTreeSet};

use crate::diagnostic::{Code, Diagnostic};
use crate::expr::{BinaryOp, Expr, UnaryOp};
use crate::name::Name;
use crate::parse::MAX_DEPTH;
use crate::program::{Access, ArrayDecl, Assign, Function, Stmt};
use crate::types::Scalar;

impl Expr {
    /// The expressions of which this one is made, in order; the subscripts of a load are among
    /// them.
    pub fn children(&self) -> impl DoubleEndedIterator<Item = &Expr> {
        let (operands, list): ([Option<&Expr>; 3], &[Expr]) = match self {
            Expr::Int(_) | Expr::I32(_) | Expr::F32(_) | Expr::F64(_) | Expr::Bool(_) | Expr::Var(_) => {
                ([None; 3], &[])
            }
            Expr::Load(access) => ([None; 3], &access.indices),
            Expr::Unary(_, a) | Expr::Cast(_, a) => ([Some(a), None, None], &[]),
            Expr::Binary(_, a, b) | Expr::Compare(_, a, b) => ([Some(a), Some(b), None], &[]),
            Expr::Select(a, b, c) => ([Some(a), Some(b), Some(c)], &[]),
            Expr::Call { args, .. } => ([None; 3], args),
        };
        operands.into_iter().flatten().chain(list)
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

    /// This expression and every one inside, outer ones first.
    pub fn nodes(&self) -> impl Iterator<Item = &Expr> {
        let mut open = vec![self];
        std::iter::from_fn(move || {
            let next = open.pop()?;
            open.extend(next.children().rev());
            Some(next)
        })
    }

    /// What is read, outer loads first.
    pub fn loads(&self) -> impl Iterator<Item = &Access> {
        self.nodes().filter_map(|e| if let Expr::Load(access) = e { Some(access) } else { None })
    }

    /// The loop variables and sizes that occur.
    pub fn vars(&self) -> BTreeSet<Name> {
        let var = |e: &Expr| if let Expr::Var(name) = e { Some(name.clone()) } else { None };
        self.nodes().filter_map(var).collect()
    }

    /// Whether a loop variable or size occurs.
    pub fn mentions(&self, var: &Name) -> bool {
        self.nodes().any(|e| matches!(e, Expr::Var(name) if name == var))
    }

    /// Whether one of some loop variables and sizes occurs.
    pub fn mentions_any(&self, vars: &[&Name]) -> bool {
        self.nodes().any(|e| matches!(e, Expr::Var(name) if vars.contains(&name)))
    }

    /// Whether it depends on nothing but some sizes: not on data, and not on other variables.
    pub fn is_over(&self, sizes: &[Name]) -> bool {
        self.nodes().all(|e| match e {
            Expr::Load(_) => false,
            Expr::Var(name) => sizes.contains(name),
            _ => true,
        })
    }

    /// Whether something is read: an element of an array or a scalar variable.
    pub fn has_loads(&self) -> bool {
        self.loads().next().is_some()
    }

    /// Whether it computes with loop variables or sizes as data, which may wrap around: such an
    /// expression is not affine.
    pub fn computes_data(&self) -> bool {
        /// What is in an expression.
        #[derive(Clone, Copy, Default)]
        struct Parts {
            data: bool,
            variable: bool,
            /// It computes with both.
            computes: bool,
        }
        fn parts(e: &Expr) -> Parts {
            let all = e.children().map(parts).fold(Parts::default(), |a, b| Parts {
                data: a.data || b.data,
                variable: a.variable || b.variable,
                computes: a.computes || b.computes,
            });
            match e {
                Expr::Var(_) => Parts { variable: true, ..all },
                Expr::Binary(..) => Parts { computes: all.computes || (all.data && all.variable), ..all },
                Expr::Cast(to, _) => {
                    let computes = all.computes || (*to != Scalar::I64 && all.variable);
                    Parts { data: true, computes, ..all }
                }
                Expr::Load(_) | Expr::Call { .. } | Expr::Unary(UnaryOp::Bits, _) => {
                    Parts { data: true, ..all }
                }
                _ => all,
            }
        }
        parts(self).computes
    }

    /// Whether something of an array, or a scalar variable, is read.
    pub fn reads(&self, array: &Name) -> bool {
        self.loads().any(|access| access.array == *array)
    }

    /// Whether an index moves by one with a variable: it is the variable, plus or minus what does
    /// not depend on it.
    pub fn advances_with(&self, var: &Name) -> bool {
        let still = |e: &Expr| !e.mentions(var);
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
        self.loads().map(|access| access.array.clone()).collect()
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

    /// This statement and every one inside, outer ones first.
    pub fn nodes(&self) -> impl Iterator<Item = &Stmt> {
        nodes(std::slice::from_ref(self))
    }

    /// Whether the statement itself, without those inside, reads something of an array, or a scalar
    /// variable. An update does not count as a read.
    pub fn reads(&self, array: &Name) -> bool {
        let copied = matches!(self, Stmt::Copy(c) if c.from.array == *array);
        copied || self.exprs().into_iter().any(|e| e.reads(array))
    }

    /// Whether the statement itself, without those inside, writes something of an array, or a
    /// scalar variable.
    pub fn writes(&self, array: &Name) -> bool {
        self.written() == Some(array)
    }

    /// Whether the statement, or one inside, reads or writes something of an array, or a scalar
    /// variable.
    pub fn accesses(&self, array: &Name) -> bool {
        self.nodes().any(|stmt| stmt.reads(array) || stmt.writes(array))
    }

    /// The array or scalar variable that the statement itself, without those inside, writes.
    pub fn written(&self) -> Option<&Name> {
        match self {
            Stmt::Assign(a) => Some(&a.target.array),
            Stmt::Copy(c) => Some(&c.to.array),
            _ => None,
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

/// The statements and every one inside, outer ones first.
pub fn nodes(body: &[Stmt]) -> impl Iterator<Item = &Stmt> {
    let mut open: Vec<&Stmt> = body.iter().rev().collect();
    std::iter::from_fn(move || {
        let next = open.pop()?;
        open.extend(next.bodies().into_iter().flatten().rev());
        Some(next)
    })
}

/// The local arrays and scalars that are declared in the statements, and in those inside.
pub fn locals(body: &[Stmt]) -> impl Iterator<Item = &ArrayDecl> {
    nodes(body).filter_map(|stmt| if let Stmt::Local(local) = stmt { Some(local) } else { None })
}

/// What the expressions of the statements, and of those inside, read.
pub fn loads(body: &[Stmt]) -> impl Iterator<Item = &Access> {
    nodes(body).flat_map(Stmt::exprs).flat_map(Expr::loads)
}

/// The assignments among the statements and those inside.
pub fn assigns(body: &[Stmt]) -> impl Iterator<Item = &Assign> {
    nodes(body).filter_map(|stmt| if let Stmt::Assign(assign) = stmt { Some(assign) } else { None })
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

/// Local scalars that a single assignment sets, and to what.
pub fn set_once(function: &Function) -> BTreeMap<Name, Expr> {
    let declared: BTreeSet<&Name> = locals(&function.body).map(|local| &local.name).collect();
    let mut all: BTreeMap<Name, Option<Expr>> = BTreeMap::new();
    for assign in assigns(&function.body).filter(|assign| declared.contains(&assign.target.array)) {
        let plain = assign.update.is_none() && assign.target.indices.is_empty();
        let value = plain.then(|| assign.value.clone());
        all.entry(assign.target.array.clone()).and_modify(|own| *own = None).or_insert(value);
    }
    all.into_iter().filter_map(|(name, value)| Some((name, value?))).collect()
}

/// Every name that occurs in the statements: variables, arrays, labels, tags, marks.
pub fn names(body: &[Stmt]) -> BTreeSet<Name> {
    let mut set = BTreeSet::new();
    for stmt in nodes(body) {
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
            Node::Expr(e) => stack.extend(e.children().map(|e| (Node::Expr(e), depth + 1))),
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
