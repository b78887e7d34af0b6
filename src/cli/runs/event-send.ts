import { AppError } from "../../protocol/errors.ts";
import type { SendExternalEventRequest } from "../../protocol/gates/external-event-api.ts";
import { connect } from "../client/client.ts";
import { assignments, jsonValue } from "../files/arguments.ts";
import { printable } from "../output/printable.ts";
import type { Call } from "../program/command.ts";
import { EXIT } from "../program/exit-codes.ts";
import type { EVENT_SEND_FLAGS } from "./event-commands.ts";

export async function eventSend(call: Call<typeof EVENT_SEND_FLAGS>): Promise<number> {
  const { io, json, config } = call;
  const body = requestOf(call);
  const answer = await connect(config).gates.sendEvent(body);
  if (json) io.out(JSON.stringify(answer));
  else if ("held" in answer) io.out(`held until ${printable(answer.expiresAt)}`);
  else for (const { runId, nodeId, status } of answer.delivered) io.out(printable(`${runId} ${nodeId} ${status}`));
  return EXIT.fine;
}

function requestOf({ args: [eventType = ""], flags }: Call<typeof EVENT_SEND_FLAGS>): SendExternalEventRequest {
  const { eventId, hold } = flags;
  if (eventId === undefined) throw missing("--event-id ID, so that the event counts once however often it is sent");
  return {
    eventType,
    eventId,
    ...correlationOf(flags.correlation, flags.correlationId),
    payload: flags.payload === undefined ? {} : jsonValue(flags.payload, "--payload"),
    ...(hold === undefined ? {} : { holdSeconds: hold }),
  };
}

function correlationOf(correlation: readonly string[], correlationId: string | undefined) {
  if (correlationId === undefined) {
    if (correlation.length === 0) throw missing("--correlation NAME=VALUE, which says what the event belongs to");
    return { correlation: { ...assignments(correlation, "--correlation") } };
  }
  if (correlation.length > 0) throw missing("either --correlation or --correlation-id, and not both");
  return { correlationId };
}

function missing(what: string): AppError {
  return new AppError("unusable_input", { problem: `event send needs ${what}` });
}
