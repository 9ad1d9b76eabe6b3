//! The roofline of what was measured: operations in a second, beside what the arithmetic and the
//! memory of this machine allow, both measured here too. Source: Williams, Waterman, Patterson,
//! "Roofline: an insightful visual performance model".

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;
use std::time::Duration;

use loops::{Function, ParamMode, Scalar};

use super::Part;
use crate::bind::{self, Sizes};
use crate::failure::Failure;
use crate::kernel::Program;
use crate::machine;
use crate::process::{Compiler, Optimise};

/// The program that measures the machine.
const ROOFS: &str = include_str!("roofs.c");

/// The time limit of its run.
const LIMIT: Duration = Duration::from_secs(120);

/// Width and height of the picture, and the space left of its axes, below and around.
const SIZE: (f64, f64) = (640.0, 360.0);
const LEFT: f64 = 70.0;
const BELOW: f64 = 50.0;
const AROUND: f64 = 20.0;

/// What a run of a definition has to do.
pub(super) struct Work {
    /// Floating-point operations, by type.
    operations: BTreeMap<Scalar, u64>,
    /// Bytes of its arrays, each brought and taken away once where it has to be.
    bytes: f64,
}

/// A program that was measured.
pub(super) struct Point {
    pub label: String,
    pub seconds: f64,
}

/// What a machine reaches in a second.
struct Roofs {
    doubles: f64,
    singles: f64,
    /// Bytes.
    memory: f64,
}

/// The work of a definition at sizes, or why it is not known.
pub(super) fn work(function: &Function, sizes: &Sizes) -> Result<Work, String> {
    let operations = optimize::operations(function, sizes)
        .ok_or("what data decides is not counted, and this program's operations are so")?;
    let mut bytes = 0.0;
    for param in &function.params {
        let shape = bind::shape(param, sizes).map_err(|failure| failure.summary())?;
        let ways = if param.mode == ParamMode::InOut { 2.0 } else { 1.0 };
        bytes += ways * shape.iter().product::<usize>() as f64 * param.elem.bytes() as f64;
    }
    if operations.is_empty() || bytes <= 0.0 {
        return Err("it has no floating-point operations".to_owned());
    }
    Ok(Work { operations, bytes })
}

/// The table and the picture.
///
/// # Errors
/// What the C compiler says of the program that measures the machine, and its run.
pub(super) fn parts(work: &Work, points: &[Point], threads: u32) -> Result<Vec<Part>, Failure> {
    let roofs = Roofs::measured(threads)?;
    let (count, peak) = (work.count(), roofs.peak(work));
    let intensity = count / work.bytes;
    let roof = peak.min(intensity * roofs.memory);
    let rows = points.iter().map(|point| {
        let rate = count / point.seconds;
        vec![
            point.label.clone(),
            giga(rate),
            giga(work.bytes / point.seconds),
            format!("{:.0} %", rate / roof * 100.0),
        ]
    });
    let of = if roof < peak { "its memory" } else { "its arithmetic" };
    let caption = format!(
        "Roofline: {} floating-point operations, {} bytes if each array moves once. This machine reaches {} billion operations a second \
         and {} GB/s (measured now), so the roof is that of {of}, {} billion operations a second. More than 100 % is data that stays in a cache",
        short(count),
        short(work.bytes),
        giga(peak),
        giga(roofs.memory),
        giga(roof)
    );
    let head = ["program", "billion operations a second", "GB/s", "of the roof"].map(str::to_owned);
    let rates: Vec<(&str, f64)> =
        points.iter().map(|point| (point.label.as_str(), count / point.seconds)).collect();
    let said: Vec<String> =
        rates.iter().map(|(label, rate)| format!("{label} {:.0} %", rate / roof * 100.0)).collect();
    let alt = format!("Roofline with {:.2} operations a byte: of the roof, {}", intensity, said.join(", "));
    let svg = svg(intensity, peak, roofs.memory, &rates);
    Ok(vec![
        Part::Table { caption, head: head.to_vec(), rows: rows.collect() },
        Part::Picture { title: "Roofline".to_owned(), svg, alt },
    ])
}

impl Work {
    fn count(&self) -> f64 {
        self.operations.values().sum::<u64>() as f64
    }
}

