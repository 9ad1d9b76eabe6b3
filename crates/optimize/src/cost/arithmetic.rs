//! Cycles of straight code in an innermost loop.

use std::cell::Cell;
use std::collections::HashMap;

use loops::{Access, Assign, BinaryOp, Expr, Loop, LoopKind, Name, ReduceOp, Stmt, UnaryOp, visit};

use super::lines::{Array, Arrays, growth};
use super::numbers::Values;
use crate::machine::Machine;

/// An assignment in straight code, with the unrolled loops between the loop that is looked at and
/// it.
pub(super) struct Straight<'a> {
    pub assign: &'a Assign,
    /// Variables and iterations of unrolled loops, outermost first.
    pub unrolled: Vec<(&'a Name, f64)>,
    /// How often it runs, of the times that the place is reached.
    pub share: f64,
    /// Whether it is under a condition that may differ between iterations.
    pub guarded: bool,
}

/// A condition in straight code that differs between iterations.
pub(super) struct Test<'a> {
    pub cond: &'a Expr,
    /// How often it is looked at in one iteration.
    pub copies: f64,
}

/// Straight code.
#[derive(Default)]
pub(super) struct Code<'a> {
    pub assigns: Vec<Straight<'a>>,
    pub tests: Vec<Test<'a>>,
}

impl Straight<'_> {
    /// How often it runs in one iteration.
    fn copies(&self) -> f64 {
        self.share * self.unrolled.iter().map(|(_, trips)| trips).product::<f64>()
    }

    /// How many of its copies store the same element.
    fn rounds(&self) -> f64 {
        let stays = |var: &Name| !self.assign.target.indices.iter().any(|i| i.mentions(var));
        self.unrolled.iter().filter(|(var, _)| stays(var)).map(|(_, trips)| trips).product()
    }

    /// How many of the copies of an access are different.
    fn different(&self, access: &Access) -> f64 {
        let moves = |var: &Name| access.indices.iter().any(|i| i.mentions(var));
        self.share
            * self.unrolled.iter().filter(|(var, _)| moves(var)).map(|(_, trips)| trips).product::<f64>()
    }
}

/// What one iteration of an innermost loop takes.
pub(super) struct Inner {
    pub cycles: f64,
    /// Cycles of these in which it waits for earlier iterations.
    pub waits: f64,
    /// Iterations that are lanes of one vector.
    pub lanes: f64,
}

