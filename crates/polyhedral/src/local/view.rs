//! Statements as seen from inside some loops that stand still: their variables are parameters, so
//! that questions have few dimensions.

use isl::{Dim, Map, Set};
use loops::LoopKind;

use crate::model::Statement;

/// A statement from inside its first `fixed` loops.
pub(super) struct View<'a> {
    pub statement: &'a Statement,
    pub fixed: usize,
    /// Its instances: the loops further in.
    pub domain: Set,
}

/// How the instances of one statement stand to those of another, as far as the text tells it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Order {
    /// All of them are before all of the other.
    Before,
    /// None of them is before any of the other.
    Behind,
    /// The loops that both are in decide.
    Mixed,
}

/// Parameters that stand for loops.
fn parameter(k: usize) -> String {
    format!("lozenge_loop_{k}")
}

impl<'a> View<'a> {
    pub fn new(statement: &'a Statement, fixed: usize) -> isl::Result<View<'a>> {
        let mut domain = statement.domain.clone();
        for k in 0..fixed {
            domain = domain.set_dim_name(Dim::SET, k, &parameter(k))?;
        }
        let params = domain.dim(Dim::Param)?;
        let domain = domain.move_dims((Dim::Param, params), (Dim::SET, 0), fixed)?;
        Ok(View { statement, fixed, domain: domain.set_tuple_name(&statement.tuple)? })
    }

    /// A relation from the statement's instances, from here.
    pub fn relation(&self, relation: &Map) -> isl::Result<Map> {
        let mut map = relation.clone();
        for k in 0..self.fixed {
            map = map.set_dim_name(Dim::In, k, &parameter(k))?;
        }
        let params = map.dim(Dim::Param)?;
        let map = map.move_dims((Dim::Param, params), (Dim::In, 0), self.fixed)?;
        map.set_tuple_name(Dim::In, &self.statement.tuple)
    }

    /// The statement's instances that a set from here stands for, with the loops that stand still
    /// in front.
    pub fn whole(&self, set: &Set) -> isl::Result<Set> {
        let mut set = set.clone();
        for k in (0..self.fixed).rev() {
            match set.find_dim(Dim::Param, &parameter(k))? {
                Some(at) => set = set.move_dims((Dim::SET, 0), (Dim::Param, at), 1)?,
                None => set = set.insert_dims(Dim::SET, 0, 1)?,
            }
        }
        Ok(set)
    }

    /// Whether both are inside the loops that stand still.
    pub fn together(a: &Statement, b: &Statement, fixed: usize) -> bool {
        shared(a, b) >= fixed
    }

    /// What the text alone tells of [`View::before`].
    pub fn order(&self, other: &View<'_>) -> Order {
        let shared = shared(self.statement, other.statement);
        if shared > self.fixed {
            return Order::Mixed;
        }
        match self.statement.position[shared] < other.statement.position[shared] {
            true => Order::Before,
            false => Order::Behind,
        }
    }

    /// Pairs of instances, the first before the second in the order of the text and on the same
    /// core.
    pub fn before(&self, other: &View<'_>) -> isl::Result<Map> {
        let shared = shared(self.statement, other.statement);
        let all = Map::from_domain_and_range(&self.domain, &other.domain)?;
        match self.order(other) {
            Order::Before => return Ok(all),
            Order::Behind => return Map::empty(&all.space()?),
            Order::Mixed => {}
        }
        let mut equal = all.clone();
        let mut result = Map::empty(&all.space()?)?;
        for k in self.fixed..shared {
            let d = k - self.fixed;
            // Iterations of a parallel loop are not in order.
            if self.statement.loops[k].kind != LoopKind::Parallel {
                result = result.union(&equal.order_lt((Dim::In, d), (Dim::Out, d))?)?;
            }
            equal = equal.equate((Dim::In, d), (Dim::Out, d))?;
        }
        if self.statement.position[shared..] < other.statement.position[shared..]
            && self.statement.position[shared] != other.statement.position[shared]
        {
            result = result.union(&equal)?;
        }
        Ok(result)
    }
}

/// Number of outermost loops that two statements have in common.
pub(super) fn shared(a: &Statement, b: &Statement) -> usize {
    a.loops.iter().zip(&b.loops).take_while(|(x, y)| x.number == y.number).count()
}
