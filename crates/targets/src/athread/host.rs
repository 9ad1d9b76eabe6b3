//! The host side: statements that stay, and spawns.

use std::collections::{BTreeMap, BTreeSet};

use loops::visit::nodes;
use loops::{Diagnostic, Elem, Expr, Function, Name, ParamMode, Stmt};

use super::expr::{Binding, HOOKS, Scope, c_type, invalid, print};
use super::kernel::{self, Kernel};
use crate::c::CExpr;
use crate::openmp::types::{Structs, elem_type};
use crate::openmp::{overflow_tests, scalars};

/// What a function returns if the sizes are such that a transfer cannot say them; 1 is no memory, 2
/// a broken assumption.
const FIELD_OVERFLOW: &str = "3";

/// How a program's line on the standard error ends if it stops for that reason.
pub const TOO_FAR: &str = "more than the 32 bits for the gap between blocks of a transfer can say";

/// How the C around a region writes the names of the hub; arrays that are not here have their own
/// name and are pointers.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct HostNames {
    /// C of each size, where it is not the name itself.
    pub sizes: BTreeMap<Name, String>,
    /// C name of each array or scalar, and whether its elements are written with a subscript a
    /// dimension.
    pub arrays: BTreeMap<Name, (String, bool)>,
    /// What every line begins with.
    pub indent: String,
}

/// Names that kernels use.
fn on_cores(body: &[Stmt]) -> BTreeSet<Name> {
    let mut found = BTreeSet::new();
    for s in nodes(body) {
        if let Stmt::Block { mark: Some(mark), body } = s
            && mark.as_str() == kernel::KERNEL
        {
            found.append(&mut loops::visit::names(body));
        }
    }
    found
}

/// What only the emulator knows of arrays that are no results.
const WORKSPACE: &str = "#ifndef ATHREAD_EMULATOR\n#define emulated_workspace(p) ((void)0)\n#endif\n";

/// Local arrays that nothing but the cores uses.
fn workspaces(function: &Function) -> BTreeSet<Name> {
    fn look(body: &[Stmt], locals: &mut BTreeSet<Name>, used: &mut BTreeSet<Name>) {
        for stmt in body {
            match stmt {
                Stmt::Block { mark: Some(mark), .. } if mark.as_str() == kernel::KERNEL => continue,
                Stmt::Local(local) => {
                    locals.insert(local.name.clone());
                }
                Stmt::Assign(assign) => {
                    used.insert(assign.target.array.clone());
                }
                Stmt::Block { body, .. } => look(body, locals, used),
                Stmt::Loop(l) => look(&l.body, locals, used),
                Stmt::If { then, otherwise, .. } => {
                    look(then, locals, used);
                    look(otherwise, locals, used);
                }
                _ => {}
            }
            for expr in stmt.exprs() {
                used.extend(expr.arrays());
            }
        }
    }
    let (mut locals, mut used) = (BTreeSet::new(), BTreeSet::new());
    look(&function.body, &mut locals, &mut used);
    locals.difference(&used).cloned().collect()
}

/// The statements that take the place of a region.
pub(super) fn region(function: &Function, names: &HostNames, threads: i64) -> Result<String, Diagnostic> {
    let mut host = Host::new(function, names, threads)?;
    host.open("{");
    host.locals_and_body(&function.body)?;
    host.close();
    Ok(host.out)
}

/// Declarations that the host file needs before the first region, where this text follows.
pub(super) fn preamble(functions: &[&Function], header: &str, body: &str) -> Result<String, Diagnostic> {
    let called = scalars::definitions(body);
    let types = if called.is_empty() { "" } else { "#include <stdint.h>\n" };
    let mut text = format!(
        "{types}#include <athread.h>\n#include <stdlib.h>\n#include <stdio.h>\n#include \"{header}\"\n{HOOKS}{}{called}",
        scalars::macros()
    );
    if functions.iter().any(|function| !workspaces(function).is_empty()) {
        text.push_str(WORKSPACE);
    }
    for function in functions {
        for kernel in kernel::kernels(function)? {
            text.push_str(&format!("extern void SLAVE_FUN({0})(struct {0}_arguments *);\n", kernel.name));
        }
    }
    Ok(text)
}

