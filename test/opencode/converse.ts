import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Decision } from "../../src/formats/reviews/request.ts";
import { tempDir } from "../../src/testing/temp-dir.ts";
import { assay } from "../cli/assay.ts";
import { PLANS } from "./review-script.ts";

/** A provider as the command line names it. */
export interface ProviderCommand {
  readonly words: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly dir: string;
}

/** What `assay review turn` prints, as far as it is looked at here. */
interface PrintedTurn {
  readonly outcome: string;
  readonly sessionID: string;
  readonly warnings: readonly string[];
  readonly attempts: number;
  readonly response: {
    readonly feedback: { readonly areas_for_improvement: readonly { readonly id: string; readonly aspect: string }[] };
    readonly applied_feedback_ack?: { readonly items: readonly { id: string; processing_status: string }[] };
  };
}

export interface TurnSeen {
  readonly outcome: string;
  readonly warnings: readonly string[];
  readonly attempts: number;
  readonly sameSession: boolean;
  /** Of its remarks: ids are each provider's own. */
  readonly aspects: readonly string[];
  /** What was decided before this turn, and what came back about it. */
  readonly decided: readonly string[];
  readonly acknowledged: readonly string[];
}

const DECISIONS: Readonly<Record<string, Omit<Decision, "id">>> = {
  safety: { status: "accepted" },
  completeness: { status: "partial", explanation: "Named the team, not a person." },
  evidence: { status: "accepted" },
};

const NEVER_ISSUED: Decision = { id: "never-issued-item-99", status: "rejected", reason_code: "out_of_scope" };

/** A conversation of three turns, each a call of the program. */
export async function converse(provider: ProviderCommand): Promise<TurnSeen[]> {
  const seen: TurnSeen[] = [];
  const aspectOf = new Map([[NEVER_ISSUED.id, "never issued"]]);
  let items: Decision[] = [];
  let session: string | undefined;
  for (const [i, content] of PLANS.entries()) {
    const printed = await turn(provider, session, {
      protocol_version: "1.2",
      iteration: i + 1,
      artifact: { media_type: "text/markdown", content },
      ...(items.length === 0 ? {} : { applied_feedback: { items } }),
    });
    const remarks = printed.response.feedback.areas_for_improvement;
    for (const { id, aspect } of remarks) aspectOf.set(id, aspect);
    seen.push({
      outcome: printed.outcome,
      warnings: printed.warnings,
      attempts: printed.attempts,
      sameSession: session === undefined || printed.sessionID === session,
      aspects: remarks.map(({ aspect }) => aspect),
      decided: items.map(({ id, status }) => `${aspectOf.get(id)}: ${status}`),
      acknowledged: (printed.response.applied_feedback_ack?.items ?? []).map(
        ({ id, processing_status }) => `${aspectOf.get(id)}: ${processing_status}`,
      ),
    });
    session = printed.sessionID;
    items = remarks.map(({ id, aspect }) => ({ id, ...(DECISIONS[aspect] ?? { status: "accepted" }) }));
    if (i === 0) items.push(NEVER_ISSUED);
  }
  return seen;
}

/** One call; fails with all that was said when it prints nothing. */
export async function turn(
  { words, env, dir }: ProviderCommand,
  session: string | undefined,
  request: object,
): Promise<PrintedTurn> {
  const file = join(tempDir(), "request.json");
  writeFileSync(file, JSON.stringify(request));
  const named = session === undefined ? [] : ["--session", session];
  const ended = await assay(["review", "turn", "--request", file, ...named, ...words, "--json"], { env, cwd: dir });
  if (ended.stdout === "") throw new Error(`exit code ${ended.code}: ${ended.stderr}`);
  return JSON.parse(ended.stdout) as PrintedTurn;
}

export interface ConversationSeen {
  readonly status: string;
  readonly reason: string | null;
  /** As the log of decisions has them, without times and with aspects in place of ids. */
  readonly decisions: readonly object[];
}

const IMPROVE = fileURLToPath(new URL("improve.js", import.meta.url));

/** The same three turns, driven to their end by one call of the program. */
export async function loop({ words, env, dir }: ProviderCommand): Promise<ConversationSeen> {
  const folder = tempDir();
  const file = join(folder, "plan.md");
  const script = join(folder, "script.json");
  writeFileSync(file, PLANS[0]);
  writeFileSync(script, JSON.stringify({ plans: PLANS, decisions: DECISIONS }));
  const react = ["--on-feedback", process.execPath, "--on-feedback-arg", IMPROVE, "--on-feedback-arg", script];
  const args = ["review", "loop", file, ...react, ...words, "--dir", join(folder, "reviews"), "--json"];
  const ended = await assay(args, { env, cwd: dir });
  if (ended.code !== 0) throw new Error(`exit code ${ended.code}: ${ended.stdout}${ended.stderr}`);
  const { review } = JSON.parse(ended.stdout.trim().split("\n").at(-1) ?? "") as { review: string };
  const kept = (name: string) => readFileSync(join(folder, "reviews", review, name), "utf8");
  const { status, reason } = JSON.parse(kept("state.json")) as ConversationSeen;
  const decisions = kept("decisions.ndjson")
    .trim()
    .split("\n")
    .map((line) => {
      const { time: _, id: __, ...rest } = JSON.parse(line) as Record<string, unknown>;
      return rest;
    });
  return { status, reason, decisions };
}