/// One iteration of the assignments of an innermost loop; without a loop, one run through them.
/// With `again`, lanes may store under conditions of their own, and what is carried once takes no
/// time: what C compilers and processors make of a loop at their best.
pub(super) fn innermost(
    Code { assigns: code, tests }: &Code<'_>,
    around: Option<&Loop>,
    arrays: &Arrays,
    values: &Values,
    machine: &Machine,
    again: bool,
) -> Inner {
    let place = Place { around, arrays, values, again };
    let mut work = Operations::default();
    let (mut unit, mut far) = (0.0, 0.0);
    let (mut widest, mut scatters): (f64, bool) = (1.0, false);
    let mut apart = Vec::new();
    for one in code {
        let mut count = |access: &Access, stored: bool| {
            let Some(array) = place.memory(access) else { return };
            widest = widest.max(array.bytes);
            let by = place.along(access, array).map(f64::abs);
            match by {
                Some(0.0) => {}
                Some(1.0) if !(again && place.clamped(access)) => unit += one.different(access),
                _ => far += one.different(access),
            }
            scatters |= stored && one.guarded;
            if let Some(by) = by.filter(|by| stored && *by > 1.0) {
                let places = place.places(access, array, &one.unrolled);
                apart.extend(places.into_iter().map(|at| (access.array.clone(), by, at)));
            }
        };
        count(&one.assign.target, true);
        loads(&one.assign.value).into_iter().for_each(|access| count(access, false));
        let mut own = Operations::default();
        let integer = arrays.get(&one.assign.target.array).is_some_and(|array| array.integer);
        own.of(&one.assign.value, integer);
        if again {
            widest = converted(&one.assign.value).fold(widest, f64::max);
        }
        own.plain += f64::from(u8::from(one.assign.update.is_some()) + u8::from(one.guarded));
        work.add(&own, one.copies());
    }
    // What runs again is at its best without most of them: their ranges are loops of their own.
    for test in tests.iter().filter(|_| !again) {
        let mut own = Operations::default();
        own.of(test.cond, true);
        own.plain += REMAINDER * test.cond.nodes().filter(|e| is_remainder(e)).count() as f64;
        work.add(&own, test.copies);
    }
    let Chain { cycles: chain, ordered } = place.chain(code, machine);
    let one_by_one = around.is_none()
        || ordered
        || (scatters && !again)
        || !interleaved(&apart)
        || work.calls + work.quotients > 0.0;
    let lanes = if one_by_one { 1.0 } else { (machine.registers.bytes as f64 / widest).max(1.0) };
    let issue = |lanes: f64, far: f64| (work.plain / lanes).max(unit / lanes + far) / machine.per_cycle;
    let (gathered, alone) = (issue(lanes, GATHERED * far), issue(1.0, far));
    let told = around.is_some_and(|l| l.kind == LoopKind::Vector);
    let (issued, lanes) = match again && lanes > 1.0 {
        true if told || gathered < alone => (gathered, lanes),
        true => (alone, 1.0),
        false => (issue(lanes, far), lanes),
    };
    let slow = work.divisions * machine.division / lanes.min(4.0)
        + work.quotients * machine.quotient
        + work.calls * machine.call;
    let cycles = (issued + slow).max(chain);
    Inner { cycles, waits: cycles - issued - slow, lanes }
}

/// How many times as long a lane takes that is loaded from a place of its own.
const GATHERED: f64 = 3.0;

/// Operations of a remainder by a number in a condition, beside those of a quotient: it is rounded
/// down, and compared.
const REMAINDER: f64 = 4.0;

fn is_remainder(e: &Expr) -> bool {
    matches!(e, Expr::Binary(BinaryOp::Rem | BinaryOp::Mod, ..))
}

/// Copies of a store that are looked at one by one.
const COPIES: f64 = 64.0;

/// Whether stores that move by several elements fill all of these together, as the colours of
/// pixels do: such are stored as vectors. Of each, the array, by how much it moves, and its place.
fn interleaved(stores: &[(Name, f64, Option<f64>)]) -> bool {
    stores.iter().all(|(array, by, _)| {
        let own = stores.iter().filter(|(other, same, _)| other == array && same == by);
        let mut places: Vec<i64> =
            own.filter_map(|(.., at)| at.map(|at| at.rem_euclid(*by) as i64)).collect();
        places.sort_unstable();
        places.dedup();
        places.len() as f64 >= *by
    })
}

/// Operations of an expression.
#[derive(Default)]
struct Operations {
    plain: f64,
    divisions: f64,
    /// Of integers by what is no number: no machine has vectors of them.
    quotients: f64,
    calls: f64,
}

impl Operations {
    fn add(&mut self, other: &Operations, times: f64) {
        self.plain += times * other.plain;
        self.divisions += times * other.divisions;
        self.quotients += times * other.quotients;
        self.calls += times * other.calls;
    }

    /// Counts those of a value; `integer` says whether it is one.
    fn of(&mut self, e: &Expr, integer: bool) {
        match e {
            // Subscripts grow with the loop.
            Expr::Load(_) => return,
            Expr::Binary(BinaryOp::Div | BinaryOp::Rem | BinaryOp::FloorDiv | BinaryOp::Mod, _, by) => {
                match by.vars().is_empty() && !by.has_loads() {
                    // A product by the inverse.
                    true if integer => self.plain += 4.0,
                    false if integer => self.quotients += 1.0,
                    _ => self.divisions += 1.0,
                }
            }
            Expr::Binary(op, ..) if op.is_transcendental() => self.calls += 1.0,
            Expr::Unary(op, _) if op.is_transcendental() => self.calls += 1.0,
            Expr::Call { .. } => self.calls += 1.0,
            Expr::Unary(UnaryOp::Sqrt, _) => self.divisions += 1.0,
            Expr::Unary(..) => self.plain += 1.0,
            Expr::Binary(..) | Expr::Compare(..) | Expr::Select(..) => self.plain += 1.0,
            _ => {}
        }
        e.children().for_each(|child| self.of(child, integer));
    }
}

