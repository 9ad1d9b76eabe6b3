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
    /// The definition before any strategy.
    pub definition: Definition,
    /// The loops that become C.
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
        Ok(Sides { definition, function, abi, mode: choice.mode, steps })
    }

    /// The certificate of the chosen definition.
    ///
    /// # Errors
    /// As [`Front::sides`] and [`Sides::certificate`].
    pub fn certificate(&self, choice: &Choice) -> Result<Certificate, Failure> {
        self.sides(choice)?.certificate().map_err(|d| Failure::in_source(&self.source, vec![d]))
    }
}
