//! The commands that show what the polyhedral side sees and does.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::{Choice, size};

/// `lozenge poly`
#[derive(Args, Debug)]
#[command(after_help = crate::command::poly_help())]
pub struct Poly {
    /// Definitions `name := expression;` and an expression.
    pub expression: String,
}

/// `lozenge deps`
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  lozenge deps kernel.c                  every pair of instances that must stay in order
  lozenge deps kernel.c --dataflow       for each read the one write that it sees
  lozenge deps kernel.c --json           kind, array, statements, relation and reduction of each

A dependence goes from instances that come first to instances that must stay behind them: flow (write, then read), anti (read,
then write), output (write, then write). `(reduction +)` says that both ends update by `+` and may change places.")]
pub struct Deps {
    /// The program.
    pub file: PathBuf,
    #[command(flatten)]
    #[allow(missing_docs)]
    pub choice: Choice,
    /// Exact dataflow instead of all conflicts.
    #[arg(long)]
    pub dataflow: bool,
}

/// Representations of schedules.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum ScheduleForm {
    /// A function for each statement; can order one statement only.
    Affine,
    /// Places in the text where they order something, and loops.
    Kelly,
    /// Places and loops alternate.
    #[value(name = "2d+1")]
    TwoDPlusOne,
    /// As kelly, with zeros up to one length.
    UnionMap,
    /// A schedule tree.
    #[default]
    Tree,
}

/// `lozenge schedule`
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  lozenge schedule kernel.c                          the order of the text as a tree
  lozenge schedule kernel.c --as kelly               as times of statements
  lozenge schedule kernel.c --optimized              the order that lozenge gives it
  lozenge schedule kernel.c --schedule my.txt --as union-map

What is printed reads back in: `lozenge compile kernel.c --schedule FILE` checks it against the dependences and uses it. Where a
file has several regions, a line `schedule NAME` stands before the schedule of each.")]
pub struct Schedule {
    /// The program.
    pub file: PathBuf,
    #[command(flatten)]
    #[allow(missing_docs)]
    pub choice: Choice,
    /// Representation.
    #[arg(long = "as", value_enum, value_name = "FORM", default_value_t)]
    pub form: ScheduleForm,
    /// The new schedule instead of the order of the text.
    #[arg(long)]
    pub optimized: bool,
}

/// `lozenge show`
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  lozenge show kernel.c --svg -o kernel.svg                       the order of the text, and the new one
  lozenge show kernel.c --svg --size n=8 --tile 4,4 -o kernel.svg
  lozenge show kernel.c --svg --schedule my.txt -o kernel.svg     a schedule of your own

Each instance is a point with its number in the order of execution; its colour is its tile. Tile sizes are small here, so that
there are several tiles in the picture.")]
pub struct Show {
    /// The program.
    pub file: PathBuf,
    #[command(flatten)]
    #[allow(missing_docs)]
    pub choice: Choice,
    /// Draw as SVG.
    #[arg(long, required = true)]
    pub svg: bool,
    /// Value of a size; may be given several times. Others are 6.
    #[arg(long = "size", value_name = "NAME=NUMBER", value_parser = size)]
    pub sizes: Vec<(String, i64)>,
    /// Contractions as they are compiled: packed, in register tiles, with small ones of 2 rows and
    /// 2 lanes.
    #[arg(long)]
    pub packed: bool,
    /// Of a model: draw only the neighbourhood of this node or value.
    #[arg(long, value_name = "NAME")]
    pub around: Option<String>,
    /// With --around: nodes up to this many edges away.
    #[arg(long, value_name = "N", default_value_t = 3)]
    pub distance: usize,
    /// Write to a file (whole or not at all) instead of the standard output.
    #[arg(short, long, value_name = "OUT")]
    pub output: Option<PathBuf>,
}

/// `lozenge explore`
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  lozenge explore kernel.c -o kernel.html                  source, schedule, loops and C side by side
  lozenge explore blas.loz --def dot -o dot.html
  lozenge explore model.onnx -o model.html
  lozenge explore kernel.c -DN=1000 --measure -o kernel.html

The page is one HTML file below 1 MB that loads nothing else. It shows the stages with the lines that belong together, dependences and
tiles as pictures, what was done and why not more, and with --measure the times. What a stage refuses stands in its place.")]
pub struct Explore {
    /// The program or model.
    pub file: PathBuf,
    #[command(flatten)]
    #[allow(missing_docs)]
    pub choice: Choice,
    /// Show what the C compiler makes of the C, tied to its lines.
    #[arg(long)]
    pub assembly: bool,
    /// Run it and show the times: C programs with a main function, definitions at sizes, models on
    /// random inputs.
    #[arg(long)]
    pub measure: bool,
    /// Value of a size for --measure, and of a named extent of a model's inputs; may be given
    /// several times.
    #[arg(long = "size", value_name = "NAME=NUMBER", value_parser = size)]
    pub sizes: Vec<(String, i64)>,
    /// With --measure: runs of each program.
    #[arg(long, value_name = "R", default_value_t = 5, allow_negative_numbers = true, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub reps: u32,
    /// With --measure: number of OpenMP threads [default: 1].
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = clap::value_parser!(u32).range(1..=4096))]
    pub threads: Option<u32>,
    /// Write to a file (whole or not at all) instead of the standard output.
    #[arg(short, long, value_name = "OUT.html")]
    pub output: Option<PathBuf>,
}
