//! `lozenge bench --target athread --translation`: how long it takes from the text of a kernel to
//! host and slave file, at every setting.

use std::path::Path;
use std::time::Instant;

use serde_json::{Value as Json, json};
use targets::athread::Parallel;

use super::{SIZES, files, request, settings, size_name};
use crate::cli::{Bench, KernelSizes};
use crate::failure::{Failure, Source};
use crate::files::read_source;
use crate::kernel;
use crate::pipeline::athread;
use crate::report;

/// Translations of which the shortest counts.
const TRIES: usize = 3;

/// Runs the command, at the size LARGE if no other is asked for.
///
/// # Errors
/// What the stages refuse; `X0907` if there is none of the kernels.
pub fn run(arguments: &Bench, as_json: bool) -> Result<(), Failure> {
    let settings = settings(arguments);
    if !as_json {
        let head: Vec<String> =
            settings.iter().map(|(n, p)| format!("{:>9}", format!("{n} {}", p.name()))).collect();
        report::print(&format!("ms                {}\n", head.concat()));
    }
    let mut told: Vec<Json> = Vec::new();
    let (mut sum, mut count) = (vec![0.0; settings.len()], 0);
    for file in files(arguments)? {
        let source = read_source(&file)?;
        let name = file.file_stem().and_then(|s| s.to_str()).unwrap_or_default();
        let Some((_, sizes)) = SIZES.iter().find(|(kernel, _)| *kernel == name) else { continue };
        for (size, values) in super::ALL_SIZES.into_iter().zip(*sizes).filter(|(s, _)| at(arguments, *s)) {
            let mut line = format!("{name:<9}{:<9}", size_name(size));
            for (k, (threads, parallel)) in settings.iter().enumerate() {
                let mut least = f64::INFINITY;
                for _ in 0..TRIES {
                    let began = Instant::now();
                    translate(&source, &file, values, (*threads, *parallel))?;
                    least = least.min(began.elapsed().as_secs_f64());
                }
                sum[k] += least;
                line.push_str(&format!("{:>9.0}", 1e3 * least));
                told.push(json!({
                    "kernel": name, "size": size_name(size), "threads": threads, "parallel": parallel.name(), "seconds": least,
                }));
            }
            count += 1;
            if !as_json {
                report::print(&format!("{line}\n"));
            }
        }
    }
    if count == 0 {
        return Err(super::nothing(arguments));
    }
    if as_json {
        report::print_json(json!({ "ok": true, "translations": told }));
        return Ok(());
    }
    let means: Vec<String> =
        sum.iter().map(|s| format!("{:>9.0}", 1e3 * s / f64::from(count.max(1)))).collect();
    let mean = sum.iter().sum::<f64>() / f64::from(count.max(1)) / settings.len().max(1) as f64;
    report::print(&format!(
        "{:<18}{}\nmean of all: {:.0} ms; of {TRIES} translations the shortest\n",
        "mean",
        means.concat(),
        1e3 * mean
    ));
    Ok(())
}

fn at(arguments: &Bench, size: KernelSizes) -> bool {
    if arguments.at.is_empty() { size == KernelSizes::Large } else { arguments.at.contains(&size) }
}

/// All of it, as the command `compile` does.
fn translate(
    source: &Source,
    file: &Path,
    values: &[i64],
    (threads, parallel): (u32, Parallel),
) -> Result<(), Failure> {
    let hints = kernel::sizes(&source.text).iter().zip(values).map(|(n, v)| (n.to_lowercase(), *v)).collect();
    let stem = file.file_stem().and_then(|s| s.to_str()).unwrap_or("kernel");
    let request = request(stem, hints, threads, parallel);
    let front = files::open(source, &request)?;
    let mut all = athread::map(&front, &request)?;
    athread::files(&front, &request, &mut all).map(|_| ())
}
