import { expect } from "vitest";
import { parse } from "../protocol/schema.ts";
import { PastRows, type PushSidecarRequest, PushSidecarResponse } from "../protocol/tapes/api.ts";
import type { TestHost } from "./host.ts";

type Headers = Readonly<Record<string, string>>;

/** Pushing and pulling over HTTP, as the owner of the first tenant unless the headers say otherwise. */
export class SidecarClient {
  readonly #host: TestHost;

  constructor(host: TestHost) {
    this.#host = host;
  }

  try(runId: string, sidecar: string, more: Partial<PushSidecarRequest> = {}, headers: Headers = {}) {
    return this.#host.ask("POST", sidecarPath(runId), { json: { sidecar, ...more }, headers });
  }

  async push(runId: string, sidecar: string, more: Partial<PushSidecarRequest> = {}, headers: Headers = {}) {
    const answer = await this.try(runId, sidecar, more, headers);
    expect(answer.statusCode, answer.payload).toBe(200);
    return parse(PushSidecarResponse, answer.json(), "push");
  }

  async pull(runId: string, headers: Headers = {}): Promise<string> {
    const answer = await this.#host.ask("GET", sidecarPath(runId), { headers });
    expect(answer.statusCode, answer.payload).toBe(200);
    return answer.payload;
  }

  async past(runId: string, headers: Headers = {}) {
    const answer = await this.#host.ask("GET", `${sidecarPath(runId)}/past`, { headers });
    expect(answer.statusCode, answer.payload).toBe(200);
    return parse(PastRows, answer.json(), "past rows").rows;
  }
}

export function sidecarPath(runId: string): string {
  return `/v1/host/assay/tapes/${runId}/sidecar`;
}

export const HEADER = '{"type":"header","schema_version":1}';

/** A line as people write it: only what it says. */
export function line(row: object): string {
  return JSON.stringify({ type: "annotation", event_id: 0, kind: "note", ...row });
}

export function sidecar(...rows: readonly (object | string)[]): string {
  return [HEADER, ...rows.map((row) => (typeof row === "string" ? row : line(row))), ""].join("\n");
}
