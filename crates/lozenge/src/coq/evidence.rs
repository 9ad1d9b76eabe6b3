//! What Coq must print before anything is believed.
//!
//! An exit status is no evidence: every program has one. Each question ends in a multiplication of
//! two numbers that were drawn for this run, so the answer names a number that stands in no file.
//! The whole output must be the statement, what it rests on, and this number.

use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hasher};

/// What Coq prints of something that rests on no axiom.
const CLOSED: &str = "Closed under the global context";

/// Two numbers of which Coq has to compute the product.
#[derive(Clone, Copy, Debug)]
pub(super) struct Challenge {
    left: u64,
    right: u64,
}

impl Challenge {
    /// Numbers that nobody can know before.
    pub fn draw() -> Challenge {
        let number = || RandomState::new().build_hasher().finish() | 1;
        Challenge { left: number(), right: number() }
    }

    /// The sentence for Coq. It needs `NArith` or `ZArith`.
    pub fn question(self) -> String {
        format!("Eval vm_compute in ({} * {})%N.\n", self.left, self.right)
    }

    fn answer(self) -> String {
        format!("= {}%N : N", u128::from(self.left) * u128::from(self.right))
    }

    /// The axioms that Coq lists behind the statement, if that, the list and the product are all
    /// that it says.
    pub fn axioms(self, said: &str, statement: &str) -> Option<Vec<String>> {
        let all = words(said);
        let middle = all.strip_prefix(statement)?.strip_suffix(&self.answer())?.trim();
        if middle == CLOSED {
            return Some(Vec::new());
        }
        middle.strip_prefix("Axioms:")?;
        let found = listed(said.rsplit_once("     = ")?.0);
        if found.is_empty() { None } else { Some(found) }
    }

    /// What Coq says before the product, if it says that.
    pub fn before(self, said: &str) -> Option<String> {
        Some(words(said).strip_suffix(&self.answer())?.trim().to_owned())
    }
}

/// The text with one space between words: Coq breaks long lines.
pub(super) fn words(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The axioms that `Print Assumptions` lists.
fn listed(said: &str) -> Vec<String> {
    let Some((_, list)) = said.split_once("Axioms:") else { return Vec::new() };
    let names = list.lines().filter(|l| !l.starts_with(char::is_whitespace));
    names.filter_map(|l| l.split_whitespace().next().map(str::to_owned)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const STATEMENT: &str = "m_f.ok : correct m_f.c";

    fn axioms(said: &str) -> Option<Vec<String>> {
        Challenge { left: 6, right: 7 }.axioms(said, STATEMENT)
    }

    #[test]
    fn only_the_statement_and_the_product_are_evidence() {
        let good = "m_f.ok\n     : correct m_f.c\nClosed under the global context\n     = 42%N\n     : N\n";
        assert_eq!(axioms(good), Some(Vec::new()));
        for (was, is) in [
            ("42", "41"),
            ("correct", "refines"),
            ("m_f.c", "m_g.c"),
            ("Closed under the global context\n", ""),
            ("Closed", "Not closed"),
            ("     = 42%N\n     : N\n", ""),
        ] {
            assert_eq!(axioms(&good.replace(was, is)), None, "{was} is {is}");
        }
        assert_eq!(axioms(""), None);
        assert_eq!(axioms("Closed under the global context\n"), None);
        assert_eq!(axioms(&format!("{good}{good}")), None);
    }

    #[test]
    fn axioms_are_read_from_what_coq_prints() {
        let said = "m_f.ok\n     : correct m_f.c\nAxioms:\nfunctional_extensionality_dep\n  : forall A, A\n\
                    classic : forall P : Prop, P\n     = 42%N\n     : N\n";
        let found = axioms(said).unwrap();
        assert_eq!(found, ["functional_extensionality_dep", "classic"]);
    }
}
