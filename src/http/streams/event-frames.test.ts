import { describe, expect, test } from "vitest";
import { AppError } from "../../protocol/errors.ts";
import { EVENTS, type EventType } from "../../protocol/events.ts";
import { isAdmitted, parseStreamMode } from "./event-frames.ts";

describe("a stream mode", () => {
  test.each([
    [undefined, ["updates"]],
    ["values", ["values"]],
    ["debug", ["debug"]],
    ["debug,updates", ["updates", "debug"]],
    ["messages, updates", ["updates", "messages"]],
    ["updates,messages,debug", ["updates", "messages", "debug"]],
  ])("%s is read", (raw, names) => {
    expect(parseStreamMode(raw).names).toEqual(names);
  });

  test.each([
    "",
    ",",
    "updates,",
    "all",
    "Updates",
    "updates,updates",
    "values,updates",
    "values,values",
    "constructor",
  ])("%j is refused with the modes there are", (raw) => {
    let refusal: unknown;
    try {
      parseStreamMode(raw);
    } catch (error) {
      refusal = error;
    }
    expect(refusal).toBeInstanceOf(AppError);
    expect(refusal).toMatchObject({
      code: "unsupported_stream_mode",
      details: { mode: raw, supported: ["values", "updates", "messages", "debug"] },
    });
  });

  test("has one key for the same modes in any order", () => {
    expect(parseStreamMode("debug,messages").key).toBe(parseStreamMode("messages,debug").key);
  });
});

describe("an event", () => {
  const admitted = (raw: string, type: string) => isAdmitted(parseStreamMode(raw), type);

  /** No updates, but whoever follows values sees what they change: the status of a parent, the votes at a gate. */
  const CHANGES_SNAPSHOT = new Set<EventType>([
    "assay.branch.began",
    ...(["node.started", "assay.child.changed", "assay.child.ended"] as const),
    ...(["assay.vote.recorded", "assay.gate.asked"] as const),
  ]);

  test.each(Object.keys(EVENTS) as EventType[])("%s reaches the modes of its tier", (type) => {
    const { tier } = EVENTS[type];
    expect(admitted("updates", type)).toBe(tier === "updates");
    expect(admitted("debug", type)).toBe(true);
    expect(admitted("messages", type)).toBe(tier === "messages");
    const changes = tier === "updates" || CHANGES_SNAPSHOT.has(type);
    expect(admitted("values", type)).toBe(changes);
  });

  test.each(Object.keys(EVENTS).filter((type) => /^assay\.|^approval\.(granted|rejected|overridden)$/.test(type)))(
    "%s is for debug streams, whatever it changes",
    (type) => expect(admitted("updates,messages", type)).toBe(false),
  );

  test("is admitted by several modes when one of them admits it", () => {
    expect(admitted("updates,messages", "output.chunk")).toBe(true);
    expect(admitted("updates,messages", "node.completed")).toBe(true);
    expect(admitted("updates,messages", "node.started")).toBe(false);
  });

  test("of a type nobody knows is for debug only", () => {
    expect(admitted("updates,messages", "vendor.thing")).toBe(false);
    expect(admitted("debug", "vendor.thing")).toBe(true);
  });
});
