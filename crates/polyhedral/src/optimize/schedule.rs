//! A schedule with the passes around it: everything that gives the same code again.
//!
//! Its text is that of the tree behind a line that names the passes in their order:
//!
//! ```text
//! passes store-forwarding, affine-scheduling, unroll-and-jam 4
//! domain [n] -> { S0[i, j] : ... }
//! ```
//!
//! The tree orders the statements of the function after the passes before `affine-scheduling`. Of a
//! tree without that line, `affine-scheduling` alone is meant. What is declared inside a loop is
//! declared there again, so that iterations do not share it; `affine-scheduling shared` leaves that
//! out.

use std::fmt;

use passes::{Pass, Step};

use crate::fault::{self, Result};
use crate::transform::contraction::Split;
use crate::tree::Tree;

/// The order of a schedule tree, as loops.
pub(crate) const AFFINE_SCHEDULING: Step = Step {
    name: "affine-scheduling",
    literature: "polyhedral scheduling and code generation (Bondhugula 2008; Grosser, Verdoolaege, Cohen 2015)",
    about: "the loops of a schedule tree: fused, tiled, skewed, parallel and in vectors as it says; locals of an iteration are private",
};

/// The loops of the text with the kinds that the marks of a tree give them.
pub(crate) const PARALLELIZATION: Step = Step {
    name: "parallelization",
    literature: "loop parallelization and vectorization (Allen and Kennedy 1987)",
    about: "the order of the text is kept; its loops become parallel or vector loops",
};

/// Nests one by one.
pub(crate) const NEST_BY_NEST: Step = Step {
    name: "nest-by-nest",
    literature: "scheduling of single loop nests",
    about: "the order of the nests is kept, and each is scheduled by itself, since the whole is too large or only repeats them",
};

/// Several rows at once.
pub const UNROLL_AND_JAM: Step = Step {
    name: "unroll-and-jam",
    literature: "unroll-and-jam (Callahan, Carr, Kennedy 1990)",
    about: "several iterations of a loop run at once in the loop below it, which saves loads and stores",
};

/// Register tiles over packed operands.
pub const REGISTER_TILING: Step = Step {
    name: "register-tiling",
    literature: "packing and register tiles (Goto and van de Geijn 2008)",
    about: "contractions run as register tiles over packed operands; the packing is validated and undone for the check",
};

/// Another order on several threads.
pub(crate) const THREAD_VERSIONING: Step = Step {
    name: "thread-versioning",
    literature: "code versioning (Byler et al. 1987); wavefronts (Lamport 1974)",
    about: "strips of rows that depend on each other run in blocks of columns where there are several threads",
};

/// The steps from a model to loops, in their order.
pub const STEPS: [Step; 6] =
    [AFFINE_SCHEDULING, PARALLELIZATION, NEST_BY_NEST, UNROLL_AND_JAM, REGISTER_TILING, THREAD_VERSIONING];

/// How loops are made of a tree.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Loops {
    /// By a scan of the sets.
    Scanned,
    /// Those of the text, whose order the tree has.
    Written,
    /// Those that the optimizer finds for each nest by itself; the tree has the order of the text.
    Nests,
}

/// What came of register tiles: simpler forms are tried first.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Form {
    /// Parallel loops over the same iterations are one, and bounds are simplified.
    Joined,
    /// Bounds are simplified.
    Simplified,
    /// As they were made.
    Plain,
}

/// How code is made of a schedule tree.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Code {
    /// The loops.
    pub loops: Loops,
    /// Whether declarations go into loops again.
    pub private: bool,
    /// Rows at once; 1 for none.
    pub jam: i64,
    /// Register tiles for the marked nests.
    pub tiles: Option<(Split, Form)>,
    /// Whether several threads have another order, that which the optimizer finds for them.
    pub threads: bool,
}

impl Code {
    /// Of a tree of which nothing else is said.
    pub const USUAL: Code =
        Code { loops: Loops::Scanned, private: true, jam: 1, tiles: None, threads: false };
}

/// A schedule tree with the passes around it.
#[derive(Clone, PartialEq, Debug)]
pub struct Schedule {
    /// Passes on the function, before its model is made.
    pub before: Vec<&'static Pass>,
    /// The order of the function after these.
    pub tree: Tree,
    /// How code is made of it.
    pub code: Option<Code>,
}

impl From<Tree> for Schedule {
    fn from(tree: Tree) -> Schedule {
        Schedule { before: Vec::new(), tree, code: None }
    }
}

impl fmt::Display for Schedule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(code) = self.code {
            let before = self.before.iter().map(|pass| pass.name().to_owned());
            let items: Vec<String> = before.chain(words(code)).collect();
            writeln!(f, "passes {}", items.join(", "))?;
        }
        self.tree.fmt(f)
    }
}

