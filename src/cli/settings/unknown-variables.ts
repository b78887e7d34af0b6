import { readFileSync } from "node:fs";
import { closestTo } from "../../protocol/closest-to.ts";
import type { Environment } from "./config.ts";
import { environmentNameOf, SETTINGS, type SettingName } from "./settings.ts";

/** Variables that are no setting: the name of the config file, and those that programs are given by Assay. */
const OTHERS = [
  "ASSAY_CONFIG",
  "ASSAY_TASK_ID",
  "ASSAY_RUN_ID",
  "ASSAY_TRIAL",
  "ASSAY_TOOLS_URL",
  "ASSAY_TOOLS_TOKEN",
  "ASSAY_TAPE",
  "ASSAY_PROCESS_TAPE",
];

/** Beginnings of names: marks of started programs, and what tests and benchmarks are controlled by. */
const FAMILIES = ["ASSAY_STARTED_", "ASSAY_TEST_", "ASSAY_BENCH_"];

/**
 * A warning for each variable that looks like a setting and is none. `named` are variables that a setting names, such as the one
 * with a model's key. Never with a value: it may be a secret.
 */
export function unknownVariables(env: Environment, named: readonly (string | undefined)[] = []): string[] {
  const settings = (Object.keys(SETTINGS) as SettingName[]).map(environmentNameOf);
  const known = new Set<string | undefined>([...settings, ...OTHERS, ...named]);
  return Object.keys(env)
    .filter((name) => name.startsWith("ASSAY_") && !known.has(name) && !FAMILIES.some((one) => name.startsWith(one)))
    .sort()
    .map((name) => {
      const nearest = closestTo(name, [...settings, "ASSAY_CONFIG"]);
      const next = nearest === undefined ? "docs/configuration.md lists the settings." : `Did you mean ${nearest}?`;
      return `${name} is no setting of Assay and was ignored. ${next}`;
    });
}

/** Names of variables in an agents file, such as that of a model's key. A file that cannot be read is refused where it is used. */
export function variablesIn(file: string | undefined): string[] {
  if (file === undefined) return [];
  try {
    return [...readFileSync(file, "utf8").matchAll(/"(ASSAY_\w+)"/g)].map(([, name = ""]) => name);
  } catch {
    return [];
  }
}
