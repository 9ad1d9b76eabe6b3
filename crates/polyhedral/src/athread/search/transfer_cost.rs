//! The cost model of the search: seconds of transfers and arithmetic at given sizes.

use super::super::data_mapping;
use super::super::multicast::Line;
use super::super::tile_sizes::{ceil, stays_apart};
use super::{Search, value};

/// Seconds until a transfer begins to move data.
const LATENCY: f64 = 1.7e-6;
/// Seconds of a cycle.
const CYCLE: f64 = 1.0 / 1.45e9;
/// GB/s of all cores together by the bytes of a block (measured; between the points it is
/// interpolated).
const BANDWIDTH: [(f64, f64); 8] = [
    (8.0, 0.5),
    (64.0, 3.0),
    (128.0, 5.0),
    (256.0, 8.5),
    (512.0, 12.0),
    (1024.0, 15.0),
    (4096.0, 18.6),
    (24576.0, 20.4),
];
fn bandwidth(block: f64) -> f64 {
    let mut last = BANDWIDTH[0];
    if block <= last.0 {
        return last.1 * 1e9 * block / last.0;
    }
    for point in BANDWIDTH {
        if block <= point.0 {
            let part = (block.ln() - last.0.ln()) / (point.0.ln() - last.0.ln()).max(1e-9);
            return (last.1 + part * (point.1 - last.1)) * 1e9;
        }
        last = point;
    }
    last.1 * 1e9
}

/// Seconds of transfers.
#[derive(Clone, Copy, Default)]
pub(super) struct TransferCost {
    /// Of outer loops.
    pub outer: f64,
    /// Of the innermost loops.
    pub inner: f64,
    /// Of outer loops, and beside everything else.
    pub beside: f64,
}

