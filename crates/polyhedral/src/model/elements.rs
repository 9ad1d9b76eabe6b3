//! The elements of an array that an access touches.

use isl::{Dim, Map, MultiPwAff, Set};
use loops::{Access, Diagnostic, Expr};

use super::{Place, array_tuple};
use crate::fault::{self, Result};

/// Touched elements that the array of an access has at all; none if an extent is not affine.
pub(super) fn inside(access: &Access, relation: &Map, place: &Place, dims: &[Expr]) -> Result<Option<Map>> {
    let mut ends = Vec::new();
    for dim in dims {
        match place.frame.function("the extent", dim) {
            Ok(end) => ends.push(end),
            Err(_) => return Ok(None),
        }
    }
    let names = |prefix: &str| (0..dims.len()).map(|k| format!("{prefix}{k}")).collect::<Vec<_>>().join(", ");
    let below =
        (0..dims.len()).map(|k| format!("a{k} >= 0 and a{k} < e{k}")).collect::<Vec<_>>().join(" and ");
    let below = format!("{{ [{}] -> [{}] : {below} }}", names("e"), names("a"));
    let build = || -> isl::Result<Map> {
        let from = place.frame.space();
        let to = from.params()?.set_from_params()?.add_dims(Dim::SET, ends.len())?;
        let all = Map::from_multi_pw_aff(&MultiPwAff::from_list(&from.map_to(&to)?, &ends)?)?;
        let all = all.apply_range(&Map::read(from.ctx(), &below)?)?;
        let all = all.set_tuple_name(Dim::Out, &array_tuple(&access.array, &access.path))?;
        match relation.tuple_name(Dim::In)? {
            Some(tuple) => relation.intersect(&all.set_tuple_name(Dim::In, &tuple)?),
            None => relation.intersect(&all),
        }
    };
    build().map(Some).map_err(fault::library)
}

/// From instances to the elements that an access may touch. A subscript that is not affine may be
/// any number if it is `free`; then the second part says why.
pub(super) fn relation(
    access: &Access,
    place: &Place,
    domain: &Set,
    free: &dyn Fn(&Expr) -> bool,
) -> Result<(Map, Option<Diagnostic>)> {
    let role = format!("the subscript of `{access}`:");
    let (mut subscripts, mut any, mut inexact) = (Vec::new(), Vec::new(), None);
    for (k, e) in access.indices.iter().enumerate() {
        match place.frame.function(&role, e) {
            Ok(function) => subscripts.push(function),
            Err(refused) if free(e) && fault::is_not_affine(&refused) => {
                inexact.get_or_insert(refused);
                any.push(k);
                subscripts.push(place.frame.function(&role, &Expr::Int(0))?);
            }
            Err(refused) => return Err(refused),
        }
    }
    let build = || -> isl::Result<Map> {
        let from = place.frame.space();
        let to = from.params()?.set_from_params()?.add_dims(Dim::SET, subscripts.len())?;
        let function = MultiPwAff::from_list(&from.map_to(&to)?, &subscripts)?;
        let mut map = Map::from_multi_pw_aff(&function)?;
        for k in any {
            map = map.eliminate(Dim::Out, k, 1)?;
        }
        let map = map.set_tuple_name(Dim::Out, &array_tuple(&access.array, &access.path))?;
        let tuple = domain.tuple_name()?.unwrap_or_default();
        map.set_tuple_name(Dim::In, &tuple)?.intersect_domain(domain)
    };
    Ok((build().map_err(fault::library)?, inexact))
}
