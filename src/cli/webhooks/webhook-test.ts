import type { TestWebhookResponse } from "../../protocol/webhooks/api.ts";
import { connect } from "../client/client.ts";
import { printable } from "../output/printable.ts";
import type { Call } from "../program/command.ts";
import { EXIT } from "../program/exit-codes.ts";

export async function webhookTest({ args, json, config, io }: Call): Promise<number> {
  const path = `/v1/host/assay/webhooks/${encodeURIComponent(args[0] ?? "")}:test`;
  const tried = await connect(config).json<TestWebhookResponse>(path, { method: "POST" });
  const { delivered, status, error } = tried;
  const came = error ?? `the receiver answered ${status}`;
  if (json) io.out(JSON.stringify(tried));
  else io.out(printable(delivered ? `delivered: ${came}` : `not delivered: ${came}`));
  return delivered ? EXIT.fine : EXIT.negative;
}