fn words(code: Code) -> Vec<String> {
    let loops = match code.loops {
        Loops::Scanned => AFFINE_SCHEDULING,
        Loops::Written => PARALLELIZATION,
        Loops::Nests => NEST_BY_NEST,
    };
    let shared = code.loops == Loops::Scanned && !code.private;
    let mut words = vec![format!("{}{}", loops.name, if shared { " shared" } else { "" })];
    if code.jam > 1 {
        words.push(format!("{} {}", UNROLL_AND_JAM.name, code.jam));
    }
    if let Some((split, form)) = code.tiles {
        let split = if split == Split::Rows { "rows" } else { "columns" };
        let form = match form {
            Form::Joined => " joined",
            Form::Simplified => "",
            Form::Plain => " plain",
        };
        words.push(format!("{} {split}{form}", REGISTER_TILING.name));
    }
    if code.threads {
        words.push(THREAD_VERSIONING.name.to_owned());
    }
    words
}

/// Reads a line `passes ...`: what comes before the schedule, and how code is made.
///
/// # Errors
/// `P0201` if a name is not that of a pass, or stands where it cannot.
pub fn read_passes(line: &str, number: usize) -> Result<(Vec<&'static Pass>, Code)> {
    let refuse = |what: String| fault::tree_text(number, &what);
    let (mut before, mut code) = (Vec::new(), None::<Code>);
    for item in line.split(',').map(str::trim) {
        let mut words = item.split_whitespace();
        let name = words.next().unwrap_or_default();
        let arguments: Vec<&str> = words.collect();
        match (&mut code, name, arguments.as_slice()) {
            (None, name, []) if name == AFFINE_SCHEDULING.name => code = Some(Code::USUAL),
            (None, name, ["shared"]) if name == AFFINE_SCHEDULING.name => {
                code = Some(Code { private: false, ..Code::USUAL });
            }
            (None, name, []) if name == PARALLELIZATION.name => {
                code = Some(Code { loops: Loops::Written, private: false, ..Code::USUAL });
            }
            (None, name, []) if name == NEST_BY_NEST.name => {
                code = Some(Code { loops: Loops::Nests, private: false, ..Code::USUAL });
            }
            (None, name, []) => match passes::named(name) {
                Some(pass) => before.push(pass),
                None => return Err(refuse(format!("`{name}` is no pass before the schedule"))),
            },
            (Some(code), name, [count]) if name == UNROLL_AND_JAM.name => {
                code.jam = count
                    .parse()
                    .ok()
                    .filter(|n| (2..=64).contains(n))
                    .ok_or_else(|| refuse(format!("`{count}` is not a number of rows from 2 to 64")))?;
            }
            (Some(code), name, []) if name == THREAD_VERSIONING.name => code.threads = true,
            (Some(code), name, [split, form @ ..]) if name == REGISTER_TILING.name => {
                code.tiles =
                    Some(tiles(split, form).ok_or_else(|| refuse(format!("`{item}` is not known")))?);
            }
            _ => return Err(refuse(format!("`{item}` cannot stand at this place of the passes"))),
        }
    }
    let missing = || refuse("`affine-scheduling` or `parallelization` is missing in the passes".to_owned());
    Ok((before, code.ok_or_else(missing)?))
}

fn tiles(split: &str, form: &[&str]) -> Option<(Split, Form)> {
    let split = match split {
        "rows" => Split::Rows,
        "columns" => Split::Columns,
        _ => return None,
    };
    let form = match form {
        [] => Form::Simplified,
        ["joined"] => Form::Joined,
        ["plain"] => Form::Plain,
        _ => return None,
    };
    Some((split, form))
}

/// Whether a tree has the order of the text, whatever its marks say.
///
/// # Errors
/// `P0202` if it has another.
pub(super) fn has_order(tree: &Tree, of_text: &Tree) -> Result<()> {
    if bare(tree)? == bare(of_text)? {
        return Ok(());
    }
    let message =
        "the tree has another order than the text, but the passes before it keep the order of the text";
    Err(fault::edit(message)
        .help("write `affine-scheduling` in the place of `parallelization` or `nest-by-nest`"))
}

/// The tree without marks, and without what is said of the loops of bands.
fn bare(tree: &Tree) -> Result<Tree> {
    use crate::tree::{Band, LoopCode, Member, Node};
    let root = tree.root.clone().rewrite(&mut |node| {
        Ok(match node {
            Node::Mark { child, .. } => *child,
            Node::Band(band) => {
                let plain = |member: Member| Member { coincident: false, code: LoopCode::Default, ..member };
                let members = band.members.into_iter().map(plain).collect();
                Node::Band(Band { members, permutable: false, isolate: None, ..band })
            }
            other => other,
        })
    })?;
    Ok(Tree { root })
}
