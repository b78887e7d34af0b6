import { connect } from "../client.ts";
import type { Call } from "../command.ts";

/** The author's own text, byte for byte. */
export async function workflowShow({ args: [workflowId = ""], config, io }: Call): Promise<undefined> {
  const text = await connect(config).text(`/v1/workflows/${encodeURIComponent(workflowId)}`);
  io.out(text.replace(/\n$/, ""));
}
