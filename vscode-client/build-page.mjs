/**
 * Builds the page without a server: node build-page.mjs FOLDER REPORT COMPARISON
 *
 * wasm.mjs has filled the folder. The two documents show which styles and scripts such ones have.
 */

import { createHash } from "node:crypto";
import { copyFileSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join, relative, resolve } from "node:path";
import { promisify } from "node:util";
import { gunzip, gzipSync } from "node:zlib";

import { build } from "esbuild";
import { loadPyodide } from "pyodide";

const [given, report, comparison] = process.argv.slice(2);
const folder = resolve(given ?? "");
const here = resolve(import.meta.dirname, "page");
const examples = resolve(here, "../../examples/projects");
const common = { bundle: true, minify: true, target: "es2022", logLevel: "warning" };

mkdirSync(join(folder, "examples"), { recursive: true });
for (const name of readdirSync(examples)) {
  copyFileSync(join(examples, name, "trace.jsonl"), join(folder, "examples", `${name}.jsonl`));
}
copyFileSync(join(here, "../images/icon.png"), join(folder, "icon.png"));
copyFileSync(join(here, "page.css"), join(folder, "page.css"));
await build({ ...common, entryPoints: ["page.ts", "worker.ts"].map((each) => join(here, each)), outdir: folder, format: "esm" });

// Python's memory once it is ready: to make it so takes most of a start.
const { outputFiles: [made] } = await build({
  ...common, format: "esm", platform: "node", write: false, stdin: {
    contents: 'export * from "./src/starting/wasm/python"; export * from "./page/program";', resolveDir: import.meta.dirname,
  },
});
const { program, startPython } = await import(`data:text/javascript;base64,${Buffer.from(made.contents).toString("base64")}`);
const { default: createPyodideModule } = await import(join(folder, "pyodide/pyodide.asm.mjs"));
const packages = readFileSync(join(folder, "packages.bin"));
await startPython(
  loadPyodide,
  { indexURL: join(folder, "pyodide"), createPyodideModule, stderr: (line) => { throw new Error(line); } },
  promisify(gunzip)(packages),
  {
    sums: Promise.resolve(packages.subarray(-8)), read: async () => undefined,
    write: (memory) => { writeFileSync(join(folder, "memory.bin"), gzipSync(memory, { level: 9 })); },
  },
  program,
);

// The documents that are shown have a style and a script of their own: by their hashes, no others.
const hashes = (kind) => [...new Set([report, comparison].flatMap((file) =>
  new RegExp(`${kind}-src ([^;]*);`).exec(readFileSync(file, "utf8").replaceAll("&#x27;", "'"))?.[1] ?? []))].join(" ");
const policy = [
  "default-src 'none'", "connect-src 'self'", "img-src 'self'", "worker-src 'self' blob:", "base-uri 'none'", "form-action 'none'",
  `script-src 'self' 'wasm-unsafe-eval' ${hashes("script")}`, `style-src 'self' ${hashes("style")}`,
].join("; ");
const { version } = JSON.parse(readFileSync(join(here, "../package.json"), "utf8"));
const page = readFileSync(join(here, "index.html"), "utf8").replace("POLICY", policy).replace("VERSION", version);
writeFileSync(join(folder, "index.html"), page);

const files = readdirSync(folder, { recursive: true, withFileTypes: true })
  .filter((each) => each.isFile() && each.name !== "offline.js")
  .map((each) => relative(folder, join(each.parentPath, each.name)).replaceAll("\\", "/")).sort();
const digest = createHash("sha256");
files.forEach((file) => digest.update(readFileSync(join(folder, file))));
await build({
  ...common, entryPoints: [join(here, "offline.ts")], outdir: folder, format: "iife",
  define: { FILES: JSON.stringify(["./", ...files]), NAME: JSON.stringify(digest.digest("hex").slice(0, 16)) },
});