/// A host file with a function for each of a program.
pub(super) fn file(functions: &[&Function], header: &str, threads: i64) -> Result<String, Diagnostic> {
    let mut text = String::new();
    let mut structs = Structs::default();
    functions.iter().flat_map(|f| &f.params).for_each(|param| structs.add(&param.elem));
    structs.definitions().for_each(|definition| text.push_str(&format!("\n{definition}")));
    for function in functions {
        let mut params: Vec<String> = function.sizes.iter().map(|s| format!("int64_t {s}")).collect();
        for param in &function.params {
            let (ty, name) = (elem_type(&param.elem), &param.name);
            let ty = if ty == "bool" { "_Bool" } else { &ty };
            params.push(match (param.dims.is_empty(), param.mode) {
                (true, ParamMode::In) => format!("{ty} {name}"),
                (false, ParamMode::In) => format!("const {ty} *restrict {name}"),
                _ => format!("{ty} *restrict {name}"),
            });
        }
        let names = HostNames::default();
        let mut host = Host::new(function, &names, threads)?;
        for assumption in &function.assumptions {
            let condition = host.scope.text(assumption)?;
            host.line(&format!("if (!({condition}))"));
            host.line("  return 2;");
        }
        for (op, a, b) in overflow_tests::operations(function)? {
            let operands = vec![host.scope.expr(&a)?, host.scope.expr(&b)?];
            host.line(&format!("if ({})", print(&CExpr::call(overflow_tests::helper(op).1, operands))));
            host.line("  return 2;");
        }
        host.returns = true;
        host.locals_and_body(&function.body)?;
        host.line("return 0;");
        let params = if params.is_empty() { "void".to_owned() } else { params.join(", ") };
        text.push_str(&format!("\nint {}({params})\n{{\n{}}}\n", function.name, host.out));
    }
    let before = preamble(functions, header, &text)?;
    Ok(format!("#include <stdbool.h>\n#include <stdint.h>\n#include <math.h>\n{before}{text}"))
}

fn host_type(scalar: loops::Scalar) -> &'static str {
    match scalar {
        loops::Scalar::I32 => "int32_t",
        loops::Scalar::I64 => "int64_t",
        other => c_type(other),
    }
}

struct Host<'a> {
    kernels: Vec<Kernel<'a>>,
    next: usize,
    names: &'a HostNames,
    threads: i64,
    scope: Scope,
    out: String,
    depth: usize,
    /// Arrays that only the cores use.
    workspaces: BTreeSet<Name>,
    /// Names that kernels use.
    on_cores: BTreeSet<Name>,
    /// Arrays that are freed at the end.
    allocated: Vec<String>,
    /// Whether running out of memory is told by a result rather than by ending the program.
    returns: bool,
}

