//! The statement model of a function: which instances each statement has, what they read and write,
//! and in which order they run.
//!
//! Extraction is exact or says where it is not; a subscript that is neither affine nor data gets a
//! diagnostic with the construct and the reason. A condition that is not affine stays with the
//! statements inside as a guard: their instances are those that may run, and what they touch is
//! what they may touch. A read whose subscript is data may touch every element along that
//! dimension. A loop whose bounds are data is one statement with all that is in it (`nest`). Left
//! out: copies and waits (they belong to a mapped program, not to one that is to be scheduled).

mod elements;
pub(crate) mod nest;

use std::collections::{BTreeMap, BTreeSet};

use isl::{Ctx, Dim, Map, Set, Space, UnionMap, UnionSet};
use loops::visit::{assigns, nodes};
use loops::{
    Access, ArrayDecl, Assign, Component, Diagnostic, Elem, Expr, Function, Loop, LoopKind, Name, ReduceOp,
    Stmt,
};

use self::elements::{inside, relation};
use crate::affine::Frame;
use crate::fault::{self, Result};
use crate::memo::Memos;
use crate::names::{fresh, readable};

/// A function as sets and relations.
pub struct Model {
    /// The function, with a label on every statement.
    pub function: Function,
    /// What may be assumed of the sizes.
    pub context: Set,
    /// The statements, in the order of the text.
    pub statements: Vec<Statement>,
    /// Local arrays, in the order of the text; their scopes are widened to the function.
    pub locals: Vec<ArrayDecl>,
    /// For each local array the loops around its declaration, outermost first: it has new contents
    /// in each of their iterations.
    pub scopes: BTreeMap<Name, Vec<usize>>,
    pub(crate) ctx: Ctx,
    /// What was asked about it.
    pub(crate) memos: Memos,
    /// Why the model is not exact, if it is not.
    pub(crate) inexact: Option<Diagnostic>,
}

/// A statement: its instances and accesses.
#[derive(Clone)]
pub struct Statement {
    /// Its label.
    pub label: Name,
    /// The name of its tuple in sets: the label, in a form that the set library can read.
    pub tuple: String,
    /// The loops around it, outermost first.
    pub loops: Vec<Around>,
    /// Its place in the text, between the loops: as many numbers as loops, and one.
    pub position: Vec<usize>,
    /// Conditions on data under which it runs, outermost first: it may run, and reads what they
    /// read.
    pub guards: Vec<Expr>,
    /// The assignment itself; of a nest its first one.
    pub assign: Assign,
    /// The loop that this is instead, with bounds that are data: all of its iterations are one
    /// instance.
    pub nest: Option<Loop>,
    /// Its instances.
    pub domain: Set,
    /// What it reads and writes.
    pub accesses: Vec<Touch>,
}

/// A loop around a statement.
#[derive(Clone, Debug)]
pub struct Around {
    /// Which loop of the function it is, by the order of the text.
    pub number: usize,
    /// Its variable.
    pub var: Name,
    /// How its iterations may run.
    pub kind: LoopKind,
    /// What it privatises.
    pub reductions: Vec<(ReduceOp, Name)>,
    /// Its first value.
    pub lower: Expr,
    /// The value before which it ends.
    pub upper: Expr,
    /// The difference of its values.
    pub step: i64,
}

/// An access as a relation from instances to elements.
#[derive(Clone)]
pub struct Touch {
    /// The array.
    pub array: Name,
    /// The component of a pair.
    pub path: Vec<Component>,
    /// Whether it writes; else it reads.
    pub write: bool,
    /// The operation, if this is the read or the write of an update whose instances may be
    /// reordered.
    pub reduction: Option<ReduceOp>,
    /// From the statement's tuple to the array's.
    pub relation: Map,
    /// Whether the subscripts say which element it is; else it may be any of those.
    pub exact: bool,
}

impl Statement {
    /// Whether every instance surely writes what the model says.
    pub fn certain(&self) -> bool {
        self.guards.is_empty()
            && self.nest.is_none()
            && self.accesses.iter().all(|touch| touch.exact || !touch.write)
    }

    /// Whether its accesses are exactly those of the model, where it runs.
    pub fn exact(&self) -> bool {
        self.nest.is_none() && self.accesses.iter().all(|touch| touch.exact)
    }

