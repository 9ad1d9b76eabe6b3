//! The highlighting of editors knows the words that the languages have.

use std::collections::BTreeSet;
use std::path::Path;

/// The words of the patterns `\b(?:a|b|...)\b` with this scope.
fn words(grammar: &str, scope: &str) -> BTreeSet<String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../editors/vscode/syntaxes");
    let text = std::fs::read_to_string(root.join(grammar)).expect("the grammar is there");
    let grammar: serde_json::Value = serde_json::from_str(&text).expect("the grammar is JSON");
    let patterns = grammar["patterns"].as_array().expect("a grammar has patterns");
    let lists = patterns.iter().filter(|pattern| pattern["name"] == scope).filter_map(|pattern| {
        pattern["match"].as_str()?.split_once("(?:")?.1.split_once(')').map(|(list, _)| list)
    });
    lists.flat_map(|list| list.split('|').map(str::to_owned)).collect()
}

#[test]
fn primitives_are_highlighted() {
    let table: BTreeSet<String> = functional::prim::TABLE.iter().map(|row| row.name.to_owned()).collect();
    assert_eq!(words("loz.tmLanguage.json", "support.function.lozenge"), table);
}

#[test]
fn reserved_words_are_highlighted() {
    let mut words = words("loz.tmLanguage.json", "keyword.control.lozenge");
    words.extend(self::words("loz.tmLanguage.json", "constant.language.lozenge"));
    for word in &words {
        assert!(functional::syntax::token::Keyword::from_text(word).is_some(), "`{word}` is not reserved");
    }
    for word in
        ["def", "type", "import", "strategy", "rule", "let", "in", "if", "then", "else", "where", "nan"]
    {
        assert!(words.contains(word), "`{word}` is not highlighted");
    }
}

/// The names in double quotes of the list behind `#any-of? @function.builtin`.
fn named(language: &str) -> BTreeSet<String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../editors");
    let path = root.join(format!("tree-sitter-{language}/queries/highlights.scm"));
    let text = std::fs::read_to_string(path).expect("the queries are there");
    let (_, list) = text.split_once("#any-of? @function.builtin").expect("there is a list");
    let (list, _) = list.split_once(')').expect("the list ends");
    list.split('"').skip(1).step_by(2).map(str::to_owned).collect()
}

#[test]
fn tree_sitter_colours_what_is_built_in() {
    let table: BTreeSet<String> = functional::prim::TABLE.iter().map(|row| row.name.to_owned()).collect();
    assert_eq!(named("loz"), table);
    let mut functions: BTreeSet<String> =
        gsl::rule::Function::ALL.iter().map(|f| f.text().to_owned()).collect();
    functions.extend(gsl::rule::Fold::ALL.iter().map(|f| f.text().to_owned()));
    functions.insert("const".to_owned());
    assert_eq!(named("gsl"), functions);
}
