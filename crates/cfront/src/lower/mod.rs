//! From the statements of a region to a loop program. Affine expressions become bounds, conditions
//! and subscripts. The rest becomes data expressions with the types that C gives them. What fits
//! neither is a diagnostic. All diagnostics of a region are collected.

mod access;
mod array;
mod assume;
mod block;
mod by_data;
mod call;
mod carry;
mod changes;
mod choice;
mod condition;
mod counter;
mod data;
mod delinearize;
mod fill;
mod finish;
mod further_counters;
mod index;
mod inspection;
mod intervals;
mod loop_header;
mod overlap;
mod places;
mod pointer_loops;
mod polynomial;
mod private_rows;
mod privatise;
mod reach;
mod readings;
mod reduction;
mod resolve;
mod rotating_pointers;
mod row_test;
mod size_steps;
mod steps;
mod text;
mod track;

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use loops::{Code, Diagnostic, Expr as Hub, Name, Scalar, Span};

use crate::ast::{At, Stmt};
use crate::codes;
use crate::ctype::{CType, IntType};
use crate::linear::Linear;
use crate::parser::PLACE;
use crate::scope::{Scopes, Symbol};
use crate::source::Source;
use crate::uses::Uses;
use access::Pending;
use array::ArrayUse;
use assume::Assumed;
pub(crate) use call::is_math;
use index::{Atom, Index};
use readings::Reading;
use resolve::{Meaning, Resolution};
use track::Followed;

pub use finish::Lowered;
pub use readings::lower;

/// What a region is in: the function and the tokens of its body.
pub struct Context<'a> {
    pub source: &'a Source<'a>,
    /// What is declared where the region starts.
    pub scopes: &'a Scopes,
    /// The C function.
    pub function: &'a str,
    /// Number of the region in the file.
    pub number: usize,
    /// Tokens of the function's body, braces included.
    pub body: std::ops::Range<usize>,
    /// Tokens of the region, between the pragmas.
    pub region: std::ops::Range<usize>,
    /// Where the names of the body occur.
    pub uses: &'a Uses<'a>,
    /// The region may run more than once in one call of the function.
    pub in_loop: bool,
    /// Functions that the file defines: none of these is the C library's.
    pub defined: &'a BTreeSet<&'a str>,
    /// Functions that are known to be pure besides those of `math.h` and those declared so.
    pub pure_functions: &'a [String],
    /// Whether plain `char` has a sign, if that is known.
    pub char_signed: Option<bool>,
}

/// The state of the translation of one region.
#[derive(Clone)]
struct Lowering<'a> {
    cx: &'a Context<'a>,
    res: Rc<Resolution>,
    /// Hub names that are taken; with the C type of the loop variables that share one.
    taken: BTreeMap<Name, Option<IntType>>,
    /// Hub name of each object that has one.
    names: BTreeMap<usize, Name>,
    /// Values of the variables of the enclosing loops, and of local integers with a fixed value.
    values: BTreeMap<usize, Index>,
    /// What else is known of variables that the region assigns.
    followed: Followed,
    /// Variables that the region assigns and whose values are followed.
    tracked: Rc<BTreeSet<usize>>,
    /// Names of the values that such variables have before the region.
    entries: BTreeMap<usize, Name>,
    /// Those of them that something was made of.
    entered: BTreeSet<usize>,
    /// The variable whose assignment is being translated.
    own: Option<usize>,
    /// Loops that are being tried to see what they add to variables.
    trials: usize,
    /// How many more may be tried.
    tries_left: usize,
    /// Variables of the loops we are in.
    active: BTreeSet<usize>,
    /// The loops we are in, outermost first.
    loops: Vec<ActiveLoop>,
    /// What holds here: forms that are at least 0.
    known: Vec<Linear>,
    /// Quotients and similar atoms, named `#0`, `#1`, …
    atoms: Vec<Atom>,
    arrays: BTreeMap<usize, ArrayUse>,
    pending: Vec<Pending>,
    /// First pending access of the statement being translated.
    statement_pending: usize,
    labels: usize,
    /// The statement being translated.
    here: At,
    /// Where each labelled statement comes from.
    statement_spans: BTreeMap<Name, Span>,
    /// The loop variables of the loop program, with their types in C.
    loop_types: BTreeMap<Name, IntType>,
    diagnostics: Vec<Diagnostic>,
    warnings: Vec<Diagnostic>,
    /// Objects that a diagnostic was given for already.
    blamed: BTreeSet<usize>,
    /// What the types of sizes say of them: forms that are at least 0.
    of_types: Vec<Linear>,
    /// Conditions on sizes that are tested before the region.
    assumed: Vec<Assumed>,
    /// Forms that are at least 0 by those of them under which flat arrays have rows.
    of_rows: Vec<Linear>,
    /// The variable of the loop whose condition is being translated.
    counting: Option<Name>,
    /// What that condition needs of it.
    deferred: Vec<counter::Deferred>,
    /// In a condition, where unsigned differences must not wrap.
    strict: bool,
    /// Values that outer loop variables have after the region, where they are set at its top.
    finals: BTreeMap<usize, Option<Hub>>,
    /// Pointers that loops pass around, and that are passed on after the region.
    turned: Vec<rotating_pointers::Turned>,
    /// Conditionals around this place.
    branches: usize,
    /// Loop variables whose bounds are neighbours in an array.
    row_loops: BTreeMap<Name, inspection::Rows>,
    /// What local integers are declared with.
    initial: BTreeMap<usize, Rc<crate::ast::Expr>>,
    /// What is assumed so that more is affine.
    reading: Reading,
    /// Products of sizes that stand for sizes, by their factors.
    products: BTreeMap<[Linear; 2], usize>,
    /// Sizes that are multiplied with loop variables where that keeps a subscript from being
    /// affine.
    strides: BTreeSet<usize>,
}

