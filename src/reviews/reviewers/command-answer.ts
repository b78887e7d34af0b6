import { createHash } from "node:crypto";
import { REMARK_ID } from "../../formats/reviews/response.ts";
import { AppError } from "../../protocol/errors.ts";
import { parse, type Static, Type } from "../../protocol/schema.ts";
import type { Review, ReviewRemark } from "../provider/finish-turn.ts";

const Area = Type.Object({
  id: Type.Optional(Type.String()),
  aspect: Type.String(),
  description: Type.String(),
  recommendation: Type.String(),
  /** Stands for what it is about, such as the words it quotes. */
  part: Type.Optional(Type.String()),
});
type Area = Static<typeof Area>;

const Answer = Type.Object({
  confidence: Type.Optional(
    Type.Object({
      level: Type.Union([Type.Literal("high"), Type.Literal("medium"), Type.Literal("low")]),
      justification: Type.String(),
    }),
  ),
  positive_points: Type.Optional(Type.Array(Type.Object({ aspect: Type.String(), justification: Type.String() }))),
  areas_for_improvement: Type.Array(Area, { maxItems: 1000 }),
  general_summary: Type.String(),
});

export type CommandAnswer =
  | { readonly ok: true; readonly review: Review }
  | { readonly ok: false; readonly problem: string };

/** Reads the output of a reviewing program. */
export function readCommandAnswer(text: string): CommandAnswer {
  try {
    const {
      confidence,
      positive_points = [],
      areas_for_improvement,
      general_summary,
    } = parse(Answer, JSON.parse(text), "");
    return {
      ok: true,
      review: {
        confidence: confidence ?? { level: "medium", justification: "The reviewer does not say how sure it is." },
        positive_points: positive_points.map(({ aspect, justification }) => ({ aspect, justification })),
        remarks: remarksOf(areas_for_improvement),
        general_summary,
      },
    };
  } catch (error) {
    if (error instanceof SyntaxError) return { ok: false, problem: "what it printed is not JSON" };
    if (error instanceof AppError) return { ok: false, problem: String(error.details["problem"]) };
    throw error;
  }
}

function remarksOf(areas: readonly Area[]): ReviewRemark[] {
  const taken = new Set<string>();
  return areas.map(({ id: given, aspect, description, recommendation, part }) => {
    const id = unique(validId(given, `${aspect}\n${description}`), taken);
    // Without a part, the remark's own text identifies it.
    return { id, aspect, description, recommendation, part: digest(part ?? `${description}\n${recommendation}`) };
  });
}

/** The program's own id where it is valid; else one derived from it, or from the text of the remark. */
function validId(given: string | undefined, words: string): string {
  if (given !== undefined && REMARK_ID.test(given)) return given;
  const basis = given === undefined || given.trim() === "" ? words : given;
  const slug = basis
    .slice(0, 200)
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^-|-$/g, "")
    .slice(0, 40);
  return `${slug === "" ? "remark" : slug}.${digest(basis).slice(0, 10)}`;
}

const ID_CHARACTERS = 128;

function unique(id: string, taken: Set<string>): string {
  let name = id;
  for (let n = 2; taken.has(name); n++) {
    const suffix = `.${n}`;
    name = `${id.slice(0, ID_CHARACTERS - suffix.length)}${suffix}`;
  }
  taken.add(name);
  return name;
}

function digest(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
