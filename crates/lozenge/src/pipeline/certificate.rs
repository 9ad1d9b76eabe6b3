//! From functional programs to certificates: the data that say what was translated to what.
//!
//! Not here: running Coq (`coq`).

use ::functional::{Definition, strategy::Step};
use dpia::Abi;
use dpia::certificate::{Certificate, certify};
use loops::{Expr, Function, Name, Stmt};

use super::{Front, Parsed, functional as front};
use crate::failure::Failure;
use crate::request::{Mode, Request};

/// Both sides of a certificate.
#[derive(Clone, Debug)]
pub struct Sides {
    /// Passes that change the loops after `function`: those that become C are others.
    pub after: Vec<&'static str>,
    /// The definition before any strategy.
    pub definition: Definition,
    /// The loops: those that become C, if nothing comes after.
    pub function: Function,
    /// Which parameters of the loops are which of the definition.
    pub abi: Abi,
    /// How they were translated.
    pub mode: Mode,
    /// What a strategy did.
    pub steps: Vec<Step>,
    /// Whether the program leaves its loops open, and the strategy `auto` was applied.
    pub undecided: bool,
}

impl Sides {
    /// The certificate that the loops compute what the definition says.
    ///
    /// # Errors
    /// `D0201` where a program has a construct that certificates do not cover.
    pub fn certificate(&self) -> Result<Certificate, loops::Diagnostic> {
        certify(&self.definition, &self.function, &self.abi, self.mode, &self.steps)
    }
}

/// Whether the bound of a loop depends on several loops around it, as those of skewed tiles do.
fn is_skewed(body: &[Stmt], around: &mut Vec<Name>) -> bool {
    body.iter().any(|stmt| {
        let Stmt::Loop(l) = stmt else {
            return stmt.bodies().into_iter().any(|body| is_skewed(body, around));
        };
        let several = |bound: &Expr| around.iter().filter(|var| bound.mentions(var)).count() > 1;
        if several(&l.lower) || several(&l.upper) {
            return true;
        }
        around.push(l.var.clone());
        let found = is_skewed(&l.body, around);
        around.pop();
        found
    })
}

impl Front {
    /// The chosen definition and the loops that it is translated to, before any pass.
    ///
    /// # Errors
    /// `X0701` if the source is no functional program; what the stages refuse.
    pub fn sides(&self, request: &Request) -> Result<Sides, Failure> {
        let Parsed::Functional(checked) = &self.parsed else {
            return Err(Failure::refused(
                "X0701",
                format!(
                    "{} is no functional program, so there is nothing to prove of its loops",
                    self.source.path
                ),
            )
            .help(
                "`lozenge prove` is for .loz files; schedules of C are checked by `lozenge compile` itself",
            ));
        };
        let name = self.chosen(request)?;
        let front::Claimed { original, function, abi, steps, undecided } =
            front::claimed(&self.source, checked, &name, request)?;
        let after = Vec::new();
        Ok(Sides { definition: original, function, abi, mode: request.mode, steps, undecided, after })
    }

    /// Sides of certificates for the chosen definition, the best first: of the loops that become C,
    /// and where passes make these, which the checker may not follow, of those before.
    ///
    /// # Errors
    /// As [`Front::sides`].
    pub fn claims(&self, request: &Request) -> Result<Vec<Sides>, Failure> {
        let mut before = self.sides(request)?;
        let lowered = super::Lowered {
            function: before.function.clone(),
            original: None,
            definition: None,
            reassociated: false,
            undecided: before.undecided,
            of_c: false,
            notes: Vec::new(),
            warnings: Vec::new(),
            applied: Vec::new(),
            candidates: Vec::new(),
        };
        let printed = self.passed(lowered, request)?;
        for one in &printed.applied {
            if !before.after.contains(&one.pass) {
                before.after.push(one.pass);
            }
        }
        // Tiles over time steps are more than the checker can follow, and it is long about it.
        let skewed = printed.original.is_some() && is_skewed(&printed.function.body, &mut Vec::new());
        if before.after.is_empty() || (skewed && !is_skewed(&before.function.body, &mut Vec::new())) {
            return Ok(vec![before]);
        }
        let printed = Sides { function: printed.function, after: Vec::new(), ..before.clone() };
        Ok(vec![printed, before])
    }

    /// A certificate with the source in its errors.
    ///
    /// # Errors
    /// As [`Sides::certificate`].
    pub fn certificate(&self, sides: &Sides) -> Result<Certificate, Failure> {
        sides.certificate().map_err(|d| Failure::in_source(&self.source, vec![d]))
    }
}
