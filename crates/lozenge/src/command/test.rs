//! `lozenge test`: the cases in the comments of programs, each by every way there is to compute it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use loops::{Name, ParamMode, Scalar};
use serde_json::{Value as Json, json};

use crate::bind::Sizes;
use crate::cases::{self, CaseKind, Setting};
use crate::cli::Test;
use crate::command::test_c;
use crate::command::test_points::{Point, Routine, compiled_by, run_points};
use crate::failure::{Failure, FailureKind, Source};
use crate::files::{self, find, read_source};
use crate::kernel;
use crate::pipeline::Front;
use crate::process::Compiler;
use crate::progress::Bar;
use crate::report;
use crate::request::{Mode, Request};
use crate::value::Value;

/// What stands for a case where a file as a whole is wrong.
const WHOLE: &str = "(the whole file)";

/// How a case ended.
#[derive(Default)]
pub(super) struct Verdict {
    pub(super) line: usize,
    pub(super) text: String,
    pub(super) failure: Option<Failure>,
    /// Why the random data of the case is nothing to run the program on.
    pub(super) unfit: Option<Failure>,
    /// What the rewritten program tests before its regions.
    pub(super) tested: Vec<String>,
}

/// Runs the command.
///
/// # Errors
/// `X0402` if a case fails; `X0907` if there is none; what reading the files refuses.
pub fn run(arguments: &Test, as_json: bool) -> Result<(), Failure> {
    let mut files = Vec::new();
    for path in &arguments.paths {
        let named = path.is_file();
        let extensions: Vec<&str> = ["loz", "loops", "c"].into_iter().chain(files::CPP).collect();
        let found = find(path, &extensions)?;
        // In a folder, C without a region is no program of ours.
        files.extend(found.into_iter().filter(|f| {
            named || files::language(f).is_none() || read_source(f).is_ok_and(|s| kernel::has_region(&s.text))
        }));
    }
    let compilers = compilers(arguments)?;
    let bar = Bar::new(files.len() as u64, "testing");
    let (mut passed, mut failed, mut unfit) = (0, 0, 0);
    let mut told = Vec::new();
    let outcomes = parallel(&files, |file| {
        bar.set_message(file.display().to_string());
        let verdicts = test_file(file, arguments, &compilers);
        bar.inc(1);
        verdicts
    });
    for (file, outcome) in files.iter().zip(outcomes) {
        let verdicts = match outcome {
            // One file that can't be read says nothing of the others.
            Err(failure) if files.len() > 1 && failure.kind == FailureKind::Refused => {
                vec![Verdict {
                    line: 1,
                    text: WHOLE.to_owned(),
                    failure: Some(failure),
                    ..Verdict::default()
                }]
            }
            outcome => outcome?,
        };
        let bad = verdicts.iter().filter(|v| v.failure.is_some()).count();
        let not_run = verdicts.iter().filter(|v| v.unfit.is_some()).count();
        failed += bad;
        unfit += not_run;
        passed += verdicts.len() - bad - not_run;
        if as_json {
            told.extend(verdicts.iter().map(|v| verdict_json(file, v)));
        } else {
            tell(file, &verdicts);
        }
    }
    drop(bar);
    let total = passed + failed + unfit;
    if total == 0 {
        let paths: Vec<String> = arguments.paths.iter().map(|p| p.display().to_string()).collect();
        let filter = arguments.filter.as_ref().map_or(String::new(), |f| format!(" for the filter `{f}`"));
        let message = format!("no test cases in {}{filter}", paths.join(", "));
        return Err(Failure::refused("X0907", message).help(
            "write them as comments such as `-- test dot xs=[1, 2] ys=[3, 4] => 11`; C files are tested as they are",
        ));
    }
    if as_json {
        report::print_json(
            json!({ "ok": failed == 0, "passed": passed, "failed": failed, "not_run": unfit, "cases": told }),
        );
    } else {
        let others = match unfit {
            0 => String::new(),
            _ => format!(", {unfit} could not run on random arguments,"),
        };
        report::print(&format!("{passed} of {total} cases passed{others} in {} files\n", files.len()));
    }
    if failed == 0 && passed == 0 {
        let message = format!("none of {total} test cases could run on random arguments");
        return Err(Failure::refused("X0907", message)
            .help("write a `main` that calls the function: then the whole program is run and compared"));
    }
    if failed == 0 {
        return Ok(());
    }
    if as_json {
        return Err(Failure::told(FailureKind::Check));
    }
    Err(Failure {
        kind: FailureKind::Check,
        ..Failure::refused("X0402", format!("{failed} of {total} test cases failed"))
    })
}

