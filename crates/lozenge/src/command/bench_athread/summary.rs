//! What the rows of the benchmark come to: means, and which goals are missed by which kernels.

use super::Row;
use crate::statistics::{geometric_mean, seconds};

/// The line above the rows.
pub(super) const HEAD: &str = "\
all times but the last column are modelled
kernel   size     cores      time  of bound   waiting  traffic / touched, least    speed-up: naive, tiled     ragged  translated
";

/// Time an operation of a ragged size may take over that of the size rounded up.
const RAGGED: f64 = 1.10;
/// Traffic over the least.
const TRAFFIC: f64 = 1.5;
/// Share of the peak for a matrix product.
const PEAK: f64 = 0.60;
/// Share of the bandwidth for what is bound by it.
const BANDWIDTH: f64 = 0.80;
/// Seconds of translation on average.
const TRANSLATION: f64 = 0.3;

/// The time an operation that the ragged size of a rounded one takes, over that of the rounded one.
pub(super) fn ragged(rounded: &Row, rows: &[Row]) -> Option<f64> {
    let size = rounded.key.size.strip_suffix("-up")?;
    let (a, b) = (
        rows.iter().find(|r| {
            (&r.key.kernel, r.key.size.as_str(), r.key.threads, &r.key.parallel)
                == (&rounded.key.kernel, size, rounded.key.threads, &rounded.key.parallel)
        })?,
        rounded,
    );
    (b.report.flops > 0.0 && a.report.flops > 0.0 && b.report.seconds > 0.0)
        .then(|| (a.report.seconds / a.report.flops) / (b.report.seconds / b.report.flops))
}

/// Whether the bound of a row is bandwidth.
fn by_bandwidth(row: &Row) -> bool {
    let number = |name: &str| row.report.json.get(name).and_then(serde_json::Value::as_f64);
    number("memory_bound_seconds") > number("compute_bound_seconds")
}

/// A goal over some values of rows: how many reach it, and for each kernel that misses it how often
/// and the worst value.
fn goal(name: &str, values: &[(&Row, f64)], least: bool, limit: f64, show: fn(f64) -> String) -> String {
    let (Some(mean), false) =
        (geometric_mean(&values.iter().map(|(_, x)| *x).collect::<Vec<_>>()), values.is_empty())
    else {
        return String::new();
    };
    let missed = |x: f64| if least { x < limit } else { x > limit };
    let worse = |a: f64, b: f64| if least { a.min(b) } else { a.max(b) };
    let mut kernels: Vec<(&str, usize, usize, f64)> = Vec::new();
    for (row, x) in values {
        let kernel = row.key.kernel.as_str();
        let at = kernels.iter().position(|k| k.0 == kernel).unwrap_or_else(|| {
            kernels.push((kernel, 0, 0, *x));
            kernels.len() - 1
        });
        let entry = &mut kernels[at];
        entry.1 += 1;
        entry.2 += usize::from(missed(*x));
        entry.3 = worse(entry.3, *x);
    }
    let count: usize = kernels.iter().map(|k| k.2).sum();
    let (than, end) = if least { ("at least", "least") } else { ("at most", "most") };
    let mut text = format!(
        "{name}: {} on average (geometric); goal {than} {}: {} of {} settings reach it\n",
        show(mean),
        show(limit),
        values.len() - count,
        values.len()
    );
    for (kernel, of, missing, worst) in kernels.iter().filter(|k| k.2 > 0) {
        text.push_str(&format!("  missed by {kernel} at {missing} of {of}, {} at {end}\n", show(*worst)));
    }
    text
}

fn percent(x: f64) -> String {
    format!("{:.0} %", 100.0 * x)
}

fn factor(x: f64) -> String {
    format!("{x:.2}")
}

/// What is printed below the rows.
pub(super) fn text(rows: &[Row], failed: &[String], seeds: u64) -> String {
    let orders = if seeds == 1 { "one order".to_owned() } else { format!("{seeds} orders") };
    let mut text = format!(
        "\n{} settings in {orders} of the cores: arrays equal to the sequential ones to the last bit, and no rule broken\n",
        rows.len()
    );
    if !failed.is_empty() {
        text.push_str(&format!("{} settings failed: {}\n", failed.len(), failed.join("; ")));
    }
    let all = |of: &dyn Fn(&Row) -> Option<f64>| -> Vec<(&Row, f64)> {
        rows.iter().filter_map(|r| of(r).map(|x| (r, x))).collect()
    };
    let whole = |r: &Row| r.key.threads == 64;
    text.push_str(&goal(
        "ragged over rounded sizes, time an operation",
        &all(&|r| r.ragged),
        false,
        RAGGED,
        factor,
    ));
    text.push_str(&goal(
        "traffic over the least for this local memory",
        &all(&|r| Some(r.excess())),
        false,
        TRAFFIC,
        factor,
    ));
    text.push_str(&goal(
        "share of the peak, gemm on 64 cores",
        &all(&|r| (whole(r) && r.key.kernel == "gemm").then(|| r.report.bound_share())),
        true,
        PEAK,
        percent,
    ));
    text.push_str(&goal(
        "share of the bandwidth bound, what is bound by it on 64 cores",
        &all(&|r| (whole(r) && by_bandwidth(r)).then(|| r.report.bound_share())),
        true,
        BANDWIDTH,
        percent,
    ));
    for (name, at) in [("the naive code", 0), ("the tiled one", 1)] {
        for threads in [16, 32, 64] {
            let ratios: Vec<f64> =
                rows.iter().filter(|r| r.key.threads == threads).filter_map(|r| r.speedups()[at]).collect();
            if let Some(mean) = geometric_mean(&ratios) {
                text.push_str(&format!(
                    "{threads} cores over {name} on the management core: {mean:.0} on average (geometric, modelled)\n"
                ));
            }
        }
    }
    if !rows.is_empty() {
        let mean = rows.iter().map(|r| r.translation.as_secs_f64()).sum::<f64>() / rows.len() as f64;
        let slowest = rows.iter().max_by_key(|r| r.translation);
        let worst = slowest.map_or_else(String::new, |r| {
            format!(
                ", {} at most ({}, {})",
                seconds(r.translation.as_secs_f64()),
                r.key.kernel,
                r.key.parallel
            )
        });
        text.push_str(&format!(
            "translated in {} on average{worst}; goal {}\n",
            seconds(mean),
            seconds(TRANSLATION)
        ));
    }
    text
}
