//! From a schedule tree to a function: the set library scans the tree, and its syntax tree becomes
//! loops around the original statements.
//!
//! Beside the function an instance map is given: for each generated statement the original one and
//! its iterators as expressions of the new loops. It is a claim, not a proof: [`crate::check`]
//! verifies it.
//!
//! Marks direct the loops below them: `parallel`, `vector`, `unroll` (also `unroll N`), the first
//! two also with what the loop privatises (`parallel reducing + y`); other marks become marked
//! blocks.

pub(crate) mod declaration_sinking;
mod isl_expr;
mod naming;
pub(crate) mod text_order;

use std::collections::{BTreeMap, BTreeSet};

use isl::{AstBuild, AstExpr, AstExprKind, AstNode, AstNodeKind, AstOp, Flag};
use loops::simplify::tidy;
use loops::{Assign, Expr, Function, Loop, LoopKind, Name, ReduceOp, Stmt};

use crate::fault::{self, Result};
use crate::limits::Limits;
use crate::model::{Model, Statement, nest};
use crate::names::{fresh, readable};
use crate::tree::{Node, Tree};

/// A generated function, and where its statements come from.
#[derive(Clone, PartialEq, Debug)]
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
/// `P0301` for what loop programs cannot say; `P0002` if the bound on work is reached; those of the
/// set library.
pub fn generate(model: &Model, tree: &Tree, limits: impl Into<Limits>) -> Result<Generated> {
    generate_mapped(model, tree, &model.context, &Plain, limits)
}

/// What a mapping to a machine adds to code generation: other accesses, nodes for statements that
/// are not the model's, and blocks for marks.
pub(crate) trait Mapping {
    /// A statement instance; `at` gives the value of the schedule's dimension of that depth.
    fn statement(
        &self,
        statement: &Statement,
        iterators: &[Expr],
        label: Name,
        at: &dyn Fn(usize) -> Expr,
    ) -> Result<Assign>;

    /// The statements for an instance that an extension node has added.
    ///
    /// # Errors
    /// `P0301` if the mapping has added no such statement.
    fn added(&self, tuple: &str, at: &dyn Fn(usize) -> Expr) -> Result<Vec<Stmt>>;

    /// The statements for a marked subtree.
    fn marked(&self, name: &str, body: Vec<Stmt>, at: &dyn Fn(usize) -> Expr) -> Vec<Stmt>;
}

/// No mapping: the statements as they are, marks as blocks.
struct Plain;

impl Mapping for Plain {
    fn statement(
        &self,
        statement: &Statement,
        iterators: &[Expr],
        label: Name,
        _: &dyn Fn(usize) -> Expr,
    ) -> Result<Assign> {
        Ok(instance(statement, iterators, label))
    }

    fn added(&self, tuple: &str, _: &dyn Fn(usize) -> Expr) -> Result<Vec<Stmt>> {
        Err(fault::generation(format!("`{tuple}` is not a statement of the function")))
    }

    fn marked(&self, name: &str, body: Vec<Stmt>, _: &dyn Fn(usize) -> Expr) -> Vec<Stmt> {
        vec![Stmt::Block { mark: Some(Name::new(name)), body }]
    }
}

/// As [`generate`], for a tree that is mapped to a machine; `context` also bounds the parameters
/// that the mapping has introduced.
pub(crate) fn generate_mapped(
    model: &Model,
    tree: &Tree,
    context: &isl::Set,
    mapping: &dyn Mapping,
    limits: impl Into<Limits>,
) -> Result<Generated> {
    let ctx = &model.ctx;
    let mut depth = 0;
    let schedule = Tree { root: number_marks(tree.root.clone(), 0, &mut depth) }.to_isl(ctx)?;
    // Loops are told apart by their depth in the schedule, which their names carry until they get
    // better ones.
    let prefix = loop_prefix(&model.function);
    let iterators: Vec<String> = (0..depth).map(|k| format!("{prefix}{k}")).collect();
    let iterators: Vec<&str> = iterators.iter().map(String::as_str).collect();
    let build = || -> isl::Result<AstNode> {
        ctx.set(Flag::AstBuildAtomicUpperBound, 1)?;
        ctx.set(Flag::AstBuildPreferPdiv, 1)?;
        ctx.set(Flag::AstBuildDetectMinMax, 1)?;
        ctx.set(Flag::AstBuildExploitNestedBounds, 1)?;
        ctx.set(Flag::AstBuildScaleStrides, 0)?;
        ctx.set(Flag::AstBuildAllowElse, 1)?;
        ctx.set(Flag::AstBuildAllowOr, 1)?;
        AstBuild::new(context)?.iterators(&iterators)?.node(&schedule)
    };
    let ast = limits.into().run(ctx, build).map_err(fault::library)?;
    let sizes = model.function.sizes.iter().map(|name| (readable(name), name.clone())).collect();
    let mut labels: BTreeSet<Name> = model.statements.iter().map(|s| s.label.clone()).collect();
    let nests = model.statements.iter().filter_map(|s| s.nest.as_ref());
    labels.extend(nests.flat_map(nest::assigns).filter_map(|assign| assign.label.clone()));
    let mut reader = Reader {
        model,
        mapping,
        sizes,
        prefix,
        degenerate: BTreeMap::new(),
        values: BTreeMap::new(),
        body: BTreeMap::new(),
        labels,
    };
    let body = reader.node(&ast, None, 0)?;
    let Reader { body: instances, .. } = reader;
    let mut function = model.function.clone();
    function.body = model.locals.iter().cloned().map(Stmt::Local).chain(body).collect();
    let (function, instances) = naming::rename(function, instances, model);
    Ok(Generated { function, instances })
}

