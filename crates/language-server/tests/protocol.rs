//! A conversation as editors lead it: what is asked, and what comes back.

use std::thread::JoinHandle;

use language_server::{Stopped, serve};
use lsp_server::{Connection, Message, Notification, Request};
use serde_json::{Value, json};

const PROGRAM: &str = "-- Twice each element.
def twice [n] (xs: [n]f32): [n]f32 = mapPar (\\x -> x + x) xs

def sums [m n] (a: [m][n]f32): [m]f32 =
  mapPar (\\row -> reduceSeq (+) 0 row) (map twice a)
";

/// An editor with a server behind it.
struct Editor {
    connection: Connection,
    server: Option<JoinHandle<Result<(), Stopped>>>,
    asked: i32,
}

impl Editor {
    fn new() -> Editor {
        let (here, there) = Connection::memory();
        let server = std::thread::Builder::new()
            .stack_size(256 << 20)
            .spawn(move || serve(&there))
            .expect("a thread starts");
        let mut editor = Editor { connection: here, server: Some(server), asked: 0 };
        let answer = editor.ask("initialize", json!({ "capabilities": {} }));
        assert_eq!(answer["capabilities"]["hoverProvider"], true);
        editor.tell("initialized", json!({}));
        editor
    }

    fn tell(&self, method: &str, params: Value) {
        let told = Notification::new(method.to_owned(), params);
        self.connection.sender.send(Message::Notification(told)).expect("the server listens");
    }

    /// The whole answer to a question, error or result.
    fn response(&mut self, method: &str, params: Value) -> lsp_server::Response {
        self.asked += 1;
        let question = Request::new(self.asked.into(), method.to_owned(), params);
        self.connection.sender.send(Message::Request(question)).expect("the server listens");
        match self.connection.receiver.recv().expect("the server answers") {
            Message::Response(response) => {
                assert_eq!(response.id, self.asked.into());
                response
            }
            other => panic!("expected an answer, not {other:?}"),
        }
    }

    fn ask(&mut self, method: &str, params: Value) -> Value {
        let response = serde_json::to_value(self.response(method, params)).expect("an answer is JSON");
        assert!(response.get("error").is_none(), "{response}");
        response["result"].clone()
    }

    /// Opens a text and gives the diagnostics that come back.
    fn open(&self, uri: &str, text: &str) -> Value {
        let document = json!({ "uri": uri, "languageId": "lozenge", "version": 1, "text": text });
        self.tell("textDocument/didOpen", json!({ "textDocument": document }));
        self.published(uri)
    }

    fn change(&self, uri: &str, text: &str) -> Value {
        let params =
            json!({ "textDocument": { "uri": uri, "version": 2 }, "contentChanges": [{ "text": text }] });
        self.tell("textDocument/didChange", params);
        self.published(uri)
    }

    fn published(&self, uri: &str) -> Value {
        match self.connection.receiver.recv().expect("the server tells") {
            Message::Notification(told) => {
                assert_eq!(told.method, "textDocument/publishDiagnostics");
                assert_eq!(told.params["uri"], uri);
                told.params["diagnostics"].clone()
            }
            other => panic!("expected diagnostics, not {other:?}"),
        }
    }
}

/// Every conversation ends as the protocol says.
impl Drop for Editor {
    fn drop(&mut self) {
        if std::thread::panicking() {
            return;
        }
        assert_eq!(self.ask("shutdown", Value::Null), Value::Null);
        self.tell("exit", Value::Null);
        let server = self.server.take().expect("a server runs");
        assert_eq!(server.join().expect("the server does not fail"), Ok(()));
    }
}

fn place(uri: &str, line: u32, character: u32) -> Value {
    json!({ "textDocument": { "uri": uri }, "position": { "line": line, "character": character } })
}