/// A loop around the place being translated.
#[derive(Clone)]
struct ActiveLoop {
    /// The variable of the loop program.
    var: Name,
    lower: Linear,
    /// Exclusive.
    upper: Linear,
}

/// The diagnostic was recorded; go on with the next statement.
#[derive(Debug)]
struct Failed;

type Try<T> = Result<T, Failed>;

/// What an object is for the region.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Class {
    /// An integer that the region only reads.
    Size(IntType),
    /// A variable of loops.
    LoopVariable(IntType),
    /// A local integer that keeps the value that it is declared with.
    Fixed(IntType),
    /// Data.
    Data,
}

/// A region that is not understood, and the sizes in [`Lowering::strides`].
struct Refused {
    diagnostics: Vec<Diagnostic>,
    strides: BTreeSet<usize>,
}

/// Translates a region as it is read.
fn lower_as(
    cx: &Context<'_>,
    body: &[Stmt],
    res: &Rc<Resolution>,
    reading: &Reading,
) -> Result<Lowered, Refused> {
    let mut left = BTreeSet::new();
    loop {
        let mut lowering = Lowering::new(cx, res.clone(), &left, reading.clone());
        lowering.reserve_names();
        lowering.refuse_objects();
        lowering.assume_units();
        lowering.enter();
        let mut statements = lowering.statements(body);
        let dropped = lowering.drop_unread(&mut statements);
        // A variable that stays one cannot stand for the value that it had before.
        let both: Vec<usize> = lowering.entered.difference(&dropped).copied().collect();
        if both.is_empty() || !left.is_disjoint(&both.iter().copied().collect()) {
            return lowering.finish(body, statements, &dropped);
        }
        left.extend(both);
    }
}

