//! Rules in the form in which they run: names are resolved, alternatives are expanded, the order of
//! matching is planned.
//!
//! Made by [`resolve`](crate::resolve); private to the crate.

use graph::Operator;

use crate::rule::{BinaryOp, ElementType, Fold, Function, Kind, OperatorClass, UnaryOp};

/// A rule that passed its checks.
#[derive(Clone, Debug)]
pub struct Compiled {
    /// Its name.
    pub name: String,
    /// One for each combination of alternatives, in order.
    pub(crate) variants: Vec<Variant>,
}

/// A rule without alternatives.
#[derive(Clone, Debug, Default)]
pub(crate) struct Variant {
    pub vertices: Vec<Vertex>,
    pub inputs: Vec<Input>,
    /// Index symbols; their slots in environments are their numbers.
    pub symbols: Vec<Symbol>,
    /// Number of slots of an environment.
    pub slots: usize,
    /// Operator variables.
    pub operators: Vec<Vec<OperatorClass>>,
    pub lets: Vec<Let>,
    pub constraints: Vec<Constraint>,
    /// Results that the target replaces, those of template vertices once.
    pub outputs: Vec<Output>,
    pub target: Vec<TargetBinding>,
    /// Number of memo cells of the target's calls.
    pub cells: usize,
    /// How to match from each output.
    pub plans: Vec<Plan>,
}

#[derive(Clone, Debug)]
pub(crate) struct Symbol {
    pub least: RExpr,
    /// Exclusive.
    pub below: Option<RExpr>,
    /// Whether the instances are the inputs of one call, so that this call says how many there are.
    pub spread: bool,
}

#[derive(Clone, Debug)]
pub(crate) struct Input {
    pub symbol: Option<usize>,
    pub optional: bool,
}

/// A call of the source pattern.
#[derive(Clone, Debug)]
pub(crate) struct Vertex {
    pub name: String,
    pub op: OpPattern,
    pub args: Vec<Arg>,
    /// The exact number of results, if the pattern says it.
    pub results: Option<usize>,
    pub symbol: Option<usize>,
    pub keep: bool,
}

#[derive(Clone, PartialEq, Debug)]
pub(crate) enum OpPattern {
    Named(Operator),
    Variable(usize),
}

#[derive(Clone, Debug)]
pub(crate) enum Arg {
    /// Anything that is there.
    Any,
    /// An input that may be absent.
    Optional(usize),
    Value(ValueRef),
    /// A constant with this value.
    Constant(RExpr),
    /// All instances of a value of a template.
    Instances(ValueRef, usize),
    /// All results of a call.
    Results(usize, Inst),
}

/// A value of the source pattern.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct ValueRef {
    pub what: What,
    pub inst: Inst,
}

#[derive(Clone, PartialEq, Debug)]
pub(crate) enum What {
    Input(usize),
    /// A result of a vertex.
    Result(usize, Item),
}

#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Item {
    Fixed(usize),
    Computed(Box<RExpr>),
}

/// Which instance of a template.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Inst {
    /// It is no template.
    Shared,
    /// That of the symbol in this slot.
    Slot(usize),
    /// This one.
    At(Box<RExpr>),
}

#[derive(Clone, Debug)]
pub(crate) struct Let {
    pub value: RExpr,
    /// Without free symbols: evaluated once for each match.
    pub closed: bool,
    pub deps: Deps,
}

#[derive(Clone, Debug)]
pub(crate) struct Constraint {
    pub what: Requirement,
    pub deps: Deps,
    /// As the rule has it.
    pub text: String,
}

#[derive(Clone, Debug)]
pub(crate) enum Requirement {
    Holds(RExpr),
    Attribute(usize, Inst, String, RExpr),
    /// All attributes of the first vertex are those of the second, except those named.
    Like(usize, Inst, usize, Inst, Vec<String>),
}

/// What an expression needs before it can be evaluated.
#[derive(Clone, Debug, Default)]
pub(crate) struct Deps {
    pub vertices: Vec<(usize, Inst)>,
    pub inputs: Vec<(usize, Inst)>,
    /// The index symbol that is free in it.
    pub symbol: Option<usize>,
    /// It refers to all instances, or to computed ones, so it waits until matching is complete.
    pub late: bool,
}

#[derive(Clone, Debug)]
pub(crate) struct Output {
    pub vertex: usize,
    pub item: usize,
}

