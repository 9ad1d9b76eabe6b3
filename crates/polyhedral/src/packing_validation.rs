//! The checker of staging: undoes local copies, and verifies on the way that they were copies.
//!
//! A staged function ([`crate::transform::contraction`]) reads packed copies and holds elements in
//! registers. Its claims say what each local array stands for. Here every claim is verified on the
//! text of the function, and each local array is replaced by what it stands for:
//!
//! - a packed array is only written by copies of what it claims to hold, or by zeros where it is
//!   not filled; each element that a statement inside the domain uses was filled before, in the
//!   same scope; nobody changes the source between the copy and the use;
//! - a held element is loaded before, stored after, under the same condition, and lanes outside
//!   that condition are never stored: the condition becomes a condition of the statement.
//!
//! The result has no staging, and the ordinary checker does the rest. Implications between bounds
//! are decided by Fourier-Motzkin elimination over the rationals, so a true claim may be refused,
//! never a false one accepted. Left out: staging of other shapes, which is refused.

mod implication;

use std::collections::{BTreeMap, BTreeSet};

use isl::Dim;
use loops::poly::{Poly, linear};
use loops::visit::nodes;
use loops::{Access, Assign, Code, Diagnostic, Expr, Function, Loop, LoopKind, Name, Stmt};

use crate::codegen::Generated;
use crate::dependence::before;
use crate::fault::{self, Result};
use crate::model::Model;
use crate::transform::contraction::{Claim, Role, Staged};
use implication::{condition_of, covered};

fn refused(message: impl Into<String>) -> Diagnostic {
    Diagnostic::general(Code("P0406"), message)
}

/// The function without its staging, if every claim holds.
///
/// # Errors
/// `P0406` with the claim that could not be verified.
pub fn unstage(staged: &Staged) -> Result<Generated> {
    let claims: BTreeMap<Name, &Claim> = staged.claims.iter().map(|c| (c.local.clone(), c)).collect();
    if claims.len() != staged.claims.len() {
        return Err(refused("two claims about one local array"));
    }
    let mut walker = Walker { claims, path: Vec::new(), scopes: BTreeMap::new(), sources: Vec::new() };
    let body = walker.block(&staged.function.body)?;
    let sources = std::mem::take(&mut walker.sources);
    let function = Function { body, ..staged.function.clone() };
    let generated = Generated { function, instances: staged.instances.clone() };
    for source in sources {
        source.unchanged(&generated.function)?;
    }
    Ok(generated)
}

/// A loop or a condition on the way to a statement.
#[derive(Clone, PartialEq)]
enum Step {
    Loop { var: Name, lower: Expr, upper: Expr, kind: LoopKind },
    Holds(Expr),
    Fails,
}

/// What is known of a claimed array in its scope.
struct Scope {
    /// Length of the path where it was declared.
    depth: usize,
    /// Number of loops there.
    loops: usize,
    /// Conditions under which it is filled (packed), one a copying statement, as rows over the path
    /// and the subscripts' variables.
    fills: Vec<Site>,
    /// Where it is loaded and stored (held).
    loads: Vec<Site>,
    stores: Vec<Site>,
}

/// A place where a claimed array is touched: the path below its declaration, and the subscripts.
#[derive(Clone, PartialEq)]
struct Site {
    path: Vec<Step>,
    indices: Vec<Expr>,
}

/// A packed source that is also written: to be shown unchanged between copy and use.
struct Source {
    array: Name,
    loops: usize,
    labels: BTreeSet<Name>,
}

struct Walker<'a> {
    claims: BTreeMap<Name, &'a Claim>,
    path: Vec<Step>,
    scopes: BTreeMap<Name, Scope>,
    sources: Vec<Source>,
}

