//! The values of the language: rules, patterns, attribute expressions.
//!
//! This is the whole language on one page. Values are plain: they are built by the parser or
//! directly, and compared, printed and parsed without a context. A [`Place`] says where a part
//! stands in its text. Comparisons ignore it.

use loops::Span;

/// The position of something in its text, if it comes from one. All places compare as equal, so
/// that comparisons ignore them.
#[derive(Clone, Copy, Debug, Default)]
pub struct Place(pub Span);

impl PartialEq for Place {
    fn eq(&self, _: &Place) -> bool {
        true
    }
}

impl Eq for Place {}

/// A rule file: rules in the order in which they are tried.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct RuleFile {
    /// The rules.
    pub rules: Vec<Rule>,
    /// Comments behind the last rule, without their `#`.
    pub comments: Vec<String>,
}

/// A substitution: a source pattern, its conditions, and the target that replaces it.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Rule {
    /// Comment lines above the rule, without their `#`.
    pub comments: Vec<String>,
    /// Its name.
    pub name: String,
    /// Where the name stands.
    pub place: Place,
    /// Index symbols of variadic parts: `[i: 2..]`.
    pub indices: Vec<Index>,
    /// Operator variables: `(f: elementwise)`.
    pub operators: Vec<OperatorVariable>,
    /// The rule claims something for finite values only (`for finite`). Both sides may differ if
    /// something is NaN or infinite, or overflows in between.
    pub finite: bool,
    /// The source pattern: named calls.
    pub source: Vec<Line<Binding>>,
    /// Matched vertices that stay.
    pub keep: Vec<Name>,
    /// Conditions, and names for attribute expressions.
    pub conditions: Vec<Line<Clause>>,
    /// The target: new vertices; those that have the name of a source vertex replace its results.
    pub target: Vec<Line<Action>>,
}

/// A statement with its comments.
#[derive(Clone, PartialEq, Debug)]
pub struct Line<T> {
    /// Comment lines above, without their `#`.
    pub comments: Vec<String>,
    /// The statement.
    pub value: T,
    /// The comment behind it on its line.
    pub trailing: Option<String>,
}

impl<T> Line<T> {}

/// A name with its place.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Name {
    /// The name.
    pub text: String,
    /// Where it stands.
    pub place: Place,
}

/// An index symbol: parts that carry it are instantiated once for each branch.
#[derive(Clone, PartialEq, Debug)]
pub struct Index {
    /// The symbol.
    pub name: Name,
    /// How many branches there must be.
    pub count: Count,
}

/// The number of branches of a variadic part.
#[derive(Clone, PartialEq, Debug)]
pub enum Count {
    /// `2..`: as many as there are, at least this number.
    AtLeast(Expr),
    /// `2..9`: as many as there are, at least the first number and fewer than the second.
    Between(Expr, Expr),
    /// `4`: exactly this number.
    Exactly(Expr),
}

/// A variable that stands for one operator of a class in all its calls.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct OperatorVariable {
    /// The variable.
    pub name: Name,
    /// What it may stand for: any of these.
    pub class: Vec<OperatorClass>,
}

/// A set of operators.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum OperatorClass {
    /// All operators with a trait.
    Trait(Trait, Place),
    /// One operator.
    Named(OperatorName),
}

/// Properties of operators that patterns can ask for.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Trait {
    /// One input tensor. Each element of the result depends on the element at its position: `Relu`,
    /// `Exp`.
    Elementwise,
    /// Element by element over inputs that are broadcast: `Add`, `Where`.
    Broadcasting,
    /// Any operator.
    Any,
}

impl Trait {
    /// All, with their names in rules.
    pub const ALL: [(&'static str, Trait); 3] =
        [("elementwise", Trait::Elementwise), ("broadcasting", Trait::Broadcasting), ("any", Trait::Any)];

    /// Its name in rules.
    pub fn name(self) -> &'static str {
        Trait::ALL.iter().find(|(_, t)| *t == self).map_or("any", |(n, _)| n)
    }
}

/// The name of an operator: `Conv`, `com.microsoft.Gelu`; or of an operator variable.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct OperatorName {
    /// Its domain; empty for the standard operators.
    pub domain: String,
    /// The name.
    pub name: String,
    /// Where it stands.
    pub place: Place,
}

