import type { GATE_EVENTS } from "../../protocol/gates/events.ts";
import { printable, printableJson } from "./printable.ts";

type Payload = Readonly<Record<string, unknown>>;

/** The content of an event of a gate or a sub-workflow as text; undefined for other events. */
export function describeGateEvent(type: string, payload: Payload): string | undefined {
  const describe = Object.hasOwn(LINES, type) ? LINES[type as keyof typeof LINES] : undefined;
  return describe === undefined ? undefined : printable(describe(payload).trim());
}

const LINES: Readonly<Record<keyof typeof GATE_EVENTS, (payload: Payload) => string>> = {
  "interrupt.requested": ({ kind, data }) => `${kind} ${subjectOf(data)}`,
  "interrupt.resolved": ({ outcome, resolvedBy, reason }) => `${outcome}${by(resolvedBy)}${because(reason)}`,
  "approval.requested": ({ title, actions }) => `${text(title)} (${list(actions)})`,
  "approval.received": ({ action, decidedBy, feedback, comment }) =>
    `${action}${by(decidedBy)}${because(feedback ?? comment)}`,
  "approval.granted": ({ principal, quorumProgress }) => `by ${principal}${progress(quorumProgress)}`,
  "approval.rejected": ({ principal, reason }) => `by ${principal}${because(reason)}`,
  "approval.overridden": ({ principal, reason }) => `by ${principal}${because(reason)}`,
  "clarification.requested": ({ questions }) => questionsOf(questions),
  "clarification.resolved": ({ answers, answeredBy }) => `${printableJson(answers)}${by(answeredBy)}`,
  "authorization.decided": ({ principal, action, resource, allowed, reason }) =>
    `${principal} ${allowed === true ? "may" : "may not"} ${action} ${resource}${because(reason)}`,
  "node.suspended": ({ kind, interruptId }) => `waits for ${kind} ${interruptId}`,
  "node.resumed": ({ resumeValue }) => (resumeValue === undefined ? "" : printableJson(resumeValue)),
  "node.dispatched": ({ childRunId, childWorkflowId }) => `${childWorkflowId} as ${childRunId}`,
  "assay.vote.recorded": ({ voter, principal, action, override, replaces, reason }) => {
    const how = override === true ? ", overriding" : replaces === undefined ? "" : `, instead of ${replaces}`;
    return `${action} of ${voter}${voter === principal ? "" : ` through ${principal}`}${how}${because(reason)}`;
  },
  "assay.starter.added": ({ principal }) => `${principal} asks for the same`,
  "assay.gate.asked": ({ by: who, text: question }) => `${who}: ${question}`,
  "assay.resume.taken": () => "",
  "assay.child.started": ({ childRunId, waits, propagates }) =>
    `${childRunId}${waits === true ? "" : ", not waited for"}${propagates === true ? "" : ", detached"}`,
  "assay.child.changed": ({ childRunId, status }) => `${childRunId} is ${status}`,
  "assay.child.ended": ({ childRunId, status, error }) => `${childRunId} is ${status}${because(messageOf(error))}`,
};

function by(who: unknown): string {
  return who === undefined ? "" : ` by ${who}`;
}

function because(reason: unknown): string {
  return typeof reason === "string" && reason !== "" ? `: ${reason}` : "";
}

function text(value: unknown): string {
  return typeof value === "string" ? value : "";
}

function list(value: unknown): string {
  return Array.isArray(value) ? value.join(", ") : "";
}

function progress(value: unknown): string {
  const { granted, required } = (value ?? {}) as { granted?: unknown; required?: unknown };
  return required === undefined ? "" : ` (${granted} of ${required})`;
}

function messageOf(error: unknown): unknown {
  return (error as { message?: unknown } | undefined)?.message;
}

/** The subject of an interrupt, in its own words. */
export function subjectOf(data: unknown): string {
  const { title, questions, eventType, customKind } = (data ?? {}) as Payload;
  return text(title) || questionsOf(questions) || text(eventType) || text(customKind);
}

function questionsOf(questions: unknown): string {
  if (!Array.isArray(questions)) return "";
  return questions.map((one: Payload | null) => text(one?.["question"])).join(" ");
}

/**
 * The note of a gate in a branch for its voters: the decision that the branch does not keep, with its run, and the options that the branch
 * changed. Undefined for other gates.
 */
export function branchNote(data: Payload): string | undefined {
  const branch = (data["branch"] ?? {}) as Payload;
  const previous = (data["previous"] ?? {}) as Payload;
  const { decidedFor, outcome = "decided", decidedBy } = previous;
  const changed = list(branch["changedOptions"] ?? previous["changedOptions"]);
  const notes = [
    ...(text(decidedFor) === "" ? [] : [`asks again, ${outcome}${by(decidedBy)} for run ${decidedFor}`]),
    ...(changed === ""
      ? []
      : [`changed in this branch: ${changed}; nodes before the gate ran with the earlier values`]),
  ];
  return notes.length === 0 ? undefined : printable(notes.join("; "));
}

export function errorText(error: unknown): string {
  const { code, message } = (error ?? {}) as { code?: unknown; message?: unknown };
  return printable(`${code}: ${message}`);
}
