//! Messages about types and sizes that don't fit.

use loops::{Code, Diagnostic, Label, Size, Span};

use super::Infer;
use super::expressions::Why;
use super::inferred_types::{Class, Ty, show, show_size};
use super::node::{Node, NodeKind};
use super::solve::{Equation, Mismatch, Obligation, meta_of};

/// What cannot be shown of sizes.
pub(super) const UNSHOWN: Code = Code("F0404");

/// At most this many errors are reported for one definition.
const MAX_ERRORS: usize = 50;

impl Infer<'_> {
    pub(super) fn error(&mut self, diagnostic: Diagnostic) {
        if self.diagnostics.len() >= MAX_ERRORS {
            return;
        }
        let echo = |d: &Diagnostic| d.code == diagnostic.code && d.labels == diagnostic.labels;
        if !self.diagnostics.iter().any(echo) {
            self.diagnostics.push(diagnostic);
        }
    }

    /// The errors in the order of the text: an earlier one is often the cause of a later one.
    pub(super) fn in_order(&mut self) -> Vec<Diagnostic> {
        let mut diagnostics = std::mem::take(&mut self.diagnostics);
        let place = |d: &Diagnostic| d.labels.iter().find(|l| l.primary).map_or(0, |l| l.span.start);
        diagnostics.sort_by_key(place);
        diagnostics
    }

    pub(super) fn shown(&self, ty: &Ty) -> String {
        show(&self.solver.zonk(ty))
    }

    pub(super) fn require(&mut self, class: Class, ty: &Ty, span: Span, what: &str) {
        self.constraints.push((class, ty.clone(), span, what.to_owned()));
    }

    pub(super) fn mismatch(&mut self, mismatch: &Mismatch, found: &Node, want: &Ty, why: &Why) {
        let (have, need) = (self.shown(&found.ty), self.shown(want));
        let mut diagnostic = match mismatch {
            Mismatch::Shape => Diagnostic::error(
                Code("F0301"),
                format!("{} must be `{need}`, not `{have}`", why.text),
                found.span,
                format!("this is `{have}`"),
            ),
            Mismatch::Infinite => Diagnostic::error(
                Code("F0301"),
                format!("{} would contain its own type", why.text),
                found.span,
                format!("this is `{have}`, and `{need}` is needed"),
            ),
            Mismatch::Function => Diagnostic::error(
                Code("F0305"),
                format!("{} must be data, not a function", why.text),
                found.span,
                format!("this is the function `{have}`"),
            )
            .note("functions are only arguments of primitives and definitions; they can't be elements or results"),
            Mismatch::Size(actual, expected) => {
                let (have_size, need_size) =
                    (show_size(&self.solver.size(actual)), show_size(&self.solver.size(expected)));
                let diagnostic = Diagnostic::error(
                    Code("F0402"),
                    format!("the sizes `{have_size}` and `{need_size}` differ"),
                    found.span,
                    format!("this is `{have}`"),
                );
                let mut diagnostic = self.with_sources(diagnostic, actual, found.span);
                diagnostic = self.with_sources(diagnostic, expected, found.span);
                let (have_size, need_size) = (self.solver.size(actual), self.solver.size(expected));
                self.with_size_help(diagnostic, &have_size, &need_size)
            }
        };
        if let Some(at) = why.at.filter(|at| *at != found.span) {
            diagnostic = diagnostic.context(at, format!("{} must be `{need}`", why.text));
        }
        if let NodeKind::Local(local) = found.kind {
            let info = &self.locals[local as usize];
            if info.span != found.span && !diagnostic.labels.iter().any(|l| l.span == info.span) {
                diagnostic = diagnostic.context(info.span, format!("`{}` is bound here", info.name));
            }
        }
        let indexes = matches!(self.solver.shallow(&found.ty), Ty::Idx(_))
            && matches!(self.solver.shallow(want), Ty::Scalar(_));
        if indexes {
            diagnostic = diagnostic.help("`i64 i` is the value of an index `i`");
        } else if matches!(self.solver.shallow(want), Ty::Idx(_)) && *mismatch == Mismatch::Shape {
            diagnostic =
                diagnostic.help("`toIdx n x` makes an index below `n` of an integer `x`, by clamping");
        }
        self.error(diagnostic);
    }

    fn with_sources(&self, mut diagnostic: Diagnostic, size: &Size, at: Span) -> Diagnostic {
        for (span, value) in self.solver.sources(size) {
            if span != at && !diagnostic.labels.iter().any(|l| l.span == span) {
                diagnostic = diagnostic.context(span, format!("`{value}` comes from here"));
            }
        }
        diagnostic
    }

    fn with_size_help(&self, diagnostic: Diagnostic, left: &Size, right: &Size) -> Diagnostic {
        let known = left.params().iter().chain(&right.params()).all(|n| meta_of(n).is_none());
        let open = (left.clone() - right.clone()).as_constant().is_none();
        if known && open {
            let (left, right) = (show_size(left), show_size(right));
            diagnostic.help(self.where_help(&format!("{left} == {right}"), "the type"))
        } else {
            diagnostic
        }
    }

    /// How a relation becomes a fact.
    fn where_help(&self, relation: &str, behind: &str) -> String {
        if self.in_rule {
            format!("if the rule is only for such sizes, write `where {relation}` after its right side")
        } else {
            format!("if callers guarantee it, write `where {relation}` after {behind}")
        }
    }

    /// An equation that can't hold.
    pub(super) fn wrong_equation(&mut self, equation: &Equation) {
        let (left, right) = (self.solver.size(&equation.actual), self.solver.size(&equation.expected));
        let diagnostic = Diagnostic::error(
            Code("F0402"),
            format!("the sizes `{}` and `{}` differ", show_size(&left), show_size(&right)),
            equation.at,
            format!("`{}` here", show_size(&left)),
        );
        self.equation(diagnostic, equation, &left, &right);
    }

    /// An equation that still has unknown sizes.
    pub(super) fn open_equation(&mut self, equation: &Equation) {
        let (left, right) = (self.solver.size(&equation.actual), self.solver.size(&equation.expected));
        let mut metas: Vec<usize> = left.params().iter().chain(&right.params()).filter_map(meta_of).collect();
        metas.sort_unstable();
        metas.dedup();
        if self.quiet || metas.iter().any(|k| self.told.contains(k)) {
            return;
        }
        let message = match metas.first().map(|k| &self.solver.sizes[*k]) {
            Some(meta) => format!("{} can't be inferred", meta.what),
            None => "a size can't be inferred".to_owned(),
        };
        let label = format!("needs `{}` to be `{}`", show_size(&left), show_size(&right));
        let mut diagnostic = Diagnostic::error(Code("F0403"), message, equation.at, label);
        for k in metas {
            let meta = &self.solver.sizes[k];
            if meta.origin != equation.at && !diagnostic.labels.iter().any(|l| l.span == meta.origin) {
                diagnostic = diagnostic.context(meta.origin, format!("{} is unknown", meta.what));
            }
            self.told.insert(k);
        }
        diagnostic = diagnostic.help(
            "write the size out, or state what callers guarantee: `where n == k * m` or `where n % k == 0`",
        );
        self.equation(diagnostic, equation, &left, &right);
    }

    fn equation(&mut self, diagnostic: Diagnostic, equation: &Equation, left: &Size, right: &Size) {
        let mut diagnostic = self.with_sources(diagnostic, &equation.actual, equation.at);
        diagnostic = self.with_sources(diagnostic, &equation.expected, equation.at);
        if let Some(at) = equation.why_at.filter(|at| *at != equation.at) {
            diagnostic = diagnostic.context(at, format!("{} needs `{}`", equation.why, show_size(right)));
        }
        diagnostic = self.with_size_help(diagnostic, left, right);
        self.error(diagnostic);
    }

    /// What could not be shown.
    pub(super) fn open_obligation(&mut self, obligation: &Obligation) {
        let (left, right) = (self.solver.size(&obligation.left), self.solver.size(&obligation.right));
        let unknown = left.params().iter().chain(&right.params()).any(|name| meta_of(name).is_some());
        let told = |d: &Diagnostic| d.code == UNSHOWN && d.labels.iter().any(|l| l.span == obligation.at);
        if self.quiet || unknown || self.diagnostics.iter().any(told) {
            return;
        }
        let difference = right.clone() - left.clone();
        let constant = difference.as_constant();
        let (left, right) = if constant.is_some() { (left, right) } else { sides(&difference) };
        let relation = format!("{} <= {}", show_size(&left), show_size(&right));
        let message = match constant {
            Some(_) => format!("{}, but `{relation}` is false", obligation.why),
            None => format!("{}, but `{relation}` cannot be shown", obligation.why),
        };
        let needs = format!("needs `{relation}` for all sizes");
        // One fact behind `where` answers all of them.
        let same = |d: &&mut Diagnostic| d.labels.iter().any(|label| label.primary && label.text == needs);
        if let (None, Some(first)) = (constant, self.diagnostics.iter_mut().find(same)) {
            first.labels.push(Label { span: obligation.at, text: "also here".to_owned(), primary: false });
            return;
        }
        let diagnostic = Diagnostic::error(UNSHOWN, message, obligation.at, needs);
        self.error(match constant {
            Some(_) => diagnostic,
            None => diagnostic.help(self.where_help(&relation, "the result's type")),
        });
    }
}

/// `difference >= 0` as a relation without minus signs.
fn sides(difference: &Size) -> (Size, Size) {
    let (mut left, mut right) = (Size::constant(0), Size::constant(0));
    for (coefficient, factors) in difference.terms() {
        let mut term = Size::constant(coefficient);
        for (factor, exponent) in factors {
            for _ in 0..exponent {
                term = term * factor.to_size();
            }
        }
        if coefficient < 0 {
            left = left - term;
        } else {
            right = right + term;
        }
    }
    (left, right)
}
