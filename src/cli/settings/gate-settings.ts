import type { Setting } from "./settings.ts";

/** Settings of gates and of what is sent out about them. Rows of the table in `settings.ts`. */
export const GATE_SETTINGS = {
  tokenKeys: {
    group: "Gates",
    type: "text",
    secret: true,
    value: "LIST",
    summary:
      "Keys of interrupt tokens as KID:SECRET,…: the first signs, all verify; without it one is kept in the database; rather set in the environment.",
  },
  gateTimeout: {
    group: "Gates",
    type: "integer",
    unit: "seconds",
    default: 0,
    min: 0,
    max: 31_536_000,
    value: "SECONDS",
    summary: "When an approval that sets no time limit of its own counts as rejected; 0 is never.",
  },
  tokenTtl: {
    group: "Gates",
    type: "integer",
    unit: "seconds",
    default: 1800,
    min: 1,
    max: 31_536_000,
    value: "SECONDS",
    summary: "How long an interrupt token is good for when its interrupt does not end sooner.",
  },
  eventRetention: {
    group: "Gates",
    type: "integer",
    unit: "seconds",
    default: 86_400,
    min: 1,
    max: 31_536_000,
    value: "SECONDS",
    summary:
      "How long an external event is known when it comes again, and can be held at most for a run that does not wait yet.",
  },
  knownVoters: {
    group: "Gates",
    type: "flag",
    default: true,
    summary: "Take relayed votes only for principals that have a key here; not with the conformance seams.",
    off: "Take relayed votes for any name that a relay gives.",
  },
  trustedRelays: {
    group: "Gates",
    type: "text",
    value: "LIST",
    summary: "Relays whose votes for people count toward minHumans, as TENANT/PRINCIPAL,…; none unless given.",
  },
} as const satisfies Readonly<Record<string, Setting>>;
