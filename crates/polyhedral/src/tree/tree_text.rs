//! The textual form of schedule trees: one node a line, a chain of single children without
//! indentation, branches indented.
//!
//! ```text
//! domain [n] -> { S[i] : 0 <= i < n; T[i] : 0 <= i < n }
//! band permutable
//!   coincident { S[i] -> [(i)]; T[i] -> [(i)] }
//! sequence
//!   filter { S[i] }
//!     leaf
//!   filter { T[i] }
//!     leaf
//! ```

use std::fmt::{self, Write};

use super::{Band, Branch, FunctionText, LoopCode, MapText, Member, Node, SetText, Tree};
use crate::fault::{self, Result};

/// Deepest nesting of branches and longest chain that is read.
const MAX_DEPTH: usize = 200;

pub(super) fn print(root: &Node, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    chain(root, 0, f)
}

fn chain(mut node: &Node, depth: usize, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let pad = "  ".repeat(depth);
    loop {
        f.write_str(&pad)?;
        node = match node {
            Node::Domain { domain, child } => {
                writeln!(f, "domain {domain}")?;
                child
            }
            Node::Context { context, child } => {
                writeln!(f, "context {context}")?;
                child
            }
            Node::Guard { guard, child } => {
                writeln!(f, "guard {guard}")?;
                child
            }
            Node::Mark { name, child } => {
                writeln!(f, "mark {name}")?;
                child
            }
            Node::Extension { extension, child } => {
                writeln!(f, "extension {extension}")?;
                child
            }
            Node::Expansion { contraction, expansion, child } => {
                writeln!(f, "expansion {expansion}")?;
                writeln!(f, "{pad}  contraction {contraction}")?;
                child
            }
            Node::Band(band) => {
                f.write_str(if band.permutable { "band permutable\n" } else { "band\n" })?;
                for member in &band.members {
                    let words = [if member.coincident { "coincident " } else { "" }, code(member.code)];
                    writeln!(f, "{pad}  {}{}{}", words[0], words[1], member.function)?;
                }
                if let Some(isolate) = &band.isolate {
                    writeln!(f, "{pad}  isolate {isolate}")?;
                }
                &band.child
            }
            Node::Filter(branch) => {
                writeln!(f, "filter {}", branch.filter)?;
                return chain(&branch.child, depth + 1, f);
            }
            Node::Sequence(branches) => {
                f.write_str("sequence\n")?;
                return branches.iter().try_for_each(|branch| self::branch(branch, depth + 1, f));
            }
            Node::Set(branches) => {
                f.write_str("set\n")?;
                return branches.iter().try_for_each(|branch| self::branch(branch, depth + 1, f));
            }
            Node::Leaf => return f.write_str("leaf\n"),
        }
    }
}

fn branch(branch: &Branch, depth: usize, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    writeln!(f, "{}filter {}", "  ".repeat(depth), branch.filter)?;
    chain(&branch.child, depth + 1, f)
}

fn code(code: LoopCode) -> &'static str {
    match code {
        LoopCode::Default => "",
        LoopCode::Atomic => "atomic ",
        LoopCode::Unroll => "unroll ",
        LoopCode::Separate => "separate ",
    }
}

struct Line<'a> {
    number: usize,
    depth: usize,
    text: &'a str,
}

pub(super) fn parse(text: &str) -> Result<Tree> {
    let mut lines = Vec::new();
    for (k, line) in text.lines().enumerate() {
        let body = line.trim_start_matches(' ');
        if body.trim_end().is_empty() || body.starts_with("//") {
            continue;
        }
        let indent = line.len() - body.len();
        if indent % 2 != 0 {
            return Err(fault::tree_text(k + 1, "the indentation is not a multiple of two spaces"));
        }
        lines.push(Line { number: k + 1, depth: indent / 2, text: body.trim_end() });
    }
    let mut parser = Parser { lines: &lines, next: 0, nodes: 0 };
    let root = parser.chain(0)?;
    match parser.peek() {
        Some(line) => {
            Err(fault::tree_text(line.number, format!("`{}` is after the end of the tree", line.text)))
        }
        None => Ok(Tree { root }),
    }
}

struct Parser<'a> {
    lines: &'a [Line<'a>],
    next: usize,
    nodes: usize,
}

impl<'a> Parser<'a> {
    fn peek(&self) -> Option<&'a Line<'a>> {
        self.lines.get(self.next)
    }

    /// The next line, if it is at this depth.
    fn at(&self, depth: usize) -> Option<&'a Line<'a>> {
        self.peek().filter(|line| line.depth == depth)
    }

