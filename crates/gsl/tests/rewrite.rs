//! Rules applied to small graphs: each file of tests/gsl/rewrite holds rules, a line `---`, and a
//! model; beside it what comes out.

mod common;

use std::fmt::Write as _;

use gsl::{Options, RuleSet};

#[test]
fn rules_rewrite_graphs() {
    golden::check("gsl/rewrite", "gsl", "out", |case| {
        let (rules, model) = case.input.split_once("\n---\n").expect("a line --- between rules and model");
        let (file, errors) = gsl::parse(rules);
        if !errors.is_empty() {
            return common::show(rules, &errors);
        }
        assert_eq!(gsl::parse(&file.to_string()).0, file);
        let rules = match gsl::compile(&file) {
            Ok(compiled) => RuleSet::new(compiled),
            Err(errors) => return common::show(rules, &errors),
        };
        let mut model = common::model(model);
        let before = model.clone();
        let options =
            Options { ignore_cost: !case.input.starts_with("# by cost"), trace: true, ..Options::default() };
        let report = match gsl::optimize(&mut model, &rules, &options, |_, _| {}) {
            Ok(report) => report,
            Err(error) => return common::show("", &[*error]),
        };
        let mut out = String::new();
        for rule in &report.rules {
            let _ = write!(out, "{}: {} matches, {} applied", rule.name, rule.matches, rule.applied);
            if rule.refused_by_cost > 0 {
                let _ = write!(out, ", {} refused by cost", rule.refused_by_cost);
            }
            if let Some(refusal) = rule.refusal {
                let _ = write!(out, ", {} refused ({refusal:?})", rule.refused);
            }
            out.push('\n');
        }
        common::check_valid(&model);
        // The trace, as text and back, does the same again.
        let trace = gsl::Trace::parse(&report.trace.to_text()).expect("a trace reads back");
        let mut again = before.clone();
        gsl::replay(&mut again, &rules, &trace).expect("a trace can be replayed");
        assert_eq!(again.graph.to_string(), model.graph.to_string());
        out.push_str(&report.trace.to_text());
        let _ = write!(out, "---\n{}", model.graph);
        out
    });
}
