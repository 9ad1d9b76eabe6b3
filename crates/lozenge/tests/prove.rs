//! Certificates: every program that ships, and mutants of their loops, before the verified checker.
//!
//! `tests/prove/library.txt` holds the verdict on every definition. Without Coq on the machine
//! these tests say so and do nothing (`./x test` installs it).

mod evidence;
mod mutate;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use dpia::certificate::{COMPARISON_HEAD, HEAD, module_name};
use loops::{Function, Stmt, Tensor};
use lozenge::bind::{self, Sizes};
use lozenge::coq::{Coq, Verdict};
use lozenge::pipeline::Sides;
use lozenge::random::Random;
use lozenge::{check, files};

/// Mutants of one definition.
const MUTANTS: usize = 8;

/// And of one that iterates, whose certificate takes seconds.
const MUTANTS_OF_ITERATIONS: usize = 2;

/// Of so many mutants of the loops of one definition one is compared with the theory's.
const COMPARED: usize = 8;

/// Mutants are made of loops nested no deeper than this, so that the test ends soon.
const DEPTH: usize = 3;

/// Coq for one file of certificates may take this long.
const LIMIT: Duration = Duration::from_secs(600);

fn coq() -> Option<Coq> {
    if let Err(missing) = Coq::command() {
        golden::skipped(&missing.summary());
        return None;
    }
    let cache = cache().join("lozenge");
    std::fs::create_dir_all(&cache).unwrap();
    Some(Coq::ready_in(&cache, |doing| eprintln!("{doing}")).unwrap_or_else(|f| panic!("{f:?}")))
}

/// What the command and these tests have for `$XDG_CACHE_HOME`.
fn cache() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join("cache")
}

/// Runs the work on two threads with deep stacks, in order of the results.
fn on_two_threads<T: Send>(count: usize, work: impl Fn(usize) -> T + Sync) -> Vec<T> {
    let (next, done) = (AtomicUsize::new(0), Mutex::new(BTreeMap::new()));
    std::thread::scope(|scope| {
        for _ in 0..2 {
            let body = || {
                loop {
                    let k = next.fetch_add(1, Ordering::Relaxed);
                    if k >= count {
                        break;
                    }
                    let result = work(k);
                    done.lock().unwrap().insert(k, result);
                }
            };
            std::thread::Builder::new().stack_size(1 << 28).spawn_scoped(scope, body).unwrap();
        }
    });
    done.into_inner().unwrap().into_values().collect()
}

/// Small sizes that the assumptions allow, as different from each other as may be.
fn small_sizes(function: &Function) -> Option<Sizes> {
    let mut random = Random::named(11, &function.name);
    let draw =
        |_| -> Sizes { function.sizes.iter().map(|n| (n.clone(), 2 + random.below(4) as i64)).collect() };
    let allowed: Vec<Sizes> = (0..2000)
        .map(draw)
        .filter(|sizes| function.assumptions.iter().all(|a| bind::truth(a, sizes) == Some(true)))
        .take(50)
        .collect();
    allowed.into_iter().max_by_key(|sizes| sizes.values().collect::<BTreeSet<_>>().len())
}

/// Verdicts on comparisons, each given as a module with this name.
fn compared(coq: &Coq, modules: &[(String, String)]) -> Vec<String> {
    let mut text = COMPARISON_HEAD.to_owned();
    modules.iter().for_each(|(_, module)| text.push_str(module));
    let all: Vec<String> = modules.iter().map(|(name, _)| format!("{name}.theory.verdict")).collect();
    let _ = writeln!(text, "Set Printing Width 1000.\nEval vm_compute in [{}].", all.join("; "));
    if let Some(folder) = std::env::var_os("COMPARISONS") {
        let name = modules.first().map_or("none", |(name, _)| name);
        std::fs::write(Path::new(&folder).join(format!("{name}.v")), &text).unwrap();
    }
    let said = coq.answer(&text, LIMIT).unwrap_or_else(|f| panic!("{}", f.diagnostics[0].notes.join("\n")));
    let found: Vec<String> = said.split('"').skip(1).step_by(2).map(str::to_owned).collect();
    assert_eq!(found.len(), modules.len(), "{said}");
    found
}

