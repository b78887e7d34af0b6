import type { Scrubber } from "../../formats/secrets/scrub.ts";
import { defined } from "../../protocol/defined.ts";
import { AppError } from "../../protocol/errors.ts";
import { MASK, type RunEventDoc } from "../../protocol/events.ts";
import { type AnnotationCounting, BUNDLE_VERSION, type TruncatedReason } from "../../protocol/runs/bundle-api.ts";
import type { Run } from "../../protocol/runs/run.ts";
import { maskValues, type Secret, sensitiveValues } from "../../protocol/runs/sensitive.ts";
import type { RunSnapshot } from "../../protocol/runs/snapshot.ts";
import type { AnnotationRecord } from "../../store/port/judgments.ts";
import { serializeFor } from "../families/serialize.ts";
import type { Host } from "../host.ts";
import { annotationDoc } from "../judgments/annotation-view.ts";
import { scrubInTurns } from "../secrets/scrub-in-turns.ts";
import { Mutes } from "../tapes/mutes.ts";
import { ByteBudget } from "../worker/byte-budget.ts";
import { ownTurn } from "../worker/pauses.ts";
import { snapshot } from "./read-run.ts";
import { RunSpans } from "./run-spans.ts";

const PAGE_ROWS = 64;

/** What a bundle holds beside its lists, and what is written between them; generously. */
const FRAME_BYTES = 2048;
/** What the end of a span adds to it. */
const SPAN_END_BYTES = 64;

/**
 * All there is about a run as it stands, as JSON text without secrets and of at most `host.bundles.maxBytes`. What the
 * run is comes first, then what was said about it, then its events for as far as there is room, each with its span.
 *
 * It is made piece by piece: of the log, no more is in memory at a time than one page and what is in the bundle.
 */
export function debugBundle(host: Host, run: Run, version: string): Promise<string> {
  // One at a time: each may take much memory, and much work that is done in pieces.
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

/** What is longer took a while to clean; others have waited for it. */
const LONG_CHARACTERS = 10_000;

async function breathe(done: string): Promise<void> {
  if (done.length > LONG_CHARACTERS) await ownTurn();
}

/** The snapshot with what it began with. */
async function stateOf(host: Host, run: Run, shown: RunSnapshot): Promise<Readonly<Record<string, unknown>>> {
  const { runId, workflowId, status, startedAt, error, ...rest } = shown;
  const [first] = await host.store.readEvents(run.runId, 0, 1);
  const { inputs = {} } =
    first === undefined ? {} : (JSON.parse(first.body) as { payload: { inputs?: object } }).payload;
  const ended = defined({ endedAt: run.endedAt });
  // In the order of what one would miss most, because the first that finds no room is left out.
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
    // What has no room is not worth cleaning: it may be as large as a run can be.
    const written = JSON.stringify(value);
    if (!budget.fits(written)) continue;
    const member = `"${name}":${JSON.stringify(await scrubInTurns(scrubber, value))}`;
    if (budget.take(member)) members.push(member);
    await breathe(written);
  }
  return { members, omitted: members.length < Object.keys(state).length };
}

/** Secrets of the run are masked in judgments too, which may repeat them. */
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
    if (page.length < PAGE_ROWS) return { items, states, cut: false };
    await ownTurn();
  }
}

/** Outside of the protocol's object, which is closed. */
function stateOfAnnotation(record: AnnotationRecord, silenced: ReadonlySet<string>): AnnotationCounting {
  const { annotationId, state, actorKind, supersededBy } = record;
  return {
    state,
    actorKind,
    ...defined({ supersededBy }),
    ...(silenced.has(annotationId) ? { muted: true } : {}),
  };
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
    // Nothing makes a log shorter but the end of its run: it was deleted while it was read.
    if (page.length === 0) throw new AppError("not_found", { what: "run", runId });
    for (const { body } of page) {
      if (!budget.fits(body)) return done();
      const event = JSON.parse(body) as RunEventDoc;
      const clean = body.length > LONG_CHARACTERS ? await scrubInTurns(scrubber, event) : scrubber.scrubValue(event);
      // As the poll serves it, to the letter, unless there was something to take out.
      const text = clean === event ? body : JSON.stringify(clean);
      if (!budget.take(text)) return done();
      events.push(text);
      await breathe(body);
      const span = seen.see(event);
      // One that finds no room is still there: the frame has some to spare, and it is the last.
      if (span !== undefined && !budget.take(JSON.stringify(span), SPAN_END_BYTES)) return done();
    }
    await ownTurn();
  }
  return done();
}
