//! The choice among candidates.
//!
//! A [`Machine`] is data. [`cost`] predicts what a loop program takes on it: arithmetic, lines
//! moved between caches, forks. [`choose`] takes the candidate with the least cost and says of each
//! other one why it lost.
//!
//! Not here: how candidates are made (crates `passes` and `polyhedral`), and measuring.
//!
//! ```
//! let text = |order: &str| format!("fn f[n](a: inout f64[n][n]) {{ {order} {{ a[i][j] *= 2.0 }} }} }}");
//! let read = |order: &str| loops::parse(&text(order)).unwrap().functions.remove(0);
//! let (rows, columns) =
//!     (read("for i in 0..n { for j in 0..n"), read("for j in 0..n { for i in 0..n"));
//! let machine = optimize::Machine::default();
//! assert!(optimize::cost(&rows, &machine).cycles() < optimize::cost(&columns, &machine).cycles());
//! ```

mod break_even;
mod choice;
mod cost;
mod machine;
mod movement;
mod operations;

pub use break_even::{BreakEven, break_even};
pub use choice::{Candidate, Choice, MARGIN, choose};
pub use cost::{Cost, ELEMENTS, STEPS, WINDOW, cost};
pub use machine::{Cache, Machine};
pub use movement::{Border, Movement, Run, movement};
pub use operations::operations;
