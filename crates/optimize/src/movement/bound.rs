//! What any order of the instances of a statement moves at least.
//!
//! A run is cut into segments that move the same number of elements between the cache and what is
//! behind it. In a segment, only so many elements of arrays can be touched: what the cache holds
//! at its begin, what is moved in, and what comes to be and is moved out or stays. The instances
//! of a statement in a segment are a set of points, and the elements that it touches by an access
//! are the set's image under a linear map. By the inequality of Hölder, Brascamp and Lieb for such
//! images, a set of points is at most the product of its images, each to a power; the powers are
//! those for which no subspace has more dimensions than its images together (Christ, Demmel,
//! Knight, Scanlon and Yelick, 2013; for products and convolutions the theorem of Loomis and
//! Whitney, 1949, and of Hong and Kung, 1981). So a segment has at most so many instances, and a
//! run has at least so many segments.

use super::space::{Space, lattice};

/// Subspaces that are looked at; beyond, nothing is claimed.
const MOST_SPACES: usize = 128;
/// Accesses that are used; others would not make the bound wrong, only better.
const MOST_ACCESSES: usize = 6;
/// The powers that are tried, in sixths.
const POWERS: [usize; 5] = [0, 2, 3, 4, 6];
const UNIT: usize = 6;

/// An access of a statement: iterations that differ by a vector of `kernel` touch one element.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Touch {
    pub array: usize,
    pub kernel: Space,
}

/// A statement with its accesses.
#[derive(Clone, Debug)]
pub(super) struct Statement {
    /// Loops around it.
    pub depth: usize,
    /// How often it runs.
    pub instances: f64,
    /// Accesses to elements of which each is written at most once before it is read.
    pub touches: Vec<Touch>,
    /// Elements of these arrays that come to be without being read from memory.
    pub created: f64,
}

/// Elements that cross the border of a cache of so many elements at least; 0 if nothing is known.
pub(super) fn least(statement: &Statement, capacity: f64) -> f64 {
    let mut touches = statement.touches.clone();
    touches.sort();
    touches.dedup();
    touches.truncate(MOST_ACCESSES);
    if touches.is_empty() || statement.depth == 0 {
        return 0.0;
    }
    powers(statement.depth, &touches)
        .into_iter()
        .map(|powers| moved(statement, &touches, &powers, capacity))
        .fold(0.0, f64::max)
}

/// The tuples of powers for which the inequality holds, and no smaller ones.
fn powers(depth: usize, touches: &[Touch]) -> Vec<Vec<usize>> {
    let kernels: Vec<Space> = touches.iter().map(|touch| touch.kernel.clone()).collect();
    let axes = (0..depth).map(|d| (0..depth).map(|e| i128::from(d == e)).collect());
    let Some(whole) = Space::spanned(depth, axes) else { return Vec::new() };
    let generators: Vec<Space> = kernels.iter().cloned().chain([whole]).collect();
    let Some(spaces) = lattice(&generators, MOST_SPACES) else { return Vec::new() };
    // Of each subspace its dimensions, and those of its images.
    let mut rows: Vec<(usize, Vec<usize>)> = Vec::new();
    for space in &spaces {
        let lost = kernels.iter().map(|kernel| Some(space.intersection(kernel)?.dimension()));
        let Some(lost) = lost.collect::<Option<Vec<usize>>>() else { return Vec::new() };
        let images = lost.iter().map(|lost| space.dimension() - lost).collect();
        rows.push((space.dimension(), images));
    }
    let holds = |powers: &[usize]| {
        rows.iter().all(|(own, images)| {
            own * UNIT <= images.iter().zip(powers).map(|(image, power)| image * power).sum()
        })
    };
    let mut found: Vec<Vec<usize>> = Vec::new();
    let tuples = POWERS.len().pow(touches.len() as u32);
    for number in 0..tuples {
        let mut rest = number;
        let powers: Vec<usize> = touches
            .iter()
            .map(|_| {
                let power = POWERS[rest % POWERS.len()];
                rest /= POWERS.len();
                power
            })
            .collect();
        if holds(&powers) {
            found.push(powers);
        }
    }
    let fewest = found.iter().map(|powers| powers.iter().sum::<usize>()).min();
    found.retain(|powers| Some(powers.iter().sum()) == fewest);
    found
}

