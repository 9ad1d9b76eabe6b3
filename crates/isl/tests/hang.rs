//! The clock ends hangs, and gives no result then. Alone in its program, since the clock is one for
//! all.

use std::panic::{AssertUnwindSafe, catch_unwind};

use isl::{Ctx, Hang, Set};

#[test]
fn a_hang_unwinds_and_the_context_can_be_used_afterwards() {
    // Half an hour is 18 milliseconds.
    isl::hurry(100_000);
    let ctx = Ctx::new();
    let forever = || loop {
        let square = Set::read(&ctx, "[n] -> { [i, j] : 0 <= i, j < n }").and_then(|set| set.lexmin());
        // What swallows the error gets no further for it.
        let _ = square.and_then(|set| set.complement());
    };
    // Inside of another limit, whose error is thrown away.
    let ended: Result<(), _> = catch_unwind(AssertUnwindSafe(|| {
        ctx.limited(u64::MAX, || {
            let began = std::time::Instant::now();
            while began.elapsed().as_secs() < 60 {
                let _ = ctx.limited(10_000, || Set::read(&ctx, "{ [i] : 0 <= i < 10 }").map(|_| ()));
            }
            forever()
        })
    }));
    let payload = ended.expect_err("the work has no end");
    assert_eq!(payload.downcast_ref::<Hang>(), Some(&Hang));
    isl::hurry(1);
    let after = ctx.limited(10_000, || Set::read(&ctx, "{ [i] : 0 <= i < 10 }").and_then(|set| set.lexmin()));
    assert!(after.is_ok());
}
