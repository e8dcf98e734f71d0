//! The conversation with a client.

use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use lsp_server::{Connection, ErrorCode, Message, Notification, Request, RequestId, Response};
use lsp_types::{
    CodeActionProviderCapability, CompletionOptions, DidChangeTextDocumentParams,
    DidCloseTextDocumentParams, DidOpenTextDocumentParams, ExecuteCommandOptions,
    ExecuteCommandParams, HoverProviderCapability, MessageType, OneOf, PublishDiagnosticsParams,
    ServerCapabilities, ShowMessageParams, TextDocumentSyncCapability, TextDocumentSyncKind,
};
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::document::Document;
use crate::gsl;
use crate::requests::{Question, question};
use crate::workers::{Pending, Worker};

/// How a conversation ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Ended {
    /// The client asked for the end, and then for the exit; or nothing was ever said.
    Orderly,
    /// The client left without asking.
    Abrupt,
}

/// Answers a client until it leaves.
pub fn serve(connection: &Connection) -> Ended {
    let id = match connection.initialize_start() {
        Ok((id, _)) => id,
        Err(error) if error.channel_is_disconnected() => return Ended::Orderly,
        Err(_) => return Ended::Abrupt,
    };
    let about = serde_json::json!({
        "capabilities": capabilities(),
        "serverInfo": { "name": "tangram", "version": env!("CARGO_PKG_VERSION") },
    });
    if connection.initialize_finish(id, about).is_err() {
        return Ended::Abrupt;
    }
    let (Ok(reader), Ok(verifier)) = (Worker::new("texts"), Worker::new("verdicts")) else {
        return Ended::Abrupt;
    };
    let client = Client { connection: connection.sender.clone(), pending: Pending::default() };
    let mut server =
        Server { client, documents: Documents::default(), reader, verifier, ending: false };
    let ended = server.listen(connection);
    server.client.pending.cancel_all();
    server.reader.finish();
    server.verifier.finish();
    ended
}

fn capabilities() -> ServerCapabilities {
    let triggers = [".", "{", "("].map(str::to_owned).into();
    ServerCapabilities {
        text_document_sync: Some(TextDocumentSyncCapability::Kind(
            TextDocumentSyncKind::INCREMENTAL,
        )),
        hover_provider: Some(HoverProviderCapability::Simple(true)),
        completion_provider: Some(CompletionOptions {
            trigger_characters: Some(triggers),
            ..CompletionOptions::default()
        }),
        definition_provider: Some(OneOf::Left(true)),
        document_symbol_provider: Some(OneOf::Left(true)),
        document_formatting_provider: Some(OneOf::Left(true)),
        code_action_provider: Some(CodeActionProviderCapability::Simple(true)),
        execute_command_provider: Some(ExecuteCommandOptions {
            commands: vec![gsl::VERDICT.to_owned()],
            ..ExecuteCommandOptions::default()
        }),
        ..ServerCapabilities::default()
    }
}

/// The texts that are open, by URI.
#[derive(Clone, Default)]
struct Documents(Arc<Mutex<HashMap<String, Arc<Document>>>>);

impl Documents {
    fn lock(&self) -> MutexGuard<'_, HashMap<String, Arc<Document>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn find(&self, uri: &str) -> Option<Arc<Document>> {
        self.lock().get(uri).cloned()
    }

    /// Whether a document is still what the client shows.
    fn is_shown(&self, document: &Arc<Document>) -> bool {
        self.find(&document.uri).is_some_and(|shown| Arc::ptr_eq(&shown, document))
    }
}

/// What goes to the client; it may be gone, which the listener finds out.
#[derive(Clone)]
struct Client {
    connection: crossbeam_channel::Sender<Message>,
    pending: Pending,
}

impl Client {
    fn tell(&self, method: &str, params: impl serde::Serialize) {
        let note = Notification::new(method.to_owned(), params);
        let _ = self.connection.send(note.into());
    }