impl Walker<'_> {
    fn block(&mut self, body: &[Stmt]) -> Result<Vec<Stmt>> {
        let mut result = Vec::new();
        let mut declared = Vec::new();
        let mut held: Vec<(Name, usize)> = Vec::new();
        for stmt in body {
            match stmt {
                Stmt::Local(local) if self.claims.contains_key(&local.name) => {
                    let loops = self.path.iter().filter(|s| matches!(s, Step::Loop { .. })).count();
                    let scope =
                        Scope { depth: self.path.len(), loops, fills: vec![], loads: vec![], stores: vec![] };
                    if self.scopes.insert(local.name.clone(), scope).is_some() {
                        return Err(refused(format!("`{}` is declared twice", local.name)));
                    }
                    if matches!(self.claims[&local.name].role, Role::Held(_)) {
                        held.push((local.name.clone(), result.len()));
                    }
                    declared.push(local.name.clone());
                }
                _ => result.extend(self.stmt(stmt)?),
            }
        }
        // Only now it is known under which condition the lanes are stored.
        for (name, start) in held {
            let condition = self.stored(&name)?;
            let rest = result.split_off(start);
            result.extend(rest.into_iter().map(|stmt| guard(stmt, &name, &condition)));
            let inside =
                result[start..].iter().map(|stmt| self.release(stmt, &name)).collect::<Result<Vec<_>>>()?;
            result.truncate(start);
            result.extend(inside);
        }
        for name in declared {
            self.packed_sources(&name, body)?;
            self.scopes.remove(&name);
        }
        Ok(result)
    }

    fn stmt(&mut self, stmt: &Stmt) -> Result<Vec<Stmt>> {
        Ok(match stmt {
            Stmt::Loop(l) => {
                self.untouched(&l.lower)?;
                self.untouched(&l.upper)?;
                self.path.push(Step::Loop {
                    var: l.var.clone(),
                    lower: l.lower.clone(),
                    upper: l.upper.clone(),
                    kind: l.kind,
                });
                let body = self.block(&l.body)?;
                self.path.pop();
                if body.is_empty() { Vec::new() } else { vec![Stmt::Loop(Loop { body, ..l.clone() })] }
            }
            Stmt::If { cond, then, otherwise } => {
                self.untouched(cond)?;
                self.path.push(Step::Holds(cond.clone()));
                let then = self.block(then)?;
                self.path.pop();
                self.path.push(Step::Fails);
                let otherwise = self.block(otherwise)?;
                self.path.pop();
                match (then.is_empty(), otherwise.is_empty()) {
                    (true, true) => Vec::new(),
                    _ => vec![Stmt::If { cond: cond.clone(), then, otherwise }],
                }
            }
            Stmt::Block { mark, body } => vec![Stmt::Block { mark: mark.clone(), body: self.block(body)? }],
            Stmt::Assign(assign) => self.assign(assign)?.into_iter().collect(),
            Stmt::Local(_) | Stmt::Copy(_) | Stmt::Wait(_) => vec![stmt.clone()],
        })
    }

    fn untouched(&self, expr: &Expr) -> Result<()> {
        match expr.arrays().into_iter().find(|a| self.claims.contains_key(a)) {
            None => Ok(()),
            Some(array) => Err(refused(format!("`{array}` is used in a bound or condition"))),
        }
    }

    fn site(&self, name: &Name, indices: &[Expr]) -> Result<Site> {
        let scope =
            self.scopes.get(name).ok_or_else(|| refused(format!("`{name}` is used outside of its scope")))?;
        Ok(Site { path: self.path[scope.depth..].to_vec(), indices: indices.to_vec() })
    }

    fn assign(&mut self, assign: &Assign) -> Result<Option<Stmt>> {
        let target = &assign.target;
        match self.claims.get(&target.array).map(|c| (*c).clone()) {
            Some(claim) => match &claim.role {
                Role::Packed(value) => {
                    self.fill(&claim, value, assign)?;
                    Ok(None)
                }
                Role::Held(element) => self.on_held(&claim, element, assign),
            },
            None => {
                // The store of a held element, or a statement that has nothing to do with staging.
                if let Expr::Load(source) = &assign.value
                    && let Some(claim) = self.claims.get(&source.array).map(|c| (*c).clone())
                    && let Role::Held(element) = &claim.role
                    && assign.update.is_none()
                {
                    let expected = of_claim(&claim, element, &source.indices)?;
                    if !same_access(&expected, target) {
                        return Err(refused(format!(
                            "`{}` is stored to `{target}`, but it holds `{expected}`",
                            claim.local
                        )));
                    }
                    let site = self.site(&claim.local, &source.indices)?;
                    self.scope(&claim.local)?.stores.push(site);
                    return Ok(None);
                }
                let value = self.value(&assign.value)?;
                Ok(Some(Stmt::Assign(Assign { value, ..assign.clone() })))
            }
        }
    }

    fn scope(&mut self, name: &Name) -> Result<&mut Scope> {
        self.scopes.get_mut(name).ok_or_else(|| refused(format!("`{name}` is used outside of its scope")))
    }

    /// A copy into a packed array, or a zero where it is not filled.
    fn fill(&mut self, claim: &Claim, value: &Expr, assign: &Assign) -> Result<()> {
        let wrong = |what: &str| refused(format!("`{}` is written by something that {what}", claim.local));
        if assign.update.is_some() || assign.label.is_some() {
            return Err(wrong("is not a copy"));
        }
        if is_zero(&assign.value) {
            // Only where the copy beside it is not made.
            return match self.path.last() {
                Some(Step::Fails) => Ok(()),
                _ => Err(wrong("clears it without a test")),
            };
        }
        let put = formal_values(claim, &assign.target.indices)?;
        let expected = value.substitute(&|name| put.get(name).cloned());
        if !same_value(&expected, &assign.value) {
            return Err(wrong("is not what it claims to hold")
                .note(format!("copied: {}", assign.value))
                .note(format!("claimed: {expected}")));
        }
        let site = self.site(&claim.local, &assign.target.indices)?;
        parallel_writes_apart(claim, &site)?;
        self.scope(&claim.local)?.fills.push(site);
        Ok(())
    }

    /// A load into a held array, or a statement that works on it.
    fn on_held(&mut self, claim: &Claim, element: &Access, assign: &Assign) -> Result<Option<Stmt>> {
        let indices = &assign.target.indices;
        if assign.label.is_none() && assign.update.is_none() {
            if is_zero(&assign.value) {
                return match self.path.iter().rev().find(|s| matches!(s, Step::Holds(_) | Step::Fails)) {
                    Some(Step::Fails) => Ok(None),
                    _ => Err(refused(format!("`{}` is cleared without a test", claim.local))),
                };
            }
            let expected = of_claim(claim, element, indices)?;
            return match &assign.value {
                Expr::Load(source) if same_access(&expected, source) => {
                    let site = self.site(&claim.local, indices)?;
                    self.scope(&claim.local)?.loads.push(site);
                    Ok(None)
                }
                other => Err(refused(format!(
                    "`{}` is loaded from `{other}`, but it holds `{expected}`",
                    claim.local
                ))),
            };
        }
        if assign.update.is_none() {
            return Err(refused(format!("`{}` is overwritten", claim.local)));
        }
        let site = self.site(&claim.local, indices)?;
        let scope = self.scope(&claim.local)?;
        if scope.loads.is_empty() || !scope.stores.is_empty() {
            return Err(refused(format!("`{}` is updated before its load or after its store", claim.local)));
        }
        // Which lanes are meant is said by the subscripts: loop variables, the same in load, update
        // and store.
        let lanes = lanes_of(&site)?;
        for load in &scope.loads {
            if lanes_of(load)? != lanes {
                return Err(refused(format!(
                    "`{}` is updated in other lanes than it was loaded in",
                    claim.local
                )));
            }
        }
        let value = self.value(&assign.value)?;
        Ok(Some(Stmt::Assign(Assign { value, ..assign.clone() })))
    }

    /// A value with packed elements replaced by what they stand for; each use is kept for the test
    /// that it was filled.
    fn value(&mut self, value: &Expr) -> Result<Expr> {
        let mut failure = None;
        let result =
            value.map_loads(&mut |access| match self.claims.get(&access.array).map(|c| (*c).clone()) {
                None => Expr::Load(access),
                Some(claim) => match self.packed(&claim, &access) {
                    Ok(value) => value,
                    Err(error) => {
                        failure.get_or_insert(error);
                        Expr::Load(access)
                    }
                },
            });
        failure.map_or(Ok(result), Err)
    }

    fn packed(&mut self, claim: &Claim, access: &Access) -> Result<Expr> {
        let Role::Packed(value) = &claim.role else {
            return Err(refused(format!("`{}` is read while it is held", claim.local)));
        };
        let scope = self
            .scopes
            .get(&claim.local)
            .ok_or_else(|| refused(format!("`{}` is used outside of its scope", claim.local)))?;
        if scope.fills.is_empty() {
            return Err(refused(format!("`{}` is used before it is filled", claim.local)));
        }
        // The use must be filled under what holds here; lanes that are never stored are excepted,
        // and their condition is not known yet, so the rows of the domain that the loops around say
        // must do: they are taken with the condition at the end.
        let use_site = Site { path: self.path[scope.depth..].to_vec(), indices: access.indices.clone() };
        let outside: Vec<Step> = self.path[..scope.depth].to_vec();
        let held: Vec<Name> =
            self.scopes.keys().filter(|n| matches!(self.claims[*n].role, Role::Held(_))).cloned().collect();
        let mut conditions = Vec::new();
        for name in held {
            // The condition of the lanes: that under which they were loaded, which must be that of
            // the store.
            if let Some(condition) = condition_of(&self.scopes[&name].loads) {
                conditions.push(condition);
            }
        }
        covered(claim, &self.scopes[&claim.local].fills, &use_site, &outside, &conditions)?;
        let put = formal_values(claim, &access.indices)?;
        Ok(value.substitute(&|name| put.get(name).cloned()))
    }

    /// The condition under which lanes are loaded and stored, the same for both.
    fn stored(&self, name: &Name) -> Result<Option<Expr>> {
        let scope = &self.scopes[name];
        if scope.stores.is_empty() {
            return Err(refused(format!("`{name}` is never stored")));
        }
        let same = scope.loads.len() == scope.stores.len()
            && scope.loads.iter().zip(&scope.stores).all(|(a, b)| a == b);
        if !same {
            return Err(refused(format!("`{name}` is stored under other conditions than it is loaded")));
        }
        Ok(condition_of(&scope.stores))
    }

    /// Statements on a held array become statements on what it holds.
    fn release(&self, stmt: &Stmt, name: &Name) -> Result<Stmt> {
        let claim = self.claims[name];
        let Role::Held(element) = &claim.role else { return Err(refused("not held")) };
        let mut failure = None;
        let result = release(stmt, claim, element, &mut failure);
        failure.map_or(Ok(result), Err)
    }

    /// Arrays that a packed array copies and that statements in its scope write.
    fn packed_sources(&mut self, name: &Name, body: &[Stmt]) -> Result<()> {
        let claim = self.claims[name];
        let Role::Packed(value) = &claim.role else { return Ok(()) };
        let mut written: BTreeSet<Name> = BTreeSet::new();
        let mut labels = BTreeSet::new();
        let claims = &self.claims;
        for s in nodes(body) {
            if let Stmt::Assign(assign) = s {
                match claims.get(&assign.target.array).map(|c| &c.role) {
                    Some(Role::Held(element)) => written.insert(element.array.clone()),
                    Some(Role::Packed(_)) => false,
                    None => written.insert(assign.target.array.clone()),
                };
                labels.extend(assign.label.clone());
            }
            if let Stmt::Copy(copy) = s {
                written.insert(copy.to.array.clone());
            }
        }
        for array in value.arrays().intersection(&written) {
            self.sources.push(Source {
                array: array.clone(),
                loops: self.scopes[name].loops,
                labels: labels.clone(),
            });
        }
        Ok(())
    }
}

