//! Code generation: commands become loop programs by the rules `cgc.1` to `cgc.6` and those of the
//! further commands.
//!
//! - `access`: acceptors at paths, `cga.…`
//! - `expr`: expressions at paths, `cge.…`
//! - `layout`: which arrays hold which data
//! - `inplace`: when an update may write over what it reads
//! - `storage`: stack or heap
//! - `turns`: a staged update in a loop, by two buffers that take turns
//!
//! In paper mode names are `v<k>` and `i<k>` by the number of variables declared so far, as the
//! paper's `cnt` gives them.

mod access;
mod double_buffers;
mod expr;
mod inplace;
pub(crate) mod layout;
mod names;
mod storage;

use std::collections::{BTreeMap, HashMap};

use functional::{DataType, Definition, FactKind};
use loops::{
    Access, Assign, BinaryOp, Code, CompareOp, Diagnostic, Expr, Function, Loop, LoopKind, Name, Param,
    ParamMode, ReduceOp, Size, Stmt, Update,
};

use crate::derivation::{Bindings, Phrase, RuleStep};
use crate::phrase::{Acc, AccKind, Comm, CommKind, Exp, PVar, Role};
use crate::translate::{Result, constant_bytes};
use crate::{Abi, Mode};
use layout::Layout;
use names::Names;
use storage::declarations;

/// The most nested updates that are tried in place. A failure means that the body is generated
/// again.
const TRIES: u32 = 3;

/// Where a variable of phrases is.
#[derive(Clone, Debug)]
enum Place {
    /// In memory of its own.
    Memory(Layout),
    /// In memory that an acceptor names.
    Acc(Acc),
    /// A loop variable.
    Index(Name),
}

/// The state of code generation for one definition.
pub(crate) struct Generator<'d> {
    definition: &'d Definition,
    mode: Mode,
    bindings: &'d Bindings,
    steps: Vec<RuleStep>,
    places: HashMap<u32, Place>,
    names: Names,
    /// Local arrays that updates need, to be declared with the accumulator.
    wanted: HashMap<u32, Vec<Stmt>>,
    /// The update that was generated last, if it is staged.
    staged: Option<double_buffers::Staged>,
    nodes: usize,
    tries: u32,
    /// Numbers for variables that code generation itself makes.
    next: u32,
}

/// Parameters, result and body of a definition as phrases.
pub(crate) struct Frame {
    pub params: Vec<(PVar, DataType)>,
    pub out: (PVar, DataType),
    pub body: Comm,
}

