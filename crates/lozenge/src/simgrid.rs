//! Simulations of programs on ranks by SimGrid's SMPI: the platform of a described cluster, and the
//! programs that are built with `smpicc` and run with `smpirun`.
//!
//! The modelled time depends on the program and the platform alone: computing is charged by the
//! program (`lozenge_simulated.h`), the clock of this machine is not asked.

use std::fmt::Write as _;
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use targets::Output;

use crate::failure::Failure;
use crate::files::{Scratch, reason};
use crate::machine::{Cluster, Description};
use crate::process;

/// The tools of SimGrid.
#[derive(Clone, Debug)]
pub struct Tools {
    compiler: PathBuf,
    launcher: PathBuf,
}

/// A built program, and the cluster on which it is simulated.
#[derive(Debug)]
pub struct Program {
    scratch: Scratch,
    program: PathBuf,
    launcher: PathBuf,
}

/// What a simulated run said.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Said {
    /// Modelled seconds of the slowest rank.
    pub seconds: f64,
    /// Modelled seconds that the loops of all ranks take, together.
    pub computed: f64,
    /// Messages of all ranks.
    pub messages: f64,
    /// Bytes of all messages.
    pub bytes: f64,
    /// The most bytes that one rank received.
    pub most: f64,
}

/// Links that a message takes between nodes of two leaves.
const LINKS: f64 = 4.0;
/// KiB of a simulated rank's stack.
const STACK: u32 = 256;

impl Tools {
    /// `SMPICC` or `smpicc`, and `SMPIRUN` or `smpirun`.
    ///
    /// # Errors
    /// `X0308` if there is none.
    pub fn find() -> Result<Tools, Failure> {
        let tool = |variable: &str, name: &str| {
            let named = std::env::var_os(variable).filter(|v| !v.is_empty()).map(PathBuf::from);
            process::on_path(&named.unwrap_or_else(|| PathBuf::from(name))).ok_or_else(|| {
                Failure::environment("X0308", format!("there is no `{name}` on the path")).help(format!(
                    "install SimGrid (Debian: apt-get install libsimgrid-dev), or set {variable} to the command"
                ))
            })
        };
        Ok(Tools { compiler: tool("SMPICC", "smpicc")?, launcher: tool("SMPIRUN", "smpirun")? })
    }

    /// Builds a program for a cluster.
    ///
    /// # Errors
    /// `X0302` if the compiler refuses it.
    pub fn build(
        &self,
        output: &Output,
        machine: &Description,
        cluster: &Cluster,
    ) -> Result<Program, Failure> {
        let scratch = Scratch::new()?;
        let write = |name: &str, text: &str| {
            std::fs::write(scratch.path().join(name), text)
                .map_err(|e| Failure::environment("X0004", format!("can't write C: {}", reason(&e))))
        };
        for file in &output.files {
            write(&file.name, &file.text)?;
        }
        write("platform.xml", &platform(machine, cluster))?;
        let hosts: String = (0..cluster.nodes).map(|node| format!("node-{node}\n")).collect();
        write("hosts", &hosts)?;
        let main = output.files.iter().find(|file| file.name.ends_with("_main.c"));
        let main = main.map_or_else(PathBuf::new, |file| scratch.path().join(&file.name));
        let program = scratch.path().join("program");
        let mut command = Command::new(&self.compiler);
        command.env("TMPDIR", scratch.path()).args(["-O2", "-w"]);
        command.arg(format!("-D{}", targets::mpi::SIMULATED));
        command.arg(format!("-DLZ_OPERATIONS={:e}", machine.network.operations));
        command.arg(format!("-DLZ_MEMORY={:e}", cluster.memory));
        command.arg("-o").arg(&program).arg(&main).arg("-lm");
        let finished = process::run(&mut command, Duration::from_secs(300))?;
        if !finished.status.success() {
            let said: String = finished.stderr.lines().take(30).collect::<Vec<_>>().join("\n");
            let message = format!("`{}` does not compile the C", self.compiler.display());
            return Err(Failure::environment("X0302", message).note(said));
        }
        Ok(Program { scratch, program, launcher: self.launcher.clone() })
    }
}

impl Program {
    /// Simulates the program on so many ranks.
    ///
    /// # Errors
    /// `X0303` after the time limit, `X0304` with what it said if it fails.
    pub fn run(&self, ranks: u32, arguments: &[String], limit: Duration) -> Result<Said, Failure> {
        let folder = self.scratch.path();
        let mut command = Command::new(&self.launcher);
        command.current_dir(folder).env("TMPDIR", folder);
        command.args(["-np", &ranks.to_string(), "-platform", "platform.xml", "-hostfile", "hosts"]);
        command.args(options()).arg(&self.program).arg("--count").args(arguments);
        let finished = process::run(&mut command, limit)?;
        let stdout = String::from_utf8_lossy(&finished.stdout).into_owned();
        if !finished.status.success() {
            let lines = finished.stderr.lines().chain(stdout.lines());
            let said: Vec<&str> = lines.filter(|line| !line.trim().is_empty()).take(6).collect();
            return Err(Failure::environment("X0304", "the simulated program failed").note(said.join("\n")));
        }
        let number = |word: &str| -> Result<f64, Failure> {
            let found = stdout.lines().find_map(|line| line.strip_prefix(word)?.trim().parse().ok());
            found.ok_or_else(|| {
                Failure::environment("X0304", format!("the simulated program said no `{word}`"))
            })
        };
        Ok(Said {
            seconds: number("time ")?,
            computed: number("computed ")?,
            messages: number("messages ")?,
            bytes: number("bytes ")?,
            most: number("most ")?,
        })
    }
}

/// Options of the simulator: no clock of this machine, one process for all ranks (the program has
/// no variables of its own but the memory that all share), and links as they are described, without
/// the factors that SMPI has measured for TCP.
fn options() -> Vec<String> {
    [
        "smpi/privatization:no",
        "smpi/simulate-computation:no",
        "smpi/shared-malloc:global",
        "smpi/bw-factor:0:1",
        "smpi/lat-factor:0:1",
        "network/crosstraffic:0",
    ]
    .iter()
    .map(|option| format!("--cfg={option}"))
    .chain([format!("--cfg=contexts/stack-size:{STACK}"), "--log=root.thres:error".to_owned()])
    .collect()
}

/// The platform as SimGrid reads it: a fat tree of two levels.
fn platform(machine: &Description, cluster: &Cluster) -> String {
    let leaves = cluster.nodes.div_ceil(cluster.nodes_of_a_leaf);
    let mut text = "<?xml version='1.0'?>\n<!DOCTYPE platform SYSTEM \"https://simgrid.org/simgrid.dtd\">\n<platform version=\"4.1\">\n".to_owned();
    let _ = writeln!(
        text,
        "  <cluster id=\"{}\" prefix=\"node-\" suffix=\"\" radical=\"0-{}\" speed=\"{:e}f\" bw=\"{:e}Bps\" lat=\"{:e}s\"\n           topology=\"FAT_TREE\" topo_parameters=\"2;{},{leaves};1,{};1,1\" sharing_policy=\"SPLITDUPLEX\"/>\n</platform>",
        machine.name,
        leaves * cluster.nodes_of_a_leaf - 1,
        machine.network.operations,
        machine.network.bandwidth,
        machine.network.latency / LINKS,
        cluster.nodes_of_a_leaf,
        cluster.links_up_of_a_leaf,
    );
    text
}
