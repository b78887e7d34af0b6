import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { providerFlags, review, reviewJson } from "../../src/testing/review-command.ts";
import { ScriptedReview } from "../../src/testing/scripted-review.ts";
import { tempDir } from "../../src/testing/temp-dir.ts";
import { assay } from "../cli/assay.ts";

const A = "add-a-goal-01";
const B = "name-owner-02";

describe.concurrent("asking", () => {
  test("for what cannot be sent starts nothing and keeps nothing", async () => {
    const peer = new ScriptedReview([{}]);
    writeFileSync(join(peer.folder, "latin"), Buffer.from([0xe9, 0x20]));
    const flags = ["--dir", peer.dir, ...peer.providerFlags];
    const refused = async (...args: string[]) => (await review(["start", ...args, ...flags])).exit;
    expect(await refused(join(peer.folder, "latin"))).toBe(2);
    expect(await refused(join(peer.folder, "missing.md"))).toBe(2);
    expect(await refused(peer.work, "--media-type", "markdown")).toBe(2);
    expect(await refused(peer.work, "--max-cost", "much")).toBe(2);
    expect(await refused(peer.work, "--url", "http://127.0.0.1:1")).toBe(2);
    expect(peer.calls()).toEqual([]);
    expect(existsSync(peer.dir)).toBe(false);
  });

  test("for work that is small enough but makes too large a request costs no call", async () => {
    // Each quotation mark takes two bytes in JSON.
    const peer = new ScriptedReview([{}], '"'.repeat(9 * 1024 * 1024));
    const { exit, err } = await peer.start();
    expect({ exit, error: JSON.parse(err) }).toMatchObject({
      exit: 2,
      error: { error: "review_request_refused", details: { check: "size" } },
    });
    expect(peer.calls()).toEqual([]);
  });

  test("a program that is not there says so", async () => {
    const peer = new ScriptedReview([{}]);
    const { exit, err } = await review(["start", peer.work, "--dir", peer.dir, "--command", "no-such-program-here"]);
    expect(exit).toBe(1);
    expect(err).toContain("there is no such program");
  });

  test("with a request that a provider would refuse costs no call", async () => {
    const peer = new ScriptedReview([{}]);
    writeFileSync(join(peer.folder, "bad.json"), '{"protocol_version":"1.2","iteration":0}');
    const { exit, err } = await reviewJson(["turn", "--request", join(peer.folder, "bad.json"), ...peer.providerFlags]);
    expect({ exit, error: JSON.parse(err) }).toMatchObject({
      exit: 2,
      error: { error: "review_request_refused", details: { check: "iteration" } },
    });
    expect(peer.calls()).toEqual([]);
  });

  test("tries again unless told not to", async () => {
    const peer = new ScriptedReview([{ exitCode: 1 }]);
    const path = join(peer.folder, "request.json");
    writeFileSync(path, '{"protocol_version":"1.2","iteration":1,"artifact":{"media_type":"text/plain","content":""}}');
    const args = ["turn", "--request", path, ...peer.providerFlags, "--review-retry-ms", "1"];
    expect((await reviewJson(args)).json).toMatchObject({ outcome: "tool_failed", attempts: 3, exit_code: 1 });
    expect((await reviewJson([...args, "--no-retry"])).json).toMatchObject({ outcome: "tool_failed", attempts: 1 });
  });

  test("passes a request on to the last digit", async () => {
    const peer = new ScriptedReview([{}]);
    const path = join(peer.folder, "request.json");
    const text =
      '{"protocol_version":"1.2",\n"iteration":1,\r\n"artifact":{"media_type":"application/json","content":12345678901234567890.10}}';
    writeFileSync(path, `\ufeff${text}\n`);
    await reviewJson(["turn", "--request", path, ...peer.providerFlags]);
    expect(peer.calls()[0]?.text).toBe(`${text.replaceAll(/[\r\n]+/g, " ")}\n`);
  });

  test("for one turn leaves no files behind, however it ends", async () => {
    const path = join(tempDir(), "request.json");
    writeFileSync(path, '{"protocol_version":"1.2","iteration":1,"artifact":{"media_type":"text/plain","content":""}}');
    for (const [script, code] of [
      [{}, 0],
      [{ exitCode: 1 }, 1],
    ] as const) {
      const peer = new ScriptedReview([script]);
      const env = { TMPDIR: tempDir() };
      const ended = await assay(["review", "turn", "--request", path, ...peer.providerFlags, "--no-retry"], { env });
      expect({ code: ended.code, calls: peer.calls().length }).toEqual({ code, calls: 1 });
      expect(readdirSync(env.TMPDIR)).toEqual([]);
    }
  });

  test.each(["", "-x", "a b", "x".repeat(257)])("in the session %j is refused", async (session) => {
    const peer = new ScriptedReview([{}]);
    const path = join(peer.folder, "request.json");
    writeFileSync(path, '{"protocol_version":"1.2","iteration":1,"artifact":{"media_type":"text/plain","content":""}}');
    const { exit } = await reviewJson(["turn", "--request", path, `--session=${session}`, ...peer.providerFlags]);
    expect({ exit, calls: peer.calls() }).toEqual({ exit: 2, calls: [] });
  });
});

