import { withBackend } from "../evals/choose-backend.ts";
import type { Call } from "../program/command.ts";
import { EXIT } from "../program/exit-codes.ts";
import { certificateText } from "./certificate-text.ts";

export async function judgeShow(call: Call): Promise<number> {
  const { args, json, io } = call;
  const view = await withBackend(call, async ({ client }) => client.judges.certificate(args[0] ?? ""), { reads: true });
  io.out(json ? JSON.stringify(view) : certificateText(view, io.paint));
  return view.valid ? EXIT.fine : EXIT.negative;
}
