import type { PromotionPolicy } from "../../protocol/promotion-policy.ts";
import { connect } from "../client.ts";
import type { Call } from "../command.ts";
import { readText } from "../json-argument.ts";
import { printable } from "../printable.ts";

export async function policySet({ args: [subject = "", file = ""], json, config, io }: Call): Promise<undefined> {
  const path = `/v1/host/assay/promotion-policies/${encodeURIComponent(subject)}`;
  const policy = await connect(config).json<PromotionPolicy>(path, { method: "PUT", body: readText(file, file) });
  if (json) io.out(JSON.stringify(policy));
  else io.out(printable(`The policy of ${policy.subject} is set (revision ${policy.revision}).`));
  return undefined;
}
