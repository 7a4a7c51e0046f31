import { existsSync } from "node:fs";

import { run } from "./processes";

/** The machine lacks something that only its owner can add: a reason to skip, not a failure. */
export class CannotRunHere extends Error {}

const usualPlaces = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];

/** The path of a Chromium, installed through apt where that is possible. */
export async function ensureChromium(): Promise<string> {
  return findChromium() ?? (await installChromium());
}

function findChromium(): string | undefined {
  return [process.env.CHROMIUM ?? "", ...usualPlaces].find((file) => file !== "" && existsSync(file));
}

async function installChromium(): Promise<string> {
  const byHand = `install Chromium ("apt-get install chromium"), or name one in CHROMIUM`;
  if (process.getuid?.() !== 0 || !existsSync("/usr/bin/apt-get")) {
    throw new CannotRunHere(`no Chromium: ${byHand}`);
  }
  console.log("installing Chromium through apt");
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
  const packages = ["chromium", "fonts-dejavu-core", "fonts-liberation"];
  try {
    await run("apt-get", ["update"], { env });
    await run("apt-get", ["install", "--yes", "--no-install-recommends", ...packages], { env });
  } catch (error) {
    throw new CannotRunHere(`no Chromium: ${byHand}\n${String(error)}`);
  }
  const installed = findChromium();
  if (installed === undefined) {
    throw new CannotRunHere(`apt installed no Chromium in a known place: ${byHand}`);
  }
  return installed;
}
