//! Sets: of one space (`Set`, a union of `BasicSet`s) and of several (`UnionSet`).

use std::ffi::{c_int, c_uint};

use crate::aff::{Aff, MultiPwAff, PwAff};
use crate::ctx::{Ctx, Result};
use crate::map::{Map, UnionMap};
use crate::object::{FromC, Object};
use crate::space::{Dim, Space, Val};

object!(
    /// A linear constraint.
    Constraint: isl_constraint, isl_constraint_copy, isl_constraint_free
);

methods! { Constraint;
    /// Whether it is an equality (else it is `>= 0`).
    pub is_equality(keep self) -> bool = isl_constraint_is_equality;
    /// Whether it is one of the two that define a local variable.
    pub is_div_constraint(keep self) -> bool = isl_constraint_is_div_constraint;
    coefficient_c(keep self, kind: raw c_int, position: raw c_int) -> Val = isl_constraint_get_coefficient_val;
    /// The constant term.
    pub constant(keep self) -> Val = isl_constraint_get_constant_val;
    /// The affine expression that is zero or non-negative.
    pub aff(keep self) -> Aff = isl_constraint_get_aff;
    dim_c(keep self, kind: raw c_int) -> usize = isl_constraint_dim;
    /// With another constant term.
    pub with_constant(take self, value: take Val) -> Constraint = isl_constraint_set_constant_val;
    with_coefficient_c(take self, kind: raw c_int, position: raw c_int, value: take Val) -> Constraint = isl_constraint_set_coefficient_val;
}

impl Constraint {
    /// With another coefficient of a dimension.
    ///
    /// # Errors
    /// Those of isl.
    pub fn with_coefficient(&self, kind: Dim, position: usize, value: &Val) -> Result<Constraint> {
        self.with_coefficient_c(kind.c(), position as c_int, value)
    }

    /// The coefficient of a dimension.
    ///
    /// # Errors
    /// Those of isl.
    pub fn coefficient(&self, kind: Dim, position: usize) -> Result<Val> {
        self.coefficient_c(kind.c(), position as c_int)
    }

    /// Number of dimensions of a kind.
    ///
    /// # Errors
    /// Those of isl.
    pub fn dim(&self, kind: Dim) -> Result<usize> {
        self.dim_c(kind.c())
    }
}

list!(ConstraintList of Constraint: isl_constraint_list, isl_constraint_list_copy, isl_constraint_list_free, isl_constraint_list_alloc, isl_constraint_list_add, isl_constraint_list_size, isl_constraint_list_get_at);

object!(
    /// An element of a set.
    Point: isl_point, isl_point_copy, isl_point_free, isl_point_to_str
);

methods! { Point;
    coordinate_c(keep self, kind: raw c_int, position: raw c_int) -> Val = isl_point_get_coordinate_val;
}

impl Point {
    /// A coordinate.
    ///
    /// # Errors
    /// Those of isl.
    pub fn coordinate(&self, kind: Dim, position: usize) -> Result<Val> {
        self.coordinate_c(kind.c(), position as c_int)
    }
}

object!(
    /// A conjunction of linear constraints with local variables.
    BasicSet: isl_basic_set, isl_basic_set_copy, isl_basic_set_free, isl_basic_set_to_str
);

methods! { BasicSet;
    /// Its constraints.
    pub constraints(keep self) -> Vec<Constraint> = isl_basic_set_get_constraint_list;
    /// As a set.
    pub to_set(take self) -> Set = isl_basic_set_to_set;
    dim_c(keep self, kind: raw c_int) -> usize = isl_basic_set_dim;
    div_c(keep self, position: raw c_int) -> Aff = isl_basic_set_get_div;
}

impl BasicSet {
    /// The expression whose value, rounded down, is a local variable. Its coordinates are of kind
    /// [`Dim::In`].
    ///
    /// # Errors
    /// Those of isl, as where the variable is no quotient.
    pub fn div(&self, position: usize) -> Result<Aff> {
        self.div_c(position as c_int)
    }

    /// Number of dimensions of a kind.
    ///
    /// # Errors
    /// Those of isl.
    pub fn dim(&self, kind: Dim) -> Result<usize> {
        self.dim_c(kind.c())
    }
}

list!(BasicSetList of BasicSet: isl_basic_set_list, isl_basic_set_list_copy, isl_basic_set_list_free, isl_basic_set_list_alloc, isl_basic_set_list_add, isl_basic_set_list_size, isl_basic_set_list_get_at);

object!(
    /// A set of integer tuples of one space.
    Set: isl_set, isl_set_copy, isl_set_free, isl_set_to_str
);

