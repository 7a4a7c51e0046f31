/** The page: takes traces, has Python look at them in a worker, and shows what it says. */

import { withoutFiles } from "./documents";
import { findingsOf } from "./findings";
import { made } from "../src/webview/made";
import { entriesOf, fromFiles, isTooDeep, type Kept } from "./taking";
import type { Answered, Asked, Result } from "./worker";

interface Drop {
  readonly name: string;
  readonly folder: string;
  /** What the commands are told to look at. */
  readonly paths: readonly string[];
  readonly texts: ReadonlyMap<string, string>;
  readonly report: string;
  readonly findings: string;
  readonly button: HTMLButtonElement;
}

const examples = ["typical-mistakes", "checkout-retry"];
const byId = (id: string): HTMLElement => {
  const found = document.getElementById(id);
  if (found === null) {
    throw new Error(`the page has no ${id}`);
  }
  return found;
};
const status = byId("status");
const views = [...document.querySelectorAll<HTMLButtonElement>("#views button")];
const drops: Drop[] = [];
let chosen: Drop | undefined;
let view = "report";

// Python

const base = new URL(".", location.href).href;
let worker = startWorker();

/** From a blob: a worker of its own address would not be bound by the policy of this page. */
function startWorker(): Worker {
  const text = `globalThis.base = ${JSON.stringify(base)}; const python = import(base + "worker.js"); onmessage = async (event) => (await python).take(event);`;
  const address = URL.createObjectURL(new Blob([text], { type: "text/javascript" }));
  const started = new Worker(address, { type: "module" });
  void ask(started, { folder: "/", commands: [] }).then(({ failed }) => {
    status.textContent = failed === undefined ? "Ready." : `Python cannot be started: ${failed}`;
    document.body.dataset.ready = String(failed === undefined);
    keepOffline();
  });
  return started;
}

function ask(python: Worker, question: Asked): Promise<Answered> {
  const { port1, port2 } = new MessageChannel();
  return new Promise((resolve) => {
    port1.onmessage = ({ data }: MessageEvent<Answered>) => {
      port1.close();
      resolve(data);
    };
    python.postMessage(question, [port2]);
  });
}

/** Once Python runs, so that it need not wait for a second copy of all files. */
function keepOffline(): void {
  if ("serviceWorker" in navigator) { // as where the address is https, or this machine's
    navigator.serviceWorker.register("offline.js").catch((error: unknown) => { console.info(String(error)); });
  }
}

async function run(question: Asked): Promise<readonly Result[]> {
  const answer = await ask(worker, question);
  if (answer.results === undefined) {
    // Python has ended, as where there is no memory left.
    worker.terminate();
    worker = startWorker();
    drops.splice(0).forEach((each) => { each.button.parentElement?.remove(); });
    byId("shown").hidden = true;
    throw new Error(`This trace is too much for a browser (${answer.failed ?? "Python ended"}). Use drive-trace on the command line.`);
  }
  return answer.results;
}

// Taking traces

async function take(kept: Promise<Kept> | Kept): Promise<void> {
  status.textContent = "Reading…";
  try {
    await look(await kept);
  } catch (error) {
    status.textContent = error instanceof Error ? error.message : String(error);
  }
}

async function look({ name, files, paths, leftOut = [] }: Kept): Promise<void> {
  const began = performance.now();
  const deep = files.find(([, data]) => isTooDeep(data));
  if (deep !== undefined) {
    throw new Error(`${deep[0]} has values that are nested too deep for a browser. Use drive-trace on the command line.`);
  }
  // No trace can have this name in it, so that it can be taken out of what is said.
  const folder = `/traces/${crypto.getRandomValues(new Uint32Array(2)).join("-")}`;
  const [check, report] = await run({
    files, folder, commands: [["check", "--output-format", "json", "--", ...paths], ["report", "--format", "html", "--", ...paths]],
  });
  if (check === undefined || report === undefined || report.out === "") {
    throw new Error(report?.errors.trim() ?? "There is no trace in what was dropped.");
  }
  const decoder = new TextDecoder();
  const texts = new Map(files.map(([path, data]) => [path, decoder.decode(data)]));
  const button = made("button", { type: "button", onclick: () => { choose(drop); } });
  const drop: Drop = { name, folder, paths, texts, report: report.out, findings: check.out, button };
  drops.push(drop);
  const remove = made("button", { type: "button", ariaLabel: `Remove ${name}`, onclick: () => { forget(drop); } }, "×");
  byId("drops").append(made("li", {}, button, remove));
  byId("shown").hidden = false;
  view = "report";
  choose(drop);
  const took = ((performance.now() - began) / 1000).toFixed(1);
  const left = leftOut.length === 0 ? "" : `Left out, as no trace has such a name: ${leftOut.slice(0, 5).join(", ")}${leftOut.length > 5 ? ` and ${leftOut.length - 5} more` : ""}.`;
  status.textContent = [`${name}: read in ${took} s.`, left, report.errors.trim()].filter(Boolean).join(" ");
  document.body.dataset.took = String(Math.round(performance.now() - began));
}