impl<'a> Lowering<'a> {
    /// The state before the first statement; variables in `left` are not followed.
    fn new(
        cx: &'a Context<'a>,
        res: Rc<Resolution>,
        left: &BTreeSet<usize>,
        reading: Reading,
    ) -> Lowering<'a> {
        let mut lowering = Lowering {
            cx,
            res,
            taken: BTreeMap::new(),
            names: BTreeMap::new(),
            values: BTreeMap::new(),
            followed: Followed::default(),
            tracked: Rc::default(),
            entries: BTreeMap::new(),
            turned: Vec::new(),
            entered: BTreeSet::new(),
            own: None,
            trials: 0,
            tries_left: carry::MOST_TRIES,
            active: BTreeSet::new(),
            loops: Vec::new(),
            known: Vec::new(),
            atoms: Vec::new(),
            arrays: BTreeMap::new(),
            pending: Vec::new(),
            statement_pending: 0,
            labels: 0,
            here: At { first: cx.region.start as u32, last: cx.region.start as u32 },
            statement_spans: BTreeMap::new(),
            loop_types: BTreeMap::new(),
            diagnostics: Vec::new(),
            warnings: Vec::new(),
            blamed: Default::default(),
            of_types: Vec::new(),
            assumed: Vec::new(),
            of_rows: Vec::new(),
            counting: None,
            deferred: Vec::new(),
            strict: false,
            finals: BTreeMap::new(),
            branches: 0,
            row_loops: BTreeMap::new(),
            initial: BTreeMap::new(),
            reading,
            products: BTreeMap::new(),
            strides: BTreeSet::new(),
        };
        let tracked = (0..lowering.res.objects.len()).filter(|k| lowering.is_followed(*k));
        lowering.tracked = Rc::new(tracked.filter(|k| !left.contains(k)).collect());
        lowering
    }
}

