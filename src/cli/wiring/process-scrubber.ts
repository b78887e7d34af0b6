import { LongScrubs } from "../../engine/secrets/long-scrubs.ts";
import { KnownValues } from "../../formats/secrets/known-values.ts";
import { loadRuleSet } from "../../formats/secrets/rule-set.ts";
import { type Scrubber, scrubber } from "../../formats/secrets/scrub.ts";
import { type Environment, ownEnvironment } from "../settings/config.ts";
import type { Config } from "../settings/settings.ts";
import { knownSecrets } from "./known-secrets.ts";

/** What cleans everything that this process writes, from its first log line on. */
export interface ProcessScrubber extends Scrubber {
  /** Learns one more secret. */
  keep(secret: string): void;
  /** All that it knows, for other threads of this process. */
  known(): readonly string[];
}

export async function processScrubber(config: Config, env: Environment = ownEnvironment()): Promise<ProcessScrubber> {
  const secrets = knownSecrets(config, env);
  const known = new KnownValues(secrets);
  const long = new LongScrubs();
  return {
    ...scrubber({ known, more: await loadRuleSet() }),
    scrubLong: (text) => long.scrub(text, secrets),
    keep(secret) {
      secrets.push(secret);
      known.set(secrets);
    },
    known: () => secrets,
  };
}
