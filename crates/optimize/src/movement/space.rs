//! Subspaces of rational vectors, each by its one reduced basis of integers.

use std::collections::BTreeSet;

use arith::number::gcd;

/// Entries of a basis beyond this are not worked with.
const LARGEST: i128 = 1 << 40;

/// A subspace: rows in reduced echelon form, each without a common divisor, pivots positive.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Space {
    width: usize,
    rows: Vec<Vec<i128>>,
}

impl Space {
    /// What these vectors span; none if numbers become large.
    pub fn spanned(width: usize, vectors: impl IntoIterator<Item = Vec<i128>>) -> Option<Space> {
        let mut rows: Vec<Vec<i128>> = vectors.into_iter().collect();
        let mut done = 0;
        for column in 0..width {
            let Some(found) = (done..rows.len()).find(|r| rows[*r][column] != 0) else { continue };
            rows.swap(done, found);
            reduce(&mut rows[done], column);
            let pivot = rows[done].clone();
            for (r, row) in rows.iter_mut().enumerate() {
                if r != done && row[column] != 0 {
                    let (own, other) = (pivot[column], row[column]);
                    for (entry, p) in row.iter_mut().zip(&pivot) {
                        *entry = *entry * own - other * p;
                        if entry.abs() > LARGEST {
                            return None;
                        }
                    }
                    if let Some(first) = row.iter().position(|entry| *entry != 0) {
                        reduce(row, first);
                    }
                }
            }
            done += 1;
        }
        rows.truncate(done);
        Some(Space { width, rows })
    }

    pub fn dimension(&self) -> usize {
        self.rows.len()
    }

    /// The vectors whose products with all vectors of this space are 0.
    pub fn orthogonal(&self) -> Option<Space> {
        let pivots: Vec<usize> =
            self.rows.iter().map(|row| row.iter().position(|e| *e != 0).unwrap_or(0)).collect();
        let free = (0..self.width).filter(|column| !pivots.contains(column));
        let vectors = free.map(|column| {
            let common = self.rows.iter().zip(&pivots).map(|(row, p)| row[*p]).product::<i128>();
            let mut vector = vec![0; self.width];
            vector[column] = common;
            for (row, p) in self.rows.iter().zip(&pivots) {
                vector[*p] = -row[column] * (common / row[*p]);
            }
            vector
        });
        Space::spanned(self.width, vectors.collect::<Vec<_>>())
    }

    pub fn sum(&self, other: &Space) -> Option<Space> {
        Space::spanned(self.width, self.rows.iter().chain(&other.rows).cloned())
    }

    pub fn intersection(&self, other: &Space) -> Option<Space> {
        self.orthogonal()?.sum(&other.orthogonal()?)?.orthogonal()
    }
}

/// Divides a row by its common divisor, and makes the entry positive.
fn reduce(row: &mut [i128], entry: usize) {
    let common = row.iter().fold(0i128, |g, e| gcd(g, e.abs()));
    let common = if row[entry] < 0 { -common } else { common };
    if common != 0 {
        row.iter_mut().for_each(|e| *e /= common);
    }
}

/// The spaces, and all sums and intersections of them; none if these are more than `most`.
pub(super) fn lattice(spaces: &[Space], most: usize) -> Option<BTreeSet<Space>> {
    let mut known: BTreeSet<Space> = spaces.iter().cloned().collect();
    let mut waiting: Vec<Space> = known.iter().cloned().collect();
    while let Some(space) = waiting.pop() {
        for other in known.clone() {
            for new in [space.sum(&other)?, space.intersection(&other)?] {
                if known.insert(new.clone()) {
                    waiting.push(new);
                }
            }
        }
        if known.len() > most {
            return None;
        }
    }
    Some(known)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn space(vectors: &[[i128; 3]]) -> Space {
        Space::spanned(3, vectors.iter().map(|v| v.to_vec())).unwrap()
    }

    #[test]
    fn a_space_has_one_basis() {
        assert_eq!(space(&[[2, 0, 4], [0, -3, 0]]), space(&[[1, 1, 2], [1, -1, 2], [3, 1, 6]]));
        assert_eq!(space(&[[0, 0, 0]]).dimension(), 0);
    }

    #[test]
    fn sums_and_intersections() {
        let (xy, yz) = (space(&[[1, 0, 0], [0, 1, 0]]), space(&[[0, 1, 0], [0, 0, 1]]));
        assert_eq!(xy.intersection(&yz).unwrap(), space(&[[0, 1, 0]]));
        assert_eq!(xy.sum(&yz).unwrap().dimension(), 3);
        let diagonal = space(&[[1, 1, 0]]);
        assert_eq!(diagonal.orthogonal().unwrap(), space(&[[1, -1, 0], [0, 0, 1]]));
        assert_eq!(xy.intersection(&diagonal).unwrap(), diagonal);
    }

    #[test]
    fn the_lattice_of_three_axes_has_all_their_sums() {
        let axes = [space(&[[1, 0, 0]]), space(&[[0, 1, 0]]), space(&[[0, 0, 1]])];
        assert_eq!(lattice(&axes, 100).unwrap().len(), 8);
        assert_eq!(lattice(&axes, 3), None);
    }
}
