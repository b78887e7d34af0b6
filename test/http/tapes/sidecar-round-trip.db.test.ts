import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { printRow, printSidecarHeader } from "../../../src/formats/tapes/sidecar/sidecar.ts";
import { HTTP_STORES } from "../../../src/testing/both-stores.ts";
import { type TestHost, testHost } from "../../../src/testing/host.ts";
import { JudgmentClient } from "../../../src/testing/judgment-client.ts";
import { below, randomJsonText, several } from "../../../src/testing/random-json.ts";
import { randomRow, randomTape } from "../../../src/testing/random-tapes.ts";
import { pick, type Random, randomFrom } from "../../../src/testing/random-workflow.ts";
import { SidecarClient } from "../../../src/testing/sidecar-client.ts";
import { tapeText } from "../../../src/testing/tape-files.ts";

type RandomTape = ReturnType<typeof randomTape>;

/** As people and programs write it: comments, odd spaces, members that nobody knows, mixed line ends, an end that is missing. */
function randomFile(random: Random, tape: RandomTape): string {
  const spaced = (line: string) => pick(random, ["", " ", "\t\u00a0"]) + line + pick(random, ["", "  "]);
  const unknown = (line: string) =>
    random() < 0.5 ? line : line.replace(/\}$/, ` , "unknown" : ${randomJsonText(random, 2)}}`);
  const comments = () =>
    several(random, 2, () => pick(random, ["", "   ", "# by hand", "  #\u2028 {", "#\r", "\u0085"]));
  const authors = ["ada", "", "zoe", "😀"];
  const row = () => {
    const made = randomRow(random, tape);
    const events = tape.records.map(({ seq }) => seq);
    const author = made.author === null ? null : { ...made.author, id: pick(random, authors) };
    const id = random() < 0.7 ? `id ${below(random, 4)}` : made.id;
    return printRow({ ...made, id, event_id: pick(random, events), author });
  };
  const header = { schema_version: 1n, tape_path: "😀\0", tape_content_hash: null, harn_version: null };
  const rows = several(random, 8, () => [spaced(unknown(row())), ...comments()]).flat();
  const again = rows.filter(() => random() < 0.2);
  const lines = [...comments(), spaced(unknown(printSidecarHeader(header))), ...comments(), ...rows, ...again];
  const ends = pick(random, [["\n"], ["\r\n"], ["\n", "\r\n"]]);
  const text = lines.map((line) => line + pick(random, ends)).join("");
  return random() < 0.5 ? text : text.slice(0, -1);
}

describe.each(HTTP_STORES)("any file on %s", (name, open) => {
  let host: TestHost;
  let files: SidecarClient;
  let judges: JudgmentClient;
  let drop: () => Promise<void>;
  beforeAll(async () => {
    const opened = await open();
    drop = opened.drop;
    host = await testHost({ store: opened.store });
    files = new SidecarClient(host);
    judges = new JudgmentClient(host);
  });
  afterAll(async () => {
    await host.close();
    await drop();
  });

  const seeds = Array.from({ length: name === "SQLite" ? 30 : 12 }, (_, i) => i + (name === "SQLite" ? 0 : 1000));

  test("comes back byte for byte, stays where it is when it is pushed again, and takes changes along", async () => {
    for (const seed of seeds) {
      const random = randomFrom(seed);
      const tape = randomTape(random);
      if (tape.records.length === 0) continue;
      const imported = await host.ask("POST", "/v1/host/assay/tapes", { json: { tape: tapeText(tape) } });
      expect(imported.statusCode, imported.payload).toBeLessThan(300);
      const { runId } = imported.json();
      const at = `seed ${seed}`;
      const text = randomFile(random, tape);
      const first = await files.push(runId, text);
      expect(await files.pull(runId), at).toBe(text);
      const rows = first.recorded;
      expect(await files.push(runId, text), at).toMatchObject({ recorded: 0, superseded: 0, unchanged: rows });

      await judges.rate(runId, 1 + below(random, 5));
      const one = first.changes[below(random, rows)];
      if (one?.annotationId !== undefined && one.line !== undefined) {
        const { state } = (await host.ask("GET", `/v1/host/assay/annotations/${one.annotationId}`)).json();
        if (state === "live") await judges.retract(one.annotationId);
      }
      const pulled = await files.pull(runId);
      expect(await files.push(runId, pulled), at).toMatchObject({
        recorded: 0,
        superseded: 0,
        withdrawn: 0,
        onlyHere: 0,
      });
      expect(await files.pull(runId), at).toBe(pulled);
    }
  });
});
