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
  /** Where it is to write the tape. */
  readonly tape: string;
  readonly processTape: string | undefined;
  /** What it prints goes to standard error, because standard output belongs to the caller. */
  readonly outToErr: boolean;
}

/** Ends with those of a shell: what a signal ended has 128 and the number of the signal. */
const KILLED = 128;

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: "there is no such program",
  EACCES: "it may not be executed",
};

/** What it reads and prints is that of this process. Resolves with its exit code; throws `FileError` when it cannot be started. */
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

/** Without secrets of ours: the program is somebody else's. */
export function recorderEnvironment(own: Environment, tape: string, processTape: string | undefined): Environment {
  const { ASSAY_PROCESS_TAPE: _, ...told } = withoutSecrets(own);
  told["ASSAY_TAPE"] = resolve(tape);
  if (processTape !== undefined) told["ASSAY_PROCESS_TAPE"] = resolve(processTape);
  return told;
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

/** Those that ask to end. We go on until the program has ended, so that what it recorded is looked at. */
function passSignals(pass: (signal: NodeJS.Signals) => void): () => void {
  const handlers = (["SIGINT", "SIGTERM", "SIGHUP"] as const).map((signal) => {
    // A terminal sends it to the program as well, and twice means something else than once.
    const handler = () => (signal === "SIGINT" && process.stdin.isTTY ? undefined : pass(signal));
    process.on(signal, handler);
    return [signal, handler] as const;
  });
  return () => {
    for (const [signal, handler] of handlers) process.off(signal, handler);
  };
}
