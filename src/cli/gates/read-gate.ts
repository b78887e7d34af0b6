import { AppError } from "../../protocol/errors.ts";
import type { InterruptView, VoteBinding } from "../../protocol/gates/api.ts";
import { titleOf } from "../../protocol/gates/interrupt.ts";
import type { Client } from "../client/client.ts";
import { branchNote } from "../output/describe-gate-event.ts";
import { printable } from "../output/printable.ts";
import type { FlagValues } from "../program/command.ts";
import type { RESOLVE_FLAGS } from "./commands.ts";

export type GateName = { readonly interruptId: string } | { readonly runId: string; readonly nodeId: string };

/** Codes with which the gate cannot be read here and may be voted at all the same: the vote's own answer says the rest. */
const UNREAD: ReadonlySet<string> = new Set(["forbidden", "not_found"]);

/** The interrupt that is about to be answered; undefined where the key may not read it, or the server is older. */
export async function readGate(client: Client, { of }: { readonly of: GateName }): Promise<InterruptView | undefined> {
  try {
    if ("interruptId" in of) {
      return await client.gates.get(of.interruptId);
    }
    const { interrupts = [] } = await client.runs.get(of.runId);
    return interrupts.findLast(({ nodeId }) => nodeId === of.nodeId);
  } catch (error) {
    if (error instanceof AppError && UNREAD.has(error.code)) return undefined;
    throw error;
  }
}

/** What the vote is for: what was just read, unless the caller says what it read before. */
export function bindingOf(
  gate: InterruptView | undefined,
  { revision: read, artifactDigest: seen }: Pick<FlagValues<typeof RESOLVE_FLAGS>, "revision" | "artifactDigest">,
): VoteBinding {
  const { interruptId, revision = undefined, artifactDigest = undefined } = gate ?? {};
  const [edits, digest] = [read ?? revision, seen ?? artifactDigest];
  return {
    ...(interruptId === undefined ? {} : { interruptId }),
    ...(edits === undefined ? {} : { revision: edits }),
    ...(digest === undefined ? {} : { artifactDigest: digest }),
  };
}

const LINES = 20;

const HIDDEN = "parts of this are kept secret: what is behind [REDACTED] goes on as it is, and no voter can read it";

/** The gate as the vote is about to take it. */
export function gateText(view: InterruptView): string {
  const { data, edited, revision = 0, artifactDigest = "", kind, nodeId } = view;
  const artifact = edited === undefined ? data["artifactData"] : edited.data;
  const title = titleOf({ kind, data, nodeId });
  const lines = artifact === undefined ? [] : JSON.stringify(artifact, null, 2).split("\n");
  const more = lines.length > LINES ? [`… ${lines.length - LINES} more lines`] : [];
  const note = branchNote(data);
  const heading = [
    `${title} (revision ${revision}, ${artifactDigest.slice(0, 12)})`,
    ...(note === undefined ? [] : [note]),
    ...(view.hidden === true ? [HIDDEN] : []),
  ];
  return [...heading, ...lines.slice(0, LINES), ...more].map(printable).join("\n");
}
