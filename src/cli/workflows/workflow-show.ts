import { connect } from "../client/client.ts";
import type { Call } from "../program/command.ts";
import { orNearest, workflowIds } from "../program/nearest-name.ts";

/** The author's own text; what `out` escapes in it leaves its value as it is. */
export async function workflowShow({ args: [workflowId = ""], config, io }: Call): Promise<undefined> {
  const client = connect(config);
  const asked = client.workflows.get(workflowId).asResponse();
  const response = await orNearest(asked, { workflow: { name: workflowId, names: () => workflowIds(client) } });
  const text = await response.text();
  io.out(text.replace(/\n$/, ""));
}
