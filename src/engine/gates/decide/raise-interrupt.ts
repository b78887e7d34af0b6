import { defined } from "../../../protocol/defined.ts";
import { AppError } from "../../../protocol/errors.ts";
import type { EventDraft, RunError } from "../../../protocol/events.ts";
import { type Interrupt, type InterruptKind, isGoverned } from "../../../protocol/gates/interrupt.ts";
import { hostsMember, INTERRUPT_DATA, misplacedRule } from "../../../protocol/gates/interrupt-data.ts";
import type { Run } from "../../../protocol/runs/run.ts";
import { matches, problemsOf } from "../../../protocol/schema.ts";
import { changesBetween } from "../../runs/decide/json-changes.ts";
import { compileSchema } from "../../schemas/decide/json-schema.ts";

/** The interrupt that a node asks for. */
export interface InterruptRequest {
  readonly kind: InterruptKind;
  /** Raised once in a run. The node and its visit, unless the node raises several interrupts. */
  readonly key?: string;
  readonly data: Readonly<Record<string, unknown>>;
  readonly resumeSchema?: Readonly<Record<string, unknown>>;
  readonly timeoutMs?: number;
  readonly profile?: string;
  /** Events that are written before the interrupt, in the same commit. */
  readonly announcing?: readonly EventDraft[];
}

interface Raising extends InterruptRequest {
  readonly key: string;
  readonly interruptId: string;
  readonly correlationId?: string;
  readonly at: string;
}

const KEY_MAX = 256;

/** The events of a node that suspends, in the protocol's order. An interrupt that is open under the same key is not raised again. */
export function raiseInterrupt(
  run: Run,
  nodeId: string,
  raising: Raising,
): EventDraft[] | { readonly error: RunError } {
  const { kind, key } = raising;
  const asked = Object.values(run.interrupts).find(
    (one) => one.key === key && one.reopened === undefined && one.held === undefined,
  );
  if (asked?.status === "open" && asked.nodeId === nodeId) return [suspended(nodeId, asked)];
  const problem = asked === undefined ? problemWith(raising) : `node ${asked.nodeId} has asked for ${key} already`;
  if (problem !== undefined) {
    return { error: { code: "interrupt_invalid", message: `Node ${nodeId} cannot ask for ${kind}: ${problem}.` } };
  }
  const { data, resumeSchema, timeoutMs, profile, interruptId, correlationId, at } = raising;
  const shown =
    kind === "approval" ? { ...data, ...sinceLastTime(run, nodeId, data), ...changedInBranch(run) } : { ...data };
  return [
    ...(raising.announcing ?? []),
    {
      type: "interrupt.requested",
      nodeId,
      payload: {
        kind,
        key,
        data: shown,
        ...(resumeSchema === undefined ? {} : { resumeSchema: { ...resumeSchema } }),
        ...defined({ timeoutMs }),
        runId: run.runId,
        nodeId,
        interruptId,
        requestedAt: at,
        ...defined({ correlationId, profile }),
      },
    },
    ...olderTwin(nodeId, { kind, data, interruptId }),
    suspended(nodeId, { interruptId, kind, key, data }),
  ];
}

function problemWith({ kind, key, data, timeoutMs = 0, resumeSchema }: Raising): string | undefined {
  if (key.length === 0 || key.length > KEY_MAX)
    return `its key has ${key.length} characters and may have 1 to ${KEY_MAX}`;
  if (!Number.isSafeInteger(timeoutMs) || timeoutMs < 0) return "timeoutMs must be a whole number, 0 or more";
  const schema = INTERRUPT_DATA[kind];
  if (schema === undefined) return "there is no such kind";
  if (!matches(schema, data)) {
    const [first] = problemsOf(schema, data);
    return `data${first?.path ?? ""} ${first?.problem ?? "does not match"}`;
  }
  const hosts = kind === "approval" ? hostsMember(data) : undefined;
  if (hosts !== undefined) return `data.${hosts} is written by the host`;
  const vain = kind === "approval" ? misplacedRule(data, isGoverned({ data })) : undefined;
  return vain === undefined ? unusable(resumeSchema, data) : `data.${vain} would not be held to at this sort of gate`;
}

