import { type AnyCommand, type Arg, CLIENT, command, type Flags } from "../program/command.ts";

const WEBHOOK: Arg = { name: "WEBHOOK", summary: "The id of a webhook (hook-…), as `webhook list` prints it." };

export const WEBHOOK_CREATE_FLAGS = {
  event: {
    type: "list",
    value: "TYPE",
    summary: "An event type, a family such as approval.*, or * for all (in quotes). Required; may be repeated.",
  },
  tag: { type: "list", value: "TAG", summary: "Only events of runs with this tag. May be repeated: then all of them." },
  secretFile: {
    type: "text",
    value: "FILE",
    summary: "A file with the signing secret, 16 or more characters; - reads standard input. Else one is made.",
  },
} as const satisfies Flags;

export const webhookCreate = command({
  name: "webhook create",
  summary: "Have events posted to a URL, signed; the secret is shown once.",
  args: [{ name: "URL", summary: "Where events are posted to: https, and public unless the host allows otherwise." }],
  flags: WEBHOOK_CREATE_FLAGS,
  settings: CLIENT,
  examples: [
    "assay webhook create https://hooks.example.com/assay --event run.completed --event run.failed",
    "assay webhook create https://hooks.example.com/assay --event 'approval.*' --tag production --secret-file secret.txt",
  ],
  load: async () => (await import("./webhook-create.ts")).webhookCreate,
});

export const webhookList = command({
  name: "webhook list",
  summary: "List webhooks and how they fare.",
  args: [],
  flags: {},
  settings: CLIENT,
  examples: ["assay webhook list"],
  load: async () => (await import("./webhook-list.ts")).webhookList,
});

export const webhookDelete = command({
  name: "webhook delete",
  summary: "End webhooks; what was not delivered yet is dropped.",
  args: [{ ...WEBHOOK, many: true }],
  flags: {},
  settings: CLIENT,
  examples: ["assay webhook delete hook-01k4…"],
  load: async () => (await import("./webhook-delete.ts")).webhookDelete,
});

export const WEBHOOK_DELIVERIES_FLAGS = {
  state: {
    type: "text",
    value: "STATE",
    choices: ["pending", "delivered", "dead"],
    summary: "Only deliveries in this state: pending, delivered or dead.",
  },
  limit: { type: "integer", value: "N", min: 1, summary: "How many; 20 unless given." },
} as const satisfies Flags;

export const webhookDeliveries = command({
  name: "webhook deliveries",
  summary: "List what was and will be delivered to a webhook, newest first.",
  args: [WEBHOOK],
  flags: WEBHOOK_DELIVERIES_FLAGS,
  settings: CLIENT,
  examples: ["assay webhook deliveries hook-01k4…", "assay webhook deliveries hook-01k4… --state dead"],
  load: async () => (await import("./webhook-deliveries.ts")).webhookDeliveries,
});

export const WEBHOOK_REDELIVER_FLAGS = {
  delivery: { type: "text", value: "ID", summary: "One dead delivery; all of the webhook unless given." },
} as const satisfies Flags;

export const webhookRedeliver = command({
  name: "webhook redeliver",
  summary: "Try dead deliveries anew.",
  args: [WEBHOOK],
  flags: WEBHOOK_REDELIVER_FLAGS,
  settings: CLIENT,
  examples: ["assay webhook redeliver hook-01k4…", "assay webhook redeliver hook-01k4… --delivery dlv-01k4…"],
  load: async () => (await import("./webhook-redeliver.ts")).webhookRedeliver,
});

export const webhookEnable = command({
  name: "webhook enable",
  summary: "Let a webhook that was disabled, or that waits after failures, have deliveries again.",
  args: [WEBHOOK],
  flags: {},
  settings: CLIENT,
  examples: ["assay webhook enable hook-01k4…"],
  load: async () => (await import("./webhook-enable.ts")).webhookEnable,
});

export const webhookTest = command({
  name: "webhook test",
  summary: "Send a signed delivery now, and tell what came of it.",
  args: [WEBHOOK],
  flags: {},
  settings: CLIENT,
  examples: ["assay webhook test hook-01k4…"],
  exits: { 0: "the receiver took it", 1: "it did not" },
  load: async () => (await import("./webhook-test.ts")).webhookTest,
});

export const WEBHOOK_COMMANDS: readonly AnyCommand[] = [
  webhookCreate,
  webhookList,
  webhookDelete,
  webhookDeliveries,
  webhookRedeliver,
  webhookEnable,
  webhookTest,
];
