//! What one run of the pipeline has found out of functions: their models and dependences. Several
//! candidates are made of the same function, and each is checked against it.
//!
//! It is kept as long as the run, so that what a run does depends on its input alone. Who makes
//! code and who checks it have their own: the checker uses nothing that the makers left behind.

use std::cell::{OnceCell, RefCell};
use std::rc::Rc;

use isl::Ctx;
use loops::Function;

use crate::check::Checked;
use crate::codegen::Generated;
use crate::dependence::{self, Dependence};
use crate::fault::Result;
use crate::limits::Limits;
use crate::model::Model;

/// Who asks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Role {
    Maker,
    Checker,
}

/// What is known of a function.
pub(crate) struct Known {
    pub ctx: Ctx,
    pub model: Model,
    dependences: OnceCell<Vec<Dependence>>,
    /// Code that was found to do the same, and what was looked at for that.
    checked: RefCell<Vec<(Generated, Checked)>>,
}

type Pool = Vec<(Role, Function, Rc<Known>)>;

thread_local! {
    /// None outside of a run.
    static POOL: RefCell<Option<Pool>> = const { RefCell::new(None) };
}

/// Does the work of a run.
pub(crate) fn within<T>(work: impl FnOnce() -> T) -> T {
    /// What was known around the run.
    struct Around(Option<Pool>);
    impl Drop for Around {
        fn drop(&mut self) {
            POOL.replace(self.0.take());
        }
    }
    let _around = Around(POOL.replace(Some(Vec::new())));
    work()
}

impl Known {
    /// What is known of a function, in a context of its own; its model is made now if it was not
    /// before.
    ///
    /// # Errors
    /// Those of [`Model::extract_in`].
    pub fn of(role: Role, function: &Function, limits: Limits) -> Result<Rc<Known>> {
        let is = |(by, of, _): &&(Role, Function, Rc<Known>)| *by == role && of == function;
        let found = POOL.with_borrow(|pool| pool.iter().flatten().find(is).map(|(.., known)| known.clone()));
        if let Some(known) = found {
            return Ok(known);
        }
        let ctx = Ctx::new();
        let model = limits.run(&ctx, || Model::extract_in(&ctx, function))?;
        let known = Rc::new(Known { ctx, model, dependences: OnceCell::new(), checked: RefCell::default() });
        POOL.with_borrow_mut(|pool| {
            pool.iter_mut().for_each(|pool| pool.push((role, function.clone(), known.clone())));
        });
        Ok(known)
    }

    /// The result of a check of code that is said to do the same as the function; the same code is
    /// looked at once. Several candidates may be the order of the text.
    ///
    /// # Errors
    /// Those of the check; they are not remembered.
    pub fn checked(&self, generated: &Generated, check: impl FnOnce() -> Result<Checked>) -> Result<Checked> {
        let same = |(code, _): &&(Generated, Checked)| code == generated;
        let known = self.checked.borrow().iter().find(same).map(|(_, found)| *found);
        if let Some(found) = known {
            return Ok(found);
        }
        let found = check()?;
        self.checked.borrow_mut().push((generated.clone(), found));
        Ok(found)
    }

    /// Its dependences.
    ///
    /// # Errors
    /// Those of [`dependence::memory`].
    pub fn dependences(&self) -> Result<&[Dependence]> {
        if self.dependences.get().is_none() {
            let found = dependence::memory(&self.model)?;
            return Ok(self.dependences.get_or_init(|| found));
        }
        Ok(self.dependences.get().map_or(&[], Vec::as_slice))
    }
}
