import { type Browser, chromium } from "playwright-core";

/** A headless Chromium that talks to nobody by itself. */
export function launchBrowser(executablePath: string, env: Record<string, string>): Promise<Browser> {
  return chromium.launch({
    executablePath,
    env,
    handleSIGINT: false,
    handleSIGTERM: false,
    handleSIGHUP: false,
    args: [
      "--no-sandbox",
      "--disable-gpu",
      "--disable-quic",
      "--no-first-run",
      "--disable-background-networking",
      "--disable-component-update",
      "--disable-sync",
    ],
  });
}
