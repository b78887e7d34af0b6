import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { sqlitePath, withSnapshot } from "../../../src/cli/server/database.ts";
import { loadRuleSet } from "../../../src/formats/secrets/rule-set.ts";
import { scrubber } from "../../../src/formats/secrets/scrub.ts";
import { SECRET_SHAPES } from "../../../src/formats/secrets/secret-shapes.ts";
import { backupLines } from "../../../src/store/backup/backup.ts";
import type { Store } from "../../../src/store/port/store.ts";
import { openPostgresStore } from "../../../src/store/postgres/postgres-store.ts";
import { openSqliteStore } from "../../../src/store/sqlite/sqlite-store.ts";
import { type TestHost, testHost } from "../../../src/testing/host.ts";
import { JudgmentClient, JudgmentFollower } from "../../../src/testing/judgment-client.ts";
import { IS_LONG_FORM } from "../../../src/testing/long-form.ts";
import { createDatabase } from "../../../src/testing/postgres.ts";
import { RULE_SET_EXAMPLES } from "../../../src/testing/rule-set-examples.ts";
import { tempDir } from "../../../src/testing/temp-dir.ts";

/** Of no shape at all: only the host knows that it is one. */
const KNOWN = "correct horse battery staple";

interface Place {
  readonly store: Store;
  readonly config: { data: string; databaseUrl?: string };
  drop(): Promise<void>;
}

const PLACES: readonly (readonly [string, () => Promise<Place>])[] = [
  [
    "SQLite",
    async () => {
      const data = tempDir();
      const store = await openSqliteStore({ path: sqlitePath({ data, databaseUrl: undefined }) });
      return { store, config: { data }, drop: async () => {} };
    },
  ],
  [
    "PostgreSQL",
    async () => {
      const { url, drop } = await createDatabase();
      return { store: await openPostgresStore({ url }), config: { data: "", databaseUrl: url }, drop: () => drop() };
    },
  ],
];

/** What must not be found anywhere: the secret itself, without the words that may stay around it. */
const SECRETS: [string, string, string][] = [
  ...SECRET_SHAPES.map(({ id, example, pattern }): [string, string, string] => {
    const [match] = [...example.matchAll(pattern)];
    return [id, example, match?.[0].slice(match.groups?.["kept"]?.length ?? 0) ?? ""];
  }),
  ...Object.entries(RULE_SET_EXAMPLES).map(([id, text]): [string, string, string] => [
    `${id} (rule)`,
    text,
    secretIn(text),
  ]),
  ["a value that the host knows", KNOWN, KNOWN],
  ["the canary of the protocol", "sk-canary-rfc0056-do-not-leak-abc123", "do-not-leak"],
];

/** The longest run of key characters. */
function secretIn(text: string): string {
  return (text.match(/[\w+/=.-]{16,}/g) ?? []).sort((a, b) => b.length - a.length)[0] ?? text;
}

const LABEL_MAX = 256;

describe.each(PLACES)("secrets in judgments on %s", (name, open) => {
  // What a secret is does not depend on the database; that every place is cleaned does.
  const secrets =
    name === "SQLite" || IS_LONG_FORM ? SECRETS : SECRETS.filter((_, i) => i % 10 === 0 || i >= SECRETS.length - 2);
  let place: Place;
  let host: TestHost;
  let client: JudgmentClient;
  let runId: string;
  let live: JudgmentFollower;
  const answers: string[] = [];

  beforeAll(async () => {
    place = await open();
    const clean = scrubber({ known: [KNOWN], more: await loadRuleSet() });
    host = await testHost({ store: place.store, worker: true, host: { scrubber: clean } });
    client = new JudgmentClient(host);
    live = await (await JudgmentFollower.open(await host.listen())).untilOpen();
    runId = await client.ended();
    const post = async (url: string, json: object) => {
      const headers = { "idempotency-key": `k${answers.length}` };
      const answer = await host.ask("POST", url, { json, headers });
      expect(answer.statusCode, answer.payload).toBeLessThan(300);
      answers.push(answer.payload);
      return answer.json().annotationId as string;
    };
    for (const [, secret] of secrets) {
      const text = `use ${secret} here`;
      const label = text.length <= LABEL_MAX ? text : "long";
      const signal = { kind: "label", label, correction: text };
      await post(`/v1/runs/${runId}/annotations`, { signal, note: text });
      const id = await post(`/v1/host/assay/runs/${runId}/annotations`, { signal, note: text });
      await post(`/v1/host/assay/annotations/${id}:retract`, { reason: text });
      const flag = await post(`/v1/host/assay/runs/${runId}/annotations`, { signal: { kind: "flag" } });
      await post(`/v1/host/assay/annotations/${flag}:close`, { note: text });
    }
    const last = await client.rate(runId, 3);
    await live.untilTold(last.annotationId);
  });
  afterAll(async () => {
    live.disconnect();
    await host.close();
    await place.drop();
  });

  test("are in no answer, list, stream, search or row of the database, whichever field they were in", async () => {
    const listed = [(await host.ask("GET", `/v1/runs/${runId}/annotations`)).payload];
    for (let cursor: string | undefined, more = true; more; more = cursor !== undefined) {
      const page = await client.page({ limit: "200", ...(cursor && { cursor }) });
      listed.push(JSON.stringify(page));
      cursor = page.nextCursor;
    }
    const rows: string[] = [];
    await withSnapshot(place.config as never, async (db) => {
      for await (const line of backupLines(db, "now")) rows.push(line);
    });
    const places = {
      answers: answers.join("\n"),
      lists: listed.join("\n"),
      stream: JSON.stringify(live.told),
      database: rows.join("\n"),
      log: JSON.stringify(host.logged),
    };
    expect(places.database).toContain("[REDACTED]");
    expect(live.told).toHaveLength(answers.length + 1);
    for (const [id, , secret] of secrets) {
      const written = JSON.stringify(secret).slice(1, -1);
      const found = Object.entries(places).filter(([, text]) => text.includes(secret) || text.includes(written));
      expect([id, found.map(([name]) => name)]).toEqual([id, []]);
    }
    expect(await client.ids({ q: KNOWN })).toEqual([]);
  });

  test("leave the words around them as they were", async () => {
    const notes = (await client.page({ signal: "label", order: "oldest", limit: "200" })).annotations;
    for (const { note } of notes) expect(note).toMatch(/^use .*\[REDACTED\].* here$/s);
  });
});
