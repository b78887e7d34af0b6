import type { ModelCall, ModelReply, ModelScript } from "../../src/testing/model-server.ts";

/** The artifact of each turn. */
export const PLANS = [
  "# Move the mail archive\n1. Stop the importer.\n2. Copy the data.\n3. Start the importer on the new host.\n",
  "# Move the mail archive\nOwner: the mail team.\n1. Stop the importer.\n2. Copy the data.\n3. Start the importer on the new host.\n4. If the check fails, switch back.\n",
  "# Move the mail archive\nOwner: the mail team.\nDone when all 412 mailboxes answer.\n1. Stop the importer.\n",
] as const;

interface Matter {
  readonly id: string;
  readonly aspect: string;
  readonly quote: string;
  readonly description: string;
  readonly recommendation: string;
}

const matter = (aspect: string, quote: string): Matter => ({
  id: `scripted-${aspect}-1`,
  aspect,
  quote,
  description: `The plan lacks ${aspect}.`,
  recommendation: `Add what is needed for ${aspect}.`,
});

/** What there is to say about each of them. */
const MATTERS: readonly (readonly Matter[])[] = [
  [matter("safety", "Start the importer on the new host"), matter("completeness", "")],
  [matter("evidence", "Copy the data")],
  [],
];

const CONFIDENCE = { level: "medium", justification: "Assumes that the importer can be stopped." };
const POINTS = [{ aspect: "structure", justification: "The steps are in order." }];

/** The same opinion for whoever asks, in the form that they ask for: the real command, or the model reviewer of ours. */
export const reviewScript: ModelScript = (call) => {
  if (call.system.startsWith("You review pieces of work")) return said(asAgent(call));
  if (call.system.startsWith("You review a piece of work")) return said(asModel(call));
  return { type: "text", text: "A title" };
};

function said(value: object): ModelReply {
  return { type: "text", text: JSON.stringify(value) };
}

/** Speaks the protocol. What it remarked before is in the conversation as it is sent along, or it is forgotten. */
function asAgent({ messages, user }: ModelCall): object {
  const request = JSON.parse(user) as { iteration: number; applied_feedback?: { items: { id: string }[] } };
  const before = messages.filter(({ role }) => role === "assistant").map(({ content }) => JSON.stringify(content));
  const items = request.applied_feedback?.items.map(({ id }) => ({
    id,
    processing_status: before.some((text) => text.includes(id)) ? "acknowledged" : "unknown_id",
  }));
  return {
    protocol_version: "1.2",
    iteration: request.iteration,
    status: "success",
    feedback: {
      confidence: CONFIDENCE,
      positive_points: POINTS,
      areas_for_improvement: MATTERS[request.iteration - 1]?.map(({ quote: _, ...shown }) => shown),
      general_summary: `Turn ${request.iteration}.`,
    },
    ...(items === undefined ? {} : { applied_feedback_ack: { items } }),
  };
}

function asModel({ user }: ModelCall): object {
  const turn = Number(/^Turn (\d+)\./.exec(user)?.[1]);
  return {
    confidence: CONFIDENCE,
    positive_points: POINTS,
    remarks: MATTERS[turn - 1]?.map(({ id: _, ...shown }) => shown),
    general_summary: `Turn ${turn}.`,
  };
}
