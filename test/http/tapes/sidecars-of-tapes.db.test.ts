import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { HTTP_STORES } from "../../../src/testing/both-stores.ts";
import { expectError, type TestHost, testHost } from "../../../src/testing/host.ts";
import { JudgmentClient } from "../../../src/testing/judgment-client.ts";
import { line, SidecarClient } from "../../../src/testing/sidecar-client.ts";

const BIG = "18446744073709551615";

/** Numbers with a gap, one that is there twice, and one that no double holds. */
function tape(script: string): string {
  const record = (seq: number | string, ms: number) =>
    `{"type":"record","seq":${seq},"virtual_time_ms":${ms},"monotonic_ms":${ms},"kind":{"kind":"clock_sleep","duration_ms":${ms}}}`;
  const header = `{"type":"header","version":1,"harn_version":"1.0","script_path":"${script}"}`;
  return [header, record(3, 1), record(7, 2), record(7, script.length), record(BIG, 4), ""].join("\n");
}

describe.each(HTTP_STORES)("the sidecar of a tape on %s", (_, open) => {
  let host: TestHost;
  let judges: JudgmentClient;
  let files: SidecarClient;
  let drop: () => Promise<void>;
  beforeAll(async () => {
    const opened = await open();
    drop = opened.drop;
    host = await testHost({ store: opened.store });
    judges = new JudgmentClient(host);
    files = new SidecarClient(host);
  });
  afterAll(async () => {
    await host.close();
    await drop();
  });

  const imported = async (script: string): Promise<{ runId: string; digest: string }> => {
    const answer = await host.ask("POST", "/v1/host/assay/tapes", { json: { tape: tape(script), name: "run.tape" } });
    expect(answer.statusCode, answer.payload).toBe(201);
    return answer.json();
  };
  const events = async (runId: string) =>
    (await host.ask("GET", `/v1/runs/${runId}/events`, { headers: { accept: "application/json" } })).json().events;

  test("goes round: imported, pushed, judged, pulled, pushed without effect and pulled again the same", async () => {
    const { runId, digest } = await imported("a");
    const header = `{ "type" : "header", "schema_version":1, "tape_content_hash":"${digest}", "mine":true }`;
    const bigRow = `{"type":"annotation","id":"big","event_id":${BIG},"kind":"correct","x":1.50}`;
    const text = `# kept\r\n${header}\r\n${line({ id: "a", event_id: 7, kind: "incorrect" })}\r\n${bigRow}\r\n${line({ id: "b", event_id: 3 })}`;
    const { changes } = await files.push(runId, text);
    const [first, second, again] = (await events(runId)).filter(
      ({ type }: { type: string }) => type === "assay.tape.record",
    );
    const made = (await judges.page({ runId, limit: "200" })).annotations;
    const about = (id: string) =>
      made.find(({ annotationId }) => annotationId === changes.find((one) => one.id === id)?.annotationId)?.target
        .eventId;
    // Of two records with one number, the first.
    expect([about("a"), about("b")]).toEqual([second.eventId, first.eventId]);

    await judges.judge(runId, {
      target: { eventId: again.eventId },
      signal: { kind: "label", label: "fail" },
      note: "the second one",
    });
    await judges.judge(runId, {
      target: { eventId: first.eventId },
      signal: { kind: "correction", correction: "sleep less" },
    });
    await judges.rate(runId, 1, { supersedes: changes[0]?.annotationId });
    await judges.retract(changes[2]?.annotationId ?? "");
    const pulled = await files.pull(runId);
    const lines = pulled.split("\r\n");
    expect(lines.slice(0, 4)).toEqual(["# kept", header, line({ id: "a", event_id: 7, kind: "incorrect" }), bigRow]);
    expect(lines.slice(4, -1).map((one) => JSON.parse(one))).toMatchObject([
      {
        kind: "incorrect",
        event_id: 7,
        evidence: "the second one",
        metadata: { assay: { target: { eventId: again.eventId } } },
      },
      { kind: "alternative", event_id: 3, suggested_fix: "sleep less", metadata: {} },
      { kind: "note", event_id: 3, metadata: { supersedes: "a", assay: { signal: { kind: "rating", rating: 1 } } } },
    ]);
    expect(await files.push(runId, pulled)).toMatchObject({ unchanged: 5, recorded: 0, superseded: 0, onlyHere: 0 });
    expect(await files.pull(runId)).toBe(pulled);
  });

  test("takes what was pulled elsewhere: ratings are ratings again, and about what they were", async () => {
    const { runId } = await imported("elsewhere");
    const [, , , again] = await events(runId);
    await judges.rate(runId, 2, { note: "of all" });
    await judges.judge(runId, { target: { eventId: again.eventId }, signal: { kind: "flag" } });
    const pulled = (await files.pull(runId)).replaceAll(/"tape_content_hash":"\w+"/g, '"tape_content_hash":null');
    const other = await imported("elsewhere2");
    await files.push(other.runId, pulled);
    const there = (await judges.page({ runId: other.runId, order: "oldest" })).annotations;
    expect(there).toMatchObject([
      { signal: { kind: "rating", rating: 2 }, note: "of all" },
      { signal: { kind: "flag" }, flag: { status: "open" } },
    ]);
    expect(there[0]?.target).toEqual({ runId: other.runId });
    // That event is not here, so it is the first one of its number.
    const [, , second] = await events(other.runId);
    expect(there[1]?.target).toEqual({ runId: other.runId, eventId: second.eventId });
  });

  test("is refused when its header is about another tape", async () => {
    const { runId } = await imported("mine");
    const text = `{"type":"header","schema_version":1,"tape_content_hash":"${"0".repeat(64)}"}\n${line({ event_id: 3 })}\n`;
    const answer = await files.try(runId, text);
    expectError(answer, "sidecar_refused");
    expect(answer.json().message).toContain("its header is about the tape with digest 000");
  });

  test("names the tape when there is none yet", async () => {
    const { runId, digest } = await imported("new");
    const header = JSON.parse(await files.pull(runId));
    expect(header).toMatchObject({ tape_path: "run.tape", tape_content_hash: digest });
  });

  test("is refused about events of the run that are no records", async () => {
    const { runId } = await imported("other");
    const text = `{"type":"header","schema_version":1}\n${line({ event_id: 0 })}\n`;
    expectError(await files.try(runId, text), "sidecar_refused");
  });
});
