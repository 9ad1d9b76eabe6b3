//! The target `athread`: kernels by the polyhedral side, host and slave files by the target.

use loops::{Code, Diagnostic, Expr, Function, Loop, LoopKind, Name, Stmt};
use polyhedral::Limits;
use polyhedral::athread::{Grid, Mapped, pair_splitting};
use targets::athread::{Chip, Cores, Files, Parallel};

use super::Front;
use crate::failure::Failure;
use crate::request::Request;

/// A definition and what became of it.
#[derive(Clone, Debug)]
pub struct OnCores {
    /// The function of the source.
    pub original: Function,
    /// The mapped one.
    pub mapped: Mapped,
}

/// The cores: formula 17 of the document, with the cores of a row side by side.
///
/// # Errors
/// `P0804` for more cores than the chip has.
pub fn grid(request: &Request) -> Result<Grid, Failure> {
    let threads = i64::from(request.threads.unwrap_or(64));
    if threads > 64 {
        let message = format!("{threads} threads are too many: a core group has 64 cores");
        return Err(Failure::refused("P0804", message).help("ask for at most 64: `--threads 64`"));
    }
    Ok(match Cores::of(&request.settings).parallel {
        Parallel::Two if threads % 8 == 0 => Grid::Plane(threads / 8, 8),
        Parallel::Two if threads <= 8 => Grid::Plane(1, threads),
        Parallel::Two => {
            let message =
                format!("{threads} threads do not fill rows of 8 cores, which two parallel loops need");
            return Err(Failure::refused("P0804", message)
                .help("use a multiple of 8, or at most 8; or map one parallel loop: `--parallel 1d`"));
        }
        Parallel::One => Grid::Line(threads),
    })
}

/// The chip that is asked for.
fn chip(request: &Request) -> &'static Chip {
    Cores::of(&request.settings).chip
}

/// That the sizes which tiles are chosen for are sizes of what is mapped.
///
/// # Errors
/// `X0102` for a name that no chosen definition has, and for a size below 0.
pub(crate) fn check_sizes(front: &Front, request: &Request) -> Result<(), Failure> {
    let mut own: Vec<Name> = Vec::new();
    for name in front.wanted(request)? {
        own.extend(original(front, &name, request)?.sizes);
    }
    own.sort();
    own.dedup();
    for (name, value) in crate::bind::by_name(&request.sizes)? {
        if !own.contains(&name) {
            return Err(Failure::refused("X0102", format!("{} has no size `{name}`", front.source.path))
                .help(crate::bind::list("its sizes are", &own)));
        }
        if value < 0 {
            let message = format!("the size `{name}` is {value}, which is negative");
            return Err(Failure::refused("X0102", message));
        }
    }
    Ok(())
}

/// The function of a definition as the mapping takes it: with `--schedule auto` its patterns get
/// loops first, as for the other target.
fn original(front: &Front, name: &str, request: &Request) -> Result<Function, Failure> {
    let automatic = request.schedule.is_auto().then(|| super::AUTOMATIC.to_owned());
    let strategy = request.strategy.clone().or(automatic);
    let registers = Some(targets::athread::REGISTERS);
    front.original(name, &Request { strategy, registers, ..request.clone() })
}

/// The function of the one chosen definition, as the mapping takes it.
///
/// # Errors
/// What the front ends refuse.
pub fn chosen(front: &Front, request: &Request) -> Result<Function, Failure> {
    original(front, &front.chosen(request)?, request)
}

/// Maps the chosen definition, or all. What cannot be mapped beside others that can stays on the
/// host.
///
/// # Errors
/// What the front ends and the polyhedral side refuse.
pub fn map(front: &Front, request: &Request) -> Result<Vec<OnCores>, Failure> {
    map_all(front, request, Way { share: true, part: 4, stages: false })
}

/// As [`map`], with the schedule trees of its stages.
///
/// # Errors
/// As [`map`].
pub(crate) fn map_in_stages(front: &Front, request: &Request) -> Result<Vec<OnCores>, Failure> {
    map_all(front, request, Way { share: true, part: 4, stages: true })
}

