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
  await install("Chromium", ["chromium", "fonts-dejavu-core", "fonts-liberation"], `, or name one in CHROMIUM`);
  const installed = findChromium();
  if (installed === undefined) {
    throw new CannotRunHere("apt installed no Chromium in a known place: name one in CHROMIUM");
  }
  return installed;
}

/** The program that makes pictures small, installed through apt where that is possible. */
export function ensurePngquant(): Promise<string> {
  return ensureProgram("/usr/bin/pngquant", "pngquant");
}

/** The program by which VS Code finds files. */
export function ensureRipgrep(): Promise<string> {
  return ensureProgram("/usr/bin/rg", "ripgrep");
}

async function ensureProgram(program: string, name: string): Promise<string> {
  if (!existsSync(program)) {
    await install(name, [name]);
  }
  return program;
}

async function install(what: string, packages: string[], otherwise = ""): Promise<void> {
  const byHand = `install it ("apt-get install ${packages[0] ?? ""}")${otherwise}`;
  if (process.getuid?.() !== 0 || !existsSync("/usr/bin/apt-get")) {
    throw new CannotRunHere(`no ${what}: ${byHand}`);
  }
  console.log(`installing ${what} through apt`);
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
  try {
    await run("apt-get", ["update"], { env });
    await run("apt-get", ["install", "--yes", "--no-install-recommends", ...packages], { env });
  } catch (error) {
    throw new CannotRunHere(`no ${what}: ${byHand}\n${String(error)}`);
  }
}
