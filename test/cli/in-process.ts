import { Readable, Writable } from "node:stream";
import { processIo } from "../../src/cli/output/io.ts";
import { tempDir } from "../../src/testing/temp-dir.ts";

/**
 * The command line in the process of the test: what `assay.ts` does with a process of its own, without the time that a
 * process takes to start. Commands that read standard input, get signals or look at a terminal need a process.
 */
export interface Ended {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

export interface Options {
  readonly env?: Readonly<Record<string, string>>;
  /** Also the working folder of the test until the command ends, so one at a time. */
  readonly cwd?: string;
}

export interface Running {
  readonly ended: Promise<number>;
  stdout(): string;
  stderr(): string;
  /** Resolves when what was written to stdout satisfies the condition; fails when the command ends before. */
  until(condition: (stdout: string) => boolean): Promise<void>;
  /** Ends a server or a worker as a signal does, and a command that follows a stream as a reader does that goes away. */
  stop(): Promise<number>;
}

const running = new Set<Running>();

/** Stops every command that still runs; `test/each-file.ts` calls it at the end of each file. */
export async function stopCommands(): Promise<void> {
  // Servers after those that follow them.
  for (const one of [...running].reverse()) await one.stop();
}

/** Runs a command to its end. */
export async function assay(args: readonly string[], { env, cwd }: Options = {}): Promise<Ended> {
  const leave = cwd === undefined ? () => {} : enter(cwd);
  try {
    const command = start(args, { ...(env && { env }), ...(cwd !== undefined && { cwd }) });
    return { code: await command.ended, stdout: command.stdout(), stderr: command.stderr() };
  } finally {
    leave();
  }
}

let entered: { readonly cwd: string; readonly before: string; calls: number } | undefined;

function enter(cwd: string): () => void {
  if (entered !== undefined && entered.cwd !== cwd) throw new Error(`a command is in ${entered.cwd}`);
  entered ??= { cwd, before: process.cwd(), calls: 0 };
  if (entered.calls++ === 0) process.chdir(cwd);
  return () => {
    if (entered === undefined || --entered.calls > 0) return;
    process.chdir(entered.before);
    entered = undefined;
  };
}

/** Starts a command; its `cwd` is where its settings are looked for, and not where it finds files. */
export function start(args: readonly string[], { env = {}, cwd = tempDir() }: Options = {}): Running {
  const inherited = Object.entries(process.env).filter(([name]) => !name.startsWith("ASSAY_"));
  const stdout = new Output();
  const stderr = new Output();
  let stopNow = (_: NodeJS.Signals) => {};
  const stopped = new Promise<NodeJS.Signals>((resolve) => {
    stopNow = resolve;
  });
  const io = processIo(false, { stdin: Readable.from([]), stdout, stderr });
  const world = { io, cwd, env: { ...Object.fromEntries(inherited), ...env }, stopped };
  const ended = commandLine().then((main) => main(args, world));
  const command: Running = {
    ended,
    stdout: () => stdout.text,
    stderr: () => stderr.text,
    until: (condition) =>
      new Promise((resolve, reject) => {
        const look = () => condition(stdout.text) && resolve();
        stdout.on("text", look);
        look();
        void ended.then((code) => reject(new Error(`it ended with ${code}: ${stdout.text}${stderr.text}`)));
      }),
    stop: () => {
      stopNow("SIGTERM");
      stdout.leave();
      return ended;
    },
  };
  running.add(command);
  void ended.finally(() => running.delete(command));
  return command;
}

/** Loaded with the first command: every test file imports this module, and few run commands. */
async function commandLine() {
  return (await import("../../src/cli/main.ts")).main;
}

/** Keeps what is written to it. */
class Output extends Writable {
  text = "";

  constructor() {
    super({ decodeStrings: false });
  }

  override _write(text: string, _: string, done: () => void): void {
    this.text += text;
    this.emit("text");
    done();
  }

  /** As a pipe whose reader is gone. */
  leave(): void {
    this.destroy(Object.assign(new Error("write EPIPE"), { code: "EPIPE" }));
  }
}

/** A server that has printed its first line. */
export interface Ready {
  readonly url: string;
  readonly ownerKey: string | undefined;
  readonly readyLine: string;
  /** Runs a client command against it in this process, with the owner's key unless the options say otherwise. */
  client(...args: string[]): Promise<Ended>;
}

export interface Server extends Running, Ready {}

/** Starts a server on a free port and waits until it is ready. */
export async function serve(args: readonly string[], options: Options & { key?: string } = {}): Promise<Server> {
  const command = start(["serve", "--port", "0", ...args], options);
  await command.until((stdout) => stdout.includes("\n"));
  return { ...command, ...readyAs(command.stdout(), options.key) };
}

export function readyAs(stdout: string, given?: string): Ready {
  const [readyLine = ""] = stdout.split("\n");
  const [, url = "", ownerKey] = /ready at (\S+)(?: {2}owner key: (\S+))?$/.exec(readyLine) ?? [];
  const key = given ?? ownerKey ?? "";
  const client = (...args: string[]) => assay(args, { env: { ASSAY_URL: url, ASSAY_KEY: key } });
  return { url, ownerKey, readyLine, client };
}
