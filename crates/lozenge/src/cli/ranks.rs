//! Options of targets for several ranks: the grid, where arrays are, how many ranks.

use clap::Args;

use crate::request::{Dealing, Ranks};

/// The extents of a grid. (A vector would be taken for an option that may be given several times.)
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Extents(Vec<u32>);

/// Ranks and what is where.
#[derive(Args, Debug, Clone, Default, PartialEq, Eq)]
pub struct RanksOptions {
    /// mpi: number of ranks; the code is right for any number, and made for this one [default: 4].
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = clap::value_parser!(u32).range(1..=65536))]
    pub ranks: Option<u32>,
    /// mpi: extents of the grid of ranks, such as `4` or `2x2` [default: by cost].
    #[arg(long, value_name = "ROWS[xCOLUMNS]", value_parser = grid)]
    pub grid: Option<Extents>,
    /// mpi: where an array is, such as `A(block, *)` or `A(cyclic(16), block)`; may be given
    /// several times [default: by cost].
    #[arg(long, value_name = "ARRAY(DIM,...)", value_parser = distribution)]
    pub distribute: Vec<(String, Vec<Dealing>)>,
}

impl RanksOptions {
    /// The first of these options that was given.
    pub fn given(&self) -> Option<&'static str> {
        let options = [
            ("--ranks", self.ranks.is_some()),
            ("--grid", self.grid.is_some()),
            ("--distribute", !self.distribute.is_empty()),
        ];
        options.into_iter().find(|(_, given)| *given).map(|(name, _)| name)
    }

    /// What they ask for.
    pub fn request(&self) -> Ranks {
        Ranks {
            count: self.ranks,
            grid: self.grid.as_ref().map(|grid| grid.0.clone()),
            distribution: self.distribute.clone(),
        }
    }
}

fn grid(text: &str) -> Result<Extents, String> {
    let wrong = || "the form is ROWS or ROWSxCOLUMNS, such as 2x2".to_owned();
    let extents: Result<Vec<u32>, _> = text.split('x').map(str::parse).collect();
    let extents = extents.map_err(|_| wrong())?;
    let fits = (1..=2).contains(&extents.len()) && extents.iter().all(|n| (1..=65536).contains(n));
    if fits { Ok(Extents(extents)) } else { Err(wrong()) }
}

fn distribution(text: &str) -> Result<(String, Vec<Dealing>), String> {
    let mut all = Dealing::read(text)?;
    match all.len() {
        1 => Ok(all.remove(0)),
        _ => Err("one array at a time, such as `A(block, *)`".to_owned()),
    }
}
