import type { Call } from "../command.ts";
import { withHome } from "../evals/choose-home.ts";
import { EXIT } from "../exit-codes.ts";
import { certificateText } from "../judges/certificate-text.ts";

export async function judgeShow(call: Call): Promise<number> {
  const { args, json, io } = call;
  const view = await withHome(call, (home) => home.judge.certificate(args[0] ?? ""), { reads: true });
  io.out(json ? JSON.stringify(view) : certificateText(view, io.paint));
  return view.valid ? EXIT.fine : EXIT.negative;
}
