//! The sizes for which a function stays inside its arrays. For others it has no meaning, and
//! nothing has to hold of what was made from it.

use isl::{Ctx, Dim, Map, MultiPwAff, PwAff, Set};
use loops::{ArrayDecl, Expr, Function, Storage};

use super::elementwise;
use crate::affine::Frame;
use crate::fault::{self, Result};
use crate::model::Model;

/// The sizes for which no subscript of a parameter or of a local array in main memory is outside;
/// subscripts and extents that sets cannot hold say nothing.
///
/// # Errors
/// Those of the model and the set library.
pub(super) fn inside(ctx: &Ctx, original: &Function) -> Result<Set> {
    // What is read in one case only is read where the case is.
    let original = &elementwise::expand(original)?.function;
    let model = Model::with_whole_updates(ctx, original)?.exact()?;
    let mut sizes = model.context.clone();
    for statement in &model.statements {
        for touch in &statement.accesses {
            let param = original.params.iter().find(|p| p.name == touch.array).map(|p| &p.dims);
            // Local memory is what is checked.
            let own = |l: &&ArrayDecl| l.name == touch.array && l.storage != Storage::Scratchpad;
            let local = || model.locals.iter().find(own).map(|l| &l.dims);
            let Some(dims) = param.or_else(local) else { continue };
            let touched = touch.relation.range().map_err(fault::library)?;
            let outside = outside(&model, dims, &touched)?;
            if let Some(outside) = outside {
                sizes = sizes.subtract(&outside).map_err(fault::library)?;
            }
        }
    }
    // A function that is never inside is one that sets cannot see through: then all sizes count.
    let none = sizes.is_empty().map_err(fault::library)?;
    if none { Ok(model.context) } else { sizes.coalesce().map_err(fault::library) }
}

/// The sizes for which some of the touched elements are outside of an array; none where its extents
/// are none that sets hold.
pub(super) fn outside(model: &Model, dims: &[Expr], touched: &Set) -> Result<Option<Set>> {
    let params = model.context.space().map_err(fault::library)?;
    let frame = Frame::new(&params, &model.function.sizes).map_err(fault::library)?;
    let extents: Result<Vec<PwAff>> = dims.iter().map(|e| frame.function("an extent", e)).collect();
    let Ok(extents) = extents else { return Ok(None) };
    let build = || -> isl::Result<Option<Set>> {
        if extents.is_empty() || touched.dim(Dim::SET)? != extents.len() {
            return Ok(None);
        }
        // From the sizes to the first element behind the end of each dimension.
        let from = frame.space();
        let to = from.params()?.set_from_params()?.add_dims(Dim::SET, extents.len())?;
        let ends = Map::from_multi_pw_aff(&MultiPwAff::from_list(&from.map_to(&to)?, &extents)?)?.range()?;
        let pairs = Map::from_domain_and_range(touched, &ends)?;
        let mut found: Option<Set> = None;
        for k in 0..extents.len() {
            let beyond = pairs.subtract(&pairs.order_lt((Dim::In, k), (Dim::Out, k))?)?;
            let below = touched.upper_bound(Dim::SET, k, -1)?.params()?;
            let wrong = beyond.domain()?.params()?.union(&below)?;
            found = Some(match found {
                Some(set) => set.union(&wrong)?,
                None => wrong,
            });
        }
        Ok(found)
    };
    build().map_err(fault::library)
}
