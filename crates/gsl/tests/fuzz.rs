//! Nothing that stands in a rule file may panic or hang: texts of random tokens, and good rules
//! with pieces cut out, doubled or exchanged.

use proptest::prelude::*;

const WORDS: [&str; 44] = [
    "rule",
    "match",
    "where",
    "keep",
    "replace",
    "let",
    "if",
    "then",
    "else",
    "for",
    "in",
    "is",
    "and",
    "not",
    "case",
    "either",
    "const",
    "x",
    "y",
    "i",
    "Relu",
    "Conv",
    "range",
    "sum",
    "1",
    "2.5",
    "\"s\"",
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    ",",
    ";",
    ":",
    "=",
    "==",
    "..",
    ".",
    "|",
    "*",
    "\n",
    "parameter",
];

/// Reads, checks and prints; what can be read is the same when it is read again.
fn examine(text: &str) {
    let (file, errors) = gsl::parse(text);
    let printed = file.to_string();
    let (again, more) = gsl::parse(&printed);
    if errors.is_empty() {
        assert!(more.is_empty(), "{text}\n{printed}\n{more:?}");
        assert_eq!(again, file, "{text}");
        let _ = gsl::compile(&file);
    }
}

fn library() -> Vec<String> {
    golden::cases("gsl/rewrite", "gsl")
        .into_iter()
        .filter_map(|c| Some(c.input.split_once("\n---\n")?.0.to_owned()))
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn random_tokens(picks in prop::collection::vec(0..WORDS.len(), 0..80)) {
        let words: Vec<&str> = picks.iter().map(|k| WORDS[*k]).collect();
        examine(&words.join(" "));
        examine(&format!("rule a {{ match y = Relu(x) where {} \n replace y = x }}", words.join(" ")));
        examine(&format!("rule a[i: 2..] {{ match {} \n replace y = x }}", words.join(" ")));
    }

    #[test]
    fn random_text(text in "\\PC{0,200}") {
        examine(&text);
    }

    #[test]
    fn rules_with_pieces_exchanged(which in any::<prop::sample::Index>(), edits in prop::collection::vec((any::<prop::sample::Index>(), 0..WORDS.len(), 0..3usize), 1..6)) {
        let all = library();
        let text = &all[which.index(all.len())];
        let mut words: Vec<&str> = text.split_inclusive([' ', '\n', '(', ')', ',']).collect();
        for (place, word, how) in &edits {
            let k = place.index(words.len());
            match how {
                0 => drop(words.remove(k)),
                1 => words.insert(k, WORDS[*word]),
                _ => words[k] = WORDS[*word],
            }
            if words.is_empty() {
                break;
            }
        }
        examine(&words.concat());
    }
}
