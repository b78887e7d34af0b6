import type { ReviewResponse } from "../../formats/reviews/response.ts";
import type { Attempt } from "../../reviews/requester/take-turn.ts";
import { formatCount } from "../output/amount.ts";
import type { Paint } from "../output/io.ts";
import { printable, shorten } from "../output/printable.ts";

type Success = ReviewResponse & { readonly status: "success" };

/** An answer for people: what is said about the whole, then each remark with what to do. */
export function answerText(
  { feedback, extensions }: Success,
  paint: Paint,
  decided: (id: string) => string = () => "",
): string {
  const { confidence, general_summary, areas_for_improvement: remarks, positive_points } = feedback;
  const sections = [
    ...(general_summary ? [printable(general_summary)] : []),
    ...(confidence === undefined
      ? []
      : [`${paint.dim("Confidence:")} ${confidence.level}. ${printable(confidence.justification)}`.trimEnd()]),
    ...(positive_points.length === 0 ? [] : [positive_points.map((point) => pointText(point, paint)).join("\n")]),
    ...remarks.map((remark, i) => {
      const { id, aspect, description, recommendation } = remark;
      const again = remark["x-reopened"] === true ? paint.yellow(" (open again)") : "";
      const heading = `${i + 1}. ${paint.bold(printable(id))}${aspect ? `  ${paint.cyan(printable(aspect))}` : ""}${again}${decided(id)}`;
      const lines = [
        ...(description ? [`   ${printable(description)}`] : []),
        ...(recommendation ? [`   ${paint.green("→")} ${printable(recommendation)}`] : []),
      ];
      return [heading, ...lines].join("\n");
    }),
    ...warningsOf(extensions?.["x-warnings"]),
  ];
  return sections.join("\n\n");
}

function pointText({ aspect, justification }: Success["feedback"]["positive_points"][number], paint: Paint): string {
  return `${paint.green("+")} ${printable(aspect)}: ${printable(justification)}`;
}

/** What the provider found odd in the request. */
function warningsOf(value: unknown): string[] {
  const list = Array.isArray(value) ? value : [];
  const texts = list.flatMap((one: { message?: unknown } | null) =>
    typeof one?.message === "string" ? [`The provider notes: ${printable(one.message)}`] : [],
  );
  return texts.length === 0 ? [] : [texts.join("\n")];
}

export function headline(review: string, iteration: number, ids: readonly string[]): string {
  const remarks = ids.length === 0 ? "no remarks" : formatCount(ids.length, "remark");
  return `${review}, turn ${iteration}: ${remarks}`;
}

const WHY: Readonly<Partial<Record<Attempt["outcome"], string>>> = {
  session_mismatch: "the answer belongs to another session",
  wrong_agent:
    "the command does not know the agent and asked another one; `assay review setup opencode` makes it known, --allow-other-agent takes the answer",
  timeout: "the provider was stopped at a limit",
  stream_cut: "the answer broke off",
  unparseable_answer: "the answer is not in the form that was asked for",
  session_not_found: "the provider does not know the session any more; --restart-lost-session begins anew",
  tool_failed: "the command failed",
  no_answer: "nothing was answered",
};

const DETAIL_CHARACTERS = 500;

/** Why a turn came to nothing, in a sentence. */
export function failureText(attempt: Attempt): string {
  const { outcome, problems, toolError, response, reason, stderr, exitCode } = attempt;
  const said = (text: string) => shorten(printable(text.trim()), DETAIL_CHARACTERS);
  const why = (): string => {
    if (outcome === "spawn_failed") return said(toolError?.message ?? "");
    if (outcome === "response_error" && response?.status === "error") {
      return `the provider refused: ${said(`${response.error.code} ${response.error.message ?? ""}`)}`;
    }
    if (outcome === "tool_error")
      return `the provider failed: ${said(`${toolError?.name ?? "error"}: ${toolError?.message ?? ""}`)}`;
    if (outcome === "invalid_answer") return `the answer breaks the rules: ${said(problems.join(", "))}`;
    const detail = outcome === "tool_failed" && stderr.trim() !== "" ? `: ${said(stderr)}` : "";
    const ended = reason === undefined ? "" : ` (the model stopped with "${said(reason)}")`;
    return `${WHY[outcome] ?? outcome}${ended}${detail}`;
  };
  const code = exitCode === null || exitCode === 0 ? "" : `, exit code ${exitCode}`;
  return `${why()} (${outcome}${code}, after ${formatCount(attempt.attempt, "attempt")})`;
}
