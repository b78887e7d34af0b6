// @ts-check
import { inTurns } from "./rates.js";
import { median, spread } from "./statistics.js";
import { KEY, NOOP } from "./subjects.js";

const NOTE =
  "The answer misses the second invoice (no. 4711, see the attachment) and the tone is too casual for this customer; " +
  "please use the formal template next time, and name the person who approved the discount on run-01k9zq4f0s. ";
const TEXTS = {
  "a note of 300 characters": NOTE.repeat(2).slice(0, 300),
  "the same with a key in it": `${NOTE.slice(0, 250)} sk-proj-abcdefghij_klmnop-1234 ${NOTE.slice(0, 20)}`,
  "the same as JSON in JSON": JSON.stringify(JSON.stringify({ note: NOTE, lines: "one\ntwo" })),
  "a correction of 20,000": NOTE.repeat(110).slice(0, 20_000),
};
const LONG = 900_000;
const full = (/** @type {string} */ piece) => piece.repeat(Math.ceil(LONG / piece.length)).slice(0, LONG);
/** Texts that are made to take long. */
const HOSTILE = {
  "900 KB of keys": full(
    `sk-proj-abcdefghij_klmnop-1234 ghp_${"a1B2".repeat(9)} AKIAIOSFODNN7EXAMPLE glpat-abcDEF123456ghiJKL78 `,
  ),
  "900 KB of named secrets": full('{"password":"hunter2","n":1} API_TOKEN=abc '),
  "900 KB of =": full("="),
  "900 KB of base64": full(Buffer.from(full("nothing to see here ")).toString("base64")),
  "900 KB of keys in base64": full(`${Buffer.from("sk-proj-abcdefghijklmnop1234").toString("base64")} `),
};
const CONNECTIONS = 16;

/**
 * What cleaning a text costs, and which part of recording a judgment that is.
 * @param {import("./sections.js").Bench} bench
 * @returns {Promise<import("./sections.js").Finding>}
 */
export async function scrubbing(bench) {
  const { scrubber } = await import("../dist/formats/secrets/scrub.js");
  const { loadRuleSet } = await import("../dist/formats/secrets/rule-set.js");
  const known = Array.from({ length: 20 }, (_, i) => `a secret of this host, number ${i}`);
  const kinds = {
    "shapes alone": scrubber(),
    "with the rule set and known secrets": scrubber({ known, more: await loadRuleSet() }),
  };
  /** @type {Record<string, number[]>} */
  const data = {};
  for (let round = 0; round < bench.pace.rounds + 1; round++) {
    for (const [kind, { scrubText }] of Object.entries(kinds)) {
      for (const [name, text] of Object.entries({ ...TEXTS, ...HOSTILE })) {
        const us = microseconds(scrubText, text);
        const found = data[`${name}, ${kind}`] ?? [];
        data[`${name}, ${kind}`] = found;
        // The first round is for the compiler.
        if (round > 0) found.push(us);
      }
    }
  }
  const post = await annotationCpuUs(bench);
  const rows = Object.entries(data).map(([name, us]) => [name, spread(us, 2), share(us, post)]);
  return {
    title: "Scrub a text",
    note: `Microseconds for each text, and as a share of the processor time of one annotation POST on SQLite (${median(post).toFixed(0)} µs, ${CONNECTIONS} connections, its note included).`,
    table: [["", "µs", "of a POST"], ...rows],
    data: { us: data, postCpuUs: post },
  };
}

/**
 * @param {readonly number[]} us
 * @param {readonly number[]} post
 */
function share(us, post) {
  return `${((100 * median(us)) / median(post)).toFixed(1)} %`;
}

/**
 * @param {(text: string) => string} scrub
 * @param {string} text
 */
function microseconds(scrub, text) {
  const times = Math.ceil(2_000_000 / text.length);
  const startedMs = performance.now();
  for (let i = 0; i < times; i++) scrub(text);
  return ((performance.now() - startedMs) * 1000) / times;
}

/** @param {import("./sections.js").Bench} bench */
async function annotationCpuUs(bench) {
  const subject = await bench.laboratory.sqlite();
  const [host] = subject.processes;
  const headers = { authorization: `Bearer ${KEY}`, "content-type": "application/json" };
  const created = await fetch(`${host?.url}/v1/runs`, {
    method: "POST",
    headers,
    body: JSON.stringify({ workflowId: NOOP }),
  });
  const { runId } = /** @type {{ runId: string }} */ (await created.json());
  const body = { signal: { kind: "rating", rating: 4 }, note: TEXTS["a note of 300 characters"] };
  const post = { method: "POST", path: `/v1/runs/${runId}/annotations`, body, expect: 201 };
  const { data } = await inTurns(bench, [subject], [CONNECTIONS], (_, connections, seconds) =>
    bench.load.ask("repeat", { ports: subject.ports, key: KEY, connections, seconds, ...post }),
  );
  return data[`${subject.name} ${CONNECTIONS}`]?.cpuUs ?? [];
}
