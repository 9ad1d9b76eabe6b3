//! The page of a model: its graph, the calls that are planned, and what each distinct call becomes.

use std::collections::BTreeMap;
use std::fmt::{self, Write};
use std::path::Path;

use graph::Model;
use graph::plan::{Place, Plan, Step};

use super::{Language, Page, Part, Section, Stage, assembly};
use crate::cli::Explore;
use crate::failure::Failure;
use crate::pipeline::graph::{self as pipeline, CompiledModel, Extents, ModelRequest};
use crate::{bind, models, report, rules};

/// Bytes of a line in the text of a graph.
const LINE: usize = 400;
/// Bytes of the text of a graph that are made.
const TEXT: usize = 400_000;

/// A model with more nodes is not rewritten for the page.
const REWRITTEN: usize = 20_000;

/// The page of a model.
///
/// # Errors
/// What the reader refuses. What later stages refuse stands on the page.
pub fn page(arguments: &Explore) -> Result<Page, Failure> {
    let path = &arguments.file;
    let sizes = bind::by_name(&arguments.sizes)?;
    let model = models::open(path)?;
    let nodes = model.graph.node_count();
    let mut page =
        Page { file: crate::encoding::name(path), kind: format!("Model: {nodes} nodes"), ..Page::default() };
    let extents = Extents::Arguments(BTreeMap::new());
    let strict = arguments.choice.strict;
    let request = ModelRequest { sizes, extents, strict, ..models::request(path) };
    let compiled =
        models::prepare(model.clone(), path, &request).and_then(|model| pipeline::compile(&model, &request));
    let calls = compiled.as_ref().map(|compiled| calls(&mut page, compiled)).unwrap_or_default();
    graph_stage(&mut page, &model, &calls);
    let mut done = Section::new("done", "What is planned, and which rules apply");
    match &compiled {
        Ok(compiled) => {
            stages(&mut page, compiled, &calls);
            done.parts.push(Part::List(plan_in_words(&compiled.plan)));
            done.parts.push(plan_table(&compiled.plan));
            if arguments.assembly {
                let (text, folder) = (&compiled.source, Path::new("."));
                let c = assembly::C { text, folder, preprocessor: &[], file: path };
                assembly::add(&mut page, &c);
            }
        }
        Err(failure) => done.parts.push(Part::Verbatim(report::render(failure, false))),
    }
    done.parts.extend(rewriting(&model, path));
    page.section(done);
    page.section(picture(&model));
    Ok(page)
}

/// A call of the plan: its kernel, the names of its nodes, and the number of its origin.
struct Called {
    kernel: usize,
    node: String,
    origin: usize,
}

fn calls(page: &mut Page, compiled: &CompiledModel) -> Vec<Called> {
    let calls = Step::calls(&compiled.plan.steps);
    let called = calls.into_iter().map(|call| {
        let origin = page.origin(&call.node, None);
        Called { kernel: call.kernel, node: call.node.clone(), origin }
    });
    called.collect()
}

/// The graph as text, with the elements of large tensors left out.
fn graph_stage(page: &mut Page, model: &Model, calls: &[Called]) {
    let about = "The graph as text; long lines, such as those of large tensors, are cut.";
    let mut stage = Stage::new("source", "Graph", Language::Plain, about);
    let mut text = Short::default();
    // It stops where there is enough.
    let _ = write!(text, "{model}");
    let text = text.done();
    stage.add(&text, |_, line| {
        let Some(name) = node_of(line) else { return Vec::new() };
        let of = |call: &&Called| call.node.split(", ").any(|node| node == name);
        calls.iter().filter(of).map(|call| call.origin).collect()
    });
    page.stage(stage);
}

/// How plans call the node that a line of a graph's text defines.
fn node_of(line: &str) -> Option<String> {
    let line = line.trim_start();
    if ["input ", "init ", "value ", "output ", "outer "].iter().any(|word| line.starts_with(word)) {
        return None;
    }
    let (results, rest) = line.split_once(" = ")?;
    let operator = rest.split('(').next()?.replace('"', "");
    let own = rest.rsplit_once(" @\"").and_then(|(_, name)| name.strip_suffix('"'));
    Some(match own {
        Some(own) => format!("the {operator} `{own}`"),
        None => format!("the {operator} that makes `{}`", results.split(", ").next()?.trim_matches('"')),
    })
}

/// A text with cut lines: of large tensors the elements take more memory than the model.
#[derive(Default)]
struct Short {
    text: String,
    /// Bytes of the last line that are kept, and those that are not.
    line: usize,
    left: usize,
}

