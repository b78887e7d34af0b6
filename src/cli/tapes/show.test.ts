import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { Row } from "../../formats/tapes/sidecar/sidecar.ts";
import { folderWith, tape } from "../../testing/tape-command.ts";
import { aRecord, aRow, aSidecarHeader, aTapeHeader, sidecarText, tapeText } from "../../testing/tape-files.ts";
import { paintFor } from "../output/io.ts";

const records = [0n, 1n, 2n].map((seq) => aRecord({ seq }));

function reviewed(...rows: readonly Row[]): string {
  const folder = folderWith({
    "run.tape": tapeText({ header: aTapeHeader(), records }),
    "run.tape.annotations.jsonl": sidecarText({ header: aSidecarHeader(), rows }),
  });
  return join(folder, "run.tape");
}

const ines = { id: "ines", kind: "human", surface: null } as const;
const bot = { id: "bot", kind: "agent", surface: null } as const;
const supersedes = (id: string) => new Map([["supersedes", id]]);
const hypothesis = [
  aRow({
    id: "h1",
    kind: "hypothesis",
    hypothesis_status: "active",
    evidence: "stale?",
    author: ines,
    timestamp: "8:00",
  }),
  aRow({
    id: "h2",
    kind: "hypothesis",
    hypothesis_status: "confirmed",
    evidence: "yes\nit is",
    author: bot,
    metadata: supersedes("h1"),
  }),
];

describe("what was said about a tape", () => {
  test("is looked for beside it", async () => {
    const path = reviewed(aRow({ id: "a", evidence: "fine" }));
    const { out, err, exit } = await tape(["show", path]);
    expect(out).toContain("    [note] a: fine\n");
    expect({ err, exit }).toEqual({ err: [], exit: 0 });
  });

  test("is shown with its problems, which end with 2 in every view", async () => {
    const path = reviewed(aRow({ event_id: 9n }), aRow({ kind: "unknown" }));
    for (const view of [[], ["--summary"], ["--history"], ["--json"]]) {
      const { out, err, exit } = await tape(["show", path, ...view]);
      expect(out).not.toBe("");
      expect({ err, exit }).toEqual({
        err: [
          "[assay] annotations validation failed with 2 problem(s); see `assay tape validate` for the structured report.",
        ],
        exit: 2,
      });
    }
  });

  test("is exact in a pipe, and safe to look at on a terminal", async () => {
    const path = reviewed(aRow({ id: "a", kind: "incorrect", evidence: "\u001b[2Jgone" }));
    expect((await tape(["show", path])).out).toContain("    [incorrect] a: \u001b[2Jgone\n");
    const { out } = await tape(["show", path], { outIsTerminal: true, paint: paintFor(true) });
    expect(out).toContain("    [\u001b[31mincorrect\u001b[39m] a: \ufffd[2Jgone\n");
  });

  test("is not looked at when the tape cannot be read", async () => {
    const folder = folderWith({ "run.tape": "{", s: "{" });
    const { err, out, exit } = await tape(["show", join(folder, "run.tape"), "--annotations", join(folder, "s")]);
    expect({ out, exit }).toEqual({ out: "", exit: 1 });
    expect(err).toEqual([expect.stringContaining("parse tape header in ")]);
  });
});

describe("the summary", () => {
  test("leaves out what is muted or replaced, and names what is open", async () => {
    const path = reviewed(
      ...hypothesis,
      aRow({
        id: "o",
        event_id: 1n,
        kind: "hypothesis",
        hypothesis_status: "verifying",
        evidence: "slow disk?",
        author: ines,
      }),
      aRow({ event_id: 1n, kind: "friction", friction_kind: "tool_gap" }),
      aRow({ event_id: 2n, kind: "mute", evidence: "known flake" }),
      aRow({ event_id: 2n, kind: "incorrect" }),
    );
    expect((await tape(["show", path, "--summary"])).out).toBe(
      [
        "3 annotations on 2 events; the tape has 3 events",
        "  2 hypothesis, 1 friction",
        "Friction: 1 tool_gap",
        "Hypotheses: 1 verifying, 1 confirmed",
        "  verifying: o on event 1, ines: slow disk?",
        "Muted, with 1 annotation that is not counted:",
        "  event 2: known flake",
        "Replaced by later ones, and not counted: 1 annotation",
        "",
      ].join("\n"),
    );
  });

  test("of a tape that nobody said anything about is one line", async () => {
    expect((await tape(["show", reviewed(), "--summary"])).out).toBe(
      "0 annotations on 0 events; the tape has 3 events\n",
    );
  });
});

describe("the history", () => {
  test("tells who said what, when and why, and what holds now", async () => {
    expect((await tape(["show", reviewed(...hypothesis), "--history"])).out).toBe(
      [
        "h1 on event 0: confirmed",
        "  active     8:00  ines         stale?",
        "  confirmed        bot (agent)  yes",
        "",
      ].join("\n"),
    );
  });

  test("tells where two rows replaced the same one, and steps that go back", async () => {
    const fork = aRow({ id: "h3", kind: "hypothesis", hypothesis_status: "disproven", metadata: supersedes("h1") });
    const back = aRow({ id: "h4", kind: "hypothesis", hypothesis_status: "active", metadata: supersedes("h2") });
    const { out } = await tape(["show", reviewed(...hypothesis, fork, back), "--history"]);
    expect(out).toContain("h1 on event 0: disproven and active\n");
    expect(out).toContain("(h3 replaces h1)");
    expect(out).toContain("(h4 replaces h2) (unusual after confirmed)");
  });

  test("says so when there is none, and may follow a summary", async () => {
    const { out } = await tape(["show", reviewed(aRow()), "--history", "--summary"]);
    expect(out).toMatch(/^1 annotation on 1 event;.*\n\nNo hypotheses, and no replaced annotations\.\n$/s);
  });
});

describe("everything as JSON", () => {
  test("has events, summary and history, with all digits", async () => {
    const far = 2n ** 64n - 1n;
    const folder = folderWith({
      t: tapeText({ header: aTapeHeader(), records: [aRecord({ seq: far })] }),
      s: sidecarText({ header: aSidecarHeader(), rows: hypothesis.map((row) => ({ ...row, event_id: far })) }),
    });
    const { out } = await tape(["show", join(folder, "t"), "--annotations", join(folder, "s"), "--json"]);
    expect(out).toContain(
      `{"seq":${far},"virtual_time_ms":0,"kind":"clock_sleep","annotations":[{"id":"h1","event_id":${far},`,
    );
    const { annotations, problems, summary, history } = JSON.parse(out);
    expect({ annotations, problems }).toEqual({ annotations: 2, problems: 0 });
    expect(summary).toEqual({
      counted: 1,
      replaced: 1,
      muted: 0,
      mutedEvents: [],
      kinds: { hypothesis: 1 },
      frictionKinds: {},
      hypothesisStatuses: { confirmed: 1 },
    });
    expect(history).toMatchObject([
      {
        steps: [
          { replaces: null, newest: false, advised: true, annotation: { id: "h1" } },
          { replaces: "h1", newest: true, advised: true, annotation: { id: "h2" } },
        ],
      },
    ]);
  });
});
