//! Inputs and outputs of a model, and bytes of what is stored.

use std::collections::BTreeMap;

use loops::{Name, Size};

use super::{ALIGNMENT, MAX_BYTES, Plan, Room};
use crate::operators::carrier;
use crate::types::ElementType;

/// An input or output of the model.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Port {
    /// Its name in the model.
    pub name: Name,
    /// Type of its elements.
    pub elem: ElementType,
    /// Its extents, over the names of [`Plan::extents`].
    pub dims: Vec<Size>,
}

impl Port {
    /// Bytes of the carried form (what programs and C have).
    pub fn bytes(&self) -> Size {
        carried_bytes(self.elem, &self.dims).unwrap_or_default()
    }

    /// The extents as numbers, with these numbers for names; none if a name has none, or an extent
    /// would be negative.
    pub fn shape(&self, sizes: &BTreeMap<Name, i64>) -> Option<Vec<usize>> {
        let number = |size: &Size| usize::try_from(size.eval(&|name| sizes.get(name).copied()).ok()?).ok();
        self.dims.iter().map(number).collect()
    }
}

impl Plan {
    /// Bytes of the arena with these numbers for names; none if a name has none.
    pub fn arena(&self, sizes: &BTreeMap<Name, i64>) -> Option<u128> {
        let bytes = |size: &Size| u128::try_from(size.eval(&|name| sizes.get(name).copied()).ok()?).ok();
        let room = |room: &Room| {
            let all: Option<Vec<u128>> = room.bytes.iter().map(bytes).collect();
            Some(all?.into_iter().max()?.next_multiple_of(ALIGNMENT as u128))
        };
        let rooms: Option<Vec<u128>> = self.rooms.iter().map(room).collect();
        Some(rooms?.into_iter().sum::<u128>() + self.arena_bytes as u128)
    }
}

/// Bytes of a tensor in carried form.
pub(super) fn carried_bytes(elem: ElementType, dims: &[Size]) -> Option<Size> {
    let each = carrier(elem)?.bytes() as i64;
    let numbers: Option<Vec<i64>> = dims.iter().map(Size::as_constant).collect();
    match numbers {
        Some(numbers) => {
            let bytes = numbers.iter().try_fold(each, |n, d| n.checked_mul(*d))?;
            (0..=MAX_BYTES as i64).contains(&bytes).then(|| Size::constant(bytes))
        }
        // The C function tests what is not known here.
        None => Some(dims.iter().fold(Size::constant(each), |n, d| n * d.clone())),
    }
}