impl<'a> Host<'a> {
    fn new(function: &'a Function, names: &'a HostNames, threads: i64) -> Result<Host<'a>, Diagnostic> {
        let mut scope = Scope::default();
        for size in &function.sizes {
            let text = names.sizes.get(size).cloned().unwrap_or_else(|| size.to_string());
            let text = if text.chars().all(|c| c.is_alphanumeric() || c == '_') {
                text
            } else {
                format!("({text})")
            };
            scope.names.insert(size.clone(), Binding::Value(text));
        }
        for param in &function.params {
            let (name, nested) =
                names.arrays.get(&param.name).cloned().unwrap_or((param.name.to_string(), false));
            let binding = if param.dims.is_empty() {
                match names.arrays.contains_key(&param.name) || param.mode == ParamMode::In {
                    true => Binding::Value(name),
                    false => Binding::Pointee(name),
                }
            } else if nested {
                Binding::Nested(name)
            } else {
                let pitches = param.dims.iter().skip(1).map(|d| Ok(format!("({})", scope.text(d)?)));
                let pitches = pitches.collect::<Result<_, Diagnostic>>()?;
                match param.elem {
                    Elem::Scalar(elem) => Binding::Linear { base: name, pitches, elem },
                    Elem::Pair(..) => Binding::Pairs { base: name, pitches },
                }
            };
            if let Elem::Scalar(elem) = param.elem {
                scope.elems.insert(param.name.clone(), elem);
            }
            scope.names.insert(param.name.clone(), binding);
        }
        let depth = if names.indent.is_empty() { 1 } else { 0 };
        let kernels = kernel::kernels(function)?;
        Ok(Host {
            kernels,
            next: 0,
            names,
            threads,
            scope,
            out: String::new(),
            depth,
            workspaces: workspaces(function),
            on_cores: on_cores(&function.body),
            allocated: vec![],
            returns: false,
        })
    }

    fn line(&mut self, text: &str) {
        self.out.push_str(&self.names.indent);
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

    fn locals_and_body(&mut self, body: &[Stmt]) -> Result<(), Diagnostic> {
        for stmt in body {
            self.stmt(stmt)?;
        }
        self.free_from(0);
        Ok(())
    }

    /// Frees what was allocated since there were so many.
    fn free_from(&mut self, before: usize) {
        for name in self.allocated.split_off(before) {
            self.line(&format!("free({name});"));
        }
    }

    /// Statements with arrays of their own.
    fn branch(&mut self, body: &[Stmt]) -> Result<(), Diagnostic> {
        let before = self.allocated.len();
        for stmt in body {
            self.stmt(stmt)?;
        }
        self.free_from(before);
        Ok(())
    }

    fn stmt(&mut self, stmt: &Stmt) -> Result<(), Diagnostic> {
        match stmt {
            Stmt::Local(local) => {
                let Elem::Scalar(elem) = local.elem else {
                    return Err(invalid("pairs are not for the cores"));
                };
                let (ty, name) = (host_type(elem), local.name.to_string());
                // Transfers go to memory that has an address for the cores; what the host alone has
                // is a variable.
                if local.dims.is_empty() && !self.on_cores.contains(&local.name) {
                    self.line(&format!("{ty} {name};"));
                    self.scope.elems.insert(local.name.clone(), elem);
                    self.scope.names.insert(local.name.clone(), Binding::Value(name));
                    return Ok(());
                }
                let mut count = String::from("1");
                for dim in &local.dims {
                    let dim = self.scope.text(dim)?;
                    count.push_str(&format!(" * (size_t)LOZENGE_MAX(1, {dim})"));
                }
                self.line(&format!("{ty} *{name} = malloc({count} * sizeof(*{name}));"));
                self.open(&format!("if ({name} == NULL) {{"));
                if !self.returns {
                    self.line("fputs(\"no memory\\n\", stderr);");
                }
                self.leave("1", "1");
                self.close();
                self.allocated.push(name.clone());
                let pitches = local.dims.iter().skip(1).map(|d| Ok(format!("({})", self.scope.text(d)?)));
                let binding = match local.dims.is_empty() {
                    true => Binding::Pointee(name),
                    false => Binding::Linear {
                        base: name,
                        pitches: pitches.collect::<Result<_, Diagnostic>>()?,
                        elem,
                    },
                };
                self.scope.elems.insert(local.name.clone(), elem);
                self.scope.names.insert(local.name.clone(), binding);
                Ok(())
            }
            Stmt::Block { mark: Some(mark), .. } if mark.as_str() == kernel::KERNEL => self.spawn(),
            Stmt::Block { body, .. } => {
                for stmt in body {
                    self.stmt(stmt)?;
                }
                Ok(())
            }
            Stmt::If { cond, then, otherwise } => {
                let cond = self.scope.text(cond)?;
                self.open(&format!("if ({cond}) {{"));
                self.branch(then)?;
                self.close();
                if !otherwise.is_empty() {
                    self.open("else {");
                    self.branch(otherwise)?;
                    self.close();
                }
                Ok(())
            }
            Stmt::Loop(l) => {
                let (lower, upper) = (self.scope.text(&l.lower)?, self.scope.text(&l.upper)?);
                self.scope.names.insert(l.var.clone(), Binding::Value(l.var.to_string()));
                self.open(&format!("for (long {0} = {lower}; {0} < {upper}; {0} += {1}) {{", l.var, l.step));
                self.branch(&l.body)?;
                self.close();
                Ok(())
            }
            Stmt::Assign(assign) => {
                let target = self.scope.access(&assign.target)?;
                let value = self.scope.expr(&assign.value)?;
                let value = match assign.update {
                    None => value,
                    Some(u) => {
                        let ty =
                            self.scope.elems.get(&assign.target.array).copied().unwrap_or(loops::Scalar::F64);
                        crate::openmp::scalars::binary(u.op.binary(), target.clone(), value, ty)
                    }
                };
                self.line(&format!("{} = {};", print(&target), print(&value)));
                Ok(())
            }
            Stmt::Copy(_) | Stmt::Wait(_) => Err(invalid("a transfer on the host")),
        }
    }

    /// Ends the program where the bytes between rows do not fit in the field of a transfer. Lengths
    /// and blocks fit wherever local memory is large enough.
    fn fields(&mut self, number: usize) -> Result<(), Diagnostic> {
        let mut checks = Vec::new();
        for (array, elem, dims) in &self.kernels[number].arrays {
            let [.., rows, row] = dims.as_slice() else { continue };
            // Where it is known, the mapping has looked at it.
            if matches!(row, Expr::Int(_)) {
                continue;
            }
            checks.push((array.to_string(), elem.bytes(), self.scope.text(rows)?, self.scope.text(row)?));
        }
        let kernel = self.kernels[number].name.clone();
        for (array, bytes, rows, row) in checks {
            self.open(&format!("if ((long)({row}) > {} / {bytes} && (long)({rows}) > 1) {{", i32::MAX));
            self.line(&format!(
                "fprintf(stderr, \"{kernel}: rows of `{array}` are %ld bytes apart, {TOO_FAR}\\n\", (long)({row}) * {bytes});"
            ));
            self.leave(FIELD_OVERFLOW, "1");
            self.close();
        }
        Ok(())
    }

    /// Gives back what is allocated and ends: the function with a result, or the program.
    fn leave(&mut self, result: &str, status: &str) {
        if self.returns {
            for name in self.allocated.clone() {
                self.line(&format!("free({name});"));
            }
            self.line(&format!("return {result};"));
        } else {
            self.line(&format!("exit({status});"));
        }
    }

    fn spawn(&mut self) -> Result<(), Diagnostic> {
        let number = self.next;
        self.next += 1;
        let name = self.kernels[number].name.clone();
        self.fields(number)?;
        let kernel = &self.kernels[number];
        let mut lines = Vec::new();
        let scope = &self.scope;
        lines.push(format!("static struct {name}_arguments arguments;"));
        for (array, elem, dims) in &kernel.arrays {
            let base = match scope.names.get(array) {
                Some(Binding::Nested(c)) => format!("({} *){c}", c_type(*elem)),
                Some(Binding::Linear { base, .. }) => format!("({} *){base}", c_type(*elem)),
                Some(Binding::Pointee(c)) => format!("({} *){c}", c_type(*elem)),
                Some(Binding::Value(c)) => format!("({} *)&{c}", c_type(*elem)),
                Some(Binding::Pairs { .. }) => return Err(invalid(format!("`{array}` has pairs"))),
                None => return Err(invalid(format!("`{array}` is not declared on the host"))),
            };
            if let (Some(Binding::Nested(c)), true) = (scope.names.get(array), dims.len() > 1) {
                let ty = c_type(*elem);
                lines.push(format!(
                    "_Static_assert(_Generic(&{c}[0], {ty} **: 0, const {ty} **: 0, default: 1), \"rows of {c} are apart\");"
                ));
            }
            let mut bytes = format!("sizeof({})", c_type(*elem));
            for dim in dims {
                bytes.push_str(&format!(" * (size_t)LOZENGE_MAX(0, {})", scope.text(dim)?));
            }
            lines.push(format!("arguments.{array} = {base};"));
            lines.push(format!("emulated_array(\"{array}\", arguments.{array}, {bytes}, {});", elem.bytes()));
            if self.workspaces.contains(array) {
                lines.push(format!("emulated_workspace(arguments.{array});"));
            }
        }
        for (scalar, _) in &kernel.scalars {
            let value = scope.expr(&Expr::Load(loops::Access::scalar(scalar.clone())))?;
            lines.push(format!("arguments.{scalar} = {};", print(&value)));
        }
        for index in &kernel.indices {
            let value = scope.text(&Expr::Var(index.clone()))?;
            lines.push(format!("arguments.{index} = {value};"));
        }
        lines.push("emulated_array(\"arguments\", &arguments, sizeof arguments, 4);".to_owned());
        lines.push("athread_init();".to_owned());
        // Whoever spawned before may have asked for another number.
        lines.push(format!("athread_set_num_threads({});", self.threads));
        lines.push(format!("athread_spawn({name}, &arguments);"));
        lines.push("athread_join();".to_owned());
        self.open("{");
        for line in lines {
            self.line(&line);
        }
        self.close();
        Ok(())
    }
}
