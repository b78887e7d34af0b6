import { describe, expect, test } from "vitest";
import { MASK } from "../../../protocol/events.ts";
import { randomRow, randomTape } from "../../../testing/random-tapes.ts";
import { randomFrom } from "../../../testing/random-workflow.ts";
import { aRow } from "../../../testing/tape-files.ts";
import { scrubber } from "../../secrets/scrub.ts";
import { redactRow } from "./redact-row.ts";
import { printRow, type Row } from "./sidecar.ts";

const SECRET = "correct-horse-battery";
const scrub = scrubber({ known: [SECRET] });

/** The secret in every text there is. */
const told: Row = {
  id: SECRET,
  event_id: 2n ** 64n - 1n,
  kind: "friction",
  evidence: `use ${SECRET}`,
  suggested_fix: [SECRET, new Map([["deep", [SECRET]]])],
  author: { id: SECRET, kind: "human", surface: SECRET },
  timestamp: SECRET,
  span: { start_event_id: 1n, end_event_id: 2n },
  hypothesis_status: "active",
  friction_kind: SECRET,
  links: [{ label: SECRET, url: `https://x.test/?k=${SECRET}`, reference: SECRET }],
  metadata: new Map([[SECRET, new Map([[`${SECRET}!`, `${SECRET}.`]])]]),
};

describe("a row that is redacted", () => {
  test("has no secret in any of its texts, nor in the names of members", () => {
    const printed = printRow(redactRow(told, scrub));
    expect(printed).not.toContain(SECRET);
    expect(printed).toContain('"event_id":18446744073709551615');
    // The mask stands wherever the secret stood.
    expect(printed.split(MASK)).toHaveLength(printRow(told).split(SECRET).length);
  });

  test.each([
    ["a list under a secret name", (value: string) => new Map([["passwords", [value]]])],
    [
      "a value beside its name",
      (value: string) => [
        new Map([
          ["name", "DB_PASSWORD"],
          ["value", value],
        ]),
      ],
    ],
    ["the argument of an option", (value: string) => ["psql", "--password", value]],
    [
      "a value within the description of a name",
      (value: string) => new Map([["apiKey", new Map([["default", value]])]]),
    ],
  ])("loses %s in what its author wrote freely", (_, written) => {
    const row = (value: string) =>
      aRow({ suggested_fix: written(value), metadata: new Map([["deep", written(value)]]) });
    expect(printRow(redactRow(row("tuesday-morning"), scrub))).toBe(printRow(row(MASK)));
  });

  test("loses the login of a command in what its author wrote freely", () => {
    const row = (login: string) => aRow({ suggested_fix: ["curl", "-u", login] });
    expect(printRow(redactRow(row("ann:tuesday-morning"), scrub))).toBe(printRow(row(`ann:${MASK}`)));
  });

  test("loses no member when two names become one", () => {
    const metadata = new Map([
      [SECRET, 1n],
      [`${MASK}`, 2n],
      [`${MASK} 2`, 3n],
    ]);
    const { metadata: clean } = redactRow(aRow({ metadata }), scrub);
    expect([...clean.values()].sort()).toEqual([1n, 2n, 3n]);
    expect(clean.get(MASK)).toBe(2n);
  });

  test("is the same as before, to the byte, when there is nothing to hide", () => {
    const random = randomFrom(11);
    const tape = randomTape(random);
    for (let round = 0; round < 200; round++) {
      const row = randomRow(random, tape);
      expect(printRow(redactRow(row, scrub))).toBe(printRow(row));
    }
  });
});
