import { type AnyCommand, type Arg, choice, command, integer, list, text } from "../program/command.ts";

const webhooks = () => import("./webhooks.ts");

const WEBHOOK: Arg = { name: "WEBHOOK", summary: "The id of a webhook (hook-…), as `webhook list` prints it." };

export const WEBHOOK_CREATE_FLAGS = {
  event: list(
    "TYPE",
    "An event type, a family such as approval.*, or * for all (in quotes). Required; may be repeated.",
  ),
  tag: list("TAG", "Only events of runs with this tag. May be repeated; a run then needs all of them."),
  secretFile: text(
    "FILE",
    "A file with the signing secret, 16 or more characters; - reads standard input. One is made unless given.",
  ),
};

export const WEBHOOK_DELIVERIES_FLAGS = {
  state: choice(
    "STATE",
    ["pending", "delivered", "dead"],
    "Only deliveries in this state: pending, delivered or dead.",
  ),
  limit: integer("N", 1, "How many; 20 unless given."),
};

export const WEBHOOK_REDELIVER_FLAGS = {
  delivery: text("ID", "One dead delivery; all dead ones of the webhook unless given."),
};

export const WEBHOOK_COMMANDS: readonly AnyCommand[] = [
  command({
    name: "webhook create",
    summary: "Create a webhook: signed events are posted to a URL. A secret that is made is shown once.",
    args: [
      {
        name: "URL",
        summary: "The address that events are posted to: https, and public unless the host allows private addresses.",
      },
    ],
    flags: WEBHOOK_CREATE_FLAGS,
    examples: [
      "assay webhook create https://hooks.example.com/assay --event run.completed --event run.failed",
      "assay webhook create https://hooks.example.com/assay --event 'approval.*' --tag production --secret-file secret.txt",
    ],
    load: async () => (await webhooks()).webhookCreate,
  }),
  command({
    name: "webhook list",
    summary: "List webhooks with their states and failures.",
    examples: ["assay webhook list"],
    load: async () => (await webhooks()).webhookList,
  }),
  command({
    name: "webhook delete",
    summary: "Delete webhooks and their pending deliveries.",
    args: [{ ...WEBHOOK, many: true }],
    examples: ["assay webhook delete hook-01k4…"],
    load: async () => (await webhooks()).webhookDelete,
  }),
  command({
    name: "webhook deliveries",
    summary: "List the deliveries of a webhook, newest first.",
    args: [WEBHOOK],
    flags: WEBHOOK_DELIVERIES_FLAGS,
    examples: ["assay webhook deliveries hook-01k4…", "assay webhook deliveries hook-01k4… --state dead"],
    load: async () => (await webhooks()).webhookDeliveries,
  }),
  command({
    name: "webhook redeliver",
    summary: "Send dead deliveries again.",
    args: [WEBHOOK],
    flags: WEBHOOK_REDELIVER_FLAGS,
    examples: ["assay webhook redeliver hook-01k4…", "assay webhook redeliver hook-01k4… --delivery dlv-01k4…"],
    load: async () => (await webhooks()).webhookRedeliver,
  }),
  command({
    name: "webhook enable",
    summary: "Resume deliveries to a webhook that was disabled, or that waits after failures.",
    args: [WEBHOOK],
    examples: ["assay webhook enable hook-01k4…"],
    load: async () => (await webhooks()).webhookEnable,
  }),
  command({
    name: "webhook test",
    summary: "Send a signed test delivery now, and show the answer.",
    args: [WEBHOOK],
    examples: ["assay webhook test hook-01k4…"],
    exits: { 0: "the receiver accepted it", 1: "it did not" },
    load: async () => (await webhooks()).webhookTest,
  }),
];
