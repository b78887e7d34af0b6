import { printable } from "../output/printable.ts";
import type { Call } from "../program/command.ts";
import { withIdentity } from "./identity-client.ts";
import type { PRINCIPAL_CONFIRM_FLAGS } from "./role-commands.ts";

export async function principalConfirm(call: Call<typeof PRINCIPAL_CONFIRM_FLAGS>): Promise<undefined> {
  const { args, json, io } = call;
  const [principal = ""] = args;
  const answer = await withIdentity(call, (identity) => identity.confirmPrincipal(principal));
  const { makers, confirmedKeys } = answer;
  const text =
    confirmedKeys.length === 0
      ? `${principal}: nothing to confirm`
      : `${principal}: ${confirmedKeys.length} keys count beside ${makers.join(", ")}`;
  io.out(json ? JSON.stringify(answer) : printable(text));
}
