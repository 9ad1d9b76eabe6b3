//! A small syntax tree of C99: the targets build it, and `crate::c_print` prints it.
//!
//! It has only what generated code uses. Types are text, because no target computes with them.
//! There is no parser and no checker.

/// An expression.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum CExpr {
    /// An identifier.
    Name(String),
    /// A literal, printed as it is.
    Literal(String),
    /// `array[index]`.
    Index(Box<CExpr>, Box<CExpr>),
    /// `value.member`.
    Member(Box<CExpr>, String),
    /// A prefix operation: `-`, `!`, `*`, `&`.
    Unary(&'static str, Box<CExpr>),
    /// An infix operation.
    Binary(&'static str, Box<CExpr>, Box<CExpr>),
    /// `condition ? then : else`.
    Ternary(Box<CExpr>, Box<CExpr>, Box<CExpr>),
    /// `function(arguments)`.
    Call(String, Vec<CExpr>),
    /// `(type)value`.
    Cast(String, Box<CExpr>),
}

impl CExpr {
    /// An identifier.
    pub fn name(text: impl Into<String>) -> CExpr {
        CExpr::Name(text.into())
    }

    /// A literal.
    pub fn literal(text: impl Into<String>) -> CExpr {
        CExpr::Literal(text.into())
    }

    /// An `int` literal or a larger one; a negative one is a negation.
    pub fn int(value: i64) -> CExpr {
        if value == i64::MIN {
            return CExpr::literal("INT64_MIN");
        }
        let magnitude = CExpr::literal(value.unsigned_abs().to_string());
        if value < 0 { CExpr::unary("-", magnitude) } else { magnitude }
    }

    /// A prefix operation.
    pub fn unary(op: &'static str, operand: CExpr) -> CExpr {
        CExpr::Unary(op, Box::new(operand))
    }

    /// An infix operation.
    pub fn binary(op: &'static str, left: CExpr, right: CExpr) -> CExpr {
        CExpr::Binary(op, Box::new(left), Box::new(right))
    }

    /// `array[index]`.
    pub fn index(array: CExpr, index: CExpr) -> CExpr {
        CExpr::Index(Box::new(array), Box::new(index))
    }

    /// `function(arguments)`.
    pub fn call(function: impl Into<String>, arguments: Vec<CExpr>) -> CExpr {
        CExpr::Call(function.into(), arguments)
    }

    /// Whether this is the literal 0.
    pub fn is_zero(&self) -> bool {
        matches!(self, CExpr::Literal(text) if text == "0")
    }

    /// Whether this is the literal 1.
    pub fn is_one(&self) -> bool {
        matches!(self, CExpr::Literal(text) if text == "1")
    }

    /// Calls `visit` on every identifier and called function.
    pub fn names(&self, visit: &mut dyn FnMut(&str)) {
        match self {
            CExpr::Name(name) => visit(name),
            CExpr::Literal(_) => {}
            CExpr::Index(a, b) | CExpr::Binary(_, a, b) => {
                a.names(visit);
                b.names(visit);
            }
            CExpr::Member(a, _) | CExpr::Unary(_, a) | CExpr::Cast(_, a) => a.names(visit),
            CExpr::Ternary(a, b, c) => {
                a.names(visit);
                b.names(visit);
                c.names(visit);
            }
            CExpr::Call(function, arguments) => {
                visit(function);
                arguments.iter().for_each(|a| a.names(visit));
            }
        }
    }
}

/// A statement.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum CStmt {
    /// `type name[dims] = init;`
    Declare {
        /// Type before the name, such as `float` or `float *`.
        ty: String,
        /// Name.
        name: String,
        /// Extents after the name.
        dims: Vec<CExpr>,
        /// Initial value.
        init: Option<CExpr>,
    },
    /// `target op value;` with `op` one of `=`, `+=`, `*=`.
    Assign(CExpr, &'static str, CExpr),
    /// `expression;`
    Expr(CExpr),
    /// `if (cond) { then } else { otherwise }`.
    If(CExpr, Vec<CStmt>, Vec<CStmt>),
    /// `for (type var = lower; var < upper; var += step) { body }`.
    For(CFor),
    /// `{ body }`, with a comment before it if there is one.
    Block(Option<String>, Vec<CStmt>),
    /// A line `#pragma text`.
    Pragma(String),
    /// `return value;`
    Return(Option<CExpr>),
    /// `break;`
    Break,
    /// `continue;`
    Continue,
}

/// A loop in OpenMP's canonical form.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct CFor {
    /// Type of the variable.
    pub ty: String,
    /// The variable.
    pub var: String,
    /// First value.
    pub lower: CExpr,
    /// Exclusive end.
    pub upper: CExpr,
    /// Stride, at least 1.
    pub step: CExpr,
    /// Body.
    pub body: Vec<CStmt>,
}

