import * as path from "node:path";

import type { Browser, Locator, Page } from "playwright-core";

import { axe } from "./axe";
import { closeUps } from "./pictures";
import { until } from "./until";

export interface Box {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

/** A VS Code window, in the words of the person in front of it. */
export class Editor {
  private constructor(
    private readonly page: Page,
    private readonly screenshots: string,
  ) {}

  static async open(browser: Browser, url: string, screenshots: string): Promise<Editor> {
    const page = await browser.newPage({
      viewport: { width: 1280, height: 760 },
      reducedMotion: "reduce",
      colorScheme: "dark",
    });
    page.setDefaultTimeout(30_000);
    await page.goto(url);
    await page.locator(".monaco-workbench .part.statusbar").waitFor();
    return new Editor(page, screenshots);
  }

  /** Opens a file through the explorer, unfolding one folder after the other; gives when. */
  async openFile(folders: string[], name: string): Promise<number> {
    const rows = this.page.locator(".explorer-folders-view .monaco-list-row");
    for (const folder of folders) {
      const row = rows.filter({ hasText: folder });
      await row.waitFor();
      if ((await row.getAttribute("aria-expanded")) !== "true") {
        await row.click();
      }
    }
    await rows.filter({ hasText: name }).waitFor();
    const opened = Date.now();
    await rows.filter({ hasText: name }).dblclick();
    await this.activeTab.filter({ hasText: name }).waitFor();
    await this.page.locator(".monaco-editor .view-line").first().waitFor();
    return opened;
  }

  /** Opens another folder in the window. */
  async openFolder(folder: string): Promise<void> {
    const url = new URL(this.page.url());
    url.searchParams.set("folder", folder);
    await this.page.goto(url.href);
    await this.page.locator(".monaco-workbench .part.statusbar").waitFor();
  }

  /** Loads the window again, with everything in it. */
  async reload(): Promise<void> {
    await this.page.reload();
    await this.page.locator(".monaco-workbench .part.statusbar").waitFor();
  }

  /** Loads the window again as a person does, so that VS Code keeps what is open. */
  async reloadWindow(): Promise<void> {
    const loaded = this.page.waitForEvent("load");
    await this.pick("Developer: Reload Window");
    await loaded;
    await this.page.locator(".monaco-workbench .part.statusbar").waitFor();
  }

  /** Trusts the workspace, as a person does from the page about it. */
  async trustWorkspace(): Promise<void> {
    await this.run("Workspaces: Manage Workspace Trust");
    await this.page.locator(".workspace-trust-editor .monaco-button", { hasText: /^Trust$/ }).first().click();
    await this.restricted.waitFor({ state: "hidden" });
  }

  async selectTab(name: string): Promise<void> {
    await this.page.locator(".tab", { hasText: name }).first().click();
    await this.page.locator(".monaco-editor .view-line").first().waitFor();
    // VS Code moves the focus after it shows the text: what is typed before goes elsewhere.
    await this.page.locator(".editor-group-container.active .monaco-editor.focused").waitFor();
  }

  /** Brings a report to the front, and the focus into it. */
  async selectReport(name: string): Promise<void> {
    await this.tab(name).click();
    await this.preview.locator(".headline").click();
  }

  /** Brings a view of ours to the front. */
  async selectView(name: string): Promise<void> {
    await this.tab(name).click();
    await this.page.locator(".tab.active", { hasText: name }).waitFor();
  }

  async closeTab(name: string): Promise<void> {
    await this.tab(name).click({ button: "middle" });
    await this.tab(name).waitFor({ state: "detached" });
  }

  /** Picks a command of the menu of something. */
  async pickFor(target: Locator, command: string): Promise<void> {
    const entry = this.page.locator(".monaco-menu .action-label").getByText(command, { exact: true });
    await until(`${command} in the menu`, async () => {
      await target.click({ button: "right" });
      await this.page.locator(".monaco-menu .action-label").first().waitFor();
      const isThere = (await entry.count()) > 0;
      await (isThere || this.press("Escape")); // what it depends on comes a moment later
      return isThere;
    });
    // A menu takes no click that comes right after the one that opened it.
    await entry.hover();
    await this.press("Enter");
  }

  /** Turns the wheel where the pointer is, with a key held down. */
  async wheel(key: string, deltaY: number): Promise<void> {
    await this.page.keyboard.down(key);
    await this.page.mouse.wheel(0, deltaY);
    await this.page.keyboard.up(key);
  }

