//! Every rule of strategies is a lemma of the theory, under its name.

use functional::rewrite;

#[test]
fn every_rule_has_a_lemma() {
    let path = golden::root().join("proofs/Rewrites.v");
    let theory = std::fs::read_to_string(&path).unwrap();
    let stated = |name: &str| {
        let lemma = [format!("Lemma {name} "), format!("Definition {name} :=")];
        theory.lines().any(|line| lemma.iter().any(|l| line.starts_with(l.as_str())))
    };
    let missing: Vec<_> = rewrite::rules().map(|rule| rule.name).filter(|name| !stated(name)).collect();
    assert!(missing.is_empty(), "no lemma in {}: {}", path.display(), missing.join(", "));
}

/// The laws that sums need are hypotheses: rules that regroup come after these, and no others do
/// but those that say nothing of sums.
#[test]
fn rules_that_regroup_have_hypotheses() {
    let theory = std::fs::read_to_string(golden::root().join("proofs/Rewrites.v")).unwrap();
    let laws = theory.find("Hypothesis assoc").unwrap();
    for rule in rewrite::rules() {
        let place = theory.find(&format!("Lemma {} ", rule.name));
        if rule.reassociates {
            assert!(place.is_some_and(|place| place > laws), "{} rests on no law", rule.name);
        } else if let Some(place) = place {
            let end = theory.find("End Sums").unwrap();
            assert!(place < laws || place > end, "{} rests on laws", rule.name);
        }
    }
}
