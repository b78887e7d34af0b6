import { defined } from "../../protocol/defined.ts";
import { unusableInput } from "../../protocol/errors.ts";
import type { SendExternalEventRequest } from "../../protocol/gates/api.ts";
import { connect } from "../client/client.ts";
import { assignments, jsonValue } from "../files/arguments.ts";
import { printable } from "../output/printable.ts";
import type { Call, FlagValues } from "../program/command.ts";
import type { EVENT_SEND_FLAGS } from "./commands.ts";

type Flags = FlagValues<typeof EVENT_SEND_FLAGS>;

export async function eventSend(call: Call<typeof EVENT_SEND_FLAGS>): Promise<undefined> {
  const { io, json, config } = call;
  const answer = await connect(config).gates.sendEvent(requestOf(call));
  if (json) io.out(JSON.stringify(answer));
  else if ("held" in answer) io.out(`held until ${printable(answer.expiresAt)}`);
  else for (const { runId, nodeId, status } of answer.delivered) io.out(printable(`${runId} ${nodeId} ${status}`));
}

function requestOf({ args: [eventType = ""], flags }: Call<typeof EVENT_SEND_FLAGS>): SendExternalEventRequest {
  const { eventId, payload, hold } = flags;
  if (eventId === undefined) {
    throw unusableInput("event send needs --event-id ID, so that the event counts once however often it is sent");
  }
  return {
    eventType,
    eventId,
    ...correlationOf(flags),
    payload: payload === undefined ? {} : jsonValue(payload, "--payload"),
    ...defined({ holdSeconds: hold }),
  };
}

function correlationOf({ correlation, correlationId }: Flags) {
  if (correlation.length > 0 && correlationId !== undefined) {
    throw unusableInput("event send needs either --correlation or --correlation-id, and not both");
  }
  if (correlationId !== undefined) return { correlationId };
  if (correlation.length > 0) return { correlation: { ...assignments(correlation, "--correlation") } };
  throw unusableInput("event send needs --correlation NAME=VALUE, which says what the event belongs to");
}
