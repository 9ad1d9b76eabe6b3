//! Pictures of graphs as SVG: nodes in layers from top to bottom, values as curves between them.
//!
//! A large graph is drawn around one of its nodes. Nodes of a layer stand in the order of the
//! graph. Each node is placed below the nodes that it reads.

use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};
use std::fmt::Write as _;

use loops::{Code, Diagnostic};

use crate::graph::{Graph, NodeId, Producer, ValueId};

/// More nodes than this are not drawn in one picture.
pub const MAX_NODES: usize = 500;

const WIDTH: f64 = 150.0;
const HEIGHT: f64 = 40.0;
const GAP_X: f64 = 24.0;
const GAP_Y: f64 = 46.0;

/// What is drawn.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Options {
    /// Draws only what is at most `distance` edges from this node. The name is that of a node or of
    /// a value.
    pub around: Option<String>,
    /// How far.
    pub distance: usize,
    /// Nodes that stand out.
    pub marked: Vec<NodeId>,
}

/// The node with this name, or with a result of this name.
pub fn find(graph: &Graph, name: &str) -> Option<NodeId> {
    let own = graph.nodes().find(|(_, n)| n.name().as_str() == name).map(|(id, _)| id);
    own.or_else(|| {
        let value = graph.find(name)?;
        graph.producer(value).map(|(id, _)| id).or_else(|| graph.value(value).uses().next().map(|u| u.node))
    })
}

/// A thing with a place: a node, an input, or an output.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum Shape {
    Input(ValueId),
    Node(NodeId),
    Output(ValueId),
}

/// The picture of a graph.
///
/// # Errors
/// `G0407` if there is too much to draw, or no node of the name.
pub fn svg(graph: &Graph, options: &Options) -> Result<String, Diagnostic> {
    let nodes = chosen(graph, options)?;
    let shown: HashSet<NodeId> = nodes.iter().copied().collect();
    let mut edges: Vec<(Shape, Shape, ValueId)> = Vec::new();
    let mut seen = HashSet::new();
    for id in &nodes {
        let node = graph.node(*id);
        for used in node.inputs().iter().flatten().chain(node.captures()) {
            let from = match graph.value(*used).producer() {
                Producer::Node(before, _) if shown.contains(&before) => Shape::Node(before),
                Producer::Input | Producer::Outer => Shape::Input(*used),
                _ => continue,
            };
            if seen.insert((from, Shape::Node(*id), *used)) {
                edges.push((from, Shape::Node(*id), *used));
            }
        }
    }
    for id in graph.outputs() {
        if let Producer::Node(before, _) = graph.value(*id).producer()
            && shown.contains(&before)
            && seen.insert((Shape::Node(before), Shape::Output(*id), *id))
        {
            edges.push((Shape::Node(before), Shape::Output(*id), *id));
        }
    }
    Ok(draw(graph, &nodes, &edges, options))
}

fn chosen(graph: &Graph, options: &Options) -> Result<Vec<NodeId>, Diagnostic> {
    let Some(name) = &options.around else {
        if graph.node_count() > MAX_NODES {
            let message = format!("{} nodes are too many to draw", graph.node_count());
            return Err(Diagnostic::general(Code("G0407"), message)
                .note(format!("a picture has at most {MAX_NODES}"))
                .help("draw the neighbourhood of a node: --around NAME --distance 3"));
        }
        return Ok(graph.order().collect());
    };
    let Some(start) = find(graph, name) else {
        return Err(Diagnostic::general(Code("G0407"), format!("no node or value has the name `{name}`")));
    };
    let mut distance: HashMap<NodeId, usize> = HashMap::from([(start, 0)]);
    let mut queue = VecDeque::from([start]);
    while let Some(id) = queue.pop_front() {
        let far = distance[&id];
        if far == options.distance {
            continue;
        }
        let mut next: Vec<NodeId> = graph.node_predecessors(id).collect();
        next.extend(graph.node_successors(id));
        for neighbour in next {
            if distance.len() < MAX_NODES && !distance.contains_key(&neighbour) {
                distance.insert(neighbour, far + 1);
                queue.push_back(neighbour);
            }
        }
    }
    let mut nodes: Vec<NodeId> = distance.into_keys().collect();
    nodes.sort_by_key(|id| graph.label(*id));
    Ok(nodes)
}

/// The layer of each shape: one below the lowest that it reads.
fn layers(nodes: &[NodeId], edges: &[(Shape, Shape, ValueId)]) -> BTreeMap<usize, Vec<Shape>> {
    let mut into: HashMap<Shape, Vec<Shape>> = HashMap::new();
    for (from, to, _) in edges {
        into.entry(*to).or_default().push(*from);
    }
    let mut layer: HashMap<Shape, usize> = HashMap::new();
    let mut placed: BTreeMap<usize, Vec<Shape>> = BTreeMap::new();
    let mut place = |shape: Shape, layer: &mut HashMap<Shape, usize>| {
        let above = into.get(&shape).into_iter().flatten();
        let at = above.filter_map(|s| layer.get(s)).map(|l| l + 1).max().unwrap_or(1);
        layer.insert(shape, at);
        placed.entry(at).or_default().push(shape);
    };
    for id in nodes {
        place(Shape::Node(*id), &mut layer);
    }
    for (_, to, _) in edges {
        if matches!(to, Shape::Output(_)) && !layer.contains_key(to) {
            place(*to, &mut layer);
        }
    }
    // An input stands right above the first that reads it.
    let mut inputs: BTreeMap<Shape, usize> = BTreeMap::new();
    for (from, to, _) in edges {
        if matches!(from, Shape::Input(_)) {
            let at = layer.get(to).copied().unwrap_or(1) - 1;
            inputs.entry(*from).and_modify(|l| *l = at.min(*l)).or_insert(at);
        }
    }
    for (shape, at) in inputs {
        placed.entry(at).or_default().push(shape);
    }
    placed
}