/// A refusal of a definition that names no place gets the line where it begins.
fn placed(front: &Front, name: &Name, mut diagnostic: Diagnostic) -> Failure {
    if diagnostic.labels.is_empty()
        && let Some(span) = front.first_line(name)
    {
        diagnostic = diagnostic.at(span, "begins here");
    }
    for (label, span) in front.statements(name, &diagnostic.message) {
        diagnostic = diagnostic.context(span, label.to_string());
    }
    Failure::in_source(&front.source, vec![diagnostic])
}

/// A note with the lines of the statements that it names.
fn with_lines(front: &Front, name: &Name, mut note: String) -> String {
    for (label, span) in front.statements(name, &note) {
        let line = front.source.text[..span.start as usize].matches('\n').count() + 1;
        let quoted = format!("`{label}`");
        note = note.replace(&quoted, &format!("{quoted} (line {line})"));
    }
    note
}

/// What a mapping may use.
#[derive(Clone, Copy)]
struct Way {
    /// Boxes that cores bring in together, and panels that they exchange.
    share: bool,
    /// Quarters of local memory.
    part: i64,
    /// Whether the schedule trees after the modules are wanted.
    stages: bool,
}

/// As [`map`], in one way.
fn map_all(front: &Front, request: &Request, way: Way) -> Result<Vec<OnCores>, Failure> {
    let mut all = Vec::new();
    let (mut kernels, mut refused) = (0, None);
    for name in front.wanted(request)? {
        let original = original(front, &name, request)?;
        let mapped = match super::c::scattered(front, &original.name) {
            Some(member) => Err(placed(front, &original.name, apart(&member))),
            None => one(front, &original, request, way),
        };
        match mapped {
            Ok(mapped) => {
                kernels += 1;
                all.push(OnCores { original, mapped });
            }
            Err(failure) if stays_on_host(&failure) => {
                let notes = failure.diagnostics.iter().map(|d| {
                    // Other ways out are of the command, not of a definition among others.
                    let allowed = d.help.iter().filter(|help| help.contains("`--reassociate`"));
                    let all: Vec<&str> =
                        std::iter::once(&d.message).chain(allowed).map(String::as_str).collect();
                    with_lines(front, &original.name, format!("on the host: {}", all.join("; ")))
                });
                let notes = notes.collect();
                // Files have no pairs, neither for cores nor for the host.
                let function = match pair_splitting::apart(&original) {
                    Some(apart) => apart.together(&apart.function),
                    None => original.clone(),
                };
                refused.get_or_insert(failure);
                let mapped = Mapped {
                    function,
                    stages: Vec::new(),
                    notes,
                    reassociated: false,
                    seconds: 0.0,
                    parallel: 0,
                    on_host: 1,
                    stepped: false,
                };
                all.push(OnCores { original, mapped });
            }
            Err(failure) => return Err(failure),
        }
    }
    match refused {
        Some(failure) if kernels == 0 => Err(failure),
        _ => Ok(all),
    }
}

/// Whether a refusal is of one program, which the host can run.
fn stays_on_host(failure: &Failure) -> bool {
    failure.diagnostics.iter().any(|d| ["P0102", "P0801", "P0802", "P0803", "P0807"].contains(&d.code.0))
}

/// `P0807`
fn apart(member: &str) -> Diagnostic {
    let message = format!(
        "the elements `{member}` are not contiguous: other members lie between them, and transfers copy contiguous rows"
    );
    Diagnostic::general(Code("P0807"), message)
        .help("use `--target openmp`, or copy the member to an array of its own before the region, and back after it")
}

fn one(front: &Front, original: &Function, request: &Request, way: Way) -> Result<Mapped, Failure> {
    let grid = grid(request)?;
    let cores = cores_by_hand(original);
    if !cores.is_empty() {
        if !request.tile.is_empty() {
            return Err(Failure::usage(
                "X0009",
                "`--tile` has no effect on kernels that are written by hand",
            )
            .help("their tiles are part of the program"));
        }
        return by_hand(front, original, &cores, request);
    }
    let mut mapped =
        in_one_way(original, request, grid, way).map_err(|d| placed(front, &original.name, d))?;
    mapped.notes = mapped.notes.into_iter().map(|note| with_lines(front, &original.name, note)).collect();
    Ok(mapped)
}