impl Roofs {
    fn measured(threads: u32) -> Result<Roofs, Failure> {
        let bytes = format!("-DBYTES={}", machine::registers()?.bytes);
        let mut flags = vec![bytes.as_str(), "-fopenmp"];
        flags.extend(Optimise::Fast.flags());
        let program = Program::build(&Compiler::find()?, ROOFS, Path::new("."), &flags, &[])?;
        let said = program.run(threads, LIMIT)?.stdout;
        let said = String::from_utf8_lossy(&said);
        let rates: Vec<f64> = said.split_whitespace().filter_map(|word| word.parse().ok()).collect();
        match rates[..] {
            [doubles, singles, memory] if rates.iter().all(|rate| *rate > 0.0) => {
                Ok(Roofs { doubles, singles, memory })
            }
            _ => Err(Failure::environment("X0304", "the program that measures the machine gives no rates")),
        }
    }

    /// Operations in a second if each type is done at its own rate. Halves are computed as singles.
    fn peak(&self, work: &Work) -> f64 {
        let seconds = |(scalar, count): (&Scalar, &u64)| match scalar {
            Scalar::F64 => *count as f64 / self.doubles,
            _ => *count as f64 / self.singles,
        };
        work.count() / work.operations.iter().map(seconds).sum::<f64>()
    }
}

/// Billions with three digits that count.
fn giga(value: f64) -> String {
    let billions = value / 1e9;
    let digits = (2.0 - billions.max(1e-9).log10().floor()).clamp(0.0, 6.0) as usize;
    format!("{billions:.digits$}")
}

/// A large count in words.
fn short(value: f64) -> String {
    let (value, unit) = match value {
        v if v >= 1e9 => (v / 1e9, " billion"),
        v if v >= 1e6 => (v / 1e6, " million"),
        v => (v, ""),
    };
    let digits = usize::from(!unit.is_empty()) * 2;
    format!("{value:.digits$}{unit}")
}

/// Axes whose values double at equal distances.
struct Axes {
    /// Logarithms to the base 2 of the least and the largest value.
    x: (f64, f64),
    y: (f64, f64),
}

impl Axes {
    fn at(&self, x: f64, y: f64) -> (f64, f64) {
        let share = |value: f64, (low, high): (f64, f64)| (value.log2() - low) / (high - low);
        let (width, height) = (SIZE.0 - LEFT - AROUND, SIZE.1 - BELOW - AROUND);
        (LEFT + width * share(x, self.x), AROUND + height * (1.0 - share(y, self.y)))
    }

    /// Lines at powers of two, with their values.
    fn grid(&self, out: &mut String) {
        let each = |(low, high): (f64, f64)| {
            let every = ((high - low) / 8.0).ceil().max(1.0);
            (0..).map(move |k| low + every * f64::from(k)).take_while(move |at| *at <= high + 1e-9)
        };
        let (left, bottom) = self.at(self.x.0.exp2(), self.y.0.exp2());
        let (right, top) = self.at(self.x.1.exp2(), self.y.1.exp2());
        let mut line = |from: (f64, f64), to: (f64, f64), text: (f64, f64), anchor: &str, value: f64| {
            let _ = writeln!(
                out,
                "<path d=\"M{:.1} {:.1}L{:.1} {:.1}\" stroke=\"#dddddd\"/>\
                 <text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"{anchor}\">{}</text>",
                from.0,
                from.1,
                to.0,
                to.1,
                text.0,
                text.1,
                power(value)
            );
        };
        for value in each(self.x) {
            let x = self.at(value.exp2(), 1.0).0;
            line((x, bottom), (x, top), (x, bottom + 18.0), "middle", value);
        }
        for value in each(self.y) {
            let y = self.at(1.0, value.exp2()).1;
            line((left, y), (right, y), (left - 8.0, y + 4.0), "end", value);
        }
    }
}

/// A power of two as it is written.
fn power(exponent: f64) -> String {
    match exponent {
        e if e < 0.0 => format!("1/{}", (-e).exp2()),
        e => e.exp2().to_string(),
    }
}

