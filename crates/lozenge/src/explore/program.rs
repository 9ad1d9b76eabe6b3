//! The page of a program: functional, C with marked regions, or loops.

use std::collections::BTreeMap;
use std::path::Path;

use loops::{Diagnostic, Function, Name, Program};
use passes::Applied;
use polyhedral::dependence::{self, Dependence};
use polyhedral::{Model, Optimized, Tree, picture};
use targets::Stage as Emitted;

use super::{Language, Page, Part, Section, Stage, assembly, lines};
use crate::cli::Explore;
use crate::failure::{Failure, Source};
use crate::files;
use crate::pipeline::{self, Front};
use crate::report;
use crate::request::{Kind, Request, Schedule};

/// More definitions than this are not shown on one page.
const DEFINITIONS: usize = 40;

/// What is known of one definition.
struct Unit {
    name: String,
    /// The function before the polyhedral side, with labelled statements, and its dependences.
    before: Result<(Model, Vec<Dependence>), Failure>,
    /// What the polyhedral side makes of it.
    scheduled: Result<Optimized, Failure>,
    /// The function that becomes C.
    lowered: Result<Function, Failure>,
    /// The passes that changed it on its way, with the function after each.
    applied: Vec<Applied>,
    /// What was chosen among, in lines.
    candidates: Vec<String>,
    /// Whether the polyhedral side ordered the loops that become C.
    ordered: bool,
}

/// The page of a program.
///
/// # Errors
/// What the front ends refuse, and `X0006` if there is no such definition. What later stages refuse
/// stands on the page.
pub fn page(arguments: &Explore, source: &Source) -> Result<Page, Failure> {
    let request = &arguments.choice.request()?;
    let front = files::open(source, request)?;
    let mut names = front.wanted(request)?;
    let left = names.len().saturating_sub(DEFINITIONS);
    names.truncate(DEFINITIONS);
    let units: Vec<Unit> = names.into_iter().map(|name| unit(&front, name, request)).collect();
    let mut page = Page { file: source.path.clone(), kind: kind(&front, &units), ..Page::default() };
    let view = View { front: &front, source, request, units: &units };
    view.source(&mut page);
    view.functional(&mut page);
    view.loops(&mut page);
    view.passes(&mut page);
    view.tree(&mut page);
    view.scheduled(&mut page);
    let (text, warnings) = view.c(&mut page);
    if arguments.assembly && !text.is_empty() {
        let file = &arguments.file;
        let folder = file.parent().unwrap_or(Path::new("."));
        let preprocessor = &request.preprocessor;
        assembly::add(&mut page, &assembly::C { text: &text, folder, preprocessor, file });
    }
    let mut done = view.done();
    if !warnings.is_empty() {
        done.parts.push(Part::Verbatim(report::render_all(Some(source), &warnings, false)));
    }
    if left > 0 {
        let message = format!("{left} more definitions are not on this page: `--def NAME` chooses one");
        done.parts.push(Part::Text(message));
    }
    page.section(done);
    page.section(view.dependences());
    page.section(view.pictures());
    Ok(page)
}

fn kind(front: &Front, units: &[Unit]) -> String {
    let what = match front.kind() {
        Kind::Functional => "Functional program",
        Kind::C => "C with marked regions",
        Kind::Loops => "Loop program",
    };
    let names: Vec<&str> = units.iter().map(|unit| unit.name.as_str()).collect();
    format!("{what}: {}", names.join(", "))
}

/// Whether the polyhedral side orders the loops that become C.
fn is_scheduled(front: &Front, request: &Request) -> bool {
    match request.schedule {
        Schedule::Usual => front.kind() == Kind::C,
        Schedule::Original => false,
        Schedule::Auto | Schedule::Given(_) => true,
    }
}