impl Source {
    /// No statement in the scope writes an element that a later one in the same scope reads as a
    /// packed value.
    fn unchanged(&self, function: &Function) -> Result<()> {
        let model = Model::extract(function)?;
        let inside: Vec<_> = model.statements.iter().filter(|s| self.labels.contains(&s.label)).collect();
        for writer in &inside {
            for write in writer.accesses.iter().filter(|t| t.write && t.array == self.array) {
                for reader in &inside {
                    for read in reader.accesses.iter().filter(|t| !t.write && t.array == self.array) {
                        let changed = || -> isl::Result<bool> {
                            // The read of an update is of the held element, which is never packed.
                            let own = reader.accesses.iter().any(|t| {
                                t.write
                                    && t.array == self.array
                                    && t.relation.is_equal(&read.relation).unwrap_or(false)
                            });
                            if own {
                                return Ok(false);
                            }
                            let mut pairs = write.relation.apply_range(&read.relation.reverse()?)?;
                            pairs = pairs.intersect(&before(writer, reader)?)?;
                            for level in 0..self.loops {
                                pairs = pairs.equate((Dim::In, level), (Dim::Out, level))?;
                            }
                            Ok(!pairs.intersect_params(&model.context)?.is_empty()?)
                        };
                        if changed().map_err(fault::library)? {
                            return Err(refused(format!(
                                "`{}` is packed, and `{}` changes it before `{}` uses it",
                                self.array, writer.label, reader.label
                            )));
                        }
                    }
                }
            }
        }
        Ok(())
    }
}

