/** Recorded messages with one mistake each: if one of them passes, the check checks nothing. */

const published = {
  name: "diagnostics",
  method: "textDocument/publishDiagnostics",
  fits: ({ params }) => params.diagnostics.length > 0 && params.version !== undefined,
};
const hover = { name: "a hover", method: "textDocument/hover", fits: ({ result }) => result?.range };
const lenses = { name: "lenses", method: "textDocument/codeLens", fits: ({ result }) => result?.length > 0 };
const lens = { name: "a lens", method: "codeLens/resolve", fits: ({ result }) => result?.command };
const hints = { name: "inlay hints", method: "textDocument/inlayHint", fits: ({ result }) => result?.length > 0 };
const tokens = {
  name: "semantic tokens",
  method: "textDocument/semanticTokens/full",
  fits: ({ result }) => result?.data?.length > 0,
};
const actions = {
  name: "code actions",
  method: "textDocument/codeAction",
  fits: ({ result }) => result?.[0]?.edit?.documentChanges,
};
const choices = {
  name: "what can be written",
  method: "textDocument/completion",
  fits: ({ result }) => result?.items?.[0]?.insertTextFormat && result.items[0].data,
};
const choice = {
  name: "a choice",
  method: "completionItem/resolve",
  fits: ({ result }) => result?.documentation?.kind,
};
const initialized = { name: "the answer to initialize", method: "initialize", fits: ({ result }) => result };
const shutdown = { name: "the answer to shutdown", method: "shutdown", fits: ({ result }) => result === null };
const refresh = { name: "a refresh", method: "workspace/codeLens/refresh", fits: () => true };
const show = { name: "a document to show", method: "window/showDocument", fits: () => true };
const report = { name: "a report", method: "textDocument/diagnostic", fits: ({ result }) => result?.items?.length > 0 };
const part = { name: "part of a report", method: "workspace/diagnostic", fits: ({ params }) => params?.value.items.length > 0 };
const symbols = { name: "workspace symbols", method: "workspace/symbol", fits: ({ result }) => result?.length > 0 };
const settings = { name: "a question for settings", method: "workspace/configuration", fits: () => true };
const progress = { name: "work to show", method: "window/workDoneProgress/create", fits: () => true };
const error = { name: "an error", method: "workspace/executeCommand", fits: ({ error }) => error };
const runs = { name: "runs", method: "driveTrace/runs", fits: ({ result }) => result?.runs.length > 0 };
const timeline = { name: "a timeline", method: "driveTrace/timeline", fits: ({ result }) => result?.files.length > 0 };
const event = { name: "an event to append", method: "driveTrace/composeEvent", fits: ({ result }) => result };
const tidings = { name: "what has changed", method: "driveTrace/changed", fits: ({ params }) => params.uri };