    /// The names of the loop variables, outermost first.
    pub fn iterators(&self) -> Vec<Name> {
        self.loops.iter().map(|around| around.var.clone()).collect()
    }
}

impl Model {
    /// The model of a function, in a context of its own.
    ///
    /// # Errors
    /// `P0101`, `P0102`, `P0103`, and those of the set library.
    pub fn extract(function: &Function) -> Result<Model> {
        Model::extract_in(&Ctx::new(), function)
    }

    /// The model of a function in a given context.
    ///
    /// # Errors
    /// As [`Model::extract`].
    pub(crate) fn extract_in(ctx: &Ctx, function: &Function) -> Result<Model> {
        Model::extract_with(ctx, function, false)
    }

    /// As [`Model::extract_in`], where an update of an element that data tells is one of all
    /// elements that it may be: it reads them and writes them, all but one as they were. So what is
    /// said of it is exact, and loops that only do such updates of one element carry something.
    ///
    /// # Errors
    /// As [`Model::extract`].
    pub(crate) fn with_whole_updates(ctx: &Ctx, function: &Function) -> Result<Model> {
        Model::extract_with(ctx, function, true)
    }

    fn extract_with(ctx: &Ctx, function: &Function, whole_updates: bool) -> Result<Model> {
        let function = label_all(function)?;
        let names: Vec<String> = function.sizes.iter().map(|name| readable(name)).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let build = || -> isl::Result<(Frame, Set)> {
            let params = Space::parameters(ctx, &names)?;
            Ok((Frame::new(&params, &function.sizes)?, Set::universe(&params.set_from_params()?)?))
        };
        let (frame, mut context) = build().map_err(fault::library)?;
        for assumption in &function.assumptions {
            // An assumption that is not affine says something that the model need not know.
            if let Ok(set) = frame.condition("the assumption", assumption) {
                context = context.intersect(&set).map_err(fault::library)?;
            }
        }
        let domain = context.clone();
        context = context.params().map_err(fault::library)?;
        let mut extraction = Extraction {
            statements: Vec::new(),
            locals: Vec::new(),
            scopes: BTreeMap::new(),
            loops: 0,
            scope: BTreeSet::new(),
            inexact: None,
            extents: function.params.iter().map(|p| (p.name.clone(), p.dims.clone())).collect(),
            whole_updates,
        };
        extraction.scope.extend(function.params.iter().map(|p| p.name.clone()));
        extraction.block(
            &function.body,
            &Place { frame, domain, loops: vec![], position: vec![], guards: vec![] },
            &mut 0,
        )?;
        let Extraction { statements, locals, scopes, inexact, .. } = extraction;
        let (ctx, memos) = (ctx.clone(), Memos::default());
        Ok(Model { function, context, statements, locals, scopes, ctx, memos, inexact })
    }

    /// The model, if what its statements touch depends on no data.
    ///
    /// # Errors
    /// `P0101` if it does.
    pub fn exact(self) -> Result<Model> {
        match self.inexact {
            Some(refused) => Err(refused),
            None => Ok(self),
        }
    }

    /// The context in which the model's sets live.
    pub fn ctx(&self) -> &Ctx {
        &self.ctx
    }

    /// All instances.
    ///
    /// # Errors
    /// Those of the set library.
    pub fn domain(&self) -> Result<UnionSet> {
        UnionSet::of(&self.ctx, self.statements.iter().map(|s| &s.domain)).map_err(fault::library)
    }

    /// Whether the elements of an array are integers, whose sums are exact in any order.
    pub(crate) fn is_integer(&self, array: &Name) -> bool {
        let params = self.function.params.iter().map(|param| (&param.name, &param.elem));
        let mut all = params.chain(self.locals.iter().map(|decl| (&decl.name, &decl.elem)));
        all.any(|(name, elem)| name == array && matches!(elem, Elem::Scalar(scalar) if scalar.is_int()))
    }

    /// The statement with this tuple.
    pub(crate) fn by_tuple(&self, tuple: &str) -> Option<&Statement> {
        self.statements.iter().find(|s| s.tuple == tuple)
    }

