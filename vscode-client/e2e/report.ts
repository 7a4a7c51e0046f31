/** Opens the HTML reports of some traces in a real browser: harmless, readable, and worked by keyboard. */

import { strict as assert } from "node:assert";
import { mkdir, mkdtemp, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import * as path from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { parseArgs } from "node:util";

import type { Browser, Page } from "playwright-core";

import { axe, contrast } from "./axe";
import { launchBrowser } from "./browser";
import { ensureChromium } from "./machine";
import { run } from "./processes";
import { playFleet, playReport } from "./report-story";
import { takePictures } from "./report-pictures";
import { manyRuns, reportTraces } from "./report-traces";
import { runScript } from "./script";

const client = path.resolve(path.dirname(fileURLToPath(import.meta.url)), "..");
const repository = path.dirname(client);
const screenshots = path.join(client, "e2e", "report-screenshots");
const command = process.env.DRIVE_TRACE_COMMAND ?? path.join(repository, ".venv", "bin", "drive-trace");

/** About 80 columns by day, and a desk's width by night. */
const views = [{ colorScheme: "light", width: 660 }, { colorScheme: "dark", width: 1280 }] as const;
const largest = 8_000_000;

/** They open and are worked like any other. The rest is tried on "clusters" and "runs", which differ in size alone. */
const isLarge = (name: string): boolean => name === "long" || name === "big";

interface Violation {
  readonly id: string;
  readonly impact: string;
  readonly nodes: readonly { readonly html: string }[];
}

const greens = ["rgb(17, 99, 41)", "rgb(218, 251, 225)", "rgb(111, 221, 139)", "rgb(15, 47, 27)"];

async function main(): Promise<void> {
  const { values: options, positionals } = parseArgs({
    allowPositionals: true, options: { picture: { type: "string" }, pictures: { type: "string" } },
  });
  const executable = await ensureChromium();
  const folder = await mkdtemp(path.join(tmpdir(), "drive-trace-report-"));
  const environment = { HOME: folder, LANG: "C.UTF-8", PATH: process.env.PATH ?? "/usr/bin" };
  await rm(screenshots, { recursive: true, force: true });
  await mkdir(screenshots, { recursive: true });
  const browser = await launchBrowser(executable, environment);
  try {
    if (options.pictures !== undefined) {
      await takePictures(browser, command, positionals.map((each) => path.resolve(client, each)), path.resolve(client, options.pictures));
      return;
    }
    for (const [name, text] of await reportTraces(repository)) {
      const report = await written(folder, name, text);
      if (options.picture === undefined) {
        await check(browser, name, report);
      } else if (name === "correct") {
        await takePicture(browser, report, options.picture);
      }
    }
    if (options.picture === undefined) {
      await checkComparison(browser, folder);
      await checkFleet(browser, folder);
    }
  } finally {
    await browser.close();
    await rm(folder, { recursive: true, force: true });
  }
}

async function written(folder: string, name: string, text: string): Promise<string> {
  const report = path.join(folder, `${name}.html`);
  await writeFile(path.join(folder, `${name}.jsonl`), text);
  await run(command, ["report", `${name}.jsonl`, "--out", report], { cwd: folder });
  const { size } = await stat(report);
  assert.ok(size < largest, `${name}: ${size} bytes`);
  return report;
}

async function check(browser: Browser, name: string, report: string): Promise<void> {
  for (const { colorScheme, width } of views) {
    const page = await browser.newPage({ colorScheme, viewport: { width, height: 900 } });
    const trouble = listen(page, report);
    await page.goto(pathToFileURL(report).href);
    await page.screenshot({ path: path.join(screenshots, `${name}-${colorScheme}.png`) });
    await checkLayout(page, name);
    if (!isLarge(name)) {
      await checkColours(page, name);
      await checkKeyboard(page, name);
      await checkAccess(page, name, colorScheme === "light" ? undefined : contrast);
    }
    assert.match(await page.title(), /^Drive Trace/, `${name}: something was run`);
    assert.deepEqual(trouble, [], name);
    await page.close();
  }
  if (!isLarge(name)) {
    await checkPrint(browser, name, report);
  }
  await playReport(browser, name, report);
  console.log(`  ok  ${name}`);
}

/** What `compare` writes has no navigation, and no script of its own: on a phone, and on a desk. */
async function checkComparison(browser: Browser, folder: string): Promise<void> {
  const name = "comparison";
  const report = path.join(folder, `${name}.html`);
  const sides = ["--baseline", "incorrect.jsonl", "--candidate", "correct.jsonl"];
  await run(command, ["compare", ...sides, "--allow-unverified", "--out", report], { cwd: folder });
  const page = await browser.newPage({ colorScheme: "dark", viewport: { width: 400, height: 900 } });
  const trouble = listen(page, report);
  await page.goto(pathToFileURL(report).href);
  await checkLayout(page, name);
  await checkColours(page, name);
  await checkAccess(page, name);
  await page.setViewportSize({ width: 1280, height: 900 });
  const main = await page.locator("main").boundingBox();
  assert.ok(main !== null && Math.abs(2 * main.x + main.width - 1280) <= 16, `${name}: stands in the middle`);
  assert.deepEqual(trouble, [], name);
  await page.close();
  console.log(`  ok  ${name}`);
}

/** The page of a fleet has more runs than rows: on a phone by night, and on a desk by day. */
async function checkFleet(browser: Browser, folder: string): Promise<void> {
  const name = "fleet";
  const report = path.join(folder, `${name}.html`);
  await mkdir(path.join(folder, name));
  await writeFile(path.join(folder, name, "trace.jsonl"), manyRuns(320));
  await run(command, ["fleet", name, "--no-cache", "--html", report], { cwd: folder });
  for (const { colorScheme, width } of [{ colorScheme: "dark", width: 400 }, { colorScheme: "light", width: 1280 }] as const) {
    const page = await browser.newPage({ colorScheme, viewport: { width, height: 900 } });
    const trouble = listen(page, report);
    await page.goto(pathToFileURL(report).href);
    await page.screenshot({ path: path.join(screenshots, `${name}-${colorScheme}.png`) });
    await checkLayout(page, name);
    await checkColours(page, name);
    await checkKeyboard(page, name, "runs");
    await checkAccess(page, name);
    await playFleet(page);
    assert.deepEqual(trouble, [], name);
    await page.close();
  }
  console.log(`  ok  ${name}`);
}

/** Collects what a report must never do: fetch, complain, ask, open. */
function listen(page: Page, report: string): string[] {
  const trouble: string[] = [];
  page.on("request", (request) => {
    if (request.url() !== pathToFileURL(report).href) {
      trouble.push(`requested ${request.url()}`);
    }
  });
  page.on("console", (message) => trouble.push(`console: ${message.text()}`));
  page.on("pageerror", (error) => trouble.push(`error: ${error.message}`));
  page.on("dialog", (dialog) => {
    trouble.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  page.on("popup", (popup) => trouble.push(`opened ${popup.url()}`));
  return trouble;
}

async function checkLayout(page: Page, name: string): Promise<void> {
  const seen = await page.evaluate(() => ({
    over: document.documentElement.scrollWidth - document.documentElement.clientWidth,
    cut: innerWidth < 1280 ? [] : [...document.querySelectorAll(".scroll:has(> .sortable)")]
      .filter((each) => each.scrollWidth > each.clientWidth).map((each) => each.textContent.slice(0, 80)),
    short: [...document.querySelectorAll(".lanes > :last-child")]
      .filter((each) => each.getBoundingClientRect().right < (each.parentElement?.getBoundingClientRect().right ?? 0) - 1).length,
    verdict: document.querySelector(".headline")?.getBoundingClientRect().bottom ?? Infinity,
    active: document.querySelectorAll("script:not([type=module]), img, iframe, object, embed, link, form").length,
    scripts: document.querySelectorAll("script").length,
    styles: document.querySelectorAll("style").length,
  }));
  assert.ok(seen.over <= 0, `${name}: ${seen.over} pixels wider than the window`);
  assert.deepEqual(seen.cut, [], `${name}: on a desk each column of a table is seen`);
  assert.equal(seen.short, 0, `${name}: timelines that do not take the width`);
  assert.ok(seen.verdict < 900, `${name}: the verdict is not on top`);
  assert.deepEqual([seen.active, seen.scripts, seen.styles], [0, 1, 1], name);
}

/** What axe-core calls serious or critical, with everything unfolded. */
async function checkAccess(page: Page, name: string, only?: readonly string[]): Promise<void> {
  await page.evaluate(() => { document.querySelectorAll("details").forEach((each) => { each.open = true; }); });
  await page.evaluate(await axe());
  const found = await page.evaluate(async (runOnly) => {
    const runner = (window as unknown as { axe: { run(options: object): Promise<{ violations: Violation[] }> } }).axe;
    const { violations } = await runner.run({ resultTypes: ["violations"], ...(runOnly && { runOnly }) });
    return violations.map(({ id, impact, nodes }) => `${impact} ${id}: ${nodes.length}, as ${nodes[0]?.html.slice(0, 160)}`);
  }, only);
  assert.deepEqual(found.filter((each) => /^(serious|critical)/.test(each)), [], name);
}

/** Green is for CORRECT alone, and everything that is read stands out from its ground. */
async function checkColours(page: Page, name: string): Promise<void> {
  const faint = await page.evaluate((green) => {
    const channels = (colour: string): number[] => (colour.match(/[\d.]+/g) ?? []).map(Number);
    const light = (colour: string): number => {
      const [r = 0, g = 0, b = 0] = channels(colour).map((value) => {
        const share = value / 255;
        return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
      });
      return 0.2126 * r + 0.7152 * g + 0.0722 * b;
    };
    const ground = (element: Element | null): string => {
      for (let each = element; each !== null; each = each.parentElement) {
        const colour = getComputedStyle(each).backgroundColor;
        if (channels(colour)[3] !== 0) {
          return colour;
        }
      }
      return "rgb(255, 255, 255)";
    };
    const wrong: string[] = [];
    for (const element of document.querySelectorAll("body *")) {
      const own = [...element.childNodes].some((node) => node.nodeType === Node.TEXT_NODE && node.nodeValue?.trim());
      const isTold = element.matches("svg title, svg desc, script, style");
      // On a bar, which is no ground of its own, axe cannot tell either: the texts there have an outline.
      if (!own || isTold || element.closest(".bars") !== null || !element.checkVisibility()) {
        continue;
      }
      const style = getComputedStyle(element);
      const colour = element instanceof SVGElement ? style.fill : style.color;
      const [high, low] = [light(colour), light(ground(element))].sort((one, other) => other - one);
      if (((high ?? 0) + 0.05) / ((low ?? 0) + 0.05) < 4.5) {
        wrong.push(`faint: ${element.tagName} ${element.getAttribute("class") ?? ""} ${colour}`);
      }
      const isGreen = green.includes(colour) || green.includes(style.backgroundColor);
      if (isGreen && element.closest(".correct") === null) {
        wrong.push(`green: ${element.textContent}`);
      }
    }
    return [...new Set(wrong)];
  }, greens);
  assert.deepEqual(faint, [], name);
}

/** Everything that scrolls, opens or leads somewhere is reached with the Tab key. */
async function checkKeyboard(page: Page, name: string, first = "scorecard"): Promise<void> {
  await page.keyboard.press("Tab");
  assert.equal(await page.evaluate(() => document.activeElement?.textContent), `Skip to the ${first}`, name);
  await page.keyboard.press("Enter");
  await page.waitForURL(new RegExp(`#${first}$`), { timeout: 5_000 });
  const unreachable = await page.evaluate(() => {
    const scrolling = [...document.querySelectorAll("body *")].filter((element) =>
      element.scrollWidth > element.clientWidth + 1 && getComputedStyle(element).overflowX === "auto");
    // Of a timeline one bar is reached so; arrows lead to the others.
    const regions = [...document.querySelectorAll<HTMLElement>(".scroll, summary, a:not(.timeline a), .timeline a[tabindex='0']")];
    return [...scrolling, ...regions].filter((element) => (element as HTMLElement).tabIndex < 0).length;
  });
  assert.equal(unreachable, 0, name);
  const summary = page.locator("summary").first();
  if (await summary.count() > 0) {
    const before = await page.locator("details[open]").count();
    const isOpen = await summary.evaluate((element) => (element.parentElement as HTMLDetailsElement).open);
    await summary.focus();
    await page.keyboard.press("Enter");
    assert.equal(await page.locator("details[open]").count(), before + (isOpen ? -1 : 1), name);
  }
}

async function checkPrint(browser: Browser, name: string, report: string): Promise<void> {
  const paper = { width: 717, height: 1045 }; // A4 in pixels, without the margins
  const page = await browser.newPage({ colorScheme: "dark", viewport: paper });
  await page.goto(pathToFileURL(report).href);
  await page.emulateMedia({ media: "print" });
  const seen = await page.evaluate(() => ({
    ground: getComputedStyle(document.body).backgroundColor,
    nav: document.querySelector("nav")?.checkVisibility(),
    hidden: [...document.querySelectorAll("details table:not(.events)")].filter((table) => !table.checkVisibility()).length,
    cut: [...document.querySelectorAll("table")].filter((table) => table.getBoundingClientRect().right > innerWidth).length,
  }));
  assert.deepEqual(seen, { ground: "rgb(255, 255, 255)", nav: false, hidden: 0, cut: 0 }, name);
  await page.pdf({ path: path.join(screenshots, `${name}.pdf`), format: "A4" });
  await page.close();
}

async function takePicture(browser: Browser, report: string, file: string): Promise<void> {
  const page = await browser.newPage({ colorScheme: "light", viewport: { width: 1000, height: 1480 } });
  await page.goto(pathToFileURL(report).href);
  await page.screenshot({ path: file });
  await page.close();
}

await runScript(async () => {
  await main();
  console.log("the reports are harmless, readable and worked by keyboard in a real browser");
});