/// A function that no front end knows, such as an operator of a model: mapped so that the target
/// has files for it.
///
/// # Errors
/// What the mapping and the target refuse.
pub(super) fn kernel(function: &Function, request: &Request) -> Result<Mapped, Failure> {
    let (grid, chip) = (grid(request)?, chip(request));
    let files = |mapped: &Mapped| targets::athread::emit(&[&mapped.function], "kernel", grid.cores(), chip);
    let mut way = Way { share: true, part: 4, stages: false };
    loop {
        let mapped = in_one_way(function, request, grid, way)?;
        match files(&mapped) {
            Err(d) if d.code == Code("T0006") && way.share => way.share = false,
            Err(d) if d.code == Code("T0005") && way.part > 1 => way.part -= 1,
            done => return Ok(done.map(|_| mapped)?),
        }
    }
}

/// Maps a function in one way, and checks its local memory.
fn in_one_way(
    original: &Function,
    request: &Request,
    grid: Grid,
    Way { share, part, stages }: Way,
) -> Result<Mapped, Diagnostic> {
    let chip = chip(request);
    // Cores have arrays of scalars; the host takes pairs apart and puts them together.
    let apart = pair_splitting::apart(original);
    // Translated programs have the same names for sums in several loops.
    let scalars =
        &loops::visit::with_distinct_locals(apart.as_ref().map_or(original, |apart| &apart.function));
    let hints = request.sizes.iter().map(|(name, n)| (Name::new(name), *n)).collect();
    let options = polyhedral::athread::Options {
        grid,
        hints,
        tiles: request.tile.clone(),
        ldm: chip.buffers() * part / 4,
        reassociate: request.reassociate,
        stages,
        share,
        exchange: share && !chip.crts && grid.cores() % chip.grid.1 == 0,
        ..polyhedral::athread::Options::default()
    };
    let mut mapped = polyhedral::athread::map(scalars, &options)?;
    // By code that has no part in the mapping, on what goes to the target.
    let limits = Limits::from(LOCAL_MEMORY);
    match polyhedral::local::check(scalars, &mapped.function, chip.buffers(), limits) {
        Ok(_) => {}
        Err(d) if d.code == Code("P0002") => {
            mapped.notes.push("local memory was not checked: that would take too many operations".to_owned());
        }
        Err(d) => return Err(d),
    }
    if let Some(apart) = apart {
        mapped.function = apart.together(&mapped.function);
    }
    Ok(mapped)
}

/// Operations of the set library for the check of local memory: four times what the largest of
/// `tests/c/kernels` takes (`lattice`, 2.1 million in a second).
const LOCAL_MEMORY: u64 = 8_000_000;

/// The numbers of cores that the kernels of a loop program are written for; none if it has no
/// kernels.
fn cores_by_hand(function: &Function) -> Vec<i64> {
    fn parallel(stmt: &Stmt) -> Option<&Loop> {
        match stmt {
            Stmt::Loop(l) if l.kind == LoopKind::Parallel => Some(l),
            _ => None,
        }
    }
    fn end(l: &Loop) -> i64 {
        if let Expr::Int(n) = l.upper { n } else { 0 }
    }
    fn within(body: &[Stmt], kernel: bool, found: &mut Vec<i64>) {
        for stmt in body {
            match (stmt, parallel(stmt)) {
                (_, Some(rows)) if kernel => found.push(match rows.body.as_slice() {
                    [only] => parallel(only).map_or(end(rows), |l| end(rows).saturating_mul(end(l))),
                    _ => end(rows),
                }),
                (Stmt::Block { mark, body }, _) => {
                    let here = mark.as_ref().is_some_and(|mark| mark.as_str() == "kernel");
                    within(body, kernel || here, found);
                }
                _ => stmt.bodies().into_iter().for_each(|body| within(body, kernel, found)),
            }
        }
    }
    let mut found = Vec::new();
    within(&function.body, false, &mut found);
    found
}

