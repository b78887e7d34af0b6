import { shownDigest } from "../../../formats/gates/gate-digest.ts";
import { AppError } from "../../../protocol/errors.ts";
import { gateRules } from "../../../protocol/gates/gate-rules.ts";
import { type Interrupt, revisionOf } from "../../../protocol/gates/interrupt.ts";
import type { Run } from "../../../protocol/runs/run.ts";
import type { Secret } from "../../../protocol/runs/sensitive.ts";

/** What a vote says it was given for. */
export interface Binding {
  readonly interruptId?: string;
  readonly revision?: number;
  readonly artifactDigest?: string;
  /** The vote came by a link, which was made for one interrupt at one revision: these two name the artifact. */
  readonly byLink?: true;
}

const NAMES = ["interruptId", "revision", "artifactDigest"] as const;

/**
 * Whether a vote must say what it was given for: where the artifact can change under a voter (an edit keeps a gate open that
 * asks for several approvals or, when an agent edits, for people), and where the node has asked before in this run.
 */
function asksForBinding(run: Run, interrupt: Interrupt): boolean {
  const { requireBoundVotes, actions, required, minHumans } = gateRules(interrupt.data);
  const staysOpen = required > 1 || minHumans > 0;
  return requireBoundVotes && ((staysOpen && actions.includes("edit-accept")) || wasVisited(run, interrupt));
}

function wasVisited({ interrupts }: Run, { nodeId, interruptId }: Interrupt): boolean {
  return Object.values(interrupts).some(
    (one) => one.nodeId === nodeId && one.interruptId !== interruptId && !one.inherited,
  );
}

/** Throws `vote_not_bound` with what differs, and with what is missing where the gate asks for it. */
export function requireBound(
  run: Run,
  interrupt: Interrupt,
  { given, secrets, isVote }: { given: Binding; secrets: readonly Secret[]; isVote: boolean },
): void {
  const { interruptId, nodeId } = interrupt;
  const missing = isVote && asksForBinding(run, interrupt) ? missingIn(given) : [];
  // The digest takes as long as the artifact is large: it is computed where it is compared or told.
  const digest = () => shownDigest(interrupt, secrets);
  const current = { interruptId, revision: revisionOf(interrupt), artifactDigest: given.artifactDigest && digest() };
  const changed = NAMES.flatMap((name) =>
    given[name] === undefined || given[name] === current[name]
      ? []
      : [{ name, given: given[name], current: current[name] }],
  );
  if (missing.length + changed.length === 0) return;
  const problem = [
    ...changed.map((one) => `${one.name} is ${one.current} now, not ${one.given}`),
    ...(missing.length === 0 ? [] : [`${missing.join(", ")} missing`]),
  ].join("; ");
  const now = { ...current, artifactDigest: current.artifactDigest ?? digest() };
  throw new AppError("vote_not_bound", { problem, runId: run.runId, nodeId, ...now, missing, changed });
}

function missingIn(given: Binding): string[] {
  return NAMES.filter((name) => given[name] === undefined && !(name === "artifactDigest" && given.byLink === true));
}
