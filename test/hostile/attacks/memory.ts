import { request } from "node:http";
import { expect } from "vitest";
import { doubling } from "../../../src/testing/doubling.ts";
import { eventually } from "../../../src/testing/eventually.ts";
import { workflow } from "../../../src/testing/workflow.ts";
import type { Attack } from "../attack.ts";
import { KEYS, type Target } from "../target.ts";

const REVIEW_BYTES = 15_000_000;
const AT_ONCE = 40;
/** How long a host waits for bodies until the test believes that it waits for them. */
const WAIT_MS = 500;

interface Announced {
  /** Undefined while the host waits for the body. */
  readonly answer: { readonly status: number | undefined; readonly retryAfter: string | undefined } | undefined;
  end(): void;
}

/** Sends the head of a request for a review and nothing of its body. */
function announce(target: Target): Announced {
  const headers = { authorization: `Bearer ${KEYS.owner.key}`, "content-length": REVIEW_BYTES };
  const sent = request(`${target.url}/v1/host/assay/afp/run`, { method: "POST", headers, agent: false });
  sent.flushHeaders();
  const announced: { -readonly [Key in keyof Announced]: Announced[Key] } = {
    answer: undefined,
    end: () => void sent.destroy(),
  };
  sent.on("error", () => {});
  sent.on("response", ({ statusCode, headers: got }) => {
    announced.answer = { status: statusCode, retryAfter: got["retry-after"] };
  });
  return announced;
}

/** A request for a review of 15 MB, sent whole. Resolves with its status; 0 where the host closed the connection first. */
async function upload(target: Target, body: string): Promise<number> {
  const headers = { authorization: `Bearer ${KEYS.owner.key}` };
  const answer = await fetch(`${target.url}/v1/host/assay/afp/run`, { method: "POST", headers, body }).catch(
    () => undefined,
  );
  await answer?.text();
  return answer?.status ?? 0;
}

function reviewOf(bytes: number): string {
  const words = "a text to be reviewed, and more of it, ";
  const artifact = { media_type: "text/plain", content: words.repeat(Math.floor(bytes / words.length)) };
  return JSON.stringify({ protocol_version: "1.2", iteration: 1, artifact });
}

export const attacks: readonly Attack[] = [
  {
    title: "runs that double a variable fail one after the other, and other runs complete meanwhile",
    flags: ["--max-run-bytes", "300000"],
    async attempt(target, rounds) {
      await target.register(doubling("doubling", 100));
      await target.register(workflow({ id: "small", nodes: { a: "core.noop" } }));
      const large = await Promise.all(Array.from({ length: 20 * rounds }, () => target.begin("doubling")));
      expect((await target.ends(await target.begin("small"))).status).toBe("completed");
      for (const runId of large) expect((await target.ends(runId)).error.code).toBe("run_too_large");
    },
  },
  {
    title: "of forty large reviews at once the host takes as many as it has room for, before it reads any",
    async attempt(target) {
      const announced = Array.from({ length: AT_ONCE }, () => announce(target));
      const refused = () => announced.flatMap(({ answer }) => (answer === undefined ? [] : [answer]));
      await eventually(() => expect(refused().length).toBeGreaterThan(AT_ONCE / 2));
      await new Promise((resolve) => setTimeout(resolve, WAIT_MS));
      expect(refused().length).toBeLessThan(AT_ONCE);
      for (const answer of refused()) expect(answer).toEqual({ status: 503, retryAfter: "1" });
      for (const one of announced) one.end();
    },
  },
  {
    title: "forty large reviews that are uploaded at once are answered or refused, and neither host nor thread ends",
    async attempt(target, rounds) {
      // In the long form these are 600 MB.
      const [count, bytes] = rounds > 1 ? [AT_ONCE, REVIEW_BYTES] : [4, 1_500_000];
      const body = reviewOf(bytes);
      const statuses = await Promise.all(Array.from({ length: count }, () => upload(target, body)));
      expect(statuses.filter((status) => status !== 200 && status !== 503 && status !== 0)).toEqual([]);
      expect(statuses).toContain(200);
      expect(target.isAlive()).toBe(true);
      expect((await target.ask("GET", "/readyz", { as: "nobody" })).status).toBe(200);
      expect(await upload(target, reviewOf(1000))).toBe(200);
    },
  },
];
