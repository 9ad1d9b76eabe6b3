//! The textual form of programs: what [`crate::parse()`] reads back to the same value.
//!
//! ```text
//! fn gemm[n, m](a: in f32[n][m], c: inout f32[n][n]) where n >= 1 {
//!   par i in 0..n {
//!     for j in 0..n step 4 {
//!       S0: c[i][j] += a[i][0] * 2.0f32
//!     }
//!   }
//! }
//! ```
//!
//! A bare name in an expression is a scalar variable if an array of that name is in scope.
//! Otherwise it is a loop variable or size. If a program means the other, it is written `x[]` (the
//! scalar) or `var(x)`. Names that are not identifiers stand in backquotes. Expressions and
//! statements alone are printed for readers, without this distinction.

use std::fmt::{self, Display, Formatter, Write};

use crate::expr::{Expr, UnaryOp};
use crate::name::Name;
use crate::program::{
    Access, ArrayDecl, Assign, Component, Copy, CopyKind, Function, Loop, LoopKind, Program, Stmt, Storage,
};

/// Words that cannot be bare names. Words that have a meaning only where no name can stand are left
/// out.
pub(crate) const KEYWORDS: &[&str] = &[
    "bits_f32",
    "bits_f64",
    "bool",
    "call",
    "else",
    "extents",
    "f32",
    "f64",
    "false",
    "floordiv",
    "fn",
    "for",
    "get",
    "heap",
    "i32",
    "i64",
    "if",
    "inf_f32",
    "inf_f64",
    "local",
    "mark",
    "mod",
    "par",
    "put",
    "scratchpad",
    "stack",
    "tag",
    "true",
    "unroll",
    "var",
    "vec",
    "wait",
    "where",
];

/// How tightly comparisons bind; they do not associate.
pub(crate) const COMPARE: u8 = 3;
/// How tightly prefix operators bind.
pub(crate) const PREFIX: u8 = 6;

/// Which names stand for arrays, and which for loop variables and sizes, in the order of the text.
///
/// Printer and parser go through a program in the same order, so they agree on every bare name.
#[derive(Default)]
pub(crate) struct Scope {
    names: Vec<(Name, bool)>,
}

impl Scope {
    /// What to give to [`Scope::leave`] at the end of a block.
    pub(crate) fn enter(&self) -> usize {
        self.names.len()
    }

    pub(crate) fn leave(&mut self, mark: usize) {
        self.names.truncate(mark);
    }

    pub(crate) fn declare(&mut self, name: &Name, is_array: bool) {
        self.names.push((name.clone(), is_array));
    }

    /// Whether a bare `name` is a scalar variable.
    pub(crate) fn is_array(&self, name: &Name) -> bool {
        self.names.iter().rev().find(|(n, _)| n == name).is_some_and(|(_, is_array)| *is_array)
    }
}

/// Writes a name, in backquotes if it is not an identifier.
pub(crate) struct Ident<'a>(pub(crate) &'a str);

impl Display for Ident<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let text = self.0;
        let plain = text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
            && text.bytes().next().is_some_and(|b| !b.is_ascii_digit())
            && KEYWORDS.binary_search(&text).is_err();
        if plain {
            return f.write_str(text);
        }
        f.write_char('`')?;
        for c in text.chars() {
            match c {
                '`' | '\\' => write!(f, "\\{c}")?,
                c if c.is_control() => write!(f, "\\u{{{:x}}}", u32::from(c))?,
                c => f.write_char(c)?,
            }
        }
        f.write_char('`')
    }
}

pub(crate) struct Printer<'a, 'b> {
    pub(crate) out: &'a mut Formatter<'b>,
    /// None: printed alone, for readers.
    pub(crate) scope: Option<Scope>,
    pub(crate) indent: usize,
}

impl Printer<'_, '_> {
    pub(crate) fn line(&mut self) -> fmt::Result {
        self.out.write_char('\n')?;
        for _ in 0..self.indent {
            self.out.write_str("  ")?;
        }
        Ok(())
    }

    pub(crate) fn declare(&mut self, name: &Name, is_array: bool) {
        if let Some(scope) = &mut self.scope {
            scope.declare(name, is_array);
        }
    }

    pub(crate) fn enter(&self) -> usize {
        self.scope.as_ref().map_or(0, Scope::enter)
    }

