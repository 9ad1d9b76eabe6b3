//! Forms of a function that are mapped to cores, and the choice among their results.
//!
//! What can run in parallel, and what fits into local memory, depends on how a function is written.
//! Each function here has a list of forms and asks the next one for each: forms of scalars, of
//! sums, of what is overwritten, of the grid, of storage. [`Best`] keeps the better of two results.

use loops::{Function, Name, Stmt};
use passes::{
    Of, PIVOT_SPLITTING, SCALAR_REPLACEMENT, STORE_FORWARDING, Uses, expand_levels, propagate_copies,
};

use super::histograms::{self, Private};
use super::reductions::{self, Blocked};
use super::{Grid, Mapped, Options, final_values, map_as_it_is, modulo_planes, multiversioning, old_values};
use super::{privatisation, refusals, scans, stays};
use crate::fault::{self, Result};
use crate::model::Model;

/// Codes of refusals that tell little: nothing is parallel, a limit was reached.
const NOTHING: [&str; 2] = ["P0801", "P0002"];

/// The best of the results so far.
#[derive(Default)]
struct Best(Option<Result<Mapped>>);

impl Best {
    /// Takes a result if it is better. The first of two refusals that says something stays.
    fn offer(&mut self, other: Result<Mapped>) {
        self.0 = Some(match (self.0.take(), other) {
            (Some(Err(before)), Err(_)) if !NOTHING.contains(&before.code.0) => Err(before),
            (Some(Ok(before)), Err(_)) => Ok(before),
            (Some(Ok(before)), Ok(other)) if !is_better(&other, &before) => Ok(before),
            (_, other) => other,
        });
    }

    /// Whether the host has no loops to run, and the cores no steps that another form may do
    /// without.
    fn is_whole(&self) -> bool {
        matches!(&self.0, Some(Ok(mapped)) if mapped.on_host == 0 && !mapped.stepped)
    }

    fn result(self) -> Result<Mapped> {
        self.0.unwrap_or_else(|| Err(fault::limit("attempts")))
    }
}

/// Whether a result leaves fewer loops to the host, or takes less time by the cost model where the
/// host has none: what the host does has no time there.
fn is_better(this: &Mapped, other: &Mapped) -> bool {
    let whole = this.on_host == 0 && other.on_host == 0;
    this.on_host < other.on_host || (whole && this.seconds < other.seconds)
}

/// A form of a function; none if it is the same.
type Form = fn(&Function) -> Option<Function>;

/// Forms of a function that is refused, or leaves loops to the host. Planes that take turns have
/// numbers where steps are told apart. In a triangular nest the scalars of a sum have no elements
/// for all iterations, and where it is stored it has; an element that is changed while others of
/// its array are read needs a box of its own, and a scalar does not. Split at the pivot of a step,
/// loops over rows and columns are parallel.
const ELSE: [Form; 4] = [
    |function| PIVOT_SPLITTING.run(function),
    modulo_planes::in_turns,
    |function| STORE_FORWARDING.run(function),
    |function| SCALAR_REPLACEMENT.run(function),
];

/// Maps a function in the best of its forms.
pub(super) fn best(function: &Function, options: &Options) -> Result<Mapped> {
    // A scalar that only names a value would get an element for each iteration; one that several
    // statements use still may, or they all compute it.
    let scalars = [Uses::One, Uses::Any]
        .map(|uses| propagate_copies(function, uses).unwrap_or_else(|| function.clone()));
    let [function, again] = &scalars;
    let mut best = Best(Some(with_sums(function, options)));
    if again != function {
        best.offer(with_sums(again, options));
    }
    for form in ELSE {
        if best.is_whole() {
            break;
        }
        form(function).into_iter().for_each(|form| best.offer(with_sums(&form, options)));
    }
    if !best.is_whole()
        && let Some((renamed, arrays)) = with_final_values(function, options)
    {
        // Copies by the cores for loops that the host runs would be of no use.
        if let Ok(mut mapped) = with_sums(&renamed, options)
            && mapped.on_host == 0
        {
            let note = |array| format!("`{array}` gets only finished elements; a copy has the others");
            mapped.notes.extend(arrays.iter().map(note));
            best.offer(Ok(mapped));
        }
    }
    best.result()
}

