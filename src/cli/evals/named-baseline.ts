import type { EvalBaseline } from "../../protocol/evals/eval-baseline.ts";
import type { Named } from "../program/nearest.ts";
import type { EvalHome } from "./eval-home.ts";

/** For whoever named one that is not there. */
export function namedBaseline(home: EvalHome, suiteId: string, name: string): Named {
  const ofSuite = async () => (await allBaselines(home)).filter((one) => one.suiteId === suiteId);
  return { name, names: async () => (await ofSuite()).map((one) => one.name) };
}

/** A baseline may be called `latest`; then the word means that one. */
export async function isBaseline(home: EvalHome, suiteId: string, name: string): Promise<boolean> {
  return (await allBaselines(home)).some((one) => one.suiteId === suiteId && one.name === name);
}

export async function allBaselines(home: EvalHome): Promise<EvalBaseline[]> {
  const all: EvalBaseline[] = [];
  let cursor: string | undefined;
  do {
    const page = await home.baselines(cursor);
    all.push(...page.baselines);
    cursor = page.nextCursor;
  } while (cursor !== undefined);
  return all;
}
