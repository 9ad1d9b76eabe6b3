//! `lozenge bench --target mpi --simulate`: weak and strong scaling on a described cluster, by
//! SimGrid.
//!
//! Efficiency is the modelled time of the loops on one rank that had memory enough, over the time
//! of all ranks together. In weak scaling each rank has as much data at every number of ranks.

use std::path::Path;
use std::time::Duration;

use loops::{Function, Name};
use serde_json::{Value as Json, json};

use super::bench_mpi::{STEPS, grid};
use crate::bind::Sizes;
use crate::cli::Bench;
use crate::failure::Failure;
use crate::files;
use crate::machine::{self, Cluster, Description, description};
use crate::pipeline::{Front, mpi};
use crate::progress::Bar;
use crate::report::{self, table};
use crate::request::{Ranks, Request};
use crate::simgrid::{Said, Tools};
use crate::statistics::seconds;

/// The cluster that is simulated where `--machine` names none.
const CLUSTER: &str = "stampede";
/// Numbers of ranks, and with `--quick`.
const RANKS: [u32; 6] = [1, 4, 16, 64, 256, 1024];
const QUICK: [u32; 3] = [1, 4, 16];
/// Elements of the largest array of a rank, where no sizes are given.
const ELEMENTS: f64 = (1 << 22) as f64;
/// Strong scaling is at the sizes that weak scaling has at so many ranks.
const STRONG: u32 = 64;
/// Real time of one simulation.
const LIMIT: Duration = Duration::from_secs(3600);

/// What simulations need.
#[derive(Debug)]
pub(super) struct Simulation {
    tools: Tools,
    machine: Description,
    cluster: Cluster,
}

/// One number of ranks.
struct Row {
    ranks: u32,
    grid: Vec<i64>,
    sizes: Sizes,
    said: Said,
    efficiency: f64,
    least: Option<f64>,
}

impl Simulation {
    /// The tools, and the cluster.
    ///
    /// # Errors
    /// `X0308` without SimGrid, `X0804` if the machine is no cluster.
    pub(super) fn new() -> Result<Simulation, Failure> {
        let tools = Tools::find()?;
        let machine = match machine::chosen() {
            Some(chosen) => chosen.clone(),
            None => description::open(CLUSTER)?,
        };
        let Some(cluster) = machine.cluster else {
            let message = format!("the machine `{}` is no cluster", machine.name);
            return Err(Failure::refused("X0804", message).help(format!(
                "describe nodes and switches as `[cluster]` of `lozenge machine {CLUSTER}` does, and memory in `[rank]`"
            )));
        };
        Ok(Simulation { tools, machine, cluster })
    }

    /// Simulates a definition.
    pub(super) fn one(
        &self,
        front: &Front,
        name: &str,
        (arguments, file, as_json): (&Bench, &Path, bool),
    ) -> Result<Json, Failure> {
        let request = Request { target: arguments.target, stem: "program".to_owned(), ..files::request() };
        let request = Request { machine: Some(self.machine.clone()), ..request.of(name) };
        let function = front.original(name, &request)?;
        let usual: &[u32] = if arguments.quick { &QUICK } else { &RANKS };
        let ranks = if arguments.ranks.is_empty() { usual } else { &arguments.ranks };
        let fitting: Vec<u32> = ranks.iter().copied().filter(|ranks| *ranks <= self.cluster.nodes).collect();
        let bar = Bar::new(2 * fitting.len() as u64, "simulating");
        let mut both = Vec::new();
        for of in [None, Some(STRONG)] {
            let mut rows = Vec::new();
            for ranks in &fitting {
                let sizes = sizes(&function, arguments, of.unwrap_or(*ranks));
                rows.push(self.run(front, &request, *ranks, sizes)?);
                bar.inc(1);
            }
            both.push(rows);
        }
        drop(bar);
        let title = ["weak scaling", "strong scaling"];
        if !as_json {
            for (rows, title) in both.iter().zip(title) {
                let head = format!("{name} of {} on {}, {title}\n", file.display(), self.machine.name);
                report::print(&format!("{head}{}\n", shown(rows)));
            }
        }
        let told = |rows: &[Row]| rows.iter().map(Row::json).collect::<Vec<_>>();
        Ok(json!({
            "name": name, "file": file.display().to_string(), "machine": self.machine.name,
            "weak": told(&both[0]), "strong": told(&both[1]),
        }))
    }