describe.concurrent("a loop", () => {
  const REACT = `
    let text = ""; process.stdin.on("data", (d) => { text += d; }).on("end", () => {
      const { artifact, response } = JSON.parse(text);
      const decisions = response.feedback.areas_for_improvement.map(({ id }) => ({ id, status: "accepted" }));
      console.log(JSON.stringify({ artifact: artifact.content + "More.\\n", decisions }));
    });`;

  const looped = (peer: ScriptedReview, source: string, ...flags: string[]) => {
    const path = join(peer.folder, "react.mjs");
    writeFileSync(path, source);
    const program = ["--on-feedback", process.execPath, "--on-feedback-arg", path];
    return reviewJson(["loop", peer.work, "--dir", peer.dir, ...peer.providerFlags, ...program, ...flags]);
  };

  test("has a program react to each answer until there is nothing left to say", async () => {
    const peer = new ScriptedReview([{ remarks: [A] }, { remarks: [B] }, {}]);
    const { exit, json } = await looped(peer, REACT, "--write");
    expect({ exit, json }).toMatchObject({ exit: 0, json: { status: "converged", iteration: 3 } });
    expect(peer.requests().map(({ artifact }) => artifact.content)).toEqual([
      "First.\n",
      "First.\nMore.\n",
      "First.\nMore.\nMore.\n",
    ]);
    expect(readFileSync(peer.work, "utf8")).toBe("First.\nMore.\nMore.\n");
  });

  test("that fails says so with its exit code", async () => {
    const peer = new ScriptedReview([{ exitCode: 1 }]);
    const { exit, json } = await looped(peer, REACT, "--review-retry-ms", "1");
    expect({ exit, json }).toMatchObject({ exit: 1, json: { status: "failed", reason: "tool_failed" } });
  });

  test("leaves the file as it is unless told to write", async () => {
    const peer = new ScriptedReview([{ remarks: [A] }, {}]);
    expect((await looped(peer, REACT)).json).toMatchObject({ status: "converged" });
    expect(readFileSync(peer.work, "utf8")).toBe("First.\n");
  });

  test("reads the file again when the program brings no artifact", async () => {
    const peer = new ScriptedReview([{ remarks: [A] }, {}]);
    const source = `
      import { writeFileSync } from "node:fs";
      writeFileSync(${JSON.stringify(peer.work)}, "Second.\\n");
      console.log('{"decisions":[{"id":"${A}","status":"accepted"}]}');`;
    const { exit } = await looped(peer, source);
    expect(exit).toBe(0);
    expect(peer.requests().map(({ artifact }) => artifact.content)).toEqual(["First.\n", "Second.\n"]);
  });

  test("keeps what was decided although the artifact that came with it cannot be sent", async () => {
    const peer = new ScriptedReview([{ remarks: [A] }]);
    const source = `const artifact = '"'.repeat(9 * 1024 * 1024);
      console.log(JSON.stringify({ artifact, decisions: [{ id: "${A}", status: "accepted" }] }));`;
    expect((await looped(peer, source)).exit).toBe(2);
    const [name = ""] = readdirSync(peer.dir);
    expect(peer.state(name)).toMatchObject({ status: "open", decisions: { [A]: { status: "accepted" } } });
  });

  test("stops a program that says too much", async () => {
    const peer = new ScriptedReview([{ remarks: [A] }]);
    const flags = ["--review-max-bytes", "65536", "--review-kill-ms", "100"];
    const { exit, err } = await looped(peer, "for (;;) console.log('x'.repeat(1000))", ...flags);
    expect(exit).toBe(2);
    expect(err).toContain("wrote too much");
  });

  test.each([
    ["console.log('well')", "is not JSON"],
    ["console.log('[]')", "must write an object"],
    ["console.log('{}')", "decisions must be a list"],
    [`console.log('{"decisions":[{"id":"${A}","status":"maybe"}]}')`, "decisions[0].status"],
    [`console.log('{"decisions":[],"artifact":7}')`, "artifact must be an object"],
    ["process.exit(9)", "ended with 9"],
    ["process.kill(process.pid, 'SIGKILL')", "was ended by SIGKILL"],
    ["console.log('['.repeat(100_000) + ']'.repeat(100_000))", "nested deeper than"],
  ])("stops when the program does %s", async (source, problem) => {
    const peer = new ScriptedReview([{ remarks: [A] }]);
    const { exit, err } = await looped(peer, source);
    expect(exit).toBe(2);
    expect(err).toContain(problem);
    const [name = ""] = readdirSync(peer.dir);
    expect(peer.state(name)).toMatchObject({ status: "open", next_iteration: 2, decisions: {} });
  });
});

