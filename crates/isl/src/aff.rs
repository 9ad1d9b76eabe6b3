//! Quasi-affine functions: single, piecewise, several at once, and on several spaces.

use std::ffi::{c_int, c_uint};

use crate::callback::{self, Shared};
use crate::ctx::Result;
use crate::map::UnionMap;
use crate::object::{FromC, Object};
use crate::set::{Set, UnionSet};
use crate::space::{Dim, LocalSpace, Space, Val};

object!(
    /// A quasi-affine expression: integer divisions by constants are allowed.
    Aff: isl_aff, isl_aff_copy, isl_aff_free, isl_aff_to_str
);

methods! { Aff;
    /// The constant term.
    pub constant(keep self) -> Val = isl_aff_get_constant_val;
    /// The product with a number.
    pub scale(take self, by: take Val) -> Aff = isl_aff_scale_val;
    /// The common denominator.
    pub denominator(keep self) -> Val = isl_aff_get_denominator_val;
    /// The space of the arguments.
    pub domain_space(keep self) -> Space = isl_aff_get_domain_space;
    /// Whether it is a constant.
    pub is_constant(keep self) -> bool = isl_aff_is_cst;
    coefficient_c(keep self, kind: raw c_int, position: raw c_int) -> Val = isl_aff_get_coefficient_val;
    dim_c(keep self, kind: raw c_int) -> usize = isl_aff_dim;
    /// As a piecewise expression.
    pub to_pw(take self) -> PwAff = isl_pw_aff_from_aff;
}

impl Aff {
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

object!(
    /// A piecewise quasi-affine expression.
    PwAff: isl_pw_aff, isl_pw_aff_copy, isl_pw_aff_free, isl_pw_aff_to_str
);

methods! { PwAff;
    /// Sum.
    pub add(take self, other: take PwAff) -> PwAff = isl_pw_aff_add;
    /// Difference.
    pub sub(take self, other: take PwAff) -> PwAff = isl_pw_aff_sub;
    /// Product; one of the two is constant.
    pub mul(take self, other: take PwAff) -> PwAff = isl_pw_aff_mul;
    /// Rational quotient; the divisor is constant.
    pub div(take self, other: take PwAff) -> PwAff = isl_pw_aff_div;
    /// Quotient truncated toward zero, by a constant.
    pub div_trunc(take self, other: take PwAff) -> PwAff = isl_pw_aff_tdiv_q;
    /// Remainder of `div_trunc`.
    pub rem_trunc(take self, other: take PwAff) -> PwAff = isl_pw_aff_tdiv_r;
    /// Remainder in `0..modulus`.
    pub modulo(take self, modulus: take Val) -> PwAff = isl_pw_aff_mod_val;
    /// Negation.
    pub neg(take self) -> PwAff = isl_pw_aff_neg;
    /// Rounded toward negative infinity.
    pub floor(take self) -> PwAff = isl_pw_aff_floor;
    /// Smaller.
    pub min(take self, other: take PwAff) -> PwAff = isl_pw_aff_min;
    /// Larger.
    pub max(take self, other: take PwAff) -> PwAff = isl_pw_aff_max;
    /// This where it is defined, plus the other where that is.
    pub union_add(take self, other: take PwAff) -> PwAff = isl_pw_aff_union_add;
    /// Restriction to a set.
    pub intersect_domain(take self, set: take Set) -> PwAff = isl_pw_aff_intersect_domain;
    /// Fewer pieces where possible.
    pub coalesce(take self) -> PwAff = isl_pw_aff_coalesce;
    /// Where the two are equal.
    pub eq_set(take self, other: take PwAff) -> Set = isl_pw_aff_eq_set;
    /// Where they differ.
    pub ne_set(take self, other: take PwAff) -> Set = isl_pw_aff_ne_set;
    /// Where this is less.
    pub lt_set(take self, other: take PwAff) -> Set = isl_pw_aff_lt_set;
    /// Where this is at most the other.
    pub le_set(take self, other: take PwAff) -> Set = isl_pw_aff_le_set;
    /// Where it is not zero.
    pub non_zero_set(take self) -> Set = isl_pw_aff_non_zero_set;
    /// Whether it is one constant.
    pub is_constant(keep self) -> bool = isl_pw_aff_is_cst;
    /// The space of the arguments.
    pub domain_space(keep self) -> Space = isl_pw_aff_get_domain_space;
    /// With the arguments replaced by the outputs of a function.
    pub pullback(take self, function: take MultiPwAff) -> PwAff = isl_pw_aff_pullback_multi_pw_aff;
}

methods! { LocalSpace;
    pw_var(take self, kind: raw c_int, position: raw c_uint) -> PwAff = isl_pw_aff_var_on_domain;
}

methods! { Set;
    /// The constant function with this value on the set.
    pub constant_function(take self, value: take Val) -> PwAff = isl_pw_aff_val_on_domain;
}

impl PwAff {
    /// A dimension of a set space (or a parameter) as a function on it.
    ///
    /// # Errors
    /// Those of isl.
    pub fn variable(domain: &Space, kind: Dim, position: usize) -> Result<PwAff> {
        LocalSpace::new(domain)?.pw_var(kind.c(), position as c_uint)
    }

