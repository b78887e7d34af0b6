import { Ajv2020 } from "ajv/dist/2020.js";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Judgment } from "../../../src/protocol/judgments/judgment-file.ts";
import { schemaDocument } from "../../../src/protocol/published-schemas.ts";
import type { DebugBundle } from "../../../src/protocol/runs/bundle-api.ts";
import { HTTP_STORES } from "../../../src/testing/both-stores.ts";
import { Member } from "../../../src/testing/inbox-client.ts";
import { JudgmentHost } from "../../../src/testing/judgment-files.ts";
import { expectRebuilt } from "../../../src/testing/rebuilt.ts";
import { SidecarClient, sidecar } from "../../../src/testing/sidecar-client.ts";
import { tapeText } from "../../../src/testing/tape-texts.ts";

const rating = (value: number, more: object = {}) => ({ signal: { kind: "rating", rating: value }, ...more });
const isProtocolAnnotation = new Ajv2020({ strict: false, validateFormats: false }).compile(
  schemaDocument("annotation"),
);

interface Counted {
  readonly runId: string;
  readonly rating: number;
}

/** As docs/feedback.md says: the mean over rated runs of the mean rating of each. */
function meanOf(ratings: readonly Counted[]): number {
  const means = [...new Set(ratings.map(({ runId }) => runId))].map((runId) => {
    const own = ratings.filter((one) => one.runId === runId);
    return own.reduce((sum, one) => sum + one.rating, 0) / own.length;
  });
  return means.reduce((sum, mean) => sum + mean, 0) / means.length;
}

