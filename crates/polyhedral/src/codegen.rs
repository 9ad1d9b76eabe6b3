//! From a schedule tree to a function: the set library scans the tree, and its syntax tree becomes loops around the original statements.
//!
//! Beside the function an instance map is given: for each generated statement the original one and its iterators as expressions of the new
//! loops. It is a claim, not a proof: [`crate::check`] verifies it.
//!
//! Marks direct the loops below them: `parallel`, `vector`, `unroll` (also `unroll N`); other marks become marked blocks.

mod expr;
mod naming;

use std::collections::{BTreeMap, BTreeSet};

use isl::{AstBuild, AstExpr, AstExprKind, AstNode, AstNodeKind, AstOp, Flag};
use loops::{Assign, Expr, Function, Loop, LoopKind, Name, Stmt};

use crate::fault::{self, Result};
use crate::model::{Model, Statement};
use crate::names::{fresh, readable};
use crate::tree::Tree;

/// A generated function, and where its statements come from.
#[derive(Clone, Debug)]
pub struct Generated {
    /// The function.
    pub function: Function,
    /// For each label of the function: the original statement and its iterators.
    pub instances: BTreeMap<Name, Instance>,
}

/// Where a generated statement comes from.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Instance {
    /// Label of the original statement.
    pub original: Name,
    /// The original's iterators, outermost first, as expressions of the generated loops.
    pub iterators: Vec<Expr>,
}

/// The function that a tree describes.
///
/// # Errors
/// `P0301` for what loop programs cannot say; `P0002` if the bound on work is reached; those of the set library.
pub fn generate(model: &Model, tree: &Tree, operations: u64) -> Result<Generated> {
    let ctx = &model.ctx;
    let schedule = tree.to_isl(ctx)?;
    let build = || -> isl::Result<AstNode> {
        ctx.set(Flag::AstBuildAtomicUpperBound, 1)?;
        ctx.set(Flag::AstBuildPreferPdiv, 1)?;
        ctx.set(Flag::AstBuildDetectMinMax, 1)?;
        ctx.set(Flag::AstBuildExploitNestedBounds, 1)?;
        ctx.set(Flag::AstBuildScaleStrides, 0)?;
        ctx.set(Flag::AstBuildAllowElse, 1)?;
        ctx.set(Flag::AstBuildAllowOr, 1)?;
        AstBuild::new(&model.context)?.node(&schedule)
    };
    let ast = ctx.limited(operations, build).map_err(fault::library)?;
    let sizes = model.function.sizes.iter().map(|name| (readable(name), name.clone())).collect();
    let labels = model.statements.iter().map(|s| s.label.clone()).collect();
    let mut reader = Reader { model, sizes, degenerate: BTreeMap::new(), body: BTreeMap::new(), labels };
    let body = reader.node(&ast, Kind::default(), 0)?;
    let Reader { body: instances, .. } = reader;
    let mut function = model.function.clone();
    function.body = model.locals.iter().cloned().map(Stmt::Local).chain(body).collect();
    let (function, instances) = naming::rename(function, instances, model);
    Ok(Generated { function, instances })
}

/// What marks say about the loops below.
#[derive(Clone, Copy, Default)]
struct Kind {
    loop_kind: Option<LoopKind>,
}

struct Reader<'a> {
    model: &'a Model,
    /// Sizes by their name in sets.
    sizes: BTreeMap<String, Name>,
    /// Iterators of loops with one iteration, and their values.
    degenerate: BTreeMap<String, Expr>,
    body: BTreeMap<Name, Instance>,
    /// Labels that are taken: the original ones are for the first copies.
    labels: BTreeSet<Name>,
}

/// Nesting of generated code that is accepted.
const MAX_DEPTH: usize = 120;

