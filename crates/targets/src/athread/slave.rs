//! The slave file: one function for each kernel, which every core runs.

use loops::{Copy, CopyKind, Diagnostic, Elem, Expr, Function, Loop, LoopKind, Name, Stmt, Storage};

use super::chip::Chip;
use super::contraction;
use super::cost::{self, LOOP};
use super::expr::{Binding, HOOKS, MACROS, Scope, c_type, invalid, print};
use super::kernel::{self, Kernel};
use super::vector;

/// The slave file of some functions.
///
/// # Errors
/// `T0001` for what slave code cannot say; `T0005` if buffers do not fit in local memory.
pub(super) fn file(functions: &[&Function], header: &str, chip: &Chip) -> Result<String, Diagnostic> {
    let mut bodies = String::new();
    let mut bytes = 0;
    let mut replies = std::collections::BTreeSet::new();
    for function in functions {
        for kernel in kernel::kernels(function)? {
            let mut writer = Writer {
                chip,
                out: String::new(),
                depth: 1,
                scope: Scope::default(),
                next: 0,
                used: 0,
                replies: vec![],
                fresh: vec![],
            };
            writer.kernel(&kernel)?;
            bytes = bytes.max(writer.used);
            replies.extend(writer.replies.iter().map(Name::to_string));
            bodies.push_str(&format!(
                "\nvoid {0}(struct {0}_arguments *lozenge_given)\n{{\n{1}}}\n",
                kernel.name, writer.out
            ));
        }
    }
    if bytes > chip.buffers() {
        return Err(Diagnostic::general(
            loops::Code("T0005"),
            format!(
                "the buffers of a kernel take {bytes} bytes of local memory, and there are {}",
                chip.buffers()
            ),
        )
        .help("choose smaller tiles"));
    }
    let mut text = String::from("/* What the computing cores run. */\n");
    text.push_str("#include <math.h>\n#include <stdint.h>\n#include <stdlib.h>\n");
    for include in chip.slave_headers() {
        text.push_str(&format!("#include <{include}>\n"));
    }
    text.push_str(&format!("\n#include \"{header}\"\n\n{HOOKS}\n{MACROS}\n"));
    text.push_str(&format!("/* Local memory for the buffers of all kernels. */\n__thread_local char lozenge_ldm[{}] __attribute__((aligned(64)));\n", bytes.max(64)));
    text.push_str(&chip.replies(&replies.into_iter().collect::<Vec<_>>()));
    text.push_str(&chip.transfers());
    text.push_str(&bodies);
    Ok(text)
}

struct Writer<'a> {
    chip: &'a Chip,
    out: String,
    depth: usize,
    scope: Scope,
    /// Bytes of local memory that are taken here, and at most so far.
    next: i64,
    used: i64,
    replies: Vec<Name>,
    /// Buffers that are declared in the block around the current tile: nothing of them is used after it.
    fresh: Vec<Name>,
}

