import { defined } from "../../protocol/defined.ts";
import { AUTH_REQUIRED, INTERRUPT_KINDS, type InterruptKind } from "../../protocol/gates/interrupt.ts";
import { hostsMember, INTERRUPT_DATA } from "../../protocol/gates/interrupt-data.ts";
import { isObject } from "../../protocol/own.ts";
import { matches, problemsOf, type Static, Type } from "../../protocol/schema.ts";
import { registeredSchema } from "../schemas/decide/schema-limits.ts";
import type { NodeOutcome, NodeType, Ports } from "../worker/node-type.ts";
import {
  BRANCH_FIELDS,
  DEADLINE_FIELDS,
  GOVERNED_GATE,
  inVain,
  misplaced,
  misspelledRule,
  ONLY_GATES,
  ResumeSchema,
  timeoutOf,
  unknownMember,
  unreachable,
} from "./gate-config.ts";

const Config = Type.Object(
  {
    kind: Type.Enum([...INTERRUPT_KINDS]),
    data: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
    resumeSchema: ResumeSchema,
    profile: Type.Optional(Type.Enum([AUTH_REQUIRED, "openwop-interrupt-external-event"])),
    ...DEADLINE_FIELDS,
    ...BRANCH_FIELDS,
  },
  { additionalProperties: true },
);
type Config = Static<typeof Config>;

/** The primitive as a node. Its input ports overlay the fields of `config.data` that have their names. */
export const interrupt: NodeType = {
  kind: "pure",
  typeId: "core.interrupt",
  summary: "Waits for an answer of any kind: an approval, answers, an external event, or something of your own.",
  config: Config,
  check: problemWith,
  asksPerson: ({ kind }) => kind !== "external-event",
  execute: ({ node, config, inputs, answerTo }) => {
    const { kind, data, resumeSchema, profile } = config as Config;
    const answer = answerTo({
      kind,
      data: { ...(kind === "approval" ? approvalDefaults(node) : {}), ...data, ...inputs },
      ...timeoutOf(config),
      ...defined({ resumeSchema, profile }),
    });
    if (answer.timedOut) return failed("interrupt_timeout", `Node ${node.id}: no answer was given, timed out.`);
    if (kind !== "approval" && !isRejection(kind, answer.value)) {
      return { type: "completed", outputs: outputsOf(answer.value) };
    }
    if (kind !== "approval" || answer.outcome === "rejected") {
      return failed("approval_rejected", `Node ${node.id} was rejected.`);
    }
    const approved = answer.outcome === "granted";
    const outputs = { ...outputsOf(answer.value), decision: answer.outcome, outcome: answer.outcome, approved };
    return { type: "completed", outputs, ...(approved ? {} : { verdict: "refined" as const }) };
  },
};

/** Whether an answer rejects a decision of low confidence, in either form that gates accept. */
function isRejection(kind: InterruptKind, value: unknown): boolean {
  if (kind !== "low-confidence" || !isObject(value)) return false;
  return value["action"] === "reject" || value["decision"] === "rejected";
}

function approvalDefaults({ id, name }: { readonly id: string; readonly name: string }) {
  return { artifactId: id, artifactType: "approval", title: name === "" ? id : name, actions: ["accept", "reject"] };
}

function outputsOf(value: unknown): Record<string, unknown> {
  return isObject(value) ? { ...value } : { value };
}

function failed(code: "interrupt_timeout" | "approval_rejected", message: string): NodeOutcome {
  return { type: "failed", error: { code, message } };
}

/** Checks the config; the values of inputs are not known yet. */
function problemWith(config: Readonly<Record<string, unknown>>, ports: Ports): string | undefined {
  const { kind, data = {}, resumeSchema } = config as Config;
  if (resumeSchema !== undefined) registeredSchema(resumeSchema, "its resumeSchema");
  const unheld = inVain(config, kind === "approval" ? "write it in config.data" : ONLY_GATES);
  if (unheld !== undefined) return unheld;
  const unknown = unknownMember(config, Config);
  if (unknown !== undefined) return unknown;
  if (kind === "approval") {
    const hosts = hostsMember({ ...data, ...ports });
    if (hosts !== undefined) return `gives data.${hosts}, which the host writes; use another name`;
    if (data["gateId"] !== undefined) return `data.gateId belongs to ${GOVERNED_GATE}`;
    return (
      wrongData(kind, data) ??
      misplaced(data, false) ??
      misspelledRule({ ...data, ...ports }) ??
      unreachable(data as Parameters<typeof unreachable>[0])
    );
  }
  if (kind === "external-event") return unmatchable(data, ports);
  return wrongData(kind, data) ?? inVain({ ...data, ...ports }, ONLY_GATES);
}

/** A wait without a type or a correlation matches no event: its run would fail, or wait for ever. */
function unmatchable(data: Readonly<Record<string, unknown>>, ports: Ports): string | undefined {
  const fixed: Record<string, unknown> = { ...data };
  for (const [name, from] of Object.entries(ports)) {
    if (from !== "edge" && from.type === "static") fixed[name] = from.value;
    else delete fixed[name];
  }
  const wrong = wrongData("external-event", fixed);
  const missing = ["eventType", "correlation"].find((name) => !Object.hasOwn({ ...fixed, ...ports }, name));
  if (wrong !== undefined || missing === undefined) return wrong;
  return `has no data.${missing} and no input named ${missing}, so that no event could match; give one of them`;
}

function wrongData(kind: InterruptKind, data: Readonly<Record<string, unknown>>): string | undefined {
  const schema = INTERRUPT_DATA[kind];
  const given = Object.keys(data);
  if (matches(schema, data)) return undefined;
  const wrong = problemsOf(schema, data).find(({ path }) => given.some((name) => path.startsWith(`/${name}`)));
  return wrong === undefined ? undefined : `data${wrong.path} ${wrong.problem}`;
}