    pub(crate) fn leave(&mut self, mark: usize) {
        if let Some(scope) = &mut self.scope {
            scope.leave(mark);
        }
    }

    pub(crate) fn list<T>(
        &mut self,
        items: &[T],
        mut each: impl FnMut(&mut Self, &T) -> fmt::Result,
    ) -> fmt::Result {
        for (k, item) in items.iter().enumerate() {
            if k > 0 {
                self.out.write_str(", ")?;
            }
            each(self, item)?;
        }
        Ok(())
    }

    fn function(&mut self, function: &Function) -> fmt::Result {
        let mark = self.enter();
        self.out.write_str("fn ")?;
        self.head(function)?;
        self.block(&function.body)?;
        self.leave(mark);
        Ok(())
    }

    /// Name, sizes, parameters and assumptions, which are declared from then on.
    pub(crate) fn head(&mut self, function: &Function) -> fmt::Result {
        write!(self.out, "{}", Ident(&function.name))?;
        if !function.sizes.is_empty() {
            self.out.write_char('[')?;
            self.list(&function.sizes, |p, size| {
                p.declare(size, false);
                write!(p.out, "{}", Ident(size))
            })?;
            self.out.write_char(']')?;
        }
        self.out.write_char('(')?;
        self.list(&function.params, |p, param| {
            write!(p.out, "{}: {} {}", Ident(&param.name), param.mode.keyword(), param.elem)?;
            p.brackets(&param.dims)?;
            p.declare(&param.name, true);
            Ok(())
        })?;
        self.out.write_char(')')?;
        if !function.assumptions.is_empty() {
            self.out.write_str(" where ")?;
            self.list(&function.assumptions, |p, e| p.expr(e, 0))?;
        }
        self.out.write_char(' ')
    }

    pub(crate) fn brackets(&mut self, indices: &[Expr]) -> fmt::Result {
        for index in indices {
            self.out.write_char('[')?;
            self.expr(index, 0)?;
            self.out.write_char(']')?;
        }
        Ok(())
    }

    pub(crate) fn block(&mut self, body: &[Stmt]) -> fmt::Result {
        if body.is_empty() {
            return self.out.write_str("{}");
        }
        let mark = self.enter();
        self.out.write_char('{')?;
        self.indent += 1;
        for stmt in body {
            self.line()?;
            self.stmt(stmt)?;
        }
        self.indent -= 1;
        self.line()?;
        self.leave(mark);
        self.out.write_char('}')
    }

    fn stmt(&mut self, stmt: &Stmt) -> fmt::Result {
        match stmt {
            Stmt::Assign(assign) => self.assign(assign),
            Stmt::Loop(l) => {
                self.loop_header(l)?;
                self.out.write_char(' ')?;
                let mark = self.enter();
                self.declare(&l.var, false);
                self.block(&l.body)?;
                self.leave(mark);
                Ok(())
            }
            Stmt::If { cond, then, otherwise } => self.conditional(cond, then, otherwise),
            Stmt::Local(local) => self.local(local),
            Stmt::Block { mark, body } => {
                if let Some(mark) = mark {
                    write!(self.out, "mark {} ", Ident(mark))?;
                }
                self.block(body)
            }
            Stmt::Copy(copy) => self.copy(copy),
            Stmt::Wait(tag) => write!(self.out, "wait {}", Ident(tag)),
        }
    }

