//! What a stage gives: its text, and what there is to say of it.

use loops::Diagnostic;

/// The text of a stage.
#[derive(Clone, Debug)]
pub struct Emission {
    /// The text.
    pub text: String,
    /// Things to look at; the text is right without.
    pub warnings: Vec<Diagnostic>,
    /// Remarks without a code and a place, a line each.
    pub notes: Vec<String>,
    /// Macros of C regions whose values are built into the text.
    pub macros: Vec<String>,
    /// What regions of C functions go by.
    pub promises: Vec<Promise>,
    /// Whether updates of C regions may be made in another order, as asked for or declared: results
    /// then differ by roundings.
    pub reassociated: bool,
}

/// What the result of a region of a C file goes by.
#[derive(Clone, Debug)]
pub struct Promise {
    /// The C function that the region is in.
    pub function: String,
    /// What is taken for true without a test.
    pub assumed: Vec<String>,
    /// What is tested before it.
    pub tested: Vec<String>,
}
