//! Inputs that are indices into another input: which they are, and whether constant ones are in
//! bounds.
//!
//! An index below 0 counts from the end. The standard calls an index beyond that an error. The
//! programs clamp subscripts, because every program of the language has a value. So an index out of
//! bounds must be refused before they run: here, if it is a constant (in evaluation all are), and
//! else by the C function of the whole model.

use loops::Size;

use super::{Call, Done, Refusal};
use crate::attribute::AttributeValue;

/// An input that holds places.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Indices {
    /// Which input.
    pub input: usize,
    /// The extents of the axes that the components of an index refer to, in order.
    pub extents: Vec<Size>,
}

/// The input of a call that holds indices.
pub fn indices(call: &Call<'_>) -> Option<Indices> {
    if !call.op.is_standard() {
        return None;
    }
    let (data, places) = (call.inputs.first()?.as_ref()?, call.inputs.get(1)?.as_ref()?);
    let int = |name: &str| {
        let found = call.attributes.iter().find(|a| &*a.name == name);
        found.and_then(|a| AttributeValue::int(&a.value)).unwrap_or(0)
    };
    let (rank, last) = (data.shape.len(), || usize::try_from(places.shape.last()?.as_constant()?).ok());
    let axes = match &*call.op.name {
        "Gather" | "GatherElements" | "ScatterElements" | "Scatter" => {
            let axis = int("axis");
            let axis = usize::try_from(if axis < 0 { axis.checked_add(rank as i64)? } else { axis }).ok()?;
            axis..axis.checked_add(1)?
        }
        "GatherND" => {
            let batch = usize::try_from(int("batch_dims")).ok()?;
            batch..batch.checked_add(last()?)?
        }
        "ScatterND" => 0..last()?,
        _ => return None,
    };
    let extents = data.shape.get(axes)?.to_vec();
    (!extents.is_empty()).then_some(Indices { input: 1, extents })
}

/// Refuses constant places that are outside.
pub(super) fn inside(call: &Call<'_>) -> Done {
    let Some(Indices { input, extents }) = indices(call) else { return Ok(()) };
    let extents: Option<Vec<i64>> = extents.iter().map(Size::as_constant).collect();
    let Some(extents) = extents else { return Ok(()) };
    let constant = call.inputs.get(input).and_then(|o| o.as_ref()?.constant);
    let Some(list) = constant.and_then(|t| t.to_ints()) else { return Ok(()) };
    for (place, n) in list.iter().zip(extents.iter().cycle()) {
        if !(-n..*n).contains(place) {
            return Err(Refusal::outside(format!(
                "input {input} has the index {place}, and the extent of the axis is {n}"
            )));
        }
    }
    Ok(())
}
