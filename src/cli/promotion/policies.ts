import { defined } from "../../protocol/defined.ts";
import { unusableInput } from "../../protocol/errors.ts";
import { isObject } from "../../protocol/own.ts";
import type { PolicyRule, PromotionPolicy } from "../../protocol/promotion/api.ts";
import { connect } from "../client/client.ts";
import { type JsonObject, jsonObject, readText, split } from "../files/arguments.ts";
import { formatDuration } from "../output/amount.ts";
import { printable, shorten } from "../output/printable.ts";
import { printList } from "../output/table.ts";
import type { Call } from "../program/command.ts";
import type { POLICY_SET_FLAGS } from "./commands.ts";

export async function policySet(call: Call<typeof POLICY_SET_FLAGS>): Promise<undefined> {
  const { args, flags, json, config, io } = call;
  const [subject = "", file = ""] = args;
  const rules = withEvidence(readText(file, file), file, split(flags.evidenceMode), split(flags.evidenceTask));
  const policy = await connect(config).promotion.setPolicy(subject, rules);
  if (json) io.out(JSON.stringify(policy));
  else io.out(printable(`The policy of ${policy.subject} is set (revision ${policy.revision}).`));
}

/** The rules with `evidence` in each `requiredEval`. Refused where the file has its own, or has no `requiredEval`. */
function withEvidence(text: string, file: string, modes: readonly string[], tasks: readonly string[]): string {
  if (modes.length === 0 && tasks.length === 0) return text;
  const evidence = defined({
    modes: modes.length > 0 ? modes : undefined,
    tasks: tasks.length > 0 ? tasks : undefined,
  });
  let count = 0;
  const covered = (rule: unknown): unknown => {
    if (!isObject(rule) || !isObject(rule["requiredEval"])) return rule;
    const { requiredEval } = rule;
    if (requiredEval["evidence"] !== undefined) {
      throw unusableInput(`${file} has requiredEval.evidence; leave it out of the file, or leave the flags out`);
    }
    count += 1;
    return { ...rule, requiredEval: { ...requiredEval, evidence } };
  };
  const rules = mapped(jsonObject(text, file), (rule, name) =>
    name === "promote" && isObject(rule) ? mapped(rule, covered) : covered(rule),
  );
  if (count > 0) return JSON.stringify(rules);
  throw unusableInput(`--evidence-mode and --evidence-task need a requiredEval in ${file}, and it has none`);
}

function mapped(object: JsonObject, change: (value: unknown, name: string) => unknown): JsonObject {
  return Object.fromEntries(Object.entries(object).map(([name, value]) => [name, change(value, name)]));
}

export async function policyShow(call: Call): Promise<undefined> {
  const { args, config } = call;
  const { promotion } = connect(config);
  const [subject] = args;
  const result = subject === undefined ? await promotion.policies() : await promotion.policy(subject);
  const policies = "policies" in result ? result.policies : [result];
  printList(call, policies.flatMap(rowsOf), result, {
    empty: "There are no policies: a transition needs the scope of the key only.",
    headings: ["AGENT", "TRANSITION", "LET PASS BY", "EVALUATION"],
    row: (cells) => cells.map(printable),
  });
}

function rowsOf({ subject, rules: { promote = {}, ...others } }: PromotionPolicy): string[][] {
  const steps = Object.entries(promote).map(([to, rule]) => [`promote to ${to}`, rule] as const);
  const all: (readonly [string, PolicyRule])[] = [...steps, ...Object.entries(others)];
  if (all.length === 0) return [[subject, "everything", "none", "none"]];
  return all.map(([transition, rule]) => [subject, transition, approversOf(rule), evalOf(rule)]);
}

function approversOf({ gate }: PolicyRule): string {
  if (gate === undefined) return "none";
  const { requiredRole, requiredScope, quorum = 1, minHumans = 0 } = gate;
  const people = minHumans === 0 ? "" : `, ${minHumans} of them people`;
  return `${Math.max(quorum, minHumans)} × ${[requiredRole, requiredScope].filter(Boolean).join(" with ")}${people}`;
}

const TASKS_CHARACTERS = 120;

function evalOf({ requiredEval }: PolicyRule): string {
  if (requiredEval === undefined) return "none";
  const { suite, requiredPassScore, evidence, evalRunId, maxAgeSec } = requiredEval;
  const parts = [
    suite,
    requiredPassScore === undefined ? "passed" : `at least ${requiredPassScore}`,
    evidence?.modes && `modes ${evidence.modes.join(" and ")}`,
    evidence?.tasks && `tasks ${shorten(evidence.tasks.join(" and "), TASKS_CHARACTERS)}`,
    evalRunId && `the run ${evalRunId}`,
    maxAgeSec && `at most ${formatDuration(maxAgeSec * 1000)} old`,
    requiredEval.requireCertificate && "judge certified",
    requiredEval.acceptHumanOverrides && "people may override",
    requiredEval.allowUnusedFixtures && "unused fixtures allowed",
  ];
  return parts.filter(Boolean).join(", ");
}

export async function policyRemove({ args: [subject = ""], json, config, io }: Call): Promise<undefined> {
  await connect(config).promotion.removePolicy(subject);
  io.out(json ? JSON.stringify({ removed: subject }) : printable(`The policy of ${subject} is removed.`));
}