/// Bytes of what numbers in an expression are converted to.
fn converted(e: &Expr) -> impl Iterator<Item = f64> {
    e.nodes().filter_map(|e| match e {
        Expr::Cast(to, _) => Some(to.bytes() as f64),
        _ => None,
    })
}

fn loads(e: &Expr) -> Vec<&Access> {
    let mut found = Vec::new();
    let mut todo = vec![e];
    while let Some(e) = todo.pop() {
        match e {
            Expr::Load(access) => found.push(access),
            _ => todo.extend(e.children()),
        }
    }
    found
}

/// Arithmetic operations between loads and the value of an expression, at most, with those before
/// each load; nothing without such a load.
fn steps(e: &Expr, of: &dyn Fn(&Access) -> Option<u32>) -> Option<u32> {
    if let Expr::Load(access) = e {
        return of(access);
    }
    let deepest = e.children().filter_map(|child| steps(child, of)).max()?;
    Some(deepest + u32::from(matches!(e, Expr::Binary(..) | Expr::Unary(..) | Expr::Select(..))))
}

/// What one iteration needs of earlier ones.
struct Chain {
    /// Cycles between the results of two iterations, where one needs the other's.
    cycles: f64,
    /// Whether a C compiler keeps the order of iterations.
    ordered: bool,
}

/// How often a load reads what an earlier iteration has stored.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Carried {
    Never,
    /// In one iteration at most, which a C compiler may not know.
    Once,
    Always,
}

struct Place<'a> {
    around: Option<&'a Loop>,
    arrays: &'a Arrays,
    values: &'a Values,
    again: bool,
}