#[test]
fn a_right_program_has_types_hints_and_a_derivation() {
    let mut editor = Editor::new();
    let uri = "file:///p.loz";
    assert_eq!(editor.open(uri, PROGRAM), json!([]));

    let hover = |editor: &mut Editor, line, column| {
        let answer = editor.ask("textDocument/hover", place(uri, line, column));
        answer["contents"]["value"].as_str().map(str::to_owned).unwrap_or_default()
    };
    let twice = hover(&mut editor, 4, 47);
    assert!(twice.contains("def twice [n] (xs: [n]f32): [n]f32"), "{twice}");
    assert!(twice.contains("Twice each element."), "{twice}");
    let primitive = hover(&mut editor, 4, 22);
    assert!(primitive.contains("reduceSeq : (s -> t -> t) -> t -> [n]s -> t"), "{primitive}");
    assert!(primitive.contains("a.9"), "{primitive}");
    let variable = hover(&mut editor, 4, 39);
    assert!(variable.contains("[n]f32"), "{variable}");

    let defined = editor.ask("textDocument/definition", place(uri, 4, 47));
    assert_eq!(defined["range"]["start"], json!({ "line": 1, "character": 4 }));

    let outline = editor.ask("textDocument/documentSymbol", json!({ "textDocument": { "uri": uri } }));
    let outline: Vec<&str> =
        outline.as_array().expect("a list").iter().filter_map(|s| s["name"].as_str()).collect();
    assert_eq!(outline, ["twice", "sums"]);

    let whole = json!({ "start": { "line": 0, "character": 0 }, "end": { "line": 9, "character": 0 } });
    let hints =
        editor.ask("textDocument/inlayHint", json!({ "textDocument": { "uri": uri }, "range": whole }));
    assert_eq!(hints[0]["position"], json!({ "line": 1, "character": 9 }));
    assert!(hints[0]["label"].as_str().expect("a text").starts_with("parallel: "), "{hints}");
    assert_eq!(hints[1]["label"], "no strategy yet");

    let start = json!({ "line": 1, "character": 8 });
    let action = json!({ "textDocument": { "uri": uri }, "range": { "start": start, "end": start }, "context": { "diagnostics": [] } });
    let actions = editor.ask("textDocument/codeAction", action);
    let command = json!({ "command": actions[0]["command"], "arguments": actions[0]["arguments"] });
    let derivation = editor.ask("workspace/executeCommand", command);
    assert!(derivation.as_str().expect("a text").contains("(a.8)"), "{derivation}");
}

#[test]
fn mistakes_are_told_where_they_are_and_go_away() {
    let mut editor = Editor::new();
    let uri = "file:///sum.loz";
    let wrong =
        "def f [n m] (xs: [n]f32) (ys: [m]f32): [n]f32 =\n  zip xs ys |> mapPar (\\(x, y) -> x + y)\n";
    let told = editor.open(uri, wrong);
    assert_eq!(told[0]["code"], "F0402");
    assert_eq!(told[0]["severity"], 1);
    assert_eq!(told[0]["range"]["start"], json!({ "line": 1, "character": 9 }));
    assert!(told[0]["message"].as_str().expect("a text").contains("help: "), "{told}");
    assert!(!told[0]["relatedInformation"].as_array().expect("a list").is_empty());
    // a text with errors is completed and not formatted
    let names = editor.ask("textDocument/completion", place(uri, 1, 2));
    assert!(names.as_array().expect("a list").iter().any(|item| item["label"] == "mapPar"));
    assert_eq!(editor.change(uri, &wrong.replace("[n m]", "[n]").replace("[m]", "[n]")), json!([]));
    editor.tell("textDocument/didClose", json!({ "textDocument": { "uri": uri } }));
    assert_eq!(editor.published(uri), json!([]));
}

