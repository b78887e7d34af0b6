import { describe, expect, test } from "vitest";
import { bench } from "../../testing/annotate-bench.ts";

describe("a row that replaces an earlier one", () => {
  const stated = "--event 1 --kind hypothesis --status active --span 2 --id h1 --evidence cold";

  test("is about the same event and stretch, and says the rest again unless it is said anew", async () => {
    const { annotate, load } = bench();
    await annotate(stated, "--meta", "team=ops");
    expect(await annotate("--supersedes h1 --status verifying")).toMatchObject({ code: 0, err: "" });
    expect(await annotate("--supersedes ann_1_1 --status confirmed --evidence warm")).toMatchObject({
      code: 0,
      err: "",
    });
    const [, second, third] = (await load()).rows;
    expect(second).toMatchObject({
      id: "ann_1_1",
      event_id: 1n,
      kind: "hypothesis",
      evidence: "cold",
      span: { start_event_id: 1n, end_event_id: 2n },
      hypothesis_status: "verifying",
      metadata: new Map([
        ["supersedes", "h1"],
        ["team", "ops"],
      ]),
    });
    expect(third).toMatchObject({ id: "ann_1_2", hypothesis_status: "confirmed", evidence: "warm" });
    expect(third?.metadata.get("supersedes")).toBe("ann_1_1");
  });

  test("may be of any kind", async () => {
    const { annotate, load } = bench();
    await annotate("--event 2 --kind incorrect --id j1");
    await annotate("--supersedes j1 --kind correct");
    expect((await load()).rows[1]).toMatchObject({ event_id: 2n, kind: "correct", id: "ann_2_1" });
  });

  test("comes after the newest one, which is named otherwise", async () => {
    const { annotate, text } = bench();
    await annotate(stated);
    await annotate("--supersedes h1 --status verifying --id h2");
    await annotate("--supersedes h2 --status stale --id h3");
    const before = text();
    const told = await annotate("--supersedes h1 --status verifying --json");
    expect(told.code).toBe(2);
    expect(JSON.parse(told.err)).toMatchObject({
      message: expect.stringContaining("h1 has been replaced already; the newest is h3"),
      details: { problems: ["already_superseded"] },
    });
    expect(text()).toBe(before);
    expect(await annotate("--supersedes h1 --status verifying --force --id h4")).toMatchObject({ code: 0 });
    expect((await annotate("--supersedes h1 --status stale")).err).toContain("the newest is h3, h4");
    expect((await annotate("--supersedes h2 --status stale")).err).toContain("the newest is h3.");
  });

  test.each([
    ["confirmed", "active"],
    ["disproven", "confirmed"],
    ["stale", "verifying"],
    ["verifying", "active"],
  ])("does not take a hypothesis from %s to %s unless somebody insists", async (from, to) => {
    const { annotate } = bench();
    await annotate(`--event 1 --kind hypothesis --status ${from} --id h1`);
    const told = await annotate(`--supersedes h1 --status ${to}`);
    expect(told).toMatchObject({
      code: 2,
      err: expect.stringContaining(`h1 is ${from}, `),
    });
    const forced = await annotate(`--supersedes h1 --status ${to} --force`);
    expect(forced).toMatchObject({ code: 0, err: expect.stringContaining("warning: h1 is ") });
  });

  test("stays on its event", async () => {
    const { annotate, text } = bench();
    await annotate(stated);
    const before = text();
    const told = await annotate("--supersedes h1 --event 2 --status verifying --force");
    expect(told).toMatchObject({ code: 2, err: expect.stringContaining("h1 is about event 1") });
    expect(text()).toBe(before);
    expect((await annotate("--supersedes h1 --event 1 --status verifying")).code).toBe(0);
  });
});
