import { lookup } from "node:dns/promises";
import { isIP } from "node:net";
import { AppError } from "../../protocol/errors.ts";
import { isPrivateName } from "./private-name.ts";
import { isPublicAddress } from "./public-address.ts";

/** An address as `node:dns` gives it. */
export interface Address {
  readonly address: string;
  readonly family: number;
}

export type Resolve = (hostname: string) => Promise<readonly Address[]>;

/** What decides where this process may connect to on behalf of somebody else. */
export interface Guard {
  /** For development: plain HTTP and private addresses are fine. */
  readonly allowPrivate: boolean;
  readonly resolve: Resolve;
  /** Certificates trusted beside the usual ones, in PEM. */
  readonly ca?: string;
}

/** The guard, with what else holds for every call of this process. */
export interface Outbound extends Guard {
  readonly timeoutMs: number;
  readonly userAgent: string;
}

/** As the machine resolves names for every other program. */
export const systemResolve: Resolve = (hostname) => lookup(hostname, { all: true, verbatim: true });

/** How long a name may take to resolve while somebody waits for an answer. */
const RESOLVE_MS = 2000;

/**
 * Refuses a URL that calls could never be allowed to, at the time somebody asks for it. Throws `validation_error` for
 * what is no URL and `webhook_url_rejected` for one that is not acceptable. A name that does not resolve now is let
 * through: whether a call may be made is decided when it is made, by `addressesOf`.
 */
export async function checkUrl(guard: Guard, text: string): Promise<void> {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined) throw new AppError("validation_error", { problem: "url is not a URL" });
  const problem = problemOf(guard, url) ?? (await problemOfName(guard, url));
  if (problem !== undefined) throw new AppError("webhook_url_rejected", { problem });
}

/** What is wrong with a URL by itself, before any name is resolved. */
export function problemOf({ allowPrivate }: Guard, url: URL): string | undefined {
  const { protocol, username, password } = url;
  if (protocol !== "https:" && !(allowPrivate && protocol === "http:")) return "it must begin with https://";
  if (username !== "" || password !== "") return "it must not carry a user name or password";
  return !allowPrivate && hasPrivateHost(url) ? NOT_PUBLIC : undefined;
}

/** Whether the host is a private one by what is written there, whatever the name resolves to. */
export function hasPrivateHost(url: URL): boolean {
  const hostname = hostnameOf(url);
  return isIP(hostname) === 0 ? isPrivateName(hostname) : !isPublicAddress(hostname);
}

const NOT_PUBLIC = "its host is not a public one";
const RESOLVES_PRIVATELY = "its host resolves to an address that is not public";

async function problemOfName(guard: Guard, url: URL): Promise<string | undefined> {
  if (guard.allowPrivate || isIP(hostnameOf(url)) !== 0) return undefined;
  const resolved = guard.resolve(hostnameOf(url)).catch(() => []);
  const addresses = await Promise.race([resolved, after(RESOLVE_MS)]);
  return addresses.every(({ address }) => isPublicAddress(address)) ? undefined : RESOLVES_PRIVATELY;
}

function after(ms: number): Promise<readonly Address[]> {
  return new Promise((resolve) => setTimeout(resolve, ms, []).unref());
}

/**
 * The addresses that a call to this URL may connect to, resolved now. Throws `webhook_url_rejected` when a single one of
 * them is not public: whoever answers for the name decides which of them is taken.
 */
export async function addressesOf(guard: Guard, url: URL): Promise<readonly Address[]> {
  const problem = problemOf(guard, url);
  if (problem !== undefined) throw new AppError("webhook_url_rejected", { problem });
  const hostname = hostnameOf(url);
  const family = isIP(hostname);
  const addresses = family === 0 ? await guard.resolve(hostname) : [{ address: hostname, family }];
  const isAllowed = ({ address }: Address) => guard.allowPrivate || isPublicAddress(address);
  if (!addresses.every(isAllowed)) throw new AppError("webhook_url_rejected", { problem: RESOLVES_PRIVATELY });
  return addresses;
}

/** Without the brackets that a URL puts around IPv6. */
function hostnameOf({ hostname }: URL): string {
  return hostname.replace(/^\[(.*)\]$/, "$1");
}