    fn conditional<'s>(
        &mut self,
        mut cond: &'s Expr,
        mut then: &'s [Stmt],
        mut otherwise: &'s [Stmt],
    ) -> fmt::Result {
        loop {
            self.out.write_str("if ")?;
            self.expr(cond, 0)?;
            self.out.write_char(' ')?;
            self.block(then)?;
            match otherwise {
                [] => return Ok(()),
                [Stmt::If { cond: c, then: t, otherwise: o }] => {
                    self.out.write_str(" else ")?;
                    (cond, then, otherwise) = (c, t, o);
                }
                _ => {
                    self.out.write_str(" else ")?;
                    return self.block(otherwise);
                }
            }
        }
    }

    fn assign(&mut self, assign: &Assign) -> fmt::Result {
        if let Some(label) = &assign.label {
            write!(self.out, "{}: ", Ident(label))?;
        }
        self.access(&assign.target)?;
        match assign.update {
            None => self.out.write_str(" = ")?,
            Some(update) => {
                let reduce = if update.reorder { "reduce " } else { "" };
                write!(self.out, " {reduce}{}= ", update.op.symbol())?;
            }
        }
        self.expr(&assign.value, 0)
    }

    fn loop_header(&mut self, l: &Loop) -> fmt::Result {
        match l.kind {
            LoopKind::Sequential => self.out.write_str("for")?,
            LoopKind::Parallel => self.out.write_str("par")?,
            LoopKind::Vector => self.out.write_str("vec")?,
            LoopKind::Unroll(None) => self.out.write_str("unroll")?,
            LoopKind::Unroll(Some(factor)) => write!(self.out, "unroll({factor})")?,
        }
        write!(self.out, " {} in ", Ident(&l.var))?;
        self.expr(&l.lower, 0)?;
        self.out.write_str("..")?;
        self.expr(&l.upper, 0)?;
        if l.step != 1 {
            write!(self.out, " step {}", l.step)?;
        }
        if !l.reductions.is_empty() {
            self.out.write_str(" reduce(")?;
            self.list(&l.reductions, |p, (op, name)| write!(p.out, "{}: {}", op.symbol(), Ident(name)))?;
            self.out.write_char(')')?;
        }
        Ok(())
    }

    fn local(&mut self, local: &ArrayDecl) -> fmt::Result {
        write!(self.out, "local {}: {}", Ident(&local.name), local.elem)?;
        self.brackets(&local.dims)?;
        self.out.write_str(match local.storage {
            Storage::Auto => "",
            Storage::Stack => " stack",
            Storage::Heap => " heap",
            Storage::Scratchpad => " scratchpad",
        })?;
        self.declare(&local.name, true);
        Ok(())
    }

    fn copy(&mut self, copy: &Copy) -> fmt::Result {
        self.out.write_str(match copy.kind {
            CopyKind::Get => "get ",
            CopyKind::Put => "put ",
        })?;
        self.access(&copy.from)?;
        self.out.write_str(" -> ")?;
        self.access(&copy.to)?;
        if !copy.extents.is_empty() {
            self.out.write_str(" extents ")?;
            self.brackets(&copy.extents)?;
        }
        match &copy.tag {
            Some(tag) => write!(self.out, " tag {}", Ident(tag)),
            None => Ok(()),
        }
    }

    fn access(&mut self, access: &Access) -> fmt::Result {
        write!(self.out, "{}", Ident(&access.array))?;
        self.brackets(&access.indices)?;
        for component in &access.path {
            self.out.write_str(match component {
                Component::First => ".x1",
                Component::Second => ".x2",
            })?;
        }
        Ok(())
    }

    pub(crate) fn expr(&mut self, expr: &Expr, level: u8) -> fmt::Result {
        match expr {
            Expr::Int(value) => write!(self.out, "{value}"),
            Expr::I32(value) => write!(self.out, "{value}i32"),
            Expr::F32(bits) => float(self.out, f64::from(bits.value()), Some(bits.value())),
            Expr::F64(bits) => float(self.out, bits.value(), None),
            Expr::Bool(value) => write!(self.out, "{value}"),
            Expr::Var(name) => {
                if self.scope.as_ref().is_some_and(|s| s.is_array(name)) {
                    write!(self.out, "var({})", Ident(name))
                } else {
                    write!(self.out, "{}", Ident(name))
                }
            }
            Expr::Load(access) => {
                let bare = access.indices.is_empty() && access.path.is_empty();
                if bare && self.scope.as_ref().is_some_and(|s| !s.is_array(&access.array)) {
                    return write!(self.out, "{}[]", Ident(&access.array));
                }
                self.access(access)
            }
            Expr::Unary(op @ (UnaryOp::Neg | UnaryOp::Not), operand) => {
                // A minus before a number is part of the number, so a negated number needs
                // parentheses.
                let number = *op == UnaryOp::Neg && is_unsigned_number(operand);
                self.grouped(PREFIX < level, |p| {
                    p.out.write_str(op.symbol())?;
                    p.grouped(number, |p| p.expr(operand, if number { 0 } else { PREFIX }))
                })
            }
            Expr::Unary(op, operand) => self.call(op.symbol(), &[operand]),
            Expr::Binary(op, left, right) => match op.precedence() {
                Some(own) => self.grouped(own < level, |p| {
                    p.expr(left, own)?;
                    write!(p.out, " {} ", op.symbol())?;
                    p.expr(right, own + 1)
                }),
                None => self.call(op.symbol(), &[left, right]),
            },
            Expr::Compare(op, left, right) => self.grouped(COMPARE < level, |p| {
                p.expr(left, COMPARE + 1)?;
                write!(p.out, " {} ", op.symbol())?;
                p.expr(right, COMPARE + 1)
            }),
            Expr::Select(cond, then, otherwise) => self.call("select", &[cond, then, otherwise]),
            Expr::Cast(scalar, operand) => self.call(scalar.keyword(), &[operand]),
            Expr::Call { function, ty, args } => {
                write!(self.out, "call {ty} {}(", Ident(function))?;
                self.list(args, |p, arg| p.expr(arg, 0))?;
                self.out.write_char(')')
            }
        }
    }

    fn grouped(&mut self, parens: bool, inner: impl FnOnce(&mut Self) -> fmt::Result) -> fmt::Result {
        if parens {
            self.out.write_char('(')?;
        }
        inner(self)?;
        if parens {
            self.out.write_char(')')?;
        }
        Ok(())
    }

    fn call(&mut self, function: &str, args: &[&Expr]) -> fmt::Result {
        write!(self.out, "{function}(")?;
        self.list(args, |p, arg| p.expr(arg, 0))?;
        self.out.write_char(')')
    }
}

