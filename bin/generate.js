#!/usr/bin/env node
// @ts-check
// Writes the generated documents: npm run docs. They are committed; a test fails when they are out of date.
import { mkdirSync, readFileSync, realpathSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");

/**
 * Imports a module of `src`, compiled or not; given as `http/documents/openapi`.
 * @typedef {(module: string) => Promise<any>} Load
 */

/** The schemas that are served at /v1/schemas, as files. */
const SCHEMAS = [
  "annotation",
  "annotation-create",
  "eval-suite",
  "eval-summary",
  "afp-request",
  "afp-response",
  "afp-message",
  "judge-input",
  "judge-output",
];

/**
 * Every generated file and how its text is made.
 * @type {readonly { path: string, make: (load: Load, version: string) => Promise<string> }[]}
 */
export const generated = [
  {
    path: "docs/openapi.json",
    make: async (load, version) => jsonText((await load("http/documents/openapi")).openApiDocument(version)),
  },
  {
    path: "docs/asyncapi.json",
    make: async (load, version) => jsonText((await load("http/documents/asyncapi")).asyncApiDocument(version)),
  },
  {
    path: "docs/events.md",
    make: async (load) => (await load("http/documents/event-reference")).eventReference(),
  },
  {
    path: "docs/cli.md",
    make: async (load) => (await load("cli/program/reference")).cliReference(),
  },
  {
    path: "docs/configuration.md",
    make: async (load) => (await load("cli/program/reference")).settingsReference(),
  },
  {
    path: "src/protocol/routes.ts",
    make: async (load) =>
      (await load("http/documents/client-routes")).clientRoutes((await load("protocol/calls")).CALLS),
  },
  ...SCHEMAS.map((name) => ({
    path: `docs/schemas/${name}.schema.json`,
    make: async (/** @type {Load} */ load) => jsonText((await load("protocol/published-schemas")).schemaDocument(name)),
  })),
];

/** @param {unknown} value */
function jsonText(value) {
  return `${JSON.stringify(value, null, 2)}\n`;
}

export function packageVersion() {
  return String(JSON.parse(readFileSync(join(root, "package.json"), "utf8")).version);
}

async function main() {
  /** @type {Load} */
  const load = (module) => import(new URL(`../dist/${module}.js`, import.meta.url).href);
  mkdirSync(join(root, "docs/schemas"), { recursive: true });
  for (const { path, make } of generated) {
    writeFileSync(join(root, path), await make(load, packageVersion()));
    console.log(path);
  }
}

if (process.argv[1] && realpathSync(process.argv[1]) === fileURLToPath(import.meta.url)) await main();
