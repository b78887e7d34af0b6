import type { Scrubber } from "../../formats/secrets/scrub.ts";
import type { ProblemList } from "./suite-problem.ts";
import { pointerTo } from "./validate-fields.ts";

const FIX =
  "Take it out: suites are shared and kept. For a trap, plant a canary like CANARY-7f3a-blue, which is no secret and is detected.";

/** Secrets are errors, not warnings: suites travel in packs and repositories, from which a secret cannot be taken back. */
export function checkSecrets(value: unknown, scrubber: Scrubber, found: ProblemList): void {
  check("", value);

  function check(path: string, item: unknown): void {
    if (typeof item === "string") {
      if (scrubber.holdsKey(item)) found.add("secret", path, "holds something that looks like a secret", FIX);
    } else if (Array.isArray(item)) {
      for (let i = 0; i < item.length; i++) check(`${path}/${i}`, item[i]);
    } else if (typeof item === "object" && item !== null) {
      for (const [name, member] of Object.entries(item)) {
        // The path of such a member would show its name.
        if (scrubber.holdsKey(name)) {
          found.add("secret", path, "has a member whose name looks like a secret", FIX);
        } else check(pointerTo(path, name), member);
      }
    }
  }
}