    fn run(&self, front: &Front, request: &Request, ranks: u32, sizes: Sizes) -> Result<Row, Failure> {
        let known = sizes.iter().map(|(name, n)| (name.to_string(), *n)).collect();
        let asked = Ranks { count: Some(ranks), ..Ranks::default() };
        let all = mpi::map(front, &Request { sizes: known, ranks: asked, ..request.clone() })?;
        let Some(program) = all.first().map(|one| &one.distributed.program) else {
            return Err(Failure::refused("X0907", "there is nothing to simulate"));
        };
        let output = targets::mpi::simulated(program, "program").map_err(Failure::from)?;
        let built = self.tools.build(&output, &self.machine, &self.cluster)?;
        let grid = grid(program, i64::from(ranks));
        let options = |extents: &[i64]| {
            let extents: Vec<String> = extents.iter().map(i64::to_string).collect();
            let mut options =
                vec!["--fill".to_owned(), "1".to_owned(), "--grid".to_owned(), extents.join("x")];
            for (name, n) in &sizes {
                options.extend(["--size".to_owned(), format!("{name}={n}")]);
            }
            options
        };
        let said = built.run(ranks, &options(&grid.0), LIMIT)?;
        let alone = built.run(1, &options(&vec![1; grid.0.len()]), LIMIT)?;
        let efficiency = alone.computed / (f64::from(ranks) * said.seconds).max(1e-12);
        let least = polyhedral::ranks::least(program, &grid, &sizes).map(|least| least.bytes);
        Ok(Row { ranks, grid: grid.0, sizes, said, efficiency, least })
    }
}

/// The sizes at which each of so many ranks has as much data as one rank has at the given ones: all
/// but the numbers of steps grow alike.
fn sizes(function: &Function, arguments: &Bench, ranks: u32) -> Sizes {
    let dims = function.params.iter().map(|param| param.dims.len()).max().unwrap_or(1).max(1);
    let root = |n: f64| n.powf(1.0 / dims as f64);
    let of = |name: &Name| {
        let given = arguments.sizes.iter().find(|(given, _)| given == name.as_str()).map(|(_, n)| *n);
        let steps = STEPS.iter().find(|(step, _)| *step == name.as_str()).map(|(_, n)| *n);
        match (steps, given) {
            (Some(steps), given) => given.unwrap_or(steps),
            (None, given) => {
                let own = given.map_or_else(|| root(ELEMENTS), |n| n as f64);
                (own * root(f64::from(ranks))).round() as i64
            }
        }
    };
    function.sizes.iter().map(|name| (name.clone(), of(name))).collect()
}

impl Row {
    fn json(&self) -> Json {
        let sizes: serde_json::Map<String, Json> =
            self.sizes.iter().map(|(name, n)| (name.to_string(), json!(n))).collect();
        json!({
            "ranks": self.ranks, "grid": self.grid, "sizes": sizes, "seconds": self.said.seconds,
            "efficiency": self.efficiency, "messages": self.said.messages, "bytes": self.said.bytes,
            "most_bytes": self.said.most, "least_bytes": self.least,
        })
    }
}

fn shown(rows: &[Row]) -> String {
    let head = ["ranks", "sizes", "time", "efficiency", "messages", "most of a rank", "over least"];
    let mut lines = vec![head.map(str::to_owned).to_vec()];
    for row in rows {
        let sizes: Vec<String> = row.sizes.iter().map(|(name, n)| format!("{name}={n}")).collect();
        let ratio =
            row.least.filter(|least| *least > 0.0).map(|least| format!("{:.2}", row.said.most / least));
        let grid: Vec<String> = row.grid.iter().map(i64::to_string).collect();
        lines.push(vec![
            grid.join("x"),
            sizes.join(" "),
            seconds(row.said.seconds),
            format!("{:.1} %", 100.0 * row.efficiency),
            format!("{:.0}", row.said.messages),
            format!("{:.0}", row.said.most),
            ratio.unwrap_or_else(|| "-".to_owned()),
        ]);
    }
    table(&lines)
}
