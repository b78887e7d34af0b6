import { spawn } from "node:child_process";
import { once } from "node:events";
import { constants } from "node:os";
import { resolve } from "node:path";
import { FileError } from "../../../formats/text/file-error.ts";
import { type Environment, ownEnvironment } from "../../settings/config.ts";
import { environmentNameOf, SETTING_NAMES, settingNamed } from "../../settings/settings.ts";

/** A program that writes a tape. */
export interface Recorder {
  readonly program: string;
  readonly args: readonly string[];
  /** The path of the tape that it writes. */
  readonly tape: string;
  readonly processTape: string | undefined;
  /** Its standard output goes to standard error, because standard output is for the result. */
  readonly outToErr: boolean;
}

/** The exit code of a shell for a program that a signal ended: 128 and the number of the signal. */
const KILLED = 128;

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: "there is no such program",
  EACCES: "it may not be executed",
};

/** Runs it with the streams of this process. Resolves with its exit code; throws `FileError` when it cannot be started. */
export async function runRecorder({ program, args, tape, processTape, outToErr }: Recorder): Promise<number> {
  const env = recorderEnvironment(ownEnvironment(), tape, processTape);
  const child = spawn(program, args, { env, stdio: ["inherit", outToErr ? 2 : "inherit", "inherit"] });
  const stopPassing = passSignals((signal) => child.kill(signal));
  try {
    const [code, signal] = (await once(child, "exit")) as [number | null, NodeJS.Signals | null];
    return code ?? KILLED + (signal === null ? 0 : constants.signals[signal]);
  } catch (error) {
    const { code = "", message } = error as NodeJS.ErrnoException;
    throw new FileError("recorder_not_started", program, `start ${program}: ${REASONS[code] ?? message}`);
  } finally {
    stopPassing();
  }
}

/** The environment of the program. It is foreign code, so it gets no secrets of this one. */
export function recorderEnvironment(own: Environment, tape: string, processTape: string | undefined): Environment {
  const { ASSAY_PROCESS_TAPE: _, ...environment } = withoutSecrets(own);
  environment["ASSAY_TAPE"] = resolve(tape);
  if (processTape !== undefined) environment["ASSAY_PROCESS_TAPE"] = resolve(processTape);
  return environment;
}

export function withoutSecrets(own: Environment): Record<string, string | undefined> {
  const hidden = new Set(secretNames());
  return Object.fromEntries(Object.entries(own).filter(([name]) => !hidden.has(name)));
}

function secretNames(): string[] {
  return SETTING_NAMES.flatMap((name) => {
    const setting = settingNamed(name);
    return setting.type === "text" && setting.secret ? environmentNameOf(name) : [];
  });
}

/** Passes signals that end a process on to the program. This process continues until the program has ended, to read its tape. */
function passSignals(pass: (signal: NodeJS.Signals) => void): () => void {
  const handlers = (["SIGINT", "SIGTERM", "SIGHUP"] as const).map((signal) => {
    // A terminal sends SIGINT to the program too, and a second one may mean something else to it.
    const handler = () => (signal === "SIGINT" && process.stdin.isTTY ? undefined : pass(signal));
    process.on(signal, handler);
    return [signal, handler] as const;
  });
  return () => {
    for (const [signal, handler] of handlers) process.off(signal, handler);
  };
}
