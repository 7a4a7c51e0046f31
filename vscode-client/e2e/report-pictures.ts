import { mkdir, rm } from "node:fs/promises";
import * as path from "node:path";
import { pathToFileURL } from "node:url";

import type { Browser, Page } from "playwright-core";

import { run } from "./processes";

interface Look {
  readonly name: string;
  readonly width: number;
  readonly colorScheme?: "light" | "dark";
  readonly forcedColors?: "active";
  readonly deviceScaleFactor?: number;
}

const looks: readonly Look[] = [
  { name: "light", width: 1280 },
  { name: "dark", width: 1280, colorScheme: "dark" },
  { name: "phone", width: 390, deviceScaleFactor: 2 },
  { name: "200-percent", width: 640, deviceScaleFactor: 2 },
  { name: "high-contrast", width: 1280, colorScheme: "dark", forcedColors: "active" },
];

/**
 * Pictures of the report on each trace, and of that on all together, with figures on size, time and bars:
 * `npm run e2e:report -- --pictures FOLDER TRACE…`
 */
export async function takePictures(browser: Browser, command: string, traces: readonly string[], folder: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  const reports = traces.map((trace): [string, string[]] => [path.basename(trace, ".jsonl"), [trace]]);
  if (traces.length > 1) {
    reports.push(["all-together", [...traces]]);
  }
  for (const [name, files] of reports) {
    const report = path.join(folder, `${name}.html`);
    await run(command, ["report", ...files, "--out", report], { cwd: folder });
    for (const look of looks) {
      const page = await browser.newPage({ ...look, viewport: { width: look.width, height: 900 } });
      const begin = performance.now();
      await page.goto(pathToFileURL(report).href);
      await drawn(page);
      const open = performance.now() - begin;
      // A picture of the whole page shows what is out of view, too.
      await page.evaluate(() => {
        document.querySelectorAll<HTMLElement>(".events tbody").forEach((each, index) => { each.style.contentVisibility = index < 4 ? "visible" : ""; });
      });
      await page.screenshot({ path: path.join(folder, `${name}-${look.name}.png`), fullPage: true });
      if (look.name === "light") {
        console.log(name, { open: Math.round(open), ...await figures(page) });
        await page.locator(".chart").first().screenshot({ path: path.join(folder, `${name}-timeline.png`) }).catch(() => undefined);
      }
      await page.close();
    }
    await print(browser, report, path.join(folder, `${name}-print.pdf`));
    await rm(report);
  }
}

function drawn(page: Page): Promise<void> {
  return page.evaluate(() => new Promise((resolve) => { requestAnimationFrame(() => { requestAnimationFrame(() => { resolve(); }); }); }));
}

/** The height of the page, how long a filter takes, and how many bars are too narrow to be pointed at. */
async function figures(page: Page): Promise<object> {
  const size = await page.evaluate(() => document.documentElement.outerHTML.length);
  const height = await page.evaluate(() => document.documentElement.scrollHeight);
  await page.evaluate(() => { document.querySelectorAll("details").forEach((each) => { each.open = true; }); });
  await drawn(page);
  const filter = await page.evaluate(async () => {
    const box = [...document.querySelectorAll<HTMLInputElement>("input[type=search]")].at(-1);
    const begin = performance.now();
    if (box !== undefined) {
      box.value = "round-end";
      box.dispatchEvent(new InputEvent("input", { bubbles: true }));
    }
    await new Promise((resolve) => { requestAnimationFrame(() => { setTimeout(resolve); }); });
    return Math.round(performance.now() - begin);
  });
  const bars = await page.evaluate(() => {
    const drawn = [...document.querySelectorAll(".bars a")].map((each) => each.getBoundingClientRect().width);
    const widths = drawn.filter((width) => width > 0);
    return { all: widths.length, under4px: widths.filter((width) => width < 4).length };
  });
  return { size, height, filter, ...bars };
}

async function print(browser: Browser, report: string, file: string): Promise<void> {
  const page = await browser.newPage();
  await page.goto(pathToFileURL(report).href);
  await page.pdf({ path: file, format: "A4" });
  await page.close();
}