/// A loop program whose kernels were written by hand: checked as any other, and otherwise left as
/// it is.
fn by_hand(front: &Front, original: &Function, cores: &[i64], request: &Request) -> Result<Mapped, Failure> {
    let threads = grid(request)?.cores();
    if let Some(cores) = cores.iter().find(|cores| **cores != threads) {
        let message = format!("a kernel of `{}` is written for {cores} cores, not {threads}", original.name);
        return Err(Failure::refused("P0804", message).help(format!("ask for as many: `--threads {cores}`")));
    }
    let chip = chip(request);
    let limits = Limits::from(LOCAL_MEMORY);
    polyhedral::local::check(original, original, chip.buffers(), limits)
        .map_err(|d| placed(front, &original.name, d))?;
    let notes = vec!["mapped as it is written".to_owned()];
    Ok(Mapped {
        function: original.clone(),
        stages: Vec::new(),
        notes,
        reassociated: false,
        seconds: 0.0,
        parallel: 0,
        on_host: 0,
        stepped: false,
    })
}

/// The schedule trees of all stages.
pub fn stages(all: &[OnCores]) -> String {
    let mut text = String::new();
    for one in all {
        if all.len() > 1 {
            text.push_str(&super::schedule_header(one.original.name.as_str()));
        }
        for (stage, tree) in &one.mapped.stages {
            text.push_str(&format!("# {stage}\n{tree}\n"));
        }
    }
    text
}

/// The files for mapped definitions: of a C source the whole file with its regions replaced, else
/// functions with the interface of the target `openmp`. Where the check of the text complains of
/// how cores share boxes or panels, the definitions are mapped again without that, and say so in
/// their notes.
///
/// # Errors
/// What the target refuses.
pub fn files(front: &Front, request: &Request, all: &mut Vec<OnCores>) -> Result<Files, Failure> {
    checked(front, request, all, |all, threads, chip| {
        match super::c::athread(front, request, all, threads)? {
            Some(host) => {
                Ok(Files { host, ..targets::athread::around(&functions(all), &request.stem(), chip)? })
            }
            None => Ok(targets::athread::emit(&functions(all), &request.stem(), threads, chip)?),
        }
    })
}

/// As [`files`], of functions alone, whatever the source.
///
/// # Errors
/// What the target refuses.
pub(crate) fn function_files(
    front: &Front,
    request: &Request,
    all: &mut Vec<OnCores>,
) -> Result<Files, Failure> {
    checked(front, request, all, |all, threads, chip| {
        Ok(targets::athread::emit(&functions(all), &request.stem(), threads, chip)?)
    })
}

fn functions(all: &[OnCores]) -> Vec<&Function> {
    all.iter().map(|one| &one.mapped.function).collect()
}

/// The files that `write` makes of definitions for a number of cores of a chip; mapped again
/// without shares where the check of the text does not follow these, and with smaller tiles where
/// buffers do not fit.
fn checked(
    front: &Front,
    request: &Request,
    all: &mut Vec<OnCores>,
    write: impl Fn(&[OnCores], i64, &Chip) -> Result<Files, Failure>,
) -> Result<Files, Failure> {
    let (threads, chip) = (grid(request)?.cores(), chip(request));
    match write(all, threads, chip) {
        Err(failure) if failure.diagnostics.iter().any(|d| d.code == Code("T0006")) => {
            *all = map_all(front, request, Way { share: false, part: 4, stages: false })?;
            for one in all.iter_mut() {
                one.mapped.notes.push(format!("cores share no boxes and no panels: {}", failure.summary()));
            }
            write(all, threads, chip)
        }
        // What stays in local memory for all tiles, or comes early, takes more than the mapping has
        // counted.
        Err(mut failure) if too_much(&failure) && request.tile.is_empty() => {
            for part in [3, 2, 1] {
                let Ok(mut smaller) = map_all(front, request, Way { share: true, part, stages: false })
                else {
                    break;
                };
                match write(&smaller, threads, chip) {
                    Err(again) if too_much(&again) => failure = again,
                    other => {
                        for one in &mut smaller {
                            one.mapped.notes.push(format!(
                                "tiles are for {} bytes of local memory, the rest is for what stays there",
                                chip.buffers() * part / 4
                            ));
                        }
                        *all = smaller;
                        return other;
                    }
                }
            }
            Err(failure)
        }
        other => other,
    }
}

/// Whether buffers do not fit in local memory.
fn too_much(failure: &Failure) -> bool {
    failure.diagnostics.iter().any(|d| d.code == Code("T0005"))
}