/// The loops of every definition, in both modes, against those that the theory's translation makes
/// of it (`proofs/Compare.v`); and mutants of these loops, none of which may pass for them.
#[test]
fn translation() {
    if coq().is_none() {
        return;
    }
    let coq = Coq::comparing_in(&cache().join("lozenge"), |doing| eprintln!("{doing}")).unwrap();
    let mut cases = Vec::new();
    for path in programs() {
        for (name, sides) in translations(&path) {
            for mode in [dpia::Mode::Paper, dpia::Mode::Default] {
                cases.push((path.clone(), name.clone(), sides.clone(), mode));
            }
        }
    }
    let results = on_two_threads(2, |half| {
        let (mut lines, mut modules, mut at) = (Vec::new(), Vec::new(), Vec::new());
        for (k, (path, name, sides, mode)) in cases.iter().enumerate().filter(|(k, _)| (k / 2) % 2 == half) {
            let shown = if *mode == dpia::Mode::Paper { "paper" } else { "default" };
            let start = format!("{} {name}, {shown}: ", path.file_name().unwrap().to_string_lossy());
            let Ok(translation) = dpia::translate(&sides.definition, *mode) else {
                lines.push((k, start + "its loops are left to a strategy"));
                continue;
            };
            let function = &translation.function;
            let Some(sizes) = small_sizes(function) else {
                lines.push((k, start + "no small sizes"));
                continue;
            };
            let module = |function: &Function, name: &str| {
                dpia::certificate::comparison(
                    &sides.definition,
                    function,
                    &translation.abi,
                    *mode,
                    &|n| sizes.get(n).copied(),
                    name,
                )
            };
            let own = format!("c{k}_{name}");
            match module(function, &own) {
                Err(refused) => lines.push((k, start + &refused.message)),
                Ok(text) => {
                    at.push((k, start, None));
                    modules.push((module_name(&own), text));
                    // Where data choose, a mistake deep in a choice may be met at no seed.
                    let chooses = function.to_string().contains("select(");
                    if *mode == dpia::Mode::Default || chooses || depth(&function.body) > DEPTH {
                        continue;
                    }
                    let points = points(&Sides { function: function.clone(), ..sides.clone() });
                    let wrong = mutate::mutants(function)
                        .into_iter()
                        .filter(|m| goes_wrong(&m.function, &points))
                        .collect();
                    // One of each definition, of another kind each time.
                    let mut spread = mutate::spread(wrong, COMPARED);
                    if spread.is_empty() {
                        continue;
                    }
                    let mutant = spread.swap_remove((k / 2) % spread.len());
                    let name = format!("{own}__mutant");
                    if let Ok(text) = module(&mutant.function, &name) {
                        at.push((k, String::new(), Some(mutant)));
                        modules.push((module_name(&name), text));
                    }
                }
            }
        }
        let mut noticed = 0;
        let mut same = false;
        for ((k, start, mutant), verdict) in at.into_iter().zip(compared(&coq, &modules)) {
            match mutant {
                None => {
                    same = verdict == "same";
                    lines.push((k, start + &verdict));
                }
                Some(mutant) if same => {
                    if verdict == "same" {
                        panic!(
                            "{:?} passes:\n{}",
                            mutant.kind,
                            loops::Program { functions: vec![mutant.function] }
                        );
                    }
                    noticed += 1;
                }
                Some(_) => {}
            }
        }
        (lines, noticed)
    });
    let noticed: usize = results.iter().map(|(_, n)| n).sum();
    eprintln!("mutants noticed: {noticed}");
    assert!(noticed > 30, "too few mutants: {noticed}");
    let mut lines: Vec<_> = results.into_iter().flat_map(|(lines, _)| lines).collect();
    lines.sort();
    let text: String = lines.into_iter().map(|(_, line)| line + "\n").collect();
    golden::compare(&golden::folder("prove").join("translation.txt"), &text)
        .unwrap_or_else(|e| panic!("{e}"));
}

/// The library without its examples, of which some take Coq minutes, and programs with what no
/// program of the library has.
fn programs() -> Vec<PathBuf> {
    let library = golden::root().join("library");
    let mut programs = lozenge::files::find(&library, &["loz"]).unwrap();
    programs.retain(|path| !path.starts_with(library.join("examples")));
    programs.extend(
        ["scatter.loz", "pieces.loz", "parallel.loz", "sums.loz"]
            .map(|name| golden::folder("prove").join(name)),
    );
    programs
}

