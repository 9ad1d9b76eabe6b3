//! Checks of names, types, labels and clauses.

use std::collections::BTreeSet;

use super::{DUPLICATE, at};
use crate::diagnostic::{Code, Diagnostic, Severity};
use crate::expr::Expr;
use crate::name::Name;
use crate::program::{
    Access, Copy, Function, Local, Loop, LoopKind, ParamMode, ReduceOp, Stmt, Storage, Update,
};
use crate::types::{Elem, Scalar};
use crate::typing::{self, Types};
use crate::visit::nodes;

const REDUCTION: Code = Code("L0209");
const WRITES_INPUT: Code = Code("L0210");
const LOOP: Code = Code("L0211");
const DECLARATION: Code = Code("L0212");
const LABEL: Code = Code("L0213");
const TAG: Code = Code("L0214");
const MOVING_BOUND: Code = Code("L0215");

pub(super) fn check(function: &Function, found: &mut Vec<Diagnostic>) {
    let mut checker =
        Checker { types: Types::default(), readonly: BTreeSet::new(), labels: BTreeSet::new(), found };
    for size in &function.sizes {
        checker.declare_var(size);
    }
    for assumption in &function.assumptions {
        let result = checker.has_type(assumption, Scalar::Bool, "an assumption");
        checker.keep(result);
    }
    for param in &function.params {
        for dim in &param.dims {
            let result = checker.has_type(dim, Scalar::I64, "an extent").and_then(|()| only_sizes(dim));
            checker.keep(result);
        }
    }
    for param in &function.params {
        if param.mode == ParamMode::In {
            checker.readonly.insert(param.name.clone());
        }
        checker.declare_array(&param.name, &param.elem, param.dims.len());
    }
    checker.block(&function.body);
    tags(&function.body, found);
}

fn only_sizes(dim: &Expr) -> Result<(), Diagnostic> {
    if !dim.has_loads() {
        return Ok(());
    }
    let message = format!("the extent `{dim}` of a parameter depends on data, not only on sizes");
    Err(Diagnostic::general(DECLARATION, message))
}

struct Checker<'a> {
    types: Types,
    readonly: BTreeSet<Name>,
    labels: BTreeSet<Name>,
    found: &'a mut Vec<Diagnostic>,
}

