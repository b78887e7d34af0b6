import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { KEYS, type TestHost, testHost } from "../../testing/host.ts";
import { recordedIo } from "../../testing/recorded-io.ts";
import { Reviewer } from "../../testing/review-queue.ts";
import { tempDir } from "../../testing/temp-dir.ts";
import { connect } from "../client/client.ts";
import { main } from "../main.ts";
import { workThrough } from "./work.ts";

type Assay = (...argv: string[]) => Promise<{ code: number; out: string; err: string }>;

function assayFor(url: string, key: string, cwd: string): Assay {
  return async (...argv) => {
    const io = recordedIo();
    const code = await main(argv, { io, env: { ASSAY_URL: url, ASSAY_KEY: key }, cwd });
    return { code, out: io.outLines.join("\n"), err: io.errLines.join("\n") };
  };
}

describe("review queues on the command line", () => {
  let host: TestHost;
  let url: string;
  let boss: Assay;
  let ana: Assay;
  let ben: Assay;
  let ana1: Reviewer;
  beforeAll(async () => {
    host = await testHost();
    url = await host.listen();
    const cwd = tempDir();
    boss = assayFor(url, KEYS.owner.key, cwd);
    ana1 = await Reviewer.join(host, "ana");
    ana = assayFor(url, ana1.member.key, cwd);
    ben = assayFor(url, (await Reviewer.join(host, "ben")).member.key, cwd);
  });
  afterAll(() => host.close());

  test("go from the rules to the figures", async () => {
    expect((await boss("queue", "list")).err).toContain("No review queues yet");
    const made = await boss(
      ..."queue create weekly --reviewers 2 --labels pass,fail --adjudicator cho --lease 600".split(" "),
      "--description",
      "Is the answer right?",
    );
    expect(made).toMatchObject({ code: 0, err: "" });
    expect(made.out).toMatch(/^Asks for +one of pass, fail$/m);
    expect(made.out).toMatch(/^Reviewers +2 per item, any person who may annotate, blind$/m);
    expect((await boss("queue", "list")).out).toMatch(
      /^weekly +open +2 +one of pass, fail +what is added by hand +que-/m,
    );

    const [first, second] = [await host.newRun(), await host.newRun()];
    expect((await boss("queue", "add", "weekly", first, second, first)).out).toBe("2 items added, 1 known already");

    const item = JSON.parse((await ana("queue", "next", "weekly", "--json")).out).item;
    expect(item).toMatchObject({ runId: first, judgments: null });
    const shown = await ana("queue", "next", "weekly");
    expect(shown.out).toMatch(/^State +open, 0 of 2 judged$/m);
    expect(shown.err).toContain(`assay queue judge weekly ${item.itemId} VALUE  (one of pass, fail)`);
    expect(await ana("queue", "judge", "weekly", item.itemId, "maybe")).toMatchObject({ code: 2 });
    expect((await ana("queue", "judge", "weekly", item.itemId, "pass", "--note", "all of it")).code).toBe(0);
    expect(await ana("queue", "judge", "weekly", item.itemId, "fail")).toMatchObject({
      code: 2,
      err: expect.stringContaining("revise"),
    });
    expect((await ben("queue", "items", "weekly")).out).toMatch(/ hidden$/m);
    const disputed = await ben("queue", "judge", "weekly", item.itemId, "fail");
    expect(disputed.out).toMatch(/^State +disputed, 2 of 2 judged$/m);
    expect((await boss("queue", "items", "weekly", "--state", "disputed")).out).toContain("ana: pass, ben: fail");
    expect(await ben("queue", "adjudicate", "weekly", item.itemId, "fail")).toMatchObject({ code: 3 });
    expect((await boss("queue", "adjudicate", "weekly", item.itemId, "fail")).out).toMatch(/^Final +fail \(ada\)$/m);

    const other = JSON.parse((await ben("queue", "next", "weekly", "--json")).out).item.itemId;
    expect((await ben("queue", "skip", "weekly", other)).err).toContain("--reason is missing");
    expect((await ben("queue", "skip", "weekly", other, "--reason", "no time")).code).toBe(0);
    expect(await ben("queue", "next", "weekly")).toMatchObject({ code: 1, out: "" });
    expect((await boss("queue", "requeue", "weekly", other)).code).toBe(0);
    expect((await ben("queue", "next", "weekly")).code).toBe(0);

    expect((await boss("queue", "drop", "weekly", other)).err).toContain("--reason is missing");
    const dropped = await boss("queue", "drop", "weekly", other, "--reason", "a test");
    expect(dropped.out).toMatch(/^State +closed, 0 of 2 judged$/m);
    expect((await ben("queue", "next", "weekly")).code).toBe(1);

    const agreement = await boss("queue", "agreement", "weekly");
    expect(agreement.out).toMatch(/^Settled +0 agreed, 1 adjudicated, 0 disputed$/m);
    expect(agreement.out).toMatch(/^Krippendorff's alpha \(nominal\) +0\.000 \(2 judgments\)$/m);
    expect(agreement.out).toMatch(/^ana and ben +1 +0\.000/m);
    expect(JSON.parse((await boss("queue", "agreement", "weekly", "--agents", "--json")).out)).toHaveProperty("agents");

    expect((await boss("queue", "show", "weekly")).out).toMatch(/^ana +1 +0 +0$/m);
    expect((await boss("queue", "close", "weekly")).out).toMatch(/^State +closed$/m);
    expect(await ana("queue", "next", "weekly")).toMatchObject({ code: 2, err: expect.stringContaining("is closed") });
    expect((await boss("queue", "open", "weekly")).out).toMatch(/^State +open$/m);
  });

  test("make queries of flags", async () => {
    const flags = "--workflow noop --status completed --sample 0.25 --from 2025-01-31 --max-spread 1 --not-blind";
    const made = await boss(..."queue create query --reviewers 3 --json".split(" "), ...flags.split(" "));
    expect(JSON.parse(made.out)).toMatchObject({
      query: { workflowId: "noop", status: "completed", sample: 0.25, from: "2025-01-31T00:00:00Z" },
      maxSpread: 1,
      blind: false,
      reviewersRequired: 3,
    });
    const flagged = await boss(..."queue create flagged --flagged --yes-no --assign ana,ben --json".split(" "));
    expect(JSON.parse(flagged.out)).toMatchObject({
      query: { flagged: true },
      judgment: { kind: "flag" },
      assign: { people: ["ana", "ben"] },
    });
  });

  test.each([
    [["queue", "create", "x", "--labels", "a,b", "--yes-no"], "--labels and --yes-no"],
    [["queue", "create", "x", "--blind", "--not-blind"], "--blind and --not-blind"],
    [["queue", "create", "x", "--sample", "2"], "--sample 2 must be a share"],
    [["queue", "create", "x", "--sample", "0.0"], "--sample 0.0 must be a share"],
    [["queue", "show", "nowhere"], "review queue called nowhere"],
  ])("refuse what cannot be meant: %j", async (argv, message) => {
    expect(await boss(...argv)).toMatchObject({ code: 2, err: expect.stringContaining(message) });
  });

  test("are worked through with the keyboard", async () => {
    const made = await boss("queue", "create", "keyboard", "--json");
    const queue = JSON.parse(made.out);
    const runs = [await host.newRun(), await host.newRun(), await host.newRun(), await host.newRun()];
    await boss("queue", "add", "keyboard", ...runs);
    async function* typed() {
      yield* ["9", "4 well put", "s", "s cannot read it", "2", "q"];
    }
    const io = recordedIo();
    const client = connect({ url, key: ana1.member.key, timeoutMs: 5000 });
    expect(await workThrough(client, queue, io, typed())).toBe(2);
    expect(io.errLines).toEqual([expect.stringContaining("1 to 5, not 9"), expect.stringContaining("s REASON")]);
    const { items } = await ana1.items(queue.queueId);
    expect(items.map(({ mine }) => [mine?.status, mine?.value])).toEqual([
      ["judged", 4],
      ["skipped", undefined],
      ["judged", 2],
      [undefined, undefined],
    ]);
    const [annotation] = (await ana1.member.ask("GET", `/v1/host/assay/annotations?runId=${runs[0]}`)).json()
      .annotations;
    expect(annotation).toMatchObject({ note: "well put", signal: { rating: 4 } });
  });
});
