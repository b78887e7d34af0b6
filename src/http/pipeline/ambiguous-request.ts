import type { IncomingMessage } from "node:http";

/**
 * What leaves open whom a request is for or from, or where it ends. Node takes the first of two such headers and a proxy in front may
 * have gone by the second, so neither counts.
 */
export function ambiguityOf({ headers, httpVersion, rawHeaders }: IncomingMessage): string | undefined {
  if (headers.host === undefined && httpVersion === "1.1") return "HTTP/1.1 asks for a Host header";
  // A reader of HTTP/1.0 sees no chunks: to it the body is the next request.
  if (httpVersion === "1.0" && headers["transfer-encoding"] !== undefined) return "HTTP/1.0 has no Transfer-Encoding";
  if (rawHeaders.length > 2 * HEADER_LINES_MAX) return `it has more than ${HEADER_LINES_MAX} header lines`;
  let hosts = 0;
  let credentials = 0;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i] ?? "";
    if (name.length === HOST.length && name.toLowerCase() === HOST) hosts++;
    else if (name.length === CREDENTIAL.length && name.toLowerCase() === CREDENTIAL) credentials++;
  }
  if (hosts > 1) return "it has more than one Host header";
  return credentials > 1 ? "it has more than one Authorization header" : undefined;
}

/** Far more than clients and the proxies in front of them send. */
const HEADER_LINES_MAX = 500;
const HOST = "host";
const CREDENTIAL = "authorization";