/// Applies `work` to all items on as many threads as there are processors; results are in the order
/// of the items.
fn parallel<T: Sync, R: Send>(items: &[T], work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let next = std::sync::atomic::AtomicUsize::new(0);
    let results: Vec<std::sync::Mutex<Option<R>>> =
        items.iter().map(|_| std::sync::Mutex::new(None)).collect();
    let workers = std::thread::available_parallelism().map_or(1, usize::from).min(items.len().max(1));
    std::thread::scope(|scope| {
        for _ in 0..workers {
            let run = || {
                loop {
                    let k = next.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
                    let Some(item) = items.get(k) else { break };
                    let result = work(item);
                    if let Ok(mut slot) = results[k].lock() {
                        *slot = Some(result);
                    }
                }
            };
            // Programs nest deep, and the stages recurse.
            let builder = std::thread::Builder::new().stack_size(crate::api::STACK);
            if builder.spawn_scoped(scope, run).is_err() {
                run();
            }
        }
    });
    results.into_iter().filter_map(|slot| slot.into_inner().ok().flatten()).collect()
}

fn tell(file: &Path, verdicts: &[Verdict]) {
    let mut text = String::new();
    // An error in a definition fails all its cases alike.
    let mut before = String::new();
    for verdict in verdicts {
        if let Some(failure) = &verdict.unfit {
            let (place, case) = (format!("{}:{}", file.display(), verdict.line), &verdict.text);
            text.push_str(&format!("{place}: not run  {case}\n    {}\n", failure.summary()));
        }
        if let Some(failure) = &verdict.failure {
            text.push_str(&format!("{}:{}: FAILED  {}\n", file.display(), verdict.line, verdict.text));
            let why = report::render(failure, false);
            if why == before {
                text.push_str("    for the same reason\n");
                continue;
            }
            for line in why.trim_end().lines() {
                text.push_str(&format!("    {line}\n"));
            }
            before = why;
        }
    }
    if text.is_empty() && !verdicts.is_empty() {
        text = format!("{}: {} passed\n", file.display(), verdicts.len());
    }
    let tested: BTreeSet<&String> = verdicts.iter().flat_map(|v| &v.tested).collect();
    tested.into_iter().for_each(|line| text.push_str(&format!("    {line}\n")));
    report::print(&text);
}

fn verdict_json(file: &Path, verdict: &Verdict) -> Json {
    json!({
        "file": file.display().to_string(), "line": verdict.line, "case": verdict.text,
        "ok": verdict.failure.is_none() && verdict.unfit.is_none(),
        "ran": verdict.unfit.is_none(),
        "why": verdict.failure.as_ref().or(verdict.unfit.as_ref()).map(Failure::summary),
    })
}

/// The C compilers that each program is compiled by.
fn compilers(arguments: &Test) -> Result<Vec<Compiler>, Failure> {
    let more = arguments.also_cc.iter().map(|command| Compiler::named(command, "--also-cc"));
    std::iter::once(Compiler::find()).chain(more).collect()
}

/// Runs the cases of one file.
fn test_file(file: &Path, arguments: &Test, compilers: &[Compiler]) -> Result<Vec<Verdict>, Failure> {
    let source = read_source(file)?;
    if files::language(file).is_some() {
        return Ok(test_c_file(&source, arguments, compilers));
    }
    test_source(&source, arguments, compilers)
}

/// Runs the cases in the comments of a program.
pub(super) fn test_source(
    source: &Source,
    arguments: &Test,
    compilers: &[Compiler],
) -> Result<Vec<Verdict>, Failure> {
    let cases = cases::read(&source.text).map_err(|d| Failure::in_source(source, d))?;
    let mut verdicts = Vec::new();
    let (mut routines, mut points) = (Vec::new(), Vec::new());
    // A file that must be refused is read by its own case; any other failure belongs to every case.
    let front = files::open(source, &super::request());
    let says_so = |kind: &CaseKind| matches!(kind, CaseKind::Error(_) | CaseKind::Test(_));
    if let Err(failure) = &front
        && !cases.iter().any(|case| says_so(&case.kind))
    {
        // No case would tell.
        return Ok(vec![Verdict {
            line: 1,
            text: WHOLE.to_owned(),
            failure: Some(failure.clone()),
            ..Verdict::default()
        }]);
    }
    for case in &cases {
        let text = source.text[case.span.start as usize..case.span.end as usize].to_owned();
        let text = text.trim_start_matches(['-', '/']).trim_start().to_owned();
        if arguments.filter.as_ref().is_some_and(|f| !text.contains(f.as_str())) {
            continue;
        }
        match &case.kind {
            CaseKind::Bench(_) => {}
            CaseKind::Error(code) => {
                verdicts.push(Verdict {
                    line: case.line,
                    failure: must_be_refused(source, code).err(),
                    text,
                    ..Verdict::default()
                });
            }
            CaseKind::Test(run) => {
                let prepared = front
                    .as_ref()
                    .map_err(Clone::clone)
                    .and_then(|front| prepare(front, case.line, &text, run, arguments.seed, &mut routines));
                match prepared {
                    Ok(more) => points.extend(more),
                    Err(failure) => verdicts.push(Verdict {
                        line: case.line,
                        text,
                        failure: Some(failure),
                        ..Verdict::default()
                    }),
                }
            }
        }
    }
    verdicts.extend(run_points(&routines, points, compilers, arguments.sanitize));
    verdicts.sort_by_key(|v| v.line);
    Ok(verdicts)
}

