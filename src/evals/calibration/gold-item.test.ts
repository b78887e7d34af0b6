import { expect, test } from "vitest";
import { GoldRoom, goldItem } from "./gold-item.ts";

test("outputs of a calibration are bounded together", () => {
  const room = new GoldRoom(1_000);
  const item = (output: string) =>
    goldItem({ taskId: "a", rubric: [], bar: 1, trial: 1, input: "x".repeat(5_000), output, toolResults: [] });
  room.take(item("x".repeat(400)));
  room.take(item("y".repeat(400)));
  expect(() => room.take(item("z".repeat(400)))).toThrow("characters together; name fewer runs");
});
