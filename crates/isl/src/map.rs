//! Maps: between two spaces (`Map`, a union of `BasicMap`s) and between several (`UnionMap`).

use std::ffi::{c_int, c_uint};

use crate::aff::{MultiAff, MultiPwAff, MultiUnionPwAff, PwMultiAff};
use crate::ctx::{Ctx, Result};
use crate::object::{FromC, Object};
use crate::set::{Set, UnionSet};
use crate::space::{Dim, Space, Val};

object!(
    /// A conjunction of linear constraints between two tuples, with local variables.
    BasicMap: isl_basic_map, isl_basic_map_copy, isl_basic_map_free, isl_basic_map_to_str
);

list!(BasicMapList of BasicMap: isl_basic_map_list, isl_basic_map_list_copy, isl_basic_map_list_free, isl_basic_map_list_alloc, isl_basic_map_list_add, isl_basic_map_list_size, isl_basic_map_list_get_at);

object!(
    /// A relation between integer tuples of two spaces.
    Map: isl_map, isl_map_copy, isl_map_free, isl_map_to_str
);

constructors! { Map;
    /// The map in isl's notation.
    pub read(text: text str) = isl_map_read_from_str;
}

methods! { Map;
    /// Union.
    pub union(take self, other: take Map) -> Map = isl_map_union;
    /// Intersection.
    pub intersect(take self, other: take Map) -> Map = isl_map_intersect;
    /// Intersection with conditions on the parameters.
    pub intersect_params(take self, params: take Set) -> Map = isl_map_intersect_params;
    /// Restriction of the domain.
    pub intersect_domain(take self, set: take Set) -> Map = isl_map_intersect_domain;
    /// Restriction of the range.
    pub intersect_range(take self, set: take Set) -> Map = isl_map_intersect_range;
    /// Difference.
    pub subtract(take self, other: take Map) -> Map = isl_map_subtract;
    /// Inverse.
    pub reverse(take self) -> Map = isl_map_reverse;
    /// The domain.
    pub domain(take self) -> Set = isl_map_domain;
    /// The range.
    pub range(take self) -> Set = isl_map_range;
    /// Composition: first this, then the other.
    pub apply_range(take self, other: take Map) -> Map = isl_map_apply_range;
    /// The domain is replaced by its image.
    pub apply_domain(take self, other: take Map) -> Map = isl_map_apply_domain;
    /// Lexicographically least image of each element.
    pub lexmin(take self) -> Map = isl_map_lexmin;
    /// Lexicographically greatest image of each element.
    pub lexmax(take self) -> Map = isl_map_lexmax;
    /// Fewer basic maps for the same pairs, where possible.
    pub coalesce(take self) -> Map = isl_map_coalesce;
    /// Simplified where `context` holds of the domain.
    pub gist_domain(take self, context: take Set) -> Map = isl_map_gist_domain;
    /// The set of pairs.
    pub wrap(take self) -> Set = isl_map_wrap;
    /// The set of pairs, flat.
    pub flatten(take self) -> Map = isl_map_flatten;
    /// The space.
    pub space(keep self) -> Space = isl_map_get_space;
    /// Whether it has no pairs.
    pub is_empty(keep self) -> bool = isl_map_is_empty;
    /// Whether it is equal to another.
    pub is_equal(keep self, other: keep Map) -> bool = isl_map_is_equal;
    /// Whether both are equal by their constraints alone: never true of different maps, and quick.
    pub plain_is_equal(keep self, other: keep Map) -> bool = isl_map_plain_is_equal;
    /// Whether it is contained in another.
    pub is_subset(keep self, other: keep Map) -> bool = isl_map_is_subset;
    /// Whether the two have no common pairs.
    pub is_disjoint(keep self, other: keep Map) -> bool = isl_map_is_disjoint;
    /// Whether each element has at most one image.
    pub is_single_valued(keep self) -> bool = isl_map_is_single_valued;
    /// Whether each image belongs to one element.
    pub is_injective(keep self) -> bool = isl_map_is_injective;
    /// Whether it is single-valued and injective.
    pub is_bijective(keep self) -> bool = isl_map_is_bijective;
    /// As a union map.
    pub to_union(take self) -> UnionMap = isl_map_to_union_map;
    /// The function that a single-valued map is.
    pub as_pw_multi_aff(take self) -> PwMultiAff = isl_map_as_pw_multi_aff;
    /// Least value of each output by itself.
    pub min_multi_pw_aff(take self) -> MultiPwAff = isl_map_min_multi_pw_aff;
    /// Greatest value of each output by itself.
    pub max_multi_pw_aff(take self) -> MultiPwAff = isl_map_max_multi_pw_aff;
    /// Keeps the second half of a wrapped range.
    pub range_factor_range(take self) -> Map = isl_map_range_factor_range;
    /// Keeps the first half of a wrapped range.
    pub range_factor_domain(take self) -> Map = isl_map_range_factor_domain;
    set_tuple_name_c(take self, kind: raw c_int, name: text str) -> Map = isl_map_set_tuple_name;
    tuple_name_c(keep self, kind: raw c_int) -> Option<String> = isl_map_get_tuple_name;
    reset_tuple_c(take self, kind: raw c_int) -> Map = isl_map_reset_tuple_id;
    set_dim_name_c(take self, kind: raw c_int, position: raw c_uint, name: text str) -> Map = isl_map_set_dim_name;
    dim_c(keep self, kind: raw c_int) -> usize = isl_map_dim;
    project_out_c(take self, kind: raw c_int, first: raw c_uint, n: raw c_uint) -> Map = isl_map_project_out;
    insert_dims_c(take self, kind: raw c_int, position: raw c_uint, n: raw c_uint) -> Map = isl_map_insert_dims;
    equate_c(take self, first: raw c_int, i: raw c_int, second: raw c_int, j: raw c_int) -> Map = isl_map_equate;
    order_lt_c(take self, first: raw c_int, i: raw c_int, second: raw c_int, j: raw c_int) -> Map = isl_map_order_lt;
    order_gt_c(take self, first: raw c_int, i: raw c_int, second: raw c_int, j: raw c_int) -> Map = isl_map_order_gt;
    fix_c(take self, kind: raw c_int, position: raw c_uint, value: take Val) -> Map = isl_map_fix_val;
    eliminate_c(take self, kind: raw c_int, first: raw c_uint, n: raw c_uint) -> Map = isl_map_eliminate;
    move_dims_c(take self, to: raw c_int, to_position: raw c_uint, from: raw c_int, from_position: raw c_uint, n: raw c_uint) -> Map = isl_map_move_dims;
}

