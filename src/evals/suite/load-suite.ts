import { canonicalJson } from "../../formats/json/canonical-json.ts";
import { placesIn, type TextPlace } from "../../formats/json/json-places.ts";
import { type Scrubber, scrubber } from "../../formats/secrets/scrub.ts";
import { sha256 } from "../../formats/text/sha256.ts";
import { validationError } from "../../protocol/errors.ts";
import { AgentEvalSuite } from "../../protocol/evals/eval-suite.ts";
import { parse } from "../../protocol/schema.ts";
import { checkSuite } from "./check-suite.ts";
import { readSuiteText, type SuiteLimits } from "./read-suite-text.ts";
import { ProblemList, type SuiteProblem } from "./suite-problem.ts";
import { pointerTo } from "./validate-fields.ts";

export { SENT_SUITE_LIMITS } from "./read-suite-text.ts";

export interface LoadOptions {
  /** Knows the secrets of the process; without it only the shapes of secrets are detected. */
  readonly scrubber?: Scrubber;
  readonly limits?: SuiteLimits;
}

export type UsableSuite = LoadedSuite & { readonly ok: true };

export type LoadedSuite =
  | {
      readonly ok: true;
      readonly suite: AgentEvalSuite;
      readonly sha256: string;
      /** The text as its author wrote it. */
      readonly text: string;
      readonly problems: readonly SuiteProblem[];
      readonly warnings: number;
    }
  | {
      readonly ok: false;
      /** Errors and warnings in the order of the text, a thousand at most. */
      readonly problems: readonly SuiteProblem[];
      readonly errors: number;
      readonly warnings: number;
    };

/** A suite from the bytes of a file or a request, or all that is wrong with it. Never throws for what is in them. */
export function loadSuite(bytes: Uint8Array, { scrubber: given, limits }: LoadOptions = {}): LoadedSuite {
  const found = new ProblemList();
  const read = readSuiteText(bytes, found, limits);
  if (!read.ok)
    return { ok: false, ...counted(found), problems: found.listed.map((one) => ({ ...one, ...read.place })) };
  checkSuite(read.value, found);
  const clean = given ?? shapesOnly();
  checkSecrets(read.value, clean, found);
  const problems = placed(read.text, found.listed).map((one) => ({ ...one, path: shownPath(one.path, clean) }));
  if (found.errors > 0) return { ok: false, ...counted(found), problems };
  const suite = parse(AgentEvalSuite, read.value, "suite");
  return { ok: true, suite, sha256: suiteHash(suite), text: read.text, problems, warnings: found.warnings };
}

/** Returns the suite, or throws `validation_error` with every problem in its details. */
export function requireSuite(loaded: LoadedSuite, what: string): UsableSuite {
  if (loaded.ok) return loaded;
  const errors = loaded.problems.filter(({ severity }) => severity === "error");
  const [first] = errors;
  const more = loaded.errors > 1 ? `, and ${loaded.errors - 1} more` : "";
  const problem = `${what}${first?.path ?? ""} ${first?.problem ?? "is not valid"}${more}`;
  throw validationError(problem, { problems: errors, problemCount: loaded.errors });
}

/** The identity of a suite's content: the same for the same tasks, whatever the order of members and white space. */
export function suiteHash(suite: AgentEvalSuite): string {
  return sha256(canonicalJson(suite));
}

let cachedShapes: Scrubber | undefined;

function shapesOnly(): Scrubber {
  cachedShapes ??= scrubber();
  return cachedShapes;
}

function counted({ errors, warnings }: ProblemList): { readonly errors: number; readonly warnings: number } {
  return { errors, warnings };
}

function placed(text: string, problems: readonly SuiteProblem[]): SuiteProblem[] {
  if (problems.length === 0) return [];
  const places = placesIn(text, new Set(problems.map(({ path }) => path)));
  const none: Partial<TextPlace> = {};
  return problems.map((problem) => ({ ...problem, ...(places.get(problem.path) ?? none) })).sort(byPlace);
}

const PATH_CHARACTERS = 300;

/** Names of members are foreign text too, and are scrubbed unescaped, not as a pointer writes them. */
function shownPath(path: string, clean: Scrubber): string {
  const names = path
    .split("/")
    .slice(1)
    .map((step) => step.replaceAll("~1", "/").replaceAll("~0", "~"));
  const shown = names.reduce((pointer, name) => pointerTo(pointer, clean.scrubText(name)), "");
  return shown.length <= PATH_CHARACTERS ? shown : `${shown.slice(0, PATH_CHARACTERS)}…`.toWellFormed();
}

function byPlace(a: SuiteProblem, b: SuiteProblem): number {
  return (a.line ?? 0) - (b.line ?? 0) || (a.column ?? 0) - (b.column ?? 0);
}

const FIX =
  "Take it out: suites are shared and kept. For a trap, plant a canary like CANARY-7f3a-blue, which is no secret and is detected.";

/** Secrets are errors, not warnings: suites travel in packs and repositories, from which a secret cannot be taken back. */
function checkSecrets(value: unknown, scrubber: Scrubber, found: ProblemList): void {
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
