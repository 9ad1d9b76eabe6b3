//! What this machine is: the sizes of its caches and its vector registers, for those who make
//! tiles, who are told and never look; and the descriptions of other machines.

pub mod description;

use std::fs;
use std::path::Path;
use std::sync::OnceLock;

use loops::Registers;
use polyhedral::locality::Caches;

use crate::failure::Failure;

pub use description::{Cluster, Description};

/// The machine that the command line names.
static CHOSEN: OnceLock<Description> = OnceLock::new();

/// From now on the command compiles for this machine, where nothing else is said.
pub fn choose(description: Description) {
    let _ = CHOSEN.set(description);
}

/// The machine that the command line names; none: this one.
pub fn chosen() -> Option<&'static Description> {
    CHOSEN.get()
}

/// The variable that stands for `--caches` where that is not given.
const VARIABLE: &str = "LOZENGE_CACHES";

/// The variable that names vector registers, such as `32x64`.
const REGISTERS: &str = "LOZENGE_REGISTERS";

/// The caches to compile for: as given, as the environment says, as is configured, those of this
/// machine, or usual ones where the system tells nothing.
///
/// # Errors
/// `X0804` if the environment says something that is no sizes.
pub fn caches(given: Option<Caches>) -> Result<Caches, Failure> {
    if let Some(caches) = given {
        return Ok(caches);
    }
    match std::env::var(VARIABLE) {
        Ok(text) => parse(&text).map_err(|why| {
            Failure::refused("X0804", format!("{VARIABLE} is `{text}`: {why}")).help(
                "give two sizes, such as `48K,2M`: first-level data cache and second-level cache of a core",
            )
        }),
        Err(_) => Ok(crate::config::current()
            .caches
            .or_else(|| read(Path::new("/sys/devices/system/cpu/cpu0/cache")))
            .unwrap_or_default()),
    }
}

/// What the system calls the processor; nothing where it does not tell.
pub fn processor() -> Option<String> {
    let text = fs::read_to_string("/proc/cpuinfo").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("model name"))?;
    Some(line.split_once(':')?.1.trim().to_owned())
}

/// The vector registers to compile for: as the environment says, as is configured, else those of
/// this machine.
///
/// # Errors
/// `X0804` if the environment says something else than a number of registers and the bytes of one.
pub fn registers() -> Result<Registers, Failure> {
    let Ok(text) = std::env::var(REGISTERS) else {
        return Ok(crate::config::current().registers.unwrap_or_else(own_registers));
    };
    parse_registers(&text).ok_or_else(|| {
        Failure::refused("X0804", format!("{REGISTERS} is `{text}`"))
            .help("give the number of vector registers and the bytes of one, such as `32x64`")
    })
}

/// A number of vector registers and the bytes of one: `32x64`.
pub(crate) fn parse_registers(text: &str) -> Option<Registers> {
    let (count, bytes) = text.split_once('x')?;
    match (count.parse().ok()?, bytes.parse().ok()?) {
        (count @ 4..=128, bytes @ 8..=256) => Some(Registers { count, bytes }),
        _ => None,
    }
}

#[cfg(target_arch = "x86_64")]
fn own_registers() -> Registers {
    if std::arch::is_x86_feature_detected!("avx512f") {
        return Registers { count: 32, bytes: 64 };
    }
    Registers { count: 16, bytes: if std::arch::is_x86_feature_detected!("avx") { 32 } else { 16 } }
}

#[cfg(not(target_arch = "x86_64"))]
fn own_registers() -> Registers {
    Registers { count: 32, bytes: 16 }
}

/// Two sizes with a comma between: `48K,2M`.
///
/// # Errors
/// What is wrong with them.
pub fn parse(text: &str) -> Result<Caches, String> {
    let sizes: Option<Vec<i64>> = text.split(',').map(size).collect();
    match sizes.as_deref() {
        Some(&[l1, l2]) if (1 << 10..=1 << 40).contains(&l1) && (l1..=1 << 40).contains(&l2) => {
            Ok(Caches { l1, l2 })
        }
        Some([_, _]) => Err("the first size is at least 1K, the second not smaller".to_owned()),
        _ => Err("two sizes are wanted, such as `48K,2M`".to_owned()),
    }
}

/// `48K`, `2M`, `32768` in bytes.
fn size(text: &str) -> Option<i64> {
    let text = text.trim();
    let (digits, unit) = match text.strip_suffix(['K', 'k']) {
        Some(digits) => (digits, 1 << 10),
        None => text.strip_suffix(['M', 'm']).map_or((text, 1), |digits| (digits, 1 << 20)),
    };
    digits.parse::<i64>().ok().filter(|n| *n > 0)?.checked_mul(unit)
}

/// The data caches of the first two levels, from the folder in which Linux describes the caches of
/// a processor.
fn read(folder: &Path) -> Option<Caches> {
    let (mut l1, mut l2) = (None, None);
    for entry in fs::read_dir(folder).ok()?.flatten() {
        let part =
            |name: &str| fs::read_to_string(entry.path().join(name)).map(|text| text.trim().to_owned());
        let (Ok(level), Ok(kind), Ok(bytes)) = (part("level"), part("type"), part("size")) else { continue };
        match (level.as_str(), kind.as_str()) {
            ("1", "Data" | "Unified") => l1 = size(&bytes),
            ("2", "Data" | "Unified") => l2 = size(&bytes),
            _ => {}
        }
    }
    let (l1, l2) = (l1?, l2?);
    (l2 >= l1).then_some(Caches { l1, l2 })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read() {
        assert_eq!(parse("48K,2M"), Ok(Caches { l1: 48 << 10, l2: 2 << 20 }));
        assert_eq!(parse(" 32768 , 1024K"), Ok(Caches { l1: 32 << 10, l2: 1 << 20 }));
        for wrong in ["", "48K", "48K,2M,3M", "0,1M", "2M,48K", "-1K,2M", "48G,2M", "99999999999999999999,1"]
        {
            assert!(parse(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_folder_without_caches_says_nothing() {
        assert_eq!(read(Path::new("/nowhere")), None);
    }
}