constructors! { Set;
    /// The set in isl's notation.
    pub read(text: text str) = isl_set_read_from_str;
}

methods! { Set;
    /// Union.
    pub union(take self, other: take Set) -> Set = isl_set_union;
    /// Those of its elements for which a constraint holds.
    pub add_constraint(take self, constraint: take Constraint) -> Set = isl_set_add_constraint;
    /// Intersection.
    pub intersect(take self, other: take Set) -> Set = isl_set_intersect;
    /// Intersection with conditions on the parameters.
    pub intersect_params(take self, params: take Set) -> Set = isl_set_intersect_params;
    /// Difference.
    pub subtract(take self, other: take Set) -> Set = isl_set_subtract;
    /// Complement.
    pub complement(take self) -> Set = isl_set_complement;
    /// Image under a map.
    pub apply(take self, map: take Map) -> Set = isl_set_apply;
    /// Lexicographically least elements.
    pub lexmin(take self) -> Set = isl_set_lexmin;
    /// Lexicographically greatest elements.
    pub lexmax(take self) -> Set = isl_set_lexmax;
    /// Fewer basic sets for the same elements, where possible.
    pub coalesce(take self) -> Set = isl_set_coalesce;
    /// Simplified where `context` holds.
    pub gist(take self, context: take Set) -> Set = isl_set_gist;
    /// The parameters for which it has elements.
    pub params(take self) -> Set = isl_set_params;
    /// Local variables as explicit quotients.
    pub compute_divs(take self) -> Set = isl_set_compute_divs;
    /// A basic set that contains it, from its own constraints.
    pub simple_hull(take self) -> BasicSet = isl_set_simple_hull;
    /// The disjuncts are made disjoint.
    pub make_disjoint(take self) -> Set = isl_set_make_disjoint;
    /// Its basic sets.
    pub basic_sets(keep self) -> Vec<BasicSet> = isl_set_get_basic_set_list;
    /// The space.
    pub space(keep self) -> Space = isl_set_get_space;
    /// Whether it has no elements.
    pub is_empty(keep self) -> bool = isl_set_is_empty;
    /// Whether it is equal to another.
    pub is_equal(keep self, other: keep Set) -> bool = isl_set_is_equal;
    /// Whether it is contained in another.
    pub is_subset(keep self, other: keep Set) -> bool = isl_set_is_subset;
    /// Whether the two have no common elements.
    pub is_disjoint(keep self, other: keep Set) -> bool = isl_set_is_disjoint;
    /// Whether it has finitely many elements for each value of the parameters.
    pub is_bounded(keep self) -> bool = isl_set_is_bounded;
    /// An element, or the void point.
    pub sample_point(take self) -> Point = isl_set_sample_point;
    /// Number of elements; needs constant parameters.
    pub count(keep self) -> Val = isl_set_count_val;
    /// The least value of a dimension, as a function of the parameters.
    pub dim_min_c(take self, position: raw c_int) -> PwAff = isl_set_dim_min;
    dim_max_c(take self, position: raw c_int) -> PwAff = isl_set_dim_max;
    /// As a union set.
    pub to_union(take self) -> UnionSet = isl_set_to_union_set;
    /// The map from each element to itself.
    pub identity(take self) -> Map = isl_set_identity;
    /// The map that the elements, wrapped pairs, stand for.
    pub unwrap(take self) -> Map = isl_set_unwrap;
    set_tuple_name_c(take self, name: text str) -> Set = isl_set_set_tuple_name;
    set_dim_name_c(take self, kind: raw c_int, position: raw c_uint, name: text str) -> Set = isl_set_set_dim_name;
    dim_name_c(keep self, kind: raw c_int, position: raw c_uint) -> Option<String> = isl_set_get_dim_name;
    /// Name of the tuple.
    pub tuple_name(keep self) -> Option<String> = isl_set_get_tuple_name;
    dim_c(keep self, kind: raw c_int) -> usize = isl_set_dim;
    project_out_c(take self, kind: raw c_int, first: raw c_uint, n: raw c_uint) -> Set = isl_set_project_out;
    insert_dims_c(take self, kind: raw c_int, position: raw c_uint, n: raw c_uint) -> Set = isl_set_insert_dims;
    move_dims_c(take self, to: raw c_int, to_position: raw c_uint, from: raw c_int, from_position: raw c_uint, n: raw c_uint) -> Set = isl_set_move_dims;
    fix_c(take self, kind: raw c_int, position: raw c_uint, value: take Val) -> Set = isl_set_fix_val;
    lower_bound_c(take self, kind: raw c_int, position: raw c_uint, value: take Val) -> Set = isl_set_lower_bound_val;
    upper_bound_c(take self, kind: raw c_int, position: raw c_uint, value: take Val) -> Set = isl_set_upper_bound_val;
    find_dim_c(keep self, kind: raw c_int, name: text str) -> i32 = isl_set_find_dim_by_name;
}

