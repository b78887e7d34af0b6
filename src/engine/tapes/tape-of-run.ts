import { canonicalJson } from "../../formats/json/canonical-json.ts";
import type { Scrubber } from "../../formats/secrets/scrub.ts";
import { BodyHasher } from "../../formats/tapes/digest.ts";
import {
  payloadToRecord,
  printTapeHeader,
  printTapeRecord,
  TAPE_VERSION,
  type TapeRecord,
} from "../../formats/tapes/tape.ts";
import type { RunEventDoc } from "../../protocol/events.ts";
import type { Visibility } from "../../protocol/identity/identity.ts";
import { evolve, type Run, type Scratch } from "../../protocol/runs/run.ts";
import { isRecorded } from "../../protocol/tapes/api.ts";
import type { StoredEvent } from "../../store/port/store.ts";
import type { Host } from "../host.ts";
import { eventPages, runEvent } from "../runs/read-log.ts";
import { scrubInTurns } from "../secrets/scrub-in-turns.ts";
import { pauses } from "../worker/pauses.ts";

/**
 * The lines of a run as a tape, page by page. An imported tape returns its records; the events of any other run become records with the whole event as
 * clients see it, without secrets. Their bodies are in the file, whatever their length.
 */
export async function* tapeOfRun(
  host: Pick<Host, "store" | "scrubber">,
  visible: Visibility,
  run: Run,
  version: string,
): AsyncGenerator<readonly string[]> {
  const { runId, workflowId } = run;
  const pages = eventPages(host.store, { runId, from: 0, to: run.version });
  const tape = isRecorded(run) ? await host.store.readTape(visible, runId) : undefined;
  if (tape !== undefined) {
    yield [tape.header];
    for await (const page of pages) yield page.flatMap(recordedLine);
    return;
  }
  yield [printTapeHeader(headerFor(workflowId, version))];
  const recorder = new EventRecorder(await BodyHasher.start(), host.scrubber);
  const pause = pauses();
  for await (const page of pages) {
    const lines: string[] = [];
    for (const stored of page) {
      lines.push(printTapeRecord(await recorder.record(stored)));
      // Folding an event takes long where the run is large.
      await pause();
    }
    yield lines;
  }
}

function recordedLine({ type, body }: StoredEvent): string[] {
  if (type !== "assay.tape.record") return [];
  return [printTapeRecord(payloadToRecord((JSON.parse(body) as RunEventDoc).payload))];
}

function headerFor(workflowId: string, version: string) {
  return {
    version: BigInt(TAPE_VERSION),
    harn_version: `assay/${version}`,
    started_at_unix_ms: null,
    script_path: workflowId,
    argv: [],
  };
}

/** Turns the events of a run, one after the other, into records of a tape. */
class EventRecorder {
  readonly #hasher: BodyHasher;
  readonly #scrubber: Scrubber;
  readonly #scratch: Scratch = { isFold: true };
  #run: Run | undefined;
  #firstMs: number | undefined;

  constructor(hasher: BodyHasher, scrubber: Scrubber) {
    this.#hasher = hasher;
    this.#scrubber = scrubber;
  }

  async record(stored: StoredEvent): Promise<TapeRecord> {
    const event = runEvent(stored);
    this.#run = evolve(this.#run, event, this.#scratch);
    const atMs = Date.parse(event.timestamp);
    this.#firstMs ??= atMs;
    const text = canonicalJson(await scrubInTurns(this.#scrubber, JSON.parse(wholePairs(stored.body))));
    return {
      seq: BigInt(event.sequence),
      phase: "user_script",
      virtual_time_ms: BigInt(atMs),
      monotonic_ms: BigInt(atMs - this.#firstMs),
      kind: {
        kind: "model_job",
        job_id: event.runId,
        request_id: event.eventId,
        backend: "assay",
        state: this.#run.status,
        event_kind: event.type,
        event: { content_hash: this.#hasher.hash(text), text },
        asset_digests: [],
      },
    };
  }
}

/** JSON with escapes of lone surrogates replaced, which cannot be hashed. */
function wholePairs(json: string): string {
  return json.replace(/\\(?:\\|u(d[89a-f][0-9a-f]{2}))/g, (written, half) =>
    half === undefined ? written : "\\ufffd",
  );
}