export const corruptions = [
  // A missing member.
  [symbols, "no name", ({ result }) => delete result[0].name],
  [symbols, "no location", ({ result }) => delete result[0].location],
  [settings, "no items", ({ params }) => delete params.items],
  [progress, "no token", ({ params }) => delete params.token],
  [published, "no uri", ({ params }) => delete params.uri],
  [published, "no diagnostics", ({ params }) => delete params.diagnostics],
  [published, "no range", ({ params }) => delete params.diagnostics[0].range],
  [published, "no message", ({ params }) => delete params.diagnostics[0].message],
  [published, "no end", ({ params }) => delete params.diagnostics[0].range.end],
  [published, "no params", (message) => delete message.params],
  [published, "no jsonrpc", (message) => delete message.jsonrpc],
  [hover, "no contents", ({ result }) => delete result.contents],
  [hover, "no result", (message) => delete message.result],
  [lenses, "no range", ({ result }) => delete result[0].range],
  [lens, "no title", ({ result }) => delete result.command.title],
  [hints, "no position", ({ result }) => delete result[0].position],
  [tokens, "no data", ({ result }) => delete result.data],
  [actions, "no text document", ({ result }) => delete result[0].edit.documentChanges[0].textDocument],
  [choices, "no label", ({ result }) => delete result.items[0].label],
  [choices, "no range", ({ result }) => delete result.items[0].textEdit.range],
  [initialized, "no capabilities", ({ result }) => delete result.capabilities],
  [shutdown, "no result", (message) => delete message.result],
  [report, "no kind", ({ result }) => delete result.kind],
  [part, "no items", ({ params }) => delete params.value.items],
  [part, "no version", ({ params }) => delete params.value.items[0].version],
  [refresh, "no id", (message) => delete message.id],
  [show, "no uri", ({ params }) => delete params.uri],
  [runs, "no verdict", ({ result }) => delete result.runs[0].verdict],
  [timeline, "no traces", ({ result }) => delete result.files],
  [tidings, "no uri", ({ params }) => delete params.uri],
  [error, "no code", (message) => delete message.error.code],
  [error, "no message", (message) => delete message.error.message],

  // Another type.
  [published, "a message that is a number", ({ params }) => (params.diagnostics[0].message = 5)],
  [published, "a version that is a string", ({ params }) => (params.version = "1")],
  [published, "diagnostics that are null", ({ params }) => (params.diagnostics = null)],
  [published, "a line that is a string", ({ params }) => (params.diagnostics[0].range.start.line = "0")],
  [hover, "a range that is null", ({ result }) => (result.range = null)],
  [lens, "arguments that are no list", ({ result }) => (result.command.arguments = {})],
  [hints, "a label that is a number", ({ result }) => (result[0].label = 28)],
  [hints, "a padding that is a number", ({ result }) => (result[0].paddingLeft = 1)],
  [tokens, "a number that is a string", ({ result }) => (result.data[0] = "0")],
  [tokens, "a name that is a number", ({ result }) => (result.resultId = 1)],
  [actions, "isPreferred that is a string", ({ result }) => (result[0].isPreferred = "yes")],
  [actions, "a version that is a string", ({ result }) => (result[0].edit.documentChanges[0].textDocument.version = "1")],
  [choices, "isIncomplete that is null", ({ result }) => (result.isIncomplete = null)],
  [choice, "documentation that is a number", ({ result }) => (result.documentation = 1)],
  [initialized, "a flag that is a number", ({ result }) => (result.capabilities.hoverProvider = 1)],
  [refresh, "an id that is a list", (message) => (message.id = [])],
  [show, "external that is a number", ({ params }) => (params.external = 1)],
  [tidings, "a uri that is a number", ({ params }) => (params.uri = 1)],
  [timeline, "a line that is a string", ({ result }) => (result.files[0].starts = ["1"])],
  [error, "a code that is a string", (message) => (message.error.code = "-32602")],
  [error, "an id that is an object", (message) => (message.id = {})],

  // A number out of bounds.
  [published, "a negative line", ({ params }) => (params.diagnostics[0].range.start.line = -1)],
  [published, "half a character", ({ params }) => (params.diagnostics[0].range.end.character = 0.5)],
  [published, "a line beyond 31 bits", ({ params }) => (params.diagnostics[0].range.end.line = 2 ** 31)],
  [published, "half a version", ({ params }) => (params.version = 1.5)],
  [tokens, "a negative number", ({ result }) => (result.data[1] = -1)],
  [lenses, "a negative character", ({ result }) => (result[0].range.end.character = -1)],
  [event, "half a line", ({ result }) => (result.range.start.line = 0.5)],
  [error, "a code that is no integer", (message) => (message.error.code = 0.5)],

  // A value that no enumeration has.
  [published, "an unknown severity", ({ params }) => (params.diagnostics[0].severity = 5)],
  [published, "an unknown tag", ({ params }) => (params.diagnostics[0].tags = [3])],
  [published, "another version of JSON-RPC", (message) => (message.jsonrpc = "1.0")],
  [hover, "an unknown kind of markup", ({ result }) => (result.contents.kind = "html")],
  [choices, "an unknown kind", ({ result }) => (result.items[0].kind = 26)],
  [choices, "an unknown format", ({ result }) => (result.items[0].insertTextFormat = 3)],
  [initialized, "an unknown kind of sync", ({ result }) => (result.capabilities.textDocumentSync.change = 3)],
  [runs, "an unknown verdict", ({ result }) => (result.runs[0].verdict = "good")],
  [report, "an unknown kind", ({ result }) => (result.kind = "half")],
  [refresh, "an unknown method", (message) => (message.method = "workspace/codeLens/renew")],
  [refresh, "a method that is inherited", (message) => (message.method = "toString")],
  [refresh, "a method of clients", (message) => (message.method = "textDocument/codeLens")],

  // A member that is not declared.
  [published, "one more in a diagnostic", ({ params }) => (params.diagnostics[0].hint = "x")],
  [published, "one more in a position", ({ params }) => (params.diagnostics[0].range.start.offset = 0)],
  [published, "one more in the params", ({ params }) => (params.extra = null)],
  [published, "an id", (message) => (message.id = 1)],
  [hover, "one more in the result", ({ result }) => (result.language = "markdown")],
  [lens, "one more in the command", ({ result }) => (result.command.hint = "x")],
  [hints, "one more in a hint", ({ result }) => (result[0].line = 1)],
  [actions, "one more in an action", ({ result }) => (result[0].isSafe = true)],
  [actions, "one more in the edit", ({ result }) => (result[0].edit.edits = [])],
  [choices, "one more in an item", ({ result }) => (result.items[0].order = 1)],
  [initialized, "an unknown capability", ({ result }) => (result.capabilities.hoversProvider = true)],
  [initialized, "one more in the result", ({ result }) => (result.offsetEncoding = "utf-8")],
  [report, "one more in an item", ({ result }) => (result.items[0].uri = "file:///x")],
  [part, "one more in the value", ({ params }) => (params.value.kind = "full")],
  [refresh, "params", (message) => (message.params = {})],
  [error, "one more in the error", (message) => (message.error.traceback = "x")],

  // Another result, or another answer.
  [hover, "a result that is a list", (message) => (message.result = [message.result])],
  [hover, "the result of another request", (_, sample) => (sample.method = "textDocument/codeLens")],
  [lenses, "a result that is an object", (message) => (message.result = message.result[0])],
  [lens, "a result that is null", (message) => (message.result = null)],
  [actions, "the result of another request", (_, sample) => (sample.method = "textDocument/codeLens")],
  [shutdown, "a result that is an object", (message) => (message.result = {})],
  [shutdown, "the answer to a request of no known method", (_, sample) => (sample.method = "unheard/of")],
  [shutdown, "another id than the request's", (_, sample) => (sample.id = "x")],
  [shutdown, "answered twice", (_, sample) => (sample.times = 2)],
  [part, "a token that nobody gave", ({ params }) => (params.token = "x")],
  [part, "the part of another result", (_, sample) => (sample.method = "textDocument/codeLens")],
  [error, "a result as well", (message) => (message.result = null)],
].map(([of, what, corrupt]) => ({ of, what, corrupt }));
