//! Sums that are made in an element while others of its array are read (`for k: B[i][j] -= L[i][k]
//! * B[k][j]; B[i][j] /= L[i][i]`) are made in a local scalar.
//!
//! The reverse of [store forwarding](super::store_forwarding), for targets where an element that is
//! changed and others that are read need boxes of their own. It is the same program if all that the
//! statements from the sum to the last change of the element mention of its array is this element,
//! or surely another.
//!
//! Beside it: [register promotion](super::register_promotion) keeps elements in registers for C
//! compilers, in nests that are scheduled already. The target `openmp` keeps the sums of a tile
//! when it prints (`tile_sums`), since only there it is known which loops become lanes.

use std::collections::BTreeSet;

use loops::facts::Facts;
use loops::visit::{fresh, taken};
use loops::{Access, ArrayDecl, Assign, Elem, Expr, Function, Name, ParamMode, Stmt, Storage};

use crate::pass::{Pass, Step};
use crate::store_forwarding::{hides, inside, leaves, mentions, put};

/// The pass.
pub const PASS: Pass = Pass {
    step: Step {
        name: "scalar-replacement",
        literature: "scalar replacement (Callahan, Carr, Kennedy 1990)",
        about: "an element that is updated while others of its array are read is kept in a local scalar",
    },
    run: accumulate,
};

/// The function with such sums in local scalars; none if it has none.
fn accumulate(function: &Function) -> Option<Function> {
    let mut state = State { function, taken: taken(function), found: false };
    let body = state.block(&Facts::of(function), &function.body);
    state.found.then(|| Function { body, ..function.clone() })
}

struct State<'a> {
    function: &'a Function,
    taken: BTreeSet<Name>,
    found: bool,
}

impl State<'_> {
    fn block(&mut self, facts: &Facts, body: &[Stmt]) -> Vec<Stmt> {
        let mut result = Vec::new();
        let mut rest = body;
        while let Some((stmt, after)) = rest.split_first() {
            if let Some((sum, length)) = self.sum(facts, rest) {
                result.extend(sum);
                rest = &rest[length..];
                continue;
            }
            let facts = match stmt {
                Stmt::Loop(l) => inside(facts, l),
                _ => facts.clone(),
            };
            result.push(stmt.map(&mut Expr::clone, &mut |body| self.block(&facts, body)));
            rest = after;
        }
        result
    }

    /// What stands for the statements that such a sum begins with, and how many these are.
    fn sum(&mut self, facts: &Facts, rest: &[Stmt]) -> Option<(Vec<Stmt>, usize)> {
        let element = updated(rest.first()?)?;
        let param = self.function.params.iter().find(|p| p.name == element.array)?;
        let Elem::Scalar(_) = param.elem else { return None };
        if param.mode == ParamMode::In || !element.path.is_empty() {
            return None;
        }
        // As far as the element is changed, one statement after the other.
        let changes = |stmt: &Stmt| matches!(stmt, Stmt::Assign(a) if a.target == element);
        let length = 1 + rest[1..].iter().take_while(|stmt| changes(stmt)).count();
        let name = fresh(&element.array, &self.taken);
        let scalar = Access::element(name.clone(), Vec::new());
        let sum = put(&rest[..length], &element, &scalar);
        let apart = |stmt: &Stmt| leaves(facts, stmt, &element) && !hides(stmt, &element);
        // Without other elements of the array there is nothing in the way.
        if !sum.iter().all(apart) || !sum.iter().any(|stmt| mentions(stmt, &element.array)) {
            return None;
        }
        let elem = param.elem.clone();
        self.taken.insert(name.clone());
        self.found = true;
        let mut result = vec![
            Stmt::Local(ArrayDecl { name, elem, dims: Vec::new(), storage: Storage::Auto }),
            Stmt::Assign(Assign {
                label: None,
                target: scalar.clone(),
                update: None,
                value: Expr::Load(element.clone()),
            }),
        ];
        result.extend(sum);
        result.push(Stmt::Assign(Assign {
            label: None,
            target: element,
            update: None,
            value: Expr::Load(scalar),
        }));
        Some((result, length))
    }
}

/// The element that a loop of a single update changes in all its iterations.
fn updated(stmt: &Stmt) -> Option<Access> {
    let Stmt::Loop(l) = stmt else { return None };
    let [Stmt::Assign(assign)] = l.body.as_slice() else { return None };
    let element = &assign.target;
    let same = element.indices.iter().all(|e| !e.mentions(&l.var) && !e.has_loads());
    (assign.update.is_some() && same && !element.indices.is_empty()).then(|| element.clone())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn accumulated(body: &str) -> Option<String> {
        let text = format!("fn f[n](a: in f64[n], b: inout f64[n]) {{\n for i in 0..n {{\n {body}\n }}\n}}");
        let program = loops::parse(&text).unwrap_or_else(|d| panic!("{text}: {d:?}"));
        accumulate(&program.functions[0])
            .map(|function| loops::Program { functions: vec![function] }.to_string())
    }

    #[test]
    fn a_sum_over_other_elements_is_made_in_a_scalar() {
        let text = accumulated("for k in 0..i {\n b[i] += a[k] * b[k]\n }\n b[i] = b[i] / a[i]").unwrap();
        for line in ["b_1 = b[i]", "b_1 += a[k] * b[k]", "b_1 = b_1 / a[i]", "b[i] = b_1"] {
            assert!(text.contains(line), "{line} in {text}");
        }
    }

    #[test]
    fn what_may_be_the_element_stays() {
        for body in [
            // No others; perhaps the same; another element in each iteration.
            "for k in 0..i {\n b[i] += a[k]\n }",
            "for k in 0..n {\n b[i] += b[k]\n }",
            "for k in 0..i {\n b[k] += b[i]\n }",
        ] {
            assert_eq!(accumulated(body), None, "{body}");
        }
    }
}
