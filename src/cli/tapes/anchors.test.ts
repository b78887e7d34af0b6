import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { folderWith, tape } from "../../testing/tape-command.ts";
import { aRow, aSidecarHeader, sidecarText } from "../../testing/tape-files.ts";

const far = 2n ** 64n - 1n;
const anchor = aRow({
  kind: "crystallize_here",
  event_id: 1n,
  span: { start_event_id: 1n, end_event_id: far },
  evidence: "open,\nclose",
  author: { id: "bot", kind: "agent", surface: null },
  metadata: new Map([["a", far]]),
});
const one = sidecarText({
  header: aSidecarHeader(),
  rows: [anchor, aRow(), { ...anchor, span: null, evidence: null }],
});
const none = sidecarText({ header: aSidecarHeader(), rows: [aRow()] });

describe("the anchors of a sidecar", () => {
  test("are a line each for people", async () => {
    const { out } = await tape(["anchors", join(folderWith({ s: one }), "s")]);
    expect(out.split("\n")).toEqual([
      `events 1 to ${far}  open,  bot (agent)  {"a":${far}}`,
      `event 1  (no evidence)  bot (agent)  {"a":${far}}`,
      "",
    ]);
  });

  test("are a bare list as JSON, with all digits", async () => {
    const { out } = await tape(["anchors", join(folderWith({ s: one }), "s"), "--json"]);
    expect(out).toContain(`[{"event_id":1,"end_event_id":${far},`);
    expect(JSON.parse(out)).toHaveLength(2);
  });

  test("are an empty list where there are none, and people are told", async () => {
    const path = join(folderWith({ s: none }), "s");
    const { out, err, exit } = await tape(["anchors", path, "--json"]);
    expect({ out, err, exit }).toEqual({ out: "[]\n", err: [expect.stringContaining("crystallize_here")], exit: 0 });
  });
});

describe("the anchors of a directory", () => {
  test("name their files, in the order of the names", async () => {
    const folder = folderWith({
      "b.annotations.jsonl": one,
      "a/x.annotations.jsonl": one,
      "c.annotations.jsonl": none,
    });
    const { out } = await tape(["anchors", folder, "--json"]);
    expect(JSON.parse(out).map(({ file }: { file: string }) => file)).toEqual(
      ["a/x", "a/x", "b", "b"].map((name) => join(folder, `${name}.annotations.jsonl`)),
    );
    expect((await tape(["anchors", folder])).out).toMatch(
      new RegExp(`^${join(folder, "a/x.annotations.jsonl")}  events 1 to`),
    );
  });

  test("are none at all when one of its files is broken", async () => {
    const folder = folderWith({ "a.annotations.jsonl": one, "b.annotations.jsonl": `${one}{` });
    const { out, err, exit } = await tape(["anchors", folder, "--json"]);
    expect({ exit, out, code: JSON.parse(err[0] ?? "").error }).toEqual({ exit: 1, out: "", code: "record_parse" });
    expect(err).toEqual([expect.stringContaining(`line 5 in ${join(folder, "b.annotations.jsonl")}`)]);
  });

  test("are those of the other files when broken ones are to be skipped, which is said and ends with 2", async () => {
    const folder = folderWith({ "a.annotations.jsonl": `${one}{`, "b.annotations.jsonl": one });
    const { out, err, exit } = await tape(["anchors", folder, "--json", "--skip-broken"]);
    expect(JSON.parse(out)).toMatchObject([1, 2].map(() => ({ file: join(folder, "b.annotations.jsonl") })));
    expect(err).toEqual([expect.stringContaining(join(folder, "a.annotations.jsonl"))]);
    expect(exit).toBe(2);
  });

  test("are missed where there is no sidecar", async () => {
    const folder = folderWith({ "run.tape": "" });
    const { out, err, exit } = await tape(["anchors", folder]);
    expect({ out, exit }).toEqual({ out: "", exit: 2 });
    expect(err[0]).toContain(`there is no *.annotations.jsonl below ${folder}`);
  });
});
