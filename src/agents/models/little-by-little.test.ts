import { expect, test } from "vitest";
import { agentTask } from "../../testing/agent-task.ts";
import { ModelAgent } from "../../testing/model-agent.ts";

const agent = new ModelAgent();

test("an answer that comes faster than it can be gone through keeps nobody waiting until its end", async () => {
  agent.inTurn({ text: Array.from({ length: 2_000 }, () => "a few words ") });
  let [inTurn, most, all] = [0, 0, 0];
  let others = setImmediate(function turn() {
    inTurn = 0;
    others = setImmediate(turn);
  });
  const chunk = () => {
    all += 1;
    inTurn += 1;
    most = Math.max(most, inTurn);
  };
  await agent.binding().call(agentTask(), { chunk, reasoning: () => {}, usage: () => {} });
  clearImmediate(others);
  expect(all).toBe(2_000);
  expect(most).toBeLessThan(50);
});
