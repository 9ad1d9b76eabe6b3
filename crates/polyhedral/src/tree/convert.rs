//! Between our trees and the set library's schedules.

use std::fmt::Write;

use isl::{Ctx, NodeKind, Schedule, ScheduleNode, UnionPwAff, UnionSet};

use super::{Band, Branch, FunctionText, LoopCode, MapText, Member, Node, SetText, Tree};
use crate::fault::{self, Result};

impl Tree {
    /// The schedule of the set library that the tree stands for.
    ///
    /// # Errors
    /// `P0001` if a set or map in it cannot be read, or the tree is not a schedule.
    pub fn to_isl(&self, ctx: &Ctx) -> Result<Schedule> {
        let mut yaml = String::new();
        write_node(&self.root, 0, &mut yaml);
        Schedule::read(ctx, &yaml).map_err(fault::library)
    }

    /// The tree of a schedule.
    ///
    /// # Errors
    /// Those of the set library.
    pub fn from_isl(schedule: &Schedule) -> Result<Tree> {
        let read = || -> isl::Result<Tree> { Ok(Tree { root: read_node(&schedule.root()?, 0)? }) };
        read().map_err(fault::library)
    }
}

fn write_node(node: &Node, depth: usize, out: &mut String) {
    out.push_str("{ ");
    let text = |key: &str, value: &str, out: &mut String| {
        let _ = write!(out, "{key}: \"{value}\"");
    };
    let below = |child: &Node, depth: usize, out: &mut String| {
        if *child != Node::Leaf {
            out.push_str(", child: ");
            write_node(child, depth, out);
        }
    };
    match node {
        Node::Domain { domain, child } => {
            text("domain", domain.as_str(), out);
            below(child, depth, out);
        }
        Node::Context { context, child } => {
            text("context", context.as_str(), out);
            below(child, depth, out);
        }
        Node::Guard { guard, child } => {
            text("guard", guard.as_str(), out);
            below(child, depth, out);
        }
        Node::Mark { name, child } => {
            text("mark", name, out);
            below(child, depth, out);
        }
        Node::Extension { extension, child } => {
            text("extension", extension.as_str(), out);
            below(child, depth, out);
        }
        Node::Expansion { contraction, expansion, child } => {
            text("contraction", contraction.as_str(), out);
            out.push_str(", ");
            text("expansion", expansion.as_str(), out);
            below(child, depth, out);
        }
        Node::Filter(branch) => {
            text("filter", branch.filter.as_str(), out);
            below(&branch.child, depth, out);
        }
        Node::Sequence(branches) | Node::Set(branches) => {
            out.push_str(if matches!(node, Node::Set(_)) { "set: [ " } else { "sequence: [ " });
            for (k, branch) in branches.iter().enumerate() {
                if k > 0 {
                    out.push_str(", ");
                }
                out.push_str("{ ");
                text("filter", branch.filter.as_str(), out);
                below(&branch.child, depth, out);
                out.push_str(" }");
            }
            out.push_str(" ]");
        }
        Node::Band(band) => {
            let functions = band.members.iter().map(|m| split_parameters(m.function.as_str()));
            let (names, bodies): (Vec<_>, Vec<_>) = functions.unzip();
            text("schedule", &format!("{}[{}]", parameters(&names), bodies.join(", ")), out);
            if band.permutable {
                out.push_str(", permutable: 1");
            }
            let flags: Vec<&str> =
                band.members.iter().map(|m| if m.coincident { "1" } else { "0" }).collect();
            let _ = write!(out, ", coincident: [ {} ]", flags.join(", "));
            if let Some(options) = options(band) {
                text(", options", &options, out);
            }
            below(&band.child, depth + band.members.len(), out);
        }
        Node::Leaf => {}
    }
    out.push_str(" }");
}

/// The names in `[n, m] -> ` before a set, map or function, and what follows.
fn split_parameters(text: &str) -> (Vec<&str>, &str) {
    let text = text.trim();
    match text.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        Some((names, rest)) if rest.trim_start().starts_with("->") => {
            let body = rest.trim_start().trim_start_matches("->").trim_start();
            (names.split(',').map(str::trim).filter(|name| !name.is_empty()).collect(), body)
        }
        _ => (Vec::new(), text),
    }
}

/// `[n, m] -> ` for the names of several texts, each once; nothing if there are none.
fn parameters(names: &[Vec<&str>]) -> String {
    let mut all: Vec<&str> = Vec::new();
    for name in names.iter().flatten() {
        if !all.contains(name) {
            all.push(name);
        }
    }
    if all.is_empty() { String::new() } else { format!("[{}] -> ", all.join(", ")) }
}

