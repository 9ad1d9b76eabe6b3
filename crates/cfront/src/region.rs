//! What is known of a region besides its loop program: where it was, what its names are in C, and
//! what is assumed.
//!
//! A printer or the command can use everything here without looking at the C again.

use std::collections::{BTreeMap, BTreeSet};

use crate::parser::PLACE;
use crate::source::Language;
use loops::{Diagnostic, Expr, Function, Name, Scalar, Span};

/// A C file with its marked regions.
#[derive(Clone, Debug)]
pub struct CFile {
    /// The name that was given for the file.
    pub name: String,
    /// Its language.
    pub language: Language,
    /// The regions, in the order of the file.
    pub regions: Vec<Region>,
    /// Why other regions are not taken: errors, in the order of the file.
    pub refused: Vec<Diagnostic>,
}

/// A region: its loop program and how that is tied to the C around it.
#[derive(Clone, Debug)]
pub struct Region {
    /// The statements as a function. Sizes are integer variables that the region only reads.
    /// Parameters are the arrays and scalars that it refers to. Statements are labelled `S0`, `S1`,
    /// … in the order of the text.
    pub function: Function,
    /// The ties to the C text.
    pub info: RegionInfo,
    /// Things to look at; the result is right without.
    pub warnings: Vec<Diagnostic>,
}

/// The ties of a region to the C text.
#[derive(Clone, Debug)]
pub struct RegionInfo {
    /// Bytes of the original text from the line of `#pragma scop` to the end of the line of
    /// `#pragma endscop`, line ends included. Of a nest that nobody has marked, its lines, or its
    /// own text where something else stands on them.
    pub bytes: std::ops::Range<usize>,
    /// Whether the two pragmas are around it, or it is a loop nest that nobody has marked.
    pub marked: bool,
    /// Whether it stands where C expects a single statement, so that its result is a block.
    pub braces: bool,
    /// Lines of the two pragmas, counted from 1.
    pub lines: (usize, usize),
    /// White space before the first statement after `#pragma scop`. The lines of a replacement are
    /// indented by it.
    pub indent: String,
    /// The C function that the region is in.
    pub c_function: String,
    /// Arrays and scalars of the region, by their name in the loop program (parameters of the
    /// function first).
    pub variables: Vec<Variable>,
    /// Size parameters of the loop program with their C types (`n`: `int`).
    pub sizes: Vec<SizeVariable>,
    /// Pairs of objects that the C text allows to overlap, one of them written. The loop program
    /// takes them as distinct. Before its result is used, that must be tested, or be declared by
    /// the user (`restrict`, or an option).
    pub may_alias: Vec<AliasPair>,
    /// Conditions under which the loop program computes what the C text does. They are tested
    /// before the region. If one of them fails, the original text runs.
    pub assumptions: Vec<Assumption>,
    /// The lines between the pragmas, as bytes of the original text.
    pub inside: std::ops::Range<usize>,
    /// C statements to be put after the region: loop variables declared outside get the values that
    /// they would have had.
    pub epilogue: Vec<String>,
    /// Identifiers of the original region's text that the preprocessor replaced. The result is
    /// right for their values.
    pub macros: Vec<String>,
    /// Those of the macros, and of what they stand for, whose text is an integer or the name of a
    /// type. The region was translated for these values, and [`crate::splice`] has that checked
    /// when its result is compiled. Known only if the preprocessor kept the definitions
    /// (`gcc -E -dD`).
    pub macro_values: Vec<(String, String)>,
    /// Objects outside of the region, or elements of them (`A[0]`), whose `sizeof` was taken as
    /// this number of bytes. Checked as macros are.
    pub object_sizes: Vec<(String, u64)>,
    /// Objects, functions and macros that the region refers to: a result must not declare these
    /// names anew.
    pub identifiers: BTreeSet<String>,
    /// Facts about the arithmetic of subscripts: types, and where 32 bits could overflow.
    pub index_notes: Vec<String>,
    /// Where the statements of the loop program stand in the original text, by their labels.
    pub statement_spans: BTreeMap<Name, Span>,
}

