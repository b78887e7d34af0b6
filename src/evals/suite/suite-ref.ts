import { AppError, validationError } from "../../protocol/errors.ts";
import { NAME_LENGTH_MAX, SUITE_ID_PATTERN, SUITE_VERSION_PATTERN } from "../../protocol/evals/eval-suite.ts";

/** Without a version, the highest one. */
export interface SuiteRef {
  readonly suiteId: string;
  readonly version?: string;
}

const ID = new RegExp(SUITE_ID_PATTERN);
const VERSION = new RegExp(SUITE_VERSION_PATTERN);
const VERSION_LENGTH_MAX = 64;

/** `id@version`, as everything that names one suite spells it. */
export function refText({ suiteId, version }: { readonly suiteId: string; readonly version: string }): string {
  return `${suiteId}@${version}`;
}

/** The suite that a run was started with. */
export interface PlannedSuite {
  readonly suiteId: string;
  readonly suiteVersion: string;
  readonly suiteSha256: string;
}

export function plannedRef({ suiteId, suiteVersion: version }: Omit<PlannedSuite, "suiteSha256">): string {
  return refText({ suiteId, version });
}

/** `id` or `id@version`; throws `validation_error` for anything else. */
export function parseSuiteRef(text: string): SuiteRef {
  if (text.length > NAME_LENGTH_MAX + 1 + VERSION_LENGTH_MAX) throw notOne();
  const [suiteId = "", version, ...more] = text.split("@");
  if (!ID.test(suiteId) || suiteId.length > NAME_LENGTH_MAX || more.length > 0) throw notOne();
  if (version === undefined) return { suiteId };
  if (!VERSION.test(version) || version.length > VERSION_LENGTH_MAX) throw notOne();
  return { suiteId, version };
}

export function isSuiteRef(text: string): boolean {
  try {
    parseSuiteRef(text);
    return true;
  } catch (error) {
    if (error instanceof AppError) return false;
    throw error;
  }
}

function notOne(): AppError {
  return validationError(
    "a suite is named like acme.support.evals.refunds@1.0.0, or without the version for the highest there is",
  );
}

/** Number by number, however long they are. */
export function compareVersions(a: string, b: string): number {
  const [left, right] = [a, b].map((version) => version.split(".").map(BigInt)) as [bigint[], bigint[]];
  for (let i = 0; i < 3; i++) {
    const [mine = 0n, theirs = 0n] = [left[i], right[i]];
    if (mine !== theirs) return mine < theirs ? -1 : 1;
  }
  return 0;
}
