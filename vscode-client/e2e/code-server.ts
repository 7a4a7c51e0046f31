import { existsSync } from "node:fs";
import { mkdir, rename, rm, symlink, writeFile } from "node:fs/promises";
import * as path from "node:path";

import { CannotRunHere, ensureRipgrep } from "./machine";
import { Background, run } from "./processes";
import { until } from "./until";

export const codeServerVersion = "4.100.3";

/** Says that all of the installation is there; with another name, one that is older is made again. */
const marker = ".complete-2";

/**
 * The folder of a VS Code server, taken from the npm package `code-server`.
 *
 * It is installed beside `cache` and moved there when it is complete, so that an interrupted run
 * leaves nothing that a later one takes for whole.
 */
export async function ensureCodeServer(cache: string): Promise<string> {
  const server = path.join("lib", "vscode");
  if (existsSync(path.join(cache, marker))) {
    return path.join(cache, server);
  }
  console.log(`installing code-server ${codeServerVersion} into ${cache}`);
  const fresh = `${cache}.partial`;
  await rm(fresh, { recursive: true, force: true });
  await mkdir(fresh, { recursive: true });
  try {
    await download(fresh);
    await installPackages(path.join(fresh, server));
    await writeFile(path.join(fresh, marker), "");
    await rm(cache, { recursive: true, force: true });
    await rename(fresh, cache);
  } catch (error) {
    throw new CannotRunHere(`no VS Code server: ${error instanceof Error ? error.message : String(error)}`);
  }
  return path.join(cache, server);
}

async function download(folder: string): Promise<void> {
  const env = cleanEnvironment();
  await run("npm", ["pack", `code-server@${codeServerVersion}`, "--loglevel=error"], { cwd: folder, env });
  const archive = `code-server-${codeServerVersion}.tgz`;
  await run("tar", ["xzf", archive, "--strip-components=1"], { cwd: folder });
  await rm(path.join(folder, archive));
}

async function installPackages(server: string): Promise<void> {
  const env = cleanEnvironment();
  const quietly = ["--ignore-scripts", "--omit=dev", "--no-audit", "--no-fund"];
  await run("npm", ["install", ...quietly], { cwd: server, env });
  const headers = path.dirname(path.dirname(process.execPath));
  if (existsSync(path.join(headers, "include", "node", "node.h"))) {
    env.npm_config_nodedir = headers;
  }
  await run("npm", ["rebuild", "@vscode/spdlog", "native-watchdog"], { cwd: server, env });
  await symlink("node_modules", path.join(server, "node_modules.asar"));
  // Its own is fetched by a script from elsewhere; without one no file is ever found.
  const search = path.join(server, "node_modules", "@vscode", "ripgrep", "bin");
  await mkdir(search, { recursive: true });
  await symlink(await ensureRipgrep(), path.join(search, "rg"));
}

/** Without what an npm that started us tells its scripts about its own folder. */
function cleanEnvironment(): NodeJS.ProcessEnv {
  const ours = /^(npm_package_|npm_lifecycle_|npm_config_(local_prefix|ignore_scripts)$|INIT_CWD$)/;
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !ours.test(name)));
}

export interface ServerFolders {
  readonly extensions: string;
  readonly userData: string;
  readonly serverData: string;
}

export interface StartOptions {
  /** Whether every workspace is trusted. */
  readonly trusting: boolean;
  readonly token?: string;
  readonly port?: number;
}

/** A VS Code server with data folders of its own. */
export class CodeServer {
  private background: Background | undefined;
  private readonly main: string;
  private readonly folderArguments: string[];

  constructor(
    folder: string,
    folders: ServerFolders,
    private readonly env: NodeJS.ProcessEnv,
  ) {
    this.main = path.join(folder, "out", "server-main.js");
    this.folderArguments = [
      "--extensions-dir", folders.extensions,
      "--user-data-dir", folders.userData,
      "--server-data-dir", folders.serverData,
    ];
  }

  async installExtension(vsix: string): Promise<void> {
    const args = [this.main, ...this.folderArguments, "--install-extension", vsix];
    await run(process.execPath, args, { env: this.env });
  }

  /**
   * Starts it on a loopback port, and gives that port.
   *
   * Without a `token` every user of the machine may come in. Port 0 stands for any that is free.
   */
  async start({ trusting, token, port = 0 }: StartOptions): Promise<number> {
    // The kernel stops it should this process be killed, which then cannot do so itself.
    const server = new Background("setpriv", [
      "--pdeathsig", "TERM",
      process.execPath,
      this.main,
      ...this.folderArguments,
      "--host", "127.0.0.1",
      "--port", String(port),
      ...(token === undefined ? ["--without-connection-token"] : ["--connection-token", token]),
      "--accept-server-license-terms",
      "--telemetry-level", "off",
      ...(trusting ? ["--disable-workspace-trust"] : []),
      "--force-disable-user-env",
    ], this.env);
    this.background = server;
    return until("the VS Code server to listen", () => {
      if (server.ended) {
        throw new Error(`the VS Code server ended:\n${server.output()}`);
      }
      return Number(/listening on (\d+)/.exec(server.output())?.[1] ?? 0);
    });
  }

  /** Waits until it has ended by itself. */
  async end(): Promise<void> {
    await this.background?.end();
  }

  async stop(): Promise<void> {
    await this.background?.stop(10_000);
  }
}