/// `name`, `name[i]`, `name[0]`: a vertex, an input or an item, with the instance or item that is
/// meant.
#[derive(Clone, PartialEq, Debug)]
pub struct Var {
    /// The name.
    pub name: Name,
    /// The instance of a template, or the item of a call with several outputs.
    pub index: Option<Box<Expr>>,
}

/// `y = PATTERN` or `(a, _, b) = PATTERN`.
#[derive(Clone, PartialEq, Debug)]
pub struct Binding {
    /// One name, or in brackets one for each output; `None` is `_`.
    pub names: Vec<Option<Var>>,
    /// Whether the names stand in brackets.
    pub tuple: bool,
    /// What they name.
    pub pattern: Pattern,
}

/// A pattern. Those marked *target* occur only after `replace`, those marked *source* only after
/// `match`.
#[derive(Clone, PartialEq, Debug)]
pub enum Pattern {
    /// `_`: anything; each is a different input (source).
    Wildcard(Place),
    /// A name: an input, or the result of a named vertex.
    Ref(Var),
    /// `b?`: an input that may be absent.
    Optional(Name),
    /// A constant: in the source a tensor whose value is the expression's, in the target a new
    /// constant (type optional).
    Constant {
        /// Its value.
        value: Expr,
        /// Its element type.
        ty: Option<Expr>,
        /// Whether it is written `const(…)`; a plain number or `[…]` otherwise.
        long: bool,
        /// Where it stands.
        place: Place,
    },
    /// A call.
    Call(Call),
    /// `(a, b)`: several results as one value; given to a call, its parts are arguments.
    Tuple(Vec<Pattern>, Place),
    /// `p[i]`: an item of a tuple or output `i` of a call.
    Item(Box<Pattern>, Box<Expr>),
    /// `p[*]`: all items, or the results of all instances, as arguments.
    Spread(Box<Pattern>, Place),
    /// `p | q`: the first that matches (source).
    Either(Vec<Pattern>, Place),
    /// `if c then p else q` (target).
    If(Box<Expr>, Box<Pattern>, Box<Pattern>, Place),
    /// `case y { p | q }`: by which alternative of `y` was taken (target).
    Case(Var, Vec<Pattern>, Place),
}

/// A call of an operator.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Call {
    /// The operator, or an operator variable.
    pub operator: OperatorName,
    /// Whether the two inputs may come in either order (source).
    pub either: bool,
    /// Its inputs.
    pub arguments: Vec<Pattern>,
    /// Its attributes: conditions in the source, values in the target.
    pub attributes: Vec<AttributeItem>,
    /// Where it stands, name to closing bracket.
    pub place: Place,
}

/// One item between the braces of a call.
#[derive(Clone, PartialEq, Debug)]
pub enum AttributeItem {
    /// `name: value`.
    Is(Name, Expr),
    /// `..y`: all attributes are those of `y`; later items override.
    Like(Var),
}

/// A statement behind `where`.
#[derive(Clone, PartialEq, Debug)]
pub enum Clause {
    /// A condition.
    Require(Expr),
    /// `let name = value`, evaluated once for each match.
    Let(Name, Expr),
}

/// A statement behind `replace`.
#[derive(Clone, PartialEq, Debug)]
pub enum Action {
    /// A new vertex.
    Bind(Binding),
    /// `let name = value`.
    Let(Name, Expr),
}

/// An attribute expression.
#[derive(Clone, PartialEq, Debug)]
pub struct Expr {
    /// What it is.
    pub kind: ExprKind,
    /// Where it stands.
    pub place: Place,
}

