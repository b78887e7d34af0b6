import { readdirSync, readFileSync } from "node:fs";
import { isBuiltin } from "node:module";
import { posix } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";

interface Rule {
  /** Places whose files may be imported; a name that ends in `.ts` is that one file. Its own place always may. */
  readonly imports: readonly string[] | "anything";
  readonly never?: readonly Ban[];
}
interface Ban {
  readonly name: string;
  readonly in: RegExp;
  readonly imported?: true;
}

const node: Ban = { name: "node:*", in: /^node:/, imported: true };
const files: Ban = { name: "node:fs", in: /^node:fs(\/|$)/, imported: true };
const clock: Ban = { name: "the clock", in: /\bDate\.now\(|\bnew Date\(\s*\)|\bDate\(\s*\)|\bperformance\.now\(/ };
const chance: Ban = { name: "randomness", in: /\bMath\.random\(|\bcrypto\.(randomUUID|getRandomValues)\(/ };
const environment: Ban = { name: "process.env", in: /\bprocess\.env\b/ };
const exit: Ban = { name: "process.exit", in: /\bprocess\.exit\b/ };
const nodeGlobals: Ban = { name: "a global of Node", in: /\b(?:Buffer|process)\.\w|\bBuffer\(|\bsetImmediate\(/ };
const processModule: Ban = { name: "node:process", in: /^node:process$/, imported: true };

const core = ["protocol", "formats"];
const shell = [
  ...core,
  "engine/decide",
  "store/store.ts",
  "store/gates.ts",
  "store/judgments.ts",
  "store/tapes.ts",
  "store/reviews.ts",
  "store/documents.ts",
  "store/search-words.ts",
];

/** Who may import whom (docs: ARCHITECTURE.md). A folder that is not here fails the test. */
const rules: Readonly<Record<string, Rule>> = {
  protocol: { imports: [], never: [node, clock, chance] },
  formats: { imports: ["protocol"], never: [files] },
  "engine/decide": { imports: core, never: [node, clock, chance] },
  engine: { imports: shell },
  agents: { imports: [...shell, "engine"] },
  evals: { imports: [...shell, "engine", "agents"] },
  reviews: { imports: [...shell, "engine"] },
  store: { imports: core },
  "store/<adapter>": { imports: [...core, "store"] },
  http: { imports: [...shell, "engine", "agents", "evals", "reviews"] },
  sdk: { imports: core, never: [node] },
  cli: { imports: "anything" },
  testing: { imports: "anything" },
};

/** Only the command line reads the environment and ends the process. */
const onlyInCli = [environment, exit, processModule];

/** Files and folders that also run in a page, where there is no Node: tapes and their sidecars, from bytes to text. */
const inPages = [
  "formats/tapes.ts",
  "formats/json/",
  "formats/tape/",
  "formats/sidecar/",
  "formats/file-error.ts",
  "formats/line-window.ts",
  "formats/load-lines.ts",
  "formats/text-lines.ts",
  "formats/trim.ts",
];
const neverInPages = [node, nodeGlobals, clock, chance];

/** Folders in `store` that all adapters share; any other folder there is an adapter. */
const sharedByAdapters = ["sql", "migrations"];

/** The place in the table that a file belongs to. Two adapters are one row but two places. */
function placeOf(path: string): { row: string; place: string } {
  const [folder = "", sub = ""] = path.split("/").slice(0, -1);
  if (folder === "engine" && sub === "decide") return { row: "engine/decide", place: "engine/decide" };
  if (folder === "store" && sub && !sharedByAdapters.includes(sub)) {
    return { row: "store/<adapter>", place: `store/${sub}` };
  }
  return { row: folder, place: folder };
}

function isTest(path: string): boolean {
  return path.endsWith(".test.ts") || path === "store/contract.ts" || path.startsWith("testing/");
}

/** What a file does that the table does not allow, as `engine/x.ts -> http/server.ts`. */
function violations(path: string, source: string): string[] {
  if (isTest(path)) return [];
  const { row, place } = placeOf(path);
  const rule = rules[row];
  if (!rule) return [`${path} -> no rule for this folder`];

  const code = withoutComments(source);
  const specifiers = importsOf(code).map((name) => (isBuiltin(name) ? `node:${name.replace(/^node:/, "")}` : name));
  const bans = [
    ...(rule.never ?? []),
    ...(row === "cli" ? [] : onlyInCli),
    ...(inPages.some((page) => path.startsWith(page)) ? neverInPages : []),
  ];

  const broken = bans
    .filter((ban) => (ban.imported ? specifiers.some((name) => ban.in.test(name)) : ban.in.test(code)))
    .map((ban) => ban.name);
  const refused = specifiers
    .filter((name) => name.startsWith("."))
    .map((name) => posix.join(posix.dirname(path), name))
    .filter((target) => !mayImport(rule, place, target));
  return [...refused, ...broken].map((what) => `${path} -> ${what}`);
}

function mayImport(rule: Rule, place: string, target: string): boolean {
  if (isTest(target)) return false;
  const targetPlace = placeOf(target).place;
  if (rule.imports === "anything" || targetPlace === place) return true;
  return rule.imports.some((allowed) => (allowed.endsWith(".ts") ? allowed === target : allowed === targetPlace));
}

function withoutComments(source: string): string {
  const stringOrComment = /("(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|`(?:\\.|[^`\\])*`)|\/\*[\s\S]*?\*\/|\/\/.*/g;
  return source.replace(stringOrComment, (_, string: string | undefined) => string ?? "");
}

/** Static, type-only, re-exporting, side-effect and dynamic imports alike. */
function importsOf(code: string): string[] {
  const specifier = /\b(?:from|import)\s*\(?\s*["'`]([^"'`]+)["'`]/g;
  return [...code.matchAll(specifier)].map((match) => match[1] ?? "");
}

describe("the source tree", () => {
  test("imports only what the table allows", () => {
    const src = fileURLToPath(new URL(".", import.meta.url));
    const paths = readdirSync(src, { recursive: true, encoding: "utf8" }).filter((path) => path.endsWith(".ts"));
    expect(paths.flatMap((path) => violations(path, readFileSync(`${src}${path}`, "utf8")))).toEqual([]);
  });
});

describe("a source file", () => {
  test("has at most 350 lines", () => {
    const src = fileURLToPath(new URL(".", import.meta.url));
    const paths = readdirSync(src, { recursive: true, encoding: "utf8" }).filter((path) => path.endsWith(".ts"));
    const lines = (path: string) => readFileSync(`${src}${path}`, "utf8").split("\n").length - 1;
    expect(paths.filter((path) => !isTest(path) && lines(path) > 350)).toEqual([]);
  });
});

describe("the table of imports", () => {
  test.each([
    ["protocol/run.ts", `import { x } from "../formats/tape.ts";`, "formats/tape.ts"],
    ["protocol/run.ts", `import { createHash } from "node:crypto";`, "node:*"],
    ["protocol/run.ts", `import { createHash } from "crypto";`, "node:*"],
    ["protocol/run.ts", "const at = Date.now();", "the clock"],
    ["protocol/run.ts", "const at = new Date().toISOString();", "the clock"],
    ["protocol/id.ts", "const id = Math.random();", "randomness"],
    ["formats/tape.ts", `import { readFile } from "node:fs/promises";`, "node:fs"],
    ["formats/tape.ts", `import type { Store } from "../store/store.ts";`, "store/store.ts"],
    ["formats/tape/digest.ts", `import { createHash } from "node:crypto";`, "node:*"],
    ["formats/sidecar/x.ts", `const bytes = Buffer.from(text);`, "a global of Node"],
    ["formats/json/x.ts", `process.emitWarning("x");`, "a global of Node"],
    ["formats/sidecar/x.ts", "const at = Date.now();", "the clock"],
    ["formats/trim.ts", `import { inspect } from "node:util";`, "node:*"],
    ["engine/decide/start.ts", `import { run } from "../execute.ts";`, "engine/execute.ts"],
    ["engine/decide/start.ts", `import type { Store } from "../../store/store.ts";`, "store/store.ts"],
    ["engine/decide/start.ts", "const at = performance.now();", "the clock"],
    ["engine/x.ts", `import { serve } from "../http/server.ts";`, "http/server.ts"],
    ["engine/x.ts", `import {\n  open,\n} from "../store/sqlite/open.ts";`, "store/sqlite/open.ts"],
    ["engine/x.ts", `const m = await import("../store/units.ts");`, "store/units.ts"],
    ["engine/x.ts", `export * from "../agents/invoke.ts";`, "agents/invoke.ts"],
    ["agents/invoke.ts", `import { judge } from "../evals/judge.ts";`, "evals/judge.ts"],
    ["evals/run/x.ts", `import { get } from "../../http/evals.ts";`, "http/evals.ts"],
    [
      "reviews/reviewers/x.ts",
      `import { completer } from "../../agents/models/complete.ts";`,
      "agents/models/complete.ts",
    ],
    ["store/store.ts", `import { open } from "./sqlite/open.ts";`, "store/sqlite/open.ts"],
    ["store/sql/read.ts", `import { open } from "../postgres/open.ts";`, "store/postgres/open.ts"],
    ["store/sqlite/open.ts", `import "../postgres/append.ts";`, "store/postgres/append.ts"],
    ["store/sqlite/open.ts", `import { fold } from "../../engine/fold.ts";`, "engine/fold.ts"],
    ["http/runs.ts", `import { open } from "../store/sqlite/open.ts";`, "store/sqlite/open.ts"],
    ["http/runs.ts", `import { config } from "../cli/config.ts";`, "cli/config.ts"],
    ["http/runs.ts", "const port = process.env.PORT;", "process.env"],
    ["http/runs.ts", "process.exit(1);", "process.exit"],
    ["http/runs.ts", `import { env } from "node:process";`, "node:process"],
    ["sdk/client.ts", `import { once } from "node:events";`, "node:*"],
    ["sdk/client.ts", `import { execute } from "../engine/execute.ts";`, "engine/execute.ts"],
    ["cli/main.ts", `import { tempDir } from "../testing/temp-dir.ts";`, "testing/temp-dir.ts"],
    ["helpers/x.ts", "", "no rule for this folder"],
  ])("refuses in %s: %s", (path, source, what) => {
    expect(violations(path, source)).toEqual([`${path} -> ${what}`]);
  });

  test.each([
    ["protocol/run.ts", `// Date.now() is never called here.\nexport const day = new Date(0);`],
    ["protocol/run.ts", `import { Type } from "typebox";\nimport type { Id } from "./id.ts";`],
    ["formats/tape/x.ts", `const kind = "process_spawn"; const bytes = new ArrayBuffer(8);`],
    ["formats/scrub.ts", `import { createHash } from "node:crypto";\nconst bytes = Buffer.from("");`],
    ["engine/decide/start.ts", `import { x } from "./move.ts";\nimport { y } from "../../formats/tape.ts";`],
    [
      "engine/nodes/delay.ts",
      `import { x } from "../decide/start.ts";\nimport type { S } from "../../store/store.ts";`,
    ],
    ["engine/worker.ts", `import { hostname } from "node:os";\nconst at = Date.now();`],
    ["reviews/provide.ts", `import { execute } from "../engine/execute.ts";`],
    ["store/sqlite/migrations/one.ts", `import { x } from "../open.ts";\nimport { y } from "../../sql/read.ts";`],
    ["store/postgres/append.ts", `import type { Unit } from "../units.ts";`],
    ["store/contract.ts", `import { tempDir } from "../testing/temp-dir.ts";`],
    ["store/sqlite/append.test.ts", `import { tempDir } from "../../testing/temp-dir.ts";`],
    ["http/evals.ts", `import { run } from "../evals/run.ts";`],
    [
      "cli/commands/serve.ts",
      `import { open } from "../../store/sqlite/open.ts";\nprocess.exit(process.env.X ? 1 : 0);`,
    ],
  ])("allows in %s: %s", (path, source) => {
    expect(violations(path, source)).toEqual([]);
  });
});
