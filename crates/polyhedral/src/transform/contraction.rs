//! Contractions: nests like `C[i][j] += A[i][k] * B[k][j]`, run as register tiles over packed
//! operands.
//!
//! A nest is a contraction if its one statement updates an element and some loop (`k`) does not
//! occur in that element's subscripts. One of the loops that do occur runs along memory (`j`, the
//! vector loop), another one (`i`) gives the rows of a register tile. The largest parts of the
//! value that do not depend on `j` are packed by rows, those that do not depend on `i` by columns,
//! so that the kernel reads memory in order; what depends on both is refused here, so `i` is a loop
//! for which nothing does. Nothing depends on the kernel being a product: any update and any value
//! will do, in its own order of rounding, because `k` still ascends for every element.
//!
//! Several loops may contract. Of those the last with unknown extent is `k`; small constant ones
//! inside it are its *taps* (a convolution's window): they stay together with `k` in the kernel,
//! and packed operands have an extent for each. Others stay outside.
//!
//! Tiles at the rim, and those on a diagonal of a triangular domain, are computed whole on packed
//! zeros: lanes outside the domain are neither loaded nor stored. Where the range of `k` depends on
//! the row, the part common to all rows of the tile runs in the fast kernel, and the rest row by
//! row.
//!
//! What comes out has claims about its local arrays; [`crate::packing_validation`] verifies them.
//! Left out: which nests may be interchanged. The checker says so in the end.
//!
//! Tiles of models are planned elsewhere (`graph::operators::tiles`): an operator's operands are
//! given as functions of the place, so there is no nest to recognise, and constant weights are
//! packed when the model is compiled.

mod bound_rows;
mod emit;
mod join;
mod shape;

use std::collections::{BTreeMap, BTreeSet};

use loops::simplify;
use loops::typing::Types;
use loops::visit::{fresh, names, nodes, taken};
use loops::{Access, Assign, Expr, Function, Loop, Name, Scalar, Stmt};

use crate::codegen::{Generated, Instance};
use arith::{Linear, System};

pub(crate) use bound_rows::{at_least, value};
pub use shape::Shape;

/// Which blocks run in parallel.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Split {
    /// Blocks of rows, over one packed panel of columns; or, where a loop around rows and columns
    /// is one over elements, that loop, and each of its iterations has panels of its own: the
    /// innermost such loop, since an outer one may be a batch of one.
    Rows,
    /// Blocks of columns, each with panels of its own: where rows depend on one another.
    Columns,
}

/// What a local array holds, as the transformation claims.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Claim {
    /// The local array.
    pub local: Name,
    /// Names of its subscripts in `role`.
    pub formals: Vec<Name>,
    /// What an element is.
    pub role: Role,
}

/// What an element of a local array is.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Role {
    /// A copy of this value, over the formals and the loops around the array.
    Packed(Expr),
    /// This element, held until it is stored.
    Held(Access),
}

/// What has become of the marked blocks.
#[derive(Clone, Debug)]
pub struct Stages {
    /// The function with register tiles; none if no block has them.
    pub staged: Option<Staged>,
    /// Statements of the original whose blocks are no contractions: their marks are gone.
    pub refused: BTreeSet<Name>,
}

/// A function with local arrays that stand for parts of others.
#[derive(Clone, Debug)]
pub struct Staged {
    /// The function.
    pub function: Function,
    /// Where its statements come from.
    pub instances: BTreeMap<Name, Instance>,
    /// What its new local arrays hold.
    pub claims: Vec<Claim>,
}

impl Staged {
    /// Without bounds and tests that hold anyway, and without loops of tiles that run once, whose
    /// variables have their values in what is claimed too.
    pub fn simplified(&self) -> Staged {
        let (mut instances, mut claims) = (self.instances.clone(), self.claims.clone());
        let function = simplify::function_telling(&self.function, &mut |l, value| {
            let put = |e: &Expr| e.substitute(&|name| (*name == l.var).then(|| value.clone()));
            for label in names(&l.body) {
                if let Some(instance) = instances.get_mut(&label) {
                    instance.iterators.iter_mut().for_each(|e| *e = put(e));
                }
            }
            let declares =
                |name: &Name| nodes(&l.body).any(|s| matches!(s, Stmt::Local(local) if local.name == *name));
            for claim in claims.iter_mut().filter(|claim| declares(&claim.local)) {
                claim.role = match &claim.role {
                    Role::Packed(value) => Role::Packed(put(value)),
                    Role::Held(element) => Role::Held(element.map_indices(&mut |e| put(e))),
                };
            }
        });
        Staged { function, instances, claims }
    }
}

