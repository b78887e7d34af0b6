import type { Flags } from "../program/command.ts";

/** Which runs, what to say about them, and who says it. */
export const QUEUE_CREATE_FLAGS = {
  description: { type: "text", value: "TEXT", summary: "What reviewers should know." },
  labels: { type: "list", value: "A,B,…", summary: "Ask for one of these labels. Ratings from 1 to 5 unless given." },
  yesNo: { type: "switch", summary: "Ask whether the run is to be flagged." },
  reviewers: { type: "integer", value: "N", min: 1, summary: "How many have to judge each item; 1 unless given." },
  blind: { type: "switch", summary: "Keep judgments from those who have yet to judge; so with two reviewers or more." },
  notBlind: { type: "switch", summary: "Let reviewers see each other's judgments from the start." },
  assign: {
    type: "list",
    value: "NAME",
    summary: "Who judges; anybody who may annotate unless given. May be repeated.",
  },
  assignRole: { type: "list", value: "ROLE", summary: "People with this role judge. May be repeated." },
  assignGroup: { type: "list", value: "GROUP", summary: "Members of this group judge. May be repeated." },
  adjudicator: { type: "list", value: "NAME", summary: "Who may settle disagreement beside admins. May be repeated." },
  maxSpread: {
    type: "integer",
    value: "N",
    min: 0,
    summary: "How far ratings may differ and still agree; 0 unless given.",
  },
  noteRequired: { type: "switch", summary: "Want a note with every judgment." },
  correction: {
    type: "text",
    value: "WHEN",
    choices: ["off", "optional", "required"],
    summary: "Whether reviewers say what it should have been: off, optional or required.",
  },
  lease: {
    type: "integer",
    value: "SECONDS",
    min: 1,
    summary: "How long an item is kept for a reviewer; 900 unless given.",
  },
  workflow: { type: "text", value: "ID", summary: "Take in runs of this workflow." },
  agent: { type: "text", value: "ID", summary: "Take in runs of this agent." },
  status: {
    type: "text",
    value: "STATUS",
    choices: ["completed", "failed", "cancelled"],
    summary: "Take in runs that ended so: completed, failed or cancelled.",
  },
  node: {
    type: "text",
    value: "ID",
    summary: "Judge this node of each run instead of the whole run; needs --workflow.",
  },
  flagged: { type: "switch", summary: "Take in runs with an open flag." },
  withLabel: { type: "text", value: "LABEL", summary: "Take in runs with this label." },
  ratedAtMost: { type: "integer", value: "N", min: 1, summary: "Take in runs that somebody rated N or worse." },
  from: {
    type: "text",
    value: "TIME",
    summary: "Only what is no older: an instant, a day, or how long ago, such as 7d.",
  },
  sample: { type: "text", value: "SHARE", summary: "Take in a share of them, such as 0.1; always the same ones." },
} as const satisfies Flags;
