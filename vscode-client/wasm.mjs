/**
 * Packs what Python in WebAssembly needs: node wasm.mjs FOLDER
 *
 * Into FOLDER come Pyodide, `packages.bin` with drive-trace and what it runs on, and
 * `licences.txt`. All modules are compiled for that Python: to compile the standard library took
 * half of a first start. The packages are those that `make wasm-packages` has installed.
 * The archive is a gzipped tar, but not called so: some hosts have a browser unpack a `.gz` itself.
 */

import { copyFileSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";

import { loadPyodide, version } from "pyodide";

const folder = resolve(process.argv[2] ?? "server/wasm");
const packages = resolve(import.meta.dirname, "../build/wasm");
const pyodide = resolve(import.meta.dirname, "node_modules/pyodide");
const parts = ["pyodide.mjs", "pyodide.asm.mjs", "pyodide.asm.wasm", "pyodide-lock.json"];

mkdirSync(join(folder, "pyodide"), { recursive: true });
for (const part of parts) {
  copyFileSync(join(pyodide, part), join(folder, "pyodide", part));
}
const python = await loadPyodide();
const makers = ["serving", "python"].map((each) => readFileSync(resolve(import.meta.dirname, `src/starting/wasm/${each}.ts`), "utf8"));
python.globals.set("made_by", [version, ...makers].join(" "));
for (const [there, here] of [["/from", packages], ["/pyodide", pyodide], ["/to", folder]]) {
  python.FS.mkdirTree(there);
  python.FS.mount(python.FS.filesystems.NODEFS, { root: here }, there);
}
// Only `compare --cases`, suites and the Python API import pydantic: they say that they need Python.
const licences = python.runPython(`
import gzip, io, marshal, py_compile, re, sys, tarfile, zipfile, zlib
from pathlib import Path

LEFT_OUT = {"pydantic", "pydantic_core", "annotated_types", "typing_inspection", "bin", "__pycache__"}
UNUSED = {"doctest", "mailbox", "multiprocessing", "pydoc", "unittest", "xmlrpc"}
UNCHECKED = py_compile.PycInvalidationMode.UNCHECKED_HASH
licences = []

def compiled(name, data, optimize=-1):
    if not name.endswith(".py"):
        return name, data
    Path("/tmp/source").write_bytes(data)
    py_compile.compile("/tmp/source", "/tmp/compiled", name, True, optimize, UNCHECKED)
    return name + "c", Path("/tmp/compiled").read_bytes()

with (
    zipfile.ZipFile("/pyodide/python_stdlib.zip") as source,
    zipfile.ZipFile("/to/pyodide/python_stdlib.zip", "w") as file,
):
    for each in source.infolist():
        if re.split(r"[/.]", each.filename)[0] not in UNUSED:
            # Docstrings are left out, but those that Pyodide reads.
            optimize = -1 if "pyodide" in each.filename else 2
            name, data = compiled(each.filename, source.read(each), optimize)
            file.writestr(zipfile.ZipInfo(name), data, zipfile.ZIP_DEFLATED, 9)

def put(file, name, data):
    assert len(name.encode()) <= 100, name  # or a part of it would stand elsewhere in the entry
    entry = tarfile.TarInfo(name)
    entry.size = len(data)
    file.addfile(entry, io.BytesIO(data))

# At each import attrs compiles methods of the protocol's 400 classes, and that took a seventh of a first start.
sys.path.insert(0, "/from/packages")
sys.dont_write_bytecode = True
import attr._make
methods = {}
attr._make.compile = lambda script, *how: methods.setdefault(script, compile(script, *how))
import lsprotocol.types

with (
    open("/to/packages.bin", "wb") as out,
    gzip.GzipFile("", "wb", 9, out, mtime=0) as archive,
    tarfile.open(fileobj=archive, mode="w", format=tarfile.USTAR_FORMAT) as file,
):
    # The sums of the archive, by which kept memories are called, tell also what these came from.
    library = zlib.crc32(Path("/to/pyodide/python_stdlib.zip").read_bytes())
    put(file, "versions", f"{sys.version} {library} {made_by}".encode())
    put(file, "methods", marshal.dumps(methods))
    for base in map(Path, ("/from/own", "/from/packages")):
        for path in sorted(base.rglob("*")):
            inner = path.relative_to(base)
            if not path.is_file() or path.suffix == ".pyi" or "__pycache__" in inner.parts:
                continue
            if inner.parts[0].split("-")[0] in LEFT_OUT or "sboms" in inner.parts:
                continue
            if "dist-info" in inner.parts[0] and re.match("(?i)licen[cs]e|copying|notice", inner.name):
                licences.append((inner.parts[0].removesuffix(".dist-info"), path.read_text("utf-8")))
            if path.suffix == ".so":
                # The only one. It is loaded from beside Pyodide's own, and is empty here, where Python looks for it.
                Path("/to/pyodide/_core.so").write_bytes(path.read_bytes())
                put(file, "msgspec/_core.so", b"")
                put(file, "core", str(zlib.crc32(path.read_bytes())).encode())
                continue
            put(file, *compiled(str(inner), path.read_bytes()))
licences
`).toJs();
const { license, homepage } = JSON.parse(readFileSync(join(pyodide, "package.json"), "utf8"));
// Pyodide's package has no license file: the texts are those of packages with the same licenses.
const mozilla = readFileSync(resolve(import.meta.dirname, "node_modules/axe-core/LICENSE"), "utf8");
const psf = licences.find(([name]) => name.startsWith("typing_extensions"))?.[1];
if (license !== "MPL-2.0" || !mozilla.startsWith("Mozilla Public License, version 2.0") || psf === undefined) {
  throw new Error("the license of Pyodide or of Python is not the one whose text is here");
}
const told = [
  [`Pyodide ${version} (${license}), ${homepage ?? "https://pyodide.org"}`, `Its source is at https://github.com/pyodide/pyodide. With it come Emscripten (MIT) and the
libraries that Python is built with, as zlib, bzip2, libffi, expat and mpdecimal; their notices are there.

${mozilla}`],
  ["Python, in Pyodide (PSF-2.0), https://www.python.org", psf],
  ...licences,
];
const line = "-".repeat(80);
writeFileSync(join(folder, "licences.txt"), told.map(([name, text]) => `${line}\n${name}\n\n${text.trim()}\n`).join("\n"));
console.log(`${folder}: ${readdirSync(folder).join(" ")}`);
