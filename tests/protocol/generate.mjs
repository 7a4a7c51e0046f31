/**
 * Writes build/schema.json: JSON Schemas of the messages that a server may send, made from the
 * types in Microsoft's package.
 *
 * The package has no list of methods and their types. It has a namespace for each method:
 *
 *     namespace HoverRequest {
 *         const method: 'textDocument/hover';
 *         const type: ProtocolRequestType<HoverParams, Hover | null, never, void, HoverRegistrationOptions>;
 *     }
 *
 * The compiler finds these. From their type arguments comes build/messages.ts, and from that
 * ts-json-schema-generator makes the schemas, in which an object has the declared properties only.
 */

import { mkdirSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import * as path from "node:path";
import { fileURLToPath } from "node:url";

import { createFormatter, createParser, DEFAULT_CONFIG, SchemaGenerator } from "ts-json-schema-generator";
import ts from "typescript";

const require = createRequire(import.meta.url);
const protocol = require("vscode-languageserver-protocol");
const { clientToServer, serverToClient, both } = protocol.MessageDirection;

/** The first type arguments of the classes of messages. */
const shapes = {
  ProtocolRequestType: ["params", "result", "partial"],
  ProtocolRequestType0: ["result", "partial"],
  ProtocolNotificationType: ["params"],
  ProtocolNotificationType0: [],
};

const preamble = `
import type * as lsp from "vscode-languageserver-protocol";
import type * as own from "../../../vscode-client/src/protocol";

/** Named, and not exported, by the package. */
type DocumentDiagnosticReportProgress = lsp.DocumentDiagnosticReport | lsp.DocumentDiagnosticReportPartialResult;

interface Message extends lsp.Message { jsonrpc: "2.0" }
interface Response<R> extends Message { id: number | string; result: R }
interface Request<M, P> extends Message { id: number | string; method: M; params: P }
interface RequestWithoutParams<M> extends Message { id: number | string; method: M }
interface Notification<M, P> extends Message { method: M; params: P }
interface Progress<V> extends Notification<"$/progress", { token: lsp.ProgressToken; value: V }> {}

export interface ErrorResponse extends Message {
  id: number | string | null;
  error: lsp.ResponseMessage["error"];
}
`;

/** What servers send too, and has no such namespace. */
const unlisted = {
  "$/cancelRequest": 'Notification<"$/cancelRequest", { id: number | string }>',
  "$/logTrace": 'Notification<"$/logTrace", lsp.LogTraceParams>',
  "$/progress": "Progress<lsp.WorkDoneProgressBegin | lsp.WorkDoneProgressReport | lsp.WorkDoneProgressEnd>",
};

/** The requests and the notification of our own, whose types are those of the VS Code client. */
const ownRequests = ["runs", "run", "runAt", "report", "timeline", "nextEvents", "composeEvent", "events", "event", "compare"];
const ownChanged = "driveTrace/changed";

function compiled(file) {
  const options = { noEmit: true, strict: true, skipLibCheck: true, target: ts.ScriptTarget.ES2022 };
  const program = ts.createProgram([file], {
    ...options,
    module: ts.ModuleKind.ESNext,
    moduleResolution: ts.ModuleResolutionKind.Bundler,
  });
  // A name that is not found would silently stand for anything.
  const wrong = ts.getPreEmitDiagnostics(program);
  if (wrong.length > 0) {
    throw new Error(ts.formatDiagnostics(wrong, ts.createCompilerHost(options)));
  }
  return program;
}

/** The methods: their direction, and their types as text, named as in `shapes`. */
function* declaredMethods() {
  const declarations = require.resolve("vscode-languageserver-protocol").replace(/\.js$/, ".d.ts");
  const program = compiled(declarations);
  const checker = program.getTypeChecker();

  const original = (symbol) => symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol;
  const module = checker.getSymbolAtLocation(program.getSourceFile(declarations));
  const exported = new Set(checker.getExportsOfModule(module).map(original));

  /** The text of a type as it reads outside the package. */
  function outside(node) {
    const isExported = (name) => exported.has(original(checker.getSymbolAtLocation(name)));
    const starts = [];
    (function visit(child) {
      if (ts.isTypeReferenceNode(child) && isExported(child.typeName)) {
        starts.push(child.getStart() - node.getStart());
      }
      ts.forEachChild(child, visit);
    })(node);
    return starts.reduceRight((text, at) => `${text.slice(0, at)}lsp.${text.slice(at)}`, node.getText());
  }

  for (const symbol of exported) {
    const constant = (name) => symbol.exports?.get(name)?.valueDeclaration?.type;
    const [method, type] = [constant("method"), constant("type")];
    const shape = method && type && shapes[type.typeName.getText()];
    if (shape) {
      yield {
        method: method.literal.text,
        direction: protocol[symbol.name].messageDirection,
        ...Object.fromEntries(shape.map((name, index) => [name, outside(type.typeArguments[index])])),
      };
    }
  }
}

/** The text of build/messages.ts: what may be sent, by method. */
function messageTypes() {
  const tables = { Responses: {}, Partials: {}, Messages: { ...unlisted } };
  for (const method of ownRequests.map((name) => `driveTrace/${name}`)) {
    tables.Responses[method] = `Response<own.Requests["${method}"]>`;
  }
  tables.Messages[ownChanged] = `Notification<"${ownChanged}", own.Changed>`;
  for (const { method, direction, params, result, partial } of declaredMethods()) {
    const quoted = JSON.stringify(method);
    if (result !== undefined && [clientToServer, both].includes(direction)) {
      tables.Responses[method] = `Response<${result}>`;
      if (!["never", "void"].includes(partial)) {
        tables.Partials[method] = `Progress<${partial}>`;
      }
    }
    if ([serverToClient, both].includes(direction)) {
      const notification = `Notification<${quoted}, ${params}>`;
      const request = params === undefined ? `RequestWithoutParams<${quoted}>` : `Request<${quoted}, ${params}>`;
      tables.Messages[method] = result === undefined ? notification : request;
    }
  }
  const interfaces = Object.entries(tables).map(([name, types]) => {
    const rows = Object.entries(types).map(([method, type]) => `  ${JSON.stringify(method)}: ${type};\n`);
    return `\nexport interface ${name} {\n${rows.join("")}}\n`;
  });
  return preamble + interfaces.join("");
}

function schemaOf(file) {
  const config = { ...DEFAULT_CONFIG, path: file, type: "*", jsDoc: "none" };
  const program = compiled(file);
  const generator = new SchemaGenerator(program, createParser(program, config), createFormatter(config), config);
  return generator.createSchema("*");
}

/**
 * As strict as the protocol, where the types are not.
 *
 * TypeScript has one kind of number, the protocol has integers but for the parts of a colour. In the
 * package a response may lack its error, and the result of `initialize` may have any members.
 */
function strict(schema) {
  const { integer, uinteger } = protocol;
  const integral = (type) => type === "number" ? "integer" : Array.isArray(type) ? type.map(integral) : type;
  const result = JSON.parse(JSON.stringify(schema), (key, value) => key === "type" ? integral(value) : value);
  Object.assign(result.definitions, {
    decimal: { type: "number" },
    integer: { type: "integer", minimum: integer.MIN_VALUE, maximum: integer.MAX_VALUE },
    uinteger: { type: "integer", minimum: uinteger.MIN_VALUE, maximum: uinteger.MAX_VALUE },
  });
  result.definitions.ErrorResponse.required.push("error");
  result.definitions["InitializeResult<any>"].additionalProperties = false;
  return result;
}

const build = path.join(path.dirname(fileURLToPath(import.meta.url)), "build");
const source = path.join(build, "messages.ts");
mkdirSync(build, { recursive: true });
writeFileSync(source, messageTypes());
writeFileSync(path.join(build, "schema.json"), JSON.stringify(strict(schemaOf(source)), null, 1));
