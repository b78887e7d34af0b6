import { isDeepStrictEqual } from "node:util";
import { auditDraft, refused } from "../../engine/execute.ts";
import type { Host } from "../../engine/host.ts";
import { roleTable } from "../../engine/identity/roles.ts";
import { allDocuments, sizePages } from "../../engine/shared/all-documents.ts";
import { serializeFor } from "../../engine/shared/serialize.ts";
import { AppError, validationError } from "../../protocol/errors.ts";
import type { Caller, Visibility } from "../../protocol/identity/identity.ts";
import { SCOPES } from "../../protocol/identity/scopes.ts";
import type { DeploymentTransition } from "../../protocol/promotion/api.ts";
import {
  DEFAULT_POLICY,
  POLICY_SUBJECT_PATTERN,
  type PolicyRule,
  type PromotionPolicies,
  PromotionPolicy,
  type PromotionRules,
} from "../../protocol/promotion/api.ts";
import { matches } from "../../protocol/schema.ts";
import type { Document, DocumentWrite } from "../../store/port/documents.ts";
import type { EvidenceReader } from "./evidence.ts";

type Needs = Pick<Host, "store" | "nowMs">;
type Setting = Pick<Host, "store" | "nowMs" | "scrubber">;

const KIND = "promotion-policy";

/** Policies are of the whole tenant: they hold in every workspace of it, and no workspace can do away with one. */
export async function listPolicies({ store }: Needs, { tenant }: Visibility): Promise<PromotionPolicies> {
  return { policies: await allDocuments(store, tenant, KIND, {}, policyIn) };
}

export async function getPolicy(host: Needs, visible: Visibility, subject: string): Promise<PromotionPolicy> {
  const found = await read(host, visible, subject);
  if (found === undefined) throw new AppError("not_found", { what: "promotion policy", subject });
  return policyIn(found);
}

interface RuleRead {
  readonly rule: PolicyRule;
  /** To be committed with what is decided by the rule: refused where a policy was set or removed meanwhile. */
  readonly stands: DocumentWrite;
}

/** The rule for transitions of an agent: its own policy, else the default one, else none. */
export async function ruleFor(
  host: Needs,
  visible: Visibility,
  agentId: string,
  request: DeploymentTransition,
): Promise<RuleRead> {
  // Before the policies, so that no change of them passes unseen.
  const { id, revision } = await turnOf(host, visible);
  const found = (await read(host, visible, agentId)) ?? (await read(host, visible, DEFAULT_POLICY));
  const rule = found === undefined ? {} : ruleIn(policyIn(found).rules, request);
  return { rule, stands: { type: "stands", id, revision } };
}

/** Counts the changes of the policies of a tenant: the revision of a policy begins anew when it is removed. */
async function turnOf({ store }: Pick<Host, "store">, { tenant }: Visibility) {
  const id = { tenant, kind: "promotion-policy-turn", key: "policies" } as const;
  return { id, revision: (await store.readDocument(id))?.revision ?? 0 };
}

async function turnWrite(host: Needs, visible: Visibility, atMs: number): Promise<DocumentWrite> {
  const { id, revision } = await turnOf(host, visible);
  return { type: "put", document: { ...id, revision: revision + 1, atMs, body: "{}" } };
}

function ruleIn(rules: PromotionRules, { transition, toState }: DeploymentTransition): PolicyRule {
  if (transition !== "promote") return rules[transition] ?? {};
  const { promote = {} } = rules;
  return toState === "test" || toState === "staged" || toState === "active" ? (promote[toState] ?? {}) : {};
}

export interface PutPolicy {
  readonly caller: Caller;
  readonly subject: string;
  readonly rules: PromotionRules;
}

/** Policies that could never be met, or would always be met, are refused. */
export async function putPolicy(
  host: Setting,
  evidence: EvidenceReader,
  { caller, subject, rules: given }: PutPolicy,
): Promise<PromotionPolicy> {
  requireTenantKey(caller);
  if (!SUBJECT.test(subject)) throw validationError(`a policy is of an agent, or is called ${DEFAULT_POLICY}`);
  // Names in a policy are looked up as they are, so secrets cannot be removed from them.
  if (!isDeepStrictEqual(host.scrubber.scrubValue(given), given)) {
    throw validationError("something that the policy names looks like a secret");
  }
  const rules = await eachRule(given, (rule, where) => checkedRule(host, evidence, caller, rule, where));
  return serializeFor(host.store, turnKey(caller), () => keepPolicy(host, caller, subject, rules));
}

/** Policies of a tenant that are changed together would refuse each other. */
function turnKey({ tenant }: Visibility): string {
  return `promotion policies of ${tenant}`;
}

async function keepPolicy(
  host: Setting,
  caller: Caller,
  subject: string,
  rules: PromotionRules,
): Promise<PromotionPolicy> {
  const { tenant } = caller;
  const current = await read(host, caller, subject);
  const atMs = host.nowMs();
  const policy: PromotionPolicy = {
    subject,
    rules,
    revision: (current?.revision ?? 0) + 1,
    setBy: caller.principal,
    setAt: new Date(atMs).toISOString(),
  };
  const body = JSON.stringify(policy);
  await requireRoom(host, tenant, Buffer.byteLength(body) - Buffer.byteLength(current?.body ?? ""));
  const document = { tenant, kind: KIND, key: subject, revision: policy.revision, atMs, body } as const;
  const committed = await host.store.commit({
    tenant,
    documents: [{ type: "put", document }, await turnWrite(host, caller, atMs)],
    audit: [auditDraft(caller, atMs, subject, { action: "promotion.policy.set", details: { rules } })],
  });
  if (!committed.ok) throw refused(committed.refusal);
  return policy;
}

