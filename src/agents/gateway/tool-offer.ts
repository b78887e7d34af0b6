import { randomBytes } from "node:crypto";
import { sha256 } from "../../formats/text/sha256.ts";
import type { ToolResult, ToolSurface } from "../tool-surface.ts";

export interface OfferLimits {
  /** Calls of one invocation at the same time. */
  readonly concurrentMax: number;
  /** Calls of one invocation in all: each of them is two events in the log. */
  readonly callsMax: number;
}

/** Why a call was not made. */
export type CallRefusal = "too_many_calls" | "offer_ended";

/** The tools of one invocation, and what is under way with them. */
export class ToolOffer {
  readonly token = randomBytes(32).toString("base64url");
  readonly tools: ToolSurface["tools"];
  readonly #surface: ToolSurface;
  readonly #limits: OfferLimits;
  readonly #ended = new AbortController();
  readonly #outer: AbortSignal;
  readonly #underWay = new Set<Promise<unknown>>();
  #made = 0;

  constructor(surface: ToolSurface, signal: AbortSignal, limits: OfferLimits) {
    this.tools = surface.tools;
    this.#surface = surface;
    this.#outer = signal;
    this.#limits = limits;
  }

  /** Calls a tool, or returns why not. A call whose client disconnected is aborted. */
  async call(
    name: string,
    args: unknown,
    caller: AbortSignal,
  ): Promise<ToolResult | { readonly refusal: CallRefusal }> {
    if (this.#ended.signal.aborted) return { refusal: "offer_ended" };
    const { concurrentMax, callsMax } = this.#limits;
    if (this.#underWay.size >= concurrentMax || this.#made >= callsMax) return { refusal: "too_many_calls" };
    this.#made += 1;
    const signal = AbortSignal.any([this.#ended.signal, this.#outer, caller]);
    const made = this.#surface.call(name, args, signal);
    const settled: Promise<unknown> = made.catch(() => undefined).finally(() => this.#underWay.delete(settled));
    this.#underWay.add(settled);
    try {
      return await made;
    } catch {
      return { refusal: "offer_ended" };
    }
  }

  /** Breaks off what is under way and resolves when nothing is: no event of a call comes after the end of its invocation. */
  async end(): Promise<void> {
    this.#ended.abort(new Error("The invocation has ended."));
    await Promise.all(this.#underWay);
  }
}

/** Tokens are looked up by their digest, so that the time of a lookup reveals nothing about the token. */
export function tokenDigest(token: string): string {
  return sha256(token);
}

const MASK = "[REDACTED]";

/** Text without the token. It is base64url, which JSON writes as it is. */
export function withoutToken(text: string, token: string | undefined): string {
  return token === undefined ? text : text.replaceAll(token, MASK);
}
