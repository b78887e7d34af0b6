import type { Host } from "../../engine/host.ts";
import { callOut } from "../../engine/outbound/call-out.ts";
import { type Outbound, problemOf } from "../../engine/outbound/guard.ts";
import { sha256 } from "../../formats/text/sha256.ts";
import { validationError } from "../../protocol/errors.ts";
import type { Caller } from "../../protocol/identity/identity.ts";
import { loadSuite, requireSuite, SENT_SUITE_LIMITS, type UsableSuite } from "./load-suite.ts";
import { parseSuiteRef, refText } from "./suite-ref.ts";
import { type FoundSuite, putSuite, readSuite } from "./suite-store.ts";

/** The path under which a host serves its suites, each as `id@version`. */
const SUITES_PATH = "/v1/host/assay/suites/";
/** A suite in a pack or a file may be larger; what is fetched while a request waits may not. */
const FETCHED_BYTES_MAX = 8_388_608;
const DIGEST = /^#sha256=([0-9a-f]{64})$/i;

/** A suite that is kept under its id, or one at an https address whose bytes have this SHA-256. */
export type SuiteAddress =
  | { readonly type: "kept"; readonly ref: string }
  | { readonly type: "fetched"; readonly url: string; readonly sha256: string };

/**
 * What `evalSuiteRef` names: `id` or `id@version`, the path or URL of a suite on this host, or an https URI with a digest. `ownHosts` are
 * the names and ports that this host answers under. Throws `validation_error` for anything else, also for an address without a digest:
 * its content could change between two evaluations that name the same suite.
 */
export function parseSuiteAddress(text: string, ownHosts: readonly string[] = []): SuiteAddress {
  if (text.startsWith("/")) return { type: "kept", ref: refInPath(text) };
  if (!isSuiteUri(text)) {
    parseSuiteRef(text);
    return { type: "kept", ref: text };
  }
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined) throw validationError("the URI of the suite is not a URL");
  const [, sha256] = DIGEST.exec(url.hash) ?? [];
  if (url.hash === "" && ownHosts.includes(url.host)) return { type: "kept", ref: refInPath(url.pathname) };
  if (url.protocol !== "https:")
    throw validationError("a suite elsewhere is fetched by https only; use an https:// address");
  if (sha256 === undefined) {
    throw validationError(
      "a suite elsewhere needs the digest of its file; end the address with #sha256= and 64 hex digits",
    );
  }
  url.hash = "";
  return { type: "fetched", url: url.href, sha256: sha256.toLowerCase() };
}

export function isSuiteUri(text: string): boolean {
  return /^https?:\/\//i.test(text);
}

function refInPath(path: string): string {
  const at = path.lastIndexOf(SUITES_PATH);
  if (at < 0) throw validationError(`a suite of this host is at ${SUITES_PATH}ID@VERSION`);
  const ref = decoded(path.slice(at + SUITES_PATH.length));
  parseSuiteRef(ref);
  return ref;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw validationError("the URI of the suite is not encoded as URIs are");
  }
}

/** The suite that was named; one from elsewhere is fetched, compared with its digest, and kept for the tenant like any other. */
export async function suiteAt(
  host: Pick<Host, "store" | "nowMs" | "scrubber" | "outbound">,
  caller: Caller,
  named: string,
): Promise<FoundSuite> {
  const address = parseSuiteAddress(named);
  if (address.type === "kept") return readSuite(host, caller.tenant, address.ref);
  const loaded = await fetchSuite(host.outbound, address);
  const ref = refText(loaded.suite);
  await putSuite(host, { caller, ref, bytes: Buffer.from(loaded.text) });
  return readSuite(host, caller.tenant, ref);
}

/** Throws `validation_error` for an address that may not be called, an answer that is no suite, and bytes with another digest. */
export async function fetchSuite(
  outbound: Outbound,
  { url, sha256: digest }: Extract<SuiteAddress, { type: "fetched" }>,
): Promise<UsableSuite> {
  const { host } = new URL(url);
  const problem = problemOf(outbound, new URL(url));
  if (problem !== undefined) throw validationError(`the suite at ${host} may not be fetched: ${problem}`);
  const answer = await callOut(outbound, {
    method: "GET",
    url,
    headers: { accept: "application/json", "user-agent": outbound.userAgent },
    body: "",
    timeoutMs: outbound.timeoutMs,
    maxAnswerBytes: FETCHED_BYTES_MAX,
  });
  if ("failure" in answer) throw validationError(`the suite at ${host} cannot be fetched: ${answer.failure}`);
  if (answer.status !== 200)
    throw validationError(`the suite at ${host} cannot be fetched: it answered ${answer.status}`);
  if (answer.cut) throw validationError(`the suite at ${host} is larger than ${FETCHED_BYTES_MAX} bytes, or broke off`);
  const found = sha256(answer.body);
  if (found !== digest) {
    throw validationError(
      `the suite at ${host} has the SHA-256 ${found}, and not the one it was named with; look at what changed`,
    );
  }
  return requireSuite(loadSuite(answer.body, { limits: SENT_SUITE_LIMITS }), "the suite that was fetched");
}
