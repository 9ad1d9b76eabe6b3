//! Median and spread of measured times.

use std::time::Duration;

/// What is told of several measurements.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Summary {
    /// The middle one, in seconds.
    pub median: f64,
    /// The least.
    pub least: f64,
    /// Half the distance between the quartiles, relative to the median.
    pub spread: f64,
    /// How many there were.
    pub count: usize,
}

impl Summary {
    /// The summary of these times.
    pub fn of(times: &[Duration]) -> Summary {
        let mut seconds: Vec<f64> = times.iter().map(Duration::as_secs_f64).collect();
        seconds.sort_by(f64::total_cmp);
        let median = quantile(&seconds, 0.5);
        let spread = if median > 0.0 {
            (quantile(&seconds, 0.75) - quantile(&seconds, 0.25)) / 2.0 / median
        } else {
            0.0
        };
        Summary { median, least: seconds.first().copied().unwrap_or(0.0), spread, count: seconds.len() }
    }
}

fn quantile(sorted: &[f64], q: f64) -> f64 {
    let Some(last) = sorted.len().checked_sub(1) else { return 0.0 };
    let place = q * last as f64;
    let below = sorted[place.floor() as usize];
    below + (sorted[place.ceil() as usize] - below) * place.fract()
}

/// Seconds with a fitting unit.
pub fn seconds(value: f64) -> String {
    let (scaled, unit) = match value {
        v if v >= 1.0 => (v, "s"),
        v if v >= 1e-3 => (v * 1e3, "ms"),
        v if v >= 1e-6 => (v * 1e6, "us"),
        v => (v * 1e9, "ns"),
    };
    if scaled >= 100.0 { format!("{scaled:.0} {unit}") } else { format!("{scaled:.2} {unit}") }
}

/// The geometric mean of ratios; none of no ratios.
pub(crate) fn geometric_mean(ratios: &[f64]) -> Option<f64> {
    let logs: f64 = ratios.iter().map(|r| r.ln()).sum();
    (!ratios.is_empty()).then(|| (logs / ratios.len() as f64).exp())
}

/// Spearman's rank correlation of pairs; none of fewer than two, or if one side is always the same.
/// Equal values share the mean of their ranks.
pub(crate) fn rank_correlation(pairs: &[(f64, f64)]) -> Option<f64> {
    let left = ranks(&pairs.iter().map(|p| p.0).collect::<Vec<_>>());
    let right = ranks(&pairs.iter().map(|p| p.1).collect::<Vec<_>>());
    let mean = (pairs.len() as f64 - 1.0) / 2.0;
    let sum = |f: &dyn Fn(f64, f64) -> f64| -> f64 {
        left.iter().zip(&right).map(|(a, b)| f(a - mean, b - mean)).sum()
    };
    let (both, of_left, of_right) = (sum(&|a, b| a * b), sum(&|a, _| a * a), sum(&|_, b| b * b));
    (of_left > 0.0 && of_right > 0.0).then(|| both / (of_left * of_right).sqrt())
}

fn ranks(values: &[f64]) -> Vec<f64> {
    let rank = |v: &f64| {
        let below = values.iter().filter(|w| *w < v).count() as f64;
        let same = values.iter().filter(|w| *w == v).count() as f64;
        below + (same - 1.0) / 2.0
    };
    values.iter().map(rank).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rank_correlation_is_of_orders() {
        assert_eq!(rank_correlation(&[(1.0, 10.0), (2.0, 100.0), (3.0, 1000.0)]), Some(1.0));
        assert_eq!(rank_correlation(&[(1.0, 3.0), (2.0, 2.0), (3.0, 1.0)]), Some(-1.0));
        // By hand: ranks 0, 1.5, 1.5, 3 and 0, 2, 1, 3.
        let tied = rank_correlation(&[(1.0, 1.0), (2.0, 7.0), (2.0, 5.0), (9.0, 9.0)]).unwrap();
        assert!((tied - 4.5 / (4.5f64 * 5.0).sqrt()).abs() < 1e-12);
        assert_eq!(rank_correlation(&[(1.0, 1.0), (1.0, 2.0)]), None);
    }

    #[test]
    fn quartiles_are_interpolated() {
        let times: Vec<Duration> = [4, 1, 3, 2, 5].map(Duration::from_secs).to_vec();
        let summary = Summary::of(&times);
        assert_eq!((summary.median, summary.least, summary.count), (3.0, 1.0, 5));
        assert!((summary.spread - 1.0 / 3.0).abs() < 1e-12);
        assert_eq!(Summary::of(&[]), Summary::default());
        assert_eq!(seconds(0.001_234), "1.23 ms");
        assert_eq!(geometric_mean(&[2.0, 8.0]).map(|m| (m * 1e9).round()), Some(4e9));
    }
}
