// @ts-check
// Makes what `@assay/sdk` publishes from the compiled modules: node sdk/build.js OUT
//
// The code is joined into one file for each entry point and what they share. Declarations are those of the compiler, but for those of the client:
// they are derived from the table of operations, which is not published, and are spelled out instead (http/documents/client-types.ts).
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { rolldown } from "rolldown";
import { writeNotices } from "../bin/notices.js";

const out = process.argv[2];
if (!out) throw new Error("usage: node sdk/build.js OUT");
const compiled = join(out, "sdk");
const here = dirname(fileURLToPath(import.meta.url));
const draft = join(out, "sdk-package");

const bundle = await rolldown({
  cwd: compiled,
  input: Object.fromEntries(["index", "webhooks", "tapes", "eval"].map((name) => [name, join(compiled, `${name}.js`)])),
  platform: "neutral",
  resolve: { mainFields: ["module"] },
});
const { output } = await bundle.write({
  dir: draft,
  format: "esm",
  entryFileNames: "[name].js",
  chunkFileNames: "[name].js",
  minify: true,
});
await bundle.close();

writeNotices(output, draft);

// Schemas and what checks them are a hundred times as large as the client.
const modules = output.flatMap((file) => (file.type === "chunk" ? file.moduleIds : []));
const heavy = modules.filter(
  (id) => id === join(out, "protocol", "schema.js") || /node_modules(?!.hash-wasm)/.test(id),
);
if (heavy.length > 0) throw new Error(`the client is published without ${heavy.join(", ")}`);

/** @param {string} module */
const load = (module) => import(pathToFileURL(join(out, `${module}.js`)).href);
const [{ clientTypes }, { CALLS }] = [await load("http/documents/client-types"), await load("protocol/calls")];
for (const name of readdirSync(compiled).filter((file) => file.endsWith(".d.ts"))) {
  // The compiler leaves the names of sources in them.
  const text = readFileSync(join(compiled, name), "utf8").replace(/(from "\.\/[\w-]+)\.ts"/g, '$1.js"');
  writeFileSync(join(draft, name), text);
}
writeFileSync(join(draft, "client.d.ts"), clientTypes(CALLS));

// A process that imports from it at this moment finds the old one or the new one.
mkdirSync(join(here, "dist"), { recursive: true });
for (const name of readdirSync(draft)) renameSync(join(draft, name), join(here, "dist", name));
rmSync(draft, { recursive: true });