impl Writer<'_> {
    fn line(&mut self, text: &str) {
        for _ in 0..self.depth {
            self.out.push_str("  ");
        }
        self.out.push_str(text);
        self.out.push('\n');
    }

    fn open(&mut self, text: &str) {
        self.line(text);
        self.depth += 1;
    }

    fn close(&mut self) {
        self.depth -= 1;
        self.line("}");
    }

    fn kernel(&mut self, kernel: &Kernel) -> Result<(), Diagnostic> {
        self.line(&format!("struct {}_arguments lozenge_arguments;", kernel.name));
        self.line(&self.chip.arguments());
        self.line("const long lozenge_core = CORE_NUMBER;");
        for (name, scalar, dims) in &kernel.arrays {
            self.line(&format!("{} *const {name} = lozenge_arguments.{name};", c_type(*scalar)));
            let _ = dims;
        }
        for (name, scalar) in &kernel.scalars {
            self.line(&format!("const {} {name} = lozenge_arguments.{name};", c_type(*scalar)));
            self.scope.elems.insert(name.clone(), *scalar);
            self.scope.names.insert(name.clone(), Binding::Value(name.to_string()));
        }
        for name in &kernel.indices {
            self.line(&format!("const long {name} = lozenge_arguments.{name};"));
            self.scope.names.insert(name.clone(), Binding::Value(name.to_string()));
        }
        for (name, scalar, dims) in &kernel.arrays {
            let pitches = dims.iter().skip(1).map(|d| self.scope.text(d)).collect::<Result<Vec<_>, _>>()?;
            let pitches = pitches
                .into_iter()
                .map(|p| if p.chars().all(char::is_alphanumeric) { p } else { format!("({p})") })
                .collect();
            self.scope.elems.insert(name.clone(), *scalar);
            self.scope
                .names
                .insert(name.clone(), Binding::Linear { base: name.to_string(), pitches, elem: *scalar });
        }
        let mut replies = Vec::new();
        for stmt in kernel.body {
            stmt.walk(&mut |stmt| {
                if let Stmt::Copy(Copy { tag: Some(tag), .. }) = stmt
                    && !replies.contains(tag)
                {
                    replies.push(tag.clone());
                }
            });
        }
        for reply in &replies {
            self.line(&format!("int {reply}_sent = 0;"));
            self.line(&format!("{reply} = 0;"));
        }
        self.replies = replies;
        self.line("(void)lozenge_core;");
        self.phases(kernel.body, false)
    }

    /// Whether statements have loops over the cores.
    fn has_threads(body: &[Stmt]) -> bool {
        body.iter().any(|stmt| {
            let mut found = false;
            stmt.walk(&mut |s| found |= matches!(s, Stmt::Loop(Loop { kind: LoopKind::Parallel, .. })));
            found
        })
    }

    /// What all cores run in step: loops over the cores, with barriers between them.
    fn phases(&mut self, body: &[Stmt], repeated: bool) -> Result<(), Diagnostic> {
        for (k, stmt) in body.iter().enumerate() {
            match stmt {
                Stmt::Loop(l) if l.kind == LoopKind::Parallel => {
                    self.threads(l, 1)?;
                    if repeated || k + 1 < body.len() {
                        self.line(&self.chip.barrier());
                    }
                }
                Stmt::Loop(l) if Self::has_threads(&l.body) => {
                    let (lower, upper) = (self.scope.text(&l.lower)?, self.scope.text(&l.upper)?);
                    self.bind(&l.var);
                    self.open(&format!(
                        "for (long {0} = {lower}; {0} < {upper}; {0} += {1}) {{",
                        l.var, l.step
                    ));
                    self.phases(&l.body, true)?;
                    self.close();
                }
                Stmt::If { cond, then, otherwise }
                    if Self::has_threads(then) || Self::has_threads(otherwise) =>
                {
                    let cond = self.scope.text(cond)?;
                    self.open(&format!("if ({cond}) {{"));
                    let last = !repeated && k + 1 == body.len();
                    self.phases(then, !last)?;
                    self.close();
                    if !otherwise.is_empty() {
                        self.open("else {");
                        self.phases(otherwise, !last)?;
                        self.close();
                    }
                }
                Stmt::Block { body, .. } => self.phases(body, repeated)?,
                other => {
                    return Err(invalid(format!(
                        "a kernel has a statement outside of the loops over cores: {}",
                        other.headline()
                    )));
                }
            }
        }
        Ok(())
    }

    /// A loop over cores: this core's iteration.
    fn threads(&mut self, l: &Loop, stride: i64) -> Result<(), Diagnostic> {
        let Expr::Int(count) = l.upper else {
            return Err(invalid("a loop over cores without a constant end"));
        };
        self.bind(&l.var);
        if let [Stmt::Loop(inner)] = l.body.as_slice()
            && inner.kind == LoopKind::Parallel
            && let Expr::Int(columns) = inner.upper
        {
            self.bind(&inner.var);
            self.open("{");
            self.line(&format!(
                "const long {} = lozenge_core / {columns}, {} = lozenge_core % {columns};",
                l.var, inner.var
            ));
            self.line(&format!("(void){}; (void){};", l.var, inner.var));
            self.block(&inner.body)?;
            self.close();
            return Ok(());
        }
        let _ = (stride, count);
        self.open("{");
        self.line(&format!("const long {} = lozenge_core;", l.var));
        self.block(&l.body)?;
        self.close();
        Ok(())
    }

    fn bind(&mut self, var: &Name) {
        self.scope.names.insert(var.clone(), Binding::Value(var.to_string()));
    }

    fn block(&mut self, body: &[Stmt]) -> Result<(), Diagnostic> {
        let (next, scope) = (self.next, self.scope.clone());
        for stmt in body {
            self.stmt(stmt)?;
        }
        self.next = next;
        self.scope = scope;
        Ok(())
    }

    fn stmt(&mut self, stmt: &Stmt) -> Result<(), Diagnostic> {
        match stmt {
            Stmt::Local(local) => {
                let Elem::Scalar(elem) = local.elem else {
                    return Err(invalid("pairs are not for the cores"));
                };
                let mut most = elem.bytes() as i64;
                for dim in &local.dims {
                    let bound = bound(dim).ok_or_else(|| {
                        invalid(format!(
                            "the extent `{dim}` of the buffer `{}` has no constant bound",
                            local.name
                        ))
                    })?;
                    most = most.saturating_mul(bound.max(1));
                }
                let _ = Storage::Scratchpad;
                let (name, ty) = (&local.name, c_type(elem));
                self.line(&format!("{ty} *const {name} = ({ty} *)(lozenge_ldm + {});", self.next));
                let mut pitches = Vec::new();
                for (k, dim) in local.dims.iter().enumerate().skip(1) {
                    match dim {
                        Expr::Int(n) => pitches.push(n.to_string()),
                        dim => {
                            let dim = self.scope.text(dim)?;
                            self.line(&format!("const long pitch{k}_{name} = {dim};"));
                            pitches.push(format!("pitch{k}_{name}"));
                        }
                    }
                }
                self.next = self.next.saturating_add((most.saturating_add(63) / 64).saturating_mul(64));
                self.used = self.used.max(self.next);
                self.scope.elems.insert(name.clone(), elem);
                let binding = Binding::Linear { base: name.to_string(), pitches, elem };
                self.scope.names.insert(name.clone(), binding);
                Ok(())
            }
            Stmt::Copy(copy) => self.copy(copy),
            Stmt::Wait(tag) => {
                self.line(&self.chip.wait(tag));
                Ok(())
            }
            Stmt::Block { mark, body } => {
                let before = self.fresh.clone();
                if mark.is_none() {
                    self.fresh = used_once(body);
                }
                self.open("{");
                self.block(body)?;
                self.close();
                self.fresh = before;
                Ok(())
            }
            Stmt::If { cond, then, otherwise } => {
                let cond = self.scope.text(cond)?;
                self.open(&format!("if ({cond}) {{"));
                self.block(then)?;
                self.close();
                if !otherwise.is_empty() {
                    self.open("else {");
                    self.block(otherwise)?;
                    self.close();
                }
                Ok(())
            }
            Stmt::Assign(assign) => {
                let text = self.assignment(stmt)?;
                self.line(&text);
                let cost = cost::assignment(assign, None);
                self.line(&format!("emulated_compute({}, {});", cost.cycles() + 2.0, cost.operations));
                Ok(())
            }
            Stmt::Loop(l) => self.loop_(l),
        }
    }

    fn assignment(&self, stmt: &Stmt) -> Result<String, Diagnostic> {
        let Stmt::Assign(assign) = stmt else { return Err(invalid("not an assignment")) };
        let target = self.scope.access(&assign.target)?;
        let value = self.scope.expr(&assign.value)?;
        let value = match assign.update {
            None => value,
            Some(u) => {
                let integer = self.scope.elems.get(&assign.target.array).is_some_and(|e| e.is_int());
                super::expr::binary(u.op.binary(), target.clone(), value, integer)?
            }
        };
        Ok(format!("{} = {};", print(&target), print(&value)))
    }

    fn loop_(&mut self, l: &Loop) -> Result<(), Diagnostic> {
        if let Some(contraction) = contraction::find(&self.scope, l) {
            let mut scope = self.scope.clone();
            let fresh = self.fresh.clone();
            if let Some(lines) = contraction::code(&mut scope, &contraction, &fresh) {
                self.open("{");
                for line in &lines {
                    self.line(line);
                }
                self.close();
                return Ok(());
            }
        }
        let (lower, upper) = (self.scope.text(&l.lower)?, self.scope.text(&l.upper)?);
        let innermost = l.body.iter().all(|s| matches!(s, Stmt::Assign(_)));
        let scope = self.scope.clone();
        self.bind(&l.var);
        let var = &l.var;
        if !innermost {
            self.open(&format!("for (long {var} = {lower}; {var} < {upper}; {var} += {}) {{", l.step));
            self.block(&l.body)?;
            self.close();
            self.scope = scope;
            return Ok(());
        }
        self.open("{");
        self.line(&format!("long {var} = {lower};"));
        self.line(&format!("const long {var}_end = {upper}, {var}_all = LOZENGE_MAX(0, {var}_end - {var});"));
        let scalar = vector::scalar(l);
        let mut cycles = format!("{} * {var}_all", scalar.cycles() + LOOP);
        if l.kind == LoopKind::Vector
            && let Some((lines, vector)) = vector::body(&self.scope, l)?
        {
            self.open(&format!("for (; {var} + 3 < {var}_end; {var} += 4) {{"));
            for line in &lines {
                self.line(line);
            }
            self.close();
            cycles = format!(
                "{} * ({var}_all / 4) + {} * ({var}_all % 4)",
                vector.cycles() + LOOP,
                scalar.cycles() + LOOP
            );
        }
        self.open(&format!("for (; {var} < {var}_end; {var} += {}) {{", l.step));
        for stmt in &l.body {
            let text = self.assignment(stmt)?;
            self.line(&text);
        }
        self.close();
        let step = if l.step > 1 { format!(" / {}.0", l.step) } else { String::new() };
        self.line(&format!(
            "emulated_compute(({cycles}){step} + {LOOP}, {} * {var}_all{step});",
            scalar.operations
        ));
        self.close();
        self.scope = scope;
        Ok(())
    }

    /// A box as one strided transfer, or one for each plane beyond two dimensions.
    fn copy(&mut self, copy: &Copy) -> Result<(), Diagnostic> {
        let Some(tag) = &copy.tag else { return Err(invalid("a copy without a reply")) };
        let (memory, local) = match copy.kind {
            CopyKind::Get => (&copy.from, &copy.to),
            CopyKind::Put => (&copy.to, &copy.from),
        };
        let rank = copy.extents.len();
        let extents = copy.extents.iter().map(|e| self.scope.text(e)).collect::<Result<Vec<_>, _>>()?;
        let element = |scope: &Scope, access: &loops::Access| -> Result<String, Diagnostic> {
            Ok(format!("&{}", print(&scope.access(access)?)))
        };
        let verb = if copy.kind == CopyKind::Get { "get" } else { "put" };
        let Some(Binding::Linear { pitches, elem, .. }) = self.scope.names.get(&memory.array).cloned() else {
            return Err(invalid(format!("`{}` is not in main memory", memory.array)));
        };
        let bytes = elem.bytes();
        if rank <= 2 {
            let (rows, columns) = match rank {
                0 => ("1".to_owned(), "1".to_owned()),
                1 => ("1".to_owned(), extents[0].clone()),
                _ => (extents[0].clone(), extents[1].clone()),
            };
            let pitch = if rank == 2 { pitches[0].clone() } else { columns.clone() };
            let (local, memory) = (element(&self.scope, local)?, element(&self.scope, memory)?);
            self.line(&format!(
                "{tag}_sent += {verb}_box({local}, {memory}, {rows}, {columns}, {pitch}, {bytes}, &{tag});"
            ));
            return Ok(());
        }
        // Planes one after the other.
        let mut vars = Vec::new();
        let (mut local, mut memory) = (local.clone(), memory.clone());
        for (d, extent) in extents.iter().enumerate().take(rank - 2) {
            let var = Name::new(format!("{}_p{d}", local.array));
            self.bind(&var);
            self.open(&format!("for (long {var} = 0; {var} < {extent}; {var}++) {{"));
            for access in [&mut local, &mut memory] {
                let at = access.indices[d].clone();
                access.indices[d] =
                    if at == Expr::Int(0) { Expr::Var(var.clone()) } else { at + Expr::Var(var.clone()) };
            }
            vars.push(var);
        }
        let (local, memory) = (element(&self.scope, &local)?, element(&self.scope, &memory)?);
        let pitch = pitches[rank - 2].clone();
        self.line(&format!(
            "{tag}_sent += {verb}_box({local}, {memory}, {}, {}, {pitch}, {bytes}, &{tag});",
            extents[rank - 2],
            extents[rank - 1]
        ));
        for _ in vars {
            self.close();
        }
        Ok(())
    }
}