impl Checker<'_> {
    fn keep(&mut self, result: Result<(), Diagnostic>) {
        self.found.extend(result.err());
    }

    fn unused(&mut self, name: &Name) {
        if self.types.is_var(name) || self.types.array(name).is_some() {
            let message = format!("the name `{name}` is declared again where it is in scope");
            self.found.push(Diagnostic::general(DUPLICATE, message).help("give one of the two another name"));
        }
    }

    fn declare_var(&mut self, name: &Name) {
        self.unused(name);
        self.types.declare_var(name);
    }

    fn declare_array(&mut self, name: &Name, elem: &Elem, rank: usize) {
        self.unused(name);
        self.types.declare_array(name, elem, rank);
    }

    fn has_type(&self, expr: &Expr, wanted: Scalar, what: &str) -> Result<(), Diagnostic> {
        let ty = self.types.type_of(expr)?;
        if ty == wanted {
            return Ok(());
        }
        let message = format!("{what} `{expr}` has type `{ty}`, not `{wanted}`");
        Err(Diagnostic::general(typing::TYPES, message))
    }

    fn block(&mut self, body: &[Stmt]) {
        let mark = self.types.enter();
        for stmt in body {
            let known = self.found.len();
            let result = self.stmt(stmt);
            self.keep(result);
            for diagnostic in &mut self.found[known..] {
                // The innermost statement has said where it is.
                if diagnostic.notes.iter().all(|note| !note.starts_with("in `")) {
                    *diagnostic = at(stmt, diagnostic.clone());
                }
            }
        }
        self.types.leave(mark);
    }

    fn writable(&self, access: &Access) -> Result<(), Diagnostic> {
        if !self.readonly.contains(&access.array) {
            return Ok(());
        }
        let message = format!("`{access}` is written, but `{}` is an `in` parameter", access.array);
        Err(Diagnostic::general(WRITES_INPUT, message).help("declare it `inout` or `out`"))
    }

    fn stmt(&mut self, stmt: &Stmt) -> Result<(), Diagnostic> {
        match stmt {
            Stmt::Assign(assign) => {
                if let Some(label) = &assign.label
                    && !self.labels.insert(label.clone())
                {
                    let message = format!("there are two statements `{label}`");
                    self.found.push(Diagnostic::general(LABEL, message));
                }
                let target = typing::scalar_of(&assign.target, self.types.access(&assign.target)?)?;
                self.writable(&assign.target)?;
                self.has_type(&assign.value, target, "the assigned value")?;
                match assign.update {
                    Some(Update { op, .. }) if !op.accepts(target) => {
                        let message = format!("`{}=` does not work on `{target}`", op.symbol());
                        Err(Diagnostic::general(typing::TYPES, message))
                    }
                    _ => Ok(()),
                }
            }
            Stmt::Loop(l) => {
                let result = self.loop_header(l);
                self.keep(result);
                let mark = self.types.enter();
                self.declare_var(&l.var);
                self.block(&l.body);
                self.types.leave(mark);
                Ok(())
            }
            Stmt::If { cond, then, otherwise } => {
                let result = self.has_type(cond, Scalar::Bool, "the condition");
                self.keep(result);
                self.block(then);
                self.block(otherwise);
                Ok(())
            }
            Stmt::Local(local) => {
                let result = self.local(local);
                self.declare_array(&local.name, &local.elem, local.dims.len());
                result
            }
            Stmt::Block { body, .. } => {
                self.block(body);
                Ok(())
            }
            Stmt::Copy(copy) => self.copy(copy),
            Stmt::Wait(_) => Ok(()),
        }
    }

    fn local(&self, local: &Local) -> Result<(), Diagnostic> {
        for dim in &local.dims {
            self.has_type(dim, Scalar::I64, "an extent")?;
            if local.storage == Storage::Stack && !matches!(dim, Expr::Int(_)) {
                let message =
                    format!("`{}` is on the stack, but its extent `{dim}` is not a constant", local.name);
                return Err(Diagnostic::general(DECLARATION, message).help("put it on the heap: `heap`"));
            }
            if matches!(dim, Expr::Int(extent) if *extent < 0) {
                let message = format!("the extent {dim} of `{}` is negative", local.name);
                return Err(Diagnostic::general(DECLARATION, message));
            }
        }
        Ok(())
    }

    fn loop_header(&mut self, l: &Loop) -> Result<(), Diagnostic> {
        if l.step < 1 {
            let message = format!("the stride of the loop `{}` is {}, not at least 1", l.var, l.step);
            self.found.push(Diagnostic::general(LOOP, message));
        }
        if l.kind == LoopKind::Unroll(Some(0)) {
            let message = format!("the loop `{}` is to be unrolled 0 times", l.var);
            self.found.push(Diagnostic::general(LOOP, message));
        }
        self.has_type(&l.lower, Scalar::I64, "the lower bound")?;
        self.has_type(&l.upper, Scalar::I64, "the upper bound")?;
        self.moving_bounds(l)?;
        if !l.reductions.is_empty() && !matches!(l.kind, LoopKind::Parallel | LoopKind::Vector) {
            let message = format!("the loop `{}` has a `reduce` clause, but runs in order", l.var);
            return Err(Diagnostic::general(REDUCTION, message)
                .help("remove the `reduce` clause, or use `par` or `vec`"));
        }
        let mut seen = BTreeSet::new();
        for (op, name) in &l.reductions {
            let Some((elem, _)) = self.types.array(name) else {
                return Err(typing::unbound_array(&Access::scalar(name.clone()), self.types.is_var(name)));
            };
            if let Some(leaf) = elem.leaves().into_iter().find(|leaf| !op.accepts(*leaf)) {
                let message =
                    format!("`{}` does not combine the `{leaf}` of the accumulator `{name}`", op.symbol());
                return Err(Diagnostic::general(REDUCTION, message));
            }
            self.writable(&Access::scalar(name.clone()))?;
            if !seen.insert(name) {
                let message = format!("the accumulator `{name}` is declared twice");
                return Err(Diagnostic::general(REDUCTION, message));
            }
            self.accumulator(l, *op, name)?;
        }
        Ok(())
    }

    /// An accumulator is only touched by updates with its operation.
    fn accumulator(&self, l: &Loop, op: ReduceOp, name: &Name) -> Result<(), Diagnostic> {
        for site in crate::access::accesses(&l.body) {
            if site.access.array != *name {
                continue;
            }
            let fits = matches!(site.kind, crate::AccessKind::Update(update) if update.op == op);
            if !fits {
                let how = if site.writes() { "written" } else { "read" };
                let message = format!(
                    "the accumulator `{name}` of `{}` is {how} other than by `{}=`",
                    l.header(),
                    op.symbol()
                );
                return Err(at(site.stmt, Diagnostic::general(REDUCTION, message)));
            }
        }
        Ok(())
    }

    /// C evaluates the bound before each iteration, the loop IR once. A reader may expect either.
    fn moving_bounds(&mut self, l: &Loop) -> Result<(), Diagnostic> {
        let mut read = l.upper.arrays();
        if read.is_empty() {
            return Ok(());
        }
        let sites = crate::access::accesses(&l.body);
        read.retain(|array| sites.iter().any(|site| site.writes() && site.access.array == *array));
        match read.first() {
            None => Ok(()),
            Some(array) => {
                let message = format!("the bound `{}` reads `{array}`, which the loop writes", l.upper);
                let mut warning = Diagnostic::general(MOVING_BOUND, message)
                    .help("if that is meant, assign the bound to a local variable before the loop");
                warning.severity = Severity::Warning;
                self.found.push(warning);
                Ok(())
            }
        }
    }

    fn copy(&self, copy: &Copy) -> Result<(), Diagnostic> {
        let from = self.types.access(&copy.from)?;
        let to = self.types.access(&copy.to)?;
        self.writable(&copy.to)?;
        if from != to {
            let message = format!(
                "the copy's source `{}` holds `{from}`, its destination `{}` holds `{to}`",
                copy.from, copy.to
            );
            return Err(Diagnostic::general(typing::TYPES, message));
        }
        let rank = copy.from.indices.len().min(copy.to.indices.len());
        if copy.extents.len() > rank {
            let message =
                format!("a copy of {} extents between arrays of {rank} dimensions", copy.extents.len());
            return Err(Diagnostic::general(typing::RANK, message));
        }
        for extent in &copy.extents {
            self.has_type(extent, Scalar::I64, "an extent")?;
        }
        Ok(())
    }
}

/// Every tag that is waited for belongs to some copy, and the other way round.
fn tags(body: &[Stmt], found: &mut Vec<Diagnostic>) {
    let (mut issued, mut waited) = (Vec::new(), Vec::new());
    for stmt in nodes(body) {
        match stmt {
            Stmt::Copy(Copy { tag: Some(tag), .. }) => issued.push((tag, stmt)),
            Stmt::Wait(tag) => waited.push((tag, stmt)),
            _ => {}
        }
    }
    for (tag, stmt) in &issued {
        if waited.iter().all(|(other, _)| other != tag) {
            let message = format!("nothing waits for the copy with the tag `{tag}`");
            found.push(at(
                stmt,
                Diagnostic::general(TAG, message).help(format!("write `wait {tag}` before the data is used")),
            ));
        }
    }
    for (tag, stmt) in &waited {
        if issued.iter().all(|(other, _)| other != tag) {
            found.push(at(stmt, Diagnostic::general(TAG, format!("no copy has the tag `{tag}`"))));
        }
    }
}
