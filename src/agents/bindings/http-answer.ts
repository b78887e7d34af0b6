import { matches, Type } from "../../protocol/schema.ts";
import type { AgentAnswer, Watcher } from "../binding.ts";
import { failed } from "./failure.ts";
import { readReport } from "./reported-usage.ts";
import { withOutput } from "./usable-output.ts";

/**
 * An answer with more than its output. Closed: whatever has another member is an output itself, so that an agent whose outputs have a
 * member called `output` is not misread because of it.
 */
const ENVELOPE = Type.Object(
  {
    output: Type.Unknown(),
    confidence: Type.Optional(Type.Unknown()),
    usage: Type.Optional(Type.Unknown()),
    costUsd: Type.Optional(Type.Unknown()),
    provider: Type.Optional(Type.Unknown()),
    model: Type.Optional(Type.Unknown()),
    handoff: Type.Optional(
      Type.Object(
        { toAgentId: Type.String({ minLength: 3, maxLength: 256 }), reason: Type.Optional(Type.String()) },
        { additionalProperties: false },
      ),
    ),
  },
  { additionalProperties: false },
);

const REFUSAL = Type.Object({ refused: Type.String({ minLength: 1 }) }, { additionalProperties: false });

/** Reads the answer of an endpoint. Its reported usage counts also when the answer is invalid. */
export function readHttpAnswer(
  body: Buffer,
  host: string,
  watch: Watcher,
  scrubText: (text: string) => string,
): AgentAnswer {
  let value: unknown;
  try {
    value = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(body));
  } catch {
    return failed("agent_output_invalid", `what ${host} answered is not JSON`);
  }
  if (matches(REFUSAL, value)) return { type: "refused", reason: value.refused };
  if (!matches(ENVELOPE, value)) return withOutput(value);
  const { output, handoff, ...rest } = value;
  const read = readReport(rest, { provider: "http", model: host }, scrubText);
  if (!read.ok) return failed("agent_output_invalid", `what ${host} answered cannot be used: ${read.problem}`);
  const { usage, confidence } = read.report;
  if (usage !== undefined) watch.usage(usage);
  return withOutput(output, {
    ...(confidence === undefined ? {} : { confidence }),
    ...(handoff === undefined ? {} : { handoff }),
  });
}
