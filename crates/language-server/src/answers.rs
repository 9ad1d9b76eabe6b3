//! Answers to an editor's questions about one document.

use functional::{Summary, prim};
use loops::{Diagnostic, Function, LoopKind, Severity, Span, Stmt};
use lsp_types as lsp;

use crate::analysis::term_at;
use crate::documents::{Document, Language};
use crate::place::word;

/// What is wrong with a document, in the protocol's form.
pub fn diagnostics(document: &Document) -> Vec<lsp::Diagnostic> {
    document.analysis.diagnostics.iter().map(|diagnostic| one(document, diagnostic)).collect()
}

fn one(document: &Document, diagnostic: &Diagnostic) -> lsp::Diagnostic {
    let range = |span| document.lines.range(&document.text, span);
    let (first, others) = match diagnostic.labels.split_first() {
        Some((first, others)) => (Some(first), others),
        None => (None, &[][..]),
    };
    let mut message = diagnostic.message.clone();
    let label = first.map(|label| label.text.clone()).filter(|text| !text.is_empty());
    for line in label.iter().chain(&diagnostic.notes) {
        message += &format!("\n{line}");
    }
    for line in &diagnostic.help {
        message += &format!("\nhelp: {line}");
    }
    let related = others.iter().map(|label| lsp::DiagnosticRelatedInformation {
        location: lsp::Location { uri: document.uri.clone(), range: range(label.span) },
        message: label.text.clone(),
    });
    lsp::Diagnostic {
        range: range(first.map(|label| label.span).unwrap_or_default()),
        severity: Some(match diagnostic.severity {
            Severity::Error => lsp::DiagnosticSeverity::ERROR,
            Severity::Warning => lsp::DiagnosticSeverity::WARNING,
            Severity::Note => lsp::DiagnosticSeverity::INFORMATION,
        }),
        code: Some(lsp::NumberOrString::String(diagnostic.code.to_string())),
        source: Some("lozenge".to_owned()),
        message,
        related_information: Some(related.collect()),
        ..lsp::Diagnostic::default()
    }
}

/// The signature of a definition as a person would write it.
fn signature(summary: &Summary) -> String {
    let mut text = format!("def {}", summary.name);
    if !summary.sizes.is_empty() {
        let sizes: Vec<&str> = summary.sizes.iter().map(|size| size.as_str()).collect();
        text += &format!(" [{}]", sizes.join(" "));
    }
    for (name, ty) in &summary.params {
        text += &format!(" ({name}: {ty})");
    }
    format!("{text}: {}", summary.result)
}

/// What there is to say of the name or expression at an offset: definitions, primitives, types of
/// expressions.
pub fn hover(document: &Document, offset: usize) -> Option<lsp::Hover> {
    if document.language != Language::Functional {
        return None;
    }
    let named = word(&document.text, offset);
    let (text, span) = match named.and_then(|(name, span)| Some((about(document, name)?, span))) {
        Some(found) => found,
        None => {
            let definition = document.analysis.definition_at(offset)?;
            let term = term_at(&definition, offset)?;
            (code(&term.ty().to_string()), term.span())
        }
    };
    let contents = lsp::MarkupContent { kind: lsp::MarkupKind::Markdown, value: text };
    let range = Some(document.lines.range(&document.text, span));
    Some(lsp::Hover { contents: lsp::HoverContents::Markup(contents), range })
}

fn about(document: &Document, name: &str) -> Option<String> {
    if let Some(summary) = document.analysis.summary(name) {
        return Some(format!("{}\n\n{}", code(&signature(&summary)), summary.doc));
    }
    if let Some(rule) = document.analysis.rule(name) {
        let variables: Vec<String> =
            rule.variables().into_iter().map(|(name, ty)| format!("{name}: {ty}")).collect();
        let text = format!("rule {name}\n  {} : {}", variables.join("\n  "), rule.ty());
        return Some(format!("{}\n\n{}", code(&text), rule.doc()));
    }
    let primitive = prim::TABLE.iter().find(|row| row.name == name)?;
    let rules: Vec<&str> = primitive.rules.iter().copied().filter(|rule| !rule.is_empty()).collect();
    let rules = if rules.is_empty() { String::new() } else { format!("\n\nRules: {}", rules.join(", ")) };
    let scheme = format!("{} : {}", primitive.name, primitive.scheme);
    Some(format!("{}\n\n{}{rules}", code(&scheme), primitive.doc))
}

fn code(text: &str) -> String {
    format!("```lozenge\n{text}\n```")
}

/// Names that may stand here: definitions and primitives.
pub fn completions(document: &Document) -> Vec<lsp::CompletionItem> {
    if document.language != Language::Functional {
        return Vec::new();
    }
    let own = document.analysis.checked.iter().flat_map(|checked| checked.definitions()).map(|summary| {
        lsp::CompletionItem {
            label: summary.name.to_string(),
            kind: Some(lsp::CompletionItemKind::FUNCTION),
            detail: Some(signature(&summary)),
            documentation: (!summary.doc.is_empty()).then(|| lsp::Documentation::String(summary.doc.clone())),
            ..lsp::CompletionItem::default()
        }
    });
    let primitives = prim::TABLE.iter().map(|row| lsp::CompletionItem {
        label: row.name.to_owned(),
        kind: Some(lsp::CompletionItemKind::KEYWORD),
        detail: Some(row.scheme.to_owned()),
        documentation: Some(lsp::Documentation::String(row.doc.to_owned())),
        ..lsp::CompletionItem::default()
    });
    own.chain(primitives).collect()
}