/// Kinds of attribute expressions.
#[derive(Clone, PartialEq, Debug)]
pub enum ExprKind {
    /// An integer.
    Int(i64),
    /// A floating-point number.
    Float(f64),
    /// A string.
    Str(String),
    /// `true`, `false`.
    Bool(bool),
    /// `none`: an attribute or an input that is absent.
    None,
    /// An element type: `float32`.
    Type(ElementType),
    /// A symbol, a `let`, a vertex or an input.
    Name(String),
    /// `e.name`: an attribute of a vertex, or `shape`, `rank`, `type`, `value`, `size`, `op`.
    Field(Box<Expr>, Name),
    /// `e[k]`: an item of a tuple, or an instance of a template; counted from the end if negative.
    Item(Box<Expr>, Box<Expr>),
    /// `e[a..b]`.
    Slice(Box<Expr>, Option<Box<Expr>>, Option<Box<Expr>>),
    /// `[a, b]`.
    Tuple(Vec<Expr>),
    /// `-e`, `not e`.
    Unary(UnaryOp, Box<Expr>),
    /// `a + b`.
    Binary(BinaryOp, Box<Expr>, Box<Expr>),
    /// `if c then a else b`.
    If(Box<Expr>, Box<Expr>, Box<Expr>),
    /// `f(a, b)`.
    Call(Function, Vec<Expr>),
    /// `[e for v in t]`, `[e for i]`: a tuple, item by item.
    Map(Box<Each>),
    /// `sum(e for v in t)`: a tuple, folded.
    Fold(Fold, Box<Each>),
    /// `x is parameter`.
    Is(Box<Expr>, Kind),
}

/// `e for v in t`, `e for v in t if c`, or `e for i` over the instances of an index symbol.
#[derive(Clone, PartialEq, Debug)]
pub struct Each {
    /// The expression.
    pub body: Expr,
    /// The symbol that it binds.
    pub symbol: Name,
    /// The tuple; `None`: all values of the index symbol.
    pub over: Option<Expr>,
    /// Which items are taken; `None`: all.
    pub filter: Option<Expr>,
}

/// Defines an enumeration with the spelling of each member.
macro_rules! spelled {
    ($(#[$meta:meta])* $name:ident { $($(#[$m:meta])* $member:ident = $text:literal,)* }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        pub enum $name { $($(#[$m])* $member,)* }

        impl $name {
            /// All members.
            pub const ALL: &'static [$name] = &[$($name::$member,)*];

            /// How it is written.
            pub fn text(self) -> &'static str {
                match self { $($name::$member => $text,)* }
            }

            /// The member that is written so.
            pub fn parse(text: &str) -> Option<$name> {
                match text { $($text => Some($name::$member),)* _ => None }
            }
        }
    };
}

spelled! {
    /// Element types of tensors.
    ElementType {
        /// IEEE 754 binary16.
        Float16 = "float16",
        /// IEEE 754 binary32.
        Float32 = "float32",
        /// IEEE 754 binary64.
        Float64 = "float64",
        /// The upper half of binary32.
        Bfloat16 = "bfloat16",
        /// 8 bits, signed.
        Int8 = "int8",
        /// 16 bits, signed.
        Int16 = "int16",
        /// 32 bits, signed.
        Int32 = "int32",
        /// 64 bits, signed.
        Int64 = "int64",
        /// 8 bits.
        Uint8 = "uint8",
        /// 16 bits.
        Uint16 = "uint16",
        /// 32 bits.
        Uint32 = "uint32",
        /// 64 bits.
        Uint64 = "uint64",
        /// True or false.
        Bool = "bool",
        /// Text.
        String = "string",
    }
}

spelled! {
    /// Unary operators.
    UnaryOp {
        /// Negation.
        Neg = "-",
        /// Logical negation.
        Not = "not",
    }
}

