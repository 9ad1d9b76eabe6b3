//! What targets have in common: a name, the options and stages that they have, and functions that
//! become files.
//!
//! A target is a value without fields that implements [`Target`]. Which targets there are is said
//! in one place, the registry of the crate `lozenge`, together with what needs other crates or
//! processes: mapping, building, running, measuring.

use std::collections::BTreeMap;

use loops::{Diagnostic, Function};

/// Stages between a source and the text of a target.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Stage {
    /// The functional program after its strategy.
    Functional,
    /// The rules that the strategy applied.
    Trace,
    /// The steps of the translation.
    Derivation,
    /// The imperative program between functions and loops.
    Dpia,
    /// The schedule tree.
    Schedule,
    /// The loop program.
    Loops,
    /// C.
    C,
    /// The header of the C.
    Header,
    /// A program around the C for a quick run.
    Main,
}

impl Stage {
    /// All stages, in the order of a compilation.
    pub const ALL: &'static [Stage] = &[
        Stage::Functional,
        Stage::Trace,
        Stage::Derivation,
        Stage::Dpia,
        Stage::Schedule,
        Stage::Loops,
        Stage::C,
        Stage::Header,
        Stage::Main,
    ];

    /// The name by which it is asked for.
    pub fn name(self) -> &'static str {
        match self {
            Stage::Functional => "functional",
            Stage::Trace => "trace",
            Stage::Derivation => "derivation",
            Stage::Dpia => "dpia",
            Stage::Schedule => "schedule",
            Stage::Loops => "loops",
            Stage::C => "c",
            Stage::Header => "header",
            Stage::Main => "main",
        }
    }

    /// What it is, in a sentence without its full stop.
    pub fn description(self) -> &'static str {
        match self {
            Stage::Functional => {
                "The functional program after type inference, with calls unfolded (and the strategy applied)"
            }
            Stage::Trace => "Each rule that the strategy applied, and where; can be replayed",
            Stage::Derivation => "Each step of the translation with the name of its rule",
            Stage::Dpia => "The imperative program of the paper: commands, acceptors, expressions",
            Stage::Schedule => {
                "The schedule tree of the polyhedral side; for athread the tree after each module"
            }
            Stage::Loops => "The loop program",
            Stage::C => "C",
            Stage::Header => "The header of the C",
            Stage::Main => {
                "A program around the C for a quick run on random data: `PROGRAM [FUNCTION] SIZE...` prints a time and a checksum"
            }
        }
    }

    /// The stage of this name.
    pub fn named(name: &str) -> Option<Stage> {
        Stage::ALL.iter().copied().find(|stage| stage.name() == name)
    }
}

/// An option that only some targets have, such as the model of a chip. Its values are words.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Setting {
    /// Its name; the command line's option is this after two dashes.
    pub name: &'static str,
    /// What it is, in a few words.
    pub help: &'static str,
    /// Its values, each with what it is.
    pub values: &'static [(&'static str, &'static str)],
    /// The value that holds where none is given.
    pub default: &'static str,
    /// What stands for the value in a help text.
    pub value_name: &'static str,
}

/// Values of settings, by their names. What is not in it has its default.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Settings(BTreeMap<&'static str, &'static str>);

impl Settings {
    /// The value of a setting.
    pub fn get(&self, setting: &Setting) -> &'static str {
        self.0.get(setting.name).copied().unwrap_or(setting.default)
    }

    /// Gives a setting one of its values. Whether it has this value is the result.
    pub fn set(&mut self, setting: &Setting, value: &str) -> bool {
        let Some((value, _)) = setting.values.iter().find(|(known, _)| *known == value) else { return false };
        match *value == setting.default {
            true => self.0.remove(setting.name),
            false => self.0.insert(setting.name, value),
        };
        true
    }

    /// The names of settings that have another value than their default.
    pub fn given(&self) -> impl Iterator<Item = &'static str> {
        self.0.keys().copied()
    }
}

