/** What a server says to a client, held against build/schema.json. */

import { readFileSync } from "node:fs";

import Ajv from "ajv";

const schema = JSON.parse(readFileSync(new URL("build/schema.json", import.meta.url), "utf8"));
const ajv = new Ajv({ allowUnionTypes: true }).addSchema(schema, "lsp");

export class Conversation {
  /** Methods of the requests that are not answered yet, oldest first, by id. */
  #asked = new Map();
  /** Methods of the requests whose result may come in parts, by the token of these. */
  #inParts = new Map();

  /** The client has sent a request; `token` is that of partial results. */
  ask({ id, method, token }) {
    this.#asked.set(id, [...(this.#asked.get(id) ?? []), method]);
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
    const pending = this.#asked.get(id) ?? [];
    // An id that is in use already is refused, so that the error is about the later request.
    const about = error === undefined ? pending.shift() : pending.pop();
    // What is no request is refused without an id.
    const unasked = about === undefined && id !== null ? "it answers no request, or one that was answered before" : undefined;
    // Tests send numbers of any size as ids, and get them back: JavaScript reads some as infinite.
    const response = Math.abs(id) === Infinity ? { ...message, id: 0 } : message;
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
