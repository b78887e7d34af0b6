import { connect } from "../client/client.ts";
import { printable } from "../output/printable.ts";
import type { Call } from "../program/command.ts";
import { EXIT } from "../program/exit-codes.ts";

export async function webhookTest({ args, json, config, io }: Call): Promise<number> {
  const tried = await connect(config).webhooks.test(args[0] ?? "");
  const { delivered, status, error } = tried;
  const came = error ?? `the receiver answered ${status}`;
  if (json) io.out(JSON.stringify(tried));
  else io.out(printable(delivered ? `delivered: ${came}` : `not delivered: ${came}`));
  return delivered ? EXIT.fine : EXIT.negative;
}
