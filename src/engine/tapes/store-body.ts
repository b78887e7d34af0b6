import { isUtf8 } from "node:buffer";
import type { Scrubber } from "../../formats/secrets/scrub.ts";
import { bodyHash } from "../../formats/tapes/digest.ts";
import { defined } from "../../protocol/defined.ts";
import { AppError } from "../../protocol/errors.ts";
import type { Caller } from "../../protocol/identity/identity.ts";
import type { Run } from "../../protocol/runs/run.ts";
import type { StoreBodyRequest, StoreBodyResponse } from "../../protocol/tapes/api.ts";
import { TAPE_BODY } from "../../store/port/tapes.ts";
import { auditDraft, type Recorder, refused } from "../execute.ts";
import type { Host } from "../host.ts";
import { visibleTape } from "./tape-info.ts";

interface StoreBody {
  readonly caller: Caller;
  readonly run: Run;
  readonly request: StoreBodyRequest;
  readonly record: Recorder<StoreBodyResponse>;
}

/**
 * Stores a body that the tape of a run names. Its name says what is in it to the last bit, so a secret cannot be taken out: such a
 * body is refused.
 */
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
  const committed = await host.store.commit({
    tenant: caller.tenant,
    // Nothing of the run changes; it only has to be there, and stay until this is written.
    runs: [{ runId, expectedVersion: run.version, events: [], run }],
    artifacts: [
      {
        runId,
        artifactId: hash,
        artifactType: TAPE_BODY,
        contentType: isUtf8(body) ? "text/plain; charset=utf-8" : "application/octet-stream",
        body,
        atMs: nowMs,
      },
    ],
    audit: [auditDraft(caller, nowMs, runId, { action: "tape.body_stored", details })],
    ...defined({ idempotency: outcome }),
  });
  if (!committed.ok) throw refused(committed.refusal);
  return response;
}

function refuse(hash: string, problem: string): never {
  throw new AppError("tape_body_refused", { hash, problem });
}

/** Node passes over what is no base64; here nothing is. */
function bytesOf({ hash, base64 }: StoreBodyRequest): Uint8Array {
  const body = Buffer.from(base64, "base64");
  if (body.toString("base64") !== base64) refuse(hash, "`base64` is not the base64 of any bytes");
  return body;
}

/** What is no text is looked at byte by byte: keys are plain letters also there. */
function holdsSecret({ scrubText }: Pick<Scrubber, "scrubText">, body: Uint8Array): boolean {
  const text = Buffer.from(body).toString(isUtf8(body) ? "utf8" : "latin1");
  return scrubText(text) !== text;
}