fn draw(graph: &Graph, nodes: &[NodeId], edges: &[(Shape, Shape, ValueId)], options: &Options) -> String {
    let layers = layers(nodes, edges);
    let mut at: HashMap<Shape, (f64, f64)> = HashMap::new();
    let mut above: HashMap<Shape, Vec<Shape>> = HashMap::new();
    for (from, to, _) in edges {
        above.entry(*to).or_default().push(*from);
    }
    let widest = layers.values().map(Vec::len).max().unwrap_or(1) as f64;
    let total = widest * (WIDTH + GAP_X) + GAP_X;
    let first = layers.keys().next().copied().unwrap_or(0);
    let mut bottom = 0.0f64;
    for (layer, shapes) in &layers {
        let y = GAP_Y / 2.0 + (layer - first) as f64 * (HEIGHT + GAP_Y);
        bottom = bottom.max(y + HEIGHT);
        // Below the middle of what it reads; ties keep the order of the graph.
        let middle = |shape: &Shape| {
            let known: Vec<f64> =
                above.get(shape).into_iter().flatten().filter_map(|s| at.get(s)).map(|p| p.0).collect();
            if known.is_empty() { total / 2.0 } else { known.iter().sum::<f64>() / known.len() as f64 }
        };
        let mut row: Vec<(Shape, f64)> = shapes.iter().map(|s| (*s, middle(s))).collect();
        row.sort_by(|a, b| a.1.total_cmp(&b.1));
        let start = (total - shapes.len() as f64 * (WIDTH + GAP_X) + GAP_X) / 2.0;
        for (k, (shape, _)) in row.into_iter().enumerate() {
            at.insert(shape, (start + k as f64 * (WIDTH + GAP_X) + WIDTH / 2.0, y));
        }
    }
    let mut out = String::new();
    let height = bottom + GAP_Y / 2.0;
    let _ = write!(
        out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {total:.0} {height:.0}\" width=\"{total:.0}\" height=\"{height:.0}\" \
         font-family=\"sans-serif\" font-size=\"12\">\n<title>{}</title>\n\
         <style>.n{{fill:#eef3fb;stroke:#4a6fa5}}.m{{fill:#ffe9c7;stroke:#b36b00;stroke-width:2}}.i{{fill:#f3f3f3;stroke:#888}}\
         .e{{fill:none;stroke:#777}}.t{{text-anchor:middle}}.s{{text-anchor:middle;font-size:9px;fill:#555}}</style>\n",
        escaped(&graph.name)
    );
    for (from, to, value) in edges {
        let (Some((x1, y1)), Some((x2, y2))) = (at.get(from), at.get(to)) else { continue };
        let (y1, bend) = (y1 + HEIGHT, (y2 - y1 - HEIGHT).abs().max(GAP_Y) / 2.0);
        let ty = graph.value(*value).ty().map(|t| format!(": {t}")).unwrap_or_default();
        let _ = writeln!(
            out,
            "<path class=\"e\" d=\"M{x1:.1} {y1:.1}C{x1:.1} {:.1} {x2:.1} {:.1} {x2:.1} {y2:.1}\"><title>{}{}</title></path>",
            y1 + bend,
            y2 - bend,
            escaped(graph.value(*value).name()),
            escaped(&ty)
        );
    }
    let mut shapes: Vec<(Shape, (f64, f64))> = at.into_iter().collect();
    shapes.sort_by_key(|(shape, _)| *shape);
    for (shape, (x, y)) in shapes {
        let (class, title, below) = match shape {
            Shape::Node(id) => {
                let node = graph.node(id);
                let class = if options.marked.contains(&id) { "m" } else { "n" };
                let out = node.outputs().iter().flatten().next().map(|v| graph.value(*v));
                let ty = out.and_then(|v| v.ty()).map(ToString::to_string).unwrap_or_default();
                (
                    class,
                    node.op().to_string(),
                    if node.name().is_empty() { ty } else { node.name().to_string() },
                )
            }
            Shape::Input(id) | Shape::Output(id) => {
                let value = graph.value(id);
                ("i", value.name().to_string(), value.ty().map(ToString::to_string).unwrap_or_default())
            }
        };
        let _ = writeln!(
            out,
            "<g><rect class=\"{class}\" x=\"{:.1}\" y=\"{y:.1}\" width=\"{WIDTH}\" height=\"{HEIGHT}\" rx=\"6\"/>\
             <text class=\"t\" x=\"{x:.1}\" y=\"{:.1}\">{}</text><text class=\"s\" x=\"{x:.1}\" y=\"{:.1}\">{}</text></g>",
            x - WIDTH / 2.0,
            y + 17.0,
            escaped(&short(&title, 20)),
            y + 31.0,
            escaped(&short(&below, 30))
        );
    }
    out.push_str("</svg>\n");
    out
}

fn short(text: &str, most: usize) -> String {
    if text.chars().count() <= most {
        return text.to_owned();
    }
    let tail: Vec<char> = text.chars().rev().take(most - 1).collect();
    std::iter::once('…').chain(tail.into_iter().rev()).collect()
}

fn escaped(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars().filter(|c| !c.is_control()) {
        match c {
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            '"' => out.push_str("&quot;"),
            c => out.push(c),
        }
    }
    out
}
