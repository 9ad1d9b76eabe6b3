//! A time for the management core, modelled from a loop program: what the speed-ups of kernels are
//! over.
//!
//! Each loop is looked at in its middle iteration, which stands for all. Computing takes issue
//! slots: two floating-point operations and one access a cycle, four lanes in vector loops, seven
//! cycles for each step of a sum in one variable. An access misses a cache where the data of one
//! iteration of a loop that comes back to it does not fit; a miss takes the latencies of the tables
//! in `model.c` of the emulator and the page of the machine: 13 cycles to L2, 154 to memory, lines
//! of 128 bytes. No prefetching. Not here: other cores, or any measured time.

use loops::visit::locals;
use loops::{Access, Expr, Function, Loop, LoopKind, Name, Stmt};

use crate::bind::{self, Sizes};

const FREQUENCY: f64 = 1.45e9;
const LINE: f64 = 128.0;
/// Bytes of a cache, and cycles that a line takes from behind it.
const CACHES: [(f64, f64); 2] = [(32768.0, 13.0), (524_288.0, 154.0 - 13.0)];
const LATENCY: f64 = 7.0;

/// An access as seen from some loop: lines that it touches, and lines that it loads into each
/// cache.
struct Touched {
    access: Access,
    write: bool,
    lines: f64,
    misses: [f64; 2],
}

struct Model<'f> {
    function: &'f Function,
    /// Extents and bytes of elements of all arrays.
    arrays: Vec<(Name, Vec<Expr>, f64)>,
    values: Sizes,
}

struct Cost {
    cycles: f64,
    touched: Vec<Touched>,
}

/// Seconds of a function on the management core, at these sizes; none if a bound can't be
/// evaluated.
pub fn seconds(function: &Function, sizes: &Sizes) -> Option<f64> {
    let mut arrays: Vec<(Name, Vec<Expr>, f64)> = function
        .params
        .iter()
        .map(|p| (p.name.clone(), p.dims.clone(), bind::elem_bytes(&p.elem) as f64))
        .collect();
    for local in locals(&function.body) {
        arrays.push((local.name.clone(), local.dims.clone(), bind::elem_bytes(&local.elem) as f64));
    }
    let mut model = Model { function, arrays, values: sizes.clone() };
    let cost = model.block(&model.function.body, 1.0)?;
    let misses: f64 =
        cost.touched.iter().map(|t| t.misses[0] * CACHES[0].1 + t.misses[1] * CACHES[1].1).sum();
    Some((cost.cycles + misses) / FREQUENCY)
}

impl Model<'_> {
    fn integer(&self, expr: &Expr) -> Option<i64> {
        bind::integer(expr, &self.values)
    }

    /// Byte offset of an element.
    fn offset(&self, access: &Access) -> Option<f64> {
        let (_, dims, bytes) = self.arrays.iter().rev().find(|(name, ..)| *name == access.array)?;
        let mut offset = 0.0;
        for (k, index) in access.indices.iter().enumerate() {
            let extent = dims.get(k).and_then(|d| self.integer(d)).unwrap_or(1);
            offset = offset * extent as f64 + self.integer(index)? as f64;
        }
        Some(offset * bytes)
    }

    fn block(&mut self, body: &[Stmt], lanes: f64) -> Option<Cost> {
        let mut cost = Cost { cycles: 0.0, touched: Vec::new() };
        for stmt in body {
            let part = match stmt {
                Stmt::Assign(assign) => {
                    let (mut operations, mut loads) = (0.0, Vec::new());
                    for e in assign.value.nodes() {
                        match e {
                            Expr::Load(access) => loads.push(access.clone()),
                            Expr::Binary(..) => operations += 1.0,
                            _ => {}
                        }
                    }
                    // Index arithmetic is not floating point.
                    for e in loads.iter().flat_map(|a| &a.indices).flat_map(Expr::nodes) {
                        operations -= f64::from(u8::from(matches!(e, Expr::Binary(..))));
                    }
                    operations += f64::from(u8::from(assign.update.is_some()));
                    let memory = loads.len() as f64 + 1.0 + f64::from(u8::from(assign.update.is_some()));
                    let mut touched = Vec::new();
                    let mut touch = |access: &Access, write: bool| {
                        if !access.indices.is_empty() {
                            touched.push(Touched {
                                access: access.clone(),
                                write,
                                lines: 1.0,
                                misses: [1.0; 2],
                            });
                        }
                    };
                    loads.iter().for_each(|a| touch(a, false));
                    touch(&assign.target, true);
                    Cost { cycles: (operations / 2.0).max(memory) / lanes, touched }
                }
                Stmt::Loop(l) => self.repeat(l, lanes)?,
                Stmt::Block { body, .. } => self.block(body, lanes)?,
                Stmt::If { cond, then, otherwise } => {
                    let holds = bind::truth(cond, &self.values).unwrap_or(true);
                    self.block(if holds { then } else { otherwise }, lanes)?
                }
                Stmt::Local(_) | Stmt::Copy(_) | Stmt::Wait(_) => continue,
            };
            cost.cycles += part.cycles;
            for touched in part.touched {
                match cost.touched.iter_mut().find(|t| t.access == touched.access) {
                    // The same element again.
                    Some(before) => before.write |= touched.write,
                    None => cost.touched.push(touched),
                }
            }
        }
        Some(cost)
    }

    fn repeat(&mut self, l: &Loop, lanes: f64) -> Option<Cost> {
        let (lower, upper) = (self.integer(&l.lower)?, self.integer(&l.upper)?);
        let trips = if upper > lower { (upper - lower + l.step - 1) / l.step } else { 0 };
        if trips == 0 {
            return Some(Cost { cycles: 0.0, touched: Vec::new() });
        }
        let lanes = if l.kind == LoopKind::Vector { 4.0 } else { lanes };
        let middle = lower + l.step * (trips / 2);
        let outer = self.values.insert(l.var.clone(), middle);
        let inner = self.block(&l.body, lanes)?;
        let here: Vec<Option<f64>> = inner.touched.iter().map(|t| self.offset(&t.access)).collect();
        self.values.insert(l.var.clone(), middle + l.step);
        let next: Vec<Option<f64>> = inner.touched.iter().map(|t| self.offset(&t.access)).collect();
        match outer {
            Some(value) => self.values.insert(l.var.clone(), value),
            None => self.values.remove(&l.var),
        };
        let trips = trips as f64;
        let bytes: f64 = inner.touched.iter().map(|t| t.lines * LINE).sum();
        let innermost = !l.body.iter().any(|s| matches!(s, Stmt::Loop(_) | Stmt::Block { .. }));
        let mut cycles = inner.cycles;
        let mut touched = inner.touched;
        for ((t, a), b) in touched.iter_mut().zip(here).zip(next) {
            let stride = match (a, b) {
                (Some(a), Some(b)) => (b - a).abs(),
                _ => LINE,
            };
            if innermost && t.write && stride == 0.0 {
                cycles = cycles.max(LATENCY);
            }
            let fresh = if stride < LINE { (trips * stride / LINE).max(1.0) } else { trips };
            for (misses, (capacity, _)) in t.misses.iter_mut().zip(CACHES) {
                *misses *= if bytes <= capacity { fresh } else { trips };
            }
            t.lines *= fresh;
        }
        Some(Cost { cycles: (cycles + 1.0 / lanes) * trips, touched })
    }
}