impl Lowering<'_> {
    /// Names of objects declared before the region are kept.
    fn reserve_names(&mut self) {
        for k in 0..self.res.objects.len() {
            let object = &self.res.objects[k];
            if object.place.is_none() {
                continue;
            }
            let shared = match self.class(k) {
                Class::LoopVariable(int) => Some(int),
                _ => None,
            };
            let class = self.class(k);
            let name = self.fresh(&self.res.objects[k].name.clone());
            if let Class::Size(int) = class {
                self.note_size(&name, int);
            }
            self.taken.insert(name.clone(), shared);
            self.names.insert(k, name);
        }
    }

    /// Objects that a region cannot even read: they differ from thread to thread, or hold more than
    /// the integers of the loop IR.
    fn refuse_objects(&mut self) {
        let mut seen = BTreeSet::new();
        let mentions: Vec<(u32, Meaning)> = self.res.meanings.iter().map(|(t, m)| (*t, *m)).collect();
        for (token, meaning) in mentions {
            let Meaning::Object(k) = meaning else { continue };
            let object = &self.res.objects[k];
            let (name, at) = (object.name.clone(), At { first: token, last: token });
            let wide = matches!(object.ty.ty, CType::Int(IntType::Int128));
            if !(object.per_thread || wide) || !seen.insert(k) {
                continue;
            }
            self.blamed.insert(k);
            let _: Try<()> = if wide {
                let message = format!("`{name}` has 128 bits; integers of a region have 64 at most");
                let help = "copy it to a `long` before the region, if its value fits there";
                self.fail_with(codes::TYPE, message, (at, "not a type of a region"), help)
            } else {
                let message = format!(
                    "`{name}` has thread storage: each thread has its own copy, and several threads may run a region"
                );
                let help = "declare it inside the region, or pass it to the function as a parameter; a scalar can be copied to a local variable before the region and back after it";
                self.fail_with(codes::TYPE, message, (at, "each thread has its own"), help)
            };
        }
    }

    /// A free name of the loop program, like a C name.
    fn fresh(&self, c_name: &str) -> Name {
        // `p[].x` is `p_x`.
        let c_name = c_name.replace(PLACE, "").replace("->", ".");
        let base: String =
            c_name.chars().map(|c| if c.is_ascii_alphanumeric() || c == '_' { c } else { '_' }).collect();
        let mut name = Name::new(&base);
        let mut count = 0u32;
        while self.taken.contains_key(&name) {
            count += 1;
            name = Name::new(format!("{base}_{count}"));
        }
        name
    }

    /// The name of an object in the loop program. It gets one if it has none.
    fn name_of(&mut self, k: usize) -> Name {
        if let Some(name) = self.names.get(&k) {
            return name.clone();
        }
        let name = self.fresh(&self.res.objects[k].name.clone());
        self.taken.insert(name.clone(), None);
        self.names.insert(k, name.clone());
        name
    }

    fn class(&self, k: usize) -> Class {
        let object = &self.res.objects[k];
        let CType::Int(int) = object.ty.ty else { return Class::Data };
        if !object.loops.is_empty() {
            return Class::LoopVariable(int);
        }
        if !object.assigned.is_empty() || object.ty.volatile {
            return Class::Data;
        }
        match object.place {
            Some(_) => Class::Size(int),
            None if object.initialised => Class::Fixed(int),
            None => Class::Data,
        }
    }

    /// The type of the loop IR for data of a C type, if it has one.
    fn scalar(&self, ty: &CType) -> Option<Scalar> {
        match ty {
            CType::Int(IntType::Char) => match self.cx.char_signed? {
                true => Some(Scalar::I8),
                false => Some(Scalar::U8),
            },
            CType::Int(int) => int.scalar(),
            CType::Float => Some(Scalar::F32),
            CType::Double => Some(Scalar::F64),
            _ => None,
        }
    }

    fn meaning(&self, e: &crate::ast::Expr) -> Meaning {
        self.res.meanings.get(&resolve::ident_token(e)).copied().unwrap_or(Meaning::Unknown)
    }

    fn span(&self, at: At) -> Span {
        self.cx.source.span(at)
    }

    fn fail<T>(&mut self, code: Code, message: impl Into<String>, at: At, label: &str) -> Try<T> {
        let diagnostic = Diagnostic::error(code, message, self.span(at), label);
        self.report(diagnostic)
    }

    /// As [`Lowering::fail`], with a way out.
    fn fail_with<T>(
        &mut self,
        code: Code,
        message: impl Into<String>,
        (at, label): (At, &str),
        help: &str,
    ) -> Try<T> {
        let diagnostic = Diagnostic::error(code, message, self.span(at), label);
        self.report(diagnostic.help(help))
    }

    fn report<T>(&mut self, diagnostic: Diagnostic) -> Try<T> {
        // One region of a huge file must not make a million of them.
        if self.diagnostics.len() < 100 && !self.diagnostics.contains(&diagnostic) {
            self.diagnostics.push(diagnostic);
        }
        Err(Failed)
    }

    fn warn(&mut self, code: Code, message: impl Into<String>, at: At, label: &str) {
        let mut diagnostic = Diagnostic::error(code, message, self.span(at), label);
        diagnostic.severity = loops::Severity::Warning;
        if self.warnings.len() < 100 && !self.warnings.contains(&diagnostic) {
            self.warnings.push(diagnostic);
        }
    }

    /// The text of some tokens, for a message.
    fn snippet(&self, at: At) -> String {
        let mut out = String::new();
        let mut previous = String::new();
        for k in at.first..=at.last.min(at.first + 60) {
            let text = self.cx.source.token_text(k as usize);
            let tight = matches!(text, ")" | "]" | "[" | "," | ";" | "++" | "--" | "." | "->")
                || (text == "(" && previous.ends_with(|c: char| c.is_alphanumeric() || c == '_'))
                || matches!(previous.as_str(), "(" | "[" | "!" | "." | "->");
            if !out.is_empty() && !tight {
                out.push(' ');
            }
            out.push_str(text);
            previous = text.to_string();
            if out.len() > 80 {
                break;
            }
        }
        if out.chars().count() > 60 {
            out = out.chars().take(57).collect::<String>() + "...";
        }
        out
    }

    /// `i`, `j`: the loop variables here, for a message.
    fn loop_list(&self) -> String {
        let vars: Vec<&str> = self.loops.iter().map(|l| l.var.as_str()).collect();
        if vars.is_empty() { "the sizes".to_string() } else { vars.join(", ") }
    }

    fn unknown_name<T>(&mut self, name: &str, at: At) -> Try<T> {
        let (message, help) = self.unknown(name);
        let diagnostic = Diagnostic::error(codes::NAME, message, self.span(at), "unknown name");
        self.report(match help {
            Some(help) => diagnostic.help(help),
            None => diagnostic,
        })
    }

    /// What is said of a name that stands for nothing here, and the way out if there is one.
    fn unknown(&self, name: &str) -> (String, Option<&'static str>) {
        match self.cx.scopes.lookup(name) {
            Some(Symbol::Hidden(why)) => (format!("`{name}` is {}", why.what()), Some(why.help())),
            _ => (format!("no declaration of `{name}` was found or understood"), None),
        }
    }
}

/// Whether a name can be one of the loop IR.
fn is_plain_name(name: &str) -> bool {
    name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

/// The constant as an expression of the loop IR, of type `i64`.
fn int(value: i64) -> Hub {
    Hub::Int(value)
}
