//! Where a slice begins and how many elements it has. Shape inference, shape arithmetic, folding
//! and programs use this one rule.

use loops::Size;

/// The first position and the number of elements of `start`, `start + step`, … before `end` along
/// an axis of `extent` elements. As `Slice` says, negative positions count from the end, and
/// positions are then clamped. `None` for a step of 0.
pub(crate) fn slice(extent: i64, start: i64, end: i64, step: i64) -> Option<(i64, i64)> {
    let from_front = |at: i64| if at < 0 { at.saturating_add(extent) } else { at };
    let (start, end) = (from_front(start), from_front(end));
    if step == 0 || extent <= 0 {
        return (step != 0).then_some((0, 0));
    }
    // Upward the end may be behind the last place, downward in front of the first one; so may the
    // start upward, but not downward.
    let (start, span) = if step > 0 {
        let start = start.clamp(0, extent);
        (start, end.clamp(0, extent) - start)
    } else {
        let start = start.clamp(0, extent - 1);
        (start, start - end.clamp(-1, extent - 1))
    };
    let width = i64::try_from(step.unsigned_abs()).unwrap_or(i64::MAX);
    Some((start, if span <= 0 { 0 } else { (span - 1) / width + 1 }))
}

/// A slice in steps of 1 whose length is not known before the extents are.
pub(crate) struct Open {
    pub(crate) start: Size,
    pub(crate) count: Size,
    /// What has to hold: the first size is at most the second one.
    pub(crate) at_most: Vec<(Size, Size)>,
}

/// The slice from `start` to `end`, if its length is one size wherever both are inside. Where one
/// may be outside, so that the rule clamps it, that both are inside is required.
pub(crate) fn open(extent: &Size, start: &Size, end: &Size) -> Option<Open> {
    let from_front = |at: &Size| match at.as_constant() {
        Some(at) if at < 0 => extent.clone() + Size::constant(at),
        _ => at.clone(),
    };
    // Exporters write the largest number for the end.
    let last = end.as_constant().is_some_and(|end| end >= i64::from(i32::MAX));
    let (start, end) = (from_front(start), if last { extent.clone() } else { from_front(end) });
    let count = end.clone() - start.clone();
    let number = end.as_constant().is_some() && extent.as_constant().is_none();
    // A prefix of some elements may be all that there are; of one there is one.
    if number && count != Size::constant(1) {
        return None;
    }
    let zero = Size::default();
    let at_most = vec![(zero, start.clone()), (start.clone(), end.clone()), (end, extent.clone())];
    Some(Open { start, count, at_most })
}