/// The definitions of a file with what can be claimed of them, the best first.
fn definitions(path: &Path) -> Vec<(String, Vec<Sides>)> {
    let source = lozenge::files::read_source(path).unwrap();
    let front = files::open(&source, &files::request()).unwrap();
    let sides = |definition: &String| {
        front.claims(&files::request().of(definition)).unwrap_or_else(|f| panic!("{f:?}"))
    };
    front.definitions().into_iter().map(|d| (d.clone(), sides(&d))).collect()
}

/// The same with the loops of the translation alone, before any pass.
fn translations(path: &Path) -> Vec<(String, Sides)> {
    let last = |(name, mut claims): (String, Vec<Sides>)| claims.pop().map(|sides| (name, sides));
    definitions(path).into_iter().filter_map(last).collect()
}

/// What the checker computes of certificates, each given as a module.
fn verdicts(coq: &Coq, modules: &[(String, String)]) -> Vec<bool> {
    let mut text = HEAD.to_owned();
    for (_, module) in modules {
        text.push_str(module);
    }
    let all: Vec<String> = modules.iter().map(|(name, _)| format!("accept {name}.c")).collect();
    let _ = writeln!(text, "Eval vm_compute in [{}].", all.join("; "));
    let said = coq.answer(&text, LIMIT).unwrap_or_else(|f| panic!("{}", f.diagnostics[0].notes.join("\n")));
    let words = said.split(|c: char| !c.is_ascii_alphanumeric()).filter(|w| matches!(*w, "true" | "false"));
    let found: Vec<bool> = words.map(|w| w == "true").collect();
    assert_eq!(found.len(), modules.len(), "{said}");
    found
}

const ACCEPTED: &str = "accepted";
const REJECTED: &str = "rejected";

/// What Coq says of one certificate, by the theorem itself.
fn decided(coq: &Coq, name: &str, sides: &Sides) -> String {
    let certificate = sides.certificate().unwrap_or_else(|refused| panic!("{name}: {refused:?}"));
    match coq.decide(&certificate, name, LIMIT).unwrap_or_else(|f| panic!("{name}: {f:?}")).verdict {
        Verdict::Accepted { axioms } if axioms.is_empty() => ACCEPTED.to_owned(),
        Verdict::Accepted { axioms } => format!("accepted with axioms: {}", axioms.join(", ")),
        Verdict::Rejected => REJECTED.to_owned(),
    }
}

/// A verdict on each definition, with what it is on: the loops that become C; if these are not
/// accepted, those before the passes. A definition without a certificate has nothing.
fn best_verdicts<'a>(coq: &Coq, definitions: &'a [(String, Vec<Sides>)]) -> Vec<(String, Option<&'a Sides>)> {
    let mut found = vec![(String::new(), None); definitions.len()];
    let most = definitions.iter().map(|(_, claims)| claims.len()).max().unwrap_or(0);
    for round in 0..most {
        let (mut modules, mut asked) = (Vec::new(), Vec::new());
        for (k, (name, claims)) in definitions.iter().enumerate() {
            let open = !found[k].0.starts_with(ACCEPTED);
            let Some(sides) = claims.get(round).filter(|_| open) else { continue };
            match sides.certificate() {
                Err(refused) => found[k] = (format!("no certificate: {}", refused.message), None),
                Ok(certificate) => {
                    modules.push((module_name(name), certificate.to_module(name, "")));
                    asked.push((k, sides));
                }
            }
        }
        if modules.is_empty() {
            continue;
        }
        for ((k, sides), accepted) in asked.into_iter().zip(verdicts(coq, &modules)) {
            let said = match (accepted, sides.after.is_empty()) {
                (false, _) => REJECTED.to_owned(),
                (true, true) => ACCEPTED.to_owned(),
                (true, false) => format!("{ACCEPTED} before {}", sides.after.join(", ")),
            };
            found[k] = (said, Some(sides));
        }
    }
    found
}