/// Elements that are moved at least, by one tuple of powers.
fn moved(statement: &Statement, touches: &[Touch], powers: &[usize], capacity: f64) -> f64 {
    let all = powers.iter().sum::<usize>() as f64 / UNIT as f64;
    if all <= 1.0 {
        return 0.0;
    }
    // Accesses to one array touch at most its elements each: their powers come together.
    let mut factor = 1.0;
    for (k, touch) in touches.iter().enumerate() {
        if touches[..k].iter().any(|earlier| earlier.array == touch.array) {
            continue;
        }
        let own = touches.iter().zip(powers).filter(|(other, _)| other.array == touch.array);
        let power = own.map(|(_, power)| *power).sum::<usize>() as f64 / UNIT as f64;
        if power > 0.0 {
            factor *= (power / all).powf(power);
        }
    }
    let instances = |elements: f64| factor * elements.powf(all);
    // The best length of a segment, from the derivative.
    let length = capacity / (all - 1.0);
    let within = instances(capacity + length);
    // What comes to be in a segment stays or is moved out: at most the capacity beside what is
    // moved, and in all segments together what comes to be at all. The function is convex.
    let more = statement.created / capacity * (instances(2.0 * capacity + length) - within);
    let segments = (statement.instances - more) / within;
    (length * (segments - 1.0)).max(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A statement in loops, with accesses by the loops that their subscripts have.
    fn statement(extents: &[f64], accesses: &[(usize, &[usize])]) -> Statement {
        let depth = extents.len();
        let kernel = |axes: &[usize]| {
            let unit = |d: usize| (0..depth).map(|e| i128::from(d == e)).collect();
            Space::spanned(depth, (0..depth).filter(|d| !axes.contains(d)).map(unit)).unwrap()
        };
        let touches = accesses.iter().map(|(array, axes)| Touch { array: *array, kernel: kernel(axes) });
        Statement { depth, instances: extents.iter().product(), touches: touches.collect(), created: 0.0 }
    }

    #[test]
    fn a_product_moves_two_over_the_root_of_the_cache() {
        let n = 4096.0;
        let product = statement(&[n, n, n], &[(0, &[0, 1]), (1, &[0, 2]), (2, &[2, 1])]);
        let expected = 2.0 * n * n * n / 1024f64.sqrt();
        let found = least(&product, 1024.0);
        assert!((found / expected - 1.0).abs() < 0.001, "{found} for {expected}");
    }

    #[test]
    fn a_product_with_itself_moves_half_of_it_at_least() {
        let n = 4096.0;
        let product = statement(&[n, n, n], &[(0, &[0, 1]), (1, &[0, 2]), (1, &[1, 2])]);
        let found = least(&product, 1024.0) / (n * n * n / 1024f64.sqrt());
        assert!((found - 1.0).abs() < 0.001, "{found}");
    }

    #[test]
    fn elements_that_come_to_be_cost_little() {
        let n = 4096.0;
        let product = statement(&[n, n, n], &[(0, &[0, 1]), (1, &[0, 2]), (2, &[2, 1])]);
        let created = Statement { created: n * n, ..product.clone() };
        let (with, without) = (least(&created, 1024.0), least(&product, 1024.0));
        assert!(with < without && with > 0.98 * without, "{with} of {without}");
    }

    #[test]
    fn a_matrix_times_a_vector_has_no_bound_beyond_its_data() {
        let product = statement(&[1e4, 1e4], &[(0, &[0]), (1, &[0, 1]), (2, &[1])]);
        assert_eq!(least(&product, 1024.0), 0.0);
    }

    #[test]
    fn accesses_that_leave_out_a_loop_prove_nothing() {
        let sweeps = statement(&[1e3, 1e3, 1e3], &[(0, &[1, 2])]);
        assert_eq!(least(&sweeps, 1024.0), 0.0);
    }
}
