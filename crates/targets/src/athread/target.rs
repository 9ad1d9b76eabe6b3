//! What the target is asked for, and what it says of itself.

use loops::{Diagnostic, Function};

use super::chip::{Chip, SW26010, SW26010_PRO};
use super::{Files, emit};
use crate::target::{Abilities, Emission, File, Output, Setting, Settings, Stage, Target};

/// The target `athread`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Athread;

/// SW26010 with what makes its transfers fastest.
static IN_PAIRS: Chip = Chip { pairs: true, ..SW26010 };

/// The chips by the names of their setting.
const CHIPS: [(&str, &Chip); 2] = [("sw26010", &IN_PAIRS), ("sw26010pro", &SW26010_PRO)];

/// The setting that chooses the chip.
pub const CHIP: Setting = Setting {
    name: "chip",
    help: "the chip",
    values: &[
        ("sw26010", "64 KiB of local memory; `athread_*`, built with sw5cc"),
        ("sw26010pro", "256 KiB of local memory; `CRTS_*`, built with swgcc"),
    ],
    default: "sw26010",
    value_name: "CHIP",
};

/// The setting that says how many parallel loops are mapped to the cores.
pub const PARALLEL: Setting = Setting {
    name: "parallel",
    help: "parallel loops that are mapped to the cores",
    values: &[
        ("1d", "One, over all cores"),
        ("2d", "Two, over rows and columns of cores; where only one loop is parallel, one"),
    ],
    default: "2d",
    value_name: "1d|2d",
};

/// How many parallel loops are mapped to the cores.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Parallel {
    /// One, over all cores.
    One,
    /// Two, over rows and columns of cores; where only one loop is parallel, one.
    #[default]
    Two,
}

impl Parallel {
    /// The value of [`PARALLEL`] for it.
    pub fn name(self) -> &'static str {
        match self {
            Parallel::One => "1d",
            Parallel::Two => "2d",
        }
    }

    /// What a value of [`PARALLEL`] says.
    pub fn named(name: &str) -> Option<Parallel> {
        [Parallel::One, Parallel::Two].into_iter().find(|parallel| parallel.name() == name)
    }
}

/// What the settings of the target say.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Cores {
    /// The chip.
    pub chip: &'static Chip,
    /// How many parallel loops are mapped.
    pub parallel: Parallel,
}

impl Default for Cores {
    fn default() -> Cores {
        Cores::of(&Settings::default())
    }
}

impl Cores {
    /// What the settings say.
    pub fn of(settings: &Settings) -> Cores {
        let chip = settings.get(&CHIP);
        let chip = CHIPS.iter().find(|(name, _)| *name == chip).map_or(&IN_PAIRS, |(_, chip)| chip);
        Cores { chip, parallel: Parallel::named(settings.get(&PARALLEL)).unwrap_or_default() }
    }

    /// The settings that say this.
    pub fn settings(self) -> Settings {
        let mut settings = Settings::default();
        let chip = CHIPS.iter().find(|(_, chip)| chip.name == self.chip.name);
        settings.set(&CHIP, chip.map_or(CHIP.default, |(name, _)| name));
        settings.set(&PARALLEL, self.parallel.name());
        settings
    }
}

impl Target for Athread {
    fn name(&self) -> &'static str {
        "athread"
    }

    fn description(&self) -> &'static str {
        "Host and slave files for the core groups of Sunway machines"
    }

    fn settings(&self) -> &'static [Setting] {
        &[CHIP, PARALLEL]
    }

    fn stages(&self) -> &'static [Stage] {
        &[Stage::Schedule, Stage::Loops, Stage::C]
    }

    fn abilities(&self) -> Abilities {
        Abilities {
            models: true,
            libraries: false,
            passes: false,
            threads: true,
            sizes: true,
            mapping: true,
            ranks: false,
            folder: true,
            cpp: false,
        }
    }

    fn without_effect(&self) -> &'static [(&'static str, &'static str)] {
        &[
            (
                "--schedule FILE",
                "remove the option; a mapping of your own is a loop program with `mark kernel`",
            ),
            ("--caches", "the size of local memory follows from `--chip`"),
        ]
    }

    fn emit(&self, functions: &[&Function], emission: &Emission) -> Result<Output, Diagnostic> {
        let chip = Cores::of(emission.settings).chip;
        let threads = i64::from(emission.threads.unwrap_or(CORES));
        Ok(emit(functions, emission.stem, threads, chip)?.output(emission.stem))
    }
}

/// The cores of a core group.
const CORES: u32 = 64;

impl Files {
    /// The files by their names, with what is said of them.
    pub fn output(self, stem: &str) -> Output {
        let notes = self.remarks().into_iter().chain(self.verdict()).collect();
        let stem = crate::stem(stem);
        let mut files = vec![
            File::new(format!("{stem}_host.c"), self.host),
            File::new(format!("{stem}_slave.c"), self.slave),
            File { executable: true, ..File::new("build.sh", self.build) },
        ];
        files.extend(self.header.map(|(name, text)| File::new(name, text)));
        for one in self.micro_kernels {
            files.push(File::new(one.header_name(), one.header));
            files.push(File::new(format!("{}.c", one.stem), one.source));
        }
        Output { files, shown: 1, notes }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_value_of_the_settings_has_a_meaning() {
        for (value, _) in CHIP.values {
            let mut settings = Settings::default();
            assert!(settings.set(&CHIP, value));
            let cores = Cores::of(&settings);
            assert_eq!(cores.chip.name.to_lowercase(), *value);
            assert_eq!(cores.settings(), settings);
        }
        for (value, _) in PARALLEL.values {
            assert_eq!(Parallel::named(value).map(Parallel::name), Some(*value));
        }
        assert_eq!(CHIPS.len(), CHIP.values.len());
    }
}
