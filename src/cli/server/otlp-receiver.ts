const PATH = "/v1/logs";

/**
 * Where logs are posted, from the address of a receiver; with its path when that is given already. Throws a plain Error
 * that continues a sentence beginning with the setting's name.
 */
export function otlpUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url?.protocol !== "http:" && url?.protocol !== "https:") {
    throw new Error("must be an address such as http://127.0.0.1:4318");
  }
  if (url.username !== "" || url.password !== "") throw new Error("must not carry a password; use --otlp-headers");
  const path = url.pathname.replace(/\/+$/, "");
  url.pathname = path.endsWith(PATH) ? path : `${path}${PATH}`;
  return url.href;
}

const NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;

/** `NAME=VALUE,NAME=VALUE`, the values percent-encoded where they need it, as OpenTelemetry has it. Never repeats a value. */
export function otlpHeaders(text: string): Record<string, string> {
  const headers = text.split(",").map((entry, i) => {
    const [name = "", ...rest] = entry.trim().split("=");
    const value = decoded(rest.join("="));
    if (!NAME.test(name) || value === undefined || !/^[\x20-\x7e]+$/.test(value)) {
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