/// The verdict on every definition: what the checker computes. The theorem itself, and what it
/// rests on, for one definition of each file.
#[test]
fn library() {
    let Some(coq) = coq() else { return };
    let programs = programs();
    let lines = on_two_threads(programs.len(), |k| {
        let definitions = definitions(&programs[k]);
        let found = best_verdicts(&coq, &definitions);
        let one =
            definitions.iter().zip(&found).find_map(|((name, _), (said, on))| Some((name, said, (*on)?)));
        if let Some((name, said, sides)) = one {
            let by_theorem = decided(&coq, name, sides);
            assert_eq!(Some(by_theorem.as_str()), said.split(" before ").next(), "{name}");
        }
        let file = programs[k].file_name().unwrap().to_string_lossy();
        let lines =
            definitions.iter().zip(&found).map(|((name, _), (said, _))| format!("{file} {name}: {said}\n"));
        lines.collect::<String>()
    });
    golden::compare(&verdicts_file(), &lines.concat()).unwrap_or_else(|e| panic!("{e}"));
}

/// What the command says: `tests/prove/command.cmd` holds its lines.
#[test]
fn command() {
    if coq().is_none() {
        return;
    }
    let folder = golden::folder("prove");
    let bin = Path::new(env!("CARGO_BIN_EXE_lozenge")).parent().unwrap();
    let path = std::env::var("PATH").unwrap_or_default();
    let lines = std::fs::read_to_string(folder.join("command.cmd")).unwrap();
    let mut told = String::new();
    for line in lines.lines() {
        let _ = writeln!(told, "{}{line}", if line.is_empty() || line.starts_with('#') { "" } else { "$ " });
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let output = std::process::Command::new("sh")
            .args(["-c", &format!("{line} 2>&1")])
            .current_dir(&folder)
            .env("PATH", format!("{}:{path}", bin.display()))
            .env("NO_COLOR", "1")
            .env("LOZENGE_PROGRESS", "off")
            .env("XDG_CACHE_HOME", cache())
            .env("LIBRARY", golden::root().join("library"))
            .env("LOZENGE_REGISTERS", "32x64")
            .output()
            .unwrap();
        let root = format!("{}/", golden::root().display());
        for line in String::from_utf8_lossy(&output.stdout).replace(&root, "").lines() {
            let end = line.find("time: ").map_or(line.len(), |at| at + "time: ".len());
            let _ = writeln!(told, "{}{}", &line[..end], if end < line.len() { "..." } else { "" });
        }
        let code = output.status.code().unwrap_or(-1);
        if code != 0 {
            let _ = writeln!(told, "(exit {code})");
        }
    }
    golden::compare(&folder.join("command.out"), &told).unwrap_or_else(|e| panic!("{e}"));
}

fn verdicts_file() -> PathBuf {
    golden::folder("prove").join("library.txt")
}

/// Sizes that the assumptions allow, with inputs, and the right results.
struct Point {
    sizes: Sizes,
    inputs: Vec<Tensor>,
    results: Vec<Tensor>,
}

fn points(sides: &Sides) -> Vec<Point> {
    let function = &sides.function;
    let mut random = Random::named(7, &function.name);
    let mut points = Vec::new();
    for _ in 0..2000 {
        let sizes: Sizes = function.sizes.iter().map(|n| (n.clone(), 1 + random.below(5) as i64)).collect();
        if !function.assumptions.iter().all(|a| bind::truth(a, &sizes) == Some(true)) {
            continue;
        }
        let ranges = check::ranges(Some(&sides.definition), function, None, &sizes);
        let Ok(inputs) = bind::inputs(function, &sizes, &BTreeMap::new(), &ranges, random.next()) else {
            continue;
        };
        let results =
            check::by_interpreter(function, &sizes, &inputs, None, false).unwrap_or_else(|f| panic!("{f:?}"));
        points.push(Point { sizes, inputs, results });
        if points.len() == 4 {
            break;
        }
    }
    assert!(!points.is_empty(), "{}: no sizes", function.name);
    points
}

/// How deep loops are nested.
fn depth(body: &[Stmt]) -> usize {
    let of = |stmt: &Stmt| {
        let inside = stmt.bodies().into_iter().map(depth).max().unwrap_or(0);
        inside + usize::from(matches!(stmt, Stmt::Loop(_)))
    };
    body.iter().map(of).max().unwrap_or(0)
}

/// Whether the mutant goes wrong on an input: another result, a race, a subscript out of bounds, a
/// read of nothing.
fn goes_wrong(mutant: &Function, points: &[Point]) -> bool {
    points.iter().any(|p| {
        let same = |shuffle| match check::by_interpreter(mutant, &p.sizes, &p.inputs, shuffle, false) {
            Ok(results) => bits(&results) == bits(&p.results),
            Err(_) => false,
        };
        !(same(None) && same(Some(3)))
    })
}