    fn chain(&mut self, depth: usize) -> Result<Node> {
        let last = self.lines.last().map_or(1, |line| line.number);
        let Some(line) = self.peek() else {
            return Err(fault::tree_text(
                last,
                "the tree ends where a node is expected (`leaf` ends a branch)",
            ));
        };
        if line.depth != depth {
            let message =
                format!("a node at indentation {} is expected here, not at {}", 2 * depth, 2 * line.depth);
            return Err(fault::tree_text(line.number, message));
        }
        self.nodes += 1;
        if depth > MAX_DEPTH || self.nodes > 100 * MAX_DEPTH {
            return Err(fault::tree_text(line.number, "the tree is too deep"));
        }
        self.next += 1;
        let (word, rest) = line.text.split_once(' ').unwrap_or((line.text, ""));
        let rest = rest.trim();
        let notation = |rest: &str| -> Result<String> {
            if rest.contains('{') && rest.ends_with('}') && !rest.contains('"') {
                Ok(rest.to_owned())
            } else {
                Err(fault::tree_text(line.number, format!("`{word}` needs a set or map in braces")))
            }
        };
        let alone = |rest: &str| -> Result<()> {
            if rest.is_empty() {
                Ok(())
            } else {
                Err(fault::tree_text(
                    line.number,
                    format!("nothing can follow `{word}` here, but `{rest}` does"),
                ))
            }
        };
        Ok(match word {
            "domain" => {
                Node::Domain { domain: SetText::new(notation(rest)?), child: Box::new(self.chain(depth)?) }
            }
            "context" => {
                Node::Context { context: SetText::new(notation(rest)?), child: Box::new(self.chain(depth)?) }
            }
            "guard" => {
                Node::Guard { guard: SetText::new(notation(rest)?), child: Box::new(self.chain(depth)?) }
            }
            "extension" => Node::Extension {
                extension: MapText::new(notation(rest)?),
                child: Box::new(self.chain(depth)?),
            },
            "expansion" => {
                let expansion = MapText::new(notation(rest)?);
                let contraction = match self.at(depth + 1).and_then(|l| l.text.strip_prefix("contraction ")) {
                    Some(text) => MapText::new(notation(text.trim())?),
                    None => {
                        return Err(fault::tree_text(line.number, "an expansion needs a line `contraction`"));
                    }
                };
                self.next += 1;
                Node::Expansion { contraction, expansion, child: Box::new(self.chain(depth)?) }
            }
            "mark" => {
                if rest.is_empty() || rest.contains(['"', '\\']) {
                    return Err(fault::tree_text(line.number, "a mark needs a name without quotes"));
                }
                Node::Mark { name: rest.to_owned(), child: Box::new(self.chain(depth)?) }
            }
            "filter" => Node::Filter(Branch {
                filter: SetText::new(notation(rest)?),
                child: Box::new(self.chain(depth + 1)?),
            }),
            "sequence" | "set" => {
                alone(rest)?;
                let mut branches = Vec::new();
                while let Some(line) = self.at(depth + 1) {
                    let Some(filter) = line.text.strip_prefix("filter ") else {
                        let message = "the children of a sequence or set are filters";
                        return Err(fault::tree_text(line.number, message));
                    };
                    self.next += 1;
                    let filter = filter.trim();
                    if !filter.ends_with('}') || filter.contains('"') {
                        return Err(fault::tree_text(line.number, "`filter` needs a set in braces"));
                    }
                    let child = Box::new(self.chain(depth + 2)?);
                    branches.push(Branch { filter: SetText::new(filter), child });
                }
                if branches.is_empty() {
                    return Err(fault::tree_text(line.number, format!("a {word} needs at least one filter")));
                }
                if word == "set" { Node::Set(branches) } else { Node::Sequence(branches) }
            }
            "band" => {
                let permutable = match rest {
                    "permutable" => true,
                    "" => false,
                    _ => return Err(fault::tree_text(line.number, format!("a band cannot be `{rest}`"))),
                };
                let (members, isolate) = self.members(depth + 1)?;
                if members.is_empty() {
                    return Err(fault::tree_text(line.number, "a band needs at least one member"));
                }
                Node::Band(Band { members, permutable, isolate, child: Box::new(self.chain(depth)?) })
            }
            "leaf" => {
                alone(rest)?;
                Node::Leaf
            }
            _ => {
                let mut message = format!("`{word}` is not a kind of node");
                let _ = write!(
                    message,
                    " (domain context band sequence set filter mark extension expansion guard leaf)"
                );
                return Err(fault::tree_text(line.number, message));
            }
        })
    }

    fn members(&mut self, depth: usize) -> Result<(Vec<Member>, Option<SetText>)> {
        let (mut members, mut isolate) = (Vec::new(), None);
        while let Some(line) = self.at(depth) {
            self.next += 1;
            if let Some(text) = line.text.strip_prefix("isolate ") {
                isolate = Some(SetText::new(text.trim()));
                continue;
            }
            let (mut coincident, mut code) = (false, LoopCode::Default);
            let mut rest = line.text;
            while !rest.starts_with(['{', '[']) {
                let (word, tail) = rest.split_once(' ').unwrap_or((rest, ""));
                match word {
                    "coincident" => coincident = true,
                    "atomic" => code = LoopCode::Atomic,
                    "unroll" => code = LoopCode::Unroll,
                    "separate" => code = LoopCode::Separate,
                    _ => {
                        return Err(fault::tree_text(
                            line.number,
                            format!("a band member cannot be `{word}`"),
                        ));
                    }
                }
                rest = tail.trim_start();
            }
            if !rest.ends_with('}') || rest.contains('"') {
                return Err(fault::tree_text(line.number, "a band member needs a function in braces"));
            }
            members.push(Member { function: FunctionText::new(rest), coincident, code });
        }
        Ok((members, isolate))
    }
}
