//! Copies as loops over their elements and waits as statements, so that the statement model holds
//! them; local arrays with names of their own.

use std::collections::{BTreeMap, BTreeSet};

use loops::{
    Access, Assign, Code, Copy, CopyKind, Diagnostic, Elem, Expr, Function, Loop, LoopKind, Name, Stmt,
    Storage,
};

use crate::fault::{self, Result};

/// What a statement of a kernel stands for.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Role {
    /// Itself.
    Compute,
    /// An element of a copy; its tag, if it has to be waited for.
    Copy(CopyKind, Option<Name>),
    /// A wait for a tag.
    Wait(Name),
    /// The place where a local array begins.
    Begin,
}

/// A local array.
#[derive(Clone, Debug)]
pub(super) struct Local {
    /// Its name in the expanded function.
    pub name: Name,
    /// Its name in the text.
    pub told: Name,
    /// The statement that stands at its declaration.
    pub begin: Name,
    /// Number of loops around its declaration.
    pub depth: usize,
    pub elem: Elem,
    pub dims: Vec<Expr>,
    /// Whether it is local memory of a core, with copies; else a variable.
    pub scratchpad: bool,
    /// The local arrays that are alive where it begins, by their place in the list.
    pub outer: Vec<usize>,
}

/// The function without copies.
pub(super) struct Elementwise {
    pub function: Function,
    /// Of the statements in kernels.
    pub roles: BTreeMap<Name, Role>,
    pub locals: Vec<Local>,
    pub kernels: usize,
    pub copies: usize,
}

impl Elementwise {
    /// A label or variable as it is in the text.
    pub fn told<'n>(&self, name: &'n Name) -> &'n str {
        name.as_str().split('#').next().unwrap_or_default()
    }
}

/// Rewrites a mapped function.
///
/// # Errors
/// `P0716` for copies and waits outside of kernels, and for copies that do not go between main
/// memory and local memory.
pub(super) fn expand(function: &Function) -> Result<Elementwise> {
    let mut walk = Walk {
        scope: BTreeMap::new(),
        alive: Vec::new(),
        labels: BTreeSet::new(),
        next: 0,
        depth: 0,
        kernel: false,
        result: Elementwise {
            function: function.clone(),
            roles: BTreeMap::new(),
            locals: Vec::new(),
            kernels: 0,
            copies: 0,
        },
    };
    let body = walk.block(&function.body)?;
    walk.result.function.body = body;
    Ok(walk.result)
}

struct Walk {
    /// Names of local arrays, as places in the list.
    scope: BTreeMap<Name, usize>,
    alive: Vec<usize>,
    labels: BTreeSet<Name>,
    next: usize,
    depth: usize,
    kernel: bool,
    result: Elementwise,
}

fn shape(message: String) -> Diagnostic {
    Diagnostic::general(Code("P0716"), message)
}

impl Walk {
    fn block(&mut self, body: &[Stmt]) -> Result<Vec<Stmt>> {
        let (scope, alive) = (self.scope.clone(), self.alive.len());
        let mut result = Vec::new();
        for stmt in body {
            self.stmt(stmt, &mut result)?;
        }
        self.scope = scope;
        self.alive.truncate(alive);
        Ok(result)
    }

    fn stmt(&mut self, stmt: &Stmt, result: &mut Vec<Stmt>) -> Result<()> {
        match stmt {
            Stmt::Assign(assign) => {
                let assign = self.renamed(assign);
                let label = assign.label.clone().unwrap_or_else(|| Name::new("a statement"));
                let value = self.guarded(&label, &assign.value, result);
                let stmt = self.labelled(label, Role::Compute, Assign { value, ..assign });
                result.push(stmt);
            }
            Stmt::Loop(l) => {
                self.depth += 1;
                let body = self.block(&l.body);
                self.depth -= 1;
                result.push(Stmt::Loop(Loop { body: body?, ..l.clone() }));
            }
            Stmt::If { cond, then, otherwise } => {
                let (then, otherwise) = (self.block(then)?, self.block(otherwise)?);
                result.push(Stmt::If { cond: cond.clone(), then, otherwise });
            }
            Stmt::Block { mark, body } => {
                let kernel = mark.as_ref().is_some_and(|m| m.as_str() == "kernel");
                if kernel && self.kernel {
                    return Err(shape("a kernel is inside another".to_owned()));
                }
                self.result.kernels += usize::from(kernel);
                let before = self.kernel;
                self.kernel |= kernel;
                let body = self.block(body)?;
                self.kernel = before;
                result.push(Stmt::Block { mark: mark.clone(), body });
            }
            Stmt::Local(local) => self.local(local, result),
            Stmt::Copy(copy) => self.copy(copy, result)?,
            Stmt::Wait(tag) => {
                if !self.kernel {
                    return Err(shape(format!("a wait for `{tag}` is outside of a kernel")));
                }
                let assign = marker("#wait");
                let stmt = self.labelled(Name::new(format!("wait {tag}")), Role::Wait(tag.clone()), assign);
                result.push(stmt);
            }
        }
        Ok(())
    }

