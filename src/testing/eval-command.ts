import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { main } from "../cli/main.ts";
import type { Io } from "../cli/output/io.ts";
import type { AgentEvalSuite } from "../protocol/evals/eval-suite.ts";
import { goldenTask, suiteOf } from "./eval-bench.ts";
import { recordedIo } from "./recorded-io.ts";
import { tempDir } from "./temp-dir.ts";

/** An agent that a script speaks for, bound in the agents file of a desk. */
export const SCRIPTED = "local.test.scripted";

export interface Ran {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/** A folder with a database of its own, on which `assay eval` is called as from a shell. */
export class EvalDesk {
  readonly folder = tempDir();

  file(name: string, content: string | object): string {
    const path = join(this.folder, name);
    writeFileSync(path, typeof content === "string" ? content : JSON.stringify(content, null, 2));
    return path;
  }

  /** A program of Node: `answer(input)` is what it prints. */
  program(name: string, body: string): string[] {
    const path = this.file(name, body);
    return ["--command", process.execPath, "--arg", path];
  }

  /** What the script answers, by task. */
  agents(byTaskId: Readonly<Record<string, unknown>>): string[] {
    const path = this.file("agents.json", { bindings: { [SCRIPTED]: { type: "scripted", script: { byTaskId } } } });
    return ["--agent", SCRIPTED, "--agents", path];
  }

  /** In this folder's database. */
  eval(...argv: readonly string[]): Promise<Ran> {
    const [command = "", ...rest] = argv;
    const words = command.split(" ");
    return evalCommand([...words, ...rest, "--data", join(this.folder, "data")]);
  }
}

export async function evalCommand(
  argv: readonly string[],
  env: Record<string, string> = {},
  io: Partial<Io> = {},
): Promise<Ran> {
  const recorded = recordedIo(io);
  const code = await main(["eval", ...argv], { io: recorded, env, cwd: tempDir() });
  return { code, out: recorded.outText(), err: recorded.errLines.join("\n") };
}

/** Tasks whose input is what is expected, and a script that gets these wrong. */
export function lettersSuite(letters: string, changes: Partial<AgentEvalSuite> = {}): AgentEvalSuite {
  return suiteOf(
    [...letters].map((letter) => goldenTask(letter, letter)),
    changes,
  );
}

export function lettersScript(letters: string, wrong = ""): Record<string, unknown> {
  return Object.fromEntries([...letters].map((letter) => [letter, { output: wrong.includes(letter) ? "?" : letter }]));
}
