import { PROTOCOL_VERSION } from "../../protocol/discovery.ts";
import { AppError } from "../../protocol/errors.ts";

/** The header that names a version of the protocol, in requests the one asked for, in responses the one that was used. */
export const VERSION_HEADER = "openwop-version";

/** Every version that this host serves, as discovery lists them. */
export const PROTOCOL_VERSIONS: readonly string[] = [PROTOCOL_VERSION];

const VERSION = /^(0|[1-9]\d{0,8})(?:\.(?:0|[1-9]\d{0,8}))?$/;
/** Health, the front page and the console are outside the protocol: the header means nothing there. */
const OUTSIDE = /^\/(?:healthz|readyz|console(?:\/.*)?)?$/;
/** There is no such space in any version: version 2 of the protocol has unversioned paths. Nothing is found there, whatever is asked for. */
const NOWHERE = /^\/v2(?:\/|$)/;
const VERSIONED = /^\/v1(?:\/|$)/;

/**
 * The refusal of a request whose `OpenWOP-Version` is not served at its path. Only the major version selects, so `1`,
 * `1.0` and `1.7` ask for the same. Decided before authentication: the answer depends on the request line and this header alone.
 */
export function versionRefusal(asked: string | undefined, path: string): AppError | undefined {
  if (asked === undefined || OUTSIDE.test(path) || isNowhere(path)) return undefined;
  const major = VERSION.exec(asked)?.[1];
  if (major === undefined) {
    return new AppError("validation_error", { problem: "OpenWOP-Version must be major.minor, such as 1.1" });
  }
  if (major === majorOf(PROTOCOL_VERSION)) return undefined;
  const code = VERSIONED.test(path) ? "protocol_version_mismatch" : "protocol_version_unsupported";
  return new AppError(code, { version: asked, protocolVersions: PROTOCOL_VERSIONS });
}

export function isNowhere(path: string): boolean {
  return NOWHERE.test(path);
}

function majorOf(version: string): string {
  return version.split(".")[0] ?? "";
}