    fn local(&mut self, local: &loops::Local, result: &mut Vec<Stmt>) {
        let place = self.result.locals.len();
        let name = Name::new(format!("{}#{place}", local.name));
        self.scope.insert(local.name.clone(), place);
        if self.kernel {
            let begin =
                self.labelled(Name::new(format!("local {}", local.name)), Role::Begin, marker("#begin"));
            let Stmt::Assign(Assign { label: Some(label), .. }) = &begin else {
                unreachable!("it has just been labelled")
            };
            let begin_label = label.clone();
            result.push(begin);
            self.result.locals.push(Local {
                name: name.clone(),
                told: local.name.clone(),
                begin: begin_label,
                depth: self.depth,
                elem: local.elem.clone(),
                dims: local.dims.clone(),
                scratchpad: local.storage == Storage::Scratchpad,
                outer: self.alive.clone(),
            });
            self.alive.push(place);
        } else {
            // A variable of the host: only its name matters.
            self.scope.remove(&local.name);
            result.push(Stmt::Local(local.clone()));
            return;
        }
        result.push(Stmt::Local(loops::Local { name, ..local.clone() }));
    }

    /// A value without what it reads in one case only: that becomes statements of its own, where
    /// their conditions hold. Conditions on data say nothing.
    fn guarded(&mut self, label: &Name, value: &Expr, result: &mut Vec<Stmt>) -> Expr {
        // A choice in a subscript says which element is read: that is the model's.
        if let Expr::Load(_) = value {
            return value.clone();
        }
        let Expr::Select(cond, then, otherwise) = value else {
            return value.map_children(&mut |child| self.guarded(label, child, result));
        };
        let on_data = cond.nodes().any(|e| matches!(e, Expr::Load(_)));
        if on_data {
            return value.map_children(&mut |child| self.guarded(label, child, result));
        }
        let read = |walk: &mut Walk, value: &Expr| {
            let mut body = Vec::new();
            let value = walk.guarded(label, value, &mut body);
            let assign = Assign { label: None, target: Access::scalar("#read"), update: None, value };
            body.push(walk.labelled(label.clone(), Role::Compute, assign));
            body
        };
        let (then, otherwise) = (read(self, then), read(self, otherwise));
        result.push(Stmt::If { cond: (**cond).clone(), then, otherwise });
        Expr::Int(0)
    }

    fn name(&self, array: &Name) -> Name {
        self.scope.get(array).map_or_else(|| array.clone(), |place| self.result.locals[*place].name.clone())
    }

    fn access(&self, access: &Access) -> Access {
        let renamed = access.map_indices(&mut |e| self.expr(e));
        Access { array: self.name(&access.array), ..renamed }
    }

    fn expr(&self, expr: &Expr) -> Expr {
        expr.map_loads(&mut |access| Expr::Load(Access { array: self.name(&access.array), ..access }))
    }

    fn renamed(&self, assign: &Assign) -> Assign {
        Assign { target: self.access(&assign.target), value: self.expr(&assign.value), ..assign.clone() }
    }

    /// A statement with a label of its own; its role, if it is in a kernel.
    fn labelled(&mut self, label: Name, role: Role, assign: Assign) -> Stmt {
        let mut own = label.clone();
        while !self.labels.insert(own.clone()) {
            self.next += 1;
            own = Name::new(format!("{label}#{}", self.next));
        }
        if self.kernel {
            self.result.roles.insert(own.clone(), role);
        }
        Stmt::Assign(Assign { label: Some(own), ..assign })
    }

    fn copy(&mut self, copy: &Copy, result: &mut Vec<Stmt>) -> Result<()> {
        let text = format!("the copy from `{}` to `{}`", copy.from, copy.to);
        if !self.kernel {
            return Err(shape(format!("{text} is outside of a kernel")));
        }
        let is_local = |access: &Access| self.scope.contains_key(&access.array);
        let sides = (is_local(&copy.from), is_local(&copy.to));
        if sides != (copy.kind == CopyKind::Put, copy.kind == CopyKind::Get) {
            return Err(shape(format!("{text} does not go between main memory and local memory as it says")));
        }
        if !copy.from.path.is_empty() || !copy.to.path.is_empty() {
            return Err(fault::outside(&text, "it takes one half of pairs"));
        }
        self.result.copies += 1;
        let number = self.result.copies;
        let variables: Vec<Name> =
            (0..copy.extents.len()).map(|d| Name::new(format!("d{d}#{number}"))).collect();
        let moved = |access: &Access| {
            let mut access = self.access(access);
            // Extents belong to the last dimensions.
            for (from_last, variable) in variables.iter().rev().enumerate() {
                if let Some(at) = access.indices.len().checked_sub(from_last + 1) {
                    let index = access.indices[at].clone();
                    access.indices[at] = index + Expr::Var(variable.clone());
                }
            }
            access
        };
        let (target, value) = (moved(&copy.to), Expr::Load(moved(&copy.from)));
        let label = match copy.kind {
            CopyKind::Get => format!("get {}", copy.to.array),
            CopyKind::Put => format!("put {}", copy.from.array),
        };
        let assign = Assign { label: None, target, update: None, value };
        let mut stmt = self.labelled(Name::new(label), Role::Copy(copy.kind, copy.tag.clone()), assign);
        for (variable, extent) in variables.iter().zip(&copy.extents).rev() {
            stmt = Stmt::Loop(Loop::upto(variable.clone(), extent.clone(), LoopKind::Sequential, vec![stmt]));
        }
        result.push(stmt);
        Ok(())
    }
}

/// A statement that only has a place.
fn marker(name: &str) -> Assign {
    Assign { label: None, target: Access::scalar(name), update: None, value: Expr::Int(0) }
}
