//! Lozenge as a library: functional matrix programs, C loop nests and ONNX models become parallel
//! C.
//!
//! A [`Request`] says what is wanted of a [`Source`]; [`compile`] gives the files of a [`Target`]
//! with warnings, or a [`Failure`] with diagnostics. Nothing is printed, and no file is read unless
//! the request brings along who does so: `Files::new(OnDisk)` finds what a source in a file imports
//! and includes. C needs the system's C compiler, as its preprocessor. The command `lozenge` is
//! built on the same calls.
//!
//! # C
//!
//! The loops between `#pragma scop` and `#pragma endscop` get another order, tiles and threads; the
//! text around them stays as it is.
//!
//! ```
//! use lozenge::{Kind, Request, Source, compile};
//!
//! let source = Source::new(
//!     "sums.c",
//!     "void sums(int n, double a[restrict n][n], double s[restrict n])
//! {
//! #pragma scop
//!   for (int j = 0; j < n; j++)
//!     for (int i = 0; i < n; i++)
//!       s[i] += a[i][j];
//! #pragma endscop
//! }
//! ",
//! );
//! let compiled = compile(&source, Kind::C, &Request::default())?;
//! assert!(compiled.output.text().contains("#pragma omp parallel for"));
//! # Ok::<(), lozenge::Failure>(())
//! ```
//!
//! # Functional programs
//!
//! A definition says what is computed. How its loops run is chosen by the compiler, by a strategy,
//! or by a schedule: the text that [`Stage::Schedule`] prints can be edited and given back.
//!
//! ```
//! use lozenge::{Kind, Request, Schedule, Source, Stage, compile, compile_to};
//!
//! let source = Source::new(
//!     "scale.loz",
//!     "def scale [n m] (x: [n][m]f64): [n][m]f64 = mapSeq (mapSeq (\\a -> 2.0 * a)) x\n",
//! );
//! let automatic = Request { schedule: Schedule::Auto, ..Request::default() };
//! let tree = compile_to(&source, Kind::Functional, Stage::Schedule, &automatic)?;
//!
//! let schedule = Schedule::Given(Source::new("scale.schedule", tree.output.text()));
//! let given = Request { schedule, ..Request::default() };
//! let ours = compile(&source, Kind::Functional, &given)?;
//! let chosen = compile(&source, Kind::Functional, &automatic)?;
//! assert_eq!(ours.output.text(), chosen.output.text());
//! # Ok::<(), lozenge::Failure>(())
//! ```
//!
//! # Models
//!
//! [`optimize_model`] rewrites an ONNX model, and builds in the sizes that are given;
//! [`compile_model`] makes C of a model whose sizes are known.
//!
//! ```
//! use lozenge::{ModelRequest, compile_model, optimize_model};
//!
//! # let model = graph::generate::generate("mlp", graph::generate::Scale::Small, 0, 1).unwrap();
//! # let bytes = graph::onnx::write(&model);
//! # /*
//! let bytes = std::fs::read("mlp.onnx")?;
//! # */
//! let request = ModelRequest { name: "mlp.onnx".to_owned(), ..ModelRequest::default() };
//! let sizes = [("batch".into(), 8)].into();
//! let optimized = optimize_model(&bytes, &ModelRequest { sizes, ..request.clone() })?;
//! assert!(optimized.nodes.1 <= optimized.nodes.0);
//!
//! let (compiled, warnings) = compile_model(&optimized.bytes, &request)?;
//! assert!(compiled.source.contains("int ") && warnings.is_empty());
//! # Ok::<(), lozenge::Failure>(())
//! ```
//!
//! # What is refused
//!
//! Bad input ends in a [`Failure`]. Its diagnostics have a code, whose page `lozenge explain CODE`
//! prints, and places in the text.
//!
//! ```
//! use lozenge::{Kind, Request, Source, compile};
//!
//! let source = Source::new(
//!     "wrong.loz",
//!     "def half (x: f32): f32 = 0.5 * x\n\ndef quarter (x: f32): f32 = half y\n",
//! );
//! let failure = compile(&source, Kind::Functional, &Request::default()).unwrap_err();
//! let diagnostic = &failure.diagnostics[0];
//! assert_eq!(diagnostic.code.0, "F0201");
//! assert_eq!(source.line(diagnostic.labels[0].span.start as usize), 3);
//! ```
//!
//! # Progress
//!
//! ```
//! use lozenge::{Event, Kind, Progress, Request, Source, compile};
//! use std::sync::{Arc, Mutex};
//!
//! let steps = Arc::new(Mutex::new(Vec::new()));
//! let told = steps.clone();
//! let progress = Progress::new(move |event| {
//!     if let Event::Step(step) = event {
//!         told.lock().unwrap().push(step.to_owned());
//!     }
//! });
//! let source = Source::new("double.loz", "def double (x: f64): f64 = x + x\n");
//! compile(&source, Kind::Functional, &Request { progress, ..Request::default() })?;
//! let steps = steps.lock().unwrap().join(", ");
//! assert_eq!(
//!     steps,
//!     "reading double.loz, translating `double`, scheduling `double`, writing the C"
//! );
//! # Ok::<(), lozenge::Failure>(())
//! ```

