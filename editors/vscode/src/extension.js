// Starts the language server `lozenge lsp` and shows derivations beside the text.
"use strict";

const vscode = require("vscode");
const { LanguageClient } = require("vscode-languageclient/node");

let client;

async function showDerivation() {
  const editor = vscode.window.activeTextEditor;
  if (!client || !editor) return;
  const place = { uri: editor.document.uri.toString(), position: editor.selection.active };
  try {
    const text = await client.sendRequest("workspace/executeCommand", {
      command: "lozenge.showDerivation",
      arguments: [place],
    });
    const document = await vscode.workspace.openTextDocument({ content: text, language: "plaintext" });
    await vscode.window.showTextDocument(document, vscode.ViewColumn.Beside, true);
  } catch (error) {
    vscode.window.showWarningMessage(error.message);
  }
}

exports.activate = async function activate(context) {
  const command = vscode.workspace.getConfiguration("lozenge").get("path");
  const server = { command, args: ["lsp"] };
  const documents = ["lozenge", "gsl", "lozenge-loops"].map((language) => ({ scheme: "file", language }));
  client = new LanguageClient("lozenge", "Lozenge", { run: server, debug: server }, {
    documentSelector: documents,
    middleware: {
      // the server's command gives a text; the editor shows it
      executeCommand: (name, parameters, next) =>
        name === "lozenge.showDerivation" ? showDerivation() : next(name, parameters),
    },
  });
  context.subscriptions.push(vscode.commands.registerCommand("lozenge.derivation", showDerivation));
  await client.start();
};

exports.deactivate = () => client && client.stop();
