import { AppError } from "../../protocol/errors.ts";
import { DEFAULT_AGENT } from "../../reviews/reviewer.ts";
import { connect } from "../client/client.ts";
import { patientFetch } from "../client/patient-fetch.ts";
import { printable } from "../output/printable.ts";
import { EXIT } from "../program/exit-codes.ts";
import type { ProvideCall } from "./review-provide.ts";

/**
 * The same turn in a session that lives on a server; what the server answers is passed on as it is. A server answers for nobody that it
 * does not know; the command that this one stands in for lets another agent answer, and says so.
 */
export async function provideFromServer(call: ProvideCall, bytes: Uint8Array): Promise<number> {
  const { flags, io } = call;
  let text: string;
  try {
    text = await turnOn(call, bytes, flags.agent ?? DEFAULT_AGENT).catch((error) => {
      if (flags.agent === undefined || !isUnknownAgent(error)) throw error;
      io.err(fellBack(flags.agent));
      return turnOn(call, bytes, DEFAULT_AGENT);
    });
  } catch (error) {
    const said = error instanceof AppError ? SAID[String(error.details["name"])] : undefined;
    if (said === undefined) throw error;
    io.err(`Error: ${said}`);
    return EXIT.negative;
  }
  await io.write(flags.format === "json" ? text : `${answerIn(text)}\n`);
  return EXIT.fine;
}

async function turnOn({ flags, config, given }: ProvideCall, bytes: Uint8Array, agent: string): Promise<string> {
  const query = {
    agent,
    session: flags.session,
    // A session that is named is the one that is meant, as with sessions of this machine.
    ...(flags.continue && flags.session === undefined ? { continue: "true" as const } : {}),
    ...(flags.fork ? { fork: "true" as const } : {}),
  };
  // A reviewer may think for longer than other answers take.
  const timeoutMs = given.has("timeoutMs") ? config.timeoutMs : Math.max(config.timeoutMs, config.reviewTimeoutMs);
  const client = connect({ ...config, timeoutMs, fetch: patientFetch });
  return (await client.reviews.run(bytes, { query }).asResponse()).text();
}

function isUnknownAgent(error: unknown): boolean {
  return error instanceof AppError && error.code === "not_found" && error.details["what"] === "reviewer";
}

/** As the command that this one stands in for says it: those who ask look for it. */
export function fellBack(agent: string): string {
  return `! agent "${printable(agent)}" not found. Falling back to default agent`;
}

const SAID: Readonly<Record<string, string>> = {
  EmptyInput: "You must provide a message or a command",
  SessionNotFound: "Session not found",
  SessionBusy: "Session is busy",
};

function answerIn(stream: string): string {
  for (const line of stream.split("\n")) {
    const message = line === "" ? undefined : JSON.parse(line);
    if (message?.type === "text") return message.part.text;
  }
  throw new AppError("unreachable", { url: "POST /v1/host/assay/afp/run", reason: "it answered without a review" });
}