impl Staged {
    /// With parallel loops over the same iterations made one where a contraction is among them;
    /// none if there are no such loops.
    pub(crate) fn joined(&self) -> Option<Staged> {
        // Bounds are alike once they are simple.
        let simple = self.simplified();
        let body = join::join(&simple.function.body)?;
        Some(Staged { function: Function { body, ..simple.function.clone() }, ..simple })
    }
}

/// The mark of blocks that hold a nest to be staged.
pub const MARK: &str = "contraction";

/// The mark of blocks that hold a nest to be staged of which the rows depend on one another.
pub(crate) const MARK_COLUMNS: &str = "contraction by columns";

/// Stages every marked block that is a contraction. `split` holds where the mark does not ask for
/// columns.
pub fn stage(generated: &Generated, shape: Shape, split: Split) -> Stages {
    let mut types = Types::of(&generated.function);
    let taken = taken(&generated.function);
    let mut stager = Stager {
        shape,
        split,
        taken,
        sizes: generated.function.sizes.iter().map(|size| size.to_string()).collect(),
        instances: generated.instances.clone(),
        claims: Vec::new(),
        count: 0,
        refused: BTreeSet::new(),
    };
    let body = stager.block(&generated.function.body, &mut types);
    // Labels that no statement bears any more are no claims.
    let labels = names(&body);
    stager.instances.retain(|label, _| labels.contains(label));
    let refused = std::mem::take(&mut stager.refused);
    let staged = (stager.count > 0).then(|| Staged {
        function: Function { body, ..generated.function.clone() },
        instances: stager.instances,
        claims: stager.claims,
    });
    Stages { staged, refused }
}

/// Whether some statement updates an element in more loops than the element has, at least three in
/// all, by what can be packed for rows and columns.
pub(crate) fn may_contract(function: &Function) -> bool {
    fn inside(body: &[Stmt], vars: &mut Vec<Name>) -> bool {
        body.iter().any(|stmt| match stmt {
            Stmt::Assign(assign) => {
                let of_element = |v: &Name| assign.target.indices.iter().any(|e| e.mentions(v));
                let pair = |i: &Name| {
                    let other = |j: &&Name| *j != i && of_element(j) && separable(&assign.value, i, j);
                    of_element(i) && vars.iter().any(|j| other(&j))
                };
                assign.update.is_some()
                    && vars.len() >= 3
                    && !vars.iter().all(of_element)
                    && vars.iter().any(pair)
            }
            Stmt::Loop(l) => {
                vars.push(l.var.clone());
                let found = inside(&l.body, vars);
                vars.pop();
                found
            }
            Stmt::If { then, otherwise, .. } => inside(then, vars) || inside(otherwise, vars),
            Stmt::Block { body, .. } => inside(body, vars),
            Stmt::Local(_) | Stmt::Copy(_) | Stmt::Wait(_) => false,
        })
    }
    inside(&function.body, &mut Vec::new())
}

struct Stager {
    shape: Shape,
    split: Split,
    taken: BTreeSet<Name>,
    sizes: BTreeSet<String>,
    instances: BTreeMap<Name, Instance>,
    claims: Vec<Claim>,
    count: usize,
    refused: BTreeSet<Name>,
}

/// A perfect nest around one statement.
struct Nest<'a> {
    loops: Vec<&'a Loop>,
    assign: &'a Assign,
}