/// A C program at its own sizes and at small ones; or the code in its first line, with which it
/// must be refused.
fn test_c_file(source: &Source, arguments: &Test, compilers: &[Compiler]) -> Vec<Verdict> {
    let refused = source.text.lines().find_map(|l| l.strip_prefix("// error ")).map(str::trim);
    if let Some(code) = refused {
        let failure = must_be_refused(source, code).err();
        return vec![Verdict { line: 1, text: format!("error {code}"), failure, ..Verdict::default() }];
    }
    if !kernel::runs_by_itself(&source.text) {
        return test_regions(source, arguments, compilers);
    }
    let rewritten = test_c::rewritten(source, &[], arguments);
    let wanted = |text: &String| arguments.filter.as_ref().is_none_or(|f| text.contains(f.as_str()));
    test_c::points(&source.text)
        .into_iter()
        .filter(|(text, _)| wanted(text) || wanted(&source.path))
        .map(|(text, defines)| {
            // Where the region uses macros, their values are part of the rewritten text.
            let outcome = rewritten.as_ref().map_err(Clone::clone).and_then(|r| {
                let text = if defines.is_empty() || r.macros.is_empty() {
                    r.text.clone()
                } else {
                    test_c::rewritten(source, &defines, arguments)?.text
                };
                compilers.iter().try_for_each(|compiler| {
                    test_c::compare(source, (&text, r.reassociated), &defines, compiler, arguments)
                        .map_err(|failure| compiled_by(failure, compiler, compilers))
                })
            });
            let tested = rewritten.as_ref().map_or_else(|_| Vec::new(), |r| test_c::tested(source, r));
            Verdict { line: 1, text, failure: outcome.err(), tested, ..Verdict::default() }
        })
        .collect()
}

/// The regions of a C file without a main function, each as a function of its own on random data.
fn test_regions(source: &Source, arguments: &Test, compilers: &[Compiler]) -> Vec<Verdict> {
    let (reassociate, auto) = (arguments.reassociate, arguments.auto);
    let request = Request { reassociate, auto, ..super::request() };
    let failed =
        |text: String, failure| Verdict { text, failure: Some(failure), line: 1, ..Verdict::default() };
    let front = match files::open(source, &request) {
        Ok(front) => front,
        Err(failure) => return vec![failed(source.path.clone(), failure)],
    };
    let (mut routines, mut points, mut verdicts) = (Vec::new(), Vec::new(), Vec::new());
    for name in front.definitions() {
        let request = request.of(&name);
        let lowered = match front.lower(&request) {
            Ok(lowered) => lowered,
            Err(failure) => {
                verdicts.push(failed(name, failure));
                continue;
            }
        };
        let original = lowered.original.as_ref().unwrap_or(&lowered.function);
        for sizes in test_c::sizes_of(&lowered.function, original) {
            let at: Vec<String> = sizes.iter().map(|(n, v)| format!("{n}={v}")).collect();
            let text = format!("{name} {}", at.join(" ")).trim_end().to_owned();
            if arguments.filter.as_ref().is_some_and(|f| !text.contains(f.as_str())) {
                continue;
            }
            let (values, routine, seed) = (BTreeMap::new(), routines.len(), arguments.seed);
            points.push(Point { line: 1, text, routine, sizes, values, expected: None, seed });
        }
        routines.push(Routine { request, lowered, paper: false });
    }
    verdicts.extend(run_points(&routines, points, compilers, arguments.sanitize));
    // Here the loop programs ran, without their tests.
    if let (Some(first), Ok(rewritten)) = (verdicts.first_mut(), test_c::rewritten(source, &[], arguments)) {
        first.tested = test_c::tested(source, &rewritten);
    }
    verdicts
}

