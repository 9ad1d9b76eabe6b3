//! Innermost loops as vectors of four: `doublev4` and `floatv4`.
//!
//! A loop qualifies if all its statements assign to consecutive elements. The values are made of
//! consecutive elements, of elements that do not change, and of sums, differences and products.
//! Addresses in local memory need not be aligned. If all addresses of a loop are aligned, which is
//! tested when it begins, a vector access takes one slot, else two.

use std::collections::BTreeMap;

use loops::{Access, Assign, BinaryOp, Diagnostic, Expr, Loop, Name, ReduceOp, Scalar, Stmt};

use super::cost::{self, Cost};
use super::expr::{Binding, Scope, print};

/// Slots of the memory pipeline for a vector at any address.
const UNALIGNED: f64 = 2.0;
/// Elements of a vector.
const LANES: i64 = 4;
/// Vectors of an iteration where there are many.
const LOT: i64 = 4;
/// Lines of a vector up to which iterations have several.
const SHORT: usize = 6;
/// Cycles of asking whether addresses are aligned, beside one for each.
const ASKING: f64 = 2.0;

/// The data of a loop that are written before it: the expressions of its end and of its number of
/// elements, the cycles of one element, and whether it may test the addresses of its elements.
pub(super) struct Left<'a> {
    pub end: &'a str,
    pub all: &'a str,
    pub each: f64,
    pub asks: bool,
}

/// A loop as far as it is made of vectors, over what is left of its variable: lines, and their
/// cycles as an expression, in which those of the elements that remain are counted. None if the
/// loop is not one for vectors.
pub(super) fn code(
    scope: &Scope,
    l: &Loop,
    left: &Left,
) -> Result<Option<(Vec<String>, String)>, Diagnostic> {
    let Left { end, all, each: scalar, asks } = *left;
    let Some((single, cost)) = body(scope, l)? else { return Ok(None) };
    let var = &l.var;
    let mut lines = Vec::new();
    let looped = |lines: &mut Vec<String>, indent: &str, vectors: i64, body: Vec<String>| {
        let (ahead, step) = (LANES * vectors - 1, LANES * vectors);
        lines.push(format!("{indent}for (; {var} + {ahead} < {end}; {var} += {step}) {{"));
        lines.extend(body.into_iter().map(|line| format!("{indent}  {line}")));
        lines.push(format!("{indent}}}"));
    };
    let one = cost.cycles() + cost::LOOP;
    let Some((many, each)) = lot(scope, l, single.len(), false)? else {
        looped(&mut lines, "", 1, single);
        return Ok(Some((lines, format!("{one} * ({all} / 4) + {scalar} * ({all} % 4)"))));
    };
    let each = each.cycles() + cost::LOOP;
    let (mut lots, mut asked) = (format!("{each}"), String::new());
    if asks
        && let Some(addresses) = addresses(scope, l)?
        && let Some((aligned, cost)) = lot(scope, l, single.len(), true)?
    {
        let bytes = LANES * width(scope, l);
        let bits: Vec<String> = addresses.iter().map(|a| format!("(unsigned long)&{a}")).collect();
        lines.push(format!("const int {var}_aligned = ({}) % {bytes} == 0;", bits.join(" | ")));
        lines.push(format!("if ({var}_aligned)"));
        looped(&mut lines, "  ", LOT, aligned);
        lots = format!("({var}_aligned ? {} : {each})", cost.cycles() + cost::LOOP);
        asked = format!(" + {}", addresses.len() as f64 + ASKING);
    }
    looped(&mut lines, "", LOT, many);
    looped(&mut lines, "", 1, single);
    let cycles = format!(
        "{lots} * ({all} / {n}) + {one} * ({all} % {n} / 4) + {scalar} * ({all} % 4){asked}",
        n = LANES * LOT
    );
    Ok(Some((lines, cycles)))
}