fn unit(front: &Front, name: String, request: &Request) -> Unit {
    let own = request.of(&name);
    let original = front.original(&name, &own);
    let refuse = |d| Failure::in_source(front.source(), vec![d]);
    let scheduled = original.clone().and_then(|function| front.optimized(&function, &own));
    let before = original.and_then(|function| {
        let model = Model::extract(&function).map_err(refuse)?;
        let found = dependence::memory(&model).map_err(refuse)?;
        Ok((model, found))
    });
    let passed = front.lower(&own);
    let applied = passed.as_ref().map(|lowered| lowered.applied.clone()).unwrap_or_default();
    let candidates = passed.as_ref().ok().and_then(|lowered| pipeline::beside(front, lowered, &own).ok());
    let candidates = candidates.unwrap_or_default();
    let ordered =
        is_scheduled(front, request) || passed.as_ref().is_ok_and(|lowered| lowered.original.is_some());
    let lowered = match &scheduled {
        Ok(optimised) if is_scheduled(front, request) => Ok(optimised.function.clone()),
        _ => passed.map(|lowered| lowered.function),
    };
    Unit { name, before, scheduled, lowered, applied, candidates, ordered }
}

/// What the stages are shown of.
struct View<'a> {
    front: &'a Front,
    source: &'a Source,
    request: &'a Request,
    units: &'a [Unit],
}

/// The origin that is a definition or region.
fn whole(page: &mut Page, front: &Front, unit: &Unit) -> usize {
    let what = match front.kind() {
        Kind::Functional => "definition",
        Kind::C => "region",
        Kind::Loops => "function",
    };
    page.origin(&format!("{what} {}", unit.name), None)
}

