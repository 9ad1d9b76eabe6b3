//! Schedule trees as plain values: every kind of node of the notes, with one textual form that
//! parses back.
//!
//! Sets, maps and functions inside a tree are held as text in the set library's notation, so that a
//! tree needs no context; they are read when an edit or code generation needs them. Equality is
//! that of the text.

mod convert;
mod tree_text;

use std::fmt;

use crate::fault::{self, Result};
use crate::model::{Model, Statement};

macro_rules! texts {
    ($($(#[$meta:meta])* $name:ident)*) => { $(
        $(#[$meta])*
        #[derive(Clone, PartialEq, Eq, Hash, Debug)]
        pub struct $name(String);

        impl $name {
            /// Holds the text; it is checked when it is used.
            pub fn new(text: impl Into<String>) -> Self {
                $name(text.into())
            }

            /// The text.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }
    )* };
}

texts! {
    /// A set in text: `[n] -> { S[i] : 0 <= i < n }`.
    SetText
    /// A map in text: `{ S[i] -> A[i] }`.
    MapText
    /// A function in text: `{ S[i, j] -> [(i)]; T[i] -> [(i)] }`.
    FunctionText
}

/// A schedule tree; the root is a domain (or extension) node.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Tree {
    /// The root.
    pub root: Node,
}

/// A node.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Node {
    /// The instances that the tree orders; only at the root.
    Domain {
        /// The instances.
        domain: SetText,
        /// What orders them.
        child: Box<Node>,
    },
    /// Introduces parameters and what is known of them.
    Context {
        /// The condition.
        context: SetText,
        /// Where it holds.
        child: Box<Node>,
    },
    /// A partial schedule: a nest of loops.
    Band(Band),
    /// Children one after the other.
    Sequence(Vec<Branch>),
    /// Children in any order.
    Set(Vec<Branch>),
    /// Restricts the instances.
    Filter(Branch),
    /// Anything worth a name: `kernel`, `parallel`, `vector`, `unroll`.
    Mark {
        /// The name.
        name: String,
        /// What is marked.
        child: Box<Node>,
    },
    /// Adds instances that the domain does not have.
    Extension {
        /// From the schedule above to the new instances.
        extension: MapText,
        /// What orders them.
        child: Box<Node>,
    },
    /// Groups of instances above, single instances below.
    Expansion {
        /// From single instances to groups.
        contraction: MapText,
        /// From groups to single instances.
        expansion: MapText,
        /// What orders them.
        child: Box<Node>,
    },
    /// A condition on sizes and outer loops under which the subtree is run.
    Guard {
        /// The condition.
        guard: SetText,
        /// Where it holds.
        child: Box<Node>,
    },
    /// The end.
    Leaf,
}

/// A child of a sequence or set: the instances that it has, and what orders them.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Branch {
    /// The instances.
    pub filter: SetText,
    /// What orders them.
    pub child: Box<Node>,
}

/// A band node: a nest of loops that belong together.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Band {
    /// The loops, outermost first.
    pub members: Vec<Member>,
    /// Whether all orders of the members are legal (and so tiling is).
    pub permutable: bool,
    /// The part that gets code of its own (full tiles): a set of `isolate[[outer] -> [members]]`.
    pub isolate: Option<SetText>,
    /// What is inside.
    pub child: Box<Node>,
}

/// One loop of a band.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Member {
    /// The value of the loop for each instance.
    pub function: FunctionText,
    /// Whether no dependence is carried by it.
    pub coincident: bool,
    /// How code is generated for it.
    pub code: LoopCode,
}

/// How code is generated for a loop.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum LoopCode {
    /// As comes.
    #[default]
    Default,
    /// One loop, with conditions inside if need be.
    Atomic,
    /// No loop: every iteration is written out.
    Unroll,
    /// Several loops, without conditions inside.
    Separate,
}

/// A path from the root: which child at each step.
pub type Path = Vec<usize>;

impl Node {
    /// The children.
    pub fn children(&self) -> Vec<&Node> {
        match self {
            Node::Domain { child, .. }
            | Node::Context { child, .. }
            | Node::Mark { child, .. }
            | Node::Extension { child, .. }
            | Node::Expansion { child, .. }
            | Node::Guard { child, .. } => vec![child],
            Node::Band(band) => vec![&band.child],
            Node::Filter(branch) => vec![&branch.child],
            Node::Sequence(branches) | Node::Set(branches) => branches.iter().map(|b| &*b.child).collect(),
            Node::Leaf => vec![],
        }
    }

    fn children_mut(&mut self) -> Vec<&mut Node> {
        match self {
            Node::Domain { child, .. }
            | Node::Context { child, .. }
            | Node::Mark { child, .. }
            | Node::Extension { child, .. }
            | Node::Expansion { child, .. }
            | Node::Guard { child, .. } => vec![child],
            Node::Band(band) => vec![&mut band.child],
            Node::Filter(branch) => vec![&mut branch.child],
            Node::Sequence(branches) | Node::Set(branches) => {
                branches.iter_mut().map(|b| &mut *b.child).collect()
            }
            Node::Leaf => vec![],
        }
    }