impl<'a> Nest<'a> {
    fn of(body: &'a [Stmt]) -> Option<Nest<'a>> {
        let mut loops = Vec::new();
        let mut body = body;
        loop {
            match body {
                [Stmt::Loop(l)] if l.step == 1 && l.reductions.is_empty() => {
                    loops.push(l);
                    body = &l.body;
                }
                [Stmt::Assign(assign)] => return Some(Nest { loops, assign }),
                _ => return None,
            }
        }
    }
}

/// Whether a function has nests that were made register tiles.
pub(crate) fn any(function: &Function) -> bool {
    nodes(&function.body).any(|stmt| match stmt {
        Stmt::Block { mark: Some(mark), .. } => mark.as_str() == MARK,
        _ => false,
    })
}

impl Stager {
    fn block(&mut self, body: &[Stmt], types: &mut Types) -> Vec<Stmt> {
        let mark = types.enter();
        let mut result = Vec::new();
        for stmt in body {
            match stmt {
                Stmt::Local(local) => {
                    types.declare_array(&local.name, &local.elem, local.dims.len());
                    result.push(stmt.clone());
                }
                Stmt::Block { mark: Some(mark), body } if [MARK, MARK_COLUMNS].contains(&mark.as_str()) => {
                    let split = if mark.as_str() == MARK { self.split } else { Split::Columns };
                    let plan = Nest::of(body).and_then(|nest| Plan::of(&nest, types, split, self));
                    let made = plan.and_then(|plan| Some((plan.emit(self)?, plan.condition(&self.sizes)?)));
                    match made {
                        Some((body, condition)) => {
                            let body = match condition {
                                Some(condition) => vec![Stmt::when(condition, body)],
                                None => body,
                            };
                            self.count += 1;
                            result.push(Stmt::mark(MARK, body));
                        }
                        None => {
                            self.refuse(body);
                            result.extend(body.iter().cloned());
                        }
                    }
                }
                Stmt::Block { mark, body } => {
                    result.push(Stmt::Block { mark: mark.clone(), body: self.block(body, types) });
                }
                Stmt::Loop(l) => {
                    let scope = types.enter();
                    types.declare_var(&l.var);
                    let body = self.block(&l.body, types);
                    types.leave(scope);
                    result.push(Stmt::Loop(Loop { body, ..l.clone() }));
                }
                Stmt::If { cond, then, otherwise } => result.push(Stmt::If {
                    cond: cond.clone(),
                    then: self.block(then, types),
                    otherwise: self.block(otherwise, types),
                }),
                Stmt::Assign(_) | Stmt::Copy(_) | Stmt::Wait(_) => result.push(stmt.clone()),
            }
        }
        types.leave(mark);
        result
    }

    /// Notes the statements of a block that is no contraction.
    fn refuse(&mut self, body: &[Stmt]) {
        for stmt in nodes(body) {
            if let Stmt::Assign(Assign { label: Some(label), .. }) = stmt
                && let Some(instance) = self.instances.get(label)
            {
                self.refused.insert(instance.original.clone());
            }
        }
    }

    fn name(&mut self, base: String) -> Name {
        let name = fresh(&Name::new(base), &self.taken);
        self.taken.insert(name.clone());
        name
    }
}

/// The number of iterations of a loop whose bounds are constant, if there are any.
fn extent(l: &Loop) -> Option<i64> {
    match (&l.lower, &l.upper) {
        (Expr::Int(low), Expr::Int(high)) => high.checked_sub(*low).filter(|extent| *extent > 0),
        _ => None,
    }
}

/// Whether there are too few blocks of rows for threads, and enough strips of columns.
fn is_wide(i: &Loop, j: &Loop, shape: &Shape, lanes: i64) -> bool {
    extent(i).is_some_and(|rows| (rows - 1) / shape.block_rows + 1 < FEW)
        && extent(j).is_none_or(|columns| columns / (shape.vectors * lanes) >= FEW)
}

/// Iterations of a loop that are too few for threads, where that is known.
const FEW: i64 = 8;

/// Multiplications of a product of constant extents that is over before its operands would be
/// packed.
const TINY: i64 = 512;

/// Iterations of a nest, if all its bounds are constant.
fn work(loops: [&Loop; 3]) -> Option<i64> {
    loops.iter().try_fold(1_i64, |all, l| all.checked_mul(extent(l)?))
}

/// Steps of a kernel that are written for one step of `k`.
const MOST_TAPS: i64 = 64;

/// A constant loop inside the contracted one: its variable, first value and extent.
type Tap = (Name, i64, i64);

/// The contracted loop that is cut into blocks, and the constant ones inside it.
fn steps_and_taps<'a>(contracted: &[&'a Loop]) -> Option<(&'a Loop, Vec<Tap>)> {
    let mut taps = Vec::new();
    let mut each = 1_i64;
    for l in contracted.iter().skip(1).rev() {
        let (Expr::Int(low), Some(extent)) = (&l.lower, extent(l)) else { break };
        each = each.saturating_mul(extent);
        if each > MOST_TAPS {
            break;
        }
        taps.insert(0, (l.var.clone(), *low, extent));
    }
    let k = contracted.get(contracted.len().checked_sub(taps.len() + 1)?)?;
    Some((k, taps))
}