    /// Accesses as one relation: the writes, or the reads.
    ///
    /// # Errors
    /// Those of the set library.
    pub fn touches(&self, write: bool) -> Result<UnionMap> {
        let touches = self.statements.iter().flat_map(|s| &s.accesses).filter(|t| t.write == write);
        UnionMap::of(&self.ctx, touches.map(|t| &t.relation)).map_err(fault::library)
    }

    /// The order of the text: each instance to its time, all times of one length.
    ///
    /// # Errors
    /// Those of the set library.
    pub fn order(&self) -> Result<UnionMap> {
        let length = self.statements.iter().map(|s| 2 * s.loops.len() + 1).max().unwrap_or(0);
        let maps = self
            .statements
            .iter()
            .map(|s| s.time(length).and_then(|time| time.intersect_domain(&s.domain)))
            .collect::<isl::Result<Vec<_>>>();
        UnionMap::of(&self.ctx, &maps.map_err(fault::library)?).map_err(fault::library)
    }
}

impl Statement {
    /// The time of each instance: place, iterator, place, iterator, ..., zeros up to `length`.
    pub(crate) fn time(&self, length: usize) -> isl::Result<Map> {
        let space = self.domain.space()?;
        let n = self.loops.len();
        let mut map =
            Map::universe(&space.map_to(&space.params()?.set_from_params()?.add_dims(Dim::SET, length)?)?)?;
        for k in 0..length {
            map = match k / 2 {
                d if k % 2 == 0 && d <= n => map.fix(Dim::Out, k, self.position[d] as i64)?,
                d if k % 2 == 1 && d < n => map.equate((Dim::In, d), (Dim::Out, k))?,
                _ => map.fix(Dim::Out, k, 0)?,
            };
        }
        Ok(map)
    }
}

/// Labels for the statements that have none: `S0`, `S1`, ... by the order of the text, without
/// those that are taken.
pub(crate) fn label_all(function: &Function) -> Result<Function> {
    let mut taken = BTreeSet::new();
    let mut double = None;
    for stmt in nodes(&function.body) {
        if let Stmt::Assign(Assign { label: Some(label), .. }) = stmt
            && !taken.insert(label.clone())
        {
            double.get_or_insert(label.clone());
        }
    }
    if let Some(label) = double {
        return Err(fault::duplicate_label(&label));
    }
    fn label(body: &[Stmt], taken: &mut BTreeSet<Name>, next: &mut usize) -> Vec<Stmt> {
        let mut result = Vec::with_capacity(body.len());
        for stmt in body {
            let mut stmt = stmt.map(&mut Expr::clone, &mut |inner| label(inner, taken, next));
            if let Stmt::Assign(assign) = &mut stmt
                && assign.label.is_none()
            {
                assign.label = Some(loop {
                    let name = Name::new(format!("S{next}"));
                    *next += 1;
                    if taken.insert(name.clone()) {
                        break name;
                    }
                });
            }
            result.push(stmt);
        }
        result
    }
    let mut function = function.clone();
    function.body = label(&function.body, &mut taken, &mut 0);
    Ok(function)
}

struct Extraction {
    statements: Vec<Statement>,
    locals: Vec<ArrayDecl>,
    scopes: BTreeMap<Name, Vec<usize>>,
    loops: usize,
    scope: BTreeSet<Name>,
    inexact: Option<Diagnostic>,
    /// Extents of the arrays so far.
    extents: BTreeMap<Name, Vec<Expr>>,
    /// Whether updates of elements that data tells are updates of all that they may be.
    whole_updates: bool,
}

/// Where the walk is.
struct Place {
    frame: Frame,
    domain: Set,
    loops: Vec<Around>,
    position: Vec<usize>,
    guards: Vec<Expr>,
}

