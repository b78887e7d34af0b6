import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { HTTP_STORES } from "../../../src/testing/both-stores.ts";
import { expectError, type TestHost, testHost, type Who } from "../../../src/testing/host.ts";
import {
  AFP_RUN,
  decided,
  type ReviewRequestParts,
  reviewRequest,
  turned,
} from "../../../src/testing/review-client.ts";

describe.each(HTTP_STORES)("sessions that are gone on with by query on %s", (_, open) => {
  let host: TestHost;
  let drop: () => Promise<void>;

  beforeAll(async () => {
    const opened = await open();
    drop = opened.drop;
    host = await testHost({ store: opened.store });
  });
  afterAll(async () => {
    await host.close();
    await drop();
  });

  const ask = (query: string, content: string, parts: ReviewRequestParts = {}, as: Who = "owner") =>
    host.ask("POST", `${AFP_RUN}?${query}`, { as, json: reviewRequest(content, parts) });

  test("a copy knows what was remarked, goes its own way, and leaves the other where it was", async () => {
    const { sessionID } = turned(await ask("", "fix:a"));
    const decisions = [decided("remark-a", "accepted")];
    const copy = turned(await ask(`session=${sessionID}&fork=true`, "fix:b", { iteration: 2, decisions }));
    expect(copy.sessionID).not.toBe(sessionID);
    expect(copy.response.applied_feedback_ack.items).toEqual([{ id: "remark-a", processing_status: "acknowledged" }]);
    const at = async (session: string) => (await host.ask("GET", `/v1/host/assay/afp/sessions/${session}`)).json();
    expect([(await at(sessionID)).iterations, (await at(copy.sessionID)).iterations]).toEqual([[1], [1, 2]]);
    expect(turned(await ask(`session=${sessionID}&fork=false`, "fix:b", { iteration: 2 })).sessionID).toBe(sessionID);
  });

  test("what is gone on with is the caller's own, the one that was used last", async () => {
    const first = turned(await ask("", "fix:a", {}, "east"));
    const second = turned(await ask("", "fix:a", {}, "east"));
    await ask(`session=${first.sessionID}`, "fix:b", { iteration: 2 }, "east");
    await ask("", "fix:a", {}, "owner");
    const next = turned(await ask("continue=true", "fix:c", { iteration: 3 }, "east"));
    expect(next.sessionID).toBe(first.sessionID);
    const copy = turned(await ask("continue=true&fork=true", "fix:d", { iteration: 4 }, "east"));
    expect([first.sessionID, second.sessionID]).not.toContain(copy.sessionID);
    const named = turned(await ask(`continue=true&session=${second.sessionID}`, "fix:e", { iteration: 2 }, "east"));
    expect(named.sessionID).toBe(second.sessionID);
  });

  test("where there is none to go on with, one begins", async () => {
    expect(turned(await ask("continue=true", "fix:a", {}, "other")).response.iteration).toBe(1);
  });

  test("a copy of nothing, or of what the caller cannot see, is refused", async () => {
    expectError(await ask("fork=true", "fix:a"), "validation_error");
    expectError(await ask("fork=yes&continue=true", "fix:a"), "validation_error");
    const { sessionID } = turned(await ask("", "fix:a"));
    expectError(await ask(`session=${sessionID}&fork=true`, "fix:b", { iteration: 2 }, "other"), "not_found");
  });
});
