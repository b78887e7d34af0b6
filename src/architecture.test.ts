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

const core = ["protocol", "statistics", "formats"];
const shell = [...core, "engine/decide", "store/port"];

/** Which floor may import which (docs: ARCHITECTURE.md). A floor that is not here fails the test. */
const floors: Readonly<Record<string, Rule>> = {
  protocol: { imports: [], never: [node, clock, chance] },
  statistics: { imports: ["protocol"], never: [files, clock, chance] },
  formats: { imports: ["protocol", "statistics"], never: [files] },
  "engine/decide": { imports: core, never: [node, clock, chance] },
  engine: { imports: shell },
  agents: { imports: [...shell, "engine"] },
  evals: { imports: [...shell, "engine", "agents"] },
  reviews: { imports: [...shell, "engine"] },
  "store/port": { imports: core },
  store: { imports: [...core, "store/port"] },
  "store/<adapter>": { imports: [...core, "store/port", "store"] },
  http: { imports: [...shell, "engine", "agents", "evals", "reviews"] },
  // Published, and run in pages.
  sdk: { imports: core, never: [node, nodeGlobals] },
  cli: { imports: "anything" },
  testing: { imports: "anything" },
};

/** Only the command line reads the environment and ends the process. */
const onlyInCli = [environment, exit, processModule];

/** Files and folders that also run in a page, where there is no Node: tapes and their sidecars, from bytes to text. */
const inPages = [
  "formats/json/",
  "formats/tapes/",
  "formats/text/collections.ts",
  "formats/text/file-error.ts",
  "formats/text/find-text.ts",
  "formats/text/lines.ts",
];
const neverInPages = [node, nodeGlobals, clock, chance];

const adapters = ["sqlite", "postgres"];

/** The floor that a file belongs to. Two adapters have one rule but are two places. */
function placeOf(path: string): { row: string; place: string } {
  const folders = path.split("/").slice(0, -1);
  const [floor = "", room = ""] = folders;
  if (floor === "engine" && folders.includes("decide")) return { row: "engine/decide", place: "engine/decide" };
  if (floor === "store" && room === "port") return { row: "store/port", place: "store/port" };
  if (floor === "store" && adapters.includes(room)) return { row: "store/<adapter>", place: `store/${room}` };
  return { row: floor, place: floor };
}

function isTest(path: string): boolean {
  return path.endsWith(".test.ts") || path === "store/contract.ts" || path.startsWith("testing/");
}

/** What a file does that the table does not allow, as `engine/x.ts -> http/server.ts`. */
function violations(path: string, source: string): string[] {
  if (isTest(path)) return [];
  const { row, place } = placeOf(path);
  const rule = floors[row];
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

/** The nouns of the product: a rule about one is in the room of that name, on each floor that has it. */
const NOUNS =
  "workflows runs gates judgments queues tapes reviews agents evals promotion webhooks identity audit".split(" ");

/** The other rooms of the floors that are laid out by noun. */
const WORKSHOPS: Readonly<Record<string, string>> = {
  protocol: "evolve conformance",
  formats: "json text secrets archives otlp",
  engine: "families nodes otlp outbound programs replay schemas secrets shared worker",
  cli: "client files judges output program server settings suites wiring",
};

/** Which room uses which other rooms of its floor; `.` is the floor itself. A use that is not here fails the test, and so does one that is here and is gone. */
const rooms: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  protocol: {
    ".": "agents audit conformance evals gates identity judgments promotion queues reviews runs tapes webhooks workflows",
    agents: ". evals evolve promotion runs",
    audit: ".",
    conformance: ". evals runs",
    evals: ". agents judgments runs",
    evolve: ". gates runs",
    gates: ". identity judgments promotion runs",
    identity: ".",
    judgments: ". workflows",
    promotion: ". agents evals",
    queues: ". judgments runs",
    reviews: ". judgments",
    runs: ". evolve gates identity judgments workflows",
    tapes: ".",
    webhooks: ".",
    workflows: ".",
  },
  formats: {
    agents: "json",
    archives: "text",
    audit: "json",
    evals: "json",
    gates: "json",
    judgments: "json",
    otlp: "json",
    reviews: "json",
    secrets: "text",
    tapes: "archives json secrets text",
  },
  engine: {
    ".": "audit families gates identity outbound runs schemas shared worker workflows",
    audit: ". outbound webhooks",
    families: ". gates nodes runs shared worker workflows",
    gates: ". families identity nodes runs schemas secrets shared worker",
    identity: ". gates shared",
    judgments: ". identity runs secrets shared tapes worker",
    nodes: ". runs schemas worker workflows",
    otlp: ". outbound runs",
    queues: ". gates judgments runs shared worker workflows",
    replay: ". runs schemas worker workflows",
    runs: ". families gates identity judgments nodes outbound schemas secrets shared tapes worker workflows",
    schemas: "worker workflows",
    secrets: "worker",
    shared: "worker",
    tapes: ". judgments runs secrets shared worker workflows",
    webhooks: ". gates outbound shared worker",
    worker: ". families gates replay runs schemas shared workflows",
    workflows: ". gates nodes schemas secrets shared worker",
  },
  agents: {
    ".": "bindings deployments memory models",
    bindings: ". gateway models",
    deployments: ".",
    gateway: ". bindings",
    memory: ".",
    models: ".",
    nodes: ". bindings memory models",
    packs: ".",
    registry: ". packs",
    tools: ". bindings models",
  },
  evals: {
    "add-from": "calibration override run score suite",
    calibration: "judge override run score suite",
    evidence: "calibration override run suite",
    judge: "score",
    override: "run score suite",
    run: "calibration evidence judge override score suite",
  },
  reviews: {
    ".": "provider",
    provider: ".",
    requester: ". provider",
    reviewers: ". provider",
    server: ". provider reviewers",
  },
  store: {
    backup: "rows schema",
    postgres: "port read rows schema units",
    read: "port rows schema units",
    rows: "port schema units",
    schema: "port rows",
    sqlite: "port read rows schema units",
    units: "port rows schema",
  },
  http: {
    ".": "pipeline routes",
    conformance: "documents pipeline",
    documents: "pipeline",
    pipeline: "routes streams",
    routes: "conformance documents pipeline streams",
    streams: "pipeline",
  },
};

