/** Opens the page without a server in a real browser: what it shows, and that nothing leaves it. */

import { strict as assert } from "node:assert";
import { createReadStream, existsSync } from "node:fs";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import * as path from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

import type { Browser, Page } from "playwright-core";

import { axe, contrast } from "./axe";
import { launchBrowser } from "./browser";
import { ensureChromium } from "./machine";
import { runScript } from "./script";

const client = path.resolve(path.dirname(fileURLToPath(import.meta.url)), "..");
const repository = path.dirname(client);
const root = path.join(repository, "build", "page");
const screenshots = path.join(client, "e2e", "page-screenshots");
const types: Record<string, string> = {
  ".css": "text/css", ".html": "text/html", ".js": "text/javascript", ".mjs": "text/javascript", ".png": "image/png", ".wasm": "application/wasm",
};
const ready = { timeout: 60_000 };

interface Violation {
  readonly id: string;
  readonly impact: string;
  readonly nodes: readonly { readonly html: string }[];
}

interface Host {
  readonly address: string;
  readonly asked: string[];
  stop(): void;
}

/** Any host of static files: it sends no header but the type. */
async function serve(): Promise<Host> {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    const name = new URL(request.url ?? "", "http://host").pathname.replace(/\/$/, "/index.html");
    asked.push(name);
    const file = path.join(root, path.normalize(name));
    if (!existsSync(file)) {
      response.writeHead(404).end();
      return;
    }
    response.writeHead(200, { "Content-Type": types[path.extname(file)] ?? "application/octet-stream" });
    createReadStream(file).pipe(response);
  });
  await new Promise<void>((resolve) => { server.listen(0, "127.0.0.1", resolve); });
  const { port } = server.address() as AddressInfo;
  return { address: `http://127.0.0.1:${port}/`, asked, stop: () => { server.close(); server.closeAllConnections(); } };
}