impl Short {
    fn end_line(&mut self) {
        if self.left > 0 {
            let _ = write!(self.text, " ... {} more bytes", self.left);
        }
        (self.line, self.left) = (0, 0);
    }

    fn done(mut self) -> String {
        self.end_line();
        self.text
    }
}

impl fmt::Write for Short {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        for (k, piece) in text.split('\n').enumerate() {
            if k > 0 {
                self.end_line();
                self.text.push('\n');
            }
            let kept = piece.floor_char_boundary((LINE - self.line).min(piece.len()));
            self.text.push_str(&piece[..kept]);
            self.left += piece.len() - kept;
            self.line = if kept < piece.len() { LINE } else { self.line + kept };
        }
        if self.text.len() > TEXT { Err(fmt::Error) } else { Ok(()) }
    }
}

/// What distinct calls become.
fn stages(page: &mut Page, compiled: &CompiledModel, calls: &[Called]) {
    let of_kernel = |kernel: usize| -> Vec<usize> {
        let mut origins: Vec<usize> =
            calls.iter().filter(|call| call.kernel == kernel).map(|call| call.origin).collect();
        origins.dedup();
        origins.truncate(40);
        origins
    };
    let about = "The program of each distinct call, with a strategy for its loops.";
    let mut functional = Stage::new("functional", "Functional", Language::Functional, about);
    for (k, kernel) in compiled.plan.kernels.iter().enumerate() {
        let text = format!("-- {}\n{}", kernel.operator, functional::print::definition(&kernel.definition));
        let origins = of_kernel(k);
        functional.add(&text, |_, _| origins.clone());
    }
    page.stage(functional);
    let about = "The loop program of each distinct call.";
    let mut loops = Stage::new("loops", "Loops", Language::Loops, about);
    for (k, function) in compiled.program.functions.iter().enumerate() {
        let text = loops::Program { functions: vec![function.clone()] }.to_string();
        let origins = of_kernel(k);
        loops.add(&text, |_, _| origins.clone());
    }
    page.stage(loops);
    let about = "One file: the functions of the calls, and the function of the model, which makes the calls.";
    let mut c = Stage::new("c", "C", Language::C, about);
    let of_lines = of_c(compiled, calls, &of_kernel);
    c.add(&compiled.source, |k, _| of_lines.get(&k).cloned().unwrap_or_default());
    page.stage(c);
}

/// The calls that lines of C belong to: bodies of functions, and the calls themselves, which stand
/// in the order of the plan.
fn of_c(
    compiled: &CompiledModel,
    calls: &[Called],
    of_kernel: &dyn Fn(usize) -> Vec<usize>,
) -> BTreeMap<usize, Vec<usize>> {
    let heads: Vec<String> =
        compiled.program.functions.iter().map(|function| format!("int {}(", function.name)).collect();
    let mut inside: Option<usize> = None;
    let mut made = Vec::new();
    let mut found = BTreeMap::new();
    for (number, line) in compiled.source.lines().enumerate() {
        if !line.starts_with([' ', '}', '{', '#']) {
            let kernel = heads.iter().position(|head| line.contains(head.as_str()));
            // Declarations end with a semicolon.
            inside = kernel.filter(|_| !line.trim_end().ends_with(';'));
        }
        if let Some(kernel) = inside {
            found.insert(number, of_kernel(kernel));
        } else if line.trim_start().starts_with("if ((status = ") {
            made.push(number);
        }
        if line.starts_with('}') {
            inside = None;
        }
    }
    if made.len() == calls.len() {
        found.extend(made.into_iter().zip(calls).map(|(number, call)| (number, vec![call.origin])));
    }
    found
}

fn plan_in_words(plan: &Plan) -> Vec<(String, String)> {
    let calls = Step::calls(&plan.steps).len();
    let amount = |bytes: usize| bind::amount(bytes as u128);
    let arena = match plan.rooms.is_empty() {
        true => amount(plan.arena_bytes),
        false => format!("{}, and what the named extents ask for,", amount(plan.arena_bytes)),
    };
    vec![
        ("calls".into(), format!("{calls}, of which {} are distinct", plan.kernels.len())),
        ("parameters".into(), amount(plan.parameter_bytes)),
        ("intermediate values".into(), format!("{arena} in one block, whose places are used again")),
    ]
}