/// What a loop privatises.
type Reductions = Vec<(ReduceOp, Name)>;

/// A mark of a loop: the depth of the loop in the schedule, and how it is to run.
#[derive(Clone)]
struct Mark {
    level: usize,
    kind: LoopKind,
    reductions: Reductions,
}

/// The mark of a loop of a kind (`parallel`, `vector`) that privatises arrays: `parallel reducing +
/// y, max z`.
pub(crate) fn reducing(kind: &str, reductions: &[(ReduceOp, Name)]) -> String {
    let parts: Vec<String> = reductions.iter().map(|(op, name)| format!("{} {name}", op.symbol())).collect();
    if parts.is_empty() { kind.to_owned() } else { format!("{kind} reducing {}", parts.join(", ")) }
}

/// What a mark says about the loop of the band below it, if it is about that.
fn loop_mark(mark: &str) -> Option<(LoopKind, Reductions)> {
    let Some((kind, parts)) = mark.split_once(" reducing ") else {
        return loop_kind(mark).map(|kind| (kind, Vec::new()));
    };
    let kind = loop_kind(kind).filter(|kind| matches!(kind, LoopKind::Parallel | LoopKind::Vector))?;
    let part = |part: &str| -> Option<(ReduceOp, Name)> {
        let (symbol, name) = part.split_once(' ')?;
        let op = ReduceOp::ALL.into_iter().find(|op| op.symbol() == symbol)?;
        Some((op, Name::new(name)))
    };
    Some((kind, parts.split(", ").map(part).collect::<Option<_>>()?))
}

fn loop_kind(mark: &str) -> Option<LoopKind> {
    match mark.split_once(' ').unwrap_or((mark, "")) {
        ("parallel", "") => Some(LoopKind::Parallel),
        ("vector", "") => Some(LoopKind::Vector),
        ("sequential", "") => Some(LoopKind::Sequential),
        ("unroll", "") => Some(LoopKind::Unroll(None)),
        ("unroll", count) => Some(LoopKind::Unroll(count.parse().ok())),
        _ => None,
    }
}

/// Adds the depth to each mark of a loop: a loop of one iteration is not in the syntax tree, and
/// its mark must not be taken for the next loop's. `deepest` becomes the number of loops.
fn number_marks(mut node: Node, depth: usize, deepest: &mut usize) -> Node {
    *deepest = (*deepest).max(depth);
    if let Node::Mark { name, .. } = &mut node
        && loop_mark(name).is_some()
    {
        name.push_str(&format!("@{depth}"));
    }
    let below = depth + if let Node::Band(band) = &node { band.members.len() } else { 0 };
    node.map_children(&mut |child| number_marks(child, below, deepest))
}

/// The beginning of loop names that no size has.
fn loop_prefix(function: &Function) -> String {
    let mut prefix = "c".to_owned();
    while function.sizes.iter().any(|size| readable(size).starts_with(&prefix)) {
        prefix.push('_');
    }
    prefix
}

struct Reader<'a> {
    model: &'a Model,
    mapping: &'a dyn Mapping,
    /// Sizes by their name in sets.
    sizes: BTreeMap<String, Name>,
    /// What loop names begin with; the depth follows.
    prefix: String,
    /// Values of the schedule's dimensions, as the added instance that came last has told them.
    values: BTreeMap<usize, Expr>,
    /// Iterators of loops with one iteration, and their values.
    degenerate: BTreeMap<String, Expr>,
    body: BTreeMap<Name, Instance>,
    /// Labels that are taken: the original ones are for the first copies.
    labels: BTreeSet<Name>,
}