impl Extraction {
    /// `counter` numbers what is in sequence at this level; blocks and conditionals do not open a
    /// level.
    fn block(&mut self, body: &[Stmt], place: &Place, counter: &mut usize) -> Result<()> {
        for stmt in body {
            match stmt {
                Stmt::Assign(assign) => {
                    let statement = self.assign(assign, place, *counter)?;
                    self.statements.push(statement);
                    *counter += 1;
                }
                Stmt::Loop(l) => {
                    let frame = place.frame.inside(&l.var).map_err(fault::library)?;
                    let range = match frame.range(&l.lower, &l.upper, l.step) {
                        Err(refused) if nest::by_data(l) && fault::is_not_affine(&refused) => {
                            let statement = nest::statement(l, place, *counter, &self.scope)?;
                            self.statements.push(statement);
                            self.loops += nest::loops_of(l);
                            *counter += 1;
                            self.inexact.get_or_insert(refused);
                            continue;
                        }
                        range => range?,
                    };
                    let inner = place.domain.insert_dims(Dim::SET, place.loops.len(), 1);
                    let domain = inner.and_then(|inner| inner.intersect(&range)).map_err(fault::library)?;
                    let mut loops = place.loops.clone();
                    loops.push(Around {
                        number: self.loops,
                        var: l.var.clone(),
                        kind: l.kind,
                        reductions: l.reductions.clone(),
                        lower: l.lower.clone(),
                        upper: l.upper.clone(),
                        step: l.step,
                    });
                    self.loops += 1;
                    let mut position = place.position.clone();
                    position.push(*counter);
                    let guards = place.guards.clone();
                    self.block(&l.body, &Place { frame, domain, loops, position, guards }, &mut 0)?;
                    *counter += 1;
                }
                Stmt::If { cond, then, otherwise } => {
                    self.conditional(cond, (then, otherwise), place, counter)?
                }
                Stmt::Block { body, .. } => self.block(body, place, counter)?,
                Stmt::Local(local) => {
                    if !self.scope.insert(local.name.clone()) {
                        let what = format!("the local array `{}`", local.name);
                        return Err(fault::outside(&what, "its name hides that of another array"));
                    }
                    self.locals.push(local.clone());
                    self.extents.insert(local.name.clone(), local.dims.clone());
                    let around = place.loops.iter().map(|around| around.number).collect();
                    self.scopes.insert(local.name.clone(), around);
                }
                Stmt::Copy(_) | Stmt::Wait(_) => {
                    let reason = "it belongs to a program that is already mapped to local memory";
                    return Err(fault::outside("a copy or wait", reason));
                }
            }
        }
        Ok(())
    }

    /// A conditional: an affine condition cuts the domain, any other one guards the statements
    /// inside.
    fn conditional(
        &mut self,
        cond: &Expr,
        (then, otherwise): (&[Stmt], &[Stmt]),
        place: &Place,
        counter: &mut usize,
    ) -> Result<()> {
        let inside = |domain: Set, guard: Option<Expr>| Place {
            frame: place.frame.clone(),
            domain,
            loops: place.loops.clone(),
            position: place.position.clone(),
            guards: place.guards.iter().cloned().chain(guard).collect(),
        };
        let refused = match place.frame.condition("the condition", cond) {
            Ok(holds) => {
                let (yes, no) = (place.domain.intersect(&holds), place.domain.subtract(&holds));
                self.block(then, &inside(yes.map_err(fault::library)?, None), counter)?;
                return self.block(otherwise, &inside(no.map_err(fault::library)?, None), counter);
            }
            Err(refused) => refused,
        };
        // What holds anyway says when the rest is asked.
        if otherwise.is_empty()
            && let Some((first, second)) = conjunction(cond)
        {
            let rest = [Stmt::If { cond: second.clone(), then: then.to_vec(), otherwise: Vec::new() }];
            return self.conditional(first, (&rest, &[]), place, counter);
        }
        // A guard is asked at each statement, so nothing before may change what it is asked of.
        let read = cond.arrays();
        let alone = otherwise.is_empty() && is_one_assignment(then);
        let written = assigns(then).chain(assigns(otherwise)).any(|a| read.contains(&a.target.array));
        if written && !alone {
            return Err(refused.note("the statements under it write what it reads"));
        }
        match conjunction(cond) {
            // As it is read again where it stands without its other branch.
            Some(_) if !otherwise.is_empty() => self.conditional(cond, (then, &[]), place, counter)?,
            _ => self.block(then, &inside(place.domain.clone(), Some(cond.clone())), counter)?,
        }
        let not = Expr::unary(loops::UnaryOp::Not, cond.clone());
        self.block(otherwise, &inside(place.domain.clone(), Some(not)), counter)
    }