/// Results as text in which floating-point numbers are equal when their bits are.
fn bits(tensors: &[Tensor]) -> String {
    fn write(data: &loops::Data, text: &mut String) {
        match data {
            loops::Data::F32(v) => v.iter().for_each(|x| *text += &format!("{:x} ", x.to_bits())),
            loops::Data::F64(v) => v.iter().for_each(|x| *text += &format!("{:x} ", x.to_bits())),
            loops::Data::Pair(a, b) => {
                write(a, text);
                write(b, text);
            }
            other => *text += &format!("{other:?} "),
        }
    }
    let mut text = String::new();
    tensors.iter().for_each(|t| write(&t.data, &mut text));
    text
}

/// Mutants of the loops of every definition whose certificate is accepted are rejected, if the
/// interpreter shows that they go wrong.
#[test]
fn mutants_are_rejected() {
    let Some(coq) = coq() else { return };
    let programs = programs();
    let verdicts_on_library = std::fs::read_to_string(verdicts_file()).unwrap_or_default();
    // Each with whether it is accepted of the loops that become C.
    let accepted: BTreeMap<String, bool> = verdicts_on_library
        .lines()
        .filter_map(|line| {
            let (name, verdict) = line.split_once(' ')?.1.split_once(": ")?;
            let before = verdict.starts_with("accepted before");
            (before || verdict == ACCEPTED).then(|| (name.to_owned(), !before))
        })
        .collect();
    let counts = on_two_threads(programs.len(), |k| {
        let (mut modules, mut kinds) = (Vec::new(), Vec::new());
        for (name, claims) in definitions(&programs[k]) {
            let Some(printed) = accepted.get(&name) else { continue };
            // The loops that become C if they are not too deep, else those before the last passes.
            let first = if *printed { 0 } else { claims.len().saturating_sub(1) };
            let mut sides = claims.into_iter().skip(first);
            let Some(sides) = sides.find(|sides| depth(&sides.function.body) <= DEPTH) else { continue };
            let Ok(certificate) = sides.certificate() else { continue };
            let module = certificate.to_module(&name, "");
            let most = if module.contains("EIterate") { MUTANTS_OF_ITERATIONS } else { MUTANTS };
            modules.push((module_name(&name), module));
            kinds.push(None);
            let points = points(&sides);
            let wrong: Vec<_> = mutate::mutants(&sides.function)
                .into_iter()
                .filter(|m| goes_wrong(&m.function, &points))
                .collect();
            for (j, mutant) in mutate::spread(wrong, most).into_iter().enumerate() {
                let changed = Sides { function: mutant.function.clone(), ..sides.clone() };
                let Ok(certificate) = changed.certificate() else { continue };
                let name = format!("{name}__{j}");
                modules.push((module_name(&name), certificate.to_module(&name, "")));
                kinds.push(Some(mutant));
            }
        }
        let verdicts = verdicts(&coq, &modules);
        let mut counts: BTreeMap<mutate::Kind, usize> = BTreeMap::new();
        let mut sound = false;
        for ((kind, verdict), (name, _)) in kinds.into_iter().zip(verdicts).zip(&modules) {
            match kind {
                // A definition whose own certificate is rejected says nothing of its mutants.
                None => sound = verdict,
                Some(mutant) if sound => {
                    assert!(
                        !verdict,
                        "{name} ({:?}) is accepted:\n{}",
                        mutant.kind,
                        loops::Program { functions: vec![mutant.function] }
                    );
                    *counts.entry(mutant.kind).or_default() += 1;
                }
                Some(_) => {}
            }
        }
        counts
    });
    let mut total: BTreeMap<mutate::Kind, usize> = BTreeMap::new();
    for (kind, n) in counts.into_iter().flatten() {
        *total.entry(kind).or_default() += n;
    }
    eprintln!("rejected: {total:?}");
    let kinds = [
        mutate::Kind::Index,
        mutate::Kind::Order,
        mutate::Kind::Operator,
        mutate::Kind::Constant,
        mutate::Kind::Missing,
        mutate::Kind::Exchange,
        mutate::Kind::Parallel,
        mutate::Kind::Bound,
    ];
    for kind in kinds {
        assert!(total.get(&kind).is_some_and(|n| *n >= 5), "too few mutants of {kind:?}: {total:?}");
    }
}