impl Set {
    /// All elements of a space.
    ///
    /// # Errors
    /// Those of isl.
    pub fn universe(space: &Space) -> Result<Set> {
        unsafe extern "C" {
            fn isl_space_universe_set(space: *mut <Space as Object>::Raw) -> *mut isl_set;
        }
        // SAFETY: isl takes a reference of its own.
        unsafe { Set::from_c(space.ctx(), isl_space_universe_set(space.give())) }
    }

    /// No elements of a space.
    ///
    /// # Errors
    /// Those of isl.
    pub fn empty(space: &Space) -> Result<Set> {
        unsafe extern "C" {
            fn isl_set_empty(space: *mut <Space as Object>::Raw) -> *mut isl_set;
        }
        // SAFETY: isl takes a reference of its own.
        unsafe { Set::from_c(space.ctx(), isl_set_empty(space.give())) }
    }

    /// Number of dimensions of a kind.
    ///
    /// # Errors
    /// Those of isl.
    pub fn dim(&self, kind: Dim) -> Result<usize> {
        self.dim_c(kind.c())
    }

    /// Names the tuple.
    ///
    /// # Errors
    /// Those of isl.
    pub fn set_tuple_name(&self, name: &str) -> Result<Set> {
        self.set_tuple_name_c(name)
    }

    /// Names a dimension.
    ///
    /// # Errors
    /// Those of isl.
    pub fn set_dim_name(&self, kind: Dim, position: usize, name: &str) -> Result<Set> {
        self.set_dim_name_c(kind.c(), position as c_uint, name)
    }

    /// Name of a dimension.
    ///
    /// # Errors
    /// Those of isl.
    pub fn dim_name(&self, kind: Dim, position: usize) -> Result<Option<String>> {
        self.dim_name_c(kind.c(), position as c_uint)
    }

    /// Projects dimensions away.
    ///
    /// # Errors
    /// Those of isl.
    pub fn project_out(&self, kind: Dim, first: usize, n: usize) -> Result<Set> {
        self.project_out_c(kind.c(), first as c_uint, n as c_uint)
    }

    /// Inserts unconstrained dimensions.
    ///
    /// # Errors
    /// Those of isl.
    pub fn insert_dims(&self, kind: Dim, position: usize, n: usize) -> Result<Set> {
        self.insert_dims_c(kind.c(), position as c_uint, n as c_uint)
    }

    /// Moves `n` dimensions from one place and kind to another.
    ///
    /// # Errors
    /// Those of isl.
    pub fn move_dims(&self, to: (Dim, usize), from: (Dim, usize), n: usize) -> Result<Set> {
        self.move_dims_c(to.0.c(), to.1 as c_uint, from.0.c(), from.1 as c_uint, n as c_uint)
    }

    /// Fixes a dimension.
    ///
    /// # Errors
    /// Those of isl.
    pub fn fix(&self, kind: Dim, position: usize, value: i64) -> Result<Set> {
        self.fix_c(kind.c(), position as c_uint, &Val::int(&self.ctx, value)?)
    }

    /// Bounds a dimension from below.
    ///
    /// # Errors
    /// Those of isl.
    pub fn lower_bound(&self, kind: Dim, position: usize, value: i64) -> Result<Set> {
        self.lower_bound_c(kind.c(), position as c_uint, &Val::int(&self.ctx, value)?)
    }

    /// Bounds a dimension from above.
    ///
    /// # Errors
    /// Those of isl.
    pub fn upper_bound(&self, kind: Dim, position: usize, value: i64) -> Result<Set> {
        self.upper_bound_c(kind.c(), position as c_uint, &Val::int(&self.ctx, value)?)
    }

    /// The least value of a dimension as a function of the parameters.
    ///
    /// # Errors
    /// Those of isl; among others if it is unbounded.
    pub fn dim_min(&self, position: usize) -> Result<PwAff> {
        self.dim_min_c(position as c_int)
    }

    /// The greatest value of a dimension as a function of the parameters.
    ///
    /// # Errors
    /// Those of isl; among others if it is unbounded.
    pub fn dim_max(&self, position: usize) -> Result<PwAff> {
        self.dim_max_c(position as c_int)
    }