impl Search<'_> {
    /// Seconds of transfers. `steps` is how many boxes come at once where shares come
    /// several steps ahead: then nothing waits until a transfer begins to move data.
    pub(super) fn groups_cost(
        &self,
        part: Option<usize>,
        sizes: &[i64],
        own: &[i64],
        steps: Option<i64>,
        stay: bool,
    ) -> TransferCost {
        let all: Vec<i64> = sizes.iter().chain(own).copied().collect();
        let rounds = self.rounds(part, sizes, own);
        // Memory is shared by the cores that use it; one alone gets no more than an eighth.
        let tiles: f64 = match self.region(part) {
            Some(region) => region.rounds(sizes, sizes).iter().product(),
            None => self.parallel.iter().zip(sizes).map(|(n, size)| ceil(*n, *size) as f64).product(),
        };
        let each: f64 = rounds.iter().take(sizes.len()).product();
        let mut cost = TransferCost::default();
        for shape in self.shapes.iter().filter(|s| s.group.part == part) {
            let extents = shape.extents(&all);
            let whole = (data_mapping::volume(&extents) * shape.group.width) as f64;
            let mut bytes = whole;
            let row =
                data_mapping::declared(self.model, &shape.group.array).and_then(|(_, dims)| dims.last());
            let row = row.map_or(1, |dim| value(dim, self.hints));
            let last = extents.last().copied().unwrap_or(1).min(row);
            if let Some(shared) = shape.group.shared {
                bytes = whole / extents[0] as f64 * shared.share(extents[0]) as f64;
            }
            let early_by = steps.filter(|_| shape.group.shared.is_some() && self.innermost(&shape.group));
            let boxes = shape.group.shared.map_or(1, |s| match early_by {
                Some(most) if s.line == Line::Turns => most,
                Some(most) => s.boxes_ahead(&extents, shape.group.width).min(most),
                None => s.boxes(&extents, shape.group.width),
            });
            let last = (boxes * last).min(row);
            // A share of a vector is in one place.
            let vector = shape.group.shared.is_some() && extents.len() == 1;
            let block = if last >= row || vector { bytes } else { (last * shape.group.width) as f64 };
            let mut times = rounds.iter().take(shape.group.level).product::<f64>();
            let mut cores = (tiles / each.max(1.0)).max(8.0);
            if shape.group.shared.is_some() && self.region(part).is_some() {
                // Those without a tile in a triangle take part in what the others need.
                cores = self.active(sizes).max(8.0);
            }
            if self.stays(shape, own) {
                times = 1.0;
                cores = self.active(sizes).max(8.0);
            }
            let held = match self.holds() {
                true => shape.group.shared.is_some_and(|s| s.turns(extents[0]).is_some()),
                false => stay && self.vector(shape),
            };
            if held {
                // Its steps come once, all at a time.
                times = 1.0;
                cores *= rounds.last().copied().unwrap_or(1.0);
            }
            let ways = f64::from(u8::from(shape.group.get)) + f64::from(u8::from(shape.group.put));
            let mut moved = bytes * cores;
            if let Some(shared) = shape.group.shared {
                // Of a box with few rows not every core brings in some.
                moved = if shared.line == Line::Cast { whole } else { moved };
                moved = moved.min((whole * cores / shared.cores() as f64).max(bytes * 8.0));
            }
            let latency = if early_by.is_some() { 0.0 } else { LATENCY };
            let seconds = times * ways * (latency + moved / bandwidth(block));
            *if stays_apart(self.kernel, &shape.group) {
                &mut cost.beside
            } else if self.innermost(&shape.group) && !self.stays(shape, own) && !held {
                &mut cost.inner
            } else {
                &mut cost.outer
            } += seconds;
        }
        cost
    }

    pub(super) fn arithmetic(&self, part: usize, sizes: &[i64], own: &[i64]) -> f64 {
        let rounds = self.rounds(Some(part), sizes, own).iter().product::<f64>();
        let points: f64 = sizes.iter().chain(own).map(|s| *s as f64).product();
        let statements = &self.kernel.parts[part].statements;
        let contracts = self.contracts(part);
        let last = own.last().or(sizes.last()).copied().unwrap_or(1) as f64;
        let flat = self.kernel.whole || sizes.len() < 3 || sizes[..sizes.len() - 2].iter().all(|s| *s == 1);
        let mut cycles = if contracts && flat && statements.len() == 1 {
            // Blocks of four rows and vectors; their sums are loaded and stored for each tile.
            let (x, y) = match (sizes, own) {
                ([.., x], [columns, ..]) if self.kernel.whole => (*x, *columns),
                ([.., x, y], _) => (*x, *y),
                ([y], [x, _, ..]) => (*x, *y),
                _ => (1, sizes.last().copied().unwrap_or(1)),
            };
            let wide = (y / 16) as f64 + 0.3 * ceil(y % 16, 4) as f64;
            let blocks = points / (x * y) as f64;
            // Several products are multiplied and added before they go to the sum.
            let products = self.products(part) as f64;
            let each = if products > 1.0 { products + 1.0 } else { 1.0 };
            // What a block takes beside its steps; of strips there are two for each four vectors.
            let (turned, beside) = match self.strided(part) {
                true => (1.6 * products * points / x as f64, 40.0),
                // Written out.
                false if self.casts(part) => (0.0, 8.0),
                false => (0.0, 14.0),
            };
            let groups = match self.kernel.whole {
                // A row that is left over takes half of what four together do.
                true => (x / 4) as f64 + 0.5 * (x % 4) as f64,
                false => ceil(x, 4) as f64,
            };
            groups * wide * (16.0 * each * blocks + beside) + 0.3 * blocks * x as f64 + turned
        } else {
            // A row of a tile costs a few cycles beside its points.
            let each = if contracts || self.strided(part) { 6.5 } else { 1.8 };
            points * (each * statements.len() as f64 + 4.0 / last)
        };
        let all: Vec<i64> = sizes.iter().chain(own).copied().collect();
        for shape in self.shapes.iter().filter(|s| s.group.part == Some(part)) {
            let Some(shared) = shape.group.shared else { continue };
            cycles += shared.cycles(data_mapping::volume(&shape.extents(&all)) * shape.group.width);
        }
        let filled = self.region(Some(part)).map_or(1.0, |region| region.filled(&all));
        rounds * filled * cycles * CYCLE
    }
}

/// Seconds of transfers and arithmetic in a loop of some rounds: one after the other, or beside
/// each other after the first round.
pub(super) fn together(moved: f64, computed: f64, room: bool, rounds: f64) -> f64 {
    if room { moved.max(computed) + moved.min(computed) / rounds.max(1.0) } else { moved + computed }
}

/// The same where all cores meet in each step: the closer the two are, the oftener some wait for
/// memory and others with them. An eighth power has what was seen.
pub(super) fn in_step(moved: f64, computed: f64) -> f64 {
    (moved.powi(8) + computed.powi(8)).powf(0.125)
}
