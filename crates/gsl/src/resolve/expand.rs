//! Expands alternatives: a rule with `p | q` or `either` becomes one rule for each combination, in
//! order.

use std::collections::{BTreeMap, BTreeSet};

use loops::{Code, Diagnostic};

use crate::rule::{Action, AttributeItem, Binding, Expr, ExprKind, Line, Pattern, Rule};

/// A rule has no more combinations of alternatives than this.
pub(crate) const MAX_VARIANTS: usize = 64;

/// A rule without alternatives.
pub(crate) struct Expanded {
    pub rule: Rule,
    /// Names that the whole rule has and this combination does not.
    pub missing: BTreeSet<String>,
}

/// All combinations of alternatives of a rule.
pub(crate) fn expand(rule: &Rule) -> Result<Vec<Expanded>, Diagnostic> {
    let mut counts = Vec::new();
    for line in &rule.source {
        count(&line.value.pattern, &mut counts);
    }
    let total = counts.iter().try_fold(1usize, |n, k| n.checked_mul(*k)).filter(|n| *n <= MAX_VARIANTS);
    let Some(total) = total else {
        return Err(Diagnostic::error(
            Code("R0104"),
            format!("rule `{}` has more than {MAX_VARIANTS} combinations of alternatives", rule.name),
            rule.place.0,
            "in this rule",
        )
        .help("write separate rules for some of them"));
    };
    let all = source_names(rule);
    let mut out = Vec::new();
    for k in 0..total {
        let mut rest = k;
        let mut choices = Vec::new();
        for n in counts.iter().rev() {
            choices.push(rest % n);
            rest /= n;
        }
        choices.reverse();
        let mut choices = choices.into_iter();
        let mut taken = BTreeMap::new();
        let mut variant = rule.clone();
        for line in &mut variant.source {
            let b = &mut line.value;
            if let (Pattern::Either(..), [Some(name)]) = (&b.pattern, b.names.as_slice()) {
                let choice = choices.clone().next().unwrap_or(0);
                taken.insert(name.name.text.clone(), choice);
            }
            b.pattern = choose(&b.pattern, &mut choices);
        }
        drop_unused(rule, &mut variant);
        let names = source_names(&variant);
        let missing: BTreeSet<String> = all.difference(&names).cloned().collect();
        for line in &mut variant.target {
            if let Action::Bind(b) = &mut line.value {
                b.pattern = decide(&b.pattern, &taken)?;
            }
        }
        out.push(Expanded { rule: variant, missing });
    }
    Ok(out)
}

fn count(p: &Pattern, counts: &mut Vec<usize>) {
    match p {
        Pattern::Either(all, _) => {
            counts.push(all.len());
            all.iter().for_each(|p| count(p, counts));
        }
        Pattern::Call(c) => {
            if c.either {
                counts.push(2);
            }
            c.arguments.iter().for_each(|p| count(p, counts));
        }
        Pattern::Tuple(parts, _) => parts.iter().for_each(|p| count(p, counts)),
        Pattern::Item(inner, _) | Pattern::Spread(inner, _) => count(inner, counts),
        _ => {}
    }
}

fn choose(p: &Pattern, choices: &mut impl Iterator<Item = usize>) -> Pattern {
    match p {
        Pattern::Either(all, _) => {
            let choice = choices.next().unwrap_or(0);
            // Every alternative takes its choices, so that each place has its own digit.
            let mut chosen: Vec<Pattern> = all.iter().map(|p| choose(p, choices)).collect();
            chosen.swap_remove(choice.min(all.len() - 1))
        }
        Pattern::Call(c) => {
            let mut call = c.clone();
            let swapped = c.either && choices.next() == Some(1);
            call.either = false;
            call.arguments = c.arguments.iter().map(|p| choose(p, choices)).collect();
            if swapped && call.arguments.len() >= 2 {
                call.arguments.swap(0, 1);
            }
            Pattern::Call(call)
        }
        Pattern::Tuple(parts, place) => {
            Pattern::Tuple(parts.iter().map(|p| choose(p, choices)).collect(), *place)
        }
        Pattern::Item(inner, index) => Pattern::Item(Box::new(choose(inner, choices)), index.clone()),
        Pattern::Spread(inner, place) => Pattern::Spread(Box::new(choose(inner, choices)), *place),
        other => other.clone(),
    }
}

