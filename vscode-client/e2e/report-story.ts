import { strict as assert } from "node:assert";
import { pathToFileURL } from "node:url";

import type { Browser, Page } from "playwright-core";

/** What a person does with a report: filters, sorts, zooms, and goes from a bar to its line and back by keyboard. */
export async function playReport(browser: Browser, name: string, report: string): Promise<void> {
  const page = await browser.newPage({ viewport: { width: 1280, height: 900 } });
  await page.goto(pathToFileURL(report).href);
  if (name === "big") {
    await playRuns(page);
  } else if (name === "long") {
    await playClusters(page);
  } else if (name === "correct") {
    await playTimeline(page);
    await playEvents(page);
  }
  await page.close();
}

async function playRuns(page: Page): Promise<void> {
  await playProblem(page);
  const table = page.locator(".sortable");
  const first = table.locator("tbody tr:visible th").first();
  const sort = table.getByRole("button", { name: "run", exact: true });
  await sort.click();
  assert.equal(await first.innerText(), "run-0");
  await sort.press("Enter");
  assert.equal(await first.innerText(), "run-179");
  assert.equal(await sort.locator("xpath=..").getAttribute("aria-sort"), "descending");
  await page.getByRole("searchbox", { name: "Filter: All runs" }).fill("run-17");
  assert.equal(await table.locator("tbody tr:visible").count(), 11);
  assert.equal(await page.locator("#scorecard ~ .filtered output").innerText(), "11 of 180");
  const box = page.getByRole("searchbox", { name: "Filter: All runs" });
  const columns = page.getByRole("combobox", { name: "Column of Filter: All runs" });
  const count = (): Promise<number> => table.locator("tbody tr:visible").count();
  await box.fill("omputable");
  assert.equal(await count(), 0, "a filter looks at beginnings of words");
  await columns.selectOption("dispatches");
  await box.fill(">100");
  assert.equal(await count(), 0, "and at the figures of a column");
  await columns.selectOption("any column");
  await box.fill("run-17");
  await first.locator("a").press("Enter");
  await page.waitForURL(/#run-[0-9a-f]{10}$/);
  await page.locator("details.run[open] .timeline").first().waitFor();
}

/** The page opens at its headline, which leads to the run that is INCORRECT or halted. */
async function playProblem(page: Page): Promise<void> {
  const top = (): Promise<number> => page.evaluate(() => scrollY);
  assert.equal(await top(), 0);
  await page.locator(".headline a").click();
  await page.locator("details.run[open]:first-of-type > summary:focus").waitFor();
  assert.ok(await top() > 0, "a click leads to the run");
  await page.evaluate(() => { scrollTo(0, 0); });
}

/** Of many runs the page makes the rows that are looked at, and looks through all. */
export async function playFleet(page: Page): Promise<void> {
  const table = page.locator(".many table");
  const rows = table.locator("tbody tr");
  const box = page.getByRole("searchbox", { name: "Filter: All runs" });
  const output = page.locator(".many output");
  assert.equal(await rows.count(), 300);
  await box.fill("CORRECT");
  await output.filter({ hasText: "160 of 320" }).waitFor();
  await box.fill("run-319");
  await output.filter({ hasText: "1 of 320" }).waitFor();
  assert.match(await rows.innerText(), /run-319\s+INCORRECT/);
  await box.fill(">2");
  await output.filter({ hasText: "Choose a column: >2 looks at the figures of one." }).waitFor();
  await box.fill("");
  const head = page.locator(".many thead th", { hasText: "tokens" });
  for (const order of ["ascending", "descending"]) {
    await head.click({ position: { x: 2, y: 2 } }); // beside its words
    assert.equal(await head.getAttribute("aria-sort"), order);
    await rows.first().filter({ hasText: /^run-6\b/ }).waitFor(); // those of all others are not known
  }
  await table.getByRole("button", { name: "run", exact: true }).click();
  await rows.first().filter({ hasText: /^run-0\b/ }).waitFor();
  await rows.last().scrollIntoViewIfNeeded();
  await rows.nth(319).filter({ hasText: "run-319" }).waitFor();
}

async function playTimeline(page: Page): Promise<void> {
  const chart = page.locator(".chart");
  const width = async (): Promise<number> => (await chart.locator(".timeline").boundingBox())?.width ?? 0;
  const whole = await width();
  await chart.locator(".bars a").first().focus();
  await page.keyboard.press("+");
  assert.ok(Math.abs(await width() - 2 * whole) < 2, "a key zooms");
  await page.keyboard.press("0");
  assert.ok(Math.abs(await width() - whole) < 2, "a key shows all again");
  const box = await chart.locator(".scroll").boundingBox();
  assert.ok(box !== null);
  const selected = async (from: number, to: number): Promise<string> => {
    await page.mouse.move(box.x + from, box.y + 10);
    await page.mouse.down();
    await page.mouse.move(box.x + to, box.y + 10, { steps: 3 });
    await page.mouse.up();
    return chart.locator("output").innerText();
  };
  const some = await selected(200, 500);
  assert.ok(await width() > 2 * whole, "a drag zooms");
  assert.match(some, /^Selected: \d+ dispatches, \d+ rounds, \d+h \d+m of work\.$/);
  await page.getByRole("button", { name: "Show all" }).click();
  const every = await selected(1, box.width - 1);
  await page.getByRole("button", { name: "Unfold idle time" }).click();
  assert.equal(await selected(1, box.width - 1), every, "on any axis the same work");
  await page.getByRole("button", { name: "Unfold idle time" }).click();
  await page.getByRole("button", { name: "Show all" }).click();
  await page.keyboard.down("Control");
  await page.mouse.wheel(0, -100);
  await page.keyboard.up("Control");
  await chart.locator(".bars a").first().focus();
  await page.keyboard.press("0");
  await page.keyboard.press("ArrowDown");
  const focused = (): Promise<string> => page.evaluate(() => document.activeElement?.id ?? "");
  const bar = await focused();
  assert.match(bar, /^b-0-\d+$/);
  await page.keyboard.press("Enter");
  const line = bar.replace("b", "l");
  await page.waitForURL(/#e-[0-9a-f]{10}$/); // the same in every report
  await page.locator(`#${line}:focus`).waitFor();
  await page.keyboard.press("Tab");
  await page.keyboard.press("Enter");
  await page.waitForURL(new RegExp(`#${bar}$`));
  await page.locator(`#${bar}:focus`).waitFor({ state: "attached" });
}

/** Of 10,000 events: what has no room stands together, opens, and is found from its line. */
async function playClusters(page: Page): Promise<void> {
  const chart = page.locator(".chart");
  const narrow = (): Promise<number> => chart.locator(".bars a").evaluateAll((links) => links.filter((link) => {
    const { width } = link.getBoundingClientRect();
    return width > 0 && width < 3.9;
  }).length);
  assert.equal(await narrow(), 0);
  const cluster = chart.locator(".bars .cluster:visible").nth(3);
  const first = (await cluster.getAttribute("href"))?.replace("#l", "b") ?? "";
  assert.ok(!await drawn(page, first), "a bar of a cluster has no room yet");
  await cluster.click();
  await isDrawn(page, first); // a click makes room for it
  assert.equal(await narrow(), 0);
  await page.getByRole("button", { name: "Show all" }).click();
  for (const unfold of await page.getByRole("button", { name: "Unfold idle time" }).all()) {
    await unfold.click();
    assert.match(await chart.locator("output").innerText(), /^Clock time/);
    await unfold.click();
    assert.equal(await chart.locator("output").innerText(), "", "the axis is folded again");
  }
  await page.locator("#events ~ details > summary").click();
  const filter = page.getByRole("searchbox", { name: "Filter: Events of run 1" });
  await filter.fill("round-start");
  const row = page.locator(".events tbody tr:visible").nth(5);
  const bar = (await row.locator("a").getAttribute("href")) ?? "";
  await row.locator("a").press("Enter");
  await page.waitForURL(new RegExp(`${bar}$`));
  await isDrawn(page, bar.slice(1)); // a line leads to its bar, however narrow
}

/** Wait until an element has a width: the page makes room after it has followed a link. */
async function isDrawn(page: Page, id: string): Promise<void> {
  await page.waitForFunction((each) => (document.getElementById(each)?.getBoundingClientRect().width ?? 0) > 0, id);
}

function drawn(page: Page, id: string): Promise<boolean> {
  return page.evaluate((each) => (document.getElementById(each)?.getBoundingClientRect().width ?? 0) > 0, id);
}

async function playEvents(page: Page): Promise<void> {
  const rows = page.locator(".events tbody tr:visible");
  const every = await rows.count();
  await page.getByRole("searchbox", { name: "Filter: Events of run 1" }).fill("round-end");
  const ends = await rows.count();
  assert.ok(ends > 0 && ends < every, `${ends} of ${every}`);
  await rows.first().getByRole("button").press("Enter");
  const raw = JSON.parse(await page.locator(".events pre").innerText()) as { event_type: string };
  assert.equal(raw.event_type, "round-end");
  await rows.first().getByRole("button").press("Enter");
  assert.equal(await page.locator(".events pre").count(), 0);
}