/// Nesting of generated code that is accepted.
const MAX_DEPTH: usize = 120;

impl Reader<'_> {
    fn node(&mut self, node: &AstNode, marked: Option<&Mark>, depth: usize) -> Result<Vec<Stmt>> {
        if depth > MAX_DEPTH {
            return Err(fault::limit("the depth of generated code"));
        }
        match node.kind().map_err(fault::library)? {
            AstNodeKind::Block(children) => {
                let mut body = Vec::new();
                for child in &children {
                    body.extend(self.node(child, marked, depth + 1)?);
                }
                Ok(merged(body))
            }
            AstNodeKind::If { cond, then, otherwise } => {
                let cond = isl_expr::read_condition(&cond, &|name| self.name(name))?;
                let then = self.node(&then, marked, depth + 1)?;
                let otherwise = match otherwise {
                    Some(node) => self.node(&node, marked, depth + 1)?,
                    None => Vec::new(),
                };
                Ok(match cond {
                    Expr::Bool(true) => then,
                    Expr::Bool(false) => otherwise,
                    cond => vec![Stmt::If { cond, then, otherwise }],
                })
            }
            AstNodeKind::Mark(name, inner) => {
                if let Some((mark, level)) = name.split_once('@')
                    && let (Some((kind, reductions)), Ok(level)) = (loop_mark(mark), level.parse())
                {
                    return self.node(&inner, Some(&Mark { level, kind, reductions }), depth + 1);
                }
                // What instances inside tell of loops that are left out holds inside only.
                let before = self.values.clone();
                let body = self.node(&inner, marked, depth + 1)?;
                let all = self.mapping.marked(&name, body, &|depth| self.dimension(depth));
                self.values = before;
                Ok(all)
            }
            AstNodeKind::For { iterator, init, cond: None, body, .. } => {
                // One iteration: the value takes the variable's place.
                let value = self.expr(&init)?;
                let outer = self.degenerate.insert(iterator.clone(), value);
                let body = self.node(&body, None, depth + 1);
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
                let body = self.node(&body, None, depth + 1)?;
                let level = iterator.strip_prefix(&self.prefix).and_then(|level| level.parse::<usize>().ok());
                let (kind, reductions) = match marked {
                    Some(mark) if Some(mark.level) == level => (mark.kind, mark.reductions.clone()),
                    _ => (LoopKind::Sequential, Vec::new()),
                };
                Ok(vec![Stmt::Loop(Loop {
                    var: Name::new(&iterator),
                    lower,
                    upper,
                    step,
                    kind,
                    reductions,
                    body,
                })])
            }
            AstNodeKind::User(call) => self.user(&call),
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
                AstOp::Le => return Ok(isl_expr::plus(right, 1)),
                _ => {}
            }
        }
        Err(fault::generation(format!("a loop condition that is not an upper bound: {cond}")))
    }

    /// A statement instance.
    fn user(&mut self, call: &AstExpr) -> Result<Vec<Stmt>> {
        let AstExprKind::Op(AstOp::Call, args) = call.kind().map_err(fault::library)? else {
            return Err(fault::generation(format!("a statement that is not a call: {call}")));
        };
        let (name, args) = args.split_first().ok_or_else(|| fault::generation("a call of nothing"))?;
        let AstExprKind::Id(tuple) = name.kind().map_err(fault::library)? else {
            return Err(fault::generation(format!("a call of something that is not a name: {call}")));
        };
        let Some(statement) = self.model.by_tuple(&tuple) else {
            // The set library leaves out loops whose value follows from others: the instance tells
            // what it is.
            for (depth, arg) in args.iter().enumerate() {
                let value = self.expr(arg)?;
                self.values.insert(depth, value);
            }
            return self.mapping.added(&tuple, &|depth| self.dimension(depth));
        };
        let iterators = args.iter().map(|arg| self.expr(arg)).collect::<Result<Vec<_>>>()?;
        if iterators.len() != statement.loops.len() {
            return Err(fault::generation(format!("`{tuple}` with a wrong number of iterators")));
        }
        let label = match self.body.contains_key(&statement.label) {
            true => fresh(&statement.label, &mut self.labels),
            false => statement.label.clone(),
        };
        let mut stmt = match &statement.nest {
            Some(l) => {
                let first = label == statement.label;
                let l = nest_instance(statement, l, &iterators);
                Stmt::Loop(if first { l } else { relabelled(l, &label, &mut self.labels) })
            }
            None => {
                let at = |depth: usize| self.dimension(depth);
                Stmt::Assign(self.mapping.statement(statement, &iterators, label.clone(), &at)?)
            }
        };
        for guard in guards(statement, &iterators).into_iter().rev() {
            stmt = Stmt::If { cond: guard, then: vec![stmt], otherwise: Vec::new() };
        }
        self.body.insert(label, Instance { original: statement.label.clone(), iterators });
        Ok(vec![stmt])
    }

    /// The value of the schedule's dimension of this depth.
    fn dimension(&self, depth: usize) -> Expr {
        if let Some(value) = self.values.get(&depth) {
            return value.clone();
        }
        self.name(&format!("{}{depth}", self.prefix))
    }

    fn expr(&self, expr: &AstExpr) -> Result<Expr> {
        isl_expr::read(expr, &|name| self.name(name))
    }

    /// What an identifier of the syntax tree stands for.
    fn name(&self, name: &str) -> Expr {
        if let Some(value) = self.degenerate.get(name) {
            return value.clone();
        }
        Expr::Var(self.sizes.get(name).cloned().unwrap_or_else(|| Name::new(name)))
    }
}

