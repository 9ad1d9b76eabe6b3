//! Where a slice begins and how many elements it has. Shape inference, shape arithmetic, folding
//! and programs use this one rule.

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
