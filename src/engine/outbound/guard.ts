import { lookup } from "node:dns/promises";
import { isIP } from "node:net";
import { AppError, validationError } from "../../protocol/errors.ts";
import { isPrivateName, isPublicAddress } from "./public-address.ts";

/** An address, as in `node:dns`. */
export interface Address {
  readonly address: string;
  readonly family: number;
}

export type Resolve = (hostname: string) => Promise<readonly Address[]>;

/** The rules for connections to addresses that others named. */
export interface Guard {
  /** For development: plain HTTP and private addresses are allowed. */
  readonly allowPrivate: boolean;
  readonly resolve: Resolve;
  /** Additional trusted certificates, in PEM. */
  readonly ca?: string;
}

/** The guard, with the settings of all calls of this process. */
export interface Outbound extends Guard {
  readonly timeoutMs: number;
  readonly userAgent: string;
}

/** Resolves names as the system does for other programs. */
export const systemResolve: Resolve = (hostname) => lookup(hostname, { all: true, verbatim: true });

/** How long a name may take to resolve during a request. */
const RESOLVE_MS = 2000;

/**
 * Refuses a URL that can never be called, when it is registered. Throws `validation_error` for a text that is no URL and `webhook_url_rejected` for one
 * that is not allowed. A name that does not resolve now is accepted: each call is checked again, by `addressesOf`.
 */
export async function checkUrl(guard: Guard, text: string): Promise<void> {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined) throw validationError("url is not a URL");
  const problem = problemOf(guard, url) ?? (await problemOfName(guard, url));
  if (problem !== undefined) throw new AppError("webhook_url_rejected", { problem });
}

/** The problem with a URL, without resolving its name. */
export function problemOf({ allowPrivate }: Guard, url: URL): string | undefined {
  const { protocol, username, password } = url;
  if (protocol !== "https:" && !(allowPrivate && protocol === "http:")) return "it must begin with https://";
  if (username !== "" || password !== "") return "it must not carry a user name or password";
  return !allowPrivate && hasPrivateHost(url) ? NOT_PUBLIC : undefined;
}

/** Whether the host of a URL is private by its text, without resolving it. */
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

/** The addresses of a URL, resolved now. Throws `webhook_url_rejected` where any of them is not public: the owner of the name decides which one is used. */
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

/** The host name without the brackets of IPv6. */
function hostnameOf({ hostname }: URL): string {
  return hostname.replace(/^\[(.*)\]$/, "$1");
}
