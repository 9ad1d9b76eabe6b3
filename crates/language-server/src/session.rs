//! The conversation with an editor: what the server can do, which message asks for what.

use std::panic::{AssertUnwindSafe, catch_unwind};

use lsp_server::{Connection, ErrorCode, Message, Notification, Request, RequestId, Response};
use lsp_types as lsp;
use lsp_types::notification::{self, Notification as _};
use lsp_types::request::{self, Request as _};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::answers;
use crate::documents::{Document, Documents};

/// The command that an editor asks to show a derivation.
const SHOW_DERIVATION: &str = "lozenge.showDerivation";

/// Why the conversation ended before its end.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Stopped(pub String);

impl std::fmt::Display for Stopped {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Stopped {}

fn stopped(error: impl std::fmt::Display) -> Stopped {
    Stopped(error.to_string())
}

fn capabilities() -> lsp::ServerCapabilities {
    lsp::ServerCapabilities {
        text_document_sync: Some(lsp::TextDocumentSyncKind::FULL.into()),
        hover_provider: Some(true.into()),
        completion_provider: Some(lsp::CompletionOptions::default()),
        document_formatting_provider: Some(lsp::OneOf::Left(true)),
        definition_provider: Some(lsp::OneOf::Left(true)),
        document_symbol_provider: Some(lsp::OneOf::Left(true)),
        inlay_hint_provider: Some(lsp::OneOf::Left(true)),
        code_action_provider: Some(true.into()),
        execute_command_provider: Some(lsp::ExecuteCommandOptions {
            commands: vec![SHOW_DERIVATION.to_owned()],
            ..lsp::ExecuteCommandOptions::default()
        }),
        ..lsp::ServerCapabilities::default()
    }
}

/// Serves an editor over a connection until it says `exit`.
///
/// # Errors
/// If the editor breaks the protocol or closes the stream.
pub fn serve(connection: &Connection) -> Result<(), Stopped> {
    let capabilities = serde_json::to_value(capabilities()).map_err(stopped)?;
    connection.initialize(capabilities).map_err(stopped)?;
    let mut documents = Documents::default();
    for message in &connection.receiver {
        match message {
            Message::Request(request) => {
                if connection.handle_shutdown(&request).map_err(stopped)? {
                    return Ok(());
                }
                let response = guarded(&request.id.clone(), || answer(&documents, request));
                connection.sender.send(Message::Response(response)).map_err(stopped)?;
            }
            Message::Notification(notification) => {
                if let Some(told) = notified(&mut documents, notification) {
                    connection.sender.send(Message::Notification(told)).map_err(stopped)?;
                }
            }
            Message::Response(_) => {}
        }
    }
    Err(Stopped("the editor closed the stream without `exit`".to_owned()))
}

/// A defect in an answer must not end the conversation.
fn guarded(id: &RequestId, answer: impl FnOnce() -> Response) -> Response {
    catch_unwind(AssertUnwindSafe(answer)).unwrap_or_else(|_| {
        let message = "the language server failed on this question; please report the text";
        Response::new_err(id.clone(), ErrorCode::InternalError as i32, message.to_owned())
    })
}

/// What an editor tells: texts that are opened, changed and closed. Gives the diagnostics to
/// publish.
fn notified(documents: &mut Documents, told: Notification) -> Option<Notification> {
    let uri = match told.method.as_str() {
        notification::DidOpenTextDocument::METHOD => {
            let params: lsp::DidOpenTextDocumentParams = serde_json::from_value(told.params).ok()?;
            update(documents, &params.text_document.uri, params.text_document.text);
            params.text_document.uri
        }
        notification::DidChangeTextDocument::METHOD => {
            let mut params: lsp::DidChangeTextDocumentParams = serde_json::from_value(told.params).ok()?;
            // with full synchronisation the last change is the whole text
            update(documents, &params.text_document.uri, params.content_changes.pop()?.text);
            params.text_document.uri
        }
        notification::DidCloseTextDocument::METHOD => {
            let params: lsp::DidCloseTextDocumentParams = serde_json::from_value(told.params).ok()?;
            documents.close(&params.text_document.uri);
            params.text_document.uri
        }
        _ => return None,
    };
    let diagnostics = documents.get(&uri).map(answers::diagnostics).unwrap_or_default();
    let params = lsp::PublishDiagnosticsParams { uri, diagnostics, version: None };
    Some(Notification::new(notification::PublishDiagnostics::METHOD.to_owned(), params))
}

/// A text that the analysis fails on is not known, rather than the end of the conversation.
fn update(documents: &mut Documents, uri: &lsp::Uri, text: String) {
    if catch_unwind(AssertUnwindSafe(|| documents.update(uri, text).is_some())).is_err() {
        documents.close(uri);
    }
}

fn answer(documents: &Documents, request: Request) -> Response {
    let id = request.id.clone();
    match request.method.as_str() {
        request::HoverRequest::METHOD => with(request, |params: lsp::HoverParams| {
            let (document, offset) = at(documents, &params.text_document_position_params)?;
            answers::hover(document, offset)
        }),
        request::GotoDefinition::METHOD => with(request, |params: lsp::GotoDefinitionParams| {
            let (document, offset) = at(documents, &params.text_document_position_params)?;
            answers::definition(document, offset)
        }),
        request::Completion::METHOD => with(request, |params: lsp::CompletionParams| {
            documents.get(&params.text_document_position.text_document.uri).map(answers::completions)
        }),
        request::Formatting::METHOD => with(request, |params: lsp::DocumentFormattingParams| {
            let document = documents.get(&params.text_document.uri)?;
            Some(answers::format(document).into_iter().collect::<Vec<_>>())
        }),
        request::DocumentSymbolRequest::METHOD => with(request, |params: lsp::DocumentSymbolParams| {
            documents.get(&params.text_document.uri).map(answers::symbols)
        }),
        request::InlayHintRequest::METHOD => with(request, |params: lsp::InlayHintParams| {
            documents.get(&params.text_document.uri).map(answers::hints)
        }),
        request::CodeActionRequest::METHOD => {
            with(request, |params: lsp::CodeActionParams| actions(documents, &params))
        }
        request::ExecuteCommand::METHOD => executed(documents, request),
        _ => Response::new_err(id, ErrorCode::MethodNotFound as i32, format!("no `{}` here", request.method)),
    }
}

/// Answers with a value or `null`; parameters of another form are an error.
fn with<P: DeserializeOwned, R: serde::Serialize>(
    request: Request,
    answer: impl FnOnce(P) -> Option<R>,
) -> Response {
    match serde_json::from_value(request.params) {
        Ok(params) => Response::new_ok(request.id, answer(params)),
        Err(error) => Response::new_err(request.id, ErrorCode::InvalidParams as i32, error.to_string()),
    }
}

fn at<'d>(
    documents: &'d Documents,
    place: &lsp::TextDocumentPositionParams,
) -> Option<(&'d Document, usize)> {
    let document = documents.get(&place.text_document.uri)?;
    Some((document, document.lines.offset(&document.text, place.position)))
}