fn plan_table(plan: &Plan) -> Part {
    let place = |place: &Place| match place {
        Place::Input(k) => {
            plan.inputs.get(*k).map_or(format!("input {k}"), |port| format!("input {}", port.name))
        }
        Place::Output(k) => {
            plan.outputs.get(*k).map_or(format!("output {k}"), |port| format!("output {}", port.name))
        }
        Place::Parameters(at) => format!("parameters + {at}"),
        Place::Arena(at) => format!("block + {at}"),
        Place::Room(k) => format!("room {k} of the block"),
    };
    let all = |places: &[Place]| places.iter().map(place).collect::<Vec<_>>().join(", ");
    let rows = Step::calls(&plan.steps).into_iter().enumerate().map(|(k, call)| {
        let function = plan.kernels.get(call.kernel).map_or(String::new(), |k| k.definition.name.to_string());
        vec![(k + 1).to_string(), call.node.clone(), function, all(&call.arguments), all(&call.results)]
    });
    Part::Table {
        caption: "The calls in their order, and the places of what they read and write".into(),
        head: ["call", "nodes", "function", "reads", "writes"].map(str::to_owned).to_vec(),
        rows: rows.collect(),
    }
}

/// The rules that match, what came of it and why not more.
fn rewriting(model: &Model, path: &Path) -> Vec<Part> {
    let mut parts = vec![Part::Heading("Substitution rules".into())];
    if model.graph.node_count() > REWRITTEN {
        let message =
            format!("Not tried: the model has more than {REWRITTEN} nodes. `lozenge optimize` tries them.");
        parts.push(Part::Text(message));
        return parts;
    }
    match tried(model, path) {
        Ok(rows) if rows.is_empty() => parts.push(Part::Text("No rule that ships matches.".into())),
        Ok(rows) => parts.push(Part::Table {
            caption: "What `lozenge optimize` would do; the C here is of the model as it is".into(),
            head: ["rule", "matches", "applied", "too dear", "refused", "why refused"]
                .map(str::to_owned)
                .to_vec(),
            rows,
        }),
        Err(failure) => parts.push(Part::Verbatim(report::render(&failure, false))),
    }
    parts
}

fn tried(model: &Model, path: &Path) -> Result<Vec<Vec<String>>, Failure> {
    let mut model = model.clone();
    models::sound(&mut model, path, false)?;
    graph::infer(&mut model).map_err(|d| pipeline::at(&models::name(path), d))?;
    let rules = rules::load(&[], &[])?;
    let options = gsl::Options::default();
    let report = gsl::optimize(&mut model, &rules, &options, |_, _| {})
        .map_err(|d| pipeline::at(&models::name(path), *d))?;
    let matched = report.rules.iter().filter(|rule| rule.matches > 0);
    let row = |rule: &gsl::RuleReport| {
        vec![
            rule.name.clone(),
            rule.matches.to_string(),
            rule.applied.to_string(),
            rule.refused_by_cost.to_string(),
            rule.refused.to_string(),
            rule.refusal.map(|refusal| refusal.text().to_owned()).unwrap_or_default(),
        ]
    };
    Ok(matched.map(row).collect())
}

fn picture(model: &Model) -> Section {
    let mut section = Section::new("pictures", "The graph");
    let mut model = model.clone();
    // A contradiction of types is no reason not to draw.
    let _ = graph::infer(&mut model);
    section.parts.push(match graph::picture::svg(&model.graph, &graph::picture::Options::default()) {
        Ok(svg) => {
            let alt = format!(
                "The {} nodes of the graph in layers from the inputs to the outputs; the text of the graph says the same",
                model.graph.node_count()
            );
            Part::Picture { title: "Picture of the graph".into(), svg, alt }
        }
        Err(diagnostic) => Part::Text(format!("No picture: {}", diagnostic.message)),
    });
    section
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_graphs_name_their_nodes() {
        assert_eq!(node_of("  y = Relu(x) @\"act\"").as_deref(), Some("the Relu `act`"));
        let name = node_of("  y, z = \"com.microsoft\".Gelu(x) { axis: 1 }");
        assert_eq!(name.as_deref(), Some("the com.microsoft.Gelu that makes `y`"));
        assert_eq!(node_of("  init w: f32[2] = [1.0, 2.0]"), None);
        assert_eq!(node_of("}"), None);
    }

    #[test]
    fn long_lines_are_cut() {
        let mut text = Short::default();
        for piece in ["init w = [", &"1.0, ".repeat(100), "é]", "\ny = Relu(x)\n"] {
            assert!(write!(text, "{piece}").is_ok());
        }
        let text = text.done();
        let (first, rest) = text.split_once('\n').expect("two lines");
        assert!(first.len() < LINE + 30 && first.ends_with(" ... 113 more bytes"), "{first}");
        assert_eq!(rest, "y = Relu(x)\n");
        let mut text = Short::default();
        assert!(write!(text, "{}", "a\n".repeat(TEXT)).is_err());
    }
}