/// The function with unfinished elements in arrays of their own; what cannot be told is left as it
/// is.
fn with_final_values(function: &Function, options: &Options) -> Option<(Function, Vec<Name>)> {
    let ctx = isl::Ctx::new();
    let renamed = || final_values::renamed(&Model::extract_in(&ctx, function)?.exact()?);
    ctx.limited(options.operations, renamed).ok().flatten()
}

/// Maps a function with partial results for sums in blocks, or else in the order of the text.
fn with_sums(function: &Function, options: &Options) -> Result<Mapped> {
    let mut updates = reductions::with_updates(function, options.reassociate);
    if options.reassociate {
        updates = crate::optimize::reorderable(&updates);
    }
    if let Some(private) = histograms::private(&updates, options) {
        return with_histograms(&updates, &private, options);
    }
    if let Some(blocked) = in_blocks(&updates, options)
        && let Ok(mut mapped) = with_copies(&reductions::ordered(&blocked.function), options)
    {
        mapped.reassociated = blocked.reassociated;
        // That partial results are combined by the host is said of them.
        let combined: Vec<String> = blocked.combined.iter().map(|names| stays(names)).collect();
        mapped.notes.retain(|note| !combined.contains(note));
        mapped.notes.extend(blocked.notes);
        return Ok(mapped);
    }
    let kept = refusals::kept_in_order(function, options);
    let permissions = kept.iter().map(|name| (name, refusals::permission(function, name)));
    match with_copies(&reductions::ordered(function), options) {
        Ok(mut mapped) => {
            for (name, permission) in permissions {
                let own = stays(&format!("`{name}`"));
                if let Some(note) = mapped.notes.iter_mut().find(|note| **note == own) {
                    note.push_str(&format!("; {permission}"));
                }
            }
            Ok(mapped)
        }
        Err(mut refusal) => {
            if ["P0801", "P0802", "P0803"].contains(&refusal.code.0) {
                let permissions: Vec<String> = permissions.map(|(_, permission)| permission).collect();
                refusal.help.splice(0..0, permissions);
            }
            Err(refusal)
        }
    }
}

/// Maps a function with histograms, for sizes up to bounds; beyond them the host runs it.
fn with_histograms(function: &Function, private: &Private, options: &Options) -> Result<Mapped> {
    let (array, elements, bytes) = &private.largest;
    if *bytes > options.ldm {
        return Err(refusals::too_many_elements(array, *elements, *bytes, options.ldm));
    }
    let inside = in_blocks(&private.function, options);
    let form = inside.as_ref().map_or(&private.function, |blocked| &blocked.function);
    let mut mapped = with_copies(&reductions::ordered(form), options)?;
    let combined = inside.iter().flat_map(|blocked| &blocked.combined).map(|names| stays(names));
    let combined: Vec<String> = combined.collect();
    mapped.notes.retain(|note| !combined.contains(note));
    mapped.notes.extend(inside.iter().flat_map(|blocked| blocked.notes.clone()));
    mapped.reassociated = private.reassociated || inside.as_ref().is_some_and(|blocked| blocked.reassociated);
    let copies = private
        .targets
        .iter()
        .map(|name| format!("blocks of iterations have copies of `{name}` of their own"));
    mapped.notes.extend(copies);
    if private.bounds.is_empty() {
        return Ok(mapped);
    }
    let host = Mapped {
        function: reductions::ordered(function),
        notes: vec!["for larger sizes the host runs all".to_owned()],
        stages: mapped.stages.clone(),
        ..mapped.clone()
    };
    Ok(multiversioning::either(&private.bounds, mapped, host))
}