/** All policies of a tenant are listed together, and a policy may name ten thousand tasks in each of its rules. */
const POLICIES_MAX_BYTES = 4_000_000;

async function requireRoom({ store }: Needs, tenant: string, more: number): Promise<void> {
  if (more <= 0) return;
  let bytes = more;
  for await (const page of sizePages(store, tenant, KIND, {})) for (const one of page) bytes += one.bytes;
  if (bytes <= POLICIES_MAX_BYTES) return;
  throw validationError(
    `the policies of a tenant have at most ${POLICIES_MAX_BYTES} bytes together; with this one they have ${bytes}`,
  );
}

export async function deletePolicy(
  host: Needs,
  { caller, subject }: Pick<PutPolicy, "caller" | "subject">,
): Promise<void> {
  requireTenantKey(caller);
  await serializeFor(host.store, turnKey(caller), () => removePolicy(host, caller, subject));
}

async function removePolicy(host: Needs, caller: Caller, subject: string): Promise<void> {
  const { revision } = await getPolicy(host, caller, subject);
  const { tenant } = caller;
  const atMs = host.nowMs();
  const committed = await host.store.commit({
    tenant,
    documents: [
      { type: "delete", id: { tenant, kind: KIND, key: subject }, revision },
      await turnWrite(host, caller, atMs),
    ],
    audit: [auditDraft(caller, atMs, subject, { action: "promotion.policy.removed", details: { revision } })],
  });
  if (!committed.ok) throw refused(committed.refusal);
}

const SUBJECT = new RegExp(POLICY_SUBJECT_PATTERN);

function requireTenantKey({ workspace }: Caller): void {
  if (workspace === undefined) return;
  throw new AppError("forbidden", {
    problem: `policies hold in the whole tenant; a key of workspace ${workspace} cannot change them`,
  });
}

async function eachRule(
  rules: PromotionRules,
  change: (rule: PolicyRule, where: string) => Promise<PolicyRule>,
): Promise<PromotionRules> {
  const changed: Record<string, unknown> = {};
  for (const [name, rule] of Object.entries(rules)) {
    if (name !== "promote") changed[name] = await change(rule as PolicyRule, name);
    else {
      const steps: Record<string, PolicyRule> = {};
      for (const [to, step] of Object.entries(rule)) steps[to] = await change(step as PolicyRule, `promote.${to}`);
      changed[name] = steps;
    }
  }
  return changed as PromotionRules;
}

async function checkedRule(
  host: Needs,
  evidence: EvidenceReader,
  { tenant }: Caller,
  rule: PolicyRule,
  where: string,
): Promise<PolicyRule> {
  const { gate, requiredEval } = rule;
  if (gate !== undefined) await checkGate(host, { tenant }, gate, `${where}.gate`);
  if (requiredEval === undefined) return rule;
  const { suite, evidence: coverage } = requiredEval;
  const sha256 = await evidence.suiteSha256({ tenant }, suite, coverage).catch((error: unknown) => {
    if (!(error instanceof AppError)) throw error;
    throw validationError(`${where}.requiredEval: ${String(error.details["problem"] ?? error.message)}`);
  });
  if (requiredEval.suiteSha256 !== undefined && requiredEval.suiteSha256 !== sha256) {
    throw validationError(`${where}.requiredEval.suiteSha256 is not that of ${requiredEval.suite}, which is ${sha256}`);
  }
  return { ...rule, requiredEval: { ...requiredEval, suiteSha256: sha256 } };
}

async function checkGate(
  host: Needs,
  visible: Visibility,
  { requiredRole, requiredScope, override, overrideBypassesQuorum }: NonNullable<PolicyRule["gate"]>,
  where: string,
): Promise<void> {
  if (requiredRole === undefined && requiredScope === undefined) {
    throw validationError(`${where} needs requiredRole or requiredScope: who may let it pass`);
  }
  if (overrideBypassesQuorum === true && override === undefined) {
    throw validationError(`${where} sets overrideBypassesQuorum without an override`);
  }
  const known = await roleTable(host, visible);
  for (const role of [requiredRole, override?.requiredRole]) {
    if (role !== undefined && !Object.hasOwn(known, role)) {
      throw validationError(`${where} names the undefined role ${role}; defined are ${Object.keys(known).join(", ")}`);
    }
  }
  if (requiredScope !== undefined && !(SCOPES as readonly string[]).includes(requiredScope)) {
    throw validationError(`${where} names scope ${requiredScope}, which there is not`);
  }
}

function read({ store }: Needs, { tenant }: Visibility, subject: string): Promise<Document | undefined> {
  return store.readDocument({ tenant, kind: KIND, key: subject });
}

/** A policy that cannot be read is not one that asks for nothing. */
function policyIn({ body, key }: Document): PromotionPolicy {
  const policy: unknown = JSON.parse(body);
  if (matches(PromotionPolicy, policy)) return policy;
  throw new AppError("unavailable", { reason: `The promotion policy ${key} cannot be read by this version of Assay` });
}