/// The edit that formats a document; none while it has syntax errors, or where nothing changes.
pub fn format(document: &Document) -> Option<lsp::TextEdit> {
    let formatted = match document.language {
        Language::Functional => functional::fmt::format(&document.text).ok()?,
        Language::Rules => gsl::format(&document.text).ok()?,
        Language::Loops => return None,
    };
    let range = document.lines.whole(&document.text);
    (formatted != document.text).then_some(lsp::TextEdit { range, new_text: formatted })
}

/// Where a definition of this document is defined.
pub fn definition(document: &Document, offset: usize) -> Option<lsp::Location> {
    let (name, _) = word(&document.text, offset)?;
    let (_, span) = names(document).into_iter().find(|(known, _)| known == name)?;
    Some(lsp::Location { uri: document.uri.clone(), range: document.lines.range(&document.text, span) })
}

/// The definitions or rules of the document, with the places of their names.
fn names(document: &Document) -> Vec<(String, Span)> {
    match document.language {
        Language::Functional => {
            let (module, _) = functional::parse_module(&document.text);
            let strategies = module.strategies.iter().map(|strategy| &strategy.name);
            let rules = module.rules.iter().map(|rule| &rule.name);
            let all = module.defs.iter().map(|def| &def.name).chain(strategies).chain(rules);
            all.map(|ident| (ident.name.to_string(), ident.span)).collect()
        }
        Language::Rules => {
            let (file, _) = gsl::parse(&document.text);
            file.rules.iter().map(|rule| (rule.name.clone(), rule.place.0)).collect()
        }
        Language::Loops => Vec::new(),
    }
}

/// An outline of the document.
#[allow(deprecated)] // the protocol's structure has a field that is deprecated and must be given
pub fn symbols(document: &Document) -> Vec<lsp::SymbolInformation> {
    let symbol = |(name, span)| lsp::SymbolInformation {
        name,
        kind: lsp::SymbolKind::FUNCTION,
        tags: None,
        deprecated: None,
        location: lsp::Location {
            uri: document.uri.clone(),
            range: document.lines.range(&document.text, span),
        },
        container_name: None,
    };
    names(document).into_iter().map(symbol).collect()
}

/// Behind the name of each definition: which of its loops are parallel, in lanes, or sequential.
pub fn hints(document: &Document) -> Vec<lsp::InlayHint> {
    let Some(checked) = document.analysis.checked.as_ref() else { return Vec::new() };
    // places are those of this text only while it has no errors
    if !document.analysis.diagnostics.is_empty() {
        return Vec::new();
    }
    let places = names(document);
    let hint = |summary: Summary| {
        let (_, span) = places.iter().find(|(name, _)| name == summary.name.as_str())?;
        let definition = checked.elaborate(summary.name.as_str()).ok()?;
        let label = match dpia::translate(&definition, dpia::Mode::Default) {
            Ok(translation) => kinds(&translation.function),
            Err(refused) if refused.code.0 == "D0101" => "no strategy yet".to_owned(),
            Err(_) => return None,
        };
        (!label.is_empty()).then(|| lsp::InlayHint {
            position: document.lines.position(&document.text, span.end as usize),
            label: lsp::InlayHintLabel::String(label),
            kind: None,
            text_edits: None,
            tooltip: None,
            padding_left: Some(true),
            padding_right: Some(true),
            data: None,
        })
    };
    let own = checked.own_definitions().into_iter();
    own.filter(|summary| summary.stands_alone).filter_map(hint).collect()
}

/// The loops of a function by kind, such as `parallel: i; lanes: j`.
fn kinds(function: &Function) -> String {
    let (mut parallel, mut lanes, mut sequential) = (Vec::new(), Vec::new(), Vec::new());
    let mut open: Vec<&Stmt> = function.body.iter().rev().collect();
    while let Some(statement) = open.pop() {
        match statement {
            Stmt::Loop(inner) => {
                let name = inner.var.to_string();
                match inner.kind {
                    LoopKind::Parallel => parallel.push(name),
                    LoopKind::Vector => lanes.push(name),
                    LoopKind::Sequential | LoopKind::Unroll(_) => sequential.push(name),
                }
                open.extend(inner.body.iter().rev());
            }
            Stmt::If { then, otherwise, .. } => open.extend(otherwise.iter().rev().chain(then.iter().rev())),
            Stmt::Block { body, .. } => open.extend(body.iter().rev()),
            Stmt::Assign(_) | Stmt::Local(_) | Stmt::Copy(_) | Stmt::Wait(_) => {}
        }
    }
    let groups = [("parallel", parallel), ("lanes", lanes), ("sequential", sequential)];
    let groups = groups.into_iter().filter(|(_, names)| !names.is_empty());
    groups.map(|(kind, names)| format!("{kind}: {}", names.join(", "))).collect::<Vec<_>>().join("; ")
}

/// The derivation of the definition around an offset: its rules, one a step.
pub fn derivation(document: &Document, offset: usize) -> Result<String, String> {
    let definition = document
        .analysis
        .definition_at(offset)
        .ok_or("there is no definition here that can be translated by itself")?;
    dpia::translate(&definition, dpia::Mode::Default)
        .map(|translation| translation.derivation.to_string())
        .map_err(|refused| refused.to_string())
}
