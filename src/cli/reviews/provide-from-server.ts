import { postHttp } from "../../engine/outbound/call-out.ts";
import { AppError } from "../../protocol/errors.ts";
import { DEFAULT_AGENT } from "../../reviews/reviewer.ts";
import { connect } from "../client/client.ts";

import { EXIT } from "../program/exit-codes.ts";
import { fellBack, type ProvideCall } from "./provide.ts";

/**
 * A turn in a session on a server; the answer is passed on unchanged. A server refuses an unknown agent. `opencode run` lets the default
 * agent answer and says so, and this command does the same.
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
    const message = error instanceof AppError ? MESSAGES[String(error.details["name"])] : undefined;
    if (message === undefined) throw error;
    io.err(`Error: ${message}`);
    return EXIT.negative;
  }
  await io.write(flags.format === "json" ? text : `${answerIn(text)}\n`);
  return EXIT.fine;
}

async function turnOn({ flags, config, given }: ProvideCall, bytes: Uint8Array, agent: string): Promise<string> {
  const query = {
    agent,
    session: flags.session,
    // A named session takes precedence over the last one, as with sessions on this machine.
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

/** The messages of `opencode run`, by the name of the server's error. */
const MESSAGES: Readonly<Record<string, string>> = {
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

/** A `fetch` whose POSTs wait as long as their signal, because the one of Node ends after five minutes without an answer. */
async function patientFetch(url: string, init: RequestInit): Promise<Response> {
  const { method, headers, body, signal } = init;
  if (method !== "POST" || !signal) return fetch(url, init);
  const sent = typeof body === "string" || body instanceof Uint8Array ? body : "";
  const begun = await postHttp({
    address: new URL(url),
    headers: Object.fromEntries(new Headers(headers)),
    body: sent as string | Uint8Array<ArrayBuffer>,
    signal,
  });
  try {
    if ("error" in begun) throw begun.error;
    const parts: Buffer[] = [];
    for await (const part of begun.response) parts.push(part as Buffer);
    return new Response(Buffer.concat(parts), { status: begun.response.statusCode ?? 0 });
  } catch (error) {
    // Reports the time-out where there is one; the error of the connection says only that it was closed.
    signal.throwIfAborted();
    throw new TypeError("fetch failed", { cause: error });
  }
}
