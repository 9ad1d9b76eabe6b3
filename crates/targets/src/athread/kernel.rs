//! The kernels of a mapped function: their names, and what they use from outside.

use std::collections::BTreeSet;

use loops::{BinaryOp, CompareOp, Diagnostic, Elem, Expr, Function, Name, ParamMode, Scalar, Stmt};

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
    /// Sizes of the function.
    pub sizes: Vec<Name>,
    /// What some of them are at most, by the conditions around it.
    pub bounds: Vec<(Name, i64)>,
    /// Scalars that are only read.
    pub scalars: Vec<(Name, Scalar)>,
    /// Arrays in main memory: element type and extents.
    pub arrays: Vec<(Name, Scalar, Vec<Expr>)>,
}

/// The kernels of a function in the order of the text.
pub(super) fn kernels(function: &Function) -> Result<Vec<Kernel<'_>>, Diagnostic> {
    let mut found = Vec::new();
    let mut locals = Vec::new();
    find(function, &function.body, &mut Around::default(), &mut locals, &mut found)?;
    Ok(found)
}

type Declared = (Name, Elem, Vec<Expr>, bool);

/// What is around a place on the host.
#[derive(Default)]
struct Around {
    /// Variables of loops.
    loops: Vec<Name>,
    /// What names are at most.
    bounds: Vec<(Name, i64)>,
}

/// What a condition says of names at most.
fn bounds(cond: &Expr, all: &mut Vec<(Name, i64)>) {
    match cond {
        Expr::Binary(BinaryOp::And, a, b) => {
            bounds(a, all);
            bounds(b, all);
        }
        Expr::Compare(CompareOp::Le, a, b) => {
            if let (Expr::Var(name), Expr::Int(n)) = (&**a, &**b) {
                all.push((name.clone(), *n));
            }
        }
        _ => {}
    }
}

fn find<'a>(
    function: &Function,
    body: &'a [Stmt],
    around: &mut Around,
    locals: &mut Vec<Declared>,
    found: &mut Vec<Kernel<'a>>,
) -> Result<(), Diagnostic> {
    for stmt in body {
        match stmt {
            Stmt::Block { mark: Some(mark), body } if mark.as_str() == KERNEL => {
                let name = format!("{}_k{}", function.name, found.len());
                found.push(kernel(function, name, body, around, locals)?);
            }
            Stmt::Block { body, .. } => find(function, body, around, locals, found)?,
            Stmt::Loop(l) => {
                around.loops.push(l.var.clone());
                find(function, &l.body, around, locals, found)?;
                around.loops.pop();
            }
            Stmt::If { cond, then, otherwise } => {
                let before = around.bounds.len();
                bounds(cond, &mut around.bounds);
                find(function, then, around, locals, found)?;
                around.bounds.truncate(before);
                find(function, otherwise, around, locals, found)?;
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
    around: &Around,
    locals: &[Declared],
) -> Result<Kernel<'a>, Diagnostic> {
    let mut arrays = BTreeSet::new();
    let mut inside = BTreeSet::new();
    let mut moved = BTreeSet::new();
    for stmt in body {
        for stmt in stmt.nodes() {
            match stmt {
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
            }
        }
        for stmt in stmt.nodes() {
            for expr in stmt.exprs() {
                arrays.extend(expr.arrays());
            }
        }
    }
    let mut kernel = Kernel {
        name,
        body,
        indices: function.sizes.clone(),
        sizes: function.sizes.clone(),
        bounds: around.bounds.clone(),
        scalars: vec![],
        arrays: vec![],
    };
    kernel.indices.extend(around.loops.iter().cloned());
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
