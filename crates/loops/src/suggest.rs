//! "Did you mean": the nearest of the known names, for diagnostics of all front ends and of the
//! command.

/// The known name that is nearest to `name`, if one is near enough to be a slip of the hand.
pub fn nearest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let limit = (name.chars().count() / 3).clamp(1, 3);
    if name.len() > 64 {
        return None;
    }
    known
        .into_iter()
        .filter(|k| *k != name && k.len().abs_diff(name.len()) <= limit)
        .map(|k| (distance(&name.to_lowercase(), &k.to_lowercase()), k))
        .filter(|(d, k)| *d <= limit && *d < k.chars().count())
        .min()
        .map(|(_, k)| k)
}

/// Insertions, deletions, replacements and swaps of neighbours that lead from one to the other.
fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let mut rows: Vec<Vec<usize>> = vec![(0..=b.len()).collect()];
    for i in 1..=a.len() {
        let mut row = vec![i; b.len() + 1];
        for j in 1..=b.len() {
            let replaced = rows[i - 1][j - 1] + usize::from(a[i - 1] != b[j - 1]);
            row[j] = replaced.min(row[j - 1] + 1).min(rows[i - 1][j] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                row[j] = row[j].min(rows[i - 2][j - 2] + 1);
            }
        }
        rows.push(row);
    }
    rows[a.len()][b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_slips_and_nothing_else() {
        let known = ["mapSeq", "mapPar", "zip", "reduceSeq", "n"];
        assert_eq!(nearest("mapseq", known), Some("mapSeq"));
        assert_eq!(nearest("zpi", known), Some("zip"));
        assert_eq!(nearest("reduceSqe", known), Some("reduceSeq"));
        assert_eq!(nearest("frobnicate", known), None);
        assert_eq!(nearest("x", known), None);
    }
}