/** The problem with a schema of the answer: no answer could match one that cannot be compiled. */
function unusable(resumeSchema: Raising["resumeSchema"], data: Raising["data"]): string | undefined {
  const questions = (data["questions"] ?? []) as readonly { readonly schema?: Raising["resumeSchema"] }[];
  try {
    for (const schema of [resumeSchema, ...questions.map((question) => question.schema)]) {
      if (schema !== undefined) compileSchema(schema, "its schema of the answer");
    }
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    return String(error.details["problem"]);
  }
  return undefined;
}

function suspended(
  nodeId: string,
  { interruptId, kind, key, data }: Pick<Interrupt, "interruptId" | "kind" | "key" | "data">,
): EventDraft {
  const { agentId, threshold, observed } = data;
  const reason = kind === "low-confidence" ? { reason: "low-confidence", agentId, threshold, observed } : {};
  return { type: "node.suspended", nodeId, payload: { nodeId, interruptId, kind, key, ...reason } };
}

/** The event for readers that are older than the interrupt primitive. There is none for a governed gate, which is newer than them. */
function olderTwin(
  nodeId: string,
  { kind, data, interruptId }: Pick<Raising, "kind" | "data" | "interruptId">,
): EventDraft[] {
  if (kind === "clarification") {
    const questions = data["questions"] as { id: string; question: string }[];
    return [{ type: "clarification.requested", nodeId, payload: { nodeId, interruptId, questions } }];
  }
  if (kind !== "approval" || isGoverned({ data })) return [];
  const { artifactId, artifactType, title, actions, approversList, requiredApprovals } = data as {
    artifactId: string;
    artifactType: string;
    title: string;
    actions: string[];
    approversList?: string[];
    requiredApprovals?: number;
  };
  const offered = actions.map((action) => (action === "edit-accept" ? "edit" : action));
  return [
    {
      type: "approval.requested",
      nodeId,
      payload: {
        nodeId,
        interruptId,
        artifactId,
        artifactType,
        title,
        actions: offered as ("accept" | "reject" | "refine" | "edit" | "ask")[],
        ...(approversList === undefined ? {} : { approversList: [...approversList] }),
        ...defined({ requiredApprovals }),
      },
    },
  ];
}

/** A gate of a branch names the options that the branch changed. */
function changedInBranch({ branchChanges }: Run): Readonly<Record<string, unknown>> {
  return branchChanges === undefined ? {} : { branch: { changedOptions: [...branchChanges] } };
}

/**
 * A gate that is raised again shows how it ended before, and the changes of the artifact since. A gate that a branch re-opened also names
 * the run that it was decided for and the changed options.
 */
function sinceLastTime(run: Run, nodeId: string, data: Raising["data"]): Readonly<Record<string, unknown>> {
  const before = Object.values(run.interrupts)
    .filter((one) => one.nodeId === nodeId && one.kind === "approval")
    .at(-1);
  if (before === undefined) return {};
  const { interruptId, outcome, reason, resolvedBy, closedAt } = before;
  const seen = before.edited === undefined ? before.data["artifactData"] : before.edited.data;
  return {
    previous: {
      interruptId,
      ...defined({ outcome, reason, decidedBy: resolvedBy, decidedAt: closedAt }),
      ...reopening(before, run),
      changes: changesBetween(seen, data["artifactData"]),
    },
  };
}

/** Members for gates that a branch re-opened only: the computation of a replay must not depend on the interrupts it inherits. */
function reopening({ reopened, held, raisedIn }: Interrupt, run: Run): Readonly<Record<string, unknown>> {
  const changes = held === undefined ? reopened : (run.branchChanges ?? []);
  if (changes === undefined) return {};
  return {
    ...defined({ decidedFor: raisedIn }),
    ...(changes.length === 0 ? {} : { changedOptions: [...changes] }),
  };
}
