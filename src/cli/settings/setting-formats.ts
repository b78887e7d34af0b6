import { resolve } from "node:path";
import type { TokenKey } from "../../engine/gates/interrupt-token.ts";
import type { TrustedRelay } from "../../engine/gates/voter.ts";

// The formats of settings that are lists or addresses. A mistake is a plain Error that continues a sentence beginning with the name
// of the setting; it never repeats a secret.

/** Reads `TENANT/PRINCIPAL,…`. A principal alone would be trusted in every tenant, where others may take its name. */
export function parseTrustedRelays(list: string): TrustedRelay[] {
  const entries = list
    .split(",")
    .map((entry) => entry.trim())
    .filter((entry) => entry !== "");
  return entries.map((entry) => {
    const [tenant = "", principal = "", ...more] = entry.split("/");
    if (tenant === "" || principal === "" || more.length > 0) {
      throw new Error(`must be a list of TENANT/PRINCIPAL such as acme/chat-bridge, not ${JSON.stringify(entry)}`);
    }
    return { tenant, principal };
  });
}

/** The name under which the key in the database signs. */
export const HOST_KID = "host";

const TOKEN_KEY = /^([A-Za-z0-9_-]{1,32}):([\x21-\x2b\x2d-\x7e]{32,512})$/;

/** Reads `KID:SECRET[,KID:SECRET…]`. */
export function parseTokenKeys(text: string): TokenKey[] {
  const kids = new Set([HOST_KID]);
  return text.split(",").map((entry, i) => {
    const [, kid, secret] = TOKEN_KEY.exec(entry.trim()) ?? [];
    if (kid === undefined || secret === undefined) {
      throw new Error(
        `must look like KID:SECRET,KID:SECRET with secrets of 32 characters or more; entry ${i + 1} does not`,
      );
    }
    if (kids.has(kid)) throw new Error(`must name each key once, and none "${HOST_KID}"; entry ${i + 1} does not`);
    kids.add(kid);
    return { kid, secret };
  });
}

const LOGS_PATH = "/v1/logs";

/** The address that logs are posted to: that of a receiver, with the path unless it is given already. */
export function otlpUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url?.protocol !== "http:" && url?.protocol !== "https:") {
    throw new Error("must be an address such as http://127.0.0.1:4318");
  }
  if (url.username !== "" || url.password !== "") throw new Error("must not carry a password; use --otlp-headers");
  const path = url.pathname.replace(/\/+$/, "");
  url.pathname = path.endsWith(LOGS_PATH) ? path : `${path}${LOGS_PATH}`;
  return url.href;
}

const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;

/** Reads `NAME=VALUE,NAME=VALUE`, the values percent-encoded where they need it, as OpenTelemetry prescribes. */
export function otlpHeaders(text: string): Record<string, string> {
  const headers = text.split(",").map((entry, i) => {
    const [name = "", ...rest] = entry.trim().split("=");
    const value = decoded(rest.join("="));
    if (!HEADER_NAME.test(name) || value === undefined || !/^[\x20-\x7e]+$/.test(value)) {
      throw new Error(`must look like NAME=VALUE,NAME=VALUE; entry ${i + 1} does not`);
    }
    return [name.toLowerCase(), value] as const;
  });
  return Object.fromEntries(headers);
}

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}

/** A reviewer in the settings, bound to the name of an agent. */
export type WrittenReviewer = { readonly agent: string } & (
  | { readonly type: "builtin" }
  /** The model of the setting `reviewModel` where `model` is absent. */
  | { readonly type: "model"; readonly model?: string }
  | { readonly type: "command"; readonly program: string; readonly args: readonly string[] }
);

/**
 * A list of texts, or one text in which semicolons separate them. Throws a plain Error that continues a sentence beginning with the
 * setting's name.
 */
export function parseReviewers(raw: unknown, relativeTo: string): WrittenReviewer[] {
  const items: readonly unknown[] = Array.isArray(raw) ? raw : typeof raw === "string" ? raw.split(";") : [raw];
  const reviewers = items
    .filter((item) => typeof item !== "string" || item.trim() !== "")
    .map((item) => parseReviewer(item, relativeTo));
  const names = reviewers.map(({ agent }) => agent);
  const twice = names.find((name, i) => names.indexOf(name) !== i);
  if (twice !== undefined) throw new Error(`must bind a name once, and binds ${twice} twice`);
  return reviewers;
}

const BINDING = /^\s*([A-Za-z0-9][\w.-]{0,127})\s*=\s*(builtin|model|command)\s*(?::(.*))?$/s;

function parseReviewer(item: unknown, relativeTo: string): WrittenReviewer {
  const [, agent, type, more] = (typeof item === "string" ? BINDING.exec(item) : undefined) ?? [];
  if (agent === undefined)
    throw new Error(`must be NAME=builtin, NAME=model:MODEL or NAME=command:PROGRAM${not(item)}`);
  const what = more?.trim() ?? "";
  if (type === "builtin") {
    if (what === "") return { agent, type };
    throw new Error(`must be ${agent}=builtin with nothing behind it`);
  }
  if (type === "model") return { agent, type, ...(what === "" ? {} : { model: what }) };
  const [program, ...args] = words(what);
  if (program === undefined || program === "") throw new Error(`must name the program of ${agent}=command:PROGRAM`);
  return { agent, type: "command", program: program.includes("/") ? resolve(relativeTo, program) : program, args };
}

/** Blanks separate words; quotes keep them together. No shell is involved. */
function words(text: string): string[] {
  return [...text.matchAll(/"([^"]*)"|'([^']*)'|\S+/g)].map(([whole, double, single]) => double ?? single ?? whole);
}
function not(item: unknown): string {
  return `, not ${(JSON.stringify(item) ?? "nothing").slice(0, 60)}`;
}