/// An array or scalar of a region.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Variable {
    /// Name in the loop program.
    pub name: Name,
    /// Name in C; of a member of structures with `[]` where subscripts stand before it, as `p[].x`.
    pub c_name: String,
    /// Type of the elements in C, as in `double`; typedef names are resolved.
    pub c_type: &'static str,
    /// Type of the elements in the loop program.
    pub elem: Scalar,
    /// Extents in the loop program; empty for a scalar.
    pub dims: Vec<Expr>,
    /// How an element is written in C.
    pub access: AccessForm,
    /// Whether its rows are where pointers in memory point, as those of `double **a`.
    pub rows: bool,
    /// What kind of object it is in C.
    pub kind: VariableKind,
    /// Whether the region writes it.
    pub written: bool,
    /// Whether its value may be read after the region.
    pub live_after: bool,
}

/// How an element of a variable is written in C.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AccessForm {
    /// `s`
    Scalar,
    /// `A[i][j]`
    Subscripts,
    /// `A[i * n + j]`, row-major over `dims`. The C object is a plain pointer, the loop program
    /// sees several dimensions.
    Linear,
}

/// What kind of object a variable is in C.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum VariableKind {
    /// An array or scalar declared in the region.
    RegionLocal,
    /// An array or scalar object of the function.
    FunctionLocal,
    /// An array or scalar object of the file.
    Global,
    /// A pointer (array parameters are pointers) that is declared `restrict` or was just allocated.
    RestrictPointer,
    /// A pointer that may point anywhere.
    Pointer,
}

/// An integer variable that the region only reads.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SizeVariable {
    /// Name in the loop program.
    pub name: Name,
    /// Name in C.
    pub c_name: String,
    /// Type in C.
    pub c_type: &'static str,
    /// How its value is written in index arithmetic: `n`, or `(long)n` where that has no sign.
    pub text: String,
    /// Least and greatest value that it may have.
    pub values: (i128, i128),
    /// Whether it is of 64 bits, and nothing shows that it is small enough to be computed with.
    pub tested: bool,
}

/// A condition on what a region is given.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Assumption {
    /// The condition in C; computing it does not overflow.
    pub condition: String,
    /// What it says, for people.
    pub says: String,
    /// What needs it, in the original text.
    pub span: Span,
}

/// Two objects that may overlap.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct AliasPair {
    /// One, by its name in C.
    pub first: String,
    /// The other.
    pub second: String,
    /// A condition in C that holds if they do not overlap. `None` if it is not known before the
    /// region which elements it accesses.
    pub apart: Option<String>,
    /// The condition reads subscripts that are data, so it takes time.
    pub inspects: bool,
}

impl Variable {
    /// The identifier that an element of it begins with in C.
    pub fn owner(&self) -> &str {
        owner(&self.c_name)
    }

    /// The members after that identifier: after how many subscripts, whether by `->`, and their
    /// names.
    pub fn members(&self) -> Vec<(usize, bool, String)> {
        let mut members = Vec::new();
        for (k, part) in self.c_name[self.owner().len()..].split(PLACE).enumerate() {
            let part = part.replace("->", ".>");
            for link in part.split('.').filter(|link| !link.is_empty()) {
                let name = link.strip_prefix('>');
                members.push((k, name.is_some(), name.unwrap_or(link).to_owned()));
            }
        }
        members
    }
}

/// The object that a name, perhaps of a member as `p[].x`, belongs to.
pub(crate) fn owner(name: &str) -> &str {
    name.split(['.', '-', '[']).next().unwrap_or(name)
}

impl SizeVariable {
    /// Whether C computes with it in `int`.
    pub fn is_int(&self) -> bool {
        self.text == self.c_name && !self.c_type.contains("long")
    }
}

impl RegionInfo {
    /// The variable with this name in the loop program.
    pub fn variable(&self, name: &str) -> Option<&Variable> {
        self.variables.iter().find(|v| v.name.as_str() == name)
    }
}
