import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { tempDir } from "../../src/testing/temp-dir.ts";
import { provide, request } from "./provide.ts";

const folder = fileURLToPath(new URL("fixtures/", import.meta.url));

interface Fixture {
  readonly file: string;
  readonly kind: string;
  readonly context?: {
    readonly session: string;
    readonly last_iteration?: number;
    readonly issued?: readonly string[];
  };
  readonly expect: {
    readonly status: string;
    readonly iteration: number;
    readonly error_code?: string;
    readonly ack?: readonly string[] | null;
    readonly confidence?: string;
    readonly warnings?: readonly string[];
  };
}

const all: readonly Fixture[] = JSON.parse(readFileSync(`${folder}manifest.json`, "utf8"));
const requests = all.filter(({ kind }) => kind === "request");
const ID = /^(ses|msg|prt)_[0-9a-f]{12}[0-9A-Za-z]{14}$/;

test("there are 26 requests", () => {
  expect(requests).toHaveLength(26);
});

test.concurrent.each(requests)(
  "$file is answered as the protocol wants it",
  async ({ file, context, expect: wanted }) => {
    const state = tempDir();
    let text = readFileSync(`${folder}${file}`, "utf8");
    const args: string[] = [];
    const issued = context?.issued ?? [];
    if (context?.session === "existing") {
      const first = await provide(state, request(1, issued.map((id) => `TODO: see to ${id}.`).join("\n\n")));
      const ids: string[] = first.answer.feedback.areas_for_improvement.map(({ id }: { id: string }) => id);
      expect(ids.length).toBeGreaterThanOrEqual(issued.length);
      // Ids of the provider's own stand for those of the context, in the same order.
      for (const [i, id] of issued.entries()) text = text.replaceAll(id, ids[i] ?? "");
      args.push("--session", first.sessionID);
    }
    const { code, stderr, answer, messages, sessionID } = await provide(state, text, args);

    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(messages.map(({ type }) => type)).toEqual(["step_start", "text", "step_finish"]);
    const parts = messages.map(({ part = {} }) => part);
    expect(new Set([...messages, ...parts].map((one) => one["sessionID" as keyof typeof one]))).toEqual(
      new Set([sessionID]),
    );
    expect(new Set(parts.map((part) => part["messageID"])).size).toBe(1);
    for (const id of [sessionID, ...parts.flatMap((part) => [part["id"], part["messageID"]])]) expect(id).toMatch(ID);
    expect(parts.map((part) => part["id"]).sort()).toEqual(parts.map((part) => part["id"]));
    if (args.length > 0) expect(sessionID).toBe(args[1]);

    expect(answer).toMatchObject({ protocol_version: "1.2", status: wanted.status, iteration: wanted.iteration });
    expect("feedback" in answer).toBe(wanted.status === "success");
    expect(answer.error?.code).toBe(wanted.error_code);
    expect(
      answer.applied_feedback_ack?.items.map((one: { processing_status: string }) => one.processing_status) ?? null,
    ).toEqual(wanted.ack ?? null);
    if (wanted.confidence) expect(answer.feedback.confidence.level).toBe(wanted.confidence);
    expect((answer["x-warnings"] ?? []).map((one: { code: string }) => one.code)).toEqual(wanted.warnings ?? []);
  },
);
