//! Options that only some targets have: taken from the registry.

use clap::builder::{PossibleValue, PossibleValuesParser};
use clap::{Arg, ArgMatches, Args, Command, FromArgMatches};
use targets::Settings;

use crate::target;

/// The values of options that only some targets have.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TargetSettings(pub Settings);

impl Args for TargetSettings {
    fn augment_args(mut command: Command) -> Command {
        for (target, setting) in target::settings() {
            let values = setting.values.iter().map(|(name, help)| PossibleValue::new(*name).help(*help));
            command = command.arg(
                Arg::new(setting.name)
                    .long(setting.name)
                    .value_name(setting.value_name)
                    .help(format!("{target}: {}", setting.help))
                    .value_parser(PossibleValuesParser::new(values))
                    .default_value(setting.default),
            );
        }
        command
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for TargetSettings {
    fn from_arg_matches(matches: &ArgMatches) -> Result<TargetSettings, clap::Error> {
        let mut settings = TargetSettings::default();
        settings.update_from_arg_matches(matches)?;
        Ok(settings)
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        for (_, setting) in target::settings() {
            if let Some(value) = matches.get_one::<String>(setting.name) {
                self.0.set(setting, value);
            }
        }
        Ok(())
    }
}