/// The buffers that a block declares for the one tile in it: brought in before it, not brought out, and used by nothing else.
fn used_once(body: &[Stmt]) -> Vec<Name> {
    let tiles = body.iter().filter(|s| matches!(s, Stmt::Block { mark: Some(_), .. })).count();
    let others = body.iter().any(|s| matches!(s, Stmt::Loop(_) | Stmt::If { .. } | Stmt::Assign(_)));
    let nested = body.iter().any(|s| matches!(s, Stmt::Block { mark: None, .. }));
    if tiles != 1 || others || nested {
        return Vec::new();
    }
    let out = |name: &Name| {
        body.iter().any(|s| matches!(s, Stmt::Copy(c) if c.kind == CopyKind::Put && c.from.array == *name))
    };
    let declared = body.iter().filter_map(|s| match s {
        Stmt::Local(local) => Some(&local.name),
        _ => None,
    });
    declared.filter(|name| !out(name)).cloned().collect()
}

/// A constant that an extent never exceeds.
fn bound(e: &Expr) -> Option<i64> {
    use loops::BinaryOp;
    match e {
        Expr::Int(n) => Some(*n),
        Expr::Binary(BinaryOp::Min, a, b) => match (bound(a), bound(b)) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (one, other) => one.or(other),
        },
        Expr::Binary(BinaryOp::Max, a, b) => Some(bound(a)?.max(bound(b)?)),
        Expr::Binary(BinaryOp::Add, a, b) => bound(a)?.checked_add(bound(b)?),
        _ => None,
    }
}
