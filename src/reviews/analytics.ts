import type { DecisionStatus } from "../formats/reviews/request.ts";
import { addTo } from "../formats/text/collections.ts";
import type { ReviewAnalyticsView } from "../protocol/reviews/api.ts";

/** The figures of one conversation, from any backend. */
export interface ReviewedConversation {
  /** Tells it from all others. */
  readonly conversation: string;
  readonly reviewer: string;
  readonly status: "open" | "converged" | "stopped" | "failed";
  /** Success answers, oldest first. */
  readonly answers: readonly ReviewAnswer[];
  /** Sent decisions, oldest first. */
  readonly decisions: readonly SentDecision[];
  /** Stands for the artifact of each turn: equal when the artifact was. */
  readonly artifacts: readonly string[];
}

export interface ReviewAnswer {
  readonly iteration: number;
  readonly remarks: readonly { readonly id: string; readonly aspect?: string | undefined }[];
}

export interface SentDecision {
  readonly iteration: number;
  readonly id: string;
  readonly status: DecisionStatus;
  readonly reason_code?: string | undefined;
  readonly ack: "acknowledged" | "unknown_id" | "none";
}

export type ReviewAnalytics = ReviewAnalyticsView;
export type DecisionFigures = Omit<ReviewAnalyticsView["by_aspect"][number], "aspect">;
type ConversationFigures = ReviewAnalyticsView["conversations"];
type IterationFigures = ReviewAnalyticsView["by_iteration"][number];
type ReasonFigures = ReviewAnalyticsView["by_reason"][number];

/** Figures over any number of conversations. Decisions on remarks that were never made count for acknowledgements alone. */
export function reviewAnalytics(conversations: readonly ReviewedConversation[]): ReviewAnalytics {
  const steps = analyticsSteps(conversations);
  let step = steps.next();
  while (step.done !== true) step = steps.next();
  return step.value;
}

/**
 * The same in steps of one conversation or one figure each: a host counts many conversations and serves other requests between
 * steps.
 */
export function* analyticsSteps(conversations: readonly ReviewedConversation[]): Generator<void, ReviewAnalytics> {
  const mattersBy = new Map<ReviewedConversation, Matter[]>();
  for (const one of conversations) {
    mattersBy.set(one, mattersOf(one));
    yield;
  }
  const mattersIn = (those: readonly ReviewedConversation[]) => those.flatMap((one) => mattersBy.get(one) ?? []);
  const matters = mattersIn(conversations);
  yield;
  const figures = decisionFigures(matters);
  yield;
  const by_reviewer = yield* eachOf(
    yield* groupsOf(conversations, ({ reviewer }) => reviewer),
    ([reviewer, theirs]) => ({
      reviewer,
      ...decisionFigures(mattersIn(theirs)),
      conversations: conversationFigures(theirs),
    }),
  );
  const by_aspect = yield* eachOf(yield* groupsOf(matters, ({ aspect }) => aspect), ([aspect, its]) => ({
    aspect,
    ...decisionFigures(its),
  }));
  const by_iteration = iterationFigures(matters);
  yield;
  const by_reason = yield* reasonFigures(matters);
  yield;
  const total = conversationFigures(conversations);
  yield;
  return {
    conversations: total,
    ...figures,
    ...acknowledgementFigures(conversations),
    by_reviewer,
    by_aspect,
    by_iteration,
    by_reason,
  };
}

function* eachOf<T, U>(items: readonly T[], figuresOf: (item: T) => U): Generator<void, U[]> {
  const all: U[] = [];
  yield;
  for (const item of items) {
    all.push(figuresOf(item));
    yield;
  }
  return all;
}

function acknowledgementFigures(conversations: readonly ReviewedConversation[]) {
  const acks = conversations.flatMap(({ decisions }) => decisions.filter(({ ack }) => ack !== "none"));
  const unknown = acks.filter(({ ack }) => ack === "unknown_id").length;
  return { acknowledgements: acks.length, unknown_rate: rate(unknown, acks.length) };
}

/** One remark of one conversation, with the iterations it was made in and its decisions. */
interface Matter {
  readonly aspect: string;
  readonly made: ReadonlySet<number>;
  /** The largest of `made`: a remark may have thousands of decisions, and each is compared with one number. */
  readonly lastMade: number;
  readonly decisions: readonly SentDecision[];
  readonly oscillates: boolean;
}

function mattersOf({ answers, decisions }: ReviewedConversation): Matter[] {
  const made = new Map<string, { aspect: string; places: number[] }>();
  for (const [place, { remarks }] of answers.entries()) {
    for (const { id, aspect } of remarks) {
      const known = made.get(id) ?? { aspect: "", places: [] };
      known.places.push(place);
      if (aspect !== undefined && aspect !== "") known.aspect = aspect;
      made.set(id, known);
    }
  }
  const decided = grouped(decisions, ({ id }) => id);
  return [...made].map(([id, { aspect, places }]) => {
    const iterations = places.map((place) => answers[place]?.iteration ?? 0);
    return {
      aspect,
      made: new Set(iterations),
      lastMade: iterations.reduce((last, one) => Math.max(last, one), 0),
      decisions: decided.get(id) ?? [],
      oscillates: places.some((place, i) => i > 0 && place - (places[i - 1] ?? 0) > 1),
    };
  });
}

