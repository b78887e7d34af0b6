import { expect, test } from "vitest";
import { agentTask } from "../../testing/agent-task.ts";
import { boundAgent } from "./own-agent.ts";

test("a program of --command inherits the environment of the shell, without Assay's keys", async () => {
  const script =
    "const { A_KEY, CI, ASSAY_KEY = null } = process.env; console.log(JSON.stringify([A_KEY, CI, ASSAY_KEY]))";
  const environment = { PATH: process.env["PATH"], A_KEY: "k", CI: "1", ASSAY_KEY: "secret" };
  const own = { type: "command", program: process.execPath, args: ["-e", script] } as const;
  const { binding } = boundAgent(own, {}, { environment, scrubText: (text) => text });
  const quiet = { chunk: () => {}, reasoning: () => {}, usage: () => {} };
  expect(await binding.call(agentTask(), quiet)).toMatchObject({ type: "completed", output: ["k", "1", null] });
});