describe.concurrent("what is kept", () => {
  test("is listed, found by the beginning of its name, and counted", async () => {
    const peer = new ScriptedReview([{ remarks: [A] }, {}]);
    const { json } = await peer.start();
    const inDir = ["--dir", peer.dir];
    expect((await review(["show", ...inDir])).out).toContain(json.review);
    expect((await review(["show", "plan", ...inDir])).out).toContain("→ Add it.");
    await peer.decide("plan", A, "accepted");
    peer.write("Second.");
    await peer.on("next", "plan");
    expect((await reviewJson(["stats", ...inDir])).json).toMatchObject({
      issued: 1,
      decided: 1,
      acceptance_rate: 1,
      conversations: { converged: 1, rounds_to_convergence: { mean: 2, max: 2 } },
    });
    expect((await review(["stats", ...inDir])).out).toContain("1 remark, 1 decided (100 %)");
    expect((await review(["show", "nothing", ...inDir])).exit).toBe(2);
  });

  test("is not guessed at when several begin with the same letters, unless one alone is open", async () => {
    const peer = new ScriptedReview([{ remarks: [A] }, { remarks: [A, B] }, {}]);
    const [one, two] = [(await peer.start()).json.review, (await peer.start()).json.review];
    for (const word of ["show", "next", "stats"]) {
      const { exit, err } = await peer.on(word, "plan");
      expect(exit).toBe(2);
      for (const name of [one, two]) expect(err).toContain(name);
    }
    expect(peer.calls()).toHaveLength(2);
    expect((await peer.on("stats", one)).json).toMatchObject({ issued: 1, conversations: { total: 1 } });
    expect((await peer.on("stats", two)).json).toMatchObject({ issued: 2, conversations: { total: 1 } });
    await peer.decide(one, A, "accepted");
    peer.write("Second.");
    expect((await peer.on("next", one)).json).toMatchObject({ status: "converged" });
    expect((await peer.on("show", "plan")).json).toMatchObject({ review: two, undecided: [A, B] });
  });

  test("has remarks that are named by number, or by the beginning that only one has", async () => {
    const peer = new ScriptedReview([{ remarks: [B, A] }]);
    const { json } = await peer.start();
    expect((await peer.decide(json.review, "2", "accepted")).json).toMatchObject({ id: A, undecided: [B] });
    expect((await peer.decide(json.review, B.slice(0, -1), "accepted")).json).toMatchObject({ id: B, undecided: [] });
    for (const unknown of ["3", "0", `${A}x`]) {
      const { exit, err } = await peer.decide(json.review, unknown, "accepted");
      expect({ exit, code: JSON.parse(err).error }).toEqual({ exit: 2, code: "review_decision_refused" });
      expect(JSON.parse(err).message).toContain("by its number, 1 to 2");
    }
  });

  test("and ended waits for no decision", async () => {
    const peer = new ScriptedReview([{ remarks: [A] }]);
    const { json } = await peer.start("--max-iterations", "1");
    expect((await peer.on("show", json.review)).json).toMatchObject({ status: "stopped", undecided: [] });
    const { out } = await review(["show", json.review, "--dir", peer.dir]);
    expect(out).toContain("Status");
    expect(out).not.toContain("Undecided");
  });

  test("and broken is refused, not guessed at", async () => {
    const peer = new ScriptedReview([{ remarks: [A] }]);
    const { json } = await peer.start();
    for (const broken of [
      "",
      "{",
      "[]",
      '{"version":2}',
      peer.read(json.review, "state.json").replace('"open"', '"ajar"'),
    ]) {
      writeFileSync(peer.file(json.review, "state.json"), broken);
      const { exit, err } = await peer.decide(json.review, A, "accepted");
      expect({ exit, code: JSON.parse(err).error }).toEqual({ exit: 2, code: "review_unreadable" });
      expect(peer.read(json.review, "state.json")).toBe(broken);
    }
  });

  test("in a place that cannot be used is an error", async () => {
    const peer = new ScriptedReview([{}]);
    mkdirSync(peer.dir);
    writeFileSync(join(peer.folder, "file"), "");
    const flags = [...providerFlags("x.mjs"), "--dir", join(peer.folder, "file")];
    expect(await review(["start", peer.work, ...flags])).toMatchObject({
      exit: 2,
      err: expect.stringContaining("cannot be used"),
    });
  });
});