/// Constructors from spaces and sets.
macro_rules! from_space {
    ($($(#[$meta:meta])* pub $name:ident($($arg:ident : $ty:ident),*) = $c:ident;)*) => {
        impl Map { $(
            $(#[$meta])*
            ///
            /// # Errors
            /// Those of isl.
            pub fn $name($($arg: &$ty),*) -> Result<Map> {
                unsafe extern "C" {
                    fn $c($($arg: *mut <$ty as Object>::Raw),*) -> *mut isl_map;
                }
                let mut ctx = None;
                $(
                    if let Some(ctx) = ctx { crate::object::same(ctx, $arg.ctx())?; }
                    ctx = Some($arg.ctx());
                )*
                let ctx = ctx.expect("there is an argument");
                // SAFETY: the declaration is the header's; isl takes references of its own, all of
                // one context.
                unsafe { Map::from_c(ctx, $c($($arg.give()),*)) }
            }
        )* }
    };
}

from_space! {
    /// All pairs.
    pub universe(space: Space) = isl_map_universe;
    /// No pairs.
    pub empty(space: Space) = isl_map_empty;
    /// Each element to itself.
    pub identity(space: Space) = isl_map_identity;
    /// All pairs of a domain and a range.
    pub from_domain_and_range(domain: Set, range: Set) = isl_map_from_domain_and_range;
    /// The graph of a function.
    pub from_multi_pw_aff(function: MultiPwAff) = isl_map_from_multi_pw_aff;
}

impl Map {
    /// Number of dimensions of a kind.
    ///
    /// # Errors
    /// Those of isl.
    pub fn dim(&self, kind: Dim) -> Result<usize> {
        self.dim_c(kind.c())
    }

    /// Names a tuple.
    ///
    /// # Errors
    /// Those of isl.
    pub fn set_tuple_name(&self, kind: Dim, name: &str) -> Result<Map> {
        self.set_tuple_name_c(kind.c(), name)
    }

    /// The name of a tuple.
    ///
    /// # Errors
    /// Those of isl.
    pub fn tuple_name(&self, kind: Dim) -> Result<Option<String>> {
        self.tuple_name_c(kind.c())
    }

    /// Takes a tuple's name away.
    ///
    /// # Errors
    /// Those of isl.
    pub fn reset_tuple_name(&self, kind: Dim) -> Result<Map> {
        self.reset_tuple_c(kind.c())
    }

    /// Names a dimension.
    ///
    /// # Errors
    /// Those of isl.
    pub fn set_dim_name(&self, kind: Dim, position: usize, name: &str) -> Result<Map> {
        self.set_dim_name_c(kind.c(), position as c_uint, name)
    }

    /// Projects dimensions away.
    ///
    /// # Errors
    /// Those of isl.
    pub fn project_out(&self, kind: Dim, first: usize, n: usize) -> Result<Map> {
        self.project_out_c(kind.c(), first as c_uint, n as c_uint)
    }

    /// Removes all constraints on dimensions, which stay.
    ///
    /// # Errors
    /// Those of isl.
    pub fn eliminate(&self, kind: Dim, first: usize, n: usize) -> Result<Map> {
        self.eliminate_c(kind.c(), first as c_uint, n as c_uint)
    }

    /// Inserts unconstrained dimensions.
    ///
    /// # Errors
    /// Those of isl.
    pub fn insert_dims(&self, kind: Dim, position: usize, n: usize) -> Result<Map> {
        self.insert_dims_c(kind.c(), position as c_uint, n as c_uint)
    }

    /// Moves `n` dimensions from one place and kind to another.
    ///
    /// # Errors
    /// Those of isl.
    pub fn move_dims(&self, to: (Dim, usize), from: (Dim, usize), n: usize) -> Result<Map> {
        self.move_dims_c(to.0.c(), to.1 as c_uint, from.0.c(), from.1 as c_uint, n as c_uint)
    }

    /// Makes two dimensions equal.
    ///
    /// # Errors
    /// Those of isl.
    pub fn equate(&self, first: (Dim, usize), second: (Dim, usize)) -> Result<Map> {
        self.equate_c(first.0.c(), first.1 as c_int, second.0.c(), second.1 as c_int)
    }

    /// Makes one dimension less than another.
    ///
    /// # Errors
    /// Those of isl.
    pub fn order_lt(&self, first: (Dim, usize), second: (Dim, usize)) -> Result<Map> {
        self.order_lt_c(first.0.c(), first.1 as c_int, second.0.c(), second.1 as c_int)
    }

    /// Makes one dimension greater than another.
    ///
    /// # Errors
    /// Those of isl.
    pub fn order_gt(&self, first: (Dim, usize), second: (Dim, usize)) -> Result<Map> {
        self.order_gt_c(first.0.c(), first.1 as c_int, second.0.c(), second.1 as c_int)
    }

    /// Fixes a dimension.
    ///
    /// # Errors
    /// Those of isl.
    pub fn fix(&self, kind: Dim, position: usize, value: i64) -> Result<Map> {
        self.fix_c(kind.c(), position as c_uint, &Val::int(&self.ctx, value)?)
    }
}

list!(MapList of Map: isl_map_list, isl_map_list_copy, isl_map_list_free, isl_map_list_alloc, isl_map_list_add, isl_map_list_size, isl_map_list_get_at);

object!(
    /// A relation between integer tuples of several spaces.
    UnionMap: isl_union_map, isl_union_map_copy, isl_union_map_free, isl_union_map_to_str
);

constructors! { UnionMap;
    /// The map in isl's notation.
    pub read(text: text str) = isl_union_map_read_from_str;
    /// No pairs.
    pub empty() = isl_union_map_empty_ctx;
}

methods! { UnionMap;
    /// Union.
    pub union(take self, other: take UnionMap) -> UnionMap = isl_union_map_union;
    /// Intersection.
    pub intersect(take self, other: take UnionMap) -> UnionMap = isl_union_map_intersect;
    /// Intersection with conditions on the parameters.
    pub intersect_params(take self, params: take Set) -> UnionMap = isl_union_map_intersect_params;
    /// Restriction of the domain.
    pub intersect_domain(take self, set: take UnionSet) -> UnionMap = isl_union_map_intersect_domain;
    /// Restriction of the range.
    pub intersect_range(take self, set: take UnionSet) -> UnionMap = isl_union_map_intersect_range;
    /// Difference.
    pub subtract(take self, other: take UnionMap) -> UnionMap = isl_union_map_subtract;
    /// Inverse.
    pub reverse(take self) -> UnionMap = isl_union_map_reverse;
    /// The domain.
    pub domain(take self) -> UnionSet = isl_union_map_domain;
    /// The range.
    pub range(take self) -> UnionSet = isl_union_map_range;
    /// Composition: first this, then the other.
    pub apply_range(take self, other: take UnionMap) -> UnionMap = isl_union_map_apply_range;
    /// Pairs both sides' ranges, flat.
    pub flat_range_product(take self, other: take UnionMap) -> UnionMap = isl_union_map_flat_range_product;
    /// Cartesian product.
    pub product(take self, other: take UnionMap) -> UnionMap = isl_union_map_product;
    /// Lexicographically least image of each element in each space.
    pub lexmin(take self) -> UnionMap = isl_union_map_lexmin;
    /// Lexicographically greatest image of each element in each space.
    pub lexmax(take self) -> UnionMap = isl_union_map_lexmax;
    /// Fewer basic maps for the same pairs, where possible.
    pub coalesce(take self) -> UnionMap = isl_union_map_coalesce;
    /// Simplified where `context` holds.
    pub gist(take self, context: take UnionMap) -> UnionMap = isl_union_map_gist;
    /// Differences of images and elements.
    pub deltas(take self) -> UnionSet = isl_union_map_deltas;
    /// Conditions on the parameters under which it has pairs.
    pub params(take self) -> Set = isl_union_map_params;
    /// Its maps, one a pair of spaces.
    pub maps(keep self) -> Vec<Map> = isl_union_map_get_map_list;
    /// Whether it has no pairs.
    pub is_empty(keep self) -> bool = isl_union_map_is_empty;
    /// Whether it is equal to another.
    pub is_equal(keep self, other: keep UnionMap) -> bool = isl_union_map_is_equal;
    /// Whether it is contained in another.
    pub is_subset(keep self, other: keep UnionMap) -> bool = isl_union_map_is_subset;
    /// Whether it is contained in another and not equal to it.
    pub is_strict_subset(keep self, other: keep UnionMap) -> bool = isl_union_map_is_strict_subset;
    /// Whether each element has at most one image.
    pub is_single_valued(keep self) -> bool = isl_union_map_is_single_valued;
    /// Whether each image belongs to one element.
    pub is_injective(keep self) -> bool = isl_union_map_is_injective;
    /// Whether it is single-valued and injective.
    pub is_bijective(keep self) -> bool = isl_union_map_is_bijective;
    /// Pairs of domain elements whose images under this and `other` are in lexicographic order.
    pub lex_lt(take self, other: take UnionMap) -> UnionMap = isl_union_map_lex_lt_union_map;
    /// As `lex_gt`, or equal.
    pub lex_ge(take self, other: take UnionMap) -> UnionMap = isl_union_map_lex_ge_union_map;
    /// Pairs for which a function gives the same on both sides.
    pub eq_at(take self, function: take MultiUnionPwAff) -> UnionMap = isl_union_map_eq_at_multi_union_pw_aff;
    /// The function that a single-valued map with one range space is.
    pub as_multi_union_pw_aff(take self) -> MultiUnionPwAff = isl_union_map_as_multi_union_pw_aff;
    /// All pairs of the spaces.
    pub universe(take self) -> UnionMap = isl_union_map_universe;
}

impl UnionMap {
    /// The union of maps.
    ///
    /// # Errors
    /// Those of isl.
    pub fn of<'a>(ctx: &Ctx, maps: impl IntoIterator<Item = &'a Map>) -> Result<UnionMap> {
        maps.into_iter().try_fold(UnionMap::empty(ctx)?, |all, map| all.union(&map.to_union()?))
    }

    /// All pairs of a domain and a range.
    ///
    /// # Errors
    /// Those of isl.
    pub fn from_domain_and_range(domain: &UnionSet, range: &UnionSet) -> Result<UnionMap> {
        domain.all_pairs(range)
    }
}

methods! { UnionSet;
    pub(crate) all_pairs(take self, range: take UnionSet) -> UnionMap = isl_union_map_from_domain_and_range;
}

object!(
    /// A box of constant extents whose corner is a function.
    FixedBox: isl_fixed_box, isl_fixed_box_copy, isl_fixed_box_free, isl_fixed_box_to_str
);

object!(
    /// A tuple of numbers.
    MultiVal: isl_multi_val, isl_multi_val_copy, isl_multi_val_free, isl_multi_val_to_str
);

methods! { Map;
    /// A box of constant extents around the images of each element, if there is one.
    pub fixed_box(keep self) -> FixedBox = isl_map_get_range_simple_fixed_box_hull;
}

methods! { FixedBox;
    /// Whether there is a box.
    pub is_valid(keep self) -> bool = isl_fixed_box_is_valid;
    /// Its corner.
    pub offset(keep self) -> MultiAff = isl_fixed_box_get_offset;
    size_c(keep self) -> MultiVal = isl_fixed_box_get_size;
}

methods! { MultiVal;
    val_c(keep self, position: raw c_int) -> Val = isl_multi_val_get_at;
    val_dim_c(keep self, kind: raw c_int) -> usize = isl_multi_val_dim;
}

impl FixedBox {
    /// Its extents.
    ///
    /// # Errors
    /// Those of isl.
    pub fn extents(&self) -> Result<Vec<Val>> {
        let size = self.size_c()?;
        (0..size.val_dim_c(Dim::Out.c())?).map(|position| size.val_c(position as c_int)).collect()
    }
}