fn options(band: &Band) -> Option<String> {
    let mut options = Vec::new();
    let mut names = Vec::new();
    if let Some(isolate) = &band.isolate {
        let (own, body) = split_parameters(isolate.as_str());
        names.push(own);
        options.push(body.trim_start_matches('{').trim_end_matches('}').trim().to_owned());
    }
    for (k, member) in band.members.iter().enumerate() {
        let word = match member.code {
            LoopCode::Default => continue,
            LoopCode::Atomic => "atomic",
            LoopCode::Unroll => "unroll",
            LoopCode::Separate => "separate",
        };
        options.push(format!("{word}[{k}]"));
        if band.isolate.is_some() {
            // The isolated part is generated like the rest.
            options.push(format!("[isolate[] -> {word}[{k}]]"));
        }
    }
    (!options.is_empty()).then(|| format!("{}{{ {} }}", parameters(&names), options.join("; ")))
}

fn read_node(node: &ScheduleNode, level: usize) -> isl::Result<Node> {
    if level > 4096 {
        return Err(isl::Error {
            kind: isl::ErrorKind::Unsupported,
            message: "the schedule is too deep".to_owned(),
            place: None,
        });
    }
    let below = || -> isl::Result<Box<Node>> { Ok(Box::new(read_node(&node.child(0)?, level + 1)?)) };
    let branches = || -> isl::Result<Vec<Branch>> {
        (0..node.n_children()?)
            .map(|k| {
                let child = node.child(k)?;
                let filter = SetText::new(child.filter()?.to_string());
                Ok(Branch { filter, child: Box::new(read_node(&child.child(0)?, level + 1)?) })
            })
            .collect()
    };
    Ok(match node.kind()? {
        NodeKind::Domain => {
            Node::Domain { domain: SetText::new(node.domain()?.to_string()), child: below()? }
        }
        NodeKind::Context => {
            Node::Context { context: SetText::new(node.context()?.to_string()), child: below()? }
        }
        NodeKind::Guard => Node::Guard { guard: SetText::new(node.guard()?.to_string()), child: below()? },
        NodeKind::Mark => Node::Mark { name: node.mark()?, child: below()? },
        NodeKind::Extension => {
            Node::Extension { extension: MapText::new(node.extension()?.to_string()), child: below()? }
        }
        NodeKind::Expansion => Node::Expansion {
            contraction: MapText::new(node.contraction()?.to_string()),
            expansion: MapText::new(node.expansion()?.to_string()),
            child: below()?,
        },
        NodeKind::Filter => {
            Node::Filter(Branch { filter: SetText::new(node.filter()?.to_string()), child: below()? })
        }
        NodeKind::Sequence => Node::Sequence(branches()?),
        NodeKind::Set => Node::Set(branches()?),
        NodeKind::Leaf => Node::Leaf,
        NodeKind::Band => {
            let functions: Vec<UnionPwAff> = node.partial_schedule()?.members()?;
            if functions.is_empty() {
                // A band of no loops orders nothing.
                return Ok(*below()?);
            }
            let members = functions
                .iter()
                .enumerate()
                .map(|(k, function)| {
                    Ok(Member {
                        function: FunctionText::new(function.to_string()),
                        coincident: node.coincident(k)?,
                        code: LoopCode::Default,
                    })
                })
                .collect::<isl::Result<Vec<_>>>()?;
            let options: UnionSet = node.ast_options()?;
            let mut band = Band { members, permutable: node.permutable()?, isolate: None, child: below()? };
            read_options(&options, &mut band)?;
            Node::Band(band)
        }
    })
}

fn read_options(options: &UnionSet, band: &mut Band) -> isl::Result<()> {
    for set in options.sets()? {
        let code = match set.tuple_name()?.as_deref() {
            Some("atomic") => LoopCode::Atomic,
            Some("unroll") => LoopCode::Unroll,
            Some("separate") => LoopCode::Separate,
            Some("isolate") => {
                band.isolate = Some(SetText::new(set.to_string()));
                continue;
            }
            _ => continue,
        };
        for (k, member) in band.members.iter_mut().enumerate() {
            if !set.fix(isl::Dim::SET, 0, k as i64)?.is_empty()? {
                member.code = code;
            }
        }
    }
    Ok(())
}