/// Statements under the same condition, or its opposite, one after the other: under one, where the
/// first ones do not change what it is asked of.
fn merged(body: Vec<Stmt>) -> Vec<Stmt> {
    let mut result: Vec<Stmt> = Vec::new();
    for stmt in body {
        if let (
            Some(Stmt::If { cond, then, otherwise }),
            Stmt::If { cond: next, then: more, otherwise: none },
        ) = (result.last_mut(), &stmt)
            && none.is_empty()
            && cond.has_loads()
            && !then.iter().chain(&*otherwise).any(|stmt| writes(stmt, &cond.arrays()))
        {
            if next == cond && otherwise.is_empty() {
                then.extend(more.iter().cloned());
                continue;
            }
            if *next == Expr::unary(loops::UnaryOp::Not, cond.clone()) {
                otherwise.extend(more.iter().cloned());
                continue;
            }
        }
        result.push(stmt);
    }
    result
}

fn writes(stmt: &Stmt, arrays: &BTreeSet<Name>) -> bool {
    stmt.nodes().any(|stmt| matches!(stmt, Stmt::Assign(assign) if arrays.contains(&assign.target.array)))
}

/// An expression of a statement with its iterators replaced.
fn put(statement: &Statement, iterators: &[Expr], e: &Expr) -> Expr {
    // Inner loops hide outer ones of the same name, so later entries win.
    let values: BTreeMap<Name, &Expr> = statement.iterators().into_iter().zip(iterators).collect();
    tidy(&e.substitute(&|name| values.get(name).map(|e| (*e).clone())))
}

/// The guards of a statement with its iterators replaced.
pub(crate) fn guards(statement: &Statement, iterators: &[Expr]) -> Vec<Expr> {
    statement.guards.iter().map(|guard| put(statement, iterators, guard)).collect()
}

/// A nest with the iterators of the statement that it is replaced. Its own variables are none of
/// those that the new loops may have.
pub(crate) fn nest_instance(statement: &Statement, l: &Loop, iterators: &[Expr]) -> Loop {
    fn block(body: &[Stmt], put: &dyn Fn(&Expr) -> Expr) -> Vec<Stmt> {
        body.iter().map(|stmt| stmt.map(&mut |e| put(e), &mut |inner| block(inner, put))).collect()
    }
    let put = |e: &Expr| put(statement, iterators, e);
    Loop { lower: put(&l.lower), upper: put(&l.upper), body: block(&l.body, &put), ..l.clone() }
}

/// A nest whose first assignment has this label, and the others new ones.
fn relabelled(l: Loop, first: &Name, labels: &mut BTreeSet<Name>) -> Loop {
    fn block(body: &[Stmt], next: &mut dyn FnMut(&Name) -> Name) -> Vec<Stmt> {
        let stmt = |stmt: &Stmt| match stmt.map(&mut Expr::clone, &mut |inner| block(inner, next)) {
            Stmt::Assign(Assign { label: Some(label), target, update, value }) => {
                Stmt::Assign(Assign { label: Some(next(&label)), target, update, value })
            }
            other => other,
        };
        body.iter().map(stmt).collect()
    }
    let mut first = Some(first.clone());
    let mut next = |label: &Name| first.take().unwrap_or_else(|| fresh(label, labels));
    Loop { body: block(&l.body, &mut next), ..l }
}

/// The statement with its iterators replaced.
pub(crate) fn instance(statement: &Statement, iterators: &[Expr], label: Name) -> Assign {
    let put = |e: &Expr| put(statement, iterators, e);
    Assign {
        label: Some(label),
        target: statement.assign.target.map_indices(&mut |e| put(e)),
        update: statement.assign.update,
        value: put(&statement.assign.value),
    }
}
