import { createHash } from "node:crypto";
import { describe, expect, test } from "vitest";
import { scrubber } from "../../formats/secrets/scrub.ts";
import { newSession } from "../provider/session.ts";
import type { ReviewAsked, Reviewer } from "../reviewer.ts";
import { builtinReviewer } from "../reviewers/builtin/builtin-reviewer.ts";
import { ArtifactText } from "../reviewers/model-answer.ts";
import { cleaningOnce, cleanResponse, cleanReviewer } from "./clean-review.ts";

/** Makes one remark, about this part. */
function remarkingOn(part: string): Reviewer {
  const remarks = [{ id: "remark-1", aspect: "safety", description: "d", recommendation: "r", part }];
  const confidence = { level: "high", justification: "j" } as const;
  const review = { confidence, positive_points: [], remarks, general_summary: "s" };
  return { agent: "any", reviews: () => true, review: async () => review };
}

const asked = (content: string): ReviewAsked => ({
  request: { protocol_version: "1.2", iteration: 2, artifact: { media_type: "text/plain", content } },
  session: newSession("ses_1"),
  decisions: [],
  signal: new AbortController().signal,
});

async function partAfter(part: string): Promise<string | undefined> {
  const { remarks } = await cleanReviewer(remarkingOn(part), scrubber()).review(asked(""));
  return remarks[0]?.part;
}

const SECRET = "postgres://app:tulipfield@db.example.com/mail";

/** Says the same in all that a reviewer can say. */
function saying(words: string): Reviewer {
  const { review, ...rest } = remarkingOn("x");
  return {
    ...rest,
    review: async (shown) => {
      const { remarks, ...opinion } = await review(shown);
      const said = { aspect: words, description: words, recommendation: words };
      return {
        ...opinion,
        confidence: { level: "low", justification: words },
        positive_points: [{ aspect: words, justification: words }],
        remarks: remarks.map((remark) => ({ ...remark, ...said })),
        general_summary: words,
      };
    },
  };
}

describe("a reviewer behind a host", () => {
  test("makes no ids of what is secret in an artifact, in whatever letters", async () => {
    const review = await cleanReviewer(builtinReviewer(), scrubber()).review(asked(`TODO: use ${SECRET} here`));
    expect(review.remarks).toHaveLength(1);
    expect(JSON.stringify(review).toLowerCase()).not.toContain("tulipfield");
  });

  test("repeats no secret that it knows of, in whatever it says", async () => {
    const review = await cleanReviewer(saying(`use ${SECRET}`), scrubber()).review(asked(""));
    expect(JSON.stringify(review)).not.toContain("tulipfield");
    expect(review.general_summary).toContain("use postgres://");
  });

  test("is shown neither the secrets of an artifact nor those of an explanation, and the ids that were decided on", async () => {
    const seen: ReviewAsked[] = [];
    const { review, ...rest } = remarkingOn("x");
    const watched: Reviewer = {
      ...rest,
      review: (shown) => {
        seen.push(shown);
        return review(shown);
      },
    };
    const item = { id: "remark-1", status: "rejected", explanation: `see ${SECRET}` } as const;
    const { request, ...others } = asked(SECRET);
    await cleanReviewer(watched, scrubber()).review({
      ...others,
      request: { ...request, applied_feedback: { items: [item] } },
      decisions: [{ ...item, iteration: 2, known: true }],
    });
    expect(JSON.stringify(seen)).not.toContain("tulipfield");
    expect(seen[0]).toMatchObject({
      request: { iteration: 2, applied_feedback: { items: [{ id: "remark-1", status: "rejected" }] } },
      decisions: [{ id: "remark-1", known: true }],
    });
  });
});

test("a value is cleaned once in a turn, however often it is asked for", () => {
  const looked: unknown[] = [];
  const { scrubText, holdsKey } = scrubber();
  const once = cleaningOnce({
    scrubText,
    holdsKey,
    scrubValue: (value) => {
      looked.push(value);
      return scrubber().scrubValue(value);
    },
  });
  const artifact = { content: SECRET };
  expect(once.scrubValue(artifact)).toBe(once.scrubValue(artifact));
  expect(once.scrubValue(artifact)).toEqual(scrubber().scrubValue(artifact));
  expect(looked).toEqual([artifact]);
  expect(once.scrubValue(SECRET)).toBe(scrubText(SECRET));
  expect(once.scrubValue(null)).toBe(null);
});

describe("what stands for the part that a remark is about", () => {
  test("is kept as its reviewer gave it, so that the reviewer finds the passage again in the next turn", async () => {
    const text = new ArtifactText("1. Stop the importer.\n2. Copy the data.\n");
    const part = text.find("Copy the data")?.part ?? "";
    expect(text.holds((await partAfter(part)) ?? "")).toBe(true);
    const digest = createHash("sha256").update("## Cost").digest("hex");
    expect(await partAfter(digest)).toBe(digest);
  });

  test("holds no words, which may be secret", async () => {
    for (const words of ["password: tulip", "12:hunter2", "deadbeef"]) {
      expect(await partAfter(words)).toMatch(/^[0-9a-f]{64}$/);
    }
  });
});

test("an answer holds no secret in what a request made up, and the ids of its remarks stay", () => {
  const token = `ghp_${"a1B2c3D4".repeat(5)}`.slice(0, 40);
  const answer = {
    feedback: { areas_for_improvement: [{ id: token, aspect: SECRET }] },
    applied_feedback_ack: {
      items: [
        { id: token, processing_status: "acknowledged" },
        { id: SECRET, processing_status: "unknown_id" },
      ],
    },
    "x-warnings": [{ code: "unknown_field", message: `${SECRET} is not known` }],
  };
  const clean = cleanResponse(JSON.stringify(answer), scrubber());
  expect(clean).not.toContain("tulipfield");
  expect(JSON.parse(clean)).toMatchObject({
    feedback: { areas_for_improvement: [{ id: token }] },
    applied_feedback_ack: { items: [{ id: token }, { processing_status: "unknown_id" }] },
  });
  expect(cleanResponse(clean, scrubber())).toBe(clean);
  const failed = JSON.stringify({ error: { code: "INTERNAL_ERROR", message: SECRET } });
  expect(cleanResponse(failed, scrubber())).not.toContain("tulipfield");
});