    fn assign(&mut self, assign: &Assign, place: &Place, position: usize) -> Result<Statement> {
        let (label, tuple, domain) = place.named(assign)?;
        let mut accesses = Vec::new();
        let inexact = &mut self.inexact;
        let (whole, extents) = (self.whole_updates && assign.update.is_some(), &self.extents);
        let mut touch = |access: &Access, write: bool, reduction: Option<ReduceOp>| -> Result<()> {
            // Arithmetic on data may wrap around, also where it is on loop variables.
            let free = |e: &Expr| e.has_loads() || e.computes_data();
            let (mut relation, mut refused) = relation(access, place, &domain, &free)?;
            if refused.is_some()
                && whole
                && *access == assign.target
                && let Some(dims) = extents.get(&access.array)
                && let Some(inside) = inside(access, &relation, place, dims)?
            {
                (relation, refused) = (inside, None);
            }
            let exact = refused.is_none();
            if let Some(refused) = refused {
                inexact.get_or_insert(refused);
            }
            let (array, path) = (access.array.clone(), access.path.clone());
            accesses.push(Touch { array, path, write, reduction, relation, exact });
            Ok(())
        };
        let mut loads = Vec::new();
        for expr in place.guards.iter().chain(&assign.target.indices).chain([&assign.value]) {
            loads.extend(expr.loads());
        }
        for access in loads {
            touch(access, false, None)?;
        }
        let reduction = assign.update.filter(|u| u.reorder).map(|u| u.op);
        if assign.update.is_some() {
            touch(&assign.target, false, reduction)?;
        }
        touch(&assign.target, true, reduction)?;
        Ok(place.statement(position, (label, tuple, domain), assign, accesses))
    }
}

impl Place {
    /// Label, tuple and instances of a statement here.
    fn named(&self, assign: &Assign) -> Result<(Name, String, Set)> {
        let label = assign.label.clone().expect("all statements were labelled");
        let tuple = readable(&label);
        let named = || -> isl::Result<Set> {
            let mut domain = self.domain.coalesce()?;
            for (k, name) in dimension_names(&self.loops).iter().enumerate() {
                domain = domain.set_dim_name(Dim::SET, k, name)?;
            }
            domain.set_tuple_name(&tuple)
        };
        let domain = named().map_err(fault::library)?;
        Ok((label, tuple, domain))
    }

    /// The statement of an assignment at a position here.
    fn statement(
        &self,
        position: usize,
        (label, tuple, domain): (Name, String, Set),
        assign: &Assign,
        accesses: Vec<Touch>,
    ) -> Statement {
        let mut positions = self.position.clone();
        positions.push(position);
        let (loops, guards) = (self.loops.clone(), self.guards.clone());
        let assign = assign.clone();
        Statement { label, tuple, loops, position: positions, guards, assign, nest: None, domain, accesses }
    }
}

/// Whether statements are one assignment, perhaps under further conditions: all are asked before
/// it.
fn is_one_assignment(body: &[Stmt]) -> bool {
    match body {
        [Stmt::Assign(_)] => true,
        [Stmt::If { then, otherwise, .. }] => otherwise.is_empty() && is_one_assignment(then),
        _ => false,
    }
}

/// The two sides of a conjunction of which the second is asked only where the first holds, or may
/// be.
fn conjunction(cond: &Expr) -> Option<(&Expr, &Expr)> {
    match cond {
        Expr::Binary(loops::BinaryOp::And, a, b) => Some((a, b)),
        Expr::Select(a, b, no) if **no == Expr::Bool(false) => Some((a, b)),
        _ => None,
    }
}

/// Names of dimensions: those of the loops, made different from each other.
fn dimension_names(loops: &[Around]) -> Vec<String> {
    let mut taken = BTreeSet::new();
    loops.iter().map(|around| fresh(&readable(&around.var), &mut taken).to_string()).collect()
}

/// The name of an array's tuple; each component of a pair is an array of its own.
pub(crate) fn array_tuple(array: &str, path: &[Component]) -> String {
    let mut name = readable(array);
    for component in path {
        name.push_str(match component {
            Component::First => "_x1",
            Component::Second => "_x2",
        });
    }
    if path.is_empty() { name } else { format!("{name}_p") }
}
