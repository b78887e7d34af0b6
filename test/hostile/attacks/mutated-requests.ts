import { expect } from "vitest";
import { ERRORS } from "../../../src/protocol/errors.ts";
import { ErrorEnvelope } from "../../../src/protocol/runs/api.ts";
import { matches } from "../../../src/protocol/schema.ts";
import { pick, type Random, randomFrom } from "../../../src/testing/random-workflow.ts";
import type { Attack } from "../attack.ts";
import { type Furniture, furnish } from "../furnish.ts";
import { generate } from "../generate.ts";
import { hostileSegment, mutateText, mutateValue } from "../mutate.ts";
import { exampleOf, type Named, pathOf, SERVED } from "../operations.ts";
import type { Answer, Request, Target } from "../target.ts";

const PER_OPERATION = 6;
const seed = Number(process.env["HOSTILE_SEED"] ?? "16");
/** A stream that is served stays open, and what is not known to be refused is not asked for. */
const ANSWERED = SERVED.filter(([, { success }]) => success.contentType !== "text/event-stream");
/** These end the furniture that the other requests are about. */
const WITHOUT_ENDS = ANSWERED.filter(([id]) => !/delete|revoke|remove/i.test(id));

const HEADERS: readonly Readonly<Record<string, string>>[] = [
  { "idempotency-key": "x".repeat(600) },
  { "idempotency-key": "one" },
  { "if-none-match": "*" },
  { "openwop-version": "99" },
  { "x-dedup": "enforce" },
  { traceparent: "00-00000000000000000000000000000000-0000000000000000-00" },
  { "content-type": "application/json; charset=utf-7" },
  { accept: "text/event-stream;q=-1" },
  { range: "bytes=5-1" },
];

function request(random: Random, named: Named): Request {
  const example = exampleOf(named);
  const headers = random() < 0.2 ? { headers: pick(random, HEADERS) } : {};
  if (example === undefined) return headers;
  const { body } = named[1];
  const start = body !== undefined && random() < 0.4 ? generate(random, body) : example;
  const mutated = random() < 0.15 ? start : mutateValue(random, start);
  const text = JSON.stringify(mutated) ?? "null";
  return { body: random() < 0.2 ? mutateText(random, text) : text, ...headers };
}

function target(random: Random, named: Named, furniture: Furniture): string {
  const names = Object.keys(furniture);
  const other = random() < 0.3 ? { ...furniture, [pick(random, names)]: hostileSegment(random) } : furniture;
  const path = pathOf(named, other);
  const { query } = named[1];
  if (query === undefined || random() < 0.5) return path;
  const value = generate(random, query);
  const entries = Object.entries(value as object).map(([name, member]): [string, string] => [name, String(member)]);
  if (random() < 0.5) entries.push([pick(random, names), hostileSegment(random)]);
  // A poll with nothing to tell waits for as long as it asks for.
  if (named[0] === "pollEvents")
    return `${path.split("?")[0]}?${new URLSearchParams([...entries.filter(([name]) => name !== "timeout"), ["timeout", "1"]])}`;
  return `${path.split("?")[0]}?${new URLSearchParams(entries)}`;
}

/** What is wrong with an answer, whatever was asked; undefined for nothing. */
function fault(answer: Answer): string | undefined {
  if (answer.status >= 500 && answer.status !== 501) return "a server error";
  if (answer.status < 400) return undefined;
  if (!matches(ErrorEnvelope, answer.json)) return "an error without the envelope";
  const known = (ERRORS as Readonly<Record<string, { status: number }>>)[answer.json.error];
  if (known === undefined) return "an unknown code";
  return known.status === answer.status ? undefined : "a code with another status";
}

async function fuzz(host: Target, operations: readonly Named[], rounds: number): Promise<void> {
  const random = randomFrom(seed);
  const furniture = await furnish(host);
  const faults: string[] = [];
  let accepted = 0;
  for (let round = 0; round < rounds * PER_OPERATION; round += 1) {
    for (const named of operations) {
      const path = target(random, named, furniture);
      const sent = request(random, named);
      const who = pick(random, ["owner", "owner", "owner", "reviewer", "viewer", "mallory"] as const);
      const answer = await host.ask(named[1].method, path, { as: who, ...sent });
      if (answer.status < 300) accepted += 1;
      const found = fault(answer);
      if (found !== undefined) {
        faults.push(
          `${found}: ${named[1].method} ${path} ${JSON.stringify(sent)} → ${answer.status} ${answer.text}`.slice(
            0,
            900,
          ),
        );
      }
    }
  }
  expect(faults).toEqual([]);
  // Requests that are all refused at the first check would try nothing behind it.
  expect(accepted).toBeGreaterThan(rounds * operations.length);
}

export const attacks: readonly Attack[] = [
  {
    title: "generated and mutated requests are answered with a known code and never with a server error",
    flags: [],
    attempt: (host, rounds) => fuzz(host, WITHOUT_ENDS, rounds),
  },
];