impl<'d> Generator<'d> {
    pub fn new(definition: &'d Definition, mode: Mode, bindings: &'d Bindings) -> Generator<'d> {
        Generator {
            definition,
            mode,
            bindings,
            steps: Vec::new(),
            places: HashMap::new(),
            names: Names::default(),
            wanted: HashMap::new(),
            staged: None,
            nodes: 0,
            tries: 0,
            next: u32::MAX,
        }
    }

    /// The function, how its parameters relate to those of the definition, and the steps taken.
    pub fn function(mut self, frame: &Frame) -> Result<(Function, Abi, Vec<RuleStep>)> {
        let definition = self.definition;
        self.names.reserve(&definition.name);
        for size in &definition.sizes {
            self.names.reserve(size);
        }
        let mut params = Vec::new();
        let mut abi = Abi::default();
        for (k, (var, ty)) in frame.params.iter().enumerate() {
            let base = definition.params.get(k).map_or(&var.name, |p| &p.var.name).clone();
            let names = self.parameter(var, &base, ty, ParamMode::In, &mut params);
            abi.params.push((base, names));
        }
        let (out, ty) = &frame.out;
        abi.result = self.parameter(out, "out", ty, ParamMode::Out, &mut params);
        let mut body = Vec::new();
        self.comm(&frame.body, 0, &mut body)?;
        if self.mode == Mode::Default {
            body.iter_mut().for_each(updates);
            body = body.iter().map(storage::beside_tiles).collect();
        }
        let function = Function {
            name: definition.name.clone(),
            sizes: definition.sizes.clone(),
            assumptions: assumptions(definition),
            params,
            body,
        };
        Ok((function, abi, self.steps))
    }

    fn parameter(
        &mut self,
        var: &PVar,
        base: &str,
        ty: &DataType,
        mode: ParamMode,
        params: &mut Vec<Param>,
    ) -> Vec<Name> {
        let layout = Layout::of(base, ty, &mut |name| self.names.memory(name));
        let mut names = Vec::new();
        for (name, elem, dims) in layout.arrays() {
            let dims = dims.iter().map(Size::to_expr).collect();
            params.push(Param { name: name.clone(), elem: elem.clone(), dims, mode });
            names.push(name.clone());
        }
        self.places.insert(var.id, Place::Memory(layout));
        names
    }

    /// `CodeGen_comm(c, cnt)`: appends statements and returns how many variables they declare.
    fn comm(&mut self, comm: &Comm, cnt: u32, out: &mut Vec<Stmt>) -> Result<u32> {
        match comm.kind() {
            CommKind::Skip => {
                self.record("cgc.1", Phrase::GenComm(comm.clone()), Phrase::Remark("skip"));
                Ok(0)
            }
            CommKind::Seq(a, b) => {
                self.record("cgc.2", Phrase::GenComm(comm.clone()), Phrase::Both(a.clone(), b.clone()));
                let first = self.comm(a, cnt, out)?;
                Ok(first + self.comm(b, cnt + first, out)?)
            }
            CommKind::Assign(a, e) => {
                self.assign(comm, a, e, None, cnt, out)?;
                Ok(0)
            }
            CommKind::Accumulate(op, a, e) => {
                self.assign(comm, a, e, Some(*op), cnt, out)?;
                Ok(0)
            }
            CommKind::New(var, ty, body) => {
                let name = if self.mode == Mode::Paper {
                    format!("v{cnt}")
                } else {
                    var.hint.as_ref().map_or("tmp".to_owned(), |name| name.to_string())
                };
                let layout = Layout::of(&name, ty, &mut |name| self.names.memory(name));
                let first = layout.arrays().first().map(|(name, ..)| (*name).clone());
                let first = first.unwrap_or_else(|| Name::new(&name));
                self.record("cgc.4", Phrase::GenComm(comm.clone()), Phrase::Declare(first, body.clone()));
                out.extend(declarations(&layout));
                self.places.insert(var.id, Place::Memory(layout));
                let count = self.with_wanted(var, body, cnt + 1, out)?;
                Ok(count + 1)
            }
            CommKind::Alias(var, acc, body) => {
                self.record("cgc.alias", Phrase::GenComm(comm.clone()), Phrase::GenComm(body.clone()));
                self.places.insert(var.id, Place::Acc(acc.clone()));
                self.with_wanted(var, body, cnt, out)
            }
            CommKind::Update(var, ty, o, body) => self.update(comm, var, ty, o, body, cnt, out),
            CommKind::SeqFor(kind, n, i, body) => {
                self.staged = None;
                let (l, count) = self.looping("cgc.5", comm, *kind, n, i, body, Vec::new(), cnt)?;
                let staged = self.staged.take().filter(|_| matches!(body.kind(), CommKind::Update(..)));
                match staged.and_then(|staged| double_buffers::about(&l, &staged)) {
                    Some(statements) => {
                        self.record(
                            "cgc.turns",
                            Phrase::GenComm(comm.clone()),
                            Phrase::GenComm(comm.clone()),
                        );
                        out.extend(statements);
                    }
                    None => out.push(Stmt::Loop(l)),
                }
                Ok(count + 1)
            }
            CommKind::ParFor { kind, n, out: acc, index, o, body } => {
                if let Some(element) = acc.at(Exp::var(index, DataType::Idx(n.clone()))) {
                    self.places.insert(o.id, Place::Acc(element));
                }
                let body = self.looping("cgc.6", comm, *kind, n, index, body, Vec::new(), cnt)?;
                out.push(Stmt::Loop(body.0));
                Ok(body.1 + 1)
            }
            CommKind::ReduceFor(op, var, n, i, body) => {
                let Some(Place::Memory(layout)) = self.places.get(&var.id) else {
                    return Err(self.stuck("an accumulator without a place"));
                };
                let reductions = layout.arrays().iter().map(|(name, ..)| (*op, (*name).clone())).collect();
                let kind = LoopKind::Parallel;
                let body = self.looping("cgc.reduce", comm, kind, n, i, body, reductions, cnt)?;
                out.push(Stmt::Loop(body.0));
                Ok(body.1 + 1)
            }
            CommKind::If(cond, yes, no) => {
                self.record("cgc.if", Phrase::GenComm(comm.clone()), Phrase::Both(yes.clone(), no.clone()));
                let cond = self.scalar(cond)?;
                let (mut then, mut otherwise) = (Vec::new(), Vec::new());
                let first = self.comm(yes, cnt, &mut then)?;
                let second = self.comm(no, cnt + first, &mut otherwise)?;
                out.push(Stmt::If { cond, then, otherwise });
                Ok(first + second)
            }
            CommKind::Branch(..)
            | CommKind::A(..)
            | CommKind::C(..)
            | CommKind::Bind(..)
            | CommKind::Share(..)
            | CommKind::Macro(_)
            | CommKind::Yield(_) => Err(self.stuck("a pending command")),
        }
    }

    /// The body of a declaration, preceded by the local arrays that updates of the variable need.
    fn with_wanted(&mut self, var: &PVar, body: &Comm, cnt: u32, out: &mut Vec<Stmt>) -> Result<u32> {
        let place = out.len();
        let count = self.comm(body, cnt, out)?;
        if let Some(wanted) = self.wanted.remove(&var.id) {
            out.splice(place..place, wanted);
        }
        Ok(count)
    }

    #[allow(clippy::too_many_arguments)]
    fn looping(
        &mut self,
        rule: &'static str,
        comm: &Comm,
        kind: LoopKind,
        n: &Size,
        i: &PVar,
        body: &Comm,
        reductions: Vec<(ReduceOp, Name)>,
        cnt: u32,
    ) -> Result<(Loop, u32)> {
        let name = self.enter_loop(cnt);
        self.places.insert(i.id, Place::Index(name.clone()));
        let after = Phrase::Loop(kind, name.clone(), n.clone(), body.clone());
        self.record(rule, Phrase::GenComm(comm.clone()), after);
        let mut statements = Vec::new();
        let count = self.comm(body, cnt + 1, &mut statements)?;
        self.names.leave_loop();
        let mut body = Loop::upto(name, n.to_expr(), kind, statements);
        body.reductions = reductions;
        Ok((body, count))
    }

    fn enter_loop(&mut self, cnt: u32) -> Name {
        let numbered = Name::new(format!("i{cnt}"));
        if self.mode == Mode::Paper && self.names.is_free(&numbered) {
            self.names.enter_named(&numbered);
            numbered
        } else {
            self.names.enter_loop()
        }
    }

    /// An assignment (`cgc.3`); of arrays element by element, of pairs component by component.
    fn assign(
        &mut self,
        comm: &Comm,
        a: &Acc,
        e: &Exp,
        op: Option<ReduceOp>,
        cnt: u32,
        out: &mut Vec<Stmt>,
    ) -> Result<()> {
        let again = |a: Acc, e: Exp| -> Comm {
            match op {
                None => CommKind::Assign(a, e).into(),
                Some(op) => CommKind::Accumulate(op, a, e).into(),
            }
        };
        match a.ty() {
            DataType::Array(n, _) | DataType::Vector(n, _) => {
                let vector = matches!(a.ty(), DataType::Vector(..));
                let kind = if vector { LoopKind::Vector } else { LoopKind::Sequential };
                let name = self.enter_loop(cnt);
                let index = self.index_variable(&name);
                let i = Exp::var(&index, DataType::Idx(n.clone()));
                let (Some(ai), Some(ei)) = (a.at(i.clone()), e.at(i)) else {
                    return Err(self.stuck("an assignment of data of another type"));
                };
                let inner = again(ai.clone(), ei.clone());
                let after = Phrase::Loop(kind, name.clone(), n.clone(), inner.clone());
                self.record("cgc.3.array", Phrase::GenComm(comm.clone()), after);
                let mut body = Vec::new();
                self.assign(&inner, &ai, &ei, op, cnt + 1, &mut body)?;
                self.names.leave_loop();
                out.push(Stmt::Loop(Loop::upto(name, n.to_expr(), kind, body)));
                Ok(())
            }
            DataType::Pair(..) => {
                let parts = (|| Some((a.first()?, e.first()?, a.second()?, e.second()?)))();
                let Some((a1, e1, a2, e2)) = parts else {
                    return Err(self.stuck("an assignment of data of another type"));
                };
                let (first, second) = (again(a1.clone(), e1.clone()), again(a2.clone(), e2.clone()));
                let after = Phrase::Both(first.clone(), second.clone());
                self.record("cgc.3.pair", Phrase::GenComm(comm.clone()), after);
                self.assign(&first, &a1, &e1, op, cnt, out)?;
                self.assign(&second, &a2, &e2, op, cnt, out)
            }
            DataType::Scalar(_) | DataType::Idx(_) => {
                let after = Phrase::Assign(a.clone(), e.clone());
                self.record("cgc.3", Phrase::GenComm(comm.clone()), after);
                let target = self.access(a, Vec::new())?;
                let value = self.scalar(e)?;
                out.push(Stmt::Assign(Self::statement(target, value, op)));
                Ok(())
            }
        }
    }

    fn index_variable(&mut self, name: &Name) -> PVar {
        let id = self.next;
        self.next -= 1;
        self.places.insert(id, Place::Index(name.clone()));
        PVar { id, name: name.clone(), hint: None, role: Role::Index }
    }

    fn statement(target: Access, value: Expr, op: Option<ReduceOp>) -> Assign {
        if let Some(op) = op {
            return Assign { label: None, target, update: Some(Update { op, reorder: true }), value };
        }
        Assign { label: None, target, update: None, value }
    }

    /// `update v (λo. c)`: in place (`cgc.inplace`) or through a second temporary (`cgc.staged`).
    #[allow(clippy::too_many_arguments)]
    fn update(
        &mut self,
        comm: &Comm,
        var: &PVar,
        ty: &DataType,
        o: &PVar,
        body: &Comm,
        cnt: u32,
        out: &mut Vec<Stmt>,
    ) -> Result<u32> {
        let write = Acc::var(var, ty.clone());
        let (root, through) = self.rooted(&write);
        let Some(Place::Memory(layout)) = self.places.get(&root.id).cloned() else {
            return Err(self.stuck("an accumulator without a place"));
        };
        let mut shadow = BTreeMap::new();
        let copy = layout.renamed(&mut |name| {
            let new = self.names.memory(&format!("{name}_next"));
            shadow.insert(new.clone(), name.clone());
            new
        });
        let own = matches!(through.kind(), AccKind::Var(_));
        let may_try = own || self.tries < TRIES;
        if may_try {
            let id = self.next;
            self.next -= 1;
            let ghost = PVar { id, name: root.name.clone(), hint: None, role: Role::Memory };
            self.places.insert(id, Place::Memory(copy.clone()));
            self.places.insert(o.id, Place::Acc(replant(&through, &ghost)));
            let (steps, names, wanted) = (self.steps.len(), self.names.clone(), self.wanted.clone());
            let mut statements = Vec::new();
            self.tries += 1;
            let count = self.comm(body, cnt, &mut statements)?;
            self.tries -= 1;
            if inplace::sound(&statements, &shadow) {
                self.record("cgc.inplace", Phrase::GenComm(comm.clone()), Phrase::GenComm(body.clone()));
                let mut statements = loops::visit::rename_arrays(&statements, &shadow);
                inplace::without_self_assignments(&mut statements);
                shadow.keys().for_each(|name| self.names.release(name));
                out.extend(statements);
                return Ok(count);
            }
            if own {
                self.record("cgc.staged", Phrase::GenComm(comm.clone()), Phrase::GenComm(body.clone()));
                let parallel = statements.iter().any(is_parallel);
                out.extend(statements);
                self.wanted.entry(var.id).or_default().extend(declarations(&copy));
                let next = Exp::var(&ghost, ty.clone());
                let body = out.len();
                self.copy_back(comm, &write, &next, parallel, cnt, out)?;
                if self.mode == Mode::Default && constant_bytes(ty).is_none() {
                    self.staged = Some(double_buffers::Staged { body, next: shadow });
                }
                return Ok(count);
            }
            self.steps.truncate(steps);
            (self.names, self.wanted) = (names, wanted);
        }
        shadow.keys().for_each(|name| self.names.release(name));
        self.record("cgc.staged", Phrase::GenComm(comm.clone()), Phrase::GenComm(body.clone()));
        let base = var.hint.as_ref().map_or("acc".to_owned(), |name| name.to_string());
        let layout = Layout::of(&format!("{base}_next"), ty, &mut |name| self.names.memory(name));
        let id = self.next;
        self.next -= 1;
        let next = PVar { id, name: var.name.clone(), hint: None, role: Role::Memory };
        self.wanted.entry(var.id).or_default().extend(declarations(&layout));
        self.places.insert(id, Place::Memory(layout));
        self.places.insert(o.id, Place::Acc(Acc::var(&next, ty.clone())));
        let start = out.len();
        let count = self.comm(body, cnt, out)?;
        let parallel = out.iter().skip(start).any(is_parallel);
        self.copy_back(comm, &write, &Exp::var(&next, ty.clone()), parallel, cnt, out)?;
        Ok(count)
    }

    /// Stores the next accumulator, in parallel where it was computed so.
    fn copy_back(
        &mut self,
        comm: &Comm,
        write: &Acc,
        next: &Exp,
        parallel: bool,
        cnt: u32,
        out: &mut Vec<Stmt>,
    ) -> Result<()> {
        let start = out.len();
        self.assign(comm, write, next, None, cnt, out)?;
        for stmt in out.iter_mut().skip(start) {
            if let Stmt::Loop(l) = stmt
                && parallel
                && l.kind == LoopKind::Sequential
            {
                l.kind = LoopKind::Parallel;
            }
        }
        Ok(())
    }

    /// The variable in memory that an acceptor writes, and the acceptor with all aliases replaced.
    fn rooted(&self, acc: &Acc) -> (PVar, Acc) {
        match acc.kind() {
            AccKind::Var(var) => match self.acceptor_of(var) {
                Some(next) => self.rooted(&next),
                None => (var.clone(), acc.clone()),
            },
            AccKind::At(inner, i) => {
                let (root, inner) = self.rooted(inner);
                let acc = inner.at(i.clone()).unwrap_or(inner);
                (root, acc)
            }
            AccKind::View(view, inner) => {
                let (root, inner) = self.rooted(inner);
                (root, inner.view(view.clone(), acc.ty().clone()))
            }
        }
    }

    fn record(&mut self, rule: &'static str, before: Phrase, after: Phrase) {
        self.steps.push(RuleStep { rule, before, after });
    }

    fn stuck(&self, what: &str) -> Diagnostic {
        let span = self.definition.span;
        Diagnostic::error(Code("D0199"), "code generation got stuck", span, format!("at {what}"))
            .note("a definition that the checker of the language accepts should not get here")
    }
}

