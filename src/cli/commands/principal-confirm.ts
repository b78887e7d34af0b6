import type { Call } from "../command.ts";
import { withKeys } from "../keys-of.ts";
import { printable } from "../printable.ts";
import type { PRINCIPAL_CONFIRM_FLAGS } from "../specs/role.ts";

export async function principalConfirm(call: Call<typeof PRINCIPAL_CONFIRM_FLAGS>): Promise<undefined> {
  const { args, json, io } = call;
  const [principal = ""] = args;
  const answer = await withKeys(call, (keys) => keys.confirmPrincipal(principal));
  const { makers, confirmedKeys } = answer;
  const text =
    confirmedKeys.length === 0
      ? `${principal}: nothing to confirm`
      : `${principal}: ${confirmedKeys.length} keys count beside ${makers.join(", ")}`;
  io.out(json ? JSON.stringify(answer) : printable(text));
}
