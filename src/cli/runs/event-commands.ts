import { type AnyCommand, CLIENT, command, type Flags } from "../program/command.ts";

export const EVENT_SEND_FLAGS = {
  eventId: {
    type: "text",
    value: "ID",
    summary: "The event's own id, required: sent again with the same id and correlation, it counts once.",
  },
  correlation: {
    type: "list",
    value: "NAME=VALUE",
    summary:
      "What it belongs to, required unless --correlation-id is given; the value is JSON where it parses as JSON, else text. " +
      "May be repeated.",
  },
  correlationId: {
    type: "text",
    value: "ID",
    summary: "The correlationId of the wait, as `assay run show --json` prints it, in place of --correlation.",
  },
  payload: { type: "text", value: "JSON|@FILE", summary: "What it says; an empty object unless given." },
  hold: { type: "integer", value: "SECONDS", min: 1, summary: "Keep it this long when nothing waits for it yet." },
} as const satisfies Flags;

export const eventSend = command({
  name: "event send",
  summary: "Hand an event to every run that waits for it.",
  about:
    "A run waits for events of one type with one correlation. Prints the runs that got it; with --hold, an event that " +
    "nothing waits for yet goes to the first run that does.",
  args: [{ name: "TYPE", summary: "The type of the event, as the workflow names it." }],
  flags: EVENT_SEND_FLAGS,
  settings: CLIENT,
  examples: [
    "assay event send payment.settled --event-id pay-7 --correlation orderId=7",
    "assay event send payment.settled --event-id pay-7 --correlation orderId=7 --payload @payment.json --hold 3600",
  ],
  exits: { 0: "the event was delivered, or is held", 2: "nothing waits for it, or what waits cannot take it" },
  load: async () => (await import("./event-send.ts")).eventSend,
});

export const EVENT_COMMANDS: readonly AnyCommand[] = [eventSend];
