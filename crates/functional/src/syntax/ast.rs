//! The surface tree that the parser builds and inference reads. Every node has its place in the
//! source.
//!
//! Parentheses are not kept: the formatter works on tokens.

use loops::{Name, Scalar, Span, Value};

/// A name with its place.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Ident {
    /// The name.
    pub name: Name,
    /// Where.
    pub span: Span,
}

/// One file: its items in order.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Module {
    /// `import "file"`, with the place of the text.
    pub imports: Vec<Import>,
    /// `type name sizes = type`.
    pub types: Vec<TypeDef>,
    /// `def ...`.
    pub defs: Vec<Def>,
    /// `strategy name = ...`.
    pub strategies: Vec<StrategyText>,
    /// `rule name: left -> right`.
    pub rules: Vec<RuleDef>,
}

/// An import of another file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Import {
    /// The file as written.
    pub path: String,
    /// Where it is written.
    pub span: Span,
}

/// A type abbreviation.
#[derive(Clone, PartialEq, Debug)]
pub struct TypeDef {
    /// Its name.
    pub name: Ident,
    /// Its size parameters.
    pub sizes: Vec<Ident>,
    /// What it stands for.
    pub body: Type,
}

/// A strategy whose text another module reads.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct StrategyText {
    /// Its name.
    pub name: Ident,
    /// The text after `=`, comments included.
    pub text: String,
    /// Where that text stands.
    pub span: Span,
}

/// A definition.
#[derive(Clone, PartialEq, Debug)]
pub struct Def {
    /// Its name.
    pub name: Ident,
    /// Size parameters in order, those in brackets and those that are arguments.
    pub sizes: Vec<Ident>,
    /// The size parameters that callers write as arguments: `(k: size)`.
    pub explicit: Vec<Ident>,
    /// Type parameters in order.
    pub types: Vec<TypeParam>,
    /// Value and function parameters in order.
    pub params: Vec<Param>,
    /// The result's type, where it is written.
    pub result: Option<Type>,
    /// What callers guarantee.
    pub facts: Vec<FactExpr>,
    /// The body.
    pub body: Expr,
    /// The whole definition.
    pub span: Span,
    /// The comment lines right above it, without `--`.
    pub doc: String,
}

/// A rewrite rule.
#[derive(Clone, PartialEq, Debug)]
pub struct RuleDef {
    /// Its name.
    pub name: Ident,
    /// Sizes that strategies give: `rule blocks(k): ...`.
    pub params: Vec<Ident>,
    /// Sizes that the left side decides, where they are declared.
    pub sizes: Vec<Ident>,
    /// Type parameters, where they are declared.
    pub types: Vec<TypeParam>,
    /// Variables whose type is written.
    pub vars: Vec<Param>,
    /// Whether it may change the order of floating-point operations.
    pub reassociate: bool,
    /// What is replaced.
    pub left: Expr,
    /// By what.
    pub right: Expr,
    /// What must be known of the sizes.
    pub facts: Vec<FactExpr>,
    /// The whole rule.
    pub span: Span,
    /// The comment lines right above it, without `--`.
    pub doc: String,
}

/// A type parameter `{t: num}`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TypeParam {
    /// Its name.
    pub name: Ident,
    /// The constraint, where there is one.
    pub class: Option<Ident>,
}

/// A parameter.
#[derive(Clone, PartialEq, Debug)]
pub struct Param {
    /// Its name.
    pub name: Ident,
    /// Its type.
    pub ty: Type,
}

/// A relation between sizes after `where`.
#[derive(Clone, PartialEq, Debug)]
pub struct FactExpr {
    /// One of `== <= >= < >`.
    pub relation: BinOp,
    /// Left side.
    pub left: Expr,
    /// Right side.
    pub right: Expr,
    /// Where.
    pub span: Span,
}

/// A type as written.
#[derive(Clone, PartialEq, Debug)]
pub struct Type {
    /// Its form.
    pub kind: TypeKind,
    /// Where.
    pub span: Span,
    /// Levels of nesting.
    pub depth: u32,
}

/// Forms of types.
#[derive(Clone, PartialEq, Debug)]
pub enum TypeKind {
    /// `f32` and the like.
    Scalar(Scalar),
    /// A type parameter, or an abbreviation with its sizes.
    Name(Ident, Vec<Expr>),
    /// `idx n`.
    Idx(Box<Expr>),
    /// `[n]t`.
    Array(Box<Expr>, Box<Type>),
    /// `(s, t)`.
    Pair(Box<Type>, Box<Type>),
    /// `{x: s, y: t}`: a record; only behind `type name =`.
    Record(Vec<(Ident, Type)>),
    /// `vec k t`.
    Vector(Box<Expr>, Box<Type>),
    /// `s -> t`.
    Fun(Box<Type>, Box<Type>),
    /// `{k} -> t`: an explicit size argument; only in the table of primitives.
    SizeFun(Ident, Box<Type>),
    /// What could not be read. An error was reported.
    Error,
}

