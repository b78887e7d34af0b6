import { expect, test } from "vitest";
import type { Store } from "../../store/port/store.ts";
import { sendList } from "./send-list.ts";

const context = () => ({
  host: { store: {} as Store },
  stream: () => "hijacked" as const,
});

test("many pages leave room for other work between them", async () => {
  let made = 0;
  async function* items() {
    for (; made < 50; made++) yield [String(made)];
  }
  const answer = sendList(context(), { before: "[", items: items(), after: "]" });
  await new Promise(setImmediate);
  expect(made).toBeLessThan(10);
  expect(await answer).toMatchObject({ raw: `[${Array.from({ length: 50 }, (_, i) => i).join()}]` });
});

test("of answers that are made at the same time, one page is made at a time", async () => {
  const one = context();
  let making = 0;
  let most = 0;
  async function* items() {
    yield ["0"];
    for (let i = 1; i < 5; i++) {
      making += 1;
      most = Math.max(most, making);
      await new Promise(setImmediate);
      making -= 1;
      yield [String(i)];
    }
  }
  const answers = Array.from({ length: 5 }, () => sendList(one, { before: "[", items: items(), after: "]" }));
  for (const answer of await Promise.all(answers)) expect(answer).toMatchObject({ raw: "[0,1,2,3,4]" });
  expect(most).toBe(1);
});

test("an answer that fails holds up no other", async () => {
  const one = context();
  async function* broken() {
    yield ["0"];
    throw new Error("no more");
  }
  async function* whole() {
    yield ["0"];
    yield ["1"];
  }
  const failing = sendList(one, { before: "[", items: broken(), after: "]" });
  const going = sendList(one, { before: "[", items: whole(), after: "]" });
  await expect(failing).rejects.toThrow("no more");
  expect(await going).toMatchObject({ raw: "[0,1]" });
});