const source = fileURLToPath(new URL(".", import.meta.url));
const paths = readdirSync(source, { recursive: true, encoding: "utf8" }).filter(
  (path) => path.endsWith(".ts") && !isTest(path),
);

function roomOf(path: string): { readonly floor: string; readonly room: string } {
  const [floor = "", room = "", ...rest] = path.split("/");
  return { floor, room: rest.length === 0 ? "." : room };
}

describe("a floor", () => {
  test.each(Object.entries(WORKSHOPS))("has rooms named after nouns: %s", (floor, workshops) => {
    const named = new Set([".", ...NOUNS, ...workshops.split(" ")]);
    const here = paths.map(roomOf).filter((place) => place.floor === floor);
    expect([...new Set(here.map(({ room }) => room))].filter((room) => !named.has(room))).toEqual([]);
  });

  test.each(Object.keys(rooms))("has rooms that use each other as the table says: %s", (floor) => {
    const uses: Record<string, Set<string>> = {};
    for (const path of paths) {
      const { room } = roomOf(path);
      if (!path.startsWith(`${floor}/`)) continue;
      for (const name of importsOf(withoutComments(readFileSync(`${source}${path}`, "utf8")))) {
        const other = name.startsWith(".") ? roomOf(posix.join(posix.dirname(path), name)) : undefined;
        if (other?.floor !== floor || other.room === room) continue;
        uses[room] ??= new Set();
        uses[room].add(other.room);
      }
    }
    const found = Object.fromEntries(
      Object.entries(uses).map(([room, others]) => [room, [...others].sort().join(" ")]),
    );
    expect(found).toEqual(rooms[floor]);
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
    ["formats/secrets/scrub.ts", `import { readFile } from "node:fs/promises";`, "node:fs"],
    ["formats/tapes/tape.ts", `import type { Store } from "../../store/port/store.ts";`, "store/port/store.ts"],
    ["formats/tapes/digest.ts", `import { createHash } from "node:crypto";`, "node:*"],
    ["formats/tapes/sidecar/x.ts", `const bytes = Buffer.from(text);`, "a global of Node"],
    ["formats/json/x.ts", `process.emitWarning("x");`, "a global of Node"],
    ["formats/tapes/sidecar/x.ts", "const at = Date.now();", "the clock"],
    ["formats/text/lines.ts", `import { inspect } from "node:util";`, "node:*"],
    ["engine/runs/decide/start.ts", `import { run } from "../../execute.ts";`, "engine/execute.ts"],
    [
      "engine/gates/decide/start.ts",
      `import type { Store } from "../../../store/port/store.ts";`,
      "store/port/store.ts",
    ],
    ["engine/runs/decide/start.ts", "const at = performance.now();", "the clock"],
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
    ["store/port/store.ts", `import { rows } from "../rows/rows.ts";`, "store/rows/rows.ts"],
    ["store/read/runs.ts", `import { open } from "../postgres/open.ts";`, "store/postgres/open.ts"],
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
    ["formats/tapes/x.ts", `const kind = "process_spawn"; const bytes = new ArrayBuffer(8);`],
    ["formats/secrets/scrub.ts", `import { createHash } from "node:crypto";\nconst bytes = Buffer.from("");`],
    [
      "engine/runs/decide/start.ts",
      `import { x } from "../../gates/decide/vote.ts";\nimport { y } from "../../../formats/tape.ts";`,
    ],
    [
      "engine/nodes/basic.ts",
      `import { x } from "../runs/decide/start.ts";\nimport type { S } from "../../store/port/store.ts";`,
    ],
    ["engine/worker.ts", `import { hostname } from "node:os";\nconst at = Date.now();`],
    ["reviews/provide.ts", `import { execute } from "../engine/execute.ts";`],
    ["store/sqlite/migrations/one.ts", `import { x } from "../open.ts";\nimport { y } from "../../read/runs.ts";`],
    ["store/postgres/append.ts", `import type { Unit } from "../units.ts";`],
    ["store/contract.ts", `import { tempDir } from "../testing/temp-dir.ts";`],
    ["store/sqlite/append.test.ts", `import { tempDir } from "../../testing/temp-dir.ts";`],
    ["http/evals.ts", `import { run } from "../evals/run.ts";`],
    ["cli/server/serve.ts", `import { open } from "../../store/sqlite/open.ts";\nprocess.exit(process.env.X ? 1 : 0);`],
  ])("allows in %s: %s", (path, source) => {
    expect(violations(path, source)).toEqual([]);
  });
});
