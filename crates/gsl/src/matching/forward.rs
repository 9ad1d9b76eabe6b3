//! Finds candidates for an output: forward along successors of a vertex that is matched already.

use graph::hash_tables::Map;
use graph::{NodeId, Slot, ValueId};

use crate::matching::{Matcher, in_class};
use crate::program::{OpPattern, Stage};

/// The limit on candidates that are examined for the uses of one value: for each of its uses, and
/// in addition.
const PER_USE: usize = 32;
const BESIDES: usize = 1 << 14;

/// Counts the candidates that were examined. So the cost of a value with many uses is a bounded
/// multiple of their number.
#[derive(Clone, Debug, Default)]
pub struct Budget {
    looked: Map<ValueId, usize>,
    /// Searches that were cut short.
    pub cut: usize,
}

/// A search that continues where it stopped: for each vertex of the path, the candidate nodes that
/// have not been examined.
pub(crate) struct Cursor {
    path: Vec<usize>,
    start: Option<ValueId>,
    levels: Vec<Level>,
    /// The instance that is being looked for.
    pub(super) inst: usize,
}

/// The uses of one value.
struct Level {
    values: Vec<ValueId>,
    at: usize,
    uses: Vec<NodeId>,
    next: usize,
}

impl Matcher<'_> {
    pub(super) fn candidates(&self, stage: &Stage, inst: usize) -> Cursor {
        let context = self.context();
        let mut env = context.env_at(self.variant.vertices[stage.vertex].symbol, inst);
        let start = context.value(&stage.start, &mut env).ok().flatten();
        let mut cursor = Cursor { path: stage.path.clone(), start, levels: Vec::new(), inst };
        if let Some(start) = start {
            cursor.levels.push(self.level(vec![start]));
        }
        cursor
    }

    fn level(&self, values: Vec<ValueId>) -> Level {
        let mut level = Level { values, at: 0, uses: Vec::new(), next: 0 };
        self.refill(&mut level);
        level
    }

    /// The users of the next value, each once, in the order of its uses.
    fn refill(&self, level: &mut Level) -> bool {
        let Some(value) = level.values.get(level.at) else { return false };
        level.at += 1;
        level.next = 0;
        level.uses.clear();
        let mut last = None;
        for u in self.model.graph.value(*value).uses() {
            if matches!(u.slot, Slot::Input(_)) && last != Some(u.node) {
                level.uses.push(u.node);
                last = Some(u.node);
            }
        }
        true
    }

    /// The next candidate for the vertex at the end of the path.
    pub(super) fn next_candidate(&mut self, cursor: &mut Cursor) -> Option<NodeId> {
        let start = cursor.start?;
        loop {
            let depth = cursor.levels.len();
            let level = cursor.levels.last_mut()?;
            let Some(node) = level.uses.get(level.next).copied() else {
                if !self.refill(level) {
                    cursor.levels.pop();
                }
                continue;
            };
            level.next += 1;
            if !self.spend(start) {
                return None;
            }
            let v = cursor.path[depth - 1];
            let bound = self.found.vertex(v, cursor.inst);
            if bound.is_some_and(|b| b != node) || !self.may_be(v, node, bound.is_some()) {
                continue;
            }
            if depth == cursor.path.len() {
                return Some(node);
            }
            let outputs = self.model.graph.node(node).outputs().iter().flatten().copied().collect();
            let level = self.level(outputs);
            cursor.levels.push(level);
        }
    }

    fn may_be(&self, v: usize, node: NodeId, bound: bool) -> bool {
        if !bound && self.taken.contains(node) {
            return false;
        }
        let op = self.model.graph.node(node).op();
        match &self.variant.vertices[v].op {
            OpPattern::Named(wanted) => wanted == op,
            OpPattern::Variable(k) => match &self.found.operators[*k] {
                Some(known) => known == op,
                None => in_class(&self.variant.operators[*k], op),
            },
        }
    }

    fn spend(&mut self, start: ValueId) -> bool {
        let uses = self.model.graph.value(start).use_count();
        let looked = self.budget.looked.entry(start).or_insert(0);
        *looked += 1;
        if *looked > PER_USE * uses + BESIDES {
            self.budget.cut += 1;
            return false;
        }
        true
    }
}
