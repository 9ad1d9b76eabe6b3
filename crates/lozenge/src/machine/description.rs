//! Descriptions of machines: `library/machines/*.toml`, and files of users.
//!
//! What a description leaves out is that of this machine (caches, vector registers) or a usual
//! number.

use std::path::Path;

use ::optimize::Machine;
use loops::{Code, Diagnostic, Registers, Span};
use polyhedral::locality::Caches;
use polyhedral::ranks::Network;
use serde::Deserialize;

use crate::failure::{Failure, Source};
use crate::files;

/// Descriptions that ship: names and texts.
const SHIPPED: &[(&str, &str)] = &{
    macro_rules! shipped {
        ($($name:literal)*) => {
            [$(($name, include_str!(concat!("../../../../library/machines/", $name, ".toml")))),*]
        };
    }
    shipped!["avx2" "avx512" "neon" "sw26010" "sw26010pro" "cluster" "stampede"]
};

/// A machine as data.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Description {
    /// Its name.
    pub name: String,
    /// Vector registers of a core.
    pub registers: Option<Registers>,
    /// The first two data caches of a core.
    pub caches: Option<Caches>,
    /// The network between ranks, and what a rank does.
    pub network: Network,
    /// Nodes and switches, for simulations.
    pub cluster: Option<Cluster>,
    /// The chip of computing cores, by the name that `--chip` has for it.
    pub chip: Option<String>,
    /// Numbers of the cost model.
    core: Core,
    /// Costs of lines, innermost cache first.
    lines: [Option<Cache>; 3],
}

/// The file as it is written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    name: String,
    chip: Option<String>,
    vectors: Option<Vectors>,
    #[serde(default)]
    cache: Levels,
    #[serde(default)]
    core: Core,
    mover: Option<Mover>,
    rank: Option<Rank>,
    cluster: Option<Switches>,
    /// What only people read: local memory, cores, and where they are described.
    #[serde(rename = "local-memory")]
    _local_memory: Option<toml::Table>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Vectors {
    registers: i64,
    bytes: i64,
}

#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields)]
struct Levels {
    l1: Option<Cache>,
    l2: Option<Cache>,
    l3: Option<Cache>,
}

/// A cache; fields as in [`optimize::Cache`].
#[derive(Deserialize, Clone, Copy, PartialEq, Debug)]
#[serde(deny_unknown_fields)]
struct Cache {
    bytes: i64,
    line_cycles: Option<f64>,
    cores_at_once: Option<f64>,
}

/// Fields as in [`optimize::Machine`].
#[derive(Deserialize, Clone, Copy, PartialEq, Debug, Default)]
#[serde(deny_unknown_fields)]
struct Core {
    operations_per_cycle: Option<f64>,
    addition_cycles: Option<f64>,
    division_cycles: Option<f64>,
    integer_division_cycles: Option<f64>,
    call_cycles: Option<f64>,
    fork_cycles: Option<f64>,
    enter_cycles: Option<f64>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Mover {
    message: Message,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Message {
    latency_s: f64,
    bandwidth_bytes_per_s: f64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Rank {
    operations_per_s: f64,
    memory_bytes_per_s: Option<f64>,
}

/// A fat tree of two levels.
#[derive(Deserialize, Clone, Copy, PartialEq, Debug)]
#[serde(deny_unknown_fields)]
struct Switches {
    nodes: u32,
    nodes_of_a_leaf: u32,
    links_up_of_a_leaf: u32,
}

/// A cluster as simulations see it: a rank on each node, in a fat tree of two levels.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Cluster {
    /// How many nodes there are.
    pub nodes: u32,
    /// Nodes at each switch of the lower level.
    pub nodes_of_a_leaf: u32,
    /// Links from each of those to switches of the upper level.
    pub links_up_of_a_leaf: u32,
    /// Bytes that a rank moves from and to its memory in a second.
    pub memory: f64,
}

/// The names of the descriptions that ship.
pub fn names() -> impl Iterator<Item = &'static str> {
    SHIPPED.iter().map(|(name, _)| *name)
}

/// The text of a description that ships.
pub fn shipped(name: &str) -> Option<&'static str> {
    SHIPPED.iter().find(|(known, _)| *known == name).map(|(_, text)| *text)
}

/// The description of a name that ships, or of a file.
///
/// # Errors
/// `X0804` if it says something that it can't; `X0001` and others if there is no such file.
pub fn open(name: &str) -> Result<Description, Failure> {
    if let Some(text) = shipped(name) {
        return read(&Source { path: format!("{name}.toml"), text: text.to_owned() });
    }
    let path = Path::new(name);
    if path.extension().is_none() && !path.exists() {
        let all: Vec<&str> = names().collect();
        return Err(Failure::refused("X0804", format!("there is no machine `{name}`")).help(format!(
            "machines are {}, or a file as `lozenge machine` prints it",
            crate::target::list(&all, "and")
        )));
    }
    read(&files::read_source(path)?)
}

