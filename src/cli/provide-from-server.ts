import { AppError } from "../protocol/errors.ts";
import { DEFAULT_AGENT } from "../reviews/reviewer.ts";
import { connect } from "./client.ts";
import type { ProvideCall } from "./commands/review-provide.ts";
import { EXIT } from "./exit-codes.ts";

const RUN = "/v1/host/assay/afp/run";

/** The same turn in a session that lives on a server; what the server answers is passed on as it is. */
export async function provideFromServer({ flags, config, io }: ProvideCall, bytes: Uint8Array): Promise<number> {
  const query = { agent: flags.agent ?? DEFAULT_AGENT, session: flags.session };
  let text: string;
  try {
    text = await connect(config).text(RUN, {
      method: "POST",
      query,
      body: bytes,
      headers: { accept: "application/x-ndjson" },
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
  throw new AppError("unreachable", { url: RUN, reason: "it answered without a review" });
}
