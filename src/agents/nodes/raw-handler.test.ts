import { expect, test } from "vitest";
import { questions } from "../../testing/agent-questions.ts";
import { workbench } from "../../testing/workbench.ts";

const { asked } = questions(workbench());

test("takes no tools from a workflow, least of all with a handler", async () => {
  const handler = "async () => process.exit(1)";
  for (const config of [{ tools: [{ name: "mcp:clock", handler }] }, { tools: ["mcp:clock"] }, { handler }]) {
    await expect(asked({ node: { config } })).rejects.toMatchObject({ code: "validation_error" });
  }
});
