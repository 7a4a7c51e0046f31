import { mkdir } from "node:fs/promises";
import * as path from "node:path";

import { ensurePngquant } from "./machine";
import { run } from "./processes";
import type { Theme } from "./sandbox";
import { client, repository } from "./set-up";

/** Screenshots that the documentation shows, and those that the walkthrough shows as well. */
const documented = [
  "mistake", "quick-fix", "completion", "status-bar", "timeline", "record", "gates", "judge", "reasons", "live-report", "runs",
];
/** What of a screenshot is in the walkthrough, which shows it small, and in the extension's README. */
export const closeUps: Readonly<Record<string, { x: number; y: number; width: number; height: number }>> = {
  "status-bar": { x: 520, y: 352, width: 524, height: 408 },
  "live-report": { x: 640, y: 36, width: 640, height: 540 },
  "runs": { x: 0, y: 0, width: 300, height: 160 },
  "mistake": { x: 424, y: 444, width: 848, height: 294 },
  "record": { x: 338, y: 0, width: 606, height: 242 },
};

/** Puts the screenshots of a theme where they are shown, in 256 colours at most. */
export async function keepPictures(screenshots: string, theme: Theme): Promise<void> {
  const pngquant = await ensurePngquant();
  const keep = async (names: readonly string[], kind: string, folder: string): Promise<void> => {
    await mkdir(folder, { recursive: true });
    for (const name of names) {
      const from = path.join(screenshots, `${name}${kind}.png`);
      const to = path.join(folder, `${name}-${theme}.png`);
      await run(pngquant, ["--force", "--strip", "--speed", "1", "--output", to, "256", from]);
    }
  };
  await keep(documented, "", path.join(repository, "docs", "images", "vscode"));
  await keep(Object.keys(closeUps), "-close", path.join(client, "media", "walkthrough"));
}
