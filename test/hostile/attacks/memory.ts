import { expect } from "vitest";
import { doubling } from "../../../src/testing/doubling.ts";
import { workflow } from "../../../src/testing/workflow.ts";
import type { Attack } from "../attack.ts";
import type { Target } from "../target.ts";

const REVIEW_BYTES = 12_000_000;

/** How the host answers a body of which it has seen the length and nothing else yet. */
async function announce(target: Target, signal: AbortSignal): Promise<number | undefined> {
  const body = new ReadableStream({ pull: () => new Promise(() => {}) });
  const headers = { authorization: "Bearer hostile-key-of-the-owner-olga", "content-length": String(REVIEW_BYTES) };
  const sent = { method: "POST", headers, body, duplex: "half" as const, signal };
  return fetch(`${target.url}/v1/host/assay/reviews`, sent as RequestInit).then(
    ({ status }) => status,
    () => undefined,
  );
}

export const attacks: readonly Attack[] = [
  {
    title: "runs that double a variable fail one after the other, and other runs complete meanwhile",
    flags: ["--max-run-bytes", "1000000"],
    async attempt(target, rounds) {
      await target.register(doubling("doubling", 100));
      await target.register(workflow({ id: "small", nodes: { a: "core.noop" } }));
      const large = await Promise.all(Array.from({ length: 20 * rounds }, () => target.begin("doubling")));
      const small = await target.begin("small", {}, "owner");
      expect((await target.ends(small)).status).toBe("completed");
      for (const runId of large) expect((await target.ends(runId)).error.code).toBe("run_too_large");
    },
  },
];

void announce;