/// An expression.
#[derive(Clone, PartialEq, Debug)]
pub struct Expr {
    /// Its form.
    pub kind: ExprKind,
    /// Where.
    pub span: Span,
    /// Levels of nesting: 1 for a leaf.
    pub depth: u32,
}

/// Forms of expressions.
#[derive(Clone, PartialEq, Debug)]
pub enum ExprKind {
    /// A name.
    Name(Name),
    /// A number.
    Number(Number),
    /// `true` or `false`.
    Bool(bool),
    /// `_`: a size to be inferred.
    Hole,
    /// `f x y`.
    Apply(Box<Expr>, Vec<Expr>),
    /// `x |> f a`, which is `f a x`.
    Pipe(Box<Expr>, Box<Expr>),
    /// `\p q -> e`.
    Lambda(Vec<Pattern>, Box<Expr>),
    /// `let p: t = e in e`.
    Let(Box<Pattern>, Option<Type>, Box<Expr>, Box<Expr>),
    /// `if c then a else b`.
    If(Box<Expr>, Box<Expr>, Box<Expr>),
    /// `a + b`.
    Binary(BinOp, Box<Expr>, Box<Expr>),
    /// `a + b - c ...`, operators of one precedence from the left, where there are many. So the
    /// tree is not as deep as the sum is long.
    Chain(Box<Expr>, Vec<(BinOp, Expr)>),
    /// `-a`, `!a`.
    Unary(UnOp, Box<Expr>),
    /// `(+)`.
    Section(BinOp),
    /// `a[i, j]`.
    Index(Box<Expr>, Vec<Expr>),
    /// `(a, b)`; more than two nest to the right.
    Tuple(Vec<Expr>),
    /// `{x = a, y = b}`: a record; `{x = a, ..r}`: the record `r` with another `x`.
    Record(Vec<(Ident, Expr)>, Option<Box<Expr>>),
    /// `r.x`: a field of a record.
    Field(Box<Expr>, Ident),
    /// `[a, b]`: an array of its elements.
    Array(Vec<Expr>),
    /// `x ^ 3`.
    Power(Box<Expr>, u32),
    /// `(e : t)`.
    Ascribe(Box<Expr>, Type),
    /// What could not be read. An error was reported.
    Error,
}

/// A number as written.
#[derive(Clone, PartialEq, Debug)]
pub struct Number {
    /// The value.
    pub value: NumberValue,
    /// The suffix.
    pub suffix: Option<Scalar>,
}

/// What is wrong with a whole number that a floating-point type can only round.
pub(crate) const INEXACT: &str = "would be rounded";

/// Whether an integer is one of a type; all are, where the type has none.
pub(crate) fn holds(scalar: Scalar, value: i128) -> bool {
    let whole = |bound: Option<Value>| match bound {
        Some(Value::U64(v)) => Some(i128::from(v)),
        Some(bound) => match bound.cast(Scalar::I64) {
            Value::I64(v) => Some(i128::from(v)),
            _ => None,
        },
        None => None,
    };
    match (whole(Value::extreme(scalar, false)), whole(Value::extreme(scalar, true))) {
        (Some(least), Some(greatest)) => (least..=greatest).contains(&value),
        _ => true,
    }
}

/// The value of a number.
#[derive(Clone, PartialEq, Debug)]
pub enum NumberValue {
    /// Without a fraction or exponent; its sign is part of it.
    Int(i128),
    /// A number with a fraction or exponent: sign and digits. It is rounded once, to the type that
    /// inference finds.
    Float(String),
}

impl NumberValue {
    /// Why a type cannot represent a number of this text: it is out of range, becomes infinite, or
    /// becomes 0 though it is not 0, or a whole number is between two of the type. A number with a
    /// fraction or an exponent between two of the type becomes the nearest.
    pub fn misfit(&self, scalar: Scalar) -> Option<&'static str> {
        let text = match self {
            NumberValue::Int(value) => {
                let fits = match scalar {
                    Scalar::F32 if (*value as f32) as i128 != *value => return Some(INEXACT),
                    Scalar::F64 if (*value as f64) as i128 != *value => return Some(INEXACT),
                    _ => holds(scalar, *value),
                };
                return (!fits).then_some("too large");
            }
            NumberValue::Float(text) => text,
        };
        let value = match scalar {
            Scalar::F32 => f64::from(text.parse::<f32>().ok()?),
            Scalar::F64 => text.parse::<f64>().ok()?,
            _ => return None,
        };
        let digits = text.split(['e', 'E']).next().unwrap_or_default();
        if value.is_infinite() && digits.contains(|c: char| c.is_ascii_digit()) {
            Some("too large")
        } else if value == 0.0 && digits.contains(|c| ('1'..='9').contains(&c)) {
            Some("too small")
        } else {
            None
        }
    }
}

