//! The commands that work on models and on rules for them.

use std::path::PathBuf;

use clap::Args;

/// What a model may use while it is worked on.
#[derive(Args, Clone, Copy, Default, Debug)]
pub struct Memory {
    /// Models: memory for constants that are computed and for evaluation, such as 512M or 16G
    /// [default: 4G].
    #[arg(long, value_name = "SIZE", value_parser = bytes)]
    pub memory: Option<u64>,
}

impl Memory {
    /// In bytes.
    pub fn bytes(self) -> u64 {
        self.memory.unwrap_or(graph::Budget::default().memory)
    }
}

/// What is done with a model that the standard does not allow.
#[derive(Args, Clone, Copy, Default, Debug)]
pub struct Standard {
    /// Models: refuse what the standard does not allow, also where it has one meaning only and is
    /// taken with a warning otherwise.
    #[arg(long)]
    pub strict: bool,
}

/// `lozenge generate`
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  lozenge generate                               the models there are
  lozenge generate resnet50 -o resnet50.onnx
  lozenge generate chain --nodes 100000 -o chain.onnx")]
pub struct Generate {
    /// Name of the model; all names if absent.
    pub model: Option<String>,
    /// The same structure, narrow and shallow, on small inputs.
    #[arg(long)]
    pub small: bool,
    /// Nodes of the synthetic models [default: 1000].
    #[arg(long, value_name = "N", value_parser = nodes)]
    pub nodes: Option<usize>,
    /// Seed of the weights.
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// Write to a file (whole or not at all), in textual form if it is a .graph; that goes to the
    /// standard output otherwise.
    #[arg(short, long, value_name = "OUT.onnx")]
    pub output: Option<PathBuf>,
}

/// `lozenge optimize`
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  lozenge optimize model.onnx -o out.onnx                         the rules that ship
  lozenge optimize model.onnx --check 3 -o out.onnx               and compare the outputs on three random inputs
  lozenge optimize model.onnx --rules my.gsl --rule fuse -o out.onnx
  lozenge optimize model.onnx --size batch=1 -o out.onnx          for one size: what follows from it is computed now
  lozenge optimize model.onnx --const sr=16000 -o out.onnx         an input becomes a constant, branches on it are decided
  lozenge optimize model.onnx --outputs features -o out.onnx       only what this value needs
  lozenge optimize model.onnx --upgrade 21 -o out.onnx             for version 21 of the standard operators
  lozenge optimize model.onnx --fp16 --check 3 -o half.onnx        numbers of 16 bits between inputs and outputs
  lozenge optimize model.onnx --why conv_bn@y                      what keeps a rule from being applied at a node
  lozenge optimize model.onnx --rules my.gsl --trace steps.txt    what was done, to be read and replayed
  lozenge optimize model.onnx --rules my.gsl --replay steps.txt -o out.onnx

Models are ONNX files, or models in textual form (.graph). A rewrite that makes the model slower, by a model of costs, is not done.
Without -o nothing is written.")]
pub struct Optimize {
    /// The model.
    pub model: PathBuf,
    /// Rules of this file or folder instead of those that ship; may be given several times.
    #[arg(long, value_name = "FILE")]
    pub rules: Vec<PathBuf>,
    /// Only the rule of this name; may be given several times.
    #[arg(long = "rule", value_name = "NAME")]
    pub only: Vec<String>,
    /// Also rewrites that make the model slower.
    #[arg(long)]
    pub ignore_cost: bool,
    /// Also rules of files that change what models compute.
    #[arg(long)]
    pub unchecked: bool,
    /// Value of a named extent of the inputs, so that what follows from it is a constant; other
    /// names stay. May be given several times.
    #[arg(long = "size", value_name = "NAME=NUMBER", value_parser = super::size)]
    pub sizes: Vec<(String, i64)>,
    /// Make an input a constant: a number for all its elements, or numbers between commas. May be
    /// given several times.
    #[arg(long = "const", value_name = "NAME=VALUE", value_parser = constant)]
    pub constants: Vec<(String, Vec<f64>)>,
    /// Outputs of the model from now on: those that it has, or results of nodes; what they do not
    /// need goes.
    #[arg(long, value_name = "NAME", value_delimiter = ',', conflicts_with = "replay")]
    pub outputs: Vec<String>,
    /// Write the model for this version of the standard operators, which is not older than its
    /// own.
    #[arg(long, value_name = "OPSET", conflicts_with_all = ["replay", "why"])]
    pub upgrade: Option<i64>,
    /// Make floating-point numbers of 32 bits numbers of 16 bits at the end; inputs and outputs
    /// keep their types.
    #[arg(long, conflicts_with_all = ["replay", "why"])]
    pub fp16: bool,
    /// Leave constants, equal and dead nodes as they are.
    #[arg(long)]
    pub no_fold: bool,
    /// Write what was done to a file, a line for each rewrite; constants are left as they are then.
    #[arg(long, value_name = "FILE", conflicts_with = "replay")]
    pub trace: Option<PathBuf>,
    /// Do what such a file says instead of looking for matches.
    #[arg(long, value_name = "FILE")]
    pub replay: Option<PathBuf>,
    /// Say how far matching of a rule comes at a node, and what stands in the way, instead of
    /// rewriting; a node has its name or that of a result.
    #[arg(long, value_name = "RULE@NODE", value_parser = rule_at, conflicts_with_all = ["replay", "trace", "output", "check"])]
    pub why: Vec<(String, String)>,
    /// No more rewrites than this.
    #[arg(long, value_name = "N")]
    pub limit: Option<usize>,
    /// Compare the outputs before and after on this many random inputs.
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = clap::value_parser!(u32).range(0..=1_000_000))]
    pub check: u32,
    /// Differences that are allowed under --check, relative to the largest magnitude of the output
    /// [default: by its types].
    #[arg(long, value_name = "X", value_parser = tolerance, requires = "check")]
    pub tolerance: Option<f64>,
    /// Seed of the random inputs.
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    #[command(flatten)]
    #[allow(missing_docs)]
    pub memory: Memory,
    #[command(flatten)]
    #[allow(missing_docs)]
    pub standard: Standard,
    /// Write the model to a file (whole or not at all), in textual form if it is a .graph.
    #[arg(short, long, value_name = "OUT.onnx")]
    pub output: Option<PathBuf>,
}

