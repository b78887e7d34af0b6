import { readJson } from "../../formats/json/exact-json.ts";
import { readTapeLine, type TapeHeader } from "../../formats/tapes/tape.ts";
import { defined } from "../../protocol/defined.ts";
import { AppError } from "../../protocol/errors.ts";
import type { Visibility } from "../../protocol/identity/identity.ts";
import { isoOf } from "../../protocol/instant.ts";
import type { TapeDetails, TapeInfo, TapeListQuery, TapePage } from "../../protocol/tapes/api.ts";
import { HEADER_CHARACTERS_MAX, type StoredTape, type TapeOutline } from "../../store/port/tapes.ts";
import type { Host } from "../host.ts";
import { DEFAULT_LIMIT, pageOf, requireCursor } from "../shared/page.ts";

type Reading = Pick<Host, "store">;

/** A page, newest first. A cursor is the id of the last run of the page before. */
export async function listTapes({ store }: Reading, visible: Visibility, query: TapeListQuery): Promise<TapePage> {
  const { digest, cursor, limit = DEFAULT_LIMIT } = query;
  requireCursor(cursor, "run");
  const found = await store.listTapes(visible, defined({ limit: limit + 1, digest, before: cursor }));
  const { page, next } = pageOf(found, limit, ({ runId }) => runId);
  return { tapes: page.map(infoOf), ...next };
}

/** Throws `not_found` for runs that are no tapes or not visible. */
export async function visibleTape({ store }: Reading, visible: Visibility, runId: string): Promise<StoredTape> {
  const tape = await store.readTape(visible, runId);
  if (tape === undefined) throw new AppError("not_found", { what: "tape", runId });
  return tape;
}

export async function tapeDetails(host: Reading, visible: Visibility, runId: string): Promise<TapeDetails> {
  const tape = await visibleTape(host, visible, runId);
  const missing = await missingBodies(host, visible, tape);
  return { ...infoOf({ ...tape, headerStart: tape.header }), bodies: { referenced: tape.bodies.length, missing } };
}

export async function missingBodies({ store }: Reading, visible: Visibility, tape: StoredTape): Promise<string[]> {
  if (tape.bodies.length === 0) return [];
  const here = new Set(await store.bodiesHere(visible, tape.runId));
  return tape.bodies.filter((hash) => !here.has(hash));
}

function infoOf(tape: TapeOutline): TapeInfo {
  const { runId, digest, name, records, importedBy, importedAtMs } = tape;
  const { harn_version = "unknown", script_path } = headerOf(tape) ?? {};
  const file = { harnVersion: harn_version, scriptPath: script_path ?? undefined };
  return defined({ runId, digest, name, records, ...file, importedBy, importedAt: isoOf(importedAtMs) });
}

/** The header without its arguments, which come last and may be long. Undefined where the start does not hold the rest. */
function headerOf({ runId, headerStart }: TapeOutline): TapeHeader | undefined {
  const end = headerStart.indexOf(',"argv":');
  if (end < 0 && headerStart.length >= HEADER_CHARACTERS_MAX) return undefined;
  const line = readTapeLine(readJson(end < 0 ? headerStart : `${headerStart.slice(0, end)}}`));
  if (line.type !== "header") throw new Error(`the tape of run ${runId} has no header`);
  return line.header;
}