/** No comparison has it any more. */
function forget(drop: Drop): void {
  drops.splice(drops.indexOf(drop), 1);
  drop.button.parentElement?.remove();
  const next = drops.at(-1);
  byId("shown").hidden = next === undefined;
  if (next === undefined) {
    chosen = undefined;
  } else {
    choose(chosen === drop ? next : chosen ?? next);
  }
}

async function example(): Promise<Kept> {
  const files = await Promise.all(examples.map(async (name) => {
    const response = await fetch(`examples/${name}.jsonl`);
    return [`${name}/trace.jsonl`, new Uint8Array(await response.arrayBuffer())] as const;
  }));
  return { name: "an example", files, paths: ["."] };
}

function pasted(text: string): Kept {
  return { name: "what was pasted", files: [["trace.jsonl", new TextEncoder().encode(text)]], paths: ["trace.jsonl"] };
}

// Showing them

function choose(drop: Drop): void {
  chosen = drop;
  drops.forEach((each) => { each.button.ariaPressed = String(each === drop); });
  drop.button.replaceChildren(`${drop.name}: `, withoutFiles(drop.report).verdict);
  void show();
}

async function show(): Promise<void> {
  const drop = chosen;
  if (drop === undefined) {
    return;
  }
  views.forEach((each) => {
    const isOne = each.dataset.view === view;
    each.ariaPressed = String(isOne);
    each.disabled = each.dataset.view === "compare" && drops.length < 2;
  });
  byId("view").replaceChildren(await shown[view]?.(drop) ?? "");
}

const shown: Readonly<Record<string, (drop: Drop) => Node | Promise<Node>>> = {
  report: ({ report }) => frame("Report", withoutFiles(report).html),
  findings: ({ findings, texts }) => findingsOf(findings, texts),
  compare: compared,
  otlp: (drop) => exported(drop, "otlp"),
  perfetto: (drop) => exported(drop, "perfetto"),
};

/** The others are the baseline: what was dropped before, and only then is chosen. */
async function compared(drop: Drop): Promise<Node> {
  const others = drops.filter((each) => each !== drop);
  const side = (name: string, some: readonly Drop[]): string[] =>
    some.flatMap((each) => each.paths.flatMap((path) => [`--${name}`, path === "." ? each.folder : `${each.folder}/${path}`]));
  const [result] = await run({
    folder: "/traces",
    commands: [["compare", ...side("baseline", others), ...side("candidate", [drop]), "--allow-unverified", "all", "--format", "html"]],
  });
  // Files by their own names, as people know them.
  const named = (text: string): string => drops.reduce((all, each) => all.replaceAll(`${each.folder}/`, "").replaceAll(each.folder, "."), text);
  return result?.out ? frame("Comparison", withoutFiles(named(result.out)).html) : made("pre", {}, named(result?.errors ?? ""));
}

async function exported(drop: Drop, to: string): Promise<Node> {
  const [result] = await run({ folder: drop.folder, commands: [["export", "--to", to, "--", ...drop.paths]] });
  if (!result?.out) {
    return made("pre", {}, result?.errors ?? "");
  }
  const download = `traces.${to}.json`;
  return made("a", { href: URL.createObjectURL(new Blob([result.out], { type: "application/json" })), download }, `Save ${download}`);
}

/** A document of Python's, which may run its own script and reaches nothing of this page. */
function frame(title: string, html: string): HTMLIFrameElement {
  const shown = made("iframe", { title });
  shown.setAttribute("sandbox", "allow-scripts allow-popups allow-popups-to-escape-sandbox");
  shown.srcdoc = html;
  return shown;
}

// Keys and clicks

for (const each of views) {
  each.onclick = () => {
    view = each.dataset.view ?? view;
    void show().catch((error: unknown) => { status.textContent = String(error); });
  };
}
for (const id of ["files", "folder"]) {
  const input = byId(id) as HTMLInputElement;
  input.onchange = () => {
    void take(fromFiles([...input.files ?? []].map((file) => [file.webkitRelativePath || file.name, file])));
    input.value = "";
  };
}
byId("example").onclick = () => { void take(example()); };
byId("paste").onclick = () => { void take(pasted((byId("pasted") as HTMLTextAreaElement).value)); };
document.addEventListener("paste", (event) => {
  const text = event.clipboardData?.getData("text/plain") ?? "";
  if (text !== "" && !(event.target instanceof HTMLTextAreaElement)) {
    void take(pasted(text));
  }
});
document.addEventListener("dragover", (event) => {
  event.preventDefault();
  byId("take").classList.add("over");
});
document.addEventListener("dragleave", () => { byId("take").classList.remove("over"); });
document.addEventListener("drop", (event) => {
  event.preventDefault();
  byId("take").classList.remove("over");
  if (event.dataTransfer !== null) {
    void take(entriesOf(event.dataTransfer).then(fromFiles));
  }
});
