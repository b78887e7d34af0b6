import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { tempDir } from "../../src/testing/temp-dir.ts";
import { type Ready, readyAs } from "./in-process.ts";

const ownBin = fileURLToPath(new URL("../../bin/assay.js", import.meta.url));
const children = new Set<ChildProcess>();

/** Ends every process that was started; `test/each-file.ts` calls it at the end of each file. */
export function killProcesses(): void {
  for (const child of children) child.kill("SIGKILL");
  children.clear();
}

export interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface Options {
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  readonly stdin?: string;
  /** Another program than that of this checkout. */
  readonly bin?: string;
}

/** Runs the real program to its end. */
export async function assay(args: readonly string[], options: Options = {}): Promise<Ended> {
  const started = start(args, options);
  if (options.stdin !== undefined) started.child.stdin?.end(options.stdin);
  return { code: await started.ended, stdout: started.stdout(), stderr: started.stderr() };
}

export interface Running {
  readonly child: ChildProcess;
  readonly ended: Promise<number | null>;
  stdout(): string;
  stderr(): string;
  /** Resolves when what was written to stdout satisfies the condition; fails when the process ends before. */
  until(condition: (stdout: string) => boolean): Promise<void>;
}

export function start(args: readonly string[], options: Options = {}): Running {
  const { env = {}, cwd = tempDir(), stdin, bin = ownBin } = options;
  const inherited = Object.entries(process.env).filter(([name]) => !name.startsWith("ASSAY_"));
  const child = spawn(process.execPath, [bin, ...args], {
    cwd,
    env: { ...Object.fromEntries(inherited), ...env },
    stdio: [stdin === undefined ? "ignore" : "pipe", "pipe", "pipe"],
  });
  children.add(child);
  let stdout = "";
  let stderr = "";
  child.stdout?.setEncoding("utf8").on("data", (text: string) => {
    stdout += text;
  });
  child.stderr?.setEncoding("utf8").on("data", (text: string) => {
    stderr += text;
  });
  const ended = once(child, "close").then(([code]) => {
    children.delete(child);
    return code as number | null;
  });
  return {
    child,
    ended,
    stdout: () => stdout,
    stderr: () => stderr,
    until: (condition) =>
      new Promise((resolve, reject) => {
        const look = () => condition(stdout) && resolve();
        child.stdout?.on("data", look);
        look();
        void ended.then((code) => reject(new Error(`it ended with ${code}: ${stdout}${stderr}`)));
      }),
  };
}

export interface Server extends Running, Ready {
  stop(signal?: NodeJS.Signals): Promise<number | null>;
}

/** Starts a server on a free port and waits until it is ready. */
export async function serve(args: readonly string[], options: Options & { key?: string } = {}): Promise<Server> {
  const running = start(["serve", "--port", "0", ...args], options);
  await running.until((stdout) => stdout.includes("\n"));
  return {
    ...running,
    ...readyAs(running.stdout(), options.key),
    stop: (signal = "SIGTERM") => {
      running.child.kill(signal);
      return running.ended;
    },
  };
}

const parts = { triggers: [], metadata: {}, settings: {} };

/** Completes at once with what it was given. */
export const GREET = {
  id: "greet",
  name: "Greet",
  version: "1",
  nodes: [
    {
      id: "say",
      typeId: "core.identity",
      name: "Say",
      position: { x: 0, y: 0 },
      config: {},
      inputs: { said: { type: "variable", variableName: "name" } },
    },
  ],
  edges: [],
  variables: [{ name: "name", type: "string", defaultValue: "world" }],
  ...parts,
};

/** Sleeps for as long as it is told. */
export const SLEEP = {
  id: "sleep",
  name: "Sleep",
  version: "1",
  nodes: [
    {
      id: "nap",
      typeId: "core.delay",
      name: "Nap",
      position: { x: 0, y: 0 },
      config: {},
      inputs: { delayMs: { type: "variable", variableName: "delayMs" } },
    },
  ],
  edges: [],
  variables: [{ name: "delayMs", type: "number", defaultValue: 30_000 }],
  ...parts,
};

/** A folder with the two, and whatever else is given by file name. */
export function workflowFolder(more: Readonly<Record<string, unknown>> = {}): string {
  const folder = tempDir();
  for (const [name, content] of Object.entries({ "greet.json": GREET, "sleep.json": SLEEP, ...more })) {
    writeFileSync(join(folder, name), typeof content === "string" ? content : JSON.stringify(content));
  }
  return folder;
}
