import type { Reviewer } from "../reviews/reviewer.ts";

export interface ScriptedReviewer {
  /** Before it answers. */
  readonly wait?: () => Promise<unknown>;
  readonly agent?: string;
}

/** Remarks on every `fix:WORD` in a text by that word, quoting what follows; anything with `break:` it cannot review. */
export function scriptedReviewer({ wait, agent = "qualitative-reviewer" }: ScriptedReviewer = {}): Reviewer {
  return {
    agent,
    reviews: (mediaType) => mediaType.startsWith("text/"),
    review: async ({ request }) => {
      await wait?.();
      const text = String(request.artifact.content);
      if (text.includes("break:")) throw new Error(`cannot read ${text}`);
      return {
        confidence: { level: "high", justification: "all of it was read" },
        positive_points: [{ aspect: "length", justification: "short" }],
        remarks: Array.from(text.matchAll(/fix:(\S+)(?:(?!fix:).)*/g), ([line, word = ""]) => ({
          id: `remark-${word.toLowerCase().replace(/[^a-z0-9._-]/g, "-")}`.slice(0, 128),
          aspect: "wording",
          description: `the text says ${line}`,
          recommendation: `write something else than ${word}`,
          part: line,
        })),
        general_summary: "reviewed",
      };
    },
  };
}
