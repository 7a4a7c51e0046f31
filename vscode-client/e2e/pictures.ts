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
const walkthrough = ["mistake", "record", "live-report", "runs"];

/** Puts the screenshots of a theme where they are shown, in 256 colours at most. */
export async function keepPictures(screenshots: string, theme: Theme): Promise<void> {
  const pngquant = await ensurePngquant();
  const keep = async (names: readonly string[], folder: string): Promise<void> => {
    await mkdir(folder, { recursive: true });
    for (const name of names) {
      const from = path.join(screenshots, `${name}.png`);
      const to = path.join(folder, `${name}-${theme}.png`);
      await run(pngquant, ["--force", "--strip", "--speed", "1", "--output", to, "256", from]);
    }
  };
  await keep(documented, path.join(repository, "docs", "images", "vscode"));
  await keep(walkthrough, path.join(client, "media", "walkthrough"));
}