/// Several vectors of a loop with one assignment, as lines with all loads and values before the
/// stores, and their cost: none where one vector has many lines.
fn lot(
    scope: &Scope,
    l: &Loop,
    lines_of_one: usize,
    aligned: bool,
) -> Result<Option<(Vec<String>, Cost)>, Diagnostic> {
    if l.body.len() != 1 || lines_of_one > SHORT {
        return Ok(None);
    }
    let (mut lines, mut total) = (Vec::new(), Cost::default());
    let mut vector = Vector::new(scope, &l.var, &mut lines, &mut total);
    (vector.once, vector.aligned) = (true, aligned);
    for k in 0..LOT {
        let moved = Expr::binary(BinaryOp::Add, Expr::Var(l.var.clone()), Expr::Int(LANES * k));
        let moved = if k == 0 { Expr::Var(l.var.clone()) } else { moved };
        for stmt in loops::visit::substitute(&l.body, &BTreeMap::from([(l.var.clone(), moved)])) {
            let Stmt::Assign(assign) = stmt else { return Ok(None) };
            if !vector.assign(&assign)? {
                return Ok(None);
            }
        }
    }
    let stores = std::mem::take(&mut vector.stores);
    lines.extend(stores);
    Ok(Some((lines, total)))
}

/// The elements that follow each other with a loop of one assignment, each once; none if two are of
/// one array, which are not aligned at the same time.
fn addresses(scope: &Scope, l: &Loop) -> Result<Option<Vec<String>>, Diagnostic> {
    let [Stmt::Assign(assign)] = l.body.as_slice() else { return Ok(None) };
    let mut accesses = vec![assign.target.clone()];
    for e in assign.value.nodes() {
        if let Expr::Load(access) = e
            && stride(access, &l.var) == Stride::Follows
            && !accesses.contains(access)
        {
            accesses.push(access.clone());
        }
    }
    for (k, access) in accesses.iter().enumerate() {
        if accesses[..k]
            .iter()
            .any(|other| other.array == access.array && other.indices.last() != access.indices.last())
        {
            return Ok(None);
        }
    }
    accesses.iter().map(|a| Ok(print(&scope.access(a)?))).collect::<Result<_, _>>().map(Some)
}

/// Bytes of the elements that a loop of one assignment writes.
fn width(scope: &Scope, l: &Loop) -> i64 {
    match l.body.as_slice() {
        [Stmt::Assign(assign)] => match scope.names.get(&assign.target.array) {
            Some(Binding::Linear { elem: Scalar::F32, .. }) => 4,
            _ => 8,
        },
        _ => 8,
    }
}

/// The body of the vector loop as lines, and its cost; none if the loop is not one for vectors.
fn body(scope: &Scope, l: &Loop) -> Result<Option<(Vec<String>, Cost)>, Diagnostic> {
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
        // What the next statement reads.
        let stores = std::mem::take(&mut vector.stores);
        vector.lines.extend(stores);
    }
    Ok(Some((lines, total)))
}

/// The terms of sums whose elements follow each other with a loop, as lines, and their cost: `sums`
/// are the elements, each with the register that it is in and the value that it gets. None if a
/// value is not one of vectors.
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
    /// Whether all addresses are those of whole vectors.
    aligned: bool,
    /// Lines that store what was computed.
    stores: Vec<String>,
}

impl<'a> Vector<'a> {
    fn new(scope: &'a Scope, var: &'a Name, lines: &'a mut Vec<String>, cost: &'a mut Cost) -> Vector<'a> {
        let (registers, loaded) = (Vec::new(), Vec::new());
        let stores = Vec::new();
        Vector {
            scope,
            var,
            lines,
            cost,
            next: 0,
            ty: None,
            registers,
            once: false,
            loaded,
            aligned: false,
            stores,
        }
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
    if outer.iter().any(|e| e.mentions(var)) {
        return Stride::Other;
    }
    if !last.mentions(var) {
        return Stride::Stays;
    }
    // `var + something without it`: the difference of two neighbours is one.
    fn unit(e: &Expr, var: &Name) -> bool {
        match e {
            Expr::Var(name) => name == var,
            Expr::Binary(BinaryOp::Add, a, b) => {
                let (x, y) = (a.mentions(var), b.mentions(var));
                x != y && if x { unit(a, var) } else { unit(b, var) }
            }
            Expr::Binary(BinaryOp::Sub, a, b) => !b.mentions(var) && unit(a, var),
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
        let clash = assign.value.loads().any(|a| a.array == assign.target.array && *a != assign.target);
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
        let (store, slots) = if self.aligned { ("simd_store", 1.0) } else { ("simd_storeu", UNALIGNED) };
        self.stores.push(format!("{store}({name}, {address});"));
        self.cost.memory += slots;
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
                    Stride::Follows if self.aligned => ("simd_load", 1.0),
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
        // From a register. A good compiler moves this out of the loop. It is counted nevertheless.
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