/// Puts the statements on a held array under a condition.
fn guard(stmt: Stmt, name: &Name, condition: &Option<Expr>) -> Stmt {
    let Some(cond) = condition else { return stmt };
    match stmt {
        Stmt::Assign(assign) if assign.target.array == *name => {
            Stmt::when(cond.clone(), vec![Stmt::Assign(assign)])
        }
        Stmt::Loop(l) => {
            Stmt::Loop(Loop { body: l.body.into_iter().map(|s| guard(s, name, condition)).collect(), ..l })
        }
        Stmt::If { cond: own, then, otherwise } => Stmt::If {
            cond: own,
            then: then.into_iter().map(|s| guard(s, name, condition)).collect(),
            otherwise: otherwise.into_iter().map(|s| guard(s, name, condition)).collect(),
        },
        Stmt::Block { mark, body } => {
            Stmt::Block { mark, body: body.into_iter().map(|s| guard(s, name, condition)).collect() }
        }
        other => other,
    }
}

fn release(stmt: &Stmt, claim: &Claim, element: &Access, failure: &mut Option<Diagnostic>) -> Stmt {
    if let Stmt::Assign(assign) = stmt
        && assign.target.array == claim.local
    {
        return match of_claim(claim, element, &assign.target.indices) {
            Ok(target) => Stmt::Assign(Assign { target, ..assign.clone() }),
            Err(error) => {
                failure.get_or_insert(error);
                stmt.clone()
            }
        };
    }
    stmt.map(&mut Expr::clone, &mut |body| body.iter().map(|s| release(s, claim, element, failure)).collect())
}

