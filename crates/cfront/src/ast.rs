//! The syntax of C in a region: expressions, declarations, statements. Constructs that a region
//! cannot have are kept by name, so that all of them can be reported at once.

use crate::ctype::{CType, IntType, QType};

/// A range of tokens: `first..=last`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct At {
    pub first: u32,
    pub last: u32,
}

impl At {
    pub fn to(self, other: At) -> At {
        At { first: self.first.min(other.first), last: self.last.max(other.last) }
    }
}

#[derive(Clone, Debug)]
pub struct Expr {
    pub kind: ExprKind,
    pub at: At,
    /// Height of the tree; bounded by the parser so that recursion over it is.
    pub height: u32,
}

#[derive(Clone, Debug)]
pub enum ExprKind {
    Ident(String),
    /// An integer constant that fits in 64 bits, with its type by the rules of C.
    Int(u64, IntType),
    /// A floating constant: its value as a double, and rounded directly to single precision.
    Float {
        value: f64,
        single: f32,
        ty: CType,
    },
    Call {
        function: String,
        args: Vec<Expr>,
    },
    Index(Box<Expr>, Box<Expr>),
    Unary(Unary, Box<Expr>),
    Binary(Binary, Box<Expr>, Box<Expr>),
    Assign(Option<Binary>, Box<Expr>, Box<Expr>),
    /// `++` and `--`, before or after: the amount.
    Step(i64, Box<Expr>),
    Conditional(Box<Expr>, Box<Expr>, Box<Expr>),
    Cast(QType, Box<Expr>),
    /// `a, b`: at least two.
    Comma(Vec<Expr>),
    /// Something that is C and has no place in a region: its name and why.
    Unsupported(&'static str),
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Unary {
    Plus,
    Minus,
    Not,
    Complement,
    Deref,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Binary {
    Add,
    Sub,
    Mul,
    Div,
    Rem,
    Lt,
    Le,
    Gt,
    Ge,
    Eq,
    Ne,
    And,
    Or,
    /// `& | ^ << >>`
    Bits(&'static str),
}

/// A declared object.
#[derive(Clone, Debug)]
pub struct Declaration {
    pub name: String,
    pub ty: QType,
    pub init: Option<Init>,
    pub is_static: bool,
    pub is_extern: bool,
    pub at: At,
}

#[derive(Clone, Debug)]
pub(crate) enum Init {
    Expr(Expr),
    List(Vec<Init>),
    Unsupported(&'static str),
}

#[derive(Clone, Debug)]
pub struct Stmt {
    pub kind: StmtKind,
    pub at: At,
}

#[derive(Clone, Debug)]
pub(crate) enum StmtKind {
    Expr(Expr),
    Declare(Vec<Declaration>),
    For(Box<For>),
    If {
        cond: Expr,
        then: Box<Stmt>,
        otherwise: Option<Box<Stmt>>,
    },
    Block(Vec<Stmt>),
    Empty,
    /// Pragmas inside the region, with their texts and places, and the statement that each one
    /// precedes, if there is one.
    Pragma(Vec<(String, At)>, Option<Box<Stmt>>),
    /// `continue` or `break` that leaves a loop around the region. Those of loops in the region are
    /// gone, or not supported.
    Jump(&'static str),
    /// A label of the text, which `goto` may name.
    Label(&'static str),
    /// A statement that has no place in a region: its name.
    Unsupported(&'static str),
}

#[derive(Clone, Debug)]
pub struct For {
    /// What its header does besides setting counted variables. It comes before the loop.
    pub before: Vec<Stmt>,
    pub init: Option<Stmt>,
    pub cond: Option<Expr>,
    pub step: Option<Expr>,
    /// Each step comes between the condition and the body, as in `for (i = n; i-- > 0;)`.
    pub counts_first: bool,
    /// The first iteration runs whatever the condition says: `do … while`.
    pub at_least_once: bool,
    /// Further variables that are counted with the one of `step`.
    pub others: Vec<Other>,
    /// Why a header of several parts cannot be taken apart, and the way out.
    pub mixed: Option<(&'static str, &'static str)>,
    pub body: Stmt,
}

/// A further variable that a loop counts, as `j` in `for (i = 0, j = n; i < n; i++, j--)`.
#[derive(Clone, Debug)]
pub struct Other {
    /// As it is named where it is counted.
    pub variable: Expr,
    pub first: Expr,
    /// If the header declares it.
    pub declaration: Option<Declaration>,
    pub step: Expr,
}

/// The expressions right below one.
pub fn parts(kind: &ExprKind) -> Vec<&Expr> {
    match kind {
        ExprKind::Ident(_) | ExprKind::Int(..) | ExprKind::Float { .. } | ExprKind::Unsupported(_) => vec![],
        ExprKind::Call { args, .. } => args.iter().collect(),
        ExprKind::Comma(list) => list.iter().collect(),
        ExprKind::Unary(_, a) | ExprKind::Cast(_, a) | ExprKind::Step(_, a) => vec![a],
        ExprKind::Index(a, b) | ExprKind::Binary(_, a, b) | ExprKind::Assign(_, a, b) => vec![a, b],
        ExprKind::Conditional(a, b, c) => vec![a, b, c],
    }
}

/// The jumps of `goto` in a region, by the number of the label.
pub(crate) const GOTOS: [&str; 8] =
    ["`goto` 1", "`goto` 2", "`goto` 3", "`goto` 4", "`goto` 5", "`goto` 6", "`goto` 7", "`goto` 8"];

/// Whether a name is in an expression.
pub fn mentions(e: &Expr, name: &str) -> bool {
    matches!(&e.kind, ExprKind::Ident(n) if n == name)
        || parts(&e.kind).into_iter().any(|e| mentions(e, name))
}

/// What a comma expression is called where it has no place.
pub(crate) const COMMA: &str = "a comma expression";

/// What a `break` is called that stays one.
pub(crate) const BREAK: &str = "`break`";

/// What a `continue` is called that stays one.
pub(crate) const CONTINUE: &str = "`continue`";

/// What `s.x` and `p->x` are called where they are not understood.
pub const MEMBER: &str = "access to a member of a struct or union that is not understood";

/// What `p->x` is called where there is `p[i].x` as well: they may be one element.
pub(crate) const MIXED: &str = "`->` on a pointer that has subscripts elsewhere";
