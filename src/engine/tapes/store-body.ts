import { isUtf8 } from "node:buffer";
import type { Scrubber } from "../../formats/secrets/scrub.ts";
import { bodyHash } from "../../formats/tapes/digest.ts";
import { AppError } from "../../protocol/errors.ts";
import type { Run } from "../../protocol/runs/run.ts";
import type { StoreBodyRequest, StoreBodyResponse } from "../../protocol/tapes/api.ts";
import type { Unit } from "../../store/port/store.ts";
import { TAPE_BODY } from "../../store/port/tapes.ts";
import { type ApiRequest, auditDraft, commitUnit } from "../execute.ts";
import type { Host } from "../host.ts";
import { visibleTape } from "./tape-info.ts";

interface StoreBody extends ApiRequest<StoreBodyRequest, StoreBodyResponse> {
  readonly run: Run;
}

/** Stores a body that the tape of a run names. A body with a secret is refused: scrubbed, it would not match its hash. */
export async function storeBody(host: Host, { caller, run, request, record }: StoreBody): Promise<StoreBodyResponse> {
  const { runId } = run;
  const { hash } = request;
  const tape = await visibleTape(host, caller, runId);
  if (!tape.bodies.includes(hash)) refuse(hash, "no record of the tape names it");
  const body = bytesOf(request);
  if ((await bodyHash(body)) !== hash) refuse(hash, "these bytes have another BLAKE3 hash");
  if (holdsSecret(host.scrubber, body)) throw new AppError("tape_body_secret", { hash });
  const response = { runId, hash, bytes: body.length };
  const outcome = record(response);
  const nowMs = host.nowMs();
  const details = { hash, bytes: body.length };
  const contentType = isUtf8(body) ? "text/plain; charset=utf-8" : "application/octet-stream";
  const unit: Unit = {
    tenant: caller.tenant,
    // The run does not change; it must exist until this is written.
    runs: [{ runId, expectedVersion: run.version, events: [], run }],
    artifacts: [{ runId, artifactId: hash, artifactType: TAPE_BODY, contentType, body, atMs: nowMs }],
    audit: [auditDraft(caller, nowMs, runId, { action: "tape.body_stored", details })],
  };
  await commitUnit(host, unit, outcome);
  return response;
}

function refuse(hash: string, problem: string): never {
  throw new AppError("tape_body_refused", { hash, problem });
}

/** Decodes base64 strictly: Node ignores other characters. */
function bytesOf({ hash, base64 }: StoreBodyRequest): Uint8Array {
  const body = Buffer.from(base64, "base64");
  if (body.toString("base64") !== base64) refuse(hash, "`base64` is not the base64 of any bytes");
  return body;
}

/** Whether a body has a secret. A body that is no text is searched byte by byte. */
function holdsSecret({ scrubText }: Pick<Scrubber, "scrubText">, body: Uint8Array): boolean {
  const text = Buffer.from(body).toString(isUtf8(body) ? "utf8" : "latin1");
  return scrubText(text) !== text;
}