    /// Answers a request; with an error where it was cancelled.
    fn answer(&self, id: RequestId, cancelled: &AtomicBool, answer: Result<Value, Wrong>) {
        self.pending.remove(&id);
        let answer = match cancelled.load(Ordering::Relaxed) {
            true => Err((ErrorCode::RequestCanceled, "the request was cancelled".to_owned())),
            false => answer,
        };
        let response = match answer {
            Ok(value) => Response::new_ok(id, value),
            Err((code, message)) => Response::new_err(id, code as i32, message),
        };
        let _ = self.connection.send(response.into());
    }

    fn publish(&self, document: &Document) {
        let Ok(uri) = document.uri.parse() else { return };
        let (diagnostics, version) = (document.diagnostics(), Some(document.version));
        let params = PublishDiagnosticsParams { uri, diagnostics, version };
        self.tell("textDocument/publishDiagnostics", params);
    }
}

/// A request that cannot be answered.
type Wrong = (ErrorCode, String);

struct Server {
    client: Client,
    documents: Documents,
    /// Looks at texts.
    reader: Worker,
    /// Verifies rules.
    verifier: Worker,
    /// The client has asked for the end.
    ending: bool,
}

impl Server {
    fn listen(&mut self, connection: &Connection) -> Ended {
        for message in &connection.receiver {
            match message {
                Message::Request(request) => self.request(request),
                Message::Notification(note) if note.method == "exit" => {
                    return if self.ending { Ended::Orderly } else { Ended::Abrupt };
                }
                Message::Notification(note) => self.note(note),
                // Nothing was asked that the answer matters of.
                Message::Response(_) => {}
            }
        }
        Ended::Abrupt
    }

    fn request(&mut self, request: Request) {
        let Request { id, method, params } = request;
        let cancelled = self.client.pending.add(&id);
        let refuse = |code: ErrorCode, message: String| {
            self.client.answer(id.clone(), &cancelled, Err((code, message)));
        };
        if self.ending {
            return refuse(ErrorCode::InvalidRequest, "the server was asked to end".to_owned());
        }
        match method.as_str() {
            "shutdown" => {
                self.client.answer(id, &cancelled, Ok(Value::Null));
                self.ending = true;
            }
            "workspace/executeCommand" => self.command(id, cancelled, params),
            _ => match question(&method, params) {
                None => refuse(ErrorCode::MethodNotFound, format!("no method `{method}`")),
                Some(Err(why)) => refuse(ErrorCode::InvalidParams, why),
                Some(Ok(question)) => self.ask(id, cancelled, question),
            },
        }
    }

    /// Answers a question once what came before is answered.
    fn ask(&self, id: RequestId, cancelled: Arc<AtomicBool>, question: Question) {
        let client = self.client.clone();
        let Some(document) = self.documents.find(&question.uri) else {
            let why = format!("`{}` is not open", question.uri);
            return client.answer(id, &cancelled, Err((ErrorCode::InvalidParams, why)));
        };
        self.reader.add(Box::new(move || {
            let answer = match cancelled.load(Ordering::Relaxed) {
                true => Ok(Value::Null),
                false => guarded(|| (question.answer)(&document)),
            };
            client.answer(id, &cancelled, answer);
        }));
    }

    /// Verifies a rule.
    fn command(&self, id: RequestId, cancelled: Arc<AtomicBool>, params: Value) {
        let client = self.client.clone();
        let wanted = serde_json::from_value::<ExecuteCommandParams>(params)
            .map_err(|error| error.to_string())
            .and_then(|params| self.rule_of(&params));
        let (document, rule) = match wanted {
            Ok(wanted) => wanted,
            Err(why) => {
                return client.answer(id, &cancelled, Err((ErrorCode::InvalidParams, why)));
            }
        };
        let documents = self.documents.clone();
        self.verifier.add(Box::new(move || {
            let verify = || gsl::verify(&document, &rule, cancelled.clone());
            let is_cancelled = || cancelled.load(Ordering::Relaxed);
            let found = if is_cancelled() { Ok(Err(String::new())) } else { guarded(verify) };
            let answer = match found {
                Err(wrong) => Err(wrong),
                Ok(Err(why)) => Err((ErrorCode::RequestFailed, why)),
                Ok(Ok(found)) if !is_cancelled() => {
                    note_verdict(&client, &documents, &document, &rule, found.diagnostic);
                    Ok(found.json)
                }
                Ok(Ok(_)) => Ok(Value::Null),
            };
            client.answer(id, &cancelled, answer);
        }));
    }