impl std::fmt::Display for NumberValue {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            NumberValue::Int(value) => value.fmt(f),
            NumberValue::Float(text) => f.write_str(text),
        }
    }
}

/// A pattern.
#[derive(Clone, PartialEq, Debug)]
pub enum Pattern {
    /// A variable.
    Name(Ident),
    /// `_`.
    Ignore(Span),
    /// `(p, q)`; more than two nest to the right.
    Tuple(Vec<Pattern>, Span),
    /// `{x, y = p}`: fields of a record; `x` is `x = x`.
    Record(Vec<(Ident, Pattern)>, Span),
}

impl Pattern {
    /// Where it stands.
    pub fn span(&self) -> Span {
        match self {
            Pattern::Name(ident) => ident.span,
            Pattern::Ignore(span) | Pattern::Tuple(_, span) | Pattern::Record(_, span) => *span,
        }
    }
}

/// Prefix operators.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum UnOp {
    /// `-`.
    Neg,
    /// `!`.
    Not,
}

/// Infix operators.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum BinOp {
    /// `+`.
    Add,
    /// `-`.
    Sub,
    /// `*`.
    Mul,
    /// `/`.
    Div,
    /// `%`.
    Mod,
    /// `==`.
    Eq,
    /// `!=`.
    Ne,
    /// `<`.
    Lt,
    /// `<=`.
    Le,
    /// `>`.
    Gt,
    /// `>=`.
    Ge,
    /// `&&`.
    And,
    /// `||`.
    Or,
}

impl BinOp {
    /// All operators.
    pub const ALL: [BinOp; 13] = [
        BinOp::Add,
        BinOp::Sub,
        BinOp::Mul,
        BinOp::Div,
        BinOp::Mod,
        BinOp::Eq,
        BinOp::Ne,
        BinOp::Lt,
        BinOp::Le,
        BinOp::Gt,
        BinOp::Ge,
        BinOp::And,
        BinOp::Or,
    ];

    /// As it is written.
    pub fn symbol(self) -> &'static str {
        match self {
            BinOp::Add => "+",
            BinOp::Sub => "-",
            BinOp::Mul => "*",
            BinOp::Div => "/",
            BinOp::Mod => "%",
            BinOp::Eq => "==",
            BinOp::Ne => "!=",
            BinOp::Lt => "<",
            BinOp::Le => "<=",
            BinOp::Gt => ">",
            BinOp::Ge => ">=",
            BinOp::And => "&&",
            BinOp::Or => "||",
        }
    }

    /// The operator that is written like this.
    pub(crate) fn from_symbol(symbol: &str) -> Option<BinOp> {
        BinOp::ALL.into_iter().find(|op| op.symbol() == symbol)
    }

    /// How tightly it binds: more is tighter; `|>` is 1, a power 7, application 8, indexing 9.
    pub fn precedence(self) -> u8 {
        match self {
            BinOp::Or => 2,
            BinOp::And => 3,
            BinOp::Eq | BinOp::Ne | BinOp::Lt | BinOp::Le | BinOp::Gt | BinOp::Ge => 4,
            BinOp::Add | BinOp::Sub => 5,
            BinOp::Mul | BinOp::Div | BinOp::Mod => 6,
        }
    }

    /// Whether it is one of `+ - * / %`.
    pub fn is_arithmetic(self) -> bool {
        self.precedence() > BinOp::Eq.precedence()
    }

    /// The primitive that it stands for.
    pub fn prim(self) -> crate::Prim {
        use crate::Prim;
        match self {
            BinOp::Add => Prim::Add,
            BinOp::Sub => Prim::Sub,
            BinOp::Mul => Prim::Mul,
            BinOp::Div => Prim::Div,
            BinOp::Mod => Prim::Mod,
            BinOp::Eq => Prim::Eq,
            BinOp::Ne => Prim::Ne,
            BinOp::Lt => Prim::Lt,
            BinOp::Le => Prim::Le,
            BinOp::Gt => Prim::Gt,
            BinOp::Ge => Prim::Ge,
            BinOp::And => Prim::And,
            BinOp::Or => Prim::Or,
        }
    }
}
