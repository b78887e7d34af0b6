import { describe, expect, test } from "vitest";
import { scrubber } from "../formats/secrets/scrub.ts";
import { type EventDraft, MASK } from "../protocol/events.ts";
import { CleanText, Messages, Reasoning, type Speaker } from "./message-stream.ts";

const SECRET = "sk-proj-Ab3dE6gH9jK2mN5pQ8sT1vW4";
const PASSPHRASE = "a horse that nobody else has ever ridden";
const PEM = `-----BEGIN RSA PRIVATE KEY-----\n${"MIIEpAIBAAKCAQEA0Z3 ".repeat(90)}\n-----END RSA PRIVATE KEY-----`;
const clean = scrubber({ known: [PASSPHRASE] });
const filler = (words: number) => Array.from({ length: words }, (_, i) => `word${i}`).join(" ");

function inPieces(text: string, size: number): string[] {
  return Array.from({ length: Math.ceil(text.length / size) }, (_, i) => text.slice(i * size, (i + 1) * size));
}

function shownOf(text: string, size: number): string[] {
  const cleaning = new CleanText(clean);
  const shown = inPieces(text, size).map((piece) => cleaning.add(piece));
  return [...shown, cleaning.end()].filter((piece) => piece !== "");
}

function speaking() {
  const events: EventDraft[] = [];
  const speaker: Speaker = {
    agentId: "local.test.echo",
    nodeId: "ask",
    runId: "run-1",
    scrubber: clean,
    content: true,
    emit: (event) => void events.push(event),
  };
  return { events, speaker, payloads: () => events.map(({ payload }) => payload) };
}

describe("a text that comes in pieces", () => {
  test.each([1, 7, 64, 1000])("is shown as it would be in one, in pieces of %i", (size) => {
    for (const secret of [SECRET, PASSPHRASE, PEM, `Authorization: Bearer ${SECRET}`]) {
      for (const before of [0, 20, 37, 120]) {
        const text = `${filler(before)} ${secret} ${filler(200)}`;
        expect(shownOf(text, size).join(""), `${before}`).toBe(clean.scrubText(text));
      }
    }
  });

  test("is shown before it ends, also where it has no words", () => {
    expect(shownOf(filler(400), 10).length).toBeGreaterThan(3);
    const letters = "漢字".repeat(1000);
    expect(shownOf(letters, 10).length).toBeGreaterThan(3);
    expect(shownOf("🐎".repeat(1000), 7).every((piece) => piece.isWellFormed())).toBe(true);
  });

  test("that hides something without end is not shown any further", () => {
    const cleaning = new CleanText(clean);
    const shown = inPieces(`-----BEGIN PRIVATE KEY-----\n${"MIIE".repeat(40_000)} ends here`, 1000).map((piece) =>
      cleaning.add(piece),
    );
    expect([...shown, cleaning.end()].join("")).toBe(MASK);
  });
});

describe("a message", () => {
  test("ends with how it ended and what it used, and the next one is another one", () => {
    const { speaker, payloads } = speaking();
    const messages = new Messages(speaker);
    messages.add("I will look. ");
    messages.used({ provider: "p", model: "m", inputTokens: 2, outputTokens: 3 });
    messages.end("tool-calls");
    messages.add("It is noon.");
    messages.end("stop");
    messages.end("stop");
    const about = { nodeId: "ask", runId: "run-1" };
    expect(payloads()).toEqual([
      {
        ...about,
        chunk: "I will look. ",
        isLast: true,
        meta: {
          finishReason: "tool-calls",
          model: "m",
          usage: { promptTokens: 2, completionTokens: 3, totalTokens: 5 },
        },
      },
      { ...about, chunk: "It is noon.", isLast: true, meta: { finishReason: "stop" } },
    ]);
  });

  test("that broke off is ended as one that counts for nothing, and what was not shown of it never is", () => {
    const { speaker, payloads } = speaking();
    const messages = new Messages(speaker);
    messages.add("early");
    messages.breakOff();
    expect(payloads()).toEqual([]);
    messages.add(`${filler(300)} late`);
    messages.breakOff();
    messages.add("the answer");
    messages.end("stop");
    const [cut, over, answer] = payloads() as { chunk: string; isLast: boolean; meta?: object }[];
    expect(cut?.isLast).toBe(false);
    expect(cut?.chunk).not.toContain("late");
    expect(over).toMatchObject({ chunk: "", isLast: true, meta: { finishReason: "error" } });
    expect(answer).toMatchObject({ chunk: "the answer", isLast: true, meta: { finishReason: "stop" } });
  });
});

describe("what an agent reasons", () => {
  test("is told as a whole in the end, counted from 0", () => {
    const { speaker, payloads } = speaking();
    const reasoning = new Reasoning(speaker);
    const text = `${filler(150)} ${SECRET} ${filler(100)}`;
    for (const piece of inPieces(text, 11)) reasoning.add(piece);
    reasoning.close();
    reasoning.close();
    const [last, ...deltas] = (payloads() as { delta?: string; sequence?: number; reasoning?: string }[]).reverse();
    deltas.reverse();
    expect(deltas.map(({ sequence }) => sequence)).toEqual(deltas.map((_, i) => i));
    expect(last).toMatchObject({ reasoning: deltas.map(({ delta }) => delta).join(""), verbosity: "full" });
    expect(last?.reasoning).toBe(clean.scrubText(text));
  });

  test("is told as much as was asked for", () => {
    const told = (["full", "summary", "off"] as const).map((verbosity) => {
      const { speaker, payloads } = speaking();
      const reasoning = new Reasoning({ ...speaker, verbosity });
      reasoning.add(filler(1000));
      reasoning.close();
      const all = payloads() as { reasoning?: string; verbosity?: string }[];
      return [all.length, all.at(-1)?.reasoning?.length, all.at(-1)?.verbosity];
    });
    expect(told).toEqual([
      [expect.any(Number), filler(1000).length, "full"],
      [1, 2048, "summary"],
      [1, 0, "off"],
    ]);
    expect(told[0]?.[0]).toBeGreaterThan(1);
  });

  test("of a call that broke off is marked, and begins anew", () => {
    const { speaker, events } = speaking();
    const reasoning = new Reasoning(speaker);
    reasoning.add(filler(200));
    reasoning.breakOff();
    reasoning.add("once more");
    reasoning.close();
    const told = events.filter(({ type }) => type === "agent.reasoned").map(({ payload }) => payload);
    expect(told).toMatchObject([{ superseded: true }, { reasoning: "once more", verbosity: "full" }]);
    expect(told[1]).not.toHaveProperty("superseded");
    expect(events.at(-2)?.payload).toMatchObject({ delta: "once more", sequence: 0 });
  });
});
