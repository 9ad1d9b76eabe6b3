//! Whether the subscripts of C stay inside of the arrays that were given.
//!
//! Shapes of arrays tell most sizes, but not that a program keeps to them: `a[i + 1]` may leave an
//! array, and sizes that are given by name may be any. The validator of loop programs looks at it
//! with numbers for sizes; what it has shown for all sizes it need not look at again. Subscripts
//! that are data are compared apart ([`crate::call`]).

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, OnceLock, PoisonError};

use loops::validate::{Report, validate};
use loops::{Code, Expr, Function, Name, Param};
use lozenge::Failure;
use lozenge::bind::Sizes;

use lozenge::deep;

/// A subscript is outside of its array.
const OUTSIDE: Code = Code("L0205");

/// So many choices of sizes are remembered.
const REMEMBERED: usize = 4096;

/// What is known of the subscripts of a function.
#[derive(Default)]
pub struct Inside {
    /// Whether all are inside for all sizes.
    always: OnceLock<bool>,
    /// Sizes at which none was found outside.
    fine: Mutex<BTreeSet<Vec<i64>>>,
}

impl Inside {
    /// Looks at the subscripts of a function at these sizes.
    ///
    /// # Errors
    /// `L0205` for the first that leaves its array.
    pub fn check(&self, function: &Function, sizes: &Sizes) -> Result<(), Failure> {
        let key: Vec<i64> = sizes.values().copied().collect();
        let fine = || self.fine.lock().unwrap_or_else(PoisonError::into_inner);
        if self.always.get() == Some(&true) || fine().contains(&key) {
            return Ok(());
        }
        let report = deep(|| {
            if self.always.get().is_none() {
                let all = validate(function);
                let _ = self.always.set(all.subscripts_unknown == 0 && outside(&all).is_none());
            }
            Ok(validate(&at(function, sizes)))
        })?;
        if let Some(diagnostic) = outside(&report) {
            let values: Vec<String> = sizes.iter().map(|(name, value)| format!("{name} = {value}")).collect();
            let failure = Failure::from(diagnostic.clone());
            return Err(if values.is_empty() {
                failure
            } else {
                failure.note(format!("at {}", values.join(", ")))
            });
        }
        let mut fine = fine();
        if fine.len() >= REMEMBERED {
            fine.clear();
        }
        fine.insert(key);
        Ok(())
    }
}

fn outside(report: &Report) -> Option<&loops::Diagnostic> {
    report.errors().find(|diagnostic| diagnostic.code == OUTSIDE)
}

/// The function with numbers for its sizes.
fn at(function: &Function, sizes: &Sizes) -> Function {
    let numbers: BTreeMap<Name, Expr> =
        sizes.iter().map(|(name, value)| (name.clone(), Expr::Int(*value))).collect();
    let number = |expr: &Expr| expr.substitute(&|name| numbers.get(name).cloned());
    let param = |param: &Param| Param { dims: param.dims.iter().map(number).collect(), ..param.clone() };
    Function {
        name: function.name.clone(),
        sizes: Vec::new(),
        assumptions: Vec::new(),
        params: function.params.iter().map(param).collect(),
        body: loops::visit::substitute(&function.body, &numbers),
    }
}