/// Whether no element depends on both loops, and some do on each.
fn separable(value: &Expr, i: &Name, j: &Name) -> bool {
    fn inside(expr: &Expr, i: &Name, j: &Name, found: &mut Depends) -> bool {
        let vars = expr.vars();
        match (vars.contains(i), vars.contains(j)) {
            (true, true) => {
                !matches!(expr, Expr::Load(_) | Expr::Var(_))
                    && expr.children().all(|child| inside(child, i, j, found))
            }
            (row, column) => {
                found.i |= row;
                found.j |= column;
                true
            }
        }
    }
    let mut found = Depends { i: false, j: false };
    inside(value, i, j, &mut found) && found.i && found.j
}

/// On which of `i` and `j` an expression depends.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Depends {
    i: bool,
    j: bool,
}

/// A part of the value that is packed.
struct Operand {
    local: Name,
    value: Expr,
    scalar: Scalar,
    column: bool,
}

/// Everything that is decided before code is written.
struct Plan<'a> {
    shape: Shape,
    split: Split,
    assign: &'a Assign,
    outer: Vec<&'a Loop>,
    /// The one of `outer` that runs in parallel instead of blocks.
    spread: Option<Name>,
    /// Whether strips of columns run in parallel instead of blocks of rows, of which there are too
    /// few.
    by_strips: bool,
    i: Name,
    j: Name,
    k: Name,
    /// Contracted loops of constant extent inside `k`: name, first value, extent.
    taps: Vec<Tap>,
    /// All bounds of the nest but those of taps, which are constant.
    domain: System<Name>,
    operands: Vec<Operand>,
    /// The value with operands replaced by scalar variables of the operands' names.
    kernel: Expr,
    scalar: Scalar,
    lanes: i64,
}