/// The function with partial results for scans and reductions; none if there are none.
pub(super) fn in_blocks(function: &Function, options: &Options) -> Option<Blocked> {
    let Some(mut scans) = scans::blocks(function, options) else {
        return reductions::blocks(function, options);
    };
    if let Some(sums) = reductions::blocks(&scans.function, options) {
        scans.function = sums.function;
        scans.reassociated |= sums.reassociated;
        scans.notes.extend(sums.notes);
        scans.targets.extend(sums.targets);
        scans.combined.extend(sums.combined);
    }
    Some(scans)
}

/// Maps a function as it is, or with copies of what arrays had before.
fn with_copies(function: &Function, options: &Options) -> Result<Mapped> {
    let plain = on_grid(function, options);
    let wanted = if matches!(options.grid, Grid::Plane(..)) { 2 } else { 1 };
    // More parallel loops than there are to be mapped are of no use.
    if plain.as_ref().is_ok_and(|plain| plain.parallel >= wanted && plain.on_host == 0) {
        return plain;
    }
    let ctx = isl::Ctx::new();
    let copies = || old_values::copied(&Model::extract_in(&ctx, function)?.exact()?);
    // What cannot be told is left as it is.
    let Ok(Some((copied, arrays))) = ctx.limited(options.operations, copies) else { return plain };
    let Ok(mut other) = on_grid(&copied, options) else { return plain };
    // Copies by the cores for loops that the host runs would be of no use.
    if plain.is_err() && other.on_host > 0 {
        return plain;
    }
    other.notes.extend(
        arrays.iter().map(|array| {
            format!("a copy of `{array}` is made first, from which what is overwritten is read")
        }),
    );
    let mut best = Best(Some(plain));
    best.offer(Ok(other));
    best.result()
}

/// Maps a function with the loops over the cores that are wanted. Where the boxes of two cores meet
/// with two loops over the cores, they may not with one.
fn on_grid(function: &Function, options: &Options) -> Result<Mapped> {
    let refusal = match with_storage(function, options) {
        Err(refusal) if refusal.code.0 == "P0803" => refusal,
        other => return other,
    };
    let Grid::Plane(rows, columns) = options.grid else { return Err(refusal) };
    let line = Options { grid: Grid::Line(rows * columns), ..options.clone() };
    let Ok(mut mapped) = with_storage(function, &line) else { return Err(refusal) };
    mapped.notes.push(format!("with one loop over the cores, since with two {}", refusal.message));
    Ok(mapped)
}

/// Maps the first form of a function for which it can be done, the one with the most elements for
/// iterations of parallel loops first.
fn with_storage(function: &Function, options: &Options) -> Result<Mapped> {
    let mut refused = Best::default();
    for (levels, form) in storage(function, options).iter().enumerate().rev() {
        match map_as_it_is(form, options) {
            // Elements for more than two loops only if they never leave local memory.
            Ok(mapped) if levels < 2 || is_small(function, &mapped.function) => return Ok(mapped),
            Ok(_) => {}
            refusal => refused.offer(refusal),
        }
    }
    refused.result()
}

/// A function as it is, with an array for each iteration of two loops, and of all loops, if these
/// are others; arrays of which an iteration needs nothing from others are its own.
fn storage(function: &Function, options: &Options) -> Vec<Function> {
    let mut forms = vec![function.clone()];
    for levels in [2, usize::MAX] {
        if let Some(expanded) = expand_levels(function, levels, Of::Arrays)
            && forms.last() != Some(&expanded)
        {
            forms.push(expanded);
        }
    }
    let ctx = isl::Ctx::new();
    for form in &mut forms {
        let private = || -> Result<Option<Function>> {
            let model = Model::extract_in(&ctx, form)?.exact()?;
            privatisation::privatise(form, &model)
        };
        // What cannot be told is left as it is.
        if let Ok(Some(private)) = ctx.limited(options.operations, private) {
            *form = private;
        }
    }
    forms
}

/// Whether a mapped function has no arrays of its own that its original does not have.
fn is_small(original: &Function, mapped: &Function) -> bool {
    let heap =
        |f: &Function| f.body.iter().filter(|s| matches!(s, Stmt::Local(l) if !l.dims.is_empty())).count();
    heap(mapped) <= heap(original)
}
