// Starts `tangram lsp` and leaves the rest to the client library.
const { workspace } = require("vscode");
const { LanguageClient } = require("vscode-languageclient/node");

let client;

exports.activate = () => {
  const command = workspace.getConfiguration("tangram").get("command");
  const server = { command, args: ["lsp", "--stdio"] };
  const documentSelector = [{ language: "gsl" }, { language: "mlir" }];
  client = new LanguageClient("tangram", "Tangram", server, { documentSelector });
  return client.start();
};

exports.deactivate = () => client?.stop();