impl<'a> Place<'a> {
    /// The array of an access, if that is in memory.
    fn memory(&self, access: &Access) -> Option<&'a Array> {
        self.arrays.get(&access.array).filter(|a| !a.in_registers && !a.strides.is_empty())
    }

    /// By how many elements an access moves in an iteration.
    fn along(&self, access: &Access, array: &Array) -> Option<f64> {
        let l = self.around?;
        Some(growth(access, array, self.values, &l.var) * l.step.max(1) as f64)
    }

    /// What one iteration needs of earlier ones.
    fn chain(&self, code: &[Straight<'_>], machine: &Machine) -> Chain {
        let assigns: Vec<&Assign> = code.iter().map(|one| one.assign).collect();
        let none = Chain { cycles: 0.0, ordered: false };
        let Some(l) = self.around else { return none };
        if matches!(l.kind, LoopKind::Parallel | LoopKind::Vector) {
            return none;
        }
        let ordered = Cell::new(false);
        let declared = |access: &Access| {
            let local = |s: &Stmt| matches!(s, Stmt::Local(local) if local.name == access.array);
            visit::nodes(&l.body).any(local)
        };
        // Operations from what one iteration leaves to what the next leaves there.
        let one = |straight: &Straight<'_>| -> f64 {
            let stored = straight.assign;
            if declared(&stored.target)
                || matches!(stored.value, Expr::Cast(to, _) if to.is_int())
                || self.in_lanes_anyway(stored, &assigns)
            {
                return 0.0;
            }
            let mut scalars: HashMap<&Name, u32> = HashMap::new();
            let mut longest = 0;
            for assign in &assigns {
                let of = |read: &Access| {
                    if read.array != stored.target.array {
                        return scalars.get(&read.array).copied();
                    }
                    let carried = self.carries(&stored.target, read);
                    ordered.set(ordered.get() || carried != Carried::Never);
                    let waits = carried == Carried::Always || (carried == Carried::Once && !self.again);
                    waits.then_some(0)
                };
                let mut depth = steps(&assign.value, &of);
                if assign.update.is_some() {
                    depth = depth.max(of(&assign.target)).map(|depth| depth + 1);
                }
                if assign.target.array == stored.target.array {
                    longest = longest.max(depth.unwrap_or(0));
                } else if declared(&assign.target) {
                    depth.map(|depth| scalars.insert(&assign.target.array, depth));
                }
            }
            f64::from(longest) * straight.rounds()
        };
        let cycles = code.iter().map(one).fold(0.0, f64::max) * machine.latency;
        Chain { cycles, ordered: cycles > 0.0 || ordered.get() }
    }

    /// Whether it is a sum of integers in an element, which C compilers make of vectors: its order
    /// does not matter.
    fn in_lanes_anyway(&self, sum: &Assign, assigns: &[&Assign]) -> bool {
        let array = &sum.target.array;
        let integer = self.memory(&sum.target).is_some_and(|array| array.integer);
        let mentioned = |other: &&&Assign| other.target.array == *array || other.value.reads(array);
        integer
            && matches!(sum.update, Some(update) if update.op == ReduceOp::Add)
            && self.stands(&sum.target)
            && !sum.value.reads(array)
            && assigns.iter().filter(mentioned).count() == 1
    }

    /// The element that an access is to, with usual values of variables.
    fn usual(&self, access: &Access, array: &Array) -> Option<f64> {
        access.indices.iter().zip(&array.strides).map(|(i, s)| Some(self.values.usual(i)? * s)).sum()
    }

    /// The elements that the copies of an access are to.
    fn places(&self, access: &Access, array: &Array, unrolled: &[(&Name, f64)]) -> Vec<Option<f64>> {
        let mut places = vec![self.usual(access, array)];
        for (var, trips) in unrolled {
            let by = growth(access, array, self.values, var);
            if by != 0.0 && *trips * places.len() as f64 <= COPIES {
                let copies = (0..*trips as u32).map(|k| f64::from(k) * by);
                places = copies.flat_map(|far| places.iter().map(move |at| at.map(|at| at + far))).collect();
            }
        }
        places
    }

    /// Whether an access moves with the loop up to some place: no vector is loaded from there.
    fn clamped(&self, access: &Access) -> bool {
        let Some(l) = self.around else { return false };
        let end = |e: &Expr| matches!(e, Expr::Binary(BinaryOp::Min | BinaryOp::Max, ..) | Expr::Select(..));
        access.indices.iter().flat_map(Expr::nodes).any(|e| end(e) && e.mentions(&l.var))
    }

    /// Whether an access is to the same place in every iteration.
    fn stands(&self, access: &Access) -> bool {
        let Some(l) = self.around else { return true };
        access.indices.iter().all(|i| !i.mentions(&l.var))
    }

    /// Whether a load reads what an earlier iteration has stored.
    fn carries(&self, store: &Access, load: &Access) -> Carried {
        let Some(array) = self.arrays.get(&store.array).filter(|a| !a.strides.is_empty()) else {
            return if self.stands(store) { Carried::Always } else { Carried::Never };
        };
        let (Some(by), Some(same)) = (self.along(store, array), self.along(load, array)) else {
            return Carried::Always;
        };
        if by != same {
            return Carried::Once;
        }
        match self.usual(load, array).zip(self.usual(store, array)) {
            Some((load, store)) if by == 0.0 => {
                if load == store {
                    Carried::Always
                } else {
                    Carried::Never
                }
            }
            Some((load, store)) => {
                let back = (store - load) / by;
                match back > 0.0 && back.fract() == 0.0 && back < 64.0 {
                    true => Carried::Always,
                    false => Carried::Never,
                }
            }
            None => Carried::Always,
        }
    }
}
