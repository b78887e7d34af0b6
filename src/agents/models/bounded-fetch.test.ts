import { expect, test, vi } from "vitest";
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

test.each(["schema", "json"] as const)(
  "an answer in JSON is not parsed anew with each piece of it (%s)",
  async (format) => {
    const pieces = ['{"list":[', ...Array.from({ length: 2_000 }, () => "[1],"), "1]}"];
    agent.inTurn({ text: pieces });
    let parsed = 0;
    const parse = JSON.parse;
    const spied = vi.spyOn(JSON, "parse").mockImplementation((text: string, reviver) => {
      parsed += text.length;
      return parse(text, reviver);
    });
    const task = { returnSchema: { type: "object", required: ["list"] } };
    const { answer, chunks } = await agent.ask({ format }, task).finally(() => spied.mockRestore());
    expect(answer).toMatchObject({ type: "completed", output: { list: { length: 2_001 } } });
    expect(chunks).toEqual(pieces);
    // The pieces with what is around them on the wire, and the answer as a whole a few times.
    expect(parsed).toBeLessThan(2_000 * 500);
  },
);

test("an answer is kept for no reader but the one that there is", async () => {
  agent.inTurn({ text: Array.from({ length: 2_000 }, () => "a few words ") });
  let copies = 0;
  const tee = ReadableStream.prototype.tee;
  const spied = vi.spyOn(ReadableStream.prototype, "tee").mockImplementation(function (this: ReadableStream) {
    const [first, second] = tee.call(this);
    const counted = new TransformStream({
      transform(part, controller) {
        copies += 1;
        controller.enqueue(part);
      },
    });
    return [first, second.pipeThrough(counted)];
  });
  const { chunks } = await agent.ask().finally(() => spied.mockRestore());
  expect(chunks).toHaveLength(2_000);
  // Another reader would go on by itself after the answer is there.
  for (let turn = 0; turn < 100; turn++) await new Promise((resolve) => setImmediate(resolve));
  expect(copies).toBeLessThan(50);
});
