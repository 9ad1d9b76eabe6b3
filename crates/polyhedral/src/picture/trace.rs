//! Walks a function with concrete sizes: which instance runs when, in which tile, and which
//! instances depend on each other.

use std::collections::BTreeMap;

use loops::{Access, Assign, Component, Expr, Function, Name, Scalar, Stmt, Value};

use super::cannot_draw;
use crate::codegen::Instance;
use crate::dependence::Kind;
use crate::fault::Result;

/// An instance that has run.
pub(super) struct Event {
    /// The original statement.
    pub statement: Name,
    /// Its original iterators.
    pub point: Vec<i64>,
    /// The loops around beyond those that the statement has: its tile.
    pub tile: Vec<i64>,
}

/// A pair of events, the later one depending on the earlier one.
pub(super) struct Arrow {
    pub kind: Kind,
    pub from: usize,
    pub to: usize,
}

pub(super) struct Trace {
    pub events: Vec<Event>,
    pub arrows: Vec<Arrow>,
}

type Element = (Name, Vec<Component>, Vec<i64>);

/// Who has touched an element last.
#[derive(Default)]
struct Last {
    write: Option<usize>,
    reads: Vec<usize>,
}

struct Walk<'a> {
    values: BTreeMap<Name, i64>,
    loops: Vec<i64>,
    instances: Option<&'a BTreeMap<Name, Instance>>,
    most: usize,
    steps: usize,
    memory: BTreeMap<Element, Last>,
    trace: Trace,
}

/// Loop iterations that are walked.
const MAX_STEPS: usize = 200_000;
/// Elements that may be waiting for a write.
const MAX_ARROWS: usize = 20_000;

/// The instances of a function in the order in which they run; with a map of instances, they are
/// those of the original.
pub(super) fn run(
    function: &Function,
    sizes: &BTreeMap<Name, i64>,
    instances: Option<&BTreeMap<Name, Instance>>,
    most: usize,
) -> Result<Trace> {
    let trace = Trace { events: Vec::new(), arrows: Vec::new() };
    let mut walk = Walk {
        values: sizes.clone(),
        loops: Vec::new(),
        instances,
        most,
        steps: 0,
        memory: BTreeMap::new(),
        trace,
    };
    walk.block(&function.body)?;
    Ok(walk.trace)
}

impl Walk<'_> {
    fn block(&mut self, body: &[Stmt]) -> Result<()> {
        for stmt in body {
            match stmt {
                Stmt::Assign(assign) => self.assign(assign)?,
                Stmt::Loop(l) => {
                    let (lower, upper) = (self.eval(&l.lower)?, self.eval(&l.upper)?);
                    let outer = self.values.get(&l.var).copied();
                    let mut value = lower;
                    while value < upper {
                        self.steps += 1;
                        if self.steps > MAX_STEPS {
                            return Err(cannot_draw(
                                "there are too many iterations at these sizes to draw them",
                            ));
                        }
                        self.values.insert(l.var.clone(), value);
                        self.loops.push(value);
                        self.block(&l.body)?;
                        self.loops.pop();
                        value = value.saturating_add(l.step.max(1));
                    }
                    match outer {
                        Some(value) => self.values.insert(l.var.clone(), value),
                        None => self.values.remove(&l.var),
                    };
                }
                Stmt::If { cond, then, otherwise } => {
                    let body = if self.eval(cond)? != 0 { then } else { otherwise };
                    self.block(body)?;
                }
                Stmt::Block { body, .. } => self.block(body)?,
                _ => {}
            }
        }
        Ok(())
    }

    fn assign(&mut self, assign: &Assign) -> Result<()> {
        let Some(label) = &assign.label else { return Ok(()) };
        let (statement, point) = match self.instances {
            None => (label.clone(), self.loops.clone()),
            Some(instances) => {
                // What the pipeline added itself, such as packing, is no instance of the original.
                let Some(instance) = instances.get(label) else { return Ok(()) };
                let point = instance.iterators.iter().map(|e| self.eval(e)).collect::<Result<_>>()?;
                (instance.original.clone(), point)
            }
        };
        let extra = self.loops.len().saturating_sub(point.len());
        let now = self.trace.events.len();
        if now >= self.most {
            let message = format!("there are more than {} instances at these sizes", self.most);
            return Err(cannot_draw(message));
        }
        self.trace.events.push(Event { statement, point, tile: self.loops[..extra].to_vec() });
        let mut reads = Vec::new();
        let indices = assign.target.indices.iter().chain([&assign.value]);
        indices.for_each(|expr| {
            reads.extend(expr.loads());
        });
        if assign.update.is_some() {
            reads.push(&assign.target);
        }
        for access in reads {
            let element = self.element(access)?;
            let last = self.memory.entry(element).or_default();
            last.reads.push(now);
            if let Some(from) = last.write {
                self.arrow(Kind::Flow, from, now)?;
            }
        }
        let element = self.element(&assign.target)?;
        let last = self.memory.entry(element).or_default();
        let (reads, write) = (std::mem::take(&mut last.reads), last.write.replace(now));
        for from in reads {
            self.arrow(Kind::Anti, from, now)?;
        }
        write.map_or(Ok(()), |from| self.arrow(Kind::Output, from, now))
    }

    fn arrow(&mut self, kind: Kind, from: usize, to: usize) -> Result<()> {
        let arrows = &mut self.trace.arrows;
        if arrows.len() >= MAX_ARROWS {
            return Err(cannot_draw("there are too many dependences at these sizes to draw them"));
        }
        // One arrow is enough: a flow says more than an anti, and that more than an output
        // dependence.
        if from != to && !arrows.iter().rev().take_while(|a| a.to == to).any(|a| a.from == from) {
            arrows.push(Arrow { kind, from, to });
        }
        Ok(())
    }

    fn element(&self, access: &Access) -> Result<Element> {
        let indices = access.indices.iter().map(|e| self.eval(e)).collect::<Result<_>>()?;
        Ok((access.array.clone(), access.path.clone(), indices))
    }

    /// The value of an index expression or condition.
    fn value(&self, expr: &Expr) -> Result<Value> {
        loops::evaluate::expr(expr, &|name| self.values.get(name).copied()).map_err(|_| {
            cannot_draw(format!("`{expr}` has no value that can be found without running the program"))
        })
    }

    /// The value of an integer expression; that of a condition is 1 where it holds.
    fn eval(&self, expr: &Expr) -> Result<i64> {
        match self.value(expr)?.cast(Scalar::I64) {
            Value::I64(value) => Ok(value),
            _ => Err(cannot_draw(format!("`{expr}` is no integer"))),
        }
    }
}