  /** Opens a file by a part of its path. */
  async quickOpen(name: string): Promise<void> {
    await this.press("Control+P");
    await this.input.fill(name);
    await this.choices.filter({ hasText: name.split("/")[0] ?? name }).first().click();
    await this.activeTab.filter({ hasText: path.basename(name) }).waitFor();
    await this.page.locator(".monaco-editor .view-line").first().waitFor();
  }

  /** What axe-core finds serious or critical in a webview. */
  async violations(view: Locator, only?: readonly string[]): Promise<string[]> {
    const frame = await (await view.elementHandle()).ownerFrame();
    await frame?.evaluate(await axe());
    return (await frame?.evaluate(async (runOnly) => {
      interface Violation { impact: string; id: string; nodes: { html: string }[] }
      const { axe } = window as unknown as { axe: { run(options: object): Promise<{ violations: Violation[] }> } };
      const { violations } = await axe.run(runOnly === undefined ? {} : { runOnly });
      return violations.filter(({ impact }) => ["serious", "critical"].includes(impact))
        .map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(" ")}`);
    }, only)) ?? ["no webview"];
  }

  async closeSideBar(): Promise<void> {
    await this.page.locator(".part.sidebar").waitFor();
    await this.page.keyboard.press("Control+B");
    await this.page.locator(".part.sidebar").waitFor({ state: "hidden" });
  }

  /** Runs a command from the palette. */
  async run(command: string): Promise<void> {
    await this.pick(command);
    await this.page.locator(".quick-input-widget").waitFor({ state: "hidden" });
  }

  /** Runs a command that asks something, which begins with `question`. */
  async runAsking(command: string, question: string): Promise<void> {
    await this.pick(command);
    await this.asking(question).waitFor();
  }

  /** The input of an open question, which begins so. */
  asking(question: string): Locator {
    return this.page.locator(`.quick-input-widget input[placeholder^="${question}"]`);
  }

  private async pick(command: string): Promise<void> {
    const input = this.page.locator(".quick-input-widget input").first();
    const name = this.page.locator(".label-name").getByText(command, { exact: true });
    const row = this.page.locator(".quick-input-list .monaco-list-row").filter({ has: name }).first();
    await this.page.keyboard.press("F1");
    // What an extension adds while the list is shown is only in the next one.
    await until(`the command "${command}"`, async () => {
      if (!(await input.waitFor({ timeout: 2_000 }).then(() => true, () => false))) {
        await this.page.keyboard.press("F1"); // what took the focus has closed the list
        return false;
      }
      // A view that loads may take the focus at any time, which closes the list.
      const soon = { timeout: 2_000 };
      const typed = input.fill(">", soon).then(() => input.fill(`>${command}`, soon));
      return typed.then(() => row.click(soon)).then(() => true, () => false);
    });
  }

  languageMode(): Promise<string> {
    return this.page.locator("#status\\.editor\\.mode").innerText();
  }

  get lenses(): Locator {
    return this.page.locator(".monaco-editor .codelens-decoration a");
  }

  /** Points at the braces before the language's name, and gives what they say. */
  async languageStatus(): Promise<Locator> {
    await this.page.mouse.move(640, 380);
    await this.page.locator("#status\\.languageStatus").hover();
    return this.page.locator(".hover-language-status");
  }

  /** What the status bar says of a workspace that is not trusted. */
  get restricted(): Locator {
    return this.page.locator(".statusbar-item", { hasText: "Restricted Mode" });
  }

  /** The settings that the page of settings lists. */
  get settings(): Locator {
    return this.page.locator(".settings-editor .setting-item-contents");
  }

  /** The question that has to be answered before anything else. */
  get dialog(): Locator {
    return this.page.locator(".monaco-dialog-box");
  }

  /** Picks a button of it, and waits for its end: another one may come at once. */
  async answer(button: string): Promise<void> {
    const asked = await this.dialog.elementHandle();
    await this.dialog.locator(".monaco-button").getByText(button, { exact: true }).click();
    await asked.waitForElementState("hidden");
  }

  get toast(): Locator {
    return this.page.locator(".notification-toast");
  }

  /** Waits for a notification. VS Code shows no toast for one that comes soon after others: it is in the list then. */
  async told(text: string): Promise<Locator> {
    const notification = this.page.locator(".notification-list-item", { hasText: text }).first();
    await until(`the notification "${text}"`, async () => {
      const isShown = await notification.waitFor({ timeout: 3_000 }).then(() => true, () => false);
      if (!isShown && !(await this.page.locator(".notifications-center.visible").isVisible())) {
        await this.page.locator("#status\\.notifications").click();
      }
      return isShown;
    });
    return notification;
  }

  /** Picks a button of the only notification. */
  async answerToast(button: string): Promise<void> {
    await this.toast.locator(".monaco-button").getByText(button, { exact: true }).click();
    await this.toast.waitFor({ state: "detached" });
  }

  /** VS Code says that somebody else has written to a file since it read it. */
  get newer(): Locator {
    return this.toast.filter({ hasText: "The content of the file is newer" });
  }

  /**
   * VS Code gives the server 1.5 seconds to put in what others have appended. A busy machine may need longer: VS Code
   * asks then, and the person overwrites. Gives whether that was so.
   */
  async overwriteIfAsked(): Promise<boolean> {
    if ((await this.newer.count()) === 0) {
      return false;
    }
    await this.newer.locator(".monaco-button").getByText("Overwrite", { exact: true }).click();
    await this.newer.waitFor({ state: "detached" });
    await this.cleanTab.waitFor();
    await this.run("View: Focus Active Editor Group"); // else what is typed goes nowhere
    return true;
  }

  get problems(): Locator {
    return this.page.locator(".markers-panel .monaco-list-row");
  }

  /** How many errors and warnings the status bar counts. */
  async badProblems(): Promise<string> {
    return /\d+/.exec(await this.page.locator("#status\\.problems a").first().innerText())?.[0] ?? "";
  }

  /** An icon of the activity bar. */
  part(name: string): Locator {
    return this.page.locator(`.part.activitybar .action-label[aria-label^="${name}"]`);
  }

  /** The files that the Explorer shows in the colour of errors. */
  get redFiles(): Locator {
    return this.page.locator(".explorer-folders-view .monaco-list-row .monaco-icon-label[class*='monaco-decoration-itemColor']");
  }

  /** What a Tab would write. */
  get ghost(): Locator {
    return this.page.locator(".editor-instance .view-line").filter({ has: this.page.locator("[class*='ghost-text']") });
  }

  /** The rows of the view Testing. */
  get tests(): Locator {
    return this.page.locator(".test-explorer .monaco-list-row");
  }

  /** Those that have passed. */
  get passedTests(): Locator {
    return this.tests.filter({ has: this.page.locator(".codicon-testing-passed-icon") });
  }

  get panel(): Locator {
    return this.page.locator(".part.panel .output-view");
  }

  /** The lines of the Output panel that are in view. */
  get output(): Locator {
    return this.page.locator(".output-view .view-line");
  }

  get hover(): Locator {
    return this.page.locator(".monaco-hover:visible");
  }

  get activeTab(): Locator {
    return this.page.locator(".tab.active");
  }

  /** The tab in front, where its file has changes that are not saved. */
  get dirtyTab(): Locator {
    return this.page.locator(".editor-group-container.active .tab.active.dirty");
  }

  /** The tab in front, where all of its file is saved. */
  get cleanTab(): Locator {
    return this.page.locator(".editor-group-container.active .tab.active:not(.dirty)");
  }

  /** The groups of editors. */
  get groups(): Locator {
    return this.page.locator(".editor-group-container");
  }

  get tabs(): Locator {
    return this.page.locator(".tabs-container .tab");
  }

  tab(name: string): Locator {
    return this.page.locator(".tab", { hasText: name });
  }

  /** Leaves the one editor that has the focus, and its group. */
  async closeOthers(): Promise<void> {
    await this.run("View: Close Other Editors in Group");
    await this.run("View: Close Editors in Other Groups");
  }

  /** The verdict in the status bar. */
  get verdict(): Locator {
    return this.page.locator("#drive-trace\\.drive-trace\\.verdict");
  }

  /** Line and column of the cursor. */
  get cursor(): Locator {
    return this.page.locator("#status\\.editor\\.selection");
  }

  /** The number of the cursor's line, also while a view has the focus, and the status bar is silent. */
  get lineNumber(): Locator {
    return this.page.locator(".editor-instance .active-line-number");
  }

  /** The window, with a kind of theme. */
  workbench(look: string): Locator {
    return this.page.locator(`.monaco-workbench.${look}`);
  }

  async resize(width: number): Promise<void> {
    await this.page.setViewportSize({ width, height: 760 });
  }

  /** The rows of the view "Runs". */
  get runs(): Locator {
    return this.page.locator(".part.sidebar .monaco-list-row");
  }

  /** A run in the view "Runs". */
  rowOf(run: string): Locator {
    return this.runs.filter({ has: this.page.locator(".label-name").getByText(run, { exact: true }) });
  }

  /** The row that is chosen. */
  get chosenRow(): Locator {
    return this.page.locator(".part.sidebar .monaco-list-row.selected");
  }

  /** What the view says of it behind its name. */
  saidOf(run: string): Locator {
    return this.rowOf(run).locator(".label-description");
  }

  /** What a view says above its rows, or in place of them. */
  get aboveRows(): Locator {
    return this.page.locator(".part.sidebar .message, .part.sidebar .welcome-view-content");
  }

  /** What stands above the input of the open quick pick. */
  get inputTitle(): Locator {
    return this.page.locator(".quick-input-title");
  }

  /** What the open quick pick offers, and its input. */
  get choices(): Locator {
    return this.page.locator(".quick-input-list .monaco-list-row");
  }

  /** Turns the grades of the open picker by clicks, which begin with what is kept, and records them. */
  async grade(grades: Record<string, "pass" | "fail">): Promise<void> {
    for (const [component, grade] of Object.entries(grades)) {
      const row = this.choices.filter({ hasText: component }).first();
      for (const turned of ["pass", "fail"].slice(0, grade === "pass" ? 1 : 2)) {
        await row.click();
        await row.filter({ hasText: `→ ${turned}` }).waitFor();
      }
    }
    await this.choices.filter({ hasText: "Record: " }).click();
  }

  get input(): Locator {
    return this.page.locator(".quick-input-widget input").first();
  }

  /** Opens the light bulb's menu, until it has an action: it closes by itself where the text or its findings change. */
  async actionAtCursor(text: string): Promise<Locator> {
    const action = this.actions.filter({ hasText: text }).first();
    await until(`the action "${text}"`, async () => {
      await this.press("Control+.");
      const isThere = await action.waitFor({ timeout: 5_000 }).then(() => true, () => false);
      if (!isThere) {
        await this.press("Escape");
      }
      return isThere;
    });
    return action;
  }

  /** What the light bulb, or its key, offers. */
  get actions(): Locator {
    return this.page.locator(".action-widget .monaco-list-row");
  }

  /** What is suggested while somebody types. */
  get suggestions(): Locator {
    return this.page.locator(".suggest-widget .monaco-list-row");
  }

  /** The rows of the view Outline. */
  get outline(): Locator {
    return this.page.locator(".outline-pane .monaco-list-row");
  }

  /** Presses a key, and gives the milliseconds until what a selector names has come, or gone. */
  async timeOf(key: string, selector: string): Promise<number> {
    const begun = await this.page.evaluateHandle((selector) => ({ took: new Promise<number>((resolve) => {
      const count = (): number => document.querySelectorAll(selector).length;
      const before = count();
      addEventListener("keydown", ({ timeStamp }) => {
        const look = (): void => {
          if (count() === before) {
            requestAnimationFrame(look);
          } else {
            resolve(performance.now() - timeStamp);
          }
        };
        look();
      }, { capture: true, once: true });
    }) }), selector);
    await this.press(key);
    return begun.evaluate(({ took }) => took);
  }

  /** The lines of the trace that are in view. */
  get lines(): Locator {
    return this.page.locator(".editor-instance .view-line");
  }

  /** The page of a walkthrough. */
  get walkthrough(): Locator {
    return this.page.locator(".gettingStartedContainer");
  }

  /** The comments on lines, in their view. */
  get comments(): Locator {
    return this.page.locator(".comments-panel .monaco-list-row");
  }

  /** The document inside a webview. */
  get preview(): Locator {
    return this.page.frameLocator("iframe.webview.ready").frameLocator("iframe#active-frame").locator("body");
  }

  /** The document inside the webview that has something, where there are several. */
  webviewWith(selector: string): Promise<Locator> {
    return until(`a view with ${selector}`, async () => {
      for (const frame of this.page.frames()) {
        if (await frame.locator(selector).count().catch(() => 0) > 0) {
          return frame.locator("body");
        }
      }
      return undefined;
    });
  }

  async errorSquiggles(): Promise<Box[]> {
    // All at once: one that has gone in the meantime would be waited for.
    return this.page.locator(".monaco-editor .squiggly-error").evaluateAll((squiggles) =>
      squiggles.map((squiggle) => {
        const { x, y, width, height } = squiggle.getBoundingClientRect();
        return { x, y, width, height };
      }));
  }

  /** Where the first occurrence of `text` in the visible part of the file stands on the screen. A lens that is drawn late moves rows: the place counts once it stays. */
  async placeOf(text: string): Promise<Box> {
    let before = "";
    return until(`"${text}" on the screen`, async () => {
      const place = await this.page.evaluate(findText, text);
      const stays = JSON.stringify(place ?? null) === before;
      before = JSON.stringify(place ?? null);
      return stays ? place : undefined;
    });
  }

  async hoverOver(text: string): Promise<void> {
    await until(`the hover of "${text}"`, async () => {
      const { x, y, width, height } = await this.placeOf(text);
      // The editor asks for a hover when the pointer moves inside a word, not when it appears there.
      await this.page.mouse.move(x + 1, y + height / 2);
      await this.page.mouse.move(x + width / 2, y + height / 2, { steps: 4 });
      return this.hover.first().waitFor({ timeout: 5_000 }).then(() => true, () => false);
    });
  }

  /** Somewhere that has no tooltip. */
  private async restPointer(): Promise<void> {
    await this.page.mouse.move(1278, 400);
  }

  /** To where the lens over the first line is in view, too. */
  async scrollToTop(): Promise<void> {
    await this.page.mouse.move(400, 300);
    await this.page.mouse.wheel(0, -20_000);
    await this.restPointer();
  }

  async leaveHover(): Promise<void> {
    await this.restPointer();
    await this.hover.first().waitFor({ state: "hidden" });
  }

  /** Selects the word in the middle of `shown` with a double click, and types over it. */
  async typeOver(shown: string, word: string): Promise<void> {
    const { x, y, width, height } = await this.placeOf(shown);
    await this.page.mouse.dblclick(x + width / 2, y + height / 2);
    await this.page.keyboard.type(word);
    await this.page.keyboard.press("Escape");
    await this.leaveHover();
  }

  async type(text: string): Promise<void> {
    await this.page.keyboard.type(text);
  }

  /** Text that comes at once, as from the clipboard. */
  async insert(text: string): Promise<void> {
    await this.page.keyboard.insertText(text);
  }

  /** Takes back all changes of the file in front. What is typed before that is done would end it. */
  async revert(): Promise<void> {
    await this.run("File: Revert File");
    await this.cleanTab.waitFor();
  }

  /** Saves the file in front, and waits until it is written: VS Code does not write it in one go. */
  async save(): Promise<void> {
    await this.press("Control+S");
    await until("the file to be saved", async () =>
      (await this.overwriteIfAsked()) || (await this.cleanTab.count()) > 0);
  }

  async press(keys: string): Promise<void> {
    await this.page.keyboard.press(keys);
  }

  async screenshot(name: string): Promise<void> {
    const file = path.join(this.screenshots, `${name}.png`);
    const still = { animations: "disabled", caret: "hide" } as const;
    await this.page.screenshot({ path: file, ...still });
    const clip = closeUps[name];
    if (clip !== undefined) {
      await this.page.screenshot({ path: file.replace(".png", "-close.png"), clip, ...still });
    }
  }
}

/** Runs in the page: the rows of an editor are spans, and a word may be spread over several. */
function findText(text: string): Box | undefined {
  for (const row of document.querySelectorAll(".monaco-editor .view-line")) {
    const walker = document.createTreeWalker(row, NodeFilter.SHOW_TEXT);
    const nodes: { node: Node; start: number }[] = [];
    let content = "";
    for (let node = walker.nextNode(); node !== null; node = walker.nextNode()) {
      nodes.push({ node, start: content.length });
      content += (node.nodeValue ?? "").replaceAll("\u00a0", " ");
    }
    const index = content.indexOf(text);
    if (index >= 0) {
      const locate = (offset: number): [Node, number] => {
        const holder = nodes.filter(({ start }) => start <= offset).at(-1);
        return [holder?.node ?? row, offset - (holder?.start ?? 0)];
      };
      const range = document.createRange();
      range.setStart(...locate(index));
      const [last, offset] = locate(index + text.length - 1);
      range.setEnd(last, offset + 1);
      const { x, y, width, height } = range.getBoundingClientRect();
      return { x, y, width, height };
    }
  }
  return undefined;
}
