import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { review, reviewJson } from "../../src/testing/review-command.ts";
import { tempDir } from "../../src/testing/temp-dir.ts";
import { type Server, serve } from "../cli/assay.ts";

/** The requester's commands against the provider of a server that runs. */
describe("a review by a server", () => {
  let server: Server;
  let env: Readonly<Record<string, string>>;

  beforeAll(async () => {
    server = await serve(["--data", tempDir()]);
    env = { ASSAY_KEY: server.ownerKey ?? "" };
  });
  afterAll(() => server.stop());

  const work = (content: string) => {
    const path = join(tempDir(), "plan.md");
    writeFileSync(path, content);
    return path;
  };

  test("goes on in its session, with the key given anew, until nothing is left to say", async () => {
    const path = work("TODO: name the owner\n");
    const inDir = ["--dir", tempDir()];
    const { json: first } = await reviewJson(["start", path, "--url", server.url, ...inDir], env);
    expect(first).toMatchObject({ outcome: "response_success", status: "open", exit_code: 0, attempts: 1 });
    const [id] = first.ids;
    await reviewJson(["decide", first.review, id, "accepted", ...inDir]);
    writeFileSync(path, "The owner is Ada.\n");
    const { json: next } = await reviewJson(["next", first.review, ...inDir], env);
    expect(next).toMatchObject({ sessionID: first.sessionID, iteration: 2, status: "converged", reason: "no_remarks" });
    expect(next.response.applied_feedback_ack.items).toEqual([{ id, processing_status: "acknowledged" }]);
  });

  test("can be one raw turn, of which a lost session is told as a command would tell it", async () => {
    const request = join(tempDir(), "request.json");
    const artifact = { media_type: "text/plain", content: "TODO: x" };
    writeFileSync(request, JSON.stringify({ protocol_version: "1.2", iteration: 1, artifact }));
    const turn = (...flags: string[]) => reviewJson(["turn", "--request", request, "--url", server.url, ...flags], env);
    const first = await turn();
    expect(first).toMatchObject({ exit: 0, json: { outcome: "response_success", warnings: [] } });
    expect(await turn("--session", first.json.sessionID)).toEqual(first);
    const lost = await turn("--session", "ses_0123456789abABCDEFGHIJKLMN");
    expect(lost).toMatchObject({ exit: 1, json: { outcome: "session_not_found", attempts: 1 } });
  });

  test.each([[{}], [{ ASSAY_KEY: "assay_of-somebody-else" }]])("fails at once with the key in %j", async (other) => {
    const { exit, err } = await review(["start", work("x"), "--url", server.url, "--dir", tempDir()], other);
    expect(exit).toBe(1);
    expect(err).toContain("after 1 attempt");
    expect(err).toContain("Set ASSAY_KEY");
  });
});
