//! The page: a row of panels for the order before, one for the order after, and the trees below.

use std::collections::BTreeMap;
use std::fmt::Write;

use loops::{Function, Name};

use super::trace::Trace;
use super::tree_drawing;
use crate::dependence::Kind;
use crate::tree::Tree;

/// Distance of neighbouring points.
const STEP: f64 = 40.0;
/// Radius of a point.
const RADIUS: f64 = 11.0;
/// Space around the points of a panel.
const MARGIN: f64 = 46.0;
/// Height of a line of text.
const LINE: f64 = 20.0;
/// Tiles take these colours in turn.
const COLOURS: [&str; 8] =
    ["#cfe2f3", "#fce5cd", "#d9ead3", "#ead1dc", "#fff2cc", "#d0e0e3", "#e6d5f5", "#f4cccc"];

/// Arrows between two panels that are all drawn; more would hide everything.
const MAX_BETWEEN: usize = 24;

/// Where a point is in its panel, in steps.
fn place(point: &[i64]) -> (f64, f64) {
    let at = |k: usize| point.get(k).map_or(0.0, |v| *v as f64);
    match point.len() {
        0 | 1 => (at(0), 0.0),
        // The first loop goes down and the second to the right, as rows and columns of a matrix.
        2 => (at(1), at(0)),
        // Seen from above at an angle: the first loop to the left and down, the second to the right
        // and down, the third up. Axes of an exact isometric projection would put (0, 0, 0) and (1,
        // 1, 1) in one place.
        _ => (1.45 * at(1) - 1.15 * at(0), 0.7 * at(0) + 0.5 * at(1) - 1.75 * at(2)),
    }
}

/// A statement's panel: where it is, and what is drawn there.
struct Panel {
    left: f64,
    top: f64,
    width: f64,
    height: f64,
    low: (f64, f64),
}

impl Panel {
    fn at(&self, point: &[i64]) -> (f64, f64) {
        let (x, y) = place(point);
        (self.left + MARGIN + (x - self.low.0) * STEP, self.top + MARGIN + (y - self.low.1) * STEP)
    }
}

pub(super) fn page(function: &Function, sizes: &BTreeMap<Name, i64>, rows: [(&Tree, &Trace); 2]) -> String {
    let mut body = String::new();
    let values: Vec<String> = sizes.iter().map(|(name, value)| format!("{name} = {value}")).collect();
    let title = if values.is_empty() {
        function.name.to_string()
    } else {
        format!("{} at {}", function.name, values.join(", "))
    };
    text(&mut body, 16.0, 28.0, "title", &title);
    let legend =
        "numbers: order of execution; a line joins instances that run one after the other; colours: tiles";
    text(&mut body, 16.0, 48.0, "small", legend);
    legend_arrows(&mut body, 16.0, 66.0);
    let (mut top, mut width) = (84.0, 760.0f64);
    for ((_, trace), name) in rows.iter().zip(["before", "after"]) {
        let (right, bottom) = row(&mut body, trace, name, top);
        width = width.max(right);
        top = bottom + 16.0;
    }
    for ((tree, _), name) in rows.iter().zip(["schedule tree before", "schedule tree after"]) {
        text(&mut body, 16.0, top + LINE, "title", name);
        let (right, bottom) = tree_drawing::draw(&mut body, tree, 16.0, top + 1.6 * LINE);
        width = width.max(right);
        top = bottom + 16.0;
    }
    let mut page = String::new();
    let _ = writeln!(
        page,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:.0}\" height=\"{1:.0}\" viewBox=\"0 0 {0:.0} {1:.0}\">",
        width + 16.0,
        top
    );
    page.push_str(STYLE);
    page.push_str(&body);
    page.push_str("</svg>\n");
    page
}

