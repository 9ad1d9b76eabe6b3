//! Numbers, identifiers and spaces.

use std::ffi::{c_int, c_long, c_uint};

use crate::ctx::{Ctx, Error, Result};
use crate::object::Object;

/// A kind of dimension.
#[repr(i32)]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Dim {
    /// Parameters.
    Param = 1,
    /// Inputs of a map.
    In = 2,
    /// Outputs of a map, dimensions of a set.
    Out = 3,
    /// Local (existentially quantified, integer division) variables.
    Div = 4,
}

impl Dim {
    /// The dimensions of a set.
    pub const SET: Dim = Dim::Out;

    pub(crate) fn c(self) -> c_int {
        self as c_int
    }
}

object!(
    /// A number: an integer, a rational, an infinity or not a number.
    Val: isl_val, isl_val_copy, isl_val_free, isl_val_to_str
);

constructors! { Val;
    from_c_long(value: raw c_long) = isl_val_int_from_si;
}

methods! { Val;
    /// Whether it is an integer.
    pub is_int(keep self) -> bool = isl_val_is_int;
    /// Whether it is zero.
    pub is_zero(keep self) -> bool = isl_val_is_zero;
    /// Whether it is equal to another.
    pub eq(keep self, other: keep Val) -> bool = isl_val_eq;
    numerator(keep self) -> i64 = isl_val_get_num_si;
}

impl Val {
    /// The integer `value`.
    ///
    /// # Errors
    /// Those of isl.
    pub fn int(ctx: &Ctx, value: i64) -> Result<Val> {
        Val::from_c_long(ctx, value as c_long)
    }

    /// The integer, if it is one and fits.
    ///
    /// # Errors
    /// If it is not an integer of 64 bits.
    pub fn to_i64(&self) -> Result<i64> {
        if !self.is_int()? {
            return Err(Error::argument(format!("{self} is not an integer")));
        }
        let value = self.numerator()?;
        // isl reports a numerator that does not fit as an error in some versions and truncates in
        // others.
        if self.eq(&Val::int(&self.ctx, value)?)? {
            Ok(value)
        } else {
            Err(Error::argument(format!("{self} does not fit in 64 bits")))
        }
    }
}

object!(
    /// An identifier of a dimension, tuple or mark.
    Id: isl_id, isl_id_copy, isl_id_free, isl_id_to_str
);

methods! { Id;
    name_opt(keep self) -> Option<String> = isl_id_get_name;
}

impl Id {
    /// The identifier `name`.
    ///
    /// # Errors
    /// Those of isl.
    pub fn new(ctx: &Ctx, name: &str) -> Result<Id> {
        use std::ffi::{c_char, c_void};
        unsafe extern "C" {
            fn isl_id_alloc(
                ctx: *mut crate::ctx::RawCtx,
                name: *const c_char,
                user: *mut c_void,
            ) -> *mut isl_id;
        }
        let name = crate::object::c_string(name)?;
        // SAFETY: isl copies the name; there is no user pointer.
        unsafe {
            let raw = isl_id_alloc(ctx.raw(), name.as_ptr(), std::ptr::null_mut());
            <Id as crate::object::FromC>::from_c(ctx, raw)
        }
    }

    /// Its name; empty if it has none.
    pub fn name(&self) -> String {
        self.name_opt().ok().flatten().unwrap_or_default()
    }
}

list!(IdList of Id: isl_id_list, isl_id_list_copy, isl_id_list_free, isl_id_list_alloc, isl_id_list_add, isl_id_list_size, isl_id_list_get_at);

object!(
    /// A space: parameters, and the tuples of a set or map.
    Space: isl_space, isl_space_copy, isl_space_free, isl_space_to_str
);

constructors! { Space;
    params_alloc(n: raw c_uint) = isl_space_params_alloc;
}

methods! { Space;
    name_dim(take self, kind: raw c_int, position: raw c_uint, name: text str) -> Space = isl_space_set_dim_name;
    dim_c(keep self, kind: raw c_int) -> usize = isl_space_dim;
    dim_name_c(keep self, kind: raw c_int, position: raw c_uint) -> Option<String> = isl_space_get_dim_name;
    tuple_name_c(keep self, kind: raw c_int) -> Option<String> = isl_space_get_tuple_name;
    /// The space of the domain of a map space.
    pub domain(take self) -> Space = isl_space_domain;
    /// The space of the range of a map space.
    pub range(take self) -> Space = isl_space_range;
    /// Only the parameters.
    pub params(take self) -> Space = isl_space_params;
    /// The space of maps between two set spaces.
    pub map_to(take self, range: take Space) -> Space = isl_space_map_from_domain_and_range;
    /// A set space without dimensions over the parameters.
    pub set_from_params(take self) -> Space = isl_space_set_from_params;
    add_dims_c(take self, kind: raw c_int, n: raw c_uint) -> Space = isl_space_add_dims;
}

impl Space {
    /// The space of the parameters with these names.
    ///
    /// # Errors
    /// Those of isl.
    pub fn parameters(ctx: &Ctx, names: &[&str]) -> Result<Space> {
        let mut space = Space::params_alloc(ctx, names.len() as c_uint)?;
        for (position, name) in names.iter().enumerate() {
            space = space.name_dim(Dim::Param.c(), position as c_uint, name)?;
        }
        Ok(space)
    }

    /// Number of dimensions of a kind.
    ///
    /// # Errors
    /// Those of isl.
    pub fn dim(&self, kind: Dim) -> Result<usize> {
        self.dim_c(kind.c())
    }

    /// Adds dimensions of a kind after those that are there.
    ///
    /// # Errors
    /// Those of isl.
    pub fn add_dims(&self, kind: Dim, n: usize) -> Result<Space> {
        self.add_dims_c(kind.c(), n as c_uint)
    }

    /// The name of a dimension.
    ///
    /// # Errors
    /// Those of isl.
    pub fn dim_name(&self, kind: Dim, position: usize) -> Result<Option<String>> {
        self.dim_name_c(kind.c(), position as c_uint)
    }

    /// The name of a tuple.
    ///
    /// # Errors
    /// Those of isl.
    pub fn tuple_name(&self, kind: Dim) -> Result<Option<String>> {
        self.tuple_name_c(kind.c())
    }
}

object!(
    /// A space with local variables.
    LocalSpace: isl_local_space, isl_local_space_copy, isl_local_space_free
);

impl LocalSpace {
    /// The local space without local variables.
    ///
    /// # Errors
    /// Those of isl.
    pub fn new(space: &Space) -> Result<LocalSpace> {
        unsafe extern "C" {
            fn isl_local_space_from_space(space: *mut isl_space) -> *mut isl_local_space;
        }
        // SAFETY: isl takes a reference of its own.
        unsafe {
            <LocalSpace as crate::object::FromC>::from_c(
                space.ctx(),
                isl_local_space_from_space(space.give()),
            )
        }
    }
}
