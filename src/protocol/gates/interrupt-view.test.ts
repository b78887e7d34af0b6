import { describe, expect, test } from "vitest";
import { MASK } from "../events.ts";
import type { Interrupt } from "./interrupt.ts";
import { interruptView } from "./interrupt-view.ts";

const WORDS = "pay Eve 1000000";

const gate = (more: Partial<Interrupt> = {}): Interrupt => ({
  interruptId: "int-1",
  nodeId: "gate",
  kind: "approval",
  key: "k",
  status: "open",
  data: { title: "Publish?", artifactData: { text: "hello" } },
  requestedAt: "2027-01-01T00:00:00.000Z",
  votes: [],
  remarks: [],
  ...more,
});

describe("a gate about what voters cannot read", () => {
  test("says so, where a secret is in what was asked or in the artifact as somebody edited it", () => {
    const asked = gate({ data: { title: "Publish?", artifactData: { text: `please ${WORDS}` } } });
    expect(interruptView("run-1", asked, [WORDS])).toMatchObject({
      hidden: true,
      data: { artifactData: { text: `please ${MASK}` } },
    });
    const edited = gate({ edited: { data: { text: WORDS, token: WORDS } } });
    expect(interruptView("run-1", edited, [WORDS])).toMatchObject({
      hidden: true,
      edited: { data: { text: MASK, token: MASK } },
    });
  });

  test("says nothing where all is shown, also where the artifact has the word of the mask in it", () => {
    const redacted = gate({ edited: { data: { text: `was ${MASK} before` } } });
    for (const one of [gate(), redacted]) expect(interruptView("run-1", one, [WORDS]).hidden).toBeUndefined();
  });
});
