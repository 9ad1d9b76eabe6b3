//! Why a rule does not apply at a node: how far matching comes, and what stands in the way.

use graph::{Graph, Model, NodeId};

use crate::eval::Facts;
use crate::matching::{Budget, Diary, Matcher};
use crate::optimize::RuleSet;
use crate::program::Need;
use crate::rewrite::Rewriter;

/// What a rule does at a node, in sentences: that it applies, or how far matching came for the
/// variant of the rule that came furthest, and what stood in the way. A node can only be where the
/// rule has one of its outputs. None if there is no rule of this name. The types of the model must
/// have been inferred.
pub fn why(model: &Model, rules: &RuleSet, rule: &str, node: NodeId) -> Option<Vec<String>> {
    let rule = rules.rules().iter().find(|r| r.name == rule)?;
    let mut furthest: Option<Diary> = None;
    for variant in &rule.variants {
        for plan in &variant.plans {
            let mut model = model.clone();
            let mut facts = Facts::of(&model);
            let (mut budget, mut diary) = (Budget::default(), Diary::default());
            let mut matcher = Matcher::new(&model, &facts, variant, plan, &mut budget);
            matcher.diary = Some(&mut diary);
            let found = matcher.run(node);
            if let Some(found) = found {
                let mut rewriter =
                    Rewriter { model: &mut model, facts: &mut facts, ignore_cost: false, fold: true };
                return Some(vec![match rewriter.apply(variant, &found.found) {
                    Ok(_) => "the rule matches, and would be applied".to_owned(),
                    Err(refusal) => {
                        format!("the rule matches, and what it would make is refused: {}", refusal.text())
                    }
                }]);
            }
            let unmet = plan.needs.iter().any(|need| !meets(&model.graph, node, *need));
            if diary.obstacle.is_empty() && unmet {
                diary.obstacle = "an input is not the constant that the rule has there".to_owned();
            }
            if furthest.as_ref().is_none_or(|best| diary.matched.len() > best.matched.len()) {
                furthest = Some(diary);
            }
        }
    }
    let Diary { matched, obstacle } = furthest.unwrap_or_default();
    let mut lines: Vec<String> = matched
        .iter()
        .map(|(name, id)| format!("`{name}` is {}", graph::infer::label(&model.graph, *id)))
        .collect();
    lines.push(if obstacle.is_empty() { "nothing of the rule is there".to_owned() } else { obstacle });
    Some(lines)
}

/// As rewriting asks it before it matches.
fn meets(graph: &Graph, id: NodeId, need: Need) -> bool {
    match need {
        Need::Shared(slot) => graph.node(id).input(slot).is_some_and(|v| graph.value(v).use_count() >= 2),
        Need::Constant(slot) => graph.node(id).input(slot).is_some_and(|v| graph.constant(v).is_some()),
    }
}