/// "Show derivation", where a definition can be translated.
fn actions(documents: &Documents, params: &lsp::CodeActionParams) -> Option<Vec<lsp::Command>> {
    let document = documents.get(&params.text_document.uri)?;
    let offset = document.lines.offset(&document.text, params.range.start);
    document.analysis.definition_at(offset)?;
    let place = json!({ "uri": params.text_document.uri, "position": params.range.start });
    Some(vec![lsp::Command::new("Show derivation".into(), SHOW_DERIVATION.into(), Some(vec![place]))])
}

fn executed(documents: &Documents, request: Request) -> Response {
    let invalid =
        |id, message: &str| Response::new_err(id, ErrorCode::InvalidParams as i32, message.to_owned());
    let params: lsp::ExecuteCommandParams = match serde_json::from_value(request.params) {
        Ok(params) => params,
        Err(error) => return invalid(request.id, &error.to_string()),
    };
    if params.command != SHOW_DERIVATION {
        return invalid(request.id, &format!("there is no command `{}`", params.command));
    }
    let argument = params.arguments.first().unwrap_or(&Value::Null);
    let uri = serde_json::from_value::<lsp::Uri>(argument["uri"].clone());
    let position = serde_json::from_value::<lsp::Position>(argument["position"].clone());
    let (Ok(uri), Ok(position)) = (uri, position) else {
        return invalid(request.id, "the argument has the members `uri` and `position`");
    };
    let Some(document) = documents.get(&uri) else {
        return invalid(request.id, "this document is not open");
    };
    match answers::derivation(document, document.lines.offset(&document.text, position)) {
        Ok(text) => Response::new_ok(request.id, text),
        Err(reason) => Response::new_err(request.id, ErrorCode::RequestFailed as i32, reason),
    }
}
