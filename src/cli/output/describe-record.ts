import type { Row } from "../../formats/tapes/sidecar/sidecar.ts";
import { isStored, type Payload, type TapeRecord } from "../../formats/tapes/tape.ts";
import { formatBytes, formatDuration } from "./amount.ts";
import type { Paint } from "./io.ts";
import { printable, shorten } from "./printable.ts";

const TEXT_MAX = 160;
const DIGEST_SHOWN = 12;

/** A record on one line: its kind and the members that identify it. */
export function recordText({ kind, phase }: Pick<TapeRecord, "kind" | "phase">): string {
  const more = phase === "user_script" ? "" : " (clean-up)";
  return `${kind.kind}${more}  ${shorten(printable(whatOf(kind)), TEXT_MAX)}`.trimEnd();
}

function whatOf(kind: TapeRecord["kind"]): string {
  switch (kind.kind) {
    case "clock_read":
      return `${kind.source} ${kind.value_ms} ms`;
    case "clock_sleep":
      return duration(kind.duration_ms);
    case "llm_call":
    case "decision_evaluation":
      return `${digest(kind.request_digest)} → ${bodyText(kind.response)}`;
    case "file_read":
    case "file_write":
      return `${kind.path}, ${formatBytes(Number(kind.len_bytes))}`;
    case "file_delete":
      return kind.path;
    case "process_spawn":
      return `${[kind.program, ...kind.args].join(" ")} → exit ${kind.exit_code}, ${duration(kind.duration_ms)}`;
    case "mcp_json_rpc":
      return `${kind.server} ${kind.method}, ${duration(kind.latency_ms)} → ${bodyText(kind.response_payload)}`;
    case "model_job":
      return `${kind.backend} ${kind.job_id} ${kind.event_kind}: ${kind.state}`;
    case "unknown":
      return "";
  }
}

function bodyText(body: Payload): string {
  return isStored(body) ? `${formatBytes(Number(body.len_bytes))} in ${digest(body.content_hash)}` : body.text;
}

function digest(text: string): string {
  return shorten(text, DIGEST_SHOWN);
}

function duration(ms: bigint): string {
  return formatDuration(Number(ms));
}

/** `ines`, `checker (agent)`, `a human`: the kind only of authors that are not people. */
export function authorText({ id, kind }: NonNullable<Row["author"]>): string {
  if (id === null || id === "") return kind === "agent" ? "an agent" : `a ${kind}`;
  return printable(kind === "human" ? id : `${id} (${kind})`);
}

const LABEL_WIDTH = 10;

/** Lines under a numbered heading; the first one has the label. */
export function labelled(label: string, lines: readonly string[], paint: Paint): string[] {
  return lines.map((line, i) => `   ${paint.dim((i === 0 ? label : "").padEnd(LABEL_WIDTH))}${line}`);
}
