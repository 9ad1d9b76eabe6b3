//! The data of a certificate, one to one as `proofs/Syntax.v` declares it. That file explains each
//! constructor.

/// An operation.
#[derive(Clone, PartialEq, Eq, Debug)]
#[allow(missing_docs)] // `Syntax.v` explains them, and the names are those of the operations
pub enum Op {
    Iadd,
    Isub,
    Imul,
    Idiv,
    Imod,
    Imin,
    Imax,
    Iwrap,
    Wadd,
    Wsub,
    Wmul,
    Wdiv,
    Ieq,
    Ine,
    Ilt,
    Ile,
    And,
    Or,
    Not,
    Select,
    /// An operation of which nothing is assumed, by name and type: `add.f32`, `f32.of.i64`.
    Scalar(String),
}

/// An expression of the loops, a size or a subscript.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Tm {
    /// The size or loop variable of this number.
    Var(u32),
    /// An integer.
    Int(i64),
    /// A constant that is no integer: its type and its bits.
    Lit(String),
    /// An operation.
    Op(Op, Vec<Tm>),
    /// A number of an array: components (`true` for the second of a pair) and subscripts.
    In(u32, Vec<bool>, Vec<Tm>),
}

/// The loops.
#[derive(Clone, PartialEq, Eq, Debug)]
#[allow(missing_docs)] // as in `Syntax.v`
pub enum Cmd {
    Skip,
    Seq(Box<Cmd>, Box<Cmd>),
    Assign { array: u32, components: Vec<bool>, subscripts: Vec<Tm>, value: Tm },
    Local(u32, Box<Cmd>),
    For { parallel: bool, var: u32, count: Tm, body: Box<Cmd> },
    If(Tm, Box<Cmd>, Box<Cmd>),
}

/// A view.
#[derive(Clone, PartialEq, Eq, Debug)]
#[allow(missing_docs)] // as in `Syntax.v`
pub enum View {
    Split(Tm),
    Join(Tm),
    Transpose,
    Reverse(Tm),
    Slide(Tm),
    Drop(Tm),
    PadClamp(Tm, Tm),
    Splat,
}

/// A hint: how the loops go through a reduction.
#[derive(Clone, PartialEq, Eq, Debug)]
#[allow(missing_docs)] // as in `Syntax.v`
pub enum Order {
    InOrder,
    Blocks(Tm, Tm),
    Tree(Tm, Tm, String),
    Lanes(Tm, Tm, String),
    Joined(Box<Order>),
    Turns,
    Strips(Tm, Tm),
}

/// What a certificate needs of an operation of two numbers.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Law {
    /// The order of the operands makes no difference.
    Commutes(String),
    /// Nor do brackets.
    Associates(String),
    /// A constant, by its text, in front changes nothing; and the operation.
    Neutral(String, String),
}

/// The tables of a value: components and extents of each.
pub type Shape = Vec<(Vec<bool>, Vec<Tm>)>;

/// A functional program.
#[derive(Clone, PartialEq, Eq, Debug)]
#[allow(missing_docs)] // as in `Syntax.v`
pub enum Exp {
    Var(u32),
    Size(Tm),
    Lit(String),
    Op(Op, Vec<Exp>),
    Select(Box<[Exp; 3]>),
    Pair(Box<[Exp; 2]>),
    Fst(Box<Exp>),
    Snd(Box<Exp>),
    Let(u32, Box<[Exp; 2]>),
    Map(u32, Box<[Exp; 2]>),
    /// Length, tables of the accumulator, order, element, accumulator; function, initial value,
    /// array.
    Reduce(Tm, Shape, Order, [u32; 2], Box<[Exp; 3]>),
    Scan(Tm, Shape, [u32; 2], Box<[Exp; 3]>),
    /// Steps, tables, whether the loops do two at a time, accumulator; function, initial value.
    Iterate(Tm, Shape, bool, u32, Box<[Exp; 2]>),
    Generate(u32, Box<Exp>),
    View(View, Box<Exp>),
    Pad(Tm, Tm, Box<[Exp; 2]>),
    Concat(Tm, Box<[Exp; 2]>),
    Gather(Box<[Exp; 2]>),
    Reorder(u32, Box<[Exp; 2]>),
    Idx(Box<[Exp; 2]>),
    /// Length of what is put, tables of the result; places, what was there, and what is put.
    Scatter(Tm, Shape, Box<[Exp; 3]>),
}

/// The type of a number.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Ty {
    /// A number or truth value, by the keyword of its type.
    Num(&'static str),
    /// An index below this.
    Below(Tm),
}

/// The type of a value: components, and type and extents of each.
pub type Tables = Vec<(Vec<bool>, Ty, Vec<Tm>)>;

/// An array as the loops declare it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ArrayType {
    /// Components with their types.
    pub components: Vec<(Vec<bool>, &'static str)>,
    /// Extents.
    pub extents: Vec<Tm>,
}

/// A functional program, the loops made of it, and how the two are tied together.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Certificate {
    /// The number of size parameters: they are the integers below.
    pub sizes: u32,
    /// Terms over the sizes that are at least 0.
    pub assume: Vec<Tm>,
    /// Sizes of which all that holds.
    pub example: Vec<i64>,
    /// Parameters of the program, and the types that it gives them.
    pub args: Vec<(u32, Tables)>,
    /// The type of its result.
    pub returns: Tables,
    /// The program.
    pub source: Exp,
    /// All arrays as the loops declare them, locals included.
    pub dims: Vec<(u32, ArrayType)>,
    /// The array that gets the result.
    pub out: u32,
    /// What the certificate needs of operations.
    pub laws: Vec<Law>,
    /// Parallel loops that update one number: their variable, and the constant that threads begin
    /// with.
    pub sums: Vec<(u32, Tm)>,
    /// The loops.
    pub target: Cmd,
    /// For readers: numbers and names of arrays, and of sizes and loop variables.
    pub names: Names,
}

/// What the numbers of a certificate stand for in the programs.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Names {
    /// Arrays.
    pub arrays: Vec<(u32, String)>,
    /// Sizes and loop variables.
    pub integers: Vec<(u32, String)>,
    /// Variables of the functional program.
    pub variables: Vec<(u32, String)>,
}

impl Certificate {
    /// Arrays of indices, and what their elements are below.
    pub fn indices(&self) -> impl Iterator<Item = (u32, &Tm)> {
        self.args.iter().filter_map(|(number, tables)| match &tables[..] {
            [(_, Ty::Below(n), _)] => Some((*number, n)),
            _ => None,
        })
    }
}

impl Law {
    /// Whether the law holds for addition and multiplication of floating-point numbers, minimum and
    /// maximum (except for the payload of a NaN).
    pub fn is_exact(&self) -> bool {
        matches!(self, Law::Commutes(_))
    }
}

impl std::fmt::Display for Law {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Law::Commutes(op) => write!(f, "{op} commutes"),
            Law::Associates(op) => write!(f, "{op} associates"),
            Law::Neutral(constant, op) => match super::print::decimal(constant) {
                Some(number) => write!(f, "{number} is neutral for {op}"),
                None => write!(f, "{constant} is neutral for {op}"),
            },
        }
    }
}

impl Op {
    /// An uninterpreted operation on a type.
    pub(super) fn named(name: &str, ty: &str) -> Op {
        Op::Scalar(format!("{name}.{ty}"))
    }
}
