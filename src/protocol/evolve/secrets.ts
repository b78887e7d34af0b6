import type { RunEvent } from "../events.ts";
import type { Run } from "../runs/run.ts";
import { masked } from "../runs/sensitive.ts";
import { type Gathered, gather } from "./gather.ts";
import type { Scratch } from "./nodes.ts";

/** What the event masks is known from then on by its value. */
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

/** What may be added to in place. */
function kept<T>({ isFold }: Scratch, gathered: Gathered<T> | undefined): Gathered<T> | undefined {
  return isFold ? gathered : undefined;
}
