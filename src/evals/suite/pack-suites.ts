import type { PackSuites } from "../../agents/packs/check-pack.ts";
import type { Scrubber } from "../../formats/secrets/scrub.ts";
import { loadSuite, SENT_SUITE_LIMITS } from "./load-suite.ts";
import { refText } from "./suite-ref.ts";
import { suiteWritesUnlessThere } from "./suite-store.ts";

/** Suites of packs are suites like any other. */
export function packSuites(scrubber: Scrubber): PackSuites {
  return {
    read(bytes) {
      const loaded = loadSuite(bytes, { scrubber, limits: SENT_SUITE_LIMITS });
      if (!loaded.ok) {
        const errors = loaded.problems.filter(({ severity }) => severity === "error");
        return { ok: false, problems: errors.map(({ path, problem }) => `${path || "the suite"} ${problem}`) };
      }
      return {
        ok: true,
        suite: {
          ref: refText(loaded.suite),
          sha256: loaded.sha256,
          writes: (store, by, atMs) => suiteWritesUnlessThere(store, loaded, by, atMs),
        },
      };
    },
  };
}
