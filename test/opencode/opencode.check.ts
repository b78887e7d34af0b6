import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { ModelServer } from "../../src/testing/model-server.ts";
import { tempDir } from "../../src/testing/temp-dir.ts";
import { assay } from "../cli/assay.ts";
import { converse, loop, type ProviderCommand, turn } from "./converse.ts";
import { installOpencode } from "./install-opencode.ts";
import { opencodeProject } from "./opencode-project.ts";
import { PLANS, reviewScript } from "./review-script.ts";

// A large download, and a start of several seconds for every turn.
vi.setConfig({ testTimeout: 300_000, hookTimeout: 600_000 });

const FIRST = {
  protocol_version: "1.2",
  iteration: 1,
  artifact: { media_type: "text/markdown", content: PLANS[0] },
};

let model: ModelServer;
let opencode: ProviderCommand;

beforeAll(async () => {
  model = await ModelServer.start(reviewScript);
  const { program, version } = await installOpencode();
  process.stderr.write(`opencode ${version}\n`);
  const { dir, env } = opencodeProject(model.url);
  opencode = { words: ["--command", program], env, dir };
});
afterAll(() => model.close());

/** The provider of ours with a model behind it. */
function ours(): ProviderCommand {
  const bin = fileURLToPath(new URL("../../bin/assay.js", import.meta.url));
  const words = [
    "--command",
    process.execPath,
    ...[bin, "review", "provide", "--state", tempDir()].flatMap((word) => ["--arg", word]),
  ];
  return { words, env: { ASSAY_REVIEW_MODEL: "scripted", ASSAY_REVIEW_MODEL_URL: model.url }, dir: tempDir() };
}

describe("the real command", () => {
  test("answers in the name of another agent before the setup, which is noticed", async () => {
    expect(await turn(opencode, undefined, FIRST)).toMatchObject({ outcome: "wrong_agent", response: null });
  });

  test("knows the reviewer after the setup, and answers as our provider does with the same model behind it", async () => {
    const setup = await assay(["review", "setup", "opencode"], { cwd: opencode.dir });
    expect(setup).toMatchObject({ code: 0 });

    const fine = { outcome: "response_success", warnings: [], attempts: 1, sameSession: true };
    const expected = [
      { ...fine, aspects: ["safety", "completeness"], decided: [], acknowledged: [] },
      {
        ...fine,
        aspects: ["evidence"],
        decided: ["safety: accepted", "completeness: partial", "never issued: rejected"],
        acknowledged: ["safety: acknowledged", "completeness: acknowledged", "never issued: unknown_id"],
      },
      { ...fine, aspects: [], decided: ["evidence: accepted"], acknowledged: ["evidence: acknowledged"] },
    ];
    expect(await converse(opencode)).toEqual(expected);
    expect(await converse(ours())).toEqual(expected);
  });

  test("has the same conversation with our requester as our provider has, decision by decision", async () => {
    const [theirs, here] = [await loop(opencode), await loop(ours())];
    expect(theirs).toEqual(here);
    expect(theirs).toMatchObject({
      status: "converged",
      reason: "no_remarks",
      decisions: [
        { iteration: 2, aspect: "safety", status: "accepted", ack: "acknowledged" },
        { iteration: 2, aspect: "completeness", status: "partial", ack: "acknowledged" },
        { iteration: 3, aspect: "evidence", status: "accepted", ack: "acknowledged" },
      ],
    });
  });
});