fn is_parallel(stmt: &Stmt) -> bool {
    matches!(stmt, Stmt::Loop(l) if l.kind == LoopKind::Parallel)
}

/// Writes `x = e + x` as `x += e`. Sum and product commute bit for bit, and later stages see the
/// reduction.
fn updates(stmt: &mut Stmt) {
    match stmt {
        Stmt::Assign(Assign { target, update: update @ None, value, .. }) => {
            let op = match value {
                Expr::Binary(BinaryOp::Add, ..) => ReduceOp::Add,
                Expr::Binary(BinaryOp::Mul, ..) => ReduceOp::Mul,
                _ => return,
            };
            let Expr::Binary(_, a, b) = value else { return };
            let is_target = |e: &Expr| matches!(e, Expr::Load(from) if from == target);
            let other = match (is_target(a), is_target(b)) {
                (false, true) => a,
                (true, false) => b,
                _ => return,
            };
            let other = std::mem::replace(&mut **other, Expr::Int(0));
            *update = Some(Update { op, reorder: false });
            *value = other;
        }
        Stmt::Loop(l) => l.body.iter_mut().for_each(updates),
        Stmt::If { then, otherwise, .. } => then.iter_mut().chain(otherwise).for_each(updates),
        Stmt::Block { body, .. } => body.iter_mut().for_each(updates),
        Stmt::Assign(_) | Stmt::Local(_) | Stmt::Copy(_) | Stmt::Wait(_) => {}
    }
}

/// The acceptor with another variable at its root.
fn replant(acc: &Acc, root: &PVar) -> Acc {
    match acc.kind() {
        AccKind::Var(_) => Acc::var(root, acc.ty().clone()),
        AccKind::At(inner, i) => {
            let inner = replant(inner, root);
            inner.at(i.clone()).unwrap_or(inner)
        }
        AccKind::View(view, inner) => replant(inner, root).view(view.clone(), acc.ty().clone()),
    }
}

/// Sizes are natural numbers, and what the definition says of them.
fn assumptions(definition: &Definition) -> Vec<Expr> {
    let natural = |name: &Name| Expr::compare(CompareOp::Ge, Expr::Var(name.clone()), Expr::Int(0));
    let facts = definition.facts.iter().map(|fact| {
        let op = match fact.kind {
            FactKind::AtMost => CompareOp::Le,
            FactKind::Equal => CompareOp::Eq,
        };
        Expr::compare(op, fact.left.to_expr(), fact.right.to_expr())
    });
    definition.sizes.iter().map(natural).chain(facts).collect()
}