const STYLE: &str = "<style>
  text { font-family: sans-serif; font-size: 13px; fill: #222 }
  .title { font-size: 16px; font-weight: bold }
  .small { font-size: 12px; fill: #555 }
  .number { font-size: 10px; text-anchor: middle }
  .mono { font-family: monospace; font-size: 12px }
  .order { fill: none; stroke: #999; stroke-width: 1.5 }
  .flow { stroke: #c0392b; fill: none }
  .anti { stroke: #2471a3; fill: none; stroke-dasharray: 5 3 }
  .output { stroke: #1e8449; fill: none; stroke-dasharray: 1.5 3 }
  .point { stroke: #444 }
  .node { fill: #fbfbf5; stroke: #666 }
  .edge { fill: none; stroke: #888 }
</style>
<defs>
  <marker id=\"flow\" viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" markerWidth=\"7\" markerHeight=\"7\" orient=\"auto\"><path d=\"M0,0 L8,4 L0,8 z\" fill=\"#c0392b\"/></marker>
  <marker id=\"anti\" viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" markerWidth=\"7\" markerHeight=\"7\" orient=\"auto\"><path d=\"M0,0 L8,4 L0,8 z\" fill=\"#2471a3\"/></marker>
  <marker id=\"output\" viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" markerWidth=\"7\" markerHeight=\"7\" orient=\"auto\"><path d=\"M0,0 L8,4 L0,8 z\" fill=\"#1e8449\"/></marker>
</defs>
<rect width=\"100%\" height=\"100%\" fill=\"white\"/>
";

fn legend_arrows(out: &mut String, left: f64, y: f64) {
    let kinds = [
        (Kind::Flow, "write, then read"),
        (Kind::Anti, "read, then write"),
        (Kind::Output, "write, then write"),
    ];
    for (k, (kind, what)) in kinds.into_iter().enumerate() {
        let x = left + 230.0 * k as f64;
        let _ = writeln!(
            out,
            "<path class=\"{kind}\" marker-end=\"url(#{kind})\" d=\"M{x:.0},{0:.0} h34\"/>",
            y - 4.0
        );
        text(out, x + 42.0, y, "small", &format!("{kind}: {what}"));
    }
}

/// Panels of all statements for one order; gives the right and the lower end.
fn row(out: &mut String, trace: &Trace, name: &str, top: f64) -> (f64, f64) {
    text(out, 16.0, top + LINE, "title", name);
    let mut panels: BTreeMap<&Name, Panel> = BTreeMap::new();
    let mut order: Vec<&Name> = Vec::new();
    for event in &trace.events {
        if !order.contains(&&event.statement) {
            order.push(&event.statement);
        }
    }
    order.sort();
    let (mut left, mut bottom) = (16.0, top + 2.0 * LINE);
    for statement in order {
        let places: Vec<(f64, f64)> =
            trace.events.iter().filter(|e| e.statement == *statement).map(|e| place(&e.point)).collect();
        let fold = |f: fn(f64, f64) -> f64, start: f64| {
            places.iter().fold((start, start), |a, b| (f(a.0, b.0), f(a.1, b.1)))
        };
        let (low, high) = (fold(f64::min, f64::INFINITY), fold(f64::max, f64::NEG_INFINITY));
        let panel = Panel {
            left,
            top: top + 1.4 * LINE,
            width: (high.0 - low.0) * STEP + 2.0 * MARGIN,
            height: (high.1 - low.1) * STEP + 2.0 * MARGIN,
            low,
        };
        left += panel.width + 8.0;
        bottom = f64::max(bottom, panel.top + panel.height);
        panels.insert(statement, panel);
    }
    for (statement, panel) in &panels {
        text(out, panel.left + 8.0, panel.top + 16.0, "mono", statement);
        let points: Vec<String> = trace
            .events
            .iter()
            .filter(|e| e.statement == **statement)
            .map(|e| {
                let (x, y) = panel.at(&e.point);
                format!("{x:.0},{y:.0}")
            })
            .collect();
        let _ = writeln!(out, "<polyline class=\"order\" points=\"{}\"/>", points.join(" "));
    }
    let between = between(trace);
    for arrow in &trace.arrows {
        let (from, to) = (&trace.events[arrow.from], &trace.events[arrow.to]);
        let crossing = between.get(&(&from.statement, &to.statement));
        if crossing.is_some_and(|c| c.example.is_some_and(|e| e != arrow.from)) {
            continue;
        }
        let (a, b) = (panels[&from.statement].at(&from.point), panels[&to.statement].at(&to.point));
        arrow_path(out, arrow.kind, a, b);
    }
    // Tiles are numbered in the order in which they begin, so that neighbours in time differ in
    // colour.
    let mut tiles: BTreeMap<&[i64], usize> = BTreeMap::new();
    for (number, event) in trace.events.iter().enumerate() {
        let next = tiles.len();
        let tile = *tiles.entry(&event.tile).or_insert(next);
        let (x, y) = panels[&event.statement].at(&event.point);
        let colour = if event.tile.is_empty() { "#f2f2f2" } else { COLOURS[tile % COLOURS.len()] };
        let instance: Vec<String> = event.point.iter().map(ToString::to_string).collect();
        let _ = writeln!(
            out,
            "<circle class=\"point\" cx=\"{x:.0}\" cy=\"{y:.0}\" r=\"{RADIUS:.0}\" fill=\"{colour}\"><title>{}({})</title></circle>",
            event.statement,
            instance.join(", ")
        );
        text(out, x, y + 3.5, "number", &number.to_string());
    }
    for ((from, to), Crossing { arrows, example }) in between {
        let Some(example) = example else { continue };
        bottom += LINE;
        let point: Vec<String> = trace.events[example].point.iter().map(ToString::to_string).collect();
        let message = format!(
            "of {arrows} arrows from {from} to {to}, those that leave {from}({}) are drawn",
            point.join(", ")
        );
        text(out, 16.0, bottom, "small", &message);
    }
    (left, bottom)
}

/// The arrows between two statements.
struct Crossing {
    arrows: usize,
    /// Where there are too many to be drawn: the event whose arrows are.
    example: Option<usize>,
}

/// The arrows between different statements. Of very many, those of one event say more than all of
/// them: one in the middle among the events that have most.
fn between(trace: &Trace) -> BTreeMap<(&Name, &Name), Crossing> {
    let mut leaving: BTreeMap<(&Name, &Name), BTreeMap<usize, usize>> = BTreeMap::new();
    for arrow in &trace.arrows {
        let (from, to) = (&trace.events[arrow.from].statement, &trace.events[arrow.to].statement);
        if from != to {
            *leaving.entry((from, to)).or_default().entry(arrow.from).or_default() += 1;
        }
    }
    let crossing = |leaving: BTreeMap<usize, usize>| {
        let arrows = leaving.values().sum();
        let most = leaving.values().copied().max().unwrap_or(0);
        let busiest: Vec<usize> =
            leaving.iter().filter(|(_, n)| **n == most).map(|(event, _)| *event).collect();
        let example = busiest.get(busiest.len() / 2).copied().filter(|_| arrows > MAX_BETWEEN);
        Crossing { arrows, example }
    };
    leaving.into_iter().map(|(pair, leaving)| (pair, crossing(leaving))).collect()
}

/// An arrow between the rims of two points, bent a little so that it does not run over the points
/// between.
fn arrow_path(out: &mut String, kind: Kind, a: (f64, f64), b: (f64, f64)) {
    let (dx, dy) = (b.0 - a.0, b.1 - a.1);
    let length = dx.hypot(dy);
    if length < 1.0 {
        return;
    }
    let (ux, uy) = (dx / length, dy / length);
    let bend = if length > 1.6 * STEP { 0.16 * length } else { 5.0 };
    let (mx, my) = ((a.0 + b.0) / 2.0 + uy * bend, (a.1 + b.1) / 2.0 - ux * bend);
    let (r, s) = (RADIUS, RADIUS + 1.0);
    let _ = writeln!(
        out,
        "<path class=\"{kind}\" marker-end=\"url(#{kind})\" d=\"M{:.1},{:.1} Q{mx:.1},{my:.1} {:.1},{:.1}\"/>",
        a.0 + ux * r,
        a.1 + uy * r,
        b.0 - ux * s,
        b.1 - uy * s
    );
}

/// A line of text.
pub(super) fn text(out: &mut String, x: f64, y: f64, class: &str, content: &str) {
    let escaped = content.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    let _ = writeln!(out, "<text x=\"{x:.0}\" y=\"{y:.1}\" class=\"{class}\">{escaped}</text>");
}
