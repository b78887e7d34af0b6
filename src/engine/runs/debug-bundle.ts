import type { Scrubber } from "../../formats/secrets/scrub.ts";
import { defined } from "../../protocol/defined.ts";
import { AppError } from "../../protocol/errors.ts";
import { MASK, type RunEventDoc } from "../../protocol/events.ts";
import { type AnnotationCounting, BUNDLE_VERSION, type TruncatedReason } from "../../protocol/runs/bundle-api.ts";
import type { Run } from "../../protocol/runs/run.ts";
import { maskValues, type Secret, sensitiveValues } from "../../protocol/runs/sensitive.ts";
import type { RunSnapshot } from "../../protocol/runs/snapshot.ts";
import type { AnnotationRecord } from "../../store/port/judgments.ts";
import { isLastPage } from "../../store/port/large-rows.ts";
import type { Host } from "../host.ts";
import { annotationDoc } from "../judgments/annotation-view.ts";
import { scrubInTurns } from "../secrets/scrub-in-turns.ts";
import { serializeFor } from "../shared/serialize.ts";
import { Mutes } from "../tapes/mutes.ts";
import { ownTurn } from "../worker/pauses.ts";
import { snapshot } from "./read-run.ts";
import { RunSpans } from "./run-trace.ts";

const PAGE_ROWS = 64;

/** The bytes of a bundle without its lists, at most. */
const FRAME_BYTES = 2048;
/** The bytes that the end of a span adds. */
const SPAN_END_BYTES = 64;

/**
 * The whole run as JSON text without secrets, of at most `host.bundles.maxBytes`: its state, then its annotations, then as many of its
 * events as there is room for, each with its span. Of the log, only one page and the bundled events are in memory at a time.
 */
export function debugBundle(host: Host, run: Run, version: string): Promise<string> {
  // Bundles are made one at a time: each may take much memory.
  return serializeFor(host.store, "debug bundles", () => bundleOf(host, run, version));
}

async function bundleOf(host: Host, run: Run, version: string): Promise<string> {
  const budget = new ByteBudget(host.bundles.maxBytes - FRAME_BYTES);
  const shown = await snapshot(host, run);
  const state = await bundledState(await stateOf(host, run, shown), host.scrubber, budget);
  const annotations = await bundledAnnotations(host, run, budget);
  const { events, spans } = await bundledEvents(host, run, budget);

  const cost = (shown.metrics as { openwopCost?: object } | undefined)?.openwopCost ?? null;
  const metrics = { openwopCost: cost, nodeCount: Object.keys(run.nodes).length, eventCount: events.length };
  const truncated: TruncatedReason | undefined =
    (state.omitted && "state_omitted_to_size_cap") ||
    (annotations.cut && "annotations_truncated_to_size_cap") ||
    (events.length < run.version && "events_truncated_to_size_cap") ||
    undefined;
  const text = [
    `{"bundleVersion":"${BUNDLE_VERSION}","generatedAt":"${new Date(host.nowMs()).toISOString()}"`,
    `"host":${JSON.stringify({ name: "assay", version, vendor: "assay" })}`,
    `"run":{${state.members.join(",")}}`,
    `"annotations":[${annotations.items.join(",")}]`,
    `"annotationStates":{${annotations.states.join(",")}}`,
    `"events":[${events.join(",")}]`,
    `"spans":${JSON.stringify(host.scrubber.scrubValue(spans))}`,
    `"metrics":${JSON.stringify(host.scrubber.scrubValue(metrics))}`,
  ].join(",");
  const redactionApplied = text.includes(MASK);
  const end = {
    redactionApplied,
    redactionMode: "mask",
    ...(truncated && { truncated: true, truncatedReason: truncated }),
  };
  return `${text},${JSON.stringify(end).slice(1)}`;
}

/** Scrubbing longer texts takes a while, so other work gets a turn afterwards. */
const LONG_CHARACTERS = 10_000;

async function breathe(done: string): Promise<void> {
  if (done.length > LONG_CHARACTERS) await ownTurn();
}

/** The snapshot with the inputs of the run. */
async function stateOf(host: Host, run: Run, shown: RunSnapshot): Promise<Readonly<Record<string, unknown>>> {
  const { runId, workflowId, status, startedAt, error, ...rest } = shown;
  const [first] = await host.store.readEvents(run.runId, 0, 1);
  const { inputs = {} } =
    first === undefined ? {} : (JSON.parse(first.body) as { payload: { inputs?: object } }).payload;
  const ended = defined({ endedAt: run.endedAt });
  // The most important members come first: those that find no room are left out.
  return { runId, workflowId, status, startedAt, ...ended, ...(error && { error }), inputs, ...rest };
}

