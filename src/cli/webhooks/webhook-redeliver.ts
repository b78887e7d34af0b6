import { connect } from "../client/client.ts";
import type { Call } from "../program/command.ts";
import type { WEBHOOK_REDELIVER_FLAGS } from "./commands.ts";

export async function webhookRedeliver(call: Call<typeof WEBHOOK_REDELIVER_FLAGS>): Promise<undefined> {
  const { args, flags, json, config, io } = call;
  const done = await connect(config).webhooks.redeliver(args[0] ?? "", { deliveryId: flags.delivery });
  const { redelivered } = done;
  if (json) io.out(JSON.stringify(done));
  else io.out(redelivered === 1 ? "1 delivery is tried anew" : `${redelivered} deliveries are tried anew`);
}
