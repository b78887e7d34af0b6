import { defined } from "../../protocol/defined.ts";
import { isObject, own } from "../../protocol/own.ts";
import { isIteration, isSessionLike, isUnknown, type Members, PROTOCOL_VERSION } from "./request.ts";
import {
  type Acknowledgement,
  CONFIDENCE_LEVELS,
  type ConfidenceLevel,
  ERROR_CODES,
  type Extended,
  type Feedback,
  PROCESSING_STATUSES,
  type ProcessingStatus,
  type ProviderError,
  REMARK_ID,
  type Remark,
  type ReviewResponse,
} from "./response.ts";

/** The request that the answer must match. */
export interface Expected {
  readonly iteration: number;
  /** The ids of the decisions that were sent; absent when none were. */
  readonly sentIds?: readonly string[];
  /** Warnings count as problems. */
  readonly strict?: boolean;
}

export interface CheckedResponse {
  /** Empty when the answer can be used. */
  readonly problems: readonly string[];
  /** Sorted, each once. */
  readonly warnings: readonly string[];
  readonly response?: ReviewResponse;
}

export function checkResponse(value: unknown, expected: Expected): CheckedResponse {
  if (!isObject(value)) return { problems: ["not_object"], warnings: [] };
  const problems = hardProblems(value, expected.iteration);
  if (problems.length > 0) return { problems, warnings: [] };
  const seen = new Set<string>();
  const response = usable(value, expected, (warning) => seen.add(warning));
  const warnings = [...seen].sort();
  const fatal = expected.strict ? warnings.filter((warning) => warning !== "unknown_error_code") : [];
  return fatal.length > 0 ? { problems: fatal, warnings: [] } : { problems: [], warnings, response };
}

function hardProblems(value: Members, iteration: number): string[] {
  const problems: string[] = [];
  if (own(value, "protocol_version") !== PROTOCOL_VERSION) problems.push("protocol_version");
  const echoed = own(value, "iteration");
  if (!isIteration(echoed)) problems.push("iteration");
  else if (echoed !== iteration) problems.push("iteration_mismatch");
  const status = own(value, "status");
  if (status === "success") {
    const feedback = own(value, "feedback");
    if (!isObject(feedback)) problems.push("feedback");
    else if (!Array.isArray(own(feedback, "areas_for_improvement"))) problems.push("areas_for_improvement");
  } else if (status === "error") {
    const error = own(value, "error");
    const code = isObject(error) ? own(error, "code") : undefined;
    if (typeof code !== "string" || code === "") problems.push("error");
  } else problems.push("status");
  return problems;
}

type Warn = (warning: string) => void;

const KNOWN = {
  response: ["protocol_version", "iteration", "status", "feedback", "error", "applied_feedback_ack"],
  feedback: ["confidence", "positive_points", "areas_for_improvement", "general_summary"],
  confidence: ["level", "justification"],
  point: ["aspect", "justification"],
  area: ["id", "aspect", "description", "recommendation"],
  error: ["code", "message"],
  ack: ["items"],
  ackItem: ["id", "processing_status"],
} as const;

function usable(value: Members, expected: Expected, warn: Warn): ReviewResponse {
  checkNames(value, KNOWN.response, warn);
  const { iteration } = expected;
  const acknowledged = acknowledgedIn(value, expected, warn);
  const extensions = extensionsOf(value);
  const more = {
    ...defined({ acknowledged }),
    ...(Object.keys(extensions).length === 0 ? {} : { extensions }),
  };
  if (value["status"] === "success") {
    if (Object.hasOwn(value, "error")) warn("error_with_success");
    return { status: "success", iteration, feedback: feedbackIn(value["feedback"] as Members, warn), ...more };
  }
  if (Object.hasOwn(value, "feedback")) warn("feedback_with_error");
  return { status: "error", iteration, error: errorIn(value["error"] as Members, warn), ...more };
}

/** Extension members of any object of a provider, unchanged: readers of the answer may know them. */
function extensionsOf(members: Members): Extended {
  return Object.fromEntries(
    Object.entries(members).filter(([name]) => name.startsWith("x-") && !isSessionLike(name)),
  ) as Extended;
}

function checkNames(members: Members, known: readonly string[], warn: Warn): void {
  for (const name of Object.keys(members)) {
    if (isSessionLike(name)) warn("session_field");
    else if (isUnknown(name, known)) warn("unknown_field");
  }
}