mod api;
mod carried;
mod cases;
mod cleanup;
mod cli;
mod config;
mod digest;
mod explore;
mod external;
mod failure;
mod library;
mod measure;
mod mpi;
mod progress;
mod request;
mod rules;
mod simgrid;
mod statistics;
mod target;

pub use api::{OptimizedModel, compile, compile_model, compile_to, optimize_model};
pub use failure::{Failure, FailureKind, Source};
pub use files::OnDisk;
pub use loops::{Code, Diagnostic, Label, Name, Registers, Severity, Span};
pub use pipeline::graph::{CompiledModel, ModelRequest};
pub use polyhedral::locality::Caches;
pub use request::{Access, Dealing, Event, Files, Kind, Mode, Progress, Ranks, Request, Schedule};
pub use target::{Compiled, Target};
pub use targets::{Abilities, File, Output, Setting, Settings, Stage};

// Not part of the interface: parts of the compiler that may change at any time.

/// Its binary, and the tests that call it in their own process.
#[doc(hidden)]
pub mod command;

/// Tests and Python take a source through single stages.
#[doc(hidden)]
pub mod pipeline;

/// Python compiles, loads and calls what comes out, on arrays that are checked as those of the
/// command are; its errors are those of the command.
#[doc(hidden)]
pub mod bind;
#[doc(hidden)]
pub mod check;
#[doc(hidden)]
pub mod encoding;
#[doc(hidden)]
pub mod files;
#[doc(hidden)]
pub mod machine;
#[doc(hidden)]
pub mod models;
/// The command prints what is moved, and tests hold it against its bound.
#[doc(hidden)]
pub mod movement;
#[doc(hidden)]
pub mod places;
#[doc(hidden)]
pub mod process;
#[doc(hidden)]
pub mod report;
#[doc(hidden)]
pub use api::deep;

/// Tests run generated programs, on this machine and on emulated cores, and compare arrays.
#[doc(hidden)]
pub mod athread;
#[doc(hidden)]
pub mod execute;
#[doc(hidden)]
pub mod extents;
#[doc(hidden)]
pub mod kernel;
#[doc(hidden)]
pub mod npy;
#[doc(hidden)]
pub mod npz;
#[doc(hidden)]
pub mod value;

/// Tests make up programs and damage inputs.
#[doc(hidden)]
pub mod fuzz;
#[doc(hidden)]
pub mod random;

/// Tests let Coq decide about certificates, and look at the pages of errors.
#[doc(hidden)]
pub mod coq;
#[doc(hidden)]
pub mod pages;
