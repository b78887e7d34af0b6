import type { TestWebhookResponse } from "../../protocol/webhook-api.ts";
import { connect } from "../client.ts";
import type { Call } from "../command.ts";
import { EXIT } from "../exit-codes.ts";
import { printable } from "../printable.ts";

export async function webhookTest({ args, json, config, io }: Call): Promise<number> {
  const path = `/v1/host/assay/webhooks/${encodeURIComponent(args[0] ?? "")}:test`;
  const tried = await connect(config).json<TestWebhookResponse>(path, { method: "POST" });
  const { delivered, status, error } = tried;
  const came = error ?? `the receiver answered ${status}`;
  if (json) io.out(JSON.stringify(tried));
  else io.out(printable(delivered ? `delivered: ${came}` : `not delivered: ${came}`));
  return delivered ? EXIT.fine : EXIT.negative;
}