    /// A constant function on a set space.
    ///
    /// # Errors
    /// Those of isl.
    pub fn constant(domain: &Space, value: i64) -> Result<PwAff> {
        Set::universe(domain)?.constant_function(&Val::int(domain.ctx(), value)?)
    }

    /// The pieces: where, and what.
    ///
    /// # Errors
    /// Those of isl.
    pub fn pieces(&self) -> Result<Vec<(Set, Aff)>> {
        unsafe extern "C" {
            fn isl_pw_aff_foreach_piece(
                function: *mut isl_pw_aff,
                callback: unsafe extern "C" fn(
                    *mut <Set as Object>::Raw,
                    *mut isl_aff,
                    *mut std::ffi::c_void,
                ) -> c_int,
                user: *mut std::ffi::c_void,
            ) -> c_int;
        }
        unsafe extern "C" fn piece(
            set: *mut <Set as Object>::Raw,
            aff: *mut isl_aff,
            user: *mut std::ffi::c_void,
        ) -> c_int {
            // SAFETY: `user` is the `Shared` below, which outlives the call; both objects are given
            // away.
            unsafe {
                callback::with(user, |shared: &mut Shared<Vec<(Set, Aff)>>| {
                    let set = Set::from_c(&shared.ctx, set);
                    let aff = Aff::from_c(&shared.ctx, aff);
                    shared.value.push((set?, aff?));
                    Ok(())
                })
            }
            .map_or(-1, |()| 0)
        }
        let mut shared = Shared::new(self.ctx(), Vec::new());
        // SAFETY: the function is live and lent; `shared` outlives the call.
        let status = unsafe { isl_pw_aff_foreach_piece(self.lend(), piece, shared.user()) };
        shared.finish(status >= 0)
    }
}

list!(PwAffList of PwAff: isl_pw_aff_list, isl_pw_aff_list_copy, isl_pw_aff_list_free, isl_pw_aff_list_alloc, isl_pw_aff_list_add, isl_pw_aff_list_size, isl_pw_aff_list_get_at);

object!(
    /// A tuple of quasi-affine expressions.
    MultiAff: isl_multi_aff, isl_multi_aff_copy, isl_multi_aff_free, isl_multi_aff_to_str
);

methods! { MultiAff;
    at_c(keep self, position: raw c_int) -> Aff = isl_multi_aff_get_at;
    dim_c(keep self, kind: raw c_int) -> usize = isl_multi_aff_dim;
}

impl MultiAff {
    /// Its expressions.
    ///
    /// # Errors
    /// Those of isl.
    pub fn affs(&self) -> Result<Vec<Aff>> {
        (0..self.dim_c(Dim::Out.c())?).map(|position| self.at_c(position as c_int)).collect()
    }
}

object!(
    /// A piecewise tuple of quasi-affine expressions.
    PwMultiAff: isl_pw_multi_aff, isl_pw_multi_aff_copy, isl_pw_multi_aff_free, isl_pw_multi_aff_to_str
);

methods! { PwMultiAff;
    at_c(keep self, position: raw c_int) -> PwAff = isl_pw_multi_aff_get_at;
    dim_c(keep self, kind: raw c_int) -> usize = isl_pw_multi_aff_dim;
}

impl PwMultiAff {
    /// Its expressions, each piecewise.
    ///
    /// # Errors
    /// Those of isl.
    pub fn pw_affs(&self) -> Result<Vec<PwAff>> {
        (0..self.dim_c(Dim::Out.c())?).map(|position| self.at_c(position as c_int)).collect()
    }
}

object!(
    /// A tuple of piecewise quasi-affine expressions.
    MultiPwAff: isl_multi_pw_aff, isl_multi_pw_aff_copy, isl_multi_pw_aff_free, isl_multi_pw_aff_to_str
);

methods! { MultiPwAff;
    at_c(keep self, position: raw c_int) -> PwAff = isl_multi_pw_aff_get_at;
    dim_c(keep self, kind: raw c_int) -> usize = isl_multi_pw_aff_dim;
}

methods! { Space;
    multi_pw_aff(take self, list: take PwAffList) -> MultiPwAff = isl_multi_pw_aff_from_pw_aff_list;
}

impl MultiPwAff {
    /// The function to `range` with these expressions.
    ///
    /// # Errors
    /// Those of isl.
    pub fn from_list(space: &Space, expressions: &[PwAff]) -> Result<MultiPwAff> {
        space.multi_pw_aff(&PwAffList::new(space.ctx(), expressions)?)
    }