/** A decision is sent with a request, so the answer of the same turn comes after it. */
function isMadeAfter({ lastMade }: Matter, decision: SentDecision): boolean {
  return lastMade >= decision.iteration;
}

function decisionFigures(matters: readonly Matter[]): DecisionFigures {
  const latest = matters.flatMap(({ decisions }) => decisions.at(-1)?.status ?? []);
  const reraised = matters.filter((matter) =>
    matter.decisions.some((decision) => decision.status === "accepted" && isMadeAfter(matter, decision)),
  );
  return {
    issued: matters.length,
    ...tally(latest),
    coverage: rate(latest.length, matters.length),
    reraised: reraised.length,
    oscillating: matters.filter(({ oscillates }) => oscillates).length,
  };
}

function tally(statuses: readonly DecisionStatus[]) {
  const of = (status: DecisionStatus) => statuses.filter((one) => one === status).length;
  const [decided, accepted, partial, rejected] = [statuses.length, of("accepted"), of("partial"), of("rejected")];
  return {
    decided,
    accepted,
    partial,
    rejected,
    acceptance_rate: rate(accepted, decided),
    weighted_rate: rate(accepted + 0.5 * partial, decided),
  };
}

function iterationFigures(matters: readonly Matter[]): IterationFigures[] {
  const turns = new Map<number, { issued: number; readonly statuses: DecisionStatus[] }>();
  const turnOf = (iteration: number) => {
    const turn = turns.get(iteration) ?? { issued: 0, statuses: [] };
    turns.set(iteration, turn);
    return turn;
  };
  for (const { made, decisions } of matters) {
    for (const iteration of made) turnOf(iteration).issued++;
    for (const { iteration, status } of decisions) turnOf(iteration).statuses.push(status);
  }
  return [...turns]
    .sort(([a], [b]) => a - b)
    .map(([iteration, { issued, statuses }]) => ({ iteration, issued, ...tally(statuses) }));
}

function* reasonFigures(matters: readonly Matter[]): Generator<void, ReasonFigures[]> {
  const rejections = matters.flatMap((matter) => {
    const decision = matter.decisions.at(-1);
    return decision?.status === "rejected" ? [{ matter, decision }] : [];
  });
  const byReason = yield* groupsOf(rejections, ({ decision }) => decision.reason_code || "unspecified");
  return byReason.map(([reason_code, those]) => ({
    reason_code,
    rejected: those.length,
    reraised: those.filter(({ matter, decision }) => isMadeAfter(matter, decision)).length,
  }));
}

function conversationFigures(conversations: readonly ReviewedConversation[]): ConversationFigures {
  const of = (status: ReviewedConversation["status"]) => conversations.filter((one) => one.status === status);
  const rounds = of("converged").map(({ answers }) => answers.length);
  const sum = rounds.reduce((total, one) => total + one, 0);
  return {
    total: conversations.length,
    open: of("open").length,
    converged: rounds.length,
    stopped: of("stopped").length,
    failed: of("failed").length,
    rounds_to_convergence: {
      mean: rate(sum, rounds.length),
      max: rounds.length === 0 ? null : rounds.reduce((most, one) => Math.max(most, one), 0),
    },
    oscillated: conversations.filter(({ artifacts }) => cameBack(artifacts)).length,
  };
}

/**
 * An artifact is equal to one before the last: equal to the last alone is no change. One pass, because a session has thousands.
 */
function cameBack(artifacts: readonly string[]): boolean {
  const earlier = new Set<string>();
  let last: string | undefined;
  for (const artifact of artifacts) {
    if (artifact !== last && earlier.has(artifact)) return true;
    earlier.add(artifact);
    last = artifact;
  }
  return false;
}

/** Groups in the order of their names, so that the same conversations always give the same text. */
function* groupsOf<T>(items: readonly T[], keyOf: (item: T) => string): Generator<void, [string, T[]][]> {
  const groups = grouped(items, keyOf);
  yield;
  const names = [...groups.keys()];
  yield;
  // Sorting without a comparison function: 250,000 names take a fifth of the time.
  names.sort();
  yield;
  return names.map((name) => [name, groups.get(name) ?? []]);
}

function grouped<T>(items: readonly T[], keyOf: (item: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const item of items) addTo(groups, keyOf(item), item);
  return groups;
}

function rate(part: number, whole: number): number | null {
  return whole === 0 ? null : Math.round((part / whole) * 10_000) / 10_000;
}
