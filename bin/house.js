// @ts-check
// npm run house: figures of the layout of the source, with their aims.
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, posix } from "node:path";
import { fileURLToPath } from "node:url";

const NOUNS =
  "workflows runs gates judgments queues tapes reviews agents evals promotion webhooks identity audit".split(" ");
const FLOORS = ["protocol", "formats", "engine", "cli"];
/** Words of the older style, which names and comments should not use. */
const WORDS = /\b(told|said|somebody|whoever|nobody|beside|standing)\b/gi;

const src = join(dirname(fileURLToPath(import.meta.url)), "..", "src");
/** @type {Map<string, string>} */
const files = new Map();
for (const path of readdirSync(src, { recursive: true, encoding: "utf8" }).sort()) {
  const isSource = path.endsWith(".ts") && !path.endsWith(".test.ts") && !path.startsWith("testing");
  if (isSource) files.set(path.replaceAll("\\", "/"), readFileSync(join(src, path), "utf8"));
}
const lines = new Map([...files].map(([path, text]) => [path, text.split("\n").length - 1]));
const sizes = [...lines.values()].sort((a, b) => a - b);
const total = sizes.reduce((sum, n) => sum + n, 0);

/** @type {Map<string, Set<string>>} */
const importers = new Map();
for (const [path, text] of files) {
  for (const [, name = ""] of text.matchAll(/\b(?:from|import)\s*\(?\s*["'`](\.[^"'`]+)["'`]/g)) {
    const target = posix.join(posix.dirname(path), name);
    const known = importers.get(target) ?? new Set();
    importers.set(target, known.add(path));
  }
}

/** @type {Map<string, number>} */
const folders = new Map();
for (const path of files.keys()) folders.set(posix.dirname(path), (folders.get(posix.dirname(path)) ?? 0) + 1);
const large = [...folders].filter(([, n]) => n > 25).sort((a, b) => b[1] - a[1]);
const splinters = [...lines].filter(([path, n]) => n < 40 && importers.get(path)?.size === 1);
const words = [...files.values()].reduce((sum, text) => sum + (text.match(WORDS)?.length ?? 0), 0);

row("source files", files.size, "1,000 at most");
row("lines of source", total);
row("lines of a file, median", sizes[Math.floor(sizes.length / 2)] ?? 0, "70 to 120");
row("lines of a file, most", sizes.at(-1) ?? 0, "350 at most");
row("folders with more than 25 files", large.length, "about none");
row("files under 40 lines with one importer", splinters.length, "fewer than 60");
row("words of the older style", words, "fewer than 150");

console.log("\nLarge folders");
for (const [folder, n] of large) console.log(`${String(n).padStart(5)}  ${folder}`);

console.log(`\nFiles in the room of each noun\n${"".padEnd(12)}${FLOORS.map((floor) => floor.padStart(10)).join("")}`);
for (const noun of NOUNS) {
  const counts = FLOORS.map((floor) => [...files.keys()].filter((path) => path.startsWith(`${floor}/${noun}/`)).length);
  console.log(noun.padEnd(12) + counts.map((n) => String(n || "–").padStart(10)).join(""));
}

if (process.argv.includes("--splinters")) {
  console.log("\nFiles under 40 lines with one importer");
  for (const [path, n] of splinters)
    console.log(`${String(n).padStart(5)}  ${path}  ←  ${[...(importers.get(path) ?? [])][0]}`);
}

/**
 * @param {string} name
 * @param {number} value
 * @param {string} [aim]
 */
function row(name, value, aim) {
  const shown = value.toLocaleString("en").padStart(9);
  console.log(`${name.padEnd(40)}${shown}${aim === undefined ? "" : `   (aim: ${aim})`}`);
}