describe.each(HTTP_STORES)("what is counted of judgments on %s", (_, open) => {
  let here: JudgmentHost;
  let files: SidecarClient;
  let robot: Member;
  let vera: Member;
  let agents = 0;

  beforeAll(async () => {
    here = await JudgmentHost.open(open);
    files = new SidecarClient(here.host);
    robot = await Member.join(here.host, "robot", { kind: "agent" });
    vera = await Member.join(here.host, "vera");
  });
  afterAll(() => here.close());

  /** An agent of its own, so that its figures are those of one test. */
  const newAgent = () => `agent-${++agents}`;
  const endedOf = (agentId: string) => here.ended("owner", { metadata: { agentId } });
  const totalOf = async (agentId: string, more = "") => (await here.summary(`?agentId=${agentId}${more}`)).total;
  const bundleOf = async (runId: string): Promise<DebugBundle> =>
    (await here.host.ask("GET", `/v1/runs/${runId}/debug-bundle`)).json();
  const eventsOf = async (runId: string): Promise<{ eventId: string; nodeId?: string }[]> =>
    (await here.host.ask("GET", `/v1/runs/${runId}/events`, { headers: { accept: "application/json" } })).json().events;

  const ofExport = (judgments: readonly Judgment[]): Counted[] =>
    judgments
      .filter(({ state, actorKind, muted }) => state === "live" && actorKind === "person" && muted !== true)
      .flatMap(({ signal, target }) =>
        signal.kind === "rating" ? [{ runId: target.runId, rating: signal.rating ?? 0 }] : [],
      );

  const ofBundle = ({ annotations, annotationStates = {} }: DebugBundle): Counted[] =>
    annotations
      .filter(({ annotationId }) => {
        const { state, actorKind, muted } = annotationStates[annotationId] ?? {};
        return state === "live" && actorKind === "person" && muted !== true;
      })
      .flatMap(({ signal, target }) =>
        signal.kind === "rating" ? [{ runId: target.runId, rating: signal.rating ?? 0 }] : [],
      );

  /** Two runs with ratings of every fate. */
  async function ratedRuns(agentId: string): Promise<string[]> {
    const runs = [await endedOf(agentId), await endedOf(agentId)];
    const [one = "", two = ""] = runs;
    const replaced = await here.judge(one, rating(1));
    await here.judge(one, rating(5, { supersedes: replaced }));
    await here.retract(await here.judge(one, rating(1)));
    await here.judge(one, rating(2), { headers: vera.headers });
    await here.judge(one, rating(1), { headers: robot.headers });
    const [, event] = await eventsOf(two);
    await here.judge(two, rating(4));
    await here.judge(two, rating(1, { target: { eventId: event?.eventId } }));
    await files.push(two, sidecar({ id: "flake", kind: "mute", event_id: 1 }));
    return runs;
  }

  test("are marked in an export, so that a reader's mean is that of the summary", async () => {
    const agentId = newAgent();
    await ratedRuns(agentId);
    const judgments = await here.judgments(`?agentId=${agentId}`);
    const { ratings, ratedRuns: rated } = await totalOf(agentId);
    expect({ mean: ratings.mean, count: ratings.count, rated }).toEqual({ mean: 3.75, count: 3, rated: 2 });
    expect(meanOf(ofExport(judgments))).toBe(ratings.mean);
    expect(ofExport(judgments)).toHaveLength(ratings.count);
    expect(judgments.filter(({ muted }) => muted === true)).toHaveLength(1);
  });

  test("are marked in the bundle of a run next to the protocol's objects, which stay as they are", async () => {
    const agentId = newAgent();
    const runs = await ratedRuns(agentId);
    const bundles = await Promise.all(runs.map(bundleOf));
    for (const { annotations, annotationStates = {} } of bundles) {
      expect(Object.keys(annotationStates)).toEqual(annotations.map(({ annotationId }) => annotationId));
      for (const annotation of annotations) expect(isProtocolAnnotation(annotation)).toBe(true);
    }
    expect(
      Object.values(bundles[0]?.annotationStates ?? {})
        .map(({ state }) => state)
        .sort(),
    ).toEqual(["live", "live", "live", "retracted", "superseded"]);
    const { ratings } = await totalOf(agentId);
    expect(meanOf(bundles.flatMap(ofBundle))).toBe(ratings.mean);
  });

  test("come back from another host as they were, with their marks", async () => {
    const agentId = newAgent();
    await ratedRuns(agentId);
    const there = await JudgmentHost.open(open);
    try {
      const lines = await here.export(`?agentId=${agentId}`);
      expect(await there.importFile(lines)).toMatchObject({ refused: [], imported: lines.length - 2 });
      const again = await there.judgments(`?agentId=${agentId}`);
      expect(again.map(({ importedBy: _by, ...rest }) => rest)).toEqual(
        lines.slice(1, -1).map((line) => JSON.parse(line)),
      );
      expect(await here.importFile(lines)).toMatchObject({ unchanged: lines.length - 2, refused: [] });
    } finally {
      await there.close();
    }
  });

  test("are known by their history in a file that has no states", async () => {
    const runId = await here.ended();
    const first = await here.judge(runId, rating(1));
    await here.judge(runId, rating(5, { supersedes: first }));
    await here.retract(await here.judge(runId, rating(2)));
    const there = await JudgmentHost.open(open);
    try {
      const lines = await here.export(`?runId=${runId}`);
      const stateless = lines.map((line) => JSON.stringify({ ...JSON.parse(line), state: undefined }));
      expect(await there.importFile(stateless)).toMatchObject({ imported: 3, refused: [] });
      const states = (await there.judgments(`?runId=${runId}`)).map(({ state }) => state);
      expect(states).toEqual(["superseded", "live", "retracted"]);
    } finally {
      await there.close();
    }
  });

  describe("because a sidecar mutes their event", () => {
    test("are left out of every figure, also by node and by day, until the mute is replaced", async () => {
      const agentId = newAgent();
      const runId = await endedOf(agentId);
      await here.judge(runId, rating(4));
      const rows = [
        { id: "bad", kind: "incorrect", event_id: 1 },
        { id: "good", kind: "correct", event_id: 2 },
      ];
      await files.push(runId, sidecar(...rows));
      const before = await totalOf(agentId);
      expect(before).toMatchObject({ annotations: 3, labels: { pass: 1, fail: 1 } });

      const mute = { id: "hush", kind: "mute", event_id: 1, evidence: "a known flake" };
      await files.push(runId, sidecar(...rows, mute));
      const muted = await totalOf(agentId);
      expect(muted).toMatchObject({ annotations: 3, labels: { pass: 1, mute: 1 }, ratings: { mean: 4 }, accuracy: 1 });
      expect(muted.labels).not.toHaveProperty("fail");
      for (const groupBy of ["workflow", "agent", "day"]) {
        const { groups } = await here.summary(`?agentId=${agentId}&groupBy=${groupBy}`);
        expect(groups).toHaveLength(1);
        expect(groups[0].labels, groupBy).toEqual(muted.labels);
        expect(groups[0].runs, groupBy).toBe(1);
      }
      const { groups: nodes } = await here.summary(`?agentId=${agentId}&groupBy=node`);
      for (const { labels } of nodes) expect(labels).not.toHaveProperty("fail");

      const over = { id: "heard", kind: "note", event_id: 1, metadata: { supersedes: "hush" } };
      await files.push(runId, sidecar(...rows, mute, over));
      expect((await totalOf(agentId)).labels).toEqual({ pass: 1, fail: 1, note: 1 });
      await expectRebuilt(here.host.store, runId);
    });

    test("are left out also when they were made by others, on the server and after the mute, and count again when it is retracted", async () => {
      const agentId = newAgent();
      const runId = await endedOf(agentId);
      const { changes } = await files.push(runId, sidecar({ id: "hush", kind: "mute", event_id: 1 }));
      const [, event] = await eventsOf(runId);
      await here.judge(runId, rating(1, { target: { eventId: event?.eventId } }), { headers: vera.headers });
      expect((await totalOf(agentId)).ratings).toMatchObject({ count: 0, mean: null });
      await here.retract(changes[0]?.annotationId ?? "");
      expect((await totalOf(agentId)).ratings).toMatchObject({ count: 1, mean: 1 });
    });

    test("are left out in the whole span of the mute, on a tape too, and judgments of the run as a whole are not", async () => {
      const agentId = newAgent();
      const made = await here.host.ask("POST", "/v1/host/assay/tapes", {
        json: { tape: tapeText({ greeting: agentId }), agentId },
      });
      const { runId } = made.json();
      await here.judge(runId, rating(5));
      const span = { start_event_id: 2, end_event_id: 3 };
      await files.push(
        runId,
        sidecar(
          { id: "a", kind: "incorrect", event_id: 0 },
          { id: "b", kind: "incorrect", event_id: 2 },
          { id: "c", kind: "incorrect", event_id: 3 },
          { id: "hush", kind: "mute", event_id: 2, span },
        ),
      );
      expect(await totalOf(agentId)).toMatchObject({ labels: { fail: 1, mute: 1 }, ratings: { count: 1, mean: 5 } });
    });

    test("count all the same when an agent mutes the judgment of a person", async () => {
      const agentId = newAgent();
      const runId = await endedOf(agentId);
      const [, event] = await eventsOf(runId);
      const target = { eventId: event?.eventId };
      await here.judge(runId, rating(2, { target }));
      await here.judge(runId, rating(1, { target }), { headers: robot.headers });
      await files.push(runId, sidecar({ id: "hush", kind: "mute", event_id: 1 }), {}, robot.headers);
      const total = await totalOf(agentId);
      expect(total.ratings).toMatchObject({ count: 1, mean: 2 });
      expect(total.agents.ratings).toMatchObject({ count: 0, mean: null });
    });
  });

  describe("rows of one push", () => {
    const notes = (list: readonly { note?: string }[]) => list.map(({ note }) => note);
    const numbered = (count: number, more: object = {}) =>
      Array.from({ length: count }, (_, i) => ({ id: i % 3 === 0 ? "" : `r${i}`, evidence: `n${i}`, ...more }));

    test.each([
      ["without a time", 40, {}],
      ["of one time", 40, { timestamp: "2026-03-02T09:30:00Z" }],
      ["of more than one commit", 300, { timestamp: "2026-03-02T09:30:00Z" }],
    ])("are listed and exported in the order of the file: rows %s", async (_what, count, more) => {
      const runId = await here.ended();
      const rows = numbered(count, more);
      await files.push(runId, sidecar(...rows));
      const expected = rows.map(({ evidence }) => evidence);
      const listed = await here.host.store.listAnnotations({ tenant: "t1" }, { runId, order: "oldest", limit: 1000 });
      expect(notes(listed)).toEqual(expected);
      const newest = await here.host.store.listAnnotations({ tenant: "t1" }, { runId, order: "newest", limit: 1000 });
      expect(notes(newest)).toEqual([...expected].reverse());
      const ofRun = (await here.host.ask("GET", `/v1/runs/${runId}/annotations`)).json();
      expect(notes(ofRun.annotations)).toEqual(expected);
      expect(notes(await here.judgments(`?runId=${runId}`))).toEqual(expected);
    });

    test("are listed by their times where these differ", async () => {
      const runId = await here.ended();
      const at = (second: number) => `2026-03-02T09:30:0${second}Z`;
      await files.push(
        runId,
        sidecar({ evidence: "later", timestamp: at(2) }, { evidence: "earlier", timestamp: at(1) }),
      );
      const { annotations } = (await here.host.ask("GET", `/v1/runs/${runId}/annotations`)).json();
      expect(notes(annotations)).toEqual(["earlier", "later"]);
    });
  });
});