/// `case y { p | q }` becomes the clause of the alternative that `y` took.
fn decide(p: &Pattern, taken: &BTreeMap<String, usize>) -> Result<Pattern, Diagnostic> {
    let all = |parts: &[Pattern]| parts.iter().map(|p| decide(p, taken)).collect::<Result<Vec<_>, _>>();
    Ok(match p {
        Pattern::Case(subject, clauses, place) => {
            let Some(choice) = taken.get(&subject.name.text) else {
                let text = format!("`{}` has no alternatives", subject.name.text);
                return Err(Diagnostic::error(
                    Code("R0213"),
                    text,
                    subject.name.place.0,
                    "`case` asks which was taken",
                )
                .help("name them in the pattern: `y = p | q`"));
            };
            match clauses.get(*choice) {
                Some(clause) => decide(clause, taken)?,
                None => {
                    let text = format!(
                        "`{}` has more alternatives than this `case`: {} against {}",
                        subject.name.text,
                        choice + 1,
                        clauses.len()
                    );
                    return Err(Diagnostic::error(
                        Code("R0213"),
                        text,
                        place.0,
                        "a pattern for each is needed",
                    ));
                }
            }
        }
        Pattern::Call(c) => {
            let mut call = c.clone();
            call.arguments = all(&c.arguments)?;
            Pattern::Call(call)
        }
        Pattern::Tuple(parts, place) => Pattern::Tuple(all(parts)?, *place),
        Pattern::Item(inner, index) => Pattern::Item(Box::new(decide(inner, taken)?), index.clone()),
        Pattern::Spread(inner, place) => Pattern::Spread(Box::new(decide(inner, taken)?), *place),
        Pattern::If(c, yes, no, place) => {
            Pattern::If(c.clone(), Box::new(decide(yes, taken)?), Box::new(decide(no, taken)?), *place)
        }
        other => other.clone(),
    })
}

/// Bindings that only alternatives that were not taken refer to are no part of the pattern.
fn drop_unused(whole: &Rule, variant: &mut Rule) {
    loop {
        let used = |rule: &Rule| {
            let mut names = BTreeSet::new();
            rule.source.iter().for_each(|l| pattern_names(&l.value.pattern, &mut names));
            names
        };
        let (before, now) = (used(whole), used(variant));
        let binds = |l: &Line<Binding>, set: &BTreeSet<String>| {
            l.value.names.iter().flatten().any(|n| set.contains(&n.name.text))
        };
        let length = variant.source.len();
        variant.source.retain(|l| !binds(l, &before) || binds(l, &now));
        if variant.source.len() == length {
            return;
        }
    }
}

/// The names of vertices and inputs of a source.
fn source_names(rule: &Rule) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for line in &rule.source {
        names.extend(line.value.names.iter().flatten().map(|n| n.name.text.clone()));
        pattern_names(&line.value.pattern, &mut names);
    }
    names
}

/// The names that stand as values in a pattern.
fn pattern_names(p: &Pattern, names: &mut BTreeSet<String>) {
    match p {
        Pattern::Ref(v) => drop(names.insert(v.name.text.clone())),
        Pattern::Optional(name) => drop(names.insert(name.text.clone())),
        Pattern::Call(c) => c.arguments.iter().for_each(|p| pattern_names(p, names)),
        Pattern::Tuple(parts, _) | Pattern::Either(parts, _) | Pattern::Case(_, parts, _) => {
            parts.iter().for_each(|p| pattern_names(p, names));
        }
        Pattern::Item(inner, _) | Pattern::Spread(inner, _) => pattern_names(inner, names),
        Pattern::If(_, yes, no, _) => {
            pattern_names(yes, names);
            pattern_names(no, names);
        }
        Pattern::Wildcard(_) | Pattern::Constant { .. } => {}
    }
}

/// Whether an expression mentions one of these names.
pub(crate) fn mentions(e: &Expr, names: &BTreeSet<String>) -> bool {
    let any = |all: &[Expr]| all.iter().any(|e| mentions(e, names));
    match &e.kind {
        ExprKind::Name(n) => names.contains(n),
        ExprKind::Field(e, _) | ExprKind::Unary(_, e) | ExprKind::Is(e, _) => mentions(e, names),
        ExprKind::Item(a, b) | ExprKind::Binary(_, a, b) => mentions(a, names) || mentions(b, names),
        ExprKind::Slice(a, b, c) => mentions(a, names) || b.iter().chain(c).any(|e| mentions(e, names)),
        ExprKind::Tuple(all) | ExprKind::Call(_, all) => any(all),
        ExprKind::If(a, b, c) => mentions(a, names) || mentions(b, names) || mentions(c, names),
        ExprKind::Map(each) | ExprKind::Fold(_, each) => {
            mentions(&each.body, names) || each.over.iter().chain(&each.filter).any(|e| mentions(e, names))
        }
        _ => false,
    }
}

/// Whether an attribute item mentions one of these names.
pub(crate) fn item_mentions(item: &AttributeItem, names: &BTreeSet<String>) -> bool {
    match item {
        AttributeItem::Is(_, e) => mentions(e, names),
        AttributeItem::Like(v) => names.contains(&v.name.text),
    }
}