spelled! {
    /// Binary operators.
    BinaryOp {
        /// Either; the second is looked at only if the first is false.
        Or = "or",
        /// Both; the second is looked at only if the first is true.
        And = "and",
        /// Equality, of any two values.
        Eq = "==",
        /// Inequality.
        Ne = "!=",
        /// Less.
        Lt = "<",
        /// At most.
        Le = "<=",
        /// Greater.
        Gt = ">",
        /// At least.
        Ge = ">=",
        /// Membership in a tuple.
        In = "in",
        /// Tuples joined.
        Join = "++",
        /// Sum; of tuples item by item.
        Add = "+",
        /// Difference.
        Sub = "-",
        /// Product.
        Mul = "*",
        /// Quotient of floating-point numbers.
        Div = "/",
        /// Quotient of integers, rounded down.
        FloorDiv = "//",
        /// Remainder of `//`.
        Mod = "%",
    }
}

impl BinaryOp {
    /// The precedence: a greater number binds tighter. All operators associate to the left.
    /// Comparisons do not chain.
    pub fn precedence(self) -> u8 {
        match self {
            BinaryOp::Or => 1,
            BinaryOp::And => 2,
            BinaryOp::Eq
            | BinaryOp::Ne
            | BinaryOp::Lt
            | BinaryOp::Le
            | BinaryOp::Gt
            | BinaryOp::Ge
            | BinaryOp::In => 4,
            BinaryOp::Join => 5,
            BinaryOp::Add | BinaryOp::Sub => 6,
            BinaryOp::Mul | BinaryOp::Div | BinaryOp::FloorDiv | BinaryOp::Mod => 7,
        }
    }
}

spelled! {
    /// Functions of attribute expressions.
    Function {
        /// The number of items of a tuple, or of instances of a template.
        Len = "len",
        /// `range(n)`, `range(a, b)`: the integers from 0 or `a` up to the last, which is excluded.
        Range = "range",
        /// A tuple backwards.
        Reverse = "reverse",
        /// Tuples of the items at the same places.
        Zip = "zip",
        /// The least of its arguments, or of a tuple.
        Min = "min",
        /// The greatest of its arguments, or of a tuple.
        Max = "max",
        /// The sum of a tuple.
        Sum = "sum",
        /// The product of a tuple.
        Product = "product",
        /// Whether all of a tuple are true.
        All = "all",
        /// Whether one of a tuple is true.
        Any = "any",
        /// The magnitude.
        Abs = "abs",
        /// The items in ascending order.
        Sort = "sort",
        /// The square root.
        Sqrt = "sqrt",
        /// `remap(from, to)`: where each axis of layout `to` stands in layout `from`:
        /// `remap("NCHW", "NHWC") == [0, 2, 3, 1]`.
        Remap = "remap",
        /// An integer as a floating-point number, or a number rounded towards zero.
        Float = "float",
        /// A number rounded towards zero.
        Int = "int",
    }
}

impl Function {
    /// The least and the greatest number of arguments.
    pub fn arity(self) -> (usize, usize) {
        match self {
            Function::Range => (1, 2),
            Function::Zip => (2, 8),
            Function::Min | Function::Max => (1, 16),
            Function::Remap => (2, 2),
            _ => (1, 1),
        }
    }
}

spelled! {
    /// Foldings of a tuple.
    Fold {
        /// Their sum.
        Sum = "sum",
        /// Their product.
        Product = "product",
        /// The least.
        Min = "min",
        /// The greatest.
        Max = "max",
        /// Whether all are true.
        All = "all",
        /// Whether one is true.
        Any = "any",
        /// The tuples, joined.
        Join = "join",
    }
}

spelled! {
    /// What a tensor can be asked to be.
    Kind {
        /// It depends on initializers and constants only.
        Parameter = "parameter",
        /// Its value is known now: an initializer or a constant.
        Constant = "constant",
        /// It depends on an input of the graph.
        Variable = "variable",
        /// An input of the graph.
        Input = "input",
        /// An optional input that is there.
        Present = "present",
        /// An optional input that is not there.
        Absent = "absent",
    }
}
