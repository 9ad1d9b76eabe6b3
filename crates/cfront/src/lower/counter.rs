//! Loop variables of unsigned and of short types. They wrap around, where signed ones would have no
//! meaning.

use loops::Name;

use super::loop_header::Header;
use super::{ActiveLoop, Lowering, Try};
use crate::ast::{At, Expr};
use crate::linear::Linear;

/// Something that has to be at least 0, over the variable of a loop whose bounds are not known yet.
#[derive(Clone)]
pub(super) struct Deferred {
    pub form: Linear,
    pub says: String,
    pub at: At,
}

impl Lowering<'_> {
    /// The variable must pass the bound of its loop before it wraps around. So must the value that
    /// its condition computes.
    ///
    /// The bound is exclusive above, and inclusive below.
    pub(super) fn reaches(
        &mut self,
        header: &Header<'_>,
        cond: &Expr,
        first: &Linear,
        bound: &Linear,
        hub: &Name,
    ) -> Try<()> {
        let deferred = std::mem::take(&mut self.deferred);
        let ty = header.ty.c_name();
        // The value with which the loop ends, at most.
        let up = header.step > 0;
        let after = if up { bound.plus_constant(header.step - 1) } else { bound.plus_constant(header.step) };
        let Some(after) = after else {
            return self.bad_condition(header, cond, "it has a constant beyond 64 bits");
        };
        if header.ty.wraps() {
            let (least, most) = header.ty.values();
            let room = match up {
                true => Linear::constant(most).minus(&after),
                false => least.checked_neg().and_then(|most| after.plus_constant(most)),
            };
            let Some(room) = room else {
                return self.bad_condition(header, cond, "it has a constant beyond 64 bits");
            };
            let name = &header.name;
            let says = |what: &str| {
                format!("`{name}` of type `{ty}` does not wrap around before {what} ends its loop")
            };
            if self.need(&room, cond.at, &says).is_err() {
                let why = format!("the variable of type `{ty}` may wrap around before it ends the loop");
                return self.bad_condition(header, cond, &why);
            }
        }
        let (lowest, highest) = if up { (first.clone(), after) } else { (after, first.clone()) };
        self.resolve(deferred, hub, lowest, highest, header, cond)
    }

    /// What the condition of a loop computes of its variable, whose value is between these then.
    fn resolve(
        &mut self,
        deferred: Vec<Deferred>,
        hub: &Name,
        lowest: Linear,
        highest: Linear,
        header: &Header<'_>,
        cond: &Expr,
    ) -> Try<()> {
        let mark = self.known.len();
        let me = Linear::name(hub.clone());
        self.known.extend(me.minus(&lowest));
        self.known.extend(highest.minus(&me));
        let end = highest.plus_constant(1).unwrap_or(highest);
        self.loops.push(ActiveLoop { var: hub.clone(), lower: lowest, upper: end });
        let before = self.loop_types.insert(hub.clone(), header.ty);
        let failed = deferred.into_iter().find_map(|one| {
            let says = one.says;
            self.need(&one.form, one.at, &|_| says.clone()).err()
        });
        match before {
            Some(ty) => self.loop_types.insert(hub.clone(), ty),
            None => self.loop_types.remove(hub),
        };
        self.loops.pop();
        self.known.truncate(mark);
        match failed {
            None => Ok(()),
            Some(why) => Err(self.bad_bound(&header.name, cond, why)),
        }
    }
}
