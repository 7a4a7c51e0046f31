/**
 * Bundles the extension and its webviews into dist/, with the licenses of all packages that this
 * takes in. A package without a license file stops the build.
 */

import { readdirSync, readFileSync, writeFileSync } from "node:fs";

import { build } from "esbuild";

const common = { bundle: true, minify: true, metafile: true, logLevel: "warning" };

const builds = await Promise.all([
  build({
    ...common, entryPoints: ["src/extension.ts"], outfile: "dist/extension.js",
    platform: "node", target: "node20", format: "cjs", external: ["vscode"],
  }),
  build({
    ...common, entryPoints: ["src/starting/wasm/worker.ts"], outfile: "dist/wasm.mjs", platform: "node", target: "node20", format: "esm",
  }),
  build({
    ...common, entryPoints: ["src/web.ts"], outfile: "dist/web.js",
    platform: "browser", target: "es2022", format: "cjs", external: ["vscode"],
    alias: { "vscode-languageclient/node": "vscode-languageclient/browser" },
  }),
  build({ ...common, entryPoints: ["src/starting/web/worker.ts"], outdir: "dist", platform: "browser", target: "es2022", format: "iife" }),
  build({
    ...common, entryPoints: ["src/webview/report.ts", "src/webview/events.ts"], outdir: "dist/webview",
    platform: "browser", target: "es2022", format: "iife",
  }),
]);
const files = builds.flatMap(({ metafile }) => Object.keys(metafile.inputs));
const folders = new Set(files.flatMap((file) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(file)?.[0] ?? []));
const intro = `What Drive Trace takes in from others.

The Python packages of its server are below server/, each with its licenses in a folder of its
own: <package>.dist-info/licenses. What runs where there is no Python is in server/wasm, with
its licenses in licences.txt. The packages below are part of dist/.
`;
writeFileSync("dist/ThirdPartyNotices.txt", [intro, ...[...folders].sort().map(noticeOf)].join(`\n${"-".repeat(80)}\n\n`));

function noticeOf(folder) {
  const { name, version, license, homepage, repository } = JSON.parse(readFileSync(`${folder}/package.json`, "utf8"));
  const texts = readdirSync(folder).filter((file) => /^(licen[cs]e|copying|notice|thirdpartynotices)/i.test(file)).sort();
  if (!texts.some((file) => /^(licen[cs]e|copying)/i.test(file))) {
    throw new Error(`${folder} has no license file, so it cannot be a part of the extension`);
  }
  const heading = `${name} ${version} (${license})\n${homepage ?? repository?.url ?? repository ?? ""}\n`;
  return [heading, ...texts.map((file) => `${readFileSync(`${folder}/${file}`, "utf8").trim()}\n`)].join("\n");
}
