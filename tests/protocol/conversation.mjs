/** What a server says to a client, held against build/schema.json. */

import { readFileSync } from "node:fs";

import Ajv from "ajv";

const schema = JSON.parse(readFileSync(new URL("build/schema.json", import.meta.url), "utf8"));
const ajv = new Ajv({ allowUnionTypes: true }).addSchema(schema, "lsp");

export class Conversation {
  /** By id, the methods of the requests that have no result yet, oldest first, and how many were refused. */
  #asked = new Map();
  /** Methods of the requests whose result may come in parts, by the token of these. */
  #inParts = new Map();

  /** The client has sent a request; `token` is that of partial results. */
  ask({ id, method, token }) {
    const { methods = [], refused = 0 } = this.#asked.get(id) ?? {};
    this.#asked.set(id, { methods: [...methods, method], refused });
    if (token !== undefined) {
      this.#inParts.set(token, method);
    }
  }

  /**
   * Takes in a message of the server, and gives what is `wrong` with it, if anything, and the
   * method that it is `about`: its own, or that of the request which it answers, be it in part.
   */
  take(message) {
    const { id, method, params, error } = message;
    if (method !== undefined) {
      const whole = method === "$/progress" ? this.#inParts.get(params?.token) : undefined;
      const [table, about] = whole === undefined ? ["Messages", method] : ["Partials", whole];
      return { about, wrong: unlikeMethod(table, about, message) };
    }
    // Tests send numbers of any size as ids, and get them back: JavaScript reads some as infinite.
    const response = Math.abs(id) === Infinity ? { ...message, id: 0 } : message;
    const { methods = [], refused = 0 } = this.#asked.get(id) ?? {};
    // Some tests use an id again before it is answered, and then cancel one of the requests: an error
    // does not say which it is about, and the result of a later one may come first.
    const fitting = methods.findIndex((each) => unlikeMethod("Responses", each, response) === undefined);
    const about = error === undefined ? methods[Math.max(fitting, 0)] : methods.at(-1);
    const isLate = methods.length === refused;
    const left = error === undefined ? methods.toSpliced(Math.max(fitting, 0), 1) : methods;
    const refusedNow = error === undefined ? refused : refused + 1;
    this.#asked.set(id, left.length <= refusedNow ? {} : { methods: left, refused: refusedNow });
    // What is no request is refused without an id.
    const unasked = isLate && id !== null ? "it answers no request, or one that was answered before" : undefined;
    const wrong = error === undefined ? unlikeMethod("Responses", about, response) : unlike("ErrorResponse", response);
    return { about, wrong: unasked ?? wrong };
  }
}

/** How `value` differs from the type of a method in one of the tables; undefined if it does not. */
function unlikeMethod(table, method, value) {
  if (!Object.hasOwn(schema.definitions[table].properties, method)) {
    return `the protocol has no ${method} among its ${table}`;
  }
  return unlike(`${table}/properties/${String(method).replaceAll("/", "~1")}`, value);
}

function unlike(definition, value) {
  const validate = ajv.getSchema(`lsp#/definitions/${definition}`); // compiled once, then remembered
  return validate(value) ? undefined : ajv.errorsText(validate.errors, { dataVar: "" });
}
