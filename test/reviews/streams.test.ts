import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { beforeAll, describe, expect, test } from "vitest";
import { answerStream } from "../../src/formats/reviews/wrapper-stream.ts";
import { inTurns, replayFlags, reviewJson } from "../../src/testing/review-command.ts";
import { tempDir } from "../../src/testing/temp-dir.ts";

const streams = fileURLToPath(new URL("./streams", import.meta.url));
const fixtures = fileURLToPath(new URL("./fixtures", import.meta.url));
const WIDTH = 4;

interface Specimen {
  readonly file: string;
  readonly command: readonly string[];
  readonly exit_code: number | null;
  readonly signal: string | null;
  readonly stopped_after: string | null;
  readonly lines_kept: number;
  readonly stderr: string;
  readonly request_iteration: number;
  readonly session_passed: string | null;
  readonly expect: {
    readonly outcome: string;
    readonly ids?: readonly string[];
    readonly error_code?: string;
    readonly tool_error?: string;
    readonly warnings: readonly string[];
  };
}

interface Fixture {
  readonly file: string;
  readonly kind: string;
  readonly context: { readonly iteration: number; readonly sent_ids?: readonly string[] };
  readonly expect: {
    readonly outcome: string;
    readonly ids?: readonly string[];
    readonly problems?: readonly string[];
    readonly warnings: readonly string[];
  };
}

const specimens: Specimen[] = JSON.parse(readFileSync(join(streams, "index.json"), "utf8"));
const answers: Fixture[] = JSON.parse(readFileSync(join(fixtures, "manifest.json"), "utf8")).filter(
  ({ kind }: Fixture) => kind === "response",
);

describe("a recorded stream of the real command", () => {
  const results = new Map<string, Awaited<ReturnType<typeof reviewJson>>>();

  beforeAll(async () => {
    await inTurns(specimens, WIDTH, async (specimen) => {
      results.set(specimen.file, await reviewJson(["turn", "--no-retry", ...flagsFor(specimen)]));
    });
  });

  test("is there sixty-four times", () => expect(specimens).toHaveLength(64));

  test.each(specimens)("$file is $expect.outcome", ({ file, expect: expected }) => {
    const result = results.get(file);
    const { outcome, ids, error_code, tool_error, warnings } = result?.json ?? {};
    expect({ outcome, ids, error_code, tool_error: tool_error?.name ?? null, warnings }).toEqual({
      outcome: expected.outcome,
      ids: expected.ids ?? [],
      error_code: expected.error_code ?? null,
      tool_error: expected.tool_error ?? null,
      warnings: expected.warnings,
    });
    expect(result?.exit).toBe(expected.outcome === "response_success" ? 0 : 1);
  });
});

/** What hangs is stopped at its last line where it has lines, and after a while where it says nothing. */
function flagsFor(specimen: Specimen): string[] {
  const { file, exit_code: exitCode, stopped_after, lines_kept, stderr, session_passed, command } = specimen;
  const hangs = stopped_after === "time limit";
  const signal = hangs ? null : specimen.signal;
  const fork = command.includes("--fork") ? ["--arg", "--fork"] : [];
  const limit = lines_kept > 0 ? ["--review-max-lines", String(lines_kept - 1)] : ["--review-timeout-ms", "150"];
  return [
    "--request",
    requestFile(specimen.request_iteration, recordedDecisions(specimen.request_iteration)),
    ...(session_passed === null ? [] : ["--session", session_passed]),
    ...replayFlags(join(streams, file), { exitCode, signal, stderr, hangs }),
    ...fork,
    ...(hangs ? limit : []),
  ];
}

describe("an answer", () => {
  const results = new Map<string, Awaited<ReturnType<typeof reviewJson>>>();

  beforeAll(async () => {
    const folder = tempDir();
    await inTurns(answers, WIDTH, async ({ file, context }) => {
      const stream = join(folder, `${file}.ndjson`);
      writeFileSync(stream, answerStream(readFileSync(join(fixtures, file), "utf8"), IDS, 0, NOTHING));
      const decisions = context.sent_ids?.map((id) => ({ id, status: "accepted" }));
      const request = requestFile(context.iteration, decisions);
      results.set(file, await reviewJson(["turn", "--no-retry", "--request", request, ...replayFlags(stream)]));
    });
  });

  test("is there twenty-three times", () => expect(answers).toHaveLength(23));

  test.each(answers)("$file is $expect.outcome", ({ file, expect: expected }) => {
    const { outcome, ids, problems, warnings } = results.get(file)?.json ?? {};
    expect({ outcome, ids, problems, warnings }).toEqual({
      outcome: expected.outcome,
      ids: expected.ids ?? [],
      problems: expected.problems ?? [],
      warnings: expected.warnings,
    });
  });
});

const IDS = {
  sessionID: "ses_000000000001AAAAAAAAAAAAAA",
  messageID: "msg_000000000001AAAAAAAAAAAAAA",
  partIDs: ["prt_000000000001AAAAAAAAAAAAAA", "prt_000000000002AAAAAAAAAAAAAA", "prt_000000000003AAAAAAAAAAAAAA"],
} as const;
const NOTHING = { input: 0, output: 0, cost: 0 };

const requests = tempDir();
let requestsMade = 0;

/** Those of the recorded follow-ups, so that their acknowledgements fit. */
function recordedDecisions(iteration: number): readonly object[] | undefined {
  if (iteration === 1) return undefined;
  const file = iteration === 2 ? "stdin-follow-up.json" : "stdin-third.json";
  return JSON.parse(readFileSync(join(streams, file), "utf8")).applied_feedback.items;
}

/** What the provider is said to have been asked; it answers what it was recorded to answer. */
function requestFile(iteration: number, items: readonly object[] | undefined): string {
  const path = join(requests, `${requestsMade++}.json`);
  const artifact = { media_type: "text/plain", content: "A plan." };
  const applied = items === undefined ? {} : { applied_feedback: { items } };
  writeFileSync(path, JSON.stringify({ protocol_version: "1.2", iteration, artifact, ...applied }));
  return path;
}
