import { describe, expect, test } from "vitest";
import { AppError } from "../protocol/errors.ts";
import { EVENTS, type EventType } from "../protocol/events.ts";
import { admittingMode, parseStreamMode } from "./stream-mode.ts";

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
  const admitted = (raw: string, type: string) => admittingMode(parseStreamMode(raw), type);

  /** No updates, but whoever follows values sees what they change: the status of a parent, the votes at a gate. */
  const CHANGES_SNAPSHOT = new Set<EventType>([
    "assay.branch.began",
    ...(["node.started", "assay.child.changed", "assay.child.ended"] as const),
    ...(["assay.vote.recorded", "assay.gate.asked"] as const),
  ]);

  test.each(Object.keys(EVENTS) as EventType[])("%s reaches the modes of its tier", (type) => {
    const { tier } = EVENTS[type];
    expect(admitted("updates", type)).toBe(tier === "updates" ? "updates" : undefined);
    expect(admitted("debug", type)).toBe("debug");
    expect(admitted("messages", type)).toBe(tier === "messages" ? "messages" : undefined);
    const changes = tier === "updates" || CHANGES_SNAPSHOT.has(type);
    expect(admitted("values", type)).toBe(changes ? "values" : undefined);
  });

  test.each(Object.keys(EVENTS).filter((type) => /^assay\.|^approval\.(granted|rejected|overridden)$/.test(type)))(
    "%s is for debug streams, whatever it changes",
    (type) => expect(admitted("updates,messages", type)).toBeUndefined(),
  );

  test("that several modes admit is named by the narrowest", () => {
    expect(admitted("debug,updates", "node.completed")).toBe("updates");
    expect(admitted("debug,updates", "node.started")).toBe("debug");
    expect(admitted("debug,messages", "output.chunk")).toBe("messages");
  });

  test("of a type nobody knows is for debug only", () => {
    expect(admitted("updates,messages", "vendor.thing")).toBeUndefined();
    expect(admitted("debug", "vendor.thing")).toBe("debug");
  });
});
