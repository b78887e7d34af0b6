import { AppError } from "../../protocol/errors.ts";
import { connect } from "../client/client.ts";
import { type JsonObject, jsonObject, readText, split } from "../files/arguments.ts";
import { printable } from "../output/printable.ts";
import type { Call } from "../program/command.ts";
import type { POLICY_SET_FLAGS } from "./commands.ts";

export async function policySet(call: Call<typeof POLICY_SET_FLAGS>): Promise<undefined> {
  const { args, flags, json, config, io } = call;
  const [subject = "", file = ""] = args;
  const body = withEvidence(readText(file, file), file, split(flags.evidenceMode), split(flags.evidenceTask));
  const policy = await connect(config).promotion.setPolicy(subject, body);
  if (json) io.out(JSON.stringify(policy));
  else io.out(printable(`The policy of ${policy.subject} is set (revision ${policy.revision}).`));
  return undefined;
}

/** The rules with `evidence` in each `requiredEval`. Refused where the file has its own, or has nothing that the flags apply to. */
function withEvidence(text: string, file: string, modes: readonly string[], tasks: readonly string[]): string {
  if (modes.length === 0 && tasks.length === 0) return text;
  const evidence = { ...(modes.length === 0 ? {} : { modes }), ...(tasks.length === 0 ? {} : { tasks }) };
  let count = 0;
  const covered = (rule: unknown): unknown => {
    if (!isObject(rule) || !isObject(rule["requiredEval"])) return rule;
    const { requiredEval } = rule;
    if (requiredEval["evidence"] !== undefined) {
      throw refuse(`${file} has requiredEval.evidence; leave it out of the file, or leave the flags out`);
    }
    count += 1;
    return { ...rule, requiredEval: { ...requiredEval, evidence } };
  };
  const rules = mapped(jsonObject(text, file), (rule, name) =>
    name === "promote" && isObject(rule) ? mapped(rule, covered) : covered(rule),
  );
  if (count > 0) return JSON.stringify(rules);
  throw refuse(`--evidence-mode and --evidence-task need a requiredEval in ${file}, and it has none`);
}

function mapped(object: JsonObject, change: (value: unknown, name: string) => unknown): JsonObject {
  return Object.fromEntries(Object.entries(object).map(([name, value]) => [name, change(value, name)]));
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function refuse(problem: string): AppError {
  return new AppError("unusable_input", { problem });
}