/// `lozenge check-rules`
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  lozenge check-rules                                  the rules that ship
  lozenge check-rules mine.gsl --rule merge -o found   one rule; a counterexample is written to found/merge
  lozenge check-rules program.loz                      the rewrite rules of a functional program
  lozenge check-rules program.loz --emit lemma         what they claim, as a file for Coq

Models or programs are drawn to which the rule applies, rewritten by it, and both are evaluated on random inputs. Exit code 3 if a rule has a counterexample.")]
pub struct CheckRules {
    /// Files (.gsl, .loz) or folders; the substitution rules that ship if there are none.
    pub paths: Vec<PathBuf>,
    /// Print this instead of testing.
    #[arg(long, value_name = "WHAT")]
    pub emit: Option<Claims>,
    /// Only the rule of this name; may be given several times.
    #[arg(long = "rule", value_name = "NAME")]
    pub only: Vec<String>,
    /// Different models or programs on which a rule has to hold.
    #[arg(long, value_name = "N", default_value_t = 256, value_parser = instances)]
    pub instances: usize,
    /// Seed of everything that is drawn.
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// Write counterexamples below this folder: before.onnx, after.onnx, inputs.
    #[arg(short, long, value_name = "DIR")]
    pub output: Option<PathBuf>,
}

/// What `--emit` of `lozenge check-rules` prints.
#[derive(clap::ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub enum Claims {
    /// The lemmas that rules of functional programs claim, for Coq: proved where it can do so by
    /// itself, and left open elsewhere.
    Lemma,
}

fn bytes(text: &str) -> Result<u64, String> {
    let wrong = || "a number of bytes, such as 512M or 16G".to_owned();
    let digits = text.trim_end_matches(|c: char| !c.is_ascii_digit());
    let unit: u64 = match text[digits.len()..].to_ascii_uppercase().as_str() {
        "" => 1,
        "K" | "KIB" => 1 << 10,
        "M" | "MIB" => 1 << 20,
        "G" | "GIB" => 1 << 30,
        "T" | "TIB" => 1 << 40,
        _ => return Err(wrong()),
    };
    digits.parse::<u64>().ok().and_then(|n| n.checked_mul(unit)).filter(|n| *n > 0).ok_or_else(wrong)
}

fn rule_at(text: &str) -> Result<(String, String), String> {
    match text.split_once('@') {
        Some((rule, node)) if !rule.is_empty() && !node.is_empty() => Ok((rule.to_owned(), node.to_owned())),
        _ => Err("the form is RULE@NODE, such as conv_bn@conv1".to_owned()),
    }
}

fn constant(text: &str) -> Result<(String, Vec<f64>), String> {
    let (name, value) = text.split_once('=').ok_or("the form is NAME=NUMBER, such as sr=16000")?;
    let number = |word: &str| match word.trim() {
        "true" => Ok(1.0),
        "false" => Ok(0.0),
        word => word.parse().map_err(|_| format!("`{word}` is not a number")),
    };
    let numbers = value.split(',').map(number).collect::<Result<_, _>>()?;
    Ok((name.trim().to_owned(), numbers))
}

fn nodes(text: &str) -> Result<usize, String> {
    text.parse().ok().filter(|n| *n <= 10_000_000).ok_or_else(|| "a number up to 10000000".to_owned())
}

fn tolerance(text: &str) -> Result<f64, String> {
    let number: Option<f64> = text.parse().ok();
    number.filter(|x| x.is_finite() && *x >= 0.0).ok_or_else(|| "a number from 0, such as 1e-3".to_owned())
}

fn instances(text: &str) -> Result<usize, String> {
    text.parse()
        .ok()
        .filter(|n| (1..=100_000).contains(n))
        .ok_or_else(|| "a number from 1 to 100000".to_owned())
}
