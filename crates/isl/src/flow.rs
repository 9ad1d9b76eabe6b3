//! Dataflow analysis: which write does a read see.

use crate::ctx::Result;
use crate::map::UnionMap;
use crate::object::{FromC, Object};

object!(
    /// Accesses and an order, for dataflow analysis.
    UnionAccessInfo: isl_union_access_info, isl_union_access_info_copy, isl_union_access_info_free, isl_union_access_info_to_str
);

methods! { UnionAccessInfo;
    /// Sources that certainly happen: they hide earlier ones.
    pub must_source(take self, accesses: take UnionMap) -> UnionAccessInfo = isl_union_access_info_set_must_source;
    /// Sources that may happen.
    pub may_source(take self, accesses: take UnionMap) -> UnionAccessInfo = isl_union_access_info_set_may_source;
    /// The order as a map to time.
    pub schedule_map(take self, schedule: take UnionMap) -> UnionAccessInfo = isl_union_access_info_set_schedule_map;
    /// Does the analysis.
    pub compute(take self) -> UnionFlow = isl_union_access_info_compute_flow;
}

impl UnionAccessInfo {
    /// The accesses whose sources are wanted.
    ///
    /// # Errors
    /// Those of isl.
    pub fn from_sink(sink: &UnionMap) -> Result<UnionAccessInfo> {
        unsafe extern "C" {
            fn isl_union_access_info_from_sink(
                sink: *mut <UnionMap as Object>::Raw,
            ) -> *mut isl_union_access_info;
        }
        // SAFETY: isl takes a reference of its own.
        unsafe { UnionAccessInfo::from_c(sink.ctx(), isl_union_access_info_from_sink(sink.give())) }
    }
}

object!(
    /// The result of dataflow analysis.
    UnionFlow: isl_union_flow, isl_union_flow_copy, isl_union_flow_free, isl_union_flow_to_str
);

methods! { UnionFlow;
    /// All dependences.
    pub may(keep self) -> UnionMap = isl_union_flow_get_may_dependence;
    /// All dependences with the element in the range.
    pub full_may(keep self) -> UnionMap = isl_union_flow_get_full_may_dependence;
}