    /// Position of a named dimension.
    ///
    /// # Errors
    /// Those of isl.
    pub fn find_dim(&self, kind: Dim, name: &str) -> Result<Option<usize>> {
        Ok(usize::try_from(self.find_dim_c(kind.c(), name)?).ok())
    }

    /// The elements whose image under `function` is in this set.
    ///
    /// # Errors
    /// Those of isl.
    pub fn preimage(&self, function: &MultiPwAff) -> Result<Set> {
        self.preimage_multi_pw_aff(function)
    }
}

methods! { Set;
    preimage_multi_pw_aff(take self, function: take MultiPwAff) -> Set = isl_set_preimage_multi_pw_aff;
}

list!(SetList of Set: isl_set_list, isl_set_list_copy, isl_set_list_free, isl_set_list_alloc, isl_set_list_add, isl_set_list_size, isl_set_list_get_at);

object!(
    /// A set of integer tuples of several spaces.
    UnionSet: isl_union_set, isl_union_set_copy, isl_union_set_free, isl_union_set_to_str
);

constructors! { UnionSet;
    /// The set in isl's notation.
    pub read(text: text str) = isl_union_set_read_from_str;
    /// No elements.
    pub empty() = isl_union_set_empty_ctx;
}

methods! { UnionSet;
    /// Union.
    pub union(take self, other: take UnionSet) -> UnionSet = isl_union_set_union;
    /// Intersection.
    pub intersect(take self, other: take UnionSet) -> UnionSet = isl_union_set_intersect;
    /// Intersection with conditions on the parameters.
    pub intersect_params(take self, params: take Set) -> UnionSet = isl_union_set_intersect_params;
    /// Difference.
    pub subtract(take self, other: take UnionSet) -> UnionSet = isl_union_set_subtract;
    /// Image under a map.
    pub apply(take self, map: take UnionMap) -> UnionSet = isl_union_set_apply;
    /// Cartesian product.
    pub product(take self, other: take UnionSet) -> UnionSet = isl_union_set_product;
    /// Lexicographically least elements of each space.
    pub lexmin(take self) -> UnionSet = isl_union_set_lexmin;
    /// Lexicographically greatest elements of each space.
    pub lexmax(take self) -> UnionSet = isl_union_set_lexmax;
    /// Fewer basic sets for the same elements, where possible.
    pub coalesce(take self) -> UnionSet = isl_union_set_coalesce;
    /// At least the same elements, without the conditions that speak of quotients and remainders.
    pub remove_divs(take self) -> UnionSet = isl_union_set_remove_divs;
    /// Simplified where `context` holds.
    pub gist(take self, context: take UnionSet) -> UnionSet = isl_union_set_gist;
    /// The parameters for which it has elements.
    pub params(take self) -> Set = isl_union_set_params;
    /// Its sets, one a space.
    pub sets(keep self) -> Vec<Set> = isl_union_set_get_set_list;
    /// The space of the parameters.
    pub space(keep self) -> Space = isl_union_set_get_space;
    /// Whether it has no elements.
    pub is_empty(keep self) -> bool = isl_union_set_is_empty;
    /// Whether it is equal to another.
    pub is_equal(keep self, other: keep UnionSet) -> bool = isl_union_set_is_equal;
    /// Whether it is contained in another.
    pub is_subset(keep self, other: keep UnionSet) -> bool = isl_union_set_is_subset;
    /// Whether it is contained in another and not equal to it.
    pub is_strict_subset(keep self, other: keep UnionSet) -> bool = isl_union_set_is_strict_subset;
    /// The map from each element to itself.
    pub identity(take self) -> UnionMap = isl_union_set_identity;
    /// All pairs of earlier and later elements of each space.
    pub lex_lt(take self, other: take UnionSet) -> UnionMap = isl_union_set_lex_lt_union_set;
    /// As `lex_lt`, or equal.
    pub lex_le(take self, other: take UnionSet) -> UnionMap = isl_union_set_lex_le_union_set;
    /// All elements of the spaces.
    pub universe(take self) -> UnionSet = isl_union_set_universe;
}

impl UnionSet {
    /// The union of sets.
    ///
    /// # Errors
    /// Those of isl.
    pub fn of<'a>(ctx: &Ctx, sets: impl IntoIterator<Item = &'a Set>) -> Result<UnionSet> {
        sets.into_iter().try_fold(UnionSet::empty(ctx)?, |all, set| all.union(&set.to_union()?))
    }
}

list!(UnionSetList of UnionSet: isl_union_set_list, isl_union_set_list_copy, isl_union_set_list_free, isl_union_set_list_alloc, isl_union_set_list_add, isl_union_set_list_size, isl_union_set_list_get_at);
