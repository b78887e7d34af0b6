import { connect } from "../client/client.ts";
import { printable } from "../output/printable.ts";
import type { Call } from "../program/command.ts";

export async function policyRemove({ args: [subject = ""], json, config, io }: Call): Promise<undefined> {
  const path = `/v1/host/assay/promotion-policies/${encodeURIComponent(subject)}`;
  await connect(config).text(path, { method: "DELETE" });
  if (json) io.out(JSON.stringify({ removed: subject }));
  else io.out(printable(`The policy of ${subject} is removed.`));
  return undefined;
}
