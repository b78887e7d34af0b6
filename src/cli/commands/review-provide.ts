import { homedir } from "node:os";
import { join, resolve } from "node:path";
import { REQUEST_BYTES_MAX } from "../../formats/afp/request.ts";
import { errorLine } from "../../formats/afp/write-stream.ts";
import { AppError } from "../../protocol/errors.ts";
import { answerLines } from "../../reviews/provider/answer-lines.ts";
import { BUSY_MS, directoryHome } from "../../reviews/provider/directory-home.ts";
import { REVIEW_LIMIT_MS, takeTurn } from "../../reviews/provider/take-turn.ts";
import { DEFAULT_AGENT } from "../../reviews/reviewer.ts";
import { chosenReviewer } from "../chosen-reviewer.ts";
import type { Call } from "../command.ts";
import { EXIT } from "../exit-codes.ts";
import { printable } from "../printable.ts";
import { provideFromServer } from "../provide-from-server.ts";
import { readInput } from "../read-input.ts";
import type { REVIEW_PROVIDE_FLAGS } from "../specs/review-provide.ts";

export type ProvideCall = Call<typeof REVIEW_PROVIDE_FLAGS>;

/** What is said, and when, is what the command that this one stands in for says: scripts compare it. */
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
    return given.has("url") ? await provideFromServer(call, bytes) : await provideHere(call, bytes);
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    if (flags.format === "json") await io.write(errorLine(flags.session, "UnknownError", error.message, Date.now()));
    return refuse(io, error.message);
  }
}

async function provideHere({ flags, config, io }: ProvideCall, bytes: Uint8Array): Promise<number> {
  const home = directoryHome(stateDirectory(flags.state), { busyMs: flags.busyMs ?? BUSY_MS });
  const session = flags.session ?? (flags.continue ? await home.latest() : undefined);
  const agent = flags.agent ?? DEFAULT_AGENT;
  const taken = await takeTurn(
    home,
    [chosenReviewer(flags, config)],
    { bytes, agent, fork: flags.fork, ...(session === undefined ? {} : { session }) },
    {
      reviewLimitMs: flags.reviewTimeoutMs ?? REVIEW_LIMIT_MS,
      onFailure: (error) => io.err(`assay: ${printable(error instanceof Error ? error.message : String(error))}`),
    },
  );
  if (taken.type === "unknown") return refuse(io, "Session not found");
  if (taken.type === "busy") return refuse(io, "Session is busy");
  if (taken.fellBack) io.err(`! agent "${printable(agent)}" not found. Falling back to default agent`);
  await io.write(flags.format === "json" ? answerLines(taken.sessionID, taken.response) : `${taken.response}\n`);
  return EXIT.fine;
}

/** Not the working directory: a session works from every one. */
function stateDirectory(given: string | undefined): string {
  return given === undefined ? join(homedir(), ".assay", "review-sessions") : resolve(given);
}

function misuse({ flags, given }: ProvideCall): string | undefined {
  if (!given.has("url")) return flags.arg.length > 0 && flags.reviewerCommand === undefined ? ARG_ALONE : undefined;
  const local = ["state", "reviewerCommand", "continue", "fork"] as const;
  const wrong = local.find((name) => flags[name] !== undefined && flags[name] !== false);
  return wrong === undefined
    ? undefined
    : `--url cannot be used with --${wrong === "reviewerCommand" ? "reviewer-command" : wrong}`;
}

const ARG_ALONE = "--arg requires --reviewer-command";

function withWords(words: readonly string[], input: Buffer): Uint8Array {
  if (words.length === 0) return input;
  const before = words.join(" ");
  return input.length === 0 ? Buffer.from(before) : Buffer.concat([Buffer.from(`${before}\n`), input]);
}

/** Also of what is not UTF-8, which is a request, if a wrong one. */
function isBlank(bytes: Uint8Array): boolean {
  return bytes.length <= REQUEST_BYTES_MAX && new TextDecoder().decode(bytes).trim() === "";
}

function refuse(io: ProvideCall["io"], message: string): number {
  io.err(`Error: ${message}`);
  return EXIT.negative;
}
