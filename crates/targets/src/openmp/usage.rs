//! Which local arrays are read and which are written. Compilers warn of variables that are only
//! set.

use std::collections::HashMap;

use loops::{Access, ArrayDecl, Expr, Name, Stmt};

/// Reads and writes of one declaration.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Uses {
    /// Its value is used, or it takes part in a copy.
    pub read: bool,
    /// It is assigned.
    pub written: bool,
}

/// Uses of the declarations of a function, by the declaration's address.
#[derive(Clone, Debug, Default)]
pub struct Usage {
    uses: HashMap<*const ArrayDecl, Uses>,
    scope: HashMap<Name, Vec<*const ArrayDecl>>,
}

impl Usage {
    /// The uses in these statements.
    pub fn of(stmts: &[Stmt]) -> Usage {
        let mut usage = Usage::default();
        usage.stmts(stmts);
        usage
    }

    /// Those in statements that have been made since.
    pub fn add(&mut self, stmts: &[Stmt]) {
        self.stmts(stmts);
    }

    /// How a declaration is used.
    pub fn get(&self, decl: &ArrayDecl) -> Uses {
        self.uses.get(&std::ptr::from_ref(decl)).copied().unwrap_or_default()
    }

    fn stmts(&mut self, stmts: &[Stmt]) {
        let mut declared = Vec::new();
        for stmt in stmts {
            match stmt {
                Stmt::Assign(assign) => {
                    self.indices(&assign.target);
                    self.mark(&assign.target.array, |u| u.written = true);
                    self.expr(&assign.value);
                }
                Stmt::Loop(l) => {
                    self.expr(&l.lower);
                    self.expr(&l.upper);
                    for (_, name) in &l.reductions {
                        self.mark(name, |u| *u = Uses { read: true, written: true });
                    }
                    self.stmts(&l.body);
                }
                Stmt::If { cond, then, otherwise } => {
                    self.expr(cond);
                    self.stmts(then);
                    self.stmts(otherwise);
                }
                Stmt::Local(decl) => {
                    decl.dims.iter().for_each(|d| self.expr(d));
                    self.scope.entry(decl.name.clone()).or_default().push(decl);
                    declared.push(&decl.name);
                }
                Stmt::Block { body, .. } => self.stmts(body),
                Stmt::Copy(copy) => {
                    self.indices(&copy.from);
                    self.indices(&copy.to);
                    copy.extents.iter().for_each(|e| self.expr(e));
                    self.mark(&copy.from.array, |u| u.read = true);
                    self.mark(&copy.to.array, |u| u.written = true);
                }
                Stmt::Wait(_) => {}
            }
        }
        for name in declared {
            if let Some(stack) = self.scope.get_mut(name) {
                stack.pop();
            }
        }
    }

    fn mark(&mut self, name: &Name, set: fn(&mut Uses)) {
        if let Some(decl) = self.scope.get(name).and_then(|stack| stack.last()) {
            set(self.uses.entry(*decl).or_default());
        }
    }

    fn indices(&mut self, access: &Access) {
        access.indices.iter().for_each(|i| self.expr(i));
    }

    /// Without recursion: this pass runs before the one that bounds the depth.
    fn expr(&mut self, e: &Expr) {
        let mut todo = vec![e];
        while let Some(e) = todo.pop() {
            match e {
                Expr::Load(access) => {
                    self.mark(&access.array, |u| u.read = true);
                    todo.extend(&access.indices);
                }
                Expr::Unary(_, a) | Expr::Cast(_, a) => todo.push(a),
                Expr::Binary(_, a, b) | Expr::Compare(_, a, b) => todo.extend([&**a, &**b]),
                Expr::Select(a, b, c) => todo.extend([&**a, &**b, &**c]),
                Expr::Call { args, .. } => todo.extend(args),
                Expr::Int(_) | Expr::I32(_) | Expr::F32(_) | Expr::F64(_) | Expr::Bool(_) | Expr::Var(_) => {}
            }
        }
    }
}
