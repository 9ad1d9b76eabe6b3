//! A schedule tree as boxes: children side by side below their parent.

use std::fmt::Write;

use super::draw::text;
use crate::tree::{Node, Tree};

/// Characters of a line; the rest is cut.
const MAX_TEXT: usize = 56;
/// Width of a character.
const CHARACTER: f64 = 7.3;
/// Height of a line.
const LINE: f64 = 16.0;
/// Space between boxes.
const GAP: f64 = 14.0;
/// Nodes that are drawn.
const MAX_DEPTH: usize = 60;

/// A box with the boxes below it.
struct Picture {
    lines: Vec<String>,
    children: Vec<Picture>,
    width: f64,
}

/// Draws a tree at a place; gives the right and the lower end.
pub(super) fn draw(out: &mut String, tree: &Tree, left: f64, top: f64) -> (f64, f64) {
    let picture = measure(&tree.root, None, 0);
    let bottom = put(out, &picture, left, top, None);
    (left + picture.width, bottom)
}

fn cut(line: &str) -> String {
    // The sizes in front of every set say nothing here.
    let line = match line.strip_prefix('[').and_then(|rest| rest.split_once("] -> {")) {
        Some((_, rest)) => format!("{{{rest}"),
        None => line.to_owned(),
    };
    if line.chars().count() <= MAX_TEXT {
        return line;
    }
    line.chars().take(MAX_TEXT - 3).chain("...".chars()).collect()
}

fn own_lines(node: &Node) -> Vec<String> {
    let kind = node.kind().to_owned();
    match node {
        Node::Domain { domain, .. } => {
            let text = domain.as_str();
            let body = text.split_once('{').map_or(text, |(_, body)| body).trim_end_matches('}').trim();
            [kind].into_iter().chain(body.split("; ").map(cut)).collect()
        }
        Node::Context { context, .. } => vec![kind, cut(context.as_str())],
        Node::Guard { guard, .. } => vec![kind, cut(guard.as_str())],
        Node::Filter(branch) => vec![kind, cut(branch.filter.as_str())],
        Node::Mark { name, .. } => vec![format!("mark: {name}")],
        Node::Extension { extension, .. } => vec![kind, cut(extension.as_str())],
        Node::Expansion { expansion, .. } => vec![kind, cut(expansion.as_str())],
        Node::Band(band) => {
            let head = if band.permutable { "band, permutable" } else { "band" };
            let members = band.members.iter().map(|member| {
                let flag = if member.coincident { "∥ " } else { "" };
                format!("{flag}{}", cut(member.function.as_str()))
            });
            [head.to_owned()].into_iter().chain(members).collect()
        }
        Node::Sequence(_) | Node::Set(_) | Node::Leaf => vec![kind],
    }
}

fn measure(node: &Node, filter: Option<&str>, depth: usize) -> Picture {
    let mut lines: Vec<String> = filter.map(|text| format!("filter {}", cut(text))).into_iter().collect();
    lines.extend(own_lines(node));
    let children: Vec<Picture> = match node {
        _ if depth > MAX_DEPTH => {
            lines.push("...".to_owned());
            Vec::new()
        }
        Node::Sequence(branches) | Node::Set(branches) => branches
            .iter()
            .map(|branch| measure(&branch.child, Some(branch.filter.as_str()), depth + 1))
            .collect(),
        _ => node.children().into_iter().map(|child| measure(child, None, depth + 1)).collect(),
    };
    let own = lines.iter().map(|l| l.chars().count()).max().unwrap_or(0) as f64 * CHARACTER + 16.0;
    let below = children.iter().map(|c| c.width + GAP).sum::<f64>() - GAP;
    Picture { lines, children, width: own.max(below) }
}

/// Draws a box and what is below it; gives the lower end.
fn put(out: &mut String, picture: &Picture, left: f64, top: f64, parent: Option<(f64, f64)>) -> f64 {
    let width = picture.lines.iter().map(|l| l.chars().count()).max().unwrap_or(0) as f64 * CHARACTER + 16.0;
    let height = picture.lines.len() as f64 * LINE + 8.0;
    let x = left + (picture.width - width) / 2.0;
    let middle = left + picture.width / 2.0;
    if let Some((px, py)) = parent {
        let _ = writeln!(out, "<path class=\"edge\" d=\"M{px:.0},{py:.0} L{middle:.0},{top:.0}\"/>");
    }
    let _ = writeln!(
        out,
        "<rect class=\"node\" x=\"{x:.0}\" y=\"{top:.0}\" width=\"{width:.0}\" height=\"{height:.0}\" rx=\"4\"/>"
    );
    for (k, line) in picture.lines.iter().enumerate() {
        text(out, x + 8.0, top + LINE * (k + 1) as f64, "mono", line);
    }
    let (mut bottom, mut next) = (top + height, left);
    let below: f64 = picture.children.iter().map(|c| c.width + GAP).sum::<f64>() - GAP;
    next += (picture.width - below.max(0.0)).max(0.0) / 2.0;
    for child in &picture.children {
        let end = put(out, child, next, top + height + GAP + 4.0, Some((middle, top + height)));
        bottom = bottom.max(end);
        next += child.width + GAP;
    }
    bottom
}