impl CStmt {
    /// Whether a pragma that begins with `prefix` is in the statement.
    pub(crate) fn has_pragma(&self, prefix: &str) -> bool {
        self.any(&|stmt| matches!(stmt, CStmt::Pragma(text) if text.starts_with(prefix)))
    }

    /// Whether the statement declares an array.
    pub(crate) fn declares_array(&self) -> bool {
        self.any(&|stmt| matches!(stmt, CStmt::Declare { dims, .. } if !dims.is_empty()))
    }

    /// Whether the statement defines a type.
    pub(crate) fn defines_type(&self) -> bool {
        self.any(&|stmt| matches!(stmt, CStmt::Declare { ty, .. } if ty.starts_with("typedef ")))
    }

    /// Whether `holds` of the statement or of one inside it.
    fn any(&self, holds: &dyn Fn(&CStmt) -> bool) -> bool {
        let inside = |body: &[CStmt]| body.iter().any(|s| s.any(holds));
        holds(self)
            || match self {
                CStmt::If(_, then, otherwise) => inside(then) || inside(otherwise),
                CStmt::For(f) => inside(&f.body),
                CStmt::Block(_, body) => inside(body),
                _ => false,
            }
    }

    /// Whether a pragma in the statement has the word in it.
    pub(crate) fn pragma_mentions(&self, word: &str) -> bool {
        self.any(&|stmt| matches!(stmt, CStmt::Pragma(text) if text.contains(word)))
    }

    /// Calls `visit` on every identifier that an expression of the statement mentions (declared
    /// names are not mentions).
    pub fn names(&self, visit: &mut dyn FnMut(&str)) {
        match self {
            CStmt::Declare { dims, init, .. } => dims.iter().chain(init).for_each(|e| e.names(visit)),
            CStmt::Assign(target, _, value) => {
                target.names(visit);
                value.names(visit);
            }
            CStmt::Expr(e) | CStmt::Return(Some(e)) => e.names(visit),
            CStmt::If(cond, then, otherwise) => {
                cond.names(visit);
                then.iter().chain(otherwise).for_each(|s| s.names(visit));
            }
            CStmt::For(f) => {
                f.lower.names(visit);
                f.upper.names(visit);
                f.step.names(visit);
                f.body.iter().for_each(|s| s.names(visit));
            }
            CStmt::Block(_, body) => body.iter().for_each(|s| s.names(visit)),
            CStmt::Pragma(_) | CStmt::Return(None) | CStmt::Break | CStmt::Continue => {}
        }
    }
}

/// A function parameter: the type as text that ends before the name, then the name with what
/// follows it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct CParam {
    /// Type before the name, such as `const float *restrict`.
    pub ty: String,
    /// Name.
    pub name: String,
    /// Extents after the name.
    pub dims: Vec<CExpr>,
}

/// A function definition.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct CFunction {
    /// Lines of the comment above it.
    pub comment: Vec<String>,
    /// Type of the result, with `static` where wanted.
    pub result: String,
    /// Name.
    pub name: String,
    /// Parameters.
    pub params: Vec<CParam>,
    /// Body.
    pub body: Vec<CStmt>,
}