    /// What kind of node it is, as in the textual form.
    pub fn kind(&self) -> &'static str {
        match self {
            Node::Domain { .. } => "domain",
            Node::Context { .. } => "context",
            Node::Band(_) => "band",
            Node::Sequence(_) => "sequence",
            Node::Set(_) => "set",
            Node::Filter(_) => "filter",
            Node::Mark { .. } => "mark",
            Node::Extension { .. } => "extension",
            Node::Expansion { .. } => "expansion",
            Node::Guard { .. } => "guard",
            Node::Leaf => "leaf",
        }
    }

    /// The same node with other children.
    pub fn map_children(mut self, f: &mut dyn FnMut(Node) -> Node) -> Node {
        for child in self.children_mut() {
            let old = std::mem::replace(child, Node::Leaf);
            *child = f(old);
        }
        self
    }

    /// The same node with every node below rewritten, inner ones first, and then itself.
    pub fn rewrite(self, f: &mut dyn FnMut(Node) -> Result<Node>) -> Result<Node> {
        let mut node = self;
        for child in node.children_mut() {
            let old = std::mem::replace(child, Node::Leaf);
            *child = old.rewrite(f)?;
        }
        f(node)
    }
}

impl Tree {
    /// The node at a path.
    ///
    /// # Errors
    /// `P0202` if there is none.
    pub fn at(&self, path: &[usize]) -> Result<&Node> {
        let mut node = &self.root;
        for (depth, step) in path.iter().enumerate() {
            let children = node.children();
            let kind = node.kind();
            node = children.get(*step).copied().ok_or_else(|| {
                fault::edit(format!("the {kind} node at depth {depth} has no child number {step}"))
            })?;
        }
        Ok(node)
    }

    /// The tree with the node at a path replaced by what `f` makes of it.
    ///
    /// # Errors
    /// `P0202` if there is no such node; those of `f`.
    pub fn edit(&self, path: &[usize], f: &mut dyn FnMut(Node) -> Result<Node>) -> Result<Tree> {
        self.at(path)?;
        fn go(node: &mut Node, path: &[usize], f: &mut dyn FnMut(Node) -> Result<Node>) -> Result<()> {
            match path.split_first() {
                None => {
                    let old = std::mem::replace(node, Node::Leaf);
                    *node = f(old)?;
                    Ok(())
                }
                Some((step, rest)) => {
                    let mut children = node.children_mut();
                    go(children.swap_remove(*step), rest, f)
                }
            }
        }
        let mut tree = self.clone();
        go(&mut tree.root, path, f)?;
        Ok(tree)
    }

    /// The paths to all nodes for which `wanted` holds, outer ones first.
    pub fn find(&self, wanted: &dyn Fn(&Node) -> bool) -> Vec<Path> {
        fn go(node: &Node, path: &mut Path, wanted: &dyn Fn(&Node) -> bool, found: &mut Vec<Path>) {
            if wanted(node) {
                found.push(path.clone());
            }
            for (step, child) in node.children().into_iter().enumerate() {
                path.push(step);
                go(child, path, wanted, found);
                path.pop();
            }
        }
        let mut found = Vec::new();
        go(&self.root, &mut Vec::new(), wanted, &mut found);
        found
    }

    /// The schedule that a model has from the text of its function.
    ///
    /// # Errors
    /// Those of the set library.
    pub fn original(model: &Model) -> Result<Tree> {
        let domain = model.domain()?.intersect_params(&model.context).map_err(fault::library)?;
        let statements: Vec<&Statement> = model.statements.iter().collect();
        let child = Box::new(order(&statements, 0)?);
        Ok(Tree { root: Node::Domain { domain: SetText::new(domain.to_string()), child } })
    }
}

/// `S[i, j]` for a statement: its tuple with the names of its dimensions.
pub(crate) fn tuple(statement: &Statement) -> Result<(String, Vec<String>)> {
    let n = statement.loops.len();
    let names = (0..n)
        .map(|k| Ok(statement.domain.dim_name(isl::Dim::SET, k)?.unwrap_or_else(|| format!("i{k}"))))
        .collect::<isl::Result<Vec<_>>>()
        .map_err(fault::library)?;
    Ok((format!("{}[{}]", statement.tuple, names.join(", ")), names))
}

/// Orders statements that share the loops above `level`.
pub(crate) fn order(statements: &[&Statement], level: usize) -> Result<Node> {
    let mut groups: Vec<Vec<&Statement>> = Vec::new();
    for statement in statements {
        match groups.last_mut() {
            Some(group) if group[0].position[level] == statement.position[level] => group.push(statement),
            _ => groups.push(vec![statement]),
        }
    }
    let mut branches = groups
        .iter()
        .map(|group| {
            let tuples = group.iter().map(|s| Ok(tuple(s)?.0)).collect::<Result<Vec<_>>>()?;
            let filter = SetText::new(format!("{{ {} }}", tuples.join("; ")));
            if group[0].loops.len() == level {
                return Ok(Branch { filter, child: Box::new(Node::Leaf) });
            }
            let functions = group
                .iter()
                .map(|s| tuple(s).map(|(tuple, names)| format!("{tuple} -> [({})]", names[level])))
                .collect::<Result<Vec<_>>>()?;
            let function = FunctionText::new(format!("{{ {} }}", functions.join("; ")));
            let member = Member { function, coincident: false, code: LoopCode::Default };
            let child = Box::new(order(group, level + 1)?);
            let band = Band { members: vec![member], permutable: false, isolate: None, child };
            Ok(Branch { filter, child: Box::new(Node::Band(band)) })
        })
        .collect::<Result<Vec<_>>>()?;
    Ok(match branches.len() {
        0 => Node::Leaf,
        1 => *branches.remove(0).child,
        _ => Node::Sequence(branches),
    })
}

impl fmt::Display for Tree {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        tree_text::print(&self.root, f)
    }
}

impl std::str::FromStr for Tree {
    type Err = loops::Diagnostic;

    /// Reads the printed form back.
    fn from_str(text: &str) -> Result<Tree> {
        tree_text::parse(text)
    }
}
