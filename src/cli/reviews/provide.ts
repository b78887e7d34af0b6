import { homedir } from "node:os";
import { join, resolve } from "node:path";
import { REQUEST_BYTES_MAX } from "../../formats/reviews/request.ts";
import { errorLine } from "../../formats/reviews/wrapper-stream.ts";
import { AppError } from "../../protocol/errors.ts";
import { BUSY_MS, directoryBackend } from "../../reviews/provider/directory-backend.ts";
import { answerLines } from "../../reviews/provider/stream-ids.ts";
import { takeTurn } from "../../reviews/provider/take-turn.ts";
import { DEFAULT_AGENT } from "../../reviews/reviewer.ts";
import { boundReviewer } from "../../reviews/reviewers/bound-reviewer.ts";
import { printable } from "../output/printable.ts";
import type { Call } from "../program/command.ts";
import { EXIT } from "../program/exit-codes.ts";
import { ownEnvironment } from "../settings/config.ts";
import type { WrittenReviewer } from "../settings/setting-formats.ts";
import { chatModelOf } from "../wiring/review-model.ts";
import type { REVIEW_PROVIDE_FLAGS } from "./commands.ts";
import { ownReviewerBindings } from "./reviewer-bindings.ts";

export type ProvideCall = Call<typeof REVIEW_PROVIDE_FLAGS>;

/** The messages are those of `opencode run`, which this command replaces: scripts compare them. */
export async function reviewProvide(call: ProvideCall): Promise<number> {
  const { args, flags, given, io } = call;
  const misused = misuse(call);
  if (misused !== undefined) return refuse(io, misused);
  const input = await readInput(REQUEST_BYTES_MAX + 1);
  const bytes = withWords(args[0] === "run" ? args.slice(1) : args, input);
  if (isBlank(bytes)) return refuse(io, "You must provide a message or a command");
  if (flags.fork && flags.session === undefined && !flags.continue) {
    return refuse(io, "--fork requires --continue or --session");
  }
  if (flags.session === "") return refuse(io, "Session not found");
  try {
    if (!given.has("url")) return await provideHere(call, bytes);
    return await (await import("./provide-from-server.ts")).provideFromServer(call, bytes);
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    if (flags.format === "json") await io.write(errorLine(flags.session, "UnknownError", error.message, Date.now()));
    return refuse(io, error.message);
  }
}

async function provideHere({ flags, config, io }: ProvideCall, bytes: Uint8Array): Promise<number> {
  const backend = directoryBackend(stateDirectory(flags.state), { busyMs: flags.busyMs ?? BUSY_MS });
  const session = flags.session ?? (flags.continue ? await backend.latest() : undefined);
  const agent = flags.agent ?? DEFAULT_AGENT;
  const taken = await takeTurn(
    backend,
    ownReviewerBindings(config, ownEnvironment(), inPlace(flags)).map((binding) => boundReviewer(binding, chatModelOf)),
    { bytes, agent, fork: flags.fork, ...(session === undefined ? {} : { session }) },
    {
      reviewLimitMs: flags.reviewTimeoutMs ?? config.reviewerTimeoutMs,
      onFailure: (error) => io.err(`error: ${printable(error instanceof Error ? error.message : String(error))}`),
    },
  );
  if (taken.type === "unknown") return refuse(io, "Session not found");
  if (taken.type === "busy") return refuse(io, "Session is busy");
  if (taken.fellBack) io.err(fellBack(agent));
  await io.write(flags.format === "json" ? answerLines(taken.sessionID, taken.response) : `${taken.response}\n`);
  return EXIT.fine;
}

/** The program of the call, bound to the default agent; it replaces that agent's binding in the settings. */
function inPlace({ reviewerCommand: program, arg: args }: ProvideCall["flags"]): WrittenReviewer[] {
  return program === undefined ? [] : [{ agent: DEFAULT_AGENT, type: "command", program, args }];
}

/** A folder that does not depend on the working directory, so that a session works from every directory. */
function stateDirectory(given: string | undefined): string {
  return given === undefined ? join(homedir(), ".assay", "review-sessions") : resolve(given);
}

function misuse({ flags, given }: ProvideCall): string | undefined {
  if (!given.has("url")) return flags.arg.length > 0 && flags.reviewerCommand === undefined ? ARG_ALONE : undefined;
  if (flags.state !== undefined) return "--url cannot be used with --state: the session lives on the server";
  if (flags.reviewerCommand === undefined) return undefined;
  return "--url cannot be used with --reviewer-command: bind the program on the server, assay serve --reviewer NAME=command:PROGRAM";
}

const ARG_ALONE = "--arg requires --reviewer-command";

function withWords(words: readonly string[], input: Buffer): Uint8Array {
  if (words.length === 0) return input;
  const before = words.join(" ");
  return input.length === 0 ? Buffer.from(before) : Buffer.concat([Buffer.from(`${before}\n`), input]);
}

/** Whether there is no text. Bytes that are not UTF-8 count as an invalid request. */
function isBlank(bytes: Uint8Array): boolean {
  return bytes.length <= REQUEST_BYTES_MAX && new TextDecoder().decode(bytes).trim() === "";
}

function refuse(io: ProvideCall["io"], message: string): number {
  io.err(`Error: ${message}`);
  return EXIT.negative;
}

/** Reads standard input to its end, so that the writer never finds the pipe closed, and keeps `keepBytes` of it. Empty on a terminal. */
async function readInput(keepBytes: number): Promise<Buffer> {
  if (process.stdin.isTTY) return Buffer.alloc(0);
  const chunks: Buffer[] = [];
  let kept = 0;
  for await (const chunk of process.stdin as AsyncIterable<Buffer>) {
    const rest = chunk.subarray(0, keepBytes - kept);
    if (rest.length > 0) chunks.push(rest);
    kept += rest.length;
  }
  return Buffer.concat(chunks);
}

/** The note of `opencode run` about an agent that it does not know: requesters look for it. */
export function fellBack(agent: string): string {
  return `! agent "${printable(agent)}" not found. Falling back to default agent`;
}
