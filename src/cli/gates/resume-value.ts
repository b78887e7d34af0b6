import { closestTo } from "../../protocol/closest-to.ts";
import { AppError } from "../../protocol/errors.ts";
import { APPROVAL_ACTIONS } from "../../protocol/gates/interrupt.ts";
import { assignments, type JsonObject, jsonObject, jsonValue } from "../files/arguments.ts";
import type { FlagValues } from "../program/command.ts";
import type { RESOLVE_FLAGS } from "./commands.ts";

type ResolveFlags = FlagValues<typeof RESOLVE_FLAGS>;

const DECISIONS = ["granted", "rejected"] as const;
const ACTIONS: readonly string[] = [...APPROVAL_ACTIONS, ...DECISIONS];

/** What the server is sent for an action and its flags. Throws `unusable_input` for what cannot go together. */
export function resumeValue(action: string | undefined, flags: ResolveFlags): unknown {
  if (action !== undefined) return decision(action, flags);
  const [stray] = GATE_FLAGS.filter((name) => flags[name] !== undefined && flags[name] !== false);
  if (stray !== undefined) refuse(`--${stray} goes with an action: ${ACTIONS.join(", ")}`);
  if (flags.answer.length > 0) {
    if (flags.value !== undefined) refuse("--answer and --value are two ways to answer; use one");
    return { answers: assignments(flags.answer, "--answer") };
  }
  if (flags.value !== undefined) return jsonValue(flags.value, "--value");
  return refuse(`say what to answer: an action (${ACTIONS.join(", ")}), --answer ID=VALUE, or --value JSON`);
}

const GATE_FLAGS = ["reason", "feedback", "override", "edited", "question", "voter"] as const;

function decision(action: string, flags: ResolveFlags): JsonObject {
  const { reason, feedback, voter, override } = flags;
  if (!ACTIONS.includes(action)) {
    const near = closestTo(action, ACTIONS);
    refuse(`there is no action ${action}; use ${near ?? `one of ${ACTIONS.join(", ")}`}`);
  }
  if (flags.answer.length > 0) refuse("--answer is for questions, which take no action");
  const isDecision = DECISIONS.some((one) => one === action);
  return {
    ...(flags.value === undefined ? {} : jsonObject(flags.value, "--value")),
    ...(isDecision ? { decision: action } : { action }),
    ...companionOf(action, flags),
    ...(reason === undefined ? {} : { reason }),
    ...(feedback === undefined || action === "refine" ? {} : { feedback }),
    ...(voter === undefined ? {} : { voter }),
    ...(override ? { override: true } : {}),
  };
}

/** The field that an action cannot do without. */
function companionOf(action: string, { edited, question, feedback }: ResolveFlags): JsonObject {
  if (edited !== undefined && action !== "edit-accept") refuse("--edited goes with edit-accept");
  if (question !== undefined && action !== "ask") refuse("--question goes with ask");
  switch (action) {
    case "edit-accept":
      return {
        editedArtifactData: jsonValue(edited ?? missing("edit-accept", "--edited JSON or --edited @FILE"), "--edited"),
      };
    case "ask":
      return { question: question ?? missing("ask", "--question TEXT") };
    case "refine":
      return { refineFeedback: { scope: "whole", text: feedback ?? missing("refine", "--feedback TEXT") } };
    default:
      return {};
  }
}

function missing(action: string, flag: string): never {
  return refuse(`${action} needs ${flag}`);
}

function refuse(problem: string): never {
  throw new AppError("unusable_input", { problem });
}