/// From which output the match begins, and how the other outputs are found.
#[derive(Clone, Debug, Default)]
pub(crate) struct Plan {
    pub anchor: usize,
    /// Further vertices, each found forward from what is matched.
    pub stages: Vec<Stage>,
    /// For branches after the first: the vertices of one more instance of this symbol.
    pub branch: Option<Branch>,
    /// The anchor's operators, backward: for the discrimination tree.
    pub tests: Vec<Test>,
    /// Conditions on the anchor's inputs. They are tested first, because the tests are fast.
    pub needs: Vec<Need>,
}

/// What an input of the anchor must be.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Need {
    /// It has another use: another vertex of the match reads it too.
    Shared(usize),
    /// Its elements are at hand.
    Constant(usize),
}

#[derive(Clone, Debug)]
pub(crate) struct Branch {
    pub symbol: usize,
    pub stages: Vec<Stage>,
}

#[derive(Clone, Debug)]
pub(crate) struct Stage {
    /// The vertex to be found.
    pub vertex: usize,
    /// A value that is matched by now.
    pub start: ValueRef,
    /// The vertices on the way from there; the last is `vertex`.
    pub path: Vec<usize>,
}

/// The producer of input `slot` of the vertex found by test `parent` must be of this operator. The
/// first test is about the anchor itself.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Test {
    pub parent: usize,
    pub slot: usize,
    pub op: OpPattern,
}

/// A resolved attribute expression.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum RExpr {
    Int(i64),
    Float(f64),
    Str(String),
    Bool(bool),
    None,
    Type(ElementType),
    /// A symbol.
    Slot(usize),
    Let(usize),
    Attribute(usize, Inst, String),
    Property(Box<ValueRef>, Property),
    Operator(usize, Inst),
    Is(Box<ValueRef>, Kind),
    /// Number of instances.
    Instances(usize),
    /// Number of results of a vertex.
    Results(usize, Inst),
    Item(Box<RExpr>, Box<RExpr>),
    Slice(Box<RExpr>, Option<Box<RExpr>>, Option<Box<RExpr>>),
    Tuple(Vec<RExpr>),
    Unary(UnaryOp, Box<RExpr>),
    Binary(BinaryOp, Box<RExpr>, Box<RExpr>),
    If(Box<RExpr>, Box<RExpr>, Box<RExpr>),
    Call(Function, Vec<RExpr>),
    Map(Box<REach>),
    Fold(Fold, Box<REach>),
}

#[derive(Clone, PartialEq, Debug)]
pub(crate) struct REach {
    pub body: RExpr,
    pub slot: usize,
    pub over: Over,
    pub filter: Option<RExpr>,
}

#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Over {
    Tuple(RExpr),
    /// All instances of an index symbol.
    Symbol(usize),
}

/// Facts about a tensor.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Property {
    Shape,
    Rank,
    Type,
    Value,
    Size,
}

#[derive(Clone, Debug)]
pub(crate) struct TargetBinding {
    pub names: Vec<Option<TargetName>>,
    /// The index symbol of the names.
    pub symbol: Option<usize>,
    pub value: Target,
}

/// What a target binding defines.
#[derive(Clone, Debug)]
pub(crate) struct TargetName {
    /// Its number among the names of the target.
    pub local: usize,
    /// The result of the source that it replaces.
    pub replaces: Option<(usize, usize)>,
}

/// A pattern of the target.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Target {
    /// A value of the match.
    Matched(ValueRef),
    /// An input that may be absent.
    Optional(usize),
    /// A value of the target itself.
    Local(usize, Inst),
    /// All instances of one.
    Locals(usize),
    Constant(RExpr, Option<RExpr>),
    Call(Box<TargetCall>),
    Tuple(Vec<Target>),
    Item(Box<Target>, RExpr),
    /// All items, as arguments.
    Spread(Box<Target>),
    /// All instances of a matched value, as arguments.
    Instances(ValueRef, usize),
    If(RExpr, Box<Target>, Box<Target>),
}

#[derive(Clone, PartialEq, Debug)]
pub(crate) struct TargetCall {
    pub op: OpPattern,
    pub args: Vec<Target>,
    pub attributes: Vec<TargetAttribute>,
    /// Number of results that are asked for; at least as many are made.
    pub results: usize,
    /// Whether the number of results is known only when a spread requests it.
    pub cell: Option<usize>,
}

#[derive(Clone, PartialEq, Debug)]
pub(crate) enum TargetAttribute {
    Is(String, RExpr),
    Like(usize, Inst),
}
