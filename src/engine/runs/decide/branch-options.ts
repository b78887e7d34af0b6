import { own } from "../../../protocol/own.ts";
import type { RunOptionsOverlay } from "../../../protocol/runs/fork-api.ts";
import type { Run } from "../../../protocol/runs/run.ts";
import { deepEqual } from "../../schemas/decide/deep-equal.ts";

/** The options that an overlay gives another value, as `inputs.NAME` or `configurable.NAME`. Equal values change nothing. */
export function changedOptions(run: Run, { inputs, configurable }: RunOptionsOverlay): string[] {
  return [
    ...changedNames(run.variables, inputs).map((name) => `inputs.${name}`),
    ...changedNames(run.configurable, configurable).map((name) => `configurable.${name}`),
  ];
}

type Values = Readonly<Record<string, unknown>>;

function changedNames(before: Values = {}, given: Values = {}): string[] {
  return Object.keys(given).filter(
    (name) => !Object.hasOwn(before, name) || !deepEqual(own(before, name), given[name]),
  );
}
