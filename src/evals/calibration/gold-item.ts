import { isMadeHere } from "../../engine/judgments/may-replace.ts";
import { canonicalJson } from "../../formats/json/canonical-json.ts";
import { sha256 } from "../../formats/text/sha256.ts";
import { validationError } from "../../protocol/errors.ts";
import type { LeftOut } from "../../protocol/evals/judge-certificate-api.ts";
import type { Signal } from "../../protocol/judgments/annotation.ts";
import type { GoldJudgment } from "../../statistics/gold.ts";
import type { AnnotationRecord } from "../../store/port/judgments.ts";
import { meets } from "../score/task-bar.ts";
import { rubricKey, type SuiteRubric } from "./judge-certification.ts";

/** An output that people judged, with all that a judge is to be asked about it. */
export interface GoldItem extends SuiteRubric {
  /** Equal for the same output to the same question: judged in two runs it is one item. */
  readonly itemId: string;
  readonly taskId: string;
  readonly trial: number;
  readonly input: unknown;
  readonly output: unknown;
  readonly toolResults: readonly { readonly tool: string; readonly result: unknown }[];
}

export function goldItem(item: Omit<GoldItem, "itemId">): GoldItem {
  const { input, output, toolResults } = item;
  const text = canonicalJson(JSON.parse(JSON.stringify([rubricKey(item), input ?? null, output ?? null, toolResults])));
  return { ...item, itemId: sha256(text) };
}

export interface FoundGold {
  readonly items: readonly GoldItem[];
  readonly judgments: readonly GoldJudgment[];
  readonly leftOut: readonly LeftOut[];
  readonly people: GoldPeople;
}

export interface GoldPeople {
  /** Authors of the verdicts that count, and people who withdrew verdicts of others. */
  readonly judgedBy: readonly string[];
  /** Authors of verdicts that were withdrawn or replaced. */
  readonly withdrawnOf: readonly string[];
}

/** Characters of the outputs of one calibration, which has all of them in memory. */
const GOLD_CHARACTERS = 32_000_000;

/** Room for the outputs of all runs of a calibration. */
export class GoldRoom {
  #left: number;

  constructor(characters = GOLD_CHARACTERS) {
    this.#left = characters;
  }

  /** Throws `validation_error` where they are too many. */
  take({ output, toolResults }: GoldItem): void {
    this.#left -= JSON.stringify([output, toolResults]).length;
    if (this.#left >= 0) return;
    throw validationError(
      `the outputs that people judged in these runs have more than ${GOLD_CHARACTERS} characters together; name fewer runs`,
    );
  }
}

export class GoldCollector {
  readonly #items = new Map<string, GoldItem>();
  readonly #judgments: GoldJudgment[] = [];
  readonly #leftOut: LeftOut[] = [];
  readonly #adjudicated: ReadonlySet<string>;
  readonly #room: GoldRoom;
  readonly #judgedBy = new Set<string>();
  readonly #withdrawnOf = new Set<string>();

  /** `adjudicated` are the ids of annotations that settle what others disagreed on. */
  constructor(adjudicated: ReadonlySet<string>, room: GoldRoom) {
    this.#adjudicated = adjudicated;
    this.#room = room;
  }

  /** The output that an annotation is about, or why it is about none. Annotations that no longer count are passed over. */
  take(annotation: AnnotationRecord, about: GoldItem | LeftOut): void {
    const { actor, actorKind, signal, createdAtMs, annotationId, state } = annotation;
    if (state !== "live") {
      this.#passOver(annotation);
      return;
    }
    const item = actorKind !== "person" ? "not_a_person" : isMadeHere(annotation) ? about : "imported";
    const label = typeof item === "string" ? undefined : verdictOf(signal, item.bar);
    if (typeof item === "string" || label === undefined) {
      this.#leftOut.push(typeof item === "string" ? item : "no_verdict");
      return;
    }
    if (!this.#items.has(item.itemId)) this.#room.take(item);
    this.#items.set(item.itemId, item);
    this.#judgedBy.add(actor);
    this.#judgments.push({
      itemId: item.itemId,
      by: actor,
      kind: actorKind,
      label,
      adjudicated: this.#adjudicated.has(annotationId),
      at: new Date(createdAtMs).toISOString(),
    });
  }

  found(): FoundGold {
    const people = { judgedBy: [...this.#judgedBy], withdrawnOf: [...this.#withdrawnOf] };
    return { items: [...this.#items.values()], judgments: this.#judgments, leftOut: this.#leftOut, people };
  }

  #passOver(annotation: AnnotationRecord): void {
    const { actor, actorKind, retraction } = annotation;
    if (actorKind !== "person" || !isMadeHere(annotation)) return;
    // Replaced verdicts count too: the replacement may be no verdict, or about another item.
    this.#withdrawnOf.add(actor);
    if (retraction !== undefined && retraction.by !== actor) this.#judgedBy.add(retraction.by);
  }
}

/** A rating counts as the score it would give the task, as it does where people override. */
function verdictOf({ kind, label, rating }: Signal, bar: number): "pass" | "fail" | undefined {
  if (kind === "label" && (label === "pass" || label === "fail")) return label;
  if (kind === "rating" && rating !== undefined) return meets((rating - 1) / 4, bar) ? "pass" : "fail";
  return undefined;
}