function feedbackIn(feedback: Members, warn: Warn): Feedback {
  checkNames(feedback, KNOWN.feedback, warn);
  const confidence = confidenceIn(own(feedback, "confidence"), warn);
  const summary = own(feedback, "general_summary");
  if (typeof summary !== "string") warn("general_summary");
  return {
    ...defined({ confidence }),
    positive_points: pointsIn(own(feedback, "positive_points"), warn),
    areas_for_improvement: areasIn(feedback["areas_for_improvement"] as readonly unknown[], warn),
    ...(typeof summary === "string" ? { general_summary: summary } : {}),
    ...extensionsOf(feedback),
  };
}

function confidenceIn(value: unknown, warn: Warn): Feedback["confidence"] {
  if (isObject(value)) {
    checkNames(value, KNOWN.confidence, warn);
    const level = own(value, "level") as ConfidenceLevel;
    const justification = own(value, "justification");
    if (CONFIDENCE_LEVELS.includes(level) && typeof justification === "string") {
      return { level, justification, ...extensionsOf(value) };
    }
  }
  warn("confidence");
  return undefined;
}

function pointsIn(value: unknown, warn: Warn): Feedback["positive_points"] {
  if (!Array.isArray(value)) {
    warn("positive_points");
    return [];
  }
  return value.flatMap((point: unknown) => {
    if (isObject(point)) {
      checkNames(point, KNOWN.point, warn);
      const aspect = own(point, "aspect");
      const justification = own(point, "justification");
      if (typeof aspect === "string" && typeof justification === "string") {
        return [{ aspect, justification, ...extensionsOf(point) }];
      }
    }
    warn("positive_points");
    return [];
  });
}

function areasIn(values: readonly unknown[], warn: Warn): Remark[] {
  const remarks = new Map<string, Remark>();
  for (const value of values) {
    const id = isObject(value) ? own(value, "id") : undefined;
    if (!isObject(value) || typeof id !== "string" || id === "") {
      warn("area_without_id");
      continue;
    }
    checkNames(value, KNOWN.area, warn);
    if (!REMARK_ID.test(id)) warn("id_pattern");
    if (remarks.has(id)) warn("duplicate_id");
    else remarks.set(id, remarkIn(id, value, warn));
  }
  return [...remarks.values()];
}

function remarkIn(id: string, area: Members, warn: Warn): Remark {
  const remark: Record<string, unknown> = { id };
  for (const name of ["aspect", "description", "recommendation"]) {
    const text = own(area, name);
    if (typeof text === "string") remark[name] = text;
    else warn("area_field");
  }
  return { ...remark, ...extensionsOf(area) } as Remark;
}

function errorIn(error: Members, warn: Warn): ProviderError {
  checkNames(error, KNOWN.error, warn);
  const code = error["code"] as string;
  if (!(ERROR_CODES as readonly string[]).includes(code)) warn("unknown_error_code");
  const message = own(error, "message");
  if (typeof message !== "string") warn("error_message_field");
  return { code, ...(typeof message === "string" ? { message } : {}), ...extensionsOf(error) };
}

function acknowledgedIn(value: Members, { sentIds }: Expected, warn: Warn): Acknowledgement[] | undefined {
  if (!Object.hasOwn(value, "applied_feedback_ack")) {
    if (value["status"] === "success" && sentIds !== undefined && sentIds.length > 0) warn("ack_missing");
    return undefined;
  }
  if (sentIds === undefined) warn("ack_unasked");
  const ack = value["applied_feedback_ack"];
  const items = isObject(ack) ? own(ack, "items") : undefined;
  if (!isObject(ack) || !Array.isArray(items)) {
    warn("ack_malformed");
    return [];
  }
  checkNames(ack, KNOWN.ack, warn);
  const entries = items.flatMap((item: unknown) => entryIn(item, warn));
  return sentIds === undefined ? [] : matched(entries, sentIds, warn);
}

function entryIn(item: unknown, warn: Warn): Acknowledgement[] {
  if (isObject(item)) {
    checkNames(item, KNOWN.ackItem, warn);
    const id = own(item, "id");
    const status = own(item, "processing_status") as ProcessingStatus;
    if (typeof id === "string" && PROCESSING_STATUSES.includes(status)) {
      return [{ id, processing_status: status, ...extensionsOf(item) }];
    }
  }
  warn("ack_malformed");
  return [];
}

/** Equal ids are matched one to one; order does not matter. */
function matched(entries: readonly Acknowledgement[], sentIds: readonly string[], warn: Warn): Acknowledgement[] {
  const open = new Map<string, number>();
  for (const id of sentIds) open.set(id, (open.get(id) ?? 0) + 1);
  const used = entries.filter(({ id }) => {
    const left = open.get(id) ?? 0;
    if (left === 0) warn("ack_extra");
    else open.set(id, left - 1);
    return left > 0;
  });
  if (used.length < sentIds.length) warn("ack_incomplete");
  return used;
}
