//! Names as the set library can read them back: keywords of its notation and foreign characters are
//! avoided.

use std::collections::BTreeSet;

use loops::Name;

const RESERVED: [&str; 17] = [
    "and", "ceil", "ceild", "exists", "false", "floor", "floord", "implies", "infty", "max", "min", "mod",
    "nan", "not", "or", "rat", "true",
];

/// The name itself where it can be read back, else one like it that ends in `_q`.
pub(crate) fn readable(name: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let starts = name.chars().next().is_some_and(|c| c.is_ascii_alphabetic() || c == '_');
    let own = name.ends_with("_q");
    if starts && !own && name.chars().all(plain) && !RESERVED.contains(&name.to_ascii_lowercase().as_str()) {
        return name.to_owned();
    }
    let mut text = String::from("x");
    for c in name.chars() {
        if plain(c) {
            text.push(c);
        } else {
            text.push_str(&format!("_u{:x}_", u32::from(c)));
        }
    }
    text.push_str("_q");
    text
}

/// A name like `base` that is not taken yet; takes it.
pub(crate) fn fresh(base: &str, taken: &mut BTreeSet<Name>) -> Name {
    let name = loops::visit::fresh(&Name::new(base), taken);
    taken.insert(name.clone());
    name
}

#[cfg(test)]
mod tests {
    use super::readable;

    #[test]
    fn odd_names_stay_apart() {
        let names = ["i", "max", "Max", "a b", "a_b", "a.b", "floor", "xmax_q", "1st", ""];
        let readable: std::collections::BTreeSet<String> = names.iter().map(|n| readable(n)).collect();
        assert_eq!(readable.len(), names.len());
    }
}