/// Reads a description.
///
/// # Errors
/// `X0804` with the place of what is wrong.
pub fn read(source: &Source) -> Result<Description, Failure> {
    let at = |span: Option<std::ops::Range<usize>>, message: String| {
        let diagnostic = match span {
            Some(span) => Diagnostic::error(Code("X0804"), message, Span::new(span.start, span.end), "here"),
            None => Diagnostic::general(Code("X0804"), message),
        };
        Failure::in_source(source, vec![diagnostic])
            .help("`lozenge machine` prints the description of this machine, to begin with")
    };
    let written: Written =
        toml::from_str(&source.text).map_err(|error| at(error.span(), error.message().to_owned()))?;
    let description = Description::of(written);
    description.sound().map_err(|what| at(None, what))?;
    Ok(description)
}

impl Description {
    fn of(written: Written) -> Description {
        let usual = Network::default();
        let message = written.mover.map(|mover| mover.message);
        let memory = written.rank.as_ref().and_then(|rank| rank.memory_bytes_per_s);
        let cluster = written.cluster.zip(memory).map(|(switches, memory)| Cluster {
            nodes: switches.nodes,
            nodes_of_a_leaf: switches.nodes_of_a_leaf,
            links_up_of_a_leaf: switches.links_up_of_a_leaf,
            memory,
        });
        let network = Network {
            latency: message.as_ref().map_or(usual.latency, |m| m.latency_s),
            bandwidth: message.as_ref().map_or(usual.bandwidth, |m| m.bandwidth_bytes_per_s),
            operations: written.rank.map_or(usual.operations, |rank| rank.operations_per_s),
        };
        let Levels { l1, l2, l3 } = written.cache;
        Description {
            name: written.name,
            registers: written.vectors.map(|v| Registers { count: v.registers, bytes: v.bytes }),
            caches: l1.zip(l2).map(|(l1, l2)| Caches { l1: l1.bytes, l2: l2.bytes }),
            network,
            cluster,
            chip: written.chip,
            core: written.core,
            lines: [l1, l2, l3],
        }
    }

    /// That numbers are such as machines have.
    fn sound(&self) -> Result<(), String> {
        if let Some(Registers { count, bytes }) = self.registers
            && !((4..=128).contains(&count) && (8..=256).contains(&bytes) && bytes.count_ones() == 1)
        {
            return Err(format!(
                "{count} vector registers of {bytes} bytes: 4 to 128 of 8 to 256 are possible"
            ));
        }
        if self.lines[0].is_some() != self.lines[1].is_some() {
            return Err("`cache.l1` and `cache.l2` come together".to_owned());
        }
        let bytes: Vec<i64> = self.lines.iter().flatten().map(|cache| cache.bytes).collect();
        if !bytes.is_sorted() || bytes.iter().any(|n| !(1 << 10..=1 << 40).contains(n)) {
            return Err("caches have 1 KiB or more, and each at least as much as the one before".to_owned());
        }
        let core = &self.core;
        let costs = [
            core.operations_per_cycle,
            core.addition_cycles,
            core.division_cycles,
            core.integer_division_cycles,
            core.call_cycles,
            core.fork_cycles,
            core.enter_cycles,
        ];
        let lines = self.lines.iter().flatten().flat_map(|cache| [cache.line_cycles, cache.cores_at_once]);
        if let Some(Cluster { nodes, nodes_of_a_leaf, links_up_of_a_leaf, .. }) = self.cluster
            && !((1..=1 << 20).contains(&nodes) && nodes_of_a_leaf > 0 && links_up_of_a_leaf > 0)
        {
            return Err("a cluster has 1 to 1048576 nodes, some at each leaf, and links up".to_owned());
        }
        let memory = self.cluster.map(|cluster| cluster.memory);
        let network = [self.network.latency, self.network.bandwidth, self.network.operations].map(Some);
        let mut all = costs.into_iter().chain(lines).chain(network).chain([memory]).flatten();
        match all.find(|n| !(n.is_finite() && *n > 0.0)) {
            Some(n) => Err(format!("{n} is no cost: all numbers are above 0")),
            None => Ok(()),
        }
    }

    /// What costs are predicted for, on so many threads: what is not described is as `usual` has
    /// it.
    pub fn costs(&self, usual: Machine) -> Machine {
        let core = &self.core;
        let mut machine = Machine {
            per_cycle: core.operations_per_cycle.unwrap_or(usual.per_cycle),
            latency: core.addition_cycles.unwrap_or(usual.latency),
            division: core.division_cycles.unwrap_or(usual.division),
            quotient: core.integer_division_cycles.unwrap_or(usual.quotient),
            call: core.call_cycles.unwrap_or(usual.call),
            fork: core.fork_cycles.unwrap_or(usual.fork),
            enter: core.enter_cycles.unwrap_or(usual.enter),
            ..usual
        };
        for (cache, described) in machine.caches.iter_mut().zip(&self.lines) {
            let Some(described) = described else { continue };
            cache.bytes = described.bytes as f64;
            cache.line = described.line_cycles.unwrap_or(cache.line);
            cache.together = described.cores_at_once.unwrap_or(cache.together);
        }
        machine
    }
}