    /// Its expressions.
    ///
    /// # Errors
    /// Those of isl.
    pub fn pw_affs(&self) -> Result<Vec<PwAff>> {
        (0..self.dim_c(Dim::Out.c())?).map(|position| self.at_c(position as c_int)).collect()
    }
}

object!(
    /// Piecewise quasi-affine expressions on several spaces.
    UnionPwAff: isl_union_pw_aff, isl_union_pw_aff_copy, isl_union_pw_aff_free, isl_union_pw_aff_to_str
);

constructors! { UnionPwAff;
    /// The function in isl's notation.
    pub read(text: text str) = isl_union_pw_aff_read_from_str;
}

methods! { UnionPwAff;
    /// Sum where both are defined.
    pub add(take self, other: take UnionPwAff) -> UnionPwAff = isl_union_pw_aff_add;
    /// Difference where both are defined.
    pub sub(take self, other: take UnionPwAff) -> UnionPwAff = isl_union_pw_aff_sub;
    /// This where it is defined, plus the other where that is.
    pub union_add(take self, other: take UnionPwAff) -> UnionPwAff = isl_union_pw_aff_union_add;
    /// Rounded toward negative infinity.
    pub floor(take self) -> UnionPwAff = isl_union_pw_aff_floor;
    scale_c(take self, factor: take Val) -> UnionPwAff = isl_union_pw_aff_scale_val;
    scale_down_c(take self, factor: take Val) -> UnionPwAff = isl_union_pw_aff_scale_down_val;
    modulo_c(take self, modulus: take Val) -> UnionPwAff = isl_union_pw_aff_mod_val;
    /// Restriction to a set.
    pub intersect_domain(take self, set: take UnionSet) -> UnionPwAff = isl_union_pw_aff_intersect_domain;
    /// Where it is defined.
    pub domain(take self) -> UnionSet = isl_union_pw_aff_domain;
    /// Fewer pieces where possible.
    pub coalesce(take self) -> UnionPwAff = isl_union_pw_aff_coalesce;
    /// The functions, one a space.
    pub pw_affs(keep self) -> Vec<PwAff> = isl_union_pw_aff_get_pw_aff_list;
    /// As a tuple of one.
    pub to_multi(take self) -> MultiUnionPwAff = isl_multi_union_pw_aff_from_union_pw_aff;
    /// The graph.
    pub graph(take self) -> UnionMap = isl_union_map_from_union_pw_aff;
    /// Where it is zero.
    pub zero_set(take self) -> UnionSet = isl_union_pw_aff_zero_union_set;
}

methods! { UnionSet;
    /// The constant function with this value on the set.
    pub constant_function(take self, value: take Val) -> UnionPwAff = isl_union_pw_aff_val_on_domain;
}

impl UnionPwAff {
    /// Product with an integer.
    ///
    /// # Errors
    /// Those of isl.
    pub fn scale(&self, factor: i64) -> Result<UnionPwAff> {
        self.scale_c(&Val::int(self.ctx(), factor)?)
    }

    /// Rational quotient by a nonzero integer.
    ///
    /// # Errors
    /// Those of isl.
    pub fn scale_down(&self, divisor: i64) -> Result<UnionPwAff> {
        self.scale_down_c(&Val::int(self.ctx(), divisor)?)
    }

    /// Remainder by a positive integer.
    ///
    /// # Errors
    /// Those of isl.
    pub fn modulo(&self, modulus: i64) -> Result<UnionPwAff> {
        self.modulo_c(&Val::int(self.ctx(), modulus)?)
    }
}

object!(
    /// A tuple of piecewise quasi-affine expressions on several spaces: a (partial) schedule.
    MultiUnionPwAff: isl_multi_union_pw_aff, isl_multi_union_pw_aff_copy, isl_multi_union_pw_aff_free, isl_multi_union_pw_aff_to_str
);

methods! { MultiUnionPwAff;
    at_c(keep self, position: raw c_int) -> UnionPwAff = isl_multi_union_pw_aff_get_at;
    dim_c(keep self, kind: raw c_int) -> usize = isl_multi_union_pw_aff_dim;
    /// Where it is defined.
    pub domain(take self) -> UnionSet = isl_multi_union_pw_aff_domain;
    /// Both tuples, one after the other.
    pub flat_range_product(take self, other: take MultiUnionPwAff) -> MultiUnionPwAff = isl_multi_union_pw_aff_flat_range_product;
    /// The graph.
    pub graph(take self) -> UnionMap = isl_union_map_from_multi_union_pw_aff;
}

impl MultiUnionPwAff {
    /// Its expressions.
    ///
    /// # Errors
    /// Those of isl.
    pub fn members(&self) -> Result<Vec<UnionPwAff>> {
        (0..self.dim_c(Dim::Out.c())?).map(|position| self.at_c(position as c_int)).collect()
    }
}

object!(
    /// Piecewise tuples on several spaces.
    UnionPwMultiAff: isl_union_pw_multi_aff, isl_union_pw_multi_aff_copy, isl_union_pw_multi_aff_free, isl_union_pw_multi_aff_to_str
);

impl Aff {}
