//! The rounds of tile loops: the tiles of this core, and rounds in which a core without a tile
//! comes by for what others share.

use isl::{Set, UnionMap, UnionSet};

use super::{Builder, PAD, Stage, cores_of, threads, tile_member};
use crate::athread::host_split::{self, Kernel};
use crate::fault::{self, Result};
use crate::tree::{FunctionText, LoopCode, Member, SetText};

/// The tuple of the rounds of a part.
pub(super) fn tuple(number: usize, part: usize) -> String {
    format!("{PAD}{number}_{part}")
}

impl Builder<'_> {
    /// The instances of this core: `floor(i / size) mod rows = rid`.
    pub(super) fn own_tiles(&self, kernel: &Kernel) -> Result<UnionSet> {
        let cores = cores_of(kernel, self.grid);
        let names = threads(self.model, self.grid, cores.len());
        let point = format!("[{0}] -> {{ [{0}] }}", names.join(", "));
        let tiles = kernel.parallel.iter().zip(&kernel.sizes).zip(&cores);
        let told = tiles.clone().map(|((m, size), n)| format!(" | {} / {size} mod {n}", m.function.as_str()));
        let filter = || -> Result<UnionSet> {
            let mut all: Option<UnionMap> = None;
            for ((member, size), n) in tiles {
                let function = host_split::function(self.model, member)?;
                let own = || -> isl::Result<UnionMap> {
                    let own = function.scale_down(*size)?.floor()?.modulo(*n)?.graph()?;
                    match &all {
                        None => Ok(own),
                        Some(before) => before.flat_range_product(&own),
                    }
                };
                all = Some(own().map_err(fault::library)?);
            }
            let own = || -> isl::Result<UnionSet> {
                let all = all.map_or_else(|| UnionMap::empty(&self.model.ctx), Ok)?;
                all.intersect_range(&UnionSet::read(&self.model.ctx, &point)?)?.domain()
            };
            own().map_err(fault::library)
        };
        self.model.memos.sets.get(&format!("tiles of {point}{}", told.collect::<String>()), filter)
    }

    /// Whether the loops of a kernel are made of rounds.
    pub(super) fn padded(&self, kernel: &Kernel) -> bool {
        self.stage >= Stage::Copies && kernel.parts.iter().any(|part| part.pad.is_some())
    }

    /// Rounds of a part in which cores come by for what others share, as instances; `level` is that
    /// of the place where they are asked for.
    pub(super) fn pad(&self, number: usize, part: usize, level: usize) -> Result<UnionSet> {
        let pad = self.kernels.get(number).and_then(|kernel| kernel.parts[part].pad.as_ref());
        match pad {
            Some(pad) if self.stage >= Stage::Copies && level <= pad.level => {
                let set = Set::read(&self.model.ctx, pad.rounds.as_str());
                set.and_then(|set| set.set_tuple_name(&tuple(number, part))?.to_union())
            }
            _ => UnionSet::empty(&self.model.ctx),
        }
        .map_err(fault::library)
    }

    /// The same of all parts of some kernels.
    pub(super) fn pads(&self, numbers: std::ops::Range<usize>) -> Result<UnionSet> {
        let mut all = UnionSet::empty(&self.model.ctx).map_err(fault::library)?;
        for number in numbers {
            for part in 0..self.kernels[number].parts.len() {
                let own = self.pad(number, part, 1)?;
                all = all.union(&own).map_err(fault::library)?;
            }
        }
        Ok(all)
    }

    /// The parts of a kernel whose rounds reach a level, with the tuples of these and their
    /// dimensions.
    pub(super) fn padded_parts(&self, kernel: &Kernel, number: usize, level: usize) -> Vec<(String, usize)> {
        let own = kernel.parts.iter().enumerate().filter_map(|(p, part)| {
            let pad = part.pad.as_ref().filter(|pad| self.stage >= Stage::Copies && level <= pad.level)?;
            Some((tuple(number, p), pad.level))
        });
        own.collect()
    }

    /// The rounds of a part that this core comes by, up to a level; none if cores have only tiles
    /// of their own.
    pub(super) fn own_rounds(&self, number: usize, part: usize, level: usize) -> Result<Option<Set>> {
        let kernel = self.kernels[number];
        let Some(pad) = kernel.parts[part].pad.as_ref().filter(|pad| level <= pad.level) else {
            return Ok(None);
        };
        if self.stage < Stage::Copies {
            return Ok(None);
        }
        let cores = cores_of(kernel, self.grid);
        let names = threads(self.model, self.grid, cores.len());
        let dims: Vec<String> = (0..pad.level).map(|k| format!("t{k}")).collect();
        let own = names.iter().zip(&cores).enumerate().map(|(k, (name, n))| format!("t{k} mod {n} = {name}"));
        let text = format!(
            "[{}] -> {{ [{}] : {} }}",
            names.join(", "),
            dims.join(", "),
            own.collect::<Vec<_>>().join(" and ")
        );
        let set = || -> isl::Result<Set> {
            let rounds = Set::read(&self.model.ctx, pad.rounds.as_str())?;
            rounds.intersect(&Set::read(&self.model.ctx, &text)?)
        };
        set().map(Some).map_err(fault::library)
    }

    /// A filter with further instances.
    pub(super) fn with(&self, filter: &SetText, more: &UnionSet) -> Result<SetText> {
        if more.is_empty().map_err(fault::library)? {
            return Ok(filter.clone());
        }
        let all = host_split::read(self.model, filter)?.union(more).map_err(fault::library)?;
        Ok(SetText::new(all.to_string()))
    }

    /// A tile loop; of rounds, if there are any.
    pub(super) fn tile_loop(
        &self,
        member: &Member,
        size: i64,
        rounds: &[(String, usize)],
        depth: usize,
    ) -> Result<Member> {
        let mut tile = tile_member(self.model, member, size)?;
        if rounds.is_empty() {
            return Ok(tile);
        }
        let own = rounds.iter().map(|(tuple, dims)| {
            let names: Vec<String> = (0..*dims).map(|k| format!("t{k}")).collect();
            format!("{tuple}[{}] -> [(t{depth})]", names.join(", "))
        });
        tile.function = FunctionText::new(format!("{{ {} }}", own.collect::<Vec<_>>().join("; ")));
        // One loop for all parts.
        tile.code = LoopCode::Atomic;
        Ok(tile)
    }
}
