//! From functional programs to certificates: the data that say what was translated to what.
//!
//! Not here: running Coq (`coq`).

use ::functional::{Definition, strategy::Step};
use dpia::Abi;
use dpia::certificate::{Certificate, certify};
use loops::Function;

use super::{Front, Parsed, functional as front};
use crate::cli::{Choice, Mode};
use crate::failure::Failure;

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
}

impl Sides {
    /// The certificate that the loops compute what the definition says.
    ///
    /// # Errors
    /// `D0201` where a program has a construct that certificates do not cover.
    pub fn certificate(&self) -> Result<Certificate, loops::Diagnostic> {
        let mode = match self.mode {
            Mode::Default => dpia::Mode::Default,
            Mode::Paper => dpia::Mode::Paper,
        };
        certify(&self.definition, &self.function, &self.abi, mode, &self.steps)
    }

    /// With the loops that become C, if they are others.
    pub fn printed(&self) -> Option<Sides> {
        if self.after.is_empty() {
            return None;
        }
        let function = loops::arrange::arranged(&self.function);
        Some(Sides { function, after: Vec::new(), ..self.clone() })
    }
}

impl Front {
    /// The chosen definition and the loops made of it.
    ///
    /// # Errors
    /// `X0701` if the source is no functional program; what the stages refuse.
    pub fn sides(&self, choice: &Choice) -> Result<Sides, Failure> {
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
        let name = self.chosen(choice)?;
        let (definition, function, abi, steps) = front::sides(&self.source, checked, &name, choice)?;
        let lowered = super::Lowered {
            function,
            original: None,
            definition: None,
            reassociated: false,
            of_c: false,
            notes: Vec::new(),
        };
        let function = super::c::scheduled(&self.source, lowered, choice, false)?.function;
        // As `lower` does it for the printer.
        let arranged = choice.schedule.is_none() && choice.mode == Mode::Default;
        let after = if arranged { loops::arrange::told(&function).1 } else { Vec::new() };
        Ok(Sides { definition, function, abi, mode: choice.mode, steps, after })
    }

    /// Sides of certificates for the chosen definition, the best first: of the loops that become C, and where these are made from others by
    /// passes that the checker may not follow, of those before.
    ///
    /// # Errors
    /// As [`Front::sides`].
    pub fn claims(&self, choice: &Choice) -> Result<Vec<Sides>, Failure> {
        let before = self.sides(choice)?;
        Ok(before.printed().into_iter().chain([before]).collect())
    }

    /// A certificate with the source in its errors.
    ///
    /// # Errors
    /// As [`Sides::certificate`].
    pub fn certificate(&self, sides: &Sides) -> Result<Certificate, Failure> {
        sides.certificate().map_err(|d| Failure::in_source(&self.source, vec![d]))
    }
}
