//! What is known of a text: diagnostics, and the last types that could be inferred.

use std::path::Path;

use functional::rewrite::DefinedRule;
use functional::{Checked, Definition, FileDiagnostic, Summary, Term};
use loops::{Diagnostic, Span};

use crate::documents::Language;

/// Reads an imported file.
pub type Reader<'r> = dyn Fn(&Path) -> Result<String, String> + 'r;

/// What is known of a document.
#[derive(Debug, Default)]
pub(crate) struct Analysis {
    /// What is wrong or worth a look in this text.
    pub diagnostics: Vec<Diagnostic>,
    /// The definitions of a functional program, of the last version without errors.
    pub checked: Option<Checked>,
}

impl Analysis {
    /// Of a text. `previous` is what was known of its last version: types stay while the text has
    /// errors.
    pub fn of(
        path: &Path,
        language: Language,
        text: &str,
        previous: Option<Analysis>,
        read: &Reader<'_>,
    ) -> Analysis {
        match language {
            Language::Functional => functional_program(path, text, previous, read),
            Language::Rules => Analysis { diagnostics: rules(text), checked: None },
            Language::Loops => Analysis { diagnostics: loop_program(text), checked: None },
        }
    }

    /// The summary of a definition.
    pub fn summary(&self, name: &str) -> Option<Summary> {
        self.checked.as_ref()?.definitions().into_iter().find(|summary| summary.name.as_str() == name)
    }

    /// The rewrite rule of this name.
    pub fn rule(&self, name: &str) -> Option<DefinedRule> {
        self.checked.as_ref()?.own_rules().into_iter().find(|rule| rule.name().as_str() == name)
    }

    /// The core form of the definition around an offset, if it has one by itself.
    pub(crate) fn definition_at(&self, offset: usize) -> Option<Definition> {
        let checked = self.checked.as_ref()?;
        let here = |span: Span| span.start as usize <= offset && offset <= span.end as usize;
        let own = checked.own_definitions();
        own.iter()
            .filter(|summary| summary.stands_alone)
            .filter_map(|summary| checked.elaborate(summary.name.as_str()).ok())
            .find(|definition| here(definition.span))
    }
}

fn functional_program(path: &Path, text: &str, previous: Option<Analysis>, read: &Reader<'_>) -> Analysis {
    let mut loader = |from: &str, import: &str| {
        let found = Path::new(from).parent().unwrap_or(Path::new("")).join(import);
        read(&found).map(|text| (found.display().to_string(), text))
    };
    let (sources, mut found) = functional::load(&path.display().to_string(), text, &mut loader);
    let mut checked = previous.and_then(|analysis| analysis.checked);
    if found.is_empty() {
        match functional::check_sources(&sources) {
            Ok(now) => {
                // Rules are tested as before they are applied.
                let wrong = now.own_rules().into_iter().filter_map(|rule| rule.admitted().err());
                let file = sources.files.len().saturating_sub(1);
                found.extend(wrong.map(|diagnostic| FileDiagnostic { file, diagnostic }));
                checked = Some(now);
            }
            Err(errors) => found = errors,
        }
    }
    // the document itself is the last file; what is wrong in an imported one is told at the import
    let own = sources.files.len().saturating_sub(1);
    let (mut diagnostics, mut elsewhere) = (Vec::new(), Vec::new());
    for error in found {
        if error.file == own { diagnostics.push(error.diagnostic) } else { elsewhere.push(error) }
    }
    if let (Some(first), Some(file)) = (elsewhere.first(), sources.files.get(own)) {
        let name = sources.files.get(first.file).map_or("an imported file", |file| file.name.as_str());
        let place = file.module.imports.first().map(|import| import.span).unwrap_or_default();
        let message = format!("{name} has errors: {}", first.diagnostic.message);
        diagnostics.insert(0, Diagnostic::error(first.diagnostic.code, message, place, "imported here"));
    }
    Analysis { diagnostics, checked }
}

fn rules(text: &str) -> Vec<Diagnostic> {
    let (file, errors) = gsl::parse(text);
    if !errors.is_empty() {
        return errors;
    }
    gsl::compile(&file).err().unwrap_or_default()
}

fn loop_program(text: &str) -> Vec<Diagnostic> {
    match loops::parse(text) {
        Err(errors) => errors,
        Ok(program) => loops::validate::validate_program(&program)
            .into_iter()
            .flat_map(|report| report.diagnostics)
            .collect(),
    }
}

/// The smallest subterm whose text is around an offset.
pub(crate) fn term_at(definition: &Definition, offset: usize) -> Option<Term> {
    let here = |term: &Term| {
        let span = term.span();
        span.start as usize <= offset && offset < span.end as usize
    };
    let mut best: Option<Term> = None;
    let mut open = vec![&definition.body];
    while let Some(term) = open.pop() {
        let length = |term: &Term| term.span().end - term.span().start;
        if here(term) && best.as_ref().is_none_or(|best| length(term) <= length(best)) {
            best = Some(term.clone());
        }
        open.extend(functional::walk::children(term).into_iter().map(|(_, child)| child));
    }
    best
}
