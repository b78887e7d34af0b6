import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const src = fileURLToPath(new URL("../..", import.meta.url));

/** Every file and package that is loaded before a command is: static imports that are not of types alone. */
function loadedBy(file: string, seen = new Set<string>()): Set<string> {
  if (seen.has(file)) return seen;
  seen.add(file);
  const code = readFileSync(file, "utf8");
  for (const [, clause, specifier = ""] of code.matchAll(/^(?:import|export)\s+([^;]*?)from\s+"([^"]+)";/gm)) {
    if (clause?.startsWith("type ")) continue;
    if (specifier.startsWith(".")) loadedBy(join(dirname(file), specifier), seen);
    else seen.add(specifier);
  }
  return seen;
}

test("`assay --help` loads the tables, the parser and the errors, and nothing of the server or of any format", () => {
  const loaded = [...loadedBy(join(src, "cli/main.ts"))].map((name) =>
    name.startsWith("/") ? relative(src, name) : name,
  );
  const own = loaded.filter((name) => !name.startsWith("cli/") && !name.startsWith("node:"));
  expect(own.sort()).toEqual([
    "commander",
    "formats/text/file-error.ts",
    "protocol/closest-to.ts",
    "protocol/errors.ts",
    "protocol/host-errors.ts",
    "protocol/operation.ts",
  ]);
  expect(loaded.filter((name) => name.startsWith("cli/wiring/"))).toEqual([]);
});

/** The modules that hold commands, as the tables of commands name them. */
function commandModules(): string[] {
  const tables = readdirSync(join(src, "cli"), { recursive: true, encoding: "utf8" }).filter((path) =>
    /commands\.ts$/.test(path),
  );
  const modules = tables.flatMap((table) => {
    const names = readFileSync(join(src, "cli", table), "utf8").matchAll(/\bimport\("([^"]+)"\)/g);
    return [...names].map(([, name = ""]) => join(dirname(table), name));
  });
  return [...new Set(modules)].sort();
}

// A command that only asks a server, or reads a tape, takes less time than schemas take to load.
test("schemas are loaded only by the commands that check documents or open a database", () => {
  const withSchemas = commandModules().filter((module) => loadedBy(join(src, "cli", module)).has("typebox"));
  expect(withSchemas).toEqual([
    "agents/packs.ts",
    "audit/export.ts",
    "audit/signing-key.ts",
    "evals/baselines.ts",
    "evals/eval-compare.ts",
    "evals/eval-override.ts",
    "evals/eval-run.ts",
    "evals/eval-show.ts",
    "judges/certificates.ts",
    "judges/judge-calibrate.ts",
    "judgments/export.ts",
    "judgments/import.ts",
    "reviews/ask.ts",
    "reviews/decide.ts",
    "reviews/provide.ts",
    "reviews/show.ts",
    "server/demo.ts",
    "server/documents.ts",
    "server/maintain.ts",
    "server/serve.ts",
    "server/worker.ts",
    "suites/add-from-run.ts",
    "suites/kept-suites.ts",
    "suites/suite-files.ts",
  ]);
});

test("only config.ts reads the environment; only the shutdown, and output that is lost, end the process", () => {
  const files = readdirSync(join(src, "cli"), { recursive: true, encoding: "utf8" }).filter(
    (path) => path.endsWith(".ts") && !path.endsWith(".test.ts"),
  );
  const using = (what: RegExp) => files.filter((path) => what.test(readFileSync(join(src, "cli", path), "utf8")));
  expect(using(/\bprocess\.env\b/)).toEqual([join("settings", "config.ts")]);
  expect(using(/\bprocess\.exit\b/)).toEqual([join("output", "io.ts"), join("wiring", "shutdown.ts")]);
});