impl<'a> Plan<'a> {
    fn of(nest: &Nest<'a>, types: &Types, split: Split, stager: &mut Stager) -> Option<Plan<'a>> {
        let assign = nest.assign;
        assign.update?;
        assign.label.as_ref()?;
        if nest.loops.len() < 3 {
            return None;
        }
        let subscripts =
            assign.target.indices.iter().map(loops::poly::linear::<i128>).collect::<Option<Vec<_>>>()?;
        let occurs = |l: &&Loop| subscripts.iter().any(|row| row.coefficient(&l.var) != 0);
        let (output, contracted): (Vec<&Loop>, Vec<&Loop>) =
            nest.loops.iter().copied().partition(|l| occurs(l));
        let (last, before) = subscripts.split_last()?;
        let along = |l: &&&Loop| {
            last.coefficient(&l.var) == 1 && before.iter().all(|row| row.coefficient(&l.var) == 0)
        };
        let j = *output.iter().find(along)?;
        let i = *output.iter().rev().find(|l| l.var != j.var && separable(&assign.value, &l.var, &j.var))?;
        let (k, taps) = steps_and_taps(&contracted)?;
        let is_tap = |l: &&Loop| taps.iter().any(|(name, _, _)| *name == l.var);
        if work([i, j, k]).is_some_and(|all| all <= TINY) {
            return None;
        }
        let mut types = types.clone();
        let mut rows = Vec::new();
        for l in &nest.loops {
            types.declare_var(&l.var);
            if !is_tap(l) {
                let var = Expr::Var(l.var.clone());
                at_least(&var, &l.lower, 0, &mut rows)?;
                at_least(&l.upper, &var, 1, &mut rows)?;
            }
        }
        let inside = [&i.var, &j.var, &k.var];
        let outer: Vec<&Loop> =
            nest.loops.iter().copied().filter(|l| !inside.contains(&&l.var) && !is_tap(l)).collect();
        let spread = match split {
            Split::Rows => {
                let many = |l: &&&Loop| occurs(l) && extent(l).is_none_or(|n| n >= FEW);
                outer.iter().rev().find(many).map(|l| l.var.clone())
            }
            Split::Columns => None,
        };
        let scalar = types.access(&assign.target).ok()?.as_scalar()?;
        let bytes = i64::try_from(scalar.bytes()).ok()?;
        let lanes = stager.shape.vector_bytes / bytes;
        let domain = System::new(rows);
        // Masks along the vector loop are for what is stored, not for the range of the contraction.
        if lanes < 1 || domain.rows.iter().any(|r| r.coefficient(&k.var) != 0 && r.coefficient(&j.var) != 0) {
            return None;
        }
        if domain.rows.iter().any(|r| r.coefficient(&k.var).abs() > 1)
            || domain.rows.iter().any(|r| taps.iter().any(|(tap, _, _)| r.coefficient(tap) != 0))
        {
            return None;
        }
        let each: i64 = taps.iter().map(|(_, _, extent)| extent).product();
        let shared = split == Split::Rows && spread.is_none();
        let strips = if shared { stager.shape.strips } else { stager.shape.own_strips };
        let shape = Shape { strips, depth: (stager.shape.depth / each).max(2), ..stager.shape };
        let shape = shape.for_nest([i, j, k].map(extent), lanes, !taps.is_empty());
        let mut plan = Plan {
            shape,
            split,
            by_strips: shared && is_wide(i, j, &shape, lanes),
            assign,
            outer,
            spread,
            i: i.var.clone(),
            j: j.var.clone(),
            k: k.var.clone(),
            taps,
            domain,
            operands: Vec::new(),
            kernel: Expr::Int(0),
            scalar,
            lanes,
        };
        plan.kernel = plan.operands_of(&assign.value, &types, stager)?;
        let (columns, rows): (Vec<_>, Vec<_>) = plan.operands.iter().partition(|o| o.column);
        (!columns.is_empty() && !rows.is_empty()).then_some(plan)
    }

    /// The condition on loops around the nest under which it has iterations at all, since operands
    /// are packed before it is known that there are rows and columns; none if there is no such
    /// condition, or it is one on sizes alone, which the outermost loops ask.
    fn condition(&self, sizes: &BTreeSet<String>) -> Option<Option<Expr>> {
        let inside = self.outer.iter().map(|l| &l.var).chain([&self.i, &self.j, &self.k]);
        let left = self.domain.eliminate_all(inside).ok()?.system;
        let of_loops = |row: &&Linear<Name>| row.variables().any(|name| !sizes.contains(name.as_str()));
        let conditions: Option<Vec<Expr>> =
            left.rows.iter().filter(of_loops).map(bound_rows::holds).collect();
        Some(bound_rows::all(conditions?))
    }

    fn depends(&self, expr: &Expr) -> Depends {
        let vars = expr.vars();
        Depends { i: vars.contains(&self.i), j: vars.contains(&self.j) }
    }

    /// Replaces the largest parts that depend on one of `i` and `j` by scalar variables, and notes
    /// them as operands.
    fn operands_of(&mut self, expr: &Expr, types: &Types, stager: &mut Stager) -> Option<Expr> {
        match self.depends(expr) {
            Depends { i: false, j: false } => Some(expr.clone()),
            Depends { i: true, j: true } => {
                if matches!(expr, Expr::Load(_) | Expr::Var(_)) {
                    return None;
                }
                let mut fits = true;
                let result = expr.map_children(&mut |child| match self.operands_of(child, types, stager) {
                    Some(new) => new,
                    None => {
                        fits = false;
                        child.clone()
                    }
                });
                fits.then_some(result)
            }
            Depends { j: column, .. } => {
                if let Some(known) = self.operands.iter().find(|o| o.value == *expr) {
                    return Some(Expr::scalar(known.local.clone()));
                }
                let scalar = types.type_of(expr).ok()?;
                let base = match expr.arrays().into_iter().next_back() {
                    Some(array) => format!("{array}_{}", if column { "columns" } else { "rows" }),
                    None => (if column { "columns" } else { "rows" }).to_string(),
                };
                let local = stager.name(base);
                self.operands.push(Operand { local: local.clone(), value: expr.clone(), scalar, column });
                Some(Expr::scalar(local))
            }
        }
    }
}
