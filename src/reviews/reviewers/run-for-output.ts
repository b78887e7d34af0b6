import { type ChildProcess, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { AppError } from "../../protocol/errors.ts";
import { endGroup, endMarked, RUN_MARK } from "../requester/process-group.ts";

export interface ProgramToRun {
  readonly program: string;
  readonly args: readonly string[];
  readonly directory: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly input: string;
  /** When aborted, the program is ended with all that it started. */
  readonly signal: AbortSignal;
  readonly outputBytes?: number;
  /** How long it may take to end when asked to. */
  readonly killMs?: number;
}

const OUTPUT_BYTES = 8 * 1024 * 1024;
const STDERR_CHARACTERS = 2_000;
const KILL_MS = 2_000;

/**
 * What a program prints, given its input; none of its group is left then. Throws unless it ends by itself with exit code 0, and
 * then nothing that it started is left.
 */
export async function runForOutput(run: ProgramToRun): Promise<string> {
  const { program, args, directory, environment, input, signal } = run;
  const { outputBytes = OUTPUT_BYTES, killMs = KILL_MS } = run;
  signal.throwIfAborted();
  const mark = randomUUID();
  const child = spawn(program, [...args], {
    cwd: directory,
    env: { ...environment, PWD: directory, [RUN_MARK]: mark },
    stdio: ["pipe", "pipe", "pipe"],
    // A group of its own, so that it can be ended with all that it started.
    detached: true,
  });
  // A program that does not read its input is no failure by itself.
  child.stdin?.on("error", () => {});
  child.stdin?.end(input);
  let hasFailed = true;
  try {
    const output = await outputOf(child, program, outputBytes, signal);
    hasFailed = false;
    return output;
  } finally {
    if (child.pid !== undefined) await endGroup(child.pid, killMs);
    if (hasFailed) await endMarked(mark);
  }
}

async function outputOf(child: ChildProcess, program: string, maxBytes: number, signal: AbortSignal): Promise<string> {
  const chunks: Buffer[] = [];
  let length = 0;
  let complaints = "";
  return new Promise((resolve, reject) => {
    const fail = (problem: string) => reject(new AppError("unusable_input", { problem: `${program} ${problem}` }));
    child.stdout?.on("data", (chunk: Buffer) => {
      length += chunk.length;
      if (length > maxBytes) fail(`printed more than ${maxBytes} bytes`);
      else chunks.push(chunk);
    });
    child.stderr?.setEncoding("utf8").on("data", (text: string) => {
      complaints = (complaints + text).slice(-STDERR_CHARACTERS);
    });
    child.once("error", ({ message }) => fail(`cannot be started: ${message}`));
    child.once("close", (code, endedBy) => {
      if (code === 0) resolve(Buffer.concat(chunks).toString("utf8"));
      else
        fail(
          `ended with ${code === null ? endedBy : `exit code ${code}`}${complaints === "" ? "" : `: ${complaints.trim()}`}`,
        );
    });
    // A child of its own may hold the pipes for ever; what the program itself said is there soon after it ended.
    child.once("exit", () => {
      setTimeout(() => {
        child.stdout?.destroy();
        child.stderr?.destroy();
      }, PIPES_MS).unref();
    });
    signal.addEventListener("abort", () => fail("was not waited for any longer"), { once: true });
  });
}

const PIPES_MS = 500;
