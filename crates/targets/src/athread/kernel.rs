//! The kernels of a mapped function: what they are called, and what they need of their surroundings.

use std::collections::BTreeSet;

use loops::{Diagnostic, Elem, Expr, Function, Name, ParamMode, Scalar, Stmt};

use super::expr::{c_type, invalid};

/// The mark of a block that is one spawn.
pub(super) const KERNEL: &str = "kernel";

/// A kernel with its arguments.
pub(super) struct Kernel<'a> {
    /// Its name on the slave side.
    pub name: String,
    /// What every core runs.
    pub body: &'a [Stmt],
    /// Sizes, and variables of loops around it.
    pub indices: Vec<Name>,
    /// Scalars that are only read.
    pub scalars: Vec<(Name, Scalar)>,
    /// Arrays in main memory: element type and extents.
    pub arrays: Vec<(Name, Scalar, Vec<Expr>)>,
}

/// The kernels of a function in the order of the text.
pub(super) fn kernels(function: &Function) -> Result<Vec<Kernel<'_>>, Diagnostic> {
    let mut found = Vec::new();
    let mut locals = Vec::new();
    find(function, &function.body, &mut Vec::new(), &mut locals, &mut found)?;
    Ok(found)
}

type Declared = (Name, Elem, Vec<Expr>, bool);

fn find<'a>(
    function: &Function,
    body: &'a [Stmt],
    loops: &mut Vec<Name>,
    locals: &mut Vec<Declared>,
    found: &mut Vec<Kernel<'a>>,
) -> Result<(), Diagnostic> {
    for stmt in body {
        match stmt {
            Stmt::Block { mark: Some(mark), body } if mark.as_str() == KERNEL => {
                let name = format!("{}_k{}", function.name, found.len());
                found.push(kernel(function, name, body, loops, locals)?);
            }
            Stmt::Block { body, .. } => find(function, body, loops, locals, found)?,
            Stmt::Loop(l) => {
                loops.push(l.var.clone());
                find(function, &l.body, loops, locals, found)?;
                loops.pop();
            }
            Stmt::If { then, otherwise, .. } => {
                find(function, then, loops, locals, found)?;
                find(function, otherwise, loops, locals, found)?;
            }
            Stmt::Local(local) => {
                locals.push((local.name.clone(), local.elem.clone(), local.dims.clone(), false));
            }
            _ => {}
        }
    }
    Ok(())
}

fn kernel<'a>(
    function: &Function,
    name: String,
    body: &'a [Stmt],
    loops: &[Name],
    locals: &[Declared],
) -> Result<Kernel<'a>, Diagnostic> {
    let mut arrays = BTreeSet::new();
    let mut inside = BTreeSet::new();
    let mut moved = BTreeSet::new();
    for stmt in body {
        stmt.walk(&mut |stmt| match stmt {
            Stmt::Local(local) => {
                inside.insert(local.name.clone());
            }
            Stmt::Copy(copy) => {
                arrays.insert(copy.from.array.clone());
                arrays.insert(copy.to.array.clone());
                moved.extend([copy.from.array.clone(), copy.to.array.clone()]);
            }
            Stmt::Assign(assign) => {
                moved.insert(assign.target.array.clone());
                arrays.insert(assign.target.array.clone());
            }
            _ => {}
        });
        stmt.walk(&mut |stmt| {
            for expr in stmt.exprs() {
                arrays.extend(expr.arrays());
            }
        });
    }
    let mut kernel = Kernel { name, body, indices: function.sizes.clone(), scalars: vec![], arrays: vec![] };
    kernel.indices.extend(loops.iter().cloned());
    let params = function.params.iter().map(|p| {
        (p.name.clone(), p.elem.clone(), p.dims.clone(), p.mode == ParamMode::In && p.dims.is_empty())
    });
    for (name, elem, dims, mut value) in params.chain(locals.iter().cloned()) {
        // A scalar of the host that the cores neither move nor change is a value, too.
        value |= dims.is_empty() && !moved.contains(&name);
        if !arrays.contains(&name) || inside.contains(&name) {
            continue;
        }
        let Elem::Scalar(scalar) = elem else {
            return Err(invalid(format!("`{name}` has pairs, which the cores do not have")));
        };
        if value {
            kernel.scalars.push((name, scalar));
        } else {
            kernel.arrays.push((name, scalar, dims));
        }
    }
    Ok(kernel)
}

/// The struct of a kernel's arguments.
pub(super) fn arguments(kernel: &Kernel) -> String {
    let mut text = format!("struct {}_arguments {{\n", kernel.name);
    for (name, scalar, _) in &kernel.arrays {
        text.push_str(&format!("  {} *{name};\n", c_type(*scalar)));
    }
    for (name, scalar) in &kernel.scalars {
        text.push_str(&format!("  {} {name};\n", c_type(*scalar)));
    }
    for name in &kernel.indices {
        text.push_str(&format!("  long {name};\n"));
    }
    if kernel.arrays.is_empty() && kernel.scalars.is_empty() && kernel.indices.is_empty() {
        text.push_str("  long nothing;\n");
    }
    text.push_str("};\n");
    text
}
