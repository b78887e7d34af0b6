import { printable } from "../output/printable.ts";
import type { Call } from "../program/command.ts";
import { withKeys } from "./keys-of.ts";
import type { PRINCIPAL_CONFIRM_FLAGS } from "./role-commands.ts";

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
