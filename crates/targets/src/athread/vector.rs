//! Innermost loops as vectors of four: `doublev4` and `floatv4`.
//!
//! A loop is one if all its statements are assignments to elements that follow each other, of values made of elements that follow each other, of
//! elements that stay, and of sums, differences and products. Addresses in local memory need not be aligned, so the forms for any address are used.

use loops::{Access, Assign, BinaryOp, Diagnostic, Expr, Loop, Name, ReduceOp, Scalar, Stmt};

use super::cost::{self, Cost};
use super::expr::{Binding, Scope, print};

/// Slots of the memory pipeline for a vector at any address.
const UNALIGNED: f64 = 2.0;

/// The body of the vector loop as lines, and its cost; none if the loop is not one for vectors.
pub(super) fn body(scope: &Scope, l: &Loop) -> Result<Option<(Vec<String>, Cost)>, Diagnostic> {
    if l.step != 1 {
        return Ok(None);
    }
    let mut lines = Vec::new();
    let mut total = Cost::default();
    let mut vector = Vector::new(scope, &l.var, &mut lines, &mut total);
    for stmt in &l.body {
        let Stmt::Assign(assign) = stmt else { return Ok(None) };
        if !vector.assign(assign)? {
            return Ok(None);
        }
    }
    Ok(Some((lines, total)))
}

/// The terms of sums whose elements follow each other with a loop, as lines, and their cost: `sums` are the elements, each with the register that it is in
/// and the value that it gets. None if a value is not one of vectors.
pub(super) fn terms(
    scope: &Scope,
    var: &Name,
    sums: &[(Access, String, Expr)],
) -> Result<Option<(Vec<String>, Cost)>, Diagnostic> {
    let (mut lines, mut total) = (Vec::new(), Cost::default());
    let mut vector = Vector::new(scope, var, &mut lines, &mut total);
    vector.once = true;
    vector.registers = sums.iter().map(|(sum, register, _)| (sum.clone(), register.clone())).collect();
    for (sum, register, value) in sums {
        let Some(elem) = vector.elem(&sum.array) else { return Ok(None) };
        if !vector.of_type(elem) || stride(sum, var) != Stride::Follows {
            return Ok(None);
        }
        let Some(value) = vector.value(value)? else { return Ok(None) };
        vector.lines.push(format!("{register} = {value};"));
    }
    Ok(Some((lines, total)))
}

struct Vector<'a> {
    scope: &'a Scope,
    var: &'a Name,
    lines: &'a mut Vec<String>,
    cost: &'a mut Cost,
    next: usize,
    ty: Option<Scalar>,
    /// Elements that are in registers.
    registers: Vec<(Access, String)>,
    /// Whether what stays is loaded once for all values, and what was.
    once: bool,
    loaded: Vec<(String, String)>,
}

impl<'a> Vector<'a> {
    fn new(scope: &'a Scope, var: &'a Name, lines: &'a mut Vec<String>, cost: &'a mut Cost) -> Vector<'a> {
        let (registers, loaded) = (Vec::new(), Vec::new());
        Vector { scope, var, lines, cost, next: 0, ty: None, registers, once: false, loaded }
    }
}

/// How an access moves with the loop.
#[derive(PartialEq, Eq)]
pub(super) enum Stride {
    Stays,
    Follows,
    Other,
}

/// How an access moves with a loop.
pub(super) fn stride(access: &Access, var: &Name) -> Stride {
    let Some((last, outer)) = access.indices.split_last() else { return Stride::Stays };
    if outer.iter().any(|e| e.vars().contains(var)) {
        return Stride::Other;
    }
    if !last.vars().contains(var) {
        return Stride::Stays;
    }
    // `var + something without it`: the difference of two neighbours is one.
    fn unit(e: &Expr, var: &Name) -> bool {
        match e {
            Expr::Var(name) => name == var,
            Expr::Binary(BinaryOp::Add, a, b) => {
                let (x, y) = (a.vars().contains(var), b.vars().contains(var));
                x != y && if x { unit(a, var) } else { unit(b, var) }
            }
            Expr::Binary(BinaryOp::Sub, a, b) => !b.vars().contains(var) && unit(a, var),
            _ => false,
        }
    }
    if unit(last, var) { Stride::Follows } else { Stride::Other }
}