impl View<'_> {
    /// The command that prints a stage.
    fn by(&self, stage: &str) -> String {
        format!("`lozenge compile {} --emit {stage}` prints it", self.source.path)
    }

    /// What is refused, as a text.
    fn refused(failure: &Failure) -> String {
        report::render(failure, false)
    }

    /// Several definitions each have a name above their text.
    fn heading(&self, stage: &mut Stage, unit: &Unit, comment: &str) {
        if self.units.len() > 1 {
            stage.add(&format!("{comment} {}", unit.name), |_, _| Vec::new());
        }
    }

    /// The origin that is a statement of a definition.
    fn statement(&self, page: &mut Page, unit: &Unit, label: &str) -> usize {
        let whole = whole(page, self.front, unit);
        page.origin(&format!("{label} of {}", unit.name), Some(whole))
    }

    fn source(&self, page: &mut Page) {
        let mut of_lines: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        let text = self.source.text.as_bytes();
        let line_of = |at: u32| text[..text.len().min(at as usize)].iter().filter(|b| **b == b'\n').count();
        for unit in self.units {
            let region = self.front.region(&unit.name).map(|region| &region.info);
            for (label, span) in region.iter().flat_map(|info| &info.statement_spans) {
                let origin = self.statement(page, unit, label);
                for line in line_of(span.start)..=line_of(span.end.saturating_sub(1)) {
                    of_lines.entry(line).or_default().push(origin);
                }
            }
            let origin = whole(page, self.front, unit);
            for line in self.of_definition(unit).into_iter().flatten() {
                of_lines.entry(line).or_insert_with(|| vec![origin]);
            }
        }
        let language = match self.front.kind() {
            Kind::Functional => Language::Functional,
            Kind::C => Language::C,
            Kind::Loops => Language::Loops,
        };
        let mut stage = Stage::new("source", "Source", language, format!("The file {}.", self.source.path));
        stage.add(&self.source.text, |k, _| of_lines.get(&k).cloned().unwrap_or_default());
        page.stage(stage);
    }

    /// The lines of a definition, counted from 0.
    fn of_definition(&self, unit: &Unit) -> Option<std::ops::RangeInclusive<usize>> {
        if let Some(info) = self.front.region(&unit.name).map(|region| &region.info) {
            return Some(info.lines.0.saturating_sub(1)..=info.lines.1.saturating_sub(1));
        }
        let start = self.front.first_line(&Name::new(&unit.name))?.start as usize;
        let first = self.source.text[..start].matches('\n').count();
        let begins_item = |line: &str| {
            ["def ", "type ", "import ", "strategy ", "fn ", "--"].iter().any(|word| line.starts_with(word))
        };
        let rest = self.source.text[start..].lines().skip(1);
        let more = rest.take_while(|line| !begins_item(line) && !line.trim().is_empty()).count();
        Some(first..=first + more)
    }

    /// The stages before loops.
    fn functional(&self, page: &mut Page) {
        if self.front.kind() != Kind::Functional {
            return;
        }
        let stages = [
            ("functional", "Functional", Emitted::Functional, "After type inference and strategies"),
            ("derivation", "Derivation", Emitted::Derivation, "Each step of the translation with its rule"),
        ];
        for (id, title, emitted, about) in stages {
            let about = format!("{about}. {}.", self.by(id));
            let mut stage = Stage::new(id, title, Language::Functional, about);
            for unit in self.units {
                let request = self.request.of(&unit.name);
                let text = match self.front.emit(emitted, &request) {
                    Ok(emission) => emission.text,
                    Err(failure) => Self::refused(&failure),
                };
                self.heading(&mut stage, unit, "--");
                let origin = whole(page, self.front, unit);
                stage.add(&text, |_, _| vec![origin]);
            }
            page.stage(stage);
        }
    }

    /// The loops before the polyhedral side.
    fn loops(&self, page: &mut Page) {
        let about = "The loop program, its statements with labels, before the loops are ordered anew.";
        let mut stage = Stage::new("loops", "Loops", Language::Loops, about);
        for unit in self.units {
            match &unit.before {
                Ok((model, _)) => {
                    self.add_loops(page, &mut stage, unit, &function_text(&model.function));
                }
                // What the polyhedral model can't hold is shown as it is.
                Err(failure) => match &unit.lowered {
                    Ok(function) => stage.add(&function_text(function), |_, _| Vec::new()),
                    Err(_) => stage.add(&Self::refused(failure), |_, _| Vec::new()),
                },
            }
        }
        page.stage(stage);
    }

    /// The text of a loop program whose labels are those of the model.
    fn add_loops(&self, page: &mut Page, stage: &mut Stage, unit: &Unit, text: &str) {
        let mut of_lines: Vec<Vec<usize>> = Vec::new();
        for line in text.lines() {
            of_lines.push(vec![match lines::of_loops(line) {
                Some(label) => self.statement(page, unit, &label),
                None => whole(page, self.front, unit),
            }]);
        }
        stage.add(text, |k, _| of_lines.get(k).cloned().unwrap_or_default());
    }

    /// The loops after each pass that changed them.
    fn passes(&self, page: &mut Page) {
        let about = format!(
            "The loops after each pass that changed them. `lozenge compile {} --print-after-all` prints them.",
            self.source.path
        );
        let mut stage = Stage::new("passes", "Passes", Language::Loops, about);
        for unit in self.units {
            let mut originals: BTreeMap<Name, Name> =
                labels_of(unit).into_iter().map(|label| (label.clone(), label)).collect();
            if let Ok(optimised) = &unit.scheduled {
                let instances = optimised.instances.iter();
                originals.extend(instances.map(|(label, known)| (label.clone(), known.original.clone())));
            }
            for one in &unit.applied {
                stage.add(&format!("// {} after {}", unit.name, one.pass), |_, _| Vec::new());
                let text = function_text(&one.function);
                let origins: Vec<Vec<usize>> = text
                    .lines()
                    .map(|line| self.of_label(page, unit, lines::of_loops(line), &originals))
                    .collect();
                stage.add(&text, |k, _| origins.get(k).cloned().unwrap_or_default());
            }
        }
        page.stage(stage);
    }

    fn tree(&self, page: &mut Page) {
        let about = match self.units.iter().all(|unit| unit.ordered) {
            true => format!("The order of the statements' instances. {}.", self.by("schedule")),
            false => {
                "The order that `--schedule auto` gives; where the C keeps the order of the program, this is said below."
                    .to_owned()
            }
        };
        let mut stage = Stage::new("schedule", "Schedule tree", Language::Plain, about);
        for unit in self.units {
            self.heading(&mut stage, unit, "schedule");
            match &unit.scheduled {
                Ok(optimised) => {
                    let labels = labels_of(unit);
                    let text = optimised.schedule.to_string();
                    let mut of_lines = Vec::new();
                    for line in text.lines() {
                        let about = lines::of_tree(line, &labels);
                        of_lines.push(match about.as_slice() {
                            [] => vec![whole(page, self.front, unit)],
                            labels => labels.iter().map(|label| self.statement(page, unit, label)).collect(),
                        });
                    }
                    stage.add(&text, |k, _| of_lines.get(k).cloned().unwrap_or_default());
                }
                Err(failure) => stage.add(&Self::refused(failure), |_, _| Vec::new()),
            }
        }
        page.stage(stage);
    }

    /// The loops after the polyhedral side.
    fn scheduled(&self, page: &mut Page) {
        let mut stage = Stage::new(
            "scheduled",
            "Loops for C",
            Language::Loops,
            format!("The loop program that becomes C. {}.", self.by("loops")),
        );
        for unit in self.units {
            match &unit.lowered {
                Ok(function) => {
                    let origins: Vec<Vec<usize>> = match self.labelled(unit) {
                        Some((labelled, originals)) => function_text(&labelled)
                            .lines()
                            .map(|line| self.of_label(page, unit, lines::of_loops(line), &originals))
                            .collect(),
                        None => Vec::new(),
                    };
                    let whole = vec![whole(page, self.front, unit)];
                    let text = function_text(function);
                    stage.add(&text, |k, _| origins.get(k).unwrap_or(&whole).clone());
                }
                Err(failure) => stage.add(&Self::refused(failure), |_, _| Vec::new()),
            }
        }
        page.stage(stage);
    }

    /// The origin of a line with this label, where what the label comes from is known.
    fn of_label(
        &self,
        page: &mut Page,
        unit: &Unit,
        label: Option<Name>,
        originals: &BTreeMap<Name, Name>,
    ) -> Vec<usize> {
        vec![match label.and_then(|label| originals.get(&label)) {
            Some(original) => self.statement(page, unit, original),
            None => whole(page, self.front, unit),
        }]
    }

    /// The function that becomes C with labels, line by line as it is printed without, and the
    /// statements that the labels come from.
    fn labelled(&self, unit: &Unit) -> Option<(Function, BTreeMap<Name, Name>)> {
        let function = unit.lowered.as_ref().ok()?;
        if let Ok(optimised) = &unit.scheduled
            && is_scheduled(self.front, self.request)
        {
            let instances = optimised.instances.iter();
            let originals = instances.map(|(label, instance)| (label.clone(), instance.original.clone()));
            return Some((function.clone(), originals.collect()));
        }
        let (model, _) = unit.before.as_ref().ok()?;
        // What is done to the loops of a program keeps the labels of statements, those that it
        // writes twice included.
        let passed = passes::DEFAULT.run(model.function.clone(), &mut Vec::new());
        [model.function.clone(), passed].iter().find_map(|labelled| {
            let (labelled, originals) = lines::with_own_labels(labelled);
            lines::same_but_labels(&function_text(&labelled), &function_text(function))
                .then_some((labelled, originals))
        })
    }

    /// C, and what is to be said of it. No text where it is refused.
    fn c(&self, page: &mut Page) -> (String, Vec<Diagnostic>) {
        let about = format!("`lozenge compile {}` prints it.", self.source.path);
        let mut stage = Stage::new("c", "C", Language::C, about);
        let (text, warnings) = match self.all_c() {
            Ok(made) => made,
            Err(failure) => {
                stage.add(&Self::refused(&failure), |_, _| Vec::new());
                page.stage(stage);
                return Default::default();
            }
        };
        let shown: Vec<&str> = text.lines().collect();
        let mut of_lines: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for unit in self.units {
            let Ok(function) = &unit.lowered else { continue };
            let labelled = self.labelled(unit);
            // Where something is tested before a region, its lines are shorter.
            let placed = [false, true].into_iter().find_map(|tested| {
                let emit = |function: &Function| self.c_of(&unit.name, function, tested);
                let found = labelled.as_ref().and_then(|(labelled, _)| lines::of_c(labelled, emit));
                // Where nothing is known of statements, the lines are at least those of the
                // definition.
                let found = found.or_else(|| emit(function).map(|text| lines::unmarked(&text)))?;
                Some((lines::place(&shown, &found)?, found))
            });
            let originals = labelled.map(|(_, originals)| originals).unwrap_or_default();
            let Some((first, found)) = placed else { continue };
            for (k, (_, labels)) in found.iter().enumerate() {
                let labels = labels.iter().filter_map(|label| originals.get(label));
                let mut origins: Vec<usize> = labels.map(|label| self.statement(page, unit, label)).collect();
                if origins.is_empty() {
                    origins.push(whole(page, self.front, unit));
                }
                origins.dedup();
                of_lines.insert(first + k, origins);
            }
        }
        stage.add(&text, |k, _| of_lines.get(&k).cloned().unwrap_or_default());
        page.stage(stage);
        (text, warnings)
    }

    /// The C of everything that is on the page, and what is to be said of it.
    fn all_c(&self) -> Result<(String, Vec<Diagnostic>), Failure> {
        if self.front.kind() == Kind::C {
            let emission = self.front.emit(Emitted::C, self.request)?;
            return Ok((emission.text, emission.warnings));
        }
        let functions: Vec<Function> =
            self.units.iter().filter_map(|unit| unit.lowered.clone().ok()).collect();
        if functions.is_empty()
            && let Some(Err(failure)) = self.units.first().map(|unit| unit.lowered.clone())
        {
            return Err(failure);
        }
        Ok((pipeline::printed(&Program { functions }, self.request)?.source, Vec::new()))
    }

    /// The lines of C that one function becomes; for a region, with or without a test before it.
    fn c_of(&self, name: &str, function: &Function, tested: bool) -> Option<String> {
        if self.front.kind() == Kind::C {
            return pipeline::region_text(self.front, name, function, tested).ok();
        }
        let program = Program { functions: vec![function.clone()] };
        let text = pipeline::printed(&program, self.request).ok()?.source;
        // The helpers above differ with what else is in the file.
        let begin = text.lines().position(|line| line.contains(&format!("{name}(")))?;
        Some(text.lines().skip(begin).collect::<Vec<&str>>().join("\n"))
    }

    /// What was done with the loops, and what was given up.
    fn done(&self) -> Section {
        let mut section = Section::new("done", "What was done, and why not more");
        for unit in self.units {
            section.parts.push(Part::Heading(unit.name.clone()));
            match &unit.scheduled {
                Ok(optimised) => section.parts.extend(self.said(unit, optimised)),
                Err(failure) => section.parts.push(Part::Verbatim(Self::refused(failure))),
            }
        }
        section
    }

    fn said(&self, unit: &Unit, optimised: &Optimized) -> Vec<Part> {
        let report = &optimised.report;
        let mut items = Vec::new();
        if !unit.ordered {
            let message =
                "the loops keep the order of the program; what follows is what `--schedule auto` would do";
            items.push(("order".to_owned(), message.to_owned()));
        }
        let counts = format!("{} statements, {} dependences", report.statements, report.dependences);
        items.push(("model".to_owned(), counts));
        items.extend(report.bands.iter().map(|line| ("done".to_owned(), line.clone())));
        items.extend(report.notes.iter().map(|line| ("note".to_owned(), line.clone())));
        let candidates = match is_scheduled(self.front, self.request) && unit.candidates.is_empty() {
            true => &report.candidates,
            false => &unit.candidates,
        };
        items.extend(candidates.iter().map(|line| ("candidate".to_owned(), line.clone())));
        items.extend(report.left.iter().map(|why| ("left as it is".to_owned(), why.clone())));
        if let Some(checked) = &report.checked {
            let message = format!(
                "on the generated loops: {} statements, {} dependences, {} parallel or vector loops",
                checked.statements, checked.dependences, checked.parallel_loops
            );
            items.push(("checked".to_owned(), message));
        }
        vec![Part::List(items)]
    }

    fn dependences(&self) -> Section {
        let mut section = Section::new("dependences", "Dependences");
        for unit in self.units {
            let Ok((_, found)) = &unit.before else { continue };
            let rows: Vec<Vec<String>> = found.iter().map(row).collect();
            let caption = format!("Pairs of instances of {} that must stay in their order", unit.name);
            if rows.is_empty() {
                section.parts.push(Part::Text(format!("{}: none", unit.name)));
                continue;
            }
            let head = ["kind", "array", "from", "to", "relation"].map(str::to_owned).to_vec();
            section.parts.push(Part::Table { caption, head, rows });
        }
        section
    }

    fn pictures(&self) -> Section {
        let mut section = Section::new("pictures", "Instances, tiles and dependences");
        for unit in self.units {
            match self.picture(unit) {
                Ok((svg, size)) => {
                    let alt = format!(
                        "{}: the instances of each statement at sizes of {size}, numbered in the order in which they run, before and after; \
                         colours are tiles, arrows are dependences; below, both schedule trees",
                        unit.name
                    );
                    section.parts.push(Part::Heading(unit.name.clone()));
                    let title = format!("Picture of {}", unit.name);
                    section.parts.push(Part::Picture { title, svg, alt });
                }
                Err(why) => section.parts.push(Part::Text(format!("{}: no picture: {why}", unit.name))),
            }
        }
        section
    }

    /// The picture at the largest sizes of a few that can be drawn, with these sizes.
    fn picture(&self, unit: &Unit) -> Result<(String, i64), String> {
        let (model, _) = unit.before.as_ref().map_err(Failure::summary)?;
        let before = Tree::original(model).map_err(|d| d.message)?;
        let model = Model::extract(&model.function).and_then(Model::exact).map_err(|d| d.message)?;
        let function = self.front.original(&unit.name, self.request).map_err(|f| f.summary())?;
        let tile = if self.request.tile.is_empty() { &[3][..] } else { &self.request.tile };
        let after =
            self.front.optimized_small(&function, self.request, tile, false).map_err(|f| f.summary())?;
        let mut why = String::new();
        for default in [6, 5, 4, 3, 2] {
            let options = picture::Options { default, instances: 150, ..picture::Options::default() };
            match picture::svg(&model.function, &before, &after, &options) {
                Ok(svg) => return Ok((svg, default)),
                Err(diagnostic) => why = diagnostic.message,
            }
        }
        Err(why)
    }
}

fn row(dependence: &Dependence) -> Vec<String> {
    let mut kind = dependence.kind.to_string();
    if let Some(op) = dependence.reduction {
        kind.push_str(&format!(" (reduction {})", op.symbol()));
    }
    if dependence.private {
        kind.push_str(" (storage only)");
    }
    vec![
        kind,
        dependence.array.to_string(),
        dependence.source.to_string(),
        dependence.target.to_string(),
        dependence.relation.to_string(),
    ]
}

/// The labels of the statements of a definition.
fn labels_of(unit: &Unit) -> Vec<Name> {
    let model = unit.before.as_ref().map(|(model, _)| model);
    model.map(|model| model.statements.iter().map(|s| s.label.clone()).collect()).unwrap_or_default()
}

fn function_text(function: &Function) -> String {
    Program { functions: vec![function.clone()] }.to_string()
}