/// A file that a target makes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct File {
    /// Its name, without a folder.
    pub name: String,
    /// Its text.
    pub text: String,
    /// Whether it is a script that is to be run by its name.
    pub executable: bool,
}

impl File {
    /// A file that is not run by its name.
    pub fn new(name: impl Into<String>, text: impl Into<String>) -> File {
        File { name: name.into(), text: text.into(), executable: false }
    }
}

/// What a program becomes.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Output {
    /// The files. One alone may have any name; several belong into a folder, under these names.
    pub files: Vec<File>,
    /// The file that is shown where no files are written.
    pub shown: usize,
    /// Remarks for people, a line each.
    pub notes: Vec<String>,
}

impl Output {
    /// A text that is the whole result.
    pub fn of_text(name: impl Into<String>, text: String) -> Output {
        Output { files: vec![File::new(name, text)], ..Output::default() }
    }

    /// The text that is shown where no files are written.
    pub fn text(&self) -> &str {
        self.files.get(self.shown).map_or("", |file| &file.text)
    }
}

/// What a target can do beside its stages. A target that lacks something refuses what asks for it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Abilities {
    /// Whole models are translated for it.
    pub models: bool,
    /// A library can be built for this machine.
    pub libraries: bool,
    /// The loop program between passes can be printed and checked.
    pub passes: bool,
    /// Its code is for a number of threads or cores that is known when it is made.
    pub threads: bool,
    /// Tiles are chosen for sizes that may be given. The code is right for all sizes.
    pub sizes: bool,
    /// It has its own mapping of loops, and takes no order that was chosen for this machine.
    pub mapping: bool,
    /// Its code is for several ranks with memories of their own, in a grid, with arrays dealt out.
    pub ranks: bool,
    /// Its code is several files, which go into a folder.
    pub folder: bool,
    /// Regions of C++ become C++.
    pub cpp: bool,
}

/// What functions are emitted with.
#[derive(Clone, Copy, Debug)]
pub struct Emission<'a> {
    /// What names of files begin with.
    pub stem: &'a str,
    /// Values of the target's settings.
    pub settings: &'a Settings,
    /// The number of threads or cores, of targets that have [`Abilities::threads`]; all, if none.
    pub threads: Option<u32>,
}

/// A target: what loop programs become.
pub trait Target: Sync {
    /// The name by which it is asked for.
    fn name(&self) -> &'static str;

    /// What it is, in a sentence without its full stop.
    fn description(&self) -> &'static str;

    /// Options that it has, and others have not.
    fn settings(&self) -> &'static [Setting] {
        &[]
    }

    /// The stages that can be shown of it.
    fn stages(&self) -> &'static [Stage];

    /// What else it can do.
    fn abilities(&self) -> Abilities;

    /// Options about the order of loops that have no effect, each with the way out: of a target
    /// that has [`Abilities::mapping`].
    fn without_effect(&self) -> &'static [(&'static str, &'static str)] {
        &[]
    }

    /// The files of functions that are ready for it: mapped, if it has a mapping of its own.
    ///
    /// # Errors
    /// What it has no code for.
    fn emit(&self, functions: &[&Function], emission: &Emission) -> Result<Output, Diagnostic>;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stages_are_found_by_their_names() {
        for stage in Stage::ALL {
            assert_eq!(Stage::named(stage.name()), Some(*stage));
        }
        assert_eq!(Stage::named("C"), None);
    }

    #[test]
    fn settings_have_their_default_unless_another_value_is_given() {
        const SIDE: Setting = Setting {
            name: "side",
            help: "which side",
            values: &[("left", "here"), ("right", "there")],
            default: "left",
            value_name: "SIDE",
        };
        let mut settings = Settings::default();
        assert_eq!(settings.get(&SIDE), "left");
        assert!(settings.set(&SIDE, "right") && !settings.set(&SIDE, "up"));
        assert_eq!((settings.get(&SIDE), settings.given().collect()), ("right", vec!["side"]));
        assert!(settings.set(&SIDE, "left"));
        assert_eq!(settings, Settings::default());
    }
}
