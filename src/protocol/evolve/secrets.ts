import type { RunEvent } from "../events.ts";
import type { Run } from "../runs/run.ts";
import { masked } from "../runs/sensitive.ts";
import type { Scratch } from "./nodes.ts";

/** Values that the event masks by name are masked by value from then on. */
export function withSecrets(run: Run, { payload, sealed }: RunEvent, scratch: Scratch): Run {
  const found = sealed === undefined ? [] : masked(payload, sealed);
  if (found.length === 0) return run;
  const secrets = gather(run.secrets ?? [], found, kept(scratch, scratch.secrets));
  scratch.secrets = secrets;
  return secrets.list === run.secrets ? run : { ...run, secrets: secrets.list };
}

/** A variable that is masked by its name from then on. */
export function withSensitive(run: Run, name: string, scratch: Scratch): Run {
  const sensitive = gather(run.sensitive ?? [], [name], kept(scratch, scratch.sensitive));
  scratch.sensitive = sensitive;
  return sensitive.list === run.sensitive ? run : { ...run, sensitive: sensitive.list };
}

/** A set that may be added to in place. */
function kept<T>({ isFold }: Scratch, gathered: Gathered<T> | undefined): Gathered<T> | undefined {
  return isFold ? gathered : undefined;
}

/** A list without repetitions while a fold adds to it: members are looked up in a set, and the list is copied once. */
export interface Gathered<T> {
  readonly list: readonly T[];
  readonly known: Set<T>;
  /** The list, where it was made here and is not shared yet. */
  readonly own?: T[];
}

/** `list` with the members of `more` that it lacks. `before` is the result of the last call, where its list is not shared yet. */
export function gather<T>(list: readonly T[], more: readonly T[], before: Gathered<T> | undefined): Gathered<T> {
  const known = before?.list === list ? before.known : new Set(list);
  const added = new Set(more.filter((one) => !known.has(one)));
  if (added.size === 0) return before?.list === list ? before : { list, known };
  const own = before?.list === list && before.own !== undefined ? before.own : [...list];
  for (const one of added) {
    known.add(one);
    own.push(one);
  }
  return { list: own, known, own };
}