impl Vector<'_> {
    fn fresh(&mut self) -> String {
        let name = format!("v{}", self.next);
        self.next += 1;
        name
    }

    fn vector_type(&self) -> &'static str {
        if self.ty == Some(Scalar::F32) { "floatv4" } else { "doublev4" }
    }

    /// All vectors of a loop have one type.
    fn of_type(&mut self, scalar: Scalar) -> bool {
        if !scalar.is_float() {
            return false;
        }
        *self.ty.get_or_insert(scalar) == scalar
    }

    fn elem(&self, array: &Name) -> Option<Scalar> {
        match self.scope.names.get(array) {
            Some(Binding::Linear { elem, .. }) => Some(*elem),
            _ => None,
        }
    }

    fn assign(&mut self, assign: &Assign) -> Result<bool, Diagnostic> {
        let Some(elem) = self.elem(&assign.target.array) else { return Ok(false) };
        if !self.of_type(elem) || stride(&assign.target, self.var) != Stride::Follows {
            return Ok(false);
        }
        // What is written may be read in other elements only if these do not move with it.
        let mut clash = false;
        assign.value.walk(&mut |e| {
            clash |= matches!(e, Expr::Load(a) if a.array == assign.target.array && *a != assign.target);
        });
        if clash {
            return Ok(false);
        }
        let address = format!("&{}", print(&self.scope.access(&assign.target)?));
        let value = match assign.update.map(|u| u.op) {
            None => self.value(&assign.value)?,
            Some(op @ (ReduceOp::Add | ReduceOp::Mul)) => {
                let op = if op == ReduceOp::Add { BinaryOp::Add } else { BinaryOp::Mul };
                self.value(&Expr::binary(op, Expr::Load(assign.target.clone()), assign.value.clone()))?
            }
            Some(_) => None,
        };
        let Some(value) = value else { return Ok(false) };
        let name = self.fresh();
        self.lines.push(format!("{} {name} = {value};", self.vector_type()));
        self.lines.push(format!("simd_storeu({name}, {address});"));
        self.cost.memory += UNALIGNED;
        Ok(true)
    }

    /// A vector expression, after the lines that load its operands.
    fn value(&mut self, e: &Expr) -> Result<Option<String>, Diagnostic> {
        Ok(match e {
            Expr::Load(access) => {
                if access.indices.is_empty() {
                    let scalar = print(&self.scope.access(access)?);
                    return Ok(Some(self.splat(&scalar)));
                }
                let Some(elem) = self.elem(&access.array) else { return Ok(None) };
                if !self.of_type(elem) {
                    return Ok(None);
                }
                if let Some((_, register)) = self.registers.iter().find(|(sum, _)| sum == access) {
                    return Ok(Some(register.clone()));
                }
                if self.registers.iter().any(|(sum, _)| sum.array == access.array) {
                    return Ok(None);
                }
                let element = print(&self.scope.access(access)?);
                if let Some((_, name)) = self.loaded.iter().find(|(loaded, _)| *loaded == element) {
                    return Ok(Some(name.clone()));
                }
                let name = self.fresh();
                if self.once && stride(access, self.var) == Stride::Stays {
                    self.loaded.push((element.clone(), name.clone()));
                }
                let (load, slots) = match stride(access, self.var) {
                    Stride::Follows => ("simd_loadu", UNALIGNED),
                    Stride::Stays => ("simd_loade", 1.0),
                    Stride::Other => return Ok(None),
                };
                self.lines.push(format!("{} {name};", self.vector_type()));
                self.lines.push(format!("{load}({name}, &{element});"));
                self.cost.memory += slots;
                Some(name)
            }
            Expr::F64(_) | Expr::F32(_) => {
                let scalar = matches!(e, Expr::F32(_));
                if !self.of_type(if scalar { Scalar::F32 } else { Scalar::F64 }) {
                    return Ok(None);
                }
                let value = self.scope.text(e)?;
                Some(self.splat(&value))
            }
            Expr::Binary(BinaryOp::Add, a, b) => {
                let (product, addend) = match (&**a, &**b) {
                    (_, Expr::Binary(BinaryOp::Mul, x, y)) => (Some((x, y)), a),
                    (Expr::Binary(BinaryOp::Mul, x, y), _) => (Some((x, y)), b),
                    _ => (None, a),
                };
                if let Some((x, y)) = product {
                    let (Some(x), Some(y), Some(c)) = (self.value(x)?, self.value(y)?, self.value(addend)?)
                    else {
                        return Ok(None);
                    };
                    self.cost.arithmetic += 1.0;
                    self.cost.operations += 8.0;
                    return Ok(Some(format!("simd_vmad({x}, {y}, {c})")));
                }
                self.operation("add", a, b)?
            }
            Expr::Binary(BinaryOp::Sub, a, b) => self.operation("sub", a, b)?,
            Expr::Binary(BinaryOp::Mul, a, b) => self.operation("mul", a, b)?,
            _ => None,
        })
    }

    fn operation(&mut self, name: &str, a: &Expr, b: &Expr) -> Result<Option<String>, Diagnostic> {
        let (Some(a), Some(b)) = (self.value(a)?, self.value(b)?) else { return Ok(None) };
        self.cost.arithmetic += 1.0;
        self.cost.operations += 4.0;
        let suffix = if self.ty == Some(Scalar::F32) { "s" } else { "d" };
        Ok(Some(format!("simd_v{name}{suffix}({a}, {b})")))
    }

    fn splat(&mut self, value: &str) -> String {
        let set = if self.ty == Some(Scalar::F32) { "simd_set_floatv4" } else { "simd_set_doublev4" };
        // From a register, outside of the loop where the compiler is any good; counted all the same.
        let text = format!("{set}({value}, {value}, {value}, {value})");
        if !self.loaded.iter().any(|(loaded, _)| *loaded == text) {
            self.cost.memory += 1.0;
            if self.once {
                self.loaded.push((text.clone(), text.clone()));
            }
        }
        text
    }
}

/// The scalar cost of a loop's body.
pub(super) fn scalar(l: &Loop) -> Cost {
    l.body.iter().fold(Cost::default(), |sum, stmt| match stmt {
        Stmt::Assign(assign) => sum.plus(cost::assignment(assign, Some(&l.var))),
        _ => sum,
    })
}