#[test]
fn types_stay_while_a_text_has_errors() {
    let mut editor = Editor::new();
    let uri = "file:///p.loz";
    editor.open(uri, PROGRAM);
    assert_ne!(editor.change(uri, &PROGRAM.replace("xs\n\ndef", "(xs\n\ndef")), json!([]));
    let hover = editor.ask("textDocument/hover", place(uri, 1, 6));
    assert!(hover["contents"]["value"].as_str().expect("a text").contains("def twice"), "{hover}");
    let format = json!({ "textDocument": { "uri": uri }, "options": { "tabSize": 2, "insertSpaces": true } });
    assert_eq!(editor.ask("textDocument/formatting", format), json!([]));
}

#[test]
fn rules_of_a_program_are_tested_and_explained() {
    let mut editor = Editor::new();
    let uri = "file:///own.loz";
    let right = "-- Two maps are one.\nrule fuse2: map f (map g xs) -> map (\\x -> f (g x)) xs\n";
    assert_eq!(editor.open(uri, right), json!([]));
    let hover = editor.ask("textDocument/hover", place(uri, 1, 6));
    let text = hover["contents"]["value"].as_str().expect("a text");
    assert!(text.contains("f: t -> u\n  g: v -> t\n  xs: [n]v : [n]u"), "{text}");
    assert!(text.contains("Two maps are one."), "{text}");
    let outline = editor.ask("textDocument/documentSymbol", json!({ "textDocument": { "uri": uri } }));
    assert_eq!(outline[0]["name"], "fuse2");
    let told = editor.change(uri, "rule lostZero: x + 0 -> x\n");
    assert_eq!(told[0]["code"], "S0203");
    assert_eq!(told[0]["range"]["start"], json!({ "line": 0, "character": 5 }));
}

#[test]
fn imports_are_read_from_open_documents() {
    let editor = Editor::new();
    editor.open("file:///nowhere/a.loz", PROGRAM);
    let user = "import \"a.loz\"\ndef f [n] (xs: [n]f32): [n]f32 = twice xs\n";
    assert_eq!(editor.open("file:///nowhere/b.loz", user), json!([]));
    let told = editor.open("file:///nowhere/c.loz", "import \"missing.loz\"\n");
    assert_eq!(told[0]["code"], "F0206");
}

#[test]
fn rules_and_loop_programs_are_checked_and_formatted() {
    let mut editor = Editor::new();
    let uri = "file:///r.gsl";
    let rule = "rule twice {\n  match\n    y = Neg(Neg(x))\n  replace\n      y = x\n}\n";
    assert_eq!(editor.open(uri, rule), json!([]));
    let format = json!({ "textDocument": { "uri": uri }, "options": { "tabSize": 2, "insertSpaces": true } });
    let edits = editor.ask("textDocument/formatting", format);
    assert!(edits[0]["newText"].as_str().expect("a text").contains("\n    y = x"), "{edits}");
    assert_ne!(editor.change(uri, "rule {"), json!([]));
    let loops = "fn f[n](a: inout f64[n]) {\n  for i in 0..n { S: a[i] = 1 }\n}\n";
    assert_ne!(
        editor.open("file:///l.loops", loops),
        json!([]),
        "an integer is no number of double precision"
    );
    assert_eq!(editor.open("file:///m.loops", &loops.replace("= 1", "= 1.0")), json!([]));
}

#[test]
fn questions_that_make_no_sense_are_errors_and_nothing_ends() {
    let mut editor = Editor::new();
    let unknown = editor.response("textDocument/unheardOf", json!({}));
    assert!(unknown.response_result.is_err());
    let invalid = editor.response("textDocument/hover", json!({ "position": "there" }));
    assert!(invalid.response_result.is_err());
    let command = editor.response("workspace/executeCommand", json!({ "command": "rm", "arguments": [] }));
    assert!(command.response_result.is_err());
    assert_eq!(editor.ask("textDocument/hover", place("file:///closed.loz", 0, 0)), Value::Null);
    // texts that no person writes
    for text in ["", "def", "def f = (((((", "\u{202e}def f", &"(".repeat(100_000)] {
        editor.open("file:///x.loz", text);
        editor.ask("textDocument/hover", place("file:///x.loz", 0, 2));
    }
}