/// Whether the text of the expression is a number without a sign.
fn is_unsigned_number(expr: &Expr) -> bool {
    match expr {
        Expr::Int(value) => *value >= 0,
        Expr::I32(value) => *value >= 0,
        Expr::F32(bits) => !bits.value().is_nan() && bits.value().is_sign_positive(),
        Expr::F64(bits) => !bits.value().is_nan() && bits.value().is_sign_positive(),
        _ => false,
    }
}

/// The shortest text that reads back to the same bits.
fn float(f: &mut Formatter<'_>, value: f64, single: Option<f32>) -> fmt::Result {
    let sign = if value < 0.0 { "-" } else { "" };
    match single {
        Some(single) if single.is_nan() => write!(f, "bits_f32({:#x})", single.to_bits()),
        None if value.is_nan() => write!(f, "bits_f64({:#x})", value.to_bits()),
        Some(_) if value.is_infinite() => write!(f, "{sign}inf_f32"),
        None if value.is_infinite() => write!(f, "{sign}inf_f64"),
        Some(single) => write!(f, "{single:?}f32"),
        None => write!(f, "{value:?}"),
    }
}

impl Display for Program {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        for (k, function) in self.functions.iter().enumerate() {
            if k > 0 {
                f.write_char('\n')?;
            }
            writeln!(f, "{function}")?;
        }
        Ok(())
    }
}

impl Display for Function {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        Printer { out: f, scope: Some(Scope::default()), indent: 0 }.function(self)
    }
}

impl Display for Stmt {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        Printer { out: f, scope: None, indent: 0 }.stmt(self)
    }
}

impl Display for Assign {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        Printer { out: f, scope: None, indent: 0 }.assign(self)
    }
}

impl Loop {
    /// The loop without its body, as it is printed.
    pub fn header(&self) -> String {
        struct Header<'a>(&'a Loop);
        impl Display for Header<'_> {
            fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
                Printer { out: f, scope: None, indent: 0 }.loop_header(self.0)
            }
        }
        Header(self).to_string()
    }
}

impl Stmt {
    /// The statement on one line without the statements inside it, shortened if it is long. For
    /// messages.
    pub fn headline(&self) -> String {
        let mut text = match self {
            Stmt::Loop(l) => l.header(),
            Stmt::If { cond, .. } => format!("if {cond}"),
            Stmt::Block { mark: Some(mark), .. } => format!("mark {}", Ident(mark)),
            Stmt::Block { mark: None, .. } => "{".to_owned(),
            other => other.to_string(),
        };
        if let Some((cut, _)) = text.char_indices().nth(120) {
            text.truncate(cut);
            text.push('…');
        }
        text
    }
}

impl Display for Access {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        Printer { out: f, scope: None, indent: 0 }.access(self)
    }
}

impl Display for Expr {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        Printer { out: f, scope: None, indent: 0 }.expr(self, 0)
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn keywords_are_sorted() {
        assert!(super::KEYWORDS.is_sorted());
    }
}
