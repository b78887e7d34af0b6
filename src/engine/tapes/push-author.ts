import { authorNameOf } from "../../formats/tapes/sidecar/judgment-rows.ts";
import type { Row } from "../../formats/tapes/sidecar/sidecar.ts";
import type { Caller } from "../../protocol/identity/identity.ts";
import type { ActorKind } from "../../protocol/judgments/annotation.ts";
import { actorKindOf } from "../judgments/decide/annotate.ts";

export interface RowAuthor {
  readonly actor: string;
  readonly actorKind: ActorKind;
  /** Present when somebody brings what another one said. */
  readonly importedBy?: string;
}

const KINDS = { human: "person", agent: "agent", system: "code" } as const;

const ACTOR_MAX = 256;

/** Whose judgment a row is: the caller's own unless it names somebody else. Or why it cannot be taken. */
export function authorOf({ author }: Pick<Row, "author">, caller: Caller): RowAuthor | { readonly problem: string } {
  const id = authorNameOf({ author }, caller.principal);
  if (author === null || id === caller.principal) {
    return { actor: caller.principal, actorKind: actorKindOf(caller.kind) };
  }
  if (id.length > ACTOR_MAX || id.includes("\0"))
    return { problem: "its author is called by no name that can be kept" };
  const actorKind = KINDS[author.kind];
  // People are counted apart, so only people speak for them: an agent could be as many as it likes.
  if (actorKind === "person" && caller.kind !== "user") {
    return { problem: `it is ${id}'s, and only a key of kind user brings what people said` };
  }
  return { actor: id, actorKind, importedBy: caller.principal };
}
