import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { MAX_LINE_ELEMENTS } from "../../../src/engine/tapes/tape-lines.ts";
import { MAX_ROW_CHARACTERS, MAX_SIDECAR_LINES, MAX_SIDECAR_ROWS } from "../../../src/protocol/tapes/api.ts";
import { bearer, expectError, type TestHost, testHost } from "../../../src/testing/host.ts";
import { JudgmentClient } from "../../../src/testing/judgment-client.ts";
import { SidecarClient, sidecar } from "../../../src/testing/sidecar-client.ts";

describe("a push", () => {
  let host: TestHost;
  let files: SidecarClient;
  let runId: string;
  beforeAll(async () => {
    host = await testHost({ settings: { maxRequestBodyBytes: 10_000 } });
    files = new SidecarClient(host);
    runId = await host.newRun();
  });
  afterAll(() => host.close());

  test("of too many rows is refused before anything is looked at, and says how many it may have", async () => {
    const answer = await files.try(runId, sidecar(...Array(MAX_SIDECAR_ROWS + 1).fill({})));
    expectError(answer, "sidecar_refused");
    expect(answer.json().message).toContain("it has 50001 rows, and 50000 are taken at once");
  });

  test("of a row that is too long is refused with its line; one that fits may be longer than other bodies", async () => {
    const answer = await files.try(runId, sidecar({}, { evidence: "x".repeat(MAX_ROW_CHARACTERS) }));
    expectError(answer, "sidecar_refused");
    expect(answer.json().message).toContain("line 3: it is longer than 1000000 characters");
    expect(await files.push(runId, sidecar({ evidence: "x".repeat(20_000) }))).toMatchObject({ recorded: 1 });
  });

  test("of too many lines is refused, also where they are empty; as many as fit are taken", async () => {
    const file = sidecar({ id: "among empty lines" });
    const answer = await files.try(runId, file + "\n".repeat(MAX_SIDECAR_LINES - 1));
    expectError(answer, "sidecar_refused");
    expect(answer.json().message).toContain("it has more than 200000 lines");
    expect(await files.push(runId, file + "\n".repeat(MAX_SIDECAR_LINES - 2))).toMatchObject({ recorded: 1 });
  });

  test("of a line with too many values is refused with its number, unless it is a comment", async () => {
    const zeros = `[${Array(MAX_LINE_ELEMENTS).fill(0).join(",")}]`;
    const dense = sidecar({ id: "dense" }).replace(/}\n$/, `,"unknown":${zeros}}\n`);
    const answer = await files.try(runId, dense);
    const details = expectError(answer, "sidecar_refused");
    const problem = "it has more than 100000 elements";
    expect(details).toMatchObject({ problem: `line 2: ${problem}`, problems: [{ line: 2, problem }], count: 1 });
    const comment = `${sidecar({ id: "commented" })}# ${zeros}\n`;
    expect(await files.push(runId, comment)).toMatchObject({ recorded: 1 });
  });

  test("of a comment that is too long is refused like a row", async () => {
    const answer = await files.try(runId, `${sidecar({})}#${"x".repeat(MAX_ROW_CHARACTERS)}\n`);
    expect(expectError(answer, "sidecar_refused")["problem"]).toBe("line 3: it is longer than 1000000 characters");
  });

  test("under an idempotency key is done once, and answered the same", async () => {
    const other = await host.newRun();
    const headers = { ...bearer("owner"), "idempotency-key": "once" };
    const [first, again] = [
      await files.try(other, sidecar({ id: "a" }), {}, headers),
      await files.try(other, sidecar({ id: "a" }), {}, headers),
    ];
    expect(first?.json()).toMatchObject({ recorded: 1 });
    expect(again?.payload).toBe(first?.payload);
    expect(again?.headers["openwop-idempotent-replay"]).toBe("true");
  });

  test("and a pull go on where a judgment came with a line that is none", async () => {
    const other = await host.newRun();
    const judges = new JudgmentClient(host);
    const { annotationId } = await judges.rate(other, 3);
    const [record] = await host.store.annotationsById("t1", [annotationId]);
    if (record === undefined) throw new Error("it was recorded");
    for (const tapeRow of ["{", '{"type":"annotation",\n"event_id":0,"kind":"note"}', '{"type":"header"}']) {
      const made = { ...record, annotationId: host.host.newId("ann"), tapeRow };
      const audit = [{ occurredAt: "", actor: "ada", action: "test", target: other, details: {} }];
      await host.store.commit({ tenant: "t1", annotations: [{ type: "record", annotation: made }], audit });
    }
    const pulled = await files.pull(other);
    expect(pulled.trimEnd().split("\n")).toHaveLength(5);
    expect(await files.push(other, pulled)).toMatchObject({ unchanged: 4 });
  });
});