/// The picture: the roofs, and each program at its intensity. Rates are in a second.
fn svg(intensity: f64, peak: f64, memory: f64, rates: &[(&str, f64)]) -> String {
    let (peak, memory) = (peak / 1e9, memory / 1e9);
    let ridge = peak / memory;
    let around = |values: &[f64], space: f64| {
        let low = values.iter().copied().fold(f64::INFINITY, f64::min).log2().floor() - space;
        (low, values.iter().copied().fold(0.0, f64::max).log2().ceil() + space)
    };
    let x = around(&[intensity, ridge], 2.0);
    let mut heights: Vec<f64> = rates.iter().map(|(_, rate)| (rate / 1e9).max(1e-6)).collect();
    heights.extend([peak, peak.min(intensity * memory)]);
    let axes = Axes { x, y: around(&heights, 1.0) };
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} {1}\" \
         font-family=\"sans-serif\" font-size=\"12\">\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n",
        SIZE.0, SIZE.1
    );
    axes.grid(&mut out);
    // Where the roof of the memory leaves the picture below, it begins there.
    let first = x.0.exp2().max(axes.y.0.exp2() / memory);
    let roof = [(first, first * memory), (ridge, peak), (x.1.exp2(), peak)].map(|(x, y)| axes.at(x, y));
    let _ = writeln!(
        out,
        "<path d=\"M{:.1} {:.1}L{:.1} {:.1}L{:.1} {:.1}\" fill=\"none\" stroke=\"#333333\" stroke-width=\"2\"/>",
        roof[0].0, roof[0].1, roof[1].0, roof[1].1, roof[2].0, roof[2].1
    );
    for (k, (label, rate)) in rates.iter().enumerate() {
        let (x, y) = axes.at(intensity, (rate / 1e9).max(1e-6));
        let colour = ["#1155cc", "#cc4400", "#38761d"][k % 3];
        let anchor = if x > SIZE.0 / 2.0 { ("end", -10.0) } else { ("start", 10.0) };
        let _ = writeln!(
            out,
            "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"5\" fill=\"{colour}\"/>\
             <text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"{}\" fill=\"{colour}\">{label}</text>",
            x + anchor.1,
            y + 4.0,
            anchor.0
        );
    }
    let (middle, bottom) = (LEFT + (SIZE.0 - LEFT - AROUND) / 2.0, SIZE.1 - 12.0);
    let _ = writeln!(
        out,
        "<text x=\"{middle}\" y=\"{bottom}\" text-anchor=\"middle\">operations a byte</text>\n\
         <text x=\"{LEFT}\" y=\"14\">billion operations a second</text>\n</svg>"
    );
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn work_of(text: &str, n: i64) -> Result<Work, String> {
        let function = loops::parse(text).expect("it is a program").functions.remove(0);
        work(&function, &Sizes::from([("n".into(), n)]))
    }

    #[test]
    fn arrays_move_once() {
        let scaled =
            "fn f[n](a: in f64[n], b: inout f32[n]) { for i in 0..n { b[i] *= f32(a[i] + 1.0f64) } }";
        let work = work_of(scaled, 100).expect("it is counted");
        assert_eq!(work.bytes, 800.0 + 800.0);
        assert_eq!(work.operations, BTreeMap::from([(Scalar::F32, 100), (Scalar::F64, 100)]));
        let roofs = Roofs { doubles: 1e9, singles: 2e9, memory: 1e10 };
        // 100 of doubles and 50 at the rate of doubles, for 200.
        assert!((roofs.peak(&work) - 200.0 / 150e-9).abs() < 1.0);
        assert!(work_of("fn f[n](a: out i64[n]) { for i in 0..n { a[i] = i64(i) } }", 9).is_err());
    }

    /// A program on the roof is drawn on the line.
    #[test]
    fn points_stand_on_the_axes() {
        let axes = Axes { x: (-2.0, 6.0), y: (0.0, 8.0) };
        assert_eq!(axes.at(0.25, 1.0), (LEFT, SIZE.1 - BELOW));
        assert_eq!(axes.at(64.0, 256.0), (SIZE.0 - AROUND, AROUND));
        let text = svg(1.0, 100e9, 20e9, &[("ours", 20e9)]);
        assert!(text.contains(">ours</text>") && text.ends_with("</svg>\n"));
        assert_eq!(giga(1.5e11), "150");
        assert_eq!(giga(1.234e9), "1.23");
        assert_eq!(short(2e9), "2.00 billion");
    }
}