    /// The document and the rule that a command names.
    fn rule_of(&self, params: &ExecuteCommandParams) -> Result<(Arc<Document>, String), String> {
        if params.command != gsl::VERDICT {
            return Err(format!("there is no command `{}`", params.command));
        }
        let argument = |i: usize| params.arguments.get(i).and_then(Value::as_str);
        let (Some(uri), Some(rule)) = (argument(0), argument(1)) else {
            return Err("expected the URI of a document and the name of a rule".to_owned());
        };
        let document = self.documents.find(uri).ok_or_else(|| format!("`{uri}` is not open"))?;
        Ok((document, rule.to_owned()))
    }

    fn note(&mut self, note: Notification) {
        match note.method.as_str() {
            "textDocument/didOpen" => {
                let Some(params) = read::<DidOpenTextDocumentParams>(note.params) else { return };
                let item = params.text_document;
                let uri = item.uri.as_str().to_owned();
                self.show(Document::new(uri, &item.language_id, item.version, item.text));
            }
            "textDocument/didChange" => {
                let Some(params) = read::<DidChangeTextDocumentParams>(note.params) else { return };
                let (uri, version) = (params.text_document.uri, params.text_document.version);
                let Some(old) = self.documents.find(uri.as_str()) else { return };
                self.show(old.changed(version, params.content_changes));
            }
            "textDocument/didClose" => {
                let Some(params) = read::<DidCloseTextDocumentParams>(note.params) else { return };
                let uri = params.text_document.uri;
                self.documents.lock().remove(uri.as_str());
                let nothing = PublishDiagnosticsParams::new(uri, Vec::new(), None);
                self.client.tell("textDocument/publishDiagnostics", nothing);
            }
            "$/cancelRequest" => {
                if let Some(id) = cancelled_id(&note.params) {
                    self.client.pending.cancel(&id);
                }
            }
            _ => {}
        }
    }

    /// Takes a new version of a text, and has it looked at.
    fn show(&self, document: Document) {
        let document = Arc::new(document);
        self.documents.lock().insert(document.uri.clone(), document.clone());
        let (client, documents) = (self.client.clone(), self.documents.clone());
        self.reader.add(Box::new(move || {
            if documents.is_shown(&document) {
                client.publish(&document);
            }
        }));
    }
}

/// Shows a verdict at its rule, unless the text has changed.
fn note_verdict(
    client: &Client,
    documents: &Documents,
    document: &Arc<Document>,
    rule: &str,
    diagnostic: lsp_types::Diagnostic,
) {
    let first = diagnostic.message.lines().next().unwrap_or_default();
    let (typ, message) = (MessageType::INFO, format!("{rule}: {first}"));
    client.tell("window/showMessage", ShowMessageParams { typ, message });
    if !documents.is_shown(document) {
        return;
    }
    let mut all = document.verdicts.lock().unwrap_or_else(PoisonError::into_inner);
    all.retain(|other| other.range != diagnostic.range);
    all.push(diagnostic);
    drop(all);
    client.publish(document);
}

/// What `$/cancelRequest` names: a number or a text.
fn cancelled_id(params: &Value) -> Option<RequestId> {
    match params.get("id")? {
        Value::String(text) => Some(RequestId::from(text.clone())),
        number => Some(RequestId::from(i32::try_from(number.as_i64()?).ok()?)),
    }
}

fn read<P: DeserializeOwned>(params: Value) -> Option<P> {
    serde_json::from_value(params).ok()
}

/// A defect that one request meets is an answer to that one.
fn guarded<T>(answer: impl FnOnce() -> T) -> Result<T, Wrong> {
    catch_unwind(AssertUnwindSafe(answer)).map_err(|_| {
        (ErrorCode::InternalError, "a defect of the server: please report the text".to_owned())
    })
}