fn formal_values(claim: &Claim, indices: &[Expr]) -> Result<BTreeMap<Name, Expr>> {
    if indices.len() != claim.formals.len() {
        return Err(refused(format!("`{}` has another number of subscripts than its claim", claim.local)));
    }
    Ok(claim.formals.iter().cloned().zip(indices.iter().cloned()).collect())
}

fn of_claim(claim: &Claim, element: &Access, indices: &[Expr]) -> Result<Access> {
    let put = formal_values(claim, indices)?;
    Ok(element.map_indices(&mut |e| e.substitute(&|name| put.get(name).cloned())))
}

fn is_zero(expr: &Expr) -> bool {
    match expr {
        Expr::Int(0) | Expr::I32(0) => true,
        Expr::F32(bits) => bits.value().to_bits() == 0,
        Expr::F64(bits) => bits.value().to_bits() == 0,
        _ => false,
    }
}

fn same_index(a: &Expr, b: &Expr) -> bool {
    let difference = Poly::of(a).zip(Poly::of(b)).and_then(|(a, b)| a.sub(&b));
    difference.and_then(|d| d.as_constant()) == Some(0)
}

fn same_access(a: &Access, b: &Access) -> bool {
    a.array == b.array
        && a.path == b.path
        && a.indices.len() == b.indices.len()
        && a.indices.iter().zip(&b.indices).all(|(x, y)| same_index(x, y))
}

