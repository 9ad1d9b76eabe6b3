//! Values of options that are taken from the registry of targets, and options that only some have.

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Arg, ArgMatches, Args, Command, FromArgMatches};
use targets::athread::{PARALLEL, Parallel};
use targets::{Settings, Stage};

use crate::target::{self, Target};

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

/// A parser of words that are values of a type, each with what it is.
fn words<T: Clone + Send + Sync + 'static>(
    values: impl Iterator<Item = (&'static str, &'static str)>,
    named: impl Fn(&str) -> Option<T> + Clone + Send + Sync + 'static,
) -> impl TypedValueParser<Value = T> {
    let values = values.map(|(name, help)| PossibleValue::new(name).help(help));
    PossibleValuesParser::new(values).try_map(move |name| named(&name).ok_or("this is none of the values"))
}

/// The values of `--emit`.
pub(super) fn stages() -> impl TypedValueParser<Value = Stage> {
    words(Stage::ALL.iter().map(|stage| (stage.name(), stage.description())), Stage::named)
}

/// The values of `--target`.
pub(super) fn all_targets() -> impl TypedValueParser<Value = Target> {
    words(Target::all().iter().map(|target| (target.name(), target.description())), Target::named)
}

/// The values of `--parallel` where it may be given several times.
pub(super) fn parallel() -> impl TypedValueParser<Value = Parallel> {
    words(PARALLEL.values.iter().copied(), Parallel::named)
}

/// What is done for each target, in the help of `--target`.
pub(super) fn by_target(what: impl Fn(Target) -> &'static str) -> String {
    let all: Vec<&str> = Target::all().iter().map(|target| what(*target)).collect();
    let between = if all.iter().any(|text| text.contains(',')) { "; " } else { ", " };
    let Some((last, before)) = all.split_last() else { return "Target".to_owned() };
    format!("Target: {}{between}or {last}", before.join(between))
}
