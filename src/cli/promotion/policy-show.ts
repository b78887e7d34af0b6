import type { PolicyRule, PromotionPolicy } from "../../protocol/promotion/promotion-policy.ts";
import { connect } from "../client/client.ts";
import { formatDuration } from "../output/amount.ts";
import { printable, shorten } from "../output/printable.ts";
import { formatTable } from "../output/table.ts";
import type { Call } from "../program/command.ts";

/** In characters. */
const TASKS_SHOWN = 120;

export async function policyShow({ args: [subject], json, config, io }: Call): Promise<undefined> {
  const client = connect(config);
  if (subject === undefined) {
    const { policies } = await client.promotion.policies();
    if (json) return void io.out(JSON.stringify({ policies }));
    if (policies.length === 0) io.err("There is no policy: transitions need nothing beside the scope of a key.");
    else io.out(table(policies, io.paint));
    return undefined;
  }
  const policy = await client.promotion.policy(subject);
  io.out(json ? JSON.stringify(policy) : table([policy], io.paint));
  return undefined;
}

function table(policies: readonly PromotionPolicy[], paint: Parameters<typeof formatTable>[2]): string {
  const rows = policies.flatMap(({ subject, rules: { promote = {}, ...others } }) => {
    const steps = Object.entries(promote).map(([to, rule]) => [`promote to ${to}`, rule] as const);
    const all: (readonly [string, PolicyRule])[] = [...steps, ...Object.entries(others)];
    if (all.length === 0) return [[printable(subject), "everything", "nobody", "none"]];
    return all.map(([word, rule]) => [printable(subject), word, printable(peopleOf(rule)), printable(evalOf(rule))]);
  });
  return formatTable(["AGENT", "TRANSITION", "LET PASS BY", "EVALUATION"], rows, paint);
}

function peopleOf({ gate }: PolicyRule): string {
  if (gate === undefined) return "nobody";
  const { requiredRole, requiredScope, quorum = 1, minHumans = 0 } = gate;
  const people = minHumans === 0 ? "" : `, ${minHumans} of them people`;
  return `${Math.max(quorum, minHumans)} × ${[requiredRole, requiredScope].filter(Boolean).join(" with ")}${people}`;
}

function evalOf({ requiredEval }: PolicyRule): string {
  if (requiredEval === undefined) return "none";
  const { suite, requiredPassScore, maxAgeSec, evalRunId, requireCertificate } = requiredEval;
  const { acceptHumanOverrides, allowUnusedFixtures } = requiredEval;
  const { modes, tasks } = requiredEval.evidence ?? {};
  return [
    suite,
    requiredPassScore === undefined ? "passed" : `at least ${requiredPassScore}`,
    ...(modes === undefined ? [] : [`modes ${modes.join(" and ")}`]),
    ...(tasks === undefined ? [] : [`tasks ${shorten(tasks.join(" and "), TASKS_SHOWN)}`]),
    ...(evalRunId === undefined ? [] : [`the run ${evalRunId}`]),
    ...(maxAgeSec === undefined ? [] : [`at most ${formatDuration(maxAgeSec * 1000)} old`]),
    ...(requireCertificate === undefined || requireCertificate === false ? [] : ["judge certified"]),
    ...(acceptHumanOverrides === true ? ["people may override"] : []),
    ...(allowUnusedFixtures === true ? ["unused fixtures allowed"] : []),
  ].join(", ");
}
