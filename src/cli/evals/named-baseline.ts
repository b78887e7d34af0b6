import type { EvalBaseline } from "../../protocol/evals/eval-baseline.ts";
import type { Client } from "../client/client.ts";
import type { Named } from "../program/nearest-name.ts";

/** For whoever named one that is not there. */
export function namedBaseline(client: Client, suiteId: string, name: string): Named {
  const ofSuite = async () => (await allBaselines(client)).filter((one) => one.suiteId === suiteId);
  return { name, names: async () => (await ofSuite()).map((one) => one.name) };
}

/** A baseline may be called `latest`; then the word means that one. */
export async function isBaseline(client: Client, suiteId: string, name: string): Promise<boolean> {
  return (await allBaselines(client)).some((one) => one.suiteId === suiteId && one.name === name);
}

export function allBaselines({ evals }: Client): Promise<EvalBaseline[]> {
  return evals.baselines({ limit: 200 }).all();
}