interface BundledState {
  readonly members: readonly string[];
  readonly omitted: boolean;
}

async function bundledState(
  state: Readonly<Record<string, unknown>>,
  scrubber: Scrubber,
  budget: ByteBudget,
): Promise<BundledState> {
  const members: string[] = [];
  for (const [name, value] of Object.entries(state)) {
    // A value without room is not scrubbed: it may be as large as a run can be.
    const written = JSON.stringify(value);
    if (!budget.fits(written)) continue;
    const member = `"${name}":${JSON.stringify(await scrubInTurns(scrubber, value))}`;
    if (budget.take(member)) members.push(member);
    await breathe(written);
  }
  return { members, omitted: members.length < Object.keys(state).length };
}

/** Annotations may repeat secrets of the run, so these are masked in them. */
async function bundledAnnotations(host: Host, run: Run, budget: ByteBudget) {
  const { store, scrubber } = host;
  const { runId, owner } = run;
  const secrets = await secretsOf(host, run);
  const items: string[] = [];
  const states: string[] = [];
  const mutes = await Mutes.read(store, { tenant: owner.tenant }, { runId });
  const silenced = await mutes.silencedIn(runId);
  for (let after: AnnotationRecord | undefined; ; ) {
    const page = await store.annotationsOfRun(runId, after, PAGE_ROWS);
    for (const record of page) {
      const { signal, note, ...rest } = annotationDoc(record);
      const written = maskValues(defined({ signal, note }), secrets);
      const item = JSON.stringify(await scrubInTurns(scrubber, { ...rest, ...written }));
      const state = `${JSON.stringify(record.annotationId)}:${JSON.stringify(stateOfAnnotation(record, silenced))}`;
      await breathe(item);
      if (!budget.take(item, state.length + 1)) return { items, states, cut: true };
      items.push(item);
      states.push(state);
    }
    after = page.at(-1);
    if (isLastPage(page, PAGE_ROWS)) return { items, states, cut: false };
    await ownTurn();
  }
}

/** How an annotation counts. It is not part of the protocol's annotation, which is a closed object. */
function stateOfAnnotation(record: AnnotationRecord, silenced: ReadonlySet<string>): AnnotationCounting {
  const { annotationId, state, actorKind, supersededBy } = record;
  return { state, actorKind, ...defined({ supersededBy }), ...(silenced.has(annotationId) ? { muted: true } : {}) };
}

async function secretsOf(host: Host, run: Run): Promise<Secret[]> {
  const { sensitivity } = await host.plans.byHash(run.workflowHash);
  return [...(run.secrets ?? []), ...sensitiveValues(run.variables, sensitivity.variables)];
}

async function bundledEvents({ store, scrubber }: Host, run: Run, budget: ByteBudget) {
  const { runId, version } = run;
  const events: string[] = [];
  const seen = new RunSpans(run);
  const done = () => ({ events, spans: seen.spans });
  while (events.length < version) {
    const page = await store.readEvents(runId, events.length, Math.min(PAGE_ROWS, version - events.length));
    // A log only becomes shorter when its run is deleted.
    if (page.length === 0) throw new AppError("not_found", { what: "run", runId });
    for (const { body } of page) {
      if (!budget.fits(body)) return done();
      const event = JSON.parse(body) as RunEventDoc;
      const clean = body.length > LONG_CHARACTERS ? await scrubInTurns(scrubber, event) : scrubber.scrubValue(event);
      // The exact text that the events route serves, unless the scrubber removed something.
      const text = clean === event ? body : JSON.stringify(clean);
      if (!budget.take(text)) return done();
      events.push(text);
      await breathe(body);
      const span = seen.see(event);
      // The last span may go beyond the budget: the frame has room to spare.
      if (span !== undefined && !budget.take(JSON.stringify(span), SPAN_END_BYTES)) return done();
    }
    await ownTurn();
  }
  return done();
}

/** Room for a number of bytes of JSON text. */
class ByteBudget {
  #left: number;

  constructor(bytes: number) {
    this.#left = bytes;
  }

  /** Whether there is room for a text, the comma after it, and `more` bytes. */
  fits(text: string, more = 0): boolean {
    return sizeOf(text, more) <= this.#left;
  }

  /** Takes the room for a text if there is enough. */
  take(text: string, more = 0): boolean {
    if (!this.fits(text, more)) return false;
    this.#left -= sizeOf(text, more);
    return true;
  }
}

function sizeOf(text: string, more: number): number {
  return Buffer.byteLength(text) + 1 + more;
}
