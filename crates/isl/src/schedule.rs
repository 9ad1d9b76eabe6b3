//! Schedules: constraints, the scheduler, and trees.

use std::ffi::c_int;

use crate::aff::{MultiUnionPwAff, UnionPwMultiAff};
use crate::ctx::{Error, ErrorKind, Result};
use crate::map::UnionMap;
use crate::object::{FromC, Object};
use crate::set::{Set, UnionSet};
use crate::space::Id;

object!(
    /// What a schedule must and should respect.
    ScheduleConstraints: isl_schedule_constraints, isl_schedule_constraints_copy, isl_schedule_constraints_free, isl_schedule_constraints_to_str
);

methods! { ScheduleConstraints;
    /// Dependences: source before sink.
    pub validity(take self, map: take UnionMap) -> ScheduleConstraints = isl_schedule_constraints_set_validity;
    /// Pairs that a parallel loop must keep together.
    pub coincidence(take self, map: take UnionMap) -> ScheduleConstraints = isl_schedule_constraints_set_coincidence;
    /// Pairs that should be near to each other.
    pub proximity(take self, map: take UnionMap) -> ScheduleConstraints = isl_schedule_constraints_set_proximity;
    /// What holds of the parameters.
    pub context(take self, context: take Set) -> ScheduleConstraints = isl_schedule_constraints_set_context;
    /// Runs the scheduler.
    pub compute(take self) -> Schedule = isl_schedule_constraints_compute_schedule;
}

impl ScheduleConstraints {
    /// Constraints on a schedule of `domain`, none yet.
    ///
    /// # Errors
    /// Those of isl.
    pub fn on_domain(domain: &UnionSet) -> Result<ScheduleConstraints> {
        unsafe extern "C" {
            fn isl_schedule_constraints_on_domain(
                domain: *mut <UnionSet as Object>::Raw,
            ) -> *mut isl_schedule_constraints;
        }
        // SAFETY: isl takes a reference of its own.
        unsafe {
            ScheduleConstraints::from_c(domain.ctx(), isl_schedule_constraints_on_domain(domain.give()))
        }
    }
}

object!(
    /// A schedule tree.
    Schedule: isl_schedule, isl_schedule_copy, isl_schedule_free, isl_schedule_to_str
);

constructors! { Schedule;
    /// The schedule in isl's notation (YAML).
    pub read(text: text str) = isl_schedule_read_from_str;
}

methods! { Schedule;
    /// The root.
    pub root(keep self) -> ScheduleNode = isl_schedule_get_root;
    /// As a map to time.
    pub map(keep self) -> UnionMap = isl_schedule_get_map;
}

/// Kinds of nodes of a schedule tree.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)] // the names are the documentation
pub enum NodeKind {
    Band,
    Context,
    Domain,
    Expansion,
    Extension,
    Filter,
    Leaf,
    Guard,
    Mark,
    Sequence,
    Set,
}

impl FromC for NodeKind {
    type C = c_int;
    unsafe fn from_c(ctx: &crate::ctx::Ctx, c: c_int) -> Result<NodeKind> {
        Ok(match c {
            0 => NodeKind::Band,
            1 => NodeKind::Context,
            2 => NodeKind::Domain,
            3 => NodeKind::Expansion,
            4 => NodeKind::Extension,
            5 => NodeKind::Filter,
            6 => NodeKind::Leaf,
            7 => NodeKind::Guard,
            8 => NodeKind::Mark,
            9 => NodeKind::Sequence,
            10 => NodeKind::Set,
            c if c < 0 => return Err(ctx.take_error()),
            c => return Err(unknown("schedule node", c)),
        })
    }
}

pub(crate) fn unknown(what: &str, code: c_int) -> Error {
    Error {
        kind: ErrorKind::Unsupported,
        message: format!("isl gave a kind of {what} that this crate does not know ({code})"),
        place: None,
    }
}

object!(
    /// A place in a schedule tree.
    ScheduleNode: isl_schedule_node, isl_schedule_node_copy, isl_schedule_node_free, isl_schedule_node_to_str
);

methods! { ScheduleNode;
    /// Its kind.
    pub kind(keep self) -> NodeKind = isl_schedule_node_get_type;
    /// Number of children; a leaf has none.
    pub n_children(keep self) -> usize = isl_schedule_node_n_children;
    child_c(take self, position: raw c_int) -> ScheduleNode = isl_schedule_node_child;
    /// The functions of a band.
    pub partial_schedule(keep self) -> MultiUnionPwAff = isl_schedule_node_band_get_partial_schedule;
    /// Whether the members of a band may be interchanged.
    pub permutable(keep self) -> bool = isl_schedule_node_band_get_permutable;
    coincident_c(keep self, position: raw c_int) -> bool = isl_schedule_node_band_member_get_coincident;
    /// Options of a band for code generation.
    pub ast_options(keep self) -> UnionSet = isl_schedule_node_band_get_ast_build_options;
    /// The condition of a context node.
    pub context(keep self) -> Set = isl_schedule_node_context_get_context;
    /// The instances of a domain node.
    pub domain(keep self) -> UnionSet = isl_schedule_node_domain_get_domain;
    /// The instances of a filter node.
    pub filter(keep self) -> UnionSet = isl_schedule_node_filter_get_filter;
    /// The condition of a guard node.
    pub guard(keep self) -> Set = isl_schedule_node_guard_get_guard;
    /// The relation of an extension node.
    pub extension(keep self) -> UnionMap = isl_schedule_node_extension_get_extension;
    /// The relation of an expansion node.
    pub expansion(keep self) -> UnionMap = isl_schedule_node_expansion_get_expansion;
    /// The contraction of an expansion node.
    pub contraction(keep self) -> UnionPwMultiAff = isl_schedule_node_expansion_get_contraction;
    mark_c(keep self) -> Id = isl_schedule_node_mark_get_id;
}

impl ScheduleNode {
    /// A child.
    ///
    /// # Errors
    /// Those of isl.
    pub fn child(&self, position: usize) -> Result<ScheduleNode> {
        self.child_c(position as c_int)
    }

    /// Whether a member of a band is coincident: its loop may run in parallel.
    ///
    /// # Errors
    /// Those of isl.
    pub fn coincident(&self, position: usize) -> Result<bool> {
        self.coincident_c(position as c_int)
    }

    /// The name of a mark node.
    ///
    /// # Errors
    /// Those of isl.
    pub fn mark(&self) -> Result<String> {
        Ok(self.mark_c()?.name())
    }
}