impl Reader<'_> {
    fn node(&mut self, node: &AstNode, kind: Kind, depth: usize) -> Result<Vec<Stmt>> {
        if depth > MAX_DEPTH {
            return Err(fault::limit("the depth of generated code"));
        }
        match node.kind().map_err(fault::library)? {
            AstNodeKind::Block(children) => {
                let mut body = Vec::new();
                for child in &children {
                    body.extend(self.node(child, kind, depth + 1)?);
                }
                Ok(body)
            }
            AstNodeKind::If { cond, then, otherwise } => {
                let cond = self.expr(&cond)?;
                let then = self.node(&then, kind, depth + 1)?;
                let otherwise = match otherwise {
                    Some(node) => self.node(&node, kind, depth + 1)?,
                    None => Vec::new(),
                };
                Ok(vec![Stmt::If { cond, then, otherwise }])
            }
            AstNodeKind::Mark(name, inner) => {
                let marked = match name.split_once(' ').unwrap_or((&name, "")) {
                    ("parallel", "") => Some(LoopKind::Parallel),
                    ("vector", "") => Some(LoopKind::Vector),
                    ("sequential", "") => Some(LoopKind::Sequential),
                    ("unroll", "") => Some(LoopKind::Unroll(None)),
                    ("unroll", count) => Some(LoopKind::Unroll(count.parse().ok())),
                    _ => None,
                };
                match marked {
                    Some(loop_kind) => self.node(&inner, Kind { loop_kind: Some(loop_kind) }, depth + 1),
                    None => {
                        let body = self.node(&inner, kind, depth + 1)?;
                        Ok(vec![Stmt::Block { mark: Some(Name::new(&name)), body }])
                    }
                }
            }
            AstNodeKind::For { iterator, init, cond: None, body, .. } => {
                // One iteration: the value takes the variable's place.
                let value = self.expr(&init)?;
                let outer = self.degenerate.insert(iterator.clone(), value);
                let body = self.node(&body, Kind::default(), depth + 1);
                match outer {
                    Some(value) => self.degenerate.insert(iterator, value),
                    None => self.degenerate.remove(&iterator),
                };
                body
            }
            AstNodeKind::For { iterator, init, cond: Some(cond), inc, body } => {
                let lower = self.expr(&init)?;
                let upper = self.upper(&iterator, &cond)?;
                let step = match inc.map(|inc| inc.kind()).transpose().map_err(fault::library)? {
                    Some(AstExprKind::Int(step)) if step > 0 => step,
                    _ => return Err(fault::generation("a loop whose step is not a positive constant")),
                };
                let body = self.node(&body, Kind::default(), depth + 1)?;
                Ok(vec![Stmt::Loop(Loop {
                    var: Name::new(&iterator),
                    lower,
                    upper,
                    step,
                    kind: kind.loop_kind.unwrap_or(LoopKind::Sequential),
                    reductions: Vec::new(),
                    body,
                })])
            }
            AstNodeKind::User(call) => Ok(vec![self.user(&call)?]),
        }
    }

    /// The exclusive end of a loop from its condition.
    fn upper(&self, iterator: &str, cond: &AstExpr) -> Result<Expr> {
        if let AstExprKind::Op(op, sides) = cond.kind().map_err(fault::library)?
            && let [left, right] = sides.as_slice()
            && matches!(left.kind().map_err(fault::library)?, AstExprKind::Id(name) if name == iterator)
        {
            let right = self.expr(right)?;
            match op {
                AstOp::Lt => return Ok(right),
                AstOp::Le => return Ok(expr::plus(right, 1)),
                _ => {}
            }
        }
        Err(fault::generation(format!("a loop condition that is not an upper bound: {cond}")))
    }

    /// A statement instance.
    fn user(&mut self, call: &AstExpr) -> Result<Stmt> {
        let AstExprKind::Op(AstOp::Call, args) = call.kind().map_err(fault::library)? else {
            return Err(fault::generation(format!("a statement that is not a call: {call}")));
        };
        let (name, args) = args.split_first().ok_or_else(|| fault::generation("a call of nothing"))?;
        let AstExprKind::Id(tuple) = name.kind().map_err(fault::library)? else {
            return Err(fault::generation(format!("a call of something that is not a name: {call}")));
        };
        let Some(statement) = self.model.by_tuple(&tuple) else {
            return Err(fault::generation(format!("`{tuple}` is not a statement of the function")));
        };
        let iterators = args.iter().map(|arg| self.expr(arg)).collect::<Result<Vec<_>>>()?;
        if iterators.len() != statement.loops.len() {
            return Err(fault::generation(format!("`{tuple}` with a wrong number of iterators")));
        }
        let label = match self.body.contains_key(&statement.label) {
            true => fresh(&statement.label, &mut self.labels),
            false => statement.label.clone(),
        };
        let assign = instance(statement, &iterators, label.clone());
        self.body.insert(label, Instance { original: statement.label.clone(), iterators });
        Ok(Stmt::Assign(assign))
    }

    fn expr(&self, expr: &AstExpr) -> Result<Expr> {
        expr::read(expr, &|name| {
            if let Some(value) = self.degenerate.get(name) {
                return value.clone();
            }
            Expr::Var(self.sizes.get(name).cloned().unwrap_or_else(|| Name::new(name)))
        })
    }
}

/// The statement with its iterators replaced.
pub(crate) fn instance(statement: &Statement, iterators: &[Expr], label: Name) -> Assign {
    // Inner loops hide outer ones of the same name, so later entries win.
    let values: BTreeMap<Name, &Expr> = statement.iterators().into_iter().zip(iterators).collect();
    let put = |e: &Expr| expr::tidy(&e.substitute(&|name| values.get(name).map(|e| (*e).clone())));
    Assign {
        label: Some(label),
        target: statement.assign.target.map_indices(&mut |e| put(e)),
        update: statement.assign.update,
        value: put(&statement.assign.value),
    }
}
