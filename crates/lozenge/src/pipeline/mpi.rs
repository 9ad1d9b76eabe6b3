//! The target `mpi`: functions over ranks by the polyhedral side, the loops of each rank as any
//! other loops of this machine, files by the target.

use std::collections::BTreeMap;

use loops::{Function, Name};
use polyhedral::ranks::{Dealt, Distributed, Distribution, Network, Options};
use targets::Output;
use targets::mpi::Ready;
use targets::mpi::kernels::{Kernel, kernels};

use super::{Front, Parsed};
use crate::failure::Failure;
use crate::request::{Dealing, Request, Schedule};

/// A definition and what became of it.
#[derive(Clone, Debug)]
pub struct OnRanks {
    /// The function of the source.
    pub original: Function,
    /// The program for ranks.
    pub distributed: Distributed,
}

/// The chosen definitions over ranks.
///
/// # Errors
/// What the stages refuse; `P0902` for a distribution that does not fit; `P0903` for a grid that
/// does not have the ranks.
pub fn map(front: &Front, request: &Request) -> Result<Vec<OnRanks>, Failure> {
    super::athread::check_sizes(front, request)?;
    front.wanted(request)?.iter().map(|name| one(front, name, request)).collect()
}

fn one(front: &Front, name: &str, request: &Request) -> Result<OnRanks, Failure> {
    let original = front.original(name, request)?;
    request.progress.step(format!("distributing `{name}`"));
    let options = options(front, &original, request)?;
    let refuse = |d| Failure::in_source(&front.source, vec![d]);
    let distributed = polyhedral::ranks::map(&original, &options).map_err(refuse)?;
    // By code that has no part in the mapping.
    polyhedral::ranks::check(&distributed.program).map_err(refuse)?;
    Ok(OnRanks { original, distributed })
}

/// Ranks that the code is made for where nothing is said.
const RANKS: u32 = 4;
/// At more ranks layouts are compared as at so many.
const MOST: u32 = 256;

fn options(front: &Front, function: &Function, request: &Request) -> Result<Options, Failure> {
    let asked = &request.ranks;
    let grid = asked.grid.as_ref().map(|grid| grid.iter().map(|n| i64::from(*n)).collect::<Vec<_>>());
    let ranks = match (&grid, asked.count) {
        (Some(grid), count) => {
            let has: i64 = grid.iter().product();
            if let Some(count) = count.filter(|count| i64::from(*count) != has) {
                let message = format!("the grid has {has} ranks, not {count}");
                return Err(
                    Failure::refused("P0903", message).help(format!("ask for as many: `--ranks {has}`"))
                );
            }
            has
        }
        (None, count) => i64::from(count.unwrap_or(RANKS).min(MOST)),
    };
    let sizes = request.sizes.iter().map(|(name, n)| (Name::new(name), *n)).collect();
    let distribution = distribution(front, function, request)?;
    let reassociate = request.reassociate;
    let network = request.machine.as_ref().map_or_else(Network::default, |machine| machine.network);
    Ok(Options { grid, ranks, sizes, distribution, network, reassociate, ..Options::default() })
}

/// What the command line and pragmas say of where arrays are.
fn distribution(front: &Front, function: &Function, request: &Request) -> Result<Distribution, Failure> {
    let mut said = pragmas(front, function)?;
    said.extend(request.ranks.distribution.iter().cloned());
    let mut found = BTreeMap::new();
    for (name, dims) in said {
        let mut axis = 0;
        let dealt = dims.iter().map(|dealing| {
            let width = match dealing {
                Dealing::Whole => return None,
                Dealing::Block => None,
                Dealing::Cyclic(width) => Some(*width),
            };
            axis += 1;
            Some(Dealt { axis: axis - 1, width })
        });
        found.insert(Name::new(name), dealt.collect());
    }
    Ok(found)
}

/// `#pragma lozenge distribute A(block, *)` before or in the region of a C file.
fn pragmas(front: &Front, function: &Function) -> Result<Vec<(String, Vec<Dealing>)>, Failure> {
    let Parsed::C(file) = &front.parsed else { return Ok(Vec::new()) };
    let Some(at) = file.regions.iter().position(|r| r.function.name == function.name) else {
        return Ok(Vec::new());
    };
    let begin = if at == 0 { 0 } else { file.regions[at - 1].info.bytes.end };
    let end = file.regions[at].info.bytes.end;
    let mut found = Vec::new();
    let mut place = begin;
    for line in front.source.text[begin..end].split_inclusive('\n') {
        let words = line.trim().strip_prefix('#').map(str::trim_start);
        let after = |text: &str, word: &str| text.strip_prefix(word).map(|rest| rest.trim_start().to_owned());
        let said = words
            .and_then(|text| after(text, "pragma"))
            .and_then(|text| after(&text, "lozenge"))
            .and_then(|text| after(&text, "distribute"));
        if let Some(said) = said {
            let span = loops::Span::new(place, place + line.trim_end().len());
            found.extend(Dealing::read(&said).map_err(|why| {
                let message = "this distribution cannot be read";
                let wrong = loops::Diagnostic::error(loops::Code("P0902"), message, span, why);
                Failure::in_source(&front.source, vec![wrong])
            })?);
        }
        place += line.len();
    }
    Ok(found)
}

/// What is said of the distribution of each definition.
pub fn notes(all: &[OnRanks]) -> Vec<String> {
    let of = |one: &OnRanks| {
        let name = one.original.name.clone();
        one.distributed.notes.iter().map(move |note| format!("{name}: {note}")).collect::<Vec<_>>()
    };
    all.iter().flat_map(of).collect()
}

/// The files.
///
/// # Errors
/// What the target refuses.
pub fn files(front: &Front, request: &Request, all: &[OnRanks]) -> Result<Output, Failure> {
    let ready: Vec<Ready> = all
        .iter()
        .map(|one| {
            let kernels = kernels(&one.distributed.program);
            let kernels = kernels.into_iter().map(|kernel| scheduled(front, kernel, request)).collect();
            Ready { program: one.distributed.program.clone(), kernels }
        })
        .collect();
    targets::mpi::files(&ready, &request.stem()).map_err(Failure::from)
}

/// The loops of a rank in the order that the compiler chooses for this machine; as they are where
/// it has none.
fn scheduled(front: &Front, kernel: Kernel, request: &Request) -> Kernel {
    let auto = Request { schedule: Schedule::Auto, reassociate: false, ..request.clone() };
    let function = match front.optimized(&kernel.function, &auto) {
        Ok(found) => passes::SCHEDULED.run(found.function, &mut Vec::new()),
        Err(_) => passes::DEFAULT.run(kernel.function.clone(), &mut Vec::new()),
    };
    // The caller knows the kernel by its sizes and parameters.
    let same = |function: &Function| {
        function.sizes == kernel.function.sizes && function.params == kernel.function.params
    };
    // Skewed loops may need numbers that cannot be bounded by the sizes of a block.
    let printed = |function: &Function| {
        let program = loops::Program { functions: vec![function.clone()] };
        targets::emit(&program, &targets::Options::default()).is_ok()
    };
    let usual = || passes::DEFAULT.run(kernel.function.clone(), &mut Vec::new());
    let found = Some(function).filter(|f| same(f) && printed(f));
    let found = found.or_else(|| Some(usual()).filter(|f| same(f) && printed(f)));
    match found {
        Some(function) => Kernel { function, ..kernel },
        None => kernel,
    }
}
