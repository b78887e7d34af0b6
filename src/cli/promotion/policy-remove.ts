import { connect } from "../client/client.ts";
import { printable } from "../output/printable.ts";
import type { Call } from "../program/command.ts";

export async function policyRemove({ args: [subject = ""], json, config, io }: Call): Promise<undefined> {
  await connect(config).promotion.removePolicy(subject);
  if (json) io.out(JSON.stringify({ removed: subject }));
  else io.out(printable(`The policy of ${subject} is removed.`));
  return undefined;
}