async function main(): Promise<void> {
  const { values: options } = parseArgs({ options: { picture: { type: "string" } } });
  const executable = await ensureChromium();
  const folder = await mkdtemp(path.join(tmpdir(), "drive-trace-page-"));
  await rm(screenshots, { recursive: true, force: true });
  await mkdir(screenshots, { recursive: true });
  const host = await serve();
  const browser = await launchBrowser(executable, { HOME: folder, LANG: "C.UTF-8", PATH: process.env.PATH ?? "/usr/bin" });
  try {
    if (options.picture !== undefined) {
      await takePicture(browser, host, path.resolve(client, options.picture));
      return;
    }
    await checkExample(browser, host);
    await checkDrops(browser, host, folder);
    await checkPhone(browser, host);
    await checkOffline(browser, await serve());
  } finally {
    await browser.close();
    host.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

async function open(page: Page, host: Host): Promise<string[]> {
  const trouble: string[] = [];
  page.on("request", (request) => {
    if (!request.url().startsWith(host.address) && !/^(blob|data|about):/.test(request.url())) {
      trouble.push(`requested ${request.url()}`);
    }
  });
  page.on("console", (message) => trouble.push(`console: ${message.text()}`));
  page.on("pageerror", (error) => trouble.push(`error: ${error.message}`));
  await page.goto(host.address);
  return trouble;
}

/** The example in one click, its views, and the time that it takes on a first visit. */
async function checkExample(browser: Browser, host: Host): Promise<void> {
  const page = await browser.newPage({ colorScheme: "light", viewport: { width: 1100, height: 900 } });
  const began = performance.now();
  const trouble = await open(page, host);
  await page.getByRole("button", { name: "Show an example" }).click();
  const report = page.frameLocator("iframe[title=Report]");
  await report.getByRole("heading", { name: "Timeline" }).first().waitFor(ready);
  const first = performance.now() - began;
  assert.match(await page.locator("#drops button[aria-pressed]").innerText(), /^an example: .*1 CORRECT/);
  await page.screenshot({ path: path.join(screenshots, "example-light.png"), fullPage: true });
  assert.deepEqual(await violations(page), []);

  await page.getByRole("button", { name: "Findings", exact: true }).click();
  const qa = page.locator(".findings > li", { hasText: "unknown-value" }).filter({ hasText: "did you mean \"pass\"" });
  assert.equal(await qa.locator("mark").first().innerText(), "\"passed\"");
  await page.screenshot({ path: path.join(screenshots, "findings-light.png") });
  assert.deepEqual(await violations(page), []);

  await page.getByRole("button", { name: "Export for Perfetto" }).click();
  const saving = page.waitForEvent("download");
  await page.getByRole("link", { name: "Save traces.perfetto.json" }).click();
  const saved = JSON.parse(await readFile(await (await saving).path(), "utf8")) as { traceEvents: unknown[] };
  assert.ok(saved.traceEvents.length > 50);

  assert.ok(await page.getByRole("button", { name: "Compare" }).isDisabled());
  const trace = path.join(repository, "examples/projects/search-index/trace.jsonl");
  await page.locator("#files").setInputFiles(trace);
  await page.locator("#drops button[aria-pressed]", { hasText: "trace.jsonl: INCORRECT" }).waitFor(ready);
  const next = await page.locator("body").getAttribute("data-took");
  await page.getByRole("button", { name: "Compare" }).click();
  const comparison = page.frameLocator("iframe[title=Comparison]");
  await comparison.getByText("candidate").first().waitFor(ready);
  assert.doesNotMatch(await comparison.locator("html").innerHTML(), /\/traces\//, "files have their own names");
  await page.screenshot({ path: path.join(screenshots, "comparison-light.png") });
  assert.deepEqual(await violations(page, contrast), []);
  assert.deepEqual(trouble, []);
  await checkPolicy(page);
  await page.close();
  console.log(`  ok  an example, in ${Math.round(first)} ms from the address to its report; a further trace in ${next} ms`);
}

/** Neither the page nor its worker reaches another host. */
async function checkPolicy(page: Page): Promise<void> {
  const elsewhere = await serve();
  const reach = async (address: string): Promise<string> => {
    try {
      return (await fetch(address)).type;
    } catch {
      return "refused";
    }
  };
  assert.equal(await page.evaluate(reach, elsewhere.address), "refused", "the page");
  for (const worker of page.workers()) {
    assert.equal(await worker.evaluate(reach, elsewhere.address), "refused", "its worker");
  }
  assert.equal(page.workers().length, 1);
  assert.deepEqual(elsewhere.asked, []);
  elsewhere.stop();
}

/** Pasted, a folder, by keyboard; what is hostile; and what is too much for a browser. */
async function checkDrops(browser: Browser, host: Host, folder: string): Promise<void> {
  const page = await browser.newPage({ colorScheme: "dark", viewport: { width: 1100, height: 900 } });
  const trouble = await open(page, host);
  await page.locator("body[data-ready=true]").waitFor(ready);
  await page.keyboard.press("Tab");
  await page.keyboard.press("Tab");
  await page.keyboard.press("Tab");
  await page.keyboard.press("Enter"); // the example
  await page.frameLocator("iframe[title=Report]").getByRole("heading", { name: "Timeline" }).first().waitFor(ready);

  const spoilt = "{\"event_type\":\"<img src=x onerror=alert(1)>\",\"project_run_id\":\"</script><script>alert(2)</script>\"}";
  await page.locator("summary", { hasText: "Paste a trace" }).press("Enter");
  await page.getByLabel("Lines of a trace").fill([spoilt, spoilt, "{}", spoilt].join("\n"));
  await page.getByRole("button", { name: "Read what is pasted" }).click();
  await page.locator("#drops button[aria-pressed]", { hasText: "what was pasted" }).waitFor(ready);
  await page.getByRole("button", { name: "Findings", exact: true }).click();
  await page.locator(".findings mark").first().waitFor(ready);
  await page.locator(".findings li", { hasText: /, and at 2 more places \(also on lines 2, 4\)$/ }).first().waitFor(ready);
  assert.equal(await page.locator("main img").count(), 0);

  const dropped = path.join(folder, "dropped", "projects", "shop");
  await mkdir(dropped, { recursive: true });
  await writeFile(path.join(dropped, "trace.jsonl"), await readFile(path.join(repository, "examples/projects/checkout-retry/trace.jsonl")));
  await writeFile(path.join(dropped, "picture.png"), "no trace");
  await page.locator("#folder").setInputFiles(path.join(folder, "dropped"));
  await page.locator("#drops button[aria-pressed]", { hasText: "dropped: CORRECT" }).waitFor(ready);
  await page.frameLocator("iframe[title=Report]").getByRole("heading", { name: "Timeline" }).first().waitFor(ready);
  await page.screenshot({ path: path.join(screenshots, "folder-dark.png"), fullPage: true });
  assert.match(await page.getByRole("status").innerText(), /Left out, as no trace has such a name: dropped\/projects\/shop\/picture\.png/);
  assert.deepEqual(await violations(page, contrast), []);
  await page.getByRole("button", { name: "Remove dropped" }).click();
  assert.equal(await page.locator("#drops li").count(), 2);
  const same = await readFile(path.join(dropped, "trace.jsonl"));
  const [one, other] = [same, Buffer.from(same.toString().replaceAll("checkout-retry", "another"))].map((buffer) =>
    ({ name: "-o.jsonl", mimeType: "text/plain", buffer })); // no option
  assert.ok(one && other);
  await page.locator("#files").setInputFiles([one, other]);
  await page.locator("#drops button[aria-pressed]", { hasText: "2 files: 2 CORRECT" }).waitFor(ready);
  assert.deepEqual(trouble, []);

  const deep = path.join(folder, "deep.jsonl");
  await writeFile(deep, `${"{\"run\":".repeat(100_000)}1${"}".repeat(100_000)}\n`);
  await page.locator("#files").setInputFiles(deep);
  await page.getByRole("status").filter({ hasText: "deep.jsonl has values that are nested too deep for a browser." }).waitFor(ready);
  await page.locator("#drops button[aria-pressed=true]", { hasText: "2 files: 2 CORRECT" }).waitFor(ready);
  assert.deepEqual(trouble, []);
  await page.close();
  console.log("  ok  pasted, a folder, a hostile trace, and one that is nested too deep");
}

async function checkPhone(browser: Browser, host: Host): Promise<void> {
  const page = await browser.newPage({ colorScheme: "dark", viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true });
  const trouble = await open(page, host);
  await page.getByRole("button", { name: "Show an example" }).tap();
  await page.frameLocator("iframe[title=Report]").getByRole("heading", { name: "Timeline" }).first().waitFor(ready);
  await page.screenshot({ path: path.join(screenshots, "phone-dark.png") });
  await page.locator("iframe[title=Report]").scrollIntoViewIfNeeded();
  await page.screenshot({ path: path.join(screenshots, "phone-report-dark.png") });
  const over = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
  assert.ok(over <= 0, `${over} pixels wider than the window`);
  assert.deepEqual(await violations(page, contrast), []);
  assert.deepEqual(trouble, []);
  await page.close();
  console.log("  ok  on a phone");
}

/** After the first visit the host may be gone. */
async function checkOffline(browser: Browser, host: Host): Promise<void> {
  const page = await browser.newPage();
  await open(page, host);
  await page.evaluate(async () => { await navigator.serviceWorker.ready; });
  host.stop();
  await page.goto(host.address);
  await page.getByRole("button", { name: "Show an example" }).click();
  await page.locator("#drops button[aria-pressed]", { hasText: "1 CORRECT" }).waitFor(ready);
  assert.match(await page.evaluate(async () => (await fetch("licences.txt")).text()), /Pyodide 314[^]*Mozilla Public License[^]*msgspec/);
  await page.close();
  console.log("  ok  offline, with its licences");
}

/** What axe-core calls serious or critical. */
async function violations(page: Page, only?: readonly string[]): Promise<string[]> {
  await page.locator("iframe").first().evaluate((element) => { (element as HTMLElement).hidden = true; }).catch(() => undefined); // tested as a report
  // By the protocol, as the policy of the page lets no other script run.
  await page.evaluate(await axe());
  const found = await page.evaluate(async (runOnly) => {
    const runner = (window as unknown as { axe: { run(context: object, options: object): Promise<{ violations: Violation[] }> } }).axe;
    const result = await runner.run({ exclude: ["iframe"] }, { resultTypes: ["violations"], iframes: false, ...(runOnly && { runOnly }) });
    return result.violations.map(({ id, impact, nodes }) => `${impact} ${id}: ${nodes[0]?.html.slice(0, 160)}`);
  }, only);
  return found.filter((each) => /^(serious|critical)/.test(each));
}

async function takePicture(browser: Browser, host: Host, file: string): Promise<void> {
  const page = await browser.newPage({ colorScheme: "light", viewport: { width: 1000, height: 900 } });
  await open(page, host);
  await page.locator("body[data-ready=true]").waitFor(ready);
  await page.getByRole("button", { name: "Show an example" }).click();
  await page.frameLocator("iframe[title=Report]").getByRole("heading", { name: "Timeline" }).first().waitFor(ready);
  await page.screenshot({ path: file });
  await page.close();
}

await runScript(async () => {
  await main();
  console.log("the page without a server does its work in a real browser, and nothing leaves it");
});
