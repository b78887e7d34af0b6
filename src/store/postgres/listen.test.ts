import { describe, expect, test } from "vitest";
import { changeFrom, notify } from "./listen.ts";

const TOPICS = { work: true, keys: false, webhooks: true, deliveries: false, annotations: true, queues: false };

function payloadOf(runIds: readonly string[] | "all"): string {
  return String(notify("host-1", { runIds, ...TOPICS }).values?.[0]);
}

describe("a notification", () => {
  test("says to others what changed", () => {
    const payload = payloadOf(["run-1", "run-2"]);
    expect(changeFrom(payload, "host-2")).toEqual({ runIds: ["run-1", "run-2"], ...TOPICS });
  });

  test("says nothing to its own sender", () => {
    expect(changeFrom(payloadOf(["run-1"]), "host-1")).toBeUndefined();
  });

  test("names everything when the names would not fit", () => {
    const many = Array.from({ length: 1000 }, (_, n) => `run-${n}`);
    const payload = payloadOf(many);
    expect(Buffer.byteLength(payload)).toBeLessThan(8000);
    expect(changeFrom(payload, "host-2")).toEqual({ runIds: "all", ...TOPICS });
  });

  test("of somebody else on the same channel is ignored", () => {
    for (const payload of ["", "hello", "{}", '{"sender":1}']) expect(changeFrom(payload, "host-2")).toBeUndefined();
  });
});
