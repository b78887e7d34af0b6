import { AppError } from "../../protocol/errors.ts";
import type { RegisterWebhookRequest } from "../../protocol/webhooks/api.ts";
import { connect } from "../client/client.ts";
import { readText } from "../files/arguments.ts";
import { formatFields } from "../output/table.ts";
import type { Call, FlagValues } from "../program/command.ts";
import type { WEBHOOK_CREATE_FLAGS } from "./commands.ts";

export async function webhookCreate(call: Call<typeof WEBHOOK_CREATE_FLAGS>): Promise<undefined> {
  const { args, flags, json, config, io } = call;
  const [url = ""] = args;
  const body = requestOf(url, flags);
  const made = await connect(config).webhooks.register(body);
  if (json) {
    io.out(JSON.stringify(made));
    return;
  }
  // Whoever brought a secret knows it, and terminals are remembered.
  const secret = body.secret === undefined ? { Secret: made.secret } : { Fingerprint: made.secretFingerprint };
  io.out(formatFields({ Webhook: made.webhookId, ...secret }, io.paint));
  if (body.secret === undefined) io.err("The secret is not shown again. Receivers check signatures with it.");
}

function requestOf(url: string, flags: FlagValues<typeof WEBHOOK_CREATE_FLAGS>): RegisterWebhookRequest {
  const { event: events, tag: tags, secretFile } = flags;
  if (events.length === 0) {
    const problem = "--event is missing; name event types, a family such as 'approval.*', or '*' for all";
    throw new AppError("unusable_input", { problem });
  }
  const secret = secretFile === undefined ? {} : { secret: readText(secretFile, "--secret-file").trim() };
  return { url, events: [...events], ...(tags.length === 0 ? {} : { tags: [...tags] }), ...secret };
}
