//! What happens to buffers at a place: transfers and the waits for them, as tuples of the schedule
//! tree.
//!
//! In the trees that are shown each step is an instance of its own. In the tree that code is made
//! from, those that follow each other and happen equally often are one instance, whose name tells
//! the steps: so that the set library, which takes most of the time, has as few as possible to
//! order.

use loops::{CopyKind, Name};

/// The beginning of the tuples that tell the numbers of a tile, and the steps there.
pub(super) const HERE: &str = "here_";

/// A transfer, or the wait for one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Step {
    pub kind: CopyKind,
    pub wait: bool,
    /// The buffer, by its place among the kernel's groups.
    pub buffer: usize,
}

/// Steps by what they are called in the name of several.
const LETTERS: [(char, CopyKind, bool); 4] = [
    ('g', CopyKind::Get, false),
    ('w', CopyKind::Get, true),
    ('p', CopyKind::Put, false),
    ('v', CopyKind::Put, true),
];

impl Step {
    /// The tuple of a step that is an instance of its own: `wait_get_A`.
    pub fn tuple(self, buffer: &Name) -> String {
        let wait = if self.wait { "wait_" } else { "" };
        let kind = if self.kind == CopyKind::Get { "get" } else { "put" };
        format!("{wait}{kind}_{}", buffer.strip_prefix("slave_").unwrap_or(buffer))
    }

    fn short(self) -> String {
        let letter = LETTERS.iter().find(|(_, kind, wait)| (*kind, *wait) == (self.kind, self.wait));
        format!("{}{}", letter.map_or('?', |(letter, ..)| *letter), self.buffer)
    }

    fn parse(text: &str) -> Option<Step> {
        let (_, kind, wait) = LETTERS.into_iter().find(|(letter, ..)| text.starts_with(*letter))?;
        Some(Step { kind, wait, buffer: text.get(1..)?.parse().ok()? })
    }
}

/// Tuples for steps at a place, each with whether all cores come by: as few as there can be.
pub(super) fn joined(
    place: &str,
    mut begun: Vec<(String, bool)>,
    steps: &[Step],
    by_all: &dyn Fn(&Step) -> bool,
) -> Vec<(String, bool)> {
    for step in steps {
        let all = by_all(step);
        match begun.last_mut() {
            Some((name, before)) if *before == all => name.push_str(&format!("_{}", step.short())),
            _ => begun.push((format!("{place}_{}", step.short()), all)),
        }
    }
    begun
}

/// The kernel and the steps that a tuple of [`joined`] tells; none if it is no such tuple.
pub(super) fn read(tuple: &str) -> Option<(usize, Vec<Step>)> {
    let mut words = tuple.strip_prefix(HERE)?.split('_');
    let number = words.next()?.parse().ok()?;
    // The level and the part.
    let _ = (words.next()?, words.next()?);
    Some((number, words.map(Step::parse).collect::<Option<Vec<Step>>>()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_read_from_the_names_that_tell_them() {
        let step = |kind, wait, buffer| Step { kind, wait, buffer };
        let all = [
            step(CopyKind::Get, false, 0),
            step(CopyKind::Get, false, 12),
            step(CopyKind::Get, true, 0),
            step(CopyKind::Put, true, 3),
        ];
        let names = joined("here_1_2_all", vec![("here_1_2_all".to_owned(), true)], &all, &|s| s.buffer == 0);
        let told: Vec<&str> = names.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(told, ["here_1_2_all_g0", "here_1_2_all_g12", "here_1_2_all_w0", "here_1_2_all_v3"]);
        let back: Vec<Step> = told.iter().flat_map(|name| read(name).expect("steps").1).collect();
        assert_eq!(back, all);
        assert_eq!(joined("here_0_3_1", vec![], &all, &|_| false)[0].0, "here_0_3_1_g0_g12_w0_v3");
        assert!(read("here_pad_0_1").is_none() && read("get_A").is_none());
    }
}