/// The same operation on the same elements.
fn same_value(a: &Expr, b: &Expr) -> bool {
    if let (Expr::Load(x), Expr::Load(y)) = (a, b) {
        return same_access(x, y);
    }
    if linear::<i128>(a).is_some() && linear::<i128>(b).is_some() {
        return same_index(a, b);
    }
    let head = |e: &Expr| e.map_children(&mut |_| Expr::Int(0));
    let (left, right): (Vec<_>, Vec<_>) = (a.children().collect(), b.children().collect());
    left.len() == right.len() && left.iter().zip(&right).all(|(x, y)| same_value(x, y)) && head(a) == head(b)
}

/// Iterations of the parallel loops of a fill write different elements: the variable is a subscript
/// of its own, up to what is fixed outside.
fn parallel_writes_apart(claim: &Claim, site: &Site) -> Result<()> {
    let mut inner: BTreeSet<&Name> = site
        .path
        .iter()
        .filter_map(|s| match s {
            Step::Loop { var, .. } => Some(var),
            _ => None,
        })
        .collect();
    for step in &site.path {
        if let Step::Loop { var, kind, .. } = step {
            inner.remove(var);
            if matches!(kind, LoopKind::Parallel | LoopKind::Vector) {
                let own = |e: &Expr| {
                    linear::<i128>(e).is_some_and(|row| {
                        row.coefficient(var).abs() == 1
                            && inner.iter().all(|other| row.coefficient(*other) == 0)
                    })
                };
                if !site.indices.iter().any(own) {
                    return Err(refused(format!(
                        "iterations of `{var}` may fill the same elements of `{}`",
                        claim.local
                    )));
                }
            }
        }
    }
    Ok(())
}

/// A subscript of a held array, and the bounds of its loop; a number is from itself to itself.
#[derive(PartialEq)]
struct Lane {
    var: Option<Name>,
    lower: Expr,
    upper: Expr,
}

/// The lanes of a held array: its subscripts as variables, with the bounds of their loops, or as
/// numbers.
fn lanes_of(site: &Site) -> Result<Vec<Lane>> {
    let mut lanes = Vec::new();
    for index in &site.indices {
        let var = match index {
            Expr::Var(var) => var,
            Expr::Int(_) => {
                lanes.push(Lane { var: None, lower: index.clone(), upper: index.clone() });
                continue;
            }
            _ => return Err(refused("a held array is subscripted by more than a variable")),
        };
        let found = site.path.iter().find_map(|s| match s {
            Step::Loop { var: v, lower, upper, .. } if v == var => {
                Some(Lane { var: Some(v.clone()), lower: lower.clone(), upper: upper.clone() })
            }
            _ => None,
        });
        let lane = found
            .ok_or_else(|| refused(format!("`{var}` is not a loop inside the scope of the held array")))?;
        let constant = |e: &Expr| matches!(e, Expr::Int(_));
        if !constant(&lane.lower) || !constant(&lane.upper) || lanes.contains(&lane) {
            return Err(refused(format!("the lanes of `{var}` are not constant")));
        }
        lanes.push(lane);
    }
    Ok(lanes)
}
