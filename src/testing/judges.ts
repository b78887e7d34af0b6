import type { AuditNote, Relay } from "../engine/gates/decide/vote.ts";
import { AppError } from "../protocol/errors.ts";
import type { Voter } from "../protocol/gates/gate-rules.ts";
import { decideScope, type RoleTable } from "../protocol/identity/scopes.ts";

/** Somebody at a gate, and whether they may vote in another's name. */
export interface Somebody extends Voter {
  readonly mayRelay: boolean;
  /** What is known of the voter it names; without it, a known principal. */
  readonly relay?: Relay;
}

export const KNOWN_VOTER: Relay = { known: true, trusted: false, person: true, makers: [] };

interface Standing {
  readonly kind?: Voter["kind"];
  readonly roles?: readonly string[];
  readonly groups?: readonly string[];
  readonly keyScopes?: readonly string[];
  readonly mayRelay?: boolean;
  readonly relay?: Relay;
  readonly makers?: readonly string[];
  readonly table?: RoleTable;
}

/** A person who may answer approvals and is nothing else, unless it is said. */
export function somebody(principal: string, standing: Standing = {}): Somebody {
  const { kind = "user", roles = ["reviewer"], groups = [], keyScopes = ["*"], mayRelay = false, table } = standing;
  const { relay, makers = [] } = standing;
  const grants = (scope: string) => decideScope({ keyScopes, roles }, scope, table).allowed;
  return { principal, kind, roles, groups, grants, mayRelay, makers, ...(relay === undefined ? {} : { relay }) };
}

export const ANA = somebody("ana");
export const BEN = somebody("ben");
export const CHI = somebody("chi");
/** Whoever started the run in a simulation. */
export const STARTER = somebody("p1", { roles: ["owner"] });
export const RELAY = somebody("front-desk", { roles: ["owner"], mayRelay: true });
export const BOT = somebody("bot", { kind: "agent" });
export const TOKEN = somebody("token", { kind: "token", roles: [] });

/** What is refused, by its code; undefined when nothing is. Anything but an `AppError` is a bug and goes on. */
export function refusalOf(
  act: () => unknown,
): { code: string; details: Readonly<Record<string, unknown>> } | undefined {
  try {
    act();
    return undefined;
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    return { code: error.code, details: error.details };
  }
}

export function codeOf(act: () => unknown): string | undefined {
  return refusalOf(act)?.code;
}

export function actionsOf(audit: readonly AuditNote[]): string[] {
  return audit.map(({ action }) => action);
}
