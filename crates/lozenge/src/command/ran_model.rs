//! What is told of a model that ran: its results, times, and comparisons, as text and as JSON.

use std::collections::BTreeMap;
use std::time::Duration;

use graph::plan::{KernelCall, Step};
use loops::Name;
use serde_json::{Value as Json, json};

use super::ort;
use super::run_athread::modelled;
use crate::athread::Report;
use crate::cli::Run;
use crate::execute::Outcome;
use crate::failure::Failure;
use crate::files::write_whole;
use crate::pipeline::graph::CompiledModel;
use crate::statistics::Summary;
use crate::value::show;
use crate::{bind, npy, report};

/// A model that ran, and what is told of it.
pub(super) struct Ran<'a> {
    pub(super) arguments: &'a Run,
    pub(super) compiled: &'a CompiledModel,
    pub(super) outcome: &'a Outcome,
    pub(super) sizes: &'a BTreeMap<Name, i64>,
    /// How it was compiled, a line each.
    pub(super) notes: &'a [String],
    /// What the emulator of a chip reports, if it ran on one: times are modelled then.
    pub(super) modelled: Option<&'a (Option<Report>, &'static str)>,
    /// Files with results.
    pub(super) written: Vec<String>,
}

impl Ran<'_> {
    fn results(&self) -> Vec<(&Name, &loops::Tensor)> {
        self.compiled.plan.outputs.iter().map(|p| &p.name).zip(&self.outcome.outputs).collect()
    }

    /// Writes the results to files, if that is asked for.
    pub(super) fn write(&mut self) -> Result<(), Failure> {
        let Some(out) = &self.arguments.out else { return Ok(()) };
        let mut written = Vec::new();
        let results = self.results();
        let names: Vec<&Name> = results.iter().map(|(name, _)| *name).collect();
        for (path, (_, tensor)) in super::run::out_paths(out, &names).iter().zip(&results) {
            write_whole(path, &npy::write(tensor))?;
            written.push(path.display().to_string());
        }
        self.written = written;
        Ok(())
    }

    pub(super) fn json(&self, agreement: Option<&str>, compared: Option<&ort::Compared>) -> Json {
        let result = |(k, (name, t)): (usize, (&Name, &loops::Tensor))| {
            json!({
                "name": name.as_str(), "shape": t.shape, "type": t.data.elem().to_string(),
                "file": self.written.get(k), "value": show(t),
            })
        };
        let results: Vec<Json> = self.results().into_iter().enumerate().map(result).collect();
        let mut value = json!({
            "ok": true, "function": self.compiled.signature.c_name, "sizes": sizes_json(self.sizes),
            "seed": self.arguments.seed, "results": results,
            "seconds": self.outcome.times.iter().map(Duration::as_secs_f64).collect::<Vec<_>>(),
            "check": agreement,
        });
        if let Some((report, _)) = self.modelled {
            // Those of the emulation tell nothing.
            value["seconds"] = json!([]);
            value["modelled"] = json!(report.as_ref().map(|r| r.json.clone()));
        }
        if self.modelled.is_some() || !self.notes.is_empty() {
            value["mapping"] = json!(self.notes);
        }
        if self.arguments.profile {
            value["profile"] = json!(profile_json(self.compiled, &self.outcome.profile));
        }
        if let Some(compared) = compared {
            value["onnxruntime"] = compared.json();
        }
        value
    }

    pub(super) fn text(&self, agreement: Option<&str>) -> String {
        let plan = &self.compiled.plan;
        let mut text = format!(
            "{}: {} calls of {} functions, {} of parameters, {} inside\n",
            self.arguments.file.display(),
            Step::calls(&plan.steps).len(),
            plan.kernels.len(),
            bind::amount(plan.parameter_bytes as u128),
            bind::amount(plan.arena(self.sizes).unwrap_or(0))
        );
        for (name, tensor) in self.results() {
            text.push_str(&format!("{name} = {}\n", show(tensor)));
        }
        for path in &self.written {
            text.push_str(&format!("wrote {path}\n"));
        }
        match self.modelled {
            None => {
                self.notes.iter().for_each(|line| text.push_str(&format!("{line}\n")));
                text.push_str(&report::times(&Summary::of(&self.outcome.times), agreement));
            }
            Some((report, chip)) => {
                let lines = self.notes.iter().map(String::as_str).chain(agreement);
                lines.for_each(|line| text.push_str(&format!("{line}\n")));
                text.push_str(&match report {
                    Some(report) => modelled(report, chip),
                    None => "no kernel was spawned\n".to_owned(),
                });
            }
        }
        if self.arguments.profile {
            text.push_str(&profile(self.compiled, &self.outcome.profile));
        }
        text
    }
}

/// The calls that ran with their times, the longest first.
fn by_time<'c>(compiled: &'c CompiledModel, times: &'c [(u64, f64)]) -> Vec<(&'c KernelCall, u64, f64)> {
    let calls = Step::calls(&compiled.plan.steps).into_iter().zip(times);
    let mut all: Vec<_> = calls.map(|(call, (count, seconds))| (call, *count, *seconds)).collect();
    all.sort_by(|a, b| b.2.total_cmp(&a.2));
    all
}

/// A line for each call: how often it ran, its time on average, its share of all, and its nodes.
fn profile(compiled: &CompiledModel, times: &[(u64, f64)]) -> String {
    let all = by_time(compiled, times);
    let whole: f64 = all.iter().map(|(.., seconds)| seconds).sum();
    let mut rows = vec![["runs", "us a run", "share", "node"].map(str::to_owned).to_vec()];
    for (call, count, seconds) in all {
        rows.push(vec![
            count.to_string(),
            format!("{:.1}", seconds * 1e6 / count.max(1) as f64),
            format!("{:.1} %", 100.0 * seconds / whole.max(1e-12)),
            call.node.clone(),
        ]);
    }
    report::table(&rows)
}

fn profile_json(compiled: &CompiledModel, times: &[(u64, f64)]) -> Vec<Json> {
    let one = |(call, count, seconds): (&KernelCall, u64, f64)| {
        json!({
            "node": call.node, "function": compiled.kernels[call.kernel].c_name, "runs": count,
            "seconds": seconds,
        })
    };
    by_time(compiled, times).into_iter().map(one).collect()
}

fn sizes_json(sizes: &BTreeMap<Name, i64>) -> BTreeMap<&str, i64> {
    sizes.iter().map(|(n, v)| (n.as_str(), *v)).collect()
}