/// Takes every definition of a source to a loop program, for the errors on the way.
fn check_all(source: &Source) -> Result<(), Failure> {
    let request = super::request();
    files::open(source, &request)?.all(&request).map(|_| ())
}

fn must_be_refused(source: &Source, code: &str) -> Result<(), Failure> {
    match check_all(source) {
        Ok(()) => {
            Err(Failure::check("X0401", format!("the file is accepted, but should be refused with {code}")))
        }
        Err(failure) if failure.diagnostics.iter().any(|d| d.code.0 == code) => Ok(()),
        Err(failure) => Err(Failure::check("X0401", format!("the file is refused, but not with {code}"))
            .note(failure.summary())),
    }
}

/// The points of a case: every combination of its alternatives.
fn prepare(
    front: &Front,
    line: usize,
    text: &str,
    run: &cases::Run,
    seed: u64,
    routines: &mut Vec<Routine>,
) -> Result<Vec<Point>, Failure> {
    let mut request = super::request().of(&run.definition);
    let mut seed = seed;
    let mut alternatives: Vec<(Name, Vec<i64>)> = Vec::new();
    let mut named: Vec<(&str, &Setting)> = Vec::new();
    for (name, setting) in &run.settings {
        match (name.as_str(), setting) {
            ("strategy", Setting::Word(word)) => request.strategy = Some(word.clone()),
            ("mode", Setting::Word(word)) if word == "paper" => request.mode = Mode::Paper,
            ("mode", Setting::Word(word)) if word == "default" => {}
            (name, Setting::Word(word)) if Scalar::ALL.iter().any(|s| s.keyword() == word) => {
                request.types.push((name.to_owned(), word.clone()));
            }
            ("seed", Setting::Values(v)) if integers(v).is_some_and(|v| v.len() == 1) => {
                seed = integers(v).map_or(0, |v| v[0].unsigned_abs());
            }
            ("mode", Setting::Word(word)) => {
                let message = format!("there is no mode `{word}`: modes are default and paper");
                return Err(Failure::refused("X0403", message));
            }
            (name, setting) => named.push((name, setting)),
        }
    }
    let routine = match routines.iter().position(|r| r.is_for(&request)) {
        Some(k) => k,
        None => {
            let lowered = front.lower(&request)?;
            let paper = request.mode == Mode::Paper;
            routines.push(Routine { request, lowered, paper });
            routines.len() - 1
        }
    };
    let function = &routines[routine].lowered.function;
    let mut values = BTreeMap::new();
    for (name, setting) in named {
        let Setting::Values(given) = setting else {
            return Err(Failure::refused(
                "X0403",
                format!("the value of `{name}` is neither a size nor the value of a parameter"),
            ));
        };
        let is_param = function.params.iter().any(|p| p.name.as_str() == name && p.mode != ParamMode::Out);
        if function.sizes.iter().any(|s| s.as_str() == name) {
            let sizes = integers(given)
                .ok_or_else(|| Failure::refused("X0403", format!("the size `{name}` is not an integer")))?;
            alternatives.push((Name::new(name), sizes));
        } else if let (true, [value]) = (is_param, given.as_slice()) {
            values.insert(Name::new(name), value.clone());
        } else {
            let message = if is_param || name == "seed" {
                format!("`{name}` takes one value; only sizes take several")
            } else {
                format!("`{}` has no size or parameter `{name}`", function.name)
            };
            return Err(Failure::refused("X0403", message));
        }
    }
    let mut combinations = vec![Sizes::new()];
    for (name, sizes) in &alternatives {
        combinations = combinations
            .into_iter()
            .flat_map(|c| {
                sizes.iter().map(move |v| {
                    let mut c = c.clone();
                    c.insert(name.clone(), *v);
                    c
                })
            })
            .collect();
    }
    let several = combinations.len() > 1;
    let point = |sizes: Sizes| {
        let at: Vec<String> = sizes.iter().map(|(n, v)| format!("{n}={v}")).collect();
        let text = if several { format!("{text}  [{}]", at.join(" ")) } else { text.to_owned() };
        Point { line, text, routine, sizes, values: values.clone(), expected: run.expected.clone(), seed }
    };
    Ok(combinations.into_iter().map(point).collect())
}

fn integers(values: &[Value]) -> Option<Vec<i64>> {
    values.iter().map(|v| if let Value::Number(n) = v { n.parse().ok() } else { None }).collect()
}