/// The description of a machine with these caches and registers, as a file.
pub fn text(name: &str, caches: Caches, registers: Registers) -> String {
    let m = Machine::new(1, registers, caches.l1, caches.l2);
    let [l1, l2, l3] = m.caches;
    format!(
        "# What is not known of this machine has usual numbers; `cycles` are those of a core.\n\
         name = \"{name}\"\n\n\
         [vectors]\nregisters = {}\nbytes = {}\n\n\
         # `line_cycles`: to bring a line of 64 bytes from the next level, if lines come in order.\n\
         [cache.l1]\nbytes = {}\nline_cycles = {:?}\n\n\
         [cache.l2]\nbytes = {}\nline_cycles = {:?}\n\n\
         # `cores_at_once`: by how much all cores together are faster than one at most.\n\
         [cache.l3]\nbytes = {}\nline_cycles = {:?}\ncores_at_once = {:?}\n\n\
         [core]\noperations_per_cycle = {:?}\naddition_cycles = {:?}\ndivision_cycles = {:?}\n\
         integer_division_cycles = {:?}\n# Of a function such as exp.\ncall_cycles = {:?}\n\
         # Of a parallel loop beside its iterations: with several threads, and with one.\n\
         fork_cycles = {:?}\nenter_cycles = {:?}\n",
        registers.count,
        registers.bytes,
        l1.bytes,
        l1.line,
        l2.bytes,
        l2.line,
        l3.bytes.max(l2.bytes),
        l3.line,
        l3.together,
        m.per_cycle,
        m.latency,
        m.division,
        m.quotient,
        m.call,
        m.fork,
        m.enter
    )
}

#[cfg(test)]
mod tests {
    use targets::athread::{CHIP, Chip, SW26010, SW26010_PRO};

    use super::*;

    fn described(text: &str) -> Result<Description, Failure> {
        read(&Source { path: "m.toml".to_owned(), text: text.to_owned() })
    }

    #[test]
    fn descriptions_that_ship_can_be_read_and_have_their_names() {
        for (name, _) in SHIPPED {
            let description = open(name).expect("it can be read");
            assert_eq!(description.name, *name);
            assert!(
                description.caches.is_some()
                    || description.chip.is_some()
                    || description.cluster.is_some()
                    || *name == "cluster"
            );
        }
        assert_eq!(open("cluster").expect("it can be read").network, Network::default());
        assert_eq!(open("avx2").expect("it can be read").costs(Machine::default()).fork, 6000.0);
    }

    #[test]
    fn the_local_memory_of_chips_is_what_the_target_has() {
        for (name, chip) in [("sw26010", SW26010), ("sw26010pro", SW26010_PRO)] {
            let Chip { ldm, stack, grid: (rows, columns), .. } = chip;
            let table: toml::Table = shipped(name).expect("it ships").parse().expect("TOML");
            let number = |key: &str| table["local-memory"][key].as_integer();
            let all = ["bytes", "stack_bytes", "rows", "columns"].map(number);
            assert_eq!(all, [ldm, stack, rows, columns].map(Some), "{name}");
            let word = open(name).expect("it can be read").chip.expect("a chip");
            assert!(CHIP.values.iter().any(|(known, _)| *known == word), "{word}");
        }
    }

    #[test]
    fn this_machine_is_written_so_that_it_is_read_again() {
        let (caches, registers) = (Caches { l1: 48 << 10, l2: 2 << 20 }, Registers { count: 32, bytes: 64 });
        let description = described(&text("mine", caches, registers)).expect("it can be read");
        assert_eq!((description.caches, description.registers), (Some(caches), Some(registers)));
        let usual = Machine::new(2, registers, caches.l1, caches.l2);
        assert_eq!(description.costs(usual.clone()), usual);
    }

    #[test]
    fn numbers_that_no_machine_has_are_refused() {
        let errors = [
            ("name = 1", "invalid type"),
            ("name = \"x\"\nspeed = 3", "unknown field"),
            ("name = \"x\"\n[vectors]\nregisters = 2\nbytes = 32", "2 vector registers"),
            ("name = \"x\"\n[cache.l1]\nbytes = 32768", "come together"),
            ("name = \"x\"\n[cache.l1]\nbytes = 32768\n[cache.l2]\nbytes = 1024", "at least as much"),
            ("name = \"x\"\n[core]\nfork_cycles = -1.0", "-1 is no cost"),
            ("name = \"x\"\n[core]\nfork_cycles = nan", "NaN is no cost"),
        ];
        for (text, expected) in errors {
            let failure = described(text).expect_err(text);
            let said = failure.summary();
            assert!(said.contains("X0804") && said.contains(expected), "{text}: {said}");
        }
    }
}
